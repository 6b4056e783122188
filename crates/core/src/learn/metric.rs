//! A metric learnt from the data.
//!
//! ```text
//! fit f on x·L;   M = mean of ∇f∇fᵀ;   L ← ((1 − s)·d·M/tr M + s·I)^p;   again, as long as errors on rows that were not seen fall
//! ```
//! A kernel of ‖x − y‖ treats all directions alike; where the target depends on few, most of what the kernel can tell apart is of no use. f is a ridge on Gaussian Fourier features, whose
//! gradients are in closed form and smooth (heavy-tailed frequencies give useless ones), or, of rows with thousands of columns, on kernel values at landmarks; the metric serves any kernel. All of it runs on the sample that also settles the width, or, of wide rows, on one that is bounded by entries. Where the
//! first fit sees nothing, single columns and pairs are tried by themselves (`screen`). What is found is a [`MetricPath`]: replayed on the same sample, it gives the same metric, bit for bit.
//! Radhakrishnan et al. (2024) for exact kernels. `docs/book/metric.md`.

mod choice;
mod flat;
mod ground;
mod judged;
mod screen;
mod size;

use std::time::Instant;

pub(super) use self::choice::are_wide;
pub use self::choice::{MetricChoice, MetricPath, MetricStep};
use self::ground::{GLANCE, Ground, Placed, Setting, Stretched, WHOLE};
use self::judged::is_better;
pub(super) use self::size::Size;
use super::ridge::Lambda;
use super::tune::{Clock, Family, Trial};
use crate::certify::rows_measured;
use crate::encode::{Form, Metric, Precision, Stretch};
use crate::source::Source;
use crate::stat::{Gradients, Sample};
use crate::{Engine, Event, Kernel, Loss, Result};

/// Fits after the first, at most.
const ROUNDS: usize = 8;

/// A part of the error that must be gained for another round, and for a metric at all.
const WORTH: f64 = 0.003;

/// A first fit that leaves more of the variance than this has seen too little to go by.
const BLIND: f64 = 0.7;

/// Columns up to which they are tried by themselves.
const SCREENED: usize = 256;

/// Rows at least.
const FEWEST: usize = 64;

/// Entries of wide rows that a metric is learnt from, at most, and rows, at least.
const WIDE_ENTRIES: usize = 1 << 22;
const FEWEST_WIDE: usize = 512;

/// s of the first tries, and what is tried in its place at the end.
const SHRINKAGE: f64 = 0.01;
const OTHERS: [f64; 2] = [0.1, 0.001];

/// The search for a metric.
pub(super) struct MetricSearch<'a> {
    pub(super) engine: &'a Engine,
    /// Of rows as they are scaled.
    pub(super) sample: &'a Sample,
    pub(super) loss: Loss,
    pub(super) seed: u64,
    /// D and λ where they are given, and the precision of the model: what is taken in the end is judged as it will be.
    pub(super) features: Option<usize>,
    pub(super) lambda: Lambda,
    pub(super) precision: Precision,
    pub(super) choice: &'a MetricChoice,
    /// Whether targets are coded classes.
    pub(super) are_classes: bool,
    pub(super) clock: Clock,
}

/// A metric, and how it was found.
pub(super) struct Found {
    pub(super) metric: Metric,
    pub(super) path: MetricPath,
    /// The kernel that is best with it; none where one is given.
    pub(super) kernel: Option<Kernel>,
}

/// A metric for each part that judges, learnt without it.
struct State {
    metrics: Vec<Option<Metric>>,
    stretched: Vec<Stretched>,
    at: Setting,
    moves: Vec<Move>,
}

/// A family and its width, as a part of the median distance; none where a kernel is given.
type Chosen = Option<(Family, f64)>;

/// A step before it is made on all rows.
#[derive(Clone)]
enum Move {
    Screen,
    Columns(Vec<usize>),
    Gradients { at: Setting, stretch: Stretch },
}

/// Rows of a sample that are fitted to.
pub(super) fn rows_fitted(sampled: u64) -> usize {
    usize::try_from(sampled).unwrap_or(usize::MAX).min(WHOLE.1)
}

/// What a metric of wide rows is learnt from, a sample of its own: by entries, as rows of text have few of them in two hundred thousand columns, and of half the rows, as kernel values are dear.
pub(super) fn wide_sample(source: &dyn Source, seed: u64) -> Sample {
    let sample = Sample::zero(GLANCE.1, source.input_dim(), seed);
    sample.with_entries(WIDE_ENTRIES, FEWEST_WIDE, source.is_sparse())
}

/// Rows of it, if they have so many entries.
pub(super) fn wide_rows(entries: u64) -> u64 {
    (WIDE_ENTRIES as u64 / entries.max(1)).clamp(FEWEST_WIDE as u64, GLANCE.1 as u64)
}

/// The rows of a sample that a metric is learnt from.
pub(super) fn learnt_from(sample: &Sample) -> std::borrow::Cow<'_, Sample> {
    sample.cut(rows_measured(sample.columns()))
}

impl<'a> MetricSearch<'a> {
    fn forms(&self) -> &'static [Form] {
        self.choice.forms(self.sample.columns(), self.sample.is_sparse())
    }

    fn size(&self) -> Size {
        let rows = rows_fitted(self.sample.len() as u64);
        let stored = || self.sample.iter().take(rows).map(|row| row.entries.len()).sum::<usize>();
        let outputs = self.sample.iter().next().map_or(0, |row| row.targets.len());
        Size {
            sampled: self.sample.len() as u64,
            rows,
            columns: self.sample.columns(),
            outputs,
            entries: self.sample.is_sparse().then(|| (stored() / rows.max(1) + 1) as u64),
            mixes: self.forms().contains(&Form::Full),
            leading: self.forms().contains(&Form::Leading),
            wide: are_wide(self.sample.columns(), self.sample.is_sparse()),
        }
    }

    /// Whether there is nothing to learn.
    fn is_constant(&self) -> bool {
        let mut targets = self.sample.iter().map(|row| &row.targets);
        let first = targets.next();
        targets.all(|row| Some(row) == first)
    }

    /// The best metric with one of some families, and what was tried; none if rows that were not seen are not predicted better than by a kernel without. Of no families: the best metric by itself.
    pub(super) fn best(&self, families: &[Family], without: &Kernel) -> Result<(Option<Found>, Vec<Trial>)> {
        let mut trials = Vec::new();
        if self.sample.columns() < 2 || self.sample.len() < FEWEST || self.is_constant() {
            return Ok((None, trials));
        }
        let (engine, phase) = (self.engine, "metric");
        let (_, needed) = self.size().largest(engine.memory_limit());
        match engine.check_memory(|| "learning a metric".to_owned(), needed) {
            Err(error) if self.choice.is_forced() => return Err(error),
            Err(error) => {
                let text = format!("rows are compared as columns are scaled: {error}");
                engine.tell(&Event::Warning { text: &text })?;
                return Ok((None, trials));
            }
            Ok(()) => {}
        }
        engine.tell(&Event::Started { phase })?;
        let ground = self.ground(WHOLE);
        let started = Instant::now();
        let first = self.first(&ground)?;
        // What follows takes about eight times as long.
        let ahead = 8.0 * started.elapsed().as_secs_f64();
        if self.clock.left().is_some_and(|left| ahead > 0.4 * left) && !self.choice.is_forced() {
            engine.tell(&Event::Finished { phase })?;
            return Ok((None, trials));
        }
        trials.push(self.trial(&ground, &first)?);
        let mut ends: Vec<State> = Vec::new();
        for &form in self.forms() {
            if !ends.is_empty() && self.clock.is_past(0.4) {
                break;
            }
            ends.extend(self.path(&ground, &first, form, &mut trials)?);
        }
        // A few columns by themselves may be all that there is to find.
        if ends.is_empty() && !first.moves.is_empty() && *self.choice != MetricChoice::Full {
            ends.push(first);
        }
        let best = if families.is_empty() {
            ends.into_iter().min_by(|a, b| a.at.error.total_cmp(&b.at.error)).map(|end| (end, None))
        } else {
            self.with_family(&ground, ends, families, without, &mut trials)?
        };
        let found = match best {
            Some((end, family)) => self.made(&ground, end, family)?,
            None => None,
        };
        engine.tell(&Event::Finished { phase })?;
        Ok((found, trials))
    }

    /// What was found, of all rows.
    fn made(&self, ground: &Ground<'a>, end: State, family: Chosen) -> Result<Option<Found>> {
        let step = |step: Move| {
            Ok(match step {
                Move::Screen => MetricStep::Columns { columns: screen::columns(ground, None)? },
                Move::Columns(columns) => MetricStep::Columns { columns },
                Move::Gradients { at: Setting { factor, lambda, .. }, stretch } => {
                    MetricStep::Gradients { factor, lambda, stretch }
                }
            })
        };
        let steps = end.moves.into_iter().map(step).collect::<Result<_>>()?;
        let path = MetricPath { features: ground.features, landmarks: ground.landmarks, steps };
        let Some(metric) = self.replayed(&path)? else { return Ok(None) };
        let kernel = match family {
            None => None,
            Some((family, factor)) => {
                let placed = Placed::Median(family.unit());
                Some(ground.at_landmarks(Some(&metric), placed, None)?.kernel(factor))
            }
        };
        Ok(Some(Found { metric, path, kernel }))
    }

    /// Round after round in one form; none if not even the first is worth it.
    fn path(
        &self,
        ground: &Ground<'a>,
        first: &State,
        form: Form,
        trials: &mut Vec<Trial>,
    ) -> Result<Option<State>> {
        let mut end: Option<State> = None;
        for round in 0..ROUNDS {
            let fraction = Some(round as f64 / ROUNDS as f64);
            let rows = self.sample.len() as u64;
            self.engine.tell(&Event::Progress { phase: "metric", rows, fraction })?;
            if round > 0 && self.clock.is_past(0.4) {
                break;
            }
            let state = end.as_ref().unwrap_or(first);
            let Some(next) = self.round(ground, state, form)? else { break };
            let is_better = next.at.error < (1.0 - WORTH) * state.at.error;
            let is_due = self.choice.is_forced() && round == 0;
            if !(is_better || is_due) {
                break;
            }
            trials.push(self.trial(ground, &next)?);
            end = Some(next);
        }
        Ok(end)
    }

    /// The best of all metrics and families, if it is better than a kernel without by more than chance.
    fn with_family(
        &self,
        ground: &Ground<'a>,
        ends: Vec<State>,
        families: &[Family],
        without: &Kernel,
        trials: &mut Vec<Trial>,
    ) -> Result<Option<(State, Chosen)>> {
        let (glance, bench) = (self.bench(GLANCE), self.bench(WHOLE));
        let mut best: Option<(Setting, usize, Family)> = None;
        for (number, end) in ends.iter().enumerate() {
            for &family in families {
                if best.is_some() && self.clock.is_past(0.5) {
                    break;
                }
                let stretched = self.placed(&glance, &end.metrics, &Placed::Median(family.unit()), 0)?;
                let from = if family == Family::Gaussian { end.at.factor } else { 1.0 };
                let at = glance.tuned(&stretched, from)?;
                if best.as_ref().is_none_or(|(best, ..)| at.error < best.error) {
                    best = Some((at, number, family));
                }
            }
        }
        let Some((at, number, family)) = best else { return Ok(None) };
        let placed = Placed::Median(family.unit());
        let at = bench.tuned(&self.placed(&bench, &ends[number].metrics, &placed, 0)?, at.factor)?;
        // Those that chose are no judges of the choice.
        let others = ground.judges..2 * ground.judges;
        let metrics = others
            .clone()
            .map(|part| self.walked(ground, &ends[number].moves, Some(part)))
            .collect::<Result<Vec<_>>>()?;
        let stretched = self.placed(&bench, &metrics, &placed, others.start)?;
        let after = bench.row_errors(&stretched, bench.judged(&stretched, at.factor)?)?;
        let nothing = vec![None; metrics.len()];
        let plain = self.placed(&bench, &nothing, &Placed::Given(without.clone()), others.start)?;
        let before = bench.row_errors(&plain, bench.judged(&plain, 1.0)?)?;
        trials.push(bench.trial(&before, without.clone(), 0));
        trials.push(bench.trial(&after, stretched[0].kernel(at.factor), ends[number].moves.len()));
        let is_taken = self.choice.is_forced() || is_better(&before, &after, self.are_classes);
        let end = ends.into_iter().nth(number).filter(|_| is_taken);
        Ok(end.map(|end| (end, Some((family, at.factor)))))
    }

    /// Rows for kernel values at landmarks, one for each part that judges.
    fn placed(
        &self,
        ground: &Ground<'a>,
        metrics: &[Option<Metric>],
        kernel: &Placed,
        first: usize,
    ) -> Result<Vec<Stretched>> {
        let each = metrics.iter().zip(first..);
        each.map(|(metric, part)| ground.at_landmarks(metric.as_ref(), kernel.clone(), Some(part))).collect()
    }

    /// The metric of a path.
    pub(super) fn replayed(&self, path: &MetricPath) -> Result<Option<Metric>> {
        let needed = self.size().bytes(path.features);
        self.engine.check_memory(|| "the steps of a metric".to_owned(), needed)?;
        let MetricPath { features, landmarks, .. } = *path;
        let ground = Ground { features, landmarks, ..self.ground(WHOLE) };
        let step = |step: &MetricStep| match step {
            MetricStep::Columns { columns } => Move::Columns(columns.clone()),
            &MetricStep::Gradients { factor, lambda, stretch } => {
                Move::Gradients { at: Setting { factor, lambda, error: f64::NAN }, stretch }
            }
        };
        let moves: Vec<Move> = path.steps.iter().map(step).collect();
        self.walked(&ground, &moves, None)
    }

    /// Where a metric is learnt: whatever the model will be.
    fn ground(&self, size: (usize, usize)) -> Ground<'a> {
        let (features, _) = self.size().fitted(size.0, self.engine.memory_limit());
        let ground = Ground::new(self.engine, self.sample, self.loss, self.seed, (features, size.1));
        Ground { landmarks: self.size().wide, ..ground }
    }

    /// Where kernels are compared: with the features, the λ and the precision of the model, as far as they are known.
    fn bench(&self, (features, rows): (usize, usize)) -> Ground<'a> {
        let features = self.features.map_or(features, |given| features.min(given.max(2)));
        let lambda = if let Lambda::Given { value } = self.lambda { Some(value) } else { None };
        let single = if self.precision == Precision::Single { f64::INFINITY } else { 0.0 };
        Ground { lambda, single, ..self.ground((features, rows)) }
    }

    /// No metric, or that of a few columns where nothing is seen in all of them.
    fn first(&self, ground: &Ground<'a>) -> Result<State> {
        let state = self.tuned(ground, vec![None; ground.judges], Vec::new(), 1.0)?;
        if !(3..=SCREENED).contains(&self.sample.columns()) || state.at.error < BLIND * ground.variance() {
            return Ok(state);
        }
        let screened = |part: usize| -> Result<Option<Metric>> {
            let columns = screen::columns(ground, Some(part))?;
            Ok(Some(Metric::of_chosen(self.sample.columns(), &columns)))
        };
        let metrics = (0..ground.judges).map(screened).collect::<Result<Vec<_>>>()?;
        let tried = self.tuned(ground, metrics, vec![Move::Screen], 1.0)?;
        Ok(if tried.at.error < (1.0 - WORTH) * state.at.error { tried } else { state })
    }

    /// A state with its width and λ.
    fn tuned(
        &self,
        ground: &Ground<'a>,
        metrics: Vec<Option<Metric>>,
        moves: Vec<Move>,
        from: f64,
    ) -> Result<State> {
        let stretched = metrics.iter().enumerate();
        let stretched = stretched
            .map(|(part, metric)| ground.stretched(metric.as_ref(), Some(part)))
            .collect::<Result<Vec<_>>>()?;
        let at = ground.tuned(&stretched, from)?;
        Ok(State { metrics, stretched, at, moves })
    }

    /// One more fit: all powers in the first round, the one that was best after that.
    fn round(&self, ground: &Ground<'a>, state: &State, form: Form) -> Result<Option<State>> {
        let last = state.moves.iter().rev().find_map(|step| match step {
            Move::Gradients { stretch, .. } => Some(*stretch),
            Move::Screen | Move::Columns(_) => None,
        });
        let stretch = |power| Stretch { form, power, shrinkage: SHRINKAGE };
        let tries = last.map_or_else(|| vec![stretch(0.5), stretch(0.25)], |stretch| vec![stretch]);
        let gradients = (0..ground.judges)
            .map(|part| {
                let (metric, stretched) = (state.metrics[part].as_ref(), &state.stretched[part]);
                ground.gradients(metric, stretched, state.at, self.nothing(form))
            })
            .collect::<Result<Vec<_>>>()?;
        let mut best: Option<State> = None;
        let consider = |stretch: Stretch, from: f64, best: &mut Option<State>| -> Result<bool> {
            let metrics: Vec<Option<Metric>> = gradients
                .iter()
                .map(|gradients| Metric::new(ground.engine, gradients, stretch))
                .collect::<Result<_>>()?;
            // A constant has no gradients, and noise has no direction that leads.
            if metrics.iter().any(Option::is_none) {
                return Ok(false);
            }
            let mut moves = state.moves.clone();
            moves.push(Move::Gradients { at: state.at, stretch });
            let tried = self.tuned(ground, metrics, moves, from)?;
            let is_best = best.as_ref().is_none_or(|best| tried.at.error < best.at.error);
            if is_best {
                *best = Some(tried);
            }
            Ok(is_best)
        };
        for stretch in tries {
            consider(stretch, state.at.factor, &mut best)?;
        }
        let chosen = best.as_ref().and_then(|best| Some((best.at.factor, best.moves.last()?.clone())));
        let is_worth = best.as_ref().is_some_and(|best| best.at.error < (1.0 - WORTH) * state.at.error);
        if let (None, true, Some((factor, Move::Gradients { stretch, .. }))) = (last, is_worth, chosen) {
            for shrinkage in OTHERS {
                if consider(Stretch { shrinkage, ..stretch }, factor, &mut best)? {
                    break;
                }
            }
        }
        Ok(best)
    }

    fn nothing(&self, form: Form) -> Gradients {
        let columns = self.sample.columns();
        match form {
            Form::Full => Gradients::full(columns),
            Form::Diagonal => Gradients::diagonal(columns),
            Form::Leading => Gradients::leading(columns, self.seed),
        }
    }

    /// The metric after some steps without a part, or on all rows; none if there is nothing to stretch for.
    fn walked(&self, ground: &Ground<'a>, moves: &[Move], without: Option<usize>) -> Result<Option<Metric>> {
        let (columns, mut metric) = (self.sample.columns(), None);
        for step in moves {
            metric = match step {
                Move::Screen => Some(Metric::of_chosen(columns, &screen::columns(ground, without)?)),
                Move::Columns(chosen) => Some(Metric::of_chosen(columns, chosen)),
                &Move::Gradients { at, stretch } => {
                    let stretched = ground.stretched(metric.as_ref(), without)?;
                    let nothing = self.nothing(stretch.form);
                    let gradients = ground.gradients(metric.as_ref(), &stretched, at, nothing)?;
                    Metric::new(ground.engine, &gradients, stretch)?.or(metric)
                }
            };
        }
        Ok(metric)
    }

    fn trial(&self, ground: &Ground<'a>, state: &State) -> Result<Trial> {
        let errors = ground.row_errors(&state.stretched, state.at)?;
        Ok(ground.trial(&errors, state.stretched[0].kernel(state.at.factor), state.moves.len()))
    }
}

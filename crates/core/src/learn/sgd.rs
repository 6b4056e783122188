//! Stochastic gradient descent in the kernel's space: six strategies, one descent.
//!
//! ```text
//! minimise (1/Σw) Σ wᵢ·ℓ(yᵢ, c·φ(xᵢ)) + λ‖c‖²
//! step t:  i drawn in proportion to wᵢ,  s = c·φ(xᵢ),   c ← (1 − 2ηλ)·c − η·ℓ′(yᵢ, s)·φ(xᵢ)           η = η_t
//! ```
//! With φ written out (exactly ①②, or approximately ⑤⑥) c is a vector of D numbers; with kernel values (③④) c = Σ αⱼφ(xⱼ), s = Σ αⱼk(xⱼ, xᵢ) and the step moves αᵢ
//! alone. Row i of step t is a function of (seed, t), so that ① to ④ take the same steps, and differ by rounding only. The factors 1 − 2ηλ are kept apart as one scale, so that a
//! step costs its score and its move, and nothing else. Classes are ±1, each against the rest.
//!
//! There is no constant: in the kernel's space it would be a direction without a penalty, which strategies ③ and ④ have no row for. Add `constant` to the
//! kernel for one that is penalised. [`Strategy`] says what each way costs. Shalev-Shwartz, Singer & Srebro (2007) for the rate. `docs/book/strategies.md`.

mod descent;
mod made;

use self::descent::{Descent, Pace, Visits};
use self::made::{Maker, What};
use super::check;
use super::held::{AnyHeld, Held, Size};
use crate::certify::{Bound, Certificate, capacity};
use crate::map::{Choice, Landmarks};
use crate::model::{Decision, Head, Model, Outcome, Training};
use crate::plan::{Counts, ROUND, Strategy, Workload, exact_features};
use crate::source::{Source, Target};
use crate::stat::Sample;
use crate::sweep::BLOCK;
use crate::{Encoder, Engine, Error, Kernel, Loss, Map, MapSpec, Matrix, Method, Result, Rows, Scalar};

/// Stochastic gradient descent with a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Sgd {
    /// The kernel, the seed of all chance, and the map of the strategies that have one.
    pub map: MapSpec,
    /// What is minimised, beside λ‖c‖². A [`Loss::Huber`] takes errors to be of size 1.
    pub loss: Loss,
    /// λ > 0.
    pub lambda: f64,
    /// T: how many rows are visited. Nothing else ends the descent.
    pub steps: u64,
    /// How long steps are.
    pub rate: Rate,
    /// Where features or kernel values come from.
    pub strategy: Strategy,
}

/// How long step t = 1, 2, … is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// η_t = 1/(2λ(t + t₀)): as 1/t in the end, which λ‖c‖² makes the right rate.
    Decreasing {
        /// η₁ = 1/(2λ(1 + t₀)), below 1/(2λ). None for the smaller of 1/(2·max k(x, x)), at which a step on squares moves the score of its row on its target, and 1/(4λ).
        first: Option<f64>,
    },
    /// η_t = η.
    Constant {
        /// η, below 1/(2λ).
        step: f64,
    },
}

/// What was counted, and the job it is to be compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// With the entries of the rows that were visited: what was counted is what its [`figures`](Workload::figures) say.
    pub workload: Workload,
    /// What was done.
    pub counts: Counts,
}

impl Sgd {
    /// Squares, λ = 10⁻⁴, 100,000 steps of decreasing length, features kept.
    pub fn new(map: MapSpec) -> Self {
        Sgd {
            map,
            loss: Loss::Squares,
            lambda: 1e-4,
            steps: 100_000,
            rate: Rate::Decreasing { first: None },
            strategy: Strategy::MapCached,
        }
    }

    /// The shape of the job, for [`Workload::table`]: what each strategy would cost. A source of unknown length counts as one block of rows.
    pub fn plan(&self, source: &dyn Source) -> Result<Workload> {
        self.validate()?;
        let (rows, inputs) = (source.row_count().unwrap_or(BLOCK as u64), source.input_dim());
        let workload = Workload {
            entries: source.stored_entries().unwrap_or(rows.saturating_mul(inputs as u64)),
            features: self.map.output_dim(inputs) as u64,
            exact_features: exact_features(&self.map.kernel, inputs)?,
            steps: self.steps,
            outputs: source.target().outputs() as u64,
            scalar_bytes: source.scalar_bytes() as u64,
            rescalings: 0,
            visited: None,
            ..Workload::dense(rows, inputs as u64)
        };
        workload.validate()?;
        Ok(workload)
    }

    fn validate(&self) -> Result<()> {
        let wrong = |name, expected, found: String| Err(Error::Parameter { name, expected, found });
        if self.strategy.uses_map() {
            self.map.validate()?;
        } else {
            self.map.kernel.validate()?;
        }
        self.loss.validate()?;
        if !(self.lambda > 0.0 && self.lambda.is_finite()) {
            return wrong("lambda", "positive and finite", self.lambda.to_string());
        }
        if self.steps == 0 {
            return wrong("steps", "at least 1", "0".to_owned());
        }
        match self.rate {
            Rate::Decreasing { first: Some(step) } | Rate::Constant { step }
                if !(step > 0.0 && 2.0 * self.lambda * step < 1.0) =>
            {
                wrong("the length of a step", "positive and below 1/(2λ)", step.to_string())
            }
            _ => Ok(()),
        }
    }

    /// The loss is one for such targets.
    fn check_target(&self, target: &Target) -> Result<()> {
        let wrong = |what, reason, instead| {
            Err(Error::Unsupported { what: format!("the loss {} for {what}", self.loss), reason, instead })
        };
        match target {
            Target::Classes { labels } if labels.len() < 2 => {
                Err(Error::OneClass { label: labels.texts().first().cloned().unwrap_or_default() })
            }
            Target::Classes { .. } if self.loss.wants_numbers() => {
                wrong("classes", "it is about numbers", "take squares, logistic, hinge or squared_hinge")
            }
            Target::Numbers { .. } if self.loss.wants_classes() => {
                wrong("numbers", "it is about classes", "take squares, insensitive, huber or quantile")
            }
            _ => Ok(()),
        }
    }

    /// Descends for as many steps as there are to be; the model, and what it took.
    pub fn fit(&self, engine: &Engine, source: &dyn Source) -> Result<(Model, Counted)> {
        let planned = self.plan(source)?;
        self.check_target(source.target())?;
        if self.strategy.uses_exact_features() && planned.exact_features.is_none() {
            return Err(self.strategy.refused(Some(&self.map.kernel)));
        }
        self.check_memory(engine, source, &planned)?;
        let exact = Certificate { bound: Bound::Exact, measured: None };
        let (map, certificate, rows) = if self.strategy.uses_map() {
            self.map.check(source.input_dim(), engine.memory_limit())?;
            self.map.check_source(engine, source)?;
            let capacity = capacity(&self.map, source.input_dim());
            let sample = Sample::of(engine, source, capacity, self.map.seed)?;
            let map = self.map.fit_to(engine, source, &sample)?;
            let certificate = Certificate::measure(engine, &map, &sample)?;
            (Some(map), certificate, sample.population())
        } else {
            let rows = match source.row_count() {
                Some(rows) => rows,
                None => Sample::of(engine, source, 1, 0)?.population(),
            };
            if self.strategy.uses_exact_features() {
                let spec = MapSpec { method: Method::Exact, ..self.map.clone() };
                spec.check(source.input_dim(), engine.memory_limit())?;
                spec.check_source(engine, source)?;
                (Some(spec.build(source.input_dim())?), exact, rows)
            } else {
                self.map.kernel.check_source(engine, source)?;
                (None, exact, rows)
            }
        };
        let identity = MapSpec { seed: self.map.seed, ..MapSpec::auto(Kernel::Linear) };
        let identity = identity.build(source.input_dim())?;
        let job = Job { sgd: self, engine, source, map, certificate };
        match AnyHeld::of(engine, source, &identity, rows, 1)? {
            AnyHeld::F32(held) => job.fit(&held, planned),
            AnyHeld::F64(held) => job.fit(&held, planned),
        }
    }

    /// The rows, what the plan says, the map while it is made, and copies of the rows of a round.
    fn check_memory(&self, engine: &Engine, source: &dyn Source, workload: &Workload) -> Result<()> {
        let figures = workload.figures(self.strategy)?;
        let inputs = source.input_dim();
        let held = Size::of(source, &MapSpec::auto(Kernel::Linear), inputs, workload.rows);
        let map = match self.strategy {
            Strategy::Exact | Strategy::ExactCached => {
                MapSpec { method: Method::Exact, ..self.map.clone() }.bytes(inputs)
            }
            Strategy::Map | Strategy::MapCached => self.map.bytes(inputs),
            Strategy::Kernel | Strategy::KernelCached => 0,
        };
        let copies = (ROUND * 4 * 8) as u64 * inputs as u64;
        let arrays = u64::try_from(figures.counts.memory_bytes).unwrap_or(u64::MAX);
        let needed = [held.bytes, map, copies, arrays].into_iter().fold(0, u64::saturating_add);
        engine.check_memory(|| format!("a descent by strategy {}", self.strategy), needed)
    }
}

/// A descent on rows that are to be held.
struct Job<'a> {
    sgd: &'a Sgd,
    engine: &'a Engine,
    source: &'a dyn Source,
    map: Option<Map>,
    certificate: Certificate,
}

impl Job<'_> {
    fn fit<T: Scalar>(self, held: &Held<T>, planned: Workload) -> Result<(Model, Counted)> {
        let sgd = self.sgd;
        let rows = held.rows()?;
        let what = match &self.map {
            Some(map) => What::Features { map, has_matrix: sgd.strategy.uses_map() },
            None => What::Values { kernel: &sgd.map.kernel },
        };
        let maker = Maker::new(self.engine, what, rows);
        let pace = self.pace(&rows)?;
        let visits = Visits::new(sgd.map.seed, &held.weights);
        let outputs = self.source.target().outputs();
        let features = match &self.map {
            Some(map) if sgd.strategy.uses_map() => map.output_dim() as u64,
            _ => planned.features,
        };
        let workload = Workload { rows: rows.count() as u64, entries: maker.entries(), features, ..planned };
        self.sgd.check_memory(self.engine, self.source, &workload)?;
        let target = self.source.target();
        let coded = |i: usize, o: usize| match target {
            Target::Numbers { .. } => held.targets_of(i)[o],
            // One output is for the second of two classes.
            Target::Classes { .. } if held.class(i) == if outputs == 1 { 1 } else { o } => 1.0,
            Target::Classes { .. } => -1.0,
        };
        let descent = Descent {
            maker: &maker,
            visits: &visits,
            pace,
            loss: sgd.loss.pointwise(),
            steps: sgd.steps,
            is_cached: sgd.strategy.is_cached(),
            outputs,
        };
        let found = self.engine.phase("descent", held.count, |check| descent.run(&coded, check))?;
        let coefficients = Matrix::new(outputs, maker.width(), found.weights)?;
        let (map, coefficients) = match self.map {
            Some(map) => (map, coefficients),
            None => at_landmarks(self.engine, &sgd.map.kernel, &rows, &coefficients)?,
        };
        let training = Training {
            fold_errors: Vec::new(),
            plan: None,
            rows: held.count,
            lambda: sgd.lambda,
            curve: Vec::new(),
            outcome: Outcome::Steps { loss: sgd.loss, steps: sgd.steps, mean_loss: found.mean_loss },
            folds: 1,
            intercept: false,
        };
        let intercept = vec![0.0; outputs];
        check::finite(&coefficients, &intercept, &self.certificate, &training)?;
        let head = match target {
            Target::Numbers { .. } => Head::Regression,
            Target::Classes { labels } => {
                Head::Classification { labels: labels.clone(), decision: Decision::Largest }
            }
        };
        let encoder = Encoder::identity(self.source.input_dim());
        let certificate = self.certificate;
        let model =
            Model::new(self.engine, encoder, map, coefficients, intercept, head, certificate, Some(training));
        let (visited, rescalings) = (Some(found.visited), found.rescalings);
        Ok((model, Counted { workload: Workload { visited, rescalings, ..workload }, counts: found.counts }))
    }

    /// The rate, with its first step.
    fn pace<T: Scalar>(&self, rows: &Rows<'_, T>) -> Result<Pace> {
        let lambda = self.sgd.lambda;
        let first = match self.sgd.rate {
            Rate::Constant { step } => return Ok(Pace::constant(lambda, step)),
            Rate::Decreasing { first: Some(first) } => first,
            Rate::Decreasing { first: None } => {
                let largest = self.sgd.map.kernel.diagonal(rows).into_iter().fold(0.0, f64::max);
                if !largest.is_finite() {
                    return Err(Error::Overflow { what: "the kernel of a row with itself" });
                }
                (0.5 / largest).min(0.25 / lambda)
            }
        };
        Ok(Pace::decreasing(lambda, first))
    }
}

/// A map to kernel values at the rows that have a weight, and these weights.
fn at_landmarks<T: Scalar>(
    engine: &Engine,
    kernel: &Kernel,
    rows: &Rows<'_, T>,
    weights: &Matrix<f64>,
) -> Result<(Map, Matrix<f64>)> {
    let has_weight = |i: &usize| (0..weights.rows()).any(|o| weights.row(o)[*i] != 0.0);
    let mut kept: Vec<usize> = (0..rows.count()).filter(has_weight).collect();
    // A map has a feature at least, also where nothing was learnt.
    if kept.is_empty() {
        kept.push(0);
    }
    let size = (kept.len() as u64).saturating_mul(8 * (2 * rows.columns() + weights.rows()) as u64);
    engine.check_memory(|| format!("{} rows with weights", kept.len()), size)?;
    let mut landmarks = Matrix::zeros(kept.len(), rows.columns());
    let mut row = vec![T::default(); rows.columns()];
    for (k, &i) in kept.iter().enumerate() {
        rows.densify(i, &mut row);
        landmarks.row_mut(k).iter_mut().zip(&row).for_each(|(to, x)| *to = x.to_f64());
    }
    let spec = MapSpec {
        kernel: kernel.clone(),
        method: Method::Landmarks { whiten: false, tolerance: 1e-7, choice: Choice::Given },
        features: kept.len(),
        seed: 0,
    };
    let coefficients = Matrix::from_fn(weights.rows(), kept.len(), |o, k| weights.row(o)[kept[k]]);
    Ok((Map::from_landmarks(spec, Landmarks::new(landmarks, None)), coefficients))
}

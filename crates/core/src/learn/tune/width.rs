//! Kernel, width and method, on a sample of the rows.
//!
//! ```text
//! 512 features      width = median distance × 1/16, 1/8, …, 4                                 each family
//! 1,024 features    the best width of each family; from the best of all on, in steps of √2, as long as errors fall
//!                   landmarks in place of Fourier features                                    or the kernel itself, all along, where rows are few
//! ```
//! An error is that of cross-validated ridge at its best λ. The median distance only anchors the grid: the best width of a regression is usually a fraction of it. Few features
//! favour wide and smooth kernels, being too few for others; hence the second look. Phases ω·x of one width are those of another, divided: rows are
//! multiplied with frequencies once for each family and number of features.

use std::f64::consts::SQRT_2;
use std::ops::Range;

use bochner_simd::{Aligned, sincos_turns};
use serde::{Deserialize, Serialize};

use super::{Clock, LeftOut, Trial};
use crate::encode::Precision;
use crate::learn::ridge::{Lambda, Ridge, Units};
use crate::plan::{Machine, cubic};
use crate::random::{Draws, Stream};
use crate::stat::{Gram, Sample};
use crate::sweep::BLOCK;
use crate::{Engine, Event, Kernel, Loss, MapSpec, Matrix, OwnedRows, Result, Rows};

/// Kernels whose width can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// [`Kernel::Gaussian`]
    Gaussian,
    /// [`Kernel::Laplace`]
    Laplace,
    /// [`Kernel::Exponential`]
    Exponential,
}

impl Family {
    /// All of them: what is tried where none is named.
    pub const ALL: [Family; 3] = [Family::Gaussian, Family::Laplace, Family::Exponential];

    /// The kernel of width 1.
    pub(in crate::learn) fn unit(self) -> Kernel {
        match self {
            Family::Gaussian => Kernel::gaussian(1.0),
            Family::Laplace => Kernel::laplace(1.0),
            Family::Exponential => Kernel::exponential(1.0),
        }
    }
}

/// Widths of the first look, as factors of the median distance.
const FACTORS: [f64; 7] = [0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0];

/// Features and rows of the first look and of the second.
const FIRST: (usize, usize) = (512, 4096);
const SECOND: (usize, usize) = (1024, 8192);

/// Distinct rows for which the second look is at the kernel itself, and so few that there is none.
const FEW: usize = 1024;
const SMALL: usize = 32;

/// The part by which landmarks must be better than Fourier features, being slower to make.
const WORTH: f64 = 0.01;

/// Steps of the second look, in one direction.
const STEPS: usize = 6;

/// Folds of the errors.
const FOLDS: usize = 5;

/// Pairs of rows that the median is taken of.
const PAIRS: u64 = 2000;

/// Seconds that the search takes, about: all of the first look, four steps of the second, and landmarks, which cost as much twice.
pub(in crate::learn) fn search_seconds(families: usize, rows: u64, entries: u64, machine: &Machine) -> f64 {
    let rates = &machine.double;
    let look = |(features, most): (usize, usize)| {
        let (n, d) = (rows.min(most as u64) as f64, (features as f64).min(rows as f64));
        let products = n * entries as f64 * d / 2.0 / rates.products;
        let folds = FOLDS as f64 * 2.0 / 3.0 * cubic(d) / machine.band;
        (products, n * d / rates.features + n * d * d / 2.0 / rates.sums + folds)
    };
    let (first, second) = (look(FIRST), look(SECOND));
    families as f64 * (first.0 + FACTORS.len() as f64 * first.1 + second.0 + second.1) + 5.0 * second.1
}

/// Bytes that the search takes, given the rows of the sample and their entries: those of its second look, of the rows that it is at, and of the sample.
pub(in crate::learn) fn search_bytes(given: Option<usize>, rows: u64, entries: u64, limit: u64) -> u64 {
    let looked = rows.min(SECOND.1 as u64);
    let (_, bytes) = looked_at(SECOND.0, looked as usize, rows as usize, given, limit);
    bytes.saturating_add((8 * looked + 16 * rows).saturating_mul(entries))
}

/// Features of a look at some rows, fewer where these are few, D is given as less, or half of the memory is; and the bytes that they take.
fn looked_at(wanted: usize, rows: usize, all: usize, given: Option<usize>, limit: u64) -> (usize, u64) {
    let mut features = wanted.min((all / 2).next_multiple_of(2)).max(32);
    if let Some(given) = given {
        features = features.min(given.next_multiple_of(2));
    }
    // Features, their packed copy, phases; sums and what is made of them.
    let needed = |features: usize| {
        8 * features as u64 * (3 * rows.min(BLOCK) as u64 + rows as u64 + 9 * features as u64)
    };
    while features > 32 && needed(features) > limit / 2 {
        features = (features / 2).next_multiple_of(2);
    }
    (features, needed(features))
}

/// The search for a kernel.
pub(in crate::learn) struct WidthSearch<'a> {
    pub(in crate::learn) engine: &'a Engine,
    pub(in crate::learn) sample: &'a Sample,
    pub(in crate::learn) loss: Loss,
    /// A width is the best for the λ that is given, and for what the precision resolves.
    pub(in crate::learn) lambda: Lambda,
    pub(in crate::learn) precision: Precision,
    pub(in crate::learn) seed: u64,
    /// D, where it is given: a width is the best for so many.
    pub(in crate::learn) features: Option<usize>,
    /// Whether landmarks may be taken instead of Fourier features.
    pub(in crate::learn) may_be_landmarks: bool,
    pub(in crate::learn) clock: Clock,
}

impl WidthSearch<'_> {
    /// The best kernel of some families, whether landmarks are better than Fourier features, and all that were tried.
    pub(in crate::learn) fn best_of(&self, families: &[Family]) -> Result<Settled> {
        let (engine, phase) = (self.engine, "bandwidth");
        engine.tell(&Event::Started { phase })?;
        let expected = (families.len() * (FACTORS.len() + 1) + 4) as f64;
        let mut trials: Vec<Trial> = Vec::new();
        let mut tell = |trial: Trial| -> Result<f64> {
            let error = trial.error;
            trials.push(trial);
            let fraction = Some((trials.len() as f64 / expected).min(0.99));
            engine.tell(&Event::Progress { phase, rows: self.sample.len() as u64, fraction })?;
            Ok(error)
        };
        // The first look: a width for each family.
        let mut found: Vec<(f64, Family, f64)> = Vec::new();
        for &family in families {
            if !found.is_empty() && self.clock.is_past(0.2) {
                break;
            }
            let look = self.look(family, FIRST)?;
            let mut best = (f64::INFINITY, family, 1.0);
            for factor in FACTORS {
                let error = tell(look.trial(factor, Made::Phases)?)?;
                if error < best.0 {
                    best = (error, family, factor);
                }
            }
            found.push(best);
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut family, mut factor) = found.first().map_or((Family::Gaussian, 1.0), |best| (best.1, best.2));
        let mut landmarks = false;
        if !self.clock.is_past(0.15) && self.sample.len() > 2 * SMALL {
            let is_exact = self.is_exact();
            let made = if is_exact { Made::Landmarks } else { Made::Phases };
            let mut best: Option<(f64, Look<'_>)> = None;
            for &(_, tried, at) in &found {
                if best.is_some() && self.clock.is_past(0.2) {
                    break;
                }
                let look = self.look(tried, SECOND)?;
                let error = tell(look.trial(at, made)?)?;
                if best.as_ref().is_none_or(|(least, _)| error < *least) {
                    (family, factor) = (tried, at);
                    best = Some((error, look));
                }
            }
            if let Some((mut least, look)) = best {
                for step in [1.0 / SQRT_2, SQRT_2] {
                    let mut steps = 0;
                    while steps < STEPS && !self.clock.is_past(0.25) {
                        let error = tell(look.trial(factor * step, made)?)?;
                        if !(error < least) {
                            break;
                        }
                        (least, factor, steps) = (error, factor * step, steps + 1);
                    }
                    // Errors fall on one side only.
                    if steps > 0 {
                        break;
                    }
                }
                if !is_exact && self.may_be_landmarks && !self.clock.is_past(0.25) {
                    landmarks = tell(look.trial(factor, Made::Landmarks)?)? < (1.0 - WORTH) * least;
                }
            }
        }
        engine.tell(&Event::Finished { phase })?;
        let kernel = self.anchor(family).widened(factor);
        Ok(Settled { kernel, landmarks, trials })
    }

    /// Whether landmarks are better than as many Fourier features of a kernel whose width is known.
    pub(in crate::learn) fn prefers_landmarks(&self, kernel: &Kernel) -> Result<bool> {
        if !self.may_be_landmarks || self.clock.is_past(0.25) {
            return Ok(false);
        }
        let look = self.look_at(kernel.clone(), SECOND)?;
        let fourier = look.trial(1.0, Made::Phases)?.error;
        Ok(look.trial(1.0, Made::Landmarks)?.error < (1.0 - WORTH) * fourier)
    }

    /// The kernel whose width is the median distance.
    fn anchor(&self, family: Family) -> Kernel {
        let rows = self.sample.rows(self.sample.len());
        anchored(family.unit(), &rows.view(), self.sample.len(), |i| i, self.seed)
    }

    /// Whether rows are so few that the kernel itself is looked at, and will be the model.
    fn is_exact(&self) -> bool {
        let bytes = 8 * 10 * (self.sample.len() as u64).pow(2);
        let is_few = self.sample.is_whole() && self.sample.len() <= FEW;
        is_few && self.features.is_none() && bytes <= self.engine.memory_limit() / 2
    }

    /// A part of the sample, ready to try widths of a family on.
    fn look(&self, family: Family, size: (usize, usize)) -> Result<Look<'_>> {
        self.look_at(self.anchor(family), size)
    }

    fn look_at(&self, anchor: Kernel, (features, rows): (usize, usize)) -> Result<Look<'_>> {
        let sample = self.sample;
        let count = rows.min(sample.len());
        let (targets, weights) = sides(sample, count, self.loss);
        let folds = sample.folds(count, FOLDS);
        let rows = sample.rows(count);
        let (features, _) =
            looked_at(features, count, sample.len(), self.features, self.engine.memory_limit());
        let spec = MapSpec { features, seed: self.seed, ..MapSpec::auto(anchor.clone()) };
        let map = spec.build_on(self.engine, sample.columns())?;
        // Of all families that are searched, maps are Fourier pairs.
        let turns = map.turns(self.engine, &rows.view()).unwrap_or_else(|| Matrix::zeros(count, 1));
        Ok(Look { search: self, anchor, rows, turns, targets, weights, folds })
    }
}

/// The kernel whose width is the median distance of some rows, in the kernel's own metric.
pub(in crate::learn) fn anchored(
    unit: Kernel,
    rows: &Rows<'_, f64>,
    count: usize,
    place: impl Fn(usize) -> usize,
    seed: u64,
) -> Kernel {
    let mut distances: Vec<f64> = (0..PAIRS)
        .filter_map(|pair| {
            let mut draws = Draws::new(seed, Stream::Pairs, pair);
            let (i, j) = (draws.below(count as u64) as usize, draws.below(count as u64) as usize);
            let distance = unit.spread(rows, place(i), place(j))?;
            (distance > 0.0).then_some(distance)
        })
        .collect();
    distances.sort_by(f64::total_cmp);
    let median = distances.get(distances.len() / 2).copied().unwrap_or(1.0);
    unit.widened(median)
}

/// Targets of the first rows of a sample, and weights, in units that sums keep their digits in.
pub(in crate::learn) fn sides(sample: &Sample, count: usize, loss: Loss) -> (Matrix<f64>, Vec<f64>) {
    let units = Units::of(sample, true);
    let mut targets = clipped(loss, sample.targets(count));
    for i in 0..targets.rows() {
        targets.row_mut(i).iter_mut().zip(&units.shift).for_each(|(y, shift)| *y -= shift);
    }
    let weights = sample.weights(count).iter().map(|weight| weight / units.weight).collect();
    (targets, weights)
}

/// Targets without what a few wild ones would do to squares, where the loss is not squares.
fn clipped(loss: Loss, mut targets: Matrix<f64>) -> Matrix<f64> {
    if !matches!(loss, Loss::Huber { .. } | Loss::Insensitive { .. } | Loss::Quantile { .. }) {
        return targets;
    }
    for o in 0..targets.columns() {
        let middle = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or(0.0)
        };
        let column: Vec<f64> = (0..targets.rows()).map(|i| targets.row(i)[o]).collect();
        let median = middle(column.clone());
        // Five standard deviations of normal errors.
        let reach = 5.0 * 1.4826 * middle(column.iter().map(|y| (y - median).abs()).collect());
        if reach > 0.0 {
            (0..targets.rows()).for_each(|i| {
                let y = &mut targets.row_mut(i)[o];
                *y = y.clamp(median - reach, median + reach);
            });
        }
    }
    targets
}

/// Features of some rows by their phases, a width times a factor: cosines, then sines. Their order does not matter to a ridge.
pub(in crate::learn) fn features_of_turns(
    engine: &Engine,
    turns: &Matrix<f64>,
    rows: Range<usize>,
    factor: f64,
) -> Matrix<f64> {
    let (isa, frequencies) = (engine.isa(), turns.columns());
    let scale = (1.0 / frequencies as f64).sqrt();
    let mut z = Matrix::zeros(rows.len(), 2 * frequencies);
    engine.for_each_chunk(z.as_mut_slice(), 2 * frequencies, &|i, row| {
        let narrowed: Vec<f64> = turns.row(rows.start + i).iter().map(|t| t / factor).collect();
        let (cos, sin) = row.split_at_mut(frequencies);
        sincos_turns(isa, &narrowed, cos, sin);
        row.iter_mut().for_each(|z| *z *= scale);
    });
    z
}

/// What the search ends with.
pub(in crate::learn) struct Settled {
    pub(in crate::learn) kernel: Kernel,
    /// Whether landmarks have the smaller error for as many features.
    pub(in crate::learn) landmarks: bool,
    pub(in crate::learn) trials: Vec<Trial>,
}

/// How the features of a trial are made.
#[derive(Clone, Copy)]
enum Made {
    Phases,
    /// As many as there are Fourier features; all rows, where these are few.
    Landmarks,
}

/// Rows that widths are tried on.
struct Look<'a> {
    search: &'a WidthSearch<'a>,
    /// Of width 1 times the median distance.
    anchor: Kernel,
    rows: OwnedRows<f64>,
    /// Phases at the anchor's width.
    turns: Matrix<f64>,
    targets: Matrix<f64>,
    weights: Vec<f64>,
    /// The fold of each row.
    folds: Vec<usize>,
}

impl Look<'_> {
    /// The anchor with its width times a factor.
    fn trial(&self, factor: f64, made: Made) -> Result<Trial> {
        let engine = &self.search.engine.quiet();
        engine.tell(&Event::Alive)?;
        let kernel = self.anchor.widened(factor);
        let (gram, features) = match made {
            Made::Phases => (self.gram_of_turns(engine, factor), 2 * self.turns.columns()),
            Made::Landmarks => {
                let sample = self.search.sample;
                let features = if self.search.is_exact() { sample.len() } else { 2 * self.turns.columns() };
                let spec = MapSpec { features, ..MapSpec::landmarks(kernel.clone()) };
                let map = spec.fit(engine, sample)?;
                let z = map.transform(engine, &self.rows.view())?;
                let mut gram = Gram::zero(engine, map.output_dim(), self.targets.columns(), FOLDS);
                self.absorb(engine, &mut gram, 0, &z, &mut Room::default());
                (gram, map.output_dim())
            }
        };
        let (error, deviation) = self.error(engine, &gram)?;
        Ok(Trial { kernel, features, rows: self.weights.len() as u64, error, deviation, rounds: 0 })
    }

    /// The error on left-out rows and its standard error: at the λ that is given, or at the best. Infinite where there are too few rows to tell.
    fn error(&self, engine: &Engine, gram: &Gram) -> Result<(f64, f64)> {
        let ridge = Ridge {
            lambda: Lambda::CrossValidated { folds: FOLDS },
            ..Ridge::new(MapSpec::auto(self.anchor.clone()))
        };
        let left_out = match self.search.lambda {
            Lambda::Given { value } => engine
                .phase("cross-validation", gram.rows(), |check| ridge.left_out(engine, gram, value, check))?,
            Lambda::CrossValidated { .. } => {
                let chosen = ridge.choose(engine, gram)?;
                let error = chosen.curve.iter().map(|point| point.error).fold(f64::INFINITY, f64::min);
                LeftOut::new(error, chosen.fold_errors)
            }
        };
        Ok((left_out.mean, left_out.deviation()))
    }

    fn gram_of_turns(&self, engine: &Engine, factor: f64) -> Gram {
        let turns = &self.turns;
        let mut gram = Gram::zero(engine, 2 * turns.columns(), self.targets.columns(), FOLDS);
        let mut packed = Room::default();
        for start in (0..turns.rows()).step_by(BLOCK) {
            let z = features_of_turns(engine, turns, start..turns.rows().min(start + BLOCK), factor);
            self.absorb(engine, &mut gram, start, &z, &mut packed);
        }
        gram
    }

    fn absorb(&self, engine: &Engine, gram: &mut Gram, start: usize, z: &Matrix<f64>, room: &mut Room) {
        let targets = self.targets.view().slice(start..start + z.rows());
        let (weight, fold) = (|i: usize| self.weights[start + i], |i: usize| self.folds[start + i]);
        match self.search.precision {
            Precision::Double => gram.absorb(engine, z.view(), targets, &weight, &fold, &mut room.double),
            Precision::Single => {
                let rounded = Matrix::from_fn(z.rows(), z.columns(), |i, j| z.row(i)[j] as f32);
                gram.absorb(engine, rounded.view(), targets, &weight, &fold, &mut room.single);
            }
        }
    }
}

/// Memory that is kept from block to block.
#[derive(Default)]
struct Room {
    single: Aligned<f32>,
    double: Aligned<f64>,
}

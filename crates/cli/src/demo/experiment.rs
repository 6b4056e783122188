//! Exact support vector machines beside linear ones on features, as their number grows.
//!
//! ```text
//! exact     hinge, one class against one:             gaussian(gamma=0.2), laplace
//! linear    squared hinge, one against the rest:      the pixels; Fourier, orthogonal Fourier, landmarks of the Gaussian; binning of the Laplace
//! ```
//! C = 1, but for the Laplace kernel, whose width and C are chosen on the training half alone.

use std::time::Instant;

use bochner::model::Outcome;
use bochner::{
    Bins, Engine, Event, ExactSvm, FourierForm, FrequencyDraw, Kernel, Lambda, Linear, MapSpec, Method,
    Model, Rows,
};
use serde::Serialize;

use super::approximation::{self, KernelError};
use super::digits::Digits;
use crate::exit::Failure;

/// Seeds of the points that the table does not show, at most.
const FEWER_SEEDS: usize = 5;

/// Features of the table, and the steps of the curves up to it.
pub(super) const FEATURES: usize = 270;
const STEP: usize = 30;

/// Grids of binning where the table shows more.
pub(super) const MANY_GRIDS: usize = 1000;

/// Widths of the Laplace kernel that are tried.
const SCALES: [f64; 5] = [2.0, 4.0, 8.0, 16.0, 32.0];

/// How much the exact machines may violate the conditions of an optimum: a tenth of LIBSVM's
/// tolerance. The objective counts a violation C times for each row, so that the gap it leaves
/// grows with C.
const TOLERANCE: f64 = 1e-4;

/// The largest relative duality gap of a solution that is called certified.
pub(super) const CERTIFIED: f64 = 1e-3;

/// γ of the Gaussian.
pub(super) fn gaussian() -> Kernel {
    Kernel::gaussian((0.5f64 / 0.2).sqrt())
}

/// What was found.
#[derive(Serialize)]
pub(super) struct Experiment {
    pub(super) seed: u64,
    pub(super) seeds: usize,
    pub(super) training_rows: usize,
    pub(super) test_rows: usize,
    pub(super) table: Vec<Line>,
    pub(super) curves: Vec<Curve>,
    pub(super) kernel_errors: Vec<KernelError>,
    pub(super) binning: Tuned,
}

/// A line of the table.
#[derive(Serialize)]
pub(super) struct Line {
    pub(super) name: &'static str,
    /// None for the exact kernel.
    pub(super) features: Option<usize>,
    /// On the test half: of one model, or the mean over seeds.
    pub(super) accuracy: f64,
    /// Over seeds.
    pub(super) deviation: Option<f64>,
    /// What the lecture notes print.
    pub(super) notes: Option<f64>,
    /// To train.
    pub(super) seconds: f64,
    pub(super) seconds_per_row: f64,
    /// Of the model file.
    pub(super) bytes: u64,
    /// Rows that the exact machines keep.
    pub(super) support_vectors: Option<usize>,
    /// γ, normalised.
    pub(super) margin: f64,
    /// (primal − dual)/primal: the largest over seeds.
    pub(super) gap: f64,
    /// Whether the gap is at most [`CERTIFIED`].
    pub(super) certified: bool,
}

/// Accuracy and time of one kind of features.
#[derive(Serialize)]
pub(super) struct Curve {
    pub(super) name: &'static str,
    pub(super) points: Vec<Point>,
}

#[derive(Clone, Serialize)]
pub(super) struct Point {
    pub(super) features: usize,
    pub(super) accuracies: Vec<f64>,
    /// The median, to train.
    pub(super) seconds: f64,
}

/// What cross-validation chose for the Laplace kernel.
#[derive(Serialize)]
pub(super) struct Tuned {
    pub(super) scale: f64,
    pub(super) cost: f64,
    /// The share of wrong classes on left-out rows.
    pub(super) error: f64,
}

/// A kind of features.
#[derive(Clone)]
struct Kind {
    name: &'static str,
    kernel: Kernel,
    method: Method,
    cost: f64,
    notes: Option<f64>,
}

/// Where the experiment stands.
struct Steps<'a> {
    engine: &'a Engine,
    done: usize,
    all: usize,
}

impl Steps<'_> {
    fn next(&mut self, name: &str) -> Result<(), Failure> {
        self.done += 1;
        let fraction = Some(self.done as f64 / self.all as f64);
        Ok(self.engine.tell(&Event::Progress { phase: name, rows: self.done as u64, fraction })?)
    }
}

pub(super) fn fourier(form: FourierForm, draw: FrequencyDraw) -> Method {
    Method::Fourier { form, draw }
}

const BINNING: Method = Method::Binning { bins: Bins::Fitted };

impl Experiment {
    pub(super) fn run(
        engine: &Engine,
        digits: &Digits,
        seed: u64,
        seeds: usize,
    ) -> Result<Experiment, Failure> {
        let (phase, fewer) = ("digits", seeds.min(FEWER_SEEDS));
        engine.tell(&Event::Started { phase })?;
        let quiet = engine.quiet();
        let sizes: Vec<usize> = (1..=FEATURES / STEP).map(|k| k * STEP).collect();
        let fits = 4 * ((sizes.len() - 1) * fewer + seeds) + seeds;
        // A tuning is worth some fits, and so is the comparison of kernels.
        let mut steps = Steps { engine, done: 0, all: fits + 8 * SCALES.len() + 16 };
        let binning = tune(&quiet, digits, seed, &mut steps)?;
        let laplace = Kernel::laplace(binning.scale);
        let kind = |name, kernel, method, cost, notes| Kind { name, kernel, method, cost, notes };
        let (pairs, orthogonal) = (
            fourier(FourierForm::Pairs, FrequencyDraw::Independent),
            fourier(FourierForm::Pairs, FrequencyDraw::Orthogonal),
        );
        let kinds = [
            kind("Fourier features", gaussian(), pairs, 1.0, Some(0.954)),
            kind("orthogonal Fourier features", gaussian(), orthogonal, 1.0, None),
            kind("landmarks (Nyström)", gaussian(), Method::LANDMARKS, 1.0, None),
            kind("binning, Laplace", laplace.clone(), BINNING, binning.cost, None),
        ];
        let mut table = vec![
            exact(&quiet, digits, "exact SVM, Gaussian", gaussian(), 1.0, Some(0.972))?,
            exact(&quiet, digits, "exact SVM, Laplace", laplace.clone(), binning.cost, None)?,
            linear(&quiet, digits)?,
        ];
        let mut curves = Vec::new();
        for kind in kinds {
            let mut points = Vec::new();
            for &features in &sizes {
                let seeds = if features == FEATURES { seeds } else { fewer };
                let (point, line) = point(&quiet, digits, &kind, features, seed, seeds, &mut steps)?;
                points.push(point);
                if features == FEATURES {
                    table.push(line);
                }
            }
            if kind.method == BINNING {
                let (point, line) = point(&quiet, digits, &kind, MANY_GRIDS, seed, seeds, &mut steps)?;
                points.push(point);
                table.push(line);
            }
            curves.push(Curve { name: kind.name, points });
        }
        let kernel_errors = approximation::measure(&quiet, digits, laplace, seed, || steps.next(phase))?;
        engine.tell(&Event::Finished { phase })?;
        Ok(Experiment {
            seed,
            seeds,
            training_rows: digits.training.x.rows(),
            test_rows: digits.test.x.rows(),
            table,
            curves,
            kernel_errors,
            binning,
        })
    }
}

/// λ of LIBLINEAR's C.
fn lambda(digits: &Digits, cost: f64) -> Lambda {
    Lambda::Given { value: 1.0 / (2.0 * cost * digits.training.x.rows() as f64) }
}

pub(super) fn svm(digits: &Digits, map: MapSpec, cost: f64) -> Linear {
    Linear { lambda: lambda(digits, cost), ..Linear::svm(map) }
}

/// The width and C of the Laplace kernel whose binning errs least on left-out rows of the training half.
fn tune(engine: &Engine, digits: &Digits, seed: u64, steps: &mut Steps<'_>) -> Result<Tuned, Failure> {
    let mut best = Tuned { scale: SCALES[0], cost: 1.0, error: f64::INFINITY };
    for scale in SCALES {
        let map = MapSpec { kernel: Kernel::laplace(scale), method: BINNING, features: FEATURES, seed };
        let model = Linear::svm(map).fit(engine, &digits.training.source()?)?;
        let Some(training) = model.training() else { continue };
        let error = training.curve.iter().map(|point| point.error).fold(f64::INFINITY, f64::min);
        if error < best.error {
            let cost = 1.0 / (2.0 * training.lambda * training.rows as f64);
            best = Tuned { scale, cost, error };
        }
        for _ in 0..8 {
            steps.next("digits")?;
        }
    }
    Ok(best)
}

fn exact(
    engine: &Engine,
    digits: &Digits,
    name: &'static str,
    kernel: Kernel,
    cost: f64,
    notes: Option<f64>,
) -> Result<Line, Failure> {
    let started = Instant::now();
    let model = ExactSvm { cost, tolerance: TOLERANCE, ..ExactSvm::new(kernel) }
        .fit(engine, &digits.training.source()?)?;
    let seconds = started.elapsed().as_secs_f64();
    let support_vectors = Some(model.map().output_dim());
    Ok(Line { notes, support_vectors, ..line(engine, digits, name, &model, seconds)? })
}

fn linear(engine: &Engine, digits: &Digits) -> Result<Line, Failure> {
    let started = Instant::now();
    let model = svm(digits, MapSpec::auto(Kernel::Linear), 1.0).fit(engine, &digits.training.source()?)?;
    let seconds = started.elapsed().as_secs_f64();
    let features = Some(model.map().output_dim());
    Ok(Line {
        notes: Some(0.934),
        features,
        ..line(engine, digits, "linear SVM on pixels", &model, seconds)?
    })
}

/// One number of features: all its seeds.
fn point(
    engine: &Engine,
    digits: &Digits,
    kind: &Kind,
    features: usize,
    seed: u64,
    seeds: usize,
    steps: &mut Steps<'_>,
) -> Result<(Point, Line), Failure> {
    let (mut accuracies, mut times, mut gap, mut last) = (Vec::new(), Vec::new(), 0.0f64, None);
    for offset in 0..seeds as u64 {
        let seed = seed.wrapping_add(offset);
        let map = MapSpec { kernel: kind.kernel.clone(), method: kind.method, features, seed };
        let started = Instant::now();
        let model = svm(digits, map, kind.cost).fit(engine, &digits.training.source()?)?;
        times.push(started.elapsed().as_secs_f64());
        accuracies.push(digits.test.accuracy(&classes(engine, &model, digits)?));
        gap = gap.max(margin_and_gap(&model).1);
        last = Some(model);
        steps.next("digits")?;
    }
    times.sort_by(f64::total_cmp);
    let seconds = times[times.len() / 2];
    let Some(model) = last else { return Err(bochner::Error::NoRows.into()) };
    let line = Line {
        features: Some(features),
        accuracy: mean(&accuracies),
        deviation: Some(deviation(&accuracies)),
        notes: kind.notes,
        gap,
        certified: gap <= CERTIFIED,
        ..line(engine, digits, kind.name, &model, seconds)?
    };
    Ok((Point { features, accuracies, seconds }, line))
}

fn classes(engine: &Engine, model: &Model, digits: &Digits) -> Result<Vec<usize>, Failure> {
    Ok(model.classes(&model.decide(engine, Rows::from(&digits.test.x))?))
}

/// What a model is worth, and what it costs to ask it.
fn line(
    engine: &Engine,
    digits: &Digits,
    name: &'static str,
    model: &Model,
    seconds: f64,
) -> Result<Line, Failure> {
    let accuracy = digits.test.accuracy(&classes(engine, model, digits)?);
    let (started, mut runs) = (Instant::now(), 0);
    // Long enough for a clock.
    while runs < 3 || started.elapsed().as_secs_f64() < 0.02 {
        classes(engine, model, digits)?;
        runs += 1;
    }
    let seconds_per_row = started.elapsed().as_secs_f64() / (runs * digits.test.x.rows()) as f64;
    let (margin, gap) = margin_and_gap(model);
    let bytes = model.to_bytes()?.len() as u64;
    Ok(Line {
        name,
        features: None,
        accuracy,
        deviation: None,
        notes: None,
        seconds,
        seconds_per_row,
        bytes,
        support_vectors: None,
        margin,
        gap,
        certified: gap <= CERTIFIED,
    })
}

/// γ, and (primal − dual)/primal; a model without margins has no certificate.
fn margin_and_gap(model: &Model) -> (f64, f64) {
    match model.training().map(|training| training.outcome) {
        Some(Outcome::Margins { primal, dual, margin, .. }) => {
            (margin, (primal - dual) / primal.max(f64::MIN_POSITIVE))
        }
        _ => (0.0, f64::INFINITY),
    }
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

pub(super) fn deviation(values: &[f64]) -> f64 {
    let middle = mean(values);
    (values.iter().map(|v| (v - middle).powi(2)).sum::<f64>() / values.len().max(1) as f64).sqrt()
}

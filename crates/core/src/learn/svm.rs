//! Linear support vector machines on features: one against the rest.
//!
//! ```text
//! minimise (1/Σw) Σ wᵢ·ℓ(yᵢ·(c·z(xᵢ) + b)) + λ(‖c‖² + b²)         ℓ(m) = max(0, 1 − m) or its square,  y = ±1
//! ```
//! for each class against all others, or once for two. With C = 1/(2λΣw) this is LIBLINEAR's problem ½‖c‖² + C Σ wᵢ·ℓ, which also holds
//! the constant back. Features are held in memory; squared hinge on dense ones goes by Newton's method, everything else by
//! dual coordinate descent, both until the gap between primal and dual value is small. `docs/book/svm.md`.

use rayon::prelude::*;

use super::check::{self, labels};
use super::held::{AnyHeld, Held, Size};
use super::ridge::{CurvePoint, Lambda};
use crate::certify::{Certificate, capacity};
use crate::engine::Check;
use crate::model::{Decision, Head, Model, Outcome, Training};
use crate::plan::Cost;
use crate::solve::{Hinge, LinearSvm, MOST_FACTORED, Newton, SvmSolution};
use crate::source::Source;
use crate::stat::Sample;
use crate::sweep::BLOCK;
use crate::{Encoder, Engine, Error, Event, Labels, MapSpec, Matrix, Result, Rows, Scalar};

/// A linear support vector machine on features of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Svm {
    /// The features.
    pub map: MapSpec,
    /// What a margin costs.
    pub hinge: Hinge,
    /// How λ is found.
    pub lambda: Lambda,
    /// Whether to fit a constant, which is penalised like the coefficients.
    pub intercept: bool,
    /// The relative gap between primal and dual value that is small enough.
    pub tolerance: f64,
}

/// Decades of the grid of λ, times the mean squared length of a row of features.
const GRID: std::ops::RangeInclusive<i32> = -7..=0;

/// Gap of the models that λ is chosen with: good enough to compare.
const ROUGH: f64 = 1e-2;

/// Rounds of coordinate descent, at least and at most; between them, as many as touch [`TOUCHED`] entries. Few rows may need many, and can have them.
const ROUNDS: std::ops::RangeInclusive<usize> = 1_000..=1_000_000;
const TOUCHED: usize = 4_000_000_000;

/// Steps of Newton's method, at most.
const STEPS: usize = 300;

/// Rounds and steps while λ is chosen.
const ROUGH_ROUNDS: usize = 300;

impl Svm {
    /// Squared hinge, λ by 5-fold cross-validation, a constant, a gap of 10⁻⁴.
    pub fn new(map: MapSpec) -> Self {
        Svm {
            map,
            hinge: Hinge::Squared,
            lambda: Lambda::CrossValidated { folds: 5 },
            intercept: true,
            tolerance: 1e-4,
        }
    }

    /// What fitting will cost; for a source of unknown length, with one block of rows.
    pub fn plan(&self, source: &dyn Source) -> Result<Cost> {
        self.validate()?;
        let rows = source.row_count().unwrap_or(BLOCK as u64);
        let features = self.map.output_dim(source.input_dim());
        let held = Size::of(source, &self.map, features, rows);
        let outputs = source.target().outputs();
        // Signs, scores and α of each output beside the features, and what the solver keeps of the rows it looks at.
        let beside = rows.saturating_mul(8 * 5 * outputs as u64);
        // The Gram matrix that guides Newton's method as sums, whole, scaled, and its factor.
        let is_dense =
            !self.map.is_sparse() && (source.stored_entries().is_none() || !self.map.is_identity());
        let guide = if self.hinge == Hinge::Squared && is_dense && features <= MOST_FACTORED {
            (features as u64).saturating_pow(2).saturating_mul(4 * 8)
        } else {
            0
        };
        let a_row =
            source.stored_entries().map_or(source.input_dim() as u64, |stored| stored / rows.max(1) + 1);
        let sample = capacity(&self.map, source.input_dim()) as u64 * a_row * 24;
        let peak_bytes = [held.bytes, beside, guide, sample, self.map.bytes(source.input_dim())]
            .into_iter()
            .fold(0, u64::saturating_add);
        Ok(Cost {
            passes: 2,
            multiply_adds_per_million_rows: 1e6 * source.input_dim() as f64 * features as f64,
            // A hundred visits of each row, there and back.
            multiply_adds_to_solve: 200.0 * held.entries as f64 * outputs as f64,
            peak_bytes,
        })
    }

    fn validate(&self) -> Result<()> {
        self.lambda.validate()?;
        self.map.validate()?;
        if self.tolerance > 0.0 && self.tolerance < 1.0 {
            return Ok(());
        }
        let expected = "between 0 and 1";
        Err(Error::Parameter { name: "tolerance", expected, found: self.tolerance.to_string() })
    }

    /// Fits to all rows of the source: one pass for a sample (of landmarks, and for the certificate), one for the features.
    pub fn fit(&self, engine: &Engine, source: &dyn Source) -> Result<Model> {
        self.check(engine, source)?;
        let capacity = capacity(&self.map, source.input_dim());
        let sample = Sample::of(engine, source, capacity, self.map.seed)?;
        self.fit_with(engine, source, &sample)
    }

    /// Everything that can be said before the rows are read.
    pub(super) fn check(&self, engine: &Engine, source: &dyn Source) -> Result<()> {
        self.validate()?;
        labels(source)?;
        self.map.check(source.input_dim(), engine.memory_limit())?;
        let what = || "a support vector machine, whose features stay in memory,".to_owned();
        engine.check_memory(what, self.plan(source)?.peak_bytes)
    }

    /// Fits with a sample of the source's rows that was taken before.
    pub fn fit_with(&self, engine: &Engine, source: &dyn Source, sample: &Sample) -> Result<Model> {
        self.check(engine, source)?;
        let labels = labels(source)?;
        self.map.check_source(engine, source)?;
        let map = self.map.fit_to(engine, source, sample)?;
        let certificate = Certificate::measure(engine, &map, sample)?;
        let held = AnyHeld::of(engine, source, &map, sample.population(), self.lambda.folds())?;
        let (fitted, curve, lambda, rows) = match &held {
            AnyHeld::F32(held) => self.solve(engine, held, labels)?,
            AnyHeld::F64(held) => self.solve(engine, held, labels)?,
        };
        let training = Training {
            rows,
            lambda,
            curve,
            folds: self.lambda.folds(),
            intercept: self.intercept,
            outcome: fitted.outcome,
        };
        let head = Head::Classification { labels: labels.clone(), decision: Decision::Largest };
        let encoder = Encoder::identity(source.input_dim());
        let Fitted { coefficients, intercept, .. } = fitted;
        check::finite(&coefficients, &intercept, &certificate, &training)?;
        Ok(Model::new(encoder, map, coefficients, intercept, head, certificate, Some(training)))
    }

    /// λ, the curve it was chosen from, and the model at it.
    fn solve<T: Scalar>(
        &self,
        engine: &Engine,
        held: &Held<T>,
        labels: &Labels,
    ) -> Result<(Fitted, Vec<CurvePoint>, f64, u64)> {
        let problem = Problem::new(self, held, labels.len())?;
        let rows = held.count;
        let (lambda, curve) = match self.lambda {
            Lambda::Given { value } => (value, Vec::new()),
            Lambda::CrossValidated { folds } => {
                let choose = |check: Check<'_>| problem.choose(folds, check);
                engine.phase("cross-validation", rows, choose)?
            }
        };
        let solve = |check: Check<'_>| {
            let costs = problem.costs(lambda, |_| true);
            problem.solve(&costs, self.tolerance, problem.rounds(), check)
        };
        let solutions = engine.phase("solve", rows, solve)?;
        let gap = solutions.iter().map(SvmSolution::gap).fold(0.0, f64::max);
        if !(gap <= self.tolerance) {
            let text = format!(
                "the descent was stopped at a gap of {gap:.1e}, above {:.1e}; a larger λ, or columns of like size, are easier",
                self.tolerance
            );
            engine.tell(&Event::Warning { text: &text })?;
        }
        Ok((problem.fitted(solutions), curve, lambda, rows))
    }
}

/// Held features as problems of two classes.
struct Problem<'a, T> {
    svm: &'a Svm,
    held: &'a Held<T>,
    rows: Rows<'a, T>,
    outputs: usize,
    /// 1 or −1: rows × outputs.
    signs: Vec<f64>,
    /// Mean squared length and largest length of a row.
    size: f64,
    largest: f64,
}

/// Coefficients of all outputs.
struct Fitted {
    coefficients: Matrix<f64>,
    intercept: Vec<f64>,
    outcome: Outcome,
}

impl<'a, T: Scalar> Problem<'a, T> {
    fn new(svm: &'a Svm, held: &'a Held<T>, classes: usize) -> Result<Problem<'a, T>> {
        let rows = held.rows()?;
        let outputs = Decision::Largest.outputs(classes);
        // One output is for the second of two classes.
        let target = |o: usize| if outputs == 1 { 1 } else { o };
        let sign = |class: usize, o: usize| if class == target(o) { 1.0 } else { -1.0 };
        let signs =
            (0..held.weights.len()).flat_map(|i| (0..outputs).map(move |o| sign(held.class(i), o))).collect();
        let (mut sum, mut weight, mut largest) = (0.0, 0.0, 0.0f64);
        for (i, w) in held.weights.iter().enumerate() {
            let square: f64 = rows.entries(i).map(|(_, z)| z.to_f64() * z.to_f64()).sum();
            (sum, weight, largest) = (sum + w * square, weight + w, largest.max(square));
        }
        if !(sum / weight).is_finite() {
            return Err(Error::Overflow { what: "the lengths of the rows" });
        }
        // Features that are all zero leave nothing to choose.
        let size = if sum > 0.0 { sum / weight } else { 1.0 };
        Ok(Problem { svm, held, rows, outputs, signs, size, largest: largest.sqrt() })
    }

    /// cᵢ of the rows that take part: C·wᵢ with C = 1/(2λΣw).
    fn costs(&self, lambda: f64, takes_part: impl Fn(usize) -> bool) -> Vec<f64> {
        let weight = |i: usize| if takes_part(i) { self.held.weights[i] } else { 0.0 };
        let total: f64 = (0..self.held.weights.len()).map(weight).sum();
        let cost = 1.0 / (2.0 * lambda * total.max(f64::MIN_POSITIVE));
        (0..self.held.weights.len()).map(|i| cost * weight(i)).collect()
    }

    /// How long the final descent may take.
    fn rounds(&self) -> usize {
        if self.by_newton() {
            return STEPS;
        }
        let rows = self.rows.count();
        let entries = match self.rows {
            Rows::Dense(rows) => rows.rows() * rows.columns(),
            Rows::Sparse(rows) => rows.values().len(),
        };
        (TOUCHED / entries.max(rows).max(1)).clamp(*ROUNDS.start(), *ROUNDS.end())
    }

    fn by_newton(&self) -> bool {
        self.svm.hinge == Hinge::Squared && matches!(self.rows, Rows::Dense(_))
    }

    fn solve(
        &self,
        costs: &[f64],
        tolerance: f64,
        most: usize,
        check: Check<'_>,
    ) -> Result<Vec<SvmSolution>> {
        let Svm { hinge, intercept, map, .. } = self.svm;
        if let (true, Rows::Dense(features)) = (self.by_newton(), self.rows) {
            let (signs, outputs, intercept) = (&self.signs, self.outputs, *intercept);
            return Newton { features, signs, costs, outputs, intercept }.solve(tolerance, most, check);
        }
        (0..self.outputs)
            .into_par_iter()
            .map(|o| {
                let signs: Vec<f64> = self.signs.iter().skip(o).step_by(self.outputs).copied().collect();
                let (rows, hinge, intercept, seed) = (self.rows, *hinge, *intercept, map.seed);
                LinearSvm { rows, signs: &signs, costs, hinge, intercept, seed }
                    .descend(tolerance, most, check)
            })
            .collect()
    }

    /// The λ whose models err least on the folds they have not seen; the largest of equals.
    fn choose(&self, folds: usize, check: Check<'_>) -> Result<(f64, Vec<CurvePoint>)> {
        let grid: Vec<f64> = GRID.map(|e| self.size * 10f64.powi(e)).collect();
        let (mut wrong, mut seen) = (vec![0.0; grid.len()], 0.0);
        for fold in 0..folds {
            let left_out = |i: &usize| self.held.folds[*i] == fold;
            let out: Vec<usize> = (0..self.held.weights.len()).filter(left_out).collect();
            if out.is_empty() || out.len() == self.held.weights.len() {
                continue;
            }
            seen += out.iter().map(|&i| self.held.weights[i]).sum::<f64>();
            for (l, &lambda) in grid.iter().enumerate() {
                let part = |done: f64| (fold as f64 + (l as f64 + done) / grid.len() as f64) / folds as f64;
                let costs = self.costs(lambda, |i| self.held.folds[i] != fold);
                let solutions = self.solve(&costs, ROUGH, ROUGH_ROUNDS, &|done| check(part(done)))?;
                let errs = |i: &&usize| self.class(**i, &solutions) != self.held.class(**i);
                wrong[l] += out.iter().filter(errs).map(|&i| self.held.weights[i]).sum::<f64>();
            }
        }
        if !(seen > 0.0) {
            return Ok((1e-3 * self.size, Vec::new()));
        }
        let point = |(&lambda, &wrong): (&f64, &f64)| CurvePoint { lambda, error: wrong / seen };
        let curve: Vec<CurvePoint> = grid.iter().zip(&wrong).map(point).collect();
        let least = curve.iter().map(|point| point.error).fold(f64::INFINITY, f64::min);
        let best = curve.iter().rev().find(|point| point.error <= least);
        Ok((best.map_or(1e-3 * self.size, |point| point.lambda), curve))
    }

    /// The class that some solutions give to row i.
    fn class(&self, i: usize, solutions: &[SvmSolution]) -> usize {
        let score = |solution: &SvmSolution| {
            let constant = if self.svm.intercept { solution.weights[self.rows.columns()] } else { 0.0 };
            let sum: f64 = self.rows.entries(i).map(|(j, z)| z.to_f64() * solution.weights[j as usize]).sum();
            sum + constant
        };
        let scores: Vec<f64> = solutions.iter().map(score).collect();
        match scores[..] {
            [score] => usize::from(score > 0.0),
            _ => (0..scores.len()).fold(0, |best, o| if scores[o] > scores[best] { o } else { best }),
        }
    }

    fn fitted(&self, solutions: Vec<SvmSolution>) -> Fitted {
        let columns = self.rows.columns();
        let norm = |s: &SvmSolution| s.weights[..columns].iter().map(|w| w * w).sum::<f64>().sqrt();
        let widest = solutions.iter().map(norm).fold(0.0, f64::max);
        let outcome = Outcome::Margins {
            hinge: self.svm.hinge,
            primal: solutions.iter().map(|s| s.primal).sum(),
            dual: solutions.iter().map(|s| s.dual).sum(),
            margin: normalised_margin(widest, self.largest),
        };
        let intercept =
            solutions.iter().map(|s| if self.svm.intercept { s.weights[columns] } else { 0.0 }).collect();
        let coefficients = Matrix::from_fn(solutions.len(), columns, |o, j| solutions[o].weights[j]);
        Fitted { coefficients, intercept, outcome }
    }
}

/// γ = 1/(‖w‖·max ‖z‖): a finite number also where nothing was learnt.
pub(super) fn normalised_margin(norm: f64, largest: f64) -> f64 {
    let size = norm * largest;
    if size > 0.0 { (1.0 / size).min(f64::MAX) } else { 0.0 }
}

//! Linear models on features, under any loss.
//!
//! ```text
//! minimise (1/Σw) Σ wᵢ·ℓ(yᵢ, c·z(xᵢ) + b) + λ‖c‖²
//! ```
//! for each output, or, for the probabilities of several classes, for all of them together. The constant b is free, except under margins: with C = 1/(2λΣw) these are LIBLINEAR's
//! problem ½‖c‖² + C Σ wᵢ·ℓ, which holds the constant back too, for each class against all others, or once for two. Features are held in memory. Hinge loss, and squared hinge on sparse features, go by dual coordinate descent,
//! everything else by Newton's method. Each says why it stopped. `docs/book/losses.md`, `docs/book/svm.md`.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::calibrate::Scored;
use super::held::{AnyHeld, Held, Size};
use super::ridge::{Chosen, CurvePoint, Lambda};
use super::{Uncertainty, check};
use crate::certify::{Certificate, capacity};
use crate::engine::Check;
use crate::loss::{Pointwise, softmax};
use crate::model::{Calibration, Decision, Head, Model, Outcome, Training};
use crate::plan::Cost;
use crate::solve::{Constant, Hinge, LinearSvm, MOST_FACTORED, Minimum, Newton, Passes, Stop, SvmSolution};
use crate::source::{Source, Target, entries_of_a_row};
use crate::stat::Sample;
use crate::sweep::BLOCK;
use crate::{Encoder, Engine, Error, Event, Loss, MapSpec, Matrix, Result, Rows, Scalar};

/// A linear model on features of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// The features.
    pub map: MapSpec,
    /// What is minimised.
    pub loss: Loss,
    /// How λ is found.
    pub lambda: Lambda,
    /// Whether to fit a constant; it is penalised like the coefficients under [`Loss::Margins`], and free under all others.
    pub intercept: bool,
    /// What may be left to gain, as a part of the objective.
    pub tolerance: f64,
    /// Newton steps that may be made, or rounds of coordinate descent where these are given; none for enough.
    pub most_steps: Option<usize>,
}

/// Decades of the grid of λ, times its unit.
const GRID: std::ops::RangeInclusive<i32> = -7..=0;

/// The tolerance of the models that λ is chosen with: good enough to compare.
const ROUGH: f64 = 1e-2;

/// Rounds of coordinate descent, at least and at most; between them, as many as touch [`TOUCHED`] entries. Few rows may need many, and can have them.
const ROUNDS: std::ops::RangeInclusive<usize> = 1_000..=1_000_000;
const TOUCHED: usize = 4_000_000_000;

/// Steps of Newton's method, at most.
const STEPS: usize = 300;

/// Rounds and steps while λ is chosen.
const ROUGH_ROUNDS: usize = 300;

/// Errors of cross-validation may rise so often, one after another, before smaller λ are given up.
const RISES: usize = 2;

impl Linear {
    /// λ by 5-fold cross-validation, a constant, a tolerance of 10⁻⁴.
    pub fn new(map: MapSpec, loss: Loss) -> Self {
        let lambda = Lambda::CrossValidated { folds: 5 };
        Linear { map, loss, lambda, intercept: true, tolerance: 1e-4, most_steps: None }
    }

    /// A linear support vector machine with squared hinge loss.
    pub fn svm(map: MapSpec) -> Self {
        Linear::new(map, Loss::margins(Hinge::Squared))
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
        let is_sparse = self.map.is_sparse() || (source.stored_entries().is_some() && self.map.is_identity());
        // The matrix that guides Newton's method as sums, whole, scaled, and its factor; sparse rows a second time, column by column.
        let guide = match (self.by_newton(is_sparse), is_sparse) {
            (false, _) => 0,
            (true, true) => held.entries.saturating_mul(source.scalar_bytes() as u64 + 4),
            (true, false) if features <= MOST_FACTORED => {
                (features as u64).saturating_pow(2).saturating_mul(4 * 8)
            }
            (true, false) => 0,
        };
        let sample = (capacity(&self.map, source.input_dim()) as u64)
            .saturating_mul(entries_of_a_row(source))
            .saturating_mul(24);
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
        self.loss.validate()?;
        self.lambda.validate()?;
        self.map.validate()?;
        if self.tolerance > 0.0 && self.tolerance < 1.0 {
            return Ok(());
        }
        let expected = "between 0 and 1";
        Err(Error::Parameter { name: "tolerance", expected, found: self.tolerance.to_string() })
    }

    fn by_newton(&self, is_sparse: bool) -> bool {
        match self.loss {
            Loss::Margins { hinge: Hinge::Plain } => false,
            Loss::Margins { hinge: Hinge::Squared } => !is_sparse,
            _ => true,
        }
    }

    fn constant(&self) -> Constant {
        match self.loss {
            _ if !self.intercept => Constant::None,
            Loss::Margins { .. } => Constant::Held,
            _ => Constant::Free,
        }
    }

    /// Fits to all rows of the source: one pass for a sample (of landmarks, and for the certificate), one for the features.
    pub fn fit(&self, engine: &Engine, source: &dyn Source) -> Result<Model> {
        self.fit_from(engine, source, None)
    }

    /// The same, from the coefficients of a model of the same map on: much sooner where rows or λ have changed little.
    pub fn fit_from(&self, engine: &Engine, source: &dyn Source, start: Option<&Model>) -> Result<Model> {
        self.check(engine, source)?;
        let capacity = capacity(&self.map, source.input_dim());
        let sample = Sample::of(engine, source, capacity, self.map.seed)?;
        self.fit_with(engine, source, &sample, start)
    }

    /// Everything that can be said before the rows are read.
    pub(super) fn check(&self, engine: &Engine, source: &dyn Source) -> Result<()> {
        self.validate()?;
        check::target(self.loss, source)?;
        self.map.check(source.input_dim(), engine.memory_limit())?;
        let what = || format!("a fit under {}, whose features stay in memory,", self.loss);
        engine.check_memory(what, self.plan(source)?.peak_bytes)
    }

    /// Fits with a sample of the source's rows that was taken before, and from a start if there is one.
    pub fn fit_with(
        &self,
        engine: &Engine,
        source: &dyn Source,
        sample: &Sample,
        start: Option<&Model>,
    ) -> Result<Model> {
        self.fit_knowing(engine, source, sample, start, Uncertainty::default())
    }

    /// The same with what the model is to know of its errors, but for rows held out.
    pub(super) fn fit_knowing(
        &self,
        engine: &Engine,
        source: &dyn Source,
        sample: &Sample,
        start: Option<&Model>,
        known: Uncertainty,
    ) -> Result<Model> {
        self.check(engine, source)?;
        self.map.check_source(engine, source)?;
        let map = self.map.fit_to(engine, source, sample)?;
        let certificate = Certificate::measure(engine, &map, sample)?;
        let start = match start {
            Some(model) => Some(self.start(model, source.target())?),
            None => None,
        };
        let folds = known.folds(self.lambda, self.loss, source.target());
        let held = AnyHeld::of(engine, source, &map, sample.population(), folds)?;
        let calibrated = known.calibrates(self.loss, source.target()).then_some(folds);
        let fitted = match &held {
            AnyHeld::F32(held) => self.solve(engine, held, source.target(), start.as_deref(), calibrated)?,
            AnyHeld::F64(held) => self.solve(engine, held, source.target(), start.as_deref(), calibrated)?,
        };
        let training = Training {
            rows: fitted.rows,
            lambda: fitted.lambda,
            curve: fitted.curve,
            folds: self.lambda.folds(),
            fold_errors: fitted.fold_errors,
            intercept: self.intercept,
            plan: None,
            outcome: fitted.outcome,
        };
        let head = match source.target() {
            Target::Numbers { .. } => Head::Regression,
            Target::Classes { labels } => {
                Head::Classification { labels: labels.clone(), decision: Decision::Largest }
            }
        };
        let encoder = Encoder::identity(source.input_dim());
        check::finite(&fitted.coefficients, &fitted.intercept, &certificate, &training)?;
        let model = Model::new(
            encoder,
            map,
            fitted.coefficients,
            fitted.intercept,
            head,
            certificate,
            Some(training),
        );
        // Scores under logistic loss are logarithms of odds as they are.
        let usual = (self.loss == Loss::Logistic).then(Calibration::default);
        Ok(model.knowing(fitted.calibration.or(usual), None))
    }

    /// Whether a model has coefficients for these features and outputs, and the solver a use for them: Newton's method has, coordinate descent has not.
    pub(super) fn can_start_from(&self, model: &Model, target: &Target) -> bool {
        // Rows that landmarks and bins are fitted to may be others.
        let is_fitted = self.map.needs_sample() || self.map.is_sparse();
        let has_use = self.by_newton(self.map.is_sparse());
        model.map().spec() == &self.map
            && has_use
            && !is_fitted
            && model.intercept().len() == target.outputs()
    }

    /// The coefficients of another model, if it has as many for the same features.
    fn start(&self, model: &Model, target: &Target) -> Result<Vec<Vec<f64>>> {
        if !self.can_start_from(model, target) {
            return Err(Error::Unsupported {
                what: "a start from this model".to_owned(),
                reason: "its map, features or outputs are others, or the loss is the hinge, which has no use for a start",
                instead: "start from a model of the same kernel, method, D, seed and targets, or from none",
            });
        }
        let weights = |o: usize| {
            let constant = self.intercept.then_some(model.intercept()[o]);
            model.coefficients().row(o).iter().copied().chain(constant).collect()
        };
        Ok((0..model.intercept().len()).map(weights).collect())
    }

    /// λ, the curve it was chosen from, and the model at it.
    fn solve<T: Scalar>(
        &self,
        engine: &Engine,
        held: &Held<T>,
        target: &Target,
        start: Option<&[Vec<f64>]>,
        calibrated: Option<usize>,
    ) -> Result<Fitted> {
        let problem = Problem::new(self, held, target)?;
        let Chosen { lambda, curve, fold_errors } = match self.lambda {
            Lambda::Given { value } => Chosen { lambda: value, ..Chosen::default() },
            Lambda::CrossValidated { folds } => {
                let choose = |check: Check<'_>| problem.choose(folds, check);
                engine.phase("cross-validation", held.count, choose)?
            }
        };
        let solve = |check: Check<'_>| {
            let costs = problem.costs(lambda, |_| true);
            let most = self.most_steps.unwrap_or_else(|| problem.rounds());
            let start = start.map(|start| problem.without_means(start));
            problem.solve(&costs, start.as_deref(), self.tolerance, most, check)
        };
        let solutions = engine.phase("solve", held.count, solve)?;
        if solutions.iter().any(|s| s.stop == Stop::Steps) {
            let left =
                |s: &Solved| s.dual.map(|dual| (s.primal - dual) / s.primal.abs().max(f64::MIN_POSITIVE));
            let gap = solutions.iter().filter_map(left).fold(0.0, f64::max);
            let text = format!(
                "the descent was stopped after {} steps{}: the model is not the best one yet; more steps, a larger λ, or columns of like size help",
                solutions.iter().map(|s| s.steps).max().unwrap_or(0),
                if gap > 0.0 {
                    format!(" at a gap of {gap:.1e}, above {:.1e}", self.tolerance)
                } else {
                    String::new()
                },
            );
            engine.tell(&Event::Warning { text: &text })?;
        }
        let mut fitted = Fitted { curve, fold_errors, ..problem.fitted(solutions, lambda) };
        if let (Some(folds), Target::Classes { labels }) = (calibrated, target) {
            let left_out = |check: Check<'_>| {
                problem.left_out(lambda, folds, check)?.calibration(labels.len()).map(Some)
            };
            fitted.calibration = engine.phase("calibration", held.count, left_out)?;
        }
        Ok(fitted)
    }
}

/// Held features with what they are to be fitted to.
struct Problem<'a, T> {
    linear: &'a Linear,
    held: &'a Held<T>,
    rows: Rows<'a, T>,
    passes: Option<Passes<'a, T>>,
    is_classes: bool,
    outputs: usize,
    /// As losses see them: rows × outputs; numbers beside a free constant without their mean, which keeps the digits of what is left.
    targets: Vec<f64>,
    means: Vec<f64>,
    /// What λ is measured in, and the largest length of a row.
    unit: f64,
    largest: f64,
}

/// Where a solver ended, for one output or for all.
struct Solved {
    /// One vector an output, the constant last if there is one.
    weights: Vec<Vec<f64>>,
    /// Rows × these outputs.
    scores: Vec<f64>,
    primal: f64,
    dual: Option<f64>,
    scale: f64,
    steps: usize,
    stop: Stop,
}

/// Coefficients of all outputs.
struct Fitted {
    coefficients: Matrix<f64>,
    intercept: Vec<f64>,
    outcome: Outcome,
    lambda: f64,
    curve: Vec<CurvePoint>,
    fold_errors: Vec<f64>,
    rows: u64,
    calibration: Option<Calibration>,
}

impl<'a, T: Scalar> Problem<'a, T> {
    fn new(linear: &'a Linear, held: &'a Held<T>, target: &Target) -> Result<Problem<'a, T>> {
        let rows = held.rows()?;
        let (outputs, n) = (target.outputs(), held.weights.len());
        let is_classes = matches!(target, Target::Classes { .. });
        let low = if linear.loss.wants_classes() && !(linear.loss == Loss::Logistic && outputs > 1) {
            -1.0
        } else {
            0.0
        };
        let code = |i: usize, o: usize| match target {
            Target::Numbers { .. } => held.targets_of(i)[o],
            // One output is for the second of two classes.
            Target::Classes { .. } if outputs == 1 => {
                if held.class(i) == 1 {
                    1.0
                } else {
                    -1.0
                }
            }
            Target::Classes { .. } => {
                if held.class(i) == o {
                    1.0
                } else {
                    low
                }
            }
        };
        let mut targets: Vec<f64> =
            (0..n).flat_map(|i| (0..outputs).map(move |o| (i, o))).map(|(i, o)| code(i, o)).collect();
        if let Target::Classes { labels } = target
            && linear.loss == Loss::Logistic
            && outputs == 1
            && let Some(first) = (0..n).map(|i| held.class(i)).next()
            && (0..n).all(|i| held.class(i) == first)
        {
            return Err(Error::OneClass { label: labels.text(first).to_owned() });
        }
        let has_means = !is_classes && linear.constant() == Constant::Free;
        let means: Vec<f64> = (0..outputs)
            .map(|o| if has_means { mean(&targets, outputs, o, &held.weights) } else { 0.0 })
            .collect();
        targets
            .chunks_exact_mut(outputs)
            .for_each(|row| row.iter_mut().zip(&means).for_each(|(y, m)| *y -= m));
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
        let spread = if linear.loss.wants_numbers() { spread(&targets, outputs, &held.weights) } else { 1.0 };
        let has_constant = linear.constant() != Constant::None;
        let passes =
            linear.by_newton(matches!(rows, Rows::Sparse(_))).then(|| Passes::new(rows, has_constant));
        let (unit, largest) = (size / spread, largest.sqrt());
        Ok(Problem { linear, held, rows, passes, is_classes, outputs, targets, means, unit, largest })
    }

    /// Weights for targets without their means.
    fn without_means(&self, start: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let mut start = start.to_vec();
        if self.linear.constant() == Constant::Free {
            let constants = start.iter_mut().filter_map(|w| w.last_mut());
            constants.zip(&self.means).for_each(|(b, mean)| *b -= mean);
        }
        start
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
        if self.passes.is_some() {
            return STEPS;
        }
        let rows = self.rows.count();
        let entries = match self.rows {
            Rows::Dense(rows) => rows.rows() * rows.columns(),
            Rows::Sparse(rows) => rows.values().len(),
        };
        (TOUCHED / entries.max(rows).max(1)).clamp(*ROUNDS.start(), *ROUNDS.end())
    }

    /// One for each output, or one for all.
    fn solve(
        &self,
        costs: &[f64],
        start: Option<&[Vec<f64>]>,
        tolerance: f64,
        most: usize,
        check: Check<'_>,
    ) -> Result<Vec<Solved>> {
        let Linear { loss, intercept, map, .. } = self.linear;
        if let Some(features) = &self.passes {
            let (targets, outputs, constant) = (&self.targets[..], self.outputs, self.linear.constant());
            let newton = Newton { features, targets, costs, outputs, loss: *loss, constant, start };
            return Ok(newton.solve(tolerance, most, check)?.into_iter().map(Solved::from).collect());
        }
        let hinge = if let Loss::Margins { hinge } = loss { *hinge } else { Hinge::Plain };
        (0..self.outputs)
            .into_par_iter()
            .map(|o| {
                let signs: Vec<f64> = self.targets.iter().skip(o).step_by(self.outputs).copied().collect();
                let (rows, intercept, seed) = (self.rows, *intercept, map.seed);
                let svm = LinearSvm { rows, signs: &signs, costs, hinge, intercept, seed };
                svm.descend(tolerance, most, check).map(|solution| self.solved(solution, tolerance))
            })
            .collect()
    }

    fn solved(&self, solution: SvmSolution, tolerance: f64) -> Solved {
        let stop = if solution.gap() <= tolerance { Stop::Gap } else { Stop::Steps };
        let columns = self.rows.columns();
        let constant = if self.linear.intercept { solution.weights[columns] } else { 0.0 };
        let score = |i: usize| {
            let sum: f64 = self.rows.entries(i).map(|(j, z)| z.to_f64() * solution.weights[j as usize]).sum();
            sum + constant
        };
        let scores = (0..self.rows.count()).into_par_iter().map(score).collect();
        let SvmSolution { weights, primal, dual, rounds: steps, .. } = solution;
        Solved { weights: vec![weights], scores, primal, dual: Some(dual), scale: 1.0, steps, stop }
    }

    /// The λ whose models do best on the folds they have not seen; of equals the one whose margins cost least there, which tells more than a count of wrong classes where one class is rare; the largest of those. From large λ to small ones, each from where the last ended, and no further than errors fall.
    fn choose(&self, folds: usize, check: Check<'_>) -> Result<Chosen> {
        let grid: Vec<f64> = GRID.rev().map(|e| self.unit * 10f64.powi(e)).collect();
        let n = self.held.weights.len();
        let of_fold = |fold: usize| (0..n).filter(|&i| self.held.folds[i] == fold).collect::<Vec<usize>>();
        let left_out: Vec<(usize, Vec<usize>)> = (0..folds)
            .map(|fold| (fold, of_fold(fold)))
            .filter(|(fold, out)| !out.is_empty() && out.len() < n && self.has_all_classes(*fold))
            .collect();
        let weight = |out: &[usize]| out.iter().map(|&i| self.held.weights[i]).sum::<f64>();
        let weights: Vec<f64> = left_out.iter().map(|(_, out)| weight(out)).collect();
        let seen: f64 = weights.iter().sum();
        if !(seen > 0.0) {
            return Ok(Chosen { lambda: 1e-3 * self.unit, ..Chosen::default() });
        }
        let mut starts: Vec<Option<Vec<Vec<f64>>>> = vec![None; left_out.len()];
        let (mut curve, mut rises): (Vec<CurvePoint>, usize) = (Vec::new(), 0);
        let (mut fold_errors, mut losses): (Vec<Vec<f64>>, Vec<f64>) = (Vec::new(), Vec::new());
        for (l, &lambda) in grid.iter().enumerate() {
            let mut errors = Vec::with_capacity(left_out.len());
            let mut lost = 0.0;
            for (k, (fold, out)) in left_out.iter().enumerate() {
                let part = (l as f64 + k as f64 / left_out.len() as f64) / grid.len() as f64;
                let costs = self.costs(lambda, |i| self.held.folds[i] != *fold);
                let solved =
                    self.solve(&costs, starts[k].as_deref(), ROUGH, ROUGH_ROUNDS, &|_| check(part))?;
                errors.push(self.error(out, &solved));
                lost += self.margins_lost(out, &solved);
                starts[k] = Some(solved.into_iter().flat_map(|s| s.weights).collect());
            }
            let error = errors.iter().sum::<f64>() / seen;
            fold_errors.push(errors.iter().zip(&weights).map(|(sum, weight)| sum / weight).collect());
            let best = curve.iter().map(|point| point.error).fold(f64::INFINITY, f64::min);
            rises = if error > best { rises + 1 } else { 0 };
            curve.push(CurvePoint { lambda, error });
            losses.push(lost);
            if rises == RISES {
                break;
            }
        }
        let least = curve.iter().map(|point| point.error).fold(f64::INFINITY, f64::min);
        let equals = (0..curve.len()).filter(|&at| curve[at].error <= least);
        let best = equals.min_by(|&a, &b| losses[a].total_cmp(&losses[b]));
        let lambda = best.map_or(1e-3 * self.unit, |at| curve[at].lambda);
        let fold_errors = best.map_or_else(Vec::new, |at| fold_errors.swap_remove(at));
        curve.reverse();
        Ok(Chosen { lambda, curve, fold_errors })
    }

    /// The scores of each row by the model of the folds that it is not in.
    fn left_out(&self, lambda: f64, folds: usize, check: Check<'_>) -> Result<Scored> {
        let n = self.held.weights.len();
        let most = self.linear.most_steps.unwrap_or_else(|| self.rounds());
        let mut scored = Scored::new(self.outputs);
        for fold in 0..folds {
            let out: Vec<usize> = (0..n).filter(|&i| self.held.folds[i] == fold).collect();
            if out.is_empty() || out.len() == n || !self.has_all_classes(fold) {
                continue;
            }
            let costs = self.costs(lambda, |i| self.held.folds[i] != fold);
            let part = fold as f64 / folds as f64;
            let solved = self.solve(&costs, None, self.linear.tolerance, most, &|_| check(part))?;
            for i in out {
                scored.push(&scores_of(&solved, i), self.held.class(i), self.held.weights[i]);
            }
        }
        Ok(scored)
    }

    /// Whether every class that is there is there without a fold too: the odds of one that is not would be nothing.
    fn has_all_classes(&self, fold: usize) -> bool {
        if self.linear.loss != Loss::Logistic {
            return true;
        }
        let classes = |counts: &dyn Fn(usize) -> bool| -> BTreeSet<usize> {
            (0..self.held.weights.len()).filter(|&i| counts(i)).map(|i| self.held.class(i)).collect()
        };
        classes(&|i| self.held.folds[i] != fold) == classes(&|_| true)
    }

    /// The weighted sum of errors of some rows: wrong classes where margins or squares were minimised, losses otherwise.
    fn error(&self, rows: &[usize], solved: &[Solved]) -> f64 {
        let error = |i: usize| {
            let (mut s, y) = (scores_of(solved, i), &self.targets[i * self.outputs..(i + 1) * self.outputs]);
            match self.linear.loss {
                Loss::Logistic if self.outputs > 1 => {
                    let seen: f64 = s.iter().zip(y).map(|(s, y)| s * y).sum();
                    softmax(&mut s) - seen
                }
                Loss::Margins { .. } | Loss::Squares if self.is_classes => {
                    f64::from(u8::from(self.class(&s) != self.held.class(i)))
                }
                loss => (0..self.outputs)
                    .map(|o| Pointwise { scale: solved[o].scale, ..loss.pointwise() }.value(y[o], s[o]))
                    .sum(),
            }
        };
        rows.iter().map(|&i| self.held.weights[i] * error(i)).sum()
    }

    /// The weighted sum of what the margins of some rows cost; nothing where it is not margins that are minimised.
    fn margins_lost(&self, rows: &[usize], solved: &[Solved]) -> f64 {
        if !matches!(self.linear.loss, Loss::Margins { .. }) {
            return 0.0;
        }
        let pointwise = self.linear.loss.pointwise();
        let lost = |i: usize| -> f64 {
            let targets = &self.targets[i * self.outputs..(i + 1) * self.outputs];
            targets.iter().zip(scores_of(solved, i)).map(|(y, s)| pointwise.value(*y, s)).sum()
        };
        rows.iter().map(|&i| self.held.weights[i] * lost(i)).sum()
    }

    fn class(&self, scores: &[f64]) -> usize {
        match scores {
            [score] => usize::from(*score > 0.0),
            _ => (0..scores.len()).fold(0, |best, o| if scores[o] > scores[best] { o } else { best }),
        }
    }

    fn fitted(&self, solved: Vec<Solved>, lambda: f64) -> Fitted {
        let columns = self.rows.columns();
        let weights: Vec<&Vec<f64>> = solved.iter().flat_map(|s| &s.weights).collect();
        let (primal, dual): (f64, Option<f64>) =
            (solved.iter().map(|s| s.primal).sum(), solved.iter().map(|s| s.dual).sum());
        let outcome = match self.linear.loss {
            Loss::Margins { hinge } => {
                let norm = |w: &&Vec<f64>| w[..columns].iter().map(|w| w * w).sum::<f64>().sqrt();
                let widest = weights.iter().map(norm).fold(0.0, f64::max);
                let margin = normalised_margin(widest, self.largest);
                Outcome::Margins { hinge, primal, dual: dual.unwrap_or(0.0), margin }
            }
            loss => Outcome::Minimised {
                loss,
                objective: 2.0 * lambda * primal,
                bound: dual.map(|dual| 2.0 * lambda * dual),
                scale: matches!(loss, Loss::Huber { .. })
                    .then(|| solved.iter().map(|s| s.scale).fold(0.0, f64::max)),
                steps: solved.iter().map(|s| s.steps).max().unwrap_or(0),
                stop: solved.iter().map(|s| s.stop).max_by_key(|stop| *stop as usize).unwrap_or(Stop::Gap),
            },
        };
        let has_constant = self.linear.intercept;
        let constant = |(w, mean): (&&Vec<f64>, &f64)| if has_constant { w[columns] + mean } else { 0.0 };
        let intercept = weights.iter().zip(&self.means).map(constant).collect();
        let coefficients = Matrix::from_fn(weights.len(), columns, |o, j| weights[o][j]);
        let (curve, fold_errors, calibration) = (Vec::new(), Vec::new(), None);
        let rows = self.held.count;
        Fitted { coefficients, intercept, outcome, lambda, curve, fold_errors, rows, calibration }
    }
}

impl From<Minimum> for Solved {
    fn from(found: Minimum) -> Solved {
        let Minimum { weights, scores, primal, dual, scale, steps, stop } = found;
        Solved { weights, scores, primal, dual, scale, steps, stop }
    }
}

/// The scores of row i, of all outputs.
fn scores_of(solved: &[Solved], i: usize) -> Vec<f64> {
    let of = |s: &Solved| s.scores[i * s.weights.len()..(i + 1) * s.weights.len()].to_vec();
    solved.iter().flat_map(of).collect()
}

/// The weighted mean of one column of targets.
fn mean(targets: &[f64], outputs: usize, o: usize, weights: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    targets.iter().skip(o).step_by(outputs).zip(weights).map(|(y, w)| y * (w / total)).sum()
}

/// The mean distance of targets from their mean: of all outputs the largest, and 1 where none differ.
fn spread(targets: &[f64], outputs: usize, weights: &[f64]) -> f64 {
    let of = |o: usize| {
        let middle = mean(targets, outputs, o, weights);
        let away: Vec<f64> = targets.iter().skip(o).step_by(outputs).map(|y| (y - middle).abs()).collect();
        mean(&away, 1, 0, weights)
    };
    let largest = (0..outputs).map(of).fold(0.0, f64::max);
    if largest > 0.0 && largest.is_finite() { largest } else { 1.0 }
}

/// γ = 1/(‖w‖·max ‖z‖): a finite number also where nothing was learnt.
pub(super) fn normalised_margin(norm: f64, largest: f64) -> f64 {
    let size = norm * largest;
    if size > 0.0 { (1.0 / size).min(f64::MAX) } else { 0.0 }
}

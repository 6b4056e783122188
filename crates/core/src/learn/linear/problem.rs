//! A linear model on held features.

use std::collections::BTreeSet;

use super::fitted::{Fitted, Solved};
use super::search::{Search, baseline_loss, grid, row_error, row_loss, usual};
use super::{Linear, STEPS};
use crate::engine::Check;
use crate::learn::calibrate::Scored;
use crate::learn::held::Held;
use crate::learn::ridge::Chosen;
use crate::solve::{Constant, Hinge, LinearSvm, Newton, Passes, Stop, SvmSolution};
use crate::source::Target;
use crate::{Engine, Error, Loss, Result, Rows, Scalar};

/// The tolerance of the models that λ is chosen with: good enough to compare.
pub(super) const ROUGH: f64 = 1e-2;

/// Rounds of coordinate descent, at least and at most; between them, as many as touch [`TOUCHED`] entries. Few rows may need many, and can have them.
const ROUNDS: std::ops::RangeInclusive<usize> = 1_000..=1_000_000;
const TOUCHED: usize = 4_000_000_000;

/// Rows that one thread scores at once.
const SCORED: usize = 256;

/// Rounds and steps while λ is chosen.
pub(super) const ROUGH_ROUNDS: usize = 300;

/// Held features with what they are to be fitted to.
pub(super) struct Problem<'a, T> {
    engine: &'a Engine,
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

impl<'a, T: Scalar> Problem<'a, T> {
    pub(super) fn new(
        engine: &'a Engine,
        linear: &'a Linear,
        held: &'a Held<T>,
        target: &Target,
    ) -> Result<Problem<'a, T>> {
        let rows = held.rows()?;
        let (outputs, n) = (target.outputs(), held.weights.len());
        let is_classes = matches!(target, Target::Classes { .. });
        let low = linear.other_class();
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
        let passes = linear
            .by_newton(matches!(rows, Rows::Sparse(_)))
            .then(|| Passes::new(engine, rows, has_constant));
        let (unit, largest) = (size / spread, largest.sqrt());
        Ok(Problem { engine, linear, held, rows, passes, is_classes, outputs, targets, means, unit, largest })
    }

    /// Weights for targets without their means.
    pub(super) fn without_means(&self, start: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let mut start = start.to_vec();
        if self.linear.constant() == Constant::Free {
            let constants = start.iter_mut().filter_map(|w| w.last_mut());
            constants.zip(&self.means).for_each(|(b, mean)| *b -= mean);
        }
        start
    }

    /// cᵢ of the rows that take part: C·wᵢ with C = 1/(2λΣw).
    pub(super) fn costs(&self, lambda: f64, takes_part: impl Fn(usize) -> bool) -> Vec<f64> {
        let weight = |i: usize| if takes_part(i) { self.held.weights[i] } else { 0.0 };
        let total: f64 = (0..self.held.weights.len()).map(weight).sum();
        let cost = 1.0 / (2.0 * lambda * total.max(f64::MIN_POSITIVE));
        (0..self.held.weights.len()).map(|i| cost * weight(i)).collect()
    }

    /// How long the final descent may take.
    pub(super) fn rounds(&self) -> usize {
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
    pub(super) fn solve(
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
        let machine = |o: usize| {
            let signs: Vec<f64> = self.targets.iter().skip(o).step_by(self.outputs).copied().collect();
            let (rows, intercept, seed) = (self.rows, *intercept, map.seed);
            let svm = LinearSvm { rows, signs: &signs, costs, hinge, intercept, seed };
            svm.descend(self.engine, tolerance, most, check).map(|solution| self.solved(solution, tolerance))
        };
        self.engine.map(self.outputs, &machine).into_iter().collect()
    }

    fn solved(&self, solution: SvmSolution, tolerance: f64) -> Solved {
        let stop = if solution.gap() <= tolerance { Stop::Gap } else { Stop::Steps };
        let columns = self.rows.columns();
        let constant = if self.linear.intercept { solution.weights[columns] } else { 0.0 };
        let score = |i: usize| {
            let sum: f64 = self.rows.entries(i).map(|(j, z)| z.to_f64() * solution.weights[j as usize]).sum();
            sum + constant
        };
        let mut scores = vec![0.0; self.rows.count()];
        self.engine.for_each_chunk(&mut scores, SCORED, &|piece, scores| {
            scores.iter_mut().enumerate().for_each(|(i, to)| *to = score(piece * SCORED + i));
        });
        let SvmSolution { weights, primal, dual, rounds: steps, .. } = solution;
        Solved { weights: vec![weights], scores, primal, dual: Some(dual), scale: 1.0, steps, stop }
    }

    /// λ by the errors of models on the folds they have not seen, each from where the last ended.
    pub(super) fn choose(&self, folds: usize, check: Check<'_>) -> Result<Chosen> {
        let grid = grid(self.unit);
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
            return Ok(Chosen { lambda: usual(self.unit), ..Chosen::default() });
        }
        let baseline = self.baseline_loss(left_out.iter().flat_map(|(_, out)| out));
        let mut starts: Vec<Option<Vec<Vec<f64>>>> = vec![None; left_out.len()];
        let (mut search, mut fold_errors) = (Search::new(baseline), Vec::<Vec<f64>>::new());
        for (l, &lambda) in grid.iter().enumerate() {
            let mut errors = Vec::with_capacity(left_out.len());
            let mut loss = 0.0;
            for (k, (fold, out)) in left_out.iter().enumerate() {
                let part = (l as f64 + k as f64 / left_out.len() as f64) / grid.len() as f64;
                let costs = self.costs(lambda, |i| self.held.folds[i] != *fold);
                let solved =
                    self.solve(&costs, starts[k].as_deref(), ROUGH, ROUGH_ROUNDS, &|_| check(part))?;
                errors.push(self.error(out, &solved));
                loss += self.validation_loss(out, &solved);
                starts[k] = Some(solved.into_iter().flat_map(|s| s.weights).collect());
            }
            let error = errors.iter().sum::<f64>() / seen;
            fold_errors.push(errors.iter().zip(&weights).map(|(sum, weight)| sum / weight).collect());
            if !search.push(lambda, error, loss) {
                break;
            }
        }
        let best = search.best();
        let lambda = best.map_or(usual(self.unit), |at| grid[at]);
        let fold_errors = best.map_or_else(Vec::new, |at| fold_errors.swap_remove(at));
        Ok(Chosen { lambda, curve: search.curve(), fold_errors })
    }

    /// The scores of each row by the model of the folds that it is not in.
    pub(super) fn left_out(&self, lambda: f64, folds: usize, check: Check<'_>) -> Result<Scored> {
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

    /// The weighted sum of errors of some rows.
    fn error(&self, rows: &[usize], solved: &[Solved]) -> f64 {
        let error = |i: usize| {
            let scale = |o: usize| solved.get(o).map_or(1.0, |solved| solved.scale);
            row_error(self.linear.loss, self.is_classes, self.targets_of(i), &scores_of(solved, i), scale)
        };
        rows.iter().map(|&i| self.held.weights[i] * error(i)).sum()
    }

    /// The weighted loss of some rows, where their errors are counts.
    fn validation_loss(&self, rows: &[usize], solved: &[Solved]) -> f64 {
        let loss =
            |i: usize| row_loss(self.linear.loss, self.is_classes, self.targets_of(i), &scores_of(solved, i));
        rows.iter().map(|&i| self.held.weights[i] * loss(i)).sum()
    }

    /// The same at the best constant score.
    fn baseline_loss<'r>(&self, rows: impl Iterator<Item = &'r usize>) -> f64 {
        // One output is for the second of two classes.
        let mut classes = vec![0.0; if self.is_classes { self.outputs.max(2) } else { 0 }];
        if self.is_classes {
            rows.for_each(|&i| classes[self.held.class(i)] += self.held.weights[i]);
        }
        baseline_loss(self.linear.loss, &classes)
    }

    fn targets_of(&self, i: usize) -> &[f64] {
        &self.targets[i * self.outputs..(i + 1) * self.outputs]
    }

    pub(super) fn fitted(&self, solved: Vec<Solved>, lambda: f64) -> Fitted {
        let Problem { linear, means, largest, held, rows, .. } = self;
        Fitted::of(linear, solved, lambda, means, *largest, rows.columns(), held.count)
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

//! λ by errors on rows that were left out, from the largest to smaller ones.
//!
//! The λ with the least error; of equals the one whose margins cost least there, which tells more than a count of wrong classes where one class is rare; the largest of those. The search ends after two λ in a row
//! that did worse than the best.

use crate::learn::CurvePoint;
use crate::loss::{Pointwise, softmax};
use crate::solve::Hinge;
use crate::{Linear, Loss};

/// Decades of the grid of λ, times its unit.
const GRID: std::ops::RangeInclusive<i32> = -7..=0;

/// Errors of cross-validation may rise so often, one after another, before smaller λ are given up.
const RISES: usize = 2;

/// λ that were tried, and what came of them.
#[derive(Default)]
pub(super) struct Search {
    curve: Vec<CurvePoint>,
    /// What margins cost on the same rows.
    lost: Vec<f64>,
    rises: usize,
}

/// The λ to be tried, the largest first, for features and targets of this size.
pub(super) fn grid(unit: f64) -> Vec<f64> {
    GRID.rev().map(|e| unit * 10f64.powi(e)).collect()
}

/// λ where nothing can be left out.
pub(super) fn usual(unit: f64) -> f64 {
    1e-3 * unit
}

impl Search {
    /// Notes an error; says whether smaller λ are worth a try.
    pub(super) fn push(&mut self, lambda: f64, error: f64, lost: f64) -> bool {
        self.rises = if error > self.least() { self.rises + 1 } else { 0 };
        self.curve.push(CurvePoint { lambda, error });
        self.lost.push(lost);
        self.rises < RISES
    }

    fn least(&self) -> f64 {
        self.curve.iter().map(|point| point.error).fold(f64::INFINITY, f64::min)
    }

    /// The place of the best, counted from the largest λ.
    pub(super) fn best(&self) -> Option<usize> {
        let least = self.least();
        let equals = (0..self.curve.len()).filter(|&at| self.curve[at].error <= least);
        equals.min_by(|&a, &b| self.lost[a].total_cmp(&self.lost[b]))
    }

    /// From the smallest λ on.
    pub(super) fn curve(mut self) -> Vec<CurvePoint> {
        self.curve.reverse();
        self.curve
    }
}

/// The error of a row by its targets and scores, each output with its σ: a wrong class where margins or squares were minimised, the loss otherwise.
pub(super) fn row_error(
    loss: Loss,
    is_classes: bool,
    y: &[f64],
    s: &[f64],
    scale: impl Fn(usize) -> f64,
) -> f64 {
    match loss {
        Loss::Logistic if y.len() > 1 => {
            let seen: f64 = s.iter().zip(y).map(|(s, y)| s * y).sum();
            softmax(&mut s.to_vec()) - seen
        }
        Loss::Margins { .. } | Loss::Squares if is_classes => f64::from(u8::from(class(s) != class(y))),
        loss => {
            let value = |o: usize| Pointwise { scale: scale(o), ..loss.pointwise() }.value(y[o], s[o]);
            (0..y.len()).map(value).sum()
        }
    }
}

/// What the margins of a row cost; nothing where it is not margins that are minimised.
pub(super) fn row_lost(loss: Loss, y: &[f64], s: &[f64]) -> f64 {
    if !matches!(loss, Loss::Margins { .. }) {
        return 0.0;
    }
    let pointwise = loss.pointwise();
    y.iter().zip(s).map(|(y, s)| pointwise.value(*y, *s)).sum()
}

/// The class of some scores, or of coded targets.
pub(super) fn class(scores: &[f64]) -> usize {
    match scores {
        [score] => usize::from(*score > 0.0),
        _ => (0..scores.len()).fold(0, |best, o| if scores[o] > scores[best] { o } else { best }),
    }
}

impl Linear {
    /// What stands for the other classes, where each of several has an output of its own.
    pub(super) fn other_class(&self) -> f64 {
        if matches!(self.loss, Loss::Margins { .. }) { -1.0 } else { 0.0 }
    }

    /// Whether Newton's method minimises the loss, wherever the features are: all but the hinge with its corner.
    pub(super) fn is_newtons(&self) -> bool {
        self.loss != Loss::margins(Hinge::Plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_has_the_least_error_then_the_cheapest_margins_then_the_largest_lambda() {
        let mut search = Search::default();
        let steps = [(8.0, 0.5, 1.0), (4.0, 0.3, 9.0), (2.0, 0.3, 7.0), (1.0, 0.3, 7.0), (0.5, 0.4, 0.0)];
        assert!(steps.iter().all(|&(lambda, error, lost)| search.push(lambda, error, lost)));
        assert!(!search.push(0.25, 0.31, 0.0), "twice worse than the best");
        assert_eq!(search.best(), Some(2));
        let lambdas: Vec<f64> = search.curve().iter().map(|point| 4.0 * point.lambda).collect();
        assert_eq!(lambdas, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
    }
}

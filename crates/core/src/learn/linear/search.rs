//! λ by cross-validation errors, from the largest to smaller ones.
//!
//! The λ with the least error, and of equals the largest, by the rule of `learn/lambda.rs`. The
//! search ends after two λ in a row that did worse than the best.

use crate::learn::{CurvePoint, lambda};
use crate::loss::{Pointwise, softmax};
use crate::solve::Hinge;
use crate::{Linear, Loss};

/// Decades of the grid of λ, times its unit.
const GRID: std::ops::RangeInclusive<i32> = -7..=0;

/// Errors of cross-validation may rise so often, one after another, before smaller λ are given up.
const RISES: usize = 2;

/// λ that were tried, and what came of them.
pub(super) struct Search {
    curve: Vec<CurvePoint>,
    /// The validation loss of each, where errors are counts.
    validation_loss: Vec<f64>,
    /// The validation loss of the best constant score.
    baseline: f64,
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
    /// With the validation loss of the best constant score.
    pub(super) fn new(baseline: f64) -> Search {
        Search { curve: Vec::new(), validation_loss: Vec::new(), baseline, rises: 0 }
    }

    /// Notes an error; says whether smaller λ are worth a try.
    pub(super) fn push(&mut self, lambda: f64, error: f64, validation_loss: f64) -> bool {
        self.rises = if error > self.least() { self.rises + 1 } else { 0 };
        self.curve.push(CurvePoint { lambda, error });
        self.validation_loss.push(validation_loss);
        self.rises < RISES
    }

    fn least(&self) -> f64 {
        self.curve.iter().map(|point| point.error).fold(f64::INFINITY, f64::min)
    }

    /// The place of the best, counted from the largest λ.
    pub(super) fn best(&self) -> Option<usize> {
        lambda::strongest_of_counts(&self.curve, &self.validation_loss, self.baseline)
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
        loss if counts_classes(loss, is_classes) => f64::from(u8::from(class(s) != class(y))),
        loss => {
            let value = |o: usize| Pointwise { scale: scale(o), ..loss.pointwise() }.value(y[o], s[o]);
            (0..y.len()).map(value).sum()
        }
    }
}

/// Whether the errors of a search are counts of wrong classes.
fn counts_classes(loss: Loss, is_classes: bool) -> bool {
    is_classes && matches!(loss, Loss::Margins { .. } | Loss::Squares)
}

/// The loss of a row, where its error is a count: it decides between equal counts.
pub(super) fn row_loss(loss: Loss, is_classes: bool, y: &[f64], s: &[f64]) -> f64 {
    if !counts_classes(loss, is_classes) {
        return 0.0;
    }
    let pointwise = loss.pointwise();
    y.iter().zip(s).map(|(y, s)| pointwise.value(*y, *s)).sum()
}

/// The loss of rows at the best constant score of each machine, by the weights of classes. With p
/// the share of a machine's class: 2·min(p, 1 − p) a row for the hinge, 4p(1 − p) for the squared
/// hinge and the squared error of ±1, p(1 − p) for the squared error of 0 and 1.
pub(super) fn baseline_loss(loss: Loss, classes: &[f64]) -> f64 {
    let all: f64 = classes.iter().sum();
    let variance = |inside: f64| inside * (1.0 - inside / all.max(f64::MIN_POSITIVE));
    let lost = |&inside: &f64| match loss {
        Loss::Margins { hinge: Hinge::Plain } => 2.0 * inside.min(all - inside),
        Loss::Margins { hinge: Hinge::Squared } => 4.0 * variance(inside),
        Loss::Squares if classes.len() == 2 => 4.0 * variance(inside),
        Loss::Squares => variance(inside),
        _ => 0.0,
    };
    // One machine tells two classes apart.
    let machines = if classes.len() == 2 { &classes[1..] } else { classes };
    machines.iter().map(lost).sum()
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
    fn no_constant_costs_less_than_the_best() {
        for hinge in [Hinge::Plain, Hinge::Squared] {
            let loss = Loss::margins(hinge);
            let at = |s: f64, inside: f64, outside: f64| inside * hinge.loss(s) + outside * hinge.loss(-s);
            let least = |inside: f64, outside: f64| {
                (-100..=100).map(|s| at(f64::from(s) / 100.0, inside, outside)).fold(f64::INFINITY, f64::min)
            };
            assert!((baseline_loss(loss, &[3.0, 1.0]) - least(1.0, 3.0)).abs() < 1e-9);
            let three = least(3.0, 5.0) + least(1.0, 7.0) + least(4.0, 4.0);
            assert!((baseline_loss(loss, &[3.0, 1.0, 4.0]) - three).abs() < 1e-9);
        }
        // Squared errors about the mean: of ±1 for two classes, of 0 and 1 for each of several.
        let about_the_mean = |inside: f64, outside: f64, low: f64| {
            let mean = (inside + low * outside) / (inside + outside);
            inside * (1.0 - mean).powi(2) + outside * (low - mean).powi(2)
        };
        let two = about_the_mean(1.0, 3.0, -1.0);
        assert!((baseline_loss(Loss::Squares, &[3.0, 1.0]) - two).abs() < 1e-9);
        let three: f64 =
            [(3.0, 5.0), (1.0, 7.0), (4.0, 4.0)].map(|(a, b)| about_the_mean(a, b, 0.0)).iter().sum();
        assert!((baseline_loss(Loss::Squares, &[3.0, 1.0, 4.0]) - three).abs() < 1e-9);
    }

    #[test]
    fn the_best_has_the_least_error_then_margins_that_cost_little_then_the_largest_lambda() {
        let mut search = Search::new(7.0);
        let steps = [(8.0, 0.5, 1.0), (4.0, 0.3, 9.0), (2.0, 0.3, 7.0), (1.0, 0.3, 7.0), (0.5, 0.4, 0.0)];
        assert!(steps.iter().all(|&(lambda, error, lost)| search.push(lambda, error, lost)));
        assert!(!search.push(0.25, 0.31, 0.0), "twice worse than the best");
        assert_eq!(search.best(), Some(2));
        let lambdas: Vec<f64> = search.curve().iter().map(|point| 4.0 * point.lambda).collect();
        assert_eq!(lambdas, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
    }
}

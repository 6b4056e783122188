//! What was left open, settled on the rows that are learnt from.
//!
//! ```text
//! kernel and width   on a sample: cross-validated ridge around the median distance             width
//! D                  on all rows: doubled while left-out errors fall by more than chance       size
//! ```
//! What comes of it is a [`Plan`]: a fit with nothing left open. The search may ask a clock, where a budget is given; the fit that follows
//! from a plan never does. `docs/book/tuning.md`.

mod outlook;
mod size;
mod width;

use std::fmt;
use std::time::Instant;

use serde::{Deserialize, Serialize};

pub use self::outlook::Outlook;
pub(super) use self::size::{Grown, Growth, Step};
pub use self::width::Family;
pub(super) use self::width::{
    Settled, WidthSearch, anchored, features_of_turns, search_bytes, search_seconds, sides,
};
use super::Auto;
use crate::plan::bytes;
use crate::{Kernel, Model};

/// A fit with nothing left open, and how it was settled. The same rows, plan and memory limit give the same model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What is fitted.
    pub fit: Auto,
    /// What was tried, in order: kernels on a sample, then numbers of features on all rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<Trial>,
    /// Why there are no more features.
    pub enough: Enough,
}

/// A model that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// Its kernel.
    pub kernel: Kernel,
    /// D.
    pub features: usize,
    /// Rows that it was fitted to.
    pub rows: u64,
    /// Its error on left-out rows, at the best λ.
    pub error: f64,
    /// The standard error of that, over folds; over rows, where a metric was tried.
    pub deviation: f64,
    /// Steps of the metric that it was tried in.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rounds: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Trial {
    /// Whether there were rows enough to tell an error.
    pub(super) fn is_told(&self) -> bool {
        self.error.is_finite() && self.deviation.is_finite()
    }
}

/// Why there are no more features.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Enough {
    /// Their number was given, or is the kernel's own.
    Given,
    /// There is one for each row: the kernel itself.
    Exact,
    /// More would gain less than can be told from chance, or than is worth having.
    Gain {
        /// By which the error is expected to fall with the next step.
        gain: f64,
        /// The standard error of what the last step gained.
        deviation: f64,
    },
    /// There are as many as are ever tried.
    Most,
    /// More need more memory than is allowed.
    Memory {
        /// Bytes that the next step needs.
        needed: u64,
        /// Bytes that there are.
        limit: u64,
    },
    /// More need more work than is done without being asked to.
    Work,
    /// The budget is spent.
    Budget,
}

impl fmt::Display for Enough {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Enough::Given => write!(f, "as asked for"),
            Enough::Exact => write!(f, "one for each distinct row: the kernel itself"),
            Enough::Gain { gain, deviation } => {
                write!(f, "more would gain {:.1e}, and chance is {deviation:.1e}", gain.max(0.0))
            }
            Enough::Most => write!(f, "as many as are tried"),
            Enough::Memory { needed, limit } => {
                write!(f, "more need {}, and {} are allowed", bytes(*needed), bytes(*limit))
            }
            Enough::Work => write!(f, "more take longer than is usual; give a budget, or D"),
            Enough::Budget => write!(f, "the budget is spent"),
        }
    }
}

/// Errors on left-out rows, fold by fold.
#[derive(Clone, Debug)]
pub(super) struct LeftOut {
    pub(super) mean: f64,
    folds: Vec<f64>,
}

impl LeftOut {
    pub(super) fn new(mean: f64, folds: Vec<f64>) -> LeftOut {
        LeftOut { mean, folds }
    }

    /// Those of a model; none if its λ was not chosen by them.
    fn of(model: &Model) -> Option<LeftOut> {
        let training = model.training()?;
        let least =
            training.curve.iter().find(|point| point.lambda.to_bits() == training.lambda.to_bits())?;
        (training.fold_errors.len() > 1).then(|| LeftOut::new(least.error, training.fold_errors.clone()))
    }

    /// The standard error of the mean over folds.
    pub(super) fn deviation(&self) -> f64 {
        standard_error(&self.folds)
    }

    /// The standard error of the mean of differences, fold by fold.
    fn deviation_from(&self, other: &LeftOut) -> f64 {
        let differences: Vec<f64> = self.folds.iter().zip(&other.folds).map(|(a, b)| a - b).collect();
        standard_error(&differences)
    }
}

fn standard_error(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    if n > 1.0 { (squares / (n * (n - 1.0))).sqrt() } else { f64::INFINITY }
}

/// How long a fit has taken, where somebody wants to know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    started: Instant,
    budget: Option<f64>,
}

impl Clock {
    /// Started now.
    pub(super) fn start(budget: Option<f64>) -> Clock {
        Clock { started: Instant::now(), budget }
    }

    fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Whether a part of the budget is spent; never without one.
    pub(super) fn is_past(&self, part: f64) -> bool {
        self.budget.is_some_and(|budget| self.seconds() > part * budget)
    }

    /// Another one, for a part of the work: started now, with what is left.
    pub(super) fn anew(&self) -> Clock {
        Clock::start(self.left())
    }

    /// Seconds that are left; none without a budget.
    pub(super) fn left(&self) -> Option<f64> {
        self.budget.map(|budget| budget - self.seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_difference_is_that_of_its_folds() {
        let a = LeftOut::new(2.0, vec![1.0, 2.0, 3.0]);
        let b = LeftOut::new(1.5, vec![0.5, 1.5, 2.5]);
        // Variance 1, three folds.
        assert!((a.deviation() - (1.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert!(a.deviation_from(&b) < 1e-15);
    }
}

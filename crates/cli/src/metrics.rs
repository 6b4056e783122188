//! How good predictions are, in one pass, with 95 % intervals.
//!
//! The intervals are about the law that the rows of the file were drawn from, independently of each other; rows that were copied
//! or taken side by side in time make them too short. One file for each kind of target.

mod classes;
mod numbers;

use serde::Serialize;

pub(crate) use classes::{Class, ClassMetrics, ClassSummary};
pub(crate) use numbers::{NumberMetrics, NumberSummary};

/// The normal quantile of 97.5 %.
const Z: f64 = 1.959_963_984_540_054;

/// A number and where it would lie in 95 of 100 repetitions; no interval where the rows are too few to tell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    pub(crate) interval: Option<[f64; 2]>,
}

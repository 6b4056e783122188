//! What we promise: a bound before, the measured error after.
//!
//! ```text
//! bound      with probability ≥ 1 − δ, |z(x)·z(y) − k(x, y)| ≤ ε for all pairs of N given points        Fourier
//!            |z(x)·z(y) − k(x, y)| ≤ √(r(x)·r(y)),  r(x) = k(x, x) − ‖z(x)‖²                            landmarks
//! measured   mean of |z(x)·z(y) − k(x, y)| over pairs of rows, with an empirical Bernstein interval
//! ```
//! Every model carries both. `docs/book/certificate.md` derives the constants.

mod bound;
mod measured;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use bound::Bound;
pub use measured::Measured;

use crate::stat::Sample;
use crate::{Map, OwnedRows, Rows};

/// Rows that a certificate is measured on.
pub const SAMPLE: usize = 8192;

/// Chance that a statement of the certificate fails.
pub const DELTA: f64 = 0.05;

/// How far a map's inner products are from the kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// What holds by theory.
    pub bound: Bound,
    /// What was found on rows of the data; none where there is nothing to compare.
    pub measured: Option<Measured>,
}

impl Certificate {
    /// Certifies a map on a sample of the rows it will be used for.
    ///
    /// Runs on the threads of the current pool.
    pub fn measure(map: &Map, sample: &Sample) -> Certificate {
        let owned = sample.rows(SAMPLE);
        let rows = owned.view();
        if matches!(map.spec().method, crate::Method::Exact) {
            return Certificate { bound: Bound::Exact, measured: None };
        }
        let features = features(map, &owned);
        let row = |i: usize| &features[i * map.output_dim()..(i + 1) * map.output_dim()];
        let bound = Bound::of(map, &rows, &row, sample.population());
        let measured = match bound {
            Bound::NoApproximation => None,
            _ => Measured::of(map, &rows, &row, sample.population()),
        };
        Certificate { bound, measured }
    }
}

/// Features of a sample in f64.
fn features(map: &Map, rows: &OwnedRows<f64>) -> Vec<f64> {
    let view: Rows<'_, f64> = rows.view();
    let mut features = vec![0.0; view.count() * map.output_dim()];
    if rayon::current_thread_index().is_some() {
        map.apply_in_parallel(&view, &mut features, false);
    } else {
        map.apply(&view, &mut features);
    }
    features
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel error: {}", self.bound)?;
        match &self.measured {
            Some(measured) => write!(f, "; {measured}"),
            None => Ok(()),
        }
    }
}

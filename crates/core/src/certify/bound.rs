//! What holds by theory.
//!
//! ```text
//! pairs    P(|ẑ − k| ≥ ε) ≤ 2·exp(−Dε²/4) for one pair;   N points: ε = √(4·ln(N²/δ)/D)
//! offset   P(|ẑ − k| ≥ ε) ≤ 2·exp(−Dε²/8) for one pair;   N points: ε = √(8·ln(N²/δ)/D)
//! binning  P(|ẑ − k| ≥ ε) ≤ 2·exp(−2Pε²) for one pair, fitted; 2·exp(−Pε²/2) hashed;   N points: ε = √(ln(N²/δ)/(2P)), √(2·ln(N²/δ)/P)
//! ```
//! Hoeffding for D/2 terms in [−1, 1], for D terms in [−2, 2] and for P terms in [0, 1] or [−1, 1], then a union over fewer than N²/2 pairs. Frequencies that are orthogonal
//! are not independent: their estimate is unbiased and as a rule better, but the bound is only a reference for them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{DELTA, Probe};
use crate::engine::Check;
use crate::{Bins, FourierForm, FrequencyDraw, Method, Result};

/// A statement about |z(x)·z(y) − k(x, y)|.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Bound {
    /// The map is the kernel's own: no error but rounding.
    Exact,
    /// The map is not meant to approximate the kernel: plain kernel values at landmarks.
    NoApproximation,
    /// At most ε for all pairs of `points` points at once, with probability at least 1 − δ over the map's seed.
    FiniteSet {
        /// N.
        points: u64,
        /// δ.
        delta: f64,
        /// ε.
        epsilon: f64,
        /// False if the bound is that of independent frequencies, shown as a reference for orthogonal ones.
        holds: bool,
    },
    /// At most √(r(x)·r(y)) for every pair, always; r over the sampled rows.
    Residual {
        /// Rows that r was computed for.
        rows: u64,
        /// The mean of r.
        mean: f64,
        /// The largest r, hence a bound for all pairs of these rows.
        largest: f64,
    },
}

impl Bound {
    /// The bound of a map on some rows of `points` in all.
    pub(super) fn of(rows: &Probe<'_>, points: u64, check: Check<'_>) -> Result<Bound> {
        let map = rows.map;
        Ok(match map.spec().method {
            Method::Exact => Bound::Exact,
            Method::Landmarks { whiten: false, .. } => Bound::NoApproximation,
            Method::Landmarks { whiten: true, .. } => {
                let (mut sum, mut largest) = (0.0, 0.0f64);
                rows.look(&(0..rows.count()).collect::<Vec<_>>(), check, |numbers, features| {
                    for (i, &number) in numbers.iter().enumerate() {
                        let explained = features.dot(i, i);
                        // A rounding below zero is zero.
                        let r = (rows.exact(number, number) - explained).max(0.0);
                        (sum, largest) = (sum + r, largest.max(r));
                    }
                })?;
                let count = rows.count() as u64;
                Bound::Residual { rows: count, mean: sum / count.max(1) as f64, largest }
            }
            Method::Fourier { form, draw } => Bound::FiniteSet {
                points,
                delta: DELTA,
                epsilon: finite_set(fourier_spread(form, map.output_dim()), points, DELTA),
                holds: draw == FrequencyDraw::Independent,
            },
            Method::Binning { bins } => Bound::FiniteSet {
                points,
                delta: DELTA,
                epsilon: finite_set(grid_spread(bins, map.spec().features), points, DELTA),
                holds: true,
            },
        })
    }
}

impl Bound {
    /// The largest number in the statement.
    pub(crate) fn size(&self) -> f64 {
        match self {
            Bound::Exact | Bound::NoApproximation => 0.0,
            Bound::FiniteSet { epsilon, .. } => *epsilon,
            Bound::Residual { mean, largest, .. } => mean + largest,
        }
    }
}

/// ε for all pairs of `points` points, where one pair has P(|ẑ − k| ≥ ε) ≤ 2·exp(−ε²/spread).
fn finite_set(spread: f64, points: u64, delta: f64) -> f64 {
    (spread * (2.0 * libm::log(points.max(2) as f64) - libm::log(delta))).sqrt()
}

/// The spread of `features` Fourier features.
fn fourier_spread(form: FourierForm, features: usize) -> f64 {
    let terms = match form {
        FourierForm::Pairs => 4.0,
        FourierForm::Offset => 8.0,
    };
    terms / features as f64
}

/// The spread of so many grids.
fn grid_spread(bins: Bins, grids: usize) -> f64 {
    let terms = match bins {
        Bins::Fitted => 0.5,
        Bins::Hashed { .. } => 2.0,
    };
    terms / grids as f64
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Exact => write!(f, "none (exact map)"),
            Bound::NoApproximation => {
                write!(f, "not applicable (plain kernel values do not approximate the kernel)")
            }
            Bound::FiniteSet { points, delta, epsilon, holds } => {
                let note = if *holds { "" } else { " (i.i.d. reference)" };
                write!(
                    f,
                    "bound {epsilon:.3}{note} for all pairs of {points} points with probability {}",
                    1.0 - delta
                )
            }
            Bound::Residual { rows, mean, largest } => {
                write!(f, "bound √(r(x)·r(y)), r ≤ {largest:.3e} on {rows} rows, {mean:.3e} on average")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_features_for_a_million_points() {
        // D = (4/ε²)·ln(N²/δ) = 12,252 at N = 10⁶, ε = 0.1, δ = 0.05.
        assert!(finite_set(fourier_spread(FourierForm::Pairs, 12_252), 1_000_000, 0.05) <= 0.1);
        assert!(finite_set(fourier_spread(FourierForm::Pairs, 12_250), 1_000_000, 0.05) > 0.1);
        assert!(finite_set(fourier_spread(FourierForm::Offset, 2 * 12_252), 1_000_000, 0.05) <= 0.1);
        assert!(finite_set(fourier_spread(FourierForm::Offset, 2 * 12_250), 1_000_000, 0.05) > 0.1);
    }
}

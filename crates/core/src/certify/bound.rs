//! What holds by theory.
//!
//! ```text
//! pairs    P(|ẑ − k| ≥ ε) ≤ 2·exp(−Dε²/4) for one pair;   N points: ε = √(4·ln(N²/δ)/D)
//! offset   P(|ẑ − k| ≥ ε) ≤ 2·exp(−Dε²/8) for one pair;   N points: ε = √(8·ln(N²/δ)/D)
//! binning  P(|ẑ − k| ≥ ε) ≤ 2·exp(−2Pε²) for one pair, fitted; 2·exp(−Pε²/2) hashed;   N points: ε = √(ln(N²/δ)/(2P)), √(2·ln(N²/δ)/P)
//! projected   P(|ẑ − k| ≥ ε‖x‖‖y‖) by the theorem of each kind, `projection.rs`
//! ```
//! ```text
//! everywhere in a box of diameter ℓ and longest side s, d columns, σₚ² = E‖ω‖², M = max(E[1/pitch], Lipschitz):
//! pairs    P(sup ≥ ε) ≤ B·(σₚℓ/ε)^(2d/(d+2))·exp(−Dε²/(8(d+2))),     B = ((d/2)^(−d/(d+2)) + (d/2)^(2/(d+2)))·2^((6d+2)/(d+2))
//! offset   P(sup ≥ ε) ≤ B′·(σₚℓ/ε)^(2d/(d+1))·exp(−Dε²/(32(d+1))),   B′ = (d^(−d/(d+1)) + d^(1/(d+1)))·2^((5d+1)/(d+1))·3^(d/(d+1))
//! binning  P(sup ≥ ε) ≤ N²·exp(−1.07Pε²) + N·exp(−0.143Pε),          N = ⌈60·d·M·s/ε⌉^d
//! ```
//! Hoeffding for D/2 terms in [−1, 1], for D terms in [−2, 2] and for P terms in [0, 1] or [−1, 1], then a union over fewer than N²/2 pairs. Frequencies that are orthogonal
//! are not independent: their estimate is unbiased and as a rule better, but the bound is only a reference for them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::expression::{everywhere, tail};
use super::projection::{Kept, Law, log_pairs};
use super::{DELTA, Probe};
use crate::engine::Check;
use crate::kernel::GridLaw;
use crate::{Bins, FourierForm, Method, Projection, Result};

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
        /// ε of one pair that was chosen beforehand; none in files from before it was written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        one_pair: Option<f64>,
        /// ε of all points of the smallest box that holds the rows looked at (for fitted bins, where one of the two points is a row that the map was fitted
        /// to); none where there is no such bound, or none below 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        everywhere: Option<f64>,
    },
    /// At most ε for all pairs of rows like those looked at: there is no chance in the map.
    Deterministic {
        /// Rows looked at.
        rows: u64,
        /// ε.
        epsilon: f64,
    },
    /// No bound is known: the measured error is all there is to say.
    MeasuredOnly,
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
            Method::Projection { how } => projected(how, rows, points),
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
            Method::Compiled { .. }
            | Method::Fourier { .. }
            | Method::Taylor { .. }
            | Method::Sketch { .. } => {
                let Some(recipe) = map.spec().recipe(map.input_dim())? else {
                    return Ok(Bound::MeasuredOnly);
                };
                match tail(&recipe, rows) {
                    None => Bound::MeasuredOnly,
                    Some(tail) if tail.spread > 0.0 => {
                        let everywhere = everywhere(&recipe, rows);
                        let points = if tail.of_rows && !rows.whole { rows.count() as u64 } else { points };
                        Bound::finite_set(tail.spread, tail.offset, points, tail.is_independent, everywhere)
                    }
                    Some(tail) if tail.offset > 0.0 => {
                        Bound::Deterministic { rows: rows.count() as u64, epsilon: tail.offset }
                    }
                    Some(_) => Bound::Exact,
                }
            }
            Method::Binning { bins } => {
                let (grids, sides) = (map.spec().features, rows.sides());
                let law = map.spec().kernel.grid_law(map.input_dim());
                let mass = law.as_ref().map_or(1.0, |law| law.mass);
                let everywhere = match (bins, &law) {
                    (Bins::Fitted, Some(law)) if law.waves.is_none() => {
                        let longest = law
                            .columns
                            .iter()
                            .map(|direction| sides[direction.column] * direction.pitch.rate());
                        let longest = longest.fold(0.0, f64::max);
                        grids_everywhere(grids, law.columns.len(), longest, DELTA)
                            .map(|epsilon| mass * epsilon)
                    }
                    _ => None,
                };
                Bound::finite_set(
                    mass * mass * grid_spread(bins, law.as_ref(), grids),
                    0.0,
                    points,
                    true,
                    everywhere,
                )
            }
        })
    }
}

impl Bound {
    /// All pairs of `points` points, where one pair has P(|ẑ − k| ≥ offset + ε) ≤ 2·exp(−ε²/spread).
    fn finite_set(spread: f64, offset: f64, points: u64, holds: bool, everywhere: Option<f64>) -> Bound {
        let epsilon = offset + finite_set(spread, points, DELTA);
        let one_pair = Some(offset + (spread * libm::log(2.0 / DELTA)).sqrt());
        Bound::FiniteSet { points, delta: DELTA, epsilon, holds, one_pair, everywhere }
    }

    /// The largest number in the statement.
    pub(crate) fn size(&self) -> f64 {
        match self {
            Bound::Exact | Bound::NoApproximation | Bound::MeasuredOnly => 0.0,
            Bound::FiniteSet { epsilon, .. } | Bound::Deterministic { epsilon, .. } => *epsilon,
            Bound::Residual { mean, largest, .. } => mean + largest,
        }
    }
}

/// The bound of a projection. Inner products are within ε·‖x‖‖y‖: the rows' lengths are not bounded beforehand, so that the longest row looked at counts, and the bound is for as many points as
/// were looked at. Without signs there is no such bound: the bias is in the rows.
fn projected(how: Projection, rows: &Probe<'_>, points: u64) -> Bound {
    let law = Law { how, kept: Kept::InnerProducts, columns: rows.map.input_dim() };
    let (largest, dimension) = (rows.largest_diagonal(), rows.map.output_dim());
    let points = if rows.whole { points } else { rows.count() as u64 };
    let all = law.epsilon(dimension, log_pairs(points) - libm::log(DELTA));
    let one = law.epsilon(dimension, -libm::log(DELTA));
    match (all, one) {
        (Some(all), Some(_)) if all <= 0.0 => Bound::Exact,
        (Some(all), Some(one)) if (all * largest).is_finite() => Bound::FiniteSet {
            points,
            delta: DELTA,
            epsilon: all * largest,
            holds: true,
            one_pair: Some(one * largest),
            everywhere: None,
        },
        _ => Bound::MeasuredOnly,
    }
}

/// ε for all pairs of `points` points, where one pair has P(|ẑ − k| ≥ ε) ≤ 2·exp(−ε²/spread).
fn finite_set(spread: f64, points: u64, delta: f64) -> f64 {
    (spread * (2.0 * libm::log(points.max(2) as f64) - libm::log(delta))).sqrt()
}

/// The ε at which a bound that falls with ε, given as its logarithm, is δ; none above 1, which is more than anybody asks for.
fn smallest(log_bound: impl Fn(f64) -> f64, delta: f64) -> Option<f64> {
    let target = libm::log(delta);
    if !(log_bound(1.0) <= target) {
        return None;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if log_bound(middle) <= target { high = middle } else { low = middle }
    }
    Some(high)
}

/// ε of Fourier features everywhere in a box; `spread` is σₚℓ.
pub(super) fn fourier_everywhere(
    form: FourierForm,
    features: usize,
    columns: usize,
    spread: f64,
    delta: f64,
) -> Option<f64> {
    let (d, count) = (columns as f64, features as f64);
    let log = libm::log;
    // ln B, the power of σₚℓ/ε, and what divides D·ε².
    let (constant, power, divisor) = match form {
        FourierForm::Pairs => {
            let sum = libm::pow(d / 2.0, -d / (d + 2.0)) + libm::pow(d / 2.0, 2.0 / (d + 2.0));
            (log(sum) + (6.0 * d + 2.0) / (d + 2.0) * log(2.0), 2.0 * d / (d + 2.0), 8.0 * (d + 2.0))
        }
        FourierForm::Offset => {
            let sum = libm::pow(d, -d / (d + 1.0)) + libm::pow(d, 1.0 / (d + 1.0));
            let powers = (5.0 * d + 1.0) / (d + 1.0) * log(2.0) + d / (d + 1.0) * log(3.0);
            (log(sum) + powers, 2.0 * d / (d + 1.0), 32.0 * (d + 1.0))
        }
    };
    // Shown for ε ≤ σₚℓ; a smaller box is inside a larger one.
    let bound = |e: f64| constant + power * log(spread.max(e) / e) - count * e * e / divisor;
    smallest(bound, delta)
}

/// ε of grids everywhere in a box; `sides` is M·s.
fn grids_everywhere(grids: usize, columns: usize, sides: f64, delta: f64) -> Option<f64> {
    let (d, count) = (columns as f64, grids as f64);
    let bound = |e: f64| {
        let cells = d * libm::log((60.0 * d * sides / e).ceil().max(1.0));
        let (centres, crossed) = (2.0 * cells - 1.07 * count * e * e, cells - 0.143 * count * e);
        let larger = centres.max(crossed);
        larger + libm::log(libm::exp(centres - larger) + libm::exp(crossed - larger))
    };
    smallest(bound, delta)
}

/// The spread of `features` Fourier features.
pub(super) fn fourier_spread(form: FourierForm, features: usize) -> f64 {
    let terms = match form {
        FourierForm::Pairs => 4.0,
        FourierForm::Offset => 8.0,
    };
    terms / features as f64
}

/// The spread of so many grids.
pub(super) fn grid_spread(bins: Bins, law: Option<&GridLaw>, grids: usize) -> f64 {
    let has_waves = law.is_some_and(|law| law.waves.is_some());
    let terms = match bins {
        Bins::Fitted if !has_waves => 0.5,
        // Signs, of hashing or of cosines: terms in [−1, 1].
        _ => 2.0,
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
            Bound::FiniteSet { points, delta, epsilon, holds, one_pair, everywhere } => {
                let note = if *holds { "" } else { " (i.i.d. reference)" };
                write!(f, "bound {epsilon:.3}{note} for all pairs of {points} points")?;
                if let Some(one_pair) = one_pair {
                    write!(f, ", {one_pair:.3} for one pair")?;
                }
                if let Some(everywhere) = everywhere {
                    write!(f, ", {everywhere:.3} everywhere in their box")?;
                }
                write!(f, ", with probability {}", 1.0 - delta)
            }
            Bound::Deterministic { rows, epsilon } => {
                write!(f, "bound {epsilon:.3} for all pairs of {rows} rows, without chance")
            }
            Bound::MeasuredOnly => write!(f, "no bound is known"),
            Bound::Residual { rows, mean, largest } => {
                write!(f, "bound √(r(x)·r(y)), r ≤ {largest:.3e} on {rows} rows, {mean:.3e} on average")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Features for ε = 0.1 and δ = 0.05 everywhere in a domain of diameter 10, unit Gaussian: 3.5e4 and 1.3e5 for two columns, 1.6e5 and 6.3e5 for ten.
    #[test]
    fn the_number_of_features_for_a_whole_domain() {
        for (columns, pairs, offsets) in [(2, 3.5e4, 1.3e5), (10, 1.6e5, 6.3e5)] {
            let spread = (columns as f64).sqrt() * 10.0;
            for (form, features) in [(FourierForm::Pairs, pairs), (FourierForm::Offset, offsets)] {
                let found = fourier_everywhere(form, features as usize, columns, spread, 0.05).unwrap();
                assert!((found - 0.1).abs() < 0.004, "{columns} columns, {form:?}: {found}");
            }
        }
        assert_eq!(fourier_everywhere(FourierForm::Pairs, 100, 50, 70.0, 0.05), None);
        // By hand: d = 1, M·s = 1, P = 2,000, ε = 0.197: N = 305, 305²·e^(−83) + 305·e^(−56) is far below 0.05.
        let found = grids_everywhere(2000, 1, 1.0, 0.05).unwrap();
        assert!(
            found < 0.197 && found > finite_set(grid_spread(Bins::Fitted, None, 2000), 2, 0.05),
            "{found}"
        );
        let cells = (60.0 / found).ceil();
        let value =
            cells * cells * (-1.07 * 2000.0 * found * found).exp() + cells * (-0.143 * 2000.0 * found).exp();
        assert!((value / 0.05 - 1.0).abs() < 0.1, "{value}");
        // Scales of the columns do not matter, only the ratio of box and pitch: what the printed bound gets wrong.
        assert_eq!(grids_everywhere(10, 54, 1.0, 0.05), None);
    }

    #[test]
    fn the_number_of_features_for_a_million_points() {
        // D = (4/ε²)·ln(N²/δ) = 12,252 at N = 10⁶, ε = 0.1, δ = 0.05.
        assert!(finite_set(fourier_spread(FourierForm::Pairs, 12_252), 1_000_000, 0.05) <= 0.1);
        assert!(finite_set(fourier_spread(FourierForm::Pairs, 12_250), 1_000_000, 0.05) > 0.1);
        assert!(finite_set(fourier_spread(FourierForm::Offset, 2 * 12_252), 1_000_000, 0.05) <= 0.1);
        assert!(finite_set(fourier_spread(FourierForm::Offset, 2 * 12_250), 1_000_000, 0.05) > 0.1);
    }
}

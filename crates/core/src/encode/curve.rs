//! Numbers before they are brought to mean 0 and standard deviation 1: as they are, as quantiles of a normal distribution, or squashed.
//!
//! ```text
//! standard   x
//! quantile   Φ⁻¹(rank of x)          ranks between 200 quantiles of a sample, at most those of ±2.8 standard deviations
//! robust     z/√(1 + (z/5)²)         z = (x − median)/(distance of the quartiles): never beyond ±5
//! ```
//! Skewed columns and outliers are where the second and the third help. Both need the sample of the profile: its quantiles are those of
//! all rows within √(ln(2/α)/2k) in rank, with probability 1 − α, of k sampled rows.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::scaling::rounded;
use crate::special::normal_quantile;
use crate::table::sample::quantile;
use crate::{Error, Result};

/// Quantiles that are kept.
pub(crate) const KNOTS: usize = 201;

/// Where squashed numbers end.
const BOUND: f64 = 5.0;

/// How columns of numbers are scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnScaling {
    /// Mean 0 and standard deviation 1.
    #[default]
    Standard,
    /// The quantiles of a normal distribution.
    Quantile,
    /// The median to 0, the distance of the quartiles to 1, outliers squashed.
    Robust,
}

impl ColumnScaling {
    pub(crate) fn is_standard(&self) -> bool {
        *self == ColumnScaling::Standard
    }
}

/// `standard`, `quantile` or `robust`.
impl FromStr for ColumnScaling {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "standard" => Ok(ColumnScaling::Standard),
            "quantile" => Ok(ColumnScaling::Quantile),
            "robust" => Ok(ColumnScaling::Robust),
            _ => Err(Error::Parameter {
                name: "scaling",
                expected: "standard, quantile or robust",
                found: name.to_owned(),
            }),
        }
    }
}

/// What becomes of a number.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Curve {
    /// Nothing.
    #[default]
    None,
    /// Its rank among the quantiles of the training table, as a quantile of a normal distribution.
    Quantile {
        /// The quantiles, in order.
        knots: Vec<f64>,
    },
    /// Its distance from the median, squashed.
    Robust {
        /// The median.
        centre: f64,
        /// One over the distance of the quartiles; of the smallest and the largest number, halved, where that is 0.
        factor: f64,
    },
}

impl Curve {
    /// Of numbers in order, each with how often it is there.
    pub(super) fn of(scaling: ColumnScaling, numbers: &[(f64, f64)]) -> Curve {
        let at = |share: f64| quantile(numbers, share).map_or(0.0, rounded);
        match (scaling, numbers.first(), numbers.last()) {
            (ColumnScaling::Quantile, Some(_), _) => {
                let share = |i: usize| i as f64 / (KNOTS - 1) as f64;
                Curve::Quantile { knots: (0..KNOTS).map(|i| at(share(i))).collect() }
            }
            (ColumnScaling::Robust, Some((least, _)), Some((most, _))) => {
                let (quartiles, range) = (at(0.75) - at(0.25), (most - least) / 2.0);
                let width = if quartiles > 0.0 { quartiles } else { range };
                let factor = rounded(1.0 / width);
                Curve::Robust { centre: at(0.5), factor: if factor.is_normal() { factor } else { 1.0 } }
            }
            _ => Curve::None,
        }
    }

    /// What becomes of a finite number.
    pub(super) fn value(&self, x: f64) -> f64 {
        match self {
            Curve::None => x,
            Curve::Quantile { knots } => {
                let last = (knots.len() - 1) as f64;
                // Between the quantiles that are smaller and those that are not larger: of many equal ones, in the middle.
                let (below, upto) =
                    (knots.partition_point(|knot| *knot < x), knots.partition_point(|knot| *knot <= x));
                let rank = match (below, upto) {
                    (0, 0) => 0.0,
                    (below, _) if below == knots.len() => last,
                    (below, upto) if below == upto => {
                        let (low, high) = (knots[below - 1], knots[below]);
                        (below - 1) as f64 + (x - low) / (high - low)
                    }
                    (below, upto) => (below + upto - 1) as f64 / 2.0,
                };
                let least = 0.5 / last;
                normal_quantile((rank / last).clamp(least, 1.0 - least))
            }
            Curve::Robust { centre, factor } => {
                let z = (x - centre) * factor;
                if z.is_finite() { z / (z / BOUND).mul_add(z / BOUND, 1.0).sqrt() } else { BOUND.copysign(z) }
            }
        }
    }

    /// The mean of what becomes of numbers.
    pub(super) fn mean(&self, numbers: &[(f64, f64)]) -> f64 {
        let weight: f64 = numbers.iter().map(|(_, count)| count).sum();
        let sum: f64 = numbers.iter().map(|(x, count)| count * self.value(*x)).sum();
        if weight > 0.0 { rounded(sum / weight) } else { 0.0 }
    }

    /// Quantiles stand in order, factors are positive, all is finite.
    pub(super) fn is_sound(&self) -> bool {
        match self {
            Curve::None => true,
            Curve::Quantile { knots } => {
                knots.len() == KNOTS && knots.iter().all(|knot| knot.is_finite()) && knots.is_sorted()
            }
            Curve::Robust { centre, factor } => centre.is_finite() && *factor > 0.0 && factor.is_finite(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(values: impl Iterator<Item = f64>) -> Vec<(f64, f64)> {
        let mut numbers: Vec<(f64, f64)> = values.map(|x| (x, 1.0)).collect();
        numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
        numbers
    }

    #[test]
    fn quantiles_become_normal() {
        let skewed = numbers((0..2000).map(|i| (f64::from(i) / 200.0).exp()));
        let curve = Curve::of(ColumnScaling::Quantile, &skewed);
        for share in [0.1, 0.3, 0.5, 0.9] {
            let x = (10.0f64 * share).exp();
            assert!((curve.value(x) - normal_quantile(share)).abs() < 0.02, "{share}");
        }
        let ends = [curve.value(-1e300), curve.value(1e300)];
        assert!((ends[0] + ends[1]).abs() < 1e-12 && (2.7..2.9).contains(&ends[1]), "{ends:?}");
        let values: Vec<f64> = skewed.iter().map(|(x, _)| curve.value(*x)).collect();
        assert!(values.is_sorted());
        assert!(curve.mean(&skewed).abs() < 0.01);
    }

    #[test]
    fn equal_numbers_have_the_middle_of_their_ranks() {
        let mostly_zero = numbers((0..1000).map(|i| if i < 800 { 0.0 } else { f64::from(i) }));
        let curve = Curve::of(ColumnScaling::Quantile, &mostly_zero);
        assert!((curve.value(0.0) - normal_quantile(0.4)).abs() < 0.01, "{}", curve.value(0.0));
        assert!(curve.value(1.0) > normal_quantile(0.79));
    }

    #[test]
    fn outliers_are_squashed() {
        let values = numbers((0..101).map(f64::from).chain([1e12]));
        let curve = Curve::of(ColumnScaling::Robust, &values);
        let Curve::Robust { centre, factor } = curve else { panic!("{curve:?}") };
        assert!((centre - 50.0).abs() < 1.0 && (factor - 1.0 / 51.0).abs() < 1e-3);
        assert!(curve.value(50.0).abs() < 0.05 && (curve.value(101.0) - 1.0).abs() < 0.05);
        assert!((curve.value(1e12) - 5.0).abs() < 1e-6 && curve.value(f64::MAX).is_finite());
        // Where the quartiles are equal, the range counts.
        let spread = Curve::of(ColumnScaling::Robust, &numbers([0.0; 98].into_iter().chain([-10.0, 10.0])));
        assert!((spread.value(10.0) - 1.0 / 1.04f64.sqrt()).abs() < 1e-6);
        assert!(Curve::of(ColumnScaling::Robust, &numbers([3.0; 5].into_iter())).is_sound());
    }
}

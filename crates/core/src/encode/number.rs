//! A column of numbers → one scaled column, and one that says where cells were missing.
//!
//! ```text
//! x      finite: x      +∞, −∞: the largest, the smallest number of the training table      missing: the mean of the training table
//!        then the curve of the scaling (`curve.rs`)
//! ```
//! The second column, 1 where the cell is missing and 0 elsewhere, is there where cells were missing in training.

use super::curve::{ColumnScaling, Curve};
use super::scaling::rounded;

/// How numbers are encoded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NumberEncoding {
    /// What stands for a missing number (after the curve), and the smallest and the largest number, which stand for infinities; none
    /// where there must be no such cells.
    pub range: Option<[f64; 3]>,
    /// Whether missing cells are told apart by a column of their own.
    pub indicator: bool,
    /// Whether texts are read with a decimal comma.
    pub decimal_comma: bool,
    /// What becomes of a number.
    pub curve: Curve,
}

impl NumberEncoding {
    /// The number that stands for `x` in the rows.
    pub(super) fn value(&self, x: f64) -> f64 {
        let finite = match self.range {
            _ if x.is_finite() => x,
            Some([fill, ..]) if x.is_nan() => return fill,
            Some([_, least, most]) => {
                if x < 0.0 {
                    least
                } else {
                    most
                }
            }
            None => return x,
        };
        self.curve.value(finite)
    }

    /// The same with a curve, by a sample of the numbers in their order, each with how often it is there.
    pub(super) fn with_curve(self, scaling: ColumnScaling, numbers: &[(f64, f64)]) -> NumberEncoding {
        let curve = Curve::of(scaling, numbers);
        let range = match (&curve, self.range) {
            (Curve::None, range) => range,
            (curve, range) => range.map(|[_, least, most]| [curve.mean(numbers), least, most]),
        };
        NumberEncoding { range, curve, ..self }
    }

    /// All parameters are finite, and in order.
    pub(super) fn is_sound(&self) -> bool {
        self.curve.is_sound()
            && self.range.is_none_or(|[fill, least, most]| {
                fill.is_finite() && least.is_finite() && most.is_finite() && least <= most
            })
    }
}

/// What is known of a column of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberProfile {
    /// Cells that are missing.
    pub missing: u64,
    /// Cells that are infinite.
    pub infinite: u64,
    /// Cells that are finite numbers.
    pub finite: u64,
    /// The smallest of these.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// Their mean, weighted.
    pub mean: f64,
    /// Σ w·(x − mean)².
    squares: f64,
    weight: f64,
    /// Whether all of them are whole.
    pub is_whole: bool,
}

impl Default for NumberProfile {
    fn default() -> Self {
        NumberProfile {
            missing: 0,
            infinite: 0,
            finite: 0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            mean: 0.0,
            squares: 0.0,
            weight: 0.0,
            is_whole: true,
        }
    }
}

impl NumberProfile {
    /// Reads numbers whose rows have these weights, all above 0.
    pub(super) fn absorb(&mut self, values: &[f64], weights: &[f64]) {
        for (&x, &w) in values.iter().zip(weights) {
            if x.is_nan() {
                self.missing += 1;
            } else if x.is_infinite() {
                self.infinite += 1;
            } else {
                self.finite += 1;
                (self.min, self.max) = (self.min.min(x), self.max.max(x));
                self.is_whole &= x.fract() == 0.0;
                self.weight += w;
                let difference = x - self.mean;
                self.mean += difference * (w / self.weight);
                self.squares += w * difference * (x - self.mean);
            }
        }
    }

    pub(super) fn merge(&mut self, other: &NumberProfile) {
        self.missing += other.missing;
        self.infinite += other.infinite;
        self.finite += other.finite;
        (self.min, self.max) = (self.min.min(other.min), self.max.max(other.max));
        self.is_whole &= other.is_whole;
        let weight = self.weight + other.weight;
        if other.weight > 0.0 {
            let (difference, share) = (other.mean - self.mean, other.weight / weight);
            self.mean += difference * share;
            self.squares += other.squares + difference * difference * self.weight * share;
            self.weight = weight;
        }
    }

    /// The standard deviation of the finite numbers.
    pub fn standard_deviation(&self) -> f64 {
        if self.weight > 0.0 { (self.squares / self.weight).sqrt() } else { 0.0 }
    }

    /// Whether nothing can be learnt from it.
    pub(super) fn is_constant(&self) -> bool {
        let differs = self.finite > 0 && self.min < self.max;
        !differs && self.infinite == 0 && (self.missing == 0 || self.finite == 0)
    }

    pub(super) fn encoding(&self) -> NumberEncoding {
        let bounds = if self.finite > 0 { [self.min, self.max] } else { [0.0; 2] };
        let mean = if self.mean.is_finite() { rounded(self.mean).clamp(bounds[0], bounds[1]) } else { 0.0 };
        let [least, most] = bounds;
        NumberEncoding {
            range: Some([mean, least, most]),
            indicator: self.missing > 0,
            ..NumberEncoding::default()
        }
    }
}

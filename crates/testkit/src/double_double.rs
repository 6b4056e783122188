//! Numbers with twice the digits of an `f64`, to measure what an `f64` gets wrong.
//!
//! ```text
//! x = hi + lo,   |lo| ≤ ulp(hi)/2,   about 106 bits (32 digits)
//! a + b = s + e  exactly, s the rounded sum
//! a · b = p + e  exactly, p the rounded product, e from one fused multiply-add
//! ```
//! An error of half a unit in the last place is invisible to arithmetic of the same width. Dekker (1971),
//! Knuth (TAOCP 2, 4.2.2). The relative error of an operation is a few times 2⁻¹⁰⁴, while nothing over- or
//! underflows.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// The unevaluated sum of two `f64`, `hi` being the sum rounded to nearest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoubleDouble {
    /// The value, rounded to an `f64`.
    pub hi: f64,
    /// What the rounding took away.
    pub lo: f64,
}

impl DoubleDouble {
    /// 2π, to 106 bits.
    pub const TAU: DoubleDouble = DoubleDouble { hi: std::f64::consts::TAU, lo: 2.449_293_598_294_706_4e-16 };

    /// ln 2, to 106 bits.
    pub const LN_2: DoubleDouble =
        DoubleDouble { hi: std::f64::consts::LN_2, lo: 2.319_046_813_846_299_6e-17 };

    /// |approx − self|: the error of an `f64` answer whose truth is `self`. NaN when either is, and 0 between
    /// equal infinities.
    pub fn error_of(self, approx: f64) -> f64 {
        if approx.is_infinite() && approx.to_bits() == self.hi.to_bits() {
            return 0.0;
        }
        if approx.is_infinite() || self.hi.is_infinite() {
            return (approx - self.hi).abs();
        }
        (DoubleDouble::from(approx) - self).hi.abs()
    }

    /// The rounded sum and its rounding error, for any two numbers.
    fn sum(a: f64, b: f64) -> DoubleDouble {
        let hi = a + b;
        let b_seen = hi - a;
        DoubleDouble { hi, lo: (a - (hi - b_seen)) + (b - b_seen) }
    }

    /// The same for |a| ≥ |b|, which a sum and its correction always satisfy.
    fn renormalised(a: f64, b: f64) -> DoubleDouble {
        let hi = a + b;
        DoubleDouble { hi, lo: b - (hi - a) }
    }

    /// The rounded product and its rounding error.
    fn product(a: f64, b: f64) -> DoubleDouble {
        let hi = a * b;
        DoubleDouble { hi, lo: a.mul_add(b, -hi) }
    }
}

impl From<f64> for DoubleDouble {
    fn from(x: f64) -> DoubleDouble {
        DoubleDouble { hi: x, lo: 0.0 }
    }
}

impl Neg for DoubleDouble {
    type Output = DoubleDouble;

    fn neg(self) -> DoubleDouble {
        DoubleDouble { hi: -self.hi, lo: -self.lo }
    }
}

impl Add for DoubleDouble {
    type Output = DoubleDouble;

    fn add(self, other: DoubleDouble) -> DoubleDouble {
        let (high, low) = (DoubleDouble::sum(self.hi, other.hi), DoubleDouble::sum(self.lo, other.lo));
        let partial = DoubleDouble::renormalised(high.hi, high.lo + low.hi);
        DoubleDouble::renormalised(partial.hi, partial.lo + low.lo)
    }
}

impl Sub for DoubleDouble {
    type Output = DoubleDouble;

    fn sub(self, other: DoubleDouble) -> DoubleDouble {
        self + -other
    }
}

impl Mul for DoubleDouble {
    type Output = DoubleDouble;

    fn mul(self, other: DoubleDouble) -> DoubleDouble {
        let product = DoubleDouble::product(self.hi, other.hi);
        let crossed = self.hi * other.lo + self.lo * other.hi;
        DoubleDouble::renormalised(product.hi, product.lo + crossed)
    }
}

impl Div for DoubleDouble {
    type Output = DoubleDouble;

    /// Long division with three digits, each an `f64`.
    fn div(self, other: DoubleDouble) -> DoubleDouble {
        let first = self.hi / other.hi;
        let rest = self - other * DoubleDouble::from(first);
        let second = rest.hi / other.hi;
        let rest = rest - other * DoubleDouble::from(second);
        let third = rest.hi / other.hi;
        DoubleDouble::renormalised(first, second) + DoubleDouble::from(third)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Chance, assert_same_bits};

    fn random(chance: &mut Chance) -> DoubleDouble {
        DoubleDouble::sum(chance.normal(), chance.normal() * 1e-17)
    }

    /// |a − b| / |b|, in double-double.
    fn relative(a: DoubleDouble, b: DoubleDouble) -> f64 {
        ((a - b).hi / b.hi).abs()
    }

    #[test]
    fn sums_and_products_are_exact() {
        // 1 + 2⁻⁸⁰ keeps its small part; (1 + 2⁻³⁰)² = 1 + 2⁻²⁹ + 2⁻⁶⁰ needs both words.
        let sum = DoubleDouble::from(1.0) + DoubleDouble::from(2.0_f64.powi(-80));
        assert_same_bits(&[sum.hi, sum.lo], &[1.0, 2.0_f64.powi(-80)]);
        let x = DoubleDouble::from(1.0 + 2.0_f64.powi(-30));
        let square = x * x;
        assert_same_bits(&[square.hi, square.lo], &[1.0 + 2.0_f64.powi(-29), 2.0_f64.powi(-60)]);
    }

    #[test]
    fn a_third_has_its_known_tail() {
        // 1/3 = 0.010101…₂, and the f64 falls short of it by exactly 2⁻⁵⁴/3.
        let third = DoubleDouble::from(1.0) / DoubleDouble::from(3.0);
        assert_same_bits(&[third.hi, third.lo], &[1.0 / 3.0, 2.0_f64.powi(-54) / 3.0]);
    }

    #[test]
    fn the_field_laws_hold_to_thirty_digits() {
        let mut chance = Chance::new(3);
        for _ in 0..1000 {
            let (a, b, c) = (random(&mut chance), random(&mut chance), random(&mut chance));
            assert!(relative(a / b * b, a) < 1e-30);
            assert!((((a + b) * c) - (a * c + b * c)).hi.abs() < 1e-29);
            assert!(((a + b) - b - a).hi.abs() < 1e-30);
        }
    }

    #[test]
    fn errors_are_measured_below_one_ulp() {
        let tenth = DoubleDouble::from(1.0) / DoubleDouble::from(10.0);
        // The f64 nearest to 1/10 is 3602879701896397/2⁵⁵, too large by 1/(5·2⁵⁵).
        let expected = 0.2 * 2.0_f64.powi(-55);
        assert!((tenth.error_of(0.1) - expected).abs() < 1e-30);
        assert!((tenth.error_of(0.25) - 0.15).abs() < 1e-16);
        assert!(tenth.error_of(f64::NAN).is_nan());
        assert_same_bits(&[DoubleDouble::from(f64::INFINITY).error_of(f64::INFINITY)], &[0.0]);
        assert_same_bits(&[tenth.error_of(f64::INFINITY)], &[f64::INFINITY]);
    }
}

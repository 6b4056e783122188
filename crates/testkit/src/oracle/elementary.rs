//! sin, cos and exp to 32 digits, from their Taylor series.
//!
//! ```text
//! t = q/4 + s,  |s| ≤ 1/8,  exactly          sin 2πs = Σ (−1)ᵏ (2πs)²ᵏ⁺¹/(2k+1)!,  cos likewise;
//!                                            a quarter turn takes (sin, cos) to (cos, −sin)
//! x = k ln 2 + r,  |r| ≤ ½ ln 2              exp x = 2ᵏ Σ rʲ/j!
//! ```
//! A turn is subtracted without rounding, whatever the size of t, because t − round(t) is representable. The
//! only errors are those of double-double arithmetic: a few times 1e-32 for sin and cos.

use crate::DoubleDouble;

/// (sin 2πt, cos 2πt), each as an unevaluated sum of two `f64`; NaN where t is not finite.
pub fn sincos_turns(t: f64) -> (DoubleDouble, DoubleDouble) {
    let within = t - t.round();
    let quarters = (4.0 * within).round();
    let angle = DoubleDouble::TAU * DoubleDouble::from(within - quarters / 4.0);
    let (sin, cos) = (alternating(angle, angle, 1), alternating(DoubleDouble::from(1.0), angle, 0));
    match (quarters as i32).rem_euclid(4) {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// sin 2πt, rounded to nearest but for the rarest ties.
pub fn sin_turns(t: f64) -> f64 {
    sincos_turns(t).0.hi
}

/// cos 2πt, rounded to nearest but for the rarest ties.
pub fn cos_turns(t: f64) -> f64 {
    sincos_turns(t).1.hi
}

/// exp(x) as an unevaluated sum of two `f64`.
///
/// The relative error is about (1 + |x|) · 1e-32, of which |x| is the share of ln 2 in 106 bits. Below −670
/// `lo`, and then `hi`, run out of exponent and lose digits one by one.
pub fn exp_reference(x: f64) -> DoubleDouble {
    if !(-745.14..=709.79).contains(&x) {
        return DoubleDouble::from(x.exp());
    }
    let doublings = (x / std::f64::consts::LN_2).round();
    let rest = DoubleDouble::from(x) - DoubleDouble::LN_2 * DoubleDouble::from(doublings);
    let mut term = DoubleDouble::from(1.0);
    let mut sum = term;
    for j in 1..=30 {
        term = term * rest / DoubleDouble::from(f64::from(j));
        sum = sum + term;
    }
    // 2ᵏ in two factors: 2¹⁰²⁴ and 2⁻¹⁰⁷⁵ are no numbers, their roots are.
    let half = doublings as i32 / 2;
    let scale = |x: f64| x * 2.0_f64.powi(half) * 2.0_f64.powi(doublings as i32 - half);
    DoubleDouble { hi: scale(sum.hi), lo: scale(sum.lo) }
}

/// first − first·x²/((m+1)(m+2)) + …, the series that begins with x^m/m!; twenty terms leave 1e-48 for |x| ≤
/// π/4.
fn alternating(first: DoubleDouble, x: DoubleDouble, m: u32) -> DoubleDouble {
    let (mut term, mut sum) = (first, first);
    for k in 1..=20 {
        let order = f64::from(m + 2 * k);
        term = -(term * x * x) / DoubleDouble::from(order * (order - 1.0));
        sum = sum + term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Absolute, Chance, Ulps, assert_close, assert_same_bits};

    const GOLDEN_SIN: (f64, f64) = (0.5877852522924731, 2.0282698052150037e-17);
    const GOLDEN_COS: (f64, f64) = (0.8090169943749475, -4.766175266906226e-17);
    const GOLDEN_SMALL_SIN: (f64, f64) = (6.283185307179587e-09, -3.4354301047183836e-25);
    const GOLDEN_E: (f64, f64) = (std::f64::consts::E, 1.4456468917292502e-16);
    const GOLDEN_EXP: (f64, f64) = (2.7559000653565687e-44, -2.3861443862681946e-60);

    fn apart(a: DoubleDouble, b: DoubleDouble) -> f64 {
        (a - b).hi.abs()
    }

    #[test]
    fn quarter_turns_are_exact() {
        for (t, sin, cos) in
            [(0.0, 0.0, 1.0), (0.25, 1.0, 0.0), (0.5, 0.0, -1.0), (-0.25, -1.0, 0.0), (7.75, -1.0, 0.0)]
        {
            assert_close(&[sin_turns(t), cos_turns(t)], &[sin, cos], Absolute(0.0));
        }
        assert!(sin_turns(f64::INFINITY).is_nan() && cos_turns(f64::NAN).is_nan());
    }

    /// sin² = cos² = 1/2 at an eighth of a turn, after any number of whole turns.
    #[test]
    fn an_eighth_of_a_turn() {
        for turns in [0.0, 1.0, 1e6, 2.0_f64.powi(45)] {
            let (sin, cos) = sincos_turns(turns + 0.125);
            assert!(apart(sin * sin, DoubleDouble::from(0.5)) < 1e-31 && sin.hi > 0.0);
            assert!(apart(cos * cos, DoubleDouble::from(0.5)) < 1e-31 && cos.hi > 0.0);
        }
    }

    /// sin² + cos² = 1, sin 3θ = 3 sin θ − 4 sin³ θ and cos 2θ = 1 − 2 sin² θ at angles whose multiples are
    /// exact.
    #[test]
    fn identities_hold_to_thirty_digits() {
        let (one, two) = (DoubleDouble::from(1.0), DoubleDouble::from(2.0));
        let (three, four) = (DoubleDouble::from(3.0), DoubleDouble::from(4.0));
        let mut chance = Chance::new(1);
        for _ in 0..2000 {
            let t = (chance.uniform() * 2.0_f64.powi(40)).round() * 2.0_f64.powi(-38) - 2.0;
            let (sin, cos) = sincos_turns(t);
            assert!(apart(sin * sin + cos * cos, one) < 1e-30);
            assert!(apart(sincos_turns(3.0 * t).0, three * sin - four * sin * sin * sin) < 1e-30);
            assert!(apart(sincos_turns(2.0 * t).1, one - two * sin * sin) < 1e-30);
            assert!((sin.hi - (std::f64::consts::TAU * t).sin()).abs() < 1e-14);
        }
    }

    /// Values v from mpmath at `mp.dps = 60`, split as `hi = float(v)`, `lo = float(v - hi)`; the arguments
    /// are the f64 nearest to what is written.
    #[test]
    fn golden_values() {
        let (sin, cos) = sincos_turns(0.1);
        assert_golden(sin, GOLDEN_SIN);
        assert_golden(cos, GOLDEN_COS);
        assert_golden(sincos_turns(1e-9).0, GOLDEN_SMALL_SIN);
        assert_golden(exp_reference(1.0), GOLDEN_E);
        assert_golden(exp_reference(-100.3), GOLDEN_EXP);
    }

    fn assert_golden(found: DoubleDouble, (hi, lo): (f64, f64)) {
        assert_same_bits(&[found.hi], &[hi]);
        assert!((found.lo - lo).abs() <= 1e-30 * hi.abs(), "expected {lo:e}, found {:e}", found.lo);
    }

    /// exp(a + b) = exp(a) exp(b), where a + b is exact, and agreement with std to its last place.
    #[test]
    fn exponentials_multiply() {
        let mut chance = Chance::new(2);
        for _ in 0..2000 {
            let mut draw = || (chance.uniform() * 2.0_f64.powi(40)).round() * 2.0_f64.powi(-32) - 128.0;
            let (a, b) = (draw(), draw());
            let (product, sum) = (exp_reference(a) * exp_reference(b), exp_reference(a + b));
            assert!(apart(product, sum) < 1e-29 * sum.hi);
            assert_close(&[a.exp()], &[exp_reference(a).hi], Ulps(1));
        }
        let ends = [709.7, -700.0, -740.0, f64::INFINITY, f64::NEG_INFINITY, 710.0, -746.0];
        for x in ends {
            assert_close(&[exp_reference(x).hi], &[x.exp()], Ulps(1));
        }
    }
}

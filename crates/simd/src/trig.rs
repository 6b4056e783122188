//! Sine and cosine of an angle given in turns.
//!
//! ```text
//! r = t − round(t)                               exact, |r| ≤ 1/2
//! cos 2πt = s(1/4 − |r|)                         s(f) = sin 2πf on |f| ≤ 1/4, odd:
//! sin 2πt = sign(r)·s(min(|r|, 1/2 − |r|))       s(f) = f·P(f²)
//! ```
//! Turns make the reduction exact for every t, so that no constant 2π with extra digits is needed, and one odd
//! polynomial serves both functions without quadrants. Absolute error: f32 ≤ 2e-7, f64 ≤ 1e-15 (measured in the
//! tests below, on each instruction set). Results lie in [−1, 1]; an angle that is not finite counts as 0.
//! Derivation: `docs/book/sincos.md`. Coefficients: `golden/polynomials.py`.

use crate::dispatch::{Task, dispatch};
use crate::lanes::{Lanes, MOST_LANES};
use crate::{Element, Isa};

/// P for f32: relative error 7e-9 before rounding.
#[allow(clippy::excessive_precision, clippy::approx_constant, reason = "as the script prints them")]
const SINE_F32: [f64; 5] =
    [6.283185280154407, -41.34168061334652, 81.60247636892518, -76.58117264427872, 39.7598270853191];

/// P for f64: relative error 4e-19 before rounding.
#[allow(clippy::excessive_precision, clippy::approx_constant, reason = "as the script prints them")]
const SINE_F64: [f64; 9] = [
    6.283185307179586,
    -41.341702240399755,
    81.60524927607362,
    -76.70585975282492,
    42.058693925428685,
    -15.0946416761179,
    3.8199280942271643,
    -0.7177337921413454,
    0.10089695501646812,
];

/// sin 2πf for |f| ≤ 1/4, up to rounding beyond ±1.
#[inline(always)]
unsafe fn quarter_sine<L: Lanes>(f: L) -> L {
    unsafe {
        let u = f.mul(f);
        let p = if size_of::<L::Elem>() == 4 { horner(u, &SINE_F32) } else { horner(u, &SINE_F64) };
        f.mul(p)
    }
}

/// Σ cₖ uᵏ.
#[inline(always)]
pub(crate) unsafe fn horner<L: Lanes, const K: usize>(u: L, coefficients: &[f64; K]) -> L {
    unsafe {
        let mut sum = L::constant(coefficients[K - 1]);
        let mut k = K - 1;
        while k > 0 {
            k -= 1;
            sum = sum.mul_add(u, L::constant(coefficients[k]));
        }
        sum
    }
}

/// (cos 2πt, sin 2πt) for finite t.
#[inline(always)]
pub(crate) unsafe fn cos_sin<L: Lanes>(t: L) -> (L, L) {
    unsafe {
        let one = L::constant(1.0);
        let r = t.fraction();
        let a = r.abs();
        let cos = quarter_sine(L::constant(0.25).sub(a)).within(one);
        // Not negative before it gets its sign: one bound is enough.
        let sin = quarter_sine(a.min(L::constant(0.5).sub(a))).min(one).with_sign_of(r);
        (cos, sin)
    }
}

/// cos 2πt for finite t.
#[inline(always)]
pub(crate) unsafe fn cos<L: Lanes>(t: L) -> L {
    unsafe { quarter_sine(L::constant(0.25).sub(t.fraction().abs())).within(L::constant(1.0)) }
}

/// cos 2πt and sin 2πt for each angle t in turns.
///
/// # Panics
/// If the three slices differ in length.
#[inline(never)]
pub fn sincos_turns<T: Element>(isa: Isa, turns: &[T], cos: &mut [T], sin: &mut [T]) {
    assert!(turns.len() == cos.len() && turns.len() == sin.len(), "slices differ in length");
    dispatch(isa, SinCos { turns, cos, sin });
}

struct SinCos<'a, T> {
    turns: &'a [T],
    cos: &'a mut [T],
    sin: &'a mut [T],
}

impl<T: Element> Task<T> for SinCos<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = T>, const R: usize>(self) {
        let zero = T::default();
        let mut at = 0;
        while at < self.turns.len() {
            let count = L::N.min(self.turns.len() - at);
            let mut buffer = [zero; MOST_LANES];
            for (to, &t) in buffer.iter_mut().zip(&self.turns[at..at + count]) {
                *to = if t.to_f64().is_finite() { t } else { zero };
            }
            // SAFETY: the buffers hold MOST_LANES ≥ N elements; `run` is only called by `dispatch`.
            unsafe {
                let (c, s) = cos_sin(L::load(buffer.as_ptr()));
                c.store(buffer.as_mut_ptr());
                self.cos[at..at + count].copy_from_slice(&buffer[..count]);
                s.store(buffer.as_mut_ptr());
                self.sin[at..at + count].copy_from_slice(&buffer[..count]);
            }
            at += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner_testkit::{Chance, sincos_turns as exact};

    /// The largest error over some angles, in double-double arithmetic; also checks that results lie in [−1, 1].
    fn worst<T: Element>(isa: Isa, turns: &[T]) -> f64 {
        let (mut cos, mut sin) = (turns.to_vec(), turns.to_vec());
        sincos_turns(isa, turns, &mut cos, &mut sin);
        let mut worst = 0.0f64;
        for ((t, c), s) in turns.iter().zip(&cos).zip(&sin) {
            let (exact_sin, exact_cos) = exact(t.to_f64());
            let (c, s) = (c.to_f64(), s.to_f64());
            assert!(c.abs() <= 1.0 && s.abs() <= 1.0, "{c}, {s} at {t:?} on {isa:?}");
            worst = worst.max(exact_cos.error_of(c)).max(exact_sin.error_of(s));
        }
        worst
    }

    #[test]
    fn single_precision_is_good_to_2e7() {
        // Every 1,009th of all single numbers from 2⁻³⁰ to 2²⁰, both signs.
        let (from, to) = (2f32.powi(-30).to_bits(), 2f32.powi(20).to_bits());
        let turns: Vec<f32> = (from..to).step_by(1009).map(f32::from_bits).flat_map(|t| [t, -t]).collect();
        for isa in Isa::available() {
            let worst = worst(isa, &turns);
            assert!(worst <= 2e-7, "{worst:e} on {isa:?}");
            assert!(worst > 1e-8, "the test has no power");
        }
    }

    #[test]
    fn double_precision_is_good_to_1e15() {
        let mut chance = Chance::new(1);
        let mut turns: Vec<f64> = (0..200_000).map(|_| (chance.uniform() - 0.5) * 2f64.powi(31)).collect();
        turns.extend(
            (0..200_000).map(|_| (chance.uniform() - 0.5) * 2f64.powf(20.0 * chance.uniform() - 10.0)),
        );
        turns.extend((-64..=64).map(|k| f64::from(k) / 8.0));
        for isa in Isa::available() {
            let worst = worst(isa, &turns);
            assert!(worst <= 1e-15, "{worst:e} on {isa:?}");
        }
    }

    #[test]
    fn whatever_comes_the_result_is_finite_and_within_bounds() {
        let odd = [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MAX,
            f64::MIN_POSITIVE,
            1e300,
            -0.0,
            2f64.powi(53),
        ];
        let single: Vec<f32> = odd.iter().map(|&t| t as f32).collect();
        for isa in Isa::available() {
            let (mut cos, mut sin) = ([9.0; 8], [9.0; 8]);
            sincos_turns(isa, &odd, &mut cos, &mut sin);
            assert!(cos.iter().chain(&sin).all(|v| v.abs() <= 1.0), "{cos:?} {sin:?} on {isa:?}");
            let (mut cos, mut sin) = ([9.0f32; 8], [9.0f32; 8]);
            sincos_turns(isa, &single, &mut cos, &mut sin);
            assert!(cos.iter().chain(&sin).all(|v| v.abs() <= 1.0), "{cos:?} {sin:?} on {isa:?}");
        }
    }

    #[test]
    fn quarters_of_a_turn_are_exact() {
        for isa in Isa::available() {
            let (mut cos, mut sin) = ([9.0f64; 5], [9.0f64; 5]);
            sincos_turns(isa, &[0.0, 0.25, 0.5, 0.75, 1.0], &mut cos, &mut sin);
            for (value, exact) in
                cos.iter().chain(&sin).zip([1.0, 0.0, -1.0, 0.0, 1.0, 0.0, 1.0, 0.0, -1.0, 0.0])
            {
                assert!((value - exact).abs() < 2.3e-16, "{cos:?} {sin:?} on {isa:?}");
            }
        }
    }
}

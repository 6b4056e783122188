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
const SINE_F32: [f64; 5] = [
    6.283185280154407,
    -41.34168061334652,
    81.60247636892518,
    -76.58117264427872,
    39.7598270853191,
];

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

/// sin 2πf for |f| ≤ 1/4, within [−1, 1].
#[inline(always)]
unsafe fn quarter_sine<L: Lanes>(f: L) -> L {
    unsafe {
        let u = f.mul(f);
        let p = if size_of::<L::Elem>() == 4 { horner(u, &SINE_F32) } else { horner(u, &SINE_F64) };
        f.mul(p).min(L::constant(1.0)).max(L::constant(-1.0))
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
        let r = t.sub(t.round());
        let a = r.abs();
        let cos = quarter_sine(L::constant(0.25).sub(a));
        let sin = quarter_sine(a.min(L::constant(0.5).sub(a)).with_sign_of(r));
        (cos, sin)
    }
}

/// cos 2πt for finite t.
#[inline(always)]
pub(crate) unsafe fn cos<L: Lanes>(t: L) -> L {
    unsafe { quarter_sine(L::constant(0.25).sub(t.sub(t.round()).abs())) }
}

/// cos 2πt and sin 2πt for each angle t in turns.
///
/// # Panics
/// If the three slices differ in length.
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

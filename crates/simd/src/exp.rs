//! The exponential of what is not positive.
//!
//! ```text
//! e⁻ˢ = 2ⁿ·2ᶠ,   n = round(x),  f = x − n ∈ [−1/2, 1/2],  x = −s/ln 2,   2ᶠ = 1 + f·E(f)
//! ```
//! Kernel values exp(−rate·distance) need s ≥ 0 only: nothing overflows, and what would underflow stays at the
//! smallest normal number (1e-38 in f32), which no sum of kernel values can tell from zero. Coefficients: `golden/polynomials.py`.

use crate::lanes::Lanes;
use crate::trig::horner;

/// E for f32: relative error of 2ᶠ 5e-9 before rounding.
#[allow(clippy::approx_constant, reason = "as the script prints them")]
const EXP2_F32: [f64; 6] = [
    0.6931471880262288,
    0.24022650760568126,
    0.05550357114219078,
    0.009618082557277852,
    0.0013390863364671234,
    0.0001545316294512069,
];

/// E for f64: relative error of 2ᶠ below 1e-17 before rounding.
#[allow(clippy::approx_constant, reason = "as the script prints them")]
const EXP2_F64: [f64; 11] = [
    0.6931471805599453,
    0.24022650695910097,
    0.0555041086648216,
    0.009618129107606888,
    0.0013333558146416936,
    0.0001540353044173605,
    1.525273382983612e-05,
    1.321544258792169e-06,
    1.0178062445845774e-07,
    7.072585949269223e-09,
    4.4549605981865186e-10,
];

/// 2ˣ for x ≤ 0, but never below the smallest normal number.
#[inline(always)]
pub(crate) unsafe fn exp2_of_negative<L: Lanes>(x: L) -> L {
    unsafe {
        let single = size_of::<L::Elem>() == 4;
        let x = x.max(L::constant(if single { -126.0 } else { -1022.0 }));
        let n = x.round();
        let f = x.sub(n);
        let e = if single { horner(f, &EXP2_F32) } else { horner(f, &EXP2_F64) };
        e.mul_add(f, L::constant(1.0)).mul(L::power_of_two(n))
    }
}

//! The natural logarithm.
//!
//! ```text
//! ln x = n·ln 2 + ln m,    x = m·2ⁿ,  √½ ≤ m < √2,     ln m = s·Q(s²),  s = (m − 1)/(m + 1)
//! ```
//! In f64 only: what is made of a logarithm here is an angle, and angles of f32 rows need more digits than f32 has. Relative error at
//! most 5e-16, next to x = 1 too, where m − 1 is exact. Q is the interpolant of 2·artanh(√u)/√u at Chebyshev nodes of
//! 0 ≤ u ≤ ((√2 − 1)/(√2 + 1))², as `golden/polynomials.py` makes them.

use crate::lanes::WholeLanes;
use crate::trig::horner;

/// Q: relative error 1.2e-18 before rounding.
const ARTANH: [f64; 8] = [
    2.0,
    0.6666666666666765,
    0.3999999999930234,
    0.2857142876064168,
    0.22222197056726048,
    0.18183631680229329,
    0.1531252814836419,
    0.14809710360655276,
];

/// ln x for x from 2⁻¹⁰²² to 2¹⁰²².
#[inline(always)]
pub(crate) unsafe fn ln<W: WholeLanes>(x: W) -> W {
    unsafe {
        let one = W::constant(1.0);
        let n = x.mul(W::constant(std::f64::consts::SQRT_2)).exponent();
        let m = x.mul(W::power_of_two(W::constant(0.0).sub(n)));
        let s = m.sub(one).div(m.add(one));
        let ln_m = s.mul(horner(s.mul(s), &ARTANH));
        n.mul_add(W::constant(std::f64::consts::LN_2), ln_m)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Isa;
    use crate::dispatch::{Task, dispatch};
    use crate::lanes::{Lanes, MOST_LANES};
    use bochner_testkit::{Chance, DoubleDouble, exp_reference};

    struct Logarithms<'a>(&'a mut [f64]);

    impl Task<f64> for Logarithms<'_> {
        #[inline(always)]
        unsafe fn run<L: Lanes<Elem = f64>, const R: usize>(self) {
            for chunk in self.0.chunks_mut(L::Wide::N) {
                let mut buffer = [1.0; MOST_LANES];
                buffer[..chunk.len()].copy_from_slice(chunk);
                // SAFETY: the buffer holds MOST_LANES ≥ N elements.
                unsafe { ln(L::Wide::load(buffer.as_ptr())).store(buffer.as_mut_ptr()) }
                chunk.copy_from_slice(&buffer[..chunk.len()]);
            }
        }
    }

    /// One step of Newton's from the library's: y + (x·e⁻ʸ − 1), in double-double, where x = m·2ⁿ with n·ln 2 taken out.
    pub(crate) fn exact(x: f64) -> DoubleDouble {
        let n = x.log2().round() as i32;
        let m = DoubleDouble::from(x * 2f64.powi(-(n / 2)) * 2f64.powi(n / 2 - n));
        let y = m.hi.ln();
        let rest = m * exp_reference(-y) - DoubleDouble::from(1.0);
        DoubleDouble::from(f64::from(n)) * DoubleDouble::LN_2 + DoubleDouble::from(y) + rest
    }

    #[test]
    fn logarithms_are_good_to_their_last_digits() {
        let mut chance = Chance::new(1);
        let mut x: Vec<f64> =
            (0..50_000).map(|_| 2f64.powf((chance.uniform() - 0.5) * 2.0 * 1021.9)).collect();
        x.extend((0..50_000).map(|_| 2f64.powf(chance.uniform() - 0.5)));
        x.extend((1..50).flat_map(|k| [1.0 + 2f64.powi(-k), 1.0 - 2f64.powi(-k - 1)]));
        x.extend([f64::MIN_POSITIVE, 2f64.powi(1022), 0.5, 2.0, 0.5f64.sqrt(), 2f64.sqrt()]);
        let exact: Vec<DoubleDouble> = x.iter().map(|&x| exact(x)).collect();
        for isa in Isa::available() {
            let mut out = x.clone();
            dispatch::<f64>(isa, Logarithms(&mut out));
            let relative = |(e, &value): (&DoubleDouble, &f64)| e.error_of(value) / e.hi.abs();
            let worst = exact.iter().zip(&out).map(relative).fold(0.0, f64::max);
            assert!(worst <= 5e-16, "{worst:e} on {isa:?}");
            assert!(worst > 1e-16, "the test has no power");
            let mut one = [1.0];
            dispatch::<f64>(isa, Logarithms(&mut one));
            assert!(one[0].abs() <= 0.0, "ln 1 is 0");
        }
    }
}

//! The features of one entry under a homogeneous additive kernel, such as χ² or the intersection of histograms.
//!
//! ```text
//! ψ(x) = √x·( c₀,  c₁·cos λ, c₁·sin λ,  c₂·cos 2λ, c₂·sin 2λ,  … ),     λ = step·ln x,     ψ(0) = 0
//! ψ(x)·ψ(y) = √(xy)·(c₀² + Σⱼ cⱼ²·cos(j·step·ln(x/y)))
//! ```
//! √x and ln x = 2·ln √x are taken in f64 for entries of either type, and so is the fraction of each angle in turns: a subnormal x has a
//! normal root, and λ may be many turns. The error of an output is at most √x·|cⱼ| times 6e-7 in f32 and 2e-15 + 4e-16·|jλ| in f64. Each
//! angle has its own sine and cosine: turning the first one on would add up its error. Vedaldi, Zisserman (2012).

use crate::dispatch::{Task, dispatch};
use crate::lanes::{Lanes, MOST_LANES, WholeLanes};
use crate::log::ln;
use crate::trig::cos_sin;
use crate::{Element, Isa};

/// Writes ψ of each value, one behind the other; `weights` are c₀, …, c_r, so that ψ has 2r + 1 outputs.
///
/// Values are finite and not negative. What is not a number, and what is below zero, gives outputs that are not numbers.
///
/// # Panics
/// If there are no weights or `out` is not 2r + 1 times as long as `values`.
#[inline(never)]
pub fn homogeneous<T: Element>(isa: Isa, values: &[T], step: f64, weights: &[f64], out: &mut [T]) {
    assert!(!weights.is_empty(), "expected at least one weight");
    let width = 2 * weights.len() - 1;
    assert!(values.len().checked_mul(width) == Some(out.len()), "lengths differ");
    dispatch(isa, Homogeneous { values, turns: step / std::f64::consts::TAU, weights, out });
}

struct Homogeneous<'a, T> {
    values: &'a [T],
    turns: f64,
    weights: &'a [f64],
    out: &'a mut [T],
}

impl<T: Element> Task<T> for Homogeneous<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = T>, const R: usize>(self) {
        let (width, two) = (2 * self.weights.len() - 1, L::N > L::Wide::N);
        for (values, out) in self.values.chunks(L::N).zip(self.out.chunks_mut(L::N * width)) {
            let mut buffer = [T::default(); 2 * MOST_LANES];
            // SAFETY: the buffer holds two vectors; `run` is only called by `dispatch`.
            unsafe {
                let values = if values.len() == L::N {
                    L::load(values.as_ptr())
                } else {
                    buffer[..values.len()].copy_from_slice(values);
                    L::load(buffer.as_ptr())
                };
                let (low, high) = values.widen();
                let low = root_and_log(low);
                let high = if two { root_and_log(high) } else { low };
                let root = L::narrow(low.0, high.0);
                root.mul(L::constant(self.weights[0])).store(buffer.as_mut_ptr());
                for (out, &first) in out.chunks_exact_mut(width).zip(&buffer) {
                    out[0] = first;
                }
                for j in 1..self.weights.len() {
                    let factor = L::Wide::constant(j as f64 * self.turns);
                    let turns = fraction(low.1, factor);
                    let turns = L::narrow(turns, if two { fraction(high.1, factor) } else { turns });
                    let (cos, sin) = cos_sin(turns);
                    let size = root.mul(L::constant(self.weights[j]));
                    let (first, second) = cos.mul(size).interleave(sin.mul(size));
                    first.store(buffer.as_mut_ptr());
                    second.store(buffer.as_mut_ptr().add(L::N));
                    for (out, pair) in out.chunks_exact_mut(width).zip(buffer.chunks_exact(2)) {
                        out[2 * j - 1..2 * j + 1].copy_from_slice(pair);
                    }
                }
            }
        }
    }
}

/// √x and ln x. The logarithm of zero is some finite number, since its root makes zero of all that follows.
#[inline(always)]
unsafe fn root_and_log<W: WholeLanes>(x: W) -> (W, W) {
    unsafe {
        let root = x.sqrt();
        let log = ln(root.max(W::constant(f64::MIN_POSITIVE)));
        (root, log.add(log))
    }
}

/// log·factor less the nearest whole number.
#[inline(always)]
unsafe fn fraction<W: WholeLanes>(log: W, factor: W) -> W {
    unsafe {
        let whole = log.mul(factor).round();
        log.mul_add(factor, W::constant(0.0).sub(whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::tests::exact as ln_exact;
    use bochner_testkit::{Chance, DoubleDouble, sincos_turns};

    const STEP: f64 = 0.7;
    const WEIGHTS: [f64; 6] = [0.9, 1.1, 0.6, 0.3, 0.2, 0.1];
    const WIDTH: usize = 2 * WEIGHTS.len() - 1;

    /// ψ in units of √x·|cⱼ|, and the sizes |jλ| of its angles.
    fn exact(x: f64) -> ([f64; WIDTH], [f64; WIDTH]) {
        let (mut units, mut angles) = ([1.0; WIDTH], [0.0; WIDTH]);
        for j in 1..WEIGHTS.len() {
            let angle = ln_exact(x) * DoubleDouble::from(STEP) * DoubleDouble::from(j as f64);
            let turns = angle / DoubleDouble::TAU;
            let (sin, cos) = sincos_turns(turns.hi - turns.hi.round() + turns.lo);
            (units[2 * j - 1], units[2 * j]) = (cos.hi, sin.hi);
            (angles[2 * j - 1], angles[2 * j]) = (angle.hi.abs(), angle.hi.abs());
        }
        (units, angles)
    }

    /// The largest share of the bound, floor + slope·|jλ|, that an error takes, on any instruction set.
    fn worst<T: Element>(values: &[T], floor: f64, slope: f64) -> f64 {
        let expected: Vec<_> = values.iter().map(|x| exact(x.to_f64())).collect();
        let mut worst = 0f64;
        for isa in Isa::available() {
            let mut out = vec![T::from_f64(9.0); values.len() * WIDTH];
            homogeneous(isa, values, STEP, &WEIGHTS, &mut out);
            for ((x, (units, angles)), out) in values.iter().zip(&expected).zip(out.chunks(WIDTH)) {
                for k in 0..WIDTH {
                    let unit = x.to_f64().sqrt() * WEIGHTS[k.div_ceil(2)];
                    let error = (out[k].to_f64() - units[k] * unit).abs() / unit;
                    worst = worst.max(error / (floor + slope * angles[k]));
                    assert!(!error.is_nan(), "{x:?} on {isa:?}");
                }
            }
        }
        worst
    }

    #[test]
    fn single_precision_is_good_to_6e7() {
        // Every 100,003rd of all single numbers, from the smallest subnormal to the largest, and those next to one.
        let mut x: Vec<f32> = (1..f32::MAX.to_bits()).step_by(100_003).map(f32::from_bits).collect();
        x.extend([1.0, f32::MAX, f32::MIN_POSITIVE, 1.0 + f32::EPSILON, 1.0 - f32::EPSILON / 2.0, 1e-45]);
        let worst = worst(&x, 6e-7, 0.0);
        assert!(worst <= 1.0, "{worst} of the bound");
        assert!(worst > 0.3, "the test has no power: {worst}");
    }

    #[test]
    fn double_precision_is_good_to_its_angle() {
        let mut chance = Chance::new(2);
        let mut x: Vec<f64> = (0..5_000).map(|_| 10f64.powf((chance.uniform() - 0.5) * 60.0)).collect();
        x.extend((0..5_000).map(|_| 10f64.powf((chance.uniform() - 0.5) * 600.0)));
        // Subnormal ones, and both ends.
        x.extend((0..2_000).map(|_| f64::MIN_POSITIVE * chance.uniform()).filter(|&x| x > 0.0));
        x.extend([1.0, f64::MAX, f64::MIN_POSITIVE, f64::from_bits(1)]);
        let worst = worst(&x, 2e-15, 4e-16);
        assert!(worst <= 1.0, "{worst} of the bound");
        assert!(worst > 0.3, "the test has no power: {worst}");
    }

    #[test]
    fn zero_maps_to_zeros_and_what_is_not_a_number_to_none() {
        for isa in Isa::available() {
            let mut out = [9f32; 4 * 5];
            homogeneous(isa, &[0.0, -0.0, f32::NAN, -1.0], 0.5, &[1.0, 1.0, 1.0], &mut out);
            assert!(out[..10].iter().all(|&z| z.abs() <= 0.0), "{out:?} on {isa:?}");
            assert!(out[10..].iter().all(|z| z.is_nan()), "{out:?} on {isa:?}");
        }
    }

    #[test]
    fn a_value_has_the_same_bits_wherever_it_stands() {
        let mut chance = Chance::new(3);
        let x: Vec<f32> = (0..101).map(|_| chance.uniform() as f32).collect();
        for isa in Isa::available() {
            for weights in 1..=WEIGHTS.len() {
                let width = 2 * weights - 1;
                let mut whole = vec![9.0; x.len() * width];
                homogeneous(isa, &x, STEP, &WEIGHTS[..weights], &mut whole);
                for (x, expected) in x.iter().zip(whole.chunks(width)) {
                    let mut alone = vec![9.0; width];
                    homogeneous(isa, &[*x], STEP, &WEIGHTS[..weights], &mut alone);
                    assert_eq!(alone, expected, "{x} on {isa:?}");
                }
            }
        }
    }

    /// ψ(x)·ψ(y) depends on x and y as the kernel's signature does.
    #[test]
    fn products_are_homogeneous_and_stationary_in_the_logarithm() {
        for isa in Isa::available() {
            let values = [0.3, 0.02, 3.0, 0.2];
            let mut out = [0.0; 4 * WIDTH];
            homogeneous(isa, &values, STEP, &WEIGHTS, &mut out);
            let psi = |i: usize| &out[i * WIDTH..(i + 1) * WIDTH];
            let dot = |i: usize, j: usize| psi(i).iter().zip(psi(j)).map(|(a, b)| a * b).sum::<f64>();
            let (x, y) = (values[0], values[1]);
            let angle = STEP * f64::ln(x / y);
            let sum: f64 = WEIGHTS
                .iter()
                .enumerate()
                .map(|(j, c): (usize, &f64)| c * c * (j as f64 * angle).cos())
                .sum();
            assert!((dot(0, 1) - (x * y).sqrt() * sum).abs() < 1e-15, "{isa:?}");
            assert!((dot(2, 3) - 10.0 * dot(0, 1)).abs() < 1e-14, "{isa:?}");
        }
    }

    #[test]
    fn lengths_that_do_not_fit_are_refused() {
        for (values, weights, length) in [(2, 2, 5), (2, 2, 7), (2, 0, 0)] {
            let run = || {
                homogeneous(
                    Isa::PORTABLE,
                    &vec![1.0; values],
                    1.0,
                    &vec![1.0; weights],
                    &mut vec![0.0; length],
                );
            };
            assert!(std::panic::catch_unwind(run).is_err(), "{values}, {weights}, {length}");
        }
    }
}

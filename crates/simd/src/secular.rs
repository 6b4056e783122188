//! Sums, products and vectors over the poles of a secular equation in f64.
//!
//! ```text
//! f(λ) = 1/ρ + Σᵢ zᵢ²/(dᵢ − λ),     λ = origin + τ      the eigenvalues of diag(d) + ρzzᵀ are the zeros of f
//! dᵢ − λ = (dᵢ − origin) − τ                          exact to rounding where the origin is the pole next to λ
//! ```

use crate::Isa;
use crate::dispatch::{Task, dispatch};
use crate::lanes::Lanes;

/// Σ zᵢ²/(dᵢ − λ) and its derivative Σ (zᵢ/(dᵢ − λ))².
///
/// # Panics
/// If there are not as many poles as weights.
pub fn secular_sums(isa: Isa, d: &[f64], z: &[f64], origin: f64, tau: f64) -> (f64, f64) {
    assert!(d.len() == z.len(), "shapes differ");
    let mut sums = (0.0, 0.0);
    dispatch(isa, Sums { d, z, origin, tau, sums: &mut sums });
    sums
}

struct Sums<'a> {
    d: &'a [f64],
    z: &'a [f64],
    origin: f64,
    tau: f64,
    sums: &'a mut (f64, f64),
}

impl Task<f64> for Sums<'_> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = f64>, const R: usize>(self) {
        let Sums { d, z, origin, tau, sums } = self;
        let whole = d.len() / L::N * L::N;
        // SAFETY: both hold a vector from j on; as `run`'s for the rest.
        unsafe {
            let (from, by) = (L::splat(origin), L::splat(tau));
            let (mut value, mut derivative) = (L::constant(0.0), L::constant(0.0));
            for j in (0..whole).step_by(L::N) {
                let z = L::load(z.as_ptr().add(j));
                let ratio = z.div(L::load(d.as_ptr().add(j)).sub(from).sub(by));
                value = z.mul_add(ratio, value);
                derivative = ratio.mul_add(ratio, derivative);
            }
            *sums = (value.sum(), derivative.sum());
        }
        for (d, z) in d[whole..].iter().zip(&z[whole..]) {
            let ratio = z / (d - origin - tau);
            sums.0 += z * ratio;
            sums.1 += ratio * ratio;
        }
    }
}

/// `to[i]` = dᵢ − λ.
///
/// # Panics
/// If there are not as many.
pub fn secular_differences(isa: Isa, d: &[f64], origin: f64, tau: f64, to: &mut [f64]) {
    assert!(d.len() == to.len(), "shapes differ");
    dispatch(isa, Differences { d, origin, tau, to });
}

struct Differences<'a> {
    d: &'a [f64],
    origin: f64,
    tau: f64,
    to: &'a mut [f64],
}

impl Task<f64> for Differences<'_> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = f64>, const R: usize>(self) {
        let Differences { d, origin, tau, to } = self;
        let whole = d.len() / L::N * L::N;
        for j in (0..whole).step_by(L::N) {
            // SAFETY: both hold a vector from j on; as `run`'s for the rest.
            unsafe {
                let difference = L::load(d.as_ptr().add(j)).sub(L::splat(origin)).sub(L::splat(tau));
                difference.store(to.as_mut_ptr().add(j));
            }
        }
        (whole..d.len()).for_each(|j| to[j] = d[j] - origin - tau);
    }
}

/// `products[i]` ← `products[i]`·`differences[i]`/(dᵢ − pole): one factor of Löwner's formula for
/// the weights whose eigenvalues are those found.
///
/// # Panics
/// If there are not as many.
pub fn loewner_factors(isa: Isa, differences: &[f64], d: &[f64], pole: f64, products: &mut [f64]) {
    assert!(d.len() == differences.len() && d.len() == products.len(), "shapes differ");
    dispatch(isa, Factors { differences, d, pole, products });
}

struct Factors<'a> {
    differences: &'a [f64],
    d: &'a [f64],
    pole: f64,
    products: &'a mut [f64],
}

impl Task<f64> for Factors<'_> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = f64>, const R: usize>(self) {
        let Factors { differences, d, pole, products } = self;
        let whole = d.len() / L::N * L::N;
        for j in (0..whole).step_by(L::N) {
            // SAFETY: all hold a vector from j on; as `run`'s for the rest.
            unsafe {
                let gap = L::load(d.as_ptr().add(j)).sub(L::splat(pole));
                let factor = L::load(differences.as_ptr().add(j)).div(gap);
                let to = products.as_mut_ptr().add(j);
                L::load(to).mul(factor).store(to);
            }
        }
        (whole..d.len()).for_each(|j| products[j] *= differences[j] / (d[j] - pole));
    }
}

/// `vector[i]` ← zᵢ/`vector[i]`; returns the sum of the squares.
///
/// # Panics
/// If there are not as many.
pub fn secular_vector(isa: Isa, z: &[f64], vector: &mut [f64]) -> f64 {
    assert!(z.len() == vector.len(), "shapes differ");
    let mut square = 0.0;
    dispatch(isa, Vector { z, vector, square: &mut square });
    square
}

struct Vector<'a> {
    z: &'a [f64],
    vector: &'a mut [f64],
    square: &'a mut f64,
}

impl Task<f64> for Vector<'_> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = f64>, const R: usize>(self) {
        let Vector { z, vector, square } = self;
        let whole = z.len() / L::N * L::N;
        // SAFETY: both hold a vector from j on; as `run`'s for the rest.
        unsafe {
            let mut sum = L::constant(0.0);
            for j in (0..whole).step_by(L::N) {
                let to = vector.as_mut_ptr().add(j);
                let entry = L::load(z.as_ptr().add(j)).div(L::load(to));
                sum = entry.mul_add(entry, sum);
                entry.store(to);
            }
            *square = sum.sum();
        }
        for j in whole..z.len() {
            vector[j] = z[j] / vector[j];
            *square += vector[j] * vector[j];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner_testkit::{Relative, assert_close, normals};

    #[test]
    fn loops_are_their_formulas() {
        for isa in Isa::available() {
            for n in [0, 1, 3, 8, 9, 30] {
                let d: Vec<f64> = (0..n).map(|i| i as f64 * 1.5 + 1.0).collect();
                let z = normals(n, 1, 1);
                let (origin, tau) = (0.75, -0.125);
                let by = |i: usize| d[i] - origin - tau;
                let value: f64 = (0..n).map(|i| z[i] * z[i] / by(i)).sum();
                let derivative: f64 = (0..n).map(|i| (z[i] / by(i)).powi(2)).sum();
                let (a, b) = secular_sums(isa, &d, &z, origin, tau);
                assert_close(&[a, b], &[value, derivative], Relative(1e-14));
                let mut vector = vec![0.0; n];
                secular_differences(isa, &d, origin, tau, &mut vector);
                assert_close(&vector, &(0..n).map(by).collect::<Vec<f64>>(), Relative(0.0));
                let mut products = vec![2.0; n];
                loewner_factors(isa, &vector, &d, -3.0, &mut products);
                let expected: Vec<f64> = (0..n).map(|i| 2.0 * by(i) / (d[i] + 3.0)).collect();
                assert_close(&products, &expected, Relative(1e-15));
                let square = secular_vector(isa, &z, &mut vector);
                assert_close(&vector, &(0..n).map(|i| z[i] / by(i)).collect::<Vec<f64>>(), Relative(0.0));
                assert_close(&[square], &[derivative], Relative(1e-14));
            }
        }
    }
}

//! Dense linear algebra in f64: packing, blocks and threads around the loops of `bochner_simd`.
//!
//! Everything here gives the same bits for any number of threads: threads share entries of a
//! result, never a sum. Work that may take longer than a second calls its
//! [`Check`](crate::engine::Check) several times a second.

mod band;
mod cholesky;
mod divide;
mod eigen;
mod product;
mod secular;
mod sketched;
mod triangular;
mod tridiagonal;

use bochner_simd::Operand;

pub(crate) use band::Band;
pub(crate) use cholesky::{Cholesky, lower_inverse};
pub(crate) use eigen::symmetric_eigen;
pub(crate) use sketched::sketched_eigen;

use crate::{Engine, Matrix};
use product::{add_product, operand, product};

/// A·B.
pub(crate) fn multiply(engine: &Engine, a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
    product(engine, operand(a), operand(b))
}

/// C − AᵀA on the rows and columns from `start` on, A being `a`'s columns from `start` on.
pub(crate) fn subtract_square(engine: &Engine, c: &mut Matrix<f64>, a: &[f64], depth: usize, start: usize) {
    let n = c.columns();
    let a = Operand::new(a, depth, n, n).part(0..depth, start..n);
    let rest = c.as_mut_slice().chunks_exact_mut(n.max(1)).skip(start).map(|row| &mut row[start..]);
    add_product(engine, -1.0, a.transposed(), a, rest.collect());
}

/// The power of two next to a size; 1 if there is none.
fn power_of_two(size: f64) -> f64 {
    let power = libm::exp2(libm::log2(size).round());
    if power > 0.0 && power.is_finite() { power } else { 1.0 }
}

/// A dot product in eight fixed chains, which any vector unit computes alike.
///
/// By indices: incremental builds compile generic iterators apart from the loops that use them, and half of a test's time went
/// into their calls.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for i in 0..a.len().min(b.len()) {
        for k in 0..8 {
            sums[k] += a[i][k] * b[i][k];
        }
    }
    let mut rest = 0.0;
    for k in 0..a_rest.len().min(b_rest.len()) {
        rest += a_rest[k] * b_rest[k];
    }
    let mut sum = 0.0;
    for k in 0..8 {
        sum += sums[k];
    }
    sum + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EngineSpec, Result};
    use bochner_testkit::{Absolute, assert_close, normals};

    /// B·Bᵀ + ½I.
    pub(super) fn symmetric(n: usize, seed: u64) -> Matrix<f64> {
        let b = Matrix::new(n, n, normals(n, n, seed)).unwrap();
        let bt = Matrix::from_fn(n, n, |i, j| b.row(j)[i]);
        let mut a = multiply(&Engine::default(), &b, &bt);
        (0..n).for_each(|i| a.row_mut(i)[i] += 0.5);
        a
    }

    /// The same job on 1, 2 and 7 threads.
    pub(super) fn on_threads<R>(job: impl Fn(&Engine) -> R) -> [R; 3] {
        [1, 2, 7].map(|threads| job(&EngineSpec { threads, ..EngineSpec::default() }.build()))
    }

    /// Stops after a few calls; says how often it was called before.
    pub(super) fn stop_after(calls: usize) -> impl Fn(f64) -> Result<()> + Sync {
        let count = std::sync::atomic::AtomicUsize::new(0);
        move |fraction| {
            assert!((0.0..=1.0).contains(&fraction), "{fraction}");
            let before = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if before < calls { Ok(()) } else { Err(crate::Error::Interrupted) }
        }
    }

    fn formula(name: &str, i: usize, j: usize) -> f64 {
        match name {
            "hilbert" => 1.0 / (1 + i + j) as f64,
            "distance" => 1.0 / (1 + i.abs_diff(j)) as f64,
            "residue" => ((i * j % 17) as f64 - 8.0) / 17.0,
            "least" => (1 + i.min(j)) as f64 / 64.0,
            _ => panic!("{name}"),
        }
    }

    /// `golden/linalg.py` computes them with LAPACK.
    #[test]
    fn results_are_those_of_lapack() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/linalg.json");
        let cases: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let cases = cases.as_array().unwrap();
        assert_eq!(cases.len(), 16);
        for case in cases {
            let (name, n) = (case["formula"].as_str().unwrap(), case["size"].as_u64().unwrap() as usize);
            let list = |what: &str| -> Vec<f64> {
                case[what].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
            };
            let a = Matrix::from_fn(n, n, |i, j| formula(name, i, j));
            let expected = list("eigenvalues");
            let size = expected[0].max(-expected[n - 1]);
            let (values, _) = symmetric_eigen(&Engine::default(), a.clone(), &|_| Ok(())).unwrap();
            assert_close(&values, &expected, Absolute(4e-16 * n as f64 * size));
            let shifted = Matrix::from_fn(n, n, |i, j| a.row(i)[j] + if i == j { n as f64 } else { 0.0 });
            let factor = Cholesky::new(&Engine::default(), shifted, &|_| Ok(())).unwrap().packed();
            assert_close(&factor[factor.len() - n..], &list("last_row_of_cholesky"), Absolute(1e-13));
            let c = multiply(&Engine::default(), &a, &Matrix::from_fn(n, n, |i, j| formula("residue", i, j)));
            let weight = |p: usize| (1 + (p / n + 2 * (p % n)) % 5) as f64;
            let sum: f64 = (0..n * n).map(|p| weight(p) * c.as_slice()[p]).sum();
            let expected = case["weighted_sum_of_product"].as_f64().unwrap();
            assert_close(&[sum], &[expected], Absolute(1e-13 * (n * n) as f64));
        }
    }
}

//! Leading eigenvectors of a positive semidefinite matrix that is known by its product with a few random vectors.
//!
//! ```text
//! Y = MT,    M ≈ Y(TᵀY)⁻¹Yᵀ = EEᵀ,    E = YQD^(−½),    TᵀY = QDQᵀ            EᵀE = WSWᵀ:   values S, vectors EWS^(−½)
//! ```
//! Nyström's approximation, exact if M has no more directions than T has columns; where it has, about as far from M as what is left of M beyond half of them (Tropp, Yurtsever, Udell & Cevher 2017).
//! Y is a sum over rows, like M, of r·d numbers in place of d².

use super::eigen::make_positive;
use super::{multiply, symmetric_eigen};
use crate::{Engine, Matrix, Result};

/// A part of the largest eigenvalue below which there is nothing but rounding.
const NOTHING: f64 = 1e-11;

/// Eigenvalues in descending order, and one row for each eigenvector, its largest entry positive, by T and MT; as many as are there.
pub(crate) fn sketched_eigen(
    engine: &Engine,
    tests: &Matrix<f64>,
    products: &Matrix<f64>,
) -> Result<(Vec<f64>, Matrix<f64>)> {
    let (d, r) = (tests.rows(), tests.columns());
    let core = multiply(engine, &transposed(tests), products);
    let core = Matrix::from_fn(r, r, |i, j| 0.5 * (core.row(i)[j] + core.row(j)[i]));
    let (values, vectors) = symmetric_eigen(engine, core, &|_| Ok(()))?;
    let known = above(&values);
    if known == 0 {
        return Ok((Vec::new(), Matrix::zeros(0, d)));
    }
    let scaled = Matrix::from_fn(r, known, |i, k| vectors.row(k)[i] / values[k].sqrt());
    let factor = multiply(engine, products, &scaled);
    let (values, vectors) =
        symmetric_eigen(engine, multiply(engine, &transposed(&factor), &factor), &|_| Ok(()))?;
    let known = above(&values);
    let scaled = Matrix::from_fn(factor.columns(), known, |i, k| vectors.row(k)[i] / values[k].sqrt());
    let mut vectors = transposed(&multiply(engine, &factor, &scaled));
    vectors.as_mut_slice().chunks_exact_mut(d.max(1)).for_each(make_positive);
    Ok((values[..known].to_vec(), vectors))
}

/// How many values, in descending order, are more than rounding.
fn above(values: &[f64]) -> usize {
    let least = NOTHING * values.first().copied().unwrap_or(0.0);
    values.iter().take_while(|value| **value > least).count()
}

fn transposed(matrix: &Matrix<f64>) -> Matrix<f64> {
    Matrix::from_fn(matrix.columns(), matrix.rows(), |i, j| matrix.row(j)[i])
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner_testkit::{Absolute, Relative, assert_close, normals};

    /// As many directions as tests, or fewer: exact. Nothing at all: no directions.
    #[test]
    fn what_has_few_directions_is_known() {
        let (d, r) = (40, 8);
        for rank in [0, 1, 5, 8] {
            let b = Matrix::new(d, rank, normals(d, rank, 3)).unwrap();
            let m = Matrix::from_fn(d, d, |i, j| b.row(i).iter().zip(b.row(j)).map(|(x, y)| x * y).sum());
            let tests = Matrix::new(d, r, normals(d, r, 4)).unwrap();
            let (values, vectors) =
                sketched_eigen(&Engine::default(), &tests, &multiply(&Engine::default(), &m, &tests))
                    .unwrap();
            assert_eq!(values.len(), rank);
            let (expected, known) = symmetric_eigen(&Engine::default(), m, &|_| Ok(())).unwrap();
            assert_close(&values, &expected[..rank], Relative(1e-9));
            for k in 0..rank {
                for l in 0..rank {
                    let dot: f64 = vectors.row(k).iter().zip(vectors.row(l)).map(|(a, b)| a * b).sum();
                    assert_close(&[dot], &[if k == l { 1.0 } else { 0.0 }], Absolute(1e-9));
                }
                let along: f64 = vectors.row(k).iter().zip(known.row(k)).map(|(a, b)| a * b).sum();
                assert_close(&[along.abs()], &[1.0], Absolute(1e-9));
            }
        }
    }
}

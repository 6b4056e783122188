//! Dense linear algebra as it was on faer: what ours is measured against
//! (`docs/decisions/0016-dense-linear-algebra-of-our-own.md`).
//!
//! Products give the same bits for any number of threads, and everything else here is made of
//! products and of loops in a fixed order. Work that may take longer than a second calls its
//! [`Check`](crate::engine::Check) several times a second. Runs on the pool of the caller, which is
//! an engine's.

mod band;
mod cholesky;
mod eigen;

use faer::linalg::matmul;
use faer::{Accum, MatMut, MatRef, Par};

pub(crate) use band::Band;
pub(crate) use cholesky::{Cholesky, lower_inverse};
pub(crate) use eigen::symmetric_eigen;

use crate::Matrix;

/// The threads of the pool that the caller runs on.
fn threads() -> Par {
    if rayon::current_thread_index().is_some() { Par::rayon(rayon::current_num_threads()) } else { Par::Seq }
}

/// The threads for products of so many rows and columns: a single one of either takes another way
/// through faer, whose bits depend on the number of threads.
fn threads_for(rows: usize, columns: usize) -> Par {
    if rows == 1 || columns == 1 { Par::Seq } else { threads() }
}

pub(crate) fn view(matrix: &Matrix<f64>) -> MatRef<'_, f64> {
    MatRef::from_row_major_slice(matrix.as_slice(), matrix.rows(), matrix.columns())
}

fn view_mut(matrix: &mut Matrix<f64>) -> MatMut<'_, f64> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    MatMut::from_row_major_slice_mut(matrix.as_mut_slice(), rows, columns)
}

/// A·B.
pub(crate) fn multiply(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
    product(view(a), view(b))
}

fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Matrix<f64> {
    let mut out = Matrix::zeros(a.nrows(), b.ncols());
    matmul::matmul(view_mut(&mut out), Accum::Replace, a, b, 1.0, threads_for(a.nrows(), b.ncols()));
    out
}

/// C − AᵀA on the rows and columns from `start` on, A being `a`'s columns from `start` on.
pub(crate) fn subtract_square(c: &mut Matrix<f64>, a: &[f64], depth: usize, start: usize) {
    let n = c.columns();
    let rows = MatRef::from_row_major_slice(a, depth, n);
    let rows = rows.subcols(start, n - start);
    let part = view_mut(c).submatrix_mut(start, start, n - start, n - start);
    matmul::matmul(part, Accum::Add, rows.transpose(), rows, -1.0, threads_for(n - start, n - start));
}

/// A dot product in eight fixed chains, which any vector unit computes alike.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a8.remainder().iter().zip(b8.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a8.zip(b8) {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x * y;
        }
    }
    sums.iter().sum::<f64>() + rest
}

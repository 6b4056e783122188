//! The one door to faer.
//!
//! Products and Cholesky give the same bits for any number of threads; tridiagonalisation does not, so it runs on one
//! thread (several run side by side). Outside an engine's pool everything is sequential: there is no global pool.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::{cholesky, evd::tridiag, householder, matmul, qr, triangular_inverse, triangular_solve};
use faer::{Accum, Conj, MatMut, MatRef, Par};

use crate::{Error, Matrix, Result};

/// The threads of the pool that the caller runs on.
fn threads() -> Par {
    if rayon::current_thread_index().is_some() { Par::rayon(rayon::current_num_threads()) } else { Par::Seq }
}

fn view(matrix: &Matrix<f64>) -> MatRef<'_, f64> {
    MatRef::from_row_major_slice(matrix.as_slice(), matrix.rows(), matrix.columns())
}

fn view_mut(matrix: &mut Matrix<f64>) -> MatMut<'_, f64> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    MatMut::from_row_major_slice_mut(matrix.as_mut_slice(), rows, columns)
}

/// A·B.
pub(crate) fn multiply(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
    let mut out = Matrix::zeros(a.rows(), b.columns());
    matmul::matmul(view_mut(&mut out), Accum::Replace, view(a), view(b), 1.0, threads());
    out
}

/// C − AᵀA on the rows and columns from `start` on, A being `a`'s columns from `start` on.
pub(crate) fn subtract_square(c: &mut Matrix<f64>, a: &[f64], depth: usize, start: usize) {
    let n = c.columns();
    let rows = MatRef::from_row_major_slice(a, depth, n);
    let rows = rows.subcols(start, n - start);
    let part = view_mut(c).submatrix_mut(start, start, n - start, n - start);
    matmul::matmul(part, Accum::Add, rows.transpose(), rows, -1.0, threads());
}

/// The Cholesky factor of a symmetric matrix A = LLᵀ.
pub(crate) struct Cholesky {
    lower: Matrix<f64>,
}

impl Cholesky {
    /// Factors A, of which the lower triangle is read.
    pub(crate) fn new(mut a: Matrix<f64>) -> Result<Self> {
        let n = a.rows();
        let par = threads();
        let mut memory = MemBuffer::new(cholesky::llt::factor::cholesky_in_place_scratch::<f64>(
            n,
            par,
            Default::default(),
        ));
        let stack = MemStack::new(&mut memory);
        cholesky::llt::factor::cholesky_in_place(
            view_mut(&mut a),
            Default::default(),
            par,
            stack,
            Default::default(),
        )
        .map_err(|error| {
            let cholesky::llt::factor::LltError::NonPositivePivot { index } = error;
            Error::NotPositiveDefinite { index, size: n }
        })?;
        Ok(Cholesky { lower: a })
    }

    /// A⁻¹B.
    pub(crate) fn solve(&self, mut b: Matrix<f64>) -> Matrix<f64> {
        if b.columns() == 1 {
            // A single right-hand side takes another way through faer, whose bits depend on the number of threads.
            let two = self.solve(Matrix::from_fn(b.rows(), 2, |i, _| b.row(i)[0]));
            return Matrix::from_fn(b.rows(), 1, |i, _| two.row(i)[0]);
        }
        let (lower, par) = (view(&self.lower), threads());
        triangular_solve::solve_lower_triangular_in_place(lower, view_mut(&mut b), par);
        triangular_solve::solve_upper_triangular_in_place(lower.transpose(), view_mut(&mut b), par);
        b
    }

    /// tr A⁻¹ = ‖L⁻¹‖².
    pub(crate) fn trace_of_inverse(&self) -> f64 {
        let inverse = lower_inverse(&self.lower);
        (0..inverse.rows()).map(|i| inverse.row(i)[..=i].iter().map(|x| x * x).sum::<f64>()).sum()
    }
}

/// L⁻¹ of a lower triangular matrix, zeros above.
pub(crate) fn lower_inverse(lower: &Matrix<f64>) -> Matrix<f64> {
    let mut inverse = Matrix::zeros(lower.rows(), lower.rows());
    triangular_inverse::invert_lower_triangular(view_mut(&mut inverse), view(lower), threads());
    inverse
}

/// A = QTQᵀ with T tridiagonal and Q a product of reflections.
pub(crate) struct Tridiagonal {
    pub(crate) diagonal: Vec<f64>,
    pub(crate) off_diagonal: Vec<f64>,
    reflections: Matrix<f64>,
    coefficients: faer::Mat<f64>,
}

impl Tridiagonal {
    /// Decomposes a symmetric matrix, on this thread.
    pub(crate) fn new(mut a: Matrix<f64>) -> Self {
        let n = a.rows();
        let block = qr::no_pivoting::factor::recommended_block_size::<f64>(n, n);
        let mut coefficients = faer::Mat::zeros(block, n.saturating_sub(1));
        let mut memory =
            MemBuffer::new(tridiag::tridiag_in_place_scratch::<f64>(n, Par::Seq, Default::default()));
        if n > 1 {
            let stack = MemStack::new(&mut memory);
            // Symmetric: rows may be read as columns, which is the order that this routine likes.
            let columns = view_mut(&mut a).transpose_mut();
            tridiag::tridiag_in_place(columns, coefficients.as_mut(), Par::Seq, stack, Default::default());
        }
        let diagonal = (0..n).map(|i| a.row(i)[i]).collect();
        let off_diagonal = (1..n).map(|i| a.row(i - 1)[i]).collect();
        Tridiagonal { diagonal, off_diagonal, reflections: a, coefficients }
    }

    /// B ← QᵀB.
    pub(crate) fn rotate(&self, b: &mut Matrix<f64>) {
        self.reflect(b, true);
    }

    /// B ← QB.
    pub(crate) fn rotate_back(&self, b: &mut Matrix<f64>) {
        self.reflect(b, false);
    }

    fn reflect(&self, b: &mut Matrix<f64>, transposed: bool) {
        let n = self.diagonal.len();
        if n < 2 {
            return;
        }
        let basis = view(&self.reflections).transpose().submatrix(1, 0, n - 1, n - 1);
        let scratch = householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(
            n - 1,
            self.coefficients.nrows(),
            b.columns(),
        );
        let mut memory = MemBuffer::new(scratch);
        let stack = MemStack::new(&mut memory);
        let rest = view_mut(b).subrows_mut(1, n - 1);
        if transposed {
            householder::apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj(
                basis,
                self.coefficients.as_ref(),
                Conj::No,
                rest,
                Par::Seq,
                stack,
            );
        } else {
            householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
                basis,
                self.coefficients.as_ref(),
                Conj::No,
                rest,
                Par::Seq,
                stack,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner_testkit::{Absolute, assert_close, normals};

    fn symmetric(n: usize, seed: u64) -> Matrix<f64> {
        let b = Matrix::new(n, n, normals(n, n, seed)).unwrap();
        let bt = Matrix::from_fn(n, n, |i, j| b.row(j)[i]);
        let mut a = multiply(&b, &bt);
        (0..n).for_each(|i| a.row_mut(i)[i] += 0.5);
        a
    }

    #[test]
    fn cholesky_solves_and_traces() {
        for n in [1, 2, 7, 130] {
            let a = symmetric(n, 3);
            let x = Matrix::new(n, 2, normals(n, 2, 4)).unwrap();
            let cholesky = Cholesky::new(a.clone()).unwrap();
            assert_close(cholesky.solve(multiply(&a, &x)).as_slice(), x.as_slice(), Absolute(1e-8));
            let (values, _) = bochner_testkit::symmetric_eigen(a.as_slice(), n);
            let trace: f64 = values.iter().map(|v| 1.0 / v).sum();
            assert_close(&[cholesky.trace_of_inverse()], &[trace], Absolute(1e-8 * trace));
        }
        assert!(matches!(
            Cholesky::new(Matrix::from_fn(2, 2, |i, j| if i == j { -1.0 } else { 0.0 })),
            Err(Error::NotPositiveDefinite { index: 0, .. })
        ));
    }

    #[test]
    fn tridiagonal_form_multiplies_back() {
        for n in [1, 2, 3, 90] {
            let a = symmetric(n, 5);
            let form = Tridiagonal::new(a.clone());
            let x = Matrix::new(n, 3, normals(n, 3, 6)).unwrap();
            let mut y = x.clone();
            form.rotate(&mut y);
            let mut ty = Matrix::zeros(n, 3);
            for i in 0..n {
                for c in 0..3 {
                    let mut sum = form.diagonal[i] * y.row(i)[c];
                    if i > 0 {
                        sum += form.off_diagonal[i - 1] * y.row(i - 1)[c];
                    }
                    if i + 1 < n {
                        sum += form.off_diagonal[i] * y.row(i + 1)[c];
                    }
                    ty.row_mut(i)[c] = sum;
                }
            }
            form.rotate_back(&mut ty);
            assert_close(ty.as_slice(), multiply(&a, &x).as_slice(), Absolute(1e-10 * n as f64));
        }
    }
}

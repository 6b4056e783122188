//! A = LLᵀ, panel by panel, so that it can be stopped between panels.
//!
//! ```text
//! L₁₁L₁₁ᵀ = A₁₁,   L₂₁ = A₂₁L₁₁⁻ᵀ,   A₂₂ ← A₂₂ − L₂₁L₂₁ᵀ
//! ```

use std::ops::Range;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::linalg::{cholesky::llt::factor, triangular_solve};
use faer::{Accum, Par};
use rayon::prelude::*;

use super::{dot, threads, view, view_mut};
use crate::engine::Check;
use crate::{Error, Matrix, Result};

/// Columns of a panel.
const PANEL: usize = 128;

/// Entries of a right side that a thread takes at once.
const SHARE: usize = 256;

/// The Cholesky factor of a symmetric matrix A = LLᵀ.
pub(crate) struct Cholesky {
    lower: Matrix<f64>,
}

impl Cholesky {
    /// Factors A, of which the lower triangle is read.
    pub(crate) fn new(mut a: Matrix<f64>, check: Check<'_>) -> Result<Self> {
        Cholesky::factor(&mut a, check)?;
        Ok(Cholesky { lower: a })
    }

    /// Factors A + shift·I for the first shift of a growing row for which that is positive definite; where none is, the error of the last. Both triangles are read: the upper one is what is left of A where a factor fails.
    pub(crate) fn shifted(
        mut a: Matrix<f64>,
        shifts: impl IntoIterator<Item = f64>,
        check: Check<'_>,
    ) -> Result<Self> {
        let diagonal: Vec<f64> = (0..a.rows()).map(|i| a.row(i)[i]).collect();
        let mut failed = None;
        for shift in shifts {
            if failed.is_some() {
                // What lies above the diagonal is as it was.
                (0..a.rows()).for_each(|i| (0..i).for_each(|j| a.row_mut(i)[j] = a.row(j)[i]));
            }
            diagonal.iter().enumerate().for_each(|(i, entry)| a.row_mut(i)[i] = entry + shift);
            match Cholesky::factor(&mut a, check) {
                Ok(()) => return Ok(Cholesky { lower: a }),
                Err(error @ Error::NotPositiveDefinite { .. }) => failed = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(failed.unwrap_or(Error::NotPositiveDefinite { index: 0, size: a.rows() }))
    }

    /// Writes L over the lower triangle of A; what lies above stays, since rows are what is contiguous (faer would write there if columns were).
    fn factor(a: &mut Matrix<f64>, check: Check<'_>) -> Result<()> {
        let n = a.rows();
        let mut memory =
            MemBuffer::new(factor::cholesky_in_place_scratch::<f64>(PANEL, Par::Seq, Default::default()));
        for start in (0..n).step_by(PANEL) {
            let width = PANEL.min(n - start);
            let rest = view_mut(a).submatrix_mut(start, start, n - start, n - start);
            let (mut corner, _, mut below, rest) = rest.split_at_mut(width, width);
            factor::cholesky_in_place(
                corner.as_mut(),
                Default::default(),
                Par::Seq,
                MemStack::new(&mut memory),
                Default::default(),
            )
            .map_err(|error| {
                let factor::LltError::NonPositivePivot { index } = error;
                Error::NotPositiveDefinite { index: start + index, size: n }
            })?;
            if below.nrows() > 0 {
                let transposed = below.as_mut().transpose_mut();
                triangular_solve::solve_lower_triangular_in_place(corner.as_ref(), transposed, Par::Seq);
                matmul(
                    rest,
                    BlockStructure::TriangularLower,
                    Accum::Add,
                    below.as_ref(),
                    BlockStructure::Rectangular,
                    below.as_ref().transpose(),
                    BlockStructure::Rectangular,
                    -1.0,
                    threads(),
                );
            }
            check(cubic(start + width, n))?;
        }
        Ok(())
    }

    /// A⁻¹B.
    pub(crate) fn solve(&self, mut b: Matrix<f64>) -> Matrix<f64> {
        if b.columns() == 1 {
            self.solve_one(b.as_mut_slice());
            return b;
        }
        let (lower, par) = (view(&self.lower), threads());
        triangular_solve::solve_lower_triangular_in_place(lower, view_mut(&mut b), par);
        triangular_solve::solve_upper_triangular_in_place(lower.transpose(), view_mut(&mut b), par);
        b
    }

    /// A⁻¹b, panel by panel: what a panel has found is taken off all that is left, which threads share. (A single right side takes a way through faer whose bits depend on the number of threads.)
    fn solve_one(&self, b: &mut [f64]) {
        let n = self.lower.rows();
        debug_assert_eq!(b.len(), n, "one entry a row");
        let l = |i: usize, columns: Range<usize>| &self.lower.row(i)[columns];
        for start in (0..n).step_by(PANEL) {
            let end = n.min(start + PANEL);
            let (done, left) = b.split_at_mut(end);
            for i in start..end {
                done[i] = (done[i] - dot(l(i, start..i), &done[start..i])) / l(i, i..i + 1)[0];
            }
            let found = &done[start..];
            left.par_iter_mut().enumerate().with_min_len(SHARE).for_each(|(i, b)| {
                *b -= dot(l(end + i, start..end), found);
            });
        }
        for start in (0..n).step_by(PANEL).rev() {
            let end = n.min(start + PANEL);
            for i in (start..end).rev() {
                b[i] /= l(i, i..i + 1)[0];
                let (left, found) = b.split_at_mut(i);
                left[start..].iter_mut().zip(l(i, start..i)).for_each(|(b, l)| *b -= l * found[0]);
            }
            let (left, found) = b.split_at_mut(start);
            left.par_chunks_mut(SHARE).enumerate().for_each(|(chunk, left)| {
                let columns = chunk * SHARE..chunk * SHARE + left.len();
                for (i, found) in (start..end).zip(&*found) {
                    left.iter_mut().zip(l(i, columns.clone())).for_each(|(b, l)| *b -= l * found);
                }
            });
        }
    }

    /// tr (A − λI)A⁻¹ = n − λ·tr A⁻¹.
    pub(crate) fn degrees_of_freedom(&self, lambda: f64, check: Check<'_>) -> Result<f64> {
        Ok((self.lower.rows() as f64 - lambda * self.trace_of_inverse(check)?).max(0.0))
    }

    /// L, row after row, without the zeros above the diagonal.
    pub(crate) fn packed(&self) -> Vec<f64> {
        (0..self.lower.rows()).flat_map(|i| &self.lower.row(i)[..=i]).copied().collect()
    }

    /// tr A⁻¹ = ‖L⁻¹‖².
    pub(crate) fn trace_of_inverse(&self, check: Check<'_>) -> Result<f64> {
        let mut trace = 0.0;
        inverse_columns(&self.lower, check, |_, columns| {
            trace += columns.as_slice().iter().map(|x| x * x).sum::<f64>();
        })?;
        Ok(trace)
    }
}

/// L⁻¹ of a lower triangular matrix, zeros above.
pub(crate) fn lower_inverse(lower: &Matrix<f64>, check: Check<'_>) -> Result<Matrix<f64>> {
    let mut inverse = Matrix::zeros(lower.rows(), lower.rows());
    inverse_columns(lower, check, |start, columns| {
        for i in 0..columns.rows() {
            inverse.row_mut(start + i)[start..start + columns.columns()].copy_from_slice(columns.row(i));
        }
    })?;
    Ok(inverse)
}

/// Some columns of L⁻¹ after others: `take(start, columns)` gets the rows from `start` on of the columns from `start` on.
fn inverse_columns(
    lower: &Matrix<f64>,
    check: Check<'_>,
    mut take: impl FnMut(usize, &Matrix<f64>),
) -> Result<()> {
    let n = lower.rows();
    for start in (0..n).step_by(PANEL) {
        // Two columns at least: see `Cholesky::solve`.
        let (width, rows) = (PANEL.min(n - start), n - start);
        let mut columns = Matrix::from_fn(rows, width.max(2), |i, j| if i == j { 1.0 } else { 0.0 });
        let triangle = view(lower).submatrix(start, start, rows, rows);
        triangular_solve::solve_lower_triangular_in_place(triangle, view_mut(&mut columns), threads());
        if width < 2 {
            columns = Matrix::from_fn(rows, width, |i, j| columns.row(i)[j]);
        }
        take(start, &columns);
        check(cubic(start + width, n))?;
    }
    Ok(())
}

/// The part of ∑ (n − k)² that lies before `done`.
fn cubic(done: usize, n: usize) -> f64 {
    1.0 - ((n - done) as f64 / n as f64).powi(3)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{on_threads, stop_after, symmetric};
    use super::super::{multiply, view};
    use super::*;
    use bochner_testkit::{Absolute, assert_close, assert_same_bits, normals};

    #[test]
    fn factors_solve_invert_and_trace() {
        for n in [1, 2, 7, 129, 300] {
            let a = symmetric(n, 3);
            let x = Matrix::new(n, 2, normals(n, 2, 4)).unwrap();
            let cholesky = Cholesky::new(a.clone(), &|_| Ok(())).unwrap();
            assert_close(cholesky.solve(multiply(&a, &x)).as_slice(), x.as_slice(), Absolute(1e-8));
            let (values, _) = bochner_testkit::symmetric_eigen(a.as_slice(), n);
            let trace: f64 = values.iter().map(|v| 1.0 / v).sum();
            assert_close(
                &[cholesky.trace_of_inverse(&|_| Ok(())).unwrap()],
                &[trace],
                Absolute(1e-8 * trace),
            );
            let mut lower = cholesky.lower.clone();
            (0..n).for_each(|i| lower.row_mut(i)[i + 1..].fill(0.0));
            let unit = multiply(&lower, &lower_inverse(&lower, &|_| Ok(())).unwrap());
            let identity = Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j)));
            assert_close(unit.as_slice(), identity.as_slice(), Absolute(1e-9));
        }
    }

    #[test]
    fn one_right_side_is_solved_panel_by_panel() {
        for n in [1, 5, 128, 129, 700] {
            let (a, x) = (symmetric(n, 3), Matrix::new(n, 1, normals(n, 1, 6)).unwrap());
            let cholesky = Cholesky::new(a.clone(), &|_| Ok(())).unwrap();
            assert_close(cholesky.solve(multiply(&a, &x)).as_slice(), x.as_slice(), Absolute(1e-8));
        }
    }

    /// The matrix is not lost by a factor that fails halfway.
    #[test]
    fn the_first_shift_that_is_enough_is_taken() {
        let n = 300;
        let mut a = symmetric(n, 3);
        a.row_mut(200)[200] = -1.0;
        let (values, _) = bochner_testkit::symmetric_eigen(a.as_slice(), n);
        let least = -values.iter().copied().fold(f64::INFINITY, f64::min);
        let shifts = [0.0, 0.5 * least, 0.9 * least, 1.5 * least, 2.0 * least];
        let made = Cholesky::shifted(a.clone(), shifts, &|_| Ok(())).unwrap();
        (0..n).for_each(|i| a.row_mut(i)[i] += 1.5 * least);
        let directly = Cholesky::new(a.clone(), &|_| Ok(())).unwrap();
        assert_same_bits(&made.packed(), &directly.packed());
        (0..n).for_each(|i| a.row_mut(i)[i] -= 1.5 * least);
        let result = Cholesky::shifted(a, [0.0, 0.5 * least], &|_| Ok(()));
        assert!(matches!(result, Err(Error::NotPositiveDefinite { size: 300, .. })));
    }

    #[test]
    fn the_pivot_that_fails_is_named() {
        for bad in [0, 5, 128, 200] {
            let a = Matrix::from_fn(201, 201, |i, j| {
                f64::from(u8::from(i == j)) * if i == bad { -1.0 } else { 1.0 }
            });
            let result = Cholesky::new(a, &|_| Ok(()));
            assert!(matches!(result, Err(Error::NotPositiveDefinite { index, size: 201 }) if index == bad));
        }
    }

    #[test]
    fn threads_do_not_change_bits() {
        for n in [130, 1100] {
            let (a, b) = (symmetric(n, 3), Matrix::new(n, 1, normals(n, 1, 5)).unwrap());
            let two = Matrix::new(n, 2, normals(n, 2, 7)).unwrap();
            let [one, two, seven] = on_threads(|| {
                let cholesky = Cholesky::new(a.clone(), &|_| Ok(())).unwrap();
                let mut bits = cholesky.solve(b.clone()).as_slice().to_vec();
                bits.extend(cholesky.solve(two.clone()).as_slice());
                bits.extend(lower_inverse(&cholesky.lower, &|_| Ok(())).unwrap().as_slice());
                bits
            });
            assert_same_bits(&one, &two);
            assert_same_bits(&one, &seven);
        }
    }

    #[test]
    fn the_work_can_be_stopped_between_panels() {
        let a = symmetric(400, 1);
        assert!(matches!(Cholesky::new(a.clone(), &stop_after(2)), Err(Error::Interrupted)));
        let cholesky = Cholesky::new(a, &stop_after(4)).unwrap();
        assert!(matches!(cholesky.trace_of_inverse(&stop_after(3)), Err(Error::Interrupted)));
        assert!(view(&cholesky.lower).nrows() == 400);
    }
}

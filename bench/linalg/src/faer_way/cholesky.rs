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

    /// Factors A + shift·I for the first shift of a growing row for which that is positive
    /// definite; where none is, the error of the last. Both triangles are read: the upper one is
    /// what is left of A where a factor fails.
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

    /// Writes L over the lower triangle of A; what lies above stays, since rows are what is
    /// contiguous (faer would write there if columns were).
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

    /// A⁻¹b, panel by panel: what a panel has found is taken off all that is left, which threads
    /// share. (A single right side takes a way through faer whose bits depend on the number of
    /// threads.)
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

/// Some columns of L⁻¹ after others: `take(start, columns)` gets the rows from `start` on of the
/// columns from `start` on.
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

//! A = LLᵀ, panel by panel, so that it can be stopped between panels.
//!
//! ```text
//! L₁₁L₁₁ᵀ = A₁₁,   L₂₁ = A₂₁L₁₁⁻ᵀ,   A₂₂ ← A₂₂ − L₂₁L₂₁ᵀ
//! ```

use std::ops::Range;

use bochner_simd::{Operand, Triangle, add_rows, row_products, transpose};

use super::dot;
use super::product::{add_product, operand, rows, share, split_columns};
use super::triangular::{solve_lower, solve_lower_transposed};
use crate::engine::Check;
use crate::{Engine, Error, Matrix, Result};

/// Columns of a panel.
const PANEL: usize = 128;

/// Columns of an inverse that are found at once: zeros above the diagonal are multiplied within so
/// many. A multiple of every register tile.
const COLUMNS: usize = 72;

/// Columns that are factored entry by entry.
const CORNER: usize = 32;

/// Entries of a right-hand side that a thread takes at once.
const SHARE: usize = 256;

/// Right-hand sides that are solved one after the other.
const FEW: usize = 4;

/// Rows that are read once for all of those.
const TOGETHER: usize = 32;

/// Rows below a panel that a thread takes at once: a multiple of every register tile.
const STRIP: usize = 96;

/// The Cholesky factor of a symmetric matrix A = LLᵀ.
pub(crate) struct Cholesky {
    lower: Matrix<f64>,
}

impl Cholesky {
    /// Factors A, of which the lower triangle is read.
    pub(crate) fn new(engine: &Engine, mut a: Matrix<f64>, check: Check<'_>) -> Result<Self> {
        Cholesky::factor(engine, &mut a, check)?;
        Ok(Cholesky { lower: a })
    }

    /// Factors A + shift·I for the first shift of a growing row for which that is positive definite; where none is, the error of the last. Both triangles are read: the upper one is what is left of A where a factor fails.
    pub(crate) fn shifted(
        engine: &Engine,
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
            match Cholesky::factor(engine, &mut a, check) {
                Ok(()) => return Ok(Cholesky { lower: a }),
                Err(error @ Error::NotPositiveDefinite { .. }) => failed = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(failed.unwrap_or(Error::NotPositiveDefinite { index: 0, size: a.rows() }))
    }

    /// Writes L over the lower triangle of A; what lies above stays.
    fn factor(engine: &Engine, a: &mut Matrix<f64>, check: Check<'_>) -> Result<()> {
        let n = a.rows();
        let mut memory = Vec::new();
        for start in (0..n).step_by(PANEL) {
            let width = PANEL.min(n - start);
            let rest = a.as_mut_slice().chunks_exact_mut(n).skip(start);
            eliminate(engine, rest.map(|row| &mut row[start..]).collect(), width, &mut memory)
                .map_err(|index| Error::NotPositiveDefinite { index: start + index, size: n })?;
            check(cubic(start + width, n))?;
        }
        Ok(())
    }

    /// A⁻¹B.
    pub(crate) fn solve(&self, engine: &Engine, mut b: Matrix<f64>) -> Matrix<f64> {
        let (n, columns) = (b.rows(), b.columns());
        if columns <= FEW {
            let mut sides = Matrix::from_fn(columns, n, |c, i| b.row(i)[c]);
            self.solve_few(engine, &mut sides);
            return Matrix::from_fn(n, columns, |i, c| sides.row(c)[i]);
        }
        let lower = operand(&self.lower);
        solve_lower(engine, lower, b.as_mut_slice(), columns);
        solve_lower_transposed(engine, lower, b.as_mut_slice(), columns);
        b
    }

    /// A⁻¹b for each row b of a few, panel by panel: what a panel has found is taken off all that
    /// is left, which threads share. Memory is read in long runs, once for all b.
    fn solve_few(&self, engine: &Engine, sides: &mut Matrix<f64>) {
        let (n, lower) = (self.lower.rows(), operand(&self.lower));
        debug_assert_eq!(sides.columns(), n, "one entry a row");
        let l = |i: usize, columns: Range<usize>| &self.lower.row(i)[columns];
        for start in (0..n).step_by(PANEL) {
            let end = n.min(start + PANEL);
            let split = rows(sides.as_mut_slice(), n).into_iter().map(|b| b.split_at_mut(end));
            let (mut found, left): (Vec<_>, Vec<_>) = split.unzip();
            for b in &mut found {
                for i in start..end {
                    b[i] = (b[i] - dot(l(i, start..i), &b[start..i])) / l(i, i..i + 1)[0];
                }
            }
            let tasks = split_columns(left, n - end, SHARE).into_iter().enumerate().collect();
            share(engine, tasks, |(part, left): (usize, Vec<&mut [f64]>)| {
                subtract_rows(engine, lower.part(end..n, start..end), part * SHARE, &found, start, left);
            });
        }
        for start in (0..n).step_by(PANEL).rev() {
            let end = n.min(start + PANEL);
            let split = rows(sides.as_mut_slice(), n).into_iter().map(|b| b.split_at_mut(start));
            let (left, mut found): (Vec<_>, Vec<_>) = split.unzip();
            for b in &mut found {
                for i in (start..end).rev() {
                    b[i - start] /= l(i, i..i + 1)[0];
                    let (left, found) = b.split_at_mut(i - start);
                    left.iter_mut().zip(l(i, start..i)).for_each(|(b, l)| *b -= l * found[0]);
                }
            }
            let factors: Vec<Vec<f64>> =
                found.iter().map(|b| b[..end - start].iter().map(|b| -b).collect()).collect();
            let tasks = split_columns(left, start, SHARE).into_iter().enumerate().collect();
            share(engine, tasks, |(part, left): (usize, Vec<&mut [f64]>)| {
                for (factors, b) in factors.iter().zip(left) {
                    let columns = part * SHARE..part * SHARE + b.len();
                    add_rows(engine.isa(), lower.part(start..end, columns), factors, b);
                }
            });
        }
    }

    /// tr (A − λI)A⁻¹ = n − λ·tr A⁻¹.
    pub(crate) fn degrees_of_freedom(&self, engine: &Engine, lambda: f64, check: Check<'_>) -> Result<f64> {
        Ok((self.lower.rows() as f64 - lambda * self.trace_of_inverse(engine, check)?).max(0.0))
    }

    /// L, row after row, without the zeros above the diagonal.
    pub(crate) fn packed(&self) -> Vec<f64> {
        (0..self.lower.rows()).flat_map(|i| &self.lower.row(i)[..=i]).copied().collect()
    }

    /// tr A⁻¹ = ‖L⁻¹‖².
    pub(crate) fn trace_of_inverse(&self, engine: &Engine, check: Check<'_>) -> Result<f64> {
        let mut trace = 0.0;
        inverse_columns(engine, &self.lower, check, |_, columns| {
            trace += columns.as_slice().iter().map(|x| x * x).sum::<f64>();
        })?;
        Ok(trace)
    }
}

/// The first `width` columns of a Cholesky factor, and what they leave of the other columns: in
/// place, for the lower triangle of `a`. Fails with the index of a pivot that is not positive.
fn eliminate(
    engine: &Engine,
    mut a: Vec<&mut [f64]>,
    width: usize,
    memory: &mut Vec<f64>,
) -> std::result::Result<(), usize> {
    let (corner, below) = a.split_at_mut(width);
    if width <= CORNER {
        factor_corner(corner)?;
    } else {
        for first in (0..width).step_by(CORNER) {
            let inner = corner[first..].iter_mut().map(|row| &mut row[first..width]).collect();
            eliminate(engine, inner, CORNER.min(width - first), memory).map_err(|index| first + index)?;
        }
    }
    if below.is_empty() {
        return Ok(());
    }
    let corner = Matrix::from_fn(width, width, |i, j| corner[i][j]);
    let triangle = Triangle::new(engine.isa(), operand(&corner));
    // Z = L₁₁⁻¹A₂₁ᵀ, so that vectors run along the rows of A.
    let count = below.len();
    memory.resize(memory.len().max(width * count), 0.0);
    let z = &mut memory[..width * count];
    let strips = split_columns(rows(z, count), count, STRIP);
    share(engine, strips.into_iter().zip(below.chunks_mut(STRIP)).collect(), |(mut z, below)| {
        let from: Vec<&[f64]> = below.iter().map(|row| &row[..width]).collect();
        transpose(engine.isa(), &from, &mut z);
        triangle.solve(&mut z);
        let from: Vec<&[f64]> = z.iter().map(|row| &**row).collect();
        let mut to: Vec<&mut [f64]> = below.iter_mut().map(|row| &mut row[..width]).collect();
        transpose(engine.isa(), &from, &mut to);
    });
    let z = Operand::new(z, width, count, count);
    let rest = below.iter_mut().enumerate().map(|(i, row)| &mut row[width..=width + i]);
    add_product(engine, -1.0, z.transposed(), z, rest.collect());
    Ok(())
}

/// Takes (rows of L)·(what was found from `start` on) off the entries of each side that stand in
/// those rows, from row `first` on.
fn subtract_rows(
    engine: &Engine,
    l: Operand<'_>,
    first: usize,
    found: &[&mut [f64]],
    start: usize,
    mut left: Vec<&mut [f64]>,
) {
    let mut along = [0.0; TOGETHER];
    let count = left.first().map_or(0, |b| b.len());
    for at in (0..count).step_by(TOGETHER) {
        let end = count.min(at + TOGETHER);
        let l = l.part(first + at..first + end, 0..l.columns());
        for (b, found) in left.iter_mut().zip(found) {
            let along = &mut along[..end - at];
            row_products(engine.isa(), l, &found[start..], along);
            b[at..end].iter_mut().zip(along).for_each(|(b, along)| *b -= *along);
        }
    }
}

/// L of a small matrix, row after row.
fn factor_corner(a: &mut [&mut [f64]]) -> std::result::Result<(), usize> {
    for i in 0..a.len() {
        let (before, from) = a.split_at_mut(i);
        let row = &mut *from[0];
        for (j, other) in before.iter().enumerate() {
            row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
        }
        let pivot = row[i] - dot(&row[..i], &row[..i]);
        if !(pivot > 0.0) {
            return Err(i);
        }
        row[i] = pivot.sqrt();
    }
    Ok(())
}

/// L⁻¹ of a lower triangular matrix, zeros above.
pub(crate) fn lower_inverse(engine: &Engine, lower: &Matrix<f64>, check: Check<'_>) -> Result<Matrix<f64>> {
    let mut inverse = Matrix::zeros(lower.rows(), lower.rows());
    inverse_columns(engine, lower, check, |start, columns| {
        for i in 0..columns.rows() {
            inverse.row_mut(start + i)[start..start + columns.columns()].copy_from_slice(columns.row(i));
        }
    })?;
    Ok(inverse)
}

/// Some columns of L⁻¹ after others: `take(start, columns)` gets the rows from `start` on of the columns from `start` on.
fn inverse_columns(
    engine: &Engine,
    lower: &Matrix<f64>,
    check: Check<'_>,
    mut take: impl FnMut(usize, &Matrix<f64>),
) -> Result<()> {
    let n = lower.rows();
    for start in (0..n).step_by(COLUMNS) {
        let (width, rows) = (COLUMNS.min(n - start), n - start);
        let mut columns = Matrix::from_fn(rows, width, |i, j| if i == j { 1.0 } else { 0.0 });
        solve_lower(engine, operand(lower).part(start..n, start..n), columns.as_mut_slice(), width);
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
    use super::super::multiply;
    use super::super::tests::{on_threads, stop_after, symmetric};
    use super::*;
    use bochner_testkit::{Absolute, assert_close, assert_same_bits, normals};

    #[test]
    fn factors_solve_invert_and_trace() {
        for n in [1, 2, 7, 129, 300] {
            let a = symmetric(n, 3);
            let x = Matrix::new(n, 2, normals(n, 2, 4)).unwrap();
            let cholesky = Cholesky::new(&Engine::default(), a.clone(), &|_| Ok(())).unwrap();
            assert_close(
                cholesky.solve(&Engine::default(), multiply(&Engine::default(), &a, &x)).as_slice(),
                x.as_slice(),
                Absolute(1e-8),
            );
            let (values, _) = bochner_testkit::symmetric_eigen(a.as_slice(), n);
            let trace: f64 = values.iter().map(|v| 1.0 / v).sum();
            assert_close(
                &[cholesky.trace_of_inverse(&Engine::default(), &|_| Ok(())).unwrap()],
                &[trace],
                Absolute(1e-8 * trace),
            );
            let mut lower = cholesky.lower.clone();
            (0..n).for_each(|i| lower.row_mut(i)[i + 1..].fill(0.0));
            let unit = multiply(
                &Engine::default(),
                &lower,
                &lower_inverse(&Engine::default(), &lower, &|_| Ok(())).unwrap(),
            );
            let identity = Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j)));
            assert_close(unit.as_slice(), identity.as_slice(), Absolute(1e-9));
        }
    }

    #[test]
    fn sides_are_solved_few_at_a_time_or_all_at_once() {
        for (n, columns) in [1, 5, 128, 129, 700].into_iter().flat_map(|n| [1, 2, 8, 9, 30].map(|c| (n, c))) {
            let (a, x) = (symmetric(n, 3), Matrix::new(n, columns, normals(n, columns, 6)).unwrap());
            let cholesky = Cholesky::new(&Engine::default(), a.clone(), &|_| Ok(())).unwrap();
            assert_close(
                cholesky.solve(&Engine::default(), multiply(&Engine::default(), &a, &x)).as_slice(),
                x.as_slice(),
                Absolute(1e-8),
            );
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
        let made = Cholesky::shifted(&Engine::default(), a.clone(), shifts, &|_| Ok(())).unwrap();
        (0..n).for_each(|i| a.row_mut(i)[i] += 1.5 * least);
        let directly = Cholesky::new(&Engine::default(), a.clone(), &|_| Ok(())).unwrap();
        assert_same_bits(&made.packed(), &directly.packed());
        (0..n).for_each(|i| a.row_mut(i)[i] -= 1.5 * least);
        let result = Cholesky::shifted(&Engine::default(), a, [0.0, 0.5 * least], &|_| Ok(()));
        assert!(matches!(result, Err(Error::NotPositiveDefinite { size: 300, .. })));
    }

    #[test]
    fn the_pivot_that_fails_is_named() {
        for bad in [0, 5, 128, 200] {
            let a = Matrix::from_fn(201, 201, |i, j| {
                f64::from(u8::from(i == j)) * if i == bad { -1.0 } else { 1.0 }
            });
            let result = Cholesky::new(&Engine::default(), a, &|_| Ok(()));
            assert!(matches!(result, Err(Error::NotPositiveDefinite { index, size: 201 }) if index == bad));
        }
    }

    #[test]
    fn threads_do_not_change_bits() {
        for n in [130, 1100] {
            let (a, b) = (symmetric(n, 3), Matrix::new(n, 1, normals(n, 1, 5)).unwrap());
            let two = Matrix::new(n, 2, normals(n, 2, 7)).unwrap();
            let [one, two, seven] = on_threads(|engine| {
                let cholesky = Cholesky::new(engine, a.clone(), &|_| Ok(())).unwrap();
                let mut bits = cholesky.solve(engine, b.clone()).as_slice().to_vec();
                bits.extend(cholesky.solve(engine, two.clone()).as_slice());
                bits.extend(lower_inverse(engine, &cholesky.lower, &|_| Ok(())).unwrap().as_slice());
                bits
            });
            assert_same_bits(&one, &two);
            assert_same_bits(&one, &seven);
        }
    }

    #[test]
    fn the_work_can_be_stopped_between_panels() {
        let a = symmetric(400, 1);
        assert!(matches!(
            Cholesky::new(&Engine::default(), a.clone(), &stop_after(2)),
            Err(Error::Interrupted)
        ));
        let cholesky = Cholesky::new(&Engine::default(), a, &stop_after(4)).unwrap();
        assert!(matches!(
            cholesky.trace_of_inverse(&Engine::default(), &stop_after(3)),
            Err(Error::Interrupted)
        ));
        assert!(cholesky.lower.rows() == 400);
    }
}

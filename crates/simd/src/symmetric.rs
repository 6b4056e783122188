//! Products of matrices and vectors in f64: the loops of a reduction to tridiagonal form.
//!
//! ```text
//! y += Ax, A symmetric      of whose rows the lower triangle is read, and each entry once
//! y(k) = Σⱼ r(k, j)·x(j)    y(j) += Σₖ factor(k)·r(k, j)    for some rows r
//! ```
//! These read memory for each multiplication: what counts is that each number is read once.

use crate::dispatch::{Task, dispatch};
use crate::lanes::Lanes;
use crate::{Isa, Operand};

/// y += Ax for the part of a symmetric matrix that lies in some rows of its lower triangle, and
/// mirrored in its upper one. Row i of `rows` is row `first` + i of A.
///
/// # Panics
/// If columns are what is contiguous, or if x, y or a row is too short.
pub fn symmetric_product(isa: Isa, rows: Operand<'_>, first: usize, x: &[f64], y: &mut [f64]) {
    let end = first + rows.rows();
    assert!(!rows.columns_are_contiguous() && rows.columns() >= end, "rows are too short");
    assert!(x.len() >= end && y.len() >= end, "vectors are too short");
    dispatch(isa, SymmetricProduct { rows, first, x, y });
}

struct SymmetricProduct<'a> {
    rows: Operand<'a>,
    first: usize,
    x: &'a [f64],
    y: &'a mut [f64],
}

impl Task<f64> for SymmetricProduct<'_> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = f64>, const R: usize>(self) {
        let SymmetricProduct { rows, first, x, y } = self;
        let count = rows.rows();
        let whole = count / R * R;
        for start in (0..whole).step_by(R) {
            let lines: [&[f64]; R] = std::array::from_fn(|i| rows.line(start + i));
            // SAFETY: rows, x and y have at least `first + start` entries; as `run`'s for the rest.
            unsafe { block::<L, R>(&lines, first + start, x, y) };
        }
        for i in whole..count {
            // SAFETY: as above.
            unsafe { block::<L, 1>(&[rows.line(i)], first + i, x, y) };
        }
    }
}

/// The rows from `first` on, left of and on the diagonal.
#[inline(always)]
unsafe fn block<L: Lanes<Elem = f64>, const R: usize>(
    rows: &[&[f64]; R],
    first: usize,
    x: &[f64],
    y: &mut [f64],
) {
    let whole = first / L::N * L::N;
    let mut along = [0.0; R];
    unsafe {
        let mut sums = [L::constant(0.0); R];
        let factors: [L; R] = std::array::from_fn(|i| L::splat(x[first + i]));
        for j in (0..whole).step_by(L::N) {
            let (x, to) = (L::load(x.as_ptr().add(j)), y.as_mut_ptr().add(j));
            let mut down = L::load(to);
            for i in 0..R {
                let a = L::load(rows[i].as_ptr().add(j));
                sums[i] = a.mul_add(x, sums[i]);
                down = a.mul_add(factors[i], down);
            }
            down.store(to);
        }
        for i in 0..R {
            along[i] = sums[i].sum();
        }
    }
    for i in 0..R {
        let (row, factor) = (rows[i], x[first + i]);
        for j in whole..first + i {
            along[i] += row[j] * x[j];
            y[j] += row[j] * factor;
        }
        y[first + i] += along[i] + row[first + i] * factor;
    }
}

/// `to[k]` = Σⱼ r(k, j)·x(j) for each row.
///
/// # Panics
/// If columns are what is contiguous, or if the shapes differ.
pub fn row_products(isa: Isa, rows: Operand<'_>, x: &[f64], to: &mut [f64]) {
    assert!(!rows.columns_are_contiguous() && rows.columns() == x.len(), "shapes differ");
    assert!(rows.rows() == to.len(), "shapes differ");
    dispatch(isa, RowProducts { rows, x, to });
}

struct RowProducts<'a> {
    rows: Operand<'a>,
    x: &'a [f64],
    to: &'a mut [f64],
}

impl Task<f64> for RowProducts<'_> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = f64>, const R: usize>(self) {
        let whole = self.x.len() / L::N * L::N;
        for (first, to) in (0..).step_by(R).zip(self.to.chunks_mut(R)) {
            // Rows that are missing are computed like the last one, and written nowhere.
            let rows: [&[f64]; R] = std::array::from_fn(|i| self.rows.line(first + i.min(to.len() - 1)));
            // SAFETY: x and all rows are equally long; as `run`'s for the rest.
            unsafe {
                let mut sums = [L::constant(0.0); R];
                for j in (0..whole).step_by(L::N) {
                    let x = L::load(self.x.as_ptr().add(j));
                    for i in 0..R {
                        sums[i] = L::load(rows[i].as_ptr().add(j)).mul_add(x, sums[i]);
                    }
                }
                for (i, to) in to.iter_mut().enumerate() {
                    *to = sums[i].sum();
                    (whole..self.x.len()).for_each(|j| *to += rows[i][j] * self.x[j]);
                }
            }
        }
    }
}

/// y += Σₖ factor(k)·(row k), in the order of rows.
///
/// # Panics
/// If columns are what is contiguous, or if the shapes differ.
pub fn add_rows(isa: Isa, rows: Operand<'_>, factors: &[f64], y: &mut [f64]) {
    assert!(!rows.columns_are_contiguous() && rows.columns() == y.len(), "shapes differ");
    assert!(rows.rows() == factors.len(), "shapes differ");
    dispatch(isa, AddRows { rows, factors, y });
}

struct AddRows<'a> {
    rows: Operand<'a>,
    factors: &'a [f64],
    y: &'a mut [f64],
}

impl Task<f64> for AddRows<'_> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = f64>, const R: usize>(self) {
        let count = self.factors.len();
        let whole = count / R * R;
        for first in (0..whole).step_by(R) {
            // SAFETY: y and all rows are equally long; as `run`'s for the rest.
            unsafe { add::<L, R>(self.rows, first, self.factors, self.y) };
        }
        for first in whole..count {
            // SAFETY: as above.
            unsafe { add::<L, 1>(self.rows, first, self.factors, self.y) };
        }
    }
}

/// `R` rows at once.
#[inline(always)]
unsafe fn add<L: Lanes<Elem = f64>, const R: usize>(
    rows: Operand<'_>,
    first: usize,
    factors: &[f64],
    y: &mut [f64],
) {
    let lines: [&[f64]; R] = std::array::from_fn(|i| rows.line(first + i));
    let whole = y.len() / L::N * L::N;
    unsafe {
        let splats: [L; R] = std::array::from_fn(|i| L::splat(factors[first + i]));
        for j in (0..whole).step_by(L::N) {
            let to = y.as_mut_ptr().add(j);
            let mut sum = L::load(to);
            for i in 0..R {
                sum = L::load(lines[i].as_ptr().add(j)).mul_add(splats[i], sum);
            }
            sum.store(to);
        }
    }
    for i in 0..R {
        (whole..y.len()).for_each(|j| y[j] += lines[i][j] * factors[first + i]);
    }
}

/// (x, y) ← (c·x + s·y, c·y − s·x) for each pair of entries.
///
/// # Panics
/// If the slices are not equally long.
pub fn rotate(isa: Isa, x: &mut [f64], y: &mut [f64], c: f64, s: f64) {
    assert!(x.len() == y.len(), "shapes differ");
    dispatch(isa, Rotate { x, y, c, s });
}

struct Rotate<'a> {
    x: &'a mut [f64],
    y: &'a mut [f64],
    c: f64,
    s: f64,
}

impl Task<f64> for Rotate<'_> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = f64>, const R: usize>(self) {
        let Rotate { x, y, c, s } = self;
        let whole = x.len() / L::N * L::N;
        // SAFETY: both are equally long; as `run`'s for the rest.
        unsafe {
            let (cosine, sine) = (L::splat(c), L::splat(s));
            for j in (0..whole).step_by(L::N) {
                let (to_x, to_y) = (x.as_mut_ptr().add(j), y.as_mut_ptr().add(j));
                let (a, b) = (L::load(to_x), L::load(to_y));
                a.mul(cosine).add(b.mul(sine)).store(to_x);
                b.mul(cosine).sub(a.mul(sine)).store(to_y);
            }
        }
        for (x, y) in x[whole..].iter_mut().zip(&mut y[whole..]) {
            (*x, *y) = (*x * c + *y * s, *y * c - *x * s);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner_testkit::{Absolute, assert_close, normals};

    #[test]
    fn symmetric_products_read_the_lower_triangle() {
        for isa in Isa::available() {
            for n in [1, 2, 5, 8, 9, 17, 40] {
                let (a, x) = (normals(n, n, 1), normals(n, 1, 2));
                let entry = |i: usize, j: usize| a[i.max(j) * n + i.min(j)];
                let expected: Vec<f64> = (0..n).map(|i| (0..n).map(|j| entry(i, j) * x[j]).sum()).collect();
                for cut in [0, n / 3, n] {
                    let mut y = vec![0.0; n];
                    let rows = Operand::new(&a, n, n, n);
                    symmetric_product(isa, rows.part(0..cut, 0..n), 0, &x, &mut y);
                    symmetric_product(isa, rows.part(cut..n, 0..n), cut, &x, &mut y);
                    assert_close(&y, &expected, Absolute(1e-13));
                }
            }
        }
    }

    #[test]
    fn rows_are_multiplied_added_and_rotated() {
        for isa in Isa::available() {
            for (count, n) in [(1, 1), (3, 4), (8, 7), (9, 33), (4, 0), (0, 4)] {
                let (r, x, factors) = (normals(count, n, 1), normals(n, 1, 2), normals(count, 1, 3));
                let rows = Operand::new(&r, count, n, n);
                let mut products = vec![0.0; count];
                row_products(isa, rows, &x, &mut products);
                let expected: Vec<f64> =
                    (0..count).map(|k| (0..n).map(|j| r[k * n + j] * x[j]).sum()).collect();
                assert_close(&products, &expected, Absolute(1e-13));
                let mut y = x.clone();
                add_rows(isa, rows, &factors, &mut y);
                let sum = |j: usize| (0..count).map(|k| factors[k] * r[k * n + j]).sum::<f64>();
                let expected: Vec<f64> = (0..n).map(|j| x[j] + sum(j)).collect();
                assert_close(&y, &expected, Absolute(1e-13));
                let (mut a, mut b) = (x.clone(), y.clone());
                rotate(isa, &mut a, &mut b, 0.6, 0.8);
                let first: Vec<f64> = (0..n).map(|j| 0.6 * x[j] + 0.8 * y[j]).collect();
                let second: Vec<f64> = (0..n).map(|j| 0.6 * y[j] - 0.8 * x[j]).collect();
                assert_close(&a, &first, Absolute(1e-14));
                assert_close(&b, &second, Absolute(1e-14));
            }
        }
    }
}

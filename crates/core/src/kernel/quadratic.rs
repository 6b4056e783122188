//! Bilinear kernels: a linear kernel with a metric.
//!
//! ```text
//! k(x, y) = xᵀAy        A diagonal, or A = BᵀB with few rows in B, or full, symmetric and positive semidefinite
//! ```
//! With a factor, k(x, y) = (Bx)·(By): the features are Bx, as many as B has rows. A matrix with a
//! negative eigenvalue is refused with that eigenvalue: k(v, v) < 0 for its eigenvector v, and no
//! features have negative lengths.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::width::list;
use crate::linalg::symmetric_eigen;
use crate::{Engine, Error, Matrix, Result};

/// The matrix A.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quadratic {
    /// A = diag(a), a not negative.
    Diagonal(Vec<f64>),
    /// A = BᵀB: the rows of B.
    Factor(Vec<Vec<f64>>),
    /// A itself, row by row.
    Full(Vec<Vec<f64>>),
}

/// The largest matrix whose eigenvalues are looked at.
const MOST_FULL: usize = 1024;

/// How far below zero an eigenvalue may come by rounding, as a part of the largest entry.
const ROUNDING: f64 = 1e-10;

impl Quadratic {
    /// The number of columns that it is made for.
    pub(super) fn columns(&self) -> usize {
        match self {
            Quadratic::Diagonal(a) => a.len(),
            Quadratic::Factor(rows) | Quadratic::Full(rows) => rows.first().map_or(0, Vec::len),
        }
    }

    pub(super) fn validate(&self) -> Result<()> {
        let wrong = |expected, found: String| {
            Err(Error::Parameter { name: "the matrix of bilinear", expected, found })
        };
        let (rows, columns) = match self {
            Quadratic::Diagonal(a) => (std::slice::from_ref(a), a.len()),
            Quadratic::Factor(rows) | Quadratic::Full(rows) => (rows.as_slice(), self.columns()),
        };
        if columns == 0 || rows.iter().any(|row| row.len() != columns) {
            return wrong("rows of one length, at least 1", "others".to_owned());
        }
        if let Some(x) = rows.iter().flatten().find(|x| !(x.abs() <= 1e18)) {
            return wrong("of numbers up to 1e18", x.to_string());
        }
        match self {
            Quadratic::Diagonal(a) => match a.iter().find(|x| **x < 0.0) {
                None => Ok(()),
                Some(negative) => wrong("without negative eigenvalues", format!("{negative}")),
            },
            Quadratic::Factor(_) => Ok(()),
            Quadratic::Full(rows) => check_full(rows),
        }
    }

    /// The number of rows of [`Quadratic::factor`].
    pub(crate) fn size(&self) -> usize {
        match self {
            Quadratic::Diagonal(a) => a.iter().filter(|x| **x > 0.0).count().max(1),
            Quadratic::Factor(rows) | Quadratic::Full(rows) => rows.len(),
        }
    }

    /// Rows of B with A = BᵀB.
    pub(crate) fn factor(&self) -> Matrix<f64> {
        match self {
            Quadratic::Diagonal(a) => {
                let kept: Vec<usize> = (0..a.len()).filter(|&j| a[j] > 0.0).collect();
                Matrix::from_fn(kept.len().max(1), a.len(), |i, j| {
                    if kept.get(i) == Some(&j) { a[j].sqrt() } else { 0.0 }
                })
            }
            Quadratic::Factor(rows) => Matrix::from_fn(rows.len(), self.columns(), |i, j| rows[i][j]),
            Quadratic::Full(rows) => pivoted_cholesky(rows),
        }
    }

    /// xᵀAy.
    pub(super) fn value(&self, pairs: impl Iterator<Item = (usize, f64, f64)>) -> f64 {
        match self {
            Quadratic::Diagonal(a) => pairs.map(|(j, x, y)| a[j] * x * y).sum(),
            Quadratic::Factor(rows) => {
                let pairs: Vec<_> = pairs.collect();
                let image = |row: &Vec<f64>| {
                    pairs.iter().fold((0.0, 0.0), |(a, b), &(j, x, y)| (a + row[j] * x, b + row[j] * y))
                };
                rows.iter().map(image).map(|(a, b)| a * b).sum()
            }
            Quadratic::Full(rows) => {
                let pairs: Vec<_> = pairs.collect();
                let row = |&(i, x, _): &(usize, f64, f64)| {
                    x * pairs.iter().map(|&(j, _, y)| rows[i][j] * y).sum::<f64>()
                };
                pairs.iter().map(row).sum()
            }
        }
    }

    /// Ay: its gradient in x.
    pub(super) fn image(&self, y: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
        let times = |row: &Vec<f64>| row.iter().zip(y.clone()).map(|(a, y)| a * y).sum::<f64>();
        match self {
            Quadratic::Diagonal(a) => a.iter().zip(y).map(|(a, y)| a * y).collect(),
            Quadratic::Factor(rows) => {
                let mut image = vec![0.0; self.columns()];
                for row in rows {
                    let part = times(row);
                    image.iter_mut().zip(row).for_each(|(to, b)| *to += b * part);
                }
                image
            }
            Quadratic::Full(rows) => rows.iter().map(times).collect(),
        }
    }
}

/// Rows of B with A = BᵀB, by Cholesky with the largest pivot first; rows beyond the rank are zero.
///
/// A model file holds coefficients of Bx and not B itself, so that B has to have the same bits
/// wherever the file is read: sums are plain loops in a fixed order, which no instruction set
/// changes. (Eigenvectors would not do: those of equal eigenvalues are any basis of their space,
/// and rounding chooses it.)
fn pivoted_cholesky(a: &[Vec<f64>]) -> Matrix<f64> {
    let n = a.len();
    let mut factor = Matrix::zeros(n, n);
    let mut diagonal: Vec<f64> = (0..n).map(|j| a[j][j]).collect();
    let rounding = n as f64 * f64::EPSILON * diagonal.iter().fold(0.0, |most: f64, x| most.max(*x));
    for k in 0..n {
        let largest = |best: usize, j: usize| if diagonal[j] > diagonal[best] { j } else { best };
        let pivot = (0..n).fold(0, largest);
        if !(diagonal[pivot] > rounding) {
            break;
        }
        let mut row = a[pivot].clone();
        for above in (0..k).map(|l| factor.row(l)) {
            row.iter_mut().zip(above).for_each(|(to, b)| *to -= above[pivot] * b);
        }
        let root = diagonal[pivot].sqrt();
        row.iter_mut().for_each(|to| *to /= root);
        row[pivot] = root;
        diagonal.iter_mut().zip(&row).for_each(|(left, b)| *left -= b * b);
        diagonal[pivot] = f64::NEG_INFINITY;
        factor.row_mut(k).copy_from_slice(&row);
    }
    factor
}

fn dense(rows: &[Vec<f64>]) -> Matrix<f64> {
    Matrix::from_fn(rows.len(), rows.len(), |i, j| rows[i][j])
}

/// Square, symmetric, no negative eigenvalue.
fn check_full(rows: &[Vec<f64>]) -> Result<()> {
    let n = rows.len();
    let name = "the matrix of bilinear";
    if n > MOST_FULL {
        let found = format!("{n} rows; give a factor instead");
        return Err(Error::Parameter { name, expected: "of at most 1,024 rows", found });
    }
    if rows[0].len() != n {
        return Err(Error::Parameter {
            name, expected: "square", found: format!("{n} × {}", rows[0].len())
        });
    }
    let largest = rows.iter().flatten().fold(0.0f64, |most, x| most.max(x.abs()));
    let apart = |&(i, j): &(usize, usize)| (rows[i][j] - rows[j][i]).abs() > ROUNDING * largest;
    if let Some((i, j)) = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).find(apart) {
        let found = format!("{} at ({i}, {j}) and {} at ({j}, {i})", rows[i][j], rows[j][i]);
        return Err(Error::Parameter { name, expected: "symmetric", found });
    }
    let eigenvalue =
        symmetric_eigen(&Engine::single_thread(), dense(rows), &|_| Ok(()))?.0.last().copied().unwrap_or(0.0);
    if eigenvalue < -ROUNDING * largest * n as f64 {
        return Err(Error::NotPositiveSemidefinite { what: "bilinear".to_owned(), eigenvalue });
    }
    Ok(())
}

impl fmt::Display for Quadratic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let matrix = |f: &mut fmt::Formatter<'_>, rows: &[Vec<f64>]| {
            f.write_str("[")?;
            for (i, row) in rows.iter().enumerate() {
                f.write_str(if i > 0 { "," } else { "" })?;
                list(f, row)?;
            }
            f.write_str("]")
        };
        match self {
            Quadratic::Diagonal(a) => {
                f.write_str("diagonal=")?;
                list(f, a)
            }
            Quadratic::Factor(rows) => {
                f.write_str("factor=")?;
                matrix(f, rows)
            }
            Quadratic::Full(rows) => {
                f.write_str("matrix=")?;
                matrix(f, rows)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner_testkit::{Absolute, assert_close, assert_same_bits, normals};

    fn full(a: &Matrix<f64>) -> Quadratic {
        Quadratic::Full((0..a.rows()).map(|i| a.row(i).to_vec()).collect())
    }

    /// BᵀB.
    fn square(b: &Matrix<f64>) -> Matrix<f64> {
        let entry = |i: usize, j: usize| (0..b.rows()).map(|k| b.row(k)[i] * b.row(k)[j]).sum();
        Matrix::from_fn(b.columns(), b.columns(), entry)
    }

    #[test]
    fn the_square_of_the_factor_is_the_matrix() {
        for (n, rank) in [(1, 1), (2, 1), (5, 5), (12, 3), (40, 40), (40, 7)] {
            let a = square(&Matrix::new(rank, n, normals(rank, n, 1)).unwrap());
            let factor = full(&a).factor();
            assert_eq!((factor.rows(), factor.columns()), (n, n));
            assert_close(square(&factor).as_slice(), a.as_slice(), Absolute(1e-12 * n as f64));
            let used = (0..n).filter(|&k| factor.row(k).iter().any(|b| b.abs() > 1e-6)).count();
            assert_eq!(used, rank);
        }
        assert_same_bits(full(&Matrix::zeros(3, 3)).factor().as_slice(), &[0.0; 9]);
    }

    /// Model files hold coefficients of Bx and not B: I + 11ᵀ, whose eigenvectors are any basis, by
    /// hand.
    #[test]
    fn the_factor_is_the_same_everywhere() {
        let factor = full(&Matrix::from_fn(3, 3, |i, j| if i == j { 2.0 } else { 1.0 })).factor();
        let (r, s) = (2f64.sqrt(), 1.5f64.sqrt());
        let below = 1.0 - (1.0 / r) * (1.0 / r);
        assert_close(
            factor.as_slice(),
            &[r, 1.0 / r, 1.0 / r, 0.0, s, 0.5 / s, 0.0, 0.0, (4.0f64 / 3.0).sqrt()],
            Absolute(1e-15),
        );
        assert!((factor.row(1)[2] - below / s).abs() < 1e-15);
    }
}

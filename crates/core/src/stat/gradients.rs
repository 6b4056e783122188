//! Along which directions functions change: the mean outer product of their gradients.
//!
//! ```text
//! M = Σᵢ wᵢ Σ_o ∇f_o(xᵢ)∇f_o(xᵢ)ᵀ / Σᵢ wᵢ                vᵀMv = mean of (∂f/∂v)², summed over outputs
//! ```
//! A function of Ux alone has ∇f in the rows of U everywhere: M has their span, and nothing else. Its diagonal says how much each
//! column matters. Sums are in f64, a piece of a block after another, whichever threads share the products. `docs/book/metric.md`.

use super::Statistic;
use crate::linalg::{dot, multiply};
use crate::{Error, Map, Matrix, OwnedRows, Result, Rows, Scalar};

/// Rows whose gradients are held at once: at least, as they share one read of the frequencies, and at most; and numbers of these gradients between.
const FEWEST: usize = 16;
const PIECE: usize = 1024;
const NUMBERS: usize = 1 << 20;

/// Bytes that a piece of rows takes beside the sums: its gradients, and what they are made of.
pub(crate) fn piece_bytes(columns: usize, outputs: usize) -> u64 {
    let fewest = (FEWEST as u64).saturating_mul(columns as u64).saturating_mul(outputs as u64);
    4 * 8 * fewest.max(NUMBERS as u64)
}

/// Sums of outer products of gradients, all of them or their diagonal.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradients {
    weight: f64,
    columns: usize,
    /// d×d, or d.
    sums: Vec<f64>,
}

impl Gradients {
    /// Of no rows: d² numbers.
    pub fn full(columns: usize) -> Self {
        Gradients { weight: 0.0, columns, sums: vec![0.0; columns * columns] }
    }

    /// Of no rows, the diagonal alone: d numbers.
    pub fn diagonal(columns: usize) -> Self {
        Gradients { weight: 0.0, columns, sums: vec![0.0; columns] }
    }

    /// Reads rows, as the map takes them, on the threads of the current pool. `coefficients` are outputs × features; a map without gradients is an error.
    pub fn absorb<T: Scalar>(
        &mut self,
        map: &Map,
        coefficients: &Matrix<f64>,
        rows: &Rows<'_, T>,
        weight: impl Fn(usize) -> f64,
    ) -> Result<()> {
        let (expected, found) = (map.input_dim(), rows.columns());
        if found != expected || self.columns != expected {
            return Err(Error::ColumnCount {
                expected,
                found: if found == expected { self.columns } else { found },
            });
        }
        let (expected, found) = (map.output_dim(), coefficients.columns());
        if found != expected {
            return Err(Error::Length { what: "coefficients", expected, found });
        }
        let piece = (NUMBERS / (self.columns * coefficients.rows()).max(1)).clamp(FEWEST, PIECE);
        for start in (0..rows.count()).step_by(piece) {
            let range = start..rows.count().min(start + piece);
            let weights: Vec<f64> = range.clone().map(&weight).collect();
            let piece = rows.slice(range);
            let mut double = Matrix::zeros(piece.count(), piece.columns());
            let mut row = vec![T::default(); piece.columns()];
            for i in 0..piece.count() {
                piece.densify(i, &mut row);
                double.row_mut(i).iter_mut().zip(&row).for_each(|(to, x)| *to = x.to_f64());
            }
            let double = OwnedRows::Dense(double);
            for gradients in map.gradients(&double.view(), coefficients)? {
                self.add(gradients, &weights);
            }
            self.weight += weights.iter().sum::<f64>();
        }
        Ok(())
    }

    /// Adds Σ w gᵢgᵢᵀ.
    fn add(&mut self, mut gradients: Matrix<f64>, weights: &[f64]) {
        for (i, weight) in weights.iter().enumerate() {
            let root = weight.max(0.0).sqrt();
            gradients.row_mut(i).iter_mut().for_each(|g| *g *= root);
        }
        let transposed = Matrix::from_fn(self.columns, gradients.rows(), |j, i| gradients.row(i)[j]);
        if self.is_full() {
            let products = multiply(&transposed, &gradients);
            self.sums.iter_mut().zip(products.as_slice()).for_each(|(sum, p)| *sum += p);
        } else {
            let squares = |j: usize| dot(transposed.row(j), transposed.row(j));
            self.sums.iter_mut().enumerate().for_each(|(j, sum)| *sum += squares(j));
        }
    }

    /// Whether all of M is summed, or its diagonal alone.
    pub(crate) fn is_full(&self) -> bool {
        self.sums.len() != self.columns || self.columns == 1
    }

    /// M, symmetric; none where only its diagonal was summed.
    pub fn matrix(&self) -> Option<Matrix<f64>> {
        let d = self.columns;
        self.is_full().then(|| {
            Matrix::from_fn(d, d, |i, j| self.mean(0.5 * (self.sums[i * d + j] + self.sums[j * d + i])))
        })
    }

    /// The diagonal of M: the mean square of each partial derivative.
    pub fn of_columns(&self) -> Vec<f64> {
        let step = if self.is_full() { self.columns + 1 } else { 1 };
        self.sums.iter().step_by(step.max(1)).map(|sum| self.mean(*sum)).collect()
    }

    /// M ← AMAᵀ, of all of it.
    pub(crate) fn turn(&mut self, a: &Matrix<f64>) {
        let d = self.columns;
        let matrix = Matrix::from_fn(d, d, |i, j| self.sums[i * d + j]);
        let transposed = Matrix::from_fn(d, d, |i, j| a.row(j)[i]);
        let product = multiply(&multiply(a, &matrix), &transposed);
        self.sums.copy_from_slice(product.as_slice());
    }

    /// The same with a diagonal A, of the diagonal alone.
    pub(crate) fn scale(&mut self, factors: &[f64]) {
        self.sums.iter_mut().zip(factors).for_each(|(sum, factor)| *sum *= factor * factor);
    }

    /// Σ w.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    fn mean(&self, sum: f64) -> f64 {
        if self.weight > 0.0 { sum / self.weight } else { 0.0 }
    }
}

impl Statistic for Gradients {
    /// Of the same columns; where one has the diagonal alone, so has the sum.
    fn merge(&mut self, other: &Self) {
        if self.is_full() && !other.is_full() {
            self.sums = self.sums.iter().copied().step_by(self.columns + 1).collect();
        }
        let step = if other.is_full() && !self.is_full() { self.columns + 1 } else { 1 };
        self.weight += other.weight;
        self.sums.iter_mut().zip(other.sums.iter().step_by(step)).for_each(|(sum, more)| *sum += more);
    }
}

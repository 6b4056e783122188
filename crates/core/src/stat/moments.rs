//! Mean and variance of each column.
//!
//! ```text
//! w, μⱼ = Σ wᵢxᵢⱼ / w,  mⱼ = Σ wᵢ(xᵢⱼ − μⱼ)²          merged:  δ = μ' − μ,  μ ← μ + δ·w'/(w + w'),  m ← m + m' + δ²·w·w'/(w + w')
//! ```
//! A piece of a block is summed about its own mean and merged (Chan et al.), so that columns far from zero keep their digits. Pieces
//! are merged in order, whichever thread summed them.

use super::Statistic;
use crate::{Engine, Rows, Scalar};

/// Rows summed about one mean.
const PIECE: usize = 512;

/// Weighted mean and variance of each column.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    weight: f64,
    mean: Vec<f64>,
    squares: Vec<f64>,
}

impl Moments {
    /// Of no rows.
    pub fn zero(columns: usize) -> Self {
        Moments { weight: 0.0, mean: vec![0.0; columns], squares: vec![0.0; columns] }
    }

    /// Reads a block.
    #[inline(never)]
    pub fn absorb<T: Scalar>(
        &mut self,
        engine: &Engine,
        rows: &Rows<'_, T>,
        weight: &(dyn Fn(usize) -> f64 + Sync),
    ) {
        let columns = self.mean.len();
        let piece = |p: usize| {
            let range = p * PIECE..rows.count().min((p + 1) * PIECE);
            Moments::of(&rows.slice(range.clone()), columns, &|i| weight(range.start + i))
        };
        let pieces = engine.map(rows.count().div_ceil(PIECE), &piece);
        pieces.iter().for_each(|piece| self.merge(piece));
    }

    /// The moments of a piece.
    fn of<T: Scalar>(rows: &Rows<'_, T>, columns: usize, weight: &dyn Fn(usize) -> f64) -> Moments {
        let mut block = Moments::zero(columns);
        let mut stored = vec![0.0; columns];
        for i in 0..rows.count() {
            let w = weight(i);
            block.weight += w;
            for (j, x) in rows.entries(i) {
                block.mean[j as usize] += w * x.to_f64();
                stored[j as usize] += w;
            }
        }
        if block.weight > 0.0 {
            block.mean.iter_mut().for_each(|sum| *sum /= block.weight);
            for i in 0..rows.count() {
                for (j, x) in rows.entries(i) {
                    block.squares[j as usize] += weight(i) * (x.to_f64() - block.mean[j as usize]).powi(2);
                }
            }
            // Entries that are zero were not visited.
            for (j, stored) in stored.iter().enumerate() {
                block.squares[j] += (block.weight - stored).max(0.0) * block.mean[j].powi(2);
            }
        }
        block
    }

    /// Mean of each column.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Standard deviation of each column (about the mean, divided by the sum of weights).
    pub fn deviation(&self) -> Vec<f64> {
        self.squares.iter().map(|m| (m / self.weight).sqrt()).collect()
    }

    /// Sum of weights.
    pub fn weight(&self) -> f64 {
        self.weight
    }
}

impl Statistic for Moments {
    fn merge(&mut self, other: &Self) {
        let weight = self.weight + other.weight;
        if other.weight > 0.0 {
            for j in 0..self.mean.len() {
                let shift = other.mean[j] - self.mean[j];
                self.mean[j] += shift * (other.weight / weight);
                self.squares[j] += other.squares[j] + shift * shift * (self.weight * other.weight / weight);
            }
            self.weight = weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Csr, Matrix};
    use bochner_testkit::{Relative, assert_close, normals};

    #[test]
    fn reading_in_two_parts_equals_reading_at_once_and_a_naive_sum() {
        let engine = &Engine::default();
        let (n, d) = (37, 3);
        // Far from zero: sums of squares would lose nine digits.
        let x = Matrix::new(n, d, normals(n, d, 1).iter().map(|x| x + 1e6).collect()).unwrap();
        let weights: Vec<f64> = (0..n).map(|i| (i % 4) as f64).collect();
        let rows = Rows::from(&x);
        let total: f64 = weights.iter().sum();
        let naive: Vec<f64> = (0..d)
            .map(|j| {
                let mean = (0..n).map(|i| weights[i] * (x.row(i)[j] - 1e6)).sum::<f64>() / total;
                ((0..n).map(|i| weights[i] * (x.row(i)[j] - 1e6 - mean).powi(2)).sum::<f64>() / total).sqrt()
            })
            .collect();
        for cut in 0..=n {
            let mut moments = Moments::zero(d);
            moments.absorb(engine, &rows.slice(0..cut), &|i| weights[i]);
            let mut rest = Moments::zero(d);
            rest.absorb(engine, &rows.slice(cut..n), &|i| weights[cut + i]);
            moments.merge(&rest);
            assert_close(&moments.deviation(), &naive, Relative(1e-9));
        }
    }

    #[test]
    fn zeros_that_are_not_stored_count() {
        let engine = &Engine::default();
        let sparse = Csr::new(2, vec![0, 1, 1, 2, 2], vec![0, 0], vec![2.0, 4.0]).unwrap();
        let mut moments = Moments::zero(2);
        moments.absorb(engine, &Rows::from(&sparse), &|_| 1.0);
        assert_close(moments.mean(), &[1.5, 0.0], Relative(1e-15));
        assert_close(&moments.deviation(), &[2.75f64.sqrt(), 0.0], Relative(1e-15));
    }
}

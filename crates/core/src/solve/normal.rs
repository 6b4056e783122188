//! Normal equations of ridge regression.
//!
//! ```text
//! minimise (1/Σw) Σ wᵢ(yᵢ − c·zᵢ − b)² + λ‖c‖²
//! (S + λI)c = s,   b = ȳ − c·z̄,   S = ZᵀWZ/Σw − z̄z̄ᵀ,   s = ZᵀWy/Σw − z̄ȳ
//! ```
//! The intercept is not penalised and so drops out by centring; without one, z̄ and ȳ are zero.

use crate::engine::Check;
use crate::linalg::Cholesky;
use crate::stat::Sums;
use crate::{Engine, Matrix, Result};

/// S, s and the means, for all outputs at once.
#[derive(Clone, Debug)]
pub(crate) struct Normal {
    pub(crate) matrix: Matrix<f64>,
    pub(crate) sides: Matrix<f64>,
    feature_means: Vec<f64>,
    target_means: Vec<f64>,
    /// Σwy²/Σw − ȳ² of each output.
    target_variances: Vec<f64>,
}

/// Coefficients and intercepts for all outputs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Solution {
    /// Features × outputs.
    pub(crate) coefficients: Matrix<f64>,
    pub(crate) intercept: Vec<f64>,
}

/// What is known beside the coefficients.
pub(crate) struct Factored {
    /// Of S + λI.
    pub(crate) cholesky: Cholesky,
    pub(crate) feature_means: Vec<f64>,
    /// The mean squared error of each output.
    pub(crate) squares: Vec<f64>,
}

impl Normal {
    pub(crate) fn new(engine: &Engine, sums: Sums, intercept: bool) -> Normal {
        let weight = sums.weight;
        let mean = |sums: &[f64]| -> Vec<f64> {
            sums.iter().map(|sum| if intercept { sum / weight } else { 0.0 }).collect()
        };
        let (feature_means, target_means) = (mean(&sums.features), mean(&sums.targets));
        let squares = sums.target_squares.iter().zip(&target_means);
        let target_variances = squares.map(|(square, mean)| square / weight - mean * mean).collect();
        let (mut matrix, mut sides) = (sums.products, sums.cross);
        let features = feature_means.len();
        engine.for_each_chunk(matrix.as_mut_slice(), features, &|i, row| {
            let zi = feature_means[i];
            row.iter_mut().zip(&feature_means).for_each(|(s, zj)| *s = *s / weight - zi * zj);
        });
        for (i, zi) in feature_means.iter().enumerate() {
            for (s, y) in sides.row_mut(i).iter_mut().zip(&target_means) {
                *s = *s / weight - zi * y;
            }
        }
        Normal { matrix, sides, feature_means, target_means, target_variances }
    }

    /// tr S: the mean squared length of a centred row of features, the unit of λ.
    pub(crate) fn trace(&self) -> f64 {
        (0..self.matrix.rows()).map(|i| self.matrix.row(i)[i]).sum()
    }

    /// Solves at one λ, and keeps what else there is to know.
    pub(crate) fn factor(
        mut self,
        engine: &Engine,
        lambda: f64,
        check: Check<'_>,
    ) -> Result<(Solution, Factored)> {
        for i in 0..self.matrix.rows() {
            self.matrix.row_mut(i)[i] += lambda;
        }
        let cholesky = Cholesky::new(engine, std::mem::take(&mut self.matrix), check)?;
        let coefficients = cholesky.solve(engine, self.sides.clone());
        // (1/Σw) Σ w(y − c·z − b)² = var y − c·s − λ‖c‖², by the equations that c solves.
        let residual = |o: usize| {
            let each = (0..coefficients.rows()).map(|j| (coefficients.row(j)[o], self.sides.row(j)[o]));
            let explained: f64 = each.map(|(c, s)| c * s + lambda * c * c).sum();
            (self.target_variances[o] - explained).max(0.0)
        };
        let squares = (0..coefficients.columns()).map(residual).collect();
        let solution = self.with_intercept(coefficients);
        Ok((solution, Factored { cholesky, feature_means: self.feature_means, squares }))
    }

    /// Adds the intercepts that go with some coefficients.
    pub(crate) fn with_intercept(&self, coefficients: Matrix<f64>) -> Solution {
        let mut intercept = self.target_means.clone();
        for (j, mean) in self.feature_means.iter().enumerate() {
            for (b, c) in intercept.iter_mut().zip(coefficients.row(j)) {
                *b -= c * mean;
            }
        }
        Solution { coefficients, intercept }
    }
}

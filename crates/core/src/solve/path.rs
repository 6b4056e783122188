//! The whole path of λ from one decomposition.
//!
//! ```text
//! S = QTQᵀ, T tridiagonal      (S + λI)⁻¹s = Q(T + λI)⁻¹Qᵀs
//! ```
//! T + λI is factored and solved in O(D) for each λ and output: all of them together cost two applications of Q. Reaching T takes
//! 4/3·D³ flops; going on to eigenvectors would take several times as many and give the same coefficients.
//! Cross-validation does this once for each fold, on the sums of the other folds, and reads the error from the fold's own sums:
//!
//! ```text
//! Σ w(y − c·z − b)² = Σwy² − 2c·Zᵀwy + cᵀ(ZᵀWZ)c − 2b(Σwy − c·ZᵀW1) + b²Σw
//! ```

use crate::linalg::{Tridiagonal, multiply};
use crate::stat::Sums;
use crate::{Matrix, solve::Normal};

/// The solutions for a range of λ.
pub(crate) struct Path {
    normal: Normal,
    form: Tridiagonal,
    /// Qᵀs.
    sides: Matrix<f64>,
}

impl Path {
    /// Decomposes, on this thread.
    pub(crate) fn new(mut normal: Normal) -> Path {
        let form = Tridiagonal::new(std::mem::take(&mut normal.matrix));
        let mut sides = std::mem::take(&mut normal.sides);
        form.rotate(&mut sides);
        Path { normal, form, sides }
    }

    /// For each λ, Σ w(y − ŷ)² over `held_out` rows and all outputs; infinite where λ is too small for the matrix.
    pub(crate) fn errors(&self, lambdas: &[f64], held_out: &Sums) -> Vec<f64> {
        let outputs = self.sides.columns();
        // Coefficients of all λ and outputs side by side.
        let mut all = Matrix::zeros(self.sides.rows(), lambdas.len() * outputs);
        let solved: Vec<bool> =
            (0..lambdas.len()).map(|l| self.solve(lambdas[l], &mut all, l * outputs)).collect();
        self.form.rotate_back(&mut all);
        let images = multiply(&held_out.products, &all);
        let columns = |matrix: &Matrix<f64>, start: usize| {
            Matrix::from_fn(matrix.rows(), outputs, |i, o| matrix.row(i)[start + o])
        };
        (0..lambdas.len())
            .map(|l| {
                if !solved[l] {
                    return f64::INFINITY;
                }
                let solution = self.normal.with_intercept(columns(&all, l * outputs));
                let image = columns(&images, l * outputs);
                let error: f64 = (0..outputs)
                    .map(|o| {
                        let along = |f: &dyn Fn(usize) -> f64| -> f64 {
                            (0..image.rows()).map(|j| solution.coefficients.row(j)[o] * f(j)).sum()
                        };
                        let b = solution.intercept[o];
                        held_out.target_squares[o] - 2.0 * along(&|j| held_out.cross.row(j)[o])
                            + along(&|j| image.row(j)[o])
                            - 2.0 * b * (held_out.targets[o] - along(&|j| held_out.features[j]))
                            + b * b * held_out.weight
                    })
                    .sum();
                // Cancellation leaves little below zero; much of it means that λ is too small for the precision of the sums.
                let scale: f64 = held_out.target_squares.iter().sum();
                if error < -1e-6 * scale { f64::INFINITY } else { error.max(0.0) }
            })
            .collect()
    }

    /// (T + λI)⁻¹Qᵀs into the columns from `start` on; false if T + λI is not positive definite.
    fn solve(&self, lambda: f64, to: &mut Matrix<f64>, start: usize) -> bool {
        let (n, outputs) = (self.sides.rows(), self.sides.columns());
        let off = &self.form.off_diagonal;
        // T + λI = LDLᵀ, L with ones on the diagonal and `ratios` below it.
        let mut pivots = Vec::with_capacity(n);
        let mut ratios = Vec::with_capacity(n);
        for i in 0..n {
            let carried = if i == 0 { 0.0 } else { ratios[i - 1] * off[i - 1] };
            let pivot = self.form.diagonal[i] + lambda - carried;
            if !(pivot > 0.0) {
                return false;
            }
            pivots.push(pivot);
            ratios.push(if i + 1 < n { off[i] / pivot } else { 0.0 });
        }
        for o in 0..outputs {
            let column = start + o;
            for i in 0..n {
                let carried = if i == 0 { 0.0 } else { ratios[i - 1] * to.row(i - 1)[column] };
                to.row_mut(i)[column] = self.sides.row(i)[o] - carried;
            }
            for i in (0..n).rev() {
                let carried = if i + 1 == n { 0.0 } else { ratios[i] * to.row(i + 1)[column] };
                to.row_mut(i)[column] = to.row(i)[column] / pivots[i] - carried;
            }
        }
        true
    }
}

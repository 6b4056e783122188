//! The whole path of λ from one decomposition.
//!
//! ```text
//! S = QBQᵀ, B a band      (S + λI)⁻¹s = Q(B + λI)⁻¹Qᵀs
//! ```
//! B + λI is factored and solved in time linear in D for each λ and output: all of them together cost two applications of Q. Reaching B takes
//! ⅔·D³ multiply-adds in matrix products; going on to eigenvectors would take several times as long and give the same coefficients.
//! Cross-validation does this once for each fold, on the sums of the other folds, and reads the error from the fold's own sums:
//!
//! ```text
//! Σ w(y − c·z − b)² = Σwy² − 2c·Zᵀwy + cᵀ(ZᵀWZ)c − 2b(Σwy − c·ZᵀW1) + b²Σw
//! ```

use crate::engine::Check;
use crate::linalg::{Band, multiply};
use crate::stat::Sums;
use crate::{Engine, Matrix, Result, solve::Normal};

/// The solutions for a range of λ.
pub(crate) struct Path {
    normal: Normal,
    form: Band,
    /// Qᵀs.
    sides: Matrix<f64>,
}

impl Path {
    /// Decomposes.
    pub(crate) fn new(engine: &Engine, mut normal: Normal, check: Check<'_>) -> Result<Path> {
        let form = Band::new(engine, std::mem::take(&mut normal.matrix), check)?;
        let mut sides = std::mem::take(&mut normal.sides);
        form.rotate(engine, &mut sides);
        Ok(Path { normal, form, sides })
    }

    /// For each λ, Σ w(y − ŷ)² over `held_out` rows and all outputs; infinite where λ is too small for the matrix. What is left takes little beside the decomposition: `check` is told that all is done.
    pub(crate) fn errors(
        &self,
        engine: &Engine,
        lambdas: &[f64],
        held_out: &Sums,
        check: Check<'_>,
    ) -> Result<Vec<f64>> {
        let scale: f64 = held_out.target_squares.iter().sum();
        let each = self.errors_by_output(engine, lambdas, held_out, check)?;
        Ok(each.into_iter().map(|errors| cleaned(errors.into_iter().sum(), scale)).collect())
    }

    /// The same for each output: by the best λ of its own.
    pub(crate) fn best_errors(
        &self,
        engine: &Engine,
        lambdas: &[f64],
        held_out: &Sums,
        check: Check<'_>,
    ) -> Result<Vec<f64>> {
        let mut best = vec![f64::INFINITY; self.sides.columns()];
        for errors in self.errors_by_output(engine, lambdas, held_out, check)? {
            for ((best, error), scale) in best.iter_mut().zip(errors).zip(&held_out.target_squares) {
                *best = best.min(cleaned(error, *scale));
            }
        }
        Ok(best)
    }

    /// For each λ, those of all outputs.
    fn errors_by_output(
        &self,
        engine: &Engine,
        lambdas: &[f64],
        held_out: &Sums,
        check: Check<'_>,
    ) -> Result<Vec<Vec<f64>>> {
        let outputs = self.sides.columns();
        let solutions = engine.map(lambdas.len(), &|l| self.form.solve(lambdas[l], &self.sides));
        check(1.0)?;
        // Coefficients of all λ and outputs side by side.
        let mut all = Matrix::from_fn(self.sides.rows(), lambdas.len() * outputs, |i, column| {
            solutions[column / outputs].as_ref().map_or(0.0, |solution| solution.row(i)[column % outputs])
        });
        self.form.rotate_back(engine, &mut all);
        check(1.0)?;
        let images = multiply(engine, &held_out.products, &all);
        check(1.0)?;
        let columns = |matrix: &Matrix<f64>, start: usize| {
            Matrix::from_fn(matrix.rows(), outputs, |i, o| matrix.row(i)[start + o])
        };
        let of_lambda = (0..lambdas.len()).map(|l| {
            if solutions[l].is_none() {
                return vec![f64::INFINITY; outputs];
            }
            let solution = self.normal.with_intercept(columns(&all, l * outputs));
            let image = columns(&images, l * outputs);
            (0..outputs)
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
                .collect()
        });
        Ok(of_lambda.collect())
    }
}

/// Cancellation leaves little below zero; much of it means that λ is too small for the precision of the sums.
fn cleaned(error: f64, scale: f64) -> f64 {
    if error < -1e-6 * scale { f64::INFINITY } else { error.max(0.0) }
}

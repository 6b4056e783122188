//! Principal components.
//!
//! ```text
//! S = (1/Σw) Σ wᵢ(xᵢ − x̄)(xᵢ − x̄)ᵀ = Σ λₖvₖvₖᵀ,   λ₁ ≥ λ₂ ≥ …         coordinates of x: vₖ·(x − x̄)
//! ```
//! One pass over the rows for the sums, one decomposition of a d × d matrix.

use crate::linalg::symmetric_eigen;
use crate::solve::Normal;
use crate::source::Source;
use crate::stat::Gram;
use crate::sweep::sweep;
use crate::{AnyRows, Engine, Error, Kernel, Map, MapSpec, Matrix, MatrixView, Result, Rows, Scalar};

/// Principal components of the rows of a source; targets are not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pca {
    /// How many: at most the number of columns.
    pub components: usize,
}

/// Where most of the variance is.
#[derive(Clone, Debug, PartialEq)]
pub struct Principal {
    /// x̄.
    pub mean: Vec<f64>,
    /// v₁, v₂, … as rows, of length one, the largest entry of each being positive.
    pub axes: Matrix<f64>,
    /// λ₁, λ₂, …
    pub variances: Vec<f64>,
    /// Σ λ of all components.
    pub total: f64,
}

impl Pca {
    /// Fits to all rows of the source: one pass.
    pub fn fit(&self, engine: &Engine, source: &dyn Source) -> Result<Principal> {
        let columns = source.input_dim();
        if !(1..=columns).contains(&self.components) {
            let expected = "between 1 and the number of columns";
            return Err(Error::Parameter {
                name: "components",
                expected,
                found: self.components.to_string(),
            });
        }
        let needed = (columns as u64).saturating_pow(2).saturating_mul(5 * 8);
        engine.check_memory(|| format!("principal components of {columns} columns"), needed)?;
        let map = MapSpec::auto(Kernel::Linear).build(columns)?;
        let zero = || Gram::zero(engine, columns, 0, 1);
        let gram = sweep(engine, source, "components", zero, |gram, batch| {
            let none = |rows| MatrixView::new(&[], rows, 0);
            // As many as the batch has: checked by the sweep.
            let Ok(none) = none(batch.rows.count()) else { return };
            match batch.rows {
                AnyRows::F32(rows) => absorb(engine, gram, &map, &rows, none, |i| batch.weight(i)),
                AnyRows::F64(rows) => absorb(engine, gram, &map, &rows, none, |i| batch.weight(i)),
            }
        })?;
        engine.phase("axes", gram.rows(), |check| {
            let sums = gram.total(engine);
            let mean = sums.features.iter().map(|sum| sum / sums.weight).collect();
            let (values, vectors) = symmetric_eigen(engine, Normal::new(engine, sums, true).matrix, check)?;
            // Zero up to rounding is not negative.
            let variances: Vec<f64> = values.into_iter().map(|value| value.max(0.0)).collect();
            let axes = Matrix::from_fn(self.components, columns, |k, j| vectors.row(k)[j]);
            let total = variances.iter().sum();
            Ok(Principal { mean, axes, variances: variances[..self.components].to_vec(), total })
        })
    }
}

fn absorb<T: Scalar>(
    engine: &Engine,
    gram: &mut Gram,
    map: &Map,
    rows: &Rows<'_, T>,
    none: MatrixView<'_, f64>,
    weight: impl Fn(usize) -> f64,
) {
    let mut dense = vec![T::default(); rows.count() * rows.columns()];
    map.apply(engine, rows, &mut dense);
    if let Ok(z) = MatrixView::new(&dense, rows.count(), rows.columns()) {
        gram.absorb(engine, z, none, &weight, &|_| 0, &mut bochner_simd::Aligned::default());
    }
}

impl Principal {
    /// Coordinates of rows: vₖ·(x − x̄).
    #[inline(never)]
    pub fn coordinates<T: Scalar>(&self, rows: &Rows<'_, T>) -> Result<Matrix<f64>> {
        if rows.columns() != self.mean.len() {
            return Err(Error::ColumnCount { expected: self.mean.len(), found: rows.columns() });
        }
        rows.check_finite(0)?;
        let mut row = vec![T::default(); rows.columns()];
        let mut out = Matrix::zeros(rows.count(), self.axes.rows());
        for i in 0..rows.count() {
            rows.densify(i, &mut row);
            for (k, out) in out.row_mut(i).iter_mut().enumerate() {
                let axis = self.axes.row(k);
                *out = row.iter().zip(&self.mean).zip(axis).map(|((x, m), v)| (x.to_f64() - m) * v).sum();
            }
        }
        Ok(out)
    }

    /// The point of the rows' space that has these coordinates, and none in other directions.
    pub fn point(&self, coordinates: &[f64]) -> Vec<f64> {
        let mut point = self.mean.clone();
        for (k, c) in coordinates.iter().enumerate().take(self.axes.rows()) {
            point.iter_mut().zip(self.axes.row(k)).for_each(|(x, v)| *x += c * v);
        }
        point
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arrays, EngineSpec, Target};
    use bochner_testkit::{Absolute, assert_close, normals};

    /// An ellipse with known axes, weighted; coordinates are uncorrelated with the variances reported.
    #[test]
    fn coordinates_are_uncorrelated_and_have_the_variances() {
        let n = 300;
        let z = normals(n, 3, 1);
        let x = Matrix::from_fn(n, 3, |i, j| match j {
            0 => 5.0 + 3.0 * z[3 * i] + z[3 * i + 1],
            1 => 3.0 * z[3 * i] - z[3 * i + 1],
            _ => -2.0 + 0.1 * z[3 * i + 2],
        });
        let weights: Vec<f64> = (0..n).map(|i| f64::from(i as u32 % 3)).collect();
        let none = MatrixView::new(&[], n, 0).unwrap();
        let target = Target::Numbers { outputs: 0 };
        let source = Arrays::new(Rows::from(&x), none, Some(&weights), target).unwrap();
        let fit = |threads| {
            let engine = EngineSpec { threads, ..EngineSpec::default() }.build();
            Pca { components: 2 }.fit(&engine, &source).unwrap()
        };
        let found = fit(1);
        assert_eq!(found, fit(7));
        let c = found.coordinates(&Rows::from(&x)).unwrap();
        let total: f64 = weights.iter().sum();
        let moment = |a: usize, b: usize| -> f64 {
            (0..n).map(|i| weights[i] * c.row(i)[a] * c.row(i)[b]).sum::<f64>() / total
        };
        assert_close(&[moment(0, 0), moment(1, 1)], &found.variances, Absolute(1e-10));
        assert_close(&[moment(0, 1)], &[0.0], Absolute(1e-10));
        // Nearly along (1, 1, 0)/√2, and back.
        assert!(found.axes.row(0)[0] > 0.65 && found.axes.row(0)[1] > 0.65);
        let back = found.point(c.row(4));
        assert!((0..2).all(|j| (back[j] - x.row(4)[j]).abs() < 0.1));
        let share = found.variances.iter().sum::<f64>() / found.total;
        assert!(share > 0.99 && share < 1.0);
        assert!(Pca { components: 4 }.fit(&Engine::default(), &source).is_err());
    }
}

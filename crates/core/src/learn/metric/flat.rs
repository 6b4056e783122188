//! Directions along which rows do not differ.
//!
//! ```text
//! vᵀΣv = 0:   no row says how f changes along v            M ← PMP,   P the projection on what Σ spans
//! ```
//! The gradient of a fit with the kernel itself lies in the span of the differences of rows. That of Fourier features has parts along every frequency: of a constant column, or of columns that add up to
//! a constant, what it says is chance, and a metric that stretched such a direction would tell new rows apart by it.

use std::sync::OnceLock;

use crate::linalg::{dot, multiply, symmetric_eigen};
use crate::stat::Gradients;
use crate::{Engine, Matrix, Result, Rows};

/// A part of a column's mean square, and of a mean eigenvalue, below which there is nothing but rounding.
const CONSTANT: f64 = 1e-12;
const NOTHING: f64 = 1e-9;

/// Rows whose products are summed at once.
const PIECE: usize = 1024;

/// What rows do not differ along.
pub(super) struct Flat {
    /// Mean and deviation of each column; 0 for the deviation of a constant.
    columns: Vec<(f64, f64)>,
    /// P; none where rows differ along all directions.
    projection: OnceLock<Option<Matrix<f64>>>,
}

impl Flat {
    pub(super) fn of(rows: &Rows<'_, f64>) -> Flat {
        let (mut sums, n) = (vec![(0.0, 0.0); rows.columns()], rows.count() as f64);
        for (j, x) in (0..rows.count()).flat_map(|i| rows.entries(i)) {
            let (sum, square) = &mut sums[j as usize];
            (*sum, *square) = (*sum + x, *square + x * x);
        }
        let moments = |(sum, square): (f64, f64)| {
            let (mean, square) = (sum / n, square / n);
            let variance = square - mean * mean;
            (mean, if variance > CONSTANT * square { variance.sqrt() } else { 0.0 })
        };
        Flat { columns: sums.into_iter().map(moments).collect(), projection: OnceLock::new() }
    }

    /// Takes out of M, or of its diagonal, what rows cannot have said.
    pub(super) fn take_out(
        &self,
        engine: &Engine,
        rows: &Rows<'_, f64>,
        gradients: &mut Gradients,
    ) -> Result<()> {
        if !gradients.is_full() {
            if self.columns.iter().any(|(_, deviation)| *deviation <= 0.0) {
                let differs = |(_, deviation): &(f64, f64)| f64::from(u8::from(*deviation > 0.0));
                gradients.scale(&self.columns.iter().map(differs).collect::<Vec<_>>());
            }
            return Ok(());
        }
        let projection = match self.projection.get() {
            Some(projection) => projection,
            None => {
                let found = self.project(engine, rows)?;
                self.projection.get_or_init(|| found)
            }
        };
        if let Some(projection) = projection {
            gradients.turn(engine, projection);
        }
        Ok(())
    }

    fn project(&self, engine: &Engine, rows: &Rows<'_, f64>) -> Result<Option<Matrix<f64>>> {
        let d = self.columns.len();
        // In deviations, so that columns of any size are alike; the direction of x is that of its deviations, divided by them.
        let (values, vectors) = symmetric_eigen(engine, self.correlations(engine, rows), &|_| Ok(()))?;
        let in_columns = |u: &[f64]| -> Vec<f64> {
            let each = u.iter().zip(&self.columns);
            each.map(|(u, (_, deviation))| if *deviation > 0.0 { u / deviation } else { 0.0 }).collect()
        };
        let nothing = values.iter().enumerate().filter(|(_, value)| **value < NOTHING);
        let along = nothing.map(|(k, _)| in_columns(vectors.row(k)));
        let constant = self.columns.iter().enumerate().filter(|(_, (_, deviation))| *deviation <= 0.0);
        let alone = constant.map(|(j, _)| (0..d).map(|i| f64::from(u8::from(i == j))).collect());
        let basis = orthonormal(along.chain(alone));
        if basis.is_empty() {
            return Ok(None);
        }
        let basis = Matrix::from_fn(basis.len(), d, |k, j| basis[k][j]);
        let transposed = Matrix::from_fn(d, basis.rows(), |j, k| basis.row(k)[j]);
        let out = multiply(engine, &transposed, &basis);
        Ok(Some(Matrix::from_fn(d, d, |i, j| f64::from(u8::from(i == j)) - out.row(i)[j])))
    }

    /// Of columns that differ; a constant goes with none.
    fn correlations(&self, engine: &Engine, rows: &Rows<'_, f64>) -> Matrix<f64> {
        let (d, n) = (self.columns.len(), rows.count());
        let mut sums = Matrix::<f64>::zeros(d, d);
        let mut row = vec![0.0; d];
        for start in (0..n).step_by(PIECE) {
            let piece = rows.slice(start..n.min(start + PIECE));
            let mut scaled = Matrix::zeros(piece.count(), d);
            for i in 0..piece.count() {
                piece.densify(i, &mut row);
                for ((to, x), (mean, deviation)) in scaled.row_mut(i).iter_mut().zip(&row).zip(&self.columns)
                {
                    *to = if *deviation > 0.0 { (x - mean) / deviation } else { 0.0 };
                }
            }
            let transposed = Matrix::from_fn(d, piece.count(), |j, i| scaled.row(i)[j]);
            let products = multiply(engine, &transposed, &scaled);
            sums.as_mut_slice().iter_mut().zip(products.as_slice()).for_each(|(sum, p)| *sum += p / n as f64);
        }
        for (j, _) in self.columns.iter().enumerate().filter(|(_, (_, deviation))| *deviation <= 0.0) {
            sums.row_mut(j)[j] = 1.0;
        }
        sums
    }
}

/// An orthonormal basis of what some vectors span, one after another.
fn orthonormal(vectors: impl Iterator<Item = Vec<f64>>) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for mut vector in vectors {
        // Twice, as rounding leaves something the first time.
        for _ in 0..2 {
            for known in &basis {
                let along = dot(known, &vector);
                vector.iter_mut().zip(known).for_each(|(v, k)| *v -= along * k);
            }
        }
        let length = dot(&vector, &vector).sqrt();
        if length > 0.0 {
            vector.iter_mut().for_each(|v| *v /= length);
            basis.push(vector);
        }
    }
    basis
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kernel, MapSpec};
    use bochner_testkit::{Absolute, assert_close, normals};

    /// Column 3 is constant, column 4 is what column 0 lacks to a constant, in other units.
    fn rows(n: usize) -> Matrix<f64> {
        let chance = Matrix::new(n, 3, normals(n, 3, 1)).unwrap();
        Matrix::from_fn(n, 5, |i, j| match j {
            3 => 7.0,
            4 => 100.0 * (2.0 - chance.row(i)[0]),
            j => chance.row(i)[j],
        })
    }

    fn gradients(rows: &Rows<'_, f64>, nothing: Gradients) -> Gradients {
        let map = MapSpec { features: 32, ..MapSpec::auto(Kernel::gaussian(2.0)) }.build(5).unwrap();
        let coefficients = Matrix::new(1, 32, normals(1, 32, 2)).unwrap();
        let mut gradients = nothing;
        gradients.absorb(&Engine::default(), &map, &coefficients, rows, &|_| 1.0).unwrap();
        gradients
    }

    #[test]
    fn nothing_is_left_along_what_rows_do_not_differ_along() {
        let (dense, n) = (rows(300), 300);
        let mut sparse = crate::Csr::empty(5);
        (0..n).for_each(|i| sparse.push_row((0..5).map(|j| (j as u32, dense.row(i)[j]))));
        for rows in [Rows::from(&dense), Rows::from(&sparse)] {
            let before = gradients(&rows, Gradients::full(5));
            let mut after = before.clone();
            let flat = Flat::of(&rows);
            flat.take_out(&Engine::default(), &rows, &mut after).unwrap();
            let (m, was) = (after.matrix().unwrap(), before.matrix().unwrap());
            // What adds up to a constant: 100·x₀ + x₄.
            let length = (1.0f64 + 1e4).sqrt();
            let nowhere = [[100.0 / length, 0.0, 0.0, 0.0, 1.0 / length], [0.0, 0.0, 0.0, 1.0, 0.0]];
            for v in nowhere {
                let image: Vec<f64> = (0..5).map(|i| dot(m.row(i), &v)).collect();
                assert_close(&image, &[0.0; 5], Absolute(1e-9 * was.row(4)[4].max(1.0)));
            }
            // Along other directions M is what it was.
            for (i, j) in [(1, 1), (1, 2), (2, 2)] {
                assert_close(&[m.row(i)[j]], &[was.row(i)[j]], Absolute(1e-12));
            }
            let along = |m: &Matrix<f64>| {
                let v = [-1.0 / length, 0.0, 0.0, 0.0, 100.0 / length];
                (0..5).map(|i| v[i] * dot(m.row(i), &v)).sum::<f64>()
            };
            assert_close(&[along(&m)], &[along(&was)], Absolute(1e-9));
            let mut diagonal = gradients(&rows, Gradients::diagonal(5));
            let was = diagonal.of_columns();
            flat.take_out(&Engine::default(), &rows, &mut diagonal).unwrap();
            assert_close(&diagonal.of_columns(), &[was[0], was[1], was[2], 0.0, was[4]], Absolute(0.0));
        }
    }

    /// Not a bit changes where rows differ along all directions, whatever the units.
    #[test]
    fn rows_that_differ_everywhere_lose_nothing() {
        let x = Matrix::new(200, 5, normals(200, 5, 3)).unwrap();
        let x = Matrix::from_fn(200, 5, |i, j| x.row(i)[j] * 10f64.powi(3 * j as i32 - 6));
        let rows = Rows::from(&x);
        for nothing in [Gradients::full(5), Gradients::diagonal(5)] {
            let before = gradients(&rows, nothing);
            let mut after = before.clone();
            Flat::of(&rows).take_out(&Engine::default(), &rows, &mut after).unwrap();
            assert_eq!(after, before);
        }
    }
}

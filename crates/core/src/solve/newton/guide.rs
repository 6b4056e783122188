//! What leads the conjugate gradients: P = I + s·Σ cᵢκᵢ·zᵢzᵢᵀ, as its Cholesky factor or its diagonal.
//!
//! κᵢ is the mean bend of row i over all outputs, s makes up for the bends having grown or shrunk since the sums were made. One
//! matrix leads all outputs: for softmax ∇²F ≤ I + ½ Σ cᵢ·zᵢzᵢᵀ in every one of them (Böhning 1992).

use super::Vectors;
use crate::engine::Check;
use crate::linalg::Cholesky;
use crate::{Engine, Matrix, Result};

/// What leads the conjugate gradients.
pub(super) enum Guide {
    /// P, as its factor.
    Factor(Cholesky),
    /// The inverse of its diagonal.
    Diagonal(Vec<f64>),
}

/// Σ cᵢκᵢ·zᵢzᵢᵀ, or its diagonal.
#[derive(Debug)]
pub(super) enum Curvature {
    Whole(Matrix<f64>),
    Diagonal(Vec<f64>),
}

impl Curvature {
    /// P for a share s.
    pub(super) fn guide(&self, engine: &Engine, share: f64, check: Check<'_>) -> Result<Guide> {
        let inverse = |square: f64| 1.0 / (1.0 + share * square);
        let matrix = match self {
            Curvature::Diagonal(squares) => {
                return Ok(Guide::Diagonal(squares.iter().map(|&square| inverse(square)).collect()));
            }
            Curvature::Whole(matrix) => matrix,
        };
        let size = matrix.rows();
        let diagonal = |i: usize| matrix.row(i)[i];
        // Sums of single precision are no better than this; a guide need not be.
        let rounding = 1e-6 * share * (0..size).map(diagonal).fold(0.0, f64::max);
        let mut p = Matrix::zeros(size, size);
        engine.for_each_chunk(p.as_mut_slice(), size, &|i, row| {
            // The triangle that a factor is made of.
            row[..=i].iter_mut().zip(matrix.row(i)).for_each(|(p, sum)| *p = share * sum);
            row[i] += 1.0 + rounding;
        });
        match Cholesky::new(engine, p, &|_| check(0.0)) {
            Ok(factor) => Ok(Guide::Factor(factor)),
            Err(crate::Error::NotPositiveDefinite { .. }) => {
                Ok(Guide::Diagonal((0..size).map(|i| inverse(diagonal(i))).collect()))
            }
            Err(error) => Err(error),
        }
    }
}

impl Guide {
    /// P⁻¹ of some vectors.
    pub(super) fn lead(&self, engine: &Engine, vectors: &[&[f64]]) -> Vectors {
        match self {
            Guide::Diagonal(inverse) => {
                let scaled = |v: &&[f64]| v.iter().zip(inverse).map(|(v, m)| v * m).collect();
                vectors.iter().map(scaled).collect()
            }
            Guide::Factor(factor) => {
                let size = vectors.first().map_or(0, |v| v.len());
                let led = factor.solve(engine, Matrix::from_fn(size, vectors.len(), |i, k| vectors[k][i]));
                (0..vectors.len()).map(|k| (0..size).map(|i| led.row(i)[k]).collect()).collect()
            }
        }
    }
}

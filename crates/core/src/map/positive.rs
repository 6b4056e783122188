//! Positive features of the exponential of an inner product.
//!
//! ```text
//! z(u) = D^(−1/2)·(exp(w₁·u − ‖u‖²/2), …),   w ~ N(0, I)        E[z(u)·z(v)] = exp(u·v)
//! ```
//! as E exp(w·(u + v)) = exp(‖u + v‖²/2). Directions are orthogonal within blocks. The variance grows like exp(‖u + v‖²): for long u the estimate is of little use
//! before D is very large, and the measured error says so. Choromanski et al. (2021).

use bochner_simd::Apply;

use super::Packed;
use super::fourier::normals;
use super::hinge::pack;
use crate::engine::Check;
use crate::kernel::apply;
use crate::{Engine, Matrix, Result, Rows, Scalar};

#[derive(Clone, Debug)]
pub(crate) struct Positive {
    /// One row for each feature.
    weights: Matrix<f64>,
    packed: Packed,
}

impl Positive {
    pub(super) fn build(
        engine: &Engine,
        features: usize,
        columns: usize,
        seed: u64,
        check: Check<'_>,
    ) -> Result<Positive> {
        Ok(Positive { weights: normals(engine, seed, features, columns, check)?, packed: Packed::default() })
    }

    pub(super) fn output_dim(&self) -> usize {
        self.weights.rows()
    }

    pub(super) fn regenerated(&self) -> &[f64] {
        self.weights.as_slice()
    }

    pub(super) fn apply<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>, out: &mut [T], stride: usize) {
        /// e^80 is a number in single precision.
        const MOST: f64 = 80.0;
        let count = self.output_dim();
        apply(
            rows,
            self.packed.get(engine.isa(), || pack(engine, &self.weights)),
            &Apply::Product,
            out,
            stride,
        );
        let scale = (1.0 / count as f64).sqrt();
        for (i, out) in out.chunks_mut(stride).enumerate().take(rows.count()) {
            let half = 0.5 * rows.entries(i).map(|(_, u)| u.to_f64() * u.to_f64()).sum::<f64>();
            for to in &mut out[..count] {
                *to = T::from_f64(scale * libm::exp((to.to_f64() - half).min(MOST)));
            }
        }
    }
}

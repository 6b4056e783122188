//! Rectified units at random: features of arc-cosine kernels.
//!
//! ```text
//! z(x) = (2/D)^(1/2)·(1[w₁·x > 0]·(w₁·x)ⁿ, …, 1[w_D·x > 0]·(w_D·x)ⁿ),   w ~ N(0, I)        E[z(x)·z(y)] = k(x, y)
//! ```
//! Directions are orthogonal within blocks of d, each w by itself normal. For n = 2 the products have heavy tails: normalise the kernel where lengths vary. Cho & Saul (2009).

use bochner_simd::{Apply, HingeOrder, Panels};

use super::Packed;
use super::fourier::normals;
use crate::engine::Check;
use crate::kernel::apply;
use crate::{Engine, Matrix, Result, Rows, Scalar};

#[derive(Clone, Debug)]
pub(crate) struct Hinges {
    /// One row for each unit.
    weights: Matrix<f64>,
    order: u32,
    packed: Packed,
}

impl Hinges {
    pub(super) fn build(
        engine: &Engine,
        order: u32,
        features: usize,
        columns: usize,
        seed: u64,
        check: Check<'_>,
    ) -> Result<Hinges> {
        Ok(Hinges {
            weights: normals(engine, seed, features, columns, check)?,
            order,
            packed: Packed::default(),
        })
    }

    pub(super) fn output_dim(&self) -> usize {
        self.weights.rows()
    }

    pub(super) fn regenerated(&self) -> &[f64] {
        self.weights.as_slice()
    }

    pub(super) fn apply<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>, out: &mut [T], stride: usize) {
        let panels = self.packed.get(engine.isa(), || pack(engine, &self.weights));
        let scale = T::from_f64((2.0 / self.output_dim() as f64).sqrt());
        let order = [HingeOrder::Step, HingeOrder::Linear, HingeOrder::Square][self.order as usize];
        apply(rows, panels, &Apply::Hinge { order, scale }, out, stride);
    }
}

/// A matrix's rows as the columns of a product.
pub(super) fn pack<T: Scalar>(engine: &Engine, matrix: &Matrix<f64>) -> Panels<T> {
    Panels::pack(engine.isa(), matrix.columns(), matrix.rows(), &mut |i, column: &mut [T]| {
        column.iter_mut().zip(matrix.row(i)).for_each(|(to, &w)| *to = T::from_f64(w));
    })
}

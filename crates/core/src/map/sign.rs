//! Random signs: projections, and all subsets of columns.
//!
//! ```text
//! projection    z(u) = D^(−1/2)·(s₁·u, …, s_D·u)                    E[z(u)·z(v)] = u·v
//! subsets       z(x) = D^(−1/2)·(∏ⱼ (1 + s₁ⱼxⱼ), …)                 E[z(x)·z(y)] = ∏ⱼ (1 + xⱼyⱼ)
//!
//! s independent signs ±1        one feature of a projection has variance ‖u‖²‖v‖² + (u·v)² − 2Σ uⱼ²vⱼ²
//! ```
//! Multiplied feature by feature, p projections of (√γ·x, √c) are features of (γ·x·y + c)ᵖ. Achlioptas (2003); Kar & Karnick (2012).

use bochner_simd::Apply;

use super::Packed;
use super::hinge::pack;
use crate::kernel::apply;
use crate::random::{Draws, Stream};
use crate::{Matrix, Rows, Scalar};

fn signs(seed: u64, rows: usize, columns: usize) -> Matrix<f64> {
    let mut matrix = Matrix::zeros(rows, columns);
    for i in 0..rows {
        let mut draws = Draws::new(seed, Stream::Signs, i as u64);
        let mut bits = (0, 0u32);
        for to in matrix.row_mut(i) {
            if bits.0 == 0 {
                bits = (32, draws.word());
            }
            *to = if bits.1 & 1 == 0 { 1.0 } else { -1.0 };
            bits = (bits.0 - 1, bits.1 >> 1);
        }
    }
    matrix
}

#[derive(Clone, Debug)]
pub(crate) struct Projection {
    /// s/√D, one row for each feature.
    signs: Matrix<f64>,
    packed: Packed,
}

impl Projection {
    pub(super) fn new(features: usize, columns: usize, seed: u64) -> Projection {
        let mut signs = signs(seed, features, columns);
        let scale = (1.0 / features as f64).sqrt();
        signs.as_mut_slice().iter_mut().for_each(|sign| *sign *= scale);
        Projection { signs, packed: Packed::default() }
    }

    pub(super) fn output_dim(&self) -> usize {
        self.signs.rows()
    }

    pub(super) fn regenerated(&self) -> &[f64] {
        self.signs.as_slice()
    }

    pub(super) fn apply<T: Scalar>(&self, rows: &Rows<'_, T>, out: &mut [T], stride: usize) {
        apply(rows, self.packed.get(|| pack(&self.signs)), &Apply::Product, out, stride);
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Subsets {
    /// One row for each column of the rows.
    signs: Matrix<f64>,
}

impl Subsets {
    pub(super) fn new(features: usize, columns: usize, seed: u64) -> Subsets {
        Subsets { signs: signs(seed, columns, features) }
    }

    pub(super) fn output_dim(&self) -> usize {
        self.signs.columns()
    }

    pub(super) fn regenerated(&self) -> &[f64] {
        self.signs.as_slice()
    }

    pub(super) fn apply<T: Scalar>(&self, rows: &Rows<'_, T>, out: &mut [T], stride: usize) {
        let scale = (1.0 / self.output_dim() as f64).sqrt();
        let mut products = vec![0.0; self.output_dim()];
        for (i, out) in out.chunks_mut(stride).enumerate().take(rows.count()) {
            products.fill(scale);
            for (j, x) in rows.entries(i) {
                let x = x.to_f64();
                products.iter_mut().zip(self.signs.row(j as usize)).for_each(|(p, s)| *p *= 1.0 + s * x);
            }
            out.iter_mut().zip(&products).for_each(|(to, &p)| *to = T::from_f64(p));
        }
    }
}

//! Random signs, and all subsets of columns.
//!
//! ```text
//! subsets       z(x) = D^(−1/2)·(∏ⱼ (1 + s₁ⱼxⱼ), …)                 E[z(x)·z(y)] = ∏ⱼ (1 + xⱼyⱼ)          s independent signs ±1
//! ```
//! Projections on the same signs are in `projection.rs`. Kar & Karnick (2012).

use crate::random::{Draws, Stream};
use crate::{Matrix, Rows, Scalar};

/// The signs of row i.
pub(super) fn fill_signs(seed: u64, i: usize, row: &mut [f64]) {
    let mut draws = Draws::new(seed, Stream::Signs, i as u64);
    let mut bits = (0, 0u32);
    for to in row {
        if bits.0 == 0 {
            bits = (32, draws.word());
        }
        *to = if bits.1 & 1 == 0 { 1.0 } else { -1.0 };
        bits = (bits.0 - 1, bits.1 >> 1);
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Subsets {
    /// One row for each column of the rows.
    signs: Matrix<f64>,
}

impl Subsets {
    pub(super) fn new(features: usize, columns: usize, seed: u64) -> Subsets {
        let mut signs = Matrix::zeros(columns, features);
        (0..columns).for_each(|j| fill_signs(seed, j, signs.row_mut(j)));
        Subsets { signs }
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

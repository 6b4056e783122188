//! The subsampled randomised Hadamard transform.
//!
//! ```text
//! z(x) = m^(−1/2)·S·H·D·(x, 0, …, 0)          D signs, H of p × p with entries ±1, p ≥ d a power of two, S some m of the p coordinates
//! ```
//! H·D spreads a row over all coordinates, whatever it was: each entry of H·D·x is a sum of all xⱼ with signs, and their squares add up to p·‖x‖². A few of them are then
//! as good as any. Without replacement: with m = p nothing is lost. More than p outputs are several such transforms, each with signs of its own; only the last, if it is cut short, has an error. p·log₂ p additions a row.

use bochner_simd::walsh_hadamard;

use crate::random::{Draws, Stream};
use crate::{Engine, Rows, Scalar};

#[derive(Clone, Debug)]
pub(crate) struct Hadamard {
    padded: usize,
    /// ±1, p for each block.
    signs: Vec<f64>,
    /// Which coordinate each output is, below p.
    places: Vec<u32>,
}

/// Numbers that are kept: signs and places.
pub(super) fn entries(features: usize, columns: usize) -> f64 {
    columns.checked_next_power_of_two().map_or(f64::INFINITY, |padded| {
        let blocks = features.div_ceil(padded) as f64;
        blocks * padded as f64 + features as f64
    })
}

impl Hadamard {
    pub(super) fn draw(features: usize, columns: usize, seed: u64) -> Hadamard {
        let padded = columns.next_power_of_two();
        let (mut signs, mut places) = (Vec::new(), Vec::with_capacity(features));
        for block in 0..features.div_ceil(padded) {
            let mut draws = Draws::new(seed, Stream::Signs, block as u64);
            signs.extend((0..padded).map(|_| if draws.word() & 1 == 0 { 1.0 } else { -1.0 }));
            // The first of a random order (Fisher and Yates): fewer are a prefix of more.
            let mut order: Vec<u32> = (0..padded as u32).collect();
            let mut draws = Draws::new(seed, Stream::Sketches, block as u64);
            for at in 0..padded.min(features - block * padded) {
                order.swap(at, at + draws.below((padded - at) as u64) as usize);
                places.push(order[at]);
            }
        }
        Hadamard { padded, signs, places }
    }

    pub(super) fn output_dim(&self) -> usize {
        self.places.len()
    }

    pub(super) fn regenerated(&self, add: &mut dyn FnMut(&[f64])) {
        add(&self.signs);
        add(&self.places.iter().map(|&place| f64::from(place)).collect::<Vec<_>>());
    }

    pub(super) fn apply<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>, out: &mut [T], stride: usize) {
        let scale = (1.0 / self.output_dim() as f64).sqrt();
        let mut values = vec![T::default(); self.padded];
        for (i, out) in out.chunks_mut(stride).enumerate().take(rows.count()) {
            let blocks = self.signs.chunks_exact(self.padded).zip(self.places.chunks(self.padded));
            for ((signs, places), out) in blocks.zip(out[..self.output_dim()].chunks_mut(self.padded)) {
                values.fill(T::default());
                for (j, x) in rows.entries(i) {
                    values[j as usize] = T::from_f64(signs[j as usize] * x.to_f64());
                }
                walsh_hadamard(engine.isa(), &mut values, self.padded);
                for (to, &place) in out.iter_mut().zip(places) {
                    *to = T::from_f64(scale * values[place as usize].to_f64());
                }
            }
        }
    }
}

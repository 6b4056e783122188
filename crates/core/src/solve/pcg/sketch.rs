//! All rows in a few: each is added, with random signs, to eight of s sums.
//!
//! ```text
//! SZ = Σᵢ Sᵢ·√wᵢ·(zᵢ − z̄)ᵀ,   Sᵢ with 8 entries ±1/√8, one in each eighth of s rows        E (SZ)ᵀ(SZ) = ZᵀWZ
//! ```
//! With s = 4D rows all products zᵀ(SZ)ᵀ(SZ)z are within a factor (1 ± ½)² of what they should be, for any rows at all, with high probability: κ about 9. A sample of rows says as much only where no few rows stand for a direction by
//! themselves; a sketch misses none (sparse sign embeddings: Clarkson & Woodruff 2013, Nelson & Nguyễn 2013).
//!
//! Places and signs go by the number of the row and not by its content: k equal rows have to fall k times independently, or they would count k² times. What is drawn here decides how many steps a
//! solution takes and not what it is.

use bochner_simd::Aligned;

use crate::random::{Draws, Stream};
use crate::stat::Gram;
use crate::{Engine, Matrix, MatrixView, Scalar};

/// Sums that a row is added to.
const NONZEROS: usize = 8;

/// SZ so far.
pub(crate) struct Sketch<S> {
    seed: u64,
    columns: usize,
    /// Sums in an eighth.
    eighth: usize,
    sums: Vec<S>,
}

impl<S: Scalar> Sketch<S> {
    /// Of at least `rows` sums.
    pub(crate) fn zero(rows: usize, columns: usize, seed: u64) -> Sketch<S> {
        let eighth = rows.div_ceil(NONZEROS).max(1);
        Sketch { seed, columns, eighth, sums: vec![S::default(); NONZEROS * eighth * columns] }
    }

    /// Adds rows of these numbers, each minus `means` and times the root of its weight.
    pub(crate) fn absorb<T: Scalar>(
        &mut self,
        engine: &Engine,
        z: MatrixView<'_, T>,
        numbers: &[u64],
        weights: &[f64],
        means: &[f64],
    ) {
        // Row by row of SZ: which rows are added to it.
        let mut places: Vec<(u32, u32, f64)> = Vec::with_capacity(NONZEROS * z.rows());
        let scale = 1.0 / (NONZEROS as f64).sqrt();
        for i in (0..z.rows()).filter(|&i| weights[i] > 0.0) {
            let mut draws = Draws::new(self.seed, Stream::Guides, 1 << 63 | numbers[i]);
            for part in 0..NONZEROS {
                let place = part * self.eighth + draws.below(self.eighth as u64) as usize;
                let sign = if draws.word() & 1 == 0 { scale } else { -scale };
                places.push((place as u32, i as u32, sign * weights[i].sqrt()));
            }
        }
        places.sort_by_key(|&(place, row, _)| (place, row));
        let starts: Vec<usize> =
            (0..=NONZEROS * self.eighth).map(|p| places.partition_point(|e| (e.0 as usize) < p)).collect();
        engine.for_each_chunk(&mut self.sums, self.columns, &|place, sums| {
            for &(_, i, factor) in &places[starts[place]..starts[place + 1]] {
                for ((sum, z), mean) in sums.iter_mut().zip(z.row(i as usize)).zip(means) {
                    *sum = S::from_f64(sum.to_f64() + factor * (z.to_f64() - mean));
                }
            }
        });
    }

    /// (SZ)ᵀ(SZ), some rows at a time.
    pub(crate) fn square(self, engine: &Engine, rows: usize) -> Matrix<f64> {
        let mut gram = Gram::zero(engine, self.columns, 0, 1);
        let mut packed = Aligned::default();
        for part in self.sums.chunks((rows * self.columns).max(1)) {
            let count = part.len() / self.columns.max(1);
            if let (Ok(z), Ok(none)) =
                (MatrixView::new(part, count, self.columns), MatrixView::new(&[], count, 0))
            {
                gram.absorb(engine, z, none, &|_| 1.0, &|_| 0, &mut packed);
            }
        }
        drop(self.sums);
        gram.total(engine).products
    }
}

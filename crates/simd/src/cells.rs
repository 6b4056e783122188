//! Cells of shifted grids, hashed: the inner loop of random binning.
//!
//! ```text
//! bⱼ = ⌊xⱼ·inverseⱼ − offsetⱼ⌋          hash = Σⱼ factorⱼ·(bⱼ mod p)  mod p          p = 2³¹ − 1
//! ```
//! Two different cells have equal hashes with probability 1/p over uniform factors: the difference of their sums is a nonzero
//! linear form in the field of p elements. The formula uses nothing but f64 and 63-bit integers, so that other runtimes can state
//! it; all of it is exact once the product xⱼ·inverseⱼ has been rounded, hence the same on every instruction set.

use crate::Isa;
use crate::dispatch::{Task, dispatch};
use crate::lanes::Lanes;

/// p: hashes are below it.
pub const CELL_PRIME: u32 = (1 << 31) - 1;

/// Grids that are worked on side by side.
const LANES: usize = 16;

/// Grids over the same columns, packed so that [`LANES`] of them lie side by side.
#[derive(Clone, Debug, Default)]
pub struct Grids {
    columns: usize,
    count: usize,
    /// Panel by panel, column by column: 1/pitch, shift/pitch and the factor of each grid; zeros after the last.
    inverse: Vec<f64>,
    offset: Vec<f64>,
    factor: Vec<u32>,
}

impl Grids {
    /// Packs `count` grids; `of(g, j)` gives 1/pitch, shift/pitch and the factor (below p) of grid g in column j.
    pub fn pack(columns: usize, count: usize, of: impl Fn(usize, usize) -> (f64, f64, u32)) -> Grids {
        let size = count.div_ceil(LANES) * columns * LANES;
        let mut grids = Grids {
            columns,
            count,
            inverse: vec![0.0; size],
            offset: vec![0.0; size],
            factor: vec![0; size],
        };
        for g in 0..count {
            for j in 0..columns {
                let at = grids.place(g, j);
                (grids.inverse[at], grids.offset[at], grids.factor[at]) = of(g, j);
            }
        }
        grids
    }

    fn place(&self, g: usize, j: usize) -> usize {
        (g / LANES * self.columns + j) * LANES + g % LANES
    }

    /// The number of grids.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// factorⱼ·(⌊x·inverseⱼ − offsetⱼ⌋ mod p) mod p of grid g: what a sparse row adds for an entry, or takes back for a zero.
    pub fn term(&self, g: usize, j: usize, x: f64) -> u32 {
        let at = self.place(g, j);
        (term(x, self.inverse[at], self.offset[at], self.factor[at]) % u64::from(CELL_PRIME)) as u32
    }
}

/// The hashes of the cells of some rows (dense, row-major): row i's at `out[i·grids..]`, one for each grid.
///
/// # Panics
/// If the slices do not have these shapes.
pub fn cells(isa: Isa, rows: &[f64], grids: &Grids, out: &mut [u32]) {
    let n = rows.len().checked_div(grids.columns).unwrap_or(0);
    assert!(rows.len() == n * grids.columns && out.len() == n * grids.count, "shapes differ");
    if !rows.is_empty() && !out.is_empty() {
        dispatch(isa, Cells { rows, grids, out });
    }
}

struct Cells<'a> {
    rows: &'a [f64],
    grids: &'a Grids,
    out: &'a mut [u32],
}

impl Task<f64> for Cells<'_> {
    // Written for arrays; the compiler makes vectors of them.
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = f64>, const R: usize>(self) {
        let Grids { columns, count, inverse, offset, factor } = self.grids;
        let panel = columns * LANES;
        for (p, inverse) in inverse.chunks_exact(panel).enumerate() {
            let (offset, factor) = (&offset[p * panel..][..panel], &factor[p * panel..][..panel]);
            for (row, out) in self.rows.chunks_exact(*columns).zip(self.out.chunks_exact_mut(*count)) {
                let mut sums = [0u64; LANES];
                let grids = inverse
                    .as_chunks::<LANES>()
                    .0
                    .iter()
                    .zip(offset.as_chunks::<LANES>().0)
                    .zip(factor.as_chunks::<LANES>().0);
                for (&x, ((inverse, offset), factor)) in row.iter().zip(grids) {
                    for l in 0..LANES {
                        sums[l] += term(x, inverse[l], offset[l], factor[l]);
                    }
                }
                let out = &mut out[p * LANES..];
                for (out, sum) in out.iter_mut().zip(sums) {
                    *out = (sum % u64::from(CELL_PRIME)) as u32;
                }
            }
        }
    }
}

/// A number below 2³³ that is the term mod p: 2³⁰ columns may be summed.
#[inline(always)]
fn term(x: f64, inverse: f64, offset: f64, factor: u32) -> u64 {
    const P: f64 = CELL_PRIME as f64;
    /// Adding this to a whole number below 2⁵¹ writes the number into the low bits.
    const WRITE: f64 = (3u64 << 51) as f64;
    let bin = (x * inverse - offset).floor();
    // For |bin| < 2⁵¹ the quotient is right or one off next to a multiple of p, so that this is bin mod p or −1 or p; p more makes it positive.
    let rest = bin - P * (bin * (1.0 / P)).floor();
    let bits = (rest + (WRITE + P)).to_bits() & 0xFFFF_FFFF;
    let product = bits * u64::from(factor);
    (product & u64::from(CELL_PRIME)) + (product >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In integers of 128 bits.
    fn naive(x: &[f64], inverse: &[f64], offset: &[f64], factor: &[u32]) -> u32 {
        let p = i128::from(CELL_PRIME);
        let term = |j: usize| {
            let bin = (x[j] * inverse[j] - offset[j]).floor() as i128;
            bin.rem_euclid(p) * i128::from(factor[j])
        };
        (0..x.len()).map(term).sum::<i128>().rem_euclid(p) as u32
    }

    #[test]
    fn hashes_are_those_of_integers_on_every_instruction_set() {
        for columns in [1, 3, 8, 54, 101] {
            let (n, count) = (9, 19);
            let wave = |seed: usize, i: usize| ((seed * 7919 + i * 104_729) % 10_007) as f64 / 10_007.0;
            // From well inside to far beyond p cells from zero, both sides.
            let rows: Vec<f64> =
                (0..n * columns).map(|i| (wave(1, i) - 0.5) * [1.0, 100.0, 1e6, 1e10, 1e13][i % 5]).collect();
            let inverse: Vec<f64> = (0..count * columns).map(|i| 0.1 + wave(2, i)).collect();
            let offset: Vec<f64> = (0..count * columns).map(|i| wave(3, i)).collect();
            let factor: Vec<u32> =
                (0..count * columns).map(|i| 1 + (wave(4, i) * f64::from(CELL_PRIME - 2)) as u32).collect();
            let grids = Grids::pack(columns, count, |g, j| {
                let at = g * columns + j;
                (inverse[at], offset[at], factor[at])
            });
            for isa in Isa::available() {
                let mut out = vec![0; n * count];
                cells(isa, &rows, &grids, &mut out);
                for i in 0..n {
                    for g in 0..count {
                        let part = g * columns..(g + 1) * columns;
                        let x = &rows[i * columns..(i + 1) * columns];
                        let expected = naive(x, &inverse[part.clone()], &offset[part.clone()], &factor[part]);
                        assert_eq!(out[i * count + g], expected, "row {i}, grid {g} on {isa:?}");
                        let sum: u64 = (0..columns).map(|j| u64::from(grids.term(g, j, x[j]))).sum();
                        assert_eq!((sum % u64::from(CELL_PRIME)) as u32, expected);
                    }
                }
            }
        }
    }

    #[test]
    fn cells_are_half_open() {
        let grids = Grids::pack(1, 1, |_, _| (2.0, 0.5, 1));
        let hash = |x: f64| grids.term(0, 0, x);
        // Cells of pitch ½ from ¼ on: [−¼, ¼), [¼, ¾).
        assert_eq!([hash(0.25), hash(0.749), hash(0.75)], [0, 0, 1]);
        assert_eq!([hash(-0.25), hash(0.249)], [CELL_PRIME - 1; 2]);
        // Any number is in some cell.
        for x in [1e300, -1e300, f64::MAX, 5e-324] {
            assert!(hash(x) < CELL_PRIME);
        }
    }
}

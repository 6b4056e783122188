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

/// Grids over the same columns: row g of each array is grid g.
#[derive(Clone, Copy, Debug)]
pub struct GridsRef<'a> {
    /// Columns.
    pub columns: usize,
    /// 1/pitch.
    pub inverse: &'a [f64],
    /// shift/pitch.
    pub offset: &'a [f64],
    /// From 1 to p − 1.
    pub factor: &'a [u32],
}

/// The hashes of the cells of some rows (dense, row-major): row i's at `out[i·grids..]`, one for each grid.
///
/// # Panics
/// If the slices do not have these shapes.
pub fn cells(isa: Isa, rows: &[f64], grids: GridsRef<'_>, out: &mut [u32]) {
    let columns = grids.columns;
    let count = grids.inverse.len().checked_div(columns).unwrap_or(0);
    assert!(
        grids.inverse.len() == count * columns
            && grids.offset.len() == grids.inverse.len()
            && grids.factor.len() == grids.inverse.len(),
        "shapes of grids differ"
    );
    let n = rows.len().checked_div(columns).unwrap_or(0);
    assert!(rows.len() == n * columns && out.len() == n * count, "shapes differ");
    dispatch(isa, Cells { rows, grids, count, out });
}

/// factor·(⌊x·inverse − offset⌋ mod p) mod p for one column: what a sparse row adds for an entry, or takes back for a zero.
pub fn cell_term(x: f64, inverse: f64, offset: f64, factor: u32) -> u32 {
    (term(x, inverse, offset, factor) % u64::from(CELL_PRIME)) as u32
}

struct Cells<'a> {
    rows: &'a [f64],
    grids: GridsRef<'a>,
    count: usize,
    out: &'a mut [u32],
}

impl Task<f64> for Cells<'_> {
    // Written for one column; the compiler makes vectors of it.
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = f64>, const R: usize>(self) {
        let columns = self.grids.columns;
        for g in 0..self.count {
            let range = g * columns..(g + 1) * columns;
            let inverse = &self.grids.inverse[range.clone()];
            let offset = &self.grids.offset[range.clone()];
            let factor = &self.grids.factor[range];
            for (row, out) in self.rows.chunks_exact(columns).zip(self.out.chunks_exact_mut(self.count)) {
                let mut sum = 0u64;
                for j in 0..columns {
                    sum += term(row[j], inverse[j], offset[j], factor[j]);
                }
                out[g] = (sum % u64::from(CELL_PRIME)) as u32;
            }
        }
    }
}

/// As [`cell_term`], below 2³² and not reduced further: 2³² columns may be summed.
#[inline(always)]
fn term(x: f64, inverse: f64, offset: f64, factor: u32) -> u64 {
    const P: f64 = CELL_PRIME as f64;
    /// Adding this to a whole number below 2⁵¹ writes the number into the low bits.
    const WRITE: f64 = (3u64 << 51) as f64;
    let bin = (x * inverse - offset).floor();
    // bin mod p; the quotient may be off by one.
    let rest = bin - P * (bin * (1.0 / P)).floor();
    let rest = if rest < 0.0 { rest + P } else { rest };
    let rest = if rest >= P { rest - P } else { rest };
    let bits = (rest + WRITE).to_bits() & 0x7FFF_FFFF;
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
            let (n, count) = (9, 4);
            let wave = |seed: usize, i: usize| ((seed * 7919 + i * 104_729) % 10_007) as f64 / 10_007.0;
            // From well inside to far beyond p cells from zero, both sides.
            let rows: Vec<f64> =
                (0..n * columns).map(|i| (wave(1, i) - 0.5) * [1.0, 100.0, 1e6, 1e10, 1e13][i % 5]).collect();
            let inverse: Vec<f64> = (0..count * columns).map(|i| 0.1 + wave(2, i)).collect();
            let offset: Vec<f64> = (0..count * columns).map(|i| wave(3, i)).collect();
            let factor: Vec<u32> =
                (0..count * columns).map(|i| 1 + (wave(4, i) * f64::from(CELL_PRIME - 2)) as u32).collect();
            let grids = GridsRef { columns, inverse: &inverse, offset: &offset, factor: &factor };
            for isa in Isa::available() {
                let mut out = vec![0; n * count];
                cells(isa, &rows, grids, &mut out);
                for i in 0..n {
                    for g in 0..count {
                        let part = g * columns..(g + 1) * columns;
                        let x = &rows[i * columns..(i + 1) * columns];
                        let expected =
                            naive(x, &inverse[part.clone()], &offset[part.clone()], &factor[part.clone()]);
                        assert_eq!(out[i * count + g], expected, "row {i}, grid {g} on {isa:?}");
                        let sum: u64 = (0..columns)
                            .map(|j| {
                                let at = part.start + j;
                                u64::from(cell_term(x[j], inverse[at], offset[at], factor[at]))
                            })
                            .sum();
                        assert_eq!((sum % u64::from(CELL_PRIME)) as u32, expected);
                    }
                }
            }
        }
    }

    #[test]
    fn cells_are_half_open() {
        let hash = |x: f64| cell_term(x, 2.0, 0.5, 1);
        // Cells of pitch ½ from ¼ on: [−¼, ¼), [¼, ¾).
        assert_eq!([hash(0.25), hash(0.749), hash(0.75)], [0, 0, 1]);
        assert_eq!([hash(-0.25), hash(0.249)], [CELL_PRIME - 1; 2]);
        // Any number is in some cell.
        for x in [1e300, -1e300, f64::MAX, 5e-324] {
            assert!(hash(x) < CELL_PRIME);
        }
    }
}

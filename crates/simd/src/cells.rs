//! Cells of shifted grids, hashed: the inner loop of random binning.
//!
//! ```text
//! bⱼ = ⌊xⱼ·inverseⱼ − offsetⱼ⌋          hash = Σⱼ factorⱼ·(bⱼ mod p)  mod p          p = 2³¹ − 1
//! ```
//! Two different cells have equal hashes with probability at most 1/(p − 1) over uniform factors: the difference of their sums is a nonzero
//! linear form in the field of p elements. The formula uses nothing but f64 and 63-bit integers, so that other runtimes can state
//! it; all of it is exact once xⱼ·inverseⱼ − offsetⱼ has been rounded, hence the same on every instruction set.
//!
//! Rows in bins that are small, which is nearly all, need no bin's rest: Σⱼ factorⱼ·bⱼ is summed in 64 bits and its rest taken once. That
//! is five instructions for eight terms of AVX-512: product, difference, conversion, product, sum. One comparison an entry tells
//! these rows from others.

use crate::Isa;
use crate::dispatch::{Task, dispatch};
use crate::lanes::{Lanes, WholeLanes};

/// p: hashes are below it.
pub const CELL_PRIME: u32 = (1 << 31) - 1;

/// Grids that are worked on side by side: as many as the widest vector has f64.
const LANES: usize = 8;

/// Rows that share one read of a panel.
const ROW_BLOCK: usize = 64;

/// Grids over the same columns, packed so that [`LANES`] of them lie side by side.
#[derive(Clone, Debug, Default)]
pub struct Grids {
    columns: usize,
    count: usize,
    /// Panel by panel, column by column: 1/pitch, shift/pitch and the factor of each grid; zeros after the last.
    inverse: Vec<f64>,
    offset: Vec<f64>,
    factor: Vec<u32>,
    /// For each column: what is nearer to zero than this is in a small bin of every grid, see [`Grids::most`].
    limits: Vec<f64>,
}

impl Grids {
    /// Packs `count` grids; `of(g, j)` gives 1/pitch, shift/pitch and the factor (below p) of grid g in column j.
    pub fn pack(columns: usize, count: usize, of: &dyn Fn(usize, usize) -> (f64, f64, u32)) -> Grids {
        let size = count.div_ceil(LANES) * columns * LANES;
        let mut grids = Grids {
            columns,
            count,
            inverse: vec![0.0; size],
            offset: vec![0.0; size],
            factor: vec![0; size],
            limits: vec![f64::INFINITY; columns],
        };
        // Two less for the floor and for roundings.
        let most = Grids::most(columns) - 2.0;
        for g in 0..count {
            for j in 0..columns {
                let at = grids.place(g, j);
                let (inverse, offset, factor) = of(g, j);
                (grids.inverse[at], grids.offset[at], grids.factor[at]) = (inverse, offset, factor);
                let limit = (most - offset.abs()) / inverse.abs();
                // Not `min`: what is not a number has to stay, so that nothing is below it.
                if !(limit >= grids.limits[j]) {
                    grids.limits[j] = limit;
                }
            }
        }
        grids
    }

    /// Bins bⱼ of at most this size, over all columns, have |bⱼ| < 2³¹ and |Σⱼ factorⱼ·bⱼ| ≤ 2⁶³ − 2³² = 2³²·p.
    fn most(columns: usize) -> f64 {
        let sum = ((1u64 << 32) - 2) as f64;
        f64::from(CELL_PRIME).min(sum / columns as f64)
    }

    /// Whether the terms of a row are summed in 64 bits without a rest taken of each.
    #[inline(always)]
    fn is_near(&self, row: &[f64]) -> bool {
        row.iter().zip(&self.limits).fold(true, |near, (x, limit)| near & (x.abs() < *limit))
    }

    /// The grids from p·LANES on.
    #[inline(always)]
    fn panel(&self, p: usize) -> Panel<'_> {
        let part = p * self.columns..(p + 1) * self.columns;
        Panel {
            inverse: &self.inverse.as_chunks().0[part.clone()],
            offset: &self.offset.as_chunks().0[part.clone()],
            factor: &self.factor.as_chunks().0[part],
        }
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
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = f64>, const R: usize>(self) {
        let (grids, d, count) = (self.grids, self.grids.columns, self.grids.count);
        for (rows, out) in self.rows.chunks(ROW_BLOCK * d).zip(self.out.chunks_mut(ROW_BLOCK * count)) {
            let n = rows.len() / d;
            // Bit i: row i is near.
            let near = (0..n).fold(0u64, |bits, i| bits | u64::from(grids.is_near(&rows[i * d..][..d])) << i);
            for p in 0..count.div_ceil(LANES) {
                let panel = grids.panel(p);
                let mut i = 0;
                while i < n {
                    let row = &rows[i * d..];
                    let out = &mut out[i * count + p * LANES..];
                    if n - i >= R && near >> i & ((1 << R) - 1) == (1 << R) - 1 {
                        // SAFETY: the instructions are the caller's; the rows are near.
                        put(unsafe { panel.near::<L::Wide, R>(&row[..R * d]) }, out, count, p);
                        i += R;
                    } else if near >> i & 1 == 1 {
                        // SAFETY: as above.
                        put(unsafe { panel.near::<L::Wide, 1>(&row[..d]) }, out, count, p);
                        i += 1;
                    } else {
                        put([panel.far(&row[..d])], out, count, p);
                        i += 1;
                    }
                }
            }
        }
    }
}

/// Writes the hashes of panel p of some rows; the last panel may have fewer grids than lanes.
#[inline(always)]
fn put<const R: usize>(hashes: [[u32; LANES]; R], out: &mut [u32], count: usize, p: usize) {
    let width = LANES.min(count - p * LANES);
    for (r, hashes) in hashes.iter().enumerate() {
        let out = &mut out[r * count..][..width];
        match out.as_chunks_mut() {
            ([out], _) => *out = *hashes,
            (_, out) => out.copy_from_slice(&hashes[..width]),
        }
    }
}

/// [`LANES`] grids, column by column.
struct Panel<'a> {
    inverse: &'a [[f64; LANES]],
    offset: &'a [[f64; LANES]],
    factor: &'a [[u32; LANES]],
}

impl Panel<'_> {
    /// The hashes of R rows: Σⱼ factorⱼ·bⱼ in 64 bits, and one rest at the end.
    ///
    /// # Safety
    /// The processor has the instructions of `L`. The rows are near, see [`Grids::is_near`].
    #[inline(always)]
    unsafe fn near<L: WholeLanes, const R: usize>(&self, rows: &[f64]) -> [[u32; LANES]; R] {
        /// A multiple of p that makes every sum positive.
        const START: u64 = (CELL_PRIME as u64) << 32;
        let d = self.inverse.len();
        assert!(rows.len() == R * d && self.offset.len() == d && self.factor.len() == d, "shapes differ");
        let mut hashes = [[0; LANES]; R];
        for v in (0..LANES).step_by(L::N) {
            // SAFETY: every j is below d, and v + N is at most LANES; the caller says the rest.
            unsafe {
                let mut sums = [L::splat_whole(START); R];
                for j in 0..d {
                    let inverse = L::load(self.inverse.get_unchecked(j).as_ptr().add(v));
                    let offset = L::load(self.offset.get_unchecked(j).as_ptr().add(v));
                    let factor = L::load_whole(self.factor.get_unchecked(j).as_ptr().add(v));
                    for r in 0..R {
                        let x = L::splat(*rows.get_unchecked(r * d + j));
                        // Two roundings, on every instruction set.
                        sums[r] = x.mul(inverse).sub(offset).floor_mul_add(factor, sums[r]);
                    }
                }
                for r in 0..R {
                    L::store_rests(sums[r], hashes[r].as_mut_ptr().add(v));
                }
            }
        }
        hashes
    }

    /// The hashes of a row with bins of any size. Written for arrays; the compiler makes vectors of them.
    #[inline(always)]
    fn far(&self, row: &[f64]) -> [u32; LANES] {
        let mut sums = [0u64; LANES];
        for (&x, ((inverse, offset), factor)) in
            row.iter().zip(self.inverse.iter().zip(self.offset).zip(self.factor))
        {
            for l in 0..LANES {
                sums[l] += term(x, inverse[l], offset[l], factor[l]);
            }
        }
        sums.map(|sum| (sum % u64::from(CELL_PRIME)) as u32)
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
            let grids = Grids::pack(columns, count, &|g, j| {
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
        let grids = Grids::pack(1, 1, &|_, _| (2.0, 0.5, 1));
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

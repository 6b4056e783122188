//! Sums of outer products over rows: the inner loops of a Gram matrix.
//!
//! ```text
//! C(i, j) += Σᵣ a(r, i)·b(r, j)       i, j within two tiles of TILE columns, r over a range of rows
//! ```
//! Columns are packed by tile ([`pack_columns`]) into panels of register width. The sum over one call runs in the type
//! of the features, in the order of rows, and is then added to the f64 output: with f32 features and blocks of 4,096 rows
//! the rounding error is that of a block, not of the whole data.

use crate::aligned::Unwritten;
use crate::dispatch::{Task, dispatch, panel_width};
use crate::lanes::{Lanes, VECTORS};
use crate::soon::Soon;
use crate::{Element, Isa};

/// Columns in a tile: a multiple of the panel width of every instruction set (48, 24, 12).
pub const TILE: usize = 192;

/// Rows of a pair of panels that stay in the first-level cache: as many as fit, since sums are read and written once for so many.
const ROW_CHUNK: usize = 96;

/// Rows between two prefetches: a line or less comes next for so many, on every instruction set.
const ROWS_AN_ASK: usize = 8;

/// Packs `count` ≤ [`TILE`] columns of some rows, each row times its factor, into `packed`
/// (`order.len()` × [`TILE`]): panel by panel, row by row, zeros to the right.
///
/// `row(r)` gives the entries of the tile's columns in row r; packed row q is row `order[q].0` times `order[q].1`.
#[inline(never)]
pub fn pack_columns<'a, T: Element>(
    isa: Isa,
    order: &[(u32, f64)],
    row: &dyn Fn(usize) -> &'a [T],
    packed: &mut [T],
) {
    let (width, rows) = (panel_width::<T>(isa), order.len());
    assert!(packed.len() == rows * TILE, "packed tiles hold TILE columns a row");
    for (q, &(r, factor)) in order.iter().enumerate() {
        let entries = row(r as usize);
        assert!(entries.len() <= TILE, "a tile has TILE columns");
        for panel in 0..TILE / width {
            let to = &mut packed[(panel * rows + q) * width..][..width];
            let from = entries.get(panel * width..).unwrap_or(&[]);
            let count = from.len().min(width);
            if factor.to_bits() == 1f64.to_bits() {
                to[..count].copy_from_slice(&from[..count]); // the usual case: no rounding, no conversion
            } else {
                for (to, from) in to.iter_mut().zip(from) {
                    *to = T::from_f64(from.to_f64() * factor);
                }
            }
            to[count..].fill(T::default());
        }
    }
}

/// Which entries of a tile of C are wanted: whole panels around them are computed, and the rest stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Columns of A.
    pub a: usize,
    /// Columns of B.
    pub b: usize,
    /// Only the upper triangle, i ≤ j, of as many columns on both sides.
    pub upper: bool,
}

/// C += AᵀB over packed rows `rows` of `a` and `b`, both packed from the same rows; C is [`TILE`]×[`TILE`], row-major.
///
/// # Panics
/// If the slices do not have these shapes.
#[inline(never)]
pub fn rank_tile<T: Element>(
    isa: Isa,
    a: &[T],
    b: &[T],
    rows: std::ops::Range<usize>,
    extent: Extent,
    c: &mut [f64],
) {
    let total = a.len() / TILE;
    assert!(a.len() == total * TILE && b.len() == a.len() && c.len() == TILE * TILE, "shapes differ");
    assert!(rows.start <= rows.end && rows.end <= total, "rows out of range");
    assert!(extent.a <= TILE && extent.b <= TILE, "a tile has TILE columns");
    assert!(!extent.upper || extent.a == extent.b, "a triangle is square");
    if !rows.is_empty() {
        dispatch(isa, RankTile { a, b, total, rows, extent, c });
    }
}

struct RankTile<'a, T> {
    a: &'a [T],
    b: &'a [T],
    total: usize,
    rows: std::ops::Range<usize>,
    extent: Extent,
    c: &'a mut [f64],
}

impl<T: Element> Task<T> for RankTile<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = T>, const R: usize>(self) {
        let width = VECTORS * L::N;
        let Extent { a, b, upper } = self.extent;
        let across = |i: usize| if upper { i } else { 0 }..b.div_ceil(width);
        let mut sums = Unwritten::<T>::of(TILE * TILE);
        for start in self.rows.clone().step_by(ROW_CHUNK) {
            let (end, is_first) = (self.rows.end.min(start + ROW_CHUNK), start == self.rows.start);
            for i in 0..a.div_ceil(width) {
                let a = &self.a[(i * self.total + start) * width..(i * self.total + end) * width];
                for j in across(i) {
                    let b = &self.b[(j * self.total + start) * width..(j * self.total + end) * width];
                    let after = |panel: usize| {
                        let rows = end..self.rows.end.min(end + ROW_CHUNK);
                        (panel * self.total + rows.start) * width..(panel * self.total + rows.end) * width
                    };
                    let slices = width / R;
                    for slice in 0..slices {
                        let part = |other: usize| {
                            (other * slices + slice, TILE / width * slices, ROW_CHUNK / ROWS_AN_ASK)
                        };
                        let next =
                            [Soon::of(&self.a[after(i)], part(j)), Soon::of(&self.b[after(j)], part(i))];
                        let at = (i * width + slice * R) * TILE + j * width;
                        // SAFETY: `at` + R rows of stride TILE lie inside the sums; as `run`'s for the rest.
                        unsafe {
                            let to = sums.as_mut_ptr().add(at);
                            outer::<L, R>(&a[slice * R..], b, width, next, is_first, to);
                        }
                    }
                }
            }
        }
        for i in 0..a {
            let columns = across(i / width).start * width..b;
            // SAFETY: there are rows, and the first of them have written all panels that these entries lie in.
            let sums = unsafe {
                let from = sums.as_mut_ptr().add(i * TILE + columns.start);
                std::slice::from_raw_parts(from, columns.len())
            };
            for (c, sum) in self.c[i * TILE..][columns].iter_mut().zip(sums) {
                *c += sum.to_f64();
            }
        }
    }
}

/// sums(i, j) += Σᵣ a(r, i)·b(r, j) for `R` columns of one panel and all columns of another; the
/// first rows write what was not there.
#[inline(always)]
unsafe fn outer<L: Lanes, const R: usize>(
    a: &[L::Elem],
    b: &[L::Elem],
    width: usize,
    mut next: [Soon; 2],
    is_first: bool,
    to: *mut L::Elem,
) {
    unsafe {
        let rows = b.len() / width;
        let mut c = [[L::constant(0.0); VECTORS]; R];
        if !is_first {
            for i in 0..R {
                for v in 0..VECTORS {
                    c[i][v] = L::load(to.add(i * TILE + v * L::N));
                }
            }
        }
        let (mut a, mut b) = (a.as_ptr(), b.as_ptr());
        for start in (0..rows).step_by(ROWS_AN_ASK) {
            next[0].ask::<L>();
            next[1].ask::<L>();
            for _ in start..rows.min(start + ROWS_AN_ASK) {
                let columns = [L::load(b), L::load(b.add(L::N)), L::load(b.add(2 * L::N))];
                for i in 0..R {
                    let x = L::splat(*a.add(i));
                    for v in 0..VECTORS {
                        c[i][v] = x.mul_add(columns[v], c[i][v]);
                    }
                    L::end_of_row(&c[i]);
                }
                a = a.add(width);
                b = b.add(width);
            }
        }
        for i in 0..R {
            for v in 0..VECTORS {
                c[i][v].store(to.add(i * TILE + v * L::N));
            }
        }
    }
}

/// C += AᵀY over packed rows `rows` of `a`; Y is rows×outputs in f64, row-major in packed order; C is
/// `outputs`×[`TILE`], row-major.
///
/// # Panics
/// If the slices do not have these shapes.
#[inline(never)]
pub fn cross_tile<T: Element>(isa: Isa, a: &[T], y: &[f64], rows: std::ops::Range<usize>, c: &mut [f64]) {
    let (total, outputs) = (a.len() / TILE, c.len() / TILE);
    assert!(
        a.len() == total * TILE && total.checked_mul(outputs) == Some(y.len()) && c.len() == outputs * TILE,
        "shapes differ"
    );
    assert!(rows.start <= rows.end && rows.end <= total, "rows out of range");
    dispatch(isa, CrossTile { a, y, total, rows, outputs, c });
}

struct CrossTile<'a, T> {
    a: &'a [T],
    y: &'a [f64],
    total: usize,
    rows: std::ops::Range<usize>,
    outputs: usize,
    c: &'a mut [f64],
}

/// Outputs summed at once in [`CrossTile`].
const OUTPUTS: usize = 4;

impl<T: Element> Task<T> for CrossTile<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = T>, const R: usize>(self) {
        let width = VECTORS * L::N;
        for column in (0..TILE).step_by(L::N) {
            let panel = &self.a[column / width * self.total * width..][..self.total * width];
            for first in (0..self.outputs).step_by(OUTPUTS) {
                let count = OUTPUTS.min(self.outputs - first);
                // SAFETY: `panel` holds `total` rows of `width`, y `total` rows of `outputs`; c is in bounds.
                unsafe {
                    let mut sums = [[L::Wide::constant(0.0); 2]; OUTPUTS];
                    for r in self.rows.clone() {
                        let (low, high) = L::load(panel.as_ptr().add(r * width + column % width)).widen();
                        for o in 0..count {
                            let y = L::Wide::splat(*self.y.get_unchecked(r * self.outputs + first + o));
                            sums[o][0] = low.mul_add(y, sums[o][0]);
                            sums[o][1] = high.mul_add(y, sums[o][1]);
                        }
                    }
                    for o in 0..count {
                        let to = self.c[(first + o) * TILE + column..].as_mut_ptr();
                        L::Wide::load(to).add(sums[o][0]).store(to);
                        if L::N > L::Wide::N {
                            let to = to.add(L::Wide::N);
                            L::Wide::load(to).add(sums[o][1]).store(to);
                        }
                    }
                }
            }
        }
    }
}

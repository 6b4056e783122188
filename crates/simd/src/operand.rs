//! Matrices that a product reads, and the order in which it reads them.
//!
//! ```text
//! left    A in strips of R rows        (a(0, k) … a(R−1, k)) for k = 0, 1, …
//! right   B in panels of columns       (b(k, 0) … b(k, W−1)) for k = 0, 1, …
//! ```
//! R is the height of a register tile and W its width. A last strip is filled with zeros to R rows;
//! a last panel is as narrow as its columns allow, in whole vectors.

use crate::Isa;
use crate::dispatch::{Task, dispatch};
use crate::isa::Level;
use crate::lanes::{Lanes, MOST_LANES, VECTORS};
use crate::transpose::transposed;

/// Lines that are packed at once.
const AT_ONCE: usize = 8;

/// A matrix to read, whose rows are contiguous or whose columns are.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    data: &'a [f64],
    /// From the start of one line to the start of the next.
    stride: usize,
    lines: usize,
    length: usize,
    /// Lines are columns.
    columns_first: bool,
}

impl<'a> Operand<'a> {
    /// Row i is `data[i·stride .. i·stride + columns]`.
    ///
    /// # Panics
    /// If `data` is too short for that.
    pub fn new(data: &'a [f64], rows: usize, columns: usize, stride: usize) -> Self {
        assert!(columns <= stride || rows <= 1, "rows must not overlap");
        let needed =
            (rows.saturating_sub(1)).checked_mul(stride).and_then(|start| start.checked_add(columns));
        assert!(rows == 0 || needed.is_some_and(|needed| needed <= data.len()), "the matrix is too short");
        Operand { data, stride, lines: rows, length: columns, columns_first: false }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        if self.columns_first { self.length } else { self.lines }
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        if self.columns_first { self.lines } else { self.length }
    }

    /// The transposed matrix.
    pub fn transposed(self) -> Self {
        Operand { columns_first: !self.columns_first, ..self }
    }

    /// Whether columns are what is contiguous.
    pub fn columns_are_contiguous(&self) -> bool {
        self.columns_first
    }

    /// The part in some rows and columns.
    ///
    /// # Panics
    /// If it is not inside.
    pub fn part(self, rows: std::ops::Range<usize>, columns: std::ops::Range<usize>) -> Self {
        assert!(rows.start <= rows.end && rows.end <= self.rows(), "rows out of range");
        assert!(columns.start <= columns.end && columns.end <= self.columns(), "columns out of range");
        let (lines, entries) = if self.columns_first { (columns, rows) } else { (rows, columns) };
        let at = (lines.start * self.stride + entries.start).min(self.data.len());
        Operand { data: &self.data[at..], lines: lines.len(), length: entries.len(), ..self }
    }

    /// Where row i starts.
    #[inline(always)]
    pub(crate) fn at(&self, i: usize) -> *const f64 {
        assert!(i < self.rows(), "row out of range");
        self.data[if self.columns_first { i } else { i * self.stride }..].as_ptr()
    }

    /// From an entry of a row to the next.
    pub(crate) fn step(&self) -> usize {
        if self.columns_first { self.stride } else { 1 }
    }

    /// A contiguous row or column.
    #[inline(always)]
    pub fn line(&self, i: usize) -> &'a [f64] {
        assert!(i < self.lines, "line out of range");
        &self.data[i * self.stride..][..self.length]
    }
}

/// Where in a product a matrix stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// A of A·B.
    Left,
    /// B of A·B.
    Right,
}

/// The rows of a register tile, and the columns.
pub fn tile_shape(isa: Isa) -> (usize, usize) {
    let rows = match isa.0 {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => 8,
        _ => 4,
    };
    (rows, crate::dispatch::panel_width::<f64>(isa))
}

/// The packed entries of so many rows of a left side, or columns of a right side.
pub fn packed_size(isa: Isa, side: Side, count: usize, depth: usize) -> usize {
    let (rows, width) = tile_shape(isa);
    count.next_multiple_of(if side == Side::Left { rows } else { width / VECTORS }) * depth
}

/// Packs a matrix for [`product_tile`](crate::product_tile).
///
/// # Panics
/// If `to` does not have [`packed_size`].
pub fn pack(isa: Isa, side: Side, matrix: Operand<'_>, to: &mut [f64]) {
    // Panels of columns are strips of rows of the transposed matrix.
    let matrix = if side == Side::Left { matrix } else { matrix.transposed() };
    assert!(to.len() == packed_size(isa, side, matrix.rows(), matrix.columns()), "another packed size");
    dispatch(isa, Pack { side, matrix, to });
}

struct Pack<'a> {
    side: Side,
    matrix: Operand<'a>,
    to: &'a mut [f64],
}

impl Task<f64> for Pack<'_> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = f64>, const R: usize>(self) {
        let (width, unit) = if self.side == Side::Left { (R, R) } else { (VECTORS * L::N, L::N) };
        let depth = self.matrix.columns();
        // Lines far apart may share the few places of a cache that they fit into: only as many are
        // read at once.
        let steps = if self.matrix.columns_first { AT_ONCE } else { depth.max(1) };
        for k in (0..depth).step_by(steps) {
            let steps = k..depth.min(k + steps);
            for (start, to) in (0..).step_by(width).zip(self.to.chunks_mut(width * depth)) {
                let rows = start..self.matrix.rows().min(start + width);
                let rows = self.matrix.part(rows, steps.clone());
                let width = rows.rows().next_multiple_of(unit);
                let to = &mut to[k * width..][..steps.len() * width];
                if self.matrix.columns_first {
                    copy::<L>(rows, width, to);
                } else {
                    // SAFETY: `to` holds `depth` rows of `width`, a multiple of the vector; as `run`'s for the rest.
                    unsafe { turn::<L>(rows, width, to) };
                }
            }
        }
    }
}

/// Column after column, each contiguous.
#[inline(always)]
fn copy<L: Lanes<Elem = f64>>(rows: Operand<'_>, width: usize, to: &mut [f64]) {
    let count = rows.rows();
    for (k, to) in to.chunks_exact_mut(width).enumerate() {
        let from = rows.line(k);
        if count == width {
            for (to, from) in to.chunks_exact_mut(L::N).zip(from.chunks_exact(L::N)) {
                // SAFETY: both hold a vector; the task's caller vouches for the instructions.
                unsafe { L::load(from.as_ptr()).store(to.as_mut_ptr()) };
            }
        } else {
            to[..count].copy_from_slice(from);
            to[count..].fill(0.0);
        }
    }
}

/// Squares of N × N entries in registers, what is left of the columns one by one.
#[inline(always)]
unsafe fn turn<L: Lanes<Elem = f64>>(rows: Operand<'_>, width: usize, to: &mut [f64]) {
    let (count, depth) = (rows.rows(), rows.columns());
    let whole = depth / L::N * L::N;
    for first in (0..width).step_by(L::N) {
        let lanes = L::N.min(count.saturating_sub(first));
        let mut lines: [&[f64]; MOST_LANES] = [&[]; MOST_LANES];
        (0..lanes).for_each(|lane| lines[lane] = rows.line(first + lane));
        for k in (0..whole).step_by(L::N) {
            // SAFETY: lines hold `depth` entries and `to` `depth` rows of `width`.
            unsafe {
                let mut tile = [L::constant(0.0); MOST_LANES];
                for lane in 0..lanes {
                    tile[lane] = L::load(lines[lane].as_ptr().add(k));
                }
                let tile = transposed(tile);
                for i in 0..L::N {
                    tile[i].store(to.as_mut_ptr().add((k + i) * width + first));
                }
            }
        }
        for k in whole..depth {
            for lane in 0..L::N {
                to[k * width + first + lane] = if lane < lanes { lines[lane][k] } else { 0.0 };
            }
        }
    }
}

/// Writes the transposed rows `from` into the rows `to`: `to[k][i] = from[i][k]`.
///
/// # Panics
/// If the shapes differ, or if rows are not equally long.
pub fn transpose(isa: Isa, from: &[&[f64]], to: &mut [&mut [f64]]) {
    assert!(from.iter().all(|row| row.len() == to.len()), "shapes differ");
    assert!(to.iter().all(|row| row.len() == from.len()), "shapes differ");
    dispatch(isa, Transpose { from, to });
}

struct Transpose<'a, 'b, 'c> {
    from: &'a [&'a [f64]],
    to: &'b mut [&'c mut [f64]],
}

impl Task<f64> for Transpose<'_, '_, '_> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = f64>, const R: usize>(self) {
        let (count, length) = (self.from.len(), self.to.len());
        let (whole_rows, whole) = (count / L::N * L::N, length / L::N * L::N);
        for first in (0..whole_rows).step_by(L::N) {
            for k in (0..whole).step_by(L::N) {
                // SAFETY: both sides hold N rows of N entries from here on.
                unsafe {
                    let mut tile = [L::constant(0.0); MOST_LANES];
                    for lane in 0..L::N {
                        tile[lane] = L::load(self.from.get_unchecked(first + lane).as_ptr().add(k));
                    }
                    let tile = transposed(tile);
                    for i in 0..L::N {
                        tile[i].store(self.to.get_unchecked_mut(k + i).as_mut_ptr().add(first));
                    }
                }
            }
        }
        for (i, from) in self.from.iter().enumerate() {
            let rest = if i < whole_rows { whole } else { 0 };
            (rest..length).for_each(|k| self.to[k][i] = from[k]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(i: usize, j: usize) -> f64 {
        (1000 * i + j + 1) as f64
    }

    #[test]
    fn packed_entries_are_where_tiles_read_them() {
        for isa in Isa::available() {
            let (tile_rows, tile_columns) = tile_shape(isa);
            for (count, depth) in [(1, 1), (3, 9), (8, 8), (23, 5), (25, 17), (53, 30), (0, 3), (3, 0)] {
                let stride = depth.max(count) + 3;
                let rows: Vec<f64> =
                    (0..count.max(depth) * stride).map(|p| entry(p / stride, p % stride)).collect();
                let straight = Operand::new(&rows, count, depth, stride);
                // entry(k, i) for the transposed of `turned`
                let turned = Operand::new(&rows, depth, count, stride).transposed();
                for side in [Side::Left, Side::Right] {
                    for (matrix, is_turned) in [(straight, false), (turned, true)] {
                        let given = if side == Side::Left { matrix } else { matrix.transposed() };
                        let mut to = vec![f64::NAN; packed_size(isa, side, count, depth)];
                        pack(isa, side, given, &mut to);
                        let (width, unit) = match side {
                            Side::Left => (tile_rows, tile_rows),
                            Side::Right => (tile_columns, tile_columns / VECTORS),
                        };
                        for i in 0..to.len().checked_div(depth).unwrap_or(0) {
                            let start = i / width * width;
                            let width = width.min((count - start).next_multiple_of(unit));
                            for k in 0..depth {
                                let expected = match (i < count, is_turned) {
                                    (false, _) => 0.0,
                                    (true, false) => entry(i, k),
                                    (true, true) => entry(k, i),
                                };
                                let found: f64 = to[start * depth + k * width + i - start];
                                assert_eq!(found.to_bits(), expected.to_bits());
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn rows_become_columns() {
        for isa in Isa::available() {
            for (count, length) in [(1, 1), (8, 8), (17, 9), (7, 30), (2, 0)] {
                let rows: Vec<Vec<f64>> =
                    (0..count).map(|i| (0..length).map(|j| entry(i, j)).collect()).collect();
                let mut columns = vec![vec![0.0; count]; length];
                let from: Vec<&[f64]> = rows.iter().map(|row| &row[..]).collect();
                let mut to: Vec<&mut [f64]> = columns.iter_mut().map(|row| &mut row[..]).collect();
                transpose(isa, &from, &mut to);
                assert!(
                    (0..count).all(|i| (0..length).all(|j| columns[j][i].to_bits() == entry(i, j).to_bits()))
                );
            }
        }
    }
}

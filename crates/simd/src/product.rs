//! Products of matrices in f64: the inner loops of dense linear algebra.
//!
//! ```text
//! C(i, j) += factor·Σₖ A(i, k)·B(k, j)
//! ```
//! A register tile holds `R` rows × three vectors of C, and runs over all k: each entry of C is one
//! chain of operations in the order of k, wherever the tile lies that computes it.

use crate::dispatch::{Task, dispatch};
use crate::lanes::{Lanes, MOST_LANES, VECTORS};
use crate::{Isa, Operand, Side, packed_size};

/// The most rows of a register tile.
const MOST_ROWS: usize = 8;

/// Steps of the inner loop that are written out.
const UNROLLED: usize = 4;

/// C += factor·A·B for [packed](crate::pack) `a` and `b`, summed over `depth`; the rows of C may
/// end anywhere, and have only the entries up to there. Rows and columns of C are the first ones of
/// A and B.
///
/// # Panics
/// If C has more rows than A or more columns than B, or if A or B is not packed for this
/// instruction set and depth.
pub fn product_tile(isa: Isa, a: &[f64], b: &[f64], depth: usize, factor: f64, c: &mut [&mut [f64]]) {
    check(isa, b, depth, c);
    let rows = packed_count(isa, Side::Left, a, depth).unwrap_or(c.len());
    assert!(c.len() <= rows, "C has more rows than A");
    if depth > 0 {
        dispatch(isa, ProductTile { a, b, depth, factor, c });
    }
}

/// As [`product_tile`], with the same bits, for an A that is not packed: where B has few columns,
/// packing takes longer than it saves.
///
/// # Panics
/// If C has other rows than A or more columns than B, or if B is not packed for this instruction
/// set and A's columns.
pub fn thin_product(isa: Isa, a: Operand<'_>, b: &[f64], factor: f64, c: &mut [&mut [f64]]) {
    check(isa, b, a.columns(), c);
    assert!(c.len() == a.rows(), "C has other rows than A");
    if a.columns() > 0 {
        dispatch(isa, ThinProduct { a, b, factor, c });
    }
}

fn check(isa: Isa, b: &[f64], depth: usize, c: &[&mut [f64]]) {
    let columns = c.iter().map(|row| row.len()).max().unwrap_or(0);
    assert!(
        columns <= packed_count(isa, Side::Right, b, depth).unwrap_or(columns),
        "C has more columns than B"
    );
}

/// The rows or columns that are packed in these entries; none if the depth says nothing.
fn packed_count(isa: Isa, side: Side, entries: &[f64], depth: usize) -> Option<usize> {
    let count = entries.len().checked_div(depth)?;
    assert!(
        packed_size(isa, side, count, depth) == entries.len(),
        "not packed for this instruction set and depth"
    );
    Some(count)
}

struct ProductTile<'a, 'b> {
    a: &'a [f64],
    b: &'a [f64],
    depth: usize,
    factor: f64,
    c: &'a mut [&'b mut [f64]],
}

impl Task<f64> for ProductTile<'_, '_> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = f64>, const R: usize>(self) {
        for (start, b) in panels::<L>(self.b, self.depth) {
            for (c, a) in self.c.chunks_mut(R).zip(self.a.chunks_exact(R * self.depth)) {
                // SAFETY: a strip and a panel of `depth` steps; as `run`'s for the rest.
                unsafe { strip::<L, R>(Packed::<R>(a.as_ptr()), b, self.depth, self.factor, c, start) };
            }
        }
    }
}

struct ThinProduct<'a, 'b> {
    a: Operand<'a>,
    b: &'a [f64],
    factor: f64,
    c: &'a mut [&'b mut [f64]],
}

impl Task<f64> for ThinProduct<'_, '_> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = f64>, const R: usize>(self) {
        let depth = self.a.columns();
        for (first, c) in (0..).step_by(R).zip(self.c.chunks_mut(R)) {
            // Rows that are missing are computed like the last one, and written nowhere.
            let rows: [_; R] = std::array::from_fn(|i| self.a.at(first + i.min(c.len() - 1)));
            let a = Strided { rows, step: self.a.step() };
            for (start, b) in panels::<L>(self.b, depth) {
                // SAFETY: entries of `depth` steps in each row, and a panel of them; as `run`'s for the rest.
                unsafe { strip::<L, R>(a, b, depth, self.factor, c, start) };
            }
        }
    }
}

/// The panels of B, each with its first column.
#[inline(always)]
fn panels<L: Lanes<Elem = f64>>(b: &[f64], depth: usize) -> impl Iterator<Item = (usize, &[f64])> {
    let width = VECTORS * L::N;
    b.chunks(width * depth).enumerate().map(move |(panel, b)| (panel * width, b))
}

/// `R` entries of A after another.
trait Left<const R: usize>: Copy {
    /// # Safety
    /// There is such an entry.
    unsafe fn entry(&self, i: usize) -> f64;
    /// Goes so many steps of k further.
    fn skip(&mut self, steps: usize);
    /// The entries so many steps of k further.
    #[inline(always)]
    fn after(mut self, steps: usize) -> Self {
        self.skip(steps);
        self
    }
}

/// A strip of packed entries.
#[derive(Clone, Copy)]
struct Packed<const R: usize>(*const f64);

impl<const R: usize> Left<R> for Packed<R> {
    #[inline(always)]
    unsafe fn entry(&self, i: usize) -> f64 {
        unsafe { *self.0.add(i) }
    }
    #[inline(always)]
    fn skip(&mut self, steps: usize) {
        self.0 = self.0.wrapping_add(R * steps);
    }
}

/// Unpacked rows.
#[derive(Clone, Copy)]
struct Strided<const R: usize> {
    rows: [*const f64; R],
    step: usize,
}

impl<const R: usize> Left<R> for Strided<R> {
    #[inline(always)]
    unsafe fn entry(&self, i: usize) -> f64 {
        unsafe { *self.rows[i] }
    }
    #[inline(always)]
    fn skip(&mut self, steps: usize) {
        for row in &mut self.rows {
            *row = row.wrapping_add(self.step * steps);
        }
    }
}

/// The entries of up to `R` rows of C in the columns of a panel, from `start` on.
#[inline(always)]
unsafe fn strip<L: Lanes<Elem = f64>, const R: usize>(
    a: impl Left<R>,
    b: &[f64],
    depth: usize,
    factor: f64,
    c: &mut [&mut [f64]],
    start: usize,
) {
    let vectors = b.len() / (depth * L::N);
    let width = vectors * L::N;
    let mut to = [std::ptr::null_mut(); R];
    if c.len() == R && c.iter().all(|row| row.len() >= start + width) {
        for i in 0..R {
            to[i] = c[i][start..].as_mut_ptr();
        }
        // SAFETY: R rows that hold `width` entries from `start` on.
        unsafe { tile_of::<L, R>(a, b, depth, factor, to, vectors) };
    } else if c.iter().any(|row| row.len() > start) {
        // The same computation, in a place where there is room for all of it.
        let mut room = [0.0; MOST_ROWS * VECTORS * (MOST_LANES / 2)]; // lanes of f64
        for i in 0..R {
            let room = &mut room[i * width..][..width];
            if let Some(row) = c.get(i).and_then(|row| row.get(start..)) {
                let count = row.len().min(width);
                room[..count].copy_from_slice(&row[..count]);
            }
            to[i] = room.as_mut_ptr();
        }
        // SAFETY: R rows of `width` entries.
        unsafe { tile_of::<L, R>(a, b, depth, factor, to, vectors) };
        for (i, row) in c.iter_mut().enumerate() {
            if let Some(row) = row.get_mut(start..) {
                let count = row.len().min(width);
                row[..count].copy_from_slice(&room[i * width..][..count]);
            }
        }
    }
}

/// A whole register tile of so many vectors.
#[inline(always)]
unsafe fn tile_of<L: Lanes<Elem = f64>, const R: usize>(
    a: impl Left<R>,
    b: &[f64],
    depth: usize,
    factor: f64,
    to: [*mut f64; R],
    vectors: usize,
) {
    unsafe {
        match vectors {
            1 => tile::<L, R, 1>(a, b, depth, factor, to),
            2 => tile::<L, R, 2>(a, b, depth, factor, to),
            VECTORS => tile::<L, R, VECTORS>(a, b, depth, factor, to),
            _ => unreachable!("panels are packed in whole vectors"),
        }
    }
}

/// C(i, j) += factor·Σₖ a(k, i)·b(k, j) for a whole register tile.
#[inline(always)]
unsafe fn tile<L: Lanes<Elem = f64>, const R: usize, const V: usize>(
    mut a: impl Left<R>,
    b: &[f64],
    depth: usize,
    factor: f64,
    to: [*mut f64; R],
) {
    unsafe {
        for i in 0..R {
            for v in 0..V {
                L::prefetch(to[i].add(v * L::N));
            }
            L::prefetch(to[i].add(V * L::N - 1)); // rows of C start anywhere in a line
        }
        let mut c = [[L::constant(0.0); VECTORS]; R];
        let mut b = b.as_ptr();
        for _ in 0..depth / UNROLLED {
            for k in 0..UNROLLED {
                step::<L, R, V>(a.after(k), b.add(k * V * L::N), &mut c);
            }
            a.skip(UNROLLED);
            b = b.add(UNROLLED * V * L::N);
        }
        for _ in 0..depth % UNROLLED {
            step::<L, R, V>(a, b, &mut c);
            a.skip(1);
            b = b.add(V * L::N);
        }
        let factor = L::splat(factor);
        for i in 0..R {
            for v in 0..V {
                let to = to[i].add(v * L::N);
                factor.mul_add(c[i][v], L::load(to)).store(to);
            }
        }
    }
}

/// C(i, j) += a(i)·b(j).
#[inline(always)]
unsafe fn step<L: Lanes<Elem = f64>, const R: usize, const V: usize>(
    a: impl Left<R>,
    b: *const f64,
    c: &mut [[L; VECTORS]; R],
) {
    unsafe {
        let mut columns = [L::constant(0.0); V];
        for v in 0..V {
            columns[v] = L::load(b.add(v * L::N));
        }
        for i in 0..R {
            let x = L::splat(a.entry(i));
            for v in 0..V {
                c[i][v] = x.mul_add(columns[v], c[i][v]);
            }
            if V == VECTORS {
                L::end_of_row(&c[i]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{pack, tile_shape};
    use bochner_testkit::{Absolute, assert_close, assert_same_bits, normals};

    fn packed(isa: Isa, side: Side, count: usize, depth: usize, entries: &[f64]) -> Vec<f64> {
        let mut to = vec![0.0; packed_size(isa, side, count, depth)];
        let (rows, columns) = if side == Side::Left { (count, depth) } else { (depth, count) };
        pack(isa, side, Operand::new(entries, rows, columns, columns), &mut to);
        to
    }

    /// Rows of C that end anywhere: what lies beyond stays as it was, and what lies before has the
    /// bits of the whole.
    #[test]
    fn tiles_of_any_shape_are_the_triple_loop() {
        for isa in Isa::available() {
            let (tile_rows, tile_columns) = tile_shape(isa);
            for rows in [1, tile_rows - 1, tile_rows, tile_rows + 1, 3 * tile_rows] {
                for columns in [1, tile_columns / 3 + 1, tile_columns - 1, tile_columns, 2 * tile_columns + 1]
                {
                    for depth in [0, 1, 3, 4, 9] {
                        let (a, b) = (normals(rows, depth, 1), normals(depth, columns, 2));
                        let left = packed(isa, Side::Left, rows, depth, &a);
                        let right = packed(isa, Side::Right, columns, depth, &b);
                        let mut expected = normals(rows, columns, 3);
                        let (start, mut whole) = (expected.clone(), expected.clone());
                        for i in 0..rows {
                            for j in 0..columns {
                                let sum: f64 =
                                    (0..depth).map(|k| a[i * depth + k] * b[k * columns + j]).sum();
                                expected[i * columns + j] -= 0.5 * sum;
                            }
                        }
                        let mut c: Vec<&mut [f64]> = whole.chunks_exact_mut(columns).collect();
                        product_tile(isa, &left, &right, depth, -0.5, &mut c);
                        assert_close(&whole, &expected, Absolute(1e-13));
                        let turned: Vec<f64> =
                            (0..rows * depth).map(|p| a[p % rows * depth + p / rows]).collect();
                        let straight = Operand::new(&a, rows, depth, depth);
                        let turned = Operand::new(&turned, depth, rows, rows).transposed();
                        for a in [straight, turned] {
                            let mut thin = start.clone();
                            let mut c: Vec<&mut [f64]> = thin.chunks_exact_mut(columns).collect();
                            thin_product(isa, a, &right, -0.5, &mut c);
                            assert_same_bits(&thin, &whole);
                        }
                        let mut ragged = start.clone();
                        let end = |i: usize| (7 * i + 1) % (columns + 1);
                        let mut c: Vec<&mut [f64]> = Vec::new();
                        for (i, row) in ragged.chunks_exact_mut(columns).enumerate() {
                            c.push(&mut row[..end(i)]);
                        }
                        product_tile(isa, &left, &right, depth, -0.5, &mut c);
                        for i in 0..rows {
                            let (row, cut) = (i * columns, i * columns + end(i));
                            assert_same_bits(&ragged[row..cut], &whole[row..cut]);
                            assert_same_bits(&ragged[cut..row + columns], &start[cut..row + columns]);
                        }
                    }
                }
            }
        }
    }
    /// What is not packed for the tile is refused before anything is read.
    #[test]
    fn other_packings_are_refused() {
        let refused = |a: &[f64], b: &[f64], depth: usize| {
            let mut c = [0.0];
            let c: &mut [&mut [f64]] = &mut [&mut c];
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                product_tile(Isa::PORTABLE, a, b, depth, 1.0, c);
            }))
            .is_err()
        };
        let rows = packed_size(Isa::PORTABLE, Side::Left, 1, 3);
        let columns = packed_size(Isa::PORTABLE, Side::Right, 1, 3);
        assert!(!refused(&vec![1.0; rows], &vec![1.0; columns], 3));
        assert!(refused(&vec![1.0; rows - 1], &vec![1.0; columns], 3));
        assert!(refused(&vec![1.0; rows], &vec![1.0; columns + 1], 3));
        assert!(refused(&vec![1.0; rows], &[1.0; 3], 3), "three columns are no whole vector");
        assert!(refused(&[1.0; 4], &[1.0], 1));
        let matrix = |stride| std::panic::catch_unwind(|| Operand::new(&[1.0; 4], 3, 1, stride)).is_err();
        assert!(matrix(usize::MAX) && matrix(usize::MAX / 2 + 1), "the size of the matrix overflows");
    }
}

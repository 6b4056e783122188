//! Products by blocks.
//!
//! ```text
//! C(i, j) += factor·Σₖ A(i, k)·B(k, j)       k in chunks, each summed in order and then added to C
//! ```
//! For each chunk of k, B is packed once for all threads, A by each thread for its rows of C.
//! Threads share the entries of C, never a sum, and chunks depend on the length of the sum alone:
//! so do the bits.

use std::ops::Range;

use bochner_simd::{
    Aligned, Operand, Side, add_rows, pack, packed_size, product_tile, row_products, thin_product, tile_shape,
};

use crate::{Engine, Matrix};

/// The longest chunk of k. Each chunk reads and writes all of C, which costs more than panels that
/// leave a first-level cache.
const DEPTH: usize = 512;

/// Rows of A that are packed at once: with this depth, they stay in a second-level cache.
const ROWS: usize = 72;

/// Columns of B that are packed at once.
const COLUMNS: usize = 3072;

/// Columns of B for which A is read where it is: packing it takes longer than it saves.
const THIN: usize = 128;

/// Rows of A for which B is read where it is.
const FEW_ROWS: usize = 4;

/// Columns of B of which a thread multiplies a few rows at once, and those rows: they stay in a
/// second-level cache.
const RUN: usize = 1024;
const TOGETHER: usize = 8;

/// Rows of A that a thread multiplies by a single column at once.
const STRIP: usize = 64;

/// For at most so many rows, packed panels of B are read too few times to come back from memory:
/// they have this depth and so many columns.
const LOW: usize = 32;
const LOW_BLOCK: (usize, usize) = (64, 768);

/// Multiplications that are not worth a second thread.
const FEW: usize = 1 << 17;

/// A matrix as a side of a product.
pub(super) fn operand(matrix: &Matrix<f64>) -> Operand<'_> {
    Operand::new(matrix.as_slice(), matrix.rows(), matrix.columns(), matrix.columns())
}

/// A·B.
pub(super) fn product(engine: &Engine, a: Operand<'_>, b: Operand<'_>) -> Matrix<f64> {
    let mut out = Matrix::zeros(a.rows(), b.columns());
    add_product(engine, 1.0, a, b, rows(out.as_mut_slice(), b.columns()));
    out
}

/// The rows of so many columns each, one after the other.
pub(super) fn rows(entries: &mut [f64], columns: usize) -> Vec<&mut [f64]> {
    entries.chunks_exact_mut(columns.max(1)).collect()
}

/// The rows in parts of `width` columns; rows may end anywhere.
pub(super) fn split_columns(mut rows: Vec<&mut [f64]>, columns: usize, width: usize) -> Vec<Vec<&mut [f64]>> {
    let mut parts = Vec::with_capacity(columns.div_ceil(width));
    for _ in 1..columns.div_ceil(width) {
        let (part, rest) = rows.into_iter().map(|row| row.split_at_mut(width.min(row.len()))).unzip();
        parts.push(part);
        rows = rest;
    }
    parts.push(rows);
    parts
}

/// Does each task, shared by the threads.
pub(super) fn share<T: Send>(engine: &Engine, tasks: Vec<T>, job: impl Fn(T) + Sync) {
    let mut tasks: Vec<Option<T>> = tasks.into_iter().map(Some).collect();
    engine.for_each_mut(&mut tasks, &|_, task| task.take().into_iter().for_each(&job));
}

/// C += factor·A·B. Rows of C may end anywhere, and have only the entries up to there.
pub(super) fn add_product(engine: &Engine, factor: f64, a: Operand<'_>, b: Operand<'_>, c: Vec<&mut [f64]>) {
    if b.columns() == 0 {
        return; // and there may be no rows to say so
    }
    debug_assert!(a.rows() == c.len() && a.columns() == b.rows(), "shapes differ");
    if b.columns() == 1 {
        return add_column(engine, factor, a, b, c);
    }
    if a.rows() <= FEW_ROWS && b.columns() > FEW_ROWS {
        return add_few_rows(engine, factor, a, b, c);
    }
    let (rows, columns, width) = (a.rows(), b.columns(), tile_shape(engine.isa()).1);
    let few = rows.saturating_mul(columns).saturating_mul(a.columns()) < FEW;
    let threads = if few { 1 } else { engine.threads() };
    // Rows are what threads share, where there are enough of them.
    let by_columns = threads > 1 && rows < 2 * ROWS.min(16 * threads) && columns > rows;
    let most = block(rows).1;
    let part =
        if by_columns { columns.div_ceil(2 * threads).next_multiple_of(width).min(most) } else { most };
    let parts: Vec<_> = (0..columns).step_by(part).zip(split_columns(c, columns, part)).collect();
    let job = |threads: usize, (first, c): (usize, Vec<&mut [f64]>)| {
        let columns = first..columns.min(first + part);
        add_part(engine, factor, a, b.part(0..b.rows(), columns), c, threads);
    };
    if by_columns {
        share(engine, parts, |part| job(1, part));
    } else {
        parts.into_iter().for_each(|part| job(threads, part));
    }
}

/// The same for a few rows of A: B, the larger one of the two, is read once and in long runs.
fn add_few_rows(engine: &Engine, factor: f64, a: Operand<'_>, b: Operand<'_>, mut c: Vec<&mut [f64]>) {
    let (count, depth, columns) = (a.rows(), a.columns(), b.columns());
    if b.columns_are_contiguous() {
        let mut out = Matrix::zeros(columns, count);
        add_product(engine, factor, b.transposed(), a.transposed(), rows(out.as_mut_slice(), count));
        for (i, row) in c.iter_mut().enumerate() {
            row.iter_mut().enumerate().for_each(|(j, c)| *c += out.row(j)[i]);
        }
        return;
    }
    let entry = |i: usize, k: usize| if a.columns_are_contiguous() { a.line(k)[i] } else { a.line(i)[k] };
    let factors = Matrix::from_fn(count, depth, |i, k| factor * entry(i, k));
    let parts = split_columns(c, columns, RUN);
    share(engine, parts.into_iter().enumerate().collect(), |(part, mut c): (usize, Vec<&mut [f64]>)| {
        for k in (0..depth).step_by(TOGETHER) {
            let steps = k..depth.min(k + TOGETHER);
            for (i, row) in c.iter_mut().enumerate() {
                let b = b.part(steps.clone(), part * RUN..part * RUN + row.len());
                add_rows(engine.isa(), b, &factors.row(i)[steps.clone()], row);
            }
        }
    });
}

/// The same for a single column of B: all of the time goes into reading A.
fn add_column(engine: &Engine, factor: f64, a: Operand<'_>, b: Operand<'_>, c: Vec<&mut [f64]>) {
    let (count, depth) = (a.rows(), a.columns());
    let entry = |k: usize| if b.columns_are_contiguous() { b.line(0)[k] } else { b.line(k)[0] };
    let x: Vec<f64> = (0..depth).map(|k| factor * entry(k)).collect();
    let mut out = vec![0.0; count];
    if a.columns_are_contiguous() {
        add_few_rows(engine, 1.0, Operand::new(&x, 1, depth, depth), a.transposed(), vec![&mut out]);
    } else {
        share(engine, out.chunks_mut(STRIP).enumerate().collect(), |(part, out): (usize, &mut [f64])| {
            let rows = part * STRIP..part * STRIP + out.len();
            row_products(engine.isa(), a.part(rows, 0..depth), &x, out);
        });
    }
    c.into_iter().zip(out).for_each(|(row, out)| row.iter_mut().for_each(|c| *c += out));
}

/// The longest chunk of k, and the most columns of B packed at once, for so many rows.
fn block(rows: usize) -> (usize, usize) {
    if rows <= LOW { LOW_BLOCK } else { (DEPTH, COLUMNS) }
}

/// Chunks of at most so many steps and nearly equal.
fn chunks(depth: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let step = depth.div_ceil(depth.div_ceil(most).max(1)).max(1);
    (0..depth).step_by(step).map(move |start| start..depth.min(start + step))
}

/// The part of C in some columns, all of B.
fn add_part(
    engine: &Engine,
    factor: f64,
    a: Operand<'_>,
    b: Operand<'_>,
    mut c: Vec<&mut [f64]>,
    threads: usize,
) {
    let height = strip_height(engine, a.rows(), threads);
    let mut packed = Aligned::default();
    for steps in chunks(a.columns(), block(a.rows()).0) {
        let (depth, b) = (steps.len(), b.part(steps.clone(), 0..b.columns()));
        let packed = packed.sized(packed_size(engine.isa(), Side::Right, b.columns(), depth));
        pack_right(engine, b, packed, threads);
        let packed = &*packed;
        let tasks: Vec<_> = c.chunks_mut(height).enumerate().collect();
        let job = |(strip, c): (usize, &mut [&mut [f64]])| {
            let a = a.part(strip * height..strip * height + c.len(), steps.clone());
            if b.columns() <= THIN {
                return thin_product(engine.isa(), a, packed, factor, c);
            }
            let mut left = Aligned::zeros(packed_size(engine.isa(), Side::Left, c.len(), depth));
            pack(engine.isa(), Side::Left, a, left.as_mut_slice());
            product_tile(engine.isa(), left.as_slice(), packed, depth, factor, c);
        };
        if threads > 1 { share(engine, tasks, job) } else { tasks.into_iter().for_each(job) }
    }
}

/// The rows that a thread takes at once: as many strips for each, where that is possible.
fn strip_height(engine: &Engine, rows: usize, threads: usize) -> usize {
    let tile = tile_shape(engine.isa()).0;
    let most = ROWS.min(rows.div_ceil(threads).next_multiple_of(tile)).max(tile);
    let heights = (most / 2..=most).rev().filter(|height| height % tile == 0);
    heights.max_by_key(|height| (rows.div_ceil(*height).is_multiple_of(threads), *height)).unwrap_or(most)
}

/// Packs B, a few panels at a time.
fn pack_right(engine: &Engine, b: Operand<'_>, packed: &mut [f64], threads: usize) {
    if threads == 1 {
        return pack(engine.isa(), Side::Right, b, packed);
    }
    let columns = 8 * tile_shape(engine.isa()).1;
    let tasks: Vec<_> = packed.chunks_mut((columns * b.rows()).max(1)).enumerate().collect();
    share(engine, tasks, |(part, packed)| {
        let columns = part * columns..b.columns().min((part + 1) * columns);
        pack(engine.isa(), Side::Right, b.part(0..b.rows(), columns), packed);
    });
}

#[cfg(test)]
mod tests {
    use super::super::tests::on_threads;
    use super::super::{multiply, subtract_square};
    use super::*;
    use bochner_testkit::{Absolute, assert_close, assert_same_bits, normals};

    fn naive(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
        let entry = |i: usize, j: usize| (0..a.columns()).map(|k| a.row(i)[k] * b.row(k)[j]).sum();
        Matrix::from_fn(a.rows(), b.columns(), entry)
    }

    fn transposed(matrix: &Matrix<f64>) -> Matrix<f64> {
        Matrix::from_fn(matrix.columns(), matrix.rows(), |i, j| matrix.row(j)[i])
    }

    /// Every way through the blocks, for both orders of both sides: tall, wide, thin and empty.
    #[test]
    fn products_are_the_triple_loop() {
        let tile = tile_shape(Engine::default().isa()).1;
        let sizes = [
            (1, 1, 1),
            (2, 2, 2),
            (7, 9, 8),
            (0, 3, 4),
            (3, 0, 4),
            (3, 4, 0),
            (1, 300, 300),
            (300, 300, 1),
            (3, 70, 500),
            (4, 600, 31),
            (5, 65, 900),
            (33, 513, tile - 1),
            (72, 512, tile),
            (73, 511, tile + 1),
            (300, 1030, 130),
            (150, 40, 3100),
            (20, 130, 1600),
            (300, 300, 300),
            (513, 2, 129),
            (129, 33, 128),
        ];
        for (rows, depth, columns) in sizes {
            let a = Matrix::new(rows, depth, normals(rows, depth, 1)).unwrap();
            let b = Matrix::new(depth, columns, normals(depth, columns, 2)).unwrap();
            let expected = naive(&a, &b);
            let (at, bt) = (transposed(&a), transposed(&b));
            let tolerance = Absolute(1e-14 * depth.max(1) as f64);
            for (a, b) in [
                (operand(&a), operand(&b)),
                (operand(&at).transposed(), operand(&b)),
                (operand(&a), operand(&bt).transposed()),
                (operand(&at).transposed(), operand(&bt).transposed()),
            ] {
                let [one, two, seven] = on_threads(|engine| product(engine, a, b));
                assert_close(one.as_slice(), expected.as_slice(), tolerance);
                assert_same_bits(one.as_slice(), two.as_slice());
                assert_same_bits(one.as_slice(), seven.as_slice());
            }
            assert_same_bits(
                multiply(&Engine::default(), &a, &b).as_slice(),
                product(&Engine::default(), operand(&a), operand(&b)).as_slice(),
            );
        }
    }

    /// Only the entries that rows have are computed, with the bits of the whole.
    #[test]
    fn rows_may_end_anywhere() {
        for (n, depth) in [(50, 3), (200, 64), (400, 520)] {
            let a = Matrix::new(n, depth, normals(n, depth, 1)).unwrap();
            let whole = product(&Engine::default(), operand(&a), operand(&a).transposed());
            let [one, two, seven] = on_threads(|engine| {
                let mut lower = Matrix::zeros(n, n);
                let rows = rows(lower.as_mut_slice(), n).into_iter().enumerate();
                let rows = rows.map(|(i, row)| &mut row[..=i]).collect();
                add_product(engine, 1.0, operand(&a), operand(&a).transposed(), rows);
                lower
            });
            for i in 0..n {
                assert_same_bits(&one.row(i)[..=i], &whole.row(i)[..=i]);
                assert!(one.row(i)[i + 1..].iter().all(|&x| x == 0.0));
            }
            assert_same_bits(one.as_slice(), two.as_slice());
            assert_same_bits(one.as_slice(), seven.as_slice());
        }
    }

    #[test]
    fn squares_are_taken_off_the_last_rows_and_columns() {
        for (n, depth, start) in [(1, 1, 0), (9, 4, 3), (130, 17, 129), (200, 128, 70)] {
            let (a, mut c) = (normals(depth, n, 1), Matrix::new(n, n, normals(n, n, 2)).unwrap());
            let entry = |i: usize, j: usize| {
                let sum: f64 = (0..depth).map(|k| a[k * n + i] * a[k * n + j]).sum();
                c.row(i)[j] - if i.min(j) >= start { sum } else { 0.0 }
            };
            let expected = Matrix::from_fn(n, n, entry);
            subtract_square(&Engine::default(), &mut c, &a, depth, start);
            assert_close(c.as_slice(), expected.as_slice(), Absolute(1e-12));
        }
    }
}

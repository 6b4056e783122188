//! Rows into lanes, and features out of them.
//!
//! ```text
//! x(position, lane) = entry `position` of row first + lane          zero in lanes that have no row
//! ```
//! With a row in each lane a transform of rows is the same transform of vectors, without a shuffle: those are all here, at both ends. A lane
//! never meets another one, so that a row has the same features whatever stands beside it.

use crate::lanes::{Lanes, MOST_LANES};
use crate::row::Output;
use crate::structured::Source;
use crate::{Element, RowsRef, SparseRowsRef};

/// Rows that stand in lanes together.
#[derive(Clone, Copy)]
pub(crate) struct Group {
    /// The row in lane 0.
    pub(crate) first: usize,
    /// From 1 to N.
    pub(crate) count: usize,
}

/// All rows, N at a time; the last group may be short.
#[inline(always)]
pub(crate) fn groups<L: Lanes>(rows: usize) -> impl Iterator<Item = Group> {
    (0..rows).step_by(L::N).map(move |first| Group { first, count: L::N.min(rows - first) })
}

/// Writes the `columns` entries from `start` on of each row; a sparse row is written from the first column on.
///
/// # Safety
/// The processor has the instructions of `L`.
#[inline(always)]
pub(crate) unsafe fn to_lanes<T: Element, L: Lanes<Elem = T>>(
    source: &Source<'_, T>,
    group: Group,
    start: usize,
    columns: usize,
    to: &mut [T],
) {
    let to = &mut to[..columns * L::N];
    match *source {
        Source::Dense { rows, .. } => unsafe { dense_to_lanes::<T, L>(rows, group, start, columns, to) },
        Source::Sparse(SparseRowsRef { starts, indices, values }) => {
            to.fill(T::default());
            for lane in 0..group.count {
                let entries = starts[group.first + lane]..starts[group.first + lane + 1];
                for (&k, &x) in indices[entries.clone()].iter().zip(&values[entries]) {
                    to[k as usize * L::N + lane] = x;
                }
            }
        }
    }
}

/// Squares of N × N entries in registers, what is left of the columns one by one.
#[inline(always)]
unsafe fn dense_to_lanes<T: Element, L: Lanes<Elem = T>>(
    rows: RowsRef<'_, T>,
    group: Group,
    start: usize,
    columns: usize,
    to: &mut [T],
) {
    let row = |lane: usize| &rows.data[(group.first + lane) * rows.stride + start..][..columns];
    let whole = columns / L::N * L::N;
    for j in (0..whole).step_by(L::N) {
        // SAFETY: rows and output hold N elements from here on.
        unsafe {
            let mut tile = [L::constant(0.0); MOST_LANES];
            for lane in 0..group.count {
                tile[lane] = L::load(row(lane)[j..].as_ptr());
            }
            let tile = transposed(tile);
            for k in 0..L::N {
                tile[k].store(to.as_mut_ptr().add((j + k) * L::N));
            }
        }
    }
    to[whole * L::N..].fill(T::default());
    for lane in 0..group.count {
        for j in whole..columns {
            to[j * L::N + lane] = row(lane)[j];
        }
    }
}

/// Writes all `features` times the factor, the first of them at column `at` of the output.
///
/// # Safety
/// The processor has the instructions of `L`.
#[inline(always)]
pub(crate) unsafe fn from_lanes<T: Element, L: Lanes<Elem = T>>(
    features: &[T],
    factor: T,
    group: Group,
    out: &mut Output<'_, T>,
    at: usize,
) {
    let count = features.len() / L::N;
    for j in (0..count).step_by(L::N) {
        let width = L::N.min(count - j);
        // SAFETY: a vector is read where the features have one, and written where the row has room for it.
        unsafe {
            let factor = L::splat(factor);
            let mut tile = [L::constant(0.0); MOST_LANES];
            for k in 0..L::N {
                if k < width {
                    tile[k] = L::load(features.as_ptr().add((j + k) * L::N)).mul(factor);
                }
            }
            let tile = transposed(tile);
            for lane in 0..L::N {
                if lane < group.count {
                    let row = &mut out.data[(group.first + lane) * out.stride + at + j..][..width];
                    if width == L::N {
                        tile[lane].store(row.as_mut_ptr());
                    } else {
                        let mut buffer = [T::default(); MOST_LANES];
                        tile[lane].store(buffer.as_mut_ptr());
                        row.copy_from_slice(&buffer[..width]);
                    }
                }
            }
        }
    }
}

/// Element k of vector i becomes element i of vector k. The digits of a place, vector before lane, are turned by one with each round.
#[inline(always)]
pub(crate) unsafe fn transposed<L: Lanes>(mut tile: [L; MOST_LANES]) -> [L; MOST_LANES] {
    for _ in 0..L::N.ilog2() {
        let mut turned = tile;
        for i in 0..L::N / 2 {
            (turned[2 * i], turned[2 * i + 1]) = unsafe { tile[i].interleave(tile[i + L::N / 2]) };
        }
        tile = turned;
    }
    tile
}

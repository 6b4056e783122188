//! Rows times packed panels, with an ending: the inner loop of every dense feature map.
//!
//! ```text
//! s(i, j) = Σₖ op(xᵢₖ, bₖⱼ)          op: product, squared difference, absolute difference
//! z(i, j) = ending(s(i, j))          ending: see `Apply`
//! ```
//! A register tile holds `R` rows × three vectors of columns; sums run over k in order, so each output has
//! the same bits wherever its row stands. The ending works on the registers: nothing is written but the features.

use crate::apply::{Sums, WithEnding};
use crate::dispatch::dispatch;
use crate::ending::Ending;
use crate::lanes::{Lanes, MOST_LANES, VECTORS};
use crate::operation::Operation;
use crate::soon::Soon;
use crate::{Apply, Element, Panels};

/// Rows that share one read of what they are multiplied by: 64 rows of 4,096 features stay within a second-level cache.
pub(crate) const ROW_BLOCK: usize = 64;

/// Dense rows: row i is `data[i·stride .. i·stride + width]`.
#[derive(Clone, Copy, Debug)]
pub struct RowsRef<'a, T> {
    /// Row-major entries.
    pub data: &'a [T],
    /// The number of rows.
    pub count: usize,
    /// From the start of one row to the start of the next.
    pub stride: usize,
}

/// Sparse rows: row i has the entries `starts[i]..starts[i + 1]` of `indices` and `values`, indices ascending.
#[derive(Clone, Copy, Debug)]
pub struct SparseRowsRef<'a, T> {
    /// Row boundaries, one more than rows.
    pub starts: &'a [usize],
    /// Column of each entry.
    pub indices: &'a [u32],
    /// Value of each entry.
    pub values: &'a [T],
}

/// Writes z(i, j) for all rows into `out`, row i at `out[i·stride..]`.
///
/// # Panics
/// If the slices are too short for the shapes.
#[inline(never)]
pub fn apply<T: Element>(
    rows: RowsRef<'_, T>,
    panels: &Panels<T>,
    what: &Apply<'_, T>,
    out: &mut [T],
    stride: usize,
) {
    if rows.count == 0 || panels.columns == 0 {
        return;
    }
    assert!(holds(rows.data.len(), rows.count, rows.stride, panels.depth), "rows are too short");
    check_output(rows.count, panels.columns, what, out, stride);
    let sums = DenseRows { rows, panels, out: Output { data: out, stride } };
    dispatch(panels.isa, WithEnding { what, sums });
}

/// As [`apply`], for sparse rows.
///
/// # Panics
/// If the slices are too short for the shapes or an index is not below the panels' depth.
#[inline(never)]
pub fn apply_sparse<T: Element>(
    rows: SparseRowsRef<'_, T>,
    panels: &Panels<T>,
    what: &Apply<'_, T>,
    out: &mut [T],
    stride: usize,
) {
    let count = rows.starts.len().saturating_sub(1);
    if count == 0 || panels.columns == 0 {
        return;
    }
    check_sparse(rows, panels.depth);
    check_output(count, panels.columns, what, out, stride);
    let sums = SparseRows { rows, panels, out: Output { data: out, stride } };
    dispatch(panels.isa, WithEnding { what, sums });
}

/// Whether `count` ≥ 1 rows of `width`, `stride` apart, fit into `length`; sizes that overflow do not.
pub(crate) fn holds(length: usize, count: usize, stride: usize, width: usize) -> bool {
    (count - 1)
        .checked_mul(stride)
        .and_then(|start| start.checked_add(width))
        .is_some_and(|end| end <= length)
}

/// At least one row, and every index below `depth`.
pub(crate) fn check_sparse<T>(rows: SparseRowsRef<'_, T>, depth: usize) {
    let (first, last) = (rows.starts[0], rows.starts[rows.starts.len() - 1]);
    assert!(rows.starts.windows(2).all(|w| w[0] <= w[1]), "row starts descend");
    assert!(rows.indices.len() >= last && rows.values.len() >= last, "entries are missing");
    assert!(rows.indices[first..last].iter().all(|&k| (k as usize) < depth), "index beyond the columns");
}

/// Room for `columns` columns of each of `count` ≥ 1 rows, and an offset for each column.
pub(crate) fn check_output<T>(count: usize, columns: usize, what: &Apply<'_, T>, out: &[T], stride: usize) {
    let width = columns * what.outputs();
    assert!(stride >= width && holds(out.len(), count, stride, width), "output is too short");
    if let Apply::Offset { offsets, .. } = what {
        assert!(offsets.len() == columns, "one offset a column");
    }
}

/// Where the features of a row go.
pub(crate) struct Output<'a, T> {
    pub(crate) data: &'a mut [T],
    pub(crate) stride: usize,
}

impl<T: Element> Output<'_, T> {
    /// Ends the sums of row i and the columns from `first` on: straight into the row, or through a buffer where they reach past the
    /// last of `columns`.
    #[inline(always)]
    pub(crate) unsafe fn end<L: Lanes<Elem = T>, E: Ending<T>>(
        &mut self,
        sums: [L; VECTORS],
        ending: &E,
        i: usize,
        first: usize,
        columns: usize,
    ) {
        let width = VECTORS * L::N;
        let count = width.min(columns - first) * E::OUTPUTS;
        let row = &mut self.data[i * self.stride + first * E::OUTPUTS..][..count];
        // SAFETY: the row holds `width`·OUTPUTS elements in the first case, the buffer always does.
        unsafe {
            if count == width * E::OUTPUTS {
                ending.finish(sums, i, first, columns, true, row.as_mut_ptr());
            } else {
                let mut buffer = [T::default(); 2 * VECTORS * MOST_LANES];
                ending.finish(sums, i, first, columns, false, buffer.as_mut_ptr());
                row.copy_from_slice(&buffer[..count]);
            }
        }
    }
}

struct DenseRows<'a, T> {
    rows: RowsRef<'a, T>,
    panels: &'a Panels<T>,
    out: Output<'a, T>,
}

impl<T: Element> Sums<T> for DenseRows<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = T>, O: Operation, E: Ending<T>, const R: usize>(mut self, ending: E) {
        let RowsRef { data, count, stride } = self.rows;
        for block in (0..count).step_by(ROW_BLOCK) {
            let block_end = count.min(block + ROW_BLOCK);
            for p in 0..self.panels.count() {
                let panel = self.panels.panel(p);
                let after = self.panels.panel((p + 1) % self.panels.count());
                for first in (block..block_end).step_by(R) {
                    let left = R.min(block_end - first);
                    let part = ((first - block) / R, ROW_BLOCK / R, panel.len() / self.panels.width);
                    let next = Soon::of(after, part);
                    // SAFETY: every row has `depth` entries (checked by `apply`), which is at least the panel's.
                    unsafe {
                        if left <= R / 4 {
                            // One row at a time: a tile of copies would cost more.
                            for i in first..block_end {
                                let [sums] = tile::<L, O, 1>([data[i * stride..].as_ptr()], panel, next);
                                self.out.end(sums, &ending, i, p * self.panels.width, self.panels.columns);
                            }
                            continue;
                        }
                        // A short last tile repeats its last row and keeps only the first copy.
                        let mut rows = [data.as_ptr(); R];
                        for r in 0..R {
                            rows[r] = data[(first + r).min(block_end - 1) * stride..].as_ptr();
                        }
                        let sums = tile::<L, O, R>(rows, panel, next);
                        for r in 0..left {
                            self.out.end(
                                sums[r],
                                &ending,
                                first + r,
                                p * self.panels.width,
                                self.panels.columns,
                            );
                        }
                    }
                }
            }
        }
    }
}

/// s(i, j) for `R` rows and one panel.
#[inline(always)]
unsafe fn tile<L: Lanes, O: Operation, const R: usize>(
    rows: [*const L::Elem; R],
    panel: &[L::Elem],
    mut next: Soon,
) -> [[L; VECTORS]; R] {
    unsafe {
        let depth = panel.len() / (VECTORS * L::N);
        let mut sums = [[L::constant(0.0); VECTORS]; R];
        let mut b = panel.as_ptr();
        for k in 0..depth {
            let read = || [L::load(b), L::load(b.add(L::N)), L::load(b.add(2 * L::N))];
            let shared = read();
            for r in 0..R {
                // A step that takes a register of its own leaves none to keep columns in.
                let columns = if O::HAS_BETWEEN { read() } else { shared };
                let a = L::splat(*rows[r].add(k));
                for v in 0..VECTORS {
                    sums[r][v] = O::step(sums[r][v], a, columns[v]);
                }
                L::end_of_row(&sums[r]);
            }
            next.ask::<L>();
            b = b.add(VECTORS * L::N);
        }
        sums
    }
}

struct SparseRows<'a, T> {
    rows: SparseRowsRef<'a, T>,
    panels: &'a Panels<T>,
    out: Output<'a, T>,
}

impl<T: Element> Sums<T> for SparseRows<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = T>, O: Operation, E: Ending<T>, const R: usize>(mut self, ending: E) {
        let SparseRowsRef { starts, indices, values } = self.rows;
        for p in 0..self.panels.count() {
            let panel = self.panels.panel(p);
            // SAFETY: an entry is read where `k` is below the panel's length.
            unsafe {
                let base = base::<L, O>(panel);
                for i in 0..starts.len() - 1 {
                    let entries = starts[i]..starts[i + 1];
                    let mut sums = base;
                    for (&k, &x) in indices[entries.clone()].iter().zip(&values[entries]) {
                        let (a, k) = (L::splat(x), k as usize * VECTORS * L::N);
                        if k < panel.len() {
                            for v in 0..VECTORS {
                                sums[v] =
                                    O::sparse_step(sums[v], a, L::load(panel.as_ptr().add(k + v * L::N)));
                            }
                        }
                    }
                    self.out.end(sums, &ending, i, p * self.panels.width, self.panels.columns);
                }
            }
        }
    }
}

/// s(0, j): what a row of zeros gives.
#[inline(always)]
unsafe fn base<L: Lanes, O: Operation>(panel: &[L::Elem]) -> [L; VECTORS] {
    unsafe {
        let zero = L::constant(0.0);
        let mut sums = [zero; VECTORS];
        for k in 0..panel.len() / (VECTORS * L::N) {
            for v in 0..VECTORS {
                sums[v] = O::step(sums[v], zero, L::load(panel.as_ptr().add((k * VECTORS + v) * L::N)));
            }
        }
        sums
    }
}

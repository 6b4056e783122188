//! Rows times frequencies that are made of signs and Walsh–Hadamard transforms: structured orthogonal features.
//!
//! ```text
//! s(i, ·) = diag(lengths)·H·D_r·…·H·D₁·(xᵢ, 0, …, 0)      for each block of p frequencies; D diagonals of signs, H of p × p
//! z(i, j) = ending(s(i, j))
//! ```
//! H·D_r·…·H·D₁ is p^(r/2) times an orthogonal matrix, so that with equal lengths ℓ the frequencies of a block are orthogonal, of length
//! ℓ·p^(r/2). A block costs r·p·log₂ p additions a row, where a dense product costs d·p products, and its signs and lengths are
//! all there is to store. Three rounds mix rows as they come, one is enough for rows that were turned before.
//! Yu, Suresh, Choromanski, Holtmann-Rice, Kumar (2016).

use crate::apply::{OfProducts, Sums};
use crate::dispatch::dispatch;
use crate::ending::Ending;
use crate::hadamard::transform;
use crate::lanes::{Lanes, MOST_LANES, VECTORS};
use crate::operation::Operation;
use crate::row::{Output, ROW_BLOCK, check_output, check_sparse, holds};
use crate::{Aligned, Apply, Element, Isa, RowsRef, SparseRowsRef};

/// Frequencies of small blocks that end together: whole register tiles on every instruction set.
const GROUP: usize = 768;

/// Frequencies in blocks of `padded`; the last block may be cut short.
#[derive(Clone, Copy, Debug)]
pub struct Structured<'a, T> {
    /// p: a power of two, at least 16 and at least the number of columns.
    pub padded: usize,
    /// r: diagonals of signs in a block, at least one.
    pub rounds: usize,
    /// +1 or −1: for each block the p entries of D₁, then of D₂ and so on.
    pub signs: &'a [T],
    /// One factor a frequency, all constants included.
    pub lengths: &'a [T],
}

impl<T> Structured<'_, T> {
    /// # Panics
    /// If the parts do not fit together or are too small for so many columns.
    fn check(&self, columns: usize) {
        let Structured { padded, rounds, signs, lengths } = self;
        assert!(
            padded.is_power_of_two() && *padded >= MOST_LANES.max(columns),
            "expected a power of two of at least {}, found {padded}",
            MOST_LANES.max(columns)
        );
        let signs_needed = lengths.len().div_ceil(*padded).checked_mul(rounds.saturating_mul(*padded));
        assert!(
            *rounds > 0 && signs_needed == Some(signs.len()),
            "a sign a frequency and round, in whole blocks"
        );
    }
}

/// Writes z(i, j) for all rows of `columns` entries into `out`, row i at `out[i·stride..]`.
///
/// # Panics
/// If the slices are too short for the shapes, or `what` is a function of a distance.
#[inline(never)]
pub fn structured<T: Element>(
    isa: Isa,
    rows: RowsRef<'_, T>,
    columns: usize,
    frequencies: &Structured<'_, T>,
    what: &Apply<'_, T>,
    out: &mut [T],
    stride: usize,
) {
    if rows.count == 0 || frequencies.lengths.is_empty() {
        return;
    }
    assert!(holds(rows.data.len(), rows.count, rows.stride, columns), "rows are too short");
    run(isa, rows.count, Source::Dense { rows, columns }, columns, frequencies, what, out, stride);
}

/// As [`structured`], for sparse rows.
///
/// # Panics
/// As [`structured`], or if an index is not below `columns`.
#[inline(never)]
pub fn structured_sparse<T: Element>(
    isa: Isa,
    rows: SparseRowsRef<'_, T>,
    columns: usize,
    frequencies: &Structured<'_, T>,
    what: &Apply<'_, T>,
    out: &mut [T],
    stride: usize,
) {
    let count = rows.starts.len().saturating_sub(1);
    if count == 0 || frequencies.lengths.is_empty() {
        return;
    }
    check_sparse(rows, columns);
    run(isa, count, Source::Sparse(rows), columns, frequencies, what, out, stride);
}

fn run<T: Element>(
    isa: Isa,
    count: usize,
    source: Source<'_, T>,
    columns: usize,
    frequencies: &Structured<'_, T>,
    what: &Apply<'_, T>,
    out: &mut [T],
    stride: usize,
) {
    frequencies.check(columns);
    assert!(what.is_of_products(), "a distance has no structured form");
    check_output(count, frequencies.lengths.len(), what, out, stride);
    let sums = StructuredRows { count, source, frequencies, out: Output { data: out, stride } };
    dispatch(isa, OfProducts { what, sums });
}

/// Rows of either shape.
pub(crate) enum Source<'a, T> {
    Dense { rows: RowsRef<'a, T>, columns: usize },
    Sparse(SparseRowsRef<'a, T>),
}

impl<T: Element> Source<'_, T> {
    /// Row i where it lies, if it has all padded columns there: a copy would be read back before its stores have left, which waits.
    #[inline(always)]
    fn whole(&self, i: usize, padded: usize) -> Option<&[T]> {
        match *self {
            Source::Dense { rows, columns } if columns == padded => {
                Some(&rows.data[i * rows.stride..][..padded])
            }
            _ => None,
        }
    }

    /// Writes row i over another one; what lies behind the columns stays.
    #[inline(always)]
    fn write(&self, i: usize, to: &mut [T]) {
        match *self {
            Source::Dense { rows, columns } => {
                to[..columns].copy_from_slice(&rows.data[i * rows.stride..][..columns]);
            }
            Source::Sparse(SparseRowsRef { starts, indices, values }) => {
                to.fill(T::default());
                let entries = starts[i]..starts[i + 1];
                for (&k, &x) in indices[entries.clone()].iter().zip(&values[entries]) {
                    to[k as usize] = x;
                }
            }
        }
    }
}

struct StructuredRows<'a, T> {
    count: usize,
    source: Source<'a, T>,
    frequencies: &'a Structured<'a, T>,
    out: Output<'a, T>,
}

impl<T: Element> Sums<T> for StructuredRows<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = T>, O: Operation, E: Ending<T>, const R: usize>(mut self, ending: E) {
        let Structured { padded, rounds, signs, lengths } = *self.frequencies;
        let width = VECTORS * L::N;
        let group = (GROUP / padded).max(1) * padded;
        // Zeros behind the columns.
        let mut row = Aligned::zeros(padded);
        // With room at the end, for the last vectors to read.
        let [mut sums, mut factors] = [Aligned::zeros(group + width), Aligned::zeros(group + width)];
        for first in (0..self.count).step_by(ROW_BLOCK) {
            for (g, signs) in signs.chunks(rounds * group).enumerate() {
                let (start, end) = (g * group, lengths.len().min((g + 1) * group));
                let (lengths, behind) = (&lengths[start..end], end - start..end - start + width);
                factors.as_mut_slice()[..lengths.len()].copy_from_slice(lengths);
                factors.as_mut_slice()[behind].fill(T::default());
                for i in first..self.count.min(first + ROW_BLOCK) {
                    let whole = self.source.whole(i, padded);
                    if whole.is_none() {
                        self.source.write(i, row.as_mut_slice());
                    }
                    let entries = whole.unwrap_or(row.as_slice()).as_ptr();
                    let blocks = sums.as_mut_slice().chunks_exact_mut(padded);
                    // SAFETY: blocks and signs come by `padded`, a power of two and at least N; what is read of sums and factors ends
                    // before their end.
                    unsafe {
                        for (block, signs) in blocks.zip(signs.chunks_exact(rounds * padded)) {
                            let (mut from, to) = (entries, block.as_mut_ptr());
                            for round in signs.chunks_exact(padded) {
                                transform::<L>(from, Some(round), to, padded);
                                from = to;
                            }
                        }
                        let (sums, factors) = (sums.as_slice().as_ptr(), factors.as_slice().as_ptr());
                        for at in (0..end - start).step_by(width) {
                            let mut phases = [L::constant(0.0); VECTORS];
                            for v in 0..VECTORS {
                                let at = at + v * L::N;
                                phases[v] = L::load(sums.add(at)).mul(L::load(factors.add(at)));
                            }
                            self.out.end::<L, E>(phases, &ending, i, start + at, end);
                        }
                    }
                }
            }
        }
    }
}

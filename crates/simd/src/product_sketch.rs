//! Products of complex sign projections: features of (x·y + c)^p whose projections are Walsh–Hadamard transforms.
//!
//! ```text
//! uₜ(placeₜ(j)) = i^turnₜ(j)·xⱼ, zero elsewhere          the constant √c is one more entry;  t = 1 … p
//! a = ∏ₜ H·uₜ                                            for each block of q draws, entry by entry; H of q × q
//! z = scale·(Re a(0), Im a(0), Re a(1), Im a(1), …)
//! ```
//! An entry of H·uₜ is a product of x with random fourth roots of unity, and E[a(x)·conj a(y)] = (x·y + c)^p. A block costs 2·q·log₂ q
//! additions and q complex products a degree and row. Wacker, Kanagawa, Filippone (2022).
//!
//! What limits it is the first-level cache: with q = 128 each vector is written four times a degree for nine operations, and a third of the
//! time measured would do for these alone. A quarter of it goes into writing the features.

use crate::dispatch::{Task, dispatch};
use crate::fft::Complex;
use crate::hadamard::{RADIX, across, stages};
use crate::lanes::{Lanes, MOST_LANES};
use crate::row::{Output, check_sparse, holds};
use crate::structured::Source;
use crate::transpose::{from_lanes, groups, to_lanes};
use crate::{Aligned, Element, Isa, RowsRef, SparseRowsRef};

/// Positions of one part that share the first-level cache: 32 KiB of the widest vectors.
const NEAR: usize = 512;

/// Complex draws in blocks of `padded`; the last block may be cut short.
#[derive(Clone, Copy, Debug)]
pub struct ProductSketch<'a, T> {
    /// q: a power of two, at least the number of columns, and one more where the constant is not zero.
    pub padded: usize,
    /// p: at least one.
    pub degree: usize,
    /// Complex draws: half of the features.
    pub draws: usize,
    /// For each block and each degree where each column, then the constant, goes among the q: blocks × degree × (columns + 1). Those of a
    /// block and degree differ; that of a constant of zero is not looked at.
    pub places: &'a [u32],
    /// In the same order: 0, 1, 2, 3 for the factors 1, i, −1, −i.
    pub turns: &'a [u8],
    /// The value of the constant, √c; zero for none.
    pub constant: T,
    /// What all features are multiplied with.
    pub scale: T,
}

impl<T: Element> ProductSketch<'_, T> {
    /// The entries that are placed: the columns, and the constant where there is one.
    fn entries(&self, columns: usize) -> usize {
        columns + usize::from(self.constant != T::default())
    }

    /// # Panics
    /// If the parts do not fit together or are not those of so many columns.
    fn check(&self, columns: usize) {
        let ProductSketch { padded, degree, draws, places, turns, .. } = *self;
        let entries = self.entries(columns);
        assert!(
            padded.is_power_of_two() && padded >= entries,
            "expected a power of two of at least {entries}, found {padded}"
        );
        assert!(degree > 0, "expected a degree of at least one");
        let needed = draws.div_ceil(padded).checked_mul(degree).and_then(|n| n.checked_mul(columns + 1));
        assert!(needed == Some(places.len()) && needed == Some(turns.len()), "a place and a turn an entry");
        for places in places.chunks(columns + 1) {
            assert!(places[..entries].iter().all(|&p| (p as usize) < padded), "a place beyond {padded}");
        }
        assert!(turns.iter().all(|&turn| turn < 4), "a turn beyond three quarters");
    }
}

/// Writes z of all rows of `columns` entries into `out`, row i at `out[i·stride..]`.
///
/// # Panics
/// If the slices are too short for the shapes, the sketch is not one of so many columns, a place is not below `padded` or a turn not below 4.
#[inline(never)]
pub fn product_sketch<T: Element>(
    isa: Isa,
    rows: RowsRef<'_, T>,
    columns: usize,
    sketch: &ProductSketch<'_, T>,
    out: &mut [T],
    stride: usize,
) {
    if rows.count == 0 || sketch.draws == 0 {
        return;
    }
    assert!(holds(rows.data.len(), rows.count, rows.stride, columns), "rows are too short");
    run(isa, rows.count, Source::Dense { rows, columns }, columns, sketch, out, stride);
}

/// As [`product_sketch`], for sparse rows.
///
/// # Panics
/// As [`product_sketch`], or if an index is not below `columns`.
#[inline(never)]
pub fn product_sketch_sparse<T: Element>(
    isa: Isa,
    rows: SparseRowsRef<'_, T>,
    columns: usize,
    sketch: &ProductSketch<'_, T>,
    out: &mut [T],
    stride: usize,
) {
    let count = rows.starts.len().saturating_sub(1);
    if count == 0 || sketch.draws == 0 {
        return;
    }
    check_sparse(rows, columns);
    run(isa, count, Source::Sparse(rows), columns, sketch, out, stride);
}

fn run<T: Element>(
    isa: Isa,
    count: usize,
    source: Source<'_, T>,
    columns: usize,
    sketch: &ProductSketch<'_, T>,
    out: &mut [T],
    stride: usize,
) {
    sketch.check(columns);
    let features = 2 * sketch.draws;
    assert!(stride >= features && holds(out.len(), count, stride, features), "output is too short");
    dispatch(isa, SketchedRows { count, source, columns, sketch, out: Output { data: out, stride } });
}

struct SketchedRows<'a, T> {
    count: usize,
    source: Source<'a, T>,
    columns: usize,
    sketch: &'a ProductSketch<'a, T>,
    out: Output<'a, T>,
}

impl<T: Element> Task<T> for SketchedRows<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = T>, const R: usize>(mut self) {
        let ProductSketch { padded, degree, draws, places, turns, constant, scale } = *self.sketch;
        let (columns, entries) = (self.columns, self.sketch.entries(self.columns));
        // Small blocks leave the lanes together: whole vectors of features on every instruction set.
        let together = (MOST_LANES / padded).max(1) * padded;
        let mut x = Aligned::zeros(entries * L::N);
        x.as_mut_slice()[columns * L::N..].fill(constant);
        let mut parts = Aligned::zeros(2 * padded * L::N);
        let mut product = Aligned::zeros(2 * together * L::N);
        let (x, parts, product) = (x.as_mut_slice(), parts.as_mut_slice(), product.as_mut_slice());
        for group in groups::<L>(self.count) {
            // SAFETY: `run` is only called by `dispatch`; places are below `padded` and parts and blocks hold that many positions.
            unsafe {
                to_lanes::<T, L>(&self.source, group, 0, columns, x);
                let hashes = places.chunks_exact(columns + 1).zip(turns.chunks_exact(columns + 1));
                for (b, (t, (places, turns))) in
                    hashes.enumerate().map(|(at, hash)| (at / degree, (at % degree, hash)))
                {
                    let within = b * padded % together;
                    let block = &mut product[2 * within * L::N..][..2 * padded * L::N];
                    place::<T, L>(x, places, turns, parts);
                    project::<T, L>(parts, block, padded, t == 0);
                    let end = draws.min((b + 1) * padded);
                    if t + 1 == degree && (end == draws || within + padded == together) {
                        let start = b * padded - within;
                        let features = &product[..2 * (end - start) * L::N];
                        from_lanes::<T, L>(features, scale, group, &mut self.out, 2 * start);
                    }
                }
            }
        }
    }
}

/// Writes u: the real parts of all positions, then the imaginary ones.
#[inline(always)]
unsafe fn place<T: Element, L: Lanes<Elem = T>>(x: &[T], places: &[u32], turns: &[u8], parts: &mut [T]) {
    parts.fill(T::default());
    let padded = parts.len() / 2;
    for ((x, &place), &turn) in x.chunks_exact(L::N).zip(places).zip(turns) {
        let to = &mut parts[usize::from(turn % 2) * padded + place as usize * L::N..][..L::N];
        let sign = if turn < 2 { 1.0 } else { -1.0 };
        // SAFETY: both hold N elements.
        unsafe { L::load(x.as_ptr()).mul(L::constant(sign)).store(to.as_mut_ptr()) };
    }
}

/// product ← H·u, or product·(H·u) where it is not the first.
#[inline(always)]
unsafe fn project<T: Element, L: Lanes<Elem = T>>(
    parts: &mut [T],
    product: &mut [T],
    padded: usize,
    first: bool,
) {
    let (from, to) = (parts.as_mut_ptr(), product.as_mut_ptr());
    // SAFETY: passes stay within one part, `padded` vectors, as no pass reaches further than that.
    unsafe {
        let mut distance = 1;
        let near = NEAR.min(padded);
        for part in (0..2 * padded).step_by(near) {
            distance = 1;
            while distance * RADIX < padded && distance * RADIX <= near {
                across::<L, RADIX>(from.add(part * L::N), distance, near);
                distance *= RADIX;
            }
        }
        while distance * RADIX < padded {
            across::<L, RADIX>(from, distance, 2 * padded);
            distance *= RADIX;
        }
        match padded / distance {
            1 => last::<L, 1>(from, to, padded, first),
            2 => last::<L, 2>(from, to, padded, first),
            4 => last::<L, 4>(from, to, padded, first),
            _ => last::<L, RADIX>(from, to, padded, first),
        }
    }
}

/// The last stages, those of `K` vectors as far apart as can be, and the product.
#[inline(always)]
unsafe fn last<L: Lanes, const K: usize>(from: *const L::Elem, to: *mut L::Elem, padded: usize, first: bool) {
    let distance = padded / K;
    for i in 0..distance {
        unsafe {
            let zero = L::constant(0.0);
            let (mut re, mut im) = ([zero; K], [zero; K]);
            for k in 0..K {
                re[k] = L::load(from.add((i + k * distance) * L::N));
                im[k] = L::load(from.add((padded + i + k * distance) * L::N));
            }
            let (re, im) = (stages(re), stages(im));
            for k in 0..K {
                let (factor, at) = (Complex { re: re[k], im: im[k] }, to.add((i + k * distance) * 2 * L::N));
                let product = if first { factor } else { Complex::load(at).mul(factor) };
                product.store(at);
            }
        }
    }
}

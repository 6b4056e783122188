//! Few entries in many buckets: the Fourier transform of a count sketch, a comb of frequencies at a time.
//!
//! ```text
//! X(R·k + r) = Σ_{n < B} y(n)·w_B^(n·k),     y(n) = Σ_{j: hⱼ ≡ n mod B} vⱼ·wₘ^(hⱼ·r),     m = R·B buckets, entries vⱼ in bucket hⱼ
//! ```
//! A full transform would spend its first log₂ R stages on buckets that are empty. Here they cost one complex product an entry and comb; with
//! B near the number of entries that is less than the rest, and B positions fit the first-level cache where m do not.

use crate::Element;
use crate::fft::Complex;
use crate::lanes::Lanes;

/// What a slot without an entry has for a column.
const NOTHING: u32 = u32::MAX;

/// One hash function's entries in the order in which a comb reads them: for each n the first that falls there, if any, then all others.
pub(crate) struct Slots<'a, T> {
    length: usize,
    places: &'a [u32],
    signs: &'a [T],
    /// The column of each slot.
    columns: Vec<u32>,
    /// Its bucket.
    reached: Vec<u32>,
}

impl<'a, T: Element> Slots<'a, T> {
    /// Slots for combs of `length` frequencies.
    ///
    /// # Panics
    /// If a place is not below `buckets`.
    pub(crate) fn new(buckets: usize, length: usize, places: &'a [u32], signs: &'a [T]) -> Self {
        let (mut columns, mut reached) = (vec![NOTHING; length], vec![0; length]);
        for (j, &place) in places.iter().enumerate() {
            assert!((place as usize) < buckets, "expected a place below {buckets}, found {place}");
            let n = place as usize % length;
            if columns[n] == NOTHING {
                (columns[n], reached[n]) = (j as u32, place);
            } else {
                columns.push(j as u32);
                reached.push(place);
            }
        }
        Slots { length, places, signs, columns, reached }
    }

    /// Vectors that [`Slots::fill`] writes.
    pub(crate) fn len(&self) -> usize {
        self.columns.len()
    }

    /// Appends wₘ^(h·r) for each slot, from wₘ⁰, wₘ¹, …: read again by each group of rows, in a row, where the table's are all over it.
    pub(crate) fn turn(&self, roots: &[[T; 2]], r: usize, to: &mut Vec<[T; 2]>) {
        to.extend(self.reached.iter().map(|&place| roots[place as usize * r % roots.len()]));
    }

    /// Writes v for each slot: the entry times its sign, or zero.
    ///
    /// # Safety
    /// The processor has the instructions of `L`.
    #[inline(always)]
    pub(crate) unsafe fn fill<L: Lanes<Elem = T>>(&self, x: &[T], to: &mut [T]) {
        for (slot, &column) in to.chunks_exact_mut(L::N).zip(&self.columns) {
            if column == NOTHING {
                slot.fill(T::default());
            } else {
                let entry = &x[column as usize * L::N..][..L::N];
                // SAFETY: both hold N elements.
                unsafe {
                    L::load(entry.as_ptr())
                        .mul(L::splat(self.signs[column as usize]))
                        .store(slot.as_mut_ptr());
                }
            }
        }
    }

    /// Adds each entry times its sign to its bucket among `sums`, bucket h at h mod their number: a power of two.
    ///
    /// # Safety
    /// The processor has the instructions of `L`.
    #[inline(always)]
    pub(crate) unsafe fn add<L: Lanes<Elem = T>>(&self, x: &[T], sums: &mut [T]) {
        unsafe { add::<T, L>(self.places, self.signs, x, sums) }
    }

    /// Writes y of a comb, from what [`Slots::fill`] and [`Slots::turn`] wrote.
    ///
    /// # Safety
    /// The processor has the instructions of `L`; `to` is valid for the comb's complex positions.
    #[inline(always)]
    pub(crate) unsafe fn gather<L: Lanes<Elem = T>>(&self, values: &[T], turns: &[[T; 2]], to: *mut T) {
        let (values, turns) = (&values[..self.len() * L::N], &turns[..self.len()]);
        // SAFETY: as many values and turns as slots, and positions below the comb's length.
        unsafe {
            let slot = |slot: usize| {
                let turn = Complex::<L>::splat(*turns.get_unchecked(slot));
                (L::load(values.as_ptr().add(slot * L::N)), turn.re, turn.im)
            };
            for n in 0..self.length {
                let (value, re, im) = slot(n);
                Complex { re: value.mul(re), im: value.mul(im) }.store(to.add(n * 2 * L::N));
            }
            for (other, &place) in (self.length..).zip(&self.reached[self.length..]) {
                let (value, re, im) = slot(other);
                let at = to.add((place as usize & (self.length - 1)) * 2 * L::N);
                let sum = Complex::<L>::load(at);
                Complex { re: value.mul_add(re, sum.re), im: value.mul_add(im, sum.im) }.store(at);
            }
        }
    }
}

/// Adds each vector of `x` times its sign to its place among `sums`, places taken modulo their number: a power of two.
///
/// # Safety
/// The processor has the instructions of `L`.
#[inline(always)]
pub(crate) unsafe fn add<T: Element, L: Lanes<Elem = T>>(
    places: &[u32],
    signs: &[T],
    x: &[T],
    sums: &mut [T],
) {
    let mask = sums.len() / L::N - 1;
    for ((x, &place), &sign) in x.chunks_exact(L::N).zip(places).zip(signs) {
        let sum = &mut sums[(place as usize & mask) * L::N..][..L::N];
        // SAFETY: both hold N elements.
        unsafe { L::load(x.as_ptr()).mul_add(L::splat(sign), L::load(sum.as_ptr())).store(sum.as_mut_ptr()) };
    }
}

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
    buckets: usize,
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
        Slots { buckets, length, places, signs, columns, reached }
    }

    /// Vectors that [`Slots::fill`] writes.
    pub(crate) fn len(&self) -> usize {
        self.columns.len()
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

    /// Writes y of the comb from r on, from what [`Slots::fill`] wrote and wₘ⁰, wₘ¹, …
    ///
    /// # Safety
    /// The processor has the instructions of `L`; `to` is valid for the comb's complex positions.
    #[inline(always)]
    pub(crate) unsafe fn gather<L: Lanes<Elem = T>>(
        &self,
        values: &[T],
        roots: &[[T; 2]],
        r: usize,
        to: *mut T,
    ) {
        assert!(values.len() >= self.len() * L::N && roots.len() == self.buckets);
        // SAFETY: as many values as slots; roots and positions are taken below their number.
        unsafe {
            let turned = |slot: usize, place: u32| {
                let value = L::load(values.as_ptr().add(slot * L::N));
                let root =
                    Complex::splat(*roots.get_unchecked((place as usize).wrapping_mul(r) % roots.len()));
                (value, root)
            };
            let (firsts, others) = self.reached.split_at(self.length);
            for (n, &place) in firsts.iter().enumerate() {
                let (value, root) = turned(n, place);
                Complex { re: value.mul(root.re), im: value.mul(root.im) }.store(to.add(n * 2 * L::N));
            }
            for (other, &place) in others.iter().enumerate() {
                let (value, root) = turned(self.length + other, place);
                let at = to.add(place as usize % self.length * 2 * L::N);
                let sum = Complex::<L>::load(at);
                Complex { re: value.mul_add(root.re, sum.re), im: value.mul_add(root.im, sum.im) }.store(at);
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

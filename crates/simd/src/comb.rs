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

/// One hash function's entries in the order in which a comb reads them: for each n the first that falls there, then all others.
pub(crate) struct Slots<'a, T> {
    length: usize,
    places: &'a [u32],
    signs: &'a [T],
    /// The column of each slot; the last one, with a factor of zero, where nothing falls.
    columns: Vec<u32>,
}

impl<'a, T: Element> Slots<'a, T> {
    /// Slots for combs of `length` frequencies, from a place and a sign for each column.
    pub(crate) fn new(length: usize, places: &'a [u32], signs: &'a [T]) -> Self {
        let nothing = places.len() as u32;
        let mut columns = vec![nothing; length];
        for (j, &place) in (0..).zip(places) {
            let n = place as usize % length;
            if columns[n] == nothing {
                columns[n] = j;
            } else {
                columns.push(j);
            }
        }
        Slots { length, places, signs, columns }
    }

    /// The number of factors of a comb.
    pub(crate) fn len(&self) -> usize {
        self.columns.len()
    }

    /// Appends sign·wₘ^(h·r) for each slot, from wₘ⁰, wₘ¹, …: each group of rows reads them again, in this order.
    pub(crate) fn factors(&self, roots: &[[T; 2]], r: usize, to: &mut Vec<[T; 2]>) {
        to.extend(self.columns.iter().map(|&column| match self.places.get(column as usize) {
            Some(&place) => {
                let sign = self.signs[column as usize].to_f64();
                roots[(place as usize * r) & (roots.len() - 1)].map(|part| T::from_f64(part.to_f64() * sign))
            }
            None => [T::default(); 2],
        }));
    }

    /// Writes y of the comb that has these factors.
    ///
    /// # Safety
    /// The processor has the instructions of `L`; `to` is valid for the comb's complex positions.
    #[inline(always)]
    pub(crate) unsafe fn gather<L: Lanes<Elem = T>>(&self, x: &[T], factors: &[[T; 2]], to: *mut T) {
        let (x, factors) = (&x[..(self.places.len() + 1) * L::N], &factors[..self.len()]);
        // SAFETY: a factor for each slot; columns are at most as many as places; positions are below the comb's length.
        unsafe {
            let slot = |slot: usize| {
                let Complex { re, im } = Complex::<L>::splat(*factors.get_unchecked(slot));
                let column = *self.columns.get_unchecked(slot) as usize;
                (column, L::load(x.as_ptr().add(column * L::N)), re, im)
            };
            for n in 0..self.length {
                let (_, value, re, im) = slot(n);
                Complex { re: value.mul(re), im: value.mul(im) }.store(to.add(n * 2 * L::N));
            }
            for other in self.length..self.len() {
                let (column, value, re, im) = slot(other);
                let n = self.places[column] as usize & (self.length - 1);
                let sum = Complex::<L>::load(to.add(n * 2 * L::N));
                let sum = Complex { re: value.mul_add(re, sum.re), im: value.mul_add(im, sum.im) };
                sum.store(to.add(n * 2 * L::N));
            }
        }
    }

    /// Adds the entries times their signs to their places among `sums`, as [`add`].
    ///
    /// # Safety
    /// The processor has the instructions of `L`.
    #[inline(always)]
    pub(crate) unsafe fn add<L: Lanes<Elem = T>>(&self, x: &[T], sums: &mut [T]) {
        unsafe { add::<T, L>(self.places, self.signs, x, sums) }
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

/// The first frequencies r of all combs of teeth R = `apart`: each r but 0 and R/2 or else R − r, bits reversed as in `fft.rs`.
pub(crate) fn firsts(apart: usize) -> impl Iterator<Item = usize> {
    let levels = apart.ilog2().saturating_sub(1);
    (0..levels).flat_map(move |s| {
        let bits = levels - 1 - s;
        (0..1usize << bits).map(move |i| {
            let reversed = if bits == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - bits) };
            (4 * reversed + 1) << s
        })
    })
}

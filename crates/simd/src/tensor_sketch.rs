//! TensorSketch: features of (x·y + c)^p by count sketches that are convolved, left in the Fourier domain.
//!
//! ```text
//! Cₜ(b) = Σ_{j: placeₜ(j) = b} signₜ(j)·xⱼ          the constant √c is one more entry;  t = 1 … p,  b below m
//! Â(k)  = ∏ₜ Σ_b Cₜ(b)·exp(−2πi·b·k/m)
//! z     = scale·m^(−1/2)·( √2·Re Â(k), √2·Im Â(k)  for k = 2^s·(4·rev(i) + 1),  i < m/2^(s+2),  s = 0, 1, …;   Â(0), Â(m/2) )
//! ```
//! Â is the transform of the circular convolution of all Cₜ, and by Parseval z(x)·z(y) = scale²·⟨TS(x), TS(y)⟩ without transforming
//! back. The frequencies k, with their conjugates, 0 and m/2, are all of them; rev reverses the bits of i. Pham, Pagh (2013).
//!
//! Where entries are fewer than buckets the transform is taken comb by comb (`comb.rs`), and all but the features stays in the
//! first-level cache. Measured for 64 columns, 4,096 buckets and degree 3 with AVX-512: half of the time goes into the transforms and
//! products, at two thirds of the processor's arithmetic; a quarter each into what combs start from and into writing the features.

use crate::comb::{Slots, add, firsts};
use crate::dispatch::{Task, dispatch};
use crate::fft::{Fft, multiply, real_transform, transform};
use crate::lanes::{Lanes, MOST_LANES};
use crate::row::{Output, check_sparse, holds};
use crate::structured::Source;
use crate::transpose::{Group, from_lanes, groups, to_lanes};
use crate::{Aligned, Element, Isa, RowsRef, SparseRowsRef};

/// Columns that are brought into lanes together where they are more than the buckets.
const COLUMN_BLOCK: usize = 64;

/// One TensorSketch into `buckets` by `degree` hash functions.
#[derive(Clone, Copy, Debug)]
pub struct TensorSketch<'a, T> {
    /// m: a power of two.
    pub buckets: usize,
    /// p: at least one.
    pub degree: usize,
    /// For each degree the bucket of each column, then that of the constant: degree × (columns + 1).
    pub places: &'a [u32],
    /// Signs ±1 in the same order.
    pub signs: &'a [T],
    /// The value of the constant, √c; zero for none.
    pub constant: T,
    /// What all features are multiplied with.
    pub scale: T,
    /// Made for as many buckets.
    pub fft: &'a Fft<T>,
}

impl<T: Element> TensorSketch<'_, T> {
    /// # Panics
    /// If the parts do not fit together or are not those of so many columns.
    fn check(&self, columns: usize) {
        let TensorSketch { buckets, degree, places, signs, fft, .. } = *self;
        assert!(buckets.is_power_of_two(), "expected a power of two, found {buckets}");
        assert!(fft.length() == buckets, "expected roots for {buckets}, found {}", fft.length());
        assert!(degree > 0, "expected a degree of at least one");
        let needed = columns.checked_add(1).and_then(|entries| entries.checked_mul(degree));
        assert!(needed == Some(places.len()) && needed == Some(signs.len()), "a place and a sign an entry");
    }

    /// The places and signs of hash function t.
    #[inline(always)]
    fn entries(&self, t: usize) -> (&[u32], &[T]) {
        let count = self.places.len() / self.degree;
        (&self.places[t * count..][..count], &self.signs[t * count..][..count])
    }
}

/// Writes z of all rows of `columns` entries into `out`, row i at `out[i·stride..]`.
///
/// # Panics
/// If the slices are too short for the shapes, the sketch is not one of so many columns, or a place that is used is not below `buckets`.
#[inline(never)]
pub fn tensor_sketch<T: Element>(
    isa: Isa,
    rows: RowsRef<'_, T>,
    columns: usize,
    sketch: &TensorSketch<'_, T>,
    out: &mut [T],
    stride: usize,
) {
    if rows.count == 0 {
        return;
    }
    assert!(holds(rows.data.len(), rows.count, rows.stride, columns), "rows are too short");
    run(isa, rows.count, Source::Dense { rows, columns }, columns, sketch, out, stride);
}

/// As [`tensor_sketch`], for sparse rows.
///
/// # Panics
/// As [`tensor_sketch`], or if an index is not below `columns`.
#[inline(never)]
pub fn tensor_sketch_sparse<T: Element>(
    isa: Isa,
    rows: SparseRowsRef<'_, T>,
    columns: usize,
    sketch: &TensorSketch<'_, T>,
    out: &mut [T],
    stride: usize,
) {
    let count = rows.starts.len().saturating_sub(1);
    if count == 0 {
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
    sketch: &TensorSketch<'_, T>,
    out: &mut [T],
    stride: usize,
) {
    sketch.check(columns);
    if matches!(source, Source::Dense { .. }) || columns < sketch.buckets {
        // Those of wide sparse rows are looked at as they are used: all of them would be more than the entries.
        let beyond = sketch.places.iter().any(|&place| place as usize >= sketch.buckets);
        assert!(!beyond, "a place beyond {} buckets", sketch.buckets);
    }
    assert!(
        stride >= sketch.buckets && holds(out.len(), count, stride, sketch.buckets),
        "output is too short"
    );
    dispatch(isa, SketchedRows { count, source, columns, sketch, out: Output { data: out, stride } });
}

struct SketchedRows<'a, T> {
    count: usize,
    source: Source<'a, T>,
    columns: usize,
    sketch: &'a TensorSketch<'a, T>,
    out: Output<'a, T>,
}

/// What a group of rows is worked on in.
struct Scratch<T> {
    /// Entries: all of them, the constant and a zero behind, or a block.
    x: Aligned<T>,
    /// Buckets of one hash function, folded.
    sums: Aligned<T>,
    /// One hash function's transform.
    factor: Aligned<T>,
    /// The product of transforms.
    product: Aligned<T>,
}

impl<T: Element> Scratch<T> {
    fn new(entries: usize, folded: usize) -> Self {
        let [sums, factor, product] = [(); 3].map(|()| Aligned::zeros(folded));
        Scratch { x: Aligned::zeros(entries), sums, factor, product }
    }
}

impl<T: Element> Task<T> for SketchedRows<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = T>, const R: usize>(mut self) {
        let sketch = self.sketch;
        let folded = sketch.buckets.min((self.columns + 1).next_power_of_two().max(MOST_LANES));
        let few = folded < sketch.buckets;
        let slots: Vec<_> = (0..if few { sketch.degree } else { 0 })
            .map(|t| {
                let (places, signs) = sketch.entries(t);
                Slots::new(folded / 2, places, signs)
            })
            .collect();
        let mut factors = Vec::new();
        for r in firsts(2 * sketch.buckets / folded) {
            let roots = sketch.fft.roots(sketch.buckets);
            slots.iter().for_each(|slots| slots.factors(roots, r, &mut factors));
        }
        let entries = if few { self.columns + 2 } else { COLUMN_BLOCK };
        let mut scratch = Scratch::new(entries * L::N, folded * L::N);
        let scale = T::from_f64(sketch.scale.to_f64() * (2.0 / sketch.buckets as f64).sqrt());
        for group in groups::<L>(self.count) {
            // SAFETY: `run` is only called by `dispatch`.
            unsafe {
                if few {
                    let x = scratch.x.as_mut_slice();
                    to_lanes::<T, L>(&self.source, group, 0, self.columns, x);
                    x[self.columns * L::N..][..L::N].fill(sketch.constant);
                    self.combs::<L, R>(&slots, &factors, &mut scratch, scale, group);
                }
                self.rest::<L, R>(&slots, &mut scratch, scale, group);
            }
        }
    }
}

impl<T: Element> SketchedRows<'_, T> {
    /// All frequencies but the multiples of R/2, comb by comb.
    #[inline(always)]
    unsafe fn combs<L: Lanes<Elem = T>, const R: usize>(
        &mut self,
        slots: &[Slots<'_, T>],
        factors: &[[T; 2]],
        scratch: &mut Scratch<T>,
        scale: T,
        group: Group,
    ) {
        let Scratch { x, factor, product, .. } = scratch;
        let (factor, product) = (factor.as_mut_slice(), product.as_mut_slice());
        let length = product.len() / L::N / 2;
        let mut factors = factors;
        for at in (0..self.sketch.buckets - 2 * length).step_by(2 * length) {
            for (t, slots) in slots.iter().enumerate() {
                let to = if t == 0 { product.as_mut_ptr() } else { factor.as_mut_ptr() };
                // SAFETY: both hold `length` complex positions.
                unsafe {
                    slots.gather::<L>(x.as_slice(), factors, to);
                    transform::<T, L, R>(self.sketch.fft, to, length);
                    if t > 0 {
                        multiply::<T, L>(product, factor);
                    }
                }
                factors = &factors[slots.len()..];
            }
            unsafe { from_lanes::<T, L>(product, scale, group, &mut self.out, at) };
        }
    }

    /// The multiples of R/2: a real transform of folded buckets.
    #[inline(always)]
    unsafe fn rest<L: Lanes<Elem = T>, const R: usize>(
        &mut self,
        slots: &[Slots<'_, T>],
        scratch: &mut Scratch<T>,
        scale: T,
        group: Group,
    ) {
        let Scratch { x, sums, factor, product, .. } = scratch;
        let (factor, product) = (factor.as_mut_slice(), product.as_mut_slice());
        let folded = product.len() / L::N;
        let pairs = folded.saturating_sub(2) * L::N;
        for t in 0..self.sketch.degree {
            let sums = sums.as_mut_slice();
            sums.fill(T::default());
            // SAFETY: all hold `folded` vectors.
            unsafe {
                match slots.get(t) {
                    Some(slots) => slots.add::<L>(x.as_slice(), sums),
                    None => self.count_sketch::<L>(t, group, x.as_mut_slice(), sums),
                }
                let to = if t == 0 { product.as_mut_ptr() } else { factor.as_mut_ptr() };
                real_transform::<T, L, R>(self.sketch.fft, sums.as_mut_ptr(), to, folded);
                if t > 0 {
                    multiply::<T, L>(&mut product[..pairs], &factor[..pairs]);
                    scale_by::<T, L>(&mut product[pairs..], |at| L::load(factor[pairs + at..].as_ptr()));
                }
            }
        }
        // SAFETY: as above.
        unsafe {
            let root = L::constant(std::f64::consts::FRAC_1_SQRT_2);
            scale_by::<T, L>(&mut product[pairs..], |_| root);
            from_lanes::<T, L>(product, scale, group, &mut self.out, self.sketch.buckets - folded);
        }
    }

    /// Adds the count sketch of hash function t to `sums`.
    #[inline(always)]
    unsafe fn count_sketch<L: Lanes<Elem = T>>(&self, t: usize, group: Group, x: &mut [T], sums: &mut [T]) {
        let (places, signs) = self.sketch.entries(t);
        unsafe {
            match self.source {
                Source::Dense { .. } => {
                    for start in (0..self.columns).step_by(COLUMN_BLOCK) {
                        let count = COLUMN_BLOCK.min(self.columns - start);
                        to_lanes::<T, L>(&self.source, group, start, count, x);
                        add::<T, L>(&places[start..], &signs[start..], &x[..count * L::N], sums);
                    }
                }
                Source::Sparse(SparseRowsRef { starts, indices, values }) => {
                    for lane in 0..group.count {
                        let entries = starts[group.first + lane]..starts[group.first + lane + 1];
                        for (&k, &x) in indices[entries.clone()].iter().zip(&values[entries]) {
                            let sum = &mut sums[places[k as usize] as usize * L::N + lane];
                            *sum = T::from_f64(sum.to_f64() + x.to_f64() * signs[k as usize].to_f64());
                        }
                    }
                }
            }
            x[..L::N].fill(self.sketch.constant);
            add::<T, L>(&places[self.columns..], &signs[self.columns..], &x[..L::N], sums);
        }
    }
}

/// The product of real positions and what `by` has for where they start, in place.
#[inline(always)]
unsafe fn scale_by<T: Element, L: Lanes<Elem = T>>(product: &mut [T], by: impl Fn(usize) -> L) {
    for at in (0..product.len()).step_by(L::N) {
        // SAFETY: whole vectors.
        unsafe { L::load(product[at..].as_ptr()).mul(by(at)).store(product[at..].as_mut_ptr()) };
    }
}

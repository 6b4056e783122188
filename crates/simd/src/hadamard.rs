//! The Walsh–Hadamard transform.
//!
//! ```text
//! H₁ = (1),   H₂ₙ = ( Hₙ   Hₙ )          H·H = n·I,   H = Hᵀ
//!                   ( Hₙ  −Hₙ )
//! ```
//! n·log₂ n additions, in stages: sums and differences of elements at distance 1, 2, 4, … The first stages are those within a vector; the
//! others add whole vectors, eight of them in registers for three stages, so that the data is read once for three or more
//! stages. Stages come in the same order whatever the width of a vector, and an addition is rounded in the same way everywhere: the
//! result has the same bits on every instruction set.

use crate::dispatch::{Task, dispatch};
use crate::lanes::{Lanes, MOST_LANES};
use crate::{Element, Isa};

/// Replaces each `length` consecutive elements x of `data` by H·x, in natural order and not normalised; `length` is a power of two.
///
/// # Panics
/// If `length` is not a power of two or `data` is not whole rows of it.
#[inline(never)]
pub fn walsh_hadamard<T: Element>(isa: Isa, data: &mut [T], length: usize) {
    assert!(length.is_power_of_two(), "expected a power of two, found {length}");
    assert!(data.len().is_multiple_of(length), "expected rows of {length}, found {} elements", data.len());
    dispatch(isa, Rows { data, length });
}

struct Rows<'a, T> {
    data: &'a mut [T],
    length: usize,
}

impl<T: Element> Task<T> for Rows<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = T>, const R: usize>(self) {
        for row in self.data.chunks_exact_mut(self.length) {
            // SAFETY: lengths that are powers of two and at least N are multiples of it; `run` is only called by `dispatch`.
            unsafe {
                if row.len() >= L::N {
                    let data = row.as_mut_ptr();
                    transform::<L>(data, None, data, row.len());
                } else {
                    // H of a row and zeros is H of the row, repeated.
                    let mut buffer = [T::default(); MOST_LANES];
                    buffer[..row.len()].copy_from_slice(row);
                    L::load(buffer.as_ptr()).walsh_hadamard().store(buffer.as_mut_ptr());
                    row.copy_from_slice(&buffer[..row.len()]);
                }
            }
        }
    }
}

/// Vectors that are in registers at once.
pub(crate) const RADIX: usize = 8;

/// to ← H·diag(signs)·from, or H·from where there are no signs.
///
/// # Safety
/// The processor has the instructions of `L`. The length is a power of two, at least N; `from` and `to` are valid for as many elements and
/// equal or apart, and the signs are as many.
#[inline(always)]
pub(crate) unsafe fn transform<L: Lanes>(
    from: *const L::Elem,
    signs: Option<&[L::Elem]>,
    to: *mut L::Elem,
    length: usize,
) {
    let vectors = length / L::N;
    // SAFETY: each pass visits every vector of the row once, and reads those of a group before it writes them.
    unsafe {
        match vectors {
            1 => within::<L, 1>(from, signs, to, vectors),
            2 => within::<L, 2>(from, signs, to, vectors),
            4 => within::<L, 4>(from, signs, to, vectors),
            _ => within::<L, RADIX>(from, signs, to, vectors),
        }
        let mut distance = RADIX;
        while distance < vectors {
            match vectors / distance {
                2 => across::<L, 2>(to, distance, vectors),
                4 => across::<L, 4>(to, distance, vectors),
                _ => across::<L, RADIX>(to, distance, vectors),
            }
            distance *= RADIX;
        }
    }
}

/// The signs, the stages within a vector, and those of `K` neighbouring vectors.
#[inline(always)]
unsafe fn within<L: Lanes, const K: usize>(
    from: *const L::Elem,
    signs: Option<&[L::Elem]>,
    row: *mut L::Elem,
    vectors: usize,
) {
    unsafe {
        for first in (0..vectors).step_by(K) {
            let mut group = [L::constant(0.0); K];
            for k in 0..K {
                let at = (first + k) * L::N;
                let mut vector = L::load(from.add(at));
                if let Some(signs) = signs {
                    vector = vector.mul(L::load(signs.as_ptr().add(at)));
                }
                group[k] = vector.walsh_hadamard();
            }
            let group = stages(group);
            for k in 0..K {
                group[k].store(row.add((first + k) * L::N));
            }
        }
    }
}

/// The stages of `K` vectors `distance` apart.
#[inline(always)]
pub(crate) unsafe fn across<L: Lanes, const K: usize>(row: *mut L::Elem, distance: usize, vectors: usize) {
    unsafe {
        for block in (0..vectors).step_by(K * distance) {
            for first in block..block + distance {
                let mut group = [L::constant(0.0); K];
                for k in 0..K {
                    group[k] = L::load(row.add((first + k * distance) * L::N));
                }
                let group = stages(group);
                for k in 0..K {
                    group[k].store(row.add((first + k * distance) * L::N));
                }
            }
        }
    }
}

/// Sums and differences at distance 1, 2, … K/2. All loops have constant lengths, so that the group stays in registers.
#[inline(always)]
pub(crate) unsafe fn stages<L: Lanes, const K: usize>(mut group: [L; K]) -> [L; K] {
    for stage in 0..K.ilog2() {
        for pair in 0..K / 2 {
            let distance = 1 << stage;
            let low = pair / distance * 2 * distance + pair % distance;
            let (a, b) = (group[low], group[low + distance]);
            (group[low], group[low + distance]) = unsafe { (a.add(b), a.sub(b)) };
        }
    }
    group
}

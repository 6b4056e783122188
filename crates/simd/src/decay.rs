//! Sums to kernel values.
//!
//! ```text
//! out(j) = exp(−rate·max(0, s(j)))        in f64, rounded once to the type of the output
//! ```
//! For distances that were summed elsewhere, as those of sparse rows are; dense rows end in the registers instead.

use crate::dispatch::{Task, dispatch};
use crate::exp::exp2_of_negative;
use crate::lanes::{Lanes, MOST_LANES};
use crate::{Element, Isa};

/// Writes exp(−rate·s) of each sum; a sum that came out below zero counts as zero.
///
/// # Panics
/// If the lengths differ.
#[inline(never)]
pub fn decays<T: Element>(isa: Isa, rate: f64, sums: &[f64], out: &mut [T]) {
    assert!(sums.len() == out.len(), "lengths differ");
    dispatch(isa, Decays { factor: -rate * std::f64::consts::LOG2_E, sums, out });
}

struct Decays<'a, T> {
    factor: f64,
    sums: &'a [f64],
    out: &'a mut [T],
}

impl<T: Element> Task<T> for Decays<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = T>, const R: usize>(self) {
        let whole = self.sums.len() / L::N * L::N;
        // SAFETY: loads and stores stay below `whole` or within the buffers; `run` is only called by `dispatch`.
        unsafe {
            for j in (0..whole).step_by(L::N) {
                values::<L>(self.factor, self.sums.as_ptr().add(j)).store(self.out.as_mut_ptr().add(j));
            }
            let (mut sums, mut out) = ([0.0; MOST_LANES], [T::default(); MOST_LANES]);
            let left = self.sums.len() - whole;
            sums[..left].copy_from_slice(&self.sums[whole..]);
            values::<L>(self.factor, sums.as_ptr()).store(out.as_mut_ptr());
            self.out[whole..].copy_from_slice(&out[..left]);
        }
    }
}

/// N values from as many sums.
#[inline(always)]
unsafe fn values<L: Lanes>(factor: f64, sums: *const f64) -> L {
    unsafe {
        let low = value::<L::Wide>(factor, sums);
        let two = L::N > L::Wide::N;
        L::narrow(low, if two { value::<L::Wide>(factor, sums.add(L::Wide::N)) } else { low })
    }
}

#[inline(always)]
unsafe fn value<W: Lanes<Elem = f64>>(factor: f64, sums: *const f64) -> W {
    unsafe { exp2_of_negative(W::load(sums).max(W::constant(0.0)).mul(W::constant(factor))) }
}

//! Sums to kernel values.
//!
//! ```text
//! out(j) = exp(−rate·max(0, s(j)))        in f64, rounded once to f32
//! ```
//! For distances that were summed elsewhere, as those of sparse rows are; dense rows end in the registers instead.

use crate::Isa;
use crate::dispatch::{Task, dispatch};
use crate::exp::exp2_of_negative;
use crate::lanes::{Lanes, MOST_LANES};

/// Writes exp(−rate·s) of each sum; a sum that came out below zero counts as zero.
///
/// # Panics
/// If the lengths differ.
pub fn decays(isa: Isa, rate: f64, sums: &[f64], out: &mut [f32]) {
    assert!(sums.len() == out.len(), "lengths differ");
    dispatch(isa, Decays { factor: -rate * std::f64::consts::LOG2_E, sums, out });
}

struct Decays<'a> {
    factor: f64,
    sums: &'a [f64],
    out: &'a mut [f32],
}

impl Task<f32> for Decays<'_> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = f32>, const R: usize>(self) {
        let whole = self.sums.len() / L::N * L::N;
        // SAFETY: loads and stores stay below `whole` or within the buffers; `run` is only called by `dispatch`.
        unsafe {
            for j in (0..whole).step_by(L::N) {
                values::<L>(self.factor, self.sums.as_ptr().add(j)).store(self.out.as_mut_ptr().add(j));
            }
            let (mut sums, mut out) = ([0.0; MOST_LANES], [0.0; MOST_LANES]);
            let left = self.sums.len() - whole;
            sums[..left].copy_from_slice(&self.sums[whole..]);
            values::<L>(self.factor, sums.as_ptr()).store(out.as_mut_ptr());
            self.out[whole..].copy_from_slice(&out[..left]);
        }
    }
}

/// N values from as many sums.
#[inline(always)]
unsafe fn values<L: Lanes<Elem = f32>>(factor: f64, sums: *const f64) -> L {
    unsafe {
        let value = |sums: *const f64| {
            let sum = L::Wide::load(sums).max(L::Wide::constant(0.0));
            exp2_of_negative(sum.mul(L::Wide::constant(factor)))
        };
        let low = value(sums);
        L::narrow(low, if L::N > L::Wide::N { value(sums.add(L::Wide::N)) } else { low })
    }
}

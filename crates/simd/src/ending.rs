//! What becomes of the sums of a register tile.
//!
//! ```text
//! as is       s
//! distance    max(0, s)
//! pairs       scale·cos 2πs, scale·sin 2πs
//! offset      scale·cos 2π(s + offset)
//! hinge       scale·max(0, s)ⁿ, n = 0, 1, 2
//! decay       exp(−rate·s)
//! ```

use crate::exp::exp2_of_negative;
use crate::lanes::{Lanes, MOST_LANES, VECTORS};
use crate::trig::{cos, cos_sin};
use crate::{Element, HingeOrder};

/// The phase of (row, column) in f64, asked for where it is too large for the precision at hand.
pub(crate) type Exact<'a> = &'a (dyn Fn(usize, usize) -> f64 + Sync);

/// One ending.
pub(crate) trait Ending<T: Element> {
    /// Features made of one sum.
    const OUTPUTS: usize;

    /// Writes `VECTORS`·N·OUTPUTS features of row i and the columns from `column` on, of `columns` in all; `last` says that `to` is
    /// where they stay, so that they may be streamed.
    unsafe fn finish<L: Lanes<Elem = T>>(
        &self,
        sums: [L; VECTORS],
        i: usize,
        column: usize,
        columns: usize,
        last: bool,
        to: *mut T,
    );
}

pub(crate) struct AsIs;

pub(crate) struct NotNegative;

pub(crate) struct PairsOfTurns<'a, T> {
    pub(crate) scale: T,
    pub(crate) exact: Exact<'a>,
    pub(crate) stream: bool,
}

pub(crate) struct OffsetCosines<'a, T> {
    pub(crate) scale: T,
    pub(crate) offsets: &'a [T],
    pub(crate) exact: Exact<'a>,
}

pub(crate) struct HingePower<T> {
    pub(crate) order: HingeOrder,
    pub(crate) scale: T,
}

pub(crate) struct Decay {
    pub(crate) rate: f64,
}

impl<T: Element> Ending<T> for AsIs {
    const OUTPUTS: usize = 1;

    #[inline(always)]
    unsafe fn finish<L: Lanes<Elem = T>>(
        &self,
        sums: [L; VECTORS],
        _: usize,
        _: usize,
        _: usize,
        _: bool,
        to: *mut T,
    ) {
        for v in 0..VECTORS {
            unsafe { sums[v].store(to.add(v * L::N)) }
        }
    }
}

impl<T: Element> Ending<T> for NotNegative {
    const OUTPUTS: usize = 1;

    #[inline(always)]
    unsafe fn finish<L: Lanes<Elem = T>>(
        &self,
        sums: [L; VECTORS],
        _: usize,
        _: usize,
        _: usize,
        _: bool,
        to: *mut T,
    ) {
        for v in 0..VECTORS {
            // In this order what is not a number stays so.
            unsafe { L::constant(0.0).max(sums[v]).store(to.add(v * L::N)) }
        }
    }
}

impl<T: Element> Ending<T> for PairsOfTurns<'_, T> {
    const OUTPUTS: usize = 2;

    #[inline(always)]
    unsafe fn finish<L: Lanes<Elem = T>>(
        &self,
        sums: [L; VECTORS],
        i: usize,
        column: usize,
        columns: usize,
        last: bool,
        to: *mut T,
    ) {
        unsafe {
            let turns = reduced(sums, self.exact, i, column, columns);
            let scale = L::splat(self.scale);
            let stream = self.stream && last && to.addr().is_multiple_of(L::N * size_of::<T>());
            for v in 0..VECTORS {
                let (c, s) = cos_sin(turns[v]);
                let (low, high) = c.mul(scale).interleave(s.mul(scale));
                let (first, second) = (to.add(2 * v * L::N), to.add((2 * v + 1) * L::N));
                if stream {
                    low.stream(first);
                    high.stream(second);
                } else {
                    low.store(first);
                    high.store(second);
                }
            }
        }
    }
}

impl<T: Element> Ending<T> for OffsetCosines<'_, T> {
    const OUTPUTS: usize = 1;

    #[inline(always)]
    unsafe fn finish<L: Lanes<Elem = T>>(
        &self,
        sums: [L; VECTORS],
        i: usize,
        column: usize,
        columns: usize,
        _: bool,
        to: *mut T,
    ) {
        let mut offsets = [T::default(); VECTORS * MOST_LANES];
        let count = self.offsets.len().saturating_sub(column).min(VECTORS * L::N);
        offsets[..count].copy_from_slice(&self.offsets[column..column + count]);
        unsafe {
            let turns = reduced(sums, self.exact, i, column, columns);
            let scale = L::splat(self.scale);
            for v in 0..VECTORS {
                let offset = L::load(offsets.as_ptr().add(v * L::N));
                cos(turns[v].add(offset)).mul(scale).store(to.add(v * L::N));
            }
        }
    }
}

impl<T: Element> Ending<T> for HingePower<T> {
    const OUTPUTS: usize = 1;

    #[inline(always)]
    unsafe fn finish<L: Lanes<Elem = T>>(
        &self,
        sums: [L; VECTORS],
        _: usize,
        _: usize,
        _: usize,
        _: bool,
        to: *mut T,
    ) {
        unsafe {
            let scale = L::splat(self.scale);
            for v in 0..VECTORS {
                let ramp = sums[v].where_positive(sums[v]);
                let power = match self.order {
                    HingeOrder::Step => scale.where_positive(sums[v]),
                    HingeOrder::Linear => ramp.mul(scale),
                    HingeOrder::Square => ramp.mul(ramp).mul(scale),
                };
                power.store(to.add(v * L::N));
            }
        }
    }
}

impl<T: Element> Ending<T> for Decay {
    const OUTPUTS: usize = 1;

    #[inline(always)]
    unsafe fn finish<L: Lanes<Elem = T>>(
        &self,
        sums: [L; VECTORS],
        _: usize,
        _: usize,
        _: usize,
        _: bool,
        to: *mut T,
    ) {
        unsafe {
            let factor = L::constant(-self.rate * std::f64::consts::LOG2_E);
            for v in 0..VECTORS {
                // A sparse sum may come out a rounding below zero.
                let exponent = sums[v].max(L::constant(0.0)).mul(factor);
                exp2_of_negative(exponent).store(to.add(v * L::N));
            }
        }
    }
}

/// The phases, those that are too large for this precision replaced by their fraction computed in f64.
#[inline(always)]
unsafe fn reduced<T: Element, L: Lanes<Elem = T>>(
    phases: [L; VECTORS],
    exact: Exact<'_>,
    i: usize,
    column: usize,
    columns: usize,
) -> [L; VECTORS] {
    unsafe {
        let limit = L::splat(T::PHASE_LIMIT);
        if phases[0].all_below(limit) & phases[1].all_below(limit) & phases[2].all_below(limit) {
            return phases;
        }
        let mut buffer = [T::default(); VECTORS * MOST_LANES];
        for v in 0..VECTORS {
            phases[v].store(buffer.as_mut_ptr().add(v * L::N));
        }
        replace_large(&mut buffer[..VECTORS * L::N], exact, i, column, columns);
        let mut reduced = phases;
        for v in 0..VECTORS {
            reduced[v] = L::load(buffer.as_ptr().add(v * L::N));
        }
        reduced
    }
}

// Columns past the last have no phase: whatever an infinite row made of their zeros is nothing.
#[cold]
#[inline(never)]
fn replace_large<T: Element>(phases: &mut [T], exact: Exact<'_>, i: usize, column: usize, columns: usize) {
    for (j, phase) in phases.iter_mut().enumerate() {
        if !(phase.to_f64().abs() < T::PHASE_LIMIT.to_f64()) {
            let t = if column + j < columns { exact(i, column + j) } else { 0.0 };
            let r = t - t.round_ties_even();
            *phase = T::from_f64(if r.is_finite() { r } else { 0.0 });
        }
    }
}

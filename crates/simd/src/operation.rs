//! What an inner loop adds up for one pair of entries (a, b).
//!
//! ```text
//! dot         a·b
//! squared     (a − b)²
//! absolute    |a − b|
//! ```
//! A sparse row skips the entries a = 0, whose terms (0, b², |b|) are added beforehand as the panel's base:
//! its step adds what the term is above that.

use crate::lanes::Lanes;

/// One inner operation.
pub(crate) trait Operation {
    /// Whether a step has a result in between, which takes a register.
    const HAS_BETWEEN: bool = true;

    unsafe fn step<L: Lanes>(sum: L, a: L, b: L) -> L;
    unsafe fn sparse_step<L: Lanes>(sum: L, a: L, b: L) -> L;
}

pub(crate) struct Dot;
pub(crate) struct Squared;
pub(crate) struct Absolute;

impl Operation for Dot {
    const HAS_BETWEEN: bool = false;

    #[inline(always)]
    unsafe fn step<L: Lanes>(sum: L, a: L, b: L) -> L {
        unsafe { a.mul_add(b, sum) }
    }
    #[inline(always)]
    unsafe fn sparse_step<L: Lanes>(sum: L, a: L, b: L) -> L {
        unsafe { a.mul_add(b, sum) }
    }
}

impl Operation for Squared {
    #[inline(always)]
    unsafe fn step<L: Lanes>(sum: L, a: L, b: L) -> L {
        unsafe {
            let difference = a.sub(b);
            difference.mul_add(difference, sum)
        }
    }
    /// (a − b)² − b² = a·(a − 2b)
    #[inline(always)]
    unsafe fn sparse_step<L: Lanes>(sum: L, a: L, b: L) -> L {
        unsafe { a.mul_add(a.sub(b.add(b)), sum) }
    }
}

impl Operation for Absolute {
    #[inline(always)]
    unsafe fn step<L: Lanes>(sum: L, a: L, b: L) -> L {
        unsafe { sum.add(a.sub(b).abs()) }
    }
    #[inline(always)]
    unsafe fn sparse_step<L: Lanes>(sum: L, a: L, b: L) -> L {
        unsafe { sum.add(a.sub(b).abs().sub(b.abs())) }
    }
}

//! What is computed from rows and columns: a choice, and the operation and the ending that it stands for.
//!
//! ```text
//! z(i, j) = ending(Σₖ op(xᵢₖ, bₖⱼ))
//! ```
//! The loops over rows know neither: they are compiled once for each choice.

use crate::Element;
use crate::dispatch::Task;
use crate::ending::{AsIs, Decay, Ending, HingePower, NotNegative, OffsetCosines, PairsOfTurns};
use crate::lanes::Lanes;
use crate::operation::{Absolute, Dot, Operation, Squared};

/// A distance that is a sum over columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// Σ (a − b)²
    Squared,
    /// Σ |a − b|
    Absolute,
}

/// The power of a hinge, which is the order of its arc-cosine kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HingeOrder {
    /// Order 0: 1 where s > 0, else 0.
    Step,
    /// Order 1: max(0, s).
    Linear,
    /// Order 2: max(0, s)².
    Square,
}

/// What is computed from a row x and a column b of the panels.
#[derive(Clone, Copy)]
pub enum Apply<'a, T> {
    /// x·b
    Product,
    /// (cos 2πt, sin 2πt)·scale at outputs 2j and 2j+1, t = x·b.
    ///
    /// Phases of [`Element::PHASE_LIMIT`] or more, and those that are not finite, are asked again from `exact(row,
    /// column)` and reduced in f64; one that is still not finite counts as 0.
    Pairs {
        /// Factor of both.
        scale: T,
        /// The phase in f64.
        exact: &'a (dyn Fn(usize, usize) -> f64 + Sync),
        /// Write past the caches, where rows lie on cache lines: faster if the features are not read again soon.
        stream: bool,
    },
    /// cos 2π(t + offset)·scale, t = x·b; phases as for pairs.
    Offset {
        /// Factor.
        scale: T,
        /// One offset a column, in turns.
        offsets: &'a [T],
        /// The phase in f64, without the offset.
        exact: &'a (dyn Fn(usize, usize) -> f64 + Sync),
    },
    /// scale·max(0, t)ⁿ, t = x·b, with 0⁰ = 0; a product that is not a number counts as 0.
    Hinge {
        /// n.
        order: HingeOrder,
        /// Factor.
        scale: T,
    },
    /// distance(x, b). What rounding leaves below zero in the sum of a sparse row is zero; what is not a number stays so.
    Distance(Distance),
    /// exp(−rate·distance(x, b))
    Exponential {
        /// Which distance.
        distance: Distance,
        /// Positive.
        rate: f64,
    },
}

impl<T> Apply<'_, T> {
    /// Outputs per column of the panels.
    pub fn outputs(&self) -> usize {
        if matches!(self, Apply::Pairs { .. }) { 2 } else { 1 }
    }

    /// Whether it is a function of x·b.
    pub(crate) fn is_of_products(&self) -> bool {
        !matches!(self, Apply::Distance(_) | Apply::Exponential { .. })
    }
}

/// The two shapes of rows, behind one choice of operation and ending.
pub(crate) trait Sums<T: Element>: Sized {
    /// Runs the loops.
    unsafe fn run<L: Lanes<Elem = T>, O: Operation, E: Ending<T>, const R: usize>(self, ending: E);
}

pub(crate) struct WithEnding<'a, 'b, S, T> {
    pub(crate) what: &'a Apply<'b, T>,
    pub(crate) sums: S,
}

impl<T: Element, S: Sums<T>> Task<T> for WithEnding<'_, '_, S, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = T>, const R: usize>(self) {
        let WithEnding { what, sums } = self;
        unsafe {
            match *what {
                Apply::Distance(Distance::Squared) => sums.run::<L, Squared, _, R>(NotNegative),
                Apply::Distance(Distance::Absolute) => sums.run::<L, Absolute, _, R>(NotNegative),
                Apply::Exponential { distance: Distance::Squared, rate } => {
                    sums.run::<L, Squared, _, R>(Decay { rate });
                }
                Apply::Exponential { distance: Distance::Absolute, rate } => {
                    sums.run::<L, Absolute, _, R>(Decay { rate });
                }
                _ => OfProducts { what, sums }.run::<L, R>(),
            }
        }
    }
}

/// As [`WithEnding`], for what [is of products](Apply::is_of_products): rows that only have products compile no other loops.
pub(crate) struct OfProducts<'a, 'b, S, T> {
    pub(crate) what: &'a Apply<'b, T>,
    pub(crate) sums: S,
}

impl<T: Element, S: Sums<T>> Task<T> for OfProducts<'_, '_, S, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = T>, const R: usize>(self) {
        let sums = self.sums;
        unsafe {
            match *self.what {
                Apply::Product => sums.run::<L, Dot, _, R>(AsIs),
                Apply::Pairs { scale, exact, stream } => {
                    sums.run::<L, Dot, _, R>(PairsOfTurns { scale, exact, stream });
                    if stream {
                        L::end_of_stream();
                    }
                }
                Apply::Offset { scale, offsets, exact } => {
                    sums.run::<L, Dot, _, R>(OffsetCosines { scale, offsets, exact });
                }
                Apply::Hinge { order, scale } => sums.run::<L, Dot, _, R>(HingePower { order, scale }),
                Apply::Distance(_) | Apply::Exponential { .. } => unreachable!("not of products"),
            }
        }
    }
}

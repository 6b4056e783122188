//! What is made once for each precision and instruction set that is asked for.

use std::fmt;
use std::sync::OnceLock;

use bochner_simd::{Isa, Panels};

use crate::Scalar;

/// A type for each precision.
#[doc(hidden)]
pub trait Family {
    /// The one for T.
    type Of<T: Scalar>: Clone + fmt::Debug;
}

/// One for each instruction set, made when first needed.
#[doc(hidden)]
pub type Slots<V> = Box<[OnceLock<V>; Isa::COUNT]>;

/// One in either precision, for each instruction set.
#[doc(hidden)]
pub struct PerPrecision<F: Family> {
    pub(crate) single: Slots<F::Of<f32>>,
    pub(crate) double: Slots<F::Of<f64>>,
}

impl<F: Family> PerPrecision<F> {
    /// The one of this precision for an instruction set.
    pub(crate) fn get<T: Scalar>(&self, isa: Isa, make: impl FnOnce() -> F::Of<T>) -> &F::Of<T> {
        T::slots(self)[isa.index()].get_or_init(make)
    }
}

impl<F: Family> Default for PerPrecision<F> {
    fn default() -> Self {
        PerPrecision { single: Slots::default(), double: Slots::default() }
    }
}

impl<F: Family> Clone for PerPrecision<F> {
    fn clone(&self) -> Self {
        PerPrecision { single: self.single.clone(), double: self.double.clone() }
    }
}

impl<F: Family> fmt::Debug for PerPrecision<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerPrecision").finish_non_exhaustive()
    }
}

/// A matrix packed for the loops.
pub(crate) struct OfPanels;

impl Family for OfPanels {
    type Of<T: Scalar> = Panels<T>;
}

/// A matrix packed for the loops, in either precision.
pub(crate) type Packed = PerPrecision<OfPanels>;

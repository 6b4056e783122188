//! A matrix packed for the loops, once for each precision that is asked for.

use std::sync::OnceLock;

use bochner_simd::Panels;

use crate::Scalar;

/// Panels in either precision, made when first needed.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct Packed {
    pub(crate) single: OnceLock<Panels<f32>>,
    pub(crate) double: OnceLock<Panels<f64>>,
}

impl Packed {
    /// The panels of one precision.
    pub(crate) fn get<T: Scalar>(&self, pack: impl FnOnce() -> Panels<T>) -> &Panels<T> {
        T::slot(self).get_or_init(pack)
    }
}

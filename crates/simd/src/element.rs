//! The two number types of the loops.

use crate::lanes::{self, Lanes};

/// The lanes of an element type on each instruction set; also what seals [`Element`].
#[allow(unnameable_types, reason = "a sealed trait: only this crate implements or names it")]
pub trait Vectors: Sized {
    type Portable: Lanes<Elem = Self>;
    #[cfg(target_arch = "x86_64")]
    type Avx2: Lanes<Elem = Self>;
    #[cfg(target_arch = "x86_64")]
    type Avx512: Lanes<Elem = Self>;
}

impl Vectors for f32 {
    type Portable = lanes::portable::Four<f32>;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = lanes::avx2::F32x8;
    #[cfg(target_arch = "x86_64")]
    type Avx512 = lanes::avx512::F32x16;
}

impl Vectors for f64 {
    type Portable = lanes::portable::Four<f64>;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = lanes::avx2::F64x4;
    #[cfg(target_arch = "x86_64")]
    type Avx512 = lanes::avx512::F64x8;
}

/// `f32` or `f64`. Sealed: the loops exist for these two.
pub trait Element:
    Vectors + Copy + Default + PartialEq + PartialOrd + Send + Sync + std::fmt::Debug + 'static
{
    /// Phases of this size or more, in turns, are computed anew in f64 (see [`Apply::Pairs`](crate::Apply)).
    const PHASE_LIMIT: Self;
    /// Rounds to the nearest value of this type.
    fn from_f64(value: f64) -> Self;
    /// The same value as an `f64`.
    fn to_f64(self) -> f64;
}

impl Element for f32 {
    // An f32 dot product is good to |t|·2⁻²⁴ turns a rounding: below 2¹⁰ turns, to 4e-4 of a radian.
    const PHASE_LIMIT: f32 = 1024.0;
    fn from_f64(value: f64) -> f32 {
        value as f32
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

impl Element for f64 {
    // Only what is not finite is looked at again.
    const PHASE_LIMIT: f64 = f64::INFINITY;
    fn from_f64(value: f64) -> f64 {
        value
    }
    fn to_f64(self) -> f64 {
        self
    }
}

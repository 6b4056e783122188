//! The histogram intersection kernel.
//!
//! ```text
//! k(x, y) = Σⱼ min(xⱼ, yⱼ)  =  ∫ Σⱼ 1[t < xⱼ]·1[t < yⱼ] dt
//! ```
//! For entries that are not negative.

/// The term of one column.
pub(super) fn term(x: f64, y: f64) -> f64 {
    x.min(y)
}

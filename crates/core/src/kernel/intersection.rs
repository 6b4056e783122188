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

/// Its derivative in x; 0 at x = y, where it is the one to the right.
pub(super) fn slope(x: f64, y: f64) -> f64 {
    if x < y { 1.0 } else { 0.0 }
}

//! The all-subsets kernel.
//!
//! ```text
//! k(x, y) = ∏ⱼ (1 + xⱼyⱼ)  =  Σ_S ∏_{j∈S} xⱼ·∏_{j∈S} yⱼ        over all sets S of columns
//! ```
//! Its features are the 2ᵈ products of the columns in a set. For rows of zeros and ones it is 2 to the number of columns that both have.

/// The factor of one column.
pub(super) fn factor(x: f64, y: f64, _: f64) -> f64 {
    1.0 + x * y
}

/// Its derivative in x.
pub(super) fn slope(_: f64, y: f64, _: f64) -> f64 {
    y
}

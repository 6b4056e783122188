//! The Cauchy kernel, a product over columns.
//!
//! ```text
//! k(x, y) = ∏ⱼ 1 / (1 + (xⱼ − yⱼ)²/s²)  =  E exp(i ω·(x − y)),    ωⱼ ~ Laplace(scale 1/s), independent
//! ```
//! Each factor is 1 at x = y, as a kernel with |φ(x)| = 1 must be. E‖ω‖² = 2d/s². `gamma` = 1/s is the other spelling of the scale.

/// The factor of one column.
pub(super) fn factor(x: f64, y: f64, scale: f64) -> f64 {
    let u = (x - y) / scale;
    1.0 / (1.0 + u * u)
}

/// Its derivative in x.
pub(super) fn slope(x: f64, y: f64, scale: f64) -> f64 {
    let (u, value) = ((x - y) / scale, factor(x, y, scale));
    -2.0 * u * value * value / scale
}

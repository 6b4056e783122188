//! The Laplace kernel, a product over columns.
//!
//! ```text
//! k(x, y) = exp(−‖x − y‖₁ / s)  =  E exp(i ω·(x − y)),    ωⱼ ~ Cauchy(0, 1/s), independent
//! ```
//! Not isotropic (exp(−‖x − y‖₂ / s) is [another kernel](super::exponential)) and without moments of ω: Fourier bounds that are uniform over a
//! domain do not exist for it. A mixture of hats, so that binning works: the pitch has density δ·k̈(δ) = (δ/s²)·exp(−δ/s), Gamma(2, s).
//! `gamma` = 1/s is the other spelling of the scale.

/// Of the sum Σ |xⱼ − yⱼ|/sⱼ.
pub(super) fn profile(sum: f64) -> f64 {
    libm::exp(-sum)
}

/// Its derivative in the sum.
pub(super) fn slope(sum: f64) -> f64 {
    -libm::exp(-sum)
}

//! The exponential kernel, which is Matérn's of ν = ½.
//!
//! ```text
//! k(x, y) = exp(−‖x − y‖₂ / s)  =  E exp(i ω·(x − y)),    ω = g/(s·|u|),  g ~ N(0, I), u ~ N(0, 1): multivariate Cauchy
//! ```
//! Isotropic; the product over columns, exp(−‖x − y‖₁ / s), is [another kernel](super::laplace). E‖ω‖² is infinite: no bound of Fourier features holds
//! uniformly over a domain. `gamma` = 1/s is the other spelling of the scale.

/// Of q = Σ ((xⱼ − yⱼ)/sⱼ)².
pub(super) fn profile(q: f64, _: f64) -> f64 {
    libm::exp(-q.sqrt())
}

/// Its derivative in q.
pub(super) fn slope(q: f64, _: f64) -> f64 {
    let r = q.sqrt();
    -libm::exp(-r) / (2.0 * r)
}

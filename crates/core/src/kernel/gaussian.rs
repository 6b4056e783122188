//! The Gaussian kernel.
//!
//! ```text
//! k(x, y) = exp(−‖x − y‖² / (2σ²))  =  E exp(i ω·(x − y)),    ω ~ N(0, I/σ²)
//! ```
//! Isotropic. `gamma` = 1/(2σ²) is the other spelling of σ.

/// Of q = Σ ((xⱼ − yⱼ)/σⱼ)².
pub(super) fn profile(q: f64, _: f64) -> f64 {
    libm::exp(-RATE * q)
}

/// Its derivative in q.
pub(super) fn slope(q: f64, _: f64) -> f64 {
    -RATE * libm::exp(-RATE * q)
}

/// exp(−RATE·q).
pub(super) const RATE: f64 = 0.5;

/// The σ of a γ.
pub(super) fn sigma(gamma: f64) -> f64 {
    (RATE / gamma).sqrt()
}

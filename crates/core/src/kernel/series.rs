//! Any function of x·y with a Taylor series whose coefficients are not negative.
//!
//! ```text
//! k(x, y) = a₀ + a₁·(x·y) + a₂·(x·y)² + … + aₚ·(x·y)ᵖ
//! ```
//! A sum of kernels, so a kernel; and on the unit ball of a space of every dimension only such functions of x·y are kernels (Schoenberg 1942). Its features are those of the
//! powers side by side, √aₙ times. (x·y + c)ᵖ without its constant is the series of C(p, n)·cᵖ⁻ⁿ, n ≥ 1.

/// Of x·y, by Horner's rule.
pub(super) fn value(inner: f64, coefficients: &[f64]) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, a| sum * inner + a)
}

/// Its derivative in x·y.
pub(super) fn slope(inner: f64, coefficients: &[f64]) -> f64 {
    let terms = coefficients.iter().enumerate().skip(1).rev();
    terms.fold(0.0, |sum, (n, a)| sum * inner + n as f64 * a)
}

//! The polynomial kernel.
//!
//! ```text
//! k(x, y) = (γ·x·y + c)ᵖ
//! ```
//! Its features are all monomials up to degree p (of degree p exactly if c = 0), C(d + p, p) of them, weighted by the roots of multinomial coefficients. c must not be negative:
//! (x·y − 1)² is not positive semidefinite.

/// Of x·y.
pub(super) fn value(inner: f64, degree: u32, gamma: f64, c: f64) -> f64 {
    power(gamma * inner + c, degree)
}

/// Its derivative in x·y.
pub(super) fn slope(inner: f64, degree: u32, gamma: f64, c: f64) -> f64 {
    f64::from(degree) * gamma * power(gamma * inner + c, degree - 1)
}

/// xⁿ by squaring: the same bits everywhere.
pub(super) fn power(mut x: f64, mut n: u32) -> f64 {
    let mut result = 1.0;
    while n > 0 {
        if n & 1 == 1 {
            result *= x;
        }
        x *= x;
        n >>= 1;
    }
    result
}

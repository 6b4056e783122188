//! The arc-cosine kernels: infinitely many rectified units with normal weights.
//!
//! ```text
//! k(x, y) = 2·E[1(w·x > 0)·1(w·y > 0)·(w·x)ⁿ·(w·y)ⁿ],   w ~ N(0, I)
//!         = ‖x‖ⁿ‖y‖ⁿ·J(θ)/π,   θ the angle between x and y
//!
//! n = 0   J = π − θ
//! n = 1   J = sin θ + (π − θ)·cos θ
//! n = 2   J = 3·sin θ·cos θ + (π − θ)·(1 + 2·cos²θ)
//! ```
//! k(x, x) = 1, ‖x‖², 3‖x‖⁴. The row of zeros has no angle and no rectified unit: its values are zero. Cho & Saul (2009).

use std::f64::consts::PI;

/// Of x·y, ‖x‖² and ‖y‖².
pub(super) fn value(inner: f64, xx: f64, yy: f64, order: u32) -> f64 {
    // Each root by itself: the product of squares may be too small or too large for a number.
    let lengths = xx.sqrt() * yy.sqrt();
    if !(lengths > 0.0) {
        return 0.0;
    }
    let cos = (inner / lengths).clamp(-1.0, 1.0);
    // Nearly parallel rows have half the digits of their cosine, whatever formula starts from it.
    let theta = libm::acos(cos);
    let (sin, rest) = (libm::sin(theta), PI - theta);
    match order {
        0 => rest / PI,
        1 => lengths * (sin + rest * cos) / PI,
        _ => lengths * lengths * (3.0 * sin * cos + rest * (1.0 + 2.0 * cos * cos)) / PI,
    }
}

/// Its derivatives in x·y and in ‖x‖²:
///
/// ```text
/// n = 0   1/(π·sin θ·‖x‖‖y‖)         −cos θ/(2π·sin θ·‖x‖²)
/// n = 1   (π − θ)/π                  sin θ·‖y‖/(2π‖x‖)
/// n = 2   4‖x‖‖y‖·J₁(θ)/π            ‖y‖²·(sin θ·cos θ + π − θ)/π
/// ```
/// Zero for a row of zeros, and for n = 0 where the angle is 0 or π, to rounding: there the kernel has a corner.
pub(super) fn slopes(inner: f64, xx: f64, yy: f64, order: u32) -> (f64, f64) {
    let lengths = xx.sqrt() * yy.sqrt();
    if !(lengths > 0.0) {
        return (0.0, 0.0);
    }
    let cos = (inner / lengths).clamp(-1.0, 1.0);
    let theta = libm::acos(cos);
    let (sin, rest) = (libm::sin(theta), PI - theta);
    match order {
        0 if 1.0 - cos.abs() <= 4.0 * f64::EPSILON => (0.0, 0.0),
        0 => (1.0 / (PI * sin * lengths), -cos / (2.0 * PI * sin * xx)),
        1 => (rest / PI, sin * (yy.sqrt() / xx.sqrt()) / (2.0 * PI)),
        _ => (4.0 * lengths * (sin + rest * cos) / PI, yy * (sin * cos + rest) / PI),
    }
}

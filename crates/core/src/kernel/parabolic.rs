//! The kernel of the parabolic lift.
//!
//! ```text
//! φ(x) = (x, ‖x‖²)        k(x, y) = x·y + ‖x‖²·‖y‖²
//! ```
//! A hyperplane in the lifted space is a sphere in the space of the rows: a linear separator of lifted rows is a ball, and
//! [`Region`](crate::map::Region) is the way back.

/// Of x·y, ‖x‖² and ‖y‖².
pub(super) fn value(inner: f64, xx: f64, yy: f64) -> f64 {
    inner + xx * yy
}

/// Its derivatives in x·y and in ‖x‖².
pub(super) fn slopes(yy: f64) -> (f64, f64) {
    (1.0, yy)
}

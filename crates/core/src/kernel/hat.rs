//! The hat kernel: what one random grid sees on average.
//!
//! ```text
//! k(x, y) = ∏ⱼ max(0, 1 − |xⱼ − yⱼ| / w)  =  E exp(i ω·(x − y)),    ωⱼ has density (w/2π)·(sin(ωw/2)/(ωw/2))²
//! ```
//! The chance that no line of a grid of pitch w with a uniform shift falls between x and y, column by column. A product of triangles
//! has compact support: rows further apart than w in any column are not alike at all.

use super::gradient::sign;

/// The factor of one column.
pub(super) fn factor(x: f64, y: f64, width: f64) -> f64 {
    (1.0 - (x - y).abs() / width).max(0.0)
}

/// Its derivative in x; 0 at the three corners.
pub(super) fn slope(x: f64, y: f64, width: f64) -> f64 {
    let difference = x - y;
    if difference.abs() < width { -sign(difference) / width } else { 0.0 }
}

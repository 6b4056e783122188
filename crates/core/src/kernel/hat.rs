//! The hat kernel: what one random grid sees on average.
//!
//! ```text
//! k(x, y) = ∏ⱼ max(0, 1 − |xⱼ − yⱼ| / w)
//! ```
//! The chance that no line of a grid of pitch w with a uniform shift falls between x and y, column by column. A product of triangles
//! has compact support: rows further apart than w in any column are not alike at all.

use super::{Form, Pitch};

pub(super) fn form(width: f64) -> Form {
    Form::Hat { width }
}

/// The factor of one column.
pub(super) fn factor(x: f64, y: f64, width: f64) -> f64 {
    (1.0 - (x - y).abs() / width).max(0.0)
}

/// All grids have this pitch.
pub(super) fn pitch(width: f64) -> Pitch {
    Pitch::Fixed { width }
}

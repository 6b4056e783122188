//! From sums to coefficients.

mod normal;
mod path;

pub(crate) use normal::{Normal, Solution};
pub(crate) use path::Path;

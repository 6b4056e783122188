//! Recipes in the user's words.

mod auto;
mod bandwidth;
mod ridge;

pub use auto::{Auto, KernelChoice};
pub use bandwidth::{Bandwidth, Family};
pub use ridge::{CurvePoint, Lambda, Ridge};

//! Recipes in the user's words.

mod auto;
mod bandwidth;
mod held;
mod ridge;
mod svm;

pub use auto::{Auto, KernelChoice, Loss};
pub use bandwidth::{Bandwidth, Family};
pub use ridge::{CurvePoint, Lambda, Ridge};
pub use svm::Svm;

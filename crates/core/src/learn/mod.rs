//! Recipes in the user's words.

mod auto;
mod bandwidth;
mod check;
mod exact_svm;
mod held;
mod pca;
mod ridge;
mod sgd;
mod svm;

pub use auto::{Auto, KernelChoice};
pub use bandwidth::{Bandwidth, Family};
pub use exact_svm::ExactSvm;
pub use pca::{Pca, Principal};
pub use ridge::{CurvePoint, Lambda, Ridge};
pub use sgd::{Counted, Rate, Sgd};
pub use svm::Svm;

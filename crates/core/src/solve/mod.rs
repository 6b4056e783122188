//! From sums to coefficients.

mod dual;
mod normal;
mod path;
mod smo;

pub use dual::{Hinge, LinearSvm, SvmSolution};
pub(crate) use normal::{Normal, Solution};
pub(crate) use path::Path;
pub use smo::{KernelSvm, KernelSvmSolution};

//! From sums, or from features that are held, to coefficients.

mod dual;
mod dual_ridge;
mod newton;
mod normal;
mod path;
pub(crate) mod pcg;
mod problem;
mod smo;

pub use dual::{Hinge, LinearSvm, SvmSolution};
pub(crate) use dual_ridge::{Centring, DualRidge, shares};
pub use newton::Stop;
pub(crate) use newton::{
    ByColumn, Cg, Constant, LED_ASTRAY, LENGTHS, MOST_FACTORED, Minimum, Newton, Passes, Point, RowLoss,
    State, Terms, best_length,
};
pub(crate) use normal::{Factored, Normal, Solution};
pub(crate) use path::Path;
pub use pcg::Preconditioner;
pub use smo::{KernelSvm, KernelSvmSolution};

//! The textbook's formulas, written out: what the fast code is compared with.
//!
//! ```text
//! kernel      k(x, y), and the matrix of them         linear      solve A X = B,  A = V diag(μ) Vᵀ
//! ridge       c = argmin mean-square + λ‖c‖²          elementary  sin, cos, exp to 32 digits
//! ```
//! Nothing here is clever: no blocking, no reuse, no factorisation shared between λ. Costs are cubic and
//! sizes small, and every function can be checked by reading it beside its formula.

mod elementary;
mod kernel;
mod linear;
mod ridge;

pub use elementary::{cos_turns, exp_reference, sin_turns, sincos_turns};
pub use kernel::{gaussian, gram, laplace, linear};
pub use linear::{solve, symmetric_eigen};
pub use ridge::{
    cross_validated_mse, degrees_of_freedom, kernel_ridge, kernel_ridge_with_intercept, predict, ridge,
    weighted_kernel_ridge,
};

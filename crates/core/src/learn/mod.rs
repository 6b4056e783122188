//! Recipes in the user's words.

mod auto;
mod calibrate;
mod check;
mod conjugate;
mod exact_ridge;
mod exact_svm;
mod held;
mod kept;
mod lambda;
mod linear;
mod metric;
mod pca;
mod ridge;
mod sgd;
mod streamed;
mod tune;
mod uncertainty;

pub use auto::{Auto, KernelChoice};
pub use exact_ridge::ExactRidge;
pub use exact_svm::ExactSvm;
pub use linear::Linear;
pub use metric::{MetricChoice, MetricPath, MetricStep};
pub use pca::{Pca, Principal};
pub use ridge::{CurvePoint, Lambda, Ridge, Solver};
pub use sgd::{Counted, Rate, Sgd};
pub(crate) use streamed::{part_numbers, slab};
pub use tune::{Enough, Family, Outlook, Plan, Trial};
pub use uncertainty::Uncertainty;

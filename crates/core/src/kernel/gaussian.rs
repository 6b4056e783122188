//! The Gaussian kernel.
//!
//! ```text
//! k(x, y) = exp(−‖x − y‖² / (2σ²))  =  E exp(i ω·(x − y)),    ω ~ N(0, I/σ²)
//! ```
//! Isotropic. `gamma` = 1/(2σ²) is the other spelling of σ.

use bochner_simd::Distance;

use super::{Form, Spectrum};

pub(super) fn form(sigma: f64) -> Form {
    Form::Decay { distance: Distance::Squared, rate: gamma(sigma) }
}

pub(super) fn spectrum(sigma: f64) -> Spectrum {
    Spectrum::Normal { deviation: 1.0 / sigma }
}

fn gamma(sigma: f64) -> f64 {
    0.5 / (sigma * sigma)
}

/// The σ of a γ.
pub(super) fn sigma(gamma: f64) -> f64 {
    (0.5 / gamma).sqrt()
}

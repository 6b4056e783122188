//! The Laplace kernel, a product over columns.
//!
//! ```text
//! k(x, y) = exp(−‖x − y‖₁ / s)  =  E exp(i ω·(x − y)),    ωⱼ ~ Cauchy(0, 1/s), independent
//! ```
//! Not isotropic (exp(−‖x − y‖₂ / s) is another kernel) and without moments of ω: bounds that are uniform over a domain
//! do not exist for it. `gamma` = 1/s is the other spelling of the scale.

use bochner_simd::Distance;

use super::{Form, Pitch, Spectrum};

pub(super) fn form(scale: f64) -> Form {
    Form::Decay { distance: Distance::Absolute, rate: 1.0 / scale }
}

pub(super) fn spectrum(scale: f64) -> Spectrum {
    Spectrum::Cauchy { scale: 1.0 / scale }
}

/// δ·k̈(δ) = (δ/s²)·exp(−δ/s): Gamma(2, s).
pub(super) fn pitch(scale: f64) -> Pitch {
    Pitch::Gamma { scale }
}

/// The scale of a γ.
pub(super) fn scale(gamma: f64) -> f64 {
    1.0 / gamma
}

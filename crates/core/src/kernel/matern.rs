//! Matérn's kernels, of any smoothness.
//!
//! ```text
//! k(x, y) = (2^(1−ν)/Γ(ν))·tᵛ·K_ν(t),   t = √(2ν)·‖x − y‖/s
//!         = E exp(i ω·(x − y)),    ω = (g/s)·√(2ν/χ²_{2ν}),  g ~ N(0, I): multivariate t with 2ν degrees of freedom
//!
//! ν = ½   exp(−t)          ν = 3/2   (1 + t)·exp(−t)          ν = 5/2   (1 + t + t²/3)·exp(−t)
//! ```
//! Paths of the process with this kernel have ν derivatives in mean square; ν → ∞ is the Gaussian. E‖ω‖² = dν/((ν − 1)s²) for ν > 1, infinite
//! otherwise.

use crate::special::matern;

/// Of q = Σ ((xⱼ − yⱼ)/sⱼ)².
pub(super) fn profile(q: f64, nu: f64) -> f64 {
    let t = (2.0 * nu * q).sqrt();
    let polynomial = match nu {
        0.5 => 1.0,
        1.5 => 1.0 + t,
        2.5 => 1.0 + t + t * t / 3.0,
        _ => return matern(nu, q.sqrt()),
    };
    polynomial * libm::exp(-t)
}

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

/// Its derivative in q; dt/dq = ν/t, d(tᵛ·K_ν(t))/dt = −tᵛ·K_{ν−1}(t), and K_μ = K_{−μ}:
///
/// ```text
/// ν > 1   −ν/(2(ν − 1)) times the profile of ν − 1 at the same t
/// ν ≤ 1   −(ν·2^(1−ν)/Γ(ν))·tᵛ⁻¹·K_μ(t),   K_μ(t) = 2^(μ−1)·Γ(μ)·t^(−μ) times the profile of μ = 1 − ν at the same t
/// ```
pub(super) fn slope(q: f64, nu: f64) -> f64 {
    let below = nu - 1.0;
    if below > LEAST_ORDER {
        return -0.5 * (nu / below) * profile(q * (nu / below), below);
    }
    #[expect(clippy::float_cmp, reason = "a half is a half")]
    if nu == 0.5 {
        return super::exponential::slope(q, 0.0);
    }
    let (t, mu) = ((2.0 * nu * q).sqrt(), below.abs().max(LEAST_ORDER));
    let constant = nu * libm::exp2(mu - nu) * libm::tgamma(mu) / libm::tgamma(nu);
    -constant * libm::pow(t, below - mu) * profile(q * (nu / mu), mu)
}

/// The smallest μ for which K_μ is computed: K_μ = K₀·(1 + O(μ²)), while 2μK₀ is a profile near 0.
const LEAST_ORDER: f64 = 1e-5;

#[cfg(test)]
mod tests {
    use super::*;

    /// K_μ(t) = ∫ exp(−t·cosh s)·cosh(μs) ds over s > 0, by the trapezoidal rule.
    fn bessel(mu: f64, t: f64) -> f64 {
        let of = |s: f64| libm::exp(-t * libm::cosh(s)) * libm::cosh(mu * s);
        0.01 * (0.5 * of(0.0) + (1..7000).map(|i| of(0.01 * f64::from(i))).sum::<f64>())
    }

    #[test]
    fn the_gradient_is_that_of_bessel_functions() {
        for nu in [0.05, 0.3, 0.5, 0.8, 0.999, 1.0 - 1e-7, 1.0, 1.0 + 1e-7, 1.001, 1.5, 2.0, 2.5, 3.5, 9.3] {
            for t in [1e-9, 1e-4, 0.01, 0.4, 1.0, 7.0, 60.0] {
                let constant = nu * libm::exp2(1.0 - nu) / libm::tgamma(nu);
                let expected = -constant * libm::pow(t, nu - 1.0) * bessel(nu - 1.0, t);
                let found = slope(t * t / (2.0 * nu), nu);
                let error = (found / expected - 1.0).abs();
                assert!(error < 1e-7, "ν = {nu}, t = {t}: {found:e}, expected {expected:e}");
                // The mutant: another order.
                let other = -constant * libm::pow(t, nu - 1.0) * bessel(nu - 0.98, t);
                assert!((found / other - 1.0).abs() > 1e-7, "the test has no power");
            }
        }
    }
}

//! The rational quadratic kernel: Gaussians of all widths.
//!
//! ```text
//! k(x, y) = (1 + ‖x − y‖² / (2αs²))^(−α)  =  E exp(i ω·(x − y)),    ω = g·√τ/s,  g ~ N(0, I), τ ~ Gamma(α, rate α)
//! ```
//! E exp(−τq/2) = (1 + q/(2α))^(−α), the Laplace transform of the Gamma law. α = 1 is the isotropic Cauchy kernel. E‖ω‖² = d/s².

/// Of q = Σ ((xⱼ − yⱼ)/sⱼ)².
pub(super) fn profile(q: f64, alpha: f64) -> f64 {
    libm::exp(-alpha * libm::log1p(q / (2.0 * alpha)))
}

/// Its derivative in q.
pub(super) fn slope(q: f64, alpha: f64) -> f64 {
    -0.5 * libm::exp(-(alpha + 1.0) * libm::log1p(q / (2.0 * alpha)))
}

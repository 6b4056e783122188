//! Special functions: the Matérn profile, and the quantiles that turn a point of the unit cube into a frequency.
//!
//! ```text
//! matern(ν, r)          2^(1−ν)/Γ(ν) · (√(2ν)·r)^ν · K_ν(√(2ν)·r)
//! gamma_quantile(a, u)  the x with ∫₀ˣ s^(a−1)·e^(−s) ds / Γ(a) = u;   gamma_upper_quantile(a, q) the one with ∫ₓ^∞ = q;   gamma_log_tails(a, x) their logarithms
//! normal_quantile(u)    Φ⁻¹(u)
//! hat_quantile(u)       the spectral law of max(0, 1 − |t|)
//! ```
//! A random draw may reject and try again; a quasi-random point may not, which is why the laws are inverted here. Elementary
//! functions come from `libm`, so that results have the same bits on every platform. Outside its domain a function is NaN.
//! The accuracies that the files state were measured against `golden/special.py` and are tested on the values it printed.

mod gamma;
mod hat;
mod matern;
mod normal;

pub(crate) use gamma::{gamma_log_tails, gamma_quantile, gamma_upper_quantile};
pub(crate) use hat::hat_quantile;
pub(crate) use matern::matern;
pub(crate) use normal::normal_quantile;

#[cfg(test)]
mod golden {
    /// The lines of `golden/special.txt` that start with `name`: arguments, then the value.
    pub(super) fn lines<const N: usize>(name: &str) -> Vec<[f64; N]> {
        let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../golden/special.txt"));
        let lines = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let read = |line: &str| line.split(' ').map(|number| number.parse().unwrap()).collect::<Vec<f64>>();
        let lines: Vec<[f64; N]> = lines.map(|line| read(line).try_into().unwrap()).collect();
        assert!(lines.len() >= 20, "{} lines of {name}", lines.len());
        lines
    }

    /// |found − expected| ≤ tolerance·|expected|, the infinite and the zero equal to themselves.
    pub(super) fn assert_relative(found: f64, expected: f64, tolerance: f64, what: &str) {
        let error = (found - expected).abs();
        assert!(
            error <= tolerance * expected.abs() || found.to_bits() == expected.to_bits(),
            "{what}: found {found:e}, expected {expected:e}, relative error {:e}",
            error / expected.abs()
        );
    }
}

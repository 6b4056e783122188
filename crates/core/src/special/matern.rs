//! The Matérn profile and the Bessel function in it, by the trapezoidal rule.
//!
//! ```text
//! K_ν(x)       = ½ ∫ exp(νt − x·cosh t) dt,   over the line,  top at t₀ = ln((ν + ρ)/x),  ρ = √(ν² + x²);  with t = t₀ + τ
//!              = ½ exp(νt₀ − ρ) · ∫ exp(−½[(ρ + ν)·e(τ) + (ρ − ν)·e(−τ)]) dτ,            e(τ) = e^τ − 1 − τ
//! matern(ν, r) = E exp(−z²/(4S)),  S ~ Gamma(ν),  z = √(2ν)·r,    so   1 − matern = E[1 − exp(−z²/(4S))]
//! ```
//! The integrands are analytic in the strip |Im τ| < π/2 and fall off fast, so that sums over an even grid converge
//! geometrically in 1/step. Every term is positive and every exponent is a sum of terms of one sign: nothing cancels, nothing
//! overflows. Near r = 0 the complement is summed instead, so that `matern` rounds like 1 − (a small number known to all digits).

use std::f64::consts::PI;
use std::ops::RangeInclusive;

use super::gamma::peak;

/// The ν of profiles: beyond, Γ(ν) overflows or the steps are too fine for the sums.
const ORDERS: RangeInclusive<f64> = 1e-100..=1e12;
/// Below this share of the sum a term ends it.
const NEGLIGIBLE: f64 = 1.0 / (1u64 << 60) as f64;

/// 2^(1−ν)/Γ(ν) · (√(2ν)·r)^ν · K_ν(√(2ν)·r), and 1 at r = 0.
///
/// Relative error below 1e-12 for ν in [0.05, 100] and r in [0, 1000] (absolute, for values below 1e-300); below 4e-16 where the
/// value is above ½ and r below ½. About 2 µs, next to r = 0 up to 20.
pub(crate) fn matern(nu: f64, r: f64) -> f64 {
    if !(ORDERS.contains(&nu) && r >= 0.0) {
        return f64::NAN;
    }
    if r < 0.5 { 1.0 - matern_complement(nu, r) } else { matern_far(nu, r) }
}

/// exp(ν·ln(1 + s/2ν) − s) · (ν^ν·e^(−ν)/Γ(ν)) · ∫ bell,   s = ρ − ν: the definition, with Γ(ν)'s growth divided out of K_ν's.
fn matern_far(nu: f64, r: f64) -> f64 {
    let z = (2.0 * nu).sqrt() * r;
    let rise = rise(nu, z);
    if !(rise < 1600.0) {
        return 0.0; // below exp(−rise/2), or r too large to be squared
    }
    libm::exp(nu * libm::log1p(rise / (2.0 * nu)) - rise) * peak(nu) * bell(nu, z)
}

/// 1 − matern(ν, r) for r < ½, to a relative error below 1e-13:
///
/// ```text
/// (1/Γ(ν)) ∫ exp(νt − e^t)·(1 − exp(−z²e^(−t)/4)) dt,    t = ln ν + τ,    z²e^(−t)/4 = ½r²·e^(−τ)
/// ```
fn matern_complement(nu: f64, r: f64) -> f64 {
    let step = step(nu);
    let half_square = 0.5 * r * r;
    let term = |tau: f64| {
        let seen = -libm::expm1(-half_square * libm::exp(-tau));
        libm::exp(-nu * exp_above_line(tau)) * seen
    };
    let mut sum = 0.0;
    walk(&mut sum, |k| Some(term(f64::from(k) * step)));
    // To the left of ln(r²/90) the second factor is 1 in floating point, and what remains is a sum of geometric series.
    let mut edge = None;
    walk(&mut sum, |k| {
        let tau = -f64::from(k + 1) * step;
        if half_square * libm::exp(-tau) > 45.0 {
            edge = Some(tau);
            return None;
        }
        Some(term(tau))
    });
    sum += edge.map_or(0.0, |tau| left_of(nu, tau, step));
    peak(nu) * step * sum
}

/// Σ over τ, τ − step, τ − 2·step, … of exp(−ν·e(τ)) = e^ν·e^(ντ)·Σⱼ (−ν·e^τ)ʲ/j!, where ν·e^τ < 0.03.
fn left_of(nu: f64, tau: f64, step: f64) -> f64 {
    let s = nu * libm::exp(tau);
    let mut power = libm::exp(nu + nu * tau);
    let mut sum = 0.0;
    for j in 0..9 {
        sum -= power / libm::expm1(-(nu + f64::from(j)) * step);
        power *= -s / f64::from(j + 1);
    }
    sum
}

/// ln K_ν(x) for ν in [0, 10¹²] and x > 0, with an error below 2e-15·(1 + |ν·ln x| + |ν·ln ν| + x).
#[cfg(test)]
pub(crate) fn log_bessel_k(nu: f64, x: f64) -> f64 {
    if !((0.0..=*ORDERS.end()).contains(&nu) && x > 0.0) {
        return f64::NAN;
    }
    if x > 1e300 {
        return -x; // to the last digit
    }
    let rho = nu + rise(nu, x);
    nu * (libm::log(nu + rho) - libm::log(x)) - rho + libm::log(bell(nu, x)) - std::f64::consts::LN_2
}

/// ρ − ν = √(ν² + x²) − ν, without the cancellation.
fn rise(nu: f64, x: f64) -> f64 {
    x * (x / (libm::hypot(nu, x) + nu))
}

/// ∫ exp(−½[(ρ + ν)·e(τ) + (ρ − ν)·e(−τ)]) dτ.
fn bell(nu: f64, x: f64) -> f64 {
    let rise = rise(nu, x);
    let step = step(nu + rise);
    let root = x / (2.0 * nu + rise).sqrt(); // of ρ − ν, which may underflow where its product with e^τ does not
    let mut sum = 1.0;
    walk(&mut sum, |k| {
        let tau = f64::from(k + 1) * step;
        let (ahead, behind) = (exp_above_line(tau), exp_above_line(-tau));
        let end = if tau < 700.0 {
            rise * ahead
        } else {
            (root * libm::exp(0.5 * tau)) * (root * libm::exp(0.5 * tau))
        };
        let right = libm::exp(-0.5 * ((2.0 * nu + rise) * ahead + rise * behind));
        Some(right + libm::exp(-0.5 * ((2.0 * nu + rise) * behind + end)))
    });
    step * sum
}

/// The step that makes the error of the trapezoidal rule less than e⁻⁴⁰ of the integral: with ω = 2π/step that error is
/// 2|K_{ν+iω}(x)/K_ν(x)|, about exp(−πω/2) where ω is far above ρ and exp(−ω²/2ρ) where it is far below.
fn step(rho: f64) -> f64 {
    2.0 * PI / (26.0 + 8.5 * rho.sqrt())
}

/// Adds term(0), term(1), … until there is none or it no longer counts. The terms rise and then fall (they are log-concave).
fn walk(sum: &mut f64, mut term: impl FnMut(u32) -> Option<f64>) {
    for k in 0..100_000 {
        let Some(value) = term(k) else { return };
        *sum += value;
        if value <= NEGLIGIBLE * *sum {
            return;
        }
    }
}

/// e(τ) = e^τ − 1 − τ.
fn exp_above_line(tau: f64) -> f64 {
    if tau.abs() > 0.0625 {
        return libm::expm1(tau) - tau;
    }
    let series = (3..=11).rev().fold(1.0, |tail, n| 1.0 + tail * tau / f64::from(n));
    0.5 * tau * tau * series
}

#[cfg(test)]
mod tests {
    use super::super::golden::{assert_relative, lines};
    use super::*;

    #[test]
    fn values_are_those_of_the_high_precision_script() {
        for [nu, r, expected] in lines("matern") {
            let (found, what) = (matern(nu, r), format!("matern({nu}, {r})"));
            let tolerance = if r < 0.5 && expected > 0.5 { 4e-16 } else { 1e-12 };
            if expected < 1e-300 {
                assert!((found - expected).abs() < 1e-300, "{what}: {found:e}, expected {expected:e}");
            } else {
                assert_relative(found, expected, tolerance, &what);
            }
        }
        for [nu, r, expected] in lines("matern_complement") {
            assert_relative(matern_complement(nu, r), expected, 1e-13, &format!("1 − matern({nu}, {r})"));
        }
        for [nu, x, expected] in lines("log_bessel_k") {
            let found = log_bessel_k(nu, x);
            let radius = 2e-15 * (1.0 + (nu * libm::log(x)).abs() + (nu * libm::log(nu)).abs() + x);
            assert!((found - expected).abs() <= radius, "ln K_{nu}({x:e}) = {found}, expected {expected}");
        }
    }

    /// ν = ½, 3/2, 5/2: a polynomial times an exponential.
    #[test]
    fn half_integers_have_closed_forms() {
        for i in 0..=4000 {
            let r = f64::from(i) * 0.05;
            let (three, five) = (3f64.sqrt() * r, 5f64.sqrt() * r);
            assert_relative(matern(0.5, r), libm::exp(-r), 2e-13, &format!("ν = ½ at {r}"));
            assert_relative(
                matern(1.5, r),
                (1.0 + three) * libm::exp(-three),
                2e-13,
                &format!("ν = 3/2 at {r}"),
            );
            let expected = (1.0 + five + five * five / 3.0) * libm::exp(-five);
            assert_relative(matern(2.5, r), expected, 2e-13, &format!("ν = 5/2 at {r}"));
        }
    }

    /// K_{ν+1}(x) = K_{ν−1}(x) + (2ν/x)·K_ν(x).
    #[test]
    fn bessel_functions_satisfy_their_recurrence() {
        for nu in [1.0, 1.3, 8.0, 77.7, 199.0] {
            for x in [1e-6, 0.3, 5.0, 80.0, 900.0] {
                let middle = log_bessel_k(nu, x);
                let below = libm::exp(log_bessel_k(nu - 1.0, x) - middle);
                let above = libm::exp(log_bessel_k(nu + 1.0, x) - middle);
                assert_relative(above, below + 2.0 * nu / x, 1e-11, &format!("ν = {nu}, x = {x}"));
            }
        }
    }

    #[test]
    fn profiles_fall_from_one() {
        for nu in [0.05, 0.3, 1.0, 2.0, 9.9, 100.0, 1e6, 1e12] {
            assert!((matern(nu, 0.0) - 1.0).abs() <= 0.0, "{nu}");
            let mut last = 1.0;
            for i in 0..3000 {
                let value = matern(nu, libm::exp(0.01 * f64::from(i) - 20.0));
                assert!(value <= last * (1.0 + 1e-14) && (0.0..=1.0).contains(&value), "{nu} {i} {value}");
                last = value;
            }
        }
        let gaussian = libm::exp(-0.5 * 0.7 * 0.7); // the limit of large ν
        assert_relative(matern(1e12, 0.7), gaussian, 1e-11, "large ν");
        assert!(matern(1e12, 38.0) > 0.0 && matern(1e12, 39.0) <= 0.0); // e⁻⁷²² and e⁻⁷⁶⁰
        assert!((matern(100.0, 0.7) - gaussian).abs() > 1e-4, "the test has no power");
    }

    #[test]
    fn no_input_is_too_odd() {
        let odd = [f64::NAN, -1.0, 0.0, 5e-324, 1e-300, 0.4, 1.0, 1e9, 1e200, f64::MAX, f64::INFINITY];
        for nu in odd {
            for r in odd {
                let value = matern(nu, r);
                assert_eq!(value.is_nan(), !(ORDERS.contains(&nu) && r >= 0.0), "{nu} {r} {value}");
                assert!(value.is_nan() || (0.0..=1.0).contains(&value), "matern({nu}, {r}) = {value}");
                assert_eq!(log_bessel_k(nu, r).is_nan(), !((0.0..1e13).contains(&nu) && r > 0.0));
            }
        }
    }
}

//! The incomplete gamma function, its inverse, and the chi law.
//!
//! ```text
//! P(a, x) = D·(1/a)·(1 + x/(a+1) + x²/((a+1)(a+2)) + …)                               x < a + 1
//! Q(a, x) = D·1/(x+1−a − 1(1−a)/(x+3−a − 2(2−a)/(x+5−a − …))),   P + Q = 1            x ≥ a + 1
//! D       = x^a·e^(−x)/Γ(a) = (a^a·e^(−a)/Γ(a)) · exp(−a·(λ − 1 − ln λ)),   λ = x/a
//! ```
//! D is the density of ln S for S ~ Gamma(a), log-concave, so that ln P and ln Q are concave in ln x: Newton's method on
//! them finds the quantile from either side, and in either tail keeps the relative accuracy of the smaller of u and 1 − u.

use std::f64::consts::PI;
use std::ops::RangeInclusive;

use super::normal_quantile;

/// Shapes that are served.
const SHAPES: RangeInclusive<f64> = 1e-10..=1e10;
/// Enough terms for them: about 9·√a are needed.
const TERMS: u32 = 2_000_000;

/// P(a, x), the regularised lower incomplete gamma function, with a relative error below 1e-12 for a in [0.01, 10⁴].
#[cfg(test)]
pub(crate) fn gamma_p(a: f64, x: f64) -> f64 {
    if !(SHAPES.contains(&a) && x >= 0.0) {
        return f64::NAN;
    }
    if x > 1e100 {
        1.0
    } else if x < a + 1.0 {
        libm::exp(log_lower(a, x).0)
    } else {
        -libm::expm1(log_upper(a, x).0)
    }
}

/// The x with P(a, x) = u, with a relative error below 1e-12 for a in [0.01, 10⁴] (where x underflows, 0).
pub(crate) fn gamma_quantile(a: f64, u: f64) -> f64 {
    if !(SHAPES.contains(&a) && (0.0..=1.0).contains(&u)) {
        return f64::NAN;
    }
    if u <= 0.0 || u >= 1.0 {
        return if u <= 0.0 { 0.0 } else { f64::INFINITY };
    }
    let floor = libm::exp((libm::log(u) + libm::lgamma(a + 1.0)) / a); // P(a, x) ≤ x^a/Γ(a + 1)
    if floor < 1e-290 {
        return floor; // and the two agree up to a factor 1 − x
    }
    let upper = u > 0.5;
    let target = libm::log(if upper { 1.0 - u } else { u });
    let first = if a < 1.0 { floor } else { cube(a, normal_quantile(u)).max(floor) };
    newton(a, first, target, upper)
}

/// The x with 1 − P(a, x) = q: for q far below what 1 − u can say.
pub(crate) fn gamma_upper_quantile(a: f64, q: f64) -> f64 {
    if !(q < 0.5) {
        return gamma_quantile(a, 1.0 - q);
    }
    if !(SHAPES.contains(&a) && q >= 0.0) {
        return f64::NAN;
    }
    if q <= 0.0 {
        return f64::INFINITY;
    }
    let target = libm::log(q);
    // For shapes below 1 the tail is below e^(−x) from 1 on.
    let first = if a < 1.0 { 1.0 } else { cube(a, -normal_quantile(q)).max(a) };
    newton(a, first, target, true)
}

/// (ln P, ln(1 − P)) of the law at x > 0.
pub(crate) fn gamma_log_tails(a: f64, x: f64) -> (f64, f64) {
    if x < a + 1.0 {
        let lower = log_lower(a, x).0;
        (lower, libm::log(-libm::expm1(lower.min(0.0))))
    } else {
        let upper = log_upper(a, x).0;
        (libm::log(-libm::expm1(upper.min(0.0))), upper)
    }
}

/// The x at which the logarithm of a tail is the target, from a first guess.
fn newton(a: f64, first: f64, target: f64, upper: bool) -> f64 {
    let mut x = first;
    for _ in 0..100 {
        let (log_tail, over_density) = if upper { log_upper(a, x) } else { log_lower(a, x) };
        let newton = (target - log_tail) * over_density;
        // A longer leap would only cost more steps to come back from.
        let change = (if upper { -newton } else { newton }).clamp(-2.0, 2.0);
        x *= libm::exp(change);
        if change.abs() < 1e-9 {
            break; // the next one would be of the order of its square
        }
    }
    x
}

/// a^a·e^(−a)/Γ(a).
pub(super) fn peak(a: f64) -> f64 {
    if a < 16.0 {
        return libm::pow(a, a) * libm::exp(-a) / libm::tgamma(a);
    }
    // ln Γ(a) − [(a − ½)·ln a − a + ½·ln 2π], by Stirling's series.
    const SERIES: [f64; 6] =
        [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0];
    let excess = SERIES.iter().rev().fold(0.0, |tail, c| c + tail / (a * a)) / a;
    (a / (2.0 * PI)).sqrt() * libm::exp(-excess)
}

/// Wilson and Hilferty's cube of a normal, which is close for all but small shapes.
fn cube(a: f64, normal: f64) -> f64 {
    let root = 1.0 - 1.0 / (9.0 * a) + normal / (3.0 * a.sqrt());
    a * root * root * root
}

/// (ln P, P/D).
fn log_lower(a: f64, x: f64) -> (f64, f64) {
    let (mut term, mut sum) = (1.0, 1.0);
    for n in 1..TERMS {
        term *= x / (a + f64::from(n));
        sum += term;
        if !(term > f64::EPSILON / 16.0 * sum) {
            break;
        }
    }
    (log_density(a, x) + libm::log(sum / a), sum / a)
}

/// (ln Q, Q/D).
fn log_upper(a: f64, x: f64) -> (f64, f64) {
    if x < a + 1.0 {
        let log_q = libm::log1p(-libm::exp(log_lower(a, x).0));
        return (log_q, libm::exp(log_q - log_density(a, x)));
    }
    let fraction = continued_fraction(a, x);
    (log_density(a, x) + libm::log(fraction), fraction)
}

/// Q/D from its first convergents on, by the method of Lentz (1976).
fn continued_fraction(a: f64, x: f64) -> f64 {
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (f64::MAX, 1.0 / b);
    let mut value = d;
    for n in 1..TERMS {
        let n = f64::from(n);
        let numerator = n * (a - n);
        b += 2.0;
        d = 1.0 / (b + numerator * d);
        c = b + numerator / c;
        value *= c * d;
        if !((c * d - 1.0).abs() > f64::EPSILON) {
            break;
        }
    }
    value
}

/// ln D = ln(x^a·e^(−x)/Γ(a)).
fn log_density(a: f64, x: f64) -> f64 {
    let relative = (x - a) / a;
    let fall = if relative.abs() < 0.5 { a * above_log(relative) } else { x - a - a * libm::log(x / a) };
    libm::log(peak(a)) - fall
}

/// y − ln(1 + y) for |y| < ½, without the cancellation: ln(1 + y) = 2(q + q³/3 + q⁵/5 + …), q = y/(2 + y).
fn above_log(y: f64) -> f64 {
    let q = y / (2.0 + y);
    let series = (1..=17).rev().fold(0.0, |tail, j| q * q * (1.0 / f64::from(2 * j + 1) + tail));
    q * (y - 2.0 * series)
}

#[cfg(test)]
mod tests {
    use super::super::golden::{assert_relative, lines};
    use super::*;

    #[test]
    fn values_are_those_of_the_high_precision_script() {
        for [a, x, expected] in lines("gamma_p") {
            assert_relative(gamma_p(a, x), expected, 1e-12, &format!("P({a}, {x:e})"));
        }
        for [a, q, expected] in lines("gamma_upper_quantile") {
            let found = gamma_upper_quantile(a, q);
            assert_relative(found, expected, 1e-12, &format!("upper quantile {q:e} of Gamma({a})"));
        }
        for [a, u, expected] in lines("gamma_quantile") {
            assert_relative(gamma_quantile(a, u), expected, 1e-12, &format!("quantile {u:e} of Gamma({a})"));
        }
    }

    /// Shape 1 is the exponential law, and chi with 2 entries is its square root: no script needed.
    #[test]
    fn shape_one_has_a_closed_form() {
        for i in 1..1000 {
            let u = f64::from(i) / 1000.0;
            assert_relative(gamma_quantile(1.0, u), -libm::log1p(-u), 1e-14, "exponential");
            assert_relative(gamma_p(1.0, 8.0 * u), -libm::expm1(-8.0 * u), 1e-14, "exponential");
        }
    }

    #[test]
    fn quantiles_rise_and_invert_the_law() {
        for a in [0.01, 0.2, 0.99, 1.0, 1.5, 10.0, 333.0, 1e4, 1e6] {
            let mut last = 0.0;
            for i in 1..2000 {
                let u = f64::from(i) / 2000.0;
                let x = gamma_quantile(a, u);
                assert!(x > last || x < 1e-300, "{a} {u} {x:e} {last:e}");
                if x > 1e-300 {
                    assert_relative(gamma_p(a, x), u, 1e-12, &format!("P at quantile {u} of Gamma({a})"));
                }
                last = x;
            }
        }
    }

    /// For whole shapes 1 − P(a, x) = e^(−x)·Σ_{k<a} xᵏ/k!: the tail of the quantile is the q that was asked for, down to 1e-300.
    #[test]
    fn upper_quantiles_have_their_tails() {
        for a in [1.0, 2.0, 5.0, 32.0, 500.0] {
            for q in [0.9, 0.5, 0.3, 0.01, 1e-6, 1e-17, 1e-100, 1e-300] {
                let x = gamma_upper_quantile(a, q);
                // From the largest term on, in logarithms.
                let term = |k: f64| k * libm::log(x) - x - libm::lgamma(k + 1.0);
                let tail: f64 = (0..a as u32).map(|k| libm::exp(term(f64::from(k)) - libm::log(q))).sum();
                assert!((tail - 1.0).abs() < 1e-9, "shape {a}, {q:e}: {x}, {tail}");
                let (lower, upper) = gamma_log_tails(a, x);
                assert!((upper - libm::log(q)).abs() < 1e-9 && (lower - libm::log1p(-q)).abs() < 1e-9);
            }
        }
        for a in [0.3, 0.5, 1.5, 17.0] {
            for q in [0.45, 0.1, 1e-3] {
                assert_relative(gamma_upper_quantile(a, q), gamma_quantile(a, 1.0 - q), 1e-11, "either side");
            }
            let x = gamma_upper_quantile(a, 1e-200);
            assert!((gamma_log_tails(a, x).1 - libm::log(1e-200)).abs() < 1e-9);
        }
    }

    #[test]
    fn no_input_is_too_odd() {
        let odd = [f64::NAN, -1.0, 0.0, 5e-324, 1e-300, 0.5, 1.0, 3e9, 1e300, f64::INFINITY];
        for a in odd {
            for x in odd {
                let (p, quantile) = (gamma_p(a, x), gamma_quantile(a, x));
                assert!(p.is_nan() || (0.0..=1.0).contains(&p), "P({a}, {x}) = {p}");
                assert_eq!(p.is_nan(), !(SHAPES.contains(&a) && x >= 0.0), "P({a}, {x}) = {p}");
                assert!(quantile.is_nan() || quantile >= 0.0, "quantile {x} of Gamma({a}) = {quantile}");
                assert_eq!(quantile.is_nan(), !(SHAPES.contains(&a) && (0.0..=1.0).contains(&x)), "{a} {x}");
            }
        }
        assert!(gamma_quantile(2.0, 0.0).to_bits() == 0 && gamma_quantile(2.0, 1.0).is_infinite());
    }
}

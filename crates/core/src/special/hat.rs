//! The quantile of the hat kernel's spectral law.
//!
//! ```text
//! max(0, 1 − |t|) = E cos(ωt),    density p(w) = (1/2π)·(sin(w/2)/(w/2))²
//! F(w) − ½ = (1/π)(Si(w) − (1 − cos w)/w) = (1/π) Σ_k (−1)^k·w^(2k+1)/((2k+1)·(2k+2)!)
//! 1 − F(w) = (1/π)(1/w + (f(w) − 1/w)·cos w + g(w)·sin w),       g(w) − i·f(w) = ∫₀^∞ e^(−s)/(s + iw) ds
//! ```
//! The two series of Si(w) and of (1 − cos w)/w join into one, used up to 2π; beyond, ½π − Si(w) = f·cos w + g·sin w gives the
//! tail without a subtraction. The tail is 1/(πw) up to a factor 1 ± 1/w, so that quantiles reach 10¹⁵ where u is near 1 by 10⁻¹⁶.
//! The density vanishes at multiples of 2π: there w is known less well than u, and the error is stated in u.

use std::f64::consts::PI;

/// The w with F(w) = u, up to a relative error below 1e-14 of min(u, 1 − u) (of |u − ½|, near the middle); ∓∞ at 0 and 1.
pub(crate) fn hat_quantile(u: f64) -> f64 {
    if !(0.0..=1.0).contains(&u) {
        return f64::NAN;
    }
    let (from_middle, tail) = ((u - 0.5).abs(), u.min(1.0 - u));
    let typical = 1.0 / (PI * tail); // the quantile lies within 2 of it, when beyond 2π
    let size = if from_middle <= central(2.0 * PI) {
        solve((0.0, 2.0 * PI), 2.0 * PI * from_middle, |w| central(w) - from_middle)
    } else if typical < 1e15 {
        solve(((typical - 2.0).max(2.0 * PI), typical + 2.0), typical, |w| tail - upper_tail(w))
    } else {
        typical
    };
    size.copysign(u - 0.5)
}

/// The root of `excess`, which has the slope p, in the interval: by Newton, and by halving where that leads out of it.
fn solve((mut low, mut high): (f64, f64), start: f64, excess: impl Fn(f64) -> f64) -> f64 {
    let mut w = start.clamp(low, high);
    for _ in 0..100 {
        let value = excess(w);
        if value < 0.0 {
            low = w
        } else {
            high = w
        }
        let newton = w - value / density(w);
        let next = if newton >= low && newton <= high { newton } else { 0.5 * (low + high) };
        if (next - w).abs() <= f64::EPSILON * w {
            return next;
        }
        w = next;
    }
    w
}

/// p(w).
fn density(w: f64) -> f64 {
    let ratio = if w < 1e-8 { 1.0 } else { libm::sin(0.5 * w) / (0.5 * w) };
    ratio * ratio / (2.0 * PI)
}

/// F(w) − ½ for 0 ≤ w ≤ 2π.
fn central(w: f64) -> f64 {
    let (mut power, mut sum) = (0.5 * w, 0.5 * w);
    for k in 1..=20 {
        let k = f64::from(k);
        power *= -w * w / ((2.0 * k + 1.0) * (2.0 * k + 2.0));
        sum += power / (2.0 * k + 1.0);
    }
    sum / PI
}

/// 1 − F(w) for w ≥ 2π.
fn upper_tail(w: f64) -> f64 {
    let (sin, cos) = libm::sincos(w);
    let (f, g) = auxiliary(w);
    (1.0 / w + (f - 1.0 / w) * cos + g * sin) / PI
}

/// (f, g) by the continued fraction g − i·f = 1/(1+iw − 1²/(3+iw − 2²/(5+iw − …))), from the end; fewer terms do for a larger w.
fn auxiliary(w: f64) -> (f64, f64) {
    let depth = 8 + (400.0 / w) as u32;
    let (mut re, mut im) = (f64::from(2 * depth + 1), w);
    for k in (1..=depth).rev() {
        let share = f64::from(k) * f64::from(k) / (re * re + im * im);
        (re, im) = (f64::from(2 * k - 1) - share * re, w + share * im);
    }
    let square = re * re + im * im;
    (im / square, re / square)
}

#[cfg(test)]
mod tests {
    use super::super::golden::{assert_relative, lines};
    use super::*;

    #[test]
    fn values_are_those_of_the_high_precision_script() {
        for [w, expected] in lines("hat_central") {
            assert_relative(central(w), expected, 2e-15, &format!("F({w}) − ½"));
        }
        for [w, expected] in lines("hat_tail") {
            assert_relative(upper_tail(w), expected, 2e-15, &format!("1 − F({w})"));
        }
        for [u, expected] in lines("hat_quantile") {
            assert_relative(hat_quantile(u), expected, 1e-12, &format!("quantile {u:e}"));
        }
    }

    /// Both halves, both formulas, and the flat places w = 2πn, where w is known to about the cube root of the accuracy of u.
    #[test]
    fn the_law_is_inverted() {
        let flat = (1..200).map(|n| upper_tail(2.0 * PI * f64::from(n) * (1.0 + 1e-15)));
        let even = (1..4000).map(|i| f64::from(i) / 4000.0);
        let small = (3..1000).map(|i| libm::exp(-0.7 * f64::from(i)));
        for u in flat.chain(even).chain(small) {
            let w = hat_quantile(u);
            let (from_middle, tail) = ((u - 0.5).abs(), u.min(1.0 - u));
            if w.abs() <= 2.0 * PI {
                assert_relative(central(w.abs()), from_middle, 1e-14, &format!("{u} {w}"));
            } else {
                assert_relative(
                    upper_tail(w.abs().min(1e150)),
                    tail.max(1.0 / (PI * 1e150)),
                    1e-14,
                    &format!("{u:e} {w}"),
                );
            }
        }
    }

    #[test]
    fn quantiles_rise_and_are_odd() {
        let mut last = f64::NEG_INFINITY;
        for i in 0..=1 << 16 {
            let u = f64::from(i) / f64::from(1 << 16);
            let w = hat_quantile(u);
            assert!(w > last || i == 0, "{u}: {w} after {last}");
            assert!(w.to_bits() == (-hat_quantile(1.0 - u)).to_bits() || i == 1 << 15, "{u}");
            last = w;
        }
        assert!(last.is_infinite());
    }

    /// E cos(ωt) = max(0, 1 − |t|) over an even grid of u: the law is the one that the kernel has.
    #[test]
    fn the_law_belongs_to_the_hat() {
        let n = 100_000;
        let mean = |t: f64| {
            let value = |i: i32| libm::cos(t * hat_quantile((f64::from(i) + 0.5) / f64::from(n)));
            (0..n).map(value).sum::<f64>() / f64::from(n)
        };
        for t in [0.1, 0.25, 0.5, 0.9, 1.0, 1.5, 3.0] {
            assert!((mean(t) - (1.0 - t).max(0.0)).abs() < 3e-4, "{t}: {}", mean(t));
        }
        assert!((mean(0.5) - 0.501).abs() > 3e-4, "the test has no power");
    }

    #[test]
    fn no_input_is_too_odd() {
        for u in [f64::NAN, -1e-300, 1.0 + f64::EPSILON, f64::INFINITY] {
            assert!(hat_quantile(u).is_nan());
        }
        assert!(hat_quantile(1e-300) < -3e299 && hat_quantile(5e-324).is_infinite());
        assert!(hat_quantile(0.5).abs() <= 0.0);
    }
}

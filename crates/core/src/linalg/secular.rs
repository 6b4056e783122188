//! The zeros of a secular equation.
//!
//! ```text
//! f(λ) = 1/ρ + Σᵢ zᵢ²/(dᵢ − λ),   ρ > 0,   d ascending:      one zero between each two poles, and one above the last
//! ```
//! A zero is found as its distance τ from the pole next to it, so that differences dᵢ − λ are known
//! to all their digits. Each step replaces f by c + a/(d − λ) + b/(d' − λ), d and d' being the
//! poles around it, with the value and the first derivative of f. Two such functions take turns
//! where one is slow: one with the true weight of the nearer pole, and one whose poles stand for
//! all on their side. A step that leaves the interval known to hold the zero, or comes after two
//! that did not halve f, is replaced by the middle of the interval. Li (1993).

use bochner_simd::{Isa, secular_sums};

/// Iteration limit. Deflation keeps τ above about 1e-33 of its interval, which 110 halvings reach;
/// the slowest root of the tests takes 94 steps.
const MOST_STEPS: usize = 400;

/// A root of the equation, as its offset from the nearest pole.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Zero {
    pub(super) pole: usize,
    pub(super) tau: f64,
}

/// A secular equation.
#[derive(Clone, Copy)]
pub(super) struct Secular<'a> {
    pub(super) isa: Isa,
    pub(super) d: &'a [f64],
    pub(super) z: &'a [f64],
    pub(super) rho: f64,
}

/// f at some point, and the derivatives of its parts left and right of the point.
struct Value {
    f: f64,
    /// Σ |zᵢ²/(dᵢ − λ)| + 1/ρ.
    size: f64,
    left: f64,
    right: f64,
}

impl Secular<'_> {
    /// Zero `j`: between poles j and j + 1, or above the last one.
    pub(super) fn zero(&self, j: usize) -> Zero {
        let (d, last) = (self.d, self.d.len() - 1);
        if last == 0 {
            return Zero { pole: 0, tau: self.rho * self.z[0] * self.z[0] };
        }
        // The poles of the approximation.
        let near = if j == last { (last - 1, last) } else { (j, j + 1) };
        let (mut pole, mut low, mut high) = (j, 0.0, d[near.1] - d[near.0]);
        if j == last {
            high = self.rho * self.z.iter().map(|z| z * z).sum::<f64>() * (1.0 + 4.0 * f64::EPSILON);
        }
        let mut tau = 0.5 * high;
        let mut value = self.value(j, pole, tau);
        if j == last {
            if value.f >= 0.0 { high = tau } else { low = tau }
        } else if value.f >= 0.0 {
            high = tau;
        } else {
            (pole, low, high) = (j + 1, -tau, 0.0);
            tau = low;
        }
        let offsets = |tau: f64| (d[near.0] - d[pole] - tau, d[near.1] - d[pole] - tau);
        let (mut step, mut true_weight) = (self.first_step(near, offsets(tau), value.f), true);
        let (mut before, mut slow) = (f64::INFINITY, false);
        for _ in 0..MOST_STEPS {
            let next = tau + step;
            let inside = next > low && next < high;
            let next = if inside && !slow { next } else { 0.5 * (low + high) };
            if next <= low || next >= high {
                break; // no number between
            }
            let earlier = std::mem::replace(&mut before, value.f.abs());
            tau = next;
            value = self.value(j, pole, tau);
            if value.f >= 0.0 {
                high = tau
            } else {
                low = tau
            }
            let rounding = 8.0 * value.size + tau.abs() * (value.left + value.right);
            if value.f.abs() <= f64::EPSILON * rounding {
                break;
            }
            if value.f.abs() > 0.1 * before {
                true_weight = !true_weight;
            }
            // The two approximations may cycle: halve the interval then.
            slow = value.f.abs() > 0.5 * earlier;
            let weight = if j < last && true_weight { Some(self.z[pole] * self.z[pole]) } else { None };
            step = next_step(offsets(tau), &value, weight, pole == near.0, (low - tau, high - tau));
        }
        Zero { pole, tau }
    }

    /// f at a distance `tau` from a pole; pole j is the last one on the left.
    fn value(&self, j: usize, pole: usize, tau: f64) -> Value {
        let (d, z, origin) = (self.d, self.z, self.d[pole]);
        // Above all poles, the last one stands for the right side.
        let cut = if j + 1 == d.len() { j } else { j + 1 };
        let (below, left) = secular_sums(self.isa, &d[..cut], &z[..cut], origin, tau);
        let (above, right) = secular_sums(self.isa, &d[cut..], &z[cut..], origin, tau);
        let constant = 1.0 / self.rho;
        Value { f: constant + below + above, size: constant + below.abs() + above.abs(), left, right }
    }

    /// From the first point: both poles with their true weights, and the rest as it is there.
    fn first_step(&self, near: (usize, usize), offsets: (f64, f64), f: f64) -> f64 {
        let (a, b) = (self.z[near.0] * self.z[near.0], self.z[near.1] * self.z[near.1]);
        let c = f - a / offsets.0 - b / offsets.1;
        let [one, two] = zeros(c, a, b, offsets);
        // The smaller one is between the poles; the caller checks it against the interval.
        if one.abs() < two.abs() || two.is_nan() { one } else { two }
    }
}

/// The step to the zero of c + a/(δ − η) + b/(δ' − η) in an interval; not a number if there is
/// none.
fn next_step(
    (one, two): (f64, f64),
    value: &Value,
    weight: Option<f64>,
    first_is_nearer: bool,
    (low, high): (f64, f64),
) -> f64 {
    let derivative = value.left + value.right;
    let (a, b) = match weight {
        // One pole has its weight, the other one makes up for the derivative.
        Some(weight) if first_is_nearer => (weight, two * two * (derivative - weight / (one * one))),
        Some(weight) => (one * one * (derivative - weight / (two * two)), weight),
        None => (one * one * value.left, two * two * value.right),
    };
    let c = value.f - a / one - b / two;
    let inside = |step: &f64| *step > low && *step < high;
    let found = zeros(c, a, b, (one, two)).into_iter().filter(inside);
    found.min_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(f64::NAN)
}

/// Both zeros of c + a/(δ − η) + b/(δ' − η): of cη² − (c(δ + δ') + a + b)η + cδδ' + aδ' + bδ.
fn zeros(c: f64, a: f64, b: f64, (one, two): (f64, f64)) -> [f64; 2] {
    let linear = c * (one + two) + a + b;
    let constant = one * two * (c + a / one + b / two);
    let root = (linear * linear - 4.0 * c * constant).max(0.0).sqrt();
    let sum = 0.5 * (linear + root.copysign(linear));
    [constant / sum, sum / c]
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner_testkit::uniforms;

    /// f is nothing but rounding at each zero of the equation with these weights, made of length
    /// one.
    fn check(name: &str, d: Vec<f64>, mut z: Vec<f64>, rho: f64) {
        let k = d.len();
        let norm = z.iter().map(|z| z * z).sum::<f64>().sqrt();
        z.iter_mut().for_each(|z| *z /= norm);
        let equation = Secular { isa: Isa::default(), d: &d, z: &z, rho };
        for j in 0..k {
            let Zero { pole, tau } = equation.zero(j);
            assert!((j == pole && tau > 0.0) || (j + 1 == pole && tau < 0.0), "{name}: {j} {pole} {tau}");
            let terms = || (0..k).map(|i| z[i] * z[i] / (d[i] - d[pole] - tau)).chain([1.0 / rho]);
            let (value, size) = (terms().sum::<f64>(), terms().map(f64::abs).sum::<f64>());
            let slope: f64 = (0..k).map(|i| (z[i] / (d[i] - d[pole] - tau)).powi(2)).sum();
            let bound = f64::EPSILON * (16.0 * size + 4.0 * tau.abs() * slope);
            assert!(value.abs() <= bound, "{name}: {j} of {k}: {value} above {bound}");
        }
    }

    /// Weights, gaps and ρ of all sizes.
    #[test]
    fn f_vanishes_at_each_zero() {
        for seed in 0..600 {
            let chance = uniforms(1, 4, seed);
            let k = 1 + (chance[0] * if seed % 20 == 0 { 90.0 } else { 9.0 }) as usize;
            let (spread, rho) = (25.0 * chance[1], libm::exp(8.0 * (chance[2] - 0.5)));
            let chance = uniforms(k, 3, 1000 + seed);
            let (mut d, mut z) = (vec![0.0; k], vec![0.0; k]);
            for i in 0..k {
                let gap = 1e-11 + libm::exp(-spread * chance[3 * i]);
                d[i] = gap + if i == 0 { -0.3 } else { d[i - 1] };
                z[i] = libm::exp(-0.5 * spread * chance[3 * i + 1]) * (chance[3 * i + 2] - 0.5).signum();
            }
            check(&format!("{seed}"), d, z, rho);
        }
    }

    /// Poles of tiny weight beside wide gaps: about one zero in ten thousand needs the middle of
    /// its interval.
    #[test]
    fn no_zero_is_given_up() {
        let (k, rho) = (12, 3.0);
        for seed in 0..4000 {
            let chance = uniforms(k, 2, 1000 + seed);
            let (mut d, mut z) = (vec![0.0; k], vec![0.0; k]);
            for i in 0..k {
                d[i] = libm::exp(-6.0 * chance[2 * i]) + if i == 0 { -0.3 } else { d[i - 1] };
                z[i] = libm::exp(-4.0 * chance[2 * i + 1]);
            }
            check(&format!("{seed}"), d, z, rho);
        }
    }
}

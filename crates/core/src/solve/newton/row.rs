//! The loss of one row as its outputs see it: each by itself, or all together.
//!
//! ```text
//! softmax   ℓ = ln Σₒ e^sₒ − Σₒ yₒsₒ       ∇ℓ = p − y       ∇²ℓ·v = p∘v − p·(p·v),      p = e^s/Σ e^s
//! huber     ∂ℓ/∂σ = 1 − min(u², ε²)        ∂²ℓ/∂(s, σ)² = ∂²ℓ/∂s²·(1, u)(1, u)ᵀ,      u = (y − s)/σ up to ±ε
//! ```

use crate::Loss;
use crate::loss::{Pointwise, softmax};

/// What one row costs a group of outputs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RowLoss {
    /// One output.
    Single(Pointwise),
    /// One for each class.
    Softmax,
}

impl RowLoss {
    pub(crate) fn value(&self, y: &[f64], s: &[f64]) -> f64 {
        match self {
            RowLoss::Single(loss) => loss.value(y[0], s[0]),
            RowLoss::Softmax => {
                let largest = s.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = s.iter().map(|s| (s - largest).exp()).sum();
                let seen: f64 = y.iter().zip(s).map(|(y, s)| y * (largest - s)).sum();
                // Σ y = 1.
                seen + sum.ln()
            }
        }
    }

    /// ∂ℓ/∂s.
    pub(crate) fn slope(&self, y: &[f64], s: &[f64], out: &mut [f64]) {
        match self {
            RowLoss::Single(loss) => out[0] = loss.slope(y[0], s[0]),
            RowLoss::Softmax => {
                out.copy_from_slice(s);
                softmax(out);
                out.iter_mut().zip(y).for_each(|(p, y)| *p -= y);
            }
        }
    }

    /// (∂²ℓ/∂s²)·v.
    pub(crate) fn bend(&self, y: &[f64], s: &[f64], v: &[f64], out: &mut [f64]) {
        match self {
            RowLoss::Single(loss) => out[0] = loss.bend(y[0], s[0]) * v[0],
            RowLoss::Softmax => {
                out.copy_from_slice(s);
                softmax(out);
                let mean: f64 = out.iter().zip(v).map(|(p, v)| p * v).sum();
                out.iter_mut().zip(v).for_each(|(p, v)| *p *= v - mean);
            }
        }
    }

    /// The mean of the diagonal of ∂²ℓ/∂s².
    pub(crate) fn curvature(&self, y: &[f64], s: &[f64]) -> f64 {
        match self {
            RowLoss::Single(loss) => loss.bend(y[0], s[0]),
            RowLoss::Softmax => {
                let mut p = s.to_vec();
                softmax(&mut p);
                p.iter().map(|p| p * (1.0 - p)).sum::<f64>() / s.len() as f64
            }
        }
    }

    /// σ, of a loss that has one.
    pub(crate) fn scale(&self) -> Option<f64> {
        match self {
            RowLoss::Single(of) if matches!(of.loss, Loss::Huber { .. }) => Some(of.scale),
            _ => None,
        }
    }

    /// The same loss with another σ.
    pub(crate) fn with_scale(self, scale: f64) -> RowLoss {
        match self {
            RowLoss::Single(of) if self.scale().is_some() => RowLoss::Single(Pointwise { scale, ..of }),
            other => other,
        }
    }

    /// ∂ℓ/∂σ, and the u by which a change of σ bends like one of the score.
    pub(crate) fn scale_slope(&self, y: &[f64], s: &[f64]) -> (f64, f64) {
        let RowLoss::Single(of) = self else { return (0.0, 0.0) };
        let Loss::Huber { epsilon } = of.loss else { return (0.0, 0.0) };
        let u = (y[0] - s[0]) / of.scale;
        if u.abs() <= epsilon { (1.0 - u * u, u) } else { (1.0 - epsilon * epsilon, 0.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner_testkit::{Absolute, assert_close};

    /// ∂ℓ/∂σ and the bends of (s, σ) are differences of values and slopes; other losses have no σ.
    #[test]
    fn the_size_of_errors_joins_the_score() {
        let (h, y) = (1e-6, [0.4]);
        for sigma in [0.3, 1.0, 5.0] {
            let of =
                |sigma: f64| RowLoss::Single(Loss::Huber { epsilon: 1.35 }.pointwise()).with_scale(sigma);
            for k in -30..=30 {
                let s = 0.21 * f64::from(k) + 0.013;
                let at = |s: f64, sigma: f64| {
                    let (loss, mut slope) = (of(sigma), [0.0]);
                    loss.slope(&y, &[s], &mut slope);
                    (loss.value(&y, &[s]), slope[0], loss.scale_slope(&y, &[s]).0)
                };
                let differences = |to: (f64, f64, f64), from: (f64, f64, f64)| {
                    [(to.0 - from.0) / (2.0 * h), (to.1 - from.1) / (2.0 * h), (to.2 - from.2) / (2.0 * h)]
                };
                let by_scale = differences(at(s, sigma + h), at(s, sigma - h));
                let (slope, u) = of(sigma).scale_slope(&y, &[s]);
                let mut bend = [0.0];
                of(sigma).bend(&y, &[s], &[1.0], &mut bend);
                assert_close(&[slope, bend[0] * u, bend[0] * u * u], &by_scale, Absolute(1e-4));
            }
        }
        let plain = RowLoss::Single(Loss::Logistic.pointwise());
        assert!(plain.scale().is_none() && plain.with_scale(3.0).scale().is_none());
        assert_eq!(plain.scale_slope(&[1.0], &[0.3]), (0.0, 0.0));
    }
}

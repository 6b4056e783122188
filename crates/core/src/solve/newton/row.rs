//! The loss of one row as its outputs see it: each by itself, or all together.
//!
//! ```text
//! softmax   ℓ = ln Σₒ e^sₒ − Σₒ yₒsₒ       ∇ℓ = p − y       ∇²ℓ·v = p∘v − p·(p·v),      p = e^s/Σ e^s
//! ```

use crate::loss::{Pointwise, softmax};

/// What one row costs a group of outputs.
#[derive(Clone, Copy, Debug)]
pub(super) enum RowLoss {
    /// One output.
    Single(Pointwise),
    /// One for each class.
    Softmax,
}

impl RowLoss {
    pub(super) fn value(&self, y: &[f64], s: &[f64]) -> f64 {
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
    pub(super) fn slope(&self, y: &[f64], s: &[f64], out: &mut [f64]) {
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
    pub(super) fn bend(&self, y: &[f64], s: &[f64], v: &[f64], out: &mut [f64]) {
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
    pub(super) fn curvature(&self, y: &[f64], s: &[f64]) -> f64 {
        match self {
            RowLoss::Single(loss) => loss.bend(y[0], s[0]),
            RowLoss::Softmax => {
                let mut p = s.to_vec();
                softmax(&mut p);
                p.iter().map(|p| p * (1.0 - p)).sum::<f64>() / s.len() as f64
            }
        }
    }
}

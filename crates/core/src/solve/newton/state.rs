//! A group of outputs on its way to the lowest F, and how far it can still be.
//!
//! ```text
//! ½‖w‖² + Σ cᵢ·ℓ(yᵢ, sᵢ)  ≥  F*  ≥  −Σ cᵢ·ℓ*(gᵢ) − ½‖Σ cᵢgᵢzᵢ‖² − |b*|·|Σ cᵢgᵢ|
//! ```
//! The last term is there where a constant is free, and nothing once the constant is at its best.

use super::row::RowLoss;
use super::{Cg, Constant, Minimum, Stop, Vectors};
use crate::Loss;
use crate::linalg::dot;
use crate::loss::Pointwise;

/// A group of outputs on its way.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// Its first output, and how many they are.
    pub(crate) first: usize,
    pub(crate) width: usize,
    pub(crate) loss: RowLoss,
    /// μ at first.
    rounding: f64,
    /// One vector an output; the constant is last.
    pub(crate) weights: Vectors,
    /// Rows × width, where they are kept.
    pub(super) scores: Vec<f64>,
    /// ∇F, all outputs in one.
    pub(crate) gradient: Vec<f64>,
    pub(crate) first_gradient: f64,
    /// F, with its corners.
    pub(crate) primal: f64,
    dual: Option<f64>,
    /// The dual value of the moment, whether it counts or not.
    near: Option<f64>,
    /// What the dual value is short of because a free constant is not at its best.
    unsettled: f64,
    pub(crate) stop: Option<Stop>,
}

/// Of one row, or of all that count, times their costs: loss, conjugate, slope, size of the error, 1.
pub(crate) type Terms = [f64; 5];

/// The part of F that a constant may be short of for a dual value to count.
const SETTLED: f64 = 1e-5;

/// The rounding of corners falls by this, as soon as the part SOLVED of the gap is due to steps and not to rounding, and not below the part SHARPEST of its first width and the tolerance: there it takes less from F than the
/// tolerance, and arithmetic more.
const SHARPER: f64 = 0.2;
const SOLVED: f64 = 0.1;
const SHARPEST: f64 = 1e-3;

impl State {
    /// All groups of a problem, at zero or at a start; scores of so many rows are kept.
    pub(crate) fn all(
        loss: Loss,
        outputs: usize,
        size: usize,
        rows: usize,
        start: Option<&[Vec<f64>]>,
    ) -> Vec<State> {
        let width = if loss == Loss::Logistic && outputs > 1 { outputs } else { 1 };
        let state = |first: usize| {
            let loss = if width > 1 { RowLoss::Softmax } else { RowLoss::Single(loss.pointwise()) };
            let weights = match start {
                Some(start) => start[first..first + width].to_vec(),
                None => vec![vec![0.0; size]; width],
            };
            State {
                first,
                width,
                loss,
                rounding: 0.0,
                weights,
                scores: vec![0.0; rows * width],
                gradient: Vec::new(),
                first_gradient: 0.0,
                primal: f64::INFINITY,
                dual: None,
                near: None,
                unsettled: 0.0,
                stop: None,
            }
        };
        (0..outputs).step_by(width).map(state).collect()
    }

    /// Whether the loss is to be told how large errors are.
    pub(crate) fn has_unit(&self) -> bool {
        matches!(self.loss, RowLoss::Single(of) if of.loss.has_corners() || matches!(of.loss, Loss::Huber { .. }))
    }

    /// How wide corners are rounded, and how large errors are, at first: as the usual error is.
    pub(crate) fn measure(&mut self, usual: f64) {
        let usual = if usual > 0.0 && usual.is_finite() { usual } else { 1.0 };
        let has_unit = self.has_unit();
        let RowLoss::Single(loss) = &mut self.loss else { return };
        if !has_unit {
            return;
        }
        (loss.rounding, loss.scale) = match loss.loss {
            Loss::Huber { .. } => (0.0, usual),
            Loss::Margins { .. } => (0.5, 1.0),
            _ => (usual, 1.0),
        };
        self.rounding = loss.rounding;
    }

    /// Whether corners are rounded.
    pub(crate) fn is_rounded(&self) -> bool {
        matches!(self.loss, RowLoss::Single(loss) if loss.rounding > 0.0)
    }

    pub(super) fn scores_of(&self, i: usize) -> &[f64] {
        &self.scores[i * self.width..(i + 1) * self.width]
    }

    /// What a row of these targets, scores and slopes adds to F, with its corners, and to the dual value.
    pub(crate) fn terms(&self, y: &[f64], s: &[f64], slope: &[f64]) -> Terms {
        match &self.loss {
            RowLoss::Single(loss) => {
                let corners = Pointwise { rounding: 0.0, ..*loss };
                let value = corners.value(y[0], s[0]);
                [value, loss.conjugate(y[0], s[0]), slope[0], (y[0] - s[0]).abs(), 1.0]
            }
            RowLoss::Softmax => {
                let value = self.loss.value(y, s);
                [value, s.iter().zip(slope).map(|(s, g)| s * *g).sum::<f64>() - value, 0.0, 0.0, 1.0]
            }
        }
    }

    /// Its place between primal and dual value, given the sums of all rows and ‖v‖².
    pub(crate) fn judge(&mut self, constant: Constant, sums: Terms, norm: f64) {
        let [losses, conjugates, pull, error, weight] = sums;
        self.primal = 0.5 * self.norm(constant) + losses;
        // A dual value is for one σ, and Σ c·g = 0 is seen to for single outputs.
        let has_dual = match self.loss {
            RowLoss::Single(loss) => !matches!(loss.loss, Loss::Huber { .. }),
            RowLoss::Softmax => constant != Constant::Free,
        };
        if has_dual {
            // What is left of Σ c·g counts against the bound as far as the best constant may be from zero: twice this one, and the size of errors, is a guess, so that it must be next to nothing.
            let b = self.weights[0].last().map_or(0.0, |b| b.abs());
            self.unsettled = match constant {
                Constant::Free if weight > 0.0 => 2.0 * (b + error / weight) * pull.abs(),
                _ => 0.0,
            };
            let dual = -conjugates - 0.5 * norm - self.unsettled;
            self.near = Some(dual);
            if self.unsettled <= SETTLED * self.primal.abs() {
                self.dual = Some(self.dual.map_or(dual, |best| best.max(dual)));
            }
        }
    }

    /// ‖w‖² of what is penalised.
    fn norm(&self, constant: Constant) -> f64 {
        let free = usize::from(constant == Constant::Free);
        self.weights.iter().map(|w| &w[..w.len() - free]).map(|w| dot(w, w)).sum()
    }

    /// Between primal and dual value.
    fn gap(&self) -> Option<f64> {
        self.dual.map(|dual| self.primal - dual)
    }

    pub(crate) fn is_within(&self, tolerance: f64) -> bool {
        self.gap().is_some_and(|gap| gap.abs() <= tolerance * self.primal.abs())
    }

    /// Rounds corners less, where that is what the gap is due to: ½‖∇F‖² of it is due to steps that are missing, as is what a constant is short of.
    pub(crate) fn sharpen(&mut self, tolerance: f64) -> bool {
        let (is_within, gap) = (self.is_within(tolerance), self.near.map(|near| self.primal - near));
        let left = 0.5 * dot(&self.gradient, &self.gradient) + self.unsettled;
        let RowLoss::Single(loss) = &mut self.loss else { return false };
        let can = loss.rounding > SHARPEST * tolerance * self.rounding;
        let is_due = can && !is_within && gap.is_some_and(|gap| left <= SOLVED * gap);
        if is_due {
            loss.rounding *= SHARPER;
        }
        is_due
    }

    /// Conjugate gradients for the next step. The nearer to the end, the better the step: what makes Newton's method quick there.
    pub(crate) fn conjugate(&self) -> Cg {
        let norm = dot(&self.gradient, &self.gradient).sqrt();
        Cg::start(&self.gradient, (norm / self.first_gradient.max(f64::MIN_POSITIVE)).min(0.01))
    }

    /// Whether a step that gains so much is the last: as far as F is a parabola, it leaves a hundredth of the tolerance. Corners end by their gap alone.
    pub(crate) fn is_last(&self, gain: f64, tolerance: f64) -> bool {
        !self.is_rounded() && gain <= 0.1 * tolerance * self.primal.abs()
    }

    pub(crate) fn end(self, steps: usize) -> Minimum {
        let scale = if let RowLoss::Single(loss) = self.loss { loss.scale } else { 1.0 };
        Minimum {
            weights: self.weights,
            scores: self.scores,
            primal: self.primal,
            dual: self.dual,
            scale,
            steps,
            stop: self.stop.unwrap_or(Stop::Steps),
        }
    }
}

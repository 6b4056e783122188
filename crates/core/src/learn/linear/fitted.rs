//! What a fit ends with.

use super::Linear;
use crate::learn::CurvePoint;
use crate::model::{Calibration, Outcome};
use crate::solve::{Minimum, Stop};
use crate::{Engine, Event, Loss, Matrix, Result};

/// Where a solver ended, for one output or for all.
pub(super) struct Solved {
    /// One vector an output, the constant last if there is one.
    pub(super) weights: Vec<Vec<f64>>,
    /// Rows × these outputs, where rows are held.
    pub(super) scores: Vec<f64>,
    pub(super) primal: f64,
    pub(super) dual: Option<f64>,
    pub(super) scale: f64,
    pub(super) steps: usize,
    pub(super) stop: Stop,
}

/// Coefficients of all outputs.
pub(super) struct Fitted {
    pub(super) coefficients: Matrix<f64>,
    pub(super) intercept: Vec<f64>,
    pub(super) outcome: Outcome,
    pub(super) lambda: f64,
    pub(super) curve: Vec<CurvePoint>,
    pub(super) fold_errors: Vec<f64>,
    pub(super) rows: u64,
    pub(super) calibration: Option<Calibration>,
}

impl Fitted {
    /// Of solutions at λ, for targets without these means and rows no longer than `largest`.
    pub(super) fn of(
        linear: &Linear,
        solved: Vec<Solved>,
        lambda: f64,
        means: &[f64],
        largest: f64,
        columns: usize,
        rows: u64,
    ) -> Fitted {
        let weights: Vec<&Vec<f64>> = solved.iter().flat_map(|s| &s.weights).collect();
        let (primal, dual): (f64, Option<f64>) =
            (solved.iter().map(|s| s.primal).sum(), solved.iter().map(|s| s.dual).sum());
        let outcome = match linear.loss {
            Loss::Margins { hinge } => {
                let norm = |w: &&Vec<f64>| w[..columns].iter().map(|w| w * w).sum::<f64>().sqrt();
                let widest = weights.iter().map(norm).fold(0.0, f64::max);
                let margin = normalised_margin(widest, largest);
                Outcome::Margins { hinge, primal, dual: dual.unwrap_or(0.0), margin }
            }
            loss => Outcome::Minimised {
                loss,
                objective: 2.0 * lambda * primal,
                bound: dual.map(|dual| 2.0 * lambda * dual),
                scale: matches!(loss, Loss::Huber { .. })
                    .then(|| solved.iter().map(|s| s.scale).fold(0.0, f64::max)),
                steps: solved.iter().map(|s| s.steps).max().unwrap_or(0),
                stop: solved.iter().map(|s| s.stop).max_by_key(|stop| *stop as usize).unwrap_or(Stop::Gap),
            },
        };
        let has_constant = linear.intercept;
        let constant = |(w, mean): (&&Vec<f64>, &f64)| if has_constant { w[columns] + mean } else { 0.0 };
        let intercept = weights.iter().zip(means).map(constant).collect();
        let coefficients = Matrix::from_fn(weights.len(), columns, |o, j| weights[o][j]);
        let (curve, fold_errors, calibration) = (Vec::new(), Vec::new(), None);
        Fitted { coefficients, intercept, outcome, lambda, curve, fold_errors, rows, calibration }
    }
}

impl From<Minimum> for Solved {
    fn from(found: Minimum) -> Solved {
        let Minimum { weights, scores, primal, dual, scale, steps, stop } = found;
        Solved { weights, scores, primal, dual, scale, steps, stop }
    }
}

/// Says so, if a solver was stopped before its end.
pub(super) fn warn_if_stopped(engine: &Engine, solutions: &[Solved], tolerance: f64) -> Result<()> {
    if solutions.iter().any(|s| s.stop == Stop::Stagnation) {
        let text = "rounding left nothing more to gain before the tolerance was reached: a larger λ or tolerance, or features in double precision, help";
        engine.tell(&Event::Warning { text })?;
    }
    if !solutions.iter().any(|s| s.stop == Stop::Steps) {
        return Ok(());
    }
    let left = |s: &Solved| s.dual.map(|dual| (s.primal - dual) / s.primal.abs().max(f64::MIN_POSITIVE));
    let gap = solutions.iter().filter_map(left).fold(0.0, f64::max);
    let text = format!(
        "the descent was stopped after {} steps{}: the model is not the best one yet; more steps, a larger λ, or columns of like size help",
        solutions.iter().map(|s| s.steps).max().unwrap_or(0),
        if gap > 0.0 { format!(" at a gap of {gap:.1e}, above {tolerance:.1e}") } else { String::new() },
    );
    engine.tell(&Event::Warning { text: &text })
}

/// γ = 1/(‖w‖·max ‖z‖): a finite number also where nothing was learnt.
pub(in crate::learn) fn normalised_margin(norm: f64, largest: f64) -> f64 {
    let size = norm * largest;
    if size > 0.0 { (1.0 / size).min(f64::MAX) } else { 0.0 }
}

//! Any loss that Newton's method minimises, on features that are never kept.
//!
//! ```text
//! pass 1   Σ w, Σ w·z, Σ w·z², max ‖z‖, weights of classes
//! then     for each λ, a few of Newton's steps: one pass for ∇F, some for conjugate gradients, one along the step
//! ```
//! λ is chosen on one part of K that is left out, from the largest on, each from where the last ended, roughly, and no further than errors fall; the guide goes from one to the next. The fit to all rows starts from the solution
//! of the λ that was chosen. `docs/book/solvers.md`.

use super::Linear;
use super::STEPS;
use super::descent::{Descent, Goal};
use super::fitted::{Fitted, Solved, warn_if_stopped};
use super::lead::Lead;
use super::look::Look;
use super::problem::{ROUGH, ROUGH_ROUNDS};
use super::search::{Search, baseline_loss, grid, row_error, row_loss, usual};
use crate::learn::calibrate::{FoldModel, Scored};
use crate::learn::ridge::{CurvePoint, Lambda, Units};
use crate::learn::streamed::{Job, Streamed};
use crate::plan::RidgeShape;
use crate::solve::pcg::Vectors;
use crate::solve::{Constant, Minimum, Preconditioner};
use crate::source::{Batch, Source, Target};
use crate::stat::Sample;
use crate::{Engine, Event, Map, Matrix, Result};

/// A fit by passes.
pub(super) struct ByPasses<'a> {
    pub(super) linear: &'a Linear,
    pub(super) engine: &'a Engine,
    pub(super) source: &'a dyn Source,
    pub(super) map: &'a Map,
    pub(super) sample: &'a Sample,
    pub(super) shape: RidgeShape,
    /// The guide to begin with.
    pub(super) guide: Preconditioner,
    /// Weights to begin with.
    pub(super) start: Option<Vectors>,
    /// Folds that probabilities are calibrated on.
    pub(super) calibrated: Option<usize>,
}

/// What λ was chosen by.
#[derive(Default)]
struct Tried {
    lambda: f64,
    curve: Vec<CurvePoint>,
    start: Option<Vectors>,
}

impl ByPasses<'_> {
    pub(super) fn fit(&self) -> Result<Fitted> {
        let quiet = self.engine.quiet();
        let target = self.source.target();
        let is_classes = matches!(target, Target::Classes { .. });
        let has_means = !is_classes && self.linear.constant() == Constant::Free;
        let units = Units::of(self.sample, has_means);
        let shift = &units.shift;
        let coded = |batch: &Batch<'_>| self.coded(batch, shift);
        let stream = |folds: usize, left: usize| Streamed {
            engine: &quiet,
            source: self.source,
            map: self.map,
            targets: &coded,
            unit: units.weight,
            folds,
            left,
            kept: None,
        };
        let folds = self.linear.lambda.folds();
        self.engine.tell(&Event::Started { phase: "look" })?;
        let look = self.look(&stream(folds, 0), shift)?;
        self.engine.tell(&Event::Finished { phase: "look" })?;
        self.check(&look)?;
        let mut lead = Lead {
            engine: self.engine,
            shape: &self.shape,
            distinct: self.sample.distinct(),
            kind: self.guide,
            means: look.means.clone(),
            variances: look.variances.clone(),
            made: None,
        };
        let begin = self.start.as_ref().map(|start| self.without_means(start, shift));
        let Tried { lambda, curve, start } = match self.linear.lambda {
            Lambda::Given { value } => Tried { lambda: value, ..Tried::default() },
            Lambda::CrossValidated { .. } => self.choose(&stream(folds, 0), &look, &mut lead)?,
        };
        let start = start.or(begin);
        let whole = self.descent(stream(1, 0), look.weight(), false);
        let solved = self.solve(&whole, lambda, start.as_deref(), &look, &mut lead, "solve")?;
        let mut calibration = None;
        if let (Some(folds), Target::Classes { labels }) = (self.calibrated, target) {
            let models = self.without_each_fold(folds, &stream, &look, &mut lead, lambda)?;
            let scored = Scored::of(self.engine, self.source, self.map, &models)?;
            calibration = Some(scored.calibration(self.engine, labels.len())?);
        }
        let solved: Vec<Solved> = solved.into_iter().map(Solved::from).collect();
        warn_if_stopped(self.engine, &solved, self.linear.tolerance)?;
        let columns = self.map.output_dim();
        let fitted = Fitted::of(self.linear, solved, lambda, shift, look.longest.sqrt(), columns, look.rows);
        Ok(Fitted { curve, calibration, ..fitted })
    }

    pub(super) fn outputs(&self) -> usize {
        self.shape.outputs
    }

    /// Targets as losses see them: numbers without their mean, signs, or 1 at the class and something else elsewhere.
    fn coded(&self, batch: &Batch<'_>, shift: &[f64]) -> Matrix<f64> {
        let mut coded = self.source.target().coded(batch);
        let is_classes = matches!(self.source.target(), Target::Classes { .. });
        let low = self.linear.other_class();
        for y in coded.as_mut_slice().iter_mut().filter(|_| is_classes && self.outputs() > 1) {
            *y = low + (1.0 - low) * *y;
        }
        for i in 0..coded.rows() {
            coded.row_mut(i).iter_mut().zip(shift).for_each(|(y, shift)| *y -= shift);
        }
        coded
    }

    /// Weights for targets without their means.
    fn without_means(&self, start: &[Vec<f64>], shift: &[f64]) -> Vectors {
        let mut start = start.to_vec();
        if self.linear.constant() == Constant::Free {
            let constants = start.iter_mut().filter_map(|w| w.last_mut());
            constants.zip(shift).for_each(|(b, mean)| *b -= mean);
        }
        start
    }

    fn descent<'s>(&self, stream: Streamed<'s>, weight: f64, leaves_out: bool) -> Descent<'s> {
        let (loss, constant, outputs) = (self.linear.loss, self.linear.constant(), self.outputs());
        Descent { stream, loss, constant, outputs, weight, leaves_out }
    }

    /// λ by the part of the rows that is left out, and weights to go on from.
    fn choose(&self, stream: &Streamed<'_>, look: &Look, lead: &mut Lead<'_>) -> Result<Tried> {
        let unit = self.unit(look);
        if !look.can_leave_out(self.linear.loss) {
            let text = "too few distinct rows to leave some out: λ is 1e-3 times the size of the features; give a λ to choose it yourself";
            self.engine.tell(&Event::Warning { text })?;
            return Ok(Tried { lambda: usual(unit), ..Tried::default() });
        }
        let phase = "cross-validation";
        self.engine.tell(&Event::Started { phase })?;
        let part = self.descent(*stream, look.kept.iter().sum(), true);
        let (grid, goal) = (grid(unit), Goal { tolerance: ROUGH, most: ROUGH_ROUNDS });
        let left_weight: f64 = look.left.iter().sum();
        let mut search = Search::new(baseline_loss(self.linear.loss, &look.left));
        // A later error may make an earlier λ the best: weights of all are kept. From nothing: a
        // model to start from may have seen the validation rows.
        let mut weights: Vec<Vectors> = Vec::new();
        for (at, &lambda) in grid.iter().enumerate() {
            let told = |_| {
                let fraction = Some(at as f64 / grid.len() as f64);
                self.engine.tell(&Event::Progress { phase, rows: look.rows, fraction })
            };
            let solved =
                part.solve(lambda, weights.last().map(Vec::as_slice), &look.errors, lead, goal, &told)?;
            let (error, loss) = self.left_out(&part, &solved)?;
            let goes_on = search.push(lambda, error / left_weight, loss);
            weights.push(solved.into_iter().flat_map(|solved| solved.weights).collect());
            if !goes_on {
                break;
            }
        }
        self.engine.tell(&Event::Finished { phase })?;
        let best = search.best();
        let lambda = best.map_or(usual(unit), |at| grid[at]);
        Ok(Tried { lambda, curve: search.curve(), start: best.map(|at| weights.swap_remove(at)) })
    }

    /// Weighted sums over the validation rows: of errors, and of losses where errors are counts.
    fn left_out(&self, part: &Descent<'_>, solved: &[Minimum]) -> Result<(f64, f64)> {
        let (loss, features) = (self.linear.loss, self.map.output_dim());
        let is_classes = matches!(self.source.target(), Target::Classes { .. });
        let weights = || solved.iter().flat_map(|solved| &solved.weights);
        let directions: Vec<&[f64]> = weights().map(|w| &w[..features]).collect();
        let constants: Vec<f64> = weights().map(|w| w.get(features).copied().unwrap_or(0.0)).collect();
        let total = part.stream.pass(&Job {
            directions: &directions,
            constants: &constants,
            back: 0,
            plain: 2,
            squares: false,
            values: &|block, i, s, out| {
                out.fill(0.0);
                if block.is_left_out(i) && block.weights[i] > 0.0 {
                    let (weight, y) = (block.weights[i], block.targets.row(i));
                    let scale = |o: usize| solved.get(o).map_or(1.0, |solved| solved.scale);
                    let error = row_error(loss, is_classes, y, s, scale);
                    out.copy_from_slice(&[weight * error, weight * row_loss(loss, is_classes, y, s)]);
                }
            },
        })?;
        Ok((total.plain[0], total.plain[1]))
    }

    /// The solution at one λ, as well as was asked for.
    fn solve(
        &self,
        descent: &Descent<'_>,
        lambda: f64,
        start: Option<&[Vec<f64>]>,
        look: &Look,
        lead: &mut Lead<'_>,
        phase: &str,
    ) -> Result<Vec<Minimum>> {
        self.engine.tell(&Event::Started { phase })?;
        let goal = Goal { tolerance: self.linear.tolerance, most: self.linear.most_steps.unwrap_or(STEPS) };
        // How many steps there will be is not known: as often as not, about eight.
        let told = |step: usize| {
            let fraction = Some(step as f64 / (step + 8) as f64);
            self.engine.tell(&Event::Progress { phase, rows: look.rows, fraction })
        };
        let solved = descent.solve(lambda, start, &look.errors, lead, goal, &told)?;
        self.engine.tell(&Event::Finished { phase })?;
        Ok(solved)
    }

    /// Coefficients and constants without each fold, from nothing on, as those of all rows have seen it; none for a fold that cannot be left out.
    fn without_each_fold<'s>(
        &self,
        folds: usize,
        stream: &dyn Fn(usize, usize) -> Streamed<'s>,
        look: &Look,
        lead: &mut Lead<'_>,
        lambda: f64,
    ) -> Result<Vec<FoldModel>> {
        let features = self.map.output_dim();
        let one = |fold: usize| -> Result<FoldModel> {
            let stream = stream(folds, fold);
            let here = self.look(&stream, &vec![0.0; self.outputs()])?;
            if !here.can_leave_out(self.linear.loss) {
                return Ok(None);
            }
            let part = self.descent(stream, here.kept.iter().sum(), true);
            let solved = self.solve(&part, lambda, None, look, lead, "calibration")?;
            let weights: Vec<&Vec<f64>> = solved.iter().flat_map(|solved| &solved.weights).collect();
            let coefficients = Matrix::from_fn(weights.len(), features, |o, j| weights[o][j]);
            let constants = weights.iter().map(|w| w.get(features).copied().unwrap_or(0.0)).collect();
            Ok(Some((coefficients, constants)))
        };
        (0..folds).map(one).collect()
    }
}

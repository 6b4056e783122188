//! Newton's method on features that are made anew in each pass over the rows.
//!
//! ```text
//! F(w, b, σ) = ½‖w‖² + Σ cᵢ·ℓ(yᵢ, w·zᵢ + b; σ)                  one pass: F, ∇F, the dual value
//! ∇²F·p      = p + Σ cᵢ·ℓ″ᵢ·(p·zᵢ)·zᵢ                           one pass a step of conjugate gradients
//! F(w + tp)  at eight t at once: w·zᵢ and p·zᵢ tell all of them   one pass
//! ```
//! No score of a row is kept: each pass finds those of the weights at hand beside the products it is made for, so that memory does not depend on the rows. The constant b and the σ of Huber's loss are
//! coordinates like others; to move them to their best after each step, as solvers of held features do, would take passes of its own. `docs/book/solvers.md`.

use super::lead::Lead;
use crate::learn::streamed::{Block, Streamed};
use crate::linalg::dot;
use crate::solve::{Cg, Constant, LED_ASTRAY, LENGTHS, Minimum, State, Stop, best_length};
use crate::{Loss, Result};

/// Steps of conjugate gradients within one of Newton's.
const MOST_CG: usize = 100;

/// Times that shorter steps are looked at before it is said that none is better.
const SHORTER: usize = 7;

/// F of all rows of a stream, or of all but those left out.
pub(super) struct Descent<'a> {
    pub(super) stream: Streamed<'a>,
    pub(super) loss: Loss,
    pub(super) constant: Constant,
    pub(super) outputs: usize,
    /// Σ of the weights of rows that take part, in units of the stream.
    pub(super) weight: f64,
    pub(super) leaves_out: bool,
}

/// A group of outputs, with what was found of it beside its gradient.
pub(super) struct Group {
    pub(super) state: State,
    /// Σ c·κ, κ the mean bend of a row, and the mean of κ; Σ c·ℓ″·u², what bends along σ.
    pub(super) bend: f64,
    pub(super) mean_bend: f64,
    pub(super) scale_bend: f64,
    /// The part of the rows, by weight, that bends; and the mean size of an error.
    pub(super) bending: f64,
    pub(super) error: f64,
}

/// How Newton's method ends.
#[derive(Clone, Copy)]
pub(super) struct Goal {
    pub(super) tolerance: f64,
    pub(super) most: usize,
}

impl Group {
    fn new(state: State) -> Group {
        Group { state, bend: 0.0, mean_bend: 0.0, scale_bend: 0.0, bending: 1.0, error: 0.0 }
    }

    pub(super) fn has_scale(&self) -> bool {
        self.state.loss.scale().is_some()
    }
}

impl Descent<'_> {
    pub(super) fn features(&self) -> usize {
        self.stream.map.output_dim()
    }

    /// Coordinates of an output.
    pub(super) fn size(&self) -> usize {
        self.features() + usize::from(self.constant != Constant::None)
    }

    /// 1 for what is penalised, 0 for a constant that is free.
    pub(super) fn held(&self, j: usize) -> f64 {
        let is_free = self.constant == Constant::Free && j == self.features();
        if is_free { 0.0 } else { 1.0 }
    }

    /// Whether a row takes part.
    pub(super) fn counts(&self, block: &Block, i: usize) -> bool {
        block.weights[i] > 0.0 && !(self.leaves_out && block.is_left_out(i))
    }

    /// Goes on from a start, or from zero, until what is left to gain is small; `errors` is the mean error of each output at zero. A guide that is there is used, and left for the next.
    pub(super) fn solve(
        &self,
        lambda: f64,
        start: Option<&[Vec<f64>]>,
        errors: &[f64],
        lead: &mut Lead<'_>,
        goal: Goal,
        told: &dyn Fn(usize) -> Result<()>,
    ) -> Result<Vec<Minimum>> {
        let cost = 1.0 / (2.0 * lambda * self.weight.max(f64::MIN_POSITIVE));
        let states = State::all(self.loss, self.outputs, self.size(), 0, start);
        let mut going: Vec<Group> = states.into_iter().map(Group::new).collect();
        let mut done: Vec<Option<Minimum>> = vec![None; going.len()];
        self.measure(cost, &mut going, start.is_some(), errors)?;
        let mut is_astray = false;
        for round in 0..=goal.most {
            self.gradients(cost, &mut going, round == 0)?;
            // Corners that are rounded more than steps are missed: less, without a step. (All of them, so no `any`.)
            while going.iter_mut().filter_map(|g| g.state.sharpen(goal.tolerance).then_some(())).count() > 0 {
                self.gradients(cost, &mut going, false)?;
            }
            for Group { state, .. } in &mut going {
                if state.is_within(goal.tolerance) {
                    state.stop = Some(Stop::Gap);
                } else if round == goal.most {
                    state.stop = state.stop.or(Some(Stop::Steps));
                }
            }
            for group in going.extract_if(.., |group| group.state.stop.is_some()) {
                let place = group.state.first / group.state.width;
                done[place] = Some(group.state.end(round));
            }
            if going.is_empty() {
                break;
            }
            // What bends under corners is few rows, and others each time.
            let is_other = going.iter().any(|group| group.state.is_rounded());
            lead.prepare(self, &going, is_astray, is_other)?;
            let (steps, rounds) = self.steps(cost, &going, lead)?;
            is_astray = rounds > LED_ASTRAY;
            self.advance(cost, &mut going, &steps, goal.tolerance)?;
            told(round)?;
        }
        Ok(done.into_iter().flatten().collect())
    }

    /// How large errors are at first, where the loss is to know: at a start, by one pass.
    fn measure(&self, cost: f64, groups: &mut [Group], is_started: bool, errors: &[f64]) -> Result<()> {
        if !groups.iter().any(|group| group.state.has_unit()) {
            return Ok(());
        }
        groups.iter_mut().for_each(|group| group.state.measure(errors[group.state.first]));
        if is_started {
            self.gradients(cost, groups, true)?;
            let first = |group: &mut Group| {
                let (loss, weights) = (self.loss, std::mem::take(&mut group.state.weights));
                // A state that has been nowhere: what was found of the dual value was for another rounding.
                let mut fresh = State::all(loss, self.outputs, 0, 0, None).swap_remove(group.state.first);
                fresh.weights = weights;
                fresh.measure(group.error);
                group.state = fresh;
            };
            groups.iter_mut().for_each(first);
        }
        Ok(())
    }

    /// The weights of some groups as directions, and their constants.
    pub(super) fn weights<'g>(&self, groups: impl Iterator<Item = &'g Group>) -> (Vec<&'g [f64]>, Vec<f64>) {
        self.split(groups.flat_map(|group| group.state.weights.iter().map(Vec::as_slice)))
    }

    /// Features and constants of some vectors.
    pub(super) fn split<'g>(&self, vectors: impl Iterator<Item = &'g [f64]>) -> (Vec<&'g [f64]>, Vec<f64>) {
        let features = self.features();
        vectors.map(|v| (&v[..features], v.get(features).copied().unwrap_or(0.0))).unzip()
    }

    pub(super) fn target<'b>(&self, block: &'b Block, i: usize, state: &State) -> &'b [f64] {
        &block.targets.row(i)[state.first..][..state.width]
    }

    /// Vectors of the outputs of a group, one after another, without that of σ.
    pub(super) fn outputs<'v>(&self, group: &Group, vector: &'v [f64]) -> std::slice::Chunks<'v, f64> {
        vector[..group.state.width * self.size()].chunks(self.size())
    }

    /// p of each group, all at once, and the steps of conjugate gradients that it took.
    fn steps(&self, cost: f64, groups: &[Group], lead: &Lead<'_>) -> Result<(Vec<Vec<f64>>, usize)> {
        let mut all: Vec<Cg> = groups.iter().map(|group| group.state.conjugate()).collect();
        let mut rounds = 0;
        while rounds < MOST_CG {
            let going: Vec<usize> = (0..all.len()).filter(|&k| !all[k].is_done()).collect();
            if going.is_empty() {
                break;
            }
            let residuals: Vec<(&Group, &[f64])> =
                going.iter().map(|&k| (&groups[k], all[k].residual())).collect();
            let led = lead.lead(self, &residuals);
            going.iter().zip(&led).for_each(|(&k, led)| all[k].turn(led));
            let going: Vec<usize> = going.into_iter().filter(|&k| !all[k].is_done()).collect();
            if going.is_empty() {
                break;
            }
            rounds += 1;
            let moved: Vec<(&Group, &[f64])> =
                going.iter().map(|&k| (&groups[k], all[k].direction())).collect();
            let bent = self.bent(cost, &moved)?;
            for (&k, bent) in going.iter().zip(&bent) {
                all[k].advance(bent);
            }
        }
        Ok((all.into_iter().map(Cg::into_step).collect(), rounds))
    }

    /// Goes along each step to where F is lowest, nearly; says which groups need no other.
    fn advance(&self, cost: f64, groups: &mut [Group], steps: &[Vec<f64>], tolerance: f64) -> Result<()> {
        for (Group { state, .. }, step) in groups.iter_mut().zip(steps) {
            if state.is_last(-0.5 * dot(&state.gradient, step), tolerance) {
                // The step is made all the same: it is paid for.
                state.stop = Some(Stop::Gain);
            }
        }
        let mut lengths: Vec<Option<f64>> = vec![None; groups.len()];
        for shorter in 0..SHORTER {
            let open: Vec<usize> = (0..groups.len()).filter(|&k| lengths[k].is_none()).collect();
            if open.is_empty() {
                break;
            }
            let unit = LENGTHS[0].powi(shorter as i32);
            let moved: Vec<(&Group, &[f64])> = open.iter().map(|&k| (&groups[k], &steps[k][..])).collect();
            let points = self.line(cost, &moved, unit)?;
            open.iter().zip(&points).for_each(|(&k, points)| lengths[k] = best_length(points));
        }
        for ((group, step), length) in groups.iter_mut().zip(steps).zip(lengths) {
            let (has_scale, state) = (group.has_scale(), &mut group.state);
            let Some(length) = length else {
                // What is left is as small as the rounding of F.
                state.stop = state.stop.or(Some(Stop::Stagnation));
                continue;
            };
            let weights = state.weights.iter_mut().flatten();
            weights.zip(step).for_each(|(w, p)| *w += length * p);
            if let (true, Some(scale), Some(p)) = (has_scale, state.loss.scale(), step.last()) {
                state.loss = state.loss.with_scale(scale + length * p);
            }
        }
        Ok(())
    }
}

//! Linear models on held features under any loss, by Newton's method.
//!
//! ```text
//! F(w) = ½‖w‖² + Σ cᵢ·ℓ(yᵢ, sᵢ),   sᵢ = w·zᵢ + b          g = ∂ℓ/∂s,  H = ∂²ℓ/∂s²
//! ∇F   = w + Σ cᵢgᵢzᵢ                                     ∇²F = I + Σ cᵢHᵢ·zᵢzᵢᵀ
//! dual: −Σ cᵢ·ℓ*(gᵢ) − ½‖v‖²,   v = −Σ cᵢgᵢzᵢ = w − ∇F    for every g with Σ cᵢgᵢ = 0, if the constant b is free
//! ```
//! A step solves ∇²F·p = −∇F by conjugate gradients, each at the cost of one pass over the features, and goes along p to where F is lowest, which the scores alone tell. A free constant is
//! moved to its best after each step, so that the slopes are a point of the dual problem: its value and that of w enclose the smallest F, and their gap says when to stop. Where there is no such
//! point (classes under softmax, Huber's loss) the rule is what the next step would gain, −½∇F·p.
//!
//! Losses with corners are rounded (see [`crate::loss`]), less and less: as soon as what is left to gain is a small part of the gap, which is that of the corners, μ falls to a fifth.
//!
//! All outputs go together: what is read of the features serves every one of them. Only rows that bend are read by conjugate gradients; where margins or quantiles are sought they are few.
//! One matrix leads all outputs (`guide.rs`). `docs/book/losses.md`.

mod cg;
mod guide;
mod line;
mod pass;
mod root;
mod row;
mod state;

use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

pub(crate) use self::cg::Cg;
use self::guide::{Curvature, Guide};
pub(crate) use self::line::{LENGTHS, Point, best_length};
use self::pass::PIECE;
pub(crate) use self::pass::{ByColumn, MOST_FACTORED, Passes};
use self::root::root;
pub(crate) use self::row::RowLoss;
pub(crate) use self::state::{State, Terms};
use crate::engine::Check;
use crate::linalg::dot;
use crate::loss::Pointwise;
use crate::{Loss, Result, Scalar};

/// One problem for each output, or for all of them, on the same features.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Newton<'a, T> {
    /// z, with a column of ones if there is a constant.
    pub(crate) features: &'a Passes<'a, T>,
    /// Rows × outputs: numbers; 1 or −1; or, for softmax, a 1 at the class and 0 elsewhere.
    pub(crate) targets: &'a [f64],
    /// cᵢ ≥ 0 for each row; the scores of rows of cost 0 are found too.
    pub(crate) costs: &'a [f64],
    pub(crate) outputs: usize,
    pub(crate) loss: Loss,
    pub(crate) constant: Constant,
    /// Weights to begin with, one vector an output; none for zero.
    pub(crate) start: Option<&'a [Vec<f64>]>,
}

/// Whether a constant is added to the scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Constant {
    /// No.
    None,
    /// Yes, penalised like every coefficient.
    Held,
    /// Yes, at no cost.
    Free,
}

/// Where Newton's method ended, for a group of outputs.
#[derive(Clone, Debug)]
pub(crate) struct Minimum {
    /// w of each output, with the constant last if there is one.
    pub(crate) weights: Vectors,
    /// Rows × outputs of the group.
    pub(crate) scores: Vec<f64>,
    /// F(w).
    pub(crate) primal: f64,
    /// What no weights can be better than, where it is known.
    pub(crate) dual: Option<f64>,
    /// σ, for Huber's loss.
    pub(crate) scale: f64,
    pub(crate) steps: usize,
    pub(crate) stop: Stop,
}

/// Why a solver stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The gap between primal and dual value was small enough.
    Gap,
    /// What another step would have gained was small enough.
    Gain,
    /// As many steps were made as were allowed.
    Steps,
    /// What was left of the equations was small enough.
    Residual,
    /// Rounding left nothing more to gain.
    Stagnation,
}

/// One vector for each direction.
type Vectors = Vec<Vec<f64>>;

/// p of a group, all outputs in one, and what it adds to the scores.
struct Step {
    weights: Vec<f64>,
    reach: Vec<f64>,
}

/// Steps of conjugate gradients within one of Newton's.
const MOST_CG: usize = 200;

/// Steps of conjugate gradients after which their guide is made anew.
pub(crate) const LED_ASTRAY: usize = 12;

/// Bends that have grown or shrunk by no more than this are led as before: the condition is no more than that from what another factor would make it.
const NEAR: f64 = 1.25;

impl<T: Scalar> Newton<'_, T> {
    /// Goes on until what is left to gain is at most `tolerance` of F, or for `most` steps.
    pub(crate) fn solve(&self, tolerance: f64, most: usize, check: Check<'_>) -> Result<Vec<Minimum>> {
        let all: Vec<u32> = (0..self.costs.len() as u32).collect();
        let mut going = self.begin(&all, check)?;
        let groups = going.len();
        let mut done: Vec<Option<Minimum>> = vec![None; groups];
        // What leads: at first a matrix that all problems on these rows share, then, where that takes long, one of this problem's own.
        let (mut own, mut is_astray): (Option<(Curvature, f64)>, bool) = (None, false);
        let mut leading: Option<(Guide, f64)> = None;
        // Passes ask whether to go on; how far this is, the rounds tell.
        let (tell, finished) = (check, AtomicUsize::new(0));
        let check: Check<'_> = &|_| tell(finished.load(Ordering::Relaxed) as f64 / groups as f64);
        for round in 0..=most {
            self.features.engine().for_each_mut(&mut going, &|_, state| self.settle(state));
            self.gradients(&mut going, round, check)?;
            // Corners that are rounded more than steps are missed: less, without a step.
            // (All of them, so no `any`.)
            while going.iter_mut().filter_map(|state| state.sharpen(tolerance).then_some(())).count() > 0 {
                self.features.engine().for_each_mut(&mut going, &|_, state| self.settle(state));
                self.gradients(&mut going, round, check)?;
            }
            for state in &mut going {
                if state.is_within(tolerance) {
                    state.stop = Some(Stop::Gap);
                } else if round == most {
                    state.stop = state.stop.or(Some(Stop::Steps));
                }
            }
            for state in going.extract_if(.., |state| state.stop.is_some()) {
                let place = state.first / state.width;
                done[place] = Some(state.end(round));
            }
            if going.is_empty() {
                break;
            }
            let rows = self.rows(&going, |state, y, s| state.loss.curvature(y, s) > 0.0);
            let mut bends = vec![0.0; rows.len()];
            self.features.engine().for_each_chunk(&mut bends, PIECE, &|piece, bends| {
                let rows = &rows[piece * PIECE..];
                bends.iter_mut().zip(rows).for_each(|(to, &i)| *to = self.bend(&going, i as usize));
            });
            let total: f64 = bends.iter().sum();
            // Where corners are sought, what bends is few rows, and others each time.
            if is_astray || self.loss.has_corners() {
                let mut weights = vec![0.0; self.costs.len()];
                rows.iter().zip(&bends).for_each(|(&i, bend)| weights[i as usize] = *bend);
                leading = None;
                drop(own.take()); // before there is another
                own = Some((self.features.curvature(&rows, &|i| weights[i], check)?, total));
            }
            let (curvature, built) = match &own {
                Some((curvature, built)) => (curvature, *built),
                None => (self.features.plain(check)?, self.costs.len() as f64),
            };
            let share = if built > 0.0 { total / built } else { 0.0 };
            leading = leading.filter(|(_, before)| share <= NEAR * before && *before <= NEAR * share);
            let (guide, _) = match &leading {
                Some(leading) => leading,
                None => leading.insert((curvature.guide(self.features.engine(), share, check)?, share)),
            };
            let (mut steps, rounds) = self.steps(&going, &rows, guide, check)?;
            is_astray = rounds > LED_ASTRAY;
            self.reach(&all, &rows, &mut steps, check)?;
            self.advance(&mut going, &steps, tolerance);
            finished.store(groups - going.len(), Ordering::Relaxed);
        }
        Ok(done.into_iter().flatten().collect())
    }

    /// All groups at their start.
    fn begin(&self, all: &[u32], check: Check<'_>) -> Result<Vec<State>> {
        let (n, size) = (self.costs.len(), self.features.size());
        let mut states = State::all(self.loss, self.outputs, size, n, self.start);
        if self.start.is_some() {
            let directions: Vec<&[f64]> =
                states.iter().flat_map(|s| s.weights.iter().map(|w| &w[..])).collect();
            let reach = self.features.pass(all, &directions, None, check)?.0;
            for (k, state) in states.iter_mut().enumerate() {
                state.scores = part(&reach, self.outputs, k * state.width, state.width);
            }
        }
        self.features.engine().for_each_mut(&mut states, &|_, state| self.unit(state));
        Ok(states)
    }

    /// How wide corners are rounded, and how large errors are, at first: as the errors of the scores are.
    fn unit(&self, state: &mut State) {
        if !state.has_unit() {
            return;
        }
        let (targets, outputs, first) = (self.targets, self.outputs, state.first);
        let error = |i: usize| targets[i * outputs + first] - state.scores[i];
        let [weight, sum] = self.total(1, |i, _| [1.0, error(i)]);
        let mean = if self.constant == Constant::Free { sum / weight } else { 0.0 };
        let [size] = self.total(1, |i, _| [(error(i) - mean).abs()]);
        state.measure(size / weight);
    }

    fn target(&self, i: usize, state: &State) -> &[f64] {
        &self.targets[i * self.outputs + state.first..][..state.width]
    }

    /// 1 for what is penalised, 0 for a constant that is free.
    fn held(&self, j: usize) -> f64 {
        let is_free = self.constant == Constant::Free && j + 1 == self.features.size();
        if is_free { 0.0 } else { 1.0 }
    }

    /// Σ cᵢ·f(i) over all rows that count, pieces in their order; f has two vectors of `width` to work in.
    fn total<const K: usize>(
        &self,
        width: usize,
        f: impl Fn(usize, &mut [f64]) -> [f64; K] + Sync,
    ) -> [f64; K] {
        let n = self.costs.len();
        let piece = |p: usize| {
            let (mut sums, mut memory) = ([0.0; K], vec![0.0; 2 * width]);
            for i in p * PIECE..n.min((p + 1) * PIECE) {
                if self.costs[i] > 0.0 {
                    let found = f(i, &mut memory);
                    sums.iter_mut().zip(found).for_each(|(s, f)| *s += self.costs[i] * f);
                }
            }
            sums
        };
        let pieces = self.features.engine().map(n.div_ceil(PIECE), &piece);
        pieces.iter().fold([0.0; K], |mut total, piece| {
            total.iter_mut().zip(piece).for_each(|(t, p)| *t += p);
            total
        })
    }

    /// Rows that count and for which something holds in some group.
    fn rows(&self, states: &[State], holds: impl Fn(&State, &[f64], &[f64]) -> bool + Sync) -> Vec<u32> {
        let counts = |i: usize| {
            self.costs[i] > 0.0 && states.iter().any(|s| holds(s, self.target(i, s), s.scores_of(i)))
        };
        let n = self.costs.len();
        let piece = |p: usize| -> Vec<u32> {
            (p * PIECE..n.min((p + 1) * PIECE)).filter(|&i| counts(i)).map(|i| i as u32).collect()
        };
        self.features.engine().map(n.div_ceil(PIECE), &piece).concat()
    }

    /// cᵢ times the mean bend of row i.
    fn bend(&self, states: &[State], i: usize) -> f64 {
        let bend = |s: &State| s.loss.curvature(self.target(i, s), s.scores_of(i)) * s.width as f64;
        let width: usize = states.iter().map(|s| s.width).sum();
        self.costs[i] * states.iter().map(bend).sum::<f64>() / width as f64
    }

    /// Moves a free constant, and the size of errors, to where F is lowest.
    fn settle(&self, state: &mut State) {
        let RowLoss::Single(mut loss) = state.loss else { return };
        let is_huber = matches!(loss.loss, Loss::Huber { .. });
        for _ in 0..if is_huber { 3 } else { 1 } {
            if is_huber {
                loss.scale = self.scale(state, &loss);
            }
            if self.constant == Constant::Free {
                let shift = self.shift(state, &loss);
                state.scores.iter_mut().for_each(|s| *s += shift);
                if let Some(constant) = state.weights[0].last_mut() {
                    *constant += shift;
                }
            }
        }
        state.loss = RowLoss::Single(loss);
    }

    /// What to add to all scores, so that Σ c·g = 0.
    fn shift(&self, state: &State, loss: &Pointwise) -> f64 {
        let y = |i: usize| self.targets[i * self.outputs + state.first];
        let at = |shift: f64| {
            let [slope, bend] = self.total(1, |i, _| {
                let s = state.scores[i] + shift;
                [loss.slope(y(i), s), loss.bend(y(i), s)]
            });
            (slope, bend)
        };
        let [size, error, weight] = self
            .total(1, |i, _| [loss.slope(y(i), state.scores[i]).abs(), (y(i) - state.scores[i]).abs(), 1.0]);
        let unit = (error / weight).max(f64::MIN_POSITIVE);
        root(at, 0.0, (f64::NEG_INFINITY, f64::INFINITY), unit, 1e-14 * size).unwrap_or(0.0)
    }

    /// σ of Huber's loss: Σ c·(1 − min(r²/σ², ε²)) = 0.
    fn scale(&self, state: &State, loss: &Pointwise) -> f64 {
        let Loss::Huber { epsilon } = loss.loss else { return loss.scale };
        let error = |i: usize| (self.targets[i * self.outputs + state.first] - state.scores[i]).abs();
        let largest = (0..self.costs.len()).filter(|&i| self.costs[i] > 0.0).map(error).fold(0.0, f64::max);
        let smallest = 1e-9 * largest;
        if !(largest > 0.0) {
            return loss.scale;
        }
        let at = |scale: f64| {
            let [value, slope, weight] = self.total(1, |i, _| {
                let u = error(i) / scale;
                if u < epsilon {
                    [1.0 - u * u, 2.0 * u * u / scale, 1.0]
                } else {
                    [1.0 - epsilon * epsilon, 0.0, 1.0]
                }
            });
            (value / weight, slope / weight)
        };
        // More errors are exactly zero than ε allows for: nothing tells how large they are.
        if at(smallest).0 >= 0.0 {
            return smallest;
        }
        root(at, loss.scale, (smallest, largest * (1.0 + 1e-9)), largest, 1e-13).unwrap_or(loss.scale)
    }

    /// ∇F of each group, and its place between primal and dual value.
    fn gradients(&self, states: &mut [State], round: usize, check: Check<'_>) -> Result<()> {
        let has_slope = |state: &State, y: &[f64], s: &[f64]| match &state.loss {
            RowLoss::Single(loss) => loss.slope(y[0], s[0]) != 0.0,
            RowLoss::Softmax => true,
        };
        let rows = self.rows(states, has_slope);
        let pulls = |i: usize, _: &[f64], out: &mut [f64]| {
            let mut at = 0;
            for state in states.iter() {
                let out = &mut out[at..at + state.width];
                state.loss.slope(self.target(i, state), state.scores_of(i), out);
                out.iter_mut().for_each(|g| *g *= self.costs[i]);
                at += state.width;
            }
        };
        let none = vec![&[][..]; states.iter().map(|s| s.width).sum()];
        let (_, sums) = self.features.pass(&rows, &none, Some(&pulls), check)?;
        let mut sums = sums.into_iter();
        for state in states {
            let mut norm = 0.0;
            state.gradient.clear();
            for weights in &state.weights {
                let sum = sums.next().unwrap_or_default();
                for (j, (w, s)) in weights.iter().zip(&sum).enumerate() {
                    let held = self.held(j);
                    state.gradient.push(held * w + s);
                    norm += held * s * s;
                }
            }
            self.evaluate(state, norm);
            if round == 0 {
                state.first_gradient = dot(&state.gradient, &state.gradient).sqrt();
            }
        }
        Ok(())
    }

    /// F of a group, and its dual value given ‖v‖².
    fn evaluate(&self, state: &mut State, norm: f64) {
        let sums = self.total(state.width, |i, memory| {
            let (y, s, slope) = (self.target(i, state), state.scores_of(i), &mut memory[..state.width]);
            state.loss.slope(y, s, slope);
            state.terms(y, s, slope)
        });
        state.judge(self.constant, sums, norm);
    }

    /// p of each group, all at once, and the steps of conjugate gradients that it took.
    fn steps(
        &self,
        states: &[State],
        rows: &[u32],
        guide: &Guide,
        check: Check<'_>,
    ) -> Result<(Vec<Step>, usize)> {
        let size = self.features.size();
        // Where only some rows bend, the others must be met anyway.
        let is_all = rows.len() == self.costs.len();
        let reach = |state: &State| vec![0.0; if is_all { rows.len() * state.width } else { 0 }];
        let mut reaches: Vectors = states.iter().map(reach).collect();
        let mut all: Vec<Cg> = states.iter().map(|state| state.conjugate()).collect();
        let mut rounds = 0;
        while rounds < MOST_CG {
            let going: Vec<usize> = (0..all.len()).filter(|&k| !all[k].is_done()).collect();
            if going.is_empty() {
                break;
            }
            rounds += 1;
            let residuals: Vec<&[f64]> = going.iter().flat_map(|&k| all[k].residual().chunks(size)).collect();
            let mut led = guide.lead(self.features.engine(), &residuals).into_iter();
            for &k in &going {
                let led: Vec<f64> = led.by_ref().take(states[k].width).flatten().collect();
                all[k].turn(&led);
            }
            let going: Vec<usize> = going.into_iter().filter(|&k| !all[k].is_done()).collect();
            if going.is_empty() {
                break;
            }
            let directions: Vec<&[f64]> =
                going.iter().flat_map(|&k| all[k].direction().chunks(size)).collect();
            let bend = |i: usize, reach: &[f64], out: &mut [f64]| {
                let mut at = 0;
                for &k in &going {
                    let (state, part) = (&states[k], at..at + states[k].width);
                    let (y, s, out) = (self.target(i, state), state.scores_of(i), &mut out[part.clone()]);
                    state.loss.bend(y, s, &reach[part], out);
                    out.iter_mut().for_each(|v| *v *= self.costs[i]);
                    at += state.width;
                }
            };
            let (reach, bent) = self.features.pass(rows, &directions, Some(&bend), check)?;
            let (mut bent, mut at, outputs) = (bent.into_iter(), 0, directions.len());
            for &k in &going {
                let width = states[k].width;
                let mut bent: Vec<f64> = bent.by_ref().take(width).flatten().collect();
                for (j, (b, d)) in bent.iter_mut().zip(all[k].direction()).enumerate() {
                    *b += self.held(j % size) * d;
                }
                let length = all[k].advance(&bent);
                let here = reach.chunks_exact(outputs).flat_map(|row| &row[at..at + width]);
                // (A direction that is not finite has no length.)
                if is_all && length > 0.0 {
                    reaches[k].iter_mut().zip(here).for_each(|(sum, reach)| *sum += length * reach);
                }
                at += width;
            }
        }
        let steps = all.into_iter().zip(reaches);
        Ok((steps.map(|(cg, reach)| Step { weights: cg.into_step(), reach }).collect(), rounds))
    }

    /// Finds what steps add to the scores of all rows; where all of them bend, conjugate gradients have found it on their way.
    fn reach(&self, all: &[u32], rows: &[u32], steps: &mut [Step], check: Check<'_>) -> Result<()> {
        if rows.len() == all.len() {
            return Ok(());
        }
        let size = self.features.size();
        let directions: Vec<&[f64]> = steps.iter().flat_map(|step| step.weights.chunks(size)).collect();
        let (reach, count) = (self.features.pass(all, &directions, None, check)?.0, directions.len());
        let mut at = 0;
        for step in steps {
            let width = step.weights.len() / size;
            step.reach = part(&reach, count, at, width);
            at += width;
        }
        Ok(())
    }

    /// Goes along each step to where F is lowest; says which groups need no other.
    fn advance(&self, states: &mut [State], steps: &[Step], tolerance: f64) {
        for (state, Step { weights: step, reach }) in states.iter_mut().zip(steps) {
            if state.is_last(-0.5 * dot(&state.gradient, step), tolerance) {
                // The step is made all the same: it is paid for.
                state.stop = Some(Stop::Gain);
            }
            let length = self.line_search(state, step, reach);
            let weights = state.weights.iter_mut().flatten();
            weights.zip(step).for_each(|(w, p)| *w += length * p);
            state.scores.iter_mut().zip(reach).for_each(|(s, q)| *s += length * q);
        }
    }

    /// The t > 0 at which F(w + tp) is lowest: the root of an increasing function.
    fn line_search(&self, state: &State, step: &[f64], reach: &[f64]) -> f64 {
        let size = self.features.size();
        let (mut wp, mut pp) = (0.0, 0.0);
        for (j, (w, p)) in state.weights.iter().flatten().zip(step).enumerate() {
            let held = self.held(j % size);
            wp += held * w * p;
            pp += held * p * p;
        }
        let width = state.width;
        // F′ and F″ along p.
        let slope = |t: f64| {
            let [first, second] = self.total(width, |i, memory| {
                let (y, q) = (self.target(i, state), &reach[i * width..(i + 1) * width]);
                let (s, out) = memory.split_at_mut(width);
                let out = &mut out[..width];
                s.iter_mut().zip(state.scores_of(i)).zip(q).for_each(|((s, score), q)| *s = score + t * q);
                state.loss.slope(y, s, out);
                let first: f64 = out.iter().zip(q).map(|(g, q)| g * q).sum();
                state.loss.bend(y, s, q, out);
                [first, out.iter().zip(q).map(|(h, q)| h * q).sum()]
            });
            (wp + t * pp + first, pp + second)
        };
        let begin = slope(0.0).0.abs();
        root(slope, 1.0, (0.0, f64::INFINITY), 1.0, 1e-3 * begin).unwrap_or(0.0)
    }
}

/// Some columns of a matrix of `columns`, row-major.
fn part(all: &[f64], columns: usize, first: usize, count: usize) -> Vec<f64> {
    all.chunks_exact(columns.max(1)).flat_map(|row| row[first..first + count].iter().copied()).collect()
}

#[cfg(test)]
mod tests;

//! The three passes of streamed Newton's method: gradients, products with the Hessian, and looks along a step.

use super::descent::{Descent, Group};
use crate::Result;
use crate::learn::streamed::Job;
use crate::linalg::dot;
use crate::solve::{LENGTHS, Point, RowLoss, Terms};

/// Sums of a row that are a group's alone: those of its state, bends, and what σ adds.
const SUMS: usize = 9;

/// σ is left this part of itself, at least, by a step.
const LEAST_SCALE: f64 = 0.05;

impl Descent<'_> {
    /// F, ∇F and the dual value of each group: one pass.
    pub(super) fn gradients(&self, cost: f64, groups: &mut [Group], is_first: bool) -> Result<()> {
        let (directions, constants) = self.weights(groups.iter());
        let back = directions.len();
        let total = self.stream.pass(&Job {
            directions: &directions,
            constants: &constants,
            back,
            plain: SUMS * groups.len(),
            squares: false,
            values: &|block, i, reach, out| {
                out.fill(0.0);
                if !self.counts(block, i) {
                    return;
                }
                let cost = cost * block.weights[i];
                let (pulls, sums) = out.split_at_mut(back);
                let mut at = 0;
                for (group, sums) in groups.iter().zip(sums.chunks_exact_mut(SUMS)) {
                    let state = &group.state;
                    let part = at..at + state.width;
                    let (y, s, pulls) =
                        (self.target(block, i, state), &reach[part.clone()], &mut pulls[part]);
                    state.loss.slope(y, s, pulls);
                    let bend = state.loss.curvature(y, s);
                    let (scale_slope, u) = state.loss.scale_slope(y, s);
                    let rest = [bend, f64::from(u8::from(bend > 0.0)), scale_slope, bend * u * u];
                    sums[..SUMS - 4].copy_from_slice(&state.terms(y, s, pulls));
                    sums[SUMS - 4..].copy_from_slice(&rest);
                    sums.iter_mut().chain(pulls).for_each(|value| *value *= cost);
                    at += state.width;
                }
            },
        })?;
        let vectors = total.vectors;
        let (pulls, sums) = total.plain.split_at(back);
        let mut outputs = vectors.iter().zip(pulls);
        for (group, sums) in groups.iter_mut().zip(sums.chunks_exact(SUMS)) {
            let (mut norm, mut gradient) = (0.0, Vec::with_capacity(group.state.gradient.capacity()));
            for weights in &group.state.weights {
                let Some((vector, pull)) = outputs.next() else { break };
                for (j, (w, s)) in weights.iter().zip(vector.iter().chain([pull])).enumerate() {
                    let held = self.held(j);
                    gradient.push(held * w + s);
                    norm += held * s * s;
                }
            }
            let &[losses, conjugates, pull, error, weight, bend, bending, scale_slope, scale_bend] = sums
            else {
                continue;
            };
            if group.has_scale() {
                gradient.push(scale_slope);
            }
            let terms: Terms = [losses, conjugates, pull, error, weight];
            (group.bend, group.mean_bend, group.scale_bend) = (bend, bend / weight, scale_bend);
            (group.bending, group.error) = (bending / weight, error / weight);
            group.state.gradient = gradient;
            group.state.judge(self.constant, terms, norm);
            if is_first {
                group.state.first_gradient = dot(&group.state.gradient, &group.state.gradient).sqrt();
            }
        }
        Ok(())
    }

    /// ∇²F of some groups times a vector each: one pass.
    pub(super) fn bent(&self, cost: f64, moved: &[(&Group, &[f64])]) -> Result<Vec<Vec<f64>>> {
        let (mut directions, mut constants) = self.weights(moved.iter().map(|(group, _)| *group));
        let back = directions.len();
        let (along, more) = self.split(moved.iter().flat_map(|(group, v)| self.outputs(group, v)));
        directions.extend(along);
        constants.extend(more);
        let total = self.stream.pass(&Job {
            directions: &directions,
            constants: &constants,
            back,
            plain: moved.len(),
            squares: false,
            values: &|block, i, reach, out| {
                out.fill(0.0);
                if !self.counts(block, i) {
                    return;
                }
                let cost = cost * block.weights[i];
                let (scores, reach) = reach.split_at(back);
                let (out, scales) = out.split_at_mut(back);
                let mut at = 0;
                for ((group, vector), scale) in moved.iter().zip(scales) {
                    let state = &group.state;
                    let part = at..at + state.width;
                    let (y, s, out) =
                        (self.target(block, i, state), &scores[part.clone()], &mut out[part.clone()]);
                    if let (true, Some(v)) = (group.has_scale(), vector.last()) {
                        let (_, u) = state.loss.scale_slope(y, s);
                        state.loss.bend(y, s, &[reach[at] + u * v], out);
                        *scale = cost * u * out[0];
                    } else {
                        state.loss.bend(y, s, &reach[part], out);
                    }
                    out.iter_mut().for_each(|v| *v *= cost);
                    at += state.width;
                }
            },
        })?;
        let vectors = total.vectors;
        let (sums, scales) = total.plain.split_at(back);
        let mut sums = vectors.iter().zip(sums);
        let whole = |((group, vector), scale): (&(&Group, &[f64]), &f64)| {
            let mut bent = Vec::with_capacity(vector.len());
            for v in self.outputs(group, vector) {
                let Some((sum, constant)) = sums.next() else { break };
                let entries = sum.iter().chain([constant]).zip(v).enumerate();
                bent.extend(entries.map(|(j, (sum, v))| self.held(j) * v + sum));
            }
            bent.extend(group.has_scale().then_some(*scale));
            bent
        };
        Ok(moved.iter().zip(scales).map(whole).collect())
    }

    /// F and F′ at some lengths of a step of each group, from 0 on: one pass.
    pub(super) fn line(&self, cost: f64, moved: &[(&Group, &[f64])], unit: f64) -> Result<Vec<Vec<Point>>> {
        let (mut directions, mut constants) = self.weights(moved.iter().map(|(group, _)| *group));
        let outputs = directions.len();
        let (along, more) = self.split(moved.iter().flat_map(|(group, v)| self.outputs(group, v)));
        directions.extend(along);
        constants.extend(more);
        let lengths: Vec<Vec<f64>> = moved.iter().map(|(group, step)| lengths(group, step, unit)).collect();
        let count = LENGTHS.len() + 1;
        let widest = moved.iter().map(|(group, _)| group.state.width).max().unwrap_or(0);
        let total = self.stream.pass(&Job {
            directions: &directions,
            constants: &constants,
            back: 0,
            plain: 2 * count * moved.len(),
            squares: false,
            values: &|block, i, reach, out| {
                out.fill(0.0);
                if !self.counts(block, i) {
                    return;
                }
                let cost = cost * block.weights[i];
                let (scores, reach) = reach.split_at(outputs);
                let mut memory = vec![0.0; 2 * widest];
                let mut at = 0;
                for (((group, step), lengths), out) in
                    moved.iter().zip(&lengths).zip(out.chunks_exact_mut(2 * count))
                {
                    let state = &group.state;
                    let part = at..at + state.width;
                    let (s, q) = (&scores[part.clone()], &reach[part]);
                    let y = self.target(block, i, state);
                    let scale_step =
                        if group.has_scale() { step.last().copied().unwrap_or(0.0) } else { 0.0 };
                    for (&t, out) in lengths.iter().zip(out.chunks_exact_mut(2)) {
                        let (value, slope) = moved_loss(&state.loss, y, s, q, scale_step, t, &mut memory);
                        out.copy_from_slice(&[cost * value, cost * slope]);
                    }
                    at += state.width;
                }
            },
        })?;
        let sums = total.plain.chunks_exact(2 * count);
        let each = moved.iter().zip(&lengths).zip(sums);
        Ok(each.map(|(((group, step), lengths), sums)| self.points(group, step, lengths, sums)).collect())
    }

    /// The penalty added to sums of losses and their slopes.
    fn points(&self, group: &Group, step: &[f64], lengths: &[f64], sums: &[f64]) -> Vec<Point> {
        let (mut ww, mut wp, mut pp) = (0.0, 0.0, 0.0);
        for (weights, step) in group.state.weights.iter().zip(self.outputs(group, step)) {
            for (j, (w, p)) in weights.iter().zip(step).enumerate() {
                let held = self.held(j);
                (ww, wp, pp) = (ww + held * w * w, wp + held * w * p, pp + held * p * p);
            }
        }
        let point = |(&length, sums): (&f64, &[f64])| Point {
            length,
            value: 0.5 * ww + length * (wp + 0.5 * length * pp) + sums[0],
            slope: wp + length * pp + sums[1],
        };
        lengths.iter().zip(sums.chunks_exact(2)).map(point).collect()
    }
}

/// 0 and the lengths to look at, none of which takes σ to zero.
fn lengths(group: &Group, step: &[f64], unit: f64) -> Vec<f64> {
    let most = match (group.state.loss.scale(), step.last()) {
        (Some(scale), Some(&p)) if p < 0.0 => (1.0 - LEAST_SCALE) * scale / -p,
        _ => f64::INFINITY,
    };
    std::iter::once(0.0).chain(LENGTHS.map(|t| (t * unit).min(most))).collect()
}

/// ℓ and its derivative at s + tq and σ + tp, given room for two rows.
fn moved_loss(
    loss: &RowLoss,
    y: &[f64],
    s: &[f64],
    q: &[f64],
    p: f64,
    t: f64,
    memory: &mut [f64],
) -> (f64, f64) {
    let (moved, slopes) = memory.split_at_mut(memory.len() / 2);
    let (moved, slopes) = (&mut moved[..s.len()], &mut slopes[..s.len()]);
    moved.iter_mut().zip(s).zip(q).for_each(|((m, s), q)| *m = s + t * q);
    let loss = loss.scale().map_or(*loss, |scale| loss.with_scale(scale + t * p));
    loss.slope(y, moved, slopes);
    let along_scale = p * loss.scale_slope(y, moved).0;
    (loss.value(y, moved), slopes.iter().zip(q).map(|(g, q)| g * q).sum::<f64>() + along_scale)
}

//! The steps themselves, the same for all strategies.
//!
//! ```text
//! c = a·v:    s = a·(v·z),    a ← a·(1 − 2ηλ),    v ← v − (ηℓ′(y, s)/a)·z          z: features of the row, or its kernel values with v ← v − (ηℓ′/a)·eᵢ
//! ```
//! v is moved also where ℓ′ is zero: a step costs the same whatever the row, and the plan need not know the data. With a decreasing rate
//! a = t₀/(t + t₀); with a constant one it would vanish in time, and is multiplied out when it is small.

use bochner_simd::{Isa, RowsRef, project, project_back};

use super::made::Maker;
use crate::engine::Check;
use crate::loss::Pointwise;
use crate::plan::{Counts, ROUND};
use crate::random::{Draws, Stream};
use crate::{Error, Result, Scalar};

/// A scale below this is multiplied out: weights stay far from the largest numbers there are.
const LEAST_SCALE: f64 = 1e-100;

/// Rows made between two looks at the observer, where they are kept.
const BETWEEN_LOOKS: usize = 1024;

/// Which row is visited when.
pub(super) struct Visits {
    seed: u64,
    /// Running sums of the weights.
    sums: Vec<f64>,
}

impl Visits {
    pub(super) fn new(seed: u64, weights: &[f64]) -> Visits {
        let running = |sum: &mut f64, weight: &f64| {
            *sum += weight;
            Some(*sum)
        };
        Visits { seed, sums: weights.iter().scan(0.0, running).collect() }
    }

    /// The row of step t, from 0: each as often as its weight says.
    pub(super) fn row(&self, t: u64) -> usize {
        let total = self.sums.last().copied().unwrap_or(0.0);
        let at = Draws::new(self.seed, Stream::Visits, t).uniform() * total;
        self.sums.partition_point(|&sum| sum <= at).min(self.sums.len().saturating_sub(1))
    }
}

/// How long each step is.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    lambda: f64,
    /// t₀; none for steps of one length.
    delay: Option<f64>,
    step: f64,
}

impl Pace {
    pub(super) fn constant(lambda: f64, step: f64) -> Pace {
        Pace { lambda, delay: None, step }
    }

    /// With a first step of that length.
    pub(super) fn decreasing(lambda: f64, first: f64) -> Pace {
        Pace { lambda, delay: Some(0.5 / (lambda * first) - 1.0), step: first }
    }

    /// η of step t, from 0.
    fn at(&self, t: u64) -> f64 {
        match self.delay {
            Some(delay) => 0.5 / (self.lambda * (t as f64 + 1.0 + delay)),
            None => self.step,
        }
    }

    /// 1 − 2ηλ.
    fn shrinks_by(&self, t: u64) -> f64 {
        1.0 - 2.0 * self.lambda * self.at(t)
    }
}

/// A descent that is about to begin.
pub(super) struct Descent<'a, T> {
    pub(super) maker: &'a Maker<'a, T>,
    pub(super) visits: &'a Visits,
    pub(super) pace: Pace,
    pub(super) loss: Pointwise,
    pub(super) steps: u64,
    /// Whether all rows are made first.
    pub(super) is_cached: bool,
    pub(super) outputs: usize,
}

/// Where it ended.
pub(super) struct Found {
    /// Outputs × width.
    pub(super) weights: Vec<f64>,
    /// Of the rows of the second half of the visits, each before its step; summed over outputs.
    pub(super) mean_loss: f64,
    /// Stored entries of the rows visited.
    pub(super) visited: u64,
    /// How often the scale was multiplied out before the end.
    pub(super) rescalings: u64,
    pub(super) counts: Counts,
}

impl<T: Scalar> Descent<'_, T> {
    /// `target(i, o)` is y of output o.
    pub(super) fn run(
        &self,
        target: &(dyn Fn(usize, usize) -> f64 + Sync),
        check: Check<'_>,
    ) -> Result<Found> {
        let width = self.maker.width();
        let mut counts = Counts::default();
        let mut weights = Weights::new(self.maker.isa(), self.outputs, width, self.maker.has_values())?;
        let rows = if self.is_cached {
            self.maker.count()
        } else {
            ROUND.min(usize::try_from(self.steps).unwrap_or(ROUND))
        };
        let mut made: Vec<T> = zeros(rows, width)?;
        counts.memory_bytes += (size_of_val(&*weights.values) + size_of_val(&*made)) as u128;
        counts.memory_bytes += self.maker.matrix_bytes();
        if self.is_cached {
            let all: Vec<usize> = (0..rows).collect();
            for (some, out) in all.chunks(BETWEEN_LOOKS).zip(made.chunks_mut((BETWEEN_LOOKS * width).max(1)))
            {
                self.maker.fill(some, out, &mut counts)?;
                check(0.0)?;
            }
        }
        let (mut loss, half, mut visited) = (0.0, self.steps / 2, 0);
        for start in (0..self.steps).step_by(ROUND) {
            let end = self.steps.min(start.saturating_add(ROUND as u64));
            let numbers: Vec<usize> = (start..end).map(|t| self.visits.row(t)).collect();
            visited += numbers.iter().map(|&i| self.maker.entries_of(i)).sum::<u64>();
            if !self.is_cached {
                self.maker.fill(&numbers, &mut made[..numbers.len() * width], &mut counts)?;
            }
            for (b, (t, &i)) in (start..end).zip(&numbers).enumerate() {
                let at = if self.is_cached { i } else { b };
                let z = &made[at * width..(at + 1) * width];
                let lost = weights.step(
                    z,
                    i,
                    |o, s| {
                        let y = target(i, o);
                        (self.loss.value(y, s), self.pace.at(t) * self.loss.slope(y, s))
                    },
                    self.pace.shrinks_by(t),
                    &mut counts,
                );
                loss += if t >= half { lost } else { 0.0 };
            }
            check(end as f64 / self.steps as f64)?;
        }
        let rescalings = weights.rescalings;
        weights.rescale(&mut counts);
        let mean_loss = loss / (self.steps - half) as f64;
        Ok(Found { weights: weights.values, mean_loss, visited, rescalings, counts })
    }
}

/// c of each output, as a·v.
struct Weights {
    /// v: outputs × width.
    values: Vec<f64>,
    scale: f64,
    rescalings: u64,
    width: usize,
    /// Whether a step moves the weight of the row visited and no other.
    by_row: bool,
    scores: Vec<f64>,
    moves: Vec<f64>,
    isa: Isa,
}

impl Weights {
    fn new(isa: Isa, outputs: usize, width: usize, by_row: bool) -> Result<Weights> {
        Ok(Weights {
            values: zeros(outputs, width)?,
            scale: 1.0,
            rescalings: 0,
            width,
            by_row,
            scores: vec![0.0; outputs],
            moves: vec![0.0; outputs],
            isa,
        })
    }

    /// One step on row i, of which z was made. `of` says of an output and its score what is lost, and η times the slope; the sum of what is lost comes back.
    fn step<T: Scalar>(
        &mut self,
        z: &[T],
        i: usize,
        of: impl Fn(usize, f64) -> (f64, f64),
        shrinks_by: f64,
        counts: &mut Counts,
    ) -> f64 {
        let (width, row) = (self.width, || RowsRef { data: z, count: 1, stride: z.len() });
        self.scores.fill(0.0);
        project(self.isa, row(), width, &self.values, &mut self.scores);
        counts.multiply_adds += self.values.len() as u128;
        counts.bytes_moved += (size_of_val(z) + size_of_val(&*self.values)) as u128;
        let scale = self.scale * shrinks_by;
        let mut lost = 0.0;
        for (o, (score, moves)) in self.scores.iter().zip(&mut self.moves).enumerate() {
            let (loss, step) = of(o, self.scale * score);
            lost += loss;
            *moves = -step / scale;
        }
        self.scale = scale;
        if self.by_row {
            let own = self.values.chunks_exact_mut(width).zip(&self.moves);
            own.for_each(|(values, moves)| values[i] += moves);
            counts.multiply_adds += self.moves.len() as u128;
            counts.bytes_moved += 2 * size_of_val(&*self.moves) as u128;
        } else {
            project_back(self.isa, row(), width, &self.moves, &mut self.values);
            counts.multiply_adds += self.values.len() as u128;
            counts.bytes_moved += (size_of_val(z) + 2 * size_of_val(&*self.values)) as u128;
        }
        if self.scale < LEAST_SCALE {
            self.rescale(counts);
        }
        lost
    }

    /// Multiplies the scale out.
    fn rescale(&mut self, counts: &mut Counts) {
        let scale = std::mem::replace(&mut self.scale, 1.0);
        self.rescalings += 1;
        self.values.iter_mut().for_each(|value| *value *= scale);
        counts.multiply_adds += self.values.len() as u128;
        counts.bytes_moved += 2 * size_of_val(&*self.values) as u128;
    }
}

/// Memory that was planned and checked; where it is not to be had all the same, an error.
fn zeros<N: Clone + Default>(rows: usize, width: usize) -> Result<Vec<N>> {
    let mut all = Vec::new();
    let count = rows.checked_mul(width).filter(|&count| all.try_reserve_exact(count).is_ok());
    let Some(count) = count else {
        let needed = (rows as u64).saturating_mul(width as u64).saturating_mul(size_of::<N>() as u64);
        let limit = crate::plan::available_memory().unwrap_or(u64::MAX);
        return Err(Error::Memory { what: format!("{rows} × {width} numbers"), needed, limit });
    };
    all.resize(count, N::default());
    Ok(all)
}

//! The descent in α: pairs, shrinking, and what is caught up afterwards.
//!
//! ```text
//! eᵢ = yᵢ − Σⱼ αⱼyⱼkᵢⱼ          α is optimal when no row that may rise has an error above that of one that may fall:
//! m = max {eᵢ : yᵢαᵢ may rise},  M = min {eᵢ : yᵢαᵢ may fall},    m − M ≤ tolerance
//! step: i attains m;  j gains most, (m − eⱼ)²/(kᵢᵢ + kⱼⱼ − 2kᵢⱼ);   yᵢαᵢ += s, yⱼαⱼ −= s,  e −= s·(kᵢ − kⱼ)
//! ```
//! A row at a bound whose error lies on the right side of all others rests: its error is no longer kept up, and kernel rows get shorter.
//! Steps use kernel rows in single precision. When the active rows have settled, all rows catch up in double precision on what changed since
//! they last did, e −= Σ yⱼ(αⱼ − αⱼ then)·kⱼ over the rows whose α is another now, many rows at a time; the descent goes on from there.
//! They also do when rounding may have moved errors by a part of the violation, as it does where the kernel's matrix is nearly singular.
//! So rounding and rest slow it down at most: where it ends is decided by the kernel itself. Rows that left a bound and came
//! back cost nothing, and from the second time on there is little to catch up on.

use bochner_simd::{Extremes, Isa, Room, best_partner, move_errors};

use super::cache::Cache;
use super::rows::{KernelRows, Pace, Side};
use crate::engine::Check;
use crate::{Error, Result, Scalar};

/// Curvatures below this count as this: two rows that are the same have none.
const LEAST_CURVATURE: f64 = 1e-12;

/// Steps between two looks at who could rest, where there are more rows.
const BETWEEN_RESTS: usize = 1000;

/// Rows rest only if a tenth of the active ones can: reordering costs as much as many steps.
const WORTH_RESTING: f64 = 0.9;

/// At this multiple of the tolerance everybody is looked at once, since who rests was decided far from the end.
const NEAR: f64 = 10.0;

/// After catching up so often without the violation halving, nobody rests any more; after twice as often what is left is rounding.
const MOST_ROUNDS: usize = 12;

/// The spread of a value's rounding to single precision, as a part of it.
const ROUNDING: f64 = 2e-8;

/// Steps until when, and how.
#[derive(Clone, Copy)]
pub(super) struct Until {
    pub(super) tolerance: f64,
    pub(super) most: usize,
    pub(super) shrinking: bool,
}

/// All rows that take part, the active ones first; every list is in that order.
pub(super) struct Descent<'a, T> {
    kernels: KernelRows<'a, T>,
    /// The active rows.
    side: Side,
    cache: Cache,
    pace: Pace<'a>,
    isa: Isa,
    /// The number of each row in the problem.
    pub(super) order: Vec<u32>,
    pub(super) signs: Vec<f64>,
    pub(super) costs: Vec<f64>,
    pub(super) alpha: Vec<f64>,
    pub(super) errors: Vec<f64>,
    up: Vec<f32>,
    low: Vec<f32>,
    diagonal: Vec<f32>,
    active: usize,
    /// When all caught up last: α, and the errors in double precision throughout.
    then: Vec<(f64, f64)>,
    /// Since then: Σ |step|, and steps.
    moved: (f64, u64),
    /// The largest kernel value.
    largest: f64,
    pub(super) steps: u64,
    pub(super) ends: Extremes,
}

impl<'a, T: Scalar> Descent<'a, T> {
    /// At α = 0, with the rows `order`; `signs` and `costs` are those of all rows, `diagonal` that of `order`.
    pub(super) fn new(
        kernels: KernelRows<'a, T>,
        order: Vec<u32>,
        (signs, costs): (&[f64], &[f64]),
        diagonal: Vec<f32>,
        cache_bytes: usize,
        check: Check<'a>,
    ) -> Self {
        let n = order.len();
        let of = |values: &[f64]| order.iter().map(|&row| values[row as usize]).collect::<Vec<_>>();
        let (signs, costs) = (of(signs), of(costs));
        let largest = diagonal.iter().fold(0.0, |most, &value| f64::max(most, f64::from(value)));
        let then = signs.iter().map(|&sign| (0.0, sign)).collect();
        let mut descent = Descent {
            side: kernels.side(&order),
            cache: Cache::new(cache_bytes, 1 + order.last().map_or(0, |&row| row as usize), n),
            pace: Pace::new(check),
            isa: kernels.isa(),
            kernels,
            order,
            alpha: vec![0.0; n],
            errors: signs.clone(),
            signs,
            costs,
            up: vec![0.0; n],
            low: vec![0.0; n],
            diagonal,
            active: n,
            then,
            moved: (0.0, 0),
            largest,
            steps: 0,
            ends: Extremes { highest: 0.0, highest_at: 0, lowest: 0.0, lowest_at: 0 },
        };
        (0..n).for_each(|at| descent.set_room(at));
        descent.ends = descent.extremes();
        descent
    }

    /// m − M, of the active rows.
    pub(super) fn violation(&self) -> f64 {
        (self.ends.highest - self.ends.lowest).max(0.0)
    }

    /// Steps until all rows are settled, or `most` steps are taken; the errors of all rows are right then.
    pub(super) fn run(&mut self, until: Until) -> Result<()> {
        let period = BETWEEN_RESTS.min(self.order.len()) as u64;
        let tolerance = until.tolerance.max(0.0);
        let (mut far, mut lost, mut rounds, mut least) = (true, false, 0, f64::INFINITY);
        loop {
            let violation = self.violation();
            let over = self.steps >= until.most as u64;
            let near = far && self.active < self.order.len() && violation <= NEAR * tolerance;
            // Directions in which the kernel is flat are not flat in single precision: do not follow them.
            let blurred = self.moved.1 >= period && violation < 4.0 * self.blur();
            let pause = over || near || blurred || lost || violation <= tolerance;
            if pause {
                self.catch_up()?;
                far = false;
                (rounds, least) = match self.violation() {
                    less if less < 0.5 * least => (0, less),
                    _ => (rounds + 1, least),
                };
                if over || self.violation() <= tolerance || rounds > 2 * MOST_ROUNDS {
                    return Ok(());
                }
            }
            let look = pause || (self.steps + 1).is_multiple_of(period);
            if until.shrinking && rounds <= MOST_ROUNDS && look {
                self.rest();
            }
            // A step that is lost in rounding would be tried for ever.
            lost = !self.step()?;
            self.pace.done = self.pace.done.max(progress(self.violation(), tolerance));
        }
    }

    /// How far errors may be off since all caught up: every step brought the rounding of two kernel values, and a pair that moves again the same.
    fn blur(&self) -> f64 {
        ROUNDING * self.largest * self.moved.0
    }

    /// One step with the pair that promises most; false if no α changed.
    fn step(&mut self) -> Result<bool> {
        let n = self.active;
        let Extremes { highest, highest_at: i, lowest_at, .. } = self.ends;
        self.need(i)?;
        let (row, own) = (self.cache.row(self.order[i]), self.diagonal[i]);
        let least = LEAST_CURVATURE as f32;
        let (diagonal, low, errors) = (&self.diagonal[..n], &self.low[..n], &self.errors[..n]);
        // Gains that vanish in single precision leave the one that violates most.
        let j = best_partner(self.isa, highest, own, least, row, diagonal, low, errors).unwrap_or(lowest_at);
        self.need(j)?;
        let (a, b) = (self.cache.row(self.order[i]), self.cache.row(self.order[j]));

        let curvature = f64::from(self.diagonal[i]) + f64::from(self.diagonal[j]) - 2.0 * f64::from(a[j]);
        let best = (self.errors[i] - self.errors[j]) / curvature.max(LEAST_CURVATURE);
        let rise = if self.signs[i] > 0.0 { self.costs[i] - self.alpha[i] } else { self.alpha[i] };
        let fall = if self.signs[j] > 0.0 { self.alpha[j] } else { self.costs[j] - self.alpha[j] };
        let step = best.min(rise).min(fall);
        let before = (self.alpha[i], self.alpha[j]);
        // What reaches its bound is put there exactly.
        let moved = |at: usize, step: f64, reached: bool| match (reached, self.signs[at] * step > 0.0) {
            (true, true) => self.costs[at],
            (true, false) => 0.0,
            (false, _) => (self.alpha[at] + self.signs[at] * step).clamp(0.0, self.costs[at]),
        };
        let after = (moved(i, step, step >= rise), moved(j, -step, step >= fall));
        (self.alpha[i], self.alpha[j]) = after;
        for at in [i, j] {
            (self.up[at], self.low[at]) = room(self.signs[at], self.alpha[at], self.costs[at]);
        }
        let room = Room { up: &self.up[..n], low: &self.low[..n] };
        self.ends = move_errors(self.isa, step, [a, b], room, &mut self.errors[..n]);
        self.steps += 1;
        self.moved = (self.moved.0 + step.abs(), self.moved.1 + 1);
        self.pace.spend(2 * n)?;
        Ok(before.0.to_bits() != after.0.to_bits() || before.1.to_bits() != after.1.to_bits())
    }

    /// Has the kernel row of the row at this place in the cache.
    fn need(&mut self, at: usize) -> Result<()> {
        let row = self.order[at];
        if self.cache.touch(row) {
            return Ok(());
        }
        let out = self.cache.insert(row);
        self.kernels.fill(&self.side, row, out, &mut self.pace)
    }

    fn set_room(&mut self, at: usize) {
        (self.up[at], self.low[at]) = room(self.signs[at], self.alpha[at], self.costs[at]);
    }

    /// The ends of the active rows.
    fn extremes(&self) -> Extremes {
        let mut ends =
            Extremes { highest: f64::NEG_INFINITY, highest_at: 0, lowest: f64::INFINITY, lowest_at: 0 };
        for at in 0..self.active {
            let (high, low) =
                (self.errors[at] + f64::from(self.up[at]), self.errors[at] + f64::from(self.low[at]));
            if high > ends.highest {
                (ends.highest, ends.highest_at) = (high, at);
            }
            if low < ends.lowest {
                (ends.lowest, ends.lowest_at) = (low, at);
            }
        }
        ends
    }

    /// Lets rows rest that sit at a bound and could not be part of a violating pair now, if it is worth it.
    fn rest(&mut self) {
        let Extremes { highest, lowest, .. } = self.ends;
        let rests = |at: usize| {
            let (may_rise, may_fall) = (self.up[at] >= 0.0, self.low[at] <= 0.0);
            (!may_rise && self.errors[at] > highest) || (!may_fall && self.errors[at] < lowest)
        };
        let (resting, mut order): (Vec<u32>, Vec<u32>) =
            (0..self.active as u32).partition(|&at| rests(at as usize));
        let kept = order.len();
        if kept as f64 > WORTH_RESTING * self.active as f64 {
            return;
        }
        self.cache.keep(&order);
        order.extend(resting);
        permute(&mut self.order, &order);
        permute(&mut self.signs, &order);
        permute(&mut self.costs, &order);
        permute(&mut self.alpha, &order);
        permute(&mut self.errors, &order);
        permute(&mut self.up, &order);
        permute(&mut self.low, &order);
        permute(&mut self.diagonal, &order);
        permute(&mut self.then, &order);
        self.active = kept;
        self.side = self.kernels.side(&self.order[..kept]);
        self.ends = self.extremes();
    }

    /// Computes the errors of all rows in double precision and makes every row active.
    fn catch_up(&mut self) -> Result<()> {
        if self.active < self.order.len() {
            self.active = self.order.len();
            self.cache.clear(self.active);
            self.side = self.kernels.side(&self.order);
        }
        let minus = |at: usize| self.signs[at] * (self.then[at].0 - self.alpha[at]);
        let changed = (0..self.order.len()).filter(|&at| minus(at) != 0.0);
        let terms: Vec<(u32, f64)> = changed.map(|at| (self.order[at], minus(at))).collect();
        self.errors.iter_mut().zip(&self.then).for_each(|(error, then)| *error = then.1);
        self.kernels.add(&self.side, &terms, &mut self.errors, &mut self.pace)?;
        self.then = self.alpha.iter().copied().zip(self.errors.iter().copied()).collect();
        self.moved = (0.0, 0);
        self.ends = self.extremes();
        Ok(())
    }
}

/// Whether yα may rise and fall: 0 where it may, −∞ and +∞ where not.
fn room(sign: f64, alpha: f64, cost: f64) -> (f32, f32) {
    let (grows, shrinks) = (alpha < cost, alpha > 0.0);
    let (rises, falls) = if sign > 0.0 { (grows, shrinks) } else { (shrinks, grows) };
    (if rises { 0.0 } else { f32::NEG_INFINITY }, if falls { 0.0 } else { f32::INFINITY })
}

/// Entry k becomes what stood at `order[k]`; what lies beyond stays.
fn permute<V: Copy>(values: &mut [V], order: &[u32]) {
    let moved: Vec<V> = order.iter().map(|&from| values[from as usize]).collect();
    values[..moved.len()].copy_from_slice(&moved);
}

/// The digits gained of those asked for: errors begin as ±1.
fn progress(violation: f64, tolerance: f64) -> f64 {
    let digits = |x: f64| (2.0 / x.max(1e-300)).ln().max(0.0);
    (digits(violation) / digits(tolerance).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
}

/// The kernel's values with themselves, in the precision of kernel rows.
pub(super) fn rounded(diagonal: &[f64]) -> Result<Vec<f32>> {
    // No other value is larger, by Cauchy and Schwarz.
    let round = |&value: &f64| {
        let rounded = value as f32;
        if rounded.is_finite() { Ok(rounded) } else { Err(Error::Overflow { what: "the kernel's values" }) }
    };
    diagonal.iter().map(round).collect()
}

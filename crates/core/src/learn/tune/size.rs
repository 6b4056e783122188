//! D by doubling.
//!
//! ```text
//! error(D) ≈ a + b/D        fitted to the last two:   the next step gains b(1/D − 1/D′)
//! ```
//! Stops when that is under one standard error of what the last step gained, measured fold by fold, or is not worth having; or when memory, the budget, or the work that is
//! done without being asked to do not allow the next step. A fit costs about D², so all of them together a third more than the last. Without a budget nothing here depends on a clock.

use std::time::Instant;

use super::{Clock, Enough, LeftOut};
use crate::plan::Cost;
use crate::{Engine, Error, Model, Result};

/// Multiply-adds that are done without being asked to: about a minute of two processor cores.
pub(super) const WORK: f64 = 4e12;

/// A gain of less than this part of the error is not worth four times the work.
const WORTH: f64 = 1e-3;

/// The next step is this much larger than the last, at least, or not worth making.
const LEAST: f64 = 1.25;

/// Part of what is left of a budget that a fit may be expected to take: it may take a little longer.
const CAUTION: f64 = 0.9;

/// Whether so many seconds are expected to be within what is left.
pub(super) fn within(seconds: f64, left: f64) -> bool {
    seconds <= CAUTION * left
}

/// D is a multiple of this.
const ROUND: usize = 64;

/// What may grow, and how far.
pub(in crate::learn) struct Growth<'a> {
    pub(in crate::learn) engine: &'a Engine,
    pub(in crate::learn) clock: Clock,
    /// Rows to be read.
    pub(in crate::learn) rows: u64,
    pub(in crate::learn) first: usize,
    pub(in crate::learn) most: usize,
    /// What a fit with D features costs.
    pub(in crate::learn) cost: &'a dyn Fn(usize) -> Result<Cost>,
}

/// A fit that was tried.
pub(in crate::learn) struct Tried {
    pub(in crate::learn) features: usize,
    pub(in crate::learn) model: Model,
    left_out: Option<LeftOut>,
}

/// A fit with D features: its error on left-out rows and the standard error of that.
pub(in crate::learn) struct Step {
    pub(in crate::learn) features: usize,
    pub(in crate::learn) error: f64,
    pub(in crate::learn) deviation: f64,
}

/// What growing ends with.
pub(in crate::learn) struct Grown {
    pub(in crate::learn) best: Tried,
    pub(in crate::learn) steps: Vec<Step>,
    pub(in crate::learn) enough: Enough,
}

impl Tried {
    fn new(features: usize, model: Model) -> Tried {
        let left_out = LeftOut::of(&model);
        Tried { features, model, left_out }
    }

    /// Its error on left-out rows and the standard error of that.
    fn error(&self) -> Option<(f64, f64)> {
        self.left_out.as_ref().map(|errors| (errors.mean, errors.deviation()))
    }
}

impl Growth<'_> {
    /// Fits with more and more features.
    pub(in crate::learn) fn run(&self, mut fit: impl FnMut(usize) -> Result<Model>) -> Result<Grown> {
        let mut steps = Vec::new();
        let mut note = |tried: &Tried| {
            let (error, deviation) = tried.error().unwrap_or((f64::INFINITY, f64::INFINITY));
            steps.push(Step { features: tried.features, error, deviation });
        };
        let (mut work, mut started) = (self.work(self.first)?, Instant::now());
        let mut best = Tried::new(self.first, fit(self.first)?);
        note(&best);
        let mut gained: Option<(f64, f64)> = None;
        let enough = loop {
            let took = started.elapsed().as_secs_f64();
            let next = match self.next(best.features, work, took)? {
                Ok(next) => next,
                Err(enough) => break enough,
            };
            // b(1/D − 1/D′)
            if let Some((slope, deviation)) = gained {
                let gain = slope * (1.0 / best.features as f64 - 1.0 / next as f64);
                let error = best.error().map_or(0.0, |(error, _)| error);
                if !(gain > deviation && gain > WORTH * error) {
                    break Enough::Gain { gain, deviation };
                }
            }
            (work, started) = (work + self.work(next)?, Instant::now());
            let tried = match fit(next) {
                // More than was foretold: what there is stays.
                Err(Error::Memory { needed, limit, .. }) => break Enough::Memory { needed, limit },
                fitted => Tried::new(next, fitted?),
            };
            note(&tried);
            let (Some(before), Some(after)) = (&best.left_out, &tried.left_out) else {
                break Enough::Most;
            };
            let fall = before.mean - after.mean;
            let deviation = after.deviation_from(before);
            if !(fall > 0.0) {
                break Enough::Gain { gain: fall, deviation };
            }
            let slope = fall / (1.0 / best.features as f64 - 1.0 / next as f64);
            gained = Some((slope, deviation));
            best = tried;
        };
        Ok(Grown { best, steps, enough })
    }

    fn work(&self, features: usize) -> Result<f64> {
        Ok((self.cost)(features)?.multiply_adds(self.rows))
    }

    /// The next D, or why there is none.
    fn next(&self, features: usize, done: f64, took: f64) -> Result<std::result::Result<usize, Enough>> {
        if features >= self.most {
            return Ok(Err(Enough::Most));
        }
        let limit = self.engine.memory_limit();
        let least = ((features as f64 * LEAST) as usize).next_multiple_of(ROUND);
        let last = self.work(features)?;
        let mut next = (2 * features).min(self.most);
        let mut enough = Enough::Most;
        while next >= least.min(self.most) {
            let cost = (self.cost)(next)?;
            let work = cost.multiply_adds(self.rows);
            enough = match self.clock.left() {
                _ if cost.peak_bytes > limit => Enough::Memory { needed: cost.peak_bytes, limit },
                // What took so long will take so much longer.
                Some(left) if !within(took * (work / last), left) => Enough::Budget,
                None if done + work > WORK => Enough::Work,
                _ => return Ok(Ok(next)),
            };
            next = (next - 1) / ROUND * ROUND;
        }
        Ok(Err(enough))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(features: usize) -> Result<Cost> {
        let squares = (features * features) as f64;
        Ok(Cost {
            passes: 2,
            multiply_adds_per_million_rows: 1e6 * squares,
            multiply_adds_to_solve: 0.0,
            peak_bytes: 8 * (features * features) as u64,
        })
    }

    fn growth(engine: &Engine, rows: u64, budget: Option<f64>) -> Growth<'_> {
        Growth { engine, clock: Clock::start(budget), rows, first: 512, most: 16_384, cost: &cost }
    }

    #[test]
    fn steps_are_doublings_or_what_memory_work_and_time_allow() {
        let free = Engine::default();
        let next = |growth: &Growth<'_>, features, done, took| growth.next(features, done, took).unwrap();
        assert_eq!(next(&growth(&free, 1000, None), 512, 0.0, 1.0), Ok(1024));
        assert_eq!(next(&growth(&free, 1000, None), 10_000, 0.0, 1.0), Ok(16_384));
        assert_eq!(next(&growth(&free, 1000, None), 16_384, 0.0, 1.0), Err(Enough::Most));
        // n·D² ≤ 4e12 − 2.6e11: 1,933 at most, in steps of 64.
        assert_eq!(next(&growth(&free, 1_000_000, None), 1024, 2.6e11, 1.0), Ok(1920));
        assert_eq!(next(&growth(&free, 1_000_000, None), 1920, 3.9e12, 1.0), Err(Enough::Work));
        // A second for 512: four times that for the next, 2.25 times for 768.
        assert_eq!(next(&growth(&free, 1000, Some(10.0)), 512, 0.0, 1.0), Ok(1024));
        assert_eq!(next(&growth(&free, 1000, Some(2.6)), 512, 0.0, 1.0), Ok(768));
        assert_eq!(next(&growth(&free, 1000, Some(1.0)), 512, 0.0, 1.0), Err(Enough::Budget));
        let limit = 8 * 700 * 700;
        let small = crate::EngineSpec { memory_limit: Some(limit), ..Default::default() }.build();
        assert_eq!(next(&growth(&small, 1000, None), 512, 0.0, 1.0), Ok(640));
        assert_eq!(
            next(&growth(&small, 1000, None), 640, 0.0, 1.0),
            Err(Enough::Memory { needed: 8 * 832 * 832, limit })
        );
    }
}

//! What was found on the data.
//!
//! ```text
//! q pairs of rows, eᵢ = |z(x)·z(y) − k(x, y)| ∈ [0, R]:     mean e ± (√(2V·L/q) + 7R·L/(3(q − 1))),   L = ln(3/δ)
//! ```
//! V is the sample variance (empirical Bernstein after Maurer & Pontil 2009, both sides at once). If the sample holds every distinct
//! row, pairs are drawn from it with replacement and the interval is about the data themselves; otherwise pairs are disjoint, hence
//! as good as drawn from the data, and the interval is about all pairs of its distinct rows.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{DELTA, Probe, SAMPLE};
use crate::Result;
use crate::engine::Check;
use crate::random::{Draws, Stream};

/// The kernel error on sampled pairs of distinct rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Pairs compared.
    pub pairs: u64,
    /// Mean absolute error.
    pub mean: f64,
    /// The mean over all pairs is within this of it with probability 1 − `delta`.
    pub radius: f64,
    /// δ.
    pub delta: f64,
    /// The largest error seen.
    pub largest: f64,
}

impl Measured {
    /// Compares features with the exact kernel; none if there are fewer than two rows.
    pub(super) fn of(rows: &Probe<'_>, check: Check<'_>) -> Result<Option<Measured>> {
        Measured::at(rows, 1, DELTA, check)
    }

    /// As [`Measured::of`], with the pairs of a round and this chance of being wrong.
    pub(super) fn at(rows: &Probe<'_>, round: u32, delta: f64, check: Check<'_>) -> Result<Option<Measured>> {
        let Some(pairs) = pairs(rows.map.spec().seed, rows.count(), rows.whole, round) else {
            return Ok(None);
        };
        let numbers: Vec<usize> = pairs.iter().flat_map(|&(i, j)| [i, j]).collect();
        let mut errors = Vec::with_capacity(pairs.len());
        rows.look(&numbers, check, |numbers, features| {
            for (p, pair) in numbers.chunks_exact(2).enumerate() {
                let approximate = features.dot(2 * p, 2 * p + 1);
                errors.push((approximate - rows.exact(pair[0], pair[1])).abs());
            }
        })?;
        Ok(Some(Measured::summary(&errors, rows.range()?, delta)))
    }

    /// Mean and interval of errors in [0, range].
    fn summary(errors: &[f64], range: f64, delta: f64) -> Measured {
        let q = errors.len() as f64;
        let mean = errors.iter().sum::<f64>() / q;
        let variance = errors.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / (q - 1.0);
        let log = libm::log(3.0 / delta);
        Measured {
            pairs: errors.len() as u64,
            mean,
            radius: (2.0 * variance * log / q).sqrt() + 7.0 * range * log / (3.0 * (q - 1.0)),
            delta,
            largest: errors.iter().copied().fold(0.0, f64::max),
        }
    }
}

/// Pairs for each row where all rows are there, and pairs at least.
const TIMES: usize = 4;
const PAIRS_AT_LEAST: usize = 1024;

/// Pairs of different rows, others in each round, counted from 1: disjoint if the rows are a sample, drawn with replacement if they are all there are.
fn pairs(seed: u64, count: usize, whole: bool, round: u32) -> Option<Vec<(usize, usize)>> {
    if count < 2 {
        return None;
    }
    if !whole && count >= 4 {
        let half = count / 2;
        return Some((0..half).map(|p| (2 * p, 2 * ((p + round as usize - 1) % half) + 1)).collect());
    }
    let draw = |p: u64| {
        let mut draws = Draws::new(seed, Stream::Pairs, u64::from(round - 1) << 32 | p);
        let i = draws.below(count as u64);
        let j = (i + 1 + draws.below(count as u64 - 1)) % count as u64;
        (i as usize, j as usize)
    };
    // Few rows are no reason to look at each of them a hundred times.
    let most = SAMPLE.min(TIMES * count).max(PAIRS_AT_LEAST);
    Some((0..most as u64).map(draw).collect())
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Measured { pairs, mean, radius, largest, delta } = self;
        let sure = 1.0 - delta;
        write!(
            f,
            "measured {mean:.2e} ± {radius:.1e} (mean, probability {sure}), {largest:.2e} (largest) on {pairs} pairs"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner_testkit::{Chance, binomial_upper};

    /// One pair in fifty is wrong by 1, and a third of all samples of fifty do not see it: the second term of the interval is for them.
    #[test]
    fn the_interval_covers_what_was_not_seen() {
        let misses = (0..2000)
            .filter(|&seed| {
                let mut chance = Chance::new(seed);
                let errors: Vec<f64> =
                    (0..50).map(|_| f64::from(u8::from(chance.uniform() < 0.02))).collect();
                let m = Measured::summary(&errors, 1.0, 0.05);
                (m.mean - 0.02).abs() > m.radius
            })
            .count();
        assert!(misses < 100, "{misses} of 2,000");
    }

    /// The interval misses the true mean in at most δ of 2,000 repetitions: refuted at 1e-9 if it were a tenth as wide.
    #[test]
    fn the_interval_covers() {
        let repetitions = 2000;
        let misses = |shrink: f64| {
            (0..repetitions)
                .filter(|&seed| {
                    let mut chance = Chance::new(seed);
                    let errors: Vec<f64> = (0..300).map(|_| chance.uniform().powi(4)).collect();
                    let m = Measured::summary(&errors, 1.0, 0.05);
                    (m.mean - 0.2).abs() > m.radius * shrink
                })
                .count()
        };
        assert!((misses(1.0) as f64) < 0.05 * repetitions as f64);
        let tenth = misses(0.1);
        assert!(
            binomial_upper(repetitions as usize - tenth, repetitions as usize, 1e-9) < 0.95,
            "no power: {tenth}"
        );
    }

    #[test]
    fn pairs_are_of_different_rows() {
        for (count, whole) in [(2, true), (2, false), (3, false), (5, false), (SAMPLE, false), (SAMPLE, true)]
        {
            for round in 1..4 {
                let some = pairs(1, count, whole, round).unwrap();
                assert!(some.iter().all(|&(i, j)| i != j && i < count && j < count));
                // Fresh in each round, where there are enough rows.
                assert!(round == 1 || count < 5 || some != pairs(1, count, whole, round - 1).unwrap());
            }
        }
        assert!(pairs(1, 1, true, 1).is_none());
    }
}

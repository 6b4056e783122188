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

use super::{DELTA, SAMPLE};
use crate::random::{Draws, Stream};
use crate::{FourierForm, Map, Method, Rows};

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
    pub(super) fn of<'a>(
        map: &Map,
        rows: &Rows<'_, f64>,
        feature: &impl Fn(usize) -> &'a [f64],
        population: u64,
    ) -> Option<Measured> {
        let pairs = pairs(map.spec().seed, rows.count(), population)?;
        let kernel = map.spec().kernel;
        let errors: Vec<f64> = pairs
            .iter()
            .map(|&(i, j)| {
                let approximate: f64 = feature(i).iter().zip(feature(j)).map(|(a, b)| a * b).sum();
                (approximate - kernel.eval(rows, i, rows, j)).abs()
            })
            .collect();
        // |k̂| ≤ 1 and 0 ≤ k ≤ 1 for pairs; |k̂| ≤ 2 for offsets; for landmarks the error is at most max k(x, x).
        let range = match map.spec().method {
            Method::Fourier { form: FourierForm::Pairs, .. } => 2.0,
            Method::Fourier { form: FourierForm::Offset, .. } => 3.0,
            _ => kernel.diagonal(rows).into_iter().fold(0.0, f64::max),
        };
        Some(Measured::summary(&errors, range, DELTA))
    }

    /// Mean and interval of errors in [0, range].
    fn summary(errors: &[f64], range: f64, delta: f64) -> Measured {
        let q = errors.len() as f64;
        let mean = errors.iter().sum::<f64>() / q;
        let variance = errors.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / (q - 1.0);
        let log = (3.0 / delta).ln();
        Measured {
            pairs: errors.len() as u64,
            mean,
            radius: (2.0 * variance * log / q).sqrt() + 7.0 * range * log / (3.0 * (q - 1.0)),
            delta,
            largest: errors.iter().copied().fold(0.0, f64::max),
        }
    }
}

/// Pairs of different rows.
fn pairs(seed: u64, count: usize, population: u64) -> Option<Vec<(usize, usize)>> {
    // Two pairs at least, for a variance.
    if count < 2 {
        return None;
    }
    if population > count as u64 && count >= SAMPLE {
        return Some((0..count / 2).map(|p| (2 * p, 2 * p + 1)).collect());
    }
    let draw = |p: u64| {
        let mut draws = Draws::new(seed, Stream::Pairs, p);
        let i = draws.below(count as u64);
        let j = (i + 1 + draws.below(count as u64 - 1)) % count as u64;
        (i as usize, j as usize)
    };
    Some((0..SAMPLE as u64).map(draw).collect())
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
        for (count, population) in [(2, 2), (3, 100), (SAMPLE, 1 << 40), (SAMPLE, SAMPLE as u64)] {
            let pairs = pairs(1, count, population).unwrap();
            assert!(pairs.iter().all(|&(i, j)| i != j && i < count && j < count));
        }
        assert!(pairs(1, 1, 1).is_none());
    }
}

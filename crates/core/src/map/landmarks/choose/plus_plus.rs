//! Seeds of k-means++ in the kernel's own space.
//!
//! ```text
//! first ∝ w(x),   next ∝ w(x)·min over taken c of ‖φ(x) − φ(c)‖²,     ‖φ(x) − φ(c)‖² = k(x, x) + k(c, c) − 2k(x, c)
//! ```
//! One column of kernel values a step, no algebra. The seeds cover the candidates: their expected quantisation error is within
//! 8(ln m + 2) of the best m centres' (Arthur & Vassilvitskii 2007). Distances to single landmarks know nothing of what
//! several explain together; where that matters `cholesky` is better.

use super::Candidates;
use super::lots::Lots;
use crate::Result;
use crate::engine::Check;
use crate::random::{Draws, Stream};

/// Distances below this part of k(x, x) + k(c, c) are rounding.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

pub(super) fn choose(
    candidates: &Candidates<'_>,
    count: usize,
    seed: u64,
    check: Check<'_>,
) -> Result<Vec<usize>> {
    let Candidates { diagonal, weights, .. } = candidates;
    let mut draws = Draws::new(seed, Stream::Landmarks, 0);
    let mut chosen = Vec::new();
    let mut column = vec![0.0; candidates.count()];
    let mut distances = vec![1.0; candidates.count()]; // the first is drawn by weight alone
    while chosen.len() < count {
        let masses = weights.iter().zip(&distances).map(|(weight, distance)| weight * distance);
        let Some(lots) = Lots::new(masses) else { break };
        let next = lots.draw(&mut draws);
        candidates.columns(&[next], &mut column);
        if chosen.is_empty() {
            distances.fill(f64::INFINITY);
        }
        for ((distance, own), value) in distances.iter_mut().zip(diagonal).zip(&column) {
            let both = own + diagonal[next];
            let far = both - 2.0 * value;
            *distance = distance.min(if far > ROUNDING * both { far } else { 0.0 });
        }
        distances[next] = 0.0; // never again, whatever the kernel says
        chosen.push(next);
        check(chosen.len() as f64 / count as f64)?;
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::super::Choice;
    use super::super::tests::{Dense, Law, go_on, law, misfit, renamed};

    const RUNS: usize = 200_000;

    /// By the definition.
    fn exact(values: &Dense, weights: &[f64], depth: usize) -> Law {
        let distance = |i: usize, c: usize| values.at(i, i) + values.at(c, c) - 2.0 * values.at(i, c);
        law(values.count, depth, &|taken| {
            let nearest = |i: usize| taken.iter().map(|&c| distance(i, c)).reduce(f64::min).unwrap_or(1.0);
            (0..values.count)
                .map(|i| if taken.contains(&i) { 0.0 } else { weights[i] * nearest(i) })
                .collect()
        })
    }

    /// Ordered triples of 5. α = 1e-9 (Bernstein, in `misfit`).
    #[test]
    fn seeds_have_their_law() {
        let (values, weights) = (Dense::random(5, 3, 2), [1.0, 2.0, 0.5, 3.0, 1.0]);
        let draw = |seed| Choice::KMeansPlusPlus.choose(&values, &weights, 3, seed, &go_on).unwrap();
        assert!(misfit(&exact(&values, &weights, 3), RUNS, draw) < 1.0);
        // Distances that were not squared, or not weighted, would be seen.
        assert!(misfit(&exact(&values, &[1.0; 5], 3), RUNS, draw) > 1.0, "the test has no power");
        let flat =
            law(5, 3, &|taken| (0..5).map(|i| if taken.contains(&i) { 0.0 } else { weights[i] }).collect());
        assert!(misfit(&flat, RUNS, draw) > 1.0, "the test has no power");
    }

    #[test]
    fn rounding_is_no_distance() {
        let values = Dense::new(20, |i, j| 1.0 + if i == j { (i % 3) as f64 * f64::EPSILON } else { 0.0 });
        for seed in 0..20 {
            assert_eq!(Choice::KMeansPlusPlus.choose(&values, &[1.0; 20], 5, seed, &go_on).unwrap().len(), 1);
        }
    }

    /// Against the exact law of the repeated matrix. α = 1e-9 each (Bernstein, in `misfit`).
    #[test]
    fn weights_are_repetitions() {
        let (values, places) = (Dense::random(4, 3, 4), [0, 1, 1, 2, 2, 2, 3]);
        let repeated = values.repeated(&places);
        let draw = |values: &Dense, weights: &[f64], seed| {
            Choice::KMeansPlusPlus.choose(values, weights, 3, seed, &go_on).unwrap()
        };
        let law = renamed(&exact(&repeated, &[1.0; 7], 3), &places);
        assert!(misfit(&law, RUNS, |seed| draw(&values, &[1.0, 2.0, 3.0, 1.0], seed)) < 1.0);
        let renamed = |seed| draw(&repeated, &[1.0; 7], seed).iter().map(|&i| places[i]).collect();
        assert!(misfit(&law, RUNS, renamed) < 1.0);
        assert!(misfit(&law, RUNS, |seed| draw(&values, &[1.0; 4], seed)) > 1.0, "no power");
    }
}

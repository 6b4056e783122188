//! Randomly pivoted Cholesky: landmarks drawn in proportion to what is left of them.
//!
//! ```text
//! next ∝ w(x)·r(x),    r(x) = ‖φ(x) − its projection on φ of those taken‖²
//! E Σ w·r ≤ (1 + ε)·Σ over j > p of σⱼ     after m ≥ p/ε + p·ln(1/εη) landmarks,  η = Σ over j > p of σⱼ / Σ σⱼ
//! ```
//! σ are the eigenvalues of the weighted kernel matrix, so the right side is the best that any p directions do (Chen, Epperly,
//! Tropp & Webber 2023). It needs no scale, no rank and no cluster number, and stops by itself where nothing is left.
//!
//! One pivot at a time would read the whole factor for each. So a block of proposals is drawn at once from the r before the
//! block, and each is accepted with probability (r now)/(r before). As r only falls, that is rejection sampling:
//!
//! ```text
//! P(x proposed and accepted) = w·r_before(x)/Σ w·r_before · r_now(x)/r_before(x)  ∝  w·r_now(x)
//! ```
//! the law of one at a time, whatever the size of the block (Epperly, Tropp & Webber 2024). A rejected proposal costs its values
//! among the other proposals, not a column.

use super::Candidates;
use super::factor::Factor;
use super::lots::Lots;
use crate::Result;
use crate::engine::Check;
use crate::random::{Draws, Stream};

/// Most proposals in a block: enough for a matrix product. The b² values among them are to be few against b·n.
const BLOCK: usize = 128;
/// Where this part of the trace is left, the rest is rounding.
const EXHAUSTED: f64 = 1e-12;

pub(super) fn choose(
    candidates: &Candidates<'_>,
    count: usize,
    tolerance: f64,
    seed: u64,
    check: Check<'_>,
) -> Result<Vec<usize>> {
    let largest = candidates.diagonal.iter().copied().fold(0.0, f64::max);
    let floor = tolerance.max(0.0) * largest;
    let draws = Draws::new(seed, Stream::Landmarks, 0);
    let block = BLOCK.min(1 + candidates.count() / 16);
    Ok(pivots(candidates, count, floor, block, draws, check)?.0)
}

/// Up to `count` pivots, and Σ w·r after them. Candidates with r ≤ `floor` are not taken.
pub(super) fn pivots(
    candidates: &Candidates<'_>,
    count: usize,
    floor: f64,
    block: usize,
    mut draws: Draws,
    check: Check<'_>,
) -> Result<(Vec<usize>, f64)> {
    let weights = &candidates.weights;
    let mut factor = Factor::new(candidates);
    let mut chosen = Vec::new();
    let whole = trace(weights, &factor.residual);
    loop {
        drop_explained(&mut factor.residual, floor);
        let left = trace(weights, &factor.residual);
        check((chosen.len() as f64 / count.max(1) as f64).powi(2))?;
        let lots =
            Lots::new(weights.iter().zip(&factor.residual).map(|(weight, residual)| weight * residual));
        let Some(lots) = lots.filter(|_| chosen.len() < count && !(left < EXHAUSTED * whole)) else {
            return Ok((chosen, left));
        };
        let proposals: Vec<usize> = (0..block.max(1)).map(|_| lots.draw(&mut draws)).collect();
        let mut room = count - chosen.len();
        let pivots = factor.propose(&proposals, &vec![0.0; proposals.len()], |now, before| {
            let accepted = room > 0 && now > floor && draws.uniform() < now / before;
            room -= usize::from(accepted);
            accepted
        });
        pivots.iter().for_each(|&pivot| factor.residual[pivot] = 0.0);
        chosen.extend(pivots);
    }
}

/// r ≤ floor is as good as nothing, and so is what rounding or a kernel that is none has made negative or undefined.
fn drop_explained(residual: &mut [f64], floor: f64) {
    residual.iter_mut().filter(|residual| !(**residual > floor)).for_each(|residual| *residual = 0.0);
}

/// Σ w·r.
fn trace(weights: &[f64], residual: &[f64]) -> f64 {
    weights.iter().zip(residual).map(|(weight, residual)| weight * residual).sum()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Dense, Law, go_on, law, misfit, renamed};
    use super::super::{Choice, Values};
    use super::*;

    const RUNS: usize = 200_000;

    /// r after these pivots, one by one.
    fn residual(values: &Dense, taken: &[usize]) -> Vec<f64> {
        let n = values.count;
        let mut rest = values.clone();
        for &pivot in taken {
            let old = rest.clone();
            rest = Dense::new(n, |i, j| {
                old.at(i, j) - old.at(i, pivot) * old.at(pivot, j) / old.at(pivot, pivot)
            });
        }
        (0..n).map(|i| if taken.contains(&i) || rest.at(i, i) < 1e-9 { 0.0 } else { rest.at(i, i) }).collect()
    }

    /// The law of one pivot at a time.
    fn exact(values: &Dense, weights: &[f64], depth: usize) -> Law {
        law(values.count, depth, &|taken| {
            residual(values, taken).iter().zip(weights).map(|(residual, weight)| residual * weight).collect()
        })
    }

    fn sampled(values: &Dense, weights: &[f64], depth: usize, block: usize) -> impl Fn(u64) -> Vec<usize> {
        let (values, weights) = (values.clone(), weights.to_vec());
        move |seed| {
            let candidates = Candidates::new(&values, &weights);
            let draws = Draws::new(seed, Stream::Landmarks, 0);
            pivots(&candidates, depth, 0.0, block, draws, &go_on).unwrap().0
        }
    }

    /// First and second pivot on a 5 × 5 matrix, as `Choice` takes them. α = 1e-9 each (Bernstein, in `misfit`).
    #[test]
    fn pivots_have_their_law() {
        let (values, weights) = (Dense::random(5, 6, 2), [1.0, 2.0, 0.5, 3.0, 1.0]);
        let choice = Choice::Cholesky { tolerance: 0.0 };
        for depth in [1, 2] {
            let draw = |seed| choice.choose(&values, &weights, depth, seed, &go_on).unwrap();
            assert!(misfit(&exact(&values, &weights, depth), RUNS, draw) < 1.0);
            assert!(misfit(&exact(&values, &[1.0; 5], depth), RUNS, draw) > 1.0, "the test has no power");
        }
    }

    /// Ordered pairs and triples on a 6 × 6 matrix, for blocks of every size. α = 1e-9 for each size (Bernstein, in `misfit`).
    #[test]
    fn blocks_keep_the_law_of_one_at_a_time() {
        let (values, weights) = (Dense::random(6, 6, 3), [1.0, 2.0, 0.5, 3.0, 1.0, 1.0]);
        for depth in [2, 3] {
            let law_of_one = exact(&values, &weights, depth);
            for block in [1, 2, 3, 5, 16] {
                let misfit = misfit(&law_of_one, RUNS, sampled(&values, &weights, depth, block));
                assert!(misfit < 1.0, "{depth} pivots in blocks of {block}: {misfit}");
            }
            // What a block without rejection would draw: r as it was, without those taken.
            let start: Vec<f64> = values.diagonal().iter().zip(weights).map(|(r, w)| r * w).collect();
            let careless = law(6, depth, &|taken| {
                (0..6).map(|i| if taken.contains(&i) { 0.0 } else { start[i] }).collect()
            });
            assert!(misfit(&careless, RUNS, sampled(&values, &weights, depth, 16)) > 1.0, "no power");
        }
    }

    /// Both by sampling, against the exact law of the repeated matrix. α = 1e-9 each (Bernstein, in `misfit`).
    #[test]
    fn weights_are_repetitions() {
        let (values, places) = (Dense::random(4, 5, 4), [0, 1, 1, 2, 2, 2, 3]);
        let repeated = values.repeated(&places);
        let law = renamed(&exact(&repeated, &[1.0; 7], 3), &places);
        for block in [1, 4] {
            let by_weight = sampled(&values, &[1.0, 2.0, 3.0, 1.0], 3, block);
            assert!(misfit(&law, RUNS, by_weight) < 1.0);
            let draw = sampled(&repeated, &[1.0; 7], 3, block);
            assert!(misfit(&law, RUNS, |seed| draw(seed).iter().map(|&i| places[i]).collect()) < 1.0);
            assert!(misfit(&law, RUNS, sampled(&values, &[1.0; 4], 3, block)) > 1.0, "no power");
        }
    }

    /// 500 copies of one candidate and 100 with directions of their own: eigenvalues 100 and 30/j, known exactly. With p = 3 and
    /// ε = 1/4 the theorem asks for 19 pivots and promises 5/4 of the tail in the mean. What is left lies in [0, trace], so by
    /// Hoeffding the mean of n runs is above the bound by trace·√(ln(1/α)/2n) with probability at most α = 1e-9.
    #[test]
    fn what_is_left_keeps_the_bound() {
        let single = |i: usize| 30.0 / (i - 499) as f64;
        let values = Dense::new(600, |i, j| match (i < 500, j < 500) {
            (true, true) => 0.2,
            _ if i == j => single(i),
            _ => 0.0,
        });
        let eigenvalues: Vec<f64> = [100.0].into_iter().chain((500..600).map(single)).collect();
        let tail = |p: usize| eigenvalues[p..].iter().sum::<f64>();
        let (p, epsilon, runs) = (3, 0.25, 10_000);
        let enough = p as f64 / epsilon + p as f64 * (tail(0) / (epsilon * tail(p))).ln();
        let (count, weights) = (enough.ceil() as usize, [1.0; 600]);
        assert_eq!(count, 19);
        let candidates = Candidates::new(&values, &weights);
        let mean = (0..runs).map(|seed| {
            let draws = Draws::new(seed, Stream::Landmarks, 0);
            let left = pivots(&candidates, count, 0.0, 16, draws, &go_on).unwrap().1;
            assert!(left > tail(count) - 1e-9, "better than the best");
            left
        });
        let mean = mean.sum::<f64>() / runs as f64;
        let bound = (1.0 + epsilon) * tail(p) + tail(0) * (1e9f64.ln() / (2.0 * runs as f64)).sqrt();
        assert!(mean < bound, "{mean} left, bound {bound}");
        // Uniform landmarks take 19/6 of the singles in the mean, and no more than all of the copies.
        let uniform = tail(1) * (1.0 - count as f64 / 600.0);
        assert!(uniform > bound, "the test has no power");
    }

    /// No candidate that is left out has more than the tolerance, and none is taken with less.
    #[test]
    fn the_tolerance_is_kept() {
        let values = Dense::random(80, 100, 6);
        let decaying = Dense::new(80, |i, j| {
            (0..80).map(|k| values.at(i, k) * values.at(k, j) * (-0.5 * k as f64).exp()).sum()
        });
        let largest = decaying.diagonal().into_iter().fold(0.0, f64::max);
        for tolerance in [1e-2, 1e-4, 1e-6] {
            let choice = Choice::Cholesky { tolerance };
            let chosen = choice.choose(&decaying, &[1.0; 80], 80, 3, &go_on).unwrap();
            assert!(chosen.len() < 60);
            let last = residual(&decaying, &chosen[..chosen.len() - 1])[chosen[chosen.len() - 1]];
            assert!(last > tolerance * largest);
            let rest = residual(&decaying, &chosen);
            assert!(rest.iter().all(|&r| r < 1.01 * tolerance * largest));
        }
    }
}

//! Kernel matrices to choose from, and the laws that every choice keeps.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::factor::Factor;
use super::{Candidates, Choice, Values};
use crate::random::{Draws, Stream};
use crate::{Error, Result};

pub(super) const CHOICES: [Choice; 5] = [
    Choice::Uniform,
    Choice::KMeansPlusPlus,
    Choice::Leverage { sample: None },
    Choice::Leverage { sample: Some(8) },
    Choice::Cholesky { tolerance: 0.0 },
];

pub(super) fn go_on(_: f64) -> Result<()> {
    Ok(())
}

/// A kernel matrix, given.
#[derive(Clone)]
pub(super) struct Dense {
    pub(super) count: usize,
    pub(super) entries: Vec<f64>,
}

impl Dense {
    pub(super) fn new(count: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        Dense { count, entries: (0..count * count).map(|at| entry(at / count, at % count)).collect() }
    }

    /// Products of random rows, each scaled by its place: positive definite if `rank` is at least `count`.
    pub(super) fn random(count: usize, rank: usize, seed: u64) -> Self {
        let mut draws = Draws::new(seed, Stream::Pairs, 0);
        let rows: Vec<f64> =
            (0..count * rank).map(|at| draws.normal() / (1.0 + (at / rank) as f64).sqrt()).collect();
        let row = |i: usize| &rows[i * rank..(i + 1) * rank];
        Dense::new(count, |i, j| row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum())
    }

    pub(super) fn at(&self, i: usize, j: usize) -> f64 {
        self.entries[i * self.count + j]
    }

    /// Candidate i at each of the places where it is named.
    pub(super) fn repeated(&self, places: &[usize]) -> Self {
        Dense::new(places.len(), |i, j| self.at(places[i], places[j]))
    }
}

impl Values for Dense {
    fn count(&self) -> usize {
        self.count
    }

    fn diagonal(&self) -> Vec<f64> {
        (0..self.count).map(|i| self.at(i, i)).collect()
    }

    fn columns(&self, chosen: &[usize], out: &mut [f64]) {
        for (&j, out) in chosen.iter().zip(out.chunks_exact_mut(self.count)) {
            out.iter_mut().enumerate().for_each(|(i, out)| *out = self.at(i, j));
        }
    }
}

/// The Gaussian kernel exp(−|x − y|²/2σ²) of points, counting its values.
pub(super) struct Points {
    pub(super) dim: usize,
    pub(super) rows: Vec<f64>,
    pub(super) sigma: f64,
    pub(super) evaluated: AtomicUsize,
}

impl Points {
    pub(super) fn new(dim: usize, rows: Vec<f64>, sigma: f64) -> Self {
        Points { dim, rows, sigma, evaluated: AtomicUsize::new(0) }
    }

    /// Parts of (points, distance of the centre from 0, spread around it), mixed.
    pub(super) fn clusters(dim: usize, parts: &[(usize, f64, f64)], sigma: f64) -> Self {
        let mut rows: Vec<(u32, Vec<f64>)> = Vec::new();
        for (part, &(count, distance, spread)) in parts.iter().enumerate() {
            let mut draws = Draws::new(part as u64, Stream::Pairs, 1);
            let centre: Vec<f64> = (0..dim).map(|_| draws.normal()).collect();
            let length = centre.iter().map(|x| x * x).sum::<f64>().sqrt();
            for _ in 0..count {
                let row = centre.iter().map(|x| x * distance / length + spread * draws.normal()).collect();
                rows.push((draws.word(), row));
            }
        }
        rows.sort_by_key(|(hash, _)| *hash);
        Points::new(dim, rows.into_iter().flat_map(|(_, row)| row).collect(), sigma)
    }

    fn value(&self, i: usize, j: usize) -> f64 {
        let (x, y) = (&self.rows[i * self.dim..][..self.dim], &self.rows[j * self.dim..][..self.dim]);
        let square: f64 = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum();
        libm::exp(-square / (2.0 * self.sigma * self.sigma))
    }
}

impl Values for Points {
    fn count(&self) -> usize {
        self.rows.len() / self.dim
    }

    fn diagonal(&self) -> Vec<f64> {
        vec![1.0; self.count()]
    }

    fn columns(&self, chosen: &[usize], out: &mut [f64]) {
        self.block(&(0..self.count()).collect::<Vec<_>>(), chosen, out);
    }

    fn block(&self, rows: &[usize], chosen: &[usize], out: &mut [f64]) {
        self.evaluated.fetch_add(rows.len() * chosen.len(), Ordering::Relaxed);
        for (&j, out) in chosen.iter().zip(out.chunks_exact_mut(rows.len().max(1))) {
            rows.iter().zip(out).for_each(|(&i, out)| *out = self.value(i, j));
        }
    }
}

/// The part of Σ w·k(x, x) that the projection on these landmarks leaves.
pub(super) fn left(values: &dyn Values, weights: &[f64], landmarks: &[usize]) -> f64 {
    let candidates = Candidates::new(values, weights);
    let mut factor = Factor::new(&candidates);
    for block in landmarks.chunks(128) {
        factor.propose(block, &vec![0.0; block.len()], |now, _| now > 1e-12);
    }
    let sum = |of: &[f64]| of.iter().zip(weights).map(|(value, weight)| value.max(0.0) * weight).sum::<f64>();
    sum(&factor.residual) / sum(&candidates.diagonal)
}

/// Ordered tuples and their probabilities.
pub(super) type Law = BTreeMap<Vec<usize>, f64>;

/// The law of `depth` draws out of `count`, each in proportion to `masses(those taken before)`.
pub(super) fn law(count: usize, depth: usize, masses: &dyn Fn(&[usize]) -> Vec<f64>) -> Law {
    let mut law = Law::from([(vec![], 1.0)]);
    for _ in 0..depth {
        let mut longer = Law::new();
        for (taken, chance) in law {
            let masses = masses(&taken);
            let sum: f64 = masses.iter().sum();
            for next in (0..count).filter(|&i| masses[i] > 0.0) {
                longer.insert([&taken[..], &[next]].concat(), chance * masses[next] / sum);
            }
        }
        law = longer;
    }
    law
}

/// The law of what tuples become when candidate i is called `names[i]`.
pub(super) fn renamed(law: &Law, names: &[usize]) -> Law {
    let mut renamed = Law::new();
    for (tuple, chance) in law {
        *renamed.entry(tuple.iter().map(|&i| names[i]).collect()).or_default() += chance;
    }
    renamed
}

/// The largest |frequency − probability| in units of what a right sampler stays within but with probability 1e-9.
///
/// Bernstein for each of the C tuples at α = 1e-9/C, with L = ln(2/α): |f − p| ≤ √(2p(1−p)L/n) + 2L/(3n). Tuples that the law
/// does not know have p = 0.
pub(super) fn misfit(law: &Law, runs: usize, draw: impl Fn(u64) -> Vec<usize>) -> f64 {
    let mut counts: BTreeMap<Vec<usize>, usize> = law.keys().map(|tuple| (tuple.clone(), 0)).collect();
    (0..runs as u64).for_each(|seed| *counts.entry(draw(seed)).or_default() += 1);
    let (n, log) = (runs as f64, (2.0 * counts.len() as f64 / 1e-9).ln());
    let misfits = counts.iter().map(|(tuple, &count)| {
        let p = law.get(tuple).copied().unwrap_or(0.0);
        let radius = (2.0 * p * (1.0 - p).max(0.0) * log / n).sqrt() + 2.0 * log / (3.0 * n);
        (count as f64 / n - p).abs() / radius
    });
    misfits.fold(0.0, f64::max)
}

/// Fails unless these are distinct candidates, `most` at most.
fn assert_distinct(chosen: &[usize], count: usize, most: usize, what: &str) {
    let mut sorted = chosen.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), chosen.len(), "{what}: taken twice in {chosen:?}");
    assert!(chosen.len() <= most && chosen.iter().all(|&i| i < count), "{what}: {chosen:?} of {count}");
}

#[test]
fn choices_are_distinct_and_repeatable() {
    for count in [0, 1, 2, 7, 40, 300] {
        let values = Dense::random(count, count + 3, 5);
        let weights: Vec<f64> = (0..count).map(|i| 1.0 + (i % 3) as f64).collect();
        for choice in CHOICES {
            for most in [0, 1, 5, 39, 40, 1000] {
                let chosen = choice.choose(&values, &weights, most, 3, &go_on).unwrap();
                assert_distinct(&chosen, count, most, "positive definite");
                assert_eq!(chosen.len(), most.min(count), "{choice:?}");
                assert_eq!(chosen, choice.choose(&values, &weights, most, 3, &go_on).unwrap());
            }
        }
    }
}

#[test]
fn uniform_takes_the_first() {
    let values = Dense::random(9, 12, 5);
    let weights: Vec<f64> = (1..10).map(f64::from).collect();
    assert_eq!(Choice::Uniform.choose(&values, &weights, 4, 1, &go_on).unwrap(), [0, 1, 2, 3]);
}

#[test]
fn the_seed_decides() {
    let (values, weights) = (Dense::random(300, 310, 5), vec![1.0; 300]);
    for choice in CHOICES.into_iter().filter(|&choice| choice != Choice::Uniform) {
        let [one, other] = [3, 4].map(|seed| choice.choose(&values, &weights, 20, seed, &go_on).unwrap());
        assert_ne!(one, other, "{choice:?}");
    }
}

#[test]
fn a_block_of_its_own_changes_nothing() {
    /// Whole columns only.
    struct Whole(Points);
    impl Values for Whole {
        fn count(&self) -> usize {
            self.0.count()
        }
        fn diagonal(&self) -> Vec<f64> {
            self.0.diagonal()
        }
        fn columns(&self, chosen: &[usize], out: &mut [f64]) {
            self.0.columns(chosen, out);
        }
    }
    let points = || Points::clusters(3, &[(150, 0.0, 1.0), (50, 4.0, 0.1)], 1.0);
    for choice in CHOICES {
        let chosen = choice.choose(&points(), &[1.0; 200], 30, 3, &go_on).unwrap();
        assert_eq!(chosen, choice.choose(&Whole(points()), &[1.0; 200], 30, 3, &go_on).unwrap());
    }
}

#[test]
fn choices_stop_when_told() {
    let values = Points::clusters(3, &[(400, 0.0, 1.0)], 1.0);
    for choice in CHOICES.into_iter().filter(|&choice| choice != Choice::Uniform) {
        let asked = AtomicUsize::new(0);
        let count = |done: f64| {
            assert!((0.0..=1.0).contains(&done));
            asked.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        choice.choose(&values, &[1.0; 400], 60, 3, &count).unwrap();
        let often = asked.load(Ordering::Relaxed);
        assert!(often > 2, "{choice:?} asked {often} times");
        for stop in 0..often {
            let left = AtomicUsize::new(stop);
            let check = |_: f64| match left.fetch_sub(1, Ordering::Relaxed) {
                0 => Err(Error::Interrupted),
                _ => Ok(()),
            };
            let stopped = choice.choose(&values, &[1.0; 400], 60, 3, &check);
            assert!(matches!(stopped, Err(Error::Interrupted)));
        }
    }
}

#[test]
fn candidates_that_cannot_be_taken_change_nothing() {
    let clean = Dense::random(40, 50, 5);
    let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0];
    // Candidates 0, 3, 6 … of the larger matrix are bad in themselves, candidates 1, 4, 7 … in their weights.
    let values =
        Dense::new(120, |i, j| if i == j && i % 3 == 0 { bad[i / 3 % 5] } else { clean.at(i / 3, j / 3) });
    let weights: Vec<f64> = (0..120).map(|i| if i % 3 == 1 { bad[i / 3 % 5] } else { 1.5 }).collect();
    for choice in CHOICES {
        let expected = choice.choose(&clean, &[1.5; 40], 10, 3, &go_on).unwrap();
        let expected: Vec<usize> = expected.into_iter().map(|i| 3 * i + 2).collect();
        assert_eq!(choice.choose(&values, &weights, 10, 3, &go_on).unwrap(), expected, "{choice:?}");
    }
}

/// No panic, no endless loop, and every answer a set of candidates.
#[test]
fn nonsense_is_survived() {
    let n = 40;
    let fair = Dense::random(n, n + 5, 5);
    let mut odd = Vec::new();
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e308, -1e308, 1e-320, 1e160] {
        odd.push(Dense::new(n, |_, _| bad));
        odd.push(Dense::new(n, |i, j| if i == j { bad } else { fair.at(i, j) }));
        odd.push(Dense::new(n, |i, j| if i != j { bad } else { fair.at(i, j) }));
        odd.push(Dense::new(n, |i, j| if i == 7 || j == 7 { bad } else { fair.at(i, j) }));
        odd.push(Dense::new(n, |i, j| if i < j { bad } else { fair.at(i, j) }));
        odd.push(Dense::new(n, |i, j| if (i * 31 + j * 17) % 5 == 0 { bad } else { fair.at(i, j) }));
        odd.push(Dense::new(n, |i, j| if i == j { bad * (1.0 + i as f64) } else { 0.0 }));
    }
    odd.push(Dense::new(n, |i, j| -fair.at(i, j)));
    let mut choices = CHOICES.to_vec();
    let tolerances = [f64::NAN, f64::INFINITY, -1.0, 1e-7];
    choices.extend(tolerances.map(|tolerance| Choice::Cholesky { tolerance }));
    choices.extend([0, 1, 2, 39, 40, usize::MAX].map(|sample| Choice::Leverage { sample: Some(sample) }));
    let weights = [
        vec![1.0; n],
        vec![1.0; n - 3],
        vec![],
        vec![1e308; n],
        vec![1e-320; n],
        (0..n).map(|i| [f64::NAN, f64::INFINITY, 0.0, -1.0, 1.0][i % 5]).collect(),
    ];
    for (which, values) in odd.iter().enumerate() {
        for weights in &weights {
            for choice in &choices {
                for count in [1, 10, 39, usize::MAX] {
                    let chosen = choice.choose(values, weights, count, 3, &go_on).unwrap();
                    assert_distinct(&chosen, n, count, &format!("matrix {which}, {choice:?}"));
                    assert!(chosen.iter().all(|&i| values.at(i, i) > 0.0 && weights[i] > 0.0));
                }
            }
        }
    }
}

/// A kernel whose diagonal is not what its columns say.
#[test]
fn a_diagonal_that_is_none_is_survived() {
    struct Wrong(Dense, f64);
    impl Values for Wrong {
        fn count(&self) -> usize {
            self.0.count
        }
        fn diagonal(&self) -> Vec<f64> {
            self.0.diagonal().iter().map(|value| value * self.1).collect()
        }
        fn columns(&self, chosen: &[usize], out: &mut [f64]) {
            self.0.columns(chosen, out);
        }
    }
    for scale in [1e-3, 0.5, 1.5, 1e3] {
        for choice in CHOICES {
            for seed in 0..50 {
                let values = Wrong(Dense::random(10, 20, 5), scale);
                let chosen = choice.choose(&values, &[1.0; 10], 9, seed, &go_on).unwrap();
                assert_distinct(&chosen, 10, 9, &format!("{choice:?}"));
            }
        }
    }
}

/// A value that is not finite spoils its pair, not the choice.
#[test]
fn one_bad_candidate_does_not_end_a_choice() {
    let fair = Dense::random(60, 70, 5);
    let values = Dense::new(60, |i, j| if i != j && (i == 7 || j == 7) { f64::NAN } else { fair.at(i, j) });
    for choice in CHOICES {
        for seed in 0..20 {
            assert_eq!(choice.choose(&values, &[1.0; 60], 30, seed, &go_on).unwrap().len(), 30, "{choice:?}");
        }
    }
}

/// 1,980 points lie within 0.02 of each other and 20 far from everything. Uniform landmarks see the 20 by chance only and leave
/// nearly all of their 1 %; the others find them. Means over 20 seeds, of which the choices are functions.
#[test]
fn what_is_rare_is_found() {
    let points = Points::clusters(4, &[(1_980, 0.0, 0.01), (20, 0.0, 8.0)], 1.0);
    let mean = |choice: Choice| {
        let left = (0..20).map(|seed| {
            left(&points, &[1.0; 2000], &choice.choose(&points, &[1.0; 2000], 40, seed, &go_on).unwrap())
        });
        left.sum::<f64>() / 20.0
    };
    let uniform = mean(Choice::Uniform);
    assert!(uniform > 0.008, "uniform landmarks left {uniform}");
    for (choice, times) in [
        (Choice::KMeansPlusPlus, 100.0),
        (Choice::Leverage { sample: None }, 20.0),
        (Choice::Cholesky { tolerance: 0.0 }, 100.0),
    ] {
        let left = mean(choice);
        assert!(times * left < uniform, "{choice:?} left {left}, uniform {uniform}");
    }
}

#[test]
fn few_are_taken_where_few_say_all() {
    // Twelve different candidates, each five times, in three dimensions.
    let values = Dense::random(12, 3, 5).repeated(&(0..60).map(|i| i % 12).collect::<Vec<_>>());
    let taken = |choice: Choice| choice.choose(&values, &[1.0; 60], 40, 3, &go_on).unwrap();
    for tolerance in [0.0, 1e-10] {
        assert_eq!(taken(Choice::Cholesky { tolerance }).len(), 3);
    }
    assert_eq!(taken(Choice::KMeansPlusPlus).len(), 12);
    // Leverage looks at each by itself: repeated ones all have their share.
    assert_eq!(taken(Choice::Leverage { sample: None }).len(), 40);
}

/// Kernel values are the cost of a user's own kernel.
#[test]
fn values_are_asked_for_once() {
    let points = Points::clusters(4, &[(3_000, 0.0, 1.0)], 1.0);
    let asked = |choice: Choice| {
        points.evaluated.store(0, Ordering::Relaxed);
        choice.choose(&points, &[1.0; 3000], 200, 3, &go_on).unwrap();
        points.evaluated.load(Ordering::Relaxed) as f64 / (3_000.0 * 200.0)
    };
    assert!(asked(Choice::Uniform) < 1e-9);
    assert!((asked(Choice::KMeansPlusPlus) - 1.0).abs() < 1e-9);
    assert!(asked(Choice::Cholesky { tolerance: 0.0 }) < 1.1);
    assert!(asked(Choice::Leverage { sample: None }) < 2.6);
}

use bochner_testkit::{ALPHA, bernstein_radius, variance_interval};

use super::*;
use crate::{EngineSpec, Rows};

fn grams() -> Vec<Grams> {
    vec![
        Grams::Spectrum { k: 2 },
        Grams::Gapped { length: 4, k: 2 },
        Grams::Mismatch { k: 3, mismatches: 1, alphabet: Grams::DNA.to_owned() },
        Grams::Characters { from: 1, to: 2 },
        Grams::Words { from: 1, to: 2 },
    ]
}

/// Short texts with words in them.
const A: &str = "ACG TACG TTG CA ACG";
const B: &str = "TTG CA CGTA GG TACG";

/// z(a)·z(b) for so many seeds, with or without signs.
fn products(sequence: &Sequence, (a, b): (&str, &str), seeds: u64, signed: bool) -> Vec<f64> {
    let engine = EngineSpec { threads: 1, ..EngineSpec::default() }.build();
    let texts: TextColumn = [a, b].into_iter().collect();
    let product = |seed: u64| {
        let sequence = Sequence { seed, ..sequence.clone() };
        let hashed = sequence.hashed(signed).unwrap();
        let rows = sequence.build().unwrap().encode_with::<f64>(&engine, &texts, hashed).unwrap();
        let rows = Rows::from(&rows);
        Kernel::Linear.eval(&rows, 0, &rows, 1)
    };
    (0..seeds).map(product).collect()
}

/// (K(a, a)·K(b, b) + K(a, b)² − 2Σ count²·count²)/m, and Σ count(a)·Σ count(b), which bounds the product.
fn moments(sequence: &Sequence, a: &str, b: &str) -> (f64, f64) {
    let mut walk = Walk::new(&sequence.grams);
    let (x, y) = (walk.counts(a), walk.counts(b));
    let square = |counts: &[(u64, f64)]| counts.iter().map(|(key, c)| (*key, c * c)).collect::<Vec<_>>();
    let inner = |x: &[(u64, f64)], y: &[(u64, f64)]| shared(x, y, |_| 1.0);
    let fourth = inner(&square(&x), &square(&y));
    let variance =
        (inner(&x, &x) * inner(&y, &y) + inner(&x, &y).powi(2) - 2.0 * fourth) / sequence.width as f64;
    let size = |counts: &[(u64, f64)]| counts.iter().map(|(_, c)| c).sum::<f64>();
    (variance, size(&x) * size(&y))
}

/// E[z(a)·z(b)] = Σ count_u(a)·count_u(b), for every kind of grams: by Bernstein a correct encoder fails with probability at most 1e-9. Without signs the mean is too large by s·(ΣΣ − K)/m.
#[test]
fn hashing_is_unbiased_with_signs_and_biased_without() {
    let seeds = 10_000;
    for grams in grams() {
        let sequence = Sequence { width: 64, ..Sequence::new(grams) };
        let exact = sequence.exact(A, B).unwrap();
        assert!(exact > 0.0, "{sequence}");
        let (variance, size) = moments(&sequence, A, B);
        let radius = bernstein_radius(seeds as usize, variance, 2.0 * size, ALPHA);
        let mean = |signed| products(&sequence, (A, B), seeds, signed).iter().sum::<f64>() / seeds as f64;
        let found = mean(true);
        assert!((found - exact).abs() <= radius, "{sequence}: {found} ≠ {exact} ± {radius}");
        let found = mean(false);
        assert!(found > exact + radius, "{sequence}: the test has no power: {found}, {exact} ± {radius}");
        let bias = 4.0 * (size - exact) / 64.0;
        assert!((found - exact - bias).abs() < 0.2 * bias, "{sequence}: {found} − {exact} ≠ {bias}");
    }
}

/// The variance is the stated one: an interval at 1e-9 holds it, and neither half nor twice of it.
#[test]
fn the_variance_is_that_of_the_formula() {
    let sequence = Sequence { width: 4, nonzeros: 2, ..Sequence::new(Grams::Spectrum { k: 1 }) };
    let (a, b) = ("abc", "cde");
    let (variance, size) = moments(&sequence, a, b);
    assert!((variance - (9.0 + 1.0 - 2.0) / 4.0).abs() < 1e-12);
    let samples = products(&sequence, (a, b), 150_000, true);
    let (low, high) = variance_interval(&samples, 2.0 * size, ALPHA);
    assert!(low <= variance && variance <= high, "{variance} not in {low} to {high}");
    assert!(0.5 * variance < low && high < 2.0 * variance, "no power: {low} to {high}");
}

/// Slots of the counts of texts that grams share make them too large, never too small.
#[test]
fn grams_are_counted_once_for_each_text() {
    let engine = Engine::default();
    let texts: TextColumn = ["aaaa", "aab", "", "b"].into_iter().collect();
    let mut documents = Documents::default();
    documents.absorb(&engine, &Grams::Spectrum { k: 1 }, &texts, None).unwrap();
    let count = |gram: &str| documents.counts()[documents::slot(xxhash_rust::xxh3::xxh3_64(gram.as_bytes()))];
    assert_eq!((documents.total(), count("a"), count("b"), count("c")), (4.0, 2.0, 2.0, 0.0));
}

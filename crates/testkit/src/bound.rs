//! How far an estimate may lie from the truth before a test may call it wrong.
//!
//! ```text
//! P(|estimate − truth| > radius(n, α)) ≤ α      for every law that meets the stated conditions, at every n
//! ```
//! The bounds hold for finite samples, without appeal to a normal limit, so a test that uses one can state
//! its false-alarm rate and mean it. They are wider than a normal interval by a small factor; more terms buy
//! it back.

/// The false-alarm rate of a test that has no reason to choose another: one in a thousand million.
pub const ALPHA: f64 = 1e-9;

/// The radius that the mean of `n` independent terms, each in an interval of length `range`, keeps to.
///
/// ```text
/// P(|X̄ − E X̄| ≥ r) ≤ 2 exp(−2 n r² / range²)      (Hoeffding 1963, theorem 2)
/// r = range · √(ln(2/α) / 2n)
/// ```
pub fn hoeffding_radius(n: usize, range: f64, alpha: f64) -> f64 {
    check(n, range, alpha);
    range * ((2.0 / alpha).ln() / (2.0 * n as f64)).sqrt()
}

/// The radius that the mean of `n` independent terms keeps to when their variances average at most `variance`
/// and no term strays further than `range` from its own mean.
///
/// ```text
/// P(|X̄ − E X̄| ≥ r) ≤ 2 exp(−n r² / 2(v + M r/3))      (Bernstein; v = variance, M = range)
/// r = (LM/3 + √((LM/3)² + 2 n v L)) / n,   L = ln(2/α),   the positive root of  n r² = 2L(v + M r/3)
/// ```
/// Note that `range` is a distance from the mean here, and the length of an interval in [`hoeffding_radius`].
pub fn bernstein_radius(n: usize, variance: f64, range: f64, alpha: f64) -> f64 {
    check(n, range, alpha);
    assert!(variance >= 0.0, "a variance is at least 0, found {variance}");
    let (terms, log) = (n as f64, (2.0 / alpha).ln());
    let third = log * range / 3.0;
    (third + (third * third + 2.0 * terms * variance * log).sqrt()) / terms
}

/// An interval that holds the variance σ² of the law of the samples: independent draws of one law that lives
/// in an interval of length `range` = R.
///
/// Two inequalities about the unbiased sample variance V, each two-sided at level α/2, both used:
///
/// ```text
/// |V − σ²| ≤ (R²/2) √(ln(4/α) / 2⌊n/2⌋)       V is the U-statistic of (x − x′)²/2, which lies in [0, R²/2]
///                                             (Hoeffding 1963, section 5)
/// |√V − σ| ≤ R √(2 ln(4/α) / (n − 1))         (Maurer & Pontil 2009, theorem 10, on samples divided by R)
/// ```
/// The first is the sharper one for σ above about R/6, the second below. The interval is cut to [0, R²/4],
/// since no law on an interval of length R has a larger variance.
pub fn variance_interval(samples: &[f64], range: f64, alpha: f64) -> (f64, f64) {
    let n = samples.len();
    check(n, range, alpha);
    assert!(n >= 2, "a sample variance needs two samples, found {n}");
    let mean = samples.iter().sum::<f64>() / n as f64;
    let variance = samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
    let log = (4.0 / alpha).ln();
    let around_variance = range * range / 2.0 * (log / (2 * (n / 2)) as f64).sqrt();
    let around_deviation = range * (2.0 * log / (n - 1) as f64).sqrt();
    let least = (variance.sqrt() - around_deviation).max(0.0).powi(2).max(variance - around_variance);
    let most = (variance.sqrt() + around_deviation).powi(2).min(variance + around_variance);
    (least, most.min(range * range / 4.0))
}

/// The largest success probability that `successes` out of `n` leave believable: one-sided Clopper–Pearson.
///
/// ```text
/// u(k) = sup { p : P(Bin(n, p) ≤ k) ≥ α },      P(u(K) < p) ≤ α   when K ~ Bin(n, p)
/// ```
/// By bisection on the exact tail, rounded outwards. Wants α ≤ 1/2.
pub fn binomial_upper(successes: usize, n: usize, alpha: f64) -> f64 {
    check_count(successes, n, alpha);
    if successes == n {
        return 1.0;
    }
    let log_choose = ln_choose(n, successes);
    // At p = k/n the median is k, so that the tail is at least 1/2 ≥ α: a lower end to start from.
    let believable = |p: f64| tail(successes, n, (p, 1.0 - p), log_choose) >= alpha;
    bisect(successes as f64 / n as f64, 1.0, believable).1
}

/// The smallest success probability that `successes` out of `n` leave believable: one-sided Clopper–Pearson.
///
/// ```text
/// l(k) = inf { p : P(Bin(n, p) ≥ k) ≥ α },      P(l(K) > p) ≤ α   when K ~ Bin(n, p)
/// ```
pub fn binomial_lower(successes: usize, n: usize, alpha: f64) -> f64 {
    check_count(successes, n, alpha);
    if successes == 0 {
        return 0.0;
    }
    let log_choose = ln_choose(n, successes);
    // At least k successes are at most n − k failures.
    let unbelievable = |p: f64| tail(n - successes, n, (1.0 - p, p), log_choose) < alpha;
    bisect(0.0, successes as f64 / n as f64, unbelievable).0
}

/// The two-sided Clopper–Pearson interval: [`binomial_lower`] and [`binomial_upper`], each at α/2.
pub fn binomial_interval(successes: usize, n: usize, alpha: f64) -> (f64, f64) {
    (binomial_lower(successes, n, alpha / 2.0), binomial_upper(successes, n, alpha / 2.0))
}

/// P(Bin(n, p) ≤ k) for p ≥ k/n, where the terms fall from k downwards; `chances` = (p, 1 − p).
fn tail(k: usize, n: usize, chances: (f64, f64), log_choose: f64) -> f64 {
    let (p, q) = chances;
    // The smaller of p and q is the one that is known to full precision.
    let ln_p = if p < 0.5 { p.ln() } else { (-q).ln_1p() };
    let ln_q = if q < 0.5 { q.ln() } else { (-p).ln_1p() };
    let mut term = (log_choose + k as f64 * ln_p + (n - k) as f64 * ln_q).exp();
    let mut sum = term;
    for j in (1..=k).rev() {
        term *= j as f64 * q / ((n - j + 1) as f64 * p);
        sum += term;
        if term < 1e-18 * sum {
            break;
        }
    }
    sum
}

/// ln C(n, k) = Σ ln((n − m + i) / i) over i = 1..=m, with m the smaller of k and n − k.
fn ln_choose(n: usize, k: usize) -> f64 {
    let m = k.min(n - k);
    (1..=m).map(|i| ((n - m + i) as f64 / i as f64).ln()).sum()
}

/// The two neighbouring numbers between `low`, where `holds` is taken to hold, and `high`, where it does not,
/// at which it changes.
fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> (f64, f64) {
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return (low, high);
        }
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
}

fn check(n: usize, range: f64, alpha: f64) {
    assert!(n > 0, "a mean needs at least one term");
    assert!(range >= 0.0, "a range is at least 0, found {range}");
    assert!(alpha > 0.0 && alpha < 1.0, "a false-alarm rate lies in (0, 1), found {alpha}");
}

fn check_count(successes: usize, n: usize, alpha: f64) {
    assert!(n > 0 && successes <= n, "expected at most {n} successes and n > 0, found {successes}");
    assert!(alpha > 0.0 && alpha <= 0.5, "a one-sided level lies in (0, 1/2], found {alpha}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Absolute, Chance, Relative, assert_close};

    const TRIALS: usize = 4_000;

    /// Whether a bound rated `alpha` could have been missed `misses` times in `TRIALS`, at level ALPHA.
    fn keeps_its_rate(misses: usize, alpha: f64) -> bool {
        binomial_lower(misses, TRIALS, ALPHA) <= alpha
    }

    /// Of `TRIALS` means of `n` draws, how many lie further than `radius` from `mean`.
    fn misses(n: usize, mean: f64, radius: f64, draw: impl Fn(&mut Chance) -> f64) -> usize {
        let mut chance = Chance::new(7);
        let mut trial = || (0..n).map(|_| draw(&mut chance)).sum::<f64>() / n as f64;
        (0..TRIALS).filter(|_| (trial() - mean).abs() > radius).count()
    }

    fn coin(chance: &mut Chance, p: f64) -> f64 {
        f64::from(u8::from(chance.uniform() < p))
    }

    #[test]
    fn radii_have_their_closed_forms() {
        // ln(2e9) = 21.416413; then, at ln(2/α) = 3: v = 0 leaves 2LM/3n, M = 0 leaves √(2vL/n).
        assert_close(&[hoeffding_radius(1_000_000, 2.0, 1e-9)], &[0.006_544_679_2], Relative(1e-7));
        let alpha = 2.0 * (-3.0_f64).exp();
        assert_close(&[bernstein_radius(10, 0.0, 5.0, alpha)], &[1.0], Relative(1e-14));
        assert_close(&[bernstein_radius(6, 4.0, 0.0, alpha)], &[2.0], Relative(1e-14));
    }

    #[test]
    fn bernstein_solves_its_equation() {
        let (n, v, m, alpha) = (50, 0.3, 2.0, 1e-6);
        let r = bernstein_radius(n, v, m, alpha);
        let bound = 2.0 * (-(n as f64) * r * r / (2.0 * (v + m * r / 3.0))).exp();
        assert_close(&[bound], &[alpha], Relative(1e-10));
    }

    /// Fair signs are the worst law for Hoeffding; a third of the radius must be caught out.
    #[test]
    fn hoeffding_keeps_its_rate_and_a_third_of_it_does_not() {
        let sign = |chance: &mut Chance| 2.0 * coin(chance, 0.5) - 1.0;
        let radius = hoeffding_radius(100, 2.0, 0.1);
        assert!(keeps_its_rate(misses(100, 0.0, radius, sign), 0.1));
        assert!(!keeps_its_rate(misses(100, 0.0, radius / 3.0, sign), 0.1), "the test has no power");
    }

    /// Rare successes: Bernstein must hold, must beat Hoeffding, and must fail when the variance is
    /// understated.
    #[test]
    fn bernstein_keeps_its_rate_and_a_wrong_variance_does_not() {
        let (n, p, alpha) = (400, 0.05, 0.1);
        let rare = |chance: &mut Chance| coin(chance, p);
        let radius = |variance| bernstein_radius(n, variance, 1.0 - p, alpha);
        assert!(keeps_its_rate(misses(n, p, radius(p * (1.0 - p)), rare), alpha));
        assert!(radius(p * (1.0 - p)) < hoeffding_radius(n, 1.0, alpha));
        assert!(!keeps_its_rate(misses(n, p, radius(0.0), rare), alpha), "the test has no power");
    }

    #[test]
    fn variance_interval_by_hand() {
        // 500 zeros and 500 ones: V = 1000/4 / 999; α is such that ln(4/α) = 8.
        let samples: Vec<f64> = (0..1000).map(|i| f64::from(i % 2)).collect();
        let alpha = 4.0 * (-8.0_f64).exp();
        let v: f64 = 250.0 / 999.0;
        let by_hoeffding = v - 0.5 * (8.0_f64 / 1000.0).sqrt();
        let by_maurer_pontil = (v.sqrt() - (16.0_f64 / 999.0).sqrt()).powi(2);
        assert!(by_hoeffding > by_maurer_pontil, "a wide law is the first inequality's case");
        let (low, high) = variance_interval(&samples, 1.0, alpha);
        assert_close(&[low, high], &[by_hoeffding, 0.25], Absolute(1e-14));
        // The same samples in a range ten times as wide: V = σ² far below R²/36, the second inequality's
        // case.
        let (low, high) = variance_interval(&samples, 10.0, alpha);
        let high_by_hand = (v.sqrt() + 10.0 * (16.0_f64 / 999.0).sqrt()).powi(2);
        assert_close(&[low, high], &[0.0, high_by_hand], Absolute(1e-14));
    }

    #[test]
    fn variance_interval_keeps_its_rate_and_can_exclude() {
        let trials = |p: f64, range: f64, truth: f64| {
            let mut chance = Chance::new(11);
            let mut trial = || {
                let samples: Vec<f64> = (0..200).map(|_| coin(&mut chance, p)).collect();
                variance_interval(&samples, range, 0.1)
            };
            (0..TRIALS).filter(|_| !matches!(trial(), (l, h) if l <= truth && truth <= h)).count()
        };
        for p in [0.5, 0.2, 0.01] {
            assert!(keeps_its_rate(trials(p, 1.0, p * (1.0 - p)), 0.1), "p = {p}");
        }
        // A range stated ten times too small is the mutant; a truth far away is the power.
        assert!(!keeps_its_rate(trials(0.2, 0.1, 0.16), 0.1), "the test has no power");
        assert_eq!(trials(0.5, 1.0, 0.05), TRIALS);
    }

    #[test]
    fn clopper_pearson_known_answers() {
        // No successes: (1 − u)ⁿ = α. One success in ten and five in ten at 95 %: the printed tables.
        assert_close(&[binomial_upper(0, 20, 0.05)], &[1.0 - 0.05_f64.powf(0.05)], Absolute(1e-14));
        let (l, u) = binomial_interval(1, 10, 0.05);
        assert_close(&[l, u], &[0.002_529, 0.445_016], Absolute(1e-6));
        let (l, u) = binomial_interval(5, 10, 0.05);
        assert_close(&[l, u], &[0.187_086, 0.812_914], Absolute(1e-6));
        assert_close(&[binomial_lower(1, 1_000_000, 1e-9)], &[1e-15], Relative(1e-6));
        let (l, u) = (binomial_interval(0, 5, 0.1).0, binomial_interval(5, 5, 0.1).1);
        assert_close(&[l, u], &[0.0, 1.0], Absolute(0.0));
    }

    /// P(Bin(n, u) ≤ k) = α and P(Bin(n, l) ≥ k) = α, with the tails summed term by term over all outcomes.
    #[test]
    fn clopper_pearson_solves_its_equation() {
        let mass = |j: usize, n: usize, p: f64| {
            ln_choose(n, j).exp() * p.powi(j as i32) * (1.0 - p).powi((n - j) as i32)
        };
        let (n, alpha) = (60, 1e-3);
        for k in 1..n {
            let (l, u) = (binomial_lower(k, n, alpha), binomial_upper(k, n, alpha));
            let at_most: f64 = (0..=k).map(|j| mass(j, n, u)).sum();
            let at_least: f64 = (k..=n).map(|j| mass(j, n, l)).sum();
            assert_close(&[at_most, at_least], &[alpha, alpha], Relative(1e-10));
        }
    }
}

//! Metrics of numbers.
//!
//! ```text
//! e = y − ŷ,  q = e²,  w = (y − ȳ)²
//!
//! RMSE = √q̄                 MAE = mean |e|                   R² = 1 − ρ,  ρ = q̄/w̄
//! se(ln RMSE) = sd(q)/(2·q̄·√n)   se(ln MAE) = sd(|e|)/(MAE·√n)     se(ln ρ) = sd(q − ρ·w)/(q̄·√n)
//! ```
//! The delta method on the logarithm, whose law is nearer to normal than that of a mean of squares and which keeps the ends on their side of
//! zero: an interval is value·exp(±1.96·se), that of R² is 1 less that of ρ. That ȳ is estimated too changes ρ by O(1/n)
//! only. All of it follows from sums of q, |e| and u = y − c up to the fourth order in y, where c is the first block's mean, so that targets far from
//! zero keep their digits.

use serde::Serialize;

use super::{Estimate, Z};

/// Sums over the rows as they are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct NumberMetrics {
    rows: u64,
    /// c.
    centre: f64,
    /// Σ|e|
    absolute: f64,
    /// Σq, Σq²
    squares: [f64; 2],
    /// Σu, Σu², Σu³, Σu⁴
    powers: [f64; 4],
    /// Σqu, Σqu²
    mixed: [f64; 2],
}

impl NumberMetrics {
    /// Reads a block.
    pub(crate) fn absorb(&mut self, truth: &[f64], predicted: &[f64]) {
        if self.rows == 0 && !truth.is_empty() {
            self.centre = truth.iter().sum::<f64>() / truth.len() as f64;
        }
        for (y, predicted) in truth.iter().zip(predicted) {
            let (e, u) = (y - predicted, y - self.centre);
            let (q, u2) = (e * e, u * u);
            self.rows += 1;
            self.absolute += e.abs();
            add(&mut self.squares, [q, q * q]);
            add(&mut self.powers, [u, u2, u2 * u, u2 * u2]);
            add(&mut self.mixed, [q * u, q * u2]);
        }
    }

    /// The metrics; none without rows.
    pub(crate) fn summary(&self) -> Option<NumberSummary> {
        if self.rows == 0 {
            return None;
        }
        let n = self.rows as f64;
        let mean = |sum: f64| sum / n;
        let (absolute, [q, q2]) = (mean(self.absolute), self.squares.map(mean));
        let ([d, u2, u3, u4], [qu, qu2]) = (self.powers.map(mean), self.mixed.map(mean));
        // Moments about ȳ = c + d.
        let w = (u2 - d * d).max(0.0);
        let w2 = u4 - 4.0 * d * u3 + 6.0 * d * d * u2 - 3.0 * d.powi(4);
        let qw = qu2 - 2.0 * d * qu + d * d * q;
        let ratio = q / w;
        let estimate = |value: f64, variance: f64, scale: f64| {
            let relative = (variance.max(0.0) / n).sqrt() / scale;
            Estimate { value, interval: interval(value, relative, self.rows) }
        };
        let unexplained = estimate(ratio, q2 - 2.0 * ratio * qw + ratio * ratio * w2, q);
        Some(NumberSummary {
            rows: self.rows,
            rmse: estimate(q.sqrt(), q2 - q * q, 2.0 * q),
            mae: estimate(absolute, q - absolute * absolute, absolute),
            // A deviation at the rounding level of the mean is that of a constant.
            r2: (w > (1e-13 * (self.centre + d)).powi(2)).then(|| Estimate {
                value: 1.0 - ratio,
                interval: unexplained.interval.map(|[low, high]| [1.0 - high, 1.0 - low]),
            }),
            interval_method: "delta method on the logarithm",
            baseline_rmse: w.sqrt(),
        })
    }
}

fn add<const N: usize>(to: &mut [f64; N], terms: [f64; N]) {
    to.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}

/// value·exp(±z·relative); without rows to tell from, none.
fn interval(value: f64, relative: f64, rows: u64) -> Option<[f64; 2]> {
    if rows < 2 {
        return None;
    }
    // Without any error there is no relative one.
    let reach = if value > 0.0 { (Z * relative).exp() } else { 1.0 };
    Some([value / reach, value * reach])
}

/// Metrics of numbers.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct NumberSummary {
    pub(crate) rows: u64,
    pub(crate) rmse: Estimate,
    pub(crate) mae: Estimate,
    /// None if the targets are constant.
    pub(crate) r2: Option<Estimate>,
    pub(crate) interval_method: &'static str,
    /// Of always predicting the mean of these targets.
    pub(crate) baseline_rmse: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner_testkit::{Chance, Relative, assert_close, binomial_lower, binomial_upper};

    /// y = a + s·x, ŷ = y + heteroscedastic noise, in two blocks.
    fn draw(seed: u64, n: usize) -> (Vec<f64>, Vec<f64>, NumberMetrics) {
        let mut chance = Chance::new(seed);
        let y: Vec<f64> = (0..n).map(|_| 1e4 + 3.0 * chance.normal()).collect();
        let predicted: Vec<f64> =
            y.iter().map(|y| y + (0.3 + 0.1 * (y - 1e4).abs()) * chance.normal()).collect();
        let mut metrics = NumberMetrics::default();
        metrics.absorb(&y[..n / 3], &predicted[..n / 3]);
        metrics.absorb(&y[n / 3..], &predicted[n / 3..]);
        (y, predicted, metrics)
    }

    #[test]
    fn sums_agree_with_the_formulas() {
        let n = 500;
        let (y, predicted, metrics) = draw(1, n);
        let found = metrics.summary().unwrap();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let sd = |values: &[f64]| {
            let centre = mean(values);
            mean(&values.iter().map(|v| (v - centre).powi(2)).collect::<Vec<_>>()).sqrt()
        };
        let root = (n as f64).sqrt();
        let e: Vec<f64> = y.iter().zip(&predicted).map(|(y, p)| (y - p).abs()).collect();
        let q: Vec<f64> = e.iter().map(|e| e * e).collect();
        let centre = mean(&y);
        let w: Vec<f64> = y.iter().map(|y| (y - centre).powi(2)).collect();
        let ratio = mean(&q) / mean(&w);
        let g: Vec<f64> = q.iter().zip(&w).map(|(q, w)| q - ratio * w).collect();
        let ends = |value: f64, relative: f64| [value * (-Z * relative).exp(), value * (Z * relative).exp()];
        let r2 = found.r2.unwrap();
        let [low, high] = ends(ratio, sd(&g) / (mean(&q) * root));
        assert_close(
            &[found.rmse.value, found.mae.value, r2.value, found.baseline_rmse],
            &[mean(&q).sqrt(), mean(&e), 1.0 - ratio, mean(&w).sqrt()],
            Relative(1e-9),
        );
        assert_close(
            &found.rmse.interval.unwrap(),
            &ends(mean(&q).sqrt(), sd(&q) / (2.0 * mean(&q) * root)),
            Relative(1e-9),
        );
        assert_close(
            &found.mae.interval.unwrap(),
            &ends(mean(&e), sd(&e) / (mean(&e) * root)),
            Relative(1e-9),
        );
        assert_close(&r2.interval.unwrap(), &[1.0 - high, 1.0 - low], Relative(1e-9));
    }

    /// Coverage of 95 % within two points, in 4,000 repetitions of 400 rows: the intervals are asymptotic, and two points is what they are granted.
    /// An interval whose true coverage lies in [0.93, 0.97] fails with probability at most 1e-9 on each side; half as wide, it is rejected.
    #[test]
    fn the_intervals_cover() {
        // y − 10⁴ = 3x; e = (0.3 + 0.3|x|)·z: E e² = 0.09·(1 + 2·E|x| + E x²), E|e| = (0.3 + 0.3·E|x|)·E|z|.
        let half_normal = (2.0 / std::f64::consts::PI).sqrt();
        let mse = 0.09 * (2.0 + 2.0 * half_normal);
        let truths = [mse.sqrt(), 0.3 * (1.0 + half_normal) * half_normal, 1.0 - mse / 9.0];
        let repetitions = 4000;
        let mut covered = [[0usize; 3]; 2];
        for seed in 0..repetitions as u64 {
            let found = draw(seed, 400).2.summary().unwrap();
            for (which, estimate) in [found.rmse, found.mae, found.r2.unwrap()].into_iter().enumerate() {
                let [low, high] = estimate.interval.unwrap();
                let (middle, radius) = ((low + high) / 2.0, (high - low) / 2.0);
                let distance = (truths[which] - middle).abs();
                covered[0][which] += usize::from(distance <= radius);
                covered[1][which] += usize::from(distance <= radius / 2.0);
            }
        }
        for which in 0..3 {
            let [whole, half] = [covered[0][which], covered[1][which]];
            assert!(
                binomial_upper(whole, repetitions, 1e-9) >= 0.93,
                "metric {which}: {whole} of {repetitions}"
            );
            assert!(
                binomial_lower(whole, repetitions, 1e-9) <= 0.97,
                "metric {which}: {whole} of {repetitions}"
            );
            assert!(binomial_upper(half, repetitions, 1e-9) < 0.93, "metric {which}: no power");
        }
    }

    #[test]
    fn few_rows_and_perfect_predictions_are_no_trouble() {
        assert!(NumberMetrics::default().summary().is_none());
        let mut one = NumberMetrics::default();
        one.absorb(&[1.0], &[2.0]);
        let found = one.summary().unwrap();
        assert!(found.rmse.interval.is_none() && found.r2.is_none());
        let mut perfect = NumberMetrics::default();
        perfect.absorb(&[1.0, 2.0], &[1.0, 2.0]);
        let found = perfect.summary().unwrap();
        assert_eq!(found.r2.unwrap().interval, Some([1.0, 1.0]));
        assert_eq!(found.rmse.interval, Some([0.0, 0.0]));
    }
}

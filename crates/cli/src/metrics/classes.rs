//! Metrics of classes.
//!
//! ```text
//! accuracy    p = correct / n
//! interval    (p + z²/2n ± z·√(p(1 − p)/n + z²/4n²)) / (1 + z²/n)       (Wilson 1927), z = 1.96
//! precision   correct among the rows predicted as the class
//! recall      correct among the rows of the class
//! ```

use bochner::encode::LabelIndex;
use bochner::{Error, Labels};
use serde::Serialize;

use super::{Estimate, Z};

/// Counts of a classification as they are read.
#[derive(Clone, Debug)]
pub(crate) struct ClassMetrics {
    labels: Labels,
    index: LabelIndex,
    /// Rows of each class: as they are, as predicted, and both.
    counts: Vec<Count>,
    rows: u64,
    /// Rows whose class the model does not know, and one such class.
    unknown: u64,
    example: Option<String>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    actual: u64,
    predicted: u64,
    correct: u64,
}

impl ClassMetrics {
    pub(crate) fn new(labels: &Labels) -> Self {
        let (index, counts) = (labels.index(), vec![Count::default(); labels.len()]);
        ClassMetrics { labels: labels.clone(), index, counts, rows: 0, unknown: 0, example: None }
    }

    /// Reads one row. A class that the model does not know is an error of the prediction.
    pub(crate) fn absorb(&mut self, truth: &str, predicted: usize) {
        self.rows += 1;
        self.counts[predicted].predicted += 1;
        match self.index.class(truth, self.rows) {
            Ok(class) => {
                self.counts[class].actual += 1;
                self.counts[class].correct += u64::from(class == predicted);
            }
            Err(error) => {
                self.unknown += 1;
                if let (None, Error::UnknownClass { label, .. }) = (&self.example, error) {
                    self.example = Some(label);
                }
            }
        }
    }

    /// Rows of unknown classes and one of these, if there are any.
    pub(crate) fn unknown(&self) -> Option<(u64, &str)> {
        self.example.as_deref().map(|example| (self.unknown, example))
    }

    /// The metrics; none without rows.
    pub(crate) fn summary(&self) -> Option<ClassSummary> {
        let correct = self.counts.iter().map(|count| count.correct).sum();
        let accuracy = wilson(correct, self.rows)?;
        let most = (0..self.counts.len()).rev().max_by_key(|&class| self.counts[class].actual)?;
        let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        let class = |(class, count): (usize, &Count)| Class {
            label: self.labels.text(class).to_owned(),
            rows: count.actual,
            predicted: count.predicted,
            precision: share(count.correct, count.predicted),
            recall: share(count.correct, count.actual),
        };
        Some(ClassSummary {
            rows: self.rows,
            correct,
            accuracy,
            interval_method: "wilson",
            baseline_accuracy: self.counts[most].actual as f64 / self.rows as f64,
            baseline_class: self.labels.text(most).to_owned(),
            unknown_rows: self.unknown,
            classes: self.counts.iter().enumerate().map(class).collect(),
        })
    }
}

/// Metrics of classes.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ClassSummary {
    pub(crate) rows: u64,
    pub(crate) correct: u64,
    pub(crate) accuracy: Estimate,
    pub(crate) interval_method: &'static str,
    /// Of always predicting the class that most rows have.
    pub(crate) baseline_accuracy: f64,
    pub(crate) baseline_class: String,
    pub(crate) unknown_rows: u64,
    pub(crate) classes: Vec<Class>,
}

/// Metrics of one class; a share of nothing is none.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Class {
    pub(crate) label: String,
    pub(crate) rows: u64,
    pub(crate) predicted: u64,
    pub(crate) precision: Option<f64>,
    pub(crate) recall: Option<f64>,
}

/// A share with its Wilson interval; none of nothing.
pub(super) fn wilson(successes: u64, trials: u64) -> Option<Estimate> {
    if trials == 0 {
        return None;
    }
    let (n, z2) = (trials as f64, Z * Z);
    let p = successes as f64 / n;
    let centre = p + z2 / (2.0 * n);
    let radius = Z * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z2 / n;
    // All or nothing has its end at 1 or 0, whatever rounding says.
    let low = if successes == 0 { 0.0 } else { (centre - radius) / scale };
    let high = if successes == trials { 1.0 } else { (centre + radius) / scale };
    Some(Estimate { value: p, interval: Some([low, high]) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner::LabelKind;
    use bochner_testkit::{Absolute, Chance, assert_close, binomial_lower, binomial_upper};

    #[test]
    fn the_interval_is_wilsons() {
        // The ends are the roots x of (p − x)² = z²·x(1 − x)/n; 81 of 263 is Newcombe's (1998) example.
        let found = wilson(81, 263).unwrap().interval.unwrap();
        assert_close(&found, &[0.2553, 0.3662], Absolute(5e-5));
        for x in found {
            assert_close(&[(81.0 / 263.0 - x).powi(2)], &[Z * Z * x * (1.0 - x) / 263.0], Absolute(1e-15));
        }
        let ends = |successes| wilson(successes, 5).unwrap().interval.unwrap();
        assert_close(&[ends(0)[0], ends(5)[1]], &[0.0, 1.0], Absolute(0.0));
        assert!(wilson(0, 0).is_none());
    }

    /// Coverage of 95 % within the two points that Wilson's interval strays, in 4,000 repetitions: a right interval fails with
    /// probability at most 1e-9 on each side. Half as wide, it is rejected.
    #[test]
    fn the_interval_covers() {
        let repetitions = 4000;
        let covered = |shrink: f64| {
            let covers = |seed: &u64| {
                let mut chance = Chance::new(*seed);
                let successes = (0..200).filter(|_| chance.uniform() < 0.87).count() as u64;
                let estimate = wilson(successes, 200).unwrap();
                let [low, high] = estimate.interval.unwrap();
                let middle = (low + high) / 2.0;
                (0.87 - middle).abs() <= shrink * (high - low) / 2.0
            };
            (0..repetitions as u64).filter(covers).count()
        };
        assert!(binomial_upper(covered(1.0), repetitions, 1e-9) >= 0.93);
        assert!(binomial_lower(covered(1.0), repetitions, 1e-9) <= 0.97);
        assert!(binomial_upper(covered(0.5), repetitions, 1e-9) < 0.93, "no power");
    }

    #[test]
    fn rows_are_counted_where_they_belong() {
        let labels = Labels::new(LabelKind::Integer, vec!["-1".to_owned(), "1".to_owned(), "2".to_owned()]);
        let mut metrics = ClassMetrics::new(&labels);
        for (truth, predicted) in [("+1", 1), ("1.0", 1), ("1", 0), ("-1", 0), ("7", 0)] {
            metrics.absorb(truth, predicted);
        }
        let summary = metrics.summary().unwrap();
        assert_eq!((summary.rows, summary.correct, summary.unknown_rows), (5, 3, 1));
        assert_eq!(metrics.unknown(), Some((1, "7")));
        assert_eq!((summary.baseline_accuracy, summary.baseline_class.as_str()), (0.6, "1"));
        assert_eq!(summary.classes[0].precision, Some(1.0 / 3.0));
        assert_eq!(summary.classes[1].recall, Some(2.0 / 3.0));
        assert_eq!((summary.classes[2].precision, summary.classes[2].recall), (None, None));
    }
}

//! The first pass: what the target is, and how well a constant would predict it.

use std::collections::HashMap;

use bochner::encode::{Decided, LabelIndex, TargetScan, Task};
use bochner::table::infer::is_missing_label;
use bochner::table::{Column, number};
use bochner::{Labels, Result};

/// Different spellings that are counted; a target with more is no target of classes.
const MOST_COUNTED: usize = 1001;

/// A column of targets as it is read.
#[derive(Debug, Default)]
pub(crate) struct TargetPass {
    scan: TargetScan,
    counts: HashMap<String, u64>,
    /// Of the numbers with a decimal point, with a comma.
    spreads: [Spread; 2],
}

/// Mean of the numbers so far and Σ(y − mean)² (Welford).
#[derive(Debug, Default)]
struct Spread {
    mean: f64,
    squares: f64,
    numbers: u64,
}

impl Spread {
    fn absorb(&mut self, value: f64) {
        self.numbers += 1;
        let difference = value - self.mean;
        self.mean += difference / self.numbers as f64;
        self.squares += difference * (value - self.mean);
    }
}

impl TargetPass {
    /// Reads a block; gives the rows that have a target, if there are others.
    pub(crate) fn absorb(&mut self, column: &Column) -> Option<Vec<usize>> {
        let before = self.scan.missing();
        match column {
            Column::Text(texts) => texts.iter().for_each(|text| self.read(text)),
            Column::Category(levels) => {
                (0..levels.codes.len()).for_each(|i| self.read(levels.get(i).unwrap_or("")))
            }
            Column::Number(values) => values.iter().for_each(|value| self.read(&value.to_string())),
            Column::Boolean(values) => {
                let text = |value: bool| if value { "True" } else { "False" };
                values.iter().for_each(|value| self.read(value.map_or("", text)));
            }
            Column::Date(_) | Column::Sparse(_) => {}
        }
        let is_missing = |i: &usize| match column {
            Column::Text(texts) => is_missing_label(texts.get(*i)),
            column => column.is_missing(*i),
        };
        (self.scan.missing() > before).then(|| (0..column.len()).filter(|i| !is_missing(i)).collect())
    }

    fn read(&mut self, text: &str) {
        let text = text.trim();
        let missing = self.scan.missing();
        self.scan.absorb(text);
        if self.scan.missing() > missing {
            return;
        }
        if let Some(count) = self.counts.get_mut(text) {
            *count += 1;
        } else if self.counts.len() < MOST_COUNTED {
            self.counts.insert(text.to_owned(), 1);
        }
        for (spread, decimal_comma) in self.spreads.iter_mut().zip([false, true]) {
            if let Some((value, _)) = number::parse(text, decimal_comma) {
                spread.absorb(value);
            }
        }
    }

    /// Rows read.
    pub(crate) fn rows(&self) -> u64 {
        self.scan.rows()
    }

    /// Rows without a target.
    pub(crate) fn missing(&self) -> u64 {
        self.scan.missing()
    }

    /// Those of the way in which numbers are written.
    fn spread(&self) -> &Spread {
        &self.spreads[usize::from(self.scan.has_decimal_comma())]
    }

    /// Whether all targets are numbers, so that either task is possible.
    pub(crate) fn is_numeric(&self) -> bool {
        self.spread().numbers == self.rows() - self.missing()
    }

    /// What the target is.
    pub(crate) fn decide(&self, task: Task) -> Result<Decided> {
        self.scan.decide(task)
    }

    /// The squared error of the best constant, coded and summed over outputs as the learner does:
    ///
    /// ```text
    /// numbers  Var y        two classes ±1  4·p·(1 − p)        more classes 0/1  1 − Σ p²
    /// ```
    pub(crate) fn constant_error(&self, labels: Option<&Labels>) -> f64 {
        let rows = (self.rows() - self.missing()).max(1) as f64;
        let Some(labels) = labels else { return self.spread().squares / rows };
        let shares = self.counted(labels, &labels.index()).into_iter().map(|count| count as f64 / rows);
        let error = 1.0 - shares.map(|share| share * share).sum::<f64>();
        // 1 − p² − (1 − p)² = 2p(1 − p)
        if labels.len() == 2 { 2.0 * error } else { error }
    }

    /// Rows of each class.
    fn counted(&self, labels: &Labels, index: &LabelIndex) -> Vec<u64> {
        let mut counts = vec![0; labels.len()];
        for (text, count) in &self.counts {
            if let Ok(class) = index.class(text, 0) {
                counts[class] += count;
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(values: &[&str]) -> TargetPass {
        let mut pass = TargetPass::default();
        values.iter().for_each(|value| pass.read(value));
        pass
    }

    #[test]
    fn a_constant_errs_by_the_variance() {
        assert!((pass(&["1.5", "2.5", "5"]).constant_error(None) - 13.0 / 6.0).abs() < 1e-12);
        let classes = |values: &[&str]| {
            let pass = pass(values);
            let decided = pass.decide(Task::Classification).unwrap();
            pass.constant_error(decided.labels.as_ref())
        };
        // Σ over ±1: mean ½, variance 1 − ¼; spellings of one number are one class.
        assert!((classes(&["1", "1.0", "+1", "-1"]) - 0.75).abs() < 1e-12);
        assert!((classes(&["a", "b", "c", "c"]) - (1.0 - 1.0 / 16.0 - 1.0 / 16.0 - 0.25)).abs() < 1e-12);
    }
}

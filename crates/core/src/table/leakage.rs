//! Target leakage: columns that predict the target by themselves.
//!
//! ```text
//! rows       of the sample, in two halves by their hashes; each is predicted from the other by one column alone
//! number     the target of the nearest value: its mean, or its most frequent class       (dates likewise)
//! others     the same of the rows with an equal cell; of a new cell, of all rows
//! share      1 − error/(error of the best constant)      squared error, or wrong classes, of both halves together
//! ```

use std::collections::HashMap;

use super::number::parse;
use super::sample::{TableSample, number};
use crate::encode::LabelIndex;

/// Distinct rows that are needed to tell.
const FEWEST: usize = 50;

/// The targets of a sample.
#[derive(Clone, Debug, PartialEq)]
pub enum SampleTargets {
    /// Numbers; none where a row has none.
    Numbers(Vec<Option<f64>>),
    /// Positions among the classes; none where a row has none.
    Classes(Vec<Option<usize>>),
}

impl SampleTargets {
    /// As they are written in a sample: classes if there is an index of labels, numbers otherwise.
    pub fn of(sample: &TableSample, labels: Option<&LabelIndex>, decimal_comma: bool) -> SampleTargets {
        let texts = sample.rows().map(|(_, row)| row.target.as_deref());
        match labels {
            Some(index) => SampleTargets::Classes(texts.map(|text| index.class(text?, 0).ok()).collect()),
            None => SampleTargets::Numbers(
                texts.map(|text| parse(text?, decimal_comma).map(|(value, _)| value)).collect(),
            ),
        }
    }
}

/// The share of the target that column j predicts by itself; none where there are too few rows, or the target
/// does not vary.
pub fn explained(sample: &TableSample, targets: &SampleTargets, j: usize) -> Option<f64> {
    let kind = sample.kind(j);
    let cells = sample.rows().map(|(hash, row)| Row {
        is_first: hash & 1 == 0,
        count: row.count,
        cell: match number(kind, row.cells[j]) {
            Some(value) => Cell::Number(value),
            None => Cell::Other(row.cells[j]),
        },
    });
    match targets {
        SampleTargets::Numbers(values) => share::<Mean>(cells, values),
        SampleTargets::Classes(classes) => share::<Counts>(cells, classes),
    }
}

#[derive(Clone, Copy)]
enum Cell {
    Number(f64),
    Other(u64),
}

#[derive(Clone, Copy)]
struct Row {
    is_first: bool,
    count: f64,
    cell: Cell,
}

/// What is known of the targets of some rows, and what it predicts.
trait Summary: Default {
    type Target: Copy;
    fn add(&mut self, target: Self::Target, count: f64);
    fn error(&self, target: Self::Target) -> f64;
}

#[derive(Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Summary for Mean {
    type Target = f64;

    fn add(&mut self, target: f64, count: f64) {
        self.sum += count * target;
        self.count += count;
    }

    fn error(&self, target: f64) -> f64 {
        let difference = target - self.sum / self.count;
        difference * difference
    }
}

#[derive(Default)]
struct Counts(Vec<f64>);

impl Summary for Counts {
    type Target = usize;

    fn add(&mut self, target: usize, count: f64) {
        self.0.resize(self.0.len().max(target + 1), 0.0);
        self.0[target] += count;
    }

    /// The first of the most frequent classes.
    fn error(&self, target: usize) -> f64 {
        let most = self.0.iter().copied().fold(0.0, f64::max);
        let found = self.0.iter().position(|count| *count >= most);
        f64::from(u8::from(found != Some(target)))
    }
}

/// The targets of one half, by the cells of a column.
struct Half<S> {
    all: S,
    others: HashMap<u64, S>,
    /// In ascending order of the values.
    numbers: Vec<(f64, S)>,
}

impl<S: Summary> Half<S> {
    fn of(rows: impl Iterator<Item = (Row, S::Target)>) -> Half<S> {
        let mut half = Half { all: S::default(), others: HashMap::new(), numbers: Vec::new() };
        let mut numbers = Vec::new();
        for (Row { count, cell, .. }, target) in rows {
            half.all.add(target, count);
            match cell {
                Cell::Number(value) => numbers.push((value, target, count)),
                Cell::Other(key) => half.others.entry(key).or_default().add(target, count),
            }
        }
        numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (value, target, count) in numbers {
            if half.numbers.last().is_none_or(|(last, _)| last.total_cmp(&value).is_ne()) {
                half.numbers.push((value, S::default()));
            }
            if let Some((_, summary)) = half.numbers.last_mut() {
                summary.add(target, count);
            }
        }
        half
    }

    fn of_cell(&self, cell: Cell) -> &S {
        match cell {
            Cell::Other(key) => self.others.get(&key).unwrap_or(&self.all),
            Cell::Number(value) => {
                let at = self.numbers.partition_point(|(x, _)| *x < value);
                let near = [at.checked_sub(1), Some(at)].into_iter().flatten();
                let near = near.filter_map(|at| self.numbers.get(at));
                let nearest = near.min_by(|a, b| (a.0 - value).abs().total_cmp(&(b.0 - value).abs()));
                nearest.map_or(&self.all, |(_, summary)| summary)
            }
        }
    }
}

fn share<S: Summary>(rows: impl Iterator<Item = Row>, targets: &[Option<S::Target>]) -> Option<f64> {
    let known: Vec<(Row, S::Target)> =
        rows.zip(targets).filter_map(|(row, target)| Some((row, (*target)?))).collect();
    let halves =
        [true, false].map(|is_first| known.iter().copied().filter(move |(row, _)| row.is_first == is_first));
    let [first, second] = halves.clone().map(Half::<S>::of);
    let [a, b] = halves;
    if known.len() < FEWEST || a.clone().next().is_none() || b.clone().next().is_none() {
        return None;
    }
    let (mut error, mut constant) = (0.0, 0.0);
    for (learned, judged) in [(&first, b), (&second, a)] {
        for (Row { count, cell, .. }, target) in judged {
            error += count * learned.of_cell(cell).error(target);
            constant += count * learned.all.error(target);
        }
    }
    (constant > 0.0).then(|| 1.0 - error / constant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{LabelKind, Labels};
    use crate::table::{Column, ColumnInfo, ColumnKind, Table};

    /// Columns: the target times 3, noise, the class, a level for each row, a number in which every tenth is missing.
    fn sample(rows: usize) -> TableSample {
        let hashed = |i: usize, salt: u64| {
            let mixed = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(salt);
            (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40
        };
        let y: Vec<f64> = (0..rows).map(|i| (hashed(i, 1) % 1000) as f64 / 10.0).collect();
        let class = |i: usize| if y[i] > 50.0 { "high" } else { "low" };
        let names: Vec<String> = (0..rows).map(|i| format!("row {i}")).collect();
        let columns = vec![
            Column::Number(y.iter().map(|y| 3.0 * y).collect()),
            Column::Number((0..rows).map(|i| hashed(i, 7) as f64).collect()),
            Column::Category((0..rows).map(|i| Some(class(i))).collect()),
            Column::Category(names.iter().map(|name| Some(name.as_str())).collect()),
            Column::Number((0..rows).map(|i| if i % 10 == 0 { f64::NAN } else { y[i] }).collect()),
            Column::Number(y.clone()),
        ];
        let kinds = columns.iter().map(Column::kind);
        let infos: Vec<ColumnInfo> =
            kinds.enumerate().map(|(j, kind)| ColumnInfo { name: format!("x{j}"), kind }).collect();
        let mut sample = TableSample::new(&infos, Some(5));
        sample.absorb(&Table { rows, columns, first_row: 0 }, &vec![1.0; rows]);
        sample
    }

    #[test]
    fn a_column_that_is_the_target_predicts_it() {
        let sample = sample(1000);
        let targets = SampleTargets::of(&sample, None, false);
        let shares: Vec<f64> = (0..5).map(|j| explained(&sample, &targets, j).unwrap()).collect();
        assert!(shares[0] > 0.999, "{shares:?}");
        assert!(shares[1] < 0.1, "{shares:?}");
        assert!((0.6..0.9).contains(&shares[2]), "two values of a uniform target: 3/4, {shares:?}");
        assert!(shares[3].abs() < 0.02, "{shares:?}");
        assert!((0.85..0.95).contains(&shares[4]), "{shares:?}");
    }

    #[test]
    fn classes_are_counted() {
        let sample = sample(1000);
        let index = Labels::new(LabelKind::Text, vec!["high".to_owned(), "low".to_owned()]).index();
        let classes = sample.rows().map(|(_, row)| {
            let y: f64 = row.target.as_deref()?.parse().ok()?;
            index.class(if y > 50.0 { "high" } else { "low" }, 0).ok()
        });
        let targets = SampleTargets::Classes(classes.collect());
        let shares: Vec<f64> = (0..5).map(|j| explained(&sample, &targets, j).unwrap()).collect();
        assert!(shares[0] > 0.99 && shares[2] > 0.999, "{shares:?}");
        assert!(shares[1] < 0.2 && shares[3].abs() < 0.1, "{shares:?}");
    }

    #[test]
    fn a_few_rows_tell_nothing() {
        let sample = sample(40);
        assert_eq!(explained(&sample, &SampleTargets::of(&sample, None, false), 0), None);
        let columns = [ColumnInfo { name: "x".to_owned(), kind: ColumnKind::Number }];
        let empty = TableSample::new(&columns, Some(0));
        assert_eq!(explained(&empty, &SampleTargets::of(&empty, None, false), 0), None);
    }
}

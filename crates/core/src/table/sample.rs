//! A sample of the rows of a table, chosen by what is in them, and a hash of each column.
//!
//! ```text
//! cell     a number by its bits, a level or a text by its hash, nothing where it is missing
//! row      a hash of its inputs: the rows with the smallest hashes are kept, the same ones in any order
//! column   a sum of hashes of its cells and their rows: columns of one sum hold the same
//! ```

use std::collections::{BTreeMap, HashMap};

use xxhash_rust::xxh3::xxh3_64;

use super::{CategoryColumn, Column, ColumnInfo, ColumnKind, MISSING_DATE, Table};

/// Rows that are kept at most: quartiles are exact for fewer, and within 2 % of the ranks for more (three standard deviations).
const MOST_ROWS: usize = 5000;

/// Cells in all of them, at most.
const MOST_CELLS: usize = 1 << 22;

/// What stands for a missing level, text, or true and false.
const MISSING: u64 = 0;

/// The sample, and the columns so far.
#[derive(Clone, Debug, PartialEq)]
pub struct TableSample {
    kinds: Vec<ColumnKind>,
    /// The column whose texts are kept.
    target: Option<usize>,
    /// Whether each column is none of the inputs: rows are told apart without it.
    is_left_out: Vec<bool>,
    rows: BTreeMap<u64, Row>,
    most: usize,
    columns: Vec<u64>,
}

/// A row of the sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The weight of all rows with these inputs.
    pub count: f64,
    /// What stands for each cell.
    pub cells: Vec<u64>,
    /// As it was written.
    pub target: Option<String>,
    /// A hash of what is beside the inputs: of rows with the same ones that with the smallest is here.
    beside: u64,
}

impl TableSample {
    /// Of a table of these columns, of which one may be a target.
    pub fn new(columns: &[ColumnInfo], target: Option<usize>) -> TableSample {
        let kinds: Vec<ColumnKind> = columns.iter().map(|column| column.kind).collect();
        let most = MOST_ROWS.min(MOST_CELLS / kinds.len().max(1)).max(1);
        let (columns, is_left_out) = (vec![0; kinds.len()], vec![false; kinds.len()]);
        let sample = TableSample { columns, kinds, target: None, is_left_out, rows: BTreeMap::new(), most };
        target.into_iter().fold(sample, TableSample::with_target)
    }

    /// Reads a block of rows with these weights, all above 0.
    pub fn absorb(&mut self, table: &Table, weights: &[f64]) {
        let cells: Vec<Vec<u64>> = table.columns.iter().map(cells).collect();
        for (cells, of_column) in cells.iter().zip(&mut self.columns) {
            for (cell, row) in cells.iter().zip(table.first_row..) {
                *of_column = of_column.wrapping_add(mixed(row, *cell));
            }
        }
        let mut hashes = vec![0u64; table.rows];
        let mix = |hashes: &mut [u64], left_out: bool| {
            for (cells, _) in cells.iter().zip(&self.is_left_out).filter(|(_, is)| **is == left_out) {
                hashes.iter_mut().zip(cells).for_each(|(hash, cell)| *hash = mixed(*hash, *cell));
            }
        };
        mix(&mut hashes, false);
        let mut beside = hashes.clone();
        mix(&mut beside, true);
        for (i, (hash, beside)) in hashes.into_iter().zip(beside).enumerate() {
            let last = self.rows.last_key_value().map(|(last, _)| *last);
            if self.rows.len() == self.most && last.is_some_and(|last| hash > last) {
                continue;
            }
            let known = self.rows.get(&hash).map(|row| (row.beside, row.count));
            let count = known.map_or(0.0, |(_, count)| count) + weights[i];
            if known.is_some_and(|(known, _)| known <= beside) {
                self.rows.entry(hash).and_modify(|row| row.count = count);
                continue;
            }
            let cells = cells.iter().map(|cells| cells.get(i).copied().unwrap_or(MISSING)).collect();
            let target = self.target.and_then(|at| written(&table.columns[at], i));
            self.rows.insert(hash, Row { count, cells, target, beside });
            if self.rows.len() > self.most {
                self.rows.pop_last();
            }
        }
    }

    /// Adds what another has read of other rows.
    pub fn merge(&mut self, other: &TableSample) {
        for (&hash, row) in &other.rows {
            match self.rows.get_mut(&hash) {
                Some(own) => {
                    let count = own.count + row.count;
                    if row.beside < own.beside {
                        own.clone_from(row);
                    }
                    own.count = count;
                }
                None => {
                    self.rows.insert(hash, row.clone());
                }
            }
        }
        while self.rows.len() > self.most {
            self.rows.pop_last();
        }
        self.columns.iter_mut().zip(&other.columns).for_each(|(own, other)| *own = own.wrapping_add(*other));
    }

    /// The same, of which the targets in this column are kept as they are written.
    pub fn with_target(self, target: usize) -> TableSample {
        TableSample { target: Some(target), ..self.leaving_out(target) }
    }

    /// The same where this column is none of the inputs.
    pub fn leaving_out(mut self, column: usize) -> TableSample {
        self.is_left_out[column] = true;
        self
    }

    /// The rows, by their hashes, the smallest first.
    pub fn rows(&self) -> impl Iterator<Item = (u64, &Row)> {
        self.rows.iter().map(|(hash, row)| (*hash, row))
    }

    /// Whether all rows are there, each as often as in the table.
    pub fn is_whole(&self) -> bool {
        self.rows.len() < self.most
    }

    /// What column j holds.
    pub fn kind(&self, j: usize) -> ColumnKind {
        self.kinds[j]
    }

    /// The finite numbers of a column, the smallest first, or its dates in nanoseconds, and how often each is there.
    pub fn numbers(&self, j: usize) -> Vec<(f64, f64)> {
        let mut numbers: Vec<(f64, f64)> = self
            .rows
            .values()
            .filter_map(|row| Some((number(self.kinds[j], row.cells[j])?, row.count)))
            .collect();
        numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
        numbers
    }

    /// How far numbers of a column are from each other: the distance of the quartiles; where these are equal, the middle one of the
    /// distances from them. None where all are equal.
    pub fn spread(&self, j: usize) -> Option<f64> {
        let [low, middle, high] = self.quartiles(j)?;
        let distances = || {
            let far = |(x, count): (f64, f64)| ((x - middle).abs(), count);
            let mut far: Vec<(f64, f64)> =
                self.numbers(j).into_iter().map(far).filter(|(x, _)| *x > 0.0).collect();
            far.sort_by(|a, b| a.0.total_cmp(&b.0));
            quantile(&far, 0.5)
        };
        Some(high - low).filter(|distance| *distance > 0.0).or_else(distances)
    }

    /// The quartiles of the finite numbers of a column.
    pub fn quartiles(&self, j: usize) -> Option<[f64; 3]> {
        let numbers = self.numbers(j);
        let [low, middle, high] = [0.25, 0.5, 0.75].map(|share| quantile(&numbers, share));
        Some([low?, middle?, high?])
    }

    /// Columns that hold the same as one before them, and that one; none of those that `passed` says.
    pub fn equal(&self, passed: &dyn Fn(usize) -> bool) -> Vec<(usize, usize)> {
        let mut first = HashMap::new();
        let mut pairs = Vec::new();
        for (j, &hash) in self.columns.iter().enumerate().filter(|(j, _)| !passed(*j)) {
            let before = *first.entry(hash).or_insert(j);
            if before != j && self.kinds[before] == self.kinds[j] {
                pairs.push((j, before));
            }
        }
        pairs
    }
}

/// The smallest number that at least this share of all does not exceed.
pub fn quantile(numbers: &[(f64, f64)], share: f64) -> Option<f64> {
    let total: f64 = numbers.iter().map(|(_, count)| count).sum();
    let mut sum = 0.0;
    let found = numbers.iter().find(|(_, count)| {
        sum += count;
        // But for the last bits of sums of weights.
        sum >= share * total * (1.0 - 1e-9)
    });
    found.or(numbers.last()).map(|(x, _)| *x)
}

/// The finite number in a cell, or its date.
pub fn number(kind: ColumnKind, cell: u64) -> Option<f64> {
    match kind {
        ColumnKind::Number => Some(f64::from_bits(cell)).filter(|x| x.is_finite()),
        ColumnKind::Date => Some(cell.cast_signed()).filter(|day| *day != MISSING_DATE).map(|day| day as f64),
        _ => None,
    }
}

/// What stands for each cell of a column.
fn cells(column: &Column) -> Vec<u64> {
    match column {
        Column::Number(values) => values.iter().map(|x| (x + 0.0).to_bits()).collect(),
        Column::Boolean(values) => {
            values.iter().map(|value| value.map_or(MISSING, |value| 1 + u64::from(value))).collect()
        }
        Column::Category(CategoryColumn { codes, levels }) => {
            let levels: Vec<u64> = levels.iter().map(|level| xxh3_64(level.as_bytes())).collect();
            codes.iter().map(|&code| levels.get(code as usize).copied().unwrap_or(MISSING)).collect()
        }
        Column::Date(values) => values.iter().map(|day| day.cast_unsigned()).collect(),
        Column::Text(texts) => {
            texts.cells().map(|cell| cell.map_or(MISSING, |text| xxh3_64(text.as_bytes()))).collect()
        }
        Column::Sparse(_) => Vec::new(),
    }
}

/// A target as text; none where it is missing.
fn written(column: &Column, i: usize) -> Option<String> {
    match column {
        _ if column.is_missing(i) => None,
        Column::Number(values) => Some(values[i].to_string()),
        Column::Boolean(values) => values[i].map(|value| if value { "True" } else { "False" }.to_owned()),
        Column::Category(levels) => levels.get(i).map(str::to_owned),
        Column::Text(texts) => Some(texts.get(i).trim().to_owned()),
        Column::Date(_) | Column::Sparse(_) => None,
    }
}

/// Two words → one that depends on all bits of both, and on their order (a product of 128 bits, folded).
fn mixed(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xD6E8_FEB8_6659_FD93);
    // The halves of a product are no hash of their own where one factor is 0.
    (product as u64 ^ (product >> 64) as u64).wrapping_add(b.rotate_left(32) ^ a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::BLOCK;

    fn infos(kinds: &[ColumnKind]) -> Vec<ColumnInfo> {
        let info = |(j, kind): (usize, &ColumnKind)| ColumnInfo { name: format!("x{j}"), kind: *kind };
        kinds.iter().enumerate().map(info).collect()
    }

    fn table(values: &[f64]) -> Table {
        Table { rows: values.len(), columns: vec![Column::Number(values.to_vec())], first_row: 0 }
    }

    fn absorb(sample: &mut TableSample, table: &Table) {
        sample.absorb(table, &vec![1.0; table.rows]);
    }

    fn new() -> TableSample {
        TableSample::new(&infos(&[ColumnKind::Number]), None)
    }

    #[test]
    fn quartiles_are_those_of_all_rows_where_they_are_few() {
        let mut sample = new();
        absorb(&mut sample, &table(&[4.0, 1.0, 3.0, 2.0, f64::NAN, 2.0, f64::INFINITY]));
        assert_eq!(sample.quartiles(0), Some([2.0, 2.0, 3.0]));
        assert!(sample.is_whole());
        assert_eq!(new().quartiles(0), None);
    }

    /// The rank error of a quartile has a standard deviation of at most √(1/4/5,000) = 0.7 %: six of them bound it with a false-alarm
    /// rate below 1e-8.
    #[test]
    fn quartiles_of_many_rows_are_near_in_any_order() {
        let values: Vec<f64> = (0..100_000).map(|i| f64::from(i * 37 % 100_000)).collect();
        let (mut sample, mut backwards) = (new(), new());
        values.chunks(BLOCK).for_each(|block| absorb(&mut sample, &table(block)));
        let reversed: Vec<f64> = values.iter().rev().copied().collect();
        reversed.chunks(1000).for_each(|block| absorb(&mut backwards, &table(block)));
        let found = sample.quartiles(0).unwrap();
        assert_eq!(Some(found), backwards.quartiles(0));
        for (found, share) in found.iter().zip([0.25, 0.5, 0.75]) {
            assert!((found / 1e5 - share).abs() < 0.042, "{found}");
        }
    }

    #[test]
    fn parts_in_any_order_are_the_whole() {
        let values: Vec<f64> = (0..20_000).map(|i| f64::from(i * 37 % 9001)).collect();
        let mut whole = new();
        absorb(&mut whole, &table(&values));
        for cut in [0, 1, 7000, 20_000] {
            let (mut first, mut last) = (new(), new());
            absorb(&mut first, &table(&values[..cut]));
            absorb(&mut last, &Table { first_row: cut as u64, ..table(&values[cut..]) });
            last.merge(&first);
            assert_eq!(last, whole, "{cut}");
        }
    }

    #[test]
    fn columns_that_hold_the_same_are_found() {
        use ColumnKind::{Category, Number, Text};
        let mut sample =
            TableSample::new(&infos(&[Number, Category, Number, Category, Text, Number]), Some(4));
        for block in 0..3 {
            let texts: Vec<Option<&str>> =
                (0..10).map(|i| ["a", "b", "c"].get((i * i + block) % 4).copied()).collect();
            let numbers: Vec<f64> = (0..10).map(|i| (i * (block + 2)) as f64).collect();
            let mut other = numbers.clone();
            other[9] += f64::from(u8::from(block == 2));
            let columns = vec![
                Column::Number(numbers.clone()),
                Column::Category(texts.iter().copied().collect()),
                Column::Number(numbers.iter().map(|x| if *x > 0.0 { *x } else { -0.0 }).collect()),
                Column::Category(texts.iter().copied().collect()),
                Column::Text(texts.iter().copied().collect()),
                Column::Number(other),
            ];
            absorb(&mut sample, &Table { rows: 10, columns, first_row: 10 * block as u64 });
        }
        assert_eq!(sample.equal(&|_| false), [(2, 0), (3, 1)]);
        assert_eq!(sample.equal(&|j| j == 0), [(3, 1)]);
        let targets: Vec<_> = sample.rows().filter_map(|(_, row)| row.target.as_deref()).collect();
        assert!(targets.contains(&"a") && targets.len() < sample.rows().count());
    }

    /// The sample is that of the inputs, however the target is spelled; of rows that differ in the target alone one is kept, the same
    /// one in any order.
    #[test]
    fn targets_do_not_choose_the_sample() {
        let numbers: Vec<f64> = (0..20_000).map(|i| f64::from(i * 37 % 9001)).collect();
        let spelled: Vec<String> = (0..20_000).map(|i| format!("{}.0", i % 7)).collect();
        let as_number = Column::Number((0..20_000).map(|i| f64::from(i % 7)).collect());
        let as_text = Column::Text(spelled.iter().map(String::as_str).collect());
        let of = |target: Column, order: &[usize]| {
            let kinds = [ColumnKind::Number, target.kind()];
            let mut sample = TableSample::new(&infos(&kinds), Some(1));
            let columns = vec![Column::Number(numbers.clone()), target];
            absorb(&mut sample, &Table { rows: 20_000, columns, first_row: 0 }.chosen(order));
            sample
        };
        let forward: Vec<usize> = (0..20_000).collect();
        let backward: Vec<usize> = (0..20_000).rev().collect();
        let (a, b) = (of(as_number.clone(), &forward), of(as_text, &forward));
        assert_eq!(a.numbers(0), b.numbers(0));
        assert!(a.rows().count() == 5000 && a.rows().all(|(_, row)| row.count > 1.5));
        let targets =
            |sample: &TableSample| sample.rows().map(|(_, row)| row.target.clone()).collect::<Vec<_>>();
        assert_eq!(targets(&a), targets(&of(as_number, &backward)));
    }
}

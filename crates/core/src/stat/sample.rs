//! A uniform sample of the distinct rows, chosen by content.
//!
//! ```text
//! the rows with the `capacity` smallest hashes;   a repeated row is kept once, with the sum of its weights
//! ```
//! The k smallest of a fixed hash are a uniform sample without replacement, whatever the order of rows and however they are
//! split: merging keeps the k smallest of both. Rows of weight 0 are passed over. Where rows may be long or short, a sample may also be bounded by its entries: as many of the smallest hashes as
//! have no more of them, which is no less a matter of content, since whoever was once left out stays out.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Statistic;
use crate::content::{ContentHash, hashes};
use crate::matrix::with_rows;
use crate::random::Stream;
use crate::source::{Batch, Source, Target};
use crate::sweep::sweep;
use crate::{Csr, Engine, Matrix, OwnedRows, Result, Rows, Scalar};

/// A row of a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledRow {
    /// Sum of the weights of all rows with this content.
    pub weight: f64,
    /// Entries that are not zero.
    pub entries: Vec<(u32, f64)>,
    /// Weighted mean of the coded targets of all rows with this content.
    pub targets: Vec<f64>,
    /// Its group, where rows have groups.
    pub group: Option<u64>,
}

/// The sample so far.
#[derive(Clone, Debug)]
pub struct Sample {
    capacity: usize,
    columns: usize,
    sparse: bool,
    hash: ContentHash,
    rows: BTreeMap<u64, SampledRow>,
    /// Rows read with positive weight, repeats included.
    population: u64,
    entries: Entries,
}

/// How many entries a sample may have.
#[derive(Clone, Copy, Debug)]
struct Entries {
    most: usize,
    /// Rows that are kept whatever they have.
    fewest: usize,
    held: usize,
    /// Whether zeros do not count.
    are_sparse: bool,
    /// The smallest hash that was left out for them: no larger one comes in.
    left_out: Option<u64>,
}

impl Entries {
    const ANY: Entries = Entries { most: usize::MAX, fewest: 0, held: 0, are_sparse: false, left_out: None };
}

impl Sample {
    /// An empty sample of at most `capacity` rows.
    pub fn zero(capacity: usize, columns: usize, seed: u64) -> Self {
        let hash = ContentHash::new(seed, Stream::Sample);
        let (rows, entries) = (BTreeMap::new(), Entries::ANY);
        Sample { capacity, columns, sparse: false, hash, rows, population: 0, entries }
    }

    /// The same with at most so many entries in more than `fewest` rows; zeros count, too, unless rows are sparse.
    pub(crate) fn with_entries(self, most: usize, fewest: usize, are_sparse: bool) -> Self {
        Sample { entries: Entries { most, fewest, are_sparse, ..self.entries }, ..self }
    }

    /// A sample of a whole source: one pass.
    pub fn of(engine: &Engine, source: &dyn Source, capacity: usize, seed: u64) -> Result<Sample> {
        sweep(
            engine,
            source,
            "sample",
            || Sample::zero(capacity, source.input_dim(), seed),
            |sample, batch| sample.absorb(engine, batch, source.target()),
        )
    }

    /// Reads a block.
    pub fn absorb(&mut self, engine: &Engine, batch: &Batch<'_>, target: &Target) {
        let coded = target.coded(batch);
        let hashes = hashes(engine, &self.hash, batch);
        with_rows!(batch.content, rows => self.absorb_rows(&rows, &coded, batch, &hashes));
    }

    fn absorb_rows<T: Scalar>(
        &mut self,
        rows: &Rows<'_, T>,
        coded: &Matrix<f64>,
        batch: &Batch<'_>,
        hashes: &[u64],
    ) {
        self.sparse |= matches!(rows, Rows::Sparse(_));
        for (i, &hash) in hashes.iter().enumerate() {
            let weight = batch.weight(i);
            if weight > 0.0 {
                self.population += 1;
                if self.admits(hash) {
                    let entries = rows.doubled_entries(i);
                    let targets = coded.row(i).to_vec();
                    self.insert(
                        hash,
                        SampledRow { weight, entries, targets, group: batch.groups.map(|groups| groups[i]) },
                    );
                }
            }
        }
    }

    fn admits(&self, hash: u64) -> bool {
        self.entries.left_out.is_none_or(|least| hash < least) && self.has_room(hash)
    }

    fn has_room(&self, hash: u64) -> bool {
        self.rows.len() < self.capacity
            || self.rows.last_key_value().is_some_and(|(&largest, _)| hash <= largest)
    }

    fn insert(&mut self, hash: u64, row: SampledRow) {
        let length = self.length(&row);
        let are_sparse = self.entries.are_sparse;
        match self.rows.get_mut(&hash) {
            // Different rows of equal hash, once in 10⁸ samples: the one that comes first by content stays, in any order of reading.
            Some(kept) if kept.entries != row.entries => {
                let key =
                    |row: &SampledRow| row.entries.iter().map(|&(j, x)| (j, x.to_bits())).collect::<Vec<_>>();
                if key(&row) < key(kept) {
                    let before = if are_sparse { kept.entries.len() } else { length };
                    self.entries.held = (self.entries.held + length).saturating_sub(before);
                    *kept = row;
                }
            }
            Some(kept) => {
                let weight = kept.weight + row.weight;
                for (mean, y) in kept.targets.iter_mut().zip(&row.targets) {
                    *mean += (y - *mean) * (row.weight / weight);
                }
                kept.weight = weight;
            }
            None => {
                self.entries.held += length;
                self.rows.insert(hash, row);
                if self.rows.len() > self.capacity {
                    self.pop();
                }
                while self.entries.held > self.entries.most && self.rows.len() > self.entries.fewest {
                    self.entries.left_out = self.pop();
                }
            }
        }
    }

    /// Leaves the last row out; its hash.
    fn pop(&mut self) -> Option<u64> {
        let (hash, row) = self.rows.pop_last()?;
        self.entries.held = self.entries.held.saturating_sub(self.length(&row));
        Some(hash)
    }

    /// Entries that a row counts for.
    fn length(&self, row: &SampledRow) -> usize {
        if self.entries.are_sparse { row.entries.len() } else { self.columns }
    }

    /// The number of distinct rows in the sample.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The number of distinct rows that it may have.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Whether nothing was sampled.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether every distinct row is in the sample.
    pub fn is_whole(&self) -> bool {
        self.rows.len() < self.capacity && self.entries.left_out.is_none()
    }

    /// Whether the rows came sparse.
    pub fn is_sparse(&self) -> bool {
        self.sparse
    }

    /// Rows read with positive weight.
    pub fn population(&self) -> u64 {
        self.population
    }

    /// How many distinct rows there are: the k-th smallest of n hashes is k/n of the way, within one part in √k.
    pub(crate) fn distinct(&self) -> f64 {
        match self.rows.last_key_value() {
            Some((&largest, _)) if !self.is_whole() => {
                (self.rows.len() - 1) as f64 / ((largest as f64 + 1.0) / 2f64.powi(64))
            }
            _ => self.rows.len() as f64,
        }
    }

    /// The sample that a smaller capacity would have given.
    pub(crate) fn cut(&self, capacity: usize) -> Cow<'_, Sample> {
        if capacity >= self.capacity {
            return Cow::Borrowed(self);
        }
        let rows = self.rows.iter().take(capacity).map(|(hash, row)| (*hash, row.clone())).collect();
        Cow::Owned(Sample { capacity, rows, hash: self.hash.clone(), ..*self })
    }

    /// Columns of the rows.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The sampled rows in the order of their hashes, which is a random order: a prefix is a smaller sample.
    pub fn iter(&self) -> impl Iterator<Item = &SampledRow> {
        self.rows.values()
    }

    /// The first `most` sampled rows, dense or sparse as they came.
    pub fn rows(&self, most: usize) -> OwnedRows<f64> {
        let count = most.min(self.rows.len());
        if self.sparse {
            let mut rows = Csr::empty(self.columns);
            self.iter().take(count).for_each(|row| rows.push_row(row.entries.iter().copied()));
            OwnedRows::Sparse(rows)
        } else {
            let mut rows = Matrix::zeros(count, self.columns);
            for (i, row) in self.iter().take(count).enumerate() {
                row.entries.iter().for_each(|&(j, x)| rows.row_mut(i)[j as usize] = x);
            }
            OwnedRows::Dense(rows)
        }
    }

    /// Folds of the first `most` sampled rows: rows are in random order, so that every so many of them are a fold; rows of one group are
    /// in one fold.
    pub(crate) fn folds(&self, most: usize, count: usize) -> Vec<usize> {
        let rows = self.iter().take(most).enumerate();
        rows.map(|(i, row)| row.group.map_or(i % count, |group| self.hash.fold_of_key(group, count)))
            .collect()
    }

    /// Weights of the first `most` sampled rows.
    pub fn weights(&self, most: usize) -> Vec<f64> {
        self.iter().take(most).map(|row| row.weight).collect()
    }

    /// Coded targets of the first `most` sampled rows.
    pub fn targets(&self, most: usize) -> Matrix<f64> {
        let outputs = self.iter().next().map_or(0, |row| row.targets.len());
        let mut targets = Matrix::zeros(most.min(self.rows.len()), outputs);
        for (i, row) in self.iter().take(most).enumerate() {
            targets.row_mut(i).copy_from_slice(&row.targets);
        }
        targets
    }

    /// The same sample with every row changed, one after another, as an encoder does, to rows of so many columns.
    pub(crate) fn mapped(mut self, columns: usize, change: impl FnMut(&mut SampledRow)) -> Sample {
        self.rows.values_mut().for_each(change);
        self.columns = columns;
        self
    }
}

impl Statistic for Sample {
    fn merge(&mut self, other: &Self) {
        self.sparse |= other.sparse;
        self.population += other.population;
        if let Some(least) = other.entries.left_out {
            while self.rows.last_key_value().is_some_and(|(&hash, _)| hash >= least) {
                self.pop();
            }
            self.entries.left_out = Some(self.entries.left_out.map_or(least, |own| own.min(least)));
        }
        for (&hash, row) in &other.rows {
            if self.admits(hash) {
                self.insert(hash, row.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyRows, MatrixView};

    fn read(values: &[f64], weights: &[f64], capacity: usize) -> Sample {
        let mut sample = Sample::zero(capacity, 1, 5);
        let rows = MatrixView::new(values, values.len(), 1).unwrap();
        let rows64 = AnyRows::F64(Rows::Dense(rows));
        let batch = Batch { weights: Some(weights), ..Batch::new(rows64, rows, 0) };
        sample.absorb(&Engine::default(), &batch, &Target::Numbers { outputs: 1 });
        sample
    }

    fn content(sample: &Sample) -> Vec<SampledRow> {
        sample.iter().cloned().collect()
    }

    #[test]
    fn merging_equals_reading_and_order_does_not_matter() {
        let values: Vec<f64> = (0..100).map(|i| f64::from(i % 60)).collect();
        let weights = vec![1.0; 100];
        let whole = read(&values, &weights, 20);
        assert_eq!(whole.len(), 20);
        for cut in [0, 1, 50, 99, 100] {
            let mut parts = read(&values[..cut], &weights[..cut], 20);
            parts.merge(&read(&values[cut..], &weights[cut..], 20));
            assert_eq!(content(&parts), content(&whole), "cut at {cut}");
            assert_eq!(parts.population(), 100);
        }
        let mut reversed = values.clone();
        reversed.reverse();
        assert_eq!(content(&read(&reversed, &weights, 20)), content(&whole));
    }

    /// Rows among the smallest hashes are never dropped on the way.
    #[test]
    fn a_cut_sample_is_the_one_of_less_capacity() {
        let values: Vec<f64> = (0..100).map(|i| f64::from(i * 7 % 60)).collect();
        let weights: Vec<f64> = (0..100).map(|i| 1.0 + f64::from(i % 3)).collect();
        for large in [30, 80] {
            let whole = read(&values, &weights, large);
            for capacity in [0, 1, 20, 29, 60, 61, 100] {
                let (cut, small) = (whole.cut(capacity), read(&values, &weights, capacity.min(large)));
                assert_eq!(content(&cut), content(&small), "{large} to {capacity}");
                assert_eq!(
                    (cut.is_whole(), cut.population(), cut.distinct()),
                    (small.is_whole(), small.population(), small.distinct())
                );
            }
        }
    }

    #[test]
    fn repeating_a_row_equals_weighting_it_and_weight_zero_is_not_there() {
        let repeated = read(&[1.0, 2.0, 2.0, 2.0, 3.0], &[1.0; 5], 10);
        let weighted = read(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 1.0, 0.0], 10);
        assert_eq!(content(&repeated), content(&weighted));
    }

    /// A row is in a sample of 10 of 40 with probability 1/4: counted over 4,000 seeds, by Hoeffding at 1e-9.
    #[test]
    fn every_row_is_as_likely() {
        let values: Vec<f64> = (0..40).map(|i| f64::from(i) + 1.0).collect();
        let rows = MatrixView::new(&values, 40, 1).unwrap();
        let seeds = 4000;
        let mut hits = [0usize; 40];
        for seed in 0..seeds {
            let mut sample = Sample::zero(10, 1, seed);
            let all = AnyRows::F64(Rows::Dense(rows));
            let batch = Batch::new(all, rows, 0);
            sample.absorb(&Engine::default(), &batch, &Target::Numbers { outputs: 1 });
            sample.iter().for_each(|row| hits[row.targets[0] as usize - 1] += 1);
        }
        let radius = bochner_testkit::hoeffding_radius(seeds as usize, 1.0, 1e-9 / 40.0);
        assert!(hits.iter().all(|&h| (h as f64 / seeds as f64 - 0.25).abs() < radius), "{hits:?}");
    }

    /// Rows of j mod 5 + 1 entries.
    fn read_sparse(numbers: &[usize], most: usize, fewest: usize) -> Sample {
        let mut rows = Csr::empty(8);
        for &number in numbers {
            let entry = |j: usize| (j as u32, (number + 1) as f64 + j as f64 / 10.0);
            rows.push_row((0..=number % 5).map(entry));
        }
        let targets: Vec<f64> = numbers.iter().map(|number| *number as f64).collect();
        let targets = MatrixView::new(&targets, numbers.len(), 1).unwrap();
        let all = AnyRows::F64(Rows::from(&rows));
        let batch = Batch::new(all, targets, 0);
        let mut sample = Sample::zero(60, 8, 5).with_entries(most, fewest, true);
        sample.absorb(&Engine::default(), &batch, &Target::Numbers { outputs: 1 });
        sample
    }

    /// Bounded by entries, a sample is the longest run of smallest hashes that has no more: in any order, in any parts.
    #[test]
    fn entries_bound_a_sample_by_content() {
        let numbers: Vec<usize> = (0..100).map(|i| i * 7 % 90).collect();
        let all = read_sparse(&numbers, usize::MAX, 0);
        assert_eq!(all.len(), 60);
        for (most, fewest) in [(0, 0), (1, 0), (40, 0), (41, 3), (43, 0), (100, 0), (10_000, 0), (7, 12)] {
            let mut sum = 0;
            let expected: Vec<SampledRow> = content(&all)
                .into_iter()
                .enumerate()
                .take_while(|(rank, row)| {
                    sum += row.entries.len();
                    *rank < fewest || sum <= most
                })
                .map(|(_, row)| row)
                .collect();
            let whole = read_sparse(&numbers, most, fewest);
            assert_eq!(content(&whole), expected, "{most} entries, {fewest} rows");
            assert!(!whole.is_whole());
            let mut reversed = numbers.clone();
            reversed.reverse();
            assert_eq!(content(&read_sparse(&reversed, most, fewest)), expected);
            for cut in [0, 1, 37, 99, 100] {
                let mut parts = read_sparse(&numbers[..cut], most, fewest);
                parts.merge(&read_sparse(&numbers[cut..], most, fewest));
                assert_eq!(content(&parts), expected, "{most} entries, cut at {cut}");
            }
        }
        // Zeros of dense rows count.
        let values: Vec<f64> = (0..60).map(f64::from).collect();
        let mut dense = Sample::zero(60, 3, 5).with_entries(12, 0, false);
        let rows = AnyRows::F64(Rows::Dense(MatrixView::new(&values, 20, 3).unwrap()));
        let targets = MatrixView::new(&values[..20], 20, 1).unwrap();
        let batch = Batch::new(rows, targets, 0);
        dense.absorb(&Engine::default(), &batch, &Target::Numbers { outputs: 1 });
        assert_eq!(dense.len(), 4);
    }
}

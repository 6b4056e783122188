//! Features that are held in memory, for solvers that visit rows in their own order.
//!
//! What a [`sweep`] reads is mapped once and kept: dense rows of D numbers, or sparse ones where the map or the rows are sparse. The memory
//! this takes grows with the rows, unlike that of a statistic, and is checked before any of it is made.
//!
//! Rows are then put in the order of their content's hash, and equal rows of equal targets become one with the sum of their weights. A solver
//! that stops a little before the end depends on the order of its rows: this way, it does not depend on the order in which they came, nor on
//! whether a row was repeated or weighted.

use bochner_simd::ask_for_huge_pages;

use crate::content::{ContentHash, folds as folds_of, hashes};
use crate::random::Stream;
use crate::source::{Batch, Source};
use crate::sweep::try_sweep;
use crate::{AnyRows, CsrView, Engine, Event, Map, MapSpec, MatrixView, Result, Rows, Scalar};

/// Rows of features with their targets, weights and folds; rows of weight 0 are left out.
#[derive(Debug, Default)]
pub(super) struct Held<T> {
    /// All numbers of dense features, or the values of sparse ones.
    values: Vec<T>,
    /// Where sparse rows start and in which columns their values stand; no starts for dense ones.
    starts: Vec<usize>,
    columns: Vec<u32>,
    width: usize,
    /// As the source has them, one row after another: numbers, or the position of a class.
    pub(super) targets: Vec<f64>,
    /// Targets of a row.
    pub(super) outputs: usize,
    pub(super) weights: Vec<f64>,
    pub(super) folds: Vec<usize>,
    hashes: Vec<u64>,
    /// Rows that were read, repeats included.
    pub(super) count: u64,
}

/// What goes with the rows of a block.
struct Block<'a> {
    batch: &'a Batch<'a>,
    hashes: &'a [u64],
    folds: &'a [usize],
}

/// Features in the precision of the source.
pub(super) enum AnyHeld {
    F32(Held<f32>),
    F64(Held<f64>),
}

/// What held features take.
pub(super) struct Size {
    /// Numbers of all rows.
    pub(super) entries: u64,
    pub(super) bytes: u64,
}

impl Size {
    /// Of `rows` rows of a map with so many features.
    pub(super) fn of(source: &dyn Source, spec: &MapSpec, features: usize, rows: u64) -> Size {
        let is_identity = spec.is_identity();
        let (entries, is_sparse) = match source.stored_entries() {
            Some(stored) if is_identity => (stored, true),
            stored if spec.is_sparse() => (spec.sparse_entries(rows, stored), true),
            _ => (rows.saturating_mul(features as u64), false),
        };
        // Sparse rows of unequal length are copied when they are put in order.
        let of_one_length = matches!(spec.method, crate::Method::Binning { .. });
        let copies = if is_sparse && !of_one_length { 2 } else { 1 };
        let an_entry = copies * (source.scalar_bytes() as u64 + if is_sparse { 4 } else { 0 });
        // Class, weight, fold, hash and place of each row.
        let bytes = entries.saturating_mul(an_entry).saturating_add(rows.saturating_mul(6 * 8));
        Size { entries, bytes }
    }
}

impl AnyHeld {
    /// Maps and keeps all rows of a source; `rows` of them are expected. Folds are by content, with the seed of the map.
    pub(super) fn of(
        engine: &Engine,
        source: &dyn Source,
        map: &Map,
        rows: u64,
        folds: usize,
    ) -> Result<AnyHeld> {
        let size = Size::of(source, map.spec(), map.output_dim(), rows);
        engine.check_memory(|| format!("{rows} rows of features in memory"), size.bytes)?;
        let hash = ContentHash::new(map.spec().seed, Stream::Folds);
        let (mut single, mut double) = (Held::new(map), Held::new(map));
        let expected = usize::try_from(size.entries).unwrap_or(0);
        if source.scalar_bytes() == 4 {
            single.reserve(expected)
        } else {
            double.reserve(expected)
        }
        let none = || ();
        let check = || engine.tell(&Event::Alive);
        try_sweep(engine, source, "features", none, |(), batch| {
            let hashes = hashes(engine, &hash, batch);
            let folds = folds_of(engine, &hash, batch, folds);
            match batch.rows {
                AnyRows::F32(rows) => {
                    single.absorb(engine, map, &rows, &Block { batch, hashes: &hashes, folds: &folds }, check)
                }
                AnyRows::F64(rows) => {
                    double.absorb(engine, map, &rows, &Block { batch, hashes: &hashes, folds: &folds }, check)
                }
            }
        })?;
        Ok(if double.weights.is_empty() {
            single.put_in_order();
            AnyHeld::F32(single)
        } else {
            double.put_in_order();
            AnyHeld::F64(double)
        })
    }
}

impl<T: Scalar> Held<T> {
    fn new(map: &Map) -> Held<T> {
        Held { width: map.output_dim(), ..Held::default() }
    }

    fn reserve(&mut self, entries: usize) {
        // Where this fails the next growth will, in order.
        let _ = self.values.try_reserve_exact(entries);
        ask_for_huge_pages(self.values.spare_capacity_mut());
    }

    fn absorb(
        &mut self,
        engine: &Engine,
        map: &Map,
        rows: &Rows<'_, T>,
        &Block { batch, hashes, folds }: &Block<'_>,
        check: impl Fn() -> Result<()>,
    ) -> Result<()> {
        let kept: Vec<usize> = (0..rows.count()).filter(|&i| batch.weight(i) > 0.0).collect();
        let is_identity = map.spec().is_identity();
        match rows {
            Rows::Sparse(sparse) if is_identity => self.push_sparse(sparse, &kept),
            _ if map.spec().is_sparse() => {
                self.push_sparse(&map.sparse_features(engine, rows)?.view(), &kept);
            }
            _ => {
                let from = self.values.len();
                self.values.resize(from + rows.count() * self.width, T::default());
                map.apply_until(engine, rows, &mut self.values[from..], false, check)?;
                for (to, &i) in kept.iter().enumerate().filter(|(to, i)| to != *i) {
                    let row = from + i * self.width..from + (i + 1) * self.width;
                    self.values.copy_within(row, from + to * self.width);
                }
                self.values.truncate(from + kept.len() * self.width);
            }
        }
        self.outputs = batch.targets.columns();
        kept.iter().for_each(|&i| self.targets.extend_from_slice(batch.targets.row(i)));
        self.weights.extend(kept.iter().map(|&i| batch.weight(i)));
        self.folds.extend(kept.iter().map(|&i| folds[i]));
        self.hashes.extend(kept.iter().map(|&i| hashes[i]));
        Ok(())
    }

    /// Sorts rows by content and makes one of those that are equal.
    fn put_in_order(&mut self) {
        let mut order: Vec<usize> = (0..self.weights.len()).collect();
        // Weights of equal rows are added from the smallest on, whatever their order.
        order.sort_by(|&i, &j| {
            let by_content = self.hashes[i].cmp(&self.hashes[j]);
            let by_target = || compare(self.targets_of(i), self.targets_of(j));
            by_content.then_with(by_target).then(self.weights[i].total_cmp(&self.weights[j]))
        });
        let mut kept: Vec<usize> = Vec::with_capacity(order.len());
        let mut repeated = Vec::new();
        for i in order {
            match kept.last() {
                Some(&last) if self.equal(last, i) => {
                    self.weights[last] += self.weights[i];
                    repeated.push(i);
                }
                _ => kept.push(i),
            }
        }
        self.arrange(&kept, repeated);
        fn pick<N: Copy>(all: &mut Vec<N>, kept: &[usize]) {
            *all = kept.iter().map(|&i| all[i]).collect();
        }
        self.targets = kept.iter().flat_map(|&i| self.targets_of(i).iter().copied()).collect();
        pick(&mut self.weights, &kept);
        pick(&mut self.folds, &kept);
        self.count = self.hashes.len() as u64;
        self.hashes = Vec::new();
    }

    /// The targets of row i.
    pub(super) fn targets_of(&self, i: usize) -> &[f64] {
        &self.targets[i * self.outputs..(i + 1) * self.outputs]
    }

    /// The class of row i, of a source of classes.
    pub(super) fn class(&self, i: usize) -> usize {
        self.targets[i * self.outputs] as usize
    }

    /// Same content, as far as hash and features tell, and same targets.
    fn equal(&self, i: usize, j: usize) -> bool {
        self.hashes[i] == self.hashes[j]
            && compare(self.targets_of(i), self.targets_of(j)).is_eq()
            && self.entries(i) == self.entries(j)
    }

    fn entries(&self, i: usize) -> (&[T], &[u32]) {
        if self.starts.is_empty() {
            return (&self.values[i * self.width..(i + 1) * self.width], &[]);
        }
        let row = self.starts[i]..self.starts[i + 1];
        (&self.values[row.clone()], &self.columns[row])
    }

    /// Brings row `kept[k]` to place k; the others go.
    fn arrange(&mut self, kept: &[usize], others: Vec<usize>) {
        let from: Vec<usize> = kept.iter().copied().chain(others).collect();
        // Rows of one length change places where they lie; others are copied.
        let length =
            if self.starts.is_empty() { self.width } else { self.starts.get(1).copied().unwrap_or(0) };
        let is_even = self.starts.windows(2).all(|row| row[1] - row[0] == length);
        if is_even {
            permute(&mut self.values, length, &from);
            self.values.truncate(kept.len() * length);
            if !self.starts.is_empty() {
                permute(&mut self.columns, length, &from);
                self.columns.truncate(kept.len() * length);
                self.starts.truncate(kept.len() + 1);
            }
            return;
        }
        let (mut values, mut columns, mut starts) = (Vec::new(), Vec::new(), vec![0]);
        for &i in kept {
            let (v, c) = self.entries(i);
            values.extend_from_slice(v);
            columns.extend_from_slice(c);
            starts.push(columns.len());
        }
        (self.values, self.columns, self.starts) = (values, columns, starts);
    }

    fn push_sparse(&mut self, rows: &CsrView<'_, T>, kept: &[usize]) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        for &i in kept {
            let (columns, values) = rows.row(i);
            self.columns.extend_from_slice(columns);
            self.values.extend_from_slice(values);
            self.starts.push(self.columns.len());
        }
    }

    /// All of them.
    pub(super) fn rows(&self) -> Result<Rows<'_, T>> {
        if self.starts.is_empty() {
            MatrixView::new(&self.values, self.weights.len(), self.width).map(Rows::Dense)
        } else {
            CsrView::new(self.width, &self.starts, &self.columns, &self.values).map(Rows::Sparse)
        }
    }
}

fn compare(a: &[f64], b: &[f64]) -> std::cmp::Ordering {
    a.iter()
        .zip(b)
        .map(|(a, b)| a.total_cmp(b))
        .find(|order| order.is_ne())
        .unwrap_or(std::cmp::Ordering::Equal)
}

/// Row `from[k]` of `length` numbers comes to place k, cycle by cycle.
fn permute<N: Copy>(all: &mut [N], length: usize, from: &[usize]) {
    let mut is_done = vec![false; from.len()];
    for start in 0..from.len() {
        if is_done[start] || from[start] == start {
            continue;
        }
        let first = all[start * length..(start + 1) * length].to_vec();
        let mut to = start;
        loop {
            is_done[to] = true;
            let source = from[to];
            if source == start {
                all[to * length..(to + 1) * length].copy_from_slice(&first);
                break;
            }
            all.copy_within(source * length..(source + 1) * length, to * length);
            to = source;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_change_places_where_they_lie() {
        let mut all: Vec<usize> = (0..6).flat_map(|row| [10 * row, 10 * row + 1]).collect();
        permute(&mut all, 2, &[3, 1, 0, 5, 2, 4]);
        assert_eq!(all, [30, 31, 10, 11, 0, 1, 50, 51, 20, 21, 40, 41]);
    }
}

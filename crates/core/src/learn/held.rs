//! Features that are held in memory, for solvers that visit rows in their own order.
//!
//! What a [`sweep`] reads is mapped once and kept: dense rows of D numbers, or sparse ones where the map or the rows are sparse. The memory
//! this takes grows with the rows, unlike that of a statistic, and is checked before any of it is made.

use crate::content::{ContentHash, fold_of, hashes};
use crate::matrix::with_rows;
use crate::random::Stream;
use crate::source::{Batch, Source};
use crate::sweep::sweep;
use crate::{AnyRows, CsrView, Engine, Map, MatrixView, Method, Result, Rows, Scalar};

/// Rows of features with their classes, weights and folds; rows of weight 0 are left out.
#[derive(Debug, Default)]
pub(super) struct Held<T> {
    /// All numbers of dense features, or the values of sparse ones.
    values: Vec<T>,
    /// Where sparse rows start and in which columns their values stand; no starts for dense ones.
    starts: Vec<usize>,
    columns: Vec<u32>,
    width: usize,
    pub(super) classes: Vec<usize>,
    pub(super) weights: Vec<f64>,
    pub(super) folds: Vec<usize>,
}

/// Features in the precision of the source.
pub(super) enum AnyHeld {
    F32(Held<f32>),
    F64(Held<f64>),
}

impl AnyHeld {
    /// Maps and keeps all rows of a source of classes; `rows` of them are expected. Folds are by content, with the seed of the map.
    pub(super) fn of(
        engine: &Engine,
        source: &dyn Source,
        map: &Map,
        rows: u64,
        folds: usize,
    ) -> Result<AnyHeld> {
        let entries = if map.spec().is_sparse() { map.spec().features } else { map.output_dim() };
        let bytes = source.scalar_bytes() + if map.spec().is_sparse() { 4 } else { 0 };
        // Classes, weights and folds stand beside each row.
        let needed = rows.saturating_mul((entries * bytes + 3 * 8) as u64);
        engine.check_memory(|| format!("{rows} rows of {entries} features in memory"), needed)?;
        let hash = ContentHash::new(map.spec().seed, Stream::Folds);
        let (mut single, mut double) = (Held::new(map), Held::new(map));
        let expected = usize::try_from(rows).unwrap_or(0).saturating_mul(entries);
        if source.scalar_bytes() == 4 {
            single.reserve(expected)
        } else {
            double.reserve(expected)
        }
        let none = || ();
        sweep(engine, source, "features", none, |(), batch| {
            let fold: Vec<usize> = if folds == 1 {
                vec![0; batch.rows.count()]
            } else {
                let hashes = with_rows!(batch.content, rows => hashes(&hash, &rows));
                hashes.into_iter().map(|hash| fold_of(hash, folds)).collect()
            };
            match batch.rows {
                AnyRows::F32(rows) => single.absorb(map, &rows, batch, &fold),
                AnyRows::F64(rows) => double.absorb(map, &rows, batch, &fold),
            }
        })?;
        Ok(if double.weights.is_empty() { AnyHeld::F32(single) } else { AnyHeld::F64(double) })
    }
}

impl<T: Scalar> Held<T> {
    fn new(map: &Map) -> Held<T> {
        Held { width: map.output_dim(), ..Held::default() }
    }

    fn reserve(&mut self, entries: usize) {
        // Where this fails the next growth will, in order.
        let _ = self.values.try_reserve_exact(entries);
    }

    fn absorb(&mut self, map: &Map, rows: &Rows<'_, T>, batch: &Batch<'_>, fold: &[usize]) {
        let kept: Vec<usize> = (0..rows.count()).filter(|&i| batch.weight(i) > 0.0).collect();
        let is_exact = map.spec().method == Method::Exact;
        match rows {
            Rows::Sparse(sparse) if is_exact => self.push_sparse(sparse, &kept),
            _ if map.spec().is_sparse() => {
                // `is_sparse` has said that there are some.
                let Ok(features) = map.sparse_features(rows) else { return };
                self.push_sparse(&features.view(), &kept);
            }
            _ => {
                let from = self.values.len();
                self.values.resize(from + rows.count() * self.width, T::default());
                map.apply_in_parallel(rows, &mut self.values[from..], false);
                for (to, &i) in kept.iter().enumerate().filter(|(to, i)| to != *i) {
                    let row = from + i * self.width..from + (i + 1) * self.width;
                    self.values.copy_within(row, from + to * self.width);
                }
                self.values.truncate(from + kept.len() * self.width);
            }
        }
        self.classes.extend(kept.iter().map(|&i| batch.targets.row(i)[0] as usize));
        self.weights.extend(kept.iter().map(|&i| batch.weight(i)));
        self.folds.extend(kept.iter().map(|&i| fold[i]));
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

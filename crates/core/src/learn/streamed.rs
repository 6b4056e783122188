//! Features that are made anew in each pass over the rows and never kept.
//!
//! ```text
//! reach(i, k) = z(i)·directionₖ + constantₖ,   values(i, ·) = f(i, reach(i, ·))        sums(k) = Σᵢ values(i, k)·z(i)
//! ```
//! A block of the sweep is mapped slab by slab, a slab being as many rows as follow from D alone. Threads share the rows of a slab while features, products and values are made, and columns of features
//! while sums are: each sum runs over rows in their order, so that threads do not change a bit. Sparse features are put column by column for their sums.

use bochner_simd::{Aligned, Isa, RowsRef, project, project_back};
use rayon::prelude::*;

use crate::content::{ContentHash, fold_of, hashes};
use crate::matrix::with_rows;
use crate::random::Stream;
use crate::solve::ByColumn;
use crate::solve::pcg::Vectors;
use crate::source::{Batch, Source};
use crate::stat::Statistic;
use crate::sweep::{BLOCK, sweep};
use crate::{AnyRows, Csr, CsrView, Engine, Map, Matrix, MatrixView, OwnedRows, Result, Rows, Scalar};

/// A source and the map that its rows go through.
#[derive(Clone, Copy)]
pub(super) struct Streamed<'a> {
    /// Its observer is asked whether to go on.
    pub(super) engine: &'a Engine,
    pub(super) source: &'a dyn Source,
    pub(super) map: &'a Map,
    /// The coded targets of a batch.
    pub(super) targets: &'a (dyn Fn(&Batch<'_>) -> Matrix<f64> + Sync),
    /// What weights are divided by.
    pub(super) unit: f64,
    /// Folds of which one is left out, 1 for none; and which.
    pub(super) folds: usize,
    pub(super) left: usize,
}

/// Rows of a batch beside their features.
pub(super) struct Block {
    pub(super) weights: Vec<f64>,
    pub(super) targets: Matrix<f64>,
    /// Whether a row is left out; empty if none is.
    pub(super) left_out: Vec<bool>,
}

impl Block {
    pub(super) fn is_left_out(&self, i: usize) -> bool {
        self.left_out.get(i).copied().unwrap_or(false)
    }
}

/// From a row and its products to its values.
pub(super) type Values<'a> = &'a (dyn Fn(&Block, usize, &[f64], &mut [f64]) + Sync);

/// Somebody who looks at features.
pub(super) trait Visitor {
    /// Some rows of features, and what else is known of them.
    fn visit<T: Scalar>(&mut self, z: MatrixView<'_, T>, rows: &Shown<'_>);
}

/// Some rows of a block.
pub(super) struct Shown<'a> {
    pub(super) block: &'a Block,
    /// Where they stand in the block, and the number of its first row in the source.
    pub(super) places: &'a [usize],
    first_row: u64,
}

impl Shown<'_> {
    pub(super) fn weights(&self) -> Vec<f64> {
        self.places.iter().map(|&i| self.block.weights[i]).collect()
    }

    /// Their numbers in the source.
    pub(super) fn numbers(&self) -> Vec<u64> {
        self.places.iter().map(|&i| self.first_row + i as u64).collect()
    }
}

/// What a pass is to find.
pub(super) struct Job<'a> {
    pub(super) directions: &'a [&'a [f64]],
    /// Added to the products with the directions; empty for nothing.
    pub(super) constants: &'a [f64],
    /// Values of a row that multiply its features; and those that are only added up.
    pub(super) back: usize,
    pub(super) plain: usize,
    pub(super) values: Values<'a>,
    /// Whether Σ w·z² is wanted, and max ‖z‖².
    pub(super) squares: bool,
}

impl Job<'_> {
    /// What is reached before any product is added, of so many rows.
    fn first_reach(&self, rows: usize) -> Vec<f64> {
        if self.constants.is_empty() {
            return vec![0.0; rows * self.directions.len()];
        }
        self.constants.repeat(rows)
    }
}

/// What a pass found.
pub(super) struct Total {
    /// Tile of columns by tile: vector by vector.
    sums: Vec<f64>,
    count: usize,
    /// Σ of each value.
    pub(super) plain: Vec<f64>,
    /// Σ w·z² of each column.
    pub(super) squares: Vec<f64>,
    /// ‖z‖² of the longest row that counts.
    pub(super) longest: f64,
}

/// Columns that one thread sums at once.
const TILE: usize = 256;

/// Rows that one thread maps at once.
const CHUNK: usize = 64;

/// Numbers of a slab.
const SLAB: usize = 1 << 22;

/// Rows of a slab of so many features.
pub(crate) fn slab(features: usize) -> usize {
    (SLAB / features.max(1)).clamp(CHUNK, BLOCK) / CHUNK * CHUNK
}

impl Statistic for Total {
    fn merge(&mut self, other: &Self) {
        let pairs = [
            (&mut self.sums, &other.sums),
            (&mut self.plain, &other.plain),
            (&mut self.squares, &other.squares),
        ];
        for (to, from) in pairs {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        }
        self.longest = self.longest.max(other.longest);
    }
}

impl Total {
    fn zero(features: usize, job: &Job<'_>) -> Total {
        Total {
            sums: vec![0.0; features * job.back],
            count: job.back,
            plain: vec![0.0; job.back + job.plain],
            squares: vec![0.0; if job.squares { features } else { 0 }],
            longest: 0.0,
        }
    }

    /// Σ value·z, one vector for each of the values.
    pub(super) fn vectors(&self) -> Vectors {
        let mut out = vec![Vec::with_capacity(self.sums.len() / self.count.max(1)); self.count];
        for tile in self.sums.chunks((self.count * TILE).max(1)) {
            let width = tile.len() / self.count;
            out.iter_mut().zip(tile.chunks(width.max(1))).for_each(|(out, sums)| out.extend_from_slice(sums));
        }
        out
    }

    /// Adds the values of some rows to the sums that are theirs alone.
    fn add_plain(&mut self, values: &[f64]) {
        for row in values.chunks_exact(self.plain.len().max(1)) {
            self.plain.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
    }
}

impl Streamed<'_> {
    /// One pass.
    pub(super) fn pass(&self, job: &Job<'_>) -> Result<Total> {
        let features = self.map.output_dim();
        let coefficients: Vec<f64> = job.directions.iter().flat_map(|d| d.iter().copied()).collect();
        let (mut single, mut double) = (Aligned::default(), Aligned::default());
        sweep(
            self.engine,
            self.source,
            "pass",
            || Total::zero(features, job),
            |total, batch| {
                let block = self.block(batch);
                match batch.rows {
                    AnyRows::F32(rows) => self.absorb(&rows, &block, job, &coefficients, &mut single, total),
                    AnyRows::F64(rows) => self.absorb(&rows, &block, job, &coefficients, &mut double, total),
                }
            },
        )
    }

    /// One pass over dense features of a share of the rows, chosen by content.
    pub(super) fn visit(&self, share: f64, visitor: &mut (impl Visitor + Send)) -> Result<()> {
        let hash = ContentHash::new(self.map.spec().seed, Stream::Guides);
        let (mut single, mut double) = (Aligned::default(), Aligned::default());
        sweep(
            self.engine,
            self.source,
            "pass",
            || (),
            |(), batch| {
                let block = self.block(batch);
                let chosen: Vec<usize> = if share < 1.0 {
                    let hashes = with_rows!(batch.content, rows => hashes(&hash, &rows));
                    (0..hashes.len()).filter(|&i| (hashes[i] as f64) < share * 2f64.powi(64)).collect()
                } else {
                    (0..batch.rows.count()).collect()
                };
                let chosen: Vec<usize> = chosen.into_iter().filter(|&i| block.weights[i] > 0.0).collect();
                match batch.rows {
                    AnyRows::F32(rows) => {
                        self.show(&rows, batch.first_row, &block, &chosen, &mut single, visitor)
                    }
                    AnyRows::F64(rows) => {
                        self.show(&rows, batch.first_row, &block, &chosen, &mut double, visitor)
                    }
                }
            },
        )
    }

    fn show<T: Scalar>(
        &self,
        rows: &Rows<'_, T>,
        first_row: u64,
        block: &Block,
        chosen: &[usize],
        memory: &mut Aligned<T>,
        visitor: &mut impl Visitor,
    ) {
        let features = self.map.output_dim();
        for some in chosen.chunks(slab(features)) {
            let here = gather(rows, some);
            let z = memory.sized(some.len() * features);
            self.map.apply_in_parallel(&here.view(), z, false);
            if let Ok(z) = MatrixView::new(z, some.len(), features) {
                visitor.visit(z, &Shown { block, places: some, first_row });
            }
        }
    }

    fn block(&self, batch: &Batch<'_>) -> Block {
        let left_out = if self.folds > 1 {
            let hash = ContentHash::new(self.map.spec().seed, Stream::Folds);
            let hashes = with_rows!(batch.content, rows => hashes(&hash, &rows));
            hashes.into_iter().map(|hash| fold_of(hash, self.folds) == self.left).collect()
        } else {
            Vec::new()
        };
        Block {
            weights: (0..batch.rows.count()).map(|i| batch.weight(i) / self.unit).collect(),
            targets: (self.targets)(batch),
            left_out,
        }
    }

    fn absorb<T: Scalar>(
        &self,
        rows: &Rows<'_, T>,
        block: &Block,
        job: &Job<'_>,
        coefficients: &[f64],
        memory: &mut Aligned<T>,
        total: &mut Total,
    ) {
        let spec = self.map.spec();
        match rows {
            Rows::Sparse(sparse) if spec.is_identity() => {
                absorb_sparse(sparse, block, job, total);
            }
            _ if spec.is_sparse() => {
                // `is_sparse` has said that there are some.
                let Ok(features) = self.map.sparse_features(rows) else { return };
                absorb_sparse(&features.view(), block, job, total);
            }
            _ => {
                let step = slab(self.map.output_dim());
                for start in (0..rows.count()).step_by(step) {
                    let here = rows.slice(start..rows.count().min(start + step));
                    self.absorb_slab(&here, start, block, job, coefficients, memory, total);
                }
            }
        }
    }

    fn absorb_slab<T: Scalar>(
        &self,
        rows: &Rows<'_, T>,
        start: usize,
        block: &Block,
        job: &Job<'_>,
        coefficients: &[f64],
        memory: &mut Aligned<T>,
        total: &mut Total,
    ) {
        let (width, count, isa) = (self.map.output_dim(), job.directions.len(), Isa::best());
        let each = job.back + job.plain;
        let z = memory.sized(rows.count() * width);
        let mut values = vec![0.0; rows.count() * each];
        z.par_chunks_mut((CHUNK * width).max(1))
            .zip(values.par_chunks_mut((CHUNK * each).max(1)))
            .enumerate()
            .for_each(|(chunk, (z, values))| {
                let first = chunk * CHUNK;
                let here = rows.slice(first..rows.count().min(first + CHUNK));
                self.map.apply(&here, z);
                let mut reach = job.first_reach(here.count());
                let z = RowsRef { data: &*z, count: here.count(), stride: width };
                project(isa, z, width, coefficients, &mut reach);
                for (i, values) in values.chunks_exact_mut(each.max(1)).enumerate() {
                    (job.values)(block, start + first + i, &reach[i * count..(i + 1) * count], values);
                }
            });
        total.add_plain(&values);
        let back: Vec<f64> =
            values.chunks_exact(each.max(1)).flat_map(|row| row[..job.back].iter().copied()).collect();
        let z = &*z;
        let tile = |t: usize| {
            let columns = t * TILE..width.min((t + 1) * TILE);
            (RowsRef { data: &z[columns.start..], count: rows.count(), stride: width }, columns.len())
        };
        total.sums.par_chunks_mut((job.back * TILE).max(1)).enumerate().for_each(|(t, sums)| {
            let (z, columns) = tile(t);
            project_back(isa, z, columns, &back, sums);
        });
        if job.squares {
            let length = |(i, z): (usize, &[T])| {
                let counts = block.weights[start + i] > 0.0;
                if counts { z.iter().map(|z| z.to_f64() * z.to_f64()).sum::<f64>() } else { 0.0 }
            };
            total.longest =
                z.chunks_exact(width.max(1)).enumerate().map(length).fold(total.longest, f64::max);
        }
        total.squares.par_chunks_mut(TILE).enumerate().for_each(|(t, squares)| {
            for i in 0..rows.count() {
                let z = &z[i * width + t * TILE..];
                let weight = block.weights[start + i];
                squares.iter_mut().zip(z).for_each(|(s, z)| *s += weight * z.to_f64() * z.to_f64());
            }
        });
    }
}

fn absorb_sparse<T: Scalar>(rows: &CsrView<'_, T>, block: &Block, job: &Job<'_>, total: &mut Total) {
    let (count, each) = (job.directions.len(), job.back + job.plain);
    let mut values = vec![0.0; rows.rows() * each];
    values.par_chunks_mut((CHUNK * each).max(1)).enumerate().for_each(|(chunk, values)| {
        let mut reach = vec![0.0; count];
        for (i, values) in values.chunks_exact_mut(each.max(1)).enumerate() {
            let i = chunk * CHUNK + i;
            let (places, entries) = rows.row(i);
            for (k, (reach, direction)) in reach.iter_mut().zip(job.directions).enumerate() {
                let product: f64 =
                    places.iter().zip(entries).map(|(&j, z)| z.to_f64() * direction[j as usize]).sum();
                *reach = product + job.constants.get(k).copied().unwrap_or(0.0);
            }
            (job.values)(block, i, &reach, values);
        }
    });
    total.add_plain(&values);
    let by_column = ByColumn::of(rows);
    total.sums.par_chunks_mut((job.back * TILE).max(1)).enumerate().for_each(|(t, sums)| {
        let width = sums.len() / job.back;
        for c in 0..width {
            for (i, z) in by_column.column(t * TILE + c) {
                let values = &values[i * each..i * each + job.back];
                values.iter().enumerate().for_each(|(k, value)| sums[k * width + c] += value * z);
            }
        }
    });
    if job.squares {
        let length = |i: usize| rows.row(i).1.iter().map(|z| z.to_f64() * z.to_f64()).sum::<f64>();
        let counts = (0..rows.rows()).filter(|&i| block.weights[i] > 0.0);
        total.longest = counts.map(length).fold(total.longest, f64::max);
    }
    total.squares.par_iter_mut().enumerate().with_min_len(TILE).for_each(|(j, square)| {
        by_column.column(j).for_each(|(i, z)| *square += block.weights[i] * z * z);
    });
}

/// Some rows side by side.
fn gather<T: Scalar>(rows: &Rows<'_, T>, some: &[usize]) -> OwnedRows<T> {
    match rows {
        Rows::Dense(dense) => {
            OwnedRows::Dense(Matrix::from_fn(some.len(), dense.columns(), |i, j| dense.row(some[i])[j]))
        }
        Rows::Sparse(_) => {
            let mut out = Csr::empty(rows.columns());
            some.iter().for_each(|&i| out.push_row(rows.entries(i)));
            OwnedRows::Sparse(out)
        }
    }
}

//! Features that are made anew in each pass over the rows, or met where they are kept.
//!
//! ```text
//! reach(i, k) = z(i)·directionₖ + constantₖ,   values(i, ·) = f(i, reach(i, ·))        sums(k) = Σᵢ values(i, k)·z(i)
//! ```
//! A block of the sweep is taken slab by slab, a slab being as many rows as follow from D alone, and a slab in sixteen parts, or fewer where there are many sums, which threads share: the features of a part are made, met and summed up while they are
//! at hand, each part by itself; then parts are added up in their order, so that threads do not change a bit. Sparse features are put column by column for their sums.

use super::kept::{AnyFeatures, Kept};
use crate::content::{ContentHash, folds, hashes};
use crate::random::Stream;
use crate::solve::ByColumn;
use crate::solve::pcg::Vectors;
use crate::source::{Batch, Source};
use crate::stat::Statistic;
use crate::sweep::{BLOCK, try_sweep};
use crate::{AnyRows, Csr, CsrView, Engine, Event, Map, Matrix, MatrixView, OwnedRows, Result, Rows, Scalar};
use bochner_simd::{Aligned, RowsRef, project, project_back};

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
    /// What was kept of the features, if there was room.
    pub(super) kept: Option<&'a Kept<'a>>,
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
    /// Some rows of features, and what else is known of them; with memory to work in, kept between visits.
    fn visit<T: Scalar>(&mut self, z: MatrixView<'_, T>, rows: &Shown<'_>, spare: &mut Aligned<T>);
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
pub(super) struct Passed {
    /// Σ value·z, one vector for each of the values.
    pub(super) vectors: Vectors,
    /// Σ of each value.
    pub(super) plain: Vec<f64>,
    /// Σ w·z² of each column.
    pub(super) squares: Vec<f64>,
    /// ‖z‖² of the longest row that counts.
    pub(super) longest: f64,
}

/// The same on its way.
struct Total {
    /// One vector after another.
    sums: Vec<f64>,
    plain: Vec<f64>,
    squares: Vec<f64>,
    longest: f64,
}

/// Columns of sparse features that one thread sums at once.
const TILE: usize = 256;

/// Parts of a slab at most, and numbers in the sums of all of them.
const PARTS: usize = 16;
const PART_NUMBERS: usize = 1 << 21;

/// Rows of a slab come in this many.
const ROUND: usize = 64;

/// Vectors that one thread adds rows to at once, where they are more than a few.
const TOGETHER: usize = 8;
const FEW: usize = 32;

/// Rows that stay in a cache.
const CHUNK: usize = 32;

/// Numbers of a slab.
const SLAB: usize = 1 << 22;

/// Rows of a slab of so many features.
pub(crate) fn slab(features: usize) -> usize {
    (SLAB / features.max(1)).clamp(ROUND, BLOCK) / ROUND * ROUND
}

impl Statistic for Total {
    fn merge(&mut self, other: &Self) {
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        add(&mut self.sums, &other.sums);
        add(&mut self.plain, &other.plain);
        add(&mut self.squares, &other.squares);
        self.longest = self.longest.max(other.longest);
    }
}

impl Total {
    fn zero(features: usize, job: &Job<'_>) -> Total {
        Total {
            sums: vec![0.0; features * job.back],
            plain: vec![0.0; job.back + job.plain],
            squares: vec![0.0; if job.squares { features } else { 0 }],
            longest: 0.0,
        }
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
    pub(super) fn pass(&self, job: &Job<'_>) -> Result<Passed> {
        let total = match self.kept {
            Some(kept) => self.pass_over(kept, job)?,
            None => self.pass_anew(job)?,
        };
        let vectors = total.sums.chunks(self.map.output_dim().max(1)).map(<[f64]>::to_vec).collect();
        let vectors = match self.kept {
            Some(kept) => kept.sums(self.engine, vectors),
            None => vectors,
        };
        Ok(Passed { vectors, plain: total.plain, squares: total.squares, longest: total.longest })
    }

    /// One pass over what is kept.
    fn pass_over(&self, kept: &Kept<'_>, job: &Job<'_>) -> Result<Total> {
        let features = self.map.output_dim();
        let directions = kept.directions(self.engine, job.directions);
        let directions: Vec<&[f64]> = directions.iter().map(Vec::as_slice).collect();
        let job = &Job { directions: &directions, ..*job };
        let coefficients: Vec<f64> = directions.concat();
        let zero = || Total::zero(features, job);
        kept.pass(self.engine, zero, |total, block, features| match features {
            AnyFeatures::F32(z) => absorb_kept(self.engine, &z.view(), block, job, &coefficients, total),
            AnyFeatures::F64(z) => absorb_kept(self.engine, &z.view(), block, job, &coefficients, total),
        })
    }

    /// One pass over the rows.
    fn pass_anew(&self, job: &Job<'_>) -> Result<Total> {
        let features = self.map.output_dim();
        let coefficients: Vec<f64> = job.directions.concat();
        let (mut single, mut double) = (Aligned::default(), Aligned::default());
        try_sweep(
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
        let (mut single, mut double) = (Default::default(), Default::default());
        try_sweep(
            self.engine,
            self.source,
            "pass",
            || (),
            |(), batch| {
                let block = self.block(batch);
                let chosen: Vec<usize> = if share < 1.0 {
                    let hashes = hashes(self.engine, &hash, batch);
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
        (memory, spare): &mut (Aligned<T>, Aligned<T>),
        visitor: &mut impl Visitor,
    ) -> Result<()> {
        let features = self.map.output_dim();
        for some in chosen.chunks(slab(features)) {
            let here = gather(rows, some);
            let z = memory.sized(some.len() * features);
            self.map.apply_in_parallel(self.engine, &here.view(), z, false);
            if let Ok(z) = MatrixView::new(z, some.len(), features) {
                visitor.visit(z, &Shown { block, places: some, first_row }, spare);
            }
            self.engine.tell(&Event::Alive)?;
        }
        Ok(())
    }

    pub(super) fn block(&self, batch: &Batch<'_>) -> Block {
        let left_out = if self.folds > 1 {
            let hash = ContentHash::new(self.map.spec().seed, Stream::Folds);
            let folds = folds(self.engine, &hash, batch, self.folds);
            folds.into_iter().map(|fold| fold == self.left).collect()
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
    ) -> Result<()> {
        let spec = self.map.spec();
        match rows {
            Rows::Sparse(sparse) if spec.is_identity() => {
                absorb_sparse(self.engine, sparse, block, job, total);
            }
            _ if spec.is_sparse() => {
                let features = self.map.sparse_features(self.engine, rows)?;
                absorb_sparse(self.engine, &features.view(), block, job, total);
            }
            _ => {
                let step = slab(self.map.output_dim());
                for start in (0..rows.count()).step_by(step) {
                    let here = rows.slice(start..rows.count().min(start + step));
                    self.absorb_slab(&here, start, block, job, coefficients, memory, total);
                    self.engine.tell(&Event::Alive)?;
                }
            }
        }
        Ok(())
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
        let width = self.map.output_dim();
        let z = memory.sized(rows.count() * width);
        let part = part(width, job.back);
        let mut parts: Vec<_> = z.chunks_mut((part * width).max(1)).map(|z| (z, None)).collect();
        self.engine.for_each_mut(&mut parts, &|p, (z, found)| {
            let rows = rows.slice(p * part..rows.count().min((p + 1) * part));
            self.map.apply(self.engine, &rows, z);
            *found = Some(summed(self.engine, z, width, start + p * part, block, job, coefficients));
        });
        // In their order.
        parts.iter().filter_map(|(_, found)| found.as_ref()).for_each(|part| total.merge(part));
    }
}

/// Parts of a slab whose features are added up with so many values.
fn parts(features: usize, back: usize) -> usize {
    (PART_NUMBERS / (features * back).max(1)).clamp(1, PARTS)
}

/// Rows of a part.
fn part(features: usize, back: usize) -> usize {
    slab(features).div_ceil(parts(features, back))
}

/// Numbers in the sums of all parts of a slab.
pub(crate) fn part_numbers(features: usize, back: usize) -> usize {
    parts(features, back).saturating_mul(features).saturating_mul(back)
}

/// A block of features that were kept, in the slabs and parts in which they would be made.
fn absorb_kept<T: Scalar>(
    engine: &Engine,
    rows: &Rows<'_, T>,
    block: &Block,
    job: &Job<'_>,
    coefficients: &[f64],
    total: &mut Total,
) {
    let dense = match rows {
        Rows::Sparse(sparse) => return absorb_sparse(engine, sparse, block, job, total),
        Rows::Dense(dense) => dense,
    };
    let (width, part) = (dense.columns(), part(dense.columns(), job.back));
    for start in (0..dense.rows()).step_by(slab(width)) {
        let here = dense.slice(start..dense.rows().min(start + slab(width)));
        let parts: Vec<&[T]> = here.as_slice().chunks((part * width).max(1)).collect();
        let summed = |p: usize| summed(engine, parts[p], width, start + p * part, block, job, coefficients);
        engine.map(parts.len(), &summed).iter().for_each(|part| total.merge(part));
    }
}

/// What some rows of features, from row `first` of the block on, have to add: a few rows after others, which stay in a cache between the product and its way back.
fn summed<T: Scalar>(
    engine: &Engine,
    z: &[T],
    width: usize,
    first: usize,
    block: &Block,
    job: &Job<'_>,
    coefficients: &[f64],
) -> Total {
    let mut total = Total::zero(width, job);
    // Where parts are few threads share vectors, or rows, so that they are to find many.
    let is_few = job.back.max(job.directions.len()) <= FEW && parts(width, job.back) == PARTS;
    let (some, together) = if is_few { (CHUNK, job.back) } else { (z.len() / width.max(1), TOGETHER) };
    for (chunk, z) in z.chunks((some * width).max(1)).enumerate() {
        add_rows(engine, z, width, first + chunk * some, block, job, coefficients, together, &mut total);
    }
    total
}

/// Adds some rows to the sums, so many vectors at once.
#[expect(clippy::too_many_arguments, reason = "the inside of `summed`")]
fn add_rows<T: Scalar>(
    engine: &Engine,
    z: &[T],
    width: usize,
    first: usize,
    block: &Block,
    job: &Job<'_>,
    coefficients: &[f64],
    together: usize,
    total: &mut Total,
) {
    let (isa, count, each) = (engine.isa(), job.directions.len(), job.back + job.plain);
    let rows = RowsRef { data: z, count: z.len() / width.max(1), stride: width };
    let mut reach = job.first_reach(rows.count);
    engine.for_each_chunk(&mut reach, ROUND * count, &|round, reach| {
        let z = &z[round * ROUND * width..z.len().min((round + 1) * ROUND * width)];
        let rows = RowsRef { data: z, count: z.len() / width.max(1), stride: width };
        project(isa, rows, width, coefficients, reach);
    });
    let mut values = vec![0.0; rows.count * each];
    for (i, values) in values.chunks_exact_mut(each.max(1)).enumerate() {
        (job.values)(block, first + i, &reach[i * count..(i + 1) * count], values);
    }
    total.add_plain(&values);
    engine.for_each_chunk(&mut total.sums, together * width, &|k, sums| {
        let some = k * together..job.back.min((k + 1) * together);
        let back: Vec<f64> =
            values.chunks_exact(each.max(1)).flat_map(|row| &row[some.clone()]).copied().collect();
        project_back(isa, rows, width, &back, sums);
    });
    if job.squares {
        for (i, z) in z.chunks_exact(width.max(1)).enumerate() {
            let weight = block.weights[first + i];
            let mut length = 0.0;
            for (sum, z) in total.squares.iter_mut().zip(z) {
                let square = z.to_f64() * z.to_f64();
                *sum += weight * square;
                length += square;
            }
            if weight > 0.0 {
                total.longest = total.longest.max(length);
            }
        }
    }
}

fn absorb_sparse<T: Scalar>(
    engine: &Engine,
    rows: &CsrView<'_, T>,
    block: &Block,
    job: &Job<'_>,
    total: &mut Total,
) {
    let (count, each) = (job.directions.len(), job.back + job.plain);
    let mut values = vec![0.0; rows.rows() * each];
    engine.for_each_chunk(&mut values, ROUND * each, &|chunk, values| {
        let mut reach = vec![0.0; count];
        for (i, values) in values.chunks_exact_mut(each.max(1)).enumerate() {
            let i = chunk * ROUND + i;
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
    for (k, sums) in total.sums.chunks_mut(rows.columns().max(1)).enumerate() {
        engine.for_each_chunk(sums, TILE, &|tile, sums| {
            for (j, sum) in sums.iter_mut().enumerate() {
                by_column.column(tile * TILE + j).for_each(|(i, z)| *sum += values[i * each + k] * z);
            }
        });
    }
    if job.squares {
        let length = |i: usize| rows.row(i).1.iter().map(|z| z.to_f64() * z.to_f64()).sum::<f64>();
        let counts = (0..rows.rows()).filter(|&i| block.weights[i] > 0.0);
        total.longest = counts.map(length).fold(total.longest, f64::max);
    }
    engine.for_each_chunk(&mut total.squares, TILE, &|tile, squares| {
        for (j, square) in squares.iter_mut().enumerate() {
            by_column.column(tile * TILE + j).for_each(|(i, z)| *square += block.weights[i] * z * z);
        }
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

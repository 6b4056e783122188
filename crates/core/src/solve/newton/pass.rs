//! Passes over held rows of features: products with directions, and sums of the rows.
//!
//! ```text
//! reach(i, k) = z(i)·directionₖ + constantₖ           sums(k) = Σᵢ value(i, k)·z(i),    value(i, ·) = f(i, reach(i, ·))
//! ```
//! Dense rows are added up in pieces of 1,024, pieces in their order. Sparse ones are kept a second time, column by column, and each column is added up in the order of its rows. Threads
//! share pieces or columns, so that they do not change a bit.

use std::sync::OnceLock;

use bochner_simd::{Aligned, RowsRef, project, project_back};

use super::Vectors;
use super::guide::Curvature;
use crate::engine::Check;
use crate::stat::Gram;
use crate::sweep::BLOCK;
use crate::{CsrView, Engine, Matrix, MatrixView, Result, Rows, Scalar};

/// From a row's number and its products with some directions to its values, one a direction.
pub(super) type Values<'a> = &'a (dyn Fn(usize, &[f64], &mut [f64]) + Sync);

/// Rows summed before their sum is added to others.
pub(super) const PIECE: usize = 1024;

/// Rows that stay in cache between the product and its way back.
const CHUNK: usize = 32;

/// Columns of sparse rows that one thread sums at once.
const COLUMNS: usize = 256;

/// Pieces held at once.
const WAVE: usize = 64;

/// The most features whose sums of products are made; for more, their diagonal has to do.
pub(crate) const MOST_FACTORED: usize = 4096;

/// Rows that these are made of, as a multiple of the features.
const GRAM_ROWS: usize = 4;

/// Rows to pass over again and again, and whether a column of ones is added to them.
#[derive(Debug)]
pub(crate) struct Passes<'a, T> {
    engine: &'a Engine,
    rows: Rows<'a, T>,
    /// Of sparse rows.
    by_column: Option<ByColumn<T>>,
    constant: bool,
    /// Σ z·zᵀ, once it was asked for.
    plain: OnceLock<Curvature>,
}

/// Entries of sparse rows, column after column, each in the order of its rows.
#[derive(Debug)]
pub(crate) struct ByColumn<T> {
    starts: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<T>,
}

impl<T: Scalar> ByColumn<T> {
    pub(crate) fn of(rows: &CsrView<'_, T>) -> ByColumn<T> {
        let mut starts = vec![0; rows.columns() + 1];
        for i in 0..rows.rows() {
            rows.row(i).0.iter().for_each(|&j| starts[j as usize + 1] += 1);
        }
        for j in 0..rows.columns() {
            starts[j + 1] += starts[j];
        }
        let stored = starts[rows.columns()];
        let (mut numbers, mut values, mut at) = (vec![0; stored], vec![T::default(); stored], starts.clone());
        for i in 0..rows.rows() {
            let (columns, entries) = rows.row(i);
            for (&j, &z) in columns.iter().zip(entries) {
                let to = &mut at[j as usize];
                (numbers[*to], values[*to]) = (i as u32, z);
                *to += 1;
            }
        }
        ByColumn { starts, rows: numbers, values }
    }

    /// Rows and values of column j, in the order of rows.
    pub(crate) fn column(&self, j: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let entries = self.starts[j]..self.starts[j + 1];
        self.rows[entries.clone()].iter().zip(&self.values[entries]).map(|(&i, z)| (i as usize, z.to_f64()))
    }
}

/// What a pass finds in some rows.
struct Piece {
    /// Rows × directions.
    reach: Vec<f64>,
    /// Directions × columns, and the sum of values.
    sums: Vec<f64>,
    constants: Vec<f64>,
}

impl<'a, T: Scalar> Passes<'a, T> {
    pub(crate) fn new(engine: &'a Engine, rows: Rows<'a, T>, constant: bool) -> Passes<'a, T> {
        let by_column = match &rows {
            Rows::Sparse(rows) => Some(ByColumn::of(rows)),
            Rows::Dense(_) => None,
        };
        Passes { engine, rows, by_column, constant, plain: OnceLock::new() }
    }

    /// What passes are computed on.
    pub(super) fn engine(&self) -> &'a Engine {
        self.engine
    }

    #[cfg(test)]
    pub(super) fn rows(&self) -> &Rows<'a, T> {
        &self.rows
    }

    /// Entries of a direction, the constant being the last.
    pub(super) fn size(&self) -> usize {
        self.rows.columns() + usize::from(self.constant)
    }

    /// Σ z·zᵀ over all rows, as [`Passes::curvature`] makes it.
    pub(super) fn plain(&self, check: Check<'_>) -> Result<&Curvature> {
        if let Some(plain) = self.plain.get() {
            return Ok(plain);
        }
        let all: Vec<u32> = (0..self.rows.count() as u32).collect();
        let made = self.curvature(&all, &|_| 1.0, check)?;
        Ok(self.plain.get_or_init(|| made))
    }

    /// One pass over some rows: rows × directions of products (zero for directions without entries); and with `values`, the sum of value·z, one vector a direction.
    pub(super) fn pass(
        &self,
        rows: &[u32],
        directions: &[&[f64]],
        values: Option<Values<'_>>,
        check: Check<'_>,
    ) -> Result<(Vec<f64>, Vectors)> {
        match (&self.rows, &self.by_column) {
            (Rows::Sparse(all), Some(by_column)) => {
                self.pass_sparse(all, by_column, rows, directions, values, check)
            }
            (Rows::Dense(all), _) => self.pass_dense(all, rows, directions, values, check),
            // Sparse rows have been put column by column.
            (Rows::Sparse(_), None) => Ok((Vec::new(), Vec::new())),
        }
    }

    fn pass_dense(
        &self,
        all: &MatrixView<'_, T>,
        rows: &[u32],
        directions: &[&[f64]],
        values: Option<Values<'_>>,
        check: Check<'_>,
    ) -> Result<(Vec<f64>, Vectors)> {
        let (columns, count) = (all.columns(), directions.len());
        let coefficients: Vec<f64> =
            directions.iter().flat_map(|d| d.iter().take(columns).copied()).collect();
        let constants: Vec<f64> = directions.iter().map(|d| d.get(columns).copied().unwrap_or(0.0)).collect();
        let mut reach = Vec::with_capacity(rows.len() * count);
        let mut total = vec![vec![0.0; self.size()]; count];
        for wave in rows.chunks(WAVE * PIECE) {
            let pieces: Vec<&[u32]> = wave.chunks(PIECE).collect();
            let found = self.engine.map(pieces.len(), &|p| {
                pass_piece(self.engine, all, pieces[p], &coefficients, &constants, values)
            });
            for piece in found {
                reach.extend_from_slice(&piece.reach);
                for k in 0..count {
                    let sums = piece.sums.get(k * columns..(k + 1) * columns).unwrap_or_default();
                    total[k].iter_mut().zip(sums).for_each(|(t, s)| *t += s);
                    if self.constant {
                        total[k][columns] += piece.constants[k];
                    }
                }
            }
            check(0.0)?;
        }
        Ok((reach, total))
    }

    fn pass_sparse(
        &self,
        all: &CsrView<'_, T>,
        by_column: &ByColumn<T>,
        rows: &[u32],
        directions: &[&[f64]],
        values: Option<Values<'_>>,
        check: Check<'_>,
    ) -> Result<(Vec<f64>, Vectors)> {
        let (columns, count) = (all.columns(), directions.len());
        let product_of = |i: u32, d: &[f64]| {
            let (places, entries) = all.row(i as usize);
            let sum: f64 = if d.is_empty() {
                0.0
            } else {
                places.iter().zip(entries).map(|(&j, z)| z.to_f64() * d[j as usize]).sum()
            };
            sum + d.get(columns).copied().unwrap_or(0.0)
        };
        let mut reach = vec![0.0; rows.len() * count];
        self.engine.for_each_chunk(&mut reach, PIECE * count, &|piece, reach| {
            for (&i, reach) in rows[piece * PIECE..].iter().zip(reach.chunks_exact_mut(count.max(1))) {
                reach.iter_mut().zip(directions).for_each(|(to, d)| *to = product_of(i, d));
            }
        });
        check(0.0)?;
        let mut total = vec![vec![0.0; self.size()]; count];
        let Some(values) = values else { return Ok((reach, total)) };
        // Rows that are not passed over have no value.
        let mut found = vec![0.0; all.rows() * count];
        for (&i, reach) in rows.iter().zip(reach.chunks_exact(count.max(1))) {
            values(i as usize, reach, &mut found[i as usize * count..(i as usize + 1) * count]);
        }
        for (k, total) in total.iter_mut().enumerate() {
            self.engine.for_each_chunk(&mut total[..columns], COLUMNS, &|chunk, sums| {
                for (j, sum) in sums.iter_mut().enumerate() {
                    let entries = by_column.column(chunk * COLUMNS + j);
                    *sum = entries.map(|(i, z)| z * found[i * count + k]).sum();
                }
            });
            if self.constant {
                total[columns] = found.iter().skip(k).step_by(count).sum();
            }
            check(0.0)?;
        }
        Ok((reach, total))
    }

    /// Σ weight·z·zᵀ over some rows, or over a part of them that is large enough to tell; the ones of the constant are the last column.
    pub(super) fn curvature(
        &self,
        rows: &[u32],
        weight: &(dyn Fn(usize) -> f64 + Sync),
        check: Check<'_>,
    ) -> Result<Curvature> {
        let columns = self.rows.columns();
        let mean = rows.iter().map(|&i| weight(i as usize)).sum::<f64>() / rows.len().max(1) as f64;
        let Rows::Dense(all) = &self.rows else { return self.diagonal(rows, weight, check) };
        if columns > MOST_FACTORED || !(mean > 0.0 && mean.is_finite()) {
            return self.diagonal(rows, weight, check);
        }
        let step = (rows.len() / (GRAM_ROWS * columns.max(1))).max(1);
        let some: Vec<u32> = rows.iter().copied().step_by(step).collect();
        let mut gram = Gram::zero(self.engine, columns, 0, 1);
        let (mut packed, mut gathered) = (Aligned::default(), Vec::new());
        for block in some.chunks(BLOCK) {
            let none = MatrixView::new(&[], block.len(), 0)?;
            // Relative weights, so that they do not overflow beside features in single precision.
            let weight = |i: usize| weight(block[i] as usize) / mean;
            gram.absorb(self.engine, gather(all, block, &mut gathered), none, &weight, &|_| 0, &mut packed);
            check(0.0)?;
        }
        let sums = gram.total(self.engine);
        let unit = mean * rows.len() as f64 / some.len().max(1) as f64;
        let size = self.size();
        let mut whole = Matrix::zeros(size, size);
        self.engine.for_each_chunk(whole.as_mut_slice(), size, &|i, row| {
            let (products, with_one) = match i < columns {
                true => (sums.products.row(i), sums.features[i]),
                false => (&sums.features[..], sums.weight),
            };
            let entries = products.iter().chain(std::iter::once(&with_one));
            row.iter_mut().zip(entries).for_each(|(to, sum)| *to = unit * sum);
        });
        Ok(Curvature::Whole(whole))
    }

    /// The diagonal of the same, over all of the rows.
    fn diagonal(
        &self,
        rows: &[u32],
        weight: &(dyn Fn(usize) -> f64 + Sync),
        check: Check<'_>,
    ) -> Result<Curvature> {
        let columns = self.rows.columns();
        let mut total = vec![0.0; columns];
        match (&self.rows, &self.by_column) {
            (Rows::Dense(all), _) => {
                for wave in rows.chunks(WAVE * PIECE) {
                    let square = |piece: &[u32]| {
                        let mut sums = vec![0.0; columns];
                        for &i in piece {
                            let (weight, row) = (weight(i as usize), all.row(i as usize));
                            sums.iter_mut()
                                .zip(row)
                                .for_each(|(s, z)| *s += weight * z.to_f64() * z.to_f64());
                        }
                        sums
                    };
                    let pieces: Vec<&[u32]> = wave.chunks(PIECE).collect();
                    let sums = self.engine.map(pieces.len(), &|p| square(pieces[p]));
                    sums.iter().for_each(|sums| total.iter_mut().zip(sums).for_each(|(t, s)| *t += s));
                    check(0.0)?;
                }
            }
            (Rows::Sparse(all), Some(by_column)) => {
                let mut weights = vec![0.0; all.rows()];
                rows.iter().for_each(|&i| weights[i as usize] = weight(i as usize));
                self.engine.for_each_chunk(&mut total, COLUMNS, &|chunk, sums| {
                    for (j, sum) in sums.iter_mut().enumerate() {
                        *sum = by_column.column(chunk * COLUMNS + j).map(|(i, z)| weights[i] * z * z).sum();
                    }
                });
                check(0.0)?;
            }
            (Rows::Sparse(_), None) => {}
        }
        if self.constant {
            total.push(rows.iter().map(|&i| weight(i as usize)).sum());
        }
        Ok(Curvature::Diagonal(total))
    }
}

fn pass_piece<T: Scalar>(
    engine: &Engine,
    all: &MatrixView<'_, T>,
    rows: &[u32],
    coefficients: &[f64],
    constants: &[f64],
    values: Option<Values<'_>>,
) -> Piece {
    let (count, columns, isa) = (constants.len(), all.columns(), engine.isa());
    let mut piece = Piece {
        reach: rows.iter().flat_map(|_| constants.iter().copied()).collect(),
        sums: vec![0.0; if values.is_some() { count * columns } else { 0 }],
        constants: vec![0.0; count],
    };
    let (mut out, mut gathered) = (vec![0.0; CHUNK * count], Vec::new());
    for (chunk, reach) in rows.chunks(CHUNK).zip(piece.reach.chunks_mut((CHUNK * count).max(1))) {
        let here = gather(all, chunk, &mut gathered);
        let z = RowsRef { data: here.as_slice(), count: here.rows(), stride: here.stride() };
        if !coefficients.is_empty() {
            project(isa, z, columns, coefficients, reach);
        }
        let Some(values) = values else { continue };
        let out = &mut out[..reach.len()];
        for ((&i, reach), out) in chunk.iter().zip(reach.chunks_exact(count)).zip(out.chunks_exact_mut(count))
        {
            values(i as usize, reach, out);
            piece.constants.iter_mut().zip(out).for_each(|(sum, value)| *sum += *value);
        }
        project_back(isa, z, columns, out, &mut piece.sums);
    }
    piece
}

/// Some rows side by side: where they lie if they are neighbours, copied if not.
fn gather<'b, T: Scalar>(all: &MatrixView<'b, T>, rows: &[u32], memory: &'b mut Vec<T>) -> MatrixView<'b, T> {
    let first = rows.first().map_or(0, |&i| i as usize);
    if rows.last().is_none_or(|&last| last as usize + 1 == first + rows.len()) {
        return all.slice(first..first + rows.len());
    }
    memory.resize(rows.len() * all.columns(), T::default());
    for (to, &i) in memory.chunks_exact_mut(all.columns().max(1)).zip(rows) {
        to.copy_from_slice(all.row(i as usize));
    }
    // As many numbers as were put there.
    MatrixView::new(memory, rows.len(), all.columns()).unwrap_or(all.slice(0..0))
}

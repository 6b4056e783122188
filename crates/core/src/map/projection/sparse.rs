//! Sparse projections: a few entries in each column.
//!
//! ```text
//! z(x) = s^(−1/2)·Σⱼ xⱼ·Σ_b ±e(r_b(j)),     r_b(j) a row of block b for each column j        (`random/hashed.rs`)
//! ```
//! s additions for each entry of a row that is not zero, whatever m and d are. Places and signs of all columns are kept in a table where they are at most 2²⁴, and are drawn again each
//! time where they are more. Sums are in double precision and in the order of the columns: sparse rows, dense ones and features without zeros agree to the bit.

use super::Nonzeros;
use crate::random::Hashed;
use crate::{Csr, Engine, Result, Rows, Scalar};

/// The most entries of a table of places and signs.
const TABLE: usize = 1 << 24;

/// Entries that the model's fingerprint looks at.
const FINGERPRINT: usize = 1 << 16;

#[derive(Clone, Debug)]
pub(crate) struct Sparse {
    pub(super) matrix: Hashed,
    pub(super) columns: usize,
    pub(super) seed: u64,
    /// Twice the place, and one more for a minus, s for each column; empty if there would be too many.
    table: Vec<u32>,
}

fn has_table(nonzeros: usize, columns: usize) -> bool {
    columns.checked_mul(nonzeros).is_some_and(|entries| entries <= TABLE)
}

/// Four bytes for each entry of the table, as parts of twenty.
pub(super) fn entries(nonzeros: usize, columns: usize) -> f64 {
    if has_table(nonzeros, columns) { 0.2 * columns as f64 * nonzeros as f64 } else { 0.0 }
}

fn code((place, sign): (u32, f64)) -> u32 {
    place << 1 | u32::from(sign < 0.0)
}

impl Sparse {
    /// So many entries fit into a column.
    pub(super) fn check(nonzeros: Nonzeros, features: usize) -> Result<()> {
        Hashed::new(features, nonzeros.of(features, 2), true, 0).map(|_| ())
    }

    pub(super) fn build(
        features: usize,
        columns: usize,
        nonzeros: usize,
        signed: bool,
        seed: u64,
    ) -> Result<Sparse> {
        let matrix = Hashed::new(features, nonzeros, signed, seed)?;
        let mut table = Vec::new();
        if has_table(nonzeros, columns) {
            table.reserve_exact(columns * nonzeros);
            (0..columns as u64).for_each(|j| table.extend(matrix.column(j).map(code)));
        }
        Ok(Sparse { matrix, columns, seed, table })
    }

    pub(super) fn output_dim(&self) -> usize {
        self.matrix.rows()
    }

    /// Places, counted from one, with their signs: of the first columns, 2¹⁶ entries or one column. The others come from the same cipher.
    pub(super) fn regenerated(&self) -> Vec<f64> {
        let columns = (FINGERPRINT / self.matrix.blocks()).clamp(1, self.columns) as u64;
        let signed = |(place, sign): (u32, f64)| sign * (f64::from(place) + 1.0);
        (0..columns).flat_map(|j| self.matrix.column(j).map(signed)).collect()
    }

    /// Calls `add` with the place of each entry of column j, and x with its sign.
    #[inline(always)]
    fn spread(&self, j: u32, x: f64, mut add: impl FnMut(u32, f64)) {
        let count = self.matrix.blocks();
        if self.table.is_empty() {
            return self.matrix.column(u64::from(j)).for_each(|(place, sign)| add(place, sign * x));
        }
        // A sign is one bit.
        let bits = x.to_bits();
        for &code in &self.table[j as usize * count..][..count] {
            add(code >> 1, f64::from_bits(bits ^ u64::from(code & 1) << 63));
        }
    }

    pub(super) fn apply<T: Scalar>(&self, rows: &Rows<'_, T>, out: &mut [T], stride: usize) {
        let (m, scale) = (self.output_dim(), self.matrix.scale());
        let mut sums = vec![0.0; m];
        for (i, out) in out.chunks_mut(stride).enumerate().take(rows.count()) {
            let mut add = |place: u32, x: f64| sums[place as usize] += x;
            match rows {
                Rows::Dense(rows) => {
                    for (j, x) in rows.row(i).iter().enumerate().filter(|(_, x)| **x != T::default()) {
                        self.spread(j as u32, x.to_f64(), &mut add);
                    }
                }
                Rows::Sparse(rows) => {
                    let (indices, values) = rows.row(i);
                    for (&j, x) in indices.iter().zip(values) {
                        self.spread(j, x.to_f64(), &mut add);
                    }
                }
            }
            for (to, sum) in out[..m].iter_mut().zip(&mut sums) {
                *to = T::from_f64(scale * *sum);
                *sum = 0.0;
            }
        }
    }

    /// Features that are not zero, at most.
    pub(in crate::map) fn most_entries<T: Scalar>(&self, rows: &Rows<'_, T>) -> u64 {
        let stored = match rows {
            Rows::Dense(rows) => rows.rows() as u64 * rows.columns() as u64,
            Rows::Sparse(rows) => (rows.starts()[rows.rows()] - rows.starts()[0]) as u64,
        };
        stored.saturating_mul(self.matrix.blocks() as u64)
    }

    /// Features without their zeros.
    pub(in crate::map) fn apply_sparse<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>) -> Csr<T> {
        /// Rows handled at once.
        const PIECE: usize = 256;
        let pieces = engine.map(rows.count().div_ceil(PIECE), &|p| {
            self.sparse_piece(&rows.slice(p * PIECE..rows.count().min((p + 1) * PIECE)))
        });
        let total = pieces.iter().map(|(_, indices, _)| indices.len()).sum();
        let mut starts = Vec::with_capacity(rows.count() + 1);
        starts.push(0);
        let (mut indices, mut values) = (Vec::with_capacity(total), Vec::with_capacity(total));
        for (ends, piece_indices, piece_values) in pieces {
            let before = indices.len();
            starts.extend(ends.into_iter().map(|end| before + end));
            indices.extend(piece_indices);
            values.extend(piece_values);
        }
        Csr::of_checked(self.output_dim(), starts, indices, values)
    }

    /// Ends of rows, places and values.
    fn sparse_piece<T: Scalar>(&self, rows: &Rows<'_, T>) -> (Vec<usize>, Vec<u32>, Vec<T>) {
        /// Sorting a term costs about as much as looking at so many outputs.
        const SORTED: usize = 16;
        let (m, scale) = (self.output_dim(), self.matrix.scale());
        let (mut ends, mut indices, mut values) = (Vec::with_capacity(rows.count()), Vec::new(), Vec::new());
        let (mut terms, mut sums) = (Vec::<(u32, f64)>::new(), Vec::new());
        for i in 0..rows.count() {
            let mut keep = |place: u32, sum: f64| {
                let value = T::from_f64(scale * sum);
                if value != T::default() {
                    indices.push(place);
                    values.push(value);
                }
            };
            let entries = rows.entries(i).count();
            if entries.saturating_mul(self.matrix.blocks()).saturating_mul(SORTED) >= m {
                sums.resize(m, 0.0);
                for (j, x) in rows.entries(i) {
                    self.spread(j, x.to_f64(), |place, x| sums[place as usize] += x);
                }
                for (place, sum) in sums.iter_mut().enumerate().filter(|(_, sum)| **sum != 0.0) {
                    keep(place as u32, *sum);
                    *sum = 0.0;
                }
            } else {
                terms.clear();
                for (j, x) in rows.entries(i) {
                    self.spread(j, x.to_f64(), |place, x| terms.push((place, x)));
                }
                // A stable sort keeps the order of the columns among the terms of one place.
                terms.sort_by_key(|&(place, _)| place);
                for run in terms.chunk_by(|a, b| a.0 == b.0) {
                    keep(run[0].0, run.iter().fold(0.0, |sum, (_, x)| sum + x));
                }
            }
            ends.push(indices.len());
        }
        (ends, indices, values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;
    use bochner_testkit::{assert_same_bits, normals};

    /// Drawn each time or looked up: the same features.
    #[test]
    fn a_table_changes_nothing() {
        let x = Matrix::new(5, 40, normals(5, 40, 1)).unwrap();
        for (m, s, signed) in [(16, 1, true), (100, 8, true), (11, 4, false)] {
            let with = Sparse::build(m, 40, s, signed, 7).unwrap();
            assert!(!with.table.is_empty());
            let without = Sparse { table: Vec::new(), ..with.clone() };
            let features = |sparse: &Sparse| {
                let mut z = vec![0.0; 5 * m];
                sparse.apply(&Rows::from(&x), &mut z, m);
                z
            };
            assert_same_bits(&features(&with), &features(&without));
        }
        assert!(Sparse::build(64, TABLE / 8 + 1, 8, true, 0).unwrap().table.is_empty());
    }
}

//! What is made of a row: its features, or its kernel values with all rows.
//!
//! Groups of 16 rows share one read of the map, or of all rows: for kernel values the group is packed as the columns of a product, and all rows go by. Threads
//! share groups; what is made of a row does not depend on its group.
use bochner_simd::Isa;

use crate::kernel::Against;
use crate::plan::{Counts, TOGETHER};
use crate::{Csr, Engine, Kernel, Map, Matrix, OwnedRows, Result, Rows, Scalar};

/// Rows that go by at once: their values stay in a near cache until they are turned.
const PIECE: usize = 256;

#[derive(Clone, Copy)]
pub(super) enum What<'a> {
    /// Of a map; with a matrix that each group reads, or without.
    Features {
        map: &'a Map,
        has_matrix: bool,
    },
    Values {
        kernel: &'a Kernel,
    },
}

/// Makes features or kernel values, and counts.
pub(super) struct Maker<'a, T> {
    engine: &'a Engine,
    what: What<'a>,
    rows: Rows<'a, T>,
    entries: u64,
}

impl<'a, T: Scalar> Maker<'a, T> {
    pub(super) fn new(engine: &'a Engine, what: What<'a>, rows: Rows<'a, T>) -> Self {
        let entries = (0..rows.count()).map(|i| stored(&rows, i)).sum();
        Maker { engine, what, rows, entries }
    }

    /// The instruction set of all loops.
    pub(super) fn isa(&self) -> Isa {
        self.engine.isa()
    }

    /// Numbers made of a row.
    pub(super) fn width(&self) -> usize {
        match self.what {
            What::Features { map, .. } => map.output_dim(),
            What::Values { .. } => self.rows.count(),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.rows.count()
    }

    /// Whether these are kernel values, so that a weight belongs to a row.
    pub(super) fn has_values(&self) -> bool {
        matches!(self.what, What::Values { .. })
    }

    /// Stored entries of all rows.
    pub(super) fn entries(&self) -> u64 {
        self.entries
    }

    /// Stored entries of row i.
    pub(super) fn entries_of(&self, i: usize) -> u64 {
        stored(&self.rows, i)
    }

    /// Bytes of the map's matrix, as if it had all its entries.
    pub(super) fn matrix_bytes(&self) -> u128 {
        self.matrix() * size_of::<T>() as u128
    }

    fn matrix(&self) -> u128 {
        match self.what {
            What::Features { map, has_matrix: true } => map.input_dim() as u128 * map.output_dim() as u128,
            _ => 0,
        }
    }

    /// Of the rows `numbers`, one after another in `out`.
    pub(super) fn fill(&self, numbers: &[usize], out: &mut [T], counts: &mut Counts) -> Result<()> {
        let width = self.width();
        if width == 0 {
            return Ok(());
        }
        for group in numbers.chunks(TOGETHER) {
            self.count_group(group, counts);
        }
        let groups = out.chunks_mut(TOGETHER * width).zip(numbers.chunks(TOGETHER));
        let mut groups: Vec<_> = groups.map(|(out, numbers)| (out, numbers, Ok(()))).collect();
        self.engine.for_each_mut(&mut groups, &|_, (out, numbers, done)| {
            let group = gathered(&self.rows, numbers);
            match self.what {
                What::Features { map, .. } => map.apply(self.engine, &group.view(), out),
                What::Values { kernel } => *done = self.values(kernel, &group.view(), out),
            }
        });
        groups.into_iter().try_for_each(|(_, _, done)| done)
    }

    fn count_group(&self, group: &[usize], counts: &mut Counts) {
        let of: u128 = group.iter().map(|&i| u128::from(self.entries_of(i))).sum();
        let (made, all) = ((group.len() * self.width()) as u128, u128::from(self.entries));
        let (products, beside) = match self.what {
            What::Features { .. } => (of * self.width() as u128, self.matrix()),
            What::Values { .. } => (all * group.len() as u128, all),
        };
        counts.multiply_adds += products;
        counts.bytes_moved += (of + beside + made) * size_of::<T>() as u128;
    }

    /// k(group(b), row(j)) at `out[b·n + j]`.
    fn values(&self, kernel: &Kernel, group: &Rows<'_, T>, out: &mut [T]) -> Result<()> {
        match kernel.in_double(group) {
            None => {
                let against = Against::new(self.engine, kernel, group)?;
                self.pieces(group.count(), out, |piece, values| against.fill(piece, values));
            }
            Some(double) => {
                let against = Against::new(self.engine, kernel, &double.view())?;
                let mut doubled = vec![0.0; PIECE * group.count()];
                self.pieces(group.count(), out, |piece, values| {
                    // What holds for the group holds for every row.
                    let Some(piece) = kernel.in_double(piece) else { return };
                    against.fill(&piece.view(), &mut doubled[..values.len()]);
                    values.iter_mut().zip(&doubled).for_each(|(to, value)| *to = T::from_f64(*value));
                });
            }
        }
        Ok(())
    }

    /// Has the values of some rows with the group written, a row after another, and turns them.
    fn pieces(&self, count: usize, out: &mut [T], mut fill: impl FnMut(&Rows<'_, T>, &mut [T])) {
        let n = self.rows.count();
        let mut values = vec![T::default(); PIECE * count];
        for start in (0..n).step_by(PIECE) {
            let piece = self.rows.slice(start..n.min(start + PIECE));
            let values = &mut values[..piece.count() * count];
            fill(&piece, values);
            for (b, out) in out.chunks_exact_mut(n).enumerate() {
                let column = values.iter().skip(b).step_by(count);
                out[start..start + piece.count()].iter_mut().zip(column).for_each(|(to, value)| *to = *value);
            }
        }
    }
}

fn stored<T: Scalar>(rows: &Rows<'_, T>, i: usize) -> u64 {
    match rows {
        Rows::Dense(rows) => rows.columns() as u64,
        Rows::Sparse(rows) => rows.row(i).0.len() as u64,
    }
}

/// Some rows, in the order given.
fn gathered<T: Scalar>(rows: &Rows<'_, T>, numbers: &[usize]) -> OwnedRows<T> {
    match rows {
        Rows::Dense(rows) => {
            let mut dense = Matrix::zeros(numbers.len(), rows.columns());
            numbers.iter().enumerate().for_each(|(k, &i)| dense.row_mut(k).copy_from_slice(rows.row(i)));
            OwnedRows::Dense(dense)
        }
        Rows::Sparse(rows) => {
            let mut sparse = Csr::empty(rows.columns());
            for &i in numbers {
                let (columns, values) = rows.row(i);
                sparse.push_row(columns.iter().copied().zip(values.iter().copied()));
            }
            OwnedRows::Sparse(sparse)
        }
    }
}

//! Storage and shape: row-major matrices, sparse rows, and views of both. No arithmetic.
//!
//! Constructors check once; what holds a view may index it without further checks.

use bochner_simd::ask_for_huge_pages;

use crate::map::{Family, PerPrecision, Slots};
use crate::{Error, Result};

/// `f32` or `f64`. Sealed.
pub trait Scalar: bochner_simd::Element + std::fmt::Display {
    #[doc(hidden)]
    fn slots<F: Family>(of: &PerPrecision<F>) -> &Slots<F::Of<Self>>;
}

impl Scalar for f32 {
    fn slots<F: Family>(of: &PerPrecision<F>) -> &Slots<F::Of<f32>> {
        &of.single
    }
}

impl Scalar for f64 {
    fn slots<F: Family>(of: &PerPrecision<F>) -> &Slots<F::Of<f64>> {
        &of.double
    }
}

/// A dense row-major matrix that owns its entries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix<T> {
    rows: usize,
    columns: usize,
    data: Vec<T>,
}

impl<T: Scalar> Matrix<T> {
    /// Takes `rows`·`columns` entries, row after row.
    pub fn new(rows: usize, columns: usize, data: Vec<T>) -> Result<Self> {
        let expected = rows.saturating_mul(columns);
        if data.len() == expected {
            Ok(Matrix { rows, columns, data })
        } else {
            Err(Error::Length { what: "entries", expected, found: data.len() })
        }
    }

    /// All entries zero.
    #[inline(never)]
    pub fn zeros(rows: usize, columns: usize) -> Self {
        let data = vec![T::default(); rows * columns];
        ask_for_huge_pages(&data);
        Matrix { rows, columns, data }
    }

    /// Entry (i, j) is `entry(i, j)`.
    pub fn from_fn(rows: usize, columns: usize, mut entry: impl FnMut(usize, usize) -> T) -> Self {
        let mut data = Vec::with_capacity(rows * columns);
        ask_for_huge_pages(data.spare_capacity_mut());
        for i in 0..rows {
            data.extend((0..columns).map(|j| entry(i, j)));
        }
        Matrix { rows, columns, data }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Row i.
    pub fn row(&self, i: usize) -> &[T] {
        &self.data[i * self.columns..(i + 1) * self.columns]
    }

    /// Row i, to write to.
    pub fn row_mut(&mut self, i: usize) -> &mut [T] {
        &mut self.data[i * self.columns..(i + 1) * self.columns]
    }

    /// All entries, row after row.
    pub fn as_slice(&self) -> &[T] {
        &self.data
    }

    /// All entries, to write to.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// The entries, row after row.
    pub fn into_vec(self) -> Vec<T> {
        self.data
    }

    /// A view of the whole.
    pub fn view(&self) -> MatrixView<'_, T> {
        MatrixView { data: &self.data, rows: self.rows, columns: self.columns, stride: self.columns }
    }
}

/// A view of dense rows, row i starting at `i·stride`.
#[derive(Clone, Copy, Debug)]
pub struct MatrixView<'a, T> {
    data: &'a [T],
    rows: usize,
    columns: usize,
    stride: usize,
}

impl<'a, T: Scalar> MatrixView<'a, T> {
    /// A view of contiguous rows.
    pub fn new(data: &'a [T], rows: usize, columns: usize) -> Result<Self> {
        let expected = rows.saturating_mul(columns);
        if data.len() == expected {
            Ok(MatrixView { data, rows, columns, stride: columns })
        } else {
            Err(Error::Length { what: "entries", expected, found: data.len() })
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// From the start of one row to the start of the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Row i.
    pub fn row(&self, i: usize) -> &'a [T] {
        &self.data[i * self.stride..i * self.stride + self.columns]
    }

    /// The entries from the first row's first to the last row's last.
    pub fn as_slice(&self) -> &'a [T] {
        self.data
    }

    /// Rows `range`.
    pub fn slice(&self, range: std::ops::Range<usize>) -> MatrixView<'a, T> {
        let rows = range.len();
        let start = range.start * self.stride;
        let end = if rows == 0 { start } else { start + (rows - 1) * self.stride + self.columns };
        MatrixView { data: &self.data[start..end], rows, ..*self }
    }

    /// A matrix with the same entries.
    #[inline(never)]
    pub fn to_matrix(&self) -> Matrix<T> {
        Matrix::from_fn(self.rows, self.columns, |i, j| self.row(i)[j])
    }
}

/// Sparse rows that own their entries: row i has the entries `starts[i]..starts[i + 1]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Csr<T> {
    columns: usize,
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<T>,
}

impl<T: Scalar> Csr<T> {
    /// No rows yet.
    pub fn empty(columns: usize) -> Self {
        Csr { columns, starts: vec![0], indices: Vec::new(), values: Vec::new() }
    }

    /// Takes row boundaries, column indices (ascending within a row, below `columns`) and values.
    #[inline(never)]
    pub fn new(columns: usize, starts: Vec<usize>, indices: Vec<u32>, values: Vec<T>) -> Result<Self> {
        CsrView::new(columns, &starts, &indices, &values)?;
        Ok(Csr { columns, starts, indices, values })
    }

    /// As [`Csr::new`], of parts that are in order.
    pub(crate) fn of_checked(columns: usize, starts: Vec<usize>, indices: Vec<u32>, values: Vec<T>) -> Self {
        debug_assert!(CsrView::new(columns, &starts, &indices, &values).is_ok(), "rows in order");
        Csr { columns, starts, indices, values }
    }

    /// Appends a row of (index, value) pairs with ascending indices below `columns`.
    ///
    /// # Panics
    /// If they are not.
    pub fn push_row(&mut self, entries: impl IntoIterator<Item = (u32, T)>) {
        let start = self.indices.len();
        for (index, value) in entries {
            let after = self.indices[start..].last().is_none_or(|&last| last < index);
            assert!(
                after && (index as usize) < self.columns,
                "indices of a row ascend and are below the columns"
            );
            self.indices.push(index);
            self.values.push(value);
        }
        self.starts.push(self.indices.len());
    }

    /// Appends the rows of another with as many columns.
    #[inline(never)]
    pub fn append(&mut self, other: &Csr<T>) {
        debug_assert_eq!(self.columns, other.columns);
        let before = self.indices.len();
        self.starts.extend(other.starts[1..].iter().map(|start| before + start));
        self.indices.extend_from_slice(&other.indices);
        self.values.extend_from_slice(&other.values);
    }

    /// Row boundaries, column indices and values.
    pub fn into_parts(self) -> (Vec<usize>, Vec<u32>, Vec<T>) {
        (self.starts, self.indices, self.values)
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// A view of the whole.
    pub fn view(&self) -> CsrView<'_, T> {
        CsrView { columns: self.columns, starts: &self.starts, indices: &self.indices, values: &self.values }
    }

    /// The values, to write to.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
}

/// A view of sparse rows. `starts` need not begin at 0: a view of some rows shares the entries of all.
#[derive(Clone, Copy, Debug)]
pub struct CsrView<'a, T> {
    columns: usize,
    starts: &'a [usize],
    indices: &'a [u32],
    values: &'a [T],
}

impl<'a, T: Scalar> CsrView<'a, T> {
    /// Checks boundaries and indices once.
    #[inline(never)]
    pub fn new(columns: usize, starts: &'a [usize], indices: &'a [u32], values: &'a [T]) -> Result<Self> {
        let parameter = |expected, found: String| Error::Parameter { name: "sparse rows", expected, found };
        if indices.len() != values.len() {
            return Err(Error::Length { what: "values", expected: indices.len(), found: values.len() });
        }
        if starts.is_empty()
            || starts[starts.len() - 1] > indices.len()
            || starts.windows(2).any(|w| w[0] > w[1])
        {
            return Err(parameter("bounded by ascending row starts", format!("{} starts", starts.len())));
        }
        for (i, bounds) in starts.windows(2).enumerate() {
            let row = &indices[bounds[0]..bounds[1]];
            if let Some(&index) = row.iter().find(|&&index| index as usize >= columns) {
                return Err(parameter("indexed below the number of columns", format!("{index} in row {i}")));
            }
            if row.windows(2).any(|w| w[0] >= w[1]) {
                return Err(parameter("indexed in ascending order without repeats", format!("row {i}")));
            }
        }
        Ok(CsrView { columns, starts, indices, values })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Row boundaries, one more than rows.
    pub fn starts(&self) -> &'a [usize] {
        self.starts
    }

    /// Column of each entry.
    pub fn indices(&self) -> &'a [u32] {
        self.indices
    }

    /// Value of each entry.
    pub fn values(&self) -> &'a [T] {
        self.values
    }

    /// Indices and values of row i.
    pub fn row(&self, i: usize) -> (&'a [u32], &'a [T]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// Indices and values of row i in some columns that follow each other.
    pub(crate) fn row_within(&self, i: usize, columns: std::ops::Range<usize>) -> (&'a [u32], &'a [T]) {
        let (indices, values) = self.row(i);
        let before = |column: usize| indices.partition_point(|&j| (j as usize) < column);
        let range = before(columns.start)..before(columns.end);
        (&indices[range.clone()], &values[range])
    }

    /// Entries that are stored, of all rows.
    pub(crate) fn stored(&self) -> usize {
        self.starts[self.starts.len() - 1] - self.starts[0]
    }

    /// Rows `range`.
    pub fn slice(&self, range: std::ops::Range<usize>) -> CsrView<'a, T> {
        CsrView { starts: &self.starts[range.start..=range.end], ..*self }
    }
}

/// Whether columns are so many that sparse rows are worth to stay sparse in them.
pub(crate) fn is_wide(columns: usize) -> bool {
    columns >= 64
}

/// Rows to be mapped: dense or sparse.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'a, T> {
    /// Every entry is stored.
    Dense(MatrixView<'a, T>),
    /// Only entries that are not zero are stored.
    Sparse(CsrView<'a, T>),
}

impl<'a, T: Scalar> Rows<'a, T> {
    /// The number of rows.
    pub fn count(&self) -> usize {
        match self {
            Rows::Dense(rows) => rows.rows(),
            Rows::Sparse(rows) => rows.rows(),
        }
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        match self {
            Rows::Dense(rows) => rows.columns(),
            Rows::Sparse(rows) => rows.columns(),
        }
    }

    /// Rows `range`.
    pub fn slice(&self, range: std::ops::Range<usize>) -> Rows<'a, T> {
        match self {
            Rows::Dense(rows) => Rows::Dense(rows.slice(range)),
            Rows::Sparse(rows) => Rows::Sparse(rows.slice(range)),
        }
    }

    /// Some rows, in the order given.
    pub(crate) fn taken(&self, rows: &[usize]) -> OwnedRows<T> {
        match self {
            Rows::Dense(dense) => {
                OwnedRows::Dense(Matrix::from_fn(rows.len(), dense.columns(), |i, j| dense.row(rows[i])[j]))
            }
            Rows::Sparse(_) => {
                let mut taken = Csr::empty(self.columns());
                rows.iter().for_each(|&i| taken.push_row(self.entries(i)));
                OwnedRows::Sparse(taken)
            }
        }
    }

    /// The entries of row i that are not zero, in the order of columns.
    pub fn entries(&self, i: usize) -> impl Iterator<Item = (u32, T)> + 'a {
        let (dense, sparse) = match self {
            Rows::Dense(rows) => (Some(rows.row(i)), None),
            Rows::Sparse(rows) => (None, Some(rows.row(i))),
        };
        let zero = T::default();
        let dense = dense.into_iter().flatten().copied().enumerate().map(|(j, x)| (j as u32, x));
        let sparse = sparse.into_iter().flat_map(|(j, x)| j.iter().copied().zip(x.iter().copied()));
        dense.chain(sparse).filter(move |&(_, x)| x != zero)
    }

    /// Entry j of row i, in f64.
    pub(crate) fn entry(&self, i: usize, j: usize) -> f64 {
        match self {
            Rows::Dense(rows) => rows.row(i)[j].to_f64(),
            Rows::Sparse(rows) => {
                let (indices, values) = rows.row(i);
                indices.binary_search(&(j as u32)).map_or(0.0, |at| values[at].to_f64())
            }
        }
    }

    /// Rows that have some columns only, in the order given. Sparse rows stay sparse where the columns rise and are many: entries are found by their columns, not columns by a search each.
    #[inline(never)]
    pub(crate) fn chosen(&self, columns: &[usize]) -> OwnedRows<T> {
        match self {
            Rows::Sparse(rows) if is_wide(columns.len()) && columns.windows(2).all(|w| w[0] < w[1]) => {
                let (first, last) = (columns[0], columns[columns.len() - 1]);
                let is_range = last - first + 1 == columns.len();
                let mut chosen = Csr::empty(columns.len());
                for i in 0..rows.rows() {
                    let (indices, values) = rows.row_within(i, first..last + 1);
                    let entries = indices.iter().zip(values);
                    if is_range {
                        chosen.push_row(entries.map(|(&j, &x)| (j - first as u32, x)));
                    } else {
                        let place = |j: u32| columns.binary_search(&(j as usize)).ok();
                        chosen.push_row(entries.filter_map(|(&j, &x)| Some((place(j)? as u32, x))));
                    }
                }
                OwnedRows::Sparse(chosen)
            }
            _ => OwnedRows::Dense(Matrix::from_fn(self.count(), columns.len(), |i, at| {
                T::from_f64(self.entry(i, columns[at]))
            })),
        }
    }

    /// What [`Rows::entries`] gives, in double precision. Memory is taken once, for as many as there are.
    pub(crate) fn doubled_entries(&self, i: usize) -> Vec<(u32, f64)> {
        fn list<T: Scalar>(values: &[T], column: impl Fn(usize) -> u32) -> Vec<(u32, f64)> {
            let is_entry = |x: &T| *x != T::default();
            let mut entries = Vec::with_capacity(values.iter().filter(|&x| is_entry(x)).count());
            let found = values.iter().enumerate().filter(|(_, x)| is_entry(x));
            entries.extend(found.map(|(at, x)| (column(at), x.to_f64())));
            entries
        }
        match self {
            Rows::Dense(rows) => list(rows.row(i), |j| j as u32),
            Rows::Sparse(rows) => {
                let (indices, values) = rows.row(i);
                list(values, |at| indices[at])
            }
        }
    }

    /// Writes row i with all its zeros.
    #[inline(never)]
    pub fn densify(&self, i: usize, to: &mut [T]) {
        match self {
            Rows::Dense(rows) => to.copy_from_slice(rows.row(i)),
            Rows::Sparse(rows) => {
                to.fill(T::default());
                let (indices, values) = rows.row(i);
                for (&j, &x) in indices.iter().zip(values) {
                    to[j as usize] = x;
                }
            }
        }
    }

    /// Refuses NaN and infinities, naming the first; `first_row` is the number of row 0.
    #[inline(never)]
    pub fn check_finite(&self, first_row: u64) -> Result<()> {
        let (row, column, value) = match self {
            Rows::Dense(rows) => {
                // Without branches, so that it runs at the speed of memory.
                let finite = |row: &[T]| row.iter().fold(true, |all, x| all & x.to_f64().is_finite());
                let bad = |i: &usize| !finite(rows.row(*i));
                let Some(i) = (0..rows.rows()).find(bad) else { return Ok(()) };
                let j = rows.row(i).iter().position(|x| !x.to_f64().is_finite()).unwrap_or(0);
                (i, j, rows.row(i)[j])
            }
            Rows::Sparse(rows) => {
                let stored = rows.starts[0]..rows.starts[rows.rows()];
                let bad = rows.values[stored.clone()].iter().position(|x| !x.to_f64().is_finite());
                let Some(at) = bad.map(|at| at + stored.start) else { return Ok(()) };
                let i = rows.starts.partition_point(|&start| start <= at) - 1;
                (i, rows.indices[at] as usize, rows.values[at])
            }
        };
        Err(Error::NotFinite { what: "the rows", row: first_row + row as u64, column, value: value.to_f64() })
    }
}

impl<'a, T: Scalar> From<&'a Matrix<T>> for Rows<'a, T> {
    fn from(matrix: &'a Matrix<T>) -> Self {
        Rows::Dense(matrix.view())
    }
}

impl<'a, T: Scalar> From<MatrixView<'a, T>> for Rows<'a, T> {
    fn from(view: MatrixView<'a, T>) -> Self {
        Rows::Dense(view)
    }
}

impl<'a, T: Scalar> From<&'a Csr<T>> for Rows<'a, T> {
    fn from(rows: &'a Csr<T>) -> Self {
        Rows::Sparse(rows.view())
    }
}

/// Rows of either precision, as a source hands them over.
#[derive(Clone, Copy, Debug)]
pub enum AnyRows<'a> {
    /// Single precision: features are single, sums are double.
    F32(Rows<'a, f32>),
    /// Double precision throughout.
    F64(Rows<'a, f64>),
}

/// Evaluates `$body` with `$rows` bound to the typed rows inside an [`AnyRows`].
macro_rules! with_rows {
    ($any:expr, $rows:ident => $body:expr) => {
        match $any {
            $crate::matrix::AnyRows::F32($rows) => $body,
            $crate::matrix::AnyRows::F64($rows) => $body,
        }
    };
}
pub(crate) use with_rows;

impl<'a> AnyRows<'a> {
    /// The number of rows.
    pub fn count(&self) -> usize {
        with_rows!(self, rows => rows.count())
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        with_rows!(self, rows => rows.columns())
    }

    /// Whether both are views of the same entries.
    pub(crate) fn is_same(&self, other: &AnyRows<'_>) -> bool {
        fn same<T>(a: &Rows<'_, T>, b: &Rows<'_, T>) -> bool {
            match (a, b) {
                (Rows::Dense(a), Rows::Dense(b)) => std::ptr::eq(a.data, b.data) && a.stride == b.stride,
                (Rows::Sparse(a), Rows::Sparse(b)) => {
                    std::ptr::eq(a.values, b.values) && std::ptr::eq(a.starts, b.starts)
                }
                _ => false,
            }
        }
        match (self, other) {
            (AnyRows::F32(a), AnyRows::F32(b)) => same(a, b),
            (AnyRows::F64(a), AnyRows::F64(b)) => same(a, b),
            _ => false,
        }
    }

    /// Rows `range`.
    pub fn slice(&self, range: std::ops::Range<usize>) -> AnyRows<'a> {
        match self {
            AnyRows::F32(rows) => AnyRows::F32(rows.slice(range)),
            AnyRows::F64(rows) => AnyRows::F64(rows.slice(range)),
        }
    }
}

impl<'a> From<Rows<'a, f32>> for AnyRows<'a> {
    fn from(rows: Rows<'a, f32>) -> Self {
        AnyRows::F32(rows)
    }
}

impl<'a> From<Rows<'a, f64>> for AnyRows<'a> {
    fn from(rows: Rows<'a, f64>) -> Self {
        AnyRows::F64(rows)
    }
}

/// Rows that own their entries, as a sample or an encoder makes them.
#[derive(Clone, Debug, PartialEq)]
pub enum OwnedRows<T> {
    /// Every entry is stored.
    Dense(Matrix<T>),
    /// Only entries that are not zero are stored.
    Sparse(Csr<T>),
}

impl<T: Scalar> OwnedRows<T> {
    /// A view of the whole.
    pub fn view(&self) -> Rows<'_, T> {
        match self {
            OwnedRows::Dense(rows) => Rows::from(rows),
            OwnedRows::Sparse(rows) => Rows::from(rows),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_checked_where_they_enter() {
        assert!(matches!(Matrix::new(2, 3, vec![0.0; 5]), Err(Error::Length { expected: 6, found: 5, .. })));
        assert!(Matrix::<f64>::new(usize::MAX, 2, vec![]).is_err());
        let starts = [0, 1, 2];
        assert!(CsrView::new(3, &starts, &[0, 2], &[1.0, 2.0]).is_ok());
        assert!(CsrView::new(2, &starts, &[0, 2], &[1.0, 2.0]).is_err(), "index 2 of 2 columns");
        assert!(CsrView::new(3, &[0, 2, 1], &[0, 2], &[1.0, 2.0]).is_err(), "descending starts");
        assert!(CsrView::new(3, &[0, 2], &[2, 0], &[1.0, 2.0]).is_err(), "descending indices");
        assert!(CsrView::new(3, &[0, 2], &[1, 1], &[1.0, 2.0]).is_err(), "repeated index");
    }

    #[test]
    fn the_first_value_that_is_not_finite_is_named() {
        let mut dense = Matrix::<f64>::zeros(4, 3);
        assert!(Rows::from(&dense).check_finite(0).is_ok());
        dense.row_mut(2)[1] = f64::NAN;
        let error = Rows::from(&dense).check_finite(10).unwrap_err();
        assert!(matches!(error, Error::NotFinite { row: 12, column: 1, .. }), "{error}");
        let sparse = Csr::new(9, vec![0, 1, 1, 3], vec![4, 0, 7], vec![1.0, 2.0, f64::INFINITY]).unwrap();
        let error = Rows::from(&sparse).check_finite(0).unwrap_err();
        assert!(matches!(error, Error::NotFinite { row: 2, column: 7, .. }), "{error}");
        assert!(Rows::from(&sparse).slice(0..2).check_finite(0).is_ok());
    }

    #[test]
    fn sparse_and_dense_have_the_same_entries() {
        let sparse = Csr::new(4, vec![0, 2, 2, 3], vec![1, 3, 0], vec![5.0, -1.0, 2.0]).unwrap();
        let rows = Rows::from(&sparse);
        let mut dense = Matrix::zeros(3, 4);
        for i in 0..3 {
            rows.densify(i, dense.row_mut(i));
        }
        for i in 0..3 {
            assert!(rows.entries(i).eq(Rows::from(&dense).entries(i)));
        }
        assert!(rows.slice(1..3).entries(1).eq([(0, 2.0)]));
    }
}

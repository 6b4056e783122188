//! NumPy arrays and SciPy matrices as rows, and results as NumPy arrays.
//!
//! Dense rows in C order are seen where they lie. Sparse rows keep their values where they lie; their indices are
//! copied to the library's width. Everything else was brought to one of these by the package's validation.

use bochner::{AnyRows, CsrView, Matrix, MatrixView, Rows, Scalar};
use numpy::{
    Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::error::to_python;

/// Rows of either precision, as Python hands them over.
pub(crate) enum AnyTable<'py> {
    Single(Table<'py, f32>),
    Double(Table<'py, f64>),
}

/// Rows in Python's memory.
pub(crate) enum Table<'py, T: Element> {
    Dense(PyReadonlyArray2<'py, T>),
    Sparse { columns: usize, starts: Vec<usize>, indices: Vec<u32>, values: PyReadonlyArray1<'py, T> },
}

impl AnyTable<'_> {
    /// The rows, where they lie.
    pub(crate) fn rows(&self) -> PyResult<AnyRows<'_>> {
        match self {
            AnyTable::Single(table) => Ok(AnyRows::F32(table.rows()?)),
            AnyTable::Double(table) => Ok(AnyRows::F64(table.rows()?)),
        }
    }
}

impl<T: Element + Scalar> Table<'_, T> {
    fn rows(&self) -> PyResult<Rows<'_, T>> {
        match self {
            Table::Dense(array) => view(array).map(Rows::Dense),
            Table::Sparse { columns, starts, indices, values } => {
                CsrView::new(*columns, starts, indices, values.as_slice()?)
                    .map(Rows::Sparse)
                    .map_err(to_python)
            }
        }
    }
}

/// A dense array in C order, where it lies.
pub(crate) fn view<'a, T: Element + Scalar>(
    array: &'a PyReadonlyArray2<'_, T>,
) -> PyResult<MatrixView<'a, T>> {
    let shape = array.shape();
    if !array.is_c_contiguous() {
        return Err(PyValueError::new_err("expected an array in C order"));
    }
    MatrixView::new(array.as_slice()?, shape[0], shape[1]).map_err(to_python)
}

impl<'py> FromPyObject<'_, 'py> for AnyTable<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = object.extract() {
            return Ok(AnyTable::Double(Table::Dense(array)));
        }
        if let Ok(array) = object.extract() {
            return Ok(AnyTable::Single(Table::Dense(array)));
        }
        let Ok(starts) = object.getattr("indptr") else {
            let kind = object.get_type();
            return Err(PyTypeError::new_err(format!(
                "expected a two-dimensional array of float32 or float64, or a CSR matrix of them, found {kind}"
            )));
        };
        let (_, columns): (usize, usize) = object.getattr("shape")?.extract()?;
        let starts = integers(&starts, "row starts")?;
        let indices = integers(&object.getattr("indices")?, "column indices")?;
        let values = object.getattr("data")?;
        if let Ok(values) = values.extract() {
            return Ok(AnyTable::Double(Table::Sparse { columns, starts, indices, values }));
        }
        let values = values.extract()?;
        Ok(AnyTable::Single(Table::Sparse { columns, starts, indices, values }))
    }
}

/// SciPy's int32 or int64 in the library's width.
fn integers<N: TryFrom<i32> + TryFrom<i64>>(array: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<N>> {
    fn converted<I: Element + Copy, N: TryFrom<I>>(
        array: &PyReadonlyArray1<'_, I>,
    ) -> PyResult<Option<Vec<N>>> {
        Ok(array.as_slice()?.iter().map(|&i| N::try_from(i).ok()).collect())
    }
    let numbers = match array.extract::<PyReadonlyArray1<'_, i32>>() {
        Ok(array) => converted(&array)?,
        Err(_) => converted(&array.extract::<PyReadonlyArray1<'_, i64>>()?)?,
    };
    numbers
        .ok_or_else(|| PyValueError::new_err(format!("expected {what} from 0 to {}, found others", u32::MAX)))
}

/// Memory for `rows` × `columns` results: NumPy's, or a large block that an earlier result has left.
pub(crate) fn empty<'py, T: Element>(
    py: Python<'py>,
    rows: usize,
    columns: usize,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let array = py.import("bochner._memory")?.getattr("empty")?.call1((rows, columns, T::get_dtype(py)))?;
    Ok(array.cast_into::<PyArray2<T>>()?)
}

/// A matrix handed to NumPy without a copy.
pub(crate) fn array(py: Python<'_>, matrix: Matrix<f64>) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let shape = [matrix.rows(), matrix.columns()];
    PyArray1::from_vec(py, matrix.into_vec()).reshape(shape)
}

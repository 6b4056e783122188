//! Texts as hashed counts, as a Python object.

use bochner::encode::{Documents, Sequence, SequenceEncoder};
use bochner::json::Json;
use bochner::table::TextColumn;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::error::to_python;
use crate::job::Job;
use crate::map::csr_parts;

/// A sequence encoder, ready to encode.
#[pyclass(frozen, module = "bochner._core")]
pub(crate) struct Texts {
    encoder: SequenceEncoder,
}

#[pymethods]
impl Texts {
    /// Reads what is counted from JSON; only tf–idf looks at the texts, and at their weights.
    #[staticmethod]
    #[pyo3(signature = (texts, *, sequence, threads, weights=None))]
    fn fit(
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        sequence: &str,
        threads: usize,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Texts> {
        let (texts, sequence) = (column(texts)?, read(sequence)?);
        let weights = weights.map(|weights| weights.as_slice().map(<[f64]>::to_vec)).transpose()?;
        let job = Job::new(threads, 0);
        let encoder = job.run(py, |engine| sequence.fit(engine, &texts, weights.as_deref()))?;
        Ok(Texts { encoder })
    }

    /// Hashed counts of all texts: row ends, columns, values, as SciPy's CSR has them.
    fn transform<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        threads: usize,
        single: bool,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let texts = column(texts)?;
        let job = Job::for_rows(threads, texts.len());
        if single {
            let rows = job.run(py, |engine| self.encoder.encode::<f32>(engine, &texts))?;
            csr_parts(py, rows)
        } else {
            let rows = job.run(py, |engine| self.encoder.encode::<f64>(engine, &texts))?;
            csr_parts(py, rows)
        }
    }

    /// The kernel that the rows estimate, without hashing.
    fn exact(&self, a: &str, b: &str) -> f64 {
        self.encoder.exact(a, b)
    }

    /// How it is written as a kernel.
    #[getter]
    fn kernel(&self) -> String {
        self.encoder.sequence().to_string()
    }

    /// Columns that come out.
    #[getter]
    fn width(&self) -> usize {
        self.encoder.sequence().width
    }

    /// From what `__reduce__` gives.
    #[staticmethod]
    fn from_parts(sequence: &str, documents: Option<(f64, PyReadonlyArray1<'_, f64>)>) -> PyResult<Texts> {
        let documents = match documents {
            Some((total, counts)) => {
                Some(Documents::from_parts(total, counts.as_slice()?.to_vec()).map_err(to_python)?)
            }
            None => None,
        };
        let encoder = SequenceEncoder::new(read(sequence)?, documents).map_err(to_python)?;
        Ok(Texts { encoder })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let from_parts = py.get_type::<Texts>().getattr("from_parts")?;
        let sequence =
            self.encoder.sequence().to_json().map_err(|error| PyValueError::new_err(error.to_string()))?;
        let documents = self
            .encoder
            .documents()
            .map(|documents| (documents.total(), PyArray1::from_slice(py, documents.counts())));
        (from_parts, (sequence, documents)).into_pyobject(py)
    }
}

fn read(sequence: &str) -> PyResult<Sequence> {
    Sequence::from_json(sequence).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Any iterable of strings.
fn column(texts: &Bound<'_, PyAny>) -> PyResult<TextColumn> {
    if texts.cast::<PyString>().is_ok() {
        return Err(PyValueError::new_err(
            "expected an iterable of strings, found one string: put it in a list",
        ));
    }
    let mut column = TextColumn::default();
    for (i, text) in texts.try_iter()?.enumerate() {
        let text = text?;
        let Ok(text) = text.cast::<PyString>() else {
            let kind = text.get_type().name()?;
            return Err(PyTypeError::new_err(format!("expected strings, found {kind} at {i}")));
        };
        column.push(text.to_str()?);
    }
    Ok(column)
}

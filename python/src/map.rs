//! A feature map as a Python object.

use bochner::certify::{Adapted, DELTA};
use bochner::{AnyRows, Arrays, Csr, Engine, Head, MapSpec, MatrixView, Method, Model, Rows, Scalar, Target};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::error::to_python;
use crate::job::Job;
use crate::kernel::kernel_of;
use crate::model::method_from_json;
use crate::rows::{AnyTable, array, empty};

/// A map from rows to features, with its certificate.
#[pyclass(frozen, module = "bochner._core")]
pub(crate) struct Map {
    /// A model without outputs: what pickles.
    model: Model,
}

/// Features, mean error and the radius around it, of each round.
type Rounds = Vec<(usize, f64, f64)>;

#[pymethods]
impl Map {
    /// Builds the map, or fits it to the rows, and measures its kernel error on a sample of them.
    ///
    /// `method` none is the kernel's usual one; `columns` are the names of the rows' columns.
    #[staticmethod]
    #[pyo3(signature = (rows, *, kernel, method, features, seed, threads, columns=None))]
    fn fit(
        py: Python<'_>,
        rows: AnyTable<'_>,
        kernel: &str,
        method: Option<&str>,
        features: usize,
        seed: u64,
        threads: usize,
        columns: Option<Vec<String>>,
    ) -> PyResult<Map> {
        let spec = spec(kernel, method, features, seed, columns.as_deref())?;
        let rows = rows.rows()?;
        Job::new(threads, 0).run(py, |engine| fit(engine, &spec, rows)).map(|model| Map { model })
    }

    /// As `fit`, with `features` doubled until the mean kernel error is at most `target` with probability 0.95, but not
    /// beyond `most`; and (features, mean, radius) of each round.
    #[staticmethod]
    #[pyo3(signature = (rows, *, kernel, method, features, seed, threads, target, most, columns=None))]
    fn fit_adaptively(
        py: Python<'_>,
        rows: AnyTable<'_>,
        kernel: &str,
        method: Option<&str>,
        features: usize,
        seed: u64,
        threads: usize,
        target: f64,
        most: usize,
        columns: Option<Vec<String>>,
    ) -> PyResult<(Map, Rounds)> {
        let spec = spec(kernel, method, features, seed, columns.as_deref())?;
        let rows = rows.rows()?;
        let (model, rounds) = Job::new(threads, 0).run(py, |engine| {
            spec.validate()?;
            let Adapted { map, certificate, rounds } =
                spec.fit_adaptively(engine, &without_targets(rows)?, target, DELTA, most)?;
            Ok((Model::of_map(engine, map, certificate), rounds))
        })?;
        let rounds = rounds.iter().map(|(features, m)| (*features, m.mean, m.radius)).collect();
        Ok((Map { model }, rounds))
    }

    /// As `fit`, and what `transform_sparse` makes of the same rows.
    #[staticmethod]
    #[pyo3(signature = (rows, *, kernel, method, features, seed, threads, columns=None))]
    fn fit_transform_sparse<'py>(
        py: Python<'py>,
        rows: AnyTable<'py>,
        kernel: &str,
        method: Option<&str>,
        features: usize,
        seed: u64,
        threads: usize,
        columns: Option<Vec<String>>,
    ) -> PyResult<(Map, Bound<'py, PyTuple>)> {
        let spec = spec(kernel, method, features, seed, columns.as_deref())?;
        let job = Job::new(threads, 0);
        match rows.rows()? {
            AnyRows::F32(rows) => fitted_with_features(py, job, &spec, &rows),
            AnyRows::F64(rows) => fitted_with_features(py, job, &spec, &rows),
        }
    }

    /// Features of all rows, in the precision of the rows.
    fn transform<'py>(
        &self,
        py: Python<'py>,
        rows: AnyTable<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        match rows.rows()? {
            AnyRows::F32(rows) => Ok(self.features(py, &rows, threads)?.into_any()),
            AnyRows::F64(rows) => Ok(self.features(py, &rows, threads)?.into_any()),
        }
    }

    /// Features of all rows without their zeros, in the precision of the rows: row ends, columns, values, as SciPy's CSR has them.
    fn transform_sparse<'py>(
        &self,
        py: Python<'py>,
        rows: AnyTable<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyTuple>> {
        match rows.rows()? {
            AnyRows::F32(rows) => self.sparse_features(py, &rows, threads),
            AnyRows::F64(rows) => self.sparse_features(py, &rows, threads),
        }
    }

    /// Columns of the rows.
    #[getter]
    fn input_dim(&self) -> usize {
        self.model.map().input_dim()
    }

    /// Features that come out: the rank found where there are landmarks.
    #[getter]
    fn output_dim(&self) -> usize {
        self.model.map().output_dim()
    }

    /// The landmarks that were kept; none for a map without them.
    #[getter]
    fn landmarks<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        self.model.map().landmarks().map(|rows| array(py, rows.clone())).transpose()
    }

    /// Whether `transform_sparse` has features.
    #[getter]
    fn has_sparse(&self) -> bool {
        self.model.map().has_sparse()
    }

    /// Rows that two columns of a sparse projection share at worst, what the theorem wants it to be at most, and how many pairs were looked at; none for other maps.
    #[getter]
    fn worst_overlap(&self) -> Option<(usize, f64, u64)> {
        self.model.map().worst_overlap().map(|found| (found.worst, found.limit, found.pairs))
    }

    /// The kernel, as text.
    #[getter]
    fn kernel(&self) -> String {
        self.model.map().spec().kernel.to_string()
    }

    /// How the frequencies of a Fourier map were drawn, in the words of the model file; none for other maps.
    #[getter]
    fn draw(&self) -> Option<&'static str> {
        match self.model.map().spec().method {
            Method::Fourier { draw, .. } => Some(draw.name()),
            _ => None,
        }
    }

    /// What became of the kernel, for people; none for maps that are made of rows.
    #[getter]
    fn recipe(&self) -> PyResult<Option<String>> {
        let recipe = self.model.map().spec().recipe(self.input_dim()).map_err(to_python)?;
        Ok(recipe.map(|recipe| recipe.to_string().trim_end().to_owned()))
    }

    /// The kernel error, as JSON.
    #[getter]
    fn certificate(&self) -> PyResult<String> {
        crate::model::certificate_json(self.model.certificate())
    }

    /// The kernel error, for people.
    #[getter]
    fn certificate_text(&self) -> String {
        self.model.certificate().to_string()
    }

    /// The bytes of a model file without outputs.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.model.to_bytes()).map_err(to_python)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// A map from the bytes of a model file without outputs.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Map> {
        let model = py.detach(|| Model::from_bytes(bytes)).map_err(to_python)?;
        match model.head() {
            Head::Features => Ok(Map { model }),
            _ => Err(PyValueError::new_err("expected a map, found a model with outputs")),
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let from_bytes = py.get_type::<Map>().getattr("from_bytes")?;
        (from_bytes, (self.to_bytes(py)?,)).into_pyobject(py)
    }
}

impl Map {
    fn sparse_features<'py, T: Scalar + Element>(
        &self,
        py: Python<'py>,
        rows: &Rows<'_, T>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let job = Job::for_rows(threads, rows.count());
        let features = job.run(py, |engine| self.model.map().transform_sparse(engine, rows))?;
        csr_parts(py, features)
    }

    /// Writes features straight into memory of NumPy's.
    fn features<'py, T: Scalar + Element>(
        &self,
        py: Python<'py>,
        rows: &Rows<'_, T>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<T>>> {
        let (count, features) = (rows.count(), self.output_dim());
        let job = Job::for_rows(threads, count);
        let size = (count as u64).saturating_mul((features * size_of::<T>()) as u64);
        job.engine()
            .check_memory(|| format!("a matrix of {count} × {features} features"), size)
            .map_err(to_python)?;
        let out = empty::<T>(py, count, features)?;
        {
            let mut memory = out.try_readwrite()?;
            let memory = memory.as_slice_mut()?;
            job.run(py, |engine| self.model.map().transform_into(engine, rows, memory))?;
        }
        Ok(out)
    }
}

fn spec(
    kernel: &str,
    method: Option<&str>,
    features: usize,
    seed: u64,
    columns: Option<&[String]>,
) -> PyResult<MapSpec> {
    let kernel = kernel_of(kernel, columns)?;
    let method = method.map(method_from_json).transpose()?;
    let method = method.unwrap_or_else(|| Method::auto(&kernel, features));
    Ok(MapSpec { kernel, method, features, seed })
}

fn fitted_with_features<'py, 'a, T: Scalar + Element>(
    py: Python<'py>,
    job: Job,
    spec: &MapSpec,
    rows: &Rows<'a, T>,
) -> PyResult<(Map, Bound<'py, PyTuple>)>
where
    AnyRows<'a>: From<Rows<'a, T>>,
{
    let (model, features) = job.run(py, |engine| {
        let (map, certificate, features) = spec.fit_transform_sparse(engine, rows)?;
        Ok((Model::of_map(engine, map, certificate), features))
    })?;
    Ok((Map { model }, csr_parts(py, features)?))
}

/// Row ends, columns and values, as SciPy's CSR has them.
pub(crate) fn csr_parts<T: Scalar + Element>(
    py: Python<'_>,
    features: Csr<T>,
) -> PyResult<Bound<'_, PyTuple>> {
    // SciPy counts in signed numbers, and in short ones where they do.
    let most = features.view().values().len().max(features.columns());
    let (starts, indices, values) = features.into_parts();
    let values = PyArray1::from_vec(py, values);
    if most <= i32::MAX as usize {
        let starts: Vec<i32> = starts.into_iter().map(|start| start as i32).collect();
        let indices: Vec<i32> = indices.into_iter().map(|index| index as i32).collect();
        (PyArray1::from_vec(py, starts), PyArray1::from_vec(py, indices), values).into_pyobject(py)
    } else {
        let starts: Vec<i64> = starts.into_iter().map(|start| start as i64).collect();
        let indices: Vec<i64> = indices.into_iter().map(i64::from).collect();
        (PyArray1::from_vec(py, starts), PyArray1::from_vec(py, indices), values).into_pyobject(py)
    }
}

/// A sample of the rows, the map, and its certificate on the sample.
fn fit(engine: &Engine, spec: &MapSpec, rows: AnyRows<'_>) -> bochner::Result<Model> {
    spec.validate()?;
    let (map, certificate) = spec.fit_certified(engine, &without_targets(rows)?)?;
    Ok(Model::of_map(engine, map, certificate))
}

/// Rows alone as a source.
fn without_targets(rows: AnyRows<'_>) -> bochner::Result<Arrays<'_>> {
    Arrays::new(rows, MatrixView::new(&[], rows.count(), 0)?, None, Target::Numbers { outputs: 0 })
}

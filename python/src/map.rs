//! A feature map as a Python object.

use bochner::certify::{Adapted, DELTA};
use bochner::encode::Columns;
use bochner::{
    AnyRows, Arrays, Certificate, Csr, Engine, Head, Kernel, MapSpec, MatrixView, Method, Model, Rows,
    Scalar, Source, Target,
};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::error::to_python;
use crate::frame::{Beside, Frame, Given, Lent};
use crate::job::Job;
use crate::kernel::kernel_of;
use crate::model::{Learnt, method_from_json, reads_tables, table_rows};
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
        rows: Given<'_>,
        kernel: &str,
        method: Option<&str>,
        features: usize,
        seed: u64,
        threads: usize,
        columns: Option<Vec<String>>,
    ) -> PyResult<Map> {
        let (kernel, learnt) = Learnt::with_kernel(py, &rows, columns, kernel, Beside::default(), seed)?;
        let spec = spec(kernel, method, features, seed)?;
        let fitted = Job::new(threads, 0).run(py, |engine| {
            fitted(engine, learnt, |source| {
                spec.validate()?;
                let (map, certificate) = spec.fit_certified(engine, source)?;
                Ok((map, certificate, ()))
            })
        })?;
        Ok(Map { model: fitted.0 })
    }

    /// As `fit`, with `features` doubled until the mean kernel error is at most `target` with probability 0.95, but not
    /// beyond `most`; and (features, mean, radius) of each round.
    #[staticmethod]
    #[pyo3(signature = (rows, *, kernel, method, features, seed, threads, target, most, columns=None))]
    fn fit_adaptively(
        py: Python<'_>,
        rows: Given<'_>,
        kernel: &str,
        method: Option<&str>,
        features: usize,
        seed: u64,
        threads: usize,
        target: f64,
        most: usize,
        columns: Option<Vec<String>>,
    ) -> PyResult<(Map, Rounds)> {
        let (kernel, learnt) = Learnt::with_kernel(py, &rows, columns, kernel, Beside::default(), seed)?;
        let spec = spec(kernel, method, features, seed)?;
        let (model, rounds) = Job::new(threads, 0).run(py, |engine| {
            fitted(engine, learnt, |source| {
                spec.validate()?;
                let Adapted { map, certificate, rounds } =
                    spec.fit_adaptively(engine, source, target, DELTA, most)?;
                Ok((map, certificate, rounds))
            })
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
        let spec = spec(kernel_of(kernel, columns.as_deref())?, method, features, seed)?;
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
        rows: Given<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        match rows.lent()? {
            Lent::Frame(frame) => Ok(self.frame_features(py, frame, threads)?.into_any()),
            Lent::Rows(AnyRows::F32(rows)) => Ok(self.features(py, &rows, threads)?.into_any()),
            Lent::Rows(AnyRows::F64(rows)) => Ok(self.features(py, &rows, threads)?.into_any()),
        }
    }

    /// Features of all rows without their zeros, in the precision of the rows: row ends, columns, values, as SciPy's CSR has them.
    fn transform_sparse<'py>(
        &self,
        py: Python<'py>,
        rows: Given<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyTuple>> {
        match rows.lent()? {
            Lent::Frame(frame) => self.sparse_frame_features(py, frame, threads),
            Lent::Rows(AnyRows::F32(rows)) => self.sparse_features(py, &rows, threads),
            Lent::Rows(AnyRows::F64(rows)) => self.sparse_features(py, &rows, threads),
        }
    }

    /// What is given, as the map reads it: the columns that it was fitted to, wherever they stand.
    #[pyo3(signature = (frame, threads, most=None))]
    fn frame(
        &self,
        py: Python<'_>,
        frame: &Bound<'_, PyAny>,
        threads: usize,
        most: Option<u64>,
    ) -> PyResult<Frame> {
        Frame::read_for(py, frame, self.columns(), threads, most)
    }

    /// Whether rows are read as tables: by the names of their columns, in which cells may be missing.
    #[getter]
    fn reads_tables(&self) -> bool {
        reads_tables(self.columns())
    }

    /// Names of the encoded columns.
    #[getter]
    fn encoded_names(&self) -> Vec<String> {
        (0..self.columns().count()).map(|j| self.columns().column_name(j)).collect()
    }

    /// Columns of the encoded rows.
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
    fn columns(&self) -> &Columns {
        self.model.encoder().columns()
    }

    /// Features of a table, in double precision.
    fn frame_features<'py>(
        &self,
        py: Python<'py>,
        frame: &Frame,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (count, features) = (frame.rows().unwrap_or(0), self.output_dim());
        let job = Job::for_rows(threads, count);
        let size = (count as u64).saturating_mul((features * size_of::<f64>()) as u64);
        job.engine()
            .check_memory(|| format!("a matrix of {count} × {features} features"), size)
            .map_err(to_python)?;
        let out = empty::<f64>(py, count, features)?;
        {
            let mut memory = out.try_readwrite()?;
            let memory = memory.as_slice_mut()?;
            job.run(py, |engine| {
                frame.each_block(engine, self.columns(), |rows, first| {
                    let rows = rows.view();
                    let part = &mut memory[first * features..(first + rows.count()) * features];
                    self.model.map().transform_into(engine, &rows, part)
                })
            })?;
        }
        Ok(out)
    }

    /// The same without their zeros.
    fn sparse_frame_features<'py>(
        &self,
        py: Python<'py>,
        frame: &Frame,
        threads: usize,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let job = Job::for_rows(threads, frame.rows().unwrap_or(0));
        let features = job.run(py, |engine| {
            let mut features = Csr::<f64>::empty(self.output_dim());
            frame.each_block(engine, self.columns(), |rows, _| {
                features.append(&self.model.map().transform_sparse(engine, &rows.view())?);
                Ok(())
            })?;
            Ok(features)
        })?;
        csr_parts(py, features)
    }

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

fn spec(kernel: Kernel, method: Option<&str>, features: usize, seed: u64) -> PyResult<MapSpec> {
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

/// The model of a map that is fitted to rows, and what else comes of it.
fn fitted<R>(
    engine: &Engine,
    learnt: Learnt<'_>,
    fit: impl FnOnce(&dyn Source) -> bochner::Result<(bochner::Map, Certificate, R)>,
) -> bochner::Result<(Model, R)> {
    match learnt {
        Learnt::Array { rows, .. } => {
            let (map, certificate, more) = fit(&without_targets(rows)?)?;
            Ok((Model::of_map(engine, map, certificate), more))
        }
        Learnt::Table { frame, inputs, remarks } => {
            let (rows, columns) = table_rows(engine, frame, inputs, &remarks)?;
            let (map, certificate, more) = fit(&rows).map_err(|error| columns.in_words(error))?;
            Ok((Model::of_map(engine, map, certificate).with_names(columns, "")?, more))
        }
    }
}

/// Rows alone as a source.
fn without_targets(rows: AnyRows<'_>) -> bochner::Result<Arrays<'_>> {
    Arrays::new(rows, MatrixView::new(&[], rows.count(), 0)?, None, Target::Numbers { outputs: 0 })
}

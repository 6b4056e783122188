//! A fitted model as a Python object.

use std::path::PathBuf;

use bochner::encode::{
    Columns, Curve, Encoding, Form, Input, Inputs, Metric, NumberEncoding, Precision, TableRows, Task,
};
use bochner::json::Json;
use bochner::model::{Calibration, Decision, Outcome};
use bochner::plan::Machine;
use bochner::solve::Stop;
use bochner::{
    AnyRows, Arrays, Auto, Certificate, Csr, Engine, Event, ExactRidge, ExactSvm, Head, Kernel, KernelChoice,
    LabelKind, Labels, Lambda, Matrix, Method, Model as Inner, OwnedRows, Rows, Scalar, Shape, Source,
    Target,
};
use bochner_cli::{FileFit, Stopped, open_for};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::error::{to_python, to_python_as};
use crate::frame::{Beside, Frame, Given, Lent, remarks_of_array};
use crate::job::Job;
use crate::kernel::kernel_of;
use crate::map::csr_parts;
use crate::rows::{array, view};
use crate::settings::{Reading, Settings};

/// Objective, bound or none, steps, why no more, σ or none.
type Minimised = (f64, Option<f64>, usize, &'static str, Option<f64>);

/// Two numbers for each row and output.
type Ends<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);

/// L, the part of each column, the leading directions, and their parts.
type MetricParts<'py> =
    (Bound<'py, PyAny>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// A regression or classification on features, with its certificate.
#[pyclass(frozen, module = "bochner._core")]
pub(crate) struct Model {
    inner: Inner,
}

#[pymethods]
impl Model {
    /// Fits to rows and targets; what is not given is chosen from the data.
    ///
    /// `labels` makes it a classification, `targets` then being positions in them, NaN for none; `start` is a model to go on from.
    #[staticmethod]
    #[pyo3(signature = (
        rows, targets, weights, labels, *, settings, start=None, columns=None, target="", group=None, threads=0, verbose=0
    ))]
    fn fit(
        py: Python<'_>,
        rows: Given<'_>,
        targets: PyReadonlyArray2<'_, f64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        labels: Option<(String, Vec<String>)>,
        settings: Settings,
        start: Option<PyRef<'_, Model>>,
        columns: Option<Vec<String>>,
        target: &str,
        group: Option<&str>,
        threads: usize,
        verbose: u8,
    ) -> PyResult<Model> {
        let start = start.map(|model| model.inner.clone());
        let auto = settings.auto()?;
        let given = if let KernelChoice::Given(kernel) = &auto.kernel { Some(kernel) } else { None };
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        let labels = labels.map(labels_of).transpose()?;
        let (targets, labels) = (Some(view(&targets)?), labels.as_ref());
        let beside = Beside { weights, targets, labels, name: target, group, encodes: true };
        let job = Job::new(threads, verbose);
        let learnt = Learnt::of(py, &rows, columns, given, beside, &auto)?;
        let bound = match &learnt {
            Learnt::Array { names: None, .. } => auto.clone(),
            Learnt::Array { names: Some(names), .. } => auto.bind(names).map_err(to_python)?,
            Learnt::Table { frame, .. } => Auto {
                kernel: learnt.kernel().cloned().map_or_else(|| auto.kernel.clone(), KernelChoice::Given),
                precision: Some(frame.precision()),
                ..auto.clone()
            },
        };
        learn(py, learnt, beside, job, |engine, rows| match rows {
            Placed::Array(source) => bound.fit_from(engine, source, start.as_ref()),
            Placed::Table(rows) => {
                Ok(bound.fit_table_from(engine, rows, start.as_ref())?.planned_as(&auto.kernel))
            }
        })
    }

    /// Fits to files, as the command line does; `kinds` say what columns hold.
    #[staticmethod]
    #[pyo3(signature = (
        paths, target, *, settings, is_classification, ignore, kinds, weight, group, reading, threads=0, verbose=0
    ))]
    fn fit_files(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        target: String,
        settings: Settings,
        is_classification: bool,
        ignore: Vec<String>,
        kinds: Vec<(String, String)>,
        weight: Option<String>,
        group: Option<String>,
        reading: Reading,
        threads: usize,
        verbose: u8,
    ) -> PyResult<Model> {
        let kind = |(name, kind): (String, String)| Ok((name, kind.parse().map_err(to_python)?));
        let fit = FileFit {
            paths,
            target,
            ignored: ignore,
            kinds: kinds.into_iter().map(kind).collect::<PyResult<_>>()?,
            weight,
            group,
            reading: reading.into(),
            auto: Auto { precision: Some(Precision::default()), ..settings.auto()? },
            task: if is_classification { Task::Classification } else { Task::Regression },
            say: crate::remark::of_files,
        };
        let fitted = Job::new(threads, verbose).run(py, |engine| Ok(fit.fit(engine)))?;
        Ok(Model { inner: fitted.map_err(stopped)? })
    }

    /// Files as a model reads them: the columns that it was fitted to, wherever they stand.
    fn files(
        &self,
        py: Python<'_>,
        paths: Vec<PathBuf>,
        reading: Reading,
        threads: usize,
    ) -> PyResult<Frame> {
        let opened = Job::new(threads, 0)
            .run(py, |engine| Ok(open_for(engine, &self.inner, &paths, reading.into())))?;
        opened.map(|tables| Frame::of_files(tables, threads)).map_err(stopped)
    }

    /// What a fit to rows of some shape will take on this machine, as JSON and as a table.
    #[staticmethod]
    #[pyo3(signature = (*, rows, columns, entries, scalar_bytes, outputs, settings, threads=0))]
    fn forecast(
        py: Python<'_>,
        rows: u64,
        columns: usize,
        entries: Option<u64>,
        scalar_bytes: usize,
        outputs: usize,
        settings: Settings,
        threads: usize,
    ) -> PyResult<(String, String)> {
        let auto = settings.auto()?;
        let target = Target::Numbers { outputs };
        let shape = Shape { rows, inputs: columns, entries, scalar_bytes, target };
        let outlook = Job::new(threads, 0).run(py, |engine| {
            let machine = Machine::measure(engine)?;
            auto.forecast(engine, &shape, &machine, 0.0)
        })?;
        let (least, most) = outlook.seconds();
        let json = serde_json::json!({
            "seconds": [least, most], "peak_bytes": outlook.peak_bytes(), "allowed": outlook.allowed(), "outlook": outlook,
        });
        Ok((json.to_string(), outlook.to_string()))
    }

    /// Fits a support vector machine with the exact kernel; `targets` are positions in the labels.
    #[staticmethod]
    #[pyo3(signature = (
        rows, targets, weights, labels, *, kernel, cost, tolerance, cache_bytes, columns=None, target="", threads=0, verbose=0
    ))]
    fn fit_exact(
        py: Python<'_>,
        rows: Given<'_>,
        targets: PyReadonlyArray2<'_, f64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        labels: (String, Vec<String>),
        kernel: &str,
        cost: f64,
        tolerance: f64,
        cache_bytes: usize,
        columns: Option<Vec<String>>,
        target: &str,
        threads: usize,
        verbose: u8,
    ) -> PyResult<Model> {
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        let labels = labels_of(labels)?;
        let (targets, labels) = (Some(view(&targets)?), Some(&labels));
        let beside = Beside { weights, targets, labels, name: target, ..Beside::default() };
        let (kernel, learnt) = Learnt::with_kernel(py, &rows, columns, kernel, beside, 0)?;
        let svm = ExactSvm { kernel, cost, tolerance, cache_bytes };
        let job = Job::new(threads, verbose);
        learn(py, learnt, beside, job, |engine, rows| svm.fit(engine, rows.source()))
    }

    /// Fits kernel ridge regression with the exact kernel; `regularization` is λ, or none for one by cross-validation.
    #[staticmethod]
    #[pyo3(signature = (
        rows, targets, weights, *, kernel, regularization, folds, intercept, columns=None, target="", threads=0, verbose=0
    ))]
    fn fit_exact_ridge(
        py: Python<'_>,
        rows: Given<'_>,
        targets: PyReadonlyArray2<'_, f64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        kernel: &str,
        regularization: Option<f64>,
        folds: usize,
        intercept: bool,
        columns: Option<Vec<String>>,
        target: &str,
        threads: usize,
        verbose: u8,
    ) -> PyResult<Model> {
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        let beside = Beside { weights, targets: Some(view(&targets)?), name: target, ..Beside::default() };
        let (kernel, learnt) = Learnt::with_kernel(py, &rows, columns, kernel, beside, 0)?;
        let lambda = regularization.map_or(Lambda::CrossValidated { folds }, |value| Lambda::Given { value });
        let ridge = ExactRidge { kernel, lambda, intercept };
        let job = Job::new(threads, verbose);
        learn(py, learnt, beside, job, |engine, rows| ridge.fit(engine, rows.source()))
    }

    /// "largest" or "votes"; none but for classes.
    #[getter]
    fn decision(&self) -> Option<&'static str> {
        match self.inner.head() {
            Head::Classification { decision: Decision::Largest, .. } => Some("largest"),
            Head::Classification { decision: Decision::Votes, .. } => Some("votes"),
            _ => None,
        }
    }

    /// The landmarks of the map: the support vectors, or all rows, of an exact machine.
    #[getter]
    fn landmarks<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        self.inner.map().landmarks().map(|rows| array(py, rows.clone())).transpose()
    }

    /// Rows that it was fitted to.
    #[getter]
    fn rows(&self) -> Option<u64> {
        self.inner.training().map(|training| training.rows)
    }

    /// Outputs for each row: one for each pair of classes of an exact machine.
    fn outputs_of<'py>(
        &self,
        py: Python<'py>,
        rows: Given<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        array(py, self.outputs(py, &rows, threads)?)
    }

    /// For each row: predictions of a regression, scores of a classification.
    fn decide<'py>(
        &self,
        py: Python<'py>,
        rows: Given<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        array(py, self.inner.scores(&self.outputs(py, &rows, threads)?))
    }

    /// The class of each row, as a position in the labels.
    fn classify<'py>(
        &self,
        py: Python<'py>,
        rows: Given<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let outputs = self.outputs(py, &rows, threads)?;
        let classes = self.inner.classes(&outputs).into_iter().map(|class| class as i64).collect();
        Ok(PyArray1::from_vec(py, classes))
    }

    /// Rows as the kernel compares them, in their own precision: an array, or row ends, columns and values where zeros are not stored.
    fn encode<'py>(&self, py: Python<'py>, rows: Given<'py>, threads: usize) -> PyResult<Bound<'py, PyAny>> {
        match rows.lent()? {
            Lent::Frame(frame) => self.encoded_frame(py, frame, threads),
            Lent::Rows(AnyRows::F32(rows)) => self.encoded(py, &rows, threads),
            Lent::Rows(AnyRows::F64(rows)) => self.encoded(py, &rows, threads),
        }
    }

    /// Columns of the rows, as they are given.
    #[getter]
    fn input_dim(&self) -> usize {
        let columns = self.inner.encoder().columns();
        sources(columns).map_or(columns.count(), |names| names.len())
    }

    /// What is given, as a model reads it: the columns that it was fitted to, wherever they stand.
    #[pyo3(signature = (frame, threads, most=None))]
    fn frame(
        &self,
        py: Python<'_>,
        frame: &Bound<'_, PyAny>,
        threads: usize,
        most: Option<u64>,
    ) -> PyResult<Frame> {
        Frame::read_for(py, frame, self.inner.encoder().columns(), threads, most)
    }

    /// Whether rows are read as tables: by the names of their columns, in which cells may be missing.
    #[getter]
    fn reads_tables(&self) -> bool {
        reads_tables(self.inner.encoder().columns())
    }

    /// How columns of numbers are scaled, where they are: "standard", "quantile" or "robust".
    #[getter]
    fn scaling(&self) -> &'static str {
        let curves =
            self.inner.encoder().columns().inputs().iter().filter_map(|input| match &input.encoding {
                Encoding::Number(number) => Some(&number.curve),
                _ => None,
            });
        let name = |curve: &Curve| match curve {
            Curve::None => None,
            Curve::Quantile { .. } => Some("quantile"),
            Curve::Robust { .. } => Some("robust"),
        };
        curves.filter_map(name).next().unwrap_or("standard")
    }

    /// Names of the encoded columns, but for those that a metric adds.
    #[getter]
    fn encoded_names(&self) -> Vec<String> {
        let columns = self.inner.encoder().columns();
        (0..columns.count()).map(|j| columns.column_name(j)).collect()
    }

    /// Columns of encoded rows: those, and what a metric adds.
    #[getter]
    fn encoded_dim(&self) -> usize {
        self.inner.encoder().width()
    }

    /// D as it was asked for: landmarks may have given fewer.
    #[getter]
    fn features_asked(&self) -> usize {
        self.inner.map().spec().features
    }

    /// Real features, D.
    #[getter]
    fn features(&self) -> usize {
        self.inner.map().output_dim()
    }

    /// The kernel, as text.
    #[getter]
    fn kernel(&self) -> String {
        self.inner.map().spec().kernel.to_string()
    }

    /// How features are made, as JSON.
    #[getter]
    fn method(&self) -> PyResult<String> {
        self.inner.map().spec().method.to_json().map_err(unprintable)
    }

    /// Of all chance.
    #[getter]
    fn seed(&self) -> u64 {
        self.inner.map().spec().seed
    }

    /// Whether columns are brought to a common scale first.
    #[getter]
    fn standardized(&self) -> bool {
        self.inner.encoder().scaling().is_some()
    }

    /// "none", "diagonal" or "full": the form of the learnt metric.
    #[getter]
    fn metric(&self) -> &'static str {
        match self.inner.encoder().metric().map(Metric::form) {
            None => "none",
            Some(Form::Diagonal) => "diagonal",
            Some(Form::Full | Form::Leading) => "full",
        }
    }

    /// Of the learnt metric: L, by which rows are multiplied, its diagonal where it has no more, or a factor of all columns and what the added ones are made by; the part of each column, and the leading directions with theirs. None without one.
    fn metric_parts<'py>(&self, py: Python<'py>) -> PyResult<Option<MetricParts<'py>>> {
        let Some(metric) = self.inner.encoder().metric() else { return Ok(None) };
        let importances = PyArray1::from_slice(py, metric.importances());
        let shares = PyArray1::from_slice(py, metric.shares());
        let directions = array(py, metric.directions().clone())?;
        let root = match metric.form() {
            Form::Diagonal => PyArray1::from_vec(py, metric.diagonal()).into_any(),
            Form::Full => array(py, metric.matrix())?.into_any(),
            Form::Leading => match metric.added() {
                Some((factor, along)) => (factor, array(py, along.clone())?).into_pyobject(py)?.into_any(),
                None => py.None().into_bound(py),
            },
        };
        Ok(Some((root, importances, directions, shares)))
    }

    /// λ, given or chosen; none for a map alone.
    #[getter]
    fn regularization(&self) -> Option<f64> {
        self.inner.training().map(|training| training.lambda)
    }

    /// Folds of the cross-validation; 1 if λ was given, none for a map alone.
    #[getter]
    fn folds(&self) -> Option<usize> {
        self.inner.training().map(|training| training.folds)
    }

    /// Whether a constant was fitted; none for a map alone.
    #[getter]
    fn has_intercept(&self) -> Option<bool> {
        self.inner.training().map(|training| training.intercept)
    }

    /// (λ, error) for each λ tried; empty if λ was given.
    #[getter]
    fn curve(&self) -> Vec<(f64, f64)> {
        let curve = self.inner.training().map_or(&[][..], |training| &training.curve);
        curve.iter().map(|point| (point.lambda, point.error)).collect()
    }

    /// tr S(S + λI)⁻¹; none for a map alone.
    /// What was settled before the fit, as JSON; none where nothing was left open.
    #[getter]
    fn plan(&self) -> PyResult<Option<String>> {
        let plan = self.inner.training().and_then(|training| training.plan.as_ref());
        plan.map(|plan| plan.to_json().map_err(unprintable)).transpose()
    }

    #[getter]
    fn degrees_of_freedom(&self) -> Option<f64> {
        self.inner.training().and_then(bochner::model::Training::degrees_of_freedom)
    }

    /// As text; none for a map alone.
    #[getter]
    fn loss(&self) -> Option<String> {
        self.inner.training().map(|training| training.loss().to_string())
    }

    /// Of other losses than squares and margins.
    #[getter]
    fn minimised(&self) -> Option<Minimised> {
        match self.inner.training()?.outcome {
            Outcome::Minimised { objective, bound, steps, stop, scale, .. } => {
                Some((objective, bound, steps, why(stop), scale))
            }
            _ => None,
        }
    }

    /// (what led, steps, why no more, residual, condition), where squares were minimised by conjugate gradients.
    #[getter]
    fn conjugate(&self) -> Option<(String, usize, &'static str, f64, f64)> {
        match self.inner.training()?.outcome {
            Outcome::Conjugate { preconditioner, steps, residual, condition, stop } => {
                Some((preconditioner.to_string(), steps, why(stop), residual, condition))
            }
            _ => None,
        }
    }

    /// Whether there are probabilities of classes.
    #[getter]
    fn has_probabilities(&self) -> bool {
        self.inner.calibration().is_some()
    }

    /// Whether the numbers that make probabilities were fitted.
    #[getter]
    fn is_calibrated(&self) -> bool {
        self.inner.calibration().is_some_and(|calibration| calibration != Calibration::default())
    }

    /// Whether there are deviations of predictions.
    #[getter]
    fn has_deviation(&self) -> bool {
        self.inner.posterior().is_some()
    }

    /// Distinct rows held out of the fit; none if there were none.
    #[getter]
    fn held_out_rows(&self) -> Option<usize> {
        self.inner.held_out().map(|held_out| held_out.rows())
    }

    /// The share that was held out; none for none.
    #[getter]
    fn held_out_share(&self) -> Option<f64> {
        self.inner.held_out().map(|held_out| held_out.share())
    }

    /// The deviation of a new observation, for each row and output.
    fn deviations<'py>(
        &self,
        py: Python<'py>,
        rows: Given<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = rows.lent()?;
        let found = Job::for_rows(threads, rows.count()).run(py, |engine| match rows {
            Lent::Frame(frame) => {
                let outputs = self.inner.intercept().len();
                frame
                    .stacked(engine, outputs, |block, infos| self.inner.deviation_table(engine, block, infos))
            }
            Lent::Rows(AnyRows::F32(rows)) => self.inner.deviation(engine, rows),
            Lent::Rows(AnyRows::F64(rows)) => self.inner.deviation(engine, rows),
        })?;
        array(py, found)
    }

    /// Where the intervals of each row and output begin, and where they end.
    fn intervals<'py>(
        &self,
        py: Python<'py>,
        rows: Given<'py>,
        coverage: f64,
        threads: usize,
    ) -> PyResult<Ends<'py>> {
        let rows = rows.lent()?;
        let found = Job::for_rows(threads, rows.count()).run(py, |engine| match rows {
            Lent::Frame(frame) => {
                // Of one pass: where they begin, and beside that where they end.
                let outputs = self.inner.intercept().len();
                let ends = frame.stacked(engine, 2 * outputs, |block, infos| {
                    let found = self.inner.intervals_table(engine, block, infos, coverage)?;
                    Ok(Matrix::from_fn(found.lower.rows(), 2 * outputs, |i, o| {
                        if o < outputs { found.lower.row(i)[o] } else { found.upper.row(i)[o - outputs] }
                    }))
                })?;
                let part = |from: usize| Matrix::from_fn(ends.rows(), outputs, |i, o| ends.row(i)[from + o]);
                Ok((part(0), part(outputs)))
            }
            Lent::Rows(AnyRows::F32(rows)) => {
                self.inner.intervals(engine, rows, coverage).map(|found| (found.lower, found.upper))
            }
            Lent::Rows(AnyRows::F64(rows)) => {
                self.inner.intervals(engine, rows, coverage).map(|found| (found.lower, found.upper))
            }
        })?;
        Ok((array(py, found.0)?, array(py, found.1)?))
    }

    /// For each row and class, whether it is in the set.
    fn sets<'py>(
        &self,
        py: Python<'py>,
        rows: Given<'py>,
        coverage: f64,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<bool>>> {
        let outputs = self.outputs(py, &rows, threads)?;
        let sets = self.inner.sets(&outputs, coverage).map_err(to_python)?;
        let classes =
            if let Head::Classification { labels, .. } = self.inner.head() { labels.len() } else { 0 };
        let row = |set: &Vec<usize>| (0..classes).map(|class| set.contains(&class)).collect();
        Ok(PyArray2::from_vec2(py, &sets.iter().map(row).collect::<Vec<Vec<bool>>>())?)
    }

    /// Probabilities for each row: one column a class.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        rows: Given<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let outputs = self.outputs(py, &rows, threads)?;
        let none =
            || PyValueError::new_err("expected a model with probabilities, found one with scores alone");
        array(py, self.inner.probabilities(&outputs).ok_or_else(none)?)
    }

    /// (primal value, dual value, margin), where margins were minimised.
    #[getter]
    fn margins(&self) -> Option<(f64, f64, f64)> {
        match self.inner.training()?.outcome {
            Outcome::Margins { primal, dual, margin, .. } => Some((primal, dual, margin)),
            _ => None,
        }
    }

    /// Outputs × features.
    #[getter]
    fn coefficients<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        array(py, self.inner.coefficients().clone())
    }

    /// One constant for each output.
    #[getter]
    fn intercept<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.inner.intercept().to_vec())
    }

    /// "features", "regression" or "classification".
    #[getter]
    fn head(&self) -> &'static str {
        match self.inner.head() {
            Head::Features => "features",
            Head::Regression => "regression",
            Head::Classification { .. } => "classification",
        }
    }

    /// Kind and texts of the classes; none for a regression.
    #[getter]
    fn labels(&self) -> Option<(&'static str, Vec<String>)> {
        match self.inner.head() {
            Head::Classification { labels, .. } => {
                Some((label_kind_name(labels.kind()), labels.texts().to_vec()))
            }
            Head::Features | Head::Regression => None,
        }
    }

    /// Names of the columns that are given, each once, if they have any.
    #[getter]
    fn columns(&self) -> Option<Vec<String>> {
        sources(self.inner.encoder().columns())
    }

    /// Name of the target; empty if it has none.
    #[getter]
    fn target(&self) -> &str {
        self.inner.target()
    }

    /// The kernel error, as JSON.
    #[getter]
    fn certificate(&self) -> PyResult<String> {
        certificate_json(self.inner.certificate())
    }

    /// The kernel error, for people.
    #[getter]
    fn certificate_text(&self) -> String {
        self.inner.certificate().to_string()
    }

    /// Writes the model to a file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.inner.save(path)).map_err(to_python)
    }

    /// Reads a model from a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Model> {
        py.detach(|| Inner::load(path)).map(|inner| Model { inner }).map_err(to_python)
    }

    /// The model as the bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.inner.to_bytes()).map_err(to_python)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// A model from the bytes of its file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Model> {
        py.detach(|| Inner::from_bytes(bytes)).map(|inner| Model { inner }).map_err(to_python)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let from_bytes = py.get_type::<Model>().getattr("from_bytes")?;
        (from_bytes, (self.to_bytes(py)?,)).into_pyobject(py)
    }
}

impl Model {
    fn encoded<'py, T: Scalar + Element>(
        &self,
        py: Python<'py>,
        rows: &Rows<'_, T>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let job = Job::for_rows(threads, rows.count());
        owned(py, job.run(py, |engine| self.inner.encode(engine, rows))?)
    }

    /// As `encode`, block by block.
    fn encoded_frame<'py>(
        &self,
        py: Python<'py>,
        frame: &Frame,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let width = self.inner.encoder().width();
        let job = Job::for_rows(threads, Lent::Frame(frame).count());
        let encoded = job.run(py, |engine| {
            let (mut dense, mut sparse, mut count) = (Vec::new(), Csr::empty(width), 0);
            frame.each_table(engine, |block| {
                let rows = self.inner.rows_of(engine, block, frame.tables().columns())?;
                count += rows.view().count();
                match self.inner.encode(engine, &rows.view())? {
                    OwnedRows::Dense(rows) => dense.extend_from_slice(rows.as_slice()),
                    OwnedRows::Sparse(rows) => sparse.append(&rows),
                }
                Ok(())
            })?;
            let is_sparse = sparse.view().rows() > 0;
            Ok(if is_sparse {
                OwnedRows::Sparse(sparse)
            } else {
                OwnedRows::Dense(Matrix::new(count, width, dense)?)
            })
        })?;
        owned(py, encoded)
    }

    fn outputs(&self, py: Python<'_>, rows: &Given<'_>, threads: usize) -> PyResult<Matrix<f64>> {
        let rows = rows.lent()?;
        Job::for_rows(threads, rows.count()).run(py, |engine| match rows {
            Lent::Frame(frame) => {
                let outputs = self.inner.intercept().len();
                frame.stacked(engine, outputs, |block, infos| self.inner.decide_table(engine, block, infos))
            }
            Lent::Rows(AnyRows::F32(rows)) => self.inner.decide(engine, rows),
            Lent::Rows(AnyRows::F64(rows)) => self.inner.decide(engine, rows),
        })
    }
}

/// `{"kind":"landmarks","whiten":true,"tolerance":1e-7}` and the like, as the model file writes them.
pub(crate) fn method_from_json(text: &str) -> PyResult<Method> {
    Method::from_json(text)
        .map_err(|error| PyValueError::new_err(format!("expected a method, found {text}: {error}")))
}

pub(crate) fn certificate_json(certificate: &Certificate) -> PyResult<String> {
    certificate.to_json().map_err(unprintable)
}

fn unprintable(error: serde_json::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// An array, or row ends, columns and values where zeros are not stored.
fn owned<T: Scalar + Element>(py: Python<'_>, rows: OwnedRows<T>) -> PyResult<Bound<'_, PyAny>> {
    match rows {
        OwnedRows::Dense(rows) => {
            let shape = [rows.rows(), rows.columns()];
            Ok(PyArray1::from_vec(py, rows.into_vec()).reshape(shape)?.into_any())
        }
        OwnedRows::Sparse(rows) => Ok(csr_parts(py, rows)?.into_any()),
    }
}

/// Names of the columns of a table that are looked at, each once; none for columns without names.
pub(crate) fn sources(columns: &Columns) -> Option<Vec<String>> {
    let Columns::Named { inputs } = columns else { return None };
    let mut names: Vec<String> = Vec::new();
    for Input { name, .. } in inputs {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    Some(names)
}

/// Whether columns are more than numbers as they are, none of which may be missing.
pub(crate) fn reads_tables(columns: &Columns) -> bool {
    let is_plain = |input: &Input| input.encoding == Encoding::Number(NumberEncoding::default());
    !columns.inputs().iter().all(is_plain)
}

/// What is learnt from.
pub(crate) enum Learnt<'a> {
    /// An array, the names of its columns, if they have any, and what should be said of them.
    Array { rows: AnyRows<'a>, names: Option<Vec<String>>, remarks: Vec<String> },
    /// A table, what its columns become, and what should be said of them.
    Table { frame: &'a Frame, inputs: Inputs, remarks: Vec<String> },
}

impl<'a> Learnt<'a> {
    /// For a kernel, where one was given.
    fn of(
        py: Python<'_>,
        rows: &'a Given<'_>,
        names: Option<Vec<String>>,
        kernel: Option<&Kernel>,
        beside: Beside<'_>,
        auto: &Auto,
    ) -> PyResult<Learnt<'a>> {
        let frame = match (rows.lent()?, names) {
            (Lent::Frame(frame), _) => frame,
            (Lent::Rows(rows), Some(names)) if beside.targets.is_some() => {
                let job = Job::new(1, 0);
                let remarks = job.run(py, |engine| remarks_of_array(engine, &rows, &names, beside))?;
                return Ok(Learnt::Array { rows, names: Some(names), remarks });
            }
            (Lent::Rows(rows), names) => return Ok(Learnt::Array { rows, names, remarks: Vec::new() }),
        };
        Job::new(frame.threads(), 0).run(py, |engine| {
            let (profile, target) = frame.profile(engine, beside)?;
            let profile = profile.with_scaling(auto.scaling).with_outputs(beside.outputs());
            let left_out: Vec<&str> = target.as_deref().into_iter().chain(beside.group).collect();
            let inputs = frame.inputs(kernel, &profile, &left_out, auto.seed)?;
            let remarks = frame.remarks(kernel, &left_out, &inputs, &profile, beside);
            Ok(Learnt::Table { frame, inputs, remarks })
        })
    }

    /// With a kernel, which becomes one of rows.
    pub(crate) fn with_kernel(
        py: Python<'_>,
        rows: &'a Given<'_>,
        names: Option<Vec<String>>,
        kernel: &str,
        beside: Beside<'_>,
        seed: u64,
    ) -> PyResult<(Kernel, Learnt<'a>)> {
        let auto = Auto { seed, ..Auto::default() };
        if let Given::Rows(_) = rows {
            let kernel = kernel_of(kernel, names.as_deref())?;
            return Ok((kernel, Learnt::of(py, rows, names, None, beside, &auto)?));
        }
        let kernel = kernel_of(kernel, None)?;
        let learnt = Learnt::of(py, rows, names, Some(&kernel), beside, &auto)?;
        let placed = learnt.kernel().cloned().unwrap_or(kernel);
        Ok((placed, learnt))
    }

    /// The kernel of the rows of a table, where one was given.
    fn kernel(&self) -> Option<&Kernel> {
        if let Learnt::Table { inputs, .. } = self { inputs.kernel.as_ref() } else { None }
    }
}

/// The rows of a frame without targets, and what their columns become; says what should be said of them.
pub(crate) fn table_rows<'a>(
    engine: &'a Engine,
    frame: &'a Frame,
    inputs: Inputs,
    remarks: &[String],
) -> bochner::Result<(TableRows<'a>, Columns)> {
    remarks.iter().try_for_each(|text| engine.tell(&Event::Warning { text }))?;
    let columns = inputs.columns.fit(engine, frame.tables())?;
    Ok((TableRows::without_target(engine, frame.tables(), columns.clone())?, columns))
}

/// Rows with targets, where they are.
enum Placed<'a> {
    Array(&'a dyn Source),
    Table(&'a TableRows<'a>),
}

impl<'a> Placed<'a> {
    /// As whoever needs no more than rows sees them.
    fn source(&self) -> &'a dyn Source {
        match *self {
            Placed::Array(source) => source,
            Placed::Table(rows) => rows,
        }
    }
}

/// Fits a learner to arrays or a table of Python's and gives the columns their names.
fn learn(
    py: Python<'_>,
    learnt: Learnt<'_>,
    beside: Beside<'_>,
    job: Job,
    fit: impl FnOnce(&Engine, Placed<'_>) -> bochner::Result<Inner> + Send,
) -> PyResult<Model> {
    let Beside { weights, targets: Some(targets), labels, name, group, .. } = beside else {
        return Err(PyValueError::new_err("expected targets"));
    };
    let meaning = match labels {
        Some(labels) => Target::Classes { labels: labels.clone() },
        None => Target::Numbers { outputs: targets.columns() },
    };
    let fitted = move |engine: &Engine| match learnt {
        Learnt::Table { frame, inputs, remarks } => {
            let (rows, columns) = table_rows(engine, frame, inputs, &remarks)?;
            let rows = rows.beside(name, targets, weights, meaning)?;
            let rows = match group {
                Some(group) => rows.grouped(group)?,
                None => rows,
            };
            let model = fit(engine, Placed::Table(&rows)).map_err(|error| columns.in_words(error))?;
            // A fit to a table has named its columns.
            let is_named = matches!(model.encoder().columns(), Columns::Named { .. });
            if is_named { Ok(model) } else { model.with_names(columns, name) }
        }
        Learnt::Array { rows, names, remarks } => {
            remarks.iter().try_for_each(|text| engine.tell(&Event::Warning { text }))?;
            let whole = beside.whole();
            let (targets, weights) = match &whole {
                Some((targets, weights)) => (targets.view(), Some(weights.as_slice())),
                None => (targets, weights),
            };
            let model = fit(engine, Placed::Array(&Arrays::new(rows, targets, weights, meaning)?))?;
            match names {
                Some(names) => model.with_names(Columns::numbers(names), name),
                None => Ok(model),
            }
        }
    };
    Ok(Model { inner: job.run(py, fitted)? })
}

/// The exception that users expect.
fn stopped(stopped: Stopped) -> PyErr {
    let Stopped { text, error } = stopped;
    error.map_or_else(|| PyValueError::new_err(text.clone()), |error| to_python_as(error, text.clone()))
}

fn labels_of((kind, texts): (String, Vec<String>)) -> PyResult<Labels> {
    Ok(Labels::new(label_kind(&kind)?, texts))
}

fn label_kind(name: &str) -> PyResult<LabelKind> {
    match name {
        "integer" => Ok(LabelKind::Integer),
        "number" => Ok(LabelKind::Number),
        "boolean" => Ok(LabelKind::Boolean),
        "text" => Ok(LabelKind::Text),
        other => {
            Err(PyValueError::new_err(format!("expected integer, number, boolean or text, found {other}")))
        }
    }
}

fn label_kind_name(kind: LabelKind) -> &'static str {
    match kind {
        LabelKind::Integer => "integer",
        LabelKind::Number => "number",
        LabelKind::Boolean => "boolean",
        LabelKind::Text => "text",
    }
}

/// Why a solver stopped, in a word.
fn why(stop: Stop) -> &'static str {
    match stop {
        Stop::Gap => "gap",
        Stop::Gain => "gain",
        Stop::Steps => "steps",
        Stop::Residual => "residual",
        Stop::Stagnation => "stagnation",
    }
}

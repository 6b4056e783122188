//! Kernels as texts: their exact values, what they become, and how much a promise takes.

use bochner::certify::{self, Kept};
use bochner::json::Json;
use bochner::kernel::definiteness;
use bochner::map::Region;
use bochner::{
    AnyRows, Engine, Error, FourierForm, FrequencyDraw, Kernel, MapSpec, Matrix, Method, Projection, Result,
    Rows, Scalar,
};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::error::to_python;
use crate::job::Job;
use crate::rows::{AnyTable, empty, view};

/// A kernel from its text, with columns by number where the names of all columns are given.
pub(crate) fn kernel_of(text: &str, columns: Option<&[String]>) -> PyResult<Kernel> {
    let kernel: Kernel = text.parse().map_err(to_python)?;
    match columns {
        Some(names) => kernel.bind(names).map_err(to_python),
        None => Ok(kernel),
    }
}

/// The text of a kernel as the library prints it; raises where it cannot be read.
#[pyfunction]
#[pyo3(signature = (text, columns=None))]
pub(crate) fn canonical_kernel(text: &str, columns: Option<Vec<String>>) -> PyResult<String> {
    Ok(kernel_of(text, columns.as_deref())?.to_string())
}

/// The columns of text that a kernel compares; none for a name without a width.
#[pyfunction]
pub(crate) fn texts_of(text: &str) -> Vec<String> {
    text.parse::<Kernel>().map_or_else(|_| Vec::new(), |kernel| kernel.texts())
}

/// k(xᵢ, yⱼ) for all pairs, in the precision of the rows; none for y means x.
#[pyfunction]
#[pyo3(signature = (kernel, x, y, threads))]
pub(crate) fn gram<'py>(
    py: Python<'py>,
    kernel: &str,
    x: AnyTable<'py>,
    y: Option<AnyTable<'py>>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let kernel = kernel_of(kernel, None)?;
    let (x, y) = (x.rows()?, y.as_ref().map(AnyTable::rows).transpose()?);
    match (x, y.unwrap_or(x)) {
        (AnyRows::F64(x), AnyRows::F64(y)) => {
            Ok(pairs(py, &kernel, &x, &y, threads, Kernel::gram_into)?.into_any())
        }
        (AnyRows::F32(x), AnyRows::F32(y)) => {
            Ok(pairs(py, &kernel, &x, &y, threads, Kernel::gram_into)?.into_any())
        }
        _ => Err(two_precisions()),
    }
}

/// ‖φ(xᵢ) − φ(yⱼ)‖ for all pairs, in double precision; none for y means x.
#[pyfunction]
#[pyo3(signature = (kernel, x, y, threads))]
pub(crate) fn distances<'py>(
    py: Python<'py>,
    kernel: &str,
    x: AnyTable<'py>,
    y: Option<AnyTable<'py>>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let kernel = kernel_of(kernel, None)?;
    let (x, y) = (x.rows()?, y.as_ref().map(AnyTable::rows).transpose()?);
    match (x, y.unwrap_or(x)) {
        (AnyRows::F64(x), AnyRows::F64(y)) => pairs(py, &kernel, &x, &y, threads, Kernel::distances_into),
        (AnyRows::F32(x), AnyRows::F32(y)) => pairs(py, &kernel, &x, &y, threads, Kernel::distances_into),
        _ => Err(two_precisions()),
    }
}

fn two_precisions() -> PyErr {
    PyTypeError::new_err("expected x and y of one precision, found float32 and float64")
}

/// What fills a matrix with values of all pairs.
type Fill<T, V> = fn(&Kernel, &Engine, &Rows<'_, T>, &Rows<'_, T>, &mut [V]) -> Result<()>;

/// A matrix with a row for each of `x` and a column for each of `y`.
fn pairs<'py, T: Scalar, V: Element + Send>(
    py: Python<'py>,
    kernel: &Kernel,
    x: &Rows<'_, T>,
    y: &Rows<'_, T>,
    threads: usize,
    fill: Fill<T, V>,
) -> PyResult<Bound<'py, PyArray2<V>>> {
    let (count, columns) = (x.count(), y.count());
    if x.columns() != y.columns() {
        return Err(to_python(Error::ColumnCount { expected: x.columns(), found: y.columns() }));
    }
    let job = Job::for_rows(threads, count);
    let size = (count as u64).saturating_mul((columns * size_of::<V>()) as u64);
    let what = || format!("a matrix of {count} × {columns} kernel values");
    job.engine().check_memory(what, size).map_err(to_python)?;
    let out = empty::<V>(py, count, columns)?;
    {
        let mut memory = out.try_readwrite()?;
        let memory = memory.as_slice_mut()?;
        job.run(py, |engine: &Engine| {
            x.check_finite(0)?;
            y.check_finite(0)?;
            fill(kernel, engine, x, y, memory)
        })?;
    }
    Ok(out)
}

/// k(xᵢ, xᵢ) for all rows.
#[pyfunction]
pub(crate) fn diagonal<'py>(
    py: Python<'py>,
    kernel: &str,
    x: AnyTable<'py>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    fn of<T: Scalar>(engine: &Engine, kernel: &Kernel, rows: &Rows<'_, T>) -> Result<Vec<f64>> {
        rows.check_finite(0)?;
        // A matrix without columns asks for all that a whole one would.
        kernel.gram(engine, rows, &rows.slice(0..0))?;
        Ok(kernel.diagonal(rows))
    }
    let kernel = kernel_of(kernel, None)?;
    let rows = x.rows()?;
    let values = Job::for_rows(1, rows.count()).run(py, |engine| match rows {
        AnyRows::F32(rows) => of(engine, &kernel, &rows),
        AnyRows::F64(rows) => of(engine, &kernel, &rows),
    })?;
    Ok(PyArray1::from_vec(py, values))
}

/// What the compiler makes of a kernel for rows of so many columns: the tree of choices, for people.
///
/// None for columns means as many as the kernel speaks of, or ten.
#[pyfunction]
#[pyo3(signature = (kernel, columns, features, bins=None))]
pub(crate) fn explain(
    kernel: &str,
    columns: Option<usize>,
    features: usize,
    bins: Option<usize>,
) -> PyResult<String> {
    let kernel = kernel_of(kernel, None)?;
    let columns = columns.or_else(|| kernel.columns_named()).unwrap_or(10);
    let spec = MapSpec { kernel, method: Method::Compiled { bins }, features, seed: 0 };
    spec.check_for(columns).map_err(to_python)?;
    let recipe = spec.recipe(columns).map_err(to_python)?;
    Ok(recipe.map_or_else(String::new, |recipe| recipe.to_string().trim_end().to_owned()))
}

/// Smallest and largest eigenvalue, combination, whether it holds, the same in words.
type Found<'py> = (f64, f64, Bound<'py, PyArray1<f64>>, bool, String);

/// What can be said of a symmetric matrix.
#[pyfunction]
pub(crate) fn check_gram<'py>(py: Python<'py>, matrix: PyReadonlyArray2<'py, f64>) -> PyResult<Found<'py>> {
    let matrix: Matrix<f64> = view(&matrix)?.to_matrix();
    let found = Job::new(0, 0).run(py, |engine| definiteness(engine, &matrix))?;
    let (holds, text) = (found.holds(), found.to_string());
    Ok((found.smallest, found.largest, PyArray1::from_vec(py, found.combination), holds, text))
}

/// Fourier features for an error of at most `epsilon` on all pairs of `points` points.
#[pyfunction]
pub(crate) fn features_for(
    kernel: &str,
    form: &str,
    points: u64,
    epsilon: f64,
    delta: f64,
) -> PyResult<usize> {
    certify::features_for(&kernel_of(kernel, None)?, form_of(form)?, points, epsilon, delta)
        .map_err(to_python)
}

fn form_of(form: &str) -> PyResult<FourierForm> {
    match form {
        "pairs" => Ok(FourierForm::Pairs),
        "offset" => Ok(FourierForm::Offset),
        other => Err(PyValueError::new_err(format!("expected pairs or offset, found {other}"))),
    }
}

/// The usual draw of so many Fourier features of rows with so many columns, in the words of the model file.
#[pyfunction]
pub(crate) fn auto_draw(kernel: &str, columns: usize, features: usize, form: &str) -> PyResult<String> {
    let frequencies = form_of(form)?.frequencies(features);
    Ok(FrequencyDraw::auto(&kernel_of(kernel, None)?, columns, frequencies).name().to_owned())
}

/// Fitted grids for the same.
#[pyfunction]
pub(crate) fn grids_for(kernel: &str, points: u64, epsilon: f64, delta: f64) -> PyResult<usize> {
    certify::grids_for(&kernel_of(kernel, None)?, points, epsilon, delta).map_err(to_python)
}

/// Fourier pairs for the squared kernel distance of one pair to within a part `epsilon` of itself.
#[pyfunction]
pub(crate) fn features_for_distance(kernel: &str, epsilon: f64, delta: f64) -> PyResult<usize> {
    certify::features_for_distance(&kernel_of(kernel, None)?, epsilon, delta).map_err(to_python)
}

/// Landmarks that keep a margin.
#[pyfunction]
pub(crate) fn landmarks_for_margin(margin: f64, epsilon: f64, delta: f64) -> PyResult<usize> {
    certify::landmarks_for_margin(margin, epsilon, delta).map_err(to_python)
}

/// Outputs of a projection (JSON) of so many columns with which all pairs of points are kept within epsilon with probability 1 − delta.
#[pyfunction]
pub(crate) fn dimension_for(
    projection: &str,
    kept: &str,
    points: u64,
    columns: usize,
    epsilon: f64,
    delta: f64,
) -> PyResult<usize> {
    let (how, kept) = asked(projection, kept)?;
    certify::dimension_for(how, kept, (points, columns), epsilon, delta).map_err(to_python)
}

/// How far all pairs of points may be off after a projection (JSON) to so many outputs, with probability 1 − delta.
#[pyfunction]
pub(crate) fn epsilon_for(
    projection: &str,
    kept: &str,
    points: u64,
    columns: usize,
    dimension: usize,
    delta: f64,
) -> PyResult<f64> {
    let (how, kept) = asked(projection, kept)?;
    certify::epsilon_for(how, kept, (points, columns), dimension, delta).map_err(to_python)
}

/// A projection and what it is to keep.
fn asked(projection: &str, kept: &str) -> PyResult<(Projection, Kept)> {
    let how = Projection::from_json(projection).map_err(|error| PyValueError::new_err(error.to_string()))?;
    match kept {
        "distances" => Ok((how, Kept::Distances)),
        "inner_products" => Ok((how, Kept::InnerProducts)),
        other => {
            let text = format!("expected kept to be distances or inner_products, found {other}");
            Err(PyValueError::new_err(text))
        }
    }
}

/// The lemma of Johnson and Lindenstrauss with its usual constant.
#[pyfunction]
pub(crate) fn johnson_lindenstrauss(points: u64, epsilon: f64, delta: f64) -> PyResult<usize> {
    certify::johnson_lindenstrauss(points, epsilon, delta).map_err(to_python)
}

/// Outputs with which a projection keeps half of a margin.
#[pyfunction]
pub(crate) fn margin_dimension(margin: f64, epsilon: f64, delta: f64) -> PyResult<usize> {
    certify::margin_dimension(margin, epsilon, delta).map_err(to_python)
}

/// A kind, the centre or the normal, the radius or the offset.
type RegionParts<'py> = (&'static str, Option<Bound<'py, PyArray1<f64>>>, Option<f64>);

/// What a separator of (x, ‖x‖²) is.
#[pyfunction]
pub(crate) fn region_of<'py>(
    py: Python<'py>,
    weights: PyReadonlyArray1<'py, f64>,
    intercept: f64,
) -> PyResult<RegionParts<'py>> {
    let region = Region::of_separator(weights.as_slice()?, intercept).map_err(to_python)?;
    let (kind, vector, number) = match region {
        Region::Ball { centre, radius } => ("ball", Some(centre), Some(radius)),
        Region::Outside { centre, radius } => ("outside", Some(centre), Some(radius)),
        Region::HalfSpace { normal, offset } => ("half-space", Some(normal), Some(offset)),
        Region::Empty => ("empty", None, None),
        Region::Everything => ("everything", None, None),
    };
    Ok((kind, vector.map(|vector| PyArray1::from_vec(py, vector)), number))
}

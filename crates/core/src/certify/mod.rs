//! What we promise: a bound before, the measured error after.
//!
//! ```text
//! bound      with probability ≥ 1 − δ, |z(x)·z(y) − k(x, y)| ≤ ε for all pairs of N given points        Fourier
//!            |z(x)·z(y) − k(x, y)| ≤ √(r(x)·r(y)),  r(x) = k(x, x) − ‖z(x)‖²                            landmarks
//!            |z(x)·z(y) − x·y| ≤ ε·‖x‖‖y‖ for all pairs, with probability ≥ 1 − δ                       projections
//! measured   mean of |z(x)·z(y) − k(x, y)| over pairs of rows, with an empirical Bernstein interval
//! ```
//! Every model carries both. `docs/book/certificate.md` derives the constants.

mod adaptive;
mod bound;
pub(crate) mod conformal;
mod expression;
mod measured;
mod needed;
mod projection;
mod sketch;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use adaptive::Adapted;
pub use bound::Bound;
pub use measured::Measured;
pub use needed::{
    features_for, features_for_distance, features_for_domain, fourier_variance, grids_for,
    landmarks_for_margin,
};
pub use projection::{
    Kept, dimension_for, epsilon_for, inner_mean, inner_variance, johnson_lindenstrauss, length_interval,
    margin_dimension,
};
pub use sketch::sketch_variance;

use crate::engine::Check;
use crate::stat::Sample;
use crate::{Bins, Csr, Engine, FourierForm, Kernel, Map, MapSpec, Matrix, Method, OwnedRows, Result, Rows};

/// Rows that a certificate is measured on, at most.
pub const SAMPLE: usize = 8192;

/// Rows to sample for a map: those to measure on, fewer if they are wide, and the landmarks, which do not count as measured.
pub fn capacity(spec: &MapSpec, columns: usize) -> usize {
    rows_measured(columns).saturating_add(landmarks(spec, columns))
}

/// Rows of any sample but those that a map is made of: fewer of long rows.
pub(crate) fn rows_measured(columns: usize) -> usize {
    ((1 << 22) / columns.max(1)).clamp(512, SAMPLE)
}

/// Rows of the sample that the map is made of.
fn landmarks(spec: &MapSpec, columns: usize) -> usize {
    if let Method::Landmarks { choice, .. } = spec.method {
        choice.candidates(spec.features, columns)
    } else {
        0
    }
}

/// Chance that a statement of the certificate fails.
pub const DELTA: f64 = 0.05;

/// How far a map's inner products are from the kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// What holds by theory.
    pub bound: Bound,
    /// What was found on rows of the data; none where there is nothing to compare.
    pub measured: Option<Measured>,
}

impl Certificate {
    /// Certifies a map on a sample of the rows it will be used for.
    pub fn measure(engine: &Engine, map: &Map, sample: &Sample) -> Result<Certificate> {
        if matches!(map.spec().method, Method::Exact) {
            return Ok(Certificate { bound: Bound::Exact, measured: None });
        }
        engine.phase("certificate", sample.population(), |check| {
            let rows = Probe::new(engine, map, sample);
            let bound = Bound::of(&rows, sample.population(), &|done| check(done / 2.0))?;
            let measured = if matches!(bound, Bound::NoApproximation | Bound::Exact) {
                None
            } else {
                Measured::of(&rows, &|done| check((1.0 + done) / 2.0))?
            };
            Ok(Certificate { bound, measured })
        })
    }
}

/// The rows that a map is tried on. Their features are made in pieces: all at once they could outgrow the fit itself.
pub(crate) struct Probe<'a> {
    engine: &'a Engine,
    map: &'a Map,
    rows: OwnedRows<f64>,
    /// The first of the rows to look at: landmarks are no test of themselves.
    first: usize,
    /// The sample is all of the data's distinct rows.
    whole: bool,
}

/// Rows mapped at once.
const PIECE: usize = 512;

/// Multiply-adds to spend on the features of the rows, and rows at least.
const WORK: f64 = 4e9;
const LEAST: usize = 1024;

/// Rows to measure a map on where there are more than enough: fewer of landmarks that are whitened, D²/2 multiply-adds a row in double precision, which would otherwise take longer than the fit.
pub(crate) fn measured_rows(spec: &MapSpec, columns: usize, features: usize) -> usize {
    let (columns, features) = (columns as f64, features as f64);
    let a_row = match spec.method {
        Method::Landmarks { whiten: true, .. } => features * (columns + features / 2.0),
        _ => return SAMPLE,
    };
    ((WORK / a_row) as usize).clamp(LEAST, SAMPLE)
}

impl Probe<'_> {
    fn new<'a>(engine: &'a Engine, map: &'a Map, sample: &Sample) -> Probe<'a> {
        let whole = sample.is_whole();
        let landmarks = if whole { 0 } else { landmarks(map.spec(), map.input_dim()) };
        let first = if sample.len() >= landmarks + 2 { landmarks } else { 0 };
        let most = if whole { SAMPLE } else { measured_rows(map.spec(), map.input_dim(), map.output_dim()) };
        Probe { engine, map, rows: sample.rows(first + most), first, whole }
    }

    fn count(&self) -> usize {
        self.rows.view().count() - self.first
    }

    /// Calls `look` with some rows, given by number, and their features, piece by piece.
    fn look(
        &self,
        numbers: &[usize],
        check: Check<'_>,
        mut look: impl FnMut(&[usize], &Features),
    ) -> Result<()> {
        let total = numbers.len() as f64;
        for (piece, numbers) in numbers.chunks(PIECE).enumerate() {
            check((piece * PIECE) as f64 / total)?;
            let rows = self.chosen(numbers);
            look(numbers, &Features::of(self.engine, self.map, &rows.view())?);
        }
        Ok(())
    }

    /// Some rows, dense, so that how they are stored changes no bit. A sparse projection does not mind, and its rows may be too wide to be dense.
    fn chosen(&self, numbers: &[usize]) -> OwnedRows<f64> {
        let view = self.rows.view();
        if let (Rows::Sparse(_), Some(_)) = (&view, self.map.sparse_projection()) {
            let mut sparse = Csr::empty(view.columns());
            numbers.iter().for_each(|&number| sparse.push_row(view.entries(self.first + number)));
            return OwnedRows::Sparse(sparse);
        }
        let mut dense = Matrix::zeros(numbers.len(), view.columns());
        for (i, &number) in numbers.iter().enumerate() {
            view.densify(self.first + number, dense.row_mut(i));
        }
        OwnedRows::Dense(dense)
    }

    /// k of two rows, exactly.
    fn exact(&self, i: usize, j: usize) -> f64 {
        let view = self.rows.view();
        self.map.spec().kernel.eval(&view, self.first + i, &view, self.first + j)
    }

    /// The sides of the smallest box that holds the rows.
    fn sides(&self) -> Vec<f64> {
        let view = self.rows.view();
        let mut row = vec![0.0; view.columns()];
        let (mut low, mut high) = (vec![f64::INFINITY; row.len()], vec![f64::NEG_INFINITY; row.len()]);
        for i in 0..view.count() {
            view.densify(i, &mut row);
            for (j, &x) in row.iter().enumerate() {
                (low[j], high[j]) = (low[j].min(x), high[j].max(x));
            }
        }
        low.iter().zip(&high).map(|(low, high)| (high - low).max(0.0)).collect()
    }

    /// The largest value that a function of a row takes.
    fn largest(&self, of: impl Fn(&Rows<'_, f64>, usize) -> f64) -> f64 {
        let view = self.rows.view();
        (self.first..view.count()).map(|i| of(&view, i)).fold(0.0, f64::max)
    }

    /// Errors lie between 0 and this: |k̂| is at most the product of the lengths of features. Where lengths vary, the largest of the rows looked at counts, and what is said of the mean
    /// is said of rows no longer than those.
    fn range(&self) -> Result<f64> {
        let largest = self.largest_diagonal();
        Ok(match self.map.spec().method {
            // |k̂| ≤ k(0) for pairs, 2k(0) for offsets, and so for hashed bins; k̂ ≥ 0 for fitted ones, but for those with waves.
            Method::Fourier { form: FourierForm::Pairs, .. } => 2.0 * largest,
            Method::Fourier { form: FourierForm::Offset, .. } => 3.0 * largest,
            Method::Binning { bins: Bins::Hashed { .. } } => 2.0 * largest,
            Method::Binning { bins: Bins::Fitted } => {
                let law = self.map.spec().kernel.grid_law(self.map.input_dim());
                if law.is_some_and(|law| law.waves.is_some()) { 2.0 * largest } else { largest }
            }
            // The error is at most max k(x, x).
            Method::Landmarks { .. } => largest,
            Method::Exact
            | Method::Compiled { .. }
            | Method::Taylor { .. }
            | Method::Sketch { .. }
            | Method::Projection { .. } => {
                let mut longest = 0.0f64;
                let all: Vec<usize> = (0..self.count()).collect();
                self.look(&all, &|_| Ok(()), |numbers, features| {
                    longest = (0..numbers.len()).map(|i| features.dot(i, i)).fold(longest, f64::max);
                })?;
                longest + largest
            }
        })
    }

    /// The largest k(x, x).
    fn largest_diagonal(&self) -> f64 {
        let kernel = &self.map.spec().kernel;
        kernel.constant_diagonal().unwrap_or_else(|| self.largest(|view, i| kernel.eval(view, i, view, i)))
    }
}

/// Features of a few rows, with or without their zeros.
pub(crate) enum Features {
    Dense(Matrix<f64>),
    Sparse(Csr<f64>),
}

impl Features {
    fn of(engine: &Engine, map: &Map, rows: &Rows<'_, f64>) -> Result<Features> {
        if map.spec().is_sparse() {
            return map.sparse_features(engine, rows).map(Features::Sparse);
        }
        let mut features = Matrix::zeros(rows.count(), map.output_dim());
        map.apply_in_parallel(engine, rows, features.as_mut_slice(), false);
        Ok(Features::Dense(features))
    }

    /// z(x)·z(y) of rows i and j.
    fn dot(&self, i: usize, j: usize) -> f64 {
        match self {
            Features::Dense(z) => z.row(i).iter().zip(z.row(j)).map(|(a, b)| a * b).sum(),
            Features::Sparse(z) => {
                let rows = Rows::from(z);
                Kernel::Linear.eval(&rows, i, &rows, j)
            }
        }
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel error: {}", self.bound)?;
        match &self.measured {
            Some(measured) => write!(f, "; {measured}"),
            None => Ok(()),
        }
    }
}

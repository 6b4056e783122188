//! Kernel → features.
//!
//! ```text
//! z : ℝᵈ → ℝᴰ   with   z(x)·z(y) ≈ k(x, y)
//! ```
//! A [`MapSpec`] says which map, as plain data; a [`Map`] is ready to be applied. Maps that draw their features from
//! the kernel alone are built: an expression is compiled to a [`Recipe`], the tree of choices, and that to a tree of parts, one file per kind. Those that look at
//! rows, landmarks and fitted bins, are fitted to a sample.

mod binning;
mod build;
mod combination;
mod compile;
mod domain;
mod exact;
mod explain;
mod fourier;
mod gradient;
mod hinge;
mod homogeneous;
mod landmarks;
mod lookup;
mod monomial;
mod object;
mod packed;
mod part;
mod positive;
mod projection;
mod region;
mod sign;
mod sketch;
mod spec;

pub use compile::{How, Recipe};
pub use landmarks::Choice;
pub use object::ObjectMap;
pub use packed::{Family, PerPrecision, Slots};
pub use projection::{Nonzeros, Overlap, Projection};
pub use region::Region;
pub use sketch::Sketch;
pub use spec::{Bins, FourierForm, FrequencyDraw, MapSpec, Method};

pub(crate) use binning::{Binning, Grids};
pub(crate) use combination::Combinations;
pub(crate) use fourier::Fourier;
pub(crate) use homogeneous::Homogeneous;
pub(crate) use landmarks::Landmarks;
pub(crate) use packed::Packed;
pub(crate) use part::Part;

use crate::engine::UNASKED;
use crate::matrix::is_wide;
use crate::{Csr, Engine, Error, Matrix, OwnedRows, Result, Rows, Scalar};

/// Rows that a thread maps at once: as many as share one read of the map.
const CHUNK: usize = 64;

/// A map, ready to be applied.
#[derive(Clone, Debug)]
pub struct Map {
    spec: MapSpec,
    input_dim: usize,
    output_dim: usize,
    state: State,
}

/// What a map holds beyond its spec.
#[derive(Clone, Debug)]
pub(crate) enum State {
    /// From the spec alone.
    Part(Box<Part>),
    Landmarks(Box<Landmarks>),
    Binning(Box<Binning>),
}

impl Map {
    /// What it was made from.
    pub fn spec(&self) -> &MapSpec {
        &self.spec
    }

    /// Columns of the rows, d.
    pub fn input_dim(&self) -> usize {
        self.input_dim
    }

    /// Real features, D.
    pub fn output_dim(&self) -> usize {
        self.output_dim
    }

    /// The landmarks, one a row, in the order of the features; none for maps without.
    pub fn landmarks(&self) -> Option<&Matrix<f64>> {
        match &self.state {
            State::Landmarks(landmarks) => Some(landmarks.rows()),
            _ => None,
        }
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// A map with fitted state that was read from a file, shapes already checked.
    pub(crate) fn from_landmarks(spec: MapSpec, landmarks: Landmarks) -> Map {
        let (input_dim, output_dim) = (landmarks.input_dim(), landmarks.output_dim());
        Map { spec, input_dim, output_dim, state: State::Landmarks(Box::new(landmarks)) }
    }

    /// As [`Map::from_landmarks`], for bins.
    pub(crate) fn from_binning(spec: MapSpec, binning: Binning) -> Map {
        let (input_dim, output_dim) = (binning.input_dim(), binning.output_dim());
        Map { spec, input_dim, output_dim, state: State::Binning(Box::new(binning)) }
    }

    /// Features of `rows`, row i at `out[i·D..]`.
    ///
    /// The door is [`Map::transform`] or a sweep: rows here have the map's columns, are finite, and `out` has their size.
    pub(crate) fn apply<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>, out: &mut [T]) {
        self.apply_to(engine, rows, out, false);
    }

    /// `stream` says that the features are not read again soon.
    fn apply_to<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>, out: &mut [T], stream: bool) {
        match &self.state {
            State::Part(part) => part.apply(engine, rows, out, self.output_dim, stream),
            State::Landmarks(landmarks) => landmarks.apply(engine, &self.spec.kernel, rows, out),
            State::Binning(binning) => binning.apply(engine, rows, out, self.output_dim.max(1)),
        }
    }

    /// W, if features are those of landmarks, whitened: z = Wᵀk.
    pub(crate) fn whitening(&self) -> Option<&Matrix<f64>> {
        if let State::Landmarks(landmarks) = &self.state { landmarks.whitening() } else { None }
    }

    /// The same landmarks before they are whitened.
    pub(crate) fn plain(&self) -> Option<Map> {
        let (State::Landmarks(landmarks), Method::Landmarks { tolerance, choice, .. }) =
            (&self.state, self.spec.method)
        else {
            return None;
        };
        landmarks.whitening()?;
        let spec =
            MapSpec { method: Method::Landmarks { whiten: false, tolerance, choice }, ..self.spec.clone() };
        let state = State::Landmarks(Box::new(Landmarks::new(landmarks.rows().clone(), None)));
        Some(Map { spec, state, ..*self })
    }

    /// As [`Map::apply_in_parallel`], asking every now and then whether to go on: a block of rows takes seconds where features are many. What has been stopped is of no use.
    pub(crate) fn apply_until<T: Scalar>(
        &self,
        engine: &Engine,
        rows: &Rows<'_, T>,
        out: &mut [T],
        stream: bool,
        check: impl Fn() -> Result<()>,
    ) -> Result<()> {
        /// Chunks of each thread, so that none waits for the others.
        const SHARE: usize = 4;
        // U⁻¹ is triangular.
        let whitened = if self.whitening().is_some() { self.output_dim / 2 } else { 0 };
        let a_row = self.output_dim.saturating_mul(self.input_dim + whitened).max(1);
        let shared = SHARE * CHUNK * engine.threads();
        let step = (UNASKED / a_row).max(shared).next_multiple_of(CHUNK);
        for start in (0..rows.count()).step_by(step) {
            let end = rows.count().min(start + step);
            let out = &mut out[start * self.output_dim..end * self.output_dim];
            self.apply_in_parallel(engine, &rows.slice(start..end), out, stream);
            check()?;
        }
        Ok(())
    }

    /// As [`Map::apply`], shared by the threads.
    pub(crate) fn apply_in_parallel<T: Scalar>(
        &self,
        engine: &Engine,
        rows: &Rows<'_, T>,
        out: &mut [T],
        stream: bool,
    ) {
        engine.for_each_chunk(out, CHUNK * self.output_dim, &|i, out| {
            let range = i * CHUNK..rows.count().min((i + 1) * CHUNK);
            self.apply_to(engine, &rows.slice(range), out, stream);
        });
    }

    /// Features of all rows.
    #[inline(never)]
    pub fn transform<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>) -> Result<Matrix<T>> {
        let size = (rows.count() as u64).saturating_mul((self.output_dim * size_of::<T>()) as u64);
        engine
            .check_memory(|| format!("a matrix of {} × {} features", rows.count(), self.output_dim), size)?;
        let mut out = Matrix::zeros(rows.count(), self.output_dim);
        self.transform_into(engine, rows, out.as_mut_slice())?;
        Ok(out)
    }

    /// Features of all rows without their zeros: for random binning, sparse projections and products of columns.
    #[inline(never)]
    pub fn transform_sparse<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>) -> Result<Csr<T>> {
        if !self.has_sparse() {
            return Err(self.spec.not_sparse());
        }
        self.check_rows(rows)?;
        let most = self.most_entries(rows);
        let size = most.saturating_mul((4 + size_of::<T>()) as u64);
        engine
            .check_memory(|| format!("{most} features of {} rows", rows.count()), size.saturating_mul(2))?;
        self.sparse_features(engine, rows)
    }

    /// Whether [`Map::transform_sparse`] has features for rows.
    pub fn has_sparse(&self) -> bool {
        match &self.state {
            State::Part(part) => part.has_sparse(),
            State::Binning(_) => true,
            State::Landmarks(_) => false,
        }
    }

    /// Features of rows that are not zero, at most.
    fn most_entries<T: Scalar>(&self, rows: &Rows<'_, T>) -> u64 {
        match &self.state {
            State::Part(part) => part.most_entries(rows),
            State::Binning(binning) => {
                (rows.count() as u64).saturating_mul((self.spec.features * binning.outputs()) as u64)
            }
            State::Landmarks(_) => u64::MAX,
        }
    }

    /// As [`Map::transform_sparse`], of rows as [`Map::apply`] wants them.
    pub(crate) fn sparse_features<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>) -> Result<Csr<T>> {
        match &self.state {
            State::Binning(binning) => Ok(binning.apply_sparse(engine, rows)),
            State::Part(part) if part.has_sparse() => Ok(part.apply_sparse(engine, rows)),
            _ => Err(self.spec.not_sparse()),
        }
    }

    /// Phases of rows in turns, one for each pair of features; none for other maps than pairs of Fourier features.
    pub(crate) fn turns(&self, engine: &Engine, rows: &Rows<'_, f64>) -> Option<Matrix<f64>> {
        match &self.state {
            State::Part(part) => match &**part {
                Part::Fourier(fourier) if fourier.is_paired() => Some(fourier.turns(engine, rows)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The sparse matrix that rows are projected with; none for other maps.
    pub(crate) fn sparse_projection(&self) -> Option<&projection::Sparse> {
        match &self.state {
            State::Part(part) => match &**part {
                Part::Projection(projection::Projector::Sparse(sparse)) => Some(sparse),
                _ => None,
            },
            _ => None,
        }
    }

    /// How many rows two columns of a sparse projection share at worst, block by block; none for other maps.
    pub fn worst_overlap(&self) -> Option<Overlap> {
        self.sparse_projection().map(projection::Sparse::worst_overlap)
    }

    /// Rows have the map's columns, are finite, and the kernel has a value for them.
    fn check_rows<T: Scalar>(&self, rows: &Rows<'_, T>) -> Result<()> {
        if rows.columns() != self.input_dim {
            return Err(Error::ColumnCount { expected: self.input_dim, found: rows.columns() });
        }
        rows.check_finite(0)?;
        self.spec.check_rows(rows, 0)
    }

    /// Features of all rows, written to memory of the caller's, row after row.
    #[inline(never)]
    pub fn transform_into<T: Scalar>(
        &self,
        engine: &Engine,
        rows: &Rows<'_, T>,
        out: &mut [T],
    ) -> Result<()> {
        self.check_rows(rows)?;
        let expected = rows.count().saturating_mul(self.output_dim);
        if out.len() != expected {
            return Err(Error::Length { what: "features to write", expected, found: out.len() });
        }
        /// Rows between two reports.
        const STEP: usize = 4 * crate::sweep::BLOCK;
        for start in (0..rows.count()).step_by(STEP) {
            let end = rows.count().min(start + STEP);
            let out = &mut out[start * self.output_dim..end * self.output_dim];
            let check = || engine.tell(&crate::Event::Alive);
            self.apply_until(engine, &rows.slice(start..end), out, true, check)?;
            let fraction = Some(end as f64 / rows.count() as f64);
            engine.tell(&crate::Event::Progress { phase: "features", rows: end as u64, fraction })?;
        }
        Ok(())
    }
}

/// Rows with some columns only, each multiplied with a factor; none if they are so already. No factors are ones.
pub(crate) fn prepared<T: Scalar>(
    rows: &Rows<'_, T>,
    columns: Option<&[usize]>,
    factors: &[f64],
) -> Option<OwnedRows<T>> {
    let factor = |at: usize| factors.get(at).copied().unwrap_or(1.0);
    match (columns, rows) {
        (Some(columns), Rows::Sparse(_)) if is_wide(columns.len()) => {
            let chosen = rows.chosen(columns);
            prepared(&chosen.view(), None, factors).or(Some(chosen))
        }
        (Some(columns), _) => {
            Some(OwnedRows::Dense(Matrix::from_fn(rows.count(), columns.len(), |i, at| {
                T::from_f64(factor(at) * rows.entry(i, columns[at]))
            })))
        }
        (None, _) if factors.is_empty() => None,
        (None, Rows::Dense(dense)) => {
            let scaled = |i: usize, j: usize| T::from_f64(factor(j) * dense.row(i)[j].to_f64());
            Some(OwnedRows::Dense(Matrix::from_fn(rows.count(), rows.columns(), scaled)))
        }
        (None, Rows::Sparse(_)) => {
            let mut scaled = Csr::empty(rows.columns());
            for i in 0..rows.count() {
                scaled.push_row(
                    rows.entries(i).map(|(j, x)| (j, T::from_f64(factor(j as usize) * x.to_f64()))),
                );
            }
            Some(OwnedRows::Sparse(scaled))
        }
    }
}

//! Kernel → features.
//!
//! ```text
//! z : ℝᵈ → ℝᴰ   with   z(x)·z(y) ≈ k(x, y)
//! ```
//! A [`MapSpec`] says which map, as plain data; a [`Map`] is ready to be applied. Maps that draw their features from
//! the kernel alone are built; those that look at rows are fitted to a sample. One file per map.

mod binning;
mod exact;
mod fourier;
mod landmarks;
mod lookup;
mod packed;

use serde::{Deserialize, Serialize};

pub use packed::Packed;

pub(crate) use binning::{Binning, Grids};
pub(crate) use fourier::Fourier;
pub(crate) use landmarks::Landmarks;

use crate::certify::{Certificate, capacity};
use crate::engine::Check;
use crate::plan::available_memory;
use crate::source::{Arrays, Batch, Source, Target};
use crate::stat::{CellSets, Sample};
use crate::sweep::sweep;
use crate::{AnyRows, Csr, Engine, Error, Kernel, Matrix, MatrixView, Result, Rows, Scalar};

/// Which map, as plain data: kernel, method, size, seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapSpec {
    /// What similarity means.
    pub kernel: Kernel,
    /// How features are made of it.
    pub method: Method,
    /// D: real output features asked for. Landmarks may give fewer (their rank), the exact map gives its own number; for binning, the
    /// number of grids, which is that of the features of a row that are not zero.
    pub features: usize,
    /// Of all chance in the map.
    pub seed: u64,
}

/// How features are made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Method {
    /// The kernel's own finite features: the rows themselves for the linear kernel.
    Exact,
    /// Random Fourier features, for shift-invariant kernels.
    Fourier {
        /// Pairs or offsets.
        form: FourierForm,
        /// How frequencies are drawn.
        draw: FrequencyDraw,
    },
    /// Kernel values at landmarks, for any kernel.
    Landmarks {
        /// Whitened (Nyström): inner products approximate the kernel. Otherwise the plain values.
        whiten: bool,
        /// A landmark is left out when what the others miss of it is at most this part of the largest k(x, x).
        tolerance: f64,
    },
    /// Random binning, for products of mixtures of hats: sparse features.
    Binning {
        /// What a cell of a grid becomes.
        bins: Bins,
    },
}

/// What a cell of a random grid becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Bins {
    /// A feature of its own, if a row was seen in it.
    Fitted,
    /// One of `width` slots of its grid, with a sign, whether or not a row was seen in it.
    Hashed {
        /// Slots of each grid.
        width: usize,
    },
}

/// The two ways to make real features of a frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FourierForm {
    /// (cos ω·x, sin ω·x): two features a frequency, lower variance for the Gaussian at every distance.
    Pairs,
    /// √2·cos(ω·x + b): one feature a frequency.
    Offset,
}

/// How frequencies are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrequencyDraw {
    /// Independently.
    Independent,
    /// Orthogonal within blocks of d, for isotropic laws.
    Orthogonal,
}

impl Method {
    /// Whitened landmarks that keep what single precision can resolve.
    pub const LANDMARKS: Method = Method::Landmarks { whiten: true, tolerance: 1e-7 };

    /// The usual one for a kernel: exact if it has one, landmarks for hats, else Fourier features: orthogonal if the kernel is isotropic, in pairs if
    /// their number is even.
    pub fn auto(kernel: Kernel, features: usize) -> Method {
        let draw = match kernel {
            Kernel::Linear => return Method::Exact,
            Kernel::Gaussian { .. } => FrequencyDraw::Orthogonal,
            Kernel::Laplace { .. } => FrequencyDraw::Independent,
            Kernel::Hat { .. } => return Method::LANDMARKS,
        };
        let form = if features.is_multiple_of(2) { FourierForm::Pairs } else { FourierForm::Offset };
        Method::Fourier { form, draw }
    }
}

impl MapSpec {
    /// The number of features where nothing else is said.
    pub const FEATURES: usize = 2048;

    /// The usual map of a kernel.
    pub fn auto(kernel: Kernel) -> Self {
        let method = Method::auto(kernel, Self::FEATURES);
        MapSpec { kernel, method, features: Self::FEATURES, seed: 0 }
    }

    /// Independent Fourier pairs.
    pub fn fourier(kernel: Kernel) -> Self {
        let method = Method::Fourier { form: FourierForm::Pairs, draw: FrequencyDraw::Independent };
        MapSpec { kernel, method, features: Self::FEATURES, seed: 0 }
    }

    /// Whitened landmarks.
    pub fn landmarks(kernel: Kernel) -> Self {
        MapSpec { kernel, method: Method::LANDMARKS, features: Self::FEATURES / 2, seed: 0 }
    }

    /// Whether the map looks at rows, so that it is fitted and not built.
    pub fn needs_sample(&self) -> bool {
        matches!(self.method, Method::Landmarks { .. } | Method::Binning { bins: Bins::Fitted })
    }

    /// Whether most features of a row are zero.
    pub fn is_sparse(&self) -> bool {
        matches!(self.method, Method::Binning { .. })
    }

    /// Everything that can be said without rows is in order.
    pub fn validate(&self) -> Result<()> {
        self.kernel.validate()?;
        if self.features == 0 {
            return Err(Error::Parameter { name: "features", expected: "at least 1", found: "0".to_owned() });
        }
        match self.method {
            Method::Exact => exact::validate(&self.kernel),
            Method::Fourier { form, draw } => fourier::validate(&self.kernel, form, draw, self.features),
            Method::Landmarks { tolerance, .. } => landmarks::validate(tolerance),
            Method::Binning { bins } => binning::validate(&self.kernel, bins, self.features),
        }
    }

    /// A map of rows with `input_dim` columns, from the seed alone.
    pub fn build(&self, input_dim: usize) -> Result<Map> {
        self.build_with(input_dim, available_memory().unwrap_or(u64::MAX), &|_| Ok(()))
    }

    fn build_with(&self, input_dim: usize, limit: u64, check: Check<'_>) -> Result<Map> {
        self.check(input_dim, limit)?;
        match self.method {
            Method::Exact => Ok(self.map(input_dim, input_dim, State::Exact)),
            Method::Fourier { form, draw } => {
                let fourier = Fourier::build(self, form, draw, input_dim, check)?;
                Ok(self.map(input_dim, self.features, State::Fourier(fourier)))
            }
            Method::Landmarks { .. } => Err(Error::Unsupported {
                what: "building a landmark map from a seed".to_owned(),
                reason: "landmarks are rows of the data",
                instead: "fit it to a sample",
            }),
            Method::Binning { bins: Bins::Hashed { width } } => {
                let binning = Binning::hashed(Grids::draw(self, input_dim, check)?, width);
                Ok(Map::from_binning(self.clone(), binning))
            }
            Method::Binning { bins: Bins::Fitted } => Err(Error::Unsupported {
                what: "building a map with fitted bins from a seed".to_owned(),
                reason: "its bins are the cells that rows were seen in",
                instead: "fit it to rows, or hash the bins",
            }),
        }
    }

    /// A map fitted to a sample of rows; where the map does not look at rows, the same as [`MapSpec::build`].
    pub fn fit(&self, engine: &Engine, sample: &Sample) -> Result<Map> {
        engine.phase("map", sample.population(), |check| {
            if let Method::Binning { bins: Bins::Fitted } = self.method {
                if !sample.is_whole() {
                    return Err(Error::Unsupported {
                        what: "fitting bins to a part of the rows".to_owned(),
                        reason: "the other rows would lie in cells that count as empty",
                        instead: "fit to the source with fit_to",
                    });
                }
                self.check(sample.columns(), engine.memory_limit())?;
                let grids = Grids::draw(self, sample.columns(), check)?;
                let mut cells = CellSets::zero(grids.count());
                let mut hashes = vec![0; sample.len() * grids.count()];
                cells.absorb_rows(&grids, &sample.rows(sample.len()).view(), &mut hashes, |_| true);
                return self.with_bins(grids, &cells);
            }
            let Method::Landmarks { whiten, tolerance } = self.method else {
                return self.build_with(sample.columns(), engine.memory_limit(), check);
            };
            // No more landmarks than distinct rows.
            let possible = MapSpec { features: self.features.min(sample.len().max(1)), ..self.clone() };
            possible.check(sample.columns(), engine.memory_limit())?;
            let landmarks = Landmarks::fit(self.kernel, whiten, tolerance, sample, possible.features, check)?;
            Ok(self.map(sample.columns(), landmarks.output_dim(), State::Landmarks(landmarks)))
        })
    }

    /// A map fitted to a source of which a sample was taken: what is fitted to all rows makes one more pass.
    pub fn fit_to(&self, engine: &Engine, source: &dyn Source, sample: &Sample) -> Result<Map> {
        match self.method {
            Method::Binning { bins: Bins::Fitted } => self.fit_bins(engine, source, sample, CellSets::absorb),
            _ => self.fit(engine, sample),
        }
    }

    fn fit_bins(
        &self,
        engine: &Engine,
        source: &dyn Source,
        sample: &Sample,
        mut absorb: impl FnMut(&mut CellSets, &Grids, &Batch<'_>) + Send,
    ) -> Result<Map> {
        self.check(source.input_dim(), engine.memory_limit())?;
        let draw = |check: Check<'_>| Grids::draw(self, source.input_dim(), check);
        let grids = engine.phase("map", sample.population(), draw)?;
        let zero = || CellSets::zero(grids.count());
        let cells = sweep(engine, source, "bins", zero, |cells, batch| absorb(cells, &grids, batch))?;
        self.with_bins(grids, &cells)
    }

    fn with_bins(&self, grids: Grids, cells: &CellSets) -> Result<Map> {
        Ok(Map::from_binning(self.clone(), Binning::fitted(grids, cells)?))
    }

    /// A map for the rows of a source, and how far it is from the kernel on them: one pass.
    pub fn fit_certified(&self, engine: &Engine, source: &dyn Source) -> Result<(Map, Certificate)> {
        // Landmarks may turn out fewer than asked for; all else is known before the pass.
        if self.needs_sample() {
            self.validate()?
        } else {
            self.check(source.input_dim(), engine.memory_limit())?
        }
        let sample = Sample::of(engine, source, capacity(self, source.input_dim()), self.seed)?;
        let map = self.fit_to(engine, source, &sample)?;
        let certificate = Certificate::measure(engine, &map, &sample)?;
        Ok((map, certificate))
    }

    /// What [`MapSpec::fit_certified`] makes of rows, and what [`Map::transform_sparse`] then makes of the same rows.
    ///
    /// The cells of rows that bins are fitted to are found once, where memory has room for them beside the bins.
    pub fn fit_transform_sparse<'a, T: Scalar>(
        &self,
        engine: &Engine,
        rows: &Rows<'a, T>,
    ) -> Result<(Map, Certificate, Csr<T>)>
    where
        AnyRows<'a>: From<Rows<'a, T>>,
    {
        self.validate()?;
        if !self.is_sparse() {
            return Err(self.not_sparse());
        }
        let (n, count) = (rows.count(), self.features);
        let none = MatrixView::new(&[], n, 0)?;
        let source = Arrays::new(*rows, none, None, Target::Numbers { outputs: 0 })?;
        let room = engine.memory_limit() >= (n as u64).saturating_mul(self.fitting_bytes::<T>());
        if !room || !self.needs_sample() {
            let (map, certificate) = self.fit_certified(engine, &source)?;
            let features = map.transform_sparse(engine, rows)?;
            return Ok((map, certificate, features));
        }
        let sample = Sample::of(engine, &source, capacity(self, source.input_dim()), self.seed)?;
        let mut hashes = vec![0; n * count];
        let map = self.fit_bins(engine, &source, &sample, |cells, grids, batch| {
            let start = batch.first_row as usize * count;
            cells.absorb_keeping(grids, batch, &mut hashes[start..][..batch.rows.count() * count]);
        })?;
        let certificate = Certificate::measure(engine, &map, &sample)?;
        let State::Binning(binning) = &map.state else { return Err(self.not_sparse()) };
        let features = engine.install(|| binning.named(hashes, |_, _| ()));
        Ok((map, certificate, features))
    }

    /// Bytes for each row while bins are fitted to it and its features stay: as many as if it had all its cells to itself.
    fn fitting_bytes<T>(&self) -> u64 {
        /// A hash in a set that has just grown, in a sorted list, and its place in a lookup.
        const CELL: usize = 12 + 4 + 8;
        (self.features as u64).saturating_mul((CELL + 4 + size_of::<T>()) as u64)
    }

    fn not_sparse(&self) -> Error {
        Error::Unsupported {
            what: format!("sparse features of {}", self.kernel),
            reason: "features of this map are hardly ever zero",
            instead: "use transform",
        }
    }

    fn map(&self, input_dim: usize, output_dim: usize, state: State) -> Map {
        Map { spec: self.clone(), input_dim, output_dim, state }
    }

    /// Parameters, shape and memory, before anything large is made.
    pub(crate) fn check(&self, input_dim: usize, limit: u64) -> Result<()> {
        self.validate()?;
        if input_dim == 0 {
            return Err(Error::NoColumns);
        }
        let needed = self.bytes(input_dim);
        if needed > limit {
            let what = format!("a map of {input_dim} columns to {} features", self.features);
            return Err(Error::Memory { what, needed, limit });
        }
        Ok(())
    }

    /// D of the map that will be made; at most that for landmarks, at least that for fitted bins.
    pub fn output_dim(&self, input_dim: usize) -> usize {
        match self.method {
            Method::Exact => input_dim,
            Method::Binning { bins: Bins::Hashed { width } } => self.features.saturating_mul(width),
            _ => self.features,
        }
    }

    /// Bytes while a map is made.
    pub(crate) fn bytes(&self, input_dim: usize) -> u64 {
        let factor = match self.method {
            // Orthogonal frequencies keep their reflections while they are drawn.
            Method::Fourier { draw: FrequencyDraw::Orthogonal, .. } => 1.4,
            // The Gram matrix and its factor stand beside the inverse while it is made.
            Method::Landmarks { whiten: true, .. } => 1.5,
            _ => 1.0,
        };
        (self.bytes_kept(input_dim) as f64 * factor) as u64
    }

    /// Bytes of a map in memory, packed for both precisions.
    pub(crate) fn bytes_kept(&self, input_dim: usize) -> u64 {
        let (d, features) = (input_dim as f64, self.features as f64);
        let entries = match self.method {
            Method::Exact => 0.0,
            Method::Fourier { form: FourierForm::Pairs, .. } => d * features / 2.0,
            Method::Fourier { form: FourierForm::Offset, .. } => d * features,
            Method::Landmarks { whiten, .. } => d * features + if whiten { features * features } else { 0.0 },
            // Inverse pitches, shifts and factors; bins are as many as the rows have cells.
            Method::Binning { .. } => d * features,
        };
        (entries * (8.0 + 8.0 + 4.0)) as u64
    }
}

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
    Exact,
    Fourier(Fourier),
    Landmarks(Landmarks),
    Binning(Binning),
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
        Map { spec, input_dim, output_dim, state: State::Landmarks(landmarks) }
    }

    /// As [`Map::from_landmarks`], for bins.
    pub(crate) fn from_binning(spec: MapSpec, binning: Binning) -> Map {
        let (input_dim, output_dim) = (binning.input_dim(), binning.output_dim());
        Map { spec, input_dim, output_dim, state: State::Binning(binning) }
    }

    /// Features of `rows`, row i at `out[i·D..]`.
    ///
    /// The door is [`Map::transform`] or a sweep: rows here have the map's columns, are finite, and `out` has their size.
    pub(crate) fn apply<T: Scalar>(&self, rows: &Rows<'_, T>, out: &mut [T]) {
        self.apply_to(rows, out, false);
    }

    /// `stream` says that the features are not read again soon.
    fn apply_to<T: Scalar>(&self, rows: &Rows<'_, T>, out: &mut [T], stream: bool) {
        match &self.state {
            State::Exact => exact::apply(rows, out),
            State::Fourier(fourier) => fourier.apply(rows, out, stream),
            State::Landmarks(landmarks) => landmarks.apply(self.spec.kernel, rows, out),
            State::Binning(binning) => binning.apply(rows, out),
        }
    }

    /// As [`Map::apply`], shared by the threads of the current pool.
    pub(crate) fn apply_in_parallel<T: Scalar>(&self, rows: &Rows<'_, T>, out: &mut [T], stream: bool) {
        use rayon::prelude::*;
        /// Rows handled at once: as many as share one read of the map.
        const CHUNK: usize = 64;
        out.par_chunks_mut(CHUNK * self.output_dim).enumerate().for_each(|(i, out)| {
            let range = i * CHUNK..rows.count().min((i + 1) * CHUNK);
            self.apply_to(&rows.slice(range), out, stream);
        });
    }

    /// Features of all rows.
    pub fn transform<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>) -> Result<Matrix<T>> {
        let size = (rows.count() as u64).saturating_mul((self.output_dim * size_of::<T>()) as u64);
        engine
            .check_memory(|| format!("a matrix of {} × {} features", rows.count(), self.output_dim), size)?;
        let mut out = Matrix::zeros(rows.count(), self.output_dim);
        self.transform_into(engine, rows, out.as_mut_slice())?;
        Ok(out)
    }

    /// Features of all rows without their zeros: for maps whose features are sparse.
    pub fn transform_sparse<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>) -> Result<Csr<T>> {
        let State::Binning(binning) = &self.state else { return Err(self.spec.not_sparse()) };
        self.check_rows(rows)?;
        let size = (rows.count() as u64).saturating_mul((self.spec.features * (4 + size_of::<T>())) as u64);
        engine.check_memory(|| format!("{} × {} features", rows.count(), self.spec.features), 2 * size)?;
        Ok(engine.install(|| binning.apply_sparse(rows)))
    }

    /// As [`Map::transform_sparse`], on the threads of the current pool and with rows as [`Map::apply`] wants them.
    pub(crate) fn sparse_features<T: Scalar>(&self, rows: &Rows<'_, T>) -> Result<Csr<T>> {
        match &self.state {
            State::Binning(binning) => Ok(binning.apply_sparse(rows)),
            _ => Err(self.spec.not_sparse()),
        }
    }

    /// Rows have the map's columns and are finite.
    fn check_rows<T: Scalar>(&self, rows: &Rows<'_, T>) -> Result<()> {
        if rows.columns() != self.input_dim {
            return Err(Error::ColumnCount { expected: self.input_dim, found: rows.columns() });
        }
        rows.check_finite(0)
    }

    /// Features of all rows, written to memory of the caller's, row after row.
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
        /// Rows between two looks at the observer.
        const STEP: usize = 4 * crate::sweep::BLOCK;
        for start in (0..rows.count()).step_by(STEP) {
            let end = rows.count().min(start + STEP);
            let out = &mut out[start * self.output_dim..end * self.output_dim];
            engine.install(|| self.apply_in_parallel(&rows.slice(start..end), out, true));
            let fraction = Some(end as f64 / rows.count() as f64);
            engine.tell(&crate::Event::Progress { phase: "features", rows: end as u64, fraction })?;
        }
        Ok(())
    }
}

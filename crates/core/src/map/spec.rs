//! Which map, as plain data, and how one is made of it.

use serde::{Deserialize, Serialize};

use super::build::Builder;
use super::compile::{Compiler, How, Recipe};
use super::landmarks::{self, Choice};
use super::monomial::Monomials;
use super::sketch::Sketch;
use super::{Binning, Grids, Landmarks, Map, Nonzeros, Projection, State, binning, fourier};
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
    /// The kernel's own finite features: the rows themselves for the linear kernel, monomials for a polynomial, and what the algebra makes of such.
    Exact,
    /// What [compiling](crate::map::Recipe) the expression gives: any kernel.
    Compiled {
        /// Slots of each grid, where laplace and hat become hashed bins; none for Fourier features.
        bins: Option<usize>,
    },
    /// The Gaussian's series, cut: explicit features without chance, for few columns and small ‖x‖/σ.
    Taylor {
        /// The last degree that is kept.
        degree: u32,
    },
    /// Random Fourier features, for shift-invariant kernels.
    Fourier {
        /// Pairs or offsets.
        form: FourierForm,
        /// How frequencies are drawn.
        draw: FrequencyDraw,
    },
    /// A sketch, for polynomial kernels.
    Sketch {
        /// Which one.
        sketch: Sketch,
    },
    /// Kernel values at landmarks, for any kernel.
    Landmarks {
        /// Whitened (Nyström): inner products approximate the kernel. Otherwise the plain values.
        whiten: bool,
        /// A landmark is left out when what the others miss of it is at most this part of the largest k(x, x).
        tolerance: f64,
        /// How they are chosen.
        #[serde(default, skip_serializing_if = "Choice::is_usual")]
        choice: Choice,
    },
    /// Random binning, for products of mixtures of hats: sparse features.
    Binning {
        /// What a cell of a grid becomes.
        bins: Bins,
    },
    /// A random projection of the rows, for the linear kernel: fewer columns, inner products and distances nearly kept.
    Projection {
        /// Which.
        how: Projection,
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
    /// From a scrambled Halton sequence: more even than chance, for few columns.
    Quasi,
    /// One rotation for many blocks, and signs and a Walsh–Hadamard transform for each, for isotropic laws of 17 columns or more: nearly as close as orthogonal ones (`docs/book/fourier.md`), and faster where there are many.
    Turned,
    /// Signs and Walsh–Hadamard transforms in place of a matrix, for isotropic laws of 33 columns or more: faster, and biased by less than 4e-4.
    Structured,
}

impl FrequencyDraw {
    /// Its word in the model file.
    pub fn name(self) -> &'static str {
        match self {
            FrequencyDraw::Independent => "independent",
            FrequencyDraw::Orthogonal => "orthogonal",
            FrequencyDraw::Quasi => "quasi",
            FrequencyDraw::Turned => "turned",
            FrequencyDraw::Structured => "structured",
        }
    }

    /// Whether it takes a law without preferred directions.
    pub fn needs_isotropy(self) -> bool {
        matches!(self, FrequencyDraw::Orthogonal | FrequencyDraw::Turned | FrequencyDraw::Structured)
    }

    /// What [`FrequencyDraw`] to take for so many frequencies of dense rows with so many columns: for isotropic laws orthogonal ones, or turned ones where these are faster;
    /// independent ones for all others, and where those would take tens of seconds to draw. ([`Method::auto`] does not know the columns, and never takes turned ones.)
    pub fn auto(kernel: &Kernel, columns: usize, frequencies: usize) -> FrequencyDraw {
        let spectrum = kernel.spectrum();
        match spectrum.as_ref().and_then(|spectrum| spectrum.law.isotropic()) {
            Some((mixing, place)) => fourier::auto_draw(mixing, place.len(columns), frequencies),
            None => FrequencyDraw::Independent,
        }
    }
}

impl FourierForm {
    /// Pairs where the number of features is even.
    pub fn of(features: usize) -> FourierForm {
        if features.is_multiple_of(2) { FourierForm::Pairs } else { FourierForm::Offset }
    }

    /// Frequencies of so many features.
    pub fn frequencies(self, features: usize) -> usize {
        if self == FourierForm::Pairs { features / 2 } else { features }
    }
}

impl Method {
    /// Whitened landmarks, chosen uniformly, that keep what single precision can resolve.
    pub const LANDMARKS: Method =
        Method::Landmarks { whiten: true, tolerance: 1e-7, choice: Choice::Uniform };

    /// The usual one for a kernel: Fourier features where it is shift-invariant (orthogonal if it is isotropic too, in pairs if their number is even), landmarks for hats, the
    /// exact map of a linear one, and what the compiler makes of all others.
    pub fn auto(kernel: &Kernel, features: usize) -> Method {
        let form = FourierForm::of(features);
        match (kernel, kernel.spectrum()) {
            (Kernel::Linear | Kernel::Bilinear { .. }, _) => Method::Exact,
            (Kernel::Hat { .. }, _) => Method::LANDMARKS,
            (Kernel::Sum { .. } | Kernel::Scaled { .. } | Kernel::Constant, _) | (_, None) => {
                Method::Compiled { bins: None }
            }
            (_, Some(spectrum)) if spectrum.law.isotropic().is_some() => {
                Method::Fourier { form, draw: FrequencyDraw::Orthogonal }
            }
            _ => Method::Fourier { form, draw: FrequencyDraw::Independent },
        }
    }
}

impl MapSpec {
    /// The number of features where nothing else is said.
    pub const FEATURES: usize = 2048;

    /// The usual map of a kernel.
    pub fn auto(kernel: Kernel) -> Self {
        let method = Method::auto(&kernel, Self::FEATURES);
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

    /// Whether rows are their own features.
    pub(crate) fn is_identity(&self) -> bool {
        self.method == Method::Exact && self.kernel == Kernel::Linear
    }

    /// Whether features are kept without their zeros by what learns from them: those of random binning, and of feature hashing (a sparse projection with one entry a column), where
    /// a row has no more features than entries. Other sparse projections fill a row of features soon, and are dense unless [`Map::transform_sparse`] is asked for.
    pub fn is_sparse(&self) -> bool {
        let hashing = Nonzeros::Count { count: 1 };
        match self.method {
            Method::Binning { .. } => true,
            Method::Projection { how: Projection::Sparse { nonzeros, .. } } => nonzeros == hashing,
            _ => false,
        }
    }

    /// Whether features can be had without their zeros.
    fn has_sparse(&self) -> bool {
        self.is_sparse() || matches!(self.method, Method::Projection { how: Projection::Sparse { .. } })
    }

    /// Features that are not zero of so many rows, at most, where they are kept without zeros: `stored` entries of the rows, if these are sparse.
    pub(crate) fn sparse_entries(&self, rows: u64, stored: Option<u64>) -> u64 {
        let all = rows.saturating_mul(self.features as u64);
        match (self.method, stored) {
            (Method::Projection { .. }, Some(stored)) => stored.min(all),
            _ => all,
        }
    }

    /// Everything that can be said without rows is in order.
    pub fn validate(&self) -> Result<()> {
        self.kernel.validate()?;
        if self.features == 0 {
            return Err(Error::Parameter { name: "features", expected: "at least 1", found: "0".to_owned() });
        }
        match self.method {
            // Whether there is a map depends on the number of columns too.
            Method::Exact => Ok(()),
            Method::Compiled { bins: Some(0) } => {
                Err(Error::Parameter { name: "bins", expected: "at least 1", found: "0".to_owned() })
            }
            Method::Compiled { .. } => Ok(()),
            Method::Taylor { degree } => match self.kernel {
                Kernel::Gaussian { .. } if degree <= 64 => Ok(()),
                Kernel::Gaussian { .. } => Err(Error::Parameter {
                    name: "degree",
                    expected: "at most 64",
                    found: degree.to_string(),
                }),
                _ => Err(Error::Unsupported {
                    what: format!("a Taylor map of {}", self.kernel),
                    reason: "it is the series of the Gaussian",
                    instead: "use a compiled map or landmarks",
                }),
            },
            Method::Fourier { form, draw } => fourier::validate(&self.kernel, form, draw, self.features),
            Method::Sketch { sketch } => sketch.validate(&self.kernel, self.features),
            Method::Landmarks { tolerance, .. } => landmarks::validate(tolerance),
            Method::Binning { bins } => binning::validate(&self.kernel, bins, self.features),
            Method::Projection { how } => how.validate(&self.kernel, self.features),
        }
    }

    /// [`MapSpec::validate`], and there is such a map for rows of so many columns.
    pub fn check_for(&self, input_dim: usize) -> Result<()> {
        self.validate()?;
        if input_dim == 0 {
            return Err(Error::NoColumns);
        }
        self.recipe(input_dim).map(|_| ())
    }

    /// What is made of the kernel for rows of so many columns: the tree of choices. None for landmarks and fitted bins, which are made of rows.
    pub fn recipe(&self, input_dim: usize) -> Result<Option<Recipe>> {
        self.kernel.check(input_dim)?;
        let whole = |how, features| Some(Recipe { kernel: self.kernel.clone(), how, features });
        let compiler = |bins| Compiler { columns: input_dim, bins };
        Ok(match self.method {
            Method::Exact => Some(compiler(None).exact(&self.kernel)?),
            Method::Compiled { bins } => Some(compiler(bins).compile(&self.kernel, self.features)?),
            Method::Taylor { degree } => {
                whole(How::Taylor { degree }, Monomials::count(input_dim + 1, degree))
            }
            Method::Fourier { form, draw } => whole(How::Fourier { form, draw }, self.features),
            Method::Sketch { sketch } => whole(How::Sketch { sketch }, self.features),
            Method::Projection { how } => whole(How::Projection { how }, self.features),
            Method::Landmarks { .. } | Method::Binning { .. } => None,
        })
    }

    /// A map of rows with `input_dim` columns, from the seed alone.
    pub fn build(&self, input_dim: usize) -> Result<Map> {
        self.build_on(&Engine::single_thread(), input_dim)
    }

    /// The same, drawn by the threads of an engine.
    pub(crate) fn build_on(&self, engine: &Engine, input_dim: usize) -> Result<Map> {
        self.build_within(engine, input_dim, available_memory().unwrap_or(u64::MAX), &|_| Ok(()))
    }

    fn build_within(&self, engine: &Engine, input_dim: usize, limit: u64, check: Check<'_>) -> Result<Map> {
        self.check(input_dim, limit)?;
        if let Some(recipe) = self.recipe(input_dim)? {
            let part = Builder::new(engine, input_dim, self.seed, check).part(&recipe)?;
            debug_assert_eq!(part.output_dim(), recipe.features, "{recipe}");
            return Ok(self.map(input_dim, recipe.features, State::Part(Box::new(part))));
        }
        match self.method {
            Method::Binning { bins: Bins::Hashed { width } } => {
                let binning = Binning::hashed(self.grids(engine, input_dim, check)?, width);
                Ok(Map::from_binning(self.clone(), binning))
            }
            Method::Binning { bins: Bins::Fitted } => Err(Error::Unsupported {
                what: "building a map with fitted bins from a seed".to_owned(),
                reason: "its bins are the cells that rows were seen in",
                instead: "fit it to rows, or hash the bins",
            }),
            _ => Err(Error::Unsupported {
                what: "building a landmark map from a seed".to_owned(),
                reason: "landmarks are rows of the data",
                instead: "fit it to a sample",
            }),
        }
    }

    /// The grids of a binning map.
    pub(crate) fn grids(&self, engine: &Engine, input_dim: usize, check: Check<'_>) -> Result<Grids> {
        match self.kernel.grid_law(input_dim) {
            Some(law) => Grids::draw(engine, &law, self.features, self.seed, input_dim, check),
            None => Err(Error::NoColumns), // refused by `validate`
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
                let grids = self.grids(engine, sample.columns(), check)?;
                let mut cells = CellSets::zero(grids.count());
                let mut hashes = vec![0; sample.len() * grids.count()];
                cells.absorb_rows(engine, &grids, &sample.rows(sample.len()).view(), &mut hashes, &|_| true);
                return self.with_bins(grids, &cells);
            }
            let Method::Landmarks { whiten, tolerance, choice } = self.method else {
                return self.build_within(engine, sample.columns(), engine.memory_limit(), check);
            };
            // No more landmarks than distinct rows.
            let possible = MapSpec { features: self.features.min(sample.len().max(1)), ..self.clone() };
            possible.check(sample.columns(), engine.memory_limit())?;
            let rows = landmarks::choose(engine, &possible, choice, sample, check)?;
            let landmarks = Landmarks::at(engine, &self.kernel, whiten.then_some(tolerance), rows, check)?;
            Ok(self.map(sample.columns(), landmarks.output_dim(), State::Landmarks(Box::new(landmarks))))
        })
    }

    /// A map fitted to a source of which a sample was taken: what is fitted to all rows makes one more pass.
    pub fn fit_to(&self, engine: &Engine, source: &dyn Source, sample: &Sample) -> Result<Map> {
        match self.method {
            Method::Binning { bins: Bins::Fitted } => {
                let absorb = |cells: &mut CellSets, grids: &Grids, batch: &Batch<'_>| {
                    cells.absorb(engine, grids, batch)
                };
                self.fit_bins(engine, source, sample, absorb)
            }
            _ => self.fit(engine, sample),
        }
    }

    /// A landmark map with these rows as landmarks, whatever the choice.
    pub fn fit_at(&self, engine: &Engine, rows: &Rows<'_, f64>) -> Result<Map> {
        let Method::Landmarks { whiten, tolerance, .. } = self.method else {
            return Err(Error::Unsupported {
                what: format!("a {:?} map with landmarks", self.method),
                reason: "it has none",
                instead: "use the method of landmarks",
            });
        };
        let spec = MapSpec {
            features: rows.count().max(1),
            method: Method::Landmarks { whiten, tolerance, choice: Choice::Given },
            ..self.clone()
        };
        spec.check(rows.columns(), engine.memory_limit())?;
        if rows.count() == 0 {
            return Err(Error::NoRows);
        }
        rows.check_finite(0)?;
        self.kernel.check_rows(rows, 0)?;
        engine.phase("map", rows.count() as u64, |check| {
            let mut dense = Matrix::zeros(rows.count(), rows.columns());
            (0..rows.count()).for_each(|i| rows.densify(i, dense.row_mut(i)));
            let landmarks = Landmarks::at(engine, &spec.kernel, whiten.then_some(tolerance), dense, check)?;
            Ok(spec.map(rows.columns(), landmarks.output_dim(), State::Landmarks(Box::new(landmarks))))
        })
    }

    fn fit_bins(
        &self,
        engine: &Engine,
        source: &dyn Source,
        sample: &Sample,
        mut absorb: impl FnMut(&mut CellSets, &Grids, &Batch<'_>) + Send,
    ) -> Result<Map> {
        self.check(source.input_dim(), engine.memory_limit())?;
        let draw = |check: Check<'_>| self.grids(engine, source.input_dim(), check);
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
        self.check_source(engine, source)?;
        let sample = Sample::of(engine, source, capacity(self, source.input_dim()), self.seed)?;
        let map = self.fit_to(engine, source, &sample)?;
        let certificate = Certificate::measure(engine, &map, &sample)?;
        Ok((map, certificate))
    }

    /// What [`MapSpec::fit_certified`] makes of rows, and what [`Map::transform_sparse`] then makes of the same rows.
    ///
    /// The cells of rows that bins are fitted to are found once, where memory has room for them beside the bins.
    #[inline(never)]
    pub fn fit_transform_sparse<'a, T: Scalar>(
        &self,
        engine: &Engine,
        rows: &Rows<'a, T>,
    ) -> Result<(Map, Certificate, Csr<T>)>
    where
        AnyRows<'a>: From<Rows<'a, T>>,
    {
        self.validate()?;
        if !self.has_sparse() {
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
            cells.absorb_keeping(engine, grids, batch, &mut hashes[start..][..batch.rows.count() * count]);
        })?;
        let certificate = Certificate::measure(engine, &map, &sample)?;
        let State::Binning(binning) = &map.state else { return Err(self.not_sparse()) };
        let features = binning.with_waves(engine, binning.named(engine, hashes, &|_, _| ()), rows);
        Ok((map, certificate, features))
    }

    /// Bytes for each row while bins are fitted to it and its features stay: as many as if it had all its cells to itself.
    fn fitting_bytes<T>(&self) -> u64 {
        /// A hash in a set that has just grown, in a sorted list, and its place in a lookup.
        const CELL: usize = 12 + 4 + 8;
        (self.features as u64).saturating_mul((CELL + 4 + size_of::<T>()) as u64)
    }

    pub(super) fn not_sparse(&self) -> Error {
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
        self.check_for(input_dim)?;
        let needed = self.bytes(input_dim);
        if needed > limit || needed == u64::MAX {
            let what = format!("a map of {input_dim} columns to {} features", self.features);
            return Err(Error::Memory { what, needed, limit });
        }
        Ok(())
    }

    /// D of the map that will be made; at most that for landmarks, at least that for fitted bins.
    pub fn output_dim(&self, input_dim: usize) -> usize {
        let recipe = || self.recipe(input_dim).ok().flatten();
        match self.method {
            Method::Exact | Method::Compiled { .. } | Method::Taylor { .. } => {
                recipe().map_or(self.features, |recipe| recipe.features)
            }
            Method::Binning { bins: Bins::Hashed { width } } => {
                let outputs = self.kernel.grid_law(input_dim).map_or(1, |law| law.outputs());
                self.features.saturating_mul(width).saturating_mul(outputs)
            }
            _ => self.features,
        }
    }

    /// Bytes while a map is made.
    pub(crate) fn bytes(&self, input_dim: usize) -> u64 {
        let factor = match self.method {
            // Orthogonal frequencies keep their reflections while they are drawn.
            Method::Fourier { draw: FrequencyDraw::Orthogonal | FrequencyDraw::Turned, .. }
            | Method::Projection { how: Projection::Orthonormal }
            | Method::Compiled { .. } => 1.4,
            // The Gram matrix and its factor stand beside the inverse while it is made.
            Method::Landmarks { whiten: true, .. } => 1.5,
            _ => 1.0,
        };
        let candidates = match self.method {
            // Their rows, and their kernel values with the landmarks, once as they are and once as a factor.
            Method::Landmarks { choice, .. } if choice != Choice::Uniform && choice != Choice::Given => {
                let count = choice.candidates(self.features, input_dim) as f64;
                8.0 * count * (input_dim as f64 + 2.0 * self.features as f64)
            }
            _ => 0.0,
        };
        (self.bytes_kept(input_dim) as f64 * factor + candidates) as u64
    }

    /// Bytes of a map in memory, packed for both precisions.
    pub(crate) fn bytes_kept(&self, input_dim: usize) -> u64 {
        let (d, features) = (input_dim as f64, self.features as f64);
        let entries = match self.method {
            Method::Exact
            | Method::Compiled { .. }
            | Method::Taylor { .. }
            | Method::Fourier { .. }
            | Method::Sketch { .. }
            | Method::Projection { .. } => {
                self.recipe(input_dim).ok().flatten().map_or(0.0, |recipe| recipe.entries(input_dim))
            }
            Method::Landmarks { whiten, .. } => d * features + if whiten { features * features } else { 0.0 },
            // Inverse pitches, shifts and factors; bins are as many as the rows have cells.
            Method::Binning { .. } => d * features,
        };
        (entries * (8.0 + 8.0 + 4.0)) as u64
    }
}

//! From rows as they are to a model, with everything chosen that was not given.
//!
//! ```text
//! pass 1   column means and deviations, a sample of rows
//!          standardise; width of the kernel on the sample
//! pass 2   features and their sums;  λ by cross-validation
//! ```

use std::str::FromStr;

use super::{Bandwidth, Family, Linear, Ridge, Solver};
use crate::certify::{Certificate, capacity};
use crate::encode::{Columns, Declared, Encoder, Precision, Scaled, Scaling, inputs};
use crate::matrix::with_rows;
use crate::plan::Cost;
use crate::source::Source;
use crate::stat::{Moments, Sample};
use crate::sweep::{BLOCK, sweep};
use crate::table::ColumnInfo;
use crate::{Engine, Error, Event, Kernel, Lambda, Loss, Map, MapSpec, Method, Model, Result};

/// A kernel, or the family in which to find one.
#[derive(Clone, Debug, PartialEq)]
pub enum KernelChoice {
    /// This one.
    Given(Kernel),
    /// The width is chosen by cross-validation around the median distance.
    Tuned(Family),
}

/// The name of a family alone asks for a width; anything else is a kernel.
impl FromStr for KernelChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.trim() {
            "gaussian" => Ok(KernelChoice::Tuned(Family::Gaussian)),
            "laplace" => Ok(KernelChoice::Tuned(Family::Laplace)),
            text => text.parse().map(KernelChoice::Given),
        }
    }
}

/// A fit with everything chosen from the data that is not given.
#[derive(Clone, Debug, PartialEq)]
pub struct Auto {
    /// The kernel.
    pub kernel: KernelChoice,
    /// The method; none for [`Method::auto`].
    pub method: Option<Method>,
    /// D; none for 2,048, or the number of distinct rows where that is less; 256 grids for binning.
    pub features: Option<usize>,
    /// What is minimised.
    pub loss: Loss,
    /// Of all chance.
    pub seed: u64,
    /// How λ is found.
    pub lambda: Lambda,
    /// Precision of the features; none for that of the rows.
    pub precision: Option<Precision>,
    /// Whether columns are brought to mean 0 and deviation 1 first (sparse ones to deviation 1).
    pub standardise: bool,
    /// What may be left to gain, as a part of the objective, where steps are made; none for the learner's own.
    pub tolerance: Option<f64>,
    /// How the equations of squares are solved.
    pub solver: Solver,
}

impl Default for Auto {
    fn default() -> Self {
        Auto {
            kernel: KernelChoice::Tuned(Family::Gaussian),
            method: None,
            features: None,
            loss: Loss::Squares,
            seed: 0,
            lambda: Lambda::CrossValidated { folds: 5 },
            precision: None,
            standardise: true,
            tolerance: None,
            solver: Solver::Auto,
        }
    }
}

impl Auto {
    /// Fits to all rows of the source.
    pub fn fit(&self, engine: &Engine, source: &dyn Source) -> Result<Model> {
        self.fit_from(engine, source, None)
    }

    /// The same, from the coefficients of another model on where its features are the same; else, with a warning, from nothing. Squares have no use for a start.
    pub fn fit_from(&self, engine: &Engine, source: &dyn Source, start: Option<&Model>) -> Result<Model> {
        self.check(engine, source)?;
        let (scaling, sample) = self.look(engine, source)?;
        let kernel = match &self.kernel {
            KernelChoice::Given(kernel) => kernel.clone(),
            KernelChoice::Tuned(family) => {
                Bandwidth::default().choose(engine, *family, &sample, self.seed)?
            }
        };
        let learner = self.learner(kernel, default_features(self.most_features(), &sample));
        let precision = self.precision(source);
        match scaling {
            None if precision.bytes() == source.scalar_bytes() => {
                learner.fit_with(engine, source, &sample, start)
            }
            None => learner.fit_with(engine, &self.rounded(source), &sample, start),
            Some(scaling) => {
                let model = learner.fit_with(
                    engine,
                    &Scaled::new(source, scaling.clone(), precision),
                    &sample,
                    start,
                )?;
                Ok(model.with_encoder(Encoder::identity(source.input_dim()).with_scaling(scaling)))
            }
        }
    }

    /// The map alone, which looks at no target, with how rows are scaled for it and how far it is from the kernel. D is [`MapSpec::FEATURES`] where it is not given.
    ///
    /// One pass; one more where bins are fitted, and where the kernel may have no value for a row; none for the exact map of rows as they are.
    pub fn fit_map(
        &self,
        engine: &Engine,
        source: &dyn Source,
    ) -> Result<(Map, Option<Scaling>, Certificate)> {
        if let KernelChoice::Tuned(_) = self.kernel {
            return Err(Error::Unsupported {
                what: "a map of a kernel without its width".to_owned(),
                reason: "there is no target to tune it for",
                instead: "give it, as in gaussian(sigma=2)",
            });
        }
        let spec = self.spec();
        // Landmarks may turn out fewer than asked for; all else is known before the pass.
        if spec.needs_sample() {
            spec.validate()?
        } else {
            spec.check(source.input_dim(), engine.memory_limit())?
        }
        let (scaling, sample) = if spec.method == Method::Exact && !self.standardise {
            (None, Sample::zero(0, source.input_dim(), self.seed))
        } else {
            self.look(engine, source)?
        };
        let known = scaling.clone().unwrap_or_else(|| Scaling::identity(source.input_dim()));
        let scaled = Scaled::new(source, known, self.precision(source));
        spec.check_source(engine, &scaled)?;
        let map = spec.fit_to(engine, &scaled, &sample)?;
        let certificate = Certificate::measure(engine, &map, &sample)?;
        Ok((map, scaling, certificate))
    }

    /// The first pass: how columns are scaled, if they are, and a sample of the scaled rows.
    fn look(&self, engine: &Engine, source: &dyn Source) -> Result<(Option<Scaling>, Sample)> {
        let (moments, sample) = sweep(
            engine,
            source,
            "columns",
            || {
                let capacity = capacity(&self.spec(), source.input_dim());
                (Moments::zero(source.input_dim()), Sample::zero(capacity, source.input_dim(), self.seed))
            },
            |(moments, sample), batch| {
                if self.standardise && source.scaled_columns() > 0 {
                    with_rows!(batch.rows, rows => moments.absorb(&rows, |i| batch.weight(i)));
                }
                sample.absorb(batch, source.target());
            },
        )?;
        let scaling = match source.scaled_columns() {
            _ if !self.standardise => None,
            0 => None,
            all if all == source.input_dim() => Some(Scaling::new(&moments, sample.is_sparse())),
            first => Some(Scaling::of_first(&moments, first)),
        };
        let sample = match &scaling {
            Some(scaling) => scaling.sample(sample),
            None => sample,
        };
        Ok((scaling, sample))
    }

    /// The same with the columns of its kernel by number, given the names of the source's columns.
    pub fn bind(&self, names: &[String]) -> Result<Auto> {
        let kernel = match &self.kernel {
            KernelChoice::Given(kernel) => KernelChoice::Given(kernel.bind(names)?),
            tuned => tuned.clone(),
        };
        Ok(Auto { kernel, ..self.clone() })
    }

    /// The same with its kernel for the rows of a table, and the columns of these rows: all but some, texts as the kernel and the declared encodings want them.
    pub fn inputs(
        &self,
        table: &[ColumnInfo],
        left_out: &[&str],
        declared: &[Declared],
    ) -> Result<(Auto, Columns)> {
        let given = if let KernelChoice::Given(kernel) = &self.kernel { Some(kernel) } else { None };
        let (columns, kernel) = inputs(given, table, left_out, declared, self.seed)?;
        let kernel = kernel.map_or_else(|| self.kernel.clone(), KernelChoice::Given);
        Ok((Auto { kernel, ..self.clone() }, columns))
    }

    /// What fitting will cost, as far as it can be told before the rows are seen.
    pub fn plan(&self, source: &dyn Source) -> Result<Cost> {
        let mut cost = self.learner(self.anchor(), self.most_features()).plan(&self.rounded(source))?;
        if self.standardise {
            let rows = source.row_count().map_or(BLOCK as u64, |n| n.min(BLOCK as u64));
            let block = rows.saturating_mul((source.input_dim() * self.precision(source).bytes()) as u64);
            cost.peak_bytes = cost.peak_bytes.saturating_add(block);
        }
        Ok(cost)
    }

    /// The map that will be made, with width 1 where it is still to be chosen.
    pub fn spec(&self) -> MapSpec {
        self.map(self.anchor(), self.most_features())
    }

    /// What is given is in order, and fits; D that is left to the data will fit too.
    fn check(&self, engine: &Engine, source: &dyn Source) -> Result<()> {
        let most = self.most_features();
        let features = source.row_count().map_or(most, |n| n.clamp(2, most as u64) as usize);
        self.learner(self.anchor(), features / 2 * 2).check(engine, &self.rounded(source))
    }

    /// The source in the precision of the features.
    fn rounded<'a>(&self, source: &'a dyn Source) -> Scaled<'a> {
        Scaled::new(source, Scaling::identity(source.input_dim()), self.precision(source))
    }

    fn precision(&self, source: &dyn Source) -> Precision {
        self.precision.unwrap_or(if source.scalar_bytes() == 4 {
            Precision::Single
        } else {
            Precision::Double
        })
    }

    fn anchor(&self) -> Kernel {
        match &self.kernel {
            KernelChoice::Given(kernel) => kernel.clone(),
            KernelChoice::Tuned(Family::Gaussian) => Kernel::gaussian(1.0),
            KernelChoice::Tuned(Family::Laplace) => Kernel::laplace(1.0),
        }
    }

    fn map(&self, kernel: Kernel, features: usize) -> MapSpec {
        let features = self.features.unwrap_or(features);
        let method = self.method.unwrap_or_else(|| Method::auto(&kernel, features));
        MapSpec { kernel, method, features, seed: self.seed }
    }

    /// D where nothing is said.
    fn most_features(&self) -> usize {
        match self.method {
            // Of a row that are not zero.
            Some(Method::Binning { .. }) => 256,
            _ => MapSpec::FEATURES,
        }
    }

    fn learner(&self, kernel: Kernel, features: usize) -> Learner {
        let (map, lambda) = (self.map(kernel, features), self.lambda);
        match self.loss {
            Loss::Squares => Learner::Ridge(Ridge { lambda, solver: self.solver, ..Ridge::new(map) }),
            loss => {
                let usual = Linear::new(map, loss);
                let tolerance = self.tolerance.unwrap_or(usual.tolerance);
                Learner::Linear(Linear { lambda, tolerance, ..usual })
            }
        }
    }
}

/// The learner of a loss.
enum Learner {
    Ridge(Ridge),
    Linear(Linear),
}

impl Learner {
    fn check(&self, engine: &Engine, source: &dyn Source) -> Result<()> {
        match self {
            Learner::Ridge(ridge) => ridge.check(engine, source),
            Learner::Linear(linear) => linear.check(engine, source),
        }
    }

    fn plan(&self, source: &dyn Source) -> Result<Cost> {
        match self {
            Learner::Ridge(ridge) => ridge.plan(source),
            Learner::Linear(linear) => linear.plan(source),
        }
    }

    fn fit_with(
        &self,
        engine: &Engine,
        source: &dyn Source,
        sample: &Sample,
        start: Option<&Model>,
    ) -> Result<Model> {
        match self {
            Learner::Ridge(ridge) => ridge.fit_with(engine, source, sample),
            Learner::Linear(linear) => {
                let has_same = |model: &&Model| linear.can_start_from(model, source.target());
                if start.is_some() && start.filter(has_same).is_none() {
                    let text =
                        "the model to start from has other features or outputs: the fit starts from nothing";
                    engine.tell(&Event::Warning { text })?;
                }
                linear.fit_with(engine, source, sample, start.filter(has_same))
            }
        }
    }
}

/// `most` features, or one for each distinct row where that is less (an even number): beyond that, features cost more than
/// the exact kernel would.
pub(super) fn default_features(most: usize, sample: &Sample) -> usize {
    if !sample.is_whole() {
        return most;
    }
    most.min(sample.len().next_multiple_of(2)).max(32)
}

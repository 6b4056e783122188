//! From rows as they are to a model, with everything chosen that was not given.
//!
//! ```text
//! pass 1     column means and deviations, a sample of rows
//!            standardise; kernel and width on the sample
//! pass 2, …  features and their sums;  λ by cross-validation;  once more with twice the features while that helps
//! ```

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::tune::{
    Clock, Enough, Family, Grown, Growth, Outlook, Plan, Settled, Step, Trial, WidthSearch, search_seconds,
};
use super::{Linear, Ridge, Solver, Uncertainty};
use crate::certify::{Certificate, capacity};
use crate::encode::{Columns, Declared, Encoder, Precision, Scaled, Scaling, inputs};
use crate::matrix::with_rows;
use crate::plan::{Cost, Forecast, Machine};
use crate::source::Source;
use crate::stat::{Moments, Sample};
use crate::sweep::{BLOCK, sweep};
use crate::table::ColumnInfo;
use crate::{Choice, Engine, Error, Event, Kernel, Lambda, Loss, Map, MapSpec, Method, Model, Result};

/// A kernel, or the family in which to find one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelChoice {
    /// This one.
    Given(Kernel),
    /// The width is chosen by cross-validation around the median distance.
    Tuned(Family),
    /// The family too.
    Any,
}

/// The name of a family alone asks for a width, `auto` for both; anything else is a kernel.
impl FromStr for KernelChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.trim() {
            "gaussian" => Ok(KernelChoice::Tuned(Family::Gaussian)),
            "laplace" => Ok(KernelChoice::Tuned(Family::Laplace)),
            "exponential" => Ok(KernelChoice::Tuned(Family::Exponential)),
            "auto" => Ok(KernelChoice::Any),
            text => text.parse().map(KernelChoice::Given),
        }
    }
}

/// A fit with everything chosen from the data that is not given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Auto {
    /// The kernel.
    pub kernel: KernelChoice,
    /// The method; none for [`Method::auto`].
    pub method: Option<Method>,
    /// D; none for as many as pay: doubled while the error on left-out rows falls, one for each distinct row where these are few; 2,048 where λ is given, 256 grids for binning.
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
    /// Seconds that a fit may take while something is left open; none for a fixed amount of work, which is the same on any machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<f64>,
    /// What the model is to know of its own errors.
    #[serde(default)]
    pub uncertainty: Uncertainty,
    /// How the equations of squares are solved.
    #[serde(default)]
    pub solver: Solver,
}

/// D of the first fit (and of the smallest that a budget may make of it), and of the last at most; of landmarks, which are sampled before that.
const FIRST: usize = 512;
const LEAST: usize = 64;
const MOST: usize = 16_384;
const LANDMARKS: usize = 4096;

/// Multiply-adds that are done in less time than it takes to measure how long they take.
const QUICK: f64 = 1e10;

/// Distinct rows that become landmarks, all of them, where nothing is said of the method.
const FEW: usize = 2048;

impl Default for Auto {
    fn default() -> Self {
        Auto {
            kernel: KernelChoice::Any,
            method: None,
            features: None,
            loss: Loss::Squares,
            seed: 0,
            lambda: Lambda::CrossValidated { folds: 5 },
            precision: None,
            standardise: true,
            tolerance: None,
            budget: None,
            uncertainty: Uncertainty::default(),
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
        if let Some(plan) = start.and_then(|model| model.training()?.plan.as_ref())
            && self.is_open()
        {
            return self.settled_as(&plan.fit).fit_from(engine, source, start);
        }
        let clock = Clock::start(self.budget);
        self.uncertainty.check(self.loss, source.target())?;
        self.check(engine, source)?;
        self.uncertainty.fit(engine, source, self.seed, |kept| self.fit_to(engine, kept, start, clock))
    }

    /// Fits to all rows of the source, none held out.
    fn fit_to(
        &self,
        engine: &Engine,
        source: &dyn Source,
        start: Option<&Model>,
        clock: Clock,
    ) -> Result<Model> {
        let (scaling, sample) = self.look(engine, source)?;
        let precision = self.precision(source);
        let (settled, trials) = self.with_kernel(engine, &sample, precision, clock)?;
        let scaled;
        let rows: &dyn Source = match &scaling {
            None if precision.bytes() == source.scalar_bytes() => source,
            None => {
                scaled = self.rounded(source);
                &scaled
            }
            Some(scaling) => {
                scaled = Scaled::new(source, scaling.clone(), precision);
                &scaled
            }
        };
        let (model, plan) = settled.grown(engine, rows, &sample, start, clock, trials)?;
        let fit = Auto { precision: Some(precision), budget: None, ..plan.fit };
        let trials = plan.trials.into_iter().filter(Trial::is_told).collect();
        let model = model.with_plan(Plan { fit, trials, ..plan });
        Ok(match scaling {
            Some(scaling) => model.with_encoder(Encoder::identity(source.input_dim()).with_scaling(scaling)),
            None => model,
        })
    }

    /// The families among which the kernel is found: those that the method, where it is given, has features of; at least one.
    fn families(&self) -> Vec<Family> {
        if let KernelChoice::Tuned(family) = self.kernel {
            return vec![family];
        }
        let is_possible = |family: &Family| {
            let (kernel, features) = (family.unit(), self.features.unwrap_or(MapSpec::FEATURES));
            let map = |method| MapSpec { kernel: kernel.clone(), method, features, seed: self.seed };
            self.method.is_none_or(|method| map(method).validate().is_ok())
        };
        let families: Vec<Family> = Family::ALL.into_iter().filter(is_possible).collect();
        if families.is_empty() { vec![Family::Gaussian] } else { families }
    }

    /// Whether the search may find that landmarks are better.
    fn may_be_landmarks(&self) -> bool {
        let is_open = !matches!(self.kernel, KernelChoice::Given(_));
        is_open && self.method.is_none() && self.features.is_none() && self.lambda.folds() > 1
    }

    /// The map of which the sample must be large enough.
    fn largest(&self) -> MapSpec {
        let spec = self.spec();
        if self.may_be_landmarks() {
            MapSpec { method: Method::LANDMARKS, features: LANDMARKS, ..spec }
        } else {
            spec
        }
    }

    /// Whether kernel or D are to be found.
    fn is_open(&self) -> bool {
        self.features.is_none() || !matches!(self.kernel, KernelChoice::Given(_))
    }

    /// The same with what is open as in another.
    fn settled_as(&self, other: &Auto) -> Auto {
        let kernel = if let KernelChoice::Given(_) = self.kernel { &self.kernel } else { &other.kernel };
        let (method, features) = match self.features {
            Some(features) => (self.method, Some(features)),
            None => (self.method.or(other.method), other.features),
        };
        Auto { kernel: kernel.clone(), method, features, ..self.clone() }
    }

    /// The same with its kernel, and what was tried to find it.
    fn with_kernel(
        &self,
        engine: &Engine,
        sample: &Sample,
        precision: Precision,
        clock: Clock,
    ) -> Result<(Auto, Vec<Trial>)> {
        if let KernelChoice::Given(_) = self.kernel {
            return Ok((self.clone(), Vec::new()));
        }
        let (loss, seed, features, lambda) = (self.loss, self.seed, self.features, self.lambda);
        let search = WidthSearch { engine, sample, loss, lambda, precision, seed, features, clock };
        let Settled { kernel, landmarks, trials } = search.best_of(&self.families())?;
        let method = if landmarks && self.may_be_landmarks() { Some(Method::LANDMARKS) } else { self.method };
        Ok((Auto { kernel: KernelChoice::Given(kernel), method, ..self.clone() }, trials))
    }

    /// A model with as many features as pay, and the plan that says so. The kernel is given.
    fn grown(
        &self,
        engine: &Engine,
        source: &dyn Source,
        sample: &Sample,
        start: Option<&Model>,
        clock: Clock,
        mut trials: Vec<Trial>,
    ) -> Result<(Model, Plan)> {
        let kernel = self.anchor();
        let with = |auto: Auto, start: Option<&Model>| -> Result<(Model, Auto)> {
            let learner = auto.learner(kernel.clone(), auto.most_features());
            Ok((learner.fit_with(engine, source, sample, start, self.uncertainty)?, auto))
        };
        let settled = |method: Method, features: usize| Auto {
            method: Some(method),
            features: Some(features),
            ..self.clone()
        };
        let distinct = sample.len().next_multiple_of(2).max(32);
        let spec = self.map(kernel.clone(), default_features(self.most_features(), sample));
        // One feature for each row, as near to the kernel as the precision resolves.
        let tolerance = if source.scalar_bytes() == 4 { 1e-7 } else { 1e-12 };
        let all =
            settled(Method::Landmarks { whiten: true, tolerance, choice: Choice::Uniform }, sample.len());
        let is_few = sample.is_whole() && sample.len() <= FEW && self.method.is_none();
        let has_room = |auto: &Auto| -> Result<bool> {
            let cost = auto.learner(kernel.clone(), sample.len()).plan(source)?;
            Ok(cost.peak_bytes <= engine.memory_limit())
        };
        let (fit, enough) = if self.features.is_some() || !grows(&spec, source.input_dim()) {
            (settled(spec.method, spec.features), Enough::Given)
        } else if is_few && matches!(spec.method, Method::Fourier { .. }) && has_room(&all)? {
            (all, Enough::Exact)
        } else if self.lambda.folds() == 1 {
            (settled(spec.method, spec.features), Enough::Given)
        } else {
            let most = match spec.method {
                // No more than were sampled for them.
                Method::Landmarks { .. } if self.method.is_some_and(|m| m == Method::LANDMARKS) => {
                    sample.len().min(LANDMARKS)
                }
                Method::Landmarks { .. } => spec.features,
                _ if sample.is_whole() => distinct.min(MOST),
                _ => MOST,
            };
            let at = |features: usize| self.method_at(&kernel, features);
            // Which leave out every fold in turn.
            let solver = if self.solver == Solver::Auto { Solver::Gram } else { self.solver };
            let settled = |method, features| Auto { solver, ..settled(method, features) };
            let cost =
                |features| settled(at(features), features).learner(kernel.clone(), features).plan(source);
            let rows = source.row_count().unwrap_or(sample.population());
            let mut first = FIRST.min(most);
            if let Some(left) = clock.left()
                && cost(first)?.multiply_adds(rows) > QUICK
            {
                let machine = Machine::measure(engine)?;
                let seconds = |features: usize| -> Result<f64> {
                    let learner = settled(at(features), features).learner(kernel.clone(), features);
                    Ok(learner.forecast(engine, source, rows, &machine, 0.0)?.seconds())
                };
                while first > LEAST && seconds(first)? > left {
                    first /= 2;
                }
            }
            let growth = Growth { engine, clock, rows, first, most, cost: &cost };
            let grown = growth.run(|features| Ok(with(settled(at(features), features), start)?.0))?;
            let Grown { best, steps, enough } = grown;
            trials.extend(steps.into_iter().map(|Step { features, error, deviation }| {
                let (kernel, rows) = (kernel.clone(), sample.population());
                Trial { kernel, features, rows, error, deviation }
            }));
            let fit = settled(at(best.features), best.features);
            return Ok((best.model, Plan { fit, trials, enough }));
        };
        let (model, fit) = with(fit, start)?;
        Ok((model, Plan { fit, trials, enough }))
    }

    /// The method for D features.
    fn method_at(&self, kernel: &Kernel, features: usize) -> Method {
        self.method.unwrap_or_else(|| Method::auto(kernel, features))
    }

    /// The map alone, which looks at no target, with how rows are scaled for it and how far it is from the kernel. D is [`MapSpec::FEATURES`] where it is not given.
    ///
    /// One pass; one more where bins are fitted, and where the kernel may have no value for a row; none for the exact map of rows as they are.
    pub fn fit_map(
        &self,
        engine: &Engine,
        source: &dyn Source,
    ) -> Result<(Map, Option<Scaling>, Certificate)> {
        if matches!(self.kernel, KernelChoice::Tuned(_) | KernelChoice::Any) {
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
                let capacity = capacity(&self.largest(), source.input_dim());
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
        // The sample may be larger than the map needs.
        let sampled =
            capacity(&self.largest(), source.input_dim()) - capacity(&self.spec(), source.input_dim());
        let entries =
            (sampled as u64).min(source.row_count().unwrap_or(u64::MAX)) * source.input_dim() as u64;
        cost.peak_bytes = cost.peak_bytes.saturating_add(24 * entries);
        let features = self.spec().output_dim(source.input_dim());
        cost.peak_bytes = cost.peak_bytes.saturating_add(self.uncertainty.bytes(features));
        if self.standardise {
            let rows = source.row_count().map_or(BLOCK as u64, |n| n.min(BLOCK as u64));
            let block = rows.saturating_mul((source.input_dim() * self.precision(source).bytes()) as u64);
            cost.peak_bytes = cost.peak_bytes.saturating_add(block);
        }
        Ok(cost)
    }

    /// What fitting will take on a machine, where a pass over the source takes `reading` seconds by itself: the search for a kernel, and a fit for each D that may be tried.
    pub fn forecast(
        &self,
        engine: &Engine,
        source: &dyn Source,
        machine: &Machine,
        reading: f64,
    ) -> Result<Outlook> {
        let rows = source.row_count().unwrap_or(0);
        let rounded = self.rounded(source);
        let kernel = self.anchor();
        let open = self.features.is_none() && grows(&self.spec(), source.input_dim());
        let most = rows.next_multiple_of(2).clamp(32, MOST as u64) as usize;
        let sizes: Vec<usize> = if open && self.lambda.folds() > 1 {
            if self.method.is_none() && rows <= FEW as u64 {
                vec![rows as usize]
            } else {
                std::iter::successors(Some(FIRST.min(most)), |d| (*d < most).then(|| (2 * d).min(most)))
                    .collect()
            }
        } else {
            vec![self.features.unwrap_or_else(|| self.most_features().min(most))]
        };
        let fits = sizes.into_iter().map(|features| {
            let method = if open && rows <= FEW as u64 && self.method.is_none() {
                Method::LANDMARKS
            } else {
                self.method_at(&kernel, features)
            };
            let auto = Auto { method: Some(method), features: Some(features), ..self.clone() };
            auto.learner(kernel.clone(), features).forecast(engine, &rounded, rows, machine, reading)
        });
        let fits = fits.collect::<Result<Vec<Forecast>>>()?;
        let search = match self.kernel {
            KernelChoice::Given(_) => 0.0,
            KernelChoice::Tuned(_) => search_seconds(1, rows, source.input_dim(), machine),
            KernelChoice::Any => search_seconds(Family::ALL.len(), rows, source.input_dim(), machine),
        };
        Ok(Outlook { rows, search, fits, memory_limit: engine.memory_limit(), budget: self.budget })
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
            KernelChoice::Tuned(family) => family.unit(),
            KernelChoice::Any => self.families()[0].unit(),
        }
    }

    fn map(&self, kernel: Kernel, features: usize) -> MapSpec {
        let features = self.features.unwrap_or(features);
        let method = self.method_at(&kernel, features);
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

/// Whether a map has more features where more are asked for, each nearer to the kernel.
fn grows(spec: &MapSpec, inputs: usize) -> bool {
    match spec.method {
        Method::Fourier { .. } | Method::Landmarks { .. } | Method::Sketch { .. } => true,
        Method::Compiled { .. } => {
            let size = |features| MapSpec { features, ..spec.clone() }.output_dim(inputs);
            size(FIRST) < size(2 * FIRST)
        }
        _ => false,
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

    fn forecast(
        &self,
        engine: &Engine,
        source: &dyn Source,
        rows: u64,
        machine: &Machine,
        reading: f64,
    ) -> Result<Forecast> {
        let features = |map: &MapSpec| map.output_dim(source.input_dim());
        match self {
            Learner::Ridge(ridge) => {
                ridge.plan(source)?;
                Ok(ridge
                    .shape(source, features(&ridge.map), Uncertainty::default())
                    .forecast(rows, machine, reading))
            }
            Learner::Linear(linear) => {
                let shape = linear.shape(source, features(&linear.map), rows);
                let cost = linear.plan_within(source, engine.memory_limit())?;
                let is_held = cost == linear.plan(source)?;
                Ok(if is_held {
                    shape.forecast_held(rows, machine, reading, cost)
                } else {
                    shape.forecast_passes(rows, machine, reading, cost)
                })
            }
        }
    }

    fn fit_with(
        &self,
        engine: &Engine,
        source: &dyn Source,
        sample: &Sample,
        start: Option<&Model>,
        known: Uncertainty,
    ) -> Result<Model> {
        match self {
            Learner::Ridge(ridge) => ridge.fit_knowing(engine, source, sample, known),
            Learner::Linear(linear) => {
                let has_same = |model: &&Model| linear.can_start_from(model, source.target());
                if start.is_some() && start.filter(has_same).is_none() {
                    let text =
                        "the model to start from has other features or outputs: the fit starts from nothing";
                    engine.tell(&Event::Warning { text })?;
                }
                linear.fit_knowing(engine, source, sample, start.filter(has_same), known)
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

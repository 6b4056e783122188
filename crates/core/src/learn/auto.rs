//! From rows as they are to a model, with everything chosen that was not given.
//!
//! ```text
//! pass 1     column means and deviations, a sample of rows
//!            standardise; kernel and width on the sample
//! pass 2, …  features and their sums;  λ by cross-validation;  once more with twice the features while that helps
//! ```

mod ahead;
mod learner;
mod table;

use std::borrow::Cow;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use self::learner::Learner;
use super::metric::{self, Found, MetricChoice, MetricSearch};
use super::tune::{Clock, Enough, Family, Grown, Growth, Plan, Settled, Step, Trial, WidthSearch};
use super::{Linear, Ridge, Solver, Uncertainty};
use crate::certify::{Certificate, capacity};
use crate::encode::{
    ColumnScaling, Declared, Encoder, Inputs, Metric, Precision, Scaled, Scaling, TableProfile, inputs,
};
use crate::matrix::with_rows;
use crate::model::{Calibration, Outcome};
use crate::plan::Machine;
use crate::source::{Source, Target};
use crate::stat::{Moments, Sample};
use crate::sweep::sweep;
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
    /// How columns of numbers of a table are scaled, where they are.
    #[serde(default, skip_serializing_if = "ColumnScaling::is_standard")]
    pub scaling: ColumnScaling,
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
    /// The metric that rows are compared in; that of the columns in plans from before there was another.
    #[serde(default, skip_serializing_if = "MetricChoice::is_none")]
    pub metric: MetricChoice,
}

/// D of the first fit (and of the smallest that a budget may make of it), and of the last at most.
const FIRST: usize = 512;
const LEAST: usize = 64;
const MOST: usize = 16_384;

/// Landmarks at most, which are sampled before it is known whether they are wanted, and numbers in all of them.
const LANDMARKS: usize = 4096;
const LANDMARK_NUMBERS: usize = 1 << 23;

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
            scaling: ColumnScaling::Standard,
            tolerance: None,
            budget: None,
            uncertainty: Uncertainty::default(),
            solver: Solver::Auto,
            metric: MetricChoice::Auto,
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
        self.fit_calibrated(engine, source, start, None)
    }

    /// The same with probabilities made of scores as was found elsewhere, where it was.
    fn fit_calibrated(
        &self,
        engine: &Engine,
        source: &dyn Source,
        start: Option<&Model>,
        calibration: Option<Calibration>,
    ) -> Result<Model> {
        // One limit from here on: what is free changes while it is used.
        let engine = &engine.within(engine.memory_limit());
        // What is open is as in the model to start from: other features would have no use for its coefficients.
        let settled = start.and_then(|model| self.settled_like(model, source));
        let auto = settled.as_ref().unwrap_or(self);
        let clock = Clock::start(auto.budget);
        auto.uncertainty.check(auto.loss, source.target())?;
        auto.check(engine, source)?;
        auto.uncertainty.fit(engine, source, auto.seed, |kept| {
            let model = auto.fit_to(engine, kept, start, clock)?;
            Ok(calibration.into_iter().fold(model, Model::with_calibration))
        })
    }

    /// Fits to all rows of the source, none held out.
    fn fit_to(
        &self,
        engine: &Engine,
        source: &dyn Source,
        start: Option<&Model>,
        clock: Clock,
    ) -> Result<Model> {
        let (scaling, sample, wide) = self.look(engine, source)?;
        let precision = self.precision(source);
        let Sought { auto: settled, metric, sample, trials } =
            self.sought(engine, sample, wide, source.target(), precision, clock)?;
        let scaled;
        let rows: &dyn Source = match (&scaling, &metric) {
            (None, None) if precision.bytes() == source.scalar_bytes() => source,
            _ => {
                let known = scaling.clone().unwrap_or_else(|| Scaling::identity(source.input_dim()));
                let plain = Scaled::new(source, known, precision);
                scaled = match &metric {
                    Some(metric) => plain.with_metric(metric.clone(), engine),
                    None => plain,
                };
                &scaled
            }
        };
        let start = settled.of_same_metric(engine, start, rows.input_dim())?;
        let (model, plan) = settled.grown(engine, rows, &sample, start, clock, trials)?;
        let fit = Auto { precision: Some(precision), budget: None, ..plan.fit };
        let trials = plan.trials.into_iter().filter(Trial::is_told).collect();
        let model = model.with_plan(Plan { fit, trials, ..plan });
        let mut encoder = Encoder::identity(source.input_dim());
        if let Some(scaling) = scaling {
            encoder = encoder.with_scaling(scaling);
        }
        if let Some(metric) = metric {
            encoder = encoder.with_metric(metric);
        }
        Ok(model.with_encoder(encoder.with_precision(precision)))
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
    fn may_be_landmarks(&self, columns: usize) -> bool {
        let is_open = !matches!(self.kernel, KernelChoice::Given(_)) && self.method.is_none();
        is_open && self.is_doubled() && most_landmarks(columns) >= 2 * FIRST
    }

    /// The map of which the sample must be large enough.
    fn largest(&self, columns: usize) -> MapSpec {
        let spec = self.spec();
        let are_landmarks = self.method == Some(Method::LANDMARKS) && self.is_doubled();
        if are_landmarks || self.may_be_landmarks(columns) {
            MapSpec { method: Method::LANDMARKS, features: most_landmarks(columns), ..spec }
        } else {
            spec
        }
    }

    /// Whether D is doubled as long as that helps, if the map has more features where more are asked for: errors of all folds tell, which conjugate gradients do not know.
    fn is_doubled(&self) -> bool {
        let has_folds = self.loss != Loss::Squares || !matches!(self.solver, Solver::Cg { .. });
        self.features.is_none() && self.lambda.folds() > 1 && has_folds
    }

    /// The same with what is open as in a model to start from; none if nothing is, if the model is none of those asked for, or if there is no use for its coefficients, as for squares.
    fn settled_like(&self, start: &Model, source: &dyn Source) -> Option<Auto> {
        let Auto { kernel, method, features, metric, .. } = &start.training()?.plan.as_ref()?.fit;
        let (KernelChoice::Given(made), Some(size)) = (kernel, *features) else { return None };
        let is_of = |family: &Family| std::mem::discriminant(&family.unit()) == std::mem::discriminant(made);
        let is_kernel = match &self.kernel {
            KernelChoice::Given(own) => own == made,
            KernelChoice::Tuned(family) => is_of(family),
            KernelChoice::Any => Family::ALL.iter().any(is_of),
        };
        let is_open = self.features.is_none() || !matches!(self.kernel, KernelChoice::Given(_));
        let is_metric = match &self.metric {
            MetricChoice::Auto => true,
            MetricChoice::None => metric.is_none(),
            MetricChoice::Diagonal => !metric.is_none() && !metric.mixes(),
            MetricChoice::Full => metric.mixes(),
            given => given == metric,
        };
        let is_asked_for = is_kernel
            && is_metric
            && metric.check(source.input_dim()).is_ok()
            && self.method.is_none_or(|own| Some(own) == *method)
            && self.features.is_none_or(|own| own == size);
        let metric = metric.clone();
        let settled =
            Auto { kernel: kernel.clone(), method: *method, features: *features, metric, ..self.clone() };
        let has_use = match settled.learner(made.clone(), size) {
            Learner::Linear(linear) => linear.can_start_from(start, source.target()),
            Learner::Ridge(_) => false,
        };
        (is_open && is_asked_for && has_use).then_some(settled)
    }

    /// A model to start from, if rows were compared by the same steps, and have as many columns then; coefficients of features of rows that are stretched otherwise are none to start from. Squares, which have no use for a start, are not warned of.
    fn of_same_metric<'a>(
        &self,
        engine: &Engine,
        start: Option<&'a Model>,
        width: usize,
    ) -> Result<Option<&'a Model>> {
        let Some(model) = start else { return Ok(None) };
        let plan = model.training().and_then(|training| training.plan.as_ref());
        let is_same = match plan {
            Some(plan) => plan.fit.metric == self.metric,
            None => model.encoder().metric().is_none() && self.metric.is_none(),
        };
        // A model of other columns is refused elsewhere.
        let is_wider = model.encoder().width() > model.encoder().columns().count();
        if is_same && (!is_wider || model.encoder().width() == width) || self.loss == Loss::Squares {
            return Ok(start);
        }
        let text = "the model to start from compares rows in another metric: the fit starts from nothing";
        engine.tell(&Event::Warning { text })?;
        Ok(None)
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
        let search = self.width_search(engine, sample, precision, clock);
        let Settled { kernel, landmarks, trials } = search.best_of(&self.families())?;
        let method = if landmarks { Some(Method::LANDMARKS) } else { self.method };
        Ok((Auto { kernel: KernelChoice::Given(kernel), method, ..self.clone() }, trials))
    }

    fn width_search<'a>(
        &self,
        engine: &'a Engine,
        sample: &'a Sample,
        precision: Precision,
        clock: Clock,
    ) -> WidthSearch<'a> {
        let (loss, seed, features, lambda) = (self.loss, self.seed, self.features, self.lambda);
        // Few rows will all be landmarks anyway.
        let is_few = sample.is_whole() && sample.len() <= FEW;
        let may_be_landmarks = self.may_be_landmarks(sample.columns()) && !is_few;
        WidthSearch { engine, sample, loss, lambda, precision, seed, features, may_be_landmarks, clock }
    }

    /// The same with its kernel and its metric, the sample as that stretches it, and what was tried.
    fn sought(
        &self,
        engine: &Engine,
        sample: Sample,
        wide: Option<Sample>,
        target: &Target,
        precision: Precision,
        clock: Clock,
    ) -> Result<Sought> {
        // There was no room for one, or a source had not said that its rows are sparse.
        let is_missed = wide.is_none() && metric::are_wide(sample.columns(), sample.is_sparse());
        let known = wide.map_or_else(|| metric::learnt_from(&sample), Cow::Owned);
        let (loss, seed, features, lambda) = (self.loss, self.seed, self.features, self.lambda);
        let (choice, are_classes) = (&self.metric, matches!(target, Target::Classes { .. }));
        let search = MetricSearch {
            engine,
            sample: &known,
            loss,
            seed,
            features,
            lambda,
            precision,
            choice,
            are_classes,
            clock,
        };
        if let MetricChoice::Learned(path) = &self.metric {
            let metric = search.replayed(path)?;
            let stretched = |metric: &Metric| metric.sample(engine, &sample);
            let sample = metric.as_ref().map_or_else(|| sample.clone(), stretched);
            let (auto, trials) = self.with_kernel(engine, &sample, precision, clock)?;
            return Ok(Sought { auto, metric, sample, trials });
        }
        let (plain, mut trials) = self.with_kernel(engine, &sample, precision, clock)?;
        let without = Auto { metric: MetricChoice::None, ..plain };
        let is_open = !matches!(self.kernel, KernelChoice::Given(_));
        let is_forced = self.metric.is_forced();
        let is_wanted = self.may_be_stretched(known.columns()) && (is_forced || !clock.is_past(0.3));
        if is_wanted && is_missed {
            let text = "rows are compared as columns are scaled: there is no room for learning a metric";
            engine.tell(&Event::Warning { text })?;
        }
        let is_wanted = is_wanted && !is_missed;
        let families = if is_open { self.families() } else { Vec::new() };
        let (found, more) =
            if is_wanted { search.best(&families, &without.anchor())? } else { (None, Vec::new()) };
        trials.extend(more);
        drop(known);
        let Some(Found { metric, path, kernel }) = found else {
            if is_forced {
                let text = "no metric was learnt: there are too few rows or columns, or the target does not change with them";
                engine.tell(&Event::Warning { text })?;
            }
            return Ok(Sought { auto: without, metric: None, sample, trials });
        };
        let sample = metric.sample(engine, &sample);
        let learned = Auto { metric: MetricChoice::Learned(path), ..without };
        let Some(kernel) = kernel else {
            return Ok(Sought { auto: learned, metric: Some(metric), sample, trials });
        };
        let landmarks =
            self.width_search(engine, &sample, precision, clock.anew()).prefers_landmarks(&kernel)?;
        let method = if landmarks { Some(Method::LANDMARKS) } else { self.method };
        let auto = Auto { kernel: KernelChoice::Given(kernel), method, ..learned };
        Ok(Sought { auto, metric: Some(metric), sample, trials })
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
        let limit = engine.memory_limit();
        let sampled = sample.capacity();
        let with = |auto: &Auto| -> Result<Model> {
            let learner = auto.learner(kernel.clone(), auto.most_features());
            // As a fit by the plan will see it.
            let cut = sample.cut(capacity(learner.map(), source.input_dim()));
            let beside = auto.bytes_beside(source, sampled);
            let engine = &engine.within(limit.saturating_sub(beside));
            learner.fit_with(engine, source, &cut, start, self.uncertainty)
        };
        let distinct = sample.is_whole().then_some(sample.len());
        let (first, most) = match self.sizes(&kernel, distinct, source, limit)? {
            Sizes::One { fit, enough } => {
                let model = with(&fit)?;
                let fit = Auto { solver: fit.solver_of(&model), ..*fit };
                return Ok((model, Plan { fit, trials, enough }));
            }
            Sizes::Doubled { first, most } => (first, most),
        };
        let at = |features: usize| self.sized(&kernel, features);
        // Errors of every fold, which tell whether to go on, are those of sums and of features that are held.
        let cost = |features: usize| at(features).cost(source, sampled, u64::MAX);
        let rows = source.row_count().unwrap_or(sample.population());
        let mut smallest = first;
        if let Some(left) = clock.left()
            && cost(first)?.multiply_adds(rows) > QUICK
        {
            let machine = Machine::measure(engine)?;
            let seconds = |features: usize| -> Result<f64> {
                let learner = at(features).learner(kernel.clone(), features);
                Ok(self.forecast_of(&learner, source, rows, (&machine, 0.0), limit)?.seconds())
            };
            while smallest > LEAST && seconds(smallest)? > left {
                smallest /= 2;
            }
        }
        let growth = Growth { engine, clock, rows, first: smallest, most, cost: &cost };
        let Grown { best, steps, enough } = growth.run(|features| with(&at(features)))?;
        trials.extend(steps.into_iter().map(|Step { features, error, deviation }| {
            let (kernel, rows) = (kernel.clone(), sample.population());
            Trial { kernel, features, rows, error, deviation, rounds: self.metric.rounds() }
        }));
        Ok((best.model, Plan { fit: at(best.features), trials, enough }))
    }

    /// How D is found for so many distinct rows; none if they are more than were counted.
    fn sizes(
        &self,
        kernel: &Kernel,
        distinct: Option<usize>,
        source: &dyn Source,
        limit: u64,
    ) -> Result<Sizes> {
        let (even, columns) = (|n: usize| n.next_multiple_of(2).max(32), source.input_dim());
        // Beyond one for each row, features cost more than the exact kernel would.
        let usual = self.most_features();
        let spec = self.map(kernel.clone(), distinct.map_or(usual, |n| usual.min(even(n))));
        let one = |method, features, enough| {
            let fit = Auto { method: Some(method), features: Some(features), ..self.clone() };
            Sizes::One { fit: Box::new(fit), enough }
        };
        if self.features.is_some() || !grows(&spec, columns) {
            return Ok(one(spec.method, spec.features, Enough::Given));
        }
        let is_usual = self.method.is_none() && matches!(spec.method, Method::Fourier { .. });
        if let Some(rows) = distinct.filter(|n| *n <= FEW && is_usual) {
            // One feature for each row, as near to the kernel as the precision resolves.
            let tolerance = if source.scalar_bytes() == 4 { 1e-7 } else { 1e-12 };
            let method = Method::Landmarks { whiten: true, tolerance, choice: Choice::Uniform };
            let exact = Auto { method: Some(method), features: Some(rows), ..self.clone() };
            if exact.cost(source, 0, limit)?.peak_bytes <= limit {
                return Ok(one(method, rows, Enough::Exact));
            }
        }
        if !self.is_doubled() {
            return Ok(one(spec.method, spec.features, Enough::Given));
        }
        let most = match spec.method {
            // No more than were sampled for them.
            Method::Landmarks { .. } if self.method == Some(Method::LANDMARKS) => {
                distinct.map_or(usize::MAX, even).min(most_landmarks(columns))
            }
            Method::Landmarks { .. } => spec.features,
            _ => distinct.map_or(MOST, |n| even(n).min(MOST)),
        };
        Ok(Sizes::Doubled { first: FIRST.min(most), most })
    }

    /// The same with so many features, solved by what tells the error of every fold.
    fn sized(&self, kernel: &Kernel, features: usize) -> Auto {
        let method = Some(self.method_at(kernel, features));
        let solver = if self.solver == Solver::Auto { Solver::Gram } else { self.solver };
        Auto { method, features: Some(features), solver, ..self.clone() }
    }

    /// The solver that was taken, where it could be chosen: another machine might have taken another.
    fn solver_of(&self, model: &Model) -> Solver {
        match (self.solver, model.training().map(|training| &training.outcome)) {
            (Solver::Auto, Some(Outcome::Conjugate { .. })) => Solver::chosen_cg(),
            (Solver::Auto, _) => Solver::Gram,
            (given, _) => given,
        }
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
        if !matches!(self.metric, MetricChoice::None | MetricChoice::Auto) {
            return Err(Error::Unsupported {
                what: "a metric for a map alone".to_owned(),
                reason: "there is no target to learn it for",
                instead: "fit a model, or take the metric none",
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
            let (scaling, sample, _) = self.look(engine, source)?;
            (scaling, sample)
        };
        let known = scaling.clone().unwrap_or_else(|| Scaling::identity(source.input_dim()));
        let scaled = Scaled::new(source, known, self.precision(source));
        spec.check_source(engine, &scaled)?;
        let map = spec.fit_to(engine, &scaled, &sample)?;
        let certificate = Certificate::measure(engine, &map, &sample)?;
        Ok((map, scaling, certificate))
    }

    /// The first pass: how columns are scaled, if they are, a sample of the scaled rows, and one that a metric is learnt from where rows are wide.
    fn look(
        &self,
        engine: &Engine,
        source: &dyn Source,
    ) -> Result<(Option<Scaling>, Sample, Option<Sample>)> {
        let columns = source.input_dim();
        let has_own = self.has_own_sample(engine, source);
        let ((moments, sample), wide) = sweep(
            engine,
            source,
            "columns",
            || {
                let capacity = capacity(&self.largest(source.input_dim()), source.input_dim());
                let sampled = Sample::zero(capacity, columns, self.seed);
                ((Moments::zero(columns), sampled), metric::wide_sample(source, self.seed))
            },
            |((moments, sample), wide), batch| {
                if self.standardise && source.scaled_columns() > 0 {
                    with_rows!(batch.rows, rows => moments.absorb(engine, &rows, &|i| batch.weight(i)));
                }
                sample.absorb(engine, batch, source.target());
                if has_own {
                    wide.absorb(engine, batch, source.target());
                }
            },
        )?;
        let scaling = match source.scaled_columns() {
            _ if !self.standardise => None,
            0 => None,
            all if all == source.input_dim() => Some(Scaling::new(&moments, sample.is_sparse())),
            first => Some(Scaling::of_first(&moments, first)),
        };
        let scaled = |sample| match &scaling {
            Some(scaling) => scaling.sample(sample),
            None => sample,
        };
        let (sample, wide) = (scaled(sample), (!wide.is_empty()).then(|| scaled(wide)));
        Ok((scaling, sample, wide))
    }

    /// The same with the columns of its kernel by number, given the names of the source's columns.
    pub fn bind(&self, names: &[String]) -> Result<Auto> {
        let kernel = match &self.kernel {
            KernelChoice::Given(kernel) => KernelChoice::Given(kernel.bind(names)?),
            tuned => tuned.clone(),
        };
        Ok(Auto { kernel, ..self.clone() })
    }

    /// The same with its kernel for the rows of a table, and what its columns become: all but some, texts as the kernel and the declared encodings want them.
    pub fn inputs(
        &self,
        table: &TableProfile,
        left_out: &[&str],
        declared: &[Declared],
    ) -> Result<(Auto, Inputs)> {
        let given = if let KernelChoice::Given(kernel) = &self.kernel { Some(kernel) } else { None };
        let inputs = inputs(given, table, left_out, declared, self.seed)?;
        let kernel = inputs.kernel.clone().map_or_else(|| self.kernel.clone(), KernelChoice::Given);
        Ok((Auto { kernel, ..self.clone() }, inputs))
    }

    /// The map that will be made, with width 1 where it is still to be chosen.
    pub fn spec(&self) -> MapSpec {
        self.map(self.anchor(), self.most_features())
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

/// What is settled before the fit.
struct Sought {
    /// With its kernel and its metric.
    auto: Auto,
    metric: Option<Metric>,
    /// As the metric stretches it.
    sample: Sample,
    /// What was tried.
    trials: Vec<Trial>,
}

/// How D is found.
enum Sizes {
    /// It is known.
    One { fit: Box<Auto>, enough: Enough },
    /// From the first on, doubled.
    Doubled { first: usize, most: usize },
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

/// Landmarks at most: fewer of long rows.
fn most_landmarks(columns: usize) -> usize {
    (LANDMARK_NUMBERS / columns.max(1)).clamp(FIRST, LANDMARKS)
}

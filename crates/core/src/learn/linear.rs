//! Linear models on features, under any loss.
//!
//! ```text
//! minimise (1/Σw) Σ wᵢ·ℓ(yᵢ, c·z(xᵢ) + b) + λ‖c‖²
//! ```
//! for each output, or, for the probabilities of several classes, for all of them together. The constant b is free, except under margins: with C = 1/(2λΣw) these are LIBLINEAR's
//! problem ½‖c‖² + C Σ wᵢ·ℓ, which holds the constant back too, for each class against all others, or once for two. Features are held in memory where they fit: hinge loss, and squared hinge on sparse features, go by dual coordinate descent,
//! everything else by Newton's method. Where they do not fit, Newton's method goes on by passes that make them anew (`linear/passes.rs`), for every loss but the hinge. Each says why it stopped. `docs/book/losses.md`, `docs/book/svm.md`, `docs/book/solvers.md`.

mod descent;
mod fitted;
mod lead;
mod look;
mod looks;
mod passes;
mod problem;
mod search;
mod way;

pub(super) use self::fitted::normalised_margin;
use self::fitted::{Fitted, warn_if_stopped};
use self::passes::ByPasses;
use self::problem::Problem;
pub(super) use self::way::Way;
use super::held::{AnyHeld, Held};
use super::ridge::{Chosen, Lambda};
use super::{Uncertainty, check};
use crate::certify::{Certificate, capacity};
use crate::engine::Check;
use crate::model::{Calibration, Decision, Head, Model, Training};
use crate::plan::Conjugate;
use crate::solve::{Constant, Hinge};
use crate::source::{Source, Target};
use crate::stat::Sample;
use crate::{Encoder, Engine, Error, Loss, MapSpec, Result, Scalar};

/// A linear model on features of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// The features.
    pub map: MapSpec,
    /// What is minimised.
    pub loss: Loss,
    /// How λ is found.
    pub lambda: Lambda,
    /// Whether to fit a constant; it is penalised like the coefficients under [`Loss::Margins`], and free under all others.
    pub intercept: bool,
    /// What may be left to gain, as a part of the objective.
    pub tolerance: f64,
    /// Newton steps that may be made, or rounds of coordinate descent where these are given; none for enough.
    pub most_steps: Option<usize>,
}

/// Steps of Newton's method, at most.
const STEPS: usize = 300;

impl Linear {
    /// λ by 5-fold cross-validation, a constant, a tolerance of 10⁻⁴.
    pub fn new(map: MapSpec, loss: Loss) -> Self {
        let lambda = Lambda::CrossValidated { folds: 5 };
        Linear { map, loss, lambda, intercept: true, tolerance: 1e-4, most_steps: None }
    }

    /// A linear support vector machine with squared hinge loss.
    pub fn svm(map: MapSpec) -> Self {
        Linear::new(map, Loss::margins(Hinge::Squared))
    }

    fn validate(&self) -> Result<()> {
        self.loss.validate()?;
        self.lambda.validate()?;
        self.map.validate()?;
        if self.tolerance > 0.0 && self.tolerance < 1.0 {
            return Ok(());
        }
        let expected = "between 0 and 1";
        Err(Error::Parameter { name: "tolerance", expected, found: self.tolerance.to_string() })
    }

    fn by_newton(&self, is_sparse: bool) -> bool {
        match self.loss {
            Loss::Margins { hinge: Hinge::Plain } => false,
            Loss::Margins { hinge: Hinge::Squared } => !is_sparse,
            _ => true,
        }
    }

    fn constant(&self) -> Constant {
        match self.loss {
            _ if !self.intercept => Constant::None,
            Loss::Margins { .. } => Constant::Held,
            _ => Constant::Free,
        }
    }

    /// Fits to all rows of the source: one pass for a sample (of landmarks, and for the certificate), one for the features; many where these do not fit in memory.
    pub fn fit(&self, engine: &Engine, source: &dyn Source) -> Result<Model> {
        self.fit_from(engine, source, None)
    }

    /// The same, from the coefficients of a model of the same map on: much sooner where rows or λ have changed little.
    pub fn fit_from(&self, engine: &Engine, source: &dyn Source, start: Option<&Model>) -> Result<Model> {
        self.check(engine, source)?;
        let capacity = capacity(&self.map, source.input_dim());
        let sample = Sample::of(engine, source, capacity, self.map.seed)?;
        self.fit_with(engine, source, &sample, start)
    }

    /// Everything that can be said before the rows are read.
    pub(super) fn check(&self, engine: &Engine, source: &dyn Source) -> Result<()> {
        self.validate()?;
        check::target(self.loss, source)?;
        self.map.check(source.input_dim(), engine.memory_limit())?;
        let way = self.way_before(source, engine.memory_limit())?;
        engine.check_memory(|| self.what_is_kept(&way), way.cost().peak_bytes)
    }

    /// What needs memory, and what would not.
    fn what_is_kept(&self, way: &Way) -> String {
        match way {
            Way::Passes(_) => format!("a fit under {}, by passes that keep no features,", self.loss),
            Way::Held(_) if self.is_newtons() => {
                format!("a fit under {}, whose features stay in memory,", self.loss)
            }
            Way::Held(_) => format!(
                "a fit under {}, whose features stay in memory (those of squared_hinge need not; fewer features take less),",
                self.loss
            ),
        }
    }

    /// Fits with a sample of the source's rows that was taken before, and from a start if there is one.
    pub fn fit_with(
        &self,
        engine: &Engine,
        source: &dyn Source,
        sample: &Sample,
        start: Option<&Model>,
    ) -> Result<Model> {
        self.fit_knowing(engine, source, sample, start, Uncertainty::default())
    }

    /// The same with what the model is to know of its errors, but for rows held out.
    pub(super) fn fit_knowing(
        &self,
        engine: &Engine,
        source: &dyn Source,
        sample: &Sample,
        start: Option<&Model>,
        known: Uncertainty,
    ) -> Result<Model> {
        self.check(engine, source)?;
        self.map.check_source(engine, source)?;
        let map = self.map.fit_to(engine, source, sample)?;
        let certificate = Certificate::measure(engine, &map, sample)?;
        let start = match start {
            Some(model) => Some(self.start(model, source.target())?),
            None => None,
        };
        let folds = known.folds(self.lambda, self.loss, source.target());
        let calibrated = known.calibrates(self.loss, source.target()).then_some(folds);
        let way = self.way(source, map.output_dim(), sample.population(), engine.memory_limit());
        let fitted = match way {
            Way::Passes(Conjugate { guide, cost, .. }) => {
                let shape = self.shape(source, map.output_dim(), sample.population());
                let more = calibrated.map_or(0, |folds| shape.calibration_bytes(folds));
                engine.check_memory(|| self.what_is_kept(&way), cost.peak_bytes.saturating_add(more))?;
                let (linear, map) = (self, &map);
                ByPasses { linear, engine, source, map, sample, shape, guide, start, calibrated }.fit()?
            }
            Way::Held(_) => match &AnyHeld::of(engine, source, &map, sample.population(), folds)? {
                AnyHeld::F32(held) => {
                    self.solve(engine, held, source.target(), start.as_deref(), calibrated)?
                }
                AnyHeld::F64(held) => {
                    self.solve(engine, held, source.target(), start.as_deref(), calibrated)?
                }
            },
        };
        let training = Training {
            rows: fitted.rows,
            lambda: fitted.lambda,
            curve: fitted.curve,
            folds: self.lambda.folds(),
            fold_errors: fitted.fold_errors,
            intercept: self.intercept,
            plan: None,
            outcome: fitted.outcome,
        };
        let head = match source.target() {
            Target::Numbers { .. } => Head::Regression,
            Target::Classes { labels } => {
                Head::Classification { labels: labels.clone(), decision: Decision::Largest }
            }
        };
        let encoder = Encoder::identity(source.input_dim());
        check::finite(&fitted.coefficients, &fitted.intercept, &certificate, &training)?;
        let model = Model::new(
            engine,
            encoder,
            map,
            fitted.coefficients,
            fitted.intercept,
            head,
            certificate,
            Some(training),
        );
        // Scores under logistic loss are logarithms of odds as they are.
        let usual = (self.loss == Loss::Logistic).then(Calibration::default);
        Ok(model.knowing(fitted.calibration.or(usual), None))
    }

    /// Whether a model has coefficients for these features and outputs, and the solver a use for them: Newton's method has, coordinate descent has not.
    pub(super) fn can_start_from(&self, model: &Model, target: &Target) -> bool {
        // Rows that landmarks and bins are fitted to may be others.
        let is_fitted = self.map.needs_sample() || self.map.is_sparse();
        let has_use = self.by_newton(self.map.is_sparse());
        model.map().spec() == &self.map
            && has_use
            && !is_fitted
            && model.intercept().len() == target.outputs()
    }

    /// The coefficients of another model, if it has as many for the same features.
    fn start(&self, model: &Model, target: &Target) -> Result<Vec<Vec<f64>>> {
        if !self.can_start_from(model, target) {
            return Err(Error::Unsupported {
                what: "a start from this model".to_owned(),
                reason: "its map, features or outputs are others, or the loss is the hinge, which has no use for a start",
                instead: "start from a model of the same kernel, method, D, seed and targets, or from none",
            });
        }
        let weights = |o: usize| {
            let constant = self.intercept.then_some(model.intercept()[o]);
            model.coefficients().row(o).iter().copied().chain(constant).collect()
        };
        Ok((0..model.intercept().len()).map(weights).collect())
    }

    /// λ, the curve it was chosen from, and the model at it.
    fn solve<T: Scalar>(
        &self,
        engine: &Engine,
        held: &Held<T>,
        target: &Target,
        start: Option<&[Vec<f64>]>,
        calibrated: Option<usize>,
    ) -> Result<Fitted> {
        let problem = Problem::new(engine, self, held, target)?;
        let Chosen { lambda, curve, fold_errors } = match self.lambda {
            Lambda::Given { value } => Chosen { lambda: value, ..Chosen::default() },
            Lambda::CrossValidated { folds } => {
                let choose = |check: Check<'_>| problem.choose(folds, check);
                engine.phase("cross-validation", held.count, choose)?
            }
        };
        let solve = |check: Check<'_>| {
            let costs = problem.costs(lambda, |_| true);
            let most = self.most_steps.unwrap_or_else(|| problem.rounds());
            let start = start.map(|start| problem.without_means(start));
            problem.solve(&costs, start.as_deref(), self.tolerance, most, check)
        };
        let solutions = engine.phase("solve", held.count, solve)?;
        warn_if_stopped(engine, &solutions, self.tolerance)?;
        let mut fitted = Fitted { curve, fold_errors, ..problem.fitted(solutions, lambda) };
        if let (Some(folds), Target::Classes { labels }) = (calibrated, target) {
            let left_out = |check: Check<'_>| {
                problem.left_out(lambda, folds, check)?.calibration(engine, labels.len()).map(Some)
            };
            fitted.calibration = engine.phase("calibration", held.count, left_out)?;
        }
        Ok(fitted)
    }
}

#[cfg(test)]
mod tests;

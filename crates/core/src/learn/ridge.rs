//! Ridge regression and classification on features.
//!
//! ```text
//! minimise (1/Σw) Σ wᵢ(yᵢ − c·z(xᵢ) − b)² + λ‖c‖²
//! ```
//! One pass over the rows makes the Gram statistic; where that does not fit, or costs more than many passes, conjugate gradients go without ([`Solver`]). λ is given, or chosen by K-fold cross-validation that is exact (every fold's model is the
//! one that would be fitted without it) and needs no further pass. Classes are coded as one column of ±1 for two, one column of 0/1
//! each for more, and decided by the sign or the largest. `docs/book/ridge.md`.

use bochner_simd::Aligned;
use serde::{Deserialize, Serialize};

use super::conjugate::{Conjugate, Found};
use super::tune::LeftOut;
use super::uncertainty::posterior;
use super::{Uncertainty, check, lambda};
use crate::certify::{Certificate, capacity};
use crate::content::{ContentHash, folds as folds_of};
use crate::engine::Check;
use crate::model::{Calibration, Decision, Head, Model, Outcome, Posterior, Training};
use crate::plan::{Cost, RidgeShape, Way};
use crate::random::Stream;
use crate::solve::pcg::Limits;
use crate::solve::{Normal, Path, Solution};
use crate::source::{Batch, Source, Target, entries_of_a_row};
use crate::stat::{Gram, Sample};
use crate::sweep::try_sweep;
use crate::{
    AnyRows, Encoder, Engine, Error, Event, Loss, Map, MapSpec, Matrix, MatrixView, Result, Rows, Scalar,
};

/// How strongly coefficients are held back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Lambda {
    /// This much.
    Given {
        /// λ > 0, in the objective above.
        value: f64,
    },
    /// Whatever predicts left-out folds best, from a grid of 21 values relative to the size of the features.
    CrossValidated {
        /// K ≥ 2.
        folds: usize,
    },
}

impl Lambda {
    /// Parts that rows are divided into; 1 for all in one.
    pub(super) fn folds(&self) -> usize {
        match *self {
            Lambda::Given { .. } => 1,
            Lambda::CrossValidated { folds } => folds,
        }
    }

    pub(super) fn validate(&self) -> Result<()> {
        match *self {
            Lambda::Given { value } if !(value > 0.0 && value.is_finite()) => Err(Error::Parameter {
                name: "lambda",
                expected: "positive and finite",
                found: value.to_string(),
            }),
            Lambda::CrossValidated { folds } if !(2..=64).contains(&folds) => Err(Error::Parameter {
                name: "folds",
                expected: "between 2 and 64",
                found: folds.to_string(),
            }),
            _ => Ok(()),
        }
    }
}

/// How the equations are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Solver {
    /// By sums, unless these do not fit the memory limit, or cost more than conjugate gradients to a residual of 10⁻⁵ (several times as much, where λ is chosen by cross-validation).
    #[default]
    Auto,
    /// By sums of products of all features, one pass: D² numbers a fold. Exact, with cross-validation over all folds and degrees of freedom.
    Gram,
    /// By conjugate gradients, many passes: features are kept where they are few and made anew where not, D² numbers kept only where they fit. λ is chosen on one left-out part.
    Cg {
        /// The residual at which to stop, as a part of the right side.
        tolerance: f64,
        /// Steps at most.
        steps: usize,
    },
}

impl Solver {
    /// Conjugate gradients to a residual of 10⁻⁶, in 200 steps at most.
    pub fn cg() -> Solver {
        Solver::Cg { tolerance: 1e-6, steps: 200 }
    }

    /// Conjugate gradients as they are where the solver is chosen by what it costs: what is minimised is then within about 10⁻¹⁰ of its least value.
    pub(super) fn chosen_cg() -> Solver {
        let Limits { tolerance, steps } = Solver::Auto.limits();
        Solver::Cg { tolerance, steps }
    }

    fn limits(&self) -> Limits {
        match *self {
            Solver::Cg { tolerance, steps } => Limits { tolerance, steps },
            Solver::Auto | Solver::Gram => Limits { tolerance: 1e-5, steps: 200 },
        }
    }

    fn validate(&self) -> Result<()> {
        let (name, expected, found) = match *self {
            Solver::Cg { tolerance, .. } if !(tolerance > 0.0 && tolerance < 1.0) => {
                ("tolerance", "between 0 and 1", tolerance.to_string())
            }
            Solver::Cg { steps: 0, .. } => ("steps", "at least 1", "0".to_owned()),
            _ => return Ok(()),
        };
        Err(Error::Parameter { name, expected, found })
    }
}

/// `auto`, `gram` or `cg`.
impl std::str::FromStr for Solver {
    type Err = Error;

    fn from_str(text: &str) -> Result<Solver> {
        match text {
            "auto" => Ok(Solver::Auto),
            "gram" => Ok(Solver::Gram),
            "cg" => Ok(Solver::cg()),
            other => Err(Error::Parameter {
                name: "solver",
                expected: "auto, gram or cg",
                found: other.to_owned(),
            }),
        }
    }
}

/// Ridge regression or classification, by what the source asks to predict.
#[derive(Clone, Debug, PartialEq)]
pub struct Ridge {
    /// The features.
    pub map: MapSpec,
    /// How λ is found.
    pub lambda: Lambda,
    /// Whether to fit a constant that is not penalised.
    pub intercept: bool,
    /// How the equations are solved.
    pub solver: Solver,
}

/// Exponents of the grid of λ, in half decades: 10⁻⁹ to 10¹ times tr S.
pub(super) const GRID: std::ops::RangeInclusive<i32> = -18..=2;

/// One point of the cross-validation curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// λ.
    pub lambda: f64,
    /// On left-out rows: the mean squared error summed over outputs, or the share of wrong classes where margins were minimised.
    pub error: f64,
}

impl Ridge {
    /// Ridge with λ by 5-fold cross-validation and an intercept.
    pub fn new(map: MapSpec) -> Self {
        Ridge { map, lambda: Lambda::CrossValidated { folds: 5 }, intercept: true, solver: Solver::Auto }
    }

    /// What fitting will cost, with as much memory as is needed.
    pub fn plan(&self, source: &dyn Source) -> Result<Cost> {
        self.plan_within(source, u64::MAX)
    }

    /// What fitting will cost within so many bytes: what does not fit as sums is solved by conjugate gradients, if the solver may be chosen.
    pub fn plan_within(&self, source: &dyn Source, limit: u64) -> Result<Cost> {
        Ok(self.knowing_way(source, Uncertainty::default(), limit)?.cost())
    }

    /// How the equations of a model that knows so much of its errors are solved within so many bytes.
    pub(super) fn knowing_way(&self, source: &dyn Source, known: Uncertainty, limit: u64) -> Result<Way> {
        self.lambda.validate()?;
        self.solver.validate()?;
        self.map.validate()?;
        self.way(source, self.map.output_dim(source.input_dim()), known, limit)
    }

    /// How the equations are solved within so many bytes: by sums, where the model is to know what only these tell.
    fn way(&self, source: &dyn Source, features: usize, known: Uncertainty, limit: u64) -> Result<Way> {
        let solver = match self.solver {
            solver if !known.needs_sums(source.target()) => solver,
            Solver::Cg { .. } => {
                return Err(Error::Unsupported {
                    what: "a deviation, or calibrated probabilities, by conjugate gradients".to_owned(),
                    reason: "they are made of the sums of all features",
                    instead: "use the solver gram",
                });
            }
            Solver::Auto | Solver::Gram => Solver::Gram,
        };
        Ok(self.shape(source, features, known).way(solver, limit))
    }

    pub(super) fn shape(&self, source: &dyn Source, features: usize, known: Uncertainty) -> RidgeShape {
        RidgeShape {
            map: self.map.clone(),
            features,
            inputs: source.input_dim(),
            entries: entries_of_a_row(source),
            outputs: source.target().outputs(),
            folds: known.folds(self.lambda, Loss::Squares, source.target()),
            scalar_bytes: source.scalar_bytes(),
            rows: source.row_count(),
        }
    }

    /// Fits to all rows of the source: one pass for a sample (of landmarks, and for the certificate), one for the sums.
    pub fn fit(&self, engine: &Engine, source: &dyn Source) -> Result<Model> {
        self.check(engine, source)?;
        let capacity = capacity(&self.map, source.input_dim());
        let sample = Sample::of(engine, source, capacity, self.map.seed)?;
        self.fit_with(engine, source, &sample)
    }

    pub(super) fn check(&self, engine: &Engine, source: &dyn Source) -> Result<()> {
        self.lambda.validate()?;
        self.solver.validate()?;
        self.map.check(source.input_dim(), engine.memory_limit())?;
        if let Target::Classes { labels } = source.target()
            && labels.len() < 2
        {
            return Err(Error::OneClass { label: labels.text(0).to_owned() });
        }
        self.check_size(engine, source, self.map.output_dim(source.input_dim()), Uncertainty::default())
    }

    fn check_size(
        &self,
        engine: &Engine,
        source: &dyn Source,
        features: usize,
        known: Uncertainty,
    ) -> Result<()> {
        let what = || {
            let dense = if self.map.is_sparse() {
                ", of which it makes dense sums (losses of margins do not),"
            } else {
                ""
            };
            format!("a ridge fit with {features} features{dense}")
        };
        let cost = self.way(source, features, known, engine.memory_limit())?.cost();
        engine.check_memory(what, cost.peak_bytes.saturating_add(known.bytes(features)))
    }

    /// Fits with a sample of the source's rows that was taken before.
    pub fn fit_with(&self, engine: &Engine, source: &dyn Source, sample: &Sample) -> Result<Model> {
        self.fit_knowing(engine, source, sample, Uncertainty::default())
    }

    /// The same with what the model is to know of its errors, but for rows held out.
    pub(super) fn fit_knowing(
        &self,
        engine: &Engine,
        source: &dyn Source,
        sample: &Sample,
        known: Uncertainty,
    ) -> Result<Model> {
        self.check(engine, source)?;
        self.check_size(engine, source, self.map.output_dim(source.input_dim()), known)?;
        self.map.check_source(engine, source)?;
        let map = self.map.fit_to(engine, source, sample)?;
        // Bins are counted only now.
        self.check_size(engine, source, map.output_dim(), known)?;
        let certificate = Certificate::measure(engine, &map, sample)?;
        self.warn_of_constants(engine, source.target(), sample)?;
        let units = Units::of(sample, self.intercept);
        let (found, calibration, posterior) =
            match self.way(source, map.output_dim(), known, engine.memory_limit())? {
                Way::Gram(_) => self.by_sums(engine, source, &map, &units, known)?,
                Way::Passes(plan) => {
                    let (intercept, lambda, units) = (self.intercept, self.lambda, &units);
                    let (guide, keeps) = (plan.guide, plan.keeps);
                    let (map, limits, shape) =
                        (&map, self.solver.limits(), self.shape(source, map.output_dim(), known));
                    let conjugate = Conjugate {
                        engine,
                        source,
                        map,
                        sample,
                        units,
                        shape,
                        lambda,
                        intercept,
                        limits,
                        guide,
                        keeps,
                    };
                    (conjugate.fit()?, None, None)
                }
            };
        let training = Training {
            rows: found.rows,
            lambda: found.lambda,
            curve: found.curve,
            folds: self.lambda.folds(),
            fold_errors: found.fold_errors,
            intercept: self.intercept,
            plan: None,
            outcome: found.outcome,
        };
        let Solution { coefficients, mut intercept } = found.solution;
        intercept.iter_mut().zip(&units.shift).for_each(|(b, shift)| *b += shift);
        check::finite(&coefficients, &intercept, &certificate, &training)?;
        let coefficients =
            Matrix::from_fn(coefficients.columns(), coefficients.rows(), |o, j| coefficients.row(j)[o]);
        let head = match source.target() {
            Target::Numbers { .. } => Head::Regression,
            Target::Classes { labels } => {
                Head::Classification { labels: labels.clone(), decision: Decision::Largest }
            }
        };
        let encoder = Encoder::identity(source.input_dim());
        let model =
            Model::new(engine, encoder, map, coefficients, intercept, head, certificate, Some(training));
        Ok(model.knowing(calibration, posterior))
    }

    /// One pass for the sums, and their solution.
    fn by_sums(
        &self,
        engine: &Engine,
        source: &dyn Source,
        map: &Map,
        units: &Units,
        known: Uncertainty,
    ) -> Result<(Found, Option<Calibration>, Option<Posterior>)> {
        let folds = known.folds(self.lambda, Loss::Squares, source.target());
        let gram = self.gram(engine, source, map, units, folds)?;
        let Chosen { lambda, curve, fold_errors } = self.choose(engine, &gram)?;
        let (solution, freedom, posterior) = engine.phase("solve", gram.rows(), |check| {
            let sums = gram.total(engine);
            let weight = sums.weight * units.weight;
            let normal = Normal::new(engine, sums, self.intercept);
            let (solution, factored) = normal.factor(engine, lambda, &|done| check(done / 2.0))?;
            let rest = |done: f64| check((1.0 + done) / 2.0);
            let freedom = factored.cholesky.degrees_of_freedom(engine, lambda, &rest)?;
            let of = || posterior(factored, self.intercept, weight, freedom);
            Ok((solution, freedom, known.deviation.then(of).transpose()?))
        })?;
        let calibration = if known.calibrates(Loss::Squares, source.target()) {
            let models = self.without_each_fold(engine, &gram, lambda, &units.shift)?;
            Some(self.calibration(engine, source, map, &models)?)
        } else {
            None
        };
        let outcome = Outcome::Squares { degrees_of_freedom: freedom };
        let found = Found { rows: gram.rows(), lambda, curve, fold_errors, solution, outcome };
        Ok((found, calibration, posterior))
    }

    /// A constant target is a model that predicts it, with a warning.
    fn warn_of_constants(&self, engine: &Engine, target: &Target, sample: &Sample) -> Result<()> {
        let Target::Numbers { outputs } = target else { return Ok(()) };
        for output in 0..*outputs {
            let mut values = sample.iter().map(|row| row.targets[output].to_bits());
            let first = values.next();
            if sample.len() > 1 && values.all(|y| Some(y) == first) {
                let text = format!(
                    "target {output} is constant in all sampled rows: the model predicts the constant"
                );
                engine.tell(&Event::Warning { text: &text })?;
            }
        }
        Ok(())
    }

    /// The pass over the rows.
    fn gram(
        &self,
        engine: &Engine,
        source: &dyn Source,
        map: &Map,
        units: &Units,
        folds: usize,
    ) -> Result<Gram> {
        let target = source.target();
        let hash = ContentHash::new(self.map.seed, Stream::Folds);
        let (mut single, mut double) = (Buffers::default(), Buffers::default());
        let check = || engine.tell(&Event::Alive);
        try_sweep(
            engine,
            source,
            "fit",
            || Gram::zero(engine, map.output_dim(), target.outputs(), folds),
            |gram, batch| {
                let fold: Vec<usize> = if folds == 1 {
                    vec![0; batch.rows.count()]
                } else {
                    folds_of(engine, &hash, batch, folds)
                };
                let block = Block { batch, fold: &fold, targets: &units.targets(target, batch), units };
                match batch.rows {
                    AnyRows::F32(rows) => single.absorb(engine, gram, map, &rows, &block, check),
                    AnyRows::F64(rows) => double.absorb(engine, gram, map, &rows, &block, check),
                }
            },
        )
    }

    /// λ and the errors it was chosen by.
    pub(super) fn choose(&self, engine: &Engine, gram: &Gram) -> Result<Chosen> {
        if let Lambda::Given { value } = self.lambda {
            return Ok(Chosen { lambda: value, ..Chosen::default() });
        }
        let unit = {
            let sums = gram.total(engine);
            let square = (0..sums.features.len()).map(|j| sums.products.row(j)[j]).sum::<f64>() / sums.weight;
            let unit = Normal::new(engine, sums, self.intercept).trace();
            // Features that do not vary, up to rounding in single precision, leave nothing to choose: any λ gives the constant.
            if unit > 1e-6 * square { unit } else { square.max(f64::MIN_POSITIVE) }
        };
        let grid: Vec<f64> = GRID.map(|e| unit * 10f64.powf(f64::from(e) / 2.0)).collect();
        let errors =
            engine.phase("cross-validation", gram.rows(), |check| self.errors(engine, gram, &grid, check))?;
        let total: f64 = errors.iter().map(|fold| fold.weight).sum();
        let sum = |l: usize| errors.iter().map(|fold| fold.sums[l]).sum::<f64>();
        // A λ that is too small for the matrix of a fold has no error to show.
        let shown: Vec<usize> = (0..grid.len()).filter(|&l| total > 0.0 && sum(l).is_finite()).collect();
        let curve: Vec<CurvePoint> =
            shown.iter().map(|&l| CurvePoint { lambda: grid[l], error: sum(l) / total }).collect();
        match lambda::strongest(&curve) {
            Some(at) => {
                let point = curve[at];
                let fold_errors = errors.iter().map(|fold| fold.sums[shown[at]] / fold.weight).collect();
                if curve.len() < grid.len() && point.lambda <= curve[0].lambda {
                    let text = "the best λ is the smallest that the precision of the features allows; features in double \
                                precision, or a narrower kernel, may fit better";
                    engine.tell(&Event::Warning { text })?;
                }
                Ok(Chosen { lambda: point.lambda, curve, fold_errors })
            }
            None => {
                let filled = (0..gram.folds()).filter(|&k| gram.weight(k) > 0.0).count();
                let why = if filled < 2 {
                    "too few distinct rows for cross-validation"
                } else {
                    "no λ leaves the matrix positive definite in this precision"
                };
                let text = format!(
                    "{why}: λ is 1e-3 times the size of the features; give a λ to choose it yourself"
                );
                engine.tell(&Event::Warning { text: &text })?;
                Ok(Chosen { lambda: 1e-3 * unit, ..Chosen::default() })
            }
        }
    }

    /// The error of one λ on left-out folds.
    pub(super) fn left_out(
        &self,
        engine: &Engine,
        gram: &Gram,
        lambda: f64,
        check: Check<'_>,
    ) -> Result<LeftOut> {
        let errors = self.errors(engine, gram, &[lambda], check)?;
        let total: f64 = errors.iter().map(|fold| fold.weight).sum();
        let mean = errors.iter().map(|fold| fold.sums[0]).sum::<f64>() / total;
        let mean = if mean.is_finite() { mean } else { f64::INFINITY };
        Ok(LeftOut::new(mean, errors.iter().map(|fold| fold.sums[0] / fold.weight).collect()))
    }

    /// The error of every λ on left-out folds: one decomposition a fold.
    fn errors(
        &self,
        engine: &Engine,
        gram: &Gram,
        grid: &[f64],
        check: Check<'_>,
    ) -> Result<Vec<FoldErrors>> {
        let total: f64 = (0..gram.folds()).map(|k| gram.weight(k)).sum();
        let usable: Vec<usize> =
            (0..gram.folds()).filter(|&k| gram.weight(k) > 0.0 && gram.weight(k) < total).collect();
        let mut errors = Vec::with_capacity(usable.len());
        for (done, &k) in usable.iter().enumerate() {
            let check = |part: f64| check((done as f64 + part) / usable.len() as f64);
            let others = gram.without(engine, k);
            check(0.0)?;
            let normal = Normal::new(engine, others, self.intercept);
            check(0.0)?;
            let path = Path::new(engine, normal, &check)?;
            let own = gram.only(engine, k);
            check(1.0)?;
            errors
                .push(FoldErrors { weight: gram.weight(k), sums: path.errors(engine, grid, &own, &check)? });
        }
        Ok(errors)
    }
}

/// What cross-validation chose, and by what.
#[derive(Default)]
pub(super) struct Chosen {
    pub(super) lambda: f64,
    /// Empty where λ was given, or could not be chosen.
    pub(super) curve: Vec<CurvePoint>,
    /// The mean error of each fold at λ.
    pub(super) fold_errors: Vec<f64>,
}

/// Errors on a fold of models that have not seen it.
struct FoldErrors {
    weight: f64,
    /// Weighted sums of squares, one for each λ.
    sums: Vec<f64>,
}

/// Memory for a block of features, kept from block to block.
#[derive(Default)]
struct Buffers<T> {
    features: Aligned<T>,
    packed: Aligned<T>,
}

/// What goes with the rows of a block.
struct Block<'a> {
    batch: &'a Batch<'a>,
    fold: &'a [usize],
    targets: &'a Matrix<f64>,
    units: &'a Units,
}

impl<T: Scalar> Buffers<T> {
    fn absorb(
        &mut self,
        engine: &Engine,
        gram: &mut Gram,
        map: &Map,
        rows: &Rows<'_, T>,
        block: &Block<'_>,
        check: impl Fn() -> Result<()>,
    ) -> Result<()> {
        let features = self.features.sized(rows.count() * map.output_dim());
        map.apply_until(engine, rows, features, false, &check)?;
        let z = MatrixView::new(features, rows.count(), map.output_dim())?;
        let weight = |i| block.batch.weight(i) / block.units.weight;
        gram.absorb_until(
            engine,
            z,
            block.targets.view(),
            &weight,
            &|i| block.fold[i],
            &mut self.packed,
            check,
        )
    }
}

/// What targets and weights are measured in while they are summed, so that the sums keep their digits: targets far from zero, and
/// weights far from one. Both follow from the sample, hence from content.
pub(super) struct Units {
    /// Subtracted from each output; zero without an intercept, which is what takes it back.
    pub(super) shift: Vec<f64>,
    /// Divides the weights: a power of four, so that nothing is rounded.
    pub(super) weight: f64,
}

impl Units {
    pub(super) fn of(sample: &Sample, intercept: bool) -> Units {
        let total: f64 = sample.iter().map(|row| row.weight).sum();
        let outputs = sample.iter().next().map_or(0, |row| row.targets.len());
        let mean = |o: usize| sample.iter().map(|row| row.targets[o] * (row.weight / total)).sum::<f64>();
        // To 24 bits: repeated and weighted rows give means that differ in their last ones.
        let shift = |o| if intercept { f64::from(mean(o) as f32) } else { 0.0 };
        let typical = total / sample.len().max(1) as f64;
        let weight = 4f64.powi((typical.log2() / 2.0).round() as i32);
        let usable = weight > 0.0 && weight.is_finite();
        Units {
            shift: (0..outputs).map(shift).map(|s| if s.is_finite() { s } else { 0.0 }).collect(),
            weight: if usable { weight } else { 1.0 },
        }
    }

    /// The coded targets of a batch, shifted.
    pub(super) fn targets(&self, target: &Target, batch: &Batch<'_>) -> Matrix<f64> {
        let mut coded = target.coded(batch);
        for i in 0..coded.rows() {
            coded.row_mut(i).iter_mut().zip(&self.shift).for_each(|(y, shift)| *y -= shift);
        }
        coded
    }
}

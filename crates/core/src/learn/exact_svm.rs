//! Support vector machines with the exact kernel: one against one.
//!
//! ```text
//! minimise ½‖w‖² + C Σ wᵢ·max(0, 1 − yᵢf(xᵢ)),      f(x) = Σ αᵢyᵢk(xᵢ, x) + b        for each pair of classes
//! ```
//! as LIBSVM has it; C = 1/(2λΣw) in the words of the other learners. What it gives is a model like theirs: f is linear in the plain kernel values
//! F₁(x) = (k(x, x₁), …) at the support vectors, so these are the landmarks of its map and αᵢyᵢ its coefficients. Costs between n² and n³;
//! every row and a part of the kernel matrix stay in memory. `docs/book/svm.md`.

use super::check::{self, labels};
use super::held::{AnyHeld, Held, Size};
use super::linear::normalised_margin;
use crate::certify::{Bound, Certificate};
use crate::engine::Check;
use crate::map::{Choice, Landmarks};
use crate::model::{Decision, Head, Model, Outcome, Training};
use crate::plan::Cost;
use crate::solve::{Hinge, KernelSvm, KernelSvmSolution};
use crate::source::Source;
use crate::stat::Sample;
use crate::{Encoder, Engine, Error, Event, Kernel, Map, MapSpec, Matrix, Method, Result, Scalar};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A support vector machine with the exact kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactSvm {
    /// What similarity means.
    pub kernel: Kernel,
    /// C > 0: what a margin that is too small costs.
    pub cost: f64,
    /// How much the conditions of an optimum may be violated: LIBSVM's rule to stop.
    pub tolerance: f64,
    /// For kernel rows that are kept.
    pub cache_bytes: usize,
}

impl ExactSvm {
    /// C = 1, a violation of 10⁻³, 200 MiB of kernel rows.
    pub fn new(kernel: Kernel) -> Self {
        ExactSvm { kernel, cost: 1.0, tolerance: 1e-3, cache_bytes: 200 << 20 }
    }

    /// What fitting will cost, as far as it can be told: steps depend on the data.
    pub fn plan(&self, source: &dyn Source) -> Result<Cost> {
        self.validate()?;
        let rows = source.row_count().unwrap_or(0);
        let (n, d) = (rows as f64, source.input_dim() as f64);
        let identity = MapSpec::auto(Kernel::Linear);
        let held = Size::of(source, &identity, source.input_dim(), rows);
        let classes = source.target().outputs() as u64;
        let pairs = classes.saturating_mul(classes.saturating_sub(1)) / 2;
        // Rows as they are and laid out for the kernel; α of each pair, and a few numbers of the pairs at work. Support vectors are counted when they are known.
        let beside = rows.saturating_mul(8 * pairs.max(1) + 300);
        let peak_bytes = [held.bytes.saturating_mul(4), beside, self.cache_bytes as u64];
        Ok(Cost {
            passes: 2,
            multiply_adds_per_million_rows: 0.0,
            multiply_adds_to_solve: n * n * d,
            peak_bytes: peak_bytes.into_iter().fold(0, u64::saturating_add),
        })
    }

    fn validate(&self) -> Result<()> {
        self.kernel.validate()?;
        for (name, value) in [("cost", self.cost), ("tolerance", self.tolerance)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::Parameter {
                    name,
                    expected: "positive and finite",
                    found: value.to_string(),
                });
            }
        }
        Ok(())
    }

    /// Fits to all rows of the source.
    pub fn fit(&self, engine: &Engine, source: &dyn Source) -> Result<Model> {
        self.validate()?;
        labels(source)?;
        self.kernel.check_source(engine, source)?;
        let what = || "a support vector machine with the exact kernel".to_owned();
        engine.check_memory(what, self.plan(source)?.peak_bytes)?;
        let rows = match source.row_count() {
            Some(rows) => rows,
            None => Sample::of(engine, source, 1, 0)?.population(),
        };
        let identity = MapSpec::auto(Kernel::Linear).build(source.input_dim())?;
        match AnyHeld::of(engine, source, &identity, rows, 1)? {
            AnyHeld::F32(held) => self.fit_held(engine, source, &held),
            AnyHeld::F64(held) => self.fit_held(engine, source, &held),
        }
    }

    fn fit_held<T: Scalar>(&self, engine: &Engine, source: &dyn Source, held: &Held<T>) -> Result<Model> {
        let labels = labels(source)?;
        let n = held.weights.len();
        let classes = labels.len();
        let pairs: Vec<(usize, usize)> =
            (0..classes).flat_map(|a| (a + 1..classes).map(move |b| (a, b))).collect();
        let solutions = engine.phase("smo", held.count, |check| self.solve(engine, held, &pairs, check))?;
        let unsettled = solutions.iter().map(|s| s.violation).fold(0.0, f64::max);
        if unsettled > self.tolerance {
            let text = format!(
                "the descent was stopped at a violation of {unsettled:.1e}, above {:.1e}; a smaller C or a narrower \
                 kernel is easier",
                self.tolerance
            );
            engine.tell(&Event::Warning { text: &text })?;
        }
        let total: f64 = held.weights.iter().sum();
        let rows = held.rows()?;
        let largest = self.kernel.diagonal(&rows).into_iter().fold(0.0, f64::max).sqrt();
        let widest = solutions.iter().map(|s| s.square.sqrt()).fold(0.0, f64::max);
        let outcome = Outcome::Margins {
            hinge: Hinge::Plain,
            primal: solutions.iter().map(|s| s.primal).sum(),
            dual: solutions.iter().map(|s| s.dual).sum(),
            margin: normalised_margin(widest, largest),
        };
        // A map has a feature at least, also where nothing was learnt.
        let supports = |i: &usize| solutions.iter().any(|s| s.alpha[*i] > 0.0);
        let mut support: Vec<usize> = (0..n).filter(supports).collect();
        if support.is_empty() {
            support.push(0);
        }
        let size = (support.len() as u64).saturating_mul(8 * (2 * rows.columns() + 2 * pairs.len()) as u64);
        engine.check_memory(|| format!("{} support vectors", support.len()), size)?;
        let sign = |class: usize, (_, b): (usize, usize)| if class == b { 1.0 } else { -1.0 };
        let coefficients = Matrix::from_fn(pairs.len(), support.len(), |p, k| {
            solutions[p].alpha[support[k]] * sign(held.class(support[k]), pairs[p])
        });
        let intercept: Vec<f64> = solutions.iter().map(|s| s.intercept).collect();
        let mut landmarks = Matrix::zeros(support.len(), rows.columns());
        let mut row = vec![T::default(); rows.columns()];
        for (k, &i) in support.iter().enumerate() {
            rows.densify(i, &mut row);
            landmarks.row_mut(k).iter_mut().zip(&row).for_each(|(to, x)| *to = x.to_f64());
        }
        let spec = MapSpec {
            kernel: self.kernel.clone(),
            method: Method::Landmarks { whiten: false, tolerance: 1e-7, choice: Choice::Given },
            features: support.len(),
            seed: 0,
        };
        let map = Map::from_landmarks(spec, Landmarks::new(landmarks, None));
        let certificate = Certificate { bound: Bound::Exact, measured: None };
        let training = Training {
            fold_errors: Vec::new(),
            plan: None,
            rows: held.count,
            lambda: 1.0 / (2.0 * self.cost * total),
            curve: Vec::new(),
            outcome,
            folds: 1,
            intercept: true,
        };
        check::finite(&coefficients, &intercept, &certificate, &training)?;
        let head = Head::Classification { labels: labels.clone(), decision: Decision::Votes };
        let encoder = Encoder::identity(source.input_dim());
        Ok(Model::new(engine, encoder, map, coefficients, intercept, head, certificate, Some(training)))
    }

    /// The machines of all pairs, side by side; each is solved by one thread.
    fn solve<T: Scalar>(
        &self,
        engine: &Engine,
        held: &Held<T>,
        pairs: &[(usize, usize)],
        check: Check<'_>,
    ) -> Result<Vec<KernelSvmSolution>> {
        let rows = held.rows()?;
        let n = held.weights.len();
        let most = (100 * n).max(10_000_000);
        let at_once = engine.threads().min(pairs.len()).max(1);
        let finished = AtomicUsize::new(0);
        let check = |_: f64| check(finished.load(Ordering::Relaxed) as f64 / pairs.len() as f64);
        let solve = |pair: usize| {
            let (a, b) = pairs[pair];
            let cost = |i: usize| {
                let takes_part = held.class(i) == a || held.class(i) == b;
                if takes_part { self.cost * held.weights[i] } else { 0.0 }
            };
            let costs: Vec<f64> = (0..n).map(cost).collect();
            let signs: Vec<f64> = (0..n).map(|i| if held.class(i) == b { 1.0 } else { -1.0 }).collect();
            let cache_bytes = self.cache_bytes / at_once;
            let svm = KernelSvm { kernel: &self.kernel, rows, signs: &signs, costs: &costs, cache_bytes };
            let solution = svm.solve_within(engine, self.tolerance, most, &check);
            finished.fetch_add(1, Ordering::Relaxed);
            solution
        };
        engine.map(pairs.len(), &solve).into_iter().collect()
    }
}

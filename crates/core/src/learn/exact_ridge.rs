//! Ridge regression and classification with the exact kernel.
//!
//! ```text
//! minimise (1/Σw) Σ wᵢ(yᵢ − f(xᵢ) − b)² + λ‖f‖²,      f(x) = Σ αᵢk(xᵢ, x)
//! ```
//! What the learners on features are measured by. f is linear in the plain kernel values F₁(x) = (k(x, x₁), …) at all rows, so these are the landmarks of
//! its map and α its coefficients, as for the exact support vector machine. λ is given, or chosen by K-fold cross-validation that is exact: the model of each fold is fitted
//! without it, for all λ from one band form of its matrix. Costs n³ and holds n² numbers, twice for cross-validation: for some thousand rows. `docs/book/ridge.md`.
use super::held::{AnyHeld, Held, Size};
use super::ridge::{CurvePoint, GRID, Lambda};
use super::{check, lambda};
use crate::certify::{Bound, Certificate};
use crate::engine::Check;
use crate::kernel::Against;
use crate::linalg::dot;
use crate::map::{Choice, Landmarks};
use crate::model::{Decision, Head, Model, Outcome, Training};
use crate::plan::Cost;
use crate::solve::{Centring, DualRidge, Solution, shares};
use crate::source::{Batch, Source, Target};
use crate::stat::Sample;
use crate::{
    AnyRows, Csr, Encoder, Engine, Error, Event, Kernel, Map, MapSpec, Matrix, MatrixView, Method, OwnedRows,
    Result, Rows, Scalar,
};

/// What rounding may add to the targets, of their size, before it is told.
const SETTLED: f64 = 1e-6;

/// Rows of the kernel matrix between two questions whether to go on, and those that one thread fills at once.
const STRIP: usize = 512;
const TOGETHER: usize = 32;

/// Ridge regression or classification with the exact kernel, by what the source asks to predict.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactRidge {
    /// What similarity means.
    pub kernel: Kernel,
    /// How λ is found.
    pub lambda: Lambda,
    /// Whether to fit a constant that is not penalised.
    pub intercept: bool,
}

impl ExactRidge {
    /// λ by 5-fold cross-validation and an intercept.
    pub fn new(kernel: Kernel) -> Self {
        ExactRidge { kernel, lambda: Lambda::CrossValidated { folds: 5 }, intercept: true }
    }

    /// What fitting will cost; none of the memory is counted where the number of rows is unknown.
    pub fn plan(&self, source: &dyn Source) -> Result<Cost> {
        self.kernel.validate()?;
        self.lambda.validate()?;
        Ok(self.cost(source, source.row_count().unwrap_or(0)))
    }

    fn cost(&self, source: &dyn Source, rows: u64) -> Cost {
        let (n, d, t) = (rows as f64, source.input_dim() as f64, source.target().outputs() as f64);
        let folds = self.lambda.folds() as f64;
        let held = Size::of(source, &MapSpec::auto(Kernel::Linear), source.input_dim(), rows).bytes as f64;
        let is_validated = folds > 1.0;
        // K, and beside it the matrix without a fold; panels of the reduction, solutions of all λ.
        let left = 1.0 - 1.0 / folds;
        let matrices = 8.0 * n * n * if is_validated { 1.0 + left } else { 1.0 };
        let beside = 8.0 * n * if is_validated { 256.0 + 4.0 * 21.0 * t } else { 128.0 + 4.0 * t };
        // Rows as they came, in double precision, laid out for the kernel, and as landmarks.
        let copies = 8.0 * n * d * 3.0;
        let reductions = if is_validated { folds * left.powi(3) * 2.0 / 3.0 } else { 0.0 };
        Cost {
            passes: 2,
            multiply_adds_per_million_rows: 0.0,
            multiply_adds_to_solve: 2.0 * n * n * d + (reductions + 1.0 / 3.0) * n.powi(3),
            peak_bytes: (held + copies + matrices + beside) as u64,
        }
    }

    /// Fits to all rows of the source.
    pub fn fit(&self, engine: &Engine, source: &dyn Source) -> Result<Model> {
        self.plan(source)?;
        if let Target::Classes { labels } = source.target()
            && labels.len() < 2
        {
            return Err(Error::OneClass { label: labels.text(0).to_owned() });
        }
        let rows = match source.row_count() {
            Some(rows) => rows,
            None => Sample::of(engine, source, 1, 0)?.population(),
        };
        let what =
            || format!("kernel ridge with the exact kernel of {rows} rows (on features, rows cost nothing)");
        engine.check_memory(what, self.cost(source, rows).peak_bytes)?;
        self.kernel.check_source(engine, source)?;
        let identity = MapSpec::auto(Kernel::Linear).build(source.input_dim())?;
        match AnyHeld::of(engine, source, &identity, rows, self.lambda.folds())? {
            AnyHeld::F32(held) => self.fit_held(engine, source, &held, in_double(&held.rows()?).view(), true),
            AnyHeld::F64(held) => self.fit_held(engine, source, &held, held.rows()?, false),
        }
    }

    fn fit_held<T: Scalar>(
        &self,
        engine: &Engine,
        source: &dyn Source,
        held: &Held<T>,
        rows: Rows<'_, f64>,
        is_single: bool,
    ) -> Result<Model> {
        let targets = coded(source.target(), held, rows)?;
        let weights = &held.weights[..];
        let kernel = engine.phase("kernel", held.count, |check| self.matrix(engine, &rows, check))?;
        let (lambda, curve) = self.choose(engine, held, &kernel, &targets)?;
        let (solution, freedom) = engine
            .phase("solve", held.count, |check| {
                DualRidge::new(engine, kernel, weights, targets.clone(), self.intercept)
                    .solve(engine, lambda, check)
            })
            .map_err(|error| self.singular(error, lambda, &rows))?;
        let training = Training {
            fold_errors: Vec::new(),
            plan: None,
            rows: held.count,
            lambda,
            curve,
            folds: self.lambda.folds(),
            intercept: self.intercept,
            outcome: Outcome::Squares { degrees_of_freedom: freedom },
        };
        let certificate = Certificate { bound: Bound::Exact, measured: None };
        check::finite(&solution.coefficients, &solution.intercept, &certificate, &training)?;
        let problem = Problem { engine, kernel: &self.kernel, rows, weights, targets: &targets, lambda };
        let missed = engine.phase("check", held.count, |check| problem.missed(&solution, check))?;
        warn(engine, &problem, &solution, missed, is_single)?;
        let Solution { coefficients, intercept } = solution;
        let coefficients =
            Matrix::from_fn(coefficients.columns(), coefficients.rows(), |o, i| coefficients.row(i)[o]);
        let head = match source.target() {
            Target::Numbers { .. } => Head::Regression,
            Target::Classes { labels } => {
                Head::Classification { labels: labels.clone(), decision: Decision::Largest }
            }
        };
        let mut landmarks = Matrix::zeros(rows.count(), rows.columns());
        (0..rows.count()).for_each(|i| rows.densify(i, landmarks.row_mut(i)));
        let spec = MapSpec {
            kernel: self.kernel.clone(),
            method: Method::Landmarks { whiten: false, tolerance: 1e-7, choice: Choice::Given },
            features: rows.count(),
            seed: 0,
        };
        let map = Map::from_landmarks(spec, Landmarks::new(landmarks, None));
        let encoder = Encoder::identity(source.input_dim());
        Ok(Model::new(engine, encoder, map, coefficients, intercept, head, certificate, Some(training)))
    }

    /// K, in double precision whatever the rows came in: its small eigenvalues are what λ is added to.
    fn matrix(&self, engine: &Engine, rows: &Rows<'_, f64>, check: Check<'_>) -> Result<Matrix<f64>> {
        let n = rows.count();
        let against = Against::new(engine, &self.kernel, rows)?;
        let mut matrix = Matrix::zeros(n, n);
        for (strip, values) in matrix.as_mut_slice().chunks_mut(STRIP * n).enumerate() {
            fill(engine, &against, rows, strip * STRIP, values)?;
            check(((strip + 1) * STRIP).min(n) as f64 / n as f64)?;
        }
        Ok(matrix)
    }

    /// λ and the curve it was chosen from: the same grid and rule as on features.
    fn choose<T: Scalar>(
        &self,
        engine: &Engine,
        held: &Held<T>,
        kernel: &Matrix<f64>,
        targets: &Matrix<f64>,
    ) -> Result<(f64, Vec<CurvePoint>)> {
        if let Lambda::Given { value } = self.lambda {
            return Ok((value, Vec::new()));
        }
        let unit = {
            let Centring { trace, square, .. } = Centring::of(engine, kernel, &held.weights, self.intercept);
            // Rows that the kernel cannot tell apart leave nothing to choose: any λ gives the constant.
            if trace > 1e-6 * square { trace } else { square.max(f64::MIN_POSITIVE) }
        };
        let grid: Vec<f64> = GRID.map(|e| unit * 10f64.powf(f64::from(e) / 2.0)).collect();
        let curve = engine.phase("cross-validation", held.count, |check| {
            self.curve(engine, held, kernel, targets, &grid, check)
        })?;
        match lambda::strongest(&curve) {
            Some(at) => Ok((curve[at].lambda, curve)),
            None => {
                let text = "too few distinct rows for cross-validation: λ is 1e-3 times the size of the kernel; give a λ to \
                            choose it yourself";
                engine.tell(&Event::Warning { text })?;
                Ok((1e-3 * unit, Vec::new()))
            }
        }
    }

    /// The problem of some rows.
    fn without<T: Scalar>(
        &self,
        engine: &Engine,
        held: &Held<T>,
        kernel: &Matrix<f64>,
        targets: &Matrix<f64>,
        rows: &[usize],
    ) -> DualRidge {
        let n = rows.len();
        let mut part = Matrix::zeros(n, n);
        engine.for_each_chunk(part.as_mut_slice(), n, &|at, to| {
            let i = rows[at];
            to.iter_mut().zip(rows).for_each(|(to, &j)| *to = kernel.row(i)[j]);
        });
        let weights: Vec<f64> = rows.iter().map(|&i| held.weights[i]).collect();
        let targets = Matrix::from_fn(n, targets.columns(), |i, o| targets.row(rows[i])[o]);
        DualRidge::new(engine, part, &weights, targets, self.intercept)
    }

    /// The error of every λ on left-out folds, each predicted by the model of the others.
    fn curve<T: Scalar>(
        &self,
        engine: &Engine,
        held: &Held<T>,
        kernel: &Matrix<f64>,
        targets: &Matrix<f64>,
        grid: &[f64],
        check: Check<'_>,
    ) -> Result<Vec<CurvePoint>> {
        let n = held.weights.len();
        let usable: Vec<(Vec<usize>, Vec<usize>)> = (0..self.lambda.folds())
            .map(|fold| (0..n).partition(|&i| held.folds[i] == fold))
            .filter(|(left_out, others): &(Vec<usize>, Vec<usize>)| {
                !left_out.is_empty() && !others.is_empty()
            })
            .collect();
        if usable.is_empty() {
            return Ok(Vec::new());
        }
        let shares = shares(&held.weights);
        let mut errors = vec![0.0; grid.len()];
        for (done, (left_out, others)) in usable.iter().enumerate() {
            let check = |part: f64| check((done as f64 + part) / usable.len() as f64);
            let solutions = self.without(engine, held, kernel, targets, others).path(engine, grid, &check)?;
            let squares = left_out_squares(engine, kernel, targets, left_out, others, &solutions);
            for (l, solution) in solutions.iter().enumerate() {
                // A λ that is too small for the matrix of a fold has no error to show.
                let sum = |at: usize| shares[left_out[at]] * squares.row(at)[l];
                let error: f64 = (0..left_out.len()).map(sum).sum();
                errors[l] += if solution.is_some() { error } else { f64::INFINITY };
            }
            check(1.0)?;
        }
        let points = grid.iter().zip(errors).map(|(&lambda, error)| CurvePoint { lambda, error });
        Ok(points.filter(|point| point.error.is_finite()).collect())
    }

    /// What to do about a matrix that rounding has made singular.
    fn singular(&self, error: Error, lambda: f64, rows: &Rows<'_, f64>) -> Error {
        let Error::NotPositiveDefinite { size, .. } = error else { return error };
        let largest = self.kernel.diagonal(rows).into_iter().fold(0.0, f64::max);
        let enough = 10.0 * f64::EPSILON * size as f64 * largest;
        Error::Unsupported {
            what: format!("kernel ridge of {size} rows with λ = {lambda:.1e}, where {enough:.1e} is safe,"),
            reason: "rows that the kernel hardly tells apart leave a matrix that is singular in double precision, and λ is \
                     lost in it",
            instead: "raise λ, or have it chosen by cross-validation",
        }
    }
}

/// Kernel values of the rows from `start` on with all, as many as there is room for; pieces of them side by side.
fn fill(
    engine: &Engine,
    against: &Against<f64>,
    rows: &Rows<'_, f64>,
    start: usize,
    values: &mut [f64],
) -> Result<()> {
    let n = rows.count();
    engine.for_each_chunk(values, TOGETHER * n, &|piece, out| {
        let from = start + piece * TOGETHER;
        against.fill(&rows.slice(from..from + out.len() / n), out);
    });
    if values.iter().all(|value| value.is_finite()) {
        Ok(())
    } else {
        Err(Error::Overflow { what: "the kernel values" })
    }
}

/// Targets as numbers, as ridge codes them.
fn coded<T: Scalar>(target: &Target, held: &Held<T>, rows: Rows<'_, f64>) -> Result<Matrix<f64>> {
    let targets = MatrixView::new(&held.targets, rows.count(), held.outputs)?;
    Ok(target.coded(&Batch::new(AnyRows::F64(rows), targets, 0)))
}

/// The same rows in double precision.
fn in_double<T: Scalar>(rows: &Rows<'_, T>) -> OwnedRows<f64> {
    match rows {
        Rows::Dense(dense) => {
            OwnedRows::Dense(Matrix::from_fn(rows.count(), rows.columns(), |i, j| dense.row(i)[j].to_f64()))
        }
        Rows::Sparse(_) => {
            let mut double = Csr::empty(rows.columns());
            (0..rows.count()).for_each(|i| double.push_row(rows.doubled_entries(i)));
            OwnedRows::Sparse(double)
        }
    }
}

/// For each row that was left out and each λ: the squared error of the others' model, summed over outputs.
fn left_out_squares(
    engine: &Engine,
    kernel: &Matrix<f64>,
    targets: &Matrix<f64>,
    left_out: &[usize],
    others: &[usize],
    solutions: &[Option<Solution>],
) -> Matrix<f64> {
    let outputs = targets.columns();
    // One row of coefficients for each λ and output.
    let coefficients = Matrix::from_fn(solutions.len() * outputs, others.len(), |row, i| {
        solutions[row / outputs].as_ref().map_or(0.0, |s| s.coefficients.row(i)[row % outputs])
    });
    let mut squares = Matrix::zeros(left_out.len(), solutions.len());
    engine.for_each_chunk(squares.as_mut_slice(), solutions.len(), &|at, to| {
        let i = left_out[at];
        let values: Vec<f64> = others.iter().map(|&j| kernel.row(i)[j]).collect();
        for ((l, to), solution) in to.iter_mut().enumerate().zip(solutions) {
            let Some(solution) = solution else { continue };
            let error = |o: usize| {
                let found = dot(&values, coefficients.row(l * outputs + o)) + solution.intercept[o];
                targets.row(i)[o] - found
            };
            *to = (0..outputs).map(|o| error(o) * error(o)).sum();
        }
    });
    squares
}

/// What was solved, to see how well.
struct Problem<'a> {
    engine: &'a Engine,
    kernel: &'a Kernel,
    rows: Rows<'a, f64>,
    weights: &'a [f64],
    targets: &'a Matrix<f64>,
    lambda: f64,
}

impl Problem<'_> {
    /// How far the conditions of the minimum are missed: the weighted root mean square of yᵢ − f(xᵢ) − b − λαᵢ/ŵᵢ, in parts of that of y. Of the kernel
    /// values as they are, not as factored: rounding has nowhere to hide.
    fn missed(&self, solution: &Solution, check: Check<'_>) -> Result<f64> {
        let (n, outputs) = (self.rows.count(), self.targets.columns());
        let shares = shares(self.weights);
        let alpha = Matrix::from_fn(outputs, n, |o, i| solution.coefficients.row(i)[o]);
        let against = Against::new(self.engine, self.kernel, &self.rows)?;
        let mut strip = vec![0.0; STRIP.min(n) * n];
        let (mut missed, mut size) = (0.0, 0.0);
        for start in (0..n).step_by(STRIP) {
            let values = &mut strip[..(n - start).min(STRIP) * n];
            fill(self.engine, &against, &self.rows, start, values)?;
            let values = &*values;
            let of_row = |at: usize| {
                let (i, share, row) = (start + at, shares[start + at], &values[at * n..(at + 1) * n]);
                let (mut missed, mut size) = (0.0, 0.0);
                for o in 0..outputs {
                    let y = self.targets.row(i)[o];
                    let residual = y - solution.intercept[o] - dot(row, alpha.row(o));
                    // √ŵ(y − f − b) = λα/√ŵ; a share that is lost in rounding has no α either.
                    let side = if share > 0.0 { self.lambda * alpha.row(o)[i] / share.sqrt() } else { 0.0 };
                    missed += (share.sqrt() * residual - side).powi(2);
                    size += share * y * y;
                }
                (missed, size)
            };
            let parts = self.engine.map(values.len() / n, &of_row);
            parts.iter().for_each(|(part, whole)| (missed, size) = (missed + part, size + whole));
            check((start + STRIP).min(n) as f64 / n as f64)?;
        }
        Ok(if size > 0.0 { (missed / size).sqrt() } else { 0.0 })
    }

    /// What single precision of the kernel values may do to a prediction, as far as roundings are independent, in parts of the targets' size.
    fn single(&self, solution: &Solution) -> f64 {
        let diagonal = self.kernel.diagonal(&self.rows);
        let square = |all: &Matrix<f64>, factor: &dyn Fn(usize) -> f64| -> f64 {
            (0..all.rows()).map(|i| all.row(i).iter().map(|x| (x * factor(i)).powi(2)).sum::<f64>()).sum()
        };
        let size = square(self.targets, &|_| 1.0) / self.targets.rows() as f64;
        let spread = square(&solution.coefficients, &|i| diagonal[i]);
        if size > 0.0 { 0.5 * f64::from(f32::EPSILON) * (spread / size).sqrt() } else { 0.0 }
    }
}

/// Says how much rounding has moved the model, or will move predictions.
fn warn(
    engine: &Engine,
    problem: &Problem<'_>,
    solution: &Solution,
    missed: f64,
    is_single: bool,
) -> Result<()> {
    let lambda = problem.lambda;
    if missed > SETTLED {
        let text = format!(
            "λ = {lambda:.1e} is nearly lost in the rounding of the kernel matrix: the fit misses its minimum by {missed:.1e} of the \
             targets; a λ of {:.1e} or more is safe",
            lambda * missed / SETTLED
        );
        engine.tell(&Event::Warning { text: &text })?;
    }
    let single = problem.single(solution);
    if is_single && single > 1e-3 {
        let text = format!(
            "coefficients are so large that predictions for rows in single precision are good to {single:.1e} of the targets \
             only; give rows in double precision, or raise λ above {lambda:.1e}"
        );
        engine.tell(&Event::Warning { text: &text })?;
    }
    Ok(())
}

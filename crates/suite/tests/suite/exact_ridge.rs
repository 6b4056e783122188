//! Ridge with the exact kernel: against naive elimination, naive refitting, ridge on exact features, and scikit-learn's numbers.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use bochner::content::ContentHash;
use bochner::random::Stream;
use bochner::{
    AnyRows, Arrays, Csr, Engine, EngineSpec, Error, Event, ExactRidge, Kernel, LabelKind, Labels, Lambda,
    MapSpec, Matrix, Model, Observer, Ridge, Rows, Target,
};
use bochner_testkit::{
    Absolute, Relative, assert_close, assert_same_bits, classification, normals, predict, regression,
    weighted_kernel_ridge,
};
use serde::Deserialize;

use crate::table::{INPUTS, engine, single};

const KERNELS: [&str; 4] =
    ["gaussian(sigma=2)", "laplace(scale=3)", "linear + 0.5*gaussian(sigma=1)[0..3]", "poly(degree=2,c=1)"];

struct Problem {
    x: Matrix<f64>,
    y: Matrix<f64>,
    weights: Vec<f64>,
}

fn problem(n: usize, targets: usize, seed: u64) -> Problem {
    let (x, y) = regression(n, INPUTS, targets, seed);
    Problem {
        x: Matrix::new(n, INPUTS, x).unwrap(),
        y: Matrix::new(n, targets, y).unwrap(),
        weights: (0..n).map(|i| 0.5 + (i % 4) as f64).collect(),
    }
}

fn arrays<'a>(p: &'a Problem, weighted: bool) -> Arrays<'a> {
    source(Rows::from(&p.x), &p.y, weighted.then_some(&p.weights[..]))
}

fn source<'a>(rows: impl Into<AnyRows<'a>>, y: &'a Matrix<f64>, weights: Option<&'a [f64]>) -> Arrays<'a> {
    Arrays::new(rows, y.view(), weights, Target::Numbers { outputs: y.columns() }).unwrap()
}

fn given(kernel: &str, lambda: f64, intercept: bool) -> ExactRidge {
    ExactRidge { kernel: kernel.parse().unwrap(), lambda: Lambda::Given { value: lambda }, intercept }
}

fn decide(model: &Model, x: &Matrix<f64>) -> Matrix<f64> {
    model.decide(&engine(2), Rows::from(x)).unwrap()
}

fn gram(kernel: &Kernel, x: &Matrix<f64>, y: &Matrix<f64>) -> Matrix<f64> {
    kernel.gram(&Engine::default(), &Rows::from(x), &Rows::from(y)).unwrap()
}

fn some(matrix: &Matrix<f64>, rows: &[usize]) -> Matrix<f64> {
    Matrix::from_fn(rows.len(), matrix.columns(), |i, j| matrix.row(rows[i])[j])
}

#[test]
fn predictions_and_freedom_are_those_of_naive_elimination() {
    let n = 70;
    let (p, new) = (problem(n, 2, 21), Matrix::new(9, INPUTS, normals(9, INPUTS, 22)).unwrap());
    for (weighted, intercept) in [(false, true), (true, true), (false, false), (true, false)] {
        let weights = if weighted { p.weights.clone() } else { vec![1.0; n] };
        for (kernel, lambda) in KERNELS.iter().flat_map(|k| [1e-4, 1e-2, 1.0].map(|lambda| (k, lambda))) {
            let ridge = given(kernel, lambda, intercept);
            let model = ridge.fit(&engine(2), &arrays(&p, weighted)).unwrap();
            let own = gram(&ridge.kernel, &p.x, &p.x);
            let (alpha, b) =
                weighted_kernel_ridge(own.as_slice(), p.y.as_slice(), 2, &weights, lambda, intercept);
            let theirs = gram(&ridge.kernel, &new, &p.x);
            let expected = predict(theirs.as_slice(), 9, n, &alpha, &b);
            assert_close(decide(&model, &new).as_slice(), &expected, Absolute(1e-9));
            assert_close(model.intercept(), &b, Absolute(1e-9));
            // Coefficients belong to the landmarks they stand beside.
            let landmarks = model.map().landmarks().unwrap();
            for k in (0..n).step_by(11) {
                let i = (0..n).find(|&i| p.x.row(i) == landmarks.row(k)).unwrap();
                let found: Vec<f64> = (0..2).map(|o| model.coefficients().row(o)[k]).collect();
                assert_close(&found, &alpha[2 * i..2 * i + 2], Absolute(1e-7));
            }
            // The trace of what takes targets to fitted values, the intercept not counted.
            let unit: Vec<f64> = (0..n * n).map(|e| f64::from(u8::from(e % n == e / n))).collect();
            let (alpha, b) = weighted_kernel_ridge(own.as_slice(), &unit, n, &weights, lambda, intercept);
            let hat = predict(own.as_slice(), n, n, &alpha, &b);
            let trace = (0..n).map(|i| hat[i * n + i]).sum::<f64>() - f64::from(u8::from(intercept));
            let freedom = model.training().unwrap().degrees_of_freedom().unwrap();
            assert_close(&[freedom], &[trace], Absolute(1e-8));
            assert_eq!(model.certificate().to_string(), exact());
        }
    }
}

/// The words for a kernel without error, from a machine that is known to have none.
fn exact() -> String {
    let x = Matrix::from_fn(4, 1, |i, _| i as f64);
    let y = Matrix::from_fn(4, 1, |i, _| (i / 2) as f64);
    let labels = Labels::new(LabelKind::Integer, vec!["0".into(), "1".into()]);
    let arrays = Arrays::new(Rows::from(&x), y.view(), None, Target::Classes { labels }).unwrap();
    let svm = bochner::ExactSvm::new(Kernel::gaussian(1.0));
    svm.fit(&engine(1), &arrays).unwrap().certificate().to_string()
}

/// Every point of the curve, and so every left-out prediction, is that of fitting again without the fold.
#[test]
fn the_cross_validation_curve_is_that_of_refitting() {
    let (n, k) = (90, 4);
    let p = problem(n, 2, 31);
    let mut hash = ContentHash::new(0, Stream::Folds);
    let folds: Vec<usize> =
        (0..n).map(|i| ((u128::from(hash.of(&Rows::from(&p.x), i)) * k as u128) >> 64) as usize).collect();
    for (kernel, weighted, intercept) in
        [(KERNELS[0], false, true), (KERNELS[0], true, false), (KERNELS[1], true, true)]
    {
        let lambda = Lambda::CrossValidated { folds: k };
        let ridge = ExactRidge { kernel: kernel.parse().unwrap(), lambda, intercept };
        let model = ridge.fit(&engine(2), &arrays(&p, weighted)).unwrap();
        let weights = if weighted { p.weights.clone() } else { vec![1.0; n] };
        let total: f64 = weights.iter().sum();
        let training = model.training().unwrap();
        assert_eq!((training.curve.len(), training.folds), (21, k));
        for point in &training.curve {
            let mut error = 0.0;
            for fold in 0..k {
                let (out, others): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| folds[i] == fold);
                let (x, y) = (some(&p.x, &others), some(&p.y, &others));
                let w: Vec<f64> = others.iter().map(|&i| weights[i]).collect();
                let own = gram(&ridge.kernel, &x, &x);
                let (alpha, b) =
                    weighted_kernel_ridge(own.as_slice(), y.as_slice(), 2, &w, point.lambda, intercept);
                let theirs = gram(&ridge.kernel, &some(&p.x, &out), &x);
                let found = predict(theirs.as_slice(), out.len(), others.len(), &alpha, &b);
                for (at, &i) in out.iter().enumerate() {
                    let square = |o: usize| (p.y.row(i)[o] - found[2 * at + o]).powi(2);
                    error += weights[i] / total * (square(0) + square(1));
                }
            }
            assert_close(&[point.error], &[error], Relative(1e-9));
        }
        let least = training.curve.iter().map(|point| point.error).fold(f64::INFINITY, f64::min);
        let chosen =
            training.curve.iter().find(|point| point.lambda.to_bits() == training.lambda.to_bits()).unwrap();
        assert!(chosen.error <= least * (1.0 + 1e-4));
    }
}

/// Where features are the kernel, both ways lead to one model: its predictions, its λ, its whole curve.
#[test]
fn it_is_ridge_on_exact_features() {
    let p = problem(120, 2, 41);
    let new = Matrix::new(9, INPUTS, normals(9, INPUTS, 42)).unwrap();
    for kernel in ["linear", "poly(degree=2,c=1)"] {
        for (weighted, intercept) in [(true, true), (false, true), (true, false)] {
            for lambda in [Lambda::Given { value: 1e-3 }, Lambda::CrossValidated { folds: 5 }] {
                let kernel: Kernel = kernel.parse().unwrap();
                let method = bochner::Method::Exact;
                let map = MapSpec { method, seed: 0, ..MapSpec::auto(kernel.clone()) };
                let source = arrays(&p, weighted);
                let primal = Ridge { lambda, intercept, ..Ridge::new(map) }.fit(&engine(2), &source).unwrap();
                let dual = ExactRidge { kernel, lambda, intercept }.fit(&engine(2), &source).unwrap();
                let (primal_fit, dual_fit) = (primal.training().unwrap(), dual.training().unwrap());
                assert_close(&[dual_fit.lambda], &[primal_fit.lambda], Relative(1e-10));
                assert_close(
                    decide(&dual, &new).as_slice(),
                    decide(&primal, &new).as_slice(),
                    Absolute(1e-8),
                );
                let freedom = |training: &bochner::model::Training| training.degrees_of_freedom().unwrap();
                assert_close(&[freedom(dual_fit)], &[freedom(primal_fit)], Absolute(1e-7));
                assert_eq!(dual_fit.curve.len(), primal_fit.curve.len());
                for (dual, primal) in dual_fit.curve.iter().zip(&primal_fit.curve) {
                    assert_close(&[dual.error], &[primal.error], Relative(1e-6));
                }
            }
        }
    }
}

#[derive(Deserialize)]
struct Golden {
    rows: Vec<Vec<f64>>,
    targets: Vec<Vec<f64>>,
    weights: Vec<f64>,
    new: Vec<Vec<f64>>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    kernel: String,
    alpha: f64,
    weighted: bool,
    predictions: Vec<Vec<f64>>,
}

/// `golden/kernel_ridge.py` asks scikit-learn.
#[test]
fn predictions_are_those_of_scikit_learn() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/kernel_ridge.json");
    let golden: Golden = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let matrix = |rows: &[Vec<f64>]| Matrix::new(rows.len(), rows[0].len(), rows.concat()).unwrap();
    let (x, y, new) = (matrix(&golden.rows), matrix(&golden.targets), matrix(&golden.new));
    assert_eq!(golden.cases.len(), 16);
    for case in golden.cases {
        let weights = case.weighted.then_some(&golden.weights[..]);
        let total = weights.map_or(x.rows() as f64, |weights| weights.iter().sum());
        let ridge = given(&case.kernel, case.alpha / total, false);
        let model = ridge.fit(&engine(1), &source(Rows::from(&x), &y, weights)).unwrap();
        assert_close(decide(&model, &new).as_slice(), &case.predictions.concat(), Absolute(1e-10));
    }
}

/// Codes and decisions are those of ridge on features; a class that is absent is never decided for.
#[test]
fn classes_are_coded_as_on_features() {
    for classes in [2, 3] {
        let n = 90;
        let (x, y) = classification(n, INPUTS, classes, 5);
        let x = Matrix::new(n, INPUTS, x).unwrap();
        let y = Matrix::new(n, 1, y.iter().map(|&c| f64::from(c)).collect()).unwrap();
        let labels = Labels::new(LabelKind::Integer, (0..classes).map(|c| c.to_string()).collect());
        let arrays = Arrays::new(Rows::from(&x), y.view(), None, Target::Classes { labels }).unwrap();
        let lambda = Lambda::CrossValidated { folds: 5 };
        let kernel: Kernel = "poly(degree=2,c=1)".parse().unwrap();
        let map = MapSpec { method: bochner::Method::Exact, seed: 0, ..MapSpec::auto(kernel.clone()) };
        let primal = Ridge { lambda, ..Ridge::new(map) }.fit(&engine(1), &arrays).unwrap();
        let dual = ExactRidge { kernel, lambda, intercept: true }.fit(&engine(1), &arrays).unwrap();
        let (expected, found) = (decide(&primal, &x), decide(&dual, &x));
        assert_eq!(found.columns(), if classes == 2 { 1 } else { 3 });
        assert_close(found.as_slice(), expected.as_slice(), Absolute(1e-8));
        assert_eq!(dual.classes(&found), primal.classes(&expected));
        let head = |model: &Model| format!("{:?}", model.head());
        assert_eq!(head(&dual), head(&primal));
    }
}

#[test]
fn it_keeps_the_laws() {
    let n = 150;
    let p = problem(n, 2, 51);
    let ridge = ExactRidge::new(Kernel::gaussian(2.0));
    let plain = ridge.fit(&engine(1), &arrays(&p, false)).unwrap();
    // Threads and files.
    let bytes = plain.to_bytes().unwrap();
    for threads in [2, 7] {
        assert_eq!(ridge.fit(&engine(threads), &arrays(&p, false)).unwrap().to_bytes().unwrap(), bytes);
    }
    let loaded = Model::from_bytes(&bytes).unwrap();
    assert_same_bits(decide(&loaded, &p.x).as_slice(), decide(&plain, &p.x).as_slice());
    assert_eq!(loaded.training(), plain.training());
    // Order.
    let backwards: Vec<usize> = (0..n).rev().collect();
    let (x, y) = (some(&p.x, &backwards), some(&p.y, &backwards));
    assert_eq!(ridge.fit(&engine(2), &source(Rows::from(&x), &y, None)).unwrap().to_bytes().unwrap(), bytes);
    // Weights and repetition; zero and absence.
    let weights: Vec<f64> = (0..n).map(|i| (i % 3) as f64).collect();
    let repeated: Vec<usize> = (0..n).flat_map(|i| std::iter::repeat_n(i, i % 3)).collect();
    let (x, y) = (some(&p.x, &repeated), some(&p.y, &repeated));
    for ridge in [ridge.clone(), given("laplace(scale=3)", 1e-3, false)] {
        let weighted = ridge.fit(&engine(2), &source(Rows::from(&p.x), &p.y, Some(&weights))).unwrap();
        let many = ridge.fit(&engine(2), &source(Rows::from(&x), &y, None)).unwrap();
        assert_eq!(weighted.coefficients().columns(), 100, "merged, and without those of weight 0");
        assert_close(decide(&weighted, &p.x).as_slice(), decide(&many, &p.x).as_slice(), Absolute(1e-10));
        // The scale of weights means nothing, however large.
        let large: Vec<f64> = weights.iter().map(|w| w * 5e307).collect();
        let large = ridge.fit(&engine(2), &source(Rows::from(&p.x), &p.y, Some(&large))).unwrap();
        assert_close(decide(&large, &p.x).as_slice(), decide(&weighted, &p.x).as_slice(), Absolute(1e-9));
    }
    // Sparse rows, and rows of single precision.
    let mut sparse = Csr::empty(INPUTS);
    (0..n).for_each(|i| sparse.push_row(Rows::from(&p.x).entries(i)));
    let model = ridge.fit(&engine(2), &source(Rows::from(&sparse), &p.y, None)).unwrap();
    assert_close(decide(&model, &p.x).as_slice(), decide(&plain, &p.x).as_slice(), Absolute(1e-9));
    let rows = single(&p.x);
    let model = ridge.fit(&engine(2), &source(Rows::from(&rows), &p.y, None)).unwrap();
    assert_close(decide(&model, &p.x).as_slice(), decide(&plain, &p.x).as_slice(), Absolute(1e-4));
}

/// Targets and kernel values that are far from zero keep their digits: what is constant goes first.
#[test]
fn what_is_constant_takes_no_digits() {
    let p = problem(60, 1, 61);
    let kernel = "gaussian(sigma=2)";
    let plain = given(kernel, 1e-3, true).fit(&engine(1), &arrays(&p, true)).unwrap();
    let shifted = Matrix::from_fn(60, 1, |i, _| p.y.row(i)[0] + 1e6);
    let weights = Some(&p.weights[..]);
    let far =
        given(kernel, 1e-3, true).fit(&engine(1), &source(Rows::from(&p.x), &shifted, weights)).unwrap();
    let back: Vec<f64> = decide(&far, &p.x).as_slice().iter().map(|y| y - 1e6).collect();
    assert_close(&back, decide(&plain, &p.x).as_slice(), Absolute(1e-8));
    let raised = format!("{kernel} + 1000*constant");
    let raised = given(&raised, 1e-3, true).fit(&engine(1), &arrays(&p, true)).unwrap();
    assert_close(decide(&raised, &p.x).as_slice(), decide(&plain, &p.x).as_slice(), Absolute(1e-8));
}

/// Keeps the warnings, and stops at a phase if it is asked to.
#[derive(Default)]
struct Listener {
    warnings: Mutex<Vec<String>>,
    phases: Mutex<Vec<String>>,
    stops_in: Option<&'static str>,
}

impl Observer for Listener {
    fn event(&self, event: &Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Warning { text } => self.warnings.lock().unwrap().push((*text).to_owned()),
            Event::Started { phase } => self.phases.lock().unwrap().push((*phase).to_owned()),
            Event::Progress { phase, .. } if Some(*phase) == self.stops_in => return ControlFlow::Break(()),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn listening(listener: &Arc<Listener>) -> Engine {
    let observer: Arc<dyn Observer> = Arc::clone(listener) as Arc<dyn Observer>;
    EngineSpec { threads: 2, observer: Some(observer), ..EngineSpec::default() }.build()
}

/// A λ that double precision cannot hold beside the kernel is refused or told, never used in silence.
#[test]
fn a_lambda_that_is_lost_in_rounding_is_told() {
    // 40 rows of rank 2, and rows that a wide kernel hardly tells apart.
    let x = Matrix::from_fn(40, 2, |i, j| (i as f64 / 10.0).powi(j as i32));
    let y = Matrix::from_fn(40, 1, |i, _| ((i * i) as f64).sin());
    let mut told = 0;
    for kernel in ["linear", "gaussian(sigma=3)", "gaussian(sigma=1000)"] {
        for intercept in [false, true] {
            for lambda in [1e-300, 1e-30, 1e-20, 1e-18, 1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12] {
                let listener = Arc::new(Listener::default());
                let arrays = source(Rows::from(&x), &y, None);
                match given(kernel, lambda, intercept).fit(&listening(&listener), &arrays) {
                    Err(error) => {
                        let text = error.to_string();
                        assert!(matches!(error, Error::Unsupported { .. }), "{text}");
                        assert!(text.contains("40 rows") && text.contains("raise λ"), "{text}");
                        told += 1;
                    }
                    Ok(model) => {
                        let warnings = listener.warnings.lock().unwrap();
                        // The conditions of a minimum, from the model as it predicts.
                        let (found, landmarks) = (decide(&model, &x), model.map().landmarks().unwrap());
                        let miss = |i: usize| {
                            let k = (0..40).find(|&k| landmarks.row(k) == x.row(i)).unwrap();
                            let side = 40.0 * lambda * model.coefficients().row(0)[k];
                            (y.row(i)[0] - found.row(i)[0] - side).powi(2)
                        };
                        let size: f64 = (0..40).map(|i| y.row(i)[0].powi(2)).sum();
                        let missed = ((0..40).map(miss).sum::<f64>() / size).sqrt();
                        let is_told = warnings.iter().any(|text| text.contains("misses its minimum"));
                        assert!(is_told || missed < 2e-6, "{kernel} {lambda:e}: {missed:e}");
                        assert!(!is_told || missed > 1e-7, "{kernel} {lambda:e}: {missed:e} {warnings:?}");
                        told += usize::from(is_told);
                    }
                }
            }
        }
    }
    assert!(told > 10, "{told}");
    // A kernel that tells all rows apart interpolates, however small λ is, with an intercept too.
    for intercept in [false, true] {
        let listener = Arc::new(Listener::default());
        let ridge = given("laplace(scale=1)", 1e-200, intercept);
        let model = ridge.fit(&listening(&listener), &source(Rows::from(&x), &y, None)).unwrap();
        assert_close(decide(&model, &x).as_slice(), y.as_slice(), Absolute(1e-9));
        assert!(listener.warnings.lock().unwrap().is_empty());
    }
    // Single precision of predictions is told where coefficients are large.
    let listener = Arc::new(Listener::default());
    let rows = single(&x);
    let ridge = given("gaussian(sigma=3)", 1e-9, true);
    ridge.fit(&listening(&listener), &source(Rows::from(&rows), &y, None)).unwrap();
    let warnings = listener.warnings.lock().unwrap();
    assert!(warnings.iter().any(|text| text.contains("double precision")), "{warnings:?}");
}

#[test]
fn what_makes_no_sense_is_refused_with_the_numbers() {
    let p = problem(60, 1, 71);
    let arrays = arrays(&p, false);
    let ridge = given("gaussian(sigma=1)", 1e-3, true);
    let limited = |bytes| EngineSpec { memory_limit: Some(bytes), ..EngineSpec::default() }.build();
    let error = ridge.fit(&limited(20_000), &arrays).unwrap_err();
    assert!(matches!(error, Error::Memory { .. }), "{error}");
    assert!(error.to_string().contains("60 rows") && error.to_string().contains("on features"), "{error}");
    let needed = ridge.plan(&arrays).unwrap().peak_bytes;
    assert!(needed > 60 * 60 * 8 && ridge.fit(&limited(needed), &arrays).is_ok());
    assert!(matches!(ridge.fit(&limited(needed - 1), &arrays), Err(Error::Memory { .. })));
    let validated = ExactRidge::new(Kernel::gaussian(1.0));
    assert!(validated.plan(&arrays).unwrap().peak_bytes > needed);
    for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let wrong = ExactRidge { lambda: Lambda::Given { value: lambda }, ..ridge.clone() };
        assert!(matches!(wrong.fit(&engine(1), &arrays), Err(Error::Parameter { name: "lambda", .. })));
    }
    let wrong = ExactRidge { lambda: Lambda::CrossValidated { folds: 1 }, ..ridge.clone() };
    assert!(wrong.fit(&engine(1), &arrays).is_err());
    assert!(ExactRidge { kernel: Kernel::gaussian(-1.0), ..ridge.clone() }.fit(&engine(1), &arrays).is_err());
    let nothing = vec![0.0; 60];
    let nothing = source(Rows::from(&p.x), &p.y, Some(&nothing));
    assert!(matches!(ridge.fit(&engine(1), &nothing), Err(Error::NoRows)));
    let zeros = Matrix::zeros(60, 1);
    let one = Labels::new(LabelKind::Text, vec!["oak".into()]);
    let one = Arrays::new(Rows::from(&p.x), zeros.view(), None, Target::Classes { labels: one }).unwrap();
    assert!(matches!(ridge.fit(&engine(1), &one), Err(Error::OneClass { .. })));
    // Kernel values and targets that are no numbers.
    let far = Matrix::from_fn(60, INPUTS, |i, j| 1e200 * p.x.row(i)[j]);
    let linear = given("linear", 1.0, true);
    let error = linear.fit(&engine(1), &source(Rows::from(&far), &p.y, None)).unwrap_err();
    assert!(matches!(error, Error::Overflow { what: "the kernel values" }), "{error}");
    let large = Matrix::from_fn(60, 1, |i, _| if i % 2 == 0 { 1.7e308 } else { -1.7e308 });
    let result = given("linear", 1e-9, true).fit(&engine(1), &source(Rows::from(&p.x), &large, None));
    assert!(matches!(result, Err(Error::Overflow { .. })));
    let negative = "chi2".parse().unwrap();
    let error = ExactRidge { kernel: negative, ..ridge }.fit(&engine(1), &arrays).unwrap_err();
    assert!(matches!(error, Error::OutsideDomain { .. }), "{error}");
}

#[test]
fn it_can_be_stopped_in_every_phase() {
    let p = problem(80, 1, 81);
    let ridge = ExactRidge::new(Kernel::gaussian(1.0));
    let heard = Arc::new(Listener::default());
    ridge.fit(&listening(&heard), &arrays(&p, false)).unwrap();
    assert_eq!(*heard.phases.lock().unwrap(), ["features", "kernel", "cross-validation", "solve", "check"]);
    for phase in ["features", "kernel", "cross-validation", "solve", "check"] {
        let listener = Arc::new(Listener { stops_in: Some(phase), ..Listener::default() });
        let result = ridge.fit(&listening(&listener), &arrays(&p, false));
        assert!(matches!(result, Err(Error::Interrupted)), "{phase}");
    }
}

/// One row, rows that are all alike, and a constant target: nothing to choose, nothing breaks.
#[test]
fn little_to_learn_from() {
    let one = Problem {
        x: Matrix::from_fn(1, INPUTS, |_, j| j as f64),
        y: Matrix::from_fn(1, 1, |_, _| 3.0),
        weights: vec![],
    };
    let listener = Arc::new(Listener::default());
    let ridge = ExactRidge::new(Kernel::gaussian(1.0));
    let model = ridge.fit(&listening(&listener), &arrays(&one, false)).unwrap();
    assert_close(decide(&model, &one.x).as_slice(), &[3.0], Absolute(1e-12));
    assert!(listener.warnings.lock().unwrap()[0].contains("too few distinct rows"));
    let p = problem(50, 1, 91);
    let alike = Matrix::from_fn(50, INPUTS, |_, _| 1.0);
    let mean = p.y.as_slice().iter().sum::<f64>() / 50.0;
    let model = ridge.fit(&engine(1), &source(Rows::from(&alike), &p.y, None)).unwrap();
    assert_close(decide(&model, &alike).as_slice(), &[mean; 50], Absolute(1e-12));
    let flat = Matrix::from_fn(50, 1, |_, _| 7.25);
    let model = ridge.fit(&engine(1), &source(Rows::from(&p.x), &flat, None)).unwrap();
    assert_close(decide(&model, &p.x).as_slice(), &[7.25; 50], Absolute(1e-12));
}

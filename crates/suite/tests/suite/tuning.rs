//! What a fit settles by itself: kernel, width, D; and the plan that says so.

use bochner::encode::Precision;
use bochner::learn::{Enough, Plan};
use bochner::{
    Arrays, Auto, EngineSpec, Error, ExactRidge, Kernel, KernelChoice, Lambda, Loss, MapSpec, Matrix, Method,
    Model, Rows, Solver, Target,
};
use bochner_testkit::{Absolute, Chance, assert_close, assert_same_bits};

use crate::table::engine;

/// A Gaussian of any width.
fn gaussian() -> Auto {
    Auto { kernel: "gaussian".parse().unwrap(), precision: Some(Precision::Single), ..Auto::default() }
}

fn plan(model: &Model) -> &Plan {
    model.training().unwrap().plan.as_ref().unwrap()
}

/// Rows in a square, and a target of so many waves along each side.
fn waves(n: usize, count: f64, noise: f64, seed: u64) -> (Matrix<f64>, Vec<f64>) {
    let mut chance = Chance::new(seed);
    let x = Matrix::from_fn(n, 2, |_, _| chance.uniform());
    let wave = |t: f64| (count * std::f64::consts::TAU * t).sin();
    let y = (0..n).map(|i| wave(x.row(i)[0]) * wave(x.row(i)[1]) + noise * chance.normal()).collect();
    (x, y)
}

fn sigma(model: &Model) -> f64 {
    match &model.map().spec().kernel {
        Kernel::Gaussian { sigma } => sigma.at(0),
        other => panic!("{other}"),
    }
}

/// Many waves need a narrow kernel and many features; one needs neither. What was tried is in the plan, and D ends where errors do not fall.
#[test]
fn width_and_size_follow_the_target() {
    let fit = |count| {
        let (x, y) = waves(2500, count, 0.1, 3);
        gaussian().fit(&engine(2), &(&x, &y)).unwrap()
    };
    let (smooth, rough) = (fit(0.5), fit(6.0));
    assert!(sigma(&smooth) > 4.0 * sigma(&rough), "{} and {}", sigma(&smooth), sigma(&rough));
    let (few, many) = (smooth.map().output_dim(), rough.map().output_dim());
    assert!(few <= 1024 && many > few, "{few} and {many}");
    assert!(matches!(plan(&smooth).enough, Enough::Gain { .. }), "{:?}", plan(&smooth).enough);
    for model in [&smooth, &rough] {
        let plan = plan(model);
        let on_all: Vec<_> = plan
            .trials
            .iter()
            .filter(|trial| trial.rows == 2500 && trial.kernel == model.map().spec().kernel)
            .collect();
        // Doubled, and the best of them is the model.
        let sizes: Vec<usize> = on_all.iter().map(|trial| trial.features).collect();
        assert!(sizes.len() >= 2, "{sizes:?}");
        let least = plan
            .trials
            .iter()
            .filter(|t| t.features == model.map().output_dim())
            .map(|t| t.error)
            .fold(f64::INFINITY, f64::min);
        assert!(on_all.iter().all(|trial| trial.error >= least), "{plan:?}");
        assert_eq!(plan.fit.features, Some(model.map().output_dim()));
    }
}

/// The plan of a model, fitted, is the model again, bit for bit; any number of threads finds the same plan.
#[test]
fn a_plan_is_the_model_again() {
    let (x, y) = waves(2100, 2.0, 0.3, 5);
    let auto = gaussian();
    let models = [1, 7].map(|threads| auto.fit(&engine(threads), &(&x, &y)).unwrap());
    for other in &models[1..] {
        assert_eq!(plan(other), plan(&models[0]));
        assert_same_bits(other.coefficients().as_slice(), models[0].coefficients().as_slice());
    }
    let text = serde_json::to_string(plan(&models[0])).unwrap();
    let again: Plan = serde_json::from_str(&text).unwrap();
    assert_eq!(&again, plan(&models[0]));
    let replayed = again.fit.fit(&engine(2), &(&x, &y)).unwrap();
    assert_same_bits(replayed.coefficients().as_slice(), models[0].coefficients().as_slice());
    assert_eq!(plan(&replayed).fit, again.fit);
    assert_eq!(plan(&replayed).enough, Enough::Given);
    assert!(plan(&replayed).trials.is_empty());
}

/// Few rows become landmarks, all of them: the model is that of the exact kernel.
#[test]
fn few_rows_have_the_kernel_itself() {
    let (x, y) = waves(200, 1.0, 0.1, 9);
    let model = Auto { standardise: false, ..Auto::default() }.fit(&engine(2), &(&x, &y)).unwrap();
    assert_eq!(plan(&model).enough, Enough::Exact);
    assert!(matches!(model.map().spec().method, Method::Landmarks { .. }));
    let kernel = model.map().spec().kernel.clone();
    let lambda = model.training().unwrap().lambda;
    let exact =
        ExactRidge { lambda: Lambda::Given { value: lambda }, intercept: true, ..ExactRidge::new(kernel) };
    let exact = exact.fit(&engine(2), &(&x, &y)).unwrap();
    let new = Matrix::from_fn(50, 2, |i, j| (i as f64 + 0.5) / 50.0 * if j == 0 { 1.0 } else { 0.7 });
    let [a, b] = [&model, &exact].map(|model| model.decide(&engine(1), Rows::from(&new)).unwrap());
    assert_close(a.as_slice(), b.as_slice(), Absolute(1e-3));
}

/// Of three kernels the one of least error is taken; where the target has corners it is not the Gaussian.
#[test]
fn the_best_family_is_taken() {
    let mut chance = Chance::new(2);
    let n = 600;
    let x = Matrix::from_fn(n, 3, |_, _| chance.uniform());
    // Staircases.
    let y: Vec<f64> = (0..n).map(|i| x.row(i).iter().map(|t| (5.0 * t).floor()).sum::<f64>()).collect();
    let fit = |kernel| Auto { kernel, ..Auto::default() }.fit(&engine(2), &(&x, &y)).unwrap();
    let any = fit(KernelChoice::Any);
    let taken = &any.map().spec().kernel;
    assert!(matches!(taken, Kernel::Laplace { .. } | Kernel::Exponential { .. }), "{taken}");
    let families =
        |of: fn(&Kernel) -> bool| plan(&any).trials.iter().filter(|trial| of(&trial.kernel)).count();
    assert!(families(|k| matches!(k, Kernel::Gaussian { .. })) >= 7);
    assert!(families(|k| matches!(k, Kernel::Laplace { .. })) >= 7);
    assert!(families(|k| matches!(k, Kernel::Exponential { .. })) >= 7);
    let error =
        |model: &Model| model.training().unwrap().curve.iter().map(|p| p.error).fold(f64::INFINITY, f64::min);
    assert!(error(&any) < error(&fit("gaussian".parse().unwrap())));
}

/// One target in fifty is wild. The width found for Huber's loss is near to that of the clean targets.
#[test]
fn wild_targets_do_not_choose_the_width() {
    let (x, clean) = waves(1500, 2.0, 0.1, 4);
    let mut chance = Chance::new(8);
    let wild: Vec<f64> =
        clean.iter().map(|y| if chance.below(50) == 0 { 1e4 * chance.normal() } else { *y }).collect();
    let auto = Auto { loss: "huber".parse::<Loss>().unwrap(), features: Some(256), ..gaussian() };
    let [tame, robust] = [&clean, &wild].map(|y| sigma(&auto.fit(&engine(2), &(&x, y)).unwrap()));
    assert!((tame / robust).ln().abs() < 1.5 * 2f64.ln(), "{tame} and {robust}");
}

/// Memory that a larger D would need is not taken, and the plan says what it was.
#[test]
fn memory_ends_the_growth() {
    let (x, y) = waves(3000, 4.0, 0.01, 6);
    let auto = Auto { kernel: KernelChoice::Given(Kernel::gaussian(0.3)), ..gaussian() };
    let first = Auto { features: Some(512), ..auto.clone() }.plan(&(&x, &y)).unwrap();
    let limit = first.peak_bytes + (1 << 20);
    let engine = EngineSpec { threads: 2, memory_limit: Some(limit), ..EngineSpec::default() }.build();
    let model = auto.fit(&engine, &(&x, &y)).unwrap();
    let Enough::Memory { needed, limit: said } = plan(&model).enough else {
        panic!("{:?}", plan(&model).enough)
    };
    assert!(needed > limit && said == limit);
    assert_eq!(model.map().output_dim(), 512);
}

/// Weighting equals repeating, in what is settled too.
#[test]
fn weights_settle_what_repetition_settles() {
    let (x, y) = waves(2200, 1.5, 0.2, 12);
    let weights: Vec<f64> = (0..2200).map(|i| if i % 4 == 0 { 2.0 } else { 1.0 }).collect();
    let order: Vec<usize> = (0..2200).flat_map(|i| std::iter::repeat_n(i, weights[i] as usize)).collect();
    let repeated = Matrix::from_fn(order.len(), 2, |i, j| x.row(order[i])[j]);
    let targets: Vec<f64> = order.iter().map(|&i| y[i]).collect();
    let auto = Auto { standardise: false, ..gaussian() };
    let y = Matrix::new(2200, 1, y).unwrap();
    let arrays =
        Arrays::new(Rows::from(&x), y.view(), Some(&weights), Target::Numbers { outputs: 1 }).unwrap();
    let weighted = auto.fit(&engine(2), &arrays).unwrap();
    let repeated = auto.fit(&engine(2), &(&repeated, &targets)).unwrap();
    assert_eq!(plan(&weighted).fit, plan(&repeated).fit);
}

/// More rows than a sample for Fourier features holds, fewer than one for landmarks does: the search looks at more of them than the fit that follows from the plan, and the model is the same.
#[test]
fn a_plan_of_more_rows_than_are_sampled_is_the_model_again() {
    let (x, y) = waves(9000, 0.5, 0.5, 5);
    let model = gaussian().fit(&engine(2), &(&x, &y)).unwrap();
    let replayed = plan(&model).fit.fit(&engine(1), &(&x, &y)).unwrap();
    assert_same_bits(replayed.coefficients().as_slice(), model.coefficients().as_slice());
    assert_same_bits(replayed.intercept(), model.intercept());
}

/// Rows that become landmarks in the end are not first compared as landmarks, whichever side of the search's own limit they are on.
#[test]
fn a_few_more_rows_have_the_kernel_itself_too() {
    for n in [1000, 1500] {
        let (x, y) = waves(n, 1.0, 0.1, 9);
        let model = gaussian().fit(&engine(2), &(&x, &y)).unwrap();
        assert_eq!(plan(&model).enough, Enough::Exact, "{n}");
    }
}

/// Conjugate gradients do not know the error of every fold: D is the usual one, and the plan says so.
#[test]
fn conjugate_gradients_take_the_usual_size() {
    let (x, y) = waves(2500, 1.0, 0.1, 9);
    let kernel = KernelChoice::Given(Kernel::gaussian(0.3));
    let auto = Auto { kernel, solver: Solver::cg(), ..gaussian() };
    let model = auto.fit(&engine(2), &(&x, &y)).unwrap();
    assert_eq!(plan(&model).enough, Enough::Given);
    assert_eq!(model.map().output_dim(), 2048);
}

/// Which solver was taken is in the plan: a machine of more memory would take another.
#[test]
fn the_solver_that_was_taken_is_in_the_plan() {
    let (x, y) = waves(600, 1.0, 0.1, 9);
    let auto = Auto {
        kernel: KernelChoice::Given(Kernel::gaussian(0.3)),
        features: Some(1024),
        lambda: Lambda::Given { value: 1e-4 },
        ..gaussian()
    };
    let of = |limit| {
        let engine = EngineSpec { memory_limit: Some(limit), ..EngineSpec::default() }.build();
        plan(&auto.fit(&engine, &(&x, &y)).unwrap()).fit.solver
    };
    let sums = Auto { solver: Solver::Gram, ..auto.clone() }.plan(&(&x, &y)).unwrap();
    assert_eq!(of(sums.peak_bytes), Solver::Gram);
    assert!(matches!(of(sums.peak_bytes - 1), Solver::Cg { .. }));
}

/// A start has the kernel and the size of its model where these are left open; a model of another family, or squares, have no use for one.
#[test]
fn a_start_settles_what_is_open() {
    let (x, y) = waves(1200, 1.0, 0.1, 9);
    let fourier = MapSpec::fourier(Kernel::gaussian(1.0)).method;
    let huber = Auto { loss: "huber".parse().unwrap(), method: Some(fourier), ..gaussian() };
    let start =
        Auto { kernel: KernelChoice::Given(Kernel::gaussian(0.77)), features: Some(200), ..huber.clone() };
    let start = start.fit(&engine(2), &(&x, &y)).unwrap();
    let from = |auto: &Auto| auto.fit_from(&engine(2), &(&x, &y), Some(&start)).unwrap();
    let warm = from(&huber);
    assert_eq!(warm.map().spec(), start.map().spec());
    let laplace = from(&Auto { kernel: "laplace".parse().unwrap(), features: Some(200), ..huber.clone() });
    assert!(matches!(laplace.map().spec().kernel, Kernel::Laplace { .. }));
    let squares = from(&Auto { loss: Loss::Squares, features: Some(200), ..huber });
    assert_ne!(squares.map().spec().kernel, start.map().spec().kernel);
}

/// What does not fit with 2,048 features may fit with fewer, where D is left to the data.
#[test]
fn an_open_size_is_refused_only_if_the_smallest_does_not_fit() {
    let (x, y) = waves(5000, 1.0, 0.1, 9);
    let auto = Auto { kernel: KernelChoice::Given(Kernel::gaussian(0.3)), ..gaussian() };
    let fit = |limit| {
        let engine = EngineSpec { memory_limit: Some(limit), ..EngineSpec::default() }.build();
        auto.fit(&engine, &(&x, &y))
    };
    let model = fit(60 << 20).unwrap();
    assert!(model.map().output_dim() < 2048);
    assert!(matches!(fit(1 << 20), Err(Error::Memory { .. })));
}

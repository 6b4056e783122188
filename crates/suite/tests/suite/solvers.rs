//! Ridge by conjugate gradients is ridge by sums: same coefficients, λ as good, less memory.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use bochner::model::Outcome;
use bochner::solve::{Preconditioner, Stop};
use bochner::{
    Arrays, Auto, Bins, Csr, Engine, EngineSpec, Error, Event, Kernel, KernelChoice, LabelKind, Labels,
    Lambda, MapSpec, Matrix, Method, Model, Observer, Ridge, Rows, Solver, Source, Target,
};
use bochner_testkit::{Absolute, assert_close, normals};

use crate::table::engine;

fn fourier(features: usize) -> MapSpec {
    MapSpec { features, seed: 2, ..MapSpec::fourier(Kernel::gaussian(1.5)) }
}

fn data(n: usize) -> (Matrix<f64>, Vec<f64>) {
    let numbers = normals(n, 5, 4);
    let x = Matrix::from_fn(n, 4, |i, j| numbers[5 * i + j]);
    let y =
        (0..n).map(|i| 50.0 + (2.0 * x.row(i)[0]).sin() * x.row(i)[1] + 0.3 * numbers[5 * i + 4]).collect();
    (x, y)
}

const EXACTLY: Solver = Solver::Cg { tolerance: 1e-9, steps: 400 };

/// Both ways with the same λ.
fn both(map: &MapSpec, lambda: Lambda, source: &dyn Source) -> (Model, Model) {
    let fit = |solver| Ridge { lambda, solver, ..Ridge::new(map.clone()) }.fit(&engine(2), source).unwrap();
    (fit(Solver::Gram), fit(EXACTLY))
}

#[test]
fn coefficients_are_those_of_sums() {
    let (x, y) = data(900);
    let weights: Vec<f64> = (0..900).map(|i| [1.0, 0.0, 4.0][i % 3]).collect();
    let names = ["a", "b", "c"].map(str::to_owned).to_vec();
    let classes = Matrix::from_fn(900, 1, |i, _| (y[i].fract() * 3.0).floor().clamp(0.0, 2.0));
    let (numbers, column) = (Target::Numbers { outputs: 1 }, Matrix::new(900, 1, y.clone()).unwrap());
    let labels = Target::Classes { labels: Labels::new(LabelKind::Text, names) };
    let mut sparse = Csr::empty(4);
    (0..900).for_each(|i| sparse.push_row((0..4).map(|j| (j as u32, x.row(i)[j]))));
    let method = Method::Binning { bins: Bins::Hashed { width: 8 } };
    let binning = MapSpec { kernel: Kernel::laplace(3.0), method, features: 12, seed: 1 };
    let single = Matrix::from_fn(900, 4, |i, j| x.row(i)[j] as f32);
    for map in [fourier(120), binning] {
        for (target, y) in [(&numbers, &column), (&labels, &classes)] {
            for rows in [Rows::from(&x), Rows::from(&sparse)] {
                let source = Arrays::new(rows, y.view(), Some(&weights), target.clone()).unwrap();
                let (sums, steps) = both(&map, Lambda::Given { value: 1e-4 }, &source);
                let size = sums.coefficients().as_slice().iter().fold(1.0f64, |a, c| a.max(c.abs()));
                assert_close(
                    steps.coefficients().as_slice(),
                    sums.coefficients().as_slice(),
                    Absolute(1e-6 * size),
                );
                assert_close(steps.intercept(), sums.intercept(), Absolute(1e-6 * size));
                assert_eq!(steps.training().unwrap().rows, sums.training().unwrap().rows);
            }
            // Sums of single precision are what is off here.
            let source = Arrays::new(Rows::from(&single), y.view(), None, target.clone()).unwrap();
            let (sums, steps) = both(&map, Lambda::Given { value: 1e-2 }, &source);
            assert_close(steps.coefficients().as_slice(), sums.coefficients().as_slice(), Absolute(1e-3));
        }
    }
}

/// One part of five is a rougher judge than all of them, and a good one: the error of what is chosen is near the best.
#[test]
fn a_left_out_part_chooses_a_good_lambda() {
    let (x, y) = data(3000);
    let (new, truth) = data(4000);
    let fit = |solver| Ridge { solver, ..Ridge::new(fourier(300)) }.fit(&engine(2), &(&x, &y)).unwrap();
    let error = |model: &Model| {
        let found = model.decide(&engine(2), Rows::from(&new)).unwrap();
        (3000..4000).map(|i| (found.row(i)[0] - truth[i]).powi(2)).sum::<f64>() / 1000.0
    };
    let (sums, steps) = (fit(Solver::Gram), fit(Solver::cg()));
    let (a, b) = (error(&sums), error(&steps));
    assert!(b < 1.15 * a, "{b} and {a}: {:?} {:?}", steps.training(), sums.training());
    let training = steps.training().unwrap();
    assert!(training.curve.len() >= 7 && training.curve.windows(2).all(|w| w[0].lambda < w[1].lambda));
    assert!(training.curve.iter().any(|point| point.lambda.total_cmp(&training.lambda).is_eq()));
    // The smallest λ take the most steps and were not asked for.
    assert!(training.curve.len() < 21, "{}", training.curve.len());
    // Of λ that were tried, the error is that of all five parts, roughly.
    let whole = &sums.training().unwrap().curve;
    for point in &training.curve {
        let other = whole.iter().find(|p| (p.lambda / point.lambda - 1.0).abs() < 1e-6).unwrap();
        assert!((point.error / other.error - 1.0).abs() < 0.5, "{} {}", point.error, other.error);
    }
}

#[test]
fn threads_change_no_bit_and_files_keep_what_was_done() {
    let (x, y) = data(5000);
    let fit = |threads| {
        let ridge = Ridge { solver: Solver::cg(), ..Ridge::new(fourier(128)) };
        ridge.fit(&engine(threads), &(&x, &y)).unwrap().to_bytes().unwrap()
    };
    let one = fit(1);
    assert_eq!(one, fit(2));
    assert_eq!(one, fit(7));
    let model = Model::from_bytes(&one).unwrap();
    let Outcome::Conjugate { steps, residual, condition, stop, .. } = model.training().unwrap().outcome
    else {
        panic!("{:?}", model.training())
    };
    assert!(steps > 0 && residual <= 1e-6 && condition >= 1.0 && stop == Stop::Residual);
    assert_eq!(model.training().unwrap().degrees_of_freedom(), None);
    assert_eq!(model.to_bytes().unwrap(), one);
}

/// Features whose sums do not fit: random vectors lead, on rows that come in several blocks.
#[test]
fn many_features_fit_into_little_memory() {
    let (x, y) = data(4200);
    let map = fourier(3000);
    let lambda = Lambda::Given { value: 1e-3 };
    let tight = EngineSpec { threads: 2, memory_limit: Some(60 << 20), ..EngineSpec::default() }.build();
    let ridge = Ridge { lambda, ..Ridge::new(map) };
    let source = &(&x, &y);
    let sums = Ridge { solver: Solver::Gram, ..ridge.clone() };
    assert!(matches!(sums.fit(&tight, source), Err(Error::Memory { .. })));
    let plan = ridge.plan_within(source, 60 << 20).unwrap();
    assert!(plan.peak_bytes <= 60 << 20 && plan.passes > 10, "{plan:?}");
    let model = ridge.fit(&tight, source).unwrap();
    let outcome = model.training().unwrap().outcome;
    let Outcome::Conjugate { preconditioner: Preconditioner::Nystrom { .. }, stop: Stop::Residual, .. } =
        outcome
    else {
        panic!("{outcome:?}")
    };
    // The same fit from the other side: kernel ridge with the features' own inner products.
    let features = model.map().transform(&engine(2), &Rows::from(&x)).unwrap();
    let exact = bochner::ExactRidge { kernel: Kernel::Linear, lambda, intercept: true };
    let exact = exact.fit(&engine(2), &(&features, &y)).unwrap();
    let (a, b) = (
        model.decide(&engine(2), Rows::from(&x)).unwrap(),
        exact.decide(&engine(2), Rows::from(&features)).unwrap(),
    );
    assert_close(a.as_slice(), b.as_slice(), Absolute(1e-4));
}

/// Keeps warnings.
#[derive(Default)]
struct Warnings(Mutex<Vec<String>>);

impl Observer for Warnings {
    fn event(&self, event: &Event<'_>) -> ControlFlow<()> {
        if let Event::Warning { text } = event {
            self.0.lock().unwrap().push((*text).to_owned());
        }
        ControlFlow::Continue(())
    }
}

/// Features that say the same thing many times, and next to no λ: what can be reached is reached or said.
#[test]
fn what_was_not_reached_is_a_warning() {
    let (x, y) = data(400);
    let twice = Matrix::from_fn(400, 40, |i, j| x.row(i)[j % 4] * (1.0 + (j / 4) as f64));
    let fit = |steps: usize, lambda: f64| {
        let warnings = Arc::new(Warnings::default());
        let observer = Some(warnings.clone() as Arc<dyn Observer>);
        let engine = EngineSpec { threads: 2, observer, ..EngineSpec::default() }.build();
        let solver = Solver::Cg { tolerance: 1e-10, steps };
        let lambda = Lambda::Given { value: lambda };
        let model = Ridge { lambda, solver, ..Ridge::new(MapSpec::auto(Kernel::Linear)) }
            .fit(&engine, &(&twice, &y))
            .unwrap();
        let all = warnings.0.lock().unwrap().clone();
        (model, all)
    };
    let (model, warnings) = fit(200, 1e-12);
    assert!(model.coefficients().as_slice().iter().all(|c| c.is_finite() && c.abs() < 1.0));
    let reached =
        matches!(model.training().unwrap().outcome, Outcome::Conjugate { stop: Stop::Residual, .. });
    assert!(reached == warnings.is_empty(), "{warnings:?}");

    // A guide that is of no use, and one step.
    let (x, y) = data(5000);
    let warnings = Arc::new(Warnings::default());
    let engine = EngineSpec {
        threads: 2,
        memory_limit: Some(9 << 20),
        observer: Some(warnings.clone() as Arc<dyn Observer>),
        ..EngineSpec::default()
    }
    .build();
    let solver = Solver::Cg { tolerance: 1e-10, steps: 1 };
    let ridge = Ridge { lambda: Lambda::Given { value: 1e-6 }, solver, ..Ridge::new(fourier(200)) };
    let model = ridge.fit(&engine, &(&x, &y)).unwrap();
    assert!(matches!(
        model.training().unwrap().outcome,
        Outcome::Conjugate { stop: Stop::Steps, steps: 1, .. }
    ));
    let warnings = warnings.0.lock().unwrap();
    assert!(
        warnings.len() == 1
            && warnings[0].contains("after 1 steps")
            && warnings[0].contains("allow more steps"),
        "{warnings:?}"
    );
}

#[test]
fn the_way_is_chosen_by_what_fits() {
    let (x, y) = data(300);
    let auto =
        Auto { kernel: KernelChoice::Given(Kernel::gaussian(1.0)), features: Some(200), ..Auto::default() };
    let sums = auto.fit(&Engine::default(), &(&x, &y)).unwrap();
    assert!(matches!(sums.training().unwrap().outcome, Outcome::Squares { .. }));
    let steps = Auto { solver: Solver::cg(), ..auto }.fit(&Engine::default(), &(&x, &y)).unwrap();
    assert!(matches!(steps.training().unwrap().outcome, Outcome::Conjugate { .. }));
    for (solver, text) in [
        (Solver::Cg { tolerance: 0.0, steps: 1 }, "expected tolerance to be between 0 and 1, found 0"),
        (Solver::Cg { tolerance: 0.1, steps: 0 }, "expected steps to be at least 1, found 0"),
    ] {
        let error = Ridge { solver, ..Ridge::new(fourier(8)) }.fit(&engine(1), &(&x, &y)).unwrap_err();
        assert_eq!(error.to_string(), text);
    }
    assert!("cgs".parse::<Solver>().unwrap_err().to_string().contains("auto, gram or cg"));
}

/// Repeats, few distinct rows, constant targets, rows of zeros: no panic, finite numbers.
#[test]
fn odd_rows_are_taken() {
    let solver = Solver::cg();
    for n in [1, 2, 3, 40] {
        for value in [0.0, 1.0] {
            let x = Matrix::from_fn(n, 2, |i, j| value * (i % 3 + j) as f64);
            for y in [vec![7.0; n], (0..n).map(|i| (i % 3) as f64).collect()] {
                let model = Ridge { solver, ..Ridge::new(fourier(32)) }.fit(&engine(2), &(&x, &y)).unwrap();
                let out = model.decide(&engine(1), Rows::from(&x)).unwrap();
                assert!(out.as_slice().iter().all(|y| y.is_finite()));
                if y.iter().all(|y| y.total_cmp(&7.0).is_eq()) {
                    assert_close(out.as_slice(), &y, Absolute(1e-9));
                }
            }
        }
    }
}

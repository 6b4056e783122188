//! Linear models under every loss: what they minimise, beside scikit-learn; weights, threads, starts, files; what is refused.

use std::path::PathBuf;

use bochner::model::Outcome;
use bochner::solve::{Hinge, Stop};
use bochner::{
    Arrays, Csr, EngineSpec, Error, Kernel, LabelKind, Labels, Lambda, Linear, Loss, MapSpec, Matrix, Model,
    Ridge, Rows, Target,
};
use bochner_testkit::{Absolute, Relative, assert_close, assert_same_bits, normals};
use serde::Deserialize;

use crate::table::engine;

#[derive(Deserialize)]
struct Golden {
    rows: Vec<Vec<f64>>,
    weights: Vec<f64>,
    numbers: Vec<f64>,
    two: Vec<f64>,
    three: Vec<f64>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    loss: String,
    target: String,
    lambda: f64,
    objective: f64,
    scores: Vec<Vec<f64>>,
}

fn classes(count: usize) -> Target {
    let texts = (0..count).map(|c| c.to_string()).collect();
    Target::Classes { labels: Labels::new(LabelKind::Integer, texts) }
}

fn linear() -> MapSpec {
    MapSpec::auto(Kernel::Linear)
}

fn objective(model: &Model) -> f64 {
    let training = model.training().unwrap();
    match training.outcome {
        Outcome::Minimised { objective, stop, .. } => {
            assert!(stop != Stop::Steps);
            objective
        }
        // ½‖w‖² + C Σ w·ℓ with C = 1/(2λΣw).
        Outcome::Margins { primal, .. } => 2.0 * training.lambda * primal,
        Outcome::Squares { .. } | Outcome::Conjugate { .. } | Outcome::Steps { .. } => f64::NAN,
    }
}

/// `golden/learners.py` has scikit-learn's coefficients and their value; ours is the same to 1e-6, dense and sparse, and so are the scores, as far as the value tells them.
#[test]
fn smallest_values_are_those_of_scikit_learn() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/learners.json");
    let golden: Golden = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let x = Matrix::from_fn(golden.rows.len(), 4, |i, j| golden.rows[i][j]);
    let mut sparse = Csr::empty(4);
    golden.rows.iter().for_each(|row| sparse.push_row(row.iter().enumerate().map(|(j, &x)| (j as u32, x))));
    assert_eq!(golden.cases.len(), 20);
    for case in golden.cases {
        let (y, target) = match case.target.as_str() {
            "numbers" => (&golden.numbers, Target::Numbers { outputs: 1 }),
            "two" => (&golden.two, classes(2)),
            _ => (&golden.three, classes(3)),
        };
        let y = Matrix::new(y.len(), 1, y.clone()).unwrap();
        let loss: Loss = case.loss.parse().unwrap();
        // No penalty is one that takes less than a millionth.
        let lambda = Lambda::Given { value: if case.lambda > 0.0 { case.lambda } else { 1e-8 } };
        let learner = Linear { lambda, tolerance: 1e-8, ..Linear::new(linear(), loss) };
        for rows in [Rows::from(&x), Rows::from(&sparse)] {
            let source = Arrays::new(rows, y.view(), Some(&golden.weights), target.clone()).unwrap();
            let model = learner.fit(&engine(2), &source).unwrap();
            let what = format!("{} of {}, λ = {}", case.loss, case.target, case.lambda);
            let found = objective(&model);
            assert!(
                (found - case.objective).abs() <= 1e-6 * case.objective,
                "{what}: {found} not {}",
                case.objective
            );
            let scores = model.decide(&engine(1), rows).unwrap();
            let loose = if loss.has_corners() { 5e-2 } else { 2e-3 };
            assert_close(scores.as_slice(), &case.scores.concat(), Absolute(loose));
        }
    }
}

/// One column of numbers and classes that depend on the rows, with noise.
fn data(n: usize) -> (Matrix<f64>, Matrix<f64>, Matrix<f64>) {
    let x = Matrix::new(n, 3, normals(n, 3, 11)).unwrap();
    let noise = normals(n, 1, 12);
    let score = |i: usize| (2.0 * x.row(i)[0]).sin() + x.row(i)[1] * x.row(i)[2] + 0.3 * noise[i];
    let class = |i: usize| f64::from(u8::from(score(i) > -0.4) + u8::from(score(i) > 0.5));
    (x.clone(), Matrix::from_fn(n, 1, |i, _| 5.0 + score(i)), Matrix::from_fn(n, 1, |i, _| class(i)))
}

fn all() -> Vec<Loss> {
    vec![
        Loss::Squares,
        Loss::Logistic,
        Loss::margins(Hinge::Squared),
        Loss::margins(Hinge::Plain),
        Loss::Insensitive { epsilon: 0.1 },
        Loss::Huber { epsilon: 1.35 },
        Loss::Quantile { level: 0.7 },
    ]
}

fn gaussian() -> MapSpec {
    MapSpec { features: 40, seed: 5, ..MapSpec::auto(Kernel::gaussian(1.5)) }
}

fn source<'a>(
    loss: Loss,
    x: &'a Matrix<f64>,
    numbers: &'a Matrix<f64>,
    codes: &'a Matrix<f64>,
    weights: Option<&'a [f64]>,
) -> Arrays<'a> {
    let (y, target) =
        if loss.wants_classes() { (codes, classes(3)) } else { (numbers, Target::Numbers { outputs: 1 }) };
    Arrays::new(Rows::from(x), y.view(), weights, target).unwrap()
}

/// Repeating a row is weighting it, the order of rows decides nothing, and the number of threads does not change a bit.
#[test]
fn weights_orders_and_threads_change_nothing() {
    let (x, numbers, codes) = data(150);
    let weights: Vec<f64> = (0..150).map(|i| f64::from(i % 3)).collect();
    // Each row as often as it weighs, from the last to the first.
    let repeated: Vec<usize> = (0..150).rev().flat_map(|i| std::iter::repeat_n(i, i % 3)).collect();
    let pick = |m: &Matrix<f64>| Matrix::from_fn(repeated.len(), m.columns(), |i, j| m.row(repeated[i])[j]);
    let (rx, rnumbers, rcodes) = (pick(&x), pick(&numbers), pick(&codes));
    let weights_of: Vec<f64> = weights;
    for loss in all() {
        for lambda in [Lambda::Given { value: 1e-2 }, Lambda::CrossValidated { folds: 3 }] {
            let learner = Linear { lambda, ..Linear::new(gaussian(), loss) };
            let weighted = source(loss, &x, &numbers, &codes, Some(&weights_of));
            let one = learner.fit(&engine(1), &weighted).unwrap();
            for threads in [2, 7] {
                let other = learner.fit(&engine(threads), &weighted).unwrap();
                assert_same_bits(one.coefficients().as_slice(), other.coefficients().as_slice());
                assert_eq!(one.to_bytes().unwrap(), other.to_bytes().unwrap(), "{loss}");
            }
            let again = learner.fit(&engine(2), &source(loss, &rx, &rnumbers, &rcodes, None)).unwrap();
            assert_close(
                &[one.training().unwrap().lambda],
                &[again.training().unwrap().lambda],
                Relative(1e-9),
            );
            let (a, b) = (one.coefficients().as_slice(), again.coefficients().as_slice());
            let size = a.iter().map(|c| c.abs()).fold(0.0, f64::max);
            assert_close(a, b, Absolute(1e-6 * size + 1e-9));
        }
    }
}

/// Conjugate gradients on squares find what Cholesky finds.
#[test]
fn squares_are_those_of_ridge() {
    let (x, numbers, _) = data(200);
    let (lambda, y) = (Lambda::Given { value: 1e-3 }, numbers.as_slice().to_vec());
    let steps = Linear { lambda, tolerance: 1e-12, ..Linear::new(gaussian(), Loss::Squares) };
    let steps = steps.fit(&engine(2), &(&x, &y)).unwrap();
    let sums = Ridge { lambda, ..Ridge::new(gaussian()) }.fit(&engine(2), &(&x, &y)).unwrap();
    assert_close(steps.coefficients().as_slice(), sums.coefficients().as_slice(), Absolute(1e-5));
    assert_close(steps.intercept(), sums.intercept(), Absolute(1e-5));
}

/// Probabilities add up to one, are largest for the class that is predicted, and survive the file; losses that have none give none.
#[test]
fn probabilities_are_of_classes() {
    let (x, numbers, codes) = data(300);
    for count in [2, 3] {
        let y = Matrix::from_fn(300, 1, |i, _| codes.row(i)[0].min(count as f64 - 1.0));
        let data = Arrays::new(Rows::from(&x), y.view(), None, classes(count)).unwrap();
        let model = Linear::new(gaussian(), Loss::Logistic).fit(&engine(2), &data).unwrap();
        let model = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        let outputs = model.decide(&engine(2), Rows::from(&x)).unwrap();
        let (p, chosen) = (model.probabilities(&outputs).unwrap(), model.classes(&outputs));
        let mut right = 0.0;
        for i in 0..300 {
            assert_close(&[p.row(i).iter().sum()], &[1.0], Absolute(1e-12));
            assert!(p.row(i).iter().all(|q| *q <= p.row(i)[chosen[i]]));
            right += p.row(i)[y.row(i)[0] as usize];
        }
        assert!(right / 300.0 > 0.6, "{right}");
    }
    let other = Linear::new(gaussian(), Loss::Quantile { level: 0.5 });
    let model = other.fit(&engine(2), &(&x, &numbers.as_slice().to_vec())).unwrap();
    assert!(model.probabilities(&model.decide(&engine(1), Rows::from(&x)).unwrap()).is_none());
}

/// With a free constant, at most τ of the targets lie below the best τ-quantile, and at most 1 − τ above.
#[test]
fn quantiles_divide_the_targets() {
    let (x, numbers, _) = data(400);
    for level in [0.1, 0.5, 0.9] {
        let (lambda, loss) = (Lambda::Given { value: 1e-3 }, Loss::Quantile { level });
        let learner = Linear { lambda, tolerance: 1e-7, ..Linear::new(gaussian(), loss) };
        let model = learner.fit(&engine(2), &(&x, &numbers.as_slice().to_vec())).unwrap();
        let scores = model.decide(&engine(1), Rows::from(&x)).unwrap();
        let error = |i: usize| numbers.row(i)[0] - scores.row(i)[0];
        let below = (0..400).filter(|&i| error(i) < -1e-4).count() as f64 / 400.0;
        let above = (0..400).filter(|&i| error(i) > 1e-4).count() as f64 / 400.0;
        assert!(
            below <= level + 1e-9 && above <= 1.0 - level + 1e-9,
            "{level}: {below} below, {above} above"
        );
    }
}

/// Targets a thousand times as large, and far from zero, give the same model in their units: λ is measured in them, and digits are kept.
#[test]
fn units_of_targets_do_not_matter() {
    let (x, numbers, _) = data(150);
    for loss in [Loss::Huber { epsilon: 1.35 }, Loss::Quantile { level: 0.7 }] {
        let fit = |factor: f64, offset: f64| {
            let y: Vec<f64> = numbers.as_slice().iter().map(|y| factor * y + offset).collect();
            let learner = Linear {
                lambda: Lambda::CrossValidated { folds: 3 },
                tolerance: 1e-6,
                ..Linear::new(gaussian(), loss)
            };
            let model = learner.fit(&engine(2), &(&x, &y)).unwrap();
            let (lambda, value) = (model.training().unwrap().lambda, objective(&model));
            let scores = model.decide(&engine(1), Rows::from(&x)).unwrap();
            (lambda, value, scores.as_slice().iter().map(|s| (s - offset) / factor).collect::<Vec<f64>>())
        };
        let (lambda, value, scores) = fit(1.0, 0.0);
        for (factor, offset) in [(1000.0, 0.0), (1.0, 1e7)] {
            let other = fit(factor, offset);
            assert_close(&[factor * other.0], &[lambda], Relative(1e-6));
            assert_close(&[other.1 / factor], &[value], Relative(1e-5));
            assert_close(&other.2, &scores, Absolute(0.02));
        }
    }
}

/// A few wild targets move a fit of squares far, one of Huber's loss little.
#[test]
fn wild_targets_are_held_off() {
    let (x, numbers, _) = data(300);
    let clean: Vec<f64> = numbers.as_slice().to_vec();
    let wild: Vec<f64> =
        clean.iter().enumerate().map(|(i, y)| if i % 20 == 0 { y + 100.0 } else { *y }).collect();
    let lambda = Lambda::Given { value: 1e-2 };
    let predict = |loss: Loss, y: &Vec<f64>| {
        let model = Linear { lambda, ..Linear::new(gaussian(), loss) }.fit(&engine(2), &(&x, y)).unwrap();
        model.decide(&engine(1), Rows::from(&x)).unwrap()
    };
    let moved = |loss: Loss| {
        let (a, b) = (predict(loss, &clean), predict(loss, &wild));
        a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| (a - b).abs()).sum::<f64>() / 300.0
    };
    let (squares, huber) = (moved(Loss::Squares), moved(Loss::Huber { epsilon: 1.35 }));
    assert!(squares > 3.0 && huber < 0.5, "{squares} and {huber}");
}

/// A start near the end saves steps; one of other features is refused.
#[test]
fn starts_are_used_or_refused() {
    let (x, _, codes) = data(300);
    let data = Arrays::new(Rows::from(&x), codes.view(), None, classes(3)).unwrap();
    let learner = Linear { lambda: Lambda::Given { value: 1e-4 }, ..Linear::new(gaussian(), Loss::Logistic) };
    let steps = |model: &Model| match model.training().unwrap().outcome {
        Outcome::Minimised { steps, .. } => steps,
        _ => 0,
    };
    let first = learner.fit(&engine(2), &data).unwrap();
    let second = learner.fit_from(&engine(2), &data, Some(&first)).unwrap();
    assert!(
        steps(&second) < steps(&first) && steps(&second) <= 1,
        "{} then {}",
        steps(&first),
        steps(&second)
    );
    assert_close(&[objective(&second)], &[objective(&first)], Relative(1e-4));
    let other = Linear { map: MapSpec { seed: 6, ..gaussian() }, ..learner };
    assert!(matches!(other.fit_from(&engine(2), &data, Some(&first)), Err(Error::Unsupported { .. })));
}

/// What cannot be is said; what is hard ends with a warning.
#[test]
fn bad_problems_are_told() {
    let (x, numbers, codes) = data(60);
    let numbers_source = source(Loss::Squares, &x, &numbers, &codes, None);
    let classes_source = source(Loss::Logistic, &x, &numbers, &codes, None);
    let fit = |loss: Loss, source: &Arrays<'_>| Linear::new(gaussian(), loss).fit(&engine(1), source);
    assert!(matches!(fit(Loss::Logistic, &numbers_source), Err(Error::Unsupported { .. })));
    for loss in [Loss::Huber { epsilon: 1.35 }, Loss::Quantile { level: 0.5 }] {
        assert!(matches!(fit(loss, &classes_source), Err(Error::Unsupported { .. })));
    }
    for loss in
        [Loss::Quantile { level: 1.0 }, Loss::Huber { epsilon: 1.0 }, Loss::Insensitive { epsilon: -1.0 }]
    {
        assert!(matches!(fit(loss, &numbers_source), Err(Error::Parameter { .. })), "{loss}");
    }
    let one = Arrays::new(Rows::from(&x), codes.view(), None, classes(1)).unwrap();
    assert!(matches!(fit(Loss::Logistic, &one), Err(Error::OneClass { .. })));
    // Of two classes, one without weight: there are no odds.
    let two = Matrix::from_fn(60, 1, |i, _| codes.row(i)[0].min(1.0));
    let weights: Vec<f64> = (0..60).map(|i| two.row(i)[0]).collect();
    let lonely = Arrays::new(Rows::from(&x), two.view(), Some(&weights), classes(2)).unwrap();
    assert!(matches!(fit(Loss::Logistic, &lonely), Err(Error::OneClass { .. })));
    let infinite = vec![f64::INFINITY; 60];
    assert!(fit(Loss::Logistic, &source(Loss::Logistic, &x, &numbers, &codes, Some(&infinite))).is_err());
    // Classes that a plane divides: λ keeps the coefficients finite.
    let side = Matrix::from_fn(60, 1, |i, _| f64::from(u8::from(x.row(i)[0] > 0.0)));
    let divided = Arrays::new(Rows::from(&x), side.view(), None, classes(2)).unwrap();
    let model = Linear { lambda: Lambda::Given { value: 1e-10 }, ..Linear::new(linear(), Loss::Logistic) };
    let model = model.fit(&engine(1), &divided).unwrap();
    assert!(model.coefficients().as_slice().iter().all(|c| c.is_finite()));
    // Too few steps are told, in the model too.
    let warnings = std::sync::Arc::new(Warnings::default());
    let engine = EngineSpec { observer: Some(warnings.clone()), ..EngineSpec::default() }.build();
    let lambda = Lambda::Given { value: 1e-6 };
    let hasty = Linear { most_steps: Some(1), lambda, ..Linear::new(gaussian(), Loss::Logistic) };
    let model = hasty.fit(&engine, &classes_source).unwrap();
    assert!(matches!(
        model.training().unwrap().outcome,
        Outcome::Minimised { stop: Stop::Steps, steps: 1, .. }
    ));
    assert!(warnings.0.lock().unwrap().iter().any(|text| text.contains("after 1 steps")), "{:?}", warnings.0);
}

#[derive(Debug, Default)]
struct Warnings(std::sync::Mutex<Vec<String>>);

impl bochner::Observer for Warnings {
    fn event(&self, event: &bochner::Event<'_>) -> std::ops::ControlFlow<()> {
        if let bochner::Event::Warning { text } = event {
            self.0.lock().unwrap().push((*text).to_owned());
        }
        std::ops::ControlFlow::Continue(())
    }
}

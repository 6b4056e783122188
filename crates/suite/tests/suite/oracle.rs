//! Ridge against naive f64 code: Gaussian elimination on the same features, and kernel ridge on the exact kernel.

use bochner::{
    Arrays, Engine, Kernel, LabelKind, Labels, Lambda, MapSpec, Matrix, Method, Ridge, Rows, Target,
};
use bochner_testkit::{
    Absolute, Relative, assert_close, cross_validated_mse, degrees_of_freedom, kernel_ridge_with_intercept,
    predict, regression, ridge,
};

use crate::table::{INPUTS, engine};

struct Problem {
    x: Matrix<f64>,
    y: Matrix<f64>,
    weights: Vec<f64>,
}

fn problem(n: usize, targets: usize) -> Problem {
    let (x, y) = regression(n, INPUTS, targets, 21);
    Problem {
        x: Matrix::new(n, INPUTS, x).unwrap(),
        y: Matrix::new(n, targets, y).unwrap(),
        weights: (0..n).map(|i| 0.5 + (i % 4) as f64).collect(),
    }
}

fn arrays<'a>(p: &'a Problem, weighted: bool) -> Arrays<'a> {
    let target = Target::Numbers { outputs: p.y.columns() };
    Arrays::new(Rows::from(&p.x), p.y.view(), weighted.then_some(&p.weights[..]), target).unwrap()
}

fn spec(features: usize) -> MapSpec {
    MapSpec { features, seed: 3, ..MapSpec::auto(Kernel::gaussian(2.0)) }
}

#[test]
fn coefficients_and_freedom_are_those_of_naive_elimination() {
    let p = problem(150, 2);
    for (weighted, intercept) in [(false, true), (true, true), (false, false), (true, false)] {
        let weights = weighted.then_some(&p.weights[..]);
        for lambda in [1e-4, 1e-2, 1.0] {
            let model = Ridge { lambda: Lambda::Given { value: lambda }, intercept, ..Ridge::new(spec(24)) }
                .fit(&engine(2), &arrays(&p, weighted))
                .unwrap();
            let z = model.map().transform(&engine(1), &Rows::from(&p.x)).unwrap();
            let (c, b) = ridge(z.as_slice(), 150, 24, p.y.as_slice(), 2, weights, lambda, intercept);
            let ours = Matrix::from_fn(24, 2, |j, o| model.coefficients().row(o)[j]);
            assert_close(ours.as_slice(), &c, Absolute(1e-9));
            assert_close(model.intercept(), &b, Absolute(1e-9));
            let expected = predict(z.as_slice(), 150, 24, &c, &b);
            let found = model.decide(&engine(2), Rows::from(&p.x)).unwrap();
            assert_close(found.as_slice(), &expected, Absolute(1e-9));
            let freedom = degrees_of_freedom(z.as_slice(), 150, 24, weights, lambda, intercept);
            assert_close(
                &[model.training().unwrap().degrees_of_freedom().unwrap()],
                &[freedom],
                Absolute(1e-8),
            );
        }
    }
}

/// Classes are ridge on their codes: −1 and +1 for two, one column of zeros and ones for each of more; the class is that of the sign or of the largest.
#[test]
fn classes_are_those_of_naive_elimination_on_their_codes() {
    let (n, features, lambda) = (150, 24, 1e-3);
    for classes in [2, 3] {
        let p = problem(n, 1);
        let mut ascending: Vec<f64> = p.y.as_slice().to_vec();
        ascending.sort_by(f64::total_cmp);
        let class = |i: usize| (1..classes).filter(|c| p.y.row(i)[0] >= ascending[n * c / classes]).count();
        let positions = Matrix::from_fn(n, 1, |i, _| class(i) as f64);
        let labels = Labels::new(LabelKind::Integer, (0..classes).map(|c| c.to_string()).collect());
        let target = Target::Classes { labels };
        let source = Arrays::new(Rows::from(&p.x), positions.view(), Some(&p.weights), target).unwrap();
        let model = Ridge { lambda: Lambda::Given { value: lambda }, ..Ridge::new(spec(features)) }
            .fit(&engine(2), &source)
            .unwrap();

        let columns = if classes == 2 { 1 } else { classes };
        let codes: Vec<f64> = (0..n)
            .flat_map(|i| (0..columns).map(move |o| (i, o)))
            .map(|(i, o)| match columns {
                1 => [-1.0, 1.0][class(i)],
                _ => f64::from(u8::from(class(i) == o)),
            })
            .collect();
        let z = model.map().transform(&engine(1), &Rows::from(&p.x)).unwrap();
        let weights = Some(&p.weights[..]);
        let (c, b) = ridge(z.as_slice(), n, features, &codes, columns, weights, lambda, true);
        let scores = predict(z.as_slice(), n, features, &c, &b);
        let found = model.decide(&engine(2), Rows::from(&p.x)).unwrap();
        assert_close(found.as_slice(), &scores, Absolute(1e-9));

        let decided = model.classes(&found);
        for (i, scores) in scores.chunks(columns).enumerate() {
            let naive = match columns {
                1 => usize::from(scores[0] > 0.0),
                _ => (0..columns).fold(0, |best, o| if scores[o] > scores[best] { o } else { best }),
            };
            assert_eq!(decided[i], naive, "row {i} of {classes} classes");
        }
        let wrong = (0..n).filter(|&i| decided[i] != class(i)).count();
        assert!(wrong > 0 && wrong < n / 3, "{wrong} wrong: the test has no power");
    }
}

/// The curve from fold sums is the one that refitting without each fold gives. Folds are found from the outside: they are the
/// content hash's, reproduced here.
#[test]
fn the_cross_validation_curve_is_that_of_refitting() {
    for (n, features, every) in [(120, 16, 1), (200, 100, 5)] {
        curve_of_refitting(n, features, every);
    }
}

/// Compares every so many points of the curve; more features than a band has diagonals go through all of the reduction.
fn curve_of_refitting(n: usize, features: usize, every: usize) {
    let p = problem(n, 2);
    let k = 4;
    let map = spec(features);
    let mut hash = bochner::content::ContentHash::new(map.seed, bochner::random::Stream::Folds);
    let folds: Vec<usize> =
        (0..n).map(|i| ((u128::from(hash.of(&Rows::from(&p.x), i)) * k as u128) >> 64) as usize).collect();
    for (weighted, intercept) in [(false, true), (true, true), (true, false)] {
        let weights = weighted.then_some(&p.weights[..]);
        let ridge =
            Ridge { lambda: Lambda::CrossValidated { folds: k }, intercept, ..Ridge::new(map.clone()) };
        let model = ridge.fit(&engine(2), &arrays(&p, weighted)).unwrap();
        let training = model.training().unwrap();
        assert_eq!(training.curve.len(), 21);
        let z = model.map().transform(&engine(1), &Rows::from(&p.x)).unwrap();
        for point in training.curve.iter().filter(|point| point.lambda > 1e-7).step_by(every) {
            let naive = cross_validated_mse(
                z.as_slice(),
                n,
                features,
                p.y.as_slice(),
                2,
                weights,
                &folds,
                k,
                point.lambda,
                intercept,
            );
            assert_close(&[point.error], &[naive], Relative(1e-9));
        }
        let least = training.curve.iter().map(|point| point.error).fold(f64::INFINITY, f64::min);
        let chosen =
            training.curve.iter().find(|point| point.lambda.to_bits() == training.lambda.to_bits()).unwrap();
        assert!(chosen.error <= least * (1.0 + 1e-4));
    }
}

/// With every row a landmark, feature ridge is kernel ridge with the exact kernel.
#[test]
fn with_all_rows_as_landmarks_it_is_kernel_ridge() {
    let p = problem(60, 1);
    let kernel = Kernel::laplace(3.0);
    let method = Method::Landmarks { whiten: true, tolerance: 1e-13, choice: Default::default() };
    let map = MapSpec { kernel: kernel.clone(), method, features: 60, seed: 0 };
    let lambda = 1e-3;
    let model = Ridge { lambda: Lambda::Given { value: lambda }, ..Ridge::new(map) }
        .fit(&engine(1), &arrays(&p, false))
        .unwrap();
    let gram = kernel.gram(&Engine::default(), &Rows::from(&p.x), &Rows::from(&p.x)).unwrap();
    let (alpha, b) = kernel_ridge_with_intercept(gram.as_slice(), 60, p.y.as_slice(), 1, lambda);
    let expected: Vec<f64> =
        (0..60).map(|i| b[0] + gram.row(i).iter().zip(&alpha).map(|(k, a)| k * a).sum::<f64>()).collect();
    let found = model.decide(&engine(1), Rows::from(&p.x)).unwrap();
    assert_close(found.as_slice(), &expected, Absolute(1e-9));
}

/// The linear kernel's exact map makes this ordinary ridge regression on the columns.
#[test]
fn linear_is_ordinary_ridge() {
    let p = problem(80, 3);
    let model = Ridge { lambda: Lambda::Given { value: 0.1 }, ..Ridge::new(MapSpec::auto(Kernel::Linear)) }
        .fit(&engine(1), &arrays(&p, false))
        .unwrap();
    let (c, b) = ridge(p.x.as_slice(), 80, INPUTS, p.y.as_slice(), 3, None, 0.1, true);
    let ours = Matrix::from_fn(INPUTS, 3, |j, o| model.coefficients().row(o)[j]);
    assert_close(ours.as_slice(), &c, Absolute(1e-10));
    assert_close(model.intercept(), &b, Absolute(1e-10));
}

/// Single-precision features move a prediction by less than 1e-4 of the targets' spread.
#[test]
fn single_precision_is_close_to_double() {
    let p = problem(5000, 1);
    let single = crate::table::single(&p.x);
    let fit = |rows: &dyn bochner::Source| {
        Ridge { lambda: Lambda::Given { value: 1e-5 }, ..Ridge::new(spec(64)) }.fit(&engine(2), rows).unwrap()
    };
    let double = fit(&arrays(&p, false));
    let target = Target::Numbers { outputs: 1 };
    let lone = fit(&Arrays::new(Rows::from(&single), p.y.view(), None, target).unwrap());
    let a = double.decide(&engine(2), Rows::from(&p.x)).unwrap();
    let b = lone.decide(&engine(2), Rows::from(&single)).unwrap();
    assert_close(b.as_slice(), a.as_slice(), Absolute(1e-4));
}

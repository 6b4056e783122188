//! Support vector machines on features: what they minimise, what they promise, what they refuse.

use bochner::model::Outcome;
use bochner::solve::Hinge;
use bochner::{
    AnyRows, Arrays, Bins, Csr, EngineSpec, Error, ExactSvm, Kernel, LabelKind, Labels, Lambda, Linear, Loss,
    MapSpec, Matrix, Method, Model, Rows, Target,
};
use bochner_testkit::{Absolute, Relative, assert_close, assert_same_bits, normals};

use crate::table::engine;

/// Rings: class = how far from the origin, so that no line tells them apart.
fn rings(n: usize, classes: usize, seed: u64) -> (Matrix<f64>, Matrix<f64>) {
    let x = Matrix::new(n, 2, normals(n, 2, seed)).unwrap();
    let class = |i: usize| (x.row(i)[0].hypot(x.row(i)[1]) / 0.8).floor().min(classes as f64 - 1.0);
    let y = Matrix::from_fn(n, 1, |i, _| class(i));
    (x, y)
}

fn labels(classes: usize) -> Target {
    let texts = (0..classes).map(|c| c.to_string()).collect();
    Target::Classes { labels: Labels::new(LabelKind::Integer, texts) }
}

fn fit<'a>(
    svm: &Linear,
    rows: impl Into<AnyRows<'a>>,
    y: &'a Matrix<f64>,
    weights: Option<&'a [f64]>,
    classes: usize,
    threads: usize,
) -> Model {
    svm.fit(&engine(threads), &source(rows, y, weights, classes)).unwrap()
}

fn source<'a>(
    rows: impl Into<AnyRows<'a>>,
    y: &'a Matrix<f64>,
    weights: Option<&'a [f64]>,
    classes: usize,
) -> Arrays<'a> {
    Arrays::new(rows, y.view(), weights, labels(classes)).unwrap()
}

fn error(model: &Model, x: &Matrix<f64>, y: &Matrix<f64>) -> f64 {
    let outputs = model.decide(&engine(1), Rows::from(x)).unwrap();
    let classes = model.classes(&outputs);
    classes.iter().enumerate().filter(|(i, c)| **c != y.row(*i)[0] as usize).count() as f64 / y.rows() as f64
}

fn gaussian(features: usize) -> MapSpec {
    MapSpec { features, seed: 3, ..MapSpec::auto(Kernel::gaussian(0.8)) }
}

fn binning(bins: Bins) -> MapSpec {
    let method = Method::Binning { bins };
    MapSpec { kernel: Kernel::laplace(2.0), method, features: 60, seed: 3 }
}

fn given(map: MapSpec, hinge: Hinge) -> Linear {
    Linear {
        lambda: Lambda::Given { value: 1e-3 },
        tolerance: 1e-8,
        ..Linear::new(map, Loss::margins(hinge))
    }
}

/// The value of a model's weights, by definition, is the primal value it reports, and the dual one is below it.
#[test]
fn objectives_are_what_the_weights_are_worth() {
    let (x, y) = rings(400, 3, 1);
    for map in [gaussian(60), binning(Bins::Fitted), binning(Bins::Hashed { width: 16 })] {
        for hinge in [Hinge::Squared, Hinge::Plain] {
            let model = fit(&given(map.clone(), hinge), Rows::from(&x), &y, None, 3, 2);
            let outputs = model.decide(&engine(1), Rows::from(&x)).unwrap();
            let cost = 1.0 / (2.0 * 1e-3 * 400.0);
            let mut value = 0.0;
            for o in 0..3 {
                let w = model.coefficients().row(o);
                value += 0.5 * (w.iter().map(|w| w * w).sum::<f64>() + model.intercept()[o].powi(2));
                for i in 0..400 {
                    let sign = if y.row(i)[0] as usize == o { 1.0 } else { -1.0 };
                    let short = (1.0 - sign * outputs.row(i)[o]).max(0.0);
                    value += cost * if hinge == Hinge::Plain { short } else { short * short };
                }
            }
            let Outcome::Margins { primal, dual, margin, hinge: said } = model.training().unwrap().outcome
            else {
                panic!("margins")
            };
            assert_close(&[primal], &[value], Relative(1e-9));
            assert!(said == hinge && dual <= primal && primal - dual <= 3e-8 * primal, "{primal} {dual}");
            assert!(margin > 0.0 && margin < 10.0);
            assert!(error(&model, &x, &y) < 0.1, "{}", error(&model, &x, &y));
        }
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads_and_from_a_file() {
    let (x, y) = rings(2500, 3, 2);
    for (map, hinge) in [
        (gaussian(64), Hinge::Squared),
        (gaussian(64), Hinge::Plain),
        (binning(Bins::Fitted), Hinge::Squared),
    ] {
        let svm = Linear { tolerance: 1e-3, ..given(map, hinge) };
        let one = fit(&svm, Rows::from(&x), &y, None, 3, 1);
        let bytes = one.to_bytes().unwrap();
        for threads in [2, 7] {
            assert_eq!(fit(&svm, Rows::from(&x), &y, None, 3, threads).to_bytes().unwrap(), bytes);
        }
        let loaded = Model::from_bytes(&bytes).unwrap();
        let decide = |model: &Model| model.decide(&engine(1), Rows::from(&x)).unwrap();
        assert_same_bits(decide(&one).as_slice(), decide(&loaded).as_slice());
        assert_eq!(loaded.training(), one.training());
    }
}

#[test]
fn weight_equals_repetition_and_zero_is_absence() {
    let (x, y) = rings(200, 3, 3);
    let weights: Vec<f64> = (0..200).map(|i| f64::from(i % 3)).collect();
    let repeated: Vec<usize> =
        (0..200).flat_map(|i| std::iter::repeat_n(i as usize, i as usize % 3)).collect();
    let many = Matrix::from_fn(repeated.len(), 2, |i, j| x.row(repeated[i])[j]);
    let labels_of_many = Matrix::from_fn(repeated.len(), 1, |i, _| y.row(repeated[i])[0]);
    for map in [gaussian(40), binning(Bins::Fitted)] {
        for hinge in [Hinge::Squared, Hinge::Plain] {
            let svm = given(map.clone(), hinge);
            let weighted = fit(&svm, Rows::from(&x), &y, Some(&weights), 3, 2);
            let plain = fit(&svm, Rows::from(&many), &labels_of_many, None, 3, 2);
            assert_eq!(weighted.coefficients(), plain.coefficients());
            // Nor does the order of rows matter.
            let turned = Matrix::from_fn(200, 2, |i, j| x.row(199 - i)[j]);
            let labels = Matrix::from_fn(200, 1, |i, _| y.row(199 - i)[0]);
            let weights: Vec<f64> = weights.iter().rev().copied().collect();
            let turned = fit(&svm, Rows::from(&turned), &labels, Some(&weights), 3, 2);
            assert_eq!(weighted.coefficients(), turned.coefficients());
        }
    }
}

/// Sparse rows with the linear kernel stay sparse, and mean the same.
#[test]
fn sparse_rows_are_the_features_of_the_linear_kernel() {
    let (x, y) = rings(150, 2, 4);
    let mut sparse = Csr::empty(2);
    for i in 0..150 {
        sparse.push_row(Rows::from(&x).entries(i));
    }
    let svm = given(MapSpec::auto(Kernel::Linear), Hinge::Squared);
    let dense = fit(&svm, Rows::from(&x), &y, None, 2, 2);
    let found = fit(&svm, Rows::from(&sparse), &y, None, 2, 2);
    assert_close(found.coefficients().as_slice(), dense.coefficients().as_slice(), Absolute(1e-4));
}

/// λ that is not given is one that does well on rows that were left out.
#[test]
fn lambda_is_chosen_on_left_out_rows() {
    let (x, y) = rings(600, 3, 5);
    let (test_x, test_y) = rings(600, 3, 6);
    for (map, hinge) in [(gaussian(100), Hinge::Squared), (binning(Bins::Fitted), Hinge::Plain)] {
        let model = fit(&Linear::new(map.clone(), Loss::margins(hinge)), Rows::from(&x), &y, None, 3, 2);
        let training = model.training().unwrap();
        // Smaller λ are given up once errors rise.
        assert!(training.folds == 5 && (3..=8).contains(&training.curve.len()));
        let least = training.curve.iter().map(|p| p.error).fold(f64::INFINITY, f64::min);
        let chosen = training.curve.iter().find(|p| p.lambda.to_bits() == training.lambda.to_bits()).unwrap();
        assert!(chosen.error <= least);
        assert!((error(&model, &test_x, &test_y) - least).abs() < 0.06);
        let worst = Linear { lambda: Lambda::Given { value: 1.0 }, ..Linear::new(map, Loss::margins(hinge)) };
        let worst = fit(&worst, Rows::from(&x), &y, None, 3, 2);
        assert!(error(&model, &test_x, &test_y) < error(&worst, &test_x, &test_y));
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_the_numbers() {
    let (x, y) = rings(50, 2, 7);
    let svm = given(gaussian(20), Hinge::Squared);
    let numbers = Arrays::new(Rows::from(&x), y.view(), None, Target::Numbers { outputs: 1 }).unwrap();
    let error = svm.fit(&engine(1), &numbers).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }) && error.to_string().contains("classes"), "{error}");
    let one = Arrays::new(Rows::from(&x), y.view(), None, labels(1)).unwrap();
    assert!(matches!(svm.fit(&engine(1), &one), Err(Error::OneClass { .. })));
    let classes = Arrays::new(Rows::from(&x), y.view(), None, labels(2)).unwrap();
    let tight = EngineSpec { memory_limit: Some(40_000), ..EngineSpec::default() }.build();
    assert!(matches!(svm.fit(&tight, &classes), Err(Error::Memory { .. })));
    assert!(Linear { tolerance: 0.0, ..svm.clone() }.fit(&engine(1), &classes).is_err());
    assert!(Linear { lambda: Lambda::Given { value: 0.0 }, ..svm }.fit(&engine(1), &classes).is_err());
}

/// Each output is Σ αᵢyᵢk(xᵢ, x) + b of its pair of classes, and what it costs is what is reported.
#[test]
fn an_exact_machine_has_one_output_for_each_pair() {
    let (x, y) = rings(240, 4, 8);
    for kernel in [Kernel::gaussian(0.7), Kernel::laplace(1.5), Kernel::hat(3.0)] {
        let svm = ExactSvm { cost: 3.0, tolerance: 1e-6, ..ExactSvm::new(kernel.clone()) };
        let model = svm.fit(&engine(2), &source(Rows::from(&x), &y, None, 4)).unwrap();
        let outputs = model.decide(&engine(1), Rows::from(&x)).unwrap();
        assert_eq!(outputs.columns(), 6);
        let (support, rows) = (model.map().landmarks().unwrap(), Rows::from(&x));
        let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        let mut value = 0.0;
        for (p, (a, b)) in pairs.into_iter().enumerate() {
            let coefficients = model.coefficients().row(p);
            let of = |i: usize| -> f64 {
                let term = |k: usize| coefficients[k] * kernel.eval(&Rows::from(support), k, &rows, i);
                (0..support.rows()).map(term).sum::<f64>() + model.intercept()[p]
            };
            let among = |k: usize, l: usize| kernel.eval(&Rows::from(support), k, &Rows::from(support), l);
            let n = support.rows();
            let square: f64 = (0..n * n)
                .map(|kl| coefficients[kl / n] * coefficients[kl % n] * among(kl / n, kl % n))
                .sum();
            value += 0.5 * square;
            for i in 0..240 {
                assert_close(&[outputs.row(i)[p]], &[of(i)], Absolute(1e-10));
                let class = y.row(i)[0] as usize;
                if class == a || class == b {
                    let sign = if class == b { 1.0 } else { -1.0 };
                    value += 3.0 * (1.0 - sign * outputs.row(i)[p]).max(0.0);
                }
            }
        }
        let Outcome::Margins { primal, dual, margin, hinge } = model.training().unwrap().outcome else {
            panic!("margins")
        };
        assert_close(&[primal], &[value], Relative(1e-7));
        assert!(hinge == Hinge::Plain && primal - dual < 1e-3 * primal && primal >= dual * (1.0 - 1e-9));
        assert!(margin > 0.0 && margin < 1.0);
        assert!(error(&model, &x, &y) < 0.1);
        // The most votes win, and among equals the larger sum.
        let scores = model.scores(&outputs);
        for (i, class) in model.classes(&outputs).into_iter().enumerate() {
            let mut votes = [0.0f64; 4];
            let mut sums = [0.0; 4];
            for (p, (a, b)) in pairs.into_iter().enumerate() {
                let output = outputs.row(i)[p];
                votes[if output > 0.0 { b } else { a }] += 1.0;
                (sums[b], sums[a]) = (sums[b] + output, sums[a] - output);
            }
            let wins = |c: usize| {
                votes[c] > votes[class] || ((votes[c] - votes[class]).abs() < 0.5 && sums[c] > sums[class])
            };
            assert!(!(0..4).any(wins), "{votes:?} {sums:?} {class}");
            assert!((0..4).all(|c| scores.row(i)[c] <= scores.row(i)[class]));
        }
    }
}

#[test]
fn an_exact_machine_keeps_the_laws() {
    let (x, y) = rings(150, 3, 9);
    let svm = ExactSvm { cost: 2.0, ..ExactSvm::new(Kernel::gaussian(0.7)) };
    let plain = svm.fit(&engine(1), &source(Rows::from(&x), &y, None, 3)).unwrap();
    // Threads and files.
    let bytes = plain.to_bytes().unwrap();
    assert_eq!(svm.fit(&engine(7), &source(Rows::from(&x), &y, None, 3)).unwrap().to_bytes().unwrap(), bytes);
    let decide = |model: &Model| model.decide(&engine(1), Rows::from(&x)).unwrap();
    let loaded = Model::from_bytes(&bytes).unwrap();
    assert_same_bits(decide(&plain).as_slice(), decide(&loaded).as_slice());
    assert_eq!(loaded.classes(&decide(&loaded)), plain.classes(&decide(&plain)));
    // Weights and repetition; zero and absence.
    let weights: Vec<f64> = (0..150).map(|i| f64::from(i % 3)).collect();
    let repeated: Vec<usize> = (0..150).flat_map(|i| std::iter::repeat_n(i, i % 3)).collect();
    let many = Matrix::from_fn(repeated.len(), 2, |i, j| x.row(repeated[i])[j]);
    let many_y = Matrix::from_fn(repeated.len(), 1, |i, _| y.row(repeated[i])[0]);
    let weighted = svm.fit(&engine(2), &source(Rows::from(&x), &y, Some(&weights), 3)).unwrap();
    assert_eq!(
        decide(&weighted),
        decide(&svm.fit(&engine(2), &source(Rows::from(&many), &many_y, None, 3)).unwrap())
    );
    // Sparse rows, and rows of single precision.
    let mut sparse = Csr::empty(2);
    (0..150).for_each(|i| sparse.push_row(Rows::from(&x).entries(i)));
    assert_eq!(
        decide(&svm.fit(&engine(2), &source(Rows::from(&sparse), &y, None, 3)).unwrap()),
        decide(&plain)
    );
    let single = Matrix::from_fn(150, 2, |i, j| x.row(i)[j] as f32);
    let model = svm.fit(&engine(2), &source(Rows::from(&single), &y, None, 3)).unwrap();
    assert_close(decide(&model).as_slice(), decide(&plain).as_slice(), Absolute(1e-2));
    // A class that is never there is never voted for by more than its pairs' constants, and nothing breaks.
    let absent: Vec<f64> = (0..150).map(|i| if y.row(i)[0] as usize == 2 { 0.0 } else { 1.0 }).collect();
    let model = svm.fit(&engine(2), &source(Rows::from(&x), &y, Some(&absent), 3)).unwrap();
    assert!(decide(&model).as_slice().iter().all(|v| v.is_finite()));
}

#[test]
fn an_exact_machine_refuses_what_makes_no_sense() {
    let (x, y) = rings(60, 2, 10);
    let arrays = Arrays::new(Rows::from(&x), y.view(), None, labels(2)).unwrap();
    let svm = ExactSvm::new(Kernel::gaussian(1.0));
    let tight = EngineSpec { memory_limit: Some(10_000), ..EngineSpec::default() }.build();
    assert!(matches!(svm.fit(&tight, &arrays), Err(Error::Memory { .. })));
    assert!(ExactSvm { cost: 0.0, ..svm.clone() }.fit(&engine(1), &arrays).is_err());
    assert!(ExactSvm { tolerance: f64::NAN, ..svm.clone() }.fit(&engine(1), &arrays).is_err());
    assert!(ExactSvm { kernel: Kernel::gaussian(-1.0), ..svm.clone() }.fit(&engine(1), &arrays).is_err());
    let numbers = Arrays::new(Rows::from(&x), y.view(), None, Target::Numbers { outputs: 1 }).unwrap();
    assert!(matches!(svm.fit(&engine(1), &numbers), Err(Error::Unsupported { .. })));
}

/// One row in thirty is of the second class, and no λ finds any of them: all are wrong equally often. What is chosen still ranks them better than chance, which the largest λ does not: its
/// scores fall with the length of a row.
#[test]
fn equals_are_told_apart_by_their_margins() {
    let mut chance = bochner_testkit::Chance::new(3);
    let n = 1500;
    let rare: Vec<bool> = (0..n).map(|i| i % 30 == 0).collect();
    let x = Matrix::from_fn(n, 3, |i, j| {
        let shift = if rare[i] && j == 0 { 0.7 } else { 0.0 };
        2.0 + shift + chance.normal()
    });
    let y = Matrix::from_fn(n, 1, |i, _| f64::from(u8::from(rare[i])));
    let labels = Labels::new(LabelKind::Integer, vec!["0".into(), "1".into()]);
    let arrays = Arrays::new(Rows::from(&x), y.view(), None, Target::Classes { labels }).unwrap();
    let model = Linear::svm(MapSpec::auto(Kernel::Linear)).fit(&engine(2), &arrays).unwrap();
    let scores = model.decide(&engine(1), Rows::from(&x)).unwrap();
    let (mut above, mut pairs) = (0.0, 0.0);
    for i in (0..n).filter(|&i| rare[i]) {
        for j in (0..n).filter(|&j| !rare[j]) {
            above += f64::from(u8::from(scores.row(i)[0] > scores.row(j)[0]));
            pairs += 1.0;
        }
    }
    assert!(above / pairs > 0.6, "{} at λ = {}", above / pairs, model.training().unwrap().lambda);
}

/// Classes far apart: below some λ no validation row is wrong, over decades. A strong
/// regularisation of these is chosen, though the validation loss is least at a weak one.
#[test]
fn of_equal_counts_the_strongest_regularisation_is_chosen() {
    let mut chance = bochner_testkit::Chance::new(5);
    let n = 400;
    let x = Matrix::from_fn(n, 4, |i, j| {
        let middle = if j == 0 { if i % 2 == 0 { 2.0 } else { -2.0 } } else { 0.0 };
        middle + 0.3 * chance.normal()
    });
    let y = Matrix::from_fn(n, 1, |i, _| (i % 2) as f64);
    let labels = Labels::new(LabelKind::Integer, vec!["0".into(), "1".into()]);
    let arrays = Arrays::new(Rows::from(&x), y.view(), None, Target::Classes { labels }).unwrap();
    let linear = Linear::svm(MapSpec::auto(Kernel::Linear));
    let model = linear.fit(&engine(1), &arrays).unwrap();
    let training = model.training().unwrap();
    let least = training.curve.iter().map(|point| point.error).fold(f64::INFINITY, f64::min);
    let equals: Vec<f64> =
        training.curve.iter().filter(|point| point.error <= least).map(|point| point.lambda).collect();
    let smallest = equals[0];
    assert!(equals.len() > 4, "the curve has no plateau: {:?}", training.curve);
    // The largest has learnt too little by its loss; the choice lies decades from the smallest all
    // the same.
    assert!(training.lambda > 900.0 * smallest, "λ = {:e} of {equals:?}", training.lambda);
}

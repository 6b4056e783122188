use super::fitted::Fitted;
use super::passes::ByPasses;
use super::*;
use crate::engine::EngineSpec;
use crate::model::Outcome;
use crate::solve::Preconditioner;
use crate::{Arrays, Bins, Csr, Kernel, LabelKind, Labels, Matrix, Method, Rows};
use bochner_testkit::{Absolute, assert_close, assert_same_bits, normals};

/// Rows, numbers with errors of heavy tails, four classes that overlap, weights of which some are zero.
struct Data {
    x: Matrix<f64>,
    numbers: Matrix<f64>,
    two: Matrix<f64>,
    four: Matrix<f64>,
    weights: Vec<f64>,
}

fn data(n: usize) -> Data {
    let numbers = normals(n, 5, 21);
    let x = Matrix::from_fn(n, 3, |i, j| numbers[5 * i + j]);
    let score = |i: usize| (2.0 * x.row(i)[0]).sin() + 0.7 * x.row(i)[1] + 0.5 * numbers[5 * i + 3];
    let class = |i: usize| {
        2 * usize::from(score(i) > 0.0) + usize::from(x.row(i)[2] + 0.5 * numbers[5 * i + 4] > 0.4)
    };
    Data {
        numbers: Matrix::from_fn(n, 1, |i, _| 30.0 + score(i) + 0.3 * numbers[5 * i + 4].powi(3)),
        two: Matrix::from_fn(n, 1, |i, _| (class(i) / 2) as f64),
        four: Matrix::from_fn(n, 1, |i, _| class(i) as f64),
        weights: (0..n).map(|i| [1.0, 3.0, 0.0, 0.5][i % 4]).collect(),
        x,
    }
}

fn classes(count: usize) -> Target {
    Target::Classes { labels: Labels::new(LabelKind::Integer, (0..count).map(|c| c.to_string()).collect()) }
}

impl Data {
    fn source<'a>(&'a self, y: &'a Matrix<f64>, target: Target) -> Arrays<'a> {
        Arrays::new(Rows::from(&self.x), y.view(), Some(&self.weights), target).unwrap()
    }

    /// Sources that a loss is about.
    fn sources(&self, loss: Loss) -> Vec<Arrays<'_>> {
        if loss.wants_classes() {
            vec![self.source(&self.two, classes(2)), self.source(&self.four, classes(4))]
        } else {
            vec![self.source(&self.numbers, Target::Numbers { outputs: 1 })]
        }
    }
}

fn fourier(features: usize) -> MapSpec {
    MapSpec { features, seed: 3, ..MapSpec::fourier(Kernel::gaussian(1.2)) }
}

fn losses() -> Vec<Loss> {
    vec![
        Loss::Squares,
        Loss::Logistic,
        Loss::margins(Hinge::Squared),
        Loss::Insensitive { epsilon: 0.2 },
        Loss::Huber { epsilon: 1.35 },
        Loss::Quantile { level: 0.7 },
    ]
}

fn guides() -> [Preconditioner; 3] {
    [Preconditioner::Sample, Preconditioner::Nystrom { rank: 16 }, Preconditioner::Diagonal]
}

fn passes(linear: &Linear, source: &dyn Source, guide: Preconditioner, threads: usize) -> Fitted {
    let engine = &EngineSpec { threads, ..EngineSpec::default() }.build();
    let sample =
        &Sample::of(engine, source, capacity(&linear.map, source.input_dim()), linear.map.seed).unwrap();
    let map = &linear.map.fit_to(engine, source, sample).unwrap();
    let shape = linear.shape(source, map.output_dim(), sample.population());
    let (start, calibrated) = (None, None);
    ByPasses { linear, engine, source, map, sample, shape, guide, start, calibrated }.fit().unwrap()
}

/// The smallest value, and whether the solver says that it is.
fn objective(outcome: &Outcome, lambda: f64) -> f64 {
    match *outcome {
        Outcome::Minimised { objective, stop, bound, .. } => {
            assert!(matches!(stop, crate::solve::Stop::Gap | crate::solve::Stop::Gain), "{outcome:?}");
            assert!(bound.is_none_or(|bound| bound <= objective * (1.0 + 1e-12)), "{outcome:?}");
            objective
        }
        Outcome::Margins { primal, dual, .. } => {
            assert!(dual <= primal * (1.0 + 1e-12), "{outcome:?}");
            2.0 * lambda * primal
        }
        _ => panic!("{outcome:?}"),
    }
}

/// Made anew or held, with every guide, with and without a constant: the same smallest value and the same scores.
#[test]
fn every_loss_and_guide_finds_what_held_features_give() {
    let data = data(500);
    let value = 1e-3;
    for loss in losses() {
        for (intercept, guide) in guides().into_iter().flat_map(|guide| [(true, guide), (false, guide)]) {
            let (tolerance, near) = if loss.has_corners() { (1e-4, 1e-4) } else { (1e-9, 1e-6) };
            let lambda = Lambda::Given { value };
            let linear = Linear { lambda, intercept, tolerance, ..Linear::new(fourier(40), loss) };
            for source in data.sources(loss) {
                let held = linear.fit(&Engine::default(), &source).unwrap();
                let training = held.training().unwrap();
                let fitted = passes(&linear, &source, guide, 2);
                let (a, b) = (objective(&fitted.outcome, value), objective(&training.outcome, value));
                assert!((a - b).abs() <= near * b, "{loss} {guide:?} {intercept}: {a} and {b}");
                assert_eq!(fitted.rows, training.rows);
                let near = if loss.has_corners() { 5e-2 } else { 2e-3 };
                assert_close(fitted.coefficients.as_slice(), held.coefficients().as_slice(), Absolute(near));
                assert_close(&fitted.intercept, held.intercept(), Absolute(near));
                if let (
                    Outcome::Minimised { scale: Some(a), .. },
                    Outcome::Minimised { scale: Some(b), .. },
                ) = (fitted.outcome, training.outcome)
                {
                    assert!((a - b).abs() < 1e-3 * b, "{a} {b}");
                }
            }
        }
    }
}

/// Features that are mostly zeros, and rows that are: column by column, to the same values.
#[test]
fn sparse_features_are_made_anew_too() {
    let data = data(400);
    let mut sparse = Csr::empty(3);
    (0..400).for_each(|i| sparse.push_row((0..3).map(|j| (j as u32, data.x.row(i)[j]))));
    let method = Method::Binning { bins: Bins::Hashed { width: 8 } };
    let binning = MapSpec { kernel: Kernel::laplace(2.0), method, features: 12, seed: 3 };
    for map in [binning, MapSpec::auto(Kernel::Linear)] {
        for loss in [Loss::Logistic, Loss::margins(Hinge::Squared)] {
            for rows in [Rows::from(&data.x), Rows::from(&sparse)] {
                let source = Arrays::new(rows, data.four.view(), Some(&data.weights), classes(4)).unwrap();
                let lambda = Lambda::Given { value: 1e-2 };
                let linear = Linear { lambda, tolerance: 1e-8, ..Linear::new(map.clone(), loss) };
                let held = linear.fit(&Engine::default(), &source).unwrap();
                for guide in guides() {
                    let fitted = passes(&linear, &source, guide, 2);
                    let value = objective(&held.training().unwrap().outcome, 1e-2);
                    let found = objective(&fitted.outcome, 1e-2);
                    assert!((found - value).abs() <= 1e-6 * value, "{loss} {guide:?}: {found} and {value}");
                }
            }
        }
    }
}

/// More rows than a block: the same bits for any number of threads, λ chosen or given.
#[test]
fn threads_change_no_bit() {
    let data = data(5000);
    let given = Lambda::Given { value: 1e-3 };
    for (loss, lambda) in [
        (Loss::Logistic, Lambda::CrossValidated { folds: 4 }),
        (Loss::margins(Hinge::Squared), given),
        (Loss::Huber { epsilon: 1.35 }, given),
    ] {
        for guide in guides() {
            let linear = Linear { lambda, tolerance: 1e-3, ..Linear::new(fourier(30), loss) };
            let source = &data.sources(loss)[0];
            let one = passes(&linear, source, guide, 1);
            for threads in [2, 7] {
                let other = passes(&linear, source, guide, threads);
                assert_same_bits(one.coefficients.as_slice(), other.coefficients.as_slice());
                assert_same_bits(&one.intercept, &other.intercept);
                assert_eq!((one.outcome, &one.curve), (other.outcome, &other.curve));
            }
        }
    }
}

/// A good guide makes for few passes, with a constant that is free or held, and with σ.
#[test]
fn a_sample_leads_well() {
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Counts how often it is read.
    struct Counted<'a>(Arrays<'a>, AtomicUsize);
    impl Source for Counted<'_> {
        fn input_dim(&self) -> usize {
            self.0.input_dim()
        }
        fn target(&self) -> &Target {
            self.0.target()
        }
        fn row_count(&self) -> Option<u64> {
            self.0.row_count()
        }
        fn scalar_bytes(&self) -> usize {
            self.0.scalar_bytes()
        }
        fn open(&self) -> Result<Box<dyn crate::source::Batches + '_>> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.open()
        }
    }
    let (data, mut counts) = (data(2000), Vec::new());
    for loss in [Loss::Logistic, Loss::margins(Hinge::Squared), Loss::Huber { epsilon: 1.35 }] {
        for source in data.sources(loss) {
            let source = Counted(source, AtomicUsize::new(0));
            let lambda = Lambda::Given { value: 1e-5 };
            let linear = Linear { lambda, tolerance: 1e-6, ..Linear::new(fourier(60), loss) };
            passes(&linear, &source, Preconditioner::Sample, 2);
            let read = source.1.load(Ordering::Relaxed);
            counts.push((loss.to_string(), source.0.target().outputs(), read));
        }
    }
    // One matrix leads several outputs less well than one.
    assert!(
        counts.iter().all(|(_, outputs, read)| *read < if *outputs > 1 { 250 } else { 100 }),
        "{counts:?}"
    );
}

/// Far from its best, a constant makes a false bound of the dual value: a few targets far above the others, and a column far from zero that both classes share.
#[test]
fn a_constant_that_is_not_settled_bounds_nothing() {
    let n = 1000;
    let numbers = normals(n, 3, 5);
    let far = Data {
        x: Matrix::from_fn(n, 3, |i, j| numbers[3 * i + j]),
        numbers: Matrix::from_fn(n, 1, |i, _| if i % 5 == 0 { 1000.0 } else { 0.0 }),
        two: Matrix::zeros(0, 1),
        four: Matrix::zeros(0, 1),
        weights: vec![1.0; n],
    };
    let shared = Data {
        x: Matrix::from_fn(n, 1, |i, _| if i % 2 == 0 { 31.0 } else { 29.0 }),
        numbers: Matrix::zeros(0, 1),
        two: Matrix::from_fn(n, 1, |i, _| if i % 2 == 0 && i > 2 { 1.0 } else { 0.0 }),
        four: Matrix::zeros(0, 1),
        weights: vec![1.0; n],
    };
    let linear_map = MapSpec::auto(Kernel::Linear);
    let cases = [
        (
            Loss::Quantile { level: 0.9 },
            fourier(40),
            &far,
            &far.numbers,
            Target::Numbers { outputs: 1 },
            1e-3,
        ),
        (Loss::Logistic, linear_map, &shared, &shared.two, classes(2), 0.5),
    ];
    for (loss, map, data, y, target, value) in cases {
        let linear = Linear { lambda: Lambda::Given { value }, ..Linear::new(map, loss) };
        let source = data.source(y, target);
        let held = linear.fit(&Engine::default(), &source).unwrap();
        let found = passes(&linear, &source, Preconditioner::Sample, 2);
        let least = objective(&held.training().unwrap().outcome, value);
        let Outcome::Minimised { objective, bound, stop, .. } = found.outcome else { panic!() };
        assert!(bound.is_none_or(|bound| bound <= least * (1.0 + 1e-4)), "{loss}: {bound:?} above {least}");
        assert!(
            objective <= least * (1.0 + 1e-2) || stop == crate::solve::Stop::Stagnation,
            "{loss}: {objective} for {least}, {stop:?}"
        );
    }
}

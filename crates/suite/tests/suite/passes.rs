//! Any loss by passes that keep no features: what held features give, in memory that does not grow with the rows.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use bochner::model::Outcome;
use bochner::solve::{Hinge, Stop};
use bochner::source::Batches;
use bochner::{
    Arrays, Auto, Engine, EngineSpec, Error, Event, Kernel, KernelChoice, LabelKind, Labels, Lambda, Linear,
    Loss, MapSpec, Matrix, Model, Observer, Rows, Source, Target, Uncertainty,
};
use bochner_testkit::{Absolute, Relative, assert_close, normals};

use crate::table::engine;

const N: usize = 16_000;

fn fourier() -> MapSpec {
    MapSpec { features: 80, seed: 2, ..MapSpec::fourier(Kernel::gaussian(1.5)) }
}

struct Data {
    x: Matrix<f64>,
    numbers: Matrix<f64>,
    two: Matrix<f64>,
    four: Matrix<f64>,
}

fn data(n: usize) -> Data {
    let numbers = normals(n, 6, 31);
    let x = Matrix::from_fn(n, 4, |i, j| numbers[6 * i + j]);
    let score = |i: usize| (2.0 * x.row(i)[0]).sin() * x.row(i)[1] + 0.4 * numbers[6 * i + 4];
    let class = |i: usize| {
        2 * usize::from(score(i) > 0.1) + usize::from(x.row(i)[2] + 0.4 * numbers[6 * i + 5] > 0.0)
    };
    Data {
        numbers: Matrix::from_fn(n, 1, |i, _| 50.0 + score(i) + 0.2 * numbers[6 * i + 5].powi(3)),
        two: Matrix::from_fn(n, 1, |i, _| (class(i) / 2) as f64),
        four: Matrix::from_fn(n, 1, |i, _| class(i) as f64),
        x,
    }
}

fn classes(count: usize) -> Target {
    Target::Classes { labels: Labels::new(LabelKind::Integer, (0..count).map(|c| c.to_string()).collect()) }
}

fn numbers() -> Target {
    Target::Numbers { outputs: 1 }
}

/// Losses that Newton's method minimises, each with what it is about.
fn cases(data: &Data) -> Vec<(Loss, Arrays<'_>)> {
    let of = |loss, y, target| (loss, arrays(&data.x, y, None, target));
    vec![
        of(Loss::Logistic, &data.two, classes(2)),
        of(Loss::Logistic, &data.four, classes(4)),
        of(Loss::margins(Hinge::Squared), &data.two, classes(2)),
        of(Loss::margins(Hinge::Squared), &data.four, classes(4)),
        of(Loss::Huber { epsilon: 1.35 }, &data.numbers, numbers()),
    ]
}

fn arrays<'a>(
    x: &'a Matrix<f64>,
    y: &'a Matrix<f64>,
    weights: Option<&'a [f64]>,
    target: Target,
) -> Arrays<'a> {
    Arrays::new(Rows::from(x), y.view(), weights, target).unwrap()
}

fn given(value: f64) -> Lambda {
    Lambda::Given { value }
}

/// An engine in which held features do not fit, by a byte.
fn tight(linear: &Linear, source: &dyn Source, threads: usize) -> Engine {
    let limit = linear.plan(source).unwrap().peak_bytes - 1;
    assert!(linear.plan_within(source, limit).unwrap().passes > 2, "by passes");
    EngineSpec { threads, memory_limit: Some(limit), ..EngineSpec::default() }.build()
}

fn objective(model: &Model) -> f64 {
    let training = model.training().unwrap();
    match training.outcome {
        Outcome::Minimised { objective, stop, .. } => {
            assert!(matches!(stop, Stop::Gap | Stop::Gain), "{:?}", training.outcome);
            objective
        }
        Outcome::Margins { primal, .. } => 2.0 * training.lambda * primal,
        outcome => panic!("{outcome:?}"),
    }
}

/// Too little memory for the features of all rows: the same smallest value and the same predictions, in either precision.
#[test]
fn what_does_not_fit_is_made_anew() {
    let data = data(N);
    for (loss, source) in cases(&data) {
        let linear = Linear { lambda: given(1e-4), tolerance: 1e-8, ..Linear::new(fourier(), loss) };
        let engine = tight(&linear, &source, 2);
        let (held, made) =
            (linear.fit(&self::engine(2), &source).unwrap(), linear.fit(&engine, &source).unwrap());
        assert_close(&[objective(&made)], &[objective(&held)], Relative(1e-6));
        let of = |model: &Model| model.decide(&self::engine(2), Rows::from(&data.x)).unwrap();
        assert_close(of(&made).as_slice(), of(&held).as_slice(), Absolute(5e-3));
        // All that a model says of its training is there.
        let again = Model::from_bytes(&made.to_bytes().unwrap()).unwrap();
        assert_eq!(again.training(), made.training());
        assert_eq!(made.training().unwrap().rows, N as u64);
        assert_eq!(made.calibration().is_some(), loss == Loss::Logistic);
    }
    let single = Matrix::from_fn(N, 4, |i, j| data.x.row(i)[j] as f32);
    let source = Arrays::new(Rows::from(&single), data.four.view(), None, classes(4)).unwrap();
    let linear = Linear { lambda: given(1e-4), tolerance: 1e-7, ..Linear::new(fourier(), Loss::Logistic) };
    let made = linear.fit(&tight(&linear, &source, 2), &source).unwrap();
    assert_close(
        &[objective(&made)],
        &[objective(&linear.fit(&engine(2), &source).unwrap())],
        Relative(1e-6),
    );
}

/// Rows that are only counted, for plans.
struct Long(u64, Target);

impl Source for Long {
    fn input_dim(&self) -> usize {
        10
    }
    fn target(&self) -> &Target {
        &self.1
    }
    fn row_count(&self) -> Option<u64> {
        Some(self.0)
    }
    fn scalar_bytes(&self) -> usize {
        4
    }
    fn open(&self) -> bochner::Result<Box<dyn Batches + '_>> {
        Err(Error::NoRows)
    }
}

/// A thousand times the rows: the same bytes at the peak, the same passes, a thousand times the work.
#[test]
fn plans_do_not_grow_with_the_rows() {
    let map = MapSpec { features: 4096, ..fourier() };
    let linear = Linear::new(map, Loss::Logistic);
    let limit = 2 << 30;
    let [few, many] =
        [1_000_000, 1_000_000_000].map(|n| linear.plan_within(&Long(n, classes(3)), limit).unwrap());
    assert!(few.passes > 20 && few.peak_bytes <= limit, "{few:?}");
    assert_eq!(few, many);
    // Where they fit, features are held, and nothing has changed.
    let held = linear.plan(&Long(1_000_000, classes(3))).unwrap();
    assert!(held.passes == 2 && held.peak_bytes > 1_000_000 * 4096 * 4);
    let enough = held.peak_bytes;
    assert_eq!(linear.plan_within(&Long(1_000_000, classes(3)), enough).unwrap(), held);
}

/// The hinge is visited row by row, and says what would not be.
#[test]
fn the_hinge_is_refused() {
    let data = data(N);
    let source = arrays(&data.x, &data.two, None, classes(2));
    let hinge = Linear { lambda: given(1e-3), ..Linear::new(fourier(), Loss::margins(Hinge::Plain)) };
    let limit = hinge.plan(&source).unwrap().peak_bytes - 1;
    let engine = EngineSpec { memory_limit: Some(limit), ..EngineSpec::default() }.build();
    let error = hinge.fit(&engine, &source).unwrap_err();
    assert!(matches!(error, Error::Memory { .. }));
    let text = error.to_string();
    assert!(text.contains("squared_hinge") && text.contains("fewer features"), "{text}");
    // Too little for passes as well.
    let engine = EngineSpec { memory_limit: Some(200_000), ..EngineSpec::default() }.build();
    let smooth = Linear { lambda: given(1e-3), ..Linear::new(fourier(), Loss::Logistic) };
    assert!(matches!(smooth.fit(&engine, &source), Err(Error::Memory { .. })));
}

#[test]
fn threads_change_no_bit() {
    let data = data(N);
    for (loss, source) in [&cases(&data)[1], &cases(&data)[2], &cases(&data)[4]] {
        let linear = Linear { lambda: given(1e-4), ..Linear::new(fourier(), *loss) };
        let fit = |threads| linear.fit(&tight(&linear, source, threads), source).unwrap().to_bytes().unwrap();
        let one = fit(1);
        assert_eq!(one, fit(2));
        assert_eq!(one, fit(7));
    }
}

/// A weight is a number of rows, and no weight is none.
#[test]
fn weight_equals_repetition() {
    let data = data(N);
    let times = |i: usize| i % 3;
    let weights: Vec<f64> = (0..N).map(|i| times(i) as f64).collect();
    let repeats: Vec<usize> = (0..N).flat_map(|i| std::iter::repeat_n(i, times(i))).collect();
    let take = |m: &Matrix<f64>| Matrix::from_fn(repeats.len(), m.columns(), |i, j| m.row(repeats[i])[j]);
    let x = take(&data.x);
    for (loss, y, target) in [
        (Loss::Logistic, &data.four, classes(4)),
        (Loss::margins(Hinge::Squared), &data.two, classes(2)),
        (Loss::Huber { epsilon: 1.35 }, &data.numbers, numbers()),
    ] {
        let linear = Linear { lambda: given(1e-3), tolerance: 1e-9, ..Linear::new(fourier(), loss) };
        let repeated_y = take(y);
        let weighted = arrays(&data.x, y, Some(&weights), target.clone());
        let repeated = arrays(&x, &repeated_y, None, target);
        let a = linear.fit(&tight(&linear, &weighted, 2), &weighted).unwrap();
        let b = linear.fit(&tight(&linear, &repeated, 2), &repeated).unwrap();
        assert_close(&[objective(&a)], &[objective(&b)], Relative(1e-8));
        assert_close(a.coefficients().as_slice(), b.coefficients().as_slice(), Absolute(2e-3));
    }
}

/// λ by one part that is left out is nearly as good as by all of them, and what was tried is kept.
#[test]
fn lambda_is_chosen_by_a_part() {
    let (data, new) = (data(N), data(2 * N));
    for (loss, source) in [&cases(&data)[0], &cases(&data)[3], &cases(&data)[4]] {
        let linear = Linear::new(fourier(), *loss);
        let (held, made) = (
            linear.fit(&engine(2), source).unwrap(),
            linear.fit(&tight(&linear, source, 2), source).unwrap(),
        );
        let [a, b] = [&held, &made].map(|model| model.training().unwrap());
        assert!(b.curve.len() >= 3 && b.curve.windows(2).all(|w| w[0].lambda < w[1].lambda), "{b:?}");
        assert!(b.curve.iter().any(|point| point.lambda.total_cmp(&b.lambda).is_eq()));
        // The same grid, up to how the size of targets is found; errors of a part and of all of them.
        for point in &b.curve {
            let Some(other) = a.curve.iter().find(|p| (p.lambda / point.lambda - 1.0).abs() < 0.05) else {
                continue;
            };
            assert!((point.error / other.error - 1.0).abs() < 0.15, "{loss}: {point:?} {other:?}");
        }
        let rows = Matrix::from_fn(N, 4, |i, j| new.x.row(N + i)[j]);
        let error = |model: &Model| {
            let out = model.decide(&engine(2), Rows::from(&rows)).unwrap();
            let classes = if loss.wants_classes() { model.classes(&out) } else { Vec::new() };
            let truth = match out.columns() {
                _ if classes.is_empty() => &new.numbers,
                1 => &new.two,
                _ => &new.four,
            };
            let wrong = |i: usize| {
                let y = truth.row(N + i)[0];
                if classes.is_empty() {
                    (out.row(i)[0] - y).abs()
                } else {
                    f64::from(u8::from(classes[i] != y as usize))
                }
            };
            (0..N).map(wrong).sum::<f64>() / N as f64
        };
        let (held, made) = (error(&held), error(&made));
        assert!(made < 1.05 * held + 0.002, "{loss}: {made} and {held}");
    }
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

/// Too few steps are a warning; a start near the end saves steps; classes that a plane divides have a model all the same.
#[test]
fn hard_problems_end_and_say_how() {
    let data = data(N);
    let source = arrays(&data.x, &data.two, None, classes(2));
    let watched = |linear: &Linear, source: &Arrays<'_>| {
        let warnings = Arc::new(Warnings::default());
        let memory_limit = Some(linear.plan(source).unwrap().peak_bytes - 1);
        let observer = Some(warnings.clone() as Arc<dyn Observer>);
        (EngineSpec { threads: 2, memory_limit, observer, ..EngineSpec::default() }.build(), warnings)
    };
    let usual = Linear { lambda: given(1e-6), ..Linear::new(fourier(), Loss::Logistic) };
    let hasty = Linear { most_steps: Some(1), ..usual.clone() };
    let (engine, warnings) = watched(&hasty, &source);
    let model = hasty.fit(&engine, &source).unwrap();
    let outcome = model.training().unwrap().outcome;
    assert!(matches!(outcome, Outcome::Minimised { stop: Stop::Steps, steps: 1, .. }), "{outcome:?}");
    assert!(warnings.0.lock().unwrap().iter().any(|text| text.contains("after 1 steps")), "{:?}", warnings.0);

    let (engine, warnings) = watched(&usual, &source);
    let first = usual.fit(&engine, &source).unwrap();
    let second = usual.fit_from(&engine, &source, Some(&first)).unwrap();
    let steps = |model: &Model| match model.training().unwrap().outcome {
        Outcome::Minimised { steps, .. } => steps,
        outcome => panic!("{outcome:?}"),
    };
    assert!(steps(&first) > 2 && steps(&second) <= 1, "{} then {}", steps(&first), steps(&second));
    assert!(warnings.0.lock().unwrap().is_empty(), "{:?}", warnings.0);

    let side = Matrix::from_fn(N, 1, |i, _| f64::from(u8::from(data.x.row(i)[0] > 0.0)));
    let divided = arrays(&data.x, &side, None, classes(2));
    for loss in [Loss::Logistic, Loss::margins(Hinge::Squared)] {
        let linear = Linear { lambda: given(1e-10), ..Linear::new(fourier(), loss) };
        let (engine, _) = watched(&linear, &divided);
        let model = linear.fit(&engine, &divided).unwrap();
        assert!(model.coefficients().as_slice().iter().all(|c| c.is_finite()));
        let held = linear.fit(&self::engine(2), &divided).unwrap();
        assert_close(&[objective(&model)], &[objective(&held)], Relative(1e-3));
    }
    // Of two classes, one without weight: there are no odds.
    let weights: Vec<f64> = (0..N).map(|i| data.two.row(i)[0]).collect();
    let lonely = arrays(&data.x, &data.two, Some(&weights), classes(2));
    assert!(matches!(usual.fit(&watched(&usual, &lonely).0, &lonely), Err(Error::OneClass { .. })));
}

/// Rows whose number is not known before they are read.
struct Unknown<'a>(Arrays<'a>);

impl Source for Unknown<'_> {
    fn input_dim(&self) -> usize {
        self.0.input_dim()
    }
    fn target(&self) -> &Target {
        self.0.target()
    }
    fn row_count(&self) -> Option<u64> {
        None
    }
    fn scalar_bytes(&self) -> usize {
        self.0.scalar_bytes()
    }
    fn open(&self) -> bochner::Result<Box<dyn Batches + '_>> {
        self.0.open()
    }
}

/// More rows than were expected; probabilities by folds; a fit that settles the rest by itself.
#[test]
fn every_door_leads_to_passes() {
    let data = data(N);
    let source = arrays(&data.x, &data.two, None, classes(2));
    let linear = Linear { lambda: given(1e-4), ..Linear::svm(fourier()) };
    let engine = tight(&linear, &source, 2);
    let known = Uncertainty { calibrated: true, ..Uncertainty::default() };
    let same = |a: &Model, b: &Model| assert_close(&[objective(a)], &[objective(b)], Relative(1e-3));
    let model = linear.fit(&engine, &source).unwrap();
    same(&linear.fit(&engine, &Unknown(source)).unwrap(), &model);

    let source = arrays(&data.x, &data.two, None, classes(2));
    let (made, held) = (
        linear.fit_uncertain(&engine, &source, known).unwrap(),
        linear.fit_uncertain(&self::engine(2), &source, known).unwrap(),
    );
    same(&made, &held);
    let [a, b] = [&made, &held].map(|model| model.calibration().unwrap());
    assert_close(&[a.slope, a.offset], &[b.slope, b.offset], Absolute(0.05));

    let auto = Auto {
        kernel: KernelChoice::Given(Kernel::gaussian(1.5)),
        features: Some(80),
        loss: Loss::Logistic,
        lambda: given(1e-4),
        ..Auto::default()
    };
    let limit = auto.plan(&source).unwrap().peak_bytes * 4 / 5;
    let tight = EngineSpec { threads: 2, memory_limit: Some(limit), ..EngineSpec::default() }.build();
    same(&auto.fit(&tight, &source).unwrap(), &auto.fit(&self::engine(2), &source).unwrap());
}

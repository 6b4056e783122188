//! The six strategies of stochastic gradient descent: one model, and costs to the last multiply-add.

use bochner::content::ContentHash;
use bochner::learn::Counted;
use bochner::model::Outcome;
use bochner::plan::{Counts, Speed};
use bochner::random::{Draws, Stream};
use bochner::solve::Hinge;
use bochner::{
    AnyRows, Arrays, Csr, EngineSpec, Error, Kernel, LabelKind, Labels, Lambda, Loss, MapSpec, Matrix,
    Method, Model, Rate, Ridge, Rows, Sgd, Strategy, Target, Workload,
};
use bochner_testkit::{
    Relative, assert_close, assert_same_bits, normals, regression, relative_error, sparse,
};

use crate::table::engine;

const NUMBERS: [Loss; 4] = [
    Loss::Squares,
    Loss::Insensitive { epsilon: 0.2 },
    Loss::Huber { epsilon: 1.35 },
    Loss::Quantile { level: 0.8 },
];

const CLASSES: [Loss; 4] = [
    Loss::Squares,
    Loss::Logistic,
    Loss::Margins { hinge: Hinge::Squared },
    Loss::Margins { hinge: Hinge::Plain },
];

/// Rows in one of two forms.
enum Form {
    Dense(Matrix<f64>),
    Sparse(Csr<f64>),
}

impl Form {
    fn rows(&self) -> Rows<'_, f64> {
        match self {
            Form::Dense(rows) => Rows::from(rows),
            Form::Sparse(rows) => Rows::Sparse(rows.view()),
        }
    }

    /// Dense ones, and sparse ones of unequal length.
    fn both(n: usize, d: usize, seed: u64) -> [Form; 2] {
        let (starts, indices, values) = sparse(n, d, 0.4, seed);
        let dense = Matrix::new(n, d, normals(n, d, seed)).unwrap();
        [Form::Dense(dense), Form::Sparse(Csr::new(d, starts, indices, values).unwrap())]
    }
}

fn classes(count: usize) -> Target {
    let texts = (0..count).map(|c| c.to_string()).collect();
    Target::Classes { labels: Labels::new(LabelKind::Integer, texts) }
}

fn source<'a>(rows: impl Into<AnyRows<'a>>, y: &'a Matrix<f64>, target: &Target) -> Arrays<'a> {
    Arrays::new(rows, y.view(), None, target.clone()).unwrap()
}

fn sgd(kernel: &str, loss: Loss, strategy: Strategy) -> Sgd {
    let kernel: Kernel = kernel.parse().unwrap();
    let map = MapSpec { features: 40, seed: 5, method: Method::auto(&kernel, 40), kernel };
    Sgd { loss, lambda: 1e-2, steps: 300, strategy, ..Sgd::new(map) }
}

fn outputs(model: &Model, rows: Rows<'_, f64>) -> Vec<f64> {
    let Rows::Dense(_) = rows else { panic!("dense rows") };
    model.decide(&engine(1), rows).unwrap().into_vec()
}

/// For every loss, form of rows and number of outputs: the predictions of ① to ④ agree to 1e-9, and what is kept changes no bit.
#[test]
fn the_first_four_are_one_model() {
    let (n, d) = (60, 5);
    let new = Matrix::new(40, d, normals(40, d, 99)).unwrap();
    for form in Form::both(n, d, 1) {
        for (losses, target) in [
            (NUMBERS, Target::Numbers { outputs: 1 }),
            (NUMBERS, Target::Numbers { outputs: 3 }),
            (CLASSES, classes(2)),
            (CLASSES, classes(4)),
        ] {
            let y = match &target {
                Target::Numbers { outputs } => Matrix::new(n, *outputs, normals(n, *outputs, 2)).unwrap(),
                Target::Classes { labels } => Matrix::from_fn(n, 1, |i, _| (i % labels.len()) as f64),
            };
            let source = source(form.rows(), &y, &target);
            for loss in losses {
                for kernel in ["poly(degree=2,gamma=0.3,c=1)", "linear + 0.5*constant", "parabolic"] {
                    let found = Strategy::ALL.map(|strategy| {
                        let (model, _) = sgd(kernel, loss, strategy).fit(&engine(2), &source).unwrap();
                        outputs(&model, Rows::from(&new))
                    });
                    let size = found[0].iter().map(|s| s.abs()).fold(0.0, f64::max);
                    assert!(size > 1e-2, "{kernel} {loss}: something was learned, {size}");
                    for (strategy, found_by) in Strategy::ALL.into_iter().zip(&found).take(4) {
                        let error = relative_error(found_by, &found[0]);
                        assert!(error < 1e-9, "{kernel} {loss} {strategy}: {error:e}");
                    }
                    for pair in found.chunks(2) {
                        assert_same_bits(&pair[0], &pair[1]);
                    }
                }
            }
        }
    }
}

/// A descent as the definition has it, of one output: α of each row, multiplied and moved. What comes back is Σ αⱼk(xⱼ, ·) at `new`, and the mean loss of the second half.
struct Naive<'a> {
    kernel: Kernel,
    x: &'a Matrix<f64>,
    y: &'a [f64],
    weights: &'a [f64],
    loss: Loss,
    lambda: f64,
    steps: u64,
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mutant {
    None,
    NoPenalty,
    OneFactor,
    ScoreAfterShrinking,
    OtherVisits,
}

impl Naive<'_> {
    /// η of step t = 1, 2, … as documented.
    fn rate(&self, t: u64) -> f64 {
        let rows = Rows::from(self.x);
        let largest = (0..self.x.rows()).map(|i| self.kernel.eval(&rows, i, &rows, i)).fold(0.0, f64::max);
        let first = (1.0 / (2.0 * largest)).min(1.0 / (4.0 * self.lambda));
        let delay = 1.0 / (2.0 * self.lambda * first) - 1.0;
        1.0 / (2.0 * self.lambda * (t as f64 + delay))
    }

    /// Rows in the order of their content.
    fn order(&self) -> Vec<usize> {
        let mut hash = ContentHash::new(self.seed, Stream::Folds);
        let mut order: Vec<(u64, usize)> =
            (0..self.x.rows()).map(|i| (hash.of(&Rows::from(self.x), i), i)).collect();
        order.sort_unstable();
        order.into_iter().map(|(_, i)| i).collect()
    }

    fn visit(&self, order: &[usize], t: u64) -> usize {
        let total: f64 = self.weights.iter().sum();
        let mut left = total * Draws::new(self.seed, Stream::Visits, t).uniform();
        for &i in order {
            left -= self.weights[i];
            if left < 0.0 {
                return i;
            }
        }
        order[order.len() - 1]
    }

    fn run(&self, new: &Matrix<f64>, mutant: Mutant) -> (Vec<f64>, f64) {
        let (rows, new, order) = (Rows::from(self.x), Rows::from(new), self.order());
        let score = |alpha: &[f64], rows_of: &Rows<'_, f64>, i: usize| -> f64 {
            let term = |(j, a): (usize, &f64)| a * self.kernel.eval(&rows, j, rows_of, i);
            alpha.iter().enumerate().map(term).sum()
        };
        let mut alpha = vec![0.0; self.x.rows()];
        let mut lost = 0.0;
        for t in 1..=self.steps {
            let i = self.visit(&order, t - 1 + if mutant == Mutant::OtherVisits { 1000 } else { 0 });
            let eta = self.rate(t);
            let shrink = match mutant {
                Mutant::NoPenalty => 1.0,
                Mutant::OneFactor => 1.0 - eta * self.lambda,
                _ => 1.0 - 2.0 * eta * self.lambda,
            };
            let before = score(&alpha, &rows, i);
            alpha.iter_mut().for_each(|a| *a *= shrink);
            let s = if mutant == Mutant::ScoreAfterShrinking { score(&alpha, &rows, i) } else { before };
            let of = self.loss.pointwise();
            alpha[i] -= eta * of.slope(self.y[i], s);
            lost += if t > self.steps / 2 { of.value(self.y[i], s) } else { 0.0 };
        }
        let found = (0..new.count()).map(|i| score(&alpha, &new, i)).collect();
        (found, lost / (self.steps - self.steps / 2) as f64)
    }
}

/// Predictions and mean losses are those of the definition, by features and by kernel values, with weights of rows; four other definitions are told apart.
#[test]
fn a_descent_is_its_definition() {
    let (n, d) = (50, 4);
    let x = Matrix::new(n, d, normals(n, d, 3)).unwrap();
    let new = Matrix::new(20, d, normals(20, d, 4)).unwrap();
    let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 4) as f64).collect();
    for (kernel, loss, strategies) in [
        ("gaussian(sigma=1.5)", Loss::Squares, &Strategy::ALL[2..4]),
        ("gaussian(sigma=1.5)", Loss::Logistic, &Strategy::ALL[2..4]),
        ("poly(degree=2,gamma=0.4,c=1)", Loss::margins(Hinge::Plain), &Strategy::ALL[..4]),
        ("poly(degree=2,gamma=0.4,c=1)", Loss::Insensitive { epsilon: 0.1 }, &Strategy::ALL[..4]),
    ] {
        let (target, y) = if loss.wants_classes() {
            (classes(2), Matrix::from_fn(n, 1, |i, _| f64::from(u8::from(x.row(i)[0] * x.row(i)[1] > 0.0))))
        } else {
            let y = Matrix::from_fn(n, 1, |i, _| x.row(i)[0].sin() + 0.3 * x.row(i)[1]);
            (Target::Numbers { outputs: 1 }, y)
        };
        let coded: Vec<f64> = if loss.wants_classes() {
            y.as_slice().iter().map(|class| 2.0 * class - 1.0).collect()
        } else {
            y.as_slice().to_vec()
        };
        let source = Arrays::new(Rows::from(&x), y.view(), Some(&weights), target).unwrap();
        for &strategy in strategies {
            let sgd = sgd(kernel, loss, strategy);
            let (model, _) = sgd.fit(&engine(1), &source).unwrap();
            let naive = Naive {
                kernel: kernel.parse().unwrap(),
                x: &x,
                y: &coded,
                weights: &weights,
                loss,
                lambda: sgd.lambda,
                steps: sgd.steps,
                seed: 5,
            };
            let (expected, mean) = naive.run(&new, Mutant::None);
            let found = outputs(&model, Rows::from(&new));
            assert!(relative_error(&found, &expected) < 1e-9, "{kernel} {loss} {strategy}");
            let Outcome::Steps { loss: said, steps, mean_loss } = model.training().unwrap().outcome else {
                panic!("steps")
            };
            assert_eq!((said, steps), (loss, 300));
            assert_close(&[mean_loss], &[mean], Relative(1e-9));
            for mutant in
                [Mutant::NoPenalty, Mutant::OneFactor, Mutant::ScoreAfterShrinking, Mutant::OtherVisits]
            {
                // Slopes of straight pieces hardly depend on the score.
                if mutant == Mutant::ScoreAfterShrinking && loss.has_corners() {
                    continue;
                }
                let error = relative_error(&found, &naive.run(&new, mutant).0);
                assert!(error > 1e-4, "{kernel} {loss} {strategy} {mutant:?}: {error:e}");
            }
        }
    }
}

/// What was counted is what the plan says, for dense and sparse rows, one output and several, either precision and any rate; and the job is the one that was given.
#[test]
fn counters_are_the_plan() {
    let (n, d) = (53, 6);
    let kernel = "poly(degree=2,c=1)";
    for form in Form::both(n, d, 8) {
        for outputs in [1, 3] {
            let y = Matrix::new(n, outputs, normals(n, outputs, 9)).unwrap();
            let target = Target::Numbers { outputs };
            let source = source(form.rows(), &y, &target);
            for (rate, steps) in [
                (Rate::Decreasing { first: None }, 300),
                (Rate::Constant { step: 0.01 }, 1),
                (Rate::Constant { step: 49.0 }, 301),
            ] {
                for strategy in Strategy::ALL {
                    // Steps so long make nonsense of squares, and multiply the scale out often.
                    let loss = if steps == 301 { Loss::Quantile { level: 0.5 } } else { Loss::Squares };
                    let sgd = Sgd { rate, steps, ..sgd(kernel, loss, strategy) };
                    let (_, Counted { workload, counts }) = sgd.fit(&engine(2), &source).unwrap();
                    let entries: usize = (0..n).map(|i| stored(&form, i)).sum();
                    let known = Workload {
                        exact_features: Some(28),
                        features: 28,
                        entries: entries as u64,
                        steps,
                        outputs: outputs as u64,
                        // The scale falls by 0.02 in each of them: below 1e-100 after 59.
                        rescalings: if steps == 301 { 5 } else { 0 },
                        visited: Some(visited(&form, n, steps)),
                        ..Workload::dense(n as u64, d as u64)
                    };
                    assert_eq!(workload, known);
                    assert_eq!(counts, known.figures(strategy).unwrap().counts, "{strategy} {rate:?}");
                }
            }
        }
    }
}

fn stored(form: &Form, i: usize) -> usize {
    match form {
        Form::Dense(rows) => rows.columns(),
        Form::Sparse(rows) => rows.view().row(i).0.len(),
    }
}

/// Entries of the rows visited, by the definition of the visits.
fn visited(form: &Form, n: usize, steps: u64) -> u64 {
    let mut hash = ContentHash::new(5, Stream::Folds);
    let mut order: Vec<(u64, usize)> = (0..n).map(|i| (hash.of(&form.rows(), i), i)).collect();
    order.sort_unstable();
    let row = |t| (Draws::new(5, Stream::Visits, t).uniform() * n as f64) as usize;
    (0..steps).map(|t| stored(form, order[row(t)].1) as u64).sum()
}

/// The counts once more, each written out by hand for one job: a mistake in the plan that the counters share would show.
#[test]
fn counts_are_these_numbers() {
    let (n, d, t) = (50u128, 6u128, 200u128);
    let x = Matrix::new(50, 6, normals(50, 6, 8)).unwrap();
    let y = Matrix::new(50, 2, normals(50, 2, 9)).unwrap();
    let target = Target::Numbers { outputs: 2 };
    let counts = |strategy: Strategy| {
        let sgd = Sgd { steps: 200, ..sgd("poly(degree=2,c=1)", Loss::Squares, strategy) };
        let sgd = Sgd { map: MapSpec { features: 20, ..sgd.map }, ..sgd };
        sgd.fit(&engine(1), &source(Rows::from(&x), &y, &target)).unwrap().1.counts
    };
    let (exact, map) = (28u128, 20u128);
    // Two outputs: scores, moves, and the last product with the scale.
    let learned = |width: u128| t * 2 * width * 2 + 2 * width;
    let multiply_adds = [
        t * d * exact + learned(exact),
        n * d * exact + learned(exact),
        t * n * d + t * 2 * (n + 1) + 2 * n,
        n * n * d + t * 2 * (n + 1) + 2 * n,
        t * d * map + learned(map),
        n * d * map + learned(map),
    ];
    let memory = [
        8 * (2 * exact + 64 * exact),
        8 * (2 * exact + n * exact),
        8 * (2 * n + 64 * n),
        8 * (2 * n + n * n),
        8 * (2 * map + 64 * map + d * map),
        8 * (2 * map + n * map + d * map),
    ];
    // Features are read twice in a step, weights three times over (one of them a write); values once, and a weight.
    let stepping = |width: u128| 8 * t * (2 * width + 2 * 3 * width) + 16 * 2 * width;
    let walking = 8 * t * (n + 2 * n + 2 * 2) + 16 * 2 * n;
    // Thirteen groups of 16 visits, four of rows.
    let bytes = [
        8 * (t * d + t * exact) + stepping(exact),
        8 * (n * d + n * exact) + stepping(exact),
        8 * (t * d + 13 * n * d + t * n) + walking,
        8 * (n * d + 4 * n * d + n * n) + walking,
        8 * (t * d + 13 * d * map + t * map) + stepping(map),
        8 * (n * d + 4 * d * map + n * map) + stepping(map),
    ];
    for (k, strategy) in Strategy::ALL.into_iter().enumerate() {
        let expected =
            Counts { multiply_adds: multiply_adds[k], bytes_moved: bytes[k], memory_bytes: memory[k] };
        assert_eq!(counts(strategy), expected, "{strategy}");
    }
}

/// In single precision, what is kept takes half; repeated rows are one.
#[test]
fn single_precision_and_repeated_rows_are_counted() {
    let (n, d) = (40, 5);
    let x = Matrix::<f32>::from_fn(2 * n, d, |i, j| ((i % n) as f32 * 0.37 + j as f32).sin());
    let y = Matrix::from_fn(2 * n, 1, |i, _| ((i % n) as f64).cos());
    let target = Target::Numbers { outputs: 1 };
    for strategy in Strategy::ALL {
        let sgd = sgd("poly(degree=2,c=1)", Loss::Squares, strategy);
        let (model, Counted { workload, counts }) =
            sgd.fit(&engine(1), &source(Rows::from(&x), &y, &target)).unwrap();
        assert_eq!((workload.rows, workload.scalar_bytes), (n as u64, 4));
        assert_eq!(counts, workload.figures(strategy).unwrap().counts, "{strategy}");
        assert_eq!(model.training().unwrap().rows, 2 * n as u64);
    }
}

/// Threads change no bit, a file gives the same predictions, and repeating a row is weighting it.
#[test]
fn the_same_bits_by_any_way() {
    let (n, d) = (90, 4);
    let x = Matrix::new(n, d, normals(n, d, 3)).unwrap();
    let y = Matrix::from_fn(n, 1, |i, _| ((i * 7) % 3) as f64);
    let target = classes(3);
    let weights: Vec<f64> = (0..n).map(|i| (i % 3) as f64).collect();
    let repeated: Vec<usize> = (0..n).flat_map(|i| vec![n - 1 - i; weights[n - 1 - i] as usize]).collect();
    let more = Matrix::from_fn(repeated.len(), d, |i, j| x.row(repeated[i])[j]);
    let more_y = Matrix::from_fn(repeated.len(), 1, |i, _| y.row(repeated[i])[0]);
    for strategy in Strategy::ALL {
        let kernel = if strategy.uses_exact_features() { "poly(degree=2,c=1)" } else { "gaussian(sigma=1)" };
        let sgd = sgd(kernel, Loss::margins(Hinge::Plain), strategy);
        let weighted = Arrays::new(Rows::from(&x), y.view(), Some(&weights), target.clone()).unwrap();
        let (one, _) = sgd.fit(&engine(1), &weighted).unwrap();
        let bytes = one.to_bytes().unwrap();
        for threads in [2, 7] {
            assert!(
                sgd.fit(&engine(threads), &weighted).unwrap().0.to_bytes().unwrap() == bytes,
                "{strategy}"
            );
        }
        let (again, _) = sgd.fit(&engine(2), &source(Rows::from(&more), &more_y, &target)).unwrap();
        assert_same_bits(again.coefficients().as_slice(), one.coefficients().as_slice());
        let loaded = Model::from_bytes(&bytes).unwrap();
        assert_eq!(loaded.training(), one.training());
        assert_same_bits(&outputs(&loaded, Rows::from(&x)), &outputs(&one, Rows::from(&x)));
        // Another seed visits other rows.
        let other = Sgd { map: MapSpec { seed: 6, ..sgd.map.clone() }, ..sgd.clone() };
        assert!(other.fit(&engine(1), &weighted).unwrap().0.to_bytes().unwrap() != bytes, "{strategy}");
    }
}

/// The value of what is minimised comes near the least one, which ridge regression finds.
#[test]
fn a_long_descent_ends_near_the_bottom() {
    let (n, d) = (400, 3);
    let (x, y) = regression(n, d, 1, 12);
    let (x, y) = (Matrix::new(n, d, x).unwrap(), Matrix::new(n, 1, y).unwrap());
    let source = source(Rows::from(&x), &y, &Target::Numbers { outputs: 1 });
    let lambda = 1e-2;
    let value = |model: &Model| {
        let lost = |(s, y): (&f64, &f64)| (y - s).powi(2);
        let mean = outputs(model, Rows::from(&x)).iter().zip(y.as_slice()).map(lost).sum::<f64>() / n as f64;
        mean + lambda * model.coefficients().as_slice().iter().map(|c| c * c).sum::<f64>()
    };
    let sgd = Sgd {
        lambda,
        steps: 60_000,
        ..sgd("poly(degree=2,gamma=0.5,c=1)", Loss::Squares, Strategy::ExactCached)
    };
    let map = MapSpec { method: Method::Exact, ..sgd.map.clone() };
    let ridge = Ridge { lambda: Lambda::Given { value: lambda }, intercept: false, ..Ridge::new(map) };
    let least = value(&ridge.fit(&engine(2), &source).unwrap());
    let after = |steps| value(&Sgd { steps, ..sgd.clone() }.fit(&engine(2), &source).unwrap().0);
    let (few, many) = (after(600), after(60_000));
    assert!(many >= least && many < 1.01 * least, "{many} and {least}");
    assert!(few > 1.02 * least, "fewer steps leave more: {few}");
}

fn refused(sgd: &Sgd, source: &Arrays<'_>) -> Error {
    sgd.fit(&engine(1), source).unwrap_err()
}

#[test]
fn what_cannot_be_is_refused() {
    let x = Matrix::new(30, 3, normals(30, 3, 1)).unwrap();
    let y = Matrix::from_fn(30, 1, |i, _| (i % 2) as f64);
    let numbers = source(Rows::from(&x), &y, &Target::Numbers { outputs: 1 });
    let two = source(Rows::from(&x), &y, &classes(2));
    for strategy in [Strategy::Exact, Strategy::ExactCached] {
        for kernel in ["gaussian(sigma=2)", "linear + laplace(scale=1)", "chi2"] {
            let error = refused(&sgd(kernel, Loss::Squares, strategy), &numbers);
            assert!(matches!(error, Error::Unsupported { .. }), "{error}");
            let text = error.to_string();
            assert!(text.contains(&format!("strategy {strategy} of")), "{text}");
            assert!(
                text.contains("infinitely many")
                    && text.contains("(kernel, kernel-cached)")
                    && text.contains("(map, map-cached)"),
                "{text}"
            );
        }
    }
    let usual = |loss| sgd("gaussian(sigma=1)", loss, Strategy::Kernel);
    for (loss, source) in [(Loss::Logistic, &numbers), (Loss::Quantile { level: 0.5 }, &two)] {
        assert!(matches!(refused(&usual(loss), source), Error::Unsupported { .. }));
    }
    let squares = usual(Loss::Squares);
    for wrong in [
        Sgd { lambda: 0.0, ..squares.clone() },
        Sgd { lambda: f64::NAN, ..squares.clone() },
        Sgd { steps: 0, ..squares.clone() },
        Sgd { rate: Rate::Constant { step: 50.0 }, ..squares.clone() },
        Sgd { rate: Rate::Decreasing { first: Some(0.0) }, ..squares.clone() },
        Sgd { loss: Loss::Quantile { level: 2.0 }, ..squares.clone() },
    ] {
        assert!(matches!(refused(&wrong, &numbers), Error::Parameter { .. }), "{wrong:?}");
    }
    assert!(matches!(
        refused(&usual(Loss::Squares), &source(Rows::from(&x), &y, &classes(1))),
        Error::OneClass { .. }
    ));
    // Steps that are too long for squares grow without end: no model, but an error.
    let diverging = Sgd { steps: 3000, rate: Rate::Constant { step: 40.0 }, ..squares };
    assert!(matches!(refused(&diverging, &numbers), Error::Overflow { .. }));
}

/// A Gram matrix that does not fit is refused before the work; what takes less is not.
#[test]
fn memory_is_checked_before_the_work() {
    let n = 1200;
    let x = Matrix::new(n, 3, normals(n, 3, 1)).unwrap();
    let y = Matrix::new(n, 1, normals(n, 1, 2)).unwrap();
    let source = source(Rows::from(&x), &y, &Target::Numbers { outputs: 1 });
    let engine = EngineSpec { threads: 1, memory_limit: Some(4 << 20), ..EngineSpec::default() }.build();
    let fit = |strategy| sgd("gaussian(sigma=1)", Loss::Squares, strategy).fit(&engine, &source);
    let Err(Error::Memory { needed, .. }) = fit(Strategy::KernelCached) else { panic!("1200² numbers") };
    assert!(needed > 8 * 1200 * 1200, "{needed}");
    for strategy in [Strategy::Kernel, Strategy::Map, Strategy::MapCached] {
        assert!(fit(strategy).is_ok(), "{strategy}");
    }
    let plan = sgd("gaussian(sigma=1)", Loss::Squares, Strategy::Map).plan(&source).unwrap();
    let table = plan.table(Speed::default(), Some(4 << 20));
    let refused = table.rows.iter().filter(|(_, figures)| figures.is_err()).map(|(strategy, _)| *strategy);
    assert_eq!(refused.collect::<Vec<_>>(), [Strategy::Exact, Strategy::ExactCached, Strategy::KernelCached]);
}

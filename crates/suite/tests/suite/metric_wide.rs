//! Metrics of rows with many columns: a few directions, as columns that are added.

use bochner::encode::{Form, Metric, Stretch};
use bochner::learn::{MetricPath, MetricStep};
use bochner::stat::{Gradients, Statistic};
use bochner::{
    Arrays, Auto, Csr, Engine, EngineSpec, Error, Kernel, KernelChoice, LabelKind, Labels, Loss, Map,
    MapSpec, Matrix, Method, MetricChoice, Model, OwnedRows, Rows, Source, Target, Uncertainty,
};
use bochner_testkit::{Absolute, Relative, assert_close, assert_same_bits, normals, uniforms};

use crate::table::{Listener, engine};

/// Linear functions and rows whose gradients span `rank` directions.
fn linear(d: usize, rank: usize) -> (Map, Matrix<f64>, Matrix<f64>) {
    let map = MapSpec::auto(Kernel::Linear).build(d).unwrap();
    let coefficients = Matrix::new(rank, d, normals(rank, d, 9)).unwrap();
    (map, coefficients, Matrix::zeros(3, d))
}

fn read(mut gradients: Gradients, d: usize, rank: usize) -> Gradients {
    let (map, coefficients, rows) = linear(d, rank);
    gradients
        .absorb(&Engine::default(), &map, &coefficients, &Rows::from(&rows), &|i| (i + 1) as f64)
        .unwrap();
    gradients
}

/// M of few directions is known by its products with a few vectors: values, vectors, and the diagonal.
#[test]
fn leading_directions_are_those_of_the_whole_matrix() {
    for (d, rank) in [(5, 3), (80, 3), (300, 40)] {
        let (whole, few) = (read(Gradients::full(d), d, rank), read(Gradients::leading(d, 1), d, rank));
        assert!(few.matrix().is_none());
        assert_close(&few.of_columns(), &whole.of_columns(), Relative(1e-12));
        let ((values, vectors), (known, directions)) = (
            whole.eigen(&Engine::default()).unwrap().unwrap(),
            few.eigen(&Engine::default()).unwrap().unwrap(),
        );
        assert_eq!(known.len(), rank, "{d} columns");
        assert_close(&known, &values[..rank], Relative(1e-7));
        for k in 0..rank {
            let along: f64 = vectors.row(k).iter().zip(directions.row(k)).map(|(a, b)| a * b).sum();
            assert_close(&[along], &[1.0], Absolute(1e-6));
        }
    }
}

/// What is merged is what was read at once; other seeds, or a diagonal, leave the diagonal.
#[test]
fn leading_directions_merge_and_weigh_and_are_the_same_on_any_number_of_threads() {
    let (n, d) = (1200, 70);
    let map = MapSpec { features: 64, seed: 2, ..MapSpec::auto(Kernel::gaussian(8.0)) }.build(d).unwrap();
    let coefficients = Matrix::new(2, 64, normals(2, 64, 1)).unwrap();
    let x = Matrix::new(n, d, normals(n, d, 2)).unwrap();
    let read = |threads: usize, range: std::ops::Range<usize>, seed: u64| {
        let mut gradients = Gradients::leading(d, seed);
        let rows = Rows::from(&x).slice(range.clone());
        let weight = |i: usize| ((range.start + i) % 3) as f64;
        gradients.absorb(&engine(threads), &map, &coefficients, &rows, &weight).unwrap();
        gradients
    };
    let whole = read(1, 0..n, 5);
    assert!([2, 7].iter().all(|&threads| read(threads, 0..n, 5) == whole));
    let mut parts = read(1, 0..500, 5);
    parts.merge(&read(1, 500..n, 5));
    let values = |gradients: &Gradients| gradients.eigen(&Engine::default()).unwrap().unwrap().0;
    assert_close(&values(&parts)[..8], &values(&whole)[..8], Relative(1e-9));
    assert_close(&[parts.weight()], &[whole.weight()], Relative(1e-12));
    let repeated: Vec<usize> = (0..n).flat_map(|i| vec![i; i % 3]).collect();
    let rows = Matrix::from_fn(repeated.len(), d, |i, j| x.row(repeated[i])[j]);
    let mut again = Gradients::leading(d, 5);
    again.absorb(&Engine::default(), &map, &coefficients, &Rows::from(&rows), &|_| 1.0).unwrap();
    assert_close(&values(&again)[..8], &values(&whole)[..8], Relative(1e-9));
    for other in [read(1, 500..n, 6), {
        let mut diagonal = Gradients::diagonal(d);
        let rows = Rows::from(&x).slice(500..n);
        diagonal.absorb(&Engine::default(), &map, &coefficients, &rows, &|i| ((500 + i) % 3) as f64).unwrap();
        diagonal
    }] {
        let mut sum = read(1, 0..500, 5);
        sum.merge(&other);
        assert!(sum.eigen(&Engine::default()).unwrap().is_none());
        assert_close(&sum.of_columns(), &whole.of_columns(), Relative(1e-11));
    }
}

/// ‖x′ − y′‖² = (x − y)ᵀL²(x − y), L being that of all of M, dense rows and sparse ones alike; the zeros of these stay.
#[test]
fn added_columns_have_the_distances_of_the_matrix() {
    let (d, rank, n) = (80, 3, 6);
    for power in [0.5, 0.25] {
        let stretch = |form| Stretch { form, power, shrinkage: 0.01 };
        let metric =
            Metric::new(&Engine::default(), &read(Gradients::leading(d, 1), d, rank), stretch(Form::Leading));
        let metric = metric.unwrap().unwrap();
        let whole = Metric::new(&Engine::default(), &read(Gradients::full(d), d, rank), stretch(Form::Full))
            .unwrap()
            .unwrap();
        assert_eq!((metric.form(), metric.columns(), metric.width()), (Form::Leading, d, d + rank));
        let root = metric.matrix();
        assert_close(root.as_slice(), whole.matrix().as_slice(), Absolute(1e-6));
        assert_close(&metric.diagonal(), &whole.diagonal(), Absolute(1e-6));
        assert_close(&[root.as_slice().iter().map(|l| l * l).sum::<f64>()], &[d as f64], Relative(1e-9));
        let x = Matrix::new(n, d, normals(n, d, 4)).unwrap();
        let x = Matrix::from_fn(n, d, |i, j| if (i + j) % 4 == 0 { x.row(i)[j] } else { 0.0 });
        let mut sparse = Csr::empty(d);
        for i in 0..n {
            let entries = x.row(i).iter().enumerate().filter(|(_, x)| x.abs() > 0.0);
            sparse.push_row(entries.map(|(j, x)| (j as u32, *x)));
        }
        let (OwnedRows::Dense(dense), OwnedRows::Sparse(stored)) = (
            metric.rows(&Engine::default(), &Rows::from(&x)),
            metric.rows(&Engine::default(), &Rows::from(&sparse)),
        ) else {
            panic!("rows of another kind")
        };
        let entries = |rows: &Csr<f64>| (0..n).map(|i| rows.view().row(i).0.len()).sum::<usize>();
        assert_eq!(entries(&stored), entries(&sparse) + n * rank);
        for i in 0..n {
            let mut row = vec![0.0; d + rank];
            Rows::from(&stored).densify(i, &mut row);
            assert_same_bits(&row, dense.row(i));
            for k in 0..i {
                let between: f64 = dense.row(i).iter().zip(dense.row(k)).map(|(a, b)| (a - b).powi(2)).sum();
                let apart: Vec<f64> = x.row(i).iter().zip(x.row(k)).map(|(a, b)| a - b).collect();
                let along = |j: usize| (0..d).map(|l| apart[l] * root.row(l)[j]).sum::<f64>();
                let expected: f64 = (0..d).map(|j| along(j).powi(2)).sum();
                assert_close(&[between], &[expected], Relative(1e-9));
            }
        }
        let single = Matrix::from_fn(n, d, |i, j| x.row(i)[j] as f32);
        let OwnedRows::Dense(single) = metric.rows(&Engine::default(), &Rows::from(&single)) else {
            panic!("dense rows")
        };
        let double: Vec<f64> = single.as_slice().iter().map(|x| f64::from(*x)).collect();
        assert_close(&double, dense.as_slice(), Absolute(1e-4));
    }
}

/// Rows of ones and zeros in 300 columns, as of texts: a hundred words are the more frequent the larger z is, a hundred others the rarer, and the rest says nothing. The target is sin 1.5z.
struct Texts {
    rows: Csr<f64>,
    targets: Matrix<f64>,
}

const WORDS: usize = 300;

fn texts(n: usize, seed: u64) -> Texts {
    let (z, chance) = (normals(n, 2, seed), uniforms(n, WORDS, seed + 1));
    let mut rows = Csr::empty(WORDS);
    for i in 0..n {
        let logistic = |t: f64| 1.0 / (1.0 + (-t).exp());
        let often = |j: usize| match j % 3 {
            0 => logistic(z[2 * i] - 2.0),
            1 => logistic(-z[2 * i] - 2.0),
            _ => 0.1,
        };
        let words = (0..WORDS).filter(|&j| chance[i * WORDS + j] < often(j));
        rows.push_row(words.map(|j| (j as u32, 1.0)));
    }
    let targets = Matrix::from_fn(n, 1, |i, _| (1.5 * z[2 * i]).sin() + 0.1 * z[2 * i + 1]);
    Texts { rows, targets }
}

fn fitted(texts: &Texts, metric: MetricChoice, threads: usize) -> Model {
    let target = Target::Numbers { outputs: 1 };
    let arrays = Arrays::new(Rows::from(&texts.rows), texts.targets.view(), None, target).unwrap();
    let kernel = "gaussian".parse().unwrap();
    let auto = Auto { kernel, metric, features: Some(256), standardise: false, ..Auto::default() };
    auto.fit(&engine(threads), &arrays).unwrap()
}

fn error(model: &Model, new: &Texts) -> f64 {
    let found = model.decide(&engine(2), Rows::from(&new.rows)).unwrap();
    let squares = found.as_slice().iter().zip(new.targets.as_slice()).map(|(f, y)| (f - y).powi(2));
    (squares.sum::<f64>() / found.rows() as f64).sqrt()
}

/// How often the words of one kind are there, less those of the other: all that the rows say of z.
fn counted(texts: &Texts) -> Matrix<f64> {
    let rows = Rows::from(&texts.rows);
    let sign = |j: u32| [1.0, -1.0, 0.0][j as usize % 3];
    Matrix::from_fn(rows.count(), 1, |i, _| rows.entries(i).map(|(j, x)| sign(j) * x).sum())
}

#[test]
fn a_direction_of_three_hundred_words_is_found() {
    let (old, new) = (texts(1500, 1), texts(1000, 2));
    let (plain, learnt) = (fitted(&old, MetricChoice::None, 2), fitted(&old, MetricChoice::Auto, 2));
    let metric = learnt.encoder().metric().unwrap();
    assert_eq!(metric.form(), Form::Leading);
    assert!(matches!(metric.rows(&Engine::default(), &Rows::from(&old.rows)), OwnedRows::Sparse(_)));
    let sign = |j: usize| [1.0, -1.0, 0.0][j % 3] / 200f64.sqrt();
    let along: f64 = metric.directions().row(0).iter().enumerate().map(|(j, v)| sign(j) * v).sum();
    let angle = along.abs().min(1.0).acos().to_degrees();
    assert!(angle < 30.0, "{angle}");
    let oracle = {
        let kernel = "gaussian".parse().unwrap();
        let auto = Auto { kernel, metric: MetricChoice::None, features: Some(256), ..Auto::default() };
        let (x, known) = (counted(&old), counted(&new));
        let y: Vec<f64> = old.targets.as_slice().to_vec();
        let model = auto.fit(&engine(2), &(&x, &y)).unwrap();
        let found = model.decide(&engine(2), Rows::from(&known)).unwrap();
        let squares = found.as_slice().iter().zip(new.targets.as_slice()).map(|(f, y)| (f - y).powi(2));
        (squares.sum::<f64>() / found.rows() as f64).sqrt()
    };
    let (before, after) = (error(&plain, &new), error(&learnt, &new));
    assert!(after < 0.6 * before && after < 1.2 * oracle, "{before} to {after}, {oracle} at best");
    // Whether words that do not matter are there, too, does not change much.
    let (mut importances, share) = ([0.0; 3], metric.importances());
    share.iter().enumerate().for_each(|(j, share)| importances[j % 3] += share);
    assert!(importances[2] < 0.2, "{importances:?}");
}

/// Found, saved, read and replayed, on any number of threads: the same bits; and columns count as they come.
#[test]
fn added_columns_are_saved_and_replayed() {
    let old = texts(400, 3);
    let model = fitted(&old, MetricChoice::Full, 1);
    let bytes = model.to_bytes().unwrap();
    assert_eq!(fitted(&old, MetricChoice::Full, 7).to_bytes().unwrap(), bytes);
    let metric = model.encoder().metric().unwrap();
    assert_eq!(model.map().input_dim(), metric.width());
    assert!(metric.width() > WORDS && model.encoder().width() == metric.width());
    let read = Model::from_bytes(&bytes).unwrap();
    assert_eq!(read.encoder(), model.encoder());
    let rows = Rows::from(&old.rows);
    let outputs = model.decide(&engine(1), rows).unwrap();
    assert_same_bits(read.decide(&engine(2), rows).unwrap().as_slice(), outputs.as_slice());
    let dense = Matrix::from_fn(400, WORDS, |i, j| {
        rows.entries(i).find(|(column, _)| *column as usize == j).map_or(0.0, |(_, x)| x)
    });
    let of_dense = model.decide(&engine(2), Rows::from(&dense)).unwrap();
    assert_close(of_dense.as_slice(), outputs.as_slice(), Absolute(1e-4));
    let encoded = model.encode(&engine(2), &rows).unwrap();
    assert_eq!((encoded.view().columns(), encoded.view().count()), (metric.width(), 400));
    let plan = model.training().unwrap().plan.clone().unwrap();
    let again = {
        let target = Target::Numbers { outputs: 1 };
        let arrays = Arrays::new(rows, old.targets.view(), None, target).unwrap();
        plan.fit.fit(&engine(2), &arrays).unwrap()
    };
    assert_eq!(again.encoder(), model.encoder());
    assert_same_bits(again.coefficients().as_slice(), model.coefficients().as_slice());
    let error = model.decide(&engine(1), Rows::from(&Matrix::<f64>::zeros(1, WORDS + 1))).unwrap_err();
    assert!(matches!(error, Error::ColumnCount { expected: WORDS, .. }), "{error}");
    let named = bochner::encode::Columns::Unnamed { count: WORDS };
    assert!(model.with_names(named, "y").is_ok());
}

/// Dense rows of more than 1,024 columns have their leading directions added, too; a metric that mixes all of them is refused.
#[test]
fn dense_rows_may_be_wide() {
    let (n, d) = (200, 1100);
    let (factors, loadings) = (normals(n, 4, 1), normals(4, d, 2));
    let x =
        Matrix::from_fn(n, d, |i, j| (0..4).map(|k| factors[4 * i + k] * loadings[k * d + j]).sum::<f64>());
    let y: Vec<f64> = (0..n).map(|i| (2.0 * factors[4 * i]).sin()).collect();
    let with = |metric| Auto { features: Some(64), metric, ..Auto::default() };
    let model = with(MetricChoice::Full).fit(&engine(2), &(&x, &y)).unwrap();
    assert_eq!(model.encoder().metric().unwrap().form(), Form::Leading);
    let refused = |form, landmarks| {
        let stretch = Stretch { form, power: 0.5, shrinkage: 0.01 };
        let steps = vec![MetricStep::Gradients { factor: 1.0, lambda: 1e-3, stretch }];
        let path = MetricPath { features: 64, landmarks, steps };
        let given = KernelChoice::Given(Kernel::gaussian(30.0));
        let auto = Auto { kernel: given, ..with(MetricChoice::Learned(path)) };
        auto.fit(&engine(1), &(&x, &y)).err().map(|error| error.to_string())
    };
    assert!(refused(Form::Full, true).is_some_and(|told| told.contains("1,024")));
    assert!(refused(Form::Leading, false).is_some_and(|told| told.contains("landmarks")));
    assert_eq!(refused(Form::Leading, true), None);
    assert_eq!(refused(Form::Diagonal, false), None);
}

/// A last piece of one row is summed as on one thread: 953 rows of 1,100 columns are one piece.
#[test]
fn a_row_by_itself_has_the_same_bits_on_any_number_of_threads() {
    let (n, d) = (954, 1100);
    let landmarks = Matrix::new(80, d, normals(80, d, 5)).unwrap();
    let spec = MapSpec::landmarks(Kernel::gaussian(30.0));
    let map = spec.fit_at(&engine(1), &Rows::from(&landmarks)).unwrap();
    let coefficients = Matrix::new(1, map.output_dim(), normals(1, map.output_dim(), 1)).unwrap();
    let x = Matrix::new(n, d, normals(n, d, 2)).unwrap();
    let read = |threads: usize| {
        let mut gradients = Gradients::leading(d, 3);
        gradients.absorb(&engine(threads), &map, &coefficients, &Rows::from(&x), &|_| 1.0).unwrap();
        gradients
    };
    let one = read(1);
    assert!(read(2) == one && read(7) == one);
}

/// Of rows far from zero, slopes at landmarks keep their digits, and a constant column has none.
#[test]
fn gradients_at_landmarks_do_not_depend_on_where_zero_is() {
    let (d, far) = (4, 1e6);
    let moved = |rows: usize, seed: u64, by: f64| {
        let x = normals(rows, d, seed);
        Matrix::from_fn(rows, d, |i, j| by + if j == 2 { 1.0 } else { x[i * d + j] })
    };
    let read = |by: f64| {
        let spec = MapSpec::landmarks(Kernel::gaussian(1.5));
        let map = spec.fit_at(&engine(1), &Rows::from(&moved(9, 5, by))).unwrap();
        let coefficients = Matrix::new(1, 9, normals(1, 9, 1)).unwrap();
        let mut gradients = Gradients::full(d);
        gradients
            .absorb(&Engine::default(), &map, &coefficients, &Rows::from(&moved(30, 6, by)), &|_| 1.0)
            .unwrap();
        gradients.of_columns()
    };
    let (near, away) = (read(0.0), read(far));
    assert_close(&away, &near, Relative(1e-5));
    assert_close(&[near[2], away[2]], &[0.0, 0.0], Absolute(0.0));
}

/// What is known by a few products has no matrix of all columns.
#[test]
fn a_full_metric_needs_all_of_the_matrix() {
    let stretch = |form| Stretch { form, power: 0.5, shrinkage: 0.01 };
    let (few, whole) = (read(Gradients::leading(80, 1), 80, 3), read(Gradients::full(80), 80, 3));
    assert_eq!(
        Metric::new(&Engine::default(), &few, stretch(Form::Full)).unwrap().unwrap().form(),
        Form::Diagonal
    );
    let metric = Metric::new(&Engine::default(), &whole, stretch(Form::Leading)).unwrap().unwrap();
    assert_eq!((metric.form(), metric.width()), (Form::Leading, 83));
    let nothing = Gradients::leading(80, 1);
    assert!(Metric::new(&Engine::default(), &nothing, stretch(Form::Leading)).unwrap().is_none());
    assert!(nothing.eigen(&Engine::default()).unwrap().is_some_and(|(values, _)| values.is_empty()));
}

/// Rows with added columns through every way of fitting: classes by a loss in steps, landmarks, the linear kernel's own features, deviations, rows held out.
#[test]
fn every_way_of_fitting_takes_added_columns() {
    let old = texts(240, 7);
    let rows = Rows::from(&old.rows);
    let stretch = Stretch { form: Form::Leading, power: 0.5, shrinkage: 0.01 };
    let steps = vec![MetricStep::Gradients { factor: 1.0, lambda: 1e-3, stretch }];
    let metric = MetricChoice::Learned(MetricPath { features: 64, landmarks: true, steps });
    let with = |kernel: Kernel| Auto {
        kernel: KernelChoice::Given(kernel),
        metric: metric.clone(),
        features: Some(64),
        standardise: false,
        ..Auto::default()
    };
    let gaussian = || with(Kernel::gaussian(6.0));
    let numbers = Arrays::new(rows, old.targets.view(), None, Target::Numbers { outputs: 1 }).unwrap();
    let signs = Matrix::from_fn(240, 1, |i, _| f64::from(u8::from(old.targets.row(i)[0] > 0.0)));
    let labels = Labels::new(LabelKind::Integer, vec!["0".into(), "1".into()]);
    let classes = Arrays::new(rows, signs.view(), None, Target::Classes { labels }).unwrap();
    let known = Uncertainty { held_out: Some(0.2), deviation: true, ..Uncertainty::default() };
    let fits: [(Auto, &Arrays<'_>); 5] = [
        (Auto { method: Some(Method::LANDMARKS), ..gaussian() }, &numbers),
        (Auto { uncertainty: known, ..gaussian() }, &numbers),
        (with(Kernel::Linear), &numbers),
        (Auto { loss: Loss::Logistic, ..gaussian() }, &classes),
        (Auto { loss: Loss::Logistic, ..with(Kernel::Linear) }, &classes),
    ];
    for (auto, source) in fits {
        let model = auto.fit(&engine(2), source).unwrap();
        let width = model.encoder().metric().unwrap().width();
        assert!(width > WORDS && model.map().input_dim() == width);
        let read = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        let (outputs, again) =
            (model.decide(&engine(1), rows).unwrap(), read.decide(&engine(2), rows).unwrap());
        assert_same_bits(outputs.as_slice(), again.as_slice());
        // Dense rows have the same outputs, up to rounding.
        let mut first = vec![0.0; WORDS];
        rows.densify(0, &mut first);
        let first = Matrix::new(1, WORDS, first).unwrap();
        let found = model.decide(&engine(1), Rows::from(&first)).unwrap();
        assert_close(found.as_slice(), outputs.row(0), Absolute(1e-3));
        let better = outputs.as_slice().iter().zip(source_targets(source)).map(|(f, y)| f * y).sum::<f64>();
        assert!(better > 0.0, "{better}");
    }
}

/// Signs of the targets.
fn source_targets<'a>(arrays: &'a Arrays<'_>) -> impl Iterator<Item = f64> + 'a {
    let mut batches = arrays.open().unwrap();
    let batch = batches.next(1 << 12).unwrap().unwrap();
    let classes = matches!(arrays.target(), Target::Classes { .. });
    let sign = move |y: f64| if classes { 2.0 * y - 1.0 } else { y.signum() };
    (0..batch.targets.rows()).map(|i| sign(batch.targets.row(i)[0])).collect::<Vec<_>>().into_iter()
}

/// Where a search has no room, there is no metric, and that is said.
#[test]
fn no_room_means_no_metric() {
    let old = texts(300, 8);
    let target = Target::Numbers { outputs: 1 };
    let arrays = Arrays::new(Rows::from(&old.rows), old.targets.view(), None, target).unwrap();
    let listener = std::sync::Arc::new(Listener::default());
    let (observer, memory_limit) = (Some(listener.clone() as _), Some(2 << 20));
    let small = EngineSpec { memory_limit, observer, ..EngineSpec::default() }.build();
    let with = |metric| Auto { metric, features: Some(16), standardise: false, ..Auto::default() };
    let model = with(MetricChoice::Auto).fit(&small, &arrays).unwrap();
    assert!(model.encoder().metric().is_none());
    assert!(listener.0.lock().unwrap().iter().any(|text| text.contains("no room")));
    let error = with(MetricChoice::Full).fit(&small, &arrays).unwrap_err();
    assert!(matches!(&error, Error::Memory { what, .. } if what.contains("metric")), "{error}");
}

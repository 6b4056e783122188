//! The search for a metric: rows of every kind, weights, limits, and what its certificate is of.

use bochner::encode::{Form, Stretch};
use bochner::learn::{MetricPath, MetricStep};
use bochner::plan::{Machine, Rates};
use bochner::source::Shape;
use bochner::{
    Arrays, Auto, Csr, Engine, EngineSpec, Error, Kernel, KernelChoice, Loss, Matrix, Method, MetricChoice,
    Model, OwnedRows, Rows, Target,
};
use bochner_testkit::{assert_same_bits, normals};

use crate::table::{Listener, engine};

/// sin 3x₂ of normal rows, with little noise.
fn waves(n: usize, d: usize) -> (Matrix<f64>, Vec<f64>) {
    let (x, chance) = (Matrix::new(n, d, normals(n, d, 1)).unwrap(), normals(n, 1, 2));
    let y = (0..n).map(|i| (3.0 * x.row(i)[2]).sin() + 0.1 * chance[i]).collect();
    (x, y)
}

/// A Gaussian of any width.
fn auto(metric: MetricChoice) -> Auto {
    let kernel = "gaussian".parse().unwrap();
    Auto { kernel, metric, features: Some(128), ..Auto::default() }
}

/// The columns that matter most, in order of their names.
fn most(model: &Model, count: usize) -> Vec<String> {
    let importances = model.encoder().importances().unwrap();
    let mut names: Vec<String> = importances[..count].iter().map(|(name, _)| name.clone()).collect();
    names.sort_unstable();
    names
}

#[test]
fn several_outputs_share_a_metric() {
    let (x, _) = waves(900, 12);
    let y = Matrix::from_fn(900, 2, |i, o| (3.0 * x.row(i)[4 * o + 1]).sin());
    let arrays = Arrays::new(Rows::from(&x), y.view(), None, Target::Numbers { outputs: 2 }).unwrap();
    let model = auto(MetricChoice::Auto).fit(&engine(2), &arrays).unwrap();
    assert_eq!(most(&model, 2), ["x1", "x5"]);
}

/// Sparse rows and the same rows with their zeros: the same columns; a diagonal metric leaves zeros zero.
#[test]
fn sparse_rows_are_stretched() {
    let (n, d) = (900, 12);
    let (x, _) = waves(n, d);
    let x = Matrix::from_fn(n, d, |i, j| if (i + j) % 3 == 0 { x.row(i)[j] } else { 0.0 });
    let mut sparse = Csr::empty(d);
    for i in 0..n {
        let entries = x.row(i).iter().enumerate().filter(|(_, x)| x.abs() > 0.0);
        sparse.push_row(entries.map(|(j, x)| (j as u32, *x)));
    }
    let y = Matrix::from_fn(n, 1, |i, _| (2.0 * x.row(i)[2]).sin() + (2.0 * x.row(i)[7]).cos());
    for metric in [MetricChoice::Diagonal, MetricChoice::Full] {
        let fit = |rows: Rows<'_, f64>| {
            let arrays = Arrays::new(rows, y.view(), None, Target::Numbers { outputs: 1 }).unwrap();
            // Sparse rows are not centred; the others are not to be either.
            Auto { standardise: false, ..auto(metric.clone()) }.fit(&engine(2), &arrays).unwrap()
        };
        let (stored, dense) = (fit(Rows::from(&sparse)), fit(Rows::from(&x)));
        assert_eq!(most(&stored, 2), ["x2", "x7"], "{metric:?}");
        assert_eq!(most(&dense, 2), ["x2", "x7"], "{metric:?}");
        let stretched = stored.encoder().metric().unwrap().rows(&Engine::default(), &Rows::from(&sparse));
        let is_sparse = matches!(stretched, OwnedRows::Sparse(_));
        assert_eq!(is_sparse, metric == MetricChoice::Diagonal);
    }
}

/// A row with a weight is that row as often: the same steps are found. Weights are in groups of three rows, so that none goes with a part of the rows.
#[test]
fn a_weight_is_a_repetition() {
    let (n, d) = (700, 6);
    let (x, y) = waves(n, d);
    let weight = |i: usize| (i / 3 % 3 + 1) as f64;
    let weights: Vec<f64> = (0..n).map(weight).collect();
    let repeated: Vec<usize> = (0..n).flat_map(|i| vec![i; weight(i) as usize]).collect();
    let often = Matrix::from_fn(repeated.len(), d, |i, j| x.row(repeated[i])[j]);
    let fit = |x: &Matrix<f64>, y: Vec<f64>, weights: Option<&[f64]>| {
        let y = Matrix::new(y.len(), 1, y).unwrap();
        let arrays = Arrays::new(Rows::from(x), y.view(), weights, Target::Numbers { outputs: 1 }).unwrap();
        // Scaling sums in another order.
        let auto = Auto { standardise: false, ..auto(MetricChoice::Full) };
        auto.fit(&engine(2), &arrays).unwrap()
    };
    let weighted = fit(&x, y.clone(), Some(&weights));
    let repeated = fit(&often, repeated.iter().map(|&i| y[i]).collect(), None);
    let plain = fit(&x, y, None);
    let path = |model: &Model| model.training().unwrap().plan.clone().unwrap().fit.metric;
    assert_eq!(path(&weighted), path(&repeated));
    let root = |model: &Model| model.encoder().metric().unwrap().matrix();
    assert_same_bits(root(&weighted).as_slice(), root(&repeated).as_slice());
    assert!(root(&weighted) != root(&plain));
}

/// Where there is no time or no memory, a default fit goes without, and one that was told to says why not.
#[test]
fn no_time_and_no_memory_mean_no_metric() {
    let (x, y) = waves(900, 6);
    let source = (&x, &y);
    assert!(auto(MetricChoice::Auto).fit(&engine(2), &source).unwrap().encoder().metric().is_some());
    let hasty = Auto { budget: Some(1e-3), ..auto(MetricChoice::Auto) };
    assert!(hasty.fit(&engine(2), &source).unwrap().encoder().metric().is_none());
    let hasty = Auto { metric: MetricChoice::Diagonal, ..hasty };
    assert!(hasty.fit(&engine(2), &source).unwrap().encoder().metric().is_some(), "asked for");
    let small = EngineSpec { memory_limit: Some(900 << 10), ..EngineSpec::default() }.build();
    let few = |metric| Auto { features: Some(32), ..auto(metric) };
    let without = few(MetricChoice::Auto).fit(&small, &source).unwrap();
    assert!(without.encoder().metric().is_none());
    let error = few(MetricChoice::Full).fit(&small, &source).unwrap_err();
    assert!(matches!(&error, Error::Memory { what, .. } if what.contains("metric")), "{error}");
}

/// Steps that were found while D and the family were free give the same metric again.
#[test]
fn a_plan_with_a_chosen_size_is_replayed() {
    let (x, y) = waves(600, 5);
    let open = Auto { kernel: KernelChoice::Any, features: None, ..auto(MetricChoice::Auto) };
    let model = open.fit(&engine(2), &(&x, &y)).unwrap();
    let plan = model.training().unwrap().plan.clone().unwrap();
    let again = plan.fit.fit(&engine(1), &(&x, &y)).unwrap();
    assert!(model.encoder().metric().is_some());
    assert_eq!(again.encoder(), model.encoder());
    assert_same_bits(again.coefficients().as_slice(), model.coefficients().as_slice());
}

/// Of landmarks, which lie among the stretched rows: the certificate's error is that of the kernel of stretched rows, by values computed here, and the kernel of rows as they came is another.
#[test]
fn the_certificate_is_of_the_kernel_with_the_metric() {
    let (n, kernel) = (400, Kernel::gaussian(0.3));
    let (x, y) = waves(n, 6);
    let learner = Auto {
        kernel: KernelChoice::Given(kernel.clone()),
        method: Some(Method::LANDMARKS),
        standardise: false,
        features: Some(32),
        ..auto(MetricChoice::Full)
    };
    let model = learner.fit(&engine(2), &(&x, &y)).unwrap();
    let stretched = model.encoder().metric().unwrap().rows(&Engine::default(), &Rows::from(&x));
    let z = model.map().transform(&engine(2), &stretched.view()).unwrap();
    let away = |rows: &Rows<'_, f64>| {
        let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
        let error = |(i, j): (usize, usize)| {
            let product: f64 = z.row(i).iter().zip(z.row(j)).map(|(a, b)| a * b).sum();
            (product - kernel.eval(rows, i, rows, j)).abs()
        };
        pairs.map(error).sum::<f64>() / (n * (n - 1) / 2) as f64
    };
    let measured = model.certificate().measured.unwrap().mean;
    let (with, without) = (away(&stretched.view()), away(&Rows::from(&x)));
    assert!((0.5..2.0).contains(&(measured / with)), "{measured} told, {with} found");
    assert!(without > 4.0 * with, "{without} of other rows, {with} of these");
}

/// Encoded rows are those that the kernel compares, block by block; sparse ones take the memory of their entries where zeros stay zero.
#[test]
fn encoded_rows_take_what_they_hold() {
    let (n, d) = (5000, 6);
    let (x, y) = waves(n, d);
    let stretch = |form| Stretch { form, power: 0.5, shrinkage: 0.01 };
    let learnt = |form| {
        let steps = vec![MetricStep::Gradients { factor: 1.0, lambda: 1e-3, stretch: stretch(form) }];
        let metric = MetricChoice::Learned(MetricPath { features: 32, landmarks: false, steps });
        Auto { kernel: KernelChoice::Given(Kernel::gaussian(2.0)), ..auto(metric) }
    };
    let model = learnt(Form::Full).fit(&engine(2), &(&x, &y)).unwrap();
    let OwnedRows::Dense(all) = model.encode(&engine(2), &Rows::from(&x)).unwrap() else {
        panic!("dense rows")
    };
    let OwnedRows::Dense(last) = model.encode(&engine(1), &Rows::from(&x).slice(n - 1..n)).unwrap() else {
        panic!("dense rows")
    };
    assert_same_bits(all.row(n - 1), last.row(0));
    let wide = 20_000;
    let mut sparse = Csr::empty(wide);
    (0..300).for_each(|i| sparse.push_row([(0, x.row(i)[0]), (7 + i as u32, x.row(i)[2])]));
    let y: Vec<f64> = (0..300).map(|i| (2.0 * x.row(i)[0]).sin()).collect();
    let y = Matrix::new(300, 1, y).unwrap();
    let arrays = Arrays::new(Rows::from(&sparse), y.view(), None, Target::Numbers { outputs: 1 }).unwrap();
    let model = learnt(Form::Diagonal).fit(&engine(2), &arrays).unwrap();
    let small = EngineSpec { memory_limit: Some(1 << 20), ..EngineSpec::default() }.build();
    let encoded = model.encode(&small, &Rows::from(&sparse)).unwrap();
    assert!(matches!(&encoded, OwnedRows::Sparse(rows) if rows.view().rows() == 300), "sparse rows");
    let error = model.encode(
        &EngineSpec { memory_limit: Some(1000), ..EngineSpec::default() }.build(),
        &Rows::from(&sparse),
    );
    assert!(matches!(error, Err(Error::Memory { .. })));
}

/// Coefficients of rows that were compared in another way are none to start from.
#[test]
fn a_start_in_another_metric_is_told_and_not_used() {
    let (x, y) = waves(400, 4);
    let kernel = KernelChoice::Given(Kernel::gaussian(2.0));
    let loss = Loss::Huber { epsilon: 1.35 };
    let with = |metric| Auto { kernel: kernel.clone(), loss, ..auto(metric) };
    let start = with(MetricChoice::None).fit(&engine(2), &(&x, &y)).unwrap();
    let warned = |metric: MetricChoice| {
        let listener = std::sync::Arc::new(Listener::default());
        let engine = EngineSpec { observer: Some(listener.clone()), ..EngineSpec::default() }.build();
        with(metric).fit_from(&engine, &(&x, &y), Some(&start)).unwrap();
        let texts = listener.0.lock().unwrap();
        texts.iter().any(|text| text.contains("another metric"))
    };
    assert!(warned(MetricChoice::Full) && !warned(MetricChoice::None));
}

/// What a fit would refuse, a forecast refuses too; and memory is asked for before any row is read.
#[test]
fn plans_know_which_metrics_there_are() {
    let wide = Shape { inputs: 2000, ..shape(5000) };
    let rates =
        Rates { products: 4e10, sparse: 4e9, features: 1e9, sums: 3e10, entries: 1e8, streamed: 1e10 };
    let machine = Machine { threads: 2, single: rates, double: rates, band: 2e10, factor: 2e10 };
    let forecast = |auto: &Auto, shape: &Shape, limit: u64| {
        let engine = EngineSpec { memory_limit: Some(limit), ..EngineSpec::default() }.build();
        auto.forecast(&engine, shape, &machine, 0.0)
    };
    let stretch = Stretch { form: Form::Full, power: 0.5, shrinkage: 0.01 };
    let steps = vec![MetricStep::Gradients { factor: 1.0, lambda: 1e-3, stretch }];
    let mixed = MetricChoice::Learned(MetricPath { features: 32, landmarks: true, steps });
    assert!(matches!(forecast(&auto(mixed), &wide, 1 << 34), Err(Error::Unsupported { .. })));
    // Leading directions take time, and no d².
    let of_wide = |metric| forecast(&auto(metric), &wide, 1 << 34).unwrap();
    let (with, without) = (of_wide(MetricChoice::Full), of_wide(MetricChoice::None));
    assert!(with.search > without.search && with.search_bytes > without.search_bytes);
    assert!(with.search_bytes < 1 << 30, "{}", with.search_bytes);
    let (small, large) = (Shape { inputs: 600, ..shape(20_000) }, 1 << 34);
    let little = 100 << 20;
    assert!(matches!(forecast(&auto(MetricChoice::Full), &small, little), Err(Error::Memory { .. })));
    // A shape has no rows to read.
    let engine = EngineSpec { memory_limit: Some(little), ..EngineSpec::default() }.build();
    let refused = auto(MetricChoice::Full).fit(&engine, &small).unwrap_err().to_string();
    assert!(refused.contains("learning a metric"), "{refused}");
    // Done without, where it is only looked for.
    let seconds = |metric, limit| forecast(&auto(metric), &small, limit).unwrap().search;
    assert!(seconds(MetricChoice::Auto, large) > 2.0 * seconds(MetricChoice::None, large));
    assert!(seconds(MetricChoice::Auto, little) <= seconds(MetricChoice::None, little));
    // More columns take longer.
    let narrow = Shape { inputs: 10, ..small.clone() };
    let of = |shape: &Shape| forecast(&auto(MetricChoice::Auto), shape, large).unwrap().search;
    assert!(of(&small) > 1.2 * of(&narrow), "{} s against {} s", of(&small), of(&narrow));
}

fn shape(rows: u64) -> Shape {
    Shape { rows, inputs: 8, entries: None, scalar_bytes: 4, target: Target::Numbers { outputs: 1 } }
}

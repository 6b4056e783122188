//! Bad input is an error that holds the numbers; nothing panics.

use bochner::solve::Hinge;
use bochner::{
    Arrays, Auto, EngineSpec, Error, FourierForm, FrequencyDraw, Kernel, KernelChoice, LabelKind, Labels,
    Lambda, Loss, MapSpec, Matrix, Method, MetricChoice, Observer, Ridge, Rows, Solver, Target,
};
use proptest::prelude::*;

use crate::table::{INPUTS, Listener, engine, rows};

fn numbers() -> Target {
    Target::Numbers { outputs: 1 }
}

fn fit(x: &Matrix<f64>, y: &[f64], weights: Option<&[f64]>) -> Result<bochner::Model, Error> {
    let y = bochner::MatrixView::new(y, y.len(), 1)?;
    let map = MapSpec { features: 16, ..MapSpec::auto(Kernel::gaussian(1.0)) };
    Ridge::new(map).fit(&engine(2), &Arrays::new(Rows::from(x), y, weights, numbers())?)
}

#[test]
fn values_that_are_not_finite_are_named() {
    let (mut x, _) = rows(10);
    let y = vec![1.0; 10];
    x.row_mut(7)[3] = f64::NAN;
    let error = fit(&x, &y, None).unwrap_err().to_string();
    assert_eq!(error, "expected a finite number, found NaN at row 7, column 3 of the rows");
    let (x, _) = rows(10);
    let mut y = y;
    y[4] = f64::INFINITY;
    let error = fit(&x, &y, None).unwrap_err().to_string();
    assert_eq!(error, "expected a finite number, found inf at row 4, column 0 of the targets");
    let error =
        fit(&x, &[1.0; 10], Some(&[1., 1., -2., 1., 1., 1., 1., 1., 1., 1.])).unwrap_err().to_string();
    assert_eq!(error, "expected weights that are not negative, found -2 at row 2");
    let model = fit(&x, &(0..10).map(f64::from).collect::<Vec<_>>(), None).unwrap();
    let (mut new, _) = rows(3);
    new.row_mut(1)[0] = f64::INFINITY;
    assert!(matches!(
        model.decide(&engine(1), Rows::from(&new)),
        Err(Error::NotFinite { row: 1, column: 0, .. })
    ));
}

#[test]
fn shapes_that_do_not_fit_are_named() {
    let (x, _) = rows(10);
    assert!(matches!(fit(&x, &[1.0; 9], None), Err(Error::Length { expected: 10, found: 9, .. })));
    assert!(matches!(fit(&Matrix::zeros(0, INPUTS), &[], None), Err(Error::NoRows)));
    assert!(matches!(fit(&x, &[1.0; 10], Some(&[0.0; 10])), Err(Error::NoRows)));
    assert!(matches!(fit(&Matrix::zeros(5, 0), &[1.0; 5], None), Err(Error::NoColumns)));
    let model = fit(&x, &(0..10).map(f64::from).collect::<Vec<_>>(), None).unwrap();
    let error = model.decide(&engine(1), Rows::from(&Matrix::<f64>::zeros(2, 9))).unwrap_err().to_string();
    assert_eq!(error, format!("expected {INPUTS} columns, found 9"));
}

#[test]
fn parameters_outside_their_domain_are_named() {
    let build = |spec: MapSpec| spec.build(3).unwrap_err().to_string();
    let gaussian = MapSpec::fourier(Kernel::gaussian(1.0));
    assert_eq!(
        build(MapSpec { features: 0, ..gaussian.clone() }),
        "expected features to be at least 1, found 0"
    );
    assert_eq!(
        build(MapSpec { features: 7, ..gaussian.clone() }),
        "expected features to be even for (cos, sin) pairs, found 7"
    );
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let text = build(MapSpec::fourier(Kernel::gaussian(bad)));
        assert_eq!(text, format!("expected sigma to be between 1e-18 and 1e18, found {bad}"));
        let text = build(MapSpec::fourier(Kernel::laplace(bad)));
        assert_eq!(text, format!("expected scale to be between 1e-18 and 1e18, found {bad}"));
    }
    assert!(build(MapSpec::fourier(Kernel::Linear)).contains("no spectral law"));
    let exact = MapSpec { method: Method::Exact, ..gaussian.clone() };
    assert!(build(exact).contains("infinitely many dimensions"));
    let (x, _) = rows(10);
    let y = vec![0.0; 10];
    for (lambda, text) in [
        (Lambda::Given { value: 0.0 }, "expected lambda to be positive and finite, found 0"),
        (Lambda::Given { value: f64::NAN }, "expected lambda to be positive and finite, found NaN"),
        (Lambda::CrossValidated { folds: 1 }, "expected folds to be between 2 and 64, found 1"),
    ] {
        let error = Ridge { lambda, ..Ridge::new(gaussian.clone()) }.fit(&engine(1), &(&x, &y)).unwrap_err();
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn what_does_not_fit_in_memory_is_refused_with_the_numbers() {
    let (x, _) = rows(10);
    let y = vec![0.0; 10];
    let huge = MapSpec { features: 1 << 40, ..MapSpec::auto(Kernel::gaussian(1.0)) };
    let error = Ridge::new(huge.clone()).fit(&engine(1), &(&x, &y)).unwrap_err();
    assert!(matches!(error, Error::Memory { needed, .. } if needed > 1 << 40), "{error}");
    assert!(matches!(huge.build(7), Err(Error::Memory { .. })));
    let small = EngineSpec { memory_limit: Some(10 << 20), ..EngineSpec::default() }.build();
    let sums = Ridge { solver: Solver::Gram, ..Ridge::new(MapSpec::auto(Kernel::gaussian(1.0))) };
    let error = sums.fit(&small, &(&x, &y)).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("2048 features") && text.contains("10.0 MiB") && text.contains("raise the limit"),
        "{text}"
    );
    let most = MapSpec { features: usize::MAX - 1, ..MapSpec::auto(Kernel::gaussian(1.0)) };
    assert!(matches!(most.build(usize::MAX), Err(Error::Memory { .. })));
    for (form, features, columns) in [
        (FourierForm::Pairs, usize::MAX - 1, usize::MAX),
        (FourierForm::Offset, 1 << 63, 32),
        (FourierForm::Offset, 64, 1 << 60),
    ] {
        let turned = Method::Fourier { form, draw: FrequencyDraw::Turned };
        let most = MapSpec { method: turned, features, ..MapSpec::auto(Kernel::gaussian(1.0)) };
        assert!(matches!(most.build(columns), Err(Error::Memory { .. })), "{form:?} {features} {columns}");
    }
    // Only the columns that the kernel looks at count.
    let turned = Method::Fourier { form: FourierForm::Pairs, draw: FrequencyDraw::Turned };
    let some = MapSpec {
        method: turned,
        features: 256,
        ..MapSpec::auto("gaussian(sigma=2)[0..64]".parse().unwrap())
    };
    assert!(some.build(20_000).is_ok());
}

/// The exact map has as many features as columns, whatever D says: that is what must fit.
#[test]
fn a_wide_linear_fit_is_refused_before_it_starts() {
    let x = Matrix::<f64>::zeros(3, 200_000);
    let small = EngineSpec { memory_limit: Some(1 << 30), ..EngineSpec::default() }.build();
    let sums = Auto { solver: Solver::Gram, ..Auto::default() };
    let linear = Auto { kernel: KernelChoice::Given(Kernel::Linear), ..sums.clone() };
    let error = linear.fit(&small, &(&x, &vec![1.0, 2.0, 3.0])).unwrap_err();
    assert!(matches!(error, Error::Memory { needed, .. } if needed > 100 << 30), "{error}");
    let given = Auto { features: Some(100_000), ..sums };
    let (x, _) = rows(10);
    assert!(matches!(given.fit(&small, &(&x, &vec![0.0; 10])), Err(Error::Memory { .. })));
}

#[test]
fn classes_that_do_not_exist_are_refused() {
    let (x, _) = rows(4);
    let labels = Labels::new(LabelKind::Text, vec!["a".into(), "b".into(), "c".into()]);
    for bad in [3.0, -1.0, 1.5] {
        let y = Matrix::new(4, 1, vec![0.0, 1.0, bad, 2.0]).unwrap();
        let target = Target::Classes { labels: labels.clone() };
        let arrays = Arrays::new(Rows::from(&x), y.view(), None, target).unwrap();
        let error = Auto::default().fit(&engine(1), &arrays).unwrap_err().to_string();
        assert_eq!(error, format!("expected classes numbered from 0 to 2, found {bad} at row 2"));
    }
}

/// Rows that do not vary: a constant model in either precision.
#[test]
fn constant_rows_give_a_constant_model() {
    let y: Vec<f64> = (0..40).map(|i| f64::from(i % 4)).collect();
    for value in [0.0, 0.7, 3.3] {
        let single = Matrix::<f32>::from_fn(40, 3, |_, _| value as f32);
        let map = MapSpec { features: 64, ..MapSpec::auto(Kernel::gaussian(1.0)) };
        let model = Ridge::new(map).fit(&engine(1), &(&single, &y)).unwrap();
        let found = model.decide(&engine(1), Rows::from(&single)).unwrap();
        assert!((found.row(0)[0] - 1.5).abs() < 1e-4, "{}", found.row(0)[0]);
    }
}

/// A few orthogonal frequencies of many columns need the memory of a few columns.
#[test]
fn wide_rows_take_few_orthogonal_frequencies() {
    let spec = MapSpec { features: 4, ..MapSpec::auto(Kernel::gaussian(1.0)) };
    let map = spec.build(2_000_000).unwrap();
    assert_eq!(map.output_dim(), 4);
}

#[test]
fn names_must_be_as_many_as_columns() {
    let (x, _) = rows(10);
    let model = fit(&x, &(0..10).map(f64::from).collect::<Vec<_>>(), None).unwrap();
    let names = bochner::encode::Columns::numbers(["a"]);
    assert!(matches!(model.with_names(names, "y"), Err(Error::ColumnCount { expected: INPUTS, found: 1 })));
}

#[test]
fn one_class_is_refused_and_a_constant_target_predicted() {
    let (x, _) = rows(30);
    let zeros = Matrix::zeros(30, 1);
    let labels = Labels::new(LabelKind::Text, vec!["only".into()]);
    let one = Arrays::new(Rows::from(&x), zeros.view(), None, Target::Classes { labels }).unwrap();
    let error = Auto::default().fit(&engine(1), &one).unwrap_err().to_string();
    assert_eq!(error, "expected at least two classes, found one: only");

    let listener = std::sync::Arc::new(Listener::default());
    let engine = EngineSpec { observer: Some(listener.clone()), ..EngineSpec::default() }.build();
    let model = Auto::default().fit(&engine, &(&x, &vec![3.25; 30])).unwrap();
    let predictions = model.decide(&engine, Rows::from(&x)).unwrap();
    assert!(predictions.as_slice().iter().all(|y| (y - 3.25).abs() < 1e-9), "{:?}", predictions.as_slice());
    let warnings = listener.0.lock().unwrap();
    assert!(warnings.iter().any(|text| text.contains("constant")), "{warnings:?}");
}

/// In single precision a kernel much wider than the rows leaves little but rounding to fit to.
#[test]
fn a_kernel_too_wide_for_the_precision_is_told() {
    let (x, _) = rows(300);
    let single = Matrix::from_fn(300, x.columns(), |i, j| x.row(i)[j] as f32);
    let y: Vec<f64> = (0..300).map(|i| x.row(i)[0].sin() + x.row(i)[1] * x.row(i)[0]).collect();
    let listener = std::sync::Arc::new(Listener::default());
    let engine = EngineSpec { observer: Some(listener.clone()), ..EngineSpec::default() }.build();
    let ridge = |sigma| Ridge::new(MapSpec { features: 256, ..MapSpec::fourier(Kernel::gaussian(sigma)) });
    ridge(1.0).fit(&engine, &(&single, &y)).unwrap();
    assert!(listener.0.lock().unwrap().is_empty());
    ridge(30.0).fit(&engine, &(&single, &y)).unwrap();
    let warnings = listener.0.lock().unwrap();
    assert!(warnings.iter().any(|text| text.contains("double")), "{warnings:?}");
}

/// Whatever the phase, the first word in it ends the run.
#[test]
fn an_observer_stops_a_fit_in_every_phase() {
    struct Stop(&'static str);
    impl Observer for Stop {
        fn event(&self, event: &bochner::Event<'_>) -> std::ops::ControlFlow<()> {
            match event {
                bochner::Event::Progress { phase, .. } if *phase == self.0 => {
                    std::ops::ControlFlow::Break(())
                }
                _ => std::ops::ControlFlow::Continue(()),
            }
        }
    }
    let (x, _) = rows(100);
    let y: Vec<f64> = (0..100).map(|i| x.row(i)[0]).collect();
    for method in [None, Some(Method::LANDMARKS)] {
        for phase in
            ["columns", "bandwidth", "metric", "map", "certificate", "fit", "cross-validation", "solve"]
        {
            let engine =
                EngineSpec { observer: Some(std::sync::Arc::new(Stop(phase))), ..EngineSpec::default() };
            let kernel = "gaussian".parse().unwrap();
            let result = Auto { kernel, method, ..Auto::default() }.fit(&engine.build(), &(&x, &y));
            assert!(matches!(result, Err(Error::Interrupted)), "{phase} {result:?}");
        }
    }
}

/// A block of rows with many features takes seconds: it is asked in between whether to go on, and to be asked changes no bit.
#[test]
fn a_block_of_many_features_can_be_stopped() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    struct Asked(AtomicUsize, usize);
    impl Observer for Asked {
        fn event(&self, event: &bochner::Event<'_>) -> std::ops::ControlFlow<()> {
            let is_stopped =
                *event == bochner::Event::Alive && self.0.fetch_add(1, Ordering::SeqCst) + 1 >= self.1;
            if is_stopped { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
        }
    }
    let asked = |most| std::sync::Arc::new(Asked(AtomicUsize::new(0), most));
    let engine = |asked: &std::sync::Arc<Asked>| {
        EngineSpec { observer: Some(asked.clone()), threads: 2, ..EngineSpec::default() }.build()
    };
    let x = Matrix::from_fn(3000, 1024, |i, j| ((i * 31 + j * 17 + (i * j) % 101) % 89) as f32 / 89.0);
    let map =
        MapSpec { features: 2048, ..MapSpec::fourier(Kernel::gaussian(10.0)) }.build(x.columns()).unwrap();
    let patient = asked(usize::MAX);
    let whole = map.transform(&engine(&patient), &Rows::from(&x)).unwrap();
    let times = patient.0.load(Ordering::SeqCst);
    assert!(times > 1, "asked {times} times");
    let last = Matrix::from_fn(1, x.columns(), |_, j| x.row(2999)[j]);
    let alone = map.transform(&engine(&patient), &Rows::from(&last)).unwrap();
    assert_eq!(whole.row(2999), alone.row(0));
    let result = map.transform(&engine(&asked(1)), &Rows::from(&x));
    assert!(matches!(result, Err(Error::Interrupted)), "{:?}", result.map(|z| z.rows()));
}

fn any_method() -> impl Strategy<Value = Method> {
    prop_oneof![
        Just(Method::Exact),
        (any::<bool>(), 0..4usize).prop_map(|(pairs, draw)| Method::Fourier {
            form: if pairs { FourierForm::Pairs } else { FourierForm::Offset },
            draw: [
                FrequencyDraw::Independent,
                FrequencyDraw::Orthogonal,
                FrequencyDraw::Turned,
                FrequencyDraw::Structured
            ][draw],
        }),
        (any::<bool>(), prop_oneof![Just(1e-7), Just(0.0), Just(0.5), Just(f64::NAN)]).prop_map(
            |(whiten, tolerance)| Method::Landmarks { whiten, tolerance, choice: Default::default() }
        ),
        proptest::sample::select(crate::table::projections().to_vec())
            .prop_map(|how| Method::Projection { how }),
    ]
}

fn any_kernel() -> impl Strategy<Value = Kernel> {
    let width = prop_oneof![
        Just(1.0),
        Just(0.0),
        Just(-1.0),
        Just(f64::NAN),
        Just(1e-160),
        (-300f64..300.0).prop_map(|e| 10f64.powf(e)),
        0.1f64..10.0
    ];
    (0..3, width).prop_map(|(kind, width)| match kind {
        0 => Kernel::Linear,
        1 => Kernel::gaussian(width),
        _ => Kernel::laplace(width),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Any spec on any small data gives a model or an error; a model is saved and loaded, and predicts finite numbers the same.
    #[test]
    fn no_spec_and_no_shape_panics(
        kernel in any_kernel(),
        method in any_method(),
        features in 0usize..20,
        n in 0usize..12,
        d in prop_oneof![4 => 0usize..4, 1 => Just(20usize), 1 => Just(40usize)], // the last two are enough for transforms
        size in prop_oneof![Just(1.0), Just(0.0), Just(1e-200), Just(1e150), Just(1e308)],
        lambda in prop_oneof![Just(None), Just(Some(1e-3)), Just(Some(-1.0)), Just(Some(1e300))],
        given in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let entries = bochner_testkit::normals(n, d, seed).iter().map(|x| x.clamp(-1.0, 1.0) * size).collect();
        let x = Matrix::new(n, d, entries).unwrap();
        let y = bochner_testkit::normals(n, 1, seed ^ 1);
        let auto = Auto {
            kernel: if given { KernelChoice::Given(kernel) } else { KernelChoice::Tuned(bochner::Family::Laplace) },
            method: Some(method),
            features: (seed % 3 > 0).then_some(features),
            loss: Loss::Squares,
            seed,
            lambda: lambda.map_or(Lambda::CrossValidated { folds: 3 }, |value| Lambda::Given { value }),
            precision: (seed % 2 == 0).then_some(bochner::encode::Precision::Single),
            standardise: given,
            scaling: Default::default(),
            tolerance: None,
            budget: None,
            uncertainty: bochner::Uncertainty { held_out: (seed % 5 < 2).then_some(0.4), ..Default::default() },
            solver: [bochner::Solver::Auto, bochner::Solver::Gram, bochner::Solver::cg()][seed as usize % 3],
            metric: [MetricChoice::None, MetricChoice::Auto, MetricChoice::Diagonal, MetricChoice::Full][seed as usize % 4].clone(),
        };
        let codes = Matrix::from_fn(n, 1, |i, _| f64::from(u8::from(y[i] > 0.0)));
        let target = Target::Classes { labels: Labels::new(LabelKind::Integer, vec!["0".into(), "1".into()]) };
        let classes = Arrays::new(Rows::from(&x), codes.view(), None, target).unwrap();
        let hinge = if seed % 3 == 0 { Hinge::Plain } else { Hinge::Squared };
        let margins = Auto { loss: Loss::margins(hinge), ..auto.clone() };
        let fitted = [auto.fit(&engine(1), &(&x, &y)), margins.fit(&engine(1), &classes)];
        for model in fitted.into_iter().flatten() {
            let bytes = model.to_bytes().unwrap();
            let predictions = model.decide(&engine(1), Rows::from(&x)).unwrap();
            if predictions.as_slice().iter().all(|y| y.is_finite()) {
                let loaded = bochner::Model::from_bytes(&bytes).unwrap();
                let again = loaded.decide(&engine(1), Rows::from(&x)).unwrap();
                prop_assert_eq!(again.as_slice(), predictions.as_slice());
            }
        }
    }
}

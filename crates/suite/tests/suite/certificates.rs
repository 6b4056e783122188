//! What certificates promise holds, for every map and for random expressions, and what is asked of them beforehand is enough.

use crate::compile::expression;
use crate::table::{INPUTS, engine, fitted, inner, rows, sample, specs};
use bochner::certify::{Bound, Certificate, features_for_distance, landmarks_for_margin};
use bochner::solve::KernelSvm;
use bochner::{
    Arrays, Choice, Engine, Kernel, LabelKind, Labels, Lambda, Linear, MapSpec, Matrix, Method, Rows, Target,
};
use bochner_testkit::{Relative, assert_close, binomial_lower};
use proptest::strategy::{Strategy, ValueTree};

/// The Gaussian's series: the error is below the certificate's bound, and each degree is better than the last.
#[test]
fn the_series_is_within_its_bound() {
    let x = Matrix::from_fn(30, 2, |i, j| ((i * 5 + 3 * j) as f64).sin() * 1.2);
    let view = Rows::from(&x);
    let kernel: Kernel = "gaussian(sigma=[1,1.5])".parse().unwrap();
    let exact = kernel.gram(&Engine::default(), &view, &view).unwrap();
    let mut last = f64::INFINITY;
    for degree in 0..10 {
        let spec =
            MapSpec { kernel: kernel.clone(), method: Method::Taylor { degree }, features: 1, seed: 0 };
        let (map, certificate) = spec.fit_certified(&engine(1), &(&x, &vec![0.0; 30])).unwrap();
        assert_eq!(map.output_dim() as u32, (degree + 1) * (degree + 2) / 2);
        let z = map.transform(&engine(1), &view).unwrap();
        let worst =
            (0..900).map(|p| (inner(&z, p / 30, p % 30) - exact.as_slice()[p]).abs()).fold(0.0, f64::max);
        let Bound::Deterministic { epsilon, rows: 30 } = certificate.bound else { panic!("{certificate}") };
        assert!(worst <= epsilon, "degree {degree}: {worst} above {epsilon}");
        assert!(worst < last || worst < 1e-13, "more degrees are better");
        last = worst;
    }
    assert!(last < 1e-4);
}

/// Additive kernels: the error is below the bound, and of its order.
#[test]
fn sampled_spectra_are_within_their_bound() {
    let (x, _) = rows(60);
    let view = Rows::from(&x);
    for text in ["chi2", "intersection", "0.5*chi2 + intersection[0..3]"] {
        let kernel: Kernel = text.parse().unwrap();
        let exact = kernel.gram(&Engine::default(), &view, &view).unwrap();
        for features in [3 * INPUTS, 5 * INPUTS, 7 * INPUTS, 14 * INPUTS] {
            let spec = MapSpec {
                kernel: kernel.clone(),
                method: Method::Compiled { bins: None },
                features,
                seed: 0,
            };
            let (map, certificate) = spec.fit_certified(&engine(1), &(&x, &vec![0.0; 60])).unwrap();
            let z = map.transform(&engine(1), &view).unwrap();
            let worst = (0..3600)
                .map(|p| (inner(&z, p / 60, p % 60) - exact.as_slice()[p]).abs())
                .fold(0.0, f64::max);
            let Bound::Deterministic { epsilon, .. } = certificate.bound else {
                // Too few features for both parts: one of them is projected.
                assert!(text.contains('+') && features < 14 * INPUTS, "{text} {features}: {certificate}");
                continue;
            };
            assert!(worst <= epsilon, "{text} {features}: {worst} above {epsilon}");
            assert!(worst > 0.02 * epsilon, "the bound says little: {worst} below {epsilon}");
        }
    }
}

/// Every map of the table on rows it was not made for: the largest error is within the bound of its certificate. Bounds hold with probability 0.95 or more for each map, but Hoeffding's
/// are so wide that all of these do; a bound a quarter as wide is seen to fail.
#[test]
fn errors_are_within_the_certificate() {
    let (x, _) = rows(60);
    let view = Rows::from(&x);
    let sample = sample(view, 1);
    let (mut bounded, mut tight) = (0, 0);
    for spec in specs() {
        let map = fitted(&spec);
        let certificate = Certificate::measure(&Engine::default(), &map, &sample).unwrap();
        let z = map.transform(&engine(1), &view).unwrap();
        let error =
            |p: usize| (inner(&z, p / 60, p % 60) - spec.kernel.eval(&view, p / 60, &view, p % 60)).abs();
        let worst = (0..3600).map(error).fold(0.0, f64::max);
        let bound = match certificate.bound {
            Bound::Exact => 1e-9 * (1.0 + spec.kernel.diagonal(&view).into_iter().fold(0.0, f64::max)),
            Bound::FiniteSet { epsilon, .. } | Bound::Deterministic { epsilon, .. } => epsilon,
            Bound::Residual { largest, .. } => largest + 1e-9,
            _ => continue,
        };
        bounded += 1;
        tight += usize::from(worst > 0.25 * bound);
        assert!(worst <= bound, "{spec:?}: {worst} above {bound}");
        let measured = certificate.measured;
        assert!(measured.is_none_or(|m| m.largest <= worst * (1.0 + 1e-9) + 1e-12), "{spec:?}");
    }
    assert!(bounded > 100 && tight > 10, "{bounded} bounds, {tight} of them within a factor of four");
}

/// Doubling stops when the measured error's upper limit is under the target, says what each round found, and refuses what it cannot reach.
#[test]
fn features_are_doubled_until_they_are_enough() {
    let (x, _) = rows(300);
    let y = vec![0.0; 300];
    let spec = MapSpec { features: 32, ..MapSpec::fourier(Kernel::gaussian(2.0)) };
    let adapted = spec.fit_adaptively(&engine(1), &(&x, &y), 0.1, 0.01, 1 << 14).unwrap();
    let sizes: Vec<usize> = adapted.rounds.iter().map(|round| round.0).collect();
    assert!(sizes.len() > 2 && sizes.windows(2).all(|w| w[1] == 2 * w[0]), "{sizes:?}");
    let last = adapted.certificate.measured.unwrap();
    assert!(last.mean + last.radius <= 0.1);
    assert_close(&[last.delta], &[0.01 / 2f64.powi(sizes.len() as i32)], Relative(1e-12));
    assert!(adapted.rounds[..sizes.len() - 1].iter().all(|(_, m)| m.mean + m.radius > 0.1));
    assert_eq!(adapted.map.output_dim(), *sizes.last().unwrap());
    // No chance, no measuring.
    let linear = MapSpec { features: 32, ..MapSpec::auto(Kernel::Linear) };
    assert_eq!(linear.fit_adaptively(&engine(1), &(&x, &y), 1e-9, 0.01, 64).unwrap().rounds.len(), 1);
    let error = spec.fit_adaptively(&engine(1), &(&x, &y), 1e-4, 0.01, 128).unwrap_err().to_string();
    assert!(error.contains("at most 0.0001, reached") && error.contains("with 128 features"), "{error}");
}

/// Random expressions compile, and their errors are within the certificate. Bounds fail with probability 0.05 at most, and so do the intervals around the measured mean, whose
/// truth is known here, as the sample is the whole: of n intervals, more than `binomial` allows fail with probability 1e-9.
#[test]
fn random_expressions_are_within_their_certificates() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let n = 40;
    let x = Matrix::from_fn(n, 3, |i, j| ((i * 7 + j * 3) as f64 * 0.61).sin().abs() * 1.5);
    let (view, y) = (Rows::from(&x), vec![0.0; n]);
    let (mut bounded, mut broken, mut measured, mut missed) = (0, 0, 0, 0);
    for case in 0..400u64 {
        let kernel = expression().new_tree(&mut runner).unwrap().current();
        let bins = (case % 3 == 0).then_some(4);
        let spec =
            MapSpec { kernel: kernel.clone(), method: Method::Compiled { bins }, features: 200, seed: case };
        let (map, certificate) =
            spec.fit_certified(&engine(1), &(&x, &y)).unwrap_or_else(|e| panic!("{kernel}: {e}"));
        assert!(map.output_dim() <= 200, "{kernel}");
        let z = map.transform(&engine(1), &view).unwrap();
        let error = |p: usize| (inner(&z, p / n, p % n) - kernel.eval(&view, p / n, &view, p % n)).abs();
        let errors: Vec<f64> = (0..n * n).filter(|p| p / n != p % n).map(error).collect();
        let worst = errors.iter().copied().fold(0.0, f64::max);
        let size = kernel.diagonal(&view).into_iter().fold(0.0, f64::max);
        match certificate.bound {
            Bound::Exact => assert!(worst <= 1e-9 * (1.0 + size), "{kernel}: {worst}"),
            Bound::Deterministic { epsilon, .. } => {
                assert!(worst <= epsilon, "{kernel}: {worst} above {epsilon}")
            }
            Bound::FiniteSet { epsilon, .. } => {
                bounded += 1;
                broken += usize::from(worst > epsilon);
            }
            _ => {}
        }
        if let Some(found) = certificate.measured {
            let truth = errors.iter().sum::<f64>() / errors.len() as f64;
            measured += 1;
            missed += usize::from((found.mean - truth).abs() > found.radius);
        }
    }
    assert!(bounded > 80 && measured > 200, "{bounded} bounded, {measured} measured");
    assert!(binomial_lower(broken, bounded, 1e-9) <= 0.05, "{broken} of {bounded} bounds broken");
    assert!(binomial_lower(missed, measured, 1e-9) <= 0.05, "{missed} of {measured} intervals missed");
}

/// The relative guarantee for distances: of 2,000 maps of that size, the share whose squared distance is off by more than ε is at most δ, by the exact binomial test at 1e-9. Chebyshev is wide;
/// a size forty times smaller fails the test.
#[test]
fn distances_are_kept_relatively() {
    let (epsilon, delta) = (0.2, 0.2);
    for text in ["gaussian(sigma=1)", "matern(nu=2.5,scale=1)", "rational_quadratic(alpha=1,scale=1)"] {
        let kernel: Kernel = text.parse().unwrap();
        let features = features_for_distance(&kernel, epsilon, delta).unwrap();
        let misses = |features: usize, r: f64| {
            let x = Matrix::new(2, 2, vec![0.0, 0.0, 0.6 * r, 0.8 * r]).unwrap();
            let view = Rows::from(&x);
            let exact = kernel.distance(&view, 0, &view, 1).powi(2);
            let off = |seed: &u64| {
                let map =
                    MapSpec { features, seed: *seed, ..MapSpec::fourier(kernel.clone()) }.build(2).unwrap();
                let z = map.transform(&engine(1), &view).unwrap();
                let found = inner(&z, 0, 0) + inner(&z, 1, 1) - 2.0 * inner(&z, 0, 1);
                (found / exact - 1.0).abs() > epsilon
            };
            (0..2000).filter(off).count()
        };
        for r in [0.02, 0.5, 2.0] {
            let missed = misses(features, r);
            assert!(binomial_lower(missed, 2000, 1e-9) <= delta, "{text} at {r}: {missed} of 2000");
        }
        let few = misses((features / 40).next_multiple_of(2), 0.02);
        assert!(binomial_lower(few, 2000, 1e-9) > delta, "no power: {few}");
    }
}

/// Landmarks for a margin: four blobs, the classes crosswise, that the Gaussian separates with margin γ (found by an exact machine), are separated by the plain kernel values at m landmarks but for a
/// part ε, in a share 1 − δ of 40 draws. One landmark, whose values are those of a distance, has a quarter of them wrong.
#[test]
fn landmarks_keep_a_margin() {
    let n = 300;
    let draws = bochner_testkit::normals(n, 2, 5);
    let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
    let centre = |i: usize, j: usize| 2.0 * sign(i / 2) * if j == 0 { 1.0 } else { sign(i) };
    let x = Matrix::from_fn(n, 2, |i, j| 0.4 * draws[2 * i + j] + centre(i, j));
    let kernel = Kernel::gaussian(2.0);
    let (signs, costs): (Vec<f64>, Vec<f64>) = (0..n).map(|i| (sign(i), 1e6)).unzip();
    let svm = KernelSvm {
        kernel: &kernel,
        rows: Rows::from(&x),
        signs: &signs,
        costs: &costs,
        cache_bytes: 1 << 24,
    };
    let margin = svm.solve(&engine(1), 1e-6, 1_000_000).unwrap().margin();
    assert!(margin > 0.1, "{margin}");
    let (epsilon, delta) = (0.2, 0.2);
    let labels = Labels::new(LabelKind::Text, vec!["-".into(), "+".into()]);
    let y = Matrix::from_fn(n, 1, |i, _| f64::from(u8::from(sign(i) > 0.0)));
    let fails = |landmarks: usize| {
        let fails = |seed: &u64| {
            let method = Method::Landmarks { whiten: false, tolerance: 1e-7, choice: Choice::Uniform };
            let map = MapSpec { kernel: kernel.clone(), method, features: landmarks.min(n), seed: *seed };
            let target = Target::Classes { labels: labels.clone() };
            let arrays = Arrays::new(Rows::from(&x), y.view(), None, target).unwrap();
            let svm = Linear { lambda: Lambda::Given { value: 1e-9 }, ..Linear::svm(map) };
            let scores = svm.fit(&engine(1), &arrays).unwrap().decide(&engine(1), Rows::from(&x)).unwrap();
            let wrong = (0..n).filter(|&i| scores.row(i)[0] * sign(i) <= 0.0).count();
            wrong as f64 > epsilon * n as f64
        };
        (0..40).filter(fails).count()
    };
    assert!(binomial_lower(fails(landmarks_for_margin(margin, epsilon, delta).unwrap()), 40, 1e-9) <= delta);
    assert!(binomial_lower(fails(1), 40, 1e-9) > delta, "no power");
}

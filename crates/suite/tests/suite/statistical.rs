//! What holds in expectation. Seeds are fixed; each assertion states the rate at which a correct map would fail it if they were not.

use bochner::certify::{Bound, Certificate};
use bochner::kernel::Width;
use bochner::{Engine, FourierForm, FrequencyDraw, Kernel, MapSpec, Matrix, Method, Rows};
use bochner_testkit::{
    ALPHA, Absolute, assert_close, bernstein_radius, binomial_upper, hoeffding_radius, variance_interval,
};

use crate::table::{INPUTS, rows, sample};

/// Two points at moderate distance.
fn points() -> Matrix<f64> {
    Matrix::new(2, 3, vec![0.3, -0.2, 0.5, -0.1, 0.4, 0.0]).unwrap()
}

/// z(x)·z(y) of `count` independent maps with `features` features each: consecutive parts of one large map, whose frequencies are
/// independent (orthogonal ones from block to block: there `features` must make whole blocks).
fn estimates(
    kernel: Kernel,
    form: FourierForm,
    draw: FrequencyDraw,
    features: usize,
    count: usize,
) -> Vec<f64> {
    let spec =
        MapSpec { kernel, method: Method::Fourier { form, draw }, features: features * count, seed: 0 };
    let z = spec.build(3).unwrap().transform(&Engine::default(), &Rows::from(&points())).unwrap();
    let parts = z.row(0).chunks_exact(features).zip(z.row(1).chunks_exact(features));
    parts.map(|(x, y)| count as f64 * x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>()).collect()
}

fn exact(kernel: Kernel) -> f64 {
    kernel.eval(&Rows::from(&points()), 0, &Rows::from(&points()), 1)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

const GAUSSIAN: Kernel = Kernel::Gaussian { sigma: Width::One(0.8) };
const LAPLACE: Kernel = Kernel::Laplace { scale: Width::One(1.5) };

/// Every kind of Fourier map: its kernel, form, draw and the length of the interval that one estimate lies in.
fn maps() -> Vec<(Kernel, FourierForm, FrequencyDraw, f64)> {
    use FourierForm::{Offset, Pairs};
    use FrequencyDraw::{Independent, Orthogonal};
    vec![
        (GAUSSIAN, Pairs, Independent, 2.0),
        (GAUSSIAN, Pairs, Orthogonal, 2.0),
        (GAUSSIAN, Offset, Independent, 4.0),
        (GAUSSIAN, Offset, Orthogonal, 4.0),
        (LAPLACE, Pairs, Independent, 2.0),
        (LAPLACE, Offset, Independent, 4.0),
    ]
}

/// E[z(x)·z(y)] = k(x, y). 400,000 independent maps; Hoeffding for estimates in an interval of the given length: a correct map fails with
/// probability at most 1e-9. The mutants: a spectrum of another width, a wrong scale, and (for the offset form) offsets left out.
#[test]
fn fourier_maps_are_unbiased() {
    let count = 400_000;
    for (kernel, form, draw, range) in maps() {
        let radius = hoeffding_radius(count, range, ALPHA);
        let estimate = mean(&estimates(kernel.clone(), form, draw, 6, count));
        let error = (estimate - exact(kernel.clone())).abs();
        assert!(error <= radius, "{kernel} {form:?} {draw:?}: {estimate}, not {}", exact(kernel.clone()));

        let wider = match kernel.clone() {
            Kernel::Gaussian { sigma } => Kernel::gaussian(sigma.times(1.1)),
            Kernel::Laplace { scale } => Kernel::laplace(scale.times(1.1)),
            other => other,
        };
        assert!(
            (estimate - exact(wider)).abs() > radius,
            "no power against a wrong spectrum: {kernel} {form:?}"
        );
        let factor = if form == FourierForm::Offset { 0.5 } else { 1.05 };
        assert!(
            (factor * estimate - exact(kernel.clone())).abs() > radius,
            "no power against a wrong scale: {kernel} {form:?}"
        );
    }
}

/// Without offsets, √(2/m)·cos ω·x estimates k(x − y) + k(x + y): such a map, made of the cosines of 100,000 pairs, is told from a right one,
/// which the pairs are, by Hoeffding's inequality with α = 1e-9 (terms 2·cos·cos in [−2, 2]).
#[test]
fn a_map_without_offsets_would_be_seen() {
    let frequencies = 100_000;
    let method = Method::Fourier { form: FourierForm::Pairs, draw: FrequencyDraw::Independent };
    let map = MapSpec { kernel: GAUSSIAN, method, features: 2 * frequencies, seed: 4 }.build(3).unwrap();
    let z = map.transform(&Engine::default(), &Rows::from(&points())).unwrap();
    let products = || z.row(0).iter().zip(z.row(1)).map(|(a, b)| a * b);
    let (right, mutant) = (products().sum::<f64>(), 2.0 * products().step_by(2).sum::<f64>());
    let radius = hoeffding_radius(frequencies, 4.0, ALPHA);
    assert!((right - exact(GAUSSIAN)).abs() <= radius, "{right}");
    assert!((mutant - exact(GAUSSIAN)).abs() > radius, "{mutant}");
}

/// Orthogonal frequencies for the product kernel would estimate exp(−‖x − y‖₂/scale) instead: refused, and far enough to matter.
#[test]
fn orthogonal_laplace_is_refused_because_it_is_another_kernel() {
    let method = Method::Fourier { form: FourierForm::Pairs, draw: FrequencyDraw::Orthogonal };
    let error = MapSpec { kernel: LAPLACE, method, features: 6, seed: 0 }.build(3).unwrap_err().to_string();
    assert!(error.contains("isotropic") && error.contains("independently"), "{error}");
}

/// Var z(x)·z(y) = (1 − k²)²/D for Gaussian pairs, (1 + k⁴/2 − k²)/D with offsets, (1 + k(2Δ) − 2k²)/D for pairs of any
/// kernel. The interval for a variance holds with probability 1 − 1e-9; the mutants are the other form's formula and D counted in frequencies.
#[test]
fn fourier_maps_have_their_variance() {
    let (count, features) = (1_000_000, 4.0);
    let k = exact(GAUSSIAN);
    let pairs = (1.0 - k * k).powi(2) / features;
    let offset = (1.0 + k.powi(4) / 2.0 - k * k) / features;
    let (l, l2) = (exact(LAPLACE), exact(Kernel::laplace(0.75)));
    let laplace = (1.0 + l2 - 2.0 * l * l) / features;
    let cases = [
        (GAUSSIAN, FourierForm::Pairs, 2.0, pairs, [offset, pairs / 2.0]),
        (GAUSSIAN, FourierForm::Offset, 4.0, offset, [pairs, offset / 2.0]),
        (LAPLACE, FourierForm::Pairs, 2.0, laplace, [laplace / 2.0, laplace * 1.3]),
    ];
    for (kernel, form, range, variance, mutants) in cases {
        let samples = estimates(kernel.clone(), form, FrequencyDraw::Independent, features as usize, count);
        let (low, high) = variance_interval(&samples, range, ALPHA);
        assert!(low <= variance && variance <= high, "{kernel} {form:?}: {variance} outside [{low}, {high}]");
        for mutant in mutants {
            assert!(
                mutant < low || mutant > high,
                "no power: {mutant} inside [{low}, {high}] for {kernel} {form:?}"
            );
        }
    }
}

/// Orthogonal frequencies have a lower variance at this distance: below the independent map's by more than both intervals.
#[test]
fn orthogonal_frequencies_have_lower_variance() {
    let samples = |draw| estimates(GAUSSIAN, FourierForm::Pairs, draw, 6, 400_000);
    let (_, high) = variance_interval(&samples(FrequencyDraw::Orthogonal), 2.0, ALPHA);
    let (low, _) = variance_interval(&samples(FrequencyDraw::Independent), 2.0, ALPHA);
    assert!(high < low, "{high} is not below {low}");
}

/// Turned frequencies, sixteen blocks of a rotation, have the variance of orthogonal ones within what 2,000 rotations tell: sums of 1,024 cosines are nearly normal, so that a measured variance strays by √(2/2000) of itself,
/// and by 6.2 times that with probability 1e-9. (Blocks of one rotation are not independent, which adds 1.0 % here: too little to be told by this test.) The mutants: independent frequencies, and blocks of a rotation that are all the same.
#[test]
fn turned_frequencies_have_the_variance_of_orthogonal_ones() {
    let (d, count) = (64, 2000);
    let features = 2 * 16 * d;
    let x = Matrix::from_fn(
        2,
        d,
        |i, j| if i == 0 { 0.3 } else { 0.3 + if j % 3 == 0 { -0.125 } else { 0.125 } },
    );
    let method = Method::Fourier { form: FourierForm::Pairs, draw: FrequencyDraw::Turned };
    let spec = MapSpec { kernel: Kernel::gaussian(1.0), method, features: features * count, seed: 5 };
    let z = spec.build(d).unwrap().transform(&Engine::default(), &Rows::from(&x)).unwrap();
    let parts = z.row(0).chunks_exact(features).zip(z.row(1).chunks_exact(features));
    let estimates: Vec<f64> =
        parts.map(|(x, y)| count as f64 * x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>()).collect();
    let (h, k) = (0.5f64, (-0.5f64).exp());
    let centre = mean(&estimates);
    let variance = mean(&estimates.iter().map(|e| (e - centre).powi(2)).collect::<Vec<_>>());
    let independent = (1.0 - k * k).powi(2) / features as f64;
    // e^{−h}·₁F₁(−d/2; d/2; h) − k² for two frequencies of a block (docs/book/fourier.md).
    let (mut term, mut series, half) = (1.0, 1.0, d as f64 / 2.0);
    for j in 0..d / 2 {
        let j = j as f64;
        term *= (j - half) / ((half + j) * (j + 1.0)) * h;
        series += term;
    }
    let together = (-h).exp() * series - k * k;
    let orthogonal = independent + 2.0 * (d as f64 - 1.0) * together / features as f64;
    assert!((orthogonal / independent - 0.098).abs() < 0.001, "{}", orthogonal / independent);
    let tolerance = 6.2 * (2.0 / count as f64).sqrt();
    assert!((variance / orthogonal - 1.010).abs() < tolerance, "{}", variance / orthogonal);
    for mutant in [independent, 16.0 * orthogonal] {
        assert!((mutant / orthogonal - 1.010).abs() > tolerance, "no power");
    }
    assert!((centre - k).abs() < 6.2 * (variance / count as f64).sqrt(), "{centre} is not {k}");
}

/// ‖z(x)‖ = 1 for pairs, exactly up to rounding.
#[test]
fn pairs_have_length_one() {
    for (kernel, form, draw, _) in maps().into_iter().filter(|m| m.1 == FourierForm::Pairs) {
        let map = MapSpec { kernel, method: Method::Fourier { form, draw }, features: 64, seed: 1 }
            .build(3)
            .unwrap();
        let z = map.transform(&Engine::default(), &Rows::from(&points())).unwrap();
        assert_close(&[z.row(0).iter().map(|z| z * z).sum()], &[1.0], Absolute(1e-14));
    }
}

/// The finite-set bound fails for at most δ = 0.05 of the seeds: 400 maps of 16 points, Clopper–Pearson at 1e-9 for the power check (a bound
/// a third as large is broken nearly always).
#[test]
fn the_finite_set_bound_holds_for_nearly_all_seeds() {
    let (x, _) = rows(16);
    let sampled = sample(Rows::from(&x), 0);
    for form in [FourierForm::Pairs, FourierForm::Offset] {
        let (seeds, mut broken, mut third) = (400, 0, 0);
        for seed in 0..seeds {
            let method = Method::Fourier { form, draw: FrequencyDraw::Independent };
            let spec = MapSpec { kernel: Kernel::gaussian(1.0), method, features: 200, seed };
            let map = spec.fit(&Engine::default(), &sampled).unwrap();
            let Bound::FiniteSet { epsilon, points, holds, .. } =
                Certificate::measure(&Engine::default(), &map, &sampled).unwrap().bound
            else {
                panic!("Fourier maps have a finite-set bound")
            };
            assert!(holds && points == 16);
            let z = map.transform(&Engine::default(), &Rows::from(&x)).unwrap();
            let worst = (0..16 * 16)
                .map(|at| {
                    let (i, j) = (at / 16, at % 16);
                    let inner: f64 = z.row(i).iter().zip(z.row(j)).map(|(a, b)| a * b).sum();
                    (inner - spec.kernel.eval(&Rows::from(&x), i, &Rows::from(&x), j)).abs()
                })
                .fold(0.0, f64::max);
            broken += usize::from(worst > epsilon);
            third += usize::from(worst > epsilon / 3.0);
        }
        assert!(broken as f64 <= 0.05 * seeds as f64, "{broken} of {seeds} {form:?}");
        assert!(
            binomial_upper(seeds as usize - third, seeds as usize, ALPHA) < 0.95,
            "no power: {third} {form:?}"
        );
    }
}

/// The measured certificate covers the mean error over all pairs of rows, computed here by brute force: each of 100
/// intervals fails with probability at most 0.05, and the chance of more than 25 failures is below 1e-9 (binomial tail).
#[test]
fn the_measured_error_covers_the_mean_over_all_pairs() {
    let (x, _) = rows(40);
    let sampled = sample(Rows::from(&x), 0);
    let view = Rows::from(&x);
    let mut failures = 0;
    for seed in 0..100 {
        let spec = MapSpec { features: 20, seed, ..MapSpec::fourier(Kernel::gaussian(1.0)) };
        let map = spec.fit(&Engine::default(), &sampled).unwrap();
        let measured = Certificate::measure(&Engine::default(), &map, &sampled).unwrap().measured.unwrap();
        let z = map.transform(&Engine::default(), &view).unwrap();
        // Distinct rows only: a repeated row is one point of the sample.
        let distinct: Vec<usize> = (0..40).filter(|&i| (0..i).all(|j| x.row(i) != x.row(j))).collect();
        let mut errors = Vec::new();
        for &i in &distinct {
            for &j in &distinct {
                if i != j {
                    let inner: f64 = z.row(i).iter().zip(z.row(j)).map(|(a, b)| a * b).sum();
                    errors.push((inner - spec.kernel.eval(&view, i, &view, j)).abs());
                }
            }
        }
        failures += usize::from((measured.mean - mean(&errors)).abs() > measured.radius);
        assert!(measured.largest <= errors.iter().copied().fold(0.0, f64::max) + 1e-12);
    }
    assert!(failures <= 25, "{failures} of 100 intervals miss");
}

/// The error falls like 1/√D: four times the features halve the root mean square, within Bernstein's interval at 1e-9.
#[test]
fn the_error_falls_with_the_root_of_the_number_of_features() {
    let count = 100_000;
    let square = |features: usize| {
        let k = exact(GAUSSIAN);
        let e: Vec<f64> =
            estimates(GAUSSIAN, FourierForm::Pairs, FrequencyDraw::Independent, features, count)
                .iter()
                .map(|z| (z - k).powi(2))
                .collect();
        (mean(&e), (1.0 - k * k).powi(2) / features as f64)
    };
    for features in [4, 16] {
        let (found, expected) = square(features);
        // Squared errors lie in [0, 4] and have variance at most 4 times their mean.
        let radius = bernstein_radius(count, 4.0 * expected, 4.0, ALPHA);
        assert!((found - expected).abs() <= radius, "{found} not {expected} ± {radius} at D = {features}");
    }
}

/// Landmarks are no test of themselves: the residual on sampled rows is that of rows which the map has not seen.
#[test]
fn landmarks_are_certified_on_other_rows() {
    let n = 6000;
    let x = Matrix::new(n, 3, bochner_testkit::normals(n, 3, 40)).unwrap();
    let spec = MapSpec { features: 500, ..MapSpec::landmarks(Kernel::laplace(2.0)) };
    let target = bochner::Target::Numbers { outputs: 1 };
    let sampled = bochner::sweep::sweep(
        &Engine::default(),
        &(&x, &vec![0.0; n]),
        "sample",
        || bochner::stat::Sample::zero(2000, 3, 0),
        |s, batch| s.absorb(&Engine::default(), batch, &target),
    )
    .unwrap();
    let map = spec.fit(&Engine::default(), &sampled).unwrap();
    let Bound::Residual { mean: printed, rows, .. } =
        Certificate::measure(&Engine::default(), &map, &sampled).unwrap().bound
    else {
        panic!()
    };
    assert_eq!(rows, 1500);
    let z = map.transform(&Engine::default(), &Rows::from(&x)).unwrap();
    let residual = |i: usize| 1.0 - z.row(i).iter().map(|z| z * z).sum::<f64>();
    let all: Vec<f64> = (0..n).map(residual).collect();
    // Residuals lie in [0, 1]; the mean of 1,500 of them is within Hoeffding's radius of that of all rows at 1e-9, landmarks (residual 0)
    // being a twelfth of these.
    let truth = mean(&all) * 12.0 / 11.0;
    assert!((printed - truth).abs() < hoeffding_radius(1500, 1.0, ALPHA), "{printed}, in truth {truth}");
    assert!(printed > 0.95 * truth, "the landmarks were counted: {printed}, in truth {truth}");
}

#[test]
fn plain_kernel_values_claim_nothing_and_exact_maps_are_exact() {
    let (x, _) = rows(30);
    let sampled = sample(Rows::from(&x), 0);
    let certificate = |method, kernel| {
        let map =
            MapSpec { kernel, method, features: INPUTS, seed: 0 }.fit(&Engine::default(), &sampled).unwrap();
        Certificate::measure(&Engine::default(), &map, &sampled).unwrap()
    };
    let plain = certificate(
        Method::Landmarks { whiten: false, tolerance: 1e-7, choice: Default::default() },
        GAUSSIAN,
    );
    assert_eq!((plain.bound, plain.measured), (Bound::NoApproximation, None));
    let linear = certificate(Method::Exact, Kernel::Linear);
    assert_eq!((linear.bound, linear.measured), (Bound::Exact, None));
    let orthogonal = Method::Fourier { form: FourierForm::Pairs, draw: FrequencyDraw::Orthogonal };
    let map = MapSpec { kernel: GAUSSIAN, method: orthogonal, features: 8, seed: 0 }
        .fit(&Engine::default(), &sampled)
        .unwrap();
    let text = Certificate::measure(&Engine::default(), &map, &sampled).unwrap().to_string();
    assert!(text.contains("i.i.d. reference"), "{text}");
}

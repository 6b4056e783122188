//! Statistics of every map over the table: means, variances, bounds, and what the compiler says.

use crate::table::{EXPRESSIONS, INPUTS, LEAVES, engine, fitted, rows, sample, specs};
use bochner::certify::{Bound, Certificate, features_for_distance, fourier_variance, landmarks_for_margin};
use bochner::map::{How, ObjectMap};
use bochner::solve::KernelSvm;
use bochner::{
    Arrays, Bins, Choice, Csr, Engine, FourierForm, FrequencyDraw, Kernel, LabelKind, Labels, Lambda, Map,
    MapSpec, Matrix, Method, Model, Recipe, Ridge, Rows, Scalar, Svm, Target,
};
use bochner_testkit::{Absolute, Relative, assert_close, assert_same_bits, binomial_lower};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

/// Standard errors that a mean may be off: a right one fails with probability 8e-11, as far as it is normal.
const SIGMAS: f64 = 6.5;

fn inner<T: Scalar>(z: &Matrix<T>, i: usize, j: usize) -> f64 {
    z.row(i).iter().zip(z.row(j)).map(|(a, b)| a.to_f64() * b.to_f64()).sum()
}

/// Mean and standard error over seeds of z(x)·z(y), and the mean square error, for some pairs.
fn estimates(spec: &MapSpec, x: &Matrix<f64>, pairs: &[(usize, usize)], seeds: u64) -> Vec<(f64, f64)> {
    let engine = engine(1);
    let mut sums = vec![(0.0, 0.0); pairs.len()];
    for seed in 0..seeds {
        let map = MapSpec { seed, ..spec.clone() }.build(x.columns()).unwrap();
        let z = map.transform(&engine, &Rows::from(x)).unwrap();
        for (sum, &(i, j)) in sums.iter_mut().zip(pairs) {
            let k = inner(&z, i, j);
            *sum = (sum.0 + k, sum.1 + k * k);
        }
    }
    let n = seeds as f64;
    sums.into_iter()
        .map(|(sum, square)| (sum / n, ((square / n - (sum / n).powi(2)).max(0.0) / n).sqrt()))
        .collect()
}

/// Whether features are unbiased: no deterministic approximation, and no random features inside an exponential.
fn is_unbiased(recipe: &Recipe) -> bool {
    let nested = matches!(recipe.how, How::Positive(_))
        && recipe.parts().iter().any(|part| part.variance() != Some(0.0));
    !nested
        && !matches!(recipe.how, How::Homogeneous { .. } | How::OfDistance { .. } | How::Taylor { .. })
        && recipe.parts().iter().all(is_unbiased)
}

/// E z(x)·z(y) = k(x, y), for compiled maps large and small, by Fourier and by grids. Each mean is within 6.5 standard errors (α = 8e-11 by the central limit theorem); a kernel
/// whose values are a tenth larger is told apart.
#[test]
fn compiled_maps_are_unbiased() {
    let (x, _) = rows(6);
    let view = Rows::from(&x);
    let pairs = [(0, 1), (2, 3), (4, 4)];
    let mut checked = 0;
    for text in LEAVES.into_iter().chain(EXPRESSIONS) {
        let kernel: Kernel = text.parse().unwrap();
        for (features, bins) in [(64, None), (14, None), (64, Some(4))] {
            let spec =
                MapSpec { kernel: kernel.clone(), method: Method::Compiled { bins }, features, seed: 0 };
            let recipe = spec.recipe(INPUTS).unwrap().unwrap();
            if !is_unbiased(&recipe) {
                continue;
            }
            let found = estimates(&spec, &x, &pairs, 1500);
            for (&(i, j), (mean, error)) in pairs.iter().zip(found) {
                let exact = kernel.eval(&view, i, &view, j);
                let radius = SIGMAS * error + 1e-9 * exact.abs();
                assert!(
                    (mean - exact).abs() <= radius,
                    "{text}, {features}, {bins:?}: {mean} ± {error}, not {exact}\n{recipe}"
                );
                // The mutant: values a tenth larger.
                checked += usize::from((mean - 1.1 * exact).abs() > SIGMAS * error + 1e-9 * exact.abs());
            }
        }
    }
    assert!(checked > 150, "{checked} means tell a tenth apart");
}

/// The four draws of frequencies have the law of each shift-invariant kernel, structured ones up to their bias of 4e-4 from 64 padded columns on. α as above.
#[test]
fn every_draw_has_the_law() {
    let d = 64;
    let x =
        Matrix::from_fn(
            4,
            d,
            |i, j| if i == 0 { 0.0 } else { ((i * 31 + j * 7) as f64).sin() * 0.2 * i as f64 },
        );
    let view = Rows::from(&x);
    let pairs = [(0, 1), (1, 2), (0, 3)];
    let mut told_apart = 0;
    for text in [
        "gaussian(sigma=2)",
        "laplace(scale=20)",
        "exponential(scale=3)",
        "matern(nu=1.5,scale=2)",
        "matern(nu=0.8,scale=4)",
        "rational_quadratic(alpha=0.7,scale=2)",
        "cauchy(scale=3)",
        "sinc(scale=1)",
        "hat(width=9)",
        "radial_sinc(scale=0.2)[1,5,9]",
        "gaussian(sigma=[3,2,1])[7,3,1]",
        "exp(gaussian(sigma=2))",
        "gaussian(sigma=3)*laplace(scale=40)",
    ] {
        let kernel: Kernel = text.parse().unwrap();
        for form in [FourierForm::Pairs, FourierForm::Offset] {
            for draw in [
                FrequencyDraw::Independent,
                FrequencyDraw::Orthogonal,
                FrequencyDraw::Quasi,
                FrequencyDraw::Structured,
            ] {
                let spec = MapSpec {
                    kernel: kernel.clone(),
                    method: Method::Fourier { form, draw },
                    features: 32,
                    seed: 0,
                };
                let isotropic =
                    ["gaussian(sigma=2)", "exponential", "matern", "rational", "gaussian(sigma=["];
                let isotropic = isotropic.iter().any(|start| text.starts_with(start));
                let few = text.contains('[') && draw == FrequencyDraw::Structured;
                let refused =
                    matches!(draw, FrequencyDraw::Orthogonal | FrequencyDraw::Structured) && !isotropic;
                assert_eq!(spec.build(d).is_err(), refused || few, "{text} {draw:?}");
                if refused || few {
                    continue;
                }
                let bias = if draw == FrequencyDraw::Structured { 4e-4 } else { 0.0 };
                for (&(i, j), (mean, error)) in pairs.iter().zip(estimates(&spec, &x, &pairs, 800)) {
                    let exact = kernel.eval(&view, i, &view, j);
                    let radius = SIGMAS * error + bias + 1e-9;
                    assert!(
                        (mean - exact).abs() <= radius,
                        "{text} {form:?} {draw:?}: {mean} ± {error}, not {exact}"
                    );
                    // The mutant: widths a tenth larger.
                    let wider: Kernel = widened(text).parse().unwrap();
                    told_apart += usize::from((mean - wider.eval(&view, i, &view, j)).abs() > radius);
                }
            }
        }
    }
    assert!(told_apart > 60, "{told_apart} means tell a tenth of the width apart");
}

/// The text of a kernel with all its widths a tenth larger.
fn widened(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['=', ',']) {
        let (before, after) = rest.split_at(at + 1);
        let number = after.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(after.len());
        let is_width = ["sigma=", "scale=", "width="].iter().any(|name| before.ends_with(name));
        out += before;
        match after[..number].parse::<f64>() {
            Ok(value) if is_width => {
                out += &(1.1 * value).to_string();
                rest = &after[number..];
            }
            _ => rest = after,
        }
    }
    out + rest
}

/// The variance of independent draws is the formula's: the mean square error over seeds is within 6.5 of its own standard errors.
#[test]
fn variances_are_the_formulas() {
    let (x, _) = rows(6);
    let view = Rows::from(&x);
    for text in [
        "gaussian(sigma=2)",
        "laplace(scale=4)",
        "2*exponential(scale=3)",
        "cauchy(scale=4)",
        "gaussian(sigma=2)*sinc(scale=2)",
    ] {
        let kernel: Kernel = text.parse().unwrap();
        for form in [FourierForm::Pairs, FourierForm::Offset] {
            let method = Method::Fourier { form, draw: FrequencyDraw::Independent };
            let spec = MapSpec { kernel: kernel.clone(), method, features: 20, seed: 0 };
            let expected = fourier_variance(&kernel, form, 20, &view, (0, 1)).unwrap();
            let exact = kernel.eval(&view, 0, &view, 1);
            let squares: Vec<f64> = (0..4000)
                .map(|seed| {
                    let map = MapSpec { seed, ..spec.clone() }.build(INPUTS).unwrap();
                    (inner(&map.transform(&engine(1), &view).unwrap(), 0, 1) - exact).powi(2)
                })
                .collect();
            let n = squares.len() as f64;
            let mean = squares.iter().sum::<f64>() / n;
            let error = (squares.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / n / n).sqrt();
            assert!(
                (mean - expected).abs() <= SIGMAS * error,
                "{text} {form:?}: {mean} ± {error}, not {expected}"
            );
            assert!((mean - 1.3 * expected).abs() > SIGMAS * error, "no power");
        }
    }
}

/// Exact maps reproduce the kernel to rounding, and so do landmarks at every row.
#[test]
fn exact_maps_are_exact() {
    let (x, _) = rows(40);
    let view = Rows::from(&x);
    let mut count = 0;
    for text in LEAVES
        .into_iter()
        .chain(EXPRESSIONS)
        .chain(["weighted(norm,linear)*normalised(poly(degree=2,c=1))[1..4]"])
    {
        let kernel: Kernel = text.parse().unwrap();
        let spec = MapSpec { kernel: kernel.clone(), method: Method::Exact, features: 1, seed: 0 };
        let gram = kernel.gram(&view, &view).unwrap();
        let size = gram.as_slice().iter().copied().fold(0.0, f64::max);
        if let Ok(map) = spec.build(INPUTS) {
            let z = map.transform(&engine(1), &view).unwrap();
            let found: Vec<f64> = (0..1600).map(|p| inner(&z, p / 40, p % 40)).collect();
            assert_close(&found, gram.as_slice(), Absolute(1e-12 * size));
            count += 1;
        }
        let method = Method::Landmarks { whiten: true, tolerance: 1e-13, choice: Choice::Uniform };
        let spec = MapSpec { kernel, method, features: 40, seed: 0 };
        let map = spec.fit_at(&Engine::default(), &view).unwrap();
        let z = map.transform(&engine(1), &view).unwrap();
        let found: Vec<f64> = (0..1600).map(|p| inner(&z, p / 40, p % 40)).collect();
        assert_close(&found, gram.as_slice(), Absolute(1e-6 * size));
    }
    assert!(count >= 12, "{count} kernels have exact maps");
}

/// The Gaussian's series: the error is below the certificate's bound, and each degree is better than the last.
#[test]
fn the_series_is_within_its_bound() {
    let x = Matrix::from_fn(30, 2, |i, j| ((i * 5 + 3 * j) as f64).sin() * 1.2);
    let view = Rows::from(&x);
    let kernel: Kernel = "gaussian(sigma=[1,1.5])".parse().unwrap();
    let exact = kernel.gram(&view, &view).unwrap();
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
        let exact = kernel.gram(&view, &view).unwrap();
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

/// Heavy tails: phases of many thousand turns, yet single precision follows double. Without reduction in double precision, errors of 1e-2 and more are everywhere.
#[test]
fn heavy_tails_keep_their_accuracy_in_single_precision() {
    let (x, _) = rows(40);
    // Numbers that both precisions have.
    let x = Matrix::from_fn(40, INPUTS, |i, j| f64::from((100.0 * x.row(i)[j]) as f32));
    let lone = crate::table::single(&x);
    for text in ["laplace(scale=5)", "exponential(scale=5)", "matern(nu=0.5,scale=5)", "hat(width=50)"] {
        let kernel: Kernel = text.parse().unwrap();
        let spec = MapSpec { features: 4096, seed: 3, ..MapSpec::fourier(kernel) };
        let map = spec.build(INPUTS).unwrap();
        let a = map.transform(&engine(1), &Rows::from(&x)).unwrap();
        let b = map.transform(&engine(1), &Rows::from(&lone)).unwrap();
        for p in 0..1600 {
            let (i, j) = (p / 40, p % 40);
            let (double, single) = (inner(&a, i, j), inner(&b, i, j));
            assert!((double - single).abs() < 2e-3, "{text}: {double} and {single}");
        }
        assert!(a.as_slice().iter().all(|z| z.is_finite()) && b.as_slice().iter().all(|z| z.is_finite()));
    }
}

#[test]
fn explanations_add_up() {
    let kernel: Kernel =
        "0.7*gaussian(sigma=2)[0,1] + laplace(scale=3)*poly(degree=2,c=1)[2..4] + linear".parse().unwrap();
    let spec = MapSpec { features: 1000, ..MapSpec::auto(kernel) };
    assert_eq!(spec.method, Method::Compiled { bins: None });
    let recipe = spec.recipe(INPUTS).unwrap().unwrap();
    assert_eq!(recipe.parts().iter().map(|part| part.features).sum::<usize>(), recipe.features);
    assert!(recipe.features <= 1000 && recipe.features > 980, "{}", recipe.features);
    let text = recipe.to_string();
    for expected in [
        "├─ 0.7*gaussian(sigma=2)[0,1]",
        "orthogonal frequencies",
        "all products of",
        "its own features, exactly",
        "no variance",
        "linear  ─  its own features, exactly: 7 features (1 %)",
    ] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
    // The shares make the sum of variances smallest: moving a tenth from one to another does not help.
    let two: Kernel = "3*gaussian(sigma=2) + laplace(scale=3)".parse().unwrap();
    let recipe = MapSpec { features: 400, ..MapSpec::auto(two) }.recipe(INPUTS).unwrap().unwrap();
    let shares: Vec<usize> = recipe.parts().iter().map(|part| part.features).collect();
    assert_eq!(shares, [300, 100]);
    let variance = |a: f64, b: f64| 9.0 / a + 1.0 / b;
    assert_close(&[recipe.variance().unwrap()], &[variance(300.0, 100.0)], Relative(1e-12));
    assert!(
        variance(310.0, 90.0) > variance(300.0, 100.0) && variance(290.0, 110.0) > variance(300.0, 100.0)
    );
}

#[test]
fn what_has_no_map_is_refused_with_the_part_and_the_way_out() {
    let message = |text: &str, method| {
        let spec = MapSpec { kernel: text.parse().unwrap(), method, features: 64, seed: 0 };
        spec.build(INPUTS).unwrap_err().to_string()
    };
    let fourier = |draw| Method::Fourier { form: FourierForm::Pairs, draw };
    let text = message(
        "gaussian(sigma=1)*(laplace(scale=2) + poly(degree=2,c=1))",
        fourier(FrequencyDraw::Independent),
    );
    assert!(text.contains("a Fourier map of poly(degree=2,c=1)") && text.contains("landmarks"), "{text}");
    let text = message("linear*gaussian(sigma=1)", Method::Exact);
    assert!(text.contains("an exact map of gaussian(sigma=1)") && text.contains("infinitely many"), "{text}");
    let text = message("laplace(scale=1)", fourier(FrequencyDraw::Orthogonal));
    assert!(text.contains("no isotropic law"), "{text}");
    let text = message("gaussian(sigma=1)", fourier(FrequencyDraw::Structured));
    assert!(text.contains("padded to fewer than 64"), "{text}");
    let text = message("gaussian(sigma=1)", Method::Binning { bins: Bins::Hashed { width: 4 } });
    assert!(text.contains("not convex near zero"), "{text}");
    let text = message("laplace(scale=1)", Method::Taylor { degree: 2 });
    assert!(text.contains("series of the Gaussian"), "{text}");
    let text = message("all_subsets*poly(degree=64,c=1)*poly(degree=64,c=1)", Method::Exact);
    assert!(text.contains("needs") && text.contains("memory"), "{text}");
}

/// Objects that are no rows: strings, by the letters they share.
#[test]
fn objects_have_features_too() {
    let words: Vec<String> =
        ["abba", "baba", "cab", "dad", "add", "bad", "dab", "acab"].map(str::to_owned).to_vec();
    let letters = |a: &String, b: &String| {
        ('a'..='d').map(|c| (a.matches(c).count() * b.matches(c).count()) as f64).sum::<f64>()
    };
    let engine = engine(1);
    for choice in [Choice::Uniform, Choice::KMeansPlusPlus, Choice::Leverage, Choice::Cholesky] {
        let map = ObjectMap::fit(&engine, letters, &words, 8, choice, 3).unwrap();
        assert!(map.output_dim() <= 4, "four letters have four dimensions");
        let z = map.transform(&engine, &words).unwrap();
        for i in 0..8 {
            for j in 0..8 {
                assert_close(&[inner(&z, i, j)], &[letters(&words[i], &words[j])], Absolute(1e-9));
            }
        }
        assert!(map.residuals(&engine, &words).unwrap().iter().all(|r| *r < 1e-9));
    }
    assert!(ObjectMap::fit(&engine, letters, &[], 8, Choice::Uniform, 3).is_err());
    assert!(ObjectMap::fit(&engine, letters, &words, 8, Choice::Given, 3).is_err());
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

#[test]
fn maps_with_waves_in_their_grids_save_and_are_sparse() {
    let (x, sparse) = rows(80);
    let kernel: Kernel = "laplace(scale=6)[0..3]*gaussian(sigma=3)*hat(width=20)[5]".parse().unwrap();
    for bins in [Bins::Fitted, Bins::Hashed { width: 3 }] {
        let spec =
            MapSpec { kernel: kernel.clone(), method: Method::Binning { bins }, features: 40, seed: 2 };
        let map: Map = spec.fit(&Engine::default(), &sample(Rows::from(&x), 1)).unwrap();
        assert_eq!(map.output_dim() % 2, 0);
        let dense = map.transform(&engine(2), &Rows::from(&x)).unwrap();
        let csr = map.transform_sparse(&engine(2), &Rows::from(&sparse)).unwrap();
        let found = Matrix::from_fn(80, map.output_dim(), |i, j| {
            let (indices, values) = csr.view().row(i);
            indices.binary_search(&(j as u32)).map_or(0.0, |at| values[at])
        });
        assert_close(found.as_slice(), dense.as_slice(), Absolute(1e-12));
    }
    let spec = MapSpec {
        kernel: kernel.clone(),
        method: Method::Binning { bins: Bins::Fitted },
        features: 4000,
        seed: 2,
    };
    let map = spec.fit(&Engine::default(), &sample(Rows::from(&x), 1)).unwrap();
    let z = map.transform(&engine(2), &Rows::from(&x)).unwrap();
    let view = Rows::from(&x);
    let worst = (0..6400)
        .map(|p| (inner(&z, p / 80, p % 80) - kernel.eval(&view, p / 80, &view, p % 80)).abs())
        .fold(0.0, f64::max);
    // √(2·ln(6400²/1e-9)/4000) = 0.14
    assert!(worst < 0.14, "{worst}");
}

/// Leaves of moderate width for rows of three entries that are not negative.
fn leaf() -> impl Strategy<Value = Kernel> {
    let width = || 0.7f64..5.0;
    prop_oneof![
        Just(Kernel::Constant),
        Just(Kernel::Linear),
        Just(Kernel::AllSubsets),
        Just(Kernel::Chi2),
        Just(Kernel::Intersection),
        width().prop_map(Kernel::gaussian),
        width().prop_map(Kernel::laplace),
        width().prop_map(Kernel::exponential),
        width().prop_map(|w| Kernel::hat(2.0 * w)),
        width().prop_map(|w| Kernel::Cauchy { scale: w.into() }),
        width().prop_map(|w| Kernel::Sinc { scale: w.into() }),
        width().prop_map(|w| Kernel::RadialSinc { scale: w.into() }),
        (0.3f64..4.0, width()).prop_map(|(nu, w)| Kernel::matern(nu, w)),
        (0.3f64..4.0, width()).prop_map(|(alpha, w)| Kernel::RationalQuadratic { alpha, scale: w.into() }),
        (0.1f64..1.0).prop_map(|gamma| Kernel::ExponentialChi2 { gamma }),
        (0u32..3).prop_map(|order| Kernel::ArcCosine { order }),
        (1u32..4, 0.0f64..1.0).prop_map(|(degree, c)| Kernel::polynomial(degree, c)),
        (width(), 0usize..3).prop_map(|(w, j)| Kernel::gaussian(w).on([j]).unwrap()),
        (width(), width()).prop_map(|(a, b)| Kernel::laplace(vec![a, b]).on([2usize, 0]).unwrap()),
    ]
}

fn expression() -> impl Strategy<Value = Kernel> {
    leaf().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (0.2f64..3.0, inner.clone()).prop_map(|(c, k)| c * k),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Kernel::sum),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Kernel::product),
            inner.clone().prop_map(|k| k.scaled(0.3).exp()),
            inner.clone().prop_map(|k| (k + Kernel::Constant).normalised()),
            inner.prop_map(|k| k.weighted(bochner::kernel::FunctionName::Decay)),
        ]
    })
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

/// Landmarks for a margin: two blobs that the Gaussian separates with margin γ (found by an exact machine) are separated by the plain kernel values at m landmarks but for a part ε, in a
/// share 1 − δ of 40 draws; one landmark would not do.
#[test]
fn landmarks_keep_a_margin() {
    let n = 300;
    let draws = bochner_testkit::normals(n, 2, 5);
    let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
    let x = Matrix::from_fn(n, 2, |i, j| 0.5 * draws[2 * i + j] + 2.0 * sign(i));
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
    assert!(margin > 0.2, "{margin}");
    let (epsilon, delta) = (0.2, 0.2);
    let m = landmarks_for_margin(margin, epsilon, delta).unwrap();
    let labels = Labels::new(LabelKind::Text, vec!["-".into(), "+".into()]);
    let y = Matrix::from_fn(n, 1, |i, _| f64::from(u8::from(sign(i) > 0.0)));
    let fails = (0..40).filter(|&seed| {
        let method = Method::Landmarks { whiten: false, tolerance: 1e-7, choice: Choice::Uniform };
        let map = MapSpec { kernel: kernel.clone(), method, features: m.min(n), seed };
        let arrays =
            Arrays::new(Rows::from(&x), y.view(), None, Target::Classes { labels: labels.clone() }).unwrap();
        let svm = Svm { lambda: Lambda::Given { value: 1e-9 }, ..Svm::new(map) };
        let model = svm.fit(&engine(1), &arrays).unwrap();
        let scores = model.decide(&engine(1), Rows::from(&x)).unwrap();
        let wrong = (0..n).filter(|&i| scores.row(i)[0] * sign(i) <= 0.0).count();
        wrong as f64 > epsilon * n as f64
    });
    assert!(binomial_lower(fails.count(), 40, 1e-9) <= delta);
}

/// Products of sums, of constants, and everything else: sixteen times the features make the error a quarter; less than 0.7 of it is asked for, as tails are heavy. A part that does not average over all
/// draws would not fall.
#[test]
fn errors_fall_with_the_number_of_features() {
    /// The errors of one map rise and fall together: fewer seeds would be noise.
    const SEEDS: u64 = 12;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let n = 30;
    let x = Matrix::from_fn(n, 3, |i, j| ((i * 7 + j * 3) as f64 * 0.61).sin().abs() * 1.2);
    let view = Rows::from(&x);
    let mut kernels: Vec<Kernel> = [
        "(constant + gaussian(sigma=1))*arc_cosine(order=1)",
        "exp(constant)*linear",
        "(laplace(scale=2) + 2*gaussian(sigma=1))*chi2",
        "all_subsets*(constant + linear)*exponential(scale=1)",
    ]
    .map(|text| text.parse().unwrap())
    .to_vec();
    kernels.extend((0..60).map(|_| expression().new_tree(&mut runner).unwrap().current()));
    let mut fell = 0;
    for kernel in kernels {
        let error = |features: usize| -> Option<f64> {
            let mut sum = 0.0;
            for seed in 0..SEEDS {
                let method = Method::Compiled { bins: None };
                let spec = MapSpec { kernel: kernel.clone(), method, features, seed };
                let recipe = spec.recipe(3).unwrap().unwrap();
                if !is_unbiased(&recipe) {
                    return None;
                }
                let map = spec.build(3).unwrap();
                let z = map.transform(&engine(1), &view).unwrap();
                let wrong =
                    |p: usize| (inner(&z, p / n, p % n) - kernel.eval(&view, p / n, &view, p % n)).abs();
                sum += (0..n * n).map(wrong).sum::<f64>() / (SEEDS as usize * n * n) as f64;
            }
            Some(sum)
        };
        let size = kernel.diagonal(&view).into_iter().fold(0.0, f64::max);
        let (Some(few), Some(many)) = (error(200), error(3200)) else { continue };
        assert!(many < 0.7 * few || many < 1e-9 * (1.0 + size), "{kernel}: {few} and {many}");
        fell += usize::from(few > 1e-9 * (1.0 + size));
    }
    assert!(fell > 20, "{fell}");
}

/// The laws of `laws.rs` for structured frequencies, which need more columns than the table has.
#[test]
fn structured_maps_obey_the_laws() {
    let (n, d) = (150, 40);
    let (starts, indices, values) = bochner_testkit::sparse(n, d, 0.5, 3);
    let dense = Matrix::new(n, d, bochner_testkit::densify(&starts, &indices, &values, d)).unwrap();
    let sparse = Csr::new(d, starts, indices, values).unwrap();
    for text in ["gaussian(sigma=3)", "matern(nu=1.5,scale=4)", "exponential(scale=5)[3..39]"] {
        for form in [FourierForm::Pairs, FourierForm::Offset] {
            let method = Method::Fourier { form, draw: FrequencyDraw::Structured };
            let spec = MapSpec { kernel: text.parse().unwrap(), method, features: 150, seed: 4 };
            let map = spec.build(d).unwrap();
            let one = map.transform(&engine(1), &Rows::from(&dense)).unwrap();
            assert_same_bits(
                map.transform(&engine(7), &Rows::from(&dense)).unwrap().as_slice(),
                one.as_slice(),
            );
            let other = map.transform(&engine(2), &Rows::from(&sparse)).unwrap();
            assert_close(other.as_slice(), one.as_slice(), Absolute(1e-12));
            let part = map.transform(&engine(1), &Rows::from(&dense).slice(17..83)).unwrap();
            assert_same_bits(part.as_slice(), &one.as_slice()[17 * 150..83 * 150]);
            let sample = sample(Rows::from(&dense), 1);
            let certificate = Certificate::measure(&Engine::default(), &map, &sample).unwrap();
            assert!(certificate.to_string().contains("i.i.d. reference"), "{certificate}");
            let loaded = Model::from_bytes(&Model::of_map(map, certificate).to_bytes().unwrap()).unwrap();
            assert_same_bits(
                loaded.map().transform(&engine(1), &Rows::from(&dense)).unwrap().as_slice(),
                one.as_slice(),
            );
            let lone = crate::table::single(&dense);
            let single = loaded.map().transform(&engine(1), &Rows::from(&lone)).unwrap();
            let single: Vec<f64> = single.as_slice().iter().map(|z| f64::from(*z)).collect();
            assert_close(&single, one.as_slice(), Absolute(1e-3));
        }
    }
}

/// A model predicts the same for dense and for sparse rows, whatever its map, and whichever it was fitted to.
#[test]
fn predictions_do_not_depend_on_how_rows_are_stored() {
    let n = 60;
    let (dense, sparse) = rows(n);
    let y = Matrix::from_fn(n, 1, |i, _| dense.row(i).iter().sum::<f64>().sin());
    let target = Target::Numbers { outputs: 1 };
    for spec in specs() {
        let fit = |rows: Rows<'_, f64>| {
            let arrays = Arrays::new(rows, y.view(), None, target.clone()).unwrap();
            let map = MapSpec { features: spec.features.min(30), ..spec.clone() };
            let ridge = Ridge { map, lambda: Lambda::Given { value: 1e-2 }, intercept: true };
            ridge.fit(&engine(1), &arrays).unwrap_or_else(|error| panic!("{spec:?}: {error}"))
        };
        let (a, b) = (fit(Rows::from(&dense)), fit(Rows::from(&sparse)));
        let expected = a.decide(&engine(1), Rows::from(&dense)).unwrap();
        let size = expected.as_slice().iter().fold(1.0f64, |most, p| most.max(p.abs()));
        for found in [
            a.decide(&engine(1), Rows::from(&sparse)).unwrap(),
            b.decide(&engine(1), Rows::from(&dense)).unwrap(),
            b.decide(&engine(1), Rows::from(&sparse)).unwrap(),
        ] {
            assert_close(found.as_slice(), expected.as_slice(), Absolute(1e-6 * size));
        }
    }
}

/// Small texts that ask for unbounded work are refused, and quickly.
#[test]
fn expressions_of_unbounded_work_are_refused() {
    let mut nested = "gaussian(sigma=1)".to_owned();
    (0..8).for_each(|_| nested = format!("normalised(exp(8*{nested}))"));
    for text in [
        "exp(701*gaussian(sigma=1))",
        "normalised(exp(1e12*gaussian(sigma=1)))",
        &nested,
        "exp(exp(exp(exp(2*hat(width=1)))))",
    ] {
        let error = text.parse::<Kernel>().unwrap_err().to_string();
        assert!(error.contains("exp(K)") || error.contains("nested exponentials"), "{text}: {error}");
    }
    let close: Kernel = "normalised(exp(600*gaussian(sigma=1)))".parse().unwrap();
    let x = Matrix::new(2, 1, vec![0.0, 0.05]).unwrap();
    let gram = close.gram(&Rows::from(&x), &Rows::from(&x)).unwrap();
    assert_close(&[gram.row(0)[1]], &[(600.0 * ((-0.00125f64).exp() - 1.0)).exp()], Relative(1e-9));
    // Normalised by exponents: no infinity over infinity.
    let linear: Kernel = "normalised(exp(linear))".parse().unwrap();
    let far = Matrix::new(2, 1, vec![100.0, 100.5]).unwrap();
    let gram = linear.gram(&Rows::from(&far), &Rows::from(&far)).unwrap();
    assert_close(&[gram.row(0)[1]], &[(-0.125f64).exp()], Relative(1e-9));
    let over: Kernel = "exp(linear)".parse().unwrap();
    assert!(
        over.gram(&Rows::from(&far), &Rows::from(&far))
            .unwrap_err()
            .to_string()
            .contains("the kernel values")
    );
    for (length, order) in [(1e-90, 0), (1e90, 0), (1e-90, 1)] {
        let kernel = Kernel::ArcCosine { order };
        let x = Matrix::new(1, 1, vec![length]).unwrap();
        let found = kernel.eval(&Rows::from(&x), 0, &Rows::from(&x), 0);
        assert_close(&[found], &[if order == 0 { 1.0 } else { length * length }], Relative(1e-12));
    }
}

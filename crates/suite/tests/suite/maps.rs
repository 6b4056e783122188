//! Statistics of every map over the table: means, variances, exactness, and the laws of those that the table has no room for.

use crate::compile::is_unbiased;
use crate::table::{EXPRESSIONS, INPUTS, LEAVES, engine, inner, rows, sample, specs};
use bochner::certify::{Certificate, fourier_variance};
use bochner::map::ObjectMap;
use bochner::{
    Arrays, Bins, Choice, Csr, Engine, FourierForm, FrequencyDraw, Kernel, Lambda, Map, MapSpec, Matrix,
    Method, Model, Ridge, Rows, Target,
};
use bochner_testkit::{Absolute, assert_close, assert_same_bits};

/// Standard errors that a mean may be off: a right one fails with probability 8e-11, as far as it is normal.
const SIGMAS: f64 = 6.5;

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

/// The five draws of frequencies have the law of each shift-invariant kernel, structured ones up to their bias of 4e-4 from 64 padded columns on. α as above.
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
                FrequencyDraw::Turned,
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
                let few =
                    text.contains('[') && matches!(draw, FrequencyDraw::Turned | FrequencyDraw::Structured);
                let refused = draw.needs_isotropy() && !isotropic;
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
        let gram = kernel.gram(&Engine::default(), &view, &view).unwrap();
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

/// Heavy tails have phases of many thousand turns, yet single precision follows double.
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

/// The laws of `laws.rs` for turned and structured frequencies, which need more columns than the table has.
#[test]
fn maps_of_transforms_obey_the_laws() {
    let (n, d) = (150, 40);
    let (starts, indices, values) = bochner_testkit::sparse(n, d, 0.5, 3);
    let dense = Matrix::new(n, d, bochner_testkit::densify(&starts, &indices, &values, d)).unwrap();
    let sparse = Csr::new(d, starts, indices, values).unwrap();
    for text in ["gaussian(sigma=3)", "matern(nu=1.5,scale=4)", "exponential(scale=5)[3..39]"] {
        use FourierForm::{Offset, Pairs};
        use FrequencyDraw::{Structured, Turned};
        for (form, draw) in [(Pairs, Structured), (Offset, Structured), (Pairs, Turned), (Offset, Turned)] {
            let method = Method::Fourier { form, draw };
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
            let loaded =
                Model::from_bytes(&Model::of_map(&engine(1), map, certificate).to_bytes().unwrap()).unwrap();
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
            let ridge = Ridge { lambda: Lambda::Given { value: 1e-2 }, ..Ridge::new(map) };
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

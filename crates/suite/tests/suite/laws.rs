//! Laws that every map and every model obeys, over the table of all kernels and maps.

use crate::table::{INPUTS, engine, fitted, rows, sample, single, specs};
use bochner::certify::Certificate;
use bochner::encode::Precision;
use bochner::{
    Arrays, Auto, Csr, Engine, Kernel, LabelKind, Labels, Lambda, MapSpec, Matrix, MatrixView, Method,
    MetricChoice, Model, Ridge, Rows, Target,
};
use bochner_testkit::{
    Absolute, assert_close, assert_same_bits, assert_same_bits_f32, classification, regression,
};

#[test]
fn features_have_the_shape_that_the_map_says() {
    for spec in specs() {
        let map = fitted(&spec);
        assert_eq!(map.input_dim(), INPUTS);
        let own_size = matches!(spec.method, Method::Exact | Method::Taylor { .. });
        assert!(own_size || spec.is_sparse() || map.output_dim() <= spec.features, "{spec:?}");
        if !spec.needs_sample() {
            assert_eq!(map.output_dim(), spec.output_dim(INPUTS), "{spec:?}");
        }
        for n in [0, 1, 2, 65] {
            let features = map.transform(&engine(2), &Rows::from(&rows(n).0)).unwrap();
            assert_eq!((features.rows(), features.columns()), (n, map.output_dim()), "{spec:?}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_and_another_one_does_not() {
    let (x, _) = rows(20);
    for spec in specs() {
        let features = |spec: &MapSpec| fitted(spec).transform(&engine(1), &Rows::from(&x)).unwrap();
        assert_same_bits(features(&spec).as_slice(), features(&spec).as_slice());
        let has_chance = spec.recipe(INPUTS).unwrap().is_none_or(|recipe| recipe.variance() != Some(0.0));
        if has_chance && spec.kernel != Kernel::Constant {
            let other = MapSpec { seed: spec.seed + 1, ..spec.clone() };
            assert_ne!(features(&other).as_slice(), features(&spec).as_slice(), "{spec:?}");
        }
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let (x, _) = rows(333);
    for spec in specs() {
        let map = fitted(&spec);
        let one = map.transform(&engine(1), &Rows::from(&x)).unwrap();
        for threads in [2, 7] {
            assert_same_bits(
                map.transform(&engine(threads), &Rows::from(&x)).unwrap().as_slice(),
                one.as_slice(),
            );
        }
    }
}

#[test]
fn sparse_rows_give_the_features_of_their_dense_form() {
    let (dense, sparse) = rows(80);
    for spec in specs() {
        let map = fitted(&spec);
        let a = map.transform(&engine(2), &Rows::from(&dense)).unwrap();
        let b = map.transform(&engine(2), &Rows::from(&sparse)).unwrap();
        // Whitening divides by √tolerance what rounding leaves of kernel values.
        assert_close(b.as_slice(), a.as_slice(), Absolute(1e-10));
    }
}

#[test]
fn maps_fitted_to_sparse_rows_are_those_fitted_to_their_dense_form() {
    let (dense, sparse) = rows(60);
    for spec in specs() {
        let a = spec.fit(&Engine::default(), &sample(Rows::from(&dense), 9)).unwrap();
        let b = spec.fit(&Engine::default(), &sample(Rows::from(&sparse), 9)).unwrap();
        let features = |map: &bochner::Map| map.transform(&engine(1), &Rows::from(&dense)).unwrap();
        assert_same_bits(features(&a).as_slice(), features(&b).as_slice());
    }
}

#[test]
fn blocks_of_rows_give_the_features_of_the_whole() {
    let (x, _) = rows(67);
    for spec in specs() {
        let map = fitted(&spec);
        let whole = map.transform(&engine(1), &Rows::from(&x)).unwrap();
        let width = map.output_dim();
        for (start, end) in [(0, 1), (1, 2), (5, 38), (66, 67), (0, 66)] {
            let part = map.transform(&engine(1), &Rows::from(&x).slice(start..end)).unwrap();
            assert_same_bits(part.as_slice(), &whole.as_slice()[start * width..end * width]);
        }
        let lone = single(&x);
        let whole = map.transform(&engine(1), &Rows::from(&lone)).unwrap();
        for i in [0, 40, 66] {
            let part = map.transform(&engine(1), &Rows::from(&lone).slice(i..i + 1)).unwrap();
            assert_same_bits_f32(part.as_slice(), whole.row(i));
        }
    }
}

#[test]
fn single_precision_follows_double() {
    let (x, _) = rows(80);
    for spec in specs() {
        let map = fitted(&spec);
        let a = map.transform(&engine(1), &Rows::from(&x)).unwrap();
        let b = map.transform(&engine(1), &Rows::from(&single(&x))).unwrap();
        let inner = |f: &dyn Fn(usize, usize) -> f64, i: usize, j: usize| -> f64 {
            (0..map.output_dim()).map(|c| f(i, c) * f(j, c)).sum()
        };
        for (i, j) in [(0, 0), (0, 1), (5, 70), (33, 34)] {
            let double = inner(&|i, c| a.row(i)[c], i, j);
            let single = inner(&|i, c| f64::from(b.row(i)[c]), i, j);
            let size = inner(&|i, c| a.row(i)[c], i, i).max(inner(&|i, c| a.row(i)[c], j, j));
            assert!((double - single).abs() < 2e-4 * (1.0 + size), "{double} and {single} of {spec:?}");
        }
    }
}

#[test]
fn saving_and_loading_gives_the_same_features() {
    let (x, _) = rows(40);
    let sample = sample(Rows::from(&x), 1);
    for spec in specs() {
        let map = spec.fit(&Engine::default(), &sample).unwrap();
        let features = map.transform(&engine(1), &Rows::from(&x)).unwrap();
        let certificate = Certificate::measure(&Engine::default(), &map, &sample).unwrap();
        let bytes = Model::of_map(&engine(1), map, certificate.clone()).to_bytes().unwrap();
        let loaded = Model::from_bytes(&bytes).unwrap();
        assert_same_bits(
            loaded.map().transform(&engine(1), &Rows::from(&x)).unwrap().as_slice(),
            features.as_slice(),
        );
        assert_eq!(loaded.certificate(), &certificate);
        assert_eq!(loaded.to_bytes().unwrap(), bytes, "{spec:?}");
    }
}

/// |k − k̂| ≤ √(r(x)r(y)) on rows that were no landmarks: deterministic.
#[test]
fn the_residual_bounds_the_error_of_landmarks() {
    let (x, _) = rows(120);
    for spec in
        specs().into_iter().filter(|s| matches!(s.method, bochner::Method::Landmarks { whiten: true, .. }))
    {
        let map = fitted(&spec);
        let z = map.transform(&engine(1), &Rows::from(&x)).unwrap();
        let inner = |i: usize, j: usize| z.row(i).iter().zip(z.row(j)).map(|(a, b)| a * b).sum::<f64>();
        let exact = |i, j| spec.kernel.eval(&Rows::from(&x), i, &Rows::from(&x), j);
        let residual = |i| exact(i, i) - inner(i, i);
        let size = (0..120).map(|i| exact(i, i)).fold(1.0, f64::max);
        let mut some_error = false;
        for i in 0..120 {
            assert!(residual(i) > -1e-9 * size, "{} at {i} of {spec:?}", residual(i));
            for j in 0..i {
                let error = (exact(i, j) - inner(i, j)).abs();
                let bound = (residual(i).max(0.0) * residual(j).max(0.0)).sqrt();
                assert!(error <= bound + 1e-9 * size, "{error} > {bound} of {spec:?}");
                some_error |= error > 1e-3;
            }
        }
        // Kernels of few features are explained by 30 landmarks.
        assert!(some_error || map.output_dim() < 30, "the test has no power for {spec:?}");
    }
}

/// With every row a landmark, F₂ reproduces the Gram matrix up to the tolerance.
#[test]
fn all_rows_as_landmarks_reproduce_the_kernel() {
    let (x, _) = rows(60);
    for kernel in [Kernel::Linear, Kernel::gaussian(1.0), Kernel::laplace(2.0)] {
        let method =
            bochner::Method::Landmarks { whiten: true, tolerance: 1e-12, choice: Default::default() };
        let spec = MapSpec { kernel: kernel.clone(), method, features: 60, seed: 0 };
        let map = spec.fit(&Engine::default(), &sample(Rows::from(&x), 0)).unwrap();
        let z = map.transform(&engine(1), &Rows::from(&x)).unwrap();
        let gram = kernel.gram(&Engine::default(), &Rows::from(&x), &Rows::from(&x)).unwrap();
        let approximate =
            Matrix::from_fn(60, 60, |i, j| z.row(i).iter().zip(z.row(j)).map(|(a, b)| a * b).sum());
        assert_close(approximate.as_slice(), gram.as_slice(), Absolute(1e-9));
        if kernel == Kernel::Linear {
            assert_eq!(map.output_dim(), INPUTS, "the rank of the rows");
        }
    }
}

fn model(x: Rows<'_, f64>, y: &Matrix<f64>, target: &Target, threads: usize, lambda: Lambda) -> Model {
    let map = MapSpec { features: 40, seed: 5, ..MapSpec::auto(Kernel::gaussian(2.0)) };
    let arrays = Arrays::new(x, y.view(), None, target.clone()).unwrap();
    Ridge { lambda, ..Ridge::new(map) }.fit(&engine(threads), &arrays).unwrap()
}

/// Also for one target, and when the last block has a single row.
#[test]
fn models_have_the_same_bytes_for_any_number_of_threads() {
    for (n, targets) in [(4097, 1), (500, 3), (8192, 2), (1, 1)] {
        let (x, y) = regression(n, INPUTS, targets, 7);
        let (x, y) = (Matrix::new(n, INPUTS, x).unwrap(), Matrix::new(n, targets, y).unwrap());
        let lone = single(&x);
        let target = Target::Numbers { outputs: targets };
        let lambda = if n == 1 { Lambda::Given { value: 0.1 } } else { Lambda::CrossValidated { folds: 3 } };
        let bytes = |threads| model(Rows::from(&x), &y, &target, threads, lambda).to_bytes().unwrap();
        let one = bytes(1);
        assert!(one == bytes(2) && one == bytes(7), "n = {n}, {targets} targets");
        let fit = |threads| {
            let map = MapSpec { features: 40, seed: 5, ..MapSpec::auto(Kernel::gaussian(2.0)) };
            let arrays = Arrays::new(Rows::from(&lone), y.view(), None, target.clone()).unwrap();
            Ridge { lambda, ..Ridge::new(map) }.fit(&engine(threads), &arrays).unwrap().to_bytes().unwrap()
        };
        let one = fit(1);
        assert!(one == fit(2) && one == fit(7), "single precision, n = {n}, {targets} targets");
    }
}

/// Landmarks are factored by blocks of 64, sums have several tiles: everything that threads share.
#[test]
fn large_landmark_models_have_the_same_bytes_for_any_number_of_threads() {
    let (x, y) = regression(2500, INPUTS, 1, 17);
    let (x, y) = (Matrix::new(2500, INPUTS, x).unwrap(), y);
    let bytes = |threads| {
        let map = MapSpec { features: 300, seed: 5, ..MapSpec::landmarks(Kernel::laplace(8.0)) };
        Ridge::new(map).fit(&engine(threads), &(&x, &y)).unwrap().to_bytes().unwrap()
    };
    let one = bytes(1);
    assert!(one == bytes(2) && one == bytes(7));
}

/// One target and several panels of a factorisation: where a solver may take another way for a single right-hand side.
#[test]
fn large_models_of_one_target_have_the_same_bytes_for_any_number_of_threads() {
    let (x, y) = regression(1500, INPUTS, 1, 18);
    let (x, y) = (Matrix::new(1500, INPUTS, x).unwrap(), y);
    for features in [514, 700] {
        let bytes = |threads| {
            let map = MapSpec { features, seed: 5, ..MapSpec::auto(Kernel::gaussian(2.0)) };
            let ridge = Ridge { lambda: Lambda::Given { value: 1e-4 }, ..Ridge::new(map) };
            ridge.fit(&engine(threads), &(&x, &y)).unwrap().to_bytes().unwrap()
        };
        let one = bytes(1);
        assert!(one == bytes(2) && one == bytes(7), "D = {features}");
    }
}

#[test]
fn a_copy_of_a_map_makes_the_same_features() {
    let (x, _) = rows(20);
    let mut kept = Vec::new();
    for spec in specs() {
        let map = fitted(&spec);
        let features = map.transform(&engine(1), &Rows::from(&x)).unwrap();
        for _ in 0..10 {
            let copy = map.clone();
            assert_same_bits(
                copy.transform(&engine(1), &Rows::from(&x)).unwrap().as_slice(),
                features.as_slice(),
            );
            kept.push(copy); // so that the next one lies elsewhere
        }
    }
}

/// The whole of `Auto`, scaling included: the order of rows changes nothing but the last digits, nor does weighting instead of repeating,
/// nor storing the rows sparse (where nothing is shifted).
#[test]
fn what_auto_chooses_depends_on_content_alone() {
    let (n, targets) = (160, 1);
    let (x, y) = regression(n, INPUTS, targets, 19);
    let (x, y) = (Matrix::new(n, INPUTS, x).unwrap(), Matrix::new(n, 1, y).unwrap());
    let weights: Vec<f64> = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
    let fit = |x: &Matrix<f64>, y: &Matrix<f64>, weights: Option<&[f64]>| {
        let arrays = Arrays::new(Rows::from(x), y.view(), weights, Target::Numbers { outputs: 1 }).unwrap();
        Auto { features: Some(60), ..Auto::default() }.fit(&engine(2), &arrays).unwrap()
    };
    let pick = |order: &[usize]| {
        let take = |m: &Matrix<f64>| Matrix::from_fn(order.len(), m.columns(), |i, j| m.row(order[i])[j]);
        (take(&x), take(&y))
    };
    let weighted = fit(&x, &y, Some(&weights));
    let reversed: Vec<usize> = (0..n).rev().collect();
    let (rx, ry) = pick(&reversed);
    let rw: Vec<f64> = reversed.iter().map(|&i| weights[i]).collect();
    let repeated: Vec<usize> = (0..n).rev().flat_map(|i| std::iter::repeat_n(i, 1 + i % 3)).collect();
    let (px, py) = pick(&repeated);
    for other in [fit(&rx, &ry, Some(&rw)), fit(&px, &py, None)] {
        assert_eq!(other.map().spec(), weighted.map().spec());
        let (a, b) = (weighted.training().unwrap(), other.training().unwrap());
        assert!((a.lambda / b.lambda - 1.0).abs() < 1e-6, "{} and {}", a.lambda, b.lambda);
        let curve = |t: &bochner::model::Training| t.curve.iter().map(|p| p.error).collect::<Vec<_>>();
        assert_close(&curve(a), &curve(b), Absolute(1e-6));
        let (za, zb) =
            (weighted.decide(&engine(1), Rows::from(&x)), other.decide(&engine(1), Rows::from(&x)));
        assert_close(za.unwrap().as_slice(), zb.unwrap().as_slice(), Absolute(1e-6));
    }
}

/// Years, prices, seconds since 1970: the offset of a target must not drown its variation, nor the size of weights.
#[test]
fn offsets_of_targets_and_units_of_weights_do_not_matter() {
    let (x, y) = regression(600, INPUTS, 1, 20);
    let x = Matrix::new(600, INPUTS, x).unwrap();
    let fit = |offset: f64, weight: f64| {
        let shifted = Matrix::new(600, 1, y.iter().map(|y| y + offset).collect()).unwrap();
        let weights = vec![weight; 600];
        let rows = single(&x);
        let target = Target::Numbers { outputs: 1 };
        let arrays = Arrays::new(Rows::from(&rows), shifted.view(), Some(&weights), target).unwrap();
        let map = MapSpec { features: 100, seed: 1, ..MapSpec::auto(Kernel::gaussian(3.0)) };
        let model = Ridge::new(map).fit(&engine(2), &arrays).unwrap();
        let found = model.decide(&engine(1), Rows::from(&rows)).unwrap();
        (model.training().unwrap().lambda, found.as_slice().iter().map(|y| y - offset).collect::<Vec<_>>())
    };
    let (lambda, plain) = fit(0.0, 1.0);
    for (offset, weight) in [(1e6, 1.0), (1.7e9, 1.0), (0.0, 1e-60), (0.0, 1e60)] {
        let (other, found) = fit(offset, weight);
        assert!((lambda / other - 1.0).abs() < 1e-6, "λ = {other}, not {lambda}, at {offset:e}, {weight:e}");
        assert_close(&found, &plain, Absolute(1e-3));
    }
}

/// In single precision a sparse row's distances are differences of large sums: they are taken in double.
#[test]
fn sparse_rows_in_single_precision_keep_their_digits() {
    let (n, d) = (12, 300);
    let dense = Matrix::<f32>::from_fn(n, d, |i, j| 1.0 + 1e-3 * ((i * 31 + j * 17) % 13) as f32);
    let mut sparse = Csr::empty(d);
    (0..n).for_each(|i| sparse.push_row(dense.row(i).iter().enumerate().map(|(j, &x)| (j as u32, x))));
    for kernel in [Kernel::gaussian(0.05), Kernel::laplace(1.0)] {
        let (d, s) = (Rows::from(&dense), Rows::from(&sparse));
        let expected: Vec<f64> = (0..n * n).map(|at| kernel.eval(&d, at / n, &d, at % n)).collect();
        for (x, y) in [(&d, &d), (&s, &d), (&s, &s)] {
            let gram = kernel.gram(&Engine::default(), x, y).unwrap();
            let gram: Vec<f64> = gram.as_slice().iter().map(|&k| f64::from(k)).collect();
            assert_close(&gram, &expected, Absolute(1e-4));
        }
    }
}

/// Columns are scaled in double precision and then rounded: a time in seconds since 1970 keeps its minutes.
#[test]
fn single_precision_comes_after_scaling() {
    let n = 2000;
    let x = Matrix::from_fn(n, 1, |i, _| 1.7e9 + i as f64);
    let y: Vec<f64> = (0..n).map(|i| (i as f64 / 200.0).sin()).collect();
    let error = |precision| {
        let kernel = "gaussian".parse().unwrap();
        let (metric, precision) = (MetricChoice::None, Some(precision));
        let auto = Auto { kernel, features: Some(256), precision, metric, ..Auto::default() };
        let model = auto.fit(&engine(2), &(&x, &y)).unwrap();
        let found = model.decide(&engine(2), Rows::from(&x)).unwrap();
        found.as_slice().iter().zip(&y).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let (single, double) = (error(Precision::Single), error(Precision::Double));
    assert!(single < 2e-2 && single < 3.0 * double + 1e-3, "{single} and {double}");
}

#[test]
fn predictions_of_a_row_do_not_depend_on_threads_or_company() {
    let (x, y) = regression(300, INPUTS, 2, 8);
    let (x, y) = (Matrix::new(300, INPUTS, x).unwrap(), Matrix::new(300, 2, y).unwrap());
    let model = model(Rows::from(&x), &y, &Target::Numbers { outputs: 2 }, 2, Lambda::Given { value: 1e-3 });
    let all = model.decide(&engine(1), Rows::from(&x)).unwrap();
    assert_same_bits(model.decide(&engine(7), Rows::from(&x)).unwrap().as_slice(), all.as_slice());
    for i in [0, 63, 64, 299] {
        let one = model.decide(&engine(2), Rows::from(&x).slice(i..i + 1)).unwrap();
        assert_same_bits(one.as_slice(), all.row(i));
    }
}

#[test]
fn saving_and_loading_a_model_gives_the_same_predictions() {
    let (x, classes) = classification(200, INPUTS, 3, 9);
    let x = Matrix::new(200, INPUTS, x).unwrap();
    let y = Matrix::new(200, 1, classes.iter().map(|&c| f64::from(c)).collect()).unwrap();
    let labels = Labels::new(LabelKind::Text, vec!["a".into(), "été".into(), String::new()]);
    let target = Target::Classes { labels };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.bochner");
    let saved = model(Rows::from(&x), &y, &target, 2, Lambda::CrossValidated { folds: 4 });
    saved.save(&path).unwrap();
    let loaded = Model::load(&path).unwrap();
    let decide = |model: &Model| model.decide(&engine(2), Rows::from(&x)).unwrap();
    assert_same_bits(decide(&loaded).as_slice(), decide(&saved).as_slice());
    assert_eq!(loaded.classes(&decide(&loaded)), saved.classes(&decide(&saved)));
    assert_eq!(loaded.head(), saved.head());
    assert_eq!(loaded.training(), saved.training());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file stays");
    let right =
        loaded.classes(&decide(&loaded)).iter().zip(&classes).filter(|(a, b)| **a == **b as usize).count();
    assert!(right > 180, "{right} of 200");
}

/// A weight of k is the row k times; weight 0 is not there. Folds and samples follow the content, so the whole fit agrees.
#[test]
fn weight_equals_repetition_through_the_whole_fit() {
    let (n, targets) = (90, 2);
    let (x, y) = regression(n, INPUTS, targets, 10);
    // No entry is negative: some kernels want it so.
    let x = Matrix::from_fn(n, INPUTS, |i, j| x[i * INPUTS + j].abs());
    let y = Matrix::new(n, targets, y).unwrap();
    let weights: Vec<f64> = (0..n).map(|i| (i % 3) as f64).collect();
    let repeated: Vec<usize> = (0..n).rev().flat_map(|i| std::iter::repeat_n(i, i % 3)).collect();
    let take = |m: &Matrix<f64>| Matrix::from_fn(repeated.len(), m.columns(), |i, j| m.row(repeated[i])[j]);
    let (rx, ry) = (take(&x), take(&y));
    let target = Target::Numbers { outputs: targets };
    for spec in specs() {
        let spec = MapSpec { features: spec.features.min(20), ..spec };
        let ridge = Ridge { lambda: Lambda::CrossValidated { folds: 4 }, ..Ridge::new(spec.clone()) };
        let weighted = Arrays::new(Rows::from(&x), y.view(), Some(&weights), target.clone()).unwrap();
        let repetition = Arrays::new(Rows::from(&rx), ry.view(), None, target.clone()).unwrap();
        let a = ridge.fit(&engine(2), &weighted).unwrap();
        let b = ridge.fit(&engine(2), &repetition).unwrap();
        let (za, zb) =
            (a.decide(&engine(1), Rows::from(&x)).unwrap(), b.decide(&engine(1), Rows::from(&x)).unwrap());
        assert_close(za.as_slice(), zb.as_slice(), Absolute(1e-7));
        assert_eq!(a.certificate().measured.map(|m| m.pairs), b.certificate().measured.map(|m| m.pairs));
    }
}

#[test]
fn sparse_rows_are_learned_from_as_dense_ones() {
    let (dense, sparse): (Matrix<f64>, Csr<f64>) = rows(150);
    let y = Matrix::from_fn(150, 1, |i, _| dense.row(i).iter().sum::<f64>().sin());
    let target = Target::Numbers { outputs: 1 };
    let lambda = Lambda::CrossValidated { folds: 5 };
    let a = model(Rows::from(&dense), &y, &target, 2, lambda);
    let b = model(Rows::from(&sparse), &y, &target, 2, lambda);
    assert_eq!(a.to_bytes().unwrap(), b.to_bytes().unwrap());
}

#[test]
fn a_view_that_is_too_short_is_refused() {
    assert!(MatrixView::new(&[1.0, 2.0, 3.0], 2, 2).is_err());
}

//! What models say of their own errors: deviations, intervals and sets with their coverage, calibrated probabilities.

use bochner::model::file::FileError;
use bochner::model::{Calibration, Posterior};
use bochner::solve::Hinge;
use bochner::{
    Arrays, Auto, Csr, Engine, EngineSpec, Error, Kernel, KernelChoice, LabelKind, Labels, Lambda, Linear,
    Loss, MapSpec, Matrix, Model, Ridge, Rows, Solver, Source, Target, Uncertainty,
};
use bochner_testkit::{Absolute, Relative, assert_close, hoeffding_radius, normals, uniforms};

use crate::hostile::{forged, mended};
use crate::table::engine;

fn classes(count: usize) -> Target {
    let texts = (0..count).map(|c| c.to_string()).collect();
    Target::Classes { labels: Labels::new(LabelKind::Integer, texts) }
}

fn numbers<'a>(x: &'a Matrix<f64>, y: &'a Matrix<f64>, weights: Option<&'a [f64]>) -> Arrays<'a> {
    Arrays::new(Rows::from(x), y.view(), weights, Target::Numbers { outputs: y.columns() }).unwrap()
}

fn given(value: f64) -> Lambda {
    Lambda::Given { value }
}

fn spec(features: usize) -> MapSpec {
    MapSpec { features, seed: 3, ..MapSpec::auto(Kernel::gaussian(1.0)) }
}

const DEVIATION: Uncertainty = Uncertainty { deviation: true, held_out: None, calibrated: false };

fn held_out(share: f64) -> Uncertainty {
    Uncertainty { held_out: Some(share), ..Uncertainty::default() }
}

/// Rows, and two outputs that depend on them.
fn data(n: usize, seed: u64) -> (Matrix<f64>, Matrix<f64>) {
    let x = Matrix::new(n, 2, normals(n, 2, seed)).unwrap();
    let noise = normals(n, 2, seed + 1);
    let mean = |i: usize| (2.0 * x.row(i)[0]).sin() + 0.5 * x.row(i)[1];
    let y =
        Matrix::from_fn(n, 2, |i, o| 100.0 * o as f64 + mean(i) + (0.2 + 0.3 * o as f64) * noise[2 * i + o]);
    (x, y)
}

/// M⁻¹ by elimination.
fn inverse(m: &[f64], n: usize) -> Vec<f64> {
    let identity: Vec<f64> = (0..n * n).map(|k| f64::from(u8::from(k / n == k % n))).collect();
    bochner_testkit::solve(m, &identity, n, n)
}

/// s² and the variance of the mean, from the design with a column of ones, nothing centred: M = X̃ᵀWX̃ + nλ·diag(1, …, 1, 0), var = s²·x̃ᵀM⁻¹x̃,
/// s² = RSS/(n − tr M⁻¹X̃ᵀWX̃).
fn naive(
    z: &Matrix<f64>,
    y: &Matrix<f64>,
    weights: &[f64],
    new: &Matrix<f64>,
    lambda: f64,
    intercept: bool,
) -> (Vec<f64>, Matrix<f64>) {
    let d = z.columns() + usize::from(intercept);
    let entry = |z: &Matrix<f64>, i: usize, j: usize| if j < z.columns() { z.row(i)[j] } else { 1.0 };
    let n: f64 = weights.iter().sum();
    let sum = |f: &dyn Fn(usize) -> f64| (0..z.rows()).map(|i| weights[i] * f(i)).sum::<f64>();
    let gram: Vec<f64> = (0..d * d).map(|k| sum(&|i| entry(z, i, k / d) * entry(z, i, k % d))).collect();
    let mut m = gram.clone();
    (0..z.columns()).for_each(|j| m[j * d + j] += n * lambda);
    let inverse = inverse(&m, d);
    let freedom: f64 =
        (0..d).map(|i| (0..d).map(|j| inverse[i * d + j] * gram[j * d + i]).sum::<f64>()).sum();
    let noise: Vec<f64> = (0..y.columns())
        .map(|o| {
            let side: Vec<f64> = (0..d).map(|j| sum(&|i| entry(z, i, j) * y.row(i)[o])).collect();
            let c: Vec<f64> = (0..d).map(|i| (0..d).map(|j| inverse[i * d + j] * side[j]).sum()).collect();
            let rss = sum(&|i| (y.row(i)[o] - (0..d).map(|j| c[j] * entry(z, i, j)).sum::<f64>()).powi(2));
            rss / (n - freedom)
        })
        .collect();
    let leverage = |i: usize| -> f64 {
        let x: Vec<f64> = (0..d).map(|j| entry(new, i, j)).collect();
        (0..d).map(|a| (0..d).map(|b| x[a] * inverse[a * d + b] * x[b]).sum::<f64>()).sum()
    };
    let mean = Matrix::from_fn(new.rows(), noise.len(), |i, o| noise[o] * leverage(i));
    (noise, mean)
}

#[test]
fn deviations_are_those_of_the_textbook() {
    let ((x, y), (new, _)) = (data(70, 1), data(9, 5));
    let weights: Vec<f64> = (0..70).map(|i| [1.0, 2.5, 0.0, 0.5][i % 4]).collect();
    for intercept in [true, false] {
        for lambda in [1e-4, 1e-1] {
            let ridge = Ridge { map: spec(12), lambda: given(lambda), intercept, solver: Solver::Auto };
            let model = ridge.fit_uncertain(&engine(2), &numbers(&x, &y, Some(&weights)), DEVIATION).unwrap();
            let features = |x: &Matrix<f64>| model.map().transform(&engine(1), &Rows::from(x)).unwrap();
            let (noise, mean) = naive(&features(&x), &y, &weights, &features(&new), lambda, intercept);
            let root: Vec<f64> = noise.iter().map(|s| s.sqrt()).collect();
            assert_close(model.posterior().unwrap().noise(), &root, Relative(1e-8));
            let square = |found: &Matrix<f64>| found.as_slice().iter().map(|s| s * s).collect::<Vec<f64>>();
            let found = square(&model.mean_deviation(&engine(2), Rows::from(&new)).unwrap());
            assert_close(&found, mean.as_slice(), Relative(1e-8));
            let whole: Vec<f64> = mean.as_slice().iter().enumerate().map(|(i, v)| v + noise[i % 2]).collect();
            let found = square(&model.deviation(&engine(2), Rows::from(&new)).unwrap());
            assert_close(&found, &whole, Relative(1e-8));
        }
    }
}

/// Without a constant ridge is a Gaussian process with kernel (s²/nλ)·k and noise s²: var = k** − kᵀ(K + s²I)⁻¹k, in the rows, not in the features.
#[test]
fn deviations_are_those_of_a_gaussian_process() {
    let ((x, y), (new, _)) = (data(40, 2), data(6, 9));
    let (lambda, n) = (1e-2, 40.0);
    let ridge = Ridge { map: spec(30), lambda: given(lambda), intercept: false, solver: Solver::Auto };
    let model = ridge.fit_uncertain(&engine(1), &numbers(&x, &y, None), DEVIATION).unwrap();
    let features = |x: &Matrix<f64>| model.map().transform(&engine(1), &Rows::from(x)).unwrap();
    let (z, new_z) = (features(&x), features(&new));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let found = model.mean_deviation(&engine(1), Rows::from(&new)).unwrap();
    for (o, s) in model.posterior().unwrap().noise().iter().enumerate() {
        let scale = s * s / (n * lambda);
        let kernel: Vec<f64> = (0..40 * 40)
            .map(|k| scale * dot(z.row(k / 40), z.row(k % 40)) + if k / 40 == k % 40 { s * s } else { 0.0 })
            .collect();
        for i in 0..6 {
            let side: Vec<f64> = (0..40).map(|j| scale * dot(z.row(j), new_z.row(i))).collect();
            let solved = bochner_testkit::solve(&kernel, &side, 40, 1);
            let variance = scale * dot(new_z.row(i), new_z.row(i)) - dot(&side, &solved);
            assert_close(&[found.row(i)[o].powi(2)], &[variance], Relative(1e-8));
        }
    }
}

/// Σ wᵢv(xᵢ) = df + 1.
#[test]
fn variances_of_fitted_values_are_the_degrees_of_freedom() {
    let (x, y) = data(80, 6);
    let weights: Vec<f64> = (0..80).map(|i| 1.0 + (i % 3) as f64).collect();
    let ridge = Ridge { map: spec(20), lambda: given(1e-3), intercept: true, solver: Solver::Auto };
    let model = ridge.fit_uncertain(&engine(1), &numbers(&x, &y, Some(&weights)), DEVIATION).unwrap();
    let found = model.mean_deviation(&engine(1), Rows::from(&x)).unwrap();
    let s = model.posterior().unwrap().noise()[0];
    let sum: f64 = (0..80).map(|i| weights[i] * (found.row(i)[0] / s).powi(2)).sum();
    let freedom = model.training().unwrap().degrees_of_freedom().unwrap();
    assert_close(&[sum], &[freedom + 1.0], Relative(1e-9));
}

/// Deviations in other forms of rows: sparse, and f32 to its precision; many rows at once as one by one.
#[test]
fn deviations_do_not_depend_on_the_form_of_rows() {
    let ((x, y), (new, _)) = (data(90, 3), data(130, 4));
    let model = Ridge { map: spec(40), lambda: given(1e-3), intercept: true, solver: Solver::Auto }
        .fit_uncertain(&engine(2), &numbers(&x, &y, None), DEVIATION)
        .unwrap();
    let all = model.deviation(&engine(7), Rows::from(&new)).unwrap();
    let mut sparse = Csr::empty(2);
    (0..130).for_each(|i| sparse.push_row(new.row(i).iter().enumerate().map(|(j, &x)| (j as u32, x))));
    assert_eq!(model.deviation(&engine(1), Rows::from(&sparse)).unwrap(), all);
    for i in [0, 63, 64, 129] {
        let one = Matrix::new(1, 2, new.row(i).to_vec()).unwrap();
        assert_eq!(model.deviation(&engine(1), Rows::from(&one)).unwrap().as_slice(), all.row(i));
    }
    let single = crate::table::single(&new);
    let found = model.deviation(&engine(1), Rows::from(&single)).unwrap();
    assert_close(found.as_slice(), all.as_slice(), Relative(1e-5));
    assert!(model.deviation(&engine(1), Rows::from(&Matrix::<f64>::zeros(0, 2))).unwrap().rows() == 0);
    assert!(model.deviation(&engine(1), Rows::from(&Matrix::<f64>::zeros(1, 3))).is_err());
}

/// One trial: a fit to 40 rows, and one row more; (covered, r/(K + 1), covered by the statistic before, covered by scores of rows that were fitted to).
fn trial(engine: &Engine, seed: u64, known: Uncertainty, coverage: f64) -> (bool, f64, bool, bool) {
    let (x, y) = data(41, 10 * seed);
    let y = Matrix::from_fn(41, 1, |i, _| y.row(i)[0] * (1.0 + x.row(i)[1].abs()));
    let part = |m: &Matrix<f64>, from: usize, to: usize| {
        Matrix::from_fn(to - from, m.columns(), |i, j| m.row(from + i)[j])
    };
    let (train_x, train_y, new) = (part(&x, 0, 40), part(&y, 0, 40), part(&x, 40, 41));
    let map = MapSpec { features: 16, seed, ..MapSpec::auto(Kernel::gaussian(0.7)) };
    let ridge = Ridge { map, lambda: given(1e-3), intercept: true, solver: Solver::Auto };
    let model = ridge.fit_uncertain(engine, &numbers(&train_x, &train_y, None), known).unwrap();
    let found = model.intervals(engine, Rows::from(&new), coverage).unwrap();
    let truth = y.row(40)[0];
    let is_in = found.lower.row(0)[0] <= truth && truth <= found.upper.row(0)[0];
    let scores = model.held_out().unwrap();
    let k = scores.rows();
    let rank = ((k + 1) as f64 * coverage - 1e-9).ceil() as usize;
    let expected = if rank > k { 1.0 } else { rank as f64 / (k + 1) as f64 };
    // Mutant 1: the order statistic before. Its width is that of the interval, in proportion.
    let wide = found.upper.row(0)[0] - found.predictions.row(0)[0];
    let statistic = |r: usize| if r == 0 { 0.0 } else { scores.scores().row(0)[r - 1] };
    let before = if rank > k { k } else { rank - 1 };
    let unit = if rank > k { 1.0 } else { wide / statistic(rank) };
    let off = (truth - found.predictions.row(0)[0]).abs() <= unit * statistic(before);
    // Mutant 2: scores of the rows of the fit.
    let seen = ridge.fit(engine, &numbers(&train_x, &train_y, None)).unwrap();
    let fitted = seen.decide(engine, Rows::from(&train_x)).unwrap();
    let mut errors: Vec<f64> = (0..40).map(|i| (fitted.row(i)[0] - train_y.row(i)[0]).abs()).collect();
    errors.sort_by(f64::total_cmp);
    let prediction = seen.decide(engine, Rows::from(&new)).unwrap().row(0)[0];
    let trained = (prediction - truth).abs() <= errors[(41.0 * coverage).ceil() as usize - 1];
    (is_in, expected, off, trained)
}

/// Scores have no ties here, so that a new row is covered with probability r/(K + 1) exactly, given K. Trials are independent: by Hoeffding their mean is off by more
/// than the radius with probability at most 1e-6 for each of two coverages, with deviations and without. The statistic before, and scores of rows that the fit has seen, are found out.
#[test]
fn intervals_cover_as_often_as_they_say() {
    let trials = 3000;
    let (engine, radius) = (engine(1), hoeffding_radius(trials, 1.0, 1e-6));
    for (deviation, coverage) in [(false, 0.8), (true, 0.8), (true, 0.5)] {
        let known = Uncertainty { deviation, ..held_out(0.25) };
        let mut mean = [0.0; 4];
        for seed in 0..trials as u64 {
            let (is_in, expected, off, trained) = trial(&engine, seed + 1, known, coverage);
            let one = |b: bool| f64::from(u8::from(b)) / trials as f64;
            mean[0] += one(is_in);
            mean[1] += expected / trials as f64;
            mean[2] += one(off);
            mean[3] += one(trained);
        }
        let [found, expected, off, trained] = mean;
        assert!(expected >= coverage && expected < coverage + 0.12, "{expected}");
        assert!((found - expected).abs() <= radius, "{found} is not {expected} ± {radius}");
        assert!((off - expected).abs() > radius, "no power: {off} is {expected} ± {radius}");
        assert!((trained - expected).abs() > radius, "no power: {trained} is {expected} ± {radius}");
    }
}

/// The probability of the second of two classes, or of three.
fn chances(row: &[f64], count: usize) -> Vec<f64> {
    let scores: Vec<f64> = (0..count).map(|c| [0.0, 2.0 * (2.0 * row[0]).sin(), 1.5 * row[1]][c]).collect();
    let sum: f64 = scores.iter().map(|s| s.exp()).sum();
    scores.iter().map(|s| s.exp() / sum).collect()
}

fn drawn(n: usize, count: usize, seed: u64) -> (Matrix<f64>, Matrix<f64>) {
    let x = Matrix::new(n, 2, normals(n, 2, seed)).unwrap();
    let u = uniforms(n, 1, seed + 1);
    let class = |i: usize| {
        let chances = chances(x.row(i), count);
        let mut sum = 0.0;
        chances
            .iter()
            .take(count - 1)
            .filter(|p| {
                sum += **p;
                u[i] > sum
            })
            .count() as f64
    };
    (x.clone(), Matrix::from_fn(n, 1, |i, _| class(i)))
}

fn labelled<'a>(
    x: &'a Matrix<f64>,
    y: &'a Matrix<f64>,
    count: usize,
    weights: Option<&'a [f64]>,
) -> Arrays<'a> {
    Arrays::new(Rows::from(x), y.view(), weights, classes(count)).unwrap()
}

/// As for intervals: 1 − P(class) of a new row is at most s₍r₎ with probability r/(K + 1), at a false-alarm rate of 1e-6; a set has those classes and the likeliest.
#[test]
fn sets_cover_as_often_as_they_say() {
    let (trials, coverage) = (1500, 0.8);
    let radius = hoeffding_radius(trials, 1.0, 1e-6);
    let (mut found, mut expected, mut sets) = (0.0, 0.0, 0.0);
    let engine = engine(1);
    for seed in 0..trials as u64 {
        let (x, y) = drawn(60, 3, 10 * seed + 1);
        let (new, truth) = drawn(1, 3, 10 * seed + 5);
        let map = MapSpec { features: 10, seed, ..MapSpec::auto(Kernel::gaussian(1.0)) };
        let ridge = Ridge { map, lambda: given(1e-2), intercept: true, solver: Solver::Auto };
        let model = ridge.fit_uncertain(&engine, &labelled(&x, &y, 3, None), held_out(0.25)).unwrap();
        let outputs = model.decide(&engine, Rows::from(&new)).unwrap();
        let probabilities = model.probabilities(&outputs).unwrap();
        let scores = model.held_out().unwrap();
        let k = scores.rows();
        let rank = ((k + 1) as f64 * coverage - 1e-9).ceil() as usize;
        let most = if rank > k { f64::INFINITY } else { scores.scores().row(0)[rank - 1] };
        let truth = truth.row(0)[0] as usize;
        let p = probabilities.row(0);
        found += f64::from(u8::from(1.0 - p[truth] <= most)) / trials as f64;
        expected += (if rank > k { 1.0 } else { rank as f64 / (k + 1) as f64 }) / trials as f64;
        let set = &model.sets(&outputs, coverage).unwrap()[0];
        let likeliest = p.iter().fold(0.0, |a: f64, b| a.max(*b));
        let naive: Vec<usize> = (0..3).filter(|&c| 1.0 - p[c] <= most || p[c] >= likeliest).collect();
        assert_eq!(set, &naive);
        sets += f64::from(u8::from(set.contains(&truth))) / trials as f64;
    }
    assert!((found - expected).abs() <= radius, "{found} is not {expected} ± {radius}");
    assert!(sets >= expected - radius && sets >= found);
}

/// The mean over ten bins of predicted probability, by their rows, of |mean prediction − mean true probability|.
fn calibration_error(model: &Model, count: usize, change: impl Fn(f64) -> f64) -> f64 {
    let (x, _) = drawn(20_000, count, 77);
    let outputs = model.decide(&engine(2), Rows::from(&x)).unwrap();
    let found = model.probabilities(&outputs).unwrap();
    let mut bins = [[0.0; 2]; 10];
    for i in 0..x.rows() {
        let truth = chances(x.row(i), count);
        for c in 0..count {
            let p = change(found.row(i)[c]);
            let bin = &mut bins[((10.0 * p) as usize).min(9)];
            bin[0] += p;
            bin[1] += truth[c];
        }
    }
    bins.iter().map(|[a, b]| (a - b).abs()).sum::<f64>() / (x.rows() * count) as f64
}

/// Against the probabilities that classes are drawn with, so that only the fit is left to chance: 4,000 rows, 800 in a fold. The deviation of a slope and an offset from so many is 0.04, which
/// moves a probability by 0.01; 0.04 is four of them (α = 1e-4, the seed being fixed), and what a model that is four times too sure or too timid misses by is more than twice that.
#[test]
fn probabilities_are_those_that_classes_are_drawn_with() {
    let known = Uncertainty { calibrated: true, ..Uncertainty::default() };
    for count in [2, 3] {
        let (x, y) = drawn(4000, count, 21);
        let source = labelled(&x, &y, count, None);
        let map = spec(60);
        let mut models = vec![
            Ridge { map: map.clone(), lambda: given(1e-3), intercept: true, solver: Solver::Auto }
                .fit_uncertain(&engine(2), &source, known)
                .unwrap(),
            Ridge::new(map.clone()).fit_uncertain(&engine(2), &source, known).unwrap(),
        ];
        for loss in [Loss::margins(Hinge::Squared), Loss::margins(Hinge::Plain), Loss::Logistic] {
            let linear = Linear { lambda: given(1e-3), tolerance: 1e-3, ..Linear::new(map.clone(), loss) };
            models.push(linear.fit_uncertain(&engine(2), &source, known).unwrap());
        }
        for (i, model) in models.iter().enumerate() {
            let error = calibration_error(model, count, |p| p);
            assert!(error <= 0.04, "model {i} of {count} classes: {error}");
            let Calibration { slope, .. } = model.calibration().unwrap();
            assert!(slope > 0.0);
            for factor in [0.25, 4.0] {
                // Odds of each class against the rest, to a power.
                let wrong = calibration_error(model, count, |p| {
                    let odds = (p / (1.0 - p)).powf(factor);
                    odds / (1.0 + odds)
                });
                assert!(wrong > 0.06, "no power: model {i} of {count} classes, {wrong}");
            }
        }
    }
}

/// Where features can learn every row by heart, scores of rows of the fit are all far from zero and say nothing; those of left-out folds do. 0.1 is ten deviations of the numbers
/// that are fitted, as above; one who asks the rows of the fit is certain of all of them, and misses by 0.19.
#[test]
fn probabilities_come_from_left_out_folds() {
    let (x, y) = drawn(300, 2, 31);
    let map = MapSpec { features: 400, seed: 1, ..MapSpec::auto(Kernel::gaussian(0.5)) };
    let known = Uncertainty { calibrated: true, ..Uncertainty::default() };
    let source = labelled(&x, &y, 2, None);
    for model in
        [
            Ridge { map: map.clone(), lambda: given(1e-7), intercept: true, solver: Solver::Auto }
                .fit_uncertain(&engine(2), &source, known),
            Linear { lambda: given(1e-7), ..Linear::svm(map) }.fit_uncertain(&engine(2), &source, known),
        ]
    {
        let model = model.unwrap();
        let outputs = model.decide(&engine(1), Rows::from(&x)).unwrap();
        let right =
            model.classes(&outputs).iter().zip(y.as_slice()).filter(|(c, y)| **c == **y as usize).count();
        assert!(right > 250, "{right} of 300 learnt by heart");
        let error = calibration_error(&model, 2, |p| p);
        assert!(error < 0.1, "{error}");
    }
}

/// All that is known, of regressions and classes, in all learners.
fn everything(
    threads: usize,
    x: &Matrix<f64>,
    y: &Matrix<f64>,
    c: &Matrix<f64>,
    w: Option<&[f64]>,
) -> Vec<Model> {
    let engine = engine(threads);
    let both = Uncertainty { deviation: true, ..held_out(0.3) };
    let calibrated = Uncertainty { calibrated: true, ..held_out(0.3) };
    let (numbers, labelled) = (numbers(x, y, w), labelled(x, c, 3, w));
    let map = spec(30);
    let auto = Auto {
        kernel: KernelChoice::Given(Kernel::gaussian(1.0)),
        features: Some(30),
        lambda: given(1e-3),
        uncertainty: both,
        ..Auto::default()
    };
    let hinge = Linear { lambda: given(1e-2), tolerance: 1e-8, ..Linear::svm(map.clone()) };
    vec![
        Ridge { map: map.clone(), lambda: given(1e-3), intercept: true, solver: Solver::Auto }
            .fit_uncertain(&engine, &numbers, both)
            .unwrap(),
        Ridge::new(map.clone()).fit_uncertain(&engine, &labelled, calibrated).unwrap(),
        hinge.fit_uncertain(&engine, &labelled, calibrated).unwrap(),
        auto.fit(&engine, &numbers).unwrap(),
        Auto { loss: Loss::Logistic, uncertainty: held_out(0.3), ..auto }.fit(&engine, &labelled).unwrap(),
    ]
}

/// What a model says of some rows.
fn said(model: &Model, new: &Matrix<f64>) -> Vec<f64> {
    let (engine, rows) = (engine(2), Rows::from(new));
    if model.calibration().is_none() {
        let found = model.intervals(&engine, rows, 0.8).unwrap();
        let mut all = model.deviation(&engine, rows).unwrap().as_slice().to_vec();
        all.extend(found.lower.as_slice());
        all.extend(found.upper.as_slice());
        return all;
    }
    let outputs = model.decide(&engine, rows).unwrap();
    let mut all = model.probabilities(&outputs).unwrap().as_slice().to_vec();
    let sets = model.sets(&outputs, 0.8).unwrap();
    all.extend(sets.iter().flat_map(|set| (0..3).map(|c| f64::from(u8::from(set.contains(&c))))));
    all
}

#[test]
fn weights_orders_threads_and_files_change_nothing() {
    let (x, y) = data(150, 41);
    let (_, c) = drawn(150, 3, 41);
    let weights: Vec<f64> = (0..150).map(|i| (i % 3) as f64).collect();
    let repeated: Vec<usize> = (0..150).rev().flat_map(|i| std::iter::repeat_n(i, i % 3)).collect();
    let pick = |m: &Matrix<f64>| Matrix::from_fn(repeated.len(), m.columns(), |i, j| m.row(repeated[i])[j]);
    let one = everything(1, &x, &y, &c, Some(&weights));
    let other = everything(2, &pick(&x), &pick(&y), &pick(&c), None);
    let (new, _) = data(40, 43);
    for (weighted, repeated) in one.iter().zip(&other) {
        assert_close(&said(weighted, &new), &said(repeated, &new), Absolute(1e-6));
        let rows = |model: &Model| model.held_out().unwrap().rows();
        assert_eq!(rows(weighted), rows(repeated));
        assert!((15..60).contains(&rows(weighted)), "{}", rows(weighted));
    }
    for threads in [2, 7] {
        for (one, other) in one.iter().zip(everything(threads, &x, &y, &c, Some(&weights))) {
            assert_eq!(one.to_bytes().unwrap(), other.to_bytes().unwrap());
        }
    }
    for model in &one {
        let bytes = model.to_bytes().unwrap();
        let read = Model::from_bytes(&bytes).unwrap();
        assert_eq!(read.to_bytes().unwrap(), bytes);
        assert_eq!(said(&read, &new), said(model, &new));
        assert_eq!(read.posterior(), model.posterior());
        assert_eq!(read.held_out(), model.held_out());
    }
}

/// Rows whose target changes nothing in the coefficients are those that were held out: as many as there are scores, and fitting without them gives the same model.
#[test]
fn the_fit_does_not_see_what_is_held_out() {
    let (x, both) = data(60, 51);
    let y = Matrix::from_fn(60, 1, |i, _| both.row(i)[0]);
    let auto = Auto {
        kernel: KernelChoice::Given(Kernel::gaussian(1.0)),
        features: Some(16),
        lambda: given(1e-3),
        ..Auto::default()
    };
    let known = Auto { uncertainty: held_out(0.3), ..auto.clone() };
    let fit = |y: &Matrix<f64>| known.fit(&engine(1), &numbers(&x, y, None)).unwrap();
    let model = fit(&y);
    let is_held = |i: usize| {
        let changed = Matrix::from_fn(60, 1, |k, _| y.row(k)[0] + if k == i { 1.0 } else { 0.0 });
        let other = fit(&changed);
        let same = other.coefficients() == model.coefficients();
        assert!(!same || other.held_out() != model.held_out(), "row {i} is nowhere");
        same
    };
    let kept: Vec<usize> = (0..60).filter(|&i| !is_held(i)).collect();
    assert_eq!(60 - kept.len(), model.held_out().unwrap().rows());
    let pick = |m: &Matrix<f64>| Matrix::from_fn(kept.len(), m.columns(), |i, j| m.row(kept[i])[j]);
    let without = auto.fit(&engine(1), &numbers(&pick(&x), &pick(&y), None)).unwrap();
    assert_close(model.coefficients().as_slice(), without.coefficients().as_slice(), Relative(1e-9));
    assert_eq!(without.encoder(), model.encoder());
    // Other rows are held out with another seed.
    let reseeded = Auto { seed: 1, ..known.clone() }.fit(&engine(1), &numbers(&x, &y, None)).unwrap();
    assert_ne!(reseeded.held_out(), model.held_out());
}

#[test]
fn too_few_rows_and_wrong_numbers_are_said() {
    let (x, y) = data(30, 61);
    let ridge = Ridge { map: spec(8), lambda: given(1e-2), intercept: true, solver: Solver::Auto };
    let source = numbers(&x, &y, None);
    let fit = |known: Uncertainty| ridge.fit_uncertain(&engine(1), &source, known);
    for share in [0.0, 1.0, -0.1, f64::NAN, 2.0] {
        assert!(matches!(fit(held_out(share)), Err(Error::Parameter { name: "held_out", .. })));
    }
    assert!(matches!(fit(held_out(1e-9)), Err(Error::Unsupported { .. })));
    assert!(matches!(fit(held_out(1.0 - 1e-9)), Err(Error::NoRows)));
    let model = fit(held_out(0.3)).unwrap();
    let (k, rows) = (model.held_out().unwrap().rows(), Rows::from(&x));
    let most = k as f64 / (k + 1) as f64;
    let wide = model.intervals(&engine(1), rows, most + 1e-6).unwrap();
    assert!(wide.lower.as_slice().iter().all(|x| *x == f64::NEG_INFINITY));
    assert!(wide.upper.as_slice().iter().all(|x| *x == f64::INFINITY));
    let narrow = model.intervals(&engine(1), rows, most).unwrap();
    assert!(narrow.upper.as_slice().iter().all(|x| x.is_finite()));
    for coverage in [0.0, 1.0, -1.0, 95.0, f64::NAN] {
        let error = model.intervals(&engine(1), rows, coverage);
        assert!(matches!(error, Err(Error::Parameter { name: "coverage", .. })));
    }
    assert!(matches!(model.sets(&wide.predictions, 0.9), Err(Error::Unsupported { .. })));
    assert!(matches!(model.deviation(&engine(1), rows), Err(Error::Unsupported { .. })));
    let plain = ridge.fit(&engine(1), &source).unwrap();
    assert!(matches!(plain.intervals(&engine(1), rows, 0.9), Err(Error::Unsupported { .. })));

    let (x, c) = drawn(60, 3, 71);
    let labelled = labelled(&x, &c, 3, None);
    let model = ridge.fit_uncertain(&engine(1), &labelled, held_out(0.3)).unwrap();
    let outputs = model.decide(&engine(1), Rows::from(&x)).unwrap();
    assert!(model.sets(&outputs, 0.9999).unwrap().iter().all(|set| set == &[0, 1, 2]));
    assert!(model.sets(&outputs, 1e-9).unwrap().iter().all(|set| set.len() == 1));
    assert!(matches!(model.sets(&outputs, 1.0), Err(Error::Parameter { .. })));
    assert!(matches!(model.intervals(&engine(1), Rows::from(&x), 0.9), Err(Error::Unsupported { .. })));
    assert!(matches!(ridge.fit_uncertain(&engine(1), &labelled, DEVIATION), Err(Error::Unsupported { .. })));
    let huber = Linear::new(spec(8), Loss::Huber { epsilon: 1.35 });
    let one = Matrix::from_fn(30, 1, |i, _| y.row(i)[0]);
    let (small, _) = data(30, 61);
    let source = numbers(&small, &one, None);
    assert!(matches!(huber.fit_uncertain(&engine(1), &source, DEVIATION), Err(Error::Unsupported { .. })));
    let calibrated = Uncertainty { calibrated: true, ..Uncertainty::default() };
    assert!(matches!(huber.fit_uncertain(&engine(1), &source, calibrated), Err(Error::Unsupported { .. })));
    // Any loss has intervals.
    let model = huber.fit_uncertain(&engine(1), &source, held_out(0.4)).unwrap();
    assert!(model.intervals(&engine(1), Rows::from(&small), 0.5).is_ok());
}

/// Weights that sum to one are not numbers of rows.
#[test]
fn deviations_want_weights_that_count_rows() {
    let (x, y) = data(50, 81);
    let ridge = Ridge { map: spec(8), lambda: given(1e-3), intercept: true, solver: Solver::Auto };
    let fit = |weight: f64| {
        let weights = vec![weight; 50];
        let source = numbers(&x, &y, Some(&weights));
        ridge.fit_uncertain(&engine(1), &source, DEVIATION)
    };
    let error = fit(0.02).unwrap_err().to_string();
    assert!(error.contains("sum 1.0000") && error.contains("number of rows"), "{error}");
    let noise = |model: &Model| model.posterior().map(Posterior::noise).unwrap()[0];
    // Ten of each row: the same errors, and more of them.
    let (one, ten) = (fit(1.0).unwrap(), fit(10.0).unwrap());
    assert!(noise(&ten) < noise(&one) && noise(&ten) > 0.8 * noise(&one));
    let (a, b) = (
        one.mean_deviation(&engine(1), Rows::from(&x)).unwrap(),
        ten.mean_deviation(&engine(1), Rows::from(&x)).unwrap(),
    );
    assert!(a.as_slice().iter().zip(b.as_slice()).all(|(a, b)| *b < 0.4 * a));
}

/// The factor is part of what is planned.
#[test]
fn the_factor_is_counted_before_it_is_made() {
    let (x, y) = data(200, 91);
    let ridge = Ridge { map: spec(512), lambda: given(1e-3), intercept: true, solver: Solver::Auto };
    let source = numbers(&x, &y, None);
    let limit = ridge.plan(&source).unwrap().peak_bytes + 1000;
    let engine = EngineSpec { threads: 1, memory_limit: Some(limit), ..EngineSpec::default() }.build();
    assert!(ridge.fit(&engine, &source).is_ok());
    assert!(matches!(ridge.fit_uncertain(&engine, &source, DEVIATION), Err(Error::Memory { .. })));
    let auto = Auto { features: Some(512), ..Auto::default() };
    let more = Auto { uncertainty: DEVIATION, ..auto.clone() }.plan(&source).unwrap().peak_bytes;
    assert_eq!(more - auto.plan(&source).unwrap().peak_bytes, 512 * 513 / 2 * 8);
    assert_eq!(source.row_count(), Some(200));
}

fn refused(bytes: &[u8]) -> FileError {
    match Model::from_bytes(bytes) {
        Err(Error::ModelFile(error)) => error,
        Err(other) => panic!("another error: {other}"),
        Ok(_) => panic!("the file was accepted"),
    }
}

/// The file with the 8 bytes of one number replaced by another, its checksum mended.
fn replaced(bytes: &[u8], from: f64, to: f64) -> Vec<u8> {
    let at = bytes.windows(8).position(|window| window == from.to_le_bytes()).unwrap();
    let mut changed = bytes.to_vec();
    changed[at..at + 8].copy_from_slice(&to.to_le_bytes());
    mended(&changed)
}

#[test]
fn forged_files_are_refused() {
    let (x, both) = data(60, 95);
    let y = Matrix::from_fn(60, 1, |i, _| both.row(i)[0]);
    let known = Uncertainty { deviation: true, ..held_out(0.5) };
    let ridge = Ridge { map: spec(8), lambda: given(1e-2), intercept: true, solver: Solver::Auto };
    let model = ridge.fit_uncertain(&engine(1), &numbers(&x, &y, None), known).unwrap();
    let bytes = model.to_bytes().unwrap();
    assert!(Model::from_bytes(&bytes).is_ok());
    let k = model.held_out().unwrap().rows();
    let rows =
        |to: usize| forged(&bytes, &format!("\"rows\":{k},\"share\""), &format!("\"rows\":{to},\"share\""));
    assert!(matches!(refused(&rows(k + 1)), FileError::Tensor { name: "held_out.scores", .. }));
    assert!(matches!(refused(&rows(0)), FileError::Metadata { .. }));
    assert!(matches!(refused(&rows(usize::MAX)), FileError::Metadata { .. }));
    for share in ["0.0", "1.0", "-0.5", "7"] {
        let error = refused(&forged(&bytes, "\"share\":0.5", &format!("\"share\":{share}")));
        assert!(matches!(error, FileError::Metadata { .. }));
    }
    let weight = bytes_of(&bytes, "\"posterior\":{\"weight\":", ",");
    for other in ["0.0", "-3.0"] {
        let changed = forged(
            &bytes,
            &format!("\"weight\":{weight},\"centred\""),
            &format!("\"weight\":{other},\"centred\""),
        );
        assert!(matches!(refused(&changed), FileError::Metadata { .. }));
    }
    // Without a posterior the file has a tensor that nothing asks for; with one of another shape it is refused.
    let means = forged(&bytes, "\"centred\":true", "\"centred\":false");
    assert!(Model::from_bytes(&means).is_ok());
    let scores = model.held_out().unwrap().scores();
    let (first, last) = (scores.row(0)[0], scores.row(0)[k - 1]);
    assert!(matches!(
        refused(&replaced(&bytes, first, -1.0)),
        FileError::Tensor { name: "held_out.scores", .. }
    ));
    assert!(matches!(
        refused(&replaced(&bytes, last, 0.0)),
        FileError::Tensor { name: "held_out.scores", .. }
    ));
    assert!(matches!(refused(&replaced(&bytes, last, f64::NAN)), FileError::NotFinite { .. }));
    let noise = model.posterior().unwrap().noise()[0];
    assert!(matches!(
        refused(&replaced(&bytes, noise, -noise)),
        FileError::Tensor { name: "posterior.noise", .. }
    ));
    // Head and parts that do not go together.
    let (_, c) = drawn(60, 2, 97);
    let classes = ridge
        .fit_uncertain(&engine(1), &labelled(&x, &c, 2, None), held_out(0.5))
        .unwrap()
        .to_bytes()
        .unwrap();
    let calibration = bytes_of(&classes, "\"calibration\":", "},");
    let stripped = forged(&classes, &format!("\"calibration\":{calibration}}},"), "");
    assert!(matches!(refused(&stripped), FileError::Metadata { .. }));
    let plain = ridge.fit(&engine(1), &numbers(&x, &y, None)).unwrap().to_bytes().unwrap();
    let claimed =
        forged(&plain, "\"certificate\"", "\"posterior\":{\"weight\":1.0,\"centred\":true},\"certificate\"");
    assert!(matches!(refused(&claimed), FileError::Tensor { name: "posterior.factor", .. }));
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 64;
        if let Ok(read) = Model::from_bytes(&mended(&damaged)) {
            let _ = read.intervals(&engine(1), Rows::from(&x), 0.9);
        }
    }
}

/// The text of the metadata between two others.
fn bytes_of(bytes: &[u8], from: &str, to: &str) -> String {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let json = header["__metadata__"]["bochner"].as_str().unwrap();
    let start = json.find(from).unwrap() + from.len();
    json[start..start + json[start..].find(to).unwrap()].to_owned()
}

use super::*;
use crate::certify::capacity;
use crate::engine::EngineSpec;
use crate::{Arrays, Bins, Kernel, MapSpec, Method, Rows, Target};
use bochner_testkit::{Absolute, assert_close, assert_same_bits, normals};

/// Rows, two targets, weights.
struct Data {
    x: Matrix<f64>,
    y: Matrix<f64>,
    weights: Vec<f64>,
}

fn data(n: usize) -> Data {
    let numbers = normals(n, 5, 1);
    let x = Matrix::from_fn(n, 3, |i, j| numbers[i * 5 + j]);
    let y = Matrix::from_fn(n, 2, |i, o| {
        let row = x.row(i);
        100.0 + (row[o] * 2.0).sin() + row[2] + 0.1 * numbers[i * 5 + 3 + o]
    });
    Data { x, y, weights: (0..n).map(|i| [1.0, 3.0, 0.0, 0.5][i % 4]).collect() }
}

fn fourier(features: usize) -> MapSpec {
    MapSpec { features, seed: 3, ..MapSpec::fourier(Kernel::gaussian(1.0)) }
}

fn binning() -> MapSpec {
    let method = Method::Binning { bins: Bins::Hashed { width: 8 } };
    MapSpec { kernel: Kernel::laplace(2.0), method, features: 20, seed: 3 }
}

struct Case<'a> {
    map: MapSpec,
    lambda: f64,
    intercept: bool,
    guide: Preconditioner,
    limits: Limits,
    threads: usize,
    weights: Option<&'a [f64]>,
    memory: Option<u64>,
    keeps: bool,
}

impl Case<'_> {
    fn of(map: MapSpec, guide: Preconditioner) -> Case<'static> {
        let limits = Limits { tolerance: 1e-9, steps: 400 };
        let (lambda, threads, weights, memory) = (1e-4, 2, None, None);
        Case { map, lambda, intercept: true, guide, limits, threads, weights, memory, keeps: false }
    }

    fn run(&self, x: Rows<'_, f64>, y: &Matrix<f64>) -> Found {
        let target = Target::Numbers { outputs: y.columns() };
        let arrays = Arrays::new(x, y.view(), self.weights, target).unwrap();
        self.fit(&arrays)
    }

    fn fit(&self, source: &dyn Source) -> Found {
        let spec = EngineSpec { threads: self.threads, memory_limit: self.memory, ..EngineSpec::default() };
        let (engine, map) = (&spec.build(), &self.map);
        let sample = &Sample::of(engine, source, capacity(map, source.input_dim()), map.seed).unwrap();
        let shape = RidgeShape {
            map: map.clone(),
            features: map.output_dim(source.input_dim()),
            inputs: source.input_dim(),
            entries: source.input_dim() as u64,
            outputs: source.target().outputs(),
            folds: 1,
            scalar_bytes: source.scalar_bytes(),
            rows: source.row_count(),
        };
        let map = &map.fit(&Engine::default(), sample).unwrap();
        let units = &Units::of(sample, self.intercept);
        let lambda = Lambda::Given { value: self.lambda };
        let (intercept, limits, guide) = (self.intercept, self.limits, self.guide);
        let keeps = self.keeps;
        let fit =
            Conjugate { engine, source, map, sample, units, shape, lambda, intercept, limits, guide, keeps };
        let mut found = fit.fit().unwrap();
        found.solution.intercept.iter_mut().zip(&units.shift).for_each(|(b, shift)| *b += shift);
        found
    }
}

fn guides() -> [Preconditioner; 4] {
    let rank = 64;
    [
        Preconditioner::Sample,
        Preconditioner::Sketch,
        Preconditioner::Nystrom { rank },
        Preconditioner::Diagonal,
    ]
}

fn steps(found: &Found) -> usize {
    let Outcome::Conjugate { steps, stop, .. } = found.outcome else { panic!() };
    assert_eq!(stop, Stop::Residual, "{:?}", found.outcome);
    steps
}

/// The normal equations by plain loops: another way to the same coefficients.
fn naive(case: &Case<'_>, data: &Data) -> (Matrix<f64>, Vec<f64>) {
    let engine = Engine::default();
    let map = case.map.build(3).unwrap();
    let z = map.transform(&engine, &Rows::from(&data.x)).unwrap();
    let (n, d, t) = (z.rows(), z.columns(), data.y.columns());
    let w = |i: usize| case.weights.map_or(1.0, |w| w[i]);
    let total: f64 = (0..n).map(w).sum();
    let on = f64::from(u8::from(case.intercept));
    let zm: Vec<f64> = (0..d).map(|j| on * (0..n).map(|i| w(i) * z.row(i)[j]).sum::<f64>() / total).collect();
    let ym: Vec<f64> =
        (0..t).map(|o| on * (0..n).map(|i| w(i) * data.y.row(i)[o]).sum::<f64>() / total).collect();
    let s = |a: usize, b: usize| {
        let sum: f64 = (0..n).map(|i| w(i) * (z.row(i)[a] - zm[a]) * (z.row(i)[b] - zm[b])).sum();
        sum / total + if a == b { case.lambda } else { 0.0 }
    };
    let side = |a: usize, o: usize| {
        (0..n).map(|i| w(i) * (z.row(i)[a] - zm[a]) * (data.y.row(i)[o] - ym[o])).sum::<f64>() / total
    };
    let (matrix, sides) = (Matrix::from_fn(d, d, s), Matrix::from_fn(d, t, side));
    let c = crate::linalg::Cholesky::new(&Engine::default(), matrix, &|_| Ok(()))
        .unwrap()
        .solve(&Engine::default(), sides);
    let b = (0..t).map(|o| ym[o] - (0..d).map(|j| c.row(j)[o] * zm[j]).sum::<f64>()).collect();
    (c, b)
}

/// Dense and sparse features, sparse rows, several outputs, weights, with a constant or without: what normal equations give.
#[test]
fn every_guide_finds_what_normal_equations_give() {
    let data = data(700);
    let mut sparse = crate::Csr::empty(3);
    for i in 0..700 {
        sparse.push_row((0..3).map(|j| (j as u32, data.x.row(i)[j])));
    }
    for map in [fourier(96), binning(), MapSpec::auto(Kernel::Linear)] {
        for (intercept, weights) in [(true, Some(&data.weights[..])), (false, None), (true, None)] {
            for guide in guides() {
                let case = Case { intercept, weights, ..Case::of(map.clone(), guide) };
                let (c, b) = naive(&case, &data);
                let size = c.as_slice().iter().fold(1.0f64, |a, c| a.max(c.abs()));
                for rows in [Rows::from(&data.x), Rows::from(&sparse)] {
                    let found = case.run(rows, &data.y);
                    assert!(steps(&found) > 0);
                    let what = Absolute(1e-6 * size);
                    assert_close(found.solution.coefficients.as_slice(), c.as_slice(), what);
                    assert_close(&found.solution.intercept, &b, what);
                }
            }
        }
    }
}

/// More rows than a block and than a group of blocks; the same bits for any number of threads.
#[test]
fn threads_change_no_bit() {
    let data = data(10_000);
    for map in [fourier(130), binning()] {
        for guide in guides() {
            let fit = |threads| {
                let limits = Limits { tolerance: 1e-5, steps: 30 };
                Case { threads, limits, weights: Some(&data.weights), ..Case::of(map.clone(), guide) }
                    .run(Rows::from(&data.x), &data.y)
            };
            let one = fit(1);
            for threads in [2, 7] {
                let other = fit(threads);
                assert_same_bits(
                    one.solution.coefficients.as_slice(),
                    other.solution.coefficients.as_slice(),
                );
                assert_same_bits(&one.solution.intercept, &other.solution.intercept);
                assert_eq!(one.outcome, other.outcome);
            }
        }
    }
}

#[test]
fn weight_equals_repetition() {
    let data = data(600);
    let times = |i: usize| i % 3;
    let repeats: Vec<usize> = (0..600).flat_map(|i| std::iter::repeat_n(i, times(i))).collect();
    let weights: Vec<f64> = (0..600).map(|i| times(i) as f64).collect();
    let take = |m: &Matrix<f64>| Matrix::from_fn(repeats.len(), m.columns(), |i, j| m.row(repeats[i])[j]);
    for guide in guides() {
        let weighted = Case { weights: Some(&weights), ..Case::of(fourier(64), guide) }
            .run(Rows::from(&data.x), &data.y);
        let repeated = Case::of(fourier(64), guide).run(Rows::from(&take(&data.x)), &take(&data.y));
        let (a, b) = (&weighted.solution.coefficients, &repeated.solution.coefficients);
        assert_close(a.as_slice(), b.as_slice(), Absolute(1e-6));
    }
}

/// Features that a few rows alone have: a sample of the rows, which misses most of them, leads astray; a sketch of all of them does not, and is what slow steps lead to.
#[test]
fn a_rare_cluster_is_missed_by_a_sample_and_not_by_a_sketch() {
    let (n, d) = (40_000, 60);
    let numbers = normals(n, 4, 9);
    // The last forty columns, of forty sizes, are each of eight rows, among thousands; a sample of 4·60 rows has none of most.
    let x = Matrix::from_fn(n, d, |i, j| match (i % 125, j) {
        (0, j) if j >= 20 => f64::from(u8::from(i / 125 % 40 == j - 20)) * 1.2f64.powi(j as i32 - 20),
        (_, j) if j < 20 => {
            numbers[i * 4 + j % 4] * (1.0 + 0.3 * j as f64) + ((i * (j + 1)) % 17) as f64 / 5.0
        }
        _ => 0.0,
    });
    let y = Matrix::from_fn(n, 1, |i, _| x.row(i).iter().sum::<f64>() + numbers[i * 4]);
    let map = MapSpec { seed: 5, ..MapSpec::auto(Kernel::Linear) };
    let limits = Limits { tolerance: 1e-8, steps: 300 };
    // No room for anything better: the sample has to do.
    let source = Arrays::new(Rows::from(&x), y.view(), None, Target::Numbers { outputs: 1 }).unwrap();
    let alone =
        Case { lambda: 1e-9, limits, memory: Some(1), ..Case::of(map.clone(), Preconditioner::Sample) };
    let Outcome::Conjugate { stop, residual, .. } = alone.fit(&source).outcome else { panic!() };
    assert!(stop == Stop::Steps && residual > 1e-6, "{residual}");
    let sketched = Case { lambda: 1e-9, limits, ..Case::of(map, Preconditioner::Sketch) };
    let found = sketched.fit(&source);
    assert!(steps(&found) < 45, "{:?}", found.outcome);
    let changed = Case { guide: Preconditioner::Sample, ..sketched }.fit(&source);
    assert!(
        matches!(changed.outcome, Outcome::Conjugate { preconditioner: Preconditioner::Sketch, .. }),
        "{:?}",
        changed.outcome
    );
    assert!(steps(&changed) < 60, "{:?}", changed.outcome);
    let size = found.solution.coefficients.as_slice().iter().fold(0.0f64, |a, c| a.max(c.abs()));
    assert_close(
        changed.solution.coefficients.as_slice(),
        found.solution.coefficients.as_slice(),
        Absolute(1e-4 * size),
    );
}

/// All rows in the sample: the guide is the matrix, and two steps are enough.
#[test]
fn a_guide_of_all_rows_is_the_matrix() {
    let data = data(250);
    let found = Case::of(fourier(128), Preconditioner::Sample).run(Rows::from(&data.x), &data.y);
    assert!(steps(&found) <= 3, "{:?}", found.outcome);
}

/// Features that are kept give the bits of features that are made anew.
#[test]
fn what_is_kept_changes_no_bit() {
    let data = data(9_000);
    for map in [fourier(130), binning()] {
        let [kept, anew] = [true, false].map(|keeps| {
            let limits = Limits { tolerance: 1e-5, steps: 30 };
            let weights = Some(&data.weights[..]);
            Case { keeps, limits, weights, ..Case::of(map.clone(), Preconditioner::Sample) }
                .run(Rows::from(&data.x), &data.y)
        });
        assert_same_bits(kept.solution.coefficients.as_slice(), anew.solution.coefficients.as_slice());
        assert_same_bits(&kept.solution.intercept, &anew.solution.intercept);
    }
}

/// Landmarks are kept as plain kernel values, and whitened with every direction: the same equations, up to rounding.
#[test]
fn plain_landmarks_are_whitened_on_the_way() {
    let data = data(3_000);
    let map = MapSpec { features: 120, seed: 3, ..MapSpec::landmarks(Kernel::gaussian(1.0)) };
    let [kept, anew] = [true, false].map(|keeps| {
        Case { keeps, ..Case::of(map.clone(), Preconditioner::Sample) }.run(Rows::from(&data.x), &data.y)
    });
    let largest = anew.solution.coefficients.as_slice().iter().fold(0.0f64, |most, c| most.max(c.abs()));
    assert_close(
        kept.solution.coefficients.as_slice(),
        anew.solution.coefficients.as_slice(),
        Absolute(1e-6 * largest),
    );
    assert_close(&kept.solution.intercept, &anew.solution.intercept, Absolute(1e-6 * largest));
}

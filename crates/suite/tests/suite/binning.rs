//! Random binning: what holds for every map of cells, and in expectation. Each statistical assertion states the rate at which a
//! correct map would fail it.

use bochner::certify::{Bound, Certificate};
use bochner::kernel::Width;
use bochner::{Arrays, Bins, Engine, EngineSpec, Kernel, MapSpec, Matrix, MatrixView, Method, Rows, Target};
use bochner_testkit::{ALPHA, Relative, assert_close, hoeffding_radius, variance_interval};

use crate::table::{INPUTS, engine, rows, sample};

const LAPLACE: Kernel = Kernel::Laplace { scale: Width::One(1.5) };
const HAT: Kernel = Kernel::Hat { width: Width::One(1.7) };

/// Two points at moderate distance.
fn points() -> Matrix<f64> {
    Matrix::new(2, 3, vec![0.3, -0.2, 0.5, -0.1, 0.4, 0.0]).unwrap()
}

fn exact(kernel: Kernel) -> f64 {
    kernel.eval(&Rows::from(&points()), 0, &Rows::from(&points()), 1)
}

fn spec(kernel: Kernel, bins: Bins, grids: usize) -> MapSpec {
    MapSpec { kernel, method: Method::Binning { bins }, features: grids, seed: 0 }
}

/// What each of `count` independent grids makes of z(x)·z(y).
fn estimates(kernel: Kernel, bins: Bins, count: usize) -> Vec<f64> {
    let points = points();
    let map = spec(kernel, bins, count).fit(&engine(2), &sample(Rows::from(&points), 0)).unwrap();
    let z = map.transform_sparse(&engine(2), &Rows::from(&points)).unwrap();
    let (x, y) = (z.view().row(0), z.view().row(1));
    assert_eq!((x.0.len(), y.0.len()), (count, count), "one feature a grid");
    let scale = count as f64;
    (0..count).map(|g| if x.0[g] == y.0[g] { scale * x.1[g] * y.1[g] } else { 0.0 }).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// E[z(x)·z(y)] = k(x, y), by Hoeffding at 1e-9 for 400,000 grids. The mutants: another width, the pitch of an exponential law instead of
/// the Gamma's, and slots without signs, whose bias is (1 − k)/B.
#[test]
fn grids_are_unbiased() {
    let count = 400_000;
    let few = Bins::Hashed { width: 4 };
    for (kernel, bins, range) in [(LAPLACE, Bins::Fitted, 1.0), (HAT, Bins::Fitted, 1.0), (LAPLACE, few, 2.0)]
    {
        let radius = hoeffding_radius(count, range, ALPHA);
        let (estimate, k) = (mean(&estimates(kernel.clone(), bins, count)), exact(kernel.clone()));
        assert!((estimate - k).abs() <= radius, "{kernel} {bins:?}: {estimate}, not {k}");
        let wider = match kernel {
            Kernel::Hat { width } => Kernel::hat(width.times(1.1)),
            _ => Kernel::laplace(1.65),
        };
        assert!((estimate - exact(wider)).abs() > radius, "no power against another width");
        assert!((1.0 - k) / 4.0 > 2.0 * radius, "no power against slots without signs");
    }
    // δ ~ Exponential(s) would give e^(−x) − x·E₁(x) for a column with |Δ| = x·s.
    let e1 = |x: f64| {
        let terms = (1..30).map(f64::from).scan(1.0, |power, n| {
            *power *= -x / n;
            Some(*power / n)
        });
        -0.577_215_664_901_532_9 - x.ln() - terms.sum::<f64>()
    };
    let mutant: f64 = [0.4f64, 0.6, 0.5].iter().map(|a| (-a / 1.5).exp() - a / 1.5 * e1(a / 1.5)).product();
    assert!((mutant - exact(LAPLACE)).abs() > 10.0 * hoeffding_radius(count, 1.0, ALPHA), "{mutant}");
}

/// Var of one grid: k(1 − k) fitted, k(1 − k) + (1 − k)/B hashed; the interval holds with probability 1 − 1e-9. The mutants are each other's.
#[test]
fn grids_have_their_variance() {
    let count = 1_000_000;
    let k = exact(LAPLACE);
    let (fitted, hashed) = (k * (1.0 - k), k * (1.0 - k) + (1.0 - k) / 4.0);
    for (bins, range, variance, mutant) in
        [(Bins::Fitted, 1.0, fitted, hashed), (Bins::Hashed { width: 4 }, 2.0, hashed, fitted)]
    {
        let (low, high) = variance_interval(&estimates(LAPLACE, bins, count), range, ALPHA);
        assert!(low <= variance && variance <= high, "{bins:?}: {variance} outside [{low}, {high}]");
        assert!(mutant < low || mutant > high, "no power: {mutant} inside [{low}, {high}]");
    }
}

/// The finite-set bound fails for at most 5 % of the seeds: it held for all of 300 maps of 16 points, and half of it fails for some.
#[test]
fn the_bound_holds_for_nearly_all_seeds() {
    let (x, _) = rows(16);
    let sampled = sample(Rows::from(&x), 0);
    for bins in [Bins::Fitted, Bins::Hashed { width: 1 << 16 }] {
        let map = |seed| {
            let spec = MapSpec { seed, ..spec(Kernel::laplace(4.0), bins, 32) };
            spec.fit(&engine(1), &sampled).unwrap()
        };
        let bound = Certificate::measure(&engine(1), &map(0), &sampled).unwrap().bound;
        let Bound::FiniteSet { epsilon, holds: true, .. } = bound else {
            panic!("a bound for finite sets that holds, not {bound:?}")
        };
        let (mut broken, mut third) = (0, 0);
        for seed in 0..300 {
            let map = map(seed);
            let z = map.transform_sparse(&engine(1), &Rows::from(&x)).unwrap();
            let mut worst = 0.0f64;
            for i in 0..16 {
                for j in 0..i {
                    let rows = Rows::from(&z);
                    let estimate = Kernel::Linear.eval(&rows, i, &rows, j);
                    let k = Kernel::laplace(4.0).eval(&Rows::from(&x), i, &Rows::from(&x), j);
                    worst = worst.max((estimate - k).abs());
                }
            }
            broken += usize::from(worst > epsilon);
            third += usize::from(worst > epsilon / 3.0);
        }
        assert!(broken <= 15, "{broken} of 300 for {bins:?}");
        assert!(third > 15, "a third of the bound holds too: the bound is worth nothing for {bins:?}");
    }
}

/// Dense and sparse output, dense and sparse rows, fewer grids of more: the same cells.
#[test]
fn every_form_has_the_same_cells() {
    let (dense, sparse) = rows(70);
    for bins in [Bins::Fitted, Bins::Hashed { width: 8 }] {
        let map = |grids| spec(LAPLACE, bins, grids).fit(&engine(2), &sample(Rows::from(&dense), 0)).unwrap();
        let z = map(40).transform_sparse(&engine(1), &Rows::from(&dense)).unwrap();
        assert_eq!(z, map(40).transform_sparse(&engine(7), &Rows::from(&sparse)).unwrap());
        let full = map(40).transform(&engine(2), &Rows::from(&dense)).unwrap();
        let small = map(10).transform_sparse(&engine(1), &Rows::from(&dense)).unwrap();
        for i in 0..70 {
            let (indices, values) = z.view().row(i);
            let mut expected = vec![0.0; full.columns()];
            indices.iter().zip(values).for_each(|(&j, &value)| expected[j as usize] = value);
            assert_eq!(full.row(i), expected);
            let (first, weights) = small.view().row(i);
            assert_eq!(first, &indices[..10]);
            let doubled: Vec<f64> = values[..10].iter().map(|value| 2.0 * value).collect();
            assert_close(weights, &doubled, Relative(1e-12));
        }
    }
}

/// Bins are the cells of all rows of a source, however it is split, repeated or weighted; rows of weight zero have none.
#[test]
fn bins_are_those_of_rows_with_weight() {
    let (x, _) = rows(5000);
    let targets = vec![0.0; 5000];
    let none = || MatrixView::new(&targets, 5000, 1).unwrap();
    let target = Target::Numbers { outputs: 1 };
    let spec = spec(Kernel::laplace(0.5), Bins::Fitted, 20);
    let fit = |weights: Option<&[f64]>, threads| {
        let arrays = Arrays::new(Rows::from(&x), none(), weights, target.clone()).unwrap();
        spec.fit_certified(&engine(threads), &arrays).unwrap().0
    };
    let all = fit(None, 1);
    let features = |map: &bochner::Map| map.transform_sparse(&engine(2), &Rows::from(&x)).unwrap();
    assert!(features(&all).view().values().len() == 5000 * 20, "every row is in bins of its own");
    assert_eq!(features(&all), features(&fit(Some(&vec![0.25; 5000]), 7)));
    let half: Vec<f64> = (0..5000).map(|i| f64::from(u8::from(i < 2500))).collect();
    let z = features(&fit(Some(&half), 2));
    assert!(z.columns() < all.output_dim());
    let seen = |i: usize| z.view().row(i).0.len();
    assert!((0..2500).all(|i| seen(i) == 20) && (2500..5000).any(|i| seen(i) < 20));
}

/// One call gives what two give, bit for bit: over several blocks, for both precisions, dense and sparse rows, any number of threads, and
/// where memory has no room to keep the cells of all rows.
#[test]
fn fitting_and_applying_at_once_changes_nothing() {
    let (dense, sparse) = rows(5000);
    let single = Matrix::from_fn(5000, INPUTS, |i, j| dense.row(i)[j] as f32);
    let same = |rows: Rows<'_, f64>, spec: &MapSpec, engine: &Engine| {
        let targets = MatrixView::new(&[], 5000, 0).unwrap();
        let arrays = Arrays::new(rows, targets, None, Target::Numbers { outputs: 0 }).unwrap();
        let (map, certificate) = spec.fit_certified(&self::engine(2), &arrays).unwrap();
        let at_once = spec.fit_transform_sparse(engine, &rows).unwrap();
        assert_eq!(map.transform_sparse(&self::engine(2), &rows).unwrap(), at_once.2);
        let bytes = |map, certificate| bochner::Model::of_map(engine, map, certificate).to_bytes().unwrap();
        assert_eq!(bytes(map, certificate), bytes(at_once.0, at_once.1));
    };
    for bins in [Bins::Fitted, Bins::Hashed { width: 8 }] {
        for kernel in [Kernel::laplace(0.5), Kernel::laplace(1e-12)] {
            let spec = spec(kernel, bins, 21);
            for threads in [1, 2, 7] {
                same(Rows::from(&dense), &spec, &engine(threads));
            }
            same(Rows::from(&sparse), &spec, &engine(2));
            // Room for the features, twice as they are counted, and not for a cell of each row's own beside them.
            let memory_limit = Some(2 * 5000 * 21 * 12 + 1_000_000);
            same(
                Rows::from(&dense),
                &spec,
                &EngineSpec { threads: 2, memory_limit, ..EngineSpec::default() }.build(),
            );
        }
        let spec = spec(LAPLACE, bins, 21);
        let (map, _, features) = spec.fit_transform_sparse(&engine(2), &Rows::from(&single)).unwrap();
        assert_eq!(map.transform_sparse(&engine(1), &Rows::from(&single)).unwrap(), features);
    }
    assert!(MapSpec::fourier(LAPLACE).fit_transform_sparse(&engine(1), &Rows::from(&dense)).is_err());
}

#[test]
fn what_binning_cannot_do_is_refused() {
    let refused = |kernel, bins| spec(kernel, bins, 10).build(INPUTS).unwrap_err().to_string();
    let hashed = Bins::Hashed { width: 4 };
    let text = refused(Kernel::gaussian(1.0), hashed);
    assert!(text.contains("not convex") && text.contains("laplace"), "{text}");
    assert!(refused(Kernel::Linear, hashed).contains("product of one-dimensional"));
    assert!(refused(LAPLACE, Bins::Fitted).contains("fit it to rows"));
    assert!(refused(LAPLACE, Bins::Hashed { width: 0 }).contains("at least 1"));
    assert!(refused(LAPLACE, Bins::Hashed { width: 1 << 31 }).contains("below 2³²"));
    let part = bochner::stat::Sample::of(&engine(1), &(&rows(60).0, &vec![0.0; 60]), 20, 0).unwrap();
    let text = spec(LAPLACE, Bins::Fitted, 10).fit(&engine(1), &part).unwrap_err().to_string();
    assert!(text.contains("part of the rows"), "{text}");
    let map = MapSpec::fourier(LAPLACE).build(INPUTS).unwrap();
    assert!(map.transform_sparse(&Engine::default(), &Rows::from(&rows(3).0)).is_err());
}

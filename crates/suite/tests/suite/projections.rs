//! Random projections: means, variances and theorems by simulation, the printed constructions that they must not be, and what is refused.

use crate::table::{engine, inner, rows, sample};
use bochner::certify::{
    Bound, Certificate, Kept, dimension_for, epsilon_for, inner_mean, inner_variance, johnson_lindenstrauss,
    length_interval, margin_dimension,
};
use bochner::map::Overlap;
use bochner::{
    Arrays, Csr, Engine, EngineSpec, Error, Kernel, LabelKind, Labels, Lambda, Linear, MapSpec, Matrix,
    Method, Model, Nonzeros, Projection, Rows, Target,
};
use bochner_testkit::{
    Absolute, Chance, assert_close, assert_same_bits, binomial_interval, binomial_lower, normals,
};

/// Standard errors that a mean may be off: a right one fails with probability 8e-11, as far as it is normal.
const SIGMAS: f64 = 6.5;

fn sparse(count: usize, signed: bool) -> Projection {
    Projection::Sparse { nonzeros: Nonzeros::Count { count }, signed }
}

fn spec(how: Projection, features: usize, seed: u64) -> MapSpec {
    MapSpec { kernel: Kernel::Linear, method: Method::Projection { how }, features, seed }
}

/// Every kind that keeps inner products on average.
fn kinds() -> [Projection; 8] {
    [
        Projection::Gaussian,
        Projection::Signs,
        Projection::Orthonormal,
        Projection::Hadamard,
        sparse(1, true),
        sparse(2, true),
        sparse(4, true),
        Projection::Sparse { nonzeros: Nonzeros::Theorem, signed: true },
    ]
}

/// Ax·Ay for rows i and j, one for each seed.
fn estimates(how: Projection, m: usize, x: &Matrix<f64>, pair: (usize, usize), seeds: u64) -> Vec<f64> {
    let [values] = estimates_of(how, m, x, [pair], seeds);
    values
}

/// The same for some pairs, of the same matrices.
fn estimates_of<const N: usize>(
    how: Projection,
    m: usize,
    x: &Matrix<f64>,
    pairs: [(usize, usize); N],
    seeds: u64,
) -> [Vec<f64>; N] {
    let engine = engine(1);
    let mut values = [const { Vec::new() }; N];
    for seed in 0..seeds {
        let z = spec(how, m, seed).build(x.columns()).unwrap().transform(&engine, &Rows::from(x)).unwrap();
        values.iter_mut().zip(pairs).for_each(|(values, (i, j))| values.push(inner(&z, i, j)));
    }
    values
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Whether values have this mean and this variance, each within 6.5 standard errors; that of the mean is known, that of the variance is measured.
fn agree(values: &[f64], expected: f64, variance: f64) -> (bool, bool) {
    let n = values.len() as f64;
    let squares: Vec<f64> = values.iter().map(|v| (v - expected).powi(2)).collect();
    let found = mean(&squares);
    let error = (squares.iter().map(|s| (s - found).powi(2)).sum::<f64>() / n / n).sqrt();
    let rounding = 1e-12 * (1.0 + expected.abs());
    let is_mean = (mean(values) - expected).abs() <= SIGMAS * (variance / n).sqrt() + rounding;
    (is_mean, (found - variance).abs() <= SIGMAS * error + rounding)
}

/// Rows with large entries and small ones: some pairs nearly parallel, one row with a single entry.
fn few_rows(d: usize) -> Matrix<f64> {
    Matrix::from_fn(4, d, |i, j| match i {
        3 => f64::from(u8::from(j == d / 2)) * 1.5,
        _ => ((i * i * 13 + j * 7 + 1) as f64).sin() + if j == 0 { 1.2 } else { 0.1 },
    })
}

/// E Ax·Ay = x·y, with the exact variance, for fewer outputs than columns and for more, whole blocks and cut ones, sizes that s divides and that it does not. α = 8e-11 each, by the central limit theorem;
/// a matrix a twentieth too large and a variance a quarter too large are seen.
#[test]
fn means_and_variances_are_exact() {
    let (mut seen_scale, mut seen_variance, mut checked) = (0, 0, 0);
    for (d, m) in [(6, 4), (5, 11), (8, 20), (1, 5)] {
        let x = few_rows(d);
        let view = Rows::from(&x);
        for how in kinds() {
            let pairs = [(0, 1), (1, 1), (2, 3)];
            for (values, pair) in estimates_of(how, m, &x, pairs, 6000).into_iter().zip(pairs) {
                let exact = Kernel::Linear.eval(&view, pair.0, &view, pair.1);
                let variance = inner_variance(how, m, &view, pair).unwrap();
                assert_close(&[inner_mean(how, m, &view, pair).unwrap()], &[exact], Absolute(1e-12));
                let found = agree(&values, exact, variance);
                assert_eq!(
                    found,
                    (true, true),
                    "{how}, {d} → {m}, {pair:?}: {} not {exact}, variance {variance}",
                    mean(&values)
                );
                checked += 1;
                let scaled: Vec<f64> = values.iter().map(|v| 1.05 * 1.05 * v).collect();
                seen_scale += usize::from(!agree(&scaled, exact, variance).0);
                seen_variance += usize::from(!agree(&values, exact, 1.25 * variance + 1e-9).1);
            }
        }
    }
    assert!(seen_scale > checked / 2, "{seen_scale} of {checked} means tell a twentieth apart");
    assert!(seen_variance > checked / 2, "{seen_variance} of {checked} variances tell a quarter apart");
}

/// The sparse construction as the lecture notes print it: rows (i − 1)·s + h in place of (i − 1)·m/s + h, entries without 1/√s.
fn printed(x: &[f64], m: usize, s: usize, seed: u64, root: bool) -> Vec<f64> {
    let mut chance = Chance::new(seed);
    let mut y = vec![0.0; m + s * s];
    for &x in x {
        for i in 0..s {
            let (h, sign) = (chance.below(m / s), if chance.below(2) == 0 { 1.0 } else { -1.0 });
            y[i * s + h] += sign * x / if root { (s as f64).sqrt() } else { 1.0 };
        }
    }
    y
}

/// As printed, ‖Ax‖² is s times too large: the test of means sees it. With 1/√s put in, the mean is right, but rows overlap, and for s < m/s half of them are never used: the test of variances sees that. For
/// s > m/s there are not enough rows.
#[test]
fn the_printed_pseudo_code_is_rejected() {
    let (m, s) = (32, 2);
    let x = few_rows(6);
    let view = Rows::from(&x);
    let how = sparse(s, true);
    let exact = Kernel::Linear.eval(&view, 0, &view, 0);
    let variance = inner_variance(how, m, &view, (0, 0)).unwrap();
    let lengths = |root| {
        let one = |seed| printed(x.row(0), m, s, seed, root).iter().map(|y| y * y).sum::<f64>();
        (0..6000).map(one).collect::<Vec<f64>>()
    };
    assert_eq!(agree(&estimates(how, m, &x, (0, 0), 6000), exact, variance), (true, true));
    assert!(!agree(&lengths(false), exact, variance).0, "the mean is s times too large");
    assert_close(&[mean(&lengths(false)) / exact], &[s as f64], Absolute(0.2));
    assert!(!agree(&lengths(true), exact, variance).1, "rows overlap");
    let overrun = printed(x.row(0), 12, 6, 1, true);
    assert!(overrun[12..].iter().any(|y| *y != 0.0), "rows beyond the last");
}

/// One entry of size 1/√s in every block of every column, blocks ⌊i·m/s⌋ … ⌊(i + 1)·m/s⌋ also where s does not divide m.
#[test]
fn blocks_have_one_entry_of_each_column() {
    let d = 30;
    let unit = Matrix::from_fn(d, d, |i, j| f64::from(u8::from(i == j)));
    for (m, s) in [(11, 4), (12, 4), (7, 7), (100, 3), (5, 1)] {
        for signed in [true, false] {
            let map = spec(sparse(s, signed), m, 3).build(d).unwrap();
            let z = map.transform(&engine(1), &Rows::from(&unit)).unwrap();
            let mut minus = 0;
            for j in 0..d {
                for block in 0..s {
                    let entries = &z.row(j)[block * m / s..(block + 1) * m / s];
                    let stored: Vec<f64> = entries.iter().copied().filter(|z| *z != 0.0).collect();
                    assert_eq!(stored.len(), 1, "column {j}, block {block} of {m}/{s}");
                    assert_close(&[stored[0].abs()], &[(s as f64).sqrt().recip()], Absolute(1e-15));
                    minus += usize::from(stored[0] < 0.0);
                }
            }
            assert_eq!(minus > 0, signed);
        }
    }
}

/// Without signs E Ax·Ay = x·y + (s/m)·(Σx·Σy − x·y), and Var = V/m·(1 − s/m): found as predicted, and x·y is not.
#[test]
fn projections_without_signs_are_biased_as_predicted() {
    let (x, _) = rows(4);
    let view = Rows::from(&x);
    for (m, s) in [(8, 1), (12, 4), (11, 4)] {
        let how = sparse(s, false);
        let values = estimates(how, m, &x, (0, 1), 6000);
        let exact = Kernel::Linear.eval(&view, 0, &view, 1);
        let sums = x.row(0).iter().sum::<f64>() * x.row(1).iter().sum::<f64>();
        let expected = inner_mean(how, m, &view, (0, 1)).unwrap();
        let variance = inner_variance(how, m, &view, (0, 1)).unwrap();
        if m % s == 0 {
            assert_close(&[expected], &[exact + s as f64 / m as f64 * (sums - exact)], Absolute(1e-12));
            let signed = inner_variance(sparse(s, true), m, &view, (0, 1)).unwrap();
            assert_close(&[variance], &[signed * (1.0 - s as f64 / m as f64)], Absolute(1e-12));
        }
        assert_eq!(agree(&values, expected, variance), (true, true), "{m}/{s}: {}", mean(&values));
        assert!(!agree(&values, exact, variance).0, "the bias is not seen");
    }
    let recipe = spec(sparse(2, false), 8, 0).recipe(7).unwrap().unwrap().to_string();
    assert!(recipe.contains("biased"), "{recipe}");
}

/// Two unit vectors: flat, spiky, or nearly the same.
fn unit_pair(d: usize, which: usize) -> Matrix<f64> {
    let raw = Matrix::from_fn(2, d, |i, j| match which {
        0 => ((i * 31 + j * 7 + 1) as f64).sin(),
        1 => f64::from(u8::from(j < 2)) * if i == 1 && j == 1 { -1.0 } else { 1.0 },
        _ => 1.0 + 0.2 * (i as f64) * (j as f64).cos(),
    });
    let length = |i: usize| raw.row(i).iter().map(|x| x * x).sum::<f64>().sqrt();
    Matrix::from_fn(2, d, |i, j| raw.row(i)[j] / length(i))
}

/// The theorem of each kind: at the ε that it names for one pair and δ, the share of 1,500 seeds that are off by more is at most δ, by the exact binomial test at 1e-9; at a twentieth of that ε it is not.
#[test]
fn theorems_hold_by_simulation() {
    let (d, m, delta, seeds) = (24, 20, 0.2, 1500);
    for how in kinds() {
        for kept in [Kept::Distances, Kept::InnerProducts] {
            // N = 2 points count as N²/2 = 2 pairs.
            let epsilon = epsilon_for(how, kept, (2, d), m, 2.0 * delta).unwrap();
            let mut most = 0;
            for which in 0..3 {
                let x = unit_pair(d, which);
                let exact = inner(&x, 0, 1);
                let distance = 2.0 - 2.0 * exact;
                let off = |share: f64| {
                    let engine = engine(1);
                    let fails = |seed: &u64| {
                        let map = spec(how, m, *seed).build(d).unwrap();
                        let z = map.transform(&engine, &Rows::from(&x)).unwrap();
                        let error = match kept {
                            Kept::InnerProducts => (inner(&z, 0, 1) - exact).abs(),
                            Kept::Distances => {
                                let found = inner(&z, 0, 0) + inner(&z, 1, 1) - 2.0 * inner(&z, 0, 1);
                                (found / distance - 1.0).abs()
                            }
                        };
                        error > share * epsilon
                    };
                    (0..seeds).filter(fails).count()
                };
                let missed = off(1.0);
                assert!(
                    binomial_lower(missed, seeds as usize, 1e-9) <= delta,
                    "{how} {kept:?} {which}: {missed} beyond {epsilon}"
                );
                most = most.max(off(0.05));
            }
            assert!(binomial_lower(most, seeds as usize, 1e-9) > delta, "{how} {kept:?}: no power, {most}");
        }
    }
}

/// All pairs of twelve points at once, in the dimension that is asked for: kept in a share 1 − δ of 100 seeds (binomial, 1e-9), and in fewer if there are sixteen times fewer outputs.
#[test]
fn the_dimension_is_enough_for_all_pairs() {
    let (n, d, epsilon, delta) = (12, 500, 0.45, 0.2);
    let x = Matrix::new(n, d, normals(n, d, 8)).unwrap();
    let distance = |z: &Matrix<f64>, i, j| inner(z, i, i) + inner(z, j, j) - 2.0 * inner(z, i, j);
    for how in [Projection::Gaussian, Projection::Signs, Projection::Orthonormal] {
        let m = dimension_for(how, Kept::Distances, (n as u64, d), epsilon, delta).unwrap();
        assert!(m <= johnson_lindenstrauss(n as u64, epsilon, delta).unwrap());
        let misses = |m: usize| {
            let misses = |seed: &u64| {
                let map = spec(how, m, *seed).build(d).unwrap();
                let z = map.transform(&engine(1), &Rows::from(&x)).unwrap();
                let off = |i, j| (distance(&z, i, j) / distance(&x, i, j) - 1.0).abs() > epsilon;
                (0..n).any(|i| (0..i).any(|j| off(i, j)))
            };
            (0..100).filter(misses).count()
        };
        let missed = misses(m);
        assert!(binomial_lower(missed, 100, 1e-9) <= delta, "{how}, {m} outputs: {missed}");
        assert!(binomial_lower(misses(m / 16), 100, 1e-9) > delta, "{how}: no power");
    }
}

/// The exact interval of χ²: of 20,000 seeds, a share δ of squared lengths is outside, half of it on either side, within the exact binomial interval at 1e-9. The classical bound's interval is wider, and
/// the test sees it.
#[test]
fn the_exact_interval_covers() {
    let (d, seeds, delta) = (3, 20_000, 0.1);
    let x = Matrix::new(1, d, vec![0.6, 0.0, -0.8]).unwrap();
    for m in [1, 4, 25] {
        let lengths = estimates(Projection::Gaussian, m, &x, (0, 0), seeds);
        let (low, high) = length_interval(m, delta).unwrap();
        let below = lengths.iter().filter(|l| **l < low).count();
        let above = lengths.iter().filter(|l| **l > high).count();
        for (side, found) in [("below", below), ("above", above)] {
            let (least, most) = binomial_interval(found, seeds as usize, 1e-9);
            assert!(least <= delta / 2.0 && delta / 2.0 <= most, "m = {m}, {side}: {found}");
        }
        let wide = epsilon_for(Projection::Signs, Kept::Distances, (2, d), m, 2.0 * delta).unwrap();
        let outside = lengths.iter().filter(|l| (**l - 1.0).abs() > wide).count();
        assert!(binomial_interval(outside, seeds as usize, 1e-9).1 < delta, "no power");
    }
}

/// The margin theorem: unit rows at margin γ of a unit w. In the dimension named, y·Aw·Ax < γ/2 for more than a part ε of the rows in at most a share δ of 60 seeds (binomial, 1e-9); two outputs are not enough.
#[test]
fn margins_are_kept() {
    let (n, d, margin, epsilon, delta) = (100, 400, 0.5, 0.2, 0.2);
    let mut chance = Chance::new(3);
    // Row 0 is w, the first axis; the others have w·x = ±γ or a little more, and a random rest.
    let mut x = Matrix::from_fn(n + 1, d, |i, j| match (i, j) {
        (0, 0) => 1.0,
        (0, _) | (_, 0) => 0.0,
        _ => chance.normal(),
    });
    for i in 1..=n {
        let (along, sign) = (margin + 0.1 * chance.uniform(), if i % 2 == 0 { 1.0 } else { -1.0 });
        let rest = (1.0 - along * along).sqrt() / x.row(i).iter().map(|x| x * x).sum::<f64>().sqrt();
        x.row_mut(i).iter_mut().for_each(|x| *x *= rest);
        x.row_mut(i)[0] = sign * along;
    }
    let m = margin_dimension(margin, epsilon, delta).unwrap();
    for how in [Projection::Gaussian, Projection::Signs, Projection::Orthonormal] {
        let fails = |m: usize| {
            let fails = |seed: &u64| {
                let z = spec(how, m, *seed).build(d).unwrap();
                let z = z.transform(&engine(1), &Rows::from(&x)).unwrap();
                let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
                let lost = (1..=n).filter(|&i| sign(i) * inner(&z, 0, i) < margin / 2.0).count();
                lost as f64 > epsilon * n as f64
            };
            (0..60).filter(fails).count()
        };
        assert!(binomial_lower(fails(m), 60, 1e-9) <= delta, "{how}, {m} outputs");
        assert!(binomial_lower(fails(m / 150), 60, 1e-9) > delta, "{how}: no power");
    }
}

/// Whole blocks lose nothing: as many outputs as columns, or a multiple, keep every inner product to rounding, and the certificate says so.
#[test]
fn whole_blocks_are_exact() {
    let (x, _) = rows(20);
    let view = Rows::from(&x);
    let sample = sample(view, 1);
    for (how, m) in [
        (Projection::Orthonormal, 7),
        (Projection::Orthonormal, 21),
        (Projection::Hadamard, 8),
        (Projection::Hadamard, 16),
    ] {
        let map = spec(how, m, 5).build(7).unwrap();
        let z = map.transform(&engine(1), &view).unwrap();
        for (i, j) in [(0, 0), (0, 1), (7, 12)] {
            assert_close(&[inner(&z, i, j)], &[inner(&x, i, j)], Absolute(1e-12));
            assert_close(&[inner_variance(how, m, &view, (i, j)).unwrap()], &[0.0], Absolute(0.0));
        }
        let certificate = Certificate::measure(&Engine::default(), &map, &sample).unwrap();
        assert_eq!(certificate.bound, Bound::Exact, "{certificate}");
        assert_eq!(certificate.measured, None, "there is nothing to measure");
    }
}

/// Rows of A are functions of the seed and their number: fewer outputs are a prefix, up to scale. Not so for the sparse ones, whose places depend on m.
#[test]
fn fewer_outputs_are_a_prefix() {
    let x = few_rows(13);
    for how in [Projection::Gaussian, Projection::Signs, Projection::Orthonormal, Projection::Hadamard] {
        let features = |m: usize| {
            let z = spec(how, m, 9).build(13).unwrap().transform(&engine(1), &Rows::from(&x)).unwrap();
            Matrix::from_fn(4, m, |i, j| (m as f64).sqrt() * z.row(i)[j])
        };
        let (few, many) = (features(5), features(40));
        for i in 0..4 {
            assert_close(few.row(i), &many.row(i)[..5], Absolute(1e-12));
        }
    }
}

/// Dense rows, sparse rows and features without zeros: the same bits, with a table of places and without.
#[test]
fn sparse_features_are_the_dense_ones_without_their_zeros() {
    let wide = 3_000_000; // 8 places each are too many for the table
    for (columns, m, s) in [(40, 100, 8), (40, 16, 1), (wide, 64, 8), (wide, 1000, 1)] {
        let mut csr = Csr::empty(columns);
        for i in 0..300u32 {
            let mut entries: Vec<(u32, f64)> = (0..i % 7)
                .map(|k| (((i * 7919 + k * 104_729) as usize % columns) as u32, f64::from(k) - 2.5))
                .collect();
            entries.sort_by_key(|e| e.0);
            entries.dedup_by_key(|e| e.0);
            csr.push_row(entries);
        }
        let map = spec(sparse(s, true), m, 4).build(columns).unwrap();
        let dense = map.transform(&engine(2), &Rows::from(&csr)).unwrap();
        let without = map.transform_sparse(&engine(3), &Rows::from(&csr)).unwrap();
        let found = Matrix::from_fn(300, m, |i, j| {
            let (indices, values) = without.view().row(i);
            indices.binary_search(&(j as u32)).map_or(0.0, |at| values[at])
        });
        for (found, expected) in found.as_slice().iter().zip(dense.as_slice()) {
            assert!((found - expected).abs() <= 0.0, "{found} and {expected}");
        }
        let stored = without.view().values().len();
        assert!(stored <= s * csr.view().values().len() && stored > 0);
        if columns == 40 {
            let full = Matrix::from_fn(300, columns, |i, j| {
                let (indices, values) = csr.view().row(i);
                indices.binary_search(&(j as u32)).map_or(0.0, |at| values[at])
            });
            assert_same_bits(
                map.transform(&engine(1), &Rows::from(&full)).unwrap().as_slice(),
                dense.as_slice(),
            );
        }
    }
    // Others have no zeros to leave out.
    let map = spec(Projection::Signs, 4, 0).build(7).unwrap();
    assert!(matches!(
        map.transform_sparse(&engine(1), &Rows::from(&rows(3).0)),
        Err(Error::Unsupported { .. })
    ));
}

/// Rows of three million columns are certified as they are stored: written out they would take twelve gigabytes. Their file is small, and what it makes again is the same.
#[test]
fn wide_rows_are_certified_and_saved() {
    let (n, columns) = (600, 3_000_000);
    let mut csr = Csr::empty(columns);
    for i in 0..n as u32 {
        csr.push_row((0..20).map(|k| (k * 150_000 + i * 37 % 1000, 1.0 + f64::from(i % 5))));
    }
    let y = Matrix::zeros(n, 1);
    let target = Target::Numbers { outputs: 1 };
    let source = Arrays::new(Rows::from(&csr), y.view(), None, target).unwrap();
    let spec = spec(Projection::SPARSE, 256, 1);
    let (map, certificate) = spec.fit_certified(&engine(2), &source).unwrap();
    assert!(matches!(certificate.bound, Bound::FiniteSet { holds: true, .. }), "{certificate}");
    assert!(certificate.measured.unwrap().mean > 0.0);
    let z = map.transform(&engine(2), &Rows::from(&csr)).unwrap();
    let bytes = Model::of_map(&engine(2), map, certificate).to_bytes().unwrap();
    assert!(bytes.len() < 10_000, "{}", bytes.len());
    let loaded = Model::from_bytes(&bytes).unwrap();
    assert_same_bits(loaded.map().transform(&engine(1), &Rows::from(&csr)).unwrap().as_slice(), z.as_slice());
}

/// A support vector machine on hashed words: features stay sparse in memory, so that a million of them are no more than the words.
#[test]
fn hashed_features_are_learned_from_without_their_zeros() {
    let (n, columns, m) = (200, 50_000, 1 << 20);
    let mut csr = Csr::empty(columns);
    for i in 0..n as u32 {
        let first = if i % 2 == 0 { 0 } else { 10 };
        csr.push_row([(first + i % 5, 1.0), (100 + i * 131 % 40_000, 1.0)]);
    }
    let y = Matrix::from_fn(n, 1, |i, _| (i % 2) as f64);
    let labels = Labels::new(LabelKind::Integer, vec!["0".into(), "1".into()]);
    let source = Arrays::new(Rows::from(&csr), y.view(), None, Target::Classes { labels }).unwrap();
    let map = spec(sparse(1, true), m, 2);
    assert!(map.is_sparse());
    // 200 rows of 2²⁰ features would be 1.6 GB.
    let engine = EngineSpec { threads: 1, memory_limit: Some(400 << 20), ..EngineSpec::default() }.build();
    let svm = Linear { lambda: Lambda::Given { value: 1e-4 }, ..Linear::svm(map) };
    let model = svm.fit(&engine, &source).unwrap();
    let scores = model.decide(&engine, Rows::from(&csr)).unwrap();
    assert!((0..n).all(|i| (scores.row(i)[0] > 0.0) == (i % 2 == 1)));
    let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_same_bits(loaded.decide(&engine, Rows::from(&csr)).unwrap().as_slice(), scores.as_slice());
}

/// Against counting in the matrix itself; sampled where the pairs are too many.
#[test]
fn the_worst_overlap_is_that_of_the_matrix() {
    let d = 60;
    let unit = Matrix::from_fn(d, d, |i, j| f64::from(u8::from(i == j)));
    for (m, s, signed) in [(16, 4, true), (11, 4, false), (64, 8, true), (9, 1, true), (6, 6, true)] {
        let map = spec(sparse(s, signed), m, 12).build(d).unwrap();
        let a = map.transform(&engine(1), &Rows::from(&unit)).unwrap();
        let shared = |i: usize, j: usize| {
            a.row(i).iter().zip(a.row(j)).filter(|(a, b)| **a != 0.0 && **b != 0.0).count()
        };
        let worst = (0..d).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| shared(i, j)).max();
        let found = map.worst_overlap().unwrap();
        let limit = 2.0 * (s * s) as f64 / m as f64;
        let expected = Overlap { worst: worst.unwrap(), nonzeros: s, limit, pairs: 1770, all: true };
        assert_eq!(found, expected);
        assert_eq!(found.holds(), worst.unwrap() as f64 <= limit, "{found}");
    }
    let wide = spec(sparse(8, true), 64, 1).build(100_000).unwrap().worst_overlap().unwrap();
    assert!(!wide.all && wide.worst <= 8 && wide.worst >= 4, "{wide}");
    assert!(spec(Projection::Signs, 8, 1).build(5).unwrap().worst_overlap().is_none());
}

/// The bound of the certificate holds for inner products of rows of any length, and scales with them.
#[test]
fn bounds_scale_with_the_rows() {
    let (x, _) = rows(50);
    let large = Matrix::from_fn(50, 7, |i, j| 10.0 * x.row(i)[j]);
    for how in kinds() {
        let map = spec(how, 5, 3).build(7).unwrap();
        let epsilon = |x: &Matrix<f64>| {
            let sample = sample(Rows::from(x), 1);
            let certificate = Certificate::measure(&Engine::default(), &map, &sample).unwrap();
            let Bound::FiniteSet { epsilon, one_pair, holds: true, points: 50, .. } = certificate.bound
            else {
                panic!("{certificate}")
            };
            assert!(one_pair.unwrap() < epsilon);
            epsilon
        };
        let longest = (0..50).map(|i| inner(&x, i, i)).fold(0.0, f64::max);
        let named = epsilon_for(how, Kept::InnerProducts, (50, 7), 5, 0.05).unwrap();
        assert_close(&[epsilon(&x) / longest], &[named], Absolute(1e-9 * named));
        assert_close(&[epsilon(&large) / (100.0 * epsilon(&x))], &[1.0], Absolute(1e-9));
    }
    let unsigned = spec(sparse(2, false), 5, 3).build(7).unwrap();
    let certificate =
        Certificate::measure(&Engine::default(), &unsigned, &sample(Rows::from(&x), 1)).unwrap();
    assert_eq!(certificate.bound, Bound::MeasuredOnly);
    assert!(certificate.measured.is_some());
}

#[test]
fn what_cannot_be_projected_is_refused() {
    let other = MapSpec { kernel: Kernel::gaussian(1.0), ..spec(Projection::Signs, 8, 0) };
    let error = other.build(5).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }) && error.to_string().contains("linear"), "{error}");
    let scaled = MapSpec { kernel: Kernel::Linear.scaled(2.0), ..spec(Projection::Signs, 8, 0) };
    assert!(scaled.build(5).is_err());
    for how in kinds() {
        assert!(matches!(spec(how, 0, 0).build(5), Err(Error::Parameter { name: "features", .. })));
        assert!(matches!(spec(how, 8, 0).build(0), Err(Error::NoColumns)));
    }
    let error = spec(sparse(9, true), 8, 0).build(5).unwrap_err().to_string();
    assert!(error.contains("nonzeros") && error.contains("9 for 8"), "{error}");
    assert!(spec(sparse(0, true), 8, 0).build(5).is_err());
    assert!(matches!(spec(sparse(1, true), 1 << 40, 0).build(5), Err(Error::Overflow { .. })));
    let dense = [Projection::Gaussian, Projection::Signs, Projection::Orthonormal];
    for how in dense.into_iter().chain([Projection::Hadamard]) {
        assert!(matches!(spec(how, 1 << 40, 0).build(1 << 40), Err(Error::Memory { .. })), "{how}");
        assert!(spec(how, usize::MAX, 0).build(usize::MAX).is_err(), "{how}");
    }
    // The rows decide how many outputs of a sparse projection fit: those are refused when they are asked for.
    let small = EngineSpec { memory_limit: Some(1 << 20), ..EngineSpec::default() }.build();
    let map = spec(sparse(1, true), 1 << 20, 0).build(7).unwrap();
    let x = Matrix::<f64>::zeros(10, 7);
    assert!(matches!(map.transform(&small, &Rows::from(&x)), Err(Error::Memory { .. })));
    assert!(map.transform_sparse(&small, &Rows::from(&x)).is_ok());
    assert_eq!(Nonzeros::Theorem.of(1000, 20_000), 100); // √(1000·9.9035) = 99.5
    assert_eq!((Nonzeros::Theorem.of(4, 1_000_000), Nonzeros::Theorem.of(10, 1)), (4, 1));
}

#[test]
fn projections_are_plain_data() {
    for how in kinds().into_iter().chain([sparse(3, false)]) {
        let spec = spec(how, 12, 7);
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<MapSpec>(&text).unwrap(), spec, "{text}");
    }
    let text = serde_json::to_string(&Method::Projection { how: Projection::SPARSE }).unwrap();
    let expected = r#"{"kind":"projection","how":{"kind":"sparse","nonzeros":{"kind":"count","count":8},"signed":true}}"#;
    assert_eq!(text, expected);
}

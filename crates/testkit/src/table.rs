//! Seeded numbers and small tables for tests to chew on.
//!
//! ```text
//! wordᵢ = mix(seed + i · 0x9e3779b97f4a7c15 mod 2⁶⁴)      SplitMix64 (Steele, Lea & Flood 2014)
//! ```
//! The library draws from Philox; its tests draw from another generator, so that a fault in the one cannot
//! hide in data made by the other. A longer table with the same seed begins with the shorter one.

/// A stream of random numbers, all of it decided by the seed.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// The stream of this seed.
    pub fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    /// 64 random bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Uniform on the multiples of 2⁻⁵³ in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.word() >> 11) as f64 * 2.0_f64.powi(-53)
    }

    /// Standard normal: √(−2 ln u) · cos 2πv with u in (0, 1] (Box & Muller 1958; the sine is left unused).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Uniform on 0..n, up to a bias of n/2⁶⁴.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "there is no number below 0 to draw");
        ((u128::from(self.word()) * n as u128) >> 64) as usize
    }

    /// A direction in d dimensions: a normal vector divided by its length.
    fn direction(&mut self, d: usize) -> Vec<f64> {
        let vector: Vec<f64> = (0..d).map(|_| self.normal()).collect();
        let length = vector.iter().map(|v| v * v).sum::<f64>().sqrt();
        vector.iter().map(|v| v / length).collect()
    }
}

/// n×d independent standard normals.
pub fn normals(n: usize, d: usize, seed: u64) -> Vec<f64> {
    let mut chance = Chance::new(seed);
    (0..n * d).map(|_| chance.normal()).collect()
}

/// n×d independent uniforms on [0, 1).
pub fn uniforms(n: usize, d: usize, seed: u64) -> Vec<f64> {
    let mut chance = Chance::new(seed);
    (0..n * d).map(|_| chance.uniform()).collect()
}

/// Rows and targets of a smooth regression: standard normal x (n×d) and, for each target j, y (n×targets)
/// with
///
/// ```text
/// yⱼ = sin(aⱼ·x) + ½ (bⱼ·x)² + 0.1 ε,     aⱼ, bⱼ random directions,  ε standard normal
/// ```
/// so that a linear fit learns something, a kernel fit much more, and no fit gets below 0.01 in mean square.
pub fn regression(n: usize, d: usize, targets: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut chance = Chance::new(seed);
    let surfaces: Vec<_> = (0..targets).map(|_| (chance.direction(d), chance.direction(d))).collect();
    let (mut x, mut y) = (Vec::with_capacity(n * d), Vec::with_capacity(n * targets));
    for _ in 0..n {
        let row: Vec<f64> = (0..d).map(|_| chance.normal()).collect();
        let along = |direction: &[f64]| direction.iter().zip(&row).map(|(a, x)| a * x).sum::<f64>();
        for (a, b) in &surfaces {
            y.push(along(a).sin() + 0.5 * along(b).powi(2) + 0.1 * chance.normal());
        }
        x.extend(row);
    }
    (x, y)
}

/// The distance between neighbouring blobs of [`classification`], in standard deviations.
const BLOB_SPACING: f64 = 4.0;

/// Rows and labels of unit normal blobs, one for each class, that overlap a little.
///
/// Class c sits at 4 × the digits of c, written with d digits in the smallest base that has enough of them: a
/// grid, on which neighbours are 4 apart, so that the best rule errs on about Φ(−2) ≈ 2.3 % for each
/// neighbour. Row i < classes is of class i, so that none is empty; the classes of later rows are drawn.
pub fn classification(n: usize, d: usize, classes: usize, seed: u64) -> (Vec<f64>, Vec<u32>) {
    assert!(d > 0 && classes > 0, "expected inputs and classes, found d = {d}, classes = {classes}");
    let reaches = |base: &usize| base.checked_pow(d as u32).is_none_or(|points| points >= classes);
    let base = (1..=classes).find(reaches).unwrap_or(classes);
    let mut chance = Chance::new(seed);
    let (mut x, mut labels) = (Vec::with_capacity(n * d), Vec::with_capacity(n));
    for i in 0..n {
        let class = if i < classes { i } else { chance.below(classes) };
        let mut digits = class;
        for _ in 0..d {
            x.push(BLOB_SPACING * (digits % base) as f64 + chance.normal());
            digits /= base;
        }
        labels.push(class as u32);
    }
    (x, labels)
}

/// An n×d table in compressed rows, each entry present with probability `density` and then standard normal.
///
/// Row i holds `values[indptr[i]..indptr[i + 1]]` in the columns `indices[…]`, which ascend.
pub fn sparse(n: usize, d: usize, density: f64, seed: u64) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
    assert!((0.0..=1.0).contains(&density), "a density lies in [0, 1], found {density}");
    let mut chance = Chance::new(seed);
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..n {
        for column in 0..d {
            if chance.uniform() < density {
                indices.push(column as u32);
                values.push(chance.normal());
            }
        }
        indptr.push(indices.len());
    }
    (indptr, indices, values)
}

/// The compressed rows with their zeros written out: n×d, where n = `indptr.len() − 1`. Repeated columns add
/// up.
pub fn densify(indptr: &[usize], indices: &[u32], values: &[f64], d: usize) -> Vec<f64> {
    assert_eq!(indices.len(), values.len(), "one column for each value");
    let mut dense = vec![0.0; (indptr.len() - 1) * d];
    for (row, bounds) in indptr.windows(2).enumerate() {
        for entry in bounds[0]..bounds[1] {
            let column = indices[entry] as usize;
            assert!(column < d, "expected columns below {d}, found {column} (row {row})");
            dense[row * d + column] += values[entry];
        }
    }
    dense
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ALPHA, Absolute, assert_close, assert_same_bits, binomial_interval, hoeffding_radius};

    fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
        let n = values.len() as f64;
        values.sum::<f64>() / n
    }

    #[test]
    fn words_are_the_published_ones() {
        let mut chance = Chance::new(1_234_567);
        let words = [(); 3].map(|()| chance.word());
        assert_eq!(words, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    /// Moments of the uniform law, terms in [0, 1]: by Hoeffding each fails by chance at most once in 1e9.
    #[test]
    fn uniforms_are_uniform() {
        let n = 200_000;
        let u = uniforms(n, 1, 1);
        let radius = hoeffding_radius(n, 1.0, ALPHA);
        for power in 1..=4 {
            let moment = mean(u.iter().map(|u| u.powi(power)));
            assert!((moment - 1.0 / f64::from(power + 1)).abs() <= radius, "moment {power}: {moment}");
        }
        let biased = mean(u.iter().map(|u| u * 0.95));
        assert!((biased - 0.5).abs() > radius, "the test has no power");
    }

    /// Φ at five points by counting, at level ALPHA each; normals 5 % too wide must be caught.
    #[test]
    fn normals_are_normal() {
        let n = 200_000;
        let x = normals(n, 1, 2);
        let table = [
            (-2.0, 0.022_750_13),
            (-1.0, 0.158_655_25),
            (0.0, 0.5),
            (1.0, 0.841_344_75),
            (2.0, 0.977_249_87),
        ];
        let agrees = |stretch: f64| {
            table.iter().all(|&(point, probability)| {
                let count = x.iter().filter(|&&x| stretch * x <= point).count();
                let (low, high) = binomial_interval(count, n, ALPHA);
                (low..=high).contains(&probability)
            })
        };
        assert!(agrees(1.0));
        assert!(!agrees(1.05), "the test has no power");
    }

    #[test]
    fn below_reaches_every_number_alike() {
        let (n, draws) = (7, 70_000);
        let mut chance = Chance::new(5);
        let mut counts = vec![0; n];
        (0..draws).for_each(|_| counts[chance.below(n)] += 1);
        for count in counts {
            let (low, high) = binomial_interval(count, draws, ALPHA);
            assert!((low..=high).contains(&(1.0 / 7.0)));
        }
    }

    #[test]
    fn longer_tables_begin_with_shorter_ones() {
        let (short, long) = (regression(10, 3, 2, 9), regression(25, 3, 2, 9));
        assert_same_bits(&long.0[..30], &short.0);
        assert_same_bits(&long.1[..20], &short.1);
        let (short, long) = (classification(10, 2, 3, 9), classification(25, 2, 3, 9));
        assert_same_bits(&long.0[..20], &short.0);
        assert_eq!(long.1[..10], short.1);
        assert!(crate::max_difference(&normals(5, 2, 1), &normals(5, 2, 2)) > 0.1);
    }

    /// A kernel fit must explain nearly all of it, a linear fit some of it, and neither the noise.
    #[test]
    fn regression_is_smooth_and_not_linear() {
        let (n, d) = (400, 3);
        let (x, y) = regression(2 * n, d, 1, 4);
        let (train, test) = (&x[..n * d], &x[n * d..]);
        let kernel = |x: &[f64], y: &[f64]| crate::gaussian(x, y, 2.0);
        let alpha = crate::kernel_ridge(&crate::gram(train, n, train, n, d, kernel), n, &y[..n], 1, 1e-5);
        let by_kernel = crate::predict(&crate::gram(test, n, train, n, d, kernel), n, n, &alpha, &[0.0]);
        let (c, b) = crate::ridge(train, n, d, &y[..n], 1, None, 1e-5, true);
        let by_line = crate::predict(test, n, d, &c, &b);
        let error = |fit: &[f64]| mean(fit.iter().zip(&y[n..]).map(|(f, y)| (f - y).powi(2)));
        let flat = error(&vec![mean(y[..n].iter().copied()); n]);
        let (line, kernel) = (error(&by_line), error(&by_kernel));
        assert!(0.005 < kernel && kernel < 0.1 * flat, "kernel {kernel}, flat {flat}");
        assert!(0.3 * flat < line && line < 0.9 * flat, "line {line}, flat {flat}");
    }

    #[test]
    fn blobs_overlap_a_little() {
        // Two classes at 0 and 4: the best rule cuts at 2 and errs with probability Φ(−2) = 0.02275.
        let n = 20_000;
        let (x, labels) = classification(n, 3, 2, 8);
        let errors =
            labels.iter().enumerate().filter(|&(i, &label)| u32::from(x[3 * i] > 2.0) != label).count();
        let (low, high) = binomial_interval(errors, n, ALPHA);
        assert!(low <= 0.022_750_13 && 0.022_750_13 <= high, "{errors} errors");
    }

    #[test]
    fn blobs_have_places_of_their_own() {
        for (d, classes) in [(1, 5), (2, 3), (3, 27), (40, 7), (2, 1)] {
            let (_, labels) = classification(classes, d, classes, 1);
            assert_eq!(labels, (0..classes as u32).collect::<Vec<_>>());
            // The centres: the mean of many rows of the class, to well within half the spacing.
            let many = 400 * classes;
            let (x, labels) = classification(many, d, classes, 2);
            let centre = |class: usize| -> Vec<i64> {
                let rows: Vec<usize> = (0..many).filter(|&i| labels[i] as usize == class).collect();
                let column = |j: usize| mean(rows.iter().map(|&i| x[i * d + j]));
                (0..d).map(|j| (column(j) / BLOB_SPACING).round() as i64).collect()
            };
            let centres: std::collections::BTreeSet<_> = (0..classes).map(centre).collect();
            assert_eq!(centres.len(), classes, "d = {d}");
        }
    }

    #[test]
    fn sparse_has_its_density_and_ascending_columns() {
        let (n, d) = (300, 200);
        let (indptr, indices, values) = sparse(n, d, 0.05, 3);
        let (low, high) = binomial_interval(values.len(), n * d, ALPHA);
        assert!(low <= 0.05 && 0.05 <= high);
        assert!(!(low <= 0.06 && 0.06 <= high), "the test has no power");
        assert_eq!((indptr.len(), indptr[n]), (n + 1, indices.len()));
        assert!(indptr.windows(2).all(|w| indices[w[0]..w[1]].windows(2).all(|pair| pair[0] < pair[1])));
        let dense = densify(&indptr, &indices, &values, d);
        assert_eq!(dense.iter().filter(|&&x| x.abs() > 0.0).count(), values.len());
    }

    #[test]
    fn densify_by_hand() {
        let dense = densify(&[0, 2, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0], 3);
        assert_close(&dense, &[1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0], Absolute(0.0));
    }
}

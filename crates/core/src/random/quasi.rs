//! Points that fill the unit cube more evenly than chance: the Halton sequence, scrambled.
//!
//! ```text
//! i = i₀ + i₁p + i₂p² + …                  the digits of the number of a point, in base p = the prime of the coordinate
//! x = y₀/p + y₁/p² + y₂/p³ + …             yₖ = aₖ·π(iₖ) + bₖ  mod p,   1 ≤ aₖ < p,  0 ≤ bₖ < p
//! ```
//! (aₖ, bₖ) are a hash of (seed, coordinate, i₀ … iₖ₋₁), so that each digit is permuted in a way that depends on the digits
//! before it; π is one permutation for each (seed, coordinate). What this gives, and the tests hold:
//!
//! - Each x is uniform on (0, 1) over seeds, so that an average over points is unbiased for the integral.
//! - Any pᵃ consecutive points that begin at a multiple of pᵃ have one point in each interval [k/pᵃ, (k+1)/pᵃ), and
//!   2ᵃ3ᵇ such points one in each box of sides 2⁻ᵃ × 3⁻ᵇ; so for any primes.
//! - Two points whose digits first differ at k agree in y₀ … yₖ₋₁, have a uniform pair of distinct yₖ, and independent digits
//!   after: the law of any two points is that of Owen's nested uniform scrambling, and so is the variance of an average.
//!
//! What it does not give: the first n < p points are a sample without replacement of the p cells, no more, so that a
//! coordinate whose base is far above the number of points is as good as independent draws and no better. That much needs all three
//! of a, π and b. Shifts alone leave the n points on an arc of length n/p; multiples alone, on a lattice which is bad for one seed
//! in some hundreds. Stratification is to intervals of about 2⁻²⁴; below, there is a plain uniform number.
//! Owen (1995, 2017).

use super::{Draws, Stream};

/// The points of one seed. A coordinate is a function of (seed, point, coordinate) alone.
#[derive(Clone, Debug)]
pub(crate) struct Halton {
    axes: Vec<Axis>,
}

/// A coordinate.
#[derive(Clone, Copy, Debug)]
struct Axis {
    /// The base.
    prime: u64,
    /// ⌈2⁶⁴/prime⌉, to divide numbers below 2³² by one multiplication.
    reciprocal: u64,
    /// How many digits are permuted.
    digits: u32,
    /// prime to the power of `digits`.
    cells: u64,
    /// Into how many parts a cell is cut: as many as a double has room for.
    parts: u64,
    /// The root of the tree of hashes.
    root: u64,
    /// The key of π.
    stir: u64,
}

impl Halton {
    /// The sequence of this seed in this many dimensions: 56 bytes for each, and while the primes are found about ten more.
    pub(crate) fn new(seed: u64, dimensions: usize) -> Self {
        let axis = |(j, prime): (usize, u64)| Axis::new(prime, seed, j as u64);
        Halton { axes: primes(dimensions).into_iter().enumerate().map(axis).collect() }
    }

    /// Coordinates of a point.
    pub(crate) fn dimensions(&self) -> usize {
        self.axes.len()
    }

    /// Coordinate `j` of a point: in (0, 1), or NaN if there is no such coordinate.
    pub(crate) fn coordinate(&self, point: u64, j: usize) -> f64 {
        self.axes.get(j).map_or(f64::NAN, |axis| axis.at(point))
    }
}

impl Axis {
    fn new(prime: u64, seed: u64, j: u64) -> Self {
        let (mut digits, mut cells) = (1, prime);
        while cells < 1 << 24 && cells * prime <= 1 << 52 {
            (digits, cells) = (digits + 1, cells * prime);
        }
        let mut draws = Draws::new(seed, Stream::Scramble, j);
        let mut key = || u64::from(draws.word()) << 32 | u64::from(draws.word());
        let (root, stir) = (key(), key());
        Axis { prime, reciprocal: u64::MAX / prime + 1, digits, cells, parts: (1 << 52) / cells, root, stir }
    }

    fn at(&self, point: u64) -> f64 {
        let (mut rest, mut node, mut cell) = (point, self.root, 0);
        for _ in 0..self.digits {
            let mut image = share(node, self.prime);
            let mut digit = 0;
            if rest > 0 {
                (rest, digit) = self.divide(rest);
                let factor = 1 + share(node.wrapping_mul(SPREAD), self.prime - 1);
                (_, image) = self.divide(factor * self.stir(digit) + image);
            }
            cell = cell * self.prime + image;
            node = child(node, digit);
        }
        // The middle of a part, an odd number below 2⁵³ over an even one, so that neither end is taken.
        let part = cell * self.parts + share(child(node, rest), self.parts);
        (2 * part + 1) as f64 / (2 * self.cells * self.parts) as f64
    }

    /// π: odd multiples and shifts of numbers below a power of two, repeated until below the prime. It keeps 0. In small bases,
    /// where there are always more points than cells, nothing.
    fn stir(&self, mut digit: u64) -> u64 {
        if self.prime < 32 {
            return digit;
        }
        let bits = u64::BITS - self.prime.leading_zeros();
        loop {
            for factor in [self.stir, self.stir >> 32, self.stir.wrapping_mul(SPREAD) >> 32] {
                digit = digit.wrapping_mul(factor | 1) & ((1 << bits) - 1);
                digit ^= digit >> (bits / 2);
            }
            if digit < self.prime {
                return digit;
            }
        }
    }

    /// Quotient and remainder by the prime.
    fn divide(&self, number: u64) -> (u64, u64) {
        let quotient = if number < 1 << 32 { share(number, self.reciprocal) } else { number / self.prime };
        (quotient, number - quotient * self.prime)
    }
}

/// 2⁶⁴ over the golden ratio, and an odd number with as little pattern: digits of π.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
const FOLD: u64 = 0x243F_6A88_85A3_08D3;

/// The hash of a node of the tree of digits and one digit more: a product of 128 bits, folded.
fn child(node: u64, digit: u64) -> u64 {
    let product = u128::from(node ^ (digit + 1).wrapping_mul(SPREAD)) * u128::from(FOLD);
    (product >> 64) as u64 ^ product as u64
}

/// ⌊hash·n / 2⁶⁴⌋: a number below n, each as likely up to n/2⁶⁴.
fn share(hash: u64, n: u64) -> u64 {
    ((u128::from(hash) * u128::from(n)) >> 64) as u64
}

/// The first primes, by the sieve of Eratosthenes over odd numbers; the n-th prime is below n(ln n + ln ln n) for n ≥ 6.
fn primes(count: usize) -> Vec<u64> {
    let n = count.max(6) as f64;
    let half = (0.5 * n * (libm::log(n) + libm::log(libm::log(n)))) as usize + 1;
    let mut composite = vec![false; half]; // of 2i + 1
    let mut found = vec![2];
    for i in 1..half {
        if composite[i] {
            continue;
        }
        found.push(2 * i as u64 + 1);
        for multiple in (2 * i * (i + 1)..half).step_by(2 * i + 1) {
            composite[multiple] = true;
        }
    }
    found.truncate(count);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hoeffding_radius(n: usize, range: f64, alpha: f64) -> f64 {
        range * (libm::log(2.0 / alpha) / (2.0 * n as f64)).sqrt()
    }

    /// The mean of an indicator over 200,000 seeds, and how far it may be from its probability with α = 1e-9.
    fn frequency(mut event: impl FnMut(u64) -> bool) -> (f64, f64) {
        let n = 200_000;
        let count = (0..n).filter(|&seed| event(seed)).count();
        (count as f64 / n as f64, hoeffding_radius(n as usize, 1.0, 1e-9))
    }

    /// Expected values from `golden/quasi.py`, which has its own Philox, hash and digits.
    #[test]
    fn points_are_those_of_the_script() {
        let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../golden/quasi.txt"));
        assert!(text.lines().count() >= 20);
        for line in text.lines() {
            let fields: Vec<&str> = line.split(' ').collect();
            let [seed, point, j] = [0, 1, 2].map(|k| fields[k].parse::<u64>().unwrap());
            let found = Halton::new(seed, j as usize + 1).coordinate(point, j as usize);
            assert_eq!(found.to_bits(), fields[3].parse::<f64>().unwrap().to_bits(), "{line}: {found}");
        }
    }

    #[test]
    fn each_coordinate_is_uniform_over_seeds() {
        for (j, prime) in [(0, 2), (1, 3), (5, 13), (999, 7919)] {
            for point in [0, 1, 5, 123_456] {
                for bound in [0.1, 0.37, 0.5, 0.9] {
                    let (found, radius) = frequency(|seed| Axis::new(prime, seed, j).at(point) < bound);
                    assert!((found - bound).abs() <= radius, "{prime} {point} {bound}: {found}");
                    assert!((found - bound - 0.02).abs() > radius, "the test has no power");
                }
            }
        }
    }

    #[test]
    fn consecutive_points_take_each_interval_once() {
        let points = Halton::new(3, 6);
        for (j, prime, powers) in [(0, 2u64, 12), (1, 3, 7), (2, 5, 5), (5, 13, 3)] {
            for power in 1..=powers {
                let cells = prime.pow(power);
                for first in [0, cells, 7 * cells] {
                    let mut taken = vec![false; cells as usize];
                    for point in first..first + cells {
                        taken[(points.coordinate(point, j) * cells as f64) as usize] = true;
                    }
                    assert!(taken.iter().all(|&taken| taken), "base {prime}, {cells} points from {first}");
                }
            }
        }
    }

    #[test]
    fn consecutive_points_take_each_box_once() {
        for seed in 0..20 {
            let points = Halton::new(seed, 2);
            for (a, b) in [(1, 1), (2, 1), (1, 2), (2, 2), (5, 3)] {
                let (wide, high) = (2usize.pow(a), 3usize.pow(b));
                let mut taken = vec![0; wide * high];
                for point in 0..(wide * high) as u64 {
                    let column = (points.coordinate(point, 0) * wide as f64) as usize;
                    taken[column * high + (points.coordinate(point, 1) * high as f64) as usize] += 1;
                }
                assert!(taken.iter().all(|&count| count == 1), "seed {seed}, {wide} × {high}: {taken:?}");
            }
        }
    }

    /// Points 0 and 1 differ in the first digit, points 0 and 5 in the second digit of base 5: there, each of the 20 pairs of
    /// distinct images is as likely as another; before it the digits agree, and after it each of the 25 pairs is as likely.
    /// In base 37, where π acts, the same of differences. Hoeffding, α = 1e-9 for each frequency.
    #[test]
    fn two_points_have_the_law_of_nested_uniform_scrambling() {
        let n = 200_000;
        let radius = hoeffding_radius(n as usize, 1.0, 1e-9);
        let digits = |prime: u64, points: [u64; 2], k: i32| {
            let scale = (prime as f64).powi(k + 1);
            let digit = move |axis: &Axis, point: u64| (axis.at(point) * scale) as usize % prime as usize;
            (0..n).map(move |seed| Axis::new(prime, seed, 2)).map(move |axis| points.map(|i| digit(&axis, i)))
        };
        let check = |counts: &[u32], expected: &dyn Fn(usize) -> f64| {
            for (bin, &count) in counts.iter().enumerate() {
                let (found, expected) = (f64::from(count) / n as f64, expected(bin));
                let radius = if expected > 0.0 { radius } else { 0.0 };
                assert!((found - expected).abs() <= radius, "{bin}: {found}, expected {expected}");
            }
        };
        for (other, differ) in [(1, 0), (5, 1), (15, 1), (50, 2)] {
            let pairs = |k: i32| {
                let mut counts = [0; 25];
                digits(5, [0, other], k).for_each(|[a, b]| counts[5 * a + b] += 1);
                counts
            };
            check(&pairs(differ), &|bin| if bin % 6 == 0 { 0.0 } else { 0.05 });
            check(&pairs(differ + 1), &|_| 0.04);
            if differ > 0 {
                check(&pairs(differ - 1), &|bin| if bin % 6 == 0 { 0.2 } else { 0.0 });
            }
        }
        for (points, differ) in [([0, 1], 0), ([4, 33], 0), ([2, 39], 1)] {
            let differences = |k: i32| {
                let mut counts = [0; 37];
                digits(37, points, k).for_each(|[a, b]| counts[(37 + a - b) % 37] += 1);
                counts
            };
            check(&differences(differ), &|bin| if bin == 0 { 0.0 } else { 1.0 / 36.0 });
            check(&differences(differ + 1), &|_| 1.0 / 37.0);
        }
    }

    /// E (x − ½)(y − ½) = 0 for coordinates of a point, for seeds, and for points after the digits they share; terms in
    /// [−¼, ¼], Hoeffding with α = 1e-9. A number with itself has 1/12.
    #[test]
    fn coordinates_and_seeds_are_independent() {
        let n = 200_000;
        let radius = hoeffding_radius(n as usize, 0.5, 1e-9);
        let product = |pair: &dyn Fn(u64) -> (f64, f64)| {
            let terms = (0..n).map(pair).map(|(x, y)| (x - 0.5) * (y - 0.5));
            terms.sum::<f64>() / n as f64
        };
        let at = |prime, seed, j, point| Axis::new(prime, seed, j).at(point);
        for point in [0, 1, 1000] {
            assert!(product(&|seed| (at(2, seed, 0, point), at(3, seed, 1, point))).abs() <= radius);
            assert!(
                product(&|seed| (at(7907, seed, 998, point), at(7919, seed, 999, point))).abs() <= radius
            );
            assert!(product(&|seed| (at(3, seed, 1, point), at(3, seed + 1, 1, point))).abs() <= radius);
            let deep = |x: f64| (x * 64.0).fract(); // points 0 and 32 share five digits and differ in the sixth
            assert!(
                product(&|seed| (deep(at(2, seed, 0, point)), deep(at(2, seed, 0, point ^ 32)))).abs()
                    <= radius
            );
            let same = product(&|seed| (at(2, seed, 0, point), at(2, seed, 0, point)));
            assert!((same - 1.0 / 12.0).abs() <= radius && same > radius, "the test has no power");
        }
    }

    /// Root mean square error, over 50 seeds, of the average of f over the first n points.
    fn error(n: u64, axes: [usize; 2], f: impl Fn(f64, f64) -> f64, exact: f64) -> f64 {
        let square = |seed: u64| {
            let points = Halton::new(seed, axes[0].max(axes[1]) + 1);
            let value = |i| f(points.coordinate(i, axes[0]), points.coordinate(i, axes[1]));
            let mean = (0..n).map(value).sum::<f64>() / n as f64;
            (mean - exact) * (mean - exact)
        };
        ((0..50).map(square).sum::<f64>() / 50.0).sqrt()
    }

    /// f = exp(x)·cos(y) has the variance (e² − 1)/2·(½ + sin 2/4) − ((e − 1)·sin 1)².
    #[test]
    fn averages_of_a_smooth_function_are_better_than_chance() {
        let exact = (libm::exp(1.0) - 1.0) * libm::sin(1.0);
        let variance = (libm::exp(2.0) - 1.0) / 2.0 * (0.5 + libm::sin(2.0) / 4.0) - exact * exact;
        let found = error(4096, [0, 1], |x, y| libm::exp(x) * libm::cos(y), exact);
        assert!(
            found < 0.1 * (variance / 4096.0).sqrt(),
            "{found:e} against {:e}",
            (variance / 4096.0).sqrt()
        );
    }

    /// 1,000 points in the bases 7907 and 7919: as good as chance in a coordinate and in both.
    #[test]
    fn large_bases_are_no_worse_than_chance() {
        let chance = |variance: f64| (variance / 1000.0).sqrt();
        let (single, both) = (chance(1.0 / 12.0), chance(1.0 / 144.0));
        assert!(error(1000, [999, 998], |x, _| x, 0.5) < 1.25 * single);
        assert!(error(1000, [999, 998], |x, y| (x - 0.5) * (y - 0.5), 0.0) < 1.25 * both);
        let shift = |seed: u64| Axis::new(7919, seed, 999).at(0);
        let mean = |seed: u64| {
            (0..1000).map(|i| (f64::from(i) / 7919.0 + shift(seed)).fract()).sum::<f64>() / 1000.0
        };
        let arc = ((0..50).map(|seed| (mean(seed) - 0.5).powi(2)).sum::<f64>() / 50.0).sqrt();
        assert!(arc > 10.0 * single, "shifts alone: the test has no power");
    }

    /// No seed is bad: the largest of 2,000 errors is what it would be for normal errors, and multiples alone are not.
    /// P(|N(0, 1)| > 6) = 2e-9, so that 4e-6 bounds the chance of a false alarm (of an approximation; seeds are fixed).
    #[test]
    fn large_bases_have_no_bad_seeds() {
        let largest = |image: &dyn Fn(&Axis, u64) -> f64| {
            let mean = |axis: &Axis| (0..1000).map(|i| image(axis, i)).sum::<f64>() / 1000.0;
            let error = |seed| (mean(&Axis::new(7919, seed, 999)) - 0.5).abs();
            (0..2000).map(error).fold(0.0, f64::max) / (1.0f64 / 12_000.0).sqrt()
        };
        let found = largest(&|axis, point| axis.at(point));
        assert!(found < 6.0, "{found}");
        let lattice = largest(&|axis, point| {
            let factor = 1 + share(axis.stir, 7918);
            ((factor * point + share(axis.root, 7919)) % 7919) as f64 / 7919.0
        });
        assert!(lattice > 6.0, "multiples alone: the test has no power, {lattice}");
    }

    /// π is a permutation, and keeps 0.
    #[test]
    fn stirring_permutes() {
        for prime in [2, 31, 37, 127, 131, 7919, 65_537] {
            for seed in 0..20 {
                let axis = Axis::new(prime, seed, 0);
                let mut taken = vec![false; prime as usize];
                (0..prime).for_each(|digit| taken[axis.stir(digit) as usize] = true);
                assert!(taken.iter().all(|&taken| taken) && axis.stir(0) == 0, "{prime} {seed}");
            }
        }
    }

    #[test]
    fn a_coordinate_does_not_know_how_many_there_are() {
        let (few, many) = (Halton::new(9, 3), Halton::new(9, 300));
        for point in [0, 1, 77, 1 << 40] {
            for j in 0..3 {
                assert_eq!(few.coordinate(point, j).to_bits(), many.coordinate(point, j).to_bits());
            }
        }
        assert!(few.coordinate(0, 3).is_nan() && Halton::new(9, 0).coordinate(0, 0).is_nan());
    }

    #[test]
    fn every_number_is_inside() {
        let points = Halton::new(1, 2000);
        for j in [0, 1, 2, 3, 10, 100, 1000, 1999] {
            for point in (0..1000).chain([1 << 24, 1 << 32, (1 << 32) - 1, 1 << 52, u64::MAX]) {
                let x = points.coordinate(point, j);
                assert!(x > 0.0 && x < 1.0, "{point} {j} {x}");
            }
        }
        // A last cell, a last part: the largest number of each base.
        for prime in [2, 3, 7919, 1_048_573, 67_108_859, 4_294_967_291] {
            let Axis { cells, parts, .. } = Axis::new(prime, 0, 0);
            assert!(cells * parts <= 1 << 52 && 2 * cells * parts > 1 << 52, "{prime}");
            let largest = (2 * cells * parts - 1) as f64 / (2 * cells * parts) as f64;
            assert!(largest < 1.0, "{prime}");
        }
    }

    /// The one multiplication divides as division does.
    #[test]
    fn reciprocals_divide() {
        for prime in [2, 3, 5, 7919, 1_048_573] {
            let axis = Axis::new(prime, 0, 0);
            for k in 0..1000 {
                for number in [k, k * prime, k * prime + prime - 1, u64::from(u32::MAX) - k, (1 << 32) + k] {
                    assert_eq!(axis.divide(number), (number / prime, number % prime));
                }
            }
        }
    }

    #[test]
    fn primes_are_the_first_primes() {
        for count in 0..10 {
            assert_eq!(primes(count), [2, 3, 5, 7, 11, 13, 17, 19, 23, 29][..count]);
        }
        for (count, last) in [(1000, 7919), (10_000, 104_729), (100_000, 1_299_709)] {
            assert_eq!((primes(count).len(), primes(count)[count - 1]), (count, last));
        }
    }
}

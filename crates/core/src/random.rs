//! The only source of chance: (seed, stream, index) → numbers.
//!
//! ```text
//! block(seed, stream, index, i) = Philox4x32-10(key = seed, counter = (i, stream, index))     4 words of 32 bits
//! ```
//! Philox is a bijection keyed by the seed (Salmon et al. 2011), so that every number is a function of where
//! it belongs: part of a map can be made anywhere, in any order, by any number of threads, and be the same. Each (stream,
//! index) owns 2³² blocks, enough for rejection sampling. Elementary functions come from `libm`, which gives the same bits on
//! every platform. `docs/book/chance.md`.

mod hashed;
mod numbers;
mod quasi;

use std::f64::consts::PI;

pub(crate) use hashed::Hashed;
pub(crate) use numbers::Numbers;
pub(crate) use quasi::Halton;

/// What numbers are drawn for. Streams do not overlap; the numbers are part of the model format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Stream {
    /// Entries of frequency `index`.
    Frequencies = 1,
    /// The offset of frequency `index`.
    Offsets = 2,
    /// The vector of reflection k in orthogonal block or rotation b, `index` = b·2³² + k.
    Reflections = 3,
    /// The length of orthogonal, turned or structured frequency `index`.
    Lengths = 4,
    /// Folds of cross-validation (hash of a row's content).
    Folds = 5,
    /// Samples of rows (hash of a row's content).
    Sample = 6,
    /// Pairs of sampled rows for the measured certificate.
    Pairs = 7,
    /// Pitches, shifts and hash factors of grid `index`.
    Grids = 8,
    /// The order of visits in round `index` of a coordinate descent; the row of step `index` of a stochastic one.
    Visits = 9,
    /// The permutations of coordinate `index` of quasi-random points.
    Scramble = 10,
    /// Signs of turned or structured block, projection or column `index`.
    Signs = 11,
    /// The seed of part `index` of a compiled map.
    Parts = 12,
    /// The choice of landmarks; `index` numbers the stages of a choice.
    Landmarks = 13,
    /// Places and signs of key `index` in a sparse random matrix.
    Hashes = 14,
    /// Signs, places and permutations of a sketch; `index` numbers its columns or blocks.
    Sketches = 15,
    /// Rows that are held out of a fit (hash of a row's content).
    HeldOut = 16,
    /// Test vectors of a guide of conjugate gradients, `index` the vector; places and signs of row `index` − 2⁶³ of a sketch of rows; the rows of a sample (hash of a row's content).
    Guides = 17,
    /// Signs of column `index` in the test vectors of a sum of gradients.
    Slopes = 18,
    /// Folds of the encoding of categories by the target (hash of a row's content, or of its group).
    TargetFolds = 19,
}

/// The numbers of one (seed, stream, index), in order.
#[derive(Clone, Debug)]
pub struct Draws {
    key: [u32; 2],
    counter: [u32; 4],
    words: [u32; 4],
    used: usize,
    spare_normal: Option<f64>,
}

impl Draws {
    /// Starts at the first number.
    pub fn new(seed: u64, stream: Stream, index: u64) -> Self {
        Draws {
            key: halves(seed),
            counter: [0, stream as u32, halves(index)[0], halves(index)[1]],
            words: [0; 4],
            used: 4,
            spare_normal: None,
        }
    }

    /// 32 uniform bits.
    pub fn word(&mut self) -> u32 {
        if self.used == 4 {
            self.words = philox(self.counter, self.key);
            self.counter[0] = self.counter[0].wrapping_add(1);
            self.used = 0;
        }
        self.used += 1;
        self.words[self.used - 1]
    }

    /// Uniform on (0, 1): an odd multiple of 2⁻⁵³, the middle of one of 2⁵² cells, so neither end is ever taken.
    pub fn uniform(&mut self) -> f64 {
        let (high, low) = (u64::from(self.word()), u64::from(self.word()));
        (((high << 32 | low) >> 11) | 1) as f64 * (0.5f64).powi(53)
    }

    /// Standard normal, by Box and Muller: √(−2 ln u)·(cos 2πv, sin 2πv).
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare_normal.take() {
            return spare;
        }
        let radius = (-2.0 * libm::log(self.uniform())).sqrt();
        let (sin, cos) = libm::sincos(2.0 * PI * self.uniform());
        self.spare_normal = Some(radius * sin);
        radius * cos
    }

    /// Standard Cauchy: tan π(u − ½).
    pub fn cauchy(&mut self) -> f64 {
        libm::tan(PI * (self.uniform() - 0.5))
    }

    /// Exponential with mean 1: −ln u.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(self.uniform())
    }

    /// Laplace, density ½·exp(−|x|): ln 2u below the median, −ln 2(1 − u) above.
    pub fn laplace(&mut self) -> f64 {
        let u = self.uniform();
        if u < 0.5 { libm::log(2.0 * u) } else { -libm::log(2.0 * (1.0 - u)) }
    }

    /// Gamma with scale 1: d·v, v = (1 + x/√(9d))³ for a normal x, d = shape − ⅓, kept with the probability
    /// exp(x²/2 + d(1 − v + ln v)) that makes the law exact (Marsaglia & Tsang 2000). A shape below 1 is lifted:
    /// Gamma(a) = Gamma(a + 1)·u^(1/a). NaN unless 0 < shape < ∞.
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if !(shape > 0.0 && shape < f64::INFINITY) {
            return f64::NAN;
        }
        if shape < 1.0 {
            return self.gamma(shape + 1.0) * libm::exp(libm::log(self.uniform()) / shape);
        }
        let d = shape - 1.0 / 3.0;
        loop {
            let x = self.normal();
            let root = 1.0 + x / (9.0 * d).sqrt();
            let v = root * root * root;
            if v > 0.0 && libm::log(self.uniform()) < 0.5 * x * x + d * (1.0 - v + libm::log(v)) {
                return d * v;
            }
        }
    }

    /// Uniform on 0..n, without bias.
    pub fn below(&mut self, n: u64) -> u64 {
        let fair = u64::MAX - u64::MAX % n.max(1);
        loop {
            let draw = u64::from(self.word()) << 32 | u64::from(self.word());
            if draw < fair {
                return draw % n.max(1);
            }
        }
    }
}

fn halves(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

/// Philox4x32 with ten rounds.
fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
    const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
    for _ in 0..10 {
        let [low0, high0] = halves(u64::from(MULTIPLIERS[0]) * u64::from(counter[0]));
        let [low1, high1] = halves(u64::from(MULTIPLIERS[1]) * u64::from(counter[2]));
        counter = [high1 ^ counter[1] ^ key[0], low1, high0 ^ counter[3] ^ key[1], low0];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::*;

    use bochner_testkit::hoeffding_radius;

    /// The known answers published with Random123 (`philox4x32 10`).
    #[test]
    fn philox_gives_its_published_answers() {
        let ones = u32::MAX;
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([ones; 4], [ones; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        let pi = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        let answer = [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1];
        assert_eq!(philox(pi, [0xa409_3822, 0x299f_31d0]), answer);
    }

    #[test]
    fn a_stream_is_the_cipher_in_counter_mode() {
        let mut draws = Draws::new(0x0123_4567_89ab_cdef, Stream::Offsets, 5 << 32 | 9);
        for block in 0..3 {
            let words = philox([block, 2, 9, 5], [0x89ab_cdef, 0x0123_4567]);
            assert_eq!(words, [draws.word(), draws.word(), draws.word(), draws.word()]);
        }
    }

    /// Means and variances of 200,000 draws: uniform and bounded transforms, by Hoeffding at 1e-9.
    #[test]
    fn laws_have_their_moments() {
        let n = 200_000;
        let mean = |f: fn(&mut Draws) -> f64| {
            (0..n).map(|i| f(&mut Draws::new(7, Stream::Pairs, i))).sum::<f64>() / n as f64
        };
        let radius = hoeffding_radius(n as usize, 1.0, 1e-9);
        assert!((mean(|d| d.uniform()) - 0.5).abs() < radius);
        assert!((mean(|d| f64::from(u8::from(d.normal() < 1.0))) - 0.841_344_746).abs() < radius);
        assert!((mean(|d| f64::from(u8::from(d.normal().abs() < 0.5))) - 0.382_924_923).abs() < radius);
        assert!(
            (mean(|d| f64::from(u8::from(
                {
                    d.normal();
                    d.normal()
                } < -1.0
            ))) - 0.158_655_254)
                .abs()
                < radius
        );
        assert!((mean(|d| f64::from(u8::from(d.cauchy() < 1.0))) - 0.75).abs() < radius);
        assert!((mean(|d| f64::from(u8::from(d.below(3) == 1))) - 1.0 / 3.0).abs() < radius);
    }

    /// The share of 200,000 draws that are at most x is the law's F(x), up to Hoeffding's radius (α = 1e-9 for each).
    #[test]
    fn laws_have_their_distribution_functions() {
        let n = 200_000;
        let radius = hoeffding_radius(n as usize, 1.0, 1e-9);
        let distance = |draw: &dyn Fn(&mut Draws) -> f64, x: f64, expected: f64| {
            let below = (0..n).filter(|&i| draw(&mut Draws::new(11, Stream::Pairs, i)) <= x).count();
            (below as f64 / n as f64 - expected).abs()
        };
        for x in [0.05, 0.3, 1.0, 2.5, 5.0] {
            let tail = libm::exp(-x);
            assert!(distance(&|d| d.exponential(), x, 1.0 - tail) <= radius, "exponential at {x}");
            assert!(distance(&|d| d.laplace(), x, 1.0 - 0.5 * tail) <= radius, "Laplace at {x}");
            assert!(distance(&|d| d.laplace(), -x, 0.5 * tail) <= radius, "Laplace at −{x}");
        }
        assert!(distance(&|d| 1.05 * d.exponential(), 1.0, 1.0 - libm::exp(-1.0)) > radius, "no power");
        assert!(distance(&|d| 1.05 * d.laplace(), 1.0, 1.0 - 0.5 * libm::exp(-1.0)) > radius, "no power");
        for shape in [0.05, 0.5, 0.99, 1.0, 1.3, 2.0, 7.5, 300.0] {
            for u in [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99] {
                let x = crate::special::gamma_quantile(shape, u);
                assert!(distance(&|d| d.gamma(shape), x, u) <= radius, "Gamma({shape}) at {x}");
            }
            let median = crate::special::gamma_quantile(shape, 0.5);
            let other = shape + 0.05 * shape.max(shape.sqrt());
            assert!(distance(&|d| d.gamma(other), median, 0.5) > radius, "no power at shape {shape}");
        }
    }

    /// Later draws of one index are as good as the first, though each may have rejected some.
    #[test]
    fn gamma_draws_follow_one_another() {
        let n = 100_000;
        let mut draws = Draws::new(5, Stream::Pairs, 0);
        let below = |x: f64| f64::from(u8::from(x < 1.678_346_990_016_661)); // the median of Gamma(2)
        let values: Vec<f64> = (0..2 * n).map(|_| below(draws.gamma(2.0)) - 0.5).collect();
        let mean = values.iter().sum::<f64>() / (2 * n) as f64;
        let product = values.chunks(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / n as f64;
        assert!(mean.abs() <= hoeffding_radius(2 * n, 1.0, 1e-9), "{mean}");
        assert!(product.abs() <= hoeffding_radius(n, 0.5, 1e-9), "{product}");
    }

    #[test]
    fn gamma_takes_any_shape() {
        for shape in [f64::NAN, -1.0, 0.0, f64::INFINITY] {
            assert!(Draws::new(1, Stream::Pairs, 0).gamma(shape).is_nan());
        }
        for shape in [5e-324, 1e-10, 1e10, 1e18, 1e300, f64::MAX] {
            let draw = Draws::new(1, Stream::Pairs, 0).gamma(shape);
            assert!((0.0..=f64::MAX).contains(&draw), "{shape} {draw}");
        }
    }
}

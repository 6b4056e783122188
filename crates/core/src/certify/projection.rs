//! What random projections keep: dimension ↔ (points, ε, δ), by the theorem of each kind, and exact means and variances.
//!
//! ```text
//! distances          (1 − ε)‖x − y‖² ≤ ‖Ax − Ay‖² ≤ (1 + ε)‖x − y‖²            inner products     |Ax·Ay − x·y| ≤ ε‖x‖‖y‖
//!
//! P(‖Au‖² off by ε‖u‖²):        m outputs of d columns, p the next power of two, h(ε) = (ε − ln(1 + ε))/2, g(ε) = ε²/4 − ε³/6 ≤ h(ε)
//! gaussian       m‖Au‖²/‖u‖² is χ² with m degrees of freedom: its two tails, exactly                         ≤ 2·exp(−m·g(ε))
//! signs          exp(−m·h(ε)) + exp(−m·g(ε))                                                                 ≤ 2·exp(−m·g(ε))     (Achlioptas 2003)
//! orthonormal    the same; 0 where d divides m                                                                                    (Dasgupta & Gupta 2003)
//! hadamard       2p·exp(−B/2) + exp(−m((1 + ε)ln(1 + ε) − ε)/B) + exp(−mε²/(2B)) for every B ≥ 1, or Chebyshev's 2(p − m)/(m(p − 1)ε²)
//! sparse         the least of (2k − 1)^(2k)·(2/s)^k·E(B/s)^k/ε^(2k), k = 1, 2, …, B binomial of s and s/m; k = 1 is Chebyshev's 2/(mε²)
//! second terms only for ε < 1
//! ```
//! Inner products take two vectors, x + y and x − y, hence twice that chance; those of Gaussian projections at most 2·exp(−m·h(ε)), and those of sparse ones as one vector. Where blocks are stacked, only the last r = m mod d outputs have an error, r/m of it.
//! All pairs of N points: N²/2 times the chance of one. `docs/book/projections.md` has the proofs.

use super::needed::{between, check_row, count};
use crate::special::{gamma_log_tails, gamma_quantile, gamma_upper_quantile};
use crate::{Error, Projection, Result, Rows, Scalar};

/// What a projection is to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Squared distances, relatively: within ε·‖x − y‖².
    Distances,
    /// Inner products: within ε·‖x‖‖y‖, which is ε for unit vectors.
    InnerProducts,
}

/// A projection of rows with so many columns, and what is asked of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    pub(super) how: Projection,
    pub(super) kept: Kept,
    pub(super) columns: usize,
}

/// ln(N²/2): the pairs of N points, and a few more.
pub(super) fn log_pairs(points: u64) -> f64 {
    2.0 * libm::log(points.max(2) as f64) - libm::log(2.0)
}

impl Law {
    /// The logarithm of a bound on the chance that one pair is off by ε or more; none where there is no bound.
    fn log_failure(&self, dimension: usize, epsilon: f64) -> Option<f64> {
        let m = dimension as f64;
        let both = if self.kept == Kept::InnerProducts { libm::log(2.0) } else { 0.0 };
        let log = match self.how {
            Projection::Gaussian => {
                let exact = both + chi_square(dimension, epsilon);
                match self.kept {
                    Kept::Distances => exact,
                    Kept::InnerProducts => exact.min(libm::log(2.0) - m * upper_rate(epsilon)),
                }
            }
            Projection::Signs => both + classical(m, epsilon),
            Projection::Orthonormal => match dimension % self.columns {
                0 => f64::NEG_INFINITY,
                last => both + classical(last as f64, epsilon * m / last as f64),
            },
            Projection::Hadamard => {
                let padded = self.padded()?;
                match dimension % padded {
                    0 => f64::NEG_INFINITY,
                    last => {
                        let flat = both + flattened(last as f64, epsilon * m / last as f64, padded as f64);
                        flat.min(chebyshev(hadamard_factor(dimension, padded), epsilon))
                    }
                }
            }
            Projection::Sparse { signed: false, .. } => return None,
            Projection::Sparse { nonzeros, signed: true } => {
                let nonzeros = nonzeros.of(dimension, self.columns);
                if nonzeros > dimension {
                    return Some(0.0);
                }
                let factor = sparse_factors(dimension, nonzeros).0;
                chebyshev(factor, epsilon).min(moments(dimension, nonzeros, epsilon))
            }
        };
        Some(log.min(0.0))
    }

    fn padded(&self) -> Option<usize> {
        self.columns.checked_next_power_of_two()
    }

    /// Outputs that lose nothing; none where chance remains however many there are.
    fn whole(&self) -> Option<usize> {
        match self.how {
            Projection::Orthonormal => Some(self.columns),
            Projection::Hadamard => self.padded(),
            _ => None,
        }
    }

    /// The smallest ε whose chance has −ln of at least `needed`; none where there is no bound.
    pub(super) fn epsilon(&self, dimension: usize, needed: f64) -> Option<f64> {
        let enough = |epsilon: f64| Some(self.log_failure(dimension, epsilon)? <= -needed);
        if self.whole().is_some_and(|whole| dimension.is_multiple_of(whole)) {
            return Some(0.0);
        }
        let (mut low, mut high) = (0.0, 1.0);
        while !enough(high)? {
            (low, high) = (high, 2.0 * high);
            if high > 1e150 {
                return None;
            }
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if enough(middle)? { high = middle } else { low = middle }
        }
        Some(high)
    }

    /// The fewest outputs whose chance has −ln of at least `needed`, as far as more are never worse.
    fn dimension(&self, epsilon: f64, needed: f64) -> Result<usize> {
        let enough = |dimension: usize| {
            self.log_failure(dimension, epsilon).map(|log| log <= -needed).ok_or_else(unsigned)
        };
        let whole = self.whole().unwrap_or(usize::MAX);
        let (mut few, mut many) = (0, 1);
        while many < whole && !enough(many)? {
            (few, many) = (many, 2 * many);
            if many > 1 << 50 {
                return Err(Error::Overflow { what: "the outputs of a projection" });
            }
        }
        many = many.min(whole);
        while many - few > 1 {
            let middle = few + (many - few) / 2;
            if enough(middle)? { many = middle } else { few = middle }
        }
        self.how.check(many)?;
        Ok(many)
    }
}

fn unsigned() -> Error {
    Error::Unsupported {
        what: "a promise for a projection without signs".to_owned(),
        reason: "its inner products are biased by (s/m)·(Σx·Σy − x·y), which depends on the rows",
        instead: "use signs, or measure the error",
    }
}

/// ln(e^a + e^b).
fn log_sum(a: f64, b: f64) -> f64 {
    let (larger, smaller) = if a > b { (a, b) } else { (b, a) };
    if smaller == f64::NEG_INFINITY { larger } else { larger + libm::log1p(libm::exp(smaller - larger)) }
}

/// h(ε): P(χ²_m ≥ (1 + ε)m) ≤ exp(−m·h(ε)).
fn upper_rate(epsilon: f64) -> f64 {
    0.5 * (epsilon - libm::log1p(epsilon))
}

/// g(ε).
fn rate(epsilon: f64) -> f64 {
    epsilon * epsilon / 4.0 - epsilon * epsilon * epsilon / 6.0
}

/// The bound of Gaussian projections, of signs and of orthonormal rows.
fn classical(m: f64, epsilon: f64) -> f64 {
    let lower = if epsilon < 1.0 { -m * rate(epsilon) } else { f64::NEG_INFINITY };
    log_sum(-m * upper_rate(epsilon), lower)
}

/// The two tails of χ², exactly; the bound where there are too many terms to add.
fn chi_square(dimension: usize, epsilon: f64) -> f64 {
    const MOST: usize = 200_000_000;
    if dimension > MOST {
        return classical(dimension as f64, epsilon);
    }
    let half = 0.5 * dimension as f64;
    let upper = gamma_log_tails(half, half * (1.0 + epsilon)).1;
    let lower =
        if epsilon < 1.0 { gamma_log_tails(half, half * (1.0 - epsilon)).0 } else { f64::NEG_INFINITY };
    log_sum(upper, lower)
}

/// Rows spread by signs and H, then sampled: the best B.
fn flattened(m: f64, epsilon: f64, padded: f64) -> f64 {
    const STEPS: u32 = 64;
    let poisson = (1.0 + epsilon) * libm::log1p(epsilon) - epsilon;
    let at = |step: u32| {
        let largest = libm::pow(padded, f64::from(step) / f64::from(STEPS));
        // No coordinate is above p‖x‖².
        let spread = if step == STEPS { f64::NEG_INFINITY } else { libm::log(2.0 * padded) - largest / 2.0 };
        let lower = if epsilon < 1.0 { -m * epsilon * epsilon / (2.0 * largest) } else { f64::NEG_INFINITY };
        log_sum(spread, log_sum(-m * poisson / largest, lower))
    };
    (0..=STEPS).map(at).fold(f64::INFINITY, f64::min)
}

/// Var ≤ 2·factor for unit vectors.
fn chebyshev(factor: f64, epsilon: f64) -> f64 {
    libm::log(2.0 * factor) - 2.0 * libm::log(epsilon)
}

/// Moments above the second, for sparse projections: E|error|^(2k) ≤ (2k − 1)^(2k)·(2/s)^k·E(B/s)^k, B binomial of s blocks in each of which two columns meet with probability 1/⌊m/s⌋.
fn moments(dimension: usize, nonzeros: usize, epsilon: f64) -> f64 {
    const MOST: usize = 40;
    let (s, meet) = (nonzeros as f64, 1.0 / (dimension / nonzeros) as f64);
    // E Bᵏ = Σⱼ S(k, j)·s(s − 1)…(s − j + 1)·meetʲ, S Stirling's numbers of the second kind: S(k, j) = j·S(k − 1, j) + S(k − 1, j − 1).
    let mut stirling = [0.0; MOST + 1];
    stirling[0] = 1.0;
    let mut least = f64::INFINITY;
    for k in 1..=MOST {
        for j in (1..=k).rev() {
            stirling[j] = j as f64 * stirling[j] + stirling[j - 1];
        }
        stirling[0] = 0.0;
        let (mut falling, mut moment) = (1.0, 0.0);
        for (j, number) in stirling.iter().enumerate().take(k + 1).skip(1) {
            falling *= ((s - (j - 1) as f64) / s).max(0.0) * meet;
            moment += number * falling * libm::pow(s, j as f64 - k as f64);
        }
        let k = k as f64;
        let log = 2.0 * k * libm::log((2.0 * k - 1.0) / epsilon) + k * libm::log(2.0 / s) + libm::log(moment);
        least = least.min(log);
    }
    least
}

/// What V is multiplied with: (p − m)/(m(p − 1)), and for stacked blocks (r/m)² times that of the last.
fn hadamard_factor(dimension: usize, padded: usize) -> f64 {
    let (m, p, last) = (dimension as f64, padded as f64, (dimension % padded) as f64);
    if padded == 1 { 0.0 } else { last * (p - last) / (m * m * (p - 1.0)) }
}

/// s⁻²·Σ 1/b and s⁻²·Σ 1/b² over the blocks' sizes b: 1/m and s/m² where s divides m.
fn sparse_factors(dimension: usize, nonzeros: usize) -> (f64, f64) {
    let (size, longer, s) = ((dimension / nonzeros) as f64, (dimension % nonzeros) as f64, nonzeros as f64);
    let mean = |of: fn(f64) -> f64| ((s - longer) * of(size) + longer * of(size + 1.0)) / (s * s);
    (mean(|b| 1.0 / b), mean(|b| 1.0 / (b * b)))
}

fn check_shape(how: Projection, dimension: usize, columns: usize) -> Result<()> {
    if dimension == 0 {
        return Err(Error::Parameter { name: "features", expected: "at least 1", found: "0".to_owned() });
    }
    if columns == 0 {
        return Err(Error::NoColumns);
    }
    how.check(dimension)
}

/// Outputs, m, with which a projection of rows of `columns` columns keeps all pairs of `points` points within `epsilon`, with probability 1 − `delta`.
///
/// By the theorem of each kind: χ² exactly for Gaussian projections, moments for sparse ones: with few entries a column their number grows with the pairs, and not with their logarithm. Refused without signs.
pub fn dimension_for(
    how: Projection,
    kept: Kept,
    (points, columns): (u64, usize),
    epsilon: f64,
    delta: f64,
) -> Result<usize> {
    between("delta", delta)?;
    between("epsilon", epsilon)?;
    if columns == 0 {
        return Err(Error::NoColumns);
    }
    Law { how, kept, columns }.dimension(epsilon, log_pairs(points) - libm::log(delta))
}

/// The ε within which a projection to `dimension` outputs keeps all pairs of `points` points, with probability 1 − `delta`: [`dimension_for`] the other way.
pub fn epsilon_for(
    how: Projection,
    kept: Kept,
    (points, columns): (u64, usize),
    dimension: usize,
    delta: f64,
) -> Result<f64> {
    between("delta", delta)?;
    check_shape(how, dimension, columns)?;
    let law = Law { how, kept, columns };
    law.epsilon(dimension, log_pairs(points) - libm::log(delta)).ok_or_else(unsigned)
}

/// The lemma of Johnson and Lindenstrauss with its usual constant, m = ln(N²/δ)/(ε²/4 − ε³/6): distances of all pairs of `points` points, for Gaussian projections, signs and orthonormal rows alike.
pub fn johnson_lindenstrauss(points: u64, epsilon: f64, delta: f64) -> Result<usize> {
    between("delta", delta)?;
    between("epsilon", epsilon)?;
    count((2.0 * libm::log(points.max(2) as f64) - libm::log(delta)) / rate(epsilon))
}

/// The interval that ‖Ax‖²/‖x‖² of a Gaussian projection lies in with probability 1 − `delta`, δ/2 on either side: quantiles of χ² over m.
pub fn length_interval(dimension: usize, delta: f64) -> Result<(f64, f64)> {
    between("delta", delta)?;
    check_shape(Projection::Gaussian, dimension, 1)?;
    let half = 0.5 * dimension as f64;
    Ok((gamma_quantile(half, 0.5 * delta) / half, gamma_upper_quantile(half, 0.5 * delta) / half))
}

/// Outputs, m = ln(4/(εδ))/(γ²/16 − γ³/48), with which a problem that is separated with margin γ (unit rows, unit w: y·w·x ≥ γ) is separated by Aw with y·Aw·Ax ≥ γ/2 but for a part ε of its rows,
/// with probability 1 − `delta`: for Gaussian projections, signs and orthonormal rows. Neither the columns nor the number of rows occurs.
pub fn margin_dimension(margin: f64, epsilon: f64, delta: f64) -> Result<usize> {
    between("epsilon", epsilon)?;
    between("delta", delta)?;
    if !(margin > 0.0 && margin <= 1.0) {
        let (name, expected) = ("margin", "above 0 and at most 1");
        return Err(Error::Parameter { name, expected, found: margin.to_string() });
    }
    count((libm::log(4.0) - libm::log(epsilon) - libm::log(delta)) / rate(0.5 * margin))
}

/// Sums over the entries of two rows.
struct Products {
    /// ‖x‖²‖y‖².
    lengths: f64,
    /// x·y.
    inner: f64,
    /// Σ xⱼ²yⱼ².
    fourth: f64,
    /// Σx·Σy.
    sums: f64,
}

impl Products {
    fn of<T: Scalar>(rows: &Rows<'_, T>, (i, j): (usize, usize)) -> Products {
        let (x, y) = (rows.doubled_entries(i), rows.doubled_entries(j));
        let sum = |entries: &[(u32, f64)], of: fn(f64) -> f64| entries.iter().map(|e| of(e.1)).sum::<f64>();
        let (mut inner, mut fourth, mut at) = (0.0, 0.0, 0);
        for &(column, value) in &x {
            at += y[at..].partition_point(|e| e.0 < column);
            if let Some(&(_, other)) = y.get(at).filter(|e| e.0 == column) {
                let product = value * other;
                (inner, fourth) = (inner + product, fourth + product * product);
            }
        }
        Products {
            lengths: sum(&x, |x| x * x) * sum(&y, |x| x * x),
            inner,
            fourth,
            sums: sum(&x, |x| x) * sum(&y, |x| x),
        }
    }

    /// V of one row of signs.
    fn of_signs(&self) -> f64 {
        self.lengths + self.inner * self.inner - 2.0 * self.fourth
    }
}

/// The mean over seeds of Ax·Ay for rows i and j: x·y, but for sparse projections without signs.
#[inline(never)]
pub fn inner_mean<T: Scalar>(
    how: Projection,
    dimension: usize,
    rows: &Rows<'_, T>,
    pair: (usize, usize),
) -> Result<f64> {
    check_shape(how, dimension, rows.columns())?;
    check_row(rows, pair.0)?;
    check_row(rows, pair.1)?;
    let products = Products::of(rows, pair);
    Ok(match how {
        Projection::Sparse { nonzeros, signed: false } => {
            let nonzeros = nonzeros.of(dimension, rows.columns());
            let collide = nonzeros as f64 * sparse_factors(dimension, nonzeros).0;
            products.inner + collide * (products.sums - products.inner)
        }
        _ => products.inner,
    })
}

/// The variance over seeds of Ax·Ay for rows i and j, exactly.
///
/// ```text
/// V = ‖x‖²‖y‖² + (x·y)² − 2Σ xⱼ²yⱼ²
/// gaussian   (‖x‖²‖y‖² + (x·y)²)/m                 orthonormal   d(d − m)/(m(d − 1)(d + 2))·(‖x‖²‖y‖² + (1 − 2/d)(x·y)²)      m ≤ d
/// signs      V/m                                   hadamard      (p − m)/(m(p − 1))·V                                         m ≤ p
/// sparse     V/m, without signs V/m·(1 − s/m)      where s divides m; else V/s²·Σ 1/b, V/s²·Σ (1/b − 1/b²) over the sizes b of blocks
/// ```
#[inline(never)]
pub fn inner_variance<T: Scalar>(
    how: Projection,
    dimension: usize,
    rows: &Rows<'_, T>,
    pair: (usize, usize),
) -> Result<f64> {
    check_shape(how, dimension, rows.columns())?;
    check_row(rows, pair.0)?;
    check_row(rows, pair.1)?;
    let products = Products::of(rows, pair);
    let (m, d) = (dimension as f64, rows.columns() as f64);
    let variance = match how {
        Projection::Gaussian => (products.lengths + products.inner * products.inner) / m,
        Projection::Signs => products.of_signs() / m,
        Projection::Orthonormal => {
            let last = (dimension % rows.columns()) as f64;
            let square = products.lengths + (1.0 - 2.0 / d) * products.inner * products.inner;
            // One column: every block is whole.
            let one = if rows.columns() == 1 { 0.0 } else { d * (d - last) / ((d - 1.0) * (d + 2.0)) };
            last / (m * m) * one * square
        }
        Projection::Hadamard => {
            let padded = rows.columns().next_power_of_two();
            hadamard_factor(dimension, padded) * products.of_signs()
        }
        Projection::Sparse { nonzeros, signed } => {
            let (once, twice) = sparse_factors(dimension, nonzeros.of(dimension, rows.columns()));
            products.of_signs() * if signed { once } else { once - twice }
        }
    };
    Ok(variance.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Nonzeros;

    const SIGNED: Projection = Projection::SPARSE;

    #[test]
    fn numbers_by_hand() {
        // (2·ln 1000 + ln 20)/(0.01/4 − 0.001/6) = 16.8112/0.00233333 = 7204.8
        assert_eq!(johnson_lindenstrauss(1000, 0.1, 0.05).unwrap(), 7205);
        // ln(4/0.005)/(0.04/16 − 0.008/48) = 6.6846/0.00233333 = 2864.8
        assert_eq!(margin_dimension(0.2, 0.1, 0.05).unwrap(), 2865);
        let (points, columns) = (1000, 100_000);
        let at = |how, kept| dimension_for(how, kept, (points, columns), 0.1, 0.05).unwrap();
        // Signs are a little better than the formula, as h > g; inner products take ln 2/g more.
        let signs = at(Projection::Signs, Kept::Distances);
        assert!(signs <= 7205 && signs > 6900, "{signs}");
        assert_eq!(at(Projection::Orthonormal, Kept::Distances), signs);
        let more = at(Projection::Signs, Kept::InnerProducts) - signs;
        assert!((280..=300).contains(&more), "{more}");
        // χ² has tails thinner by a factor of some √m.
        let exact = at(Projection::Gaussian, Kept::Distances);
        assert!(exact < signs && exact > 5000, "{exact}");
        assert!(at(Projection::Gaussian, Kept::InnerProducts) < at(Projection::Signs, Kept::InnerProducts));
        // Chebyshev: N²/(ε²δ).
        assert_eq!(at(SIGNED, Kept::Distances), 2_000_000_000);
        // Many entries make higher moments small: a logarithm again.
        let theorem = at(Projection::Sparse { nonzeros: Nonzeros::Theorem, signed: true }, Kept::Distances);
        assert!((400_000..430_000).contains(&theorem), "{theorem}");
        // k = 2, one entry: 81·(2)²·E B²/ε⁴ = 324/(m·ε⁴) for B of one block.
        let second = libm::log(324.0 / (1000.0 * 1e4));
        assert!(moments(1000, 1, 10.0) <= second + 1e-12);
        assert!((moments(1000, 1, 0.1) - libm::log(2.0 / (1000.0 * 0.01))).abs() < 1e-12, "k = 1");
        let hadamard = at(Projection::Hadamard, Kept::Distances);
        assert!(hadamard > 131_000 && hadamard <= 131_072, "{hadamard}: nearly all coordinates");
        let few = dimension_for(Projection::Hadamard, Kept::Distances, (100, 1 << 22), 0.3, 0.05).unwrap();
        assert!(few < 50_000, "{few}");
        // All d directions lose nothing.
        let low = dimension_for(Projection::Orthonormal, Kept::Distances, (points, 300), 0.1, 0.05).unwrap();
        assert_eq!(low, 300);
    }

    /// ε of m and m of ε are inverse, for every kind; more outputs are never worse.
    #[test]
    fn both_directions_agree() {
        let theorem = Projection::Sparse { nonzeros: Nonzeros::Theorem, signed: true };
        for how in [
            Projection::Gaussian,
            Projection::Signs,
            Projection::Orthonormal,
            Projection::Hadamard,
            SIGNED,
            theorem,
        ] {
            for kept in [Kept::Distances, Kept::InnerProducts] {
                for (points, epsilon, delta) in [(2, 0.5, 0.1), (20, 0.2, 0.01), (3, 0.05, 0.3)] {
                    let shape = (points, 1_000_000);
                    let m = dimension_for(how, kept, shape, epsilon, delta).unwrap();
                    let at = |m| epsilon_for(how, kept, shape, m, delta).unwrap();
                    assert!(at(m) <= epsilon && at(m - 1) > epsilon, "{how} {kept:?}: {m}");
                    assert!(at(2 * m) < at(m));
                }
            }
        }
        // Few outputs: ε above 1 is still a statement.
        let wide = epsilon_for(Projection::Signs, Kept::InnerProducts, (1000, 50), 10, 0.05).unwrap();
        assert!(wide > 1.0 && wide < 10.0, "{wide}");
    }

    #[test]
    fn exact_tails_are_below_the_bound() {
        for m in [1, 2, 10, 100, 5000] {
            for epsilon in [0.01, 0.1, 0.5, 0.9, 1.5, 4.0] {
                let (exact, bound) = (chi_square(m, epsilon), classical(m as f64, epsilon));
                assert!(exact <= bound, "{m} {epsilon}: {exact} above {bound}");
                if epsilon < 1.0 {
                    assert!(bound <= libm::log(2.0) - m as f64 * rate(epsilon) + 1e-12);
                }
            }
            let (low, high) = length_interval(m, 1e-12).unwrap();
            assert!(low < 1.0 && high > 1.0 && low >= 0.0);
        }
        // χ² with 2 degrees of freedom is exponential: −ln(1 − δ/2) and −ln(δ/2).
        let (low, high) = length_interval(2, 0.1).unwrap();
        assert!((low + libm::log1p(-0.05)).abs() < 1e-12 && (high + libm::log(0.05)).abs() < 1e-12);
    }

    #[test]
    fn odd_questions_are_refused() {
        let unsigned = Projection::Sparse { nonzeros: Nonzeros::Count { count: 4 }, signed: false };
        let shape = (100, 50);
        let error = dimension_for(unsigned, Kept::Distances, shape, 0.1, 0.1).unwrap_err().to_string();
        assert!(error.contains("biased"), "{error}");
        assert!(epsilon_for(unsigned, Kept::Distances, shape, 64, 0.1).is_err());
        for (epsilon, delta) in [(0.0, 0.5), (1.0, 0.5), (0.1, 0.0), (0.1, 1.0), (f64::NAN, 0.5)] {
            assert!(dimension_for(Projection::Signs, Kept::Distances, shape, epsilon, delta).is_err());
            assert!(johnson_lindenstrauss(10, epsilon, delta).is_err());
            assert!(margin_dimension(0.5, epsilon, delta).is_err());
        }
        assert!(margin_dimension(0.0, 0.1, 0.1).is_err() && margin_dimension(1.5, 0.1, 0.1).is_err());
        assert!(epsilon_for(SIGNED, Kept::Distances, shape, 4, 0.1).is_err(), "8 entries in 4 rows");
        assert!(epsilon_for(Projection::Signs, Kept::Distances, shape, 0, 0.1).is_err());
        assert!(epsilon_for(Projection::Signs, Kept::Distances, (100, 0), 5, 0.1).is_err());
        // More than there can be.
        assert!(dimension_for(SIGNED, Kept::Distances, (1 << 40, 50), 0.1, 0.1).is_err());
    }
}

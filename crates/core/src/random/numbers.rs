//! Numbers of the laws that frequencies are drawn from: from chance, or from a quasi-random point.
//!
//! ```text
//! chance     each law by its own way, rejection where that is best
//! point      each number is the law's quantile at the next coordinate; when they are used up, chance goes on
//! ```

use std::f64::consts::PI;

use super::{Draws, Halton};
use crate::special::{gamma_quantile, hat_quantile, normal_quantile};

/// A source of numbers.
#[derive(Debug)]
pub(crate) struct Numbers<'a> {
    draws: Draws,
    point: Option<Point<'a>>,
}

#[derive(Debug)]
struct Point<'a> {
    halton: &'a Halton,
    number: u64,
    next: usize,
}

impl From<Draws> for Numbers<'_> {
    fn from(draws: Draws) -> Self {
        Numbers { draws, point: None }
    }
}

impl<'a> Numbers<'a> {
    /// From a point, and from `further` after its last coordinate.
    pub(crate) fn quasi(halton: &'a Halton, number: u64, further: Draws) -> Self {
        Numbers { draws: further, point: Some(Point { halton, number, next: 0 }) }
    }

    /// The next coordinate, if there is one.
    fn coordinate(&mut self) -> Option<f64> {
        let point = self.point.as_mut().filter(|point| point.next < point.halton.dimensions())?;
        point.next += 1;
        Some(point.halton.coordinate(point.number, point.next - 1))
    }

    /// Uniform on (0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        self.coordinate().unwrap_or_else(|| self.draws.uniform())
    }

    /// Standard normal.
    pub(crate) fn normal(&mut self) -> f64 {
        self.coordinate().map_or_else(|| self.draws.normal(), normal_quantile)
    }

    /// Standard Cauchy.
    pub(crate) fn cauchy(&mut self) -> f64 {
        self.coordinate().map_or_else(|| self.draws.cauchy(), |u| libm::tan(PI * (u - 0.5)))
    }

    /// Laplace with scale 1.
    pub(crate) fn laplace(&mut self) -> f64 {
        let quantile = |u: f64| if u < 0.5 { libm::log(2.0 * u) } else { -libm::log(2.0 * (1.0 - u)) };
        self.coordinate().map_or_else(|| self.draws.laplace(), quantile)
    }

    /// Gamma with scale 1.
    pub(crate) fn gamma(&mut self, shape: f64) -> f64 {
        self.coordinate().map_or_else(|| self.draws.gamma(shape), |u| gamma_quantile(shape, u))
    }

    /// The spectral law of the hat max(0, 1 − |t|).
    pub(crate) fn hat(&mut self) -> f64 {
        hat_quantile(self.uniform())
    }

    /// Poisson: the smallest n whose distribution function is above u.
    pub(crate) fn poisson(&mut self, mean: f64) -> u64 {
        let u = self.uniform();
        let mut term = libm::exp(-mean);
        let (mut n, mut sum) = (0u64, term);
        // Terms below 2⁻⁶⁰ beyond the mean add nothing.
        while sum <= u && (term > 1e-18 || (n as f64) < mean) {
            n += 1;
            term *= mean / n as f64;
            sum += term;
        }
        n
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;
    use bochner_testkit::hoeffding_radius;

    /// P(N ≤ 2) of 200,000 Poisson numbers, by Hoeffding at 1e-9; another mean is told apart.
    #[test]
    fn poisson_numbers_have_their_law() {
        let n = 200_000;
        let share = |mean: f64| {
            let at_most = |i: &u64| Numbers::from(Draws::new(3, Stream::Pairs, *i)).poisson(mean) <= 2;
            (0..n).filter(at_most).count() as f64 / n as f64
        };
        let exact = |mean: f64| libm::exp(-mean) * (1.0 + mean + mean * mean / 2.0);
        let radius = hoeffding_radius(n as usize, 1.0, 1e-9);
        for mean in [0.3, 1.7, 5.0] {
            assert!((share(mean) - exact(mean)).abs() < radius);
            assert!((share(1.1 * mean) - exact(mean)).abs() > radius || mean < 1.0);
        }
        assert_eq!(Numbers::from(Draws::new(3, Stream::Pairs, 0)).poisson(0.0), 0);
    }
}

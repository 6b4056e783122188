//! Drawing in proportion to masses.
//!
//! ```text
//! P(i) = mᵢ / Σm,    by the first i with m₁ + … + mᵢ > u·Σm
//! ```
//! Sums run in the order of candidates and are taken of masses divided by the largest, so that no sum overflows.

use crate::random::Draws;

/// Running sums of masses.
pub(super) struct Lots {
    sums: Vec<f64>,
}

impl Lots {
    /// None if there is no mass. Masses that are not finite and positive count as 0.
    pub(super) fn new(masses: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let masses = masses.map(|mass| if mass.is_finite() { mass.max(0.0) } else { 0.0 });
        let largest = masses.clone().fold(0.0, f64::max);
        let mut sum = 0.0;
        let sums = masses.map(|mass| {
            sum += mass / largest;
            sum
        });
        if largest > 0.0 { Some(Lots { sums: sums.collect() }) } else { None }
    }

    pub(super) fn draw(&self, draws: &mut Draws) -> usize {
        let total = self.sums.last().copied().unwrap_or(0.0);
        let mark = draws.uniform() * total; // below the total, since u is at most 1 − 2⁻⁵³
        self.sums.partition_point(|&sum| sum <= mark)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::misfit;
    use super::*;
    use crate::random::Stream;

    /// α = 1e-9 (Bernstein, in `misfit`), also where sums would overflow or masses are hardly there.
    #[test]
    fn lots_fall_by_mass() {
        let law = [(vec![1], 0.25), (vec![3], 0.5), (vec![4], 0.25)].into_iter().collect();
        for scale in [1.0, 4e307, 1e-307] {
            let masses = [0.0, 1.0, f64::NAN, 2.0, 1.0, -1.0, f64::INFINITY].map(|mass| mass * scale);
            let lots = Lots::new(masses.into_iter()).unwrap();
            let draw = |seed| vec![lots.draw(&mut Draws::new(seed, Stream::Landmarks, 0))];
            assert!(misfit(&law, 100_000, draw) < 1.0);
        }
        assert!(Lots::new([0.0, f64::NAN, -1.0].into_iter()).is_none());
        assert!(Lots::new([].into_iter()).is_none());
    }
}

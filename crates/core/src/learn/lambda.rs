//! Which λ of a cross-validation curve a model takes: one rule for every learner.
//!
//! ```text
//! the largest λ with   error ≤ (1 + 10⁻⁴)·(least error)
//!                and   loss ≤ L + 10⁻²·(L₀ − L)          where errors are counts: L the least loss of these, L₀ that of the best constant
//! ```
//! λ whose validation errors are equal predict equally well, as far as the rows can tell; of these
//! the most regularised model is the simplest one. A smaller λ would be chosen by rounding alone.
//!
//! Errors that are counts of wrong classes are often equal over decades of λ, for two reasons.
//! Models that have converged no longer change: the loss on validation rows then still falls, by
//! less and less, and its smallest value says nothing but that λ is small. Or one class is rare and
//! no λ finds any of its rows: then the largest λ, whose model is next to nothing, makes as few
//! errors as one that ranks rows well. The loss tells these cases apart: a model has to reach 99 %
//! of the best reduction of the loss below that of a constant. (A fraction of the loss itself would
//! not do: where a class is rare, the loss of a constant is nearly as small.)

use super::ridge::CurvePoint;

/// Validation errors that differ by less than this part are equal.
const FLAT: f64 = 1e-4;

/// The fraction of the best reduction of the loss that may be missing: models are compared at a
/// tolerance of this size.
const MISSING: f64 = 1e-2;

/// The place of the largest λ whose error is the least, or equal to it.
pub(super) fn strongest(curve: &[CurvePoint]) -> Option<usize> {
    largest(curve, equals(curve))
}

/// The same where errors are counts, with the loss on the same rows for each point of the curve,
/// and that of the best constant score.
pub(super) fn strongest_of_counts(curve: &[CurvePoint], losses: &[f64], constant: f64) -> Option<usize> {
    let least = equals(curve).map(|at| losses[at]).fold(f64::INFINITY, f64::min);
    let most = least + MISSING * (constant - least).max(0.0);
    largest(curve, equals(curve).filter(|&at| losses[at] <= most))
}

/// The places of the least error and of those that are equal to it.
fn equals(curve: &[CurvePoint]) -> impl Iterator<Item = usize> {
    let least = curve.iter().map(|point| point.error).fold(f64::INFINITY, f64::min);
    (0..curve.len()).filter(move |&at| curve[at].error <= least + FLAT * least.abs())
}

fn largest(curve: &[CurvePoint], places: impl Iterator<Item = usize>) -> Option<usize> {
    places.max_by(|&a, &b| curve[a].lambda.total_cmp(&curve[b].lambda))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(f64, f64)]) -> Vec<CurvePoint> {
        points.iter().map(|&(lambda, error)| CurvePoint { lambda, error }).collect()
    }

    #[test]
    fn of_equal_errors_the_largest_lambda_is_taken_in_either_order() {
        let mut rising = curve(&[(0.1, 0.3), (1.0, 0.29999), (10.0, 0.30001), (100.0, 0.31)]);
        assert_eq!(strongest(&rising), Some(2));
        rising.reverse();
        assert_eq!(strongest(&rising), Some(1));
        // A difference that is more than rounding counts.
        assert_eq!(strongest(&curve(&[(0.1, 0.3), (1.0, 0.3001), (10.0, 0.4)])), Some(0));
        assert_eq!(strongest(&[]), None);
        assert_eq!(strongest_of_counts(&[], &[], 1.0), None);
    }

    /// The digits' curve of the Laplace kernel with s = 4: the smallest λ has the smallest loss, by
    /// 0.06 %.
    #[test]
    fn losses_that_no_longer_fall_do_not_make_lambda_smaller() {
        let errors = [(1e0, 298.0), (1e-1, 64.0), (1e-2, 27.0), (1e-3, 17.0)];
        let flat = [(1e-4, 13.0), (1e-5, 13.0), (1e-6, 13.0), (1e-7, 13.0)];
        let losses = [3904.2, 2503.1, 1202.4, 453.7, 327.7, 313.3, 311.8, 311.6];
        assert_eq!(strongest_of_counts(&curve(&[errors, flat].concat()), &losses, 2873.0), Some(4));
    }

    /// All λ are wrong equally often: what is taken has learnt nearly all that there is to learn.
    #[test]
    fn counts_that_say_nothing_leave_the_choice_to_losses() {
        let points = curve(&[(8.0, 0.03), (4.0, 0.03), (2.0, 0.03), (1.0, 0.03), (0.5, 0.03)]);
        assert_eq!(strongest_of_counts(&points, &[100.0, 70.0, 60.1, 60.0, 64.0], 71.0), Some(2));
        // A constant explains nearly all of it: the rest is what counts.
        assert_eq!(strongest_of_counts(&points, &[100.0, 70.0, 60.1, 60.0, 64.0], 62.0), Some(3));
        // Features explain nothing.
        assert_eq!(strongest_of_counts(&points, &[60.0, 60.0, 61.0, 62.0, 63.0], 59.0), Some(0));
        // A λ with more errors does not come back by its loss.
        let points = curve(&[(8.0, 0.5), (4.0, 0.3), (2.0, 0.3), (1.0, 0.4)]);
        assert_eq!(strongest_of_counts(&points, &[90.0, 80.0, 50.0, 10.0], 100.0), Some(2));
    }
}

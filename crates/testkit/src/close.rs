//! When two numbers count as the same, and what to say when they do not.
//!
//! ```text
//! Absolute(ε)  |a − e| ≤ ε       Relative(ε)  |a − e| ≤ ε |e|       Ulps(k)  at most k floats apart
//! ```
//! A tolerance names its kind where it is used, since `1e-9` alone says neither. NaN is close to nothing, and
//! an infinity only to itself: otherwise a result that overflowed could pass for an answer.

/// How far an actual value may lie from the expected one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// |actual − expected| ≤ ε.
    Absolute(f64),
    /// |actual − expected| ≤ ε · |expected|; an expected zero is met by zero alone.
    Relative(f64),
    /// At most so many steps between neighbouring floating-point numbers, of the type compared; −0 and 0 are
    /// the same point.
    Ulps(u64),
}

/// Two numbers to compare, widened without loss, and their distance in steps of their own type.
struct Pair {
    actual: f64,
    expected: f64,
    steps: u64,
}

impl Pair {
    fn double(actual: f64, expected: f64) -> Pair {
        // Negative numbers are mirrored, so that neighbouring floats are neighbouring integers.
        let rank = |x: f64| {
            let bits = x.to_bits() as i64;
            if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
        };
        Pair { actual, expected, steps: rank(actual).abs_diff(rank(expected)) }
    }

    fn single(actual: f32, expected: f32) -> Pair {
        let rank = |x: f32| {
            let bits = x.to_bits() as i32;
            if bits < 0 { i32::MIN.wrapping_sub(bits) } else { bits }
        };
        let steps = u64::from(rank(actual).abs_diff(rank(expected)));
        Pair { actual: f64::from(actual), expected: f64::from(expected), steps }
    }

    fn difference(&self) -> f64 {
        let same = self.steps == 0 && !self.actual.is_nan();
        if same { 0.0 } else { (self.actual - self.expected).abs() }
    }

    fn is_within(&self, tolerance: Tolerance) -> bool {
        if !(self.actual.is_finite() && self.expected.is_finite()) {
            return self.steps == 0 && !self.actual.is_nan();
        }
        match tolerance {
            Tolerance::Absolute(most) => self.difference() <= most,
            Tolerance::Relative(most) => self.difference() <= most * self.expected.abs(),
            Tolerance::Ulps(most) => self.steps <= most,
        }
    }
}

/// Panics unless every entry of `actual` is within `tolerance` of its fellow in `expected`.
#[track_caller]
pub fn assert_close(actual: &[f64], expected: &[f64], tolerance: Tolerance) {
    check_lengths(actual.len(), expected.len());
    assert_pairs(actual.iter().zip(expected).map(|(&a, &e)| Pair::double(a, e)), tolerance);
}

/// [`assert_close`] for single precision; `Ulps` are steps of `f32`.
#[track_caller]
pub fn assert_close_f32(actual: &[f32], expected: &[f32], tolerance: Tolerance) {
    check_lengths(actual.len(), expected.len());
    assert_pairs(actual.iter().zip(expected).map(|(&a, &e)| Pair::single(a, e)), tolerance);
}

/// Panics unless both slices hold the same bits: 0 differs from −0, and a NaN equals itself.
#[track_caller]
pub fn assert_same_bits(actual: &[f64], expected: &[f64]) {
    check_lengths(actual.len(), expected.len());
    assert_bits(actual.iter().zip(expected).map(|(&a, &e)| (a.to_bits(), e.to_bits(), Pair::double(a, e))));
}

/// [`assert_same_bits`] for single precision.
#[track_caller]
pub fn assert_same_bits_f32(actual: &[f32], expected: &[f32]) {
    check_lengths(actual.len(), expected.len());
    let bits = |x: f32| u64::from(x.to_bits());
    assert_bits(actual.iter().zip(expected).map(|(&a, &e)| (bits(a), bits(e), Pair::single(a, e))));
}

/// max |aᵢ − bᵢ|, and NaN when any difference is; equal infinities differ by 0.
#[track_caller]
pub fn max_difference(a: &[f64], b: &[f64]) -> f64 {
    check_lengths(a.len(), b.len());
    let differences = a.iter().zip(b).map(|(&a, &b)| Pair::double(a, b).difference());
    differences.fold(0.0, |most, x| if x.is_nan() || most.is_nan() { f64::NAN } else { x.max(most) })
}

/// ‖a − b‖ / ‖b‖ in the Euclidean norm; 0 when both are zero.
#[track_caller]
pub fn relative_error(a: &[f64], b: &[f64]) -> f64 {
    check_lengths(a.len(), b.len());
    let error = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    let size = b.iter().map(|b| b * b).sum::<f64>().sqrt();
    if error > 0.0 || error.is_nan() || size.is_nan() { error / size } else { 0.0 }
}

#[track_caller]
fn check_lengths(actual: usize, expected: usize) {
    assert!(actual == expected, "expected {expected} entries, found {actual}");
}

#[track_caller]
fn assert_pairs(pairs: impl ExactSizeIterator<Item = Pair>, tolerance: Tolerance) {
    if let Tolerance::Absolute(most) | Tolerance::Relative(most) = tolerance {
        assert!(most >= 0.0, "a tolerance is at least 0, found {most}");
    }
    let total = pairs.len();
    let offenders: Vec<(usize, Pair)> = pairs.enumerate().filter(|(_, p)| !p.is_within(tolerance)).collect();
    if let Some((index, pair)) = offenders.first() {
        panic!(
            "{} of {total} entries are not within {tolerance:?}; the first, [{index}]: expected {:?}, \
             found {:?}, difference {:e}, {} steps",
            offenders.len(),
            pair.expected,
            pair.actual,
            pair.difference(),
            pair.steps,
        );
    }
}

#[track_caller]
fn assert_bits(entries: impl ExactSizeIterator<Item = (u64, u64, Pair)>) {
    let total = entries.len();
    let offenders: Vec<_> = entries.enumerate().filter(|(_, (a, e, _))| a != e).collect();
    if let Some((index, (actual, expected, pair))) = offenders.first() {
        panic!(
            "{} of {total} entries differ in their bits; the first, [{index}]: expected {:?} ({expected:#x}), \
             found {:?} ({actual:#x}), difference {:e}",
            offenders.len(),
            pair.expected,
            pair.actual,
            pair.difference(),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::Tolerance::{Absolute, Relative, Ulps};
    use super::*;

    fn close(actual: f64, expected: f64, tolerance: Tolerance) -> bool {
        Pair::double(actual, expected).is_within(tolerance)
    }

    #[test]
    fn each_tolerance_accepts_its_edge_and_nothing_beyond() {
        assert!(close(1.25, 1.0, Absolute(0.25)) && !close(1.26, 1.0, Absolute(0.25)));
        assert!(close(-5.0, -4.0, Relative(0.25)) && !close(-5.1, -4.0, Relative(0.25)));
        assert!(!close(-4.0, 4.0, Relative(0.25)) && !close(1e-300, 0.0, Relative(0.5)));
        let next = f64::from_bits(1.0_f64.to_bits() + 3);
        assert!(close(next, 1.0, Ulps(3)) && !close(next, 1.0, Ulps(2)));
    }

    #[test]
    fn steps_cross_zero() {
        let least = f64::from_bits(1);
        assert!(close(-least, least, Ulps(2)) && !close(-least, least, Ulps(1)));
        assert!(close(-0.0, 0.0, Ulps(0)));
        assert_eq!(Pair::double(f64::MAX, -f64::MAX).steps, 2 * f64::MAX.to_bits());
        assert_eq!(Pair::single(1.0, 1.0 + f32::EPSILON).steps, 1);
        assert_eq!(Pair::single(-f32::MAX, f32::MAX).steps, 2 * u64::from(f32::MAX.to_bits()));
    }

    #[test]
    fn nan_and_infinity_are_close_to_no_number() {
        for tolerance in [Absolute(f64::INFINITY), Relative(f64::INFINITY), Ulps(u64::MAX)] {
            assert!(!close(f64::NAN, f64::NAN, tolerance) && !close(f64::NAN, 1.0, tolerance));
            assert!(!close(f64::MAX, f64::INFINITY, tolerance) && !close(f64::INFINITY, 1.0, tolerance));
            assert!(close(f64::INFINITY, f64::INFINITY, tolerance));
        }
    }

    #[test]
    #[should_panic(
        expected = "2 of 4 entries are not within Absolute(0.5); the first, [1]: expected 2.0, found 3.0, \
                    difference 1e0"
    )]
    fn the_message_names_place_values_and_count() {
        assert_close(&[1.0, 3.0, 5.0, f64::NAN], &[1.0, 2.0, 5.0, 5.0], Absolute(0.5));
    }

    #[test]
    #[should_panic(expected = "expected 2 entries, found 1")]
    fn lengths_must_agree() {
        assert_close(&[1.0], &[1.0, 2.0], Ulps(0));
    }

    #[test]
    #[should_panic(expected = "1 of 2 entries are not within Ulps(1); the first, [0]")]
    fn single_precision_counts_its_own_steps() {
        assert_close_f32(&[1.0 + 2.0 * f32::EPSILON, 2.0], &[1.0, 2.0], Ulps(1));
    }

    #[test]
    #[should_panic(expected = "1 of 3 entries differ in their bits; the first, [2]: expected 0.0 (0x0)")]
    fn bits_tell_the_zeros_apart() {
        assert_same_bits(&[f64::NAN, 1.0, -0.0], &[f64::NAN, 1.0, 0.0]);
    }

    #[test]
    #[should_panic(expected = "differ in their bits")]
    fn bits_tell_neighbours_apart_in_single_precision() {
        assert_same_bits_f32(&[1.0 + f32::EPSILON], &[1.0]);
    }

    #[test]
    fn norms_by_hand() {
        assert_close(&[max_difference(&[1.0, 5.0, -2.0], &[1.5, 2.0, -1.0])], &[3.0], Ulps(0));
        assert!(max_difference(&[1.0, f64::NAN, 2.0], &[9.0, 0.0, 2.0]).is_nan());
        assert_close(&[relative_error(&[3.0, 4.0], &[0.0, 0.0])], &[f64::INFINITY], Ulps(0));
        assert_close(&[relative_error(&[6.0, 12.0], &[3.0, 8.0])], &[(25.0_f64 / 73.0).sqrt()], Ulps(1));
        assert_close(&[relative_error(&[0.0], &[0.0])], &[0.0], Ulps(0));
        assert!(relative_error(&[f64::NAN], &[1.0]).is_nan());
    }
}

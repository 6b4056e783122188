//! The errors of rows that were not seen, and whether they have become smaller by more than chance.

use super::WORTH;

/// Standard errors by which rows not seen must be predicted better: in squares, and in classes.
///
/// Squares of classes may fall while more of them are wrong: what is blurred between classes is lost where a kernel could tell rows apart, and the more so the more features there are.
const CONFIDENCE: (f64, f64) = (1.0, 2.0);

/// A row of a part that judges.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judged {
    pub(super) weight: f64,
    /// The squared error, summed over outputs.
    pub(super) square: f64,
    /// The part of the row's weight whose class is another than the predicted one, were its targets classes.
    pub(super) wrong: f64,
}

/// What is compared of rows.
pub(super) type Lost = fn(&Judged) -> f64;

impl Judged {
    pub(super) const SQUARE: Lost = |row| row.square;
    pub(super) const WRONG: Lost = |row| row.wrong;

    /// The same row, predicted as it is.
    pub(super) fn without_error(&self) -> Judged {
        Judged { square: 0.0, wrong: 0.0, ..*self }
    }
}

/// Whether rows that were not seen are predicted better than before by more than chance: in squares, and where these code classes in classes too.
pub(super) fn is_better(before: &[Judged], after: &[Judged], are_classes: bool) -> bool {
    let nothing: Vec<Judged> = before.iter().map(Judged::without_error).collect();
    let (error, _) = gained(before, &nothing, Judged::SQUARE);
    let (gain, deviation) = gained(before, after, Judged::SQUARE);
    let is_nearer = gain > CONFIDENCE.0 * deviation && gain > WORTH * error;
    let (gain, deviation) = gained(before, after, Judged::WRONG);
    is_nearer && (!are_classes || gain > CONFIDENCE.1 * deviation)
}

/// The part of a row whose class is not the one that outputs decide for; targets are means of coded classes, less a shift, as are outputs.
pub(super) fn wrong(targets: &[f64], outputs: &[f64], shift: &[f64]) -> f64 {
    let at = |values: &[f64], o: usize| values[o] + shift[o];
    if targets.len() == 1 {
        // ±1: a mean m is the second class in (1 + m)/2 of the weight.
        let second = (1.0 + at(targets, 0)) / 2.0;
        return if at(outputs, 0) > 0.0 { 1.0 - second } else { second };
    }
    let best =
        (0..targets.len()).fold(0, |best, o| if at(outputs, o) > at(outputs, best) { o } else { best });
    1.0 - at(targets, best)
}

/// The mean of what b loses less than a, and its standard error, over rows with weights.
pub(super) fn gained(a: &[Judged], b: &[Judged], lost: Lost) -> (f64, f64) {
    let total: f64 = a.iter().map(|row| row.weight).sum();
    let pairs = || a.iter().zip(b).map(|(a, b)| (a.weight / total, lost(a) - lost(b)));
    let mean: f64 = pairs().map(|(w, gain)| w * gain).sum();
    let variance: f64 = pairs().map(|(w, gain)| (w * (gain - mean)).powi(2)).sum();
    (mean, variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_wrong_by_the_part_of_its_other_classes() {
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
        // Two classes as ±1, shifted by 0.3: a row that is the second class in three quarters of its weight.
        close(wrong(&[0.5 - 0.3], &[0.1 - 0.3], &[0.3]), 0.25);
        close(wrong(&[0.5 - 0.3], &[-0.1 - 0.3], &[0.3]), 0.75);
        // Three as 0 and 1: without the shift the second output would be the largest.
        let shift = [0.6, 0.1, 0.3];
        let shifted = |values: [f64; 3]| [0, 1, 2].map(|o| values[o] - shift[o]);
        close(wrong(&shifted([0.7, 0.2, 0.1]), &shifted([0.5, 0.4, 0.1]), &shift), 0.3);
        close(wrong(&shifted([0.0, 1.0, 0.0]), &shifted([0.5, 0.4, 0.1]), &shift), 1.0);
    }

    #[test]
    fn gains_are_weighted_means() {
        let row = |weight, square, wrong| Judged { weight, square, wrong };
        let (a, b) = ([row(3.0, 4.0, 1.0), row(1.0, 2.0, 0.0)], [row(3.0, 2.0, 0.0), row(1.0, 2.0, 1.0)]);
        let (gain, deviation) = gained(&a, &b, Judged::SQUARE);
        assert!((gain - 1.5).abs() < 1e-12 && (deviation - (0.375f64.powi(2) * 2.0).sqrt()).abs() < 1e-12);
        assert!((gained(&a, &b, Judged::WRONG).0 - 0.5).abs() < 1e-12);
    }

    /// A gain of every row, and an exception in some: by how many standard errors the mean is above zero is known.
    fn rows(count: usize, of: impl Fn(usize) -> (f64, f64)) -> Vec<Judged> {
        (0..count).map(|i| Judged { weight: 1.0, square: of(i).0, wrong: of(i).1 }).collect()
    }

    #[test]
    fn what_is_taken_is_better_by_a_standard_error_and_by_enough() {
        let before = rows(100, |_| (1.0, 0.0));
        // Gains of g ± 1 have a standard error of a tenth.
        let gain = |g: f64| rows(100, |i| (1.0 - g + if i % 2 == 0 { 1.0 } else { -1.0 }, 0.0));
        assert!(!is_better(&before, &gain(0.09), false));
        assert!(is_better(&before, &gain(0.11), false));
        assert!(!is_better(&before, &gain(-0.5), false));
        // Sure, but next to nothing; and a little more.
        assert!(!is_better(&before, &rows(100, |_| (0.998, 0.0)), false));
        assert!(is_better(&before, &rows(100, |_| (0.996, 0.0)), false));
        assert!(!is_better(&before, &before, false));
    }

    #[test]
    fn classes_must_be_told_apart_better_by_two_standard_errors() {
        // All squares fall; k more rows are right, one more is wrong: a gain of k − 1 with a deviation of about √(k + 1).
        let before = rows(400, |i| (1.0, f64::from(u8::from(i < 20))));
        let after = |k: usize| rows(400, move |i| (0.5, f64::from(u8::from((k..=20).contains(&i)))));
        assert!(is_better(&before, &after(1), false) && !is_better(&before, &after(1), true));
        assert!(!is_better(&before, &after(5), true), "4 of √6");
        assert!(is_better(&before, &after(10), true), "9 of √11");
        let worse = rows(400, |i| (0.5, f64::from(u8::from(i < 30))));
        assert!(is_better(&before, &worse, false) && !is_better(&before, &worse, true));
    }
}

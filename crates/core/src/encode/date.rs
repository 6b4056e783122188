//! A column of dates → seconds since the earliest, scaled like numbers, and a point on a circle for what repeats.
//!
//! ```text
//! month    cos, sin of 2π·(month − 1)/12        where dates span more than one month
//! weekday  cos, sin of 2π·weekday/7             where they fall on more than one day of the week
//! hour     cos, sin of 2π·(time of day)/24 h    where they have more than one time of day
//! ```
//! A missing date is at the mean of the training table, in the middle of each circle; a column of its own tells it apart where dates were missing in training.

use super::scaling::rounded;
use crate::table::MISSING_DATE;
use crate::table::date::{Moment, seconds};

/// How dates are encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DateEncoding {
    /// The earliest, in nanoseconds since 1970.
    pub origin: i64,
    /// Seconds after the earliest that stand for a missing date.
    pub fill: f64,
    /// Whether it has columns for the month.
    pub month: bool,
    /// For the day of the week.
    pub weekday: bool,
    /// For the time of day.
    pub hour: bool,
    /// Whether missing dates have a column.
    pub indicator: bool,
    /// Whether the day stands first where texts are read.
    pub day_first: bool,
}

impl DateEncoding {
    /// Columns beside the seconds.
    pub(super) fn width(&self) -> usize {
        2 * [self.month, self.weekday, self.hour].into_iter().filter(|is| *is).count()
            + usize::from(self.indicator)
    }

    /// Names of these.
    pub(super) fn names(&self, name: &str) -> Vec<String> {
        let circles = [(self.month, "month"), (self.weekday, "weekday"), (self.hour, "hour")];
        let circles = circles.into_iter().filter(|(is, _)| *is);
        let pairs = circles.flat_map(|(_, part)| ["cos", "sin"].map(|f| format!("{name} ({f} of {part})")));
        pairs.chain(self.indicator.then(|| format!("{name} (missing)"))).collect()
    }

    /// Seconds since the earliest.
    pub(super) fn value(&self, nanoseconds: i64) -> f64 {
        if nanoseconds == MISSING_DATE { self.fill } else { seconds(nanoseconds) - seconds(self.origin) }
    }

    /// The columns beside the seconds.
    pub(super) fn write(&self, nanoseconds: i64, to: &mut [f64]) {
        if nanoseconds == MISSING_DATE {
            if let (true, Some(last)) = (self.indicator, to.last_mut()) {
                *last = 1.0;
            }
            return;
        }
        let moment = Moment::of(nanoseconds);
        let turns = [
            (self.month, f64::from(moment.month - 1) / 12.0),
            (self.weekday, f64::from(moment.weekday) / 7.0),
            (self.hour, seconds(moment.nanoseconds) / 86_400.0),
        ];
        for ((_, turn), pair) in turns.into_iter().filter(|(is, _)| *is).zip(to.chunks_exact_mut(2)) {
            let (sin, cos) = libm::sincos(std::f64::consts::TAU * turn);
            (pair[0], pair[1]) = (cos, sin);
        }
    }

    /// All parameters are finite.
    pub(super) fn is_sound(&self) -> bool {
        self.fill.is_finite() && self.origin != MISSING_DATE
    }
}

/// What is known of a column of dates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DateProfile {
    /// Cells that are missing.
    pub missing: u64,
    /// Cells that are dates.
    pub dates: u64,
    /// The earliest and the latest of these.
    pub range: Option<[i64; 2]>,
    /// Mean of the seconds since 1970, weighted.
    mean: f64,
    weight: f64,
    /// Months and weekdays that are there, a bit each.
    months: u16,
    weekdays: u8,
    /// The earliest and the latest time of day.
    times: Option<[i64; 2]>,
}

impl DateProfile {
    /// Reads dates whose rows have these weights, all above 0.
    pub(super) fn absorb(&mut self, values: &[i64], weights: &[f64]) {
        for (&date, &weight) in values.iter().zip(weights) {
            if date == MISSING_DATE {
                self.missing += 1;
                continue;
            }
            self.dates += 1;
            self.range = joined(self.range, Some([date; 2]));
            self.weight += weight;
            self.mean += (seconds(date) - self.mean) * (weight / self.weight);
            let moment = Moment::of(date);
            self.months |= 1 << (moment.month - 1);
            self.weekdays |= 1 << moment.weekday;
            self.times = joined(self.times, Some([moment.nanoseconds; 2]));
        }
    }

    pub(super) fn merge(&mut self, other: &DateProfile) {
        self.missing += other.missing;
        self.range = joined(self.range, other.range);
        self.dates += other.dates;
        self.weight += other.weight;
        if other.weight > 0.0 {
            self.mean += (other.mean - self.mean) * (other.weight / self.weight);
        }
        self.months |= other.months;
        self.weekdays |= other.weekdays;
        self.times = joined(self.times, other.times);
    }

    /// Whether nothing can be learnt from it.
    pub(super) fn is_constant(&self) -> bool {
        let is_one = self.range.is_none_or(|[least, most]| least == most);
        is_one && (self.missing == 0 || self.dates == 0)
    }

    pub(super) fn encoding(&self) -> DateEncoding {
        let [origin, _] = self.range.unwrap_or([0; 2]);
        DateEncoding {
            origin,
            fill: rounded(self.mean - seconds(origin)).max(0.0),
            month: self.months.count_ones() > 1,
            weekday: self.weekdays.count_ones() > 1,
            hour: self.times.is_some_and(|[earliest, latest]| earliest < latest),
            indicator: self.missing > 0,
            day_first: false,
        }
    }
}

/// The smallest and the largest of two ranges.
fn joined(a: Option<[i64; 2]>, b: Option<[i64; 2]>) -> Option<[i64; 2]> {
    match (a, b) {
        (Some(a), Some(b)) => Some([a[0].min(b[0]), a[1].max(b[1])]),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::date::parse;

    fn dates(texts: &[&str]) -> Vec<i64> {
        texts.iter().map(|text| parse(text, false).unwrap_or(MISSING_DATE)).collect()
    }

    fn encoding(texts: &[&str]) -> DateEncoding {
        let mut profile = DateProfile::default();
        profile.absorb(&dates(texts), &vec![1.0; texts.len()]);
        profile.encoding()
    }

    #[test]
    fn what_repeats_is_on_a_circle() {
        let made = encoding(&["2024-01-01", "2024-04-01 06:00", ""]);
        assert_eq!((made.month, made.weekday, made.hour, made.indicator), (true, false, true, true));
        let mut to = vec![0.0; made.width()];
        let april = dates(&["2024-04-01 06:00"])[0];
        made.write(april, &mut to);
        let expected = [0.0, 1.0, 0.0, 1.0, 0.0]; // a quarter of a year and of a day
        assert!(to.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{to:?}");
        assert!((made.value(april) - (91.0 * 86_400.0 + 6.0 * 3600.0)).abs() < 1e-6);
        to.fill(0.0);
        made.write(MISSING_DATE, &mut to);
        assert!(to.iter().zip([0.0, 0.0, 0.0, 0.0, 1.0]).all(|(a, b)| (a - b).abs() < 1e-12));
        assert!((made.value(MISSING_DATE) / (45.5 * 86_400.0 + 3.0 * 3600.0) - 1.0).abs() < 1e-6);
        assert_eq!(made.names("when").len(), made.width());
    }

    #[test]
    fn what_does_not_vary_has_no_columns() {
        assert_eq!(encoding(&["2024-03-04", "2024-03-11"]).width(), 0);
        assert!(encoding(&["2024-03-04", "2024-03-05"]).weekday);
        assert!(!encoding(&["2024-03-04 12:00", "2024-03-05 12:00"]).hour);
        assert!(encoding(&["2024-03-04 12:00", "2024-03-05"]).hour);
    }
}

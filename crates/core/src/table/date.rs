//! Dates: text → nanoseconds since 1970 in UTC, and back to a calendar.
//!
//! ```text
//! 2024-03-01   2024-03-01 17:05:09.25+01:00   2024/3/1   1.3.2024   1/3/2024   1 Mar 2024   Mar 1, 2024   1-Mar-24
//! ```
//! In `1/3/2024` the day stands first or the month does: a column says which by all of its cells. A time of day may follow, with an offset from UTC;
//! without one it is UTC. Years of two digits lie between 1969 and 2068. The calendar is the Gregorian one, for all years.

/// A date that is missing.
pub const MISSING_DATE: i64 = i64::MIN;

const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400 * SECOND;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// A moment, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The year.
    pub year: i64,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
    /// 0 for Monday to 6 for Sunday.
    pub weekday: u32,
    /// Nanoseconds since midnight.
    pub nanoseconds: i64,
}

impl Moment {
    /// Of nanoseconds since 1970.
    pub fn of(nanoseconds: i64) -> Moment {
        let (days, rest) = (nanoseconds.div_euclid(DAY), nanoseconds.rem_euclid(DAY));
        let (year, month, day) = civil(days);
        // 1970 began on a Thursday.
        Moment { year, month, day, weekday: (days + 3).rem_euclid(7) as u32, nanoseconds: rest }
    }
}

/// Seconds since 1970, with nine digits after the point where a double has them.
pub fn seconds(nanoseconds: i64) -> f64 {
    nanoseconds.div_euclid(SECOND) as f64 + nanoseconds.rem_euclid(SECOND) as f64 / SECOND as f64
}

/// `2024-03-01`, with the time of day where there is one.
pub fn print(nanoseconds: i64) -> String {
    let Moment { year, month, day, nanoseconds, .. } = Moment::of(nanoseconds);
    let date = format!("{year:04}-{month:02}-{day:02}");
    if nanoseconds == 0 {
        return date;
    }
    let (all, part) = (nanoseconds / SECOND, nanoseconds % SECOND);
    let time = format!("{:02}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60);
    let part = if part == 0 { String::new() } else { format!(".{part:09}").trim_end_matches('0').to_owned() };
    format!("{date} {time}{part}")
}

/// The nanoseconds since 1970 that a text says; none for anything but a date between the years 1678 and 2261.
///
/// Where two numbers may be day and month, `day_first` says which.
pub fn parse(text: &str, day_first: bool) -> Option<i64> {
    let text = text.trim();
    let mut rest = Rest(text.as_bytes());
    let (year, month, day) = rest.date(day_first)?;
    let days = days_of(year, month, day)?;
    let nanoseconds = match rest.0 {
        [] => 0,
        _ => rest.time()?,
    };
    days.checked_mul(DAY)?.checked_add(nanoseconds).filter(|&all| all != MISSING_DATE)
}

/// Whether a text could be a date, by its first letters: most texts are told apart at once.
pub(super) fn may_be(text: &str) -> bool {
    let text = text.trim().as_bytes();
    (6..=40).contains(&text.len()) && text[0].is_ascii_alphanumeric() && text.iter().any(u8::is_ascii_digit)
}

/// Whether a text is a date, the month first and the day first.
pub(super) fn ways(text: &str) -> [bool; 2] {
    let month_first = parse(text, false).is_some();
    // Where the year comes first there is one way.
    let has_two = !text.as_bytes().iter().take(4).all(u8::is_ascii_digit);
    [month_first, if has_two { parse(text, true).is_some() } else { month_first }]
}

/// What has not been read yet.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    /// A number of some digits.
    fn number(&mut self, most: usize) -> Option<(i64, usize)> {
        let digits = self.0.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        let value = self.0[..digits].iter().fold(0, |value, byte| 10 * value + i64::from(byte - b'0'));
        self.0 = &self.0[digits..];
        Some((value, digits))
    }

    fn skip(&mut self, byte: u8) -> bool {
        let is_next = self.0.first() == Some(&byte);
        self.0 = &self.0[usize::from(is_next)..];
        is_next
    }

    fn spaces(&mut self) {
        while self.skip(b' ') {}
    }

    /// What separates the parts of a date, the same twice.
    fn separator(&mut self) -> Option<u8> {
        let found = *self.0.first().filter(|byte| matches!(byte, b'-' | b'/' | b'.' | b' '))?;
        self.0 = &self.0[1..];
        Some(found)
    }

    /// The number of a month from its name: three letters or all of them.
    fn month(&mut self) -> Option<i64> {
        let letters = self.0.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        if letters > "september".len() {
            return None;
        }
        let name = std::str::from_utf8(&self.0[..letters]).ok()?.to_ascii_lowercase();
        const REST: [&str; 12] =
            ["uary", "ruary", "ch", "il", "", "e", "y", "ust", "tember", "ober", "ember", "ember"];
        let is_name = |at: usize| {
            name == MONTHS[at] || (name.len() > 3 && name == format!("{}{}", MONTHS[at], REST[at]))
        };
        let month = (0..12).find(|&at| is_name(at) || (at == 8 && name == "sept"))?;
        self.0 = &self.0[letters..];
        self.skip(b'.');
        Some(month as i64 + 1)
    }

    /// Year, month and day.
    fn date(&mut self, day_first: bool) -> Option<(i64, i64, i64)> {
        if self.0.first()?.is_ascii_alphabetic() {
            // Mar 1, 2024
            let month = self.month()?;
            self.separator()?;
            let (day, _) = self.number(2)?;
            if !self.skip(b',') {
                self.separator()?;
            }
            self.spaces();
            let year = self.year()?;
            return Some((year, month, day));
        }
        let (first, digits) = self.number(4)?;
        let separator = self.separator()?;
        if digits == 4 {
            let month = self.number(2)?.0;
            let day = self.separator().filter(|next| *next == separator).and_then(|_| self.number(2))?.0;
            return Some((first, month, day));
        }
        if digits > 2 {
            return None;
        }
        if self.0.first()?.is_ascii_alphabetic() {
            // 1 Mar 2024, 1-Mar-24
            let month = self.month()?;
            self.separator()?;
            let year = self.year()?;
            return Some((year, month, first));
        }
        let (second, _) = self.number(2)?;
        self.separator().filter(|next| *next == separator && separator != b' ')?;
        let year = self.year()?;
        let is_day_first = day_first || separator == b'.';
        Some(if is_day_first { (year, second, first) } else { (year, first, second) })
    }

    /// Of four digits, or of two.
    fn year(&mut self) -> Option<i64> {
        match self.number(4)? {
            (year, 4) => Some(year),
            (year, 2) => Some(if year < 69 { 2000 + year } else { 1900 + year }),
            _ => None,
        }
    }

    /// Nanoseconds since midnight in UTC of `T17:05:09.25+01:00`, `17:05`, `5:05 PM`, up to the end.
    fn time(&mut self) -> Option<i64> {
        if !self.skip(b'T') && !self.skip(b't') {
            self.skip(b',');
            let before = self.0.len();
            self.spaces();
            if self.0.len() == before {
                return None;
            }
        }
        let (mut hour, _) = self.number(2)?;
        if !self.skip(b':') {
            return None;
        }
        let (minute, digits) = self.number(2)?;
        let (mut second, mut part) = (0, 0);
        if self.skip(b':') {
            second = self.number(2)?.0;
            if self.skip(b'.') || self.skip(b',') {
                let (value, digits) = self.number(9)?;
                part = value * 10i64.pow(9 - digits as u32);
                // Digits beyond nanoseconds.
                let _ = self.number(9);
            }
        }
        self.spaces();
        let half = self.0.first().map(u8::to_ascii_lowercase).filter(|byte| matches!(byte, b'a' | b'p'));
        if let (Some(half), Some(b'm' | b'M')) = (half, self.0.get(1)) {
            if !(1..=12).contains(&hour) {
                return None;
            }
            hour = hour % 12 + if half == b'p' { 12 } else { 0 };
            self.0 = &self.0[2..];
        }
        let offset = self.offset()?;
        let is_time = digits == 2 && hour < 24 && minute < 60 && second <= 60 && self.0.is_empty();
        is_time.then(|| (hour * 3600 + minute * 60 + second - offset) * SECOND + part)
    }

    /// Seconds that a clock there is ahead of UTC.
    fn offset(&mut self) -> Option<i64> {
        if self.skip(b'Z') || self.skip(b'z') || self.0.is_empty() {
            return Some(0);
        }
        if let Some(rest) = self.0.strip_prefix(b"UTC").or_else(|| self.0.strip_prefix(b"GMT")) {
            self.0 = rest;
            return Some(0);
        }
        let sign = match self.0.first()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        self.0 = &self.0[1..];
        let (hours, digits) = self.number(2)?;
        self.skip(b':');
        let minutes = if self.0.is_empty() { 0 } else { self.number(2)?.0 };
        (digits == 2 && hours < 15 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
    }
}

/// Days since 1970 of a date that exists.
fn days_of(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_month = (1..=12).contains(&month) && (1..=31).contains(&day) && (1..=9999).contains(&year);
    if !is_month {
        return None;
    }
    // March is the first month, so that the day that leap years have more is the last.
    let (shifted, from_march) = (year - i64::from(month <= 2), (month + 9) % 12);
    let (era, of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let of_year = (153 * from_march + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    (civil(days) == (year, month as u32, day as u32)).then_some(days)
}

/// Year, month and day of days since 1970.
fn civil(days: i64) -> (i64, u32, u32) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let years = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * years + years / 4 - years / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + years + i64::from(month <= 2), month as u32, day as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_six_centuries_comes_back() {
        let (mut expected, mut weekday) = ((1678, 1, 1), 5); // a Saturday
        let first = days_of(1678, 1, 1).unwrap();
        for days in first..days_of(2262, 1, 1).unwrap() {
            let (year, month, day) = civil(days);
            assert_eq!((year, month, day), expected);
            assert_eq!(days_of(year, i64::from(month), i64::from(day)), Some(days));
            let moment = Moment::of(days * DAY + 17);
            assert_eq!((moment.weekday, moment.nanoseconds), (weekday, 17));
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let last = match month {
                2 => 28 + u32::from(is_leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            expected = match (month, day) {
                (12, 31) => (year + 1, 1, 1),
                (_, day) if day == last => (year, month + 1, 1),
                _ => (year, month, day + 1),
            };
            weekday = (weekday + 1) % 7;
        }
    }

    #[test]
    fn dates_are_read_as_people_write_them() {
        // From Python's datetime.
        let day = 1_709_251_200;
        for text in [
            "2024-03-01",
            " 2024-03-01 ",
            "2024/3/1",
            "2024.03.01",
            "2024-3-1T00:00",
            "1 Mar 2024",
            "1-Mar-24",
            "01-MAR-2024",
            "Mar 1, 2024",
            "March 1 2024",
            "2024-03-01T00:00:00Z",
            "2024-03-01 00:00:00.000000000",
            "2024-02-29T19:00-05:00",
            "2024-03-01 05:30:00+0530",
            "2024-03-01 12:00 AM",
            "1.3.2024",
            "01.03.24",
            "2024-03-01 00:00:00 UTC",
        ] {
            assert_eq!(parse(text, false), Some(day * SECOND), "{text}");
            assert_eq!(parse(text, true), Some(day * SECOND), "{text}");
        }
        for (text, day_first) in
            [("1/3/2024", true), ("3/1/2024", false), ("03-01-2024", false), ("01/03/24", true)]
        {
            assert_eq!(parse(text, day_first), Some(day * SECOND), "{text}");
        }
        assert_eq!(parse("2024-03-01 17:05:09.25", true), Some((day + 61_509) * SECOND + SECOND / 4));
        assert_eq!(parse("3/1/2024 5:05 PM", false), Some((day + 61_500) * SECOND));
        assert_eq!(parse("1969-12-31 23:59:59.5", false), Some(-SECOND / 2));
        assert!(
            (seconds(-SECOND / 2) + 0.5).abs() < 1e-12 && (seconds(day * SECOND) - day as f64).abs() < 1e-9
        );
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "2024",
            "2024-13-01",
            "2024-02-30",
            "2023-02-29",
            "2024-3",
            "12:30",
            "1.5",
            "1.2.3",
            "10.0.0.1",
            "1/2",
            "99/99/2024",
            "2024-03-01x",
            "2024-03-01 25:00",
            "2024-03-01 10:5",
            "2024-03-01 10",
            "0000-01-01",
            "9999-12-31",
            "1500-01-01",
            "Marz 1, 2024",
            "2024-03-01 13:00 PM",
            "2024-03-01T",
            "1-2/2024",
            "-2024-01-01",
            "é",
            "20240301",
        ] {
            assert_eq!(parse(text, false), None, "{text}");
            assert_eq!(parse(text, true), None, "{text}");
        }
    }

    #[test]
    fn what_is_printed_is_read_back() {
        for nanoseconds in [0, 1, -1, 1_709_312_709_250_000_000, 86_399_999_999_999, -62 * DAY, 3600 * SECOND]
        {
            assert_eq!(parse(&print(nanoseconds), false), Some(nanoseconds), "{}", print(nanoseconds));
        }
        assert_eq!(print(1_709_312_709_250_000_000), "2024-03-01 17:05:09.25");
        assert_eq!(print(1_709_251_200 * SECOND), "2024-03-01");
    }
}

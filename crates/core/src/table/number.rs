//! Numbers as people write them: text → the nearest f64.
//!
//! ```text
//! 1234.5   1,234.5   -1e-3   +.5   inf   (432) = −432   5 %   $5   5 €        decimal comma:  1234,5   1.234,5   1 234,5
//! ```
//! A percent or currency sign is not looked at: 5 % is 5. Groups of digits have three each, but for the first.

/// What stands beside a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Nothing.
    None,
    /// `%`
    Percent,
    /// `$`, `€`, `£`, `¥`
    Currency,
}

/// What stands between groups of digits beyond ASCII: spaces that do not break, and the apostrophe of printers.
const GROUPS: [char; 4] = ['\u{a0}', '\u{202f}', '\u{2009}', '’'];

/// The number that a text spells, and the sign beside it; none for anything else. Infinities are numbers, NaN is none.
pub fn parse(text: &str, decimal_comma: bool) -> Option<(f64, Sign)> {
    let text = text.trim();
    if !text.is_ascii() && text.contains(GROUPS) {
        return parse(&text.replace('’', "'").replace(GROUPS, " "), decimal_comma);
    }
    let first = *text.as_bytes().first()?;
    // Most cells end here: digits with a point, or a word.
    if !decimal_comma && (first.is_ascii_digit() || first == b'-') {
        if let Ok(value) = text.parse::<f64>() {
            return (!value.is_nan()).then_some((value, Sign::None));
        }
    } else if first.is_ascii_alphabetic() {
        return infinity(text).map(|value| (value, Sign::None));
    }
    let (inside, is_negative) = match text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(inside) => (inside.trim(), true),
        None => (text, false),
    };
    let (digits, sign) = without_sign(inside);
    let value = plain(digits, decimal_comma)?;
    Some((if is_negative { -value } else { value }, sign))
}

/// A number of floating point as a label: `1.0`, as it stands in files of text and in Python.
pub fn label(value: f64) -> String {
    format!("{value:?}")
}

fn infinity(text: &str) -> Option<f64> {
    ["inf", "infinity"].iter().any(|word| text.eq_ignore_ascii_case(word)).then_some(f64::INFINITY)
}

/// Digits, and perhaps a sign before and a point among them: `12`, `-0.25`, `7.`
pub(super) struct Decimal {
    pub(super) is_negative: bool,
    /// Digits before the point.
    pub(super) whole: usize,
    /// Digits after the point, if there is one.
    pub(super) fraction: Option<usize>,
}

/// The parts of the commonest spelling of a number; none for all others.
pub(super) fn decimal(bytes: &[u8]) -> Option<Decimal> {
    let is_negative = bytes.first() == Some(&b'-');
    let digits = &bytes[usize::from(is_negative)..];
    let count = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = count(digits);
    let rest = &digits[whole..];
    let fraction = match rest.split_first() {
        None => None,
        Some((b'.', rest)) if count(rest) == rest.len() => Some(rest.len()),
        Some(_) => return None,
    };
    (whole > 0).then_some(Decimal { is_negative, whole, fraction })
}

impl Decimal {
    /// Whether these are a number with a decimal comma, too: `1.234` has a group of three digits then.
    pub(super) fn has_groups(&self) -> bool {
        self.fraction.is_none_or(|digits| digits == 3 && self.whole <= 3)
    }
}

/// Less the percent or currency sign at either end.
fn without_sign(text: &str) -> (&str, Sign) {
    const CURRENCY: [char; 4] = ['$', '€', '£', '¥'];
    if let Some(rest) = text.strip_suffix('%') {
        return (rest.trim_end(), Sign::Percent);
    }
    if let Some(rest) = text.strip_suffix(CURRENCY) {
        return (rest.trim_end(), Sign::Currency);
    }
    match text.strip_prefix(CURRENCY) {
        Some(rest) => (rest.trim_start(), Sign::Currency),
        None => (text, Sign::None),
    }
}

/// A number without signs of percent or currency, in either way of writing.
fn plain(text: &str, decimal_comma: bool) -> Option<f64> {
    let (text, is_negative) = match text.as_bytes().first()? {
        b'-' => (text[1..].trim_start(), true),
        b'+' => (&text[1..], false),
        _ => (text, false),
    };
    let (text, is_below) = match text.strip_prefix(['$', '€', '£', '¥']) {
        Some(rest) if is_negative => (rest.trim_start(), true), // −$5
        _ => (text, is_negative),
    };
    let value = match text.as_bytes().first()? {
        b'0'..=b'9' | b'.' | b',' => written(text, decimal_comma)?,
        b'i' | b'I' => infinity(text)?,
        _ => return None,
    };
    Some(if is_below { -value } else { value })
}

/// Digits, groups of them, a fraction, an exponent.
fn written(text: &str, decimal_comma: bool) -> Option<f64> {
    let (point, groups) = if decimal_comma { (b',', b'.') } else { (b'.', b',') };
    let bytes = text.as_bytes();
    let end =
        bytes.iter().position(|byte| matches!(byte, b'e' | b'E') || *byte == point).unwrap_or(bytes.len());
    let whole = &text[..end];
    let separator = whole.bytes().find(|byte| !byte.is_ascii_digit());
    let is_group = |separator: u8| separator == groups || matches!(separator, b' ' | b'\'');
    if separator.is_some_and(|separator| !is_group(separator)) {
        return None;
    }
    let mut digits = String::with_capacity(text.len());
    match separator {
        None => digits.push_str(whole),
        Some(separator) => {
            let mut parts = whole.split(char::from(separator));
            let first = parts.next()?;
            let is_group = |part: &str| part.len() == 3 && part.bytes().all(|byte| byte.is_ascii_digit());
            if !(1..=3).contains(&first.len()) || !first.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            digits.push_str(first);
            for part in parts {
                if !is_group(part) {
                    return None;
                }
                digits.push_str(part);
            }
        }
    }
    match bytes.get(end) {
        Some(&byte) if byte == point => {
            digits.push('.');
            digits.push_str(&text[end + 1..]);
        }
        _ => digits.push_str(&text[end..]),
    }
    let is_number = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'-' | b'+');
    if !digits.bytes().all(is_number) {
        return None;
    }
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<f64> {
        parse(text, false).map(|(value, _)| value)
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, expected) in [
            ("12", 12.0),
            (" -1.5e3 ", -1500.0),
            ("+.5", 0.5),
            ("5.", 5.0),
            ("1,234.5", 1234.5),
            ("-1,234,567", -1_234_567.0),
            ("(432)", -432.0),
            ("($1,000.50)", -1000.5),
            ("5%", 5.0),
            ("5 %", 5.0),
            ("$5", 5.0),
            ("-$5", -5.0),
            ("5 €", 5.0),
            ("1 234", 1234.0),
            ("1'234.5", 1234.5),
            ("1’234’567.5", 1_234_567.5),
            ("1\u{a0}234", 1234.0),
            ("1\u{202f}234 €", 1234.0),
            ("5\u{a0}%", 5.0),
            ("inf", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
            ("1e999", f64::INFINITY),
            ("9007199254740993", 9_007_199_254_740_992.0),
        ] {
            assert_eq!(value(text), Some(expected), "{text}");
        }
        for (text, expected) in [
            ("1,5", 1.5),
            ("1.234,5", 1234.5),
            ("1.234", 1234.0),
            ("-3", -3.0),
            (",5", 0.5),
            ("1 234,5 €", 1234.5),
            ("1,5e2", 150.0),
        ] {
            assert_eq!(parse(text, true).map(|(value, _)| value), Some(expected), "{text}");
        }
        assert_eq!(
            [parse("5%", false), parse("£5", false)],
            [Some((5.0, Sign::Percent)), Some((5.0, Sign::Currency))]
        );
    }

    /// Whoever looks at digits alone finds what the rules for all spellings find.
    #[test]
    fn digits_and_a_point_are_numbers() {
        for text in ["0", "-7", "12.5", "1.234", "-123.456", "1234.567", "0012", "5.", "-0.", "1.2345", "12."]
        {
            let found = decimal(text.as_bytes()).unwrap();
            assert!(matches!(parse(text, false), Some((_, Sign::None))), "{text}");
            assert_eq!(found.has_groups(), parse(text, true).is_some(), "{text}");
        }
        for text in ["", "-", ".5", "+1", "1e5", "1.2.3", "1,2", " 1", "--1", "1-", "x", "."] {
            assert!(decimal(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in [
            "",
            " ",
            "nan",
            "NaN",
            "-nan",
            "n/a",
            "x",
            "1,5",
            "1,2345",
            "12,34,567",
            "1.2.3",
            "0x10",
            "1_000",
            "1 2",
            "--1",
            "1-2",
            "e5",
            "%",
            "$",
            "()",
            "5%%",
            "1,234,",
            ",234",
            "infinite",
            "1e",
            "é",
            "1.5.",
        ] {
            assert_eq!(value(text), None, "{text}");
        }
        assert_eq!([parse("1.5", true), parse("1,234,567", true)], [None, None]);
    }
}

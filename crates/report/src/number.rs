//! Numbers as they are printed: short in paths, readable on axes.

/// The largest coordinate that is written. What lies further out is far outside every figure.
const FAR: f64 = 99_999.0;

/// A coordinate with at most two decimals. Callers pass finite numbers only; others would read as 0.
pub(crate) fn coordinate(value: f64) -> String {
    let value = if value.is_finite() { value.clamp(-FAR, FAR) } else { 0.0 };
    let hundredths = (value * 100.0).round() as i64;
    let (sign, size) = (if hundredths < 0 { "-" } else { "" }, hundredths.unsigned_abs());
    match (size / 100, size % 100) {
        (whole, 0) => format!("{sign}{whole}"),
        (whole, part) if part % 10 == 0 => format!("{sign}{whole}.{}", part / 10),
        (whole, part) => format!("{sign}{whole}.{part:02}"),
    }
}

/// `−1,234.50`: a fixed number of decimals, groups of three digits, a true minus sign.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, part) =
        text.split_once('.').map_or((text.as_str(), None), |(whole, part)| (whole, Some(part)));
    let mut out = String::new();
    if value < 0.0 && text.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) {
        out.push('−');
    }
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(part) = part {
        out.push('.');
        out.push_str(part);
    }
    out
}

/// `10⁻³`
pub(crate) fn power_of_ten(exponent: i32) -> String {
    let digits = exponent.to_string();
    let raised = digits.chars().map(|character| match character {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁰' as u32 + digit.to_digit(10).unwrap_or(0)).unwrap_or('⁰'),
    });
    std::iter::once("10".to_owned()).chain(raised.map(String::from)).collect()
}

/// `2.5×10⁻⁷`, and plain `0`.
pub(crate) fn scientific(value: f64, digits: usize) -> String {
    let text = format!("{:.*e}", digits.saturating_sub(1), value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = match mantissa.split_once('.') {
        Some(_) => mantissa.trim_end_matches('0').trim_end_matches('.'),
        None => mantissa,
    };
    if mantissa == "0" {
        return mantissa.to_owned();
    }
    let sign = if value < 0.0 { "−" } else { "" };
    let power = power_of_ten(exponent.parse().unwrap_or(0));
    if mantissa == "1" { format!("{sign}{power}") } else { format!("{sign}{mantissa}×{power}") }
}

/// A value in a sentence: four digits that matter.
pub(crate) fn plain(value: f64) -> String {
    let size = value.abs();
    if size > 0.0 && !(1e-3..1e7).contains(&size) {
        return scientific(value, 4);
    }
    let exponent = if size > 0.0 { size.log10().floor() as i32 } else { 0 };
    let text = fixed(value, (3 - exponent).clamp(0, 6) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (-0.001, "0"),
            (12.0, "12"),
            (12.346, "12.35"),
            (-0.5, "-0.5"),
            (1.05, "1.05"),
            (f64::NAN, "0"),
            (-1e300, "-99999"),
        ] {
            assert_eq!(coordinate(value), text);
        }
    }

    #[test]
    fn labels_read_well() {
        assert_eq!([fixed(-1234.5, 2), fixed(-0.001, 1), fixed(1e6, 0)], ["−1,234.50", "0.0", "1,000,000"]);
        assert_eq!([power_of_ten(-13), power_of_ten(4), power_of_ten(0)], ["10⁻¹³", "10⁴", "10⁰"]);
        assert_eq!(
            [scientific(2.5e-7, 3), scientific(1e9, 3), scientific(0.0, 3), scientific(-3e8, 1)],
            ["2.5×10⁻⁷", "10⁹", "0", "−3×10⁸"]
        );
        assert_eq!(
            [plain(0.0), plain(0.0125), plain(1234.56), plain(-2.0), plain(1e-9)],
            ["0", "0.0125", "1,235", "−2", "10⁻⁹"]
        );
    }
}

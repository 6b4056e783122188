//! Numbers for people.

/// `1,234,567`
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Four digits that matter: `0.01234`, `12.34`, `123,456`, `1.234e-7`.
pub(crate) fn number(value: f64) -> String {
    significant(value, 4)
}

/// As many digits as asked that matter, and never fewer before the point.
pub(crate) fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    // Of the rounded value: 9.9999 has the exponent of 10.
    let scientific = format!("{value:.*e}", digits.saturating_sub(1));
    let exponent: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    match exponent {
        -4..9 => {
            let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
            let text = format!("{value:.decimals$}");
            match text.split_once('.') {
                Some((whole, part)) => {
                    let part = part.trim_end_matches('0');
                    if part.is_empty() { grouped(whole) } else { format!("{}.{part}", grouped(whole)) }
                }
                None => grouped(&text),
            }
        }
        _ => scientific,
    }
}

/// Digits with commas, from five on.
fn grouped(whole: &str) -> String {
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    match digits.parse::<u64>() {
        Ok(value) if digits.len() >= 5 => format!("{sign}{}", count(value)),
        _ => whole.to_owned(),
    }
}

/// `0.42 s`, `12 s`, `3 min 20 s`, `2 h 5 min`
pub(crate) fn seconds(value: f64) -> String {
    let whole = value.round() as u64;
    match whole {
        0..10 => format!("{value:.1} s"),
        10..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// `1 row`, `2 rows`
pub(crate) fn counted(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

/// At most `most` characters.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        text.to_owned()
    } else {
        text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
    }
}

/// `12 %`
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", significant(100.0 * share, 2))
}

/// The first few names, and how many more there are.
pub(crate) fn list<'a>(names: impl ExactSizeIterator<Item = &'a str>, most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let mut text = names.take(most).map(|name| shortened(name, 30)).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text += &format!(" and {} more", count(more as u64));
    }
    text
}

/// Lines of a table: the first column to the left, the others to the right.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> Vec<String> {
    let cells = |row: &[String], j: usize| row.get(j).map_or(0, |cell| cell.chars().count());
    let widths: Vec<usize> = (0..header.len())
        .map(|j| rows.iter().map(|row| cells(row, j)).max().unwrap_or(0).max(header[j].chars().count()))
        .collect();
    let header: Vec<String> = header.iter().map(|&name| name.to_owned()).collect();
    std::iter::once(&header)
        .chain(rows)
        .map(|row| {
            let mut line = String::new();
            for (j, (cell, width)) in row.iter().zip(&widths).enumerate() {
                line += &if j == 0 { format!("{cell:<width$}") } else { format!("  {cell:>width$}") };
            }
            line.trim_end().to_owned()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([count(0), count(999), count(1000), count(1_234_567)], ["0", "999", "1,000", "1,234,567"]);
        for (value, text) in [
            (0.0, "0"),
            (0.012_341, "0.01234"),
            (0.000_1, "0.0001"),
            (1.234_56e-7, "1.235e-7"),
            (9.999_96, "10"),
            (-12.3, "-12.3"),
            (1234.56, "1235"),
            (123_456.7, "123,457"),
            (-123_456_789.0, "-123,456,789"),
            (1.5e12, "1.500e12"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!(
            [seconds(0.42), seconds(9.6), seconds(200.0), seconds(7500.0)],
            ["0.4 s", "10 s", "3 min 20 s", "2 h 5 min"]
        );
    }

    #[test]
    fn tables_line_up() {
        let rows = vec![vec!["a".to_owned(), "1".to_owned()], vec!["bb".to_owned(), "12".to_owned()]];
        assert_eq!(table(&["x", "n"], &rows), ["x    n", "a    1", "bb  12"]);
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(list(["a", "b", "c"].into_iter(), 2), "a, b and 1 more");
        assert_eq!(shortened("abcdef", 4), "abc…");
    }
}

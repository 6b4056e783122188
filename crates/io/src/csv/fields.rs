//! Where the fields of a record are.

use std::ops::Range;

use memchr::{memchr, memchr_iter};

use crate::text::Field;

/// Appends the fields of a record, `expected` of them at most, and says how many there are.
pub(super) fn find(
    text: &[u8],
    record: Range<usize>,
    delimiter: u8,
    expected: usize,
    to: &mut Vec<Field>,
) -> usize {
    let bytes = &text[record.clone()];
    match memchr(b'"', bytes) {
        None => plain(bytes, record.start, delimiter, expected, to),
        Some(_) => quoted(bytes, record.start, delimiter, expected, to),
    }
}

/// Of a record without quotes: what stands between delimiters.
fn plain(bytes: &[u8], base: usize, delimiter: u8, expected: usize, to: &mut Vec<Field>) -> usize {
    let (first, mut count, base) = (to.len(), 0, base as u32);
    to.resize(first + expected + 2, Field::MISSING);
    let fields = &mut to[first..];
    fields[0].start = base;
    for (&byte, at) in bytes.iter().zip(base..) {
        // Overwritten unless it is an end: cheaper than a branch nobody can predict.
        fields[count].end = at;
        fields[count + 1].start = at + 1;
        count = (count + usize::from(byte == delimiter)).min(expected);
    }
    fields[count].end = base + bytes.len() as u32;
    if count == expected {
        // More than that: how many is told once.
        count = memchr_iter(delimiter, bytes).count();
    }
    to.truncate(first + expected.min(count + 1));
    count + 1
}

/// Of a record with quotes.
fn quoted(bytes: &[u8], base: usize, delimiter: u8, expected: usize, to: &mut Vec<Field>) -> usize {
    let (mut count, mut start) = (0, 0);
    loop {
        let (field, end) = one(bytes, start, delimiter, base);
        if count < expected {
            to.push(field);
        }
        count += 1;
        if end == bytes.len() {
            return count;
        }
        start = end + 1;
    }
}

/// The field that starts here, and where it ends.
fn one(bytes: &[u8], start: usize, delimiter: u8, base: usize) -> (Field, usize) {
    let end_after = |from: usize| memchr(delimiter, &bytes[from..]).map_or(bytes.len(), |at| from + at);
    if bytes.get(start) != Some(&b'"') {
        let end = end_after(start);
        return (Field::plain(base + start, base + end), end);
    }
    let (close, is_doubled) = closing(bytes, start + 1);
    let end = end_after((close + 1).min(bytes.len()));
    let field = if !is_doubled && end == close + 1 {
        Field::plain(base + start + 1, base + close)
    } else {
        Field::escaped(base + start, base + end)
    };
    (field, end)
}

/// The quote that closes a field which is open from here on, and whether others are doubled before it.
fn closing(bytes: &[u8], from: usize) -> (usize, bool) {
    let (mut at, mut is_doubled) = (from, false);
    loop {
        at = memchr(b'"', &bytes[at..]).map_or(bytes.len(), |found| at + found);
        if bytes.get(at + 1) != Some(&b'"') {
            return (at, is_doubled);
        }
        (at, is_doubled) = (at + 2, true);
    }
}

/// What a quoted field spells: doubled quotes are one, and what stands behind the closing one stands for itself.
pub(super) fn unescape(field: &[u8], to: &mut Vec<u8>) {
    let (close, _) = closing(field, 1);
    let mut inside = field.get(1..close).unwrap_or_default();
    while let Some(at) = memchr(b'"', inside) {
        to.extend_from_slice(&inside[..=at]);
        inside = &inside[at + 2..];
    }
    to.extend_from_slice(inside);
    to.extend_from_slice(field.get(close + 1..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Cell;

    fn fields(record: &str, expected: usize) -> (Vec<String>, usize) {
        let text = format!("abc{record}def");
        let mut found = Vec::new();
        let count = find(text.as_bytes(), 3..3 + record.len(), b',', expected, &mut found);
        let spelled = |field: &Field| match field.cell(text.as_bytes(), unescape, &mut Vec::new()) {
            Cell::Text(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
            other => panic!("{other:?}"),
        };
        (found.iter().map(spelled).collect(), count)
    }

    #[test]
    fn fields_are_what_they_spell() {
        let cases: [(&str, &[&str]); 10] = [
            ("", &[""]),
            ("a", &["a"]),
            (",", &["", ""]),
            ("a,,bc,", &["a", "", "bc", ""]),
            ("\"a\",b", &["a", "b"]),
            ("\"a,\n\",\"\"", &["a,\n", ""]),
            ("\"\"\"\",\"x\"\"y\"", &["\"", "x\"y"]),
            ("\"a\"b\"c,d", &["ab\"c", "d"]),
            ("5\" pipe,\"", &["5\" pipe", ""]),
            ("é,\"ü\"", &["é", "ü"]),
        ];
        for (record, expected) in cases {
            let count = expected.len();
            assert_eq!(
                fields(record, count),
                (expected.iter().map(|&f| f.to_owned()).collect(), count),
                "{record}"
            );
            assert_eq!(fields(record, count + 2).1, count);
            let (few, all) = fields(record, count - 1);
            assert_eq!((few.len(), all), (count - 1, count));
        }
    }
}

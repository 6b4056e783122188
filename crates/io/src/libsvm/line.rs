//! One line of a sparse file.

use crate::error::{Error, Place, Result};
use crate::number;

/// Whether a line has more than spaces and a comment.
pub(super) fn has_row(line: &[u8]) -> bool {
    tokens(line).next().is_some()
}

/// The label of a line; its entries, with indices from 0, replace `entries`.
pub(super) fn parse<'a>(place: Place<'_>, line: &'a [u8], entries: &mut Vec<(u32, f64)>) -> Result<&'a str> {
    entries.clear();
    let mut tokens = tokens(line);
    let label = tokens.next().unwrap_or_default();
    if label.is_empty() || label.contains(&b':') {
        return Err(place.fault(label, |file, line, found| Error::NoLabel { file, line, found }));
    }
    let mut previous = 0;
    for token in tokens {
        let (index, value) = pair(place, token)?;
        if index <= previous {
            let (file, line) = (place.file.to_owned(), place.line);
            return Err(Error::IndexOrder { file, line, previous, found: index });
        }
        previous = index;
        entries.push((index - 1, value));
    }
    place.text(label)
}

/// `index:value`, the index from 1.
fn pair(place: Place<'_>, token: &[u8]) -> Result<(u32, f64)> {
    let Some(colon) = token.iter().position(|&byte| byte == b':') else {
        return Err(place.fault(token, |file, line, found| Error::NotAPair { file, line, found }));
    };
    let (index, value) = (&token[..colon], &token[colon + 1..]);
    if index == b"qid" {
        return Err(place.fault(token, |file, line, found| Error::QueryId { file, line, found }));
    }
    let Some(index) = whole(index) else {
        return Err(place.fault(index, |file, line, found| Error::Index { file, line, found }));
    };
    match number::parse(value) {
        Some(value) => Ok((index, value)),
        None => Err(place.fault(value, |file, line, found| Error::Value { file, line, index, found })),
    }
}

/// An index from 1.
fn whole(digits: &[u8]) -> Option<u32> {
    let mut index = 0u32;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        index = index.checked_mul(10)?.checked_add(u32::from(digit))?;
    }
    (index > 0).then_some(index)
}

/// What stands between spaces, up to the comment.
fn tokens(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = line.iter().position(|&byte| byte == b'#').unwrap_or(line.len());
    line[..end].split(u8::is_ascii_whitespace).filter(|token| !token.is_empty())
}

//! What separates the fields, judged by the first line.

use crate::error::{Error, Result};

/// How much of the first line is looked at.
pub(super) const LOOKED_AT: usize = 64 << 10;

/// In the order of preference among equals: tabs, semicolons and bars seldom stand inside names, commas do.
const CANDIDATES: [u8; 4] = [b'\t', b';', b'|', b','];

/// The candidate that the first line has most of, outside quotes. If it has none: a space, where the first two lines have as many
/// single spaces; else a comma.
pub(super) fn sniff(head: &[u8]) -> u8 {
    let start = head.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(head.len());
    let mut counts = [0usize; CANDIDATES.len()];
    let mut quoted = false;
    for byte in &head[start..] {
        match byte {
            b'"' => quoted = !quoted,
            b'\r' | b'\n' if !quoted => break,
            _ if quoted => {}
            _ => {
                for (count, candidate) in counts.iter_mut().zip(CANDIDATES) {
                    *count += usize::from(*byte == candidate);
                }
            }
        }
    }
    let mut best = (b',', 0);
    for (candidate, count) in CANDIDATES.into_iter().zip(counts) {
        if count > best.1 {
            best = (candidate, count);
        }
    }
    if best.1 == 0 && has_spaces(&head[start..]) { b' ' } else { best.0 }
}

/// Whether the first two lines are words with single spaces between them, as many in each.
fn has_spaces(head: &[u8]) -> bool {
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    let mut count = || {
        let line = lines.next()?;
        let words = line.split(|byte| *byte == b' ');
        let are_words = line.len() > 1 && !line.contains(&b'"') && words.clone().all(|word| !word.is_empty());
        are_words.then(|| words.count())
    };
    matches!((count(), count()), (Some(first), Some(second)) if first == second && first > 1)
}

/// Refuses what cannot separate.
pub(super) fn check(delimiter: u8) -> Result<u8> {
    match delimiter {
        b'"' | b'\r' | b'\n' => Err(Error::Delimiter { found: delimiter }),
        _ => Ok(delimiter),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_candidate_wins() {
        assert_eq!(sniff(b"a,b;c,d\n;;;;;;"), b',');
        assert_eq!(sniff(b"\r\n\na;b\n,,,,"), b';');
        assert_eq!(sniff(b"\"a,b,c\"\td"), b'\t');
        assert_eq!(sniff(b"\"a,\n\",b\n;;;"), b',');
        assert_eq!(sniff(b"first, last;age"), b';');
        assert_eq!([sniff(b"alone\n1"), sniff(b"")], [b',', b',']);
        assert_eq!([sniff(b"a|b,c|d\n"), sniff(b"a b c\n1 2 3\n")], [b'|', b' ']);
        assert_eq!([sniff(b"full name\nAnn\n"), sniff(b"a  b\n1  2\n"), sniff(b"a b")], [b',', b',', b',']);
    }
}

//! What separates the fields, judged by the first line.

use crate::error::{Error, Result};

/// How much of the first line is looked at.
pub(super) const LOOKED_AT: usize = 64 << 10;

/// In the order of preference among equals: tabs and semicolons seldom stand inside names, commas do.
const CANDIDATES: [u8; 3] = [b'\t', b';', b','];

/// The candidate that the first line has most of, outside quotes; a comma if it has none.
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
    best.0
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
    }
}

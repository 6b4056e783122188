//! A column of texts → counts of its words or letters, hashed to sparse columns of length 1 (`encode/sequence.rs`).
//!
//! Where nothing is said of how:
//!
//! ```text
//! three words or more on average           runs of one and two words
//! all of one length, of few letters        runs of one to three characters at their positions: aligned sequences
//! all others                               runs of three to five characters
//! ```

use super::{Documents, Grams, Sequence, SequenceEncoder};
use crate::Result;
use crate::table::TextColumn;

/// How texts are encoded.
#[derive(Clone, Debug, PartialEq)]
pub struct TextEncoding {
    /// How a text becomes numbers.
    pub sequence: Sequence,
    /// None before tf–idf was fitted.
    pub encoder: Option<SequenceEncoder>,
}

impl TextEncoding {
    /// Fitted if there is nothing to fit.
    pub fn new(sequence: Sequence) -> Result<TextEncoding> {
        sequence.validate()?;
        let encoder = if sequence.tf_idf { None } else { Some(sequence.build()?) };
        Ok(TextEncoding { sequence, encoder })
    }

    /// The texts that tf–idf was fitted to.
    pub(crate) fn documents(&self) -> Option<&Documents> {
        self.encoder.as_ref().and_then(SequenceEncoder::documents)
    }
}

/// What is known of a column of texts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TextProfile {
    /// Cells that are missing.
    pub missing: u64,
    /// Cells that are not.
    pub rows: u64,
    /// Their weight, and that of their words.
    weight: f64,
    words: f64,
    /// The fewest and the most bytes of one.
    lengths: Option<[usize; 2]>,
    /// Bytes that are there, a bit each.
    letters: [u128; 2],
}

/// Aligned sequences have so many bytes at least, and so many different ones at most.
const SHORTEST: usize = 8;
const MOST_LETTERS: u32 = 32;

impl TextProfile {
    /// Reads texts whose rows have these weights, all above 0.
    pub(super) fn absorb(&mut self, texts: &TextColumn, weights: &[f64]) {
        for (cell, weight) in texts.cells().zip(weights) {
            match cell {
                Some(text) => {
                    self.rows += 1;
                    self.weight += weight;
                    self.words += weight * text.split_whitespace().count() as f64;
                    self.extend([text.len(); 2]);
                    for byte in text.bytes() {
                        self.letters[usize::from(byte >> 7)] |= 1 << (byte & 127);
                    }
                }
                None => self.missing += 1,
            }
        }
    }

    pub(super) fn merge(&mut self, other: &TextProfile) {
        self.missing += other.missing;
        self.rows += other.rows;
        self.weight += other.weight;
        self.words += other.words;
        other.lengths.into_iter().for_each(|lengths| self.extend(lengths));
        self.letters.iter_mut().zip(other.letters).for_each(|(own, letters)| *own |= letters);
    }

    fn extend(&mut self, [fewest, most]: [usize; 2]) {
        let [a, b] = self.lengths.unwrap_or([fewest, most]);
        self.lengths = Some([a.min(fewest), b.max(most)]);
    }

    /// Whether a position means the same in all of them.
    fn are_aligned(&self) -> bool {
        let letters: u32 = self.letters.iter().map(|letters| letters.count_ones()).sum();
        self.lengths.is_some_and(|[fewest, most]| fewest == most && most >= SHORTEST)
            && letters <= MOST_LETTERS
    }

    /// How its texts become numbers where nothing is said of it.
    pub(super) fn sequence(&self) -> Sequence {
        let grams = if self.words >= 3.0 * self.weight {
            Grams::Words { from: 1, to: 2 }
        } else if self.are_aligned() {
            Grams::Positional { from: 1, to: 3 }
        } else {
            Grams::Characters { from: 3, to: 5 }
        };
        Sequence { normalise: true, ..Sequence::new(grams) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grams(texts: &[&str]) -> Grams {
        let (mut profile, mut last) = (TextProfile::default(), TextProfile::default());
        let (a, b) = texts.split_at(texts.len() / 2);
        profile.absorb(&a.iter().copied().collect(), &vec![1.0; a.len()]);
        last.absorb(&b.iter().copied().collect(), &vec![1.0; b.len()]);
        profile.merge(&last);
        profile.sequence().grams
    }

    #[test]
    fn what_is_counted_follows_the_texts() {
        assert_eq!(grams(&["so it goes", "and on it goes"]), Grams::Words { from: 1, to: 2 });
        assert_eq!(grams(&["GATTACAG", "CATTACAG", "TTTTTTTT"]), Grams::Positional { from: 1, to: 3 });
        let characters = Grams::Characters { from: 3, to: 5 };
        assert_eq!(grams(&["GATTACAG", "CATTACA"]), characters);
        assert_eq!(grams(&["GATTACA", "CATTACA"]), characters, "too short");
        assert_eq!(grams(&["abcdefghijklmnopqr", "stuvwxyzäöü0123456"]), characters, "too many letters");
    }
}

//! A column of texts → counts of its words or letters, hashed to sparse columns of length 1 (`encode/sequence.rs`).
//!
//! Where nothing is said of how: runs of one and two words for texts of three words or more on average, else of three to five
//! characters.

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextProfile {
    /// Cells that are missing.
    pub missing: u64,
    /// Cells that are not.
    pub rows: u64,
    /// Their words.
    pub words: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl TextProfile {
    pub(super) fn absorb(&mut self, texts: &TextColumn) {
        for cell in texts.cells() {
            match cell {
                Some(text) => {
                    self.rows += 1;
                    self.words += text.split_whitespace().count() as u64;
                    self.bytes += text.len() as u64;
                }
                None => self.missing += 1,
            }
        }
    }

    pub(super) fn merge(&mut self, other: &TextProfile) {
        self.missing += other.missing;
        self.rows += other.rows;
        self.words += other.words;
        self.bytes += other.bytes;
    }

    /// How its texts become numbers where nothing is said of it.
    pub(super) fn sequence(&self) -> Sequence {
        let has_words = self.words >= 3 * self.rows;
        let grams =
            if has_words { Grams::Words { from: 1, to: 2 } } else { Grams::Characters { from: 3, to: 5 } };
        Sequence { normalise: true, ..Sequence::new(grams) }
    }
}

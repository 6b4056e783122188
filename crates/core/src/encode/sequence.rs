//! Texts → rows: counts of their grams, hashed.
//!
//! ```text
//! K(a, b) = Σ_u count_u(a)·count_u(b)                 u: every gram, that is every short piece of text
//! z(a) = Σ_u count_u(a)·A(u)                          A(u): column u of a sparse random matrix of m rows, s entries ±1/√s each
//! E[z(a)·z(b)] = K(a, b)        Var = (K(a, a)·K(b, b) + K(a, b)² − 2·Σ_u count_u(a)²·count_u(b)²)/m        (s divides m)
//! ```
//! There may be more grams than could ever be listed: 4ᵏ words of k letters, all pairs of words of a language. A gram's column is a function of its 64-bit hash (xxh3), so that
//! nothing is listed, new grams have their place, and a row costs s additions for each gram of its text. Against √(K(a, a)·K(b, b)) the error has a deviation of at most √(2/m). With tf–idf,
//! grams that many texts have count less: count·idf, idf = ln((1 + n)/(1 + df)) + 1, df the texts among n that have the gram. Leslie, Eskin & Noble (2002); Leslie et al. (2004) for mismatches; Rätsch & Sonnenburg (2004) for positions (the weighted degree kernel); Ghandi et al. (2014)
//! for gaps; Weinberger et al. (2009) for hashing. `docs/book/sequences.md`.

mod documents;
mod encoder;
mod steps;
mod walk;

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use documents::Documents;
pub use encoder::SequenceEncoder;

use self::walk::Walk;
use crate::random::Hashed;
use crate::table::TextColumn;
use crate::{Engine, Error, Kernel, Result};

/// Which pieces of a text count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Grams {
    /// All windows of k bytes.
    Spectrum {
        /// 1 to 64.
        k: u32,
    },
    /// Every choice of k of the `length` places of every window of bytes; the letters between do not matter, the places do.
    Gapped {
        /// Of a window, 1 to 64.
        length: u32,
        /// Places that matter, 1 to `length`.
        k: u32,
    },
    /// Each window of k bytes counts for all words that differ from it in at most `mismatches` letters of the alphabet. Other letters stay what they are.
    Mismatch {
        /// 1 to 64.
        k: u32,
        /// 0 to k.
        mismatches: u32,
        /// At least two different letters of ASCII.
        alphabet: String,
    },
    /// All runs of `from` to `to` characters of Unicode, as they are written.
    Characters {
        /// At least 1.
        from: u32,
        /// `from` to 64.
        to: u32,
    },
    /// All runs of `from` to `to` characters of Unicode, each at its position: for texts that are aligned.
    Positional {
        /// At least 1.
        from: u32,
        /// `from` to 64.
        to: u32,
    },
    /// All runs of `from` to `to` words. A word is a run of letters and digits in lower case; an apostrophe between two of them belongs to it.
    Words {
        /// At least 1.
        from: u32,
        /// `from` to 64.
        to: u32,
    },
}

/// The longest gram.
const LONGEST: u32 = 64;

/// Grams of one window, at most.
const MOST_GRAMS: f64 = 1e4;

/// Columns that a text is hashed to, at most.
const MOST_COLUMNS: usize = 1 << 20;

/// Entries of a gram's column, at most.
const MOST_NONZEROS: usize = 64;

impl Grams {
    /// The alphabet where nothing is said of it.
    pub const DNA: &'static str = "ACGT";

    /// All parameters lie in their domains, and a window has no more than 10,000 grams.
    pub fn validate(&self) -> Result<()> {
        let within = |name, expected, value: u32, least: u32, most: u32| {
            if (least..=most).contains(&value) {
                return Ok(());
            }
            Err(Error::Parameter { name, expected, found: value.to_string() })
        };
        match self {
            Grams::Spectrum { k } => within("k", "between 1 and 64", *k, 1, LONGEST)?,
            Grams::Gapped { length, k } => {
                within("length", "between 1 and 64", *length, 1, LONGEST)?;
                within("k", "between 1 and the length", *k, 1, *length)?;
            }
            Grams::Mismatch { k, mismatches, alphabet } => {
                within("k", "between 1 and 64", *k, 1, LONGEST)?;
                within("m", "between 0 and k", *mismatches, 0, *k)?;
                let letters = alphabet.as_bytes();
                let twice = (1..letters.len()).any(|at| letters[..at].contains(&letters[at]));
                if !alphabet.is_ascii() || letters.len() < 2 || twice {
                    return Err(Error::Parameter {
                        name: "alphabet",
                        expected: "at least two different letters of ASCII",
                        found: format!("\"{alphabet}\""),
                    });
                }
            }
            Grams::Characters { from, to } | Grams::Positional { from, to } | Grams::Words { from, to } => {
                within("from", "between 1 and 64", *from, 1, LONGEST)?;
                within("to", "between from and 64", *to, *from, LONGEST)?;
            }
        }
        let count = self.of_a_window();
        if count <= MOST_GRAMS {
            return Ok(());
        }
        Err(Error::Parameter {
            name: "the grams of one window",
            expected: "at most 10,000",
            found: format!("{count:.3e}"),
        })
    }

    /// Grams that begin at one place of a text.
    fn of_a_window(&self) -> f64 {
        let choose = |n: u32, k: u32| (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product::<f64>();
        match self {
            Grams::Spectrum { .. } => 1.0,
            Grams::Gapped { length, k } => choose(*length, *k).round(),
            Grams::Mismatch { k, mismatches, alphabet } => (0..=*mismatches)
                .map(|m| choose(*k, m).round() * (alphabet.len() as f64 - 1.0).powi(m as i32))
                .sum(),
            Grams::Characters { from, to } | Grams::Positional { from, to } | Grams::Words { from, to } => {
                f64::from(to - from + 1)
            }
        }
    }
}

/// How a text becomes numbers, as plain data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sequence {
    /// What is counted.
    pub grams: Grams,
    /// Whether grams that many texts have count less: it is fitted to texts then.
    pub tf_idf: bool,
    /// Whether rows are brought to length 1; that of a text without grams stays zero.
    pub normalise: bool,
    /// m, the columns that grams are hashed to.
    pub width: usize,
    /// s, the columns that each gram is added to.
    pub nonzeros: usize,
    /// Of the hashing.
    pub seed: u64,
}

impl Sequence {
    /// Columns where nothing is said of them.
    pub const WIDTH: usize = 4096;

    /// Entries of a gram where nothing is said of them.
    pub const NONZEROS: usize = 4;

    /// Plain counts, hashed to 4,096 columns, four for each gram.
    pub fn new(grams: Grams) -> Self {
        let (width, nonzeros) = (Sequence::WIDTH, Sequence::NONZEROS);
        Sequence { grams, tf_idf: false, normalise: false, width, nonzeros, seed: 0 }
    }

    /// All parameters lie in their domains.
    pub fn validate(&self) -> Result<()> {
        self.grams.validate()?;
        let within = |name, expected, value: usize, most: usize| {
            if (1..=most).contains(&value) {
                return Ok(());
            }
            Err(Error::Parameter { name, expected, found: value.to_string() })
        };
        within("width", "between 1 and 1,048,576", self.width, MOST_COLUMNS)?;
        within("nonzeros", "between 1 and 64, and no more than the width", self.nonzeros, {
            self.width.min(MOST_NONZEROS)
        })
    }

    /// From the plain data alone: without tf–idf.
    pub fn build(&self) -> Result<SequenceEncoder> {
        SequenceEncoder::new(self.clone(), None)
    }

    /// As [`Sequence::build`]; with tf–idf, fitted to these texts. A weight says how often a text counts.
    pub fn fit(
        &self,
        engine: &Engine,
        texts: &TextColumn,
        weights: Option<&[f64]>,
    ) -> Result<SequenceEncoder> {
        self.validate()?;
        if !self.tf_idf {
            return self.build();
        }
        let mut documents = Documents::default();
        documents.absorb(engine, &self.grams, texts, weights)?;
        SequenceEncoder::new(self.clone(), Some(documents))
    }

    /// Σ_u count_u(a)·count_u(b): the kernel of plain counts, without hashing them. Two grams with one 64-bit hash would count as one; among a million grams there are such two once in 40 million.
    pub fn exact(&self, a: &str, b: &str) -> Result<f64> {
        self.grams.validate()?;
        let mut walk = Walk::new(&self.grams);
        Ok(shared(&walk.counts(a), &walk.counts(b), |_| 1.0))
    }

    /// The most that the standard deviation of z(a)·z(b) can be of √(K(a, a)·K(b, b)): √(2/m) if s divides m. About that for rows of length 1.
    pub fn deviation(&self) -> f64 {
        // (2/s²)·Σ 1/rows, over the blocks of the hashing.
        let (m, s) = (self.width, self.nonzeros.clamp(1, self.width.max(1)));
        let rows = |block: usize| (block + 1) * m / s - block * m / s;
        let sum: f64 = (0..s).map(|block| (rows(block) as f64).recip()).sum();
        (2.0 * sum).sqrt() / s as f64
    }

    fn hashed(&self, signed: bool) -> Result<Hashed> {
        Hashed::new(self.width, self.nonzeros, signed, self.seed)
    }
}

/// Σ weight_u·count_u(a)·count_u(b), of counts sorted by key.
fn shared(a: &[(u64, f64)], b: &[(u64, f64)], weight: impl Fn(u64) -> f64) -> f64 {
    let (mut i, mut j, mut sum) = (0, 0, 0.0);
    while i < a.len() && j < b.len() {
        let (u, v) = (a[i].0, b[j].0);
        if u == v {
            sum += weight(u) * a[i].1 * b[j].1;
        }
        i += usize::from(u <= v);
        j += usize::from(v <= u);
    }
    sum
}

/// As its kernel is written: `spectrum(k=5)`. Neither the seed nor the length is part of it.
impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Kernel::from(self).fmt(f)
    }
}

/// The text of a sequence kernel; rows have length 1.
impl FromStr for Sequence {
    type Err = Error;

    fn from_str(text: &str) -> Result<Sequence> {
        let kernel: Kernel = text.parse()?;
        match kernel.sequence() {
            Some(sequence) => Ok(Sequence { normalise: true, ..sequence }),
            None if !kernel.texts().is_empty() => Err(Error::Unsupported {
                what: format!("encoding a column by {kernel}"),
                reason: "an encoding is one sequence kernel, and its column is named elsewhere",
                instead: "leave the column out, as in spectrum(k=5)",
            }),
            None => Err(Error::Unsupported {
                what: format!("{kernel} of texts"),
                reason: "it compares numbers",
                instead: "say what is counted: spectrum(k=5), gapped(length=6,k=4), mismatch(k=5,m=1), characters(from=2,to=4), positional(from=1,to=3) or words(from=1,to=2)",
            }),
        }
    }
}

//! How many texts have each gram.
//!
//! ```text
//! idf(u) = ln((1 + n)/(1 + df(u))) + 1        n texts, df(u) of them have u
//! ```
//! Counted in 2¹⁸ slots, by the leading bits of the gram's hash: grams that share a slot share their count, which is then too large for the rarer one: with 231,013 different pairs of words in 30,000 texts, idf is 0.39 off in the mean, and 3.1 % of the pairs that one text has are counted ten times or more. Weights count as repetitions.

use std::ops::Range;

use super::steps::in_steps;
use super::{Grams, Walk};
use crate::stat::Statistic;
use crate::table::TextColumn;
use crate::{Engine, Error, Result};

/// Bits of a hash that say the slot.
const BITS: u32 = 18;

/// Grams that are listed before the list is sorted, at least.
const LISTED: usize = 1 << 10;

/// How many texts have each gram.
#[derive(Clone, Debug, PartialEq)]
pub struct Documents {
    total: f64,
    counts: Vec<f64>,
}

impl Default for Documents {
    fn default() -> Self {
        Documents { total: 0.0, counts: vec![0.0; Documents::SLOTS] }
    }
}

impl Documents {
    /// Slots of the table.
    pub const SLOTS: usize = 1 << BITS;

    /// From stored values.
    pub fn from_parts(total: f64, counts: Vec<f64>) -> Result<Self> {
        let wrong =
            |expected, found: String| Err(Error::Parameter { name: "counts of texts", expected, found });
        if counts.len() != Documents::SLOTS {
            return wrong("one for each of 2¹⁸ slots", counts.len().to_string());
        }
        if !(total >= 0.0 && total.is_finite()) {
            return wrong("finite and not negative", total.to_string());
        }
        // Sums of weights in other orders differ in their last bits.
        match counts.iter().find(|count| !(**count >= 0.0 && **count <= total * (1.0 + 1e-9))) {
            Some(count) => wrong("between 0 and all texts", count.to_string()),
            None => Ok(Documents { total, counts }),
        }
    }

    /// Reads some texts; a weight says how often a text counts. The observer is asked whether to go on between some texts and the next; after an interruption, some of them are counted.
    pub fn absorb(
        &mut self,
        engine: &Engine,
        grams: &Grams,
        texts: &TextColumn,
        weights: Option<&[f64]>,
    ) -> Result<()> {
        grams.validate()?;
        if let Some(weights) = weights {
            if weights.len() != texts.len() {
                return Err(Error::Length { what: "weights", expected: texts.len(), found: weights.len() });
            }
            for (row, &value) in weights.iter().enumerate() {
                if !value.is_finite() {
                    return Err(Error::NotFinite { what: "the weights", row: row as u64, column: 0, value });
                }
                if value < 0.0 {
                    return Err(Error::NegativeWeight { row: row as u64, value });
                }
            }
        }
        let piece = |range: Range<usize>| {
            let mut walk = Walk::new(grams);
            range.map(|i| Documents::slots(&mut walk, texts.get(i))).collect::<Vec<_>>()
        };
        let mut read = 0;
        in_steps(engine, grams, texts, piece, |piece| {
            for slots in piece {
                let weight = weights.map_or(1.0, |weights| weights[read]);
                self.total += weight;
                slots.iter().for_each(|&slot| self.counts[slot as usize] += weight);
                read += 1;
            }
        })
    }

    /// The slots of a text's grams, each once.
    fn slots(walk: &mut Walk, text: &str) -> Vec<u32> {
        let mut slots = Vec::new();
        walk.each(text, |key| {
            // No longer than twice its different grams, not their occurrences.
            if slots.len() == slots.capacity() {
                once(&mut slots);
                slots.reserve(slots.len().max(LISTED));
            }
            slots.push(slot(key) as u32);
        });
        once(&mut slots);
        slots.shrink_to_fit();
        slots
    }

    /// n, the sum of the weights of all texts.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// The sum of the weights of the texts that have a gram of each slot.
    pub fn counts(&self) -> &[f64] {
        &self.counts
    }

    /// idf of each slot. To 24 bits: sums of weights in another order differ in their last bits, and nothing should follow from that.
    pub(super) fn idf(&self) -> Vec<f32> {
        let of = |count: f64| (libm::log((1.0 + self.total) / (1.0 + count)) + 1.0) as f32;
        let unseen = of(0.0);
        self.counts.iter().map(|&count| if count > 0.0 { of(count) } else { unseen }).collect()
    }
}

/// Sorted, each once.
fn once(slots: &mut Vec<u32>) {
    slots.sort_unstable();
    slots.dedup();
}

/// Where a gram is counted.
pub(super) fn slot(key: u64) -> usize {
    (key >> (u64::BITS - BITS)) as usize
}

impl Statistic for Documents {
    fn merge(&mut self, other: &Self) {
        self.total += other.total;
        self.counts.iter_mut().zip(&other.counts).for_each(|(to, count)| *to += count);
    }
}

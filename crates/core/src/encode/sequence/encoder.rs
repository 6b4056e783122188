//! Texts → sparse rows.
//!
//! The sums of a row are exact in any order: counts are whole numbers, and idf has 24 bits. They are multiplied once, with 1/√s or with what brings the row to length 1.

use std::ops::Range;

use super::documents::slot;
use super::steps::in_steps;
use super::{Documents, Sequence, Walk, shared};
use crate::random::Hashed;
use crate::table::TextColumn;
use crate::{Csr, Engine, Error, Result, Scalar};

/// Columns of grams that are remembered, at most: few different grams, as of DNA, are hashed once.
const REMEMBERED: usize = 1 << 14;

/// A [`Sequence`] that is ready to encode.
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceEncoder {
    sequence: Sequence,
    documents: Option<Documents>,
    /// idf of each slot; none for plain counts.
    idf: Vec<f32>,
}

impl SequenceEncoder {
    /// With the counts of texts where tf–idf asks for them, and without where it does not.
    pub fn new(sequence: Sequence, documents: Option<Documents>) -> Result<Self> {
        sequence.validate()?;
        match (sequence.tf_idf, &documents) {
            (true, None) => Err(Error::Unsupported {
                what: format!("building {sequence} from a seed"),
                reason: "tf–idf is about the texts that have a gram",
                instead: "fit it to texts",
            }),
            (false, Some(_)) => Err(Error::Parameter {
                name: "counts of texts",
                expected: "there for tf–idf only",
                found: sequence.to_string(),
            }),
            _ => {
                let idf = documents.as_ref().map(Documents::idf).unwrap_or_default();
                Ok(SequenceEncoder { sequence, documents, idf })
            }
        }
    }

    /// What it was made from.
    pub fn sequence(&self) -> &Sequence {
        &self.sequence
    }

    /// The texts that it was fitted to, with tf–idf.
    pub fn documents(&self) -> Option<&Documents> {
        self.documents.as_ref()
    }

    /// One row for each text, on the engine's threads; the same bits for any number of them. The observer is asked whether to go on between some texts and the next.
    #[inline(never)]
    pub fn encode<T: Scalar>(&self, engine: &Engine, texts: &TextColumn) -> Result<Csr<T>> {
        self.encode_with(engine, texts, self.sequence.hashed(true)?)
    }

    pub(super) fn encode_with<T: Scalar>(
        &self,
        engine: &Engine,
        texts: &TextColumn,
        hashed: Hashed,
    ) -> Result<Csr<T>> {
        let piece = |range: Range<usize>| {
            let mut walk = Walk::new(&self.sequence.grams);
            let letters: usize = range.clone().map(|i| texts.get(i).len()).sum();
            let mut sums = Sums::new(hashed, letters);
            let mut rows = Piece { ends: Vec::new(), indices: Vec::new(), values: Vec::new() };
            for i in range {
                walk.each(texts.get(i), |key| sums.add(key, self.weight(key)));
                sums.finish(self.sequence.normalise, &mut rows);
            }
            rows
        };
        let (mut starts, mut indices, mut values) =
            (Vec::with_capacity(texts.len() + 1), Vec::new(), Vec::new());
        starts.push(0);
        in_steps(engine, &self.sequence.grams, texts, piece, |rows: Piece<T>| {
            let before = indices.len();
            starts.extend(rows.ends.iter().map(|end| before + end));
            indices.extend(rows.indices);
            values.extend(rows.values);
        })?;
        Ok(Csr::of_checked(self.sequence.width, starts, indices, values))
    }

    /// The kernel that the rows estimate, without hashing: Σ_u idf_u²·count_u(a)·count_u(b), over the lengths of both if rows have length 1.
    pub fn exact(&self, a: &str, b: &str) -> f64 {
        let mut walk = Walk::new(&self.sequence.grams);
        let (a, b) = (walk.counts(a), walk.counts(b));
        let weight = |key: u64| self.weight(key) * self.weight(key);
        let value = shared(&a, &b, weight);
        if self.sequence.normalise && value != 0.0 {
            return value / (shared(&a, &a, weight).sqrt() * shared(&b, &b, weight).sqrt());
        }
        value
    }

    fn weight(&self, key: u64) -> f64 {
        self.idf.get(slot(key)).map_or(1.0, |idf| f64::from(*idf))
    }
}

/// Some rows.
struct Piece<T> {
    ends: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<T>,
}

/// The sums of one row.
struct Sums {
    hashed: Hashed,
    sums: Row,
    /// The keys whose columns are remembered, by their last bits, and these columns: twice the place, plus one for a minus.
    keys: Vec<u64>,
    places: Vec<u32>,
}

/// Columns that are added up in place; of more, entries are listed and sorted, as their memory would cost more to look through than a text has grams.
const IN_PLACE: usize = 1 << 14;

/// What was added to the columns of a row.
enum Row {
    /// One sum for each column, and one bit for each that something was added to.
    InPlace {
        sums: Vec<f64>,
        touched: Vec<u64>,
    },
    Listed(Vec<(u32, f64)>),
}

impl Row {
    fn add(&mut self, column: u32, value: f64) {
        match self {
            Row::InPlace { sums, touched } => {
                sums[column as usize] += value;
                touched[column as usize / 64] |= 1 << (column % 64);
            }
            Row::Listed(entries) => {
                // As long as it ever was after the last summing up: a text's grams, not their occurrences.
                if entries.len() == entries.capacity() {
                    summed_up(entries);
                    entries.reserve(entries.len().max(IN_PLACE));
                }
                entries.push((column, value));
            }
        }
    }

    /// All sums by rising columns, and none any more.
    fn drain(&mut self, mut each: impl FnMut(u32, f64)) {
        match self {
            Row::InPlace { sums, touched } => {
                for (at, word) in touched.iter_mut().enumerate() {
                    while *word != 0 {
                        let column = 64 * at + word.trailing_zeros() as usize;
                        *word &= *word - 1;
                        each(column as u32, std::mem::take(&mut sums[column]));
                    }
                }
            }
            Row::Listed(entries) => {
                summed_up(entries);
                entries.drain(..).for_each(|(column, sum)| each(column, sum));
            }
        }
    }
}

/// By rising columns, one entry each. Sums are exact, so that their order does not matter.
fn summed_up(entries: &mut Vec<(u32, f64)>) {
    entries.sort_unstable_by_key(|(column, _)| *column);
    entries.dedup_by(|next, sum| {
        let same = next.0 == sum.0;
        sum.1 += if same { next.1 } else { 0.0 };
        same
    });
}

impl Sums {
    /// For texts of so many letters.
    fn new(hashed: Hashed, letters: usize) -> Sums {
        let remembered = letters.next_power_of_two().clamp(64, REMEMBERED);
        let sums = if hashed.rows() <= IN_PLACE {
            Row::InPlace { sums: vec![0.0; hashed.rows()], touched: vec![0; hashed.rows().div_ceil(64)] }
        } else {
            Row::Listed(Vec::new())
        };
        Sums {
            hashed,
            sums,
            // Keys that belong elsewhere.
            keys: (0..remembered as u64).map(|at| !at).collect(),
            places: vec![0; remembered * hashed.blocks()],
        }
    }

    fn add(&mut self, key: u64, weight: f64) {
        let at = key as usize & (self.keys.len() - 1);
        let places = &mut self.places[at * self.hashed.blocks()..][..self.hashed.blocks()];
        if self.keys[at] != key {
            self.keys[at] = key;
            let column = self.hashed.column(key);
            places.iter_mut().zip(column).for_each(|(to, (row, sign))| *to = 2 * row + u32::from(sign < 0.0));
        }
        // The sign is a coin: a branch on it would be guessed wrong every other time.
        let signed = |place: u32| f64::from_bits(weight.to_bits() ^ (u64::from(place & 1) << 63));
        places.iter().for_each(|&place| self.sums.add(place >> 1, signed(place)));
    }

    /// Appends the row and starts from zero. What has cancelled is no entry.
    fn finish<T: Scalar>(&mut self, normalise: bool, rows: &mut Piece<T>) {
        let start = rows.indices.len();
        let factor = if normalise { 1.0 } else { self.hashed.scale() };
        let mut square = 0.0;
        self.sums.drain(|column, sum| {
            if sum != 0.0 {
                square += sum * sum;
                rows.indices.push(column);
                rows.values.push(T::from_f64(factor * sum));
            }
        });
        if normalise {
            let length = square.sqrt();
            rows.values[start..].iter_mut().for_each(|z| *z = T::from_f64(z.to_f64() / length));
        }
        rows.ends.push(rows.indices.len());
    }
}

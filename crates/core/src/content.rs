//! Choices by content: what happens to a row depends on the row, never on where it stands.
//!
//! ```text
//! hash(x) = xxh3(seed, ((j, bits of xⱼ as f64) for each xⱼ ≠ 0))
//! ```
//! Folds, landmarks and samples are functions of this hash, so that a repeated row is one choice with a larger weight,
//! duplicates never stand on both sides of a split, and the order of rows decides nothing. Zeros are left out: dense and sparse rows
//! of equal content agree, as do single and double precision of the same values.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::matrix::with_rows;
use crate::random::Stream;
use crate::source::Batch;
use crate::{Engine, Rows, Scalar};

/// Hashes rows, keeping its buffer.
#[derive(Clone, Debug)]
pub struct ContentHash {
    seed: u64,
    /// A row's entries: column and bits of each.
    entries: Vec<[u8; 12]>,
}

impl ContentHash {
    /// One family of hashes for each (seed, purpose).
    pub fn new(seed: u64, stream: Stream) -> Self {
        // An odd multiplier spreads the purpose over all bits of the seed.
        ContentHash { seed: seed ^ (stream as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15), entries: Vec::new() }
    }

    /// The hash of row i.
    #[inline(never)]
    pub fn of<T: Scalar>(&mut self, rows: &Rows<'_, T>, i: usize) -> u64 {
        let count = match rows {
            Rows::Dense(dense) => {
                let (row, zero) = (dense.row(i), T::default());
                self.entries.resize(row.len(), [0; 12]);
                let mut count = 0;
                for (j, &x) in row.iter().enumerate() {
                    // A zero is written too, and then written over: there is no branch to guess.
                    self.entries[count] = entry(j as u32, x);
                    count += usize::from(x != zero);
                }
                count
            }
            Rows::Sparse(_) => {
                self.entries.clear();
                self.entries.extend(rows.entries(i).map(|(j, x)| entry(j, x)));
                self.entries.len()
            }
        };
        xxh3_64_with_seed(self.entries[..count].as_flattened(), self.seed)
    }

    /// Whether the hash of a key lies in the first `share` of all.
    pub(crate) fn is_below(&self, key: u64, share: f64) -> bool {
        is_below(self.of_key(key), share)
    }

    /// The fold of a key.
    pub(crate) fn fold_of_key(&self, key: u64, count: usize) -> usize {
        fold_of(self.of_key(key), count)
    }

    /// The hash of a row by the key of its content, or of its group.
    pub(crate) fn of_key(&self, key: u64) -> u64 {
        xxh3_64_with_seed(&key.to_le_bytes(), self.seed)
    }
}

fn entry<T: Scalar>(j: u32, x: T) -> [u8; 12] {
    let mut bytes = [0; 12];
    bytes[..4].copy_from_slice(&j.to_le_bytes());
    bytes[4..].copy_from_slice(&x.to_f64().to_bits().to_le_bytes());
    bytes
}

/// The hashes of all rows of a batch, by the keys of their content where it has them.
pub(crate) fn hashes(engine: &Engine, hash: &ContentHash, batch: &Batch<'_>) -> Vec<u64> {
    match batch.keys {
        Some(keys) => keys.iter().map(|&key| hash.of_key(key)).collect(),
        None => with_rows!(batch.content, rows => hashes_of_rows(engine, hash, &rows)),
    }
}

/// The hashes by which rows are divided into folds: rows of one group have one.
pub(crate) fn fold_hashes(engine: &Engine, hash: &ContentHash, batch: &Batch<'_>) -> Vec<u64> {
    match batch.groups {
        Some(groups) => groups.iter().map(|&group| hash.of_key(group)).collect(),
        None => hashes(engine, hash, batch),
    }
}

/// The folds of the rows of a batch.
pub(crate) fn folds(engine: &Engine, hash: &ContentHash, batch: &Batch<'_>, count: usize) -> Vec<usize> {
    fold_hashes(engine, hash, batch).into_iter().map(|hash| fold_of(hash, count)).collect()
}

/// The hashes of all rows.
pub(crate) fn hashes_of_rows<T: Scalar>(engine: &Engine, hash: &ContentHash, rows: &Rows<'_, T>) -> Vec<u64> {
    /// Rows that share one memory to work in.
    const PIECE: usize = 64;
    let mut hashes = vec![0; rows.count()];
    engine.for_each_chunk(&mut hashes, PIECE, &|p, out| {
        let mut hash = hash.clone();
        out.iter_mut().enumerate().for_each(|(i, to)| *to = hash.of(rows, p * PIECE + i));
    });
    hashes
}

/// Whether a hash lies in the first `share` of all.
pub(crate) fn is_below(hash: u64, share: f64) -> bool {
    (hash as f64) < share * 2f64.powi(64)
}

/// A fold from a hash: the top bits, scaled to 0..count.
pub(crate) fn fold_of(hash: u64, count: usize) -> usize {
    ((u128::from(hash) * count as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Csr, Matrix};

    #[test]
    fn equal_content_has_equal_hashes_in_every_form() {
        let dense = Matrix::new(2, 4, vec![0.0, 1.5, -0.0, 2.0, 0.0, 1.5, 0.0, -2.0]).unwrap();
        let single = Matrix::new(2, 4, dense.as_slice().iter().map(|&x| x as f32).collect()).unwrap();
        let sparse = Csr::new(4, vec![0, 3, 5], vec![0, 1, 3, 1, 3], vec![0.0, 1.5, 2.0, 1.5, -2.0]).unwrap();
        let mut hash = ContentHash::new(3, Stream::Folds);
        for i in 0..2 {
            let h = hash.of(&Rows::from(&dense), i);
            assert_eq!(h, hash.of(&Rows::from(&single), i));
            assert_eq!(h, hash.of(&Rows::from(&sparse), i));
        }
        assert_ne!(hash.of(&Rows::from(&dense), 0), hash.of(&Rows::from(&dense), 1));
        let other = ContentHash::new(3, Stream::Sample).of(&Rows::from(&dense), 0);
        assert_ne!(hash.of(&Rows::from(&dense), 0), other);
    }

    /// Each of 5 folds gets a fifth of 20,000 distinct rows, by Hoeffding at 1e-9.
    #[test]
    fn folds_are_even() {
        let mut counts = [0usize; 5];
        let mut hash = ContentHash::new(0, Stream::Folds);
        for i in 0..20_000 {
            let row = Matrix::new(1, 1, vec![f64::from(i) + 1.0]).unwrap();
            counts[fold_of(hash.of(&Rows::from(&row), 0), 5)] += 1;
        }
        let radius = bochner_testkit::hoeffding_radius(20_000, 1.0, 2e-10);
        assert!(counts.iter().all(|&c| (c as f64 / 20_000.0 - 0.2).abs() < radius), "{counts:?}");
    }
}

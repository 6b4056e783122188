//! Keys → places and signs: the columns of a sparse random matrix, one at a time.
//!
//! ```text
//! A(r, j) = ±1/√s for one row r of each of s blocks of rows, 0 elsewhere        E[(Ax)·(Ay)] = x·y
//! ```
//! The m rows form s blocks, block i being ⌊i·m/s⌋ … ⌊(i+1)·m/s⌋: of m/s rows each if s divides m, and of sizes that differ by one
//! if it does not. A column is a function of (seed, key) alone, so that the keys may be the numbers of columns or the hashes of words: nothing is
//! stored, and a new word has its place before it is seen. With s = 1 this is feature hashing (Weinberger et al. 2009), with more
//! blocks the sparse Johnson–Lindenstrauss transform (Kane & Nelson 2014).

use super::{Draws, Stream};
use crate::{Error, Result};

/// A sparse random matrix by its columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hashed {
    rows: usize,
    blocks: usize,
    /// Without signs, inner products of rows without negative entries are too large: E[(Ax)·(Ay)] = x·y + s·(Σx·Σy − x·y)/m.
    signed: bool,
    seed: u64,
}

impl Hashed {
    /// m rows in s blocks.
    pub(crate) fn new(rows: usize, blocks: usize, signed: bool, seed: u64) -> Result<Hashed> {
        if blocks == 0 || blocks > rows {
            return Err(Error::Parameter {
                name: "nonzeros",
                expected: "at least 1 and no more than there are outputs",
                found: format!("{blocks} for {rows}"),
            });
        }
        if rows > 1 << 31 {
            return Err(Error::Overflow { what: "the outputs of a sparse projection" });
        }
        Ok(Hashed { rows, blocks, signed, seed })
    }

    /// m.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// s.
    pub(crate) fn blocks(&self) -> usize {
        self.blocks
    }

    /// The size of an entry, 1/√s.
    pub(crate) fn scale(&self) -> f64 {
        (self.blocks as f64).sqrt().recip()
    }

    /// Row and sign of each entry of a column, by rising rows; the entries are [`Hashed::scale`] times the signs.
    pub(crate) fn column(self, key: u64) -> impl Iterator<Item = (u32, f64)> {
        let mut draws = Draws::new(self.seed, Stream::Hashes, key);
        // The first row of a block; a shift where it can be one, as a division takes as long as the draw.
        let first = move |block: usize| match self.blocks {
            blocks if blocks.is_power_of_two() => (block * self.rows) >> blocks.trailing_zeros(),
            blocks => block * self.rows / blocks,
        };
        (0..self.blocks).map(move |block| {
            let (start, end) = (first(block), first(block + 1));
            let word = draws.word();
            // 31 bits of place, rounded down to a row: uneven by less than rows/2³¹. One bit of sign.
            let place = (u64::from(word >> 1) * (end - start) as u64) >> 31;
            let sign = if self.signed && word & 1 == 1 { -1.0 } else { 1.0 };
            ((start as u64 + place) as u32, sign)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_has_one_entry_of_every_column() {
        for (rows, blocks) in [(1, 1), (10, 1), (10, 10), (1024, 8), (1000, 7), (11, 4)] {
            let hashed = Hashed::new(rows, blocks, true, 5).unwrap();
            let mut seen = vec![0; rows];
            for key in (0..2000).chain([u64::MAX]) {
                let entries: Vec<(u32, f64)> = hashed.column(key).collect();
                assert_eq!(entries.len(), blocks);
                for (block, &(row, sign)) in entries.iter().enumerate() {
                    let range = block * rows / blocks..(block + 1) * rows / blocks;
                    assert!(range.contains(&(row as usize)), "{row} of block {block}");
                    assert!((sign.abs() - 1.0).abs() <= 0.0, "{sign}");
                    seen[row as usize] += 1;
                }
            }
            assert!(seen.iter().all(|count| *count > 0 || rows == 1024 || rows == 1000), "{seen:?}");
        }
        assert!(Hashed::new(3, 4, true, 0).is_err());
        assert!(Hashed::new(3, 0, true, 0).is_err());
        assert!(Hashed::new(0, 0, true, 0).is_err());
    }

    /// A column is a function of its key: any order gives the same.
    #[test]
    fn columns_do_not_depend_on_what_came_before() {
        let hashed = Hashed::new(64, 4, true, 9).unwrap();
        let once: Vec<_> = hashed.column(77).collect();
        hashed.column(3).for_each(drop);
        assert!(hashed.column(77).eq(once));
        let other = Hashed::new(64, 4, true, 10).unwrap();
        assert!((0..50).any(|key| !hashed.column(key).eq(other.column(key))), "seeds differ");
    }
}

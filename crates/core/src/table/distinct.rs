//! The number of different cells of a column, in bounded memory.
//!
//! ```text
//! few    exactly: the number of their hashes
//! many   (k − 1)·2⁶⁴/h,    h the k-th smallest hash,  k = 16,384: a standard deviation of 1/√k = 0.8 %
//! ```
//! What is kept does not depend on the order of the cells, and parts of a column merge.

use std::fmt;

use xxhash_rust::xxh3::xxh3_64;

/// Hashes that say how many there are.
const KEPT: usize = 1 << 14;

/// Hashes in memory at most: with so many the larger ones are dropped.
const MOST: usize = KEPT + KEPT / 2;

/// Counts different cells.
#[derive(Clone)]
pub struct Distinct {
    /// A table of hashes, each at the first free place from the one that its last bits name; zeros are free places. Their number is a power of two, and a
    /// quarter of them is free.
    places: Vec<u64>,
    /// Hashes in it: the smallest KEPT, and perhaps others.
    len: usize,
    /// Hashes above this one are none of the smallest.
    limit: u64,
}

impl Default for Distinct {
    fn default() -> Self {
        Distinct { places: Vec::new(), len: 0, limit: u64::MAX }
    }
}

impl Distinct {
    /// Reads a cell.
    pub fn add(&mut self, cell: &[u8]) {
        self.keep(xxh3_64(cell).max(1)); // 0 is a free place
    }

    /// Adds what another has read.
    pub fn merge(&mut self, other: &Distinct) {
        other.hashes().for_each(|hash| self.keep(hash));
    }

    fn keep(&mut self, hash: u64) {
        if hash > self.limit || !self.insert(hash) {
            return;
        }
        if self.len == MOST {
            let smallest = self.smallest();
            self.limit = smallest.last().copied().unwrap_or(u64::MAX);
            self.rebuild(self.places.len(), &smallest);
        } else if 4 * self.len > 3 * self.places.len() {
            let all: Vec<u64> = self.hashes().collect();
            self.rebuild(2 * self.places.len(), &all);
        }
    }

    /// False if it is there.
    fn insert(&mut self, hash: u64) -> bool {
        if self.places.is_empty() {
            self.places = vec![0; 8];
        }
        let mask = self.places.len() - 1;
        let mut at = hash as usize & mask;
        while self.places[at] != 0 {
            if self.places[at] == hash {
                return false;
            }
            at = (at + 1) & mask;
        }
        self.places[at] = hash;
        self.len += 1;
        true
    }

    fn rebuild(&mut self, places: usize, hashes: &[u64]) {
        (self.places, self.len) = (vec![0; places], 0);
        hashes.iter().for_each(|hash| {
            self.insert(*hash);
        });
    }

    fn hashes(&self) -> impl Iterator<Item = u64> {
        self.places.iter().copied().filter(|hash| *hash != 0)
    }

    /// The smallest KEPT hashes, the largest of them last, the others in any order.
    fn smallest(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self.hashes().collect();
        if all.len() > KEPT {
            all.select_nth_unstable(KEPT - 1);
            all.truncate(KEPT);
        }
        all
    }

    /// Whether there are so many that their number is an estimate.
    pub fn is_estimate(&self) -> bool {
        self.len >= KEPT
    }

    /// How many there are.
    pub fn count(&self) -> f64 {
        if !self.is_estimate() {
            return self.len as f64;
        }
        let largest = self.smallest().into_iter().max().unwrap_or(1);
        (KEPT - 1) as f64 / (largest as f64 / 2f64.powi(64))
    }
}

/// Two are equal that have read the same cells, in whatever order and parts.
impl PartialEq for Distinct {
    fn eq(&self, other: &Distinct) -> bool {
        let sorted = |of: &Distinct| {
            let mut hashes = of.smallest();
            hashes.sort_unstable();
            hashes
        };
        sorted(self) == sorted(other)
    }
}

impl fmt::Debug for Distinct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Distinct({})", self.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cells: impl Iterator<Item = u32>) -> Distinct {
        let mut distinct = Distinct::default();
        cells.for_each(|cell| distinct.add(&cell.to_le_bytes()));
        distinct
    }

    /// Six standard deviations: 5 %.
    #[test]
    fn many_cells_are_estimated() {
        let all = of((0..100_000).map(|i| i % 60_000));
        assert!(all.is_estimate() && (all.count() / 60_000.0 - 1.0).abs() < 0.05, "{}", all.count());
        let mut parts = of(0..30_000);
        parts.merge(&of(10_000..60_000));
        assert_eq!(parts, all);
    }

    /// What is kept, and how it is found again, is that of a set.
    #[test]
    fn the_smallest_hashes_are_kept() {
        for count in [0, 1, 7, 8, 5000, 16_383, 16_384, 16_385, 24_576, 24_577, 40_000, 200_000] {
            let mut all: Vec<u64> = (0..count).map(|cell: u32| xxh3_64(&cell.to_le_bytes())).collect();
            all.sort_unstable();
            all.truncate(KEPT);
            let distinct = of((0..count).chain(0..count / 2));
            let mut kept = distinct.smallest();
            kept.sort_unstable();
            assert_eq!(kept, all, "{count}");
            assert!(distinct.places.len() <= 2 * KEPT);
        }
    }

    #[test]
    fn few_cells_are_counted() {
        assert!((of((0..500).chain(0..400)).count() - 500.0).abs() < 1e-9);
    }
}

//! The number of different cells of a column, in bounded memory.
//!
//! ```text
//! few    exactly: the number of their hashes
//! many   (k − 1)·2⁶⁴/h,    h the k-th smallest hash,  k = 16,384: a standard deviation of 1/√k = 0.8 %
//! share  of all cells: k/(cells with these k hashes), so that cells that are all different are told exactly
//! ```
//! What is kept does not depend on the order of the cells, and parts of a column merge. Many columns share the memory: k is smaller
//! for each.

use std::fmt;

use xxhash_rust::xxh3::xxh3_64;

/// Hashes that say how many there are: of one column at most, of all columns of a table, and of each of many columns.
const KEPT: usize = 1 << 14;
const KEPT_OF_ALL: usize = 1 << 21;
const FEWEST_KEPT: usize = 256;

/// Counts different cells.
#[derive(Clone)]
pub struct Distinct {
    /// A table of hashes, each at the first free place from the one that its last bits name; zeros are free places. Their number is a power of two, and a
    /// quarter of them is free.
    places: Vec<u64>,
    /// Cells with the hash of each place.
    cells: Vec<u32>,
    /// Hashes in it: the smallest `kept`, and perhaps half as many others.
    len: usize,
    kept: usize,
    /// Hashes above this one are none of the smallest.
    limit: u64,
}

impl Default for Distinct {
    fn default() -> Self {
        Distinct::among(1)
    }
}

impl Distinct {
    /// Of one of so many columns.
    pub fn among(columns: usize) -> Distinct {
        let kept = (KEPT_OF_ALL / columns.max(1)).clamp(FEWEST_KEPT, KEPT);
        Distinct { places: Vec::new(), cells: Vec::new(), len: 0, kept, limit: u64::MAX }
    }

    /// Reads a cell.
    pub fn add(&mut self, cell: &[u8]) {
        self.add_hash(Distinct::hash(cell));
    }

    /// The hash of a cell; it is not 0, which is a free place.
    pub(super) fn hash(cell: &[u8]) -> u64 {
        xxh3_64(cell).max(1)
    }

    /// Reads a cell of this hash.
    pub(super) fn add_hash(&mut self, hash: u64) {
        self.keep(hash, 1);
    }

    /// Adds what another has read.
    pub fn merge(&mut self, other: &Distinct) {
        if other.kept < self.kept {
            self.kept = other.kept;
            self.bound();
        }
        other.hashes().for_each(|(hash, cells)| self.keep(hash, cells));
    }

    fn keep(&mut self, hash: u64, cells: u32) {
        if hash > self.limit || !self.insert(hash, cells) {
            return;
        }
        self.bound();
        if 4 * self.len > 3 * self.places.len() {
            let all: Vec<(u64, u32)> = self.hashes().collect();
            self.rebuild(2 * self.places.len(), &all);
        }
    }

    /// Drops the larger hashes where there are too many.
    fn bound(&mut self) {
        if self.len >= self.kept + self.kept / 2 {
            let smallest = self.smallest();
            self.limit = smallest.last().map_or(u64::MAX, |(hash, _)| *hash);
            self.rebuild(self.places.len(), &smallest);
        }
    }

    /// False if it is there.
    fn insert(&mut self, hash: u64, cells: u32) -> bool {
        if self.places.is_empty() {
            self.rebuild(8, &[]);
        }
        let mask = self.places.len() - 1;
        let mut at = hash as usize & mask;
        while self.places[at] != 0 && self.places[at] != hash {
            at = (at + 1) & mask;
        }
        self.cells[at] = self.cells[at].saturating_add(cells);
        let is_new = self.places[at] == 0;
        self.places[at] = hash;
        self.len += usize::from(is_new);
        is_new
    }

    fn rebuild(&mut self, places: usize, hashes: &[(u64, u32)]) {
        (self.places, self.cells, self.len) = (vec![0; places], vec![0; places], 0);
        hashes.iter().for_each(|(hash, cells)| {
            self.insert(*hash, *cells);
        });
    }

    fn hashes(&self) -> impl Iterator<Item = (u64, u32)> {
        self.places.iter().copied().zip(self.cells.iter().copied()).filter(|(hash, _)| *hash != 0)
    }

    /// The smallest `kept` hashes, the largest of them last, the others in any order.
    fn smallest(&self) -> Vec<(u64, u32)> {
        let mut all: Vec<(u64, u32)> = self.hashes().collect();
        if all.len() > self.kept {
            all.select_nth_unstable(self.kept - 1);
            all.truncate(self.kept);
        }
        all
    }

    /// Whether there are so many that their number is an estimate.
    pub fn is_estimate(&self) -> bool {
        self.len >= self.kept
    }

    /// How many there are.
    pub fn count(&self) -> f64 {
        if !self.is_estimate() {
            return self.len as f64;
        }
        let largest = self.smallest().into_iter().map(|(hash, _)| hash).max().unwrap_or(1);
        (self.kept - 1) as f64 / (largest as f64 / 2f64.powi(64))
    }

    /// What part of all cells they are: 1 where each is different.
    pub fn share(&self) -> f64 {
        let smallest = self.smallest();
        let cells: f64 = smallest.iter().map(|(_, cells)| f64::from(*cells)).sum();
        if cells > 0.0 { smallest.len() as f64 / cells } else { 1.0 }
    }
}

/// Two are equal that have read the same cells, in whatever order and parts.
impl PartialEq for Distinct {
    fn eq(&self, other: &Distinct) -> bool {
        let sorted = |of: &Distinct| {
            let mut hashes: Vec<u64> = of.smallest().into_iter().map(|(hash, _)| hash).collect();
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
            let mut kept: Vec<u64> = distinct.smallest().into_iter().map(|(hash, _)| hash).collect();
            kept.sort_unstable();
            assert_eq!(kept, all, "{count}");
            assert!(distinct.places.len() <= 2 * KEPT);
        }
    }

    #[test]
    fn few_cells_are_counted() {
        assert!((of((0..500).chain(0..400)).count() - 500.0).abs() < 1e-9);
    }

    /// Of many columns each takes little, and still tells whether all of its cells are different.
    #[test]
    fn many_columns_share_the_memory() {
        let of = |cells: &mut dyn Iterator<Item = u32>| {
            let mut distinct = Distinct::among(10_000);
            cells.for_each(|cell| distinct.add(&cell.to_le_bytes()));
            distinct
        };
        let (all, twice) = (of(&mut (0..30_000)), of(&mut (0..30_000).map(|cell| cell / 2)));
        assert!(12 * all.places.len() <= 1 << 13);
        assert!((all.share() - 1.0).abs() < 1e-12 && (twice.share() - 0.5).abs() < 1e-12);
        // Six standard deviations.
        assert!((all.count() / 3e4 - 1.0).abs() < 6.0 / 16.0, "{}", all.count());
        let (mut parts, rest) = (of(&mut (0..9000)), of(&mut (9000..30_000)));
        parts.merge(&rest);
        assert_eq!(parts, all);
        let mut large = Distinct::default();
        (0..9000u32).for_each(|cell| large.add(&cell.to_le_bytes()));
        large.merge(&rest);
        assert_eq!(large, all);
        assert!((large.share() - 1.0).abs() < 1e-12);
    }
}

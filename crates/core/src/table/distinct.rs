//! The number of different cells of a column, in bounded memory.
//!
//! ```text
//! few    exactly: the number of their hashes
//! many   (k − 1)·2⁶⁴/h,    h the k-th smallest hash,  k = 16,384: a standard deviation of 1/√k = 0.8 %
//! ```
//! What is kept does not depend on the order of the cells, and parts of a column merge.

use std::collections::BTreeSet;

use xxhash_rust::xxh3::xxh3_64;

/// Hashes that are kept.
const KEPT: usize = 1 << 14;

/// Counts different cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distinct {
    /// The smallest ones.
    hashes: BTreeSet<u64>,
}

impl Distinct {
    /// Reads a cell.
    pub fn add(&mut self, cell: &[u8]) {
        self.keep(xxh3_64(cell));
    }

    /// Adds what another has read.
    pub fn merge(&mut self, other: &Distinct) {
        other.hashes.iter().for_each(|hash| self.keep(*hash));
    }

    fn keep(&mut self, hash: u64) {
        if self.hashes.len() < KEPT {
            self.hashes.insert(hash);
        } else if self.hashes.last().is_some_and(|&largest| hash < largest) && self.hashes.insert(hash) {
            self.hashes.pop_last();
        }
    }

    /// Whether there are so many that their number is an estimate.
    pub fn is_estimate(&self) -> bool {
        self.hashes.len() == KEPT
    }

    /// How many there are.
    pub fn count(&self) -> f64 {
        match self.hashes.last() {
            Some(&largest) if self.is_estimate() => (KEPT - 1) as f64 / (largest as f64 / 2f64.powi(64)),
            _ => self.hashes.len() as f64,
        }
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

    #[test]
    fn few_cells_are_counted() {
        assert!((of((0..500).chain(0..400)).count() - 500.0).abs() < 1e-9);
    }
}

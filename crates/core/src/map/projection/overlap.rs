//! How much two columns of a sparse projection have in common.
//!
//! ```text
//! overlap(i, j) = number of blocks in which columns i and j have the same row          mean s²/m,   wanted: at most 2s²/m for every pair
//! ```
//! The codes of Kane & Nelson (2014) are sets of columns no two of which share more than 2s²/m rows; with one, the tails of A do not depend on luck with places. A draw has such
//! places with high probability only if s²/m is some 5·ln d: a pair is above twice its mean with probability at most (e/4)^(s²/m), and there are d²/2 of them. So it is looked up.

use std::fmt;

use super::Sparse;
use crate::random::{Draws, Stream};

/// What [`crate::Map::worst_overlap`] found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// The most blocks in which two columns have the same row.
    pub worst: usize,
    /// Entries in each column, s.
    pub nonzeros: usize,
    /// 2s²/m.
    pub limit: f64,
    /// Pairs of columns looked at.
    pub pairs: u64,
    /// Whether these are all; otherwise they are drawn at random, and the worst of all may be larger.
    pub all: bool,
}

impl Overlap {
    /// Whether no pair that was looked at is above 2s²/m.
    pub fn holds(&self) -> bool {
        self.worst as f64 <= self.limit
    }
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Overlap { worst, nonzeros, limit, pairs, all } = self;
        let which = if *all { "all" } else { "sampled" };
        let word = if self.holds() { "within" } else { "above" };
        write!(
            f,
            "two columns share {worst} of {nonzeros} rows at worst, {word} 2s²/m = {limit:.2} ({which} {pairs} pairs)"
        )
    }
}

/// Comparisons of two places, at most: a fraction of a second.
const COMPARISONS: u64 = 1 << 28;
/// Places that are written out at once.
const PLACES: u64 = 1 << 24;
/// Pairs that are drawn where all would be too many.
const SAMPLED: u64 = 1 << 18;

impl Sparse {
    /// The worst overlap of two columns: of all pairs where they are at most 2²⁸ comparisons (8,000 columns with s = 8), else of 2¹⁸ pairs at random.
    pub(in crate::map) fn worst_overlap(&self) -> Overlap {
        let (d, s) = (self.columns as u64, self.matrix.blocks());
        let all_pairs = d.saturating_mul(d.saturating_sub(1)) / 2;
        let comparisons = all_pairs.saturating_mul(s as u64);
        let all = comparisons <= COMPARISONS && d.saturating_mul(s as u64) <= PLACES;
        let shared = |a: &[u32], b: &[u32]| a.iter().zip(b).filter(|(a, b)| a == b).count();
        let places = |j: u64| self.matrix.column(j).map(|(place, _)| place);
        let (worst, pairs) = if all {
            let table: Vec<u32> = (0..d).flat_map(places).collect();
            let columns: Vec<&[u32]> = table.chunks_exact(s).collect();
            let after = |i: usize| columns[i + 1..].iter().map(move |b| (i, *b));
            let worst = (0..columns.len()).flat_map(after).map(|(i, b)| shared(columns[i], b)).max();
            (worst.unwrap_or(0), all_pairs)
        } else {
            let pairs = SAMPLED.min(COMPARISONS / s as u64).max(1);
            let worst = (0..pairs).map(|p| {
                let mut draws = Draws::new(self.seed, Stream::Pairs, p);
                let i = draws.below(d);
                let j = (i + 1 + draws.below(d - 1)) % d;
                places(i).zip(places(j)).filter(|(a, b)| a == b).count()
            });
            (worst.max().unwrap_or(0), pairs)
        };
        let limit = 2.0 * (s * s) as f64 / self.output_dim() as f64;
        Overlap { worst, nonzeros: s, limit, pairs, all }
    }
}

//! What a search for a metric takes: how many features its fits have, and how many bytes are held.
//!
//! ```text
//! rows          n·(16·e)·2 + 3·n·(r + 8t)         the sample and as it is stretched in the end; rows and targets of the search and of two looks at kernels
//! metrics       h·(n·(4D + r) + 16d²)             those that are held: rows as they stretch them, phases, L and what its products need
//! a fit         12·n·D + 72·D² + 8·d·D            features in double and single precision, sums and what is made of them, frequencies
//! gradients     j·8d² + 32d² + 32·max(2²⁰, 16dt)  M of each part that judges, a decomposition, slopes of a piece of rows
//! ```
//! of n rows with e entries, r bytes once stretched, d columns, t targets; d² only where all columns are mixed. Of wide rows a few directions are added to each: phases are landmarks, r·D bytes,
//! frequencies are landmarks as they are and as products need them, and M is known by 64 columns, which are held three times over.

use super::ground::{WHOLE, judges};
use crate::encode::ADDED;
use crate::stat::{TESTS, piece_bytes};

/// Features of a fit at least.
const FEWEST: usize = 32;

/// Metrics that are held at most: none at all, the end of one form, and of the other its last round, its best try and this try.
const HELD: u64 = 5;

/// The shape of a search.
#[derive(Clone, Copy, Debug)]
pub(in crate::learn) struct Size {
    /// Rows that are sampled, and those of them that are fitted to.
    pub(in crate::learn) sampled: u64,
    pub(in crate::learn) rows: usize,
    pub(in crate::learn) columns: usize,
    pub(in crate::learn) outputs: usize,
    /// Entries of a row that are stored, where zeros are not.
    pub(in crate::learn) entries: Option<u64>,
    /// Whether all columns may be mixed, which fills rows.
    pub(in crate::learn) mixes: bool,
    /// Whether there are too many for that, and whether leading directions may be added then.
    pub(in crate::learn) wide: bool,
    pub(in crate::learn) leading: bool,
}

impl Size {
    /// Features of fits, fewer than wanted where rows are few or half of the memory is, and bytes.
    pub(super) fn fitted(&self, wanted: usize, limit: u64) -> (usize, u64) {
        let mut features = wanted.min((self.rows / 2).next_multiple_of(2)).max(FEWEST.min(wanted));
        while features > FEWEST && self.bytes(features) > limit / 2 {
            features = (features / 2).next_multiple_of(2);
        }
        (features, self.bytes(features))
    }

    /// The same for the most features that are fitted to.
    pub(in crate::learn) fn largest(&self, limit: u64) -> (usize, u64) {
        self.fitted(WHOLE.0, limit)
    }

    pub(super) fn bytes(&self, features: usize) -> u64 {
        let [n, d, t, features] = [self.rows, self.columns, self.outputs, features].map(|x| x as u64);
        let entries = self.entries.unwrap_or(d);
        let row = if self.mixes || self.entries.is_none() { 8 * d } else { (16 * entries).min(8 * d) };
        let judges = judges(self.rows) as u64;
        let squares = if self.mixes { 8 * d.saturating_mul(d) } else { 0 };
        let rows = (32 * self.sampled).saturating_mul(entries) + 3 * n * (row + 8 * t);
        let added = if self.leading { 8 * (ADDED as u64 * (2 * n + d) + 9 * d) } else { 0 };
        let made = if self.wide { features * row + added } else { 4 * n * features };
        let metrics = HELD * judges * (made + n * row + 2 * squares);
        let frequencies = if self.wide { 4 } else { 1 } * 8 * d * features;
        let fit = 12 * n * features + 72 * features * features + frequencies;
        let known = if self.leading { (judges + 3) * 2 * 8 * TESTS as u64 * d } else { 0 };
        rows + metrics + fit + (judges + 4) * squares + known + piece_bytes(self.columns, self.outputs)
    }
}

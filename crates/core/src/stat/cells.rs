//! The cells of random grids that rows were seen in.
//!
//! ```text
//! for each grid, the set of hashes of the rows' cells;      merged: unions
//! ```
//! A set does not know how often or in which order: weight equals repetition, and any split gives the same. Rows of weight 0 are passed over.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use rayon::prelude::*;

use super::Statistic;
use crate::map::Grids;
use crate::matrix::with_rows;
use crate::source::Batch;
use crate::{Rows, Scalar};

/// A set of hashes for each grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellSets {
    sets: Vec<HashSet<u32, BuildHasherDefault<Spread>>>,
}

/// Hashes of cells are hashes already: one multiplication moves their bits to where a table looks.
#[derive(Clone, Copy, Debug, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(u32::from(byte)));
    }

    fn write_u32(&mut self, value: u32) {
        self.0 = (self.0 ^ u64::from(value)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }
}

impl CellSets {
    /// Of no rows.
    pub(crate) fn zero(grids: usize) -> Self {
        CellSets { sets: vec![HashSet::default(); grids] }
    }

    /// Reads a block, on the threads of the current pool.
    pub(crate) fn absorb(&mut self, grids: &Grids, batch: &Batch<'_>) {
        with_rows!(batch.rows, rows => self.absorb_rows(grids, &rows, |i| batch.weight(i) > 0.0));
    }

    pub(crate) fn absorb_rows<T: Scalar>(
        &mut self,
        grids: &Grids,
        rows: &Rows<'_, T>,
        kept: impl Fn(usize) -> bool + Sync,
    ) {
        /// Rows hashed at once.
        const PIECE: usize = 256;
        let count = grids.count();
        let mut hashes = vec![0; rows.count() * count];
        hashes.par_chunks_mut(PIECE * count).enumerate().for_each(|(p, out)| {
            grids.hashes(&rows.slice(p * PIECE..rows.count().min((p + 1) * PIECE)), out);
        });
        self.sets.par_iter_mut().enumerate().for_each(|(g, set)| {
            set.extend((0..rows.count()).filter(|&i| kept(i)).map(|i| hashes[i * count + g]));
        });
    }

    /// The hashes of each grid, ascending.
    pub(crate) fn sorted(&self) -> impl Iterator<Item = Vec<u32>> + '_ {
        self.sets.iter().map(|set| {
            let mut hashes: Vec<u32> = set.iter().copied().collect();
            hashes.sort_unstable();
            hashes
        })
    }
}

impl Statistic for CellSets {
    fn merge(&mut self, other: &Self) {
        self.sets.iter_mut().zip(&other.sets).for_each(|(set, other)| set.extend(other));
    }
}

//! The cells of random grids that rows were seen in.
//!
//! ```text
//! for each grid, the set of hashes of the rows' cells;      merged: unions
//! ```
//! A set does not know how often or in which order: weight equals repetition, and any split gives the same. Rows of weight 0 are passed over.

use super::Statistic;
use crate::map::Grids;
use crate::matrix::with_rows;
use crate::source::Batch;
use crate::{Engine, Rows, Scalar};

/// A set of hashes for each grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellSets {
    sets: Vec<HashSet>,
}

/// A set of hashes, which are below 2³¹, at the first free place from where one multiplication puts them.
#[derive(Clone, Debug)]
struct HashSet {
    /// A power of two: at least twice as many as there are hashes, and eight times in a small set, where hardly any hash is then out of its place.
    places: Vec<u32>,
    count: usize,
}

/// Places of a set that a second-level cache holds beside others.
const SMALL: usize = 1 << 14;

/// No hash.
const FREE: u32 = u32::MAX;

impl Default for HashSet {
    fn default() -> Self {
        HashSet { places: vec![FREE; 16], count: 0 }
    }
}

impl HashSet {
    #[inline]
    fn insert(&mut self, hash: u32) {
        let place = self.place(hash);
        if self.places[place] == FREE {
            self.places[place] = hash;
            self.count += 1;
            let share = if self.places.len() < SMALL { 8 } else { 2 };
            if share * self.count > self.places.len() {
                self.grow();
            }
        }
    }

    /// Where a hash is, or would be.
    #[inline]
    fn place(&self, hash: u32) -> usize {
        let last = self.places.len() - 1;
        let spread = u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let mut place = spread as usize & last;
        while self.places[place] != hash && self.places[place] != FREE {
            place = (place + 1) & last;
        }
        place
    }

    #[cold]
    fn grow(&mut self) {
        let larger = HashSet { places: vec![FREE; 2 * self.places.len()], count: 0 };
        let smaller = std::mem::replace(self, larger);
        smaller.iter().for_each(|hash| self.insert(hash));
    }

    fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.places.iter().copied().filter(|&hash| hash != FREE)
    }
}

impl PartialEq for HashSet {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count && self.iter().all(|hash| other.places[other.place(hash)] == hash)
    }
}

impl Eq for HashSet {}

impl CellSets {
    /// Of no rows.
    pub(crate) fn zero(grids: usize) -> Self {
        CellSets { sets: vec![HashSet::default(); grids] }
    }

    /// Reads a block.
    pub(crate) fn absorb(&mut self, engine: &Engine, grids: &Grids, batch: &Batch<'_>) {
        self.absorb_keeping(engine, grids, batch, &mut vec![0; batch.rows.count() * grids.count()]);
    }

    /// As [`CellSets::absorb`]; the hashes of row i are left at `hashes[i·P..]`, also if it has no weight.
    pub(crate) fn absorb_keeping(
        &mut self,
        engine: &Engine,
        grids: &Grids,
        batch: &Batch<'_>,
        hashes: &mut [u32],
    ) {
        let kept = |i: usize| batch.weight(i) > 0.0;
        with_rows!(batch.rows, rows => self.absorb_rows(engine, grids, &rows, hashes, &kept));
    }

    pub(crate) fn absorb_rows<T: Scalar>(
        &mut self,
        engine: &Engine,
        grids: &Grids,
        rows: &Rows<'_, T>,
        hashes: &mut [u32],
        kept: &(dyn Fn(usize) -> bool + Sync),
    ) {
        /// Rows hashed at once.
        const PIECE: usize = 256;
        /// Grids whose sets are filled at once.
        const TOGETHER: usize = 4;
        let count = grids.count();
        engine.for_each_chunk(hashes, PIECE * count, &|p, out| {
            grids.hashes(engine, &rows.slice(p * PIECE..rows.count().min((p + 1) * PIECE)), out);
        });
        // Few enough grids at once for their sets to stay in a first-level cache, as long as they are small.
        let hashes = &*hashes;
        engine.for_each_chunk(&mut self.sets, TOGETHER, &|c, sets| {
            for (_, row) in hashes.chunks_exact(count).enumerate().filter(|&(i, _)| kept(i)) {
                sets.iter_mut().zip(&row[c * TOGETHER..]).for_each(|(set, &hash)| set.insert(hash));
            }
        });
    }

    /// The hashes of each grid, ascending.
    pub(crate) fn sorted(&self) -> impl Iterator<Item = Vec<u32>> + '_ {
        self.sets.iter().map(|set| {
            let mut hashes: Vec<u32> = set.iter().collect();
            hashes.sort_unstable();
            hashes
        })
    }
}

impl Statistic for CellSets {
    fn merge(&mut self, other: &Self) {
        self.sets
            .iter_mut()
            .zip(&other.sets)
            .for_each(|(set, other)| other.iter().for_each(|hash| set.insert(hash)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the library's own: hashes close together, spread, repeated, and both ends; enough of them for several sizes.
    #[test]
    fn a_set_has_what_was_put_in() {
        let mut expected = std::collections::BTreeSet::new();
        let (mut forth, mut back) = (HashSet::default(), HashSet::default());
        let numbers: Vec<u32> = (0..30_000u32)
            .map(|i| if i % 3 == 0 { i % 700 } else { i.wrapping_mul(0x85EB_CA6B) >> 1 })
            .chain([0, 0x7FFF_FFFE])
            .collect();
        for (&hash, &other) in numbers.iter().zip(numbers.iter().rev()) {
            expected.insert(hash);
            forth.insert(hash);
            back.insert(other);
        }
        assert_eq!(forth.count, expected.len());
        assert!(forth == back, "the order of reading does not matter");
        let sets = CellSets { sets: vec![forth.clone()] };
        assert_eq!(sets.sorted().next().unwrap(), expected.into_iter().collect::<Vec<_>>());
        back.insert(0x7FFF_FFF0);
        assert!(forth != back);
    }

    /// Merging is union, grid by grid: in either order what reading everything gives, and nothing is a zero.
    #[test]
    fn reading_in_two_parts_equals_reading_at_once() {
        let read = |rows: std::ops::Range<u32>| {
            let mut sets = vec![HashSet::default(); 3];
            for (grid, set) in (0u32..).zip(&mut sets) {
                rows.clone().for_each(|i| set.insert((i * (grid + 7)) % 1013));
            }
            CellSets { sets }
        };
        let whole: Vec<_> = read(0..3000).sorted().collect();
        for cut in [0, 1, 1500, 3000] {
            let (first, second) = (read(0..cut), read(cut..3000));
            let [mut forth, mut back] = [read(0..cut), read(cut..3000)];
            forth.merge(&second);
            back.merge(&first);
            assert!(
                forth.sorted().eq(whole.iter().cloned()) && back.sorted().eq(whole.iter().cloned()),
                "{cut}"
            );
        }
        assert!(read(0..100).sorted().ne(whole.iter().cloned()), "the test has no power");
    }
}

//! Where a hash stands in an ascending list, found by its leading bits.
//!
//! ```text
//! first[h >> shift] ≤ place of h < first[(h >> shift) + 1],      at most one hash, on average, between two entries of `first`
//! ```
//! Hashes of cells are spread evenly, so that hardly any has to be compared with more than two others, and in a short list, which has
//! eight entries of `first` for each hash, hardly any with more than one; where they are not, many share their leading bits and a binary
//! search goes on from there.

/// One list of ascending hashes below 2³¹ for each grid.
#[derive(Clone, Debug)]
pub(super) struct Lookup {
    /// Grid g's hashes are those from the end of the grid before to `ends[g]`.
    ends: Vec<usize>,
    hashes: Vec<u32>,
    /// For each grid: bits to leave out of a hash, and where its entries in `first` begin.
    grids: Vec<(u32, usize)>,
    first: Vec<u32>,
}

/// Lists below this length have more entries in `first` than hashes: a processor that need not guess is worth the memory.
const SMALL: usize = 1 << 11;

/// So few hashes are compared one by one.
const FEW: usize = 8;

/// Bits of a hash.
const BITS: u32 = 31;

impl Lookup {
    /// Of lists that are in order and fewer than 2³² hashes.
    pub(super) fn new(ends: Vec<usize>, hashes: Vec<u32>) -> Lookup {
        let (mut grids, mut first, mut start) = (Vec::with_capacity(ends.len()), Vec::new(), 0);
        for &end in &ends {
            let list = &hashes[start..end];
            let share = if list.len() < SMALL { 8 } else { 1 };
            let bits = (share * list.len()).next_power_of_two().trailing_zeros().min(BITS);
            let shift = BITS - bits;
            grids.push((shift, first.len()));
            let mut at = 0;
            for part in 0..1u32 << bits {
                first.push((start + at) as u32);
                at += list[at..].iter().take_while(|&&hash| hash >> shift == part).count();
            }
            first.push(end as u32);
            start = end;
        }
        Lookup { ends, hashes, grids, first }
    }

    /// Where each list ends, and all hashes.
    pub(super) fn lists(&self) -> (&[usize], &[u32]) {
        (&self.ends, &self.hashes)
    }

    /// The number of hashes.
    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// The place of a hash in the list of grid g, counted over all lists.
    #[inline]
    pub(super) fn find(&self, g: usize, hash: u32) -> Option<u32> {
        let (shift, base) = self.grids[g];
        let at = base + (hash >> shift) as usize;
        let (start, end) = (self.first[at] as usize, self.first[at + 1] as usize);
        let list = &self.hashes[start..end];
        if list.first() == Some(&hash) {
            return Some(start as u32);
        }
        let place = if list.len() <= FEW {
            list.iter().position(|&other| other == hash)
        } else {
            list.binary_search(&hash).ok()
        };
        place.map(|place| (start + place) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hash_has_its_place_and_no_other_has_one() {
        let spread = |n: u32| (0..n).map(|i| i.wrapping_mul(0x9E37_79B9) >> 1).collect::<Vec<_>>();
        let mut lists =
            vec![vec![], vec![0], vec![0x7FFF_FFFE], (5..900).collect(), spread(1000), spread(3), vec![]];
        // Close together at both ends, nothing between.
        lists.push((0..40).chain(0x7FFF_FFC0..0x7FFF_FFFF).collect());
        let (mut ends, mut hashes) = (Vec::new(), Vec::new());
        for list in &mut lists {
            list.sort_unstable();
            list.dedup();
            hashes.extend_from_slice(list);
            ends.push(hashes.len());
        }
        let lookup = Lookup::new(ends.clone(), hashes.clone());
        assert_eq!((lookup.lists(), lookup.len()), ((&ends[..], &hashes[..]), hashes.len()));
        let mut start = 0;
        for (g, list) in lists.iter().enumerate() {
            for around in
                list.iter().flat_map(|&h| [h.saturating_sub(1), h, (h + 1).min(0x7FFF_FFFE)]).chain([0, 77])
            {
                let expected = list.binary_search(&around).ok().map(|at| (start + at) as u32);
                assert_eq!(lookup.find(g, around), expected, "{around} in list {g}");
            }
            start += list.len();
        }
    }
}

//! Kernel rows kept for later: the least recently used goes first.
//!
//! ```text
//! slot s holds values[s·width .. (s + 1)·width],    slots = bytes / (4·width), at least two
//! ```
//! All rows are as wide as the rows that take part, in their order; when some of those leave, every slot is
//! compacted in place and the room that this makes becomes new slots. One allocation, which grows with use.

/// No slot.
const NONE: u32 = u32::MAX;

pub(super) struct Cache {
    values: Vec<f32>,
    width: usize,
    /// f32 in all.
    room: usize,
    /// The row in each slot, and when it was last asked for.
    owners: Vec<u32>,
    stamps: Vec<u64>,
    clock: u64,
    /// The slot of each row.
    slots: Vec<u32>,
}

impl Cache {
    /// For rows numbered below `rows`, `width` values each.
    pub(super) fn new(bytes: usize, rows: usize, width: usize) -> Self {
        Cache {
            values: Vec::new(),
            width,
            room: bytes / size_of::<f32>(),
            owners: Vec::new(),
            stamps: Vec::new(),
            clock: 0,
            slots: vec![NONE; rows],
        }
    }

    /// Whether the row is there; it counts as used now.
    pub(super) fn touch(&mut self, row: u32) -> bool {
        let slot = self.slots[row as usize];
        if slot != NONE {
            self.clock += 1;
            self.stamps[slot as usize] = self.clock;
        }
        slot != NONE
    }

    /// A row that is there.
    pub(super) fn row(&self, row: u32) -> &[f32] {
        &self.values[self.slots[row as usize] as usize * self.width..][..self.width]
    }

    /// Makes room for a row that is not there; what was touched last stays. The values are for the caller to write.
    pub(super) fn insert(&mut self, row: u32) -> &mut [f32] {
        let most = (self.room / self.width.max(1)).max(2);
        let slot = if self.owners.len() < most {
            self.owners.push(row);
            self.stamps.push(0);
            self.values.resize(self.owners.len() * self.width, 0.0);
            self.owners.len() - 1
        } else {
            // A scan is short beside the row that is computed next: there are fewer slots than values in a row, or nothing has to go.
            let oldest =
                self.stamps.iter().enumerate().min_by_key(|(_, stamp)| **stamp).map_or(0, |(s, _)| s);
            self.slots[self.owners[oldest] as usize] = NONE;
            self.owners[oldest] = row;
            oldest
        };
        self.slots[row as usize] = slot as u32;
        self.touch(row);
        &mut self.values[slot * self.width..][..self.width]
    }

    /// Of every row, keeps the values at `kept` places, which ascend.
    pub(super) fn keep(&mut self, kept: &[u32]) {
        let (old, new) = (self.width, kept.len());
        for slot in 0..self.owners.len() {
            for (to, &from) in kept.iter().enumerate() {
                self.values[slot * new + to] = self.values[slot * old + from as usize];
            }
        }
        self.width = new;
        self.values.truncate(self.owners.len() * new);
    }

    /// Forgets all rows; those to come have `width` values.
    pub(super) fn clear(&mut self, width: usize) {
        self.owners.iter().for_each(|&row| self.slots[row as usize] = NONE);
        self.owners.clear();
        self.stamps.clear();
        self.values.clear();
        self.width = width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_row_goes_and_the_rest_follows_the_order() {
        let mut cache = Cache::new(4 * 3 * 4, 9, 4);
        for row in 0..3 {
            cache.insert(row).copy_from_slice(&[0.0, 1.0, 2.0, 3.0].map(|x| x + 10.0 * row as f32));
        }
        assert!(cache.touch(0) && cache.touch(1) && cache.touch(2) && cache.touch(0));
        cache.insert(7).fill(7.0);
        assert!(!cache.touch(1), "the oldest has gone");
        assert_eq!(cache.row(2), [20.0, 21.0, 22.0, 23.0]);
        cache.keep(&[1, 3]);
        assert_eq!(
            (cache.row(0), cache.row(2), cache.row(7)),
            (&[1.0, 3.0][..], &[21.0, 23.0][..], &[7.0; 2][..])
        );
        // Narrower rows make room for more of them.
        for row in 3..6 {
            cache.insert(row).fill(row as f32);
        }
        assert_eq!(
            [0, 2, 7, 3, 4, 5, 6].map(|row| cache.touch(row)),
            [true, true, true, true, true, true, false]
        );
        cache.clear(4);
        assert!(!cache.touch(0) && cache.insert(0).len() == 4);
    }

    #[test]
    fn two_rows_always_fit() {
        let mut cache = Cache::new(0, 3, 5);
        for row in 0..3 {
            cache.insert(row).fill(row as f32);
        }
        assert_eq!((cache.row(1)[4], cache.row(2)[4], cache.touch(0)), (1.0, 2.0, false));
    }
}

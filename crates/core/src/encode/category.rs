//! A column of categories → one column for each level: 1 where the cell is that level, 0 elsewhere; not scaled.
//!
//! ```text
//! levels   the most frequent 40 at most, each in at least min(20, max(2, n/1000)) rows; all others are pooled into one column
//! new      the pooled column where there is one; else all zeros
//! missing  a column of its own where cells were missing in training; else all zeros
//! ```
//! Where many rows have none of these levels, and the fit knows the target, that encodes them (`target.rs`).
//!
//! Two rows of different levels are √2 apart, as far as two rows of a scaled column on average. Levels stand in the order of their bytes.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use crate::table::CategoryColumn;

/// Levels that have a column of their own, at most.
const MOST_LEVELS: usize = 40;

/// Different levels that are counted, at most.
const MOST_COUNTED: usize = 100_000;

/// How categories are encoded. The levels are a tensor of the model file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CategoryEncoding {
    /// The levels with a column of their own, in the order of their bytes.
    pub levels: Vec<String>,
    /// Whether other levels share a column.
    pub pooled: bool,
    /// Whether missing cells have a column.
    pub indicator: bool,
}

impl CategoryEncoding {
    /// Columns that it has.
    pub(super) fn width(&self) -> usize {
        self.levels.len() + usize::from(self.pooled) + usize::from(self.indicator)
    }

    /// The column of a level, or of a missing cell; none for a new level that has none.
    pub(super) fn place(&self, level: Option<&str>) -> Option<usize> {
        match level {
            None => self.indicator.then(|| self.width() - 1),
            Some(level) => match self.levels.binary_search_by(|known| known.as_str().cmp(level)) {
                Ok(at) => Some(at),
                Err(_) => self.pooled.then_some(self.levels.len()),
            },
        }
    }

    /// Levels stand in order, each once.
    pub(super) fn is_sound(&self) -> bool {
        self.levels.windows(2).all(|pair| pair[0] < pair[1]) && self.width() > 0
    }
}

/// Rows of each level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CategoryProfile {
    /// Cells that are missing.
    pub missing: u64,
    /// Cells that are not.
    pub rows: u64,
    counts: HashMap<String, u64>,
    /// Once there are too many levels, only those with a hash below this one are counted: the same ones in any order of reading.
    below: Option<u64>,
}

impl CategoryProfile {
    pub(super) fn absorb(&mut self, column: &CategoryColumn) {
        let mut counts = vec![0u64; column.levels.len()];
        for &code in &column.codes {
            match counts.get_mut(code as usize) {
                Some(count) => *count += 1,
                None => self.missing += 1,
            }
        }
        for (level, count) in column.levels.iter().zip(counts) {
            self.add(level, count);
        }
    }

    fn add(&mut self, level: &str, count: u64) {
        self.rows += count;
        if count == 0 || self.below.is_some_and(|below| xxh3_64(level.as_bytes()) >= below) {
            return;
        }
        match self.counts.get_mut(level) {
            Some(known) => *known += count,
            None => {
                self.counts.insert(level.to_owned(), count);
                self.bound();
            }
        }
    }

    /// Drops the half of the levels with the larger hashes where there are too many.
    fn bound(&mut self) {
        while self.counts.len() > MOST_COUNTED {
            let below = self.below.unwrap_or(u64::MAX) / 2;
            self.counts.retain(|level, _| xxh3_64(level.as_bytes()) < below);
            self.below = Some(below);
        }
    }

    pub(super) fn merge(&mut self, other: &CategoryProfile) {
        self.missing += other.missing;
        if let Some(below) = other.below
            && self.below.is_none_or(|own| below < own)
        {
            self.below = Some(below);
            self.counts.retain(|level, _| xxh3_64(level.as_bytes()) < below);
        }
        let counted: u64 = other.counts.values().sum();
        other.counts.iter().for_each(|(level, &count)| self.add(level, count));
        // Rows of levels that the other did not count.
        self.rows += other.rows - counted;
    }

    /// Different levels; of many, an estimate.
    pub fn distinct(&self) -> u64 {
        let share = self.below.map_or(1.0, |below| below as f64 / 2f64.powi(64));
        (self.counts.len() as f64 / share).round() as u64
    }

    /// The rows of each level that was counted, the most frequent first.
    pub fn levels(&self) -> Vec<(&str, u64)> {
        let mut levels: Vec<(&str, u64)> =
            self.counts.iter().map(|(level, &count)| (level.as_str(), count)).collect();
        levels.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        levels
    }

    /// Whether nothing can be learnt from it.
    pub(super) fn is_constant(&self) -> bool {
        self.rows == 0 || (self.counts.len() == 1 && self.below.is_none() && self.missing == 0)
    }

    /// Rows that a level needs for a column of its own.
    fn fewest(&self) -> u64 {
        (self.rows / 1000).clamp(2, 20)
    }

    /// Whether the levels with a column of their own would leave a tenth of the rows, or more, to the others.
    pub(super) fn has_many_levels(&self) -> bool {
        if self.below.is_some() {
            return true;
        }
        let frequent = |(_, count): &(&str, u64)| *count >= self.fewest();
        let kept: u64 = self
            .levels()
            .iter()
            .take(MOST_LEVELS)
            .filter(|level| frequent(level))
            .map(|(_, count)| count)
            .sum();
        self.counts.len() > MOST_LEVELS && 10 * (self.rows - kept) >= self.rows
    }

    pub(super) fn encoding(&self) -> CategoryEncoding {
        let all = self.levels();
        let fewest = self.fewest();
        let is_rare = |(_, count): &&(&str, u64)| *count < fewest;
        // One rare level is told from all others as well by itself.
        let rare = all.iter().filter(is_rare).count();
        let frequent = if rare > 1 || self.below.is_some() { all.len() - rare } else { all.len() };
        let kept = frequent.min(MOST_LEVELS);
        let mut levels: Vec<String> = all[..kept].iter().map(|(level, _)| (*level).to_owned()).collect();
        levels.sort_unstable();
        let pooled = kept < all.len() || self.below.is_some();
        CategoryEncoding { levels, pooled, indicator: self.missing > 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(cells: &[Option<&str>]) -> CategoryProfile {
        let mut profile = CategoryProfile::default();
        profile.absorb(&cells.iter().copied().collect());
        profile
    }

    #[test]
    fn levels_have_columns_in_order() {
        let encoding = profile(&[Some("b"), Some("a"), None, Some("b"), Some("a")]).encoding();
        assert_eq!(encoding.levels, ["a", "b"]);
        assert_eq!((encoding.width(), encoding.pooled), (3, false));
        let places = [Some("a"), Some("b"), Some("c"), None].map(|level| encoding.place(level));
        assert_eq!(places, [Some(0), Some(1), None, Some(2)]);
    }

    #[test]
    fn rare_levels_are_pooled() {
        let encoding =
            profile(&[Some("a"), Some("a"), Some("x"), Some("y"), Some("b"), Some("b")]).encoding();
        assert_eq!((encoding.levels.clone(), encoding.pooled), (vec!["a".to_owned(), "b".to_owned()], true));
        let places = [Some("x"), Some("new"), None].map(|level| encoding.place(level));
        assert_eq!(places, [Some(2), Some(2), None]);
        // One rare level stays what it is.
        let encoding = profile(&[Some("a"), Some("a"), Some("x")]).encoding();
        assert_eq!((encoding.levels.len(), encoding.pooled), (2, false));
    }

    #[test]
    fn many_levels_leave_forty() {
        let cells: Vec<String> = (0..100).flat_map(|i| vec![format!("{i:02}"); 100 - i]).collect();
        let encoding = profile(&cells.iter().map(|cell| Some(cell.as_str())).collect::<Vec<_>>()).encoding();
        assert_eq!((encoding.levels.len(), encoding.levels[39].as_str(), encoding.pooled), (40, "39", true));
    }

    #[test]
    fn levels_are_counted_in_bounded_memory_in_any_order() {
        let cells: Vec<String> = (0..250_000).map(|i| format!("level {i}")).collect();
        let part =
            |cells: &[String]| profile(&cells.iter().map(|cell| Some(cell.as_str())).collect::<Vec<_>>());
        let whole = part(&cells);
        assert!(whole.counts.len() <= MOST_COUNTED);
        assert!((whole.distinct() as f64 / 250_000.0 - 1.0).abs() < 0.05, "{}", whole.distinct());
        let (mut a, b) = (part(&cells[90_000..]), part(&cells[..90_000]));
        a.merge(&b);
        assert_eq!(a, whole);
        assert!(whole.encoding().pooled);
    }
}

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

use super::scaling::rounded;
use crate::table::CategoryColumn;

/// Levels that have a column of their own, at most.
const MOST_LEVELS: usize = 40;

/// Different levels that are counted: of a column at most, of all columns of a table, and of each of many columns.
const MOST_COUNTED: usize = 100_000;
const MOST_OF_ALL: usize = 1 << 20;
const FEWEST_COUNTED: usize = 1000;

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
#[derive(Clone, Debug, PartialEq)]
pub struct CategoryProfile {
    /// Cells that are missing.
    pub missing: u64,
    /// Cells that are not.
    pub rows: u64,
    /// Their weight.
    weight: f64,
    /// The weight of each level.
    counts: HashMap<String, f64>,
    /// Levels that are counted at most.
    most: usize,
    /// Once there are too many levels, only those with a hash below this one are counted: the same ones in any order of reading.
    below: Option<u64>,
}

impl Default for CategoryProfile {
    fn default() -> Self {
        CategoryProfile::among(1)
    }
}

impl CategoryProfile {
    /// Of one of so many columns, which share the memory for levels.
    pub(super) fn among(columns: usize) -> CategoryProfile {
        let most = (MOST_OF_ALL / columns.max(1)).clamp(FEWEST_COUNTED, MOST_COUNTED);
        CategoryProfile { missing: 0, rows: 0, weight: 0.0, counts: HashMap::new(), most, below: None }
    }

    /// Reads cells whose rows have these weights, all above 0.
    pub(super) fn absorb(&mut self, column: &CategoryColumn, weights: &[f64]) {
        let mut counts = vec![0.0; column.levels.len()];
        for (&code, weight) in column.codes.iter().zip(weights) {
            match counts.get_mut(code as usize) {
                Some(count) => {
                    *count += weight;
                    self.rows += 1;
                    self.weight += weight;
                }
                None => self.missing += 1,
            }
        }
        for (level, count) in column.levels.iter().zip(counts) {
            self.add(level, count);
        }
    }

    fn add(&mut self, level: &str, count: f64) {
        if count <= 0.0 || self.below.is_some_and(|below| xxh3_64(level.as_bytes()) >= below) {
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
        while self.counts.len() > self.most {
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
        other.counts.iter().for_each(|(level, &count)| self.add(level, count));
        self.rows += other.rows;
        self.weight += other.weight;
    }

    /// Different levels; of many, an estimate.
    pub fn distinct(&self) -> u64 {
        let share = self.below.map_or(1.0, |below| below as f64 / 2f64.powi(64));
        (self.counts.len() as f64 / share).round() as u64
    }

    /// What a row weighs: a weight is a number of rows, and weights below 1 on average are brought to that.
    fn unit(&self) -> f64 {
        (self.weight / self.rows as f64).min(1.0)
    }

    /// The rows of each level that was counted, the most frequent first.
    pub fn levels(&self) -> Vec<(&str, f64)> {
        // In another order of rows sums of weights have other last bits.
        let rows = |count: f64| rounded(count / self.unit());
        let mut levels: Vec<(&str, f64)> =
            self.counts.iter().map(|(level, &count)| (level.as_str(), rows(count))).collect();
        levels.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        levels
    }

    /// Whether nothing can be learnt from it.
    pub(super) fn is_constant(&self) -> bool {
        self.rows == 0 || (self.counts.len() == 1 && self.below.is_none() && self.missing == 0)
    }

    /// Rows that a level needs for a column of its own.
    fn fewest(&self) -> f64 {
        (rounded(self.weight / self.unit()) / 1000.0).floor().clamp(2.0, 20.0)
    }

    /// Whether the levels with a column of their own would leave a tenth of the rows, or more, to the others.
    pub(super) fn has_many_levels(&self) -> bool {
        if self.below.is_some() {
            return true;
        }
        let (rows, fewest) = (rounded(self.weight / self.unit()), self.fewest());
        let frequent = |(_, count): &(&str, f64)| *count >= fewest;
        let kept: f64 = self
            .levels()
            .iter()
            .take(MOST_LEVELS)
            .filter(|level| frequent(level))
            .map(|(_, count)| count)
            .sum();
        self.counts.len() > MOST_LEVELS && 10.0 * (rows - kept) >= rows
    }

    pub(super) fn encoding(&self) -> CategoryEncoding {
        let all = self.levels();
        let fewest = self.fewest();
        let is_rare = |(_, count): &&(&str, f64)| *count < fewest;
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
        profile.absorb(&cells.iter().copied().collect(), &vec![1.0; cells.len()]);
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

    /// Rare is what has few rows, however they are weighted: as often as they are there, or in units of their sum.
    #[test]
    fn weights_are_repetitions_in_any_unit() {
        let cells: CategoryColumn = ["a", "b", "c", "d"].map(Some).into_iter().collect();
        let of = |weights: [f64; 4]| {
            let mut profile = CategoryProfile::default();
            profile.absorb(&cells, &weights);
            profile.encoding()
        };
        let twice = of([3.0, 2.0, 1.0, 1.0]);
        assert_eq!((twice.levels.clone(), twice.pooled), (vec!["a".to_owned(), "b".to_owned()], true));
        let mut repeated = CategoryProfile::default();
        let cells = ["a", "b", "a", "b", "c", "a", "d"].map(Some).into_iter().collect();
        repeated.absorb(&cells, &[1.0; 7]);
        assert_eq!(repeated.encoding(), twice);
        let mut scaled = CategoryProfile::default();
        scaled.absorb(&cells, &[1e-7; 7]);
        assert_eq!(scaled.encoding(), twice);
    }

    /// Many columns share the memory of ten.
    #[test]
    fn many_columns_count_fewer_levels_each() {
        let cells: Vec<String> = (0..20_000).map(|i| format!("level {i}")).collect();
        let column: CategoryColumn = cells.iter().map(|cell| Some(cell.as_str())).collect();
        let (mut one, mut of_many) = (CategoryProfile::among(1), CategoryProfile::among(500));
        for profile in [&mut one, &mut of_many] {
            profile.absorb(&column, &vec![1.0; 20_000]);
        }
        assert_eq!((one.counts.len(), one.distinct()), (20_000, 20_000));
        assert!(of_many.counts.len() <= MOST_OF_ALL / 500 && of_many.has_many_levels());
        // Six standard deviations of an estimate from a thousand.
        assert!((of_many.distinct() as f64 / 2e4 - 1.0).abs() < 0.2, "{}", of_many.distinct());
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

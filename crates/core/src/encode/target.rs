//! A column of many categories → the mean of the targets of its level, one for each output, and the logarithm of its frequency.
//!
//! ```text
//! mean       (S + m·prior)/(n + m)      n, S: weight of the level's rows and sum of their targets;  prior: the mean of all rows
//! m          σ²/τ², at least 1          σ² the variance within levels, τ² between them; none between them: the prior for all
//! frequency  ln(1 + n), n at least that of the rarest tenth of the levels: new ones are no further from the others
//! ```
//! m is that of a linear mixed model with one random effect; σ² and τ² are estimated by the moments of an analysis of variance.
//!
//! A row that is learnt from must not see its own target in its inputs. Rows are divided into ten folds by their content (rows of
//! one group into one fold), and the sums of a level are kept for each:
//!
//! ```text
//! search  folds 0 to 4 say what the levels mean, folds 5 to 9 are learnt from: all that is chosen is chosen there
//! fit     a row of fold k is encoded by the other nine
//! new     by all ten
//! ```
//! In the search no target is on both sides, so that its cross-validation is honest: with the folds of the fit, a row that is
//! validated has had its part in the encoding of those that are learnt from, and noise looks like signal.
//!
//! Levels are known by their hash, in bounded memory: of too many, those with the smallest hashes. Others are new ones.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use super::scaling::rounded;
use crate::Matrix;
use crate::table::CategoryColumn;

/// Folds of the rows.
pub(crate) const FOLDS: usize = 10;

/// The first folds, which say what levels mean while something is searched.
const FIRST: usize = FOLDS / 2;

/// Levels that are kept, at most, and numbers in all their sums.
const MOST_LEVELS: usize = 100_000;
const MOST_NUMBERS: usize = 1 << 22;

/// The hash of a missing cell.
const MISSING: u64 = 0;

/// What the levels of a column mean for the target. The values are a tensor of the model file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TargetEncoding {
    /// Hashes of the levels, in order.
    pub(crate) levels: Vec<u64>,
    /// For each level, and for a new one at the end: a mean for each output, and the logarithm of the frequency.
    pub(crate) values: Matrix<f64>,
    /// Numbers of a level.
    pub(crate) width: usize,
}

impl TargetEncoding {
    /// Not fitted, for so many outputs.
    pub(super) fn of_outputs(outputs: usize) -> TargetEncoding {
        TargetEncoding { width: outputs + 1, ..TargetEncoding::default() }
    }

    /// Columns that it has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Levels that are known.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// Whether the levels have values.
    pub(super) fn is_fitted(&self) -> bool {
        self.values.rows() > 0
    }

    /// The columns of a level.
    pub(super) fn value(&self, hash: u64) -> &[f64] {
        self.values.row(self.levels.binary_search(&hash).unwrap_or(self.levels.len()))
    }

    /// Levels stand in order, each with finite values.
    pub(super) fn is_sound(&self) -> bool {
        self.levels.is_sorted_by(|a, b| a < b)
            && self.width > 1
            && self.values.rows() == self.levels.len() + 1
            && self.values.columns() == self.width
            && self.values.as_slice().iter().all(|x| x.is_finite())
    }
}

/// The hash of each cell.
pub(super) fn hashes(column: &CategoryColumn) -> Vec<u64> {
    // 0 stands for a missing cell.
    let levels: Vec<u64> = column.levels.iter().map(|level| xxh3_64(level.as_bytes()).max(1)).collect();
    column.codes.iter().map(|&code| levels.get(code as usize).copied().unwrap_or(MISSING)).collect()
}

/// The folds that the encoding of a row may look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// All of them: of a new row.
    All,
    /// All but its own.
    Without(usize),
    /// Those that nothing is learnt from during a search.
    First,
}

impl Seen {
    /// Of a row of this fold during a search: none if the row is not learnt from.
    pub(crate) fn in_search(fold: usize) -> Option<Seen> {
        (fold >= FIRST).then_some(Seen::First)
    }

    fn has(self, fold: usize) -> bool {
        match self {
            Seen::All => true,
            Seen::Without(own) => fold != own,
            Seen::First => fold < FIRST,
        }
    }

    /// All that there are.
    fn every() -> impl Iterator<Item = Seen> {
        [Seen::All, Seen::First].into_iter().chain((0..FOLDS).map(Seen::Without))
    }

    /// A number of its own.
    fn place(self) -> usize {
        match self {
            Seen::All => 0,
            Seen::First => 1,
            Seen::Without(fold) => 2 + fold,
        }
    }
}

/// Sums over the rows of each level, fold by fold.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TargetSums {
    outputs: usize,
    slots: HashMap<u64, usize>,
    /// Σw and Σw·y of each fold, one level after another.
    sums: Vec<f64>,
    /// The same of all rows, and Σw·y².
    totals: [Vec<f64>; FOLDS],
    /// Once there are too many levels, only those with smaller hashes are kept: the same ones in any order.
    below: u64,
}

impl TargetSums {
    pub(crate) fn new(outputs: usize) -> TargetSums {
        let totals = std::array::from_fn(|_| vec![0.0; 1 + 2 * outputs]);
        TargetSums { outputs, slots: HashMap::new(), sums: Vec::new(), totals, below: u64::MAX }
    }

    /// Numbers of a level.
    fn stride(&self) -> usize {
        FOLDS * (1 + self.outputs)
    }

    fn most_levels(&self) -> usize {
        MOST_LEVELS.min(MOST_NUMBERS / self.stride()).max(1)
    }

    /// Bytes that the sums of a column take at most.
    pub(crate) fn bytes(outputs: usize) -> u64 {
        let sums = TargetSums::new(outputs);
        (sums.most_levels() * (8 * sums.stride() + 32)) as u64
    }

    /// Reads a row.
    pub(crate) fn absorb(&mut self, hash: u64, fold: usize, weight: f64, targets: &[f64]) {
        let total = &mut self.totals[fold];
        total[0] += weight;
        for (o, y) in targets.iter().enumerate() {
            total[1 + o] += weight * y;
            total[1 + self.outputs + o] += weight * y * y;
        }
        if hash >= self.below {
            return;
        }
        let stride = self.stride();
        let slot = *self.slots.entry(hash).or_insert(self.sums.len() / stride);
        self.sums.resize(self.sums.len().max((slot + 1) * stride), 0.0);
        let sums = &mut self.sums[slot * stride + fold * (1 + self.outputs)..][..1 + self.outputs];
        sums[0] += weight;
        sums[1..].iter_mut().zip(targets).for_each(|(sum, y)| *sum += weight * y);
        self.bound();
    }

    /// Drops the half of the levels with the larger hashes where there are too many.
    fn bound(&mut self) {
        let stride = self.stride();
        while self.slots.len() > self.most_levels() {
            self.below /= 2;
            let mut kept: Vec<(u64, usize)> =
                self.slots.drain().filter(|(hash, _)| *hash < self.below).collect();
            kept.sort_unstable();
            self.sums =
                kept.iter().flat_map(|(_, slot)| &self.sums[slot * stride..][..stride]).copied().collect();
            self.slots = kept.into_iter().map(|(hash, _)| hash).zip(0..).collect();
        }
    }

    /// Σw and Σw·y of one level over the folds that are seen.
    fn level(&self, slot: usize, seen: Seen, to: &mut [f64]) {
        let width = 1 + self.outputs;
        to.fill(0.0);
        let folds = self.sums[slot * self.stride()..][..self.stride()].chunks_exact(width);
        for (_, fold) in folds.enumerate().filter(|(fold, _)| seen.has(*fold)) {
            to.iter_mut().zip(fold).for_each(|(sum, x)| *sum += x);
        }
    }

    /// What encodes rows by these sums.
    pub(crate) fn means(self) -> TargetMeans {
        let mut priors: Vec<Prior> = Seen::every().map(|_| Prior::default()).collect();
        Seen::every().for_each(|seen| priors[seen.place()] = self.prior(seen));
        let mut level = vec![0.0; 1 + self.outputs];
        let rows = self.slots.values().map(|&slot| {
            self.level(slot, Seen::All, &mut level);
            level[0]
        });
        let mut rows: Vec<f64> = rows.collect();
        rows.sort_by(f64::total_cmp);
        // Where they have a row each, a new one has none.
        let fewest = rows.get(rows.len() / 10).map_or(0.0, |rows| (rows - 1.0).max(0.0));
        TargetMeans { sums: self, priors, fewest }
    }

    /// The analysis of variance over the folds that are seen.
    fn prior(&self, seen: Seen) -> Prior {
        let mut total = vec![0.0; 1 + 2 * self.outputs];
        for (_, fold) in self.totals.iter().enumerate().filter(|(fold, _)| seen.has(*fold)) {
            total.iter_mut().zip(fold).for_each(|(sum, x)| *sum += x);
        }
        let mut slots: Vec<(u64, usize)> = self.slots.iter().map(|(hash, slot)| (*hash, *slot)).collect();
        slots.sort_unstable();
        let (mut levels, mut squared_weights) = (0.0, 0.0);
        let mut explained = vec![0.0; self.outputs];
        let mut level = vec![0.0; 1 + self.outputs];
        for (_, slot) in slots {
            self.level(slot, seen, &mut level);
            let n = level[0];
            if n > 0.0 {
                levels += 1.0;
                squared_weights += n * n;
                explained.iter_mut().zip(&level[1..]).for_each(|(sum, s)| *sum += s * s / n);
            }
        }
        let weight = total[0];
        let output = |o: usize| {
            let mean = if weight > 0.0 { total[1 + o] / weight } else { 0.0 };
            let square = total[1 + self.outputs + o];
            let within = (square - explained[o]).max(0.0) / (weight - levels);
            let spread = (weight - squared_weights / weight) / (levels - 1.0);
            let between = ((explained[o] - weight * mean * mean) / (levels - 1.0) - within) / spread;
            // Not above 0, or not a number where there are too few rows: levels say nothing.
            let m =
                if between > 0.0 && within.is_finite() { (within / between).max(1.0) } else { f64::INFINITY };
            (mean, m)
        };
        Prior { of_outputs: (0..self.outputs).map(output).collect(), weight }
    }
}

/// The means of the outputs over some folds, and how many rows each counts for in the mean of a level.
#[derive(Clone, Debug, Default, PartialEq)]
struct Prior {
    of_outputs: Vec<(f64, f64)>,
    weight: f64,
}

/// Encodes rows by the sums of some folds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TargetMeans {
    sums: TargetSums,
    priors: Vec<Prior>,
    /// Rows that a level counts for at least.
    fewest: f64,
}

impl TargetMeans {
    /// The columns of a level, as a row sees it.
    pub(super) fn write(&self, hash: u64, seen: Seen, to: &mut [f64]) {
        let mut level = vec![0.0; 1 + self.sums.outputs];
        if let Some(&slot) = self.sums.slots.get(&hash) {
            self.sums.level(slot, seen, &mut level);
        }
        self.shrink(&level, seen, to);
    }

    /// The columns of a level with these sums.
    fn shrink(&self, level: &[f64], seen: Seen, to: &mut [f64]) {
        let (prior, all) = (&self.priors[seen.place()], self.priors[Seen::All.place()].weight);
        let n = level[0];
        for ((to, s), (mean, m)) in to.iter_mut().zip(&level[1..]).zip(&prior.of_outputs) {
            *to = rounded(if m.is_finite() { (s + m * mean) / (n + m) } else { *mean });
        }
        // As if all folds had been seen.
        let n = if prior.weight > 0.0 { n * (all / prior.weight) } else { 0.0 };
        if let Some(last) = to.last_mut() {
            *last = rounded(n.max(self.fewest).ln_1p());
        }
    }

    /// For new rows.
    pub(crate) fn encoding(&self) -> TargetEncoding {
        let mut levels: Vec<u64> = self.sums.slots.keys().copied().collect();
        levels.sort_unstable();
        let width = self.sums.outputs + 1;
        let mut values = Matrix::zeros(levels.len() + 1, width);
        for (i, &hash) in levels.iter().enumerate() {
            self.write(hash, Seen::All, values.row_mut(i));
        }
        self.shrink(&vec![0.0; width], Seen::All, values.row_mut(levels.len()));
        TargetEncoding { levels, values, width }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels 1 to 3 with means 0, 10, 20 and noise of ±1, in all folds.
    fn sums(rows: usize) -> TargetSums {
        let mut sums = TargetSums::new(1);
        for i in 0..rows {
            let level = i % 3;
            let y = 10.0 * level as f64 + if i / 3 % 2 == 0 { 1.0 } else { -1.0 };
            sums.absorb(level as u64 + 1, i % FOLDS, 1.0, &[y]);
        }
        sums
    }

    fn mean(means: &TargetMeans, hash: u64, seen: Seen) -> f64 {
        let mut to = [0.0; 2];
        means.write(hash, seen, &mut to);
        to[0]
    }

    #[test]
    fn levels_have_their_means() {
        let means = sums(600).means();
        for (hash, expected) in [(1, 0.0), (2, 10.0), (3, 20.0), (99, 10.0)] {
            assert!((mean(&means, hash, Seen::All) - expected).abs() < 0.06, "{hash}");
        }
        let encoding = means.encoding();
        assert!(encoding.is_sound());
        for hash in [1, 3, 99] {
            assert!((encoding.value(hash)[0] - mean(&means, hash, Seen::All)).abs() < 1e-12);
        }
        assert!((encoding.value(2)[1] - 201f64.ln()).abs() < 1e-5);
        assert!((encoding.value(99)[1] - 200f64.ln()).abs() < 1e-5, "a new level has one row fewer");
    }

    /// A target that only its own fold has is not seen by the rows of that fold.
    #[test]
    fn a_fold_does_not_see_itself() {
        let mut sums = sums(600);
        let before = sums.clone().means();
        (0..50).for_each(|_| sums.absorb(1, 7, 1.0, &[1e3]));
        let after = sums.means();
        let of = |means: &TargetMeans, seen| mean(means, 1, seen);
        assert!((of(&before, Seen::Without(7)) - of(&after, Seen::Without(7))).abs() < 1e-12);
        assert!((of(&before, Seen::First) - of(&after, Seen::First)).abs() < 1e-12);
        assert!(of(&after, Seen::Without(6)) > of(&before, Seen::Without(6)) + 10.0);
        assert!(of(&after, Seen::All) > of(&before, Seen::All) + 10.0);
    }

    /// Weights of 2 are rows that are there twice.
    #[test]
    fn weights_are_repetitions() {
        let (mut twice, mut weighted) = (TargetSums::new(1), TargetSums::new(1));
        for i in 0..300u64 {
            let (hash, fold, y) = (i % 7 + 1, (i * i % 10) as usize, [(i % 13) as f64]);
            (0..2).for_each(|_| twice.absorb(hash, fold, 1.0, &y));
            weighted.absorb(hash, fold, 2.0, &y);
        }
        assert_eq!(twice.means().encoding(), weighted.means().encoding());
    }

    #[test]
    fn noise_has_the_mean_of_all_rows() {
        let mut sums = TargetSums::new(1);
        let mut state = 1u64;
        for i in 0..6000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            sums.absorb(i % 60 + 1, (state >> 40) as usize % FOLDS, 1.0, &[f64::from((state >> 33) as u32)]);
        }
        let means = sums.means();
        let values: Vec<f64> = (1..=60).map(|hash| mean(&means, hash, Seen::All)).collect();
        let spread =
            values.iter().copied().fold(f64::MIN, f64::max) - values.iter().copied().fold(f64::MAX, f64::min);
        // Without the prior they would spread over five standard errors of a mean of 100: 0.15 of the range.
        assert!(spread < 0.05 * f64::from(u32::MAX), "{spread}");
    }

    #[test]
    fn many_levels_are_kept_by_their_hashes_in_any_order() {
        let hash = |i: u64| xxh3_64(&i.to_le_bytes());
        let read = |order: &mut dyn Iterator<Item = u64>| {
            let mut sums = TargetSums::new(1);
            order.for_each(|i| sums.absorb(hash(i), (i % 10) as usize, 1.0, &[(i % 2) as f64]));
            sums.means().encoding()
        };
        let all = read(&mut (0..250_000));
        assert!(all.levels() <= MOST_LEVELS && all.levels() > MOST_LEVELS / 3, "{}", all.levels());
        assert_eq!(all, read(&mut (0..250_000).rev()));
    }
}

//! A column of many categories → how far the mean of the targets of its level is from that of all rows, one for each output, and the logarithm of its frequency.
//!
//! ```text
//! mean       (S − n·μ)/(n + m)     n, S: weight of the level's rows and sum of their targets;  μ: the mean of all rows
//! m          σ²/τ², at least 1     σ² the variance within levels, τ² between them; none between them: 0 for all
//! frequency  ln(1 + n), n at least that of the rarest tenth of the levels: new ones are no further from the others
//! ```
//! m is that of a linear mixed model with one random effect; σ² and τ² are estimated by the moments of an analysis of variance of
//! the levels that are kept. A weight is a number of rows; weights below 1 on average are brought to that.
//!
//! A row that is learnt from must not see its own target in its inputs. Rows are divided into ten folds by their content (rows of
//! one group into one fold), and the sums of a level are kept for each:
//!
//! ```text
//! search  folds 0 to 4 say what the levels mean, folds 5 to 9 are learnt from: all that is chosen is chosen there
//! fit     n and S of a row of fold k are those of the other nine; μ and m, which are the same for all rows, those of all ten
//! new     all ten
//! ```
//! In the search no target is on both sides, so that its cross-validation is honest: with the folds of the fit, a row that is
//! validated has had its part in the encoding of those that are learnt from, and noise looks like signal. A μ without the own fold
//! would tell rows their fold, and with it the mean of its targets.
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

/// Levels that are kept, at most, and numbers in all their sums: those of 100,000 levels and 13 outputs, or 4,600 and 300.
const MOST_LEVELS: usize = 100_000;
const MOST_NUMBERS: usize = 1 << 24;

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
    /// Levels that were counted before they had values; 0 once they have.
    pub(crate) counted: u64,
}

impl TargetEncoding {
    /// Not fitted, of so many levels.
    pub(super) fn of_levels(counted: u64) -> TargetEncoding {
        TargetEncoding { counted, ..TargetEncoding::default() }.with_outputs(1)
    }

    /// The same for so many outputs.
    pub(super) fn with_outputs(self, outputs: usize) -> TargetEncoding {
        TargetEncoding { width: outputs + 1, ..self }
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

    /// The place of a level among the values.
    pub(super) fn place(&self, hash: u64) -> usize {
        place(&self.levels, hash)
    }

    /// The columns of the level at a place.
    pub(super) fn value(&self, place: usize) -> &[f64] {
        self.values.row(place)
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

/// Where a level stands among others, which are in order; new ones stand behind them.
fn place(levels: &[u64], hash: u64) -> usize {
    levels.binary_search(&hash).unwrap_or(levels.len())
}

/// What `of` says of the hash of each cell; it is asked once a level.
pub(super) fn of_cells<T: Copy>(column: &CategoryColumn, of: impl Fn(u64) -> T) -> Vec<T> {
    // 0 stands for a missing cell.
    let levels: Vec<T> = column.levels.iter().map(|level| of(xxh3_64(level.as_bytes()).max(1))).collect();
    let missing = of(MISSING);
    column.codes.iter().map(|&code| levels.get(code as usize).copied().unwrap_or(missing)).collect()
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
    /// How many there are.
    const COUNT: usize = 2 + FOLDS;

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
///
/// Targets are taken less the first: the sums of a target far from zero keep the digits in which its rows differ.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TargetSums {
    outputs: usize,
    /// The targets of the first row.
    origin: Vec<f64>,
    rows: u64,
    slots: HashMap<u64, usize>,
    /// A record for each level: Σw and Σw·y of each fold, and Σw·y² of the first folds and of the others.
    sums: Vec<f64>,
    /// The record of all rows.
    total: Vec<f64>,
    /// Once there are too many levels, only those with smaller hashes are kept: the same ones in any order.
    below: u64,
}

impl TargetSums {
    pub(crate) fn new(outputs: usize) -> TargetSums {
        TargetSums {
            outputs,
            origin: Vec::new(),
            rows: 0,
            slots: HashMap::new(),
            sums: Vec::new(),
            total: vec![0.0; stride(outputs)],
            below: u64::MAX,
        }
    }

    /// Bytes that the sums of a column with so many levels take at most, and what is made of them.
    pub(crate) fn bytes(outputs: usize, levels: u64) -> u64 {
        // A level, its sums, which grow by doubling, and a value for each way in which rows see it.
        let level = 48 + 8 * (2 * stride(outputs) + Seen::COUNT * outputs + 1);
        levels.min(most_levels(outputs) as u64).saturating_mul(level as u64)
    }

    /// Reads a row.
    pub(crate) fn absorb(&mut self, hash: u64, fold: usize, weight: f64, targets: &[f64]) {
        if self.rows == 0 {
            self.origin = targets.to_vec();
        }
        self.rows += 1;
        add(&mut self.total, fold, weight, targets, &self.origin);
        if hash >= self.below {
            return;
        }
        let stride = stride(self.outputs);
        let slot = *self.slots.entry(hash).or_insert(self.sums.len() / stride);
        self.sums.resize(self.sums.len().max((slot + 1) * stride), 0.0);
        add(&mut self.sums[slot * stride..][..stride], fold, weight, targets, &self.origin);
        self.bound();
    }

    /// Drops the half of the levels with the larger hashes where there are too many.
    fn bound(&mut self) {
        while self.slots.len() > most_levels(self.outputs) {
            self.below /= 2;
            let below = self.below;
            let mut kept: Vec<(u64, usize)> = self.slots.drain().filter(|(hash, _)| *hash < below).collect();
            kept.sort_unstable();
            self.sums = kept.iter().flat_map(|(_, slot)| self.record(*slot)).copied().collect();
            self.slots = kept.into_iter().map(|(hash, _)| hash).zip(0..).collect();
        }
    }

    fn record(&self, slot: usize) -> &[f64] {
        let stride = stride(self.outputs);
        &self.sums[slot * stride..][..stride]
    }

    /// What encodes rows by these sums.
    pub(crate) fn means(mut self) -> TargetMeans {
        let outputs = self.outputs;
        let mut seen = vec![0.0; 1 + outputs];
        sum(&self.total, Seen::All, &mut seen);
        let unit = (seen[0] / self.rows as f64).min(1.0);
        if unit > 0.0 {
            self.sums.iter_mut().chain(&mut self.total).for_each(|x| *x /= unit);
        }
        let mut slots: Vec<(u64, usize)> = self.slots.drain().collect();
        slots.sort_unstable();
        let records = || slots.iter().map(|(_, slot)| self.record(*slot));
        let [all, first] =
            [Seen::All, Seen::First].map(|seen| Prior::of(records(), &self.total, outputs, seen));
        let weight =
            |record: &[f64]| record[..FOLDS * (1 + outputs)].iter().step_by(1 + outputs).sum::<f64>();
        let mut rows: Vec<f64> = records().map(weight).collect();
        rows.sort_by(f64::total_cmp);
        let fewest = rows.get(rows.len() / 10).copied().unwrap_or(0.0);

        let mut values = Matrix::zeros(slots.len() + 1, Seen::COUNT * outputs + 1);
        for (i, record) in records().enumerate() {
            let row = values.row_mut(i);
            for view in Seen::every() {
                let prior = if view == Seen::First { &first } else { &all };
                sum(record, view, &mut seen);
                prior.shrink(&seen, &mut row[view.place() * outputs..][..outputs]);
            }
            row[Seen::COUNT * outputs] = rounded(weight(record).max(fewest).ln_1p());
        }
        // A new level is as all rows are, and as frequent as the rarest.
        values.row_mut(slots.len())[Seen::COUNT * outputs] = rounded(fewest.ln_1p());
        TargetMeans { levels: slots.into_iter().map(|(hash, _)| hash).collect(), values, outputs }
    }
}

/// Numbers in the record of a level.
fn stride(outputs: usize) -> usize {
    FOLDS * (1 + outputs) + 2 * outputs
}

fn most_levels(outputs: usize) -> usize {
    MOST_LEVELS.min(MOST_NUMBERS / stride(outputs)).max(1)
}

/// Adds a row to a record.
fn add(record: &mut [f64], fold: usize, weight: f64, targets: &[f64], origin: &[f64]) {
    let width = 1 + targets.len();
    let (sums, squares) = record.split_at_mut(FOLDS * width);
    let sums = &mut sums[fold * width..][..width];
    let squares = &mut squares[usize::from(fold >= FIRST) * targets.len()..];
    sums[0] += weight;
    for (o, (y, origin)) in targets.iter().zip(origin).enumerate() {
        let y = y - origin;
        sums[1 + o] += weight * y;
        squares[o] += weight * y * y;
    }
}

/// Σw and Σw·y of a record over the folds that are seen.
fn sum(record: &[f64], seen: Seen, to: &mut [f64]) {
    to.fill(0.0);
    for (_, fold) in record.chunks_exact(to.len()).take(FOLDS).enumerate().filter(|(k, _)| seen.has(*k)) {
        to.iter_mut().zip(fold).for_each(|(sum, x)| *sum += x);
    }
}

/// The mean of each output over some folds, and how many rows it counts for in the mean of a level.
#[derive(Clone, Debug, PartialEq)]
struct Prior(Vec<(f64, f64)>);

impl Prior {
    /// The analysis of variance of the levels with these records, and the mean of all rows.
    fn of<'a>(records: impl Iterator<Item = &'a [f64]>, total: &[f64], outputs: usize, seen: Seen) -> Prior {
        let (mut count, mut weight, mut squared_weights) = (0.0, 0.0, 0.0);
        let [mut sums, mut squares, mut explained] = [0; 3].map(|_| vec![0.0; outputs]);
        let mut level = vec![0.0; 1 + outputs];
        for record in records {
            sum(record, seen, &mut level);
            let n = level[0];
            if !(n > 0.0) {
                continue;
            }
            (count, weight, squared_weights) = (count + 1.0, weight + n, squared_weights + n * n);
            let (first, others) = record[FOLDS * (1 + outputs)..].split_at(outputs);
            for (o, s) in level[1..].iter().enumerate() {
                sums[o] += s;
                squares[o] += first[o] + if seen == Seen::First { 0.0 } else { others[o] };
                explained[o] += s * s / n;
            }
        }
        sum(total, seen, &mut level);
        let output = |o: usize| {
            let mean = if level[0] > 0.0 { level[1 + o] / level[0] } else { 0.0 };
            let within = (squares[o] - explained[o]).max(0.0) / (weight - count);
            let spread = (weight - squared_weights / weight) / (count - 1.0);
            let between = ((explained[o] - sums[o] * (sums[o] / weight)) / (count - 1.0) - within) / spread;
            // Not above 0, or too few rows to tell: levels say nothing.
            let says_something = weight - count >= 1.0 && between > 0.0;
            (mean, if says_something { (within / between).max(1.0) } else { f64::INFINITY })
        };
        Prior((0..outputs).map(output).collect())
    }

    /// How far the means of a level with these sums are from those of all rows.
    fn shrink(&self, level: &[f64], to: &mut [f64]) {
        let n = level[0];
        for ((to, s), (mean, m)) in to.iter_mut().zip(&level[1..]).zip(&self.0) {
            *to = if m.is_finite() { rounded((s - n * mean) / (n + m)) } else { 0.0 };
        }
    }
}

/// Encodes rows by the sums of some folds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TargetMeans {
    /// Hashes of the levels, in order.
    levels: Vec<u64>,
    /// For each level, and for a new one at the end: the means as each [`Seen`] has them, and the logarithm of the frequency.
    values: Matrix<f64>,
    outputs: usize,
}

impl TargetMeans {
    /// The place of a level.
    pub(super) fn place(&self, hash: u64) -> usize {
        place(&self.levels, hash)
    }

    /// The columns of the level at a place, as a row sees it.
    pub(super) fn write(&self, place: usize, seen: Seen, to: &mut [f64]) {
        let (row, (means, frequency)) = (self.values.row(place), to.split_at_mut(self.outputs));
        means.copy_from_slice(&row[seen.place() * self.outputs..][..self.outputs]);
        frequency.copy_from_slice(&row[Seen::COUNT * self.outputs..]);
    }

    /// For new rows.
    pub(crate) fn encoding(&self) -> TargetEncoding {
        let mut values = Matrix::zeros(self.values.rows(), self.outputs + 1);
        (0..values.rows()).for_each(|place| self.write(place, Seen::All, values.row_mut(place)));
        TargetEncoding { levels: self.levels.clone(), values, width: self.outputs + 1, counted: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner_testkit::Chance;

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

    fn hash(i: usize) -> u64 {
        xxh3_64(&(i as u64).to_le_bytes())
    }

    fn mean(means: &TargetMeans, hash: u64, seen: Seen) -> f64 {
        let mut to = [0.0; 2];
        means.write(means.place(hash), seen, &mut to);
        to[0]
    }

    fn value(encoding: &TargetEncoding, hash: u64) -> &[f64] {
        encoding.value(encoding.place(hash))
    }

    #[test]
    fn levels_have_their_means() {
        let means = sums(600).means();
        for (hash, expected) in [(1, -10.0), (2, 0.0), (3, 10.0), (99, 0.0)] {
            assert!((mean(&means, hash, Seen::All) - expected).abs() < 0.06, "{hash}");
        }
        let encoding = means.encoding();
        assert!(encoding.is_sound());
        for hash in [1, 3, 99] {
            assert!((value(&encoding, hash)[0] - mean(&means, hash, Seen::All)).abs() < 1e-12);
        }
        for hash in [2, 99] {
            assert!((value(&encoding, hash)[1] - 201f64.ln()).abs() < 1e-5, "as frequent as the rarest");
        }
    }

    /// A target that only its own fold has is not seen by the rows of that fold, but for μ and m, which are the same for all rows.
    #[test]
    fn a_fold_does_not_see_itself() {
        let mut sums = sums(600);
        let before = sums.clone().means();
        (0..50).for_each(|_| sums.absorb(1, 7, 1.0, &[1e3]));
        let after = sums.means();
        let of = |means: &TargetMeans, seen| mean(means, 1, seen);
        assert!((of(&before, Seen::First) - of(&after, Seen::First)).abs() < 1e-12);
        assert!(of(&after, Seen::Without(6)) > of(&before, Seen::Without(6)) + 10.0);
        assert!(of(&after, Seen::All) > of(&before, Seen::All) + 10.0);
        // Rows of mean 0, less a μ that has risen: further below, and not above.
        assert!(of(&after, Seen::Without(7)) < of(&before, Seen::Without(7)));
    }

    /// Where levels say nothing, rows of all folds have one value: not ten that tell them the mean of their own fold.
    #[test]
    fn levels_that_say_nothing_do_not_tell_folds() {
        let mut sums = TargetSums::new(1);
        // Each level has the same targets; folds have other means.
        (0..6000).for_each(|i| sums.absorb((i % 60) as u64 + 1, i / 60 % FOLDS, 1.0, &[(i / 60) as f64]));
        let means = sums.means();
        for level in [1, 30, 60, 99] {
            Seen::every()
                .for_each(|seen| assert!(mean(&means, level, seen).to_bits() == 0, "{level} {seen:?}"));
        }
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

    /// A target far from zero, and weights in other units, are the same target and the same weights.
    #[test]
    fn offsets_of_targets_and_units_of_weights_do_not_matter() {
        let of = |offset: f64, weight: f64| {
            let (mut sums, mut chance) = (TargetSums::new(1), Chance::new(5));
            for i in 0..3000 {
                let level = i % 300;
                // An exact sum: the offset has no fraction that would be lost.
                let y = ((hash(level) % 7) as f64 + chance.normal()) * 65536.0;
                sums.absorb(hash(level), i / 300, weight, &[y.round() / 65536.0 + offset]);
            }
            sums.means()
        };
        let plain = of(0.0, 1.0);
        assert!(mean(&plain, hash(1), Seen::All).abs() > 0.1, "levels say something");
        for (offset, weight) in [(1e9, 1.0), (0.0, 1e-6), (1e9, 1.0 / 3000.0)] {
            let other = of(offset, weight);
            for level in 0..300 {
                for seen in Seen::every() {
                    let (a, b) = (mean(&plain, hash(level), seen), mean(&other, hash(level), seen));
                    assert!((a - b).abs() < 1e-5, "{a} and {b} at {offset:e}, {weight:e}");
                }
            }
        }
        let frequency = |means: &TargetMeans| value(&means.encoding(), hash(3))[1];
        assert!((frequency(&plain) - frequency(&of(0.0, 1e-6))).abs() < 1e-6);
    }

    #[test]
    fn noise_has_the_mean_of_all_rows() {
        let (mut sums, mut chance) = (TargetSums::new(1), Chance::new(1));
        for i in 0..6000 {
            sums.absorb(i % 60 + 1, chance.below(FOLDS), 1.0, &[chance.normal()]);
        }
        let means = sums.means();
        // Without shrinking they would be as far as 0.25: the mean of a hundred rows has a standard deviation of 0.1.
        let furthest = (1..=60).map(|hash| mean(&means, hash, Seen::All).abs()).fold(0.0, f64::max);
        assert!(furthest < 0.1, "{furthest}");
    }

    /// Levels of four rows each say something, whether all of them are kept or some.
    #[test]
    fn signal_is_found_in_more_levels_than_are_kept() {
        let positive = |level: usize, chance: &mut Chance| {
            // A fifth of all rows, a half of those of every fourth level, and a tenth of the others.
            let share = if hash(level) >> 40 & 3 == 0 { 0.5 } else { 0.1 };
            f64::from(u8::from(chance.uniform() < share))
        };
        for levels in [20_000, 250_000] {
            let (mut sums, mut chance) = (TargetSums::new(1), Chance::new(2));
            for i in 0..4 * levels {
                let y = 2.0 * positive(i % levels, &mut chance) - 1.0;
                sums.absorb(hash(i % levels), i / levels * 2, 1.0, &[y]);
            }
            let means = sums.means();
            let known = (0..levels).filter(|level| means.place(hash(*level)) < means.levels.len());
            let [mut high, mut low] = [(0.0, 0.0); 2];
            for level in known {
                let of = if hash(level) >> 40 & 3 == 0 { &mut high } else { &mut low };
                *of = (of.0 + 1.0, of.1 + mean(&means, hash(level), Seen::All));
            }
            // Shares 0.4 apart are 0.8 apart as ±1; τ² = 0.12 and σ² = 0.52: four rows in 8.3 count.
            let difference = high.1 / high.0 - low.1 / low.0;
            assert!((difference - 0.8 * 4.0 / 8.3).abs() < 0.05, "{difference} of {levels}");
        }
    }

    /// Two thousand levels of three hundred classes are all kept.
    #[test]
    fn many_classes_leave_room_for_levels() {
        let (mut sums, mut targets) = (TargetSums::new(300), vec![0.0; 300]);
        for i in 0..6000 {
            let class = i % 2000 % 300;
            targets[class] = 1.0;
            sums.absorb(hash(i % 2000), i / 2000, 1.0, &targets);
            targets[class] = 0.0;
        }
        let encoding = sums.means().encoding();
        assert_eq!(encoding.levels(), 2000);
        let value = value(&encoding, hash(7));
        assert!(value[7] > 0.7 && value[8].abs() < 0.01, "{} {}", value[7], value[8]);
    }

    #[test]
    fn many_levels_are_kept_by_their_hashes_in_any_order() {
        let read = |order: &mut dyn Iterator<Item = usize>| {
            let mut sums = TargetSums::new(1);
            order.for_each(|i| sums.absorb(hash(i), i % 10, 1.0, &[(i % 2) as f64]));
            sums.means().encoding()
        };
        let all = read(&mut (0..250_000));
        assert!(all.levels() <= MOST_LEVELS && all.levels() > MOST_LEVELS / 3, "{}", all.levels());
        assert_eq!(all, read(&mut (0..250_000).rev()));
    }
}

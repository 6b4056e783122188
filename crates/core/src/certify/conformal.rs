//! Split conformal prediction: from scores of rows that the fit has not seen to a promise for the next row.
//!
//! ```text
//! P(score of a new row ≤ s₍r₎) ≥ 1 − α,     r = ⌈(K + 1)(1 − α)⌉,   s₍₁₎ ≤ … ≤ s₍K₎ the scores of K held-out rows,   s₍K₊₁₎ = ∞
//! ```
//! because the new row's place among K + 1 exchangeable ones is uniform: nothing is assumed of the model or of the law. Rows of equal content are held out
//! together, so what is exchangeable is the distinct row: each counts once, whatever its weight, and the targets of one share its mass by their weights (Lee,
//! Barber & Willett 2023, hierarchical conformal prediction). With Fₖ the law of the scores of distinct row k,
//!
//! ```text
//! s₍r₎ = min { s : Σₖ Fₖ(s) ≥ r }
//! ```
//! which is the order statistic where every distinct row has one target. Vovk, Gammerman & Shafer (2005); `docs/book/uncertainty.md`.

use std::collections::BTreeMap;

use crate::{Error, Matrix, Result};

/// Distinct rows that scores are kept of, at most: the coverage that one fit has deviates by 0.003 from the 0.9 that is asked.
pub(crate) const MOST_SCORES: usize = 10_000;

/// Numbers kept of one distinct row. One with more different targets counts with its largest score, which errs to the safe side.
const MOST_NUMBERS: usize = 64;

/// What rounding may take from a sum of masses.
const SLACK: f64 = 1e-9;

/// r: the order statistic of `count` scores that covers a new one with this probability; none where it takes more scores.
pub(crate) fn rank(count: usize, coverage: f64) -> Result<Option<usize>> {
    if !(coverage > 0.0 && coverage < 1.0) {
        let (name, expected) = ("coverage", "between 0 and 1, such as 0.9");
        return Err(Error::Parameter { name, expected, found: coverage.to_string() });
    }
    // 0.07·100 is a little more than 7 in binary.
    let rank = ((count as f64 + 1.0) * coverage * (1.0 - 1e-12)).ceil().max(1.0) as usize;
    Ok((rank <= count).then_some(rank))
}

/// Scores of held-out rows, by the hash of their content: those with the smallest hashes, which are a uniform sample of the distinct ones.
#[derive(Clone, Debug)]
pub(crate) struct Scores {
    columns: usize,
    capacity: usize,
    groups: BTreeMap<u64, Group>,
}

/// The scores of one distinct row.
#[derive(Clone, Debug, Default)]
struct Group {
    /// Different scores, each with the sum of its weights.
    entries: Vec<(Vec<f64>, f64)>,
    /// There were too many: the largest of each column is left.
    is_merged: bool,
}

impl Scores {
    /// For rows with so many scores each: one for every output.
    pub(crate) fn new(columns: usize) -> Scores {
        Scores { columns, capacity: MOST_SCORES, groups: BTreeMap::new() }
    }

    /// Takes the scores of a row.
    pub(crate) fn add(&mut self, hash: u64, scores: &[f64], weight: f64) {
        let is_beyond = self.groups.last_key_value().is_some_and(|(&largest, _)| hash > largest);
        if self.groups.len() >= self.capacity && is_beyond {
            return;
        }
        let most = (MOST_NUMBERS / self.columns.max(1)).max(4);
        self.groups.entry(hash).or_default().add(scores, weight, most);
        if self.groups.len() > self.capacity {
            self.groups.pop_last();
        }
    }

    /// Distinct rows, K.
    pub(crate) fn count(&self) -> usize {
        self.groups.len()
    }

    /// s₍₁₎ … s₍K₎ of each column, one row each.
    pub(crate) fn order_statistics(&self) -> Matrix<f64> {
        let mut statistics = Matrix::zeros(self.columns, self.count());
        for column in 0..self.columns {
            let mut masses: Vec<(f64, f64)> =
                self.groups.values().flat_map(|group| group.masses(column)).collect();
            masses.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
            let (to, mut filled, mut sum) = (statistics.row_mut(column), 0, 0.0);
            for &(score, mass) in &masses {
                sum += mass;
                while filled < to.len() && sum >= (filled + 1) as f64 - SLACK {
                    to[filled] = score;
                    filled += 1;
                }
            }
            let largest = masses.last().map_or(0.0, |&(score, _)| score);
            to[filled..].fill(largest);
        }
        statistics
    }
}

impl Group {
    fn add(&mut self, scores: &[f64], weight: f64, most: usize) {
        let same = |entry: &&mut (Vec<f64>, f64)| {
            entry.0.iter().zip(scores).all(|(a, b)| a.to_bits() == b.to_bits())
        };
        if self.is_merged {
            self.merge(scores);
        } else if let Some(entry) = self.entries.iter_mut().find(same) {
            entry.1 += weight;
        } else {
            self.entries.push((scores.to_vec(), weight));
            if self.entries.len() > most {
                self.is_merged = true;
                let all = std::mem::take(&mut self.entries);
                all.iter().for_each(|(scores, _)| self.merge(scores));
            }
        }
    }

    fn merge(&mut self, scores: &[f64]) {
        match self.entries.first_mut() {
            Some((largest, _)) => largest.iter_mut().zip(scores).for_each(|(a, b)| *a = a.max(*b)),
            None => self.entries.push((scores.to_vec(), 1.0)),
        }
    }

    /// Scores of a column with their parts of one.
    fn masses(&self, column: usize) -> Vec<(f64, f64)> {
        let mut entries: Vec<(f64, f64)> =
            self.entries.iter().map(|(scores, weight)| (scores[column], *weight)).collect();
        entries.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let total: f64 = entries.iter().map(|&(_, weight)| weight).sum();
        entries.iter_mut().for_each(|(_, weight)| *weight /= total);
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner_testkit::assert_same_bits;

    #[test]
    fn ranks_are_those_of_the_theorem() {
        assert_eq!(rank(9, 0.9).unwrap(), Some(9));
        assert_eq!(rank(8, 0.9).unwrap(), None);
        assert_eq!(rank(99, 0.9).unwrap(), Some(90));
        assert_eq!(rank(100, 0.9).unwrap(), Some(91));
        assert_eq!(rank(99, 0.07).unwrap(), Some(7));
        assert_eq!(rank(1, 0.5).unwrap(), Some(1));
        assert_eq!(rank(0, 0.5).unwrap(), None);
        assert_eq!(rank(5, 1e-300).unwrap(), Some(1));
        for coverage in [0.0, 1.0, -0.1, 1.5, 90.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(rank(9, coverage), Err(Error::Parameter { name: "coverage", .. })));
        }
    }

    fn read(rows: &[(u64, f64, f64)]) -> Matrix<f64> {
        let mut scores = Scores::new(1);
        rows.iter().for_each(|&(hash, score, weight)| scores.add(hash, &[score], weight));
        scores.order_statistics()
    }

    #[test]
    fn every_distinct_row_counts_once() {
        assert_same_bits(read(&[(1, 3.0, 1.0), (2, 1.0, 7.0), (3, 2.0, 0.5)]).as_slice(), &[1.0, 2.0, 3.0]);
        // The targets of row 2 share its mass: ¾ at 1, ¼ at 4; the second statistic is where both masses are complete.
        let shared = [(1, 3.0, 1.0), (2, 1.0, 3.0), (2, 4.0, 1.0)];
        assert_same_bits(read(&shared).as_slice(), &[3.0, 4.0]);
        let repeated = [(2, 1.0, 1.0), (2, 4.0, 1.0), (1, 3.0, 1.0), (2, 1.0, 1.0), (2, 1.0, 1.0)];
        assert_same_bits(read(&repeated).as_slice(), &[3.0, 4.0]);
    }

    #[test]
    fn a_row_of_many_targets_counts_with_its_largest() {
        let mut rows: Vec<(u64, f64, f64)> = (0..100).map(|i| (1, f64::from(i), 1.0)).collect();
        rows.push((2, 50.5, 1.0));
        assert_same_bits(read(&rows).as_slice(), &[50.5, 99.0]);
        rows.reverse();
        assert_same_bits(read(&rows).as_slice(), &[50.5, 99.0]);
    }

    #[test]
    fn the_smallest_hashes_stay_in_any_order() {
        let kept = |hashes: &[u64]| {
            let mut scores = Scores { capacity: 3, ..Scores::new(1) };
            hashes.iter().for_each(|&hash| scores.add(hash, &[hash as f64], 1.0));
            scores.order_statistics()
        };
        assert_same_bits(kept(&[9, 4, 1, 7, 4, 2]).as_slice(), &[1.0, 2.0, 4.0]);
        assert_same_bits(kept(&[1, 2, 4, 7, 9, 1]).as_slice(), &[1.0, 2.0, 4.0]);
    }
}

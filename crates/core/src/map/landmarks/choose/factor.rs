//! A Cholesky factor of the kernel matrix that grows by columns, and what it leaves.
//!
//! ```text
//! K ≈ FFᵀ,   F = K_S L⁻ᵀ,   LLᵀ = K_SS + ridge,   S = pivots so far
//! one block more:   f_c = (k_c − Σ over j < c of l_cj fⱼ) / l_cc,      l_cj = row c of F for earlier blocks
//! r(x) = k(x, x) − Σ over c of f_c(x)²
//! ```
//! Without a ridge, r is what the projection on the pivots leaves of φ(x). With one it is what a ridge regression on them
//! leaves, from which leverage scores come. Rows of L for earlier blocks are rows of F since the ridge stands on the diagonal only.
//!
//! Columns are stored one after the other. The work lies in `extend`, a matrix product followed by a small triangular solve.

use super::Candidates;

/// Rows worked on at a time: eight columns of them lie in the first cache.
const TILE: usize = 256;
/// Columns subtracted at a time.
const GROUP: usize = 8;

/// The factor of candidates at its pivots.
pub(super) struct Factor<'a> {
    candidates: &'a Candidates<'a>,
    /// Columns of F.
    columns: Vec<f64>,
    rank: usize,
    /// r of every candidate.
    pub(super) residual: Vec<f64>,
}

impl<'a> Factor<'a> {
    pub(super) fn new(candidates: &'a Candidates<'a>) -> Self {
        Factor { candidates, columns: Vec::new(), rank: 0, residual: candidates.diagonal.clone() }
    }

    /// Goes through proposals in order and makes pivots of those that `accept(r now, r before this block)` accepts; both
    /// include the proposal's ridge. Returns the pivots.
    pub(super) fn propose(
        &mut self,
        proposals: &[usize],
        ridge: &[f64],
        mut accept: impl FnMut(f64, f64) -> bool,
    ) -> Vec<usize> {
        let (size, rank) = (proposals.len(), self.rank);
        let rows = self.rows(proposals);
        let mut corner = self.corner(proposals, &rows, ridge);
        let before: Vec<f64> = (0..size).map(|j| corner[j * size + j]).collect();
        let mut accepted = Vec::new();
        for j in 0..size {
            let square = corner[j * size + j];
            // A pivot is at least its ridge. One that is not comes from rounding, or from a kernel that is none.
            if !(square > ridge[j] / 2.0 && accept(square, before[j])) {
                continue;
            }
            accepted.push(j);
            eliminate(&mut corner, size, j, square.sqrt());
            (j + 1..size).filter(|&k| proposals[k] == proposals[j]).for_each(|k| corner[k * size + k] = 0.0);
        }
        let mut lower = Vec::with_capacity(accepted.len() * (rank + accepted.len()));
        for &j in &accepted {
            lower.extend_from_slice(&rows[j * rank..(j + 1) * rank]);
            lower.extend(accepted.iter().map(|&k| if k <= j { corner[j * size + k] } else { 0.0 }));
        }
        let pivots: Vec<usize> = accepted.iter().map(|&j| proposals[j]).collect();
        self.take(&pivots, &lower);
        pivots
    }

    /// Some rows of F, one after the other.
    fn rows(&self, which: &[usize]) -> Vec<f64> {
        let count = self.candidates.count();
        which.iter().flat_map(|&i| (0..self.rank).map(move |j| self.columns[j * count + i])).collect()
    }

    /// K − FFᵀ + ridge among the proposals, lower triangle.
    fn corner(&self, proposals: &[usize], rows: &[f64], ridge: &[f64]) -> Vec<f64> {
        let (size, rank) = (proposals.len(), self.rank);
        let mut corner = vec![0.0; size * size];
        self.candidates.corner(proposals, &mut corner);
        for i in 0..size {
            let left = &rows[i * rank..(i + 1) * rank];
            for j in 0..i {
                let right = &rows[j * rank..(j + 1) * rank];
                corner[i * size + j] -= left.iter().zip(right).map(|(a, b)| a * b).sum::<f64>();
            }
            corner[i * size + i] = self.residual[proposals[i]] + ridge[i];
        }
        corner
    }

    /// Appends the columns of pivots with these rows of L.
    fn take(&mut self, pivots: &[usize], lower: &[f64]) {
        let count = self.candidates.count();
        let (start, more) = (self.rank * count, pivots.len() * count);
        self.columns.reserve_exact(more);
        self.columns.resize(start + more, 0.0);
        self.candidates.columns(pivots, &mut self.columns[start..]);
        extend(&mut self.columns, count, self.rank, lower);
        self.rank += pivots.len();
        for column in self.columns[start..].chunks_exact(count.max(1)) {
            self.residual.iter_mut().zip(column).for_each(|(residual, f)| *residual -= f * f);
        }
    }
}

/// One step of the Cholesky factorisation: column j divided by its pivot, its square taken from what follows.
fn eliminate(corner: &mut [f64], size: usize, j: usize, pivot: f64) {
    corner[j * size + j] = pivot;
    (j + 1..size).for_each(|i| corner[i * size + j] /= pivot);
    let column: Vec<f64> = (0..size).map(|i| corner[i * size + j]).collect();
    for i in j + 1..size {
        let row = &mut corner[i * size + j + 1..=i * size + i];
        row.iter_mut().zip(&column[j + 1..]).for_each(|(entry, l)| *entry -= column[i] * l);
    }
}

/// The columns from `done` on ← (themselves − earlier columns · L₁ᵀ)·L₂⁻ᵀ, where `lower` holds rows (L₁, L₂).
fn extend(columns: &mut [f64], count: usize, done: usize, lower: &[f64]) {
    let fresh = columns.len() / count.max(1) - done;
    let width = done + fresh;
    for start in (0..count).step_by(TILE) {
        let tile = start..count.min(start + TILE);
        let (old, new) = columns.split_at_mut(done * count);
        for first in (0..done).step_by(GROUP) {
            let last = done.min(first + GROUP);
            for c in 0..fresh {
                let out = &mut new[c * count..][tile.clone()];
                subtract(out, &old[first * count..], count, start, &lower[c * width..][first..last]);
            }
        }
        for c in 0..fresh {
            let (new, rest) = new.split_at_mut(c * count);
            let out = &mut rest[tile.clone()];
            for first in (0..c).step_by(GROUP) {
                let last = c.min(first + GROUP);
                let along = &lower[c * width + done..][first..last];
                subtract(out, &new[first * count..], count, start, along);
            }
            let pivot = lower[c * width + done + c];
            out.iter_mut().for_each(|value| *value /= pivot);
        }
    }
}

/// out ← out − Σ over j of alongⱼ · column j, from row `start` on.
fn subtract(out: &mut [f64], columns: &[f64], count: usize, start: usize, along: &[f64]) {
    let rows = out.len();
    let column = |j: usize| &columns[j * count + start..][..rows];
    if let &[a, b, c, d, e, f, g, h] = along {
        let (p, q, r, s) = (column(0), column(1), column(2), column(3));
        let (t, u, v, w) = (column(4), column(5), column(6), column(7));
        for i in 0..rows {
            let left = (a * p[i] + b * q[i]) + (c * r[i] + d * s[i]);
            let right = (e * t[i] + f * u[i]) + (g * v[i] + h * w[i]);
            out[i] -= left + right;
        }
        return;
    }
    for (j, &along) in along.iter().enumerate() {
        out.iter_mut().zip(column(j)).for_each(|(out, value)| *out -= along * value);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Values;
    use super::super::tests::Dense;
    use super::*;

    /// r from the definition, k(x, x) − k_S(x)ᵀ(K_SS + ridge)⁻¹k_S(x), by elimination in the plainest order.
    fn left(values: &Dense, pivots: &[usize], ridge: &[f64]) -> Vec<f64> {
        let (n, m) = (values.count, pivots.len());
        // Rows: the pivots with their ridge, then everybody.
        let mut table = vec![vec![0.0; m]; m + n];
        let mut residual = values.diagonal();
        for (c, &j) in pivots.iter().enumerate() {
            for i in 0..m + n {
                table[i][c] = values.at(if i < m { pivots[i] } else { i - m }, j);
            }
            table[c][c] += ridge[c];
            let lower = table[c].clone();
            let pivot = (table[c][c] - lower[..c].iter().map(|l| l * l).sum::<f64>()).sqrt();
            for i in c..m + n {
                let along: f64 = table[i][..c].iter().zip(&lower).map(|(a, b)| a * b).sum();
                table[i][c] = (table[i][c] - along) / pivot;
            }
        }
        residual.iter_mut().zip(&table[m..]).for_each(|(r, f)| *r -= f.iter().map(|f| f * f).sum::<f64>());
        residual
    }

    /// Sizes on both sides of tiles and groups, blocks of every kind.
    #[test]
    fn residuals_are_those_of_the_definition() {
        for (count, rank, block, ridge) in [
            (1, 1, 1, 0.0),
            (7, 5, 2, 0.0),
            (300, 40, 1, 0.0),
            (300, 90, 37, 0.0),
            (520, 70, 70, 0.5),
            (257, 64, 8, 0.1),
        ] {
            let values = Dense::random(count, count + 20, 8);
            let pivots: Vec<usize> = (0..rank).map(|i| i * 3 % count).collect();
            let ridge: Vec<f64> = (0..rank).map(|i| ridge * (1 + i % 3) as f64).collect();
            let candidates = Candidates::new(&values, &vec![1.0; count]);
            let mut factor = Factor::new(&candidates);
            for (pivots, ridge) in pivots.chunks(block).zip(ridge.chunks(block)) {
                assert_eq!(factor.propose(pivots, ridge, |_, _| true), pivots);
            }
            for (found, expected) in factor.residual.iter().zip(left(&values, &pivots, &ridge)) {
                assert!((found - expected).abs() < 1e-10 * count as f64, "{count} {rank} {block}");
            }
        }
    }

    /// 1.1 − 1.09²/1.1 = 0.02 is less than the ridge, so that these are no values of a kernel.
    #[test]
    fn pivots_below_their_ridge_are_left_out() {
        let values = Dense::new(2, |i, j| if i == j { 1.0 } else { 1.09 });
        let candidates = Candidates::new(&values, &[1.0; 2]);
        assert_eq!(Factor::new(&candidates).propose(&[0, 1], &[0.1; 2], |_, _| true), [0]);
        assert_eq!(Factor::new(&candidates).propose(&[0, 1], &[4.0; 2], |_, _| true), [0, 1]);
    }

    /// In three dimensions the fourth pivot is the ridge alone.
    #[test]
    fn a_small_ridge_carries_the_factor() {
        let values = Dense::random(60, 3, 8);
        let candidates = Candidates::new(&values, &[1.0; 60]);
        let mut factor = Factor::new(&candidates);
        let everybody: Vec<usize> = (0..60).collect();
        assert_eq!(factor.propose(&everybody, &[1e-12; 60], |_, _| true), everybody);
        assert!(factor.residual.iter().all(|r| r.abs() < 1e-9));
    }

    #[test]
    fn a_repeated_proposal_has_nothing_left() {
        let values = Dense::random(9, 12, 8);
        let candidates = Candidates::new(&values, &[1.0; 9]);
        let mut factor = Factor::new(&candidates);
        assert_eq!(factor.propose(&[4, 2, 4, 4, 2, 5], &[0.0; 6], |now, _| now > 0.0), [4, 2, 5]);
    }
}

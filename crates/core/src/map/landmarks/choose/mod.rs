//! Which candidates become landmarks, from kernel values only.
//!
//! ```text
//! uniform          the first m candidates, which come in random order                       no kernel values
//! k-means++        next ∝ w(x)·min over taken c of ‖φ(x) − φ(c)‖²                            n·m values
//! leverage         m at once ∝ w(x)·φ(x)ᵀ(Σ w φφᵀ + λ)⁻¹φ(x), estimated by halving           2n·m values, n·m² multiply-adds
//! Cholesky         next ∝ w(x)·r(x),  r(x) = ‖φ(x) − its projection on what is taken‖²       n·m values, n·m²/2 multiply-adds
//! ```
//! φ is the kernel's own feature map, never formed: all of it is said by k(x, y) = ⟨φ(x), φ(y)⟩, so that every kernel is served,
//! also one on objects that are no rows of numbers. What landmarks are worth is what they leave out, Σ w·r: uniform ones
//! miss whatever is rare, the others look for it. A weight w counts a candidate as w copies.
//!
//! A choice is a function of the candidates' order, the weights and the seed. Values that are not finite are read as 0 (the pair
//! has nothing in common), and candidates whose own value or weight is not finite and positive are never taken.

mod cholesky;
mod factor;
mod leverage;
mod lots;
mod plus_plus;
#[cfg(test)]
mod tests;

use crate::Result;
use crate::engine::Check;

/// Kernel values among some candidates.
pub(crate) trait Values: Sync {
    /// The number of candidates.
    fn count(&self) -> usize;

    /// k(x, x) of every candidate.
    fn diagonal(&self) -> Vec<f64>;

    /// k(xᵢ, xⱼ) for all candidates i and the chosen j: column c at `out[c·count..]`, one for each of `chosen`.
    fn columns(&self, chosen: &[usize], out: &mut [f64]);

    /// k(xᵢ, xⱼ) for some candidates i and the chosen j: column c at `out[c·rows.len()..]`.
    ///
    /// As given, takes whole columns and keeps a part; one that makes that part alone saves kernel values.
    fn block(&self, rows: &[usize], chosen: &[usize], out: &mut [f64]) {
        let count = self.count();
        let mut columns = vec![0.0; count * chosen.len()];
        self.columns(chosen, &mut columns);
        for (column, out) in columns.chunks_exact(count.max(1)).zip(out.chunks_exact_mut(rows.len().max(1))) {
            out.iter_mut().zip(rows).for_each(|(out, &i)| *out = column[i]);
        }
    }
}

/// How landmarks are chosen among candidates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Choice {
    /// The first ones; candidates count alike, whatever their weights.
    Uniform,
    /// Far from those already taken.
    KMeansPlusPlus,
    /// In proportion to their ridge leverage scores.
    Leverage {
        /// How many candidates stand for all others while scores are estimated; as many as landmarks if not given. Fewer are
        /// quicker, by the square, and see less of what is rare.
        sample: Option<usize>,
    },
    /// In proportion to what those already taken leave of them (randomly pivoted Cholesky).
    Cholesky {
        /// Candidates of which less than this part of the largest k(x, x) is left are not taken.
        tolerance: f64,
    },
}

impl Choice {
    /// Distinct candidates in the order taken, `count` of them unless fewer are left that add anything.
    pub(super) fn choose(
        self,
        values: &dyn Values,
        weights: &[f64],
        count: usize,
        seed: u64,
        check: Check<'_>,
    ) -> Result<Vec<usize>> {
        let candidates = Candidates::new(values, weights);
        let count = count.min(candidates.count());
        let chosen = match self {
            Choice::Uniform => (0..count).collect(),
            Choice::KMeansPlusPlus => plus_plus::choose(&candidates, count, seed, check)?,
            Choice::Leverage { sample } => {
                leverage::choose(&candidates, count, sample.unwrap_or(count), seed, check)?
            }
            Choice::Cholesky { tolerance } => cholesky::choose(&candidates, count, tolerance, seed, check)?,
        };
        Ok(candidates.rows(&chosen))
    }
}

/// Candidates that can be taken, with the weights they count with.
struct Candidates<'a> {
    values: &'a dyn Values,
    /// Where each stands in `values`.
    rows: Vec<usize>,
    diagonal: Vec<f64>,
    weights: Vec<f64>,
}

impl<'a> Candidates<'a> {
    fn new(values: &'a dyn Values, weights: &[f64]) -> Self {
        let mut candidates = Candidates { values, rows: vec![], diagonal: vec![], weights: vec![] };
        let own = values.diagonal();
        for (row, (&value, &weight)) in own.iter().zip(weights).enumerate().take(values.count()) {
            if value.is_finite() && value > 0.0 && weight.is_finite() && weight > 0.0 {
                candidates.rows.push(row);
                candidates.diagonal.push(value);
                candidates.weights.push(weight);
            }
        }
        candidates
    }

    /// Some of them, in this order, with these weights.
    fn part(&self, positions: &[usize], weights: Vec<f64>) -> Self {
        let diagonal = positions.iter().map(|&i| self.diagonal[i]).collect();
        Candidates { values: self.values, rows: self.rows(positions), diagonal, weights }
    }

    fn count(&self) -> usize {
        self.rows.len()
    }

    fn rows(&self, positions: &[usize]) -> Vec<usize> {
        positions.iter().map(|&i| self.rows[i]).collect()
    }

    /// k(xᵢ, xⱼ) for all i and the chosen j, column by column.
    fn columns(&self, chosen: &[usize], out: &mut [f64]) {
        let chosen = self.rows(chosen);
        if self.count() == self.values.count() && self.rows.is_sorted() {
            self.values.columns(&chosen, out);
        } else {
            self.values.block(&self.rows, &chosen, out);
        }
        silence(out);
    }

    /// k(xᵢ, xⱼ) for i and j among the chosen.
    fn corner(&self, chosen: &[usize], out: &mut [f64]) {
        let chosen = self.rows(chosen);
        self.values.block(&chosen, &chosen, out);
        silence(out);
    }
}

/// One value that is not finite would reach every other through the factor.
fn silence(values: &mut [f64]) {
    values.iter_mut().filter(|value| !value.is_finite()).for_each(|value| *value = 0.0);
}

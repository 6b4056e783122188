//! Linear support vector machines by dual coordinate descent.
//!
//! ```text
//! primal   min_w  ½‖w‖² + Σ cᵢ·ℓ(yᵢ·w·xᵢ)          ℓ(m) = max(0, 1 − m) or max(0, 1 − m)²,  cᵢ = C·weightᵢ
//! dual     max_α  Σ αᵢ − ½‖w‖² − ½ Σ αᵢ²·dᵢ        w = Σ αᵢyᵢxᵢ,  0 ≤ αᵢ ≤ uᵢ
//!          hinge: uᵢ = cᵢ, dᵢ = 0                  squared hinge: uᵢ = ∞, dᵢ = 1/(2cᵢ)
//! ```
//! One step moves one αᵢ to its best value with all others fixed, at the cost of one row; w follows. Every w has a primal value and every α a
//! dual one, and the best of both lies between: the gap is what is left to gain, and the rule to stop. Rows are visited in a random order that is
//! new in each round; those that sit at a bound with a gradient pointing outwards are passed over until the rest has converged
//! (shrinking). An intercept is one more column of ones, penalised like the others, as LIBLINEAR has it. Hsieh et al. (2008).

use bochner_simd::{Isa, RowsRef, project, project_back};
use serde::{Deserialize, Serialize};

use super::problem;
use crate::engine::Check;
use crate::random::{Draws, Stream};
use crate::{Engine, Result, Rows, Scalar};

/// What a margin costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hinge {
    /// max(0, 1 − m)
    Plain,
    /// max(0, 1 − m)²
    Squared,
}

impl Hinge {
    /// ℓ(m).
    pub(crate) fn loss(self, margin: f64) -> f64 {
        let short = (1.0 - margin).max(0.0);
        match self {
            Hinge::Plain => short,
            Hinge::Squared => short * short,
        }
    }
}

/// A linear support vector machine for two classes.
#[derive(Clone, Copy, Debug)]
pub struct LinearSvm<'a, T> {
    /// What is told apart, dense or sparse.
    pub rows: Rows<'a, T>,
    /// 1 or −1 for each row.
    pub signs: &'a [f64],
    /// cᵢ ≥ 0 for each row; rows of cost zero are not there.
    pub costs: &'a [f64],
    /// The loss.
    pub hinge: Hinge,
    /// Whether a column of ones is added.
    pub intercept: bool,
    /// Of the order of visits.
    pub seed: u64,
}

/// Where the descent ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SvmSolution {
    /// w, with the intercept last if there is one.
    pub weights: Vec<f64>,
    /// α of each row.
    pub alpha: Vec<f64>,
    /// The value of w.
    pub primal: f64,
    /// The best value of α so far: the best w is worth something between the two.
    pub dual: f64,
    /// Times that all rows were visited, or Newton steps.
    pub rounds: usize,
}

impl SvmSolution {
    /// What is left to gain, as a part of the primal value.
    pub fn gap(&self) -> f64 {
        (self.primal - self.dual) / self.primal.abs().max(f64::MIN_POSITIVE)
    }
}

impl<T: Scalar> LinearSvm<'_, T> {
    /// Descends until the relative gap is at most `tolerance`, or for `most` rounds: [`SvmSolution::gap`] says which.
    #[inline(never)]
    pub fn solve(&self, engine: &Engine, tolerance: f64, most: usize) -> Result<SvmSolution> {
        problem::check(&self.rows, self.signs, self.costs)?;
        let n = self.rows.count();
        engine.phase("descent", n as u64, |check| self.descend(engine, tolerance, most, check))
    }

    pub(crate) fn descend(
        &self,
        engine: &Engine,
        tolerance: f64,
        most: usize,
        check: Check<'_>,
    ) -> Result<SvmSolution> {
        let isa = engine.isa();
        let n = self.rows.count();
        let columns = self.rows.columns();
        let mut weights = vec![0.0; columns + usize::from(self.intercept)];
        let mut alpha = vec![0.0; n];
        let squares: Vec<f64> = (0..n).map(|i| self.square(i)).collect();
        let mut active: Vec<u32> = (0..n as u32).filter(|&i| self.costs[i as usize] > 0.0).collect();
        let all = active.clone();
        let (mut upper, mut lower) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut solution = self.evaluate(isa, weights.clone(), alpha.clone(), 0);
        for round in 1..=most {
            let mut draws = Draws::new(self.seed, Stream::Visits, round as u64);
            for k in (1..active.len()).rev() {
                active.swap(k, draws.below(k as u64 + 1) as usize);
            }
            let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
            active.retain(|&row| {
                let i = row as usize;
                let (bound, ridge) = self.box_of(i);
                let gradient = self.signs[i] * self.project(isa, i, &weights) - 1.0 + ridge * alpha[i];
                let projected = if alpha[i] <= 0.0 {
                    if gradient > upper {
                        return false;
                    }
                    gradient.min(0.0)
                } else if alpha[i] >= bound {
                    if gradient < lower {
                        return false;
                    }
                    gradient.max(0.0)
                } else {
                    gradient
                };
                (highest, lowest) = (highest.max(projected), lowest.min(projected));
                if projected != 0.0 {
                    let before = alpha[i];
                    let curvature = (squares[i] + ridge).max(f64::MIN_POSITIVE);
                    alpha[i] = (before - gradient / curvature).clamp(0.0, bound);
                    self.add(isa, i, (alpha[i] - before) * self.signs[i], &mut weights);
                }
                true
            });
            let settled = highest - lowest <= SETTLED * tolerance || active.is_empty();
            let done = round % BETWEEN_GAPS == 0 || settled || round == most;
            if done {
                solution = self.evaluate(isa, weights.clone(), alpha.clone(), round);
                if solution.gap() <= tolerance {
                    break;
                }
            }
            // What was passed over may be needed again.
            if settled && active.len() < all.len() {
                active.clone_from(&all);
                (upper, lower) = (f64::INFINITY, f64::NEG_INFINITY);
            } else {
                upper = if highest > 0.0 { highest } else { f64::INFINITY };
                lower = if lowest < 0.0 { lowest } else { f64::NEG_INFINITY };
            }
            check(round as f64 / most as f64)?;
        }
        Ok(solution)
    }

    /// (uᵢ, dᵢ).
    fn box_of(&self, i: usize) -> (f64, f64) {
        match self.hinge {
            Hinge::Plain => (self.costs[i], 0.0),
            // Finite also for costs that hardly are: zero times it has to be zero.
            Hinge::Squared => (f64::INFINITY, (0.5 / self.costs[i]).min(f64::MAX)),
        }
    }

    fn square(&self, i: usize) -> f64 {
        let square: f64 = self.rows.entries(i).map(|(_, x)| x.to_f64() * x.to_f64()).sum();
        square + f64::from(u8::from(self.intercept))
    }

    /// w·xᵢ.
    fn project(&self, isa: Isa, i: usize, weights: &[f64]) -> f64 {
        let mut sum = if self.intercept { weights[weights.len() - 1] } else { 0.0 };
        match self.rows {
            Rows::Dense(rows) => {
                let (row, width) = (row_of(rows.row(i)), rows.columns());
                project(isa, row, width, &weights[..width], std::slice::from_mut(&mut sum));
            }
            Rows::Sparse(rows) => {
                let (columns, values) = rows.row(i);
                sum += sparse_dot(columns, values, weights);
            }
        }
        sum
    }

    /// w ← w + step·xᵢ.
    fn add(&self, isa: Isa, i: usize, step: f64, weights: &mut [f64]) {
        match self.rows {
            Rows::Dense(rows) => {
                let (row, width) = (row_of(rows.row(i)), rows.columns());
                project_back(isa, row, width, &[step], &mut weights[..width]);
            }
            Rows::Sparse(rows) => {
                let (columns, values) = rows.row(i);
                columns.iter().zip(values).for_each(|(&j, x)| weights[j as usize] += step * x.to_f64());
            }
        }
        if self.intercept {
            let last = weights.len() - 1;
            weights[last] += step;
        }
    }

    fn evaluate(&self, isa: Isa, weights: Vec<f64>, alpha: Vec<f64>, rounds: usize) -> SvmSolution {
        let half_square = 0.5 * weights.iter().map(|w| w * w).sum::<f64>();
        let (mut losses, mut gain) = (0.0, 0.0);
        for i in (0..self.rows.count()).filter(|&i| self.costs[i] > 0.0) {
            losses += self.costs[i] * self.hinge.loss(self.signs[i] * self.project(isa, i, &weights));
            gain += alpha[i] - 0.5 * alpha[i] * alpha[i] * self.box_of(i).1;
        }
        SvmSolution { primal: half_square + losses, dual: gain - half_square, weights, alpha, rounds }
    }
}

/// w·x in four sums, so that one addition need not wait for the one before it.
fn sparse_dot<T: Scalar>(columns: &[u32], values: &[T], weights: &[f64]) -> f64 {
    let (fours, rest) = columns.as_chunks::<4>();
    let (values, rest_values) = values.as_chunks::<4>();
    let mut sums = [0.0; 4];
    // By index: iterators are calls where a build does not inline across units, as tests' do.
    for i in 0..fours.len().min(values.len()) {
        let (j, x) = (&fours[i], &values[i]);
        for k in 0..4 {
            sums[k] += weights[j[k] as usize] * x[k].to_f64();
        }
    }
    let rest: f64 = rest.iter().zip(rest_values).map(|(&j, x)| weights[j as usize] * x.to_f64()).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

/// One row, as the loops see it.
fn row_of<T>(data: &[T]) -> RowsRef<'_, T> {
    RowsRef { data, count: 1, stride: data.len() }
}

/// The spread of projected gradients below which a round has settled, as a multiple of the tolerance.
const SETTLED: f64 = 10.0;

/// Rounds between two looks at the gap, which cost as much as a round.
const BETWEEN_GAPS: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Csr, Matrix};
    use bochner_testkit::{Absolute, Relative, assert_close, normals};

    struct Data {
        x: Matrix<f64>,
        signs: Vec<f64>,
    }

    /// Two classes that overlap.
    fn data(n: usize, d: usize) -> Data {
        let x = Matrix::new(n, d, normals(n, d, 1)).unwrap();
        let noise = normals(n, 1, 2);
        let signs =
            (0..n).map(|i| (x.row(i)[0] - 0.5 * x.row(i)[1] + 0.7 * noise[i] + 0.3).signum()).collect();
        Data { x, signs }
    }

    fn solve(data: &Data, costs: &[f64], hinge: Hinge, intercept: bool, tolerance: f64) -> SvmSolution {
        let rows = Rows::from(&data.x);
        let svm = LinearSvm { rows, signs: &data.signs, costs, hinge, intercept, seed: 3 };
        svm.solve(&Engine::default(), tolerance, 20_000).unwrap()
    }

    /// The primal value, by definition.
    fn objective(data: &Data, costs: &[f64], hinge: Hinge, intercept: bool, w: &[f64]) -> f64 {
        let d = data.x.columns();
        let margin = |i: usize| {
            let b = if intercept { w[d] } else { 0.0 };
            data.signs[i] * (data.x.row(i).iter().zip(w).map(|(x, w)| x * w).sum::<f64>() + b)
        };
        let losses: f64 = (0..costs.len()).map(|i| costs[i] * hinge.loss(margin(i))).sum();
        0.5 * w.iter().map(|w| w * w).sum::<f64>() + losses
    }

    #[test]
    fn the_gap_closes_and_no_other_weights_are_better() {
        let data = data(150, 4);
        for hinge in [Hinge::Plain, Hinge::Squared] {
            for (c, intercept) in [(0.01, true), (1.0, true), (1.0, false), (30.0, true)] {
                let costs = vec![c; 150];
                let solution = solve(&data, &costs, hinge, intercept, 1e-9);
                assert!(solution.gap() <= 1e-9, "{hinge:?} C = {c}: {}", solution.gap());
                let value = objective(&data, &costs, hinge, intercept, &solution.weights);
                assert_close(&[value], &[solution.primal], Relative(1e-12));
                assert!(solution.dual <= solution.primal * (1.0 + 1e-12));
                for k in 0..solution.weights.len() {
                    for step in [1e-3, -1e-3] {
                        let mut other = solution.weights.clone();
                        other[k] += step;
                        assert!(objective(&data, &costs, hinge, intercept, &other) >= value);
                    }
                }
                // w = Σ αᵢyᵢxᵢ, and α in its box.
                let bound = if hinge == Hinge::Plain { c } else { f64::INFINITY };
                assert!(solution.alpha.iter().all(|a| (0.0..=bound).contains(a)));
                for j in 0..4 {
                    let sum: f64 =
                        (0..150).map(|i| solution.alpha[i] * data.signs[i] * data.x.row(i)[j]).sum();
                    assert_close(&[solution.weights[j]], &[sum], Absolute(1e-9 * c.max(1.0) * 150.0));
                }
            }
        }
    }

    #[test]
    fn weight_equals_repetition_and_no_weight_is_not_there() {
        let data = data(60, 3);
        let weights: Vec<f64> = (0..60).map(|i| f64::from(i % 3)).collect();
        let repeated: Vec<usize> = (0..60).flat_map(|i| std::iter::repeat_n(i, i % 3)).collect();
        let many = Data {
            x: Matrix::from_fn(repeated.len(), 3, |i, j| data.x.row(repeated[i])[j]),
            signs: repeated.iter().map(|&i| data.signs[i]).collect(),
        };
        for hinge in [Hinge::Plain, Hinge::Squared] {
            let a = solve(&data, &weights, hinge, true, 1e-10);
            let b = solve(&many, &vec![1.0; repeated.len()], hinge, true, 1e-10);
            assert_close(&a.weights, &b.weights, Absolute(1e-4));
            assert_close(&[a.primal], &[b.primal], Relative(1e-9));
        }
    }

    #[test]
    fn sparse_rows_give_the_same() {
        let mut data = data(80, 5);
        for i in 0..80 {
            data.x.row_mut(i)[i % 5] = 0.0;
        }
        let mut sparse = Csr::empty(5);
        for i in 0..80 {
            sparse.push_row(Rows::from(&data.x).entries(i));
        }
        let costs = vec![1.0; 80];
        let dense = solve(&data, &costs, Hinge::Squared, true, 1e-8);
        let rows = Rows::from(&sparse);
        let svm = LinearSvm {
            rows,
            signs: &data.signs,
            costs: &costs,
            hinge: Hinge::Squared,
            intercept: true,
            seed: 3,
        };
        let found = svm.solve(&Engine::default(), 1e-8, 20_000).unwrap();
        assert_close(&found.weights, &dense.weights, Absolute(1e-6));
        // What makes no sense is refused.
        assert!(LinearSvm { signs: &data.signs[1..], ..svm }.solve(&Engine::default(), 1e-3, 9).is_err());
        assert!(LinearSvm { signs: &[0.5; 80], ..svm }.solve(&Engine::default(), 1e-3, 9).is_err());
        assert!(LinearSvm { costs: &[-1.0; 80], ..svm }.solve(&Engine::default(), 1e-3, 9).is_err());
    }

    #[test]
    fn classes_that_can_be_told_apart_have_the_widest_margin() {
        // Two points: w halves the distance, f = ±1 at them.
        let data = Data { x: Matrix::new(2, 1, vec![2.0, -2.0]).unwrap(), signs: vec![1.0, -1.0] };
        let solution = solve(&data, &[1e3, 1e3], Hinge::Plain, false, 1e-12);
        assert_close(&solution.weights, &[0.5], Absolute(1e-9));
    }
}

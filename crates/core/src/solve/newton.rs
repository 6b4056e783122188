//! Linear support vector machines with squared hinge on dense features, by Newton's method.
//!
//! ```text
//! F(w) = ½‖w‖² + Σ cᵢ·max(0, 1 − mᵢ)²,      mᵢ = yᵢ·w·zᵢ
//! ∇F   = w − Σ αᵢyᵢzᵢ,   αᵢ = 2cᵢ·max(0, 1 − mᵢ)          ∇²F = I + 2 Σ_{mᵢ < 1} cᵢ·zᵢzᵢᵀ
//! ```
//! A step solves ∇²F·p = −∇F by conjugate gradients, each at the cost of one pass over the features, and goes along p as far as F falls: F is a
//! parabola between the points where a margin passes 1, so the lowest point is found from the margins alone. α is a point of the dual
//! problem (see `dual.rs`) and w − ∇F its weights, so every gradient comes with a gap, which says when to stop.
//!
//! All outputs go together: what is read of the features serves every one of them. Rows are added up in pieces of 1,024, pieces in their order, so
//! that threads do not change a bit.

use bochner_simd::{Isa, RowsRef, project, project_back};
use rayon::prelude::*;

use super::dual::{Hinge, SvmSolution};
use crate::engine::Check;
use crate::linalg::dot;
use crate::{MatrixView, Result, Scalar};

/// One problem for each output, on the same features.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Newton<'a, T> {
    /// z.
    pub(crate) features: MatrixView<'a, T>,
    /// 1 or −1: rows × outputs.
    pub(crate) signs: &'a [f64],
    /// cᵢ ≥ 0 for each row.
    pub(crate) costs: &'a [f64],
    pub(crate) outputs: usize,
    /// Whether a column of ones is added.
    pub(crate) intercept: bool,
}

/// One output on its way. Vectors have the intercept last, if there is one.
struct State {
    output: usize,
    weights: Vec<f64>,
    /// w·zᵢ.
    scores: Vec<f64>,
    gradient: Vec<f64>,
    first_gradient: f64,
    solution: SvmSolution,
}

/// One output's conjugate gradients.
struct Cg {
    /// p so far, and Z·p.
    step: Vec<f64>,
    reach: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    /// Residual times its preconditioned self.
    square: f64,
    /// The residual that is small enough.
    enough: f64,
    done: bool,
}

/// From a row's number and its products with some directions to its values, one a direction.
type Values<'a> = &'a (dyn Fn(usize, &[f64], &mut [f64]) + Sync);

/// One vector for each direction.
type Vectors = Vec<Vec<f64>>;

/// Rows summed before their sum is added to others.
const PIECE: usize = 1024;

/// Rows that stay in cache between the product and its way back.
const CHUNK: usize = 32;

/// Pieces held at once.
const WAVE: usize = 64;

/// Steps of conjugate gradients within one of Newton's.
const MOST_CG: usize = 200;

impl<T: Scalar> Newton<'_, T> {
    /// Goes on until each relative gap is at most `tolerance`, or for `most` steps.
    pub(crate) fn solve(&self, tolerance: f64, most: usize, check: Check<'_>) -> Result<Vec<SvmSolution>> {
        let (n, size) = (self.features.rows(), self.features.columns() + usize::from(self.intercept));
        let squares = self.squares(check)?;
        let mut done: Vec<Option<SvmSolution>> = vec![None; self.outputs];
        let start = |output| State {
            output,
            weights: vec![0.0; size],
            scores: vec![0.0; n],
            gradient: Vec::new(),
            first_gradient: 0.0,
            solution: SvmSolution::default(),
        };
        let mut going: Vec<State> = (0..self.outputs).map(start).collect();
        for round in 0..=most {
            self.gradients(&mut going, round, check)?;
            let finished = |state: &State| state.solution.gap() <= tolerance || round == most;
            for state in going.extract_if(.., |state| finished(state)) {
                let alpha = (0..n).map(|i| 2.0 * self.costs[i] * self.short(&state, i)).collect();
                done[state.output] = Some(SvmSolution { weights: state.weights, alpha, ..state.solution });
            }
            if going.is_empty() {
                break;
            }
            let steps = self.steps(&going, &squares, check)?;
            for (state, cg) in going.iter_mut().zip(steps) {
                let length = self.line_search(state, &cg);
                state.weights.iter_mut().zip(&cg.step).for_each(|(w, p)| *w += length * p);
                state.scores.iter_mut().zip(&cg.reach).for_each(|(s, q)| *s += length * q);
            }
            check(1.0 - going.len() as f64 / self.outputs as f64)?;
        }
        Ok(done.into_iter().flatten().collect())
    }

    fn sign(&self, i: usize, output: usize) -> f64 {
        self.signs[i * self.outputs + output]
    }

    /// 1 − m, where it is positive.
    fn short(&self, state: &State, i: usize) -> f64 {
        (1.0 - self.sign(i, state.output) * state.scores[i]).max(0.0)
    }

    /// ∇F of each output, and its place between primal and dual value.
    fn gradients(&self, states: &mut [State], round: usize, check: Check<'_>) -> Result<()> {
        let pulls = |i: usize, _: &[f64], out: &mut [f64]| {
            for (out, state) in out.iter_mut().zip(states.iter()) {
                *out = 2.0 * self.costs[i] * self.short(state, i) * self.sign(i, state.output);
            }
        };
        // w − ∇F, which are the weights of α.
        let (_, dual_weights) = self.pass(states.len(), None, &pulls, check)?;
        for (state, v) in states.iter_mut().zip(dual_weights) {
            state.gradient = state.weights.iter().zip(&v).map(|(w, v)| w - v).collect();
            let (mut losses, mut gain) = (0.0, 0.0);
            for i in 0..state.scores.len() {
                let short = self.short(state, i);
                let alpha = 2.0 * self.costs[i] * short;
                losses += self.costs[i] * Hinge::Squared.loss(1.0 - short);
                gain += alpha - 0.5 * alpha * short;
            }
            let primal = 0.5 * dot(&state.weights, &state.weights) + losses;
            let dual = (gain - 0.5 * dot(&v, &v)).max(state.solution.dual);
            state.solution = SvmSolution { primal, dual, rounds: round, ..SvmSolution::default() };
            if round == 0 {
                state.first_gradient = dot(&state.gradient, &state.gradient).sqrt();
            }
        }
        Ok(())
    }

    /// p of each output, all at once.
    fn steps(&self, states: &[State], squares: &[f64], check: Check<'_>) -> Result<Vec<Cg>> {
        let preconditioners: Vec<Vec<f64>> = states.iter().map(|s| self.preconditioner(s, squares)).collect();
        let mut all: Vec<Cg> =
            states.iter().zip(&preconditioners).map(|(state, m)| Cg::start(state, m)).collect();
        for _ in 0..MOST_CG {
            let going: Vec<usize> = (0..all.len()).filter(|&k| !all[k].done).collect();
            if going.is_empty() {
                break;
            }
            let directions: Vec<&[f64]> = going.iter().map(|&k| &all[k].direction[..]).collect();
            let bend = |i: usize, reach: &[f64], out: &mut [f64]| {
                for ((out, reach), &k) in out.iter_mut().zip(reach).zip(&going) {
                    let counts = self.short(&states[k], i) > 0.0;
                    *out = if counts { 2.0 * self.costs[i] * reach } else { 0.0 };
                }
            };
            let (reach, bent) = self.pass(going.len(), Some(&directions), &bend, check)?;
            let updates: Vec<(usize, Vec<f64>, Vec<f64>)> =
                going.iter().zip(reach).zip(bent).map(|((&k, r), b)| (k, r, b)).collect();
            for (k, reach, bent) in updates {
                all[k].advance(&reach, &bent, &preconditioners[k]);
            }
        }
        Ok(all)
    }

    /// The diagonal of ∇²F, as if the rows that count were like the others.
    fn preconditioner(&self, state: &State, squares: &[f64]) -> Vec<f64> {
        let (mut counted, mut total) = (0.0, 0.0);
        for (i, cost) in self.costs.iter().enumerate() {
            total += cost;
            counted += if self.short(state, i) > 0.0 { *cost } else { 0.0 };
        }
        let share: f64 = if total > 0.0 { counted / total } else { 0.0 };
        squares.iter().map(|square| 1.0 / (1.0 + 2.0 * share * square)).collect()
    }

    /// The t > 0 at which F(w + tp) is lowest: the root of an increasing function that is straight between kinks.
    fn line_search(&self, state: &State, cg: &Cg) -> f64 {
        let (wp, pp) = (dot(&state.weights, &cg.step), dot(&cg.step, &cg.step));
        // F′ and F″ along p.
        let slope = |t: f64| {
            let (mut first, mut second) = (wp + t * pp, pp);
            for (i, (&score, &reach)) in state.scores.iter().zip(&cg.reach).enumerate() {
                let sign = self.sign(i, state.output);
                let short = 1.0 - sign * (score + t * reach);
                if short > 0.0 {
                    first -= 2.0 * self.costs[i] * short * sign * reach;
                    second += 2.0 * self.costs[i] * reach * reach;
                }
            }
            (first, second)
        };
        let (mut low, mut high, mut t) = (0.0, f64::INFINITY, 1.0);
        for _ in 0..40 {
            let (first, second) = slope(t);
            if first < 0.0 {
                low = t
            } else {
                high = t
            }
            let mut next = t - first / second.max(f64::MIN_POSITIVE);
            if !(next > low && next < high) {
                next = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * t };
            }
            if (next - t).abs() <= 1e-6 * t {
                return next;
            }
            t = next;
        }
        t
    }

    /// Σ cᵢzᵢⱼ² for each column.
    fn squares(&self, check: Check<'_>) -> Result<Vec<f64>> {
        let columns = self.features.columns();
        let pieces = self.features.rows().div_ceil(PIECE);
        let mut total = vec![0.0; columns];
        for wave in (0..pieces).step_by(WAVE) {
            let sums: Vec<Vec<f64>> = (wave..pieces.min(wave + WAVE))
                .into_par_iter()
                .map(|piece| {
                    let mut sums = vec![0.0; columns];
                    for i in self.piece(piece) {
                        let cost = self.costs[i];
                        let row = self.features.row(i);
                        sums.iter_mut().zip(row).for_each(|(s, z)| *s += cost * z.to_f64() * z.to_f64());
                    }
                    sums
                })
                .collect();
            sums.iter().for_each(|sums| total.iter_mut().zip(sums).for_each(|(t, s)| *t += s));
            check(0.0)?;
        }
        if self.intercept {
            total.push(self.costs.iter().sum());
        }
        Ok(total)
    }

    fn piece(&self, piece: usize) -> std::ops::Range<usize> {
        piece * PIECE..self.features.rows().min((piece + 1) * PIECE)
    }

    /// One pass over the features: `reach` = z·direction for each row and direction (zero without directions), then Σ value·z, the values being
    /// what `values(row, reach, out)` makes of it. Both come one vector a direction.
    fn pass(
        &self,
        count: usize,
        directions: Option<&[&[f64]]>,
        values: Values<'_>,
        check: Check<'_>,
    ) -> Result<(Vectors, Vectors)> {
        let columns = self.features.columns();
        let coefficients: Vec<f64> =
            directions.unwrap_or_default().iter().flat_map(|d| d[..columns].iter().copied()).collect();
        let constant = |k: usize| match directions {
            Some(directions) if self.intercept => directions[k][columns],
            _ => 0.0,
        };
        let constants: Vec<f64> = (0..count).map(constant).collect();
        let pieces = self.features.rows().div_ceil(PIECE);
        let mut reach = vec![Vec::with_capacity(self.features.rows()); count];
        let mut total = vec![vec![0.0; columns + usize::from(self.intercept)]; count];
        for wave in (0..pieces).step_by(WAVE) {
            let found: Vec<(Vec<f64>, Vec<f64>, Vec<f64>)> = (wave..pieces.min(wave + WAVE))
                .into_par_iter()
                .map(|piece| self.pass_piece(self.piece(piece), &coefficients, &constants, values))
                .collect();
            for (rows, sums, constant_sums) in found {
                for k in 0..count {
                    reach[k].extend(rows.iter().skip(k).step_by(count));
                    let sums = &sums[k * columns..(k + 1) * columns];
                    total[k].iter_mut().zip(sums).for_each(|(t, s)| *t += s);
                    if self.intercept {
                        total[k][columns] += constant_sums[k];
                    }
                }
            }
            check(0.0)?;
        }
        Ok((reach, total))
    }

    fn pass_piece(
        &self,
        rows: std::ops::Range<usize>,
        coefficients: &[f64],
        constants: &[f64],
        values: Values<'_>,
    ) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let (count, columns, isa) = (constants.len(), self.features.columns(), Isa::best());
        let mut reach: Vec<f64> = rows.clone().flat_map(|_| constants.iter().copied()).collect();
        let mut sums = vec![0.0; count * columns];
        let mut constant_sums = vec![0.0; count];
        let mut out = vec![0.0; CHUNK * count];
        for (chunk, reach) in reach.chunks_mut(CHUNK * count).enumerate() {
            let first = rows.start + chunk * CHUNK;
            let here = self.features.slice(first..rows.end.min(first + CHUNK));
            let z = RowsRef { data: here.as_slice(), count: here.rows(), stride: here.stride() };
            if !coefficients.is_empty() {
                project(isa, z, columns, coefficients, reach);
            }
            let out = &mut out[..reach.len()];
            for (i, (reach, out)) in reach.chunks_exact(count).zip(out.chunks_exact_mut(count)).enumerate() {
                values(first + i, reach, out);
                constant_sums.iter_mut().zip(out).for_each(|(sum, value)| *sum += *value);
            }
            project_back(isa, z, columns, out, &mut sums);
        }
        (reach, sums, constant_sums)
    }
}

impl Cg {
    fn start(state: &State, preconditioner: &[f64]) -> Cg {
        let residual: Vec<f64> = state.gradient.iter().map(|g| -g).collect();
        let direction: Vec<f64> = residual.iter().zip(preconditioner).map(|(r, m)| r * m).collect();
        let norm = dot(&residual, &residual).sqrt();
        // The nearer to the end, the better the step: what makes Newton's method quick there.
        let forcing = (norm / state.first_gradient.max(f64::MIN_POSITIVE)).sqrt().min(0.1);
        Cg {
            step: vec![0.0; residual.len()],
            reach: vec![0.0; state.scores.len()],
            square: dot(&residual, &direction),
            enough: forcing * norm,
            done: norm <= 0.0,
            residual,
            direction,
        }
    }

    /// One step along the direction, given Z·direction and ∇²F·direction without its identity.
    fn advance(&mut self, reach: &[f64], bent: &[f64], preconditioner: &[f64]) {
        let curvature = dot(&self.direction, &self.direction) + dot(&self.direction, bent);
        let length = self.square / curvature.max(f64::MIN_POSITIVE);
        for j in 0..self.step.len() {
            self.step[j] += length * self.direction[j];
            self.residual[j] -= length * (self.direction[j] + bent[j]);
        }
        self.reach.iter_mut().zip(reach).for_each(|(to, r)| *to += length * r);
        if dot(&self.residual, &self.residual).sqrt() <= self.enough {
            self.done = true;
            return;
        }
        let scaled: Vec<f64> = self.residual.iter().zip(preconditioner).map(|(r, m)| r * m).collect();
        let square = dot(&self.residual, &scaled);
        let keep = square / self.square;
        self.direction.iter_mut().zip(&scaled).for_each(|(d, s)| *d = s + keep * *d);
        self.square = square;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::LinearSvm;
    use crate::{Engine, EngineSpec, Matrix, Rows};
    use bochner_testkit::{Absolute, assert_close, assert_same_bits, normals};

    /// Rows of four classes that overlap, columns of very different sizes, and the signs of each class against the others.
    fn data(n: usize) -> (Matrix<f32>, Vec<f64>) {
        let x = normals(n, 5, 1);
        let scale = [1.0, 10.0, 0.1, 1.0, 3.0];
        let rows = Matrix::from_fn(n, 5, |i, j| (x[i * 5 + j] * scale[j]) as f32);
        let noise = normals(n, 1, 2);
        let class =
            |i: usize| ((x[i * 5] + 0.4 * noise[i] > 0.0) as usize) + 2 * (x[i * 5 + 1] > 0.3) as usize;
        let signs =
            (0..n).flat_map(|i| (0..4).map(move |o| if class(i) == o { 1.0 } else { -1.0 })).collect();
        (rows, signs)
    }

    fn solve(x: &Matrix<f32>, signs: &[f64], costs: &[f64], threads: usize) -> Vec<SvmSolution> {
        let newton = Newton { features: x.view(), signs, costs, outputs: 4, intercept: true };
        let engine = EngineSpec { threads, ..EngineSpec::default() }.build();
        engine.install(|| newton.solve(1e-10, 100, &|_| Ok(()))).unwrap()
    }

    /// Two methods that share nothing but the problem.
    #[test]
    fn every_output_is_what_coordinate_descent_finds() {
        let (x, signs) = data(300);
        for c in [1e-3, 0.1, 3.0] {
            let costs: Vec<f64> = (0..300).map(|i| c * f64::from(i % 3)).collect();
            let found = solve(&x, &signs, &costs, 2);
            for (o, found) in found.iter().enumerate() {
                let signs: Vec<f64> = signs.iter().skip(o).step_by(4).copied().collect();
                let (rows, hinge) = (Rows::from(&x), Hinge::Squared);
                let svm = LinearSvm { rows, signs: &signs, costs: &costs, hinge, intercept: true, seed: 1 };
                let other = svm.solve(&Engine::default(), 1e-10, 100_000).unwrap();
                assert!(found.gap() <= 1e-10 && found.dual <= found.primal, "{}", found.gap());
                // ½‖w − w*‖² is at most what w is worth above the best, on either side.
                let above = |s: &SvmSolution| (2.0 * s.gap() * s.primal + 1e-12).sqrt();
                assert_close(&found.weights, &other.weights, Absolute(above(found) + above(&other)));
                assert!(
                    found.primal >= other.dual * (1.0 - 1e-12) && other.primal >= found.dual * (1.0 - 1e-12)
                );
                assert!(other.gap() < 1e-6);
            }
        }
    }

    #[test]
    fn threads_change_no_bit() {
        let (x, signs) = data(3 * PIECE + 1);
        let costs = vec![0.5; x.rows()];
        let one = solve(&x, &signs, &costs, 1);
        for threads in [2, 7] {
            for (a, b) in one.iter().zip(solve(&x, &signs, &costs, threads)) {
                assert_same_bits(&a.weights, &b.weights);
            }
        }
    }

    #[test]
    fn nothing_to_learn_is_zero() {
        let (x, signs) = data(20);
        let none = solve(&x, &signs, &[0.0; 20], 1);
        assert!(none.iter().all(|s| s.weights.iter().all(|w| *w == 0.0) && s.gap() <= 0.0));
    }
}

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
//! All outputs go together: what is read of the features serves every one of them. Only rows that count, mᵢ < 1 for some output, are read; after the
//! first steps they are few. Conjugate gradients are led by P = I + 2s·Σ cᵢ·zᵢzᵢᵀ over these rows, s being the share of them that counts for an
//! output on average: one Gram matrix and one factor for all outputs. Rows are added up in pieces of 1,024, pieces in their order, so that threads do
//! not change a bit.

mod cg;
mod guide;

use bochner_simd::{Isa, RowsRef, project, project_back};
use rayon::prelude::*;

use self::cg::Cg;
use self::guide::{Curvature, Guide};
use super::dual::{Hinge, SvmSolution};
use crate::engine::Check;
use crate::linalg::dot;
use crate::stat::Gram;
use crate::sweep::BLOCK;
use crate::{Matrix, MatrixView, Result, Scalar};

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

/// The most features for which P is factored; for more, its diagonal has to do.
pub(crate) const MOST_FACTORED: usize = 4096;

/// Rows that the Gram matrix is made of, as a multiple of the features.
const GRAM_ROWS: usize = 4;

impl<T: Scalar> Newton<'_, T> {
    /// Goes on until each relative gap is at most `tolerance`, or for `most` steps.
    pub(crate) fn solve(&self, tolerance: f64, most: usize, check: Check<'_>) -> Result<Vec<SvmSolution>> {
        let (n, size) = (self.features.rows(), self.features.columns() + usize::from(self.intercept));
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
            let rows = self.counting(&going);
            self.gradients(&mut going, &rows, round, check)?;
            let finished = |state: &State| state.solution.gap() <= tolerance || round == most;
            for state in going.extract_if(.., |state| finished(state)) {
                let alpha = (0..n).map(|i| 2.0 * self.costs[i] * self.short(&state, i)).collect();
                done[state.output] = Some(SvmSolution { weights: state.weights, alpha, ..state.solution });
            }
            if going.is_empty() {
                break;
            }
            let guide = self.curvature(&rows, check)?.guide(self.share(&going, &rows), check)?;
            let steps = self.steps(&going, &rows, &guide, check)?;
            let directions: Vec<&[f64]> = steps.iter().map(|step| &step[..]).collect();
            let all: Vec<u32> = (0..n as u32).collect();
            let reach = self.pass(&all, &directions, None, check)?.0;
            for ((state, step), reach) in going.iter_mut().zip(&steps).zip(reach) {
                let length = self.line_search(state, step, &reach);
                state.weights.iter_mut().zip(step).for_each(|(w, p)| *w += length * p);
                state.scores.iter_mut().zip(&reach).for_each(|(s, q)| *s += length * q);
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

    /// Rows with a margin below 1 for some output.
    fn counting(&self, states: &[State]) -> Vec<u32> {
        let counts = |i: usize| self.costs[i] > 0.0 && states.iter().any(|s| self.short(s, i) > 0.0);
        (0..self.costs.len()).into_par_iter().filter(|&i| counts(i)).map(|i| i as u32).collect()
    }

    /// ∇F of each output, and its place between primal and dual value.
    fn gradients(&self, states: &mut [State], rows: &[u32], round: usize, check: Check<'_>) -> Result<()> {
        let pulls = |i: usize, _: &[f64], out: &mut [f64]| {
            for (out, state) in out.iter_mut().zip(states.iter()) {
                *out = 2.0 * self.costs[i] * self.short(state, i) * self.sign(i, state.output);
            }
        };
        // w − ∇F, which are the weights of α.
        let none = vec![&[][..]; states.len()];
        let (_, dual_weights) = self.pass(rows, &none, Some(&pulls), check)?;
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
    fn steps(&self, states: &[State], rows: &[u32], guide: &Guide, check: Check<'_>) -> Result<Vectors> {
        let mut all: Vec<Cg> = states.iter().map(|s| Cg::start(&s.gradient, s.first_gradient)).collect();
        for _ in 0..MOST_CG {
            let going: Vec<usize> = (0..all.len()).filter(|&k| !all[k].is_done()).collect();
            if going.is_empty() {
                break;
            }
            let residuals: Vec<&[f64]> = going.iter().map(|&k| all[k].residual()).collect();
            for (&k, led) in going.iter().zip(guide.lead(&residuals)) {
                all[k].turn(&led);
            }
            let directions: Vec<&[f64]> = going.iter().map(|&k| all[k].direction()).collect();
            let bend = |i: usize, reach: &[f64], out: &mut [f64]| {
                for ((out, reach), &k) in out.iter_mut().zip(reach).zip(&going) {
                    let counts = self.short(&states[k], i) > 0.0;
                    *out = if counts { 2.0 * self.costs[i] * reach } else { 0.0 };
                }
            };
            let (_, bent) = self.pass(rows, &directions, Some(&bend), check)?;
            for (&k, bent) in going.iter().zip(bent) {
                all[k].advance(&bent);
            }
        }
        Ok(all.into_iter().map(Cg::into_step).collect())
    }

    /// s, over all outputs that are on their way.
    fn share(&self, states: &[State], rows: &[u32]) -> f64 {
        let cost = |i: &u32| self.costs[*i as usize];
        let total: f64 = rows.iter().map(cost).sum::<f64>() * states.len() as f64;
        let counted = |state: &State| -> f64 {
            rows.iter().filter(|i| self.short(state, **i as usize) > 0.0).map(cost).sum()
        };
        if total > 0.0 { states.iter().map(counted).sum::<f64>() / total } else { 0.0 }
    }

    /// The t > 0 at which F(w + tp) is lowest: the root of an increasing function that is straight between kinks.
    fn line_search(&self, state: &State, step: &[f64], reach: &[f64]) -> f64 {
        let (wp, pp) = (dot(&state.weights, step), dot(step, step));
        // F′ and F″ along p.
        let slope = |t: f64| {
            let (mut first, mut second) = (wp + t * pp, pp);
            for (i, (&score, &reach)) in state.scores.iter().zip(reach).enumerate() {
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

    /// 2 Σ cᵢ·zᵢzᵢᵀ over some rows, the ones of the intercept being the last column.
    fn curvature(&self, rows: &[u32], check: Check<'_>) -> Result<Curvature> {
        let columns = self.features.columns();
        let mean = rows.iter().map(|&i| self.costs[i as usize]).sum::<f64>() / rows.len().max(1) as f64;
        if columns > MOST_FACTORED || !(mean > 0.0 && mean.is_finite()) {
            return self.diagonal(rows, check).map(Curvature::Diagonal);
        }
        let step = (rows.len() / (GRAM_ROWS * columns.max(1))).max(1);
        let some: Vec<u32> = rows.iter().copied().step_by(step).collect();
        let mut gram = Gram::zero(columns, 0, 1);
        let (mut packed, mut gathered) = (bochner_simd::Aligned::default(), Vec::new());
        for block in some.chunks(BLOCK) {
            let none = MatrixView::new(&[], block.len(), 0)?;
            // Relative costs, so that they do not overflow beside features in single precision.
            let weight = |i: usize| self.costs[block[i] as usize] / mean;
            gram.absorb(self.gathered(block, &mut gathered), none, weight, |_| 0, &mut packed);
            check(0.0)?;
        }
        let sums = gram.total();
        let (unit, size) = (2.0 * mean * step as f64, columns + usize::from(self.intercept));
        let entry = |i: usize, j: usize| match (i < columns, j < columns) {
            (true, true) => sums.products.row(i)[j],
            (true, false) => sums.features[i],
            (false, true) => sums.features[j],
            (false, false) => sums.weight,
        };
        Ok(Curvature::Whole(Matrix::from_fn(size, size, |i, j| unit * entry(i, j))))
    }

    /// The diagonal of the same.
    fn diagonal(&self, rows: &[u32], check: Check<'_>) -> Result<Vec<f64>> {
        let columns = self.features.columns();
        let mut total = vec![0.0; columns];
        for wave in rows.chunks(WAVE * PIECE) {
            let square = |piece: &[u32]| {
                let mut sums = vec![0.0; columns];
                for &i in piece {
                    let (cost, row) = (2.0 * self.costs[i as usize], self.features.row(i as usize));
                    sums.iter_mut().zip(row).for_each(|(s, z)| *s += cost * z.to_f64() * z.to_f64());
                }
                sums
            };
            let sums: Vectors = wave.par_chunks(PIECE).map(square).collect();
            sums.iter().for_each(|sums| total.iter_mut().zip(sums).for_each(|(t, s)| *t += s));
            check(0.0)?;
        }
        if self.intercept {
            total.push(rows.iter().map(|&i| 2.0 * self.costs[i as usize]).sum());
        }
        Ok(total)
    }

    /// Some rows side by side: where they lie if they are neighbours, copied if not.
    fn gathered<'b>(&'b self, rows: &[u32], memory: &'b mut Vec<T>) -> MatrixView<'b, T> {
        let first = rows.first().map_or(0, |&i| i as usize);
        if rows.last().is_none_or(|&last| last as usize + 1 == first + rows.len()) {
            return self.features.slice(first..first + rows.len());
        }
        memory.clear();
        rows.iter().for_each(|&i| memory.extend_from_slice(self.features.row(i as usize)));
        // As many numbers as were put there.
        MatrixView::new(memory, rows.len(), self.features.columns()).unwrap_or(self.features.slice(0..0))
    }

    /// One pass over some rows: z·direction for each row and direction (zero for directions without entries); and with `values`, the sum of
    /// value·z. Both come one vector a direction.
    fn pass(
        &self,
        rows: &[u32],
        directions: &[&[f64]],
        values: Option<Values<'_>>,
        check: Check<'_>,
    ) -> Result<(Vectors, Vectors)> {
        let (columns, count) = (self.features.columns(), directions.len());
        let coefficients: Vec<f64> =
            directions.iter().flat_map(|d| d.iter().take(columns).copied()).collect();
        let constants: Vec<f64> = directions.iter().map(|d| d.get(columns).copied().unwrap_or(0.0)).collect();
        let mut reach = vec![Vec::with_capacity(rows.len()); count];
        let mut total = vec![vec![0.0; columns + usize::from(self.intercept)]; count];
        for wave in rows.chunks(WAVE * PIECE) {
            let found: Vec<Piece> = wave
                .par_chunks(PIECE)
                .map(|piece| self.pass_piece(piece, &coefficients, &constants, values))
                .collect();
            for piece in found {
                for k in 0..count {
                    reach[k].extend(piece.reach.iter().skip(k).step_by(count));
                    let sums = piece.sums.get(k * columns..(k + 1) * columns).unwrap_or_default();
                    total[k].iter_mut().zip(sums).for_each(|(t, s)| *t += s);
                    if self.intercept {
                        total[k][columns] += piece.constants[k];
                    }
                }
            }
            check(0.0)?;
        }
        Ok((reach, total))
    }

    fn pass_piece(
        &self,
        rows: &[u32],
        coefficients: &[f64],
        constants: &[f64],
        values: Option<Values<'_>>,
    ) -> Piece {
        let (count, columns, isa) = (constants.len(), self.features.columns(), Isa::best());
        let mut piece = Piece {
            reach: rows.iter().flat_map(|_| constants.iter().copied()).collect(),
            sums: vec![0.0; if values.is_some() { count * columns } else { 0 }],
            constants: vec![0.0; count],
        };
        let (mut out, mut gathered) = (vec![0.0; CHUNK * count], Vec::new());
        for (chunk, reach) in rows.chunks(CHUNK).zip(piece.reach.chunks_mut(CHUNK * count)) {
            let here = self.gathered(chunk, &mut gathered);
            let z = RowsRef { data: here.as_slice(), count: here.rows(), stride: here.stride() };
            if !coefficients.is_empty() {
                project(isa, z, columns, coefficients, reach);
            }
            let Some(values) = values else { continue };
            let out = &mut out[..reach.len()];
            for ((&i, reach), out) in
                chunk.iter().zip(reach.chunks_exact(count)).zip(out.chunks_exact_mut(count))
            {
                values(i as usize, reach, out);
                piece.constants.iter_mut().zip(out).for_each(|(sum, value)| *sum += *value);
            }
            project_back(isa, z, columns, out, &mut piece.sums);
        }
        piece
    }
}

/// What a pass finds in some rows.
struct Piece {
    /// Rows × directions.
    reach: Vec<f64>,
    /// Directions × columns, and the sum of values.
    sums: Vec<f64>,
    constants: Vec<f64>,
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
        for c in [1e-3, 0.03, 0.3] {
            let costs: Vec<f64> = (0..300).map(|i| c * f64::from(i % 3)).collect();
            let found = solve(&x, &signs, &costs, 2);
            for (o, found) in found.iter().enumerate() {
                let signs: Vec<f64> = signs.iter().skip(o).step_by(4).copied().collect();
                let (rows, hinge) = (Rows::from(&x), Hinge::Squared);
                let svm = LinearSvm { rows, signs: &signs, costs: &costs, hinge, intercept: true, seed: 1 };
                let other = svm.solve(&Engine::default(), 1e-10, 100_000).unwrap();
                assert!(found.gap() <= 1e-10 && found.gap() > -1e-12, "{}", found.gap());
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

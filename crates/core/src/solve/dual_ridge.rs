//! Ridge regression with the kernel itself.
//!
//! ```text
//! minimise (1/Σw) Σ wᵢ(yᵢ − f(xᵢ) − b)² + λ‖f‖²,     f = Σ αᵢk(xᵢ, ·),   ŵ = w/Σw,   V = diag √ŵ
//! (V(K̃ + c)V + λI)β = V(y − ȳ),   α = Vβ,   b = ȳ − μ·α
//! K̃ᵢⱼ = Kᵢⱼ − μᵢ − μⱼ + Σŵμ,   μ = Kŵ
//! ```
//! Where the derivatives vanish, ŵᵢ(yᵢ − f(xᵢ) − b) = λαᵢ, and Σα = 0 where there is a b. That is a condition on β, whose side V1 is a unit vector u: β ⟂ u. Projecting on
//! what is left takes u out of VKV, which is what centring K does; V(y − ȳ) has no part along u either, so that any multiple c of uuᵀ may be added: it keeps the matrix as far
//! from singular as the kernel does, where λ alone would have to. Here c is the trace of VK̃V. Without an intercept μ, ȳ and c are zero.
//!
//! One matrix in √w instead of K + λΣw·W⁻¹: symmetric, its entries of the size of the kernel's whatever the weights. `docs/book/ridge.md`.

use super::Solution;
use crate::engine::Check;
use crate::linalg::{Band, Cholesky, dot};
use crate::{Engine, Matrix, Result};

/// What is taken out of a kernel matrix.
pub(crate) struct Centring {
    /// ŵ and √ŵ.
    shares: Vec<f64>,
    roots: Vec<f64>,
    /// μ and Σŵμ.
    means: Vec<f64>,
    grand: f64,
    /// tr VK̃V: the mean squared length of a centred row in the kernel's space, the unit of λ.
    pub(crate) trace: f64,
    /// tr VKV: the same without centring.
    pub(crate) square: f64,
}

impl Centring {
    /// Of a kernel matrix and positive weights.
    pub(crate) fn of(engine: &Engine, kernel: &Matrix<f64>, weights: &[f64], intercept: bool) -> Centring {
        let n = weights.len();
        let shares = shares(weights);
        let mean = |i: usize| if intercept { dot(kernel.row(i), &shares) } else { 0.0 };
        let means = engine.map(n, &mean);
        let grand = dot(&means, &shares);
        let mut centring = Centring {
            roots: shares.iter().map(|share| share.sqrt()).collect(),
            shares,
            means,
            grand,
            trace: 0.0,
            square: 0.0,
        };
        for i in 0..n {
            let (share, k) = (centring.shares[i], kernel.row(i)[i]);
            centring.square += share * k;
            centring.trace += share * centring.centred(i, i, k);
        }
        centring.trace = centring.trace.max(0.0);
        centring
    }

    /// K̃ᵢⱼ.
    fn centred(&self, i: usize, j: usize, k: f64) -> f64 {
        k - self.means[i] - self.means[j] + self.grand
    }
}

/// Weights divided by their sum; by the largest first, so that sums of large ones stay finite.
pub(crate) fn shares(weights: &[f64]) -> Vec<f64> {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let total: f64 = weights.iter().map(|w| w / largest).sum();
    weights.iter().map(|w| w / largest / total).collect()
}

/// V(K̃ + c)V and V(y − ȳ), for all outputs at once.
pub(crate) struct DualRidge {
    matrix: Matrix<f64>,
    sides: Matrix<f64>,
    centring: Centring,
    target_means: Vec<f64>,
    intercept: bool,
}

impl DualRidge {
    /// From a kernel matrix, positive weights and one row of targets a row.
    pub(crate) fn new(
        engine: &Engine,
        mut kernel: Matrix<f64>,
        weights: &[f64],
        mut targets: Matrix<f64>,
        intercept: bool,
    ) -> DualRidge {
        let n = weights.len();
        let centring = Centring::of(engine, &kernel, weights, intercept);
        let added = if intercept { centring.trace } else { 0.0 };
        engine.for_each_chunk(kernel.as_mut_slice(), n, &|i, row| {
            for (j, k) in row.iter_mut().enumerate() {
                *k = (centring.centred(i, j, *k) + added) * centring.roots[i] * centring.roots[j];
            }
        });
        let mean = |o: usize| (0..n).map(|i| centring.shares[i] * targets.row(i)[o]).sum::<f64>();
        let target_means: Vec<f64> =
            (0..targets.columns()).map(|o| if intercept { mean(o) } else { 0.0 }).collect();
        for (i, root) in centring.roots.iter().enumerate() {
            targets.row_mut(i).iter_mut().zip(&target_means).for_each(|(y, mean)| *y = (*y - mean) * root);
        }
        DualRidge { matrix: kernel, sides: targets, centring, target_means, intercept }
    }

    /// Solves at one λ; also the effective degrees of freedom tr K̃(K̃ + λ)⁻¹ in the units of V.
    pub(crate) fn solve(mut self, engine: &Engine, lambda: f64, check: Check<'_>) -> Result<(Solution, f64)> {
        let n = self.sides.rows();
        (0..n).for_each(|i| self.matrix.row_mut(i)[i] += lambda);
        let matrix = std::mem::take(&mut self.matrix);
        let cholesky = Cholesky::new(engine, matrix, &|done| check(done / 2.0))?;
        let beta = cholesky.solve(engine, std::mem::take(&mut self.sides));
        let inverse = cholesky.trace_of_inverse(engine, &|done| check((1.0 + done) / 2.0))?;
        // The direction u is the intercept's: it is not counted.
        let (directions, along) =
            if self.intercept { (n - 1, 1.0 / (self.centring.trace + lambda)) } else { (n, 0.0) };
        let freedom = directions as f64 - lambda * (inverse - along);
        Ok((self.with_intercept(&beta), freedom.max(0.0)))
    }

    /// The solutions for many λ from one band form; none for a λ that is too small for the matrix.
    pub(crate) fn path(
        mut self,
        engine: &Engine,
        lambdas: &[f64],
        check: Check<'_>,
    ) -> Result<Vec<Option<Solution>>> {
        let form = Band::new(engine, std::mem::take(&mut self.matrix), check)?;
        let mut sides = std::mem::take(&mut self.sides);
        form.rotate(engine, &mut sides);
        let (n, outputs) = (sides.rows(), sides.columns());
        let solved = engine.map(lambdas.len(), &|l| form.solve(lambdas[l], &sides));
        // All λ and outputs side by side: one product instead of many.
        let mut all = Matrix::from_fn(n, lambdas.len() * outputs, |i, column| {
            solved[column / outputs].as_ref().map_or(0.0, |beta| beta.row(i)[column % outputs])
        });
        form.rotate_back(engine, &mut all);
        let solution = |(l, beta): (usize, &Option<Matrix<f64>>)| {
            let columns = |i: usize, o: usize| all.row(i)[l * outputs + o];
            beta.as_ref().map(|_| self.with_intercept(&Matrix::from_fn(n, outputs, columns)))
        };
        Ok(solved.iter().enumerate().map(solution).collect())
    }

    /// α = Vβ and the intercepts that go with it.
    fn with_intercept(&self, beta: &Matrix<f64>) -> Solution {
        let coefficients =
            Matrix::from_fn(beta.rows(), beta.columns(), |i, o| self.centring.roots[i] * beta.row(i)[o]);
        let mut intercept = self.target_means.clone();
        for (i, mean) in self.centring.means.iter().enumerate() {
            intercept.iter_mut().zip(coefficients.row(i)).for_each(|(b, a)| *b -= a * mean);
        }
        Solution { coefficients, intercept }
    }
}

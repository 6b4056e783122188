//! Support vector machines with the exact kernel, by moving two variables at a time.
//!
//! ```text
//! primal   min_{w,b}  ½‖w‖² + Σ cᵢ·max(0, 1 − yᵢf(xᵢ))        f(x) = Σ αᵢyᵢk(xᵢ, x) + b,  w = Σ αᵢyᵢφ(xᵢ)
//! dual     max_α      Σ αᵢ − ½ Σ αᵢαⱼyᵢyⱼk(xᵢ, xⱼ)           Σ yᵢαᵢ = 0,  0 ≤ αᵢ ≤ cᵢ
//! ```
//! The constraint Σ yᵢαᵢ = 0, which the free intercept brings, is why two variables move at once: one step needs two rows of the kernel
//! matrix, which is never held as a whole. The pair is chosen by its gain to second order; rows at a bound rest (`descent`), kernel rows are
//! computed in bulk (`rows`) and kept in single precision up to a number of bytes (`cache`). What comes out is judged in double precision:
//! the last errors, and with them both values and the violation, are those of the kernel as it is.
//!
//! Cost: steps × active rows, and for each kernel row that is not kept n × the columns that two rows share. What random features approximate is solved here to
//! the last digit, as a yardstick and for some ten thousand rows. Fan, Chen & Lin (2005); Joachims (1998) for shrinking.

mod cache;
mod descent;
mod rows;

use self::descent::{Descent, Until, rounded};
use self::rows::KernelRows;
use super::problem;
use crate::engine::Check;
use crate::{Engine, Kernel, Result, Rows, Scalar};

/// A support vector machine with the exact kernel, for two classes.
#[derive(Clone, Copy, Debug)]
pub struct KernelSvm<'a, T> {
    /// What similarity means.
    pub kernel: &'a Kernel,
    /// What is told apart, dense or sparse.
    pub rows: Rows<'a, T>,
    /// 1 or −1 for each row.
    pub signs: &'a [f64],
    /// cᵢ ≥ 0 for each row; rows of cost zero are not there.
    pub costs: &'a [f64],
    /// For kernel rows that are kept, four bytes a value; two rows are always kept.
    pub cache_bytes: usize,
}

/// Where the descent ended.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelSvmSolution {
    /// α of each row.
    pub alpha: Vec<f64>,
    /// b: the mean over the rows between their bounds, or the middle of what is possible where there is none.
    pub intercept: f64,
    /// The value of α and b in the primal problem.
    pub primal: f64,
    /// The value of α in the dual: the best is worth something between the two.
    pub dual: f64,
    /// What the most violating pair of rows violates the conditions of an optimum by.
    pub violation: f64,
    /// ‖w‖²
    pub square: f64,
    /// Pairs moved.
    pub steps: u64,
}

impl KernelSvmSolution {
    /// What is left to gain, as a part of the primal value.
    pub fn gap(&self) -> f64 {
        (self.primal - self.dual) / self.primal.abs().max(f64::MIN_POSITIVE)
    }

    /// 1/‖w‖: from f = 0 to f = ±1, in the kernel's space; infinite where w is zero.
    pub fn margin(&self) -> f64 {
        1.0 / self.square.sqrt()
    }
}

impl<T: Scalar> KernelSvm<'_, T> {
    /// Descends until the violation is at most `tolerance`, or for `most` steps: [`KernelSvmSolution::violation`] says which.
    ///
    /// The steps are taken one after another, so that the result has the same bits on any number of threads.
    #[inline(never)]
    pub fn solve(&self, engine: &Engine, tolerance: f64, most: usize) -> Result<KernelSvmSolution> {
        self.kernel.check(self.rows.columns())?;
        self.kernel.check_rows(&self.rows, 0)?;
        problem::check(&self.rows, self.signs, self.costs)?;
        let (n, d) = (self.rows.count() as u64, self.rows.columns() as u64);
        let kept = (self.cache_bytes as u64).min(n.saturating_mul(4 * n));
        let needed = kept.saturating_add(n.saturating_mul(8 * d + 100));
        engine.check_memory(|| format!("a support vector machine of {n} rows"), needed)?;
        engine.phase("smo", n, |check| self.solve_within(engine, tolerance, most, check))
    }

    /// As [`solve`](KernelSvm::solve), inside a phase of somebody else: many of these may run side by side.
    pub(crate) fn solve_within(
        &self,
        engine: &Engine,
        tolerance: f64,
        most: usize,
        check: Check<'_>,
    ) -> Result<KernelSvmSolution> {
        self.descend(engine, Until { tolerance, most, shrinking: true }, check)
    }

    fn descend(&self, engine: &Engine, until: Until, check: Check<'_>) -> Result<KernelSvmSolution> {
        let order: Vec<u32> =
            (0..self.rows.count() as u32).filter(|&row| self.costs[row as usize] > 0.0).collect();
        let diagonal = self.kernel.diagonal(&self.rows);
        let diagonal: Vec<f64> = order.iter().map(|&row| diagonal[row as usize]).collect();
        let kernels = KernelRows::new(engine, self.kernel, self.rows);
        let problem = (self.signs, self.costs);
        let mut descent = Descent::new(kernels, order, problem, rounded(&diagonal)?, self.cache_bytes, check);
        descent.run(until)?;
        Ok(self.evaluate(&descent))
    }

    /// Values of α, from the errors of all rows: yᵢf(xᵢ) = 1 − yᵢ(eᵢ − b).
    fn evaluate(&self, descent: &Descent<'_, T>) -> KernelSvmSolution {
        let n = descent.order.len();
        let (errors, signs, costs) = (&descent.errors, &descent.signs, &descent.costs);
        let free = (0..n).filter(|&at| descent.alpha[at] > 0.0 && descent.alpha[at] < costs[at]);
        let (count, total) = free.fold((0usize, 0.0), |(count, total), at| (count + 1, total + errors[at]));
        let (high, low) = (descent.ends.highest, descent.ends.lowest);
        let intercept = match (high.is_finite(), low.is_finite()) {
            _ if count > 0 => total / count as f64,
            (true, true) => 0.5 * (high + low),
            (true, false) => high,
            (false, true) => low,
            (false, false) => 0.0,
        };
        let mut alpha = vec![0.0; self.rows.count()];
        let (mut sum, mut square, mut losses) = (0.0, 0.0, 0.0);
        for at in 0..n {
            let a = descent.alpha[at];
            alpha[descent.order[at] as usize] = a;
            sum += a;
            square += a * (1.0 - signs[at] * errors[at]);
            losses += costs[at] * (signs[at] * (errors[at] - intercept)).max(0.0);
        }
        // A sum of squares that came out a rounding below zero.
        let square = f64::max(square, 0.0);
        KernelSvmSolution {
            alpha,
            intercept,
            primal: 0.5 * square + losses,
            dual: sum - 0.5 * square,
            violation: descent.violation(),
            square,
            steps: descent.steps,
        }
    }
}

#[cfg(test)]
mod tests;

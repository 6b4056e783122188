//! S seen through random vectors: for D whose square does not fit.
//!
//! ```text
//! Y = SΩ,   Ω of D × r normal numbers        Ŝ = Y(ΩᵀY)⁻¹Yᵀ = UΛUᵀ ≤ S
//! P⁻¹ = U·diag((λᵣ + λ)/(λⱼ + λ))·Uᵀ + (I − UUᵀ)
//! ```
//! Y takes one pass over the rows. The mean condition of P⁻¹(S + λI) is below 28 where r is twice the effective dimension tr S(S + λI)⁻¹ and a half (Frangella, Tropp & Udell 2023), and about
//! 1 + λᵣ/λ in any case: r is enough when the last eigenvalue is not much above λ, and useless where eigenvalues do not fall. For digits, Y is that of S + νI, ν a rounding of it, which is taken
//! back from Λ. Instead of Cholesky's factor of ΩᵀY its eigenvectors are taken: what rounding made of the smallest is left out, where a factor would fail.

use super::{Operator, Vectors};
use crate::linalg::{dot, multiply, symmetric_eigen};
use crate::random::{Draws, Stream};
use crate::{Engine, Matrix, Result};

/// U and Λ, with Y for the case that more of it is wanted.
#[derive(Clone, Debug)]
pub(crate) struct Nystrom {
    seed: u64,
    size: usize,
    /// r vectors SΩ.
    images: Vectors,
    /// Orthonormal, one vector an eigenvalue.
    vectors: Vectors,
    /// From the largest to the smallest.
    values: Vec<f64>,
}

/// Columns of D that one thread adds up.
const TILE: usize = 1024;

impl Nystrom {
    /// Of rank 0, for D features.
    pub(crate) fn new(size: usize, seed: u64) -> Nystrom {
        Nystrom { seed, size, images: Vec::new(), vectors: Vec::new(), values: Vec::new() }
    }

    /// r.
    pub(crate) fn rank(&self) -> usize {
        self.images.len()
    }

    /// The smallest eigenvalue seen: what all others are taken for.
    pub(crate) fn last(&self) -> f64 {
        self.values.last().copied().unwrap_or(f64::INFINITY)
    }

    /// Goes on to rank r, by one pass over the rows.
    pub(crate) fn grow(&mut self, operator: &mut dyn Operator, rank: usize) -> Result<()> {
        let known = self.rank();
        let more = operator.engine().map(rank.saturating_sub(known), &|k| self.test(known + k));
        let directions: Vec<&[f64]> = more.iter().map(Vec::as_slice).collect();
        self.images.extend(operator.apply(&directions)?);
        drop(more);
        self.decompose(operator.engine())
    }

    /// Column k of Ω.
    fn test(&self, k: usize) -> Vec<f64> {
        let mut draws = Draws::new(self.seed, Stream::Guides, k as u64);
        (0..self.size).map(|_| draws.normal()).collect()
    }

    fn decompose(&mut self, engine: &Engine) -> Result<()> {
        let (rank, size) = (self.rank(), self.size);
        let length: f64 = self.images.iter().map(|y| dot(y, y)).sum::<f64>().sqrt();
        let shift = (size as f64).sqrt() * f64::EPSILON * length;
        let tests = engine.map(rank, &|k| self.test(k));
        // ΩᵀY + νΩᵀΩ, of which rounding leaves a symmetric half.
        let entry = |i: usize, j: usize| {
            let here = dot(&tests[i], &self.images[j]) + shift * dot(&tests[i], &tests[j]);
            let there = dot(&tests[j], &self.images[i]) + shift * dot(&tests[j], &tests[i]);
            0.5 * (here + there)
        };
        let core = symmetric(engine, rank, &entry);
        let (values, vectors) = symmetric_eigen(engine, core, &|_| Ok(()))?;
        let least = values.first().map_or(0.0, |top| top * f64::EPSILON * rank as f64);
        let kept = values.iter().take_while(|&&value| value > least).count();
        if kept == 0 {
            // S is nothing, as far as can be seen.
            (self.vectors, self.values) = (Vec::new(), Vec::new());
            return Ok(());
        }
        // B = M^(−½)Vᵀ(Y + νΩ), so that Ŝ = BᵀB.
        let weights = Matrix::from_fn(kept, rank, |k, j| vectors.row(k)[j] / values[k].sqrt());
        let shifted = |j: usize, c: usize| self.images[j][c] + shift * tests[j][c];
        let half = combine(engine, &weights, &shifted, size);
        drop(tests);
        let square = symmetric(engine, kept, &|i, j| dot(&half[i], &half[j]));
        let (values, vectors) = symmetric_eigen(engine, square, &|_| Ok(()))?;
        let least = values.first().map_or(0.0, |top| top * 1e-12);
        let kept = values.iter().take_while(|&&value| value > least).count();
        let weights = Matrix::from_fn(kept, half.len(), |k, j| vectors.row(k)[j] / values[k].sqrt());
        self.vectors = combine(engine, &weights, &|j, c| half[j][c], size);
        self.values = values[..kept].iter().map(|value| (value - shift).max(0.0)).collect();
        Ok(())
    }

    /// λᵣ + λ.
    pub(super) fn factor(&self, lambda: f64) -> f64 {
        self.values.last().copied().unwrap_or(0.0) + lambda
    }

    /// P⁻¹v, times λᵣ + λ.
    pub(super) fn lead(&self, engine: &Engine, v: &[f64], lambda: f64) -> Vec<f64> {
        let last = self.factor(lambda);
        let along = |k: usize| (last / (self.values[k] + lambda) - 1.0) * dot(&self.vectors[k], v);
        let factors = engine.map(self.vectors.len(), &along);
        let mut led = v.to_vec();
        engine.for_each_chunk(&mut led, TILE, &|t, led| {
            for (u, factor) in self.vectors.iter().zip(&factors) {
                led.iter_mut().zip(&u[t * TILE..]).for_each(|(led, u)| *led += factor * u);
            }
        });
        led
    }
}

/// A symmetric matrix from its entries on and below the diagonal.
fn symmetric(engine: &Engine, size: usize, entry: &(dyn Fn(usize, usize) -> f64 + Sync)) -> Matrix<f64> {
    let rows: Vectors = engine.map(size, &|i| (0..=i).map(|j| entry(i, j)).collect());
    Matrix::from_fn(size, size, |i, j| rows[i.max(j)][i.min(j)])
}

/// weights · vectors, some columns of these at a time.
fn combine(
    engine: &Engine,
    weights: &Matrix<f64>,
    entry: &(dyn Fn(usize, usize) -> f64 + Sync),
    size: usize,
) -> Vectors {
    let mut out = vec![vec![0.0; size]; weights.rows()];
    for start in (0..size).step_by(4 * TILE) {
        let end = size.min(start + 4 * TILE);
        // Two columns at least: one takes another way.
        let part = Matrix::from_fn(weights.columns(), (end - start).max(2), |j, c| {
            if start + c < end { entry(j, start + c) } else { 0.0 }
        });
        let product = multiply(engine, weights, &part);
        for (k, out) in out.iter_mut().enumerate() {
            out[start..end].copy_from_slice(&product.row(k)[..end - start]);
        }
    }
    out
}

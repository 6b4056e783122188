//! How fast a linear function of the features changes with the row.
//!
//! ```text
//! f(x) = c·z(x)                                ∇f(x) = Σⱼ cⱼ ∇zⱼ(x)
//! pairs      ∇f(x) = m^(−1/2)·Σⱼ (−aⱼ sin ωⱼ·x + bⱼ cos ωⱼ·x)·ωⱼ          offset   ∇f(x) = −(2/D)^(1/2)·Σⱼ cⱼ sin(ωⱼ·x + bⱼ)·ωⱼ
//! landmarks  ∇f(x) = Σⱼ αⱼ ∇ₓk(x, xⱼ),   α = U⁻¹c                          each kernel's own gradient
//! ```
//! Of pairs, what stands in brackets is made of the features themselves: one product with the frequencies more than the features cost, n·m·d.

use std::f64::consts::TAU;

use super::exact::Exact;
use super::fourier::Fourier;
use super::landmarks::Landmarks;
use super::{Map, Part, State};
use crate::kernel::Width;
use crate::linalg::multiply;
use crate::{Csr, Engine, Error, Kernel, Matrix, Result, Rows};

/// Rows whose kernel values a thread makes at once.
const CHUNK: usize = 64;

impl Map {
    /// ∇f of each row, one matrix for each output: rows × columns. `coefficients` are outputs × features.
    ///
    /// Fourier features, landmarks, exact linear features, and sums of these. Rows have the map's
    /// columns and are finite.
    pub(crate) fn gradients(
        &self,
        engine: &Engine,
        rows: &Rows<'_, f64>,
        coefficients: &Matrix<f64>,
    ) -> Result<Vec<Matrix<f64>>> {
        self.check_gradients()?;
        let zero = || Matrix::zeros(rows.count(), self.input_dim());
        let mut out: Vec<Matrix<f64>> = (0..coefficients.rows()).map(|_| zero()).collect();
        match self.state() {
            State::Part(part) => part.add_gradients(engine, rows, coefficients, 0, 1.0, &mut out),
            State::Landmarks(landmarks) => {
                landmarks.add_gradients(engine, &self.spec().kernel, rows, coefficients, &mut out);
            }
            State::Binning(_) => {}
        }
        Ok(out)
    }

    /// Whether there are gradients.
    pub(crate) fn has_gradients(&self) -> bool {
        match self.state() {
            State::Part(part) => part.has_gradients(),
            State::Landmarks(_) => self.spec().kernel.has_gradient(),
            State::Binning(_) => false,
        }
    }

    /// Whether gradients of sparse rows are better made without their zeros: where kernel values are.
    pub(crate) fn takes_sparse_gradients(&self) -> bool {
        matches!(self.state(), State::Landmarks(_))
    }

    /// An error if there are none.
    pub(crate) fn check_gradients(&self) -> Result<()> {
        if self.has_gradients() {
            return Ok(());
        }
        Err(Error::Unsupported {
            what: format!("gradients of the features of {}", self.spec().kernel),
            reason: "they are steps, or their derivative is not written down",
            instead: "use Fourier features or landmarks",
        })
    }
}

impl Part {
    fn has_gradients(&self) -> bool {
        match self {
            Part::Fourier(_) | Part::Exact(Exact::Identity(_) | Exact::Constant | Exact::Lift { .. }) => true,
            Part::On { part, .. } | Part::Scale { part, .. } => part.has_gradients(),
            Part::Join(parts) => parts.iter().all(Part::has_gradients),
            _ => false,
        }
    }

    /// Adds factor·Σ cⱼ∇zⱼ over the features of this part, whose coefficients are those from `start` on.
    fn add_gradients(
        &self,
        engine: &Engine,
        rows: &Rows<'_, f64>,
        coefficients: &Matrix<f64>,
        start: usize,
        factor: f64,
        out: &mut [Matrix<f64>],
    ) {
        match self {
            Part::Fourier(fourier) => fourier.add_gradients(engine, rows, coefficients, start, factor, out),
            Part::Exact(Exact::Identity(columns)) => {
                constant(coefficients, out, |c, j| factor * c[start + j], *columns);
            }
            Part::Exact(Exact::Lift { factor: lift, .. }) => {
                let along = |c: &[f64], j: usize| {
                    factor * (0..lift.rows()).map(|k| c[start + k] * lift.row(k)[j]).sum::<f64>()
                };
                constant(coefficients, out, along, lift.columns());
            }
            Part::On { columns, part } => {
                let chosen = rows.chosen(columns);
                let zero = || Matrix::zeros(rows.count(), columns.len());
                let mut inner: Vec<Matrix<f64>> = (0..out.len()).map(|_| zero()).collect();
                part.add_gradients(engine, &chosen.view(), coefficients, start, factor, &mut inner);
                for (out, inner) in out.iter_mut().zip(&inner) {
                    for i in 0..rows.count() {
                        columns.iter().zip(inner.row(i)).for_each(|(&j, g)| out.row_mut(i)[j] += g);
                    }
                }
            }
            Part::Scale { factor: own, part } => {
                part.add_gradients(engine, rows, coefficients, start, factor * own, out);
            }
            Part::Join(parts) => {
                let mut start = start;
                for part in parts {
                    part.add_gradients(engine, rows, coefficients, start, factor, out);
                    start += part.output_dim();
                }
            }
            // Checked at the door; a constant has none.
            _ => {}
        }
    }
}

/// Adds the same gradient to every row of an output.
fn constant(
    coefficients: &Matrix<f64>,
    out: &mut [Matrix<f64>],
    along: impl Fn(&[f64], usize) -> f64,
    columns: usize,
) {
    for (o, out) in out.iter_mut().enumerate() {
        let gradient: Vec<f64> = (0..columns).map(|j| along(coefficients.row(o), j)).collect();
        (0..out.rows()).for_each(|i| out.row_mut(i).iter_mut().zip(&gradient).for_each(|(g, a)| *g += a));
    }
}

impl Fourier {
    fn add_gradients(
        &self,
        engine: &Engine,
        rows: &Rows<'_, f64>,
        coefficients: &Matrix<f64>,
        start: usize,
        factor: f64,
        out: &mut [Matrix<f64>],
    ) {
        // Phases are linear in the row: those of the unit rows are the frequencies, dense or structured.
        let mut unit = Csr::empty(rows.columns());
        (0..rows.columns()).for_each(|j| unit.push_row([(j as u32, 1.0)]));
        let turns = self.turns(engine, &Rows::from(&unit));
        let frequencies = Matrix::from_fn(turns.columns(), turns.rows(), |k, j| TAU * turns.row(j)[k]);
        let slopes = self.slopes(engine, rows);
        let count = turns.columns();
        for (o, out) in out.iter_mut().enumerate() {
            let c = &coefficients.row(o)[start..start + self.output_dim()];
            let mut along = Matrix::zeros(rows.count(), count);
            engine.for_each_chunk(along.as_mut_slice(), count, &|i, along| {
                // As many features as slopes, pair by pair where there are pairs.
                let each = self.output_dim() / count.max(1);
                let terms = c.chunks_exact(each).zip(slopes.row(i).chunks_exact(each));
                along.iter_mut().zip(terms).for_each(|(along, (c, slope))| {
                    *along = factor * c.iter().zip(slope).map(|(c, s)| c * s).sum::<f64>();
                });
            });
            let gradients = multiply(engine, &along, &frequencies);
            out.as_mut_slice().iter_mut().zip(gradients.as_slice()).for_each(|(to, g)| *to += g);
        }
    }
}

impl Landmarks {
    fn add_gradients(
        &self,
        engine: &Engine,
        kernel: &Kernel,
        rows: &Rows<'_, f64>,
        coefficients: &Matrix<f64>,
        out: &mut [Matrix<f64>],
    ) {
        let (landmarks, columns) = (self.rows(), rows.columns());
        let weights: Vec<Vec<f64>> = (0..coefficients.rows())
            .map(|o| {
                let c = coefficients.row(o);
                let Some(whitening) = self.whitening() else { return c.to_vec() };
                (0..c.len()).map(|i| (i..c.len()).map(|j| whitening.row(i)[j] * c[j]).sum()).collect()
            })
            .collect();
        if let Kernel::Gaussian { sigma: Width::One(sigma) } = kernel {
            return self.add_gaussian_gradients(engine, kernel, *sigma, rows, &weights, out);
        }
        let of_row = |i: usize| {
            let (mut x, mut slope) = (vec![0.0; columns], vec![0.0; columns]);
            rows.densify(i, &mut x);
            let mut sums = vec![0.0; columns * weights.len()];
            for j in 0..landmarks.rows() {
                slope.fill(0.0);
                kernel.add_gradient(&x, landmarks.row(j), 1.0, &mut slope);
                for (sum, weights) in sums.chunks_exact_mut(columns.max(1)).zip(&weights) {
                    sum.iter_mut().zip(&slope).for_each(|(sum, s)| *sum += weights[j] * s);
                }
            }
            sums
        };
        let sums = engine.map(rows.count(), &of_row);
        for (i, sums) in sums.iter().enumerate() {
            for (out, sum) in out.iter_mut().zip(sums.chunks_exact(columns.max(1))) {
                out.row_mut(i).iter_mut().zip(sum).for_each(|(to, g)| *to += g);
            }
        }
    }

    /// Σⱼ βᵢⱼ(xⱼ − x), βᵢⱼ = αⱼk(x, xⱼ)/σ²: two products in place of a loop over rows, landmarks and columns. Rows and landmarks are seen from the first of these, so that rows far from zero lose no digits, and a
    /// column that is constant has no slope at all.
    fn add_gaussian_gradients(
        &self,
        engine: &Engine,
        kernel: &Kernel,
        sigma: f64,
        rows: &Rows<'_, f64>,
        weights: &[Vec<f64>],
        out: &mut [Matrix<f64>],
    ) {
        let (count, columns) = (rows.count(), rows.columns());
        let mut values = Matrix::zeros(count, self.rows().rows());
        let width = values.columns().max(1);
        engine.for_each_chunk(values.as_mut_slice(), CHUNK * width, &|at, out| {
            self.fill_values(engine, kernel, &rows.slice(at * CHUNK..count.min((at + 1) * CHUNK)), out);
        });
        let (landmarks, first) = (self.rows(), self.rows().row(0));
        let seen = Matrix::from_fn(landmarks.rows(), columns, |j, k| landmarks.row(j)[k] - first[k]);
        for (weights, out) in weights.iter().zip(out) {
            let each = |i: usize, j: usize| weights[j] * values.row(i)[j] / (sigma * sigma);
            let betas = Matrix::from_fn(count, width, each);
            let towards = multiply(engine, &betas, &seen);
            let add = |i: usize, to: &mut [f64]| {
                let sum: f64 = betas.row(i).iter().sum();
                let mut x = vec![0.0; columns];
                rows.densify(i, &mut x);
                for (((to, towards), x), first) in to.iter_mut().zip(towards.row(i)).zip(&x).zip(first) {
                    *to += towards - sum * (x - first);
                }
            };
            engine.for_each_chunk(out.as_mut_slice(), columns, &add);
        }
    }
}

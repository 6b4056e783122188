//! A built map as a tree: what a compiled expression becomes.
//!
//! ```text
//! join      z = (z₁, z₂, …)                sums                 scale     z = √c·z₁                  c·K
//! tensor    z = z₁ ⊗ z₂ ⊗ …                products, exactly    weight    z = f(x)·z₁, z₁/√K(x, x)   f·K·f, normalised
//! multiply  zᵢ = m^((l−1)/2)·z₁ᵢ·z₂ᵢ·…     products, sketched   nested    z = z₂(z₁(x))              exp, χ², projections
//! ```
//! Multiplied features must be independent draws, each unbiased by itself: E Σᵢ m·aᵢ(x)aᵢ(y)·bᵢ(x)bᵢ(y) = m·Σᵢ (k₁/m)(k₂/m) = k₁·k₂. A (cos, sin) pair is one draw, e^(iω·x), and so is a
//! pair of a sketch: pairs are multiplied as complex numbers, E Re(a(x)b(x)·conj(a(y)b(y))) = k₁·k₂. Leaves write into the columns of the whole: nothing is copied to join.

use super::combination::Combinations;
use super::exact::Exact;
use super::hinge::Hinges;
use super::homogeneous::Homogeneous;
use super::positive::Positive;
use super::projection::Projector;
use super::sign::Subsets;
use super::sketch::Sketched;
use super::{Binning, Fourier};
use crate::kernel::RowFactor;
use crate::{Csr, Engine, Matrix, Rows, Scalar};

/// Dense features that may stand beside sparse ones.
const BESIDE: usize = 64;

/// A map, or a part of one.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Exact(Exact),
    Fourier(Fourier),
    Homogeneous(Homogeneous),
    Hinges(Hinges),
    Subsets(Subsets),
    Projection(Projector),
    Positive(Positive),
    Sketched(Sketched),
    Hashed(Combinations),
    /// Hashed.
    Grids(Box<Binning>),
    /// Of some columns of the rows.
    On {
        columns: Vec<usize>,
        part: Box<Part>,
    },
    Join(Vec<Part>),
    Tensor(Vec<Part>),
    Multiply(Vec<Part>),
    Nested {
        inner: Box<Part>,
        outer: Box<Part>,
    },
    Scale {
        factor: f64,
        part: Box<Part>,
    },
    Weight {
        by: RowFactor,
        part: Box<Part>,
    },
}

impl Part {
    /// Features, D.
    pub(super) fn output_dim(&self) -> usize {
        match self {
            Part::Exact(part) => part.output_dim(),
            Part::Fourier(part) => part.output_dim(),
            Part::Homogeneous(part) => part.output_dim(),
            Part::Hinges(part) => part.output_dim(),
            Part::Subsets(part) => part.output_dim(),
            Part::Projection(part) => part.output_dim(),
            Part::Positive(part) => part.output_dim(),
            Part::Sketched(part) => part.output_dim(),
            Part::Hashed(part) => part.output_dim(),
            Part::Grids(part) => part.output_dim(),
            Part::On { part, .. } | Part::Scale { part, .. } | Part::Weight { part, .. } => part.output_dim(),
            Part::Join(parts) => parts.iter().map(Part::output_dim).sum(),
            Part::Tensor(parts) => parts.iter().map(Part::output_dim).product(),
            Part::Multiply(parts) => {
                let pair = if parts.iter().any(Part::is_paired) { 2 } else { 1 };
                pair * parts.first().map_or(0, Part::draws)
            }
            Part::Nested { outer, .. } => outer.output_dim(),
        }
    }

    /// What is regenerated from seeds, in a fixed order, for the model's fingerprint.
    pub(crate) fn regenerated(&self, add: &mut dyn FnMut(&[f64])) {
        match self {
            Part::Exact(part) => part.regenerated(add),
            Part::Homogeneous(_) => {}
            Part::Fourier(part) => part.regenerated().into_iter().for_each(add),
            Part::Hinges(part) => add(part.regenerated()),
            Part::Subsets(part) => add(part.regenerated()),
            Part::Projection(part) => part.regenerated(add),
            Part::Positive(part) => add(part.regenerated()),
            Part::Sketched(part) => part.regenerated(add),
            Part::Hashed(part) => add(&part.regenerated()),
            Part::Grids(part) => part.regenerated().iter().for_each(|numbers| add(numbers)),
            Part::On { part, .. } | Part::Scale { part, .. } | Part::Weight { part, .. } => {
                part.regenerated(add)
            }
            Part::Join(parts) | Part::Tensor(parts) | Part::Multiply(parts) => {
                parts.iter().for_each(|part| part.regenerated(add));
            }
            Part::Nested { inner, outer } => {
                inner.regenerated(add);
                outer.regenerated(add);
            }
        }
    }

    /// Features of row i at `out[i·stride..]`; `stream` says that they are not read again soon.
    pub(super) fn apply<T: Scalar>(
        &self,
        engine: &Engine,
        rows: &Rows<'_, T>,
        out: &mut [T],
        stride: usize,
        stream: bool,
    ) {
        match self {
            Part::Exact(part) => part.apply(engine, rows, out, stride),
            Part::Fourier(part) => part.apply(engine, rows, out, stride, stream),
            Part::Homogeneous(part) => part.apply(engine, rows, out, stride),
            Part::Hinges(part) => part.apply(engine, rows, out, stride),
            Part::Subsets(part) => part.apply(rows, out, stride),
            Part::Projection(part) => part.apply(engine, rows, out, stride),
            Part::Positive(part) => part.apply(engine, rows, out, stride),
            Part::Sketched(part) => part.apply(engine, rows, out, stride),
            Part::Hashed(part) => part.apply(rows, out, stride),
            Part::Grids(part) => part.apply(engine, rows, out, stride),
            Part::On { columns, part } => {
                part.apply(engine, &rows.chosen(columns).view(), out, stride, stream);
            }
            Part::Join(parts) => {
                let mut start = 0;
                for part in parts {
                    part.apply(engine, rows, &mut out[start..], stride, false);
                    start += part.output_dim();
                }
            }
            Part::Tensor(parts) => tensor(engine, parts, rows, out, stride),
            Part::Multiply(parts) => multiply(engine, parts, rows, out, stride),
            Part::Nested { inner, outer } => {
                outer.apply(engine, &Rows::from(&inner.features(engine, rows)), out, stride, stream);
            }
            Part::Scale { factor, part } => {
                part.apply(engine, rows, out, stride, false);
                self.multiply_rows(rows, out, stride, |_| *factor);
            }
            Part::Weight { by, part } => {
                part.apply(engine, rows, out, stride, false);
                self.multiply_rows(rows, out, stride, |i| by.of(rows, i));
            }
        }
    }

    /// Whether features can be had without their zeros, most of them being zero: products of columns and sparse projections, and what stands beside them.
    pub(super) fn has_sparse(&self) -> bool {
        match self {
            Part::Hashed(_)
            | Part::Exact(Exact::Combinations(_))
            | Part::Projection(Projector::Sparse(_)) => true,
            Part::On { part, .. } | Part::Scale { part, .. } => part.has_sparse(),
            Part::Join(parts) => {
                let few = |part: &Part| part.has_sparse() || part.output_dim() <= BESIDE;
                parts.iter().any(Part::has_sparse) && parts.iter().all(few)
            }
            _ => false,
        }
    }

    /// Features of rows that are not zero, at most.
    pub(super) fn most_entries<T: Scalar>(&self, rows: &Rows<'_, T>) -> u64 {
        let all = (rows.count() as u64).saturating_mul(self.output_dim() as u64);
        match self {
            Part::Hashed(part) | Part::Exact(Exact::Combinations(part)) => part.most_entries(rows),
            Part::Projection(Projector::Sparse(part)) => part.most_entries(rows).min(all),
            Part::On { columns, part } => part.most_entries(&rows.chosen(columns).view()),
            Part::Scale { part, .. } => part.most_entries(rows),
            Part::Join(parts) => {
                parts.iter().fold(0, |sum: u64, part| sum.saturating_add(part.most_entries(rows)))
            }
            _ => all,
        }
    }

    /// Features without their zeros.
    pub(super) fn apply_sparse<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>) -> Csr<T> {
        match self {
            Part::Hashed(part) | Part::Exact(Exact::Combinations(part)) => part.apply_sparse(engine, rows),
            Part::Projection(Projector::Sparse(part)) => part.apply_sparse(engine, rows),
            Part::On { columns, part } => part.apply_sparse(engine, &rows.chosen(columns).view()),
            Part::Scale { factor, part } => {
                let mut features = part.apply_sparse(engine, rows);
                features.values_mut().iter_mut().for_each(|z| *z = T::from_f64(factor * z.to_f64()));
                features
            }
            Part::Join(parts) => {
                let parts: Vec<Csr<T>> = parts.iter().map(|part| part.apply_sparse(engine, rows)).collect();
                let mut joined = Csr::empty(self.output_dim());
                for i in 0..rows.count() {
                    let mut start = 0;
                    joined.push_row(parts.iter().flat_map(|part| {
                        let before = start;
                        start += part.columns() as u32;
                        let (indices, values) = part.view().row(i);
                        indices.iter().zip(values).map(move |(j, z)| (before + j, *z))
                    }));
                }
                joined
            }
            few => {
                let dense = few.features(engine, rows);
                let mut features = Csr::empty(dense.columns());
                for i in 0..dense.rows() {
                    let entries = dense.row(i).iter().enumerate().filter(|(_, z)| **z != T::default());
                    features.push_row(entries.map(|(j, z)| (j as u32, *z)));
                }
                features
            }
        }
    }

    /// Whether two features, (Re, Im) of a complex number, are one draw.
    fn is_paired(&self) -> bool {
        match self {
            Part::Fourier(part) => part.is_paired(),
            Part::Sketched(part) => part.is_paired(),
            Part::On { part, .. } | Part::Scale { part, .. } | Part::Weight { part, .. } => part.is_paired(),
            Part::Multiply(parts) => parts.iter().any(Part::is_paired),
            _ => false,
        }
    }

    /// Draws, where features are such.
    fn draws(&self) -> usize {
        self.output_dim() / if self.is_paired() { 2 } else { 1 }
    }

    fn multiply_rows<T: Scalar>(
        &self,
        rows: &Rows<'_, T>,
        out: &mut [T],
        stride: usize,
        factor: impl Fn(usize) -> f64,
    ) {
        for (i, out) in out.chunks_mut(stride).enumerate().take(rows.count()) {
            let factor = factor(i);
            out[..self.output_dim()].iter_mut().for_each(|z| *z = T::from_f64(factor * z.to_f64()));
        }
    }

    /// Features by themselves.
    fn features<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>) -> Matrix<T> {
        let mut features = Matrix::zeros(rows.count(), self.output_dim());
        self.apply(engine, rows, features.as_mut_slice(), self.output_dim().max(1), false);
        features
    }
}

/// All products of one feature of each part, the last part's changing fastest.
fn tensor<T: Scalar>(engine: &Engine, parts: &[Part], rows: &Rows<'_, T>, out: &mut [T], stride: usize) {
    let factors: Vec<Matrix<T>> = parts.iter().map(|part| part.features(engine, rows)).collect();
    let mut products = vec![1.0];
    for (i, out) in out.chunks_mut(stride).enumerate().take(rows.count()) {
        products.clear();
        products.push(1.0);
        for factor in &factors {
            products =
                products.iter().flat_map(|p| factor.row(i).iter().map(move |z| p * z.to_f64())).collect();
        }
        out.iter_mut().zip(&products).for_each(|(to, &z)| *to = T::from_f64(z));
    }
}

/// Draw by draw, as complex numbers where there are pairs.
fn multiply<T: Scalar>(engine: &Engine, parts: &[Part], rows: &Rows<'_, T>, out: &mut [T], stride: usize) {
    let factors: Vec<(bool, Matrix<T>)> =
        parts.iter().map(|part| (part.is_paired(), part.features(engine, rows))).collect();
    let draws = parts.first().map_or(0, Part::draws);
    let scale = libm::pow(draws as f64, 0.5 * (parts.len() as f64 - 1.0));
    let paired = factors.iter().any(|(paired, _)| *paired);
    for (i, out) in out.chunks_mut(stride).enumerate().take(rows.count()) {
        for draw in 0..draws {
            let (mut real, mut imaginary) = (scale, 0.0);
            for (paired, z) in &factors {
                if *paired {
                    let (a, b) = (z.row(i)[2 * draw].to_f64(), z.row(i)[2 * draw + 1].to_f64());
                    (real, imaginary) = (real * a - imaginary * b, real * b + imaginary * a);
                } else {
                    let a = z.row(i)[draw].to_f64();
                    (real, imaginary) = (real * a, imaginary * a);
                }
            }
            if paired {
                (out[2 * draw], out[2 * draw + 1]) = (T::from_f64(real), T::from_f64(imaginary));
            } else {
                out[draw] = T::from_f64(real);
            }
        }
    }
}

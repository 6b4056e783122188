//! A learned metric: rows stretched along the directions in which the target changes.
//!
//! ```text
//! x′ = x·L,    L ∝ ((1 − s)·d·M/tr M + s·I)^p,    ‖L‖² = d            ‖x′ − y′‖² = (x − y)ᵀL²(x − y)
//! ```
//! M is the mean outer product of a function's gradients (`stat/gradients.rs`), s ≥ 10⁻⁴ keeps every direction, and p is ½ for M^½ itself, ¼ for a milder one. L is symmetric: all of it, its
//! diagonal alone (sparse rows stay sparse), or its leading directions, all others being alike. `docs/book/metric.md`.

use bochner_simd::{Apply, Isa, Panels};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::kernel::apply;
use crate::linalg::{multiply, symmetric_eigen};
use crate::map::Packed;
use crate::stat::{Gradients, Sample};
use crate::{Csr, Error, Matrix, OwnedRows, Result, Rows, Scalar};

/// What of M is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Its diagonal: a factor for each column.
    Diagonal,
    /// All of it, or as many directions as hold all but a thousandth of its trace where these are few.
    Full,
}

/// How L is made of M.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// What of M.
    pub form: Form,
    /// p.
    pub power: f64,
    /// s.
    pub shrinkage: f64,
}

/// A part of the trace that may be taken as alike in all directions.
const REST: f64 = 1e-3;

/// Columns from which on few directions are kept apart from the rest.
const WIDE: usize = 64;

/// Rows that a thread stretches at once.
const CHUNK: usize = 64;

/// Directions that are told.
const TOLD: usize = 8;

/// L, and what it was made of.
#[derive(Clone, Debug)]
pub struct Metric {
    root: Root,
    /// The diagonal of M, as parts of its trace.
    importances: Vec<f64>,
    /// The leading eigenvectors of M, one a row.
    directions: Matrix<f64>,
    /// Their parts of the trace.
    shares: Vec<f64>,
}

/// L.
#[derive(Clone, Debug)]
pub(crate) enum Root {
    /// Its diagonal.
    Diagonal(Vec<f64>),
    Full {
        root: Matrix<f64>,
        packed: Packed,
    },
    /// floor·I + Σₖ extraₖ·vₖvₖᵀ
    Leading {
        floor: f64,
        extra: Vec<f64>,
        vectors: Matrix<f64>,
        packed: [Packed; 2],
    },
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        let same = match (&self.root, &other.root) {
            (Root::Diagonal(a), Root::Diagonal(b)) => a == b,
            (Root::Full { root: a, .. }, Root::Full { root: b, .. }) => a == b,
            (
                Root::Leading { floor, extra, vectors, .. },
                Root::Leading { floor: f, extra: e, vectors: v, .. },
            ) => floor == f && extra == e && vectors == v,
            _ => false,
        };
        same && self.importances == other.importances
            && self.directions == other.directions
            && self.shares == other.shares
    }
}

impl Stretch {
    /// The power and the shrinkage are such that no direction is lost.
    pub(crate) fn validate(&self) -> Result<()> {
        let wrong =
            |name, expected, found: f64| Err(Error::Parameter { name, expected, found: found.to_string() });
        match *self {
            Stretch { power, .. } if !(power > 0.0 && power <= 1.0) => {
                wrong("power", "above 0, at most 1", power)
            }
            Stretch { shrinkage, .. } if !(1e-4..=1.0).contains(&shrinkage) => {
                wrong("shrinkage", "between 1e-4 and 1", shrinkage)
            }
            _ => Ok(()),
        }
    }
}

impl Metric {
    /// L of the gradients that were seen; none if there are none, or not all are finite.
    pub fn new(gradients: &Gradients, stretch: Stretch) -> Result<Option<Metric>> {
        stretch.validate()?;
        let diagonal = gradients.of_columns();
        let trace: f64 = diagonal.iter().sum();
        if !(trace > 0.0 && trace.is_finite()) {
            return Ok(None);
        }
        let importances: Vec<f64> = diagonal.iter().map(|m| m / trace).collect();
        let d = importances.len() as f64;
        let stretched = |share: f64| {
            let Stretch { power, shrinkage, .. } = stretch;
            libm::pow((1.0 - shrinkage) * d * share.max(0.0) + shrinkage, power)
        };
        let matrix = if stretch.form == Form::Full { gradients.matrix() } else { None };
        let Some(matrix) = matrix else {
            return Ok(Some(Metric::of_columns(importances, stretched)));
        };
        let (values, vectors) = symmetric_eigen(&matrix)?;
        let shares: Vec<f64> = values.iter().map(|value| value.max(0.0) / trace).collect();
        let told = TOLD.min(shares.len());
        let directions = Matrix::from_fn(told, vectors.columns(), |k, j| vectors.row(k)[j]);
        let root = Root::of(&shares, &vectors, stretched);
        Ok(Some(Metric { root, importances, directions, shares: shares[..told].to_vec() }))
    }

    /// A factor for each column.
    fn of_columns(importances: Vec<f64>, stretched: impl Fn(f64) -> f64) -> Metric {
        let (d, factors): (usize, Vec<f64>) =
            (importances.len(), importances.iter().map(|share| stretched(*share)).collect());
        let unit = unit(d, factors.iter().map(|f| f * f).sum());
        // The largest first; of equal ones, the first.
        let mut order: Vec<usize> = (0..d).collect();
        order.sort_by(|a, b| importances[*b].total_cmp(&importances[*a]));
        order.truncate(TOLD);
        let directions = Matrix::from_fn(order.len(), d, |k, j| f64::from(u8::from(order[k] == j)));
        let shares = order.iter().map(|&j| importances[j]).collect();
        let root = Root::Diagonal(factors.iter().map(|f| f * unit).collect());
        Metric { root, importances, directions, shares }
    }

    /// Some columns, the others held back by a factor of thirty.
    pub(crate) fn of_chosen(columns: usize, chosen: &[usize]) -> Metric {
        let share = |j: usize| if chosen.contains(&j) { 1.0 / chosen.len() as f64 } else { 0.0 };
        let d = columns as f64;
        Metric::of_columns((0..columns).map(share).collect(), |share| (d * share + 1e-3).sqrt())
    }

    /// From stored values, of shapes that agree.
    pub(crate) fn from_parts(
        root: Root,
        importances: Vec<f64>,
        directions: Matrix<f64>,
        shares: Vec<f64>,
    ) -> Metric {
        Metric { root, importances, directions, shares }
    }

    pub(crate) fn root(&self) -> &Root {
        &self.root
    }

    /// Columns.
    pub fn columns(&self) -> usize {
        self.importances.len()
    }

    /// How much each column matters: its part of the mean square of the gradient, per deviation where columns are standardised; equal parts of columns that were chosen by themselves, where no gradients came after that. They sum to one.
    pub fn importances(&self) -> &[f64] {
        &self.importances
    }

    /// The leading directions, unit vectors, one a row; unit rows where columns are not mixed.
    pub fn directions(&self) -> &Matrix<f64> {
        &self.directions
    }

    /// The part of the mean square of the gradient along each direction.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// Whether columns are mixed.
    pub fn form(&self) -> Form {
        if matches!(self.root, Root::Diagonal(_)) { Form::Diagonal } else { Form::Full }
    }

    /// L.
    pub fn matrix(&self) -> Matrix<f64> {
        let d = self.columns();
        match &self.root {
            Root::Diagonal(factors) => Matrix::from_fn(d, d, |i, j| if i == j { factors[i] } else { 0.0 }),
            Root::Full { root, .. } => root.clone(),
            Root::Leading { floor, extra, vectors, .. } => Matrix::from_fn(d, d, |i, j| {
                let along = |k: usize| extra[k] * vectors.row(k)[i] * vectors.row(k)[j];
                (0..extra.len()).map(along).sum::<f64>() + if i == j { *floor } else { 0.0 }
            }),
        }
    }

    /// The diagonal of L.
    pub fn diagonal(&self) -> Vec<f64> {
        match &self.root {
            Root::Diagonal(factors) => factors.clone(),
            Root::Full { root, .. } => (0..self.columns()).map(|j| root.row(j)[j]).collect(),
            Root::Leading { floor, extra, vectors, .. } => (0..self.columns())
                .map(|j| floor + (0..extra.len()).map(|k| extra[k] * vectors.row(k)[j].powi(2)).sum::<f64>())
                .collect(),
        }
    }

    /// x·L of each row, on the threads of the current pool; sparse rows stay so where columns are not mixed.
    pub fn rows<T: Scalar>(&self, rows: &Rows<'_, T>) -> OwnedRows<T> {
        let (count, d) = (rows.count(), self.columns());
        if let (Root::Diagonal(factors), Rows::Sparse(sparse)) = (&self.root, rows) {
            let mut scaled = Csr::empty(d);
            for i in 0..count {
                let (indices, values) = sparse.row(i);
                let times = |(&j, x): (&u32, &T)| (j, saturated(factors[j as usize] * x.to_f64()));
                scaled.push_row(indices.iter().zip(values).map(times));
            }
            return OwnedRows::Sparse(scaled);
        }
        let mut out = Matrix::zeros(count, d);
        out.as_mut_slice().par_chunks_mut((CHUNK * d).max(1)).enumerate().for_each(|(at, out)| {
            self.fill(&rows.slice(at * CHUNK..count.min((at + 1) * CHUNK)), out);
        });
        OwnedRows::Dense(out)
    }

    /// x·L of a few rows, row i at `out[i·d..]`.
    fn fill<T: Scalar>(&self, rows: &Rows<'_, T>, out: &mut [T]) {
        let (count, d) = (rows.count(), self.columns());
        match &self.root {
            Root::Diagonal(factors) => {
                for (i, out) in out.chunks_exact_mut(d).enumerate() {
                    rows.densify(i, out);
                    let times = |(x, factor): (&mut T, &f64)| *x = saturated(factor * x.to_f64());
                    out.iter_mut().zip(factors).for_each(times);
                }
            }
            Root::Full { root, packed } => product(rows, root, packed, out),
            Root::Leading { floor, extra, vectors, packed } => {
                let mut along = Matrix::<T>::zeros(count, extra.len());
                let transposed = || Matrix::from_fn(d, extra.len(), |j, k| vectors.row(k)[j]);
                let panels = packed[0].get(|| panels(&transposed()));
                apply(rows, panels, &Apply::Product, along.as_mut_slice(), extra.len());
                for i in 0..count {
                    let times = |(t, extra): (&mut T, &f64)| *t = T::from_f64(t.to_f64() * extra);
                    along.row_mut(i).iter_mut().zip(extra).for_each(times);
                }
                product(&Rows::from(&along), vectors, &packed[1], out);
                let mut dense = vec![T::default(); d];
                for (i, out) in out.chunks_exact_mut(d).enumerate() {
                    rows.densify(i, &mut dense);
                    let add = |(to, x): (&mut T, &T)| *to = saturated(to.to_f64() + floor * x.to_f64());
                    out.iter_mut().zip(&dense).for_each(add);
                }
            }
        }
    }

    /// The gradients that were seen of rows x·L as they are of x: M ← LMLᵀ; of a diagonal, with the diagonal of L.
    pub(crate) fn pull_back(&self, gradients: &mut Gradients) {
        if gradients.is_full() {
            gradients.turn(&self.matrix());
        } else {
            gradients.scale(&self.diagonal());
        }
    }

    /// A sample of rows, stretched; they keep the order that they were drawn in.
    pub(crate) fn sample(&self, sample: &Sample) -> Sample {
        let rows = self.rows(&sample.rows(sample.len()).view());
        let rows = rows.view();
        let mut at = 0..rows.count();
        sample.clone().mapped(|row| {
            if let Some(i) = at.next() {
                row.entries = rows.doubled_entries(i);
            }
        })
    }
}

impl Root {
    /// V·diag(stretched share)·Vᵀ to ‖L‖² = d, its smallest directions alike where few others hold the trace.
    fn of(shares: &[f64], vectors: &Matrix<f64>, stretched: impl Fn(f64) -> f64) -> Root {
        let d = shares.len();
        let mut rest = 1.0;
        let kept = shares.iter().take_while(|share| {
            let is_kept = rest > REST;
            rest -= **share;
            is_kept
        });
        let kept = kept.count();
        if d >= WIDE && 4 * kept <= d {
            // The rest is as large as its mean.
            let floor = stretched(shares[kept..].iter().sum::<f64>() / (d - kept) as f64);
            let values: Vec<f64> = shares[..kept].iter().map(|share| stretched(*share)).collect();
            let square = values.iter().map(|v| v * v).sum::<f64>() + (d - kept) as f64 * floor * floor;
            let unit = unit(d, square);
            let extra = values.iter().map(|v| unit * (v - floor)).collect();
            let vectors = Matrix::from_fn(kept, d, |k, j| vectors.row(k)[j]);
            return Root::leading(unit * floor, extra, vectors);
        }
        let values: Vec<f64> = shares.iter().map(|share| stretched(*share)).collect();
        let unit = unit(d, values.iter().map(|v| v * v).sum());
        let roots: Vec<f64> = values.iter().map(|value| (unit * value).sqrt()).collect();
        let half = Matrix::from_fn(d, d, |k, j| roots[k] * vectors.row(k)[j]);
        let root = multiply(&Matrix::from_fn(d, d, |i, k| half.row(k)[i]), &half);
        // Symmetric to the last bit: one triangle of the product.
        Root::full(Matrix::from_fn(d, d, |i, j| root.row(i.min(j))[i.max(j)]))
    }

    pub(crate) fn full(root: Matrix<f64>) -> Root {
        Root::Full { root, packed: Packed::default() }
    }

    pub(crate) fn leading(floor: f64, extra: Vec<f64>, vectors: Matrix<f64>) -> Root {
        Root::Leading { floor, extra, vectors, packed: Default::default() }
    }
}

/// What brings a sum of squares to d.
fn unit(d: usize, square: f64) -> f64 {
    (d as f64 / square).sqrt()
}

/// Rows times a matrix, each row by itself.
fn product<T: Scalar>(rows: &Rows<'_, T>, matrix: &Matrix<f64>, packed: &Packed, out: &mut [T]) {
    let panels = packed.get(|| panels(matrix));
    apply(rows, panels, &Apply::Product, out, matrix.columns());
    out.iter_mut().for_each(|x| *x = saturated(x.to_f64()));
}

fn panels<T: Scalar>(matrix: &Matrix<f64>) -> Panels<T> {
    Panels::pack(Isa::best(), matrix.rows(), matrix.columns(), |j, column: &mut [T]| {
        column.iter_mut().enumerate().for_each(|(i, to)| *to = T::from_f64(matrix.row(i)[j]));
    })
}

/// Rows that are finite stay finite; ∞ − ∞ of sums that overflowed is zero.
fn saturated<T: Scalar>(value: f64) -> T {
    let most = if size_of::<T>() == 4 { f64::from(f32::MAX) } else { f64::MAX };
    T::from_f64(if value.is_nan() { 0.0 } else { value.clamp(-most, most) })
}

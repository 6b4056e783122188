//! What similarity means: kernels, their exact values, and their text.
//!
//! A kernel's formula, the law of its spectrum and the meaning of its parameter are stated once, in the file
//! of that name; this file turns them into values of pairs, Gram matrices and diagonals, for dense and sparse rows of either precision.

mod gaussian;
mod hat;
mod laplace;
mod linear;
mod text;

use bochner_simd::{Apply, Distance, Isa, Panels, RowsRef, SparseRowsRef};
use serde::{Deserialize, Serialize};

use crate::plan::available_memory;
use crate::{Csr, Error, Matrix, OwnedRows, Result, Rows, Scalar};

/// A kernel. Reads and prints as text: `"gaussian(sigma=2)".parse()`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Kernel {
    /// x·y
    Linear,
    /// exp(−‖x − y‖² / (2·sigma²))
    Gaussian {
        /// The width, in the units of the rows; γ = 1/(2·sigma²).
        sigma: f64,
    },
    /// exp(−‖x − y‖₁ / scale), the product over columns of exp(−|xⱼ − yⱼ| / scale)
    Laplace {
        /// The width, in the units of the rows; γ = 1/scale.
        scale: f64,
    },
    /// ∏ max(0, 1 − |xⱼ − yⱼ| / width)
    Hat {
        /// Where each factor ends, in the units of the rows.
        width: f64,
    },
}

/// How a kernel is computed from a sum over columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    /// Σ xⱼyⱼ
    Product,
    /// exp(−rate·Σ distance(xⱼ, yⱼ))
    Decay { distance: Distance, rate: f64 },
    /// ∏ max(0, 1 − |xⱼ − yⱼ|/width)
    Hat { width: f64 },
}

/// The law of the pitch of a random grid whose cells are shared with the kernel's probability, each column by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pitch {
    /// Gamma with shape 2.
    Gamma { scale: f64 },
    /// One pitch.
    Fixed { width: f64 },
}

impl Pitch {
    /// What the bound that holds everywhere needs of the law: the larger of E[1/pitch] and the steepest slope of the kernel in one column. Both
    /// are one over the width, for hats and for their Gamma mixture alike.
    pub(crate) fn rate(self) -> f64 {
        match self {
            Pitch::Gamma { scale } => 1.0 / scale,
            Pitch::Fixed { width } => 1.0 / width,
        }
    }
}

/// The law whose characteristic function a shift-invariant kernel is; frequencies are drawn from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Spectrum {
    /// Independent normals: isotropic, so that directions may be made orthogonal.
    Normal { deviation: f64 },
    /// Independent Cauchy variables: not isotropic, without moments.
    Cauchy { scale: f64 },
}

/// Widths for which squares of differences neither vanish nor overflow.
const WIDTHS: std::ops::RangeInclusive<f64> = 1e-18..=1e18;

impl Kernel {
    /// The parameter lies in its domain.
    pub fn validate(&self) -> Result<()> {
        let positive = |name, value: f64| {
            // Squares of widths must be numbers in single precision too.
            if WIDTHS.contains(&value) {
                Ok(())
            } else {
                Err(Error::Parameter {
                    name,
                    expected: "between 1e-18 and 1e18",
                    found: crate::error::number(value),
                })
            }
        };
        match *self {
            Kernel::Linear => Ok(()),
            Kernel::Gaussian { sigma } => positive("sigma", sigma),
            Kernel::Laplace { scale } => positive("scale", scale),
            Kernel::Hat { width } => positive("width", width),
        }
    }

    pub(crate) fn form(&self) -> Form {
        match *self {
            Kernel::Linear => linear::form(),
            Kernel::Gaussian { sigma } => gaussian::form(sigma),
            Kernel::Laplace { scale } => laplace::form(scale),
            Kernel::Hat { width } => hat::form(width),
        }
    }

    /// The spectral law, where there is one to draw from.
    pub(crate) fn spectrum(&self) -> Option<Spectrum> {
        match *self {
            Kernel::Linear | Kernel::Hat { .. } => None,
            Kernel::Gaussian { sigma } => Some(gaussian::spectrum(sigma)),
            Kernel::Laplace { scale } => Some(laplace::spectrum(scale)),
        }
    }

    /// The law of pitches; none for kernels that are no products of mixtures of hats.
    pub(crate) fn pitch(&self) -> Option<Pitch> {
        match *self {
            Kernel::Linear | Kernel::Gaussian { .. } => None,
            Kernel::Laplace { scale } => Some(laplace::pitch(scale)),
            Kernel::Hat { width } => Some(hat::pitch(width)),
        }
    }

    /// The same kernel with its width times `factor`.
    pub(crate) fn widened(&self, factor: f64) -> Kernel {
        match *self {
            Kernel::Linear => Kernel::Linear,
            Kernel::Gaussian { sigma } => Kernel::Gaussian { sigma: sigma * factor },
            Kernel::Laplace { scale } => Kernel::Laplace { scale: scale * factor },
            Kernel::Hat { width } => Kernel::Hat { width: width * factor },
        }
    }

    /// k(x, y) for row i of `x` and row j of `y`, in f64.
    ///
    /// The reference for everything that approximates it: one pass over the columns where either row is not zero.
    pub fn eval<T: Scalar>(&self, x: &Rows<'_, T>, i: usize, y: &Rows<'_, T>, j: usize) -> f64 {
        match (x, y) {
            // The same sums in the same order: terms of two zeros change nothing.
            (Rows::Dense(x), Rows::Dense(y)) => {
                let pairs = x.row(i).iter().zip(y.row(j)).map(|(a, b)| (a.to_f64(), b.to_f64()));
                self.of_pairs(pairs)
            }
            (Rows::Sparse(x), Rows::Sparse(y)) if self.form() == Form::Product => shared(x.row(i), y.row(j)),
            _ => self.of_pairs(merge(x.entries(i), y.entries(j))),
        }
    }

    /// The kernel of two rows, given their entries column by column.
    fn of_pairs(&self, pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
        match self.form() {
            Form::Product => pairs.map(|(a, b)| a * b).sum(),
            Form::Decay { distance, rate } => libm::exp(-rate * total(distance, pairs)),
            Form::Hat { width } => pairs.map(|(a, b)| hat::factor(a, b, width)).product(),
        }
    }

    /// The distance between rows i and j that the kernel is a function of, in units of its width; none for products.
    pub(crate) fn distance<T: Scalar>(&self, x: &Rows<'_, T>, i: usize, j: usize) -> Option<f64> {
        let pairs = merge(x.entries(i), x.entries(j));
        match self.form() {
            Form::Product => None,
            Form::Decay { distance: Distance::Squared, rate } => {
                Some((2.0 * rate * total(Distance::Squared, pairs)).sqrt())
            }
            Form::Decay { distance, rate } => Some(rate * total(distance, pairs)),
            Form::Hat { width } => Some(total(Distance::Absolute, pairs) / width),
        }
    }

    /// k(xᵢ, yⱼ) for all pairs: one row for each of `x`, one column for each of `y`, in the precision of the rows.
    pub fn gram<T: Scalar>(&self, x: &Rows<'_, T>, y: &Rows<'_, T>) -> Result<Matrix<T>> {
        self.validate()?;
        if x.columns() != y.columns() {
            return Err(Error::ColumnCount { expected: x.columns(), found: y.columns() });
        }
        let needed = (x.count() as u64).saturating_mul((y.count() * size_of::<T>()) as u64);
        let limit = available_memory().unwrap_or(u64::MAX);
        if needed > limit {
            return Err(Error::Memory {
                what: format!("a matrix of {} × {} kernel values", x.count(), y.count()),
                needed,
                limit,
            });
        }
        let mut out = Matrix::zeros(x.count(), y.count());
        match (in_double(x), self.packed_loop(), self.packed_loop()) {
            (Some(x), Some(what), _) if self.form() != Form::Product => {
                let mut values = vec![0.0; x.view().count() * y.count()];
                let dense = densified(y);
                apply(&x.view(), &pack_rows(&Rows::from(&dense)), &what, &mut values, y.count());
                out.as_mut_slice().iter_mut().zip(values).for_each(|(to, value)| *to = T::from_f64(value));
            }
            (_, _, Some(what)) => apply(x, &pack_rows(y), &what, out.as_mut_slice(), y.count()),
            _ => self.pairwise(x, y, out.as_mut_slice()),
        }
        Ok(out)
    }

    /// k(xᵢ, xᵢ) for all rows.
    pub fn diagonal<T: Scalar>(&self, x: &Rows<'_, T>) -> Vec<f64> {
        match self.form() {
            Form::Product => (0..x.count()).map(|i| self.eval(x, i, x, i)).collect(),
            Form::Decay { .. } | Form::Hat { .. } => vec![1.0; x.count()],
        }
    }

    /// k(xᵢ, yⱼ) one by one, for kernels without a loop of their own: row i at `out[i·count..]`.
    pub(crate) fn pairwise<T: Scalar>(&self, x: &Rows<'_, T>, y: &Rows<'_, T>, out: &mut [T]) {
        for (i, out) in out.chunks_exact_mut(y.count().max(1)).enumerate() {
            out.iter_mut().enumerate().for_each(|(j, out)| *out = T::from_f64(self.eval(x, i, y, j)));
        }
    }

    /// The loop over packed columns that gives the kernel's values; none for hats, which are [pairwise](Kernel::pairwise).
    pub(crate) fn packed_loop<T: Scalar>(&self) -> Option<Apply<'static, T>> {
        match self.form() {
            Form::Product => Some(Apply::Product),
            Form::Decay { distance, rate } => Some(Apply::Exponential { distance, rate }),
            Form::Hat { .. } => None,
        }
    }
}

/// Sparse rows of single precision in double, none for others. A distance to a sparse row is a difference of large sums:
/// it needs the digits.
pub(crate) fn in_double<T: Scalar>(rows: &Rows<'_, T>) -> Option<OwnedRows<f64>> {
    let Rows::Sparse(sparse) = rows else { return None };
    if size_of::<T>() == size_of::<f64>() {
        return None;
    }
    let mut double = Csr::empty(sparse.columns());
    for i in 0..sparse.rows() {
        double.push_row(rows.entries(i).map(|(j, x)| (j, x.to_f64())));
    }
    Some(OwnedRows::Sparse(double))
}

/// All entries in double precision.
fn densified<T: Scalar>(rows: &Rows<'_, T>) -> Matrix<f64> {
    let mut row = vec![T::default(); rows.columns()];
    let mut dense = Matrix::zeros(rows.count(), rows.columns());
    for i in 0..rows.count() {
        rows.densify(i, &mut row);
        dense.row_mut(i).iter_mut().zip(&row).for_each(|(to, x)| *to = x.to_f64());
    }
    dense
}

/// Packs rows as the columns of a product.
pub(crate) fn pack_rows<T: Scalar>(rows: &Rows<'_, T>) -> Panels<T> {
    Panels::pack(Isa::best(), rows.columns(), rows.count(), |j, column| rows.densify(j, column))
}

/// The loop over rows for either shape of them.
pub(crate) fn apply<T: Scalar>(
    rows: &Rows<'_, T>,
    panels: &Panels<T>,
    what: &Apply<'_, T>,
    out: &mut [T],
    stride: usize,
) {
    match rows {
        Rows::Dense(rows) => {
            let rows = RowsRef { data: rows.as_slice(), count: rows.rows(), stride: rows.stride() };
            bochner_simd::apply(rows, panels, what, out, stride);
        }
        Rows::Sparse(rows) => {
            let rows =
                SparseRowsRef { starts: rows.starts(), indices: rows.indices(), values: rows.values() };
            bochner_simd::apply_sparse(rows, panels, what, out, stride);
        }
    }
}

/// Σ distance over columns, in f64.
fn total(distance: Distance, pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    match distance {
        Distance::Squared => pairs.map(|(a, b)| (a - b) * (a - b)).sum(),
        Distance::Absolute => pairs.map(|(a, b)| (a - b).abs()).sum(),
    }
}

/// Σ xⱼyⱼ over the columns that two sparse rows share.
fn shared<T: Scalar>(x: (&[u32], &[T]), y: (&[u32], &[T])) -> f64 {
    let (mut a, mut b, mut sum) = (0, 0, 0.0);
    while a < x.0.len() && b < y.0.len() {
        let (i, j) = (x.0[a], y.0[b]);
        if i == j {
            sum += x.1[a].to_f64() * y.1[b].to_f64();
        }
        // Both where they are equal: which one is hard to foresee, so no branch.
        a += usize::from(i <= j);
        b += usize::from(j <= i);
    }
    sum
}

/// The entries of two rows at every column where either is not zero.
fn merge<T: Scalar>(
    a: impl Iterator<Item = (u32, T)>,
    b: impl Iterator<Item = (u32, T)>,
) -> impl Iterator<Item = (f64, f64)> {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    std::iter::from_fn(move || {
        let (i, j) = (a.peek().map(|e| e.0), b.peek().map(|e| e.0));
        let column = match (i, j) {
            (None, None) => return None,
            (Some(i), Some(j)) => i.min(j),
            (Some(only), None) | (None, Some(only)) => only,
        };
        let x = a.next_if(|e| e.0 == column).map_or(0.0, |e| e.1.to_f64());
        let y = b.next_if(|e| e.0 == column).map_or(0.0, |e| e.1.to_f64());
        Some((x, y))
    })
}

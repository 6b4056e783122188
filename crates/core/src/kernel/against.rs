//! A kernel against fixed rows: blocks of Gram matrices.
//!
//! ```text
//! out[i·m + j] = k(xᵢ, yⱼ)        what depends on y₁ … y_m alone is done once
//! ```
//! The tree of the expression, with each leaf's rows prepared: columns chosen, divided by their widths, packed for the loop that fits. Sums of products and of
//! differences run in packed loops, functions of them value by value after it; products over columns and sums of χ² run pair by pair. Nodes work on whole blocks.

use bochner_simd::{Apply, Distance, Panels, RowsRef, SparseRowsRef};

use super::value::Profile;
use super::{Column, Form, Inner, Kernel, RowFactor, Width, columns, gaussian};
use crate::map::prepared;
use crate::{Csr, Engine, Error, Event, Matrix, OwnedRows, Result, Rows, Scalar};

/// A kernel against fixed rows.
#[derive(Clone, Debug)]
pub(crate) struct Against<T: Scalar> {
    node: Node<T>,
    count: usize,
}

/// [`Against`] in either precision.
pub(crate) struct OfAgainst;

impl crate::map::Family for OfAgainst {
    type Of<T: Scalar> = Against<T>;
}

#[derive(Clone, Debug)]
enum Node<T: Scalar> {
    Constant,
    /// One loop over packed columns, then a function of each value.
    Packed {
        prepare: Prepare<T>,
        panels: Panels<T>,
        what: Simple,
        finish: Finish,
    },
    /// Value by value.
    Pairs {
        kernel: Kernel,
        rows: OwnedRows<T>,
    },
    Scaled {
        factor: f64,
        node: Box<Node<T>>,
    },
    Sum(Vec<Node<T>>),
    Product(Vec<Node<T>>),
    Exp(Box<Node<T>>),
    /// exp(k(x, y) − ½(k(x, x) + k(y, y))): exp K, normalised by its exponents.
    NormalisedExp {
        kernel: Kernel,
        theirs: Vec<f64>,
        node: Box<Node<T>>,
    },
    /// Times a number of x and a number of each y.
    Sided {
        side: RowFactor,
        theirs: Vec<f64>,
        node: Box<Node<T>>,
    },
}

/// What a leaf does to rows before its loop.
#[derive(Clone, Debug)]
struct Prepare<T: Scalar> {
    /// The columns it looks at; none for all.
    columns: Option<Vec<usize>>,
    /// What each column is multiplied with; none for one.
    factors: Option<Vec<f64>>,
    /// B of a bilinear kernel.
    lift: Option<Panels<T>>,
}

/// A kernel that is one loop over packed columns, or what such a loop gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Simple {
    /// Σ xⱼyⱼ
    Product,
    /// exp(−rate·Σ distance(xⱼ, yⱼ))
    Decay { distance: Distance, rate: f64 },
    /// Σ (xⱼ − yⱼ)²
    Square,
}

/// What becomes of a loop's value.
#[derive(Clone, Debug)]
enum Finish {
    Nothing,
    /// Of the squared distance times a factor.
    Radial {
        factor: f64,
        profile: Profile,
    },
    /// Of x·y, by the kernel's own formula; ‖y‖² of each y where lengths are needed.
    Inner {
        kernel: Kernel,
        squares: Vec<f64>,
    },
}

impl Simple {
    pub(crate) fn apply<T: Scalar>(self) -> Apply<'static, T> {
        match self {
            Simple::Product => Apply::Product,
            Simple::Decay { distance, rate } => Apply::Exponential { distance, rate },
            Simple::Square => Apply::Distance(Distance::Squared),
        }
    }
}

impl Kernel {
    /// The loop that gives the kernel's values from rows as they are; none where it takes more than that.
    pub(crate) fn simple(&self) -> Option<Simple> {
        match self {
            Kernel::Linear => Some(Simple::Product),
            Kernel::Gaussian { sigma: Width::One(sigma) } => {
                Some(Simple::Decay { distance: Distance::Squared, rate: gaussian::RATE / (sigma * sigma) })
            }
            Kernel::Laplace { scale: Width::One(scale) } => {
                Some(Simple::Decay { distance: Distance::Absolute, rate: 1.0 / scale })
            }
            _ => None,
        }
    }

    /// k(xᵢ, yⱼ) for all pairs: one row for each of `x`, one column for each of `y`, in the precision of the rows.
    #[inline(never)]
    pub fn gram<T: Scalar>(&self, engine: &Engine, x: &Rows<'_, T>, y: &Rows<'_, T>) -> Result<Matrix<T>> {
        let needed = (x.count() as u64).saturating_mul((y.count() * size_of::<T>()) as u64);
        engine.check_memory(|| format!("a matrix of {} × {} kernel values", x.count(), y.count()), needed)?;
        let mut out = Matrix::zeros(x.count(), y.count());
        self.gram_into(engine, x, y, out.as_mut_slice())?;
        Ok(out)
    }

    /// The same, written to memory of the caller's, row after row.
    #[inline(never)]
    pub fn gram_into<T: Scalar>(
        &self,
        engine: &Engine,
        x: &Rows<'_, T>,
        y: &Rows<'_, T>,
        out: &mut [T],
    ) -> Result<()> {
        self.check_pairs(x, y, out.len())?;
        let finite = |row: usize, out: &[T]| match out.iter().position(|value| !value.to_f64().is_finite()) {
            None => Ok(()),
            Some(at) => {
                let (row, column) = ((row + at / y.count()) as u64, at % y.count());
                Err(Error::NotFinite { what: "the kernel values", row, column, value: out[at].to_f64() })
            }
        };
        if self.in_double(&x.slice(0..0)).is_none() {
            let against = Against::new(engine, self, y)?;
            return in_pieces(engine, x, y, out, &|row, x, out| {
                against.fill(x, out);
                finite(row, out)
            });
        }
        let against = Against::new(engine, self, &Rows::from(&densified(y)))?;
        in_pieces(engine, x, y, out, &|row, x, out| {
            // What holds for all rows holds for some.
            let Some(double) = self.in_double(x) else { return Ok(()) };
            let mut values = vec![0.0; out.len()];
            against.fill(&double.view(), &mut values);
            out.iter_mut().zip(values).for_each(|(to, value)| *to = T::from_f64(value));
            finite(row, out)
        })
    }

    /// ‖φ(xᵢ) − φ(yⱼ)‖ for all pairs, written to memory of the caller's, row after row.
    #[inline(never)]
    pub fn distances_into<T: Scalar>(
        &self,
        engine: &Engine,
        x: &Rows<'_, T>,
        y: &Rows<'_, T>,
        out: &mut [f64],
    ) -> Result<()> {
        self.check_pairs(x, y, out.len())?;
        in_pieces(engine, x, y, out, &|_, x, out| {
            for (i, out) in out.chunks_exact_mut(y.count()).enumerate() {
                out.iter_mut().enumerate().for_each(|(j, to)| *to = self.distance(x, i, y, j));
            }
            Ok(())
        })
    }

    /// Both have the kernel's columns and lie in its domain, and there is room for a value of each
    /// pair.
    fn check_pairs<T: Scalar>(&self, x: &Rows<'_, T>, y: &Rows<'_, T>, length: usize) -> Result<()> {
        self.check(x.columns())?;
        if x.columns() != y.columns() {
            return Err(Error::ColumnCount { expected: x.columns(), found: y.columns() });
        }
        self.check_rows(x, 0)?;
        self.check_rows(y, 0)?;
        let expected = x.count().saturating_mul(y.count());
        if length == expected {
            Ok(())
        } else {
            Err(Error::Length { what: "kernel values to write", expected, found: length })
        }
    }

    /// Rows of single precision in double, where the kernel needs the digits: a distance to a sparse row is a difference of large
    /// sums, and an angle near zero has half the digits of its cosine.
    pub(crate) fn in_double<T: Scalar>(&self, rows: &Rows<'_, T>) -> Option<OwnedRows<f64>> {
        if size_of::<T>() == size_of::<f64>() || *self == Kernel::Linear {
            return None;
        }
        let Rows::Sparse(sparse) = rows else {
            return self.has_angles().then(|| OwnedRows::Dense(densified(rows)));
        };
        let mut double = Csr::empty(sparse.columns());
        for i in 0..sparse.rows() {
            double.push_row(rows.entries(i).map(|(j, x)| (j, x.to_f64())));
        }
        Some(OwnedRows::Sparse(double))
    }
}

/// Writes values of some rows; the first of them has this number.
type Fill<'a, T, V> = dyn Fn(usize, &Rows<'_, T>, &mut [V]) -> Result<()> + Sync + 'a;

/// Calls `fill` with some rows of `x`, the number of the first of them, and what is written for
/// them; the first error in the order of rows.
fn in_pieces<T: Scalar, V: Send>(
    engine: &Engine,
    x: &Rows<'_, T>,
    y: &Rows<'_, T>,
    out: &mut [V],
    fill: &Fill<'_, T, V>,
) -> Result<()> {
    /// Rows of a piece.
    const PIECE: usize = 256;
    let mut pieces: Vec<_> = out.chunks_mut(PIECE * y.count().max(1)).map(|out| (out, Ok(()))).collect();
    engine.for_each_mut(&mut pieces, &|p, (out, done)| {
        let start = p * PIECE;
        let rows = x.slice(start..x.count().min(start + PIECE));
        *done = engine.tell(&Event::Alive).and_then(|()| fill(start, &rows, out));
    });
    pieces.into_iter().try_for_each(|(_, done)| done)
}

impl Kernel {
    /// The function of x·y that a leaf is, if it is one.
    fn inner(&self) -> Option<Inner<'_>> {
        match self.form() {
            Some(Form::Inner(inner)) => Some(inner),
            _ => None,
        }
    }

    fn has_angles(&self) -> bool {
        matches!(self, Kernel::ArcCosine { .. }) || self.parts().iter().any(Kernel::has_angles)
    }
}

impl<T: Scalar> Against<T> {
    /// Prepares rows that have the kernel's columns and lie in its domain.
    pub(crate) fn new(engine: &Engine, kernel: &Kernel, rows: &Rows<'_, T>) -> Result<Self> {
        Ok(Against { node: Node::new(engine, kernel, rows)?, count: rows.count() })
    }

    /// Zeros, for rows that a kernel has no value for.
    pub(crate) fn nothing(count: usize) -> Self {
        Against { node: Node::Sum(Vec::new()), count }
    }

    /// k(xᵢ, yⱼ) at `out[i·count + j]`.
    pub(crate) fn fill(&self, rows: &Rows<'_, T>, out: &mut [T]) {
        if self.count > 0 {
            self.node.fill(rows, self.count, out);
        }
    }
}

impl<T: Scalar> Node<T> {
    fn new(engine: &Engine, kernel: &Kernel, rows: &Rows<'_, T>) -> Result<Self> {
        let one = |kernel: &Kernel| Node::new(engine, kernel, rows).map(Box::new);
        let all = |kernels: &[Kernel]| {
            kernels.iter().map(|kernel| Node::new(engine, kernel, rows)).collect::<Result<Vec<_>>>()
        };
        let sided = |side: RowFactor, kernel: &Kernel| {
            let theirs = (0..rows.count()).map(|j| side.of(rows, j)).collect();
            Ok(Node::Sided { side, theirs, node: one(kernel)? })
        };
        Ok(match kernel {
            Kernel::Scaled { factor, kernel } => Node::Scaled { factor: *factor, node: one(kernel)? },
            Kernel::Sum { terms } => Node::Sum(all(terms)?),
            Kernel::Product { factors } => Node::Product(all(factors)?),
            Kernel::Exp { kernel } => Node::Exp(one(kernel)?),
            Kernel::Weighted { function, kernel } => {
                return sided(RowFactor::Function(function.clone()), kernel);
            }
            Kernel::Normalised { kernel } if matches!(**kernel, Kernel::Exp { .. }) => {
                let exponent = &kernel.parts()[0];
                let theirs = exponent.diagonal(rows);
                Node::NormalisedExp { kernel: exponent.clone(), theirs, node: one(exponent)? }
            }
            Kernel::Normalised { kernel } => return sided(RowFactor::Length((**kernel).clone()), kernel),
            Kernel::Restricted { columns, kernel } => Node::leaf(engine, kernel, Some(columns), rows)?,
            leaf => Node::leaf(engine, leaf, None, rows)?,
        })
    }

    fn leaf(
        engine: &Engine,
        kernel: &Kernel,
        columns: Option<&[Column]>,
        rows: &Rows<'_, T>,
    ) -> Result<Self> {
        let restricted = || {
            columns.map_or_else(
                || kernel.clone(),
                |columns| Kernel::Restricted { columns: columns.to_vec(), kernel: Box::new(kernel.clone()) },
            )
        };
        let pairs = || Node::Pairs { kernel: restricted(), rows: owned(rows) };
        let Some(form) = kernel.form() else { return Ok(pairs()) };
        let mut prepare =
            Prepare { columns: columns.map(|c| columns::numbers(c).collect()), factors: None, lift: None };
        let (what, finish) = match (form, kernel.simple()) {
            (Form::Constant, _) => return Ok(Node::Constant),
            (_, Some(simple)) => (simple, Finish::Nothing),
            (Form::Inner(_), None) => {
                (Simple::Product, Finish::Inner { kernel: kernel.clone(), squares: Vec::new() })
            }
            (Form::Bilinear(form), None) => {
                let factor = form.factor();
                prepare.lift = Some(Panels::pack(
                    engine.isa(),
                    factor.columns(),
                    factor.rows(),
                    &mut |i, to: &mut [T]| {
                        to.iter_mut().zip(factor.row(i)).for_each(|(to, &b)| *to = T::from_f64(b));
                    },
                ));
                (Simple::Product, Finish::Nothing)
            }
            (Form::Radial { width: Width::One(width), profile }, None) => {
                (Simple::Square, Finish::Radial { factor: 1.0 / (width * width), profile })
            }
            (Form::Radial { width: Width::Each(widths), profile }, None) => {
                prepare.factors = Some(widths.iter().map(|width| 1.0 / width).collect());
                match kernel {
                    Kernel::Gaussian { .. } => {
                        (Simple::Decay { distance: Distance::Squared, rate: gaussian::RATE }, Finish::Nothing)
                    }
                    _ => (Simple::Square, Finish::Radial { factor: 1.0, profile }),
                }
            }
            (Form::Absolute { width }, None) => {
                if let Width::Each(widths) = width {
                    prepare.factors = Some(widths.iter().map(|width| 1.0 / width).collect());
                }
                (Simple::Decay { distance: Distance::Absolute, rate: 1.0 }, Finish::Nothing)
            }
            (Form::Factors { .. } | Form::Terms { .. } | Form::Symmetric { .. }, None) => return Ok(pairs()),
        };
        let prepared = prepare.rows(rows);
        let view = prepared.as_ref().map_or(*rows, OwnedRows::view);
        let finish = match finish {
            Finish::Inner { kernel, .. } if kernel.inner().is_some_and(Inner::needs_lengths) => {
                Finish::Inner { kernel, squares: squares(&view) }
            }
            finish => finish,
        };
        Ok(Node::Packed { panels: pack_rows(engine, &view), prepare, what, finish })
    }

    fn fill(&self, rows: &Rows<'_, T>, count: usize, out: &mut [T]) {
        match self {
            Node::Constant => out.fill(T::from_f64(1.0)),
            Node::Packed { prepare, panels, what, finish } => {
                let prepared = prepare.rows(rows);
                let view = prepared.as_ref().map_or(*rows, OwnedRows::view);
                let dense = (*what == Simple::Square).then(|| with_zeros(&view)).flatten();
                let view = dense.as_ref().map_or(view, Rows::from);
                apply(&view, panels, &what.apply(), out, count);
                finish.values(&view, count, out);
            }
            Node::Pairs { kernel, rows: others } => {
                let others = others.view();
                for (i, out) in out.chunks_exact_mut(count).enumerate() {
                    out.iter_mut()
                        .enumerate()
                        .for_each(|(j, out)| *out = T::from_f64(kernel.eval(rows, i, &others, j)));
                }
            }
            Node::Scaled { factor, node } => {
                node.fill(rows, count, out);
                out.iter_mut().for_each(|value| *value = T::from_f64(factor * value.to_f64()));
            }
            Node::Sum(nodes) => Self::fold(nodes, rows, count, out, |a, b| a + b),
            Node::Product(nodes) => Self::fold(nodes, rows, count, out, |a, b| a * b),
            Node::Exp(node) => {
                node.fill(rows, count, out);
                out.iter_mut().for_each(|value| *value = T::from_f64(libm::exp(value.to_f64())));
            }
            Node::NormalisedExp { kernel, theirs, node } => {
                node.fill(rows, count, out);
                for (out, own) in out.chunks_exact_mut(count).zip(kernel.diagonal(rows)) {
                    let value = |k: f64, y: f64| libm::exp(k - 0.5 * (own + y));
                    out.iter_mut().zip(theirs).for_each(|(to, y)| *to = T::from_f64(value(to.to_f64(), *y)));
                }
            }
            Node::Sided { side, theirs, node } => {
                node.fill(rows, count, out);
                for (i, out) in out.chunks_exact_mut(count).enumerate() {
                    let own = side.of(rows, i);
                    out.iter_mut().zip(theirs).for_each(|(to, y)| *to = T::from_f64(to.to_f64() * (own * y)));
                }
            }
        }
    }

    fn fold(nodes: &[Self], rows: &Rows<'_, T>, count: usize, out: &mut [T], with: fn(f64, f64) -> f64) {
        let Some((first, others)) = nodes.split_first() else { return out.fill(T::default()) };
        first.fill(rows, count, out);
        let mut values = vec![T::default(); out.len()];
        for node in others {
            node.fill(rows, count, &mut values);
            out.iter_mut()
                .zip(&values)
                .for_each(|(to, value)| *to = T::from_f64(with(to.to_f64(), value.to_f64())));
        }
    }
}

impl Finish {
    fn values<T: Scalar>(&self, rows: &Rows<'_, T>, count: usize, out: &mut [T]) {
        match self {
            Finish::Nothing => {}
            Finish::Radial { factor, profile } => {
                out.iter_mut().for_each(|value| *value = T::from_f64(profile.value(factor * value.to_f64())));
            }
            Finish::Inner { kernel, squares: theirs } => {
                let Some(inner) = kernel.inner() else { return };
                if !inner.needs_lengths() {
                    let of = |value: f64| T::from_f64(inner.value(value, 0.0, 0.0));
                    return out.iter_mut().for_each(|value| *value = of(value.to_f64()));
                }
                let own = self::squares(rows);
                for (out, xx) in out.chunks_exact_mut(count).zip(own) {
                    out.iter_mut()
                        .zip(theirs)
                        .for_each(|(to, &yy)| *to = T::from_f64(inner.value(to.to_f64(), xx, yy)));
                }
            }
        }
    }
}

impl<T: Scalar> Prepare<T> {
    /// Rows as the loop takes them; none if they are so already.
    fn rows(&self, rows: &Rows<'_, T>) -> Option<OwnedRows<T>> {
        let chosen = prepared(rows, self.columns.as_deref(), self.factors.as_deref().unwrap_or(&[]));
        let Some(lift) = &self.lift else { return chosen };
        let view = chosen.as_ref().map_or(*rows, OwnedRows::view);
        let mut lifted = Matrix::zeros(rows.count(), lift.columns());
        apply(&view, lift, &Apply::Product, lifted.as_mut_slice(), lift.columns());
        Some(OwnedRows::Dense(lifted))
    }
}

/// ‖x‖² of each row.
fn squares<T: Scalar>(rows: &Rows<'_, T>) -> Vec<f64> {
    (0..rows.count()).map(|i| rows.entries(i).map(|(_, x)| x.to_f64() * x.to_f64()).sum()).collect()
}

fn owned<T: Scalar>(rows: &Rows<'_, T>) -> OwnedRows<T> {
    match rows {
        Rows::Dense(dense) => OwnedRows::Dense(dense.to_matrix()),
        Rows::Sparse(_) => {
            let mut copy = Csr::empty(rows.columns());
            (0..rows.count()).for_each(|i| copy.push_row(rows.entries(i)));
            OwnedRows::Sparse(copy)
        }
    }
}

/// Sparse rows with their zeros. The distance to a sparse row is a difference of large sums, and what rounding leaves of it counts for a kernel that is not smooth
/// where rows are equal: a root of 1e-16 is 1e-8.
fn with_zeros<T: Scalar>(rows: &Rows<'_, T>) -> Option<Matrix<T>> {
    let Rows::Sparse(_) = rows else { return None };
    let mut dense = Matrix::zeros(rows.count(), rows.columns());
    (0..rows.count()).for_each(|i| rows.densify(i, dense.row_mut(i)));
    Some(dense)
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
fn pack_rows<T: Scalar>(engine: &Engine, rows: &Rows<'_, T>) -> Panels<T> {
    Panels::pack(engine.isa(), rows.columns(), rows.count(), &mut |j, column| rows.densify(j, column))
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

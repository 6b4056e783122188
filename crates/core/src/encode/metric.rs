//! A learned metric: rows stretched along the directions in which the target changes.
//!
//! ```text
//! x′ = x·L,    L ∝ ((1 − s)·d·M/tr M + s·I)^p,    ‖L‖² = d            ‖x′ − y′‖² = (x − y)ᵀL²(x − y)
//! ```
//! M is the mean outer product of a function's gradients (`stat/gradients.rs`), s ≥ 10⁻⁴ keeps every direction, and p is ½ for M^½ itself, ¼ for a milder one. L is symmetric: all of it, its
//! diagonal alone (sparse rows stay sparse), or its leading directions, all others being alike.
//!
//! Of thousands of columns, most of them zero, x·L has d numbers that are not. Columns that are added to the row have the same distances and leave its zeros zero:
//!
//! ```text
//! x′ = (f·x, x·VE),    L² = f²I + VE²Vᵀ          ‖x′ − y′‖² = f²‖x − y‖² + ‖EVᵀ(x − y)‖² = (x − y)ᵀL²(x − y)
//! ```
//! `docs/book/metric.md`.

use bochner_simd::{Apply, Panels};
use serde::{Deserialize, Serialize};

use crate::kernel::apply;
use crate::linalg::multiply;
use crate::map::Packed;
use crate::stat::{Gradients, Sample};
use crate::{Csr, Engine, Error, Matrix, OwnedRows, Result, Rows, Scalar};

/// What of M is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Its diagonal: a factor for each column.
    Diagonal,
    /// All of it, or as many directions as hold all but a thousandth of its trace where these are few.
    Full,
    /// Its leading directions, at most 16, as columns that are added to the rows: of rows with many columns.
    Leading,
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

/// Columns that are added at most.
pub(crate) const ADDED: usize = 16;

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
    /// f, and VE: as many rows as there are columns.
    Added {
        floor: f64,
        along: Matrix<f64>,
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
            (Root::Added { floor, along }, Root::Added { floor: f, along: a }) => floor == f && along == a,
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
    /// L of the gradients that were seen; none if there are none, not all are finite, or no direction leads.
    pub fn new(engine: &Engine, gradients: &Gradients, stretch: Stretch) -> Result<Option<Metric>> {
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
        let known = match stretch.form {
            Form::Diagonal => None,
            Form::Full if !gradients.is_full() => None,
            Form::Full | Form::Leading => gradients.eigen(engine)?,
        };
        let Some((values, vectors)) = known else {
            return Ok(Some(Metric::of_columns(importances, stretched)));
        };
        // What is known by a few products is known up to rounding that grows.
        let most = if gradients.is_full() { f64::INFINITY } else { 1.0 };
        let shares: Vec<f64> = values.iter().map(|value| (value.max(0.0) / trace).min(most)).collect();
        let told = TOLD.min(shares.len());
        let directions = Matrix::from_fn(told, vectors.columns(), |k, j| vectors.row(k)[j]);
        let root = if stretch.form == Form::Leading {
            let Some(root) = Root::added(&shares, &vectors, stretched) else { return Ok(None) };
            root
        } else {
            Root::of(engine, &shares, &vectors, stretched)
        };
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

    /// Columns of the rows that it takes.
    pub fn columns(&self) -> usize {
        self.importances.len()
    }

    /// Columns of the rows that it gives: as many, and those that are added.
    pub fn width(&self) -> usize {
        self.columns() + self.added().map_or(0, |(_, along)| along.columns())
    }

    /// Where columns are added, f and the columns × added numbers by which a row is multiplied for them: x′ = (f·x, x·A).
    pub fn added(&self) -> Option<(f64, &Matrix<f64>)> {
        if let Root::Added { floor, along } = &self.root { Some((*floor, along)) } else { None }
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

    /// Whether columns are mixed, and how.
    pub fn form(&self) -> Form {
        match self.root {
            Root::Diagonal(_) => Form::Diagonal,
            Root::Full { .. } | Root::Leading { .. } => Form::Full,
            Root::Added { .. } => Form::Leading,
        }
    }

    /// L: where columns are added, the one that gives the same distances.
    pub fn matrix(&self) -> Matrix<f64> {
        let d = self.columns();
        match &self.root {
            Root::Diagonal(factors) => Matrix::from_fn(d, d, |i, j| if i == j { factors[i] } else { 0.0 }),
            Root::Full { root, .. } => root.clone(),
            Root::Leading { floor, extra, vectors, .. } => Matrix::from_fn(d, d, |i, j| {
                let along = |k: usize| extra[k] * vectors.row(k)[i] * vectors.row(k)[j];
                (0..extra.len()).map(along).sum::<f64>() + if i == j { *floor } else { 0.0 }
            }),
            Root::Added { floor, along } => {
                let extra = of_added(*floor, along);
                Matrix::from_fn(d, d, |i, j| {
                    let each = extra.iter().zip(along.row(i)).zip(along.row(j));
                    let mixed = each.map(|((extra, a), b)| extra * a * b).sum::<f64>();
                    mixed + if i == j { *floor } else { 0.0 }
                })
            }
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
            Root::Added { floor, along } => {
                let extra = of_added(*floor, along);
                let of_row = |row: &[f64]| extra.iter().zip(row).map(|(extra, a)| extra * a * a).sum::<f64>();
                (0..self.columns()).map(|j| floor + of_row(along.row(j))).collect()
            }
        }
    }

    /// x·L of each row, or the row with its added columns; sparse rows stay so where columns are
    /// not mixed, and where columns are added.
    #[inline(never)]
    pub fn rows<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>) -> OwnedRows<T> {
        let (count, d) = (rows.count(), self.columns());
        if let (Root::Added { floor, along }, Rows::Sparse(sparse)) = (&self.root, rows) {
            let of_row = |i: usize| along_row(rows.entries(i), along);
            let more = engine.map(count, &of_row);
            let mut out = Csr::empty(self.width());
            for (i, more) in more.iter().enumerate() {
                let (indices, values) = sparse.row(i);
                let own = indices.iter().zip(values).map(|(&j, x)| (j, saturated(floor * x.to_f64())));
                let added = more.iter().enumerate().map(|(k, t)| ((d + k) as u32, saturated(*t)));
                out.push_row(own.chain(added));
            }
            return OwnedRows::Sparse(out);
        }
        if let (Root::Diagonal(factors), Rows::Sparse(sparse)) = (&self.root, rows) {
            let mut scaled = Csr::empty(d);
            for i in 0..count {
                let (indices, values) = sparse.row(i);
                let times = |(&j, x): (&u32, &T)| (j, saturated(factors[j as usize] * x.to_f64()));
                scaled.push_row(indices.iter().zip(values).map(times));
            }
            return OwnedRows::Sparse(scaled);
        }
        let mut out = Matrix::zeros(count, self.width());
        engine.for_each_chunk(out.as_mut_slice(), CHUNK * self.width(), &|at, out| {
            self.fill(engine, &rows.slice(at * CHUNK..count.min((at + 1) * CHUNK)), out);
        });
        OwnedRows::Dense(out)
    }

    /// x·L of a few rows, or these with their added columns, row i at `out[i·width..]`.
    fn fill<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>, out: &mut [T]) {
        let (count, d) = (rows.count(), self.columns());
        match &self.root {
            Root::Diagonal(factors) => {
                for (i, out) in out.chunks_exact_mut(d).enumerate() {
                    rows.densify(i, out);
                    let times = |(x, factor): (&mut T, &f64)| *x = saturated(factor * x.to_f64());
                    out.iter_mut().zip(factors).for_each(times);
                }
            }
            Root::Full { root, packed } => product(engine, rows, root, packed, out),
            Root::Leading { floor, extra, vectors, packed } => {
                let mut along = Matrix::<T>::zeros(count, extra.len());
                let transposed = || Matrix::from_fn(d, extra.len(), |j, k| vectors.row(k)[j]);
                let panels = packed[0].get(engine.isa(), || panels(engine, &transposed()));
                apply(rows, panels, &Apply::Product, along.as_mut_slice(), extra.len());
                for i in 0..count {
                    let times = |(t, extra): (&mut T, &f64)| *t = T::from_f64(t.to_f64() * extra);
                    along.row_mut(i).iter_mut().zip(extra).for_each(times);
                }
                product(engine, &Rows::from(&along), vectors, &packed[1], out);
                let mut dense = vec![T::default(); d];
                for (i, out) in out.chunks_exact_mut(d).enumerate() {
                    rows.densify(i, &mut dense);
                    let add = |(to, x): (&mut T, &T)| *to = saturated(to.to_f64() + floor * x.to_f64());
                    out.iter_mut().zip(&dense).for_each(add);
                }
            }
            Root::Added { floor, along } => {
                for (i, out) in out.chunks_exact_mut(self.width()).enumerate() {
                    let (own, added) = out.split_at_mut(d);
                    rows.densify(i, own);
                    let more = along_row(own.iter().enumerate().map(|(j, x)| (j as u32, *x)), along);
                    own.iter_mut().for_each(|x| *x = saturated(floor * x.to_f64()));
                    added.iter_mut().zip(more).for_each(|(to, t)| *to = saturated(t));
                }
            }
        }
    }

    /// Gradients along the rows that it gives, as they are along those that it takes: ∇f = ∇f′·L, or f·∇₁f′ + VE·∇₂f′ where columns are added.
    pub(crate) fn back(&self, engine: &Engine, mut gradients: Matrix<f64>) -> Matrix<f64> {
        let (count, d) = (gradients.rows(), self.columns());
        if let Root::Diagonal(factors) = &self.root {
            for i in 0..count {
                gradients.row_mut(i).iter_mut().zip(factors).for_each(|(g, factor)| *g *= factor);
            }
            return gradients;
        }
        let Some((floor, along)) = self.added() else { return multiply(engine, &gradients, &self.matrix()) };
        let more = Matrix::from_fn(count, along.columns(), |i, k| gradients.row(i)[d + k]);
        let mut out = multiply(engine, &more, &Matrix::from_fn(along.columns(), d, |k, j| along.row(j)[k]));
        for i in 0..count {
            let own = gradients.row(i).iter();
            out.row_mut(i).iter_mut().zip(own).for_each(|(to, g)| *to += floor * g);
        }
        out
    }

    /// The gradients that were seen of rows x·L as they are of x: M ← LMLᵀ; of a diagonal, with the diagonal of L.
    pub(crate) fn pull_back(&self, engine: &Engine, gradients: &mut Gradients) {
        if gradients.is_full() {
            gradients.turn(engine, &self.matrix());
        } else {
            gradients.scale(&self.diagonal());
        }
    }

    /// A sample of rows, stretched; they keep the order that they were drawn in.
    pub(crate) fn sample(&self, engine: &Engine, sample: &Sample) -> Sample {
        let rows = self.rows(engine, &sample.rows(sample.len()).view());
        let rows = rows.view();
        let mut at = 0..rows.count();
        sample.clone().mapped(self.width(), |row| {
            if let Some(i) = at.next() {
                row.entries = rows.doubled_entries(i);
            }
        })
    }
}

impl Root {
    /// V·diag(stretched share)·Vᵀ to ‖L‖² = d, its smallest directions alike where few others hold the trace.
    fn of(engine: &Engine, shares: &[f64], vectors: &Matrix<f64>, stretched: impl Fn(f64) -> f64) -> Root {
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
        let root = multiply(engine, &Matrix::from_fn(d, d, |i, k| half.row(k)[i]), &half);
        // Symmetric to the last bit: one triangle of the product.
        Root::full(Matrix::from_fn(d, d, |i, j| root.row(i.min(j))[i.max(j)]))
    }

    /// The same with directions that are added to rows, the rest being alike: as many as hold the trace, lie above the mean of the rest, and are not too many; none if there are none.
    fn added(shares: &[f64], vectors: &Matrix<f64>, stretched: impl Fn(f64) -> f64) -> Option<Root> {
        let d = vectors.columns();
        let mean = |rest: f64, kept: usize| rest.max(0.0) / (d - kept).max(1) as f64;
        let (mut kept, mut rest) = (0, 1.0);
        while kept < shares.len().min(ADDED).min(d) && rest > REST && shares[kept] > mean(rest, kept) {
            rest -= shares[kept];
            kept += 1;
        }
        if kept == 0 {
            return None;
        }
        let floor = stretched(mean(rest, kept));
        let values: Vec<f64> = shares[..kept].iter().map(|share| stretched(*share).max(floor)).collect();
        let square = values.iter().map(|v| v * v).sum::<f64>() + (d - kept) as f64 * floor * floor;
        let unit = unit(d, square);
        let extra: Vec<f64> = values.iter().map(|v| unit * (v * v - floor * floor).sqrt()).collect();
        let along = Matrix::from_fn(d, kept, |j, k| extra[k] * vectors.row(k)[j]);
        Some(Root::Added { floor: unit * floor, along })
    }

    pub(crate) fn full(root: Matrix<f64>) -> Root {
        Root::Full { root, packed: Packed::default() }
    }

    pub(crate) fn leading(floor: f64, extra: Vec<f64>, vectors: Matrix<f64>) -> Root {
        Root::Leading { floor, extra, vectors, packed: Default::default() }
    }
}

/// What VE and its transpose are to be multiplied by between them for L − f·I: (√(f² + e²) − f)/e² of each direction, V being orthonormal.
fn of_added(floor: f64, along: &Matrix<f64>) -> Vec<f64> {
    let mut squares = vec![0.0; along.columns()];
    for j in 0..along.rows() {
        squares.iter_mut().zip(along.row(j)).for_each(|(sum, a)| *sum += a * a);
    }
    // 1/(√(f² + e²) + f): without the difference.
    squares.iter().map(|e| 1.0 / ((floor * floor + e).sqrt() + floor)).collect()
}

/// x·VE of a row.
fn along_row<T: Scalar>(entries: impl Iterator<Item = (u32, T)>, along: &Matrix<f64>) -> Vec<f64> {
    let mut out = vec![0.0; along.columns()];
    for (j, x) in entries {
        let x = x.to_f64();
        out.iter_mut().zip(along.row(j as usize)).for_each(|(to, a)| *to += x * a);
    }
    out
}

/// What brings a sum of squares to d.
fn unit(d: usize, square: f64) -> f64 {
    (d as f64 / square).sqrt()
}

/// Rows times a matrix, each row by itself.
fn product<T: Scalar>(
    engine: &Engine,
    rows: &Rows<'_, T>,
    matrix: &Matrix<f64>,
    packed: &Packed,
    out: &mut [T],
) {
    let panels = packed.get(engine.isa(), || panels(engine, matrix));
    apply(rows, panels, &Apply::Product, out, matrix.columns());
    out.iter_mut().for_each(|x| *x = saturated(x.to_f64()));
}

fn panels<T: Scalar>(engine: &Engine, matrix: &Matrix<f64>) -> Panels<T> {
    Panels::pack(engine.isa(), matrix.rows(), matrix.columns(), &mut |j, column: &mut [T]| {
        column.iter_mut().enumerate().for_each(|(i, to)| *to = T::from_f64(matrix.row(i)[j]));
    })
}

/// Rows that are finite stay finite; ∞ − ∞ of sums that overflowed is zero.
fn saturated<T: Scalar>(value: f64) -> T {
    let most = if size_of::<T>() == 4 { f64::from(f32::MAX) } else { f64::MAX };
    T::from_f64(if value.is_nan() { 0.0 } else { value.clamp(-most, most) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kernel, MapSpec};
    use bochner_testkit::{Absolute, assert_close, normals};

    /// A function of rows that a metric gives changes with the rows that it takes by what these become: ∂f/∂xⱼ = ∇f′·(eⱼ)′.
    #[test]
    fn gradients_go_back_the_way_that_rows_came() {
        let d = 70;
        let map = MapSpec::auto(Kernel::Linear).build(d).unwrap();
        let (coefficients, row) = (Matrix::new(3, d, normals(3, d, 9)).unwrap(), Matrix::<f64>::zeros(1, d));
        let units = Matrix::from_fn(d, d, |i, j| f64::from(u8::from(i == j)));
        for (form, nothing, power) in [
            (Form::Diagonal, Gradients::diagonal(d), 0.5),
            (Form::Full, Gradients::full(d), 0.5),
            (Form::Leading, Gradients::leading(d, 1), 0.5),
            (Form::Leading, Gradients::leading(d, 1), 0.25),
        ] {
            let mut seen = nothing;
            seen.absorb(&Engine::default(), &map, &coefficients, &Rows::from(&row), &|_| 1.0).unwrap();
            let metric = Metric::new(&Engine::default(), &seen, Stretch { form, power, shrinkage: 0.01 })
                .unwrap()
                .unwrap();
            let slopes = Matrix::new(2, metric.width(), normals(2, metric.width(), 3)).unwrap();
            let OwnedRows::Dense(given) = metric.rows(&Engine::default(), &Rows::from(&units)) else {
                panic!("dense rows")
            };
            let back = metric.back(&Engine::default(), slopes.clone());
            for i in 0..2 {
                let along =
                    |j: usize| slopes.row(i).iter().zip(given.row(j)).map(|(a, b)| a * b).sum::<f64>();
                let expected: Vec<f64> = (0..d).map(along).collect();
                assert_close(back.row(i), &expected, Absolute(1e-10));
            }
        }
    }
}

//! Symmetric matrices in band form.
//!
//! ```text
//! A = QBQᵀ,   B(i, j) = 0 for |i − j| > w,   Q a product of reflections, applied and never formed
//!
//! a panel of w columns below the band:   P = (I − VTVᵀ)·[R; 0]
//! the rest of the matrix:                A ← A − YVᵀ − VYᵀ,   X = AVT,   Y = X − ½V(TᵀVᵀX)
//! ```
//! What a tridiagonal form is good for, B + λI being solved for many λ, a band does as well:
//! factoring it costs D·w² instead of D, which is nothing beside the reduction. But reducing to a
//! band is made of matrix products, where reducing to tridiagonal form reads the whole matrix from
//! memory once for each column. Bischof, Lang & Sun (2000) call it the first stage.
//! `docs/decisions/0002-band-path.md`.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::{dot, product, threads, threads_for, view, view_mut};
use crate::engine::Check;
use crate::{Matrix, Result};

/// w: wide enough for products at full speed, narrow enough that factoring is cheap.
const WIDTH: usize = 32;

/// Rows that one thread updates at once.
const STRIP: usize = 256;

/// B and the reflections that lead to it.
pub(crate) struct Band {
    /// B and V are those of A divided by this, a power of two: reflections square their entries,
    /// which must neither vanish nor overflow.
    unit: f64,
    /// Row i holds B(i, i − w) … B(i, i), with zeros for columns before the first.
    lower: Matrix<f64>,
    /// Below the band: V of each panel, without its ones.
    reflections: Matrix<f64>,
    /// T of each panel.
    factors: Vec<Matrix<f64>>,
}

impl Band {
    /// Reduces a symmetric matrix.
    pub(crate) fn new(mut a: Matrix<f64>, check: Check<'_>) -> Result<Band> {
        let n = a.rows();
        let unit = power_of_two((0..n).map(|i| a.row(i)[i].abs()).fold(0.0, f64::max));
        a.as_mut_slice()
            .par_chunks_mut(STRIP * n.max(1))
            .for_each(|rows| rows.iter_mut().for_each(|x| *x /= unit));
        let mut factors = Vec::new();
        // A last row below the band would have nothing to be reflected into.
        for start in (0..n.saturating_sub(WIDTH + 1)).step_by(WIDTH) {
            factors.push(reduce_panel(&mut a, start));
            let panel = Panel::of(&a, &factors, factors.len() - 1);
            update(&mut a, &panel);
            check(1.0 - ((n - panel.below) as f64 / n as f64).powi(3))?;
        }
        let lower =
            Matrix::from_fn(n, WIDTH + 1, |i, c| if i + c < WIDTH { 0.0 } else { a.row(i)[i + c - WIDTH] });
        Ok(Band { unit, lower, reflections: a, factors })
    }

    /// B ← QᵀB.
    pub(crate) fn rotate(&self, b: &mut Matrix<f64>) {
        for k in 0..self.factors.len() {
            self.reflect(k, b, |t| t.transpose());
        }
    }

    /// B ← QB.
    pub(crate) fn rotate_back(&self, b: &mut Matrix<f64>) {
        for k in (0..self.factors.len()).rev() {
            self.reflect(k, b, |t| t);
        }
    }

    /// B ← B − V·side(T)·VᵀB on the rows of panel k.
    fn reflect(&self, k: usize, b: &mut Matrix<f64>, side: impl Fn(MatRef<'_, f64>) -> MatRef<'_, f64>) {
        let panel = Panel::of(&self.reflections, &self.factors, k);
        let (rows, columns) = (b.rows() - panel.below, b.columns());
        let v = view(&panel.v);
        let along = product(v.transpose(), view(b).subrows(panel.below, rows));
        let turned = product(side(view(panel.t)), view(&along));
        let rest = view_mut(b).subrows_mut(panel.below, rows);
        matmul(rest, Accum::Add, v, view(&turned), -1.0, threads_for(rows, columns));
    }

    /// (B + λI)⁻¹s for each column s of `sides`; none if B + λI is not positive definite.
    pub(crate) fn solve(&self, lambda: f64, sides: &Matrix<f64>) -> Option<Matrix<f64>> {
        let factor = self.factor(lambda / self.unit)?;
        let (n, columns) = (sides.rows(), sides.columns());
        let mut x = sides.clone();
        for i in 0..n {
            let first = WIDTH.saturating_sub(i);
            let (before, from) = x.as_mut_slice().split_at_mut(i * columns);
            let (row, l) = (&mut from[..columns], factor.row(i));
            for (p, l) in l.iter().enumerate().take(WIDTH).skip(first) {
                let known = &before[(i + p - WIDTH) * columns..][..columns];
                row.iter_mut().zip(known).for_each(|(x, y)| *x -= l * y);
            }
            row.iter_mut().for_each(|x| *x /= l[WIDTH]);
        }
        for i in (0..n).rev() {
            let first = WIDTH.saturating_sub(i);
            let (before, from) = x.as_mut_slice().split_at_mut(i * columns);
            let (row, l) = (&mut from[..columns], factor.row(i));
            row.iter_mut().for_each(|x| *x /= l[WIDTH]);
            for (p, l) in l.iter().enumerate().take(WIDTH).skip(first) {
                let next = &mut before[(i + p - WIDTH) * columns..][..columns];
                next.iter_mut().zip(&*row).for_each(|(x, y)| *x -= l * y);
            }
        }
        x.as_mut_slice().iter_mut().for_each(|x| *x /= self.unit);
        Some(x)
    }

    /// The Cholesky factor of B + λI, in the same layout.
    fn factor(&self, lambda: f64) -> Option<Matrix<f64>> {
        let mut l = self.lower.clone();
        for i in 0..l.rows() {
            let (before, from) = l.as_mut_slice().split_at_mut(i * (WIDTH + 1));
            let row = &mut from[..=WIDTH];
            for c in WIDTH.saturating_sub(i)..WIDTH {
                let other = &before[(i + c - WIDTH) * (WIDTH + 1)..][..=WIDTH];
                row[c] = (row[c] - dot(&row[..c], &other[WIDTH - c..WIDTH])) / other[WIDTH];
            }
            let pivot = row[WIDTH] + lambda - dot(&row[..WIDTH], &row[..WIDTH]);
            if !(pivot > 0.0) {
                return None;
            }
            row[WIDTH] = pivot.sqrt();
        }
        Some(l)
    }
}

/// The power of two next to a size; 1 if there is none.
fn power_of_two(size: f64) -> f64 {
    let power = libm::exp2(libm::log2(size).round());
    if power > 0.0 && power.is_finite() { power } else { 1.0 }
}

/// The reflections of one panel: I − VTVᵀ on the rows from `below` on.
struct Panel<'a> {
    below: usize,
    v: Matrix<f64>,
    t: &'a Matrix<f64>,
}

impl Panel<'_> {
    fn of<'a>(a: &Matrix<f64>, factors: &'a [Matrix<f64>], k: usize) -> Panel<'a> {
        let (start, t) = (k * WIDTH, &factors[k]);
        let below = start + WIDTH;
        let v = Matrix::from_fn(a.rows() - below, t.rows(), |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => 1.0,
            std::cmp::Ordering::Greater => a.row(below + i)[start + j],
        });
        Panel { below, v, t }
    }
}

/// Reflects the panel of columns from `start` on into an upper triangle; returns T and leaves R and
/// V in its place.
fn reduce_panel(a: &mut Matrix<f64>, start: usize) -> Matrix<f64> {
    let below = start + WIDTH;
    let rows = a.rows() - below;
    // Column by column, so that each is contiguous.
    let mut columns = Matrix::zeros(WIDTH, rows);
    for i in 0..rows {
        let from = &a.row(below + i)[start..below];
        from.iter().enumerate().for_each(|(j, &x)| columns.row_mut(j)[i] = x);
    }
    let count = WIDTH.min(rows);
    let mut t = Matrix::<f64>::zeros(count, count);
    for j in 0..count {
        let (done, from) = columns.as_mut_slice().split_at_mut(j * rows);
        let (column, later) = from.split_at_mut(rows);
        let tau = reflection(&mut column[j..]);
        let v = &column[j + 1..];
        for other in later.chunks_exact_mut(rows) {
            let other = &mut other[j..];
            let along = tau * (other[0] + dot(v, &other[1..]));
            other[0] -= along;
            other[1..].iter_mut().zip(v).for_each(|(x, v)| *x -= along * v);
        }
        // T grows by the column (−τT·Vᵀv, τ).
        let overlap: Vec<f64> =
            done.chunks_exact(rows).map(|earlier| earlier[j] + dot(&earlier[j + 1..], v)).collect();
        for i in 0..j {
            t.row_mut(i)[j] = -tau * dot(&t.row(i)[i..j], &overlap[i..]);
        }
        t.row_mut(j)[j] = tau;
    }
    for i in 0..rows {
        let to = &mut a.row_mut(below + i)[start..below];
        to.iter_mut().enumerate().for_each(|(j, to)| *to = columns.row(j)[i]);
    }
    t
}

/// (I − τvvᵀ)x = (β, 0, …): replaces x by (β, v₁, v₂, …), v₀ being 1, and returns τ.
fn reflection(x: &mut [f64]) -> f64 {
    let tail = dot(&x[1..], &x[1..]);
    if tail == 0.0 {
        return 0.0;
    }
    let alpha = x[0];
    let beta = -(alpha * alpha + tail).sqrt().copysign(alpha);
    x[1..].iter_mut().for_each(|x| *x /= alpha - beta);
    x[0] = beta;
    (beta - alpha) / beta
}

/// A ← A − YVᵀ − VYᵀ on the rows and columns from the panel's `below` on: the strips of the lower
/// triangle.
fn update(a: &mut Matrix<f64>, panel: &Panel<'_>) {
    let (n, below, v) = (a.rows(), panel.below, view(&panel.v));
    let mut y = product(view(&symmetric_product(a, below, &panel.v)), view(panel.t));
    let inner = product(view(panel.t).transpose(), view(&product(v.transpose(), view(&y))));
    matmul(view_mut(&mut y), Accum::Add, v, view(&inner), -0.5, threads());
    // Both products at once: [Y V]·[V Y]ᵀ.
    let (left, right) = (beside(&y, &panel.v), beside(&panel.v, &y));
    let strips = strips(n, below);
    split(&mut a.as_mut_slice()[below * n..], n, &strips).into_par_iter().zip(&strips).for_each(
        |(to, strip)| {
            let (start, end) = (strip.start - below, strip.end - below);
            let to = MatMut::from_row_major_slice_mut(to, strip.len(), n).subcols_mut(below, end);
            let (left, right) = (view(&left).subrows(start, end - start), view(&right).subrows(0, end));
            matmul(to, Accum::Add, left, right.transpose(), -1.0, Par::Seq);
        },
    );
}

/// A·V on the rows and columns from `below` on, of which only the strips of the lower triangle are
/// read.
fn symmetric_product(a: &Matrix<f64>, below: usize, v: &Matrix<f64>) -> Matrix<f64> {
    let (rows, count) = (a.rows() - below, v.columns());
    let strips = strips(a.rows(), below);
    let (a, v) = (view(a).submatrix(below, below, rows, rows), view(v));
    let mut out = Matrix::zeros(rows, count);
    split(out.as_mut_slice(), count, &strips).into_par_iter().zip(&strips).for_each(|(to, strip)| {
        let (start, end) = (strip.start - below, strip.end - below);
        let mut to = MatMut::from_row_major_slice_mut(to, end - start, count);
        let left = a.submatrix(start, 0, end - start, end);
        matmul(to.as_mut(), Accum::Replace, left, v.subrows(0, end), 1.0, Par::Seq);
        let under = a.submatrix(end, start, rows - end, end - start);
        matmul(to, Accum::Add, under.transpose(), v.subrows(end, rows - end), 1.0, Par::Seq);
    });
    out
}

/// Rows `from`..n in strips that end at multiples of [`STRIP`]: the same ones for every panel,
/// because the square on the diagonal of a strip is kept whole.
fn strips(n: usize, from: usize) -> Vec<Range<usize>> {
    (from / STRIP..n.div_ceil(STRIP)).map(|s| from.max(s * STRIP)..n.min((s + 1) * STRIP)).collect()
}

/// The rows of each strip.
fn split<'a>(mut rows: &'a mut [f64], columns: usize, strips: &[Range<usize>]) -> Vec<&'a mut [f64]> {
    let mut parts = Vec::with_capacity(strips.len());
    for strip in strips {
        let (part, rest) = rows.split_at_mut(strip.len() * columns);
        parts.push(part);
        rows = rest;
    }
    parts
}

/// [A B].
fn beside(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
    let count = a.columns();
    let mut both = Matrix::zeros(a.rows(), 2 * count);
    for i in 0..a.rows() {
        let (left, right) = both.row_mut(i).split_at_mut(count);
        left.copy_from_slice(a.row(i));
        right.copy_from_slice(b.row(i));
    }
    both
}

//! Symmetric matrices in band form.
//!
//! ```text
//! A = QBQᵀ,   B(i, j) = 0 for |i − j| > w,   Q a product of reflections, applied and never formed
//!
//! a panel of w columns below the band:   P = (I − VTVᵀ)·[R; 0]
//! the rest of the matrix:                A ← A − YVᵀ − VYᵀ,   X = AVT,   Y = X − ½V(TᵀVᵀX)
//! ```
//! What a tridiagonal form is good for, B + λI being solved for many λ, a band does as well: factoring it costs D·w² instead of D,
//! which is nothing beside the reduction. But reducing to a band is made of matrix products, where reducing to tridiagonal
//! form reads the whole matrix from memory once for each column. Bischof, Lang & Sun (2000) call it the first stage.
//! `docs/decisions/0002-band-path.md`.

use std::ops::Range;

use bochner_simd::Operand;

use super::product::{add_product, operand, product, rows};
use super::{dot, power_of_two};
use crate::engine::Check;
use crate::{Engine, Matrix, Result};

/// w: wide enough for products at full speed, narrow enough that factoring is cheap.
const WIDTH: usize = 32;

/// Rows that one thread updates at once.
const STRIP: usize = 256;

/// B and the reflections that lead to it.
pub(crate) struct Band {
    /// B and V are those of A divided by this, a power of two: reflections square their entries, which must neither vanish nor
    /// overflow.
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
    pub(crate) fn new(engine: &Engine, mut a: Matrix<f64>, check: Check<'_>) -> Result<Band> {
        let n = a.rows();
        let unit = power_of_two((0..n).map(|i| a.row(i)[i].abs()).fold(0.0, f64::max));
        engine.for_each_chunk(a.as_mut_slice(), STRIP * n, &|_, rows| {
            rows.iter_mut().for_each(|x| *x /= unit);
        });
        let mut factors = Vec::new();
        // A last row below the band would have nothing to be reflected into.
        for start in (0..n.saturating_sub(WIDTH + 1)).step_by(WIDTH) {
            factors.push(reduce_panel(&mut a, start));
            let panel = Panel::of(&a, &factors, factors.len() - 1);
            update(engine, &mut a, &panel);
            check(1.0 - ((n - panel.below) as f64 / n as f64).powi(3))?;
        }
        let lower =
            Matrix::from_fn(n, WIDTH + 1, |i, c| if i + c < WIDTH { 0.0 } else { a.row(i)[i + c - WIDTH] });
        Ok(Band { unit, lower, reflections: a, factors })
    }

    /// B ← QᵀB.
    pub(crate) fn rotate(&self, engine: &Engine, b: &mut Matrix<f64>) {
        for k in 0..self.factors.len() {
            self.reflect(engine, k, b, |t| t.transposed());
        }
    }

    /// B ← QB.
    pub(crate) fn rotate_back(&self, engine: &Engine, b: &mut Matrix<f64>) {
        for k in (0..self.factors.len()).rev() {
            self.reflect(engine, k, b, |t| t);
        }
    }

    /// B ← B − V·side(T)·VᵀB on the rows of panel k.
    fn reflect(
        &self,
        engine: &Engine,
        k: usize,
        b: &mut Matrix<f64>,
        side: impl Fn(Operand<'_>) -> Operand<'_>,
    ) {
        let panel = Panel::of(&self.reflections, &self.factors, k);
        let columns = b.columns();
        let v = operand(&panel.v);
        let along = product(engine, v.transposed(), operand(b).part(panel.below..b.rows(), 0..columns));
        let turned = product(engine, side(operand(panel.t)), operand(&along));
        let below = &mut b.as_mut_slice()[panel.below * columns..];
        add_product(engine, -1.0, v, operand(&turned), rows(below, columns));
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
                for c in 0..columns {
                    row[c] -= l * known[c];
                }
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
                for c in 0..columns {
                    next[c] -= l * row[c];
                }
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

/// Reflects the panel of columns from `start` on into an upper triangle; returns T and leaves R and V in its place.
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

/// A ← A − YVᵀ − VYᵀ on the rows and columns from the panel's `below` on: the strips of the lower triangle.
fn update(engine: &Engine, a: &mut Matrix<f64>, panel: &Panel<'_>) {
    let (n, below, v, t) = (a.rows(), panel.below, operand(&panel.v), operand(panel.t));
    let mut y = product(engine, operand(&symmetric_product(engine, a, below, &panel.v)), t);
    let inner = product(engine, t.transposed(), operand(&product(engine, v.transposed(), operand(&y))));
    let columns = y.columns();
    add_product(engine, -0.5, v, operand(&inner), rows(y.as_mut_slice(), columns));
    // Both products at once: [Y V]·[V Y]ᵀ.
    let (left, right) = (beside(&y, &panel.v), beside(&panel.v, &y));
    let rest = a.as_mut_slice().chunks_exact_mut(n).skip(below);
    let rest = rest.enumerate().map(|(i, row)| &mut row[below..n.min((below + i) / STRIP * STRIP + STRIP)]);
    add_product(engine, -1.0, operand(&left), operand(&right).transposed(), rest.collect());
}

/// A·V on the rows and columns from `below` on, of which only the strips of the lower triangle are read.
fn symmetric_product(engine: &Engine, a: &Matrix<f64>, below: usize, v: &Matrix<f64>) -> Matrix<f64> {
    let (rows_left, count) = (a.rows() - below, v.columns());
    let strips = strips(a.rows(), below);
    let all = below..a.rows();
    let (a, v) = (operand(a).part(all.clone(), all), operand(v));
    let mut out = Matrix::zeros(rows_left, count);
    engine.for_each_mut(&mut split(out.as_mut_slice(), count, &strips), &|s, to| {
        let strip = &strips[s];
        let (start, end) = (strip.start - below, strip.end - below);
        add_product(engine, 1.0, a.part(start..end, 0..end), v.part(0..end, 0..count), rows(to, count));
        let under = a.part(end..rows_left, start..end).transposed();
        add_product(engine, 1.0, under, v.part(end..rows_left, 0..count), rows(to, count));
    });
    out
}

/// Rows `from`..n in strips that end at multiples of [`STRIP`]: the same ones for every panel, because the square on the
/// diagonal of a strip is kept whole.
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

#[cfg(test)]
mod tests {
    use super::super::multiply;
    use super::super::tests::{on_threads, stop_after, symmetric};
    use super::*;
    use bochner_testkit::{Absolute, assert_close, assert_same_bits, normals};

    const SIZES: [usize; 10] = [1, 2, 32, 33, 34, 35, 64, 66, 131, 330];

    fn band(a: &Matrix<f64>) -> Band {
        Band::new(&Engine::default(), a.clone(), &|_| Ok(())).unwrap()
    }

    #[test]
    fn the_band_turned_back_is_the_matrix() {
        for n in SIZES {
            let a = symmetric(n, 5);
            let form = band(&a);
            let entry = |i: usize, j: usize| {
                let (low, high) = (i.min(j), i.max(j));
                if high - low > WIDTH { 0.0 } else { form.unit * form.lower.row(high)[low + WIDTH - high] }
            };
            let b = Matrix::from_fn(n, n, entry);
            let mut turned = Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j)));
            form.rotate(&Engine::default(), &mut turned); // Qᵀ
            let mut back = multiply(&Engine::default(), &b, &turned);
            form.rotate_back(&Engine::default(), &mut back); // QBQᵀ
            assert_close(back.as_slice(), a.as_slice(), Absolute(1e-11 * n as f64));
        }
    }

    #[test]
    fn every_shift_is_solved() {
        for n in SIZES {
            let (a, x) = (symmetric(n, 5), Matrix::new(n, 3, normals(n, 3, 6)).unwrap());
            let form = band(&a);
            for lambda in [0.0, 1e-3, 50.0] {
                let mut shifted = a.clone();
                (0..n).for_each(|i| shifted.row_mut(i)[i] += lambda);
                let mut sides = multiply(&Engine::default(), &shifted, &x);
                form.rotate(&Engine::default(), &mut sides);
                let mut solved = form.solve(lambda, &sides).unwrap();
                form.rotate_back(&Engine::default(), &mut solved);
                assert_close(solved.as_slice(), x.as_slice(), Absolute(1e-8));
            }
            assert!(form.solve(-1e9, &x).is_none());
        }
    }

    /// A power of two changes no bit of a solution but its exponent.
    #[test]
    fn small_and_large_matrices_are_reduced_as_well() {
        let (a, x) = (symmetric(131, 5), Matrix::new(131, 2, normals(131, 2, 6)).unwrap());
        let solved = |scale: f64| {
            let form = band(&Matrix::from_fn(131, 131, |i, j| a.row(i)[j] * scale));
            let mut x = x.clone();
            form.rotate(&Engine::default(), &mut x);
            let mut x = form.solve(0.1 * scale, &x).unwrap();
            form.rotate_back(&Engine::default(), &mut x);
            x.as_slice().iter().map(|x| x * scale).collect::<Vec<f64>>()
        };
        for power in [-600, -500, 500, 600] {
            assert_same_bits(&solved(2f64.powi(power)), &solved(1.0));
        }
    }

    #[test]
    fn zeros_reduce_to_zeros() {
        let form = band(&Matrix::zeros(70, 70));
        assert!(form.solve(0.0, &Matrix::zeros(70, 1)).is_none());
        let x = form.solve(2.0, &Matrix::from_fn(70, 1, |_, _| 1.0)).unwrap();
        assert!(x.as_slice().iter().all(|&x| (x - 0.5).abs() < 1e-15));
    }

    #[test]
    fn threads_do_not_change_bits() {
        for (n, columns) in [(67, 1), (300, 1), (515, 7)] {
            let (a, x) = (symmetric(n, 3), Matrix::new(n, columns, normals(n, columns, 4)).unwrap());
            let [one, two, seven] = on_threads(|engine| {
                let form = band(&a);
                let mut x = x.clone();
                form.rotate(engine, &mut x);
                let mut x = form.solve(0.1, &x).unwrap();
                form.rotate_back(engine, &mut x);
                x.as_slice().to_vec()
            });
            assert_same_bits(&one, &two);
            assert_same_bits(&one, &seven);
        }
    }

    #[test]
    fn the_work_can_be_stopped_between_panels() {
        let stopped = Band::new(&Engine::default(), symmetric(200, 1), &stop_after(3));
        assert!(matches!(stopped, Err(crate::Error::Interrupted)));
    }
}

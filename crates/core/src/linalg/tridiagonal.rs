//! A symmetric matrix in tridiagonal form.
//!
//! ```text
//! A = QTQᵀ,   Q = H_{n−1}·…·H₁,   Hᵢ = I − τᵢvᵢvᵢᵀ       Hᵢ takes row i to (0, …, 0, e_{i−1}), rows from the last one to the first
//! a panel of rows:       A ← A − Σ vᵢwᵢᵀ + wᵢvᵢᵀ,         wᵢ = τᵢ(Avᵢ − …) − ½τᵢ²(…)vᵢ, A with all that came before taken off
//! a block of Q:          H_b·…·H_a = I − VᵀTV             rows of V being the v
//! ```
//! Half of the work is one product of A and a vector for each row, which is as fast as memory; the
//! other half is products of matrices. Dongarra, Sorensen & Hammarling (1989); Schreiber & Van Loan
//! (1989).

use bochner_simd::{Operand, add_rows, row_products, symmetric_product};

use super::dot;
use super::product::{add_product, operand, product, rows, share};
use crate::engine::Check;
use crate::{Engine, Matrix, Result};

/// Rows that are reduced before the rest of the matrix is.
const PANEL: usize = 32;

/// Reflections that are applied at once.
const BLOCK: usize = 96;

/// Parts of a product of the matrix and a vector that threads may share, and the rows for which
/// they are worth it. The sum over the parts is in their order, whoever computes them.
const PARTS: usize = 8;
const MANY: usize = 384;

/// Sums of squares below this are negligible where entries are about one, and too near to the
/// smallest numbers to keep reflections orthogonal.
const NEGLIGIBLE: f64 = 1e-280;

/// T and the reflections that lead to it.
pub(super) struct Tridiagonal {
    pub(super) diagonal: Vec<f64>,
    /// Entry i couples entries i and i + 1 of the diagonal.
    pub(super) off_diagonal: Vec<f64>,
    /// Row i holds vᵢ, and zeros from column i on.
    reflections: Matrix<f64>,
    tau: Vec<f64>,
}

impl Tridiagonal {
    /// Reduces a symmetric matrix, of which the lower triangle is read and whose largest entry is
    /// about one.
    pub(super) fn new(engine: &Engine, a: Matrix<f64>, check: Check<'_>) -> Result<Self> {
        let n = a.rows();
        let mut form = Tridiagonal {
            diagonal: vec![0.0; n],
            off_diagonal: vec![0.0; n.saturating_sub(1)],
            reflections: a,
            tau: vec![0.0; n],
        };
        let mut room = Room::new(n);
        let mut end = n;
        while end > 1 {
            check(1.0 - (end as f64 / n as f64).powi(3))?;
            let width = PANEL.min(end - 1);
            (0..width).for_each(|k| form.reduce_row(engine, end - 1 - k, k, &mut room));
            end -= width;
            // [V W]ᵀ·[W V]
            let pairs = operand(&room.pairs).part(0..2 * width, 0..end);
            let exchanged = Matrix::from_fn(2 * width, end, |k, j| room.pairs.row(k ^ 1)[j]);
            let rest = form.reflections.as_mut_slice().chunks_exact_mut(n).take(end).enumerate();
            let rest = rest.map(|(i, row)| &mut row[..=i]).collect();
            add_product(engine, -1.0, pairs.transposed(), operand(&exchanged), rest);
        }
        if n > 0 {
            form.diagonal[0] = form.reflections.row(0)[0];
            form.reflections.row_mut(0)[0] = 0.0;
        }
        Ok(form)
    }

    /// Row i, the one of its panel after `k` others: its reflection, its entries of T, and its pair
    /// of vectors.
    fn reduce_row(&mut self, engine: &Engine, i: usize, k: usize, room: &mut Room) {
        let earlier = 2 * k;
        let before = operand(&room.pairs).part(0..earlier, 0..i + 1);
        for p in 0..earlier {
            room.factors[p ^ 1] = -room.pairs.row(p)[i];
        }
        let row = self.reflections.row_mut(i);
        add_rows(engine.isa(), before, &room.factors[..earlier], &mut row[..=i]);
        self.diagonal[i] = row[i];
        row[i..].fill(0.0);
        (self.off_diagonal[i - 1], self.tau[i]) = reflection(&mut row[..i]);
        let tau = self.tau[i];
        let (v, w) = (self.reflections.row(i), &mut room.product);
        let v = &v[..i];
        multiply_lower(engine, operand(&self.reflections), v, &mut room.parts, w);
        let w = &mut w[..i];
        let before = operand(&room.pairs).part(0..earlier, 0..i);
        row_products(engine.isa(), before, v, &mut room.products[..earlier]);
        for p in 0..earlier {
            room.factors[p ^ 1] = -room.products[p];
        }
        add_rows(engine.isa(), before, &room.factors[..earlier], w);
        let along = 0.5 * tau * dot(w, v);
        w.iter_mut().zip(v).for_each(|(w, v)| *w = tau * (*w - along * v));
        for (p, from) in [v, &*w].into_iter().enumerate() {
            let to = room.pairs.row_mut(earlier + p);
            to[..i].copy_from_slice(from);
            to[i..].fill(0.0);
        }
    }

    /// U ← UQᵀ: rows that are eigenvectors of T become eigenvectors of A.
    pub(super) fn rotate_back(&self, engine: &Engine, u: &mut Matrix<f64>, check: Check<'_>) -> Result<()> {
        let n = u.rows();
        for start in (1..n).step_by(BLOCK) {
            check((start as f64 / n as f64).powi(2))?;
            let end = n.min(start + BLOCK);
            let v = operand(&self.reflections).part(start..end, 0..end - 1);
            let t = self.factor(engine, start, v);
            let along = product(engine, operand(u).part(0..n, 0..end - 1), v.transposed());
            let along = product(engine, operand(&along), operand(&t).transposed());
            let part = rows(u.as_mut_slice(), n).into_iter().map(|row| &mut row[..end - 1]).collect();
            add_product(engine, -1.0, operand(&along), v, part);
        }
        Ok(())
    }

    /// T of the reflections from `start` on, which `v` holds: the last one is applied last, so that
    /// T is lower triangular.
    fn factor(&self, engine: &Engine, start: usize, v: Operand<'_>) -> Matrix<f64> {
        let count = v.rows();
        let overlap = product(engine, v, v.transposed());
        let mut t = Matrix::<f64>::zeros(count, count);
        for i in (0..count).rev() {
            let tau = self.tau[start + i];
            let overlap = overlap.row(i);
            for j in i + 1..count {
                t.row_mut(j)[i] = -tau * dot(&t.row(j)[i + 1..=j], &overlap[i + 1..=j]);
            }
            t.row_mut(i)[i] = tau;
        }
        t
    }
}

/// What one row after another needs.
struct Room {
    /// v and w of the rows of a panel, in turns.
    pairs: Matrix<f64>,
    factors: Vec<f64>,
    products: Vec<f64>,
    product: Vec<f64>,
    parts: Matrix<f64>,
}

impl Room {
    fn new(n: usize) -> Self {
        Room {
            pairs: Matrix::zeros(2 * PANEL, n),
            factors: vec![0.0; 2 * PANEL],
            products: vec![0.0; 2 * PANEL],
            product: vec![0.0; n],
            parts: Matrix::zeros(PARTS, n),
        }
    }
}

/// (I − τvvᵀ)x = (0, …, 0, β): replaces x by (…, v_{n−2}, 1) and returns β and τ.
fn reflection(x: &mut [f64]) -> (f64, f64) {
    let last = x.len() - 1;
    let alpha = x[last];
    let tail = dot(&x[..last], &x[..last]);
    x[last] = 1.0;
    if tail < NEGLIGIBLE {
        x[..last].fill(0.0);
        return (alpha, 0.0);
    }
    let beta = -(alpha * alpha + tail).sqrt().copysign(alpha);
    x[..last].iter_mut().for_each(|x| *x /= alpha - beta);
    (beta, (beta - alpha) / beta)
}

/// w = Av on as many rows and columns as v has entries.
fn multiply_lower(engine: &Engine, a: Operand<'_>, v: &[f64], parts: &mut Matrix<f64>, w: &mut [f64]) {
    let n = v.len();
    let w = &mut w[..n];
    w.fill(0.0);
    if n < MANY {
        return symmetric_product(engine.isa(), a.part(0..n, 0..n), 0, v, w);
    }
    // Triangles of the same size: their rows grow like a square root.
    let bound = |part: usize| match part {
        PARTS => n,
        _ => (n as f64 * (part as f64 / PARTS as f64).sqrt()) as usize / 8 * 8,
    };
    let tasks = rows(parts.as_mut_slice(), a.columns()).into_iter().enumerate().collect();
    share(engine, tasks, |(part, to): (usize, &mut [f64])| {
        let (start, end) = (bound(part), bound(part + 1));
        to[..n].fill(0.0);
        symmetric_product(engine.isa(), a.part(start..end, 0..end), start, v, &mut to[..end]);
    });
    add_rows(engine.isa(), operand(parts).part(0..PARTS, 0..n), &[1.0; PARTS], w);
}

#[cfg(test)]
mod tests {
    use super::super::multiply;
    use super::super::tests::{on_threads, symmetric};
    use super::*;
    use bochner_testkit::{Absolute, assert_close, assert_same_bits};

    #[test]
    fn the_tridiagonal_matrix_turned_back_is_the_matrix() {
        for n in [1, 2, 3, 31, 32, 33, 34, 64, 65, 97, 98, 130, 400] {
            let a = symmetric(n, 5);
            let form = Tridiagonal::new(&Engine::default(), a.clone(), &|_| Ok(())).unwrap();
            let mut q = Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j)));
            form.rotate_back(&Engine::default(), &mut q, &|_| Ok(())).unwrap(); // row k is Qᵀ's
            let entry = |i: usize, j: usize| match j as isize - i as isize {
                0 => form.diagonal[i],
                1 => form.off_diagonal[i],
                -1 => form.off_diagonal[j],
                _ => 0.0,
            };
            let t = Matrix::from_fn(n, n, entry);
            let transposed = Matrix::from_fn(n, n, |i, j| q.row(j)[i]);
            let back = multiply(&Engine::default(), &transposed, &multiply(&Engine::default(), &t, &q));
            assert_close(back.as_slice(), a.as_slice(), Absolute(1e-12 * n as f64));
        }
    }

    #[test]
    fn threads_do_not_change_bits() {
        let a = symmetric(500, 5);
        let [one, two, seven] = on_threads(|engine| {
            let form = Tridiagonal::new(engine, a.clone(), &|_| Ok(())).unwrap();
            let mut u = a.clone();
            form.rotate_back(engine, &mut u, &|_| Ok(())).unwrap();
            [form.diagonal, form.off_diagonal, u.into_vec()].concat()
        });
        assert_same_bits(&one, &two);
        assert_same_bits(&one, &seven);
    }
}

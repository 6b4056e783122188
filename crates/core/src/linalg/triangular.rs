//! Triangular systems by halves.
//!
//! ```text
//! L₁₁X₁ = B₁,   B₂ ← B₂ − L₂₁X₁,   L₂₂X₂ = B₂       and each half the same way
//! ```
//! Recursive, and not one block of rows after the other: inner products are longer, so B is read
//! and written less often.

use bochner_simd::{Operand, Triangle};

use super::product::{add_product, operand, rows, share, split_columns};
use crate::{Engine, Matrix};

/// Rows that are solved at once.
const BLOCK: usize = 48;

/// Right-hand sides that a thread takes at once: a multiple of every register tile.
const SHARE: usize = 96;

/// X ← L⁻¹X, of `columns` columns; the lower triangle of `l` is read.
pub(super) fn solve_lower(engine: &Engine, l: Operand<'_>, x: &mut [f64], columns: usize) {
    let n = l.rows();
    if n <= BLOCK {
        return solve_block(engine, &Triangle::new(engine.isa(), l), rows(x, columns), columns);
    }
    let middle = half(n);
    let (first, second) = x.split_at_mut(middle * columns);
    solve_lower(engine, l.part(0..middle, 0..middle), first, columns);
    let found = Operand::new(first, middle, columns, columns);
    add_product(engine, -1.0, l.part(middle..n, 0..middle), found, rows(second, columns));
    solve_lower(engine, l.part(middle..n, middle..n), second, columns);
}

/// X ← L⁻ᵀX: from the last row to the first, Lᵀ is lower triangular as well.
pub(super) fn solve_lower_transposed(engine: &Engine, l: Operand<'_>, x: &mut [f64], columns: usize) {
    let n = l.rows();
    if n <= BLOCK {
        let backwards = Matrix::from_fn(n, n, |i, j| l.line(n - 1 - j)[n - 1 - i]);
        let mut last_first = rows(x, columns);
        last_first.reverse();
        return solve_block(engine, &Triangle::new(engine.isa(), operand(&backwards)), last_first, columns);
    }
    let middle = half(n);
    let (first, second) = x.split_at_mut(middle * columns);
    solve_lower_transposed(engine, l.part(middle..n, middle..n), second, columns);
    let found = Operand::new(second, n - middle, columns, columns);
    add_product(engine, -1.0, l.part(middle..n, 0..middle).transposed(), found, rows(first, columns));
    solve_lower_transposed(engine, l.part(0..middle, 0..middle), first, columns);
}

/// About half of the rows, in whole blocks.
fn half(n: usize) -> usize {
    (n / 2).next_multiple_of(BLOCK)
}

/// X ← T⁻¹X, threads sharing the columns of X.
fn solve_block(engine: &Engine, triangle: &Triangle, x: Vec<&mut [f64]>, columns: usize) {
    share(engine, split_columns(x, columns, SHARE), |mut x| triangle.solve(&mut x));
}

#[cfg(test)]
mod tests {
    use super::super::tests::on_threads;
    use super::*;
    use bochner_testkit::{Absolute, assert_close, assert_same_bits, normals};

    /// Both ways, by substitution.
    #[test]
    fn solutions_are_those_of_substitution() {
        for n in [0, 1, 2, 47, 48, 49, 97, 300] {
            let mut l = normals(n, n, 1);
            (0..n).for_each(|i| l[i * n + i] = 10.0 + n as f64);
            for columns in [1, 2, 25, 130] {
                let x = normals(n, columns, 2);
                let l = Operand::new(&l, n, n, n);
                let side = |entry: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
                    let sum = |i: usize, c: usize| (0..n).map(|k| entry(i, k) * x[k * columns + c]).sum();
                    Matrix::<f64>::from_fn(n, columns, sum).into_vec()
                };
                let forward = side(&|i, k| if k <= i { l.line(i)[k] } else { 0.0 });
                let backward = side(&|i, k| if k >= i { l.line(k)[i] } else { 0.0 });
                let [one, two, seven] = on_threads(|engine| {
                    let (mut first, mut second) = (forward.clone(), backward.clone());
                    solve_lower(engine, l, &mut first, columns);
                    solve_lower_transposed(engine, l, &mut second, columns);
                    [first, second].concat()
                });
                assert_close(&one, &[&x[..], &x].concat(), Absolute(1e-12));
                assert_same_bits(&one, &two);
                assert_same_bits(&one, &seven);
            }
        }
    }
}

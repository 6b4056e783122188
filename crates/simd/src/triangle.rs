//! Triangular systems in f64, for many right-hand sides at once.
//!
//! ```text
//! TX = B,  T lower triangular:    x(i, ·) = (b(i, ·) − Σₖ t(i, k)·x(k, ·)) / t(i, i),   k < i in ascending order
//! ```
//! Vectors run along right-hand sides. A register tile holds `R` rows × three vectors: it takes off
//! all earlier rows, then solves itself.

use crate::dispatch::{Task, dispatch};
use crate::lanes::{Lanes, MOST_LANES, VECTORS};
use crate::{Isa, Operand, Side, pack, packed_size, tile_shape};

/// A lower triangular matrix, packed, with the reciprocals of its diagonal.
#[derive(Clone, Debug)]
pub struct Triangle {
    isa: Isa,
    size: usize,
    /// Strips of R rows, as a left side of a product.
    packed: Vec<f64>,
}

impl Triangle {
    /// Packs the lower triangle of a square matrix.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn new(isa: Isa, matrix: Operand<'_>) -> Self {
        let size = matrix.rows();
        assert!(matrix.columns() == size, "a triangle is square");
        let mut packed = vec![0.0; packed_size(isa, Side::Left, size, size)];
        pack(isa, Side::Left, matrix, &mut packed);
        let rows = tile_shape(isa).0;
        for i in 0..size {
            let diagonal = &mut packed[i / rows * rows * size + i * rows + i % rows];
            *diagonal = 1.0 / *diagonal;
        }
        Triangle { isa, size, packed }
    }

    /// X ← T⁻¹X, where `x[i]` is row i of X.
    ///
    /// # Panics
    /// If there are not as many rows as T has, or if they are not equally long.
    pub fn solve(&self, x: &mut [&mut [f64]]) {
        let columns = x.first().map_or(0, |row| row.len());
        assert!(x.len() == self.size && x.iter().all(|row| row.len() == columns), "shapes differ");
        dispatch(self.isa, Solve { triangle: self, columns, x });
    }
}

struct Solve<'a, 'b> {
    triangle: &'a Triangle,
    columns: usize,
    x: &'a mut [&'b mut [f64]],
}

impl Task<f64> for Solve<'_, '_> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = f64>, const R: usize>(self) {
        let mut rows: Vec<*mut f64> = self.x.iter_mut().map(|row| row.as_mut_ptr()).collect();
        let whole = self.columns / L::N * L::N;
        for start in (0..whole).step_by(VECTORS * L::N) {
            // SAFETY: rows hold so many vectors from `start` on; as `run`'s for the rest.
            unsafe {
                match (whole - start) / L::N {
                    1 => strip::<L, R, 1>(self.triangle, &rows, start),
                    2 => strip::<L, R, 2>(self.triangle, &rows, start),
                    _ => strip::<L, R, VECTORS>(self.triangle, &rows, start),
                }
            }
        }
        let rest = self.columns - whole;
        if rest > 0 {
            let mut room = vec![0.0; self.x.len() * L::N];
            for ((room, row), x) in room.chunks_exact_mut(L::N).zip(&mut rows).zip(&mut *self.x) {
                room[..rest].copy_from_slice(&x[whole..]);
                *row = room.as_mut_ptr();
            }
            // SAFETY: each row is a vector.
            unsafe { strip::<L, R, 1>(self.triangle, &rows, 0) };
            for (room, x) in room.chunks_exact(L::N).zip(self.x) {
                x[whole..].copy_from_slice(&room[..rest]);
            }
        }
    }
}

/// `V` vectors of right-hand sides from `start` on.
#[inline(always)]
unsafe fn strip<L: Lanes<Elem = f64>, const R: usize, const V: usize>(
    triangle: &Triangle,
    rows: &[*mut f64],
    start: usize,
) {
    let size = triangle.size;
    let mut nowhere = [0.0; VECTORS * MOST_LANES];
    for (group, t) in triangle.packed.chunks_exact(R * size).enumerate() {
        let first = group * R;
        unsafe {
            let mut to = [nowhere.as_mut_ptr(); R];
            for i in 0..R.min(size - first) {
                to[i] = rows.get_unchecked(first + i).add(start);
            }
            let mut x = [[L::constant(0.0); VECTORS]; R];
            for i in 0..R {
                for v in 0..V {
                    x[i][v] = L::load(to[i].add(v * L::N));
                }
            }
            // x(i, ·) −= t(i, k)·x(k, ·)
            let mut t = t.as_ptr();
            for k in 0..first {
                let from = rows.get_unchecked(k).add(start);
                let mut known = [L::constant(0.0); V];
                for v in 0..V {
                    known[v] = L::load(from.add(v * L::N));
                }
                for i in 0..R {
                    let factor = L::splat(*t.add(i));
                    for v in 0..V {
                        x[i][v] = factor.mul_sub_from(known[v], x[i][v]);
                    }
                    if V == VECTORS {
                        L::end_of_row(&x[i]);
                    }
                }
                t = t.add(R);
            }
            for k in 0..R.min(size - first) {
                let reciprocal = L::splat(*t.add(k));
                for v in 0..V {
                    x[k][v] = x[k][v].mul(reciprocal);
                    x[k][v].store(to[k].add(v * L::N));
                }
                for i in k + 1..R {
                    let factor = L::splat(*t.add(i));
                    for v in 0..V {
                        x[i][v] = factor.mul_sub_from(x[k][v], x[i][v]);
                    }
                }
                t = t.add(R);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner_testkit::{Absolute, assert_close, normals};

    #[test]
    fn solutions_are_those_of_substitution() {
        for isa in Isa::available() {
            for size in [0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 33] {
                let mut t = normals(size, size, 1);
                (0..size).for_each(|i| t[i * size + i] = 3.0 + i as f64);
                let triangle = Triangle::new(isa, Operand::new(&t, size, size, size));
                for columns in [1, 2, 4, 7, 8, 9, 12, 24, 25, 49] {
                    let mut x = normals(size, columns, 2);
                    let mut expected = x.clone();
                    for i in 0..size {
                        for c in 0..columns {
                            let sum: f64 = (0..i).map(|k| t[i * size + k] * expected[k * columns + c]).sum();
                            let b = expected[i * columns + c];
                            expected[i * columns + c] = (b - sum) / t[i * size + i];
                        }
                    }
                    let mut rows: Vec<&mut [f64]> = x.chunks_exact_mut(columns).collect();
                    triangle.solve(&mut rows);
                    assert_close(&x, &expected, Absolute(1e-12));
                }
            }
        }
    }
}

//! Frequencies, drawn in five ways.
//!
//! ```text
//! independent   frequency j is a function of (seed, j)
//! quasi         of point j of a scrambled Halton sequence: each alone has the law, together they are more even
//! orthogonal    columns of Haar matrices, d of each, every one with its own length from the law
//! turned        rows of H·D·Q, as many as the padded d, with such lengths; D of each block, Q of Haar for sixteen blocks: each alone has the law
//! structured    rows of H·D₃·H·D₂·H·D₁, likewise: only nearly the law (bias below 4e-4 from padded d = 64 on)
//! ```
//! The last three need a law without preferred directions.

use bochner_simd::{
    Aligned, Apply, Panels, RowsRef, SparseRowsRef, Structured, structured, structured_sparse, walsh_hadamard,
};
use std::sync::{Mutex, PoisonError};

use crate::engine::Check;
use crate::kernel::{Law, Mixing, Place, Width, apply};
use crate::linalg::dot;
use crate::random::{Draws, Halton, Numbers, Stream};
use crate::{Engine, Matrix, Result, Rows, Scalar};

/// Rows filled between two checks.
const PIECE: usize = 256;

/// Fills the rows of a matrix, each from its number alone.
pub(in crate::map) fn fill_rows(
    engine: &Engine,
    rows: usize,
    columns: usize,
    check: Check<'_>,
    fill: &(dyn Fn(usize, &mut [f64]) + Sync),
) -> Result<Matrix<f64>> {
    let mut matrix = Matrix::zeros(rows, columns);
    for (p, piece) in matrix.as_mut_slice().chunks_mut((PIECE * columns).max(1)).enumerate() {
        engine.for_each_chunk(piece, columns, &|j, row| fill(p * PIECE + j, row));
        check(((p + 1) * PIECE).min(rows) as f64 / rows as f64)?;
    }
    Ok(matrix)
}

/// Independent frequencies.
pub(super) fn independent(
    engine: &Engine,
    seed: u64,
    count: usize,
    dim: usize,
    law: &Law,
    check: Check<'_>,
) -> Result<Matrix<f64>> {
    fill_rows(engine, count, dim, check, &|j, row| {
        law.draw(&mut Numbers::from(Draws::new(seed, Stream::Frequencies, j as u64)), row);
    })
}

/// Frequencies from quasi-random points.
pub(super) fn quasi(
    engine: &Engine,
    seed: u64,
    count: usize,
    dim: usize,
    law: &Law,
    check: Check<'_>,
) -> Result<Matrix<f64>> {
    // Beyond some thousand coordinates quasi-random numbers are no better than chance.
    let halton = Halton::new(seed, law.coordinates(dim).min(1 << 14));
    fill_rows(engine, count, dim, check, &|j, row| {
        // What needs more coordinates than foreseen goes on with chance.
        let further = Draws::new(seed, Stream::Frequencies, j as u64);
        law.draw(&mut Numbers::quasi(&halton, j as u64, further), row);
    })
}

/// The length of frequency j of an isotropic law in so many dimensions, for widths of 1.
fn length(seed: u64, j: usize, dim: usize, mixing: Mixing) -> f64 {
    let mut draws = Draws::new(seed, Stream::Lengths, j as u64);
    let square: f64 = (0..dim).map(|_| draws.normal()).map(|g| g * g).sum();
    square.sqrt() * mixing.draw(&mut Numbers::from(draws))
}

/// Orthogonal directions with the lengths of the law; `place` has one column for each of `dim`.
pub(super) fn orthogonal(
    engine: &Engine,
    seed: u64,
    count: usize,
    dim: usize,
    (mixing, place): (Mixing, &Place),
    check: Check<'_>,
) -> Result<Matrix<f64>> {
    let blocks = blocks(seed, count, dim);
    fill_rows(engine, count, dim, check, &|j, row| {
        blocks[j / dim].column(j % dim, row);
        let length = length(seed, j, dim, mixing);
        row.iter_mut().enumerate().for_each(|(at, w)| *w *= 1.0 / place.width.at(at) * length);
    })
}

/// Directions alone, all of the same length: columns of Haar matrices, `dim` of each.
pub(in crate::map) fn orthonormal(
    engine: &Engine,
    seed: u64,
    count: usize,
    dim: usize,
    length: f64,
    check: Check<'_>,
) -> Result<Matrix<f64>> {
    let blocks = blocks(seed, count, dim);
    fill_rows(engine, count, dim, check, &|j, row| {
        blocks[j / dim].column(j % dim, row);
        row.iter_mut().for_each(|w| *w *= length);
    })
}

/// As many orthogonal matrices as hold so many columns, the last one cut short.
fn blocks(seed: u64, count: usize, dim: usize) -> Vec<Haar> {
    (0..count.div_ceil(dim)).map(|b| Haar::draw(seed, b, dim, dim.min(count - b * dim))).collect()
}

/// The first columns of a random orthogonal matrix: Q = H₀H₁…H_{d−2}·diag(signs), Hₖ the reflection that takes a normal
/// vector of the coordinates from k on to a multiple of the first of them (Stewart 1980). Column i passes through H₀ … Hᵢ only, so that a few columns
/// of a large matrix cost little. Plain multiplications and additions in a fixed order: every processor makes the same matrix.
struct Haar {
    /// Reflection k has d − k entries, normalised to length √2.
    reflections: Vec<Vec<f64>>,
    signs: Vec<f64>,
}

impl Haar {
    fn draw(seed: u64, block: usize, dim: usize, columns: usize) -> Haar {
        let mut signs = Vec::with_capacity(columns);
        let mut reflections = Vec::with_capacity(columns);
        for k in 0..columns {
            let mut draws = Draws::new(seed, Stream::Reflections, (block as u64) << 32 | k as u64);
            let mut v: Vec<f64> = (k..dim).map(|_| draws.normal()).collect();
            let sign = if v[0] < 0.0 { -1.0 } else { 1.0 };
            if k + 1 == dim {
                signs.push(sign);
                break;
            }
            let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
            v[0] += sign * length;
            let factor = (2.0 / v.iter().map(|x| x * x).sum::<f64>()).sqrt();
            v.iter_mut().for_each(|x| *x *= factor);
            signs.push(-sign);
            reflections.push(v);
        }
        Haar { reflections, signs }
    }

    /// Column i: the unit vector i through the reflections that touch it, the last one first.
    fn column(&self, i: usize, column: &mut [f64]) {
        column.fill(0.0);
        column[i] = self.signs[i];
        for (k, v) in self.reflections.iter().enumerate().take(i + 1).rev() {
            let part = &mut column[k..];
            let along = dot(part, v);
            part.iter_mut().zip(v).for_each(|(c, v)| *c -= along * v);
        }
    }
}

/// Frequencies that are never written out: signs and lengths, and a rotation for many of them.
#[derive(Clone, Debug)]
pub(super) struct Hadamard {
    pub(super) padded: usize,
    /// Diagonals of signs in a block.
    pub(super) rounds: usize,
    /// ±1, `rounds` for each frequency of whole blocks.
    pub(super) signs: Vec<f64>,
    /// One factor a frequency, in turns, the normalisation of the transforms included.
    pub(super) lengths: Vec<f64>,
    /// What each column of a row is multiplied with, where widths differ.
    pub(super) factors: Vec<f64>,
    /// Rotations that come before the signs, one for each [`BLOCKS_A_ROTATION`] blocks: row k is where column k goes. None if rounds are all there is.
    pub(super) rotations: Vec<Matrix<f64>>,
}

/// A row in f64 after a rotation, kept while phases of it are asked for: each of them would take the whole rotation again.
#[derive(Default)]
pub(super) struct Rotated(Mutex<Option<(usize, usize, Vec<f64>)>>);

impl Rotated {
    /// A function of row i after rotation g.
    fn with<T: Scalar>(
        &self,
        rows: &Rows<'_, T>,
        i: usize,
        g: usize,
        matrix: &Matrix<f64>,
        of: impl FnOnce(&[f64]) -> f64,
    ) -> f64 {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (row, rotation, y) = kept.get_or_insert_with(|| (usize::MAX, g, Vec::new()));
        if (*row, *rotation) != (i, g) {
            y.clear();
            y.resize(matrix.columns(), 0.0);
            for (k, x) in rows.entries(i) {
                y.iter_mut().zip(matrix.row(k as usize)).for_each(|(y, q)| *y += x.to_f64() * q);
            }
            (*row, *rotation) = (i, g);
        }
        of(y)
    }
}

/// The smallest padded number of columns from which the bias of structured frequencies is small.
pub(super) const FEWEST_PADDED: usize = 64;

/// The smallest padded number of columns of turned ones, from which the blocks of a rotation are nearly as good as independent.
pub(super) const FEWEST_TURNED: usize = 32;

/// Blocks that share a rotation: one more costs at most about 1.8·p^(−2) of the variance of independent frequencies, and fewer cost products.
pub(super) const BLOCKS_A_ROTATION: usize = 16;

impl Hadamard {
    /// H·D₃·H·D₂·H·D₁
    pub(super) fn structured(seed: u64, count: usize, dim: usize, law: (Mixing, &Place)) -> Hadamard {
        Hadamard::draw(3, seed, count, dim, law)
    }

    /// H·D·Q
    pub(super) fn turned(
        engine: &Engine,
        seed: u64,
        count: usize,
        dim: usize,
        law: (Mixing, &Place),
        check: Check<'_>,
    ) -> Result<Hadamard> {
        let drawn = Hadamard::draw(1, seed, count, dim, law);
        let rotation = |g| {
            let haar = Haar::draw(seed, g, drawn.padded, dim);
            fill_rows(engine, dim, drawn.padded, check, &|k, row| haar.column(k, row))
        };
        let rotations =
            (0..count.div_ceil(BLOCKS_A_ROTATION * drawn.padded)).map(rotation).collect::<Result<_>>()?;
        Ok(Hadamard { rotations, ..drawn })
    }

    fn draw(
        rounds: usize,
        seed: u64,
        count: usize,
        dim: usize,
        (mixing, place): (Mixing, &Place),
    ) -> Hadamard {
        let padded = dim.next_power_of_two();
        let signs = (0..count.div_ceil(padded))
            .flat_map(|block| {
                let mut draws = Draws::new(seed, Stream::Signs, block as u64);
                (0..rounds * padded)
                    .map(move |_| if draws.word() & 1 == 0 { 1.0 } else { -1.0 })
                    .collect::<Vec<_>>()
            })
            .collect();
        // Lengths of normal vectors of all padded columns, of which a row has `dim`: a uniform direction there, cut to d, times such a length is a normal
        // vector of d entries. A round is p^(1/2) times an orthogonal matrix.
        let p = padded as f64;
        let norm = std::f64::consts::TAU
            * p.powi((rounds / 2) as i32)
            * if rounds.is_multiple_of(2) { 1.0 } else { p.sqrt() };
        let (width, factors) = match &place.width {
            Width::One(width) => (*width, Vec::new()),
            each => (1.0, (0..dim).map(|at| 1.0 / each.at(at)).collect()),
        };
        let lengths = (0..count).map(|j| length(seed, j, padded, mixing) / (norm * width)).collect();
        Hadamard { padded, rounds, signs, lengths, factors, rotations: Vec::new() }
    }

    /// The phase of row i and frequency j, in turns; `last` is the row that was asked for before, by the last rotation.
    pub(super) fn phase<T: Scalar>(
        &self,
        engine: &Engine,
        rows: &Rows<'_, T>,
        i: usize,
        j: usize,
        last: &Rotated,
    ) -> f64 {
        let (p, r) = (self.padded, self.rounds);
        if let Some(rotation) = self.rotations.get(j / (BLOCKS_A_ROTATION * p)) {
            // H's entry (j, l) is −1 where j and l share an odd number of bits.
            let entry = |l: usize| if ((j % p) & l).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
            let signs = &self.signs[j / p * p..][..p];
            let along = |y: &[f64]| (0..p).map(|l| entry(l) * signs[l] * y[l]).sum::<f64>();
            return self.lengths[j] * last.with(rows, i, j / (BLOCKS_A_ROTATION * p), rotation, along);
        }
        let mut values = vec![0.0; p];
        rows.entries(i).for_each(|(k, x)| values[k as usize] = x.to_f64());
        for signs in self.signs[j / p * r * p..][..r * p].chunks_exact(p) {
            values.iter_mut().zip(signs).for_each(|(x, sign)| *x *= sign);
            walsh_hadamard(engine.isa(), &mut values, p);
        }
        self.lengths[j] * values[j % p]
    }
}

/// The loop over rows of either shape.
pub(super) fn apply_structured<T: Scalar>(
    engine: &Engine,
    rows: &Rows<'_, T>,
    frequencies: &Structured<'_, T>,
    what: &Apply<'_, T>,
    out: &mut [T],
    stride: usize,
) {
    match rows {
        Rows::Dense(dense) => {
            let view = RowsRef { data: dense.as_slice(), count: dense.rows(), stride: dense.stride() };
            structured(engine.isa(), view, dense.columns(), frequencies, what, out, stride);
        }
        Rows::Sparse(sparse) => {
            let view =
                SparseRowsRef { starts: sparse.starts(), indices: sparse.indices(), values: sparse.values() };
            structured_sparse(engine.isa(), view, sparse.columns(), frequencies, what, out, stride);
        }
    }
}

/// Rows that are turned at once: of a thousand columns or less they stay in a second-level cache until their features are made.
const ROWS_AT_ONCE: usize = 64;

/// Rows × Q of each sixteen blocks, then their signs, transforms and endings.
pub(super) fn apply_turned<T: Scalar>(
    engine: &Engine,
    rows: &Rows<'_, T>,
    rotations: &[Panels<T>],
    frequencies: &Structured<'_, T>,
    what: &Apply<'_, T>,
    out: &mut [T],
    stride: usize,
) {
    let Structured { padded, rounds, signs, lengths } = *frequencies;
    let outputs = what.outputs();
    let mut turned = Aligned::zeros(ROWS_AT_ONCE.min(rows.count()) * padded);
    for start in (0..rows.count()).step_by(ROWS_AT_ONCE) {
        let rows = rows.slice(start..rows.count().min(start + ROWS_AT_ONCE));
        for (g, rotation) in rotations.iter().enumerate() {
            apply(&rows, rotation, &Apply::Product, turned.as_mut_slice(), padded);
            let first = g * BLOCKS_A_ROTATION * padded;
            let last = lengths.len().min(first + BLOCKS_A_ROTATION * padded);
            let signs = &signs[first * rounds..last.next_multiple_of(padded) * rounds];
            let some = Structured { signs, lengths: &lengths[first..last], ..*frequencies };
            let view = RowsRef { data: turned.as_slice(), count: rows.count(), stride: padded };
            let out = &mut out[start * stride + first * outputs..];
            let mut end = |what: &Apply<'_, T>| {
                structured(engine.isa(), view, padded, &some, what, out, stride);
            };
            // Phases that are asked again are those of these rows and frequencies.
            match *what {
                Apply::Pairs { scale, exact, stream } => {
                    let exact = |i, j| exact(start + i, first + j);
                    end(&Apply::Pairs { scale, exact: &exact, stream });
                }
                Apply::Offset { scale, offsets, exact } => {
                    let exact = |i, j| exact(start + i, first + j);
                    end(&Apply::Offset { scale, offsets: &offsets[first..last], exact: &exact });
                }
                _ => end(what),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner_testkit::{Absolute, assert_close};

    #[test]
    fn blocks_are_orthogonal_matrices() {
        for dim in [1, 2, 3, 20] {
            let haar = Haar::draw(3, 1, dim, dim);
            let q =
                fill_rows(&Engine::default(), dim, dim, &|_| Ok(()), &|i, row| haar.column(i, row)).unwrap();
            for i in 0..dim {
                for j in 0..dim {
                    let expected = if i == j { 1.0 } else { 0.0 };
                    assert_close(&[dot(q.row(i), q.row(j))], &[expected], Absolute(1e-13));
                }
            }
        }
    }

    /// The mean of Q is zero and its entries squared have mean 1/d, by Hoeffding at 1e-9 each: without the
    /// signs Q₁₁ would always be negative.
    #[test]
    fn blocks_have_no_preferred_direction() {
        let (n, dim) = (4000, 3);
        let mut mean = vec![0.0; dim * dim];
        let mut square = vec![0.0; dim * dim];
        for seed in 0..n {
            let haar = Haar::draw(seed, 0, dim, dim);
            let q =
                fill_rows(&Engine::default(), dim, dim, &|_| Ok(()), &|i, row| haar.column(i, row)).unwrap();
            for (at, x) in q.as_slice().iter().enumerate() {
                mean[at] += x / n as f64;
                square[at] += x * x / n as f64;
            }
        }
        let radius = bochner_testkit::hoeffding_radius(n as usize, 2.0, 1e-10);
        assert_close(&mean, &vec![0.0; dim * dim], Absolute(radius));
        assert_close(&square, &vec![1.0 / 3.0; dim * dim], Absolute(radius / 2.0));
    }
}

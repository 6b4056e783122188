//! The Gram statistic: all that ridge regression needs to know of the rows.
//!
//! ```text
//! ZᵀWZ, ZᵀWY, ZᵀW1, YᵀWY (diagonal), YᵀW1, Σw, n          kept apart for each of K folds
//! ```
//! ZᵀWZ is kept as its upper triangle in square tiles, each of which one thread updates from all rows of a block in order: the
//! same bits for any number of threads. Sums over a block run in the precision of the features, sums over
//! blocks in f64. Rows carry the square root of their weight on both sides of every product. `docs/book/ridge.md`.

use bochner_simd::{Aligned, Extent, TILE, cross_tile, pack_columns, rank_tile};

use super::Statistic;
use crate::engine::UNASKED;
use crate::{Engine, Matrix, MatrixView, Scalar};

/// Partial sums of each fold.
#[derive(Clone, Debug, PartialEq)]
pub struct Gram {
    features: usize,
    outputs: usize,
    folds: Vec<Part>,
}

/// The sums of one fold.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    /// ZᵀWZ: tiles (I, J), I ≤ J, column of tiles after column of tiles; tiles on the diagonal hold their upper triangle.
    products: Aligned<f64>,
    /// ZᵀW[Y 1]: for each tile of features, outputs + 1 rows of TILE.
    cross: Vec<f64>,
    /// Σ wy², Σ wy for each output, then Σ w.
    targets: Vec<f64>,
    rows: u64,
}

/// Plain sums of some folds together, for the solvers.
#[derive(Clone, Debug, PartialEq)]
pub struct Sums {
    /// ZᵀWZ, both triangles.
    pub products: Matrix<f64>,
    /// ZᵀWY: features × outputs.
    pub cross: Matrix<f64>,
    /// ZᵀW1.
    pub features: Vec<f64>,
    /// Σ wy² of each output.
    pub target_squares: Vec<f64>,
    /// Σ wy of each output.
    pub targets: Vec<f64>,
    /// Σ w.
    pub weight: f64,
    /// The number of rows.
    pub rows: u64,
}

impl Gram {
    /// Of no rows.
    pub fn zero(engine: &Engine, features: usize, outputs: usize, folds: usize) -> Self {
        let part = |_| Part::zero(engine, features, outputs);
        Gram { features, outputs, folds: (0..folds).map(part).collect() }
    }

    /// The number of folds.
    pub fn folds(&self) -> usize {
        self.folds.len()
    }

    /// Rows read with positive weight.
    pub fn rows(&self) -> u64 {
        self.folds.iter().map(|part| part.rows).sum()
    }

    /// Σ w of a fold.
    pub fn weight(&self, fold: usize) -> f64 {
        self.folds[fold].targets[2 * self.outputs]
    }

    /// Reads a block of features `z` with targets `y`; `weight(i)` and `fold(i)` are those of row i.
    ///
    /// `packed` is memory to work in, kept between blocks.
    #[inline(never)]
    pub fn absorb<T: Scalar>(
        &mut self,
        engine: &Engine,
        z: MatrixView<'_, T>,
        y: MatrixView<'_, f64>,
        weight: &dyn Fn(usize) -> f64,
        fold: &dyn Fn(usize) -> usize,
        packed: &mut Aligned<T>,
    ) {
        let never = || Ok::<(), std::convert::Infallible>(());
        match self.absorb_until(engine, z, y, weight, fold, packed, never) {
            Ok(()) => {}
            Err(impossible) => match impossible {},
        }
    }

    /// The same, asking every now and then whether to go on: a block of many features takes seconds. What has been stopped is of no use.
    pub(crate) fn absorb_until<T: Scalar, E>(
        &mut self,
        engine: &Engine,
        z: MatrixView<'_, T>,
        y: MatrixView<'_, f64>,
        weight: &dyn Fn(usize) -> f64,
        fold: &dyn Fn(usize) -> usize,
        packed: &mut Aligned<T>,
        check: impl Fn() -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let isa = engine.isa();
        let mut order: Vec<(usize, u32, f64)> = (0..z.rows())
            .filter(|&i| weight(i) > 0.0)
            .map(|i| (fold(i), i as u32, weight(i).sqrt()))
            .collect();
        order.sort_by_key(|&(fold, ..)| fold); // stable: rows keep their order within a fold
        let total = order.len();
        let factors: Vec<(u32, f64)> = order.iter().map(|&(_, i, factor)| (i, factor)).collect();

        let packed = packed.sized(self.features.div_ceil(TILE) * total * TILE);
        engine.for_each_chunk(packed, total * TILE, &|tile, packed| {
            let columns = tile * TILE..self.features.min((tile + 1) * TILE);
            pack_columns(isa, &factors, &|i| &z.row(i)[columns.clone()], packed);
        });
        let sides = sides(&factors, y);

        let tile = |t: usize| &packed[t * total * TILE..(t + 1) * total * TILE];
        let mut start = 0;
        for (k, part) in self.folds.iter_mut().enumerate() {
            let end = start + order[start..].iter().take_while(|&&(fold, ..)| fold == k).count();
            let rows = start..end;
            start = end;
            if rows.is_empty() {
                continue;
            }
            let tiles = (UNASKED / (rows.len() * TILE * TILE)).max(1);
            for (few, products) in part.products.as_mut_slice().chunks_mut(tiles * TILE * TILE).enumerate() {
                // Tile by tile: threads that take several at once wait for each other at the end.
                engine.for_each_chunk(products, TILE * TILE, &|position, c| {
                    let (i, j) = tile_of(few * tiles + position);
                    let columns = |t: usize| TILE.min(self.features - t * TILE);
                    let extent = Extent { a: columns(i), b: columns(j), upper: i == j };
                    rank_tile(isa, tile(i), tile(j), rows.clone(), extent, c);
                });
                check()?;
            }
            engine.for_each_chunk(&mut part.cross, (self.outputs + 1) * TILE, &|t, c| {
                cross_tile(isa, tile(t), &sides, rows.clone(), c);
            });
            for &(_, i, factor) in &order[rows.clone()] {
                let weight = factor * factor;
                for (o, y) in y.row(i as usize).iter().enumerate() {
                    part.targets[o] += weight * y * y;
                    part.targets[self.outputs + o] += weight * y;
                }
                part.targets[2 * self.outputs] += weight;
            }
            part.rows += rows.len() as u64;
        }
        Ok(())
    }

    /// The sums of all rows.
    pub fn total(&self, engine: &Engine) -> Sums {
        self.sums(engine, |_| true)
    }

    /// The sums of one fold.
    pub fn only(&self, engine: &Engine, fold: usize) -> Sums {
        self.sums(engine, |k| k == fold)
    }

    /// The sums of all folds but one: added up, not subtracted, so that nothing cancels.
    pub fn without(&self, engine: &Engine, fold: usize) -> Sums {
        self.sums(engine, |k| k != fold)
    }

    fn sums(&self, engine: &Engine, chosen: impl Fn(usize) -> bool) -> Sums {
        let (features, outputs) = (self.features, self.outputs);
        let mut sums = Sums {
            products: Matrix::zeros(features, features),
            cross: Matrix::zeros(features, outputs),
            features: vec![0.0; features],
            target_squares: vec![0.0; outputs],
            targets: vec![0.0; outputs],
            weight: 0.0,
            rows: 0,
        };
        let parts: Vec<&Part> =
            self.folds.iter().enumerate().filter(|&(k, _)| chosen(k)).map(|(_, part)| part).collect();
        parts.iter().for_each(|part| part.add_to(&mut sums));
        // Each row of tiles by itself: what lies left of the diagonal is the transpose of a tile above it.
        engine.for_each_chunk(sums.products.as_mut_slice(), TILE * features, &|i, rows| {
            rows.fill(0.0); // as in `zero`
            for j in 0..features.div_ceil(TILE) {
                parts.iter().for_each(|part| part.add_tile(i, j, rows, features));
            }
        });
        sums
    }
}

/// [Y 1], each row times its factor, in packed order.
fn sides(factors: &[(u32, f64)], y: MatrixView<'_, f64>) -> Vec<f64> {
    let mut sides = Vec::with_capacity(factors.len() * (y.columns() + 1));
    for &(i, factor) in factors {
        sides.extend(y.row(i as usize).iter().map(|y| y * factor));
        sides.push(factor);
    }
    sides
}

/// (I, J) of the tile at `position`: columns of tiles one after another, each from the top to the diagonal.
fn tile_of(position: usize) -> (usize, usize) {
    let mut j = ((((8 * position + 1) as f64).sqrt() - 1.0) / 2.0) as usize;
    // The root may be off by one for large positions.
    while (j + 1) * (j + 2) / 2 <= position {
        j += 1;
    }
    while j * (j + 1) / 2 > position {
        j -= 1;
    }
    (position - j * (j + 1) / 2, j)
}

impl Part {
    fn zero(engine: &Engine, features: usize, outputs: usize) -> Part {
        let tiles = features.div_ceil(TILE);
        let mut products = Aligned::zeros(tiles * (tiles + 1) / 2 * TILE * TILE);
        // Written, so that later additions do not find shared pages of zeros, each of which would have to be copied.
        engine.for_each_chunk(products.as_mut_slice(), TILE * TILE, &|_, tile| tile.fill(0.0));
        let cross = vec![0.0; tiles * (outputs + 1) * TILE];
        Part { products, cross, targets: vec![0.0; 2 * outputs + 1], rows: 0 }
    }

    /// Adds tile (i, j) of both triangles to its place in a row of tiles.
    fn add_tile(&self, i: usize, j: usize, rows: &mut [f64], features: usize) {
        let (top, right) = (i.min(j), i.max(j));
        let tile = &self.products.as_slice()[(right * (right + 1) / 2 + top) * TILE * TILE..][..TILE * TILE];
        for (r, row) in rows.chunks_exact_mut(features).enumerate() {
            let columns = &mut row[j * TILE..features.min((j + 1) * TILE)];
            for (c, to) in columns.iter_mut().enumerate() {
                let above = if i == j { r <= c } else { i < j };
                *to += if above { tile[r * TILE + c] } else { tile[c * TILE + r] };
            }
        }
    }

    /// Adds everything but ZᵀWZ.
    fn add_to(&self, sums: &mut Sums) {
        let (features, outputs) = (sums.features.len(), sums.targets.len());
        for (t, tile) in self.cross.chunks_exact((outputs + 1) * TILE).enumerate() {
            for j in t * TILE..features.min((t + 1) * TILE) {
                let at = j - t * TILE;
                for o in 0..outputs {
                    sums.cross.row_mut(j)[o] += tile[o * TILE + at];
                }
                sums.features[j] += tile[outputs * TILE + at];
            }
        }
        for o in 0..outputs {
            sums.target_squares[o] += self.targets[o];
            sums.targets[o] += self.targets[outputs + o];
        }
        sums.weight += self.targets[2 * outputs];
        sums.rows += self.rows;
    }
}

impl Statistic for Gram {
    fn merge(&mut self, other: &Self) {
        for (part, other) in self.folds.iter_mut().zip(&other.folds) {
            let pairs = [
                (part.products.as_mut_slice(), other.products.as_slice()),
                (&mut part.cross, &other.cross),
                (&mut part.targets, &other.targets),
            ];
            for (to, from) in pairs {
                to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
            }
            part.rows += other.rows;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner_testkit::{Absolute, Relative, assert_close, assert_same_bits, normals};

    struct Data {
        z: Matrix<f64>,
        y: Matrix<f64>,
        weights: Vec<f64>,
    }

    fn data(n: usize, features: usize, outputs: usize) -> Data {
        Data {
            z: Matrix::new(n, features, normals(n, features, 1)).unwrap(),
            y: Matrix::new(n, outputs, normals(n, outputs, 2)).unwrap(),
            weights: (0..n).map(|i| [1.0, 2.0, 0.0, 0.5][i % 4]).collect(),
        }
    }

    fn read<T: Scalar>(data: &Data, range: std::ops::Range<usize>) -> Gram {
        let z: Vec<T> = data.z.as_slice().iter().map(|&x| T::from_f64(x)).collect();
        let z = Matrix::new(data.z.rows(), data.z.columns(), z).unwrap();
        let mut gram = Gram::zero(&Engine::default(), data.z.columns(), data.y.columns(), 3);
        let start = range.start;
        gram.absorb(
            &Engine::default(),
            z.view().slice(range.clone()),
            data.y.view().slice(range),
            &|i| data.weights[start + i],
            &|i| (start + i) * 7 % 3,
            &mut Aligned::default(),
        );
        gram
    }

    /// One loop per sum.
    fn naive(data: &Data, keep: impl Fn(usize) -> bool) -> Sums {
        let (n, d, t) = (data.z.rows(), data.z.columns(), data.y.columns());
        let sum = |f: &dyn Fn(usize) -> f64| -> f64 {
            (0..n).filter(|&i| keep(i)).map(|i| data.weights[i] * f(i)).sum()
        };
        let (z, y) = (&data.z, &data.y);
        Sums {
            products: Matrix::from_fn(d, d, |a, b| sum(&|i| z.row(i)[a] * z.row(i)[b])),
            cross: Matrix::from_fn(d, t, |a, o| sum(&|i| z.row(i)[a] * y.row(i)[o])),
            features: (0..d).map(|a| sum(&|i| z.row(i)[a])).collect(),
            target_squares: (0..t).map(|o| sum(&|i| y.row(i)[o].powi(2))).collect(),
            targets: (0..t).map(|o| sum(&|i| y.row(i)[o])).collect(),
            weight: sum(&|_| 1.0),
            rows: (0..n).filter(|&i| keep(i) && data.weights[i] > 0.0).count() as u64,
        }
    }

    fn assert_equal(a: &Sums, b: &Sums, tolerance: f64) {
        assert_close(a.products.as_slice(), b.products.as_slice(), Absolute(tolerance));
        assert_close(a.cross.as_slice(), b.cross.as_slice(), Absolute(tolerance));
        assert_close(&a.features, &b.features, Absolute(tolerance));
        assert_close(&a.target_squares, &b.target_squares, Relative(1e-12));
        assert_close(&a.targets, &b.targets, Absolute(1e-12));
        assert_close(&[a.weight], &[b.weight], Relative(1e-12));
        assert_eq!(a.rows, b.rows);
    }

    #[test]
    fn sums_are_those_of_a_naive_loop() {
        for (features, outputs) in [(1, 1), (5, 2), (200, 1), (193, 11)] {
            let data = data(131, features, outputs);
            for (gram, tolerance) in [(read::<f64>(&data, 0..131), 1e-12), (read::<f32>(&data, 0..131), 2e-4)]
            {
                assert_equal(&gram.total(&Engine::default()), &naive(&data, |_| true), tolerance);
                for k in 0..3 {
                    assert_equal(
                        &gram.only(&Engine::default(), k),
                        &naive(&data, |i| i * 7 % 3 == k),
                        tolerance,
                    );
                    assert_equal(
                        &gram.without(&Engine::default(), k),
                        &naive(&data, |i| i * 7 % 3 != k),
                        tolerance,
                    );
                }
            }
        }
    }

    /// Every fold of two readings.
    fn assert_same_folds(a: &Gram, b: &Gram, tolerance: f64) {
        (0..3).for_each(|k| {
            assert_equal(&a.only(&Engine::default(), k), &b.only(&Engine::default(), k), tolerance)
        });
    }

    #[test]
    fn reading_in_two_parts_equals_reading_at_once() {
        let data = data(37, 5, 1);
        let whole = read::<f64>(&data, 0..37);
        for cut in 0..=37 {
            let (first, second) = (read::<f64>(&data, 0..cut), read::<f64>(&data, cut..37));
            let (mut forth, mut back) = (first.clone(), second.clone());
            forth.merge(&second);
            back.merge(&first);
            assert_same_folds(&forth, &whole, 1e-12);
            assert_same_folds(&back, &whole, 1e-12);
        }
        let mut with_zero = read::<f64>(&data, 0..37);
        with_zero.merge(&Gram::zero(&Engine::default(), 5, 1, 3));
        assert_same_bits(
            with_zero.total(&Engine::default()).products.as_slice(),
            whole.total(&Engine::default()).products.as_slice(),
        );
    }

    /// Several tiles, several targets, both precisions: (a + b) + c, a + (b + c) and the whole are the same fold by fold.
    #[test]
    fn merging_is_associative() {
        let data = data(90, 2 * TILE + 7, 2);
        let check = |read: &dyn Fn(std::ops::Range<usize>) -> Gram, tolerance: f64| {
            let [a, b, c] = [0..20, 20..61, 61..90].map(read);
            let (mut left, mut right, mut tail) = (a.clone(), a, b.clone());
            left.merge(&b);
            left.merge(&c);
            tail.merge(&c);
            right.merge(&tail);
            assert_same_folds(&left, &right, 1e-12);
            assert_same_folds(&left, &read(0..90), tolerance);
        };
        check(&|rows| read::<f64>(&data, rows), 1e-12);
        check(&|rows| read::<f32>(&data, rows), 2e-4);
    }

    #[test]
    fn weight_equals_repetition() {
        let mut weighted = data(20, 4, 2);
        weighted.weights = (0..20).map(|i| (i % 3) as f64).collect();
        let rows: Vec<usize> = (0..20).flat_map(|i| std::iter::repeat_n(i, i % 3)).collect();
        let take = |m: &Matrix<f64>| Matrix::from_fn(rows.len(), m.columns(), |i, j| m.row(rows[i])[j]);
        let repeated = Data { z: take(&weighted.z), y: take(&weighted.y), weights: vec![1.0; rows.len()] };
        let (mut a, b) = (
            read::<f64>(&weighted, 0..20).total(&Engine::default()),
            read::<f64>(&repeated, 0..rows.len()).total(&Engine::default()),
        );
        a.rows = b.rows;
        assert_equal(&a, &b, 1e-12);
    }

    /// So many features that the block is absorbed in parts: asked in between, with every product where it belongs, and stopped when told to.
    #[test]
    fn a_large_block_can_be_stopped() {
        let (n, d) = (4096, 1600);
        let z = Matrix::from_fn(n, d, |i, j| ((i * 31 + j * 17 + (i * j) % 13) % 7) as f32 - 3.0);
        let y = Matrix::zeros(n, 1);
        let asked = std::cell::Cell::new(0);
        let absorb = |gram: &mut Gram, most: usize| {
            asked.set(0);
            gram.absorb_until(
                &Engine::default(),
                z.view(),
                y.view(),
                &|_| 1.0,
                &|_| 0,
                &mut Aligned::default(),
                || {
                    asked.set(asked.get() + 1);
                    if asked.get() > most { Err("stopped") } else { Ok(()) }
                },
            )
        };
        let mut gram = Gram::zero(&Engine::default(), d, 1, 1);
        assert_eq!(absorb(&mut gram, usize::MAX), Ok(()));
        assert!(asked.get() > 1, "asked {} times", asked.get());
        let products = gram.total(&Engine::default()).products;
        for (i, j) in [(0, 0), (0, d - 1), (d - 1, d - 1), (5, 1200), (191, 192), (1300, 1599), (1590, 17)] {
            let expected: f32 = (0..n).map(|k| z.row(k)[i] * z.row(k)[j]).sum();
            assert_close(&[products.row(i)[j]], &[f64::from(expected)], Absolute(0.0));
        }
        assert_eq!(absorb(&mut Gram::zero(&Engine::default(), d, 1, 1), 1), Err("stopped"));
        assert_eq!(asked.get(), 2);
    }

    #[test]
    fn every_tile_has_its_place() {
        let mut position = 0;
        for j in 0..300 {
            for i in 0..=j {
                assert_eq!(tile_of(position), (i, j));
                position += 1;
            }
        }
    }
}

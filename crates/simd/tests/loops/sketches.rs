//! Sketches of (x·y + c)^p on every instruction set: TensorSketch against convolutions, products of projections against dense matrices.

use bochner_simd::{
    Element, Fft, Isa, ProductSketch, RowsRef, SparseRowsRef, TensorSketch, product_sketch,
    product_sketch_sparse, tensor_sketch, tensor_sketch_sparse,
};
use bochner_testkit::{Absolute, Chance, assert_close, densify, normals, sparse};

fn typed<T: Element>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&x| T::from_f64(x)).collect()
}

fn doubles<T: Element>(values: &[T]) -> Vec<f64> {
    values.iter().map(|x| x.to_f64()).collect()
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Σ |x|·|y|, what a rounding error of a product is measured by: at most ‖x‖·‖y‖.
fn size(x: &[f64], y: &[f64]) -> f64 {
    dot(x, x).sqrt() * dot(y, y).sqrt()
}

/// A TensorSketch that owns its draws.
struct Hashes<T> {
    buckets: usize,
    degree: usize,
    places: Vec<u32>,
    signs: Vec<T>,
    constant: T,
    fft: Fft<T>,
}

const SCALE: f64 = 0.75;

impl<T: Element> Hashes<T> {
    fn new(columns: usize, buckets: usize, degree: usize, constant: f64) -> Self {
        let mut chance = Chance::new((columns * 31 + buckets * 7 + degree) as u64);
        let count = degree * (columns + 1);
        let places = (0..count).map(|_| (chance.uniform() * buckets as f64) as u32).collect();
        let signs = (0..count).map(|_| T::from_f64((chance.uniform() - 0.5).signum())).collect();
        Hashes { buckets, degree, places, signs, constant: T::from_f64(constant), fft: Fft::new(buckets) }
    }

    fn sketch(&self) -> TensorSketch<'_, T> {
        TensorSketch {
            buckets: self.buckets,
            degree: self.degree,
            places: &self.places,
            signs: &self.signs,
            constant: self.constant,
            scale: T::from_f64(SCALE),
            fft: &self.fft,
        }
    }

    fn features(&self, isa: Isa, x: &[T], columns: usize) -> Vec<T> {
        let rows = RowsRef { data: x, count: x.len() / columns, stride: columns };
        written(rows.count, self.buckets, |out, stride| {
            tensor_sketch(isa, rows, columns, &self.sketch(), out, stride);
        })
    }

    /// The count sketches of a row, convolved bucket by bucket, times the scale.
    fn convolved(&self, x: &[f64]) -> Vec<f64> {
        let mut entries = x.to_vec();
        entries.push(self.constant.to_f64());
        let mut product = vec![0.0; self.buckets];
        product[0] = SCALE;
        for (places, signs) in self.places.chunks(entries.len()).zip(self.signs.chunks(entries.len())) {
            let mut next = vec![0.0; self.buckets];
            for ((x, &place), sign) in entries.iter().zip(places).zip(signs) {
                for (b, a) in product.iter().enumerate() {
                    next[(b + place as usize) % self.buckets] += a * x * sign.to_f64();
                }
            }
            product = next;
        }
        product
    }
}

/// What `run` writes into rows that are three elements longer; these have to stay.
fn written<T: Element>(rows: usize, width: usize, run: impl FnOnce(&mut [T], usize)) -> Vec<T> {
    let nine = T::from_f64(9.0);
    let mut out = vec![nine; rows * (width + 3)];
    run(&mut out, width + 3);
    assert!(out.chunks(width + 3).all(|row| row[width..] == [nine; 3]), "wrote too far");
    out.chunks(width + 3).flat_map(|row| row[..width].to_vec()).collect()
}

/// Rows, columns, buckets: fewer entries than buckets and more, groups that are full or not on every instruction set.
const TENSOR_SHAPES: [(usize, usize, usize); 22] = [
    (1, 1, 1),
    (3, 5, 1),
    (2, 1, 2),
    (5, 7, 2),
    (4, 1, 4),
    (9, 30, 4),
    (1, 1, 8),
    (7, 9, 8),
    (17, 3, 16),
    (3, 40, 16),
    (5, 7, 32),
    (5, 20, 64),
    (2, 70, 64),
    (8, 1, 128),
    (15, 15, 256),
    (16, 31, 512),
    (3, 200, 512),
    (2, 600, 1024),
    (2, 130, 2048),
    (3, 64, 4096),
    (2, 784, 4096),
    (2, 4200, 4096),
];

fn products_are_those_of_convolutions<T: Element>(tolerance: f64) {
    for (n, columns, buckets) in TENSOR_SHAPES {
        for degree in if buckets < 1000 { 1..=5 } else { 3..=3 } {
            for constant in [0.0, 0.7] {
                let hashes = Hashes::<T>::new(columns, buckets, degree, constant);
                let x = typed::<T>(&normals(n, columns, 1));
                let expected: Vec<_> = x.chunks(columns).map(|x| hashes.convolved(&doubles(x))).collect();
                for isa in Isa::available() {
                    let features = hashes.features(isa, &x, columns);
                    let z: Vec<_> = features.chunks(buckets).map(doubles).collect();
                    for (i, j) in (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))) {
                        let bound = tolerance * size(&expected[i], &expected[j]);
                        assert_close(
                            &[dot(&z[i], &z[j])],
                            &[dot(&expected[i], &expected[j])],
                            Absolute(bound),
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn tensor_sketches_have_the_products_of_convolutions() {
    products_are_those_of_convolutions::<f64>(1e-12);
    products_are_those_of_convolutions::<f32>(1e-4);
}

/// The features themselves, in the order that the documentation states.
#[test]
fn tensor_features_are_the_transform_in_the_order_of_the_formula() {
    for (columns, buckets) in [(3, 1), (3, 2), (5, 4), (5, 8), (2, 64), (50, 64), (7, 512), (600, 512)] {
        let hashes = Hashes::<f64>::new(columns, buckets, 3, 0.5);
        let x = normals(1, columns, 2);
        let convolved = hashes.convolved(&x);
        let transform = |k: usize| {
            let angle = |b: usize| -std::f64::consts::TAU * ((b * k) % buckets) as f64 / buckets as f64;
            let part = |f: fn(f64) -> f64| {
                convolved.iter().enumerate().map(|(b, a)| a * f(angle(b))).sum::<f64>()
                    / (buckets as f64).sqrt()
            };
            [part(f64::cos), part(f64::sin)]
        };
        let mut expected = Vec::new();
        let (mut step, mut length) = (1, buckets / 4);
        while length > 0 {
            for i in 0..length {
                let reversed = (0..length.ilog2()).fold(0, |sum, bit| sum * 2 + (i >> bit & 1));
                expected.extend(transform(step * (4 * reversed + 1)).map(|part| part * 2f64.sqrt()));
            }
            (step, length) = (2 * step, length / 2);
        }
        expected.push(transform(0)[0]);
        if buckets > 1 {
            expected.push(transform(buckets / 2)[0]);
        }
        for isa in Isa::available() {
            let bound = 1e-14 * dot(&convolved, &convolved).sqrt();
            assert_close(&hashes.features(isa, &x, columns), &expected, Absolute(bound));
        }
    }
}

/// A product of projections that owns its draws.
struct Draws<T> {
    padded: usize,
    degree: usize,
    draws: usize,
    places: Vec<u32>,
    turns: Vec<u8>,
    constant: T,
}

impl<T: Element> Draws<T> {
    fn new(columns: usize, padded: usize, degree: usize, draws: usize, constant: f64) -> Self {
        let mut chance = Chance::new((columns * 31 + padded * 7 + degree) as u64);
        let (mut places, mut turns) = (Vec::new(), Vec::new());
        for _ in 0..draws.div_ceil(padded) * degree {
            let mut order: Vec<u32> = (0..padded as u32).collect();
            for i in 0..padded {
                order.swap(i, i + (chance.uniform() * (padded - i) as f64) as usize);
            }
            // What stands for the place of a constant that has none is not looked at.
            order.push(u32::MAX);
            places.extend(&order[..columns + 1]);
            turns.extend((0..=columns).map(|_| (chance.uniform() * 4.0) as u8));
        }
        Draws { padded, degree, draws, places, turns, constant: T::from_f64(constant) }
    }

    fn sketch(&self) -> ProductSketch<'_, T> {
        ProductSketch {
            padded: self.padded,
            degree: self.degree,
            draws: self.draws,
            places: &self.places,
            turns: &self.turns,
            constant: self.constant,
            scale: T::from_f64(SCALE),
        }
    }

    fn features(&self, isa: Isa, x: &[T], columns: usize) -> Vec<T> {
        let rows = RowsRef { data: x, count: x.len() / columns, stride: columns };
        written(rows.count, 2 * self.draws, |out, stride| {
            product_sketch(isa, rows, columns, &self.sketch(), out, stride);
        })
    }

    /// The features of a row by matrices of fourth roots of unity, and the largest that their sizes could be.
    fn by_matrices(&self, x: &[f64]) -> (Vec<f64>, f64) {
        let mut entries = x.to_vec();
        entries.push(self.constant.to_f64());
        let mut features = Vec::new();
        for draw in 0..self.draws {
            let (block, row) = (draw / self.padded, draw % self.padded);
            let mut product = [SCALE, 0.0];
            for t in 0..self.degree {
                let first = (block * self.degree + t) * entries.len();
                let mut sum = [0.0, 0.0];
                for (j, x) in entries.iter().enumerate().filter(|(_, x)| x.abs() > 0.0) {
                    let shared = row as u32 & self.places[first + j];
                    let sign = if shared.count_ones().is_multiple_of(2) { *x } else { -x };
                    let turned = [[sign, 0.0], [0.0, sign], [-sign, 0.0], [0.0, -sign]];
                    let [re, im] = turned[usize::from(self.turns[first + j])];
                    sum = [sum[0] + re, sum[1] + im];
                }
                let ([a, b], [c, d]) = (product, sum);
                product = [a * c - b * d, a * d + b * c];
            }
            features.extend(product);
        }
        let most = SCALE * entries.iter().map(|x| x.abs()).sum::<f64>().powi(self.degree as i32);
        (features, most)
    }
}

/// Rows, columns, padded, draws.
const PRODUCT_SHAPES: [(usize, usize, usize, usize); 15] = [
    (1, 1, 2, 1),
    (3, 1, 2, 40),
    (5, 3, 4, 13),
    (4, 2, 4, 64),
    (9, 7, 8, 8),
    (7, 5, 8, 100),
    (17, 9, 16, 33),
    (15, 31, 32, 64),
    (16, 60, 64, 100),
    (8, 64, 128, 300),
    (2, 255, 256, 200),
    (3, 300, 512, 1030),
    (1, 900, 1024, 1100),
    (2, 1500, 2048, 70),
    (1, 5000, 8192, 300),
];

fn projections_are_those_of_matrices<T: Element>(tolerance: f64) {
    for (n, columns, padded, draws) in PRODUCT_SHAPES {
        for degree in if padded < 200 { 1..=5 } else { 3..=3 } {
            for (columns, constant) in [(columns, 0.7), (columns, 0.0), (padded.min(600), 0.0)] {
                let of = Draws::<T>::new(columns, padded, degree, draws, constant);
                let x = typed::<T>(&normals(n, columns, 1));
                let expected: Vec<_> = x.chunks(columns).map(|x| of.by_matrices(&doubles(x))).collect();
                for isa in Isa::available() {
                    let features = of.features(isa, &x, columns);
                    for (z, (expected, most)) in features.chunks(2 * draws).zip(&expected) {
                        assert_close(&doubles(z), expected, Absolute(tolerance * most));
                    }
                }
            }
        }
    }
}

#[test]
fn product_sketches_are_products_of_projections() {
    projections_are_those_of_matrices::<f64>(1e-15);
    projections_are_those_of_matrices::<f32>(5e-7);
}

/// One column, no constant: a block of a single draw.
#[test]
fn blocks_of_one_draw_are_powers() {
    let of = Draws::<f64>::new(1, 1, 3, 5, 0.0);
    for isa in Isa::available() {
        let features = of.features(isa, &[0.5, -2.0], 1);
        let expected = [of.by_matrices(&[0.5]).0, of.by_matrices(&[-2.0]).0].concat();
        assert_close(&features, &expected, Absolute(0.0));
        assert!(features.chunks(2).all(|z| dot(z, z) > 0.0));
    }
}

fn rows_do_not_meet<T: Element>() {
    for isa in Isa::available() {
        for (columns, buckets) in [(5, 4), (20, 64), (40, 1024), (300, 256)] {
            let of = Hashes::<T>::new(columns, buckets, 3, 0.7);
            let draws = Draws::<T>::new(columns, (columns + 1).next_power_of_two(), 3, 100, 0.7);
            let mut x = typed::<T>(&normals(67, columns, 4));
            // A row that is not finite stays alone with that.
            x[3 * columns] = T::from_f64(f64::NAN);
            let (tensor, product) = (of.features(isa, &x, columns), draws.features(isa, &x, columns));
            for count in [1, 3, 4, 5, 7, 8, 9, 15, 16, 17] {
                for first in [0, 4, 9, 66] {
                    let (first, end) = (first, 67.min(first + count));
                    let some = &x[first * columns..end * columns];
                    let same = |found: Vec<T>, all: &[T], width: usize| {
                        let bits = |z: &[T]| doubles(z).iter().map(|z| z.to_bits()).collect::<Vec<_>>();
                        assert_eq!(bits(&found), bits(&all[first * width..end * width]), "{isa:?}");
                    };
                    same(of.features(isa, some, columns), &tensor, buckets);
                    same(draws.features(isa, some, columns), &product, 200);
                }
            }
        }
    }
}

#[test]
fn a_row_has_the_same_bits_alone_and_among_others() {
    rows_do_not_meet::<f32>();
    rows_do_not_meet::<f64>();
}

fn sparse_is_dense<T: Element>() {
    for isa in Isa::available() {
        for (n, columns, buckets) in
            [(1, 1, 1), (5, 9, 2), (70, 100, 64), (33, 100, 512), (9, 3000, 4096), (17, 5000, 128)]
        {
            let (starts, indices, values) = sparse(n, columns, 0.2, 5);
            let dense = typed::<T>(&densify(&starts, &indices, &values, columns));
            let values = typed::<T>(&values);
            let rows = SparseRowsRef { starts: &starts, indices: &indices, values: &values };
            let of = Hashes::<T>::new(columns, buckets, 3, 0.7);
            let found = written(n, buckets, |out, stride| {
                tensor_sketch_sparse(isa, rows, columns, &of.sketch(), out, stride);
            });
            assert!(found == of.features(isa, &dense, columns), "{columns} to {buckets} on {isa:?}");
            let of = Draws::<T>::new(columns, (columns + 1).next_power_of_two(), 2, 50, 0.7);
            let found = written(n, 100, |out, stride| {
                product_sketch_sparse(isa, rows, columns, &of.sketch(), out, stride);
            });
            assert!(found == of.features(isa, &dense, columns), "{columns} on {isa:?}");
        }
    }
}

#[test]
fn sparse_rows_have_the_bits_of_their_dense_form() {
    sparse_is_dense::<f32>();
    sparse_is_dense::<f64>();
}

/// Rows that are further apart than they are long.
#[test]
fn rows_may_have_a_stride() {
    for isa in Isa::available() {
        let (n, columns, stride) = (11, 21, 25);
        let wide = normals(n, stride, 6);
        let narrow: Vec<f64> = wide.chunks(stride).flat_map(|row| row[..columns].to_vec()).collect();
        let rows = RowsRef { data: &wide[..n * stride - 4], count: n, stride };
        let of = Hashes::<f64>::new(columns, 64, 2, 1.0);
        let found = written(n, 64, |out, width| tensor_sketch(isa, rows, columns, &of.sketch(), out, width));
        assert_eq!(found, of.features(isa, &narrow, columns));
        let of = Draws::<f64>::new(columns, 32, 2, 40, 1.0);
        let found = written(n, 80, |out, width| product_sketch(isa, rows, columns, &of.sketch(), out, width));
        assert_eq!(found, of.features(isa, &narrow, columns));
    }
}

#[test]
fn no_rows_and_no_draws_write_nothing() {
    for isa in Isa::available() {
        let none = RowsRef { data: &[], count: 0, stride: 5 };
        let empty = SparseRowsRef { starts: &[0], indices: &[], values: &[] };
        let of = Hashes::<f64>::new(5, 8, 2, 1.0);
        tensor_sketch(isa, none, 5, &of.sketch(), &mut [], 8);
        tensor_sketch_sparse(isa, empty, 5, &of.sketch(), &mut [], 8);
        let of = Draws::<f64>::new(5, 8, 2, 10, 1.0);
        product_sketch(isa, none, 5, &of.sketch(), &mut [], 20);
        product_sketch_sparse(isa, empty, 5, &of.sketch(), &mut [], 20);
        let of = Draws::<f64>::new(5, 8, 2, 0, 1.0);
        product_sketch(isa, RowsRef { data: &[1.0; 5], count: 1, stride: 5 }, 5, &of.sketch(), &mut [], 0);
    }
}

fn refused(run: impl FnOnce()) -> bool {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err()
}

#[test]
fn tensor_shapes_that_do_not_fit_are_refused() {
    let (of, x) = (Hashes::<f64>::new(20, 16, 2, 1.0), normals(2, 20, 1));
    let refuse = |columns: usize, out: usize, stride: usize, change: &dyn Fn(&mut TensorSketch<'_, f64>)| {
        let (mut sketch, mut out) = (of.sketch(), vec![0.0; out]);
        change(&mut sketch);
        let rows = RowsRef { data: &x, count: 2, stride: 20 };
        refused(|| tensor_sketch(Isa::PORTABLE, rows, columns, &sketch, &mut out, stride))
    };
    assert!(!refuse(20, 32, 16, &|_| {}));
    assert!(refuse(21, 32, 16, &|_| {}), "rows too short");
    assert!(refuse(19, 32, 16, &|_| {}), "a sketch of other columns");
    assert!(refuse(20, 31, 16, &|_| {}), "output too short");
    assert!(refuse(20, 32, 15, &|_| {}), "rows of the output too short");
    assert!(refuse(20, 32, 16, &|s| s.buckets = 8), "roots for other buckets");
    assert!(refuse(20, 32, 16, &|s| s.buckets = 12), "not a power of two");
    assert!(refuse(20, 32, 16, &|s| s.degree = 0), "no degree");
    assert!(refuse(20, 32, 16, &|s| s.degree = 3), "places of another degree");
    assert!(refuse(20, 32, 16, &|s| s.signs = &s.signs[1..]), "a sign less");
    assert!(refuse(20, 32, 16, &|s| s.places = &[16; 42]), "a place beyond the buckets");
    assert!(
        refused(|| drop(Fft::<f32>::new(12))) && refused(|| drop(Fft::<f32>::new(0))),
        "not a power of two"
    );
    for buckets in [16, 512] {
        let mut of = Hashes::<f64>::new(20, buckets, 2, 1.0);
        let run = |of: &Hashes<f64>, indices: &[u32]| {
            let rows = SparseRowsRef { starts: &[0, 1], indices, values: &[1.0] };
            refused(|| tensor_sketch_sparse(Isa::PORTABLE, rows, 20, &of.sketch(), &mut [0.0; 512], buckets))
        };
        assert!(!run(&of, &[19]) && run(&of, &[20]) && run(&of, &[]), "{buckets}");
        of.places[19] = buckets as u32;
        assert!(run(&of, &[19]), "a place beyond {buckets}");
    }
}

#[test]
fn product_shapes_that_do_not_fit_are_refused() {
    let (of, x) = (Draws::<f64>::new(20, 32, 2, 40, 1.0), normals(2, 20, 1));
    let refuse = |columns: usize, out: usize, stride: usize, change: &dyn Fn(&mut ProductSketch<'_, f64>)| {
        let (mut sketch, mut out) = (of.sketch(), vec![0.0; out]);
        change(&mut sketch);
        let rows = RowsRef { data: &x, count: 2, stride: 20 };
        refused(|| product_sketch(Isa::PORTABLE, rows, columns, &sketch, &mut out, stride))
    };
    assert!(!refuse(20, 160, 80, &|_| {}));
    assert!(refuse(21, 160, 80, &|_| {}), "rows too short");
    assert!(refuse(19, 160, 80, &|_| {}), "a sketch of other columns");
    assert!(refuse(20, 159, 80, &|_| {}), "output too short");
    assert!(refuse(20, 160, 79, &|_| {}), "rows of the output too short");
    assert!(refuse(20, 160, 80, &|s| s.padded = 16), "more columns than a block");
    assert!(refuse(20, 160, 80, &|s| s.padded = 48), "not a power of two");
    assert!(refuse(20, 160, 80, &|s| s.padded = 64), "places of two blocks for one");
    assert!(refuse(20, 160, 80, &|s| s.degree = 0), "no degree");
    assert!(refuse(20, 160, 80, &|s| s.degree = 1), "places of another degree");
    assert!(refuse(20, 160, 80, &|s| s.turns = &s.turns[1..]), "a turn less");
    assert!(refuse(20, 160, 80, &|s| s.turns = &[4; 84]), "a turn beyond three quarters");
    assert!(refuse(20, 160, 80, &|s| s.places = &[32; 84]), "a place beyond the block");
    let full = Draws::<f64>::new(32, 32, 1, 1, 1.0);
    let run = |constant: f64| {
        let rows = RowsRef { data: &[1.0; 32], count: 1, stride: 32 };
        let sketch = ProductSketch { constant, ..full.sketch() };
        refused(|| product_sketch(Isa::PORTABLE, rows, 32, &sketch, &mut [0.0; 2], 2))
    };
    assert!(!run(0.0) && run(1.0), "no room for the constant");
    let rows = SparseRowsRef { starts: &[0, 1], indices: &[20], values: &[1.0] };
    assert!(refused(|| product_sketch_sparse(Isa::PORTABLE, rows, 20, &of.sketch(), &mut [0.0; 80], 80)));
}

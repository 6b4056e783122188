//! What the inner loops of products reach, in thousand million multiply-adds a second.
//!
//! `cargo run --release -p bochner-simd --example products`
//!
//! A processor that does two fused multiply-adds a cycle does 2·lanes·GHz of these: 8 lanes of f32 in AVX2, 16 in AVX-512 (where both of its units are that wide). `pairs` and `squared` have sines, a subtraction
//! and exponentials besides; projections are in f64, of either type, whose limit is half.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::time::Instant;

use bochner_simd::{
    Aligned, Apply, Distance, Element, Extent, Isa, Panels, RowsRef, TILE, apply, pack_columns, project,
    project_back, rank_tile,
};
use bochner_testkit::normals;

const ROWS: usize = 1024;
const REPEATS: usize = 20;

fn main() {
    println!("single thread, 10⁹ multiply-adds a second, best of {REPEATS}");
    println!(
        "{:>8} {:>4} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>8} {:>8}",
        "isa", "type", "rank", "product", "pairs", "squared", "project 1", "10", "back 1", "10"
    );
    for isa in Isa::available() {
        measure::<f32>(isa, "f32");
        measure::<f64>(isa, "f64");
    }
}

fn measure<T: Element>(isa: Isa, name: &str) {
    let [product, pairs, squared] = products::<T>(isa);
    let [one, ten] = [1, 10].map(|outputs| projections::<T>(isa, outputs));
    println!(
        "{:>8} {name:>4} {:>8.1} {product:>8.1} {pairs:>8.1} {squared:>8.1} {:>9.1} {:>9.1} {:>8.1} {:>8.1}",
        isa.name(),
        rank::<T>(isa),
        one[0],
        ten[0],
        one[1],
        ten[1]
    );
}

fn typed<T: Element>(values: Vec<f64>) -> Vec<T> {
    values.into_iter().map(T::from_f64).collect()
}

/// Rows times columns: as they are, with sines, and as kernel values.
fn products<T: Element>(isa: Isa) -> [f64; 3] {
    let (d, count) = (64, 1008);
    let x = typed::<T>(normals(ROWS, d, 1));
    let columns = normals(count, d, 2);
    let panels = Panels::pack(isa, d, count, &mut |j, column: &mut [T]| {
        for (to, &w) in column.iter_mut().zip(&columns[j * d..]) {
            *to = T::from_f64(0.1 * w);
        }
    });
    let rows = RowsRef { data: &x, count: ROWS, stride: d };
    let mut out = Aligned::zeros(ROWS * 2 * count);
    let out = out.as_mut_slice();
    let pairs = Apply::Pairs { scale: T::from_f64(1.0), exact: &|_, _| f64::NAN, stream: false };
    let squared = Apply::Exponential { distance: Distance::Squared, rate: 0.1 };
    [(Apply::Product, count), (pairs, 2 * count), (squared, count)].map(|(what, width)| {
        best(ROWS * d * count, || apply(rows, &panels, &what, &mut out[..ROWS * width], width))
    })
}

/// Sums of outer products.
fn rank<T: Element>(isa: Isa) -> f64 {
    let z = typed::<T>(normals(ROWS, 2 * TILE, 3));
    let order: Vec<(u32, f64)> = (0..ROWS as u32).map(|r| (r, 1.0)).collect();
    let [a, b] = [0, TILE].map(|first| {
        let mut packed = Aligned::zeros(ROWS * TILE);
        pack_columns(isa, &order, &|r| &z[r * 2 * TILE + first..][..TILE], packed.as_mut_slice());
        packed
    });
    let mut sums = vec![0.0; TILE * TILE];
    let extent = Extent { a: TILE, b: TILE, upper: false };
    best(ROWS * TILE * TILE, || rank_tile(isa, a.as_slice(), b.as_slice(), 0..ROWS, extent, &mut sums))
}

/// Features to outputs, and back.
fn projections<T: Element>(isa: Isa, outputs: usize) -> [f64; 2] {
    let width = 2 * TILE;
    let z = typed::<T>(normals(ROWS, width, 3));
    let rows = RowsRef { data: &z, count: ROWS, stride: width };
    let coefficients = normals(outputs, width, 4);
    let (mut values, mut sums) = (vec![0.0; ROWS * outputs], vec![0.0; outputs * width]);
    let work = ROWS * outputs * width;
    let there = best(work, || project(isa, rows, width, &coefficients, &mut values));
    [there, best(work, || project_back(isa, rows, width, &values, &mut sums))]
}

/// Thousand millions of steps a second, the most of some runs.
fn best(steps: usize, mut run: impl FnMut()) -> f64 {
    let time = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    steps as f64 / 1e9 / (0..REPEATS).map(|_| time(&mut run)).fold(f64::INFINITY, f64::min)
}

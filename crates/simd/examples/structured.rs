//! How long structured frequencies take beside dense ones, with the cosines and sines counted in both.
//!
//! `cargo run --release -p bochner-simd --example structured`

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::time::Instant;

use bochner_simd::{Aligned, Apply, Element, Isa, Panels, RowsRef, Structured, apply, structured};
use bochner_testkit::normals;

const ROWS: usize = 512;
const REPEATS: usize = 20;

fn main() {
    println!(
        "single thread, {ROWS} rows of d columns, D real features, microseconds a row, best of {REPEATS}"
    );
    println!(
        "{:>8} {:>4} {:>5} {:>6} {:>7} {:>8} {:>10} {:>6}",
        "isa", "type", "d", "D", "stream", "dense", "structured", "ratio"
    );
    for isa in Isa::available() {
        for (d, count) in [(50, 1024), (784, 1024), (784, 8192), (3072, 4096)] {
            for stream in [false, true] {
                compare::<f32>(isa, "f32", d, count, stream);
            }
        }
        compare::<f64>(isa, "f64", 784, 1024, false);
    }
}

fn compare<T: Element>(isa: Isa, name: &str, d: usize, count: usize, stream: bool) {
    let p = d.next_power_of_two();
    let typed = |values: Vec<f64>| values.into_iter().map(T::from_f64).collect::<Vec<T>>();
    let x = typed(normals(ROWS, d, 1));
    let frequencies: Vec<f64> = normals(count, d, 2).iter().map(|w| w * 0.01).collect();
    let panels = Panels::pack(isa, d, count, &mut |j, column: &mut [T]| {
        for (to, &w) in column.iter_mut().zip(&frequencies[j * d..]) {
            *to = T::from_f64(w);
        }
    });
    let signs = typed(normals(count.div_ceil(p), 3 * p, 3).iter().map(|s| s.signum()).collect());
    let lengths = typed(vec![0.01 / p as f64; count]);
    let rows = RowsRef { data: &x, count: ROWS, stride: d };
    let what =
        Apply::Pairs { scale: T::from_f64((1.0 / count as f64).sqrt()), exact: &|_, _| f64::NAN, stream };
    let mut out = Aligned::zeros(ROWS * 2 * count);
    let out = out.as_mut_slice();

    let dense = best(|| apply(rows, &panels, &what, out, 2 * count));
    let blocks = Structured { padded: p, rounds: 3, signs: &signs, lengths: &lengths };
    let fast = best(|| structured(isa, rows, d, &blocks, &what, out, 2 * count));
    println!(
        "{:>8} {name:>4} {d:>5} {:>6} {stream:>7} {dense:>8.2} {fast:>10.2} {:>6.1}",
        isa.name(),
        2 * count,
        dense / fast
    );
}

/// Microseconds a row, the least of some runs.
fn best(mut run: impl FnMut()) -> f64 {
    let time = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64() * 1e6 / ROWS as f64
    };
    (0..REPEATS).map(|_| time(&mut run)).fold(f64::INFINITY, f64::min)
}

//! How long the two sketches of (x·y + c)^p take.
//!
//! `cargo run --release -p bochner-simd --example sketches`

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::time::Instant;

use bochner_simd::{
    Aligned, Element, Fft, Isa, ProductSketch, RowsRef, TensorSketch, product_sketch, tensor_sketch,
};
use bochner_testkit::normals;

const ROWS: usize = 10_000;
const CHUNK: usize = 64;
const REPEATS: usize = 7;

fn main() {
    println!(
        "{ROWS} rows of d columns, D real features, {CHUNK} rows a call, milliseconds, best of {REPEATS}"
    );
    println!(
        "{:>8} {:>4} {:>5} {:>6} {:>6} {:>7} {:>8} {:>8}",
        "isa", "type", "d", "D", "degree", "threads", "tensor", "product"
    );
    for isa in Isa::available() {
        for (d, features, degree) in [(64, 4096, 3), (784, 4096, 3)] {
            for threads in [1, 2] {
                measure::<f32>(isa, "f32", d, features, degree, threads);
                measure::<f64>(isa, "f64", d, features, degree, threads);
            }
        }
    }
}

fn measure<T: Element>(isa: Isa, name: &str, d: usize, features: usize, degree: usize, threads: usize) {
    let x: Vec<T> = normals(ROWS, d, 1).into_iter().map(T::from_f64).collect();
    let (places, signs) = draws(degree * (d + 1), features);
    let signs: Vec<T> = signs.into_iter().map(T::from_f64).collect();
    let fft = Fft::new(features);
    let (constant, scale) = (T::from_f64(1.0), T::from_f64(0.5));
    let tensor = TensorSketch {
        buckets: features,
        degree,
        places: &places,
        signs: &signs,
        constant,
        scale,
        fft: &fft,
    };
    let tensor =
        best(&x, d, features, threads, |rows, out| tensor_sketch(isa, rows, d, &tensor, out, features));

    let padded = (d + 1).next_power_of_two();
    let blocks = (features / 2).div_ceil(padded);
    // Distinct within a block and degree: an odd step around the q places.
    let places: Vec<u32> = (0..blocks * degree)
        .flat_map(|b| (0..=d).map(move |j| ((j * (2 * b + 3) + b) % padded) as u32))
        .collect();
    let turns: Vec<u8> = (0..places.len()).map(|at| (at * 7919 / 5 % 4) as u8).collect();
    let product = ProductSketch {
        padded,
        degree,
        draws: features / 2,
        places: &places,
        turns: &turns,
        constant,
        scale,
    };
    let product =
        best(&x, d, features, threads, |rows, out| product_sketch(isa, rows, d, &product, out, features));
    println!(
        "{:>8} {name:>4} {d:>5} {features:>6} {degree:>6} {threads:>7} {tensor:>8.1} {product:>8.1}",
        isa.name()
    );
}

/// Buckets and signs.
fn draws(count: usize, buckets: usize) -> (Vec<u32>, Vec<f64>) {
    let numbers = normals(count, 2, 2);
    let place = |z: &f64| ((z * 1e6).abs() as usize % buckets) as u32;
    (numbers[..count].iter().map(place).collect(), numbers[count..].iter().map(|z| z.signum()).collect())
}

/// Milliseconds for all rows, the least of some runs; each thread takes chunks in turn and writes them to a block of its own.
fn best<T: Element>(
    x: &[T],
    d: usize,
    features: usize,
    threads: usize,
    run: impl Fn(RowsRef<'_, T>, &mut [T]) + Sync,
) -> f64 {
    let run = &run;
    let time = || {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for thread in 0..threads {
                scope.spawn(move || {
                    let mut out = Aligned::zeros(CHUNK * features);
                    for chunk in x.chunks(CHUNK * d).skip(thread).step_by(threads) {
                        run(RowsRef { data: chunk, count: chunk.len() / d, stride: d }, out.as_mut_slice());
                    }
                });
            }
        });
        start.elapsed().as_secs_f64() * 1e3
    };
    (0..REPEATS).map(|_| time()).fold(f64::INFINITY, f64::min)
}

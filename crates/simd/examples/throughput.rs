//! How fast each loop runs on one thread, beside the arithmetic it cannot avoid.
#![allow(clippy::print_stdout, reason = "x")]
use bochner_simd::*;
use std::time::Instant;
fn time(mut f: impl FnMut()) -> f64 {
    f();
    let mut best = f64::MAX;
    for _ in 0..5 {
        let t = Instant::now();
        f();
        best = best.min(t.elapsed().as_secs_f64());
    }
    best
}
fn run<T: Element>(name: &str) {
    for isa in Isa::available() {
        let (n, d, m) = (std::env::var("N").map_or(1024, |v| v.parse().unwrap()), 64, 2048);
        let x: Vec<T> = (0..n * d).map(|i| T::from_f64((i % 97) as f64 / 97.0 - 0.5)).collect();
        let panels = Panels::pack(isa, d, m, |j, c| {
            for (k, e) in c.iter_mut().enumerate() {
                *e = T::from_f64(((j * 31 + k * 17) % 101) as f64 / 101.0 - 0.5)
            }
        });
        let mut out = vec![T::default(); n * 2 * m];
        let rows = RowsRef { data: &x, count: n, stride: d };
        let flops = 2.0 * (n * d * m) as f64;
        let s = time(|| apply(rows, &panels, &Apply::Product, &mut out, 2 * m));
        print!("{name} {isa:?}: product {:.0} GF/s", flops / s / 1e9);
        let s = time(|| {
            apply(
                rows,
                &panels,
                &Apply::Pairs { scale: T::from_f64(0.1), exact: &|_, _| 0.0, stream: false },
                &mut out,
                2 * m,
            )
        });
        print!(", pairs {:.0} GF/s ({:.2} ns a pair)", flops / s / 1e9, s * 1e9 / (n * m) as f64);
        let s = time(|| {
            apply(
                rows,
                &panels,
                &Apply::Exponential { distance: Distance::Squared, rate: 0.1 },
                &mut out,
                2 * m,
            )
        });
        print!(", gaussian {:.2} ns a value", s * 1e9 / (n * m) as f64);
        let total = 4096;
        let z: Vec<T> = (0..total * TILE).map(|i| T::from_f64((i % 89) as f64 / 89.0)).collect();
        let order: Vec<_> = (0..total as u32).map(|r| (r, 1.0)).collect();
        let mut a = vec![T::default(); total * TILE];
        let s = time(|| pack_columns(isa, &order, |r| &z[r * TILE..(r + 1) * TILE], &mut a));
        print!(", pack {:.1} GB/s", (total * TILE * size_of::<T>()) as f64 / s / 1e9);
        let b = a.clone();
        let mut c = vec![0.0; TILE * TILE];
        let s = time(|| rank_tile(isa, &a, &b, total, 0..total, &mut c));
        print!(", rank {:.0} GF/s", 2.0 * (total * TILE * TILE) as f64 / s / 1e9);
        let y = vec![1.0; total * 11];
        let mut c = vec![0.0; 11 * TILE];
        let s = time(|| cross_tile(isa, &a, &y, total, 0..total, &mut c));
        println!(", cross {:.0} GF/s", 2.0 * (total * TILE * 11) as f64 / s / 1e9);
    }
}
fn main() {
    run::<f32>("f32");
    run::<f64>("f64");
}

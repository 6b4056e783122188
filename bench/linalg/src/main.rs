//! Dense linear algebra of the library against faer, in turns.
//!
//! ```text
//! cargo run --release                                     ratios of medians, 1 and 2 threads
//! valgrind --tool=callgrind target/release/linalg-bench eigen ours 1024       instructions; `nothing` is what all jobs share
//! ```
#![allow(dead_code, reason = "modules of the library that are used in part")]
mod faer_way;
#[allow(unused_imports, reason = "of the library, of which not all is measured")]
#[path = "../../../crates/core/src/linalg/mod.rs"]
mod linalg;
mod shim;
pub(crate) use shim::*;

use std::sync::Mutex;
use std::time::Instant;

fn normal(n: usize, m: usize, seed: u64) -> Matrix<f64> {
    Matrix::new(n, m, bochner_testkit::normals(n, m, seed)).unwrap()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn time<R>(rounds: usize, mut job: impl FnMut() -> R) -> f64 {
    median(
        (0..rounds)
            .map(|_| {
                let t = Instant::now();
                std::hint::black_box(job());
                t.elapsed().as_secs_f64()
            })
            .collect(),
    )
}

/// Runs both in turns; prints both medians and their ratio.
fn versus<A, B>(name: &str, rounds: usize, mut ours: impl FnMut() -> A, mut theirs: impl FnMut() -> B) {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        b.push(time(1, &mut theirs));
        a.push(time(1, &mut ours));
    }
    report(name, median(a), median(b));
}

/// Seconds of both, by threads and name, for the table at the end.
static MEASURED: Mutex<Vec<(String, f64, f64)>> = Mutex::new(Vec::new());

fn report(name: &str, ours: f64, faer: f64) {
    println!("{name:<28} ours {:>8.2} ms, faer {:>8.2} ms, ratio {:.2}", 1e3 * ours, 1e3 * faer, ours / faer);
    MEASURED.lock().unwrap().push((name.to_owned(), ours, faer));
}

/// The table of bench/results/linalg.md.
fn table() {
    let measured = MEASURED.lock().unwrap();
    println!("| | ours, 1 thread | faer | ratio | ours, 2 threads | faer | ratio |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for (name, ours, faer) in measured.iter().filter(|(name, ..)| name.starts_with("1 ")) {
        let name = &name[2..];
        let Some((_, two, two_faer)) = measured.iter().find(|(other, ..)| *other == format!("2 {name}")) else {
            continue;
        };
        let cells = |a: f64, b: f64| format!("{:.2} | {:.2} | {:.2}", 1e3 * a, 1e3 * b, a / b);
        println!("| {name} | {} | {} |", cells(*ours, *faer), cells(*two, *two_faer));
    }
}

fn suite(threads: usize) {
    let engine = &Engine::new(threads);
    let n = 2048;
    let (a, b) = (normal(n, n, 1), normal(n, n, 2));
    let mut s = faer_way::multiply(&a, &Matrix::from_fn(n, n, |i, j| a.row(j)[i]));
    (0..n).for_each(|i| s.row_mut(i)[i] += 0.5);
    versus(&format!("{threads} A·B"), 9, || linalg::multiply(engine, &a, &b), || faer_way::multiply(&a, &b));
    let (mut one, mut two) = (None, None);
    let mut copies = (0..22).map(|_| s.clone()).collect::<Vec<_>>();
    let mut next = || copies.pop().unwrap();
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for _ in 0..9 {
        let (c, d) = (next(), next());
        let t = Instant::now();
        two = Some(faer_way::Cholesky::new(c, &|_| Ok(())).unwrap());
        y.push(t.elapsed().as_secs_f64());
        let t = Instant::now();
        one = Some(linalg::Cholesky::new(engine, d, &|_| Ok(())).unwrap());
        x.push(t.elapsed().as_secs_f64());
    }
    report(&format!("{threads} Cholesky"), median(x), median(y));
    let (one, two) = (one.unwrap(), two.unwrap());
    drop(copies);
    for columns in [1, 2, 4, 8, 12, 32, 128, 2048] {
        let b = normal(n, columns, 2);
        versus(&format!("{threads} solve {columns}"), 7, || one.solve(engine, b.clone()), || two.solve(b.clone()));
        versus(
            &format!("{threads} product {columns}"),
            7,
            || linalg::multiply(engine, &a, &b),
            || faer_way::multiply(&a, &b),
        );
        let c = Matrix::from_fn(columns, n, |i, j| b.row(j)[i]);
        versus(
            &format!("{threads} product {columns} rows"),
            7,
            || linalg::multiply(engine, &c, &a),
            || faer_way::multiply(&c, &a),
        );
    }
    for n in [8, 32, 100] {
        let (a, b) = (normal(n, n, 1), normal(n, n, 2));
        versus(
            &format!("{threads} multiply of {n}"),
            7,
            || {
                (0..100).for_each(|_| {
                    std::hint::black_box(linalg::multiply(engine, &a, &b));
                })
            },
            || {
                (0..100).for_each(|_| {
                    std::hint::black_box(faer_way::multiply(&a, &b));
                })
            },
        );
    }
    let mut c = s.clone();
    versus(
        &format!("{threads} C − AᵀA, 128 rows"),
        7,
        || linalg::subtract_square(engine, &mut c, &a.as_slice()[..128 * n], 128, 0),
        {
            let mut c = s.clone();
            let a = &a;
            move || faer_way::subtract_square(&mut c, &a.as_slice()[..128 * n], 128, 0)
        },
    );
    versus(
        &format!("{threads} tr A⁻¹"),
        5,
        || one.trace_of_inverse(engine, &|_| Ok(())),
        || two.trace_of_inverse(&|_| Ok(())),
    );
    versus(
        &format!("{threads} L⁻¹"),
        5,
        || linalg::lower_inverse(engine, &s, &|_| Ok(())),
        || faer_way::lower_inverse(&s, &|_| Ok(())),
    );
    versus(
        &format!("{threads} band form"),
        3,
        || linalg::Band::new(engine, s.clone(), &|_| Ok(())),
        || faer_way::Band::new(s.clone(), &|_| Ok(())),
    );
    let (ours, theirs) = (
        linalg::Band::new(engine, s.clone(), &|_| Ok(())).unwrap(),
        faer_way::Band::new(s.clone(), &|_| Ok(())).unwrap(),
    );
    for columns in [1, 4, 32] {
        let b = normal(n, columns, 2);
        versus(
            &format!("{threads} band rotates {columns}"),
            5,
            || {
                let mut b = b.clone();
                ours.rotate(engine, &mut b);
                ours.rotate_back(engine, &mut b);
                b
            },
            || {
                let mut b = b.clone();
                theirs.rotate(&mut b);
                theirs.rotate_back(&mut b);
                b
            },
        );
    }
    for n in [8, 32, 100, 512, 2048] {
        let a = normal(n, n, 1);
        let s = Matrix::from_fn(n, n, |i, j| a.row(i)[j] + a.row(j)[i]);
        versus(
            &format!("{threads} eigenvectors of {n}"),
            if n > 1000 { 3 } else { 9 },
            || linalg::symmetric_eigen(engine, s.clone(), &|_| Ok(())),
            || faer_way::symmetric_eigen(&s),
        );
    }
}

/// One job, for tools that count instructions; the job "nothing" is what the others do besides.
fn count(job: &str, ours: bool, n: usize) {
    let engine = &Engine::new(1);
    let entry = |i: usize, j: usize| 1.0 / (1.0 + (i * j % 101) as f64) + if i == j { n as f64 } else { 0.0 };
    let a = Matrix::from_fn(n, n, |i, j| entry(i.max(j), i.min(j)));
    match (job, ours) {
        ("accuracy", ours) => {
            let b = normal(n, n, 1);
            let s = Matrix::from_fn(n, n, |i, j| b.row(i)[j] + b.row(j)[i]);
            let (values, v) =
                if ours { linalg::symmetric_eigen(engine, s.clone(), &|_| Ok(())) } else { faer_way::symmetric_eigen(&s) }.unwrap();
            let (images, transposed) = (linalg::multiply(engine, &v, &s), Matrix::from_fn(n, n, |i, j| v.row(j)[i]));
            let overlaps = linalg::multiply(engine, &v, &transposed);
            let unit = n as f64 * f64::EPSILON;
            let (mut residual, mut overlap) = (0f64, 0f64);
            for k in 0..n {
                let off =
                    (0..n).map(|j| (images.row(k)[j] - values[k] * v.row(k)[j]).powi(2)).sum::<f64>().sqrt();
                residual = residual.max(off / (unit * values[0]));
                let off = |j: usize| (overlaps.row(k)[j] - f64::from(u8::from(j == k))).abs();
                overlap = (0..n).map(off).fold(overlap, f64::max);
            }
            println!("residual {residual:.4}, overlap {:.4}, in units of n·ε", overlap / unit);
        }
        ("multiply", true) => drop(linalg::multiply(engine, &a, &a)),
        ("multiply", false) => drop(faer_way::multiply(&a, &a)),
        ("cholesky", true) => drop(linalg::Cholesky::new(engine, a, &|_| Ok(()))),
        ("cholesky", false) => drop(faer_way::Cholesky::new(a, &|_| Ok(()))),
        ("eigen", true) => drop(linalg::symmetric_eigen(engine, a.clone(), &|_| Ok(()))),
        ("eigen", false) => drop(faer_way::symmetric_eigen(&a)),
        _ => {}
    }
}

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    if names.iter().any(|n| n == "tile") {
        use bochner_simd::*;
        for isa in Isa::available() {
            for depth in [96, 128, 192, 256, 384] {
                for rows in [96, 192] {
                    let columns = 1920;
                    let a = vec![1.0; packed_size(isa, Side::Left, rows, depth)];
                    let b = vec![1.0; packed_size(isa, Side::Right, columns, depth)];
                    let mut c = vec![0.0; rows * columns];
                    let t = time(9, || {
                        let mut c: Vec<&mut [f64]> = c.chunks_exact_mut(columns).collect();
                        product_tile(isa, &a, &b, depth, 1.0, &mut c)
                    });
                    println!(
                        "{isa:?} depth {depth} rows {rows}: {:.1} Gflop/s",
                        2e-9 * (rows * columns * depth) as f64 / t
                    );
                }
            }
        }
        return;
    }
    if let [job, way, size] = &names[..] {
        return count(job, way == "ours", size.parse().unwrap());
    }
    let most = names.first().map_or(2, |threads| threads.parse().unwrap());
    for threads in 1..=most {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| suite(threads));
    }
    table();
}

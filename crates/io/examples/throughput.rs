//! How fast text becomes tables on one thread: a dense CSV of small integers, one of decimals, and sparse rows.
#![allow(clippy::print_stdout, reason = "an example is there to print")]

use std::fmt::Write;
use std::time::Instant;

use bochner_io::Options;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut state = 1u32;
    let mut random = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let mut pixel = move || if random() % 5 == 0 { random() % 256 } else { 0 }; // a fifth is ink, as in MNIST

    let (mut pixels, mut decimals, mut sparse) = (header(784), header(20), String::new());
    for i in 0..60_000 {
        let row: Vec<u32> = (0..784).map(|_| pixel()).collect();
        let cells: Vec<String> = row.iter().map(u32::to_string).collect();
        pixels += &cells.join(",");
        pixels.push('\n');
        let cells: Vec<String> = row[..20].iter().map(|&x| format!("{:?}", f64::from(x + i) / 7.0)).collect();
        decimals += &cells.join(",");
        decimals.push('\n');
        write!(sparse, "{}", i % 10)?;
        for (j, x) in row.iter().enumerate().filter(|(_, x)| **x > 0) {
            write!(sparse, " {}:{:.4}", j + 1, f64::from(*x) / 255.0)?;
        }
        sparse.push('\n');
    }

    let engine = bochner::Engine::default();
    let width = Options { width: Some(784), ..Options::default() };
    for (name, text, options) in [
        ("pixels.csv", pixels, &Options::default()),
        ("decimals.csv", decimals, &Options::default()),
        ("sparse.libsvm", sparse, &width),
    ] {
        let megabytes = text.len() as f64 / 1e6;
        let source = bochner_io::from_bytes(name, text, options)?;
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let start = Instant::now();
            let mut reader = source.open(&engine)?;
            let mut rows = 0;
            while let Some(table) = reader.next(4096)? {
                rows += table.rows;
            }
            assert_eq!(rows, 60_000);
            best = best.min(start.elapsed().as_secs_f64());
        }
        println!("{name}: {megabytes:.0} MB at {:.0} MB/s", megabytes / best);
    }
    Ok(())
}

fn header(columns: usize) -> String {
    (0..columns).map(|j| format!("x{j}")).collect::<Vec<_>>().join(",") + "\n"
}

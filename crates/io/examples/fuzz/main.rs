//! Reads many damaged files of a format: `cargo run --release -p bochner-io --example fuzz -- --cases 100000 --seed 1 parquet arrow csv json npy libsvm packed`.
//!
//! A panic, more than 256 MiB of memory at a time and a case of more than ten seconds are findings: each is printed with its number, and the exit code is 1. More than
//! 2 GiB end the process. With `--from N` it starts at case N, with `--keep FOLDER` the file of each finding is written there; the one that is read is `running`, so
//! that it is left where the process ends.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example is there to print")]

#[path = "../../tests/readers/hostile/allocator.rs"]
mod allocator;
#[path = "../../tests/readers/hostile/forged.rs"]
#[allow(dead_code, reason = "some is for the tests")]
mod forged;
#[path = "../../tests/readers/hostile/mutation.rs"]
mod mutation;
#[path = "../../tests/readers/hostile/sample.rs"]
mod sample;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bochner::Engine;
use bochner_io::{Options, from_bytes};
use mutation::{Random, mutated};

#[global_allocator]
static ALLOCATOR: allocator::Watched = allocator::Watched;

/// What no case may pass.
const MOST_BYTES: usize = 256 << 20;
const MOST_TIME: Duration = Duration::from_secs(10);

/// The case that is read, and when it began, in milliseconds.
static CASE: AtomicU64 = AtomicU64::new(0);
static BEGAN: AtomicU64 = AtomicU64::new(0);

fn main() -> sample::Made<()> {
    let (mut cases, mut seed, mut from, mut keep, mut formats) = (100_000, 1, 0, None, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} wants a value"));
        match argument.as_str() {
            "--cases" => cases = value()?.parse()?,
            "--seed" => seed = value()?.parse()?,
            "--from" => from = value()?.parse()?,
            "--keep" => keep = Some(PathBuf::from(value()?)),
            _ => formats.push(argument),
        }
    }
    std::panic::set_hook(Box::new(|_| {}));
    let clock = Instant::now();
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(200));
            let began = BEGAN.load(Ordering::Relaxed);
            let now = clock.elapsed().as_millis() as u64;
            if now.saturating_sub(began) > MOST_TIME.as_millis() as u64 {
                println!("case {}: more than {MOST_TIME:?}", CASE.load(Ordering::Relaxed));
                std::process::exit(1);
            }
        }
    });
    let mut findings = 0;
    for format in &formats {
        let files = sample::files(format)?.ok_or(format!("there is no format {format}"))?;
        findings += fuzz(format, &files, (from, cases, seed), keep.as_ref(), clock)?;
    }
    if findings > 0 {
        std::process::exit(1);
    }
    Ok(())
}

/// Reads the cases of a format, and counts the findings.
fn fuzz(
    format: &str,
    files: &[(&str, Vec<u8>)],
    (from, cases, seed): (u64, u64, u64),
    keep: Option<&PathBuf>,
    clock: Instant,
) -> sample::Made<usize> {
    let engine = Engine::single_thread();
    let (mut refused, mut findings, mut most, mut slowest) = (0, 0, (0, 0), (Duration::ZERO, 0));
    for case in from..cases {
        let (name, file) = &files[(case % files.len() as u64) as usize];
        let bytes = mutated(file, &mut Random(seed ^ case.wrapping_mul(0x2545_f491_4f6c_dd1d)));
        CASE.store(case, Ordering::Relaxed);
        BEGAN.store(clock.elapsed().as_millis() as u64, Ordering::Relaxed);
        if let Some(folder) = keep {
            std::fs::write(folder.join("running"), &bytes)?;
        }
        let start = Instant::now();
        let (result, size) =
            allocator::peak(|| catch_unwind(AssertUnwindSafe(|| read(name, &bytes, &engine).is_ok())));
        most = most.max((size, case));
        slowest = slowest.max((start.elapsed(), case));
        refused += u64::from(matches!(result, Ok(false)));
        if result.is_err() || size > MOST_BYTES {
            findings += 1;
            println!(
                "{format} case {case}: {}, {size} bytes",
                if result.is_err() { "a panic" } else { "memory" }
            );
            if let Some(folder) = keep {
                std::fs::rename(folder.join("running"), folder.join(format!("{format}-{seed}-{case}")))?;
            }
        }
    }
    let count = cases.saturating_sub(from);
    println!(
        "{format}: {count} cases, {refused} refused, {} read, {findings} findings; most memory {:.1} MB (case {}); slowest {:?} (case {}); {:.0} s",
        count - refused,
        most.0 as f64 / 1e6,
        most.1,
        slowest.0,
        slowest.1,
        clock.elapsed().as_secs_f64()
    );
    Ok(findings)
}

fn read(name: &str, bytes: &[u8], engine: &Engine) -> bochner::Result<()> {
    let source = from_bytes(name, bytes, &Options::default())?;
    let mut reader = source.open(engine)?;
    while reader.next(4096)?.is_some() {}
    Ok(())
}

//! How long a data file takes to read: `cargo run --release -p bochner-io --example reading -- --threads 2 FILE`.
//!
//! Prints a line of JSON: seconds to look at it (which finds what the columns are), to read it, to read it and summarise its columns, and to
//! read it and encode its rows in single precision, as a fit sees them in each pass.
#![allow(clippy::print_stdout, reason = "an example is there to print")]

use std::path::PathBuf;
use std::time::Instant;

use bochner::encode::{Precision, Scaled, Scaling, TableProfile, TableRows, inputs};
use bochner::stat::{Moments, Statistic};
use bochner::sweep::{BLOCK, sweep};
use bochner::{Batch, EngineSpec};
use bochner_io::{Options, open};

/// Rows.
#[derive(Default)]
struct Seen(usize);

impl Statistic for Seen {
    fn merge(&mut self, other: &Self) {
        self.0 += other.0;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut threads, mut files) = (0, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--threads" => threads = arguments.next().ok_or("--threads wants a number")?.parse()?,
            _ => files.push(PathBuf::from(argument)),
        }
    }
    let engine = EngineSpec { threads, ..EngineSpec::default() }.build();
    for file in files {
        let clock = Instant::now();
        let source = open(&engine, &file, &Options::default())?;
        let look = clock.elapsed().as_secs_f64();

        let clock = Instant::now();
        let (mut reader, mut rows) = (source.open(&engine)?, 0);
        while let Some(table) = reader.next(BLOCK)? {
            rows += table.rows;
        }
        let read = clock.elapsed().as_secs_f64();

        let clock = Instant::now();
        let profile = TableProfile::read(&engine, source.as_ref())?;
        let summarise = clock.elapsed().as_secs_f64();

        let columns = inputs(None, &profile, &[], &[], 0)?.columns;
        let width = columns.count();
        let clock = Instant::now();
        let plain = TableRows::without_target(&engine, source.as_ref(), columns)?;
        let scaled = Scaled::new(&plain, Scaling::of_first(&Moments::zero(width), 0), Precision::Single);
        // Batches of rows as a learner gets them, and something of each, so that they are needed.
        let first = |seen: &mut Seen, batch: &Batch<'_>| seen.0 += batch.rows.count();
        let encoded = sweep(&engine, &scaled, "encode", Seen::default, first)?.0;
        assert_eq!(encoded, rows);
        let encode = clock.elapsed().as_secs_f64();
        let bytes = std::fs::metadata(&file)?.len();
        println!(
            "{{\"file\": {:?}, \"bytes\": {bytes}, \"rows\": {rows}, \"threads\": {}, \"look\": {look:.4}, \"read\": {read:.4}, \"summarise\": {summarise:.4}, \"encode\": {encode:.4}, \"columns\": {width}}}",
            file.display().to_string(),
            engine.threads()
        );
    }
    Ok(())
}

//! Files that are damaged or lie: read or refused, soon and in little memory.
#![allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

pub(crate) mod allocator;
pub(crate) mod mutation;
pub(crate) mod sample;

use std::time::{Duration, Instant};

use arrow_ipc::CompressionType;
use arrow_ipc::writer::DictionaryHandling;
use bochner_io::{Options, from_bytes};

use crate::ENGINE;
use allocator::largest;
use mutation::{Random, mutated};

/// The most that any of these small files may make of itself at once.
const MOST: usize = 16 << 20;

/// Reads to the end; the rows, or what is wrong.
pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<usize, String> {
    let all = || -> bochner::Result<usize> {
        let source = from_bytes(name, bytes, &Options::default())?;
        let mut reader = source.open(&ENGINE)?;
        let mut rows = 0;
        while let Some(table) = reader.next(4096)? {
            rows += table.rows;
        }
        Ok(rows)
    };
    let start = Instant::now();
    let (found, size) = largest(all);
    assert!(size <= MOST, "{size} bytes at once: {found:?}");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}: {found:?}", start.elapsed());
    found.map_err(|error| error.to_string())
}

#[test]
fn changed_files_are_read_or_refused() {
    for (format, cases) in [("parquet", 1500), ("arrow", 800), ("csv", 300), ("npy", 300), ("libsvm", 300)] {
        let files = sample::files(format).unwrap().unwrap();
        let mut random = Random(1);
        let mut refused = 0;
        for case in 0..cases {
            let (name, file) = &files[case % files.len()];
            refused += usize::from(read(name, &mutated(file, &mut random)).is_err());
        }
        assert!((1..cases).contains(&refused), "{format}: {refused} of {cases}");
    }
}

#[test]
fn files_that_are_cut_off_are_refused() {
    let rows = sample::every_type(40).unwrap().project(&[3, 10, 28, 33]).unwrap();
    let whole = sample::parquet(std::slice::from_ref(&rows), sample::ways(15).remove(9).1).unwrap();
    assert_eq!(read("a.parquet", &whole), Ok(40));
    for length in 0..whole.len() {
        let error = read("a.parquet", &whole[..length]).unwrap_err();
        assert!(
            error.contains("expected a whole Parquet file, found a damaged or truncated one"),
            "{length}: {error}"
        );
    }
    for packed in [None, Some(CompressionType::ZSTD)] {
        let file =
            sample::arrow(std::slice::from_ref(&rows), true, packed, DictionaryHandling::Resend).unwrap();
        assert_eq!(read("a.arrow", &file), Ok(40));
        for length in 0..file.len() {
            let error = read("a.arrow", &file[..length]).unwrap_err();
            let expected = "expected a whole Arrow file, found a damaged or truncated one";
            assert!(error.contains(expected), "{length}: {error}");
        }
        // A stream may end after any message.
        let stream =
            sample::arrow(std::slice::from_ref(&rows), false, packed, DictionaryHandling::Resend).unwrap();
        let whole = (0..stream.len()).filter(|length| read("a.arrow", &stream[..*length]).is_ok()).count();
        assert!((1..20).contains(&whole), "{whole} of {}", stream.len());
    }
}

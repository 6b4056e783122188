//! Files that are damaged or lie: read or refused, soon and in little memory.
#![allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

pub(crate) mod allocator;
pub(crate) mod forged;
pub(crate) mod mutation;
pub(crate) mod sample;

use std::time::{Duration, Instant};

use arrow_ipc::CompressionType;
use arrow_ipc::writer::DictionaryHandling;
use arrow_schema::DataType;
use bochner_io::{Options, from_bytes};

use crate::ENGINE;
use allocator::peak;
use forged::{Batch, bomb, coded, head};
use mutation::{Random, mutated};

/// The most memory that these files may take: what budget.rs gives them, and copies of it.
const MOST: usize = 256 << 20;

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
    let (found, size) = peak(all);
    assert!(size <= MOST, "{size} bytes: {found:?}");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}: {found:?}", start.elapsed());
    found.map_err(|error| error.to_string())
}

#[test]
fn changed_files_are_read_or_refused() {
    for (format, cases) in [
        ("parquet", 1500),
        ("arrow", 800),
        ("csv", 300),
        ("json", 300),
        ("npy", 300),
        ("libsvm", 300),
        ("packed", 300),
    ] {
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

/// Why it is refused, less the name.
fn refused(name: &str, bytes: &[u8]) -> String {
    read(name, bytes).unwrap_err().replace(&format!("{name}: "), "")
}

#[test]
fn unions_of_too_many_parts_are_refused() {
    assert_eq!(refused("a.arrow", &forged::union(200)), "expected at most 128 parts of a union, found 200");
    assert!(refused("a.arrow", &forged::union(128)).contains("column \"u\" is a union"));
}

/// One byte for each row, and no missing ones.
fn column(bytes: Vec<u8>, rows: i64, is_packed: bool) -> Vec<u8> {
    Batch { rows, columns: 1, buffers: &[vec![], bytes], is_packed }.message()
}

#[test]
fn dictionaries_are_as_long_as_their_file_allows() {
    let with = |of: DataType, dictionary: Batch<'_>| {
        [head(coded(of)).unwrap(), dictionary.dictionary(false), column(vec![0; 3], 3, false)].concat()
    };
    let nulls = |rows: i64| with(DataType::Null, Batch { rows, columns: 1, buffers: &[], is_packed: false });
    for rows in [1 << 62, 1 << 40, 1 << 24] {
        let error = refused("a.arrow", &nulls(rows));
        assert!(error.ends_with(&format!("values of dictionaries for its size, found {rows}")), "{error}");
    }
    assert_eq!(read("a.arrow", &nulls(1 << 20)), Ok(3));
    let truths = bomb(0xff, 1 << 28).unwrap();
    let truths = Batch { rows: 1 << 24, columns: 1, buffers: &[vec![], truths], is_packed: true };
    let error = refused("a.arrow", &with(DataType::Boolean, truths));
    assert!(error.contains("bytes in an unpacked buffer of so many rows"), "{error}");
}

#[test]
fn a_buffer_is_as_large_as_its_rows() {
    let stream = |size: usize, rows: i64| {
        [head(DataType::Int8).unwrap(), column(bomb(1, size).unwrap(), rows, true)].concat()
    };
    assert_eq!(read("a.arrow", &stream(2000, 1000)), Ok(1000), "some padding is usual");
    assert_eq!(
        refused("a.arrow", &stream(1 << 28, 1000)),
        "expected at most 2064 bytes in an unpacked buffer of so many rows, found 268435456 in column \"a\", message 1"
    );
}

#[test]
fn all_that_is_unpacked_has_one_budget() {
    let all = 40;
    // Columns of one text each.
    let text = |size: usize| {
        let ends = [[0; 4], (size as i32).to_le_bytes()].concat();
        let ends = [&(-1i64).to_le_bytes()[..], &ends].concat();
        [vec![], ends, bomb(b'x', size).unwrap()]
    };
    let fields: Vec<_> =
        (0..all).map(|i| arrow_schema::Field::new(format!("a{i}"), DataType::Utf8, true)).collect();
    let schema = arrow_schema::Schema::new(fields);
    let head = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &schema).unwrap().get_ref().clone();
    let stream = |size: usize| {
        let text = text(size);
        let buffers: Vec<Vec<u8>> = (0..all).flat_map(|_| text.clone()).collect();
        let rows = Batch { rows: 1, columns: all, buffers: &buffers, is_packed: true }.message();
        [head.clone(), rows].concat()
    };
    assert_eq!(read("a.arrow", &stream(1 << 10)), Ok(1));
    let error = refused("a.arrow", &stream(32 << 20));
    assert!(error.contains("bytes in memory for its size") && error.contains("in column \"a"), "{error}");
    let error = refused("a.arrow", &stream(65 << 20));
    assert!(error.contains("bytes in a text"), "{error}");
}

#[test]
fn a_dictionary_that_grows_is_copied_once_for_each_batch() {
    let text = |bytes: usize| [vec![], [[0; 4], (bytes as i32).to_le_bytes()].concat(), vec![b'x'; bytes]];
    let add = Batch { rows: 1, columns: 1, buffers: &text(100), is_packed: false }.dictionary(true);
    let rows = column(vec![0], 1, false);
    let deltas = [head(coded(DataType::Utf8)).unwrap(), add.repeat(20_000), rows.clone()].concat();
    assert_eq!(read("a.arrow", &deltas), Ok(1));
    let long = bomb(b'x', 8 << 20).unwrap();
    let ends = [&(-1i64).to_le_bytes()[..], &[0; 4], &(8i32 << 20).to_le_bytes()].concat();
    let long =
        Batch { rows: 1, columns: 1, buffers: &[vec![], ends, long], is_packed: true }.dictionary(false);
    let both = [head(coded(DataType::Utf8)).unwrap(), long, [add, rows].concat().repeat(400)].concat();
    let error = refused("a.arrow", &both);
    assert!(error.contains("bytes of dictionaries that grow"), "{error}");
}

#[test]
fn a_long_text_of_many_rows_is_looked_at_once() {
    let (rows, size) = (250_000, 200_000);
    let dictionary = forged::page(1, None, &forged::plain(size)).unwrap();
    let keys = forged::page(rows, Some(8), &forged::first_keys(rows)).unwrap();
    assert_eq!(read("a.parquet", &forged::parquet(rows, 1, &dictionary, &keys)), Ok(rows));
    let repeated = forged::page(rows, Some(7), &forged::repeated(rows, size)).unwrap();
    let error = refused("a.parquet", &forged::parquet(rows, 1, &[], &repeated));
    assert!(error.contains("bytes of text for its size"), "{error}");
    let long = forged::page(1, None, &forged::plain(65 << 20)).unwrap();
    let error = refused("a.parquet", &forged::parquet(rows, 1, &long, &keys));
    assert!(error.contains("bytes in a text") || error.contains("bytes in memory"), "{error}");
}

#[test]
fn chunks_that_two_columns_share_are_refused() {
    let dictionary = forged::page(1, None, &forged::plain(10)).unwrap();
    let keys = forged::page(100, Some(8), &forged::first_keys(100)).unwrap();
    assert_eq!(read("a.parquet", &forged::parquet(100, 1, &dictionary, &keys)), Ok(100));
    let error = refused("a.parquet", &forged::parquet(100, 2, &dictionary, &keys));
    assert!(error.contains("column chunks that lie in one another"), "{error}");
}

#[test]
fn errors_say_where_they_are() {
    let keys = forged::page(10, Some(8), &forged::first_keys(10)).unwrap();
    let dictionary = forged::page(1, None, &forged::plain(10)).unwrap();
    let error = refused("a.parquet", &forged::parquet(11, 1, &dictionary, &keys));
    assert_eq!(
        error,
        "expected a whole Parquet file, found a damaged or truncated one (fewer values in a column than it announces \
         in column \"c0\", row group 1)"
    );
}

/// More than 16 MiB of them end a batch of rows early, other columns wait for them.
#[test]
fn long_texts_are_read_in_smaller_batches() {
    use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    use std::sync::Arc;
    let rows = 300;
    let texts: StringArray = (0..rows).map(|i| Some(format!("{i}").repeat(100_000))).collect();
    let short: StringArray = (0..rows).map(|i| Some(format!("row {i}"))).collect();
    let columns: [(&str, ArrayRef); 3] = [
        ("n", Arc::new(Int64Array::from_iter_values(0..rows))),
        ("text", Arc::new(texts)),
        ("short", Arc::new(short)),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let plain = parquet::file::properties::WriterProperties::builder().set_dictionary_enabled(false);
    let bytes = sample::parquet(std::slice::from_ref(&batch), plain).unwrap();
    let found = from_bytes("a.parquet", bytes, &Options::default()).unwrap();
    let expected = bochner_io::arrow::from_batches("a", batch.schema(), vec![batch], &Options::default());
    crate::parquet::assert_same_source(&*found, &*expected.unwrap(), "long texts");
}

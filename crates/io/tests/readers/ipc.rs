//! Arrow's own files and streams: what their columns become.
#![allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::*;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::DictionaryHandling;
use bochner::table::{Column, TableSource};
use bochner_io::{Options, arrow, from_bytes};

use crate::hostile::sample;
use crate::parquet::{assert_same_source, tables};

fn source(bytes: &[u8]) -> Box<dyn TableSource> {
    from_bytes("a.arrow", bytes, &Options::default()).unwrap()
}

#[test]
fn every_type_in_every_way_is_what_it_was() {
    let rows = sample::every_type(3000).unwrap();
    let parts = [rows.slice(0, 0), rows.slice(0, 700), rows.slice(700, 1), rows.slice(701, 2299)];
    let expected =
        arrow::from_batches("a.arrow", rows.schema(), vec![rows.clone()], &Options::default()).unwrap();
    for packed in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
        for is_file in [true, false] {
            let bytes = sample::arrow(&parts, is_file, packed, DictionaryHandling::Delta).unwrap();
            assert_same_source(&*source(&bytes), &*expected, &format!("{packed:?} {is_file}"));
        }
    }
}

/// A batch of one column of categories, whose dictionary has these levels.
fn category(levels: &[&str], keys: &[Option<i32>]) -> RecordBatch {
    let keys = Int32Array::from(keys.to_vec());
    let array =
        DictionaryArray::<Int32Type>::try_new(keys, Arc::new(StringArray::from(levels.to_vec()))).unwrap();
    RecordBatch::try_from_iter_with_nullable([("k", Arc::new(array) as ArrayRef, true)]).unwrap()
}

fn cells(source: &dyn TableSource) -> Vec<String> {
    let cells = |column: &Column, rows: usize| -> Vec<String> {
        let Column::Category(levels) = column else { panic!("no category") };
        (0..rows).map(|i| levels.get(i).unwrap_or("-").to_owned()).collect()
    };
    tables(source, 2).iter().flat_map(|table| cells(&table.columns[0], table.rows)).collect()
}

#[test]
fn dictionaries_grow_and_are_replaced() {
    let first = category(&["a", "b"], &[Some(1), None, Some(0)]);
    let grown = category(&["a", "b", "c"], &[Some(2), Some(0)]);
    let other = category(&["x"], &[Some(0)]);
    for is_file in [true, false] {
        for handling in [DictionaryHandling::Delta, DictionaryHandling::Resend] {
            let both = [first.clone(), grown.clone()];
            let Ok(bytes) = sample::arrow(&both, is_file, None, handling) else {
                assert!(is_file, "a file has no replacements");
                continue;
            };
            assert_eq!(cells(&*source(&bytes)), ["b", "-", "a", "c", "a"], "{is_file} {handling:?}");
        }
    }
    let bytes = sample::arrow(&[first, other], false, None, DictionaryHandling::Resend).unwrap();
    assert_eq!(cells(&*source(&bytes)), ["b", "-", "a", "x"]);
    assert_eq!(cells(&*source(&bytes)), ["b", "-", "a", "x"], "again");
}

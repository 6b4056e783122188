//! Parquet files: what their columns become, and what becomes of files that are damaged or lie.
#![allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use bochner::table::{Table, TableSource};
use bochner_io::{Options, arrow, from_bytes};

use crate::ENGINE;
use crate::arrow::assert_same;
use crate::hostile::sample;

fn source(bytes: &[u8]) -> Box<dyn TableSource> {
    from_bytes("a.parquet", bytes, &Options::default()).unwrap()
}

pub(crate) fn tables(source: &dyn TableSource, most: usize) -> Vec<Table> {
    let mut reader = source.open(&ENGINE).unwrap();
    std::iter::from_fn(|| reader.next(most).unwrap()).collect()
}

/// The same rows by another way have the same columns, kinds, cells and hashes.
pub(crate) fn assert_same_source(found: &dyn TableSource, expected: &dyn TableSource, what: &str) {
    assert_eq!(found.columns(), expected.columns(), "{what}");
    for (j, column) in expected.columns().iter().enumerate() {
        assert_eq!(found.format(j), expected.format(j), "{what}");
        let facts = |source: &dyn TableSource| {
            source.inferred(j).map(|found| (found.missing, found.distinct, found.counts_rows))
        };
        assert_eq!(facts(found), facts(expected), "{what}: {}", column.name);
    }
    assert_eq!(found.warnings(), expected.warnings(), "{what}");
    for most in [700, 100_000] {
        let (found, expected) = (tables(found, most), tables(expected, most));
        assert_eq!(found.len(), expected.len(), "{what}");
        found.iter().zip(&expected).for_each(|(found, expected)| assert_same(found, expected));
    }
}

#[test]
fn every_type_in_every_way_is_what_it_was() {
    let rows = sample::every_type(3000).unwrap();
    let expected =
        arrow::from_batches("a.parquet", rows.schema(), vec![rows.clone()], &Options::default()).unwrap();
    for (what, way) in sample::ways(333) {
        let bytes = sample::parquet(std::slice::from_ref(&rows), way).unwrap();
        assert_same_source(&*source(&bytes), &*expected, what);
    }
}

//! Record batches of Apache Arrow → tables: Arrow and Parquet files, and data frames in memory.
//!
//! ```text
//! arrow type                                  kind        cells
//! integers, floats, decimals                  number      the nearest f64; null → NaN
//! null                                        number      all missing
//! time of day, duration                       number      seconds
//! boolean                                     boolean
//! date32, date64, timestamp                   date        nanoseconds since 1970 in UTC; without a time zone they are taken as UTC
//! utf8, large_utf8, utf8_view                 inferred    as a CSV file's cells are: the rules of bochner::table::infer
//! dictionary                                  category    of whatever values
//! binary, list, struct, map, union, interval, run-end encoded, dictionary of dictionaries: refused by name where they are read, unless the column is ignored
//! ```
//! A kind that the options fix is taken instead, and cells are spelled for it: integers with all their digits, decimals as they are, true as `True`,
//! dates as `2024-03-01 17:05:09`. Integers and decimals that no f64 holds are rounded once, to the nearest; the source's warnings count integers beyond 2⁵³.
//! A date outside the years 1678 to 2261 cannot be read: it is missing and counted, or an error if the options are strict.
//!
//! The batches may be of any size: blocks have as many rows as asked. Columns that are ignored are not looked at. Batches that come once, from a data frame's
//! stream, are kept first ([`Kept`]): in memory, or in an unnamed file where they are many.
//!
//! ```
//! use std::sync::Arc;
//! use bochner_io::{Options, arrow};
//! use arrow_array::{Float64Array, RecordBatch};
//!
//! let size = Float64Array::from(vec![Some(120.0), None]);
//! let batch = RecordBatch::try_from_iter([("size", Arc::new(size) as _)])?;
//! let source = arrow::from_batches("frame", batch.schema(), vec![batch], &Options::default())?;
//! let table = source.open(&Default::default())?.next(100)?.ok_or("no rows")?;
//! assert!(table.columns[0].is_missing(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod build;
mod field;
pub(crate) mod ipc;
mod scan;
mod source;
mod spell;
mod spool;
mod values;

use std::path::{Path, PathBuf};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use bochner::table::TableSource;

use crate::budget;
use crate::error::{Error, Result};
use crate::fault::at_most;
use crate::options::Options;

pub(crate) use source::{Source, scan_texts};
pub use spool::Kept;

/// Rows that each byte of a file may stand for. A column of a single value, packed well, has some hundreds.
pub(crate) const ROWS_A_BYTE: u64 = 4096;

/// Bytes of text that each row of a pass may have on average, if there are as many rows as there may be: a few bytes may say one long text very often.
const TEXT_A_ROW: u64 = 64;

/// Columns of as many rows each, which nobody asks for their names.
pub(crate) fn batch(columns: Vec<ArrayRef>) -> std::result::Result<RecordBatch, ArrowError> {
    let field = |array: &ArrayRef| Field::new("", array.data_type().clone(), true);
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    RecordBatch::try_new(schema.into(), columns)
}

/// Where record batches come from, as often as needed.
pub(crate) trait Batches: Send + Sync {
    /// The name of the file, for messages.
    fn file(&self) -> &Path;

    /// All columns.
    fn schema(&self) -> &Schema;

    /// The number of rows, where that is known without reading them.
    fn rows(&self) -> Option<u64>;

    /// The bytes of the file, if they are in one that anybody may have written.
    fn size(&self) -> Option<u64> {
        None
    }

    /// Whether no integer of a column is beyond 2⁵³, where that is known without reading them.
    fn is_small(&self, _column: usize) -> bool {
        false
    }

    /// Starts from the first row, with these columns, in ascending order.
    fn open(&self, columns: &[usize]) -> Result<Box<dyn BatchReader + '_>>;
}

/// A pass over record batches.
pub(crate) trait BatchReader {
    /// The next rows, any number of them; none at the end.
    fn next(&mut self) -> Result<Option<RecordBatch>>;

    /// How much has been read, from 0 to 1, where that is known.
    fn fraction(&self) -> Option<f64>;
}

/// Counts the bytes of text of a pass, and of a block of rows.
struct Spelled {
    file: PathBuf,
    pass: u64,
    block: u64,
    /// The most of both.
    most: [u64; 2],
}

impl Spelled {
    fn of(batches: &impl Batches) -> Spelled {
        let most = batches.size().map_or([u64::MAX; 2], |size| {
            let of_pass = size.saturating_mul(ROWS_A_BYTE * TEXT_A_ROW).max(1 << 30);
            [of_pass, budget::most(size)]
        });
        Spelled { file: batches.file().to_owned(), pass: 0, block: 0, most }
    }

    fn start_block(&mut self) {
        self.block = 0;
    }

    /// Adds some.
    fn add(&mut self, bytes: u64) -> Result<()> {
        self.pass = self.pass.saturating_add(bytes);
        self.block = self.block.saturating_add(bytes);
        let [of_pass, of_block] = self.most;
        let all = at_most("bytes of text for its size", self.pass, of_pass);
        let all = all.and_then(|_| at_most("bytes of text in a block of rows", self.block, of_block));
        all.map(|_| ()).map_err(|fault| fault.of(&self.file, "Arrow"))
    }
}

/// Record batches in memory as a source of tables; `name` stands in messages. The batches all have the columns of `schema`.
pub fn from_batches(
    name: &str,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    options: &Options,
) -> bochner::Result<Box<dyn TableSource>> {
    let file = PathBuf::from(name);
    if !batches.iter().all(|batch| is_of(batch, &schema)) {
        return Err(Error::OtherColumns { file }.into());
    }
    Ok(Box::new(Source::open(Held { file, schema, batches }, options)?))
}

/// Whether a batch has columns of these types.
fn is_of(batch: &RecordBatch, schema: &Schema) -> bool {
    let (found, expected) = (batch.schema_ref().fields(), schema.fields());
    found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| a.data_type() == b.data_type())
}

/// Batches in memory.
struct Held {
    file: PathBuf,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Batches for Held {
    fn file(&self) -> &Path {
        &self.file
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        Some(self.batches.iter().map(|batch| batch.num_rows() as u64).sum())
    }

    fn open(&self, columns: &[usize]) -> Result<Box<dyn BatchReader + '_>> {
        Ok(Box::new(HeldReader { held: self, columns: columns.to_vec(), at: 0 }))
    }
}

struct HeldReader<'a> {
    held: &'a Held,
    columns: Vec<usize>,
    /// The next batch.
    at: usize,
}

impl BatchReader for HeldReader<'_> {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        let Some(batch) = self.held.batches.get(self.at) else { return Ok(None) };
        self.at += 1;
        let chosen = batch.project(&self.columns);
        chosen.map(Some).map_err(|_| Error::OtherColumns { file: self.held.file.clone() })
    }

    fn fraction(&self) -> Option<f64> {
        Some(self.at as f64 / self.held.batches.len().max(1) as f64)
    }
}

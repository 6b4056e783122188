//! Parquet files, row group by row group and a batch of rows at a time; only the columns that are read.
//!
//! ```text
//! footer ─thrift, schema─▶ columns, row groups, chunks of columns
//! chunk ─page─▶ headers, compared with what the chunk says ─packing─▶ pages ─hybrid, delta, values─▶ arrays
//! ```
//! A file may come from anywhere, so its bytes are decoded here: what it claims is compared with its size before memory is taken, and every loop ends with the bytes or the rows
//! that are there.
//!
//! ```text
//! the footer                       at most 64 MiB, inside the file
//! columns, nested ones with their parts    at most 1,048,576; 64 inside one another
//! columns × row groups             at most 1,048,576
//! a chunk of a column              inside the file, before the footer, none in another; as many values as its group has rows
//! a page                           inside its chunk; at most 512 MiB unpacked and no more than the chunk says; no more than its codec can do (packing.rs)
//! a text                           at most 64 MiB
//! rows                             at most 4,096 for each byte of the file
//! all that is held                 see budget.rs
//! ```
//! A batch has 8,192 rows, fewer in wide files and where texts are long. All encodings of the format but ALP and the packed levels of its first years; pages packed by snappy, gzip, zstd and lz4.
//! Moments of 96 bits are nanoseconds; those that no 64 bits hold are unreadable cells.

mod column;
mod delta;
mod footer;
mod hybrid;
mod page;
mod schema;
mod text;
mod thrift;
mod values;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, NullArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema};

use crate::arrow::{BatchReader, Batches, batch};
use crate::budget::{self, Budget};
use crate::error::{Result, shortened};
use crate::fault::{Fault, Outcome};
use crate::options::Options;
use crate::origin::{Origin, Shared, Stored};
use column::Reader as ColumnReader;
use footer::{Footer, Group};
use page::Pages;

const MOST_FOOTER: u64 = 64 << 20;
const MOST_COLUMNS: u64 = 1 << 20;
const MOST_CHUNKS: u64 = 1 << 20;
const MOST_PAGE: u64 = 512 << 20;

const NAME: &str = "Parquet";

/// A file whose footer has been read.
pub(crate) struct Parquet {
    file: PathBuf,
    bytes: Stored,
    footer: Footer,
    schema: Schema,
}

impl Parquet {
    pub(crate) fn open(origin: Origin, options: &Options) -> Result<Parquet> {
        let (file, bytes) = origin.stored(options)?;
        let footer = Footer::read(&bytes.open()?).map_err(|fault| fault.of(&file, NAME))?;
        let field = |field: &schema::Field| Field::new(&field.name, field.data_type.clone(), true);
        let schema = Schema::new(footer.fields.iter().map(field).collect::<Vec<_>>());
        Ok(Parquet { file, bytes, footer, schema })
    }
}

impl Batches for Parquet {
    fn file(&self) -> &Path {
        &self.file
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        Some(self.footer.rows)
    }

    fn size(&self) -> Option<u64> {
        Some(self.footer.size)
    }

    fn is_small(&self, column: usize) -> bool {
        const EXACT: i64 = 1 << 53;
        let range = match self.schema.field(column).data_type() {
            DataType::UInt64 => 0..=EXACT,
            _ => -EXACT..=EXACT,
        };
        self.footer.groups.iter().filter(|group| group.rows > 0).all(|group| {
            let found = group.chunks.get(column).copied().flatten().and_then(|chunk| chunk.range);
            found.is_some_and(|bounds| bounds.iter().all(|bound| range.contains(bound)))
        })
    }

    fn open(&self, columns: &[usize]) -> Result<Box<dyn BatchReader + '_>> {
        let budget = Budget::new(budget::most(self.footer.size));
        let (bytes, columns) = (self.bytes.open()?, columns.to_vec());
        Ok(Box::new(Reader {
            source: self,
            bytes,
            budget,
            columns,
            group: 0,
            open: Vec::new(),
            left: 0,
            done: 0,
        }))
    }
}

/// A pass over the rows.
struct Reader<'a> {
    source: &'a Parquet,
    bytes: Shared,
    budget: Budget,
    columns: Vec<usize>,
    /// The next row group.
    group: usize,
    /// The columns of the one that is read; none where a column has no cells that are read.
    open: Vec<Option<Open>>,
    /// Its rows to come.
    left: u64,
    /// Rows read in all.
    done: u64,
}

/// A column of a row group.
struct Open {
    reader: ColumnReader,
    /// Rows that were read and not handed out: others of them had longer texts.
    ahead: ArrayRef,
}

impl Open {
    /// Reads some rows where none are at hand.
    fn fill(&mut self, rows: usize) -> Outcome<()> {
        if self.ahead.is_empty() {
            self.ahead = self.reader.read(rows)?;
        }
        Ok(())
    }

    fn take(&mut self, rows: usize) -> ArrayRef {
        let taken = self.ahead.slice(0, rows);
        self.ahead = self.ahead.slice(rows, self.ahead.len() - rows);
        taken
    }
}

impl Reader<'_> {
    fn start(&mut self, group: &Group) {
        let Footer { fields, .. } = &self.source.footer;
        let open = |j: usize| {
            let (column, chunk) = (fields[j].flat()?, group.chunks[j]?);
            let pages = Pages::new(self.bytes.clone(), chunk, column.is_optional, self.budget.clone());
            let reader = ColumnReader::new(column.clone(), pages, group.rows);
            Some(Open { reader, ahead: Arc::new(NullArray::new(0)) })
        };
        self.open = self.columns.iter().map(|&j| open(j)).collect();
        self.left = group.rows;
    }

    fn read(&mut self) -> Outcome<Option<RecordBatch>> {
        /// Rows of a batch, and cells of all its columns.
        const ROWS: usize = 8192;
        const CELLS: usize = 4 << 20;
        while self.left == 0 {
            let Some(group) = self.source.footer.groups.get(self.group) else { return Ok(None) };
            self.group += 1;
            self.start(group);
        }
        if self.open.is_empty() {
            return Ok(None);
        }
        let most = (CELLS / self.open.len()).clamp(1, ROWS) as u64;
        let mut rows = self.left.min(most) as usize;
        for (open, &j) in self.open.iter_mut().zip(&self.columns) {
            let Some(open) = open else { continue };
            let name = || shortened(&self.source.footer.fields[j].name);
            let place = || format!(" in column \"{}\", row group {}", name(), self.group);
            open.fill(rows).map_err(|fault| fault.within(&place()))?;
            rows = rows.min(open.ahead.len());
        }
        let array = |column: &mut Option<Open>| match column {
            Some(column) => column.take(rows),
            None => Arc::new(NullArray::new(rows)) as ArrayRef,
        };
        let arrays = self.open.iter_mut().map(array).collect();
        self.left -= rows as u64;
        self.done += rows as u64;
        batch(arrays).map(Some).map_err(Fault::damaged)
    }
}

impl BatchReader for Reader<'_> {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        self.read().map_err(|fault| fault.of(&self.source.file, NAME))
    }

    fn fraction(&self) -> Option<f64> {
        let rows = self.source.footer.rows;
        Some(if rows == 0 { 1.0 } else { self.done as f64 / rows as f64 })
    }
}

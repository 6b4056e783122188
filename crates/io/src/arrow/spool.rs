//! Record batches that come once, read as often as needed.
//!
//! ```text
//! few    in memory
//! many   an unnamed file in Arrow's stream format, read block by block
//! ```
//! The file is ours: it was written here and nobody else has its name, so it is read without the suspicion that foreign files meet.

use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, Schema, SchemaRef};
use bochner::table::{ColumnInfo, ColumnKind, TableSource, position};

use super::{BatchReader, Batches, Held, Source};
use crate::error::{Error, Result};
use crate::names::unique;
use crate::options::Options;
use crate::temporary::{Place, Unnamed};

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 18;

/// Record batches that came once, and how their columns are read.
pub struct Kept {
    batches: Store,
    rows: u64,
    options: Options,
}

enum Store {
    Held(Held),
    Spooled(Spooled),
}

impl Kept {
    /// Takes all batches of a stream, but for columns that are ignored; those that take more than `most` bytes go to an unnamed file in the folder that
    /// the options name. `name` stands in messages.
    pub fn of(
        name: &str,
        schema: &SchemaRef,
        batches: impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>>,
        most: u64,
        mut options: Options,
    ) -> bochner::Result<Kept> {
        let file = PathBuf::from(name);
        let other = || Error::OtherColumns { file: file.clone() };
        let kept = kept_columns(schema, &mut options)?;
        let schema = Arc::new(schema.project(&kept).map_err(|_| other())?);
        let mut held = Held { file: file.clone(), schema: Arc::clone(&schema), batches: Vec::new() };
        let (mut writer, mut rows, mut bytes) = (None, 0, 0);
        for batch in batches {
            let batch = batch.and_then(|batch| batch.project(&kept)).map_err(|error| failed(&file, error))?;
            if !super::is_of(&batch, &schema) {
                return Err(other().into());
            }
            rows += batch.num_rows() as u64;
            bytes += bytes_of(&batch);
            if writer.is_none() && bytes > most {
                let mut new = Writer::new(&file, &schema, options.temporary.as_deref())?;
                held.batches.drain(..).try_for_each(|batch| new.write(&batch))?;
                writer = Some(new);
            }
            match &mut writer {
                Some(writer) => writer.write(&batch)?,
                None => held.batches.push(batch),
            }
        }
        let batches = match writer {
            None => Store::Held(held),
            Some(writer) => Store::Spooled(Spooled { kept: writer.finish()?, file, schema, rows }),
        };
        Ok(Kept { batches, rows, options })
    }

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether they lie in a file.
    pub fn is_spooled(&self) -> bool {
        matches!(self.batches, Store::Spooled(_))
    }

    /// A source of tables; finds out what the columns are where nothing was said of it.
    pub fn open(self) -> bochner::Result<Box<dyn TableSource>> {
        Ok(match self.batches {
            Store::Held(held) => Box::new(Source::open(held, &self.options)?),
            Store::Spooled(spooled) => Box::new(Source::open(spooled, &self.options)?),
        })
    }
}

/// The columns that are looked at, of which the options speak from here on; one at least, which says how many rows there are.
fn kept_columns(schema: &Schema, options: &mut Options) -> bochner::Result<Vec<usize>> {
    let names = unique(schema.fields().iter().map(|field| field.name().clone()).collect(), &mut Vec::new());
    let info = |name: &String| ColumnInfo { name: name.clone(), kind: ColumnKind::Text };
    let columns: Vec<ColumnInfo> = names.iter().map(info).collect();
    for name in options.kinds.iter().map(|(name, _)| name).chain(&options.ignored) {
        position(&columns, name)?;
    }
    let is_kept = |&j: &usize| !options.ignored.contains(&names[j]);
    let kept: Vec<usize> = (0..names.len()).filter(is_kept).collect();
    if kept.is_empty() && !names.is_empty() {
        options.ignored.truncate(0);
        options.ignored.push(names[0].clone());
        return Ok(vec![0]);
    }
    options.ignored.clear();
    Ok(kept)
}

/// Bytes of the rows of a batch, and of dictionaries.
fn bytes_of(batch: &RecordBatch) -> u64 {
    let bytes = |column: &arrow_array::ArrayRef| column.to_data().get_slice_memory_size().unwrap_or(0);
    batch.columns().iter().map(bytes).sum::<usize>() as u64
}

/// An error of Arrow's, or our own inside it.
fn failed(file: &Path, error: ArrowError) -> Error {
    let source = match error {
        ArrowError::IoError(_, source) => match source.downcast::<Error>() {
            Ok(own) => return own,
            Err(source) => source,
        },
        ArrowError::ExternalError(inner) => io::Error::other(inner),
        other => io::Error::other(other.to_string()),
    };
    Error::Io { file: file.to_owned(), source }
}

/// A file that is being written.
struct Writer {
    file: PathBuf,
    inner: StreamWriter<BufWriter<Unnamed>>,
}

impl Writer {
    fn new(file: &Path, schema: &Schema, folder: Option<&Path>) -> Result<Writer> {
        let folder = folder.map_or_else(std::env::temp_dir, Path::to_owned);
        let to = BufWriter::with_capacity(BUFFER, Unnamed::create(file, &folder)?);
        let inner = StreamWriter::try_new(to, schema).map_err(|error| failed(file, error))?;
        Ok(Writer { file: file.to_owned(), inner })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.inner.write(batch).map_err(|error| failed(&self.file, error))
    }

    fn finish(self) -> Result<Arc<File>> {
        let Writer { file, inner } = self;
        let buffered = inner.into_inner().map_err(|error| failed(&file, error))?;
        let unnamed = buffered.into_inner().map_err(|error| failed(&file, error.into_error().into()))?;
        Ok(unnamed.finish())
    }
}

/// Batches in a file.
struct Spooled {
    file: PathBuf,
    schema: SchemaRef,
    kept: Arc<File>,
    rows: u64,
}

impl Batches for Spooled {
    fn file(&self) -> &Path {
        &self.file
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn open(&self, columns: &[usize]) -> Result<Box<dyn BatchReader + '_>> {
        let bytes = BufReader::with_capacity(BUFFER, Place::new(Arc::clone(&self.kept), 0));
        let reader = StreamReader::try_new(bytes, Some(columns.to_vec()));
        let reader = reader.map_err(|error| failed(&self.file, error))?;
        Ok(Box::new(Reader { spooled: self, reader, rows: 0 }))
    }
}

struct Reader<'a> {
    spooled: &'a Spooled,
    reader: StreamReader<BufReader<Place>>,
    /// Rows handed out.
    rows: u64,
}

impl BatchReader for Reader<'_> {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        let batch = self.reader.next().transpose().map_err(|error| failed(&self.spooled.file, error))?;
        self.rows += batch.as_ref().map_or(0, |batch| batch.num_rows() as u64);
        Ok(batch)
    }

    fn fraction(&self) -> Option<f64> {
        Some(self.rows as f64 / self.spooled.rows.max(1) as f64)
    }
}

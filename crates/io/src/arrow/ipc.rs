//! Files and streams of Arrow's own format: Feather's second version, `.arrow` files, what `RecordBatchStreamWriter` writes.
//!
//! ```text
//! stream   ⟨message⟩ …   the schema first; then dictionaries and batches
//! file     ARROW1 00 00 ⟨stream⟩ ⟨footer: the schema, and where dictionaries and batches lie⟩ ⟨length, 4 bytes⟩ ARROW1
//! message  ff ff ff ff ⟨length, 4 bytes⟩ ⟨metadata⟩ ⟨body: buffers⟩
//! ```
//! Columns that are not read are left in the file; the others are held a batch at a time, as it was written. What a file claims is compared with what is there before it is
//! believed:
//!
//! ```text
//! metadata of a message, footer    at most 256 MiB, inside the file; tables inside one another at most 64 deep, and none said twice
//! columns                          at most 1,048,576
//! bodies                           inside the file, all together no larger than it; buffers inside their body, all together no larger than it
//! an unpacked buffer               at most 2 GiB, and no more than its codec can do (packing.rs)
//! rows                             at most 4,096 for each byte of the file
//! changes of dictionaries          at most 65,536
//! ```

mod decode;
mod message;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, NullArray, RecordBatch};
use arrow_schema::{DataType, Schema};
use arrow_select::concat::concat;

use super::field::{self, Found};
use super::{BatchReader, Batches, batch};
use crate::error::Result;
use crate::fault::{Fault, Outcome, at_most};
use crate::options::Options;
use crate::origin::{Origin, Shared};
use decode::Columns;
use message::{Contents, Message};

pub(crate) use message::schema_of;

const NAME: &str = "Arrow";

/// A file whose messages have been found.
pub(crate) struct Ipc {
    file: PathBuf,
    bytes: Shared,
    contents: Contents,
}

impl Ipc {
    pub(crate) fn open(origin: Origin, options: &Options) -> Result<Ipc> {
        let (file, bytes) = origin.shared(options)?;
        let contents = Contents::find(&bytes).map_err(|fault| fault.of(&file, NAME))?;
        Ok(Ipc { file, bytes, contents })
    }
}

impl Batches for Ipc {
    fn file(&self) -> &Path {
        &self.file
    }

    fn schema(&self) -> &Schema {
        &self.contents.schema
    }

    fn rows(&self) -> Option<u64> {
        Some(self.contents.rows)
    }

    fn open(&self, columns: &[usize]) -> Result<Box<dyn BatchReader + '_>> {
        let (columns, known) = (columns.to_vec(), HashMap::new());
        Ok(Box::new(Reader { source: self, columns, known, changes: 0, next: 0, done: 0 }))
    }
}

/// A pass over the rows.
struct Reader<'a> {
    source: &'a Ipc,
    columns: Vec<usize>,
    /// Dictionaries that were read, and how often one was added to.
    known: HashMap<i64, ArrayRef>,
    changes: u64,
    /// The next message.
    next: usize,
    /// Rows read.
    done: u64,
}

impl Reader<'_> {
    fn read(&mut self) -> Outcome<Option<RecordBatch>> {
        let Ipc { bytes, contents, .. } = self.source;
        while let Some(block) = contents.blocks.get(self.next) {
            self.next += 1;
            let message = Message::read(bytes, block.at, contents.end)?.ok_or_else(changed)?;
            let verified = message.verified()?;
            if let Some(dictionary) = verified.header_as_dictionary_batch() {
                let id = dictionary.id();
                let Some(values) = self.values_of(id) else { continue };
                let data = dictionary.data().ok_or_else(|| Fault::damaged("a dictionary without values"))?;
                let found = Columns::new(bytes, *block, data, verified.version())?.array(values, None)?;
                self.learn(id, found, dictionary.isDelta())?;
            } else if let Some(rows) = verified.header_as_record_batch() {
                let count = at_most("rows", rows.length(), contents.rows)?;
                self.done += count;
                let found = Columns::new(bytes, *block, rows, verified.version())?;
                return self.arrays(found, count as usize).map(Some);
            } else {
                return Err(changed());
            }
        }
        Ok(None)
    }

    /// What a dictionary holds, if it is needed.
    fn values_of(&self, id: i64) -> Option<&DataType> {
        let Contents { schema, dictionaries, .. } = &self.source.contents;
        self.columns.iter().find_map(|&j| match schema.field(j).data_type() {
            DataType::Dictionary(_, values) if dictionaries[j] == Some(id) && is_flat(values) => {
                Some(&**values)
            }
            _ => None,
        })
    }

    /// Keeps a dictionary, or adds to it.
    fn learn(&mut self, id: i64, found: ArrayRef, is_change: bool) -> Outcome<()> {
        let all = match self.known.get(&id).filter(|_| is_change) {
            None => found,
            Some(before) => {
                self.changes += 1;
                at_most("changes of dictionaries", self.changes, 1 << 16)?;
                concat(&[before.as_ref(), found.as_ref()]).map_err(Fault::damaged)?
            }
        };
        self.known.insert(id, all);
        Ok(())
    }

    /// The columns that were asked for; those that are no single values without cells.
    fn arrays(&self, mut found: Columns<'_>, rows: usize) -> Outcome<RecordBatch> {
        let Contents { schema, dictionaries, .. } = &self.source.contents;
        let mut wanted = self.columns.iter().copied().peekable();
        let mut arrays = Vec::with_capacity(self.columns.len());
        for (j, field) in schema.fields().iter().enumerate() {
            if wanted.peek().is_none() {
                break;
            }
            let is_wanted = wanted.next_if_eq(&j).is_some();
            if is_wanted && is_flat(field.data_type()) {
                let values = dictionaries[j].and_then(|id| self.known.get(&id));
                arrays.push(found.array(field.data_type(), values)?);
                continue;
            }
            found.skip(field.data_type())?;
            if is_wanted {
                arrays.push(Arc::new(NullArray::new(rows)));
            }
        }
        batch(arrays).map_err(Fault::damaged)
    }
}

fn is_flat(found: &DataType) -> bool {
    !matches!(field::of(found), Found::Nested(_))
}

fn changed() -> Fault {
    Fault::damaged("a message that was another before: the file has changed")
}

impl BatchReader for Reader<'_> {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        if self.columns.is_empty() {
            return Ok(None);
        }
        self.read().map_err(|fault| fault.of(&self.source.file, NAME))
    }

    fn fraction(&self) -> Option<f64> {
        let rows = self.source.contents.rows;
        Some(if rows == 0 { 1.0 } else { self.done as f64 / rows as f64 })
    }
}

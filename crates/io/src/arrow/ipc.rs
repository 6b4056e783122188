//! Files and streams of Arrow's own format: Feather's second version, `.arrow` files, what `RecordBatchStreamWriter` writes.
//!
//! ```text
//! stream   ⟨message⟩ …   the schema first; then dictionaries and batches
//! file     ARROW1 00 00 ⟨stream⟩ ⟨footer: the schema, and where dictionaries and batches lie⟩ ⟨length, 4 bytes⟩ ARROW1
//! message  ff ff ff ff ⟨length, 4 bytes⟩ ⟨metadata⟩ ⟨body: buffers⟩
//! ```
//! Columns that are not read are left in the file; the others are held a batch at a time, as it was written, and dictionaries as long as no others replace them. What a
//! file claims is compared with what is there before it is believed:
//!
//! ```text
//! metadata of a message, footer    at most 256 MiB, inside the file; tables inside one another at most 64 deep, and as many as it has bytes for
//! columns                          at most 1,048,576
//! bodies                           inside the file, all together no larger than it; buffers inside their body, all together no larger than it
//! an unpacked buffer               no more than its codec can do (packing.rs), nor twice of what its rows need
//! a union                          at most 128 parts
//! a text                           at most 64 MiB
//! rows, values of dictionaries     at most 4,096 for each byte of the file
//! dictionaries that grow           copied again with each batch of rows: at most 4,096 bytes for each byte of the file
//! all that is held                 see budget.rs
//! ```

mod decode;
mod message;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, NullArray, RecordBatch};
use arrow_schema::{DataType, Schema};
use arrow_select::concat::concat;

use super::field::{self, Found};
use super::{BatchReader, Batches, ROWS_A_BYTE, batch};
use crate::budget::{self, Budget, Share};
use crate::error::{Result, shortened};
use crate::fault::{Fault, Outcome, at_most};
use crate::options::Options;
use crate::origin::{Origin, Shared, Stored};
use decode::Columns;
use message::{Contents, Message};

pub(crate) use message::schema_of;

const NAME: &str = "Arrow";

/// A file whose messages have been found.
pub(crate) struct Ipc {
    file: PathBuf,
    bytes: Stored,
    contents: Contents,
}

impl Ipc {
    pub(crate) fn open(origin: Origin, options: &Options) -> Result<Ipc> {
        let (file, bytes) = origin.stored(options)?;
        let contents = Contents::find(&bytes.open()?).map_err(|fault| fault.of(&file, NAME))?;
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

    fn size(&self) -> Option<u64> {
        Some(self.contents.size)
    }

    fn open(&self, columns: &[usize]) -> Result<Box<dyn BatchReader + '_>> {
        Ok(Box::new(Reader {
            source: self,
            bytes: self.bytes.open()?,
            columns: columns.to_vec(),
            known: HashMap::new(),
            joined: 0,
            budget: Budget::new(budget::most(self.contents.size)),
            held: Vec::new(),
            next: 0,
            done: 0,
        }))
    }
}

/// A pass over the rows.
struct Reader<'a> {
    source: &'a Ipc,
    bytes: Shared,
    columns: Vec<usize>,
    /// Dictionaries that were read.
    known: HashMap<i64, Known>,
    /// Bytes of dictionaries that were copied because they had grown.
    joined: u64,
    budget: Budget,
    /// What the batch in hand takes of it.
    held: Vec<Share>,
    /// The next message.
    next: usize,
    /// Rows read.
    done: u64,
}

/// A dictionary: the first part, and those that were added since the last batch of rows.
#[derive(Default)]
struct Known {
    parts: Vec<ArrayRef>,
    shares: Vec<Share>,
}

impl Reader<'_> {
    fn read(&mut self) -> Outcome<Option<RecordBatch>> {
        let contents = &self.source.contents;
        self.held.clear();
        while let Some(block) = contents.blocks.get(self.next) {
            self.next += 1;
            let message = Message::read(&self.bytes, block.at, contents.end)?.ok_or_else(changed)?;
            let verified = message.verified()?;
            if let Some(dictionary) = verified.header_as_dictionary_batch() {
                let id = dictionary.id();
                let Some(values) = self.values_of(id) else { continue };
                let data = dictionary.data().ok_or_else(|| Fault::damaged("a dictionary without values"))?;
                at_most("values of a dictionary", data.length(), contents.values)?;
                let place = (&self.bytes, *block);
                let mut found = Columns::new(place, data, verified.version(), &self.budget)?;
                let array = found.array(values, None).map_err(|fault| fault.within(" in a dictionary"))?;
                let known = self.known.entry(id).or_default();
                if !dictionary.isDelta() {
                    *known = Known::default();
                }
                known.parts.push(array);
                known.shares.append(&mut found.shares);
            } else if let Some(rows) = verified.header_as_record_batch() {
                let count = at_most("rows", rows.length(), contents.rows)?;
                self.done += count;
                self.join()?;
                let place = (&self.bytes, *block);
                let mut found = Columns::new(place, rows, verified.version(), &self.budget)?;
                let batch = self.arrays(&mut found, count as usize)?;
                self.held = found.shares;
                return Ok(Some(batch));
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

    /// Makes one array of each dictionary that has grown.
    fn join(&mut self) -> Outcome<()> {
        for known in self.known.values_mut().filter(|known| known.parts.len() > 1) {
            let bytes: usize = known.parts.iter().map(Array::get_buffer_memory_size).sum();
            let most = self.source.contents.size.saturating_mul(ROWS_A_BYTE);
            self.joined = at_most("bytes of dictionaries that grow", self.joined + bytes as u64, most)?;
            let parts: Vec<&dyn Array> = known.parts.iter().map(AsRef::as_ref).collect();
            known.parts = vec![concat(&parts).map_err(Fault::damaged)?];
        }
        Ok(())
    }

    /// The columns that were asked for; those that are no single values without cells.
    fn arrays(&self, found: &mut Columns<'_>, rows: usize) -> Outcome<RecordBatch> {
        let Contents { schema, dictionaries, .. } = &self.source.contents;
        let mut wanted = self.columns.iter().copied().peekable();
        let mut arrays = Vec::with_capacity(self.columns.len());
        for (j, field) in schema.fields().iter().enumerate() {
            if wanted.peek().is_none() {
                break;
            }
            let is_wanted = wanted.next_if_eq(&j).is_some();
            if is_wanted && is_flat(field.data_type()) {
                let values = dictionaries[j].and_then(|id| self.known.get(&id)?.parts.first());
                let array = found.array(field.data_type(), values);
                let place = || format!(" in column \"{}\", message {}", shortened(field.name()), self.next);
                arrays.push(array.map_err(|fault| fault.within(&place()))?);
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

//! Where the messages of a file lie.

use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::{Endianness, MetadataVersion, Type, root_as_footer_with_opts, root_as_message_with_opts};
use arrow_schema::{Schema, SchemaRef};
use flatbuffers::VerifierOptions;

use crate::fault::{Fault, Outcome, at_most};
use crate::origin::Shared;

use super::decode::check_type;
use crate::arrow::ROWS_A_BYTE;

const MAGIC: &[u8] = b"ARROW1";
const CONTINUED: [u8; 4] = [0xff; 4];
const MOST_METADATA: u64 = 256 << 20;
const MOST_COLUMNS: u64 = 1 << 20;

/// What is in a file.
pub(super) struct Contents {
    pub(super) schema: SchemaRef,
    /// Of each column, if it has one.
    pub(super) dictionaries: Vec<Option<i64>>,
    /// Dictionaries and batches in the order in which they are read.
    pub(super) blocks: Vec<Block>,
    pub(super) rows: u64,
    /// Of all dictionaries.
    pub(super) values: u64,
    /// Bytes of the file.
    pub(super) size: u64,
    /// Where messages end at the latest.
    pub(super) end: u64,
}

/// Where a message and its body lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) at: u64,
    pub(super) body: u64,
    pub(super) size: u64,
}

/// A message whose body is in the file.
pub(super) struct Message {
    metadata: Buffer,
    body: u64,
}

impl Message {
    /// The one that stands here; none where the stream ends.
    pub(super) fn read(bytes: &Shared, at: u64, end: u64) -> Outcome<Option<Message>> {
        let left = end.saturating_sub(at);
        if left == 0 {
            return Ok(None);
        }
        let mut head = [0; 8];
        let known = head.len().min(left as usize);
        bytes.read_at(at, &mut head[..known])?;
        let [first, second] = [0, 4].map(|at| [head[at], head[at + 1], head[at + 2], head[at + 3]]);
        // Before version 0.15 the length came first.
        let (length, start) = if first == CONTINUED { (second, 8) } else { (first, 4) };
        let length = i32::from_le_bytes(length);
        if left < start {
            return Err(Fault::damaged(format!("a message in the last {left} bytes")));
        }
        if length == 0 {
            return Ok(None);
        }
        let found = u64::try_from(length).ok().filter(|length| *length <= left - start);
        let found = found.ok_or_else(|| {
            Fault::damaged(format!("a message of {length} bytes where {} are left", left - start))
        })?;
        let length = at_most("bytes of metadata", found, MOST_METADATA)?;
        let metadata = bytes_at(bytes, at + start, length)?;
        Ok(Some(Message { metadata, body: at + start + length }))
    }

    pub(super) fn verified(&self) -> Outcome<arrow_ipc::Message<'_>> {
        let found = root_as_message_with_opts(&options(self.metadata.len()), &self.metadata);
        let found = found.map_err(|_| Fault::damaged("a message that is none"))?;
        check_version(found.version())?;
        Ok(found)
    }

    /// Where it lies, its body included.
    fn block(&self, at: u64, end: u64) -> Outcome<Block> {
        let claimed = self.verified()?.bodyLength();
        let size = u64::try_from(claimed).ok().filter(|size| *size <= end.saturating_sub(self.body));
        let size = size.ok_or_else(|| {
            let left = end.saturating_sub(self.body);
            Fault::damaged(format!("a body of {claimed} bytes where {left} are left"))
        })?;
        Ok(Block { at, body: self.body, size })
    }
}

fn check_version(version: MetadataVersion) -> Outcome<()> {
    if [MetadataVersion::V4, MetadataVersion::V5].contains(&version) {
        return Ok(());
    }
    let found = version.variant_name().unwrap_or("an unknown one").to_owned();
    Err(Fault::NotRead { expected: "version V4 or V5 of Arrow's format", found })
}

/// A table of metadata has so many bytes at least, with where it lies.
fn options(length: usize) -> VerifierOptions {
    VerifierOptions {
        max_tables: length / 8 + 1,
        // Tables share the lists of their fields, nothing else.
        max_apparent_size: length.saturating_mul(16),
        ..VerifierOptions::default()
    }
}

/// Some bytes of the file, placed as numbers are.
pub(super) fn bytes_at(bytes: &Shared, at: u64, size: u64) -> Outcome<Buffer> {
    let size = usize::try_from(size).map_err(Fault::damaged)?;
    let mut found = MutableBuffer::from_len_zeroed(size);
    bytes.read_at(at, found.as_slice_mut())?;
    Ok(found.into())
}

/// The schema in a message of its own.
pub(crate) fn schema_of(message: &[u8]) -> Outcome<Schema> {
    let start = if message.starts_with(&CONTINUED) { 8 } else { 4 };
    let metadata = message.get(start..).unwrap_or_default();
    let metadata = Buffer::from_slice_ref(metadata);
    let message = Message { metadata, body: 0 };
    let message = message.verified()?;
    let schema = message.header_as_schema().ok_or_else(|| Fault::damaged("no schema"))?;
    schema_in(schema)
}

/// A schema whose unions have no more parts than their cells can name: others panic where they are converted.
fn schema_in(found: arrow_ipc::Schema<'_>) -> Outcome<Schema> {
    found.fields().into_iter().flatten().try_for_each(check_unions)?;
    try_fb_to_schema(found).map_err(Fault::damaged)
}

fn check_unions(field: arrow_ipc::Field<'_>) -> Outcome<()> {
    const MOST_PARTS: u64 = 128;
    let parts = field.children();
    if field.type_type() == Type::Union {
        at_most("parts of a union", parts.map_or(0, |parts| parts.len()) as u64, MOST_PARTS)?;
    }
    parts.into_iter().flatten().try_for_each(check_unions)
}

impl Contents {
    pub(super) fn find(bytes: &Shared) -> Outcome<Contents> {
        let size = bytes.size()?;
        let mut head = [0; MAGIC.len()];
        if size >= head.len() as u64 {
            bytes.read_at(0, &mut head)?;
        }
        let mut contents =
            if head == MAGIC { Contents::of_file(bytes, size)? } else { Contents::of_stream(bytes, size)? };
        contents.blocks.shrink_to_fit();
        contents.size = size;
        let most = size.saturating_mul(ROWS_A_BYTE);
        at_most("rows for its size", contents.rows, most)?;
        at_most("values of dictionaries for its size", contents.values, most)?;
        Ok(contents)
    }

    fn new(schema: arrow_ipc::Schema<'_>, end: u64) -> Outcome<Contents> {
        if schema.endianness() != Endianness::Little {
            let found = "another order".to_owned();
            return Err(Fault::NotRead { expected: "numbers with the least significant byte first", found });
        }
        let fields = schema.fields().ok_or_else(|| Fault::damaged("a schema without columns"))?;
        at_most("columns", fields.len() as u64, MOST_COLUMNS)?;
        let dictionaries = fields.iter().map(|field| Some(field.dictionary()?.id())).collect();
        let schema = schema_in(schema)?;
        schema.fields().iter().try_for_each(|field| check_type(field.data_type()))?;
        let (schema, blocks) = (schema.into(), Vec::new());
        Ok(Contents { schema, dictionaries, blocks, rows: 0, values: 0, size: 0, end })
    }

    fn of_stream(bytes: &Shared, size: u64) -> Outcome<Contents> {
        let no_schema = || Fault::damaged("a stream that does not begin with its schema");
        let first = Message::read(bytes, 0, size)?.ok_or_else(no_schema)?;
        let mut contents = Contents::new(first.verified()?.header_as_schema().ok_or_else(no_schema)?, size)?;
        let mut at = first.block(0, size)?;
        while let Some(message) = Message::read(bytes, at.body + at.size, size)? {
            at = message.block(at.body + at.size, size)?;
            contents.add(&message, at)?;
        }
        Ok(contents)
    }

    fn of_file(bytes: &Shared, size: u64) -> Outcome<Contents> {
        /// What stands before the first message, and after the footer.
        const HEAD: u64 = 8;
        const TAIL: u64 = 10;
        if size < HEAD + TAIL {
            return Err(Fault::damaged(format!("{size} bytes, at least {} were expected", HEAD + TAIL)));
        }
        let mut tail = [0; TAIL as usize];
        bytes.read_at(size - TAIL, &mut tail)?;
        let (length, magic) = tail.split_at(4);
        if magic != MAGIC {
            return Err(Fault::damaged("it does not end with ARROW1"));
        }
        let length = i32::from_le_bytes([length[0], length[1], length[2], length[3]]);
        let length = at_most("bytes of a footer", length, MOST_METADATA)?;
        if length > size - HEAD - TAIL {
            return Err(Fault::damaged(format!("a footer of {length} bytes in a file of {size}")));
        }
        let end = size - TAIL - length;
        let metadata = bytes_at(bytes, end, length)?;
        let footer = root_as_footer_with_opts(&options(metadata.len()), &metadata);
        let footer = footer.map_err(|_| Fault::damaged("a footer that is none"))?;
        check_version(footer.version())?;
        let schema = footer.schema().ok_or_else(|| Fault::damaged("a footer without a schema"))?;
        let mut contents = Contents::new(schema, end)?;
        let mut sum = 0u64;
        let [dictionaries, batches] = [footer.dictionaries(), footer.recordBatches()];
        for (blocks, are_dictionaries) in [(dictionaries, true), (batches, false)] {
            for block in blocks.into_iter().flatten() {
                let at = u64::try_from(block.offset()).map_err(Fault::damaged)?;
                let message = Message::read(bytes, at, end)?
                    .ok_or_else(|| Fault::damaged("a block without a message"))?;
                let found = message.block(at, end)?;
                sum = sum.saturating_add(found.body - at + found.size);
                let is_dictionary = message.verified()?.header_as_dictionary_batch().is_some();
                if is_dictionary != are_dictionaries || sum > size {
                    return Err(Fault::damaged("a footer that points to other messages"));
                }
                contents.add(&message, found)?;
            }
        }
        Ok(contents)
    }

    fn add(&mut self, message: &Message, block: Block) -> Outcome<()> {
        let message = message.verified()?;
        let count = |batch: arrow_ipc::RecordBatch<'_>| {
            u64::try_from(batch.length()).map_err(|_| Fault::damaged("fewer than no rows"))
        };
        if let Some(rows) = message.header_as_record_batch() {
            self.rows = self.rows.saturating_add(count(rows)?);
        } else if let Some(dictionary) = message.header_as_dictionary_batch() {
            let values = dictionary.data().map_or(Ok(0), count)?;
            self.values = self.values.saturating_add(values);
        } else {
            let found = message.header_type().variant_name().unwrap_or("a message of an unknown kind");
            return Err(Fault::NotRead {
                expected: "dictionaries and batches of rows",
                found: found.to_owned(),
            });
        }
        self.blocks.push(block);
        Ok(())
    }
}

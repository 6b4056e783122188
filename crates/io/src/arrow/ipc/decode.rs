//! The columns of a batch: how many cells each has, and where its buffers lie in the body.

use std::sync::Arc;

use arrow_array::{ArrayRef, NullArray, OffsetSizeTrait, new_empty_array};
use arrow_buffer::{Buffer, NullBuffer};
use arrow_ipc::{BodyCompressionMethod, CompressionType, MetadataVersion, RecordBatch};
use arrow_schema::{DataType, UnionMode};

use super::message::{Block, bytes_at};
use crate::arrow::build;
use crate::budget::{Budget, Share};
use crate::fault::{Fault, Outcome, at_most};
use crate::origin::Shared;
use crate::packing::Packing;

/// A type that its cells can have.
pub(super) fn check_type(found: &DataType) -> Outcome<()> {
    let (precision, most) = match found {
        DataType::Decimal32(precision, _) => (*precision, 9),
        DataType::Decimal64(precision, _) => (*precision, 18),
        DataType::Decimal128(precision, _) => (*precision, 38),
        DataType::Decimal256(precision, _) => (*precision, 76),
        DataType::Dictionary(_, values) => return check_type(values),
        _ => return Ok(()),
    };
    if (1..=most).contains(&precision) {
        return Ok(());
    }
    Err(Fault::damaged(format!("decimals of {precision} digits in a column of {most} at most")))
}

/// Columns one after another, with their buffers.
pub(super) struct Columns<'a> {
    bytes: &'a Shared,
    block: Block,
    batch: RecordBatch<'a>,
    version: MetadataVersion,
    packing: Option<Packing>,
    rows: usize,
    budget: &'a Budget,
    /// What the buffers take of it.
    pub(super) shares: Vec<Share>,
    /// The next node, buffer and number of buffers, and bytes of buffers before.
    node: usize,
    buffer: usize,
    variadic: usize,
    before: u64,
}

fn cut() -> Fault {
    Fault::damaged("fewer buffers than its columns have")
}

impl<'a> Columns<'a> {
    pub(super) fn new(
        (bytes, block): (&'a Shared, Block),
        batch: RecordBatch<'a>,
        version: MetadataVersion,
        budget: &'a Budget,
    ) -> Outcome<Self> {
        let not_read = |expected, found: &str| Err(Fault::NotRead { expected, found: found.to_owned() });
        let packing = match batch.compression() {
            None => None,
            Some(found) if found.method() != BodyCompressionMethod::BUFFER => {
                return not_read("buffers that are packed each by itself", "another way");
            }
            Some(found) if found.codec() == CompressionType::LZ4_FRAME => Some(Packing::Lz4Framed),
            Some(found) if found.codec() == CompressionType::ZSTD => Some(Packing::Zstd),
            Some(_) => return not_read("buffers packed by lz4 or zstd", "another codec"),
        };
        let rows = usize::try_from(batch.length()).map_err(Fault::damaged)?;
        Ok(Columns {
            bytes,
            block,
            batch,
            version,
            packing,
            rows,
            budget,
            shares: Vec::new(),
            node: 0,
            buffer: 0,
            variadic: 0,
            before: 0,
        })
    }

    /// Goes past a column.
    pub(super) fn skip(&mut self, found: &DataType) -> Outcome<()> {
        use DataType as D;
        self.node += 1;
        let buffers = match found {
            D::Null | D::RunEndEncoded(..) => 0,
            D::Struct(_) | D::FixedSizeList(..) => 1,
            D::Utf8 | D::LargeUtf8 | D::Binary | D::LargeBinary | D::ListView(_) | D::LargeListView(_) => 3,
            D::Utf8View | D::BinaryView => 2 + self.variadic()?,
            D::Union(_, mode) => {
                1 + usize::from(*mode == UnionMode::Dense) + usize::from(self.version < MetadataVersion::V5)
            }
            _ => 2,
        };
        for _ in 0..buffers {
            self.place()?;
        }
        match found {
            D::List(inner) | D::LargeList(inner) | D::ListView(inner) | D::LargeListView(inner) => {
                self.skip(inner.data_type())
            }
            D::FixedSizeList(inner, _) | D::Map(inner, _) => self.skip(inner.data_type()),
            D::Struct(parts) => parts.iter().try_for_each(|part| self.skip(part.data_type())),
            D::Union(parts, _) => parts.iter().try_for_each(|(_, part)| self.skip(part.data_type())),
            D::RunEndEncoded(ends, values) => {
                self.skip(ends.data_type())?;
                self.skip(values.data_type())
            }
            _ => Ok(()),
        }
    }

    /// A column of single values; `dictionary` are those that its keys stand for.
    pub(super) fn array(&mut self, found: &DataType, dictionary: Option<&ArrayRef>) -> Outcome<ArrayRef> {
        use DataType as D;
        let rows = self.rows;
        let nodes = self.batch.nodes().ok_or_else(cut)?;
        if self.node >= nodes.len() {
            return Err(cut());
        }
        let node = nodes.get(self.node);
        self.node += 1;
        if usize::try_from(node.length()) != Ok(rows) {
            let reason = format!("a column of {} cells in {rows} rows", node.length());
            return Err(Fault::damaged(reason));
        }
        if *found == D::Null {
            return Ok(Arc::new(NullArray::new(rows)));
        }
        let nulls = if node.null_count() == 0 || rows == 0 {
            self.place()?;
            None
        } else {
            Some(build::nulls(self.buffer(rows.div_ceil(8))?, rows)?)
        };
        match found {
            D::Utf8 => self.strings::<i32>(nulls),
            D::LargeUtf8 => self.strings::<i64>(nulls),
            D::Utf8View => {
                let views = self.values(size_of::<u128>())?;
                let count = self.variadic()?;
                let bytes = (0..count).map(|_| self.buffer(usize::MAX)).collect::<Outcome<Vec<Buffer>>>()?;
                build::views(views, bytes, rows, nulls)
            }
            D::Boolean => build::booleans(self.buffer(rows.div_ceil(8))?, rows, nulls),
            D::Dictionary(keys, values) => {
                let width = keys.primitive_width().unwrap_or(0);
                let keys = build::primitive(self.values(width)?, rows, nulls, keys)?;
                // Where all cells are missing there may be no dictionary.
                let values = dictionary.cloned().unwrap_or_else(|| new_empty_array(values));
                build::dictionary(keys, values)
            }
            other => {
                let width = other.primitive_width().unwrap_or(0);
                build::primitive(self.values(width)?, rows, nulls, other)
            }
        }
    }

    /// Texts one after another: where they end says how many bytes they have.
    fn strings<O: OffsetSizeTrait>(&mut self, nulls: Option<NullBuffer>) -> Outcome<ArrayRef> {
        let offsets = self.buffer(self.rows.saturating_add(1).saturating_mul(size_of::<O>()))?;
        let offsets = build::offsets::<O>(offsets, self.rows)?;
        let bytes = self.buffer(offsets.last().as_usize())?;
        build::strings(offsets, bytes, nulls)
    }

    /// The next buffer, of so many bytes for each row.
    fn values(&mut self, width: usize) -> Outcome<Buffer> {
        self.buffer(self.rows.saturating_mul(width))
    }

    /// Buffers of a column that has any number of them; there are not more than all.
    fn variadic(&mut self) -> Outcome<usize> {
        let counts = self.batch.variadicBufferCounts().ok_or_else(cut)?;
        if self.variadic >= counts.len() {
            return Err(cut());
        }
        let count = usize::try_from(counts.get(self.variadic)).map_err(Fault::damaged)?;
        self.variadic += 1;
        let all = self.batch.buffers().map_or(0, |buffers| buffers.len());
        if count > all { Err(cut()) } else { Ok(count) }
    }

    /// Where the next buffer lies in the file, and how long it is.
    fn place(&mut self) -> Outcome<(u64, u64)> {
        let buffers = self.batch.buffers().ok_or_else(cut)?;
        if self.buffer >= buffers.len() {
            return Err(cut());
        }
        let buffer = buffers.get(self.buffer);
        self.buffer += 1;
        let size = self.block.size;
        let place = u64::try_from(buffer.offset()).ok().zip(u64::try_from(buffer.length()).ok());
        let place = place.filter(|(at, length)| at.saturating_add(*length) <= size);
        let (at, length) = place.ok_or_else(|| {
            let (length, at) = (buffer.length(), buffer.offset());
            Fault::damaged(format!("a buffer of {length} bytes at {at} in a body of {size}"))
        })?;
        self.before = self.before.saturating_add(length);
        if self.before > size {
            return Err(Fault::damaged("buffers that lie in one another"));
        }
        Ok((self.block.body + at, length))
    }

    /// The next buffer, unpacked, of which so many bytes are needed.
    fn buffer(&mut self, needed: usize) -> Outcome<Buffer> {
        /// Before the bytes of a packed buffer stands how many it becomes; this is said where it is not packed.
        const NOT_PACKED: i64 = -1;
        /// Bytes that writers may add to those that are needed, and as many again.
        const PADDING: u64 = 64;
        let (at, length) = self.place()?;
        let Some(packing) = self.packing.filter(|_| length > 0) else {
            return self.plain(at, length, needed);
        };
        let length = length.checked_sub(8).ok_or_else(cut)?;
        let mut size = [0; 8];
        self.bytes.read_at(at, &mut size)?;
        match i64::from_le_bytes(size) {
            NOT_PACKED => self.plain(at + 8, length, needed),
            size => {
                let most = (needed as u64).saturating_mul(2).saturating_add(PADDING);
                let size = at_most("bytes in an unpacked buffer of so many rows", size, most)? as usize;
                self.shares.push(self.budget.take(size)?);
                let mut packed = vec![0; length as usize];
                self.bytes.read_at(at + 8, &mut packed)?;
                packing.unpacked(packed, size).map(Buffer::from_vec)
            }
        }
    }

    /// Bytes that are not packed, no more than are needed.
    fn plain(&mut self, at: u64, length: u64, needed: usize) -> Outcome<Buffer> {
        let length = length.min(needed as u64);
        self.shares.push(self.budget.take(length as usize)?);
        bytes_at(self.bytes, at, length)
    }
}

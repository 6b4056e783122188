//! Files that lie: messages of Arrow and pages of Parquet put together by hand.

use std::sync::Arc;

use arrow_ipc::writer::StreamWriter;
use arrow_ipc::{
    BodyCompressionBuilder, Buffer, CompressionType, DictionaryBatchBuilder, FieldBuilder, FieldNode,
    MessageBuilder, MessageHeader, MetadataVersion, NullBuilder, RecordBatch, RecordBatchBuilder,
    SchemaBuilder, Type, UnionBuilder, UnionMode,
};
use arrow_schema::{DataType, Field, Schema};
use flatbuffers::{FlatBufferBuilder, UnionWIPOffset, WIPOffset};

use super::sample::Made;

/// A message of an Arrow stream.
fn message(
    mut to: FlatBufferBuilder<'_>,
    kind: MessageHeader,
    header: WIPOffset<UnionWIPOffset>,
    body: &[u8],
) -> Vec<u8> {
    let mut message = MessageBuilder::new(&mut to);
    message.add_version(MetadataVersion::V5);
    message.add_header_type(kind);
    message.add_header(header);
    message.add_bodyLength(body.len() as i64);
    let root = message.finish();
    to.finish(root, None);
    let metadata = to.finished_data();
    let length = metadata.len().next_multiple_of(8);
    let mut bytes = [[0xff; 4], (length as i32).to_le_bytes()].concat();
    bytes.extend(metadata);
    bytes.resize(8 + length, 0);
    bytes.extend(body);
    bytes
}

/// Columns of some rows each, and their buffers one after another.
pub(crate) struct Batch<'a> {
    pub(crate) rows: i64,
    pub(crate) columns: usize,
    pub(crate) buffers: &'a [Vec<u8>],
    pub(crate) is_packed: bool,
}

impl Batch<'_> {
    fn write<'f>(&self, to: &mut FlatBufferBuilder<'f>) -> (WIPOffset<RecordBatch<'f>>, Vec<u8>) {
        let (mut body, mut places) = (Vec::new(), Vec::new());
        for buffer in self.buffers {
            places.push(Buffer::new(body.len() as i64, buffer.len() as i64));
            body.extend(buffer);
            body.resize(body.len().next_multiple_of(8), 0);
        }
        let nodes = vec![FieldNode::new(self.rows, 0); self.columns];
        let (nodes, places) = (to.create_vector(&nodes), to.create_vector(&places));
        let packing = self.is_packed.then(|| {
            let mut packing = BodyCompressionBuilder::new(to);
            packing.add_codec(CompressionType::ZSTD);
            packing.finish()
        });
        let mut batch = RecordBatchBuilder::new(to);
        batch.add_length(self.rows);
        batch.add_nodes(nodes);
        batch.add_buffers(places);
        packing.into_iter().for_each(|packing| batch.add_compression(packing));
        (batch.finish(), body)
    }

    /// Rows.
    pub(crate) fn message(&self) -> Vec<u8> {
        let mut to = FlatBufferBuilder::new();
        let (batch, body) = self.write(&mut to);
        message(to, MessageHeader::RecordBatch, batch.as_union_value(), &body)
    }

    /// The values of the first dictionary, or more of them.
    pub(crate) fn dictionary(&self, is_delta: bool) -> Vec<u8> {
        let mut to = FlatBufferBuilder::new();
        let (batch, body) = self.write(&mut to);
        let mut dictionary = DictionaryBatchBuilder::new(&mut to);
        dictionary.add_id(0);
        dictionary.add_data(batch);
        dictionary.add_isDelta(is_delta);
        let dictionary = dictionary.finish();
        message(to, MessageHeader::DictionaryBatch, dictionary.as_union_value(), &body)
    }
}

/// The message with which a stream of one column begins.
pub(crate) fn head(of: DataType) -> Made<Vec<u8>> {
    let schema = Schema::new(vec![Field::new("a", of, true)]);
    Ok(StreamWriter::try_new(Vec::new(), &schema)?.get_ref().clone())
}

/// A dictionary of such values, with keys of one byte.
pub(crate) fn coded(values: DataType) -> DataType {
    DataType::Dictionary(Box::new(DataType::Int8), Box::new(values))
}

/// A buffer that becomes so many of these bytes.
pub(crate) fn bomb(byte: u8, size: usize) -> Made<Vec<u8>> {
    let packed = zstd::bulk::compress(&vec![byte; size], 3)?;
    Ok([&(size as u64).to_le_bytes()[..], &packed].concat())
}

/// A schema with a union whose parts have no numbers.
pub(crate) fn union(parts: usize) -> Vec<u8> {
    let mut to = FlatBufferBuilder::new();
    let name = to.create_string("u");
    let null = NullBuilder::new(&mut to).finish().as_union_value();
    let children: Vec<_> = (0..parts)
        .map(|_| {
            let mut field = FieldBuilder::new(&mut to);
            field.add_name(name);
            field.add_type_type(Type::Null);
            field.add_type_(null);
            field.finish()
        })
        .collect();
    let children = to.create_vector(&children);
    let mut union = UnionBuilder::new(&mut to);
    union.add_mode(UnionMode::Sparse);
    let union = union.finish().as_union_value();
    let mut field = FieldBuilder::new(&mut to);
    field.add_name(name);
    field.add_type_type(Type::Union);
    field.add_type_(union);
    field.add_children(children);
    let field = field.finish();
    let fields = to.create_vector(&[field]);
    let mut schema = SchemaBuilder::new(&mut to);
    schema.add_fields(fields);
    let schema = schema.finish().as_union_value();
    message(to, MessageHeader::Schema, schema, &[])
}

/// Streams that readers have stumbled over, in small.
pub(crate) fn streams() -> Made<Vec<Vec<u8>>> {
    let keys = |rows: usize| [vec![], vec![0; rows]];
    let rows = |count: usize| {
        Batch { rows: count as i64, columns: 1, buffers: &keys(count), is_packed: false }.message()
    };
    let nulls = |length: i64| Batch { rows: length, columns: 1, buffers: &[], is_packed: false };
    let text = |bytes: usize| [vec![], [[0; 4], (bytes as i32).to_le_bytes()].concat(), vec![b'x'; bytes]];
    let texts = |bytes: usize, is_delta: bool| {
        Batch { rows: 1, columns: 1, buffers: &text(bytes), is_packed: false }.dictionary(is_delta)
    };
    let truths = [vec![], bomb(0xff, 1 << 17)?];
    let truths = Batch { rows: 1 << 20, columns: 1, buffers: &truths, is_packed: true };
    let bytes = [vec![], bomb(1, 1 << 20)?];
    let bytes = Batch { rows: 20, columns: 1, buffers: &bytes, is_packed: true };
    let deltas: Vec<u8> = (0..40).flat_map(|_| [texts(3, true), rows(2)].concat()).collect();
    Ok(vec![
        union(127),
        [head(coded(DataType::Null))?, nulls(1 << 20).dictionary(false), rows(9)].concat(),
        [head(coded(DataType::Boolean))?, truths.dictionary(false), rows(9)].concat(),
        [head(DataType::Int8)?, bytes.message()].concat(),
        [head(coded(DataType::Utf8))?, texts(1000, false), deltas].concat(),
    ])
}

/// Thrift in its compact form.
#[derive(Default)]
struct Thrift {
    bytes: Vec<u8>,
    /// The last field of each structure that is open.
    last: Vec<u8>,
}

impl Thrift {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// The number and the kind of a field.
    fn field(&mut self, id: u8, kind: u8) {
        let last = self.last.last_mut().map_or(0, |last| std::mem::replace(last, id));
        self.bytes.push((id - last) << 4 | kind);
    }

    fn integer(&mut self, id: u8, value: i64) {
        self.field(id, 6);
        self.varint((value << 1 ^ value >> 63) as u64);
    }

    fn text(&mut self, id: u8, text: &str) {
        self.field(id, 8);
        self.varint(text.len() as u64);
        self.bytes.extend(text.as_bytes());
    }

    fn structure(&mut self, id: u8, fill: impl FnOnce(&mut Thrift)) {
        self.field(id, 12);
        self.element(fill);
    }

    fn list(&mut self, id: u8, count: usize, fill: impl FnOnce(&mut Thrift)) {
        self.field(id, 9);
        self.bytes.push(0xf0 | 12);
        self.varint(count as u64);
        fill(self);
    }

    /// A structure in a list.
    fn element(&mut self, fill: impl FnOnce(&mut Thrift)) {
        self.last.push(0);
        fill(self);
        self.last.pop();
        self.bytes.push(0);
    }
}

/// A page that is packed by zstd, of a dictionary or of values in this encoding.
pub(crate) fn page(values: usize, encoding: Option<i64>, bytes: &[u8]) -> Made<Vec<u8>> {
    let packed = zstd::bulk::compress(bytes, 3)?;
    let mut header = Thrift::default();
    header.element(|header| {
        header.integer(1, if encoding.is_some() { 0 } else { 2 });
        header.integer(2, bytes.len() as i64);
        header.integer(3, packed.len() as i64);
        header.structure(if encoding.is_some() { 5 } else { 7 }, |details| {
            details.integer(1, values as i64);
            details.integer(2, encoding.unwrap_or(0));
            details.integer(3, 3);
        });
    });
    Ok([header.bytes, packed].concat())
}

/// A Parquet file with columns of texts that all lie in one place: a dictionary of some bytes, or none, and then pages.
pub(crate) fn parquet(rows: usize, columns: usize, dictionary: &[u8], pages: &[u8]) -> Vec<u8> {
    let mut footer = Thrift::default();
    let size = (dictionary.len() + pages.len()) as i64;
    footer.element(|footer| {
        footer.integer(1, 1);
        footer.list(2, columns + 1, |list| {
            list.element(|root| {
                root.text(4, "root");
                root.integer(5, columns as i64);
            });
            for j in 0..columns {
                list.element(|leaf| {
                    leaf.integer(1, 6);
                    leaf.integer(3, 0);
                    leaf.text(4, &format!("c{j}"));
                    leaf.integer(6, 0);
                });
            }
        });
        footer.integer(3, rows as i64);
        footer.list(4, 1, |list| {
            list.element(|group| {
                group.list(1, columns, |list| {
                    (0..columns).for_each(|_| {
                        list.element(|chunk| {
                            chunk.structure(3, |data| {
                                data.integer(1, 6);
                                data.integer(4, 6);
                                data.integer(5, rows as i64);
                                data.integer(6, 1 << 30);
                                data.integer(7, size);
                                data.integer(9, 4 + dictionary.len() as i64);
                                if !dictionary.is_empty() {
                                    data.integer(11, 4);
                                }
                            });
                        })
                    });
                });
                group.integer(3, rows as i64);
            });
        });
    });
    let length = (footer.bytes.len() as u32).to_le_bytes();
    [b"PAR1", dictionary, pages, &footer.bytes, &length, b"PAR1"].concat()
}

/// A text as a dictionary page has it.
pub(crate) fn plain(bytes: usize) -> Vec<u8> {
    [&(bytes as u32).to_le_bytes()[..], &vec![b'x'; bytes]].concat()
}

/// The keys of rows that are all the first value, in runs of one bit.
pub(crate) fn first_keys(rows: usize) -> Vec<u8> {
    let mut keys = Thrift { bytes: vec![1], last: Vec::new() };
    keys.varint(2 * rows as u64);
    keys.bytes.push(0);
    keys.bytes
}

/// Texts as differences: one of some bytes, and then the same again in every row.
pub(crate) fn repeated(rows: usize, bytes: usize) -> Vec<u8> {
    let mut page = Thrift::default();
    // The first number, and where others follow one block of equal differences that has no bits: the second differs, the others do not.
    let mut numbers = |first: u64, others: u64| {
        let zigzag = |value: i64| (value << 1 ^ value >> 63) as u64;
        [128, 4, rows as u64, zigzag(first as i64)].into_iter().for_each(|x| page.varint(x));
        let blocks = (rows - 1).div_ceil(128);
        for block in 0..blocks {
            let step = others as i64 - first as i64;
            page.varint(zigzag(if block == 0 { step.min(0) } else { 0 }));
            let is_first = block == 0 && step != 0;
            let width = if is_first { 64 } else { 0 };
            page.bytes.extend([width; 4]);
            if is_first {
                let over = step - step.min(0);
                let rest = -step.min(0);
                for at in 0..128i64 {
                    page.bytes.extend((if at == 0 { over } else { rest }).to_le_bytes());
                }
            }
        }
    };
    numbers(0, bytes as u64);
    numbers(bytes as u64, 0);
    page.bytes.extend(vec![b'x'; bytes]);
    page.bytes
}

/// Parquet files that readers have stumbled over, in small.
pub(crate) fn parquets() -> Made<Vec<Vec<u8>>> {
    let dictionary = page(1, None, &plain(1000))?;
    let keys = page(5000, Some(8), &first_keys(5000))?;
    let repeated = page(100, Some(7), &repeated(100, 1000))?;
    Ok(vec![
        parquet(5000, 1, &dictionary, &keys),
        parquet(5000, 2, &dictionary, &keys),
        parquet(100, 1, &[], &repeated),
    ])
}

/// Nested columns, which are refused by name wherever they are read.
pub(crate) fn nested(rows: usize) -> Made<arrow_array::RecordBatch> {
    use arrow_array::{ArrayRef, ListArray, RecordBatch, StructArray, types::Int64Type};
    let lists = ListArray::from_iter_primitive::<Int64Type, _, _>(
        (0..rows).map(|i| (i % 3 > 0).then(|| (0..i % 4).map(|k| Some(k as i64)))),
    );
    let numbers: ArrayRef = Arc::new(arrow_array::Int64Array::from_iter_values(0..rows as i64));
    let parts = vec![(Arc::new(Field::new("x", DataType::Int64, false)), Arc::clone(&numbers))];
    let structs = StructArray::from(parts);
    Ok(RecordBatch::try_from_iter([
        ("list", Arc::new(lists) as ArrayRef),
        ("number", numbers),
        ("struct", Arc::new(structs)),
    ])?)
}

//! Small files of every format, made in memory.

use std::io::Write;
use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::*;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::schema::types::ColumnPath;

use super::forged;

/// What may fail while a file is made.
pub(crate) type Made<T> = Result<T, Box<dyn std::error::Error>>;

/// Columns of every type, with missing cells.
pub(crate) fn every_type(rows: usize) -> Made<RecordBatch> {
    let is_there = |i: usize, k: usize| !(i * 31 + k * 17).is_multiple_of(7) && i / 40 % 5 != k % 5;
    let integer = |i: usize| (i * 7919 % 1009) as i64 - 300;
    macro_rules! some {
        ($array:ident, $k:literal, $value:expr) => {{
            let value = $value;
            (0..rows).map(|i| is_there(i, $k).then(|| value(i))).collect::<$array>()
        }};
    }
    macro_rules! all {
        ($array:ident, $value:expr) => {{
            let value = $value;
            (0..rows).map(|i| Some(value(i))).collect::<$array>()
        }};
    }
    type Half = <arrow_array::types::Float16Type as ArrowPrimitiveType>::Native;
    type Wide = <arrow_array::types::Decimal256Type as ArrowPrimitiveType>::Native;
    let level =
        |i: usize| ["red", "green", "", "a longer level than twelve bytes", "NA"][i * i % 5].to_owned();
    let text = |i: usize| format!("these are the words of row {}", i * 7 % 1500);
    let decimal = some!(Decimal128Array, 3, |i| i128::from(integer(i)) * 1_000_000_007);
    let wide = some!(Decimal256Array, 4, |i| Wide::from_i128(i128::from(integer(i)) << 90));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("i8", Arc::new(some!(Int8Array, 0, |i| (integer(i) % 100) as i8))),
        ("i16", Arc::new(some!(Int16Array, 1, |i| integer(i) as i16))),
        ("i32", Arc::new(some!(Int32Array, 2, |i| integer(i) as i32 * 1_000_000))),
        ("i64", Arc::new(some!(Int64Array, 3, |i| integer(i) << 50))),
        ("u8", Arc::new(some!(UInt8Array, 4, |i| i as u8))),
        ("u16", Arc::new(some!(UInt16Array, 5, |i| u16::MAX - i as u16))),
        ("u32", Arc::new(some!(UInt32Array, 6, |i| u32::MAX - i as u32))),
        ("u64", Arc::new(some!(UInt64Array, 0, |i| u64::MAX - i as u64))),
        ("f16", Arc::new(some!(Float16Array, 1, |i| Half::from_f32(integer(i) as f32 / 4.0)))),
        ("f32", Arc::new(some!(Float32Array, 2, |i| integer(i) as f32 / 3.0))),
        ("f64", Arc::new(some!(Float64Array, 3, |i| integer(i) as f64 / 7.0))),
        ("boolean", Arc::new(some!(BooleanArray, 4, |i| i % 3 == 0))),
        ("date32", Arc::new(some!(Date32Array, 5, |i| i as i32 * 9))),
        ("date64", Arc::new(some!(Date64Array, 6, |i| i as i64 * 86_400_000))),
        ("seconds", Arc::new(some!(TimestampSecondArray, 0, |i| integer(i) * 1_000_000))),
        ("milliseconds", Arc::new(some!(TimestampMillisecondArray, 1, |i| integer(i) * 1_000_000_007))),
        ("microseconds", Arc::new(some!(TimestampMicrosecondArray, 2, |i| integer(i) * 1_000_000_007))),
        ("nanoseconds", Arc::new(some!(TimestampNanosecondArray, 3, |i| integer(i) * 1_000_000_007))),
        ("zone", Arc::new(all!(TimestampMillisecondArray, integer).with_timezone("Asia/Tokyo"))),
        ("time32", Arc::new(some!(Time32SecondArray, 4, |i| i as i32))),
        ("time32m", Arc::new(some!(Time32MillisecondArray, 5, |i| i as i32))),
        ("time64", Arc::new(some!(Time64MicrosecondArray, 6, |i| i as i64 * 1000))),
        ("time64n", Arc::new(some!(Time64NanosecondArray, 0, |i| i as i64 * 1000))),
        ("duration", Arc::new(some!(DurationMillisecondArray, 1, integer))),
        ("decimal", Arc::new(decimal.with_precision_and_scale(20, 3)?)),
        ("small", Arc::new(all!(Decimal32Array, |i| integer(i) as i32).with_precision_and_scale(7, 2)?)),
        ("middle", Arc::new(all!(Decimal64Array, integer).with_precision_and_scale(15, 5)?)),
        ("wide", Arc::new(wide.with_precision_and_scale(60, 10)?)),
        ("text", Arc::new(some!(StringArray, 2, text))),
        ("large", Arc::new(some!(LargeStringArray, 3, text))),
        ("view", Arc::new(some!(StringViewArray, 4, level))),
        ("numbers", Arc::new(some!(StringArray, 5, |i| integer(i).to_string()))),
        ("whole", Arc::new(all!(StringArray, level))),
        ("category", Arc::new(category(rows, |i| is_there(i, 6).then(|| ["x", "y", "z"][i % 3])))),
        ("null", Arc::new(NullArray::new(rows))),
    ];
    let is_whole = |name: &str| ["zone", "small", "middle", "whole"].contains(&name);
    let field =
        |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), !is_whole(name));
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    Ok(RecordBatch::try_new(schema.into(), columns.into_iter().map(|(_, array)| array).collect())?)
}

fn category(rows: usize, level: impl Fn(usize) -> Option<&'static str>) -> DictionaryArray<Int8Type> {
    (0..rows).map(level).collect()
}

/// A Parquet file of these rows.
pub(crate) fn parquet(batches: &[RecordBatch], properties: WriterPropertiesBuilder) -> Made<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batches[0].schema(), Some(properties.build()))?;
    batches.iter().try_for_each(|batch| writer.write(batch))?;
    writer.close()?;
    Ok(bytes)
}

/// Ways to write Parquet, of pages with some rows.
pub(crate) fn ways(page: usize) -> Vec<(&'static str, WriterPropertiesBuilder)> {
    let usual = WriterProperties::builder;
    let small = || usual().set_data_page_row_count_limit(page).set_write_batch_size(page / 3 + 1);
    let second = WriterVersion::PARQUET_2_0;
    let (gzip, zstd) = (Compression::GZIP(Default::default()), Compression::ZSTD(Default::default()));
    vec![
        ("usual", usual()),
        ("version 2", usual().set_writer_version(second)),
        ("plain", usual().set_dictionary_enabled(false)),
        ("row groups", usual().set_max_row_group_row_count(Some(2 * page))),
        ("pages", small()),
        ("pages of version 2", small().set_writer_version(second)),
        ("a dictionary, then none", small().set_dictionary_page_size_limit(2000)),
        ("encoded", encoded(small())),
        ("encoded, version 2", encoded(small()).set_writer_version(second)),
        ("snappy", small().set_compression(Compression::SNAPPY)),
        ("gzip", small().set_compression(gzip)),
        ("lz4", usual().set_compression(Compression::LZ4)),
        ("lz4 raw", usual().set_compression(Compression::LZ4_RAW)),
        ("zstd", usual().set_compression(zstd)),
        ("zstd, version 2", small().set_writer_version(second).set_compression(zstd)),
    ]
}

fn encoded(properties: WriterPropertiesBuilder) -> WriterPropertiesBuilder {
    let of: [(Encoding, &[&str]); 5] = [
        (Encoding::DELTA_BINARY_PACKED, &["i32", "i64", "u64", "date64", "nanoseconds", "middle"]),
        (Encoding::BYTE_STREAM_SPLIT, &["f32", "f64", "i16", "milliseconds", "f16", "decimal"]),
        (Encoding::DELTA_BYTE_ARRAY, &["text", "wide"]),
        (Encoding::DELTA_LENGTH_BYTE_ARRAY, &["large"]),
        (Encoding::RLE, &["boolean"]),
    ];
    of.iter().fold(properties.set_dictionary_enabled(false), |properties, (encoding, names)| {
        names.iter().fold(properties, |properties, name| {
            properties.set_column_encoding(ColumnPath::from(*name), *encoding)
        })
    })
}

/// An Arrow file or stream of these rows.
pub(crate) fn arrow(
    batches: &[RecordBatch],
    is_file: bool,
    packed: Option<CompressionType>,
    dictionaries: DictionaryHandling,
) -> Made<Vec<u8>> {
    let options = IpcWriteOptions::default().try_with_compression(packed)?;
    let options = options.with_dictionary_handling(dictionaries);
    let (mut bytes, schema) = (Vec::new(), batches[0].schema());
    if is_file {
        let mut writer = FileWriter::try_new_with_options(&mut bytes, &schema, options)?;
        batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.finish()?;
    } else {
        let mut writer = StreamWriter::try_new_with_options(&mut bytes, &schema, options)?;
        batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.finish()?;
    }
    Ok(bytes)
}

/// The same bytes compressed in every way, the last in an archive.
fn packed(bytes: &[u8]) -> Made<Vec<Vec<u8>>> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 3);
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("a.csv", zip::write::SimpleFileOptions::default())?;
    gzip.write_all(bytes)?;
    xz.write_all(bytes)?;
    bzip2.write_all(bytes)?;
    zip.write_all(bytes)?;
    let zstd = zstd::bulk::compress(bytes, 3)?;
    Ok(vec![gzip.finish()?, zstd, xz.finish()?, bzip2.finish()?, zip.finish()?.into_inner()])
}

/// Files with their names.
pub(crate) type Files = Vec<(&'static str, Vec<u8>)>;

/// Files of a format with few rows, some columns each; none where there is no such format.
pub(crate) fn files(format: &str) -> Made<Option<Files>> {
    let rows = every_type(60)?;
    let parts = |width: usize| -> Made<Vec<RecordBatch>> {
        let columns: Vec<usize> = (0..rows.num_columns()).collect();
        columns.chunks(width).map(|some| Ok(rows.project(some)?)).collect()
    };
    let mut files = Vec::new();
    match format {
        "parquet" => {
            files.extend(forged::parquets()?.into_iter().map(|bytes| ("a.parquet", bytes)));
            files.push(("a.parquet", parquet(&[forged::nested(30)?], WriterProperties::builder())?));
            for part in parts(4)? {
                for (_, way) in ways(25) {
                    files.push(("a.parquet", parquet(std::slice::from_ref(&part), way)?));
                }
            }
        }
        "arrow" => {
            files.extend(forged::streams()?.into_iter().map(|bytes| ("a.arrow", bytes)));
            let nested = [forged::nested(30)?];
            files.push(("a.arrow", arrow(&nested, true, None, DictionaryHandling::Delta)?));
            for part in parts(5)? {
                let halves = [part.slice(0, 30), part.slice(30, 30)];
                for packed in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
                    for is_file in [true, false] {
                        let bytes = arrow(&halves, is_file, packed, DictionaryHandling::Delta)?;
                        files.push(("a.arrow", bytes));
                    }
                }
            }
        }
        "csv" => {
            let texts = [
                "a,b,c\n1,x,2024-01-02\n2.5,\"y, z\",\n,\"\"\"q\"\"\",1/2/2024\n",
                "n;k\n1.234,5;ja\n\"2\n3\";nein\n\n",
                "a b c\r\n1 2 3\r\n4 5 6\r\n",
                "\u{feff}x\ty\n1\t2\n",
            ];
            files.extend(texts.map(|text| ("a.csv", text.as_bytes().to_vec())));
            files.push(("a.csv", "ä,b\n1,ß\n".encode_utf16().flat_map(u16::to_le_bytes).collect()));
        }
        "json" => {
            let texts = [
                "{\"a\": 1, \"b\": \"x\\n\\u00e9\", \"c\": true}\n{\"a\": -2.5e3, \"c\": null, \"b\": \"\"}\n",
                "[{\"a\": [1, {\"b\": \"}\"}]}, {\"a\": 2}]\n",
                "{\"k\": \"2024-01-02\"} {\"l\": \"3,5\"}\n\n{}\n",
            ];
            files.extend(texts.map(|text| ("a.json", text.as_bytes().to_vec())));
        }
        "libsvm" => {
            let texts = ["1 1:2 3:0.5 # c\n-1 2:1e3\n", "# a\n\n0.5 qid:1 1:1\n", "2 4294967295:1\n1 1:1\n"];
            files.extend(texts.map(|text| ("a.svm", text.as_bytes().to_vec())));
        }
        "npy" => {
            for (kind, by_columns) in [("<f8", "False"), ("<f4", "True"), ("<i8", "False"), ("|b1", "True")] {
                let shape =
                    format!("{{'descr': '{kind}', 'fortran_order': {by_columns}, 'shape': (7, 3), }}");
                let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
                bytes.extend((shape.len() as u16).to_le_bytes());
                bytes.extend(shape.as_bytes());
                let width = match kind.as_bytes()[2] {
                    b'1' => 1,
                    digit => usize::from(digit - b'0'),
                };
                bytes.extend((0..21 * width).map(|i| (i * 7) as u8));
                files.push(("a.npy", bytes));
            }
        }
        "packed" => {
            let text: String = (0..40).map(|i| format!("{i},{}\n", i * i)).collect();
            let text = format!("a,b\n{text}");
            for bytes in packed(text.as_bytes())? {
                files.push(("a.csv", bytes));
            }
            let rows = arrow(&[rows.project(&[2, 28])?], true, None, DictionaryHandling::Delta)?;
            files.push(("a.arrow", zstd::bulk::compress(&rows, 3)?));
        }
        _ => return Ok(None),
    }
    Ok(Some(files))
}

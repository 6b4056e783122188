//! Laws over many inputs: nothing panics, numbers come back bit for bit, and neither the size of a read nor the size
//! of a block changes a table.

use std::io::{self, Cursor, Read};
use std::sync::Arc;

use bochner::table::{Column, Table, TableSource};
use bochner_io::{Format, Options, from_bytes, open_with};
use proptest::prelude::*;

use crate::ENGINE;

/// Gives at most `step` bytes a read, and is interrupted before each.
struct Trickle {
    bytes: Cursor<Arc<[u8]>>,
    step: usize,
    interrupted: bool,
}

impl Read for Trickle {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.interrupted = !self.interrupted;
        if self.interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let count = to.len().min(self.step);
        self.bytes.read(&mut to[..count])
    }
}

fn trickling(bytes: &[u8], step: usize, options: &Options) -> bochner::Result<Box<dyn TableSource>> {
    let bytes: Arc<[u8]> = bytes.into();
    let open = move || {
        let bytes = Cursor::new(Arc::clone(&bytes));
        Ok(Box::new(Trickle { bytes, step, interrupted: false }) as Box<dyn Read>)
    };
    open_with("a", open, options)
}

/// All tables up to the first error, and the error, as they are printed: a missing number is not equal to itself.
fn printed(source: bochner::Result<Box<dyn TableSource>>, most: usize) -> String {
    format!("{:?}", read(source, most))
}

/// All tables up to the first error, and the error.
fn read(source: bochner::Result<Box<dyn TableSource>>, most: usize) -> (Vec<Table>, Option<String>) {
    let mut tables = Vec::new();
    let collect = || -> bochner::Result<()> {
        let source = source?;
        let mut reader = source.open(&ENGINE)?;
        while let Some(table) = reader.next(most)? {
            tables.push(table);
        }
        Ok(())
    };
    let error = collect().err().map(|error| error.to_string());
    (tables, error)
}

/// Bytes that mean something to the formats, in any order.
fn soup() -> impl Strategy<Value = Vec<u8>> {
    let pieces = [
        "1", "23", "-0.5", "1e9", ",", ";", "\t", " ", "\"", "\"\"", "\n", "\r", "\r\n", ":", "2:3", "#",
        "qid:1", "a", "é",
    ];
    let piece = prop_oneof![
        40 => prop::sample::select(pieces.map(|piece| piece.as_bytes().to_vec()).to_vec()),
        1 => Just(b"\xef\xbb\xbf".to_vec()),
        1 => Just(vec![0xff]),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// Small tables with a few quotes and odd line ends: mostly readable.
fn sheet() -> impl Strategy<Value = Vec<u8>> {
    let cell =
        prop::sample::select(vec!["1", "-2.5", "\"3\"", "\" 4\n\"", "", "\"\"\"\"", "x", "1234567890123456"]);
    let end = prop::sample::select(vec!["\n", "\r\n", "\r", "\n\n"]);
    prop::collection::vec((cell.clone(), cell, end), 0..20).prop_map(|rows| {
        let mut text = "a,b\n".to_owned();
        for (a, b, end) in rows {
            text += &format!("{a},{b}{end}");
        }
        text.into_bytes()
    })
}

fn options() -> impl Strategy<Value = Options> {
    let format = prop::sample::select(vec![Format::Csv, Format::Libsvm, Format::Npy]);
    let text =
        prop::sample::select(vec![vec![], vec!["a".to_owned(), "b".to_owned()], vec!["c1".to_owned()]]);
    let header = prop::option::of(any::<bool>());
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (format, header, text, prop::option::of(0usize..4), flags).prop_map(
        |(format, header, text, width, (ignore_beyond_width, infer, strict))| {
            let format = Some(format);
            Options { format, header, width, ignore_beyond_width, infer, strict, ..Options::default() }
                .with_texts(text)
        },
    )
}

/// Arrays, most of them damaged: something else in the header, or another size than it says.
fn arrays() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop::sample::select(vec!["<f8", "<f4", "|b1", "<i2", "<u8", ">f8", "|O", "", "é"]);
    let number = prop_oneof![0u64..4, Just(u64::MAX), any::<u64>()];
    let shape = prop::collection::vec(number, 0..4);
    let damage = prop::option::of((any::<prop::sample::Index>(), any::<u8>()));
    let version = prop::sample::select(vec![1u8, 2, 3, 9]);
    (version, kind, shape, any::<bool>(), prop::collection::vec(any::<u8>(), 0..40), damage).prop_map(
        |(version, kind, shape, order, numbers, damage)| {
            let shape = shape.iter().map(|n| format!("{n},")).collect::<String>();
            let order = if order { "True" } else { "False" };
            let dictionary = format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': ({shape})}}\n");
            let mut bytes = b"\x93NUMPY".to_vec();
            bytes.extend([version, 0]);
            match version {
                1 => bytes.extend((dictionary.len() as u16).to_le_bytes()),
                _ => bytes.extend((dictionary.len() as u32).to_le_bytes()),
            }
            bytes.extend(dictionary.as_bytes());
            bytes.extend(numbers);
            if let Some((at, byte)) = damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            bytes
        },
    )
}

fn finite() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |value| value.is_finite())
}

fn bits(tables: &[Table], column: usize) -> Vec<u64> {
    let mut bits = Vec::new();
    for table in tables {
        match &table.columns[column] {
            Column::Number(values) => bits.extend(values.iter().map(|value| value.to_bits())),
            Column::Sparse(rows) => bits.extend(rows.view().values().iter().map(|value| value.to_bits())),
            _ => {}
        }
    }
    bits
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), options in options()) {
        read(from_bytes("a", bytes, &options), 3);
    }

    #[test]
    fn the_size_of_reads_does_not_matter(
        bytes in prop_oneof![soup(), sheet(), arrays()], options in options(), step in 1usize..9,
    ) {
        // An array of which the size is known is refused sooner, with other words.
        let all_at_once = match options.format {
            Some(Format::Npy) => trickling(&bytes, usize::MAX, &options),
            _ => from_bytes("a", bytes.clone(), &options),
        };
        let whole = printed(all_at_once, 3);
        prop_assert_eq!(&printed(trickling(&bytes, 1, &options), 3), &whole);
        prop_assert_eq!(&printed(trickling(&bytes, step, &options), 3), &whole);
    }

    /// Whatever the header promises, memory follows what is there: a block of a million rows asked for costs nothing.
    #[test]
    fn no_array_panics(bytes in arrays(), text in any::<bool>()) {
        let text = if text { vec!["x0".to_owned()] } else { Vec::new() };
        let options = Options { format: Some(Format::Npy), ..Options::default() }.with_texts(text);
        let whole = read(from_bytes("a", bytes.clone(), &options), 1 << 20);
        let unsized_ = read(trickling(&bytes, 7, &options), 1 << 20);
        // Where the size of the file is known, a wrong one is found sooner.
        if whole.1.is_none() {
            prop_assert_eq!(format!("{unsized_:?}"), format!("{whole:?}"));
        } else {
            prop_assert!(unsized_.1.is_some());
        }
    }

    #[test]
    fn arrays_come_back_bit_for_bit(
        values in prop::collection::vec((finite(), finite()), 0..40), most in 1usize..50, version in 1u8..4,
    ) {
        let dictionary = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, 2), }}", values.len());
        let mut bytes = b"\x93NUMPY".to_vec();
        bytes.extend([version, 0]);
        let size = dictionary.len() as u32;
        bytes.extend(&size.to_le_bytes()[..if version == 1 { 2 } else { 4 }]);
        bytes.extend(dictionary.as_bytes());
        values.iter().for_each(|(a, b)| bytes.extend([a.to_le_bytes(), b.to_le_bytes()].concat()));
        let (tables, error) = read(from_bytes("a.npy", bytes, &Options::default()), most);
        prop_assert_eq!(error, None);
        prop_assert_eq!(bits(&tables, 0), values.iter().map(|(a, _)| a.to_bits()).collect::<Vec<_>>());
        prop_assert_eq!(bits(&tables, 1), values.iter().map(|(_, b)| b.to_bits()).collect::<Vec<_>>());
        prop_assert!(tables.iter().rev().skip(1).all(|table| table.rows == most));
    }

    #[test]
    fn numbers_come_back_bit_for_bit(values in prop::collection::vec((finite(), finite()), 1..40), most in 1usize..50) {
        let mut text = "a,b\n".to_owned();
        for (a, b) in &values {
            text += &format!("{a:?},{b}\n");
        }
        let (tables, error) = read(from_bytes("a.csv", text, &Options::default()), most);
        prop_assert_eq!(error, None);
        prop_assert_eq!(bits(&tables, 0), values.iter().map(|(a, _)| a.to_bits()).collect::<Vec<_>>());
        prop_assert_eq!(bits(&tables, 1), values.iter().map(|(_, b)| b.to_bits()).collect::<Vec<_>>());
        prop_assert!(tables.iter().rev().skip(1).all(|table| table.rows == most));
    }

    #[test]
    fn sparse_values_come_back_bit_for_bit(
        rows in prop::collection::vec(prop::collection::btree_map(1u32.., finite(), 0..9), 1..20), most in 1usize..25,
    ) {
        let mut text = String::new();
        for row in &rows {
            text += "label";
            for (index, value) in row {
                text += &format!(" {index}:{value:?}");
            }
            text += "\n";
        }
        let (tables, error) = read(from_bytes("a.svm", text, &Options::default()), most);
        prop_assert_eq!(error, None);
        let kept = rows.iter().flat_map(|row| row.values()).filter(|value| **value != 0.0);
        prop_assert_eq!(bits(&tables, 1), kept.map(|value| value.to_bits()).collect::<Vec<_>>());
        let labels: usize = tables.iter().map(|table| table.rows).sum();
        prop_assert_eq!(labels, rows.len());
    }
}

#[test]
fn packed_bytes_may_trickle_too() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    io::Write::write_all(&mut encoder, b"\xef\xbb\xbfa,b\r\n1,\"2\"\r\n").unwrap();
    let bytes = encoder.finish().unwrap();
    let options = Options { format: Some(Format::Csv), ..Options::default() };
    let (tables, error) = read(trickling(&bytes, 1, &options), 9);
    assert_eq!(error, None);
    assert_eq!(tables[0].columns, [Column::Number(vec![1.0]), Column::Number(vec![2.0])]);
}

#[test]
fn only_the_first_byte_order_mark_is_one() {
    let bytes = "\u{feff}\u{feff}\"a\",b\n1,2\n".as_bytes();
    let options = Options { format: Some(Format::Csv), ..Options::default() };
    for step in [1, 2, 3, 4, 100] {
        let source = trickling(bytes, step, &options).unwrap();
        assert_eq!(source.columns()[0].name, "\u{feff}\"a\"", "{step}");
    }
    assert_eq!(from_bytes("a", bytes, &options).unwrap().columns()[0].name, "\u{feff}\"a\"");
}

//! Texts in many encodings are the same tables.
#![allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use bochner::table::{Column, Table};
use bochner_io::{Encoding, Options, from_bytes};

use crate::ENGINE;

fn read(bytes: &[u8], encoding: Option<&str>) -> Result<Vec<Table>, String> {
    let read = || -> bochner::Result<Vec<Table>> {
        let encoding = encoding.map(|name| name.parse::<Encoding>().unwrap());
        let options = Options { encoding, ..Options::default() }.with_texts(["été"]);
        let source = from_bytes("a.csv", bytes, &options)?;
        let (mut reader, mut tables) = (source.open(&ENGINE)?, Vec::new());
        while let Some(table) = reader.next(1 << 20)? {
            tables.push(table);
        }
        Ok(tables)
    };
    read().map_err(|error| error.to_string())
}

fn sheet(rows: usize) -> String {
    "été,b\n".to_owned() + &(0..rows).map(|i| format!("ça №{i} 😀,{i}\n")).collect::<String>()
}

/// The units of UTF-16 with a mark or without, the least byte first or last.
fn utf16(text: &str, mark: bool, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    let mark = if mark { "\u{feff}" } else { "" };
    mark.encode_utf16().chain(text.encode_utf16()).flat_map(bytes).collect()
}

#[test]
fn utf_16_is_found_and_read() {
    for rows in [1, 10_000] {
        let text = sheet(rows);
        let plain = read(text.as_bytes(), None).unwrap();
        assert_eq!(plain[0].rows, rows);
        assert_eq!(read(format!("\u{feff}{text}").as_bytes(), None).as_ref(), Ok(&plain));
        for mark in [true, false] {
            for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
                let found = read(&utf16(&text, mark, bytes), None);
                assert!(
                    found.as_ref() == Ok(&plain),
                    "{rows} {mark}: {:?}",
                    found.map(|tables| tables.len())
                );
            }
        }
        // A mark says more than somebody.
        assert_eq!(read(&utf16(&text, true, u16::to_le_bytes), Some("latin1")).as_ref(), Ok(&plain));
        assert_eq!(read(&utf16(&text, false, u16::to_le_bytes), Some("utf-16le")).as_ref(), Ok(&plain));
        assert_eq!(read(text.as_bytes(), Some("utf-8")).as_ref(), Ok(&plain));
    }
}

#[test]
fn other_encodings_are_said() {
    let latin = b"\xe9t\xe9,b\n\xe7a,1\n";
    assert_eq!(
        read(latin, None),
        Err("a.csv:1: expected UTF-8 text, found the byte 0xe9; say the encoding if it is another".to_owned())
    );
    let expected = Column::Text(["ça"].into_iter().collect());
    for name in ["latin1", "ISO-8859-1", "windows-1252"] {
        assert_eq!(read(latin, Some(name)).unwrap()[0].columns[0], expected, "{name}");
    }
    let error = "latin-17".parse::<Encoding>().unwrap_err().to_string();
    assert_eq!(
        error,
        "expected an encoding such as utf-8, utf-16le, latin1 or shift_jis, found \"latin-17\""
    );
    assert_eq!("Latin1".parse::<Encoding>().unwrap().to_string(), "windows-1252");
}

#[test]
fn bytes_that_are_none_are_errors_with_their_line() {
    let shift = |bytes: &[u8]| read(bytes, Some("shift_jis"));
    let error = "a.csv:3: expected text in Shift_JIS, found bytes that are none";
    assert_eq!(shift(b"a,b\n1,2\n3,\xfd\n4,5\n"), Err(error.to_owned()));
    // Half a unit at the end, and half a pair.
    for end in [&[0x41u8][..], &[0x3d, 0xd8]] {
        let bytes = [utf16("a,b\n1,", true, u16::to_le_bytes), end.to_vec()].concat();
        let error = "a.csv:2: expected text in UTF-16LE, found bytes that are none";
        assert_eq!(read(&bytes, None), Err(error.to_owned()));
    }
}

#[test]
fn sparse_rows_and_compressed_ones_too() {
    use std::io::Write;
    let text = utf16("# été\n1 1:2\n", true, u16::to_le_bytes);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&text).unwrap();
    for bytes in [text, encoder.finish().unwrap()] {
        let source = from_bytes("a.txt", bytes, &Options::default()).unwrap();
        assert_eq!(source.columns()[1].name, "features");
        assert_eq!(source.open(&ENGINE).unwrap().next(9).unwrap().unwrap().rows, 1);
    }
}

//! Compressed files: known by their content, read whole, and refused by name where they are damaged.
#![allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::io::{self, Cursor, Read, Write};

use bochner::table::{Column, Table, TableSource};
use bochner_io::{Options, from_bytes, open, open_with};

use crate::ENGINE;

type Pack = fn(&[u8]) -> Vec<u8>;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// With a checksum, as the command of that name has it.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 3);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// An archive of members that are stored (0), deflated (8) or compressed by zstd (93).
fn archive(members: &[(&str, &[u8], u16)]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, content, method) in members {
        let mut checksum = flate2::Crc::new();
        checksum.update(content);
        let packed = match method {
            8 => {
                let mut encoder =
                    flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            }
            93 => zstd(content),
            _ => content.to_vec(),
        };
        let mut shared = Vec::new(); // version, flags, method, time, date, checksum, sizes, lengths
        [20u16, 0, *method, 0, 0x21].iter().for_each(|word| shared.extend(word.to_le_bytes()));
        let sizes = [checksum.sum(), packed.len() as u32, content.len() as u32];
        sizes.iter().for_each(|word| shared.extend(word.to_le_bytes()));
        [name.len() as u16, 0].iter().for_each(|word| shared.extend(word.to_le_bytes()));
        let at = bytes.len() as u32;
        bytes.extend([b"PK\x03\x04", &shared[..], name.as_bytes(), &packed].concat());
        let rest = [[0; 10].as_slice(), &at.to_le_bytes()].concat();
        directory.extend([b"PK\x01\x02\x14\0", &shared[..], &rest, name.as_bytes()].concat());
    }
    let count = (members.len() as u16).to_le_bytes();
    let (size, at) = ((directory.len() as u32).to_le_bytes(), (bytes.len() as u32).to_le_bytes());
    let end = [b"PK\x05\x06\0\0\0\0", &count[..], &count, &size, &at, &[0, 0]].concat();
    [bytes, directory, end].concat()
}

fn zip(bytes: &[u8]) -> Vec<u8> {
    archive(&[("a.csv", bytes, 8)])
}

const CODECS: [(&str, &str, Pack); 5] = [
    ("gzip", "gz", gzip),
    ("zstd", "zst", zstd),
    ("xz", "xz", xz),
    ("bzip2", "bz2", bzip2),
    ("zip", "zip", zip),
];

fn tables(source: &dyn TableSource) -> Vec<Table> {
    let mut reader = source.open(&ENGINE).unwrap();
    std::iter::from_fn(|| reader.next(64).unwrap()).collect()
}

/// All tables, or the first error.
fn read(name: &str, bytes: &[u8]) -> Result<Vec<Table>, String> {
    let read = || -> bochner::Result<Vec<Table>> {
        let source = from_bytes(name, bytes, &Options::default())?;
        let (mut reader, mut tables) = (source.open(&ENGINE)?, Vec::new());
        while let Some(table) = reader.next(64)? {
            tables.push(table);
        }
        Ok(tables)
    };
    read().map_err(|error| error.to_string())
}

fn text(rows: u64) -> String {
    "a,b\n".to_owned() + &(0..rows).map(|i| format!("{i},{}\n", i * i)).collect::<String>()
}

#[test]
fn the_content_says_how_it_is_compressed() {
    let text = text(300);
    let plain = read("a.csv", text.as_bytes()).unwrap();
    for (codec, ending, pack) in CODECS {
        for name in [format!("a.csv.{ending}"), "a.csv".to_owned(), "a".to_owned(), "a.csv.gz".to_owned()] {
            assert_eq!(read(&name, &pack(text.as_bytes())), Ok(plain.clone()), "{codec}: {name}");
        }
        // A name that promises compression does not hold up what can be read.
        assert_eq!(read(&format!("a.csv.{ending}"), text.as_bytes()), Ok(plain.clone()), "{codec}");
        // As often as asked, from a file too.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, pack(text.as_bytes())).unwrap();
        let source = open(&ENGINE, &path, &Options::default()).unwrap();
        assert_eq!([tables(&*source), tables(&*source)], [plain.clone(), plain.clone()], "{codec}");
    }
    assert_eq!(read("a", b"BZh9 is a name,b\n1,2\n").unwrap()[0].columns[0], Column::Number(vec![1.0]));
}

#[test]
fn streams_one_after_another_are_one_file() {
    let text = text(300);
    let plain = read("a.csv", text.as_bytes()).unwrap();
    for (codec, _, pack) in &CODECS[..4] {
        for cut in [1, 4, 100, text.len()] {
            let (top, below) = text.as_bytes().split_at(cut);
            assert_eq!(read("a.csv", &[pack(top), pack(below)].concat()), Ok(plain.clone()), "{codec} {cut}");
        }
    }
    // pzstd begins with a frame that is to be skipped.
    let skipped = [b"\x50\x2a\x4d\x18\x04\0\0\0size", &zstd(text.as_bytes())[..]].concat();
    assert_eq!(read("a.csv", &skipped), Ok(plain));
}

#[test]
fn truncated_and_damaged_data_are_errors_that_name_the_file() {
    let text = text(300);
    for (codec, ending, pack) in CODECS {
        let (name, whole) = (format!("a.csv.{ending}"), pack(text.as_bytes()));
        let plain = read(&name, &whole).unwrap();
        for cut in 1..whole.len() {
            let error = read(&name, &whole[..cut]).expect_err("an error");
            let expected =
                format!("{name}: expected a whole {codec} file, found a damaged or truncated one (");
            assert!(error.starts_with(&expected), "{cut} of {}: {error}", whole.len());
        }
        let mut damages = 0;
        for at in 10..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x55;
            match read(&name, &damaged) {
                // Bytes that say when a file was made, and the like.
                Ok(tables) => assert_eq!(tables, plain, "{codec} {at}"),
                Err(error) => {
                    damages += 1;
                    assert!(error.starts_with(&format!("{name}:")), "{codec} {at}: {error}");
                }
            }
        }
        let all = whole.len() - 10;
        assert!(10 * damages >= 9 * all, "{codec}: {damages} of {all} were noticed");
    }
}

#[test]
fn decoders_that_want_much_memory_are_refused() {
    // A frame whose header asks for a window of 2 GiB.
    let wide = [&b"\x28\xb5\x2f\xfd\x00\xa8"[..], &[1, 0, 0]].concat();
    let error = read("a.csv.zst", &wide).expect_err("an error");
    assert_eq!(
        error,
        "a.csv.zst: expected zstd data that need at most 128 MiB to be unpacked, found some that need more"
    );
    use liblzma::stream::{Check, Filters, LzmaOptions, Stream};
    let mut options = LzmaOptions::new_preset(0).unwrap();
    let mut filters = Filters::new();
    filters.lzma2(options.dict_size(512 << 20));
    let stream = Stream::new_stream_encoder(&filters, Check::Crc32);
    // Encoding takes more memory than is there for some: the header alone is enough.
    if let Ok(stream) = stream {
        let mut encoder = liblzma::write::XzEncoder::new_stream(Vec::new(), stream);
        encoder.write_all(b"a,b\n1,2\n").unwrap();
        let error = read("a.csv.xz", &encoder.finish().unwrap()).expect_err("an error");
        assert_eq!(
            error,
            "a.csv.xz: expected xz data that need at most 256 MiB to be unpacked, found some that need more"
        );
    }
}

#[test]
fn archives_have_one_table() {
    let plain = read("a.csv", b"a,b\n1,2\n").unwrap();
    let table: &[u8] = b"a,b\n1,2\n";
    for method in [0, 8, 93] {
        let members = [
            ("data/", &b""[..], 0),
            ("__MACOSX/data/._t.csv", b"x", 0),
            ("data/.DS_Store", b"x", 0),
            ("data/_notes", b"x", 0),
            ("data/t.csv", table, method),
        ];
        assert_eq!(read("a.zip", &archive(&members)), Ok(plain.clone()), "{method}");
    }
    assert_eq!(read("a.zip", &archive(&[("./t.csv", table, 8)])), Ok(plain.clone()));
    let error = read("a.zip", &archive(&[("t.csv.gz", &gzip(table), 0)])).expect_err("an error");
    assert_eq!(
        error,
        "a.zip: expected a table that is stored, deflated or compressed by zstd, found a file compressed by gzip, t.csv.gz; \
         unpack it first"
    );
    // The member's name says the format.
    let source = from_bytes("a.zip", archive(&[("t.svm", b"1 2:3\n", 8)]), &Options::default()).unwrap();
    assert_eq!(source.columns()[1].name, "features");
    let many = |count: usize| {
        let names: Vec<String> = (0..count).map(|i| format!("t{i}.csv")).collect();
        archive(&names.iter().map(|name| (name.as_str(), table, 8)).collect::<Vec<_>>())
    };
    let refused = |bytes: &[u8]| read("a.zip", bytes).expect_err("an error");
    let one = "a.zip: expected one table in the archive, found";
    assert_eq!(refused(&many(0)), format!("{one} none; unpack it first"));
    assert_eq!(refused(&many(2)), format!("{one} 2 (t0.csv, t1.csv); unpack it first"));
    assert_eq!(refused(&many(70)), format!("{one} 70 (t0.csv, t1.csv, t2.csv, …); unpack it first"));
    let error = refused(&archive(&[("t.csv", table, 14)]));
    assert!(
        error.starts_with("a.zip: expected a table that is stored, deflated or compressed by zstd"),
        "{error}"
    );
    let error = refused(&archive(&[("[Content_Types].xml", b"<", 8), ("xl/sheet1.xml", b"<", 8)]));
    assert!(error.starts_with("a.zip: expected a table, found an Excel workbook; save"), "{error}");
    assert!(
        refused(&archive(&[("t.csv", table, 0), ("t.csv", table, 0)])).contains("two members of one name")
    );
    // Read from its end, it cannot come from a stream.
    let bytes = zip(table);
    let once = move || Ok(Box::new(Cursor::new(bytes.clone())) as Box<dyn Read>);
    let error = open_with("a.zip", once, &Options::default()).err().unwrap().to_string();
    assert!(
        error.starts_with("a.zip: expected a file, found an archive that can be read only once"),
        "{error}"
    );
}

#[test]
fn the_fraction_is_that_of_the_compressed_bytes() {
    let text = text(200_000);
    for (codec, _, pack) in CODECS {
        let source = from_bytes("a.csv", pack(text.as_bytes()), &Options::default()).unwrap();
        let mut reader = source.open(&ENGINE).unwrap();
        let mut fractions = vec![reader.fraction().unwrap()];
        while reader.next(50_000).unwrap().is_some() {
            fractions.push(reader.fraction().unwrap());
        }
        assert!(fractions.is_sorted() && fractions.last() == Some(&1.0), "{codec}: {fractions:?}");
        assert!((0.2..0.8).contains(&fractions[2]), "{codec}: {fractions:?}");
    }
}

/// What a system says is not taken for damage.
#[test]
fn errors_of_the_system_stay_what_they_are() {
    struct Failing(Cursor<Vec<u8>>);
    impl Read for Failing {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            match self.0.read(to)? {
                0 => Err(io::Error::from_raw_os_error(5)),
                count => Ok(count),
            }
        }
    }
    for (codec, _, pack) in &CODECS[..4] {
        let packed = pack(text(50_000).as_bytes());
        let half = packed[..packed.len() / 2].to_vec();
        let read = move || Ok(Box::new(Failing(Cursor::new(half.clone()))) as Box<dyn Read>);
        let source = open_with("a.csv", read, &Options::default());
        assert!(matches!(source, Err(bochner::Error::Io { .. })), "{codec}");
    }
}

//! Every error message, word for word.
#![allow(clippy::expect_used, reason = "a test stops where it cannot go on")]

use std::io::{self, Read};

use bochner_io::{Error, Format, Options, from_bytes, open, open_with};

use crate::ENGINE;

/// The first error of opening or reading.
fn complaint(name: &str, bytes: &[u8], options: &Options) -> String {
    let read = || -> bochner::Result<()> {
        let source = from_bytes(name, bytes, options)?;
        let mut reader = source.open(&ENGINE)?;
        while reader.next(2)?.is_some() {}
        Ok(())
    };
    read().expect_err("a complaint").to_string()
}

/// Numbers only, and all of them there.
fn strict() -> Options {
    Options { infer: false, strict: true, ..Options::default() }
}

fn csv(text: &str) -> String {
    complaint("d/a.csv", text.as_bytes(), &strict())
}

fn svm(text: &str) -> String {
    complaint("a.svm", text.as_bytes(), &Options::default())
}

#[test]
fn cells_that_are_not_numbers() {
    assert_eq!(
        csv("size,price\n1,2\n3,x\n"),
        r#"d/a.csv:3:2: expected a number, found "x" (column "price")"#
    );
    for cell in ["12abc", "1 2", "eighty", "1.2.3"] {
        let expected = format!("d/a.csv:2:1: expected a number, found \"{cell}\" (column \"a\")");
        assert_eq!(csv(&format!("a\n{cell}\n")), expected);
    }
    let long = "x".repeat(100);
    let expected = format!("d/a.csv:2:1: expected a number, found \"{}…\" (column \"a\")", "x".repeat(39));
    assert_eq!(csv(&format!("a\n{long}\n")), expected);
    let bare = Options { header: Some(false), ..strict() };
    assert_eq!(complaint("a.csv", b"1,2\n3,x\n", &bare), r#"a.csv:2:2: expected a number, found "x""#);
}

#[test]
fn lines_are_those_of_an_editor() {
    let line = |text: &str| csv(text).split(':').nth(1).unwrap_or_default().to_owned();
    assert_eq!(line("a,b\r\n1,2\r\n\r\n\r\n1,x\r\n"), "5");
    assert_eq!(line("a,b\r1,2\r\r1,x\r"), "4");
    assert_eq!(line("\n\na,b\n1,2\n1,x"), "5");
    assert_eq!(line("\"a\nz\",b\n1,2\n\n1,x"), "5");
    assert_eq!(line("\"a\r\nz\",b\r\n1,2\r\n1,x"), "4");
    assert_eq!(line("a,b\n\"1\n\n\",2\n1,x\n"), "5");
}

#[test]
fn ragged_rows_and_open_quotes() {
    let nine = "a,b,c,d,e,f,g,h,i\n1,2,3,4,5,6,7,8\n";
    assert_eq!(csv(nine), "d/a.csv:2: expected 9 fields, found 8");
    assert_eq!(csv("a\n1\n1,2"), "d/a.csv:3: expected 1 fields, found 2");
    let bare = Options { header: Some(false), ..strict() };
    assert_eq!(complaint("a.csv", b"1,2\n\n3\n", &bare), "a.csv:3: expected 2 fields, found 1");
    assert_eq!(csv("a,b\n1,\"2\n3,4\n"), "d/a.csv:2: expected a closing quote, found the end of the file");
}

#[test]
fn headers() {
    assert_eq!(csv(""), "d/a.csv: expected a line with the names of the columns, found the end of the file");
    assert_eq!(
        csv("\n\r\n"),
        "d/a.csv: expected a line with the names of the columns, found the end of the file"
    );
    let bare = Options { header: Some(false), ..strict() };
    assert_eq!(
        complaint("a.csv", b"\n", &bare),
        "a.csv: expected at least one row, found the end of the file"
    );
}

#[test]
fn text_that_is_not_utf8() {
    let options = Options::default().with_texts(["b"]);
    let expected = "a.csv:3: expected UTF-8 text, found the byte 0xff; say the encoding if it is another";
    assert_eq!(complaint("a.csv", b"a,b\n1,x\n1,\xff\n", &options), expected);
    assert_eq!(complaint("a.csv", b"a,b\n1,x\n\xff,x\n", &options), expected);
    assert_eq!(
        complaint("a.csv", b"a,\xe9\n", &options),
        "a.csv:1: expected UTF-8 text, found the byte 0xe9; say the encoding if it is another"
    );
    let svm = |bytes: &[u8]| complaint("a.svm", bytes, &Options::default());
    assert_eq!(
        svm(b"\n\xff 1:1\n"),
        "a.svm:2: expected UTF-8 text, found the byte 0xff; say the encoding if it is another"
    );
    assert_eq!(
        svm(b"1 1:\xfe\n"),
        "a.svm:1: expected UTF-8 text, found the byte 0xfe; say the encoding if it is another"
    );
}

#[test]
fn sparse_rows() {
    let range = "expected an index from 1 to 4294967295, found";
    assert_eq!(svm("1 1:1\n# c\n\n1 0:1\n"), format!("a.svm:4: {range} \"0\""));
    assert_eq!(svm("1 4294967296:1\n"), format!("a.svm:1: {range} \"4294967296\""));
    assert_eq!(svm("1 -3:1\n"), format!("a.svm:1: {range} \"-3\""));
    assert_eq!(svm("1 :1\n"), format!("a.svm:1: {range} \"\""));
    assert_eq!(svm("1 3:1 2:1\n"), "a.svm:1: expected an index above 3, found 2");
    assert_eq!(svm("1 3:1 3:1\n"), "a.svm:1: expected an index above 3, found 3");
    assert_eq!(svm("1 3:one\n"), "a.svm:1: expected a number at index 3, found \"one\"");
    assert_eq!(svm("1 3:inf\n"), "a.svm:1: expected a number at index 3, found \"inf\"");
    assert_eq!(svm("1 3:\n"), "a.svm:1: expected a number at index 3, found \"\"");
    assert_eq!(svm("1 3\n"), "a.svm:1: expected index:value, found \"3\"");
    assert_eq!(svm("1:2 3:4\n"), "a.svm:1: expected a label before the first index, found \"1:2\"");
    assert_eq!(
        svm("1 qid:7 1:2\n"),
        "a.svm:1: expected index:value, found \"qid:7\": there is no ranking here, remove it"
    );
    let narrow = Options { width: Some(2), ..Options::default() };
    assert_eq!(
        complaint("a.svm", b"1 2:1 3:1 4:1\n", &narrow),
        "a.svm:1: expected an index up to 2, found 3"
    );
}

#[test]
fn names_and_formats() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let refusal = |name: &str| match open(&ENGINE, &at(name), &Options::default()) {
        Ok(_) => String::new(),
        Err(error) => error.to_string().replace(&format!("{}/", folder.path().display()), ""),
    };
    for name in ["plain", "a.csv"] {
        std::fs::write(at(name), "a,b\n1,2\n").unwrap();
    }
    std::fs::create_dir(at("folder.csv")).unwrap();
    std::fs::write(at("data.bin"), b"\0\0\0\x01\0\xff").unwrap();
    let forced = Options { format: Some(Format::Csv), ..Options::default() };
    assert_eq!(refusal("data.bin"), "data.bin: expected a table, found bytes of an unknown format");
    assert_eq!(refusal("plain"), "");
    assert_eq!(open(&ENGINE, &at("plain"), &forced).unwrap().columns().len(), 2);
    assert_eq!(refusal("a.csv"), "");
    assert!(
        matches!(open(&ENGINE, &at("none.csv"), &forced), Err(bochner::Error::Io { path, .. }) if path == at("none.csv"))
    );

    let why = "a source is read more than once; save it to a file first";
    assert_eq!(refusal("folder.csv"), "folder.csv: expected files, found none");
    assert_eq!(refusal("none-*.csv"), "none-*.csv: expected files, found none");
    let given = |name: &str| {
        open(&ENGINE, name.as_ref(), &forced).err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(given("-"), format!("-: expected a regular file, found standard input: {why}"));
    if cfg!(unix) {
        let expected = format!("/dev/null: expected a regular file, found a pipe or a device: {why}");
        assert_eq!(given("/dev/null"), expected);
    }
    assert_eq!("libsvm".parse::<Format>().unwrap(), Format::Libsvm);
    let error = "xls".parse::<Format>().unwrap_err().to_string();
    assert_eq!(error, "expected the format csv, json, libsvm, npy, parquet or arrow, found \"xls\"");
}

/// An array with this dictionary and these numbers.
fn array(version: [u8; 2], dictionary: &str, numbers: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend(version);
    match version[0] {
        1 => bytes.extend((dictionary.len() as u16).to_le_bytes()),
        _ => bytes.extend((dictionary.len() as u32).to_le_bytes()),
    }
    bytes.extend(dictionary.as_bytes());
    bytes.extend(numbers);
    bytes
}

fn npy(dictionary: &str, numbers: &[u8]) -> String {
    complaint("a.npy", &array([1, 0], dictionary, numbers), &Options::default())
}

fn shaped(kind: &str, shape: &str, numbers: &[u8]) -> String {
    npy(&format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"), numbers)
}

#[test]
fn arrays_that_are_none() {
    let no_array = "a.npy: expected an array as numpy.save writes it, found something else";
    for bytes in [&b""[..], b"a,b\n1,2\n", b"\x93NUMP"] {
        assert_eq!(complaint("a.npy", bytes, &Options::default()), no_array);
    }
    let header = |expected: &str, found: &str| {
        format!("a.npy: expected {expected} in the header of the array, found \"{found}\"")
    };
    let cut = header("all of it", "the end of the file");
    let whole = array([1, 0], "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", &[]);
    for length in [6, 7, 8, 9, 10, 30, whole.len() - 1] {
        assert_eq!(complaint("a.npy", &whole[..length], &Options::default()), cut, "{length}");
    }
    assert_eq!(
        complaint("a.npy", b"\x93NUMPY\x04\x00    ", &Options::default()),
        "a.npy: expected version 1, 2 or 3 of the NPY format, found 4.0"
    );
    let mut long = b"\x93NUMPY\x02\x00".to_vec();
    long.extend(u32::MAX.to_le_bytes());
    assert_eq!(complaint("a.npy", &long, &Options::default()), header("at most 65536 bytes", "4294967295"));
    let keys = "the keys descr, fortran_order and shape";
    assert_eq!(npy("{}", &[]), header(keys, "{}"));
    assert_eq!(npy("[1]", &[]), header("a dictionary", "[1]"));
    assert_eq!(npy("{'shape': (1,)}", &[]), header(keys, "{'shape': (1,)}"));
    assert_eq!(npy("{'size': 3}", &[]), header(keys, "size"));
    assert_eq!(npy("{descr: 3}", &[]), header("a key in quotes", "descr: 3}"));
    assert_eq!(npy("{'descr' '<f8'}", &[]), header("a colon after the key", "'<f8'}"));
    assert_eq!(npy("{'descr': 8}", &[]), header("a kind of numbers in quotes", "8}"));
    assert_eq!(npy("{'descr': '<f8", &[]), header("a kind of numbers in quotes", "'<f8"));
    assert_eq!(npy("{'fortran_order': None}", &[]), header("True or False", "None}"));
    let numbers = "a shape of whole numbers";
    assert_eq!(npy("{'shape': 3}", &[]), header(numbers, "3}"));
    assert_eq!(npy("{'shape': (-3, 2)}", &[]), header(numbers, "-3, 2)}"));
    assert_eq!(npy("{'shape': (3.5,)}", &[]), header(numbers, ".5,)}"));
    assert_eq!(npy("{'shape': (99999999999999999999,)}", &[]), header(numbers, "99999999999999999999,)}"));
    assert_eq!(npy("{'shape': (3, 2", &[]), header(numbers, ""));
    assert_eq!(
        npy("{'shape': (3,) 'descr'}", &[]),
        header("a comma or the end of the dictionary", "'descr'}")
    );
}

#[test]
fn arrays_of_other_things() {
    let kinds =
        "a.npy: expected floats of 4 or 8 bytes, integers or booleans, least byte first, found the kind";
    for kind in ["|O", ">f8", ">i4", "<f2", "<c16", "<U7", "|S9", "<M8[ns]"] {
        let text = shaped(kind, "(2, 3)", &[0; 48]);
        assert_eq!(text, format!("{kinds} \"{kind}\"; save array.astype(\"<f8\")"));
    }
    let record = "{'descr': [('a', '<f8'), ('b', '<i4')], 'fortran_order': False, 'shape': (2,), }";
    assert!(npy(record, &[0; 24]).starts_with(&format!("{kinds} \"[('a', '<f8'), ")));
    let shapes = "a.npy: expected rows of 1 to 1048576 columns, found an array of shape";
    for shape in [
        "()",
        "(2, 0)",
        "(1, 2, 3)",
        "(1, 1048577)",
        "(18446744073709551615, 2)",
        "(4611686018427387904, 1048576)",
    ] {
        let text = shaped("<f8", shape, &[0; 48]);
        assert_eq!(text, format!("{shapes} {shape}; save array.reshape(len(array), -1)"));
    }
}

#[test]
fn arrays_of_another_size_than_they_say() {
    let head = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".len() + 10;
    let expected = format!("a.npy: expected {} bytes for 2 rows of 3 columns, found", head + 24);
    assert_eq!(shaped("<f4", "(2, 3)", &[0; 23]), format!("{expected} {}: the file is cut off", head + 23));
    assert_eq!(
        shaped("<f4", "(2, 3)", &[0; 25]),
        format!("{expected} {} or more: save one array a file", head + 25)
    );
    // Of a file, before a row is read or a column named.
    let dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    assert!(from_bytes("a.npy", array([1, 0], dictionary, &[0; 23]), &Options::default()).is_err());
    // Where the size is not known beforehand, the end tells, and nothing was made for what was promised.
    let read = |shape: &str, numbers: usize| {
        let dictionary = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
        let bytes = array([3, 0], &dictionary, &vec![0; numbers]);
        let open = move || Ok(Box::new(io::Cursor::new(bytes.clone())) as Box<dyn Read>);
        let source = open_with("a.npy", open, &Options::default()).unwrap();
        let mut reader = source.open(&ENGINE).unwrap();
        loop {
            match reader.next(100_000) {
                Ok(Some(_)) => {}
                Ok(None) => return String::new(),
                Err(error) => return error.to_string(),
            }
        }
    };
    assert_eq!(read("(2, 3)", 24), "");
    assert!(read("(2, 3)", 23).ends_with(": the file is cut off"));
    assert!(read("(2, 3)", 12).ends_with(": the file is cut off"));
    assert!(read("(2, 3)", 26).ends_with(" or more: save one array a file"));
    assert!(read("(4000000000000, 1048576)", 40).ends_with(": the file is cut off"));
}

#[test]
fn entries_that_are_no_numbers() {
    let values = [1.0f64, f64::NAN, 3.0, f64::NEG_INFINITY];
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }";
    assert_eq!(
        complaint("a.npy", &array([1, 0], dictionary, &bytes), &strict()),
        "a.npy: expected a finite number in row 0, column \"x1\" (counted from 0), found NaN"
    );
    let ignored = strict().with_texts(["x1"]);
    let source = from_bytes("a.npy", array([1, 0], dictionary, &bytes), &ignored).unwrap();
    assert_eq!(source.open(&ENGINE).unwrap().next(9).unwrap().unwrap().rows, 2);
}

#[test]
fn targets_of_another_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let save = |name: &str, rows: usize, columns: usize| {
        let dictionary =
            format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
        std::fs::write(at(name), array([1, 0], &dictionary, &vec![7; rows * columns])).unwrap();
    };
    save("x.npy", 5, 2);
    let complaint = |data: &str, most: usize| {
        let options = Options { targets: Some(at("y.npy")), ..Options::default() };
        let read = || -> bochner::Result<()> {
            let source = open(&ENGINE, &at(data), &options)?;
            let mut reader = source.open(&ENGINE)?;
            while reader.next(most)?.is_some() {}
            Ok(())
        };
        let folder = format!("{}/", folder.path().display());
        read().err().map(|error| error.to_string().replace(&folder, "")).unwrap_or_default()
    };
    save("y.npy", 5, 1);
    assert_eq!(complaint("x.npy", 2), "");
    for (rows, expected) in [(4, "4 for more rows"), (6, "more than 5"), (0, "0 for more rows")] {
        save("y.npy", rows, 1);
        for most in [2, 5, 100] {
            assert_eq!(
                complaint("x.npy", most),
                format!("y.npy: expected a target for each row of x.npy, found {expected}")
            );
        }
    }
    save("y.npy", 5, 3);
    assert_eq!(complaint("x.npy", 9), "y.npy: expected one column of targets, found 3");
    save("y.npy", 1, 1);
    std::fs::write(at("x.svm"), "1 1:2\n").unwrap();
    assert!(
        complaint("x.svm", 9).starts_with("x.svm: expected no column \"target\" where targets come from")
    );
}

#[test]
fn options_that_do_not_fit() {
    let quote = Options { delimiter: Some(b'"'), ..Options::default() };
    assert_eq!(
        complaint("a.csv", b"a\n1", &quote),
        "expected a delimiter other than quotes and line ends, found '\"'"
    );
    let missing = Options::default().with_texts(["colour"]);
    for (name, bytes) in [("a.csv", "color\n1"), ("a.svm", "1 1:1")] {
        let error = from_bytes(name, bytes, &missing).err();
        assert!(matches!(error, Some(bochner::Error::MissingColumn { name, .. }) if name == "colour"));
    }
}

#[test]
fn records_without_an_end() {
    for (name, byte) in [("a.csv", b'1'), ("a.svm", b'1')] {
        let endless = move || Ok(Box::new(io::repeat(byte)) as Box<dyn Read>);
        let error = open_with(name, endless, &Options::default()).err().map(|error| error.to_string());
        let expected = format!("{name}:1: expected a record of at most 67108864 bytes, found a longer one");
        assert_eq!(error, Some(expected));
    }
}

#[test]
fn records_with_too_many_fields() {
    let most = 1 << 20;
    for (fields, end, complains) in [(most, "\n", false), (most + 1, "\n", true), (most + 1, "", true)] {
        let text = ",".repeat(fields - 1) + end;
        let options = Options { infer: false, ..Options::default() };
        let error = from_bytes("a.csv", text, &options).err().map(|error| error.to_string());
        let expected = "a.csv:1: expected a record of at most 1048576 fields, found more";
        assert_eq!(error.as_deref(), complains.then_some(expected), "{fields}");
    }
}

#[test]
fn a_file_that_changes_between_passes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "a,b\n1,2\n").unwrap();
    let source = open(&ENGINE, &path, &Options::default()).unwrap();
    std::fs::write(&path, "a,c\n1,2\n").unwrap();
    let error = source.open(&ENGINE).err().map(|error| error.to_string()).unwrap_or_default();
    let expected = "expected the file to stay as it was, found another: it has changed";
    assert_eq!(error, format!("{}: {expected}", path.display()));
}

#[test]
fn errors_can_be_matched() {
    let source = from_bytes("a.csv", "a\nx", &strict()).unwrap();
    let Err(bochner::Error::Source(error)) = source.open(&ENGINE).unwrap().next(1) else {
        panic!("no error")
    };
    let error = error.downcast_ref::<Error>();
    assert!(matches!(error, Some(Error::WrongCell { line: 2, column: 1, found, .. }) if found == "x"));
}

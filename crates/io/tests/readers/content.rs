//! The content says the format, and what is not read here is refused with a way out.
#![allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use bochner_io::{Options, from_bytes};

fn first_column(name: &str, bytes: &[u8]) -> String {
    match from_bytes(name, bytes, &Options::default()) {
        Ok(source) => source.columns()[0].name.clone(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn names_that_say_nothing() {
    for name in ["a", "a.txt", "a.data", "a.gz", "a.dat", "iris.names"] {
        assert_eq!(first_column(name, b"age,b\n1,2\n"), "age", "{name}");
        assert_eq!(first_column(name, b"\n# rows\n1 2:3.5 7:1\n"), "target", "{name}");
        assert_eq!(first_column(name, b"age b\n1 2\n3 4\n"), "age", "{name}");
        let error = format!("{name}: expected a table, found bytes of an unknown format");
        assert_eq!(first_column(name, b"\x01\0\0\0\x02\0"), error);
    }
    assert_eq!(first_column("a.csv", b"1 2:3.5 7:1\n"), "1 2:3.5 7:1", "the name goes before");
    // Columns may be called as other formats begin.
    for name in ["PARENT_ID", "PAR1", "PARE", "ARROW1", "FEA1", "%PDF"] {
        assert_eq!(first_column("a.csv", format!("{name},PAR1\n1,2\n").as_bytes()), name);
        assert_eq!(first_column("a", format!("{name}\tb\r\n1\t2\r\n").as_bytes()), name);
    }
}

#[test]
fn arrays_are_known_by_their_first_bytes() {
    let dictionary = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 1), }\n";
    let head = [b"\x93NUMPY\x01\0", &(dictionary.len() as u16).to_le_bytes()[..]].concat();
    let array = [&head, dictionary.as_bytes(), &[1, 2]].concat();
    for name in ["a", "a.csv", "a.txt"] {
        assert_eq!(first_column(name, &array), "x0", "{name}");
    }
}

#[test]
fn what_is_not_read_says_how_to_make_a_table_of_it() {
    let mut tar = vec![b'a'; 257];
    tar.extend(b"ustar\0");
    for (bytes, found, advice) in [
        (&b"SQLite format 3\0"[..], "an SQLite database", "sqlite3 -header -csv FILE"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel workbook", "read_excel"),
        (b"\x80\x04\x95", "a Python pickle", "read_pickle"),
        (b"FEA1\0\0", "a file of Feather's first version", "read_feather"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file", "read_hdf"),
        (&tar, "a tar archive", "unpack it first"),
    ] {
        for name in ["a.csv", "a", "a.db"] {
            let error = first_column(name, bytes);
            assert!(error.starts_with(&format!("{name}: expected a table, found {found}; ")), "{error}");
            assert!(error.contains(advice), "{error}");
        }
    }
    for name in ["a.json", "a.jsonl", "a", "a.txt"] {
        assert_eq!(first_column(name, b" {\"a\": 1}\n"), "a");
        assert_eq!(first_column(name, b"[ {\"a\": 1}]\n"), "a");
    }
    assert_eq!(first_column("a.csv", b"{x},b\n1,2\n"), "{x}");
}

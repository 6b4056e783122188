//! What files may look like, and what comes of them.
#![allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::io::Write;

use bochner::table::{Column, ColumnInfo, ColumnKind, Table, TableSource};
use bochner_io::{Options, from_bytes, open};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::ENGINE;

fn tables(source: &dyn TableSource, most: usize) -> Vec<Table> {
    let mut reader = source.open(&ENGINE).unwrap();
    std::iter::from_fn(|| reader.next(most).unwrap()).collect()
}

fn numbers(table: &Table) -> Vec<Vec<f64>> {
    let values = |column: &Column| match column {
        Column::Number(values) => values.clone(),
        other => panic!("expected numbers, found {other:?}"),
    };
    table.columns.iter().map(values).collect()
}

fn texts(column: &Column) -> Vec<&str> {
    match column {
        Column::Text(texts) => texts.iter().collect(),
        other => panic!("expected text, found {other:?}"),
    }
}

fn names(source: &dyn TableSource) -> Vec<&str> {
    source.columns().iter().map(|column| column.name.as_str()).collect()
}

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn the_same_table_in_many_spellings() {
    let expected = vec![vec![1.0, -3.0], vec![2.5, 4e3]];
    for text in [
        "a,b\n1,2.5\n-3,4e3\n",
        "a,b\r\n1,2.5\r\n-3,4e3",
        "a,b\r1,2.5\r-3,4e3\r",
        "\u{feff}a,b\n1,2.5\n-3,4e3\n\n\n",
        "a;b\n1;2.5\n-3;4e3\n",
        "a\tb\n1\t2.5\n-3\t4e3\n",
        "\"a\",\"b\"\n\"1\",\"2.5\"\n\"-3\", 4e3 \n",
        "\n a , b \n 1,2.5\n\n-3,+4000.\n",
    ] {
        let source = from_bytes("a.csv", text, &Options::default()).unwrap();
        assert_eq!(names(&*source), ["a", "b"], "{text:?}");
        assert_eq!(numbers(&tables(&*source, 10)[0]), expected, "{text:?}");
    }
}

#[test]
fn text_keeps_quotes_line_ends_and_spaces() {
    let options = Options::default().with_texts(["note"]);
    let text = "note,x\n\"a \"\"b\"\", c\nd\",1\n été ,2\n,3\n";
    let source = from_bytes("a.csv", text, &options).unwrap();
    assert_eq!(source.columns()[0].kind, ColumnKind::Text);
    assert_eq!(texts(&tables(&*source, 9)[0].columns[0]), ["a \"b\", c\nd", " été ", ""]);
}

#[test]
fn columns_without_names_are_numbered() {
    let options = Options { header: Some(false), ..Options::default() }.with_texts(["c2"]);
    let source = from_bytes("a.tsv", "1\tx\n2\ty\n", &options).unwrap();
    assert_eq!(names(&*source), ["c1", "c2"]);
    assert_eq!(texts(&tables(&*source, 9)[0].columns[1]), ["x", "y"]);
}

#[test]
fn the_delimiter_can_be_said() {
    let options = Options { delimiter: Some(b'|'), ..Options::default() };
    let source = from_bytes("a.csv", "a,b|c\n1|2\n", &options).unwrap();
    assert_eq!(names(&*source), ["a,b", "c"]);
}

#[test]
fn a_header_alone_is_a_table_without_rows() {
    let source = from_bytes("a.csv", "a,b", &Options::default()).unwrap();
    assert_eq!(source.columns().len(), 2);
    assert!(tables(&*source, 5).is_empty());
}

#[test]
fn blocks_are_full_until_the_last() {
    let text: String = "a\n".to_owned() + &(0..10).map(|i| format!("{i}\n")).collect::<String>();
    let source = from_bytes("a.csv", text, &Options::default()).unwrap();
    let shape: Vec<_> = tables(&*source, 4).iter().map(|table| (table.first_row, table.rows)).collect();
    assert_eq!(shape, [(0, 4), (4, 4), (8, 2)]);
    assert_eq!(tables(&*source, 5).len(), 2, "no empty block at the end");
    let mut reader = source.open(&ENGINE).unwrap();
    assert_eq!(reader.next(0).unwrap(), None);
    assert_eq!(reader.next(usize::MAX).unwrap().map(|table| table.rows), Some(10));
    assert_eq!(reader.next(1).unwrap(), None);
    assert_eq!(reader.next(1).unwrap(), None);
}

#[test]
fn wide_tables_and_long_cells_cross_buffers() {
    let names: Vec<String> = (0..30_000).map(|j| format!("column {j}")).collect();
    let cells: Vec<String> = (0..30_000).map(|j| format!("{j:>10}")).collect();
    let text = format!("{}\n{}\n{}\n", names.join(";"), cells.join(";"), cells.join(";"));
    let options = Options::default().with_texts(["column 7"]);
    let source = from_bytes("a.csv", text.replacen("         7", &"x".repeat(200_000), 1), &options).unwrap();
    let table = &tables(&*source, 9)[0];
    assert_eq!((table.rows, table.columns.len()), (2, 30_000));
    assert_eq!(table.columns[29_999], Column::Number(vec![29_999.0; 2]));
    assert_eq!(texts(&table.columns[7])[0].len(), 200_000);
}

#[test]
fn sparse_rows() {
    let text = "\u{feff}# a comment\n+1 1:0.5 3:-2e1 # another\r\n\n-1\t4:0\n  x#\n";
    let source = from_bytes("a.svmlight", text, &Options::default()).unwrap();
    let column = |name: &str, kind| ColumnInfo { name: name.to_owned(), kind };
    let expected = [column("target", ColumnKind::Text), column("features", ColumnKind::Sparse { width: 4 })];
    assert_eq!(source.columns(), expected);
    let table = &tables(&*source, 9)[0];
    assert_eq!(texts(&table.columns[0]), ["+1", "-1", "x"]);
    let rows = bochner::Csr::new(4, vec![0, 2, 2, 2], vec![0, 2], vec![0.5, -20.0]).unwrap();
    assert_eq!(table.columns[1], Column::Sparse(rows));
    let blocks = tables(&*source, 2);
    assert_eq!(
        blocks.iter().map(|block| (block.first_row, block.rows)).collect::<Vec<_>>(),
        [(0, 2), (2, 1)]
    );
}

#[test]
fn a_sparse_file_can_be_cut_to_a_width() {
    let options = Options { width: Some(2), ignore_beyond_width: true, ..Options::default() };
    let source = from_bytes("a.svm", "1 1:1 2:2 3:3\n2 9:9\n", &options).unwrap();
    let rows = bochner::Csr::new(2, vec![0, 2, 2], vec![0, 1], vec![1.0, 2.0]).unwrap();
    assert_eq!(tables(&*source, 9)[0].columns[1], Column::Sparse(rows));
    let wide = Options { width: Some(7), ..Options::default() };
    let source = from_bytes("a.svm", "1 1:1\n", &wide).unwrap();
    assert_eq!(source.columns()[1].kind, ColumnKind::Sparse { width: 7 });
}

#[test]
fn sparse_files_may_be_empty_and_indices_large() {
    let source = from_bytes("a.libsvm", "", &Options::default()).unwrap();
    assert_eq!(source.columns()[1].kind, ColumnKind::Sparse { width: 0 });
    assert!(tables(&*source, 9).is_empty());
    let source = from_bytes("a.libsvm", "1 4294967295:1", &Options::default()).unwrap();
    assert_eq!(source.columns()[1].kind, ColumnKind::Sparse { width: u32::MAX as usize });
    assert_eq!(tables(&*source, 9)[0].rows, 1);
}

#[test]
fn packed_files_are_unpacked_whatever_their_name() {
    let text = "a,b\n1,2\n3,4\n";
    let plain = tables(&*from_bytes("a.csv", text, &Options::default()).unwrap(), 9);
    for name in ["a.csv.gz", "a.csv", "A.CSV.GZ"] {
        let source = from_bytes(name, packed(text), &Options::default()).unwrap();
        assert_eq!(tables(&*source, 9), plain, "{name}");
    }
    let members = [packed("a,b\n1,"), packed("2\n3,4\n")].concat();
    assert_eq!(tables(&*from_bytes("a.csv.gz", members, &Options::default()).unwrap(), 9), plain);
}

#[test]
fn truncated_and_damaged_gzip_is_an_error_that_names_the_file() {
    let text: String = "a,b\n".to_owned() + &(0..500).map(|i| format!("{i},{}\n", i * i)).collect::<String>();
    let whole = packed(&text);
    let read = |bytes: &[u8]| -> bochner::Result<()> {
        let source = from_bytes("a.csv.gz", bytes, &Options::default())?;
        let mut reader = source.open(&ENGINE)?;
        while reader.next(64)?.is_some() {}
        Ok(())
    };
    assert!(read(&whole).is_ok());
    for cut in 0..whole.len() {
        let error = read(&whole[..cut]).expect_err("an error").to_string();
        assert!(error.starts_with("a.csv.gz: expected "), "{cut}: {error}");
    }
    for at in 10..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        let error = read(&damaged).expect_err("an error").to_string();
        assert!(error.starts_with("a.csv.gz:"), "{at}: {error}");
    }
}

#[test]
fn the_fraction_counts_the_bytes_on_the_disk() {
    let text: String =
        "a,b\n".to_owned() + &(0..200_000).map(|i| format!("{i},{}\n", i * 37 % 1009)).collect::<String>();
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [("a.csv", text.clone().into_bytes()), ("a.csv.gz", packed(&text))] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let source = open(&ENGINE, &path, &Options::default()).unwrap();
        let mut reader = source.open(&ENGINE).unwrap();
        let mut fractions = vec![reader.fraction().unwrap()];
        while reader.next(50_000).unwrap().is_some() {
            fractions.push(reader.fraction().unwrap());
        }
        assert!(fractions.is_sorted(), "{fractions:?}");
        assert!(fractions[0] < 0.4 && (0.2..0.5).contains(&fractions[1]), "{fractions:?}");
        assert_eq!(fractions.last(), Some(&1.0));
    }
}

/// What the writer of features writes, and what NumPy does, is read; gzipped too, and as often as asked.
#[test]
fn arrays_are_tables_of_numbers() {
    let array = |dictionary: &str, numbers: &[u8]| {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((dictionary.len() as u16).to_le_bytes());
        [&bytes, dictionary.as_bytes(), numbers].concat()
    };
    let ints: Vec<u8> = [1i16, -2, 300, 4, 5, 6].iter().flat_map(|x| x.to_le_bytes()).collect();
    // NumPy's own header, one of Python 2, and one with other quotes and order.
    for dictionary in [
        "{'descr': '<i2', 'fortran_order': False, 'shape': (3, 2), }                \n",
        "{'shape': (3L, 2L), 'fortran_order': False, 'descr': '<i2'}\n",
        "{ \"descr\" : \"<i2\" ,\"shape\":( 3 , 2 , ),\"fortran_order\":False,}",
    ] {
        let source = from_bytes("a.npy", array(dictionary, &ints), &Options::default()).unwrap();
        assert_eq!(names(&*source), ["x0", "x1"]);
        for _ in 0..2 {
            let found = tables(&*source, 2);
            assert_eq!((found.len(), found[1].first_row), (2, 2));
            assert_eq!(numbers(&found[0]), [[1.0, 300.0], [-2.0, 4.0]]);
            assert_eq!(numbers(&found[1]), [[5.0], [6.0]]);
        }
        assert_eq!(source.open(&ENGINE).unwrap().fraction(), Some(0.0));
    }
    // One dimension is one column, in either order; a column as text keeps all its digits.
    let large = [9_007_199_254_740_993u64, 2];
    let bytes: Vec<u8> = large.iter().flat_map(|x| x.to_le_bytes()).collect();
    for (order, shape) in [("False", "(2,)"), ("True", "(2,)"), ("True", "(2, 1)")] {
        let dictionary = format!("{{'descr': '<u8', 'fortran_order': {order}, 'shape': {shape}, }}");
        let options = Options::default().with_texts(["x0"]);
        let source = from_bytes("a.npy", array(&dictionary, &bytes), &options).unwrap();
        assert_eq!(texts(&tables(&*source, 9)[0].columns[0]), ["9007199254740993", "2"]);
    }
    // Packed, through a file.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy.gz");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let dictionary = "{'descr': '<i2', 'fortran_order': False, 'shape': (6,), }";
    encoder.write_all(&array(dictionary, &ints)).unwrap();
    std::fs::write(&path, encoder.finish().unwrap()).unwrap();
    let source = open(&ENGINE, &path, &Options::default()).unwrap();
    assert_eq!(numbers(&tables(&*source, 9)[0]), [[1.0, -2.0, 300.0, 4.0, 5.0, 6.0]]);
    // No rows are no tables.
    let none = array("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }", &[]);
    assert!(tables(&*from_bytes("a.npy", none, &Options::default()).unwrap(), 9).is_empty());
}

/// Columns one after another are the same rows: from a file, from memory, compressed, and from what cannot be read from anywhere.
#[test]
fn arrays_of_columns_are_the_same_tables() {
    let (rows, columns) = (1000, 3);
    let value = |i: usize, j: usize| (i * columns + j) as f32 / 7.0;
    let array = |order: &str, numbers: Vec<u8>| {
        let dictionary =
            format!("{{'descr': '<f4', 'fortran_order': {order}, 'shape': ({rows}, {columns}), }}\n");
        let head = [b"\x93NUMPY\x01\x00", &(dictionary.len() as u16).to_le_bytes()[..]].concat();
        [&head, dictionary.as_bytes(), &numbers].concat()
    };
    let by_rows = (0..rows).flat_map(|i| (0..columns).flat_map(move |j| value(i, j).to_le_bytes()));
    let by_columns = (0..columns).flat_map(|j| (0..rows).flat_map(move |i| value(i, j).to_le_bytes()));
    let (by_rows, by_columns) = (array("False", by_rows.collect()), array("True", by_columns.collect()));
    let options = Options::default().with_texts(["x1"]);
    let expected = from_bytes("a.npy", by_rows, &options).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.npy"), &by_columns).unwrap();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&by_columns).unwrap();
    let packed = encoder.finish().unwrap();
    let once = by_columns.clone();
    let once = move || Ok(Box::new(std::io::Cursor::new(once.clone())) as Box<dyn std::io::Read>);
    for source in [
        open(&ENGINE, &folder.path().join("a.npy"), &options).unwrap(),
        from_bytes("a.npy", by_columns.clone(), &options).unwrap(),
        from_bytes("a.npy.gz", packed, &options).unwrap(),
        bochner_io::open_with("a.npy", once, &options).unwrap(),
    ] {
        for most in [1, 7, 999, 1000, 5000] {
            assert_eq!(tables(&*source, most), tables(&*expected, most), "{most}");
        }
        assert_eq!(source.open(&ENGINE).unwrap().fraction(), Some(0.0));
    }
    for (cut, expected) in [(by_columns.len() - 1, "the file is cut off"), (40, "header of the array")] {
        let error = from_bytes("a.npy", &by_columns[..cut], &options).err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let options = Options { strict: true, ..Options::default() };
    let mut damaged = by_columns.clone();
    let at = damaged.len() - 4;
    damaged[at..].copy_from_slice(&f32::NAN.to_le_bytes());
    let source = from_bytes("a.npy", damaged, &options).unwrap();
    let mut reader = source.open(&ENGINE).unwrap();
    assert!(reader.next(999).unwrap().is_some());
    let error = reader.next(9).unwrap_err().to_string();
    assert_eq!(
        error,
        "a.npy: expected a finite number in row 999, column \"x2\" (counted from 0), found NaN"
    );
}

#[test]
fn features_that_were_written_are_read() {
    use bochner::encode::Precision;
    use bochner::{AnyRows, Matrix, Rows};
    use bochner_io::{FeatureFormat, FeatureWriter};
    let rows = Matrix::from_fn(5, 3, |i, j| (i * 3 + j) as f32 / 7.0);
    let mut bytes = Vec::new();
    let mut writer = FeatureWriter::new(FeatureFormat::Npy, 3, Precision::Single, None, &mut bytes).unwrap();
    writer.write(AnyRows::F32(Rows::from(&rows)), None, &mut bytes).unwrap();
    let first = writer.first_bytes().unwrap();
    bytes[..first.len()].copy_from_slice(&first);
    let source = from_bytes("a.npy", bytes, &Options::default()).unwrap();
    let found = numbers(&tables(&*source, 9)[0]);
    let expected = |j: usize| (0..5).map(|i| f64::from(rows.row(i)[j])).collect::<Vec<_>>();
    (0..3).for_each(|j| assert_eq!(found[j], expected(j)));
}

#[test]
fn targets_stand_beside_the_rows_of_another_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("x.csv"), "a,b\n1,2\n3,4\n5,6\n").unwrap();
    std::fs::write(at("y.csv"), "kind\n7\n8\n9\n").unwrap();
    let options = Options { targets: Some(at("y.csv")), ..Options::default() };
    let source = open(&ENGINE, &at("x.csv"), &options).unwrap();
    assert_eq!(names(&*source), ["a", "b", "target"]);
    let found = tables(&*source, 2);
    assert_eq!(numbers(&found[0])[2], [7.0, 8.0]);
    assert_eq!((numbers(&found[1]), found[1].first_row), (vec![vec![5.0], vec![6.0], vec![9.0]], 2));
    let source = open(&ENGINE, &at("x.csv"), &options.with_texts(["target", "a"])).unwrap();
    let found = tables(&*source, 9);
    assert_eq!(texts(&found[0].columns[2]), ["7", "8", "9"]);
    assert_eq!(texts(&found[0].columns[0]), ["1", "3", "5"]);
    // What was said of the encoding and of temporary files is about both.
    std::fs::write(at("x.csv"), b"\xe9\n1\n2\n").unwrap();
    std::fs::write(at("y.csv"), b"\xe9\n3\n4\n").unwrap();
    let options = Options {
        targets: Some(at("y.csv")),
        encoding: Some("latin1".parse().unwrap()),
        ..Options::default()
    };
    assert_eq!(
        numbers(&tables(&*open(&ENGINE, &at("x.csv"), &options).unwrap(), 9)[0]),
        [[1.0, 2.0], [3.0, 4.0]]
    );
}

//! JSON: objects are rows, whatever stands between them; what is no table is refused with its line.
#![allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use bochner::table::{Column, ColumnKind};
use bochner_io::{Options, from_bytes};

use crate::ENGINE;

/// Names, and the first block as it is printed.
fn read(text: &str, options: &Options) -> bochner::Result<(Vec<String>, Vec<Column>)> {
    let source = from_bytes("a.jsonl", text, options)?;
    let names = source.columns().iter().map(|column| column.name.clone()).collect();
    let mut reader = source.open(&ENGINE)?;
    Ok((names, reader.next(100)?.map_or_else(Vec::new, |table| table.columns)))
}

fn error(text: &str) -> String {
    read(text, &Options::default()).unwrap_err().to_string()
}

#[test]
fn objects_are_rows_and_keys_are_columns() {
    let lines = r#"{"size": 120, "rooms": 4, "sold": true, "street": "Long \"Lane\" \u00e9", "day": "2024-03-01"}
        {"size": 8.5e1, "street": "A", "sold": false, "rooms": null, "garden": "yes", "day": "2024-03-02"}

        {"street": "A, B", "size": "95"}"#;
    let array = format!("[{}]", lines.replace("}\n", "},\n").replace("},\n\n", "},\n"));
    for text in [lines, &array] {
        let (names, columns) = read(text, &Options::default()).unwrap();
        assert_eq!(names, ["size", "rooms", "sold", "street", "day", "garden"]);
        let Column::Number(sizes) = &columns[0] else { panic!("{:?}", columns[0]) };
        assert_eq!(sizes, &[120.0, 85.0, 95.0]);
        assert!(columns[1].is_missing(1) && columns[1].is_missing(2) && !columns[1].is_missing(0));
        assert_eq!(columns[2], Column::Boolean(vec![Some(true), Some(false), None]));
        let Column::Category(streets) = &columns[3] else { panic!("{:?}", columns[3]) };
        assert_eq!(streets.get(0), Some("Long \"Lane\" é"));
        assert_eq!(streets.get(2), Some("A, B"));
        assert_eq!((columns[4].kind(), columns[4].is_missing(2)), (ColumnKind::Date, true));
        assert_eq!(columns[5].kind(), ColumnKind::Boolean);
    }
}

/// Numbers keep their digits where they are labels.
#[test]
fn texts_are_as_written() {
    let options = Options::default().with_texts(["a"]);
    let (_, columns) = read("{\"a\":1.0}{\"a\":\"01\"}{\"a\":\"\"}{}", &options).unwrap();
    let Column::Text(texts) = &columns[0] else { panic!("{:?}", columns[0]) };
    assert_eq!(texts.cells().collect::<Vec<_>>(), [Some("1.0"), Some("01"), None, None]);
    // Half of a pair is no character, and the cell is not lost for it.
    let (_, columns) = read(r#"{"a":"x\ud83d"}{"a":"\ud83d\ude00"}"#, &options).unwrap();
    let Column::Text(texts) = &columns[0] else { panic!("{:?}", columns[0]) };
    assert_eq!(texts.cells().collect::<Vec<_>>(), [Some("x\\ud83d"), Some("😀")]);
}

#[test]
fn what_is_no_table_is_refused_with_its_line() {
    for (text, expected) in [
        ("[{\"a\":1},\n{\"a\":2},\n", "a.jsonl:3: expected a closing bracket, found the end of the file"),
        ("{\"a\":1}\n{\"a\":\n", "a.jsonl:2: expected a closing brace, found the end of the file"),
        ("{\"a\":1}\n{\"a\" 2}\n", "a.jsonl:2: expected a JSON object, found one that cannot be read: "),
        ("{\"a\":1}\n[2]\n", "a.jsonl:2: expected one JSON object a row, such as "),
        ("[{\"a\":1}]\nx", "a.jsonl:2: expected one JSON object a row, such as "),
        ("{}", "a.jsonl: expected at least one row"),
        ("", "a.jsonl: expected at least one row"),
        ("\n{\"a\":[1,2]}", "a.jsonl:2: expected one value for \"a\", found a list or an object; "),
        ("{\"a\":{\"0\":1}}", "a.jsonl:1: expected one value for \"a\", found a list or an object; "),
    ] {
        let found = error(text);
        assert!(found.starts_with(expected), "{text}: {found}");
    }
    // Unless nobody looks at it.
    let ignored = Options { ignored: vec!["b".to_owned()], ..Options::default() };
    let (names, columns) = read("{\"a\":1,\"b\":[1]}", &ignored).unwrap();
    assert_eq!(names, ["a", "b"]);
    assert!(columns[1].is_missing(0));
    // A cell for each key in each row would be a thousand times the file.
    let all_differ: String = (0..2000).map(|i| format!("{{\"k{i}\":1}}\n")).collect();
    assert_eq!(
        error(&all_differ),
        "a.jsonl: expected objects with mostly the same keys, found 2000 keys where an object has 1 on average"
    );
    // A key that comes later is found, too.
    let (names, _) = read("{\"a\":1}\n{\"b\":2,\"a\":1}\n", &Options::default()).unwrap();
    assert_eq!(names, ["a", "b"]);
}

/// A key twice in an object: the last counts, as elsewhere.
#[test]
fn the_last_of_equal_keys_counts() {
    let (_, columns) = read("{\"a\":1,\"b\":5,\"a\":2}\n{\"b\":6,\"a\":3}\n", &Options::default()).unwrap();
    assert_eq!(columns, [Column::Number(vec![2.0, 3.0]), Column::Number(vec![5.0, 6.0])]);
}

//! Tables and errors of text are the same for any number of threads.
#![allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::fmt::Write;

use bochner::table::Table;
use bochner::{Engine, EngineSpec};
use bochner_io::{Options, open};

/// All tables up to the first error of blocks of `most` rows, the cells that could not be read, and the error, as they are printed.
fn read(engine: &Engine, name: &str, text: &str, options: &Options, most: usize) -> String {
    let (mut tables, mut unreadable): (Vec<Table>, _) = (Vec::new(), Vec::new());
    let mut collect = || -> bochner::Result<()> {
        let folder = tempfile::tempdir().map_err(|_| bochner::Error::NoRows)?;
        let path = folder.path().join(name);
        std::fs::write(&path, text).map_err(|_| bochner::Error::NoRows)?;
        // What the columns are is found by these threads, too.
        let source = open(engine, &path, options)?;
        let mut reader = source.open(engine)?;
        while let Some(table) = reader.next(most)? {
            tables.push(table);
        }
        unreadable = reader.unreadable();
        Ok(())
    };
    let error = collect().err().map(|error| error.to_string());
    let error = error.map(|error| error.rsplit('/').next().unwrap_or_default().to_owned());
    format!("{tables:?} {unreadable:?} {error:?}")
}

/// Rows of all kinds of cells, many times the size of what a thread is given at once.
fn rows(as_json: bool) -> String {
    let mut text = if as_json { String::new() } else { "n,k,b,t,d\n".to_owned() };
    for i in 0..20_000u32 {
        let (k, b, day) = (i * i % 37, i % 3 == 0, i % 28 + 1);
        let t = format!("the words of row {} and\nmore {}", i % 1009, "x".repeat((i % 97) as usize));
        if as_json {
            writeln!(text, "{{\"n\": {}.5, \"k\": \"level {k}\", \"b\": {b}, \"t\": {t:?}, \"d\": \"2024-01-{day:02}\"}}", i * 7)
        } else {
            writeln!(text, "{}.5,level {k},{b},\"{t}\",2024-01-{day:02}", i * 7)
        }
        .unwrap();
    }
    text
}

#[test]
fn tables_are_the_same_for_any_number_of_threads() {
    let engines = [1, 2, 7].map(|threads| EngineSpec { threads, ..EngineSpec::default() }.build());
    for (name, text) in [("a.csv", rows(false)), ("a.jsonl", rows(true))] {
        let broken = text.replacen("69993.5", "\"x\"", 1).replacen("139993.5", "\"y\"", 1);
        let short = text.replacen("69993.5,", "", 1);
        assert!(broken != text && short != text);
        let strict = Options { strict: true, ..Options::default() };
        for (text, options) in [
            (&text, &Options::default()),
            (&broken, &Options::default()),
            (&broken, &strict),
            (&short, &strict),
        ] {
            let one = read(&engines[0], name, text, options, 4096);
            for engine in &engines[1..] {
                assert!(one == read(engine, name, text, options, 4096), "{name}");
            }
        }
    }
}

/// The first fault in the order of the file is the error, whatever stands after it.
#[test]
fn errors_are_those_of_reading_line_by_line() {
    let engine = EngineSpec { threads: 7, ..EngineSpec::default() }.build();
    let strict = Options { strict: true, infer: false, ..Options::default() };
    let rows = |change: &dyn Fn(usize) -> String| -> String {
        "a,b\n".to_owned() + &(0..60_000).map(change).collect::<String>()
    };
    let wrong_then_short = rows(&|i| match i {
        100 => "1,x\n".to_owned(),
        101 => "1\n".to_owned(),
        _ => format!("{i},{i}\n"),
    });
    let error = read(&engine, "a.csv", &wrong_then_short, &strict, 1 << 20);
    assert!(error.contains("a.csv:102:2: expected a number"), "{}", &error[error.len() - 200..]);
    let short_then_wrong = rows(&|i| match i {
        50_000 => "1\n".to_owned(),
        50_001 => "x,\"\n".to_owned(),
        _ => format!("{i},{i}\n"),
    });
    let error = read(&engine, "a.csv", &short_then_wrong, &strict, 1 << 20);
    assert!(error.contains("a.csv:50002: expected 2 fields, found 1"), "{}", &error[error.len() - 200..]);
    // In the column that stands first, not in that which a thread happens to reach first.
    let both = rows(&|i| if i == 30_000 { "x,y\n".to_owned() } else { format!("{i},{i}\n") });
    let error = read(&engine, "a.csv", &both, &strict, 1 << 20);
    assert!(
        error.contains("a.csv:30002:1: expected a number, found \\\"x\\\""),
        "{}",
        &error[error.len() - 200..]
    );
}

/// Blank lines are no records: a round ends with them, and what was handed out is let go.
#[test]
fn blank_lines_are_not_held() {
    let engine = Engine::single_thread();
    let text = format!("a\n1\n{}2\n", "\n".repeat(40 << 20));
    let (found, most) =
        crate::hostile::allocator::peak(|| read(&engine, "a.csv", &text, &Options::default(), 10));
    assert!(found.contains("[1.0, 2.0]"), "{found}");
    assert!(most < 16 << 20, "{most}");
}

/// A row has a field for each of its keys, however few bytes it has.
#[test]
fn empty_objects_are_not_many_at_once() {
    let keys: Vec<String> = (0..1000).map(|i| format!("\"k{i}\":1")).collect();
    let text = format!("{{{}}}\n{}", keys.join(","), "{}\n".repeat(100_000));
    let (_, most) = crate::hostile::allocator::peak(|| {
        let source = bochner_io::from_bytes("a.jsonl", text.clone(), &Options::default());
        assert_eq!(source.map(|source| source.columns().len()).ok(), Some(1000));
    });
    assert!(most < 64 << 20, "{most}");
}

//! Several files are one table: folders, patterns, columns that folders give, and what comes only once.
#![allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::fs;
use std::path::{Path, PathBuf};

use bochner::table::{Column, ColumnKind, Table, TableSource};
use bochner_io::{Files, Once, Options, from_bytes, open};

use crate::ENGINE;
#[cfg(target_os = "linux")]
use crate::hostile::sample;
#[cfg(target_os = "linux")]
use arrow_ipc::writer::DictionaryHandling;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        for (name, content) in files {
            let path = folder.at(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        folder
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn open(&self, name: &str) -> Box<dyn TableSource> {
        open(&ENGINE, &self.at(name), &Options::default()).unwrap()
    }

    /// What is wrong, with names as they are in the folder.
    fn error(&self, name: &str, options: &Options) -> String {
        let read = || -> bochner::Result<()> {
            let source = open(&ENGINE, &self.at(name), options)?;
            let mut reader = source.open(&ENGINE)?;
            while reader.next(3)?.is_some() {}
            Ok(())
        };
        read().unwrap_err().to_string().replace(&format!("{}/", self.0.path().display()), "")
    }
}

fn tables(source: &dyn TableSource, most: usize) -> Vec<Table> {
    let mut reader = source.open(&ENGINE).unwrap();
    std::iter::from_fn(|| reader.next(most).unwrap()).collect()
}

fn whole(source: &dyn TableSource) -> Vec<String> {
    let tables = tables(source, usize::MAX);
    assert_eq!(tables.len(), 1);
    (0..tables[0].rows).map(|i| row(&tables[0], i)).collect()
}

fn row(table: &Table, i: usize) -> String {
    let cell = |column: &Column| match column {
        _ if column.is_missing(i) => "-".to_owned(),
        Column::Number(values) => values[i].to_string(),
        Column::Boolean(values) => format!("{:?}", values[i] == Some(true)),
        Column::Category(levels) => levels.get(i).unwrap().to_owned(),
        Column::Date(values) => bochner::table::date::print(values[i]),
        Column::Text(texts) => texts.get(i).to_owned(),
        Column::Sparse(rows) => format!("{:?}", rows.view().row(i)),
    };
    table.columns.iter().map(cell).collect::<Vec<_>>().join(" ")
}

fn names(source: &dyn TableSource) -> Vec<&str> {
    source.columns().iter().map(|column| column.name.as_str()).collect()
}

#[test]
fn files_of_a_folder_are_one_table_by_name() {
    let folder = Folder::new(&[
        ("d/b.csv", "y,x\n4,3\n"),
        ("d/a.csv", "x,y\n1,2\n"),
        ("d/c/d.tsv", "x\ty\n5\t6\n"),
        ("d/_SUCCESS", ""),
        ("d/.hidden.csv", "q\n"),
        ("d/_old/z.csv", "q\n1\n"),
    ]);
    let source = folder.open("d");
    assert_eq!(names(&*source), ["x", "y"]);
    assert_eq!(whole(&*source), ["1 2", "3 4", "5 6"]);
    for most in 1..5 {
        let blocks = tables(&*source, most);
        let mut rows = 0;
        for (at, block) in blocks.iter().enumerate() {
            assert_eq!((block.first_row, block.rows), (rows, most.min(3 - most * at)), "{most}");
            rows += block.rows as u64;
        }
        assert_eq!(rows, 3);
    }
    let mut reader = source.open(&ENGINE).unwrap();
    assert_eq!(reader.next(0).unwrap(), None);
    let mut fractions = vec![reader.fraction().unwrap()];
    while reader.next(1).unwrap().is_some() {
        fractions.push(reader.fraction().unwrap());
    }
    assert!(fractions.is_sorted() && fractions.last() == Some(&1.0), "{fractions:?}");
}

#[test]
fn patterns_and_lists() {
    let folder = Folder::new(&[
        ("p/2023/a.csv", "x\n1\n"),
        ("p/2024/a.csv", "x\n2\n"),
        ("p/2024/b.csv", "x\n3\n"),
        ("p/2024/deep/c.csv", "x\n4\n"),
        ("p/2024/notes.txt", "nothing\n"),
        ("p/odd[*].csv", "x\n9\n"),
    ]);
    let rows = |pattern: &str| whole(&*folder.open(pattern)).join(" ");
    assert_eq!(rows("p/2024/*.csv"), "2 3");
    assert_eq!(rows("p/*/a.csv"), "1 2");
    assert_eq!(rows("p/202?/?.csv"), "1 2 3");
    assert_eq!(rows("p/**/*.csv"), "9 1 2 3 4");
    assert_eq!(rows("p/2023*"), "1", "a folder that matches is read");
    assert_eq!(rows("p/odd[*].csv"), "9", "a file of that name goes before");
    assert_eq!(rows("p/**/**/**/*.csv"), "9 1 2 3 4", "however often a folder is reached");
    let hidden = Folder::new(&[("d/_a.csv", "x\n1\n"), ("d/.b.csv", "x\n2\n"), ("d/_e/f.csv", "x\n3\n")]);
    for (pattern, expected) in [("d/_*.csv", "1"), ("d/.b*", "2"), ("d/_?/*.csv", "3"), ("d/_e", "3")] {
        assert_eq!(whole(&*hidden.open(pattern)), [expected], "what is asked for is looked at");
    }
    assert!(hidden.error("d/*.csv", &Options::default()).ends_with("expected files, found none"));
    let paths = [folder.at("p/2024/b.csv"), folder.at("p/2023"), folder.at("p/2024/a.csv")];
    let files = Files::find(&paths, Once::Refuse).unwrap();
    assert_eq!(files.paths().count(), 3);
    let twice = Files::find(&[folder.at("p/2023/a.csv"), folder.at("p/2023")], Once::Refuse).unwrap();
    assert_eq!(twice.paths().count(), 1, "a file counts once");
    assert!(files.name().to_string_lossy().ends_with("b.csv and 2 more"));
    let options = Options { files: Some(files), ..Options::default() };
    let source = open(&ENGINE, Path::new("whatever"), &options).unwrap();
    assert_eq!(whole(&*source), ["3", "1", "2"], "in the order in which they are named");
    assert!(Files::find::<&Path>(&[], Once::Refuse).is_err());
}

#[test]
fn kinds_are_found_from_all_files() {
    let numbers: String = (0..30).map(|i| format!("{i},{i}\n")).collect();
    let words: String = (0..30).map(|i| format!("{i},{}\n", ["red", "blue"][i % 2])).collect();
    let folder = Folder::new(&[
        ("d/1.csv", &format!("n,k\n{numbers}")),
        ("d/2.csv", &format!("n,k\n{words}")),
        ("e/1.csv", "x,d\n1,1/2/2024\nna,2/2/2024\n"),
        ("e/2.csv", "x,d\n?,31/1/2024\n4,3/2/2024\n"),
    ]);
    let kinds =
        |source: &dyn TableSource| source.columns().iter().map(|column| column.kind).collect::<Vec<_>>();
    let source = folder.open("d");
    assert_eq!(kinds(&*source), [ColumnKind::Number, ColumnKind::Category]);
    assert_eq!(source.inferred(0).unwrap().missing, 0);
    let source = folder.open("e");
    assert_eq!(kinds(&*source), [ColumnKind::Number, ColumnKind::Date]);
    assert_eq!(whole(&*source)[2], "- 2024-01-31");
    assert_eq!(whole(&*source)[0], "1 2024-02-01", "the day stands first, as the other file has it");
    assert_eq!(source.inferred(0).unwrap().missing, 2);
    // What is said goes before.
    let source = open(&ENGINE, &folder.at("e"), &Options::default().with_texts(["x"])).unwrap();
    assert_eq!(kinds(&*source), [ColumnKind::Text, ColumnKind::Date]);
    let source = open(&ENGINE, &folder.at("e"), &Options { infer: false, ..Options::default() }).unwrap();
    assert_eq!(kinds(&*source), [ColumnKind::Number; 2]);
}

#[test]
fn folders_give_columns() {
    let folder = Folder::new(&[
        ("h/year=2023/city=S%C3%A3o%20Paulo/a.csv", "x\n1\n2\n"),
        ("h/year=2024/city=__HIVE_DEFAULT_PARTITION__/b.csv", "x\n3\n"),
        ("h/year=2024/city=Rome/c.csv", "x\n4\n"),
    ]);
    for pattern in ["h", "h/*/*/*.csv", "h/year=*/city=*/*", "h/**/*.csv", "h/year=*"] {
        let source = folder.open(pattern);
        assert_eq!(names(&*source), ["x", "year", "city"], "{pattern}");
        assert_eq!(source.columns()[1].kind, ColumnKind::Number);
        assert_eq!(source.columns()[2].kind, ColumnKind::Category);
        let expected = ["1 2023 São Paulo", "2 2023 São Paulo", "4 2024 Rome", "3 2024 -"];
        assert_eq!(whole(&*source), expected, "{pattern}");
        assert_eq!(tables(&*source, 3).len(), 2);
    }
    let source = open(&ENGINE, &folder.at("h"), &Options::default().with_texts(["year", "x"])).unwrap();
    assert_eq!(source.columns()[1].kind, ColumnKind::Text);
    assert_eq!(whole(&*source)[0], "1 2023 São Paulo");
    // So that a model that was fitted to all of them predicts for one.
    assert_eq!(whole(&*folder.open("h/year=2024/city=Rome/c.csv")), ["4 2024 Rome"]);
    assert_eq!(whole(&*folder.open("h/year=2024")), ["4 2024 Rome", "3 2024 -"]);
    // What a file has itself counts.
    let own = Folder::new(&[("k=1/a.csv", "x,k\n1,7\n"), ("k=2/a.csv", "x\n2\n"), ("k=3/a.svm", "1 2:3\n")]);
    assert_eq!(whole(&*own.open("k=?/a.csv")), ["1 7", "2 2"]);
    assert_eq!(names(&*own.open("k=3/a.svm")), ["target", "features"]);
    // Twenty different names are still no identifier.
    let files: Vec<String> = (0..25).map(|i| format!("i/city=c{i}/a.csv")).collect();
    let folder = Folder::new(&files.iter().map(|name| (name.as_str(), "x\n1\n")).collect::<Vec<_>>());
    assert!(!folder.open("i").inferred(1).unwrap().is_identifier);
}

#[test]
fn sparse_files_are_as_wide_as_the_widest() {
    let folder = Folder::new(&[("s/a.svm", "1 2:1\n"), ("s/b.svm", "0 7:2\n1 1:1\n")]);
    let source = folder.open("s");
    assert_eq!(source.columns()[1].kind, ColumnKind::Sparse { width: 7 });
    assert_eq!(whole(&*source), ["1 ([1], [1.0])", "0 ([6], [2.0])", "1 ([0], [1.0])"]);
}

#[test]
fn errors_name_both_files_or_the_right_one() {
    let default = Options::default();
    let error = |files: &[(&str, &str)]| Folder::new(files).error("d", &default);
    assert_eq!(
        error(&[("d/a.csv", "x,y\n1,2\n"), ("d/b.csv", "x\n1\n")]),
        "d/b.csv: expected the columns of d/a.csv, found no \"y\""
    );
    assert_eq!(
        error(&[("d/a.csv", "x\n1\n"), ("d/b.csv", "x,z\n1,2\n")]),
        "d/b.csv: expected the columns of d/a.csv, found \"z\", too"
    );
    assert_eq!(
        error(&[("d/a.csv", "x\n1\n"), ("d/k=1/b.csv", "x\n1\n")]),
        "d/k=1/b.csv: expected the columns of d/a.csv, found \"k\", too"
    );
    assert_eq!(
        error(&[("d/a.csv", "x,y\n1,2\n"), ("d/b.csv", "x,y\n1,2\n1,2,3\n")]),
        "d/b.csv:3: expected 2 fields, found 3"
    );
    let folder = Folder::new(&[("d/a.csv", "x\n1\n"), ("d/b.csv", "x\n1\n2\n\nred\n")]);
    let strict = Options { strict: true, infer: false, ..Options::default() };
    assert_eq!(folder.error("d", &strict), "d/b.csv:5:1: expected a number, found \"red\" (column \"x\")");
    let source = open(&ENGINE, &folder.at("d"), &Options { infer: false, ..Options::default() }).unwrap();
    let mut reader = source.open(&ENGINE).unwrap();
    reader.next(3).unwrap();
    assert!(reader.unreadable().is_empty());
    reader.next(3).unwrap();
    let found = reader.unreadable();
    assert_eq!((found.len(), found[0].count, found[0].line, found[0].example.as_str()), (1, 1, 5, "red"));
    let unknown = folder.error("d", &Options::default().with_texts(["q"]));
    assert!(unknown.contains("\"q\""), "{unknown}");
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_or_around() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new(&[("d/a.csv", "x\n1\n"), ("other/b.csv", "x\n2\n")]);
    symlink(folder.at("other"), folder.at("d/out")).unwrap();
    symlink(folder.at("other/b.csv"), folder.at("d/b.csv")).unwrap();
    symlink(folder.at("d"), folder.at("d/again")).unwrap();
    symlink(folder.at("d/a.csv"), folder.at("d/z.csv")).unwrap();
    symlink(folder.at("nothing"), folder.at("d/c.csv")).unwrap();
    assert_eq!(whole(&*folder.open("d")), ["1"]);
    // Nor do those that a pattern stands for: it is all in the last folder before its first star.
    for pattern in ["d/*.csv", "d/*", "d/**/*.csv", "d/*/*.csv"] {
        assert_eq!(whole(&*folder.open(pattern)), ["1"], "{pattern}");
    }
    assert_eq!(whole(&*folder.open("*/b.csv")), ["2"], "which a link into another folder does not leave");
    // A folder may itself be reached by a link.
    symlink(folder.at("other"), folder.at("link")).unwrap();
    assert_eq!(whole(&*folder.open("link")), ["2"]);
}

/// What is known to be read once is not kept, if its format is read in order.
#[cfg(unix)]
#[test]
fn what_is_read_once_is_streamed() {
    let folder = Folder::new(&[("keep/.nothing", "")]);
    let (pipe, keep) = (folder.at("pipe"), folder.at("keep"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let rows = |count: usize| (0..count).map(|i| format!("{i},{}\n", i % 7)).collect::<String>();
    let options = |files| Options { files: Some(files), infer: false, ..Options::default() };
    let piped = |text: &str| {
        let (to, text) = (pipe.clone(), text.to_owned());
        let writer = std::thread::spawn(move || fs::write(to, text));
        (Files::find(&[&pipe], Once::Stream(&keep)).unwrap(), writer)
    };
    // Longer than what is remembered, so that the writer cannot have ended.
    let text = "a,b\n".to_owned() + &rows(600_000);
    let (files, writer) = piped(&text);
    assert!(text.len() > 4 << 20 && !writer.is_finished());
    let source = open(&ENGINE, &pipe, &options(files)).unwrap();
    assert_eq!(source.columns().len(), 2);
    let plain = Options { infer: false, ..Options::default() };
    let expected = from_bytes("a.csv", text, &plain).unwrap();
    assert!(tables(&*source, 1000) == tables(&*expected, 1000));
    writer.join().unwrap().unwrap();
    // A second pass finds the first bytes and no others.
    let mut again = source.open(&ENGINE).unwrap();
    let error = std::iter::from_fn(|| Some(again.next(100_000))).find_map(Result::err).unwrap().to_string();
    assert!(error.contains("it comes once, and was read already"), "{error}");
    // What is short is remembered whole, and JSON, of which all keys are read first, is kept.
    let (files, _) = piped(&("a,b\n".to_owned() + &rows(10)));
    let source = open(&ENGINE, &pipe, &options(files)).unwrap();
    assert_eq!((whole(&*source).len(), whole(&*source).len()), (10, 10));
    let lines: String = (0..100_000).map(|i| format!("{{\"a\":{i},\"b\":{}}}\n", i % 7)).collect();
    let (files, _) = piped(&lines);
    let source = open(&ENGINE, &pipe, &options(files)).unwrap();
    assert_eq!((whole(&*source).len(), whole(&*source).len()), (100_000, 100_000));
    assert_eq!(fs::read_dir(&keep).unwrap().count(), 1, "nothing but what was there");
}

#[cfg(unix)]
#[test]
fn what_comes_once_is_kept_in_a_file_without_a_name() {
    let folder = Folder::new(&[("keep/.nothing", "")]);
    let (pipe, keep) = (folder.at("pipe"), folder.at("keep"));
    let text = "a,b\n".to_owned() + &(0..400_000).map(|i| format!("{i},{}\n", i % 7)).collect::<String>();
    assert!(text.len() > 3 << 20);
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (to, content) = (pipe.clone(), text.clone());
    let writer = std::thread::spawn(move || fs::write(to, content).unwrap());
    let files = Files::find(&[&pipe], Once::Keep(&keep)).unwrap();
    writer.join().unwrap();
    let options = Options { files: Some(files), ..Options::default() };
    let source = open(&ENGINE, &pipe, &options).unwrap();
    let expected = from_bytes("a.csv", text, &Options::default()).unwrap();
    // As often as asked, and two at a time.
    assert!(tables(&*source, 1000) == tables(&*expected, 1000));
    let (mut one, mut other) = (source.open(&ENGINE).unwrap(), source.open(&ENGINE).unwrap());
    for _ in 0..5 {
        assert_eq!(one.next(1000).unwrap(), other.next(1000).unwrap());
    }
    assert_eq!(fs::read_dir(&keep).unwrap().count(), 1, "nothing but what was there");
    let none = Files::find(&[&pipe], Once::Refuse).unwrap_err().to_string();
    assert!(none.contains("found a pipe or a device"), "{none}");
    let text = "x\n1\n";
    let to = pipe.clone();
    let writer = std::thread::spawn(move || fs::write(to, text));
    let error = Files::find(&[&pipe], Once::Keep(&folder.at("missing"))).unwrap_err().to_string();
    assert!(error.contains("missing"), "{error}");
    let _ = writer.join().unwrap();
}

/// Columns of several files that are texts are found together, whatever the format: a file by itself could not know the order of day and month.
#[test]
fn kinds_are_found_from_all_parquet_files() {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, NullArray, RecordBatch, StringArray};

    use crate::hostile::sample;

    let folder = Folder::new(&[("d/.nothing", "")]);
    let write = |name: &str, day: &str, city: ArrayRef| {
        let day: ArrayRef = Arc::new(StringArray::from(vec![day, day]));
        let batch =
            RecordBatch::try_from_iter_with_nullable([("day", day, true), ("city", city, true)]).unwrap();
        fs::write(folder.at(name), sample::parquet(&[batch], Default::default()).unwrap()).unwrap();
    };
    let texts = |cells: [Option<&str>; 2]| -> ArrayRef { Arc::new(StringArray::from(cells.to_vec())) };
    write("d/1.parquet", "1/2/2024", texts([None, None]));
    write("d/2.parquet", "31/1/2024", texts([Some("Rome"), Some("Oslo")]));
    write("d/3.parquet", "5/1/2024", Arc::new(NullArray::new(2)));
    let source = folder.open("d");
    let kinds: Vec<ColumnKind> = source.columns().iter().map(|column| column.kind).collect();
    assert_eq!(kinds, [ColumnKind::Date, ColumnKind::Category]);
    assert!(source.format(0).day_first && source.inferred(1).is_some());
    let days = |j: usize| {
        let tables = tables(&*source, usize::MAX);
        let Column::Date(days) = &tables[0].columns[0] else { panic!("no dates") };
        bochner::table::date::print(days[j])
    };
    assert_eq!([days(0), days(2)].map(|day| day[..10].to_owned()), ["2024-02-01", "2024-01-31"]);
}

/// A column that a folder gives may be ignored, said to be something, or not be looked at; of two folders of one name the inner one counts.
#[test]
fn columns_of_folders_may_be_ignored() {
    let folder = Folder::new(&[("d/k=1/a.csv", "x\n1\n"), ("d/k=2/k=3/b.csv", "x\n2\n")]);
    assert_eq!(whole(&*folder.open("d")), ["1 1", "2 3"]);
    let ignored = Options { ignored: vec!["k".to_owned()], ..Options::default() };
    let source = open(&ENGINE, &folder.at("d"), &ignored).unwrap();
    assert_eq!(names(&*source), ["x", "k"]);
    assert_eq!(tables(&*source, 10)[0].columns[0], Column::Number(vec![1.0, 2.0]));
    let only = open(&ENGINE, &folder.at("d/k=1/a.csv"), &ignored).unwrap();
    assert_eq!(tables(&*only, 10)[0].rows, 1);
    // The order of day and month is that of all folders, and kept.
    let days = Folder::new(&[("d/day=31-01-2024/a.csv", "x\n1\n"), ("d/day=05-02-2024/b.csv", "x\n2\n")]);
    for kinds in [vec![], vec![("day".to_owned(), ColumnKind::Date.into())]] {
        let source = open(&ENGINE, &days.at("d"), &Options { kinds, ..Options::default() }).unwrap();
        assert!(source.columns()[1].kind == ColumnKind::Date && source.format(1).day_first);
        let Column::Date(found) = &tables(&*source, 10)[0].columns[1] else { panic!("no dates") };
        assert_eq!(
            found.iter().map(|day| bochner::table::date::print(*day)[..10].to_owned()).collect::<Vec<_>>(),
            ["2024-02-05", "2024-01-31"]
        );
    }
    let wrong = Options {
        kinds: vec![("day".to_owned(), ColumnKind::Number.into())],
        strict: true,
        ..Options::default()
    };
    assert!(days.error("d", &wrong).contains("expected a number, found \"05-02-2024\""));
    // A column of one file and of another's folder, that nobody looks at.
    let mixed = Folder::new(&[("m/k=1/a.csv", "x,k\n1,seven\n"), ("m/k=2/b.csv", "x\n2\n")]);
    assert_eq!(tables(&*open(&ENGINE, &mixed.at("m"), &ignored).unwrap(), 10)[0].rows, 2);
    let category =
        Options { kinds: vec![("k".to_owned(), ColumnKind::Category.into())], ..Options::default() };
    assert_eq!(open(&ENGINE, &folder.at("d"), &category).unwrap().columns()[1].kind, ColumnKind::Category);
}

/// A kind that is said leaves open how cells are written.
#[test]
fn ways_of_writing_are_found_where_a_kind_is_said() {
    let kinds = [("a", ColumnKind::Number), ("d", ColumnKind::Date), ("k", ColumnKind::Category)];
    let kinds: Vec<_> = kinds.into_iter().map(|(name, kind)| (name.to_owned(), kind.into())).collect();
    let options = Options { kinds, ..Options::default() };
    let text = "a;d;k\n1,5;31/1/2024;1\n1.234,5;2/1/2024;2\nx;y;3\n";
    let lines = "{\"a\":\"1,5\",\"d\":\"31/1/2024\",\"k\":1}\n{\"a\":\"1.234,5\",\"d\":\"2/1/2024\",\"k\":2}\n{\"a\":\"x\",\"d\":\"y\",\"k\":3}\n";
    let folder = Folder::new(&[("m/1.csv", text), ("m/2.csv", text)]);
    for source in [
        from_bytes("a.csv", text, &options).unwrap(),
        from_bytes("a.jsonl", lines, &options).unwrap(),
        open(&ENGINE, &folder.at("m"), &options).unwrap(),
    ] {
        let table = &tables(&*source, 3)[0];
        let Column::Number(numbers) = &table.columns[0] else { panic!("{:?}", table.columns[0]) };
        assert_eq!((numbers[0], numbers[1], numbers[2].is_nan()), (1.5, 1234.5, true));
        let Column::Date(days) = &table.columns[1] else { panic!("{:?}", table.columns[1]) };
        assert_eq!(bochner::table::date::print(days[1])[..10], *"2024-01-02");
        assert!(source.inferred(0).is_none(), "what was said is no finding");
    }
}

/// So that a folder may have more files than a process may have open.
#[cfg(target_os = "linux")]
#[test]
fn sources_keep_no_files_open_and_notice_changes() {
    let rows = sample::every_type(20).unwrap().project(&[3, 28]).unwrap();
    let parts = std::slice::from_ref(&rows);
    let parquet = sample::parquet(parts, sample::ways(10).remove(0).1).unwrap();
    let arrow = sample::arrow(parts, true, None, DictionaryHandling::Resend).unwrap();
    for (name, bytes) in [("a.parquet", parquet), ("a.arrow", arrow)] {
        let folder = Folder::new(&[]);
        fs::write(folder.at(name), &bytes).unwrap();
        // Other tests of this process open files, too.
        let open_files = || {
            let all = fs::read_dir("/proc/self/fd")
                .unwrap()
                .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
            all.filter(|path| path.starts_with(folder.0.path())).count()
        };
        let sources: Vec<_> = (0..20).map(|_| folder.open(name)).collect();
        assert_eq!(open_files(), 0, "{name}");
        let mut reader = sources[0].open(&ENGINE).unwrap();
        assert_eq!(open_files(), 1, "{name}");
        assert_eq!(reader.next(100).unwrap().map(|table| table.rows), Some(20), "{name}");
        fs::write(folder.at(name), [&bytes[..], b"more"].concat()).unwrap();
        let error = sources[1].open(&ENGINE).err().unwrap().to_string();
        assert!(
            error.ends_with("expected the file to stay as it was, found another: it has changed"),
            "{error}"
        );
    }
}

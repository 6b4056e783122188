//! Several files are one table: folders, patterns, columns that folders give, and what comes only once.
#![allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::fs;
use std::path::{Path, PathBuf};

use bochner::table::{Column, ColumnKind, Table, TableSource};
use bochner_io::{Files, Options, from_bytes, open};

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
        open(&self.at(name), &Options::default()).unwrap()
    }

    /// What is wrong, with names as they are in the folder.
    fn error(&self, name: &str, options: &Options) -> String {
        let read = || -> bochner::Result<()> {
            let source = open(&self.at(name), options)?;
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
    let files = Files::find(&paths, None).unwrap();
    assert_eq!(files.paths().count(), 3);
    let twice = Files::find(&[folder.at("p/2023/a.csv"), folder.at("p/2023")], None).unwrap();
    assert_eq!(twice.paths().count(), 1, "a file counts once");
    assert!(files.name().to_string_lossy().ends_with("b.csv and 2 more"));
    let options = Options { files: Some(files), ..Options::default() };
    let source = open(Path::new("whatever"), &options).unwrap();
    assert_eq!(whole(&*source), ["3", "1", "2"], "in the order in which they are named");
    assert!(Files::find::<&Path>(&[], None).is_err());
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
    let source = open(&folder.at("e"), &Options::default().with_texts(["x"])).unwrap();
    assert_eq!(kinds(&*source), [ColumnKind::Text, ColumnKind::Date]);
    let source = open(&folder.at("e"), &Options { infer: false, ..Options::default() }).unwrap();
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
    let source = open(&folder.at("h"), &Options::default().with_texts(["year", "x"])).unwrap();
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
    let source = open(&folder.at("d"), &Options { infer: false, ..Options::default() }).unwrap();
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
    let files = Files::find(&[&pipe], Some(&keep)).unwrap();
    writer.join().unwrap();
    let options = Options { files: Some(files), ..Options::default() };
    let source = open(&pipe, &options).unwrap();
    let expected = from_bytes("a.csv", text, &Options::default()).unwrap();
    // As often as asked, and two at a time.
    assert!(tables(&*source, 1000) == tables(&*expected, 1000));
    let (mut one, mut other) = (source.open(&ENGINE).unwrap(), source.open(&ENGINE).unwrap());
    for _ in 0..5 {
        assert_eq!(one.next(1000).unwrap(), other.next(1000).unwrap());
    }
    assert_eq!(fs::read_dir(&keep).unwrap().count(), 1, "nothing but what was there");
    let none = Files::find(&[&pipe], None).unwrap_err().to_string();
    assert!(none.contains("found a pipe or a device"), "{none}");
    let text = "x\n1\n";
    let to = pipe.clone();
    let writer = std::thread::spawn(move || fs::write(to, text));
    let error = Files::find(&[&pipe], Some(&folder.at("missing"))).unwrap_err().to_string();
    assert!(error.contains("missing"), "{error}");
    let _ = writer.join().unwrap();
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

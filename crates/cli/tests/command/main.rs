//! The command from outside: what is typed, what is printed, how it ends.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed, in its helpers too")]

mod demo;
mod kernel;
mod metric;
mod npy;
mod plan;
mod sequence;
mod strategies;
mod tables;
mod transform;
mod uncertainty;

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use bochner_cli::Messages;
use bochner_testkit::Chance;
use serde_json::Value;
use tempfile::TempDir;

/// What a command did.
#[derive(Debug)]
struct Ran {
    code: i32,
    out: String,
    err: String,
}

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A folder and the commands that run on its files: words with a `@` in front are names of files in it.
struct Bench(TempDir);

impl Bench {
    fn new() -> Self {
        Bench(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    fn run(&self, words: &str) -> Ran {
        let word = |word: &str| match word.strip_prefix('@') {
            Some(name) => self.path(name).into_os_string(),
            None => OsString::from(word),
        };
        let words = std::iter::once(OsString::from("bochner")).chain(words.split_whitespace().map(word));
        let (mut out, err) = (Vec::new(), Kept::default());
        let code = bochner_cli::run(words, &mut out, Messages::new(err.clone(), false));
        let err = String::from_utf8(err.0.lock().unwrap().clone()).unwrap();
        Ran { code, out: String::from_utf8(out).unwrap(), err }
    }

    /// Runs what has to succeed without a word on stderr.
    fn ok(&self, words: &str) -> String {
        let ran = self.run(words);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{words}: {ran:?}");
        ran.out
    }

    fn json(&self, words: &str) -> Value {
        let out = self.ok(words);
        assert_eq!(out.trim_end().lines().count(), 1, "{words}");
        serde_json::from_str(&out).unwrap()
    }

    /// Runs what has to fail, and gives what it said.
    fn fails(&self, code: i32, words: &str) -> String {
        let ran = self.run(words);
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{words}: {ran:?}");
        ran.err
    }

    /// y = sin(3a) + b/2 with a name, an identifier and a little noise.
    fn numbers(&self, name: &str, rows: usize, seed: u64) {
        let mut chance = Chance::new(seed);
        let mut text = "id,a,b,y,note\n".to_owned();
        for i in 0..rows {
            let (a, b) = (2.0 * chance.uniform() - 1.0, chance.normal());
            let y = (3.0 * a).sin() + b / 2.0 + 0.05 * chance.normal();
            text += &format!("{i},{a},{b},{y},\"row {i}, or so\"\n");
        }
        self.file(name, text);
    }

    /// Three classes by distance from the centre.
    fn classes(&self, name: &str, rows: usize, seed: u64) {
        let mut chance = Chance::new(seed);
        let mut text = "u,v,kind\n".to_owned();
        for _ in 0..rows {
            let (u, v) = (chance.normal(), chance.normal());
            let kind = ["near", "far, in fact", "between"][class(u, v)];
            text += &format!("{u},{v},\"{kind}\"\n");
        }
        self.file(name, text);
    }
}

fn class(u: f64, v: f64) -> usize {
    match u * u + v * v {
        r if r < 0.7 => 0,
        r if r > 2.2 => 1,
        _ => 2,
    }
}

const FIT: &str = "--features 128 --seed 3 --metric none";

#[test]
fn numbers_are_learnt_predicted_evaluated_and_inspected() {
    let bench = Bench::new();
    bench.numbers("train.csv", 600, 1);
    bench.numbers("test.csv", 200, 2);
    let out = bench.ok(&format!("fit @train.csv --target y --ignore id --ignore note -o @m.bochner {FIT}"));
    assert!(out.contains("600") && out.contains("chosen, width tuned") && out.contains("measured"), "{out}");
    assert!(
        out.contains("\"y\", a number (numbers with fractions; --task classification to predict classes)"),
        "{out}"
    );
    assert!(out.lines().count() <= 20, "{out}");

    let found = bench.json("evaluate @m.bochner @test.csv --json");
    let (rmse, r2) = (found["rmse"]["value"].as_f64().unwrap(), found["r2"]["value"].as_f64().unwrap());
    assert!(rmse < 0.08 && r2 > 0.98, "{found}");
    assert!(found["rmse"]["interval"][0].as_f64().unwrap() < rmse, "{found}");
    assert!(bench.ok("evaluate @m.bochner @test.csv").contains("95 % interval"));

    // Predictions are those that were evaluated.
    let out = bench.ok("predict @m.bochner @test.csv");
    let predicted: Vec<f64> = out.lines().skip(1).map(|line| line.parse().unwrap()).collect();
    assert!(out.starts_with("y\n") && predicted.len() == 200);
    let text = fs::read_to_string(bench.path("test.csv")).unwrap();
    let truth = text.lines().skip(1).map(|line| line.split(',').nth(3).unwrap().parse::<f64>().unwrap());
    let error = truth.zip(&predicted).map(|(y, p)| (y - p).powi(2)).sum::<f64>() / 200.0;
    assert!((error.sqrt() - rmse).abs() < 1e-9);

    let found = bench.json("inspect @m.bochner --json");
    assert_eq!(found["names"], serde_json::json!(["a", "b"]));
    assert_eq!((found["target"].as_str(), found["task"].as_str()), (Some("y"), Some("regression")));
    assert!(found["training"]["curve"].as_array().unwrap().len() > 5);
    let out = bench.ok("inspect @m.bochner");
    assert!(out.contains("2: a, b, standardised") && out.contains("λ curve"), "{out}");
}

#[test]
fn classes_are_learnt_predicted_evaluated_and_inspected() {
    let bench = Bench::new();
    bench.classes("train.csv", 900, 1);
    bench.classes("test.csv", 300, 2);
    let found = bench.json(&format!("fit @train.csv --target kind -o @m.bochner --json {FIT}"));
    assert_eq!(found["classes"], serde_json::json!(["between", "far, in fact", "near"]));
    assert!(found["cross_validation"]["explained"].as_f64().unwrap() > 0.5, "{found}");
    assert_eq!((found["rows"].as_u64(), found["cross_validation"]["rmse"].as_f64()), (Some(900), None));

    let found = bench.json("evaluate @m.bochner @test.csv --json");
    assert!(found["accuracy"]["value"].as_f64().unwrap() > 0.9, "{found}");
    let out = bench.ok("evaluate @m.bochner @test.csv");
    assert!(out.contains("Wilson") && out.contains("far, in fact") && out.contains("baseline"), "{out}");

    assert_eq!(bench.ok("predict @m.bochner @test.csv --scores -o @out.csv"), "");
    let out = fs::read_to_string(bench.path("out.csv")).unwrap();
    assert!(out.starts_with("kind,score_between,\"score_far, in fact\",score_near\n"), "{out}");
    // What was written can be read: the class is the one with the largest score.
    let table = bench.json("inspect @out.csv --json");
    assert_eq!((table["rows"].as_u64(), table["columns"][0]["distinct"].as_u64()), (Some(300), Some(3)));
    for line in out.lines().skip(1).filter(|line| !line.starts_with('"')) {
        let cells: Vec<&str> = line.split(',').collect();
        let scores: Vec<f64> = cells[1..].iter().map(|cell| cell.parse().unwrap()).collect();
        let largest = scores.iter().copied().fold(f64::MIN, f64::max);
        let score = scores[if cells[0] == "near" { 2 } else { 0 }];
        assert!(score >= largest, "{line}");
    }
    assert!(bench.ok("inspect @m.bochner").contains("3 classes: between, far, in fact, near"));
}

#[test]
fn sparse_files_need_no_target_and_may_be_wider_than_the_model() {
    let bench = Bench::new();
    let file = |rows: usize, seed, last: &str| -> String {
        let mut chance = Chance::new(seed);
        (0..rows)
            .map(|_| {
                let (u, v) = (chance.normal(), chance.normal());
                format!("{} 1:{u} 3:{v}{last}\n", if u * v > 0.0 { "+1" } else { "-1" })
            })
            .collect()
    };
    bench.file("train.libsvm", file(800, 1, ""));
    bench.file("test.svm", file(200, 2, " 9:1"));
    let out = bench.ok(&format!("fit @train.libsvm -o @m.bochner {FIT}"));
    assert!(out.contains("2 classes: -1, +1"), "{out}");
    let found = bench.json("evaluate @m.bochner @test.svm --json");
    assert!(found["accuracy"]["value"].as_f64().unwrap() > 0.9, "{found}");
    let out = bench.ok("predict @m.bochner @test.svm --scores");
    assert!(out.starts_with("target,score_-1,score_+1\n") && out.lines().count() == 201);
    let out = bench.ok("inspect @test.svm");
    assert!(out.contains("200 rows") && out.contains("9 columns inside"), "{out}");
    // As numbers, by the same file.
    bench.ok(&format!("fit @train.libsvm --task regression --width 5 -o @n.bochner {FIT}"));
    assert!(bench.json("evaluate @n.bochner @test.svm --json")["r2"]["value"].as_f64().unwrap() > 0.3);
    assert!(
        bench
            .fails(2, "fit @train.libsvm --target features -o @x.bochner")
            .contains("all there is to learn from")
    );
}

#[test]
fn the_model_does_not_depend_on_threads() {
    let bench = Bench::new();
    bench.numbers("train.csv", 5000, 4);
    let bytes: Vec<Vec<u8>> = [1, 2, 7]
        .iter()
        .map(|threads| {
            let out = bench.ok(&format!(
                "fit @train.csv --target y --ignore note -o @{threads}.bochner --threads {threads} --quiet {FIT}"
            ));
            assert_eq!(out, "");
            fs::read(bench.path(&format!("{threads}.bochner"))).unwrap()
        })
        .collect();
    assert!(bytes.iter().all(|other| *other == bytes[0]));
    let out: Vec<String> =
        [1, 2, 7].iter().map(|n| bench.ok(&format!("predict @1.bochner @train.csv --threads {n}"))).collect();
    assert!(out.iter().all(|other| *other == out[0]));
}

#[test]
fn a_file_that_is_not_kept_in_memory_gives_the_same_model() {
    let bench = Bench::new();
    bench.numbers("train.csv", 20_000, 4);
    let fit = |name: &str, limit: &str| {
        bench.ok(&format!(
            "fit @train.csv --target y --ignore note -o @{name} --features 32 --metric none -q {limit}"
        ));
        fs::read(bench.path(name)).unwrap()
    };
    // 20,000 rows of 3 numbers and a text have 900 KB: more than the fit leaves of the limit.
    assert_eq!(fit("a.bochner", ""), fit("b.bochner", "--max-memory 3500K"));
}

#[test]
fn columns_are_found_by_name() {
    let bench = Bench::new();
    bench.numbers("train.csv", 300, 1);
    bench.ok(&format!("fit @train.csv --target y --ignore id --ignore note -o @m.bochner {FIT}"));
    let expected = bench.ok("predict @m.bochner @train.csv");
    let text = fs::read_to_string(bench.path("train.csv")).unwrap();
    let reordered: String = text
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.splitn(5, ',').collect();
            format!("{},{},words,{}\n", cells[2], if cells[1] == "a" { "extra" } else { "?" }, cells[1])
        })
        .collect();
    bench.file("other.csv", reordered.replacen("words", "w", 1));
    assert_eq!(bench.ok("predict @m.bochner @other.csv"), expected);
    bench.file("missing.csv", reordered.replacen("b,", "bb,", 1));
    let err = bench.fails(3, "predict @m.bochner @missing.csv");
    assert!(
        err.contains("missing.csv: expected a column \"b\"") && err.contains("did you mean \"bb\"?"),
        "{err}"
    );
    let err = bench.fails(3, "fit @train.csv --target yy -o @x.bochner");
    assert!(err.contains("did you mean \"y\"?"), "{err}");
    let err = bench.fails(3, "evaluate @m.bochner @other.csv");
    assert!(err.contains("expected a column \"y\""), "{err}");
}

#[test]
fn a_wrong_cell_is_pointed_at() {
    let bench = Bench::new();
    let file = bench.path("bad.csv").display().to_string();
    bench.file("bad.csv", "x,y\n1,2.5\n2,3.5\noops,4.5\n");
    let err = bench.fails(3, "fit @bad.csv --target y -o @m.bochner --kind x=number --strict");
    let mut lines = err.lines();
    let expected = format!("bochner: error: {file}:4:1: expected a number, found \"oops\" (column \"x\")");
    assert_eq!(lines.next(), Some(expected.as_str()));
    assert!(lines.next().unwrap().contains("without --strict"), "{err}");
    assert!(!bench.path("m.bochner").exists());

    // A target that should be a number, by its place in the file.
    bench.file("bad.csv", "x,y\n1,2.5\n2,high\n");
    let err = bench.fails(3, "fit @bad.csv --target y --task regression -o @m.bochner");
    assert!(err.contains(&format!("{file}:3:2: expected a number, found \"high\" (column \"y\")")), "{err}");
}

#[test]
fn wrong_usage_ends_with_2() {
    let bench = Bench::new();
    bench.numbers("train.csv", 50, 1);
    let fit =
        |rest: &str| bench.fails(2, &format!("fit @train.csv --target y --ignore note -o @m.bochner {rest}"));
    assert!(fit("--kernel gausian").contains("did you mean gaussian?"));
    assert!(fit("--kernel gaussian(sigma=0)").contains("expected sigma to be between"));
    assert!(fit("--kernel gaussian(sigma=-1)").contains("expected sigma to be between"));
    assert!(fit("--features 0").contains("at least 1"));
    assert!(fit("--features 7 --map fourier").contains("even"));
    assert!(fit("--kernel laplace --map orthogonal").contains("not possible"));
    assert!(fit("--lambda -1").contains("above 0"));
    assert!(fit("--folds 1").contains("2..=64"));
    assert!(fit("--lambda 1 --folds 3").contains("cannot be used with"));
    assert!(fit("--max-memory lots").contains("4GiB"));
    assert!(fit("--format xlsx").contains("parquet"));
    assert!(fit("--ignore y").contains("ignored"));
    let err = bench.fails(2, "fit @train.csv -o @m.bochner");
    assert!(err.contains("--target COLUMN") && err.contains("id, a, b, y, note"), "{err}");
    assert!(bench.fails(2, "fit @train.csv --target y -o @train.csv").contains("would replace"));
    bench.fails(2, "nonsense");
    bench.fails(2, "");
    bench.ok("fit @train.csv --target y --ignore note -o @m.bochner --quiet");
    assert!(bench.fails(2, "predict @m.bochner @train.csv --scores").contains("for classes"));
    assert!(bench.fails(2, "predict @m.bochner @train.csv -o @train.csv").contains("would replace"));
}

#[test]
fn too_little_memory_and_disk_end_with_4_before_the_work() {
    let bench = Bench::new();
    bench.numbers("train.csv", 50, 1);
    let err = bench.fails(
        4,
        "fit @train.csv --target y --ignore note -o @m.bochner --features 100000 --solver gram --max-memory 1GiB",
    );
    assert!(
        err.contains("needs") && err.contains("1.0 GiB may be used") && err.contains("100,000 features"),
        "{err}"
    );
    let err = bench.fails(4, "fit @train.csv --target y --ignore note -o @none/m.bochner");
    assert!(err.contains("m.bochner: cannot be written"), "{err}");
    bench.ok("fit @train.csv --target y --ignore note -o @m.bochner --quiet");
    bench.fails(4, "predict @m.bochner @train.csv -o @none/out.csv");
}

/// What was done, and how well, in words, in numbers and in the file.
#[test]
fn a_fit_says_how_it_was_solved() {
    let bench = Bench::new();
    bench.numbers("train.csv", 300, 1);
    let fit = "fit @train.csv --target y --ignore note --ignore id --features 64 --metric none -o @m.bochner";
    let said = bench.ok(&format!("{fit} --solver cg"));
    let expected = ["conjugate gradients led by", "residual", "condition", "one part of 5"];
    assert!(expected.iter().all(|text| said.contains(text)), "{said}");
    assert!(bench.ok("inspect @m.bochner").contains("conjugate gradients led by"), "{said}");
    let found = bench.json(&format!("{fit} --solver cg --json"));
    assert_eq!(found["training"]["stop"], "residual", "{found}");
    assert!(bench.ok(&format!("{fit} --solver auto")).contains("degrees used"));
    assert!(bench.fails(2, &format!("{fit} --solver lu")).contains("auto, gram or cg"));
}

#[test]
fn data_that_cannot_be_used_end_with_3() {
    let bench = Bench::new();
    assert!(
        bench.fails(3, "fit @missing.csv --target y -o @m.bochner").contains("missing.csv: No such file")
    );
    assert!(bench.fails(3, "predict @missing.bochner @x.csv").contains("missing.bochner: No such file"));
    assert!(bench.fails(3, "inspect @missing.csv").contains("No such file"));
    bench.file("one.csv", "x,y\n1,a\n2,a\n");
    assert!(
        bench
            .fails(3, "fit @one.csv --target y -o @m.bochner")
            .contains("one.csv: expected at least two classes, found one: a")
    );
    bench.file("empty.csv", "x,y\n");
    assert!(bench.fails(3, "fit @empty.csv --target y -o @m.bochner").contains("at least one row"));
    bench.file("lonely.csv", "y\n1\n2\n");
    assert!(bench.fails(3, "fit @lonely.csv --target y -o @m.bochner").contains("at least one column"));
    bench.file("odd.xls", "\u{0}binary\u{0}");
    assert!(bench.fails(3, "fit @odd.xls --target y -o @m.bochner").contains("odd.xls: expected"));

    bench.numbers("train.csv", 60, 1);
    bench.ok("fit @train.csv --target y --ignore note -o @m.bochner --quiet");
    let whole = fs::read(bench.path("m.bochner")).unwrap();
    let mut changed = whole.clone();
    let last = changed.len() - 3;
    changed[last] ^= 1;
    for (bytes, said) in [
        (&changed[..], "damaged"),
        (&whole[..whole.len() - 9], "not a usable model file"),
        (b"hm", "8 bytes"),
    ] {
        bench.file("bad.bochner", bytes);
        for words in
            ["predict @bad.bochner @train.csv", "evaluate @bad.bochner @train.csv", "inspect @bad.bochner"]
        {
            let err = bench.fails(3, words);
            assert!(err.contains("bad.bochner: ") && err.contains(said), "{err}");
        }
    }
    assert!(bench.fails(3, "predict @train.csv @train.csv").contains("train.csv: not a usable model file"));
    // Predictions are whole or not there.
    bench.file("torn.csv", "id,a,b\n1,2,3\n1,x,3\n");
    assert!(bench.fails(3, "predict @m.bochner @torn.csv -o @out.csv --strict").contains("torn.csv:3:2:"));
    assert!(!bench.path("out.csv").exists());
    let ran = bench.run("predict @m.bochner @torn.csv -o @out.csv");
    assert!(ran.code == 0 && ran.err.contains("1 cell is not a number (first: line 3, \"x\")"), "{ran:?}");
    assert_eq!(fs::read_to_string(bench.path("out.csv")).unwrap().lines().count(), 3);
}

#[test]
fn warnings_have_a_remedy_and_do_not_fail() {
    let bench = Bench::new();
    bench.file(
        "constant.csv",
        format!("x,y\n{}", (0..40).map(|i| format!("{},1.5\n", i * i)).collect::<String>()),
    );
    let ran = bench.run("fit @constant.csv --target y -o @m.bochner");
    assert!(
        ran.code == 0 && ran.err.contains("bochner: warning: ") && ran.err.contains("constant"),
        "{ran:?}"
    );
    let found: serde_json::Value =
        serde_json::from_str(&bench.run("fit @constant.csv --target y -o @m.bochner --json").out).unwrap();
    assert_eq!(found["warnings"].as_array().unwrap().len(), 1);
    assert_eq!(bench.ok("fit @constant.csv --target y -o @m.bochner --quiet"), "");
    let out = bench.ok("evaluate @m.bochner @constant.csv");
    assert!(out.contains("the target is constant"), "{out}");

    bench.classes("train.csv", 300, 1);
    bench.ok(&format!("fit @train.csv --target kind -o @c.bochner --quiet {FIT}"));
    bench.file("new.csv", "kind,u,v\nnear,0,0\nhuge,9,9\nhuge,9,-9\n");
    let ran = bench.run("evaluate @c.bochner @new.csv --json");
    assert!(
        ran.code == 0
            && ran.err.contains("2 rows have a class that the model does not know, such as \"huge\"")
    );
    let found: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((found["correct"].as_u64(), found["unknown_rows"].as_u64()), (Some(1), Some(2)));
}

#[test]
fn a_data_file_is_described() {
    let bench = Bench::new();
    let rows: String = (0..200)
        .map(|i| format!("{i};7;{};w{};{}\n", i % 5, i % 3, if i == 9 { "?" } else { "1.5" }))
        .collect();
    bench.file("data.csv", format!("row;same;five;word;holes\n{rows}"));
    let out = bench.ok("inspect @data.csv");
    assert!(out.contains("200 rows, 5 columns"), "{out}");
    for note in [
        "\"same\" does not vary: fit leaves it out",
        "\"row\" counts the rows",
        "\"holes\": 1 cell is missing (0.5 %)",
    ] {
        assert!(out.contains(note), "{note}: {out}");
    }
    let found = bench.json("inspect @data.csv --json");
    let five = &found["columns"][2];
    assert_eq!((five["mean"].as_f64(), five["min"].as_f64(), five["max"].as_f64()), (Some(2.0), None, None));
    assert_eq!((five["min"].as_str(), five["max"].as_str()), (Some("0"), Some("4")));
    assert_eq!(five["quartiles"], serde_json::json!([1.0, 2.0, 3.0]));
    assert!((five["standard_deviation"].as_f64().unwrap() - 2f64.sqrt()).abs() < 1e-12);
    assert_eq!(
        found["columns"].as_array().unwrap().iter().map(|c| c["kind"].as_str().unwrap()).collect::<Vec<_>>(),
        ["number", "number", "number", "category", "number"]
    );
    bench.file("plain.csv", "1 2\n3 4\n");
    assert!(bench.ok("inspect @plain.csv --no-header").contains("2 rows, 2 columns"));
}

#[test]
fn files_without_a_header_work_all_the_way() {
    let bench = Bench::new();
    let rows: String = (0..100).map(|i| format!("{}|{}\n", i, f64::from(i) * 0.5 + 0.25)).collect();
    bench.file("data.txt", rows);
    let read = "--format csv --delimiter | --no-header";
    bench.ok(&format!("fit @data.txt --target c2 --kernel linear -o @m.bochner {read} --quiet"));
    let found = bench.json(&format!("evaluate @m.bochner @data.txt {read} --json"));
    assert!(found["r2"]["value"].as_f64().unwrap() > 0.999, "{found}");
}

#[test]
fn every_map_and_option_goes_through() {
    let bench = Bench::new();
    bench.numbers("train.csv", 300, 1);
    for options in [
        "--map fourier",
        "--map orthogonal",
        "--map offset --features 33",
        "--map landmarks --features 40",
        "--kernel laplace",
        "--kernel laplace(scale=3) --map landmarks",
        "--kernel linear",
        "--kernel hat(width=5)",
        "--lambda 1e-4",
        "--folds 3",
        "--solver gram",
        "--solver cg",
        "--solver cg --lambda 1e-3",
        "--precision double",
        "--no-standardise",
    ] {
        let features = if options.contains("features") { "" } else { "--features 64" };
        let words = format!(
            "fit @train.csv --target y --ignore note --ignore id --metric none -o @m.bochner -q --json {features} {options}"
        );
        let found = bench.json(&words);
        assert!(found["certificate"]["bound"].is_object(), "{found}");
        assert_eq!(found["cross_validation"].is_null(), options.contains("lambda"), "{found}");
        bench.json("evaluate @m.bochner @train.csv --json");
    }
}

/// Maps that are made of transforms want more columns: refused with the reason, or told by name.
#[test]
fn maps_of_transforms_go_through() {
    let bench = Bench::new();
    bench.numbers("narrow.csv", 100, 1);
    let head: Vec<String> = (0..40).map(|j| format!("x{j}")).chain(["y".to_owned()]).collect();
    let row = |i: usize| {
        let cells = (0..41).map(|j| (((i * (2 * j + 3) + j) % 97) as f64 / 97.0).to_string());
        cells.collect::<Vec<_>>().join(",")
    };
    let rows: Vec<String> = std::iter::once(head.join(",")).chain((0..200).map(row)).collect();
    bench.file("wide.csv", rows.join("\n"));
    for (map, words) in
        [("turned", "turned orthogonal Fourier pairs"), ("structured", "structured Fourier pairs")]
    {
        let fit = format!("--target y --kernel gaussian(sigma=6) --map {map} --features 200 -q");
        let error = bench.fails(3, &format!("fit @narrow.csv {fit} --ignore note --ignore id -o @n.bochner"));
        assert!(error.contains("padded to fewer than"), "{error}");
        bench.ok(&format!("fit @wide.csv {fit} -o @{map}.bochner"));
        let found = bench.ok(&format!("inspect @{map}.bochner"));
        assert!(found.contains(words), "{found}");
    }
}

#[test]
fn help_and_version_go_to_stdout() {
    let bench = Bench::new();
    assert!(bench.ok("--version").starts_with("bochner "));
    assert!(bench.ok("--help").contains("Examples:"));
    assert!(bench.ok("fit --help").contains("--max-memory"));
    assert!(bench.ok("--help").contains("bochner transform news.libsvm"));
    // Lines are broken to fit the terminal.
    let help = bench.ok("transform --help").split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "-o small.libsvm",
        "--nonzeros",
        "hadamard",
        "taken as they are unless this is said",
        "stderr says how close",
    ] {
        assert!(help.contains(expected), "{expected}: {help}");
    }
}

/// A reader that has seen enough.
struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let bench = Bench::new();
    bench.file("data.csv", "x,y\n1,2\n");
    let err = Kept::default();
    for words in [vec!["--help".into()], vec!["inspect".into(), bench.path("data.csv").into_os_string()]] {
        let words = std::iter::once(OsString::from("bochner")).chain(words);
        assert_eq!(bochner_cli::run(words, &mut Closed, Messages::new(err.clone(), false)), 0);
    }
    assert!(err.0.lock().unwrap().is_empty());
}

#[test]
fn the_binary_is_the_same_command() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_bochner")).arg("--version").output().unwrap();
    assert!(output.status.success() && output.stdout.starts_with(b"bochner "));
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_bochner"))
        .args(["inspect", "no.csv"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(output.stderr, b"bochner: error: no.csv: No such file or directory (os error 2)\n");
}

/// Ctrl-C ends a fit in order within two seconds (one is promised; the other is for a busy machine): exit code 5, a word, no file.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_the_work_in_order() {
    let bench = Bench::new();
    let mut chance = Chance::new(1);
    let mut row = || format!("{},{},{}\n", chance.uniform(), chance.uniform(), chance.uniform());
    let rows: String = (0..12_000).map(|_| row()).collect();
    bench.file("data.csv", format!("a,b,y\n{rows}"));
    for (phase, words, delay) in [
        ("bandwidth", "--kernel laplace --features 4096", 0.3),
        ("solve", "--kernel gaussian(sigma=1) --features 6144 --lambda 1e-3", 3.0),
        ("cross-validation", "--kernel gaussian(sigma=1) --features 4096", 5.0),
    ] {
        // On a faster machine the phase comes sooner.
        let stopped = [1.0, 0.3, 0.1, 0.03].into_iter().any(|part| {
            // Where the tests run in the background the signal is ignored, and the command leaves that so.
            let mut process = std::process::Command::new("env")
                .args(["--default-signal=INT", env!("CARGO_BIN_EXE_bochner")])
                .args(["fit", "--target", "y", "-o"])
                .arg(bench.path("m.bochner"))
                .arg(bench.path("data.csv"))
                .args(words.split(' '))
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(std::time::Duration::from_secs_f64(part * delay));
            let kill = std::process::Command::new("kill").args(["-INT", &process.id().to_string()]).status();
            assert!(kill.unwrap().success());
            let sent = std::time::Instant::now();
            let code = process.wait().unwrap().code();
            let heard = sent.elapsed();
            if code == Some(0) {
                fs::remove_file(bench.path("m.bochner")).unwrap();
                return false;
            }
            assert_eq!(code, Some(5), "{phase}");
            assert!(heard.as_secs_f64() < 2.0, "{phase}: heard after {heard:?}");
            let left: Vec<_> =
                fs::read_dir(bench.0.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
            assert_eq!(left, ["data.csv"], "{phase}");
            true
        });
        assert!(stopped, "{phase} was over before it could be stopped");
    }
}

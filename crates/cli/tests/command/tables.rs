//! Tables as people have them: categories, missing cells, dates, texts; in files of every kind.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use super::*;

/// A fit that searches nothing.
const QUICK: &str = "--kernel gaussian(sigma=3) --features 64 --lambda 1e-4 --metric none";

/// Rows of a shop: y depends on every column but the last two.
fn shop(rows: usize, seed: u64) -> Vec<[String; 7]> {
    let mut chance = Chance::new(seed);
    (0..rows)
        .map(|i| {
            let (x, open) = (chance.normal(), chance.uniform() < 0.5);
            let city = ["Zürich", "Oslo", "Bern", "Rome"][(4.0 * chance.uniform()) as usize % 4];
            let month = 1 + (12.0 * chance.uniform()) as usize % 12;
            let y = x + 2.0 * f64::from(u8::from(open)) + city.len() as f64 / 2.0 + month as f64 / 6.0;
            let y = y + 0.05 * chance.normal();
            let is_missing = chance.uniform() < 0.05;
            let note = ["so much to say here", "nothing to add at all", "please call us back soon"][i % 3];
            [
                if is_missing { String::new() } else { format!("{x:.3}") },
                if open { "yes" } else { "no" }.to_owned(),
                if is_missing { "NA" } else { city }.to_owned(),
                format!("2024-{month:02}-{:02}", 1 + i % 28),
                format!("{y:.3}"),
                format!("order-{i}"),
                note.to_owned(),
            ]
        })
        .collect()
}

const NAMES: [&str; 7] = ["x", "open", "city", "day", "y", "order", "note"];

fn csv(rows: &[[String; 7]], delimiter: &str) -> String {
    let mut text = NAMES.join(delimiter) + "\n";
    rows.iter().for_each(|row| writeln!(text, "{}", row.join(delimiter)).unwrap());
    text
}

/// Fits and gives R² on other rows.
fn r2(bench: &Bench, data: &str, rest: &str) -> f64 {
    let ran = bench.run(&format!("fit {data} --target y -o @m.bochner {QUICK} {rest}"));
    assert_eq!(ran.code, 0, "{ran:?}");
    bench.json("evaluate @m.bochner @test.csv --json")["r2"]["value"].as_f64().unwrap()
}

fn new() -> Bench {
    let bench = Bench::new();
    bench.file("train.csv", csv(&shop(400, 1), ","));
    bench.file("test.csv", csv(&shop(200, 2), ","));
    bench
}

#[test]
fn a_table_is_learned_from_as_it_is() {
    let bench = new();
    let ran = bench.run(&format!("fit @train.csv --target y -o @m.bochner {QUICK}"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("column order looks like an identifier and is left out"), "{}", ran.err);
    let score = bench.json("evaluate @m.bochner @test.csv --json")["r2"]["value"].as_f64().unwrap();
    assert!(score > 0.8, "{score}");
    // Every column matters: without one the error is larger.
    for column in ["x", "open", "city", "day"] {
        let without = r2(&bench, "@train.csv", &format!("--ignore {column}"));
        assert!(without < score - 0.02, "{column}: {without} {score}");
    }
}

#[test]
fn delimiters_decimals_and_encodings_are_found() {
    let bench = new();
    let rows = shop(400, 1);
    let expected = {
        r2(&bench, "@train.csv", "--quiet");
        fs::read(bench.path("m.bochner")).unwrap()
    };
    let german: Vec<[String; 7]> =
        rows.iter().map(|row| row.clone().map(|cell| cell.replace('.', ","))).collect();
    let utf16: Vec<u8> = csv(&rows, ",").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let latin: Vec<u8> = csv(&rows, ";").chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    bench.file("semicolon.csv", csv(&german, ";"));
    bench.file("tab.tsv", csv(&rows, "\t"));
    bench.file("bar.txt", csv(&rows, "|"));
    bench.file("bom.csv", [&b"\xef\xbb\xbf"[..], csv(&rows, ",").as_bytes()].concat());
    bench.file("utf16.csv", [&[0xff, 0xfe], utf16.as_slice()].concat());
    bench.file("latin.csv", latin);
    bench.file("comments.csv", format!("# a shop\n# of 2024\n{}", csv(&rows, ",")));
    bench.file("crlf.csv", csv(&rows, ",").replace('\n', "\r\n"));
    for (data, rest) in [
        ("@tab.tsv", ""),
        ("@bar.txt", ""),
        ("@bom.csv", ""),
        ("@utf16.csv", ""),
        ("@latin.csv", "--encoding latin1"),
        ("@comments.csv", ""),
        ("@crlf.csv", ""),
    ] {
        r2(&bench, data, &format!("--quiet {rest}"));
        // The same table makes the same model.
        assert!(fs::read(bench.path("m.bochner")).unwrap() == expected, "{data}");
    }
    // How numbers were written is kept in the model: of new rows in the same way.
    let ran = bench.run(&format!("fit @semicolon.csv --target y -o @m.bochner {QUICK} --quiet"));
    assert_eq!(ran.code, 0, "{ran:?}");
    let score = bench.json("evaluate @m.bochner @semicolon.csv --json")["r2"]["value"].as_f64().unwrap();
    assert!(score > 0.8, "{score}");
    let error = bench.fails(3, &format!("fit @latin.csv --target y -o @m.bochner {QUICK}"));
    assert!(error.contains("UTF-8") && error.contains("--encoding latin1"), "{error}");
    assert!(bench.fails(2, "fit @latin.csv --target y --encoding nonsense").contains("latin1"));
}

#[test]
fn missing_cells_and_signs_are_read_as_people_write_them() {
    let bench = Bench::new();
    let mut chance = Chance::new(5);
    let missing = ["", "NA", "NaN", "nan", "null", "?", "-", "N/A", "None"];
    let mut text = "a,share,price,amount,empty,flag,y\n".to_owned();
    for i in 0..300 {
        let (a, share, price) = (chance.normal(), chance.uniform(), 100.0 * chance.uniform());
        let amount = (1e6 * chance.uniform()).round();
        let (flag, y) = (chance.uniform() < 0.5, a + 4.0 * share + price / 50.0 + amount / 5e5);
        let a = if i % 10 == 0 { missing[i / 10 % 9].to_owned() } else { format!("{a:.3}") };
        let thousands = text::grouped(amount as u64);
        let y = y + f64::from(u8::from(flag));
        let flag = if flag { "True" } else { "False" };
        writeln!(text, "{a},{:.1}%,${price:.2},\"{thousands}\",,{flag},{y:.3}", 100.0 * share).unwrap();
    }
    bench.file("t.csv", &text);
    let found = bench.json("summary @t.csv --json");
    let kinds: Vec<&str> =
        found["columns"].as_array().unwrap().iter().map(|c| c["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["number", "number", "number", "number", "number", "boolean", "number"]);
    assert_eq!(found["columns"][0]["missing"], 30);
    assert_eq!(found["columns"][4]["role"], "ignored");
    let ran = bench.run("fit @t.csv --target y -o @m.bochner --kernel gaussian --features 64 --metric none");
    assert_eq!(
        (ran.code, ran.err.contains("column empty does not vary and is left out")),
        (0, true),
        "{ran:?}"
    );
    let score = bench.json("evaluate @m.bochner @t.csv --json")["r2"]["value"].as_f64().unwrap();
    assert!(score > 0.8, "{score}");
    // New rows with cells that cannot be read, missing ones, and without the columns that were left out.
    bench.file("new.csv", "flag,amount,price,share,a\nmaybe,x,$5,50%,\nTrue,\"1,000\",,,1.5\n");
    let ran = bench.run("predict @m.bochner @new.csv");
    assert_eq!((ran.code, ran.out.lines().count()), (0, 3), "{ran:?}");
    assert!(
        ran.err.contains("column \"amount\": 1 cell is not a number (first: line 2, \"x\")"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("column \"flag\": 1 cell is not true or false"), "{}", ran.err);
    let strict = bench.run("predict @m.bochner @new.csv --strict");
    assert_eq!(strict.code, 3, "{strict:?}");
    assert!(strict.err.contains("new.csv:2:1: expected true or false"), "{}", strict.err);
    assert!(strict.err.contains("hint: without --strict"), "{}", strict.err);
}

/// Digits with commas, as they are typed by hand.
mod text {
    pub(super) fn grouped(value: u64) -> String {
        let digits = value.to_string();
        let ends = (1..=digits.len()).map(|end| &digits[end - 1..end]);
        ends.enumerate().fold(String::new(), |mut text, (i, digit)| {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                text.push(',');
            }
            text + digit
        })
    }
}

#[test]
fn labels_come_back_as_they_were_written() {
    let bench = Bench::new();
    for labels in [["01234", "99999"], ["True", "False"], ["1.0", "2.0"], ["1", "2"], ["-", "none"]] {
        let mut text = "x,kind\n".to_owned();
        (0..60).for_each(|i| writeln!(text, "{},{}", i % 2 * 10 + i % 5, labels[i % 2]).unwrap());
        bench.file("t.csv", &text);
        let ran = bench.run(&format!("fit @t.csv --target kind --task classification -o @m.bochner {QUICK}"));
        assert_eq!(ran.code, 0, "{ran:?}");
        let out = bench.ok("predict @m.bochner @t.csv");
        let found: Vec<&str> = out.lines().skip(1).collect();
        let expected: Vec<&str> = (0..60).map(|i| labels[i % 2]).collect();
        assert_eq!(found, expected);
    }
    // Rows without a label are left out; two spellings of one class are one.
    let mut text = "x,kind\n".to_owned();
    for i in 0..60 {
        let label = match i {
            7 | 8 => "",
            9 => "1.0",
            _ => ["1", "2"][i % 2],
        };
        writeln!(text, "{},{label}", i % 2 * 10 + i % 5).unwrap();
    }
    bench.file("t.csv", &text);
    let ran = bench.run(&format!("fit @t.csv --target kind --task classification -o @m.bochner {QUICK}"));
    assert!(ran.err.contains("2 rows have no \"kind\" and are left out"), "{}", ran.err);
    assert!(ran.err.contains("classes are written in several ways"), "{}", ran.err);
}

#[test]
fn several_files_are_one_table() {
    let bench = new();
    r2(&bench, "@train.csv", "--quiet");
    let expected = fs::read(bench.path("m.bochner")).unwrap();
    let rows = shop(400, 1);
    fs::create_dir_all(bench.path("parts")).unwrap();
    for (part, rows) in rows.chunks(150).enumerate() {
        bench.file(&format!("parts/{part}.csv"), csv(rows, ","));
    }
    bench.file("parts/_ignored.csv", "not,the,same\n1,2,3\n");
    for data in ["@parts", "@parts/*.csv", "@parts/0.csv @parts/1.csv @parts/2.csv"] {
        r2(&bench, data, "--quiet");
        assert!(fs::read(bench.path("m.bochner")).unwrap() == expected, "{data}");
    }
    // Folders give columns.
    for year in [2023, 2024] {
        fs::create_dir_all(bench.path(&format!("sales/year={year}"))).unwrap();
        let mut text = "x,y\n".to_owned();
        (0..50).for_each(|i| writeln!(text, "{i},{}", i + 100 * (year - 2023)).unwrap());
        bench.file(&format!("sales/year={year}/a.csv"), text);
    }
    let found = bench.json("summary @sales --json");
    assert_eq!((found["rows"].as_u64(), found["columns"][2]["name"].as_str()), (Some(100), Some("year")));
    let ran = bench.run("fit @sales --target y --kernel linear -o @m.bochner");
    assert_eq!(ran.code, 0, "{ran:?}");
    let score = bench.json("evaluate @m.bochner @sales --json")["r2"]["value"].as_f64().unwrap();
    assert!(score > 0.999, "{score}");
    assert!(bench.fails(3, "summary @parts/*.txt").contains("expected"));
}

/// Runs the program with some bytes on its standard input.
fn piped(bench: &Bench, words: &[&str], input: &str) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_bochner"))
        .args(words)
        .current_dir(bench.0.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let ran = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (ran.status.code().unwrap(), text(ran.stdout), text(ran.stderr))
}

#[test]
fn standard_input_is_a_file_too() {
    let bench = new();
    r2(&bench, "@train.csv", "--quiet");
    let expected = fs::read(bench.path("m.bochner")).unwrap();
    let predicted = bench.ok("predict @m.bochner @test.csv");
    let [train, test] = ["train.csv", "test.csv"].map(|name| fs::read_to_string(bench.path(name)).unwrap());
    let folder = bench.path("spool");
    fs::create_dir(&folder).unwrap();
    let mut fit = vec!["fit", "-", "--target", "y", "-o", "piped.bochner", "--quiet"];
    fit.extend(QUICK.split(' '));
    fit.extend(["--tmp-dir", folder.to_str().unwrap()]);
    assert_eq!(piped(&bench, &fit, &train).0, 0);
    assert!(fs::read(bench.path("piped.bochner")).unwrap() == expected);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "nothing is left behind");
    let (code, out, err) = piped(&bench, &["predict", "m.bochner", "-"], &test);
    assert_eq!((code, out, err.as_str()), (0, predicted, ""));
    let (code, out, _) = piped(&bench, &["summary", "-"], &test);
    assert!(code == 0 && out.contains("standard input: 200 rows, 7 columns"), "{out}");
}

#[test]
fn a_schema_is_written_edited_and_read() {
    let bench = new();
    bench.ok("summary @train.csv --target y -o @schema.toml");
    let text = fs::read_to_string(bench.path("schema.toml")).unwrap();
    assert!(text.contains("name = \"city\"\nkind = \"category\"\nrole = \"input\""), "{text}");
    assert!(text.contains("name = \"y\"\nkind = \"number\"\nrole = \"target\""), "{text}");
    assert!(text.contains("name = \"order\"\nkind = \"category\"\nrole = \"ignored\""), "{text}");
    let edited = text
        .replace(
            "name = \"order\"\nkind = \"category\"\nrole = \"ignored\"",
            "name = \"order\"\nrole = \"id\"",
        )
        .replace(
            "name = \"city\"\nkind = \"category\"\nrole = \"input\"",
            "name = \"city\"\nrole = \"ignored\"",
        );
    bench.file("schema.toml", edited);
    let ran = bench.run(&format!("fit @train.csv --schema @schema.toml -o @m.bochner {QUICK}"));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    let names = bench.json("inspect @m.bochner --json")["names"].to_string();
    assert!(names.contains("open") && !names.contains("city") && !names.contains("order"), "{names}");
    // The id is copied to the predictions, where the data have it.
    let out = bench.ok("predict @m.bochner @test.csv");
    assert!(out.starts_with("order,y\norder-0,"), "{out}");
    bench.file("few.csv", "x,open,day,note\n1,yes,2024-05-01,nothing to add at all\n");
    assert!(bench.ok("predict @m.bochner @few.csv").starts_with("y\n"));
    let out = bench.ok("predict @m.bochner @test.csv --id city --id x");
    assert!(out.starts_with("city,x,y\n"), "{out}");
    assert!(bench.fails(3, "predict @m.bochner @few.csv --id order").contains("expected a column \"order\""));
    bench.file("wrong.toml", "[[columns]]\nname = \"x\"\nkind = \"float\"\n");
    let err = bench.fails(2, "fit @train.csv --schema @wrong.toml --target y");
    assert!(err.contains("column \"x\": expected number, boolean, category, date or text"), "{err}");
    bench.file("wrong.toml", "[[columns]]\nname = \"z\"\nrole = \"ignored\"\n");
    assert!(bench.fails(3, "fit @train.csv --schema @wrong.toml --target y").contains("\"z\""));
}

#[test]
fn what_is_unusual_is_said() {
    let bench = Bench::new();
    let mut chance = Chance::new(3);
    let mut text = "row,good,copy,leak,wild,y\n".to_owned();
    for i in 0..300 {
        let (good, y) = (chance.normal(), chance.normal());
        let wild = if i == 17 { 1e12 } else { chance.normal() };
        writeln!(text, "{i},{good},{good},{},{wild},{y}", 3.0 * y - 1.0).unwrap();
    }
    bench.file("t.csv", &text);
    let ran = bench.run(&format!("fit @t.csv --target y -o @m.bochner {QUICK}"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("column \"row\" counts the rows: --ignore row"), "{}", ran.err);
    assert!(
        ran.err.contains("column \"leak\" alone predicts") && !ran.err.contains("\"good\" alone"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("column wild has numbers far beyond all others"), "{}", ran.err);
    let robust = bench.run(&format!("fit @t.csv --target y -o @m.bochner {QUICK} --scaling robust"));
    assert!(robust.code == 0 && !robust.err.contains("wild"), "{robust:?}");
    let found = bench.json("summary @t.csv --target y --json");
    let notes = found["notes"].to_string();
    for note in ["\\\"copy\\\" holds the same as \\\"good\\\"", "leak", "column wild has", "counts the rows"]
    {
        assert!(notes.contains(note), "{note}: {notes}");
    }
    // Without a target nothing is said of one.
    assert!(!bench.json("summary @t.csv --json")["notes"].to_string().contains("alone"));
    // As many classes as rows.
    let mut text = "x,kind\n".to_owned();
    (0..300).for_each(|i| writeln!(text, "{i},c{}", i / 2 * 2 + i % 3).unwrap());
    bench.file("many.csv", &text);
    let ran = bench.run(&format!("fit @many.csv --target kind -o @m.bochner {QUICK}"));
    assert!(ran.err.contains("is it the right column?"), "{}", ran.err);
}

#[test]
fn a_summary_is_a_page_too() {
    let bench = new();
    bench.ok("summary @train.csv --target y --report @page.html");
    let page = fs::read_to_string(bench.path("page.html")).unwrap();
    for part in ["<html", "Missing cells", "order", "category", "Z\u{fc}rich"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(bench.fails(2, "summary @train.csv -o @train.csv").contains("would replace"));
}

#[test]
fn rows_of_a_group_share_a_fold() {
    let bench = Bench::new();
    let mut chance = Chance::new(9);
    // Each patient has a level of its own, which x tells, so that folds across a patient's rows look good for nothing.
    let mut text = "patient,x,z,y\n".to_owned();
    for patient in 0..40 {
        let (x, level) = (chance.normal(), chance.normal());
        for _ in 0..8 {
            let z = chance.normal();
            writeln!(text, "p{patient},{},{z},{}", x + 1e-3 * chance.normal(), level + 0.1 * z).unwrap();
        }
    }
    bench.file("t.csv", &text);
    let error = |rest: &str| {
        let words = format!(
            "fit @t.csv --target y -o @m.bochner --kernel gaussian(sigma=0.05)[x] --map landmarks --features 160 --json {rest}"
        );
        let ran = bench.run(&words);
        assert_eq!(ran.code, 0, "{ran:?}");
        let found: Value = serde_json::from_str(&ran.out).unwrap();
        found["cross_validation"]["explained"].as_f64().unwrap()
    };
    let (mixed, grouped) = (error("--ignore patient"), error("--group patient"));
    assert!(mixed > 0.5 && grouped < 0.3, "{mixed} {grouped}");
}

/// Rows "x,z,w,y": y = 2x + z, whole numbers in x.
fn plane(rows: usize) -> Vec<[String; 4]> {
    let mut chance = Chance::new(11);
    (0..rows)
        .map(|i| {
            let (x, z) = ((i * 7 % 50) as f64, chance.normal());
            [x, z, 1.0 + (i % 3) as f64, 2.0 * x + z].map(|value| value.to_string())
        })
        .collect()
}

fn plane_csv(rows: &[[String; 4]]) -> String {
    let lines = rows.iter().map(|row| row.join(",") + "\n");
    std::iter::once("x,z,w,y\n".to_owned()).chain(lines).collect()
}

#[test]
fn cells_that_cannot_be_read_are_counted_once() {
    let bench = Bench::new();
    let mut rows = plane(200);
    rows.iter_mut().step_by(3).for_each(|row| row[0] = "oops".to_owned());
    rows.iter_mut().step_by(50).for_each(|row| row[1] = "none at all".to_owned());
    bench.file("t.csv", plane_csv(&rows));
    bench.file("schema.toml", "[[columns]]\nname = \"x\"\nkind = \"number\"\n");
    // What was said, and what was found, to be numbers.
    let expected = [
        "column \"x\": 67 cells are not a number (first: line 2, \"oops\"); taken as missing",
        "column \"z\": 4 cells are not a number (first: line 2, \"none at all\"); taken as missing",
    ];
    for words in [
        "fit @t.csv --target y --ignore w --kind x=number --kernel linear -o @m.bochner",
        "fit @t.csv --target y --ignore w --schema @schema.toml --kernel linear -o @m.bochner",
        "transform @t.csv --target y --ignore w --kind x=number -o @f.csv",
        "predict @m.bochner @t.csv",
        "evaluate @m.bochner @t.csv",
        "summary @t.csv --kind x=number",
    ] {
        let ran = bench.run(words);
        assert_eq!(ran.code, 0, "{ran:?}");
        let said = ran.err + &ran.out;
        for text in expected {
            assert_eq!(said.matches(text).count(), 1, "{words}: {text}: {said}");
        }
    }
    let strict = bench.fails(3, "transform @t.csv --target y --kind x=number --strict -o @f.csv");
    assert!(strict.contains("t.csv:2:1: expected a number"), "{strict}");
}

#[test]
fn features_are_made_of_missing_and_infinite_cells() {
    let bench = Bench::new();
    bench.file("t.csv", "a,b\n1,4\n,5\ninf,6\n3,7\n");
    for words in ["", "--kind a=number", "--kind a=number --quiet", "--standardise"] {
        let ran = bench.run(&format!("transform @t.csv {words}"));
        assert_eq!(ran.code, 0, "{ran:?}");
        // a, b, and whether a is missing; linear features are the encoded cells.
        assert_eq!((ran.out.lines().count(), ran.out.starts_with("f0,f1,f2\n")), (5, true), "{}", ran.out);
        let is_said =
            ran.err.contains("column \"a\": 1 cell is infinite, taken as the smallest or the largest");
        assert_eq!(is_said, !words.contains("--quiet"), "{}", ran.err);
    }
    assert_eq!(bench.run("transform @t.csv --quiet").out, "f0,f1,f2\n1,4,0\n2,5,1\n3,6,0\n3,7,0\n");
}

#[test]
fn a_fit_says_what_columns_are_and_why_the_task() {
    let bench = new();
    let words = "fit @train.csv --target y --id order --ignore day -o @m.bochner --lambda 1e-4 --features 64";
    let out = bench.ok(words);
    let line = |name: &str| out.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    assert!(
        line("columns").ends_with("4: 1 number (x), 1 boolean (open), 2 categories (city, note)"),
        "{out}"
    );
    assert!(out.contains("id order; ignored day"), "{out}");
    assert!(
        line("task").ends_with("a number (numbers with fractions; --task classification to predict classes)")
    );
    assert_eq!(bench.json(&format!("{words} --json"))["reason"], "numbers with fractions");
    let out = bench.run(&format!("fit @train.csv --target open -o @m.bochner {QUICK}")).out;
    assert!(out.contains("2 classes: no, yes (not all are numbers)"), "{out}");
    assert!(out.contains("left out order"), "{out}");
}

#[test]
fn weights_count_rows_and_are_said_by_column_where_they_are_wrong() {
    let bench = Bench::new();
    let rows = plane(60);
    bench.file("t.csv", plane_csv(&rows));
    let repeated: Vec<[String; 4]> =
        rows.iter().flat_map(|row| vec![row.clone(); row[2].parse::<f64>().unwrap() as usize]).collect();
    bench.file("repeated.csv", plane_csv(&repeated));
    let predict = |words: &str| {
        let ran = bench.run(&format!("fit {words} --target y -o @m.bochner {QUICK} -q"));
        assert_eq!(ran.code, 0, "{ran:?}");
        let out = bench.ok("predict @m.bochner @t.csv");
        out.lines().skip(1).map(|line| line.parse::<f64>().unwrap()).collect::<Vec<f64>>()
    };
    let (weighted, expected) = (predict("@t.csv --weight w"), predict("@repeated.csv --ignore w"));
    let unweighted = predict("@t.csv --ignore w");
    let far = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(far(&weighted, &expected) < 1e-3, "{}", far(&weighted, &expected));
    assert!(far(&unweighted, &expected) > 1e-2, "{}", far(&unweighted, &expected));
    for (cell, said) in [
        ("-1", "in column \"w\", found -1 at row 5"),
        ("", "in column \"w\", found none at row 5"),
        ("much", "wrong.csv:7:3: expected a number, found \"much\" (column \"w\")"),
    ] {
        let mut rows = plane(60);
        rows[5][2] = cell.to_owned();
        bench.file("wrong.csv", plane_csv(&rows));
        let ran = bench.run(&format!("fit @wrong.csv --target y --weight w -o @m.bochner {QUICK}"));
        assert_eq!((ran.code, ran.err.contains(said)), (3, true), "{said}: {}", ran.err);
    }
    // A row without a target needs no weight.
    let mut rows = plane(60);
    (rows[5][2], rows[5][3]) = (String::new(), String::new());
    bench.file("t.csv", plane_csv(&rows));
    assert_eq!(bench.run(&format!("fit @t.csv --target y --weight w -o @m.bochner {QUICK}")).code, 0);
}

#[test]
fn a_target_that_is_no_number_is_found_among_categories() {
    let bench = new();
    let text = fs::read_to_string(bench.path("train.csv")).unwrap();
    let y = text.lines().nth(3).unwrap().split(',').nth(4).unwrap().to_owned();
    bench.file("wrong.csv", text.replacen(&format!(",{y},"), ",unknown,", 1));
    let said = bench.fails(3, &format!("fit @wrong.csv --target y -o @m.bochner {QUICK}"));
    assert!(said.contains("wrong.csv:4:5: expected a number, found \"unknown\""), "{said}");
}

#[test]
fn what_is_not_learnt_from_has_no_kind() {
    let bench = Bench::new();
    bench.file("t.csv", plane_csv(&plane(60)));
    for (words, role) in [
        ("--kind y=category", "the target"),
        ("--kind w=number --weight w", "the weight"),
        ("--kind z=category --group z", "the group"),
        ("--kind z=category --id z", "an id"),
        ("--kind z=category --ignore z", "ignored"),
    ] {
        let said = bench.fails(2, &format!("fit @t.csv --target y -o @m.bochner {words}"));
        let column = &words[7..8];
        assert!(said.contains(&format!("what \"{column}\" holds cannot be said: it is {role}")), "{said}");
        assert!(said.contains("hint: --kind is for columns to learn from, --task for the target"), "{said}");
    }
}

#[test]
fn a_typed_role_counts_more_than_that_of_a_schema() {
    let bench = Bench::new();
    bench.file("t.csv", plane_csv(&plane(60)));
    bench.file(
        "schema.toml",
        "[[columns]]\nname = 'y'\nrole = 'target'\n[[columns]]\nname = 'z'\nkind = 'number'\nrole = 'weight'\n",
    );
    let names = |words: &str| {
        bench.ok(&format!("fit @t.csv --schema @schema.toml -o @m.bochner {QUICK} -q {words}"));
        let found = bench.json("inspect @m.bochner --json");
        (found["target"].as_str().unwrap().to_owned(), found["names"].to_string())
    };
    // z is no weight any more, and y is learnt from.
    assert_eq!(names("--target z"), ("z".to_owned(), "[\"x\",\"w\",\"y\"]".to_owned()));
    assert_eq!(names("--weight w"), ("y".to_owned(), "[\"x\",\"z\"]".to_owned()));
    assert_eq!(names("--ignore z,w"), ("y".to_owned(), "[\"x\"]".to_owned()));
}

#[test]
fn a_plan_has_the_scaling() {
    let bench = Bench::new();
    bench.file("t.csv", plane_csv(&plane(60)));
    let fit = |words: &str| {
        bench.ok(&format!("fit @t.csv --target y -o @m.bochner -q {words}"));
        fs::read(bench.path("m.bochner")).unwrap()
    };
    let expected = fit(&format!("{QUICK} --scaling robust"));
    fs::copy(bench.path("m.bochner"), bench.path("plan.bochner")).unwrap();
    assert!(fit("--plan @plan.bochner".replace('@', bench.path("").to_str().unwrap()).as_str()) == expected);
    assert!(fit(QUICK) != expected);
    assert!(
        bench.fails(2, "fit @t.csv --target y --plan @plan.bochner --scaling robust").contains("--scaling")
    );
}

#[test]
fn sparse_rows_have_no_other_scaling() {
    let bench = Bench::new();
    let rows: String = (0..40).map(|i| format!("{} 1:{} 3:{}\n", i % 2, i % 7, i % 5)).collect();
    bench.file("t.libsvm", rows);
    let words = format!("fit @t.libsvm -o @m.bochner {QUICK} -q");
    bench.ok(&words);
    let said = bench.fails(2, &format!("{words} --scaling robust"));
    assert!(said.contains("these rows are sparse"), "{said}");
}

#[test]
fn ids_are_copied_as_they_are_written() {
    let bench = Bench::new();
    let mut rows = plane(60);
    rows[0][0] = "+3.50".to_owned();
    bench.file("t.csv", plane_csv(&rows));
    bench.ok(&format!("fit @t.csv --target y --ignore w -o @m.bochner {QUICK} -q"));
    let plain = bench.ok("predict @m.bochner @t.csv");
    let out = bench.ok("predict @m.bochner @t.csv --id x --id w");
    assert!(out.starts_with("x,w,y\n+3.50,1,"), "{out}");
    let without: Vec<&str> = out.lines().map(|line| line.rsplit(',').next().unwrap()).collect();
    assert_eq!(without, plain.lines().collect::<Vec<_>>());
}

#[test]
fn a_name_may_have_a_star_inside() {
    let bench = Bench::new();
    let mut text = "x*,xy,y\n".to_owned();
    (0..60).for_each(|i| writeln!(text, "{},{},{}", i % 7, i % 11, i % 7 + i % 11).unwrap());
    bench.file("t.csv", text);
    let names = |words: &str| {
        bench.ok(&format!("fit @t.csv --target y --task regression -o @m.bochner {QUICK} -q {words}"));
        bench.json("inspect @m.bochner --json")["names"].to_string()
    };
    assert_eq!(names("--ignore x*"), "[\"xy\"]");
    assert_eq!(names("--ignore ?y"), "[\"x*\"]");
}

/// `x,y`, `1.5,a`, `2.5,b` in three lines, packed by the usual programs.
const PACKED: [(&str, &str); 5] = [
    ("gz", "1f8b0800000000000203abd0a9e432d433d549e4320292495c00afa32f8c10000000"),
    ("zst", "28b52ffd2010810000782c790a312e352c610a322e352c620a"),
    (
        "xz",
        "fd377a585a000004e6d6b4460200210116000000742fe5a301000f782c790a312e352c610a322e352c620a00b25438526b394973\
         00012810e50b6c601fb6f37d010000000004595a",
    ),
    (
        "bz2",
        "425a683931415926535912ac22d1000007598000100005320030000060200021a4d30da8400c0d6d0cd4214fb85dc914e142404a\
         b08b44",
    ),
    (
        "zip",
        "504b030414000000080000002158afa32f8c100000001000000005000000742e637376abd0a9e432d433d549e4320292495c0050\
         4b0102140314000000080000002158afa32f8c1000000010000000050000000000000000000000800100000000742e637376504b\
         0506000000000100010033000000330000000000",
    ),
];

#[test]
fn packed_files_are_read_by_content() {
    let bench = Bench::new();
    for (extension, hex) in PACKED {
        let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
        for name in [format!("t.csv.{extension}"), "t.csv".to_owned()] {
            bench.file(&name, &bytes);
            let found = bench.json(&format!("summary @{name} --json"));
            let names: Vec<&str> =
                found["columns"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
            assert_eq!((found["rows"].as_u64(), names), (Some(2), vec!["x", "y"]), "{name}");
            assert_eq!(found["columns"][0]["max"], "2.5", "{name}");
        }
    }
}

#[test]
fn headers_are_as_people_have_them() {
    let bench = Bench::new();
    let rows: String = (0..40).map(|i| format!("{i},{},{}\n", i % 7, 2 * (i % 7) + 1)).collect();
    let fit = |header: &str, words: &str| {
        bench.file("t.csv", format!("{header}{rows}"));
        let ran = bench.run(&format!("fit @t.csv --task regression -o @m.bochner {QUICK} {words}"));
        assert_eq!(ran.code, 0, "{ran:?}");
        (bench.json("inspect @m.bochner --json")["names"].to_string(), ran.err)
    };
    // None at all, or one of numbers.
    let (names, said) = fit("", "--target c3 --ignore c1");
    assert_eq!(names, "[\"c2\"]");
    assert!(said.contains("the first line holds numbers, not names: columns are called c1, c2"), "{said}");
    assert_eq!(fit("7,8,9\n", "--header --target 9 --ignore 7").0, "[\"8\"]");
    assert_eq!(fit("a,b,3\n", "--no-header --target c3 --ignore c1 --kind c2=number").0, "[\"c2\"]");
    // The index of a data frame, and two columns of one name.
    let (names, said) = fit(",a,y\n", "--target y");
    assert_eq!(names, "[\"a\"]");
    assert!(said.contains("column Unnamed: 0 looks like an identifier and is left out"), "{said}");
    let (names, said) = fit("a,a,y\n", "--target y --ignore a");
    assert_eq!(names, "[\"a.1\"]");
    assert!(said.contains("columns share their names: the second \"a\" is \"a.1\""), "{said}");
}

#[test]
fn other_programs_files_are_converted_by_the_command_that_is_said() {
    let bench = Bench::new();
    bench.file("t.sqlite", [&b"SQLite format 3\0"[..], &[0; 100]].concat());
    let said = bench.fails(3, "fit @t.sqlite --target y");
    assert!(said.contains("SQLite") && said.contains("sqlite3 -header -csv"), "{said}");
    bench.file("t.xlsx", [&b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"[..], &[0; 100]].concat());
    let said = bench.fails(3, "fit @t.xlsx --target y");
    assert!(said.contains("Excel"), "{said}");
}

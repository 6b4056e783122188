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

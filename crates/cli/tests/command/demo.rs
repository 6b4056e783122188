//! The digits experiment: what it prints, and that README and the book print the same.
//!
//! Accuracies are counts of test rows, and these were equal on the portable, AVX2 and AVX-512 sets
//! for every seed. So numbers are compared at the digits that are printed, with nothing to spare;
//! times and sizes are not compared. A page that differs is to be changed to what the program says,
//! or the program to be mended.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::Bench;

/// A page of the repository.
fn page(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap()
}

/// The rows of the Markdown table whose header starts like this, without the header.
fn rows<'a>(page: &'a str, header: &str) -> Vec<Vec<&'a str>> {
    let lines = page.lines().map(str::trim).skip_while(|line| !line.starts_with(header));
    let rows = lines.skip(2).take_while(|line| line.starts_with('|'));
    let cells = |line: &'a str| line.trim_matches('|').split('|').map(str::trim).collect();
    rows.map(cells).collect()
}

/// `1,000 grids` is 1000.
fn count(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.replace(',', "").parse().ok()
}

/// Whether a number of a page is this value, rounded to as many digits.
fn is_rounded(text: &str, value: f64) -> bool {
    let digits = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    text == format!("{value:.digits$}")
}

/// `95.39 ± 0.46 %` or `97.16 %`.
fn accuracy(line: &Value) -> String {
    let percent = |name: &str| 100.0 * line[name].as_f64().unwrap();
    match line["deviation"].as_f64() {
        Some(_) => format!("{:.2} ± {:.2} %", percent("accuracy"), percent("deviation")),
        None => format!("{:.2} %", percent("accuracy")),
    }
}

/// The experiment with all its seeds.
fn all_seeds() -> (Value, String) {
    let bench = Bench::new();
    let found = bench.json("demo --json --quiet --out @digits.html");
    (found, fs::read_to_string(bench.path("digits.html")).unwrap())
}

#[test]
fn the_demo_recognises_digits() {
    let bench = Bench::new();
    let out = bench.ok("demo digits --seeds 1 --threads 2 --seed 5 --quiet");
    assert!(out.contains("accuracy") && out.contains("CC BY 4.0") && out.contains("97.16 %"), "{out}");
    assert!(out.lines().count() <= 24, "{out}");
    assert!(out.contains("Kernel error of 256 pairs (cos, sin): 0.0") && out.contains("bound 0."), "{out}");
    // This seed chooses a larger C, at which the exact machine leaves a larger gap: it is not
    // called certified.
    assert!(
        out.contains("Not certified, duality gap above 0.1 % of the objective: exact SVM, Laplace (0."),
        "{out}"
    );
}

#[test]
fn pages_print_what_the_demo_finds() {
    let (found, html) = all_seeds();
    let table = found["table"].as_array().unwrap();
    let (readme, book) = (page("README.md"), page("docs/book/digits.md"));

    // README: the table as the terminal has it.
    let lines = readme.lines().skip_while(|line| !line.trim_start().starts_with("features   "));
    let lines: Vec<&str> = lines.skip(1).take_while(|line| !line.starts_with("```")).collect();
    assert_eq!(lines.len(), table.len(), "{lines:?}");
    for (text, line) in lines.iter().zip(table) {
        let rest = text.strip_prefix(line["name"].as_str().unwrap()).expect(text);
        let rest = match line["features"].as_u64() {
            Some(features) => {
                assert_eq!(count(rest), Some(features), "{text}");
                rest.trim_start().split_once(' ').unwrap().1
            }
            None => rest,
        };
        assert!(rest.trim_start().starts_with(&accuracy(line)), "README: {text}\nfound {}", accuracy(line));
    }

    // The book: Table 1.
    let machines = rows(&book, "| machine | features | accuracy |");
    assert_eq!(machines.len(), table.len());
    for (cells, line) in machines.iter().zip(table) {
        let size = line["features"].as_u64().or(line["support_vectors"].as_u64());
        assert_eq!((cells[0], count(cells[1])), (line["name"].as_str().unwrap(), size), "{cells:?}");
        assert_eq!(cells[2], accuracy(line), "{cells:?}");
    }
    let beside = rows(&book, "| | bochner | scikit-learn |");
    assert_eq!(beside.len(), 4);
    for (cells, at) in beside.iter().zip([0, 2, 3, 1]) {
        let mut numbers = cells[1].split(" ± ");
        for value in ["accuracy", "deviation"].iter().filter_map(|part| table[at][part].as_f64()) {
            assert!(numbers.next().is_some_and(|text| is_rounded(text, value)), "{cells:?}: {value}");
        }
        assert_eq!(numbers.next(), None, "{cells:?}");
    }

    // What was tuned, and the sentences beside it.
    let tuned = &found["binning"];
    let (scale, cost) = (tuned["scale"].as_f64().unwrap(), tuned["cost"].as_f64().unwrap());
    let error = 100.0 * tuned["error"].as_f64().unwrap();
    let of = |at: usize| format!("{:.2} %", 100.0 * table[at]["accuracy"].as_f64().unwrap());
    for sentence in [
        format!("gives s = {scale} and C = {cost:.2} ({error:.1} % errors"),
        format!("| exact, Laplace with s = {scale}, C = {cost:.2} |"),
        format!("*with that kernel*: {}. 270 grids reach {}, 1,000 grids {},", of(1), of(6), of(7)),
    ] {
        assert!(book.contains(&sentence), "the book does not say: {sentence}");
    }

    // Curves, and kernel errors.
    let sizes: Vec<u64> = vec![30, 90, 180, 270];
    let curves = rows(&book, "| | 30 | 90 | 180 | 270 |");
    assert_eq!((curves.len(), found["curves"].as_array().unwrap().len()), (4, 4));
    for (cells, curve) in curves.iter().zip(found["curves"].as_array().unwrap()) {
        assert!(curve["name"].as_str().unwrap().starts_with(cells[0]), "{cells:?}");
        for (text, size) in cells[1..].iter().zip(&sizes) {
            let points = curve["points"].as_array().unwrap();
            let point = points.iter().find(|point| point["features"].as_u64() == Some(*size)).unwrap();
            let values: Vec<f64> =
                point["accuracies"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            assert!(is_rounded(text, mean), "{cells:?} at {size}: {mean}");
        }
    }
    let errors = rows(&book, "| | root mean square | largest |");
    assert_eq!((errors.len(), found["kernel_errors"].as_array().unwrap().len()), (4, 4));
    for (cells, kind) in errors.iter().zip(found["kernel_errors"].as_array().unwrap()) {
        let name = kind["name"].as_str().unwrap();
        let word = cells[0].split([' ', ',']).next().unwrap();
        assert!(name.starts_with(word), "{cells:?}: {name}");
        let points = kind["points"].as_array().unwrap();
        let point = points.iter().find(|point| point["features"].as_u64() == Some(1024)).unwrap();
        for (text, part) in cells[1..].iter().zip(["typical", "largest", "one_pair", "all_pairs"]) {
            let is_said = point[part].as_f64().map_or(text.is_empty(), |value| is_rounded(text, value));
            assert!(is_said, "{cells:?}: {part} {}", point[part]);
        }
    }

    // Nothing is called certified with a large gap, and here everything is.
    for line in table {
        assert!(line["certified"] == true && line["gap"].as_f64().unwrap() <= 1e-3, "{line}");
    }
    assert!(html.contains("Figure 6") && html.len() < 1 << 20, "{}", html.len());
    assert!(html.contains("A solution is certified if its gap is at most 0.1 %"));
}

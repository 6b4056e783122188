//! Arrays of NumPy as data: the same numbers give the same models, whatever they are written in.

use std::fs;

use bochner_testkit::Chance;

use super::Bench;

/// An array as numpy.save writes it.
fn array(kind: &str, shape: &str, numbers: &[u8]) -> Vec<u8> {
    let mut dictionary = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    while (10 + dictionary.len() + 1) % 64 != 0 {
        dictionary.push(' ');
    }
    dictionary.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((dictionary.len() as u16).to_le_bytes());
    [&bytes, dictionary.as_bytes(), numbers].concat()
}

/// Two inputs and a target, a number or a class: as CSV, as one array, and as an array and another of targets, in double and in single precision.
fn data(bench: &Bench, name: &str, rows: usize, classes: bool, seed: u64) {
    let mut chance = Chance::new(seed);
    let mut csv = ["x0,x1,x2\n".to_owned(), "x0,x1,target\n".to_owned()];
    let (mut double, mut single, mut inputs, mut labels) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rows {
        // Numbers that single precision holds.
        let [a, b] = [chance.normal() as f32, chance.normal() as f32];
        let y = if classes { f32::from(u8::from(a * a + b * b > 1.4)) } else { (3.0 * a).sin() + b / 2.0 };
        for text in &mut csv {
            *text += &format!("{},{},{}\n", f64::from(a), f64::from(b), f64::from(y));
        }
        for x in [a, b, y] {
            single.extend(x.to_le_bytes());
            double.extend(f64::from(x).to_le_bytes());
        }
        inputs.extend([a.to_le_bytes(), b.to_le_bytes()].concat());
        if classes { labels.push(u8::from(y > 0.5)) } else { labels.extend(y.to_le_bytes()) }
    }
    bench.file(&format!("{name}.csv"), &csv[0]);
    bench.file(&format!("{name}-named.csv"), &csv[1]);
    bench.file(&format!("{name}8.npy"), array("<f8", &format!("({rows}, 3)"), &double));
    bench.file(&format!("{name}4.npy"), array("<f4", &format!("({rows}, 3)"), &single));
    bench.file(&format!("{name}-x.npy"), array("<f4", &format!("({rows}, 2)"), &inputs));
    let kind = if classes { "|b1" } else { "<f4" };
    bench.file(&format!("{name}-y.npy"), array(kind, &format!("({rows},)"), &labels));
}

#[test]
fn the_same_numbers_give_the_same_models_predictions_and_metrics() {
    for classes in [false, true] {
        let bench = Bench::new();
        data(&bench, "train", 5000, classes, 1);
        data(&bench, "test", 300, classes, 2);
        let fit = |file: &str, target: &str, words: &str| {
            bench.ok(&format!(
                "fit @{file} --target {target} --kernel gaussian -D 64 --metric none -q -o @m.bochner {words}"
            ));
            fs::read(bench.path("m.bochner")).unwrap()
        };
        let expected = fit("train.csv", "x2", "");
        for (file, words) in [("train8.npy", ""), ("train4.npy", ""), ("train8.npy", "--threads 7")] {
            assert_eq!(fit(file, "x2", words), expected, "{file}");
        }
        // A model knows columns by name, in whatever file they stand.
        let predictions = bench.ok("predict @m.bochner @test.csv -q");
        assert_eq!(predictions.lines().count(), 301);
        for file in ["test8.npy", "test4.npy", "test-x.npy"] {
            assert_eq!(bench.ok(&format!("predict @m.bochner @{file} -q")), predictions, "{file}");
        }
        let metrics = bench.ok("evaluate @m.bochner @test.csv -q --json");
        for file in ["test8.npy", "test4.npy"] {
            assert_eq!(bench.ok(&format!("evaluate @m.bochner @{file} -q --json")), metrics, "{file}");
        }
        assert_eq!(bench.ok("evaluate @m.bochner @test-x.npy --target @test-y.npy -q --json"), metrics);

        // Targets of a file of their own are a column of that name.
        let named = fit("train-named.csv", "target", "");
        assert_eq!(fit("train-x.npy", "@train-y.npy", ""), named);
        assert_eq!(bench.ok("predict @m.bochner @test-x.npy -q"), predictions.replacen("x2", "target", 1));
        assert_eq!(bench.ok("evaluate @m.bochner @test-x.npy --target @test-y.npy -q --json"), metrics);
        let said = bench.fails(3, "evaluate @m.bochner @test-x.npy -q");
        assert!(
            said.contains("expected a column \"target\"") && said.contains("--target FILE.npy"),
            "{said}"
        );
    }
}

#[test]
fn features_of_arrays_and_arrays_of_features() {
    let bench = Bench::new();
    data(&bench, "a", 200, true, 3);
    let words = "--kernel gaussian(sigma=1) -D 16 --seed 4 -q";
    let expected = bench.ok(&format!("transform @a.csv --ignore x2 {words}"));
    for file in ["a8.npy --ignore x2", "a4.npy --ignore x2", "a-x.npy"] {
        assert_eq!(bench.ok(&format!("transform @{file} {words}")), expected, "{file}");
    }
    let kept = bench.ok(&format!("transform @a-x.npy --target @a-y.npy {words}"));
    assert_eq!(kept, bench.ok(&format!("transform @a-named.csv --target target {words}")));
    // What is written is read.
    bench.ok(&format!("transform @a-x.npy {words} -o @z.npy"));
    bench.ok("fit @z.npy --target @a-y.npy --kernel linear --no-standardise -q -o @m.bochner");
    let accuracy = bench.json("evaluate @m.bochner @z.npy --target @a-y.npy -q --json");
    assert!(accuracy["accuracy"]["value"].as_f64().unwrap() > 0.9, "{accuracy}");
}

#[test]
fn arrays_are_inspected_and_listed() {
    let bench = Bench::new();
    data(&bench, "a", 200, true, 5);
    let found = bench.json("inspect @a4.npy --json -q");
    let csv = bench.json("inspect @a.csv --json -q");
    assert_eq!((&found["rows"], &found["columns"]), (&csv["rows"], &csv["columns"]));
    assert!(bench.ok("inspect @a-y.npy -q").contains("x0"));
    for words in ["--help", "fit --help", "transform --help", "inspect --help"] {
        let help = bench.ok(words).to_lowercase();
        assert!(help.contains("npy"), "{words}: {help}");
    }
}

#[test]
fn what_is_wrong_with_arrays_is_said() {
    let bench = Bench::new();
    data(&bench, "a", 50, false, 6);
    data(&bench, "b", 60, false, 7);
    let fails = |words: &str| bench.fails(3, &format!("fit {words} -o @m.bochner -q"));
    let said = bench.fails(2, "fit @a8.npy -o @m.bochner -q");
    assert!(said.contains("--target COLUMN, or --target FILE.npy") && said.contains("x0, x1"), "{said}");
    assert!(fails("@a8.npy --target x9").contains("expected a column \"x9\""));
    let said = fails("@a-x.npy --target @b-y.npy");
    assert!(
        said.contains("b-y.npy: expected a target for each row of") && said.contains("more than 50"),
        "{said}"
    );
    assert!(fails("@a-x.npy --target @a8.npy").contains("expected one column of targets, found 3"));
    assert!(fails("@a-x.npy --target @none.npy").contains("none.npy"));
    let whole = fs::read(bench.path("a8.npy")).unwrap();
    bench.file("cut.npy", &whole[..whole.len() - 1]);
    assert!(fails("@cut.npy --target x2").contains("the file is cut off"));
    let mut values: Vec<u8> = Vec::new();
    (0..20).for_each(|i| values.extend((if i == 7 { f64::NAN } else { f64::from(i) }).to_le_bytes()));
    bench.file("nan.npy", array("<f8", "(10, 2)", &values));
    let said = fails("@nan.npy --target x0 --strict");
    assert!(said.contains("row 3, column \"x1\"") && said.contains("without --strict"), "{said}");
    let said = bench.fails(2, "fit @a-x.npy --target @a-y.npy -o @a-y.npy -q");
    assert!(said.contains("would replace"), "{said}");
}

//! `fit --held-out --deviation --calibrate`, `predict --interval --deviation`.

use crate::{Bench, FIT};

/// The fields of all lines but the first.
fn fields(out: &str) -> Vec<Vec<String>> {
    out.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn column(bench: &Bench, file: &str, at: usize) -> Vec<f64> {
    let text = std::fs::read_to_string(bench.path(file)).unwrap();
    fields(&text).iter().map(|row| row[at].parse().unwrap()).collect()
}

/// Given about 150 held-out rows the coverage of new ones deviates by 0.025 from 0.9, and that of 400 of them by 0.015 more: five deviations of both are 0.15.
#[test]
fn numbers_have_intervals_and_deviations() {
    let bench = Bench::new();
    bench.numbers("train.csv", 600, 1);
    bench.numbers("test.csv", 400, 2);
    let words = "fit @train.csv --target y --ignore id --ignore note --held-out 0.25 --deviation";
    let out = bench.ok(&format!("{words} -o @m.bochner {FIT}"));
    assert!(out.contains("noise") && out.contains("for intervals (predict --interval)"), "{out}");
    let told = bench.json("inspect @m.bochner --json");
    let held_out = told["uncertainty"]["held_out"].as_u64().unwrap();
    assert!((100..200).contains(&held_out), "{told}");
    assert!(bench.ok("inspect @m.bochner").contains("distinct rows, for intervals"));

    let plain = bench.ok("predict @m.bochner @test.csv");
    let out = bench.ok("predict @m.bochner @test.csv --interval 0.9 --deviation");
    assert_eq!(out.lines().next(), Some("y,y_lower,y_upper,y_deviation"));
    let (rows, truth) = (fields(&out), column(&bench, "test.csv", 3));
    let mut covered = 0;
    for (row, truth) in rows.iter().zip(&truth) {
        let [y, lower, upper, deviation]: [f64; 4] = [0, 1, 2, 3].map(|at| row[at].parse().unwrap());
        assert!(lower < y && y < upper && deviation > 0.04 && deviation < 1.0, "{row:?}");
        covered += usize::from(lower <= *truth && *truth <= upper);
    }
    assert!((300..=398).contains(&covered), "{covered} of 400");
    // The predictions are what they were, and more coverage takes wider intervals.
    assert_eq!(rows.iter().map(|row| &row[0]).collect::<Vec<_>>(), plain.lines().skip(1).collect::<Vec<_>>());
    let wider = fields(&bench.ok("predict @m.bochner @test.csv --interval 0.98"));
    let low = |row: &[String]| row[1].parse::<f64>().unwrap();
    assert!(rows.iter().zip(&wider).all(|(a, b)| low(b) < low(a)));

    let said = bench.run("predict @m.bochner @test.csv --interval 0.9999");
    assert!(said.code == 0 && said.err.contains("held-out rows can promise a coverage of"), "{said:?}");
    assert!(fields(&said.out).iter().all(|row| row[1] == "-inf" && row[2] == "inf"));
}

#[test]
fn classes_have_sets_and_probabilities() {
    let bench = Bench::new();
    bench.classes("train.csv", 800, 1);
    bench.classes("test.csv", 300, 2);
    for loss in ["squares", "squared-hinge", "logistic"] {
        let words = format!("fit @train.csv --target kind --held-out 0.2 --loss {loss} --lambda 1e-3");
        bench.ok(&format!("{words} -o @m.bochner {FIT}"));
        let out = bench.ok("predict @m.bochner @test.csv --interval 0.9");
        assert_eq!(out.lines().next(), Some("kind,kind_set"));
        let known = ["near", "far, in fact", "between"];
        for line in out.lines().skip(1) {
            // Only the label with a comma takes quotes.
            let set = match line.strip_suffix('"') {
                Some(line) => line.rsplit('"').next(),
                None => line.rsplit(',').next(),
            };
            assert!(set.unwrap().split('|').all(|label| known.contains(&label)), "{line}");
        }
        let out = bench.ok("predict @m.bochner @test.csv --probabilities");
        assert!(out.starts_with("kind,probability_between,"), "{out}");
    }
    bench.ok(&format!(
        "fit @train.csv --target kind --calibrate --loss hinge --lambda 1e-3 -o @c.bochner {FIT}"
    ));
    for line in bench.ok("predict @c.bochner @test.csv --probabilities").lines().skip(1) {
        let sum: f64 = line.rsplit(',').take(3).map(|p| p.parse::<f64>().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }
}

#[test]
fn what_cannot_be_had_is_said() {
    let bench = Bench::new();
    bench.numbers("n.csv", 120, 1);
    bench.classes("c.csv", 120, 1);
    let numbers = format!("fit @n.csv --target y --ignore note --ignore id -o @n.bochner {FIT}");
    let classes = format!("fit @c.csv --target kind -o @c.bochner {FIT}");
    bench.ok(&numbers);
    bench.ok(&classes);
    for (words, expected) in [
        ("predict @n.bochner @n.csv --interval 0.9", "--held-out 0.1"),
        ("predict @n.bochner @n.csv --deviation", "fitted with --deviation"),
        ("predict @c.bochner @c.csv --probabilities", "--loss logistic or --calibrate"),
        ("predict @n.bochner @n.csv --interval 90", "such as 0.9"),
        ("predict @n.bochner @n.csv --interval 1", "between 0 and 1"),
        (&format!("{numbers} --held-out 0"), "between 0 and 1"),
    ] {
        let said = bench.fails(2, words);
        assert!(said.contains(expected), "{words}: {said}");
    }
    for (words, expected) in [
        (format!("{classes} --deviation"), "posterior of a ridge regression"),
        (format!("{numbers} --calibrate"), "probabilities are of classes"),
        (format!("{numbers} --loss huber --deviation"), "posterior of a ridge regression"),
    ] {
        let ran = bench.run(&words);
        assert!(ran.code != 0 && ran.err.contains(expected), "{words}: {ran:?}");
    }
    let few = bench.run(&format!("{numbers} --held-out 0.2"));
    assert!(few.code == 0 && few.err.contains("distinct rows were held out"), "{few:?}");
}

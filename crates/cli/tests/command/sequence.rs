//! Texts: sequence kernels, declared encodings, and what is said where they do not fit.

use bochner_testkit::Chance;

use super::Bench;

/// A table of DNA with two kinds that differ by a motif, and a little in age.
fn dna(bench: &Bench, name: &str, rows: usize, seed: u64) {
    let mut chance = Chance::new(seed);
    let mut text = "id,age,dna,kind,note\n".to_owned();
    for i in 0..rows {
        let which = chance.uniform() < 0.5;
        let mut letters: String =
            (0..80).map(|_| ['A', 'C', 'G', 'T'][(chance.uniform() * 4.0) as usize]).collect();
        letters.replace_range(30..38, if which { "TATAACGT" } else { "TATAGGCA" });
        let age = 30.0 + chance.normal() + f64::from(u8::from(which));
        let word = if which { "Good" } else { "bad" };
        text +=
            &format!("{i},{age:.3},{letters},{},\"It's {word}, row {i}\"\n", if which { "a" } else { "b" });
    }
    bench.file(name, text);
}

fn accuracy(bench: &Bench, model: &str) -> f64 {
    let found = bench.json(&format!("evaluate @{model} @test.csv --json"));
    found["accuracy"]["value"].as_f64().unwrap()
}

fn bench() -> Bench {
    let bench = Bench::new();
    dna(&bench, "train.csv", 400, 1);
    dna(&bench, "test.csv", 200, 2);
    bench
}

#[test]
fn dna_is_learnt_from_by_a_sequence_kernel() {
    let bench = bench();
    // Columns that the kernel does not name need not be numbers.
    let out = bench.ok("fit @train.csv --target kind --kernel spectrum(k=5,width=1024)[dna] -o @m.bochner");
    assert!(out.contains("\"dna\" by spectrum(k=5,width=1024), hashed to 1,024 columns: ± 4.4"), "{out}");
    assert!(out.contains("(one standard deviation, at most)"), "{out}");
    assert!(out.contains("none beyond the hashing of texts") && !out.contains("exact map)"), "{out}");
    assert!(accuracy(&bench, "m.bochner") > 0.9, "{}", accuracy(&bench, "m.bochner"));
    let predicted = bench.ok("predict @m.bochner @test.csv");
    assert_eq!(predicted.lines().count(), 201);
    assert!(predicted.lines().skip(1).all(|line| line == "a" || line == "b"), "{predicted}");

    // Columns are found by name, wherever they stand, and others are not looked at.
    let moved = "note,dna\n,ACGTACGTATAACGTACCA\nx,\n";
    bench.file("moved.csv", moved);
    assert_eq!(bench.ok("predict @m.bochner @moved.csv").lines().count(), 3);
    bench.file("without.csv", "id,dan\n1,ACGT\n");
    let said = bench.fails(3, "predict @m.bochner @without.csv");
    assert!(said.contains("expected a column \"dna\"") && said.contains("did you mean \"dan\"?"), "{said}");

    let found = bench.json("inspect @m.bochner --json");
    assert_eq!(found["names"], serde_json::json!(["dna"]));
    assert_eq!(found["texts"][0]["sequence"], "spectrum(k=5,width=1024)");
    assert_eq!((found["columns"].as_u64(), found["kernel"].as_str()), (Some(1024), Some("linear")));
    assert!(bench.ok("inspect @m.bochner").contains("\"dna\" by spectrum(k=5,width=1024)"));

    // The same file for any number of threads.
    for threads in [1, 3] {
        bench.ok(&format!(
            "fit @train.csv --target kind --kernel mismatch(k=4,width=256)[dna] --loss hinge --threads {threads} -o @t{threads}.bochner -q"
        ));
    }
    let read = |name: &str| std::fs::read(bench.path(name)).unwrap();
    assert_eq!(read("t1.bochner"), read("t3.bochner"));
}

#[test]
fn texts_and_numbers_are_learnt_from_together() {
    let bench = bench();
    for kernel in [
        "normalised(gapped(length=6,k=4,width=512)[dna])+gaussian(sigma=1)[age]",
        "spectrum(k=4,width=512)[dna]+words(from=1,to=2,tf_idf=1,width=256)[note]+linear[age]",
    ] {
        bench.ok(&format!("fit @train.csv --target kind --kernel {kernel} --features 600 -o @m.bochner -q"));
        assert!(accuracy(&bench, "m.bochner") > 0.85, "{kernel}: {}", accuracy(&bench, "m.bochner"));
    }
    let found = bench.json("inspect @m.bochner --json");
    assert_eq!(found["names"], serde_json::json!(["age", "dna", "note"]));
    assert_eq!(found["kernel"], "linear[1..513] + linear[513..769] + linear[0]");
}

#[test]
fn a_declared_text_is_columns_for_every_kernel() {
    let bench = bench();
    for words in [
        "--sequence dna=spectrum(k=5,width=512) --kernel gaussian(sigma=0.7)[dna] --features 512",
        "--sequence dna=spectrum(k=5,width=512) --ignore id --ignore note",
        "--sequence note=words(from=1,to=2,tf_idf=1) --sequence dna=spectrum(k=4,width=64) --ignore id --kernel linear --loss hinge",
    ] {
        bench.ok(&format!("fit @train.csv --target kind -o @m.bochner -q {words}"));
        assert!(accuracy(&bench, "m.bochner") > 0.85, "{words}: {}", accuracy(&bench, "m.bochner"));
    }
    let text = bench.ok("inspect @m.bochner");
    assert!(
        text.contains("\"note\" by words(from=1,to=2,tf_idf=1), length 1, hashed to 4,096 columns"),
        "{text}"
    );
    assert!(text.contains("4,161: age, note, dna; numbers standardised"), "{text}");
}

#[test]
fn a_row_without_grams_is_named_as_it_was_written() {
    let bench = Bench::new();
    let rows = |last: &str| format!("age,dna,kind\n{}1,{last},a\n", "3,ACGTAC,a\n4,TTGACA,b\n".repeat(20));
    bench.file("good.csv", rows("ACGTA"));
    bench.file("bad.csv", rows("ACG"));
    for (kernel, map) in [
        ("normalised(spectrum(k=4,width=64)[dna])", ""),
        ("normalised(spectrum(k=4,width=64)[dna])+gaussian(sigma=1)[age]", "-D 200"),
    ] {
        let common = format!("--target kind --kernel {kernel} {map}");
        bench.ok(&format!("fit @good.csv {common} -o @m.bochner -q"));
        for words in [
            format!("fit @bad.csv {common} -o @n.bochner"),
            format!("transform @bad.csv {common} -o @n.csv"),
            format!("transform @bad.csv {common} -o @n.csv -q"),
            "predict @m.bochner @bad.csv -o @p.csv".to_owned(),
            "evaluate @m.bochner @bad.csv".to_owned(),
        ] {
            let said = bench.fails(3, &words);
            for part in [
                "normalised(spectrum(k=4,width=64)[dna]) expects a finite spectrum(k=4,width=64)[dna] above 0",
                "found 0 at row 40",
                "\"dna\" has no grams in that row; fit with --sequence 'dna=spectrum(k=4,width=64)', where such rows are zero, or remove the row",
            ] {
                assert!(said.contains(part), "{words}: {said}");
            }
        }
    }
}

#[test]
fn maps_are_those_of_the_bound_kernel() {
    let bench = bench();
    // Linear on all hashed columns: projections are for it too.
    let kernel = "--target kind --kernel spectrum(k=3)[dna] --map sparse -D 128";
    bench.ok(&format!("fit @train.csv {kernel} -o @m.bochner -q"));
    assert_eq!(bench.json("inspect @m.bochner --json")["features"], 128);
    let out = bench.ok(&format!("transform @train.csv {kernel} -o - -q"));
    assert_eq!(out.lines().next().unwrap().split(',').count(), 129);
    assert!(!std::path::Path::new("-").exists());
    let said = bench.fails(2, &format!("transform @train.csv {kernel} -o - --json"));
    assert!(said.contains("say --output FILE"), "{said}");
    // The number of features that was asked for is not ignored without a word.
    let ran =
        bench.run("fit @train.csv --target kind --kernel spectrum(k=3,width=64)[dna] -D 100 -o @m.bochner");
    assert!(
        ran.code == 0 && ran.err.contains("the exact map has 64 features, whatever --features says"),
        "{ran:?}"
    );
    // Columns that the kernel does not name need not be numbers, texts or none.
    bench.ok("fit @train.csv --target kind --kernel gaussian(sigma=1)[age] -o @m.bochner -q");
    assert_eq!(bench.json("inspect @m.bochner --json")["names"], serde_json::json!(["age"]));
    let said = bench.fails(3, "fit @train.csv --target kind --kernel gaussian(sigma=1)[aeg] -o @m.bochner");
    assert!(said.contains("did you mean \"age\"?") && said.contains("\"note\""), "{said}");
}

#[test]
fn what_does_not_fit_is_said() {
    let bench = bench();
    for (code, words, expected) in [
        (3, "--kernel spectrum(k=5)[dan]", "did you mean \"dna\"?"),
        (3, "--kernel spectrum(k=5)", "name the column, as in spectrum(k=5)[sequence]"),
        (
            2,
            "--kernel spectrum(k=5)[dna,note]",
            "expected the column of a sequence kernel to be one, by its name",
        ),
        (2, "--kernel spectrum(k=5)[kind]", "\"kind\" is both the target and a text to learn from"),
        (2, "--kernel spectrum(k=5)[dna] --ignore dna", "\"dna\" is both ignored and a text"),
        // A column of numbers that is a text for one part of the kernel, and numbers for another.
        (
            3,
            "--kernel spectrum(k=2)[age]+gaussian(sigma=1)[age]",
            "expected numbers in column \"age\", found texts; say how it becomes numbers",
        ),
        (3, "--kernel spectrum(k=2)[age]+gaussian(sigma=1)[age]", "as in --sequence 'age=spectrum(k=5)'"),
        (2, "--kernel linear --sequence dna=gaussian(sigma=1)", "it compares numbers"),
        (
            2,
            "--kernel linear --sequence dna=spectrum(k=3)[dna]",
            "the column stands before the =; leave [dna] out",
        ),
        (
            2,
            "--kernel linear --sequence dna=spectrum(k=3) --sequence dna=spectrum(k=4)",
            "--sequence was given twice for column \"dna\"; say it once, or use a sum of two sequence kernels, as in --kernel 'spectrum(k=3)[dna] + spectrum(k=4)[dna]'",
        ),
        (2, "--kernel linear --sequence dna", "expected a column and a sequence kernel"),
        (3, "--kernel linear[age] --sequence dna=spectrum(k=3)", "no part of the kernel looks at it"),
        (2, "--kernel spectrum(k=5)[dna] --map fourier", "a Fourier map of spectrum(k=5) is not possible"),
        (3, "--kernel normalised(spectrum(k=5)[empty])", "expected a column \"empty\""),
    ] {
        let said = bench.fails(code, &format!("fit @train.csv --target kind -o @n.bochner {words}"));
        assert!(said.contains(expected), "{words}: {said}");
    }
    // Digits can be compared as text, which is hardly what was meant.
    let ran = bench.run("fit @train.csv --target kind --kernel spectrum(k=2,width=64)[age] -o @n.bochner");
    assert!(
        ran.code == 0 && ran.err.contains("column \"age\" holds numbers, and is compared as text"),
        "{ran:?}"
    );
    // Arrays, and files of sparse numbers.
    for words in ["explain spectrum(k=3)[dna]", "evaluate spectrum(k=3)[dna] 1,2 3,4", "plot words"] {
        let said = bench.fails(2, &format!("kernel {words}"));
        assert!(
            said.contains("of rows of numbers is not possible: it compares the texts of one column"),
            "{said}"
        );
    }
    bench.file("a.libsvm", "1 1:2 3:4\n-1 2:2\n");
    let said = bench.fails(3, "fit @a.libsvm --kernel spectrum(k=3)[dna] -o @n.bochner");
    assert!(said.contains("expected a column \"dna\""), "{said}");
    assert!(bench.ok("kernel list").contains("words(from=1,to=2)[message]"));
}

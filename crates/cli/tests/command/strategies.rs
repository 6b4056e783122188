//! `bochner strategies`: costs of a job by its shape.

use super::Bench;

#[test]
fn six_strategies_are_compared_without_data() {
    let bench = Bench::new();
    let text =
        bench.ok("strategies --rows 100000 --columns 100 --features 1000 --steps 1000000 --precision double");
    for expected in [
        "T = 1,000,000 steps on n = 100,000 rows of d = 100 columns",
        "gaussian(sigma=1): D = 1,000 features of a map, infinitely many of its own",
        "① exact            refused: its own features are infinitely many",
        "④ kernel-cached",
        "⑥ map-cached *",
        "n²·d + T·n",
        "the quickest: map-cached; without approximation: kernel",
    ] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
    let words = "strategies --rows 1000 --columns 20 --kernel poly(degree=2,c=1) --features 64 --steps 5000 --precision double --json";
    let found = bench.json(words);
    assert_eq!(found["exact_features"].as_u64(), Some(231), "C(22, 2)");
    let cost = |k: usize, name: &str| found["strategies"][k][name].as_u64().unwrap();
    // T·d·D′ for features, scores and moves, and the scale at the end.
    assert_eq!(cost(0, "multiply_adds"), 5000 * 20 * 231 + 2 * 5000 * 231 + 231);
    assert_eq!(cost(3, "multiply_adds"), 1000 * 1000 * 20 + 5000 * 1001 + 1000);
    assert_eq!(cost(3, "memory_bytes"), 8 * (1000 * 1000 + 1000));
    assert_eq!(found["strategies"][5]["strategy"].as_str(), Some("map-cached"));
    assert_eq!(found["strategies"][4]["asymptotic_memory"].as_str(), Some("d·D"));

    // Single precision keeps half, a limit refuses, sparse rows cost their entries.
    let found = bench.json("strategies -r 1000 -c 20 --max-memory 1M --steps 5000 --json");
    let gram = &found["strategies"][3];
    assert!(gram["refused"].as_str().unwrap().contains("may be used"), "{gram}");
    assert!(gram["multiply_adds"].is_null(), "{gram}");
    let found = bench.json("strategies -r 1000 -c 50000 --entries 30000 --steps 5000 --json");
    assert_eq!(found["strategies"][2]["multiply_adds"].as_u64(), Some(5000 * 30_000 + 5000 * 1001 + 1000));
}

#[test]
fn shapes_that_cannot_be_are_refused() {
    let bench = Bench::new();
    for (words, expected) in [
        ("strategies --rows 0 --columns 3", "expected rows to be at least 1, found 0"),
        (
            "strategies --rows 10 --columns 3 --entries 31",
            "expected entries to be at most rows × columns, found 31",
        ),
        ("strategies --rows 10 --columns 3 --kernel linear[5]", "expected a column below 3, found 5"),
        ("strategies --rows 10 --columns 0", "expected columns to be at least 1"),
        ("strategies --rows 10 --columns 3 --features 0", "expected features to be at least 1"),
        ("strategies --rows 10 --columns 3 --kernel gaussian", "gaussian(sigma=2)"),
        ("strategies --columns 3", "--rows"),
    ] {
        let ran = bench.run(words);
        assert!(ran.code == 2 && ran.err.contains(expected), "{words}: {ran:?}");
    }
    // Numbers beyond all measure are numbers.
    let text = bench.ok("strategies --rows 18446744073709551615 --columns 4294967295");
    assert!(text.contains("⑥ map-cached"), "{text}");
}

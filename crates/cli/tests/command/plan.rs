//! `bochner plan`, and the plan of a model: forecasts, budgets, replays.

use std::fs;
use std::time::Instant;

use bochner_testkit::Chance;

use super::Bench;

/// y = sin x₁ + x₂, some noise: 3,000 rows, more than become landmarks.
fn waves(bench: &Bench, rows: usize) {
    let mut chance = Chance::new(1);
    let mut text = "a,b,y\n".to_owned();
    for _ in 0..rows {
        let (a, b) = (6.0 * chance.uniform(), chance.uniform());
        let y = a.sin() + b + 0.1 * chance.uniform();
        text += &format!("{a},{b},{y}\n");
    }
    bench.file("waves.csv", text);
}

#[test]
fn a_fit_is_forecast_without_being_made() {
    let bench = Bench::new();
    waves(&bench, 3000);
    let text = bench.ok("plan @waves.csv --target y -q");
    for expected in
        ["3,000 rows of 2 columns", "multiply-adds", "512", "2048", "the search for kernel, width and metric"]
    {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
    // Kept rates give the same forecast again.
    let words = "plan @waves.csv --target y --features 256 --machine @machine.json --json -q";
    let (first, second) = (bench.json(words), bench.json(words));
    assert_eq!(first["fits"][0]["phases"], second["fits"][0]["phases"]);
    assert_eq!(first["fits"].as_array().unwrap().len(), 1);
    let peak = first["fits"][0]["peak_bytes"].as_u64().unwrap();
    assert!(peak > 256 * 256 * 8 && peak < 1 << 28, "{peak}");
    // What does not fit as sums is done in passes, if nothing is said against it; else it is refused with what would fit.
    let found = bench.json("plan @waves.csv --target y --features 8192 --max-memory 100M --json -q");
    assert!(found["fits"][0]["passes"].as_u64().unwrap() > 10, "{found}");
    assert!(found["fits"][0]["peak_bytes"].as_u64().unwrap() <= 100 << 20, "{found}");
    let ran = bench.run("plan @waves.csv --target y --features 8192 --max-memory 100M --solver gram -q");
    assert!(ran.code == 4 && ran.err.contains("--features") && ran.err.contains("100.0 MiB"), "{ran:?}");
    let ran = bench.run("plan @waves.csv --target y --machine @waves.csv -q");
    assert!(ran.code == 2 && ran.err.contains("expected rates of a machine"), "{ran:?}");
}

#[test]
fn a_plan_replays_to_the_same_bytes() {
    let bench = Bench::new();
    waves(&bench, 2500);
    let found = bench.json("fit @waves.csv --target y --kernel gaussian -o @first.bochner --json -q");
    let plan = &found["training"]["plan"];
    assert!(plan["trials"].as_array().unwrap().len() > 7, "{plan}");
    assert!(plan["fit"]["features"].as_u64().unwrap() >= 512, "{plan}");
    bench.file("plan.json", plan.to_string());
    for from in ["@plan.json", "@first.bochner"] {
        bench.ok(&format!("fit @waves.csv --target y --plan {from} -o @second.bochner -q"));
        // But for what was tried, which a replay does not try again.
        let [first, second] =
            ["first", "second"].map(|name| bench.ok(&format!("predict @{name}.bochner @waves.csv -q")));
        assert_eq!(first, second);
        bench.ok(&format!("fit @waves.csv --target y --plan {from} -o @third.bochner --threads 1 -q"));
        let read = |name: &str| fs::read(bench.path(name)).unwrap();
        assert!(read("second.bochner") == read("third.bochner"), "{from}");
    }
    let ran = bench.run("fit @waves.csv --target y --plan @waves.csv -o @x.bochner -q");
    assert!(ran.code == 2 && ran.err.contains("expected a plan"), "{ran:?}");
    // A plan says everything: nothing beside it is passed over.
    for said in
        ["--features 64", "--held-out 0.1", "--deviation", "--calibrate", "--solver cg", "--map landmarks"]
    {
        let ran = bench.run(&format!("fit @waves.csv --target y --plan @plan.json {said} -o @x.bochner -q"));
        let word = said.split(' ').next().unwrap();
        assert!(ran.code == 2 && ran.err.contains(word), "{said}: {ran:?}");
    }
}

/// A budget of a second is kept, give or take what a shared machine may add: no fit is begun that is expected to overrun it.
#[test]
fn a_budget_ends_the_search() {
    let bench = Bench::new();
    waves(&bench, 20_000);
    let started = Instant::now();
    let found = bench.json("fit @waves.csv --target y -o @short.bochner --budget 1s --json -q");
    let seconds = started.elapsed().as_secs_f64();
    let trials = found["training"]["plan"]["trials"].as_array().unwrap().len();
    assert!(seconds < 30.0, "{seconds} s");
    assert!(trials >= 2, "{found}");
    let ran = bench.run("fit @waves.csv --target y -o @x.bochner --budget soon");
    assert!(ran.code == 2 && ran.err.contains("expected a time such as 60s"), "{ran:?}");
}

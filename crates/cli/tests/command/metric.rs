//! `--metric`: what is learnt, said, kept and refused.

use bochner_testkit::Chance;

use super::Bench;

/// y = sin 4(a + b) and two columns that say nothing: 600 rows.
fn slanted(bench: &Bench) {
    let mut chance = Chance::new(3);
    let mut text = "a,b,c,d,y\n".to_owned();
    for _ in 0..600 {
        let [a, b, c, d] = [0; 4].map(|_| 3.0 * chance.uniform());
        let y = (4.0 * (a + b)).sin() + 0.1 * chance.uniform();
        text += &format!("{a},{b},{c},{d},{y}\n");
    }
    bench.file("slanted.csv", text);
}

#[test]
fn a_metric_is_learnt_told_and_kept() {
    let bench = Bench::new();
    slanted(&bench);
    let error = |metric: &str| {
        let words = format!(
            "fit @slanted.csv --target y --kernel gaussian --features 256 --metric {metric} -o @{metric}.bochner --json -q"
        );
        bench.json(&words)["cross_validation"]["rmse"].as_f64().unwrap()
    };
    let (none, full) = (error("none"), error("full"));
    assert!(full < 0.5 * none, "{full} against {none}");
    let found = bench.json("inspect @full.bochner --json");
    let metric = &found["metric"];
    assert_eq!(metric["form"], "full");
    let (first, share) = (&metric["importances"][0], metric["shares"][0].as_f64().unwrap());
    assert!(first[0] == "a" || first[0] == "b", "{metric}");
    assert!(share > 0.9, "{metric}");
    let [a, b] = [0, 1].map(|j| metric["directions"][0][j].as_f64().unwrap());
    assert!((a - b).abs() < 0.1 && a > 0.6, "{metric}");
    let text = bench.ok("inspect @full.bochner");
    for expected in ["metric", "a matrix, learnt in", "matters:", "along"] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
    assert!(bench.json("inspect @none.bochner --json").get("metric").is_none());
    bench.ok("fit @slanted.csv --target y --plan @full.bochner -o @again.bochner -q");
    assert_eq!(
        bench.ok("predict @again.bochner @slanted.csv -q"),
        bench.ok("predict @full.bochner @slanted.csv -q")
    );
}

#[test]
fn a_page_shows_the_columns_that_matter_and_their_directions() {
    let bench = Bench::new();
    slanted(&bench);
    let fit = "fit @slanted.csv --target y --kernel gaussian --features 128 --metric";
    bench.ok(&format!("{fit} full -o @full.bochner --report @fit.html -q"));
    bench.ok("inspect @full.bochner --report @full.html");
    for page in ["fit.html", "full.html"].map(|name| std::fs::read_to_string(bench.path(name)).unwrap()) {
        for expected in [
            "<h1>A model of y</h1>",
            "class=\"bar s0\"",
            "class=\"tone s1\"",
            "How λ was chosen",
            "kernel error",
        ] {
            assert!(page.contains(expected), "{expected}");
        }
    }
    // A model without a metric, or with factors of columns alone, has less to show.
    bench.ok(&format!("{fit} diagonal -o @diagonal.bochner --report @diagonal.html -q"));
    bench.ok(&format!("{fit} none --lambda 1e-3 -o @none.bochner --report @none.html -q"));
    let has = |name: &str, part: &str| std::fs::read_to_string(bench.path(name)).unwrap().contains(part);
    assert!(has("diagonal.html", "class=\"bar s0\"") && !has("diagonal.html", "class=\"tone s1\""));
    assert!(!has("none.html", "class=\"bar s0\"") && !has("none.html", "How λ was chosen"));
    for (words, expected) in [
        ("inspect @slanted.csv --report @no.html", "this is none"),
        ("inspect @none.bochner --report @none.bochner", "give another name to --report"),
        ("fit @slanted.csv --target y -o @m --report @m -q", "give another name to --report"),
        ("fit @slanted.csv --target y -o @m --report @./m -q", "give another name to --report"),
        ("fit @slanted.csv --target y -o @m --report @slanted.csv -q", "give another name to --report"),
    ] {
        let ran = bench.run(words);
        assert!(ran.code != 0 && ran.err.contains(expected), "{words}: {ran:?}");
    }
    assert!(!bench.path("no.html").exists() && !bench.path("m").exists());
}

#[test]
fn other_words_are_refused() {
    let bench = Bench::new();
    slanted(&bench);
    let ran = bench.run("fit @slanted.csv --target y --metric cosine -o @m.bochner -q");
    assert!(ran.code == 2 && ran.err.contains("auto, none, diagonal or full"), "{ran:?}");
    let ran =
        bench.run("fit @slanted.csv --target y --metric full --kernel gaussian(sigma=1)[a] -o @m.bochner -q");
    assert!(ran.code != 0 && ran.err.contains("mixes columns"), "{ran:?}");
}

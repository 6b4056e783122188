//! `bochner kernel`, and kernels that speak of columns.

use bochner_testkit::Chance;

use super::Bench;

#[test]
fn kernels_are_listed_explained_evaluated_and_drawn() {
    let bench = Bench::new();
    let list = bench.ok("kernel list");
    for expected in [
        "gaussian(sigma=2)",
        "exp(−‖x − y‖² / (2·sigma²))",
        "weighted(f,K)",
        "inverse_norm",
        "3..9 is 3 to 8",
    ] {
        assert!(list.contains(expected), "{list}");
    }
    assert_eq!(
        bench.json("kernel list --json").as_array().unwrap().len(),
        bochner::kernel::catalogue().len()
    );

    let text = bench.ok(
        "kernel explain 0.7*gaussian(sigma=2)[age,income]+linear --features 512 --columns age,income,height",
    );
    for expected in [
        "for rows of 3 columns",
        "├─ 0.7*gaussian(sigma=2)[0,1]",
        "└─ linear",
        ": 508 features",
        "its own features, exactly: 3 features",
    ] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
    let found =
        bench.json("kernel explain laplace(scale=1)*gaussian(sigma=1) --features 100 --bins 4 --json");
    assert_eq!((found["columns"].as_u64(), found["features"].as_u64()), (Some(10), Some(96)), "{found}");
    assert!(found["tree"]["how"].as_str().unwrap().contains("random grids"), "{found}");
    // As many columns as the kernel speaks of.
    assert!(bench.ok("kernel explain gaussian(sigma=[1,2,3,4])").contains("for rows of 4 columns"));
    assert!(bench.ok("kernel explain linear[0..7]").contains("for rows of 7 columns"));
    assert!(
        bench
            .ok("kernel explain exponential(scale=1)")
            .contains("not to be had: its frequencies have no fourth moment")
    );

    let text = bench.ok("kernel evaluate gaussian(sigma=1)+linear 1,2 1,3");
    assert!(text.contains("k(x, y)   7.6065307") && text.contains("distance  1.3367643"), "{text}");
    let found = bench.json("kernel evaluate gaussian(sigma=1) -1,2 0,2 --features 100 --json");
    let k = (-0.5f64).exp();
    assert!((found["value"].as_f64().unwrap() - k).abs() < 1e-12);
    assert!((found["standard_error"].as_f64().unwrap() - (1.0 - k * k) / 10.0).abs() < 1e-12, "(1 − k²)²/D");

    let text = bench.ok("kernel plot matern(nu=1.5,scale=2)");
    assert_eq!(text.lines().count(), 17, "{text}");
    assert!(text.contains("⠉") || text.contains("⡇") || text.contains("⣀"), "{text}");
    let drawn = bench.json("kernel plot chi2 --json");
    let (t, k) = (drawn["t"].as_array().unwrap(), drawn["k"].as_array().unwrap());
    assert!(
        t.iter().zip(k).all(|(t, k)| k.is_null() == (t.as_f64().unwrap() < 0.0)),
        "only where it has a value"
    );

    for (words, expected) in [
        ("kernel explain gausian(sigma=2)", "did you mean gaussian?"),
        ("kernel explain linear[age] --columns a,b", "expected a column \"age\""),
        ("kernel explain linear-linear", "a difference of kernels is no kernel"),
        ("kernel explain radial_sinc(scale=1) --columns 4", "at most three dimensions"),
        ("kernel evaluate linear 1,2 1,2,3", "two rows of one length, found 2 and 3 numbers"),
        ("kernel evaluate linear 1,x 1,2", "expected numbers separated by commas, found \"1,x\""),
        ("kernel evaluate chi2 1,-2 1,2", "entries that are not negative"),
        ("kernel explain linear --bins 0", "expected bins to be at least 1"),
    ] {
        let said = bench.fails(2, words);
        assert!(said.contains(expected), "{words}: {said}");
    }
}

/// Columns by name, in a file; the model knows them again wherever they stand.
#[test]
fn a_composed_kernel_is_fitted_by_the_names_of_columns() {
    let bench = Bench::new();
    let mut chance = Chance::new(3);
    let mut lines = String::from("age,city,income,price\n");
    for _ in 0..300 {
        let (age, city, income) = (chance.normal(), chance.normal(), chance.normal());
        let price = (2.0 * age).sin() + 0.5 * income + 0.01 * city;
        lines += &format!("{age},{city},{income},{price}\n");
    }
    bench.file("a.csv", &lines);
    bench.ok("fit @a.csv --target price --kernel gaussian(sigma=0.5)[age]+linear[income] --features 200 -o @m.bochner --quiet");
    let report = bench.json("inspect @m.bochner --json");
    // The city is not looked at.
    assert_eq!(report["kernel"], "gaussian(sigma=0.5)[0] + linear[1]");
    let score = bench.json("evaluate @m.bochner @a.csv --json");
    assert!(score.to_string().contains("rmse"), "{score}");
    // Another order of columns, the same predictions.
    let swapped: String = lines
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{},{},{}\n", cells[2], cells[1], cells[0])
        })
        .collect();
    bench.file("b.csv", swapped);
    assert_eq!(bench.ok("predict @m.bochner @a.csv"), bench.ok("predict @m.bochner @b.csv"));
    let said = bench.fails(3, "fit @a.csv --target price --kernel gaussian(sigma=0.5)[aeg] -o @n.bochner");
    assert!(said.contains("did you mean \"age\"?"), "{said}");
    // Standardised columns are negative, which χ² cannot be.
    let said = bench.fails(3, "fit @a.csv --target price --kernel chi2 -o @n.bochner");
    assert!(said.contains("entries that are not negative"), "{said}");
    for map in ["quasi", "compiled", "landmarks --landmarks cholesky", "landmarks --landmarks k-means++"] {
        let words = format!(
            "fit @a.csv --target price --kernel gaussian(sigma=1) --map {map} --features 100 -o @n.bochner --quiet"
        );
        bench.ok(&words);
    }
}

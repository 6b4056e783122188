//! The memory that a plan predicts is the memory that a fit takes.
//!
//! Peaks are those of a process, so each fit has its own.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stdout, reason = "what was measured is worth reading")]

use std::ops::Range;

use bochner::plan::Machine;
use bochner::solve::Hinge;
use bochner::source::{Batch, Batches};
use bochner::{
    AnyRows, Auto, Bins, Engine, EngineSpec, Error, ExactRidge, Kernel, LabelKind, Labels, Lambda, Linear,
    Loss, MapSpec, Matrix, MatrixView, Method, MetricChoice, Pca, Ridge, Rows, Solver, Source, Target,
};

/// Rows that nobody stores.
struct Generated {
    count: u64,
    columns: usize,
    target: Target,
}

struct Reader<'a> {
    source: &'a Generated,
    next: u64,
    rows: Matrix<f32>,
    targets: Matrix<f64>,
}

impl Source for Generated {
    fn input_dim(&self) -> usize {
        self.columns
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn row_count(&self) -> Option<u64> {
        Some(self.count)
    }

    fn scalar_bytes(&self) -> usize {
        4
    }

    fn open(&self) -> bochner::Result<Box<dyn Batches + '_>> {
        let (rows, targets) = (Matrix::zeros(0, self.columns), Matrix::zeros(0, 1));
        Ok(Box::new(Reader { source: self, next: 0, rows, targets }))
    }
}

impl Batches for Reader<'_> {
    fn next(&mut self, most: usize) -> bochner::Result<Option<Batch<'_>>> {
        let count = (self.source.count - self.next).min(most as u64) as usize;
        if count == 0 {
            return Ok(None);
        }
        let value = |i: usize, j: usize| {
            let x = (self.next + i as u64) * 2_654_435_761 + j as u64 * 40_503;
            ((x ^ (x >> 15)) % 1009) as f32 / 1009.0
        };
        self.rows = Matrix::zeros(0, self.source.columns); // the old ones first
        self.rows = Matrix::from_fn(count, self.source.columns, value);
        let is_class = matches!(self.source.target, Target::Classes { .. });
        self.targets = Matrix::from_fn(count, 1, |i, _| {
            let value = f64::from(self.rows.row(i)[0]);
            if is_class { (4.0 * value).floor().min(3.0) } else { value }
        });
        let first_row = self.next;
        self.next += count as u64;
        let rows = AnyRows::F32(Rows::from(&self.rows));
        let targets: MatrixView<'_, f64> = self.targets.view();
        Ok(Some(Batch::new(rows, targets, first_row)))
    }

    fn fraction(&self) -> Option<f64> {
        None
    }
}

/// A number of kibibytes from the process's own status.
fn status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// Bytes that are held now, and at the peak, without the pages of the program itself: these come in as it runs, and stay.
fn held() -> u64 {
    status("VmRSS") - status("RssFile")
}

fn peak() -> u64 {
    status("VmHWM") - status("RssFile")
}

/// The machines that are measured: what they hold, unlike sums, grows with the rows.
fn machines() -> [(&'static str, MapSpec, Hinge); 3] {
    let fourier = MapSpec { features: 2048, ..MapSpec::fourier(Kernel::gaussian(2.0)) };
    let method = Method::Binning { bins: Bins::Hashed { width: 64 } };
    let binning = MapSpec { kernel: Kernel::laplace(20.0), method, features: 1000, seed: 0 };
    [
        ("Newton", fourier.clone(), Hinge::Squared),
        ("dense descent", fourier, Hinge::Plain),
        ("binning", binning, Hinge::Squared),
    ]
}

/// The fits that are measured.
fn cases() -> [(&'static str, usize, MapSpec, Lambda); 4] {
    let gaussian = Kernel::gaussian(2.0);
    let fourier = |features| MapSpec { features, ..MapSpec::fourier(gaussian.clone()) };
    let given = Lambda::Given { value: 1e-3 };
    [
        ("narrow, cross-validated", 20, fourier(2048), Lambda::CrossValidated { folds: 5 }),
        ("narrow, given", 20, fourier(3000), given),
        ("wide", 3000, MapSpec { features: 1024, ..MapSpec::auto(gaussian.clone()) }, given),
        (
            "landmarks",
            200,
            MapSpec { features: 1500, ..MapSpec::landmarks(gaussian.clone()) },
            Lambda::CrossValidated { folds: 3 },
        ),
    ]
}

/// Ridge with the exact kernel: the square of the rows.
fn exact() -> [(&'static str, Lambda); 2] {
    [
        ("exact ridge, cross-validated", Lambda::CrossValidated { folds: 5 }),
        ("exact ridge, given", Lambda::Given { value: 1e-3 }),
    ]
}

/// Ridge by conjugate gradients: a sample of the rows leads where D² fits, random vectors where it does not.
fn passes() -> [(&'static str, usize, Lambda, u64); 3] {
    let given = Lambda::Given { value: 1e-2 };
    [
        ("passes led by a sample", 2048, given, u64::MAX),
        ("passes led by a sample, λ chosen", 1536, Lambda::CrossValidated { folds: 5 }, u64::MAX),
        ("passes led by random vectors", 20_000, Lambda::Given { value: 1e-4 }, 200 << 20),
    ]
}

/// Losses by passes: rows, D, λ, and the guide that the memory is enough for.
fn losses() -> [(&'static str, u64, usize, Lambda, u64); 3] {
    [
        ("losses led by a sample", 16_000, 1024, Lambda::CrossValidated { folds: 5 }, 60 << 20),
        ("losses led by random vectors", 12_000, 6000, Lambda::Given { value: 1e-3 }, 200 << 20),
        ("losses led by a large sample", 16_000, 2048, Lambda::CrossValidated { folds: 5 }, 120 << 20),
    ]
}

/// Four classes.
fn classes() -> Target {
    let texts = (0..4).map(|class| class.to_string()).collect();
    Target::Classes { labels: Labels::new(LabelKind::Integer, texts) }
}

/// Searches for a metric: rows, columns, targets.
fn metrics() -> [(&'static str, u64, usize, Target); 2] {
    [
        ("a metric of few columns", 5_000, 12, classes()),
        ("a metric of many columns", 1_200, 700, Target::Numbers { outputs: 1 }),
    ]
}

/// Measures each case in a process of its own, which starts with a small heap. `test` is the name
/// of the caller.
fn in_processes(test: &str, cases: Range<usize>, measure: fn(usize)) {
    if let Ok(case) = std::env::var("BOCHNER_MEMORY_CASE") {
        return measure(case.parse().unwrap());
    }
    for case in cases {
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture", "--include-ignored"])
            .env("BOCHNER_MEMORY_CASE", case.to_string())
            .env("MALLOC_ARENA_MAX", "1") // what glibc keeps for each thread depends on who was first
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&child.stdout);
        assert!(child.status.success(), "{said}\n{}", String::from_utf8_lossy(&child.stderr));
        let lines: Vec<&str> = said.lines().filter(|line| line.contains(": planned ")).collect();
        assert_eq!(lines.len(), 1, "one case is measured: {said}");
        println!("{}", lines[0]);
    }
}

#[test]
fn ridge_takes_what_is_planned() {
    in_processes("ridge_takes_what_is_planned", 0..cases().len(), measure_ridge);
}

#[test]
fn support_vector_machines_take_what_is_planned() {
    in_processes("support_vector_machines_take_what_is_planned", 0..machines().len(), measure_machine);
}

#[test]
fn exact_ridge_takes_what_is_planned() {
    in_processes("exact_ridge_takes_what_is_planned", 0..exact().len(), measure_exact);
}

#[test]
fn conjugate_gradients_take_what_is_planned() {
    in_processes("conjugate_gradients_take_what_is_planned", 0..passes().len(), measure_passes);
}

#[test]
fn losses_by_passes_take_what_is_planned() {
    in_processes("losses_by_passes_take_what_is_planned", 0..2, measure_losses);
}

#[test]
#[ignore = "takes a minute: make test-full"]
fn large_losses_by_passes_take_what_is_planned() {
    in_processes("large_losses_by_passes_take_what_is_planned", 2..losses().len(), measure_losses);
}

#[test]
fn a_search_for_a_metric_takes_what_is_planned() {
    in_processes("a_search_for_a_metric_takes_what_is_planned", 0..metrics().len(), measure_metric);
}

#[test]
fn principal_components_take_what_is_planned() {
    in_processes("principal_components_take_what_is_planned", 0..1, measure_components);
}

/// Ten million rows of 28 columns take the memory of one million, and the plan's: a minute or two in a release build.
#[test]
#[ignore = "takes minutes: cargo test --release -p bochner-suite --test memory -- --ignored --nocapture"]
fn ten_million_rows_take_the_memory_of_one() {
    if let Ok(rows) = std::env::var("BOCHNER_MEMORY_ROWS") {
        let engine: Engine = EngineSpec { threads: 2, ..EngineSpec::default() }.build();
        let count = rows.parse().unwrap();
        let source = Generated { count, columns: 28, target: Target::Numbers { outputs: 1 } };
        let map = MapSpec { features: 512, ..MapSpec::fourier(Kernel::gaussian(2.0)) };
        let ridge = Ridge::new(map);
        let planned = ridge.plan(&source).unwrap().peak_bytes;
        let (before, started) = (held(), std::time::Instant::now());
        ridge.fit(&engine, &source).unwrap();
        let measured = peak() - before;
        println!("{rows} rows: planned {planned} measured {measured} bytes, {:.1?}", started.elapsed());
        return;
    }
    let peak = |rows: &str| -> (u64, u64) {
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "ten_million_rows_take_the_memory_of_one", "--ignored", "--nocapture"])
            .env("BOCHNER_MEMORY_ROWS", rows)
            .env("MALLOC_ARENA_MAX", "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&child.stdout).into_owned();
        assert!(child.status.success(), "{said}\n{}", String::from_utf8_lossy(&child.stderr));
        let line = said.lines().find(|line| line.contains("planned")).unwrap_or_else(|| panic!("{said}"));
        println!("{line}");
        let number = |before: &str| {
            let rest = line.split_once(before).unwrap().1;
            rest.split(' ').next().unwrap().parse::<u64>().unwrap()
        };
        (number("planned "), number("measured "))
    };
    let ((_, few), (planned, many)) = (peak("1000000"), peak("10000000"));
    assert!(many.abs_diff(few) <= few / 20, "{few} bytes and {many}");
    assert!(planned.abs_diff(many) <= many / 5, "planned {planned}, measured {many}");
}

/// Within a fifth of the plan.
fn measure_ridge(case: usize) {
    let (name, columns, map, lambda) = cases()[case].clone();
    let engine: Engine = EngineSpec { threads: 2, ..EngineSpec::default() }.build();
    let source = Generated { count: 12_000, columns, target: Target::Numbers { outputs: 1 } };
    let ridge = Ridge { lambda, ..Ridge::new(map) };
    let planned = ridge.plan(&source).unwrap().peak_bytes;
    let before = held();
    ridge.fit(&engine, &source).unwrap();
    let measured = peak() - before;
    println!("{name}: planned {} MB, measured {} MB", planned / 1_000_000, measured / 1_000_000);
    assert!(
        planned.abs_diff(measured) <= measured / 5,
        "{name}: planned {planned} bytes, measured {measured}"
    );
}

/// Within the plan, which is not far above: it counts what is held at the worst moment of each kind at once.
fn measure_passes(case: usize) {
    let (name, features, lambda, limit) = passes()[case];
    let engine: Engine =
        EngineSpec { threads: 2, memory_limit: Some(limit), ..EngineSpec::default() }.build();
    let source = Generated { count: 3000, columns: 20, target: Target::Numbers { outputs: 1 } };
    let map = MapSpec { features, ..MapSpec::fourier(Kernel::gaussian(2.0)) };
    let ridge = Ridge { lambda, solver: Solver::cg(), ..Ridge::new(map) };
    let planned = ridge.plan_within(&source, limit).unwrap().peak_bytes;
    let before = held();
    let model = ridge.fit(&engine, &source).unwrap();
    let measured = peak() - before;
    println!(
        "{name}: planned {} MB, measured {} MB, {:?}",
        planned / 1_000_000,
        measured / 1_000_000,
        model.training().unwrap().outcome
    );
    assert!(
        planned <= limit && measured <= planned + planned / 10,
        "{name}: {planned} bytes, measured {measured}"
    );
    // Fewer random vectors than there is room for may be enough.
    assert!(planned <= 3 * measured, "{name}: planned {planned} bytes, measured {measured}");
}

/// Features of all rows would take more: they are never there, and the plan is kept.
fn measure_losses(case: usize) {
    let (name, count, features, lambda, limit) = losses()[case];
    let engine: Engine =
        EngineSpec { threads: 2, memory_limit: Some(limit), ..EngineSpec::default() }.build();
    let source = Generated { count, columns: 20, target: classes() };
    let map = MapSpec { features, ..MapSpec::fourier(Kernel::gaussian(2.0)) };
    let linear = Linear { lambda, tolerance: 0.1, most_steps: Some(2), ..Linear::new(map, Loss::Logistic) };
    assert!(linear.plan(&source).unwrap().peak_bytes > limit);
    let planned = linear.plan_within(&source, limit).unwrap().peak_bytes;
    let before = held();
    linear.fit(&engine, &source).unwrap();
    let measured = peak() - before;
    println!("{name}: planned {} MB, measured {} MB", planned / 1_000_000, measured / 1_000_000);
    assert!(
        planned <= limit && measured <= planned + planned / 10,
        "{name}: {planned} bytes, measured {measured}"
    );
    assert!(planned <= 3 * measured, "{name}: planned {planned} bytes, measured {measured}");
}

/// The forecast counts what may be held at once, the forms and families that may be tried: it is kept, and is not far above.
fn measure_metric(case: usize) {
    let (name, count, columns, target) = metrics()[case].clone();
    let engine: Engine = EngineSpec { threads: 2, ..EngineSpec::default() }.build();
    let source = Generated { count, columns, target };
    let auto = Auto { features: Some(64), metric: MetricChoice::Full, ..Auto::default() };
    let before = held();
    auto.fit(&engine, &source).unwrap();
    let measured = peak() - before;
    let machine = Machine::measure(&engine).unwrap();
    let planned = auto.forecast(&engine, &source, &machine, 0.0).unwrap().peak_bytes();
    println!("{name}: planned {} MB, measured {} MB", planned / 1_000_000, measured / 1_000_000);
    assert!(measured <= planned && planned <= 3 * measured, "{name}: planned {planned}, measured {measured}");
}

/// What is asked for before the fit is what it takes: 5·d² numbers, of which half a matrix is the
/// sums.
fn measure_components(_case: usize) {
    let columns = 1200;
    let planned = 5 * 8 * (columns as u64).pow(2);
    let source = Generated { count: 3000, columns, target: Target::Numbers { outputs: 1 } };
    let fit = |limit| {
        let engine = EngineSpec { threads: 2, memory_limit: Some(limit), ..EngineSpec::default() }.build();
        Pca { components: 10 }.fit(&engine, &source)
    };
    assert!(matches!(fit(planned - 1), Err(Error::Memory { needed, .. }) if needed == planned));
    let before = held();
    fit(planned).unwrap();
    let measured = peak() - before;
    println!("components: planned {} MB, measured {} MB", planned / 1_000_000, measured / 1_000_000);
    assert!(
        planned.abs_diff(measured) <= measured / 4,
        "components: planned {planned} bytes, measured {measured}"
    );
}

fn measure_machine(case: usize) {
    let (name, map, hinge) = machines()[case].clone();
    let engine: Engine = EngineSpec { threads: 2, ..EngineSpec::default() }.build();
    let source = Generated { count: 30_000, columns: 20, target: classes() };
    let svm = Linear {
        lambda: Lambda::Given { value: 1e-2 },
        tolerance: 0.1,
        ..Linear::new(map, Loss::margins(hinge))
    };
    let planned = svm.plan(&source).unwrap().peak_bytes;
    let before = held();
    svm.fit(&engine, &source).unwrap();
    let measured = peak() - before;
    println!("{name}: planned {} MB, measured {} MB", planned / 1_000_000, measured / 1_000_000);
    assert!(
        planned.abs_diff(measured) <= measured / 4,
        "{name}: planned {planned} bytes, measured {measured}"
    );
}

fn measure_exact(case: usize) {
    let (name, lambda) = exact()[case];
    let engine: Engine = EngineSpec { threads: 2, ..EngineSpec::default() }.build();
    let source = Generated { count: 3000, columns: 20, target: Target::Numbers { outputs: 1 } };
    let ridge = ExactRidge { kernel: Kernel::gaussian(2.0), lambda, intercept: true };
    let planned = ridge.plan(&source).unwrap().peak_bytes;
    let before = held();
    ridge.fit(&engine, &source).unwrap();
    let measured = peak() - before;
    println!("{name}: planned {} MB, measured {} MB", planned / 1_000_000, measured / 1_000_000);
    assert!(
        planned.abs_diff(measured) <= measured / 5,
        "{name}: planned {planned} bytes, measured {measured}"
    );
}

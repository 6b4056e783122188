//! `bochner strategies`: what a job of some shape costs, by each strategy, before there is any data.

use bochner::plan::{Counts, Speed, StrategyTable, exact_features};
use bochner::{MapSpec, Method, Strategy, Workload};
use serde::Serialize;

use crate::args::{PrecisionArg, StrategiesArgs};
use crate::console::Console;
use crate::exit::Failure;
use crate::text;

/// Runs the command.
pub(crate) fn run(args: StrategiesArgs, console: &mut Console<'_>) -> Result<(), Failure> {
    let workload = workload(&args)?;
    let table = workload.table(Speed::default(), args.max_memory);
    if args.json {
        return console.json(&Planned::new(&args, &table));
    }
    console.line(&headline(&args, &workload))?;
    console.line("")?;
    console.line(table.to_string().trim_end())?;
    console.line("")?;
    console.line(&conclusion(&table))
}

fn usage(error: bochner::Error) -> Failure {
    Failure::Usage(error.to_string())
}

/// The job that was typed.
fn workload(args: &StrategiesArgs) -> Result<Workload, Failure> {
    let columns = args.shape.columns as usize;
    args.kernel.check(columns).map_err(usage)?;
    let method = Method::auto(&args.kernel, args.features);
    let map = MapSpec { kernel: args.kernel.clone(), method, features: args.features, seed: 0 };
    let dense = Workload::dense(args.shape.rows, args.shape.columns.into());
    let workload = Workload {
        entries: args.shape.entries.unwrap_or(dense.entries),
        features: map.output_dim(columns) as u64,
        exact_features: exact_features(&args.kernel, columns).map_err(usage)?,
        steps: args.steps.unwrap_or(dense.steps),
        outputs: args.shape.outputs,
        scalar_bytes: if args.precision == PrecisionArg::Single { 4 } else { 8 },
        ..dense
    };
    workload.validate().map_err(usage)?;
    Ok(workload)
}

/// `100,000 steps on 10,000 rows of 100 columns, gaussian(sigma=1): D = 2,048`
fn headline(args: &StrategiesArgs, workload: &Workload) -> String {
    let rows = text::counted(workload.rows, "row", "rows");
    let columns = text::counted(workload.inputs, "column", "columns");
    let stored = match args.shape.entries {
        Some(entries) => format!(" with {} in all", text::counted(entries, "entry", "entries")),
        None => String::new(),
    };
    let steps = text::counted(workload.steps, "step", "steps");
    let exact = match workload.exact_features {
        Some(features) => format!("{} of its own", text::count(features)),
        None => "infinitely many of its own".to_owned(),
    };
    let features = text::counted(workload.features, "feature", "features");
    format!(
        "stochastic gradient descent: T = {steps} on n = {rows} of d = {columns}{stored}\n{}: D = {features} of a map, {exact}",
        args.kernel
    )
}

/// Which to take.
fn conclusion(table: &StrategyTable) -> String {
    let name = |strategy: Option<Strategy>| strategy.map_or_else(|| "none".to_owned(), |s| s.to_string());
    let (all, exact) = (table.cheapest(&|_| true), table.cheapest(&Strategy::is_exact));
    let Speed { multiply_adds_per_second, bytes_per_second } = table.speed;
    format!(
        "* the quickest: {}; without approximation: {}. Memory is beyond the data; times are for a nominal processor \
         of {multiply_adds_per_second:e} multiply-adds and {bytes_per_second:e} bytes a second.",
        name(all),
        name(exact)
    )
}

#[derive(Serialize)]
struct Planned {
    kernel: String,
    #[serde(flatten)]
    workload: Workload,
    speed: Speed,
    strategies: Vec<Row>,
    quickest: Option<Strategy>,
    quickest_exact: Option<Strategy>,
}

#[derive(Serialize)]
struct Row {
    strategy: Strategy,
    /// Why it cannot be; none if it can.
    refused: Option<String>,
    #[serde(flatten)]
    counts: Option<Counts>,
    seconds: Option<f64>,
    asymptotic_time: Option<&'static str>,
    asymptotic_memory: Option<&'static str>,
}

impl Planned {
    fn new(args: &StrategiesArgs, table: &StrategyTable) -> Planned {
        let strategies = table.rows.iter().map(|(strategy, figures)| {
            let known = figures.as_ref().ok();
            Row {
                strategy: *strategy,
                refused: figures.as_ref().err().map(bochner::Error::to_string),
                counts: known.map(|figures| figures.counts),
                seconds: known.map(|figures| figures.seconds(table.speed)),
                asymptotic_time: known.map(|figures| figures.asymptotic_time),
                asymptotic_memory: known.map(|figures| figures.asymptotic_memory),
            }
        });
        Planned {
            kernel: args.kernel.to_string(),
            workload: table.workload,
            speed: table.speed,
            strategies: strategies.collect(),
            quickest: table.cheapest(&|_| true),
            quickest_exact: table.cheapest(&Strategy::is_exact),
        }
    }
}

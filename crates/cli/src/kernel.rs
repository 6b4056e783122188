//! `bochner kernel`: what can be written, what it becomes, what it is worth.

mod profile;

use bochner::certify::{features_for, features_for_distance, fourier_variance, grids_for};
use bochner::kernel::{Column, FunctionName, catalogue};
use bochner::{Engine, FourierForm, Kernel, MapSpec, Matrix, Method, Recipe, Rows};
use serde::Serialize;

use crate::args::{EvaluateKernelArgs, ExplainArgs, KernelCommand, ProfileArgs};
use crate::console::Console;
use crate::exit::Failure;
use crate::report::{Line, aligned};
use crate::text;

/// Runs the command.
pub(crate) fn run(command: KernelCommand, console: &mut Console<'_>) -> Result<(), Failure> {
    match command {
        KernelCommand::List { json } => list(json, console),
        KernelCommand::Explain(args) => explain(&args, console),
        KernelCommand::Evaluate(args) => evaluate(&args, console),
        KernelCommand::Plot(args) => plot(&args, console),
    }
}

fn usage(error: bochner::Error) -> Failure {
    Failure::Usage(error.to_string())
}

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    aliases: &'static [&'static str],
    parameters: &'static [&'static str],
    formula: &'static str,
    example: &'static str,
}

fn list(json: bool, console: &mut Console<'_>) -> Result<(), Failure> {
    let kernels: Vec<Listed> = catalogue()
        .iter()
        .map(|entry| Listed {
            name: entry.name,
            aliases: entry.aliases,
            parameters: entry.parameters,
            formula: entry.formula,
            example: entry.example,
        })
        .collect();
    if json {
        return console.json(&kernels);
    }
    let width = kernels.iter().map(|kernel| kernel.example.chars().count()).max().unwrap_or(0);
    for kernel in &kernels {
        console.line(&format!("{:<width$}  {}", kernel.example, kernel.formula))?;
    }
    let functions = FunctionName::ALL.map(FunctionName::text).join(", ");
    console.line(&format!(
        "\n{ALGEBRA}\nf: {functions}. A width may be a list, one for each column: gaussian(sigma=[1,2,3])."
    ))
}

const ALGEBRA: &str = "\
With K, L of these:
0.5*K   K + L   K*L   exp(K)   normalised(K)   weighted(f,K)   K[age,3..9]   on columns by name, or by number from 0 (3..9 is 3 to 8)";

#[derive(Serialize)]
struct Explained {
    kernel: String,
    columns: usize,
    features: usize,
    tree: Node,
    /// Fourier features for all pairs of 10,000 points within 0.1, probability 0.95; none where there is no such number.
    features_for_a_tenth: Option<usize>,
}

#[derive(Serialize)]
struct Node {
    kernel: String,
    how: String,
    features: usize,
    variance: Option<f64>,
    parts: Vec<Node>,
}

impl Node {
    fn of(recipe: &Recipe) -> Node {
        Node {
            kernel: recipe.kernel.to_string(),
            how: recipe.what(),
            features: recipe.features,
            variance: recipe.variance(),
            parts: recipe.parts().iter().map(Node::of).collect(),
        }
    }
}

fn explain(args: &ExplainArgs, console: &mut Console<'_>) -> Result<(), Failure> {
    let (kernel, columns) = bound(&args.kernel, args.columns.as_deref())?;
    let method = Method::Compiled { bins: args.bins };
    let spec = MapSpec { kernel: kernel.clone(), method, features: args.features, seed: 0 };
    spec.check_for(columns).map_err(usage)?;
    let recipe = spec.recipe(columns).map_err(usage)?;
    let recipe = recipe.ok_or_else(|| Failure::Usage("there is nothing to explain".to_owned()))?;
    let a_tenth = features_for(&kernel, FourierForm::Pairs, POINTS, ERROR, DELTA).ok();
    if args.json {
        return console.json(&Explained {
            kernel: kernel.to_string(),
            columns,
            features: recipe.features,
            tree: Node::of(&recipe),
            features_for_a_tenth: a_tenth,
        });
    }
    let given = if args.columns.is_some() { "" } else { " (--columns for others)" };
    console.line(&format!("for rows of {}{given}\n", text::counted(columns as u64, "column", "columns")))?;
    console.line(recipe.to_string().trim_end())?;
    console.line("")?;
    console.line(&aligned(&needs(&kernel, a_tenth)))
}

/// The example of a guarantee: so many points, this error, this chance of being wrong.
const POINTS: u64 = 10_000;
const ERROR: f64 = 0.1;
const DELTA: f64 = 0.05;

/// What guarantees would take.
fn needs(kernel: &Kernel, a_tenth: Option<usize>) -> Vec<Line> {
    let count = |number: usize| text::count(number as u64);
    let mut lines = vec![(
        "all pairs of 10,000 rows within 0.1",
        match a_tenth {
            Some(number) => format!("{} Fourier features, with probability 0.95", count(number)),
            None => "no number of features is known to be enough; the error is measured when a map is fitted"
                .to_owned(),
        },
    )];
    if let Ok(grids) = grids_for(kernel, POINTS, ERROR, DELTA) {
        lines.push(("", format!("{} grids of fitted bins", count(grids))));
    }
    lines.push((
        "a kernel distance within 10 %",
        match features_for_distance(kernel, ERROR, DELTA) {
            Ok(number) => format!("{} Fourier features, with probability 0.95 for one pair", count(number)),
            Err(bochner::Error::Unsupported { reason, .. }) => format!("not to be had: {reason}"),
            Err(error) => error.to_string(),
        },
    ));
    lines
}

/// A kernel with its columns by number, and how many there are: as given, or as many as it speaks of, or ten.
fn bound(kernel: &Kernel, columns: Option<&str>) -> Result<(Kernel, usize), Failure> {
    match columns {
        Some(text) if text.trim().parse::<usize>().is_ok() => {
            let count = text.trim().parse().unwrap_or(0);
            if count > u32::MAX as usize {
                return Err(Failure::Usage(format!("expected fewer than 2³² columns, found {count}")));
            }
            Ok((kernel.clone(), count))
        }
        Some(names) => {
            let names: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
            Ok((kernel.bind(&names).map_err(usage)?, names.len()))
        }
        None => {
            let mut names = Vec::new();
            collect(kernel, &mut names);
            let kernel = kernel.bind(&names).map_err(usage)?;
            let named = kernel.columns_named().max((!names.is_empty()).then_some(names.len()));
            let usual = if kernel.check(DEFAULT_COLUMNS).is_ok() { DEFAULT_COLUMNS } else { 1 };
            Ok((kernel, named.unwrap_or(usual)))
        }
    }
}

/// Columns where nothing is said of them.
const DEFAULT_COLUMNS: usize = 10;

/// The names of columns, in order of appearance.
fn collect(kernel: &Kernel, names: &mut Vec<String>) {
    let columns = match kernel {
        Kernel::Restricted { columns, .. } => columns.as_slice(),
        Kernel::Weighted { function, .. } => function.columns.as_deref().unwrap_or(&[]),
        _ => &[],
    };
    for column in columns {
        if let Column::Name(name) = column
            && !names.contains(name)
        {
            names.push(name.clone());
        }
    }
    kernel.parts().iter().for_each(|part| collect(part, names));
}

#[derive(Serialize)]
struct Evaluated {
    kernel: String,
    value: f64,
    of_the_first: f64,
    of_the_second: f64,
    cosine: f64,
    distance: f64,
    /// Of that many independent Fourier features; none where there are none.
    standard_error: Option<f64>,
    features: usize,
}

fn evaluate(args: &EvaluateKernelArgs, console: &mut Console<'_>) -> Result<(), Failure> {
    let read = |row: &str| {
        let entry = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
        let numbers: Option<Vec<f64>> =
            row.split([',', ';', ' ']).filter(|t| !t.is_empty()).map(entry).collect();
        numbers
            .ok_or_else(|| Failure::Usage(format!("expected numbers separated by commas, found \"{row}\"")))
    };
    let (x, y) = (read(&args.x)?, read(&args.y)?);
    if x.len() != y.len() {
        return Err(Failure::Usage(format!(
            "expected two rows of one length, found {} and {} numbers",
            x.len(),
            y.len()
        )));
    }
    let columns = args.columns.clone().unwrap_or_else(|| x.len().to_string());
    let (kernel, count) = bound(&args.kernel, Some(&columns))?;
    if count != x.len() {
        return Err(Failure::Usage(format!("expected {count} numbers in a row, found {}", x.len())));
    }
    let rows = Matrix::new(2, count, [x, y].concat()).map_err(usage)?;
    let rows = Rows::from(&rows);
    let gram = kernel.gram(&Engine::single_thread(), &rows, &rows).map_err(usage)?;
    let (value, first, second) = (gram.row(0)[1], gram.row(0)[0], gram.row(1)[1]);
    let variance = fourier_variance(&kernel, FourierForm::Pairs, args.features, &rows, (0, 1)).ok();
    let found = Evaluated {
        kernel: kernel.to_string(),
        value,
        of_the_first: first,
        of_the_second: second,
        cosine: value / (first.sqrt() * second.sqrt()),
        distance: kernel.distance(&rows, 0, &rows, 1),
        standard_error: variance.map(f64::sqrt),
        features: args.features,
    };
    if args.json {
        return console.json(&found);
    }
    let number = |value: f64| text::significant(value, 8);
    let mut lines = vec![
        ("k(x, y)", number(found.value)),
        ("k(x, x)", number(found.of_the_first)),
        ("k(y, y)", number(found.of_the_second)),
        ("cosine", number(found.cosine)),
        ("distance", number(found.distance)),
    ];
    if let Some(error) = found.standard_error {
        let features = text::count(args.features as u64);
        lines.push((
            "by features",
            format!("± {} (standard error of {features} independent Fourier features)", text::number(error)),
        ));
    }
    console.line(&aligned(&lines))
}

fn plot(args: &ProfileArgs, console: &mut Console<'_>) -> Result<(), Failure> {
    let (kernel, count) = bound(&args.kernel, args.columns.as_deref().or(Some("1")))?;
    let profile = profile::Profile::of(&kernel, count, args.at, args.reach).map_err(usage)?;
    if args.json { console.json(&profile) } else { console.line(&profile.drawn()) }
}

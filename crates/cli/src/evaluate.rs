//! `bochner evaluate`: a model and a file with the truth → metrics with intervals.

use bochner::sweep::BLOCK;
use bochner::table::infer::is_missing_label;
use bochner::table::{Column, TableSource, TextColumn, position};
use bochner::{Engine, Error, Event, Head, Matrix, Model};

use crate::args::EvaluateArgs;
use crate::console::Console;
use crate::data::{self, Truth};
use crate::exit::Failure;
use crate::metrics::{Class, ClassMetrics, ClassSummary, Estimate, NumberMetrics, NumberSummary};
use crate::predict::{engine, load};
use crate::progress::Progress;
use crate::report::{Line, aligned};
use crate::text;

/// Classes that the table has room for.
const SHOWN: usize = 20;

/// Runs the command.
pub(crate) fn run(args: EvaluateArgs, console: &mut Console<'_>) -> Result<(), Failure> {
    let model = load(&args.model)?;
    let (data, mut options) = data::find(&args.data, &args.read)?;
    let typed = data::target_column(args.target, &mut options);
    let target = match (&typed, model.target()) {
        (Some(typed), _) => typed.as_str(),
        (None, "") => {
            let text = "the model does not know the name of its target: say --target COLUMN";
            return Err(Failure::Usage(text.to_owned()));
        }
        (None, fitted) => fitted,
    };
    let truth = match model.head() {
        Head::Classification { .. } => Truth::Class(target),
        _ if model.intercept().len() == 1 => Truth::Number(target),
        _ => {
            let reason = format!("has {} outputs, and one can be evaluated", model.intercept().len());
            return Err(Failure::Unfit { file: args.model, reason });
        }
    };
    let progress = Progress::new(&console.messages, args.run.quiet);
    let engine = engine(&progress, &args.run);
    let tables = data::open_for(&engine, &model, &data, options, &[], Some(truth));
    let tables = tables.map_err(|failure| own_file(failure, typed.as_deref(), target))?;
    let metrics = measure(&model, &engine, tables.as_ref(), target, &progress);
    match metrics.map_err(Failure::about(&data))? {
        Metrics::Classes(summary) if args.json => console.json(&summary),
        Metrics::Numbers(summary) if args.json => console.json(&summary),
        Metrics::Classes(summary) => console.line(&class_text(&summary)),
        Metrics::Numbers(summary) => console.line(&number_text(&summary)),
    }
}

/// The same failure, with what to do about it where the targets that were fitted to had a file of their own.
fn own_file(failure: Failure, typed: Option<&str>, target: &str) -> Failure {
    match &failure {
        Failure::Library { error: Error::MissingColumn { name, .. }, .. }
            if typed.is_none() && name == target && target == bochner_io::TARGET =>
        {
            failure.hint("say --target COLUMN, or --target FILE.npy for targets of a file of their own")
        }
        _ => failure,
    }
}

/// Metrics of either kind.
pub(crate) enum Metrics {
    Classes(ClassSummary),
    Numbers(NumberSummary),
}

/// Predicts all rows and compares them with the target column.
pub(crate) fn measure(
    model: &Model,
    engine: &Engine,
    tables: &dyn TableSource,
    target: &str,
    progress: &Progress,
) -> bochner::Result<Metrics> {
    let at = position(tables.columns(), target)?;
    let mut classes = match model.head() {
        Head::Classification { labels, .. } => Some(ClassMetrics::new(labels)),
        _ => None,
    };
    let mut numbers = NumberMetrics::default();
    let (mut reader, mut rows, mut compared) = (tables.open(engine)?, 0, 0);
    let phase = "evaluate";
    progress.tell(&Event::Started { phase })?;
    while let Some(table) = reader.next(BLOCK)? {
        let outputs = model.decide_table(engine, &table, tables.columns())?;
        match (&table.columns[at], &mut classes) {
            (Column::Text(truth), Some(classes)) => {
                let known =
                    truth.iter().zip(model.classes(&outputs)).filter(|(truth, _)| !is_missing_label(truth));
                known.for_each(|(truth, class)| {
                    compared += 1;
                    classes.absorb(truth, class);
                });
            }
            (Column::Number(truth), None) => compared += absorb_known(&mut numbers, truth, &outputs),
            (Column::Text(truth), None) => {
                compared += absorb_known(&mut numbers, &parsed(truth, rows)?, &outputs)
            }
            _ => {
                let found = format!("\"{target}\" among the inputs of the model, or sparse");
                return Err(Error::Parameter { name: "target", expected: "a column of its own", found });
            }
        }
        rows += table.rows as u64;
        progress.tell(&Event::Progress { phase, rows, fraction: reader.fraction() })?;
    }
    progress.tell(&Event::Finished { phase })?;
    data::warn_of_unreadable(reader.as_ref(), tables.columns(), progress);
    if compared < rows {
        let missing = text::counted(rows - compared, "row has", "rows have");
        progress.warn(&format!("{missing} no \"{}\" and are left out", text::shortened(target, 40)));
    }
    if let Some((unknown, example)) = classes.as_ref().and_then(ClassMetrics::unknown) {
        let rows = text::counted(unknown, "row has a class", "rows have a class");
        progress.warn(&format!(
            "{rows} that the model does not know, such as \"{}\": counted as errors; fit to data that has it",
            text::shortened(example, 40)
        ));
    }
    let metrics = match classes {
        Some(classes) => classes.summary().map(Metrics::Classes),
        None => numbers.summary().map(Metrics::Numbers),
    };
    metrics.ok_or(Error::NoRows)
}

/// Compares the rows with a truth, and says how many they are.
fn absorb_known(numbers: &mut NumberMetrics, truth: &[f64], outputs: &Matrix<f64>) -> u64 {
    let known = truth.iter().zip(outputs.as_slice()).filter(|(truth, _)| truth.is_finite());
    let (truth, outputs): (Vec<f64>, Vec<f64>) = known.unzip();
    numbers.absorb(&truth, &outputs);
    truth.len() as u64
}

/// The targets of a sparse file as numbers; NaN where one is missing.
fn parsed(texts: &TextColumn, first_row: u64) -> bochner::Result<Vec<f64>> {
    let parse = |(i, text): (usize, &str)| {
        let row = first_row + i as u64;
        let wrong = || Error::TargetText { expected: "a number", found: text.to_owned(), row };
        if is_missing_label(text) { Ok(f64::NAN) } else { data::number(text).ok_or_else(wrong) }
    };
    texts.iter().enumerate().map(parse).collect()
}

/// `0.9566   95 % interval 0.9413 to 0.9681`
pub(crate) fn estimate(estimate: &Estimate, digits: impl Fn(f64) -> String) -> String {
    match estimate.interval {
        Some([low, high]) => {
            format!("{}  (95 % interval {} to {})", digits(estimate.value), digits(low), digits(high))
        }
        None => digits(estimate.value),
    }
}

fn percent(value: f64) -> String {
    format!("{:.2} %", 100.0 * value)
}

/// Accuracy, what it is to be compared with, and each class.
fn class_text(summary: &ClassSummary) -> String {
    let mut lines = accuracy_lines(summary);
    if summary.unknown_rows > 0 {
        lines.push((
            "unknown",
            format!("{} rows of classes the model does not know", text::count(summary.unknown_rows)),
        ));
    }
    let mut shown: Vec<&Class> = summary.classes.iter().collect();
    shown.sort_by_key(|class| std::cmp::Reverse(class.rows));
    shown.truncate(SHOWN);
    // The largest, in the order of classes.
    let shown: Vec<Vec<String>> = summary
        .classes
        .iter()
        .filter(|class| shown.iter().any(|s| std::ptr::eq(*s, *class)))
        .map(class_row)
        .collect();
    let mut parts = vec![aligned(&lines), String::new()];
    parts.extend(text::table(&["class", "rows", "precision", "recall"], &shown));
    if summary.classes.len() > SHOWN {
        parts.push(format!("and {} smaller classes (--json has all)", summary.classes.len() - SHOWN));
    }
    parts.join("\n")
}

/// The lines about all classes together.
pub(crate) fn accuracy_lines(summary: &ClassSummary) -> Vec<Line> {
    let constant = text::shortened(&summary.baseline_class, 40);
    vec![
        ("rows", text::count(summary.rows)),
        ("accuracy", estimate(&summary.accuracy, percent).replace("95 % interval", "95 % Wilson interval")),
        ("baseline", format!("{}  always \"{constant}\"", percent(summary.baseline_accuracy))),
    ]
}

fn class_row(class: &Class) -> Vec<String> {
    let share = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), percent);
    vec![
        text::shortened(&class.label, 30),
        text::count(class.rows),
        share(class.precision),
        share(class.recall),
    ]
}

fn number_text(summary: &NumberSummary) -> String {
    let mut lines = vec![
        ("rows", text::count(summary.rows)),
        ("RMSE", estimate(&summary.rmse, text::number)),
        ("MAE", estimate(&summary.mae, text::number)),
    ];
    lines.push(match &summary.r2 {
        Some(r2) => ("R²", estimate(r2, |value| format!("{value:.4}"))),
        None => ("R²", "not defined: the target is constant".to_owned()),
    });
    lines.push((
        "baseline",
        format!("{}  RMSE of always predicting the mean", text::number(summary.baseline_rmse)),
    ));
    aligned(&lines)
}

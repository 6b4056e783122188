//! `bochner fit`: a file → a model.

use std::path::{Path, PathBuf};
use std::time::Instant;

use bochner::encode::Task;
use bochner::table::ColumnKind;
use bochner::{Event, KernelChoice, Labels, Loss, Model};
use serde::Serialize;

use crate::args::FitArgs;
use crate::console::Console;
use crate::exit::Failure;
use crate::learn::{Job, Learnt, Recipe};
use crate::progress::Progress;
use crate::report::{self, Line, ModelReport};
use crate::{map, output, page, text};

/// A fit that goes to a file.
struct Fit {
    job: Job,
    output: PathBuf,
    report: Option<PathBuf>,
    started: Instant,
}

/// Runs the command.
pub(crate) fn run(args: FitArgs, console: &mut Console<'_>) -> Result<(), Failure> {
    let started = Instant::now();
    let (json, report, job) = (args.json, args.report, Job::check(args.learn)?);
    let output = args.output.unwrap_or_else(|| named_like(&job.data));
    let progress = Progress::new(&console.messages, job.run.quiet);
    let fit = Fit { job, output, report, started };
    let learnt = fit.fit(&progress)?;
    let summary = fit.summary(&learnt, &progress)?;
    let model = learnt.model;
    if let Some(path) = &fit.report {
        let lines = summary.page_lines(&fit.job.recipe, &model);
        let name = |j: usize| report::encoded_name(&model, j);
        page::write(path, &page::of(&fit.output, &summary.report, &name, &lines))?;
    }
    match (json, fit.job.run.quiet) {
        (true, _) => console.json(&summary),
        (false, true) => Ok(()),
        (false, false) => console.line(&report::aligned(&summary.lines(&fit.job.recipe, &model))),
    }
}

/// In this folder: `houses.bochner` for `data/houses.csv.gz`.
fn named_like(data: &Path) -> PathBuf {
    let name = data.file_name().map_or_else(|| "model".into(), |name| name.to_string_lossy());
    let stem = name.split(['.', '*', '?']).next().unwrap_or_default().trim_end_matches(['-', '_']);
    let stem = if stem.is_empty() || data.as_os_str() == "standard input" { "model" } else { stem };
    PathBuf::from(format!("{stem}.bochner"))
}

impl Fit {
    fn fit(&self, progress: &std::sync::Arc<Progress>) -> Result<Learnt, Failure> {
        let inputs = self.job.inputs();
        output::check_distinct("--output", &self.output, &inputs)?;
        if let Some(report) = &self.report {
            let others = [inputs.as_slice(), &[self.output.as_path()]].concat();
            output::check_distinct("--report", report, &others)?;
        }
        let engine = progress.engine(&self.job.run, self.job.max_memory);
        let learnt = self.job.fit(&engine, self.started, || {
            output::check_writable(&self.output)?;
            self.report.as_deref().map_or(Ok(()), output::check_writable)
        })?;
        if let Some(text) = map::exact_warning(self.job.recipe.auto.features, learnt.model.map()) {
            engine.tell(&Event::Warning { text: &text })?;
        }
        learnt.model.save(&self.output).map_err(|error| match error {
            bochner::Error::Io { source, .. } => Failure::Write { file: self.output.clone(), source },
            other => other.into(),
        })?;
        Ok(learnt)
    }

    fn summary(&self, learnt: &Learnt, progress: &Progress) -> Result<Summary, Failure> {
        let Learnt { model, pass, decided, .. } = learnt;
        let report = ModelReport::new(model);
        let labels = labels(model);
        let cross_validation = report.left_out_error().map(|error| {
            match self.job.recipe.auto.loss {
                Loss::Squares => {}
                Loss::Margins { .. } => {
                    return CrossValidation { wrong: Some(error), ..CrossValidation::default() };
                }
                _ => return CrossValidation { loss: Some(error), ..CrossValidation::default() },
            }
            let constant = pass.constant_error(labels);
            CrossValidation {
                squared_error: Some(error),
                rmse: labels.is_none().then(|| error.sqrt()),
                explained: (constant > 0.0).then(|| 1.0 - error / constant),
                ..CrossValidation::default()
            }
        });
        Ok(Summary {
            model: self.output.display().to_string(),
            bytes: std::fs::metadata(&self.output).map_or(0, |metadata| metadata.len()),
            rows: pass.rows(),
            inputs: inputs(model),
            roles: self.roles(learnt),
            reason: decided.reason.clone(),
            report,
            is_numeric: pass.is_numeric(),
            cross_validation,
            seconds: self.started.elapsed().as_secs_f64(),
            warnings: progress.warnings(),
        })
    }
}

impl Fit {
    /// `weight w, group patient, id order, left out key`: what columns are for, if it is not to be learnt from.
    fn roles(&self, learnt: &Learnt) -> String {
        let roles = &self.job.roles;
        let named = |role: &str, names: &[String]| {
            let names = text::list(names.iter().map(String::as_str), 4);
            (!names.is_empty()).then(|| format!("{role} {names}"))
        };
        let parts = [
            named("weight", roles.weight.as_slice()),
            named("group", roles.group.as_slice()),
            named("id", &roles.ids),
            named("ignored", &roles.ignored),
            named("left out", &learnt.left_out),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }
}

/// `14: 6 numbers (age, hours and 4 more), 8 categories (city, state and 6 more)`; of columns without names how many there are.
fn inputs(model: &Model) -> String {
    let columns = model.encoder().columns();
    let mut inputs: Vec<(&str, ColumnKind)> =
        columns.inputs().iter().map(|input| (input.name.as_str(), input.encoding.kind())).collect();
    // A text may be there in several ways.
    inputs.dedup();
    let of_kind = |(kind, one, many): (ColumnKind, &str, &str)| {
        let names = inputs.iter().filter(|(_, other)| *other == kind).map(|(name, _)| *name);
        let names: Vec<&str> = names.collect();
        let count = text::counted(names.len() as u64, one, many);
        (!names.is_empty()).then(|| format!("{count} ({})", text::list(names.into_iter(), 2)))
    };
    let kinds = [
        (ColumnKind::Number, "number", "numbers"),
        (ColumnKind::Boolean, "boolean", "booleans"),
        (ColumnKind::Category, "category", "categories"),
        (ColumnKind::Date, "date", "dates"),
        (ColumnKind::Text, "text", "texts"),
    ];
    let kinds: Vec<String> = kinds.into_iter().filter_map(of_kind).collect();
    match kinds.as_slice() {
        [] => text::count(columns.count() as u64),
        kinds => format!("{}: {}", text::count(inputs.len() as u64), kinds.join(", ")),
    }
}

fn labels(model: &Model) -> Option<&Labels> {
    match model.head() {
        bochner::Head::Classification { labels, .. } => Some(labels),
        _ => None,
    }
}

/// What a fit gave.
#[derive(Serialize)]
struct Summary {
    model: String,
    bytes: u64,
    rows: u64,
    /// What columns hold, and what those are for that are not learnt from, in words.
    #[serde(skip)]
    inputs: String,
    #[serde(skip)]
    roles: String,
    /// Why the target is a number or a class, where that was not said.
    reason: String,
    #[serde(flatten)]
    report: ModelReport,
    #[serde(skip)]
    is_numeric: bool,
    cross_validation: Option<CrossValidation>,
    seconds: f64,
    warnings: Vec<String>,
}

/// The error on rows that were left out.
#[derive(Default, Serialize)]
struct CrossValidation {
    /// Summed over outputs.
    squared_error: Option<f64>,
    /// Of a regression.
    rmse: Option<f64>,
    /// 1 − error / error of the best constant.
    explained: Option<f64>,
    /// The share of wrong classes, where margins were minimised.
    wrong: Option<f64>,
    /// The mean loss, of all other losses.
    loss: Option<f64>,
}

impl Summary {
    fn lines(&self, recipe: &Recipe, model: &Model) -> Vec<Line> {
        let mut lines = self.about(recipe, model);
        lines.extend(self.report.metric(&|j| report::encoded_name(model, j)));
        lines.extend(self.fitted());
        lines.extend(self.report.certificate());
        lines.extend(self.cost());
        lines
    }

    /// What a page does not say by figures.
    fn page_lines(&self, recipe: &Recipe, model: &Model) -> Vec<Line> {
        [self.about(recipe, model), self.fitted(), self.cost().to_vec()].concat()
    }

    /// What is predicted, from what, by which kernel.
    fn about(&self, recipe: &Recipe, model: &Model) -> Vec<Line> {
        let tuned = match recipe.auto.kernel {
            KernelChoice::Given(_) => "",
            KernelChoice::Tuned(_) => ", width tuned",
            KernelChoice::Any => ", chosen, width tuned",
        };
        let mut lines = vec![("rows", text::count(self.rows)), ("columns", self.inputs.clone())];
        lines.extend((!self.roles.is_empty()).then(|| ("", self.roles.clone())));
        lines.extend(self.report.texts());
        lines.push(("task", self.task(recipe.task)));
        lines.push(("kernel", format!("{}{tuned}", report::short(&model.map().spec().kernel))));
        lines
    }

    /// How it was fitted, and how well.
    fn fitted(&self) -> Vec<Line> {
        let mut lines = vec![self.report.map()];
        lines.extend(self.report.enough());
        lines.extend(self.report.training());
        lines.extend(self.cross_validation.as_ref().map(|errors| ("error", errors.text())));
        lines.extend(self.report.uncertainty());
        lines
    }

    /// What it cost.
    fn cost(&self) -> [Line; 2] {
        [
            ("model", format!("{}, {}", self.model, bochner::plan::bytes(self.bytes))),
            ("time", text::seconds(self.seconds)),
        ]
    }

    /// What is predicted, and how to change that where it was our choice.
    fn task(&self, asked: Task) -> String {
        let target = text::shortened(self.report.target.as_deref().unwrap_or_default(), 40);
        let free = asked == Task::Auto && self.is_numeric;
        let (what, instead) = match &self.report.classes {
            Some(classes) => {
                let names = text::list(classes.iter().map(String::as_str), 4);
                (
                    format!("\"{target}\", {} classes: {names}", classes.len()),
                    "--task regression to predict a number",
                )
            }
            None => (format!("\"{target}\", a number"), "--task classification to predict classes"),
        };
        let why = [self.reason.as_str(), if free { instead } else { "" }];
        match why.into_iter().filter(|why| !why.is_empty()).collect::<Vec<_>>().join("; ") {
            why if why.is_empty() => what,
            why => format!("{what} ({why})"),
        }
    }
}

impl CrossValidation {
    fn text(&self) -> String {
        let explained =
            self.explained.map(|share| format!("{:.1} % of the variance explained", 100.0 * share));
        let error = match (self.wrong, self.rmse) {
            _ if self.loss.is_some() => format!("loss {}", text::number(self.loss.unwrap_or(0.0))),
            (Some(wrong), _) => format!("{:.2} % wrong", 100.0 * wrong),
            (None, Some(rmse)) => format!("RMSE {}", text::number(rmse)),
            (None, None) => format!("squared error {}", text::number(self.squared_error.unwrap_or(0.0))),
        };
        let left_out = "on left-out rows";
        explained.map_or_else(
            || format!("{error} {left_out}"),
            |explained| format!("{error} {left_out}, {explained}"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_named_like_its_data() {
        for (data, model) in [
            ("data/houses.csv.gz", "houses.bochner"),
            ("sales", "sales.bochner"),
            ("sales/2024-*.csv", "2024.bochner"),
            ("sales/*.csv", "model.bochner"),
            ("standard input", "model.bochner"),
            ("..", "model.bochner"),
        ] {
            assert_eq!(named_like(Path::new(data)), Path::new(model), "{data}");
        }
    }
}

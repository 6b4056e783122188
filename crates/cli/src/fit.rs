//! `bochner fit`: a file → a model.
//!
//! ```text
//! pass 0   what the target is; blocks are kept while they fit a quarter of the memory
//! then     bochner::Auto on those blocks, or on the file again
//! ```

use std::path::{Path, PathBuf};
use std::time::Instant;

use bochner::encode::{Columns, Declared, TableRows, Task};
use bochner::plan::RidgeShape;
use bochner::sweep::BLOCK;
use bochner::table::{ColumnInfo, TableSource, position};
use bochner::{Auto, Engine, Event, Kernel, KernelChoice, Labels, Lambda, Loss, Method, Model};
use bochner_io::Options;
use serde::Serialize;

use crate::args::{FitArgs, RunArgs};
use crate::console::Console;
use crate::data::{Digits, Wanted};
use crate::exit::Failure;
use crate::progress::Progress;
use crate::report::{self, Line, ModelReport};
use crate::target::TargetPass;
use crate::{data, map, output, text};

/// What is to be done, checked as far as it can be without the file.
struct Job {
    data: PathBuf,
    options: Options,
    target: Option<String>,
    ignored: Vec<String>,
    output: PathBuf,
    recipe: Recipe,
    max_memory: Option<u64>,
    run: RunArgs,
}

/// How a model is learnt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recipe {
    pub(crate) auto: Auto,
    pub(crate) task: Task,
    /// How texts become numbers.
    pub(crate) declared: Vec<Declared>,
}

/// Runs the command.
pub(crate) fn run(args: FitArgs, console: &mut Console<'_>) -> Result<(), Failure> {
    let started = Instant::now();
    let (json, job) = (args.json, Job::check(args)?);
    let progress = Progress::new(&console.messages, job.run.quiet);
    let (model, pass) = job.fit(&progress)?;
    let summary = job.summary(&model, &pass, started, &progress)?;
    match (json, job.run.quiet) {
        (true, _) => console.json(&summary),
        (false, true) => Ok(()),
        (false, false) => console.line(&report::aligned(&summary.lines(&job.recipe, &model))),
    }
}

impl Job {
    fn check(args: FitArgs) -> Result<Job, Failure> {
        let auto = Auto {
            kernel: args.kernel,
            method: map::method(&args.made)?,
            features: args.features,
            loss: args.loss,
            tolerance: None,
            solver: args.solver,
            seed: args.seed,
            lambda: match (args.lambda, args.folds) {
                (Some(value), _) => Lambda::Given { value },
                (None, folds) => Lambda::CrossValidated { folds: folds.map_or(5, usize::from) },
            },
            precision: Some(args.precision.into()),
            standardise: !args.no_standardise,
        };
        let recipe = Recipe { auto, task: args.task.into(), declared: args.sequence };
        recipe.check()?;
        if args.ignore.iter().any(|name| Some(name) == args.target.as_ref()) {
            return Err(Failure::Usage("the target cannot be ignored".to_owned()));
        }
        let mut options = Options { width: args.width, ..data::options(&args.read) };
        let target = data::target_column(args.target, &mut options);
        Ok(Job {
            options,
            data: args.data,
            target,
            ignored: args.ignore,
            output: args.output,
            recipe,
            max_memory: args.max_memory,
            run: args.run,
        })
    }

    fn fit(&self, progress: &std::sync::Arc<Progress>) -> Result<(Model, TargetPass), Failure> {
        output::check_distinct(&self.output, &self.inputs())?;
        let mut options = self.options.clone();
        let (texts, named) = (self.recipe.texts(), self.recipe.named());
        let wanted = Wanted { ignored: &self.ignored, texts: &texts, named: named.as_deref() };
        let opened = data::open_to_learn(&self.data, &mut options, self.target.as_deref(), wanted);
        let (mut tables, target) = opened?;
        let (recipe, columns) = self.recipe.bound(&self.data, tables.columns(), &[&target])?;
        output::check_writable(&self.output)?;
        let engine = progress.engine(&self.run, self.max_memory);
        let peak = self.peak(&engine, &recipe.auto, columns.count())?;
        let limit = engine.memory_limit();
        let budget = (limit / 4).min(limit.saturating_sub(peak));

        let at = position(tables.columns(), &target)?;
        let mut pass = TargetPass::default();
        let mut digits = Digits::new(tables.columns(), &texts);
        engine.tell(&Event::Started { phase: "read" })?;
        let read = tables.read(budget, |table, fraction| {
            pass.absorb(&table.columns[at]);
            digits.absorb(table);
            engine.tell(&Event::Progress { phase: "read", rows: pass.rows(), fraction })
        });
        read.map_err(|error| data::hinted(Failure::about(&self.data)(error), &self.data, &options))?;
        engine.tell(&Event::Finished { phase: "read" })?;
        for text in digits.warnings() {
            engine.tell(&Event::Warning { text: &text })?;
        }

        let about = |error| data::about_target(error, &self.data, &options, &target);
        let model = recipe.learn(&engine, &tables, columns, &target, &pass).map_err(about)?;
        if let Some(text) = map::exact_warning(recipe.auto.features, model.map()) {
            engine.tell(&Event::Warning { text: &text })?;
        }
        model.save(&self.output).map_err(|error| match error {
            bochner::Error::Io { source, .. } => Failure::Write { file: self.output.clone(), source },
            other => other.into(),
        })?;
        Ok((model, pass))
    }

    /// The files that are read.
    fn inputs(&self) -> Vec<&Path> {
        std::iter::once(&self.data).chain(&self.options.targets).map(PathBuf::as_path).collect()
    }

    /// Bytes that the fit will take beside the data, as far as the columns tell; refused if D was given and does not fit.
    fn peak(&self, engine: &Engine, auto: &Auto, inputs: usize) -> Result<u64, Failure> {
        let map = auto.spec();
        let (is_exact, features) = (map.method == Method::Exact, map.output_dim(inputs));
        let shape = RidgeShape {
            map,
            features,
            inputs,
            outputs: 1,
            folds: if let Lambda::CrossValidated { folds } = auto.lambda { folds } else { 1 },
            scalar_bytes: auto.precision.unwrap_or_default().bytes(),
            rows: Some(BLOCK as u64), // of the few that are known of: one block at least
        };
        // A block of the table, its numbers side by side, and scaled.
        let block = (BLOCK as u64).saturating_mul((inputs * 24) as u64);
        let peak = shape.cost_within(auto.solver, engine.memory_limit()).peak_bytes.saturating_add(block);
        if is_exact || auto.features.is_some() {
            engine.check_memory(|| format!("a fit with {} features", text::count(features as u64)), peak)?;
        }
        Ok(peak)
    }

    fn summary(
        &self,
        model: &Model,
        pass: &TargetPass,
        started: Instant,
        progress: &Progress,
    ) -> Result<Summary, Failure> {
        let report = ModelReport::new(model);
        let labels = labels(model);
        let cross_validation = report.left_out_error().map(|error| {
            match self.recipe.auto.loss {
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
            report,
            is_numeric: pass.is_numeric(),
            cross_validation,
            seconds: started.elapsed().as_secs_f64(),
            warnings: progress.warnings(),
        })
    }
}

impl Recipe {
    /// The columns that are texts.
    pub(crate) fn texts(&self) -> Vec<String> {
        let mut names: Vec<String> = self.declared.iter().map(|text| text.column.clone()).collect();
        if let KernelChoice::Given(kernel) = &self.auto.kernel {
            names.extend(kernel.texts());
        }
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
    }

    /// All columns that the kernel looks at, where it names all of them.
    pub(crate) fn named(&self) -> Option<Vec<String>> {
        match &self.auto.kernel {
            // One that looks at nothing is one of all columns.
            KernelChoice::Given(kernel) => kernel.names_only().filter(|names| !names.is_empty()),
            KernelChoice::Tuned(_) => None,
        }
    }

    /// What can be told before the columns are known: a column is declared once, and there is such a map. Sequence kernels have one when they have columns.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let column = |at: usize| &self.declared[at].column;
        let first = |at: usize| (0..at).find(|&first| column(first) == column(at));
        if let Some((first, at)) = (0..self.declared.len()).find_map(|at| Some((first(at)?, at))) {
            let part = |at: usize| Kernel::from(&self.declared[at].sequence).on([column(at).as_str()]);
            let sum = Kernel::sum(vec![part(first)?, part(at)?]);
            return Err(Failure::Usage(format!(
                "--sequence was given twice for column \"{}\"; say it once, or use a sum of two sequence kernels, as in --kernel '{sum}'",
                column(at)
            )));
        }
        match &self.auto.kernel {
            KernelChoice::Given(kernel) if !kernel.texts().is_empty() => Ok(()),
            _ => self.auto.spec().validate().map_err(|error| Failure::Usage(error.to_string())),
        }
    }

    /// The same with its kernel for rows, and the columns of the rows: all but some.
    pub(crate) fn bound(
        &self,
        path: &Path,
        columns: &[ColumnInfo],
        left_out: &[&str],
    ) -> Result<(Recipe, Columns), Failure> {
        let bound = self.auto.inputs(columns, left_out, &self.declared);
        let (auto, columns) = bound.map_err(Failure::about(path))?;
        if let Err(error) = auto.spec().validate() {
            // Of the kernel as it was typed, where it can be said of that.
            let typed = self.auto.spec().validate().err();
            return Err(Failure::Usage(typed.unwrap_or(error).to_string()));
        }
        Ok((Recipe { auto, ..self.clone() }, columns))
    }

    /// Learns from columns of a source, of whose target a pass has been made.
    pub(crate) fn learn(
        &self,
        engine: &Engine,
        tables: &dyn TableSource,
        columns: Columns,
        target: &str,
        pass: &TargetPass,
    ) -> bochner::Result<Model> {
        if pass.rows() == 0 {
            return Err(bochner::Error::NoRows);
        }
        let labels = pass.labels(self.task)?;
        let columns = columns.fit(engine, tables)?;
        let rows = TableRows::new(engine, tables, columns.clone(), target, labels, Some(pass.rows()))?;
        let model = self.auto.fit(engine, &rows).map_err(|error| columns.in_words(error))?;
        model.with_names(columns, target)
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
        let tuned = if let KernelChoice::Tuned(_) = recipe.auto.kernel { ", width tuned" } else { "" };
        let mut lines = vec![
            ("rows", text::count(self.rows)),
            ("columns", text::count(self.report.columns as u64)),
            ("task", self.task(recipe.task)),
            ("kernel", format!("{}{tuned}", report::short(&model.map().spec().kernel))),
            self.report.map(),
        ];
        lines.splice(2..2, self.report.texts());
        lines.extend(self.report.training());
        lines.extend(self.cross_validation.as_ref().map(|errors| ("error", errors.text())));
        lines.extend(self.report.certificate());
        lines.push(("model", format!("{}, {}", self.model, bochner::plan::bytes(self.bytes))));
        lines.push(("time", text::seconds(self.seconds)));
        lines
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
        if free { format!("{what} ({instead})") } else { what }
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

//! `bochner predict`: a model and a file → one line of CSV for each row.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use bochner::model::Intervals;
use bochner::sweep::BLOCK;
use bochner::table::{Column, ColumnInfo, Table, TableSource, TextColumn, position};
use bochner::{Engine, Event, Head, Matrix, Model};
use bochner_io::{Options, field};

use crate::args::{PredictArgs, RunArgs};
use crate::console::Console;
use crate::data;
use crate::exit::Failure;
use crate::output::{self, Output};
use crate::progress::Progress;

/// What is to be done, with the model read.
struct Job {
    model: Model,
    data: PathBuf,
    options: Options,
    /// Columns that are copied.
    ids: Vec<String>,
    output: Option<PathBuf>,
    scores: bool,
    probabilities: bool,
    interval: Option<f64>,
    deviation: bool,
}

/// What is known of a block of rows.
struct Block {
    outputs: Matrix<f64>,
    /// Of a regression, if they are wanted.
    ends: Option<Intervals>,
    deviations: Option<Matrix<f64>>,
    /// Of classes, if they are wanted.
    sets: Option<Vec<Vec<usize>>>,
}

/// Runs the command.
pub(crate) fn run(args: PredictArgs, console: &mut Console<'_>) -> Result<(), Failure> {
    let progress = Progress::new(&console.messages, args.run.quiet);
    let engine = engine(&progress, &args.run);
    let job = Job::check(args, &engine)?;
    let tables = data::open_for(&engine, &job.model, &job.data, job.options.clone(), &job.ids, None)?;
    match &job.output {
        None => job.write(&engine, tables.as_ref(), &progress, console.out, &Failure::Stdout),
        Some(path) => {
            let mut file = Output::create(path)?;
            let failed = |source| Failure::Write { file: path.clone(), source };
            job.write(&engine, tables.as_ref(), &progress, &mut file, &failed)?;
            file.commit()
        }
    }
}

/// An engine that asks whether to go on and tells nothing: what happens inside a block is no progress of the file.
pub(crate) fn engine(progress: &Arc<Progress>, run: &RunArgs) -> Engine {
    progress.engine(run, None).quiet()
}

/// Reads a model and refuses one without outputs.
pub(crate) fn load(path: &std::path::Path) -> Result<Model, Failure> {
    let model = Model::load(path).map_err(Failure::about(path))?;
    match model.head() {
        Head::Features => {
            let reason = "a map alone, without coefficients, cannot predict".to_owned();
            Err(Failure::Unfit { file: path.to_owned(), reason })
        }
        _ => Ok(model),
    }
}

impl Job {
    fn check(args: PredictArgs, engine: &Engine) -> Result<Job, Failure> {
        let output = output::file(args.output);
        let model = load(&args.model)?;
        if args.scores && matches!(model.head(), Head::Regression) {
            let text = "--scores is for classes, and this model predicts a number".to_owned();
            return Err(Failure::Usage(text));
        }
        if args.probabilities && model.calibration().is_none() {
            let text =
                "--probabilities needs a model of classes that was fitted with --loss logistic or --calibrate".to_owned();
            return Err(Failure::Usage(text));
        }
        if args.interval.is_some() && model.held_out().is_none() {
            let text =
                "--interval needs a model that was fitted with --held-out, such as --held-out 0.1".to_owned();
            return Err(Failure::Usage(text));
        }
        if args.deviation && model.posterior().is_none() {
            let text = "--deviation needs a model of numbers that was fitted with --deviation".to_owned();
            return Err(Failure::Usage(text));
        }
        let PredictArgs { id, scores, probabilities, interval, deviation, .. } = args;
        let (data, options) = data::find_for_one_pass(&args.data, &args.read)?;
        if let Some(output) = &output {
            let inputs = [data::inputs(&options), vec![&args.model]].concat();
            output::check_distinct("--output", output, &inputs)?;
        }
        // Those of the model are copied where the data have them.
        let ids = match id.as_slice() {
            [] if model.ids().is_empty() => id,
            [] => data::present(engine, &data, &options, model.ids())?,
            _ => id,
        };
        Ok(Job { model, data, options, ids, output, scores, probabilities, interval, deviation })
    }

    fn write(
        &self,
        engine: &Engine,
        tables: &dyn TableSource,
        progress: &Arc<Progress>,
        to: &mut dyn Write,
        failed: &dyn Fn(io::Error) -> Failure,
    ) -> Result<(), Failure> {
        let (mut reader, mut rows) = (tables.open(engine)?, 0);
        writeln!(to, "{}", self.header()).map_err(failed)?;
        progress.tell(&Event::Started { phase: "predict" })?;
        self.warn_of_everything(progress)?;
        while let Some(table) = reader.next(BLOCK).map_err(|error| data::hinted(error.into()))? {
            let block = self.block(engine, &table, tables.columns());
            let block = block.map_err(Failure::about(&self.data))?;
            let ids = self.id_columns(&table, tables.columns())?;
            self.write_block(&block, &ids, to).map_err(failed)?;
            rows += table.rows as u64;
            progress.tell(&Event::Progress { phase: "predict", rows, fraction: reader.fraction() })?;
        }
        progress.tell(&Event::Finished { phase: "predict" })?;
        data::warn_of_unreadable(reader.as_ref(), tables.columns(), progress);
        Ok(())
    }

    fn block(&self, engine: &Engine, table: &Table, columns: &[ColumnInfo]) -> bochner::Result<Block> {
        let is_classes = matches!(self.model.head(), Head::Classification { .. });
        let deviations =
            self.deviation.then(|| self.model.deviation_table(engine, table, columns)).transpose()?;
        if let (Some(coverage), false) = (self.interval, is_classes) {
            let ends = self.model.intervals_table(engine, table, columns, coverage)?;
            let outputs = ends.predictions.clone();
            return Ok(Block { outputs, ends: Some(ends), deviations, sets: None });
        }
        let outputs = self.model.decide_table(engine, table, columns)?;
        let sets = self.interval.map(|coverage| self.model.sets(&outputs, coverage)).transpose()?;
        Ok(Block { outputs, ends: None, deviations, sets })
    }

    /// Says when so few rows were held out that only everything covers as much as is asked.
    fn warn_of_everything(&self, progress: &Arc<Progress>) -> Result<(), Failure> {
        let (Some(coverage), Some(held_out)) = (self.interval, self.model.held_out()) else { return Ok(()) };
        let most = held_out.rows() as f64 / (held_out.rows() as f64 + 1.0);
        if coverage > most {
            let text = format!(
                "{} held-out rows can promise a coverage of {most:.3} at most: for {coverage} every number, or every class, is in",
                held_out.rows()
            );
            progress.tell(&Event::Warning { text: &text })?;
        }
        Ok(())
    }

    /// The target's name, and a name for each score, end, deviation or set.
    fn header(&self) -> String {
        let target = Some(self.model.target()).filter(|name| !name.is_empty()).unwrap_or("prediction");
        let mut names = match (self.model.head(), self.model.intercept().len()) {
            (Head::Regression, outputs) if outputs > 1 => {
                (1..=outputs).map(|output| format!("{target}_{output}")).collect()
            }
            _ => vec![target.to_owned()],
        };
        let each = |names: &[String], what: &str| -> Vec<String> {
            names.iter().map(|name| format!("{name}_{what}")).collect()
        };
        let (lower, upper, set) = (each(&names, "lower"), each(&names, "upper"), each(&names, "set"));
        let deviation = each(&names, "deviation");
        match (self.interval, self.model.head()) {
            (Some(_), Head::Classification { .. }) => names.extend(set),
            (Some(_), _) => names.extend(lower.into_iter().chain(upper)),
            (None, _) => {}
        }
        if self.deviation {
            names.extend(deviation);
        }
        if let Head::Classification { labels, .. } = self.model.head() {
            let texts = labels.texts().iter();
            if self.scores {
                names.extend(texts.map(|label| format!("score_{label}")));
            } else if self.probabilities {
                names.extend(texts.map(|label| format!("probability_{label}")));
            }
        }
        self.ids.iter().chain(&names).map(|name| field(name)).collect::<Vec<_>>().join(",")
    }

    /// The columns that are copied, as they are written.
    fn id_columns<'t>(
        &self,
        table: &'t Table,
        columns: &[ColumnInfo],
    ) -> Result<Vec<&'t TextColumn>, Failure> {
        let find = |name: &String| match &table.columns
            [position(columns, name).map_err(Failure::about(&self.data))?]
        {
            Column::Text(texts) => Ok(texts),
            _ => {
                Err(Failure::Usage(format!("\"{name}\" has many numbers in each row, and cannot be copied")))
            }
        };
        self.ids.iter().map(find).collect()
    }

    fn write_block(&self, block: &Block, ids: &[&TextColumn], to: &mut dyn Write) -> io::Result<()> {
        let outputs = &block.outputs;
        let write_ids = |i: usize, to: &mut dyn Write| {
            ids.iter().try_for_each(|column| write!(to, "{},", field(column.get(i))))
        };
        let Head::Classification { labels, .. } = self.model.head() else {
            let ends = block.ends.iter().flat_map(|ends| [&ends.lower, &ends.upper]);
            let columns: Vec<&Matrix<f64>> =
                std::iter::once(outputs).chain(ends).chain(&block.deviations).collect();
            return (0..outputs.rows()).try_for_each(|i| {
                let row: Vec<String> = columns.iter().map(|column| joined(column.row(i))).collect();
                write_ids(i, to)?;
                writeln!(to, "{}", row.join(","))
            });
        };
        let probabilities = if self.probabilities { self.model.probabilities(outputs) } else { None };
        let scores = self.model.scores(outputs);
        for (i, class) in self.model.classes(outputs).into_iter().enumerate() {
            write_ids(i, to)?;
            write!(to, "{}", field(labels.text(class)))?;
            if let Some(sets) = &block.sets {
                writeln!(to, ",{}", field(&set(sets[i].iter().map(|&class| labels.text(class)))))?;
                continue;
            }
            if let Some(probabilities) = &probabilities {
                writeln!(to, ",{}", joined(probabilities.row(i)))?;
                continue;
            }
            match (self.scores, scores.row(i)) {
                (false, _) => writeln!(to)?,
                // The one score of two classes is for the second and against the first.
                (true, [score]) => writeln!(to, ",{}", joined(&[-score, *score]))?,
                (true, scores) => writeln!(to, ",{}", joined(scores))?,
            }
        }
        Ok(())
    }
}

/// Labels with a bar between them: `cat|dog`. A bar or a backslash inside one has a backslash before it.
fn set<'a>(labels: impl Iterator<Item = &'a str>) -> String {
    labels.map(|label| label.replace('\\', "\\\\").replace('|', "\\|")).collect::<Vec<_>>().join("|")
}

/// Numbers in as few digits as it takes to read them back exactly.
fn joined(values: &[f64]) -> String {
    values.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
}

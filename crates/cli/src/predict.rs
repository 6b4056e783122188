//! `bochner predict`: a model and a file → one line of CSV for each row.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use bochner::sweep::BLOCK;
use bochner::table::TableSource;
use bochner::{Engine, Event, Head, Matrix, Model};
use bochner_io::field;

use crate::args::{PredictArgs, ReadArgs, RunArgs};
use crate::console::Console;
use crate::data;
use crate::exit::Failure;
use crate::output::{self, Output};
use crate::progress::Progress;

/// What is to be done, with the model read.
struct Job {
    model: Model,
    data: PathBuf,
    read: ReadArgs,
    output: Option<PathBuf>,
    scores: bool,
    probabilities: bool,
    run: RunArgs,
}

/// Runs the command.
pub(crate) fn run(args: PredictArgs, console: &mut Console<'_>) -> Result<(), Failure> {
    let job = Job::check(args)?;
    let progress = Progress::new(&console.messages, job.run.quiet);
    let tables = data::open_for(&job.model, &job.data, data::options(&job.read), None)?;
    match &job.output {
        None => job.write(tables.as_ref(), &progress, console.out, &Failure::Stdout),
        Some(path) => {
            let mut file = Output::create(path)?;
            let failed = |source| Failure::Write { file: path.clone(), source };
            job.write(tables.as_ref(), &progress, &mut file, &failed)?;
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
    fn check(args: PredictArgs) -> Result<Job, Failure> {
        let output = output::file(args.output);
        if let Some(output) = &output {
            output::check_distinct(output, &[&args.data, &args.model])?;
        }
        let model = load(&args.model)?;
        if args.scores && matches!(model.head(), Head::Regression) {
            let text = "--scores is for classes, and this model predicts a number".to_owned();
            return Err(Failure::Usage(text));
        }
        if args.probabilities && model.calibration().is_none() {
            let text =
                "--probabilities needs a model of classes that was fitted with --loss logistic".to_owned();
            return Err(Failure::Usage(text));
        }
        let PredictArgs { data, scores, probabilities, read, run, .. } = args;
        Ok(Job { model, data, read, output, scores, probabilities, run })
    }

    fn write(
        &self,
        tables: &dyn TableSource,
        progress: &Arc<Progress>,
        to: &mut dyn Write,
        failed: &dyn Fn(io::Error) -> Failure,
    ) -> Result<(), Failure> {
        let engine = engine(progress, &self.run);
        let (mut reader, mut rows) = (tables.open()?, 0);
        writeln!(to, "{}", self.header()).map_err(failed)?;
        progress.tell(&Event::Started { phase: "predict" })?;
        while let Some(table) = reader.next(BLOCK)? {
            let outputs = self.model.decide_table(&engine, &table, tables.columns());
            let outputs = outputs.map_err(Failure::about(&self.data))?;
            self.write_block(&outputs, to).map_err(failed)?;
            rows += table.rows as u64;
            progress.tell(&Event::Progress { phase: "predict", rows, fraction: reader.fraction() })?;
        }
        progress.tell(&Event::Finished { phase: "predict" })?;
        Ok(())
    }

    /// The target's name, and a name for each score.
    fn header(&self) -> String {
        let target = Some(self.model.target()).filter(|name| !name.is_empty()).unwrap_or("prediction");
        let mut names = match (self.model.head(), self.model.intercept().len()) {
            (Head::Regression, outputs) if outputs > 1 => {
                (1..=outputs).map(|output| format!("{target}_{output}")).collect()
            }
            _ => vec![target.to_owned()],
        };
        if let Head::Classification { labels, .. } = self.model.head() {
            let texts = labels.texts().iter();
            if self.scores {
                names.extend(texts.map(|label| format!("score_{label}")));
            } else if self.probabilities {
                names.extend(texts.map(|label| format!("probability_{label}")));
            }
        }
        names.iter().map(|name| field(name)).collect::<Vec<_>>().join(",")
    }

    fn write_block(&self, outputs: &Matrix<f64>, to: &mut dyn Write) -> io::Result<()> {
        let Head::Classification { labels, .. } = self.model.head() else {
            return (0..outputs.rows()).try_for_each(|i| writeln!(to, "{}", joined(outputs.row(i))));
        };
        let probabilities = if self.probabilities { self.model.probabilities(outputs) } else { None };
        let scores = self.model.scores(outputs);
        for (i, class) in self.model.classes(outputs).into_iter().enumerate() {
            write!(to, "{}", field(labels.text(class)))?;
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

/// Numbers in as few digits as it takes to read them back exactly.
fn joined(values: &[f64]) -> String {
    values.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
}

//! `bochner demo`: handwritten digits that come with the program, learnt and tested.

use std::ops::Range;
use std::time::Instant;

use bochner::table::{ColumnInfo, Table, TableReader, TableSource};
use bochner::{Auto, Result as LibraryResult};
use serde::Serialize;

use crate::args::DemoArgs;
use crate::console::Console;
use crate::evaluate::{Metrics, accuracy_lines, measure};
use crate::exit::Failure;
use crate::fit::Recipe;
use crate::metrics::ClassSummary;
use crate::predict::engine;
use crate::progress::Progress;
use crate::report::{ModelReport, aligned, short};
use crate::target::TargetPass;
use crate::text;

/// 1,797 digits of 8 × 8 pixels: `data/README.md`.
const DIGITS: &[u8] = include_bytes!("../data/digits.csv.gz");

/// Rows to learn from; the others are for the test.
const TRAINING: usize = 898;

/// Enough for so few rows, and a demo should not keep anybody waiting.
const FEATURES: usize = 1024;

const CREDIT: &str = "UCI Optical Recognition of Handwritten Digits, E. Alpaydin and C. Kaynak (1998), \
                      doi.org/10.24432/C50P49, CC BY 4.0";

const TARGET: &str = "target";

/// What the demo found.
#[derive(Serialize)]
struct Found {
    data: &'static str,
    training_rows: usize,
    test: ClassSummary,
    #[serde(flatten)]
    report: ModelReport,
    seconds: f64,
}

/// Runs the command.
pub(crate) fn run(args: DemoArgs, console: &mut Console<'_>) -> Result<(), Failure> {
    let started = Instant::now();
    let progress = Progress::new(&console.messages, args.run.quiet);
    let options = bochner_io::Options { text: vec![TARGET.to_owned()], ..Default::default() };
    let digits = bochner_io::from_bytes("digits.csv.gz", DIGITS, &options)?;
    let part = |rows| Part { source: digits.as_ref(), rows };
    let (training, test) = (part(0..TRAINING), part(TRAINING..usize::MAX));

    let mut pass = TargetPass::default();
    if let Some(table) = training.open()?.next(TRAINING)? {
        table.columns.last().into_iter().for_each(|target| pass.absorb(target));
    }
    let auto = Auto { features: Some(FEATURES), seed: args.seed, ..Auto::default() };
    let recipe = Recipe { auto, ..Recipe::default() };
    let model = recipe.learn(&progress.engine(&args.run, None), &training, TARGET, &pass)?;
    let metrics = measure(&model, &engine(&args.run), &test, TARGET, &progress)?;
    let Metrics::Classes(test) = metrics else { return Err(bochner::Error::NoRows.into()) };

    let kernel = short(&model.map().spec().kernel);
    let (report, seconds) = (ModelReport::new(&model), started.elapsed().as_secs_f64());
    let found = Found { data: CREDIT, training_rows: TRAINING, test, report, seconds };
    if args.json { console.json(&found) } else { console.line(&found.text(&kernel)) }
}

impl Found {
    fn text(&self, kernel: &str) -> String {
        let mut lines = vec![
            (
                "data",
                "handwritten digits, 64 pixels each: the first half to learn, the second to test".to_owned(),
            ),
            ("kernel", format!("{kernel}, width tuned")),
            self.report.map(),
        ];
        lines.extend(self.report.training());
        lines.extend(self.report.certificate());
        lines.push(("time", text::seconds(self.seconds)));
        lines.extend(accuracy_lines(&self.test).into_iter().map(|(label, text)| match label {
            "rows" => ("test", format!("{text} rows")),
            _ => (label, text),
        }));
        let next =
            "Your own: bochner fit FILE --target COLUMN -o MODEL; then bochner evaluate, predict, inspect.";
        format!("{}\n\n{CREDIT}\n{next}", aligned(&lines))
    }
}

/// Some consecutive rows of another source.
struct Part<'a> {
    source: &'a dyn TableSource,
    rows: Range<usize>,
}

impl TableSource for Part<'_> {
    fn columns(&self) -> &[ColumnInfo] {
        self.source.columns()
    }

    fn open(&self) -> LibraryResult<Box<dyn TableReader + '_>> {
        let mut reader = self.source.open()?;
        if self.rows.start > 0 {
            reader.next(self.rows.start)?;
        }
        Ok(Box::new(PartReader { reader, left: self.rows.len() }))
    }
}

struct PartReader<'a> {
    reader: Box<dyn TableReader + 'a>,
    left: usize,
}

impl TableReader for PartReader<'_> {
    fn next(&mut self, most: usize) -> LibraryResult<Option<Table>> {
        let most = most.min(self.left);
        let table = if most == 0 { None } else { self.reader.next(most)? };
        self.left -= table.as_ref().map_or(0, |table| table.rows);
        Ok(table)
    }

    fn fraction(&self) -> Option<f64> {
        None
    }
}

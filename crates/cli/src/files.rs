//! What the command does with data files, for programs that are no command line: the Python package.

use std::path::PathBuf;
use std::time::Instant;

use bochner::encode::{Remark, Task};
use bochner::table::{ColumnKind, TableSource};
use bochner::{Auto, Engine, Error, Model};
use bochner_io::{Files, Known, Once, Options};

use crate::args::RunArgs;
use crate::data;
use crate::exit::Failure;
use crate::learn::{Job, Recipe};
use crate::schema::Roles;
use crate::value;

/// A fit to files as `bochner fit` makes it: of the same data and settings, the same model.
#[derive(Clone, Debug)]
pub struct FileFit {
    /// Files, folders and patterns, which are one table.
    pub paths: Vec<PathBuf>,
    /// The column to predict.
    pub target: String,
    /// Columns not to learn from: names, and patterns.
    pub ignored: Vec<String>,
    /// What columns hold, where that is not to be found out.
    pub kinds: Vec<(String, ColumnKind)>,
    /// A column that says how much each row counts.
    pub weight: Option<String>,
    /// A column whose equal cells mark rows that belong together.
    pub group: Option<String>,
    /// How the files are read.
    pub reading: Reading,
    /// How it is learnt.
    pub auto: Auto,
    /// Whether the target is a number or a class.
    pub task: Task,
    /// The words for what is noticed.
    pub say: fn(&Remark) -> String,
}

/// How files are read, where that is not to be found out of them.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Whether a CSV file starts with the names of its columns.
    pub header: Option<bool>,
    /// The encoding of texts, by any of its usual names.
    pub encoding: Option<String>,
    /// What separates the fields of a CSV file: one character, or `tab`.
    pub delimiter: Option<String>,
    /// Whether a cell that is not what its column holds is an error; otherwise it is missing.
    pub strict: bool,
}

/// Why there is no result.
#[derive(Debug)]
pub struct Stopped {
    /// What went wrong, with the file that it is about.
    pub text: String,
    /// The error of the library; none where what was asked makes no sense.
    pub error: Option<Error>,
}

impl FileFit {
    /// Fits; tells the engine's observer what is noticed.
    pub fn fit(self, engine: &Engine) -> Result<Model, Stopped> {
        let started = Instant::now();
        let fit = || Job::of_files(self)?.fit(engine, started, || Ok(()));
        fit().map(|learnt| learnt.model).map_err(Stopped::from)
    }
}

/// The rows of files for a model: its columns as they were in the fit, wherever they stand.
pub fn open_for(
    engine: &Engine,
    model: &Model,
    paths: &[PathBuf],
    reading: Reading,
) -> Result<Box<dyn TableSource>, Stopped> {
    let open = || {
        let (options, data) = found(paths, reading)?;
        data::open_for(engine, model, &data, options, &[], None)
    };
    open().map_err(Stopped::from)
}

/// The files that paths stand for, how they are read, and what they are called together.
fn found(paths: &[PathBuf], reading: Reading) -> Result<(Options, PathBuf), Failure> {
    let files = Files::find(paths, Once::Refuse)?;
    let Reading { header, encoding, delimiter, strict } = reading;
    let wrong = |what: &'static str| move |reason: String| Failure::Usage(format!("{what}: {reason}"));
    let encoding = encoding.as_deref().map(value::encoding).transpose().map_err(wrong("encoding"))?;
    let delimiter = delimiter.as_deref().map(value::delimiter).transpose().map_err(wrong("delimiter"))?;
    let name = files.name().to_owned();
    Ok((Options { files: Some(files), header, encoding, delimiter, strict, ..Options::default() }, name))
}

impl Job {
    /// A fit that nobody typed.
    fn of_files(fit: FileFit) -> Result<Job, Failure> {
        let FileFit { paths, target, ignored, kinds, weight, group, reading, auto, task, say } = fit;
        let (mut options, data) = found(&paths, reading)?;
        let target = data::target_column(Some(target), &mut options);
        let kinds = kinds.into_iter().map(|(name, kind)| (name, Known::Kind(kind))).collect();
        let roles = Roles { target, weight, group, ids: Vec::new(), ignored, kinds };
        let job = Job {
            data,
            options,
            roles,
            recipe: Recipe { auto, task, declared: Vec::new() },
            max_memory: None,
            run: RunArgs { threads: 0, quiet: true },
            say,
        };
        job.checked()
    }
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Stopped {
        Stopped { text: failure.text(), error: failure.into_error() }
    }
}

//! `bochner transform`: a file → the features of its rows, in another.
//!
//! ```text
//! pass 0   how cells are encoded; blocks are kept while they fit a quarter of the memory        left out for texts and sparse rows
//! pass 1   a sample of rows and what --standardise needs: the map, and how far it is from the kernel
//!          left out where there is nothing to look for: exact maps, and maps drawn from the seed where nobody is told (--quiet)
//! pass 2   blocks of rows ─▶ features ─▶ the file
//! ```

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use bochner::certify::Certificate;
use bochner::encode::{Columns, Precision, Remark, Scaling, TableProfile, TableRows, rows_of};
use bochner::stat::Sample;
use bochner::sweep::BLOCK;
use bochner::table::{Column, ColumnInfo, ColumnKind, Table, TableSource, TextColumn, position};
use bochner::{
    AnyRows, Auto, Engine, Error, Event, Kernel, KernelChoice, Map, Method, OwnedRows, Rows, Scalar,
};
use bochner_io::{FeatureFormat, FeatureWriter, Known, Options};
use serde::Serialize;

use crate::args::{RunArgs, TransformArgs};
use crate::cached::Cached;
use crate::console::Console;
use crate::data::{self, Digits, Wanted};
use crate::exit::Failure;
use crate::learn::Recipe;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::report::{self, TextReport};
use crate::schema::Roles;
use crate::{map, text};

/// Features that are made and written at once: as many as take a fraction of a second.
const AT_ONCE: usize = 1 << 20;

/// What is to be done, checked as far as it can be without the file.
struct Job {
    data: PathBuf,
    options: Options,
    roles: Roles,
    output: Option<PathBuf>,
    format: FeatureFormat,
    recipe: Recipe,
    precision: Precision,
    max_memory: Option<u64>,
    run: RunArgs,
    json: bool,
}

/// Runs the command.
pub(crate) fn run(args: TransformArgs, console: &mut Console<'_>) -> Result<(), Failure> {
    let started = Instant::now();
    let job = Job::check(args)?;
    let progress = Progress::new(&console.messages, job.run.quiet);
    let engine = progress.engine(&job.run, job.max_memory);
    let mut input = job.open(&engine)?;
    let profile = job.profile(&engine, &mut input)?;
    let engine = engine.beside(input.tables.bytes());
    input.remarks.iter().for_each(|remark| progress.warn(&data::advised(remark)));
    let made = job.make(&engine, &input, &profile, &progress)?;
    if let Some(text) = map::exact_warning(job.recipe.auto.features, &made.map) {
        progress.warn(&text);
    }
    if !job.json && !job.run.quiet {
        made.lines().iter().for_each(|line| console.messages.line(line));
    }
    let pass = Pass { job: &job, input: &input, made: &made, engine: engine.quiet(), progress: &progress };
    let rows = match &job.output {
        None => pass.write(console.out, &Failure::Stdout)?.rows,
        Some(path) => {
            let mut file = Output::create(path)?;
            let failed = |source| Failure::Write { file: path.clone(), source };
            let written = pass.write(&mut file, &failed)?;
            if let Some(bytes) = written.first_bytes {
                file.write_first(&bytes).map_err(failed)?;
            }
            file.commit()?;
            written.rows
        }
    };
    match &job.output {
        Some(path) if job.json => console.json(&job.summary(path, (rows, &input, &made), started, &progress)),
        _ => Ok(()),
    }
}

impl Job {
    fn check(args: TransformArgs) -> Result<Job, Failure> {
        let auto = Auto {
            kernel: KernelChoice::Given(args.kernel),
            method: map::method(&args.made)?,
            features: args.features,
            seed: args.seed,
            precision: Some(args.precision.into()),
            standardise: args.standardise,
            ..Auto::default()
        };
        let recipe = Recipe { auto, declared: args.sequence, ..Recipe::default() };
        recipe.check()?;
        let output = output::file(args.output);
        if args.json && output.is_none() {
            let text = "--json describes features in a file, and they would go to standard output with it; say --output FILE";
            return Err(Failure::Usage(text.to_owned()));
        }
        let format = match (args.output_format, &output) {
            (Some(format), _) => format,
            (None, Some(path)) => FeatureFormat::of(path).map_err(|error| {
                Failure::Usage(error.to_string()).hint("--output-format says it, as in --output-format csv")
            })?,
            (None, None) => FeatureFormat::Csv,
        };
        if format == FeatureFormat::Npy {
            check_npy(output.as_deref(), args.target.as_deref())?;
        }
        let (data, options) = data::find(&args.data, &args.read)?;
        let mut options = Options { width: args.width, ..options };
        let roles = Roles {
            target: data::target_column(args.target, &mut options),
            ignored: args.ignore,
            kinds: args.kind.into_iter().map(|(name, kind)| (name, Known::Kind(kind))).collect(),
            ..Roles::default()
        };
        if let Some(output) = &output {
            output::check_distinct("--output", output, &data::inputs(&options))?;
        }
        Ok(Job {
            options,
            data,
            roles,
            output,
            format,
            recipe,
            precision: args.precision.into(),
            max_memory: args.max_memory,
            run: args.run,
            json: args.json,
        })
    }

    fn open(&self, engine: &Engine) -> Result<Input, Failure> {
        let mut options = self.options.clone();
        let texts = self.recipe.texts();
        let wanted = Wanted { roles: &self.roles, texts: &texts, kernel: self.recipe.kernel() };
        let keeps_label = self.format == FeatureFormat::Libsvm;
        let opened = data::open_to_map(engine, &self.data, &mut options, keeps_label, wanted);
        let (data::Opened { tables, remarks, .. }, target) = opened.map_err(data::hinted)?;
        if let Some(output) = &self.output {
            output::check_writable(output)?;
        }
        let place = |name: String| position(tables.columns(), &name).map(|at| (name, at));
        let target = target.map(place).transpose().map_err(Failure::about(&self.data))?;
        Ok(Input { tables, target, texts, remarks })
    }

    /// What is known of the columns: after a pass, unless all are texts that are declared, or sparse.
    fn profile(&self, engine: &Engine, input: &mut Input) -> Result<TableProfile, Failure> {
        let failed = |error| data::hinted(Failure::about(&self.data)(error));
        let target = input.target.as_ref().map(|(name, _)| name);
        let is_known = |info: &ColumnInfo| match info.kind {
            ColumnKind::Text => input.texts.contains(&info.name) || target == Some(&info.name),
            kind => matches!(kind, ColumnKind::Sparse { .. }),
        };
        let mut profile = TableProfile::of(&input.tables);
        if input.tables.columns().iter().all(is_known) {
            return Ok(profile);
        }
        let phase = "columns";
        engine.tell(&Event::Started { phase })?;
        let read = input.tables.read(engine, engine.memory_limit() / 4, |table, fraction| {
            profile.absorb(table, &|_| 1.0);
            engine.tell(&Event::Progress { phase, rows: profile.rows(), fraction })
        });
        read.map_err(failed)?;
        engine.tell(&Event::Finished { phase })?;
        Ok(profile)
    }

    /// The map, after one pass where it takes one.
    fn make(
        &self,
        engine: &Engine,
        input: &Input,
        profile: &TableProfile,
        progress: &Progress,
    ) -> Result<Made, Failure> {
        let failed = |error| data::hinted(Failure::about(&self.data)(error));
        let tables = &input.tables;
        let left_out: Vec<&str> = input.target.iter().map(|(name, _)| name.as_str()).collect();
        let (Recipe { auto, .. }, inputs) = self.recipe.bound(&self.data, profile, &left_out)?;
        let remarks = Remark::of_inputs(&inputs, profile);
        remarks.iter().for_each(|remark| progress.warn(&data::advised(remark)));
        let columns = inputs.columns.fit(engine, tables).map_err(failed)?;
        let spec = auto.spec();
        let is_told = self.json || !self.run.quiet;
        let (map, scaling, certificate) = if auto.standardise || spec.needs_sample() || is_told {
            let source = TableRows::without_target(engine, tables, columns.clone()).map_err(failed)?;
            let made = auto.fit_map(engine, &source).map_err(|error| failed(columns.in_words(error)));
            let (map, scaling, certificate) = made?;
            (map, scaling, Some(certificate))
        } else {
            let nothing = Sample::zero(0, columns.count(), spec.seed);
            (spec.fit(engine, &nothing).map_err(failed)?, None, None)
        };
        if let (FeatureFormat::Csv, Some((name, _))) = (self.format, &input.target) {
            check_name(name, map.output_dim())?;
        }
        Ok(Made { columns, map, scaling, certificate })
    }

    fn summary(
        &self,
        output: &Path,
        (rows, input, made): (u64, &Input, &Made),
        started: Instant,
        progress: &Progress,
    ) -> Summary {
        let spec = made.map.spec();
        Summary {
            output: output.display().to_string(),
            bytes: std::fs::metadata(output).map_or(0, |metadata| metadata.len()),
            rows,
            columns: made.columns.count(),
            texts: TextReport::all(&made.columns),
            target: input.target.as_ref().map(|(name, _)| name.clone()),
            features: made.map.output_dim(),
            kernel: spec.kernel.to_string(),
            map: spec.method,
            seed: spec.seed,
            standardised: made.scaling.is_some(),
            certificate: made.certificate.clone(),
            seconds: started.elapsed().as_secs_f64(),
            warnings: progress.warnings(),
        }
    }
}

/// The number of rows is written over the start of an NPY file, and all of it is numbers.
fn check_npy(output: Option<&Path>, target: Option<&str>) -> Result<(), Failure> {
    if output.is_none_or(output::is_stream) {
        let text = "npy needs a file, as the number of rows is written to its start in the end; say --output FILE.npy, or write csv";
        return Err(Failure::Usage(text.to_owned()));
    }
    match target {
        None => Ok(()),
        Some(target) => Err(Failure::Usage(format!(
            "an npy file has no place for a target; say --ignore {} in place of --target, or write csv or libsvm",
            data::quoted(target)
        ))),
    }
}

/// The target's name is none of the features f0, f1, …
fn check_name(target: &str, features: usize) -> Result<(), Failure> {
    let number = target.strip_prefix('f').and_then(|digits| digits.parse::<usize>().ok());
    match number.filter(|number| *number < features && format!("f{number}") == target) {
        None => Ok(()),
        Some(_) => Err(Failure::Usage(format!(
            "the target \"{target}\" has the name of a feature; give it another in the data, or write libsvm"
        ))),
    }
}

/// The data, looked at.
struct Input {
    tables: Cached,
    /// The column that is kept, and its position.
    target: Option<(String, usize)>,
    texts: Vec<String>,
    /// What was noticed.
    remarks: Vec<Remark>,
}

/// How rows become features.
struct Made {
    columns: Columns,
    map: Map,
    scaling: Option<Scaling>,
    /// None where nobody asked.
    certificate: Option<Certificate>,
}

impl Made {
    /// What is said before the features are written.
    fn lines(&self) -> Vec<String> {
        let spec = self.map.spec();
        let what = format!("{} of {}", report::map(&spec.method, self.map.output_dim()), spec.kernel);
        let texts = TextReport::all(&self.columns);
        let mut lines: Vec<String> =
            texts.iter().map(|text| format!("bochner: text: {}", text.line().1)).collect();
        lines.push(format!("bochner: map: {}", text::shortened(&what, 200)));
        lines.extend(self.certificate.iter().map(|certificate| {
            let lines = report::certificate(certificate, !texts.is_empty());
            let said: Vec<String> = lines.into_iter().map(|(_, text)| text).collect();
            format!("bochner: kernel error: {}", said.join("; "))
        }));
        lines
    }

    /// Features without their zeros: where the format has none, or the map hardly anything else.
    fn is_sparse(&self, format: FeatureFormat) -> bool {
        self.map.has_sparse() && (format == FeatureFormat::Libsvm || self.map.spec().is_sparse())
    }

    /// Rows to handle at once.
    fn rows_at_once(&self, format: FeatureFormat) -> usize {
        let all = self.map.output_dim();
        let written = if format == FeatureFormat::Libsvm && self.is_sparse(format) {
            self.map.spec().features.min(all)
        } else {
            all
        };
        (AT_ONCE / written.max(1)).clamp(1, BLOCK)
    }

    /// Features of some rows; none where rows are their own, without zeros.
    fn features<T: Scalar>(
        &self,
        engine: &Engine,
        rows: &Rows<'_, T>,
        format: FeatureFormat,
    ) -> bochner::Result<Option<OwnedRows<T>>> {
        let spec = self.map.spec();
        if let (Rows::Sparse(_), Method::Exact, Kernel::Linear) = (rows, spec.method, &spec.kernel) {
            return Ok(None);
        }
        Ok(Some(if self.is_sparse(format) {
            OwnedRows::Sparse(self.map.transform_sparse(engine, rows)?)
        } else {
            OwnedRows::Dense(self.map.transform(engine, rows)?)
        }))
    }
}

/// The pass that writes.
struct Pass<'a> {
    job: &'a Job,
    input: &'a Input,
    made: &'a Made,
    /// What happens inside a block is no progress of the file.
    engine: Engine,
    progress: &'a Progress,
}

/// What was written.
struct Written {
    rows: u64,
    first_bytes: Option<Vec<u8>>,
}

impl Pass<'_> {
    fn write(&self, to: &mut dyn Write, failed: &dyn Fn(io::Error) -> Failure) -> Result<Written, Failure> {
        let Pass { job, input, made, progress, .. } = self;
        let columns = input.tables.columns();
        let positions = made.columns.positions(columns).map_err(Failure::about(&job.data))?;
        let target = input.target.as_ref().map(|(name, _)| name.as_str());
        let writer = FeatureWriter::new(job.format, made.map.output_dim(), job.precision, target, to);
        let mut writer = writer.map_err(failed)?;
        let mut digits = Digits::new(columns, &input.texts);
        let (mut reader, mut rows) = (input.tables.open(&self.engine)?, 0);
        let hinted = |error| data::hinted(Failure::about(&job.data)(error));
        progress.tell(&Event::Started { phase: PHASE })?;
        while let Some(table) = reader.next(BLOCK).map_err(hinted)? {
            let block = rows_of(&self.engine, &table, &made.columns, &positions).map_err(hinted)?;
            digits.absorb(&table);
            let mut write = |features: AnyRows<'_>, first: usize| -> Result<(), Failure> {
                let kept = self.kept(&table, first..first + features.count())?;
                writer.write(features, kept.as_ref(), to).map_err(failed)?;
                rows += features.count() as u64;
                Ok(progress.tell(&Event::Progress { phase: PHASE, rows, fraction: reader.fraction() })?)
            };
            match job.precision {
                Precision::Single => self.block::<f32>(&block, table.first_row, &mut write)?,
                Precision::Double => self.block::<f64>(&block, table.first_row, &mut write)?,
            }
        }
        progress.tell(&Event::Finished { phase: PHASE })?;
        if rows == 0 {
            return Err(Failure::about(&job.data)(Error::NoRows));
        }
        digits.warnings().for_each(|text| progress.warn(&text));
        data::warn_of_unreadable(reader.as_ref(), columns, progress);
        Ok(Written { rows, first_bytes: writer.first_bytes() })
    }

    /// Scales and rounds a block as a fit would, and writes its features, some rows at a time.
    fn block<T: Scalar>(
        &self,
        block: &OwnedRows<f64>,
        first_row: u64,
        write: &mut dyn FnMut(AnyRows<'_>, usize) -> Result<(), Failure>,
    ) -> Result<(), Failure>
    where
        for<'r> AnyRows<'r>: From<Rows<'r, T>>,
    {
        let (made, format) = (self.made, self.job.format);
        let rows: OwnedRows<T> = match &made.scaling {
            Some(scaling) => scaling.rows(&block.view()),
            None => Scaling::identity(made.columns.count()).rows(&block.view()),
        };
        let (rows, most) = (rows.view(), made.rows_at_once(format));
        for first in (0..rows.count()).step_by(most) {
            let some = rows.slice(first..rows.count().min(first + most));
            let about = |error: Error| {
                let error = error.counted_from(first_row + first as u64);
                Failure::about(&self.job.data)(made.columns.in_words(error))
            };
            let features = made.features(&self.engine, &some, format).map_err(about)?;
            let features = features.as_ref().map_or(some, OwnedRows::view);
            if features.check_finite(0).is_err() {
                let overflow = Failure::about(&self.job.data)(Error::Overflow { what: "the features" });
                return Err(overflow.hint("try --precision double, or --standardise"));
            }
            write(AnyRows::from(features), first)?;
        }
        Ok(())
    }

    /// The targets of some rows of a block, where they are kept. Labels of LIBSVM are numbers, unless they come from such a file.
    fn kept(&self, table: &Table, range: std::ops::Range<usize>) -> Result<Option<TextColumn>, Failure> {
        let Some((name, at)) = &self.input.target else { return Ok(None) };
        let Column::Text(texts) = &table.columns[*at] else { return Ok(None) };
        if self.job.format != FeatureFormat::Libsvm {
            return Ok(Some(range.map(|i| texts.get(i)).collect()));
        }
        let is_label = data::is_sparse(self.input.tables.columns());
        let wrong = |i: &usize| !is_label && data::number(texts.get(*i)).is_none();
        if let Some(i) = range.clone().find(wrong) {
            let (found, row) = (texts.get(i).to_owned(), table.first_row + i as u64);
            let error = Error::TargetText { expected: "a number", found, row };
            let hint = format!(
                "labels of LIBSVM are numbers: write csv, or say --ignore {} in place of --target",
                data::quoted(name)
            );
            return Err(Failure::about(&self.job.data)(error).hint(hint));
        }
        Ok(Some(range.map(|i| texts.get(i).trim()).collect()))
    }
}

/// The name of the pass.
const PHASE: &str = "transform";

/// What was done.
#[derive(Serialize)]
struct Summary {
    output: String,
    bytes: u64,
    rows: u64,
    columns: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    texts: Vec<TextReport>,
    target: Option<String>,
    features: usize,
    /// As text that can be given back; for the rows that texts have become.
    kernel: String,
    map: Method,
    seed: u64,
    standardised: bool,
    certificate: Option<Certificate>,
    seconds: f64,
    warnings: Vec<String>,
}

//! `bochner summary`: the columns of a data file, what they hold and what is unusual about them.

use std::io::Write;
use std::path::Path;

use bochner::encode::{ColumnProfile, Remark, TableProfile, Task, identifiers};
use bochner::sweep::BLOCK;
use bochner::table::distinct::Distinct;
use bochner::table::{Column, ColumnInfo, ColumnKind, MISSING_DATE, TableSource, date, position};
use bochner::{Engine, Event};
use bochner_io::{Known, Options};
use bochner_report::{Bar, Bars, Block, Column as TableColumn, Figure, Page, Table as ReportTable, Text};
use serde::Serialize;

use crate::args::SummaryArgs;
use crate::console::Console;
use crate::exit::Failure;
use crate::output::{self, Output};
use crate::predict::engine;
use crate::progress::Progress;
use crate::schema::{Role, Written, WrittenColumn};
use crate::target::TargetPass;
use crate::{data, page, text};

/// Columns and notes that are shown.
const SHOWN: usize = 100;
const NOTES: usize = 20;

const HEADER: [&str; 12] =
    ["column", "kind", "role", "min", "max", "distinct", "mean", "sd", "q25", "q50", "q75", "missing"];

#[derive(Serialize)]
struct Summary {
    file: String,
    rows: u64,
    columns: Vec<ColumnSummary>,
    notes: Vec<String>,
}

/// A column as DuckDB's SUMMARIZE has it, with its kind and role.
#[derive(Serialize)]
struct ColumnSummary {
    name: String,
    kind: &'static str,
    /// Ignored is what a fit leaves out.
    role: Role,
    min: Option<String>,
    max: Option<String>,
    /// Different cells that are not missing; of many an estimate.
    distinct: Option<u64>,
    mean: Option<f64>,
    standard_deviation: Option<f64>,
    /// Of numbers.
    quartiles: Option<[f64; 3]>,
    /// Missing cells.
    missing: u64,
    missing_share: f64,
    /// Columns inside, of sparse rows.
    width: Option<usize>,
    /// The share of their entries that are not zero.
    density: Option<f64>,
}

/// Runs the command.
pub(crate) fn run(args: &SummaryArgs, console: &mut Console<'_>) -> Result<(), Failure> {
    let (file, options) = data::find(&args.data, &args.read)?;
    let outputs = [("--output", &args.output), ("--report", &args.report)];
    for (option, path) in outputs.iter().filter_map(|(option, path)| Some((option, path.as_ref()?))) {
        output::check_distinct(option, path, &data::inputs(&options))?;
    }
    if let (Some(output), Some(report)) = (&args.output, &args.report) {
        output::check_distinct("--report", report, &[output])?;
    }
    let progress = Progress::new(&console.messages, args.run.quiet);
    let kinds = args.kind.iter().map(|(name, kind)| (name.clone(), Known::Kind(*kind))).collect();
    let engine = engine(&progress, &args.run);
    let tables =
        bochner_io::open(&engine, &file, &Options { kinds, ..options }).map_err(Failure::about(&file))?;
    let summary = summarized(&engine, tables.as_ref(), &file, args, &progress);
    let summary = summary.map_err(|error| data::hinted(Failure::about(&file)(error)))?;
    if let Some(path) = &args.output {
        let mut file = Output::create(path)?;
        let written = file.write_all(summary.schema(tables.as_ref()).to_string().as_bytes());
        written.map_err(|source| Failure::Write { file: path.clone(), source })?;
        file.commit()?;
    }
    if let Some(path) = &args.report {
        page::write(path, &summary.page())?;
    }
    if args.json { console.json(&summary) } else { console.line(&summary.text()) }
}

fn summarized(
    engine: &Engine,
    tables: &dyn TableSource,
    file: &Path,
    args: &SummaryArgs,
    progress: &Progress,
) -> bochner::Result<Summary> {
    let infos = tables.columns();
    let target = args.target.as_deref().map(|name| position(infos, name)).transpose()?;
    let mut profile = TableProfile::of(tables);
    if let Some(target) = target {
        profile = profile.with_target(target);
    }
    let mut targets = TargetPass::default();
    let mut stored = vec![Stored::default(); infos.len()];
    let mut distinct = vec![Distinct::among(infos.len()); infos.len()];
    let phase = "read";
    progress.tell(&Event::Started { phase })?;
    let mut reader = tables.open(engine)?;
    while let Some(table) = reader.next(BLOCK)? {
        profile.absorb(&table, &|_| 1.0);
        target.map(|target| targets.absorb(&table.columns[target]));
        stored.iter_mut().zip(&table.columns).for_each(|(stored, column)| stored.absorb(column));
        distinct.iter_mut().zip(&table.columns).for_each(|(distinct, column)| count(distinct, column));
        progress.tell(&Event::Progress { phase, rows: profile.rows(), fraction: reader.fraction() })?;
    }
    progress.tell(&Event::Finished { phase })?;
    let identifiers = identifiers(tables, None, infos.len() - usize::from(target.is_some()));
    let says = |remarks: Vec<Remark>| remarks.iter().map(data::advised).collect::<Vec<_>>();
    let mut notes = data::warnings(tables);
    let is_left_out = |name: &str| identifiers.iter().any(|other| other == name);
    notes.extend(says(Remark::of_counters(tables, &is_left_out)));
    notes.extend(says(Remark::of_cells(&reader.unreadable(), infos, data::PLACE)));
    let columns: Vec<ColumnSummary> = (0..infos.len())
        .map(|j| {
            let is_target = target == Some(j);
            let is_identifier = !is_target && identifiers.contains(&infos[j].name);
            let seen = Seen {
                info: &infos[j],
                profile: &profile.profiles()[j],
                distinct: &distinct[j],
                rows: profile.rows(),
            };
            notes.extend(seen.note(is_identifier));
            let column = seen.summary(is_identifier, profile.sample().quartiles(j), &stored[j]);
            if is_target { ColumnSummary { role: Role::Target, ..column } } else { column }
        })
        .collect();
    let is_input =
        |name: &str| columns.iter().any(|column| column.name == name && column.role == Role::Input);
    notes.extend(says(Remark::of_outliers(&profile, &is_input)));
    notes.extend(says(Remark::of_copies(&profile, &is_input)));
    if let (Some(name), true) = (&args.target, targets.rows() > targets.missing()) {
        // A target of one class has nothing to tell.
        if let Ok(decided) = targets.decide(Task::Auto) {
            notes.extend(says(Remark::of_leaks(&profile, name, &decided, &is_input)));
            let (labels, target) = (decided.labels.as_ref(), text::shortened(name, 40));
            let what = match labels {
                Some(labels) => text::counted(labels.len() as u64, "class", "classes"),
                None => "a number".to_owned(),
            };
            notes.push(format!("target \"{target}\": {what} ({})", decided.reason));
        }
    }
    Ok(Summary { file: file.display().to_string(), rows: profile.rows(), columns, notes })
}

/// Entries of a sparse column.
#[derive(Clone, Copy, Default)]
struct Stored {
    count: u64,
    sum: f64,
    squares: f64,
    range: Option<[f64; 2]>,
}

impl Stored {
    fn absorb(&mut self, column: &Column) {
        let Column::Sparse(rows) = column else { return };
        for &value in rows.view().values() {
            self.count += 1;
            self.sum += value;
            self.squares += value * value;
            let [least, most] = self.range.unwrap_or([value; 2]);
            self.range = Some([least.min(value), most.max(value)]);
        }
    }
}

/// Counts the cells that are not missing; levels are counted by their profile.
fn count(distinct: &mut Distinct, column: &Column) {
    match column {
        Column::Number(values) => {
            values
                .iter()
                .filter(|x| !x.is_nan())
                .for_each(|x| distinct.add(&(x + 0.0).to_bits().to_le_bytes()));
        }
        Column::Boolean(values) => {
            values.iter().flatten().for_each(|value| distinct.add(&[u8::from(*value)]))
        }
        Column::Date(values) => {
            let dates = values.iter().filter(|date| **date != MISSING_DATE);
            dates.for_each(|date| distinct.add(&date.to_le_bytes()));
        }
        Column::Text(texts) => texts.cells().flatten().for_each(|text| distinct.add(text.as_bytes())),
        Column::Category(_) | Column::Sparse(_) => {}
    }
}

/// What is known of a column.
struct Seen<'a> {
    info: &'a ColumnInfo,
    profile: &'a ColumnProfile,
    /// Its numbers, booleans, dates or texts.
    distinct: &'a Distinct,
    rows: u64,
}

impl Seen<'_> {
    /// What is unusual about it.
    fn note(&self, is_identifier: bool) -> Option<String> {
        let name = text::shortened(&self.info.name, 40);
        let Seen { profile, rows, .. } = self;
        let missing = profile.missing();
        if *rows == 0 {
            None
        } else if is_identifier {
            Some(format!("\"{name}\" looks like an identifier: fit leaves it out"))
        } else if profile.is_constant() {
            Some(format!("\"{name}\" does not vary: fit leaves it out"))
        } else if missing > 0 {
            let cells = text::counted(missing, "cell is", "cells are");
            Some(format!("\"{name}\": {cells} missing ({})", text::percent(missing as f64 / *rows as f64)))
        } else {
            None
        }
    }

    fn summary(&self, is_identifier: bool, quartiles: Option<[f64; 3]>, stored: &Stored) -> ColumnSummary {
        let Seen { info, profile, distinct, rows } = self;
        let printed = |value: f64| Some(text::number(value));
        let (mut min, mut max, mut mean, mut standard_deviation) = (None, None, None, None);
        let (mut width, mut density) = (None, None);
        let mut distinct = match info.kind {
            ColumnKind::Sparse { .. } => None,
            _ => Some(distinct.count().round() as u64),
        };
        match profile {
            ColumnProfile::Number(number) if number.finite > 0 => {
                (min, max) = (printed(number.min), printed(number.max));
                (mean, standard_deviation) = (Some(number.mean), Some(number.standard_deviation()));
            }
            ColumnProfile::Boolean(boolean) => {
                let count = boolean.counts[0] + boolean.counts[1];
                mean = (count > 0).then(|| boolean.counts[1] as f64 / count as f64);
            }
            ColumnProfile::Category(category) => {
                let levels = category.levels();
                distinct = Some(category.distinct());
                min = levels.iter().map(|(level, _)| *level).min().map(|level| text::shortened(level, 20));
                max = levels.iter().map(|(level, _)| *level).max().map(|level| text::shortened(level, 20));
            }
            ColumnProfile::Date(dates) => {
                min = dates.range.map(|[first, _]| date::print(first));
                max = dates.range.map(|[_, last]| date::print(last));
            }
            ColumnProfile::Sparse => {
                if let ColumnKind::Sparse { width: inside } = info.kind {
                    width = Some(inside);
                    let cells = inside as f64 * *rows as f64;
                    density = (cells > 0.0).then(|| stored.count as f64 / cells);
                    let count = stored.count.max(1) as f64;
                    let average = stored.sum / count;
                    mean = Some(average);
                    standard_deviation = Some((stored.squares / count - average * average).max(0.0).sqrt());
                    (min, max) = (
                        stored.range.and_then(|[least, _]| printed(least)),
                        stored.range.and_then(|[_, most]| printed(most)),
                    );
                }
            }
            ColumnProfile::Number(_) | ColumnProfile::Text(_) => {}
        }
        let missing = profile.missing();
        let is_left_out = is_identifier || (*rows > 0 && profile.is_constant());
        ColumnSummary {
            name: info.name.clone(),
            kind: info.kind.name(),
            role: if is_left_out { Role::Ignored } else { Role::Input },
            min,
            max,
            distinct,
            mean,
            standard_deviation,
            quartiles: quartiles
                .filter(|_| matches!(profile, ColumnProfile::Number(number) if number.finite > 0)),
            missing,
            missing_share: missing as f64 / (*rows).max(1) as f64,
            width,
            density,
        }
    }
}

impl Summary {
    fn text(&self) -> String {
        let rows = text::counted(self.rows, "row", "rows");
        let columns = text::counted(self.columns.len() as u64, "column", "columns");
        let mut lines = vec![format!("{}: {rows}, {columns}", self.file), String::new()];
        let shown: Vec<Vec<String>> = self.columns.iter().take(SHOWN).map(row).collect();
        lines.extend(text::table(&HEADER, &shown));
        if self.columns.len() > SHOWN {
            lines.push(format!("and {} more (--json has all)", self.columns.len() - SHOWN));
        }
        for column in &self.columns {
            if let (Some(width), Some(density)) = (column.width, column.density) {
                let share = text::significant(100.0 * density, 3);
                let width = text::count(width as u64);
                lines.push(format!("\"{}\": {width} columns inside, {share} % of the entries are not zero; min to sd are of those", column.name));
            }
        }
        if !self.notes.is_empty() {
            lines.push(String::new());
            lines.extend(self.notes.iter().take(NOTES).map(|note| format!("note: {note}")));
            if self.notes.len() > NOTES {
                lines.push(format!("and {} more notes (--json has all)", self.notes.len() - NOTES));
            }
        }
        lines.join("\n")
    }

    /// What a person may edit.
    fn schema<'a>(&'a self, tables: &dyn TableSource) -> Written<'a> {
        let column = |(j, column): (usize, &'a ColumnSummary)| WrittenColumn {
            name: &column.name,
            format: tables.format(j),
            role: column.role,
            note: column.note(),
        };
        Written { file: &self.file, columns: self.columns.iter().enumerate().map(column).collect() }
    }

    /// The same as a page.
    fn page(&self) -> Page {
        let mut page = Page::new(self.file.clone());
        let rows = text::counted(self.rows, "row", "rows");
        page.subtitle = format!("{rows}, {}", text::counted(self.columns.len() as u64, "column", "columns"));
        if !self.notes.is_empty() {
            page.heading("What to know");
            page.list(self.notes.iter().map(|note| Text::from(note.as_str())).collect::<Vec<_>>());
        }
        page.heading("Columns");
        page.table(ReportTable {
            caption: Text::from(
                "Distinct cells of many are an estimate (0.8 %); quartiles of more than 5,000 rows are those of a sample.",
            ),
            columns: HEADER
                .iter()
                .enumerate()
                .map(|(at, name)| if at < 3 { TableColumn::text(*name) } else { TableColumn::number(*name) })
                .collect(),
            rows: self.columns.iter().map(row).collect(),
            highlighted: Vec::new(),
        });
        let mut missing: Vec<&ColumnSummary> =
            self.columns.iter().filter(|column| column.missing > 0).collect();
        missing.sort_by_key(|column| std::cmp::Reverse(column.missing));
        if !missing.is_empty() {
            page.heading("Missing cells");
            let bar = |column: &&ColumnSummary| Bar {
                name: column.name.clone(),
                value: column.missing_share,
                text: text::percent(column.missing_share),
            };
            let bars = missing.iter().take(SHOWN).map(bar).collect();
            page.figure(Figure::of("The share of the rows whose cell is missing.", Bars { bars }));
        }
        let command = format!("bochner summary {} --report PAGE.html", self.file);
        page.made = vec![Block::Preformatted(command)];
        page
    }
}

impl ColumnSummary {
    /// What is known of it in a few words.
    fn note(&self) -> String {
        let mut parts = Vec::new();
        if let (Some(min), Some(max)) = (&self.min, &self.max) {
            parts.push(format!("{min} to {max}"));
        }
        parts.extend(self.distinct.map(|distinct| format!("{} distinct", text::count(distinct))));
        if self.missing > 0 {
            parts.push(format!("{} missing", text::percent(self.missing_share)));
        }
        parts.join(", ")
    }
}

fn row(column: &ColumnSummary) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), text::number);
    let word = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
    let [q25, q50, q75] = column.quartiles.map_or([None; 3], |quartiles| quartiles.map(Some)).map(number);
    let missing = if column.missing == 0 { "0".to_owned() } else { text::percent(column.missing_share) };
    vec![
        text::shortened(&column.name, 30),
        column.kind.to_owned(),
        column.role.name().to_owned(),
        word(&column.min),
        word(&column.max),
        column.distinct.map_or_else(|| "-".to_owned(), text::count),
        number(column.mean),
        number(column.standard_deviation),
        q25,
        q50,
        q75,
        missing,
    ]
}

//! A data file, column by column, in one pass.

use std::collections::HashSet;
use std::path::Path;

use bochner::Event;
use bochner::sweep::BLOCK;
use bochner::table::{Column, ColumnKind, TableSource};
use bochner_io::Options;
use serde::Serialize;

use crate::args::InspectArgs;
use crate::console::Console;
use crate::exit::Failure;
use crate::progress::Progress;
use crate::{data, text};

/// Columns and notes that are shown.
const SHOWN: usize = 12;
const NOTES: usize = 5;

/// Different values that are counted.
const MOST_DISTINCT: usize = 100;

#[derive(Serialize)]
struct Found {
    kind: &'static str,
    file: String,
    rows: u64,
    columns: Vec<ColumnReport>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct ColumnReport {
    name: String,
    /// number, text, mixed (numbers with some other cells), or sparse.
    kind: &'static str,
    mean: Option<f64>,
    sd: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    /// Different values; none if there are more than were counted.
    distinct: Option<usize>,
    /// Cells that are not numbers.
    not_numbers: u64,
    /// Columns inside and share of entries that are not zero, of a sparse one.
    width: Option<usize>,
    density: Option<f64>,
}

pub(super) fn run(args: &InspectArgs, console: &mut Console<'_>) -> Result<(), Failure> {
    let progress = Progress::new(&console.messages, args.quiet);
    let tables = open(&args.file, &data::options(&args.read))?;
    let mut columns: Vec<Tally> = tables.columns().iter().map(|_| Tally::default()).collect();
    let (mut reader, mut rows) = (tables.open()?, 0);
    let phase = "read";
    progress.tell(&Event::Started { phase })?;
    while let Some(table) = reader.next(BLOCK)? {
        columns.iter_mut().zip(&table.columns).for_each(|(tally, column)| tally.absorb(column));
        rows += table.rows as u64;
        progress.tell(&Event::Progress { phase, rows, fraction: reader.fraction() })?;
    }
    progress.tell(&Event::Finished { phase })?;
    let infos = tables.columns();
    let notes = notes(
        infos.iter().map(|info| info.name.as_str()).zip(columns.iter().map(|tally| tally.remark(rows))),
    );
    let columns: Vec<ColumnReport> =
        columns.iter().zip(infos).map(|(tally, info)| tally.report(&info.name, info.kind, rows)).collect();
    let found = Found { kind: "data", file: args.file.display().to_string(), rows, columns, notes };
    if args.json { console.json(&found) } else { console.line(&found.text()) }
}

/// Opens a file with every column as text: what is a number is to be found out.
fn open(path: &Path, options: &Options) -> bochner::Result<Box<dyn TableSource>> {
    let source = bochner_io::open(path, options)?;
    let is_number = |kind| matches!(kind, ColumnKind::Number);
    let names: Vec<String> = source
        .columns()
        .iter()
        .filter(|column| is_number(column.kind))
        .map(|column| column.name.clone())
        .collect();
    if names.is_empty() {
        Ok(source)
    } else {
        bochner_io::open(path, &Options { text: names, ..options.clone() })
    }
}

/// What has been seen of a column.
#[derive(Default)]
struct Tally {
    numbers: u64,
    mean: f64,
    /// Σ(x − mean)² (Welford).
    squares: f64,
    min: f64,
    max: f64,
    /// Cells that are not numbers, and the first of them.
    others: u64,
    example: Option<String>,
    values: HashSet<String>,
    /// Whether each number is one more than the one before.
    counts_up: bool,
    last: f64,
}

impl Tally {
    fn absorb(&mut self, column: &Column) {
        match column {
            Column::Text(texts) => texts.iter().for_each(|text| self.cell(text)),
            Column::Number(values) => values.iter().for_each(|&value| self.number(value)),
            Column::Sparse(rows) => rows.view().values().iter().for_each(|&value| self.number(value)),
        }
    }

    fn cell(&mut self, cell: &str) {
        if self.values.len() <= MOST_DISTINCT && !self.values.contains(cell) {
            self.values.insert(cell.to_owned());
        }
        match data::number(cell) {
            Some(value) => self.number(value),
            None => {
                self.others += 1;
                self.example.get_or_insert_with(|| text::shortened(cell, 20));
            }
        }
    }

    fn number(&mut self, value: f64) {
        if self.numbers == 0 {
            (self.min, self.max, self.counts_up) = (value, value, true);
        } else {
            self.counts_up &= (value - self.last).total_cmp(&1.0).is_eq();
        }
        (self.min, self.max, self.last) = (self.min.min(value), self.max.max(value), value);
        self.numbers += 1;
        let difference = value - self.mean;
        self.mean += difference / self.numbers as f64;
        self.squares += difference * (value - self.mean);
    }

    /// Whether it is a column of numbers, some cells aside.
    fn is_number(&self) -> bool {
        self.numbers > 0 && self.numbers >= self.others
    }

    fn remark(&self, rows: u64) -> Option<Remark> {
        let is_number_of_row = self.counts_up && self.numbers == rows && rows > MOST_DISTINCT as u64;
        if self.values.len() == 1 && rows > 1 {
            Some(Remark::Constant)
        } else if self.is_number() && self.others > 0 {
            let example = self.example.clone().unwrap_or_default();
            Some(Remark::Holes { cells: self.others, example })
        } else if self.others > 0 {
            Some(Remark::Text)
        } else {
            is_number_of_row.then_some(Remark::RowNumber)
        }
    }

    fn report(&self, name: &str, kind: ColumnKind, rows: u64) -> ColumnReport {
        let width = if let ColumnKind::Sparse { width } = kind { Some(width) } else { None };
        let kind = match (width, self.is_number(), self.others) {
            (Some(_), ..) => "sparse",
            (None, false, _) => "text",
            (None, true, 0) => "number",
            (None, true, _) => "mixed",
        };
        let known = |value: f64| self.is_number().then_some(value);
        let cells = width.map(|width| width as f64 * rows as f64).filter(|cells| *cells > 0.0);
        ColumnReport {
            name: name.to_owned(),
            kind,
            // Of the entries that are stored, if it is sparse.
            mean: known(self.mean),
            sd: known((self.squares / self.numbers as f64).sqrt()),
            min: known(self.min),
            max: known(self.max),
            distinct: (width.is_none() && self.values.len() <= MOST_DISTINCT).then_some(self.values.len()),
            not_numbers: self.others,
            width,
            density: cells.map(|cells| self.numbers as f64 / cells),
        }
    }
}

/// What the user should know of a column.
enum Remark {
    Constant,
    Holes { cells: u64, example: String },
    Text,
    RowNumber,
}

/// Remarks with what to do about them; those that many columns share in one line.
fn notes<'a>(remarks: impl Iterator<Item = (&'a str, Option<Remark>)>) -> Vec<String> {
    let (mut constant, mut words, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for (name, remark) in remarks {
        let short = text::shortened(name, 40);
        match remark {
            None => {}
            Some(Remark::Constant) => constant.push(name),
            Some(Remark::Text) => words.push(name),
            Some(Remark::Holes { cells, example }) => {
                let cells = text::counted(cells, "cell that is not a number", "cells that are not numbers");
                notes.push(format!(
                    "\"{short}\" has {cells}, such as \"{example}\": fill them in, or --ignore it"
                ));
            }
            Some(Remark::RowNumber) => {
                notes.push(format!(
                    "\"{short}\" counts the rows: --ignore it unless the order means something"
                ));
            }
        }
    }
    let shared = |names: Vec<&str>, one: &str, many: &str| {
        let list = text::list(names.iter().copied(), 8);
        (!names.is_empty()).then(|| format!("{} {list}", text::counted(names.len() as u64, one, many)))
    };
    let constant =
        shared(constant, "column is constant and says nothing:", "columns are constant and say nothing:");
    let example = words.first().map(|name| data::quoted(&format!("{name}=words(from=1,to=2)")));
    let words =
        shared(words, "column is text:", "columns are text:").zip(example).map(|(columns, example)| {
            format!(
                "{columns}; fit for a target, or to learn from with --sequence {example}, else to --ignore"
            )
        });
    words.into_iter().chain(constant).chain(notes).collect()
}

impl Found {
    fn text(&self) -> String {
        let rows = text::counted(self.rows, "row", "rows");
        let columns = text::counted(self.columns.len() as u64, "column", "columns");
        let mut lines = vec![format!("{}: {rows}, {columns}", self.file), String::new()];
        let shown: Vec<Vec<String>> = self.columns.iter().take(SHOWN).map(row).collect();
        lines.extend(text::table(&["column", "kind", "mean", "sd", "min", "max", "distinct"], &shown));
        if self.columns.len() > SHOWN {
            lines.push(format!("and {} more (--json has all)", self.columns.len() - SHOWN));
        }
        for column in &self.columns {
            if let (Some(width), Some(density)) = (column.width, column.density) {
                let share = text::significant(100.0 * density, 3);
                let width = text::count(width as u64);
                lines.push(format!("\"{}\": {width} columns inside, {share} % of the entries are not zero; mean to max are of those", column.name));
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
}

fn row(column: &ColumnReport) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), text::number);
    let distinct = match (column.distinct, column.width) {
        (Some(distinct), _) => text::count(distinct as u64),
        (None, Some(_)) => "-".to_owned(),
        (None, None) => format!("> {MOST_DISTINCT}"),
    };
    vec![
        text::shortened(&column.name, 30),
        column.kind.to_owned(),
        number(column.mean),
        number(column.sd),
        number(column.min),
        number(column.max),
        distinct,
    ]
}

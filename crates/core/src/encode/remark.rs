//! What should be known of a table before, or after, something is learnt from it.
//!
//! A remark says what was found. What to do about it depends on who reads it, and is added there.

use std::collections::HashSet;
use std::fmt;

use super::{ColumnProfile, ColumnScaling, Decided, Inputs, TableProfile};
use crate::Kernel;
use crate::table::leakage::{self, SampleTargets};
use crate::table::{ColumnInfo, ColumnKind, TableSource, Unreadable};

/// Distances of the quartiles beyond which a number is an outlier.
const FAR: f64 = 1000.0;

/// The share of the target from which on a column is said to tell it.
const TELLS: f64 = 0.99;

/// Names that are written out.
const MOST: usize = 4;

/// Something that was noticed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Remark {
    /// Rows have no target, and are left out.
    NoTarget {
        /// Its name; empty where it has none.
        target: String,
        /// How many rows.
        rows: u64,
    },
    /// Classes are written in several ways.
    Respelled {
        /// How they are called from here on.
        classes: Vec<String>,
    },
    /// More than half as many classes as rows.
    ManyClasses {
        /// The name of the target.
        target: String,
        /// How many.
        classes: usize,
        /// Rows with a target.
        rows: u64,
    },
    /// Columns that do not vary.
    Constant {
        /// Their names.
        columns: Vec<String>,
    },
    /// Columns whose cells tell rows apart, and nothing else.
    Identifier {
        /// Their names.
        columns: Vec<String>,
    },
    /// A column of whole numbers, all different and without gaps.
    CountsRows {
        /// Its name.
        column: String,
    },
    /// Cells are infinite.
    Infinite {
        /// The name of the column.
        column: String,
        /// How many.
        cells: u64,
    },
    /// Cells are not what their column holds.
    Unreadable {
        /// The name of the column.
        column: String,
        /// What it holds.
        kind: ColumnKind,
        /// How many cells.
        cells: u64,
        /// What places are counted in: `line` or `row`.
        unit: &'static str,
        /// The place of the first.
        place: u64,
        /// The first.
        example: String,
    },
    /// Columns with numbers far beyond all others.
    Outliers {
        /// Their names.
        columns: Vec<String>,
    },
    /// A column that predicts the target by itself.
    Leak {
        /// Its name.
        column: String,
        /// That of the target.
        target: String,
        /// The share of the error of the best constant that it removes.
        share: f64,
    },
    /// A column that holds the same as another.
    Copy {
        /// Its name.
        column: String,
        /// That of the first.
        of: String,
    },
    /// What a source has noticed, a sentence.
    Other(String),
}

impl Remark {
    /// Of columns that count the rows, but for some.
    pub fn of_counters(tables: &dyn TableSource, is_left_out: &dyn Fn(&str) -> bool) -> Vec<Remark> {
        let columns = tables.columns().iter().enumerate();
        let counters = columns.filter(|(j, info)| {
            !is_left_out(&info.name) && tables.inferred(*j).is_some_and(|found| found.counts_rows)
        });
        counters.map(|(_, info)| Remark::CountsRows { column: info.name.clone() }).collect()
    }

    /// Cells that a reader could not read. Places are counted in lines or rows.
    pub fn of_cells(found: &[Unreadable], columns: &[ColumnInfo], unit: &'static str) -> Vec<Remark> {
        let remark = |cells: &Unreadable| {
            let ColumnInfo { name, kind } = columns.get(cells.column)?;
            Some(Remark::Unreadable {
                column: name.clone(),
                kind: *kind,
                cells: cells.count,
                unit,
                place: cells.line,
                example: cells.example.clone(),
            })
        };
        found.iter().filter_map(remark).collect()
    }

    /// Of a fit: of its target, of what is learnt from and what is not. `missing` are the rows without a target, of which the profile
    /// knows nothing.
    pub fn of_fit(
        inputs: &Inputs,
        profile: &TableProfile,
        target: &str,
        decided: &Decided,
        missing: u64,
    ) -> Vec<Remark> {
        let is_input = |name: &str| inputs.columns.inputs().iter().any(|input| input.name == name);
        let mut remarks = Remark::of_target(target, decided, profile.rows() + missing, missing);
        remarks.extend(Remark::of_inputs(inputs, profile));
        if profile.scaling() == ColumnScaling::Standard {
            remarks.extend(Remark::of_outliers(profile, &is_input));
        }
        remarks.extend(Remark::of_leaks(profile, target, decided, &is_input));
        remarks
    }

    /// Of the columns that are learnt from, and those that are not because they do not vary.
    pub fn of_inputs(inputs: &Inputs, profile: &TableProfile) -> Vec<Remark> {
        let mut remarks = Vec::new();
        if !inputs.constant.is_empty() {
            remarks.push(Remark::Constant { columns: inputs.constant.clone() });
        }
        let names: HashSet<&str> = inputs.columns.inputs().iter().map(|input| input.name.as_str()).collect();
        for (ColumnInfo { name, .. }, profile) in profile.columns().iter().zip(profile.profiles()) {
            if let ColumnProfile::Number(number) = profile
                && number.infinite > 0
                && names.contains(name.as_str())
            {
                remarks.push(Remark::Infinite { column: name.clone(), cells: number.infinite });
            }
        }
        remarks
    }

    /// Of numbers further from the quartiles than a thousand times their distance; where that is 0, than a thousand times the middle
    /// distance of all that differ from them.
    pub fn of_outliers(profile: &TableProfile, is_input: &dyn Fn(&str) -> bool) -> Vec<Remark> {
        let is_far = |j: usize| -> Option<bool> {
            let ColumnProfile::Number(number) = &profile.profiles()[j] else { return None };
            let [low, _, high] = profile.sample().quartiles(j)?;
            let most = FAR * profile.sample().spread(j)?;
            Some(number.max - high > most || low - number.min > most)
        };
        let far = |(j, info): (usize, &ColumnInfo)| {
            (is_input(&info.name) && is_far(j).unwrap_or(false)).then(|| info.name.clone())
        };
        let columns: Vec<String> = profile.columns().iter().enumerate().filter_map(far).collect();
        if columns.is_empty() { Vec::new() } else { vec![Remark::Outliers { columns }] }
    }

    /// Of columns that predict more than 99 % of the target by themselves.
    pub fn of_leaks(
        profile: &TableProfile,
        target: &str,
        decided: &Decided,
        is_input: &dyn Fn(&str) -> bool,
    ) -> Vec<Remark> {
        let index = decided.labels.as_ref().map(super::Labels::index);
        let targets = SampleTargets::of(profile.sample(), index.as_ref(), decided.decimal_comma);
        let leak = |(j, info): (usize, &ColumnInfo)| {
            let share = leakage::explained(profile.sample(), &targets, j).filter(|share| *share > TELLS)?;
            Some(Remark::Leak { column: info.name.clone(), target: target.to_owned(), share })
        };
        let columns = profile.columns().iter().enumerate();
        columns.filter(|(_, info)| is_input(&info.name)).filter_map(leak).collect()
    }

    /// Of columns that hold the same as one before them.
    pub fn of_copies(profile: &TableProfile, is_input: &dyn Fn(&str) -> bool) -> Vec<Remark> {
        let name = |j: usize| profile.columns()[j].name.clone();
        let pairs = profile.sample().equal(&|j| !is_input(&profile.columns()[j].name));
        pairs.into_iter().map(|(j, first)| Remark::Copy { column: name(j), of: name(first) }).collect()
    }

    /// Of a target in so many rows.
    fn of_target(target: &str, decided: &Decided, rows: u64, missing: u64) -> Vec<Remark> {
        let mut remarks = Vec::new();
        if missing > 0 {
            remarks.push(Remark::NoTarget { target: target.to_owned(), rows: missing });
        }
        if !decided.respelled.is_empty() {
            remarks.push(Remark::Respelled { classes: decided.respelled.clone() });
        }
        let (rows, classes) = (rows - missing, decided.labels.as_ref().map_or(0, super::Labels::len));
        if classes > 2 && 2 * classes as u64 > rows {
            remarks.push(Remark::ManyClasses { target: target.to_owned(), classes, rows });
        }
        remarks
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remark::NoTarget { target, rows } => {
                let are = if *rows == 1 { "is" } else { "are" };
                let rows = counted(*rows, "row has", "rows have");
                match target.as_str() {
                    "" => write!(f, "{rows} no target and {are} left out"),
                    name => write!(f, "{rows} no \"{}\" and {are} left out", shortened(name, 40)),
                }
            }
            Remark::Respelled { classes } => {
                let classes = list(classes);
                write!(f, "classes are written in several ways, and are called {classes} from here on")
            }
            Remark::ManyClasses { target, classes, rows } => {
                let (name, rows) = (target_name(target), counted(*rows, "row", "rows"));
                write!(f, "{name} has {classes} classes in {rows}: is it the right column?")
            }
            Remark::Constant { columns } => {
                named(f, columns, "does not vary and is left out", "do not vary and are left out")
            }
            Remark::Identifier { columns } => {
                let (one, many) =
                    ("looks like an identifier and is left out", "look like identifiers and are left out");
                named(f, columns, one, many)
            }
            Remark::CountsRows { column } => {
                write!(f, "column \"{}\" counts the rows", shortened(column, 40))
            }
            Remark::Infinite { column, cells } => {
                let (name, cells) = (shortened(column, 40), counted(*cells, "cell is", "cells are"));
                write!(f, "column \"{name}\": {cells} infinite, taken as the smallest or the largest number")
            }
            Remark::Unreadable { column, kind, cells, unit, place, example } => {
                let (name, cells) = (shortened(column, 40), counted(*cells, "cell is", "cells are"));
                let (what, example) = (kind_name(*kind), shortened(example, 20));
                write!(
                    f,
                    "column \"{name}\": {cells} not {what} (first: {unit} {place}, \"{example}\"); taken as missing"
                )
            }
            Remark::Outliers { columns } => {
                let what = "numbers far beyond all others";
                named(f, columns, &format!("has {what}"), &format!("have {what}"))
            }
            Remark::Leak { column, target, share } => {
                let (name, target) = (shortened(column, 40), target_name(target));
                // Never 100 % where something is left.
                let share = (1000.0 * share).floor() / 10.0;
                write!(f, "column \"{name}\" alone predicts {share} % of {target}")
            }
            Remark::Copy { column, of } => {
                write!(f, "\"{}\" holds the same as \"{}\"", shortened(column, 40), shortened(of, 40))
            }
            Remark::Other(text) => f.write_str(text),
        }
    }
}

/// Columns that look like identifiers, of which nothing can be learnt: each cell of its own, or a column without a name that counts the
/// rows. None where the kernel names the columns that it looks at, and where they are all there is of so many inputs.
pub fn identifiers(tables: &dyn TableSource, kernel: Option<&Kernel>, inputs: usize) -> Vec<String> {
    if kernel.is_some_and(|kernel| kernel.names_only().is_some()) {
        return Vec::new();
    }
    let names = tables.columns().iter().enumerate().filter(|(j, info)| {
        let Some(found) = tables.inferred(*j) else { return false };
        found.is_identifier || (found.counts_rows && info.name.starts_with("Unnamed: "))
    });
    let names: Vec<String> = names.map(|(_, info)| info.name.clone()).collect();
    if names.len() < inputs { names } else { Vec::new() }
}

/// What a cell of this kind is called.
fn kind_name(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Number => "a number",
        ColumnKind::Boolean => "true or false",
        ColumnKind::Category => "a category",
        ColumnKind::Date => "a date",
        ColumnKind::Text => "a text",
        ColumnKind::Sparse { .. } => "sparse",
    }
}

/// In quotes; a target may have no name.
fn target_name(name: &str) -> String {
    if name.is_empty() { "the target".to_owned() } else { format!("\"{}\"", shortened(name, 40)) }
}

/// `column a does …`, `columns a, b do …`
fn named(f: &mut fmt::Formatter<'_>, columns: &[String], one: &str, many: &str) -> fmt::Result {
    let names = list(columns);
    if columns.len() == 1 { write!(f, "column {names} {one}") } else { write!(f, "columns {names} {many}") }
}

/// The first few, and how many more there are.
fn list(names: &[String]) -> String {
    let mut text = names.iter().take(MOST).map(|name| shortened(name, 30)).collect::<Vec<_>>().join(", ");
    if let Some(more) = names.len().checked_sub(MOST).filter(|more| *more > 0) {
        text += &format!(" and {} more", grouped(more as u64));
    }
    text
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

/// `1,234,567`
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|g| str::from_utf8(g).unwrap_or("")).collect();
    groups.join(",")
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Column, Table};

    /// Most cells are one number, so that the quartiles are equal.
    #[test]
    fn outliers_are_seen_beside_many_zeros() {
        let columns = [ColumnInfo { name: "x".to_owned(), kind: ColumnKind::Number }];
        let is_told = |largest: f64| {
            let mut x: Vec<f64> =
                (0..999).map(|i| if i % 5 == 0 { f64::from(i % 50) } else { 0.0 }).collect();
            x.push(largest);
            let mut profile = TableProfile::new(&columns);
            let table = Table { rows: 1000, columns: vec![Column::Number(x)], first_row: 0 };
            profile.absorb(&table, &|_| 1.0);
            !Remark::of_outliers(&profile, &|_| true).is_empty()
        };
        assert!(is_told(1e12) && is_told(-1e12) && !is_told(1e3));
    }

    #[test]
    fn remarks_read_well() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let unreadable = Remark::Unreadable {
            column: "age".to_owned(),
            kind: ColumnKind::Number,
            cells: 12_345,
            unit: "line",
            place: 19,
            example: "x".repeat(30),
        };
        for (remark, expected) in [
            (
                Remark::NoTarget { target: "y".to_owned(), rows: 1 },
                "1 row has no \"y\" and is left out".to_owned(),
            ),
            (
                Remark::NoTarget { target: String::new(), rows: 2000 },
                "2,000 rows have no target and are left out".to_owned(),
            ),
            (
                Remark::Leak { column: "a".to_owned(), target: String::new(), share: 0.9999 },
                "column \"a\" alone predicts 99.9 % of the target".to_owned(),
            ),
            (
                Remark::Constant { columns: names(&["a"]) },
                "column a does not vary and is left out".to_owned(),
            ),
            (
                Remark::Identifier { columns: names(&["a", "b", "c", "d", "e", "f"]) },
                "columns a, b, c, d and 2 more look like identifiers and are left out".to_owned(),
            ),
            (
                unreadable,
                format!(
                    "column \"age\": 12,345 cells are not a number (first: line 19, \"{}…\"); taken as missing",
                    "x".repeat(19)
                ),
            ),
        ] {
            assert_eq!(remark.to_string(), expected);
        }
        assert_eq!([grouped(0), grouped(999), grouped(1_234_567)], ["0", "999", "1,234,567"]);
    }
}

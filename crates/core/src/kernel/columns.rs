//! Which columns a kernel looks at: `[age,3..9]`.
//!
//! Names and numbers are those of the source's columns, numbers from 0; `3..9` is 3, 4, …, 8. Names become numbers when the source is
//! known ([`Kernel::bind`](super::Kernel::bind)).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::matrix::is_wide;
use crate::{Error, Result};

/// One column, or some that follow each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// The column of this number, from 0.
    At(usize),
    /// From the first number up to, without, the second.
    Range(usize, usize),
    /// The column of this name.
    Name(String),
}

impl Column {
    fn numbers(&self) -> std::ops::Range<usize> {
        match self {
            Column::At(at) => *at..at + 1,
            Column::Range(from, to) => *from..*to,
            Column::Name(_) => 0..0,
        }
    }
}

impl From<usize> for Column {
    fn from(at: usize) -> Column {
        Column::At(at)
    }
}

impl From<std::ops::Range<usize>> for Column {
    fn from(range: std::ops::Range<usize>) -> Column {
        Column::Range(range.start, range.end)
    }
}

impl From<&str> for Column {
    fn from(name: &str) -> Column {
        Column::Name(name.to_owned())
    }
}

/// The numbers of the columns, in the order given; those without a number yet are left out.
pub(crate) fn numbers(columns: &[Column]) -> impl Iterator<Item = usize> + Clone + '_ {
    columns.iter().flat_map(Column::numbers)
}

/// The range of columns that follow each other and are many, where sparse rows should not be searched column by column.
pub(super) fn wide(columns: &[Column]) -> Option<std::ops::Range<usize>> {
    match columns {
        [column] if is_wide(column.numbers().len()) => Some(column.numbers()),
        _ => None,
    }
}

/// How many they are.
pub(super) fn count(columns: &[Column]) -> usize {
    columns.iter().map(|column| column.numbers().len()).sum()
}

/// One more than the largest number.
pub(super) fn most(columns: &[Column]) -> Option<usize> {
    columns.iter().map(|column| column.numbers().end).max().filter(|most| *most > 0)
}

/// Something is chosen, ranges are not empty, and nothing is chosen twice.
pub(super) fn validate(columns: &[Column]) -> Result<()> {
    let wrong =
        |expected, found: String| Err(Error::Parameter { name: "the columns of a kernel", expected, found });
    for column in columns {
        match column {
            Column::Range(from, to) if from >= to => {
                return wrong("ranges that are not empty", column.to_string());
            }
            Column::Range(_, to) if *to > u32::MAX as usize => {
                return wrong("numbers below 2³²", column.to_string());
            }
            Column::At(at) if *at >= u32::MAX as usize => {
                return wrong("numbers below 2³²", column.to_string());
            }
            _ => {}
        }
    }
    if columns.is_empty() {
        return wrong("at least one column", "none".to_owned());
    }
    let mut ranges: Vec<_> = columns.iter().map(Column::numbers).filter(|range| !range.is_empty()).collect();
    ranges.sort_by_key(|range| range.start);
    let mut names: Vec<&Column> = columns.iter().filter(|c| matches!(c, Column::Name(_))).collect();
    names.sort_by_key(|column| column.to_string());
    let twice = ranges.windows(2).find(|w| w[1].start < w[0].end).map(|w| w[1].start.to_string());
    let twice = twice.or_else(|| names.windows(2).find(|w| w[0] == w[1]).map(|w| w[0].to_string()));
    twice.map_or(Ok(()), |column| wrong("each column once", format!("{column} twice")))
}

/// All numbers are those of columns.
pub(super) fn check(columns: &[Column], count: usize) -> Result<()> {
    if let Some(Column::Name(name)) = columns.iter().find(|column| matches!(column, Column::Name(_))) {
        return Err(Error::MissingColumn { name: name.clone(), found: Vec::new() });
    }
    match most(columns) {
        Some(named) if named > count => Err(Error::NoSuchColumn { column: named - 1, count }),
        _ => Ok(()),
    }
}

/// The same columns by their numbers.
pub(super) fn bind(columns: &[Column], names: &[String]) -> Result<Vec<Column>> {
    let number = |column: &Column| match column {
        Column::Name(name) => {
            let at = names.iter().position(|other| other == name);
            at.map(Column::At)
                .ok_or_else(|| Error::MissingColumn { name: name.clone(), found: names.to_vec() })
        }
        _ => Ok(column.clone()),
    };
    columns.iter().map(number).collect()
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Column::At(at) => write!(f, "{at}"),
            Column::Range(from, to) => write!(f, "{from}..{to}"),
            Column::Name(name) if is_word(name) => f.write_str(name),
            Column::Name(name) => f.write_str(&quoted(name)),
        }
    }
}

/// In quotation marks, with a backslash before those inside.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Whether a name can stand without quotes.
pub(super) fn is_word(name: &str) -> bool {
    let start = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    start && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

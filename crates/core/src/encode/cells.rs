//! The cells of a column as its encoding wants them, whatever the table holds: a file that is read anew, a frame, or an array may
//! have another kind than the table that was learnt from.
//!
//! ```text
//! wanted     taken from
//! number     numbers; true as 1, false as 0; texts and levels that spell a number
//! boolean    true and false; 0 and 1; texts and levels that spell one
//! category   levels; texts; true and false; numbers as they are printed (3, not 3.0)
//! date       dates; texts and levels that spell one
//! text       texts; levels
//! ```
//! What cannot be read is missing. A kind that is not listed is an error.

use std::borrow::Cow;

use super::inputs;
use crate::table::infer::{bit, boolean_or_bit, is_missing};
use crate::table::{CategoryColumn, Column, MISSING_DATE, TextColumn, date, number};
use crate::{Error, Result};

fn spelled<'a>(column: &'a Column) -> Option<Box<dyn Iterator<Item = Option<&'a str>> + 'a>> {
    match column {
        Column::Text(texts) => {
            Some(Box::new(texts.cells().map(|cell| cell.filter(|cell| !is_missing(cell)))))
        }
        Column::Category(levels) => Some(Box::new((0..levels.codes.len()).map(|i| levels.get(i)))),
        _ => None,
    }
}

fn wrong(name: &str, expected: &'static str, column: &Column, instead: &'static str) -> Error {
    let found = match column {
        Column::Number(_) => "numbers",
        Column::Boolean(_) => "true and false",
        Column::Category(_) => "categories",
        Column::Date(_) => "dates",
        Column::Text(_) => "texts",
        Column::Sparse(_) => "sparse rows",
    };
    Error::ColumnKind { name: name.to_owned(), expected, found, instead }
}

const AS_FITTED: &str = "give the column the kind that it had in training";

pub(super) fn numbers<'a>(name: &str, column: &'a Column, decimal_comma: bool) -> Result<Cow<'a, [f64]>> {
    let value = |cell: &str| number::parse(cell, decimal_comma).map(|(value, _)| value);
    match column {
        Column::Number(values) => Ok(Cow::Borrowed(values)),
        Column::Boolean(values) => Ok(values
            .iter()
            .map(|value| value.map_or(f64::NAN, |value| f64::from(u8::from(value))))
            .collect()),
        _ => match spelled(column) {
            Some(cells) => Ok(cells.map(|cell| cell.and_then(value).unwrap_or(f64::NAN)).collect()),
            None => Err(wrong(name, "numbers", column, AS_FITTED)),
        },
    }
}

pub(super) fn booleans<'a>(name: &str, column: &'a Column) -> Result<Cow<'a, [Option<bool>]>> {
    match column {
        Column::Boolean(values) => Ok(Cow::Borrowed(values)),
        Column::Number(values) => Ok(values.iter().map(|value| bit(*value)).collect()),
        _ => match spelled(column) {
            Some(cells) => Ok(cells.map(|cell| cell.and_then(boolean_or_bit)).collect()),
            None => Err(wrong(name, "true and false", column, AS_FITTED)),
        },
    }
}

pub(super) fn levels<'a>(name: &str, column: &'a Column) -> Result<Cow<'a, CategoryColumn>> {
    match column {
        Column::Category(levels) => Ok(Cow::Borrowed(levels)),
        Column::Text(_) => {
            let cells = spelled(column).into_iter().flatten();
            Ok(Cow::Owned(cells.map(|cell| cell.map(str::trim)).collect()))
        }
        Column::Boolean(values) => {
            let text = |value: bool| if value { "True" } else { "False" };
            Ok(Cow::Owned(values.iter().map(|value| value.map(text)).collect()))
        }
        Column::Number(values) => {
            let texts: Vec<String> = values.iter().map(f64::to_string).collect();
            let cells =
                values.iter().zip(&texts).map(|(value, text)| (!value.is_nan()).then_some(text.as_str()));
            Ok(Cow::Owned(cells.collect()))
        }
        Column::Date(_) | Column::Sparse(_) => Err(wrong(name, "categories", column, AS_FITTED)),
    }
}

pub(super) fn dates<'a>(name: &str, column: &'a Column, day_first: bool) -> Result<Cow<'a, [i64]>> {
    match column {
        Column::Date(values) => Ok(Cow::Borrowed(values)),
        _ => match spelled(column) {
            Some(cells) => Ok(cells
                .map(|cell| cell.and_then(|cell| date::parse(cell, day_first)).unwrap_or(MISSING_DATE))
                .collect()),
            None => Err(wrong(name, "dates", column, AS_FITTED)),
        },
    }
}

pub(super) fn texts<'a>(name: &str, column: &'a Column) -> Result<Cow<'a, TextColumn>> {
    match column {
        Column::Text(texts) => Ok(Cow::Borrowed(texts)),
        Column::Category(levels) => Ok(Cow::Owned((0..levels.codes.len()).map(|i| levels.get(i)).collect())),
        _ => Err(wrong(name, "texts", column, inputs::AS_TEXT)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts_of(cells: &[Option<&str>]) -> Column {
        Column::Text(cells.iter().copied().collect())
    }

    #[test]
    fn cells_are_taken_from_what_spells_them() {
        let cells = [Some("1"), Some("x"), None, Some("NA"), Some(" 2.5 ")];
        let column = texts_of(&cells);
        let found: Vec<Option<f64>> =
            numbers("a", &column, false).unwrap().iter().map(|x| (!x.is_nan()).then_some(*x)).collect();
        assert_eq!(found, [Some(1.0), None, None, None, Some(2.5)]);
        let column = texts_of(&[Some("yes"), Some("0"), Some("2"), None]);
        assert_eq!(*booleans("a", &column).unwrap(), [Some(true), Some(false), None, None]);
        let column = Column::Number(vec![3.0, f64::NAN, 2.5]);
        let levels = levels("a", &column).unwrap();
        assert_eq!([0, 1, 2].map(|i| levels.get(i)), [Some("3"), None, Some("2.5")]);
        let column = texts_of(&[Some("1/2/2024"), Some("tomorrow")]);
        assert_eq!(
            *dates("a", &column, true).unwrap(),
            [date::parse("2024-02-01", false).unwrap(), MISSING_DATE]
        );
        let error = dates("a", &Column::Number(vec![]), true).unwrap_err().to_string();
        assert_eq!(
            error,
            "expected dates in column \"a\", found numbers; give the column the kind that it had in training"
        );
    }
}

//! The cells of one column of one block, from text to what they are.

use std::collections::HashMap;

use bochner::table::infer::{boolean_or_bit, is_missing};
use bochner::table::{CategoryColumn, CellFormat, Column, ColumnKind, MISSING_DATE, TextColumn, date};

use crate::error::{Place, Result};
use crate::number;

/// A column that grows.
pub(crate) struct Cells {
    format: CellFormat,
    column: Column,
    /// The levels of a category.
    known: HashMap<Box<str>, u32>,
}

impl Cells {
    /// With room for some rows.
    pub(crate) fn new(format: CellFormat, capacity: usize) -> Cells {
        let column = match format.kind {
            ColumnKind::Number | ColumnKind::Sparse { .. } => Column::Number(Vec::with_capacity(capacity)),
            ColumnKind::Boolean => Column::Boolean(Vec::with_capacity(capacity)),
            ColumnKind::Category => Column::Category(CategoryColumn {
                codes: Vec::with_capacity(capacity),
                levels: TextColumn::default(),
            }),
            ColumnKind::Date => Column::Date(Vec::with_capacity(capacity)),
            ColumnKind::Text => Column::Text(TextColumn::default()),
        };
        Cells { format, column, known: HashMap::new() }
    }

    /// Appends a cell; false if it is neither missing nor what the column holds: then it is missing.
    pub(crate) fn push(&mut self, cell: &[u8], place: Place<'_>) -> Result<bool> {
        if let (Column::Number(values), false) = (&mut self.column, self.format.decimal_comma)
            && let Some(value) = number::parse(cell)
        {
            values.push(value);
            return Ok(true);
        }
        Ok(self.push_text(place.text(cell)?))
    }

    /// The same for text. An empty text is missing: a delimited file cannot tell one from the other.
    pub(crate) fn push_text(&mut self, text: &str) -> bool {
        let CellFormat { decimal_comma, day_first, .. } = self.format;
        match &mut self.column {
            Column::Number(values) => {
                let value = number(text, decimal_comma);
                values.push(value.unwrap_or(f64::NAN));
                value.is_some()
            }
            Column::Boolean(values) => {
                let value = boolean_or_bit(text);
                values.push(value);
                value.is_some() || is_missing(text)
            }
            Column::Date(values) => {
                let value = date::parse(text, day_first);
                values.push(value.unwrap_or(MISSING_DATE));
                value.is_some() || is_missing(text)
            }
            Column::Category(column) => {
                let code = code(&mut self.known, &mut column.levels, text);
                column.codes.push(code);
                true
            }
            Column::Text(texts) => {
                texts.push_cell((!text.is_empty()).then_some(text));
                true
            }
            Column::Sparse(_) => true, // no format makes one
        }
    }

    /// Appends a missing cell.
    pub(crate) fn push_missing(&mut self) {
        match &mut self.column {
            Column::Number(values) => values.push(f64::NAN),
            Column::Boolean(values) => values.push(None),
            Column::Date(values) => values.push(MISSING_DATE),
            Column::Category(column) => column.codes.push(CategoryColumn::MISSING),
            Column::Text(texts) => texts.push_missing(),
            Column::Sparse(_) => {}
        }
    }

    /// The column itself, to be appended to.
    pub(crate) fn column(&mut self) -> &mut Column {
        &mut self.column
    }

    /// Appends a level to a column of categories by its code; none is a missing cell.
    pub(crate) fn push_code(&mut self, code: Option<u32>) {
        if let Column::Category(column) = &mut self.column {
            column.codes.push(code.unwrap_or(CategoryColumn::MISSING));
        }
    }

    /// The code of a level in a column of categories, the next one if it is new.
    pub(crate) fn code(&mut self, level: &str) -> u32 {
        match &mut self.column {
            Column::Category(column) => code(&mut self.known, &mut column.levels, level),
            _ => CategoryColumn::MISSING,
        }
    }

    /// The column.
    pub(crate) fn finish(self) -> Column {
        self.column
    }
}

fn code(known: &mut HashMap<Box<str>, u32>, levels: &mut TextColumn, text: &str) -> u32 {
    let text = text.trim();
    match known.get(text) {
        Some(&code) => code,
        None if is_missing(text) => CategoryColumn::MISSING,
        None => {
            let code = levels.len() as u32;
            levels.push(text);
            known.insert(text.into(), code);
            code
        }
    }
}

/// A number as people write it, NaN for a missing one; none for anything else.
fn number(text: &str, decimal_comma: bool) -> Option<f64> {
    match bochner::table::number::parse(text, decimal_comma) {
        Some((value, _)) => Some(value),
        None => is_missing(text).then_some(f64::NAN),
    }
}

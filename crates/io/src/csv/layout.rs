//! The columns of a file and how they are told apart.

use std::collections::HashMap;

use bochner::table::{ColumnInfo, ColumnKind, position};

use super::delimiter;
use super::records::Records;
use crate::error::{Error, Result, shortened};
use crate::input::Input;
use crate::options::Options;

/// What has to be known to read the rows.
pub(super) struct Layout {
    pub(super) columns: Vec<ColumnInfo>,
    pub(super) delimiter: u8,
    pub(super) header: bool,
}

impl Layout {
    /// Looks at the first record.
    pub(super) fn read(input: Input, options: &Options) -> bochner::Result<Self> {
        let (delimiter, input) = match options.delimiter {
            Some(delimiter) => (delimiter::check(delimiter)?, input),
            None => {
                let (head, input) = input.peek(delimiter::LOOKED_AT)?;
                (delimiter::sniff(&head), input)
            }
        };
        let names = names(&mut Records::new(input, delimiter), options.header)?;
        let mut columns: Vec<ColumnInfo> =
            names.into_iter().map(|name| ColumnInfo { name, kind: ColumnKind::Number }).collect();
        for name in &options.text {
            let found = position(&columns, name)?;
            columns[found].kind = ColumnKind::Text;
        }
        Ok(Layout { columns, delimiter, header: options.header })
    }

    /// Moves past the header, if there is one, and sees to it that it is still the same.
    pub(super) fn skip_header(&self, records: &mut Records) -> Result<()> {
        if !self.header {
            return Ok(());
        }
        let known = self.columns.iter().map(|column| column.name.as_bytes());
        if records.advance()? && records.fields().map(<[u8]>::trim_ascii).eq(known) {
            Ok(())
        } else {
            Err(Error::Changed { file: records.input().file().to_owned() })
        }
    }
}

/// The names in the first record, spaces around them aside, or as many made-up ones.
fn names(records: &mut Records, header: bool) -> Result<Vec<String>> {
    if !records.advance()? {
        let file = records.input().file().to_owned();
        return Err(if header { Error::NoHeader { file } } else { Error::NoColumns { file } });
    }
    if !header {
        return Ok((1..=records.len()).map(|column| format!("c{column}")).collect());
    }
    let place = records.place();
    let name = |field: &[u8]| place.text(field.trim_ascii()).map(str::to_owned);
    let names = records.fields().map(name).collect::<Result<Vec<String>>>()?;
    let (file, line) = (place.file.to_owned(), place.line);
    let empty: Vec<usize> = (1..=names.len()).filter(|&column| names[column - 1].is_empty()).collect();
    if !empty.is_empty() {
        return Err(Error::EmptyName { file, line, columns: empty });
    }
    let mut seen = HashMap::new();
    for (column, name) in names.iter().enumerate() {
        if let Some(first) = seen.insert(name, column) {
            let (name, first, second) = (shortened(name), first + 1, column + 1);
            return Err(Error::DuplicateName { file, line, name, first, second });
        }
    }
    Ok(names)
}

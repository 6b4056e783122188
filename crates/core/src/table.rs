//! Tables: named columns, in blocks, as files are read.
//!
//! A reader in `bochner-io` makes tables, an encoder turns them into rows. A table knows names and values but not what
//! they are for; which column is the target is the encoder's affair.

use crate::{Csr, Error, Result};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// One number a row.
    Number,
    /// One text a row.
    Text,
    /// Many numbers a row, most of them zero: the features of a sparse file, as one wide column.
    Sparse {
        /// The number of columns inside.
        width: usize,
    },
}

/// Name and kind of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// The name in the file, or one made up where the file has none.
    pub name: String,
    /// What it holds.
    pub kind: ColumnKind,
}

/// The values of one column in one block.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Numbers, finite or not: the encoder decides what to do with those that are not.
    Number(Vec<f64>),
    /// Text.
    Text(TextColumn),
    /// Sparse rows.
    Sparse(Csr<f64>),
}

/// Strings, end to end, with their boundaries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextColumn {
    bytes: String,
    ends: Vec<usize>,
}

impl TextColumn {
    /// Appends a string.
    pub fn push(&mut self, text: &str) {
        self.bytes.push_str(text);
        self.ends.push(self.bytes.len());
    }

    /// The number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// String i.
    pub fn get(&self, i: usize) -> &str {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.bytes[start..self.ends[i]]
    }

    /// All strings.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|i| self.get(i))
    }
}

impl<'a> FromIterator<&'a str> for TextColumn {
    fn from_iter<I: IntoIterator<Item = &'a str>>(texts: I) -> Self {
        let mut column = TextColumn::default();
        texts.into_iter().for_each(|text| column.push(text));
        column
    }
}

/// A block of rows, column by column.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The number of rows.
    pub rows: usize,
    /// One for each [`ColumnInfo`] of the source, in its order.
    pub columns: Vec<Column>,
    /// The number of the first row in its source, from 0.
    pub first_row: u64,
}

/// Somewhere that tables can be read from, as often as needed.
pub trait TableSource: Sync {
    /// Names and kinds, the same for every block.
    fn columns(&self) -> &[ColumnInfo];

    /// Starts reading from the first row.
    fn open(&self) -> Result<Box<dyn TableReader + '_>>;
}

/// Reads a table block by block.
pub trait TableReader {
    /// The next `most` rows; fewer only at the end; none after it.
    fn next(&mut self, most: usize) -> Result<Option<Table>>;

    /// How much of the source has been read, from 0 to 1, where that is known.
    fn fraction(&self) -> Option<f64>;
}

/// The position of a named column.
pub fn position(columns: &[ColumnInfo], name: &str) -> Result<usize> {
    columns.iter().position(|column| column.name == name).ok_or_else(|| Error::MissingColumn {
        name: name.to_owned(),
        found: columns.iter().map(|column| column.name.clone()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back() {
        let mut column = TextColumn::default();
        for text in ["a", "", "été"] {
            column.push(text);
        }
        assert!(column.iter().eq(["a", "", "été"]));
        assert_eq!(column.len(), 3);
    }
}

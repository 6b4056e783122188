//! Tables: named columns, in blocks, as files are read.
//!
//! A reader in `bochner-io` makes tables, an encoder turns them into rows. A table knows names and values but not what
//! they are for; which column is the target is the encoder's affair.

pub mod date;
pub mod distinct;
pub mod infer;
pub mod leakage;
mod memory;
pub mod number;
pub mod sample;

use std::collections::HashMap;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

pub use self::date::MISSING_DATE;
pub use self::infer::CellFormat;
pub use self::memory::MemoryTables;
pub use self::sample::TableSample;
use crate::{Csr, Engine, Error, Result};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// One number a row.
    Number,
    /// True or false.
    Boolean,
    /// One of some levels, which have no order.
    Category,
    /// A day, or a moment.
    Date,
    /// One text a row: words, a sequence, or cells of which it is not known yet what they are.
    Text,
    /// Many numbers a row, most of them zero: all inputs of a sparse file, as one wide column.
    Sparse {
        /// The number of columns inside.
        width: usize,
    },
}

/// Kinds that a column of a table may have, by their names.
const KINDS: [ColumnKind; 5] =
    [ColumnKind::Number, ColumnKind::Boolean, ColumnKind::Category, ColumnKind::Date, ColumnKind::Text];

impl ColumnKind {
    /// `number`, `boolean`, `category`, `date`, `text` or `sparse`.
    pub fn name(self) -> &'static str {
        match self {
            ColumnKind::Number => "number",
            ColumnKind::Boolean => "boolean",
            ColumnKind::Category => "category",
            ColumnKind::Date => "date",
            ColumnKind::Text => "text",
            ColumnKind::Sparse { .. } => "sparse",
        }
    }

    /// Whether cells of one value are written in several ways, of which a column has one: `1,5` or `1.5`, `1/3/2024` or `3/1/2024`.
    pub fn has_ways_of_writing(self) -> bool {
        matches!(self, ColumnKind::Number | ColumnKind::Date)
    }
}

/// By the name, all but sparse ones.
impl FromStr for ColumnKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        KINDS.into_iter().find(|kind| kind.name() == name.trim()).ok_or_else(|| Error::Parameter {
            name: "the kind of a column",
            expected: "number, boolean, category, date or text",
            found: name.to_owned(),
        })
    }
}

/// Name and kind of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// The name in the file, or one made up where the file has none.
    pub name: String,
    /// What it holds.
    pub kind: ColumnKind,
}

/// The values of one column in one block. Any cell may be missing.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Numbers; NaN where one is missing.
    Number(Vec<f64>),
    /// True, false, or missing.
    Boolean(Vec<Option<bool>>),
    /// Levels by number.
    Category(CategoryColumn),
    /// Nanoseconds since 1970 in UTC; [`MISSING_DATE`] where one is missing.
    Date(Vec<i64>),
    /// Texts.
    Text(TextColumn),
    /// Sparse rows.
    Sparse(Csr<f64>),
}

impl Column {
    /// No rows of a kind.
    pub fn empty(kind: ColumnKind) -> Column {
        match kind {
            ColumnKind::Number => Column::Number(Vec::new()),
            ColumnKind::Boolean => Column::Boolean(Vec::new()),
            ColumnKind::Category => Column::Category(CategoryColumn::default()),
            ColumnKind::Date => Column::Date(Vec::new()),
            ColumnKind::Text => Column::Text(TextColumn::default()),
            ColumnKind::Sparse { width } => Column::Sparse(Csr::empty(width)),
        }
    }

    /// What it holds.
    pub fn kind(&self) -> ColumnKind {
        match self {
            Column::Number(_) => ColumnKind::Number,
            Column::Boolean(_) => ColumnKind::Boolean,
            Column::Category(_) => ColumnKind::Category,
            Column::Date(_) => ColumnKind::Date,
            Column::Text(_) => ColumnKind::Text,
            Column::Sparse(rows) => ColumnKind::Sparse { width: rows.columns() },
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Column::Number(values) => values.len(),
            Column::Boolean(values) => values.len(),
            Column::Category(values) => values.codes.len(),
            Column::Date(values) => values.len(),
            Column::Text(texts) => texts.len(),
            Column::Sparse(rows) => rows.view().rows(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether cell i is missing.
    pub fn is_missing(&self, i: usize) -> bool {
        match self {
            Column::Number(values) => values[i].is_nan(),
            Column::Boolean(values) => values[i].is_none(),
            Column::Category(values) => values.get(i).is_none(),
            Column::Date(values) => values[i] == MISSING_DATE,
            Column::Text(texts) => texts.is_missing(i),
            Column::Sparse(_) => false,
        }
    }

    /// Appends the rows of another column of this kind; false, and nothing is done, if it is of another.
    pub fn append(&mut self, other: &Column) -> bool {
        match (self, other) {
            (Column::Number(to), Column::Number(from)) => to.extend_from_slice(from),
            (Column::Boolean(to), Column::Boolean(from)) => to.extend_from_slice(from),
            (Column::Category(to), Column::Category(from)) => to.append(from),
            (Column::Date(to), Column::Date(from)) => to.extend_from_slice(from),
            (Column::Text(to), Column::Text(from)) => to.append(from),
            (Column::Sparse(to), Column::Sparse(from)) if to.columns() == from.columns() => to.append(from),
            _ => return false,
        }
        true
    }

    /// Some rows, in this order.
    pub fn chosen(&self, rows: &[usize]) -> Column {
        fn of<T: Copy>(values: &[T], rows: &[usize]) -> Vec<T> {
            rows.iter().map(|&i| values[i]).collect()
        }
        match self {
            Column::Number(values) => Column::Number(of(values, rows)),
            Column::Boolean(values) => Column::Boolean(of(values, rows)),
            Column::Category(CategoryColumn { codes, levels }) => {
                Column::Category(CategoryColumn { codes: of(codes, rows), levels: levels.clone() })
            }
            Column::Date(values) => Column::Date(of(values, rows)),
            Column::Text(texts) => Column::Text(rows.iter().map(|&i| texts.cell(i)).collect()),
            Column::Sparse(sparse) => {
                let mut part = Csr::empty(sparse.columns());
                for &i in rows {
                    let (indices, values) = sparse.view().row(i);
                    part.push_row(indices.iter().copied().zip(values.iter().copied()));
                }
                Column::Sparse(part)
            }
        }
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        let bytes = match self {
            Column::Number(values) => 8 * values.capacity(),
            Column::Boolean(values) => values.capacity(),
            Column::Category(CategoryColumn { codes, levels }) => 4 * codes.capacity() + levels.bytes(),
            Column::Date(values) => 8 * values.capacity(),
            Column::Text(texts) => texts.bytes(),
            Column::Sparse(rows) => 8 * (rows.view().rows() + 1) + 12 * rows.view().values().len(),
        };
        bytes as u64
    }
}

/// Levels, each stored once a block, and the level of each row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CategoryColumn {
    /// Positions in the levels; anything beyond them, such as [`CategoryColumn::MISSING`], is a missing cell.
    pub codes: Vec<u32>,
    /// The levels of this block, each once, in any order.
    pub levels: TextColumn,
}

impl CategoryColumn {
    /// The code of a missing cell.
    pub const MISSING: u32 = u32::MAX;

    /// The level of row i; none where it is missing.
    pub fn get(&self, i: usize) -> Option<&str> {
        let code = self.codes[i] as usize;
        (code < self.levels.len()).then(|| self.levels.get(code))
    }

    fn append(&mut self, other: &CategoryColumn) {
        let known: HashMap<String, u32> =
            self.levels.iter().zip(0..).map(|(level, code)| (level.to_owned(), code)).collect();
        let codes: Vec<u32> = other
            .levels
            .iter()
            .map(|level| {
                known.get(level).copied().unwrap_or_else(|| {
                    self.levels.push(level);
                    (self.levels.len() - 1) as u32
                })
            })
            .collect();
        let code = |&code: &u32| codes.get(code as usize).copied().unwrap_or(CategoryColumn::MISSING);
        self.codes.extend(other.codes.iter().map(code));
    }
}

/// Each text becomes a level where it is first met; none is a missing cell.
impl<'a> FromIterator<Option<&'a str>> for CategoryColumn {
    fn from_iter<I: IntoIterator<Item = Option<&'a str>>>(cells: I) -> Self {
        let (mut column, mut known) = (CategoryColumn::default(), HashMap::new());
        for cell in cells {
            let code = match cell {
                None => CategoryColumn::MISSING,
                Some(level) => *known.entry(level).or_insert_with(|| {
                    column.levels.push(level);
                    (column.levels.len() - 1) as u32
                }),
            };
            column.codes.push(code);
        }
        column
    }
}

/// Strings, end to end, with their boundaries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextColumn {
    bytes: String,
    ends: Vec<usize>,
    /// Whether each is missing; empty where none is.
    missing: Vec<bool>,
}

impl TextColumn {
    /// Appends a string.
    pub fn push(&mut self, text: &str) {
        self.bytes.push_str(text);
        self.ends.push(self.bytes.len());
        if !self.missing.is_empty() {
            self.missing.push(false);
        }
    }

    /// Appends a missing cell, which is an empty string to whoever does not ask.
    pub fn push_missing(&mut self) {
        self.missing.resize(self.len(), false);
        self.missing.push(true);
        self.ends.push(self.bytes.len());
    }

    /// Appends a string, or a missing cell.
    pub fn push_cell(&mut self, cell: Option<&str>) {
        match cell {
            Some(text) => self.push(text),
            None => self.push_missing(),
        }
    }

    /// Appends all strings of another column.
    pub fn append(&mut self, other: &TextColumn) {
        if !(self.missing.is_empty() && other.missing.is_empty()) {
            self.missing.resize(self.len(), false);
            self.missing.extend_from_slice(&other.missing);
            self.missing.resize(self.len() + other.len(), false);
        }
        let start = self.bytes.len();
        self.bytes.push_str(&other.bytes);
        self.ends.extend(other.ends.iter().map(|end| start + end));
    }

    /// The number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// String i; empty where it is missing.
    pub fn get(&self, i: usize) -> &str {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.bytes[start..self.ends[i]]
    }

    /// Whether string i is missing.
    pub fn is_missing(&self, i: usize) -> bool {
        self.missing.get(i).copied().unwrap_or(false)
    }

    /// String i; none where it is missing.
    pub fn cell(&self, i: usize) -> Option<&str> {
        (!self.is_missing(i)).then(|| self.get(i))
    }

    /// All strings.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|i| self.get(i))
    }

    /// All cells.
    pub fn cells(&self) -> impl Iterator<Item = Option<&str>> {
        (0..self.len()).map(|i| self.cell(i))
    }

    fn bytes(&self) -> usize {
        self.bytes.capacity() + 8 * self.ends.capacity() + self.missing.capacity()
    }
}

impl<'a> FromIterator<&'a str> for TextColumn {
    fn from_iter<I: IntoIterator<Item = &'a str>>(texts: I) -> Self {
        let mut column = TextColumn::default();
        texts.into_iter().for_each(|text| column.push(text));
        column
    }
}

impl<'a> FromIterator<Option<&'a str>> for TextColumn {
    fn from_iter<I: IntoIterator<Item = Option<&'a str>>>(cells: I) -> Self {
        let mut column = TextColumn::default();
        cells.into_iter().for_each(|cell| column.push_cell(cell));
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

impl Table {
    /// A hash of the cells of row i in all columns.
    pub fn hash(&self, i: usize) -> u64 {
        hash(self.columns.iter(), i)
    }

    /// A hash of the cells of row i in some columns, in their order.
    pub fn hash_of(&self, columns: &[usize], i: usize) -> u64 {
        hash(columns.iter().map(|&at| &self.columns[at]), i)
    }

    /// Some rows, in this order.
    pub fn chosen(&self, rows: &[usize]) -> Table {
        let columns = self.columns.iter().map(|column| column.chosen(rows)).collect();
        Table { rows: rows.len(), columns, first_row: self.first_row }
    }
}

/// A hash of cells: of each a kind, then the bits of a number (−0 as 0), a level or a text in UTF-8 (never its number), UTC
/// nanoseconds, or nothing where the cell is missing.
fn hash<'a>(columns: impl Iterator<Item = &'a Column>, i: usize) -> u64 {
    let mut hash = Xxh3::new();
    let mut cell = |kind: u8, bytes: &[u8]| {
        hash.update(&[kind]);
        hash.update(&(bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    for column in columns {
        if column.is_missing(i) {
            cell(0, &[]);
            continue;
        }
        match column {
            Column::Number(values) => cell(1, &(values[i] + 0.0).to_bits().to_le_bytes()),
            Column::Boolean(values) => cell(2, &[u8::from(values[i] == Some(true))]),
            Column::Category(levels) => cell(3, levels.get(i).unwrap_or_default().as_bytes()),
            Column::Date(values) => cell(4, &values[i].to_le_bytes()),
            Column::Text(texts) => cell(5, texts.get(i).as_bytes()),
            Column::Sparse(rows) => {
                let (indices, values) = rows.view().row(i);
                let bytes = |(j, x): (&u32, &f64)| {
                    [&j.to_le_bytes()[..], &(x + 0.0).to_bits().to_le_bytes()].concat()
                };
                cell(6, &indices.iter().zip(values).flat_map(bytes).collect::<Vec<u8>>());
            }
        }
    }
    hash.digest()
}

/// Somewhere that tables can be read from, as often as needed.
pub trait TableSource: Send + Sync {
    /// Names and kinds, the same for every block.
    fn columns(&self) -> &[ColumnInfo];

    /// Starts reading from the first row, with the threads of an engine.
    fn open<'a>(&'a self, engine: &'a Engine) -> Result<Box<dyn TableReader + 'a>>;

    /// How the cells of a column were written, where they were texts.
    fn format(&self, column: usize) -> CellFormat {
        CellFormat::from(self.columns()[column].kind)
    }

    /// What a column was found to be, where that was looked for.
    fn inferred(&self, _column: usize) -> Option<&infer::Inferred> {
        None
    }

    /// What was noticed when it was opened, and how it was understood: a sentence each.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Reads a table block by block.
pub trait TableReader {
    /// The next `most` rows; fewer only at the end; none after it.
    fn next(&mut self, most: usize) -> Result<Option<Table>>;

    /// How much of the source has been read, from 0 to 1, where that is known.
    fn fraction(&self) -> Option<f64>;

    /// Cells so far that could not be read, and count as missing.
    fn unreadable(&self) -> Vec<Unreadable> {
        Vec::new()
    }
}

/// Cells of one column that could not be read as what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The position of the column.
    pub column: usize,
    /// How many cells.
    pub count: u64,
    /// The line of the first.
    pub line: u64,
    /// The first.
    pub example: String,
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

    /// Every kind of column, with missing cells.
    fn columns() -> Vec<Column> {
        let mut sparse = Csr::empty(3);
        sparse.push_row([(0, 1.0), (2, 2.0)]);
        sparse.push_row([]);
        sparse.push_row([(1, 3.0)]);
        let cells = [Some("b"), None, Some("a")];
        vec![
            Column::Number(vec![1.0, 2.0, -3.0]),
            Column::Boolean(vec![Some(true), None, Some(false)]),
            Column::Category(cells.into_iter().collect()),
            Column::Date(vec![5, MISSING_DATE, -7]),
            Column::Text(cells.into_iter().collect()),
            Column::Sparse(sparse),
        ]
    }

    #[test]
    fn parts_of_a_column_put_together_are_the_column() {
        for column in columns() {
            for cut in 0..=column.len() {
                let mut whole = Column::empty(column.kind());
                assert!(
                    whole.append(&column.chosen(&[0, 1, 2][..cut]))
                        && whole.append(&column.chosen(&[0, 1, 2][cut..]))
                );
                let is_missing = |c: &Column| (0..3).map(|i| c.is_missing(i)).collect::<Vec<_>>();
                assert_eq!(is_missing(&whole), is_missing(&column), "{:?}", column.kind());
                match (&whole, &column) {
                    // Codes may differ, levels may not.
                    (Column::Category(a), Column::Category(b)) => {
                        assert!((0..3).all(|i| a.get(i) == b.get(i)));
                    }
                    (a, b) => assert_eq!(a, b),
                }
            }
            let other = if matches!(column, Column::Number(_)) {
                Column::Date(vec![])
            } else {
                Column::Number(vec![])
            };
            assert!(!column.clone().append(&other));
        }
    }

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

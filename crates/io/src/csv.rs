//! Delimited text: one row a line, quotes where a field holds delimiters or line ends.
//!
//! ```text
//! size,rooms,"price, in thousands"
//! 120,4,350
//! ```
//!
//! Read as RFC 4180 says and a little beyond: any of LF, CRLF and CR ends a row, blank lines are skipped. Every row
//! has as many fields as the first. Cells are numbers unless their column is named as text; there are no missing
//! values.

mod delimiter;
mod layout;
mod records;

use bochner::table::{Column, ColumnInfo, ColumnKind, Table, TableReader, TableSource, TextColumn};

use crate::error::{Error, Result, shortened};
use crate::input::Input;
use crate::number;
use crate::options::Options;
use crate::origin::Origin;
use layout::Layout;
use records::Records;

/// A CSV file whose header has been read.
pub(crate) struct Source {
    origin: Origin,
    layout: Layout,
}

impl Source {
    /// Reads the header.
    pub(crate) fn open(origin: Origin, options: &Options) -> bochner::Result<Self> {
        let layout = Layout::read(Input::open(&origin)?, options)?;
        Ok(Source { origin, layout })
    }
}

impl TableSource for Source {
    fn columns(&self) -> &[ColumnInfo] {
        &self.layout.columns
    }

    fn open(&self) -> bochner::Result<Box<dyn TableReader + '_>> {
        let mut records = Records::new(Input::open(&self.origin)?, self.layout.delimiter);
        self.layout.skip_header(&mut records)?;
        Ok(Box::new(Reader { layout: &self.layout, records, first_row: 0, expected: 0 }))
    }
}

/// A pass over the rows.
struct Reader<'a> {
    layout: &'a Layout,
    records: Records,
    first_row: u64,
    /// Rows of the block before, the best guess for the next.
    expected: usize,
}

impl TableReader for Reader<'_> {
    fn next(&mut self, most: usize) -> bochner::Result<Option<Table>> {
        let capacity = self.expected.min(most);
        let mut columns: Vec<Column> = self.layout.columns.iter().map(|info| empty(info, capacity)).collect();
        let mut rows = 0;
        while rows < most && self.records.advance()? {
            self.append(&mut columns)?;
            rows += 1;
        }
        let first_row = self.first_row;
        self.first_row += rows as u64;
        self.expected = rows;
        Ok((rows > 0).then_some(Table { rows, columns, first_row }))
    }

    fn fraction(&self) -> Option<f64> {
        self.records.input().fraction()
    }
}

impl Reader<'_> {
    /// Appends the cells of the record in hand.
    fn append(&self, columns: &mut [Column]) -> Result<()> {
        let place = self.records.place();
        if self.records.len() != columns.len() {
            let (file, line) = (place.file.to_owned(), place.line);
            return Err(Error::FieldCount { file, line, expected: columns.len(), found: self.records.len() });
        }
        for (j, (column, cell)) in columns.iter_mut().zip(self.records.fields()).enumerate() {
            match column {
                Column::Number(values) => match number::parse(cell) {
                    Some(value) => values.push(value),
                    None => return Err(self.not_a_number(j, cell)),
                },
                Column::Text(texts) => texts.push(place.text(cell)?),
                Column::Sparse(_) => {} // no layout has one
            }
        }
        Ok(())
    }

    fn not_a_number(&self, j: usize, cell: &[u8]) -> Error {
        let name = self.layout.header.then(|| shortened(&self.layout.columns[j].name));
        let column = j + 1;
        let make = |file, line, found| Error::NotANumber { file, line, column, found, name };
        self.records.place().fault(cell, make)
    }
}

/// A column with room for some rows.
fn empty(info: &ColumnInfo, capacity: usize) -> Column {
    match info.kind {
        ColumnKind::Text => Column::Text(TextColumn::default()),
        _ => Column::Number(Vec::with_capacity(capacity)),
    }
}

//! Arrays as NumPy saves them: a header, then numbers one row after another, or one column after another.
//!
//! ```text
//! \x93NUMPY 1 0 ⟨bytes⟩ {'descr': '<f8', 'fortran_order': False, 'shape': (1000, 3), } ⟨1000·3 numbers⟩
//! ```
//!
//! The columns are x0, x1, …; an array of one dimension is one column. Numbers of any kind become f64, which holds all but integers beyond 2⁵³ exactly; those are rounded once. A column that is named
//! as text is spelled as its kind spells it, so that classes may be integers of any size. NaN is a missing number. A header that promises
//! more than the file holds is an error before anything is made of it. Columns one after another (Fortran order) are read a piece of each at a time; what cannot be read
//! from anywhere, as compressed files cannot, is kept in an unnamed file for that.

mod columns;
mod header;
mod kind;

use bochner::Engine;
use bochner::table::{Column, ColumnInfo, ColumnKind, Table, TableReader, TableSource, TextColumn, position};

use crate::error::{Error, Result};
use crate::input::Input;
use crate::options::Options;
use crate::origin::Origin;
use header::Header;

/// An array whose header has been read.
pub(crate) struct Source {
    origin: Origin,
    header: Header,
    columns: Vec<ColumnInfo>,
    /// Whether NaN and infinities are errors.
    is_strict: bool,
}

impl Source {
    /// Reads the header, and compares what it says with the size of the file where that is known.
    pub(crate) fn open(origin: Origin, options: &Options) -> bochner::Result<Self> {
        let header = Header::read(&mut Input::open(&origin)?)?;
        let origin = if header.by_columns { origin.plain(options)? } else { origin };
        if let Some(found) = Input::open(&origin)?.unpacked_size() {
            header.check_size(&origin.file, found)?;
        }
        let number = |j: usize| ColumnInfo { name: format!("x{j}"), kind: ColumnKind::Number };
        let mut columns: Vec<ColumnInfo> = (0..header.columns).map(number).collect();
        for (name, format) in &options.kinds {
            let at = position(&columns, name)?;
            if format.kind() != ColumnKind::Number {
                columns[at].kind = ColumnKind::Text;
            }
        }
        Ok(Source { origin, header, columns, is_strict: options.strict })
    }
}

impl TableSource for Source {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn open<'a>(&'a self, _: &'a Engine) -> bochner::Result<Box<dyn TableReader + 'a>> {
        let mut input = Input::open(&self.origin)?;
        if Header::read(&mut input)? != self.header {
            return Err(Error::Changed { file: self.origin.file.clone() }.into());
        }
        if self.header.by_columns {
            return Ok(Box::new(columns::Reader::new(self, input.unpacked_size())?));
        }
        let row = vec![0; self.header.columns * self.header.kind.bytes()];
        Ok(Box::new(Reader { source: self, input, row, next: 0, expected: 0 }))
    }
}

/// A pass over the rows.
struct Reader<'a> {
    source: &'a Source,
    input: Input,
    /// The bytes of one row.
    row: Vec<u8>,
    /// The number of the next row.
    next: u64,
    /// Rows of the block before, the best guess for the next: a header may promise anything.
    expected: usize,
}

impl TableReader for Reader<'_> {
    fn next(&mut self, most: usize) -> bochner::Result<Option<Table>> {
        let first_row = self.next;
        let mut columns = self.source.empty(self.expected.min(most));
        let mut rows = 0;
        while rows < most && self.advance()? {
            self.append(&mut columns)?;
            self.next += 1;
            rows += 1;
        }
        self.expected = rows;
        Ok((rows > 0).then_some(Table { rows, columns, first_row }))
    }

    fn fraction(&self) -> Option<f64> {
        Some(self.next as f64 / self.source.header.rows.max(1) as f64)
    }
}

impl Reader<'_> {
    /// Takes the next row in hand; false after the last, where the file has to end too.
    fn advance(&mut self) -> Result<bool> {
        let header = &self.source.header;
        let found = self.input.read_into(&mut self.row)?;
        let is_last = self.next >= header.rows;
        if is_last && found == 0 {
            return Ok(false);
        }
        if is_last || found < self.row.len() {
            let before = header.start + self.next * self.row.len() as u64;
            return Err(header.wrong_size(self.input.file(), before + found as u64));
        }
        Ok(true)
    }

    /// Appends the numbers of the row in hand.
    fn append(&self, columns: &mut [Column]) -> Result<()> {
        let bytes = self.row.chunks_exact(self.source.header.kind.bytes());
        for (j, (column, bytes)) in columns.iter_mut().zip(bytes).enumerate() {
            self.source.push(column, bytes, self.next, j)?;
        }
        Ok(())
    }
}

impl Source {
    /// Columns with room for some rows.
    fn empty(&self, capacity: usize) -> Vec<Column> {
        let empty = |info: &ColumnInfo| match info.kind {
            ColumnKind::Text => Column::Text(TextColumn::default()),
            _ => Column::Number(Vec::with_capacity(capacity)),
        };
        self.columns.iter().map(empty).collect()
    }

    /// Appends the entry of a row to column j.
    #[inline]
    fn push(&self, to: &mut Column, bytes: &[u8], row: u64, j: usize) -> Result<()> {
        match to {
            Column::Number(values) => {
                let value = self.header.kind.number(bytes);
                if !value.is_finite() && self.is_strict {
                    let file = self.origin.file.clone();
                    return Err(Error::ArrayNumber { file, row, column: j, found: value });
                }
                values.push(value);
            }
            Column::Text(texts) => texts.push(&self.header.kind.text(bytes)),
            _ => {} // no array has another
        }
        Ok(())
    }
}

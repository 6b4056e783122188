//! Delimited text: one row a line, quotes where a field holds delimiters or line ends.
//!
//! ```text
//! size,rooms,"price, in thousands"
//! 120,4,350
//! ```
//!
//! Read as RFC 4180 says and a little beyond: any of LF, CRLF and CR ends a row, blank lines are skipped. Every row
//! has as many fields as the first. What the columns are is found by reading the file once (`bochner::table::infer` has the rules),
//! unless the options say it. A cell that cannot be read as what its column holds is missing, or an error if the options are strict.

pub(crate) mod cells;
mod delimiter;
pub(crate) mod layout;
mod records;

use std::path::Path;

use bochner::Engine;
use bochner::table::infer::{Inferred, KindScan};
use bochner::table::{
    CellFormat, Column, ColumnInfo, ColumnKind, Table, TableReader, TableSource, Unreadable,
};

use crate::error::{Error, Place, Result, expected, shortened};
use crate::input::Input;
use crate::options::Options;
use crate::origin::Origin;
use cells::Cells;
use layout::Layout;
use records::Records;

/// A CSV file whose header, and whose cells if need be, have been read.
pub(crate) struct Source {
    origin: Origin,
    layout: Layout,
    columns: Vec<ColumnInfo>,
    formats: Vec<CellFormat>,
    /// Of the columns that were looked at.
    inferred: Vec<Option<Inferred>>,
    is_strict: bool,
}

impl Source {
    /// Reads the header, and the file where it has to be found what its columns are.
    pub(crate) fn open(origin: Origin, options: &Options) -> bochner::Result<Self> {
        let layout = Layout::read(Input::text(&origin)?, options)?;
        let number = CellFormat::from(ColumnKind::Number);
        let mut formats: Vec<Option<CellFormat>> =
            vec![(!options.infer).then_some(number); layout.names.len()];
        for (name, format) in &options.kinds {
            formats[layout.position(name)?] = Some(*format);
        }
        for name in &options.ignored {
            formats[layout.position(name)?] = Some(CellFormat::from(ColumnKind::Text));
        }
        let inferred = infer(&origin, &layout, &formats)?;
        let format = |(fixed, found): (&Option<CellFormat>, &Option<Inferred>)| {
            fixed.unwrap_or_else(|| found.as_ref().map_or(number, |found| found.format))
        };
        let formats: Vec<CellFormat> = formats.iter().zip(&inferred).map(format).collect();
        let info =
            |(name, format): (&String, &CellFormat)| ColumnInfo { name: name.clone(), kind: format.kind };
        let columns = layout.names.iter().zip(&formats).map(info).collect();
        Ok(Source { origin, layout, columns, formats, inferred, is_strict: options.strict })
    }
}

/// What the columns are that nothing is known of.
fn infer(origin: &Origin, layout: &Layout, known: &[Option<CellFormat>]) -> Result<Vec<Option<Inferred>>> {
    let scans = scanned(origin, layout, known)?;
    Ok(scans.into_iter().map(|scan| scan.map(|scan| scan.decide())).collect())
}

/// Reads them.
fn scanned(origin: &Origin, layout: &Layout, known: &[Option<CellFormat>]) -> Result<Vec<Option<KindScan>>> {
    let mut scans: Vec<Option<KindScan>> =
        known.iter().map(|known| known.is_none().then(KindScan::default)).collect();
    if scans.iter().all(Option::is_none) {
        return Ok(scans);
    }
    let mut records = layout.records(origin)?;
    while records.advance()? {
        let place = records.place();
        layout.check(&records)?;
        for (scan, cell) in scans.iter_mut().zip(records.fields()) {
            if let Some(scan) = scan {
                scan.absorb(place.text(cell)?, place.line);
            }
        }
    }
    Ok(scans)
}

/// The cells of the columns of which the options say nothing, by name.
pub(crate) fn scan(origin: &Origin, options: &Options) -> bochner::Result<Vec<(String, KindScan)>> {
    let layout = Layout::read(Input::text(origin)?, options)?;
    let mut known = vec![None; layout.names.len()];
    for (name, format) in &options.kinds {
        known[layout.position(name)?] = Some(*format);
    }
    let scans = scanned(origin, &layout, &known)?;
    Ok(layout.names.into_iter().zip(scans).filter_map(|(name, scan)| Some((name, scan?))).collect())
}

/// A column of one row.
pub(crate) fn one_cell(file: &Path, format: CellFormat, cell: &str) -> Result<Column> {
    let mut cells = Cells::new(format, 1);
    cells.push(cell.as_bytes(), Place { file, line: 0 })?;
    Ok(cells.finish())
}

impl TableSource for Source {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn open<'a>(&'a self, _: &'a Engine) -> bochner::Result<Box<dyn TableReader + 'a>> {
        let records = self.layout.records(&self.origin)?;
        let unreadable = vec![None; self.columns.len()];
        Ok(Box::new(Reader { source: self, records, first_row: 0, expected: 0, unreadable }))
    }

    fn format(&self, column: usize) -> CellFormat {
        self.formats[column]
    }

    fn inferred(&self, column: usize) -> Option<&Inferred> {
        self.inferred[column].as_ref()
    }

    fn warnings(&self) -> Vec<String> {
        self.layout.warnings.clone()
    }
}

/// A pass over the rows.
struct Reader<'a> {
    source: &'a Source,
    records: Records,
    first_row: u64,
    /// Rows of the block before, the best guess for the next.
    expected: usize,
    /// Of each column, if there are any.
    unreadable: Vec<Option<Unreadable>>,
}

impl TableReader for Reader<'_> {
    fn next(&mut self, most: usize) -> bochner::Result<Option<Table>> {
        let capacity = self.expected.min(most);
        let mut columns: Vec<Cells> =
            self.source.formats.iter().map(|format| Cells::new(*format, capacity)).collect();
        let mut rows = 0;
        while rows < most && self.records.advance()? {
            self.append(&mut columns)?;
            rows += 1;
        }
        let first_row = self.first_row;
        self.first_row += rows as u64;
        self.expected = rows;
        let columns: Vec<Column> = columns.into_iter().map(Cells::finish).collect();
        Ok((rows > 0).then_some(Table { rows, columns, first_row }))
    }

    fn fraction(&self) -> Option<f64> {
        self.records.input().fraction()
    }

    fn unreadable(&self) -> Vec<Unreadable> {
        self.unreadable.iter().flatten().cloned().collect()
    }
}

impl Reader<'_> {
    /// Appends the cells of the record in hand.
    fn append(&mut self, columns: &mut [Cells]) -> Result<()> {
        let place = self.records.place();
        self.source.layout.check(&self.records)?;
        for (j, (column, cell)) in columns.iter_mut().zip(self.records.fields()).enumerate() {
            if column.push(cell, place)? {
                continue;
            }
            if self.source.is_strict {
                return Err(self.source.wrong_cell(&self.records, j, cell));
            }
            let line = place.line;
            let text = || shortened(&String::from_utf8_lossy(cell));
            let found = self.unreadable[j].get_or_insert_with(|| Unreadable {
                column: j,
                count: 0,
                line,
                example: text(),
            });
            found.count += 1;
        }
        Ok(())
    }
}

impl Source {
    fn wrong_cell(&self, records: &Records, j: usize, cell: &[u8]) -> Error {
        let name = self.layout.header.then(|| shortened(&self.layout.names[j]));
        let expected = expected(self.formats[j].kind);
        let make = |file, line, found| Error::WrongCell { file, line, column: j + 1, expected, found, name };
        records.place().fault(cell, make)
    }
}

//! Tables out of text: rows of fields, of which the cells say what the columns are.
//!
//! ```text
//! bytes ─records─▶ records of some rows ─fields─▶ where each field stands ─cells─▶ columns
//!        one thread                      a piece of the rows each          some columns each
//! ```
//! A format says how its records are told apart and where the fields of a record are ([`TextFormat`]); what a column is, and what a cell is
//! worth, is the same for all of them: `bochner::table::infer` has the rules. A cell that cannot be read as what its column holds is missing, or an
//! error if the options are strict. Rows and errors are those of reading line by line, for any number of threads.

pub(crate) mod cells;
pub(crate) mod records;
pub(crate) mod rounds;

use std::path::Path;

use bochner::table::infer::{Inferred, KindScan};
use bochner::table::{
    CellFormat, Column, ColumnInfo, ColumnKind, Table, TableReader, TableSource, Unreadable,
};
use bochner::{Engine, Event};

use crate::error::{Error, Place, Result, expected, shortened};
use crate::names::Positions;
use crate::options::{Known, Options};
use crate::origin::Origin;
use cells::Cells;
use records::{Records, Span, Splitter};
use rounds::Rounds;

/// The most columns of a text: names and places are kept for each.
pub(crate) const MOST_FIELDS: usize = 1 << 20;

/// Where a field stands in a text: its first byte, and the byte after its last, with a mark where it has escapes, which the format knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// Of a field with escapes. Texts are shorter.
const ESCAPED: u32 = 1 << 31;

impl Field {
    /// A cell without a value.
    pub(crate) const MISSING: Field = Field { start: u32::MAX, end: 0 };

    /// A cell with several values.
    pub(crate) const NESTED: Field = Field { start: u32::MAX, end: 1 };

    /// As it stands.
    pub(crate) fn plain(start: usize, end: usize) -> Field {
        Field { start: start as u32, end: end as u32 }
    }

    /// With escapes.
    pub(crate) fn escaped(start: usize, end: usize) -> Field {
        Field { start: start as u32, end: end as u32 | ESCAPED }
    }

    /// The cell, of what stands in the text; `unescape` spells it out where that differs.
    pub(crate) fn cell<'a>(
        self,
        text: &'a [u8],
        unescape: fn(&[u8], &mut Vec<u8>),
        spelled: &'a mut Vec<u8>,
    ) -> Cell<'a> {
        match self {
            Field::MISSING => Cell::Missing,
            Field::NESTED => Cell::Nested,
            Field { start, end } if end & ESCAPED == 0 => Cell::Text(&text[start as usize..end as usize]),
            Field { start, end } => {
                spelled.clear();
                unescape(&text[start as usize..(end & !ESCAPED) as usize], spelled);
                Cell::Text(spelled)
            }
        }
    }
}

/// A cell of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell<'a> {
    Text(&'a [u8]),
    Missing,
    /// Several values.
    Nested,
}

/// How a text is a table.
pub(crate) trait TextFormat: Send + Sync + Sized {
    /// Tells its records apart.
    type Splitter: Splitter;

    /// Looks at a file.
    fn open(engine: &Engine, origin: &Origin, options: &Options) -> bochner::Result<Self>;

    /// The names of the columns, each there once.
    fn names(&self) -> &[String];

    /// Whether the file has these names.
    fn has_names(&self) -> bool {
        true
    }

    /// What was noticed.
    fn warnings(&self) -> &[String] {
        &[]
    }

    /// Starts before the first row.
    fn rows(&self, origin: &Origin) -> Result<Records<Self::Splitter>>;

    /// Appends where the fields of a record of `text` stand, one for each column.
    fn fields(&self, text: &[u8], record: &Span, place: Place<'_>, to: &mut Vec<Field>) -> Result<()>;

    /// What a field with escapes spells.
    fn unescape(field: &[u8], to: &mut Vec<u8>);
}

/// A text of which it is known what its columns are.
pub(crate) struct Source<F> {
    origin: Origin,
    format: F,
    columns: Vec<ColumnInfo>,
    formats: Vec<CellFormat>,
    is_ignored: Vec<bool>,
    /// Of the columns that were looked at.
    inferred: Vec<Option<Inferred>>,
    is_strict: bool,
}

impl<F: TextFormat> Source<F> {
    /// Looks at a file, and reads it where it has to be found what its columns are.
    pub(crate) fn open(engine: &Engine, origin: Origin, options: &Options) -> bochner::Result<Self> {
        let format = F::open(engine, &origin, options)?;
        let looked = Looked::new(&format, options)?;
        let scans = looked.scan(engine, &format, &origin)?;
        let text = CellFormat::from(ColumnKind::Text);
        let (mut formats, mut inferred) = (Vec::new(), Vec::new());
        for (j, scan) in scans.iter().enumerate() {
            let found = scan.as_ref().map(|scan| match looked.known[j] {
                Some(Known::Kind(kind)) => scan.decide_as(kind),
                _ => scan.decide(),
            });
            formats.push(match (looked.is_ignored[j], looked.known[j], &found) {
                (true, ..) => text,
                (_, Some(Known::Format(format)), _) => format,
                (_, _, Some(found)) => found.format,
                (_, Some(Known::Kind(kind)), None) => CellFormat::from(kind),
                (_, None, None) => CellFormat::from(ColumnKind::Number),
            });
            inferred.push(found.filter(|_| looked.known[j].is_none()));
        }
        let info =
            |(name, format): (&String, &CellFormat)| ColumnInfo { name: name.clone(), kind: format.kind };
        let columns = format.names().iter().zip(&formats).map(info).collect();
        let is_ignored = looked.is_ignored;
        Ok(Source { origin, format, columns, formats, is_ignored, inferred, is_strict: options.strict })
    }

    fn wrong_cell(&self, place: Place<'_>, j: usize, cell: &[u8]) -> Error {
        let name = self.format.has_names().then(|| shortened(&self.columns[j].name));
        let expected = expected(self.formats[j].kind);
        let make = |file, line, found| Error::WrongCell { file, line, column: j + 1, expected, found, name };
        place.fault(cell, make)
    }
}

/// What is known of the columns before their cells are read.
struct Looked {
    known: Vec<Option<Known>>,
    is_ignored: Vec<bool>,
    infer: bool,
}

impl Looked {
    fn new<F: TextFormat>(format: &F, options: &Options) -> bochner::Result<Looked> {
        let names = format.names();
        let positions = Positions::of(names);
        let (mut known, mut is_ignored) = (vec![None; names.len()], vec![false; names.len()]);
        for (name, what) in &options.kinds {
            known[positions.find(name, names)?] = Some(*what);
        }
        for name in &options.ignored {
            is_ignored[positions.find(name, names)?] = true;
        }
        Ok(Looked { known, is_ignored, infer: options.infer })
    }

    /// Whether the cells of a column say what it is, or how it is written.
    fn is_open(&self, j: usize) -> bool {
        let is_unknown = match self.known[j] {
            None => true,
            Some(Known::Kind(kind)) => kind.has_ways_of_writing(),
            Some(Known::Format(_)) => false,
        };
        self.infer && is_unknown && !self.is_ignored[j]
    }

    /// Reads the cells of such columns, if there are any.
    fn scan<F: TextFormat>(
        &self,
        engine: &Engine,
        format: &F,
        origin: &Origin,
    ) -> bochner::Result<Vec<Option<KindScan>>> {
        let columns = 0..self.known.len();
        let count = columns.clone().filter(|&j| self.is_open(j)).count();
        let scan = |j: usize| self.is_open(j).then(|| KindScan::with_budget(count));
        let mut scans: Vec<Option<KindScan>> = columns.map(scan).collect();
        if count == 0 {
            return Ok(scans);
        }
        let phase = "infer";
        engine.tell(&Event::Started { phase })?;
        let (mut rounds, mut rows) = (Rounds::new(engine, format, origin)?, 0);
        loop {
            let count = rounds.next(usize::MAX)?;
            if count == 0 {
                break;
            }
            rounds.each(&mut scans, &|j, scan, cell, place| {
                let Some(scan) = scan else { return Ok(()) };
                match cell {
                    Cell::Text(cell) => scan.absorb(place.text(cell)?, place.line),
                    Cell::Missing => scan.absorb_missing(1),
                    Cell::Nested => return Err(nested(place, &format.names()[j])),
                }
                Ok(())
            })?;
            rows += count as u64;
            engine.tell(&Event::Progress { phase, rows, fraction: rounds.fraction() })?;
        }
        engine.tell(&Event::Finished { phase })?;
        Ok(scans)
    }
}

/// The cells of the columns of which the options say nothing, by name.
pub(crate) fn scan<F: TextFormat>(
    engine: &Engine,
    origin: &Origin,
    options: &Options,
) -> bochner::Result<Vec<(String, KindScan)>> {
    let format = F::open(engine, origin, options)?;
    let scans = Looked::new(&format, options)?.scan(engine, &format, origin)?;
    Ok(format.names().iter().zip(scans).filter_map(|(name, scan)| Some((name.clone(), scan?))).collect())
}

/// A column of one row, and whether its cell could be read.
pub(crate) fn one_cell(file: &Path, format: CellFormat, cell: &str) -> Result<(Column, bool)> {
    let mut cells = Cells::new(format, 1);
    let is_read = cells.push(cell.as_bytes(), Place { file, line: 0 })?;
    Ok((cells.finish(), is_read))
}

fn nested(place: Place<'_>, name: &str) -> Error {
    Error::NestedCell { file: place.file.to_owned(), line: place.line, column: shortened(name) }
}

impl<F: TextFormat> TableSource for Source<F> {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn open<'a>(&'a self, engine: &'a Engine) -> bochner::Result<Box<dyn TableReader + 'a>> {
        let rounds = Rounds::new(engine, &self.format, &self.origin)?;
        Ok(Box::new(Reader { source: self, rounds, first_row: 0, expected: 0, unreadable: Vec::new() }))
    }

    fn format(&self, column: usize) -> CellFormat {
        self.formats[column]
    }

    fn inferred(&self, column: usize) -> Option<&Inferred> {
        self.inferred[column].as_ref()
    }

    fn warnings(&self) -> Vec<String> {
        self.format.warnings().to_vec()
    }
}

/// A pass over the rows.
struct Reader<'a, F: TextFormat> {
    source: &'a Source<F>,
    rounds: Rounds<'a, F>,
    first_row: u64,
    /// Rows of the block before, the best guess for the next.
    expected: usize,
    /// Of each column, if there are any.
    unreadable: Vec<Option<Unreadable>>,
}

/// A column of a block.
struct Growing {
    cells: Cells,
    unreadable: Option<Unreadable>,
}

impl<F: TextFormat> TableReader for Reader<'_, F> {
    fn next(&mut self, most: usize) -> bochner::Result<Option<Table>> {
        let source = self.source;
        let capacity = self.expected.min(most);
        self.unreadable.resize(source.columns.len(), None);
        let growing = |(format, unreadable): (&CellFormat, &mut Option<Unreadable>)| Growing {
            cells: Cells::new(*format, capacity),
            unreadable: unreadable.take(),
        };
        let mut columns: Vec<Growing> =
            source.formats.iter().zip(&mut self.unreadable).map(growing).collect();
        let mut rows = 0;
        while rows < most {
            let count = self.rounds.next(most - rows)?;
            if count == 0 {
                break;
            }
            self.rounds
                .each(&mut columns, &|j, column, cell, place| column.append(source, j, cell, place))?;
            rows += count;
        }
        let first_row = self.first_row;
        self.first_row += rows as u64;
        self.expected = rows;
        let mut finished = Vec::with_capacity(columns.len());
        for (column, unreadable) in columns.into_iter().zip(&mut self.unreadable) {
            *unreadable = column.unreadable;
            finished.push(column.cells.finish());
        }
        Ok((rows > 0).then_some(Table { rows, columns: finished, first_row }))
    }

    fn fraction(&self) -> Option<f64> {
        self.rounds.fraction()
    }

    fn unreadable(&self) -> Vec<Unreadable> {
        self.unreadable.iter().flatten().cloned().collect()
    }
}

impl Growing {
    /// Appends a cell of column j.
    fn append<F: TextFormat>(
        &mut self,
        source: &Source<F>,
        j: usize,
        cell: Cell<'_>,
        place: Place<'_>,
    ) -> Result<()> {
        let cell = match cell {
            Cell::Text(cell) if !source.is_ignored[j] => cell,
            Cell::Nested if !source.is_ignored[j] => return Err(nested(place, &source.columns[j].name)),
            _ => {
                self.cells.push_missing();
                return Ok(());
            }
        };
        if self.cells.push(cell, place)? {
            return Ok(());
        }
        if source.is_strict {
            return Err(source.wrong_cell(place, j, cell));
        }
        let text = || shortened(&String::from_utf8_lossy(cell));
        let found = self.unreadable.get_or_insert_with(|| Unreadable {
            column: j,
            count: 0,
            line: place.line,
            example: text(),
        });
        found.count += 1;
        Ok(())
    }
}

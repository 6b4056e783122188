//! Sparse rows as LIBSVM and SVMlight write them.
//!
//! ```text
//! label index:value index:value …   # comment
//! ```
//!
//! Indices count from 1 and ascend. The label stays text: whether it is a number or a class is the encoder's affair.
//! The table has two columns, `target` and the wide `features`; entries that are zero are not kept.

mod line;

use bochner::Csr;
use bochner::Engine;
use bochner::table::{Column, ColumnInfo, ColumnKind, Table, TableReader, TableSource, TextColumn, position};

use crate::error::{Error, Result};
use crate::input::Input;
use crate::options::Options;
use crate::origin::Origin;

/// A sparse file whose width is known.
pub(crate) struct Source {
    origin: Origin,
    columns: [ColumnInfo; 2],
    width: usize,
    ignore_beyond_width: bool,
}

impl Source {
    /// Takes the width from the options, or reads the file once to find it.
    pub(crate) fn open(origin: Origin, options: &Options) -> bochner::Result<Self> {
        let width = match options.width {
            Some(width) => width,
            None => widest(Lines::new(Input::text(&origin)?))?,
        };
        let column = |name: &str, kind| ColumnInfo { name: name.to_owned(), kind };
        let columns = [column("target", ColumnKind::Text), column("features", ColumnKind::Sparse { width })];
        for (name, _) in &options.kinds {
            position(&columns[..1], name)?;
        }
        Ok(Source { origin, columns, width, ignore_beyond_width: options.ignore_beyond_width })
    }
}

impl TableSource for Source {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn open<'a>(&'a self, _: &'a Engine) -> bochner::Result<Box<dyn TableReader + 'a>> {
        Ok(Box::new(Reader { source: self, lines: Lines::new(Input::text(&self.origin)?), first_row: 0 }))
    }
}

/// The largest index of a file.
fn widest(mut lines: Lines) -> Result<usize> {
    let mut width = 0;
    while lines.advance()?.is_some() {
        width = width.max(lines.entries.last().map_or(0, |&(index, _)| index as usize + 1));
    }
    Ok(width)
}

/// A pass over the rows.
struct Reader<'a> {
    source: &'a Source,
    lines: Lines,
    first_row: u64,
}

impl TableReader for Reader<'_> {
    fn next(&mut self, most: usize) -> bochner::Result<Option<Table>> {
        let mut labels = TextColumn::default();
        let mut features = Csr::empty(self.source.width);
        while labels.len() < most {
            let Some(label) = self.lines.advance()? else { break };
            labels.push(label);
            features.push_row(self.source.kept(&self.lines)?);
        }
        let (rows, first_row) = (labels.len(), self.first_row);
        self.first_row += rows as u64;
        let columns = vec![Column::Text(labels), Column::Sparse(features)];
        Ok((rows > 0).then_some(Table { rows, columns, first_row }))
    }

    fn fraction(&self) -> Option<f64> {
        self.lines.input.fraction()
    }
}

impl Source {
    /// The entries of the line in hand that are within the width and not zero.
    fn kept<'a>(&self, lines: &'a Lines) -> Result<impl Iterator<Item = (u32, f64)> + 'a> {
        let within = lines.entries.partition_point(|&(index, _)| (index as usize) < self.width);
        if let (Some(&(index, _)), false) = (lines.entries.get(within), self.ignore_beyond_width) {
            let (file, line) = (lines.input.file().to_owned(), lines.line);
            return Err(Error::BeyondWidth { file, line, width: self.width, found: index + 1 });
        }
        Ok(lines.entries[..within].iter().copied().filter(|&(_, value)| value != 0.0))
    }
}

/// A file as a sequence of lines with rows, one in hand at a time.
struct Lines {
    input: Input,
    text: Vec<u8>,
    /// Number of the line in hand, from 1.
    line: u64,
    /// Its entries, indices from 0.
    entries: Vec<(u32, f64)>,
}

impl Lines {
    /// Nothing in hand yet.
    fn new(input: Input) -> Self {
        Lines { input, text: Vec::new(), line: 0, entries: Vec::new() }
    }

    /// Takes the next row in hand and gives its label; none at the end of the file.
    fn advance(&mut self) -> Result<Option<&str>> {
        loop {
            if !self.input.read_line(self.line + 1, &mut self.text)? {
                return Ok(None);
            }
            self.line += 1;
            if line::has_row(&self.text) {
                break;
            }
        }
        line::parse(self.input.place(self.line), &self.text, &mut self.entries).map(Some)
    }
}

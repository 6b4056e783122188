//! Arrays whose columns stand one after another: a block is a piece of each.

use std::io::{ErrorKind, SeekFrom};

use bochner::table::{Table, TableReader};

use super::Source;
use crate::error::{Error, Result};
use crate::origin::ReadSeek;

/// A pass over the rows.
pub(super) struct Reader<'a> {
    source: &'a Source,
    bytes: Box<dyn ReadSeek>,
    /// The bytes of a piece of a column.
    piece: Vec<u8>,
    /// The number of the next row.
    next: u64,
}

impl<'a> Reader<'a> {
    /// Of a file of this size.
    pub(super) fn new(source: &'a Source, size: Option<u64>) -> Result<Reader<'a>> {
        let changed = || Error::Changed { file: source.origin.file.clone() };
        let bytes = source.origin.seekable()?.ok_or_else(changed)?;
        source.header.check_size(&source.origin.file, size.ok_or_else(changed)?)?;
        Ok(Reader { source, bytes, piece: Vec::new(), next: 0 })
    }

    /// Reads the same rows of column j.
    fn take(&mut self, j: usize, rows: usize) -> Result<()> {
        let header = &self.source.header;
        let size = header.kind.bytes();
        let at = header.start + (j as u64 * header.rows + self.next) * size as u64;
        self.piece.resize(rows * size, 0);
        let read = self.bytes.seek(SeekFrom::Start(at)).and_then(|_| self.bytes.read_exact(&mut self.piece));
        read.map_err(|source| match source.kind() {
            ErrorKind::UnexpectedEof => Error::Changed { file: self.source.origin.file.clone() },
            _ => self.source.origin.failed(source),
        })
    }
}

impl TableReader for Reader<'_> {
    fn next(&mut self, most: usize) -> bochner::Result<Option<Table>> {
        let left = self.source.header.rows - self.next;
        let rows = usize::try_from(left).unwrap_or(usize::MAX).min(most);
        if rows == 0 {
            return Ok(None);
        }
        let mut columns = self.source.empty(rows);
        for (j, column) in columns.iter_mut().enumerate() {
            self.take(j, rows)?;
            for (bytes, row) in self.piece.chunks_exact(self.source.header.kind.bytes()).zip(self.next..) {
                self.source.push(column, bytes, row, j)?;
            }
        }
        let first_row = self.next;
        self.next += rows as u64;
        Ok(Some(Table { rows, columns, first_row }))
    }

    fn fraction(&self) -> Option<f64> {
        Some(self.next as f64 / self.source.header.rows as f64)
    }
}

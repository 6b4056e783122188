//! A table in memory: blocks that are owned, read again in blocks of any size.
//!
//! Blocks come as they are, from a data frame, an array or another source that should be read once; they are cut anew to the size of a
//! sweep, in which they are read most often.

use super::infer::Inferred;
use super::{CellFormat, Column, ColumnInfo, Table, TableReader, TableSource, Unreadable};
use crate::sweep::BLOCK;
use crate::{Engine, Error, Result};

/// Blocks of one table.
#[derive(Clone, Debug, Default)]
pub struct MemoryTables {
    columns: Vec<ColumnInfo>,
    formats: Vec<CellFormat>,
    inferred: Vec<Option<Inferred>>,
    /// Of [`BLOCK`] rows each, but for the last.
    blocks: Vec<Table>,
    rows: usize,
    warnings: Vec<String>,
    unreadable: Vec<Unreadable>,
}

impl MemoryTables {
    /// Blocks in their order, each with the columns that are named here, which have different names.
    pub fn new(columns: Vec<ColumnInfo>, blocks: Vec<Table>) -> Result<MemoryTables> {
        check_names(&columns)?;
        let formats = columns.iter().map(|column| CellFormat::from(column.kind)).collect();
        let inferred = vec![None; columns.len()];
        let mut tables = MemoryTables { columns, formats, inferred, ..MemoryTables::default() };
        for block in blocks {
            tables.push(block)?;
        }
        Ok(tables)
    }

    /// Everything that another source has, in one pass; none where that is more than `most` bytes.
    pub fn read(engine: &Engine, source: &dyn TableSource, most: u64) -> Result<Option<MemoryTables>> {
        let mut tables = MemoryTables::new(source.columns().to_vec(), Vec::new())?;
        let columns = 0..tables.columns.len();
        tables.formats = columns.clone().map(|column| source.format(column)).collect();
        tables.inferred = columns.map(|column| source.inferred(column).cloned()).collect();
        let (mut reader, mut bytes) = (source.open(engine)?, 0);
        while let Some(block) = reader.next(BLOCK)? {
            bytes += bytes_of(&block);
            if bytes > most {
                return Ok(None);
            }
            tables.push(block)?;
        }
        tables.warnings = source.warnings();
        tables.unreadable = reader.unreadable();
        Ok(Some(tables))
    }

    /// Appends a block.
    pub fn push(&mut self, block: Table) -> Result<()> {
        let (expected, found) = (self.columns.len(), block.columns.len());
        if found != expected {
            return Err(Error::ColumnCount { expected, found });
        }
        if let Some(column) = block.columns.iter().find(|column| column.len() != block.rows) {
            return Err(Error::Length {
                what: "cells of a column",
                expected: block.rows,
                found: column.len(),
            });
        }
        let mut start = 0;
        while start < block.rows {
            let open = self.blocks.last().map_or(0, |last| BLOCK - last.rows);
            let count = (block.rows - start).min(if open == 0 { BLOCK } else { open });
            let part = part(&block, start, count);
            match self.blocks.last_mut().filter(|_| open > 0) {
                Some(last) => append(last, &part, &self.columns)?,
                None => self.blocks.push(Table { first_row: self.rows as u64, ..part }),
            }
            (start, self.rows) = (start + count, self.rows + count);
        }
        Ok(())
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The blocks.
    pub fn blocks(&self) -> &[Table] {
        &self.blocks
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> u64 {
        self.blocks.iter().map(bytes_of).sum()
    }
}

fn bytes_of(block: &Table) -> u64 {
    block.columns.iter().map(Column::bytes).sum()
}

fn check_names(columns: &[ColumnInfo]) -> Result<()> {
    let mut seen = std::collections::HashSet::new();
    match columns.iter().find(|column| !seen.insert(column.name.as_str())) {
        None => Ok(()),
        Some(twice) => Err(Error::Parameter {
            name: "the names of columns",
            expected: "different ones",
            found: format!("two columns \"{}\"", twice.name),
        }),
    }
}

/// Some consecutive rows, of categories no more levels than rows: a frame has one dictionary for all of its rows.
fn part(table: &Table, start: usize, count: usize) -> Table {
    let rows: Vec<usize> = (start..start + count).collect();
    let cells = |column: &Column| match column {
        Column::Category(cells) if cells.levels.len() > count => {
            Column::Category(rows.iter().map(|&i| cells.get(i)).collect())
        }
        column => column.chosen(&rows),
    };
    let columns = table.columns.iter().map(cells).collect();
    Table { rows: count, columns, first_row: table.first_row + start as u64 }
}

fn append(to: &mut Table, part: &Table, columns: &[ColumnInfo]) -> Result<()> {
    for ((to, from), info) in to.columns.iter_mut().zip(&part.columns).zip(columns) {
        if !to.append(from) {
            return Err(Error::Parameter {
                name: "the blocks of a table",
                expected: "columns of one kind in all of them",
                found: format!("another kind of column \"{}\"", info.name),
            });
        }
    }
    to.rows += part.rows;
    Ok(())
}

impl TableSource for MemoryTables {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn open<'a>(&'a self, _: &'a Engine) -> Result<Box<dyn TableReader + 'a>> {
        Ok(Box::new(Reader { tables: self, at: 0 }))
    }

    fn format(&self, column: usize) -> CellFormat {
        self.formats[column]
    }

    fn inferred(&self, column: usize) -> Option<&Inferred> {
        self.inferred[column].as_ref()
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}

struct Reader<'a> {
    tables: &'a MemoryTables,
    /// Rows handed out.
    at: usize,
}

impl TableReader for Reader<'_> {
    fn next(&mut self, most: usize) -> Result<Option<Table>> {
        let MemoryTables { blocks, rows, columns, .. } = self.tables;
        let mut left = most.min(rows - self.at);
        if left == 0 {
            return Ok(None);
        }
        let mut found: Option<Table> = None;
        while left > 0 {
            let (block, start) = (&blocks[self.at / BLOCK], self.at % BLOCK);
            let count = left.min(block.rows - start);
            let whole = count == block.rows;
            let next = if whole { block.clone() } else { part(block, start, count) };
            match &mut found {
                Some(found) => append(found, &next, columns)?,
                none => *none = Some(next),
            }
            (left, self.at) = (left - count, self.at + count);
        }
        Ok(found)
    }

    fn fraction(&self) -> Option<f64> {
        Some(self.at as f64 / self.tables.rows.max(1) as f64)
    }

    fn unreadable(&self) -> Vec<Unreadable> {
        self.tables.unreadable.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::ColumnKind;

    fn table(from: usize, rows: usize) -> Table {
        let range = from..from + rows;
        let texts: Vec<String> = range.clone().map(|i| format!("level {}", i % 3)).collect();
        let levels = texts.iter().map(|text| Some(text.as_str())).collect();
        let numbers = range.map(|i| i as f64).collect();
        Table { rows, columns: vec![Column::Number(numbers), Column::Category(levels)], first_row: 0 }
    }

    fn columns() -> Vec<ColumnInfo> {
        [("x", ColumnKind::Number), ("level", ColumnKind::Category)]
            .map(|(name, kind)| ColumnInfo { name: name.to_owned(), kind })
            .to_vec()
    }

    /// Rows are the same in whatever blocks they come and are read.
    #[test]
    fn blocks_come_and_go_in_any_size() {
        let rows = 2 * BLOCK + 7;
        let engine = Engine::default();
        for cuts in [vec![], vec![1, 5], vec![BLOCK], vec![BLOCK + 1, 2 * BLOCK + 2]] {
            let ends: Vec<usize> = cuts.iter().copied().chain([rows]).collect();
            let starts = std::iter::once(0).chain(cuts.iter().copied());
            let blocks = starts.zip(&ends).map(|(start, end)| table(start, end - start));
            let tables = MemoryTables::new(columns(), blocks.collect()).unwrap();
            let bytes = tables.bytes();
            assert!(MemoryTables::read(&engine, &tables, bytes / 2).unwrap().is_none());
            let again = MemoryTables::read(&engine, &tables, 2 * bytes).unwrap().unwrap();
            assert_eq!((tables.rows(), again.rows(), again.columns()), (rows, rows, tables.columns()));
            assert_eq!(again.blocks()[2], tables.blocks()[2]);
            for most in [BLOCK, 1000, rows, BLOCK + 1] {
                let (mut reader, mut seen) = (tables.open(&engine).unwrap(), 0);
                while let Some(block) = reader.next(most).unwrap() {
                    assert_eq!((block.first_row, block.rows), (seen as u64, most.min(rows - seen)));
                    let expected = table(seen, block.rows);
                    assert_eq!(block.columns[0], expected.columns[0]);
                    let levels = |table: &Table| match &table.columns[1] {
                        Column::Category(levels) => {
                            (0..table.rows).map(|i| levels.get(i).map(str::to_owned)).collect::<Vec<_>>()
                        }
                        _ => panic!("expected levels"),
                    };
                    assert_eq!(levels(&block), levels(&expected));
                    seen += block.rows;
                }
                assert_eq!((seen, reader.fraction()), (rows, Some(1.0)));
            }
        }
    }

    /// Blocks do not repeat a dictionary that is longer than they are.
    #[test]
    fn levels_are_kept_where_they_are_used() {
        let levels: Vec<String> = (0..3 * BLOCK).map(|i| i.to_string()).collect();
        let column = Column::Category(levels.iter().map(|level| Some(level.as_str())).collect());
        let block = Table { rows: 3 * BLOCK, columns: vec![column], first_row: 0 };
        let tables = MemoryTables::new(columns()[1..].to_vec(), vec![block]).unwrap();
        for block in tables.blocks() {
            let Column::Category(cells) = &block.columns[0] else { panic!("expected levels") };
            assert_eq!(cells.levels.len(), BLOCK);
            assert_eq!(cells.get(5), Some((block.first_row + 5).to_string().as_str()));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let twice = vec![columns()[0].clone(), columns()[0].clone()];
        let error = MemoryTables::new(twice, vec![]).unwrap_err().to_string();
        assert!(error.contains("two columns \"x\""), "{error}");
        let mut tables = MemoryTables::new(columns(), vec![table(0, 3)]).unwrap();
        assert!(matches!(
            tables.push(Table { rows: 2, columns: vec![], first_row: 0 }),
            Err(Error::ColumnCount { expected: 2, found: 0 })
        ));
        assert!(matches!(tables.push(Table { rows: 4, ..table(0, 3) }), Err(Error::Length { .. })));
        let wrong = Table { columns: table(0, 3).columns.into_iter().rev().collect(), ..table(0, 3) };
        assert!(matches!(tables.push(wrong), Err(Error::Parameter { .. })));
        assert!(
            MemoryTables::new(columns(), vec![])
                .unwrap()
                .open(&Engine::default())
                .unwrap()
                .next(5)
                .unwrap()
                .is_none()
        );
    }
}

//! A table source that keeps its blocks in memory, while they fit, so that a small file is parsed once.

use bochner::sweep::BLOCK;
use bochner::table::infer::Inferred;
use bochner::table::{CellFormat, Column, ColumnInfo, Table, TableReader, TableSource, Unreadable};
use bochner::{Engine, Result};

/// Some columns of another source, and its blocks after [`Cached::read`] if they were small enough.
pub(crate) struct Cached {
    inner: Box<dyn TableSource>,
    /// Positions in the other source of the columns that are passed on.
    kept: Vec<usize>,
    columns: Vec<ColumnInfo>,
    blocks: Option<Vec<Table>>,
    /// Bytes of the blocks that are kept.
    bytes: u64,
    /// Cells that could not be read.
    unreadable: Vec<Unreadable>,
}

impl Cached {
    /// All columns but some; nothing is read yet.
    pub(crate) fn new(inner: Box<dyn TableSource>, left_out: &[String]) -> Self {
        let is_kept = |&j: &usize| !left_out.contains(&inner.columns()[j].name);
        let kept: Vec<usize> = (0..inner.columns().len()).filter(is_kept).collect();
        let columns = kept.iter().map(|&j| inner.columns()[j].clone()).collect();
        Cached { inner, kept, columns, blocks: None, bytes: 0, unreadable: Vec::new() }
    }

    /// Reads the source once, shows every block with the fraction read, and keeps them if they have at most `budget` bytes.
    pub(crate) fn read(
        &mut self,
        engine: &Engine,
        budget: u64,
        mut see: impl FnMut(&Table, Option<f64>) -> Result<()>,
    ) -> Result<()> {
        let mut reader = self.inner.open(engine)?;
        let (mut blocks, mut bytes) = (Some(Vec::new()), 0u64);
        while let Some(table) = reader.next(BLOCK)? {
            let table = chosen(&self.kept, table);
            see(&table, reader.fraction())?;
            bytes += table.columns.iter().map(Column::bytes).sum::<u64>();
            match &mut blocks {
                Some(_) if bytes > budget => blocks = None,
                Some(blocks) => blocks.push(table),
                None => {}
            }
        }
        self.unreadable = passed_on(&self.kept, reader.unreadable());
        self.bytes = if blocks.is_some() { bytes } else { 0 };
        self.blocks = blocks;
        Ok(())
    }
}

impl Cached {
    /// Whether all blocks are kept.
    pub(crate) fn is_held(&self) -> bool {
        self.blocks.is_some()
    }

    /// Bytes of the blocks that are kept.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Cells that could not be read when the source was.
    pub(crate) fn unreadable(&self) -> &[Unreadable] {
        &self.unreadable
    }
}

/// Those in the columns that are passed on.
fn passed_on(kept: &[usize], found: Vec<Unreadable>) -> Vec<Unreadable> {
    let place = |cells: Unreadable| {
        Some(Unreadable { column: kept.iter().position(|&j| j == cells.column)?, ..cells })
    };
    found.into_iter().filter_map(place).collect()
}

/// The columns that are passed on.
fn chosen(kept: &[usize], table: Table) -> Table {
    let mut columns: Vec<Option<Column>> = table.columns.into_iter().map(Some).collect();
    let columns = kept.iter().filter_map(|&j| columns.get_mut(j).and_then(Option::take)).collect();
    Table { columns, ..table }
}

impl TableSource for Cached {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn open<'a>(&'a self, engine: &'a Engine) -> Result<Box<dyn TableReader + 'a>> {
        Ok(Box::new(Reader { engine, source: self, at: 0, inner: None }))
    }

    fn format(&self, column: usize) -> CellFormat {
        self.inner.format(self.kept[column])
    }

    fn inferred(&self, column: usize) -> Option<&Inferred> {
        self.inner.inferred(self.kept[column])
    }

    fn warnings(&self) -> Vec<String> {
        self.inner.warnings()
    }
}

struct Reader<'a> {
    engine: &'a Engine,
    source: &'a Cached,
    /// Blocks handed out from memory.
    at: usize,
    /// Once blocks of another size are asked for, or none are kept.
    inner: Option<Box<dyn TableReader + 'a>>,
}

impl TableReader for Reader<'_> {
    fn next(&mut self, most: usize) -> Result<Option<Table>> {
        if let (Some(blocks), None, BLOCK) = (&self.source.blocks, &self.inner, most) {
            let block = blocks.get(self.at).cloned();
            self.at += usize::from(block.is_some());
            return Ok(block);
        }
        let inner = match &mut self.inner {
            Some(inner) => inner,
            none => {
                let mut inner = self.source.inner.open(self.engine)?;
                for _ in 0..self.at {
                    inner.next(BLOCK)?;
                }
                none.insert(inner)
            }
        };
        Ok(inner.next(most)?.map(|table| chosen(&self.source.kept, table)))
    }

    fn fraction(&self) -> Option<f64> {
        match (&self.inner, &self.source.blocks) {
            (Some(inner), _) => inner.fraction(),
            (None, Some(blocks)) => Some(self.at as f64 / blocks.len().max(1) as f64),
            (None, None) => Some(0.0),
        }
    }

    fn unreadable(&self) -> Vec<Unreadable> {
        match &self.inner {
            Some(inner) => passed_on(&self.source.kept, inner.unreadable()),
            None => self.source.unreadable.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> Cached {
        let rows: String = (0..BLOCK + 10).map(|i| format!("{i},t{i},{}\n", 2 * i)).collect();
        let options = bochner_io::Options::default().with_texts(["b"]);
        let inner = bochner_io::from_bytes("a.csv", format!("a,b,c\n{rows}"), &options).unwrap();
        Cached::new(inner, &["b".to_owned()])
    }

    fn all(source: &Cached, sizes: &[usize]) -> Vec<f64> {
        let engine = Engine::default();
        let (mut reader, mut values) = (source.open(&engine).unwrap(), Vec::new());
        for &most in sizes.iter().chain(std::iter::repeat(&BLOCK)) {
            let Some(table) = reader.next(most).unwrap() else { break };
            assert_eq!(table.first_row, values.len() as u64);
            let Column::Number(column) = &table.columns[1] else { panic!("not a number") };
            values.extend(column);
        }
        assert_eq!(reader.fraction(), Some(1.0));
        values
    }

    #[test]
    fn rows_are_the_same_from_memory_and_from_the_file() {
        let expected: Vec<f64> = (0..BLOCK + 10).map(|i| 2.0 * i as f64).collect();
        for budget in [0, u64::MAX] {
            let mut cached = source();
            assert_eq!(cached.columns().iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["a", "c"]);
            let mut seen = 0;
            cached
                .read(&Engine::default(), budget, |table, _| {
                    seen += table.rows;
                    Ok(())
                })
                .unwrap();
            assert_eq!(seen, expected.len());
            assert_eq!(cached.blocks.is_some(), budget > 0);
            for sizes in [&[][..], &[7, 5000], &[BLOCK, 3]] {
                assert_eq!(all(&cached, sizes), expected);
            }
        }
    }
}

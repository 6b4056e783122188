//! Rows in one file, their targets in another, as NumPy's users keep them: read side by side.

use std::path::{Path, PathBuf};

use bochner::Engine;
use bochner::table::infer::Inferred;
use bochner::table::{CellFormat, ColumnInfo, Table, TableReader, TableSource, Unreadable};

use crate::error::Error;
use crate::options::Options;

/// What the column of targets is called.
pub const TARGET: &str = "target";

/// The columns of a file, and then the only one of another.
pub(crate) struct Beside {
    rows: Box<dyn TableSource>,
    targets: Box<dyn TableSource>,
    columns: Vec<ColumnInfo>,
    /// For messages.
    files: [PathBuf; 2],
}

impl Beside {
    pub(crate) fn open(
        engine: &Engine,
        path: &Path,
        targets: &Path,
        options: &Options,
    ) -> bochner::Result<Self> {
        let (of_target, others): (Vec<_>, Vec<_>) =
            options.kinds.iter().cloned().partition(|(name, _)| name == TARGET);
        let rows = crate::open(engine, path, &Options { targets: None, kinds: others, ..options.clone() })?;
        if rows.columns().iter().any(|column| column.name == TARGET) {
            return Err(Error::TargetName { file: path.to_owned(), name: TARGET.to_owned() }.into());
        }
        // Its own name says its format; what was said about the format was about the rows.
        let Options { header, strict, encoding, ref temporary, .. } = *options;
        let temporary = temporary.clone();
        let usual = Options { header, strict, encoding, temporary, ..Options::default() };
        let found = crate::open(engine, targets, &usual)?;
        let [only] = found.columns() else {
            let (file, found) = (targets.to_owned(), found.columns().len());
            return Err(Error::TargetColumns { file, found }.into());
        };
        let kinds = of_target.into_iter().map(|(_, format)| (only.name.clone(), format)).collect();
        let targets_source = crate::open(engine, targets, &Options { kinds, ..usual })?;
        let kind = targets_source.columns().first().map_or(only.kind, |column| column.kind);
        let mut columns = rows.columns().to_vec();
        columns.push(ColumnInfo { name: TARGET.to_owned(), kind });
        Ok(Beside { rows, targets: targets_source, columns, files: [path.to_owned(), targets.to_owned()] })
    }
}

impl TableSource for Beside {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn open<'a>(&'a self, engine: &'a Engine) -> bochner::Result<Box<dyn TableReader + 'a>> {
        Ok(Box::new(Reader {
            source: self,
            rows: self.rows.open(engine)?,
            targets: self.targets.open(engine)?,
        }))
    }

    fn format(&self, column: usize) -> CellFormat {
        let rows = self.rows.columns().len();
        if column < rows { self.rows.format(column) } else { self.targets.format(column - rows) }
    }

    fn inferred(&self, column: usize) -> Option<&Inferred> {
        let rows = self.rows.columns().len();
        if column < rows { self.rows.inferred(column) } else { self.targets.inferred(column - rows) }
    }

    fn warnings(&self) -> Vec<String> {
        [self.rows.warnings(), self.targets.warnings()].concat()
    }
}

struct Reader<'a> {
    source: &'a Beside,
    rows: Box<dyn TableReader + 'a>,
    targets: Box<dyn TableReader + 'a>,
}

impl TableReader for Reader<'_> {
    fn next(&mut self, most: usize) -> bochner::Result<Option<Table>> {
        let (rows, targets) = (self.rows.next(most)?, self.targets.next(most)?);
        let count = |table: &Option<Table>| table.as_ref().map_or(0, |table| table.rows);
        let (expected, found) = (count(&rows), count(&targets));
        if expected != found {
            let first = rows.as_ref().or(targets.as_ref()).map_or(0, |table| table.first_row);
            let [data, file] = self.source.files.clone();
            let found = if found > expected {
                format!("more than {}", first + expected as u64)
            } else {
                format!("{} for more rows", first + found as u64)
            };
            return Err(Error::TargetRows { file, data, found }.into());
        }
        Ok(rows.zip(targets).map(|(mut table, targets)| {
            table.columns.extend(targets.columns);
            table
        }))
    }

    fn fraction(&self) -> Option<f64> {
        self.rows.fraction()
    }

    fn unreadable(&self) -> Vec<Unreadable> {
        let first = self.source.rows.columns().len();
        let targets = self.targets.unreadable().into_iter();
        let targets = targets.map(|cells| Unreadable { column: first + cells.column, ..cells });
        self.rows.unreadable().into_iter().chain(targets).collect()
    }
}

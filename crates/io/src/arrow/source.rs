//! Record batches as a source of tables.

use std::collections::HashSet;

use arrow_array::cast::AsArray;
use arrow_array::types::Float32Type;
use arrow_array::{Array, Float64Array, RecordBatch};
use arrow_schema::DataType;
use bochner::Engine;
use bochner::table::infer::{Inferred, KindScan};
use bochner::table::{
    CellFormat, Column, ColumnInfo, ColumnKind, MISSING_DATE, Table, TableReader, TableSource, Unreadable,
};

use super::field::{self, Found};
use super::values::{Keys, append_dates, append_numbers, are_numbers, text_bytes};
use super::{BatchReader, Batches, Spelled, scan, spell};
use crate::error::{Error, Result, expected, shortened};
use crate::names::{Positions, unique};
use crate::options::{Known, Options};
use crate::text::cells::Cells;

/// Batches, and what their columns are.
pub(crate) struct Source<B> {
    batches: B,
    columns: Vec<ColumnInfo>,
    formats: Vec<CellFormat>,
    inferred: Vec<Option<Inferred>>,
    /// Positions of the columns that are read, in ascending order.
    read: Vec<usize>,
    /// Columns that nobody looks at.
    is_ignored: Vec<bool>,
    warnings: Vec<String>,
    is_strict: bool,
}

/// Whether the cells of a column say what it is, or how it is written.
fn is_open(known: Option<Known>, found: Found) -> bool {
    match known {
        None => true,
        Some(Known::Kind(kind)) => found == Found::Text && kind.has_ways_of_writing(),
        Some(Known::Format(_)) => false,
    }
}

/// The cells of the columns of text of which the options say nothing, by name.
pub(crate) fn scan_texts(
    batches: &impl Batches,
    options: &Options,
) -> bochner::Result<Vec<(String, KindScan)>> {
    let fields = batches.schema().fields();
    let names = unique(fields.iter().map(|field| field.name().clone()).collect(), &mut Vec::new());
    let said: HashSet<&String> = options.kinds.iter().map(|(name, _)| name).chain(&options.ignored).collect();
    // A column without a type is what it is in other files.
    let is_text = |found: &DataType| field::of(found) == Found::Text || *found == DataType::Null;
    let is_open = |j: &usize| is_text(fields[*j].data_type()) && !said.contains(&names[*j]);
    let columns: Vec<usize> = (0..names.len()).filter(is_open).collect();
    let scans = scan::texts(batches, &columns)?;
    Ok(columns.iter().map(|&j| names[j].clone()).zip(scans).collect())
}

impl<B: Batches> Source<B> {
    /// Reads the batches where it has to be found what the columns are.
    pub(crate) fn open(batches: B, options: &Options) -> bochner::Result<Self> {
        let fields = batches.schema().fields();
        let mut warnings = Vec::new();
        let names = unique(fields.iter().map(|field| field.name().clone()).collect(), &mut warnings);
        let found: Vec<Found> = fields.iter().map(|field| field::of(field.data_type())).collect();
        let unknown = |name: &String| ColumnInfo { name: name.clone(), kind: ColumnKind::Text };
        let mut columns: Vec<ColumnInfo> = names.iter().map(unknown).collect();
        let positions = Positions::of(&names);
        let mut known: Vec<Option<Known>> = vec![None; columns.len()];
        for (name, what) in &options.kinds {
            known[positions.find(name, &names)?] = Some(*what);
        }
        let mut is_ignored = vec![false; columns.len()];
        for name in &options.ignored {
            is_ignored[positions.find(name, &names)?] = true;
        }
        let unknown: Vec<Found> = if options.infer {
            let is_open = |j: usize| !is_ignored[j] && is_open(known[j], found[j]);
            let nothing = Found::Kind(ColumnKind::Text);
            (0..found.len()).map(|j| if is_open(j) { found[j] } else { nothing }).collect()
        } else {
            Vec::new()
        };
        let by_type = |found: &Found| match found {
            Found::Kind(kind) => *kind,
            Found::Integer => ColumnKind::Number,
            Found::Text | Found::Nested(_) => ColumnKind::Text,
        };
        let mut read: Vec<usize> = (0..columns.len()).filter(|&j| !is_ignored[j]).collect();
        if read.is_empty() && !columns.is_empty() {
            read.push(0); // which says how many rows there are
        }
        let mut source = Source {
            batches,
            formats: Vec::new(),
            inferred: vec![None; columns.len()],
            columns: Vec::new(),
            read,
            is_ignored,
            warnings,
            is_strict: options.strict,
        };
        if options.infer {
            source.check_flat(&names)?;
            source.inferred = scan::infer(&source.batches, &names, &known, &unknown, &mut source.warnings)?;
        }
        for (j, column) in columns.iter_mut().enumerate() {
            let text = CellFormat::from(ColumnKind::Text);
            let format = match (known[j], &source.inferred[j]) {
                _ if source.is_ignored[j] => text,
                (Some(Known::Format(format)), _) => format,
                (_, Some(inferred)) => inferred.format,
                (Some(Known::Kind(kind)), None) => CellFormat::from(kind),
                (None, None) => CellFormat::from(by_type(&found[j])),
            };
            column.kind = format.kind;
            source.formats.push(format);
            if known[j].is_some() {
                source.inferred[j] = None;
            }
        }
        source.columns = columns;
        Ok(source)
    }

    /// Bytes that an array adds to column j.
    fn text_bytes(&self, array: &dyn Array, j: usize) -> u64 {
        if self.columns[j].kind == ColumnKind::Text { text_bytes(array) } else { 0 }
    }

    /// No column that is looked at has cells inside its cells.
    fn check_flat(&self, names: &[String]) -> Result<()> {
        for (j, field) in self.batches.schema().fields().iter().enumerate() {
            if let (Found::Nested(what), false) = (field::of(field.data_type()), self.is_ignored[j]) {
                let (file, column) = (self.batches.file().to_owned(), shortened(&names[j]));
                let found = shortened(&field.data_type().to_string());
                return Err(Error::NestedColumn { file, column, what, found });
            }
        }
        Ok(())
    }
}

impl<B: Batches> TableSource for Source<B> {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn open<'a>(&'a self, _: &'a Engine) -> bochner::Result<Box<dyn TableReader + 'a>> {
        let names: Vec<String> = self.columns.iter().map(|column| column.name.clone()).collect();
        self.check_flat(&names)?;
        let batches = self.batches.open(&self.read)?;
        let unreadable = vec![None; self.columns.len()];
        let spelled = Spelled::of(&self.batches);
        Ok(Box::new(Reader { source: self, batches, batch: None, spelled, next: 0, expected: 0, unreadable }))
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

/// A pass over the rows.
struct Reader<'a, B> {
    source: &'a Source<B>,
    batches: Box<dyn BatchReader + 'a>,
    /// Rows that have been read and not handed out.
    batch: Option<RecordBatch>,
    spelled: Spelled,
    /// The number of the next row.
    next: u64,
    /// Rows of the block before, the best guess for the next.
    expected: usize,
    /// Of each column, if there are any.
    unreadable: Vec<Option<Unreadable>>,
}

impl<B: Batches> TableReader for Reader<'_, B> {
    fn next(&mut self, most: usize) -> bochner::Result<Option<Table>> {
        let (first_row, capacity) = (self.next, self.expected.min(most));
        let mut columns: Vec<Cells> =
            self.source.formats.iter().map(|format| Cells::new(*format, capacity)).collect();
        let mut rows = 0;
        self.spelled.start_block();
        while rows < most {
            let Some(batch) = self.take(most - rows)? else { break };
            for (array, &j) in batch.columns().iter().zip(&self.source.read) {
                if !self.source.is_ignored[j] {
                    self.spelled.add(self.source.text_bytes(array.as_ref(), j))?;
                    self.append(array.as_ref(), j, &mut columns[j])?;
                }
            }
            rows += batch.num_rows();
            self.next += batch.num_rows() as u64;
        }
        for (column, _) in columns.iter_mut().zip(&self.source.is_ignored).filter(|(_, ignored)| **ignored) {
            (0..rows).for_each(|_| column.push_missing());
        }
        self.expected = rows;
        let columns: Vec<Column> = columns.into_iter().map(Cells::finish).collect();
        Ok((rows > 0).then_some(Table { rows, columns, first_row }))
    }

    fn fraction(&self) -> Option<f64> {
        self.batches.fraction()
    }

    fn unreadable(&self) -> Vec<Unreadable> {
        self.unreadable.iter().flatten().cloned().collect()
    }
}

impl<B: Batches> Reader<'_, B> {
    /// The next rows, at most `most`, at least one; none at the end.
    fn take(&mut self, most: usize) -> Result<Option<RecordBatch>> {
        let batch = match self.batch.take() {
            Some(batch) => batch,
            None => loop {
                match self.batches.next()? {
                    None => return Ok(None),
                    Some(batch) if batch.num_columns() != self.source.read.len() => {
                        return Err(Error::OtherColumns { file: self.source.batches.file().to_owned() });
                    }
                    Some(batch) if batch.num_rows() > 0 => break batch,
                    Some(_) => {}
                }
            },
        };
        let rows = batch.num_rows();
        if rows <= most {
            return Ok(Some(batch));
        }
        self.batch = Some(batch.slice(most, rows - most));
        Ok(Some(batch.slice(0, most)))
    }

    /// Appends the cells of column j.
    fn append(&mut self, array: &dyn Array, j: usize, to: &mut Cells) -> Result<()> {
        let mut wrong = None;
        let mut note = |i: usize, text: &str| {
            let (count, _) = wrong.get_or_insert_with(|| (0, (i, shortened(text))));
            *count += 1;
        };
        push(array, to, &mut note);
        let Some((count, (i, example))) = wrong else { return Ok(()) };
        let line = self.next + i as u64 + 1;
        let ColumnInfo { name, kind } = &self.source.columns[j];
        if self.source.is_strict {
            let (file, name) = (self.source.batches.file().to_owned(), Some(shortened(name)));
            let expected = expected(*kind);
            return Err(Error::WrongCell { file, line, column: j + 1, expected, found: example, name });
        }
        let found = self.unreadable[j].get_or_insert(Unreadable { column: j, count: 0, line, example });
        found.count += count;
        Ok(())
    }
}

/// Appends the cells of an array, and notes those that are neither missing nor what the column holds: they are missing.
fn push(array: &dyn Array, to: &mut Cells, note: &mut impl FnMut(usize, &str)) {
    let found = array.data_type();
    match (to.column(), found) {
        (Column::Number(values), found) if are_numbers(found) => append_numbers(array, values),
        (Column::Boolean(values), DataType::Boolean) => values.extend(array.as_boolean()),
        (Column::Date(values), DataType::Date32 | DataType::Date64 | DataType::Timestamp(..)) => {
            let before = values.len();
            append_dates(array, values);
            let is_wrong = |i: usize| values[before + i] == MISSING_DATE && array.is_valid(i);
            for i in (0..array.len()).filter(|&i| is_wrong(i)) {
                spell::each(array.slice(i, 1).as_ref(), &mut |text| note(i, text.unwrap_or_default()));
            }
        }
        (Column::Category(_), DataType::Dictionary(_, values)) if field::of(values) == Found::Text => {
            let keys = Keys::of(array);
            let mut codes = vec![None; keys.values.len()];
            for key in keys.iter() {
                match key {
                    None => to.push_missing(),
                    Some(key) => {
                        let code = *codes[key].get_or_insert_with(|| {
                            let mut code = None;
                            let level = keys.values.slice(key, 1);
                            spell::each(level.as_ref(), &mut |level| {
                                code = level.map(|level| to.code(level))
                            });
                            code
                        });
                        to.push_code(code);
                    }
                }
            }
        }
        // A text may be a target: it is read back as the same number.
        (Column::Text(_), DataType::Float32) => {
            let exact: Float64Array = array.as_primitive::<Float32Type>().unary(f64::from);
            push(&exact, to, note);
        }
        _ => {
            let mut i = 0;
            spell::each(array, &mut |cell| {
                match cell {
                    None => to.push_missing(),
                    Some(text) if to.push_text(text) => {}
                    Some(text) => note(i, text),
                }
                i += 1;
            });
        }
    }
}

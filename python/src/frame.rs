//! Data frames as tables: whatever hands over an Arrow stream, and arrays with missing cells.
//!
//! ```text
//! frame ──__arrow_c_stream__──▶ record batches ──bochner_io::arrow──▶ blocks ──encode──▶ rows
//! array with NaN ─────────────────────────────────────────────────────▶ blocks
//! ```
//! What a column becomes is decided as for files: pandas, Polars and a CSV file of one table give one model.

use std::sync::OnceLock;

use arrow_schema::DataType;
use bochner::encode::{ColumnProfile, Columns, Inputs, Precision, TableProfile, inputs, rows_of};
use bochner::stat::Moments;
use bochner::sweep::BLOCK;
use bochner::table::{CellFormat, Column, ColumnInfo, ColumnKind, MemoryTables, Table, TableSource};
use bochner::{AnyRows, Engine, Error, Event, Kernel, Matrix, OwnedRows, Result, Rows, Scalar};
use bochner_io::{Options, arrow};
use numpy::{PyArrayDescr, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::error::to_python;
use crate::job::Job;
use crate::kernel::kernel_of;
use crate::rows::AnyTable;
use crate::stream;

/// The blocks of a data frame, or of an array in which cells are missing.
#[pyclass(frozen, module = "bochner._core")]
pub(crate) struct Frame {
    tables: MemoryTables,
    /// Of the array; none for a data frame.
    precision: Option<Precision>,
    /// Of rows that count alike.
    profile: OnceLock<TableProfile>,
}

/// Rows to fit to, or to predict of.
#[derive(FromPyObject)]
pub(crate) enum Given<'py> {
    /// A table.
    Frame(Bound<'py, Frame>),
    /// An array or a sparse matrix of numbers.
    Rows(AnyTable<'py>),
}

/// The same without Python: for the thread that works.
#[derive(Clone, Copy)]
pub(crate) enum Held<'a> {
    Frame(&'a Frame),
    Rows(AnyRows<'a>),
}

impl Given<'_> {
    /// Where it lies.
    pub(crate) fn held(&self) -> PyResult<Held<'_>> {
        match self {
            Given::Frame(frame) => Ok(Held::Frame(frame.get())),
            Given::Rows(rows) => rows.rows().map(Held::Rows),
        }
    }
}

impl Held<'_> {
    /// The number of rows.
    pub(crate) fn count(&self) -> usize {
        match self {
            Held::Frame(frame) => frame.tables.rows(),
            Held::Rows(rows) => rows.count(),
        }
    }
}

#[pymethods]
impl Frame {
    /// Reads what `__arrow_c_stream__` gives. `texts` are columns that stay texts, whatever their cells.
    #[staticmethod]
    #[pyo3(signature = (frame, *, texts, threads))]
    fn from_stream(
        py: Python<'_>,
        frame: &Bound<'_, PyAny>,
        texts: Vec<String>,
        threads: usize,
    ) -> PyResult<Frame> {
        Frame::read(py, frame, threads, |_| Options::default().with_texts(texts))
    }

    /// Columns of an array, NaN where cells are missing; without names they are called x0, x1, … Infinity is refused, unless the array was a data frame.
    #[staticmethod]
    #[pyo3(signature = (rows, names, *, is_frame))]
    fn from_array(
        py: Python<'_>,
        rows: AnyTable<'_>,
        names: Option<Vec<String>>,
        is_frame: bool,
    ) -> PyResult<Frame> {
        let rows = rows.rows()?;
        let count = rows.columns();
        let names = names.unwrap_or_else(|| (0..count).map(|j| format!("x{j}")).collect());
        let columns = names.into_iter().map(|name| ColumnInfo { name, kind: ColumnKind::Number }).collect();
        let (precision, tables) = py.detach(|| match rows {
            AnyRows::F32(rows) => (Precision::Single, of_array(columns, &rows, is_frame)),
            AnyRows::F64(rows) => (Precision::Double, of_array(columns, &rows, is_frame)),
        });
        let precision = (!is_frame).then_some(precision);
        Ok(Frame { tables: tables.map_err(to_python)?, precision, profile: OnceLock::new() })
    }

    fn __len__(&self) -> usize {
        self.tables.rows()
    }

    /// Names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.tables.columns().iter().map(|column| column.name.clone()).collect()
    }

    /// Rows, and columns that they are encoded to where none is left out.
    #[getter]
    fn shape(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        let columns = py.detach(|| self.all()).map_err(to_python)?;
        Ok((self.tables.rows(), columns.count()))
    }

    /// Of results.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Bound<'py, PyArrayDescr> {
        match self.precision {
            Some(Precision::Single) => numpy::dtype::<f32>(py),
            Some(Precision::Double) | None => numpy::dtype::<f64>(py),
        }
    }

    /// The variance of all entries of the encoded rows, which may have weights.
    #[pyo3(signature = (weights=None))]
    fn variance(&self, py: Python<'_>, weights: Option<PyReadonlyArray1<'_, f64>>) -> PyResult<f64> {
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        Job::new(1, 0).run(py, |engine| self.spread(engine, weights))
    }

    /// The kernel of encoded rows, from one whose columns have names.
    fn placed(&self, py: Python<'_>, kernel: &str) -> PyResult<String> {
        let kernel = kernel_of(kernel, None)?;
        let inputs = py.detach(|| self.inputs(Some(&kernel), None, 0)).map_err(to_python)?;
        Ok(inputs.kernel.unwrap_or(kernel).to_string())
    }
}

impl Frame {
    /// Reads a stream, which says its columns before it is said how they are read.
    pub(crate) fn read(
        py: Python<'_>,
        frame: &Bound<'_, PyAny>,
        threads: usize,
        options: impl FnOnce(&[String]) -> Options,
    ) -> PyResult<Frame> {
        let (schema, batches) = stream::batches(frame)?;
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let mut options = options(&names);
        if options.infer {
            // A frame says what is a category: whole numbers too.
            let category = CellFormat::from(ColumnKind::Category);
            let is_open = |name: &String| options.kinds.iter().all(|(known, _)| known != name);
            let fields = schema.fields().iter();
            let coded = fields.filter(|field| matches!(field.data_type(), DataType::Dictionary(..)));
            let coded: Vec<_> =
                coded.map(|field| field.name()).filter(|name| is_open(name)).cloned().collect();
            options.kinds.extend(coded.into_iter().map(|name| (name, category)));
        }
        let tables = Job::new(threads, 0).run(py, |engine| {
            let source = arrow::from_batches("the data frame", schema, batches, &options)?;
            MemoryTables::read(engine, source.as_ref())
        })?;
        Ok(Frame { tables, precision: None, profile: OnceLock::new() })
    }

    /// Reads a stream for a model: its columns as it reads them, wherever they stand; others are not looked at.
    pub(crate) fn read_for(
        py: Python<'_>,
        frame: &Bound<'_, PyAny>,
        columns: &Columns,
        threads: usize,
    ) -> PyResult<Frame> {
        let number = CellFormat::from(ColumnKind::Number);
        Frame::read(py, frame, threads, |names| {
            let kinds: Vec<(String, CellFormat)> = match columns {
                Columns::Named { inputs } => {
                    inputs.iter().map(|input| (input.name.clone(), input.encoding.format())).collect()
                }
                Columns::Unnamed { count } => {
                    names.iter().take(*count).map(|name| (name.clone(), number)).collect()
                }
                Columns::Sparse { .. } => Vec::new(),
            };
            let is_ignored = |name: &&String| kinds.iter().all(|(known, _)| known != *name);
            let ignored = names.iter().filter(is_ignored).cloned().collect();
            Options { kinds, ignored, infer: false, ..Options::default() }
        })
    }

    /// The blocks.
    pub(crate) fn tables(&self) -> &MemoryTables {
        &self.tables
    }

    /// In which rows are learnt from: that of the array, and for data frames that of files.
    pub(crate) fn precision(&self) -> Precision {
        self.precision.unwrap_or_default()
    }

    /// What is known of the columns of rows that may have weights.
    fn profile(&self, weights: Option<&[f64]>) -> TableProfile {
        let read = || {
            let mut profile = TableProfile::of(&self.tables);
            for block in self.tables.blocks() {
                let weight = |i: usize| {
                    weights
                        .and_then(|weights| weights.get(block.first_row as usize + i))
                        .copied()
                        .unwrap_or(1.0)
                };
                profile.absorb(block, &weight);
            }
            // The columns of an array are told apart by their numbers.
            if self.precision.is_some() { profile.keeping_constants() } else { profile }
        };
        if weights.is_some() { read() } else { self.profile.get_or_init(read).clone() }
    }

    /// What the columns become for a kernel.
    pub(crate) fn inputs(
        &self,
        kernel: Option<&Kernel>,
        weights: Option<&[f64]>,
        seed: u64,
    ) -> Result<Inputs> {
        let left_out = self.identifiers(kernel);
        let left_out: Vec<&str> = left_out.iter().map(String::as_str).collect();
        inputs(kernel, &self.profile(weights), &left_out, &[], seed)
    }

    /// What all columns become, those that do not vary too.
    fn all(&self) -> Result<Columns> {
        let left_out = self.identifiers(None);
        let left_out: Vec<&str> = left_out.iter().map(String::as_str).collect();
        Ok(inputs(None, &self.profile(None).keeping_constants(), &left_out, &[], 0)?.columns)
    }

    /// Columns of texts that tell rows apart, of which nothing can be learnt, unless the kernel names what it looks at or there is nothing else.
    fn identifiers(&self, kernel: Option<&Kernel>) -> Vec<String> {
        if kernel.and_then(Kernel::names_only).is_some_and(|names| !names.is_empty()) {
            return Vec::new();
        }
        let columns = self.tables.columns();
        let is_identifier = |j: usize| self.tables.inferred(j).is_some_and(|found| found.is_identifier);
        let names = columns.iter().enumerate().filter(|(j, _)| is_identifier(*j));
        let names: Vec<String> = names.map(|(_, info)| info.name.clone()).collect();
        if names.len() < columns.len() { names } else { Vec::new() }
    }

    /// What should be known before anything is learnt from the columns.
    pub(crate) fn remarks(&self, kernel: Option<&Kernel>, inputs: &Inputs) -> Vec<String> {
        let mut remarks = self.tables.warnings();
        let identifiers = self.identifiers(kernel);
        if !identifiers.is_empty() {
            let names = said(
                &identifiers,
                "looks like an identifier and is left out",
                "look like identifiers and are left out",
            );
            remarks.push(format!("{names} (make it a category to learn from it)"));
        }
        if !inputs.constant.is_empty() {
            let (one, many) = ("does not vary and is left out", "do not vary and are left out");
            remarks.push(said(&inputs.constant, one, many));
        }
        let is_used = |name: &str| inputs.columns.inputs().iter().any(|input| input.name == name);
        let profile = self.profile(None);
        for ((j, info), profile) in profile.columns().iter().enumerate().zip(profile.profiles()) {
            if !is_used(&info.name) {
                continue;
            }
            if let ColumnProfile::Number(number) = profile
                && number.infinite > 0
            {
                remarks.push(format!(
                    "column \"{}\": {} infinite, taken as the smallest or the largest number",
                    info.name,
                    cells(number.infinite)
                ));
            }
            if let Some(found) = self.tables.inferred(j)
                && let Some((row, cell)) = &found.first
            {
                let count = cells(found.unreadable);
                remarks.push(unreadable(info, &count, *row, cell));
            }
        }
        remarks
    }

    /// What should be known of cells that a model cannot read.
    fn unread(&self, engine: &Engine) -> Result<Vec<String>> {
        let found = self.tables.open(engine)?.unreadable();
        let remark = |found: &bochner::table::Unreadable| {
            unreadable(&self.tables.columns()[found.column], &cells(found.count), found.line, &found.example)
        };
        Ok(found.iter().map(remark).collect())
    }

    /// Shows the encoded rows, block by block, and the number of the first row of each.
    pub(crate) fn each_block(
        &self,
        engine: &Engine,
        columns: &Columns,
        mut see: impl FnMut(&OwnedRows<f64>, usize) -> Result<()>,
    ) -> Result<()> {
        let positions = columns.positions(self.tables.columns())?;
        self.tables.blocks().iter().try_for_each(|block| {
            see(&rows_of(engine, block, columns, &positions)?, block.first_row as usize)
        })
    }

    /// What is made of each block, one below the other. Says which cells could not be read.
    pub(crate) fn stacked(
        &self,
        engine: &Engine,
        block: impl Fn(&Table, &[ColumnInfo]) -> Result<Matrix<f64>>,
    ) -> Result<Matrix<f64>> {
        self.unread(engine)?.iter().try_for_each(|text| engine.tell(&Event::Warning { text }))?;
        let (mut entries, mut columns) = (Vec::new(), 0);
        for table in self.tables.blocks() {
            let found = block(table, self.tables.columns())?;
            columns = found.columns();
            entries.extend_from_slice(found.as_slice());
        }
        Matrix::new(self.tables.rows(), columns, entries)
    }

    fn spread(&self, engine: &Engine, weights: Option<&[f64]>) -> Result<f64> {
        let columns = self.all()?.fit(engine, &self.tables)?;
        let mut moments = Moments::zero(columns.count());
        self.each_block(engine, &columns, |rows, first| {
            let weight = |i: usize| weights.map_or(1.0, |weights| weights[first + i]);
            moments.absorb(engine, &rows.view(), &weight);
            Ok(())
        })?;
        // Of all entries: the mean of the columns' variances and the variance of their means.
        let (means, count) = (moments.mean(), columns.count() as f64);
        let mean = means.iter().sum::<f64>() / count;
        let squares = means.iter().zip(moments.deviation()).map(|(m, s)| s * s + (m - mean) * (m - mean));
        Ok(squares.sum::<f64>() / count)
    }
}

/// Columns of numbers; infinity is refused in an array, which has no room for remarks.
fn of_array<T: Scalar>(columns: Vec<ColumnInfo>, rows: &Rows<'_, T>, is_frame: bool) -> Result<MemoryTables> {
    let mut tables = MemoryTables::new(columns, [])?;
    for start in (0..rows.count()).step_by(BLOCK) {
        let block = rows.slice(start..rows.count().min(start + BLOCK));
        let mut cells = vec![Vec::with_capacity(block.count()); block.columns()];
        let mut dense = vec![T::default(); block.columns()];
        for i in 0..block.count() {
            block.densify(i, &mut dense);
            for (column, (cells, x)) in cells.iter_mut().zip(&dense).enumerate() {
                let value = x.to_f64();
                if value.is_infinite() && !is_frame {
                    return Err(Error::NotFinite {
                        what: "the rows",
                        row: (start + i) as u64,
                        column,
                        value,
                    });
                }
                cells.push(value);
            }
        }
        let columns = cells.into_iter().map(Column::Number).collect();
        tables.push(Table { rows: block.count(), columns, first_row: start as u64 })?;
    }
    Ok(tables)
}

/// `column a does …`, `columns a, b do …`; of many names the first.
fn said(names: &[String], one: &str, many: &str) -> String {
    const MOST: usize = 4;
    let some = names.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len() {
        1 => format!("column {some} {one}"),
        2..=MOST => format!("columns {some} {many}"),
        all => format!("columns {some} and {} more {many}", all - MOST),
    }
}

fn cells(count: u64) -> String {
    if count == 1 { "1 cell is".to_owned() } else { format!("{count} cells are") }
}

fn unreadable(info: &ColumnInfo, count: &str, row: u64, cell: &str) -> String {
    let what = match info.kind {
        ColumnKind::Number => "a number",
        ColumnKind::Boolean => "true or false",
        ColumnKind::Category => "a category",
        ColumnKind::Date => "a date",
        ColumnKind::Text => "a text",
        ColumnKind::Sparse { .. } => "sparse",
    };
    format!("column \"{}\": {count} not {what} (first: row {row}, {cell:?}); taken as missing", info.name)
}

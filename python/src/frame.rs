//! Data frames as tables: whatever hands over an Arrow stream, arrays with missing cells, and files that a model reads.
//!
//! ```text
//! frame ──__arrow_c_stream__──▶ record batches ──bochner_io::arrow──▶ blocks ──encode──▶ rows
//! array with NaN ─────────────────────────────────────────────────────▶ blocks
//! ```
//! What a column becomes is decided as for files: pandas, Polars and a CSV file of one table give one model. Streams that are long are kept in an
//! unnamed file, and read block by block.

use std::sync::OnceLock;

use arrow_schema::DataType;
use bochner::encode::{
    Columns, Decided, Input, Inputs, Labels, Precision, Remark, TableProfile, identifiers, inputs, rows_of,
};
use bochner::stat::Moments;
use bochner::sweep::BLOCK;
use bochner::table::{
    CellFormat, Column, ColumnInfo, ColumnKind, MemoryTables, Table, TableReader, TableSource, Unreadable,
};
use bochner::{
    AnyRows, Engine, Error, Event, Kernel, Matrix, MatrixView, OwnedRows, Result, Rows, Scalar, Target,
};
use bochner_io::{Known, Options};
use numpy::{PyArrayDescr, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::error::to_python;
use crate::job::Job;
use crate::kernel::kernel_of;
use crate::rows::AnyTable;
use crate::{remark, stream};

/// The blocks of a data frame, of an array in which cells are missing, or of files.
#[pyclass(frozen, module = "bochner._core")]
pub(crate) struct Frame {
    tables: Box<dyn TableSource>,
    /// None where they have not been counted.
    rows: Option<usize>,
    /// Of the array; none for others.
    precision: Option<Precision>,
    /// What places are counted in.
    unit: &'static str,
    /// For what is found out of it; 0 for all.
    threads: usize,
    /// Of rows that count alike, without targets.
    profile: OnceLock<TableProfile>,
    /// Cells that could not be read in the pass that the profile comes from.
    unreadable: OnceLock<Vec<Unreadable>>,
}

/// Rows to fit to, or to predict of.
pub(crate) enum Given<'py> {
    /// A table.
    Frame(Bound<'py, Frame>),
    /// An array or a sparse matrix of numbers.
    Rows(AnyTable<'py>),
}

/// What is no table is an array, and refused as one.
impl<'py> FromPyObject<'_, 'py> for Given<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.cast::<Frame>() {
            Ok(frame) => Ok(Given::Frame(frame.to_owned())),
            Err(_) => object.extract().map(Given::Rows),
        }
    }
}

/// The same without Python: for the thread that works.
#[derive(Clone, Copy)]
pub(crate) enum Lent<'a> {
    Frame(&'a Frame),
    Rows(AnyRows<'a>),
}

/// What stands beside the rows of a frame.
#[derive(Clone, Copy, Default)]
pub(crate) struct Beside<'a> {
    /// One for each row.
    pub(crate) weights: Option<&'a [f64]>,
    /// A row for each row; one with NaN is none.
    pub(crate) targets: Option<MatrixView<'a, f64>>,
    /// The names of the classes, of which the targets are positions; none where they are numbers.
    pub(crate) labels: Option<&'a Labels>,
    /// What the targets are called.
    pub(crate) name: &'a str,
    /// A column whose equal cells mark rows that belong together.
    pub(crate) group: Option<&'a str>,
    /// Whether categories of many levels are encoded by the targets.
    pub(crate) encodes: bool,
}

impl Beside<'_> {
    /// Columns of numbers that the targets are coded as.
    pub(crate) fn outputs(&self) -> usize {
        match (self.labels, self.targets) {
            (Some(labels), _) => Target::Classes { labels: labels.clone() }.outputs(),
            (None, Some(targets)) => targets.columns(),
            (None, None) => 1,
        }
    }
}

impl Given<'_> {
    /// Where it lies.
    pub(crate) fn lent(&self) -> PyResult<Lent<'_>> {
        match self {
            Given::Frame(frame) => Ok(Lent::Frame(frame.get())),
            Given::Rows(rows) => rows.rows().map(Lent::Rows),
        }
    }
}

impl Lent<'_> {
    /// The number of rows; as many as can be where they have not been counted.
    pub(crate) fn count(&self) -> usize {
        match self {
            Lent::Frame(frame) => frame.rows.unwrap_or(usize::MAX),
            Lent::Rows(rows) => rows.count(),
        }
    }
}

impl Beside<'_> {
    /// The rows of a block that have targets; none where all have.
    fn present(&self, table: &Table) -> Option<Vec<usize>> {
        let (targets, first) = (self.targets?, table.first_row as usize);
        let is_there =
            |i: &usize| first + i >= targets.rows() || targets.row(first + i).iter().all(|y| !y.is_nan());
        let rows: Vec<usize> = (0..table.rows).filter(is_there).collect();
        (rows.len() < table.rows).then_some(rows)
    }

    /// Rows without a target.
    fn missing(&self) -> u64 {
        let Some(targets) = self.targets else { return 0 };
        (0..targets.rows()).filter(|&i| targets.row(i).iter().any(|y| y.is_nan())).count() as u64
    }

    /// Targets and weights for arrays, in which every row has both: rows without a target weigh nothing. None where all have one.
    pub(crate) fn whole(&self) -> Option<(Matrix<f64>, Vec<f64>)> {
        let targets = self.targets.filter(|_| self.missing() > 0)?;
        let is_there = |i: usize| targets.row(i).iter().all(|y| !y.is_nan());
        let weight = |i: usize| self.weights.map_or(1.0, |weights| weights[i]);
        let weights = (0..targets.rows()).map(|i| if is_there(i) { weight(i) } else { 0.0 }).collect();
        let target = |i: usize, o: usize| if is_there(i) { targets.row(i)[o] } else { 0.0 };
        Some((Matrix::from_fn(targets.rows(), targets.columns(), target), weights))
    }

    /// The targets of a block as a column that may be compared with others, where there is one.
    fn column(&self, table: &Table) -> Option<Column> {
        let targets = self.targets.filter(|targets| self.encodes && targets.columns() == 1)?;
        let first = table.first_row as usize;
        let values =
            (first..first + table.rows).map(|i| targets.as_slice().get(i).copied().unwrap_or(f64::NAN));
        Some(match self.labels {
            Some(labels) => Column::Text(values.map(|y| labels.text(y as usize)).collect()),
            None => Column::Number(values.collect()),
        })
    }

    /// The profile of a table to which the targets are a last column; its name, where there is one, is none of the others.
    fn profile(&self, tables: &dyn TableSource) -> (TableProfile, Option<String>) {
        let mut columns = tables.columns().to_vec();
        let empty = Table { rows: 0, columns: Vec::new(), first_row: 0 };
        let Some(column) = self.column(&empty) else {
            let profile = TableProfile::of(tables);
            return (if self.encodes { profile.with_target_beside() } else { profile }, None);
        };
        let mut name = self.name.to_owned();
        while columns.iter().any(|column| column.name == name) {
            name.push('_');
        }
        columns.push(ColumnInfo { name: name.clone(), kind: column.kind() });
        let at = columns.len() - 1;
        (TableProfile::of(&Wider { tables, columns }).with_target(at), Some(name))
    }

    /// What was found out of the target.
    fn decided(&self) -> Decided {
        let (decimal_comma, reason, respelled) = (false, String::new(), Vec::new());
        Decided { labels: self.labels.cloned(), decimal_comma, reason, respelled }
    }

    /// What should be known before anything is learnt.
    fn remarks(&self, inputs: &Inputs, profile: &TableProfile) -> Vec<Remark> {
        Remark::of_fit(inputs, profile, self.name, &self.decided(), self.missing())
    }

    /// Reads a block, and the targets beside it.
    fn absorb(&self, mut table: Table, profile: &mut TableProfile) {
        let (target, present) = (self.column(&table), self.present(&table));
        table.columns.extend(target);
        let row = |i: usize| table.first_row as usize + present.as_ref().map_or(i, |rows| rows[i]);
        let weight = |i: usize| self.weights.and_then(|all| all.get(row(i))).copied().unwrap_or(1.0);
        match &present {
            Some(rows) => profile.absorb(&table.chosen(rows), &weight),
            None => profile.absorb(&table, &weight),
        }
    }
}

/// The columns of a table, and one more.
struct Wider<'a> {
    tables: &'a dyn TableSource,
    columns: Vec<ColumnInfo>,
}

impl TableSource for Wider<'_> {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    /// Without that column.
    fn open<'a>(&'a self, engine: &'a Engine) -> Result<Box<dyn TableReader + 'a>> {
        self.tables.open(engine)
    }

    fn format(&self, column: usize) -> CellFormat {
        let is_there = column < self.tables.columns().len();
        if is_there { self.tables.format(column) } else { CellFormat::from(self.columns[column].kind) }
    }
}

#[pymethods]
impl Frame {
    /// Reads what `__arrow_c_stream__` gives. `texts` are columns that stay texts, whatever their cells; what takes more than `most` bytes, a quarter of the
    /// memory where nothing is said of it, is kept in an unnamed file.
    #[staticmethod]
    #[pyo3(signature = (frame, *, texts, threads, most=None))]
    fn from_stream(
        py: Python<'_>,
        frame: &Bound<'_, PyAny>,
        texts: Vec<String>,
        threads: usize,
        most: Option<u64>,
    ) -> PyResult<Frame> {
        let stream = stream::open(frame)?;
        // A frame says what is a category: whole numbers too.
        let schema = stream::schema_of(&stream);
        let is_category = |field: &&std::sync::Arc<arrow_schema::Field>| {
            matches!(field.data_type(), DataType::Dictionary(..)) && !texts.contains(field.name())
        };
        let category = Known::Kind(ColumnKind::Category);
        let coded = schema.fields().iter().filter(is_category).map(|field| (field.name().clone(), category));
        let kinds = coded.collect();
        let options = Options { kinds, ..Options::default() }.with_texts(texts);
        let job = Job::new(threads, 0);
        let most = most.unwrap_or(job.engine().memory_limit() / 4);
        let kept = stream::kept(py, stream, most, options)?;
        let (rows, is_long) = (kept.rows() as usize, kept.is_spooled());
        let tables = job.run(py, |engine| {
            let source = kept.open()?;
            // What is read more than once is read from blocks, where they fit.
            let held = if is_long { None } else { MemoryTables::read(engine, source.as_ref(), most)? };
            Ok(held.map_or(source, |held| Box::new(held) as Box<dyn TableSource>))
        })?;
        Ok(Frame::of(tables, Some(rows), None, threads))
    }

    /// Columns of an array, NaN where cells are missing; without names they are called x0, x1, … Infinity is refused, unless the array was a data frame.
    #[staticmethod]
    #[pyo3(signature = (rows, names, *, is_frame, threads))]
    fn from_array(
        py: Python<'_>,
        rows: AnyTable<'_>,
        names: Option<Vec<String>>,
        is_frame: bool,
        threads: usize,
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
        Ok(Frame::of(Box::new(tables.map_err(to_python)?), Some(rows.count()), precision, threads))
    }

    fn __len__(&self) -> usize {
        self.rows.unwrap_or(0)
    }

    /// Names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.tables.columns().iter().map(|column| column.name.clone()).collect()
    }

    /// Rows, and columns that they are encoded to where none is left out.
    #[getter]
    fn shape(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        let columns = Job::new(self.threads, 0).run(py, |engine| self.all(engine, None))?;
        Ok((self.rows.unwrap_or(0), columns.count()))
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
        Job::new(self.threads, 0).run(py, |engine| self.spread(engine, weights))
    }

    /// The kernel of encoded rows, from one whose columns have names.
    fn placed(&self, py: Python<'_>, kernel: &str) -> PyResult<String> {
        let kernel = kernel_of(kernel, None)?;
        let found = Job::new(self.threads, 0).run(py, |engine| {
            let (profile, _) = self.profile(engine, Beside::default())?;
            Ok(self.inputs(Some(&kernel), &profile, &[], 0)?.kernel)
        })?;
        Ok(found.unwrap_or(kernel).to_string())
    }
}

impl Frame {
    /// Of a source.
    pub(crate) fn of(
        tables: Box<dyn TableSource>,
        rows: Option<usize>,
        precision: Option<Precision>,
        threads: usize,
    ) -> Frame {
        let (profile, unreadable) = (OnceLock::new(), OnceLock::new());
        Frame { tables, rows, precision, unit: "row", threads, profile, unreadable }
    }

    /// Of files, whose rows are counted as they are read.
    pub(crate) fn of_files(tables: Box<dyn TableSource>, threads: usize) -> Frame {
        Frame { unit: "line", ..Frame::of(tables, None, None, threads) }
    }

    /// For what is found out of it.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Reads a stream for a model: its columns as it reads them, wherever they stand; others are not looked at.
    pub(crate) fn read_for(
        py: Python<'_>,
        frame: &Bound<'_, PyAny>,
        columns: &Columns,
        threads: usize,
        most: Option<u64>,
    ) -> PyResult<Frame> {
        let stream = stream::open(frame)?;
        let schema = stream::schema_of(&stream);
        let names = || schema.fields().iter().map(|field| field.name());
        let number = Known::Kind(ColumnKind::Number);
        let kinds: Vec<(String, Known)> = match columns {
            Columns::Named { inputs } => {
                let format = |input: &Input| (input.name.clone(), Known::Format(input.encoding.format()));
                inputs.iter().map(format).collect()
            }
            Columns::Unnamed { count } => names().take(*count).map(|name| (name.clone(), number)).collect(),
            Columns::Sparse { .. } => Vec::new(),
        };
        let is_ignored = |name: &&String| kinds.iter().all(|(known, _)| known != *name);
        let ignored = names().filter(is_ignored).cloned().collect();
        let options = Options { kinds, ignored, infer: false, ..Options::default() };
        let job = Job::new(threads, 0);
        let most = most.unwrap_or(job.engine().memory_limit() / 4);
        let kept = stream::kept(py, stream, most, options)?;
        let rows = kept.rows() as usize;
        Ok(Frame::of(job.run(py, |_| kept.open())?, Some(rows), None, threads))
    }

    /// The blocks.
    pub(crate) fn tables(&self) -> &dyn TableSource {
        self.tables.as_ref()
    }

    /// The number of rows; none where they have not been counted.
    pub(crate) fn rows(&self) -> Option<usize> {
        self.rows
    }

    /// In which rows are learnt from: that of the array, and for data frames that of files.
    pub(crate) fn precision(&self) -> Precision {
        self.precision.unwrap_or_default()
    }

    /// What is known of the columns of the rows that are learnt from, and the name of the target's, which is the last where there is one.
    pub(crate) fn profile(
        &self,
        engine: &Engine,
        beside: Beside<'_>,
    ) -> Result<(TableProfile, Option<String>)> {
        let is_plain = beside.weights.is_none() && beside.missing() == 0 && !beside.encodes;
        if let Some(profile) = self.profile.get().filter(|_| is_plain) {
            return Ok((profile.clone(), None));
        }
        let (mut profile, name) = beside.profile(self.tables());
        let phase = "columns";
        engine.tell(&Event::Started { phase })?;
        let mut reader = self.tables.open(engine)?;
        while let Some(table) = reader.next(BLOCK)? {
            beside.absorb(table, &mut profile);
            engine.tell(&Event::Progress { phase, rows: profile.rows(), fraction: reader.fraction() })?;
        }
        engine.tell(&Event::Finished { phase })?;
        let _ = self.unreadable.set(reader.unreadable());
        // The columns of an array are told apart by their numbers.
        let profile = if self.precision.is_some() { profile.keeping_constants() } else { profile };
        if is_plain {
            let _ = self.profile.set(profile.clone());
        }
        Ok((profile, name))
    }

    /// What the columns, but for some, become for a kernel.
    pub(crate) fn inputs(
        &self,
        kernel: Option<&Kernel>,
        profile: &TableProfile,
        left_out: &[&str],
        seed: u64,
    ) -> Result<Inputs> {
        let identifiers = self.identifiers(kernel, left_out);
        let left_out: Vec<&str> =
            identifiers.iter().map(String::as_str).chain(left_out.iter().copied()).collect();
        inputs(kernel, profile, &left_out, &[], seed)
    }

    /// What all columns become, those that do not vary too.
    fn all(&self, engine: &Engine, weights: Option<&[f64]>) -> Result<Columns> {
        let (profile, _) = self.profile(engine, Beside { weights, ..Beside::default() })?;
        Ok(self.inputs(None, &profile.keeping_constants(), &[], 0)?.columns)
    }

    /// Columns that tell rows apart, of which nothing can be learnt.
    fn identifiers(&self, kernel: Option<&Kernel>, left_out: &[&str]) -> Vec<String> {
        let is_input = |info: &&ColumnInfo| !left_out.contains(&info.name.as_str());
        identifiers(self.tables(), kernel, self.tables.columns().iter().filter(is_input).count())
    }

    /// What should be known before anything is learnt from the columns, of which some are left out.
    pub(crate) fn remarks(
        &self,
        kernel: Option<&Kernel>,
        left_out: &[&str],
        inputs: &Inputs,
        profile: &TableProfile,
        beside: Beside<'_>,
    ) -> Vec<String> {
        let mut remarks: Vec<Remark> = self.tables.warnings().into_iter().map(Remark::Other).collect();
        let columns = self.identifiers(kernel, left_out);
        if !columns.is_empty() {
            remarks.push(Remark::Identifier { columns });
        }
        let is_left_out = |name: &str| inputs.columns.inputs().iter().all(|input| input.name != name);
        remarks.extend(Remark::of_counters(self.tables(), &is_left_out));
        let unreadable = self.unreadable.get().map_or(&[][..], Vec::as_slice);
        remarks.extend(Remark::of_cells(unreadable, self.tables.columns(), self.unit));
        if beside.targets.is_some() {
            remarks.extend(beside.remarks(inputs, profile));
        } else {
            remarks.extend(Remark::of_inputs(inputs, profile));
            remarks.extend(Remark::of_outliers(profile, &|name| !is_left_out(name)));
        }
        remarks.iter().map(remark::of_frame).collect()
    }

    /// Shows the blocks; says which cells could not be read.
    pub(crate) fn each_table(
        &self,
        engine: &Engine,
        mut see: impl FnMut(&Table) -> Result<()>,
    ) -> Result<()> {
        let mut reader = self.tables.open(engine)?;
        while let Some(table) = reader.next(BLOCK)? {
            see(&table)?;
        }
        let remarks = Remark::of_cells(&reader.unreadable(), self.tables.columns(), self.unit);
        remarks.iter().try_for_each(|remark| engine.tell(&Event::Warning { text: &remark.to_string() }))
    }

    /// Shows the encoded rows, block by block, and the number of the first row of each.
    pub(crate) fn each_block(
        &self,
        engine: &Engine,
        columns: &Columns,
        mut see: impl FnMut(&OwnedRows<f64>, usize) -> Result<()>,
    ) -> Result<()> {
        let positions = columns.positions(self.tables.columns())?;
        self.each_table(engine, |block| {
            see(&rows_of(engine, block, columns, &positions)?, block.first_row as usize)
        })
    }

    /// What is made of each block, so many columns, one below the other.
    pub(crate) fn stacked(
        &self,
        engine: &Engine,
        columns: usize,
        block: impl Fn(&Table, &[ColumnInfo]) -> Result<Matrix<f64>>,
    ) -> Result<Matrix<f64>> {
        let (mut entries, mut rows) = (Vec::new(), 0);
        self.each_table(engine, |table| {
            let found = block(table, self.tables.columns())?;
            rows += found.rows();
            entries.extend_from_slice(found.as_slice());
            Ok(())
        })?;
        Matrix::new(rows, columns, entries)
    }

    fn spread(&self, engine: &Engine, weights: Option<&[f64]>) -> Result<f64> {
        let columns = self.all(engine, weights)?.fit(engine, self.tables())?;
        let positions = columns.positions(self.tables.columns())?;
        let mut moments = Moments::zero(columns.count());
        let mut reader = self.tables.open(engine)?;
        while let Some(table) = reader.next(BLOCK)? {
            let rows = rows_of(engine, &table, &columns, &positions)?;
            let weight = |i: usize| weights.map_or(1.0, |weights| weights[table.first_row as usize + i]);
            moments.absorb(engine, &rows.view(), &weight);
        }
        // Of all entries: the mean of the columns' variances and the variance of their means.
        let (means, count) = (moments.mean(), columns.count() as f64);
        let mean = means.iter().sum::<f64>() / count;
        let squares = means.iter().zip(moments.deviation()).map(|(m, s)| s * s + (m - mean) * (m - mean));
        Ok(squares.sum::<f64>() / count)
    }
}

/// Columns of numbers; infinity is refused in an array, which has no room for remarks.
fn of_array<T: Scalar>(columns: Vec<ColumnInfo>, rows: &Rows<'_, T>, is_frame: bool) -> Result<MemoryTables> {
    let mut tables = MemoryTables::new(columns, Vec::new())?;
    for start in (0..rows.count()).step_by(BLOCK) {
        let table = block_of(rows, start);
        for (column, cells) in table.columns.iter().enumerate().filter(|_| !is_frame) {
            let Column::Number(cells) = cells else { continue };
            if let Some(i) = cells.iter().position(|x| x.is_infinite()) {
                let (row, value) = ((start + i) as u64, cells[i]);
                return Err(Error::NotFinite { what: "the rows", row, column, value });
            }
        }
        tables.push(table)?;
    }
    Ok(tables)
}

/// Rows from one on as a block of a table.
fn block_of<T: Scalar>(rows: &Rows<'_, T>, start: usize) -> Table {
    let block = rows.slice(start..rows.count().min(start + BLOCK));
    let mut cells = vec![Vec::with_capacity(block.count()); block.columns()];
    let mut dense = vec![T::default(); block.columns()];
    for i in 0..block.count() {
        block.densify(i, &mut dense);
        cells.iter_mut().zip(&dense).for_each(|(cells, x)| cells.push(x.to_f64()));
    }
    let columns = cells.into_iter().map(Column::Number).collect();
    Table { rows: block.count(), columns, first_row: start as u64 }
}

/// What should be known before anything is learnt from a frame of numbers alone.
pub(crate) fn remarks_of_array(
    engine: &Engine,
    rows: &AnyRows<'_>,
    names: &[String],
    beside: Beside<'_>,
) -> Result<Vec<String>> {
    let info = |name: &String| ColumnInfo { name: name.clone(), kind: ColumnKind::Number };
    let (mut profile, _) = beside.profile(&MemoryTables::new(names.iter().map(info).collect(), Vec::new())?);
    for start in (0..rows.count()).step_by(BLOCK) {
        let table = match rows {
            AnyRows::F32(rows) => block_of(rows, start),
            AnyRows::F64(rows) => block_of(rows, start),
        };
        beside.absorb(table, &mut profile);
        engine.tell(&Event::Progress { phase: "columns", rows: profile.rows(), fraction: None })?;
    }
    let inputs = Inputs { columns: Columns::numbers(names), kernel: None, constant: Vec::new() };
    Ok(beside.remarks(&inputs, &profile).iter().map(remark::of_frame).collect())
}

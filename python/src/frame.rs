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
    Columns, Input, Inputs, Precision, Remark, TableProfile, identifiers, inputs, rows_of,
};
use bochner::stat::Moments;
use bochner::sweep::BLOCK;
use bochner::table::{Column, ColumnInfo, ColumnKind, MemoryTables, Table, TableSource};
use bochner::{AnyRows, Engine, Error, Event, Kernel, Matrix, MatrixView, OwnedRows, Result, Rows, Scalar};
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
    /// Of rows that count alike.
    profile: OnceLock<TableProfile>,
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
    /// Whether categories of many levels are encoded by the targets.
    pub(crate) encodes: bool,
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
        Ok(Frame::of(tables, Some(rows), None))
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
        Ok(Frame::of(Box::new(tables.map_err(to_python)?), Some(rows.count()), precision))
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
        let columns = Job::new(0, 0).run(py, |engine| self.all(engine))?;
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
        Job::new(1, 0).run(py, |engine| self.spread(engine, weights))
    }

    /// The kernel of encoded rows, from one whose columns have names.
    fn placed(&self, py: Python<'_>, kernel: &str) -> PyResult<String> {
        let kernel = kernel_of(kernel, None)?;
        let found = Job::new(0, 0).run(py, |engine| {
            let profile = self.profile(engine, Beside::default())?;
            Ok(self.inputs(Some(&kernel), &profile, 0)?.kernel)
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
    ) -> Frame {
        Frame { tables, rows, precision, unit: "row", profile: OnceLock::new() }
    }

    /// Of files, whose rows are counted as they are read.
    pub(crate) fn of_files(tables: Box<dyn TableSource>) -> Frame {
        Frame { unit: "line", ..Frame::of(tables, None, None) }
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
        Ok(Frame::of(job.run(py, |_| kept.open())?, Some(rows), None))
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

    /// What is known of the columns of the rows that are learnt from.
    pub(crate) fn profile(&self, engine: &Engine, beside: Beside<'_>) -> Result<TableProfile> {
        let is_plain = beside.weights.is_none() && beside.missing() == 0;
        let known = self.profile.get().filter(|_| is_plain).cloned();
        let profile = match known {
            Some(profile) => profile,
            None => self.read_profile(engine, beside)?,
        };
        if is_plain {
            let _ = self.profile.set(profile.clone());
        }
        Ok(if beside.encodes { profile.with_target_beside() } else { profile })
    }

    fn read_profile(&self, engine: &Engine, beside: Beside<'_>) -> Result<TableProfile> {
        let mut profile = TableProfile::of(self.tables());
        let phase = "columns";
        engine.tell(&Event::Started { phase })?;
        let mut reader = self.tables.open(engine)?;
        while let Some(table) = reader.next(BLOCK)? {
            let present = beside.present(&table);
            let row = |i: usize| table.first_row as usize + present.as_ref().map_or(i, |rows| rows[i]);
            let weight = |i: usize| beside.weights.and_then(|all| all.get(row(i))).copied().unwrap_or(1.0);
            match &present {
                Some(rows) => profile.absorb(&table.chosen(rows), &weight),
                None => profile.absorb(&table, &weight),
            }
            engine.tell(&Event::Progress { phase, rows: profile.rows(), fraction: reader.fraction() })?;
        }
        engine.tell(&Event::Finished { phase })?;
        // The columns of an array are told apart by their numbers.
        Ok(if self.precision.is_some() { profile.keeping_constants() } else { profile })
    }

    /// What the columns become for a kernel.
    pub(crate) fn inputs(
        &self,
        kernel: Option<&Kernel>,
        profile: &TableProfile,
        seed: u64,
    ) -> Result<Inputs> {
        let left_out = self.identifiers(kernel);
        let left_out: Vec<&str> = left_out.iter().map(String::as_str).collect();
        inputs(kernel, profile, &left_out, &[], seed)
    }

    /// What all columns become, those that do not vary too.
    fn all(&self, engine: &Engine) -> Result<Columns> {
        let profile = self.profile(engine, Beside::default())?.keeping_constants();
        Ok(self.inputs(None, &profile, 0)?.columns)
    }

    /// Columns of texts that tell rows apart, of which nothing can be learnt, unless the kernel names what it looks at or there is nothing else.
    fn identifiers(&self, kernel: Option<&Kernel>) -> Vec<String> {
        if kernel.and_then(Kernel::names_only).is_some_and(|names| !names.is_empty()) {
            return Vec::new();
        }
        let names = identifiers(self.tables());
        if names.len() < self.tables.columns().len() { names } else { Vec::new() }
    }

    /// What should be known before anything is learnt from the columns.
    pub(crate) fn remarks(
        &self,
        kernel: Option<&Kernel>,
        inputs: &Inputs,
        profile: &TableProfile,
        target: &str,
        beside: Beside<'_>,
    ) -> Vec<String> {
        let mut remarks: Vec<Remark> = self.tables.warnings().into_iter().map(Remark::Other).collect();
        let columns = self.identifiers(kernel);
        if !columns.is_empty() {
            remarks.push(Remark::Identifier { columns });
        }
        let is_left_out = |name: &str| inputs.columns.inputs().iter().all(|input| input.name != name);
        remarks.extend(Remark::of_columns(self.tables(), &is_left_out, self.unit));
        let rows = beside.missing();
        if rows > 0 {
            remarks.push(Remark::NoTarget { target: target.to_owned(), rows });
        }
        remarks.extend(Remark::of_inputs(inputs, profile));
        remarks.extend(Remark::of_outliers(profile, &|name| !is_left_out(name)));
        remarks.iter().map(remark::of_frame).collect()
    }

    /// Shows the blocks; says which cells could not be read.
    fn each_table(&self, engine: &Engine, mut see: impl FnMut(&Table) -> Result<()>) -> Result<()> {
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

    /// What is made of each block, one below the other.
    pub(crate) fn stacked(
        &self,
        engine: &Engine,
        block: impl Fn(&Table, &[ColumnInfo]) -> Result<Matrix<f64>>,
    ) -> Result<Matrix<f64>> {
        let (mut entries, mut rows, mut columns) = (Vec::new(), 0, 0);
        self.each_table(engine, |table| {
            let found = block(table, self.tables.columns())?;
            (rows, columns) = (rows + found.rows(), found.columns());
            entries.extend_from_slice(found.as_slice());
            Ok(())
        })?;
        Matrix::new(rows, columns, entries)
    }

    fn spread(&self, engine: &Engine, weights: Option<&[f64]>) -> Result<f64> {
        let columns = self.all(engine)?.fit(engine, self.tables())?;
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
    let mut tables = MemoryTables::new(columns, Vec::new())?;
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

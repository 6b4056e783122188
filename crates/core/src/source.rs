//! Where rows come from: anything that can be read in batches, more than once.

use crate::encode::Labels;
use crate::matrix::with_rows;
use crate::{AnyRows, Engine, Error, Matrix, MatrixView, Result, Rows, Scalar};

/// What is to be predicted.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Numbers: `outputs` columns of targets.
    Numbers {
        /// The number of columns.
        outputs: usize,
    },
    /// Classes: one column of targets that holds positions in `labels`.
    Classes {
        /// What the classes are called.
        labels: Labels,
    },
}

impl Target {
    /// Columns of numbers that the target is coded as: its own, one for two classes, one each for more.
    pub fn outputs(&self) -> usize {
        match self {
            Target::Numbers { outputs } => *outputs,
            Target::Classes { labels } if labels.len() == 2 => 1,
            Target::Classes { labels } => labels.len(),
        }
    }

    /// The targets of a batch as numbers: themselves, ±1 for two classes, 0/1 columns for more.
    pub(crate) fn coded(&self, batch: &Batch<'_>) -> Matrix<f64> {
        let columns = self.outputs();
        let class = |i: usize| batch.targets.row(i)[0] as usize;
        Matrix::from_fn(batch.targets.rows(), columns, |i, o| match self {
            Target::Numbers { .. } => batch.targets.row(i)[o],
            Target::Classes { .. } if columns == 1 => 2.0 * f64::from(u8::from(class(i) == 1)) - 1.0,
            Target::Classes { .. } => f64::from(u8::from(class(i) == o)),
        })
    }
}

/// Some consecutive rows.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The rows, all finite.
    pub rows: AnyRows<'a>,
    /// The same rows as they were before any scaling: choices depend on these, because a scaling depends on the order of rows in its
    /// last bits.
    pub content: AnyRows<'a>,
    /// What identifies the content of each row, where that is not the row itself: of a table, a hash of its cells.
    pub keys: Option<&'a [u64]>,
    /// The group of each row, where rows have groups: those of one group are in one fold.
    pub groups: Option<&'a [u64]>,
    /// One row of targets a row, all finite.
    pub targets: MatrixView<'a, f64>,
    /// One weight a row, finite and not negative; none means all one.
    pub weights: Option<&'a [f64]>,
    /// The number of the first row, from 0.
    pub first_row: u64,
}

impl<'a> Batch<'a> {
    /// Rows as they are, all of weight one.
    pub fn new(rows: AnyRows<'a>, targets: MatrixView<'a, f64>, first_row: u64) -> Self {
        Batch { rows, content: rows, keys: None, groups: None, targets, weights: None, first_row }
    }

    /// The weight of row i.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[i])
    }
}

/// Rows with targets that can be read from the start as often as needed.
pub trait Source: Sync {
    /// Columns of the rows.
    fn input_dim(&self) -> usize;

    /// Columns of the rows before any scaling: fewer where a metric has added some.
    fn content_dim(&self) -> usize {
        self.input_dim()
    }

    /// What is to be predicted.
    fn target(&self) -> &Target;

    /// Columns that may be brought to a common scale, from the first on: all but those that texts were hashed to.
    fn scaled_columns(&self) -> usize {
        self.input_dim()
    }

    /// The number of rows, where it is known beforehand.
    fn row_count(&self) -> Option<u64>;

    /// Bytes of an entry: 4 or 8.
    fn scalar_bytes(&self) -> usize;

    /// The number of entries that are stored, where rows are sparse and it is known beforehand.
    fn stored_entries(&self) -> Option<u64> {
        None
    }

    /// Whether zeros are not stored; a source that does not know its entries beforehand may know this.
    fn is_sparse(&self) -> bool {
        self.stored_entries().is_some()
    }

    /// Starts reading from the first row.
    fn open(&self) -> Result<Box<dyn Batches + '_>>;
}

/// Entries of a row that are stored, on average.
pub(crate) fn entries_of_a_row(source: &dyn Source) -> u64 {
    match (source.stored_entries(), source.row_count()) {
        (Some(stored), Some(rows)) if rows > 0 => stored / rows + 1,
        _ => source.input_dim() as u64,
    }
}

/// Reads a source batch by batch.
pub trait Batches {
    /// The next `most` rows; fewer only at the end; none after it. The sweep checks what is handed over.
    fn next(&mut self, most: usize) -> Result<Option<Batch<'_>>>;

    /// How much has been read, from 0 to 1, where that is known.
    fn fraction(&self) -> Option<f64>;
}

/// The shape of a source without its rows: for plans.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The number of rows.
    pub rows: u64,
    /// Their columns.
    pub inputs: usize,
    /// Entries that are stored, where rows are sparse.
    pub entries: Option<u64>,
    /// Bytes of an entry: 4 or 8.
    pub scalar_bytes: usize,
    /// What is to be predicted.
    pub target: Target,
}

impl Source for Shape {
    fn input_dim(&self) -> usize {
        self.inputs
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn row_count(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn scalar_bytes(&self) -> usize {
        self.scalar_bytes
    }

    fn stored_entries(&self) -> Option<u64> {
        self.entries
    }

    /// There is nothing to read.
    fn open(&self) -> Result<Box<dyn Batches + '_>> {
        Err(Error::NoRows)
    }
}

/// Rows, targets and weights in memory.
#[derive(Clone, Debug)]
pub struct Arrays<'a> {
    rows: AnyRows<'a>,
    targets: MatrixView<'a, f64>,
    weights: Option<&'a [f64]>,
    target: Target,
}

impl<'a> Arrays<'a> {
    /// Checks lengths; values are checked as they are read.
    ///
    /// For classes, `targets` is one column of positions in the labels.
    pub fn new(
        rows: impl Into<AnyRows<'a>>,
        targets: MatrixView<'a, f64>,
        weights: Option<&'a [f64]>,
        target: Target,
    ) -> Result<Self> {
        Arrays::of(rows.into(), targets, weights, target)
    }

    fn of(
        rows: AnyRows<'a>,
        targets: MatrixView<'a, f64>,
        weights: Option<&'a [f64]>,
        target: Target,
    ) -> Result<Self> {
        let outputs = match &target {
            Target::Numbers { outputs } => *outputs,
            Target::Classes { .. } => 1,
        };
        let lengths = [
            ("rows of targets", rows.count(), targets.rows()),
            ("columns of targets", outputs, targets.columns()),
            ("weights", rows.count(), weights.map_or(rows.count(), <[f64]>::len)),
        ];
        for (what, expected, found) in lengths {
            if expected != found {
                return Err(Error::Length { what, expected, found });
            }
        }
        Ok(Arrays { rows, targets, weights, target })
    }
}

impl Source for Arrays<'_> {
    fn input_dim(&self) -> usize {
        self.rows.columns()
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn row_count(&self) -> Option<u64> {
        Some(self.rows.count() as u64)
    }

    fn scalar_bytes(&self) -> usize {
        match self.rows {
            AnyRows::F32(_) => 4,
            AnyRows::F64(_) => 8,
        }
    }

    fn stored_entries(&self) -> Option<u64> {
        with_rows!(self.rows, rows => match rows {
            Rows::Sparse(rows) => Some((rows.starts()[rows.rows()] - rows.starts()[0]) as u64),
            Rows::Dense(_) => None,
        })
    }

    fn open(&self) -> Result<Box<dyn Batches + '_>> {
        Ok(Box::new(ArrayBatches { arrays: self.clone(), at: 0 }))
    }
}

struct ArrayBatches<'a> {
    arrays: Arrays<'a>,
    at: usize,
}

impl Batches for ArrayBatches<'_> {
    fn next(&mut self, most: usize) -> Result<Option<Batch<'_>>> {
        let Arrays { rows, targets, weights, .. } = &self.arrays;
        let range = self.at..rows.count().min(self.at + most);
        if range.is_empty() {
            return Ok(None);
        }
        self.at = range.end;
        let batch = Batch::new(rows.slice(range.clone()), targets.slice(range.clone()), range.start as u64);
        Ok(Some(Batch { weights: weights.map(|weights| &weights[range]), ..batch }))
    }

    fn fraction(&self) -> Option<f64> {
        Some(self.at as f64 / self.arrays.rows.count().max(1) as f64)
    }
}

/// As [`Rows::check_finite`], shared by the threads.
fn check_finite<T: Scalar>(engine: &Engine, rows: &Rows<'_, T>, first_row: u64) -> Result<()> {
    /// Rows looked at by one thread.
    const PIECE: usize = 512;
    let piece = |p: usize| {
        let start = p * PIECE;
        rows.slice(start..rows.count().min(start + PIECE)).check_finite(first_row + start as u64)
    };
    engine.map(rows.count().div_ceil(PIECE), &piece).into_iter().collect()
}

/// Refuses shapes that differ from what the source said, what is not finite, weights below zero and classes that do not exist.
pub(crate) fn check(engine: &Engine, batch: &Batch<'_>, source: &dyn Source) -> Result<()> {
    let count = batch.rows.count();
    let widths =
        [(source.input_dim(), batch.rows.columns()), (source.content_dim(), batch.content.columns())];
    if let Some(&(expected, found)) = widths.iter().find(|(expected, found)| expected != found) {
        return Err(Error::ColumnCount { expected, found });
    }
    let columns = if let Target::Numbers { outputs } = source.target() { *outputs } else { 1 };
    let lengths = [
        ("rows of targets", count, batch.targets.rows()),
        ("columns of targets", columns, batch.targets.columns()),
        ("weights", count, batch.weights.map_or(count, <[f64]>::len)),
        ("rows before scaling", count, batch.content.count()),
        ("keys", count, batch.keys.map_or(count, <[u64]>::len)),
        ("groups", count, batch.groups.map_or(count, <[u64]>::len)),
    ];
    if let Some(&(what, expected, found)) = lengths.iter().find(|(_, expected, found)| expected != found) {
        return Err(Error::Length { what, expected, found });
    }
    with_rows!(batch.content, rows => check_finite(engine, &rows, batch.first_row))?;
    if !batch.rows.is_same(&batch.content) {
        with_rows!(batch.rows, rows => check_finite(engine, &rows, batch.first_row))?;
    }
    for i in 0..batch.targets.rows() {
        let row = batch.first_row + i as u64;
        if let Some(column) = batch.targets.row(i).iter().position(|y| !y.is_finite()) {
            return Err(Error::NotFinite {
                what: "the targets",
                row,
                column,
                value: batch.targets.row(i)[column],
            });
        }
        if let Target::Classes { labels } = source.target() {
            let class = batch.targets.row(i)[0];
            if class.fract() != 0.0 || class < 0.0 || class >= labels.len() as f64 {
                return Err(Error::ClassCode { found: class, row, classes: labels.len() });
            }
        }
        let weight = batch.weight(i);
        if !weight.is_finite() {
            return Err(Error::NotFinite { what: "the weights", row, column: 0, value: weight });
        }
        if weight < 0.0 {
            return Err(Error::NegativeWeight { row, value: weight });
        }
    }
    Ok(())
}

/// One column of targets beside dense rows: the shortest way to a source.
impl<T: Scalar> Source for (&Matrix<T>, &Vec<f64>)
where
    for<'a> AnyRows<'a>: From<Rows<'a, T>>,
{
    fn input_dim(&self) -> usize {
        self.0.columns()
    }

    fn target(&self) -> &Target {
        &Target::Numbers { outputs: 1 }
    }

    fn row_count(&self) -> Option<u64> {
        Some(self.0.rows() as u64)
    }

    fn scalar_bytes(&self) -> usize {
        size_of::<T>()
    }

    fn open(&self) -> Result<Box<dyn Batches + '_>> {
        let targets = MatrixView::new(self.1, self.1.len(), 1)?;
        let arrays = Arrays::new(Rows::from(self.0), targets, None, self.target().clone())?;
        Ok(Box::new(ArrayBatches { arrays, at: 0 }))
    }
}

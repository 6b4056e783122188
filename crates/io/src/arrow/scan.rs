//! What the columns are whose types do not say it, found in a pass over them.
//!
//! Texts are looked at as the cells of a CSV file are. Of integers it is looked at whether they count the rows, until it is clear that they do not, and how many are
//! beyond 2⁵³.

use arrow_array::Array;
use arrow_schema::DataType;
use bochner::table::infer::{Inferred, KindScan};

use super::field::Found;
use super::values::{Keys, append_numbers, beyond_exact, text_bytes};
use super::{Batches, Spelled, spell};
use crate::error::{Result, shortened};
use crate::options::Known;

/// The cells of some columns that are texts.
pub(super) fn texts(batches: &impl Batches, columns: &[usize]) -> Result<Vec<KindScan>> {
    let mut scans = vec![KindScan::with_budget(columns.len()); columns.len()];
    pass(batches, columns, |k, array| {
        absorb(&mut scans[k], array);
        true
    })?;
    Ok(scans)
}

/// What the columns are that are texts or integers, as far as it is not known; adds what was noticed.
pub(super) fn infer(
    batches: &impl Batches,
    names: &[String],
    known: &[Option<Known>],
    found: &[Found],
    warnings: &mut Vec<String>,
) -> Result<Vec<Option<Inferred>>> {
    let mut inferred = vec![None; found.len()];
    let columns =
        |wanted: Found| -> Vec<usize> { (0..found.len()).filter(|&j| found[j] == wanted).collect() };
    let columns_of_text = columns(Found::Text);
    for (j, scan) in columns_of_text.iter().zip(texts(batches, &columns_of_text)?) {
        inferred[*j] = Some(match known[*j] {
            Some(Known::Kind(kind)) => scan.decide_as(kind),
            _ => scan.decide(),
        });
    }
    let integers = columns(Found::Integer);
    let rows = batches.rows();
    let is_known = |j: usize| {
        let is_long = matches!(batches.schema().field(j).data_type(), DataType::Int64 | DataType::UInt64);
        !is_long || batches.is_small(j)
    };
    let mut scans: Vec<Integers> = integers.iter().map(|&j| Integers::new(rows, is_known(j))).collect();
    pass(batches, &integers, |k, array| scans[k].absorb(array))?;
    for (&j, scan) in integers.iter().zip(&scans) {
        if scan.beyond > 0 {
            let (name, are) =
                (shortened(&names[j]), if scan.beyond == 1 { "integer is" } else { "integers are" });
            let count = scan.beyond;
            warnings.push(format!(
                "column \"{name}\": {count} {are} beyond 2^53 and rounded to the nearest number (a category keeps all digits)"
            ));
        }
        inferred[j] = scan.cells.as_ref().map(KindScan::decide);
    }
    Ok(inferred)
}

/// Reads the cells of an array; a level of a dictionary once, however often it is there.
fn absorb(scan: &mut KindScan, array: &dyn Array) {
    let DataType::Dictionary(..) = array.data_type() else {
        spell::each(array, &mut |cell| scan.absorb(cell.unwrap_or(""), scan.rows() + 1));
        return;
    };
    let keys = Keys::of(array);
    // Of each level, how often it is there, and in which row first.
    let mut found = vec![(0, 0); keys.values.len()];
    for (key, line) in keys.iter().zip(scan.rows() + 1..) {
        match key {
            None => scan.absorb_missing(1),
            Some(key) => {
                let (count, first) = found[key];
                found[key] = (count + 1, if count == 0 { line } else { first });
            }
        }
    }
    let mut found = found.into_iter();
    spell::each(&keys.values, &mut |level| {
        if let Some((count @ 1.., line)) = found.next() {
            scan.absorb_times(level.unwrap_or(""), line, count);
        }
    });
}

/// Shows the arrays of some columns, until none of them wants more.
fn pass(
    batches: &impl Batches,
    columns: &[usize],
    mut see: impl FnMut(usize, &dyn Array) -> bool,
) -> Result<()> {
    if columns.is_empty() {
        return Ok(());
    }
    let mut reader = batches.open(columns)?;
    let mut wanted = vec![true; columns.len()];
    let mut spelled = Spelled::of(batches);
    while wanted.contains(&true)
        && let Some(batch) = reader.next()?
    {
        spelled.start_block();
        for ((k, array), wanted) in batch.columns().iter().enumerate().zip(&mut wanted) {
            if !matches!(array.data_type(), DataType::Dictionary(..)) {
                spelled.add(text_bytes(array))?;
            }
            *wanted = *wanted && see(k, array.as_ref());
        }
    }
    Ok(())
}

/// A column of integers.
struct Integers {
    /// None once it is clear that they do not count the rows.
    cells: Option<KindScan>,
    /// The smallest and the largest.
    range: [f64; 2],
    /// Rows of the file.
    rows: Option<u64>,
    /// Beyond 2⁵³.
    beyond: u64,
    /// Whether it is known that none is.
    is_small: bool,
}

impl Integers {
    fn new(rows: Option<u64>, is_small: bool) -> Self {
        let range = [f64::INFINITY, f64::NEG_INFINITY];
        Integers { cells: Some(KindScan::default()), range, rows, beyond: 0, is_small }
    }

    /// Reads some; false if no more need to be read.
    fn absorb(&mut self, array: &dyn Array) -> bool {
        if let Some(scan) = &mut self.cells {
            absorb(scan, array);
            let mut values = Vec::with_capacity(array.len());
            append_numbers(array, &mut values);
            let [least, most] = &mut self.range;
            for x in values.into_iter().filter(|x| !x.is_nan()) {
                (*least, *most) = (least.min(x), most.max(x));
            }
            /// Cells to judge from, and the share that has to differ.
            const ENOUGH: (u64, f64) = (1000, 0.9);
            let repeats = scan.rows() > ENOUGH.0 && scan.distinct() < ENOUGH.1 * scan.rows() as f64;
            let has_gaps = self.rows.is_some_and(|rows| self.range[1] - self.range[0] >= rows as f64);
            if repeats || has_gaps {
                self.cells = None;
            }
        }
        if !self.is_small {
            self.beyond += beyond_exact(array);
        }
        self.cells.is_some() || !self.is_small
    }
}

//! Rows for which a kernel has a value.
//!
//! χ² and intersection need entries that are not negative; 1/‖x‖ needs a row that is not zero; a normalised kernel needs K(x, x) > 0.

use super::{Column, Kernel, columns};
use crate::matrix::with_rows;
use crate::source::Source;
use crate::sweep::sweep;
use crate::{AnyRows, Engine, Error, Result, Rows, Scalar};

/// One pass that looks at all rows and gives the first that is wrong; `check` is told the number of the first row of a batch.
pub(crate) fn check_batches(
    engine: &Engine,
    source: &dyn Source,
    check: impl Fn(AnyRows<'_>, u64) -> Result<()> + Sync + Send,
) -> Result<()> {
    let mut wrong = None;
    sweep(
        engine,
        source,
        "domain",
        || (),
        |(), batch| {
            if wrong.is_none() {
                wrong = check(batch.rows, batch.first_row).err();
            }
        },
    )?;
    wrong.map_or(Ok(()), Err)
}

impl Kernel {
    /// Whether there are rows of finite numbers for which it has no value.
    pub(crate) fn has_domain(&self) -> bool {
        match self {
            Kernel::Chi2
            | Kernel::ExponentialChi2 { .. }
            | Kernel::Intersection
            | Kernel::Weighted { .. } => true,
            // exp K is above zero, and normalised by its exponents.
            Kernel::Normalised { kernel } if matches!(**kernel, Kernel::Exp { .. }) => kernel.has_domain(),
            Kernel::Normalised { kernel } => kernel.has_domain() || kernel.constant_diagonal().is_none(),
            _ => self.parts().iter().any(Kernel::has_domain),
        }
    }

    /// The kernel is one for the source's columns and has a value for every row: one pass where there are rows it could have none for, so that whatever works on a sample need not ask.
    pub(crate) fn check_source(&self, engine: &Engine, source: &dyn Source) -> Result<()> {
        self.check(source.input_dim())?;
        if !self.has_domain() {
            return Ok(());
        }
        check_batches(engine, source, |rows, first| with_rows!(rows, rows => self.check_rows(&rows, first)))
    }

    /// The kernel has a value for every row; the number of the first is `first_row`.
    pub(crate) fn check_rows<T: Scalar>(&self, rows: &Rows<'_, T>, first_row: u64) -> Result<()> {
        if !self.has_domain() {
            return Ok(());
        }
        match self {
            Kernel::Restricted { columns, kernel } => kernel.check_signs(rows, Some(columns), first_row),
            Kernel::Weighted { function, kernel } => {
                kernel.check_rows(rows, first_row)?;
                let none = |i: &usize| !function.eval(rows, *i).is_finite();
                let no_value = || format!("a finite value of {function}");
                (0..rows.count())
                    .find(none)
                    .map_or(Ok(()), |i| self.outside(no_value(), first_row, i, function.eval(rows, i)))
            }
            Kernel::Normalised { kernel } if matches!(**kernel, Kernel::Exp { .. }) => {
                kernel.check_rows(rows, first_row)
            }
            Kernel::Normalised { kernel } => {
                kernel.check_rows(rows, first_row)?;
                let none = |i: &usize| {
                    let value = kernel.eval(rows, *i, rows, *i);
                    !(value > 0.0 && value.is_finite())
                };
                let found = (0..rows.count()).find(none);
                found.map_or(Ok(()), |i| {
                    self.outside(
                        format!("a finite {kernel} above 0 of a row with itself"),
                        first_row,
                        i,
                        kernel.eval(rows, i, rows, i),
                    )
                })
            }
            leaf if leaf.parts().is_empty() => leaf.check_signs(rows, None, first_row),
            node => node.parts().iter().try_for_each(|kernel| kernel.check_rows(rows, first_row)),
        }
    }

    /// No entry of the columns is negative.
    fn check_signs<T: Scalar>(
        &self,
        rows: &Rows<'_, T>,
        chosen: Option<&[Column]>,
        first_row: u64,
    ) -> Result<()> {
        for i in 0..rows.count() {
            let negative = match chosen {
                None => rows.entries(i).map(|(_, x)| x.to_f64()).find(|x| *x < 0.0),
                Some(chosen) => match (columns::wide(chosen), rows) {
                    (Some(range), Rows::Sparse(rows)) => {
                        rows.row_within(i, range).1.iter().map(|x| x.to_f64()).find(|x| *x < 0.0)
                    }
                    _ => columns::numbers(chosen).map(|column| rows.entry(i, column)).find(|x| *x < 0.0),
                },
            };
            if let Some(value) = negative {
                return self.outside("entries that are not negative".to_owned(), first_row, i, value);
            }
        }
        Ok(())
    }

    fn outside(&self, expected: String, first_row: u64, i: usize, value: f64) -> Result<()> {
        Err(Error::OutsideDomain { kernel: self.to_string(), expected, row: first_row + i as u64, value })
    }
}

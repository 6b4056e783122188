//! Rows that a map has features for.
//!
//! Those that its kernel has a value for; and, for products of columns, those with few enough of them. A row of r entries has C(r, 1) + … + C(r, p) products, which the kernel's value need not form, but
//! its features must: 60 entries have half a million products of four, and of sixty 10¹⁸.

use super::{Combinations, MapSpec, Method};
use crate::kernel::check_batches;
use crate::matrix::with_rows;
use crate::source::Source;
use crate::{Engine, Error, Kernel, Result, Rows, Scalar};

/// Products of one row: a second of work.
const MOST_PRODUCTS: usize = 20_000_000;

impl MapSpec {
    /// Whether there are rows of finite numbers that it has no features for.
    pub(crate) fn has_domain(&self) -> bool {
        self.kernel.has_domain() || (self.forms_products() && has_products(&self.kernel))
    }

    fn forms_products(&self) -> bool {
        matches!(self.method, Method::Exact | Method::Compiled { .. })
    }

    /// The map has features for every row; the number of the first is `first_row`.
    pub(crate) fn check_rows<T: Scalar>(&self, rows: &Rows<'_, T>, first_row: u64) -> Result<()> {
        self.kernel.check_rows(rows, first_row)?;
        if self.forms_products() && has_products(&self.kernel) {
            return check_products(&self.kernel, rows, first_row);
        }
        Ok(())
    }

    /// The map is one for the source's columns and has features for every row: one pass where there are rows it could have none for, so that whatever works on a sample need not ask.
    pub(crate) fn check_source(&self, engine: &Engine, source: &dyn Source) -> Result<()> {
        self.kernel.check(source.input_dim())?;
        if !self.has_domain() {
            return Ok(());
        }
        check_batches(engine, source, |rows, first| with_rows!(rows, rows => self.check_rows(&rows, first)))
    }
}

fn has_products(kernel: &Kernel) -> bool {
    Combinations::of(kernel.bare()).is_some() || kernel.parts().iter().any(has_products)
}

fn check_products<T: Scalar>(kernel: &Kernel, rows: &Rows<'_, T>, first_row: u64) -> Result<()> {
    let Some((degree, repeated)) = Combinations::of(kernel.bare()) else {
        return kernel.parts().iter().try_for_each(|part| check_products(part, rows, first_row));
    };
    let chosen = match kernel {
        Kernel::Restricted { columns, .. } => {
            Some(rows.chosen(&crate::kernel::columns_of(columns).collect::<Vec<_>>()))
        }
        _ => None,
    };
    let rows = chosen.as_ref().map_or(*rows, |chosen| chosen.view());
    for i in 0..rows.count() {
        let entries = rows.entries(i).filter(|(_, x)| *x != T::default()).count();
        let products = Combinations::count(entries, degree, repeated);
        if products > MOST_PRODUCTS {
            return Err(Error::OutsideDomain {
                kernel: format!("features of {kernel}"),
                expected: format!(
                    "at most {MOST_PRODUCTS} products of a row's entries; lower the degree or use landmarks"
                ),
                row: first_row + i as u64,
                value: products as f64,
            });
        }
    }
    Ok(())
}

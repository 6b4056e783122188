//! Columns → rows: which columns, in which order, how scaled; fitted to data and kept in the model.

mod labels;
mod scaled;
mod scaling;
mod tables;

pub use labels::{LabelIndex, LabelKind, Labels, TargetScan, Task};
pub use scaled::Scaled;
pub use scaling::Scaling;
pub use tables::{TableRows, rows_of};

use crate::table::{ColumnInfo, ColumnKind, position};
use crate::{Error, Result};

/// The precision of rows and features. Sums and coefficients are double in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// f32: half the memory, twice the speed; features good to seven digits.
    #[default]
    Single,
    /// f64.
    Double,
}

impl Precision {
    /// Bytes of a number.
    pub fn bytes(self) -> usize {
        match self {
            Precision::Single => 4,
            Precision::Double => 8,
        }
    }
}

/// Which columns of a table are the inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Columns {
    /// Arrays: columns have no names.
    Unnamed {
        /// How many.
        count: usize,
    },
    /// These columns of numbers, in this order.
    Named {
        /// Their names.
        names: Vec<String>,
    },
    /// One sparse column.
    Sparse {
        /// Its name.
        name: String,
        /// The number of columns inside.
        width: usize,
    },
}

impl Columns {
    /// All columns of a table but some.
    pub fn all_but(columns: &[ColumnInfo], left_out: &[&str]) -> Result<Columns> {
        let inputs = || columns.iter().filter(|column| !left_out.contains(&column.name.as_str()));
        if let Some(ColumnInfo { name, kind: ColumnKind::Sparse { width } }) =
            inputs().find(|column| matches!(column.kind, ColumnKind::Sparse { .. }))
        {
            return Ok(Columns::Sparse { name: name.clone(), width: *width });
        }
        let names: Vec<String> = inputs().map(|column| column.name.clone()).collect();
        if names.is_empty() { Err(Error::NoColumns) } else { Ok(Columns::Named { names }) }
    }

    /// Columns of the rows, d.
    pub fn count(&self) -> usize {
        match self {
            Columns::Unnamed { count } => *count,
            Columns::Named { names } => names.len(),
            Columns::Sparse { width, .. } => *width,
        }
    }

    /// Where they stand in a table, by name; without names, its sparse column or the first ones.
    pub fn positions(&self, columns: &[ColumnInfo]) -> Result<Vec<usize>> {
        let sparse = || columns.iter().position(|column| matches!(column.kind, ColumnKind::Sparse { .. }));
        match self {
            Columns::Unnamed { .. } if sparse().is_some() => Ok(sparse().into_iter().collect()),
            Columns::Unnamed { count } if *count <= columns.len() => Ok((0..*count).collect()),
            Columns::Unnamed { count } => Err(Error::ColumnCount { expected: *count, found: columns.len() }),
            Columns::Named { names } => names.iter().map(|name| position(columns, name)).collect(),
            Columns::Sparse { name, .. } => Ok(vec![position(columns, name)?]),
        }
    }
}

/// From the columns of a source to the rows that a map takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoder {
    columns: Columns,
    scaling: Option<Scaling>,
}

impl Encoder {
    /// Unnamed columns, as they are.
    pub fn identity(count: usize) -> Self {
        Encoder { columns: Columns::Unnamed { count }, scaling: None }
    }

    /// The same with other columns.
    pub fn with_columns(self, columns: Columns) -> Self {
        Encoder { columns, ..self }
    }

    /// The same with a scaling.
    pub fn with_scaling(self, scaling: Scaling) -> Self {
        Encoder { scaling: Some(scaling), ..self }
    }

    /// The input columns.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The scaling, if there is one.
    pub fn scaling(&self) -> Option<&Scaling> {
        self.scaling.as_ref()
    }
}

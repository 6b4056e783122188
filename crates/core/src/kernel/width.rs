//! Widths: one for all columns, or one for each.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::number;
use crate::{Error, Result};

/// The width of a kernel in the units of the rows. In text and in files a number, or a list with one for each column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Width {
    /// The same in all columns.
    One(f64),
    /// One for each column, in their order.
    Each(Vec<f64>),
}

/// Widths for which squares of differences neither vanish nor overflow, in single precision too.
pub(super) const WIDTHS: std::ops::RangeInclusive<f64> = 1e-18..=1e18;

impl Width {
    /// The width of column j.
    pub fn at(&self, j: usize) -> f64 {
        match self {
            Width::One(width) => *width,
            Width::Each(widths) => widths.get(j).copied().unwrap_or(f64::NAN),
        }
    }

    /// The same times a factor.
    pub fn times(&self, factor: f64) -> Width {
        match self {
            Width::One(width) => Width::One(width * factor),
            Width::Each(widths) => Width::Each(widths.iter().map(|width| width * factor).collect()),
        }
    }

    fn all(&self) -> &[f64] {
        match self {
            Width::One(width) => std::slice::from_ref(width),
            Width::Each(widths) => widths,
        }
    }

    pub(super) fn validate(&self, name: &'static str) -> Result<()> {
        let expected = "between 1e-18 and 1e18";
        if self.all().is_empty() {
            return Err(Error::Parameter { name, expected, found: "an empty list".to_owned() });
        }
        match self.all().iter().find(|width| !WIDTHS.contains(width)) {
            None => Ok(()),
            Some(width) => Err(Error::Parameter { name, expected, found: number(*width) }),
        }
    }

    /// A list has one width for each column.
    pub(super) fn check(&self, columns: usize) -> Result<()> {
        match self {
            Width::Each(widths) if widths.len() != columns => Err(Error::Length {
                what: "widths, one for each column",
                expected: columns,
                found: widths.len(),
            }),
            _ => Ok(()),
        }
    }
}

impl From<f64> for Width {
    fn from(width: f64) -> Width {
        Width::One(width)
    }
}

impl From<Vec<f64>> for Width {
    fn from(widths: Vec<f64>) -> Width {
        Width::Each(widths)
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Width::One(width) => f.write_str(&number(*width)),
            Width::Each(widths) => list(f, widths),
        }
    }
}

/// `[1,2,3]`, with all digits.
pub(super) fn list(f: &mut fmt::Formatter<'_>, numbers: &[f64]) -> fmt::Result {
    let texts: Vec<String> = numbers.iter().map(|x| number(*x)).collect();
    write!(f, "[{}]", texts.join(","))
}

//! Named functions f of a row, for f(x)·K(x, y)·f(y).
//!
//! ```text
//! norm  ‖x‖₂      inverse_norm  1/‖x‖₂      inverse_sum  1/‖x‖₁      decay  exp(−‖x‖²/2)
//! ```
//! `inverse_norm` times linear is the cosine; `decay` times exp(linear) is the Gaussian of width 1.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Column;
use super::gradient::sign;
use crate::{Error, Result};

/// A function of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    /// Which one.
    pub name: FunctionName,
    /// The columns it looks at; none for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<Column>>,
}

/// The functions there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FunctionName {
    /// ‖x‖₂
    Norm,
    /// 1/‖x‖₂
    InverseNorm,
    /// 1/‖x‖₁
    InverseSum,
    /// exp(−‖x‖²/2)
    Decay,
}

impl FunctionName {
    /// All of them.
    pub const ALL: [FunctionName; 4] =
        [FunctionName::Norm, FunctionName::InverseNorm, FunctionName::InverseSum, FunctionName::Decay];

    /// As it is written.
    pub fn text(self) -> &'static str {
        match self {
            FunctionName::Norm => "norm",
            FunctionName::InverseNorm => "inverse_norm",
            FunctionName::InverseSum => "inverse_sum",
            FunctionName::Decay => "decay",
        }
    }

    /// f of the entries of a row; infinite where it has no value.
    pub(super) fn value(self, entries: impl Iterator<Item = f64>) -> f64 {
        // From 0: the sum of nothing is −0, and its inverse another infinity.
        let norm = |entries: &mut dyn Iterator<Item = f64>| entries.fold(0.0, |sum, x| sum + x * x);
        let mut entries = entries;
        match self {
            FunctionName::Norm => norm(&mut entries).sqrt(),
            FunctionName::InverseNorm => 1.0 / norm(&mut entries).sqrt(),
            FunctionName::InverseSum => 1.0 / entries.fold(0.0, |sum, x| sum + x.abs()),
            FunctionName::Decay => libm::exp(-0.5 * norm(&mut entries)),
        }
    }
}

impl FunctionName {
    /// Its derivative in an entry, given its value; 0 at a corner: at an entry of 0 of ‖x‖₁, and at the row of zeros.
    pub(super) fn slope(self, value: f64, entry: f64) -> f64 {
        match self {
            FunctionName::Norm if value > 0.0 => entry / value,
            FunctionName::Norm => 0.0,
            FunctionName::InverseNorm => -entry * value * value * value,
            FunctionName::InverseSum => -sign(entry) * value * value,
            FunctionName::Decay => -entry * value,
        }
    }
}

impl From<FunctionName> for Function {
    fn from(name: FunctionName) -> Function {
        Function { name, columns: None }
    }
}

impl Function {
    pub(super) fn validate(&self) -> Result<()> {
        self.columns.as_ref().map_or(Ok(()), |columns| super::columns::validate(columns))
    }

    pub(super) fn on(&self, columns: &[Column]) -> Result<Function> {
        match self.columns {
            None => Ok(Function { columns: Some(columns.to_vec()), ..self.clone() }),
            Some(_) => Err(Error::Unsupported {
                what: format!("choosing columns of {self}"),
                reason: "its columns are chosen already",
                instead: "choose them once",
            }),
        }
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name.text())?;
        match &self.columns {
            None => Ok(()),
            Some(columns) => super::text::columns(f, columns),
        }
    }
}

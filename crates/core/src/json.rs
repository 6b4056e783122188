//! What users fix and what fits report, as JSON text.
//!
//! Reading and writing are compiled here once, and not in each crate that calls them.

use crate::certify::Certificate;
use crate::encode::Sequence;
use crate::learn::{Auto, Plan};
use crate::map::{Method, Projection};
use crate::plan::Machine;

/// As the model file writes it.
pub trait Json: Sized {
    /// As text.
    fn to_json(&self) -> Result<String, serde_json::Error>;
    /// From text.
    fn from_json(text: &str) -> Result<Self, serde_json::Error>;
}

macro_rules! json {
    ($($T:ty),*) => {$(
        impl Json for $T {
            fn to_json(&self) -> Result<String, serde_json::Error> {
                serde_json::to_string(self)
            }

            /// By way of a value, as model files are read.
            fn from_json(text: &str) -> Result<Self, serde_json::Error> {
                serde_json::from_value(serde_json::from_str(text)?)
            }
        }
    )*};
}

json!(Auto, Certificate, Machine, Method, Plan, Projection, Sequence);

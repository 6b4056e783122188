//! How a model is learnt, as the package says it.

use bochner::{Auto, Lambda, Uncertainty};
use pyo3::prelude::*;

use crate::error::to_python;
use crate::model::method_from_json;

/// The parameters of a learner. `kernel` is a text with a width, or "gaussian", "laplace" or "exponential" for a width by cross-validation,
/// "auto" for the best of them; `regularization` is λ, or none for one by cross-validation; `method` is JSON, as the model file has it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    kernel: String,
    method: Option<String>,
    features: Option<usize>,
    loss: String,
    seed: u64,
    regularization: Option<f64>,
    folds: usize,
    standardize: bool,
    scaling: String,
    tolerance: Option<f64>,
    budget: Option<f64>,
    solver: String,
    metric: String,
    deviation: bool,
    held_out: Option<f64>,
    calibrate: bool,
}

/// How files are read, where that is not to be found out of them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Reading {
    header: Option<bool>,
    encoding: Option<String>,
    delimiter: Option<String>,
    strict: bool,
}

impl From<Reading> for bochner_cli::Reading {
    fn from(Reading { header, encoding, delimiter, strict }: Reading) -> Self {
        bochner_cli::Reading { header, encoding, delimiter, strict }
    }
}

impl Settings {
    /// In the library's words; the precision is that of the rows.
    pub(crate) fn auto(&self) -> PyResult<Auto> {
        let folds = self.folds;
        Ok(Auto {
            kernel: self.kernel.parse().map_err(to_python)?,
            method: self.method.as_deref().map(method_from_json).transpose()?,
            features: self.features,
            loss: self.loss.parse().map_err(to_python)?,
            seed: self.seed,
            lambda: self
                .regularization
                .map_or(Lambda::CrossValidated { folds }, |value| Lambda::Given { value }),
            precision: None,
            standardise: self.standardize,
            scaling: self.scaling.parse().map_err(to_python)?,
            tolerance: self.tolerance,
            budget: self.budget,
            uncertainty: Uncertainty {
                deviation: self.deviation,
                held_out: self.held_out,
                calibrated: self.calibrate,
            },
            solver: self.solver.parse().map_err(to_python)?,
            metric: self.metric.parse().map_err(to_python)?,
        })
    }
}

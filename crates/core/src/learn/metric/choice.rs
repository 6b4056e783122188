//! Which metric is asked for, and the steps by which one is learnt: plain data, as a plan keeps it.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Size;
use super::ground::{GLANCE, WHOLE, slopes};
use crate::encode::{Form, Stretch};
use crate::plan::{Machine, cubic};
use crate::{Error, Result};

/// Columns up to which all are mixed: of dense rows, and of sparse ones, which are filled by that.
const MIXED: usize = 1024;
const MIXED_SPARSE: usize = 256;

/// Whether rows have too many columns for a matrix of all of them: fits are at landmarks then, whose gradients lie where the rows do, and leading directions are added to rows.
pub(in crate::learn) fn are_wide(columns: usize, are_sparse: bool) -> bool {
    columns > if are_sparse { MIXED_SPARSE } else { MIXED }
}

/// Which metric rows are compared in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricChoice {
    /// That of the columns as they are scaled.
    #[default]
    None,
    /// A learnt one, where it has smaller errors on rows that it has not seen by more than chance; that of the columns where not, or where a kernel is given.
    Auto,
    /// A learnt factor for each column.
    Diagonal,
    /// A learnt matrix; its leading directions where rows have too many columns for all of it, more than 1,024, or 256 of sparse rows.
    Full,
    /// Learnt in these steps.
    Learned(MetricPath),
}

/// The steps by which a metric is learnt from a sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricPath {
    /// Features of the fits.
    pub features: usize,
    /// Whether these are kernel values at landmarks, in place of Fourier features.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub landmarks: bool,
    /// One after another.
    pub steps: Vec<MetricStep>,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum MetricStep {
    /// Some columns, the others held back: found one by one and in pairs.
    Columns {
        /// Which.
        columns: Vec<usize>,
    },
    /// The gradients of a fit in the metric so far.
    Gradients {
        /// Its width, as a part of the median distance.
        factor: f64,
        /// Its λ.
        lambda: f64,
        /// What becomes of them.
        stretch: Stretch,
    },
}

/// `auto`, `none`, `diagonal` or `full`.
impl FromStr for MetricChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<MetricChoice> {
        match text {
            "auto" => Ok(MetricChoice::Auto),
            "none" => Ok(MetricChoice::None),
            "diagonal" => Ok(MetricChoice::Diagonal),
            "full" => Ok(MetricChoice::Full),
            other => Err(Error::Parameter {
                name: "metric",
                expected: "auto, none, diagonal or full",
                found: other.to_owned(),
            }),
        }
    }
}

impl MetricChoice {
    pub(in crate::learn) fn is_none(&self) -> bool {
        *self == MetricChoice::None
    }

    /// Whether one is learnt even if it does not pay.
    pub(in crate::learn) fn is_forced(&self) -> bool {
        matches!(self, MetricChoice::Diagonal | MetricChoice::Full)
    }

    /// Steps, where they are known.
    pub(in crate::learn) fn rounds(&self) -> usize {
        if let MetricChoice::Learned(path) = self { path.steps.len() } else { 0 }
    }

    /// Whether columns are mixed: by what is asked for, or by the steps that are known.
    pub(in crate::learn) fn mixes(&self) -> bool {
        match self {
            MetricChoice::Full => true,
            MetricChoice::Learned(path) => path.form() != Form::Diagonal,
            MetricChoice::None | MetricChoice::Auto | MetricChoice::Diagonal => false,
        }
    }

    /// What was given is in order for rows of so many columns.
    pub(in crate::learn) fn check(&self, columns: usize) -> Result<()> {
        let MetricChoice::Learned(path) = self else { return Ok(()) };
        if path.form() == Form::Full && columns > MIXED {
            return Err(Error::Unsupported {
                what: format!("a metric that mixes all of {columns} columns"),
                reason: "it takes time with their cube, and is for 1,024 at most",
                instead: "use steps of form leading or diagonal",
            });
        }
        let wrong = |name, expected, found: String| Err(Error::Parameter { name, expected, found });
        let MetricPath { features, landmarks, steps } = path;
        if path.form() == Form::Leading && !landmarks {
            return wrong("landmarks", "true where the form of steps is leading", landmarks.to_string());
        }
        if !(2..=WHOLE.0).contains(features) || features % 2 == 1 {
            return wrong("features", "even and at most 1024, of the metric's fits", features.to_string());
        }
        for step in steps {
            match step {
                MetricStep::Columns { columns: chosen } => {
                    let outside = chosen.iter().find(|j| **j >= columns);
                    if outside.is_some() || chosen.is_empty() {
                        let found = outside.map_or_else(|| "none".to_owned(), ToString::to_string);
                        return wrong("columns", "columns of the rows, in the metric", found);
                    }
                }
                MetricStep::Gradients { factor, lambda, stretch } => {
                    stretch.validate()?;
                    if !(*factor > 0.0 && factor.is_finite() && *lambda > 0.0 && lambda.is_finite()) {
                        return wrong("factor", "positive and finite, as λ", format!("{factor}, {lambda}"));
                    }
                    if stretch.form != path.form() {
                        return wrong(
                            "form",
                            "the same in all steps of a metric",
                            format!("{:?}", stretch.form),
                        );
                    }
                }
            }
        }
        Ok(())
    }

    /// Seconds and bytes that the search for it takes, about: forty fits at full size, as many at a glance; of a path, its steps. None where there is nothing to look for.
    pub(in crate::learn) fn forecast(
        &self,
        size: &Size,
        machine: &Machine,
        limit: u64,
    ) -> Option<(f64, u64)> {
        let rates = &machine.double;
        let fit = |features: usize, most: usize| {
            let n = size.rows.min(most) as f64;
            let d = (features as f64).min(n / 2.0);
            // Landmarks with all their zeros, packed; kernel values at them, and their whitening.
            let columns = size.columns as f64;
            let entries = size.entries.map_or(columns, |entries| entries as f64);
            let at_landmarks = || 8.0 * d * columns + n * d * (entries + d / 2.0);
            let made = if size.wide { at_landmarks() / rates.products } else { n * d / rates.features };
            made + n * d * d / 2.0 / rates.sums + 2.0 / 3.0 * cubic(d) / machine.band
        };
        match self {
            MetricChoice::None => None,
            MetricChoice::Learned(path) => {
                let steps = path.steps.len() as f64;
                Some((steps * fit(path.features, WHOLE.1), size.bytes(path.features)))
            }
            MetricChoice::Auto | MetricChoice::Diagonal | MetricChoice::Full => {
                let [whole, glance] = [WHOLE, GLANCE].map(|(features, rows)| fit(features, rows));
                Some((40.0 * (whole + glance) + self.of_columns(size, machine), size.largest(limit).1))
            }
        }
    }

    /// Seconds that grow with the columns: about twelve metrics are tried, each by phases of its own, and every other by gradients, and where columns are mixed by eigenvectors; some thirty kernels are compared at landmarks.
    fn of_columns(&self, size: &Size, machine: &Machine) -> f64 {
        const TRIED: f64 = 12.0;
        let (n, d, t) = (size.rows as f64, size.columns as f64, size.outputs as f64);
        let half = WHOLE.0 as f64 / 2.0;
        let entries = if size.mixes { d } else { size.entries.map_or(d, |entries| entries as f64) };
        let stretched = if size.mixes { n * d * d } else { 0.0 };
        // At landmarks there are kernel values, and as many products again for each output.
        let slopes = if size.wide {
            n.min(slopes(size.columns) as f64) * 2.0 * half * d * (1.0 + t)
        } else {
            0.5 * n.min(slopes(size.columns) as f64) * half * d * t
        };
        // One thread finds eigenvectors, at an eighth of the speed of products.
        let vectors = if size.mixes { 8.0 * 4.0 * d * d * d } else { 0.0 };
        let compared = 30.0 * n * entries * WHOLE.0 as f64;
        (TRIED * (n * entries * half + stretched + slopes + vectors) + compared) / machine.double.products
    }

    /// What of M may be used, in the order of trying.
    pub(in crate::learn) fn forms(&self, columns: usize, are_sparse: bool) -> &'static [Form] {
        let form = if let MetricChoice::Learned(path) = self { Some(path.form()) } else { None };
        match (self, form, are_wide(columns, are_sparse)) {
            (MetricChoice::Diagonal, ..) | (_, Some(Form::Diagonal), _) => &[Form::Diagonal],
            (_, Some(Form::Full), _) | (MetricChoice::Full, _, false) => &[Form::Full],
            (_, Some(Form::Leading), _) | (MetricChoice::Full, _, true) => &[Form::Leading],
            (_, None, true) => &[Form::Leading, Form::Diagonal],
            (_, None, false) => &[Form::Full, Form::Diagonal],
        }
    }
}

impl MetricPath {
    /// Of all its steps.
    pub(super) fn form(&self) -> Form {
        let form = |step: &MetricStep| match step {
            MetricStep::Columns { .. } => None,
            MetricStep::Gradients { stretch, .. } => Some(stretch.form),
        };
        self.steps.iter().find_map(form).unwrap_or(Form::Diagonal)
    }
}

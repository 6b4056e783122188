//! What all learners ask of a source and of what came out.

use crate::model::{Outcome, Training};
use crate::source::{Source, Target};
use crate::{Certificate, Error, Labels, Loss, Matrix, Result};

/// The classes of a source that has at least two.
pub(super) fn labels(source: &dyn Source) -> Result<&Labels> {
    match source.target() {
        Target::Classes { labels } if labels.len() >= 2 => Ok(labels),
        Target::Classes { labels } => Err(Error::OneClass { label: labels.text(0).to_owned() }),
        Target::Numbers { .. } => Err(Error::Unsupported {
            what: "a support vector machine for numbers".to_owned(),
            reason: "margins are about classes",
            instead: "give classes as the target, or fit a ridge regression",
        }),
    }
}

/// A loss is about what the source asks to predict.
pub(super) fn target(loss: Loss, source: &dyn Source) -> Result<()> {
    match source.target() {
        Target::Classes { labels } if labels.len() < 2 => {
            Err(Error::OneClass { label: labels.text(0).to_owned() })
        }
        Target::Classes { .. } if loss.wants_numbers() => Err(Error::Unsupported {
            what: format!("loss {loss} for classes"),
            reason: "it is about numbers",
            instead: "take squares, logistic, squared_hinge or hinge",
        }),
        Target::Numbers { .. } if loss.wants_classes() => Err(Error::Unsupported {
            what: format!("loss {loss} for numbers"),
            reason: "it is about classes",
            instead: "give classes as the target, or take squares, huber, quantile or insensitive",
        }),
        _ => Ok(()),
    }
}

/// What a model says must be numbers: a file could not hold others.
pub(super) fn finite(
    coefficients: &Matrix<f64>,
    intercept: &[f64],
    certificate: &Certificate,
    training: &Training,
) -> Result<()> {
    let measured = certificate.measured.map_or(0.0, |m| m.mean + m.radius + m.largest);
    let outcome = match training.outcome {
        Outcome::Squares { degrees_of_freedom } => degrees_of_freedom,
        Outcome::Conjugate { residual, condition, .. } => residual + condition,
        Outcome::Margins { primal, dual, margin, .. } => primal + dual + margin,
        Outcome::Minimised { objective, bound, scale, .. } => {
            objective + bound.unwrap_or(0.0) + scale.unwrap_or(0.0)
        }
        Outcome::Steps { mean_loss, .. } => mean_loss,
    };
    let what = if !coefficients.as_slice().iter().chain(intercept).all(|c| c.is_finite()) {
        "the coefficients"
    } else if !(measured + certificate.bound.size()).is_finite() {
        "the kernel values"
    } else if !(outcome.is_finite() && training.lambda > 0.0 && training.lambda.is_finite()) {
        "the objective"
    } else {
        return Ok(());
    };
    Err(Error::Overflow { what })
}

//! The first look at all rows: how large features, targets and classes are.

use super::passes::ByPasses;
use super::search::class;
use crate::learn::ridge::Units;
use crate::learn::streamed::{Job, Streamed};
use crate::solve::Constant;
use crate::source::Target;
use crate::{Error, Loss, Result};

/// What the first pass finds.
pub(super) struct Look {
    pub(super) rows: u64,
    /// Weights of each class, or of all rows: those kept, and those left out.
    pub(super) kept: Vec<f64>,
    pub(super) left: Vec<f64>,
    pub(super) means: Vec<f64>,
    pub(super) variances: Vec<f64>,
    /// The mean distance of each target from its mean, roughly.
    pub(super) spread: Vec<f64>,
    /// The mean size of each target: that of the errors of a model that is nothing yet.
    pub(super) errors: Vec<f64>,
    /// Mean and largest ‖z‖².
    pub(super) size: f64,
    pub(super) longest: f64,
}

impl Look {
    /// Whether models can do without the part that is left out, and be judged by it.
    pub(super) fn can_leave_out(&self, loss: Loss) -> bool {
        let [kept, left] = [&self.kept, &self.left].map(|part| part.iter().sum::<f64>() > 0.0);
        // The odds of a class that is not there would be nothing.
        let has_all = self.kept.iter().zip(&self.left).all(|(kept, left)| *kept > 0.0 || !(*left > 0.0));
        kept && left && (has_all || loss != Loss::Logistic)
    }

    pub(super) fn weight(&self) -> f64 {
        self.kept.iter().chain(&self.left).sum()
    }
}

impl ByPasses<'_> {
    /// The first pass.
    pub(super) fn look(&self, stream: &Streamed<'_>, shift: &[f64]) -> Result<Look> {
        let outputs = self.outputs();
        let is_classes = matches!(self.source.target(), Target::Classes { .. });
        let classes = if is_classes { outputs.max(2) } else { 1 };
        let middle: Vec<f64> =
            Units::of(self.sample, true).shift.iter().zip(shift).map(|(mean, shift)| mean - shift).collect();
        let total = stream.pass(&Job {
            directions: &[],
            constants: &[],
            back: 1,
            plain: 1 + 2 * classes + 2 * outputs,
            squares: true,
            values: &|block, i, _, out| {
                let (weight, y) = (block.weights[i], block.targets.row(i));
                out.fill(0.0);
                (out[0], out[1]) = (weight, f64::from(u8::from(weight > 0.0)));
                let first = if block.is_left_out(i) { 2 + classes } else { 2 };
                out[first + if is_classes { class(y) } else { 0 }] = weight;
                let away = out[2 + 2 * classes..].chunks_exact_mut(2).zip(y.iter().zip(&middle));
                away.for_each(|(out, (y, middle))| {
                    out.copy_from_slice(&[weight * (y - middle).abs(), weight * y.abs()]);
                });
            },
        })?;
        let (weight, rest) = (total.plain[0], &total.plain[2..]);
        let has_constant = self.linear.constant() != Constant::None;
        let mean = |sum: &f64| if has_constant { sum / weight } else { 0.0 };
        let means: Vec<f64> = total.vectors.iter().flatten().map(mean).collect();
        let variances =
            total.squares.iter().zip(&means).map(|(s, m)| (s / weight - m * m).max(0.0)).collect();
        Ok(Look {
            rows: total.plain[1] as u64,
            kept: rest[..classes].to_vec(),
            left: rest[classes..2 * classes].to_vec(),
            means,
            variances,
            spread: rest[2 * classes..].iter().step_by(2).map(|sum| sum / weight).collect(),
            errors: rest[2 * classes..].iter().skip(1).step_by(2).map(|sum| sum / weight).collect(),
            size: total.squares.iter().sum::<f64>() / weight,
            longest: total.longest,
        })
    }

    /// What features and classes rule out.
    pub(super) fn check(&self, look: &Look) -> Result<()> {
        if !look.size.is_finite() {
            return Err(Error::Overflow { what: "the lengths of the rows" });
        }
        if let (Target::Classes { labels }, Loss::Logistic, 1) =
            (self.source.target(), self.linear.loss, self.outputs())
        {
            let there = |class: usize| look.kept[class] + look.left[class] > 0.0;
            if let Some(alone) = [(0, 1), (1, 0)].into_iter().find(|&(_, other)| !there(other)) {
                return Err(Error::OneClass { label: labels.text(alone.0).to_owned() });
            }
        }
        Ok(())
    }

    /// What λ is measured in.
    pub(super) fn unit(&self, look: &Look) -> f64 {
        // Features that are all zero leave nothing to choose.
        let size = if look.size > 0.0 { look.size } else { 1.0 };
        let largest = look.spread.iter().copied().fold(0.0, f64::max);
        let has_spread = self.linear.loss.wants_numbers() && largest > 0.0 && largest.is_finite();
        if has_spread { size / largest } else { size }
    }
}

//! Who fits under a loss, and what can be asked of both.

use super::{Linear, Ridge, Uncertainty};
use crate::learn::linear::Way as LinearWay;
use crate::plan::{Cost, Forecast, Machine, Way};
use crate::source::Source;
use crate::stat::Sample;
use crate::{Engine, Event, MapSpec, Model, Result};

/// The learner of a loss.
pub(super) enum Learner {
    Ridge(Ridge),
    Linear(Linear),
}

impl Learner {
    pub(super) fn check(&self, engine: &Engine, source: &dyn Source) -> Result<()> {
        match self {
            Learner::Ridge(ridge) => ridge.check(engine, source),
            Learner::Linear(linear) => linear.check(engine, source),
        }
    }

    pub(super) fn map(&self) -> &MapSpec {
        match self {
            Learner::Ridge(ridge) => &ridge.map,
            Learner::Linear(linear) => &linear.map,
        }
    }

    /// What a fit costs within so many bytes.
    pub(super) fn plan_within(&self, source: &dyn Source, known: Uncertainty, limit: u64) -> Result<Cost> {
        match self {
            Learner::Ridge(ridge) => Ok(ridge.knowing_way(source, known, limit)?.cost()),
            Learner::Linear(linear) => linear.plan_within(source, limit),
        }
    }

    /// What a fit to so many rows takes within so many bytes, where a pass over them takes `reading` seconds by itself.
    pub(super) fn forecast(
        &self,
        source: &dyn Source,
        rows: u64,
        machine: &Machine,
        reading: f64,
        known: Uncertainty,
        limit: u64,
    ) -> Result<Forecast> {
        let features = self.map().output_dim(source.input_dim());
        match self {
            Learner::Ridge(ridge) => {
                let shape = ridge.shape(source, features, known);
                Ok(match ridge.knowing_way(source, known, limit)? {
                    Way::Gram(_) => shape.forecast(rows, machine, reading),
                    Way::Passes(plan) => shape.forecast_conjugate(rows, machine, reading, &plan),
                })
            }
            Learner::Linear(linear) => {
                let shape = linear.shape(source, features, rows);
                Ok(match linear.way_before(source, limit)? {
                    LinearWay::Held(cost) => shape.forecast_held(rows, machine, reading, cost),
                    LinearWay::Passes(plan) => shape.forecast_newton(rows, machine, reading, &plan),
                })
            }
        }
    }

    pub(super) fn fit_with(
        &self,
        engine: &Engine,
        source: &dyn Source,
        sample: &Sample,
        start: Option<&Model>,
        known: Uncertainty,
    ) -> Result<Model> {
        match self {
            Learner::Ridge(ridge) => ridge.fit_knowing(engine, source, sample, known),
            Learner::Linear(linear) => {
                let has_same = |model: &&Model| linear.can_start_from(model, source.target());
                if start.is_some() && start.filter(has_same).is_none() {
                    let text =
                        "the model to start from has other features or outputs: the fit starts from nothing";
                    engine.tell(&Event::Warning { text })?;
                }
                linear.fit_knowing(engine, source, sample, start.filter(has_same), known)
            }
        }
    }
}

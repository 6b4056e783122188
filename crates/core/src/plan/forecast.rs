//! Seconds and bytes of a fit, from its shape and the rates of a machine.
//!
//! ```text
//! seconds = passes·(reading + n·d/entries) + n·d·m/products + n·D/features + n·D²/2/sums + K·⅔D³/band + ½D³/factor
//! ```
//! with m phases for D features. What is not counted (the certificate, a sample, targets) is small beside these.

use serde::{Deserialize, Serialize};

use super::cg::{Conjugate, slowness};
use super::{Cost, Machine, Rates, RidgeShape};
use crate::Method;
use crate::solve::Preconditioner;

/// What a fit will take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// D.
    pub features: usize,
    /// Passes, multiply-adds, bytes.
    #[serde(flatten)]
    pub cost: Cost,
    /// Seconds of each phase.
    pub phases: Vec<Phase>,
}

/// A part of a fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// As the observer is told of it.
    pub name: String,
    /// How long it will take.
    pub seconds: f64,
}

impl Forecast {
    /// Of all phases.
    pub fn seconds(&self) -> f64 {
        self.phases.iter().map(|phase| phase.seconds).sum()
    }
}

impl Conjugate {
    /// Seconds to make the guide: sums of rows, or products with random vectors.
    pub(super) fn seconds_to_guide(&self, rates: &Rates) -> f64 {
        match self.guide {
            Preconditioner::Nystrom { rank } => self.to_guide * slowness(rank as f64) / rates.sums,
            _ => self.to_guide / rates.sums,
        }
    }
}

impl RidgeShape {
    /// What a ridge fit to so many rows will take, where a pass over the source takes `reading` seconds by itself.
    pub fn forecast(&self, rows: u64, machine: &Machine, reading: f64) -> Forecast {
        let rates = machine.of(self.scalar_bytes);
        let (n, features) = (rows as f64, self.features as f64);
        let (look, made) = self.made(n, rates, reading);
        let sums = n * features * (features / 2.0 + self.outputs as f64) / rates.sums;
        let folds = if self.folds > 1 { self.folds as f64 } else { 0.0 };
        let cube = features.powi(3);
        Forecast {
            features: self.features,
            cost: self.cost(),
            phases: vec![
                phase("columns", look),
                phase("fit", look + made + sums),
                phase("cross-validation", folds * 2.0 / 3.0 * cube / machine.band),
                // A factor, and the trace of its inverse.
                phase("solve", 0.5 * cube / machine.factor),
            ],
        }
    }

    /// The same by conjugate gradients: rows are mapped in every pass, and meet vectors there and back.
    pub(crate) fn forecast_conjugate(
        &self,
        rows: u64,
        machine: &Machine,
        reading: f64,
        plan: &Conjugate,
    ) -> Forecast {
        let rates = machine.of(self.scalar_bytes);
        let (look, made) = self.made(rows as f64, rates, reading);
        let met =
            2.0 * rows as f64 * self.features as f64 * self.sides() * slowness(self.sides()) / rates.sums;
        let pass = if plan.keeps { met } else { look + made + met };
        let phases = vec![
            phase("columns", look),
            phase("sides", look + made + met),
            phase("guide", look + plan.seconds_to_guide(rates)),
            phase("solve", plan.steps * pass),
        ];
        Forecast { features: self.features, cost: plan.cost, phases }
    }

    /// The same for a loss whose features are held and visited again and again; steps are not known beforehand, so that its time is a guess.
    pub(crate) fn forecast_held(&self, rows: u64, machine: &Machine, reading: f64, cost: Cost) -> Forecast {
        let rates = machine.of(self.scalar_bytes);
        let (look, made) = self.made(rows as f64, rates, reading);
        let solve = cost.multiply_adds_to_solve / rates.streamed;
        // Folds are fitted roughly.
        let folds = if self.folds > 1 { self.folds as f64 } else { 0.0 };
        let phases = vec![
            phase("columns", look),
            phase("fit", look + made),
            phase("cross-validation", folds * solve / 2.0),
            phase("solve", solve),
        ];
        Forecast { features: self.features, cost, phases }
    }

    /// Seconds to look at rows and to make their features.
    pub(super) fn made(&self, n: f64, rates: &Rates, reading: f64) -> (f64, f64) {
        let (entries, features) = (self.entries as f64, self.features as f64);
        let is_sparse = self.entries < self.inputs as u64;
        let products = if is_sparse { rates.sparse } else { rates.products };
        let seconds = match self.map.method {
            Method::Exact => 0.0,
            // Kernel values, and a triangular product to whiten them.
            Method::Landmarks { .. } => {
                features * (entries / products + features / 2.0 / rates.products + 0.5 / rates.features)
            }
            _ => features * (entries / 2.0 / products + 1.0 / rates.features),
        };
        (reading + n * entries / rates.entries, n * seconds)
    }
}

fn phase(name: &str, seconds: f64) -> Phase {
    Phase { name: name.to_owned(), seconds }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kernel, MapSpec};

    /// One multiply-add a second makes seconds of counts.
    #[test]
    fn seconds_are_counts_over_rates() {
        let rates =
            Rates { products: 1.0, sparse: 1.0, features: 1.0, sums: 1.0, entries: 1.0, streamed: 1.0 };
        let machine = Machine { threads: 1, single: rates, double: rates, band: 1.0, factor: 1.0 };
        let map = MapSpec { features: 10, ..MapSpec::fourier(Kernel::gaussian(1.0)) };
        let shape = RidgeShape {
            map,
            features: 10,
            inputs: 3,
            entries: 3,
            outputs: 1,
            folds: 5,
            scalar_bytes: 4,
            rows: Some(100),
        };
        let forecast = shape.forecast(100, &machine, 7.0);
        let seconds: Vec<f64> = forecast.phases.iter().map(|phase| phase.seconds).collect();
        let look = 7.0 + 100.0 * 3.0;
        let fit = look + 100.0 * 3.0 * 5.0 + 100.0 * 10.0 + 100.0 * 10.0 * 6.0;
        assert_eq!(seconds, [look, fit, 5.0 * 2.0 / 3.0 * 1000.0, 500.0]);
        assert!((forecast.seconds() - seconds.iter().sum::<f64>()).abs() < 1e-9);
    }
}

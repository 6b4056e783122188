//! Seconds and bytes of a fit, from its shape and the rates of a machine.
//!
//! ```text
//! seconds = passes·(reading + n·d/entries) + n·d·m/products + n·D/features + n·D²/2/sums + K·⅔D²(D + h)/band + ½D²(D + h)/factor
//! ```
//! with m phases for D features, h columns at which a factor runs at half of its speed; landmarks and the certificate come before. What is not counted (a sample, targets) is small beside these.

use serde::{Deserialize, Serialize};

use super::cg::{Conjugate, SKETCH_ROWS, slowness};
use super::{Cost, Machine, Rates, RidgeShape, cubic};
use crate::Method;
use crate::certify::{capacity, measured_rows};
use crate::solve::{MOST_FACTORED, Preconditioner};

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

/// Passes of Newton's method over held features, and factors of its guide, as a rule.
const HELD_PASSES: f64 = 30.0;
const HELD_FACTORS: f64 = 3.0;

/// Multiply-adds of a factor with pivots and its inverse, at the speed of one without, as a part of D³.
const TO_WHITEN: f64 = 1.5;

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

impl RidgeShape {
    /// What a ridge fit to so many rows will take, where a pass over the source takes `reading` seconds by itself.
    pub fn forecast(&self, rows: u64, machine: &Machine, reading: f64) -> Forecast {
        let rates = machine.of(self.scalar_bytes);
        let (n, features) = (rows as f64, self.features as f64);
        let (look, made) = self.made(n, rates, reading);
        let sums = n * features * (features / 2.0 + self.outputs as f64) / rates.sums;
        let folds = if self.folds > 1 { self.folds as f64 } else { 0.0 };
        let (cube, [map, certificate]) = (cubic(features), self.before(machine));
        Forecast {
            features: self.features,
            cost: self.cost(),
            phases: vec![
                phase("columns", look),
                map,
                certificate,
                phase("fit", look + made + sums),
                phase("cross-validation", folds * 2.0 / 3.0 * cube / machine.band),
                // A factor, and the trace of its inverse.
                phase("solve", 0.5 * cube / machine.factor),
            ],
        }
    }

    /// Seconds to make a guide: sums of rows and their factor, or their form for every λ; or products with random vectors.
    pub(super) fn seconds_to_guide(&self, plan: &Conjugate, machine: &Machine) -> f64 {
        let (rates, features) = (machine.of(self.scalar_bytes), self.features as f64);
        let form = if self.folds > 1 { 2.0 / 3.0 / machine.band } else { 1.0 / 6.0 / machine.factor };
        match plan.guide {
            Preconditioner::Nystrom { rank } => plan.to_guide * slowness(rank as f64) / rates.sums,
            Preconditioner::Diagonal => 0.0,
            _ => (plan.to_guide - self.to_form()) / rates.sums + form * cubic(features),
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
        // Landmarks that are kept are plain; those of the sample that leads are not, and are made a second time.
        let whitened = self.to_make_or_keep(false) - self.to_make_or_keep(plan.keeps);
        let kept = made - rows as f64 * whitened / rates.products;
        let sampled = match plan.guide {
            Preconditioner::Sample => (self.guide_rows(rows as f64) / rows as f64).min(1.0) * made,
            Preconditioner::Sketch => made,
            Preconditioner::Nystrom { .. } | Preconditioner::Diagonal => 0.0,
        };
        let [map, certificate] = self.before(machine);
        let phases = vec![
            phase("columns", look),
            map,
            certificate,
            phase("sides", look + kept + met),
            phase("guide", look + sampled + self.seconds_to_guide(plan, machine)),
            phase("solve", plan.steps * pass),
        ];
        Forecast { features: self.features, cost: plan.cost, phases }
    }

    /// The same for a loss whose features are held and visited again and again; steps are not known beforehand, so that its time is a guess.
    pub(crate) fn forecast_held(&self, rows: u64, machine: &Machine, reading: f64, cost: Cost) -> Forecast {
        let rates = machine.of(self.scalar_bytes);
        let (look, made) = self.made(rows as f64, rates, reading);
        let solve = if self.map.is_sparse() || self.map.is_identity() {
            cost.multiply_adds_to_solve / rates.streamed
        } else {
            let (n, features, outputs) = (rows as f64, self.features as f64, self.outputs as f64);
            let met = 2.0 * n * features * outputs * slowness(outputs) / rates.sums;
            let sums = (SKETCH_ROWS * features).min(n) * features * features / 2.0 / rates.sums;
            let guide = sums + HELD_FACTORS / 6.0 * cubic(features) / machine.factor;
            // Beyond so many features a diagonal leads.
            if self.features <= MOST_FACTORED { HELD_PASSES * met + guide } else { 3.0 * HELD_PASSES * met }
        };
        // Folds are fitted roughly.
        let folds = if self.folds > 1 { self.folds as f64 } else { 0.0 };
        let [map, certificate] = self.before(machine);
        let phases = vec![
            phase("columns", look),
            map,
            certificate,
            phase("fit", look + made),
            phase("cross-validation", folds * solve / 2.0),
            phase("solve", solve),
        ];
        Forecast { features: self.features, cost, phases }
    }

    /// Landmarks with their whitening, and the certificate, which is measured in double precision: what is made before the rows are read again.
    pub(super) fn before(&self, machine: &Machine) -> [Phase; 2] {
        let (features, rates) = (self.features as f64, &machine.double);
        let most = capacity(&self.map, self.inputs) as f64;
        let rows = (measured_rows(&self.map, self.inputs, self.features) as f64).min(most);
        let rows = rows.min(self.rows.map_or(f64::INFINITY, |n| n as f64));
        let (map, certificate) = match self.map.method {
            Method::Exact | Method::Landmarks { whiten: false, .. } => (0.0, 0.0),
            // The bound looks at all rows, and what is measured at them again.
            Method::Landmarks { .. } => {
                (TO_WHITEN * cubic(features) / machine.factor, 2.0 * rows * self.to_make_a_row() / rates.sums)
            }
            _ => (0.0, rows * features * (self.entries as f64 / 2.0 / rates.products + 1.0 / rates.features)),
        };
        [phase("map", map), phase("certificate", certificate)]
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

    /// One multiply-add a second.
    fn machine() -> Machine {
        let rates =
            Rates { products: 1.0, sparse: 1.0, features: 1.0, sums: 1.0, entries: 1.0, streamed: 1.0 };
        Machine { threads: 1, single: rates, double: rates, band: 1.0, factor: 1.0 }
    }

    fn shape(folds: usize) -> RidgeShape {
        let map = MapSpec { features: 10, ..MapSpec::fourier(Kernel::gaussian(1.0)) };
        RidgeShape {
            map,
            features: 10,
            inputs: 3,
            entries: 3,
            outputs: 1,
            folds,
            scalar_bytes: 4,
            rows: Some(100),
        }
    }

    /// What is made of 100 rows, by hand.
    const LOOK: f64 = 7.0 + 100.0 * 3.0;
    const MADE: f64 = 100.0 * 3.0 * 5.0 + 100.0 * 10.0;
    const CERTIFICATE: f64 = MADE;

    /// By conjugate gradients: sides, a guide of 20 rows with its factor, steps of two products each.
    #[test]
    fn seconds_of_passes_are_counts_over_rates() {
        for keeps in [true, false] {
            let shape = shape(1);
            let limit = if keeps { u64::MAX } else { 0 };
            let plan = Conjugate { guide: Preconditioner::Sample, keeps, ..shape.conjugate(limit) };
            let plan = Conjugate { to_guide: 20.0 * 50.0 + 1000.0 / 6.0, steps: 17.6, ..plan };
            let forecast = shape.forecast_conjugate(100, &machine(), 7.0, &plan);
            let met = 2.0 * 100.0 * 10.0 * 9.0;
            let pass = if keeps { met } else { LOOK + MADE + met };
            // An eighth of the rows, and 2D at least.
            let guide = LOOK + 0.2 * MADE + 20.0 * 50.0 + cubic(10.0) / 6.0;
            let expected = LOOK + CERTIFICATE + (LOOK + MADE + met) + guide + 17.6 * pass;
            assert!((forecast.seconds() - expected).abs() < 1e-6 * expected, "{forecast:?}");
        }
    }

    /// Features that are held: thirty passes and three factors.
    #[test]
    fn seconds_of_held_features_are_counts_over_rates() {
        let shape = shape(1);
        let forecast = shape.forecast_held(100, &machine(), 7.0, shape.cost());
        let solve = 30.0 * 2.0 * 100.0 * 10.0 * 9.0 + 40.0 * 50.0 + 0.5 * cubic(10.0);
        let expected = LOOK + CERTIFICATE + LOOK + MADE + solve;
        assert!((forecast.seconds() - expected).abs() < 1e-6 * expected, "{forecast:?}");
    }

    #[test]
    fn seconds_are_counts_over_rates() {
        let (machine, shape) = (machine(), shape(5));
        let forecast = shape.forecast(100, &machine, 7.0);
        let seconds: Vec<f64> = forecast.phases.iter().map(|phase| phase.seconds).collect();
        let fit = LOOK + MADE + 100.0 * 10.0 * 6.0;
        assert_eq!(seconds, [LOOK, 0.0, CERTIFICATE, fit, 5.0 * 2.0 / 3.0 * cubic(10.0), 0.5 * cubic(10.0)]);
        assert!((forecast.seconds() - seconds.iter().sum::<f64>()).abs() < 1e-9);
    }
}

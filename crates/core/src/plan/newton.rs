//! What a fit under any loss costs by passes that keep no features.
//!
//! ```text
//! a step of Newton's   2 + q passes: gradient, line, and q of conjugate gradients        a pass   n·D·(d + 3k) multiply-adds, k outputs
//! ```
//! Of the 3k, k are for the scores of the weights, which are not kept. Memory is that of some vectors of k·D numbers, a slab of features and the guide, whatever the number of rows.

use super::cg::{Conjugate, Load, slowness};
use super::{Forecast, Machine, Phase, RidgeShape};
use crate::solve::Preconditioner;
use crate::sweep::BLOCK;

/// Steps that a fit is expected to take from zero, and those of each λ that is tried, roughly and from the last.
const STEPS: f64 = 8.0;
const ROUGH_STEPS: f64 = 2.0;

/// λ that are expected to be tried.
const LAMBDAS: f64 = 6.0;

/// Steps of conjugate gradients within one of Newton's that a guide is expected to need.
fn inner(guide: Preconditioner) -> f64 {
    match guide {
        Preconditioner::Sample | Preconditioner::Sketch => 6.0,
        Preconditioner::Nystrom { .. } => 12.0,
        Preconditioner::Diagonal => 25.0,
    }
}

impl RidgeShape {
    /// Of each output: weights, gradient, step, residual, direction, P⁻¹r, the product, its sums twice, weights and directions side by side, and where λ is chosen the best, the last and the next weights.
    /// Of each row: targets, and F and F′ at nine lengths. Guides that are made again and again, of rows that are more or fewer, leave holes: one slab, as measured.
    fn newton_load(&self) -> Load {
        let outputs = self.outputs as f64;
        let vectors =
            if self.has_many_groups() { 13.0 } else { 12.0 } + if self.folds > 1 { 3.0 } else { 1.0 };
        let (vectors, values, products) = (outputs * vectors, 22.0 * outputs + 4.0, 3.0 * outputs);
        Load { vectors, values, holes: 1.0, products, back: self.outputs }
    }

    /// How Newton's method by passes goes within so many bytes.
    pub(crate) fn newton(&self, limit: u64) -> Conjugate {
        let steps = STEPS + if self.folds > 1 { LAMBDAS * ROUGH_STEPS } else { 0.0 };
        // Each λ is looked at once more, by the rows that were left out.
        let more = if self.folds > 1 { LAMBDAS } else { 0.0 };
        self.by_passes(limit, self.newton_load(), false, |guide| steps * (2.0 + inner(guide)) + more)
    }

    /// The largest rank up to `most` for which there is room; none below one that is of use.
    pub(crate) fn newton_rank(&self, most: usize, limit: u64) -> Option<usize> {
        self.rank_beside(most, limit, self.newton_load(), false)
    }

    /// Bytes of a block of features that is scored by the models of all folds, and of these models.
    pub(crate) fn calibration_bytes(&self, folds: usize) -> u64 {
        let rows = self.rows.map_or(BLOCK as u64, |n| n.min(BLOCK as u64));
        let features = self.features as u64;
        let models = features.saturating_mul(16 * (folds * self.outputs) as u64);
        rows.saturating_mul(features).saturating_mul(self.scalar_bytes as u64).saturating_add(models)
    }

    /// Seconds of a fit by passes: features are made in each of them.
    pub(crate) fn forecast_newton(
        &self,
        rows: u64,
        machine: &Machine,
        reading: f64,
        plan: &Conjugate,
    ) -> Forecast {
        let rates = machine.of(self.scalar_bytes);
        let (look, made) = self.made(rows as f64, rates, reading);
        let outputs = self.outputs as f64;
        let products = 3.0 * outputs * rows as f64 * self.features as f64 * slowness(outputs) / rates.sums;
        let passes = f64::from(plan.cost.passes) * (look + made + products);
        let solve = if self.folds > 1 { STEPS / (STEPS + LAMBDAS * ROUGH_STEPS) } else { 1.0 };
        let phase = |name: &str, seconds: f64| Phase { name: name.to_owned(), seconds };
        let [map, certificate] = self.before(machine);
        let phases = vec![
            phase("columns", look),
            map,
            certificate,
            phase("guide", look + self.seconds_to_guide(plan, machine)),
            phase("cross-validation", (1.0 - solve) * passes),
            phase("solve", solve * passes),
        ];
        Forecast { features: self.features, cost: plan.cost, phases }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kernel, MapSpec};

    fn shape(features: usize, rows: u64) -> RidgeShape {
        let map = MapSpec { features, ..MapSpec::fourier(Kernel::gaussian(1.0)) };
        RidgeShape {
            map,
            features,
            inputs: 20,
            entries: 20,
            outputs: 3,
            folds: 5,
            scalar_bytes: 4,
            rows: Some(rows),
        }
    }

    /// A billion rows take no more memory than a million, and a thousand times the work.
    #[test]
    fn memory_does_not_depend_on_rows() {
        for limit in [u64::MAX, 1 << 30] {
            let (few, many) =
                (shape(4096, 1_000_000).newton(limit), shape(4096, 1_000_000_000).newton(limit));
            assert_eq!((few.cost.peak_bytes, few.guide), (many.cost.peak_bytes, many.guide));
            assert_eq!(few.cost.passes, many.cost.passes);
            assert!(few.cost.peak_bytes <= limit);
        }
    }

    /// D² where it fits, random vectors where it does not, a diagonal where there is room for neither; each takes more passes.
    #[test]
    fn the_guide_is_the_best_that_fits() {
        let shape = shape(20_000, 1_000_000);
        let whole = shape.newton(u64::MAX);
        assert_eq!(whole.guide, Preconditioner::Sample);
        let vectors = shape.newton(whole.cost.peak_bytes - 1);
        assert!(matches!(vectors.guide, Preconditioner::Nystrom { .. }), "{vectors:?}");
        let least = shape.newton(0);
        assert_eq!(least.guide, Preconditioner::Diagonal);
        assert!(
            least.cost.peak_bytes < vectors.cost.peak_bytes
                && vectors.cost.peak_bytes < whole.cost.peak_bytes
        );
        assert!(least.cost.passes > vectors.cost.passes && vectors.cost.passes > whole.cost.passes);
    }
}

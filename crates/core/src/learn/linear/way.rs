//! Whether features are held or made anew in each pass, and what either costs.

use super::Linear;
use crate::Result;
use crate::certify::capacity;
use crate::learn::held::Size;
use crate::learn::{Ridge, Uncertainty};
use crate::plan::{Conjugate, Cost, RidgeShape};
use crate::solve::MOST_FACTORED;
use crate::source::{Source, entries_of_a_row};
use crate::sweep::BLOCK;

/// How a fit goes, and what it costs.
pub(in crate::learn) enum Way {
    Held(Cost),
    Passes(Conjugate),
}

impl Way {
    pub(super) fn cost(&self) -> Cost {
        match self {
            Way::Held(cost) => *cost,
            Way::Passes(plan) => plan.cost,
        }
    }
}

impl Linear {
    /// What fitting will cost, with as much memory as is needed; for a source of unknown length, with one block of rows.
    pub fn plan(&self, source: &dyn Source) -> Result<Cost> {
        self.plan_within(source, u64::MAX)
    }

    /// What fitting will cost within so many bytes: features that do not fit are made anew in each pass, if the loss is one that Newton's method minimises.
    pub fn plan_within(&self, source: &dyn Source, limit: u64) -> Result<Cost> {
        Ok(self.way_before(source, limit)?.cost())
    }

    /// The way that will be taken, as far as can be told before the rows are read.
    pub(in crate::learn) fn way_before(&self, source: &dyn Source, limit: u64) -> Result<Way> {
        self.validate()?;
        let rows = source.row_count().unwrap_or(BLOCK as u64);
        Ok(self.way(source, self.map.output_dim(source.input_dim()), rows, limit))
    }

    /// Features are held if they fit; the way that takes less if neither does.
    pub(super) fn way(&self, source: &dyn Source, features: usize, rows: u64, limit: u64) -> Way {
        let held = self.cost_held(source, features, rows);
        if held.peak_bytes <= limit || !self.is_newtons() {
            return Way::Held(held);
        }
        let passes = self.shape(source, features, rows).newton(limit);
        if passes.cost.peak_bytes < held.peak_bytes { Way::Passes(passes) } else { Way::Held(held) }
    }

    /// The shape of the passes: one λ at a time.
    pub(in crate::learn) fn shape(&self, source: &dyn Source, features: usize, rows: u64) -> RidgeShape {
        let ridge = Ridge { lambda: self.lambda, ..Ridge::new(self.map.clone()) };
        let rows = source.row_count().map(|_| rows);
        RidgeShape { rows, ..ridge.shape(source, features, Uncertainty::default()) }
    }

    /// With features held.
    fn cost_held(&self, source: &dyn Source, features: usize, rows: u64) -> Cost {
        let held = Size::of(source, &self.map, features, rows);
        let outputs = source.target().outputs();
        // Signs, scores and α of each output beside the features, and what the solver keeps of the rows it looks at.
        let beside = rows.saturating_mul(8 * 5 * outputs as u64);
        let is_sparse = self.map.is_sparse() || (source.stored_entries().is_some() && self.map.is_identity());
        // The matrix that guides Newton's method as sums, whole, scaled, and its factor; sparse rows a second time, column by column.
        let guide = match (self.by_newton(is_sparse), is_sparse) {
            (false, _) => 0,
            (true, true) => held.entries.saturating_mul(source.scalar_bytes() as u64 + 4),
            (true, false) if features <= MOST_FACTORED => {
                (features as u64).saturating_pow(2).saturating_mul(4 * 8)
            }
            (true, false) => 0,
        };
        let sample = (capacity(&self.map, source.input_dim()) as u64)
            .saturating_mul(entries_of_a_row(source))
            .saturating_mul(24);
        let peak_bytes = [held.bytes, beside, guide, sample, self.map.bytes(source.input_dim())]
            .into_iter()
            .fold(0, u64::saturating_add);
        Cost {
            passes: 2,
            multiply_adds_per_million_rows: 1e6 * source.input_dim() as f64 * features as f64,
            // A hundred visits of each row, there and back.
            multiply_adds_to_solve: 200.0 * held.entries as f64 * outputs as f64,
            peak_bytes,
        }
    }
}

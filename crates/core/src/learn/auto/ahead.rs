//! What can be told before the rows are read: whether a fit is in order, what it costs, how long it takes.

use super::{Auto, KernelChoice, MetricChoice, Sizes, metric};
use crate::certify::capacity;
use crate::encode::Form;
use crate::learn::tune::{Outlook, search_bytes, search_seconds};
use crate::plan::{Cost, Machine};
use crate::source::{Source, entries_of_a_row};
use crate::sweep::BLOCK;
use crate::{Engine, Error, Result};

impl Auto {
    /// What is given is in order, and fits; what is left to the data will fit with its fewest features.
    pub(super) fn check(&self, engine: &Engine, source: &dyn Source) -> Result<()> {
        let (limit, rounded) = (engine.memory_limit(), self.rounded(source));
        self.spec().validate()?;
        self.metric.check(source.input_dim())?;
        self.check_metric()?;
        let smallest = match self.sizes_of(source, limit)? {
            Sizes::One { fit, .. } => *fit,
            Sizes::Doubled { first, .. } => self.sized(&self.anchor(), first),
        };
        smallest.learner(self.anchor(), self.most_features()).check(engine, &rounded)?;
        let needed = smallest.cost(&rounded, self.sampled(source), limit)?.peak_bytes;
        let features = smallest.spec().output_dim(source.input_dim());
        engine.check_memory(|| format!("a fit with {features} features"), needed)
    }

    /// A metric that mixes columns is of no use to a kernel that looks at some of them, or that takes only some rows.
    fn check_metric(&self) -> Result<()> {
        let KernelChoice::Given(kernel) = &self.kernel else { return Ok(()) };
        if !self.metric.mixes() || !(kernel.has_columns() || self.spec().has_domain()) {
            return Ok(());
        }
        Err(Error::Unsupported {
            what: format!("a full metric for {kernel}"),
            reason: "the metric mixes columns, and the kernel names some, or takes only some rows",
            instead: "use a diagonal metric, or a kernel of all columns",
        })
    }

    /// What fitting will cost, as far as it can be told before the rows are seen; with 2,048 features where D is left to the data.
    pub fn plan(&self, source: &dyn Source) -> Result<Cost> {
        self.cost(&self.rounded(source), self.sampled(source), u64::MAX)
    }

    /// What a fit to rows in the precision of the features costs within so many bytes, beside a sample of so many rows, which may be more than its map needs.
    pub(super) fn cost(&self, source: &dyn Source, sampled: usize, limit: u64) -> Result<Cost> {
        let learner = self.learner(self.anchor(), self.most_features());
        let known = self.uncertainty.bytes(learner.map().output_dim(source.input_dim()));
        let beside = self.bytes_beside(source, sampled).saturating_add(known);
        let mut cost = learner.plan_within(source, self.uncertainty, limit.saturating_sub(beside))?;
        cost.peak_bytes = cost.peak_bytes.saturating_add(beside);
        Ok(cost)
    }

    /// Bytes that are held beside what the learner counts: a sample larger than its own, and a block of scaled rows.
    pub(super) fn bytes_beside(&self, source: &dyn Source, sampled: usize) -> u64 {
        let rows = source.row_count().unwrap_or(u64::MAX);
        let entries = |rows: u64| rows.saturating_mul(entries_of_a_row(source));
        let is_larger = sampled > capacity(&self.spec(), source.input_dim());
        // An entry is a place and a number.
        let sample = if is_larger { entries(rows.min(sampled as u64)).saturating_mul(16) } else { 0 };
        let scaled = entries(rows.min(BLOCK as u64)).saturating_mul(source.scalar_bytes() as u64);
        sample.saturating_add(if self.standardise { scaled } else { 0 })
    }

    /// What fitting will take on a machine, where a pass over the source takes `reading` seconds by itself: the search for a kernel, and a fit for each D that may be tried.
    pub fn forecast(
        &self,
        engine: &Engine,
        source: &dyn Source,
        machine: &Machine,
        reading: f64,
    ) -> Result<Outlook> {
        let (limit, rounded, kernel) = (engine.memory_limit(), self.rounded(source), self.anchor());
        self.spec().validate()?;
        let rows = source.row_count().ok_or_else(|| Error::Unsupported {
            what: "a forecast for a source that does not know its rows".to_owned(),
            reason: "time grows with them",
            instead: "count them first",
        })?;
        // The first within the limit; others only by sums, or with features that are held, which tell the error of every fold.
        let fits: Vec<(Auto, u64)> = match self.sizes_of(source, limit)? {
            Sizes::One { fit, .. } => vec![(*fit, limit)],
            Sizes::Doubled { first, most } => {
                let sizes = std::iter::successors(Some(first), |d| (*d < most).then(|| (2 * d).min(most)));
                let limit = |d: usize| if d == first { limit } else { u64::MAX };
                sizes.map(|features| (self.sized(&kernel, features), limit(features))).collect()
            }
        };
        let sampled = self.sampled(source);
        let fits = fits.iter().map(|(fit, limit)| {
            let learner = fit.learner(kernel.clone(), fit.most_features());
            let told = learner.forecast(&rounded, rows, machine, reading, self.uncertainty, *limit)?;
            Ok(crate::plan::Forecast { cost: fit.cost(&rounded, sampled, *limit)?, ..told })
        });
        let fits = fits.collect::<Result<Vec<_>>>()?;
        let entries = entries_of_a_row(source);
        let looked = rows.min(sampled as u64);
        let (mut search, mut bytes) = match self.kernel {
            KernelChoice::Given(_) => (0.0, 0),
            _ => (
                search_seconds(self.families().len(), looked, entries, machine),
                search_bytes(self.features, looked, entries, limit),
            ),
        };
        let is_known = matches!(self.metric, MetricChoice::Learned(_));
        if is_known || self.may_be_stretched(source.input_dim()) {
            let (columns, is_sparse) = (source.input_dim(), source.stored_entries().is_some());
            let size = metric::Size {
                sampled: looked,
                rows: metric::rows_fitted(looked),
                columns,
                outputs: source.target().outputs(),
                entries: is_sparse.then_some(entries),
                mixes: self.metric.forms(columns, is_sparse).contains(&Form::Full),
            };
            if let Some((seconds, needed)) = self.metric.forecast(&size, machine, limit) {
                search += seconds;
                bytes = bytes.max(needed);
            }
        }
        let (memory_limit, budget) = (limit, self.budget);
        Ok(Outlook { rows, search, search_bytes: bytes, fits, memory_limit, budget })
    }

    /// Whether a metric is looked for.
    pub(super) fn may_be_stretched(&self, columns: usize) -> bool {
        let is_wanted = match self.metric {
            MetricChoice::None | MetricChoice::Learned(_) => false,
            MetricChoice::Auto => !matches!(self.kernel, KernelChoice::Given(_)),
            MetricChoice::Diagonal | MetricChoice::Full => true,
        };
        is_wanted && columns > 1
    }

    /// Rows that are sampled at most.
    fn sampled(&self, source: &dyn Source) -> usize {
        capacity(&self.largest(source.input_dim()), source.input_dim())
    }

    /// How D will be found, if all rows are distinct.
    fn sizes_of(&self, source: &dyn Source, limit: u64) -> Result<Sizes> {
        let rows = source.row_count().and_then(|n| usize::try_from(n).ok());
        let distinct = rows.filter(|n| *n < self.sampled(source));
        self.sizes(&self.anchor(), distinct, &self.rounded(source), limit)
    }
}

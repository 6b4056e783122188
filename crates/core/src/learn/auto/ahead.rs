//! What can be told before the rows are read: whether a fit is in order, what it costs, how long it takes.

use super::learner::Learner;
use super::{Auto, KernelChoice, MetricChoice, Sizes, metric};
use crate::certify::capacity;
use crate::encode::{ADDED, Form};
use crate::learn::tune::{Outlook, search_bytes, search_seconds};
use crate::plan::{Cost, Forecast, Machine, Phase};
use crate::source::{Source, entries_of_a_row};
use crate::sweep::BLOCK;
use crate::{Engine, Error, Result};

impl Auto {
    /// What is given is in order, and fits; what is left to the data will fit with its fewest features.
    pub(super) fn check(&self, engine: &Engine, source: &dyn Source) -> Result<()> {
        let (limit, rounded) = (engine.memory_limit(), self.rounded(source));
        self.spec().validate()?;
        self.check_metric(engine, source)?;
        let smallest = match self.sizes_of(source, limit)? {
            Sizes::One { fit, .. } => *fit,
            Sizes::Doubled { first, .. } => self.sized(&self.anchor(), first),
        };
        smallest.learner(self.anchor(), self.most_features()).check(engine, &rounded)?;
        let needed = smallest.cost(&rounded, self.sampled(source), limit)?.peak_bytes;
        let features = smallest.spec().output_dim(source.input_dim());
        engine.check_memory(|| format!("a fit with {features} features"), needed)
    }

    /// A metric is in order, and one that is asked for fits where the rows are known. One that mixes columns is of no use to a kernel that tells them apart, or that takes only some rows.
    fn check_metric(&self, engine: &Engine, source: &dyn Source) -> Result<()> {
        self.metric.check(source.input_dim())?;
        if let (Some(rows), true) = (source.row_count(), self.metric.is_forced()) {
            let (_, needed) = self.metric_size(source, rows).largest(engine.memory_limit());
            engine.check_memory(|| "learning a metric".to_owned(), needed)?;
        }
        let KernelChoice::Given(kernel) = &self.kernel else { return Ok(()) };
        if !self.metric.mixes() || !(kernel.has_columns() || self.spec().has_domain()) {
            return Ok(());
        }
        Err(Error::Unsupported {
            what: format!("a full metric for {kernel}"),
            reason: "the metric mixes columns, and the kernel tells them apart, or takes only some rows",
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
        cost.multiply_adds_per_million_rows += 1e6 * self.to_stretch_a_row(source, &cost);
        Ok(cost)
    }

    /// Multiply-adds to stretch a row in all passes but the first, which finds how: of a metric that is known, or asked for, to mix columns.
    fn to_stretch_a_row(&self, source: &dyn Source, cost: &Cost) -> f64 {
        if !self.metric.mixes() {
            return 0.0;
        }
        let (columns, entries) = (source.input_dim() as f64, entries_of_a_row(source) as f64);
        let once = if self.mixes(source) { columns * columns } else { entries * ADDED as f64 };
        once * f64::from(cost.passes.saturating_sub(1))
    }

    /// What a learner's fit will take, rows being stretched for it.
    pub(super) fn forecast_of(
        &self,
        learner: &Learner,
        source: &dyn Source,
        rows: u64,
        (machine, reading): (&Machine, f64),
        limit: u64,
    ) -> Result<Forecast> {
        let mut told = learner.forecast(source, rows, machine, reading, self.uncertainty, limit)?;
        let stretched = rows as f64 * self.to_stretch_a_row(source, &told.cost);
        if stretched > 0.0 {
            let seconds = stretched / machine.of(source.scalar_bytes()).products;
            told.phases.push(Phase { name: "stretch".to_owned(), seconds });
        }
        Ok(told)
    }

    /// Bytes that are held beside what the learner counts: a sample larger than its own, a block of scaled rows, one of stretched rows, and L with what its products need.
    pub(super) fn bytes_beside(&self, source: &dyn Source, sampled: usize) -> u64 {
        let rows = source.row_count().unwrap_or(u64::MAX);
        let entries = |rows: u64| rows.saturating_mul(entries_of_a_row(source));
        let is_larger = sampled > capacity(&self.spec(), source.input_dim());
        // An entry is a place and a number.
        let sample = if is_larger { entries(rows.min(sampled as u64)).saturating_mul(16) } else { 0 };
        let scaled = entries(rows.min(BLOCK as u64)).saturating_mul(source.scalar_bytes() as u64);
        let columns = source.input_dim();
        let is_stretched = matches!(self.metric, MetricChoice::Learned(_)) || self.may_be_stretched(columns);
        let blocks = u64::from(self.standardise) + u64::from(is_stretched);
        let forms = if is_stretched { self.forms(source) } else { &[] };
        let numbers = |form: &Form| match form {
            Form::Diagonal => 0,
            Form::Full => 24u64.saturating_mul((columns as u64).saturating_mul(columns as u64)),
            Form::Leading => 8 * (ADDED as u64).saturating_mul(columns as u64 + 2 * rows.min(BLOCK as u64)),
        };
        let root = forms.iter().map(numbers).max().unwrap_or(0);
        sample.saturating_add(blocks.saturating_mul(scaled)).saturating_add(root)
    }

    fn forms(&self, source: &dyn Source) -> &'static [Form] {
        self.metric.forms(source.input_dim(), source.is_sparse())
    }

    /// Whether a metric is learnt from a sample of its own: rows are wide, and there is room for the search; a path says how it was found.
    pub(super) fn has_own_sample(&self, engine: &Engine, source: &dyn Source) -> bool {
        if !metric::are_wide(source.input_dim(), source.is_sparse()) {
            return false;
        }
        if let MetricChoice::Learned(path) = &self.metric {
            return path.landmarks;
        }
        let size = self.metric_size(source, source.row_count().unwrap_or(u64::MAX));
        let has_room = || {
            let limit = engine.memory_limit();
            size.largest(limit).1 <= limit
        };
        self.may_be_stretched(source.input_dim()) && (self.metric.is_forced() || has_room())
    }

    /// Whether a metric of these rows may mix all columns.
    fn mixes(&self, source: &dyn Source) -> bool {
        self.forms(source).contains(&Form::Full)
    }

    /// The shape of the search for a metric among so many rows.
    fn metric_size(&self, source: &dyn Source, rows: u64) -> metric::Size {
        /// Entries of sparse rows, where nobody has counted them.
        const FEW: u64 = 1024;
        let is_sparse = source.is_sparse();
        let wide = metric::are_wide(source.input_dim(), is_sparse);
        let counted = source.stored_entries().map(|_| entries_of_a_row(source));
        let guessed = is_sparse.then(|| FEW.min(source.input_dim() as u64));
        let entries = counted.or(guessed);
        let most = if wide {
            metric::wide_rows(entries.unwrap_or(source.input_dim() as u64))
        } else {
            self.sampled(source) as u64
        };
        let sampled = rows.min(most);
        metric::Size {
            sampled,
            rows: metric::rows_fitted(sampled),
            columns: source.input_dim(),
            outputs: source.target().outputs(),
            entries,
            mixes: self.mixes(source),
            leading: self.forms(source).contains(&Form::Leading),
            wide,
        }
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
        self.check_metric(engine, source)?;
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
            let told = self.forecast_of(&learner, &rounded, rows, (machine, reading), *limit)?;
            Ok(Forecast { cost: fit.cost(&rounded, sampled, *limit)?, ..told })
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
            let size = self.metric_size(source, rows);
            // One that does not fit is done without, if it is not asked for.
            let fits = |needed: u64| needed <= limit || is_known || self.metric.is_forced();
            let forecast = self.metric.forecast(&size, machine, limit);
            if let Some((seconds, needed)) = forecast.filter(|(_, needed)| fits(*needed)) {
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

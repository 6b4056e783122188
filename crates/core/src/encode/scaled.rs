//! A source seen through a scaling and a metric, in the precision that is wanted.

use super::{Form, Metric, Precision, Scaling};
use crate::matrix::with_rows;
use crate::source::{Batch, Batches, Source, Target};
use crate::{AnyRows, Engine, OwnedRows, Result, Rows, Scalar};

/// The rows of another source, scaled and rounded as they are read.
pub struct Scaled<'a> {
    source: &'a dyn Source,
    scaling: Scaling,
    /// With the threads that stretch rows by it.
    metric: Option<(Metric, &'a Engine)>,
    precision: Precision,
}

impl<'a> Scaled<'a> {
    /// Scales `source`; scaling comes before rounding, so that columns far from zero keep their digits.
    pub fn new(source: &'a dyn Source, scaling: Scaling, precision: Precision) -> Self {
        Scaled { source, scaling, metric: None, precision }
    }

    /// The same, stretched by a metric once scaled and rounded, on the threads of an engine.
    pub fn with_metric(self, metric: Metric, engine: &'a Engine) -> Self {
        Scaled { metric: Some((metric, engine)), ..self }
    }

    /// Columns that the metric adds.
    fn added(&self) -> usize {
        self.metric.as_ref().map_or(0, |(metric, _)| metric.width() - metric.columns())
    }

    fn rows<T: Scalar, U: Scalar>(&self, rows: &Rows<'_, T>) -> OwnedRows<U> {
        let scaled = self.scaling.rows(rows);
        match &self.metric {
            Some((metric, engine)) => metric.rows(engine, &scaled.view()),
            None => scaled,
        }
    }
}

impl Source for Scaled<'_> {
    fn input_dim(&self) -> usize {
        self.source.input_dim() + self.added()
    }

    fn content_dim(&self) -> usize {
        self.source.content_dim()
    }

    fn target(&self) -> &Target {
        self.source.target()
    }

    fn scaled_columns(&self) -> usize {
        self.source.scaled_columns()
    }

    fn row_count(&self) -> Option<u64> {
        self.source.row_count()
    }

    fn scalar_bytes(&self) -> usize {
        self.precision.bytes()
    }

    fn stored_entries(&self) -> Option<u64> {
        let is_mixed = self.metric.as_ref().is_some_and(|(metric, _)| metric.form() == Form::Full);
        let stored = self.source.stored_entries().filter(|_| !is_mixed)?;
        Some(stored + self.row_count().map_or(0, |rows| rows * self.added() as u64))
    }

    fn is_sparse(&self) -> bool {
        let is_mixed = self.metric.as_ref().is_some_and(|(metric, _)| metric.form() == Form::Full);
        self.source.is_sparse() && !is_mixed
    }

    fn open(&self) -> Result<Box<dyn Batches + '_>> {
        Ok(Box::new(ScaledBatches { batches: self.source.open()?, scaled: self, rows: None }))
    }
}

struct ScaledBatches<'a> {
    batches: Box<dyn Batches + 'a>,
    scaled: &'a Scaled<'a>,
    /// The batch handed out last.
    rows: Option<AnyOwned>,
}

/// Rows of either precision.
pub(crate) enum AnyOwned {
    F32(OwnedRows<f32>),
    F64(OwnedRows<f64>),
}

impl AnyOwned {
    /// Rows of any precision, scaled and rounded to another.
    pub(crate) fn scaled<T: Scalar>(scaling: &Scaling, rows: &Rows<'_, T>, precision: Precision) -> AnyOwned {
        match precision {
            Precision::Single => AnyOwned::F32(scaling.rows(rows)),
            Precision::Double => AnyOwned::F64(scaling.rows(rows)),
        }
    }
}

impl Batches for ScaledBatches<'_> {
    fn next(&mut self, most: usize) -> Result<Option<Batch<'_>>> {
        let Some(batch) = self.batches.next(most)? else { return Ok(None) };
        let scaled = self.scaled;
        let rows = self.rows.insert(match self.scaled.precision {
            Precision::Single => AnyOwned::F32(with_rows!(batch.rows, rows => scaled.rows(&rows))),
            Precision::Double => AnyOwned::F64(with_rows!(batch.rows, rows => scaled.rows(&rows))),
        });
        let rows = match rows {
            AnyOwned::F32(rows) => AnyRows::F32(rows.view()),
            AnyOwned::F64(rows) => AnyRows::F64(rows.view()),
        };
        Ok(Some(Batch { rows, ..batch }))
    }

    fn fraction(&self) -> Option<f64> {
        self.batches.fraction()
    }
}

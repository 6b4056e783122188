//! A source seen through a scaling.

use super::Scaling;
use crate::source::{Batch, Batches, Source, Target};
use crate::{AnyRows, OwnedRows, Result};

/// The rows of another source, scaled as they are read.
pub struct Scaled<'a> {
    source: &'a dyn Source,
    scaling: &'a Scaling,
}

impl<'a> Scaled<'a> {
    /// Scales `source`.
    pub fn new(source: &'a dyn Source, scaling: &'a Scaling) -> Self {
        Scaled { source, scaling }
    }
}

impl Source for Scaled<'_> {
    fn input_dim(&self) -> usize {
        self.source.input_dim()
    }

    fn target(&self) -> &Target {
        self.source.target()
    }

    fn row_count(&self) -> Option<u64> {
        self.source.row_count()
    }

    fn scalar_bytes(&self) -> usize {
        self.source.scalar_bytes()
    }

    fn open(&self) -> Result<Box<dyn Batches + '_>> {
        Ok(Box::new(ScaledBatches { batches: self.source.open()?, scaling: self.scaling, rows: None }))
    }
}

struct ScaledBatches<'a> {
    batches: Box<dyn Batches + 'a>,
    scaling: &'a Scaling,
    /// The batch handed out last.
    rows: Option<AnyOwned>,
}

enum AnyOwned {
    F32(OwnedRows<f32>),
    F64(OwnedRows<f64>),
}

impl Batches for ScaledBatches<'_> {
    fn next(&mut self, most: usize) -> Result<Option<Batch<'_>>> {
        let Some(batch) = self.batches.next(most)? else { return Ok(None) };
        let rows = self.rows.insert(match batch.rows {
            AnyRows::F32(rows) => AnyOwned::F32(self.scaling.rows(&rows)),
            AnyRows::F64(rows) => AnyOwned::F64(self.scaling.rows(&rows)),
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

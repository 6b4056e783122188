//! Features that are made once and kept, for passes that meet them again and again.
//!
//! ```text
//! rows ─▶ map ─▶ blocks in memory;      a pass over them is one over the source, bit for bit, but for plain landmarks
//! ```
//! Whitened landmarks z = Wᵀk are kept as plain kernel values k, whitening being linear: Z·p = K·(W·p) and Zᵀv = Wᵀ·(Kᵀv) take D²/2 multiply-adds for a vector in place of D²/2 for every
//! row. What is said of a direction is as exact as before: rounded kernel values meet W·p where they met W before.

use super::streamed::{Block, Streamed};
use crate::solve::pcg::Vectors;
use crate::stat::Statistic;
use crate::sweep::{Groups, try_sweep};
use crate::{AnyRows, Engine, Error, Event, Map, Matrix, OwnedRows, Result, Rows, Scalar};

/// Features of all rows of a source.
pub(super) struct Kept<'a> {
    blocks: Vec<KeptBlock>,
    /// W.
    whitening: Option<&'a Matrix<f64>>,
}

struct KeptBlock {
    block: Block,
    features: AnyFeatures,
}

/// In the precision of the source.
pub(super) enum AnyFeatures {
    F32(OwnedRows<f32>),
    F64(OwnedRows<f64>),
}

impl<'a> Kept<'a> {
    /// One pass. Plain values are kept of whitened landmarks if these may be.
    pub(super) fn of(stream: &Streamed<'a>, may_be_plain: bool) -> Result<Kept<'a>> {
        let plain = may_be_plain.then(|| stream.map.plain()).flatten();
        let map = plain.as_ref().unwrap_or(stream.map);
        let mut blocks = Vec::new();
        let check = || stream.engine.tell(&Event::Alive);
        try_sweep(
            stream.engine,
            stream.source,
            "features",
            || (),
            |(), batch| {
                let features = match batch.rows {
                    AnyRows::F32(rows) => AnyFeatures::F32(made(stream.engine, map, &rows, check)?),
                    AnyRows::F64(rows) => AnyFeatures::F64(made(stream.engine, map, &rows, check)?),
                };
                blocks.push(KeptBlock { block: stream.block(batch), features });
                Ok(())
            },
        )?;
        let whitening = plain.as_ref().and(stream.map.whitening());
        Ok(Kept { blocks, whitening })
    }

    /// Directions as kept features meet them.
    pub(super) fn directions(&self, engine: &Engine, directions: &[&[f64]]) -> Vectors {
        let one = |k: usize| match (self.whitening, directions[k]) {
            (Some(whitening), p) => (0..p.len()).map(|i| dot_from(i, whitening.row(i), p)).collect(),
            (None, p) => p.to_vec(),
        };
        engine.map(directions.len(), &one)
    }

    /// Sums of kept features as sums of features.
    pub(super) fn sums(&self, engine: &Engine, sums: Vectors) -> Vectors {
        let Some(whitening) = self.whitening else { return sums };
        let one = |k: usize| {
            let sum = &sums[k];
            let mut out = vec![0.0; sum.len()];
            for (i, value) in sum.iter().enumerate() {
                let row = &whitening.row(i)[i..];
                out[i..].iter_mut().zip(row).for_each(|(out, w)| *out += value * w);
            }
            out
        };
        engine.map(sums.len(), &one)
    }

    /// One pass over the blocks, in the order and the groups of a sweep.
    pub(super) fn pass<S: Statistic + Send>(
        &self,
        engine: &Engine,
        zero: impl Fn() -> S + Sync,
        mut absorb: impl FnMut(&mut S, &Block, &AnyFeatures) + Send,
    ) -> Result<S> {
        let mut groups = Groups::default();
        for KeptBlock { block, features } in &self.blocks {
            absorb(groups.next(&zero), block, features);
            engine.tell(&Event::Alive)?;
        }
        groups.total().ok_or(Error::NoRows)
    }
}

/// Σ w·p from the diagonal on.
fn dot_from(first: usize, row: &[f64], p: &[f64]) -> f64 {
    crate::linalg::dot(&row[first..], &p[first..])
}

fn made<T: Scalar>(
    engine: &Engine,
    map: &Map,
    rows: &Rows<'_, T>,
    check: impl Fn() -> Result<()>,
) -> Result<OwnedRows<T>> {
    if map.spec().is_sparse() {
        return map.sparse_features(engine, rows).map(OwnedRows::Sparse);
    }
    let mut z = Matrix::zeros(rows.count(), map.output_dim());
    map.apply_until(engine, rows, z.as_mut_slice(), false, check)?;
    Ok(OwnedRows::Dense(z))
}

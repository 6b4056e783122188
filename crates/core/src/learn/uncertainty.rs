//! What a model is to know of its own errors.
//!
//! ```text
//! rows ─┬─ kept ──────▶ fit ─▶ model, with its posterior;  left-out folds ─▶ calibrated probabilities
//!       └─ held out ──────────▶ scores in order                            P(a new row scores ≤ the r-th of K) ≥ r/(K + 1)
//! ```
//! The fit does not see the targets of held-out rows at all, nor their inputs: neither scaling, width, landmarks nor λ. What a column of a table holds, its
//! levels, bounds and quantiles, is found before from the inputs of all rows. Nor is the model fitted again with them afterwards, which would be another
//! model than the one that was scored: intervals cost that share of the rows. Rows are held out by the hash of their content, so that equal rows are on one side.
//! `docs/book/uncertainty.md`.

use serde::{Deserialize, Serialize};

use super::calibrate::{FoldModel, Scored};
use super::{Lambda, Linear, Ridge};
use crate::certify::capacity;
use crate::certify::conformal::Scores;
use crate::content::{ContentHash, fold_hashes, hashes, is_below};
use crate::engine::Check;
use crate::model::{Calibration, Head, HeldOut, Posterior};
use crate::random::Stream;
use crate::solve::{Factored, Normal, Solution};
use crate::source::{Batch, Batches, Source, Target};
use crate::stat::{Gram, Sample};
use crate::sweep::sweep;
use crate::{AnyRows, Csr, Engine, Error, Event, Loss, Map, Matrix, Model, OwnedRows, Result, Rows, Scalar};

/// Folds that probabilities are calibrated on where λ is given; those of its cross-validation where it is not.
const FOLDS: usize = 5;

/// What a model is to know of its own errors; nothing by default.
///
/// Intervals and sets promise coverage for a *new distinct row*: if distinct rows (each with its targets) are exchangeable, and the seed was not chosen by looking at them, then the target of a
/// row unlike all rows of the fit lies in its interval with at least the probability that was asked for. On average over fits and rows, for each output by itself; not for every row by itself, and not for rows from elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uncertainty {
    /// Keep the posterior of the coefficients, for [`Model::deviation`]: D²/2 numbers in memory and in the file. Ridge regression only.
    pub deviation: bool,
    /// The share of the rows, between 0 and 1, that is held out of the fit for [`Model::intervals`] and [`Model::sets`]; none for none.
    pub held_out: Option<f64>,
    /// Make [`Model::probabilities`] of scores, on folds that were left out: one more solve for each. Logistic loss has probabilities without; this mends their size.
    pub calibrated: bool,
}

impl Uncertainty {
    /// What is asked for can be had of this loss and target.
    pub(super) fn check(&self, loss: Loss, target: &Target) -> Result<()> {
        let is_classes = matches!(target, Target::Classes { .. });
        if let Some(share) = self.held_out
            && !(share > 0.0 && share < 1.0)
        {
            let (name, expected) = ("held_out", "between 0 and 1, such as 0.1");
            return Err(Error::Parameter { name, expected, found: share.to_string() });
        }
        if self.deviation && (is_classes || loss != Loss::Squares) {
            return Err(Error::Unsupported {
                what: format!("a deviation under {loss}{}", if is_classes { " of classes" } else { "" }),
                reason: "it is the posterior of a ridge regression",
                instead: "minimise squares of numbers, or hold rows out for intervals and sets",
            });
        }
        if self.calibrated && !is_classes {
            return Err(Error::Unsupported {
                what: "calibrating a prediction of numbers".to_owned(),
                reason: "probabilities are of classes",
                instead: "keep a deviation, or hold rows out for intervals",
            });
        }
        Ok(())
    }

    /// Whether scores are to become probabilities; sets of classes are made of these.
    pub(super) fn calibrates(&self, loss: Loss, target: &Target) -> bool {
        let is_classes = matches!(target, Target::Classes { .. });
        is_classes && (self.calibrated || (self.held_out.is_some() && loss != Loss::Logistic))
    }

    /// Whether a ridge needs the sums of all features for what is asked.
    pub(super) fn needs_sums(&self, target: &Target) -> bool {
        self.deviation || self.calibrates(Loss::Squares, target)
    }

    /// Parts that rows are divided into.
    pub(super) fn folds(&self, lambda: Lambda, loss: Loss, target: &Target) -> usize {
        match lambda {
            Lambda::Given { .. } if self.calibrates(loss, target) => FOLDS,
            _ => lambda.folds(),
        }
    }

    /// Bytes that the posterior of so many features takes.
    pub(super) fn bytes(&self, features: usize) -> u64 {
        if self.deviation { Posterior::entries(features).saturating_mul(8) } else { 0 }
    }

    /// The hash by which rows are held out, and their share; none where none are.
    pub(super) fn held_out_hash(&self, seed: u64) -> Option<(ContentHash, f64)> {
        self.held_out.map(|share| (ContentHash::new(seed, Stream::HeldOut), share))
    }

    /// Fits to the rows that are kept, and scores those that are held out with the model that comes back.
    pub(super) fn fit(
        &self,
        engine: &Engine,
        source: &dyn Source,
        seed: u64,
        fit: impl FnOnce(&dyn Source) -> Result<Model>,
    ) -> Result<Model> {
        let Some((hash, share)) = self.held_out_hash(seed) else { return fit(source) };
        let split = |is_held| Split { engine, source, hash: hash.clone(), share, is_held };
        let model = fit(&split(false))?;
        let scores = score(engine, &split(true), &model, seed)?;
        let rows = scores.count();
        if rows < 100 {
            let text = format!(
                "{rows} distinct rows were held out: intervals and sets that are to cover more than {:.3} hold everything",
                rows as f64 / (rows as f64 + 1.0)
            );
            engine.tell(&Event::Warning { text: &text })?;
        }
        Ok(model.with_held_out(HeldOut::new(scores.order_statistics(), share)))
    }
}

impl Ridge {
    /// Fits a model that knows as much of its errors as is asked for.
    pub fn fit_uncertain(&self, engine: &Engine, source: &dyn Source, known: Uncertainty) -> Result<Model> {
        known.check(Loss::Squares, source.target())?;
        known.fit(engine, source, self.map.seed, |source| {
            self.check(engine, source)?;
            let capacity = capacity(&self.map, source.input_dim());
            let sample = Sample::of(engine, source, capacity, self.map.seed)?;
            self.fit_knowing(engine, source, &sample, known)
        })
    }

    /// The coefficients without each fold, in the units of the targets.
    pub(super) fn without_each_fold(
        &self,
        engine: &Engine,
        gram: &Gram,
        lambda: f64,
        shift: &[f64],
    ) -> Result<Vec<FoldModel>> {
        let total: f64 = (0..gram.folds()).map(|k| gram.weight(k)).sum();
        let solve = |check: Check<'_>| {
            let one = |k: usize| {
                let is_usable = gram.weight(k) > 0.0 && gram.weight(k) < total;
                let check = |part: f64| check((k as f64 + part) / gram.folds() as f64);
                is_usable
                    .then(|| {
                        let normal = Normal::new(engine, gram.without(engine, k), self.intercept);
                        let (solution, _) = normal.factor(engine, lambda, &check)?;
                        let Solution { coefficients: c, mut intercept } = solution;
                        intercept.iter_mut().zip(shift).for_each(|(b, shift)| *b += shift);
                        Ok((Matrix::from_fn(c.columns(), c.rows(), |o, j| c.row(j)[o]), intercept))
                    })
                    .transpose()
            };
            (0..gram.folds()).map(one).collect()
        };
        engine.phase("folds", gram.rows(), solve)
    }

    /// Probabilities of scores that the model of the other folds gives the rows of each.
    pub(super) fn calibration(
        &self,
        engine: &Engine,
        source: &dyn Source,
        map: &Map,
        models: &[FoldModel],
    ) -> Result<Calibration> {
        let scored = Scored::of(engine, source, map, models)?;
        let Target::Classes { labels } = source.target() else { return Ok(Calibration::default()) };
        scored.calibration(engine, labels.len())
    }
}

impl Linear {
    /// Fits a model that knows as much of its errors as is asked for.
    pub fn fit_uncertain(&self, engine: &Engine, source: &dyn Source, known: Uncertainty) -> Result<Model> {
        known.check(self.loss, source.target())?;
        known.fit(engine, source, self.map.seed, |source| {
            self.check(engine, source)?;
            let capacity = capacity(&self.map, source.input_dim());
            let sample = Sample::of(engine, source, capacity, self.map.seed)?;
            self.fit_knowing(engine, source, &sample, None, known)
        })
    }
}

/// The posterior of a ridge regression: its factor, and the size of the errors that are left.
///
/// `weight` is the sum of all weights, n; `freedom` tr S(S + λI)⁻¹.
pub(super) fn posterior(factored: Factored, intercept: bool, weight: f64, freedom: f64) -> Result<Posterior> {
    let Factored { cholesky, feature_means, squares } = factored;
    let left = weight - freedom - if intercept { 1.0 } else { 0.0 };
    if !(left > 1e-9 * weight) {
        return Err(Error::Unsupported {
            what: format!(
                "a deviation from weights of sum {weight:.4} after {freedom:.1} degrees of freedom"
            ),
            reason: "a weight is a number of rows, and there are too few for the size of the errors to be told",
            instead: "give weights that count rows, more rows, or a larger λ",
        });
    }
    let noise = squares.iter().map(|square| (weight * square / left).sqrt()).collect();
    let means = if intercept { feature_means } else { Vec::new() };
    Ok(Posterior::new(cholesky.packed(), means, weight, noise))
}

/// The rows of a source on one side of the split: the others have weight 0, which is as if they were not there.
struct Split<'a> {
    engine: &'a Engine,
    source: &'a dyn Source,
    hash: ContentHash,
    share: f64,
    is_held: bool,
}

impl Source for Split<'_> {
    fn input_dim(&self) -> usize {
        self.source.input_dim()
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
        self.source.scalar_bytes()
    }

    fn content_dim(&self) -> usize {
        self.source.content_dim()
    }

    fn stored_entries(&self) -> Option<u64> {
        self.source.stored_entries()
    }

    fn is_sparse(&self) -> bool {
        self.source.is_sparse()
    }

    fn open(&self) -> Result<Box<dyn Batches + '_>> {
        let (hash, weights) = (self.hash.clone(), Vec::new());
        Ok(Box::new(SplitBatches { batches: self.source.open()?, split: self, hash, weights }))
    }
}

struct SplitBatches<'a> {
    batches: Box<dyn Batches + 'a>,
    split: &'a Split<'a>,
    hash: ContentHash,
    /// Those of the batch handed out last.
    weights: Vec<f64>,
}

impl Batches for SplitBatches<'_> {
    fn next(&mut self, most: usize) -> Result<Option<Batch<'_>>> {
        let Some(batch) = self.batches.next(most)? else { return Ok(None) };
        let Split { share, is_held, .. } = *self.split;
        self.weights.clear();
        let hashes = fold_hashes(self.split.engine, &self.hash, &batch);
        // A source that hands over too few weights is found out by the sweep.
        let count = batch.weights.map_or(hashes.len(), |weights| weights.len().min(hashes.len()));
        for (i, &hash) in hashes.iter().enumerate().take(count) {
            let is_here = (is_below(hash, share)) == is_held;
            self.weights.push(if is_here { batch.weight(i) } else { 0.0 });
        }
        Ok(Some(Batch { weights: Some(&self.weights), ..batch }))
    }

    fn fraction(&self) -> Option<f64> {
        self.batches.fraction()
    }
}

/// Scores of the rows of a source under a model that has not seen them: |y − f(x)|/√(1 + v(x)) for each output, or 1 − P(class | x).
fn score(engine: &Engine, held: &dyn Source, model: &Model, seed: u64) -> Result<Scores> {
    let columns = match model.head() {
        Head::Classification { .. } => 1,
        _ => model.intercept().len(),
    };
    let (mut scores, mut failed) = (Scores::new(columns), None);
    let (quiet, hash) = (engine.quiet(), ContentHash::new(seed, Stream::HeldOut));
    let swept = sweep(
        engine,
        held,
        "held-out rows",
        || (),
        |(), batch| {
            if failed.is_some() {
                return;
            }
            let chosen: Vec<usize> = (0..batch.rows.count()).filter(|&i| batch.weight(i) > 0.0).collect();
            let hashes = hashes(engine, &hash, batch);
            let found = match batch.rows {
                AnyRows::F32(rows) => of_rows(&quiet, model, picked(&rows, &chosen).view(), batch, &chosen),
                AnyRows::F64(rows) => of_rows(&quiet, model, picked(&rows, &chosen).view(), batch, &chosen),
            };
            match found {
                Ok(found) => {
                    let rows = chosen.iter().zip(found.as_slice().chunks_exact(columns));
                    rows.for_each(|(&i, row)| scores.add(hashes[i], row, batch.weight(i)));
                }
                Err(error) => failed = Some(error),
            }
        },
    );
    match (swept, failed) {
        (_, Some(error)) => Err(error),
        (Err(Error::NoRows), None) => Err(Error::Unsupported {
            what: "holding rows out".to_owned(),
            reason: "so small a share of so few distinct rows is none",
            instead: "hold a larger share out, or give more rows",
        }),
        (Err(error), None) => Err(error),
        (Ok(()), None) => Ok(scores),
    }
}

/// Scores of some rows of a batch.
fn of_rows<'a, T: Scalar>(
    engine: &Engine,
    model: &Model,
    rows: Rows<'a, T>,
    batch: &Batch<'_>,
    chosen: &[usize],
) -> Result<Matrix<f64>>
where
    AnyRows<'a>: From<Rows<'a, T>>,
{
    let outputs = model.decide(engine, rows)?;
    let target = |i: usize, o: usize| batch.targets.row(chosen[i])[o];
    let scores = match model.probabilities(&outputs) {
        Some(probabilities) => {
            Matrix::from_fn(outputs.rows(), 1, |i, _| 1.0 - probabilities.row(i)[target(i, 0) as usize])
        }
        None => {
            let widths = model.widths(engine, rows)?;
            Matrix::from_fn(outputs.rows(), outputs.columns(), |i, o| {
                (target(i, o) - outputs.row(i)[o]).abs() / widths[i]
            })
        }
    };
    match scores.as_slice().iter().all(|score| score.is_finite()) {
        true => Ok(scores),
        false => Err(Error::Overflow { what: "the errors of held-out rows" }),
    }
}

/// Some rows of many.
fn picked<T: Scalar>(rows: &Rows<'_, T>, chosen: &[usize]) -> OwnedRows<T> {
    match rows {
        Rows::Dense(dense) => {
            OwnedRows::Dense(Matrix::from_fn(chosen.len(), rows.columns(), |i, j| dense.row(chosen[i])[j]))
        }
        Rows::Sparse(_) => {
            let mut some = Csr::empty(rows.columns());
            chosen.iter().for_each(|&i| some.push_row(rows.entries(i)));
            OwnedRows::Sparse(some)
        }
    }
}

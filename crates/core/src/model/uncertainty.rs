//! What a model says of its own errors.
//!
//! ```text
//! deviation   s·√(1 + v(x)),   v(x) = ((z − z̄)ᵀ(S + λI)⁻¹(z − z̄) + 1)/n,   s² = RSS/(n − df − 1)         ridge: if the errors have one size everywhere
//! interval    f(x) ± s₍r₎·√(1 + v(x))                                     P(y inside) ≥ coverage, for any law: see `certify/conformal.rs`
//! set         { c : 1 − P(c | x) ≤ s₍r₎ } and the likeliest class            P(class inside) ≥ coverage
//! ```
//! Without a constant, z̄, the 1/n in v and the 1 in s² are not there; n is the sum of the weights. An interval is of one width, v being 0, where the model has no deviation.
//! `docs/book/uncertainty.md`.

use super::{Head, Model};
use crate::certify::conformal::rank;
use crate::encode::AnyOwned;
use crate::linalg::dot;
use crate::sweep::BLOCK;
use crate::table::{ColumnInfo, Table};
use crate::{AnyRows, Engine, Error, Event, Matrix, OwnedRows, Result, Rows, Scalar};

/// The posterior of the coefficients of a ridge regression, as far as predictions need it.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// L of LLᵀ = S + λI: row after row of the lower triangle.
    pub(super) factor: Vec<f64>,
    /// z̄; empty without a constant.
    pub(super) means: Vec<f64>,
    /// n: the sum of the weights.
    pub(super) weight: f64,
    /// s of each output.
    pub(super) noise: Vec<f64>,
}

impl Posterior {
    pub(crate) fn new(factor: Vec<f64>, means: Vec<f64>, weight: f64, noise: Vec<f64>) -> Posterior {
        Posterior { factor, means, weight, noise }
    }

    /// s of each output: the deviation of a target from its mean.
    pub fn noise(&self) -> &[f64] {
        &self.noise
    }

    /// Entries of the factor for so many features.
    pub(crate) fn entries(features: usize) -> u64 {
        let features = features as u64;
        features.saturating_mul(features.saturating_add(1)) / 2
    }

    /// v of each row of features, which are overwritten.
    fn leverage(&self, z: &mut [f64], out: &mut [f64]) {
        let width = z.len() / out.len().max(1);
        for row in z.chunks_exact_mut(width.max(1)) {
            row.iter_mut().zip(&self.means).for_each(|(z, mean)| *z -= mean);
        }
        // Lu = z − z̄, for all rows at once: a row of L is read once for all of them.
        let mut start = 0;
        for j in 0..width {
            let (l, pivot) = (&self.factor[start..start + j], self.factor[start + j]);
            start += j + 1;
            for row in z.chunks_exact_mut(width) {
                row[j] = (row[j] - dot(l, &row[..j])) / pivot;
            }
        }
        let constant = if self.means.is_empty() { 0.0 } else { 1.0 };
        for (row, out) in z.chunks_exact(width.max(1)).zip(out) {
            *out = (dot(row, row) + constant) / self.weight;
        }
    }
}

/// Rows that share one read of the posterior's factor.
const CHUNK: usize = 64;

/// Scores of rows that were held out of the fit.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldOut {
    /// Ascending: one row for each output of a regression, one for classes.
    pub(super) scores: Matrix<f64>,
    pub(super) share: f64,
}

impl HeldOut {
    pub(crate) fn new(scores: Matrix<f64>, share: f64) -> HeldOut {
        HeldOut { scores, share }
    }

    /// Distinct rows that the scores are of, K: coverage beyond K/(K + 1) takes all numbers, or all classes.
    pub fn rows(&self) -> usize {
        self.scores.columns()
    }

    /// The share of the rows that was to be held out.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// The scores in ascending order, one row for each output of a regression, one for classes.
    pub fn scores(&self) -> &Matrix<f64> {
        &self.scores
    }
}

/// Predictions with the ends of their intervals: rows × outputs. Ends are infinite where too few rows were held out.
#[derive(Clone, Debug, PartialEq)]
pub struct Intervals {
    /// The predictions.
    pub predictions: Matrix<f64>,
    /// Where each interval begins.
    pub lower: Matrix<f64>,
    /// Where it ends.
    pub upper: Matrix<f64>,
}

impl Model {
    /// What deviations are made of, if they were asked for.
    pub fn posterior(&self) -> Option<&Posterior> {
        self.posterior.as_ref()
    }

    /// Scores of held-out rows, if there are any.
    pub fn held_out(&self) -> Option<&HeldOut> {
        self.held_out.as_ref()
    }

    /// The deviation of a new observation from its prediction, for each row and output: √(s² + that of the mean squared).
    #[inline(never)]
    pub fn deviation<'a, T: Scalar>(&self, engine: &Engine, rows: Rows<'a, T>) -> Result<Matrix<f64>>
    where
        AnyRows<'a>: From<Rows<'a, T>>,
    {
        self.deviation_of(engine, rows, 1.0)
    }

    /// The deviation of the predicted mean, for each row and output: it falls as rows come in, where they come in.
    #[inline(never)]
    pub fn mean_deviation<'a, T: Scalar>(&self, engine: &Engine, rows: Rows<'a, T>) -> Result<Matrix<f64>>
    where
        AnyRows<'a>: From<Rows<'a, T>>,
    {
        self.deviation_of(engine, rows, 0.0)
    }

    fn deviation_of<'a, T: Scalar>(
        &self,
        engine: &Engine,
        rows: Rows<'a, T>,
        observed: f64,
    ) -> Result<Matrix<f64>>
    where
        AnyRows<'a>: From<Rows<'a, T>>,
    {
        let Some(posterior) = &self.posterior else {
            return Err(Error::Unsupported {
                what: "a deviation of this model's predictions".to_owned(),
                reason: "its fit did not keep what they are made of",
                instead: "fit a ridge regression with a deviation",
            });
        };
        let leverage = self.leverage(engine, rows)?;
        let of = |i: usize, o: usize| posterior.noise[o] * (observed + leverage[i]).sqrt();
        Ok(Matrix::from_fn(leverage.len(), posterior.noise.len(), of))
    }

    /// v of each row: the variance of its mean in parts of s². Zero without a posterior.
    fn leverage<'a, T: Scalar>(&self, engine: &Engine, rows: Rows<'a, T>) -> Result<Vec<f64>>
    where
        AnyRows<'a>: From<Rows<'a, T>>,
    {
        self.check_rows(&rows)?;
        let mut out = vec![0.0; rows.count()];
        let Some(posterior) = &self.posterior else { return Ok(out) };
        let features = self.map.output_dim();
        let a_piece = (CHUNK * features * (8 + size_of::<T>())) as u64;
        let size = a_piece.saturating_mul(engine.threads() as u64).saturating_add(8 * out.len() as u64);
        engine.check_memory(|| format!("{} deviations", rows.count()), size)?;
        for start in (0..rows.count()).step_by(BLOCK) {
            let end = rows.count().min(start + BLOCK);
            let (block, first, out) = (rows.slice(start..end), start as u64, &mut out[start..end]);
            match self.encoder.rounded(&block) {
                Some(AnyOwned::F32(block)) => {
                    self.leverage_block(engine, posterior, &block.view(), true, first, out)?
                }
                Some(AnyOwned::F64(block)) => {
                    self.leverage_block(engine, posterior, &block.view(), true, first, out)?
                }
                None => self.leverage_block(engine, posterior, &block, false, first, out)?,
            }
            let fraction = Some(end as f64 / rows.count() as f64);
            engine.tell(&Event::Progress { phase: "deviation", rows: end as u64, fraction })?;
        }
        Ok(out)
    }

    fn leverage_block<T: Scalar>(
        &self,
        engine: &Engine,
        posterior: &Posterior,
        rows: &Rows<'_, T>,
        is_scaled: bool,
        first_row: u64,
        out: &mut [f64],
    ) -> Result<()> {
        self.check_domain(engine, rows, is_scaled, first_row)?;
        engine.for_each_chunk(out, CHUNK, &|p, out| {
            let piece = rows.slice(p * CHUNK..p * CHUNK + out.len());
            let mut z = vec![T::default(); out.len() * self.map.output_dim()];
            let encoded = self.encoder.rows(engine, &piece, is_scaled);
            self.map.apply(engine, &encoded.as_ref().map_or(piece, OwnedRows::view), &mut z);
            let mut z: Vec<f64> = z.iter().map(|z| z.to_f64()).collect();
            posterior.leverage(&mut z, out);
        });
        Ok(())
    }

    /// Predictions with intervals that hold the target of a new row with at least this probability, for each output by itself.
    ///
    /// Of rows like the ones of the fit, and different from all of them; see [`Uncertainty`](crate::Uncertainty).
    #[inline(never)]
    pub fn intervals<'a, T: Scalar>(
        &self,
        engine: &Engine,
        rows: Rows<'a, T>,
        coverage: f64,
    ) -> Result<Intervals>
    where
        AnyRows<'a>: From<Rows<'a, T>>,
    {
        let held_out = self.scored(false)?;
        let radius = self.radius(held_out, coverage)?;
        let widths = self.widths(engine, rows)?;
        let predictions = self.decide(engine, rows)?;
        let end = |sign: f64| {
            Matrix::from_fn(predictions.rows(), predictions.columns(), |i, o| {
                predictions.row(i)[o] + sign * radius[o] * widths[i]
            })
        };
        let (lower, upper) = (end(-1.0), end(1.0));
        Ok(Intervals { predictions, lower, upper })
    }

    /// As [`Model::intervals`] for a table with the model's columns, wherever they stand in it.
    pub fn intervals_table(
        &self,
        engine: &Engine,
        table: &Table,
        columns: &[ColumnInfo],
        coverage: f64,
    ) -> Result<Intervals> {
        let rows = self.rows_of(engine, table, columns)?;
        self.intervals(engine, rows.view(), coverage)
            .map_err(|error| self.encoder.columns().in_words(error.counted_from(table.first_row)))
    }

    /// As [`Model::deviation`] for a table with the model's columns, wherever they stand in it.
    pub fn deviation_table(
        &self,
        engine: &Engine,
        table: &Table,
        columns: &[ColumnInfo],
    ) -> Result<Matrix<f64>> {
        let rows = self.rows_of(engine, table, columns)?;
        self.deviation(engine, rows.view())
            .map_err(|error| self.encoder.columns().in_words(error.counted_from(table.first_row)))
    }

    /// For each row of outputs the classes, ascending, of which one is that of a new row with at least this probability: never none, and all where too few rows were held out.
    pub fn sets(&self, outputs: &Matrix<f64>, coverage: f64) -> Result<Vec<Vec<usize>>> {
        let held_out = self.scored(true)?;
        let most = self.radius(held_out, coverage)?[0];
        let Some(probabilities) = self.probabilities(outputs) else { return Err(no_scores(true)) };
        let set = |i: usize| {
            let row = probabilities.row(i);
            let likeliest = (0..row.len()).fold(0, |best, c| if row[c] > row[best] { c } else { best });
            (0..row.len()).filter(|&c| 1.0 - row[c] <= most || c == likeliest).collect()
        };
        Ok((0..probabilities.rows()).map(set).collect())
    }

    /// s₍r₎ of each column of scores; infinite where there are too few.
    fn radius(&self, held_out: &HeldOut, coverage: f64) -> Result<Vec<f64>> {
        let rank = rank(held_out.rows(), coverage)?;
        let of = |column: usize| rank.map_or(f64::INFINITY, |r| held_out.scores.row(column)[r - 1]);
        Ok((0..held_out.scores.rows()).map(of).collect())
    }

    /// What errors are measured in, row by row: √(1 + v), or 1 without a posterior.
    pub(crate) fn widths<'a, T: Scalar>(&self, engine: &Engine, rows: Rows<'a, T>) -> Result<Vec<f64>>
    where
        AnyRows<'a>: From<Rows<'a, T>>,
    {
        Ok(self.leverage(engine, rows)?.into_iter().map(|v| (1.0 + v).sqrt()).collect())
    }

    /// The scores, of the kind that is wanted.
    fn scored(&self, is_classes: bool) -> Result<&HeldOut> {
        match (&self.held_out, matches!(self.head, Head::Classification { .. })) {
            (Some(held_out), found) if found == is_classes => Ok(held_out),
            (Some(_), _) => Err(Error::Unsupported {
                what: if is_classes { "a set of classes" } else { "an interval" }.to_owned(),
                reason: if is_classes { "the model predicts numbers" } else { "the model predicts classes" },
                instead: if is_classes { "ask for intervals" } else { "ask for sets" },
            }),
            (None, _) => Err(no_scores(is_classes)),
        }
    }
}

fn no_scores(is_classes: bool) -> Error {
    Error::Unsupported {
        what: if is_classes { "a set of classes" } else { "an interval" }.to_owned(),
        reason: "no rows were held out of the fit",
        instead: "fit with a share of the rows held out, such as 0.1",
    }
}

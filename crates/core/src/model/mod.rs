//! A fitted model: encoder, map, coefficients, head, certificate. It predicts and it is saved.

pub mod file;
mod uncertainty;

use serde::{Deserialize, Serialize};

pub use self::uncertainty::{HeldOut, Intervals, Posterior};
use crate::encode::{AnyOwned, Columns, Labels, rows_of};
use crate::learn::{CurvePoint, KernelChoice, Plan};
use crate::loss::{sigmoid, softmax};
use crate::solve::{Hinge, Preconditioner, Stop};
use crate::sweep::BLOCK;
use crate::table::{ColumnInfo, Table};
use crate::{
    AnyRows, Certificate, Csr, Encoder, Engine, Error, Event, Loss, Map, Matrix, OwnedRows, Result, Rows,
    Scalar,
};

/// What the outputs mean.
#[derive(Clone, Debug, PartialEq)]
pub enum Head {
    /// There are none: the model is a map alone.
    Features,
    /// The outputs are the predictions.
    Regression,
    /// The outputs are scores: two classes by the sign of one, more as `decision` says.
    Classification {
        /// The classes.
        labels: Labels,
        /// How more than two are told apart.
        decision: Decision,
    },
}

/// How more than two classes are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// One output for each class: the largest.
    #[default]
    Largest,
    /// One output for each pair a < b of classes, in order (0, 1), (0, 2), … (1, 2), …: positive is a vote for b. The most votes; among equals, the
    /// larger sum of outputs.
    Votes,
}

impl Decision {
    /// Outputs for so many classes.
    pub fn outputs(self, classes: usize) -> usize {
        match self {
            _ if classes == 2 => 1,
            Decision::Largest => classes,
            Decision::Votes => classes * (classes - 1) / 2,
        }
    }
}

/// How the coefficients were found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// Rows with positive weight.
    pub rows: u64,
    /// λ, given or chosen.
    pub lambda: f64,
    /// The cross-validation curve; empty if λ was given.
    pub curve: Vec<CurvePoint>,
    /// What was minimised, and what came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Folds of the cross-validation; 1 if λ was given.
    pub folds: usize,
    /// The error of each fold at λ, by the model that has not seen it; empty if λ was given, or chosen in passes, which leave one fold out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fold_errors: Vec<f64>,
    /// What was settled before the fit, and how; none where nothing was left open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// Whether a constant was fitted.
    pub intercept: bool,
}

/// What was minimised, and what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Outcome {
    /// Squared errors.
    Squares {
        /// tr S(S + λI)⁻¹: how many coefficients the data decide.
        degrees_of_freedom: f64,
    },
    /// Squared errors, by conjugate gradients.
    Conjugate {
        /// What led them.
        preconditioner: Preconditioner,
        /// Steps that were made, the most of all outputs.
        steps: usize,
        /// What was left of the equations, as a part of their right side; the largest of all outputs.
        residual: f64,
        /// κ of the equations as they were led, as far as the steps have seen it; the largest of all outputs.
        condition: f64,
        /// Why no more.
        stop: Stop,
    },
    /// Margins that are too small.
    Margins {
        /// What a margin costs.
        hinge: Hinge,
        /// ½‖w‖² + Σ cᵢ·ℓ, summed over outputs.
        primal: f64,
        /// What no weights can be better than.
        dual: f64,
        /// γ = 1/(‖w‖·max ‖z‖), the smallest of all outputs: rows without loss are at least so far from the border, for their size.
        margin: f64,
    },
    /// Any other loss.
    Minimised {
        /// Which.
        loss: Loss,
        /// (1/Σw) Σ w·ℓ + λ‖c‖², summed over outputs.
        objective: f64,
        /// What no coefficients can be better than, where it is known.
        bound: Option<f64>,
        /// σ of Huber's loss: the size of an error; the largest of all outputs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scale: Option<f64>,
        /// Steps that were made.
        steps: usize,
        /// Why no more.
        stop: Stop,
    },
    /// Any loss, by so many steps of a stochastic descent: their number is what ended it.
    Steps {
        /// What a wrong score costs.
        loss: Loss,
        /// Rows visited.
        steps: u64,
        /// Of the rows visited in the second half of the steps, each before its step; summed over outputs.
        mean_loss: f64,
    },
}

/// From scores to probabilities: those of classes are softmax(slope·s + offset), that of the second of two is 1/(1 + e^−(slope·s + offset)).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Factor of scores: 1 where they are logarithms of odds.
    pub slope: f64,
    /// Added for two classes.
    pub offset: f64,
}

impl Default for Calibration {
    /// Scores are logarithms of odds.
    fn default() -> Self {
        Calibration { slope: 1.0, offset: 0.0 }
    }
}

impl Training {
    /// tr S(S + λI)⁻¹; none for other losses than squares, and where conjugate gradients were used.
    pub fn degrees_of_freedom(&self) -> Option<f64> {
        match self.outcome {
            Outcome::Squares { degrees_of_freedom } => Some(degrees_of_freedom),
            Outcome::Conjugate { .. }
            | Outcome::Margins { .. }
            | Outcome::Minimised { .. }
            | Outcome::Steps { .. } => None,
        }
    }

    /// What was minimised.
    pub fn loss(&self) -> Loss {
        match self.outcome {
            Outcome::Squares { .. } | Outcome::Conjugate { .. } => Loss::Squares,
            Outcome::Margins { hinge, .. } => Loss::Margins { hinge },
            Outcome::Minimised { loss, .. } | Outcome::Steps { loss, .. } => loss,
        }
    }
}

/// A fitted model.
#[derive(Clone, Debug)]
pub struct Model {
    encoder: Encoder,
    /// Name of the target column; empty where it has none.
    target: String,
    /// Names of the columns that identify rows.
    ids: Vec<String>,
    map: Map,
    /// Outputs × features.
    coefficients: Matrix<f64>,
    intercept: Vec<f64>,
    head: Head,
    calibration: Option<Calibration>,
    posterior: Option<Posterior>,
    held_out: Option<HeldOut>,
    certificate: Certificate,
    training: Option<Training>,
    provenance: Provenance,
}

/// What made a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// Of this library.
    pub version: String,
    /// That the sums were made with: the same bits are promised on this one.
    pub instruction_set: String,
}

impl Model {
    pub(crate) fn new(
        engine: &Engine,
        encoder: Encoder,
        map: Map,
        coefficients: Matrix<f64>,
        intercept: Vec<f64>,
        head: Head,
        certificate: Certificate,
        training: Option<Training>,
    ) -> Model {
        let provenance = Provenance {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instruction_set: engine.isa().name().to_owned(),
        };
        let target = String::new();
        Model {
            encoder,
            target,
            ids: Vec::new(),
            map,
            coefficients,
            intercept,
            head,
            calibration: None,
            posterior: None,
            held_out: None,
            certificate,
            training,
            provenance,
        }
    }

    /// A map alone, without outputs, to be saved like any other model.
    pub fn of_map(engine: &Engine, map: Map, certificate: Certificate) -> Model {
        let encoder = Encoder::identity(map.input_dim());
        let coefficients = Matrix::zeros(0, map.output_dim());
        Model::new(engine, encoder, map, coefficients, Vec::new(), Head::Features, certificate, None)
    }

    /// The same model behind another encoder, which gives as many columns as its map takes.
    pub(crate) fn with_encoder(self, encoder: Encoder) -> Model {
        Model { encoder, ..self }
    }

    /// The same model with probabilities made of scores in this way.
    pub(crate) fn with_calibration(self, calibration: Calibration) -> Model {
        Model { calibration: Some(calibration), ..self }
    }

    /// The same model with probabilities of its classes, or deviations of its predictions.
    pub(crate) fn knowing(self, calibration: Option<Calibration>, posterior: Option<Posterior>) -> Model {
        Model { calibration, posterior, ..self }
    }

    /// The same model with scores of rows that it was not fitted to.
    pub(crate) fn with_held_out(self, held_out: HeldOut) -> Model {
        Model { held_out: Some(held_out), ..self }
    }

    /// The same model with what was settled before it was fitted.
    pub(crate) fn with_plan(self, plan: Plan) -> Model {
        self.with_training(|training| training.plan = Some(plan))
    }

    /// The same model with something changed in what is known of its fit.
    pub(crate) fn with_training(mut self, change: impl FnOnce(&mut Training)) -> Model {
        if let Some(training) = &mut self.training {
            change(training);
        }
        self
    }

    /// The same model with the kernel of its plan in the words of whoever gave it, where it was given: for them, columns have names.
    pub fn planned_as(mut self, kernel: &KernelChoice) -> Model {
        if let (Some(training), KernelChoice::Given(_)) = (&mut self.training, kernel)
            && let Some(plan) = &mut training.plan
        {
            plan.fit.kernel = kernel.clone();
        }
        self
    }

    /// The same model with names for its columns, as many as it has, and for its target.
    pub fn with_names(self, columns: Columns, target: &str) -> Result<Model> {
        let (expected, found) = (self.encoder.columns().count(), columns.count());
        if found != expected {
            return Err(Error::ColumnCount { expected, found });
        }
        let encoder = self.encoder.clone().with_columns(columns);
        Ok(Model { encoder, target: target.to_owned(), ..self })
    }

    /// From columns to rows.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// The same model with names of columns that identify rows.
    pub fn with_ids(self, ids: Vec<String>) -> Model {
        Model { ids, ..self }
    }

    /// The columns that identify rows: nothing was learned from them, and they are copied to predictions.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// The name of the target; empty if it has none.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// From rows to features.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// One row of coefficients for each output.
    pub fn coefficients(&self) -> &Matrix<f64> {
        &self.coefficients
    }

    /// One constant for each output.
    pub fn intercept(&self) -> &[f64] {
        &self.intercept
    }

    /// What the outputs mean.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// How scores become probabilities, where they do.
    pub fn calibration(&self) -> Option<Calibration> {
        self.calibration
    }

    /// The kernel error: bound and measured.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// How the coefficients were found; none for a map alone.
    pub fn training(&self) -> Option<&Training> {
        self.training.as_ref()
    }

    /// What made it.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// Outputs for each row: predictions of a regression, scores of a classification.
    #[inline(never)]
    pub fn decide<'a, T: Scalar>(&self, engine: &Engine, rows: Rows<'a, T>) -> Result<Matrix<f64>>
    where
        AnyRows<'a>: From<Rows<'a, T>>,
    {
        self.check_rows(&rows)?;
        let outputs = self.intercept.len();
        let size = (rows.count() as u64).saturating_mul(8 * outputs as u64);
        engine.check_memory(|| format!("{} predictions", rows.count()), size)?;
        let mut out = Matrix::zeros(rows.count(), outputs);
        for start in (0..rows.count()).step_by(BLOCK) {
            let end = rows.count().min(start + BLOCK);
            let (block, first) = (rows.slice(start..end), start as u64);
            let out = &mut out.as_mut_slice()[start * outputs..end * outputs];
            match self.encoder.rounded(&block) {
                Some(AnyOwned::F32(block)) => self.decide_block(engine, &block.view(), true, first, out)?,
                Some(AnyOwned::F64(block)) => self.decide_block(engine, &block.view(), true, first, out)?,
                None => self.decide_block(engine, &block, false, first, out)?,
            }
            let fraction = Some(end as f64 / rows.count() as f64);
            engine.tell(&Event::Progress { phase: "predict", rows: end as u64, fraction })?;
        }
        Ok(out)
    }

    /// As [`Model::decide`] for a table with the model's columns, wherever they stand in it.
    pub fn decide_table(
        &self,
        engine: &Engine,
        table: &Table,
        columns: &[ColumnInfo],
    ) -> Result<Matrix<f64>> {
        let rows = self.rows_of(engine, table, columns)?;
        self.decide(engine, rows.view())
            .map_err(|error| self.encoder.columns().in_words(error.counted_from(table.first_row)))
    }

    /// The rows of a table with the model's columns, wherever they stand in it. A number that is missing is the mean of its column.
    pub fn rows_of(&self, engine: &Engine, table: &Table, columns: &[ColumnInfo]) -> Result<OwnedRows<f64>> {
        let positions = self.encoder.columns().positions(columns)?;
        let rows = rows_of(engine, table, self.encoder.columns(), &positions)?;
        Ok(self.encoder.filled(rows))
    }

    /// Rows as the kernel compares them: scaled, and stretched by the learnt metric. They serve whatever else compares rows: components, clusters, neighbours, tests.
    #[inline(never)]
    pub fn encode<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>) -> Result<OwnedRows<T>> {
        self.check_rows(rows)?;
        let (count, columns) = (rows.count(), self.encoder.width());
        let stored = match rows {
            Rows::Sparse(sparse) if !self.encoder.fills() => {
                Some(sparse.stored() + count * (columns - rows.columns()))
            }
            _ => None,
        };
        let size = stored
            .map_or((count as u64).saturating_mul((size_of::<T>() * columns) as u64), |stored| {
                (stored as u64).saturating_mul(4 + size_of::<T>() as u64)
            });
        engine.check_memory(|| format!("{count} encoded rows"), size)?;
        let mut dense = Matrix::zeros(if stored.is_some() { 0 } else { count }, columns);
        let mut sparse = Csr::empty(columns);
        for start in (0..count).step_by(BLOCK) {
            let block = rows.slice(start..count.min(start + BLOCK));
            let encoded = self.encoder.rows(engine, &block, false);
            let block = encoded.as_ref().map_or(block, OwnedRows::view);
            for i in 0..block.count() {
                match stored {
                    Some(_) => sparse.push_row(block.entries(i)),
                    None => block.densify(i, dense.row_mut(start + i)),
                }
            }
            let (rows, fraction) =
                ((start + block.count()) as u64, (start + block.count()) as f64 / count as f64);
            engine.tell(&Event::Progress { phase: "encode", rows, fraction: Some(fraction) })?;
        }
        Ok(if stored.is_some() { OwnedRows::Sparse(sparse) } else { OwnedRows::Dense(dense) })
    }

    /// As many columns as there were, all finite.
    fn check_rows<T: Scalar>(&self, rows: &Rows<'_, T>) -> Result<()> {
        let (expected, found) = (self.encoder.columns().count(), rows.columns());
        if found != expected {
            return Err(Error::ColumnCount { expected, found });
        }
        rows.check_finite(0)
    }

    /// The kernel has a value for every row, scaled as it sees them.
    fn check_domain<T: Scalar>(
        &self,
        engine: &Engine,
        rows: &Rows<'_, T>,
        is_scaled: bool,
        first_row: u64,
    ) -> Result<()> {
        let spec = self.map.spec();
        if !spec.has_domain() {
            return Ok(());
        }
        let encoded = self.encoder.rows(engine, rows, is_scaled);
        spec.check_rows(&encoded.as_ref().map_or(*rows, OwnedRows::view), first_row)
    }

    /// Small pieces of a block, side by side; a row's result does not depend on the piece it is in.
    fn decide_block<T: Scalar>(
        &self,
        engine: &Engine,
        rows: &Rows<'_, T>,
        is_scaled: bool,
        first_row: u64,
        out: &mut [f64],
    ) -> Result<()> {
        /// Rows of a piece.
        const CHUNK: usize = 64;
        let (outputs, features) = (self.intercept.len(), self.map.output_dim());
        self.check_domain(engine, rows, is_scaled, first_row)?;
        if outputs == 0 {
            return Ok(());
        }
        engine.for_each_chunk(out, CHUNK * outputs, &|i, out| {
            let piece = rows.slice(i * CHUNK..rows.count().min((i + 1) * CHUNK));
            out.chunks_exact_mut(outputs).for_each(|out| out.copy_from_slice(&self.intercept));
            if self.stays_sparse(&piece) {
                return self.decide_sparse(engine, &piece, is_scaled, out);
            }
            let mut z = vec![T::default(); piece.count() * features];
            let encoded = self.encoder.rows(engine, &piece, is_scaled);
            self.map.apply(engine, &encoded.as_ref().map_or(piece, OwnedRows::view), &mut z);
            let z = bochner_simd::RowsRef { data: &z, count: piece.count(), stride: features };
            bochner_simd::project(engine.isa(), z, features, self.coefficients.as_slice(), out);
        });
        Ok(())
    }

    /// Whether features of these rows are sparse: by their map, or as they came where the map is exact and nothing shifts them.
    fn stays_sparse<T: Scalar>(&self, rows: &Rows<'_, T>) -> bool {
        let is_identity = self.map.spec().is_identity();
        let is_filled = self.encoder.fills();
        self.map.spec().is_sparse() || (is_identity && !is_filled && matches!(rows, Rows::Sparse(_)))
    }

    /// Adds the outputs of features whose zeros are not made.
    fn decide_sparse<T: Scalar>(
        &self,
        engine: &Engine,
        rows: &Rows<'_, T>,
        is_scaled: bool,
        out: &mut [f64],
    ) {
        let encoded = self.encoder.rows(engine, rows, is_scaled);
        let rows = encoded.as_ref().map_or(*rows, OwnedRows::view);
        let mapped;
        let features = match (self.map.sparse_features(engine, &rows), &rows) {
            (Ok(features), _) => {
                mapped = features;
                mapped.view()
            }
            // Rows are their own features.
            (Err(_), Rows::Sparse(rows)) => *rows,
            // `stays_sparse` has said that there are none.
            (Err(_), Rows::Dense(_)) => return,
        };
        for (i, out) in out.chunks_exact_mut(self.intercept.len()).enumerate() {
            let (columns, values) = features.row(i);
            for (o, out) in out.iter_mut().enumerate() {
                let coefficients = self.coefficients.row(o);
                *out += columns
                    .iter()
                    .zip(values)
                    .map(|(&j, z)| z.to_f64() * coefficients[j as usize])
                    .sum::<f64>();
            }
        }
    }

    /// The class of each row of outputs; all zero for a regression.
    pub fn classes(&self, outputs: &Matrix<f64>) -> Vec<usize> {
        let largest = |row: &[f64]| {
            row.iter().enumerate().fold(0, |best, (o, v)| if *v > row[best] { o } else { best })
        };
        let class = |row: &[f64]| match (&self.head, row) {
            (Head::Features | Head::Regression, _) => 0,
            (Head::Classification { .. }, [score]) => usize::from(*score > 0.0),
            (Head::Classification { .. }, row) => largest(row),
        };
        let scores = self.scores(outputs);
        (0..scores.rows()).map(|i| class(scores.row(i))).collect()
    }

    /// One score for each class, the largest deciding, and one in all for two classes; the outputs themselves for a regression.
    ///
    /// Votes of pairs become votes plus a part below one half that grows with the sum of outputs, so that it decides among equals.
    pub fn scores(&self, outputs: &Matrix<f64>) -> Matrix<f64> {
        let Head::Classification { labels, decision: Decision::Votes } = &self.head else {
            return outputs.clone();
        };
        let classes = labels.len();
        if classes == 2 {
            return outputs.clone();
        }
        let mut scores = Matrix::zeros(outputs.rows(), classes);
        for i in 0..outputs.rows() {
            let (to, mut sums) = (scores.row_mut(i), vec![0.0; classes]);
            let pairs = (0..classes).flat_map(|a| (a + 1..classes).map(move |b| (a, b)));
            for ((a, b), output) in pairs.zip(outputs.row(i)) {
                to[if *output > 0.0 { b } else { a }] += 1.0;
                sums[b] += output;
                sums[a] -= output;
            }
            to.iter_mut().zip(sums).for_each(|(to, sum)| *to += sum / (3.0 * (sum.abs() + 1.0)));
        }
        scores
    }

    /// The probability of each class for each row of outputs; none where the model has only scores.
    pub fn probabilities(&self, outputs: &Matrix<f64>) -> Option<Matrix<f64>> {
        let (Some(Calibration { slope, offset }), Head::Classification { labels, .. }) =
            (self.calibration, &self.head)
        else {
            return None;
        };
        let scores = self.scores(outputs);
        let mut out = Matrix::zeros(scores.rows(), labels.len());
        for i in 0..scores.rows() {
            let (row, scores) = (out.row_mut(i), scores.row(i));
            if let [score] = scores {
                let odds = slope * score + offset;
                row.copy_from_slice(&[sigmoid(-odds), sigmoid(odds)]);
            } else {
                row.iter_mut().zip(scores).for_each(|(p, s)| *p = slope * s);
                softmax(row);
            }
        }
        Some(out)
    }
}

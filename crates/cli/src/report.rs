//! What a model is, for people and as JSON.

use bochner::certify::{Bound, Certificate};
use bochner::encode::{Columns, Form, TextEncoding};
use bochner::learn::Enough;
use bochner::map::Sketch;
use bochner::model::{Outcome, Training};
use bochner::solve::Stop;
use bochner::{Bins, FourierForm, FrequencyDraw, Head, Kernel, Method, MetricChoice, Model};
use serde::Serialize;

use crate::text;

/// A line of a summary: what, and its text.
pub(crate) type Line = (&'static str, String);

/// A model without its arrays.
#[derive(Debug, Serialize)]
pub(crate) struct ModelReport {
    pub(crate) task: &'static str,
    pub(crate) target: Option<String>,
    pub(crate) classes: Option<Vec<String>>,
    /// The number of input columns.
    pub(crate) columns: usize,
    /// Columns that are texts, and how they become numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) texts: Vec<TextReport>,
    /// As text that can be given back; for the rows that texts have become.
    pub(crate) kernel: String,
    pub(crate) method: Method,
    pub(crate) features: usize,
    pub(crate) seed: u64,
    pub(crate) standardised: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metric: Option<MetricReport>,
    pub(crate) training: Option<Training>,
    pub(crate) uncertainty: UncertaintyReport,
    pub(crate) certificate: Certificate,
}

/// What a model knows of its own errors.
#[derive(Debug, Serialize)]
pub(crate) struct UncertaintyReport {
    /// s of each output, where deviations can be had.
    pub(crate) noise: Option<Vec<f64>>,
    /// Distinct rows held out of the fit.
    pub(crate) held_out: Option<usize>,
    pub(crate) probabilities: bool,
}

/// A learnt metric.
#[derive(Debug, Serialize)]
pub(crate) struct MetricReport {
    pub(crate) form: Form,
    /// Steps that it was learnt in.
    pub(crate) steps: usize,
    /// Of each source column, the most first.
    pub(crate) importances: Vec<(String, f64)>,
    /// The part of the mean square of the gradient along each of the leading directions.
    pub(crate) shares: Vec<f64>,
    /// These directions, in the order of the columns.
    pub(crate) directions: Vec<Vec<f64>>,
}

/// A column of text.
#[derive(Debug, Serialize)]
pub(crate) struct TextReport {
    pub(crate) column: String,
    /// As text that can be given back.
    pub(crate) sequence: String,
    pub(crate) normalised: bool,
    /// Columns that it is hashed to.
    pub(crate) width: usize,
    /// The standard deviation of kernel values by hashing, of √(K(x,x)·K(y,y)), at most.
    pub(crate) deviation: f64,
}

impl ModelReport {
    pub(crate) fn new(model: &Model) -> Self {
        let spec = model.map().spec();
        let (task, classes) = match model.head() {
            Head::Features => ("features", None),
            Head::Regression => ("regression", None),
            Head::Classification { labels, .. } => ("classification", Some(labels.texts().to_vec())),
        };
        ModelReport {
            task,
            target: Some(model.target().to_owned()).filter(|name| !name.is_empty()),
            classes,
            columns: model.encoder().columns().count(),
            texts: TextReport::all(model.encoder().columns()),
            kernel: spec.kernel.to_string(),
            method: spec.method,
            features: model.map().output_dim(),
            seed: spec.seed,
            standardised: model.encoder().scaling().is_some(),
            metric: MetricReport::new(model),
            training: model.training().cloned(),
            uncertainty: UncertaintyReport {
                noise: model.posterior().map(|posterior| posterior.noise().to_vec()),
                held_out: model.held_out().map(|held_out| held_out.rows()),
                probabilities: model.calibration().is_some(),
            },
            certificate: model.certificate().clone(),
        }
    }

    /// The squared error on left-out rows, summed over outputs; none if λ was given.
    pub(crate) fn left_out_error(&self) -> Option<f64> {
        let training = self.training.as_ref()?;
        let chosen = training.curve.iter().find(|point| point.lambda.total_cmp(&training.lambda).is_eq())?;
        Some(chosen.error)
    }

    /// What the curve over λ is of.
    pub(crate) fn error(&self) -> &'static str {
        match self.training.as_ref().map(|training| &training.outcome) {
            Some(Outcome::Margins { .. }) => "share of wrong classes",
            Some(Outcome::Minimised { .. } | Outcome::Steps { .. }) => "loss",
            _ => "squared error",
        }
    }

    /// `orthogonal Fourier pairs, 2,048 features`
    pub(crate) fn map(&self) -> Line {
        ("map", map(&self.method, self.features))
    }

    /// Why there are no more features, where it was not asked for so many.
    pub(crate) fn enough(&self) -> Option<Line> {
        let plan = self.training.as_ref()?.plan.as_ref()?;
        (plan.enough != Enough::Given).then(|| ("", plan.enough.to_string()))
    }

    /// `text  dna by spectrum(k=5), hashed to 4,096 columns: kernel values within ± 2.2 % …`
    pub(crate) fn texts(&self) -> Vec<Line> {
        self.texts.iter().map(TextReport::line).collect()
    }

    /// `lambda  1.2e-6, by 5-fold cross-validation` and `freedom  812.3 of 2,048 coefficients`
    pub(crate) fn training(&self) -> Vec<Line> {
        let Some(training) = &self.training else { return Vec::new() };
        let how = match training.folds {
            1 => "given".to_owned(),
            _ if training.curve.is_empty() => "not chosen: too few distinct rows".to_owned(),
            folds if matches!(training.outcome, Outcome::Conjugate { .. }) => {
                format!("by the error on one part of {folds} that was left out")
            }
            folds => format!("by {folds}-fold cross-validation"),
        };
        let outcome = match training.outcome {
            Outcome::Squares { degrees_of_freedom } => {
                let (freedom, all) = (text::number(degrees_of_freedom), text::count(self.features as u64));
                ("freedom", format!("{freedom} of {all} degrees used"))
            }
            Outcome::Conjugate { preconditioner, steps, residual, condition, stop } => {
                let why = match stop {
                    Stop::Residual => "",
                    Stop::Steps => ", which were all that were allowed",
                    _ => ", after which rounding left nothing to gain",
                };
                let [residual, condition] = [residual, condition].map(text::number);
                (
                    "solver",
                    format!(
                        "conjugate gradients led by {preconditioner}: residual {residual} after {steps} steps{why}; condition {condition}"
                    ),
                )
            }
            Outcome::Margins { primal, dual, margin, .. } => {
                let gap = (primal - dual).max(0.0) / primal.abs().max(f64::MIN_POSITIVE);
                let [primal, gap, margin] = [primal, gap, margin].map(text::number);
                ("margin", format!("{margin}; objective {primal}, within {gap} of the best"))
            }
            Outcome::Minimised { loss, objective, bound, steps, stop, .. } => {
                let why = match (stop, bound) {
                    (Stop::Steps, _) => format!("not yet the best after {steps} steps"),
                    (_, Some(bound)) => {
                        let gap = (objective - bound).max(0.0) / objective.abs().max(f64::MIN_POSITIVE);
                        format!("within {} of the best after {steps} steps", text::number(gap))
                    }
                    (_, None) => format!("another step after {steps} would gain next to nothing"),
                };
                ("loss", format!("{loss}; objective {}, {why}", text::number(objective)))
            }
            Outcome::Steps { loss, steps, mean_loss } => {
                let (steps, lost) = (text::count(steps), text::number(mean_loss));
                (
                    "steps",
                    format!("{steps}, which ended the descent; {loss} of the rows visited last: {lost}"),
                )
            }
        };
        vec![("lambda", format!("{}, {how}", text::number(training.lambda))), outcome]
    }

    /// `noise  0.21 is the deviation of a number from its mean` and `held out  412 distinct rows, for intervals`
    pub(crate) fn uncertainty(&self) -> Vec<Line> {
        let UncertaintyReport { noise, held_out, .. } = &self.uncertainty;
        let noise = noise.iter().map(|noise| {
            let each = noise.iter().map(|s| text::number(*s)).collect::<Vec<_>>().join(", ");
            ("noise", format!("{each}, the deviation of a target from its mean"))
        });
        let what = if self.classes.is_some() { "sets of classes" } else { "intervals" };
        let held_out = held_out.map(|rows| {
            let rows = text::counted(rows as u64, "distinct row", "distinct rows");
            ("held out", format!("{rows}, for {what} (predict --interval)"))
        });
        noise.chain(held_out).collect()
    }

    /// The learnt metric, if there is one.
    pub(crate) fn metric(&self, name: ColumnName<'_>) -> Vec<Line> {
        self.metric.as_ref().map_or_else(Vec::new, |metric| metric.lines(name))
    }

    /// What is promised of the kernel, and what was found.
    pub(crate) fn certificate(&self) -> Vec<Line> {
        certificate(&self.certificate, !self.texts.is_empty())
    }

    /// Columns that are no hashed texts.
    pub(crate) fn numbers(&self) -> usize {
        self.columns - self.texts.iter().map(|text| text.width).sum::<usize>()
    }
}

/// What a column of rows is called.
pub(crate) type ColumnName<'a> = &'a dyn Fn(usize) -> String;

/// What column j of rows is called, once columns are encoded: there may be a million of these.
pub(crate) fn encoded_name(model: &Model, j: usize) -> String {
    model.encoder().columns().column_name(j)
}

/// The names of the columns that a model takes; none if they have none.
pub(crate) fn names(model: &Model) -> Option<Vec<String>> {
    match model.encoder().columns() {
        Columns::Named { inputs } => Some(inputs.iter().map(|input| input.name.clone()).collect()),
        _ => None,
    }
}

/// What is promised of the kernel, and what was found; of rows that hashed texts are part of, or not.
pub(crate) fn certificate(certificate: &Certificate, has_texts: bool) -> Vec<Line> {
    let bound = match certificate.bound {
        Bound::Exact if has_texts => "none beyond the hashing of texts".to_owned(),
        ref bound => bound.to_string(),
    };
    let mut lines = vec![("kernel error", bound)];
    lines.extend(certificate.measured.as_ref().map(|measured| ("", measured.to_string())));
    lines
}

impl MetricReport {
    fn new(model: &Model) -> Option<Self> {
        let (metric, importances) = (model.encoder().metric()?, model.encoder().importances()?);
        let plan = model.training().and_then(|training| training.plan.as_ref());
        let steps = plan.map_or(0, |plan| match &plan.fit.metric {
            MetricChoice::Learned(path) => path.steps.len(),
            _ => 0,
        });
        let directions = metric.directions();
        Some(MetricReport {
            form: metric.form(),
            steps,
            importances,
            shares: metric.shares().to_vec(),
            directions: (0..directions.rows()).map(|k| directions.row(k).to_vec()).collect(),
        })
    }

    /// Whether it has directions that are not columns.
    pub(crate) fn mixes(&self) -> bool {
        self.form != Form::Diagonal
    }

    /// `metric  full, 3 steps: hour 71 %, temp 9.2 %, …` and, where columns are mixed, the leading directions.
    fn lines(&self, name: ColumnName<'_>) -> Vec<Line> {
        /// Columns, directions, and columns of a direction that are shown.
        const SHOWN: (usize, usize, usize) = (6, 3, 4);
        let columns = self
            .importances
            .iter()
            .take(SHOWN.0)
            .map(|(name, share)| format!("{} {}", text::shortened(name, 20), text::percent(*share)));
        let form = match self.form {
            Form::Diagonal => "a factor for each column",
            Form::Full => "a matrix",
            Form::Leading => "leading directions, added to the columns",
        };
        let steps = text::counted(self.steps as u64, "step", "steps");
        let more = if self.importances.len() > SHOWN.0 { ", …" } else { "" };
        let list = columns.collect::<Vec<_>>().join(", ");
        let mut lines =
            vec![("metric", format!("{form}, learnt in {steps}")), ("", format!("matters: {list}{more}"))];
        if self.mixes() {
            for (direction, share) in self.directions.iter().zip(&self.shares).take(SHOWN.1) {
                let mut order: Vec<usize> = (0..direction.len()).collect();
                order.sort_by(|a, b| direction[*b].abs().total_cmp(&direction[*a].abs()));
                let term = |&j: &usize| {
                    format!("{}·{}", text::significant(direction[j], 2), text::shortened(&name(j), 20))
                };
                let terms = order.iter().take(SHOWN.2).map(term).collect::<Vec<_>>().join(" ");
                lines.push(("", format!("along {} {terms} …", text::percent(*share))));
            }
        }
        lines
    }
}

impl TextReport {
    /// The texts among the columns of rows.
    pub(crate) fn all(columns: &Columns) -> Vec<TextReport> {
        let texts = columns.inputs().iter().filter_map(|input| Some((&input.name, input.as_text()?)));
        texts.map(|(name, text)| TextReport::new(name, text)).collect()
    }

    pub(crate) fn line(&self) -> Line {
        let length = if self.normalised { ", length 1" } else { "" };
        let most = if self.normalised { "about" } else { "at most" };
        let error = text::number(100.0 * self.deviation);
        let line = format!(
            "\"{}\" by {}{length}, hashed to {} columns: ± {error} % of √(K(x,x)·K(y,y)) (one standard deviation, {most})",
            text::shortened(&self.column, 40),
            self.sequence,
            text::count(self.width as u64)
        );
        ("text", line)
    }

    fn new(column: &str, text: &TextEncoding) -> Self {
        TextReport {
            column: column.to_owned(),
            sequence: text.sequence.to_string(),
            normalised: text.sequence.normalise,
            width: text.sequence.width,
            deviation: text.sequence.deviation(),
        }
    }
}

/// A map in words: `orthogonal Fourier pairs, 2,048 features`.
pub(crate) fn map(method: &Method, features: usize) -> String {
    format!("{}, {}", words(method), text::counted(features as u64, "feature", "features"))
}

/// A method in words.
fn words(method: &Method) -> String {
    use FourierForm::{Offset, Pairs};
    use FrequencyDraw::{Independent, Orthogonal, Quasi, Structured, Turned};
    let words = match method {
        Method::Projection { how } => return how.to_string(),
        Method::Sketch { sketch: Sketch::Tensor } => "products of count sketches",
        Method::Sketch { sketch: Sketch::Product } => "products of random signs",
        Method::Exact => "exact",
        Method::Compiled { .. } => "compiled",
        Method::Taylor { .. } => "the Gaussian's series",
        Method::Fourier { form: Pairs, draw: Quasi } => "quasi-random Fourier pairs",
        Method::Fourier { form: Pairs, draw: Structured } => "structured Fourier pairs",
        Method::Fourier { form: Pairs, draw: Turned } => "turned orthogonal Fourier pairs",
        Method::Fourier { form: Offset, draw: Turned } => "turned orthogonal Fourier with offsets",
        Method::Fourier { form: Offset, draw: Quasi } => "quasi-random Fourier with offsets",
        Method::Fourier { form: Offset, draw: Structured } => "structured Fourier with offsets",
        Method::Fourier { form: Pairs, draw: Orthogonal } => "orthogonal Fourier pairs",
        Method::Fourier { form: Pairs, draw: Independent } => "Fourier pairs",
        Method::Fourier { form: Offset, draw: Orthogonal } => "orthogonal Fourier with offsets",
        Method::Fourier { form: Offset, draw: Independent } => "Fourier with offsets",
        Method::Landmarks { whiten: true, .. } => "landmarks (Nyström)",
        Method::Landmarks { whiten: false, .. } => "landmarks, plain kernel values",
        Method::Binning { bins: Bins::Fitted } => "random binning",
        Method::Binning { bins: Bins::Hashed { .. } } => "random binning, hashed",
        _ => "other",
    };
    words.to_owned()
}

/// A kernel with few digits; its own text has all.
pub(crate) fn short(kernel: &Kernel) -> String {
    let full = kernel.to_string();
    let Some((name, rest)) = full.split_once('=') else { return full };
    match rest.trim_end_matches(')').parse::<f64>() {
        Ok(width) => format!("{name}={})", text::number(width).replace(',', "")),
        Err(_) => full,
    }
}

/// Lines with their labels in a column.
pub(crate) fn aligned(lines: &[Line]) -> String {
    let width = lines.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    lines.iter().map(|(label, text)| format!("{label:<width$}  {text}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_shortened_not_changed() {
        assert_eq!(short(&Kernel::gaussian(8f64.sqrt())), "gaussian(sigma=2.828)");
        assert_eq!(short(&Kernel::laplace(123_456.0)), "laplace(scale=123456)");
        assert_eq!(short(&Kernel::Linear), "linear");
    }

    #[test]
    fn labels_line_up() {
        assert_eq!(aligned(&[("a", "1".to_owned()), ("long", "2".to_owned())]), "a     1\nlong  2");
    }
}

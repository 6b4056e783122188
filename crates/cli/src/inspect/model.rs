//! A model, in words.

use bochner::Model;
use bochner::learn::CurvePoint;
use serde::Serialize;

use crate::args::InspectArgs;
use crate::console::Console;
use crate::exit::Failure;
use crate::report::{ColumnName, Line, ModelReport, aligned, encoded_name, names};
use crate::{output, page, text};

/// Columns that are named.
const SHOWN: usize = 10;

#[derive(Serialize)]
struct Found {
    kind: &'static str,
    file: String,
    bytes: u64,
    outputs: usize,
    /// The names of the input columns; none if they have none.
    names: Option<Vec<String>>,
    #[serde(flatten)]
    report: ModelReport,
}

pub(super) fn run(args: &InspectArgs, console: &mut Console<'_>) -> Result<(), Failure> {
    let model = Model::load(&args.file).map_err(Failure::about(&args.file))?;
    let found = Found {
        kind: "model",
        file: args.file.display().to_string(),
        bytes: std::fs::metadata(&args.file).map_or(0, |metadata| metadata.len()),
        outputs: model.intercept().len(),
        names: names(&model),
        report: ModelReport::new(&model),
    };
    let name = |j: usize| encoded_name(&model, j);
    if let Some(path) = &args.report {
        output::check_distinct("--report", path, &[&args.file])?;
        let lines = [found.about(), found.fitted()].concat();
        page::write(path, &page::of(&args.file, &found.report, &name, &lines))?;
    }
    if args.json { console.json(&found) } else { console.line(&found.text(&name)) }
}

impl Found {
    fn text(&self, name: ColumnName<'_>) -> String {
        let report = &self.report;
        let mut lines = self.about();
        lines.extend(report.metric(name));
        lines.extend(self.fitted());
        if let Some(training) = &report.training {
            lines.extend(curve(&training.curve, report.error()).map(|curve| ("λ curve", curve)));
        }
        lines.extend(report.certificate());
        aligned(&lines)
    }

    /// What is predicted, from what, by which kernel.
    fn about(&self) -> Vec<Line> {
        let report = &self.report;
        let count = text::count(report.columns as u64);
        let columns = match &self.names {
            Some(names) => format!("{count}: {}", text::list(names.iter().map(String::as_str), SHOWN)),
            None => format!("{count}, without names"),
        };
        let scaled = match (report.standardised, report.texts.is_empty(), report.numbers()) {
            (false, ..) | (true, false, 0) => "",
            (true, true, _) => ", standardised",
            (true, false, _) => "; numbers standardised",
        };
        let target = report.target.as_deref().unwrap_or("without a name");
        let task = match &report.classes {
            Some(classes) => {
                let names = text::list(classes.iter().map(String::as_str), SHOWN);
                format!("{target}, {} classes: {names}", classes.len())
            }
            None if self.outputs == 0 => "none: a map alone".to_owned(),
            None if self.outputs == 1 => format!("{target}, a number"),
            None => format!("{target}, {} numbers", self.outputs),
        };
        let mut lines = vec![
            ("model", format!("{}, {}", self.file, bochner::plan::bytes(self.bytes))),
            ("target", task),
            ("columns", format!("{columns}{scaled}")),
        ];
        lines.extend(report.texts());
        lines.push(("kernel", report.kernel.clone()));
        lines
    }

    /// How it was fitted.
    fn fitted(&self) -> Vec<Line> {
        let report = &self.report;
        let mut lines = vec![report.map(), ("seed", report.seed.to_string())];
        if let Some(training) = &report.training {
            lines.push(("rows", text::count(training.rows)));
            lines.extend(report.training());
            lines.extend(report.uncertainty());
        }
        lines
    }
}

/// The error at each λ, from the smallest λ to the largest, by the height of a bar on a logarithmic scale.
fn curve(points: &[CurvePoint], what: &str) -> Option<String> {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let (first, last) = (points.first()?, points.last()?);
    let height = |point: &CurvePoint| point.error.max(f64::MIN_POSITIVE).ln();
    let ends = points.iter().map(height).filter(|h| h.is_finite());
    let (low, high) =
        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), h| (low.min(h), high.max(h)));
    let bar = |point: &CurvePoint| {
        let share = (height(point) - low) / (high - low).max(f64::MIN_POSITIVE);
        // What is not finite is drawn as the worst.
        let at = if share.is_finite() { (share * 7.0).round() as usize } else { 7 };
        BARS[at.min(7)]
    };
    let bars: String = points.iter().map(bar).collect();
    let best = points.iter().map(|point| point.error).fold(f64::INFINITY, f64::min);
    let worst = points.iter().map(|point| point.error).fold(0.0, f64::max);
    let number = |value| text::significant(value, 2);
    let [from, to] = [first.lambda, last.lambda].map(number);
    let [best, worst] = [best, worst].map(text::number);
    Some(format!("{bars}  λ from {from} to {to}, {what} {best} to {worst}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_drawn() {
        let points = |errors: &[f64]| -> Vec<CurvePoint> {
            errors
                .iter()
                .enumerate()
                .map(|(i, &error)| CurvePoint { lambda: 10f64.powi(i as i32), error })
                .collect()
        };
        let drawn = curve(&points(&[8.0, 1.0, 2.0]), "squared error").unwrap();
        assert_eq!(drawn, "█▁▃  λ from 1 to 100, squared error 1 to 8");
        assert!(curve(&points(&[1.0, 1.0]), "").unwrap().starts_with("▁▁"));
        assert!(curve(&points(&[1.0, f64::INFINITY]), "").unwrap().starts_with("▁█"));
        assert!(curve(&[], "").is_none());
    }
}

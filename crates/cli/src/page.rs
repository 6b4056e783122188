//! A model as a page: what it is, which columns matter to it, how λ was chosen, how near its features are to the kernel.

use std::io::Write;
use std::path::Path;

use bochner::learn::CurvePoint;
use bochner_report::{Axis, Bar, Bars, Block, Chart, Figure, Level, Matrix, Page, Series, Text};

use crate::exit::Failure;
use crate::output::Output;
use crate::report::{ColumnName, Line, MetricReport, ModelReport};
use crate::text;

/// Columns and directions that are shown.
const SHOWN: (usize, usize) = (20, 5);

/// The page of the model in a file; `lines` say what it is.
pub(crate) fn of(model: &Path, report: &ModelReport, name: ColumnName<'_>, lines: &[Line]) -> Page {
    let what = report.target.as_deref().map_or("A model".to_owned(), |target| format!("A model of {target}"));
    let mut page = Page::new(what);
    page.subtitle = report.map().1;
    page.list(lines.iter().map(|(label, text)| item(label, text)).collect::<Vec<_>>());
    if let Some(metric) = &report.metric {
        page.heading("Which columns matter");
        let unit = if report.standardised { ", each in its own deviations," } else { "" };
        page.paragraph(format!(
            "The mean square of the slope along each column{unit} as a part of all, of the function that the metric was learnt from. Rows are stretched \
             along the directions of large slopes before the kernel compares them.",
        ));
        page.figure(importances(metric));
        if let Some(figure) = directions(metric, name) {
            page.figure(figure);
        }
    }
    if let Some(training) = report.training.as_ref().filter(|training| training.curve.len() > 1) {
        page.heading("How λ was chosen");
        page.figure(curve(&training.curve, training.lambda, report.error()));
    }
    page.heading("How near the features are to the kernel");
    page.list(report.certificate().iter().map(|(label, text)| item(label, text)).collect::<Vec<_>>());
    page.made = vec![
        Block::Preformatted(format!("bochner inspect {} --report PAGE.html", model.display())),
        Block::Paragraph(Text::from(concat!("bochner ", env!("CARGO_PKG_VERSION"), "."))),
    ];
    page
}

/// Writes a page, whole or not at all.
pub(crate) fn write(path: &Path, page: &Page) -> Result<(), Failure> {
    let mut file = Output::create(path)?;
    file.write_all(page.html().as_bytes())
        .map_err(|source| Failure::Write { file: path.to_owned(), source })?;
    file.commit()
}

fn item(label: &str, text: &str) -> Text {
    if label.is_empty() { Text::from(text) } else { Text::default().strong(label).plain(format!(": {text}")) }
}

/// The columns that matter most, and what all others add.
fn importances(metric: &MetricReport) -> Figure {
    let bar =
        |name: &str, share: f64| Bar { name: name.to_owned(), value: share, text: text::percent(share) };
    let (shown, others) = metric.importances.split_at(SHOWN.0.min(metric.importances.len()));
    let mut bars: Vec<Bar> = shown.iter().map(|(name, share)| bar(name, *share)).collect();
    if !others.is_empty() {
        let name = text::counted(others.len() as u64, "other", "others");
        bars.push(bar(&name, others.iter().map(|(_, share)| share).sum()));
    }
    Figure::of("Importances of the columns; they sum to 100 %.", Bars { bars })
}

/// The leading directions along the columns that they are made of most; none where the metric mixes no columns.
fn directions(metric: &MetricReport, name: ColumnName<'_>) -> Option<Figure> {
    if !metric.mixes() {
        return None;
    }
    let shown: Vec<&Vec<f64>> = metric.directions.iter().take(SHOWN.1).collect();
    let columns = shown.first()?.len();
    let size = |j: usize| -> f64 {
        shown.iter().zip(&metric.shares).map(|(direction, share)| share * direction[j] * direction[j]).sum()
    };
    let mut order: Vec<usize> = (0..columns).collect();
    order.sort_by(|a, b| size(*b).total_cmp(&size(*a)));
    order.truncate(SHOWN.0);
    let values: Vec<f64> =
        order.iter().flat_map(|&j| shown.iter().map(move |direction| direction[j])).collect();
    let matrix = Matrix {
        columns: shown.len(),
        texts: values.iter().map(|value| format!("{value:.2}").replace('-', "−")).collect(),
        values,
        row_labels: order.iter().map(|&j| name(j)).collect(),
        column_labels: metric.shares.iter().take(shown.len()).map(|share| text::percent(*share)).collect(),
        signed: true,
        ..Matrix::default()
    };
    let less = if order.len() < columns {
        format!(" Shown are the {} of {columns} columns that they are made of most.", order.len())
    } else {
        String::new()
    };
    Some(Figure::of(
        format!(
            "The directions along which that function changes most, each a unit vector in the space of the scaled columns, with its part of the mean \
             square of the gradient above. The sign of a whole direction means nothing; columns of one colour add up, columns of different colours are \
             set against each other.{less}"
        ),
        matrix,
    ))
}

/// The error on left-out rows at each λ, and the λ that was taken.
fn curve(points: &[CurvePoint], lambda: f64, error: &str) -> Figure {
    let all: Vec<(f64, f64)> = points.iter().map(|point| (point.lambda, point.error)).collect();
    let taken: Vec<(f64, f64)> = all.iter().copied().filter(|(x, _)| x.total_cmp(&lambda).is_eq()).collect();
    let level = taken.first().map(|&(_, y)| Level::new("the best", y));
    let chart = Chart {
        x: Axis::log("λ", ""),
        y: Axis::log(format!("{error} on left-out rows"), ""),
        series: vec![Series::curve("", all), Series { colour: Some(1), ..Series::scatter("taken", taken) }],
        levels: level.into_iter().collect(),
    };
    Figure::of("The error on rows that were left out, at each λ that was tried.", chart)
}

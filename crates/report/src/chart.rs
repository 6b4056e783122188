//! Lines, bands, bounds and scattered points over two axes.

use crate::axis::{Axis, Domain};
use crate::frame::{Frame, Height};
use crate::legend::{Entry, Key};
use crate::marker;
use crate::markup::Markup;
use crate::number::{coordinate, plain};
use crate::reference;
use crate::svg::{self, Place};

/// How the points of a series are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// A line with markers: measurements.
    #[default]
    Line,
    /// A line without markers: a function.
    Curve,
    /// A thin dashed line: a bound, a prediction.
    Dashed,
    /// Markers without a line.
    Scatter,
}

/// Points that belong together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name in the legend; empty for no entry.
    pub label: String,
    /// How it is drawn.
    pub mark: Mark,
    /// Which colour, marker and dashes, from 0 to 9; its place among the series if none.
    pub colour: Option<usize>,
    /// The points, in order. One that is not finite is left out, and the line breaks there.
    pub points: Vec<(f64, f64)>,
    /// The lower and upper end at each point, such as the spread over seeds; empty for no band.
    pub band: Vec<(f64, f64)>,
}

impl Series {
    /// A line with markers.
    pub fn line(label: impl Into<String>, points: impl Into<Vec<(f64, f64)>>) -> Self {
        Series { label: label.into(), points: points.into(), ..Series::default() }
    }

    /// A line without markers.
    pub fn curve(label: impl Into<String>, points: impl Into<Vec<(f64, f64)>>) -> Self {
        Series { mark: Mark::Curve, ..Series::line(label, points) }
    }

    /// A thin dashed line.
    pub fn dashed(label: impl Into<String>, points: impl Into<Vec<(f64, f64)>>) -> Self {
        Series { mark: Mark::Dashed, ..Series::line(label, points) }
    }

    /// Markers without a line.
    pub fn scatter(label: impl Into<String>, points: impl Into<Vec<(f64, f64)>>) -> Self {
        Series { mark: Mark::Scatter, ..Series::line(label, points) }
    }

    fn key(&self, colour: usize) -> Key {
        let band = !self.band.is_empty();
        match self.mark {
            Mark::Line => Key::Line { colour, band },
            Mark::Curve => Key::Curve { colour, dashes: marker::curve_dashes(colour), band },
            Mark::Dashed => Key::Curve { colour, dashes: Some(marker::bound_dashes(colour)), band },
            Mark::Scatter => Key::Point { colour },
        }
    }
}

/// A horizontal line to compare with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Level {
    /// What it is, written at the line.
    pub label: String,
    /// Its height.
    pub value: f64,
}

impl Level {
    /// A horizontal line.
    pub fn new(label: impl Into<String>, value: f64) -> Self {
        Level { label: label.into(), value }
    }
}

/// A chart of lines and points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn; the first lies below the others.
    pub series: Vec<Series>,
    /// Horizontal lines to compare with.
    pub levels: Vec<Level>,
}

/// A line with more points than this has markers at some of them only.
const MOST_MARKERS: usize = 25;

impl Chart {
    /// The series with their colours.
    fn coloured(&self) -> impl DoubleEndedIterator<Item = (usize, &Series)> {
        self.series.iter().enumerate().map(|(i, series)| (series.colour.unwrap_or(i), series))
    }

    pub(crate) fn legend(&self) -> Vec<Entry> {
        self.coloured()
            .filter(|(_, series)| !series.label.is_empty())
            .map(|(colour, series)| Entry { key: series.key(colour), label: series.label.clone() })
            .collect()
    }

    pub(crate) fn write(&self, markup: &mut Markup, place: &Place) {
        let frame = self.frame(place);
        svg::open(markup, place, frame.total_height(), &self.description(&frame));
        frame.grid(markup);
        frame.clip(markup);
        for (colour, series) in self.coloured() {
            band(markup, &frame, series, colour);
        }
        for y in self.levels.iter().filter_map(|level| frame.down(level.value)) {
            let path = format!("M{} {}h{}", coordinate(frame.left), coordinate(y), coordinate(frame.width));
            markup.empty("path", &[("class", "level"), ("d", &path)]);
        }
        for (colour, series) in self.coloured() {
            line(markup, &frame, series, colour);
        }
        markup.close();
        frame.axes(markup);
        for (colour, series) in self.coloured() {
            markers(markup, &frame, series, colour, place.size.marker());
        }
        reference::labels(markup, &frame, self, place.size.font);
        svg::close(markup);
    }

    fn frame(&self, place: &Place) -> Frame<'_> {
        let points = || self.series.iter().flat_map(|series| &series.points);
        // An end of a band counts only where its point is drawn.
        let bands = self.series.iter().flat_map(|series| series.points.iter().zip(&series.band));
        let ends = bands.filter(|((x, _), _)| x.is_finite()).flat_map(|(_, &(low, high))| [low, high]);
        let levels = self.levels.iter().map(|level| level.value);
        let x = Domain::of(&self.x, points().map(|point| point.0));
        let y = Domain::of(&self.y, points().map(|point| point.1).chain(ends).chain(levels));
        Frame::new(place.size, (&self.x, x), (&self.y, y), Height::Fixed(place.size.chart))
    }

    fn description(&self, frame: &Frame) -> String {
        let mut text = format!("Chart. {}", frame.description());
        for series in self.series.iter().filter(|series| !series.label.is_empty()) {
            let shown = series.points.iter().filter(|&&point| frame.point(point).is_some()).count();
            text.push_str(&format!(" {}: {shown} points.", series.label));
        }
        for level in self.levels.iter().filter(|level| level.value.is_finite()) {
            text.push_str(&format!(" {}: {}.", level.label, plain(level.value)));
        }
        text
    }
}

/// The band of a series: forth along the upper ends, back along the lower; a gap starts a new piece.
fn band(markup: &mut Markup, frame: &Frame, series: &Series, colour: usize) {
    let ends: Vec<_> = series
        .points
        .iter()
        .zip(&series.band)
        .map(|(&(x, _), &(low, high))| Some((frame.point((x, low))?, frame.point((x, high))?)))
        .collect();
    let mut path = String::new();
    for piece in ends.split(Option::is_none) {
        let forth = piece.iter().flatten().map(|&(_, high)| Some(high));
        let back = piece.iter().flatten().rev().map(|&(low, _)| Some(low));
        if piece.len() > 1 {
            path.push_str(&svg::polyline(forth.chain(back)));
            path.push('z');
        }
    }
    if !path.is_empty() {
        markup.empty("path", &[("class", &format!("band {}", marker::class(colour))), ("d", &path)]);
    }
}

fn line(markup: &mut Markup, frame: &Frame, series: &Series, colour: usize) {
    let path = svg::polyline(series.points.iter().map(|&point| frame.point(point)));
    if series.mark == Mark::Scatter || path.is_empty() {
        return;
    }
    let dashes = match series.mark {
        Mark::Curve => marker::curve_dashes(colour),
        Mark::Dashed => Some(marker::bound_dashes(colour)),
        Mark::Line | Mark::Scatter => None,
    };
    let class =
        format!("line {}{}", marker::class(colour), if series.mark == Mark::Dashed { " thin" } else { "" });
    let mut attributes = vec![("class", class.as_str()), ("d", &path)];
    attributes.extend(dashes.map(|dashes| ("stroke-dasharray", dashes)));
    markup.empty("path", &attributes);
}

fn markers(markup: &mut Markup, frame: &Frame, series: &Series, colour: usize, radius: f64) {
    let every = match series.mark {
        Mark::Line => series.points.len().div_ceil(MOST_MARKERS).max(1),
        Mark::Scatter => 1,
        Mark::Curve | Mark::Dashed => return,
    };
    let shown = series.points.iter().step_by(every).filter_map(|&point| frame.inside(point));
    let path: String = shown.map(|point| marker::path(colour, point, radius)).collect();
    if !path.is_empty() {
        markup.empty("path", &[("class", &format!("mark {}", marker::class(colour))), ("d", &path)]);
    }
}

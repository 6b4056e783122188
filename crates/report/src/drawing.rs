//! Free drawing in a plot's coordinates, for illustrations.

use crate::axis::{Axis, Domain};
use crate::frame::{CENTRED, Frame, Height, words};
use crate::marker;
use crate::markup::Markup;
use crate::number::coordinate;
use crate::svg::{self, Place};

/// A colour that suits light and dark pages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Paint {
    /// Nothing.
    #[default]
    Empty,
    /// The colour of text.
    Ink,
    /// The colour of labels.
    Muted,
    /// The colour of grid lines.
    Faint,
    /// The colour of the page.
    Paper,
    /// The colour of a series, from 0 to 9.
    Colour(usize),
    /// The light tint of a series, from 0 to 9.
    Tint(usize),
    /// Between the page (0) and ink (1).
    Grey(f64),
}

impl Paint {
    fn css(self) -> String {
        match self {
            Paint::Empty => "none".to_owned(),
            Paint::Ink | Paint::Grey(_) => "var(--ink)".to_owned(),
            Paint::Muted => "var(--muted)".to_owned(),
            Paint::Faint => "var(--faint)".to_owned(),
            Paint::Paper => "var(--paper)".to_owned(),
            Paint::Colour(colour) => format!("var(--s{})", colour % marker::COLOURS),
            Paint::Tint(colour) => format!("var(--t{})", colour % marker::COLOURS),
        }
    }

    fn opacity(self) -> Option<f64> {
        match self {
            Paint::Grey(part) if part.is_finite() => Some(part.clamp(0.0, 1.0)),
            Paint::Grey(_) => Some(0.0),
            _ => None,
        }
    }
}

/// How a shape is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// The line.
    pub stroke: Paint,
    /// The inside.
    pub fill: Paint,
    /// The width of the line in pixels.
    pub width: f64,
    /// Dashes instead of a full line.
    pub dashed: bool,
}

impl Style {
    /// A line, nothing inside.
    pub fn stroke(paint: Paint) -> Self {
        Style { stroke: paint, fill: Paint::Empty, width: 1.5, dashed: false }
    }

    /// An inside without a line.
    pub fn fill(paint: Paint) -> Self {
        Style { fill: paint, ..Style::stroke(Paint::Empty) }
    }

    fn css(&self) -> String {
        let mut css = format!("fill:{};stroke:{}", self.fill.css(), self.stroke.css());
        if self.stroke != Paint::Empty {
            css.push_str(&format!(";stroke-width:{}px", coordinate(self.width)));
        }
        for (name, paint) in [("fill", self.fill), ("stroke", self.stroke)] {
            if let Some(opacity) = paint.opacity() {
                css.push_str(&format!(";{name}-opacity:{}", coordinate(opacity)));
            }
        }
        if self.dashed {
            css.push_str(";stroke-dasharray:5 4");
        }
        css
    }
}

/// Which part of a text stands at its point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Anchor {
    /// Its start: the text runs to the right.
    Start,
    /// Its middle.
    #[default]
    Middle,
    /// Its end: the text runs to the left.
    End,
}

/// A shape in the coordinates of the drawing.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Straight lines through points; a point that is not finite breaks the line.
    Polyline(Vec<(f64, f64)>),
    /// A closed shape with these corners.
    Polygon(Vec<(f64, f64)>),
    /// A circle; its radius is in units of the horizontal axis.
    Circle {
        /// The centre.
        centre: (f64, f64),
        /// The radius.
        radius: f64,
    },
    /// A point: a marker of fixed size, whatever the axes.
    Dot {
        /// Where.
        at: (f64, f64),
        /// Which marker, from 0 (a circle) to 7.
        marker: usize,
    },
    /// A rectangle between two opposite corners.
    Rectangle {
        /// One corner.
        from: (f64, f64),
        /// The opposite corner.
        to: (f64, f64),
    },
    /// A line with a head at its end.
    Arrow {
        /// The start.
        from: (f64, f64),
        /// The tip.
        to: (f64, f64),
    },
    /// A line of text, centred on the height of its point. Its colour is the fill of its style.
    Text {
        /// Where.
        at: (f64, f64),
        /// What it says.
        text: String,
        /// Which part of it stands there.
        anchor: Anchor,
    },
}

/// A shape and how it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// What.
    pub shape: Shape,
    /// How.
    pub style: Style,
}

/// Shapes over two axes; the first lies below the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    /// The horizontal axis: give it a range. Hidden axes are ranges only.
    pub x: Axis,
    /// The vertical axis: give it a range.
    pub y: Axis,
    /// Height over width; if none, a unit is as long on both axes.
    pub ratio: Option<f64>,
    /// The shapes.
    pub items: Vec<Item>,
    /// What the drawing shows, for those who do not see it.
    pub description: String,
}

impl Drawing {
    /// An empty drawing without axes, in which a unit is as long on both.
    pub fn new(x: (f64, f64), y: (f64, f64)) -> Self {
        Drawing { x: Axis::hidden(x.0, x.1), y: Axis::hidden(y.0, y.1), ..Drawing::default() }
    }

    /// Adds a shape.
    pub fn add(&mut self, shape: Shape, style: Style) {
        self.items.push(Item { shape, style });
    }

    /// Adds a straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), style: Style) {
        self.add(Shape::Polyline(vec![from, to]), style);
    }

    /// Adds straight lines through points.
    pub fn polyline(&mut self, points: impl Into<Vec<(f64, f64)>>, style: Style) {
        self.add(Shape::Polyline(points.into()), style);
    }

    /// Adds a circle; its radius is in units of the horizontal axis.
    pub fn circle(&mut self, centre: (f64, f64), radius: f64, style: Style) {
        self.add(Shape::Circle { centre, radius }, style);
    }

    /// Adds a round point of fixed size with an outline.
    pub fn dot(&mut self, at: (f64, f64), paint: Paint) {
        let style = Style { stroke: Paint::Paper, width: 1.0, ..Style::fill(paint) };
        self.add(Shape::Dot { at, marker: 0 }, style);
    }

    /// Adds a rectangle between two opposite corners.
    pub fn rectangle(&mut self, from: (f64, f64), to: (f64, f64), style: Style) {
        self.add(Shape::Rectangle { from, to }, style);
    }

    /// Adds an arrow.
    pub fn arrow(&mut self, from: (f64, f64), to: (f64, f64), style: Style) {
        self.add(Shape::Arrow { from, to }, style);
    }

    /// Adds a line of text.
    pub fn text(&mut self, at: (f64, f64), text: impl Into<String>, anchor: Anchor, paint: Paint) {
        self.add(Shape::Text { at, text: text.into(), anchor }, Style::fill(paint));
    }

    pub(crate) fn write(&self, markup: &mut Markup, place: &Place) {
        let (x, y) = (Domain::of(&self.x, []), Domain::of(&self.y, []));
        let equal = (y.high - y.low) / (x.high - x.low);
        let ratio = self.ratio.filter(|ratio| ratio.is_finite()).unwrap_or(equal).clamp(0.05, 3.0);
        let frame = Frame::new(place.size, (&self.x, x), (&self.y, y), Height::Ratio(ratio));
        let description = match self.description.as_str() {
            "" => format!("Drawing of {} shapes. {}", self.items.len(), frame.description()),
            text => format!("{text} {}", frame.description()),
        };
        svg::open(markup, place, frame.total_height(), description.trim_end());
        frame.axes(markup);
        markup.open("g", &[("class", "free")]);
        for item in &self.items {
            item.write(markup, &frame, place.size.font);
        }
        markup.close();
        svg::close(markup);
    }
}

impl Item {
    fn write(&self, markup: &mut Markup, frame: &Frame, font: f64) {
        let css = self.style.css();
        let mut path = |data: String| {
            if !data.is_empty() {
                markup.empty("path", &[("style", &css), ("d", &data)]);
            }
        };
        match &self.shape {
            Shape::Polyline(points) => path(svg::polyline(points.iter().map(|&point| frame.point(point)))),
            Shape::Polygon(corners) => path(closed(frame, corners)),
            Shape::Rectangle { from, to } => {
                path(closed(frame, &[*from, (to.0, from.1), *to, (from.0, to.1)]))
            }
            Shape::Dot { at, marker } => {
                path(frame.point(*at).map_or(String::new(), |at| marker::path(*marker, at, 0.3 * font)));
            }
            Shape::Circle { centre, radius } => {
                let edge = frame.point((centre.0 + radius, centre.1));
                let circle =
                    |(x, y): (f64, f64), edge: (f64, f64)| marker::circle((x, y), (edge.0 - x).abs(), 0);
                path(frame.point(*centre).zip(edge).map_or(String::new(), |(at, edge)| circle(at, edge)));
            }
            Shape::Arrow { from, to } => {
                let ends = frame.point(*from).zip(frame.point(*to));
                path(ends.map_or(String::new(), |(from, to)| arrow(from, to, 0.55 * font)));
            }
            Shape::Text { at, text, anchor } => self.words(markup, frame.point(*at), text, *anchor),
        }
    }

    fn words(&self, markup: &mut Markup, at: Option<(f64, f64)>, text: &str, anchor: Anchor) {
        let class = match anchor {
            Anchor::Start => "free-text",
            Anchor::Middle => "free-text mid",
            Anchor::End => "free-text end",
        };
        if let Some((x, y)) = at {
            markup.open("g", &[("style", &format!("fill:{}", self.style.fill.css()))]);
            words(markup, class, (x, y), CENTRED, text);
            markup.close();
        }
    }
}

/// All corners in turn and back; nothing if one has no place.
fn closed(frame: &Frame, corners: &[(f64, f64)]) -> String {
    let placed: Option<Vec<_>> = corners.iter().map(|&corner| frame.point(corner)).collect();
    placed.map_or(String::new(), |corners| svg::polyline(corners.into_iter().map(Some)) + "z")
}

/// A line and an open head of the given size.
fn arrow(from: (f64, f64), to: (f64, f64), head: f64) -> String {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    if !(length > 1e-9) {
        return String::new();
    }
    let (ux, uy) = (head * dx / length, head * dy / length);
    let wing = |side: f64| Some((to.0 - 0.9 * ux - side * 0.5 * uy, to.1 - 0.9 * uy + side * 0.5 * ux));
    svg::polyline([Some(from), Some(to), None, wing(1.0), Some(to), wing(-1.0)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrow_has_its_head_at_its_end() {
        assert_eq!(arrow((0.0, 0.0), (10.0, 0.0), 2.0), "M0 0L10 0M8.2 1L10 0L8.2 -1");
        assert_eq!(arrow((1.0, 1.0), (1.0, 1.0), 2.0), "");
    }

    #[test]
    fn styles_name_colours_that_follow_the_page() {
        let style = Style { dashed: true, ..Style::stroke(Paint::Colour(12)) };
        assert_eq!(style.css(), "fill:none;stroke:var(--s2);stroke-width:1.5px;stroke-dasharray:5 4");
        assert_eq!(Style::fill(Paint::Grey(f64::NAN)).css(), "fill:var(--ink);stroke:none;fill-opacity:0");
    }
}

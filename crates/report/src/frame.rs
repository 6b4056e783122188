//! The frame of a plot: where numbers fall on the page, and the axes around them.

use crate::axis::{Axis, Domain};
use crate::label;
use crate::markup::Markup;
use crate::number::{coordinate, plain};
use crate::svg::Size;
use crate::tick::{Tick, Ticks};

/// A plot's place inside its drawing.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    x: Side<'a>,
    y: Side<'a>,
    size: Size,
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// One direction of a plot.
#[derive(Debug)]
struct Side<'a> {
    axis: &'a Axis,
    domain: Domain,
    ticks: Ticks,
    title: Vec<String>,
}

/// How tall a plot is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Height {
    /// So many units: charts side by side end on one line.
    Fixed(f64),
    /// So many times its width.
    Ratio(f64),
}

impl Height {
    fn of(self, width: f64) -> f64 {
        match self {
            Height::Fixed(height) => height,
            Height::Ratio(ratio) => ratio * width,
        }
    }
}

/// The height of a line of text, in font sizes.
const LINE: f64 = 1.35;
/// The room between a plot and the labels of its ticks, in font sizes.
const GAP: f64 = 0.55;
/// The room between a plot and the title above it, in font sizes.
const TITLE_GAP: f64 = 0.85;
/// The room where a plot has no labels, in font sizes.
const EDGE: f64 = 0.35;

impl<'a> Frame<'a> {
    /// Fits a plot and its labels into the width.
    pub(crate) fn new(
        size: Size,
        (x, x_domain): (&'a Axis, Domain),
        (y, y_domain): (&'a Axis, Domain),
        height: Height,
    ) -> Self {
        let font = size.font;
        // The labels need the room of the plot, the plot leaves what the labels need: begin with a guess.
        let guess = 0.84 * size.width;
        let room = height.of(guess);
        let y_ticks = Ticks::choose(y, &y_domain, |ticks| apart(ticks, &y_domain, room, |_| 1.9 * font));
        let text = |tick: &Tick| label::width(&tick.label, font);
        let x_ticks =
            Ticks::choose(x, &x_domain, |ticks| apart(ticks, &x_domain, guess, |tick| text(tick) + font));
        let beside = y_ticks.major.iter().map(text).fold(0.0, f64::max);
        // How far the first and the last label reach over the ends.
        let over = |tick: Option<&Tick>, from_end: fn(f64) -> f64| {
            let reach =
                tick.and_then(|tick| Some(0.5 * text(tick) - guess * from_end(x_domain.fraction(tick.at)?)));
            reach.unwrap_or(0.0) + 1.0
        };
        let edge = EDGE * font;
        let left =
            if y.hidden { edge } else { beside + GAP * font }.max(over(x_ticks.major.first(), |part| part));
        let right = edge.max(over(x_ticks.major.last(), |part| 1.0 - part));
        let (left, right) = (left.min(0.5 * size.width), right.min(0.25 * size.width));
        let width = size.width - left - right;
        let lines = |axis: &Axis, room: f64| {
            if axis.hidden { Vec::new() } else { label::lines(&axis.title(), font, room) }
        };
        let y_title = lines(y, size.width);
        let top = match (y.hidden, y_title.len()) {
            (true, _) => edge,
            (false, 0) => 2.0 * edge,
            (false, lines) => (LINE * lines as f64 - 0.3 + TITLE_GAP) * font,
        };
        Frame {
            x: Side { axis: x, domain: x_domain, ticks: x_ticks, title: lines(x, width) },
            y: Side { axis: y, domain: y_domain, ticks: y_ticks, title: y_title },
            size,
            left,
            top,
            width,
            height: height.of(width),
        }
    }

    /// The height of the whole drawing.
    pub(crate) fn total_height(&self) -> f64 {
        let font = self.size.font;
        let below = match (self.x.axis.hidden, self.x.title.len()) {
            (true, _) => EDGE * font,
            (false, lines) => (GAP + LINE * (1.0 + lines as f64) + 0.15) * font,
        };
        self.top + self.height + below
    }

    /// Where a point falls; none if it has no place.
    pub(crate) fn point(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        Some((self.across(x)?, self.down(y)?))
    }

    /// Where a point falls; none if it has no place or lies outside the plot.
    pub(crate) fn inside(&self, point: (f64, f64)) -> Option<(f64, f64)> {
        if self.x.domain.contains(point.0) && self.y.domain.contains(point.1) {
            self.point(point)
        } else {
            None
        }
    }

    pub(crate) fn across(&self, x: f64) -> Option<f64> {
        Some(self.left + self.width * self.x.domain.fraction(x)?)
    }

    pub(crate) fn down(&self, y: f64) -> Option<f64> {
        Some(self.top + self.height * (1.0 - self.y.domain.fraction(y)?))
    }

    pub(crate) fn shows_level(&self, y: f64) -> bool {
        self.y.domain.contains(y)
    }

    /// Opens an inner drawing with the same coordinates that cuts what lies outside the plot; close it.
    pub(crate) fn clip(&self, markup: &mut Markup) {
        let [x, y, width, height] = [self.left, self.top, self.width, self.height].map(coordinate);
        let view = format!("{x} {y} {width} {height}");
        markup
            .open("svg", &[("x", &x), ("y", &y), ("width", &width), ("height", &height), ("viewBox", &view)]);
    }

    /// The lines behind the data.
    pub(crate) fn grid(&self, markup: &mut Markup) {
        let (right, bottom) = (self.left + self.width, self.top + self.height);
        let mut path = String::new();
        for x in self.x.ticks.major.iter().filter_map(|tick| self.across(tick.at)) {
            path.push_str(&format!("M{} {}V{}", coordinate(x), coordinate(self.top), coordinate(bottom)));
        }
        for y in self.y.ticks.major.iter().filter_map(|tick| self.down(tick.at)) {
            path.push_str(&format!("M{} {}H{}", coordinate(self.left), coordinate(y), coordinate(right)));
        }
        if !path.is_empty() {
            markup.empty("path", &[("class", "grid"), ("d", &path)]);
        }
    }

    /// The axes with their ticks and labels.
    pub(crate) fn axes(&self, markup: &mut Markup) {
        self.axis_lines(markup);
        let (font, below) = (self.size.font, self.top + self.height + GAP * self.size.font);
        for tick in &self.x.ticks.major {
            if let Some(x) = self.across(tick.at) {
                words(markup, "tick mid", (x, below), UNDER, &tick.label);
            }
        }
        for tick in &self.y.ticks.major {
            if let Some(y) = self.down(tick.at) {
                words(markup, "tick end", (self.left - GAP * font, y), CENTRED, &tick.label);
            }
        }
        for (i, line) in self.y.title.iter().rev().enumerate() {
            words(markup, "axis", (0.0, self.top - TITLE_GAP * font), -LINE * i as f64, line);
        }
        for (i, line) in self.x.title.iter().enumerate() {
            let down = UNDER + LINE * (i as f64 + 1.0) + 0.1;
            words(markup, "axis mid", (self.left + self.width / 2.0, below), down, line);
        }
    }

    fn axis_lines(&self, markup: &mut Markup) {
        let (right, bottom) = (self.left + self.width, self.top + self.height);
        let [left, top, far, low] = [self.left, self.top, right, bottom].map(coordinate);
        let (long, short) = (0.34 * self.size.font, 0.2 * self.size.font);
        let mut path = String::new();
        if !self.x.axis.hidden {
            path.push_str(&format!("M{left} {low}H{far}"));
            for (at, length) in self.x.ticks.marks(long, short) {
                if let Some(x) = self.across(at) {
                    path.push_str(&format!("M{} {low}v{}", coordinate(x), coordinate(length)));
                }
            }
        }
        if !self.y.axis.hidden {
            path.push_str(&format!("M{left} {low}V{top}"));
            for (at, length) in self.y.ticks.marks(long, short) {
                if let Some(y) = self.down(at) {
                    path.push_str(&format!("M{left} {}h{}", coordinate(y), coordinate(-length)));
                }
            }
        }
        if !path.is_empty() {
            markup.empty("path", &[("class", "rule"), ("d", &path)]);
        }
    }

    /// The axes in words.
    pub(crate) fn description(&self) -> String {
        let describe = |name: &str, side: &Side| {
            let title = side.axis.title();
            let scale = match side.domain.scale {
                crate::Scale::Linear => "",
                crate::Scale::Log => ", logarithmic",
            };
            let (low, high) = (plain(side.domain.low), plain(side.domain.high));
            format!(
                "{name}: {}{low} to {high}{scale}.",
                if title.is_empty() { String::new() } else { title + ", " }
            )
        };
        let sides = [("Horizontal axis", &self.x), ("Vertical axis", &self.y)];
        let shown = sides.iter().filter(|(_, side)| !side.axis.hidden);
        shown.map(|(name, side)| describe(name, side)).collect::<Vec<_>>().join(" ")
    }
}

impl Ticks {
    /// Every tick and its length.
    fn marks(&self, long: f64, short: f64) -> impl Iterator<Item = (f64, f64)> {
        let major = self.major.iter().map(move |tick| (tick.at, long));
        major.chain(self.minor.iter().map(move |&at| (at, short)))
    }
}

/// Whether labels of these sizes keep clear of one another along so much room.
fn apart(ticks: &[Tick], domain: &Domain, room: f64, size: impl Fn(&Tick) -> f64) -> bool {
    ticks.windows(2).all(|pair| {
        let places = (domain.fraction(pair[0].at), domain.fraction(pair[1].at));
        let (Some(first), Some(second)) = places else { return false };
        (second - first).abs() * room >= 0.5 * (size(&pair[0]) + size(&pair[1]))
    })
}

/// How far text is moved down, in its own sizes, to hang below a point.
pub(crate) const UNDER: f64 = 0.78;
/// How far text is moved down, in its own sizes, to be centred on the height of a point.
pub(crate) const CENTRED: f64 = 0.35;

/// Text at a point, moved down by a part of its size: that size is known to the style sheet only.
pub(crate) fn words(markup: &mut Markup, class: &str, (x, y): (f64, f64), down: f64, text: &str) {
    let (x, y, down) = (coordinate(x), coordinate(y), format!("{}em", coordinate(down)));
    let mut attributes = vec![("class", class), ("x", &x), ("y", &y)];
    if down != "0em" {
        attributes.push(("dy", &down));
    }
    markup.element("text", &attributes, text);
}

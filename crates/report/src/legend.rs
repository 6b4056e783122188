//! Legends: HTML lists below a plot, so that they wrap on a phone.

use crate::marker;
use crate::markup::Markup;

/// What is shown, and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: Key,
    pub(crate) label: String,
}

/// A small picture of a series or a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A line with markers, perhaps with a band.
    Line { colour: usize, band: bool },
    /// A line without markers, with its dashes.
    Curve { colour: usize, dashes: Option<&'static str>, band: bool },
    /// A marker.
    Point { colour: usize },
    /// A tinted region and its marker.
    Region { colour: usize },
}

/// The middle of a key.
const CENTRE: (f64, f64) = (14.0, 7.0);
const RADIUS: f64 = 3.8;

/// The list; nothing if there are no entries.
pub(crate) fn write(markup: &mut Markup, entries: &[Entry]) {
    if entries.is_empty() {
        return;
    }
    markup.open("ul", &[("class", "legend")]);
    for entry in entries {
        markup.open("li", &[]);
        entry.key.write(markup);
        markup.element("span", &[], &entry.label);
        markup.close();
    }
    markup.close();
}

impl Key {
    fn write(self, markup: &mut Markup) {
        let (Key::Line { colour, .. }
        | Key::Curve { colour, .. }
        | Key::Point { colour }
        | Key::Region { colour }) = self;
        let small = matches!(self, Key::Point { .. } | Key::Region { .. });
        let (class, view) = if small { ("key small", "6 0 16 14") } else { ("key", "0 0 28 14") };
        let class = format!("{class} {}", marker::class(colour));
        markup.open("svg", &[("class", &class), ("viewBox", view), ("aria-hidden", "true")]);
        if let Key::Line { band: true, .. } | Key::Curve { band: true, .. } = self {
            markup.empty("path", &[("class", "band"), ("d", "M0 1H28V13H0z")]);
        }
        let line = [("class", "line"), ("d", "M0 7H28")];
        match self {
            Key::Line { .. } | Key::Curve { dashes: None, .. } => markup.empty("path", &line),
            Key::Curve { dashes: Some(dashes), .. } => {
                markup.empty("path", &[line[0], line[1], ("stroke-dasharray", dashes)]);
            }
            Key::Region { .. } => markup.empty("path", &[("class", "region"), ("d", "M7 0H21V14H7z")]),
            Key::Point { .. } => {}
        }
        if !matches!(self, Key::Curve { .. }) {
            markup.empty("path", &[("class", "mark"), ("d", &marker::path(colour, CENTRE, RADIUS))]);
        }
        markup.close();
    }
}

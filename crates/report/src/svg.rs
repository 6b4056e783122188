//! The outside of a drawing: its size on the page, its names for those who do not see it.

use crate::markup::Markup;
use crate::number::coordinate;

/// Where a drawing stands: one alone is large, several share the width.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The start of every id in it, unique in the page.
    pub(crate) id: String,
    /// Its name, read aloud.
    pub(crate) title: String,
    pub(crate) size: Size,
}

/// The units of a drawing. The style sheet knows each by its class and sets the size of text for the width
/// at which it is shown; layouts make room for the largest, which is that of a phone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) class: &'static str,
    pub(crate) width: f64,
    pub(crate) font: f64,
    /// The height of a chart between its axes.
    pub(crate) chart: f64,
}

impl Size {
    /// The size of one of so many drawings.
    pub(crate) fn shared(drawings: usize) -> Self {
        match drawings {
            0 | 1 => Size { class: "plot w1", width: 560.0, font: 16.0, chart: 280.0 },
            2 => Size { class: "plot w2", width: 480.0, font: 14.5, chart: 265.0 },
            3 | 5 | 6 | 9 => Size { class: "plot w3", width: 340.0, font: 12.5, chart: 220.0 },
            _ => Size { class: "plot w4", width: 300.0, font: 13.0, chart: 215.0 },
        }
    }

    /// The radius of a marker.
    pub(crate) fn marker(&self) -> f64 {
        self.font * 0.24
    }
}

/// No drawing alone on its line is taller than this many pixels.
const TALLEST: f64 = 520.0;

/// Opens the box and the drawing, and names it; close both.
pub(crate) fn open(markup: &mut Markup, place: &Place, height: f64, description: &str) {
    let width = place.size.width;
    let (title, about) = (format!("{}-title", place.id), format!("{}-about", place.id));
    let narrow = format!("max-width:{}px", coordinate((TALLEST * width / height.max(1.0)).round()));
    let mut attributes = vec![("class", place.size.class)];
    if place.size.class == "plot w1" {
        attributes.push(("style", &narrow));
    }
    markup.open("div", &attributes);
    let view = format!("0 0 {} {}", coordinate(width), coordinate(height));
    let names = format!("{title} {about}");
    markup.open("svg", &[("viewBox", &view), ("role", "img"), ("aria-labelledby", &names)]);
    markup.element("title", &[("id", &title)], &place.title);
    markup.element("desc", &[("id", &about)], description);
    markup.line();
}

/// Closes the drawing and its box.
pub(crate) fn close(markup: &mut Markup) {
    markup.close();
    markup.close();
}

/// The points of a path, `M` first; a gap in the points is a gap in the path.
pub(crate) fn polyline(points: impl IntoIterator<Item = Option<(f64, f64)>>) -> String {
    let mut path = String::new();
    let mut drawing = false;
    for point in points {
        match point {
            Some((x, y)) => {
                path.push(if drawing { 'L' } else { 'M' });
                path.push_str(&format!("{} {}", coordinate(x), coordinate(y)));
                drawing = true;
            }
            None => drawing = false,
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_breaks_a_line() {
        let points = [Some((0.0, 1.0)), Some((1.0, 1.5)), None, None, Some((3.0, 2.0)), Some((4.0, 2.0))];
        assert_eq!(polyline(points), "M0 1L1 1.5M3 2L4 2");
    }
}

//! A matrix of numbers drawn as cells: grey, or of one colour above and another below zero.

use crate::frame::{CENTRED, words};
use crate::image;
use crate::label;
use crate::markup::Markup;
use crate::number::{coordinate, plain};
use crate::svg::{self, Place};

/// A matrix: 0 and 1 of a graph, values of a kernel, or directions in a space of named columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// The number of columns.
    pub columns: usize,
    /// The values, row by row from the top. Those that are not finite are left empty.
    pub values: Vec<f64>,
    /// The values that are blank and full ink; the smallest and the largest if none.
    pub range: Option<(f64, f64)>,
    /// Written at the left of the rows; may be empty.
    pub row_labels: Vec<String>,
    /// Written above the columns; may be empty.
    pub column_labels: Vec<String>,
    /// Blank is 0, and what lies below has another colour than what lies above; the largest size is full ink, whatever the range.
    pub signed: bool,
    /// Written in the cells, row by row, so that signs are told without colours; may be empty. Such cells are as low as a line of text.
    pub texts: Vec<String>,
}

/// Cells are ruled apart up to this many columns; more would be all lines.
const MOST_RULED: usize = 40;
/// The height of a cell with a text, in font sizes.
const LINE: f64 = 1.7;

impl Matrix {
    fn rows(&self) -> usize {
        self.values.len().div_ceil(self.columns.max(1))
    }

    fn span(&self) -> (f64, f64) {
        let finite = || self.values.iter().copied().filter(|value| value.is_finite());
        let (low, high) =
            (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        if self.signed {
            let size = low.abs().max(high.abs());
            return (0.0, if size > 0.0 && size.is_finite() { size } else { 1.0 });
        }
        match self.range.filter(|(blank, ink)| blank.is_finite() && ink.is_finite()) {
            Some(range) => range,
            None if low < high => (low, high),
            // One value everywhere: ink, unless it is nothing.
            None => (0.0, if low.is_finite() && low.abs() > 0.0 { low } else { 1.0 }),
        }
    }

    pub(crate) fn write(&self, markup: &mut Markup, place: &Place) {
        let (columns, rows) = (self.columns.max(1), self.rows().max(1));
        let (width, font) = (place.size.width, place.size.font);
        let row_labels: Vec<String> =
            self.row_labels.iter().map(|text| label::cut(text, font, label::WIDEST * width)).collect();
        let widest = row_labels.iter().map(|text| label::width(text, font)).fold(0.0, f64::max);
        let left = if widest > 0.0 { widest + 0.6 * font } else { 1.0 };
        let top = if self.column_labels.is_empty() { 1.0 } else { 1.7 * font };
        let cell = (width - left - 1.0) / columns as f64;
        let low = if self.texts.is_empty() { cell } else { LINE * font };
        let height = top + low * rows as f64 + 1.0;
        svg::open(markup, place, height, &self.description());
        let shift = format!("translate({} {})", coordinate(left), coordinate(top));
        markup.open("g", &[("transform", &format!("{shift}scale({cell:.5} {low:.5})"))]);
        let (blank, ink) = self.span();
        if self.signed {
            image::cells(markup, "tone s1", &self.values, columns, (blank, ink));
            image::cells(markup, "tone s0", &self.values, columns, (blank, -ink));
        } else {
            image::cells(markup, "ink", &self.values, columns, (blank, ink));
        }
        markup.close();
        self.rules(markup, &shift, (cell, low));
        for (at, text) in self.texts.iter().enumerate().take(columns * rows) {
            let (i, j) = ((at / columns) as f64 + 0.5, (at % columns) as f64 + 0.5);
            words(markup, "free-text mid", (left + j * cell, top + i * low), CENTRED, text);
        }
        for (j, text) in self.column_labels.iter().enumerate().take(columns) {
            words(markup, "tick mid", (left + (j as f64 + 0.5) * cell, top - 0.5 * font), 0.0, text);
        }
        for (i, text) in row_labels.iter().enumerate().take(rows) {
            words(markup, "tick end", (left - 0.6 * font, top + (i as f64 + 0.5) * low), CENTRED, text);
        }
        svg::close(markup);
    }

    /// Lines between the cells, and a line around them.
    fn rules(&self, markup: &mut Markup, shift: &str, (wide, low): (f64, f64)) {
        let (columns, rows) = (self.columns.max(1), self.rows().max(1));
        let (across, down) = (|j: usize| coordinate(j as f64 * wide), |i: usize| coordinate(i as f64 * low));
        let (right, bottom) = (across(columns), down(rows));
        if columns <= MOST_RULED {
            let upright = (1..columns).map(|j| format!("M{} 0V{bottom}", across(j)));
            let level = (1..rows).map(|i| format!("M0 {}H{right}", down(i)));
            let path: String = upright.chain(level).collect();
            markup.empty("path", &[("class", "cell"), ("transform", shift), ("d", &path)]);
        }
        let path = format!("M0 0H{right}V{bottom}H0z");
        markup.empty("path", &[("class", "rule"), ("transform", shift), ("d", &path)]);
    }

    fn description(&self) -> String {
        let (blank, ink) = self.span();
        let (rows, columns) = (self.rows(), self.columns);
        if self.signed {
            let ink = plain(ink);
            return format!(
                "Matrix of {rows} rows and {columns} columns; 0 is blank, {ink} and −{ink} are full colour."
            );
        }
        format!(
            "Matrix of {rows} rows and {columns} columns; {} is blank, {} is full ink.",
            plain(blank),
            plain(ink)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::Size;

    #[test]
    fn what_lies_below_zero_has_another_colour() {
        let mut markup = Markup::default();
        let place = Place { id: "f".to_owned(), title: String::new(), size: Size::shared(1) };
        Matrix { columns: 3, values: vec![2.0, -2.0, -1.0], signed: true, ..Matrix::default() }
            .write(&mut markup, &place);
        let text = markup.finish();
        let above = "<g class=\"tone s1\"><path fill-opacity=\"1\" d=\"M0 0h1v1h-1z\"/></g>";
        let below = "<g class=\"tone s0\"><path fill-opacity=\"0.5\" d=\"M2 0h1v1h-1z\"/><path fill-opacity=\"1\" d=\"M1 0h1v1h-1z\"/></g>";
        assert!(text.contains(above) && text.contains(below), "{text}");
    }
}

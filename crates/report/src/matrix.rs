//! A matrix of numbers drawn as grey cells.

use crate::frame::{CENTRED, words};
use crate::image;
use crate::label;
use crate::markup::Markup;
use crate::number::{coordinate, plain};
use crate::svg::{self, Place};

/// A matrix: 0 and 1 of a graph, or values of a kernel.
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
}

/// Cells are ruled apart up to this many columns; more would be all lines.
const MOST_RULED: usize = 40;

impl Matrix {
    fn rows(&self) -> usize {
        self.values.len().div_ceil(self.columns.max(1))
    }

    fn span(&self) -> (f64, f64) {
        let finite = || self.values.iter().copied().filter(|value| value.is_finite());
        let (low, high) =
            (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
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
        let widest = self.row_labels.iter().map(|text| label::width(text, font)).fold(0.0, f64::max);
        let left = if widest > 0.0 { widest + 0.6 * font } else { 1.0 };
        let top = if self.column_labels.is_empty() { 1.0 } else { 1.7 * font };
        let cell = (width - left - 1.0) / columns as f64;
        let height = top + cell * rows as f64 + 1.0;
        svg::open(markup, place, height, &self.description());
        let shift = format!("translate({} {})", coordinate(left), coordinate(top));
        markup.open("g", &[("transform", &format!("{shift}scale({cell:.5})"))]);
        image::cells(markup, &self.values, columns, self.span());
        markup.close();
        self.rules(markup, &shift, cell);
        for (j, text) in self.column_labels.iter().enumerate().take(columns) {
            words(markup, "tick mid", (left + (j as f64 + 0.5) * cell, top - 0.5 * font), 0.0, text);
        }
        for (i, text) in self.row_labels.iter().enumerate().take(rows) {
            words(markup, "tick end", (left - 0.6 * font, top + (i as f64 + 0.5) * cell), CENTRED, text);
        }
        svg::close(markup);
    }

    /// Lines between the cells, and a line around them.
    fn rules(&self, markup: &mut Markup, shift: &str, cell: f64) {
        let (columns, rows) = (self.columns.max(1), self.rows().max(1));
        let at = |i: usize| coordinate(i as f64 * cell);
        let (right, bottom) = (at(columns), at(rows));
        if columns <= MOST_RULED {
            let down = (1..columns).map(|j| format!("M{} 0V{bottom}", at(j)));
            let path: String = down.chain((1..rows).map(|i| format!("M0 {}H{right}", at(i)))).collect();
            markup.empty("path", &[("class", "cell"), ("transform", shift), ("d", &path)]);
        }
        let path = format!("M0 0H{right}V{bottom}H0z");
        markup.empty("path", &[("class", "rule"), ("transform", shift), ("d", &path)]);
    }

    fn description(&self) -> String {
        let (blank, ink) = self.span();
        let (rows, columns) = (self.rows(), self.columns);
        format!(
            "Matrix of {rows} rows and {columns} columns; {} is blank, {} is full ink.",
            plain(blank),
            plain(ink)
        )
    }
}

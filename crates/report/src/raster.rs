//! Decision surfaces: a grid of classes with points on top.

use crate::axis::{Axis, Domain};
use crate::frame::{Frame, Height};
use crate::legend::{Entry, Key};
use crate::marker;
use crate::markup::Markup;
use crate::number::coordinate;
use crate::svg::{self, Place};

/// A point of a known class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassPoint {
    /// Along the horizontal axis.
    pub x: f64,
    /// Along the vertical axis.
    pub y: f64,
    /// Its class, from 0.
    pub class: u8,
}

/// A grid of classes over two axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Raster {
    /// The number of cells in a row.
    pub columns: usize,
    /// The class of each cell, row by row from the top (the largest y), each row from the left.
    pub cells: Vec<u8>,
    /// The names of the classes, for the legend.
    pub classes: Vec<String>,
    /// Points drawn on top, in the colours of their classes.
    pub points: Vec<ClassPoint>,
    /// The horizontal axis; its range is that of the grid, or 0 to the number of columns.
    pub x: Axis,
    /// The vertical axis; its range is that of the grid, or 0 to the number of rows.
    pub y: Axis,
}

/// Borders are drawn if there is less than one line for so many cells.
const NOISE: usize = 5;

impl Raster {
    /// The class at the centre of every cell. Give both axes a range.
    pub fn sample(
        x: Axis,
        y: Axis,
        (columns, rows): (usize, usize),
        mut class: impl FnMut(f64, f64) -> u8,
    ) -> Self {
        let centre = |range: Option<(f64, f64)>, i: usize, n: usize| {
            let (first, last) = range.unwrap_or((0.0, n as f64));
            first + (last - first) * (i as f64 + 0.5) / n as f64
        };
        let places = (0..rows).rev().flat_map(|i| (0..columns).map(move |j| (i, j)));
        let cells =
            places.map(|(i, j)| class(centre(x.range, j, columns), centre(y.range, i, rows))).collect();
        Raster { columns, cells, x, y, ..Raster::default() }
    }

    fn rows(&self) -> usize {
        self.cells.len().div_ceil(self.columns.max(1))
    }

    pub(crate) fn legend(&self) -> Vec<Entry> {
        let entry =
            |(colour, label): (usize, &String)| Entry { key: Key::Region { colour }, label: label.clone() };
        self.classes.iter().enumerate().filter(|(_, label)| !label.is_empty()).map(entry).collect()
    }

    pub(crate) fn write(&self, markup: &mut Markup, place: &Place) {
        let (columns, rows) = (self.columns.max(1) as f64, self.rows().max(1) as f64);
        let whole = |axis: &Axis, cells: f64| Domain::of(axis, [0.0, cells]);
        let framed = |axis: &Axis, cells: f64| match axis.range {
            Some(_) => whole(axis, cells),
            None => whole(&axis.clone().between(0.0, cells), cells),
        };
        let (x, y) = (framed(&self.x, columns), framed(&self.y, rows));
        let frame = Frame::new(
            place.size,
            (&self.x, x),
            (&self.y, y),
            Height::Ratio((rows / columns).clamp(0.2, 2.0)),
        );
        svg::open(markup, place, frame.total_height(), &self.description(&frame));
        // One unit is one cell from here on.
        let [left, top] = [frame.left, frame.top].map(coordinate);
        let across = fine(frame.width / columns);
        let down = fine(frame.height / rows);
        markup.open("g", &[("transform", &format!("translate({left} {top})scale({across} {down})"))]);
        self.tiles(markup);
        self.borders(markup);
        markup.close();
        frame.axes(markup);
        for class in 0..=u8::MAX {
            self.marks(markup, &frame, class, place.size.marker());
        }
        svg::close(markup);
    }

    /// The commonest class is the ground, one rectangle; each other is a path, a run of equal cells one stroke.
    fn tiles(&self, markup: &mut Markup) {
        let (columns, rows) = (self.columns.max(1), self.rows());
        let mut counts = vec![0_usize; usize::from(u8::MAX) + 1];
        self.cells.iter().for_each(|&class| counts[usize::from(class)] += 1);
        let whole = self.cells.len() == columns * rows;
        let ground = (0..counts.len()).max_by_key(|&class| counts[class]).filter(|_| whole && rows > 0);
        let mut paths = vec![Path::default(); counts.len()];
        for (i, row) in self.cells.chunks(columns).enumerate() {
            let mut j = 0;
            for run in row.chunk_by(PartialEq::eq) {
                paths[usize::from(run[0])].run(i, j, run.len());
                j += run.len();
            }
        }
        if let Some(class) = ground {
            let area = format!("M0 0h{columns}v{rows}H0z");
            markup.empty("path", &[("class", &format!("region {}", marker::class(class))), ("d", &area)]);
        }
        // A stroke lies on both sides of its line: half a cell down, it covers its row.
        markup.open("g", &[("class", "tiles"), ("transform", "translate(0 .5)")]);
        for (class, path) in paths.iter().enumerate().filter(|&(class, _)| Some(class) != ground) {
            if !path.text.is_empty() {
                markup.empty("path", &[("class", &marker::class(class)), ("d", &path.text)]);
            }
        }
        markup.close();
    }

    /// Lines where the class changes, which are seen without colours too. Cells that change everywhere are noise
    /// and have none: they would hide it.
    fn borders(&self, markup: &mut Markup) {
        let (columns, rows) = (self.columns, self.rows());
        let cell = |i: usize, j: usize| self.cells.get(i * columns + j);
        let (mut path, mut lines) = (String::new(), 0);
        for j in 1..columns {
            for (start, length) in
                runs(rows, |i| cell(i, j).is_some_and(|class| cell(i, j - 1) != Some(class)))
            {
                path.push_str(&format!("M{j} {start}v{length}"));
                lines += 1;
            }
        }
        for i in 1..rows {
            for (start, length) in
                runs(columns, |j| cell(i, j).is_some_and(|class| cell(i - 1, j) != Some(class)))
            {
                path.push_str(&format!("M{start} {i}h{length}"));
                lines += 1;
            }
        }
        if lines > 0 && lines < self.cells.len() / NOISE {
            markup.empty("path", &[("class", "border"), ("d", &path)]);
        }
    }

    fn marks(&self, markup: &mut Markup, frame: &Frame, class: u8, radius: f64) {
        let shown = self.points.iter().filter(|point| point.class == class);
        let places = shown.filter_map(|point| frame.inside((point.x, point.y)));
        let path: String = places.map(|place| marker::path(class.into(), place, radius)).collect();
        if !path.is_empty() {
            markup
                .empty("path", &[("class", &format!("mark {}", marker::class(class.into()))), ("d", &path)]);
        }
    }

    fn description(&self, frame: &Frame) -> String {
        let mut text =
            format!("Regions of {} classes with {} points. ", self.classes.len(), self.points.len());
        text.push_str(&frame.description());
        for (class, label) in self.classes.iter().enumerate() {
            let share = self.cells.iter().filter(|&&cell| usize::from(cell) == class).count() as f64;
            let share = 100.0 * share / self.cells.len().max(1) as f64;
            text.push_str(&format!(" {label}: {share:.0} % of the area."));
        }
        text
    }
}

/// Where a property holds without a break: the starts and lengths.
fn runs(count: usize, holds: impl Fn(usize) -> bool) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for i in (0..count).filter(|&i| holds(i)) {
        match runs.last_mut() {
            Some((start, length)) if *start + *length == i => *length += 1,
            _ => runs.push((i, 1)),
        }
    }
    runs
}

/// Horizontal strokes, each begun where it is shortest to say.
#[derive(Clone, Debug, Default)]
struct Path {
    text: String,
    /// The row and the column after the last stroke.
    end: Option<(usize, usize)>,
}

impl Path {
    fn run(&mut self, row: usize, column: usize, length: usize) {
        let start = match self.end {
            Some((last, end)) if last == row => format!("m{} 0h{length}", column - end),
            _ => format!("M{column} {row}h{length}"),
        };
        self.text.push_str(&start);
        self.end = Some((row, column + length));
    }
}

/// A factor rather than a coordinate: small errors grow with the number of cells.
fn fine(factor: f64) -> String {
    format!("{factor:.5}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiles(columns: usize, cells: &[u8]) -> String {
        let mut markup = Markup::default();
        Raster { columns, cells: cells.to_vec(), ..Raster::default() }.tiles(&mut markup);
        markup.finish()
    }

    #[test]
    fn equal_neighbours_are_one_stroke() {
        let tiles = tiles(5, &[0, 0, 1, 0, 0, 1, 1, 1, 1, 1, 0]);
        assert!(
            tiles.contains("d=\"M0 0h2m1 0h2M0 2h1\"") && tiles.contains("d=\"M2 0h1M0 1h5\""),
            "{tiles}"
        );
    }

    #[test]
    fn the_commonest_class_is_the_ground() {
        let tiles = tiles(3, &[4, 4, 0, 4, 4, 4]);
        assert!(tiles.starts_with("<path class=\"region s4\" d=\"M0 0h3v2H0z\"/>"), "{tiles}");
        assert!(tiles.contains("<path class=\"s0\" d=\"M2 0h1\"/></g>"), "{tiles}");
    }

    #[test]
    fn a_sampled_grid_starts_at_the_top_left() {
        let axis = || Axis::linear("", "").between(0.0, 2.0);
        let raster = Raster::sample(axis(), axis(), (2, 2), |x, y| u8::from(x > 1.0) + 2 * u8::from(y > 1.0));
        assert_eq!(raster.cells, [2, 3, 0, 1]);
    }

    #[test]
    fn runs_end_where_the_property_ends() {
        assert_eq!(runs(6, |i| i != 2 && i != 5), [(0, 2), (3, 2)]);
    }
}

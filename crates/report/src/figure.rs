//! Figures: one or several drawings under one number.

use crate::bars::Bars;
use crate::chart::Chart;
use crate::drawing::Drawing;
use crate::image::Images;
use crate::legend::{self, Entry};
use crate::markup::Markup;
use crate::matrix::Matrix;
use crate::raster::Raster;
use crate::svg::{Place, Size};
use crate::text::Text;

/// Anything that can be drawn in a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Graphic {
    /// Lines and points over two axes.
    Chart(Chart),
    /// A grid of classes with points on top.
    Raster(Raster),
    /// Small grey images.
    Images(Images),
    /// Amounts as horizontal bars.
    Bars(Bars),
    /// A matrix as grey cells, or as cells of two colours.
    Matrix(Matrix),
    /// Free shapes.
    Drawing(Drawing),
}

impl Graphic {
    fn legend(&self) -> Vec<Entry> {
        match self {
            Graphic::Chart(chart) => chart.legend(),
            Graphic::Raster(raster) => raster.legend(),
            Graphic::Images(_) | Graphic::Bars(_) | Graphic::Matrix(_) | Graphic::Drawing(_) => Vec::new(),
        }
    }

    fn write(&self, markup: &mut Markup, place: &Place) {
        match self {
            Graphic::Chart(chart) => chart.write(markup, place),
            Graphic::Raster(raster) => raster.write(markup, place),
            Graphic::Images(images) => images.write(markup, place),
            Graphic::Bars(bars) => bars.write(markup, place),
            Graphic::Matrix(matrix) => matrix.write(markup, place),
            Graphic::Drawing(drawing) => drawing.write(markup, place),
        }
    }
}

impl From<Chart> for Graphic {
    fn from(chart: Chart) -> Self {
        Graphic::Chart(chart)
    }
}

impl From<Raster> for Graphic {
    fn from(raster: Raster) -> Self {
        Graphic::Raster(raster)
    }
}

impl From<Images> for Graphic {
    fn from(images: Images) -> Self {
        Graphic::Images(images)
    }
}

impl From<Bars> for Graphic {
    fn from(bars: Bars) -> Self {
        Graphic::Bars(bars)
    }
}

impl From<Matrix> for Graphic {
    fn from(matrix: Matrix) -> Self {
        Graphic::Matrix(matrix)
    }
}

impl From<Drawing> for Graphic {
    fn from(drawing: Drawing) -> Self {
        Graphic::Drawing(drawing)
    }
}

/// A drawing with a small title.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// What this one shows; may be empty.
    pub title: String,
    /// The drawing.
    pub graphic: Graphic,
}

impl Panel {
    /// A drawing with a small title.
    pub fn new(title: impl Into<String>, graphic: impl Into<Graphic>) -> Self {
        Panel { title: title.into(), graphic: graphic.into() }
    }
}

/// A numbered figure. Several panels stand side by side, and one below the other on a phone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// What the figure shows.
    pub caption: Text,
    /// The drawings. Several are lettered a, b, c. A legend that all share is shown once.
    pub panels: Vec<Panel>,
}

impl Figure {
    /// A figure of one drawing.
    pub fn of(caption: impl Into<Text>, graphic: impl Into<Graphic>) -> Self {
        Figure { caption: caption.into(), panels: vec![Panel::new("", graphic)] }
    }

    /// A figure of several drawings.
    pub fn panels(caption: impl Into<Text>, panels: impl Into<Vec<Panel>>) -> Self {
        Figure { caption: caption.into(), panels: panels.into() }
    }

    pub(crate) fn write(&self, markup: &mut Markup, number: usize) {
        let size = Size::shared(self.panels.len());
        let legends: Vec<_> = self.panels.iter().map(|panel| panel.graphic.legend()).collect();
        let shared = legends.first().filter(|first| legends.iter().all(|legend| legend == *first));
        let id = format!("figure-{number}");
        let class = format!("n{}", size.class.trim_start_matches("plot w"));
        markup.open("figure", &[("id", &id), ("class", &class)]);
        markup.open("div", &[("class", "panels")]);
        for (i, (panel, legend)) in self.panels.iter().zip(&legends).enumerate() {
            let letter = if self.panels.len() > 1 { letter(i) } else { String::new() };
            let id = if letter.is_empty() { id.clone() } else { format!("{id}{letter}") };
            let title = format!("Figure {number}{letter} {}", panel.title).trim_end().to_owned();
            markup.line();
            markup.open("div", &[("class", "panel")]);
            heading(markup, &letter, &panel.title);
            panel.graphic.write(markup, &Place { id, title, size });
            if shared.is_none() {
                legend::write(markup, legend);
            }
            markup.close();
        }
        markup.close();
        if let Some(entries) = shared {
            legend::write(markup, entries);
        }
        markup.open("figcaption", &[]);
        markup.element("b", &[], &format!("Figure {number}."));
        if !self.caption.is_empty() {
            markup.text(" ");
            self.caption.write(markup);
        }
        markup.close();
        markup.close();
    }
}

/// `a  title`
fn heading(markup: &mut Markup, letter: &str, title: &str) {
    if letter.is_empty() && title.is_empty() {
        return;
    }
    markup.open("p", &[("class", "panel-title")]);
    if !letter.is_empty() {
        markup.element("b", &[], letter);
        markup.text(" ");
    }
    markup.text(title);
    markup.close();
}

/// a, b, …, z, then numbers.
fn letter(i: usize) -> String {
    match u8::try_from(i) {
        Ok(i @ 0..26) => char::from(b'a' + i).to_string(),
        _ => format!("-{}", i + 1),
    }
}

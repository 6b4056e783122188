//! Small grey images in rows that wrap, each with a label beneath.

use crate::markup::Markup;
use crate::number::coordinate;
use crate::svg::Place;

/// One small image.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Image {
    /// The number of pixels in a row.
    pub columns: usize,
    /// The pixels, row by row from the top. Those that are not finite are left empty.
    pub values: Vec<f64>,
    /// Written beneath.
    pub label: String,
    /// Brings the image out, such as one that was misread.
    pub marked: bool,
}

/// Small grey images.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Images {
    /// The images, in reading order.
    pub images: Vec<Image>,
    /// The values that are blank and full ink: (0, 16) for digits of 8×8.
    pub range: (f64, f64),
}

impl Images {
    pub(crate) fn write(&self, markup: &mut Markup, place: &Place) {
        markup.open("div", &[("class", "images"), ("role", "group"), ("aria-label", &place.title)]);
        for (i, image) in self.images.iter().enumerate() {
            let columns = image.columns.max(1);
            let rows = image.values.len().div_ceil(columns);
            let id = format!("{}-image-{}", place.id, i + 1);
            let view = format!("0 0 {columns} {}", rows.max(1));
            markup.open("div", &[("class", if image.marked { "image marked" } else { "image" })]);
            markup.open("svg", &[("viewBox", &view), ("role", "img"), ("aria-labelledby", &id)]);
            let name = if image.label.is_empty() { "no label" } else { &image.label };
            markup.element("title", &[("id", &id)], &format!("Image {}: {name}", i + 1));
            cells(markup, "ink", &image.values, columns, self.range);
            markup.close();
            markup.element("span", &[], &image.label);
            markup.close();
        }
        markup.close();
    }
}

/// The shades of grey between blank and ink.
const SHADES: usize = 32;

/// Unit cells from (0, 0): a path for each shade of the ink that a class of the style sheet names. Blank cells are not drawn.
pub(crate) fn cells(
    markup: &mut Markup,
    class: &str,
    values: &[f64],
    columns: usize,
    (blank, ink): (f64, f64),
) {
    let mut paths = vec![String::new(); SHADES + 1];
    for (i, row) in values.chunks(columns.max(1)).enumerate() {
        let mut j = 0;
        let shades: Vec<usize> = row.iter().map(|&value| shade((value - blank) / (ink - blank))).collect();
        for run in shades.chunk_by(PartialEq::eq) {
            if let Some(path) = run.first().and_then(|&shade| paths.get_mut(shade)) {
                path.push_str(&format!("M{j} {i}h{}v1h-{}z", run.len(), run.len()));
            }
            j += run.len();
        }
    }
    markup.open("g", &[("class", class)]);
    for (shade, path) in paths.iter().enumerate().skip(1).filter(|(_, path)| !path.is_empty()) {
        let opacity = coordinate(shade as f64 / SHADES as f64);
        markup.empty("path", &[("fill-opacity", &opacity), ("d", path)]);
    }
    markup.close();
}

/// The nearest shade; blank where there is no number.
fn shade(part: f64) -> usize {
    if part.is_finite() { (part.clamp(0.0, 1.0) * SHADES as f64).round() as usize } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_shade_are_one_piece_and_bad_pixels_are_blank() {
        let mut markup = Markup::default();
        cells(&mut markup, "ink", &[16.0, 16.0, f64::NAN, 8.0, 0.0, f64::INFINITY], 3, (0.0, 16.0));
        assert_eq!(
            markup.finish(),
            "<g class=\"ink\"><path fill-opacity=\"0.5\" d=\"M0 1h1v1h-1z\"/>\
             <path fill-opacity=\"1\" d=\"M0 0h2v1h-2z\"/></g>"
        );
        assert_eq!([shade(-1.0), shade(2.0), shade(f64::NAN)], [0, SHADES, 0]);
    }
}

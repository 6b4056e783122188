//! Amounts as horizontal bars, each with its name and its number.

use crate::frame::{CENTRED, words};
use crate::label;
use crate::markup::Markup;
use crate::number::coordinate;
use crate::svg::{self, Place};

/// One bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bar {
    /// Written at its left; cut where it is long.
    pub name: String,
    /// Its length. What is negative or not finite has none.
    pub value: f64,
    /// The value in words, written at its right.
    pub text: String,
}

/// Amounts to compare, from zero: the longest bar takes the room that names and numbers leave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// The bars, from the top.
    pub bars: Vec<Bar>,
}

/// The room of a bar from top to top, and of the bar itself, in font sizes.
const STEP: f64 = 1.55;
const THICK: f64 = 0.95;
/// Between a bar and what is written beside it, in font sizes.
const GAP: f64 = 0.5;

impl Bar {
    fn length(&self) -> f64 {
        if self.value.is_finite() { self.value.max(0.0) } else { 0.0 }
    }
}

impl Bars {
    pub(crate) fn write(&self, markup: &mut Markup, place: &Place) {
        let (width, font) = (place.size.width, place.size.font);
        let names: Vec<String> =
            self.bars.iter().map(|bar| label::cut(&bar.name, font, label::WIDEST * width)).collect();
        let widest = |texts: &mut dyn Iterator<Item = &str>| {
            texts.map(|text| label::width(text, font)).fold(0.0, f64::max)
        };
        let left = widest(&mut names.iter().map(String::as_str)) + GAP * font;
        let right = widest(&mut self.bars.iter().map(|bar| bar.text.as_str())) + GAP * font;
        let room = (width - left - right).max(0.1 * width);
        let longest = self.bars.iter().map(Bar::length).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        let height = STEP * font * self.bars.len().max(1) as f64;
        svg::open(markup, place, height, &self.description());
        let mut path = String::new();
        for (i, (bar, name)) in self.bars.iter().zip(&names).enumerate() {
            let (middle, length) = (STEP * font * (i as f64 + 0.5), room * (bar.length() / longest));
            let [x, y, length_text, thick] =
                [left, middle - 0.5 * THICK * font, length, THICK * font].map(coordinate);
            path.push_str(&format!("M{x} {y}h{length_text}v{thick}h-{length_text}z"));
            words(markup, "tick end", (left - GAP * font, middle), CENTRED, name);
            words(markup, "tick", (left + length + GAP * font, middle), CENTRED, &bar.text);
        }
        if !path.is_empty() {
            markup.empty("path", &[("class", "bar s0"), ("d", &path)]);
        }
        let [x, bottom] = [left, height].map(coordinate);
        markup.empty("path", &[("class", "rule"), ("d", &format!("M{x} 0V{bottom}"))]);
        svg::close(markup);
    }

    fn description(&self) -> String {
        let each: Vec<String> = self.bars.iter().map(|bar| format!("{} {}", bar.name, bar.text)).collect();
        format!("Bars. {}.", each.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::Size;

    #[test]
    fn bars_are_as_long_as_their_values() {
        let bar = |value| Bar { name: "a".to_owned(), value, text: "b".to_owned() };
        let mut markup = Markup::default();
        let place = Place { id: "f".to_owned(), title: String::new(), size: Size::shared(1) };
        Bars { bars: vec![bar(2.0), bar(1.0), bar(-1.0), bar(f64::NAN)] }.write(&mut markup, &place);
        let text = markup.finish();
        let path =
            text.split("class=\"bar s0\" d=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        let length = |piece: &str| -> f64 {
            piece.split('h').nth(1).and_then(|rest| rest.split('v').next()).unwrap().parse().unwrap()
        };
        let lengths: Vec<f64> = path.split('z').filter(|piece| !piece.is_empty()).map(length).collect();
        assert!(lengths[0] > 400.0 && (lengths[0] - 2.0 * lengths[1]).abs() < 0.02, "{lengths:?}");
        assert!(lengths[2..].iter().all(|length| length.abs() < 1e-12) && lengths.len() == 4, "{lengths:?}");
    }
}

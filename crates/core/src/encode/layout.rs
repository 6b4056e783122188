//! Where the columns of each input stand in the rows.
//!
//! ```text
//! row     scaled: numbers, seconds of dates  |  plain: levels, indicators, circles of dates  |  hashed: texts
//! ```
//! Scaled columns are brought to a common scale; plain ones, of 0 and 1 or on a circle, have one by themselves; hashed ones are
//! sparse. Within each part inputs stand in their order.

use std::ops::Range;

use super::Input;

/// The columns of one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// One or none.
    pub(crate) scaled: Range<usize>,
    /// Of 0 and 1, or on a circle.
    pub(crate) plain: Range<usize>,
    /// Of a text.
    pub(crate) hashed: Range<usize>,
}

impl Place {
    /// Its parts that are not empty, in the order of the row; what follows without a gap is one part.
    pub(crate) fn parts(&self) -> Vec<Range<usize>> {
        let mut parts: Vec<Range<usize>> = Vec::new();
        for part in [&self.scaled, &self.plain, &self.hashed].into_iter().filter(|part| !part.is_empty()) {
            match parts.last_mut() {
                Some(last) if last.end == part.start => last.end = part.end,
                _ => parts.push(part.clone()),
            }
        }
        parts
    }
}

/// The columns of all inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// One for each input.
    pub(crate) places: Vec<Place>,
    /// Columns that are scaled.
    pub(crate) scaled: usize,
    /// Columns that are not hashed.
    pub(crate) dense: usize,
    /// All of them.
    pub(crate) total: usize,
}

impl Layout {
    pub(crate) fn of(inputs: &[Input]) -> Layout {
        let sum = |width: fn(&Input) -> usize| inputs.iter().map(width).fold(0, usize::saturating_add);
        let scaled = sum(|input| input.encoding.scaled());
        let dense = scaled.saturating_add(sum(|input| input.encoding.plain()));
        let (mut next, mut places) = ([0, scaled, dense], Vec::with_capacity(inputs.len()));
        for Input { encoding, .. } in inputs {
            let widths = [encoding.scaled(), encoding.plain(), encoding.hashed()];
            let [scaled, plain, hashed] = std::array::from_fn(|part| {
                let start = next[part];
                next[part] = start.saturating_add(widths[part]);
                start..next[part]
            });
            places.push(Place { scaled, plain, hashed });
        }
        Layout { places, scaled, dense, total: next[2] }
    }

    /// The input that column j of the rows is of.
    pub(crate) fn input_of(&self, j: usize) -> Option<usize> {
        self.places.iter().position(|place| {
            [&place.scaled, &place.plain, &place.hashed].into_iter().any(|part| part.contains(&j))
        })
    }
}

//! Texts on all threads, with looks at the observer.

use std::ops::Range;

use super::Grams;
use crate::table::TextColumn;
use crate::{Engine, Event, Result};

/// Texts that one thread reads at once, at most.
const TEXTS: usize = 256;

/// Grams that one thread reads at once, but for those of one long text: some milliseconds.
const GRAMS: usize = 1 << 18;

/// Pieces of each thread between two looks at the observer.
const PIECES: usize = 8;

/// Reads texts in pieces, a few for each thread at once, and takes what they become in their order. Between two steps the observer is asked whether to go on.
pub(super) fn in_steps<R: Send>(
    engine: &Engine,
    grams: &Grams,
    texts: &TextColumn,
    piece: impl Fn(Range<usize>) -> R + Sync,
    mut take: impl FnMut(R),
) -> Result<()> {
    let letters = GRAMS / (grams.of_a_window() as usize).max(1);
    for step in pieces(texts, letters).chunks(PIECES * engine.threads()) {
        let done = engine.map(step.len(), &|at| piece(step[at].clone()));
        done.into_iter().for_each(&mut take);
        engine.tell(&Event::Alive)?;
    }
    Ok(())
}

/// Texts that follow each other, of no more than so many letters together, or one.
fn pieces(texts: &TextColumn, letters: usize) -> Vec<Range<usize>> {
    let (mut pieces, mut start, mut read) = (Vec::new(), 0, 0);
    for i in 0..texts.len() {
        let more = texts.get(i).len();
        if i > start && (i - start == TEXTS || read + more > letters) {
            pieces.push(start..i);
            (start, read) = (i, 0);
        }
        read += more;
    }
    pieces.extend((start < texts.len()).then_some(start..texts.len()));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_all_texts_in_order() {
        let texts: TextColumn = ["", "abc", "d", "", "efghijkl", "m", "n"].into_iter().collect();
        assert_eq!(pieces(&texts, 4), [0..4, 4..5, 5..7]);
        assert_eq!(pieces(&texts, 0), (0..7).map(|i| i..i + 1).collect::<Vec<_>>());
        assert!(pieces(&TextColumn::default(), 4).is_empty());
        let many: TextColumn = std::iter::repeat_n("a", 600).collect();
        assert_eq!(pieces(&many, 1 << 18), [0..256, 256..512, 512..600]);
    }
}

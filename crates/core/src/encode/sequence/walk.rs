//! The grams of a text, one after the other, by the hashes of their bytes.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::{Grams, LONGEST};

/// Stands for the letters that do not matter: no byte of UTF-8.
const GAP: u8 = 0xFF;

/// Bytes that fit a number.
const SHORT: usize = 16;

/// Walks over texts, keeping what it needs for the next one.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    kind: Kind,
    /// Words in lower case with a space between two.
    text: String,
    /// Where words, or characters, start and end.
    pieces: Vec<(usize, usize)>,
}

#[derive(Clone, Debug)]
enum Kind {
    Windows(usize),
    /// The places of each choice, one choice after the other.
    Gapped {
        length: usize,
        k: usize,
        choices: Vec<u8>,
    },
    /// As bits that are set at the places that do not matter, for windows that are one number.
    ShortGapped {
        length: usize,
        gaps: Vec<u128>,
    },
    Mismatch {
        k: usize,
        mismatches: usize,
        alphabet: Vec<u8>,
    },
    Characters {
        from: usize,
        to: usize,
        /// Whether runs at different positions differ.
        at_positions: bool,
    },
    Words {
        from: usize,
        to: usize,
    },
}

impl Walk {
    /// Over grams whose parameters lie in their domains.
    pub(super) fn new(grams: &Grams) -> Walk {
        let size = |number: u32| number as usize;
        let kind = match grams {
            Grams::Spectrum { k } => Kind::Windows(size(*k)),
            Grams::Gapped { length, k } => {
                let (length, k) = (size(*length), size(*k));
                let choices = choices(length, k);
                if length <= SHORT {
                    let gaps = choices.chunks_exact(k).map(|choice| !letters(choice)).collect();
                    Kind::ShortGapped { length, gaps }
                } else {
                    Kind::Gapped { length, k, choices }
                }
            }
            Grams::Mismatch { k, mismatches, alphabet } => Kind::Mismatch {
                k: size(*k),
                mismatches: size(*mismatches),
                alphabet: alphabet.as_bytes().to_vec(),
            },
            Grams::Characters { from, to } | Grams::Positional { from, to } => {
                let at_positions = matches!(grams, Grams::Positional { .. });
                Kind::Characters { from: size(*from), to: size(*to), at_positions }
            }
            Grams::Words { from, to } => Kind::Words { from: size(*from), to: size(*to) },
        };
        Walk { kind, text: String::new(), pieces: Vec::new() }
    }

    /// Shows the key of each gram, as often as the text has it.
    pub(super) fn each(&mut self, text: &str, mut see: impl FnMut(u64)) {
        match &self.kind {
            Kind::Windows(k) => text.as_bytes().windows(*k).for_each(|window| see(xxh3_64(window))),
            Kind::ShortGapped { length, gaps } => {
                let mut word = [0; SHORT];
                for window in text.as_bytes().windows(*length) {
                    word[..*length].copy_from_slice(window);
                    let window = u128::from_le_bytes(word);
                    gaps.iter().for_each(|gaps| see(xxh3_64(&(window | gaps).to_le_bytes()[..*length])));
                }
            }
            Kind::Gapped { length, k, choices } => {
                let mut word = [GAP; LONGEST as usize];
                for window in text.as_bytes().windows(*length) {
                    for choice in choices.chunks_exact(*k) {
                        choice.iter().for_each(|&at| word[usize::from(at)] = window[usize::from(at)]);
                        see(xxh3_64(&word[..*length]));
                        choice.iter().for_each(|&at| word[usize::from(at)] = GAP);
                    }
                }
            }
            Kind::Mismatch { k, mismatches, alphabet } => {
                let mut word = [0; LONGEST as usize];
                for window in text.as_bytes().windows(*k) {
                    word[..*k].copy_from_slice(window);
                    around(&mut word[..*k], 0, *mismatches, alphabet, &mut see);
                }
            }
            Kind::Characters { from, to, at_positions } => {
                self.pieces.clear();
                let character = |(at, c): (usize, char)| (at, at + c.len_utf8());
                self.pieces.extend(text.char_indices().map(character));
                runs(text, &self.pieces, (*from, *to), *at_positions, see);
            }
            Kind::Words { from, to } => {
                words(text, &mut self.text, &mut self.pieces);
                runs(&self.text, &self.pieces, (*from, *to), false, see);
            }
        }
    }

    /// How often the text has each gram, sorted by key.
    pub(super) fn counts(&mut self, text: &str) -> Vec<(u64, f64)> {
        let mut keys = Vec::new();
        self.each(text, |key| keys.push(key));
        keys.sort_unstable();
        let mut counts: Vec<(u64, f64)> = Vec::new();
        for key in keys {
            match counts.last_mut() {
                Some((last, count)) if *last == key => *count += 1.0,
                _ => counts.push((key, 1.0)),
            }
        }
        counts
    }
}

/// All choices of k of n places, each in rising order, one after the other.
fn choices(n: usize, k: usize) -> Vec<u8> {
    let mut all = Vec::new();
    let mut choice: Vec<usize> = (0..k).collect();
    loop {
        all.extend(choice.iter().map(|&at| at as u8));
        // The last place that can still move, and those after it right behind it.
        let Some(moved) = (0..k).rev().find(|&i| choice[i] < n - k + i) else { return all };
        choice[moved] += 1;
        for i in moved + 1..k {
            choice[i] = choice[i - 1] + 1;
        }
    }
}

/// Bits that are set at some places.
fn letters(places: &[u8]) -> u128 {
    places.iter().map(|&at| 0xFF << (8 * u32::from(at))).fold(0, |all, one: u128| all | one)
}

/// The word and all that differ from it in at most `left` letters from place `at` on.
fn around(word: &mut [u8], at: usize, left: usize, alphabet: &[u8], see: &mut impl FnMut(u64)) {
    see(xxh3_64(word));
    if left == 0 {
        return;
    }
    for place in at..word.len() {
        let letter = word[place];
        if alphabet.contains(&letter) {
            for &other in alphabet.iter().filter(|other| **other != letter) {
                word[place] = other;
                around(word, place + 1, left - 1, alphabet, see);
            }
            word[place] = letter;
        }
    }
}

/// All runs of some pieces that follow each other; where positions count, the same run elsewhere is another.
fn runs(
    text: &str,
    pieces: &[(usize, usize)],
    (from, to): (usize, usize),
    at_positions: bool,
    mut see: impl FnMut(u64),
) {
    for length in from..=to {
        for (run, position) in pieces.windows(length).zip(1..) {
            let bytes = &text.as_bytes()[run[0].0..run[length - 1].1];
            let key = xxh3_64(bytes);
            // Not the run itself with a seed: short runs and small seeds have equal hashes.
            see(if at_positions { xxh3_64_with_seed(&key.to_le_bytes(), position) } else { key });
        }
    }
}

/// Runs of letters and digits, in lower case, with one space between two; an apostrophe between two of them belongs to the word.
fn words(text: &str, to: &mut String, pieces: &mut Vec<(usize, usize)>) {
    to.clear();
    pieces.clear();
    let mut characters = text.chars().peekable();
    let mut start = None;
    while let Some(c) = characters.next() {
        let is_inner = |c: char| matches!(c, '\'' | '’');
        if c.is_alphanumeric() {
            if start.is_none() {
                if !to.is_empty() {
                    to.push(' ');
                }
                start = Some(to.len());
            }
            if c.is_ascii() { to.push(c.to_ascii_lowercase()) } else { to.extend(c.to_lowercase()) }
        } else if start.is_some() && is_inner(c) && characters.peek().is_some_and(|c| c.is_alphanumeric()) {
            to.push('\'');
        } else if let Some(start) = start.take() {
            pieces.push((start, to.len()));
        }
    }
    pieces.extend(start.map(|start| (start, to.len())));
}

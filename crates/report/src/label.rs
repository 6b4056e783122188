//! How much room text needs. Widths are estimates: the reader's font is not known here.

/// A digit of a wide sans-serif font, in font sizes.
const DIGIT: f64 = 0.62;

/// The part of a drawing's width that names beside it may take.
pub(crate) const WIDEST: f64 = 0.4;

/// The width of a line of text.
pub(crate) fn width(text: &str, font: f64) -> f64 {
    text.chars().map(digits).sum::<f64>() * DIGIT * font
}

/// The width of a character, in digits.
fn digits(character: char) -> f64 {
    match character {
        '⁻' => 0.9,
        '⁰' | '¹' | '²' | '³' | '⁴'..='⁹' | '.' | ',' | ':' | ' ' | 'i' | 'l' => 0.65,
        '−' | '×' | '%' | 'm' | 'w' | 'A'..='Z' => 1.35,
        _ => 1.0,
    }
}

/// The text, or as much of its start as fits a width with `…`.
pub(crate) fn cut(text: &str, font: f64, room: f64) -> String {
    if width(text, font) <= room {
        return text.to_owned();
    }
    let mut left = room - width("…", font);
    let fits = |character: &char| {
        left -= digits(*character) * DIGIT * font;
        left >= 0.0
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// The text in lines that fit a width, broken between words.
pub(crate) fn lines(text: &str, font: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, font) + width(word, font) + 0.4 * font <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut() {
        assert_eq!(cut("short", 10.0, 100.0), "short");
        assert_eq!(cut("a long name", 10.0, 40.0), "a long…");
        assert!(width(&cut("MMMMMMMMMM", 10.0, 40.0), 10.0) <= 40.0);
        assert_eq!(cut("any", 10.0, 0.0), "…");
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(lines("root mean square error", 10.0, 110.0), ["root mean square", "error"]);
        assert_eq!(lines("indivisible", 10.0, 1.0), ["indivisible"]);
        assert!(lines("  ", 10.0, 100.0).is_empty());
    }
}

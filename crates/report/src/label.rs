//! How much room text needs. Widths are estimates: the reader's font is not known here.

/// A digit of a wide sans-serif font, in font sizes.
const DIGIT: f64 = 0.62;

/// The width of a line of text.
pub(crate) fn width(text: &str, font: f64) -> f64 {
    text.chars().map(digits).sum::<f64>() * DIGIT * font
}

/// The width of a character, in digits.
fn digits(character: char) -> f64 {
    match character {
        '⁻' => 0.9,
        '⁰' | '¹' | '²' | '³' | '⁴'..='⁹' | '.' | ',' | ':' | ' ' | 'i' | 'l' => 0.65,
        '−' | '×' | 'm' | 'w' | 'A'..='Z' => 1.35,
        _ => 1.0,
    }
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
    fn lines_break_between_words() {
        assert_eq!(lines("root mean square error", 10.0, 110.0), ["root mean square", "error"]);
        assert_eq!(lines("indivisible", 10.0, 1.0), ["indivisible"]);
        assert!(lines("  ", 10.0, 100.0).is_empty());
    }
}

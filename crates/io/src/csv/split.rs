//! Where the records of delimited text end: at line ends outside quotes.
//!
//! A quote opens a field where it is the first byte of one; the next that is not doubled closes it. Any other quote stands for itself.

use memchr::{memchr, memchr_iter, memchr3};

use crate::text::records::{Span, Splitter, Unfinished};

/// Where in a record the next byte is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Between,
    Unquoted,
    Quoted,
    /// After a quote inside quotes, which closes them unless another follows.
    Closing,
}

/// A way through a text.
pub(crate) struct Split {
    delimiter: u8,
    state: State,
    /// The start of the record that is not finished, or the next byte.
    start: usize,
    /// The next byte.
    at: usize,
    /// The line of the record that is not finished, and of the next byte.
    start_line: u64,
    line: u64,
    /// Whether the last byte was a CR, whose LF is not another line.
    after_return: bool,
}

impl Split {
    /// At the first byte of a line.
    pub(super) fn new(delimiter: u8, line: u64) -> Split {
        let (state, after_return) = (State::Between, false);
        Split { delimiter, state, start: 0, at: 0, start_line: line, line, after_return }
    }

    /// Moves to the first byte of a record; false if none is there.
    fn skip_line_ends(&mut self, text: &[u8]) -> bool {
        while let Some(&byte) = text.get(self.at) {
            match byte {
                b'\n' if self.after_return => {}
                b'\n' | b'\r' => self.line += 1,
                _ => break,
            }
            self.after_return = byte == b'\r';
            self.at += 1;
        }
        (self.start, self.start_line) = (self.at, self.line);
        self.at < text.len()
    }

    fn record(&mut self, end: usize) -> Span {
        self.state = State::Between;
        let bytes = self.start..end;
        self.start = self.at;
        Span { bytes, line: self.start_line }
    }
}

impl Splitter for Split {
    fn next(&mut self, text: &[u8], is_all: bool) -> Result<Option<Span>, Unfinished> {
        loop {
            match self.state {
                State::Between => {
                    if !self.skip_line_ends(text) {
                        return Ok(None);
                    }
                    (self.state, self.after_return) = (State::Unquoted, false);
                }
                State::Unquoted => {
                    let Some(found) = memchr3(b'\n', b'\r', b'"', &text[self.at..]) else {
                        self.at = text.len();
                        return Ok(is_all.then(|| self.record(text.len())));
                    };
                    let at = self.at + found;
                    self.at = at + 1;
                    if text[at] == b'"' {
                        let opens = at == self.start || text[at - 1] == self.delimiter;
                        self.state = if opens { State::Quoted } else { State::Unquoted };
                    } else {
                        self.line += 1;
                        self.after_return = text[at] == b'\r';
                        return Ok(Some(self.record(at)));
                    }
                }
                State::Quoted => {
                    let rest = &text[self.at..];
                    let found = memchr(b'"', rest);
                    let inside = &rest[..found.unwrap_or(rest.len())];
                    self.line += memchr_iter(b'\n', inside).count() as u64;
                    self.at += inside.len();
                    if found.is_none() {
                        return if is_all { Err(Unfinished::Quote(self.start_line)) } else { Ok(None) };
                    }
                    (self.at, self.state) = (self.at + 1, State::Closing);
                }
                State::Closing => match text.get(self.at) {
                    Some(b'"') => (self.at, self.state) = (self.at + 1, State::Quoted),
                    Some(_) => self.state = State::Unquoted,
                    None => return Ok(is_all.then(|| self.record(text.len()))),
                },
            }
        }
    }

    fn start(&self) -> usize {
        self.start
    }

    fn start_line(&self) -> u64 {
        self.start_line
    }

    fn forget(&mut self, count: usize) {
        (self.start, self.at) = (self.start - count, self.at - count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::records::in_pieces_of;

    #[test]
    fn records_end_outside_quotes() {
        let cases: [(&str, &[(&str, u64)]); 8] = [
            ("a,b\n1,2\n", &[("a,b", 1), ("1,2", 2)]),
            ("\r\n\na\r\n\rb\rc", &[("a", 3), ("b", 5), ("c", 6)]),
            ("\"a\nb\",c\nd", &[("\"a\nb\",c", 1), ("d", 3)]),
            ("5\" pipe,3\nx\n", &[("5\" pipe,3", 1), ("x", 2)]),
            ("a,\"b \"\" \n\"\"\",c\nd\n", &[("a,\"b \"\" \n\"\"\",c", 1), ("d", 3)]),
            ("\"a\"b\"\n\"c", &[("\"a\"b\"", 1), ("Quote(2)", 0)]),
            ("\"\"\n\"\"\"\"", &[("\"\"", 1), ("\"\"\"\"", 2)]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            for step in [1, 2, 3, 100] {
                let found = in_pieces_of(step, text, Split::new(b',', 1));
                let found: Vec<(&str, u64)> =
                    found.iter().map(|(record, line)| (record.as_str(), *line)).collect();
                assert_eq!(found, expected, "{text:?} in pieces of {step}");
            }
        }
    }
}

//! Where the objects of a JSON text end: at the brace that closes them.

use memchr::{memchr_iter, memchr2, memchr3};

use crate::text::records::{Span, Splitter, Unfinished};

/// Where the next byte is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Before the first object, where an array of all of them may begin.
    #[default]
    First,
    /// Between objects.
    Between,
    /// In an object, in so many braces.
    Object { depth: u64 },
    /// In a text inside an object.
    Text { depth: u64 },
    /// After a backslash in a text.
    Escape { depth: u64 },
    /// After the array.
    End,
}

/// A way through a text.
#[derive(Default)]
pub(crate) struct Split {
    state: State,
    /// Whether the objects are in an array.
    is_array: bool,
    /// The start of the object that is not finished, or the next byte.
    start: usize,
    at: usize,
    /// Line ends before the start, and before the next byte.
    lines_before: u64,
    lines: u64,
}

impl Split {
    /// Counts the line ends up to `to`, and goes there.
    fn go(&mut self, text: &[u8], to: usize) {
        self.lines += memchr_iter(b'\n', &text[self.at..to]).count() as u64;
        self.at = to;
    }

    /// The start of an object, if one comes.
    fn between(&mut self, text: &[u8]) -> Result<bool, Unfinished> {
        while let Some(&byte) = text.get(self.at) {
            match (byte, self.state) {
                (b' ' | b'\t' | b'\r' | b'\n', _) => self.lines += u64::from(byte == b'\n'),
                (b'[', State::First) => {
                    self.is_array = true;
                    self.state = State::Between;
                }
                (b',', State::Between) if self.is_array => {}
                (b']', State::Between) if self.is_array => self.state = State::End,
                (b'{', State::First | State::Between) => {
                    (self.start, self.lines_before) = (self.at, self.lines);
                    self.state = State::Object { depth: 0 };
                    return Ok(true);
                }
                _ => return Err(Unfinished::Byte(byte, self.lines + 1)),
            }
            self.at += 1;
        }
        (self.start, self.lines_before) = (self.at, self.lines);
        Ok(false)
    }
}

impl Splitter for Split {
    fn next(&mut self, text: &[u8], is_all: bool) -> Result<Option<Span>, Unfinished> {
        loop {
            match self.state {
                State::First | State::Between | State::End => {
                    if !self.between(text)? {
                        let is_cut = is_all && self.is_array && self.state == State::Between;
                        return if is_cut { Err(Unfinished::Bracket(self.start_line())) } else { Ok(None) };
                    }
                }
                State::Object { depth } => match memchr3(b'"', b'{', b'}', &text[self.at..]) {
                    Some(found) => {
                        let at = self.at + found;
                        self.go(text, at + 1);
                        self.state = match text[at] {
                            b'"' => State::Text { depth },
                            b'{' => State::Object { depth: depth + 1 },
                            _ if depth > 1 => State::Object { depth: depth - 1 },
                            _ => State::Between,
                        };
                        if self.state == State::Between {
                            let bytes = self.start..self.at;
                            self.start = self.at;
                            return Ok(Some(Span { bytes, line: self.lines_before + 1 }));
                        }
                    }
                    None => return self.more(text, is_all),
                },
                State::Text { depth } => match memchr2(b'"', b'\\', &text[self.at..]) {
                    Some(found) => {
                        let at = self.at + found;
                        self.go(text, at + 1);
                        let is_end = text[at] == b'"';
                        self.state = if is_end { State::Object { depth } } else { State::Escape { depth } };
                    }
                    None => return self.more(text, is_all),
                },
                State::Escape { depth } => {
                    if self.at == text.len() {
                        return self.more(text, is_all);
                    }
                    self.go(text, self.at + 1);
                    self.state = State::Text { depth };
                }
            }
        }
    }

    fn start(&self) -> usize {
        self.start
    }

    fn start_line(&self) -> u64 {
        self.lines_before + 1
    }

    fn forget(&mut self, count: usize) {
        (self.start, self.at) = (self.start - count, self.at - count);
    }
}

impl Split {
    /// Inside an object all bytes have been looked at.
    fn more(&mut self, text: &[u8], is_all: bool) -> Result<Option<Span>, Unfinished> {
        self.go(text, text.len());
        if is_all { Err(Unfinished::Brace(self.start_line())) } else { Ok(None) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::records::in_pieces_of;

    #[test]
    fn objects_end_at_their_braces() {
        let cases: [(&str, &[(&str, u64)]); 10] = [
            ("{}\n{\"a\":1}\n", &[("{}", 1), ("{\"a\":1}", 2)]),
            (
                "\n{\"a\":\n{\"b\":[1,{}]}} {\"c\":\"}\"}",
                &[("{\"a\":\n{\"b\":[1,{}]}}", 2), ("{\"c\":\"}\"}", 3)],
            ),
            ("[{\"a\":1},\n {\"a\":2}]\n", &[("{\"a\":1}", 1), ("{\"a\":2}", 2)]),
            ("{\"a\":\"\\\"}\"}{}", &[("{\"a\":\"\\\"}\"}", 1), ("{}", 1)]),
            ("{\"a\":\"\\\\\"}", &[("{\"a\":\"\\\\\"}", 1)]),
            ("[]", &[]),
            ("[{},\n", &[("{}", 1), ("Bracket(2)", 0)]),
            ("{},{}", &[("{}", 1), ("Byte(44, 1)", 0)]),
            ("[{}] {}", &[("{}", 1), ("Byte(123, 1)", 0)]),
            ("{}\n{\"a\":{}", &[("{}", 1), ("Brace(2)", 0)]),
        ];
        for (text, expected) in cases {
            for step in [1, 2, 3, 100] {
                let found = in_pieces_of(step, text, Split::default());
                let found: Vec<(&str, u64)> =
                    found.iter().map(|(object, line)| (object.as_str(), *line)).collect();
                assert_eq!(found, expected, "{text:?} in pieces of {step}");
            }
        }
    }
}

//! The records of a text: told apart by one thread, which looks at little more than line ends, quotes and braces.
//!
//! Bytes are read in pieces of fixed size and kept until the records in them have been looked at.

use std::ops::Range;
use std::path::Path;
use std::result;

use crate::error::{Error, Place, Result};
use crate::input::{Input, LONGEST_RECORD};

/// Bytes that are read at once.
const READ: usize = 256 << 10;

/// Where a record stands in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// Its bytes, without the end of the line.
    pub(crate) bytes: Range<usize>,
    /// The line in which it starts, from 1.
    pub(crate) line: u64,
}

/// Some records and the text in which they stand.
#[derive(Clone, Copy)]
pub(crate) struct InHand<'a> {
    pub(crate) file: &'a Path,
    pub(crate) text: &'a [u8],
    pub(crate) records: &'a [Span],
}

impl<'a> InHand<'a> {
    /// Some of them.
    pub(crate) fn part(self, records: Range<usize>) -> InHand<'a> {
        InHand { records: &self.records[records], ..self }
    }

    /// Where a record starts, for messages.
    pub(crate) fn place(self, record: &Span) -> Place<'a> {
        Place { file: self.file, line: record.line }
    }
}

/// Why no record could be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfinished {
    /// A quote that is open at the end of the text, in the record that starts in this line.
    Quote(u64),
    /// A brace that is.
    Brace(u64),
    /// The bracket of all records.
    Bracket(u64),
    /// A byte between records that is none of theirs, in this line.
    Byte(u8, u64),
}

/// Tells records apart. Goes through a text once, wherever it is cut into pieces.
pub(crate) trait Splitter {
    /// The next record of a text; none where more bytes are needed, or where none comes because these are all.
    fn next(&mut self, text: &[u8], is_all: bool) -> result::Result<Option<Span>, Unfinished>;

    /// From where on bytes are needed: the start of the record that is not finished.
    fn start(&self) -> usize;

    /// The line in which it starts.
    fn start_line(&self) -> u64;

    /// The first bytes of the text are gone: `count` of those before [`Splitter::start`].
    fn forget(&mut self, count: usize);
}

/// A text as a sequence of records, some of them in hand.
pub(crate) struct Records<S> {
    input: Input,
    splitter: S,
    text: Vec<u8>,
    is_all: bool,
    in_hand: Vec<Span>,
    /// What comes after the records in hand.
    failed: Option<Error>,
    /// The error of a read, which comes after the bytes before it.
    fault: Option<Error>,
}

impl<S: Splitter> Records<S> {
    /// Nothing in hand yet.
    pub(crate) fn new(input: Input, splitter: S) -> Records<S> {
        let (text, in_hand) = (Vec::new(), Vec::new());
        Records { input, splitter, text, is_all: false, in_hand, failed: None, fault: None }
    }

    /// Takes the next records in hand, at most `most`, one at least, and no more once they stand in so many bytes; false at the end.
    pub(crate) fn advance(&mut self, most: usize, bytes: usize) -> Result<bool> {
        self.in_hand.clear();
        while self.in_hand.len() < most && self.extent() < bytes.max(1) {
            match self.find(bytes) {
                Ok(Some(span)) => self.in_hand.push(span),
                Ok(None) => break,
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
        }
        match self.failed.take() {
            Some(error) if self.in_hand.is_empty() => Err(error),
            failed => {
                self.failed = failed;
                Ok(!self.in_hand.is_empty())
            }
        }
    }

    /// Bytes from the first record in hand on that have been looked at: other bytes may stand between records.
    fn extent(&self) -> usize {
        self.in_hand.first().map_or(0, |first| self.splitter.start() - first.bytes.start)
    }

    /// The next record; none at the end, or where more is to be read and so many bytes are in hand.
    fn find(&mut self, bytes: usize) -> Result<Option<Span>> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        loop {
            match self.splitter.next(&self.text, self.is_all) {
                Ok(None) if self.is_all || self.extent() >= bytes.max(1) => return Ok(None),
                Ok(None) => self.read()?,
                Ok(Some(span)) if span.bytes.len() > LONGEST_RECORD => {
                    return Err(self.input.too_long(span.line));
                }
                Ok(found) => return Ok(found),
                Err(why) => return Err(self.unfinished(why)),
            }
        }
    }

    /// Reads more bytes.
    fn read(&mut self) -> Result<()> {
        if let Some(error) = self.fault.take() {
            return Err(error);
        }
        if self.text.len() - self.splitter.start() > LONGEST_RECORD {
            return Err(self.input.too_long(self.splitter.start_line()));
        }
        // What was handed out before is not looked at any more.
        let start = self.in_hand.first().map_or(self.splitter.start(), |first| first.bytes.start);
        if start > 0 {
            self.text.drain(..start);
            self.splitter.forget(start);
            for span in &mut self.in_hand {
                span.bytes = span.bytes.start - start..span.bytes.end - start;
            }
        }
        match self.input.append(&mut self.text, READ) {
            Ok(count) => self.is_all = count < READ,
            Err(error) => self.fault = Some(error),
        }
        Ok(())
    }

    fn unfinished(&self, why: Unfinished) -> Error {
        let file = self.input.file().to_owned();
        match why {
            Unfinished::Quote(line) => Error::OpenQuote { file, line },
            Unfinished::Brace(line) => Error::Unclosed { file, line, what: "brace" },
            Unfinished::Bracket(line) => Error::Unclosed { file, line, what: "bracket" },
            Unfinished::Byte(byte, line) => Error::NoObject { file, line, found: char::from(byte) },
        }
    }

    /// The records in hand.
    pub(crate) fn in_hand(&self) -> InHand<'_> {
        InHand { file: self.input.file(), text: &self.text, records: &self.in_hand }
    }

    /// The file.
    pub(crate) fn input(&self) -> &Input {
        &self.input
    }
}

/// The records of a text that comes in pieces of `step` bytes, and their lines; and why there are no more.
#[cfg(test)]
pub(crate) fn in_pieces_of(step: usize, text: &str, mut splitter: impl Splitter) -> Vec<(String, u64)> {
    let (mut found, mut known) = (Vec::new(), 0);
    loop {
        let is_all = known >= text.len();
        match splitter.next(&text.as_bytes()[..known.min(text.len())], is_all) {
            Ok(Some(record)) => found.push((text[record.bytes].to_owned(), record.line)),
            Ok(None) if is_all => return found,
            Ok(None) => known += step,
            Err(why) => {
                found.push((format!("{why:?}"), 0));
                return found;
            }
        }
    }
}

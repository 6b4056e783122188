//! Records out of bytes: csv-core with its buffers, line numbers and the end of the file.
//!
//! Most records lie whole in the buffer and have no quotes. Those are cut at the delimiters where they lie; csv-core
//! reads all others. Bytes that come one at a time all go through csv-core, so a test of chunk sizes
//! (`tests/property.rs`) is a test that both ways agree.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use crate::error::{Error, Place, Result};
use crate::input::{Input, LONGEST_RECORD};

/// The most fields of a record: names and places are kept for each.
const MOST_FIELDS: usize = 1 << 20;

/// A file as a sequence of records, one in hand at a time.
pub(super) struct Records {
    input: Input,
    delimiter: u8,
    parser: Reader,
    /// Length of the record in hand where it lies in the input's buffer, still to be consumed.
    plain: Option<usize>,
    /// Otherwise its fields, unquoted, end to end.
    bytes: Vec<u8>,
    /// The ends of its fields, the first `len` of these.
    ends: Vec<usize>,
    len: usize,
    /// Line in which the record in hand starts.
    start: u64,
    /// Line of the next byte.
    line: u64,
    /// Whether the last byte was a CR, whose LF is not another line.
    after_return: bool,
}

impl Records {
    /// Nothing in hand yet.
    pub(super) fn new(input: Input, delimiter: u8) -> Self {
        let mut parser = ReaderBuilder::new().delimiter(delimiter).build();
        // The parser would take a byte order mark off its first bytes; ours is gone already. A line end is skipped.
        parser.read_record(b"\n", &mut [0], &mut [0]);
        let (bytes, ends) = (vec![0; 4096], vec![0; 256]);
        let (plain, len, after_return) = (None, 0, false);
        Records { input, delimiter, parser, plain, bytes, ends, len, start: 1, line: 1, after_return }
    }

    /// Moves past lines at the start that are no records.
    pub(super) fn skip_lines(&mut self, count: u64) -> Result<()> {
        let mut skipped = Vec::new();
        for _ in 0..count {
            self.input.read_line(self.line, &mut skipped)?;
            self.line += 1;
        }
        Ok(())
    }

    /// Takes the next record in hand; false at the end of the file.
    pub(super) fn advance(&mut self) -> Result<bool> {
        self.len = 0;
        self.input.consume(self.plain.take().unwrap_or(0));
        if !self.skip_line_ends()? {
            return Ok(false);
        }
        self.start = self.line;
        if !self.cut()? {
            self.parse()?;
        }
        Ok(true)
    }

    /// Moves to the first byte of a record; false where none comes.
    fn skip_line_ends(&mut self) -> Result<bool> {
        loop {
            let Some(&byte) = self.input.fill()?.first() else { return Ok(false) };
            match byte {
                b'\n' if self.after_return => {}
                b'\n' | b'\r' => self.line += 1,
                _ => return Ok(true),
            }
            self.after_return = byte == b'\r';
            self.input.consume(1);
        }
    }

    /// Cuts the next record where it lies, if it lies there whole and has no quotes.
    fn cut(&mut self) -> Result<bool> {
        let Some(record) = plain(self.input.fill()?) else { return Ok(false) };
        debug_assert!(record.len() < MOST_FIELDS, "a buffer has fewer bytes than records may have fields");
        if self.ends.len() <= record.len() {
            self.ends.resize(record.len() + 1, 0);
        }
        let mut count = 0;
        for (at, &byte) in record.iter().enumerate() {
            self.ends[count] = at; // overwritten unless it is an end: cheaper than a branch nobody can predict
            count += usize::from(byte == self.delimiter);
        }
        self.ends[count] = record.len();
        self.len = count + 1;
        self.plain = Some(record.len());
        self.after_return = false;
        Ok(true)
    }

    /// Reads the next record with quotes, or across buffers, or without a line end.
    fn parse(&mut self) -> Result<()> {
        self.parser.set_line(self.line);
        let (mut taken, mut written) = (0, 0);
        loop {
            let input = self.input.fill()?;
            let at_end = input.is_empty();
            let input = if at_end { b"\n" } else { input }; // ends the last record, unless a quote is open
            let (bytes, ends) = (&mut self.bytes[written..], &mut self.ends[self.len..]);
            let (result, count, out, ended) = self.parser.read_record(input, bytes, ends);
            self.after_return = count > 0 && input[count - 1] == b'\r';
            self.input.consume(if at_end { 0 } else { count });
            taken += count;
            written += out;
            self.len += ended;
            if taken > LONGEST_RECORD {
                return Err(self.input.too_long(self.start));
            }
            if self.len > MOST_FIELDS {
                let (file, line) = (self.input.file().to_owned(), self.start);
                return Err(Error::TooManyFields { file, line, limit: MOST_FIELDS });
            }
            match result {
                ReadRecordResult::Record => break,
                ReadRecordResult::OutputFull => self.bytes.resize(2 * self.bytes.len(), 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                ReadRecordResult::InputEmpty | ReadRecordResult::End if at_end => {
                    return Err(Error::OpenQuote { file: self.input.file().to_owned(), line: self.start });
                }
                ReadRecordResult::InputEmpty | ReadRecordResult::End => {}
            }
        }
        self.line = self.parser.line() + u64::from(self.after_return);
        Ok(())
    }

    /// The number of fields of the record in hand.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The fields of the record in hand.
    pub(super) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        let (bytes, gap) = match self.plain {
            Some(_) => (self.input.buffered(), 1), // a delimiter between any two
            None => (&self.bytes[..], 0),
        };
        let mut start = 0;
        self.ends[..self.len].iter().map(move |&end| &bytes[std::mem::replace(&mut start, end + gap)..end])
    }

    /// Where the record in hand starts.
    pub(super) fn place(&self) -> Place<'_> {
        self.input.place(self.start)
    }

    /// The file.
    pub(super) fn input(&self) -> &Input {
        &self.input
    }
}

/// The bytes before the first line end, if there is one and no quote before it.
fn plain(buffer: &[u8]) -> Option<&[u8]> {
    const STEP: usize = 64;
    let special = |byte: &u8| matches!(byte, b'\n' | b'\r' | b'"');
    let mut from = 0;
    for step in buffer.chunks_exact(STEP) {
        if step.iter().fold(false, |any, byte| any | special(byte)) {
            break;
        }
        from += STEP;
    }
    let at = from + buffer[from..].iter().position(special)?;
    (buffer[at] != b'"').then_some(&buffer[..at])
}

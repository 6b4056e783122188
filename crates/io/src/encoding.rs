//! Texts in other encodings than UTF-8, turned into it as they are read.

use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

use encoding_rs::{DecoderResult, UTF_8, UTF_16BE, UTF_16LE};

use crate::error::Error;

/// Bytes that are looked at to tell UTF-16 without a byte order mark.
pub(crate) const LOOKED_AT: usize = 1 << 10;

/// An encoding of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding(&'static encoding_rs::Encoding);

impl FromStr for Encoding {
    type Err = Error;

    /// By any name that the WHATWG Encoding Standard knows: `utf-8`, `latin1`, `windows-1252`, `shift_jis`, …
    fn from_str(name: &str) -> Result<Self, Error> {
        let found = encoding_rs::Encoding::for_label_no_replacement(name.as_bytes());
        found.map(Encoding).ok_or_else(|| Error::UnknownEncoding { found: name.to_owned() })
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

impl Encoding {
    /// For messages.
    pub(crate) fn name(self) -> &'static str {
        self.0.name()
    }

    /// The encoding of a text that begins so, if it is another than UTF-8: a byte order mark says it, then the user; last, zeros in every
    /// other byte are those of UTF-16.
    pub(crate) fn of(head: &[u8], said: Option<Encoding>) -> Option<Encoding> {
        let found = match encoding_rs::Encoding::for_bom(head) {
            Some((marked, _)) => marked,
            None => said.map_or_else(|| unmarked(head), |said| said.0),
        };
        (found != UTF_8).then_some(Encoding(found))
    }
}

/// UTF-16 if a quarter of the units are ASCII, whose other bytes are zero, and zeros in the other place are few.
fn unmarked(head: &[u8]) -> &'static encoding_rs::Encoding {
    let zeros = |from: usize| head.iter().skip(from).step_by(2).filter(|byte| **byte == 0).count();
    let is_clear = |many: usize, few: usize| many > 0 && 8 * many >= head.len() && 4 * few <= many;
    match (zeros(0), zeros(1)) {
        (even, odd) if is_clear(odd, even) => UTF_16LE,
        (even, odd) if is_clear(even, odd) => UTF_16BE,
        _ => UTF_8,
    }
}

/// Bytes that are none in the encoding that was said; the lines before them.
#[derive(Debug)]
pub(crate) struct Malformed {
    pub(crate) line: u64,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bytes in line {} that are no text", self.line)
    }
}

impl std::error::Error for Malformed {}

/// The same text in UTF-8, without a byte order mark.
pub(crate) struct Transcoded {
    inner: Box<dyn Read>,
    decoder: encoding_rs::Decoder,
    /// Bytes in the encoding, those from `next` on still to be decoded.
    raw: Vec<u8>,
    next: usize,
    /// UTF-8, the bytes in `ready` still to be handed out.
    text: Vec<u8>,
    ready: std::ops::Range<usize>,
    line: u64,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Reading,
    AtEnd,
    Malformed,
    Done,
}

impl Transcoded {
    const BUFFER: usize = 16 << 10;

    pub(crate) fn new(inner: Box<dyn Read>, from: Encoding) -> Self {
        let decoder = from.0.new_decoder();
        let text = vec![0; 4 * Self::BUFFER];
        Transcoded {
            inner,
            decoder,
            raw: Vec::new(),
            next: 0,
            text,
            ready: 0..0,
            line: 1,
            state: State::Reading,
        }
    }

    /// Reads and decodes some more.
    fn refill(&mut self) -> io::Result<()> {
        if self.next == self.raw.len() && self.state == State::Reading {
            self.raw.resize(Self::BUFFER, 0);
            let count = self.inner.read(&mut self.raw);
            self.raw.truncate(count.as_ref().map_or(0, |count| *count));
            self.next = 0;
            if count? == 0 {
                self.state = State::AtEnd;
            }
        }
        let is_last = self.state == State::AtEnd;
        let raw = &self.raw[self.next..];
        let (result, read, written) =
            self.decoder.decode_to_utf8_without_replacement(raw, &mut self.text, is_last);
        self.next += read;
        self.ready = 0..written;
        self.line += self.text[..written].iter().filter(|byte| **byte == b'\n').count() as u64;
        match result {
            DecoderResult::InputEmpty if is_last => self.state = State::Done,
            DecoderResult::Malformed(..) => self.state = State::Malformed,
            DecoderResult::InputEmpty | DecoderResult::OutputFull => {}
        }
        Ok(())
    }
}

impl Read for Transcoded {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.ready.is_empty() && !to.is_empty() {
            match self.state {
                State::Done => return Ok(0),
                State::Malformed => {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, Malformed { line: self.line }));
                }
                State::Reading | State::AtEnd => self.refill()?,
            }
        }
        let count = to.len().min(self.ready.len());
        to[..count].copy_from_slice(&self.text[self.ready.start..self.ready.start + count]);
        self.ready.start += count;
        Ok(count)
    }
}

//! Bytes of a file as a parser wants them: unpacked, without a byte order mark, through one buffer of fixed size.

use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use crate::error::{Error, Place, Result};
use crate::options::is_gzip_name;
use crate::origin::Origin;

/// The most bytes that a line, or a record with its quoted line ends, may have. What is longer is not a table, or
/// a quote was left open; either way memory stays bounded.
pub(crate) const LONGEST_RECORD: usize = 64 << 20;

const BUFFER: usize = 64 << 10;
const GZIP_MAGIC: &[u8] = b"\x1f\x8b";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A file being read.
pub(crate) struct Input {
    file: PathBuf,
    reader: BufReader<Box<dyn Read>>,
    compressed: bool,
    taken: Arc<AtomicU64>,
    size: Option<u64>,
}

impl Input {
    /// Starts reading from the first byte.
    pub(crate) fn open(origin: &Origin) -> Result<Self> {
        let taken = Arc::new(AtomicU64::new(0));
        let counted = Counted { inner: origin.open()?, taken: Arc::clone(&taken) };
        let file = origin.file.clone();
        let failed = |source| Error::Io { file: origin.file.clone(), source };
        let (magic, packed) = peeked(Box::new(counted), GZIP_MAGIC.len()).map_err(failed)?;
        let compressed = magic == GZIP_MAGIC;
        if !compressed && is_gzip_name(&file) {
            return Err(Error::NotGzip { file });
        }
        let bytes: Box<dyn Read> = if compressed {
            Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, packed)))
        } else {
            packed
        };
        let reader = BufReader::with_capacity(BUFFER, bytes);
        let input = Input { file, reader, compressed, taken, size: origin.size };
        let (mark, mut input) = input.peek(BYTE_ORDER_MARK.len())?;
        if mark == BYTE_ORDER_MARK {
            input.fill()?;
            input.consume(mark.len());
        }
        Ok(input)
    }

    /// The next bytes, `most` unless the file ends before, which will still be read.
    pub(crate) fn peek(self, most: usize) -> Result<(Vec<u8>, Self)> {
        let Input { file, reader, compressed, taken, size } = self;
        let peeked = peeked(Box::new(reader), most);
        let (head, whole) = peeked.map_err(|source| fault(&file, compressed, source))?;
        let reader = BufReader::with_capacity(BUFFER, whole);
        Ok((head, Input { file, reader, compressed, taken, size }))
    }

    /// The file, for messages.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Bytes not yet consumed; none at the end of the file.
    pub(crate) fn fill(&mut self) -> Result<&[u8]> {
        loop {
            match self.reader.fill_buf() {
                Ok(_) => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(fault(&self.file, self.compressed, error)),
            }
        }
        Ok(self.reader.buffer())
    }

    /// What [`Input::fill`] gave, less what has been consumed.
    pub(crate) fn buffered(&self) -> &[u8] {
        self.reader.buffer()
    }

    /// Moves past `count` bytes of what [`Input::fill`] gave.
    pub(crate) fn consume(&mut self, count: usize) {
        self.reader.consume(count);
    }

    /// Fills `to`; fewer bytes than it has room for at the end of the file only.
    pub(crate) fn read_into(&mut self, to: &mut [u8]) -> Result<usize> {
        let mut done = 0;
        while done < to.len() {
            let bytes = self.fill()?;
            let count = bytes.len().min(to.len() - done);
            if count == 0 {
                break;
            }
            to[done..done + count].copy_from_slice(&bytes[..count]);
            self.consume(count);
            done += count;
        }
        Ok(done)
    }

    /// The number of bytes, where it is known without reading them.
    pub(crate) fn unpacked_size(&self) -> Option<u64> {
        if self.compressed { None } else { self.size }
    }

    /// Replaces `to` by the next line with its end; false at the end of the file.
    pub(crate) fn read_line(&mut self, line: u64, to: &mut Vec<u8>) -> Result<bool> {
        to.clear();
        let mut limited = (&mut self.reader).take(LONGEST_RECORD as u64 + 1);
        let read = limited.read_until(b'\n', to);
        let count = read.map_err(|source| fault(&self.file, self.compressed, source))?;
        if count > LONGEST_RECORD {
            return Err(self.too_long(line));
        }
        Ok(count > 0)
    }

    /// The record that starts in `line` is longer than records may be.
    pub(crate) fn too_long(&self, line: u64) -> Error {
        Error::RecordTooLong { file: self.file.clone(), line, limit: LONGEST_RECORD }
    }

    /// A line of this file, for messages.
    pub(crate) fn place(&self, line: u64) -> Place<'_> {
        Place { file: &self.file, line }
    }

    /// How much of the file, as it lies on the disk, has been taken.
    pub(crate) fn fraction(&self) -> Option<f64> {
        let taken = self.taken.load(Ordering::Relaxed);
        self.size.map(|size| if taken >= size { 1.0 } else { taken as f64 / size as f64 })
    }
}

/// The error of a read: the decoder's, or the system's.
fn fault(file: &Path, compressed: bool, source: io::Error) -> Error {
    let file = file.to_owned();
    match source.kind() {
        ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::InvalidInput if compressed => {
            Error::Gzip { file, source }
        }
        _ => Error::Io { file, source },
    }
}

/// The first bytes, at most `most`, and a reader that still gives all.
fn peeked(mut reader: Box<dyn Read>, most: usize) -> io::Result<(Vec<u8>, Box<dyn Read>)> {
    let mut head = Vec::new();
    reader.by_ref().take(most as u64).read_to_end(&mut head)?;
    let whole = Cursor::new(head.clone()).chain(reader);
    Ok((head, Box::new(whole)))
}

/// Counts the bytes that pass.
struct Counted {
    inner: Box<dyn Read>,
    taken: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(to)?;
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

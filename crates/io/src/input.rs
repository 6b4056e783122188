//! Bytes of a file as a parser wants them: unpacked, texts in UTF-8 without a byte order mark, through one buffer of fixed size.

use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::archive::Member;
use crate::compression::Codec;
use crate::encoding::{self, Encoding, Malformed, Transcoded};
use crate::error::{Error, Place, Result};
use crate::origin::Origin;

/// The most bytes that a line, or a record with its quoted line ends, may have. What is longer is not a table, or
/// a quote was left open; either way memory stays bounded.
pub(crate) const LONGEST_RECORD: usize = 64 << 20;

const BUFFER: usize = 64 << 10;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A file being read.
pub(crate) struct Input {
    about: About,
    reader: BufReader<Box<dyn Read>>,
}

/// What is known of a file being read.
struct About {
    file: PathBuf,
    codec: Option<Codec>,
    /// The name of what is read of an archive.
    member: Option<PathBuf>,
    /// Of a text that is not in UTF-8.
    encoding: Option<Encoding>,
    taken: Arc<AtomicU64>,
    /// Bytes to take in all.
    size: Option<u64>,
}

impl Input {
    /// Starts reading from the first byte.
    pub(crate) fn open(origin: &Origin) -> Result<Self> {
        let taken = Arc::new(AtomicU64::new(0));
        let counted = |inner| Box::new(Counted { inner, taken: Arc::clone(&taken) });
        let (head, packed) =
            peeked(counted(origin.open()?), Codec::LOOKED_AT).map_err(|e| origin.failed(e))?;
        let file = origin.file.clone();
        let codec = Codec::of(&head, &file);
        let (mut member, mut size) = (None, origin.size);
        let failed = |codec: Codec| move |source| codec.fault(&origin.file, source);
        let bytes = match codec {
            None => packed,
            Some(Codec::Zip) => {
                let refused = || Error::ArchiveStream { file: file.clone() };
                let found = Member::find(&file, origin.seekable()?.ok_or_else(refused)?)?;
                let mut archive = origin.seekable()?.ok_or_else(refused)?;
                let packed = found.seek(&mut archive).map_err(|source| origin.failed(source))?;
                taken.store(0, Ordering::Relaxed);
                size = Some(packed);
                let bytes = found.unpacked(counted(Box::new(archive.take(packed))));
                member = Some(found.name);
                bytes.map_err(failed(Codec::Zip))?
            }
            Some(codec) => codec.unpacked(packed).map_err(failed(codec))?,
        };
        let reader = BufReader::with_capacity(BUFFER, bytes);
        Ok(Input { about: About { file, codec, member, encoding: None, taken, size }, reader })
    }

    /// The same for text, in UTF-8 and without a byte order mark, whatever the file has.
    pub(crate) fn text(origin: &Origin) -> Result<Self> {
        let (head, mut input) = Input::open(origin)?.peek(encoding::LOOKED_AT)?;
        if let Some(encoding) = Encoding::of(&head, origin.encoding) {
            let Input { about, reader } = input;
            let text = Transcoded::new(Box::new(reader), encoding);
            let reader = BufReader::with_capacity(BUFFER, Box::new(text) as Box<dyn Read>);
            return Ok(Input { about: About { encoding: Some(encoding), ..about }, reader });
        }
        if head.starts_with(BYTE_ORDER_MARK) {
            input.read_into(&mut [0; BYTE_ORDER_MARK.len()])?;
        }
        Ok(input)
    }

    /// The next bytes, `most` unless the file ends before, which will still be read.
    pub(crate) fn peek(self, most: usize) -> Result<(Vec<u8>, Self)> {
        let Input { about, reader } = self;
        let (head, whole) = peeked(Box::new(reader), most).map_err(|source| about.fault(source))?;
        Ok((head, Input { about, reader: BufReader::with_capacity(BUFFER, whole) }))
    }

    /// The file, for messages.
    pub(crate) fn file(&self) -> &Path {
        &self.about.file
    }

    /// The name of what is read of an archive.
    pub(crate) fn member(&self) -> Option<&Path> {
        self.about.member.as_deref()
    }

    /// Bytes not yet consumed; none at the end of the file.
    pub(crate) fn fill(&mut self) -> Result<&[u8]> {
        loop {
            match self.reader.fill_buf() {
                Ok(_) => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.about.fault(error)),
            }
        }
        Ok(self.reader.buffer())
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

    /// Appends the next bytes, `most` unless the file ends before, and says how many. Those before an error are there, too.
    pub(crate) fn append(&mut self, to: &mut Vec<u8>, most: usize) -> Result<usize> {
        let read = (&mut self.reader).take(most as u64).read_to_end(to);
        read.map_err(|source| self.about.fault(source))
    }

    /// The number of bytes, where it is known without reading them.
    pub(crate) fn unpacked_size(&self) -> Option<u64> {
        if self.about.codec.is_some() { None } else { self.about.size }
    }

    /// Replaces `to` by the next line with its end; false at the end of the file.
    pub(crate) fn read_line(&mut self, line: u64, to: &mut Vec<u8>) -> Result<bool> {
        to.clear();
        let mut limited = (&mut self.reader).take(LONGEST_RECORD as u64 + 1);
        let read = limited.read_until(b'\n', to);
        let count = read.map_err(|source| self.about.fault(source))?;
        if count > LONGEST_RECORD {
            return Err(self.too_long(line));
        }
        Ok(count > 0)
    }

    /// The record that starts in `line` is longer than records may be.
    pub(crate) fn too_long(&self, line: u64) -> Error {
        Error::RecordTooLong { file: self.about.file.clone(), line, limit: LONGEST_RECORD }
    }

    /// A line of this file, for messages.
    pub(crate) fn place(&self, line: u64) -> Place<'_> {
        Place { file: &self.about.file, line }
    }

    /// How much of the file, as it lies on the disk, has been taken.
    pub(crate) fn fraction(&self) -> Option<f64> {
        let taken = self.about.taken.load(Ordering::Relaxed);
        self.about.size.map(|size| if taken >= size { 1.0 } else { taken as f64 / size as f64 })
    }
}

impl About {
    /// The error of a read: of a decoder, or the system's.
    fn fault(&self, source: io::Error) -> Error {
        let malformed = source.get_ref().and_then(|inner| inner.downcast_ref::<Malformed>());
        match (malformed, self.encoding, self.codec) {
            (Some(Malformed { line }), Some(encoding), _) => {
                Error::Encoding { file: self.file.clone(), line: *line, encoding: encoding.name() }
            }
            (_, _, Some(codec)) => codec.fault(&self.file, source),
            _ => Error::Io { file: self.file.clone(), source },
        }
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

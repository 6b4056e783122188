//! Where bytes come from, as often as they are needed.

use std::fs::{self, File, Metadata};
use std::io::{self, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use crate::compression::Codec;
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::options::{Format, Options};
use crate::sniff;
use crate::temporary::{self, Place};

/// Starts reading from the first byte.
type Open = dyn Fn() -> io::Result<Box<dyn Read>> + Send + Sync;

/// Bytes that can be read from anywhere.
pub(crate) trait ReadSeek: Read + Seek {}

impl<R: Read + Seek> ReadSeek for R {}

/// Bytes with a name.
#[derive(Clone)]
pub(crate) struct Origin {
    pub(crate) file: PathBuf,
    /// The number of bytes, where it is known.
    pub(crate) size: Option<u64>,
    /// Of texts, where it was said.
    pub(crate) encoding: Option<Encoding>,
    bytes: Bytes,
}

/// Bytes that stay, of which any number of readers read anywhere at once.
pub(crate) enum Stored {
    /// A file with a name, its size and when it was written. It is opened for each pass: a folder may have more files than a process may have open.
    File(PathBuf, State),
    /// An unnamed file, which stays open.
    Kept(Arc<File>),
    Memory(Arc<[u8]>),
}

/// The size of a file, and when it was written.
type State = (u64, Option<SystemTime>);

fn state(found: &Metadata) -> State {
    (found.len(), found.modified().ok())
}

impl Stored {
    /// Opens them for a pass; a file has to be as it was.
    pub(crate) fn open(&self) -> Result<Shared> {
        let (path, known) = match self {
            Stored::File(path, known) => (path, known),
            Stored::Kept(file) => return Ok(Shared::File(Arc::clone(file))),
            Stored::Memory(bytes) => return Ok(Shared::Memory(Arc::clone(bytes))),
        };
        let failed = |source| Error::Io { file: path.clone(), source };
        let file = File::open(path).map_err(failed)?;
        if state(&file.metadata().map_err(failed)?) != *known {
            return Err(Error::Changed { file: path.clone() });
        }
        Ok(Shared::File(Arc::new(file)))
    }
}

/// Bytes that are open.
#[derive(Clone)]
pub(crate) enum Shared {
    File(Arc<File>),
    Memory(Arc<[u8]>),
}

impl Shared {
    /// The number of bytes.
    pub(crate) fn size(&self) -> io::Result<u64> {
        match self {
            Shared::File(file) => Ok(file.metadata()?.len()),
            Shared::Memory(bytes) => Ok(bytes.len() as u64),
        }
    }

    /// Fills `to` with what stands here; an error if the bytes end before.
    pub(crate) fn read_at(&self, at: u64, to: &mut [u8]) -> io::Result<()> {
        match self {
            Shared::File(file) => Place::new(Arc::clone(file), at).read_exact(to),
            Shared::Memory(bytes) => {
                let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..));
                let found = rest.and_then(|rest| rest.get(..to.len())).ok_or(io::ErrorKind::UnexpectedEof)?;
                to.copy_from_slice(found);
                Ok(())
            }
        }
    }
}

#[derive(Clone)]
enum Bytes {
    File(PathBuf),
    Memory(Arc<[u8]>),
    /// An unnamed file.
    Kept(Arc<File>),
    Function(Arc<Open>),
    Stream(Arc<Stream>),
}

/// Bytes that come once: the first are remembered for those who only look at them.
pub(crate) struct Stream {
    head: Vec<u8>,
    /// Until somebody reads on.
    rest: Mutex<Option<Box<dyn Read + Send>>>,
}

impl Stream {
    /// Bytes that are remembered: more than is read to find the format and the columns of a text.
    const REMEMBERED: usize = 1 << 20;
}

/// A way through such bytes.
struct StreamReader {
    stream: Arc<Stream>,
    /// Remembered bytes that were read.
    at: usize,
    rest: Option<Box<dyn Read + Send>>,
}

impl Read for StreamReader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let remembered = &self.stream.head[self.at..];
        if !remembered.is_empty() {
            let count = remembered.len().min(to.len());
            to[..count].copy_from_slice(&remembered[..count]);
            self.at += count;
            return Ok(count);
        }
        if self.rest.is_none() {
            self.rest = self.stream.rest.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
        let gone = || io::Error::other("it comes once, and was read already: save it to a file first");
        self.rest.as_mut().ok_or_else(gone)?.read(to)
    }
}

impl Origin {
    /// A regular file.
    pub(crate) fn file(path: &Path) -> Result<Self> {
        let refuse = |found| Err(Error::NotAFile { file: path.to_owned(), found });
        if path.as_os_str() == "-" {
            return refuse("standard input");
        }
        let metadata = fs::metadata(path).map_err(|source| Error::Io { file: path.to_owned(), source })?;
        if metadata.is_dir() {
            return refuse("a directory");
        }
        if !metadata.is_file() {
            return refuse("a pipe or a device");
        }
        Ok(Origin::new(path, Some(metadata.len()), Bytes::File(path.to_owned())))
    }

    /// Bytes in memory.
    pub(crate) fn memory(name: &Path, bytes: Arc<[u8]>) -> Self {
        Origin::new(name, Some(bytes.len() as u64), Bytes::Memory(bytes))
    }

    /// Bytes that come once, kept in an unnamed file in this folder.
    pub(crate) fn once(name: &Path, mut from: impl Read, folder: &Path) -> Result<Self> {
        let failed = |source| Error::Io { file: name.to_owned(), source };
        Origin::kept(name, folder, |to| {
            let mut done = 0;
            while done < to.len() {
                match from.read(&mut to[done..]) {
                    Ok(0) => break,
                    Ok(count) => done += count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(failed(error)),
                }
            }
            Ok(done)
        })
    }

    /// Bytes that come once and are read once: not kept, unless their format must be read in any order.
    pub(crate) fn stream(
        name: &Path,
        mut from: impl Read + Send + 'static,
        folder: &Path,
    ) -> bochner::Result<Self> {
        let mut head = Vec::new();
        let read = from.by_ref().take(Stream::REMEMBERED as u64).read_to_end(&mut head);
        read.map_err(|source| Error::Io { file: name.to_owned(), source })?;
        if head.len() < Stream::REMEMBERED {
            return Ok(Origin::memory(name, head.into()));
        }
        let looked_at = Origin::memory(name, head.clone().into());
        let codec = Codec::of(&head, name);
        let is_zip = codec == Some(Codec::Zip);
        // Names of columns that go on and on are read more often than they are remembered.
        let begins = &head[..head.len() / 4];
        let is_wide = codec.is_none() && !begins.iter().any(|byte| matches!(byte, b'\n' | b'\r'));
        let format = sniff::format(&looked_at, &Options::default());
        if is_zip || is_wide || !format.is_ok_and(Format::is_read_in_order) {
            return Ok(Origin::once(name, io::Cursor::new(head).chain(from), folder)?);
        }
        let stream = Stream { head, rest: Mutex::new(Some(Box::new(from))) };
        Ok(Origin::new(name, None, Bytes::Stream(Arc::new(stream))))
    }

    /// The same for bytes that `fill` fills a buffer with, which is not full at the end only.
    pub(crate) fn kept(
        name: &Path,
        folder: &Path,
        fill: impl FnMut(&mut [u8]) -> Result<usize>,
    ) -> Result<Self> {
        let file = temporary::kept(name, folder, fill)?;
        let size = file.metadata().map_err(|source| Error::Io { file: name.to_owned(), source })?.len();
        Ok(Origin::new(name, Some(size), Bytes::Kept(file)))
    }

    /// Whatever `open` opens.
    pub(crate) fn function(name: &Path, open: Arc<Open>) -> Self {
        Origin::new(name, None, Bytes::Function(open))
    }

    fn new(name: &Path, size: Option<u64>, bytes: Bytes) -> Self {
        Origin { file: name.to_owned(), size, encoding: None, bytes }
    }

    /// Starts reading from the first byte.
    pub(crate) fn open(&self) -> Result<Box<dyn Read>> {
        let opened = match &self.bytes {
            Bytes::File(path) => File::open(path).map(|file| Box::new(file) as Box<dyn Read>),
            Bytes::Memory(bytes) => Ok(Box::new(Cursor::new(Arc::clone(bytes))) as Box<dyn Read>),
            Bytes::Kept(file) => Ok(Box::new(Place::new(Arc::clone(file), 0)) as Box<dyn Read>),
            Bytes::Function(open) => open(),
            Bytes::Stream(stream) => {
                let stream = Arc::clone(stream);
                Ok(Box::new(StreamReader { stream, at: 0, rest: None }) as Box<dyn Read>)
            }
        };
        opened.map_err(|source| self.failed(source))
    }

    /// The same for reading from anywhere; none where that cannot be.
    pub(crate) fn seekable(&self) -> Result<Option<Box<dyn ReadSeek>>> {
        match &self.bytes {
            Bytes::File(path) => {
                let file = File::open(path).map_err(|source| self.failed(source))?;
                Ok(Some(Box::new(file)))
            }
            Bytes::Memory(bytes) => Ok(Some(Box::new(Cursor::new(Arc::clone(bytes))))),
            Bytes::Kept(file) => Ok(Some(Box::new(Place::new(Arc::clone(file), 0)))),
            Bytes::Function(_) | Bytes::Stream(_) => Ok(None),
        }
    }

    /// The same for several readers; what is compressed, or cannot be read from anywhere, is kept in an unnamed file. With the name.
    pub(crate) fn stored(self, options: &Options) -> Result<(PathBuf, Stored)> {
        let origin = self.plain(options)?;
        let bytes = match origin.bytes {
            Bytes::File(path) => {
                let found = fs::metadata(&path);
                let found = found.map_err(|source| Error::Io { file: path.clone(), source })?;
                Stored::File(path, state(&found))
            }
            Bytes::Memory(bytes) => Stored::Memory(bytes),
            Bytes::Kept(file) => Stored::Kept(file),
            Bytes::Function(_) | Bytes::Stream(_) => return Err(Error::Changed { file: origin.file }),
        };
        Ok((origin.file, bytes))
    }

    /// The same bytes uncompressed, and where they can be read from anywhere.
    pub(crate) fn plain(self, options: &Options) -> Result<Origin> {
        let mut input = Input::open(&self)?;
        if input.unpacked_size().is_some() && !matches!(self.bytes, Bytes::Function(_)) {
            return Ok(self);
        }
        let folder = options.temporary.clone().unwrap_or_else(std::env::temp_dir);
        Origin::kept(&self.file, &folder, |to| input.read_into(to))
    }

    /// The error of a read.
    pub(crate) fn failed(&self, source: io::Error) -> Error {
        Error::Io { file: self.file.clone(), source }
    }
}

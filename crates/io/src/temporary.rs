//! Bytes that come only once, kept in an unnamed file so that they can be read again.
//!
//! The file belongs to its owner alone (mode 0600), has no name, and is gone when the process ends, however it ends. 64 MiB are left free where it lies; of a folder that is in
//! memory, as `/tmp` is on some systems, that says little: name another one.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};

/// Bytes that are written between two looks at what is free.
const STEP: usize = 1 << 20;

/// Bytes that are left free.
const RESERVE: u64 = 64 << 20;

/// Bytes in an unnamed file in this folder: those that `fill` fills a buffer with, which is not full at the end only.
pub(crate) fn kept(
    name: &Path,
    folder: &Path,
    mut fill: impl FnMut(&mut [u8]) -> Result<usize>,
) -> Result<Arc<File>> {
    let mut file = Unnamed::create(name, folder)?;
    let mut step = vec![0; STEP];
    loop {
        let count = fill(&mut step)?;
        file.append(&step[..count])?;
        if count < step.len() {
            return Ok(file.finish());
        }
    }
}

/// An unnamed file that is being written.
pub(crate) struct Unnamed {
    file: File,
    /// Of what it keeps, for messages.
    name: PathBuf,
    folder: PathBuf,
    written: u64,
    /// Bytes written since it was looked at what is free.
    unseen: usize,
}

impl Unnamed {
    /// An empty one in this folder.
    pub(crate) fn create(name: &Path, folder: &Path) -> Result<Unnamed> {
        let failed = |source| Error::Io { file: folder.to_owned(), source };
        let file = tempfile::tempfile_in(folder).map_err(failed)?;
        Ok(Unnamed { file, name: name.to_owned(), folder: folder.to_owned(), written: 0, unseen: STEP })
    }

    /// Writes all of these bytes, unless too little would be left free.
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.unseen += bytes.len();
        if self.unseen >= STEP {
            self.unseen = 0;
            if let Some(free) = free(&self.file).filter(|free| *free < RESERVE + bytes.len() as u64) {
                return Err(self.full(free));
            }
        }
        self.file.write_all(bytes).map_err(|source| match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => self.full(0),
            _ => Error::Io { file: self.folder.clone(), source },
        })?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    fn full(&self, free: u64) -> Error {
        let (file, folder, written) = (self.name.clone(), self.folder.clone(), self.written);
        Error::NoSpace { file, folder, written, free }
    }

    /// The file, to be read.
    pub(crate) fn finish(self) -> Arc<File> {
        Arc::new(self.file)
    }
}

/// Errors are our own, inside one of the system's.
impl Write for Unnamed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.append(bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Bytes that are free where a file lies, as far as that is known.
#[cfg(unix)]
fn free(file: &File) -> Option<u64> {
    let found = rustix::fs::fstatvfs(file).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
fn free(_: &File) -> Option<u64> {
    None
}

/// A place in a file that others read, too.
pub(crate) struct Place {
    file: Arc<File>,
    at: u64,
}

impl Place {
    /// This byte.
    pub(crate) fn new(file: Arc<File>, at: u64) -> Place {
        Place { file, at }
    }
}

impl Read for Place {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let count = std::os::unix::fs::FileExt::read_at(self.file.as_ref(), to, self.at)?;
        #[cfg(windows)]
        let count = std::os::windows::fs::FileExt::seek_read(self.file.as_ref(), to, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Place {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let found = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.file.metadata()?.len().checked_add_signed(by),
        };
        self.at = found.ok_or(ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

//! Bytes that come only once, kept in an unnamed file so that they can be read again.
//!
//! The file belongs to its owner alone (mode 0600), has no name, and is gone when the process ends, however it ends.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;
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
    let failed = |source| Error::Io { file: folder.to_owned(), source };
    let mut file = tempfile::tempfile_in(folder).map_err(failed)?;
    let mut step = vec![0; STEP];
    let mut written = 0;
    loop {
        let count = fill(&mut step)?;
        let full = |free| Error::NoSpace { file: name.to_owned(), folder: folder.to_owned(), written, free };
        if let Some(free) = free(&file).filter(|free| *free < RESERVE + count as u64) {
            return Err(full(free));
        }
        file.write_all(&step[..count]).map_err(|source| match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => full(0),
            _ => failed(source),
        })?;
        written += count as u64;
        if count < step.len() {
            return Ok(Arc::new(file));
        }
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
    /// The first byte.
    pub(crate) fn first(file: Arc<File>) -> Place {
        Place { file, at: 0 }
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

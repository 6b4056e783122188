//! Where bytes come from, as often as they are needed.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Starts reading from the first byte.
type Open = dyn Fn() -> io::Result<Box<dyn Read>> + Send + Sync;

/// Bytes with a name.
pub(crate) struct Origin {
    pub(crate) file: PathBuf,
    /// The number of bytes, where it is known.
    pub(crate) size: Option<u64>,
    open: Box<Open>,
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
        let opened = path.to_owned();
        let open = move || File::open(&opened).map(|file| Box::new(file) as Box<dyn Read>);
        Ok(Origin { file: path.to_owned(), size: Some(metadata.len()), open: Box::new(open) })
    }

    /// Whatever `open` opens.
    pub(crate) fn function(name: &Path, size: Option<u64>, open: Box<Open>) -> Self {
        Origin { file: name.to_owned(), size, open }
    }

    /// Starts reading from the first byte.
    pub(crate) fn open(&self) -> Result<Box<dyn Read>> {
        (self.open)().map_err(|source| Error::Io { file: self.file.clone(), source })
    }
}

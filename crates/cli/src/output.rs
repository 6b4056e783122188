//! Files that are written: whole or not at all.

use std::fs;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use bochner::whole::WholeFile;

use crate::exit::Failure;

/// A file that appears at its place when it is whole.
pub(crate) struct Output {
    path: PathBuf,
    file: WholeFile,
}

impl Output {
    /// Starts a file that will be at `path`.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let file = WholeFile::create(path).map_err(|source| failed(path, source))?;
        Ok(Output { path: path.to_owned(), file })
    }

    /// Writes over the start of the file.
    pub(crate) fn write_first(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(bytes)
    }

    /// Moves the file to its place.
    pub(crate) fn commit(self) -> Result<(), Failure> {
        self.file.commit().map_err(|source| failed(&self.path, source))
    }
}

fn failed(path: &Path, source: io::Error) -> Failure {
    Failure::Write { file: path.to_owned(), source }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A file could be written here: better to know before the work than after it.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failure> {
    // It may take being opened for the end of its input.
    if is_stream(path) {
        return Ok(());
    }
    Output::create(path).map(drop)
}

/// Something to write to that is no file: a pipe or a device.
pub(crate) fn is_stream(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// The file to write; none for standard output, which is also called `-`.
pub(crate) fn file(typed: Option<PathBuf>) -> Option<PathBuf> {
    typed.filter(|path| path.as_os_str() != "-")
}

/// Refuses to write over what is read, or over another output.
pub(crate) fn check_distinct(option: &str, output: &Path, others: &[&Path]) -> Result<(), Failure> {
    let Some(output) = place(output) else { return Ok(()) };
    match others.iter().find(|other| place(other).is_some_and(|other| other == output)) {
        Some(other) => Err(Failure::Usage(format!(
            "the output would replace {}, which is needed; give another name to {option}",
            other.display()
        ))),
        None => Ok(()),
    }
}

/// Where a file is, or would be, whatever its path is spelled like.
fn place(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok().or_else(|| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Some(fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?.join(path.file_name()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let mut file = Output::create(&path).unwrap();
        file.write_all(b"1").unwrap();
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let mut file = Output::create(&path).unwrap();
        file.write_all(b"3").unwrap();
        file.write_first(b"2").unwrap();
        assert!(!path.exists());
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"2");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(check_writable(&path).is_ok() && fs::read(&path).unwrap() == b"2");
        assert!(check_writable(folder.path()).is_err());
        assert!(check_writable(&path.join("below")).is_err());
        assert!(check_distinct("--output", &path, &[&folder.path().join("./a.csv")]).is_err());
        assert!(check_distinct("--output", &path, &[folder.path()]).is_ok());
        let new = folder.path().join("new");
        assert!(check_distinct("--output", &new, &[&folder.path().join("./new")]).is_err(), "not there yet");
        assert!(check_distinct("--output", &new, &[&path]).is_ok());
    }
}

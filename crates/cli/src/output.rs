//! Files that are written: whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::exit::Failure;

/// A file beside its final place until [`Whole::commit`]; removed if that never comes.
pub(crate) struct Whole {
    path: PathBuf,
    temporary: PathBuf,
    file: BufWriter<File>,
    committed: bool,
}

impl Whole {
    /// Starts a file that will be at `path`.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let failed = |source| Failure::Write { file: path.to_owned(), source };
        if path.is_dir() {
            return Err(failed(io::Error::from(io::ErrorKind::IsADirectory)));
        }
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(format!(".{}.tmp", std::process::id()));
        let temporary = PathBuf::from(temporary);
        let file = BufWriter::new(File::create(&temporary).map_err(failed)?);
        Ok(Whole { path: path.to_owned(), temporary, file, committed: false })
    }

    /// Moves the file to its place.
    pub(crate) fn commit(mut self) -> Result<(), Failure> {
        let written = self.file.flush().and_then(|()| self.file.get_ref().sync_all());
        let moved = written.and_then(|()| fs::rename(&self.temporary, &self.path));
        self.committed = moved.is_ok();
        moved.map_err(|source| Failure::Write { file: self.path.clone(), source })
    }
}

impl Write for Whole {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        if !self.committed {
            // The error that led here is the one to tell.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// A file could be written here: better to know before the work than after it.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failure> {
    Whole::create(path).map(drop)
}

/// Refuses to write over what is read.
pub(crate) fn check_distinct(output: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    let Ok(place) = fs::canonicalize(output) else { return Ok(()) };
    match inputs.iter().find(|input| fs::canonicalize(input).is_ok_and(|input| input == place)) {
        Some(input) => Err(Failure::Usage(format!(
            "the output would replace {}, which is read; give another name to --output",
            input.display()
        ))),
        None => Ok(()),
    }
}

/// A field of a CSV file, quoted where it has to be.
pub(crate) fn field(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains(['"', ',', '\n', '\r']) || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\"")).into()
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let mut file = Whole::create(&path).unwrap();
        file.write_all(b"1").unwrap();
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let mut file = Whole::create(&path).unwrap();
        file.write_all(b"2").unwrap();
        assert!(!path.exists());
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"2");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(check_writable(&path).is_ok() && fs::read(&path).unwrap() == b"2");
        assert!(check_writable(folder.path()).is_err());
        assert!(check_writable(&path.join("below")).is_err());
        assert!(check_distinct(&path, &[&folder.path().join("./a.csv")]).is_err());
        assert!(check_distinct(&path, &[folder.path()]).is_ok());
    }

    #[test]
    fn fields_are_quoted_where_they_have_to_be() {
        assert_eq!(
            [field("a b"), field("a,b"), field("say \"a\""), field(" a")],
            ["a b", "\"a,b\"", "\"say \"\"a\"\"\"", "\" a\""]
        );
    }
}

//! Files that are written whole or not at all.
//!
//! ```text
//! create ─▶ x.bochner.4711-0.tmp ─▶ write, write, … ─▶ commit: flush to the disk, rename to x.bochner
//! ```
//! A reader sees the old file or the new one, never a part, and an error leaves the old one. What is no regular file, such as
//! `/dev/stdout` or a pipe, is written to as it is; where a link leads to a file, that file is replaced and not the link.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file beside its final place until [`WholeFile::commit`]; removed if that never comes.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    /// None where there is nothing to move.
    temporary: Option<PathBuf>,
    file: BufWriter<File>,
}

impl WholeFile {
    /// Starts a file that will be at `path`.
    pub fn create(path: &Path) -> io::Result<Self> {
        if path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if path.metadata().is_ok_and(|found| !found.is_file()) {
            let file = File::options().write(true).open(path)?;
            return Ok(WholeFile { path: path.to_owned(), temporary: None, file: BufWriter::new(file) });
        }
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        // A name of its own for every file, also in two threads at once.
        static FILES: AtomicU64 = AtomicU64::new(0);
        loop {
            let mut temporary = path.as_os_str().to_owned();
            temporary.push(format!(".{}-{}.tmp", std::process::id(), FILES.fetch_add(1, Ordering::Relaxed)));
            let temporary = PathBuf::from(temporary);
            match File::options().write(true).create_new(true).open(&temporary) {
                Ok(file) => {
                    return Ok(WholeFile { path, temporary: Some(temporary), file: BufWriter::new(file) });
                }
                // Left behind by a process of the same number that was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Moves the file to its place.
    pub fn commit(mut self) -> io::Result<()> {
        self.file.flush()?;
        if let Some(temporary) = &self.temporary {
            self.file.get_ref().sync_all()?;
            fs::rename(temporary, &self.path)?;
            self.temporary = None;
        }
        Ok(())
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Back to the start for what is known only at the end; what is no regular file may refuse.
impl Seek for WholeFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // The error that led here is the one to tell; a leftover temporary file is the lesser evil.
            let _ = fs::remove_file(temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_old_file_stays_until_the_new_one_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        file.flush().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        drop(file);
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(folder.path()).len()), ("old", 1));
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(folder.path()).len()), ("new", 1));
        for n in 0..100 {
            fs::write(folder.path().join(format!("a.{}-{n}.tmp", std::process::id())), "left behind")
                .unwrap();
        }
        WholeFile::create(&path).unwrap().commit().unwrap();
        assert!(fs::read(&path).unwrap().is_empty());
        assert!(WholeFile::create(folder.path()).is_err());
        assert!(WholeFile::create(&folder.path().join("no/where")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links_and_devices_stay_devices() {
        use std::os::unix::fs::FileTypeExt;
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::write(&target, "old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let mut file = WholeFile::create(&link).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        let mut null = WholeFile::create(Path::new("/dev/null")).unwrap();
        null.write_all(b"nothing").unwrap();
        null.commit().unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }
}

//! Which files are meant: one, several, a folder, a pattern, standard input.
//!
//! ```text
//! sales/                  all files in it and in its folders, by name
//! sales/2024-*.csv        those of that name: * for any characters, ? for one, ** for any folders
//! sales/year=2024/a.csv   a file with a column "year" that is 2024 in all rows, unless it has one of that name itself
//! -                       standard input
//! ```
//! Files and folders whose names begin with `_` or `.` are not looked at unless they are named, by a pattern such as `_*.csv` too; nor are links that lead out of the folder, or
//! for a pattern out of the last folder before its first `*` or `?`. A file that is reached in two ways counts once.

use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use bochner::Engine;
use bochner::table::TableSource;

use crate::error::{Error, Result};
use crate::many::Many;
use crate::options::Options;
use crate::origin::Origin;
use crate::wildcard::matches;

/// What a folder is called whose files have no value for its column.
const MISSING: &str = "__HIVE_DEFAULT_PARTITION__";

/// What standard input is called.
const STDIN: &str = "standard input";

/// What is done with what can be read only once: standard input and pipes.
#[derive(Clone, Copy, Debug)]
pub enum Once<'a> {
    /// It is refused.
    Refuse,
    /// It is kept in an unnamed file in this folder.
    Keep(&'a Path),
    /// It is read once, in the order in which it comes; kept in this folder if its format does not allow that.
    Stream(&'a Path),
}

/// Data files, found once; they can be opened as often as needed.
#[derive(Clone)]
pub struct Files(Arc<Found>);

struct Found {
    name: PathBuf,
    parts: Vec<Part>,
}

/// A file among others.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) origin: Origin,
    /// Columns that its folders give: names and cells, none for a missing one.
    pub(crate) given: Vec<(String, Option<String>)>,
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.paths()).finish()
    }
}

/// Two are equal if they were found at once.
impl PartialEq for Files {
    fn eq(&self, other: &Files) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Files {}

impl Files {
    /// Finds the files that some paths stand for, in this order.
    ///
    /// `once` says what is done with standard input and pipes.
    pub fn find<P: AsRef<Path>>(paths: &[P], once: Once<'_>) -> bochner::Result<Files> {
        let mut walk = Walk::default();
        for path in paths.iter().map(AsRef::as_ref) {
            walk.has_files = false;
            walk.find(path, once)?;
            if !walk.has_files {
                return Err(Error::NoFiles { path: path.to_owned() }.into());
            }
        }
        let name = match paths {
            [] => return Err(Error::NoFiles { path: PathBuf::new() }.into()),
            [only] if only.as_ref().as_os_str() == "-" => PathBuf::from(STDIN),
            [only] => only.as_ref().to_owned(),
            [first, others @ ..] => {
                PathBuf::from(format!("{} and {} more", first.as_ref().display(), others.len()))
            }
        };
        Ok(Files(Arc::new(Found { name, parts: walk.parts })))
    }

    /// What they are called together.
    pub fn name(&self) -> &Path {
        &self.0.name
    }

    /// The path of each.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.parts.iter().map(|part| part.origin.file.as_path())
    }

    /// Looks at them, as [`open`](crate::open) does.
    pub(crate) fn open(&self, engine: &Engine, options: &Options) -> bochner::Result<Box<dyn TableSource>> {
        match self.0.parts.as_slice() {
            [Part { origin, given }] if given.is_empty() => crate::source(engine, origin.clone(), options),
            parts => Ok(Box::new(Many::open(engine, parts, options)?)),
        }
    }
}

impl Part {
    /// A regular file.
    fn file(path: &Path) -> Result<Part> {
        let folders = path.parent().unwrap_or(Path::new("")).components();
        let given = folders.filter_map(|folder| cell(folder.as_os_str().to_str()?)).collect();
        Ok(Part { origin: Origin::file(path)?, given })
    }

    /// What can be read only once.
    fn once(name: &Path, from: impl Read + Send + 'static, once: Once<'_>) -> bochner::Result<Part> {
        let origin = match once {
            Once::Refuse => Origin::file(name)?,
            Once::Keep(folder) => Origin::once(name, from, folder)?,
            Once::Stream(folder) => Origin::stream(name, from, folder)?,
        };
        Ok(Part { origin, given: Vec::new() })
    }
}

/// A way through paths and folders.
#[derive(Default)]
struct Walk {
    /// Where no link leads out of.
    root: PathBuf,
    /// Files and folders that were reached.
    seen: HashSet<PathBuf>,
    /// Whether a file was reached, one that was seen before included.
    has_files: bool,
    parts: Vec<Part>,
}

impl Walk {
    /// The files of one path.
    fn find(&mut self, path: &Path, once: Once<'_>) -> bochner::Result<()> {
        let failed = |source| Error::Io { file: path.to_owned(), source };
        let part = match (fs::metadata(path), once) {
            (_, Once::Keep(_) | Once::Stream(_)) if path.as_os_str() == "-" => {
                Part::once(Path::new(STDIN), io::stdin(), once)?
            }
            (Ok(found), _) if found.is_dir() || found.is_file() => return Ok(self.root(path)?),
            (Ok(_), Once::Keep(_) | Once::Stream(_)) => {
                Part::once(path, fs::File::open(path).map_err(failed)?, once)?
            }
            (Err(error), _) if error.kind() == ErrorKind::NotFound && is_pattern(path) => {
                self.root = place(&literal(path))?;
                return Ok(expanded(path)?.iter().try_for_each(|found| self.inside(found))?);
            }
            _ => Part::file(path)?,
        };
        self.has_files = true;
        self.parts.push(part);
        Ok(())
    }

    /// A file or a folder that was asked for.
    fn root(&mut self, path: &Path) -> Result<()> {
        self.root = place(path)?;
        self.path(path, self.root.clone())
    }

    /// A file or a folder, unless it is a link that leads out of the root.
    fn inside(&mut self, path: &Path) -> Result<()> {
        let place = place(path)?;
        if place.starts_with(&self.root) { self.path(path, place) } else { Ok(()) }
    }

    /// A file or a folder, and its place.
    fn path(&mut self, path: &Path, place: PathBuf) -> Result<()> {
        let is_folder = place.is_dir();
        self.has_files |= !is_folder;
        if !self.seen.insert(place) {
            return Ok(());
        }
        if !is_folder {
            self.parts.push(Part::file(path)?);
            return Ok(());
        }
        for name in names(path, is_shown)? {
            match self.inside(&path.join(name)) {
                // A link to nothing.
                Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {}
                found => found?,
            }
        }
        Ok(())
    }
}

/// Where a path leads.
fn place(path: &Path) -> Result<PathBuf> {
    path.canonicalize().map_err(|source| Error::Io { file: path.to_owned(), source })
}

/// Whether a name is looked at that nobody asked for.
fn is_shown(name: &str) -> bool {
    !name.starts_with(['_', '.'])
}

/// The names in a folder that are wanted, sorted.
fn names(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<String>> {
    let failed = |source| Error::Io { file: folder.to_owned(), source };
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let name = name.into_string().map_err(|name| Error::Io {
            file: folder.join(name),
            source: io::Error::new(ErrorKind::InvalidFilename, "the name is not UTF-8"),
        })?;
        if is_wanted(&name) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// The column and the cell that a folder `key=value` gives.
fn cell(folder: &str) -> Option<(String, Option<String>)> {
    let (key, value) = folder.split_once('=').filter(|(key, _)| !key.is_empty())?;
    Some((decoded(key), (value != MISSING).then(|| decoded(value))))
}

/// Less the escapes `%2F`.
fn decoded(text: &str) -> String {
    let (bytes, mut plain, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let code = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        plain.push(code.unwrap_or(bytes[at]));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8(plain).unwrap_or_else(|_| text.to_owned())
}

fn is_pattern(path: impl AsRef<Path>) -> bool {
    path.as_ref().to_string_lossy().contains(['*', '?'])
}

/// The folder above the first part of a pattern that stands for several names.
fn literal(pattern: &Path) -> PathBuf {
    let folder: PathBuf = pattern.components().take_while(|part| !is_pattern(part)).collect();
    if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder }
}

/// What a pattern stands for, sorted.
fn expanded(pattern: &Path) -> Result<Vec<PathBuf>> {
    let mut found = vec![PathBuf::new()];
    let parts: Vec<Component<'_>> = pattern.components().collect();
    for (at, part) in parts.iter().enumerate() {
        let text = part.as_os_str().to_string_lossy();
        let mut next = Vec::new();
        for path in found {
            if !is_pattern(part) {
                next.push(path.join(part));
            } else if text == "**" {
                folders_under(&path, &mut next)?;
            } else {
                // What begins with "_" is meant where the pattern does so.
                let is_meant = |name: &str| is_shown(name) || !is_shown(&text);
                let names = listed(&path, |name| is_meant(name) && matches(&text, name))?;
                next.extend(names.iter().map(|name| path.join(name)));
            }
        }
        // Only what is there goes on, once: "**" reaches a folder in many ways.
        let mut seen = HashSet::new();
        let is_there = |path: &Path| path.exists() && (at + 1 == parts.len() || path.is_dir());
        next.retain(|path: &PathBuf| seen.insert(path.clone()) && is_there(path));
        found = next;
    }
    Ok(found)
}

/// What is in a folder; the folder of a relative path may be nameless.
fn listed(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<String>> {
    names(if folder.as_os_str().is_empty() { Path::new(".") } else { folder }, is_wanted)
}

/// A folder and all folders in it; links are not followed.
fn folders_under(path: &Path, to: &mut Vec<PathBuf>) -> Result<()> {
    to.push(path.to_owned());
    for name in listed(path, is_shown)? {
        let inner = path.join(&name);
        if inner.is_dir() && !inner.is_symlink() {
            folders_under(&inner, to)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_give_columns() {
        let cell = |name: &str| cell(name).map(|(key, value)| format!("{key}: {value:?}"));
        assert_eq!(cell("year=2024").as_deref(), Some("year: Some(\"2024\")"));
        assert_eq!(cell("a%20b=1%2F2=3%").as_deref(), Some("a b: Some(\"1/2=3%\")"));
        assert_eq!(cell("k=__HIVE_DEFAULT_PARTITION__").as_deref(), Some("k: None"));
        assert_eq!(cell("k=").as_deref(), Some("k: Some(\"\")"));
        assert_eq!([cell("plain"), cell("=x")], [None, None]);
        assert_eq!(decoded("%ff%"), "%ff%");
    }
}

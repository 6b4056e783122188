//! How a command ends: the failure, its text, its exit code.

use std::error::Error as _;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::console::Console;
use crate::data;

/// Done.
const OK: i32 = 0;
/// The command line makes no sense.
const USAGE: i32 = 2;
/// A file is not what it should be.
const DATA: i32 = 3;
/// Memory or disk.
const RESOURCES: i32 = 4;
/// Stopped by somebody.
const INTERRUPTED: i32 = 5;

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The parser of arguments has something to say, help and version included.
    Arguments(Box<clap::Error>),
    /// Arguments that do not go together.
    Usage(String),
    /// The library could not, with the file that it was about where the error does not say.
    Library { file: Option<PathBuf>, error: bochner::Error },
    /// A file can be read but not used for this.
    Unfit { file: PathBuf, reason: String },
    /// A file could not be written.
    Write { file: PathBuf, source: io::Error },
    /// Standard output could not be written.
    Stdout(io::Error),
    /// One of the others, with a way out.
    Hinted { failure: Box<Failure>, hint: String },
}

impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Self {
        Failure::Arguments(Box::new(error))
    }
}

impl From<bochner::Error> for Failure {
    fn from(error: bochner::Error) -> Self {
        Failure::Library { file: None, error }
    }
}

impl Failure {
    /// To be used with `map_err`: an error about this file.
    pub(crate) fn about(file: &Path) -> impl Fn(bochner::Error) -> Failure + '_ {
        use bochner::Error::{Interrupted, Io, Memory, Source};
        |error| {
            let says_where = matches!(error, Io { .. } | Source(_) | Memory { .. } | Interrupted);
            let hint = data::advice(&error);
            let failure = Failure::Library { file: (!says_where).then(|| file.to_owned()), error };
            match hint {
                Some(hint) => failure.hint(hint),
                None => failure,
            }
        }
    }

    /// The same with a way out.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Failure {
        Failure::Hinted { failure: Box::new(self), hint: hint.into() }
    }

    /// The error of the library, if it is one.
    pub(crate) fn into_error(self) -> Option<bochner::Error> {
        match self {
            Failure::Library { error, .. } => Some(error),
            Failure::Hinted { failure, .. } => failure.into_error(),
            _ => None,
        }
    }

    fn code(&self) -> i32 {
        match self {
            Failure::Arguments(error) if error.use_stderr() => USAGE,
            Failure::Arguments(_) => OK,
            Failure::Usage(_) => USAGE,
            Failure::Library { error: bochner::Error::Memory { .. }, .. } => RESOURCES,
            Failure::Library { error: bochner::Error::Interrupted, .. } => INTERRUPTED,
            Failure::Library { .. } | Failure::Unfit { .. } => DATA,
            Failure::Write { .. } => RESOURCES,
            // Whoever read the output has seen enough.
            Failure::Stdout(error) if error.kind() == ErrorKind::BrokenPipe => OK,
            Failure::Stdout(_) => RESOURCES,
            Failure::Hinted { failure, .. } => failure.code(),
        }
    }

    /// What went wrong, with its causes where the text does not name them already.
    pub(crate) fn text(&self) -> String {
        match self {
            Failure::Arguments(error) => error.to_string(),
            Failure::Usage(text) => text.clone(),
            Failure::Library { file, error } => {
                let mut text = file.as_ref().map(|file| format!("{}: ", file.display())).unwrap_or_default();
                text += &error.to_string();
                let mut cause = error.source();
                while let Some(error) = cause {
                    let words = error.to_string();
                    if !text.contains(&words) {
                        text += &format!(": {words}");
                    }
                    cause = error.source();
                }
                text
            }
            Failure::Unfit { file, reason } => format!("{}: {reason}", file.display()),
            Failure::Write { file, source } => format!("{}: cannot be written: {source}", file.display()),
            Failure::Stdout(source) => format!("standard output: {source}"),
            Failure::Hinted { failure, .. } => failure.text(),
        }
    }
}

/// Writes what is left to write and gives the exit code.
pub(crate) fn conclude(result: Result<(), Failure>, console: &mut Console<'_>) -> i32 {
    let result = result.and_then(|()| console.out.flush().map_err(Failure::Stdout));
    let Err(failure) = result else { return OK };
    let code = failure.code();
    match &failure {
        Failure::Arguments(error) if error.use_stderr() => {
            console.messages.line(error.to_string().trim_end())
        }
        Failure::Arguments(error) => {
            let written = write!(console.out, "{error}").and_then(|()| console.out.flush());
            return written.map_or_else(|error| Failure::Stdout(error).code(), |()| OK);
        }
        _ if code == OK => {}
        _ => console.messages.line(&format!("bochner: error: {}", failure.text())),
    }
    if let Failure::Hinted { hint, .. } = &failure {
        console.messages.line(&format!("bochner: hint: {hint}"));
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_failure_has_its_code() {
        let library = |error| Failure::Library { file: None, error };
        let memory = bochner::Error::Memory { what: "it".to_owned(), needed: 2, limit: 1 };
        let file = PathBuf::from("x");
        let full = || io::Error::from(ErrorKind::StorageFull);
        for (failure, code) in [
            (Failure::Usage("no".to_owned()), 2),
            (library(bochner::Error::NoRows), 3),
            (Failure::Unfit { file: file.clone(), reason: String::new() }, 3),
            (library(memory), 4),
            (Failure::Write { file, source: full() }, 4),
            (Failure::Stdout(full()), 4),
            (Failure::Stdout(io::Error::from(ErrorKind::BrokenPipe)), 0),
            (library(bochner::Error::Interrupted).hint("again"), 5),
        ] {
            assert_eq!(failure.code(), code, "{failure:?}");
        }
    }

    #[test]
    fn a_cause_is_named_once() {
        let source = io::Error::other("the disk is gone");
        let failure = Failure::from(bochner::Error::Io { path: "a.csv".into(), source });
        assert_eq!(failure.text(), "a.csv: the disk is gone");
        let failure = Failure::about(Path::new("a.csv"))(bochner::Error::NoRows);
        assert_eq!(failure.text(), "a.csv: expected at least one row with a positive weight, found none");
    }
}

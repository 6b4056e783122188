//! What can be wrong inside a binary file, where its name is not at hand.

use std::fmt::Display;
use std::io;
use std::path::Path;

use crate::error::Error;

/// Why a file of records cannot be read.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It contradicts itself, or its end is missing.
    Damaged(String),
    /// It claims more than is read; with where that is, if it is known.
    Beyond { what: &'static str, limit: u64, found: u64, place: String },
    /// It is of a kind that is not read.
    NotRead { expected: &'static str, found: String },
    /// The system could not read it.
    Io(io::Error),
}

pub(crate) type Outcome<T> = Result<T, Fault>;

impl Fault {
    /// The file contradicts itself.
    pub(crate) fn damaged(reason: impl Display) -> Fault {
        Fault::Damaged(reason.to_string())
    }

    /// The same with where it is, as ` in column "x"`.
    pub(crate) fn within(self, within: &str) -> Fault {
        match self {
            Fault::Damaged(reason) => Fault::Damaged(reason + within),
            Fault::Beyond { what, limit, found, place } => {
                Fault::Beyond { what, limit, found, place: place + within }
            }
            Fault::NotRead { expected, found } => Fault::NotRead { expected, found: found + within },
            Fault::Io(source) => Fault::Io(source),
        }
    }

    /// The error for a file of this format.
    pub(crate) fn of(self, file: &Path, format: &'static str) -> Error {
        let file = file.to_owned();
        match self {
            Fault::Damaged(reason) => {
                let source = io::Error::new(io::ErrorKind::InvalidData, reason);
                Error::Damaged { file, codec: format, source }
            }
            Fault::Beyond { what, limit, found, place } => Error::Beyond { file, what, limit, found, place },
            Fault::NotRead { expected, found } => Error::NotRead { file, expected, found },
            Fault::Io(source) if source.kind() == io::ErrorKind::UnexpectedEof => {
                Error::Damaged { file, codec: format, source }
            }
            Fault::Io(source) => Error::Io { file, source },
        }
    }
}

impl From<io::Error> for Fault {
    fn from(source: io::Error) -> Fault {
        Fault::Io(source)
    }
}

/// A number that a file claims, if it is at most this.
pub(crate) fn at_most(what: &'static str, found: impl TryInto<u64>, limit: u64) -> Outcome<u64> {
    match found.try_into() {
        Ok(found) if found <= limit => Ok(found),
        Ok(found) => Err(Fault::Beyond { what, limit, found, place: String::new() }),
        Err(_) => Err(Fault::Damaged(format!("{what} below zero"))),
    }
}

//! How a file is to be read, where its name and content do not say.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::Error;

/// The formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Delimited text: `.csv`, `.tsv`.
    Csv,
    /// Sparse rows of `index:value`: `.libsvm`, `.svm`, `.svmlight`.
    Libsvm,
    /// NumPy's arrays: `.npy`.
    Npy,
}

impl FromStr for Format {
    type Err = Error;

    /// `csv`, `libsvm` or `npy`.
    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "csv" => Ok(Format::Csv),
            "libsvm" => Ok(Format::Libsvm),
            "npy" => Ok(Format::Npy),
            _ => Err(Error::UnknownFormat { found: name.to_owned() }),
        }
    }
}

/// How to read a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The format; `None`: what the name says.
    pub format: Option<Format>,
    /// What separates the fields of a CSV file; `None`: the most frequent of comma, semicolon and tab in its
    /// first line.
    pub delimiter: Option<u8>,
    /// The columns that are read as text; all others are numbers.
    pub text: Vec<String>,
    /// The number of features of a sparse file; `None`: the largest index, found by reading the file once.
    pub width: Option<usize>,
    /// Entries of a sparse file beyond `width` are dropped, not errors: what a model needs that was made
    /// without them.
    pub ignore_beyond_width: bool,
    /// Whether a CSV file starts with the names of its columns; otherwise they are c1, c2, …
    pub header: bool,
    /// A file of its own with the targets, one column of an array or a table: they become the last column, named [`TARGET`](crate::TARGET).
    pub targets: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            format: None,
            delimiter: None,
            text: Vec::new(),
            width: None,
            ignore_beyond_width: false,
            header: true,
            targets: None,
        }
    }
}

impl Options {
    /// The format that was asked for, or the one that the name says.
    pub(crate) fn format_of(&self, file: &Path) -> Result<Format, Error> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        let stem = if is_gzip_name(file) { Path::new(file.file_stem().unwrap_or_default()) } else { file };
        let extension = extension(stem);
        match extension.as_str() {
            "csv" | "tsv" => Ok(Format::Csv),
            "libsvm" | "svm" | "svmlight" => Ok(Format::Libsvm),
            "npy" => Ok(Format::Npy),
            _ => Err(Error::UnknownExtension { file: file.to_owned(), found: extension }),
        }
    }
}

/// Whether a name ends in `.gz`.
pub(crate) fn is_gzip_name(file: &Path) -> bool {
    extension(file) == "gz"
}

/// In lower case; empty where there is none.
pub(crate) fn extension(file: &Path) -> String {
    file.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_format() {
        let format = |name: &str| Options::default().format_of(Path::new(name)).ok();
        for name in ["a.csv", "a.b.TSV", "dir.svm/a.csv.gz", "a.CSV.GZ"] {
            assert_eq!(format(name), Some(Format::Csv), "{name}");
        }
        for name in ["a.libsvm", "a.svm", "a.svmlight.gz"] {
            assert_eq!(format(name), Some(Format::Libsvm), "{name}");
        }
        for name in ["a.npy", "b.NPY.gz"] {
            assert_eq!(format(name), Some(Format::Npy), "{name}");
        }
        for name in ["a", "a.gz", "a.txt", "csv", ".csv", "a.csv.gz.gz", "", ".."] {
            assert_eq!(format(name), None, "{name}");
        }
    }
}

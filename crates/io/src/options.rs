//! How a file is to be read, where its name and content do not say.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use bochner::table::{CellFormat, ColumnKind};

use crate::Error;
use crate::encoding::Encoding;
use crate::files::Files;

/// The formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Delimited text: `.csv`, `.tsv`.
    Csv,
    /// Sparse rows of `index:value`: `.libsvm`, `.svm`, `.svmlight`.
    Libsvm,
    /// NumPy's arrays: `.npy`.
    Npy,
    /// Parquet: `.parquet`, `.pq`.
    Parquet,
    /// Arrow's files and streams, Feather's second version: `.arrow`, `.feather`, `.ipc`, `.arrows`.
    Arrow,
}

impl FromStr for Format {
    type Err = Error;

    /// `csv`, `libsvm`, `npy`, `parquet` or `arrow`.
    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "csv" => Ok(Format::Csv),
            "libsvm" => Ok(Format::Libsvm),
            "npy" => Ok(Format::Npy),
            "parquet" => Ok(Format::Parquet),
            "arrow" => Ok(Format::Arrow),
            _ => Err(Error::UnknownFormat { found: name.to_owned() }),
        }
    }
}

/// How to read a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The files that the data are in, where these were found already; `None`: those that the path stands for.
    pub files: Option<Files>,
    /// The format; `None`: what the content says, and the name where that leaves it open.
    pub format: Option<Format>,
    /// The encoding of texts; `None`: UTF-8, or UTF-16 where the first bytes say so.
    pub encoding: Option<Encoding>,
    /// What separates the fields of a CSV file; `None`: the most frequent of comma, semicolon, bar and tab in its
    /// first line, or a space.
    pub delimiter: Option<u8>,
    /// What some columns hold.
    pub kinds: Vec<(String, CellFormat)>,
    /// Columns that nobody looks at: texts, whose cells are all missing where a format stores each column by itself.
    pub ignored: Vec<String>,
    /// Whether the file is read once to find what its other columns hold; otherwise they are numbers in a CSV file, and elsewhere what the file says.
    pub infer: bool,
    /// Whether a cell that cannot be read is an error; otherwise it is missing.
    pub strict: bool,
    /// The number of features of a sparse file; `None`: the largest index, found by reading the file once.
    pub width: Option<usize>,
    /// Entries of a sparse file beyond `width` are dropped, not errors: what a model needs that was made
    /// without them.
    pub ignore_beyond_width: bool,
    /// Whether a CSV file starts with the names of its columns; otherwise they are c1, c2, … `None`: unless its first line holds
    /// numbers.
    pub header: Option<bool>,
    /// A file of its own with the targets, one column of an array or a table: they become the last column, named [`TARGET`](crate::TARGET).
    pub targets: Option<PathBuf>,
    /// Where unnamed files may be that keep what has to be read out of order; `None`: in the system's folder for such files. A folder on a disk: where that one is in
    /// memory, what is kept takes the memory of other programs.
    pub temporary: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            files: None,
            format: None,
            encoding: None,
            delimiter: None,
            kinds: Vec::new(),
            ignored: Vec::new(),
            infer: true,
            strict: false,
            width: None,
            ignore_beyond_width: false,
            header: None,
            targets: None,
            temporary: None,
        }
    }
}

impl Options {
    /// The same with these columns read as they are, whatever they hold.
    pub fn with_texts<S: AsRef<str>>(mut self, names: impl IntoIterator<Item = S>) -> Options {
        let text = CellFormat::from(ColumnKind::Text);
        self.kinds.extend(names.into_iter().map(|name| (name.as_ref().to_owned(), text)));
        self
    }
}

/// In lower case; empty where there is none.
pub(crate) fn extension(file: &Path) -> String {
    file.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

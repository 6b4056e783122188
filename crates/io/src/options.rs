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
    /// JSON with an object a row: `.jsonl`, `.ndjson`, `.json`.
    Json,
    /// Sparse rows of `index:value`: `.libsvm`, `.svm`, `.svmlight`.
    Libsvm,
    /// NumPy's arrays: `.npy`.
    Npy,
    /// Parquet: `.parquet`, `.pq`.
    Parquet,
    /// Arrow's files and streams, Feather's second version: `.arrow`, `.feather`, `.ipc`, `.arrows`.
    Arrow,
}

impl Format {
    /// Whether one pass from the first byte reads it, once its columns are known.
    pub(crate) fn is_read_in_order(self) -> bool {
        matches!(self, Format::Csv | Format::Libsvm)
    }
}

impl FromStr for Format {
    type Err = Error;

    /// `csv`, `json`, `libsvm`, `npy`, `parquet` or `arrow`.
    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "csv" => Ok(Format::Csv),
            "json" => Ok(Format::Json),
            "libsvm" => Ok(Format::Libsvm),
            "npy" => Ok(Format::Npy),
            "parquet" => Ok(Format::Parquet),
            "arrow" => Ok(Format::Arrow),
            _ => Err(Error::UnknownFormat { found: name.to_owned() }),
        }
    }
}

/// What is known of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// What it holds; how its cells are written is found by reading them.
    Kind(ColumnKind),
    /// How its cells are read.
    Format(CellFormat),
}

impl Known {
    /// What it holds.
    pub fn kind(self) -> ColumnKind {
        match self {
            Known::Kind(kind) => kind,
            Known::Format(format) => format.kind,
        }
    }
}

impl From<ColumnKind> for Known {
    fn from(kind: ColumnKind) -> Self {
        Known::Kind(kind)
    }
}

impl From<CellFormat> for Known {
    fn from(format: CellFormat) -> Self {
        Known::Format(format)
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
    pub kinds: Vec<(String, Known)>,
    /// Columns that nobody looks at: texts, whose cells are all missing.
    pub ignored: Vec<String>,
    /// Whether the file is read once to find what its other columns hold; otherwise they are numbers in CSV and JSON, and elsewhere what the file says.
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
        let text = Known::Kind(ColumnKind::Text);
        self.kinds.extend(names.into_iter().map(|name| (name.as_ref().to_owned(), text)));
        self
    }
}

/// In lower case; empty where there is none.
pub(crate) fn extension(file: &Path) -> String {
    file.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

//! What can be wrong with a data file, as data: where, what was expected, what came.

use std::path::{Path, PathBuf};

use bochner::table::ColumnKind;

/// What cells of bytes are, and values of 16 bytes such as UUIDs.
pub(crate) const BINARY: &str = "binary data";

/// The result of reading inside this crate; callers see [`bochner::Result`].
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// An error of a data file. Reaches callers inside [`bochner::Error::Source`], the system's own errors as
/// [`bochner::Error::Io`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system could not read the file.
    #[error("{}: {source}", .file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },

    /// Something that cannot be read twice.
    #[error(
        "{}: expected a regular file, found {found}: a source is read more than once; save it to a file first",
        .file.display()
    )]
    NotAFile {
        /// What was given.
        file: PathBuf,
        /// What it is.
        found: &'static str,
    },

    /// A folder or a pattern without files.
    #[error("{}: expected files, found none", .path.display())]
    NoFiles {
        /// What was given.
        path: PathBuf,
    },

    /// A file among others that lacks a column.
    #[error("{}: expected the columns of {}, found no \"{column}\"", .file.display(), .other.display())]
    FileLacksColumn {
        /// The file.
        file: PathBuf,
        /// The file that was looked at first.
        other: PathBuf,
        /// The name, shortened.
        column: String,
    },

    /// A file among others with a column of its own.
    #[error("{}: expected the columns of {}, found \"{column}\", too", .file.display(), .other.display())]
    FileHasColumn {
        /// The file.
        file: PathBuf,
        /// The file that was looked at first.
        other: PathBuf,
        /// The name, shortened.
        column: String,
    },

    /// A file among others in which a column holds something else.
    #[error("{}: expected \"{column}\" to hold what it holds in {}, found another kind", .file.display(), .other.display())]
    FileHasOtherKind {
        /// The file.
        file: PathBuf,
        /// The file that was looked at first.
        other: PathBuf,
        /// The name, shortened.
        column: String,
    },

    /// Too little room for bytes that have to be kept.
    #[error(
        "{}: expected room for all of it in the folder for temporary files, {}, found {} MiB left after {} MiB",
        .file.display(), .folder.display(), .free >> 20, .written >> 20
    )]
    NoSpace {
        /// What is read.
        file: PathBuf,
        /// Where it is kept.
        folder: PathBuf,
        /// Bytes that were kept.
        written: u64,
        /// Bytes that are free.
        free: u64,
    },

    /// A file of a kind that is not read here.
    #[error("{}: expected a table, found {found}; {advice}", .file.display())]
    Unsupported {
        /// The file.
        file: PathBuf,
        /// What it is.
        found: &'static str,
        /// How to make a table of it.
        advice: &'static str,
    },

    /// Bytes that are no text, and no format that is known.
    #[error("{}: expected a table, found bytes of an unknown format", .file.display())]
    UnknownContent {
        /// The file.
        file: PathBuf,
    },

    /// A format by an unknown name.
    #[error("expected the format csv, json, libsvm, npy, parquet or arrow, found \"{found}\"")]
    UnknownFormat {
        /// The name that came.
        found: String,
    },

    /// A file for features whose name does not say the format.
    #[error(
        "{}: expected a name ending in .csv, .npy, .libsvm, .svm or .svmlight, found {}; \
         say the format (csv, npy or libsvm) to write it anyway", .file.display(), ending(.found)
    )]
    UnknownFeatureExtension {
        /// The file.
        file: PathBuf,
        /// Its extension, empty where it has none.
        found: String,
    },

    /// A format for features by an unknown name.
    #[error("expected the format csv, npy or libsvm, found \"{found}\"")]
    UnknownFeatureFormat {
        /// The name that came.
        found: String,
    },

    /// A delimiter that has another meaning.
    #[error("expected a delimiter other than quotes and line ends, found {:?}", char::from(*.found))]
    Delimiter {
        /// The delimiter that came.
        found: u8,
    },

    /// Compressed data that cannot be unpacked, or a binary file that contradicts itself.
    #[error("{}: expected a whole {codec} file, found a damaged or truncated one ({source})", .file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// How it is compressed, or its format.
        codec: &'static str,
        /// The decoder's reason.
        source: std::io::Error,
    },

    /// Compressed data whose decoder would need too much memory.
    #[error(
        "{}: expected {codec} data that need at most {} MiB to be unpacked, found some that need more",
        .file.display(), .limit >> 20
    )]
    DecoderMemory {
        /// The file.
        file: PathBuf,
        /// How it is compressed.
        codec: &'static str,
        /// The most bytes that a decoder may take.
        limit: u64,
    },

    /// An archive that does not hold one table.
    #[error("{}: expected one table in the archive, found {}; unpack it first", .file.display(), members(*.found, .names))]
    Archive {
        /// The file.
        file: PathBuf,
        /// The number of tables.
        found: usize,
        /// The names of some of them.
        names: Vec<String>,
    },

    /// An archive whose table cannot be unpacked here.
    #[error("{}: expected a table that is stored, deflated or compressed by zstd, found {found}; unpack it first", .file.display())]
    ArchiveMethod {
        /// The file.
        file: PathBuf,
        /// How it is compressed.
        found: String,
    },

    /// An archive that cannot be read from its end.
    #[error("{}: expected a file, found an archive that can be read only once; save it to a file first", .file.display())]
    ArchiveStream {
        /// What was given.
        file: PathBuf,
    },

    /// A line, or a record with its quoted line ends, that is too long to be one.
    #[error("{}:{line}: expected a record of at most {limit} bytes, found a longer one", .file.display())]
    RecordTooLong {
        /// The file.
        file: PathBuf,
        /// Where the record starts, from 1.
        line: u64,
        /// The most bytes a record may have.
        limit: usize,
    },

    /// Text in another encoding.
    #[error("{}:{line}: expected UTF-8 text, found the byte 0x{byte:02x}; say the encoding if it is another", .file.display())]
    NotUtf8 {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: u64,
        /// The first byte that does not fit.
        byte: u8,
    },

    /// Text that is not in the encoding that it should be in.
    #[error("{}:{line}: expected text in {encoding}, found bytes that are none", .file.display())]
    Encoding {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: u64,
        /// The name of the encoding.
        encoding: &'static str,
    },

    /// An encoding by an unknown name.
    #[error("expected an encoding such as utf-8, utf-16le, latin1 or shift_jis, found \"{found}\"")]
    UnknownEncoding {
        /// The name that came.
        found: String,
    },

    /// A record with more fields than a table has columns.
    #[error("{}:{line}: expected a record of at most {limit} fields, found more", .file.display())]
    TooManyFields {
        /// The file.
        file: PathBuf,
        /// Where the record starts, from 1.
        line: u64,
        /// The most fields a record may have.
        limit: usize,
    },

    /// A CSV file without the line that names its columns.
    #[error("{}: expected a line with the names of the columns, found the end of the file", .file.display())]
    NoHeader {
        /// The file.
        file: PathBuf,
    },

    /// A CSV file without header and without rows, whose columns nobody can know.
    #[error("{}: expected at least one row, found the end of the file", .file.display())]
    NoColumns {
        /// The file.
        file: PathBuf,
    },

    /// A file that was written to between two passes.
    #[error("{}: expected the file to stay as it was, found another: it has changed", .file.display())]
    Changed {
        /// The file.
        file: PathBuf,
    },

    /// A row with too few or too many fields.
    #[error("{}:{line}: expected {expected} fields, found {found}", .file.display())]
    FieldCount {
        /// The file.
        file: PathBuf,
        /// Where the row starts, from 1.
        line: u64,
        /// Fields of the header, or of the first row.
        expected: usize,
        /// Fields of this row.
        found: usize,
    },

    /// A quoted field without an end.
    #[error("{}:{line}: expected a closing quote, found the end of the file", .file.display())]
    OpenQuote {
        /// The file.
        file: PathBuf,
        /// Where the row with the quote starts, from 1.
        line: u64,
    },

    /// A JSON object, or an array of them, without an end.
    #[error("{}:{line}: expected a closing {what}, found the end of the file", .file.display())]
    Unclosed {
        /// The file.
        file: PathBuf,
        /// Where the object starts, or where the array stops, from 1.
        line: u64,
        /// Brace or bracket.
        what: &'static str,
    },

    /// JSON that is no sequence of objects.
    #[error(
        "{}:{line}: expected one JSON object a row, such as {{\"size\": 120, \"price\": 350}}, found {found:?}",
        .file.display()
    )]
    NoObject {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: u64,
        /// The first byte that is none of an object's.
        found: char,
    },

    /// Text that is no JSON.
    #[error("{}:{line}: expected a JSON object, found one that cannot be read: {reason}", .file.display())]
    Json {
        /// The file.
        file: PathBuf,
        /// Where the object starts, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },

    /// JSON of which every object has other keys.
    #[error(
        "{}: expected objects with mostly the same keys, found {found} keys where an object has {mean:.0} on average",
        .file.display()
    )]
    ManyKeys {
        /// The file.
        file: PathBuf,
        /// Keys in all.
        found: usize,
        /// Keys of an object, on average.
        mean: f64,
    },

    /// A cell of JSON with values inside.
    #[error(
        "{}:{line}: expected one value for \"{column}\", found a list or an object; flatten the column or leave it out",
        .file.display()
    )]
    NestedCell {
        /// The file.
        file: PathBuf,
        /// Where the row starts, from 1.
        line: u64,
        /// The name, shortened.
        column: String,
    },

    /// A cell that is not what its column holds.
    #[error("{}:{line}:{column}: expected {expected}, found \"{found}\"{}", .file.display(), named(.name))]
    WrongCell {
        /// The file.
        file: PathBuf,
        /// Where the row starts, from 1.
        line: u64,
        /// Field, from 1.
        column: usize,
        /// What the column holds.
        expected: &'static str,
        /// The cell, shortened.
        found: String,
        /// Name of the column, where the file has names.
        name: Option<String>,
    },

    /// A sparse row without a label.
    #[error("{}:{line}: expected a label before the first index, found \"{found}\"", .file.display())]
    NoLabel {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: u64,
        /// What stands in its place, shortened.
        found: String,
    },

    /// A query id, which only ranking has a use for.
    #[error("{}:{line}: expected index:value, found \"{found}\": there is no ranking here, remove it", .file.display())]
    QueryId {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: u64,
        /// The token, shortened.
        found: String,
    },

    /// A token of a sparse row without a colon.
    #[error("{}:{line}: expected index:value, found \"{found}\"", .file.display())]
    NotAPair {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: u64,
        /// The token, shortened.
        found: String,
    },

    /// An index that is none.
    #[error("{}:{line}: expected an index from 1 to {}, found \"{found}\"", .file.display(), u32::MAX)]
    Index {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: u64,
        /// What stands before the colon, shortened.
        found: String,
    },

    /// Indices that repeat or go down.
    #[error("{}:{line}: expected an index above {previous}, found {found}", .file.display())]
    IndexOrder {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: u64,
        /// The index before, from 1.
        previous: u32,
        /// The index that came, from 1.
        found: u32,
    },

    /// An index beyond the width that was asked for.
    #[error("{}:{line}: expected an index up to {width}, found {found}", .file.display())]
    BeyondWidth {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: u64,
        /// The width that was asked for.
        width: usize,
        /// The first index beyond it, from 1.
        found: u32,
    },

    /// A value of a sparse row that should be a finite number.
    #[error("{}:{line}: expected a number at index {index}, found \"{found}\"", .file.display())]
    Value {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: u64,
        /// The index, from 1.
        index: u32,
        /// The value, shortened.
        found: String,
    },

    /// A file that is no array.
    #[error("{}: expected an array as numpy.save writes it, found something else", .file.display())]
    NotAnArray {
        /// The file.
        file: PathBuf,
    },

    /// An array in a version that is not known.
    #[error("{}: expected version 1, 2 or 3 of the NPY format, found {major}.{minor}", .file.display())]
    ArrayVersion {
        /// The file.
        file: PathBuf,
        /// The version.
        major: u8,
        /// Its second part.
        minor: u8,
    },

    /// The header of an array that cannot be read.
    #[error("{}: expected {expected} in the header of the array, found \"{found}\"", .file.display())]
    ArrayHeader {
        /// The file.
        file: PathBuf,
        /// What should stand there.
        expected: &'static str,
        /// What stands there, shortened.
        found: String,
    },

    /// An array of something else than numbers that are read.
    #[error(
        "{}: expected floats of 4 or 8 bytes, integers or booleans, least byte first, found the kind \"{found}\"; \
         save array.astype(\"<f8\")", .file.display()
    )]
    ArrayKind {
        /// The file.
        file: PathBuf,
        /// The kind, as NumPy spells it, shortened.
        found: String,
    },

    /// An array that is no table, or one too large to be true.
    #[error(
        "{}: expected rows of 1 to 1048576 columns, found an array of shape {found}; save array.reshape(len(array), -1)",
        .file.display()
    )]
    ArrayShape {
        /// The file.
        file: PathBuf,
        /// The shape, shortened.
        found: String,
    },

    /// An array of another size than its header says.
    #[error(
        "{}: expected {expected} bytes for {rows} rows of {columns} columns, found {found}{}",
        .file.display(), if .found < .expected { ": the file is cut off" } else { " or more: save one array a file" }
    )]
    ArraySize {
        /// The file.
        file: PathBuf,
        /// Rows that the header says.
        rows: u64,
        /// Columns that the header says.
        columns: usize,
        /// Bytes that the file should have.
        expected: u64,
        /// Bytes that were found.
        found: u64,
    },

    /// An entry of an array that is NaN or infinite.
    #[error("{}: expected a finite number in row {row}, column \"x{column}\" (counted from 0), found {found}", .file.display())]
    ArrayNumber {
        /// The file.
        file: PathBuf,
        /// Row, from 0.
        row: u64,
        /// Column, from 0.
        column: usize,
        /// The value.
        found: f64,
    },

    /// A column of which the cells are no single values.
    #[error(
        "{}: column \"{column}\" is {what} ({found}), expected one number, truth value, date or text a row; \
         {} or leave it out", .file.display(), if *.what == BINARY { "cast it to text" } else { "flatten it" }
    )]
    NestedColumn {
        /// The file.
        file: PathBuf,
        /// The name, shortened.
        column: String,
        /// What it is, in words.
        what: &'static str,
        /// Its type as the file has it, shortened.
        found: String,
    },

    /// A file that claims more than is read.
    #[error("{}: expected at most {limit} {what}, found {found}{place}", .file.display())]
    Beyond {
        /// The file.
        file: PathBuf,
        /// Of what it claims so many.
        what: &'static str,
        /// The most that is read.
        limit: u64,
        /// What it claims.
        found: u64,
        /// Where in the file, as ` in column "x"`; empty where that is not known.
        place: String,
    },

    /// A file of a format that is read, written in a way that is not.
    #[error("{}: expected {expected}, found {found}; write it again in a way that is read", .file.display())]
    NotRead {
        /// The file.
        file: PathBuf,
        /// What is read.
        expected: &'static str,
        /// What there is.
        found: String,
    },

    /// A batch of rows that has other columns than those before it.
    #[error("{}: expected the columns to stay as they were, found others", .file.display())]
    OtherColumns {
        /// The file.
        file: PathBuf,
    },

    /// Targets in a file of their own that is no single column.
    #[error("{}: expected one column of targets, found {found}", .file.display())]
    TargetColumns {
        /// The file of targets.
        file: PathBuf,
        /// Its columns.
        found: usize,
    },

    /// Targets in a file of their own that are more or fewer than the rows.
    #[error("{}: expected a target for each row of {}, found {found}", .file.display(), .data.display())]
    TargetRows {
        /// The file of targets.
        file: PathBuf,
        /// The file of rows.
        data: PathBuf,
        /// "more" or "fewer", and how many there were.
        found: String,
    },

    /// A name that two columns would have.
    #[error(
        "{}: expected no column \"{name}\" where targets come from a file of their own, found one; rename it",
        .file.display()
    )]
    TargetName {
        /// The file of rows.
        file: PathBuf,
        /// The name.
        name: String,
    },
}

impl From<Error> for bochner::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Io { file, source } => bochner::Error::Io { path: file, source },
            other => bochner::Error::Source(Box::new(other)),
        }
    }
}

/// A line of a file, for errors to point at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) file: &'a Path,
    pub(crate) line: u64,
}

impl Place<'_> {
    /// The bytes as text.
    pub(crate) fn text(self, bytes: &[u8]) -> Result<&str> {
        std::str::from_utf8(bytes).map_err(|error| Error::NotUtf8 {
            file: self.file.to_owned(),
            line: self.line,
            byte: bytes[error.valid_up_to()],
        })
    }

    /// The error that `make` makes of file, line and shortened text; or, sooner, that the bytes are no text.
    pub(crate) fn fault(self, bytes: &[u8], make: impl FnOnce(PathBuf, u64, String) -> Error) -> Error {
        match self.text(bytes) {
            Ok(text) => make(self.file.to_owned(), self.line, shortened(text)),
            Err(error) => error,
        }
    }
}

/// What a cell of a kind should be.
pub(crate) fn expected(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Boolean => "true or false",
        ColumnKind::Date => "a date",
        _ => "a number",
    }
}

/// At most 40 characters, on one line.
pub(crate) fn shortened(text: &str) -> String {
    const MOST: usize = 40;
    let mut shown = String::new();
    let cut = text.chars().nth(MOST).is_some();
    for c in text.chars().take(if cut { MOST - 1 } else { MOST }) {
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    if cut {
        shown.push('…');
    }
    shown
}

/// `".xlsx"`, or that there is none.
fn ending(extension: &str) -> String {
    if extension.is_empty() { "no ending".to_owned() } else { format!("\".{}\"", shortened(extension)) }
}

/// ` (column "price")` where there is a name.
fn named(name: &Option<String>) -> String {
    name.as_ref().map(|name| format!(" (column \"{name}\")")).unwrap_or_default()
}

/// `none`, or a count and some names.
fn members(found: usize, names: &[String]) -> String {
    match found {
        0 => "none".to_owned(),
        _ if found > names.len() => format!("{found} ({}, …)", names.join(", ")),
        _ => format!("{found} ({})", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_strange_cells_stay_readable() {
        assert_eq!(shortened(&"é".repeat(40)), "é".repeat(40));
        assert_eq!(shortened(&"é".repeat(41)), format!("{}…", "é".repeat(39)));
        assert_eq!(shortened("a\n\u{1b}[1m"), "a\\n\\u{1b}[1m");
    }
}

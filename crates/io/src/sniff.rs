//! What a file holds, found by its content first and by its name where the content leaves it open.
//!
//! ```text
//! 1  first bytes that only one format has
//! 2  the ending of the name, those of compression aside
//! 3  a first line such as `{"a": 1`: JSON; such as `label 3:0.5 7:1`: LIBSVM; any other text: CSV
//! ```

use std::path::Path;

use crate::compression::Codec;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::options::{Format, Options, extension};
use crate::origin::Origin;

/// Bytes that are looked at.
const LOOKED_AT: usize = 4 << 10;

/// What people have tables in that is not read here.
pub(crate) struct Foreign {
    found: &'static str,
    advice: &'static str,
}

impl Foreign {
    pub(crate) fn refused(&self, file: &Path) -> Error {
        Error::Unsupported { file: file.to_owned(), found: self.found, advice: self.advice }
    }
}

/// How to make a table of what pandas reads.
macro_rules! by_pandas {
    ($read:literal) => {
        concat!("python -c \"import pandas as p; p.", $read, "('FILE').to_csv('FILE.csv', index=False)\"")
    };
}

/// A zip archive of its own kind.
pub(crate) const WORKBOOK: Foreign = Foreign {
    found: "an Excel workbook",
    advice: concat!("save the sheet as CSV, or: ", by_pandas!("read_excel")),
};

/// The format of a file.
pub(crate) fn format(origin: &Origin, options: &Options) -> Result<Format> {
    if let Some(format) = options.format {
        return Ok(format);
    }
    let (head, input) = Input::open(origin)?.peek(LOOKED_AT)?;
    if let Some(format) = by_magic(&origin.file, &head)? {
        return Ok(format);
    }
    if let Some(format) = by_name(input.member().unwrap_or(&origin.file)) {
        return Ok(format);
    }
    let (text, _) = Input::text(origin)?.peek(LOOKED_AT)?;
    if text.contains(&0) {
        return Err(Error::UnknownContent { file: origin.file.clone() });
    }
    Ok(match text.trim_ascii_start() {
        [b'{', ..] => Format::Json,
        [b'[', rest @ ..] if matches!(rest.trim_ascii_start(), [b'{', ..]) => Format::Json,
        _ if is_sparse(&text) => Format::Libsvm,
        _ => Format::Csv,
    })
}

/// A format that begins like no other. What is not read is refused with a way out.
fn by_magic(file: &Path, head: &[u8]) -> Result<Option<Format>> {
    if head.starts_with(b"\x93NUMPY") {
        return Ok(Some(Format::Npy));
    }
    // Encrypted footers are refused with their reason.
    if begins_binary(head, b"PAR1") || begins_binary(head, b"PARE") {
        return Ok(Some(Format::Parquet));
    }
    // A file, and a stream.
    if begins_binary(head, b"ARROW1") || head.starts_with(b"\xff\xff\xff\xff") {
        return Ok(Some(Format::Arrow));
    }
    match foreign(head) {
        Some(foreign) => Err(foreign.refused(file)),
        None => Ok(None),
    }
}

/// Whether these letters come first and then bytes that are no text: a table may have a column "PAR1".
fn begins_binary(head: &[u8], magic: &[u8]) -> bool {
    /// Bytes after them that are looked at.
    const SOME: usize = 8;
    let is_no_text = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    head.strip_prefix(magic).is_some_and(|rest| rest.iter().take(SOME).any(is_no_text))
}

fn foreign(head: &[u8]) -> Option<Foreign> {
    let begins = |magic: &[u8]| head.starts_with(magic);
    let (found, advice) = if begins_binary(head, b"FEA1") {
        ("a file of Feather's first version", by_pandas!("read_feather"))
    } else if begins(b"SQLite format 3\0") {
        ("an SQLite database", "sqlite3 -header -csv FILE 'SELECT * FROM TABLE' > FILE.csv")
    } else if begins(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        (WORKBOOK.found, WORKBOOK.advice)
    } else if begins(b"\x89HDF\r\n\x1a\n") {
        (
            "an HDF5 file",
            "python -c \"import pandas as p; p.read_hdf('FILE').to_csv('FILE.csv', index=False)\"",
        )
    } else if matches!(head, [0x80, 2..=5, ..]) {
        ("a Python pickle", by_pandas!("read_pickle"))
    } else if head.get(257..262) == Some(b"ustar") && head.contains(&0) {
        ("a tar archive", "unpack it first")
    } else if begins(b"%PDF-") {
        ("a PDF document", "save the table as CSV")
    } else {
        return None;
    };
    Some(Foreign { found, advice })
}

/// The format that a name says, with or without the ending of compression.
fn by_name(file: &Path) -> Option<Format> {
    let stem = match Codec::named(file) {
        Some(_) => Path::new(file.file_stem().unwrap_or_default()),
        None => file,
    };
    match extension(stem).as_str() {
        "csv" | "tsv" => Some(Format::Csv),
        "jsonl" | "ndjson" | "json" => Some(Format::Json),
        "libsvm" | "svm" | "svmlight" => Some(Format::Libsvm),
        "npy" => Some(Format::Npy),
        "parquet" | "pq" => Some(Format::Parquet),
        "arrow" | "feather" | "ipc" | "arrows" => Some(Format::Arrow),
        _ => None,
    }
}

/// Whether the first line that is no comment is a label and pairs of index and value.
fn is_sparse(text: &[u8]) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let Some(line) = lines.find(|line| !line.is_empty() && !line.starts_with(b"#")) else { return false };
    // The last token may be cut off where the line is long.
    let whole = if line.len() > LOOKED_AT / 2 { &line[..LOOKED_AT / 2] } else { line };
    let mut tokens = whole.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty());
    let is_label =
        tokens.next().is_some_and(|label| !label.iter().any(|byte| matches!(byte, b':' | b',' | b'"')));
    let pairs: Vec<&[u8]> = tokens.take_while(|token| !token.starts_with(b"#")).take(8).collect();
    is_label && !pairs.is_empty() && pairs.iter().all(|pair| is_pair(pair))
}

fn is_pair(token: &[u8]) -> bool {
    let Some(colon) = token.iter().position(|byte| *byte == b':') else { return false };
    let (index, value) = (&token[..colon], &token[colon + 1..]);
    let is_index = !index.is_empty() && index.iter().all(u8::is_ascii_digit);
    (is_index || index == b"qid") && crate::number::parse(value).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_format() {
        for name in ["a.csv", "a.b.TSV", "dir.svm/a.csv.gz", "a.CSV.GZ", "a.csv.zst", "a.csv.xz", "a.csv.bz2"]
        {
            assert_eq!(by_name(Path::new(name)), Some(Format::Csv), "{name}");
        }
        for name in ["a.libsvm", "a.svm", "a.svmlight.gz"] {
            assert_eq!(by_name(Path::new(name)), Some(Format::Libsvm), "{name}");
        }
        for name in ["a.npy", "b.NPY.gz"] {
            assert_eq!(by_name(Path::new(name)), Some(Format::Npy), "{name}");
        }
        for name in ["a", "a.gz", "a.txt", "csv", ".csv", "a.csv.gz.gz", "", ".."] {
            assert_eq!(by_name(Path::new(name)), None, "{name}");
        }
    }

    #[test]
    fn first_lines_tell_sparse_rows() {
        for text in ["1 1:2", "# a\n\n+1 3:0.5 7:1e3 # b\n", "x 1:1\r\n", "2 qid:1 4:1"] {
            assert!(is_sparse(text.as_bytes()), "{text}");
        }
        for text in ["", "a b", "1 2:x", "1:2 3:4", "12:30 13:30", "a,b 1:2", "x", "# 1 1:2", "a b:1"] {
            assert!(!is_sparse(text.as_bytes()), "{text}");
        }
    }
}

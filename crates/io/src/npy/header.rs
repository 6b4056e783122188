//! The header of an array: a Python dictionary with three entries, read without Python.

use std::path::Path;

use super::kind::Kind;
use crate::error::{Error, Result, shortened};
use crate::input::Input;

const MAGIC: &[u8] = b"\x93NUMPY";

/// The most bytes of a header; those of plain arrays have some hundred.
const LONGEST: usize = 64 << 10;

/// The most columns: names and places are kept for each.
const MOST_COLUMNS: u64 = 1 << 20;

/// What a file says of its array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) rows: u64,
    pub(super) columns: usize,
    /// Whether columns stand one after another, not rows.
    pub(super) by_columns: bool,
    /// Where the numbers begin.
    pub(super) start: u64,
}

impl Header {
    /// Reads what stands before the numbers.
    pub(super) fn read(input: &mut Input) -> Result<Header> {
        let mut magic = [0; 8];
        let found = input.read_into(&mut magic)?;
        let file = input.file().to_owned();
        if !magic[..found].starts_with(MAGIC) {
            return Err(Error::NotAnArray { file });
        }
        let [.., major, minor] = magic;
        let (before, size) = match major {
            _ if found < magic.len() => return Err(cut(&file)),
            1 => (2, length(input, &mut [0; 2])?),
            2 | 3 => (4, length(input, &mut [0; 4])?),
            _ => return Err(Error::ArrayVersion { file, major, minor }),
        };
        if size > LONGEST {
            let expected = "at most 65536 bytes";
            return Err(Error::ArrayHeader { file, expected, found: size.to_string() });
        }
        let mut text = vec![0; size];
        if input.read_into(&mut text)? < size {
            return Err(cut(&file));
        }
        // Latin-1 up to version 2; what is not ASCII is in none of the entries we know.
        let text = String::from_utf8_lossy(&text);
        let start = (magic.len() + before + size) as u64;
        Header::of(&file, &Entries::parse(&file, &text)?, start)
    }

    fn of(file: &Path, entries: &Entries<'_>, start: u64) -> Result<Header> {
        let Entries { descr, fortran_order, shape } = entries;
        let kind = Kind::of(descr)
            .ok_or_else(|| Error::ArrayKind { file: file.to_owned(), found: shortened(descr) })?;
        let wrong_shape = || Error::ArrayShape { file: file.to_owned(), found: shortened(&shown(shape)) };
        let (rows, columns) = match shape[..] {
            [rows] => (rows, 1),
            [rows, columns] => (rows, columns),
            _ => return Err(wrong_shape()),
        };
        if columns == 0 || columns > MOST_COLUMNS {
            return Err(wrong_shape());
        }
        let bytes = u128::from(rows) * u128::from(columns) * kind.bytes() as u128 + u128::from(start);
        if bytes > u128::from(u64::MAX) {
            return Err(wrong_shape());
        }
        // One row, or one column, is the same in either order.
        let by_columns = *fortran_order && rows > 1 && columns > 1;
        Ok(Header { kind, rows, columns: columns as usize, by_columns, start })
    }

    /// Bytes that the whole file should have.
    fn size(&self) -> u64 {
        self.start + self.rows * self.columns as u64 * self.kind.bytes() as u64
    }

    /// Refuses a file that holds more or less than its header says.
    pub(super) fn check_size(&self, file: &Path, found: u64) -> Result<()> {
        if found == self.size() { Ok(()) } else { Err(self.wrong_size(file, found)) }
    }

    /// Of a file that ends after `found` bytes, or goes on to them.
    pub(super) fn wrong_size(&self, file: &Path, found: u64) -> Error {
        let (rows, columns, expected) = (self.rows, self.columns, self.size());
        Error::ArraySize { file: file.to_owned(), rows, columns, expected, found }
    }
}

/// The size of the dictionary.
fn length(input: &mut Input, bytes: &mut [u8]) -> Result<usize> {
    if input.read_into(bytes)? < bytes.len() {
        return Err(cut(input.file()));
    }
    Ok(bytes.iter().rev().fold(0, |size, &byte| size << 8 | usize::from(byte)))
}

fn cut(file: &Path) -> Error {
    let found = "the end of the file".to_owned();
    Error::ArrayHeader { file: file.to_owned(), expected: "all of it", found }
}

/// `(3, 4, 5)`, as Python has it.
fn shown(shape: &[u64]) -> String {
    let list = shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    if shape.len() == 1 { format!("({list},)") } else { format!("({list})") }
}

/// The entries of the dictionary.
struct Entries<'a> {
    descr: &'a str,
    fortran_order: bool,
    shape: Vec<u64>,
}

impl<'a> Entries<'a> {
    fn parse(file: &Path, text: &'a str) -> Result<Entries<'a>> {
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        let mut rest = Rest { file, text };
        rest.expect("{", "a dictionary")?;
        while !rest.skip("}") {
            let key = rest.quoted("a key in quotes")?;
            rest.expect(":", "a colon after the key")?;
            match key {
                "descr" => descr = Some(rest.kind()?),
                "fortran_order" => fortran_order = Some(rest.boolean()?),
                "shape" => shape = Some(rest.whole_numbers()?),
                other => return Err(rest.wrong("the keys descr, fortran_order and shape", other)),
            }
            if !rest.skip(",") {
                rest.expect("}", "a comma or the end of the dictionary")?;
                break;
            }
        }
        match (descr, fortran_order, shape) {
            (Some(descr), Some(fortran_order), Some(shape)) => Ok(Entries { descr, fortran_order, shape }),
            _ => Err(rest.wrong("the keys descr, fortran_order and shape", text)),
        }
    }
}

/// What has not been read yet.
struct Rest<'a, 'f> {
    file: &'f Path,
    text: &'a str,
}

impl<'a> Rest<'a, '_> {
    fn wrong(&self, expected: &'static str, found: &str) -> Error {
        Error::ArrayHeader { file: self.file.to_owned(), expected, found: shortened(found.trim()) }
    }

    /// Moves past a word, if it is next.
    fn skip(&mut self, word: &str) -> bool {
        let found = self.text.trim_start().strip_prefix(word);
        self.text = found.unwrap_or(self.text);
        found.is_some()
    }

    fn expect(&mut self, word: &str, expected: &'static str) -> Result<()> {
        if self.skip(word) { Ok(()) } else { Err(self.wrong(expected, self.text)) }
    }

    /// What stands in quotes of either kind.
    fn quoted(&mut self, expected: &'static str) -> Result<&'a str> {
        let text = self.text.trim_start();
        let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'));
        match quote.and_then(|quote| text[1..].split_once(quote)) {
            Some((inside, rest)) => {
                self.text = rest;
                Ok(inside)
            }
            None => Err(self.wrong(expected, text)),
        }
    }

    /// A kind of numbers; a list of them is a record.
    fn kind(&mut self) -> Result<&'a str> {
        let text = self.text.trim_start();
        if text.starts_with('[') {
            return Err(Error::ArrayKind { file: self.file.to_owned(), found: shortened(text) });
        }
        self.quoted("a kind of numbers in quotes")
    }

    fn boolean(&mut self) -> Result<bool> {
        if self.skip("True") {
            return Ok(true);
        }
        self.expect("False", "True or False")?;
        Ok(false)
    }

    /// `(3, 4)`, `(3,)` or `()`; Python 2 wrote `3L`.
    fn whole_numbers(&mut self) -> Result<Vec<u64>> {
        let expected = "a shape of whole numbers";
        self.expect("(", expected)?;
        let mut numbers = Vec::new();
        while !self.skip(")") {
            let text = self.text.trim_start();
            let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            let Ok(number) = text[..end].parse() else { return Err(self.wrong(expected, text)) };
            numbers.push(number);
            self.text = &text[end..];
            self.skip("L");
            if !self.skip(",") {
                self.expect(")", expected)?;
                break;
            }
        }
        Ok(numbers)
    }
}

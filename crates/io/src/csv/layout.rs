//! The columns of a file and how they are told apart.

use std::collections::HashMap;

use bochner::table::{infer, number};

use super::delimiter;
use super::records::Records;
use crate::error::{Error, Result, shortened};
use crate::input::Input;
use crate::options::Options;
use crate::origin::Origin;

/// What has to be known to read the rows.
pub(super) struct Layout {
    /// One for each column, each once.
    pub(super) names: Vec<String>,
    pub(super) delimiter: u8,
    pub(super) header: bool,
    /// Lines before the first record.
    comments: u64,
    /// The fields of the header as they were.
    written: Vec<Vec<u8>>,
    /// What was noticed.
    pub(super) warnings: Vec<String>,
}

impl Layout {
    /// Looks at the first record.
    pub(super) fn read(input: Input, options: &Options) -> bochner::Result<Self> {
        let (head, input) = input.peek(delimiter::LOOKED_AT)?;
        let comments = comments(&head);
        let rest = after_lines(&head, comments);
        let delimiter = match options.delimiter {
            Some(delimiter) => delimiter::check(delimiter)?,
            None => delimiter::sniff(rest),
        };
        let mut records = Records::new(input, delimiter);
        records.skip_lines(comments)?;
        if !records.advance()? {
            let file = records.input().file().to_owned();
            let is_wanted = options.header.unwrap_or(true);
            return Err(if is_wanted { Error::NoHeader { file } } else { Error::NoColumns { file } }.into());
        }
        let place = records.place();
        let field = |field: &[u8]| place.text(field.trim_ascii()).map(str::to_owned);
        let fields = records.fields().map(field).collect::<Result<Vec<String>>>()?;
        let mut warnings = Vec::new();
        let header = options.header.unwrap_or_else(|| {
            let is_header = !are_cells(&fields);
            if !is_header {
                let text = "the first line holds numbers, not names: columns are called c1, c2, … (--header if they are names)";
                warnings.push(text.to_owned());
            }
            is_header
        });
        let written = if header {
            records.fields().map(|field| field.trim_ascii().to_vec()).collect()
        } else {
            Vec::new()
        };
        let names = if header {
            unique(fields, &mut warnings)
        } else {
            (1..=records.len()).map(|column| format!("c{column}")).collect()
        };
        Ok(Layout { names, delimiter, header, comments, written, warnings })
    }

    /// The records after the header, if there is one; it must still be the same.
    pub(super) fn records(&self, origin: &Origin) -> Result<Records> {
        let mut records = Records::new(Input::text(origin)?, self.delimiter);
        records.skip_lines(self.comments)?;
        let is_same = |records: &Records| {
            records.fields().map(<[u8]>::trim_ascii).eq(self.written.iter().map(Vec::as_slice))
        };
        if !self.header || (records.advance()? && is_same(&records)) {
            Ok(records)
        } else {
            Err(Error::Changed { file: origin.file.clone() })
        }
    }

    /// The record in hand has a field for each column.
    pub(super) fn check(&self, records: &Records) -> Result<()> {
        let (expected, found) = (self.names.len(), records.len());
        if found == expected {
            return Ok(());
        }
        let place = records.place();
        Err(Error::FieldCount { file: place.file.to_owned(), line: place.line, expected, found })
    }

    /// Where a column stands.
    pub(super) fn position(&self, name: &str) -> bochner::Result<usize> {
        let found = self.names.iter().position(|known| known == name);
        found
            .ok_or_else(|| bochner::Error::MissingColumn { name: name.to_owned(), found: self.names.clone() })
    }
}

/// Whether a first record is a row: it has a number with a decimal point, or numbers only, which do not count columns.
fn are_cells(fields: &[String]) -> bool {
    let numbers: Vec<Option<f64>> =
        fields.iter().map(|field| number::parse(field, false).map(|(value, _)| value)).collect();
    let has_fraction =
        fields.iter().zip(&numbers).any(|(field, value)| value.is_some() && field.contains('.'));
    let are_numbers = numbers.iter().any(Option::is_some)
        && fields.iter().zip(&numbers).all(|(field, value)| value.is_some() || infer::is_missing(field));
    let counts = |first: f64| {
        numbers.iter().flatten().zip(0..).all(|(value, at)| (*value - first - f64::from(at)).abs() < 0.5)
    };
    has_fraction || (are_numbers && !counts(0.0) && !counts(1.0))
}

/// Names that are there once each: others are numbered as pandas numbers them.
pub(crate) fn unique(fields: Vec<String>, warnings: &mut Vec<String>) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let taken: std::collections::HashSet<String> = fields.iter().cloned().collect();
    let mut names = Vec::with_capacity(fields.len());
    let (mut renamed, mut example) = (0, String::new());
    for (column, field) in fields.into_iter().enumerate() {
        let field = if field.is_empty() { format!("Unnamed: {column}") } else { field };
        let count = seen.entry(field.clone()).or_insert(0);
        let mut name = field.clone();
        while *count > 0 && (name == field || taken.contains(&name)) {
            name = format!("{field}.{count}");
            if taken.contains(&name) {
                *count += 1;
            }
        }
        *count += 1;
        if name != field {
            renamed += 1;
            if example.is_empty() {
                example = format!("the second \"{}\" is \"{}\"", shortened(&field), shortened(&name));
            }
        }
        names.push(name);
    }
    if renamed > 0 {
        warnings
            .push(format!("columns share their names: {example}{}", if renamed > 1 { ", …" } else { "" }));
    }
    names
}

/// Lines at the start that begin with `#`, unless the last of them is the header: it has as many fields as the line after it.
fn comments(head: &[u8]) -> u64 {
    let lines: Vec<&[u8]> = head.split(|byte| *byte == b'\n').collect();
    let count = lines.iter().take_while(|line| line.first() == Some(&b'#')).count();
    let (Some(last), Some(next)) = (count.checked_sub(1).map(|at| lines[at]), lines.get(count)) else {
        return 0;
    };
    let delimiter = delimiter::sniff(next);
    let fields = |line: &[u8]| line.iter().filter(|byte| **byte == delimiter).count();
    let is_header = fields(last) > 0 && fields(last) == fields(next);
    (count - usize::from(is_header)) as u64
}

/// What follows after some lines.
fn after_lines(mut head: &[u8], lines: u64) -> &[u8] {
    for _ in 0..lines {
        let end = head.iter().position(|byte| *byte == b'\n').map_or(head.len(), |end| end + 1);
        head = &head[end..];
    }
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(line: &str) -> Vec<String> {
        line.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn a_first_line_of_numbers_is_no_header() {
        for line in ["5.1,3.5,setosa", "7,3,9", "1,,3", "-2"] {
            assert!(are_cells(&fields(line)), "{line}");
        }
        for line in ["a,b", "0,1,2", "1,2,3", "year,2020", "a,1", "", ",a", "x1,2"] {
            assert!(!are_cells(&fields(line)), "{line}");
        }
    }

    #[test]
    fn names_are_there_once_each() {
        let mut warnings = Vec::new();
        assert_eq!(unique(fields("a,b,a,,a"), &mut warnings), ["a", "b", "a.1", "Unnamed: 3", "a.2"]);
        assert_eq!(warnings, ["columns share their names: the second \"a\" is \"a.1\", …"]);
        assert_eq!(unique(fields("a,a.1,a"), &mut Vec::new()), ["a", "a.1", "a.2"]);
        let mut none = Vec::new();
        unique(fields("a,b"), &mut none);
        assert!(none.is_empty());
    }

    #[test]
    fn comments_stand_before_the_header() {
        assert_eq!(comments(b"# made today\n# by hand\na,b\n1,2\n"), 2);
        assert_eq!(comments(b"#a,b\n1,2\n"), 0);
        assert_eq!(comments(b"# x\n#a,b\n1,2\n"), 1);
        assert_eq!([comments(b"a,b\n#1,2"), comments(b""), comments(b"#")], [0, 0, 0]);
    }
}

//! The columns of a file and how they are told apart.

use bochner::table::{infer, number};
use memchr::memchr_iter;

use super::split::Split;
use super::{delimiter, fields};
use crate::error::{Error, Result};
use crate::input::Input;
use crate::names::unique;
use crate::options::Options;
use crate::origin::Origin;
use crate::text::records::Records;
use crate::text::{Cell, Field, MOST_FIELDS};

/// What is said of a table whose first line is a row.
pub const NO_HEADER: &str = "the first line holds numbers, not names: columns are called c1, c2, …";

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
        let mut records = after_comments(input, comments, delimiter)?;
        let file = records.input().file().to_owned();
        let Some(written) = first(&mut records, delimiter)? else {
            let is_wanted = options.header.unwrap_or(true);
            return Err(if is_wanted { Error::NoHeader { file } } else { Error::NoColumns { file } }.into());
        };
        let place = records.input().place(records.in_hand().records.first().map_or(1, |record| record.line));
        let field = |field: &Vec<u8>| place.text(field).map(str::to_owned);
        let fields = written.iter().map(field).collect::<Result<Vec<String>>>()?;
        let mut warnings = Vec::new();
        let header = options.header.unwrap_or_else(|| {
            let is_header = !are_cells(&fields);
            if !is_header {
                warnings.push(NO_HEADER.to_owned());
            }
            is_header
        });
        let (names, written) = if header {
            (unique(fields, &mut warnings), written)
        } else {
            ((1..=fields.len()).map(|column| format!("c{column}")).collect(), Vec::new())
        };
        Ok(Layout { names, delimiter, header, comments, written, warnings })
    }

    /// The records after the header, if there is one; it must still be the same.
    pub(super) fn rows(&self, origin: &Origin) -> Result<Records<Split>> {
        let mut records = after_comments(Input::text(origin)?, self.comments, self.delimiter)?;
        if !self.header || first(&mut records, self.delimiter)?.as_ref() == Some(&self.written) {
            Ok(records)
        } else {
            Err(Error::Changed { file: origin.file.clone() })
        }
    }
}

/// The records after some lines.
fn after_comments(mut input: Input, comments: u64, delimiter: u8) -> Result<Records<Split>> {
    let mut skipped = Vec::new();
    for line in 1..=comments {
        input.read_line(line, &mut skipped)?;
    }
    Ok(Records::new(input, Split::new(delimiter, comments + 1)))
}

/// The fields of the next record, without the spaces around them.
fn first(records: &mut Records<Split>, delimiter: u8) -> Result<Option<Vec<Vec<u8>>>> {
    if !records.advance(1, 0)? {
        return Ok(None);
    }
    let (in_hand, mut found) = (records.in_hand(), Vec::new());
    let (text, record) = (in_hand.text, &in_hand.records[0]);
    let most = 1 + memchr_iter(delimiter, &text[record.bytes.clone()]).take(MOST_FIELDS).count();
    if fields::find(text, record.bytes.clone(), delimiter, most, &mut found) > MOST_FIELDS {
        let (file, line) = (records.input().file().to_owned(), record.line);
        return Err(Error::TooManyFields { file, line, limit: MOST_FIELDS });
    }
    let bytes = |field: &Field| match field.cell(text, fields::unescape, &mut Vec::new()) {
        Cell::Text(bytes) => bytes.trim_ascii().to_vec(),
        Cell::Missing | Cell::Nested => Vec::new(),
    };
    Ok(Some(found.iter().map(bytes).collect()))
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
    fn comments_stand_before_the_header() {
        assert_eq!(comments(b"# made today\n# by hand\na,b\n1,2\n"), 2);
        assert_eq!(comments(b"#a,b\n1,2\n"), 0);
        assert_eq!(comments(b"# x\n#a,b\n1,2\n"), 1);
        assert_eq!([comments(b"a,b\n#1,2"), comments(b""), comments(b"#")], [0, 0, 0]);
    }
}

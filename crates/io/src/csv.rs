//! Delimited text: one row a line, quotes where a field holds delimiters or line ends.
//!
//! ```text
//! size,rooms,"price, in thousands"
//! 120,4,350
//! ```
//!
//! Read as RFC 4180 says and a little beyond: any of LF, CRLF and CR ends a row, blank lines are skipped. Every row
//! has as many fields as the first.

mod delimiter;
mod fields;
pub(crate) mod layout;
mod split;

use bochner::Engine;

use crate::error::{Error, Place, Result};
use crate::input::Input;
use crate::options::Options;
use crate::origin::Origin;
use crate::text::records::{Records, Span};
use crate::text::{Field, TextFormat};
use layout::Layout;
use split::Split;

/// A CSV file whose first record has been read.
pub(crate) struct Csv(Layout);

impl TextFormat for Csv {
    type Splitter = Split;

    fn open(_: &Engine, origin: &Origin, options: &Options) -> bochner::Result<Csv> {
        Layout::read(Input::text(origin)?, options).map(Csv)
    }

    fn names(&self) -> &[String] {
        &self.0.names
    }

    fn has_names(&self) -> bool {
        self.0.header
    }

    fn warnings(&self) -> &[String] {
        &self.0.warnings
    }

    fn rows(&self, origin: &Origin) -> Result<Records<Split>> {
        self.0.rows(origin)
    }

    fn fields(&self, text: &[u8], record: &Span, place: Place<'_>, to: &mut Vec<Field>) -> Result<()> {
        let expected = self.0.names.len();
        let found = fields::find(text, record.bytes.clone(), self.0.delimiter, expected, to);
        if found == expected {
            return Ok(());
        }
        Err(Error::FieldCount { file: place.file.to_owned(), line: place.line, expected, found })
    }

    fn unescape(field: &[u8], to: &mut Vec<u8>) {
        fields::unescape(field, to);
    }
}

#[cfg(test)]
mod tests {
    use csv_core::{ReadRecordResult, Reader};
    use proptest::prelude::*;

    use super::*;
    use crate::text::Cell;
    use crate::text::records::Splitter;

    /// Records as csv-core reads them, of a text that ends outside of quotes.
    fn by_csv_core(text: &[u8]) -> Vec<Vec<Vec<u8>>> {
        let (mut reader, input) = (Reader::new(), [text, b"\n"].concat());
        let (mut out, mut ends, mut at, mut records) = (vec![0; 4096], vec![0; 256], 0, Vec::new());
        // Its first bytes are no byte order mark.
        reader.read_record(b"\n", &mut [0], &mut [0]);
        while at < input.len() {
            let (result, read, _, count) = reader.read_record(&input[at..], &mut out, &mut ends);
            at += read;
            if let ReadRecordResult::Record = result {
                let starts = std::iter::once(0).chain(ends.iter().copied());
                records.push(
                    ends[..count].iter().zip(starts).map(|(&end, start)| out[start..end].to_vec()).collect(),
                );
            }
        }
        records
    }

    /// Whether a text ends outside of quotes, by the rule of RFC 4180 that quotes open at the start of a field.
    fn ends_between(text: &[u8]) -> bool {
        let (mut quoted, mut at, mut starts) = (false, 0, true);
        while at < text.len() {
            match (text[at], quoted) {
                (b'"', true) if text.get(at + 1) == Some(&b'"') => at += 1,
                (b'"', true) => quoted = false,
                (b'"', false) if starts => quoted = true,
                _ => {}
            }
            starts = !quoted && matches!(text[at], b',' | b'\n' | b'\r');
            at += 1;
        }
        !quoted
    }

    /// The same by what is here.
    fn records(text: &[u8]) -> Vec<Vec<Vec<u8>>> {
        let (mut split, mut records) = (Split::new(b',', 1), Vec::new());
        while let Some(span) = split.next(text, true).unwrap() {
            let (mut found, most) = (Vec::new(), span.bytes.len() + 1);
            let count = fields::find(text, span.bytes, b',', most, &mut found);
            assert_eq!(count, found.len());
            let spelled = |field: &Field| match field.cell(text, Csv::unescape, &mut Vec::new()) {
                Cell::Text(bytes) => bytes.to_vec(),
                other => panic!("{other:?}"),
            };
            records.push(found.iter().map(spelled).collect());
        }
        records
    }

    /// Bytes that mean something, in any order.
    fn soup() -> impl Strategy<Value = Vec<u8>> {
        let pieces = ["\"", "\"\"", ",", "\n", "\r\n", "\r", "a", "bc", " ", "é"];
        prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..30)
            .prop_map(|pieces| pieces.concat().into())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn fields_are_those_of_csv_core(text in soup()) {
            if ends_between(&text) {
                prop_assert_eq!(records(&text), by_csv_core(&text));
            } else {
                let mut split = Split::new(b',', 1);
                let is_open = loop {
                    match split.next(&text, true) {
                        Ok(Some(_)) => {}
                        Ok(None) => break false,
                        Err(_) => break true,
                    }
                };
                prop_assert!(is_open);
            }
        }
    }
}

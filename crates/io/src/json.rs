//! JSON: one object a row, its keys the columns.
//!
//! ```text
//! {"size": 120, "rooms": 4, "price": 350}
//! {"size": 80, "price": 199.5, "street": "Long Lane"}
//! ```
//!
//! Objects stand one after another, a line each or not, or in one array. Columns are in the order in which their keys are first met; a key that an object
//! lacks, and `null`, are missing cells. A value counts as what its text spells, as in a CSV file: `"5"` and `5` are one cell. Lists and objects inside
//! are refused, unless their column is ignored. Files that are one table have the same keys.

mod split;

use std::collections::HashSet;
use std::fmt;
use std::path::Path;

use bochner::{Engine, Event};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::{Error, Place, Result, shortened};
use crate::input::Input;
use crate::names::Positions;
use crate::options::Options;
use crate::origin::Origin;
use crate::text::records::{InHand, Records, Span};
use crate::text::rounds::in_pieces;
use crate::text::{Field, MOST_FIELDS, TextFormat};
use split::Split;

/// Keys that may be missing from as many objects as they are.
const FEW_KEYS: usize = 1000;

/// How many times the keys of a file may be those of an object, beyond these.
const MOST_MISSING: f64 = 100.0;

/// A JSON file whose keys have been read.
pub(crate) struct Json {
    names: Vec<String>,
    positions: Positions,
}

impl TextFormat for Json {
    type Splitter = Split;

    /// Reads all keys.
    fn open(engine: &Engine, origin: &Origin, _: &Options) -> bochner::Result<Json> {
        let phase = "columns";
        engine.tell(&Event::Started { phase })?;
        let mut records = Records::new(Input::text(origin)?, Split::default());
        let (mut all, mut rows) = (Keys::default(), 0);
        loop {
            let pieces = in_pieces(engine, &mut records, &|some| {
                let mut keys = Keys::default();
                some.records.iter().try_for_each(|record| keys.absorb(some, record)).map(|()| keys)
            })?;
            if pieces.is_empty() {
                break;
            }
            for keys in pieces {
                all.merge(keys?);
                all.check(origin.file.as_path(), 1)?;
            }
            rows += records.in_hand().records.len() as u64;
            engine.tell(&Event::Progress { phase, rows, fraction: records.input().fraction() })?;
        }
        engine.tell(&Event::Finished { phase })?;
        let (Keys { names, count, .. }, file) = (all, origin.file.clone());
        if names.is_empty() {
            return Err(Error::NoColumns { file }.into());
        }
        // Every row has a cell for each key: what a file asks for stays within some times its size.
        let mean = count as f64 / rows as f64;
        if names.len() > FEW_KEYS && names.len() as f64 > MOST_MISSING * mean {
            return Err(Error::ManyKeys { file, found: names.len(), mean }.into());
        }
        Ok(Json { positions: Positions::of(&names), names })
    }

    fn names(&self) -> &[String] {
        &self.names
    }

    fn rows(&self, origin: &Origin) -> Result<Records<Split>> {
        Ok(Records::new(Input::text(origin)?, Split::default()))
    }

    fn fields(&self, text: &[u8], record: &Span, place: Place<'_>, to: &mut Vec<Field>) -> Result<()> {
        let first = to.len();
        to.resize(first + self.names.len(), Field::MISSING);
        let fields = &mut to[first..];
        let mut next = 0;
        each(text, record, place, &mut |key, value| {
            // Most objects have their keys in one order.
            let at = if self.names.get(next).is_some_and(|name| name == key) {
                next
            } else {
                let changed = || Error::Changed { file: place.file.to_owned() };
                self.positions.get(key).ok_or_else(changed)?
            };
            next = at + 1;
            fields[at] = field(text, value);
            Ok(())
        })
    }

    fn unescape(field: &[u8], to: &mut Vec<u8>) {
        match serde_json::from_slice::<String>(field) {
            Ok(text) => to.extend_from_slice(text.as_bytes()),
            // Half of a surrogate pair is no character: the cell stays as it is written.
            Err(_) => to.extend_from_slice(&field[1..field.len() - 1]),
        }
    }
}

/// Keys in the order in which they are first met.
#[derive(Default)]
struct Keys {
    names: Vec<String>,
    seen: HashSet<String>,
    /// Of all objects together.
    count: u64,
}

impl Keys {
    fn absorb(&mut self, of: InHand<'_>, record: &Span) -> Result<()> {
        each(of.text, record, of.place(record), &mut |key, _| {
            self.count += 1;
            if !self.seen.contains(key) {
                self.add(key.to_owned());
            }
            self.check(of.file, record.line)
        })
    }

    fn merge(&mut self, other: Keys) {
        self.count += other.count;
        for key in other.names {
            if !self.seen.contains(&key) {
                self.add(key);
            }
        }
    }

    /// There are no more than a table may have columns.
    fn check(&self, file: &Path, line: u64) -> Result<()> {
        if self.names.len() <= MOST_FIELDS {
            return Ok(());
        }
        Err(Error::TooManyFields { file: file.to_owned(), line, limit: MOST_FIELDS })
    }

    fn add(&mut self, key: String) {
        self.seen.insert(key.clone());
        self.names.push(key);
    }
}

/// Where the text of a value is.
fn field(text: &[u8], value: &str) -> Field {
    let start = value.as_ptr() as usize - text.as_ptr() as usize;
    let end = start + value.len();
    match value.as_bytes() {
        [b'{' | b'[', ..] => Field::NESTED,
        b"null" => Field::MISSING,
        [b'"', inside @ .., b'"'] if !inside.contains(&b'\\') => Field::plain(start + 1, end - 1),
        [b'"', ..] => Field::escaped(start, end),
        _ => Field::plain(start, end),
    }
}

/// Calls `see` for the keys of an object and the texts of their values, which are parts of `text`.
fn each<'a>(
    text: &'a [u8],
    record: &Span,
    place: Place<'_>,
    see: &mut dyn FnMut(&str, &'a str) -> Result<()>,
) -> Result<()> {
    struct Object<'s, 'a>(&'s mut dyn FnMut(&str, &'a str) -> Result<()>);

    impl<'a> Visitor<'a> for Object<'_, 'a> {
        type Value = Result<()>;

        fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
            to.write_str("an object")
        }

        fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> std::result::Result<Result<()>, A::Error> {
            while let Some(Key(key)) = map.next_key()? {
                let value: &RawValue = map.next_value()?;
                if let Err(error) = (self.0)(&key, value.get()) {
                    return Ok(Err(error));
                }
            }
            Ok(Ok(()))
        }
    }

    let object = place.text(&text[record.bytes.clone()])?;
    let mut json = serde_json::Deserializer::from_str(object);
    json.deserialize_map(Object(see)).unwrap_or_else(|error| {
        let (text, line) = (error.to_string(), place.line + error.line() as u64 - 1);
        let reason = shortened(text.split(" at line ").next().unwrap_or_default());
        Err(Error::Json { file: place.file.to_owned(), line, reason })
    })
}

/// A key, as it stands where it has no escapes.
struct Key<'a>(std::borrow::Cow<'a, str>);

impl<'a> serde::Deserialize<'a> for Key<'a> {
    fn deserialize<D: Deserializer<'a>>(from: D) -> std::result::Result<Key<'a>, D::Error> {
        struct Text;

        impl<'a> Visitor<'a> for Text {
            type Value = Key<'a>;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, text: &'a str) -> std::result::Result<Key<'a>, E> {
                Ok(Key(text.into()))
            }

            fn visit_str<E>(self, text: &str) -> std::result::Result<Key<'a>, E> {
                Ok(Key(text.to_owned().into()))
            }
        }

        from.deserialize_str(Text)
    }
}

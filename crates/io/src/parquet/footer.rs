//! The end of a Parquet file: what its columns are, and where their chunks lie.
//!
//! ```text
//! PAR1 ⟨chunks of columns⟩ ⟨description, in Thrift⟩ ⟨length, 4 bytes⟩ PAR1
//! ```

use std::iter::repeat_n;

use crate::fault::{Fault, Outcome, at_most};
use crate::origin::Shared;
use crate::packing::Packing;

use super::schema::{self, Element, Field};
use super::thrift::{Kind, Thrift};
use super::{MOST_CHUNKS, MOST_COLUMNS, MOST_FOOTER};
use crate::arrow::ROWS_A_BYTE;

const MAGIC: &[u8] = b"PAR1";
const ENCRYPTED: &[u8] = b"PARE";

/// What the end of a file says, of columns that are no single values only what they are.
pub(super) struct Footer {
    pub(super) fields: Vec<Field>,
    pub(super) groups: Vec<Group>,
    pub(super) rows: u64,
    /// Bytes of the file.
    pub(super) size: u64,
}

/// Rows that lie together.
pub(super) struct Group {
    pub(super) rows: u64,
    /// Of each column, as far as it is read.
    pub(super) chunks: Vec<Option<Chunk>>,
}

/// A column of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    /// Where it lies.
    pub(super) start: u64,
    pub(super) size: u64,
    /// Its size when it is unpacked.
    pub(super) unpacked: u64,
    pub(super) packing: Packing,
    /// The bits of the smallest and of the largest value, where these are of 8 bytes.
    pub(super) range: Option<[i64; 2]>,
}

impl Footer {
    pub(super) fn read(bytes: &Shared) -> Outcome<Footer> {
        let size = bytes.size()?;
        let mut ends = [[0; 4]; 2];
        let mut tail = [0; 8];
        if size < 12 {
            return Err(Fault::damaged(format!("{size} bytes, at least 12 were expected")));
        }
        bytes.read_at(0, &mut ends[0])?;
        bytes.read_at(size - 8, &mut tail)?;
        ends[1].copy_from_slice(&tail[4..]);
        if ends.iter().any(|end| end == ENCRYPTED) {
            return Err(encrypted());
        }
        if ends.iter().any(|end| end != MAGIC) {
            return Err(Fault::damaged("it does not begin and end with PAR1"));
        }
        let length = u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]);
        let length = at_most("bytes of a description", length, MOST_FOOTER)?;
        if length > size - 12 {
            let reason = format!("a description of {length} bytes in a file of {size}");
            return Err(Fault::damaged(reason));
        }
        let mut description = vec![0; length as usize];
        let start = size - 8 - length;
        bytes.read_at(start, &mut description)?;
        parse(&description, start)
    }
}

fn encrypted() -> Fault {
    Fault::NotRead { expected: "a file that is not encrypted", found: "an encrypted one".to_owned() }
}

/// Chunks have to lie before `end`.
fn parse(description: &[u8], end: u64) -> Outcome<Footer> {
    let (mut elements, mut groups, mut hint) = (Vec::new(), None, None);
    let mut is_encrypted = false;
    Thrift::new(description).fields(|thrift, id, kind| {
        match id {
            2 => thrift.list(kind, |thrift, kind| {
                at_most("columns", elements.len() as u64, MOST_COLUMNS)?;
                elements.push(Element::read(thrift, kind)?);
                Ok(())
            })?,
            4 => groups = Some((thrift.clone(), kind)),
            5 => thrift.list(kind, |thrift, kind| {
                hint = key_value(thrift, kind)?.or(hint);
                Ok(())
            })?,
            8 => is_encrypted = true,
            _ => {}
        }
        Ok(())
    })?;
    if is_encrypted {
        return Err(encrypted());
    }
    let fields = schema::fields(&elements, hint)?;
    let leaves: usize = fields.iter().map(|field| field.leaves.max(1)).sum();
    let (mut thrift, kind) = groups.ok_or_else(|| Fault::damaged("no list of row groups"))?;
    let mut found = Vec::new();
    thrift.list(kind, |thrift, kind| {
        let chunks = (found.len() as u64 + 1).saturating_mul(leaves as u64);
        at_most("column chunks", chunks, MOST_CHUNKS)?;
        found.push(group(thrift, kind, &fields)?);
        Ok(())
    })?;
    let (mut rows, mut places) = (0u64, Vec::new());
    for group in &found {
        rows = rows.saturating_add(group.rows);
        for chunk in group.chunks.iter().flatten() {
            if chunk.start < 4 || chunk.start.saturating_add(chunk.size) > end {
                let Chunk { start, size, .. } = chunk;
                let reason =
                    format!("a column chunk of {size} bytes at {start}, beyond the data's end at {end}");
                return Err(Fault::damaged(reason));
            }
            places.push(chunk.start..chunk.start + chunk.size);
        }
    }
    places.retain(|place| !place.is_empty());
    places.sort_by_key(|place| place.start);
    if !places.is_sorted_by(|one, next| one.end <= next.start) {
        return Err(Fault::damaged("column chunks that lie in one another"));
    }
    at_most("rows for its size", rows, end.saturating_mul(ROWS_A_BYTE))?;
    Ok(Footer { fields, groups: found, rows, size: end })
}

/// The Arrow schema, if the pair is that.
fn key_value<'a>(thrift: &mut Thrift<'a>, kind: Kind) -> Outcome<Option<&'a [u8]>> {
    let (mut key, mut value) = (&b""[..], None);
    structure(thrift, kind, |thrift, id, kind| {
        match id {
            1 => key = thrift.binary(kind)?,
            2 => value = Some(thrift.binary(kind)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(value.filter(|_| key == b"ARROW:schema"))
}

/// A struct in a list.
pub(super) fn structure<'a>(
    thrift: &mut Thrift<'a>,
    kind: Kind,
    see: impl FnMut(&mut Thrift<'a>, i16, Kind) -> Outcome<()>,
) -> Outcome<()> {
    if kind != Kind::Struct {
        return Err(Fault::damaged("something else where a struct should be"));
    }
    thrift.fields(see)
}

/// What a chunk says.
#[derive(Default)]
struct Claims {
    is_elsewhere: bool,
    is_encrypted: bool,
    codec: Option<i64>,
    values: Option<i64>,
    unpacked: Option<i64>,
    size: Option<i64>,
    data: Option<i64>,
    dictionary: Option<i64>,
    least: Option<i64>,
    most: Option<i64>,
}

impl Claims {
    fn read(thrift: &mut Thrift<'_>, kind: Kind) -> Outcome<Claims> {
        let mut claims = Claims::default();
        structure(thrift, kind, |thrift, id, kind| {
            match id {
                1 => claims.is_elsewhere = !thrift.binary(kind)?.is_empty(),
                3 => claims.details(thrift, kind)?,
                8 | 9 => claims.is_encrypted = true,
                _ => {}
            }
            Ok(())
        })?;
        Ok(claims)
    }

    fn details(&mut self, thrift: &mut Thrift<'_>, kind: Kind) -> Outcome<()> {
        structure(thrift, kind, |thrift, id, kind| {
            let to = match id {
                4 => &mut self.codec,
                5 => &mut self.values,
                6 => &mut self.unpacked,
                7 => &mut self.size,
                9 => &mut self.data,
                11 => &mut self.dictionary,
                12 => return self.statistics(thrift, kind),
                _ => return Ok(()),
            };
            *to = Some(thrift.integer(kind)?);
            Ok(())
        })
    }

    fn statistics(&mut self, thrift: &mut Thrift<'_>, kind: Kind) -> Outcome<()> {
        structure(thrift, kind, |thrift, id, kind| {
            let to = match id {
                1 | 5 => &mut self.most,
                2 | 6 => &mut self.least,
                _ => return Ok(()),
            };
            *to = thrift.binary(kind)?.try_into().ok().map(i64::from_le_bytes);
            Ok(())
        })
    }

    /// What is to be read, if that is all there.
    fn chunk(&self, rows: u64, field: &Field) -> Outcome<Option<Chunk>> {
        if self.is_encrypted {
            return Err(encrypted());
        }
        if self.is_elsewhere {
            let found = "one that points to other files".to_owned();
            return Err(Fault::NotRead { expected: "a file that holds its columns", found });
        }
        if field.flat().is_none() {
            return Ok(None);
        }
        let number = |what: &str, found: Option<i64>| {
            let reason = || Fault::damaged(format!("no {what} of column \"{}\"", field.name));
            found.and_then(|found| u64::try_from(found).ok()).ok_or_else(reason)
        };
        let data = number("place", self.data)?;
        let dictionary = self.dictionary.and_then(|at| u64::try_from(at).ok());
        let start = dictionary.filter(|at| *at > 0 && *at < data).unwrap_or(data);
        let values = number("number of values", self.values)?;
        if values != rows {
            let reason = format!("{values} values of column \"{}\" in {rows} rows", field.name);
            return Err(Fault::damaged(reason));
        }
        Ok(Some(Chunk {
            start,
            size: number("size", self.size)?,
            unpacked: number("unpacked size", self.unpacked)?,
            packing: Packing::of(self.codec.unwrap_or(-1))?,
            range: self.least.zip(self.most).map(|(least, most)| [least, most]),
        }))
    }
}

fn group(thrift: &mut Thrift<'_>, kind: Kind, fields: &[Field]) -> Outcome<Group> {
    let (mut columns, mut rows) = (None, None);
    structure(thrift, kind, |thrift, id, kind| {
        match id {
            1 => columns = Some((thrift.clone(), kind)),
            3 => rows = Some(thrift.integer(kind)?),
            _ => {}
        }
        Ok(())
    })?;
    let (mut columns, kind) = columns.ok_or_else(|| Fault::damaged("a row group without columns"))?;
    let rows = rows.and_then(|rows| u64::try_from(rows).ok());
    let rows = rows.ok_or_else(|| Fault::damaged("a row group without a number of rows"))?;
    let mut leaves = fields.iter().enumerate().flat_map(|(j, field)| repeat_n(j, field.leaves));
    let mut chunks = vec![None; fields.len()];
    columns.list(kind, |thrift, kind| {
        let j = leaves.next().ok_or_else(|| Fault::damaged("more column chunks than columns"))?;
        chunks[j] = Claims::read(thrift, kind)?.chunk(rows, &fields[j])?;
        Ok(())
    })?;
    match leaves.next() {
        Some(_) => Err(Fault::damaged("fewer column chunks than columns")),
        None => Ok(Group { rows, chunks }),
    }
}

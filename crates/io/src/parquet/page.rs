//! The pages of a column chunk: their headers, walked here before a byte is taken for them, and what is in them.

use crate::budget::{Budget, Share};
use crate::fault::{Fault, Outcome, at_most};
use crate::origin::Shared;
use crate::packing::Packing;

use super::MOST_PAGE;
use super::footer::{Chunk, structure};
use super::thrift::{Kind, Thrift};

/// How the values of a page are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Plain,
    Dictionary,
    /// Truth values in runs.
    Runs,
    Delta,
    DeltaLengths,
    DeltaBytes,
    Split,
}

/// A page that has been unpacked.
pub(super) enum Page {
    Dictionary { bytes: Vec<u8>, values: usize },
    Data(DataPage),
}

/// Values, with those that are missing.
pub(super) struct DataPage {
    pub(super) bytes: Vec<u8>,
    pub(super) rows: usize,
    pub(super) encoding: Encoding,
    /// Where it says which cells are there; none where all are.
    pub(super) levels: Option<(usize, usize)>,
    /// Where the values begin.
    pub(super) start: usize,
}

/// The pages of a chunk in their order.
pub(super) struct Pages {
    bytes: Shared,
    chunk: Chunk,
    at: u64,
    is_optional: bool,
    budget: Budget,
}

/// What the header of a page says.
#[derive(Default)]
struct Header {
    length: u64,
    kind: i64,
    unpacked: u64,
    packed: u64,
    values: i64,
    encoding: i64,
    /// Of version 1: how it is written which cells are there.
    levels: i64,
    /// Of version 2: bytes before the values, which are not packed.
    repetition: i64,
    definition: i64,
    is_plain: bool,
}

impl Pages {
    pub(super) fn new(bytes: Shared, chunk: Chunk, is_optional: bool, budget: Budget) -> Pages {
        Pages { bytes, chunk, at: 0, is_optional, budget }
    }

    /// Of all that is held of the file.
    pub(super) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The next page, and what it takes of the budget; none after the last.
    pub(super) fn next(&mut self) -> Outcome<Option<(Page, Share)>> {
        const INDEX: i64 = 1;
        const DICTIONARY: i64 = 2;
        while self.at < self.chunk.size {
            let header = self.header()?;
            self.at += header.length;
            let start = self.chunk.start + self.at;
            self.at += header.packed;
            if header.kind == INDEX {
                continue;
            }
            // The values of a dictionary are held with where each ends.
            let copies = if header.kind == DICTIONARY { 2 } else { 1 };
            let share = self.budget.take(copies * header.unpacked as usize)?;
            let mut packed = vec![0; header.packed as usize];
            self.bytes.read_at(start, &mut packed)?;
            return Ok(Some((self.page(&header, packed)?, share)));
        }
        Ok(None)
    }

    /// The header that stands here, its claims compared with those of the chunk.
    fn header(&self) -> Outcome<Header> {
        /// Bytes that are looked at, as often as they are too few: statistics may hold texts.
        const LOOKED_AT: [u64; 4] = [128, 4 << 10, 256 << 10, 16 << 20];
        let left = self.chunk.size - self.at;
        let mut found = Err(Fault::damaged("a page without a header"));
        for most in LOOKED_AT {
            let mut bytes = vec![0; most.min(left) as usize];
            self.bytes.read_at(self.chunk.start + self.at, &mut bytes)?;
            found = Header::read(&bytes);
            if found.is_ok() || most >= left {
                break;
            }
        }
        let header = found?;
        at_most("bytes in a page", header.unpacked.max(header.packed), MOST_PAGE)?;
        if header.length + header.packed > left || header.unpacked > self.chunk.unpacked {
            let Header { length, packed, unpacked, .. } = header;
            let (bytes, all) = (length + packed, self.chunk.unpacked);
            return Err(Fault::damaged(format!(
                "a page of {bytes} bytes, {unpacked} unpacked, where its column has {left} left, {all} unpacked"
            )));
        }
        Ok(header)
    }

    fn page(&self, header: &Header, packed: Vec<u8>) -> Outcome<Page> {
        let count = |what, found| at_most(what, found, u64::from(u32::MAX)).map(|count| count as usize);
        let (packing, size) = (self.chunk.packing, header.unpacked as usize);
        let values = count("values in a page", header.values)?;
        match header.kind {
            0 => {
                let bytes = packing.unpacked(packed, size)?;
                let (mut levels, mut start) = (None, 0);
                if self.is_optional {
                    /// Runs; what was there before them is no longer written.
                    const RUNS: i64 = 3;
                    if header.levels != RUNS {
                        let found = format!("some in encoding {}", header.levels);
                        return Err(Fault::NotRead { expected: "missing cells written as runs", found });
                    }
                    let cut = || Fault::damaged("a page that ends before its values");
                    let length = bytes.first_chunk::<4>().ok_or_else(cut)?;
                    let end = u32::from_le_bytes(*length) as usize + 4;
                    (levels, start) = (Some((4, end)), end);
                    bytes.get(..end).ok_or_else(cut)?;
                }
                let encoding = Encoding::of(header.encoding)?;
                Ok(Page::Data(DataPage { bytes, rows: values, encoding, levels, start }))
            }
            2 => {
                // The encoding of a dictionary is plain, whatever it is called.
                if ![0, 2].contains(&header.encoding) {
                    return Err(not_read(header.encoding));
                }
                Ok(Page::Dictionary { bytes: packing.unpacked(packed, size)?, values })
            }
            3 => {
                let lengths = [header.repetition, header.definition];
                let [repetition, definition] =
                    [count("bytes of levels", lengths[0])?, count("bytes of levels", lengths[1])?];
                let start = repetition + definition;
                if start > packed.len() || start > size {
                    return Err(Fault::damaged("a page that ends before its values"));
                }
                let bytes = if header.is_plain {
                    Packing::Plain.unpacked(packed, size)?
                } else if start == packed.len() && start == size {
                    packed
                } else {
                    let values = packing.unpacked(packed[start..].to_vec(), size - start)?;
                    let mut bytes = packed;
                    bytes.truncate(start);
                    bytes.extend(values);
                    bytes
                };
                let levels = self.is_optional.then_some((repetition, start));
                let encoding = Encoding::of(header.encoding)?;
                Ok(Page::Data(DataPage { bytes, rows: values, encoding, levels, start }))
            }
            other => Err(Fault::damaged(format!("a page of the unknown kind {other}"))),
        }
    }
}

impl Header {
    fn read(bytes: &[u8]) -> Outcome<Header> {
        let mut header = Header::default();
        let mut thrift = Thrift::new(bytes);
        let (mut kind_of, mut sizes) = (None, [None; 2]);
        thrift.fields(|thrift, id, kind| {
            match id {
                1 => kind_of = Some(thrift.integer(kind)?),
                2 | 3 => sizes[id as usize - 2] = Some(thrift.integer(kind)?),
                5 | 7 | 8 => header.details(id, thrift, kind)?,
                _ => {}
            }
            Ok(())
        })?;
        let missing = || Fault::damaged("a page without its kind or its sizes");
        let size = |size: Option<i64>| size.and_then(|size| u64::try_from(size).ok()).ok_or_else(missing);
        header.kind = kind_of.ok_or_else(missing)?;
        (header.unpacked, header.packed) = (size(sizes[0])?, size(sizes[1])?);
        header.length = thrift.position() as u64;
        Ok(header)
    }

    /// What pages of one kind say: data of version 1, dictionary, data of version 2.
    fn details(&mut self, of: i16, thrift: &mut Thrift<'_>, kind: Kind) -> Outcome<()> {
        structure(thrift, kind, |thrift, id, kind| {
            let to = match (of, id) {
                (_, 1) => &mut self.values,
                (5 | 7, 2) | (8, 4) => &mut self.encoding,
                (5, 3) => &mut self.levels,
                (8, 5) => &mut self.definition,
                (8, 6) => &mut self.repetition,
                (8, 7) => {
                    self.is_plain = kind == Kind::Truth(false);
                    return Ok(());
                }
                _ => return Ok(()),
            };
            *to = thrift.integer(kind)?;
            Ok(())
        })
    }
}

impl Encoding {
    fn of(code: i64) -> Outcome<Encoding> {
        Ok(match code {
            0 => Encoding::Plain,
            2 | 8 => Encoding::Dictionary,
            3 => Encoding::Runs,
            5 => Encoding::Delta,
            6 => Encoding::DeltaLengths,
            7 => Encoding::DeltaBytes,
            9 => Encoding::Split,
            _ => return Err(not_read(code)),
        })
    }
}

fn not_read(code: i64) -> Fault {
    Fault::NotRead { expected: "values in an encoding that is known", found: format!("encoding {code}") }
}

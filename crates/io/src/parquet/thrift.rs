//! Thrift's compact protocol, as far as Parquet needs it: structs that are walked field by field, in place.
//!
//! Nothing is allocated. Whatever claims to be longer than the bytes at hand is an error.

use crate::fault::{Fault, Outcome};

/// Structs and lists inside one another.
const MOST_NESTING: u32 = 32;

/// The bytes end before what they claim.
const CUT: &str = "a description that ends too soon";

/// What a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Truth(bool),
    Byte,
    /// Of 16, 32 or 64 bits.
    Integer,
    Double,
    Binary,
    List,
    Map,
    Struct,
}

impl Kind {
    fn of(code: u8) -> Outcome<Kind> {
        Ok(match code {
            1 => Kind::Truth(true),
            2 => Kind::Truth(false),
            3 => Kind::Byte,
            4..=6 => Kind::Integer,
            7 => Kind::Double,
            8 => Kind::Binary,
            9 | 10 => Kind::List,
            11 => Kind::Map,
            12 => Kind::Struct,
            _ => return Err(wrong("a field of an unknown type")),
        })
    }

    /// The same in a list or a map, where truth values are bytes.
    fn of_element(code: u8) -> Outcome<Kind> {
        Ok(match Kind::of(code)? {
            Kind::Truth(_) => Kind::Byte,
            other => other,
        })
    }
}

fn wrong(what: &str) -> Fault {
    Fault::damaged(what)
}

/// A place in the bytes.
#[derive(Clone)]
pub(super) struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: u32,
}

impl<'a> Thrift<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Thrift { bytes, at: 0, depth: 0 }
    }

    /// Bytes that were read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    fn take(&mut self, count: u64) -> Outcome<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let count =
            usize::try_from(count).ok().filter(|count| *count <= rest.len()).ok_or_else(|| wrong(CUT))?;
        self.at += count;
        Ok(&rest[..count])
    }

    fn byte(&mut self) -> Outcome<u8> {
        Ok(self.take(1)?[0])
    }

    fn varint(&mut self) -> Outcome<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(wrong("a number of more than 64 bits"))
    }

    fn signed(&mut self) -> Outcome<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A struct: `see` is shown each field and reads it, or leaves it where it stands: then it is skipped.
    pub(super) fn fields(
        &mut self,
        mut see: impl FnMut(&mut Thrift<'a>, i16, Kind) -> Outcome<()>,
    ) -> Outcome<()> {
        self.deeper()?;
        let mut id = 0i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                self.depth -= 1;
                return Ok(());
            }
            let kind = Kind::of(head & 0xf)?;
            id = if head >> 4 == 0 { self.signed()? } else { id + i64::from(head >> 4) };
            let id = i16::try_from(id).map_err(|_| wrong("a field of an impossible number"))?;
            let before = self.at;
            see(self, id, kind)?;
            if self.at == before {
                self.skip(kind)?;
            }
        }
    }

    /// A list: `see` is shown each element and has to read it.
    pub(super) fn list(
        &mut self,
        kind: Kind,
        mut see: impl FnMut(&mut Thrift<'a>, Kind) -> Outcome<()>,
    ) -> Outcome<()> {
        if kind != Kind::List {
            return Err(wrong("something else where a list should be"));
        }
        self.deeper()?;
        let head = self.byte()?;
        let count = if head >> 4 == 0xf { self.varint()? } else { u64::from(head >> 4) };
        let element = Kind::of_element(head & 0xf)?;
        // Every element has a byte at least.
        if count > (self.bytes.len() - self.at) as u64 {
            return Err(wrong(CUT));
        }
        for _ in 0..count {
            see(self, element)?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// The element or field that stands here.
    pub(super) fn skip(&mut self, kind: Kind) -> Outcome<()> {
        match kind {
            Kind::Truth(_) => {}
            Kind::Byte => drop(self.byte()?),
            Kind::Integer => drop(self.varint()?),
            Kind::Double => drop(self.take(8)?),
            Kind::Binary => drop(self.binary(kind)?),
            Kind::List => self.list(kind, |inner, kind| inner.skip(kind))?,
            Kind::Map => self.skip_map()?,
            Kind::Struct => self.fields(|_, _, _| Ok(()))?,
        }
        Ok(())
    }

    fn skip_map(&mut self) -> Outcome<()> {
        let count = self.varint()?;
        if count == 0 {
            return Ok(());
        }
        self.deeper()?;
        let kinds = self.byte()?;
        let (key, value) = (Kind::of_element(kinds >> 4)?, Kind::of_element(kinds & 0xf)?);
        for _ in 0..count {
            self.skip(key)?;
            self.skip(value)?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn deeper(&mut self) -> Outcome<()> {
        self.depth += 1;
        if self.depth > MOST_NESTING { Err(wrong("structs too deep inside one another")) } else { Ok(()) }
    }

    /// The integer that stands here.
    pub(super) fn integer(&mut self, kind: Kind) -> Outcome<i64> {
        match kind {
            Kind::Integer => self.signed(),
            Kind::Byte => Ok(i64::from(self.byte()? as i8)),
            _ => Err(wrong("something else where an integer should be")),
        }
    }

    /// The bytes that stand here.
    pub(super) fn binary(&mut self, kind: Kind) -> Outcome<&'a [u8]> {
        if kind != Kind::Binary {
            return Err(wrong("something else where a text should be"));
        }
        let count = self.varint()?;
        self.take(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skip(bytes: &[u8]) -> Result<usize, String> {
        let mut thrift = Thrift::new(bytes);
        match thrift.skip(Kind::Struct) {
            Ok(()) => Ok(thrift.position()),
            Err(Fault::Damaged(reason)) => Err(reason),
            Err(other) => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn structs_are_skipped_whatever_is_in_them() {
        // 1: true, 2: i8 7, 3: i32 -1, 4: double, 5: "ab", 6: list of 2 i32, 7: map of a bool and a struct, 20: i64
        let whole = b"\x11\x13\x07\x15\x01\x17\0\0\0\0\0\0\0\0\x18\x02ab\x19\x25\x02\x04\x1b\x01\x1c\x01\0\x06\x28\x02\0";
        assert_eq!(skip(whole), Ok(whole.len()));
        for length in 0..whole.len() {
            assert_eq!(skip(&whole[..length]), Err(CUT.to_owned()), "{length}");
        }
    }

    #[test]
    fn claims_are_not_believed() {
        let cut = || Err(CUT.to_owned());
        assert_eq!(skip(b"\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), cut());
        assert_eq!(skip(b"\x19\xfc\xff\xff\xff\xff\x0f\0"), cut());
        assert_eq!(skip(b"\x1b\xff\xff\xff\xff\x0f\x11"), cut());
        let deep = Err("structs too deep inside one another".to_owned());
        assert_eq!(skip(&[0x1c; 100_000]), deep);
        assert_eq!(skip(&[&[0x19][..], &[0x19; 100_000]].concat()), deep);
        let long = b"\x15\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
        assert_eq!(skip(long), Err("a number of more than 64 bits".to_owned()));
        assert_eq!(skip(b"\x1d"), Err("a field of an unknown type".to_owned()));
    }
}

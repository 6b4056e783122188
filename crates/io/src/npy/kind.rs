//! The kinds of numbers that arrays hold: a letter and a number of bytes.

/// What an entry is, least byte first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    F4,
    F8,
    Boolean,
    Signed(usize),
    Unsigned(usize),
}

impl Kind {
    /// What `descr` says; none for other things than numbers with their least byte first.
    pub(super) fn of(descr: &str) -> Option<Kind> {
        let (order, rest) = descr.split_at_checked(1)?;
        let kind = match rest {
            "f4" => Kind::F4,
            "f8" => Kind::F8,
            "b1" => Kind::Boolean,
            "i1" => Kind::Signed(1),
            "i2" => Kind::Signed(2),
            "i4" => Kind::Signed(4),
            "i8" => Kind::Signed(8),
            "u1" => Kind::Unsigned(1),
            "u2" => Kind::Unsigned(2),
            "u4" => Kind::Unsigned(4),
            "u8" => Kind::Unsigned(8),
            _ => return None,
        };
        // One byte has no order.
        (order == "<" || (kind.bytes() == 1 && matches!(order, "|" | "=" | ">"))).then_some(kind)
    }

    /// Bytes of an entry.
    pub(super) fn bytes(self) -> usize {
        match self {
            Kind::F4 => 4,
            Kind::F8 => 8,
            Kind::Boolean => 1,
            Kind::Signed(bytes) | Kind::Unsigned(bytes) => bytes,
        }
    }

    /// An entry as the nearest f64.
    pub(super) fn number(self, bytes: &[u8]) -> f64 {
        match self {
            Kind::F4 => f64::from(f32::from_bits(word(bytes) as u32)),
            Kind::F8 => f64::from_bits(word(bytes)),
            Kind::Boolean => f64::from(u8::from(word(bytes) != 0)),
            Kind::Signed(_) => signed(bytes) as f64,
            Kind::Unsigned(_) => word(bytes) as f64,
        }
    }

    /// An entry in as few digits as it takes to read it back as the same number, in double precision: it may be a target.
    pub(super) fn text(self, bytes: &[u8]) -> String {
        match self {
            Kind::F4 | Kind::F8 | Kind::Boolean => self.number(bytes).to_string(),
            Kind::Signed(_) => signed(bytes).to_string(),
            Kind::Unsigned(_) => word(bytes).to_string(),
        }
    }
}

/// Up to eight bytes, the least first.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The same with a sign: the last bit of the last byte.
fn signed(bytes: &[u8]) -> i64 {
    let unused = 64 - 8 * bytes.len() as u32;
    (word(bytes) << unused) as i64 >> unused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_read() {
        let number = |descr: &str, bytes: &[u8]| vec![Kind::of(descr).unwrap().number(bytes)];
        let text = |descr: &str, bytes: &[u8]| Kind::of(descr).unwrap().text(bytes);
        assert_eq!(number("<f4", &0.1f32.to_le_bytes()), [f64::from(0.1f32)]);
        assert_eq!(number("<f8", &(-0.1f64).to_le_bytes()), [-0.1]);
        assert_eq!([number("|b1", &[0]), number("|b1", &[1])], [[0.0], [1.0]]);
        assert_eq!([number("|i1", &[0xff]), number("|u1", &[0xff])], [[-1.0], [255.0]]);
        assert_eq!(number("<i2", &(-300i16).to_le_bytes()), [-300.0]);
        assert_eq!(number("<u2", &65000u16.to_le_bytes()), [65000.0]);
        assert_eq!(number("<i4", &i32::MIN.to_le_bytes()), [f64::from(i32::MIN)]);
        assert_eq!(number("<u4", &u32::MAX.to_le_bytes()), [f64::from(u32::MAX)]);
        assert_eq!(number("<i8", &i64::MIN.to_le_bytes()), [i64::MIN as f64]);
        assert_eq!(number("<u8", &u64::MAX.to_le_bytes()), [u64::MAX as f64]);
        assert_eq!(text("<i8", &9_007_199_254_740_993i64.to_le_bytes()), "9007199254740993");
        assert_eq!(text("<u8", &u64::MAX.to_le_bytes()), "18446744073709551615");
        assert_eq!([text("<f8", &3f64.to_le_bytes()), text("|b1", &[7])], ["3", "1"]);
        assert_eq!(text("<f4", &0.1f32.to_le_bytes()), "0.10000000149011612");
    }

    #[test]
    fn other_kinds_are_none() {
        for descr in [
            "", "<", "é", "f8", ">f8", "=f8", "|f8", "|O", "<f2", "<c16", "<U5", "|S3", "<M8[ns]", "<f16",
            "<i3",
        ] {
            assert_eq!(Kind::of(descr), None, "{descr}");
        }
    }
}

//! Small integers in runs: either one value, repeated, or values of a few bits each, packed.
//!
//! ```text
//! run   ⟨2·count⟩ ⟨value, in whole bytes⟩   or   ⟨2·groups + 1⟩ ⟨8·groups values, least significant bit first⟩
//! ```

use crate::fault::{Fault, Outcome};

/// Runs, and where they are read.
pub(super) struct Hybrid {
    /// Bits of a value, at most 32.
    width: u32,
    at: usize,
    end: usize,
    run: Run,
}

#[derive(Clone, Copy)]
enum Run {
    Repeated {
        value: u32,
        left: u64,
    },
    /// The first bit, and values left.
    Packed {
        bit: usize,
        left: u64,
    },
}

impl Hybrid {
    /// Those in a part of a page.
    pub(super) fn new(width: u8, at: usize, end: usize) -> Outcome<Hybrid> {
        if width > 32 {
            return Err(Fault::damaged(format!("values of {width} bits in a page")));
        }
        Ok(Hybrid { width: width.into(), at, end, run: Run::Repeated { value: 0, left: 0 } })
    }

    /// Packed values without any runs, as many as there is room for.
    pub(super) fn packed(width: u32, at: usize, end: usize) -> Hybrid {
        let left = 8 * (end - at) as u64 / u64::from(width.max(1));
        Hybrid { width, at: end, end, run: Run::Packed { bit: 8 * at, left } }
    }

    /// The next value, if it is there `count` times; then they have been read.
    pub(super) fn repeated(&mut self, page: &[u8], count: usize) -> Outcome<Option<u32>> {
        self.start(page)?;
        match &mut self.run {
            Run::Repeated { value, left } if *left >= count as u64 => {
                *left -= count as u64;
                Ok(Some(*value))
            }
            _ => Ok(None),
        }
    }

    /// Appends the next values.
    pub(super) fn append(&mut self, page: &[u8], count: usize, to: &mut Vec<u32>) -> Outcome<()> {
        let mut wanted = count;
        while wanted > 0 {
            self.start(page)?;
            let width = self.width;
            match &mut self.run {
                Run::Repeated { value, left } => {
                    let count = usize::try_from(*left).unwrap_or(usize::MAX).min(wanted);
                    to.resize(to.len() + count, *value);
                    *left -= count as u64;
                    wanted -= count;
                }
                Run::Packed { bit, left } => {
                    let count = usize::try_from(*left).unwrap_or(usize::MAX).min(wanted);
                    append_packed(&page[..self.end], *bit, width, count, to);
                    *bit += count * width as usize;
                    *left -= count as u64;
                    wanted -= count;
                }
            }
        }
        Ok(())
    }

    /// Goes on to the next run where this one is over.
    fn start(&mut self, page: &[u8]) -> Outcome<()> {
        let cut = || Fault::damaged("fewer values in a page than it announces");
        while let Run::Repeated { left: 0, .. } | Run::Packed { left: 0, .. } = self.run {
            let bytes = page.get(..self.end).ok_or_else(cut)?;
            let head = varint(bytes, &mut self.at).ok_or_else(cut)?;
            if head & 1 == 0 {
                let size = self.width.div_ceil(8) as usize;
                let found = bytes.get(self.at..self.at + size).ok_or_else(cut)?;
                let mut value = [0; 4];
                value[..size].copy_from_slice(found);
                self.at += size;
                let value = u32::from_le_bytes(value);
                if u64::from(value) >> self.width > 0 {
                    return Err(Fault::damaged(format!("{value} in {} bits", self.width)));
                }
                self.run = Run::Repeated { value, left: head >> 1 };
            } else {
                // The last run may be cut off where the values end.
                let room = 8 * (self.end - self.at) as u64;
                let values = (head >> 1).saturating_mul(8);
                let left = match u64::from(self.width) {
                    0 => values,
                    width => values.min(room / width),
                };
                if left == 0 && values > 0 {
                    return Err(cut());
                }
                self.run = Run::Packed { bit: 8 * self.at, left };
                let bytes = (left * u64::from(self.width)).div_ceil(8);
                self.at += bytes as usize;
            }
        }
        Ok(())
    }
}

/// A number in groups of seven bits.
pub(super) fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// Appends packed values, all of which are there.
fn append_packed(bytes: &[u8], first_bit: usize, width: u32, count: usize, to: &mut Vec<u32>) {
    let mask = (1u64 << width) - 1;
    to.extend((0..count).map(|i| {
        let bit = first_bit + i * width as usize;
        (word(bytes, bit / 8) >> (bit % 8) & mask) as u32
    }));
}

/// Eight bytes from here, zeros beyond the end.
pub(super) fn word(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(whole) => u64::from_le_bytes(*whole),
        None => {
            let rest = bytes.get(at..).unwrap_or_default();
            rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(width: u8, page: &[u8], counts: &[usize]) -> Option<Vec<u32>> {
        let mut runs = Hybrid::new(width, 0, page.len()).ok()?;
        let mut found = Vec::new();
        for &count in counts {
            match runs.repeated(page, count).ok()? {
                Some(value) => found.resize(found.len() + count, value),
                None => runs.append(page, count, &mut found).ok()?,
            }
        }
        Some(found)
    }

    #[test]
    fn runs_of_both_kinds() {
        // Five sevens; 0 to 7 in three bits; 300 twice in the width 9 elsewhere.
        let page = [10, 7, 3, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        let expected = [7, 7, 7, 7, 7, 0, 1, 2, 3, 4, 5, 6, 7];
        for counts in [&[13][..], &[5, 8], &[4, 9], &[3, 2, 1, 1, 6], &[1; 13]] {
            assert_eq!(values(3, &page, counts).unwrap(), expected);
        }
        assert_eq!(values(3, &page, &[14]), None);
        assert_eq!(values(9, &[4, 0x2c, 1], &[2]).unwrap(), [300; 2]);
        assert_eq!(values(32, &[2, 1, 2, 3, 4], &[1]).unwrap(), [0x0403_0201]);
        assert_eq!(values(0, &[200, 1], &[100]).unwrap(), [0; 100]);
        assert_eq!(values(0, &[3], &[8]).unwrap(), [0; 8]);
        assert!(Hybrid::new(33, 0, 0).is_err());
        assert_eq!(values(1, &[4, 2], &[2]), None, "more than its bits hold, however it is read");
        assert_eq!(values(1, &[4, 2], &[1, 1]), None);
        assert_eq!(values(1, &[4, 2], &[3]), None);
    }

    #[test]
    fn runs_that_end_too_soon_are_cut_off_and_huge_ones_are_not_believed() {
        assert_eq!(values(8, &[5, 1, 2, 3], &[3]).unwrap(), [1, 2, 3], "the last run of some writers");
        assert_eq!(values(8, &[5, 1, 2, 3], &[4]), None);
        for head in [&[][..], &[0], &[0, 0], &[1], &[2], &[0xff; 9], &[0xff; 11]] {
            assert_eq!(values(8, head, &[1 << 20]), None, "{head:?}");
        }
        let endless = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 9];
        assert_eq!(values(8, &endless, &[10, 10]).unwrap(), [9; 20]);
    }
}

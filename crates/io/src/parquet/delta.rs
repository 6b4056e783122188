//! Integers as differences, in blocks of packed values.
//!
//! ```text
//! header  ⟨values of a block⟩ ⟨parts of a block⟩ ⟨values in all⟩ ⟨the first value⟩
//! block   ⟨the smallest difference⟩ ⟨bits of a value, for each part⟩ ⟨parts: differences less the smallest⟩
//! ```
//! Values are unpacked as they are asked for: a block of a few bytes may claim any number of equal ones.

use crate::fault::{Fault, Outcome};

use super::hybrid::{varint, word};

/// Where integers are read.
#[derive(Clone)]
pub(super) struct Delta {
    at: usize,
    end: usize,
    /// Values of a part, and parts of a block.
    part: u64,
    parts: usize,
    /// Values to come, the first included.
    left: u64,
    last: i64,
    is_first: bool,
    least: i64,
    /// Where the bits of the block's parts stand, and the part that is read.
    widths: usize,
    index: usize,
    /// Values to come in it, bits of each, and the first bit.
    in_part: u64,
    width: u32,
    bit: usize,
}

fn cut() -> Fault {
    Fault::damaged("fewer values in a page than it announces")
}

fn signed(bytes: &[u8], at: &mut usize) -> Option<i64> {
    let value = varint(bytes, at)?;
    Some((value >> 1) as i64 ^ -((value & 1) as i64))
}

impl Delta {
    /// Those that stand in a part of a page.
    pub(super) fn new(page: &[u8], at: usize, end: usize) -> Outcome<Delta> {
        let bytes = page.get(..end).ok_or_else(cut)?;
        let mut place = at;
        let mut number = || varint(bytes, &mut place).ok_or_else(cut);
        let (block, parts, left) = (number()?, number()?, number()?);
        let first = signed(bytes, &mut place).ok_or_else(cut)?;
        let parts_fit = (1..=block / 32).contains(&parts) && block % (parts * 32) == 0;
        if !parts_fit || block > 1 << 31 || parts > 1 << 16 {
            let reason = format!("blocks of {block} differences in {parts} parts");
            return Err(Fault::damaged(reason));
        }
        Ok(Delta {
            at: place,
            end,
            part: block / parts,
            parts: parts as usize,
            left,
            last: first,
            is_first: true,
            least: 0,
            widths: 0,
            index: parts as usize,
            in_part: 0,
            width: 0,
            bit: 0,
        })
    }

    /// Shows the next values.
    pub(super) fn each(
        &mut self,
        page: &[u8],
        count: usize,
        mut see: impl FnMut(i64) -> Outcome<()>,
    ) -> Outcome<()> {
        let mut wanted = count as u64;
        if wanted > self.left {
            return Err(cut());
        }
        while wanted > 0 {
            if self.is_first {
                self.is_first = false;
                see(self.last)?;
                self.left -= 1;
                wanted -= 1;
                continue;
            }
            if self.in_part == 0 {
                self.next_part(page)?;
            }
            let count = wanted.min(self.in_part);
            let bytes = &page[..self.end];
            for _ in 0..count {
                let delta = self.least.wrapping_add(bits(bytes, self.bit, self.width) as i64);
                self.last = self.last.wrapping_add(delta);
                self.bit += self.width as usize;
                see(self.last)?;
            }
            self.in_part -= count;
            self.left -= count;
            wanted -= count;
        }
        Ok(())
    }

    /// Takes the next part in hand, all bytes of which are there.
    fn next_part(&mut self, page: &[u8]) -> Outcome<()> {
        let bytes = page.get(..self.end).ok_or_else(cut)?;
        if self.index == self.parts {
            self.least = signed(bytes, &mut self.at).ok_or_else(cut)?;
            self.widths = self.at;
            self.at = self.at.checked_add(self.parts).filter(|at| *at <= self.end).ok_or_else(cut)?;
            self.index = 0;
        }
        self.width = u32::from(bytes[self.widths + self.index]);
        if self.width > 64 {
            return Err(Fault::damaged(format!("differences of {} bits", self.width)));
        }
        self.index += 1;
        let size = self.part / 8 * u64::from(self.width);
        self.bit = 8 * self.at;
        // The last part may be cut off where the values end.
        let needed = (self.left.min(self.part) * u64::from(self.width)).div_ceil(8);
        let room = (self.end - self.at) as u64;
        if needed > room {
            return Err(cut());
        }
        self.at += size.min(room) as usize;
        self.in_part = self.part;
        Ok(())
    }

    /// Where the bytes end that these values take.
    pub(super) fn after(&self, page: &[u8]) -> Outcome<usize> {
        let mut end = self.clone();
        let mut left = end.left.saturating_sub(u64::from(end.is_first));
        while left > end.in_part {
            left -= end.in_part;
            end.left = left;
            end.next_part(page)?;
        }
        Ok(end.at)
    }
}

/// The value of some bits.
fn bits(bytes: &[u8], bit: usize, width: u32) -> u64 {
    if width == 0 {
        return 0;
    }
    let (at, shift) = (bit / 8, (bit % 8) as u32);
    let mut value = word(bytes, at) >> shift;
    if width + shift > 64 {
        value |= u64::from(bytes.get(at + 8).copied().unwrap_or(0)) << (64 - shift);
    }
    if width == 64 { value } else { value & ((1 << width) - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Zigzag and groups of seven bits.
    fn number(value: u64, to: &mut Vec<u8>) {
        let mut value = value;
        while value >= 0x80 {
            to.push(value as u8 | 0x80);
            value >>= 7;
        }
        to.push(value as u8);
    }

    fn zigzag(value: i64) -> u64 {
        (value << 1 ^ value >> 63) as u64
    }

    /// As a writer would pack them, in parts of 32.
    fn packed(values: &[i64]) -> Vec<u8> {
        let mut page = Vec::new();
        [128, 4, values.len() as u64].iter().for_each(|x| number(*x, &mut page));
        number(zigzag(values.first().copied().unwrap_or(0)), &mut page);
        let deltas: Vec<i64> = values.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
        for block in deltas.chunks(128) {
            let least = *block.iter().min().unwrap();
            number(zigzag(least), &mut page);
            let over: Vec<Vec<u64>> = block
                .chunks(32)
                .map(|part| part.iter().map(|x| x.wrapping_sub(least) as u64).collect())
                .collect();
            let width = |part: &Vec<u64>| 64 - part.iter().fold(0, |all, x| all | x).leading_zeros();
            (0..4).for_each(|k| page.push(over.get(k).map_or(77, |part| width(part) as u8)));
            for part in &over {
                let width = width(part) as usize;
                let start = page.len();
                page.resize(start + 4 * width, 0);
                for (i, value) in part.iter().enumerate() {
                    for bit in (0..width).filter(|bit| value >> bit & 1 == 1) {
                        page[start + (i * width + bit) / 8] |= 1 << ((i * width + bit) % 8);
                    }
                }
            }
        }
        page
    }

    fn read(page: &[u8], counts: &[usize]) -> Outcome<Vec<i64>> {
        let mut delta = Delta::new(page, 0, page.len())?;
        let mut found = Vec::new();
        for &count in counts {
            delta.each(page, count, |x| {
                found.push(x);
                Ok(())
            })?;
        }
        Ok(found)
    }

    #[test]
    fn values_come_back_and_their_end_is_known() {
        let extremes = [i64::MIN, i64::MAX, 0, -1, i64::MIN, 1];
        for length in [0, 1, 2, 32, 33, 34, 128, 129, 130, 300] {
            let values: Vec<i64> = (0..length).map(|i| (i as i64 * 7919) % 257 - 100).collect();
            let wild: Vec<i64> = (0..length).map(|i| extremes[i % 6].wrapping_add(i as i64)).collect();
            for values in [values, wild, vec![5; length]] {
                let mut page = packed(&values);
                let whole = page.len();
                page.extend(b"more");
                assert_eq!(read(&page, &[length]).unwrap(), values);
                assert_eq!(read(&page, &vec![1; length]).unwrap(), values);
                let delta = Delta::new(&page, 0, page.len()).unwrap();
                assert_eq!((delta.after(&page).unwrap(), delta.left), (whole, length as u64));
                assert!(read(&page, &[length + 1]).is_err());
            }
        }
    }

    #[test]
    fn any_bytes_end_in_values_or_an_error() {
        let page = packed(&(0..300).map(|i| i * i).collect::<Vec<i64>>());
        // The last part is padded, which writers may leave out.
        let needed = page.len() - 32;
        for length in 0..needed {
            assert!(read(&page[..length], &[300]).is_err(), "{length}");
        }
        let mut state = 1u32;
        for _ in 0..2000 {
            let mut page = page.clone();
            for _ in 0..3 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let at = (state >> 8) as usize % page.len();
                page[at] = (state >> 24) as u8;
            }
            let _ = read(&page, &[300]);
            let _ = Delta::new(&page, 0, page.len()).and_then(|delta| delta.after(&page));
        }
        let huge = [0x80, 1, 4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0, 0, 0];
        assert_eq!(read(&huge, &[100]).unwrap(), [0; 100]);
    }
}

//! Files with a few bytes changed, the same for the same seed.

/// A stream of numbers (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// Integers that are often wrong, in both orders of bytes and as Thrift writes them.
const EXTREMES: [&[u8]; 14] = [
    &[0xff, 0xff, 0xff, 0x7f],
    &[0x7f, 0xff, 0xff, 0xff],
    &[0xff, 0xff, 0xff, 0xff],
    &[0, 0, 0, 0x80],
    &[0, 0, 0, 0],
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
    &[0, 0, 0, 0, 0, 0, 0, 0x80],
    &[0xff; 8],
    &[0, 0, 0, 0x40, 0, 0, 0, 0],
    &[0xfe, 0xff, 0xff, 0xff, 0x0f],
    &[0xff, 0xff, 0xff, 0xff, 0x0f],
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
    b"999999999999999999999",
    b"-1e309",
];

/// One to four changes.
pub(crate) fn mutated(file: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        match random.below(9) {
            0 | 1 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
            2 => {
                let value = [0, 1, 0x7f, 0x80, 0xff][random.below(5)];
                bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = value);
            }
            3 => {
                let value = random.next() as u8;
                bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = value);
            }
            4 => bytes.truncate(at),
            5 | 6 => {
                let extreme = EXTREMES[random.below(EXTREMES.len())];
                bytes.iter_mut().skip(at).zip(extreme).for_each(|(byte, value)| *byte = *value);
            }
            7 => {
                // A piece that stands elsewhere, instead of what is here or before it.
                let from = random.below(bytes.len());
                let piece = bytes[from..(from + random.below(64)).min(bytes.len())].to_vec();
                let end = if random.below(2) == 0 { at } else { (at + piece.len()).min(bytes.len()) };
                bytes.splice(at..end, piece);
            }
            _ => {
                let end = (at + random.below(32)).min(bytes.len());
                bytes.drain(at..end);
            }
        }
    }
    bytes
}

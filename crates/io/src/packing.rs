//! Pages and buffers as they are packed inside a file. Nothing is made larger than it says it is, and nothing may say more than its codec can do.
//!
//! ```text
//! codec     most that one byte becomes
//! snappy       32
//! lz4         256
//! gzip      1,032
//! zstd     32,768     beyond 1,024 it grows while it is unpacked, so that memory follows what is there
//! ```

use std::io::{Cursor, Read};

use crate::fault::{Fault, Outcome};

/// How they are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Plain,
    Snappy,
    Gzip,
    /// One block.
    Lz4,
    /// As Hadoop's tools frame it, or what others took that for.
    Lz4Framed,
    Zstd,
}

impl Packing {
    /// By the number that Parquet gives it.
    pub(crate) fn of(code: i64) -> Outcome<Packing> {
        let refused = |name: &str| Fault::NotRead {
            expected: "pages packed by snappy, gzip, zstd or lz4, or not at all",
            found: format!("some packed by {name}"),
        };
        Ok(match code {
            0 => Packing::Plain,
            1 => Packing::Snappy,
            2 => Packing::Gzip,
            3 => return Err(refused("lzo")),
            4 => return Err(refused("brotli")),
            5 => Packing::Lz4Framed,
            6 => Packing::Zstd,
            7 => Packing::Lz4,
            _ => return Err(Fault::damaged(format!("the unknown codec {code}"))),
        })
    }

    /// The most bytes that one becomes.
    fn ratio(self) -> usize {
        match self {
            Packing::Plain => 1,
            Packing::Snappy => 32,
            Packing::Lz4 | Packing::Lz4Framed => 256,
            Packing::Gzip => 1032,
            Packing::Zstd => 32_768,
        }
    }

    /// What they were before: so many bytes.
    pub(crate) fn unpacked(self, packed: Vec<u8>, size: usize) -> Outcome<Vec<u8>> {
        if self == Packing::Plain && packed.len() == size {
            return Ok(packed);
        }
        if size > packed.len().saturating_mul(self.ratio()) {
            let reason = format!("{} bytes that claim to become {size}", packed.len());
            return Err(Fault::damaged(reason));
        }
        let found = match self {
            Packing::Plain => return Err(other_size(packed.len(), size)),
            Packing::Snappy => snappy(&packed, size)?,
            Packing::Gzip => grown(flate2::bufread::MultiGzDecoder::new(packed.as_slice()), size, size)?,
            Packing::Lz4 => lz4(&packed, size)?,
            Packing::Lz4Framed => lz4_framed(&packed, size)?,
            Packing::Zstd => zstd(&packed, size)?,
        };
        if found.len() == size { Ok(found) } else { Err(other_size(found.len(), size)) }
    }
}

fn other_size(found: usize, expected: usize) -> Fault {
    Fault::damaged(format!("{found} bytes, {expected} were announced"))
}

/// All bytes, one more than `size` at most.
fn grown(from: impl Read, size: usize, capacity: usize) -> Outcome<Vec<u8>> {
    let mut to = Vec::with_capacity(capacity);
    let read = from.take(size as u64 + 1).read_to_end(&mut to);
    read.map_err(|error| Fault::damaged(format!("bytes that cannot be unpacked: {error}")))?;
    Ok(to)
}

fn snappy(packed: &[u8], size: usize) -> Outcome<Vec<u8>> {
    let wrong = |error| Fault::damaged(format!("bytes that cannot be unpacked: {error}"));
    let announced = snap::raw::decompress_len(packed).map_err(wrong)?;
    if announced != size {
        return Err(other_size(announced, size));
    }
    let mut to = vec![0; size];
    let count = snap::raw::Decoder::new().decompress(packed, &mut to).map_err(wrong)?;
    to.truncate(count);
    Ok(to)
}

fn zstd(packed: &[u8], size: usize) -> Outcome<Vec<u8>> {
    /// What may be taken on trust, for each byte.
    const TRUSTED: usize = 1024;
    let wrong = |error| Fault::damaged(format!("bytes that cannot be unpacked: {error}"));
    if size / TRUSTED <= packed.len() {
        return zstd::bulk::decompress(packed, size).map_err(wrong);
    }
    grown(zstd::stream::read::Decoder::with_buffer(packed).map_err(wrong)?, size, packed.len())
}

fn lz4(packed: &[u8], size: usize) -> Outcome<Vec<u8>> {
    let mut to = vec![0; size];
    let count = lz4_flex::block::decompress_into(packed, &mut to);
    to.truncate(count.map_err(|error| Fault::damaged(format!("bytes that cannot be unpacked: {error}")))?);
    Ok(to)
}

fn lz4_framed(packed: &[u8], size: usize) -> Outcome<Vec<u8>> {
    const FRAME: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];
    if packed.starts_with(&FRAME) {
        return grown(lz4_flex::frame::FrameDecoder::new(Cursor::new(packed)), size, size);
    }
    match lz4_blocks(packed, size) {
        Some(found) => Ok(found),
        None => lz4(packed, size),
    }
}

/// Blocks with their sizes before them: unpacked, packed, most significant byte first.
fn lz4_blocks(mut packed: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut to = vec![0; size];
    let mut done = 0;
    while !packed.is_empty() {
        let (unpacked, rest) = packed.split_first_chunk::<4>()?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let (block, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        let room = to.get_mut(done..)?.get_mut(..u32::from_be_bytes(*unpacked) as usize)?;
        if lz4_flex::block::decompress_into(block, room).ok()? != room.len() {
            return None;
        }
        done += room.len();
        packed = rest;
    }
    (done == size).then_some(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_lz4_is_read_in_all_its_ways() {
        let text = b"to be, or not to be, or to be or not to be".as_slice();
        let block = lz4_flex::block::compress(text);
        let mut blocks = Vec::new();
        for half in [&text[..20], &text[20..]] {
            let packed = lz4_flex::block::compress(half);
            blocks.extend((half.len() as u32).to_be_bytes());
            blocks.extend((packed.len() as u32).to_be_bytes());
            blocks.extend(packed);
        }
        let mut frame = lz4_flex::frame::FrameEncoder::new(Vec::new());
        std::io::Write::write_all(&mut frame, text).unwrap();
        for packed in [block, blocks, frame.finish().unwrap()] {
            assert_eq!(Packing::Lz4Framed.unpacked(packed, text.len()).unwrap(), text);
        }
    }

    #[test]
    fn sizes_are_not_believed() {
        for codec in
            [Packing::Plain, Packing::Snappy, Packing::Gzip, Packing::Lz4, Packing::Lz4Framed, Packing::Zstd]
        {
            assert!(matches!(codec.unpacked(vec![1; 100], 99 << 30), Err(Fault::Damaged(_))), "{codec:?}");
            assert!(matches!(codec.unpacked(vec![1; 100], 1 << 10), Err(Fault::Damaged(_))), "{codec:?}");
        }
    }

    #[test]
    fn pages_of_one_value_may_be_packed_very_well() {
        let zeros = vec![0; 8 << 20];
        let packed = zstd::bulk::compress(&zeros, 1).unwrap();
        assert!(zeros.len() / packed.len() > 4096);
        assert_eq!(Packing::Zstd.unpacked(packed.clone(), zeros.len()).unwrap(), zeros);
        assert!(Packing::Zstd.unpacked(packed.clone(), zeros.len() - 1).is_err());
        assert!(Packing::Zstd.unpacked(packed, zeros.len() + 1).is_err());
    }
}

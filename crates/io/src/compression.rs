//! Compressed bytes, known by the first of them, whatever the file is called.
//!
//! ```text
//! gzip 1f 8b   zstd 28 b5 2f fd   xz fd "7zXZ" 00   bzip2 "BZh" '1'…'9'   zip "PK" 03 04
//! ```
//!
//! Files of several members or frames are read whole. What a decoder may take for itself is bounded: a file that asks for more is refused.

use std::io::{self, BufReader, Read};
use std::path::Path;

use crate::error::Error;
use crate::options::extension;

/// The most memory that a decoder may take: of xz for its dictionary, of zstd for its window.
const XZ_MEMORY: u64 = 256 << 20;
const ZSTD_WINDOW_LOG: u32 = 27;

const BUFFER: usize = 64 << 10;

/// A way in which bytes are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    Gzip,
    Zstd,
    Xz,
    Bzip2,
    Zip,
}

impl Codec {
    /// Bytes that tell.
    pub(crate) const LOOKED_AT: usize = 10;

    const ALL: [Codec; 5] = [Codec::Gzip, Codec::Zstd, Codec::Xz, Codec::Bzip2, Codec::Zip];

    /// By the first bytes of a file. A name only helps where a file is cut off within them.
    pub(crate) fn of(head: &[u8], file: &Path) -> Option<Codec> {
        let named = Codec::named(file);
        Codec::ALL.into_iter().find(|codec| {
            let is_cut = named == Some(*codec) && !head.is_empty() && codec.magic().starts_with(head);
            is_cut || codec.begins(head, named)
        })
    }

    fn begins(self, head: &[u8], named: Option<Codec>) -> bool {
        match self {
            // A frame that is to be skipped may come first.
            Codec::Zstd if matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]) => true,
            // Words may begin like it: a block begins with π, the end with √π.
            Codec::Bzip2 if named != Some(self) => {
                head.starts_with(self.magic())
                    && matches!(head.get(3), Some(b'1'..=b'9'))
                    && [&b"\x31\x41\x59\x26\x53\x59"[..], b"\x17\x72\x45\x38\x50\x90"].contains(&&head[4..])
            }
            Codec::Zip if head.starts_with(b"PK\x05\x06") => true,
            _ => head.starts_with(self.magic()),
        }
    }

    fn magic(self) -> &'static [u8] {
        match self {
            Codec::Gzip => b"\x1f\x8b",
            Codec::Zstd => b"\x28\xb5\x2f\xfd",
            Codec::Xz => b"\xfd7zXZ\0",
            Codec::Bzip2 => b"BZh",
            Codec::Zip => b"PK\x03\x04",
        }
    }

    /// The codec whose ending a name has.
    pub(crate) fn named(file: &Path) -> Option<Codec> {
        match extension(file).as_str() {
            "gz" | "bgz" => Some(Codec::Gzip),
            "zst" | "zstd" => Some(Codec::Zstd),
            "xz" => Some(Codec::Xz),
            "bz2" => Some(Codec::Bzip2),
            "zip" => Some(Codec::Zip),
            _ => None,
        }
    }

    /// For messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Codec::Gzip => "gzip",
            Codec::Zstd => "zstd",
            Codec::Xz => "xz",
            Codec::Bzip2 => "bzip2",
            Codec::Zip => "zip",
        }
    }

    /// The bytes of a stream; those of an archive are not here.
    pub(crate) fn unpacked(self, packed: Box<dyn Read>) -> io::Result<Box<dyn Read>> {
        let packed = BufReader::with_capacity(BUFFER, packed);
        Ok(match self {
            Codec::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(packed)),
            Codec::Zstd => zstd_frames(packed)?,
            Codec::Xz => {
                use liblzma::stream::{CONCATENATED, Stream};
                let stream = Stream::new_stream_decoder(XZ_MEMORY, CONCATENATED)?;
                Box::new(liblzma::bufread::XzDecoder::new_stream(packed, stream))
            }
            Codec::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(packed)),
            Codec::Zip => return Err(io::ErrorKind::Unsupported.into()),
        })
    }

    /// The error of a decoder, or of the system under it.
    pub(crate) fn fault(self, file: &Path, source: io::Error) -> Error {
        let (file, codec) = (file.to_owned(), self.name());
        let is_decoder = matches!(
            source.kind(),
            io::ErrorKind::UnexpectedEof
                | io::ErrorKind::InvalidData
                | io::ErrorKind::InvalidInput
                | io::ErrorKind::Other
        );
        if !is_decoder || source.raw_os_error().is_some() {
            return Error::Io { file, source };
        }
        let wants_more = |limit| Error::DecoderMemory { file: file.clone(), codec, limit };
        let inner = source.get_ref().map(|inner| inner.to_string()).unwrap_or_default();
        match self {
            Codec::Xz if is_memory_limit(&source) => wants_more(XZ_MEMORY),
            Codec::Zstd | Codec::Zip if inner.contains("too much memory") => wants_more(1 << ZSTD_WINDOW_LOG),
            _ => Error::Damaged { file, codec, source },
        }
    }
}

/// All frames of zstd data.
pub(crate) fn zstd_frames(packed: BufReader<Box<dyn Read>>) -> io::Result<Box<dyn Read>> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(packed)?;
    decoder.window_log_max(ZSTD_WINDOW_LOG)?;
    Ok(Box::new(decoder))
}

fn is_memory_limit(source: &io::Error) -> bool {
    let inner = source.get_ref().and_then(|inner| inner.downcast_ref::<liblzma::stream::Error>());
    matches!(inner, Some(liblzma::stream::Error::MemLimit))
}

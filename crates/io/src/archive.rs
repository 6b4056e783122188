//! Zip archives with one table inside.
//!
//! Folders, names that begin with `.` or `_`, and what macOS adds are not looked at. Members are stored, deflated or compressed by zstd; one that is a compressed file itself is
//! refused.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use zip::{CompressionMethod, ZipArchive};

use crate::compression::{Codec, zstd_frames};
use crate::error::{Error, Result, shortened};
use crate::sniff;

/// Names that a message lists.
const LISTED: usize = 3;

/// Where the only table of an archive lies.
pub(crate) struct Member {
    /// Its name, which says the format.
    pub(crate) name: PathBuf,
    start: u64,
    packed: u64,
    size: u64,
    checksum: u32,
    method: CompressionMethod,
}

impl Member {
    /// Finds it.
    pub(crate) fn find(file: &Path, bytes: impl Read + Seek) -> Result<Member> {
        let damaged = |error: zip::result::ZipError| Error::Damaged {
            file: file.to_owned(),
            codec: "zip",
            source: match error {
                zip::result::ZipError::Io(source) => source,
                other => io::Error::new(io::ErrorKind::InvalidData, other.to_string()),
            },
        };
        let mut archive = ZipArchive::new(bytes).map_err(damaged)?;
        if archive.has_duplicate_names() {
            let source = io::Error::new(io::ErrorKind::InvalidData, "two members of one name");
            return Err(damaged(zip::result::ZipError::Io(source)));
        }
        let (mut tables, mut is_workbook) = (Vec::new(), false);
        for at in 0..archive.len() {
            let entry = archive.by_index_data(at).map_err(damaged)?;
            let name = String::from_utf8_lossy(entry.name_raw()).replace('\\', "/");
            is_workbook |= name == "[Content_Types].xml";
            if !name.ends_with('/')
                && !name.split('/').any(|part| part != "." && part.starts_with(['.', '_']))
            {
                tables.push((at, name));
            }
        }
        if is_workbook {
            return Err(sniff::WORKBOOK.refused(file));
        }
        let [(at, name)] = tables.as_slice() else {
            let names = tables.iter().take(LISTED).map(|(_, name)| shortened(name)).collect();
            return Err(Error::Archive { file: file.to_owned(), found: tables.len(), names });
        };
        let entry = archive.by_index_raw(*at).map_err(damaged)?;
        let refuse = |found: String| Err(Error::ArchiveMethod { file: file.to_owned(), found });
        let method = entry.compression();
        if entry.encrypted() {
            return refuse("an encrypted one".to_owned());
        }
        if ![CompressionMethod::Stored, CompressionMethod::DEFLATE, CompressionMethod::ZSTD].contains(&method)
        {
            return refuse(format!("one compressed by {method}"));
        }
        if let Some(codec) = Codec::named(Path::new(name)) {
            return refuse(format!("a file compressed by {}, {}", codec.name(), shortened(name)));
        }
        let start = entry.data_start().ok_or_else(|| damaged(zip::result::ZipError::FileNotFound))?;
        let (packed, size, checksum) = (entry.compressed_size(), entry.size(), entry.crc32());
        Ok(Member { name: PathBuf::from(name), start, packed, size, checksum, method })
    }

    /// Where the bytes of the member begin in the archive, and how many there are.
    pub(crate) fn seek(&self, bytes: &mut (impl Seek + ?Sized)) -> io::Result<u64> {
        bytes.seek(SeekFrom::Start(self.start))?;
        Ok(self.packed)
    }

    /// Its bytes out of those that [`Member::seek`] found.
    pub(crate) fn unpacked(&self, packed: Box<dyn Read>) -> io::Result<Box<dyn Read>> {
        let inner: Box<dyn Read> = match self.method {
            CompressionMethod::DEFLATE => Box::new(DeflateDecoder::new(BufReader::new(packed))),
            CompressionMethod::ZSTD => zstd_frames(BufReader::new(packed))?,
            _ => packed,
        };
        Ok(Box::new(Checked { inner, found: Crc::new(), size: self.size, checksum: self.checksum, read: 0 }))
    }
}

/// Bytes that have to be as many, and to have the checksum, as the archive says.
struct Checked {
    inner: Box<dyn Read>,
    found: Crc,
    read: u64,
    size: u64,
    checksum: u32,
}

impl Read for Checked {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(to)?;
        self.found.update(&to[..count]);
        self.read += count as u64;
        let is_short = count == 0 && !to.is_empty() && self.read < self.size;
        let is_wrong = count == 0 && !to.is_empty() && self.found.sum() != self.checksum;
        if is_short || self.read > self.size {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "another size than the archive says"));
        }
        if is_wrong {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "another checksum than the archive says"));
        }
        Ok(count)
    }
}

//! Data files for `bochner`: CSV, JSON, LIBSVM, NPY, Parquet and Arrow, plain or compressed, read in blocks.
//!
//! ```text
//! file ─origin─▶ bytes ─input─▶ unpacked, in UTF-8, buffered ─csv | json─▶ fields ─text─▶ Table, Table, …
//!                                                              ─libsvm | npy─▶ Table, Table, …
//!                      ─parquet | arrow::ipc─▶ batches of columns ─arrow─▶ Table, Table, …
//! ```
//!
//! The content says how a file is compressed (gzip, zstd, xz, bzip2, or a zip archive of one table), whether its text is UTF-8 or UTF-16, and
//! mostly its format; the name decides where the content leaves it open. Folders, patterns and lists of files are one table ([`Files`]); what comes
//! once, as standard input does, is kept in an unnamed file unless one pass is enough ([`Once`]).
//!
//! [`open`] looks at a file and gives a [`TableSource`]; the source can be read as often as needed, in constant
//! memory, and every pass gives the same rows. A [`FeatureWriter`] goes the other way. [`from_bytes`] and [`open_with`] do the same for bytes that are
//! not in a file.
//!
//! ```
//! use bochner::table::Column;
//! use bochner_io::Options;
//!
//! let (engine, csv) = (bochner::Engine::default(), "size,rooms,price\n120,4,350\n80,3,199.5\n");
//! let source = bochner_io::from_bytes("houses.csv", csv, &Options::default())?;
//! let table = source.open(&engine)?.next(100)?.ok_or("no rows")?;
//! assert_eq!(table.columns[2], Column::Number(vec![350.0, 199.5]));
//!
//! let strict = Options { infer: false, strict: true, ..Options::default() };
//! let broken = bochner_io::from_bytes("houses.csv", csv.replace("80", "eighty"), &strict)?;
//! let error = broken.open(&engine)?.next(100).unwrap_err();
//! assert_eq!(error.to_string(), r#"houses.csv:3:1: expected a number, found "eighty" (column "size")"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod archive;
pub mod arrow;
mod beside;
mod budget;
mod compression;
mod csv;
mod encoding;
mod error;
mod fault;
mod features;
mod files;
mod input;
mod json;
mod libsvm;
mod many;
mod names;
mod npy;
mod number;
mod options;
mod origin;
mod packing;
mod parquet;
mod sniff;
mod temporary;
mod text;
mod wildcard;

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use bochner::table::TableSource;
use bochner::table::infer::KindScan;
use bochner::{Engine, Result};

pub use beside::TARGET;
pub use csv::layout::NO_HEADER;
pub use encoding::Encoding;
pub use error::Error;
pub use features::{FeatureFormat, FeatureWriter, field};
pub use files::{Files, Once};
pub use options::{Format, Known, Options};
pub use wildcard::matches;

use arrow::ipc::Ipc;
use csv::Csv;
use json::Json;
use origin::Origin;
use parquet::Parquet;

/// Looks at a file: its format, its columns, and where its cells say what they are, all of these. Targets of a file of their own stand beside its columns.
///
/// A folder or a pattern with `*` and `?` stands for all its files, one after another ([`Files`] has the rules).
pub fn open(engine: &Engine, path: &Path, options: &Options) -> Result<Box<dyn TableSource>> {
    match (&options.targets, &options.files) {
        (Some(targets), _) => Ok(Box::new(beside::Beside::open(engine, path, targets, options)?)),
        (None, Some(files)) => files.open(engine, options),
        (None, None) => Files::find(&[path], Once::Refuse)?.open(engine, options),
    }
}

/// The same for bytes in memory, by one thread; `name` says the format and appears in messages.
pub fn from_bytes(name: &str, bytes: impl Into<Vec<u8>>, options: &Options) -> Result<Box<dyn TableSource>> {
    let bytes: Arc<[u8]> = bytes.into().into();
    source(&Engine::single_thread(), Origin::memory(Path::new(name), bytes), options)
}

/// The same for whatever `open` opens, each time from the first byte.
pub fn open_with(
    name: &str,
    open: impl Fn() -> io::Result<Box<dyn Read>> + Send + Sync + 'static,
    options: &Options,
) -> Result<Box<dyn TableSource>> {
    source(&Engine::single_thread(), Origin::function(Path::new(name), Arc::new(open)), options)
}

fn source(engine: &Engine, mut origin: Origin, options: &Options) -> Result<Box<dyn TableSource>> {
    origin.encoding = options.encoding;
    Ok(match sniff::format(&origin, options)? {
        Format::Csv => Box::new(text::Source::<Csv>::open(engine, origin, options)?),
        Format::Json => Box::new(text::Source::<Json>::open(engine, origin, options)?),
        Format::Libsvm => Box::new(libsvm::Source::open(origin, options)?),
        Format::Npy => Box::new(npy::Source::open(origin, options)?),
        Format::Parquet => Box::new(arrow::Source::open(Parquet::open(origin, options)?, options)?),
        Format::Arrow => Box::new(arrow::Source::open(Ipc::open(origin, options)?, options)?),
    })
}

/// The cells of the columns that are texts, of which the options say nothing, by name.
fn scan(engine: &Engine, mut origin: Origin, options: &Options) -> Result<Vec<(String, KindScan)>> {
    origin.encoding = options.encoding;
    match sniff::format(&origin, options)? {
        Format::Csv => text::scan::<Csv>(engine, &origin, options),
        Format::Json => text::scan::<Json>(engine, &origin, options),
        Format::Libsvm | Format::Npy => Ok(Vec::new()),
        Format::Parquet => arrow::scan_texts(&Parquet::open(origin, options)?, options),
        Format::Arrow => arrow::scan_texts(&Ipc::open(origin, options)?, options),
    }
}

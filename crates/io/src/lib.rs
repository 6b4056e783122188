//! Data files for `bochner`: CSV, LIBSVM and NPY, plain or gzipped, read in blocks.
//!
//! ```text
//! file ─origin─▶ bytes ─input─▶ unpacked, buffered ─csv | libsvm | npy─▶ Table, Table, …
//! ```
//!
//! [`open`] looks at a file and gives a [`TableSource`]; the source can be read as often as needed, in constant
//! memory, and every pass gives the same rows. A [`FeatureWriter`] goes the other way. [`from_bytes`] and [`open_with`] do the same for bytes that are
//! not in a file.
//!
//! ```
//! let csv = "size,rooms,price\n120,4,350\n80,3,199.5\n";
//! let source = bochner_io::from_bytes("houses.csv", csv, &bochner_io::Options::default())?;
//! let table = source.open()?.next(100)?.ok_or("no rows")?;
//! assert_eq!(table.columns[2], bochner::table::Column::Number(vec![350.0, 199.5]));
//!
//! let broken = bochner_io::from_bytes("houses.csv", csv.replace("80", "eighty"), &Default::default())?;
//! let error = broken.open()?.next(100).unwrap_err();
//! assert_eq!(error.to_string(), r#"houses.csv:3:1: expected a number, found "eighty" (column "size")"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod beside;
mod csv;
mod error;
mod features;
mod input;
mod libsvm;
mod npy;
mod number;
mod options;
mod origin;

use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use bochner::Result;
use bochner::table::TableSource;

pub use beside::TARGET;
pub use error::Error;
pub use features::{FeatureFormat, FeatureWriter, field};
pub use options::{Format, Options};

use origin::Origin;

/// Looks at a file: its format, its columns, and for sparse files its width, which costs one pass. Targets of a file of their own stand beside its columns.
pub fn open(path: &Path, options: &Options) -> Result<Box<dyn TableSource>> {
    match &options.targets {
        None => source(Origin::file(path)?, options),
        Some(targets) => Ok(Box::new(beside::Beside::open(path, targets, options)?)),
    }
}

/// The same for bytes in memory; `name` says the format and appears in messages.
pub fn from_bytes(name: &str, bytes: impl Into<Vec<u8>>, options: &Options) -> Result<Box<dyn TableSource>> {
    let bytes: Arc<[u8]> = bytes.into().into();
    let size = Some(bytes.len() as u64);
    let open = move || Ok(Box::new(Cursor::new(Arc::clone(&bytes))) as Box<dyn Read>);
    source(Origin::function(Path::new(name), size, Box::new(open)), options)
}

/// The same for whatever `open` opens, each time from the first byte.
pub fn open_with(
    name: &str,
    open: impl Fn() -> io::Result<Box<dyn Read>> + Send + Sync + 'static,
    options: &Options,
) -> Result<Box<dyn TableSource>> {
    source(Origin::function(Path::new(name), None, Box::new(open)), options)
}

fn source(origin: Origin, options: &Options) -> Result<Box<dyn TableSource>> {
    Ok(match options.format_of(&origin.file)? {
        Format::Csv => Box::new(csv::Source::open(origin, options)?),
        Format::Libsvm => Box::new(libsvm::Source::open(origin, options)?),
        Format::Npy => Box::new(npy::Source::open(origin, options)?),
    })
}

//! Why a model file cannot be used.

use super::FORMAT;

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// Too short to hold a header.
    #[error("expected at least 8 bytes, found {found}")]
    Short {
        /// Bytes of the file.
        found: u64,
    },
    /// A header that does not fit the file, or is larger than any model needs.
    #[error("expected a header of at most {most} bytes, found one of {found}; is this a .bochner file?")]
    Header {
        /// The most that could be.
        most: u64,
        /// What the file says.
        found: u64,
    },
    /// Not the container that it should be.
    #[error("expected a safetensors file: {reason}")]
    Container {
        /// What the container's reader says.
        reason: String,
    },
    /// A safetensors file of somebody else's.
    #[error(
        "expected metadata under the key \"bochner\", found none: a safetensors file, but not a model of bochner"
    )]
    NotAModel,
    /// A format that this version does not know.
    #[error("expected format {known}, found {found}; a newer bochner wrote this file")]
    Format {
        /// The format that is known.
        known: u32,
        /// The format of the file.
        found: u64,
    },
    /// Metadata that cannot be read.
    #[error("expected metadata of format {FORMAT}: {reason}")]
    Metadata {
        /// What the JSON reader says.
        reason: String,
    },
    /// A tensor is missing or has the wrong shape or type.
    #[error("expected a tensor \"{name}\" of {expected}, found {found}")]
    Tensor {
        /// Its name.
        name: &'static str,
        /// Type and shape.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A number that is not finite.
    #[error("expected finite numbers in tensor \"{name}\", found {value} at position {at}")]
    NotFinite {
        /// The tensor.
        name: &'static str,
        /// Where.
        at: usize,
        /// The value.
        value: f64,
    },
    /// Names whose boundaries or bytes make no sense.
    #[error("expected \"{name}\" to be names in UTF-8 with ascending ends, found otherwise")]
    Names {
        /// Which names.
        name: &'static str,
    },
    /// The parts of the file do not agree.
    #[error("expected {expected} {what}, found {found}")]
    Mismatch {
        /// What is counted.
        what: &'static str,
        /// One part's number.
        expected: usize,
        /// Another part's.
        found: usize,
    },
    /// The file was changed or damaged after it was written.
    #[error("expected checksum {expected}, found {found}: the file is damaged")]
    Checksum {
        /// As stored.
        expected: String,
        /// As computed.
        found: String,
    },
    /// The map that the seed and the kernel give here is not the one that the model was made with.
    #[error(
        "expected a map with fingerprint {expected:?}, this build makes {found:?}: predictions would differ; fit the model again"
    )]
    Fingerprint {
        /// As stored.
        expected: String,
        /// As made here.
        found: String,
    },
}

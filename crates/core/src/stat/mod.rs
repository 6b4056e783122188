//! Statistics: small summaries of many rows that can be read in parts and put together.
//!
//! ```text
//! reading a then b  =  merge(reading a, reading b)
//! ```
//! Merging is associative and commutative up to rounding and has a zero: the reading of no rows. Tested for each.

mod cells;
mod gradients;
mod gram;
mod moments;
mod sample;

pub use cells::CellSets;
pub use gradients::Gradients;
pub(crate) use gradients::{TESTS, piece_bytes};
pub use gram::{Gram, Sums};
pub use moments::Moments;
pub use sample::{Sample, SampledRow};

/// A summary of rows that merges.
pub trait Statistic {
    /// As if the rows of `other` had been read after one's own.
    fn merge(&mut self, other: &Self);
}

/// Nothing: for a pass that keeps what it reads elsewhere.
impl Statistic for () {
    fn merge(&mut self, (): &Self) {}
}

/// Two statistics of the same rows, from one pass.
impl<A: Statistic, B: Statistic> Statistic for (A, B) {
    fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0);
        self.1.merge(&other.1);
    }
}

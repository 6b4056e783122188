//! How much a reader holds in memory at a time of what it has unpacked.
//!
//! A few bytes may say that they become very many, and each of a thousand columns may say so. The bytes of all of them are counted here:
//!
//! ```text
//! at most   4,096 for each byte of the file, or 64 MiB; but no more than 4 GiB, or 4 for each byte of the file
//! ```

use std::cell::Cell;
use std::rc::Rc;

use crate::fault::{Outcome, at_most};

/// The most bytes that a reader of a file of this size holds.
pub(crate) fn most(size: u64) -> u64 {
    size.saturating_mul(4096).clamp(64 << 20, size.saturating_mul(4).max(4 << 30))
}

/// The bytes that one reader holds, shared by all its parts.
#[derive(Clone)]
pub(crate) struct Budget {
    held: Rc<Cell<u64>>,
    most: u64,
}

impl Budget {
    /// Nothing of this many bytes.
    pub(crate) fn new(most: u64) -> Budget {
        Budget { held: Rc::default(), most }
    }

    /// Takes some bytes, if they are left.
    pub(crate) fn take(&self, bytes: usize) -> Outcome<Share> {
        let mut share = Share { budget: self.clone(), bytes: 0 };
        share.grow(bytes)?;
        Ok(share)
    }
}

/// Bytes of a budget, given back when it is dropped.
pub(crate) struct Share {
    budget: Budget,
    bytes: u64,
}

impl Share {
    /// Takes more.
    pub(crate) fn grow(&mut self, bytes: usize) -> Outcome<()> {
        let Budget { held, most } = &self.budget;
        held.set(at_most("bytes in memory for its size", held.get().saturating_add(bytes as u64), *most)?);
        self.bytes += bytes as u64;
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.held.set(self.budget.held.get() - self.bytes);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_is_given_back() {
        let budget = Budget::new(10);
        let mut share = budget.take(6).unwrap();
        assert!(budget.clone().take(5).is_err());
        share.grow(4).unwrap();
        assert!(share.grow(1).is_err());
        drop(share);
        assert!(budget.take(10).is_ok());
    }

    #[test]
    fn it_follows_the_size_of_the_file() {
        assert_eq!([0, 1 << 10, 1 << 16, 1 << 40].map(most), [64 << 20, 64 << 20, 256 << 20, 4 << 40]);
        assert_eq!(most(1 << 30), 4 << 30);
    }
}

//! A column of true and false → one column of 1 and 0, not scaled; where cells were missing in training, a second one says so.

/// How true and false are encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BooleanEncoding {
    /// Whether missing cells have a column.
    pub indicator: bool,
}

impl BooleanEncoding {
    pub(super) fn write(self, value: Option<bool>, to: &mut [f64]) {
        match (value, to) {
            (Some(true), [first, ..]) => *first = 1.0,
            (None, [_, missing]) => *missing = 1.0,
            _ => {}
        }
    }
}

/// What is known of a column of true and false.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BooleanProfile {
    /// Cells that are missing.
    pub missing: u64,
    /// Cells that are false, and true.
    pub counts: [u64; 2],
}

impl BooleanProfile {
    pub(super) fn absorb(&mut self, values: &[Option<bool>]) {
        for value in values {
            match value {
                Some(value) => self.counts[usize::from(*value)] += 1,
                None => self.missing += 1,
            }
        }
    }

    pub(super) fn merge(&mut self, other: &BooleanProfile) {
        self.missing += other.missing;
        self.counts.iter_mut().zip(other.counts).for_each(|(own, theirs)| *own += theirs);
    }

    /// Whether nothing can be learnt from it.
    pub(super) fn is_constant(&self) -> bool {
        [self.missing, self.counts[0], self.counts[1]].iter().filter(|count| **count > 0).count() < 2
    }

    pub(super) fn encoding(&self) -> BooleanEncoding {
        BooleanEncoding { indicator: self.missing > 0 }
    }
}

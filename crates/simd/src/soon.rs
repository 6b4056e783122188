//! Asking for memory before it is read.
//!
//! Asking for all of it at once waits for room in the processor's queue of reads (measured: a tenth of the time of a tile of ZᵀZ). So what
//! comes next is cut into parts, one for each run of an inner loop, and each few steps of the loop ask for a little of its part.

use crate::lanes::Lanes;

/// One part of what will be read soon.
#[derive(Clone, Copy)]
pub(crate) struct Soon {
    at: *const u8,
    /// Bytes that a step asks for: as a rule less than a line, so that some steps ask for the same.
    step: usize,
}

impl Soon {
    /// Part `p` of `parts` of some memory, to be asked for in so many steps.
    #[inline(always)]
    pub(crate) fn of<T>(memory: &[T], (p, parts, steps): (usize, usize, usize)) -> Soon {
        let step = size_of_val(memory) / (parts * steps).max(1);
        Soon { at: memory.as_ptr().cast::<u8>().wrapping_add(p * step * steps), step }
    }

    /// Asks for a little more.
    ///
    /// # Safety
    /// The processor has the instructions of `L`. (Nothing is read: the address may be any.)
    #[inline(always)]
    pub(crate) unsafe fn ask<L: Lanes>(&mut self) {
        unsafe { L::prefetch(self.at.cast()) };
        self.at = self.at.wrapping_add(self.step);
    }
}

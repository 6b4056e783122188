//! From an [`Isa`] to the copy of a loop that is compiled for it.

use crate::Element;
use crate::isa::{Isa, Level};
use crate::lanes::Lanes;

/// A loop that can be compiled for any lanes.
pub(crate) trait Task<T: Element> {
    /// Runs with tiles of `R` rows.
    ///
    /// # Safety
    /// The processor has the instructions of `L`. Implementations are `#[inline(always)]`, as is all they call,
    /// so that the loop is compiled inside the function below that switches the instructions on.
    unsafe fn run<L: Lanes<Elem = T>, const R: usize>(self);
}

/// Runs the copy of `task` for `isa`.
pub(crate) fn dispatch<T: Element>(isa: Isa, task: impl Task<T>) {
    match isa.0 {
        // SAFETY: plain Rust.
        Level::Portable => unsafe { task.run::<T::Portable, 4>() },
        // SAFETY: an `Isa` of this level exists only where the processor has these features.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2(task) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx512(task) },
    }
}

/// 16 registers: 4×3 accumulators, 3 columns, 1 broadcast row.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2<T: Element>(task: impl Task<T>) {
    unsafe { task.run::<T::Avx2, 4>() }
}

/// 32 registers: 8×3 accumulators, 3 columns, the rest for broadcasts in flight.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512vl,avx512bw")]
unsafe fn avx512<T: Element>(task: impl Task<T>) {
    unsafe { task.run::<T::Avx512, 8>() }
}

/// The number of columns in a panel for `isa`: the width of its register tile.
pub(crate) fn panel_width<T: Element>(isa: Isa) -> usize {
    crate::lanes::VECTORS
        * match isa.0 {
            Level::Portable => T::Portable::N,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => T::Avx2::N,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => T::Avx512::N,
        }
}

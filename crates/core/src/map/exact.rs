//! Kernels that have finite features of their own.
//!
//! ```text
//! linear:   z(x) = x,   z(x)·z(y) = k(x, y)
//! ```
//! Costs nothing and approximates nothing.

use crate::{Error, Kernel, Result, Rows, Scalar};

pub(super) fn validate(kernel: &Kernel) -> Result<()> {
    match kernel {
        Kernel::Linear => Ok(()),
        _ => Err(Error::Unsupported {
            what: format!("an exact map of {kernel}"),
            reason: "its feature space has infinitely many dimensions",
            instead: "use Fourier features or landmarks",
        }),
    }
}

pub(super) fn apply<T: Scalar>(rows: &Rows<'_, T>, out: &mut [T]) {
    for (i, out) in out.chunks_exact_mut(rows.columns()).enumerate() {
        rows.densify(i, out);
    }
}

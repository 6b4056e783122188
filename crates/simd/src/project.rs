//! Features to outputs.
//!
//! ```text
//! y(i, o) = Σⱼ z(i, j)·c(o, j)        in f64, for features of either type
//! ```
//! Coefficients of a weakly regularised model are large and cancel, so the sum is taken in f64 even for f32 features.

use crate::dispatch::{Task, dispatch};
use crate::lanes::Lanes;
use crate::row::holds;
use crate::{Element, Isa, RowsRef};

/// Adds z(i)·c(o) to `out[i·outputs + o]`; `coefficients` is outputs × `width`, row-major.
///
/// # Panics
/// If the slices are too short for the shapes.
pub fn project<T: Element>(
    isa: Isa,
    rows: RowsRef<'_, T>,
    width: usize,
    coefficients: &[f64],
    out: &mut [f64],
) {
    if rows.count == 0 || width == 0 {
        return;
    }
    let outputs = coefficients.len() / width;
    assert!(
        coefficients.len() == outputs * width && rows.count.checked_mul(outputs) == Some(out.len()),
        "shapes differ"
    );
    assert!(holds(rows.data.len(), rows.count, rows.stride, width), "rows are too short");
    dispatch(isa, Project { rows, width, coefficients, out, outputs });
}

struct Project<'a, T> {
    rows: RowsRef<'a, T>,
    width: usize,
    coefficients: &'a [f64],
    out: &'a mut [f64],
    outputs: usize,
}

/// Outputs summed at once.
const OUTPUTS: usize = 4;

impl<T: Element> Task<T> for Project<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = T>, const R: usize>(self) {
        let whole = self.width / L::N * L::N;
        for i in 0..self.rows.count {
            let z = &self.rows.data[i * self.rows.stride..][..self.width];
            for first in (0..self.outputs).step_by(OUTPUTS) {
                let count = OUTPUTS.min(self.outputs - first);
                let c = |o: usize| &self.coefficients[(first + o) * self.width..][..self.width];
                // SAFETY: loads stay below `whole` ≤ width; `run` is only called by `dispatch`.
                unsafe {
                    let mut sums = [[L::Wide::constant(0.0); 2]; OUTPUTS];
                    for j in (0..whole).step_by(L::N) {
                        let (low, high) = L::load(z.as_ptr().add(j)).widen();
                        for o in 0..count {
                            let c = c(o).as_ptr().add(j);
                            sums[o][0] = low.mul_add(L::Wide::load(c), sums[o][0]);
                            if L::N > L::Wide::N {
                                sums[o][1] = high.mul_add(L::Wide::load(c.add(L::Wide::N)), sums[o][1]);
                            }
                        }
                    }
                    for o in 0..count {
                        let mut sum = sums[o][0].add(sums[o][1]).sum();
                        for j in whole..self.width {
                            sum += z[j].to_f64() * c(o)[j];
                        }
                        self.out[i * self.outputs + first + o] += sum;
                    }
                }
            }
        }
    }
}

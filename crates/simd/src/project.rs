//! Features to outputs, and back.
//!
//! ```text
//! project         y(i, o) = Σⱼ z(i, j)·c(o, j)
//! project_back    c(o, j) = Σᵢ y(i, o)·z(i, j)        both in f64, for features of either type
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

/// Adds Σᵢ y(i, o)·z(i) to `out[o·width..]`, rows in order; `values` is rows × outputs, row-major.
///
/// # Panics
/// If the slices are too short for the shapes.
pub fn project_back<T: Element>(
    isa: Isa,
    rows: RowsRef<'_, T>,
    width: usize,
    values: &[f64],
    out: &mut [f64],
) {
    if rows.count == 0 || width == 0 {
        return;
    }
    let outputs = values.len() / rows.count;
    assert!(
        values.len() == outputs * rows.count && width.checked_mul(outputs) == Some(out.len()),
        "shapes differ"
    );
    assert!(holds(rows.data.len(), rows.count, rows.stride, width), "rows are too short");
    dispatch(isa, ProjectBack { rows, width, values, out, outputs });
}

struct ProjectBack<'a, T> {
    rows: RowsRef<'a, T>,
    width: usize,
    values: &'a [f64],
    out: &'a mut [f64],
    outputs: usize,
}

impl<T: Element> Task<T> for ProjectBack<'_, T> {
    /// Sums of some columns stay in registers while all rows go by.
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = T>, const R: usize>(self) {
        let whole = self.width / L::N * L::N;
        let z = |i: usize| &self.rows.data[i * self.rows.stride..][..self.width];
        for first in (0..self.outputs).step_by(OUTPUTS) {
            let count = OUTPUTS.min(self.outputs - first);
            for j in (0..whole).step_by(L::N) {
                // SAFETY: loads and stores stay below `whole` ≤ width; `run` is only called by `dispatch`.
                unsafe {
                    let mut sums = [[L::Wide::constant(0.0); 2]; OUTPUTS];
                    for i in 0..self.rows.count {
                        let (low, high) = L::load(z(i).as_ptr().add(j)).widen();
                        for o in 0..count {
                            let y = L::Wide::splat(self.values[i * self.outputs + first + o]);
                            sums[o][0] = low.mul_add(y, sums[o][0]);
                            if L::N > L::Wide::N {
                                sums[o][1] = high.mul_add(y, sums[o][1]);
                            }
                        }
                    }
                    for o in 0..count {
                        let out = self.out[(first + o) * self.width + j..][..L::N].as_mut_ptr();
                        sums[o][0].add(L::Wide::load(out)).store(out);
                        if L::N > L::Wide::N {
                            let out = out.add(L::Wide::N);
                            sums[o][1].add(L::Wide::load(out)).store(out);
                        }
                    }
                }
            }
            for o in 0..count {
                for j in whole..self.width {
                    let sum: f64 = (0..self.rows.count)
                        .map(|i| self.values[i * self.outputs + first + o] * z(i)[j].to_f64())
                        .sum();
                    self.out[(first + o) * self.width + j] += sum;
                }
            }
        }
    }
}

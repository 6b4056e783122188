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

/// Rows and outputs that are taken at once: their values stay in registers while columns go by.
const ROWS: usize = 4;
const BACK: usize = 2;

impl<T: Element> Task<T> for ProjectBack<'_, T> {
    /// A few rows at a time, from end to end: rows lie far apart, so that going down a column would touch another page with every step.
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = T>, const R: usize>(mut self) {
        let whole = self.rows.count / ROWS * ROWS;
        // SAFETY: `run` is only called by `dispatch`; rows and outputs that are named exist.
        unsafe {
            for i in (0..whole).step_by(ROWS) {
                self.add_rows::<L, ROWS>(i);
            }
            for i in whole..self.rows.count {
                self.add_rows::<L, 1>(i);
            }
        }
    }
}

impl<T: Element> ProjectBack<'_, T> {
    /// Adds `N` rows from `start` on.
    ///
    /// # Safety
    /// The instructions of `L` exist; there are as many rows.
    #[inline(always)]
    unsafe fn add_rows<L: Lanes<Elem = T>, const N: usize>(&mut self, start: usize) {
        let whole = self.outputs / BACK * BACK;
        // SAFETY: as for this function.
        unsafe {
            for first in (0..whole).step_by(BACK) {
                self.add::<L, N, BACK>(start, first);
            }
            for first in whole..self.outputs {
                self.add::<L, N, 1>(start, first);
            }
        }
    }

    /// The same to `O` outputs from `first` on.
    ///
    /// # Safety
    /// The instructions of `L` exist; there are as many rows and outputs.
    #[inline(always)]
    unsafe fn add<L: Lanes<Elem = T>, const N: usize, const O: usize>(&mut self, start: usize, first: usize) {
        let (width, whole) = (self.width, self.width / L::N * L::N);
        let z: [&[T]; N] =
            std::array::from_fn(|r| &self.rows.data[(start + r) * self.rows.stride..][..width]);
        let y = |r: usize, o: usize| self.values[(start + r) * self.outputs + first + o];
        let out = &mut self.out[first * width..(first + O) * width];
        let to = out.as_mut_ptr();
        // SAFETY: loads and stores stay below `whole` ≤ width of each output.
        unsafe {
            let wide: [[L::Wide; O]; N] =
                std::array::from_fn(|r| std::array::from_fn(|o| L::Wide::splat(y(r, o))));
            let has_high = L::N > L::Wide::N;
            for j in (0..whole).step_by(L::N) {
                let mut sums: [[L::Wide; 2]; O] = std::array::from_fn(|o| {
                    let from = to.add(o * width + j);
                    let low = L::Wide::load(from);
                    [low, if has_high { L::Wide::load(from.add(L::Wide::N)) } else { low }]
                });
                for r in 0..N {
                    let (low, high) = L::load(z[r].as_ptr().add(j)).widen();
                    for o in 0..O {
                        sums[o][0] = low.mul_add(wide[r][o], sums[o][0]);
                        if has_high {
                            sums[o][1] = high.mul_add(wide[r][o], sums[o][1]);
                        }
                    }
                }
                for (o, [low, high]) in sums.into_iter().enumerate() {
                    let to = to.add(o * width + j);
                    low.store(to);
                    if has_high {
                        high.store(to.add(L::Wide::N));
                    }
                }
            }
        }
        for o in 0..O {
            for j in whole..width {
                out[o * width + j] += (0..N).map(|r| y(r, o) * z[r][j].to_f64()).sum::<f64>();
            }
        }
    }
}

//! Features to outputs, and back.
//!
//! ```text
//! project         y(i, o) = Σⱼ z(i, j)·c(o, j)
//! project_back    c(o, j) = Σᵢ y(i, o)·z(i, j)        both in f64, for features of either type
//! ```
//! Coefficients of a weakly regularised model are large and cancel, so the sum is taken in f64 even for f32 features.

use std::ops::Range;

use crate::dispatch::{Task, dispatch};
use crate::lanes::Lanes;
use crate::row::holds;
use crate::{Element, Isa, RowsRef};

/// Adds z(i)·c(o) to `out[i·outputs + o]`; `coefficients` is outputs × `width`, row-major.
///
/// # Panics
/// If the slices are too short for the shapes.
#[inline(never)]
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

/// Sums of a row and an output, or of an output and a vector of columns, that stay in registers: twice as many registers as a tile has rows. Two of each share more reads than one and four.
fn sums_at_once<L: Lanes, const R: usize>() -> usize {
    2 * R / (L::N / L::Wide::N * L::Wide::REGISTERS)
}

/// Columns between two additions to the outputs: as many coefficients of four outputs as a first cache holds, while rows go by.
const COLUMNS: usize = 512;

impl<T: Element> Task<T> for Project<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = T>, const R: usize>(mut self) {
        let mut first = 0;
        // SAFETY: `run` is only called by `dispatch`; outputs that are named exist.
        unsafe {
            while first < self.outputs {
                first += match self.outputs - first {
                    4.. if sums_at_once::<L, R>() > 4 => self.add_outputs::<L, R, 4>(first),
                    2.. => self.add_outputs::<L, R, 2>(first),
                    _ => self.add_outputs::<L, R, 1>(first),
                }
            }
        }
    }
}

impl<T: Element> Project<'_, T> {
    /// Adds to `O` outputs from `first` on, as many rows at once as there are registers for; gives back `O`.
    ///
    /// # Safety
    /// The instructions of `L` exist; there are as many outputs.
    #[inline(always)]
    unsafe fn add_outputs<L: Lanes<Elem = T>, const R: usize, const O: usize>(
        &mut self,
        first: usize,
    ) -> usize {
        for start in (0..self.width).step_by(COLUMNS) {
            let columns = start..self.width.min(start + COLUMNS);
            // SAFETY: as for this function.
            unsafe {
                match sums_at_once::<L, R>() / O {
                    4.. => self.add_rows::<L, 4, O>(first, &columns),
                    2.. => self.add_rows::<L, 2, O>(first, &columns),
                    _ => self.add_rows::<L, 1, O>(first, &columns),
                }
            }
        }
        O
    }

    /// The same over some columns, `N` rows at once.
    ///
    /// # Safety
    /// The instructions of `L` exist; there are as many outputs.
    #[inline(always)]
    unsafe fn add_rows<L: Lanes<Elem = T>, const N: usize, const O: usize>(
        &mut self,
        first: usize,
        columns: &Range<usize>,
    ) {
        let whole = self.rows.count / N * N;
        // SAFETY: as for this function.
        unsafe {
            for i in (0..whole).step_by(N) {
                self.add::<L, N, O>(i, first, columns);
            }
            for i in whole..self.rows.count {
                self.add::<L, 1, O>(i, first, columns);
            }
        }
    }

    /// The same of `N` rows from `start` on. What is done for a row does not depend on which others are taken with it.
    ///
    /// # Safety
    /// The instructions of `L` exist; there are as many rows and outputs.
    #[inline(always)]
    unsafe fn add<L: Lanes<Elem = T>, const N: usize, const O: usize>(
        &mut self,
        start: usize,
        first: usize,
        columns: &Range<usize>,
    ) {
        let whole = columns.len() / L::N * L::N;
        let z: [&[T]; N] = std::array::from_fn(|r| {
            &self.rows.data[(start + r) * self.rows.stride..][columns.start..columns.end]
        });
        let c: [&[f64]; O] = std::array::from_fn(|o| {
            &self.coefficients[(first + o) * self.width..][columns.start..columns.end]
        });
        let has_high = L::N > L::Wide::N;
        // SAFETY: loads stay below `whole`, which is at most the length of each slice.
        unsafe {
            let mut sums = [[[L::Wide::constant(0.0); 2]; O]; N];
            for j in (0..whole).step_by(L::N) {
                let wide: [(L::Wide, L::Wide); N] =
                    std::array::from_fn(|r| L::load(z[r].as_ptr().add(j)).widen());
                for o in 0..O {
                    let low = L::Wide::load(c[o].as_ptr().add(j));
                    for r in 0..N {
                        sums[r][o][0] = wide[r].0.mul_add(low, sums[r][o][0]);
                    }
                    if has_high {
                        let high = L::Wide::load(c[o].as_ptr().add(j + L::Wide::N));
                        for r in 0..N {
                            sums[r][o][1] = wide[r].1.mul_add(high, sums[r][o][1]);
                        }
                    }
                }
            }
            for r in 0..N {
                for o in 0..O {
                    let mut sum = sums[r][o][0].add(sums[r][o][1]).sum();
                    for j in whole..columns.len() {
                        sum += z[r][j].to_f64() * c[o][j];
                    }
                    self.out[(start + r) * self.outputs + first + o] += sum;
                }
            }
        }
    }
}

/// Adds Σᵢ y(i, o)·z(i) to `out[o·width..]`, rows in order; `values` is rows × outputs, row-major.
///
/// # Panics
/// If the slices are too short for the shapes.
#[inline(never)]
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

/// Rows that are gone down at once: each lies on a page of its own.
const ROWS: usize = 32;

impl<T: Element> Task<T> for ProjectBack<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = T>, const R: usize>(mut self) {
        for start in (0..self.rows.count).step_by(ROWS) {
            let rows = start..self.rows.count.min(start + ROWS);
            let mut first = 0;
            while first < self.outputs {
                // SAFETY: `run` is only called by `dispatch`; rows and outputs that are named exist.
                first += unsafe {
                    match self.outputs - first {
                        4.. if sums_at_once::<L, R>() > 4 => self.add_rows::<L, 2, 4>(&rows, first),
                        4.. => self.add_rows::<L, 1, 4>(&rows, first),
                        2.. => self.add_rows::<L, 2, 2>(&rows, first),
                        // Four vectors as f64 of f32 would take a register more than AVX2 has.
                        _ if sums_at_once::<L, R>() > 4 => self.add_rows::<L, 4, 1>(&rows, first),
                        _ => self.add_rows::<L, 3, 1>(&rows, first),
                    }
                };
            }
        }
    }
}

impl<T: Element> ProjectBack<'_, T> {
    /// Adds some rows to `O` outputs from `first` on, `V` vectors of columns at once; gives back `O`.
    ///
    /// # Safety
    /// The instructions of `L` exist; there are as many rows and outputs.
    #[inline(always)]
    unsafe fn add_rows<L: Lanes<Elem = T>, const V: usize, const O: usize>(
        &mut self,
        rows: &Range<usize>,
        first: usize,
    ) -> usize {
        let (many, whole) = (self.width / (V * L::N) * (V * L::N), self.width / L::N * L::N);
        // SAFETY: as for this function; columns stay below the width.
        unsafe {
            for j in (0..many).step_by(V * L::N) {
                self.add::<L, V, O>(rows, first, j);
            }
            for j in (many..whole).step_by(L::N) {
                self.add::<L, 1, O>(rows, first, j);
            }
        }
        for j in whole..self.width {
            for o in first..first + O {
                for i in rows.clone() {
                    let z = self.rows.data[i * self.rows.stride + j].to_f64();
                    self.out[o * self.width + j] += self.values[i * self.outputs + o] * z;
                }
            }
        }
        O
    }

    /// The same for `V` vectors of columns from `j` on, whose sums stay in registers while rows go by, in their order.
    ///
    /// # Safety
    /// The instructions of `L` exist; there are as many rows, outputs and columns.
    #[inline(always)]
    unsafe fn add<L: Lanes<Elem = T>, const V: usize, const O: usize>(
        &mut self,
        rows: &Range<usize>,
        first: usize,
        j: usize,
    ) {
        let has_high = L::N > L::Wide::N;
        let place = |o: usize, v: usize| (first + o) * self.width + j + v * L::N;
        // SAFETY: as for this function; rows hold `width` numbers, outputs too, and there is a value for each row and output.
        unsafe {
            let mut sums: [[[L::Wide; 2]; V]; O] = std::array::from_fn(|o| {
                std::array::from_fn(|v| {
                    let from = self.out.as_ptr().add(place(o, v));
                    let low = L::Wide::load(from);
                    [low, if has_high { L::Wide::load(from.add(L::Wide::N)) } else { low }]
                })
            });
            for i in rows.clone() {
                let z = self.rows.data.as_ptr().add(i * self.rows.stride + j);
                let y = self.values.as_ptr().add(i * self.outputs + first);
                let wide: [(L::Wide, L::Wide); V] = std::array::from_fn(|v| L::load(z.add(v * L::N)).widen());
                for o in 0..O {
                    let y = L::Wide::splat(*y.add(o));
                    for v in 0..V {
                        sums[o][v][0] = wide[v].0.mul_add(y, sums[o][v][0]);
                        if has_high {
                            sums[o][v][1] = wide[v].1.mul_add(y, sums[o][v][1]);
                        }
                    }
                }
            }
            for o in 0..O {
                for v in 0..V {
                    let to = self.out.as_mut_ptr().add(place(o, v));
                    sums[o][v][0].store(to);
                    if has_high {
                        sums[o][v][1].store(to.add(L::Wide::N));
                    }
                }
            }
        }
    }
}

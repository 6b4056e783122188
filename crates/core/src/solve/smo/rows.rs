//! Kernel values of a row with many others, in bulk.
//!
//! ```text
//! packed     rows × panels, the kernel's own loop                               where many entries are not zero
//! inverted   s(j) = βᵢ + βⱼ + Σ_{k in both} τ(xᵢₖ, xⱼₖ),  k = s or exp(−rate·s)       where few are
//!            product   β = 0      τ = a·b
//!            squared   β = Σ a²   τ = −2ab
//!            absolute  β = Σ |a|  τ = |a − b| − |a| − |b|
//! ```
//! Inverted: each column lists the rows that have it, so that only columns that both rows have cost anything. A column of one value, as
//! indicators have, is a list of places alone, and where most rows have it, of those that have not. Values are computed in f64 and rounded
//! once at most. k(i, j) and k(j, i) are the same operations in the same order, so the same bits; but for columns that most rows have, where the
//! last bit in f64 may differ, which no step depends on and which all rows catching up in f64 makes good. Other kernels fill blocks as they do for Gram matrices, or are asked pair by pair where
//! few entries are not zero.

use bochner_simd::{Apply, Distance, Isa, Panels, RowsRef, decays};

use crate::engine::Check;
use crate::kernel::{Against, Simple};
use crate::{Engine, Kernel, Matrix, Result, Rows, Scalar};

/// Rows in a part of a side: their places are 16 bits.
const MOST_PLACES: usize = 1 << 16;

/// Rows whose values with a part are computed at once: as many as share a register tile.
const TOGETHER: usize = 8;

/// Asks whether to go on, after so much work that asking costs nothing and soon enough for who waits.
pub(super) struct Pace<'a> {
    pub(super) check: Check<'a>,
    /// The part done, from 0 to 1.
    pub(super) done: f64,
    work: u64,
}

/// Additions between two questions: some milliseconds.
const BETWEEN_QUESTIONS: u64 = 1 << 23;

impl<'a> Pace<'a> {
    pub(super) fn new(check: Check<'a>) -> Self {
        Pace { check, done: 0.0, work: 0 }
    }

    /// Counts additions.
    pub(super) fn spend(&mut self, additions: usize) -> Result<()> {
        self.work += additions as u64;
        if self.work < BETWEEN_QUESTIONS {
            return Ok(());
        }
        self.work = 0;
        (self.check)(self.done)
    }
}

/// The rows of a problem and how their kernel values are computed.
pub(super) struct KernelRows<'a, T> {
    kernel: &'a Kernel,
    rows: Rows<'a, T>,
    layout: Layout,
    /// Whether a column has one value, and that in most rows.
    common: Vec<bool>,
    engine: &'a Engine,
    /// Rows in double precision, and values on their way to single.
    dense: Vec<f64>,
    sums: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Layout {
    Packed,
    Inverted,
    Other,
    Pairwise,
}

/// Whether a distance found as a difference of the rows' own sums is good to ten digits of the exponent: rows far from zero for the kernel's width are not.
fn resolves<T: Scalar>(distance: Distance, rate: f64, rows: &Rows<'_, T>) -> bool {
    let size = |i: usize| -> f64 {
        let term = |x: f64| if distance == Distance::Squared { x * x } else { x.abs() };
        rows.entries(i).map(|(_, x)| term(x.to_f64())).sum()
    };
    let largest = (0..rows.count()).map(size).fold(0.0, f64::max);
    rate * largest * f64::EPSILON < 1e-10
}

/// Some rows in some order: the other side of a kernel row.
pub(super) struct Side {
    parts: Vec<Part>,
}

enum Part {
    Packed(Panels<f64>),
    Inverted(Inverted),
    Other { against: Against<f64>, count: usize },
    Pairwise(Vec<u32>),
}

/// Of each column, the rows that have it.
struct Inverted {
    /// βⱼ of each row.
    bases: Vec<f64>,
    /// Column k has the entries `starts[k]..starts[k + 1]`.
    starts: Vec<u32>,
    places: Vec<u16>,
    values: Vec<f64>,
    /// The value of a column that has one only, else NaN.
    only: Vec<f64>,
    /// Whether the places are those of the rows that do not have the column, which are fewer where it is common.
    absent: Vec<bool>,
}

impl<'a, T: Scalar> KernelRows<'a, T> {
    /// Counts what is not zero to choose a layout.
    pub(super) fn new(engine: &'a Engine, kernel: &'a Kernel, rows: Rows<'a, T>) -> Self {
        let (n, columns) = (rows.count(), rows.columns());
        // Of each column: its entries, the first of them, and whether all are the same.
        let mut seen = vec![(0usize, T::default(), true); columns];
        for (k, x) in (0..n).flat_map(|i| rows.entries(i)) {
            let (count, first, same) = &mut seen[k as usize];
            *first = if *count == 0 { x } else { *first };
            (*count, *same) = (*count + 1, *same && *first == x);
        }
        let some: usize = seen.iter().map(|column| column.0).sum();
        // A match costs about three times a multiplication inside a panel, and there are `share²` of them.
        let few = some as f64 <= 0.35 * n as f64 * columns as f64;
        let layout = match kernel.simple() {
            None if few => Layout::Pairwise,
            None => Layout::Other,
            Some(Simple::Decay { distance, rate }) if few && !resolves(distance, rate, &rows) => {
                Layout::Pairwise
            }
            Some(_) if few => Layout::Inverted,
            Some(_) => Layout::Packed,
        };
        let common = seen.iter().map(|&(count, _, same)| same && 2 * count > n).collect();
        KernelRows { kernel, rows, layout, common, engine, dense: Vec::new(), sums: Vec::new() }
    }

    /// The instruction set of all loops.
    pub(super) fn isa(&self) -> Isa {
        self.engine.isa()
    }

    /// Prepares some rows, in the order given.
    pub(super) fn side(&self, rows: &[u32]) -> Side {
        let columns = self.rows.columns();
        let most = match self.layout {
            Layout::Packed => ((1 << 22) / columns.max(1)).clamp(64, MOST_PLACES),
            // Sums of a part stay in a near cache; a part's table of columns is no larger than its rows.
            Layout::Inverted => columns.clamp(1 << 13, MOST_PLACES),
            Layout::Pairwise | Layout::Other => ((1 << 19) / columns.max(1)).clamp(1, MOST_PLACES),
        };
        let part = |rows: &[u32]| match self.layout {
            Layout::Packed => {
                Part::Packed(Panels::pack(self.engine.isa(), columns, rows.len(), &mut |j, column| {
                    self.rows.entries(rows[j] as usize).for_each(|(k, x)| column[k as usize] = x.to_f64());
                }))
            }
            Layout::Inverted => Part::Inverted(self.invert(rows)),
            Layout::Other => {
                let dense = self.densified(rows);
                // A kernel that was checked against these rows.
                let against = Against::new(self.engine, self.kernel, &Rows::from(&dense));
                Part::Other {
                    against: against.unwrap_or_else(|_| Against::nothing(rows.len())),
                    count: rows.len(),
                }
            }
            Layout::Pairwise => Part::Pairwise(rows.to_vec()),
        };
        Side { parts: rows.chunks(most).map(part).collect() }
    }

    fn invert(&self, rows: &[u32]) -> Inverted {
        let columns = self.rows.columns();
        let mut starts = vec![0u32; columns + 1];
        for &row in rows {
            self.rows.entries(row as usize).for_each(|(k, _)| starts[k as usize + 1] += 1);
        }
        for k in 0..columns {
            starts[k + 1] += starts[k];
        }
        let mut next = starts.clone();
        let total = starts[columns] as usize;
        let (mut places, mut values) = (vec![0u16; total], vec![0.0; total]);
        for (place, &row) in rows.iter().enumerate() {
            for (k, x) in self.rows.entries(row as usize) {
                let at = next[k as usize] as usize;
                (places[at], values[at]) = (place as u16, x.to_f64());
                next[k as usize] += 1;
            }
        }
        let mut inverted = Inverted {
            bases: rows.iter().map(|&row| self.base(row)).collect(),
            starts: vec![0],
            places: Vec::with_capacity(total),
            values: Vec::with_capacity(total),
            only: Vec::with_capacity(columns),
            absent: Vec::with_capacity(columns),
        };
        for k in 0..columns {
            let column = starts[k] as usize..starts[k + 1] as usize;
            inverted.push(&places[column.clone()], &values[column], self.common[k]);
        }
        inverted
    }

    /// β of a row.
    fn base(&self, row: u32) -> f64 {
        let entries = self.rows.entries(row as usize).map(|(_, x)| x.to_f64());
        match self.kernel.simple() {
            Some(Simple::Decay { distance: Distance::Squared, .. }) => entries.map(|x| x * x).sum(),
            Some(Simple::Decay { distance: Distance::Absolute, .. }) => entries.map(f64::abs).sum(),
            _ => 0.0,
        }
    }

    /// Writes the kernel values of a row with the whole side.
    pub(super) fn fill(&mut self, side: &Side, row: u32, out: &mut [f32], pace: &mut Pace<'_>) -> Result<()> {
        let mut first = 0;
        for part in &side.parts {
            let count = part.count();
            self.fill_part(part, &[row], &mut out[first..first + count], pace)?;
            first += count;
        }
        Ok(())
    }

    /// out(j) += Σ factor·k(row, j) over (row, factor) pairs and the whole side, in double precision throughout.
    pub(super) fn add(
        &mut self,
        side: &Side,
        terms: &[(u32, f64)],
        out: &mut [f64],
        pace: &mut Pace<'_>,
    ) -> Result<()> {
        let (mut first, mut values) = (0, Vec::new());
        for part in &side.parts {
            let count = part.count();
            values.resize(TOGETHER * count, 0.0);
            for some in terms.chunks(TOGETHER) {
                let rows: Vec<u32> = some.iter().map(|term| term.0).collect();
                self.fill_part(part, &rows, &mut values[..rows.len() * count], pace)?;
                for (&(_, factor), values) in some.iter().zip(values.chunks_exact(count)) {
                    let out = out[first..first + count].iter_mut();
                    out.zip(values).for_each(|(out, value)| *out += factor * value);
                }
            }
            first += count;
        }
        Ok(())
    }

    /// The kernel values of each of `rows` with a part, row after row.
    fn fill_part<O: Scalar>(
        &mut self,
        part: &Part,
        rows: &[u32],
        out: &mut [O],
        pace: &mut Pace<'_>,
    ) -> Result<()> {
        match part {
            Part::Packed(panels) => {
                self.fill_packed(panels, rows, out);
                pace.spend(out.len() * (1 + self.rows.columns() / 4))
            }
            Part::Inverted(inverted) => {
                for (&row, out) in rows.iter().zip(out.chunks_exact_mut(inverted.bases.len())) {
                    let matches = self.fill_inverted(inverted, row, out);
                    pace.spend(matches + 4 * out.len())?;
                }
                Ok(())
            }
            Part::Other { against, count } => {
                for (some, out) in rows.chunks(TOGETHER).zip(out.chunks_mut(TOGETHER * count)) {
                    let dense = self.densified(some);
                    self.sums.resize(self.sums.len().max(out.len()), 0.0);
                    against.fill(&Rows::from(&dense), &mut self.sums[..out.len()]);
                    round(&self.sums, out);
                    pace.spend(out.len() * (1 + self.rows.columns()) * 8)?;
                }
                Ok(())
            }
            Part::Pairwise(others) => {
                for (&row, out) in rows.iter().zip(out.chunks_exact_mut(others.len())) {
                    for (out, &other) in out.iter_mut().zip(others) {
                        // The smaller first, for the same bits either way.
                        let (i, j) = (row.min(other) as usize, row.max(other) as usize);
                        *out = O::from_f64(self.kernel.eval(&self.rows, i, &self.rows, j));
                    }
                    pace.spend(others.len() * (1 + self.rows.columns()) * 8)?;
                }
                Ok(())
            }
        }
    }

    /// Some rows in double precision, with all their zeros.
    fn densified(&self, rows: &[u32]) -> Matrix<f64> {
        let mut dense = Matrix::zeros(rows.len(), self.rows.columns());
        for (r, &row) in rows.iter().enumerate() {
            let to = dense.row_mut(r);
            self.rows.entries(row as usize).for_each(|(k, x)| to[k as usize] = x.to_f64());
        }
        dense
    }

    fn fill_packed<O: Scalar>(&mut self, panels: &Panels<f64>, rows: &[u32], out: &mut [O]) {
        let columns = self.rows.columns();
        let what: Apply<'_, f64> = self.kernel.simple().map_or(Apply::Product, Simple::apply);
        self.dense.clear();
        self.dense.resize(rows.len() * columns, 0.0);
        for (r, &row) in rows.iter().enumerate() {
            for (k, x) in self.rows.entries(row as usize) {
                self.dense[r * columns + k as usize] = x.to_f64();
            }
        }
        self.sums.resize(self.sums.len().max(out.len()), 0.0);
        let dense = RowsRef { data: &self.dense, count: rows.len(), stride: columns };
        bochner_simd::apply(dense, panels, &what, &mut self.sums, panels.columns());
        round(&self.sums, out);
    }

    /// The number of matches comes back.
    fn fill_inverted<O: Scalar>(&mut self, others: &Inverted, row: u32, out: &mut [O]) -> usize {
        self.sums.resize(self.sums.len().max(MOST_PLACES), 0.0);
        // As an array, so that no place needs a check.
        let base = self.base(row);
        let Some(sums) = self.sums.first_chunk_mut::<MOST_PLACES>() else { return 0 };
        let rows = self.rows;
        let entries = || rows.entries(row as usize);
        let matches = match self.kernel.simple() {
            Some(Simple::Decay { distance: Distance::Squared, .. }) => {
                others.sums(base, entries, sums, |a, b| -2.0 * a * b)
            }
            Some(Simple::Decay { distance: Distance::Absolute, .. }) => {
                others.sums(base, entries, sums, |a, b| (a - b).abs() - (a.abs() + b.abs()))
            }
            _ => others.sums(base, entries, sums, |a, b| a * b),
        };
        let sums = &sums[..out.len()];
        match self.kernel.simple() {
            Some(Simple::Decay { rate, .. }) => decays(self.engine.isa(), rate, sums, out),
            _ => round(sums, out),
        }
        matches
    }
}

impl Inverted {
    /// Adds a column, by those that lack it if `absent`.
    fn push(&mut self, places: &[u16], values: &[f64], absent: bool) {
        let same = values.windows(2).all(|pair| pair[0].to_bits() == pair[1].to_bits());
        self.only.push(if same { values.first().copied().unwrap_or(0.0) } else { f64::NAN });
        self.absent.push(absent);
        if absent {
            let mut present = places.iter().copied().peekable();
            let all = (0..self.bases.len()).map(|place| place as u16);
            self.places.extend(all.filter(|&place| present.next_if_eq(&place).is_none()));
            self.values.resize(self.places.len(), 0.0);
        } else {
            self.places.extend_from_slice(places);
            self.values.extend_from_slice(values);
        }
        self.starts.push(self.places.len() as u32);
    }

    /// s(j) = βᵢ + βⱼ + Σ τ over the columns of row i; how many terms there were.
    fn sums<T: Scalar, E: Iterator<Item = (u32, T)>>(
        &self,
        base: f64,
        entries: impl Fn() -> E,
        sums: &mut [f64; MOST_PLACES],
        term: impl Fn(f64, f64) -> f64,
    ) -> usize {
        // What most rows have is given to all and taken from the others.
        let most = entries().filter(|&(k, _)| self.absent[k as usize]);
        let base = base + most.map(|(k, a)| term(a.to_f64(), self.only[k as usize])).sum::<f64>();
        sums.iter_mut().zip(&self.bases).for_each(|(sum, other)| *sum = base + other);
        let mut matches = 0;
        for (k, a) in entries() {
            let (k, a) = (k as usize, a.to_f64());
            let column = self.starts[k] as usize..self.starts[k + 1] as usize;
            let places = &self.places[column.clone()];
            matches += places.len();
            if self.only[k].is_nan() {
                for (&place, &b) in places.iter().zip(&self.values[column]) {
                    sums[place as usize] += term(a, b);
                }
            } else {
                let term = term(a, self.only[k]);
                let term = if self.absent[k] { -term } else { term };
                for &place in places {
                    sums[place as usize] += term;
                }
            }
        }
        matches
    }
}

impl Part {
    /// Its rows.
    fn count(&self) -> usize {
        match self {
            Part::Packed(panels) => panels.columns(),
            Part::Inverted(inverted) => inverted.bases.len(),
            Part::Other { count, .. } => *count,
            Part::Pairwise(rows) => rows.len(),
        }
    }
}

fn round<O: Scalar>(values: &[f64], out: &mut [O]) {
    out.iter_mut().zip(values).for_each(|(out, &value)| *out = O::from_f64(value));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Csr, Matrix};
    use bochner_testkit::{Absolute, assert_close, normals};

    /// Every layout against the definition, and k(i, j) = k(j, i) to the bit.
    #[test]
    fn rows_are_kernel_values_whatever_the_layout() {
        let engine = Engine::default();
        let (n, d) = (60, 7);
        let x = Matrix::new(n, d, normals(n, d, 1)).unwrap();
        let mut thin = x.clone();
        for (at, value) in thin.as_mut_slice().iter_mut().enumerate() {
            *value = if at * 7 % 10 < 8 { 0.0 } else { *value };
            // Indicators, of a few rows and of most.
            *value = if at % d == 0 { f64::from(u8::from(at % 5 == 0)) } else { *value };
            *value = if at % d == 1 { f64::from(u8::from(at % 5 > 0)) * 0.5 } else { *value };
        }
        let mut sparse = Csr::empty(d);
        (0..n).for_each(|i| sparse.push_row(Rows::from(&thin).entries(i)));
        let order: Vec<u32> = (0..n as u32).rev().collect();
        for kernel in [
            "linear",
            "gaussian(sigma=1.3)",
            "laplace(scale=2)",
            "hat(width=3)",
            "poly(degree=2,c=1)*matern(nu=1.5,scale=3)",
        ] {
            let kernel: Kernel = kernel.parse().unwrap();
            for (rows, few) in
                [(Rows::from(&x), false), (Rows::from(&thin), true), (Rows::from(&sparse), true)]
            {
                let mut kernels = KernelRows::new(&engine, &kernel, rows);
                let pairwise = kernel.simple().is_none();
                assert_eq!(kernels.layout == Layout::Inverted, few && !pairwise);
                let mut out = vec![0f32; n * n];
                let mut pace = Pace::new(&|_| Ok(()));
                let side = kernels.side(&order);
                for (i, out) in out.chunks_mut(n).enumerate() {
                    kernels.fill(&side, i as u32, out, &mut pace).unwrap();
                }
                let terms: Vec<(u32, f64)> = (0..n as u32).map(|i| (i, (f64::from(i)).sin())).collect();
                let mut sums = vec![1.0; n];
                kernels.add(&side, &terms, &mut sums, &mut pace).unwrap();
                let sum = |&j: &u32| -> f64 {
                    terms.iter().map(|&(i, f)| f * kernel.eval(&rows, i as usize, &rows, j as usize)).sum()
                };
                let expected: Vec<f64> = order.iter().map(|j| 1.0 + sum(j)).collect();
                assert_close(&sums, &expected, Absolute(1e-11));
                for i in 0..n {
                    for j in 0..n {
                        let (found, mirrored) = (out[i * n + n - 1 - j], out[j * n + n - 1 - i]);
                        let exact = kernel.eval(&rows, i, &rows, j);
                        assert!(
                            (f64::from(found) - exact).abs() <= 1e-7 * exact.abs().max(1e-3),
                            "{kernel} {i} {j}"
                        );
                        assert_eq!(found.to_bits(), mirrored.to_bits());
                    }
                }
            }
        }
    }

    #[test]
    fn one_long_row_asks_whether_to_go_on() {
        let engine = Engine::default();
        let rows = Matrix::<f64>::from_fn(3000, 400, |i, j| ((i + j) % 7) as f64);
        let order: Vec<u32> = (0..3000).collect();
        let check = |_: f64| Err(crate::Error::Interrupted);
        let mut out = vec![0.0; 3000];
        let kernel = Kernel::hat(9.0);
        let mut kernels = KernelRows::new(&engine, &kernel, Rows::from(&rows));
        let side = kernels.side(&order);
        let mut pace = Pace { work: BETWEEN_QUESTIONS - 1, ..Pace::new(&check) };
        assert!(kernels.fill(&side, 0, &mut out, &mut pace).is_err(), "stopped within the row");
        assert!(out[2999] <= 0.0, "before its end");
    }
}

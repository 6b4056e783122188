//! Kernel values at landmarks, plain or whitened (Nyström).
//!
//! ```text
//! F₁(x) = (k(x, x₁), …, k(x, x_m))
//! F₂(x) = F₁(x)·U⁻¹,   K = UᵀU the Gram matrix of the landmarks      F₂(x)·F₂(y) = k(x)ᵀK⁻¹k(y)
//! |k(x, y) − F₂(x)·F₂(y)| ≤ √(r(x)·r(y)),   r(x) = k(x, x) − ‖F₂(x)‖² ≥ 0
//! ```
//! F₂ is the projection of the kernel's own features on the span of the landmarks. The factor is a Cholesky factor with pivoting
//! that stops when the largest remaining r of a landmark is below the tolerance: landmarks that the others
//! already explain are left out, U stays well conditioned, and D is the rank found. Works for every kernel; costs n·m·d + n·m²/2
//! multiply-adds to apply (U⁻¹ is triangular) and stores the landmarks. Williams & Seeger (2001). `docs/book/landmarks.md`.

mod choose;

use bochner_simd::{Apply, Panels};
use serde::{Deserialize, Serialize};

pub(crate) use self::choose::Values;
use super::{MapSpec, Packed, PerPrecision};
use crate::engine::{Check, UNASKED};
use crate::kernel::{Against, OfAgainst, apply};
use crate::stat::Sample;
use crate::{Csr, Engine, Error, Kernel, Matrix, MatrixView, OwnedRows, Result, Rows, Scalar, linalg};

/// How landmarks are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Choice {
    /// Any row like any other.
    #[default]
    Uniform,
    /// Far from those already taken, in the kernel's own space.
    KMeansPlusPlus,
    /// In proportion to their ridge leverage scores.
    Leverage,
    /// In proportion to what those already taken leave of them: randomly pivoted Cholesky.
    Cholesky,
    /// Somebody else's: [`MapSpec::fit_at`].
    Given,
}

impl Choice {
    pub(super) fn is_usual(&self) -> bool {
        *self == Choice::Uniform
    }

    /// Candidates for so many landmarks among rows of so many columns.
    pub(crate) fn candidates(self, landmarks: usize, columns: usize) -> usize {
        /// Entries of all candidates, where they are not landmarks all.
        const ENTRIES: usize = 1 << 24;
        match self {
            Choice::Uniform | Choice::Given => landmarks,
            // More candidates know more of what is rare; all choices cost candidates × landmarks².
            _ => landmarks.saturating_mul(4).max(8192).min(ENTRIES / columns.max(1)).max(landmarks),
        }
    }
}

/// Landmarks and the inverse of their factor.
#[derive(Clone, Debug)]
pub(crate) struct Landmarks {
    /// One row for each landmark kept, in the order of pivots.
    rows: Matrix<f64>,
    /// U⁻¹, upper triangular; none for plain kernel values.
    whitening: Option<Matrix<f64>>,
    against: PerPrecision<OfAgainst>,
    packed_whitening: Packed,
}

pub(super) fn validate(tolerance: f64) -> Result<()> {
    if (1e-13..1.0).contains(&tolerance) {
        return Ok(());
    }
    Err(Error::Parameter { name: "tolerance", expected: "between 1e-13 and 1", found: tolerance.to_string() })
}

/// Landmarks from a sample.
pub(super) fn choose(
    engine: &Engine,
    spec: &MapSpec,
    choice: Choice,
    sample: &Sample,
    check: Check<'_>,
) -> Result<Matrix<f64>> {
    if sample.is_empty() {
        return Err(Error::NoRows);
    }
    let candidates = dense(sample.rows(choice.candidates(spec.features, sample.columns())));
    if choice == Choice::Uniform {
        let count = spec.features.min(candidates.rows());
        return Ok(Matrix::from_fn(count, candidates.columns(), |i, j| candidates.row(i)[j]));
    }
    let values = RowValues::new(engine, &spec.kernel, &candidates)?;
    let weights = sample.weights(candidates.rows());
    let chosen = among(choice, &values, &weights, spec.features, spec.seed, check)?;
    if chosen.is_empty() {
        return Err(Error::NoLandmark { rows: candidates.rows() });
    }
    Ok(Matrix::from_fn(chosen.len(), candidates.columns(), |i, j| candidates.row(chosen[i])[j]))
}

/// At most `count` of some candidates, by their kernel values. Uniform ones are the first, which come in random order.
pub(super) fn among(
    choice: Choice,
    values: &dyn Values,
    weights: &[f64],
    count: usize,
    seed: u64,
    check: Check<'_>,
) -> Result<Vec<usize>> {
    let choice = match choice {
        Choice::Uniform => choose::Choice::Uniform,
        Choice::KMeansPlusPlus => choose::Choice::KMeansPlusPlus,
        Choice::Leverage => choose::Choice::Leverage { sample: None },
        Choice::Cholesky => choose::Choice::Cholesky { tolerance: 1e-12 },
        Choice::Given => {
            return Err(Error::Unsupported {
                what: "choosing landmarks that are given".to_owned(),
                reason: "a sample of rows is not them",
                instead: "give them to fit_at",
            });
        }
    };
    choice.choose(values, weights, count, seed, &|done| check(done / 2.0))
}

/// Kernel values among rows.
struct RowValues<'a> {
    engine: &'a Engine,
    kernel: &'a Kernel,
    rows: &'a Matrix<f64>,
    /// All of them, prepared.
    all: Against<f64>,
    /// Whether most of their entries are zeros that are worth passing over.
    are_sparse: bool,
}

/// Columns that share one read of the rows.
const TOGETHER: usize = 16;

/// Columns from which on zeros of landmarks are passed over, if most entries are.
const WIDE: usize = 1024;

impl<'a> RowValues<'a> {
    fn new(engine: &'a Engine, kernel: &'a Kernel, rows: &'a Matrix<f64>) -> Result<Self> {
        let stored = || rows.as_slice().iter().filter(|x| **x != 0.0).count();
        let are_sparse = rows.columns() > WIDE && 8 * stored() < rows.as_slice().len();
        let all = Against::new(engine, kernel, &Rows::from(rows))?;
        Ok(RowValues { engine, kernel, rows, all, are_sparse })
    }

    fn part(&self, numbers: &[usize]) -> Matrix<f64> {
        Matrix::from_fn(numbers.len(), self.rows.columns(), |i, j| self.rows.row(numbers[i])[j])
    }

    /// The chosen ones as rows, so that a column is contiguous.
    fn fill(&self, against: &Against<f64>, count: usize, chosen: &[usize], out: &mut [f64]) {
        let fill = |at: usize, out: &mut [f64]| {
            let numbers = &chosen[at * TOGETHER..chosen.len().min((at + 1) * TOGETHER)];
            let part = self.part(numbers);
            if self.are_sparse {
                let mut sparse = Csr::empty(part.columns());
                (0..part.rows()).for_each(|i| sparse.push_row(Rows::from(&part).doubled_entries(i)));
                against.fill(&Rows::from(&sparse), out);
            } else {
                against.fill(&Rows::from(&part), out);
            }
        };
        self.engine.for_each_chunk(out, TOGETHER * count, &fill);
    }
}

impl Values for RowValues<'_> {
    fn count(&self) -> usize {
        self.rows.rows()
    }

    fn diagonal(&self) -> Vec<f64> {
        self.kernel.diagonal(&Rows::from(self.rows))
    }

    fn columns(&self, chosen: &[usize], out: &mut [f64]) {
        self.fill(&self.all, self.count(), chosen, out);
    }

    fn block(&self, rows: &[usize], chosen: &[usize], out: &mut [f64]) {
        // What could be prepared as a whole can be in part.
        match Against::new(self.engine, self.kernel, &Rows::from(&self.part(rows))) {
            Ok(against) => self.fill(&against, rows.len(), chosen, out),
            Err(_) => out.fill(0.0),
        }
    }
}

/// Rows with all their zeros.
fn dense(rows: OwnedRows<f64>) -> Matrix<f64> {
    match rows {
        OwnedRows::Dense(rows) => rows,
        sparse @ OwnedRows::Sparse(_) => {
            let view = sparse.view();
            let mut rows = Matrix::zeros(view.count(), view.columns());
            (0..view.count()).for_each(|i| view.densify(i, rows.row_mut(i)));
            rows
        }
    }
}

impl Landmarks {
    /// With these rows; whitened to a tolerance if one is given.
    pub(super) fn at(
        engine: &Engine,
        kernel: &Kernel,
        tolerance: Option<f64>,
        rows: Matrix<f64>,
        check: Check<'_>,
    ) -> Result<Self> {
        let Some(tolerance) = tolerance else { return Ok(Landmarks::new(rows, None)) };
        let values = gram(engine, kernel, &rows, &|done| check(done / 4.0))?;
        let (pivots, whitening) = whitening(engine, values, tolerance, check)?;
        let kept = Matrix::from_fn(pivots.len(), rows.columns(), |i, j| rows.row(pivots[i])[j]);
        Ok(Landmarks::new(kept, Some(whitening)))
    }

    /// From stored state.
    pub(crate) fn new(rows: Matrix<f64>, whitening: Option<Matrix<f64>>) -> Self {
        Landmarks { rows, whitening, against: PerPrecision::default(), packed_whitening: Packed::default() }
    }

    pub(crate) fn rows(&self) -> &Matrix<f64> {
        &self.rows
    }

    pub(crate) fn whitening(&self) -> Option<&Matrix<f64>> {
        self.whitening.as_ref()
    }

    pub(super) fn input_dim(&self) -> usize {
        self.rows.columns()
    }

    pub(super) fn output_dim(&self) -> usize {
        self.rows.rows()
    }

    /// F₁ or F₂ of each row.
    pub(super) fn apply<T: Scalar>(
        &self,
        engine: &Engine,
        kernel: &Kernel,
        rows: &Rows<'_, T>,
        out: &mut [T],
    ) {
        let count = self.rows.rows();
        if let Some(double) = kernel.in_double(rows) {
            let mut values = vec![0.0; rows.count() * count];
            self.apply(engine, kernel, &double.view(), &mut values);
            return out.iter_mut().zip(values).for_each(|(to, value)| *to = T::from_f64(value));
        }
        let Some(whitening) = &self.whitening else { return self.fill_values(engine, kernel, rows, out) };
        let factor = self.packed_whitening.get(engine.isa(), || {
            let mut column = |j: usize, column: &mut [T]| {
                (0..=j).for_each(|i| column[i] = T::from_f64(whitening.row(i)[j]));
            };
            Panels::pack(engine.isa(), count, count, &mut column).upper_triangular()
        });
        let mut values = vec![T::default(); rows.count() * count];
        self.fill_values(engine, kernel, rows, &mut values);
        if let Ok(values) = MatrixView::new(&values, rows.count(), count) {
            apply(&Rows::Dense(values), factor, &Apply::Product, out, count);
        }
    }
}

impl Landmarks {
    /// F₁ of each row, in the precision of the row.
    pub(super) fn fill_values<T: Scalar>(
        &self,
        engine: &Engine,
        kernel: &Kernel,
        rows: &Rows<'_, T>,
        out: &mut [T],
    ) {
        let against = self.against.get(engine.isa(), || {
            let landmarks = convert::<T>(&self.rows);
            // The kernel was one for these rows when they were chosen.
            Against::new(engine, kernel, &Rows::from(&landmarks))
                .unwrap_or_else(|_| Against::nothing(self.rows.rows()))
        });
        against.fill(rows, out);
    }
}

/// K, in strips that threads share and between which the work may be stopped.
fn gram(engine: &Engine, kernel: &Kernel, rows: &Matrix<f64>, check: Check<'_>) -> Result<Matrix<f64>> {
    let count = rows.rows();
    let values = RowValues::new(engine, kernel, rows)?;
    let mut gram = Matrix::zeros(count, count);
    let shared = TOGETHER * engine.threads();
    let strip = (UNASKED / (count * rows.columns()).max(1)).next_multiple_of(shared).max(shared);
    let numbers: Vec<usize> = (0..count).collect();
    for (numbers, out) in numbers.chunks(strip).zip(gram.as_mut_slice().chunks_mut(strip * count.max(1))) {
        values.columns(numbers, out);
        check(numbers.last().map_or(1.0, |last| (last + 1) as f64 / count as f64))?;
    }
    Ok(gram)
}

/// The landmarks that are kept, by a Gram matrix of all, and U⁻¹ of them.
pub(super) fn whitening(
    engine: &Engine,
    gram: Matrix<f64>,
    tolerance: f64,
    check: Check<'_>,
) -> Result<(Vec<usize>, Matrix<f64>)> {
    let rows = gram.rows();
    if gram.as_slice().iter().any(|value| !value.is_finite()) {
        return Err(Error::Overflow { what: "the kernel's values at landmarks" });
    }
    let (pivots, lower) = pivoted_cholesky(engine, gram, tolerance, &|done| check((1.0 + done) / 4.0))?;
    if pivots.is_empty() {
        return Err(Error::NoLandmark { rows });
    }
    let inverse = linalg::lower_inverse(engine, &lower, &|done| check((1.0 + done) / 2.0))?;
    let whitening = Matrix::from_fn(pivots.len(), pivots.len(), |i, j| inverse.row(j)[i]);
    Ok((pivots, whitening))
}

/// The same entries in another precision.
fn convert<T: Scalar>(matrix: &Matrix<f64>) -> Matrix<T> {
    Matrix::from_fn(matrix.rows(), matrix.columns(), |i, j| T::from_f64(matrix.row(i)[j]))
}

/// Columns of the factor computed before the rest of the matrix is updated by one product.
const PANEL: usize = 64;

/// PᵀAP ≈ LLᵀ with the pivots in the order taken, stopping when no remaining diagonal exceeds tolerance·max(diagonal).
///
/// Returns the positions of the pivots and the lower triangular factor of their part of A.
fn pivoted_cholesky(
    engine: &Engine,
    mut a: Matrix<f64>,
    tolerance: f64,
    check: Check<'_>,
) -> Result<(Vec<usize>, Matrix<f64>)> {
    let n = a.rows();
    let mut order: Vec<usize> = (0..n).collect();
    let mut diagonal: Vec<f64> = (0..n).map(|i| a.row(i)[i]).collect();
    let stop = tolerance * diagonal.iter().copied().fold(0.0, f64::max);
    // factor.row(k) is column k of L, in the current order of rows.
    let mut factor = Matrix::<f64>::zeros(n, n);
    let mut rank = 0;
    while rank < n {
        let start = rank;
        let end = n.min(start + PANEL);
        while rank < end {
            let best = (rank..n).fold(rank, |best, i| if diagonal[i] > diagonal[best] { i } else { best });
            if !(diagonal[best] > stop) {
                return Ok(finish(order, &factor, rank));
            }
            swap(&mut a, &mut factor, rank, best);
            order.swap(rank, best);
            diagonal.swap(rank, best);
            let pivot = diagonal[rank].sqrt();
            let mut column: Vec<f64> = a.row(rank)[rank..].to_vec();
            for k in start..rank {
                let row = factor.row(k);
                let along = row[rank];
                column.iter_mut().zip(&row[rank..]).for_each(|(c, l)| *c -= along * l);
            }
            column.iter_mut().for_each(|c| *c /= pivot);
            column[0] = pivot;
            for i in rank + 1..n {
                diagonal[i] -= column[i - rank] * column[i - rank];
            }
            factor.row_mut(rank)[rank..].copy_from_slice(&column);
            rank += 1;
        }
        if rank < n {
            let panel = &factor.as_slice()[start * n..rank * n];
            linalg::subtract_square(engine, &mut a, panel, rank - start, rank);
        }
        check(rank as f64 / n as f64)?;
    }
    Ok(finish(order, &factor, rank))
}

/// Exchanges rows and columns i ≤ j of the symmetric matrix and of the factor.
fn swap(a: &mut Matrix<f64>, factor: &mut Matrix<f64>, i: usize, j: usize) {
    if i == j {
        return;
    }
    let n = a.columns();
    for k in 0..n {
        a.as_mut_slice().swap(i * n + k, j * n + k);
    }
    for k in 0..n {
        a.row_mut(k).swap(i, j);
        factor.row_mut(k).swap(i, j);
    }
}

fn finish(mut order: Vec<usize>, factor: &Matrix<f64>, rank: usize) -> (Vec<usize>, Matrix<f64>) {
    order.truncate(rank);
    (order, Matrix::from_fn(rank, rank, |i, k| if k <= i { factor.row(k)[i] } else { 0.0 }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner_testkit::{Absolute, assert_close, normals};

    #[test]
    fn the_factor_multiplies_back_and_finds_the_rank() {
        for (n, rank) in [(1, 1), (5, 3), (150, 150), (150, 70)] {
            let b = Matrix::new(n, rank, normals(n, rank, 9)).unwrap();
            let a = Matrix::from_fn(n, n, |i, j| b.row(i).iter().zip(b.row(j)).map(|(x, y)| x * y).sum());
            let (pivots, lower) =
                pivoted_cholesky(&Engine::default(), a.clone(), 1e-10, &|_| Ok(())).unwrap();
            assert_eq!(pivots.len(), rank, "rank of {n}×{n}");
            for i in 0..rank {
                for j in 0..rank {
                    let product: f64 = (0..rank).map(|k| lower.row(i)[k] * lower.row(j)[k]).sum();
                    assert_close(&[product], &[a.row(pivots[i])[pivots[j]]], Absolute(1e-9 * rank as f64));
                }
            }
        }
    }
}

//! Eigenvalues and eigenvectors of a symmetric matrix, on one thread: faer's way to them depends on
//! the number of threads.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, Par};

use super::view;
use crate::{Error, Matrix, Result};

/// Eigenvalues in descending order, and one row for each eigenvector, its largest entry positive.
pub(crate) fn symmetric_eigen(matrix: &Matrix<f64>) -> Result<(Vec<f64>, Matrix<f64>)> {
    let n = matrix.rows();
    let mut vectors = Mat::<f64>::zeros(n, n);
    let mut values = vec![0.0; n];
    let scratch = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, Default::default());
    self_adjoint_evd(
        view(matrix),
        faer::diag::DiagMut::from_slice_mut(&mut values),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .map_err(|_| Error::Overflow { what: "the eigenvalues" })?;
    let largest = |k: usize| {
        let entry =
            (0..n).map(|j| vectors[(j, k)]).fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a });
        entry.signum()
    };
    let signs: Vec<f64> = (0..n).map(largest).collect();
    let from = |k: usize| n - 1 - k;
    let rows = Matrix::from_fn(n, n, |k, j| signs[from(k)] * vectors[(j, from(k))]);
    values.reverse();
    Ok((values, rows))
}

//! Is a matrix a Gram matrix?
//!
//! ```text
//! K is positive semidefinite  ⇔  Σᵢⱼ aᵢaⱼK(i, j) ≥ 0 for every a  ⇔  its smallest eigenvalue is not negative
//! ```
//! The eigenvector of the smallest eigenvalue is the combination a that shows it: Σᵢⱼ aᵢaⱼK(i, j) is that eigenvalue.

use std::fmt;

use crate::linalg::symmetric_eigen;
use crate::{Engine, Error, Matrix, Result};

/// What was found about a matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Definiteness {
    /// The smallest eigenvalue.
    pub smallest: f64,
    /// The largest one.
    pub largest: f64,
    /// a of length 1 with Σᵢⱼ aᵢaⱼK(i, j) = smallest.
    pub combination: Vec<f64>,
    /// How far below zero rounding alone may bring an eigenvalue: n·ε·largest.
    pub rounding: f64,
}

impl Definiteness {
    /// Whether the matrix is positive semidefinite, to rounding.
    pub fn holds(&self) -> bool {
        self.smallest >= -self.rounding
    }
}

/// Looks at a symmetric matrix of kernel values.
pub fn definiteness(engine: &Engine, gram: &Matrix<f64>) -> Result<Definiteness> {
    let n = gram.rows();
    if n == 0 {
        return Err(Error::NoRows);
    }
    if gram.columns() != n {
        return Err(Error::Length {
            what: "columns of a Gram matrix, one for each row",
            expected: n,
            found: gram.columns(),
        });
    }
    let size = gram.as_slice().iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if let Some(at) = gram.as_slice().iter().position(|x| !x.is_finite()) {
        let (row, column, value) = ((at / n) as u64, at % n, gram.as_slice()[at]);
        return Err(Error::NotFinite { what: "the Gram matrix", row, column, value });
    }
    for i in 0..n {
        if let Some(j) = (0..i).find(|&j| (gram.row(i)[j] - gram.row(j)[i]).abs() > 1e-10 * size) {
            let found = format!("{} at ({i}, {j}) and {} at ({j}, {i})", gram.row(i)[j], gram.row(j)[i]);
            return Err(Error::Parameter { name: "a Gram matrix", expected: "symmetric", found });
        }
    }
    let (values, vectors) = symmetric_eigen(engine, gram.clone(), &|_| Ok(()))?;
    let (smallest, largest) = (values[n - 1], values[0]);
    let rounding = n as f64 * f64::EPSILON * largest.max(-smallest);
    Ok(Definiteness { smallest, largest, combination: vectors.row(n - 1).to_vec(), rounding })
}

impl fmt::Display for Definiteness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.holds() {
            return write!(
                f,
                "positive semidefinite: eigenvalues from {:.3e} to {:.3e}",
                self.smallest, self.largest
            );
        }
        let mut order: Vec<usize> = (0..self.combination.len()).collect();
        order.sort_by(|&a, &b| self.combination[b].abs().total_cmp(&self.combination[a].abs()));
        let shown = order.iter().take(4).map(|&i| format!("{:+.3}·φ({i})", self.combination[i]));
        let more = if order.len() > 4 { " + …" } else { "" };
        let shown = shown.collect::<Vec<_>>().join(" ");
        write!(f, "not positive semidefinite: the square of {shown}{more} would be {:.3e}", self.smallest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner_testkit::{Relative, assert_close};

    #[test]
    fn a_violating_combination_is_shown() {
        // tanh(x·y − 1) is no kernel: its matrix on {0, 1, 2} has a negative diagonal entry.
        let gram = Matrix::from_fn(3, 3, |i, j| ((i * j) as f64 - 1.0).tanh());
        let found = definiteness(&Engine::default(), &gram).unwrap();
        assert!(!found.holds());
        let a = &found.combination;
        let square: f64 =
            (0..3).flat_map(|i| (0..3).map(move |j| (i, j))).map(|(i, j)| a[i] * a[j] * gram.row(i)[j]).sum();
        assert_close(&[square], &[found.smallest], Relative(1e-12));
        assert!(found.to_string().contains("not positive semidefinite: the square of"), "{found}");
        let gram = Matrix::from_fn(3, 3, |i, j| (i as f64 - 1.0) * (j as f64 - 1.0));
        assert!(
            definiteness(&Engine::default(), &gram).unwrap().holds(),
            "rank one, eigenvalue zero by rounding"
        );
        assert!(
            definiteness(&Engine::default(), &Matrix::from_fn(2, 2, |i, j| (i + 2 * j) as f64))
                .unwrap_err()
                .to_string()
                .contains("symmetric")
        );
        assert!(definiteness(&Engine::default(), &Matrix::from_fn(2, 2, |_, _| f64::NAN)).is_err());
        assert!(
            definiteness(&Engine::default(), &Matrix::zeros(0, 0)).is_err()
                && definiteness(&Engine::default(), &Matrix::zeros(1, 2)).is_err()
        );
    }
}

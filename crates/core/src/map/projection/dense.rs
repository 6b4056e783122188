//! Projections by a matrix that is written out.
//!
//! ```text
//! gaussian      A(i, j) = g/√m,  g ~ N(0, 1)                    one variance of z(x)·z(y):  (‖x‖²‖y‖² + (x·y)²)/m
//! signs         A(i, j) = ±1/√m                                 (‖x‖²‖y‖² + (x·y)² − 2Σ xⱼ²yⱼ²)/m
//! orthonormal   rows of Haar matrices, d of each, times √(d/m)  d(d − m)/(m(d − 1)(d + 2))·(‖x‖²‖y‖² + (1 − 2/d)(x·y)²)    m ≤ d
//! ```
//! Row i of A is a function of (seed, i). Rows are multiplied with it as with frequencies: packed panels, dense rows or sparse ones, in either precision.

use bochner_simd::Apply;

use crate::engine::Check;
use crate::kernel::apply;
use crate::map::Packed;
use crate::map::fourier::{fill_rows, orthonormal};
use crate::map::hinge::pack;
use crate::map::sign::fill_signs;
use crate::random::{Draws, Stream};
use crate::{Engine, Matrix, Result, Rows, Scalar};

#[derive(Clone, Debug)]
pub(crate) struct Dense {
    /// A, one row for each output.
    matrix: Matrix<f64>,
    packed: Packed,
}

impl Dense {
    fn of(matrix: Matrix<f64>) -> Dense {
        Dense { matrix, packed: Packed::default() }
    }

    pub(super) fn gaussian(
        engine: &Engine,
        features: usize,
        columns: usize,
        seed: u64,
        check: Check<'_>,
    ) -> Result<Dense> {
        let scale = (1.0 / features as f64).sqrt();
        let matrix = fill_rows(engine, features, columns, check, &|i, row| {
            let mut draws = Draws::new(seed, Stream::Frequencies, i as u64);
            row.iter_mut().for_each(|to| *to = scale * draws.normal());
        });
        matrix.map(Dense::of)
    }

    pub(super) fn signs(
        engine: &Engine,
        features: usize,
        columns: usize,
        seed: u64,
        check: Check<'_>,
    ) -> Result<Dense> {
        let scale = (1.0 / features as f64).sqrt();
        let matrix = fill_rows(engine, features, columns, check, &|i, row| {
            fill_signs(seed, i, row);
            row.iter_mut().for_each(|sign| *sign *= scale);
        });
        matrix.map(Dense::of)
    }

    pub(super) fn orthonormal(
        engine: &Engine,
        features: usize,
        columns: usize,
        seed: u64,
        check: Check<'_>,
    ) -> Result<Dense> {
        let length = (columns as f64 / features as f64).sqrt();
        orthonormal(engine, seed, features, columns, length, check).map(Dense::of)
    }

    pub(super) fn output_dim(&self) -> usize {
        self.matrix.rows()
    }

    pub(super) fn regenerated(&self) -> &[f64] {
        self.matrix.as_slice()
    }

    pub(super) fn apply<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>, out: &mut [T], stride: usize) {
        apply(
            rows,
            self.packed.get(engine.isa(), || pack(engine, &self.matrix)),
            &Apply::Product,
            out,
            stride,
        );
    }
}

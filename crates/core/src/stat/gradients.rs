//! Along which directions functions change: the mean outer product of their gradients.
//!
//! ```text
//! M = Σᵢ wᵢ Σ_o ∇f_o(xᵢ)∇f_o(xᵢ)ᵀ / Σᵢ wᵢ                vᵀMv = mean of (∂f/∂v)², summed over outputs
//! ```
//! A function of Ux alone has ∇f in the rows of U everywhere: M has their span, and nothing else. Its diagonal says how much each
//! column matters. Of rows with thousands of columns its d² numbers are too many: a product MT with a few columns of signs has its leading eigenvectors. Sums are in f64, a piece of a
//! block after another, whichever threads share the products. `docs/book/metric.md`.

use super::Statistic;
use crate::linalg::{dot, multiply, sketched_eigen, symmetric_eigen};
use crate::random::{Draws, Stream};
use crate::{Csr, Engine, Error, Map, Matrix, OwnedRows, Result, Rows, Scalar};

/// Rows whose gradients are held at once: at least, as they share one read of the frequencies, and at most; and numbers of these gradients between.
const FEWEST: usize = 16;
const PIECE: usize = 1024;
const NUMBERS: usize = 1 << 20;

/// Columns of T.
pub(crate) const TESTS: usize = 64;

/// Bytes that a piece of rows takes beside the sums: its gradients, and what they are made of.
pub(crate) fn piece_bytes(columns: usize, outputs: usize) -> u64 {
    let fewest = (FEWEST as u64).saturating_mul(columns as u64).saturating_mul(outputs as u64);
    4 * 8 * fewest.max(NUMBERS as u64)
}

/// Sums of outer products of gradients: all of them, their diagonal, or that and what their leading directions are told by.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradients {
    weight: f64,
    columns: usize,
    sums: Sums,
}

#[derive(Clone, Debug, PartialEq)]
enum Sums {
    /// d×d.
    Full(Vec<f64>),
    Diagonal(Vec<f64>),
    /// T and MT, d×TESTS.
    Leading {
        diagonal: Vec<f64>,
        tests: Matrix<f64>,
        products: Matrix<f64>,
    },
}

impl Gradients {
    /// Of no rows: d² numbers.
    pub fn full(columns: usize) -> Self {
        Gradients { weight: 0.0, columns, sums: Sums::Full(vec![0.0; columns * columns]) }
    }

    /// Of no rows, the diagonal alone: d numbers.
    pub fn diagonal(columns: usize) -> Self {
        Gradients { weight: 0.0, columns, sums: Sums::Diagonal(vec![0.0; columns]) }
    }

    /// Of no rows, the diagonal and the leading directions: 129 d numbers. Sums that are to be merged have one seed.
    pub fn leading(columns: usize, seed: u64) -> Self {
        let mut tests = Matrix::zeros(columns, TESTS);
        for j in 0..columns {
            let mut draws = Draws::new(seed, Stream::Slopes, j as u64);
            let signs = u64::from(draws.word()) << 32 | u64::from(draws.word());
            let sign = |k: usize| if signs >> k & 1 == 1 { 1.0 } else { -1.0 };
            tests.row_mut(j).iter_mut().enumerate().for_each(|(k, to)| *to = sign(k));
        }
        let (diagonal, products) = (vec![0.0; columns], Matrix::zeros(columns, TESTS));
        Gradients { weight: 0.0, columns, sums: Sums::Leading { diagonal, tests, products } }
    }

    /// Reads rows, as the map takes them. `coefficients` are outputs × features; a map without
    /// gradients is an error.
    #[inline(never)]
    pub fn absorb<T: Scalar>(
        &mut self,
        engine: &Engine,
        map: &Map,
        coefficients: &Matrix<f64>,
        rows: &Rows<'_, T>,
        weight: &dyn Fn(usize) -> f64,
    ) -> Result<()> {
        if self.columns != map.input_dim() {
            return Err(Error::ColumnCount { expected: map.input_dim(), found: self.columns });
        }
        self.absorb_of(engine, map, coefficients, rows, weight, |gradients| gradients)
    }

    /// The same for rows that are made of others, whose gradients `back` makes of those of the map's rows.
    pub(crate) fn absorb_of<T: Scalar>(
        &mut self,
        engine: &Engine,
        map: &Map,
        coefficients: &Matrix<f64>,
        rows: &Rows<'_, T>,
        weight: &dyn Fn(usize) -> f64,
        back: impl Fn(Matrix<f64>) -> Matrix<f64>,
    ) -> Result<()> {
        let (expected, found) = (map.input_dim(), rows.columns());
        if found != expected {
            return Err(Error::ColumnCount { expected, found });
        }
        let (expected, found) = (map.output_dim(), coefficients.columns());
        if found != expected {
            return Err(Error::Length { what: "coefficients", expected, found });
        }
        let piece = (NUMBERS / (self.columns * coefficients.rows()).max(1)).clamp(FEWEST, PIECE);
        for start in (0..rows.count()).step_by(piece) {
            let range = start..rows.count().min(start + piece);
            let weights: Vec<f64> = range.clone().map(&weight).collect();
            let double = doubled(&rows.slice(range), map.takes_sparse_gradients());
            for gradients in map.gradients(engine, &double.view(), coefficients)? {
                self.add(engine, back(gradients), &weights);
            }
            self.weight += weights.iter().sum::<f64>();
        }
        Ok(())
    }

    /// Adds Σ w gᵢgᵢᵀ.
    fn add(&mut self, engine: &Engine, mut gradients: Matrix<f64>, weights: &[f64]) {
        for (i, weight) in weights.iter().enumerate() {
            let root = weight.max(0.0).sqrt();
            gradients.row_mut(i).iter_mut().for_each(|g| *g *= root);
        }
        let transposed = Matrix::from_fn(self.columns, gradients.rows(), |j, i| gradients.row(i)[j]);
        let add_squares = |sums: &mut [f64]| {
            let squares = |j: usize| dot(transposed.row(j), transposed.row(j));
            sums.iter_mut().enumerate().for_each(|(j, sum)| *sum += squares(j));
        };
        match &mut self.sums {
            Sums::Full(sums) => add(sums, multiply(engine, &transposed, &gradients).as_slice()),
            Sums::Diagonal(sums) => add_squares(sums),
            Sums::Leading { diagonal, tests, products } => {
                add_squares(diagonal);
                let along = multiply(engine, &gradients, tests);
                add(products.as_mut_slice(), multiply(engine, &transposed, &along).as_slice());
            }
        }
    }

    /// Whether all of M is summed.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self.sums, Sums::Full(_))
    }

    /// M, symmetric; none where it was not summed.
    pub fn matrix(&self) -> Option<Matrix<f64>> {
        let d = self.columns;
        let Sums::Full(sums) = &self.sums else { return None };
        Some(Matrix::from_fn(d, d, |i, j| self.mean(0.5 * (sums[i * d + j] + sums[j * d + i]))))
    }

    /// The leading eigenvalues of M, in descending order, and their eigenvectors, one a row; none where only the diagonal was summed. At most 64 where not all of M was, and these are exact only if M has no more.
    pub fn eigen(&self, engine: &Engine) -> Result<Option<(Vec<f64>, Matrix<f64>)>> {
        match &self.sums {
            Sums::Full(_) => {
                self.matrix().map(|matrix| symmetric_eigen(engine, matrix, &|_| Ok(()))).transpose()
            }
            Sums::Diagonal(_) => Ok(None),
            Sums::Leading { tests, products, .. } => {
                let (values, vectors) = sketched_eigen(engine, tests, products)?;
                Ok(Some((values.into_iter().map(|value| self.mean(value)).collect(), vectors)))
            }
        }
    }

    /// The diagonal of M: the mean square of each partial derivative.
    pub fn of_columns(&self) -> Vec<f64> {
        self.diagonal_sums().map(|sum| self.mean(*sum)).collect()
    }

    fn diagonal_sums(&self) -> impl Iterator<Item = &f64> {
        let (sums, step) = match &self.sums {
            Sums::Full(sums) => (sums, self.columns + 1),
            Sums::Diagonal(sums) | Sums::Leading { diagonal: sums, .. } => (sums, 1),
        };
        sums.iter().step_by(step)
    }

    /// M ← AMAᵀ, of all of it.
    pub(crate) fn turn(&mut self, engine: &Engine, a: &Matrix<f64>) {
        let d = self.columns;
        let Sums::Full(sums) = &mut self.sums else { return };
        let matrix = Matrix::from_fn(d, d, |i, j| sums[i * d + j]);
        let transposed = Matrix::from_fn(d, d, |i, j| a.row(j)[i]);
        let product = multiply(engine, &multiply(engine, a, &matrix), &transposed);
        sums.copy_from_slice(product.as_slice());
    }

    /// The same with a diagonal A, of the diagonal alone.
    pub(crate) fn scale(&mut self, factors: &[f64]) {
        if let Sums::Diagonal(sums) = &mut self.sums {
            sums.iter_mut().zip(factors).for_each(|(sum, factor)| *sum *= factor * factor);
        }
    }

    /// Σ w.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    fn mean(&self, sum: f64) -> f64 {
        if self.weight > 0.0 { sum / self.weight } else { 0.0 }
    }
}

impl Statistic for Gradients {
    /// Of the same columns and seed; where one has the diagonal alone, or they have different things, the sum has the diagonal alone.
    fn merge(&mut self, other: &Self) {
        self.weight += other.weight;
        match (&mut self.sums, &other.sums) {
            (Sums::Full(sums), Sums::Full(more)) => return add(sums, more),
            (
                Sums::Leading { diagonal, tests, products },
                Sums::Leading { diagonal: d, tests: t, products: p },
            ) if tests == t => {
                add(diagonal, d);
                return add(products.as_mut_slice(), p.as_slice());
            }
            _ => {}
        }
        let both = self.diagonal_sums().zip(other.diagonal_sums());
        self.sums = Sums::Diagonal(both.map(|(sum, more)| sum + more).collect());
    }
}

/// Rows in double precision, with their zeros or as they are.
fn doubled<T: Scalar>(rows: &Rows<'_, T>, as_they_are: bool) -> OwnedRows<f64> {
    if let (Rows::Sparse(_), true) = (rows, as_they_are) {
        let mut double = Csr::empty(rows.columns());
        (0..rows.count()).for_each(|i| double.push_row(rows.doubled_entries(i)));
        return OwnedRows::Sparse(double);
    }
    let mut double = Matrix::zeros(rows.count(), rows.columns());
    let mut row = vec![T::default(); rows.columns()];
    for i in 0..rows.count() {
        rows.densify(i, &mut row);
        double.row_mut(i).iter_mut().zip(&row).for_each(|(to, x)| *to = x.to_f64());
    }
    OwnedRows::Dense(double)
}

fn add(sums: &mut [f64], more: &[f64]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

//! Columns brought to a common scale.
//!
//! ```text
//! x′ⱼ = (xⱼ − shiftⱼ)·factorⱼ,    shift = mean, factor = 1/deviation
//! ```
//! A column that does not vary has factor 1. Sparse rows are not shifted, which would fill them; a kernel of differences does not notice. Where texts follow numbers, the numbers are scaled and
//! shifted, and what the texts were hashed to stays as it is.

use crate::stat::{Moments, Sample};
use crate::{Csr, Error, Matrix, OwnedRows, Result, Rows, Scalar};

/// A shift and a factor for each column.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    /// One for each of the first columns; empty if nothing is shifted.
    shift: Vec<f64>,
    /// One for each column, positive.
    factor: Vec<f64>,
}

/// To 24 bits: the mean of the same rows in another order differs in its last bits, and nothing should follow from that.
pub(super) fn rounded(value: f64) -> f64 {
    const DROPPED: u64 = 29;
    f64::from_bits((value.to_bits() + (1 << (DROPPED - 1))) >> DROPPED << DROPPED)
}

impl Scaling {
    /// Mean 0 and deviation 1; without the shift for sparse rows.
    pub fn new(moments: &Moments, sparse: bool) -> Self {
        let factor = moments
            .deviation()
            .iter()
            .zip(moments.mean())
            // A deviation at the rounding level of the mean is that of a constant; one that overflowed is no guide.
            .map(|(deviation, mean)| if *deviation > 1e-13 * mean.abs() { 1.0 / deviation } else { 1.0 })
            .map(|factor| if factor > 0.0 && factor.is_finite() { rounded(factor) } else { 1.0 })
            .collect();
        let shift = || {
            moments.mean().iter().map(|mean| if mean.is_finite() { rounded(*mean) } else { 0.0 }).collect()
        };
        Scaling { shift: if sparse { Vec::new() } else { shift() }, factor }
    }

    /// Mean 0 and deviation 1 for the first columns; the others stay as they are.
    pub fn of_first(moments: &Moments, count: usize) -> Self {
        let Scaling { mut shift, mut factor } = Scaling::new(moments, false);
        shift.truncate(count);
        factor.iter_mut().skip(count).for_each(|factor| *factor = 1.0);
        Scaling { shift, factor }
    }

    /// From stored values; shifts of the first columns may be all there are.
    pub fn from_parts(shift: Vec<f64>, factor: Vec<f64>) -> Result<Self> {
        if shift.len() > factor.len() {
            return Err(Error::Length { what: "shifts", expected: factor.len(), found: shift.len() });
        }
        if let Some(bad) = factor.iter().find(|f| !(**f > 0.0 && f.is_finite())) {
            return Err(Error::Parameter {
                name: "factor",
                expected: "positive and finite",
                found: bad.to_string(),
            });
        }
        if let Some(bad) = shift.iter().find(|s| !s.is_finite()) {
            return Err(Error::Parameter { name: "shift", expected: "finite", found: bad.to_string() });
        }
        Ok(Scaling { shift, factor })
    }

    /// Shift of each of the first columns, or none.
    pub fn shift(&self) -> &[f64] {
        &self.shift
    }

    /// Factor of each column.
    pub fn factor(&self) -> &[f64] {
        &self.factor
    }

    /// Whether sparse rows lose their zeros.
    pub(crate) fn fills(&self) -> bool {
        self.shift.len() == self.factor.len() && !self.shift.is_empty()
    }

    /// Saturates: rows that are finite stay finite.
    fn value<T: Scalar>(&self, j: usize, x: f64) -> T {
        let scaled = (x - self.shift.get(j).copied().unwrap_or(0.0)) * self.factor[j];
        let most = if size_of::<T>() == 4 { f64::from(f32::MAX) } else { f64::MAX };
        T::from_f64(scaled.clamp(-most, most))
    }

    /// Neither shift nor factor: rows change their precision only.
    pub fn identity(columns: usize) -> Self {
        Scaling { shift: Vec::new(), factor: vec![1.0; columns] }
    }

    /// Scaled rows in another precision or the same: computed in f64, rounded once.
    #[inline(never)]
    pub fn rows<T: Scalar, U: Scalar>(&self, rows: &Rows<'_, T>) -> OwnedRows<U> {
        match rows {
            Rows::Sparse(sparse) if !self.fills() => {
                let mut scaled = Csr::empty(sparse.columns());
                let mut first = vec![T::default(); self.shift.len()];
                for i in 0..sparse.rows() {
                    let (indices, values) = sparse.row(i);
                    // What is shifted is not zero any more where it was.
                    let stored = indices.partition_point(|&j| (j as usize) < first.len());
                    first.fill(T::default());
                    indices[..stored].iter().zip(values).for_each(|(&j, &x)| first[j as usize] = x);
                    let shifted =
                        first.iter().enumerate().map(|(j, x)| (j as u32, self.value(j, x.to_f64())));
                    let entry = |(&j, &x): (&u32, &T)| (j, self.value(j as usize, x.to_f64()));
                    scaled
                        .push_row(shifted.chain(indices[stored..].iter().zip(&values[stored..]).map(entry)));
                }
                OwnedRows::Sparse(scaled)
            }
            _ => {
                let mut dense = vec![T::default(); rows.columns()];
                let mut scaled = Matrix::zeros(rows.count(), rows.columns());
                for i in 0..rows.count() {
                    rows.densify(i, &mut dense);
                    for (j, (to, x)) in scaled.row_mut(i).iter_mut().zip(&dense).enumerate() {
                        *to = self.value(j, x.to_f64());
                    }
                }
                OwnedRows::Dense(scaled)
            }
        }
    }

    /// A scaled sample; its rows keep the order that they were drawn in.
    pub fn sample(&self, sample: Sample) -> Sample {
        let columns = sample.columns();
        sample.mapped(columns, |row| {
            if self.shift.is_empty() {
                row.entries.iter_mut().for_each(|(j, x)| *x = self.value(*j as usize, *x));
            } else {
                let mut dense = vec![0.0; self.factor.len()];
                row.entries.iter().for_each(|&(j, x)| dense[j as usize] = x);
                let scaled = dense.iter().enumerate().map(|(j, &x)| (j as u32, self.value::<f64>(j, x)));
                row.entries = scaled.filter(|&(_, x)| x != 0.0).collect();
            }
        })
    }
}

//! What leads the conjugate gradients: P ≈ S + λI whose inverse is cheap, for every λ.

use serde::{Deserialize, Serialize};

use super::{Nystrom, Vectors};
use crate::engine::Check;
use crate::linalg::{Band, Cholesky};
use crate::{Engine, Matrix, Result};

/// What led conjugate gradients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Preconditioner {
    /// The sums of products of the features of a sample of rows.
    Sample,
    /// Those of a sketch of all rows.
    Sketch,
    /// The largest eigenvalues, seen through random vectors.
    Nystrom {
        /// How many of these.
        rank: usize,
    },
    /// The squares of the features alone.
    Diagonal,
}

impl std::fmt::Display for Preconditioner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Preconditioner::Sample => write!(f, "a sample of rows"),
            Preconditioner::Sketch => write!(f, "a sketch of all rows"),
            Preconditioner::Nystrom { rank } => write!(f, "{rank} random vectors"),
            Preconditioner::Diagonal => write!(f, "the diagonal"),
        }
    }
}

/// P.
pub(crate) enum Guide {
    /// The identity: no guide.
    #[cfg(test)]
    None,
    /// The diagonal of S, and λ.
    Diagonal(Vec<f64>),
    /// A matrix that is like S, in its band form, which serves every λ; and what is added to λ because of its rounding.
    Whole {
        form: Band,
        jitter: f64,
        /// Made of a sketch of all rows, not of a sample.
        is_sketch: bool,
    },
    /// The same for one λ: its factor takes an eighth of the work.
    Factor { factor: Cholesky, is_sketch: bool },
    /// S seen through random vectors.
    Nystrom(Nystrom),
}

impl Guide {
    /// Of a matrix like S, made of numbers with this rounding.
    pub(crate) fn whole(
        engine: &Engine,
        matrix: Matrix<f64>,
        rounding: f64,
        is_sketch: bool,
        check: Check<'_>,
    ) -> Result<Guide> {
        let largest = (0..matrix.rows()).map(|i| matrix.row(i)[i]).fold(0.0, f64::max);
        let form = Band::new(engine, matrix, check)?;
        Ok(Guide::Whole { form, jitter: 8.0 * rounding * largest, is_sketch })
    }

    /// Of a matrix like S, made of numbers with this rounding, for one λ; where that leaves it without a factor, for a larger one.
    pub(crate) fn factored(
        engine: &Engine,
        matrix: Matrix<f64>,
        lambda: f64,
        rounding: f64,
        is_sketch: bool,
        check: Check<'_>,
    ) -> Result<Guide> {
        let largest = (0..matrix.rows()).map(|i| matrix.row(i)[i]).fold(0.0, f64::max);
        let first = 8.0 * rounding * largest;
        let more = std::iter::successors(Some(first), |more| {
            (*more < largest).then(|| (10.0 * more).max(f64::MIN_POSITIVE))
        });
        let factor = Cholesky::shifted(engine, matrix, more.map(|more| lambda + more), check)?;
        Ok(Guide::Factor { factor, is_sketch })
    }

    /// What it is made of.
    pub(crate) fn kind(&self) -> Preconditioner {
        match self {
            #[cfg(test)]
            Guide::None => Preconditioner::Diagonal,
            Guide::Diagonal(_) => Preconditioner::Diagonal,
            Guide::Whole { is_sketch: true, .. } | Guide::Factor { is_sketch: true, .. } => {
                Preconditioner::Sketch
            }
            Guide::Whole { is_sketch: false, .. } | Guide::Factor { is_sketch: false, .. } => {
                Preconditioner::Sample
            }
            Guide::Nystrom(nystrom) => Preconditioner::Nystrom { rank: nystrom.rank() },
        }
    }

    /// What [`Guide::lead`] multiplies P⁻¹ with.
    pub(crate) fn factor(&self, lambda: f64) -> f64 {
        match self {
            Guide::Nystrom(nystrom) => nystrom.factor(lambda),
            _ => 1.0,
        }
    }

    /// P⁻¹ of some vectors, each with its λ, times a factor.
    pub(crate) fn lead(&self, engine: &Engine, vectors: &[(&[f64], f64)]) -> Vectors {
        match self {
            #[cfg(test)]
            Guide::None => vectors.iter().map(|(v, _)| v.to_vec()).collect(),
            Guide::Diagonal(squares) => vectors
                .iter()
                .map(|(v, lambda)| v.iter().zip(squares).map(|(v, s)| v / (s.max(0.0) + lambda)).collect())
                .collect(),
            Guide::Whole { form, jitter, .. } => lead_whole(engine, form, *jitter, vectors),
            Guide::Factor { factor, .. } => {
                let size = vectors.first().map_or(0, |(v, _)| v.len());
                let led = factor.solve(engine, Matrix::from_fn(size, vectors.len(), |i, k| vectors[k].0[i]));
                (0..vectors.len()).map(|k| (0..size).map(|i| led.row(i)[k]).collect()).collect()
            }
            Guide::Nystrom(nystrom) => {
                vectors.iter().map(|(v, lambda)| nystrom.lead(engine, v, *lambda)).collect()
            }
        }
    }
}

/// Q(B + λI)⁻¹Qᵀ of each; a λ for which that is not positive definite is made larger.
fn lead_whole(engine: &Engine, form: &Band, jitter: f64, vectors: &[(&[f64], f64)]) -> Vectors {
    let size = vectors.first().map_or(0, |(v, _)| v.len());
    let mut all = Matrix::from_fn(size, vectors.len(), |i, k| vectors[k].0[i]);
    form.rotate(engine, &mut all);
    let solved = engine.map(vectors.len(), &|k| {
        let side = Matrix::from_fn(size, 1, |i, _| all.row(i)[k]);
        let mut more = jitter;
        (0..12).find_map(|_| {
            let solved = form.solve(vectors[k].1 + more, &side);
            more *= 10.0;
            solved
        })
    });
    for (k, solved) in solved.iter().enumerate() {
        if let Some(solved) = solved {
            (0..size).for_each(|i| all.row_mut(i)[k] = solved.row(i)[0]);
        }
    }
    form.rotate_back(engine, &mut all);
    (0..vectors.len()).map(|k| (0..size).map(|i| all.row(i)[k]).collect()).collect()
}

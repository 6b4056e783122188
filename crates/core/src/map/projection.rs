//! Random projections of rows, for the linear kernel.
//!
//! ```text
//! z(x) = A·x,   A of m × d                                                          E[z(x)·z(y)] = x·y
//!
//! gaussian      entries N(0, 1/m)                                                   Indyk & Motwani (1998)
//! signs         entries ±1/√m                                                       Achlioptas (2003)
//! orthonormal   m orthonormal rows at random, times √(d/m)                          Johnson & Lindenstrauss (1984)
//! hadamard      m^(−1/2)·S·H·D:  signs, a Walsh–Hadamard transform of p ≥ d         Ailon & Chazelle (2006)
//!               entries, m of them without replacement
//! sparse        ±1/√s in one row of each of s blocks of rows                        Kane & Nelson (2014); s = 1 Weinberger et al. (2009)
//! ```
//! A row of d entries becomes one of m, and lengths, distances and inner products change by about 1/√m whatever d is. A dense A costs d·m multiply-adds a row,
//! Hadamard p·log₂ p additions, the sparse one s additions for each entry that is not zero. Orthonormal rows and Hadamard coordinates come in blocks of d
//! and of p: a further block is drawn afresh, and a whole block has no error at all. Rows of A are functions of the seed and their number, but for the sparse one: a projection to fewer
//! outputs is a prefix, up to scale. `certify/projection.rs` has the theorems, `docs/book/projections.md` the proofs.

mod dense;
mod hadamard;
mod overlap;
mod sparse;

use std::fmt;

use serde::{Deserialize, Serialize};

use self::dense::Dense;
use self::hadamard::Hadamard;
pub use self::overlap::Overlap;
pub(crate) use self::sparse::Sparse;
use crate::engine::Check;
use crate::{Engine, Error, Kernel, Result, Rows, Scalar};

/// Which random projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Projection {
    /// Normal entries: the law of every length is known exactly.
    Gaussian,
    /// Entries ±1/√m.
    Signs,
    /// Orthonormal rows: the lowest variance, and none where m is d.
    Orthonormal,
    /// Signs, a Walsh–Hadamard transform and a sample of its coordinates: fast for dense rows.
    Hadamard,
    /// A few entries in each column: fast for sparse rows.
    Sparse {
        /// Entries that are not zero in each column.
        nonzeros: Nonzeros,
        /// With random signs. Without, inner products are biased: E[z(x)·z(y)] = x·y + (s/m)·(Σx·Σy − x·y), too large for rows of counts.
        signed: bool,
    },
}

/// Entries that are not zero in a column of a sparse projection, s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Nonzeros {
    /// So many: 1 is feature hashing, 8 is what practice takes.
    Count {
        /// s, at most m.
        count: usize,
    },
    /// ⌈√(m·ln d)⌉, at most m: two columns then share about ln d rows, s²/m.
    Theorem,
}

impl Nonzeros {
    /// s for `features` outputs of `columns` columns.
    pub fn of(self, features: usize, columns: usize) -> usize {
        match self {
            Nonzeros::Count { count } => count,
            Nonzeros::Theorem => {
                let root = (features as f64 * libm::log(columns as f64)).max(1.0).sqrt().ceil();
                (root as usize).min(features)
            }
        }
    }
}

impl Projection {
    /// A sparse projection with 8 signed entries a column.
    pub const SPARSE: Projection =
        Projection::Sparse { nonzeros: Nonzeros::Count { count: 8 }, signed: true };

    /// There is one of this kernel with so many outputs.
    pub(super) fn validate(self, kernel: &Kernel, features: usize) -> Result<()> {
        if *kernel != Kernel::Linear {
            return Err(Error::Unsupported {
                what: format!("a projection of {kernel}"),
                reason: "projections keep the inner products of the rows themselves",
                instead: "use the linear kernel, or a compiled map, which projects the features of other kernels where it must",
            });
        }
        self.check(features)
    }

    /// The entries of a column fit into so many rows.
    pub(crate) fn check(self, features: usize) -> Result<()> {
        match self {
            Projection::Sparse { nonzeros, .. } => Sparse::check(nonzeros, features),
            _ => Ok(()),
        }
    }

    /// Numbers that are kept, as [`super::Recipe`] counts them: 20 bytes each.
    pub(super) fn entries(self, features: usize, columns: usize) -> f64 {
        match self {
            Projection::Gaussian | Projection::Signs | Projection::Orthonormal => {
                features as f64 * columns as f64
            }
            Projection::Hadamard => hadamard::entries(features, columns),
            Projection::Sparse { nonzeros, .. } => sparse::entries(nonzeros.of(features, columns), columns),
        }
    }
}

/// What is done, in words.
impl fmt::Display for Projection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Projection::Gaussian => write!(f, "projected on normal vectors"),
            Projection::Signs => write!(f, "projected on random signs"),
            Projection::Orthonormal => write!(f, "projected on orthonormal vectors"),
            Projection::Hadamard => {
                write!(f, "projected by signs, a Walsh–Hadamard transform and a sample of coordinates")
            }
            Projection::Sparse { nonzeros, signed } => {
                match nonzeros {
                    Nonzeros::Count { count: 1 } => write!(f, "hashed, 1 entry a column")?,
                    Nonzeros::Count { count } => {
                        let practice = if *count == 8 { " (practice)" } else { "" };
                        write!(f, "projected sparsely, {count} entries a column{practice}")?;
                    }
                    Nonzeros::Theorem => {
                        write!(f, "projected sparsely, √(m·ln d) entries a column (theorem)")?;
                    }
                }
                if *signed {
                    Ok(())
                } else {
                    write!(f, ", without signs: biased by (s/m)·(Σx·Σy − x·y)")
                }
            }
        }
    }
}

/// A projection, ready to be applied.
#[derive(Clone, Debug)]
pub(crate) enum Projector {
    Dense(Dense),
    Hadamard(Hadamard),
    Sparse(Sparse),
}

impl Projector {
    /// Draws a projection of `columns` columns to `features` outputs.
    pub(super) fn build(
        engine: &Engine,
        how: Projection,
        (features, columns): (usize, usize),
        seed: u64,
        check: Check<'_>,
    ) -> Result<Projector> {
        Ok(match how {
            Projection::Gaussian => {
                Projector::Dense(Dense::gaussian(engine, features, columns, seed, check)?)
            }
            Projection::Signs => Projector::Dense(Dense::signs(engine, features, columns, seed, check)?),
            Projection::Orthonormal => {
                Projector::Dense(Dense::orthonormal(engine, features, columns, seed, check)?)
            }
            Projection::Hadamard => Projector::Hadamard(Hadamard::draw(features, columns, seed)),
            Projection::Sparse { nonzeros, signed } => {
                let nonzeros = nonzeros.of(features, columns);
                Projector::Sparse(Sparse::build(features, columns, nonzeros, signed, seed)?)
            }
        })
    }

    /// Outputs, m.
    pub(super) fn output_dim(&self) -> usize {
        match self {
            Projector::Dense(dense) => dense.output_dim(),
            Projector::Hadamard(hadamard) => hadamard.output_dim(),
            Projector::Sparse(sparse) => sparse.output_dim(),
        }
    }

    /// What is regenerated from the seed, for the model's fingerprint.
    pub(super) fn regenerated(&self, add: &mut dyn FnMut(&[f64])) {
        match self {
            Projector::Dense(dense) => add(dense.regenerated()),
            Projector::Hadamard(hadamard) => hadamard.regenerated(add),
            Projector::Sparse(sparse) => add(&sparse.regenerated()),
        }
    }

    /// A·x of row i at `out[i·stride..]`.
    pub(super) fn apply<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>, out: &mut [T], stride: usize) {
        match self {
            Projector::Dense(dense) => dense.apply(engine, rows, out, stride),
            Projector::Hadamard(hadamard) => hadamard.apply(engine, rows, out, stride),
            Projector::Sparse(sparse) => sparse.apply(rows, out, stride),
        }
    }
}

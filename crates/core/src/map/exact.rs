//! Kernels that have finite features of their own.
//!
//! ```text
//! constant      z(x) = 1                       poly          z(x) = (√(p!/(a₀!…a_d!))·c^(a₀/2)·γ^((p−a₀)/2)·x^a),   a₀ + … + a_d = p
//! linear        z(x) = x                       all subsets   z(x) = (∏_{j∈S} xⱼ),   S ⊆ {1 … d}
//! parabolic     z(x) = (x, ‖x‖²)               series        z(x) = (√aₙ·those of (x·y)ⁿ),   n = 0 … p
//! bilinear      z(x) = Bx,   A = BᵀB           taylor        z(x) = e^(−‖u‖²/2)·(u^a/√a!),   |a| ≤ r,   u = x/σ
//! ```
//! z(x)·z(y) = k(x, y): nothing is approximated, but for the last, the Gaussian's series cut after degree r: |k̂ − k| ≤ (‖u‖‖v‖)^(r+1)/(r+1)!·e^(−(‖u‖² + ‖v‖²)/2 + ‖u‖‖v‖), below
//! (‖u‖‖v‖)^(r+1)/(r+1)! everywhere. The tests show both.

use bochner_simd::{Apply, Panels};

use super::combination::Combinations;
use super::monomial::Monomials;
use super::{Packed, prepared};
use crate::kernel::{Quadratic, Width, apply};
use crate::{Engine, Error, Kernel, Matrix, OwnedRows, Result, Rows, Scalar};

/// A finite map.
#[derive(Clone, Debug)]
pub(crate) enum Exact {
    Constant,
    /// So many columns.
    Identity(usize),
    /// Rows of B; `computed` from A and not given.
    Lift {
        factor: Matrix<f64>,
        computed: bool,
        packed: Packed,
    },
    Polynomial(Monomials),
    /// √aₙ, and the monomials of degree n.
    Series(Vec<(f64, Monomials)>),
    /// So many columns.
    Parabolic(usize),
    /// So many columns.
    Subsets(usize),
    Combinations(Combinations),
    /// Widths of the columns.
    Taylor {
        monomials: Monomials,
        width: Width,
    },
}

/// The number of features of a leaf for so many columns; none if it has infinitely many, the most there can be where they are too many to count.
pub(super) fn size(kernel: &Kernel, columns: usize) -> Option<usize> {
    Some(match kernel {
        Kernel::Constant => 1,
        Kernel::Linear => columns,
        Kernel::Bilinear { form } => form.size(),
        Kernel::Polynomial { degree, c, .. } => {
            let variables = columns + usize::from(*c > 0.0);
            Monomials::count(variables, *degree)
        }
        Kernel::Series { coefficients } => powers(coefficients)
            .fold(0, |sum: usize, (n, _)| sum.saturating_add(Monomials::count(columns, n))),
        Kernel::Parabolic => columns.saturating_add(1),
        &Kernel::Monomials { degree } => Combinations::count(columns, degree, true),
        &Kernel::Interactions { degree } => Combinations::count(columns, degree, false),
        Kernel::AllSubsets => u32::try_from(columns)
            .ok()
            .and_then(|d| 1usize.checked_shl(d))
            .filter(|_| columns < 60)
            .unwrap_or(usize::MAX),
        _ => return None,
    })
}

/// The degrees that a series has, with their coefficients.
pub(super) fn powers(coefficients: &[f64]) -> impl Iterator<Item = (u32, f64)> {
    (0u32..).zip(coefficients.iter().copied()).filter(|(_, a)| *a > 0.0)
}

impl Exact {
    /// Of a leaf that has a [`size`].
    pub(super) fn build(kernel: &Kernel, columns: usize) -> Result<Option<Exact>> {
        Ok(Some(match kernel {
            Kernel::Constant => Exact::Constant,
            Kernel::Linear => Exact::Identity(columns),
            Kernel::Bilinear { form } => Exact::Lift {
                factor: form.factor(),
                computed: matches!(form, Quadratic::Full(_)),
                packed: Packed::default(),
            },
            &Kernel::Polynomial { degree, gamma, c } => {
                Exact::Polynomial(Monomials::polynomial(columns, degree, gamma, c))
            }
            Kernel::Series { coefficients } => Exact::Series(
                powers(coefficients)
                    .map(|(n, a)| (a.sqrt(), Monomials::polynomial(columns, n, 1.0, 0.0)))
                    .collect(),
            ),
            Kernel::Parabolic => Exact::Parabolic(columns),
            Kernel::AllSubsets => Exact::Subsets(columns),
            leaf => match Combinations::of(leaf) {
                // Columns of sparse features are numbers of 32 bits.
                Some((degree, repeated)) if size(leaf, columns).is_some_and(|size| size >> 32 == 0) => {
                    Exact::Combinations(Combinations::all(columns, degree, repeated))
                }
                Some(_) => {
                    return Err(Error::Unsupported {
                        what: format!("an exact map of {leaf} of {columns} columns"),
                        reason: "it has more features than 32 bits can number",
                        instead: "use a compiled map, which hashes them",
                    });
                }
                None => return Ok(None),
            },
        }))
    }

    /// The Gaussian's series up to a degree.
    pub(super) fn taylor(width: &Width, columns: usize, degree: u32) -> Exact {
        Exact::Taylor { monomials: Monomials::series(columns, degree), width: width.clone() }
    }

    /// What is computed from the kernel and not stored, for the model's fingerprint.
    pub(super) fn regenerated(&self, add: &mut dyn FnMut(&[f64])) {
        if let Exact::Lift { factor, computed: true, .. } = self {
            add(factor.as_slice());
        }
    }

    pub(super) fn output_dim(&self) -> usize {
        match self {
            Exact::Constant => 1,
            Exact::Identity(columns) => *columns,
            Exact::Lift { factor, .. } => factor.rows(),
            Exact::Polynomial(monomials) | Exact::Taylor { monomials, .. } => monomials.len(),
            Exact::Series(powers) => powers.iter().map(|(_, monomials)| monomials.len()).sum(),
            Exact::Parabolic(columns) => columns + 1,
            Exact::Combinations(combinations) => combinations.output_dim(),
            Exact::Subsets(columns) => 1 << columns,
        }
    }

    pub(super) fn apply<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>, out: &mut [T], stride: usize) {
        let each = |out: &mut [T], write: &mut dyn FnMut(usize, &mut [T])| {
            out.chunks_mut(stride)
                .enumerate()
                .take(rows.count())
                .for_each(|(i, out)| write(i, &mut out[..self.output_dim()]));
        };
        let mut row = vec![T::default(); rows.columns()];
        match self {
            Exact::Constant => each(out, &mut |_, out| out[0] = T::from_f64(1.0)),
            Exact::Identity(_) => each(out, &mut |i, out| rows.densify(i, out)),
            Exact::Lift { factor, packed, .. } => {
                let panels = packed.get(engine.isa(), || {
                    Panels::pack(engine.isa(), factor.columns(), factor.rows(), &mut |i, column: &mut [T]| {
                        column.iter_mut().zip(factor.row(i)).for_each(|(to, &b)| *to = T::from_f64(b));
                    })
                });
                apply(rows, panels, &Apply::Product, out, stride);
            }
            Exact::Polynomial(monomials) => {
                let mut scratch = Vec::new();
                each(out, &mut |i, out| {
                    rows.densify(i, &mut row);
                    monomials.write(row.iter().map(|x| x.to_f64()), 1.0, &mut scratch, out);
                });
            }
            Exact::Series(powers) => {
                let mut scratch = Vec::new();
                each(out, &mut |i, mut out| {
                    rows.densify(i, &mut row);
                    for (root, monomials) in powers {
                        let (own, others) = out.split_at_mut(monomials.len());
                        monomials.write(row.iter().map(|x| x.to_f64()), *root, &mut scratch, own);
                        out = others;
                    }
                });
            }
            Exact::Parabolic(columns) => each(out, &mut |i, out| {
                rows.densify(i, &mut out[..*columns]);
                out[*columns] = T::from_f64(rows.entries(i).map(|(_, x)| x.to_f64() * x.to_f64()).sum());
            }),
            Exact::Combinations(combinations) => combinations.apply(rows, out, stride),
            Exact::Subsets(_) => each(out, &mut |i, out| {
                rows.densify(i, &mut row);
                out[0] = T::from_f64(1.0);
                for (j, x) in row.iter().enumerate() {
                    let (without, with) = out[..2 << j].split_at_mut(1 << j);
                    with.iter_mut()
                        .zip(without)
                        .for_each(|(to, z)| *to = T::from_f64(z.to_f64() * x.to_f64()));
                }
            }),
            Exact::Taylor { monomials, width } => {
                let factors: Vec<f64> = (0..rows.columns()).map(|j| 1.0 / width.at(j)).collect();
                let scaled = prepared(rows, None, &factors);
                let scaled = scaled.as_ref().map_or(*rows, OwnedRows::view);
                let mut scratch = Vec::new();
                each(out, &mut |i, out| {
                    scaled.densify(i, &mut row);
                    let square: f64 = row.iter().map(|u| u.to_f64() * u.to_f64()).sum();
                    monomials.write(
                        row.iter().map(|u| u.to_f64()),
                        libm::exp(-0.5 * square),
                        &mut scratch,
                        out,
                    );
                });
            }
        }
    }
}

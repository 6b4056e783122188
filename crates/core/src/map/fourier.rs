//! Fourier features for shift-invariant kernels.
//!
//! ```text
//! pairs    z(x) = m^(−1/2)·(cos ω₁·x, sin ω₁·x, …, cos ω_m·x, sin ω_m·x)      D = 2m
//! offset   z(x) = (2/D)^(1/2)·(cos(ω₁·x + b₁), …, cos(ω_D·x + b_D))           b uniform on [0, 2π)
//!
//! E[z(x)·z(y)] = k(x − y),    ωⱼ drawn from the kernel's spectral law        (Bochner);    times k(0)^(1/2) where that is not one
//! ```
//! Frequency j is a function of (seed, j): a map of D features is the prefix, up to scale, of one of 2D. Every expression of shift-invariant kernels
//! has a law (`kernel/spectrum.rs`); columns that it does not look at cost nothing. Frequencies are kept in turns (ω/2π), so that the reduction of a
//! phase is exact, and phases too large for single precision are computed again in double: heavy-tailed laws keep their accuracy. Costs n·d·m
//! multiply-adds to apply, n·m·log d additions if structured, and nothing to store. Rahimi & Recht (2007); Yu et al. (2016) for orthogonal and
//! structured frequencies; Avron et al. (2016) for quasi-random ones. `docs/book/fourier.md`.

mod frequencies;

use std::f64::consts::TAU;

use bochner_simd::{Apply, Isa, Panels, Structured};
use rayon::prelude::*;

use self::frequencies::{FEWEST_PADDED, Hadamard, apply_structured, independent, orthogonal, quasi};
pub(super) use self::frequencies::{fill_rows, orthonormal};
use super::{Family, FourierForm, FrequencyDraw, Packed, PerPrecision};
use crate::engine::Check;
use crate::kernel::{Place, Spectrum, apply};
use crate::random::{Draws, Stream};
use crate::{Error, Kernel, Matrix, OwnedRows, Result, Rows, Scalar};

/// Frequencies and offsets, in turns.
#[derive(Clone, Debug)]
pub(crate) struct Fourier {
    /// The columns that frequencies look at; none for all.
    columns: Option<Vec<usize>>,
    frequencies: Frequencies,
    /// One for each frequency, or none for pairs.
    offsets: Vec<f64>,
    /// √k(0).
    scale: f64,
}

#[derive(Clone, Debug)]
enum Frequencies {
    /// One row for each frequency.
    Dense {
        rows: Matrix<f64>,
        packed: Packed,
    },
    Structured {
        drawn: Hadamard,
        cast: PerPrecision<OfCast>,
    },
}

/// Signs and lengths in one precision.
#[derive(Clone, Debug)]
pub(crate) struct Cast<T> {
    signs: Vec<T>,
    lengths: Vec<T>,
}

pub(crate) struct OfCast;

impl Family for OfCast {
    type Of<T: Scalar> = Cast<T>;
}

/// What is asked of a Fourier map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) form: FourierForm,
    pub(crate) draw: FrequencyDraw,
    pub(crate) features: usize,
    pub(crate) seed: u64,
}

pub(super) fn validate(
    kernel: &Kernel,
    form: FourierForm,
    draw: FrequencyDraw,
    features: usize,
) -> Result<()> {
    let unsupported = |what, reason, instead| Err(Error::Unsupported { what, reason, instead });
    let Some(spectrum) = kernel.spectrum() else {
        let culprit = not_shift_invariant(kernel);
        return unsupported(
            format!("a Fourier map of {culprit}"),
            "it is not a function of x − y, so it has no spectral law",
            "use a compiled map, the exact one or landmarks",
        );
    };
    if !spectrum.mass.is_finite() {
        return Err(Error::Overflow { what: "the kernel of a row with itself" });
    }
    let needs_isotropy = matches!(draw, FrequencyDraw::Orthogonal | FrequencyDraw::Structured);
    if needs_isotropy && spectrum.law.isotropic().is_none() {
        return unsupported(
            format!("an orthogonal Fourier map of {kernel}"),
            "its frequencies have no isotropic law; orthogonal ones would belong to another kernel, such as exp(−‖x − y‖₂/scale) in place of exp(−‖x − y‖₁/scale)",
            "draw them independently",
        );
    }
    if form == FourierForm::Pairs && features % 2 == 1 {
        return Err(Error::Parameter {
            name: "features",
            expected: "even for (cos, sin) pairs",
            found: features.to_string(),
        });
    }
    Ok(())
}

/// The first part of an expression that keeps it from being shift-invariant.
fn not_shift_invariant(kernel: &Kernel) -> &Kernel {
    kernel.parts().iter().find(|part| part.spectrum().is_none()).map_or(kernel, not_shift_invariant)
}

impl Fourier {
    /// Draws the frequencies of a law for rows of `input_dim` columns.
    pub(super) fn build(spectrum: &Spectrum, ask: Ask, input_dim: usize, check: Check<'_>) -> Result<Self> {
        let Ask { form, draw, features, seed } = ask;
        let count = if form == FourierForm::Pairs { features / 2 } else { features };
        let mut used = vec![false; input_dim];
        spectrum.law.mark(&mut used);
        let columns: Vec<usize> = (0..input_dim).filter(|&j| used[j]).collect();
        let dim = columns.len();
        let dense = |mut rows: Matrix<f64>| {
            rows.as_mut_slice().iter_mut().for_each(|w| *w /= TAU);
            Frequencies::Dense { rows, packed: Packed::default() }
        };
        let drawn = |rows: Matrix<f64>| {
            // Of all columns, those that are looked at.
            let kept = if dim == input_dim {
                rows
            } else {
                Matrix::from_fn(count, dim, |i, at| rows.row(i)[columns[at]])
            };
            dense(kept)
        };
        let frequencies = match (draw, in_order(spectrum, &columns)) {
            (FrequencyDraw::Orthogonal, Some((mixing, place))) => {
                dense(orthogonal(seed, count, dim, (mixing, &place), check)?)
            }
            (FrequencyDraw::Structured, Some((mixing, place))) => {
                if dim.next_power_of_two() < FEWEST_PADDED {
                    return Err(Error::Unsupported {
                        what: format!("a structured Fourier map of {dim} columns"),
                        reason: "padded to fewer than 64, its frequencies are biased by more than 4e-4",
                        instead: "use orthogonal ones",
                    });
                }
                Frequencies::Structured {
                    drawn: Hadamard::draw(seed, count, dim, (mixing, &place)),
                    cast: PerPrecision::default(),
                }
            }
            (FrequencyDraw::Quasi, _) => drawn(quasi(seed, count, input_dim, &spectrum.law, check)?),
            _ => drawn(independent(seed, count, input_dim, &spectrum.law, check)?),
        };
        let offsets = match form {
            FourierForm::Pairs => Vec::new(),
            FourierForm::Offset => {
                (0..count as u64).map(|j| Draws::new(seed, Stream::Offsets, j).uniform()).collect()
            }
        };
        let columns = (dim < input_dim).then_some(columns);
        Ok(Fourier { columns, frequencies, offsets, scale: spectrum.mass.sqrt() })
    }

    /// Whether features are pairs (cos, sin).
    pub(super) fn is_paired(&self) -> bool {
        self.offsets.is_empty()
    }

    /// Features, D.
    pub(super) fn output_dim(&self) -> usize {
        if self.offsets.is_empty() { 2 * self.count() } else { self.count() }
    }

    fn count(&self) -> usize {
        match &self.frequencies {
            Frequencies::Dense { rows, .. } => rows.rows(),
            Frequencies::Structured { drawn, .. } => drawn.lengths.len(),
        }
    }

    /// What is regenerated from the seed, for the model's fingerprint.
    pub(crate) fn regenerated(&self) -> Vec<&[f64]> {
        match &self.frequencies {
            Frequencies::Dense { rows, .. } => vec![rows.as_slice(), &self.offsets],
            Frequencies::Structured { drawn, .. } => vec![&drawn.signs, &drawn.lengths, &self.offsets],
        }
    }

    /// z(x) of row i at `out[i·stride..]`.
    ///
    /// `stream` writes past the caches: for features that are not read again soon.
    pub(super) fn apply<T: Scalar>(&self, rows: &Rows<'_, T>, out: &mut [T], stride: usize, stream: bool) {
        let prepared = self.prepared(rows);
        let rows = &prepared.as_ref().map_or(*rows, OwnedRows::view);
        let count = self.count() as f64;
        let exact = |i: usize, j: usize| self.phase(rows, i, j);
        if self.offsets.is_empty() {
            let scale = T::from_f64(self.scale * (1.0 / count).sqrt());
            self.sums(rows, &Apply::Pairs { scale, exact: &exact, stream }, out, stride);
        } else {
            let scale = T::from_f64(self.scale * (2.0 / count).sqrt());
            let offsets: Vec<T> = self.offsets.iter().map(|&b| T::from_f64(b)).collect();
            self.sums(rows, &Apply::Offset { scale, offsets: &offsets, exact: &exact }, out, stride);
        }
    }

    /// Phases of rows in turns, one for each frequency: those of another width are these, divided by the ratio of the widths.
    pub(super) fn turns(&self, rows: &Rows<'_, f64>) -> Matrix<f64> {
        /// Rows that one thread looks at.
        const PIECE: usize = 64;
        let count = self.count();
        let mut turns = Matrix::zeros(rows.count(), count);
        turns.as_mut_slice().par_chunks_mut((PIECE * count).max(1)).enumerate().for_each(|(piece, out)| {
            let start = piece * PIECE;
            let rows = rows.slice(start..rows.count().min(start + PIECE));
            let prepared = self.prepared(&rows);
            self.sums(&prepared.as_ref().map_or(rows, OwnedRows::view), &Apply::Product, out, count);
        });
        turns
    }

    /// ∂z/∂phase of each feature: that of (cos, sin) is (−sin, cos).
    pub(super) fn slopes(&self, rows: &Rows<'_, f64>) -> Matrix<f64> {
        let mut slopes = Matrix::zeros(rows.count(), self.output_dim());
        if self.offsets.is_empty() {
            self.apply(rows, slopes.as_mut_slice(), self.output_dim().max(1), false);
            for pair in slopes.as_mut_slice().chunks_exact_mut(2) {
                (pair[0], pair[1]) = (-pair[1], pair[0]);
            }
        } else {
            let scale = self.scale * (2.0 / self.count() as f64).sqrt();
            let turns = self.turns(rows);
            for i in 0..rows.count() {
                let phases = turns.row(i).iter().zip(&self.offsets);
                slopes.row_mut(i).iter_mut().zip(phases).for_each(|(slope, (t, b))| {
                    let turn = (t + b) - (t + b).floor();
                    *slope = -scale * libm::sin(TAU * turn);
                });
            }
        }
        slopes
    }

    /// Rows as frequencies take them; none if they are so already.
    fn prepared<T: Scalar>(&self, rows: &Rows<'_, T>) -> Option<OwnedRows<T>> {
        let factors = match &self.frequencies {
            Frequencies::Structured { drawn, .. } => &drawn.factors[..],
            Frequencies::Dense { .. } => &[],
        };
        super::prepared(rows, self.columns.as_deref(), factors)
    }

    fn sums<T: Scalar>(&self, rows: &Rows<'_, T>, what: &Apply<'_, T>, out: &mut [T], stride: usize) {
        match &self.frequencies {
            Frequencies::Dense { rows: frequencies, packed } => {
                let panels = packed.get(|| {
                    Panels::pack(
                        Isa::best(),
                        frequencies.columns(),
                        frequencies.rows(),
                        |j, column: &mut [T]| {
                            for (to, &w) in column.iter_mut().zip(frequencies.row(j)) {
                                *to = T::from_f64(w);
                            }
                        },
                    )
                });
                apply(rows, panels, what, out, stride);
            }
            Frequencies::Structured { drawn, cast } => {
                let cast = cast.get(|| {
                    let round = |numbers: &[f64]| numbers.iter().map(|&x| T::from_f64(x)).collect::<Vec<T>>();
                    Cast { signs: round(&drawn.signs), lengths: round(&drawn.lengths) }
                });
                let frequencies =
                    Structured { padded: drawn.padded, signs: &cast.signs, lengths: &cast.lengths };
                apply_structured(rows, &frequencies, what, out, stride);
            }
        }
    }

    /// The phase of row i and frequency j in f64, for those too large for the precision of the rows.
    fn phase<T: Scalar>(&self, rows: &Rows<'_, T>, i: usize, j: usize) -> f64 {
        match &self.frequencies {
            Frequencies::Dense { rows: frequencies, .. } => {
                let w = frequencies.row(j);
                rows.entries(i).map(|(k, x)| x.to_f64() * w[k as usize]).sum()
            }
            Frequencies::Structured { drawn, .. } => drawn.phase(rows, i, j),
        }
    }
}

/// Normal vectors, orthogonal within blocks: one row for each.
pub(super) fn normals(seed: u64, count: usize, columns: usize, check: Check<'_>) -> Result<Matrix<f64>> {
    let place = Place { columns: None, width: 1.0.into() };
    orthogonal(seed, count, columns, (crate::kernel::Mixing::None, &place), check)
}

/// The mixing and the place of an isotropic law, its widths in the order of the columns that it looks at.
fn in_order(spectrum: &Spectrum, columns: &[usize]) -> Option<(crate::kernel::Mixing, Place)> {
    let (mixing, place) = spectrum.law.isotropic()?;
    let at = |column: usize| {
        place.columns.as_ref().and_then(|chosen| chosen.iter().position(|c| *c == column)).unwrap_or(column)
    };
    let width = match &place.width {
        crate::kernel::Width::One(width) => (*width).into(),
        each => columns.iter().map(|&column| each.at(at(column))).collect::<Vec<f64>>().into(),
    };
    Some((mixing, Place { columns: None, width }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner_testkit::assert_same_bits;

    /// cos and sin of the phases of one width, divided, are the features of another.
    #[test]
    fn phases_of_one_width_are_those_of_another_divided() {
        let x = Matrix::from_fn(100, 40, |i, j| ((i * 41 + j * 7) % 23) as f64 / 7.0);
        for draw in [FrequencyDraw::Independent, FrequencyDraw::Orthogonal, FrequencyDraw::Structured] {
            let map = |sigma: f64| {
                let ask = Ask { form: FourierForm::Pairs, draw, features: 30, seed: 5 };
                Fourier::build(&Kernel::gaussian(sigma).spectrum().unwrap(), ask, 40, &|_| Ok(())).unwrap()
            };
            let turns = map(2.0).turns(&Rows::from(&x));
            let mut features = Matrix::zeros(100, 30);
            map(0.6).apply(&Rows::from(&x), features.as_mut_slice(), 30, false);
            for i in 0..100 {
                for (j, t) in turns.row(i).iter().enumerate() {
                    let (sin, cos) = (TAU * t * 2.0 / 0.6).sin_cos();
                    let scale = (1.0 / 15.0f64).sqrt();
                    let found = &features.row(i)[2 * j..2 * j + 2];
                    assert!(
                        (found[0] - scale * cos).abs() < 1e-11 && (found[1] - scale * sin).abs() < 1e-11,
                        "{draw:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_smaller_map_is_the_prefix_of_a_larger_one() {
        let kernel: Kernel = "gaussian(sigma=0.7)*matern(nu=1.5,scale=2)".parse().unwrap();
        let single = Kernel::gaussian(0.7);
        for draw in [
            FrequencyDraw::Independent,
            FrequencyDraw::Orthogonal,
            FrequencyDraw::Quasi,
            FrequencyDraw::Structured,
        ] {
            for form in [FourierForm::Pairs, FourierForm::Offset] {
                let kernel = if draw == FrequencyDraw::Independent { &kernel } else { &single };
                let build = |features| {
                    let ask = Ask { form, draw, features, seed: 11 };
                    Fourier::build(&kernel.spectrum().unwrap(), ask, 50, &|_| Ok(())).unwrap()
                };
                let (small, large) = (build(128), build(256));
                for (small, large) in small.regenerated().into_iter().zip(large.regenerated()) {
                    assert_same_bits(small, &large[..small.len()]);
                }
            }
        }
    }
}

//! Fourier features for shift-invariant kernels.
//!
//! ```text
//! pairs    z(x) = m^(−1/2)·(cos ω₁·x, sin ω₁·x, …, cos ω_m·x, sin ω_m·x)      D = 2m
//! offset   z(x) = (2/D)^(1/2)·(cos(ω₁·x + b₁), …, cos(ω_D·x + b_D))           b uniform on [0, 2π)
//!
//! E[z(x)·z(y)] = k(x − y),    ωⱼ drawn from the kernel's spectral law        (Bochner)
//! ```
//! Frequency j is a function of (seed, j): a map of D features is the prefix, up to scale, of one of 2D. Orthogonal frequencies
//! are columns of Haar matrices, d of each, every one with its own length from the law: each alone has the
//! law, those of a block repel. That needs a law without preferred directions. Frequencies are kept in turns (ω/2π), so that the reduction of a
//! phase is exact. Costs n·d·m multiply-adds to apply and nothing to store. Rahimi & Recht (2007); Yu et al.
//! (2016) for orthogonality. `docs/book/fourier.md`.

use std::f64::consts::TAU;

use bochner_simd::{Apply, Isa, Panels};
use rayon::prelude::*;

use super::{FourierForm, FrequencyDraw, MapSpec, Packed};
use crate::engine::Check;
use crate::kernel::{Spectrum, apply};
use crate::linalg::dot;
use crate::random::{Draws, Stream};
use crate::{Error, Kernel, Matrix, Result, Rows, Scalar};

/// Frequencies and offsets, in turns.
#[derive(Clone, Debug)]
pub(crate) struct Fourier {
    /// One row for each frequency.
    frequencies: Matrix<f64>,
    /// One for each frequency, or none for pairs.
    offsets: Vec<f64>,
    packed: Packed,
}

pub(super) fn validate(
    kernel: &Kernel,
    form: FourierForm,
    draw: FrequencyDraw,
    features: usize,
) -> Result<()> {
    let Some(spectrum) = kernel.spectrum() else {
        let (reason, instead) = match kernel {
            Kernel::Hat { .. } => {
                ("there is no way to draw from its spectrum here", "use binning or landmarks")
            }
            _ => {
                ("it is not a function of x − y, so it has no spectral law", "use the exact map or landmarks")
            }
        };
        return Err(Error::Unsupported { what: format!("a Fourier map of {kernel}"), reason, instead });
    };
    if draw == FrequencyDraw::Orthogonal && !matches!(spectrum, Spectrum::Normal { .. }) {
        return Err(Error::Unsupported {
            what: format!("an orthogonal Fourier map of {kernel}"),
            reason: "its frequencies have no isotropic law; orthogonal ones would estimate exp(−‖x − y‖₂/scale), another kernel",
            instead: "draw them independently",
        });
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

impl Fourier {
    /// Draws the frequencies of a valid spec.
    pub(super) fn build(
        spec: &MapSpec,
        form: FourierForm,
        draw: FrequencyDraw,
        input_dim: usize,
        check: Check<'_>,
    ) -> Result<Self> {
        validate(&spec.kernel, form, draw, spec.features)?;
        let count = if form == FourierForm::Pairs { spec.features / 2 } else { spec.features };
        let mut frequencies = match (spec.kernel.spectrum(), draw) {
            (Some(Spectrum::Normal { deviation }), FrequencyDraw::Orthogonal) => {
                orthogonal(spec.seed, count, input_dim, deviation, check)?
            }
            (Some(spectrum), _) => independent(spec.seed, count, input_dim, spectrum, check)?,
            (None, _) => Matrix::zeros(0, 0), // refused by `validate`
        };
        frequencies.as_mut_slice().iter_mut().for_each(|w| *w /= TAU);
        let offsets = match form {
            FourierForm::Pairs => Vec::new(),
            FourierForm::Offset => {
                (0..count as u64).map(|j| Draws::new(spec.seed, Stream::Offsets, j).uniform()).collect()
            }
        };
        Ok(Fourier { frequencies, offsets, packed: Packed::default() })
    }

    /// What is regenerated from the seed, for the model's fingerprint.
    pub(crate) fn regenerated(&self) -> [&[f64]; 2] {
        [self.frequencies.as_slice(), &self.offsets]
    }

    /// z(x) of each row.
    ///
    /// `stream` writes past the caches: for features that are not read again soon.
    pub(super) fn apply<T: Scalar>(&self, rows: &Rows<'_, T>, out: &mut [T], stream: bool) {
        let (count, depth) = (self.frequencies.rows(), self.frequencies.columns());
        let panels = self.packed.get(|| {
            Panels::pack(Isa::best(), depth, count, |j, column: &mut [T]| {
                for (to, &w) in column.iter_mut().zip(self.frequencies.row(j)) {
                    *to = T::from_f64(w);
                }
            })
        });
        let exact = |i: usize, j: usize| self.phase(rows, i, j);
        if self.offsets.is_empty() {
            let scale = T::from_f64((1.0 / count as f64).sqrt());
            apply(rows, panels, &Apply::Pairs { scale, exact: &exact, stream }, out, 2 * count);
        } else {
            let scale = T::from_f64((2.0 / count as f64).sqrt());
            let offsets: Vec<T> = self.offsets.iter().map(|&b| T::from_f64(b)).collect();
            apply(rows, panels, &Apply::Offset { scale, offsets: &offsets, exact: &exact }, out, count);
        }
    }

    /// The phase of row i and frequency j in f64, for those too large for the precision of the rows.
    fn phase<T: Scalar>(&self, rows: &Rows<'_, T>, i: usize, j: usize) -> f64 {
        let w = self.frequencies.row(j);
        rows.entries(i).map(|(k, x)| x.to_f64() * w[k as usize]).sum()
    }
}

/// Rows filled between two checks.
const PIECE: usize = 256;

/// Fills the rows of a matrix, each from its number alone: on the threads of the current pool, if there is one.
fn fill_rows(
    rows: usize,
    columns: usize,
    check: Check<'_>,
    fill: impl Fn(usize, &mut [f64]) + Sync,
) -> Result<Matrix<f64>> {
    let mut matrix = Matrix::zeros(rows, columns);
    let parallel = rayon::current_thread_index().is_some();
    for (p, piece) in matrix.as_mut_slice().chunks_mut(PIECE * columns).enumerate() {
        let fill = |(j, row): (usize, &mut [f64])| fill(p * PIECE + j, row);
        if parallel {
            piece.par_chunks_mut(columns).enumerate().for_each(fill);
        } else {
            piece.chunks_mut(columns).enumerate().for_each(fill);
        }
        check(((p + 1) * PIECE).min(rows) as f64 / rows as f64)?;
    }
    Ok(matrix)
}

/// Independent frequencies.
fn independent(
    seed: u64,
    count: usize,
    dim: usize,
    spectrum: Spectrum,
    check: Check<'_>,
) -> Result<Matrix<f64>> {
    fill_rows(count, dim, check, |j, row| {
        let mut draws = Draws::new(seed, Stream::Frequencies, j as u64);
        row.fill_with(|| match spectrum {
            Spectrum::Normal { deviation } => deviation * draws.normal(),
            Spectrum::Cauchy { scale } => scale * draws.cauchy(),
        });
    })
}

/// Orthogonal directions with the lengths of independent normal vectors.
fn orthogonal(seed: u64, count: usize, dim: usize, deviation: f64, check: Check<'_>) -> Result<Matrix<f64>> {
    let blocks: Vec<Haar> =
        (0..count.div_ceil(dim)).map(|b| Haar::draw(seed, b, dim, dim.min(count - b * dim))).collect();
    fill_rows(count, dim, check, |j, row| {
        blocks[j / dim].column(j % dim, row);
        let mut draws = Draws::new(seed, Stream::Lengths, j as u64);
        let square: f64 = (0..dim).map(|_| draws.normal()).map(|g| g * g).sum();
        let length = deviation * square.sqrt();
        row.iter_mut().for_each(|w| *w *= length);
    })
}

/// The first columns of a random orthogonal matrix: Q = H₀H₁…H_{d−2}·diag(signs), Hₖ the reflection that takes a normal
/// vector of the coordinates from k on to a multiple of the first of them (Stewart 1980). Column i passes through H₀ … Hᵢ only, so that a few columns
/// of a large matrix cost little. Plain multiplications and additions in a fixed order: every processor makes the same matrix.
struct Haar {
    /// Reflection k has d − k entries, normalised to length √2.
    reflections: Vec<Vec<f64>>,
    signs: Vec<f64>,
}

impl Haar {
    fn draw(seed: u64, block: usize, dim: usize, columns: usize) -> Haar {
        let mut signs = Vec::with_capacity(columns);
        let mut reflections = Vec::with_capacity(columns);
        for k in 0..columns {
            let mut draws = Draws::new(seed, Stream::Reflections, (block as u64) << 32 | k as u64);
            let mut v: Vec<f64> = (k..dim).map(|_| draws.normal()).collect();
            let sign = if v[0] < 0.0 { -1.0 } else { 1.0 };
            if k + 1 == dim {
                signs.push(sign);
                break;
            }
            let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
            v[0] += sign * length;
            let factor = (2.0 / v.iter().map(|x| x * x).sum::<f64>()).sqrt();
            v.iter_mut().for_each(|x| *x *= factor);
            signs.push(-sign);
            reflections.push(v);
        }
        Haar { reflections, signs }
    }

    /// Column i: the unit vector i through the reflections that touch it, the last one first.
    fn column(&self, i: usize, column: &mut [f64]) {
        column.fill(0.0);
        column[i] = self.signs[i];
        for (k, v) in self.reflections.iter().enumerate().take(i + 1).rev() {
            let part = &mut column[k..];
            let along = dot(part, v);
            part.iter_mut().zip(v).for_each(|(c, v)| *c -= along * v);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner_testkit::{Absolute, assert_close, assert_same_bits};

    #[test]
    fn blocks_are_orthogonal_matrices() {
        for dim in [1, 2, 3, 20] {
            let haar = Haar::draw(3, 1, dim, dim);
            let q = fill_rows(dim, dim, &|_| Ok(()), |i, row| haar.column(i, row)).unwrap();
            for i in 0..dim {
                for j in 0..dim {
                    let expected = if i == j { 1.0 } else { 0.0 };
                    assert_close(&[dot(q.row(i), q.row(j))], &[expected], Absolute(1e-13));
                }
            }
        }
    }

    /// The mean of Q is zero and its entries squared have mean 1/d, by Hoeffding at 1e-9 each: without the
    /// signs Q₁₁ would always be negative.
    #[test]
    fn blocks_have_no_preferred_direction() {
        let (n, dim) = (4000, 3);
        let mut mean = vec![0.0; dim * dim];
        let mut square = vec![0.0; dim * dim];
        for seed in 0..n {
            let haar = Haar::draw(seed, 0, dim, dim);
            let q = fill_rows(dim, dim, &|_| Ok(()), |i, row| haar.column(i, row)).unwrap();
            for (at, x) in q.as_slice().iter().enumerate() {
                mean[at] += x / n as f64;
                square[at] += x * x / n as f64;
            }
        }
        let radius = bochner_testkit::hoeffding_radius(n as usize, 2.0, 1e-10);
        assert_close(&mean, &vec![0.0; dim * dim], Absolute(radius));
        assert_close(&square, &vec![1.0 / 3.0; dim * dim], Absolute(radius / 2.0));
    }

    #[test]
    fn a_smaller_map_is_the_prefix_of_a_larger_one() {
        for draw in [FrequencyDraw::Independent, FrequencyDraw::Orthogonal] {
            for form in [FourierForm::Pairs, FourierForm::Offset] {
                let build = |features| {
                    let spec = MapSpec {
                        kernel: Kernel::Gaussian { sigma: 0.7 },
                        method: super::super::Method::Fourier { form, draw },
                        features,
                        seed: 11,
                    };
                    Fourier::build(&spec, form, draw, 5, &|_| Ok(())).unwrap()
                };
                let (small, large) = (build(16), build(32));
                let rows = small.frequencies.rows();
                assert_same_bits(small.frequencies.as_slice(), &large.frequencies.as_slice()[..rows * 5]);
                assert_same_bits(&small.offsets, &large.offsets[..small.offsets.len()]);
            }
        }
    }
}

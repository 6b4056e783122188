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
//! multiply-adds to apply, n·m·log d additions if structured (and n·d² multiply-adds for each 16·d frequencies if turned), and nothing to store. Rahimi & Recht (2007); Yu et al. (2016) for orthogonal and
//! structured frequencies; Avron et al. (2016) for quasi-random ones. `docs/book/fourier.md`.

mod frequencies;

use std::f64::consts::TAU;

use self::frequencies::{
    BLOCKS_A_ROTATION, FEWEST_PADDED, FEWEST_TURNED, Hadamard, Rotated, apply_structured, apply_turned,
    independent, orthogonal, quasi,
};
pub(super) use self::frequencies::{fill_rows, orthonormal};
use super::{Family, FourierForm, FrequencyDraw, Packed, PerPrecision};
use crate::engine::Check;
use crate::kernel::{Mixing, Place, Spectrum, apply};
use crate::random::{Draws, Stream};
use crate::{Engine, Error, Kernel, Matrix, OwnedRows, Result, Rows, Scalar};
use bochner_simd::{Apply, Panels, Structured};

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

/// Signs, lengths and rotations in one precision.
#[derive(Clone, Debug)]
pub(crate) struct Cast<T: Scalar> {
    signs: Vec<T>,
    lengths: Vec<T>,
    rotations: Vec<Panels<T>>,
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
    if draw.needs_isotropy() && spectrum.law.isotropic().is_none() {
        return unsupported(
            format!(
                "{} Fourier map of {kernel}",
                if draw == FrequencyDraw::Orthogonal {
                    "an orthogonal".to_owned()
                } else {
                    format!("a {}", draw.name())
                }
            ),
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
    pub(super) fn build(
        engine: &Engine,
        spectrum: &Spectrum,
        ask: Ask,
        input_dim: usize,
        check: Check<'_>,
    ) -> Result<Self> {
        let Ask { form, draw, features, seed } = ask;
        let count = form.frequencies(features);
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
                dense(orthogonal(engine, seed, count, dim, (mixing, &place), check)?)
            }
            (FrequencyDraw::Structured, Some((mixing, place))) => {
                enough(
                    dim,
                    FEWEST_PADDED,
                    "structured",
                    "padded to fewer than 64, its frequencies are biased by more than 4e-4",
                )?;
                let drawn = Hadamard::structured(seed, count, dim, (mixing, &place));
                Frequencies::Structured { drawn, cast: PerPrecision::default() }
            }
            (FrequencyDraw::Turned, Some((mixing, place))) => {
                enough(
                    dim,
                    FEWEST_TURNED,
                    "turned",
                    "padded to fewer than 32, its blocks are too much alike, and no faster",
                )?;
                let drawn = Hadamard::turned(engine, seed, count, dim, (mixing, &place), check)?;
                Frequencies::Structured { drawn, cast: PerPrecision::default() }
            }
            (FrequencyDraw::Quasi, _) => drawn(quasi(engine, seed, count, input_dim, &spectrum.law, check)?),
            _ => drawn(independent(engine, seed, count, input_dim, &spectrum.law, check)?),
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
            Frequencies::Structured { drawn, .. } => {
                let rotations = drawn.rotations.iter().map(Matrix::as_slice);
                [&drawn.signs[..], &drawn.lengths, &self.offsets].into_iter().chain(rotations).collect()
            }
        }
    }

    /// z(x) of row i at `out[i·stride..]`.
    ///
    /// `stream` writes past the caches: for features that are not read again soon.
    pub(super) fn apply<T: Scalar>(
        &self,
        engine: &Engine,
        rows: &Rows<'_, T>,
        out: &mut [T],
        stride: usize,
        stream: bool,
    ) {
        let prepared = self.prepared(rows);
        let rows = &prepared.as_ref().map_or(*rows, OwnedRows::view);
        let count = self.count() as f64;
        let last = Rotated::default();
        let exact = |i: usize, j: usize| self.phase(engine, rows, i, j, &last);
        if self.offsets.is_empty() {
            let scale = T::from_f64(self.scale * (1.0 / count).sqrt());
            self.sums(engine, rows, &Apply::Pairs { scale, exact: &exact, stream }, out, stride);
        } else {
            let scale = T::from_f64(self.scale * (2.0 / count).sqrt());
            let offsets: Vec<T> = self.offsets.iter().map(|&b| T::from_f64(b)).collect();
            self.sums(engine, rows, &Apply::Offset { scale, offsets: &offsets, exact: &exact }, out, stride);
        }
    }

    /// Phases of rows in turns, one for each frequency: those of another width are these, divided by the ratio of the widths.
    pub(super) fn turns(&self, engine: &Engine, rows: &Rows<'_, f64>) -> Matrix<f64> {
        /// Rows that one thread looks at.
        const PIECE: usize = 64;
        let count = self.count();
        let mut turns = Matrix::zeros(rows.count(), count);
        engine.for_each_chunk(turns.as_mut_slice(), PIECE * count, &|piece, out| {
            let start = piece * PIECE;
            let rows = rows.slice(start..rows.count().min(start + PIECE));
            let prepared = self.prepared(&rows);
            self.sums(engine, &prepared.as_ref().map_or(rows, OwnedRows::view), &Apply::Product, out, count);
        });
        turns
    }

    /// ∂z/∂phase of each feature: that of (cos, sin) is (−sin, cos).
    pub(super) fn slopes(&self, engine: &Engine, rows: &Rows<'_, f64>) -> Matrix<f64> {
        let mut slopes = Matrix::zeros(rows.count(), self.output_dim());
        if self.offsets.is_empty() {
            self.apply(engine, rows, slopes.as_mut_slice(), self.output_dim().max(1), false);
            for pair in slopes.as_mut_slice().chunks_exact_mut(2) {
                (pair[0], pair[1]) = (-pair[1], pair[0]);
            }
        } else {
            let scale = self.scale * (2.0 / self.count() as f64).sqrt();
            let turns = self.turns(engine, rows);
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

    fn sums<T: Scalar>(
        &self,
        engine: &Engine,
        rows: &Rows<'_, T>,
        what: &Apply<'_, T>,
        out: &mut [T],
        stride: usize,
    ) {
        match &self.frequencies {
            Frequencies::Dense { rows: frequencies, packed } => {
                let panels = packed.get(engine.isa(), || {
                    Panels::pack(
                        engine.isa(),
                        frequencies.columns(),
                        frequencies.rows(),
                        &mut |j, column: &mut [T]| {
                            for (to, &w) in column.iter_mut().zip(frequencies.row(j)) {
                                *to = T::from_f64(w);
                            }
                        },
                    )
                });
                apply(rows, panels, what, out, stride);
            }
            Frequencies::Structured { drawn, cast } => {
                let cast = cast.get(engine.isa(), || {
                    let round = |numbers: &[f64]| numbers.iter().map(|&x| T::from_f64(x)).collect::<Vec<T>>();
                    let pack = |rotation: &Matrix<f64>| {
                        Panels::pack(
                            engine.isa(),
                            rotation.rows(),
                            rotation.columns(),
                            &mut |j, column: &mut [T]| {
                                column
                                    .iter_mut()
                                    .enumerate()
                                    .for_each(|(k, to)| *to = T::from_f64(rotation.row(k)[j]));
                            },
                        )
                    };
                    let rotations = drawn.rotations.iter().map(pack).collect();
                    Cast { signs: round(&drawn.signs), lengths: round(&drawn.lengths), rotations }
                });
                let Hadamard { padded, rounds, .. } = *drawn;
                let frequencies = Structured { padded, rounds, signs: &cast.signs, lengths: &cast.lengths };
                if cast.rotations.is_empty() {
                    apply_structured(engine, rows, &frequencies, what, out, stride);
                } else {
                    apply_turned(engine, rows, &cast.rotations, &frequencies, what, out, stride);
                }
            }
        }
    }

    /// The phase of row i and frequency j in f64, for those too large for the precision of the rows.
    fn phase<T: Scalar>(
        &self,
        engine: &Engine,
        rows: &Rows<'_, T>,
        i: usize,
        j: usize,
        last: &Rotated,
    ) -> f64 {
        match &self.frequencies {
            Frequencies::Dense { rows: frequencies, .. } => {
                let w = frequencies.row(j);
                rows.entries(i).map(|(k, x)| x.to_f64() * w[k as usize]).sum()
            }
            Frequencies::Structured { drawn, .. } => drawn.phase(engine, rows, i, j, last),
        }
    }
}

/// Refuses a map that is made of transforms of fewer columns than it takes.
fn enough(dim: usize, fewest: usize, kind: &str, reason: &'static str) -> Result<()> {
    if dim.next_power_of_two() >= fewest {
        return Ok(());
    }
    let what = format!("a {kind} Fourier map of {dim} columns");
    Err(Error::Unsupported { what, reason, instead: "use orthogonal ones" })
}

/// What turned frequencies of so many columns take; in f64, where no size overflows.
struct TurnedCost {
    columns: f64,
    padded: f64,
    frequencies: f64,
}

impl TurnedCost {
    fn new(columns: usize, frequencies: usize) -> TurnedCost {
        let padded = columns.checked_next_power_of_two().map_or(2f64.powi(64), |padded| padded as f64);
        TurnedCost { columns: columns as f64, padded, frequencies: frequencies as f64 }
    }

    /// Entries of all rotations.
    fn rotations(&self) -> f64 {
        (self.frequencies / (BLOCKS_A_ROTATION as f64 * self.padded)).ceil() * self.columns * self.padded
    }

    /// Operations a dense row: a rotation for each sixteen blocks, and for each frequency a sign, a length and the stages of a transform, of which the four within a vector take two instructions each.
    fn operations(&self) -> f64 {
        self.rotations() + self.frequencies * (self.padded.log2() + 6.0)
    }
}

/// Numbers that turned frequencies keep: rotations, signs and lengths.
pub(super) fn turned_entries(columns: usize, frequencies: usize) -> f64 {
    let cost = TurnedCost::new(columns, frequencies);
    cost.rotations() + 2.0 * (cost.frequencies + cost.padded)
}

/// The draw of an isotropic law that was not given: orthogonal; turned where that takes two thirds of the operations a row or less; independent where it would take too long to draw either.
///
/// Not turned where phases are large: in single precision each of them is computed again, which takes a whole rotation. (With less than two degrees of freedom,
/// as the exponential kernel's one, most rows have such phases; with two, one in a hundred at a distance of ten widths.)
pub(super) fn auto_draw(mixing: Mixing, columns: usize, frequencies: usize) -> FrequencyDraw {
    /// Multiply-adds to draw frequencies, about: tens of seconds of one thread at 10⁹ a second (counted).
    const MOST_TO_DRAW: f64 = 2e10;
    let cost = TurnedCost::new(columns, frequencies);
    let TurnedCost { columns, padded, frequencies } = cost;
    // Frequency i of a block passes i + 1 reflections.
    let to_turn = cost.rotations() * columns;
    let to_draw = columns * frequencies * columns.min(frequencies);
    let heavy = matches!(mixing, Mixing::Student { nu } if nu < 1.0);
    let pays =
        !heavy && padded >= FEWEST_TURNED as f64 && 3.0 * cost.operations() <= 2.0 * columns * frequencies;
    match (pays && to_turn <= MOST_TO_DRAW, to_draw <= MOST_TO_DRAW) {
        (true, _) => FrequencyDraw::Turned,
        (false, true) => FrequencyDraw::Orthogonal,
        (false, false) => FrequencyDraw::Independent,
    }
}

/// Normal vectors, orthogonal within blocks: one row for each.
pub(super) fn normals(
    engine: &Engine,
    seed: u64,
    count: usize,
    columns: usize,
    check: Check<'_>,
) -> Result<Matrix<f64>> {
    let place = Place { columns: None, width: 1.0.into() };
    orthogonal(engine, seed, count, columns, (Mixing::None, &place), check)
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
        for draw in [
            FrequencyDraw::Independent,
            FrequencyDraw::Orthogonal,
            FrequencyDraw::Turned,
            FrequencyDraw::Structured,
        ] {
            let map = |sigma: f64| {
                let ask = Ask { form: FourierForm::Pairs, draw, features: 30, seed: 5 };
                Fourier::build(
                    &Engine::default(),
                    &Kernel::gaussian(sigma).spectrum().unwrap(),
                    ask,
                    40,
                    &|_| Ok(()),
                )
                .unwrap()
            };
            let turns = map(2.0).turns(&Engine::default(), &Rows::from(&x));
            let mut features = Matrix::zeros(100, 30);
            map(0.6).apply(&Engine::default(), &Rows::from(&x), features.as_mut_slice(), 30, false);
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

    /// Frequencies of several rotations: each phase is that of its own rotation, signs and length, in rows that are turned in two pieces, and large ones are computed again where they belong.
    #[test]
    fn turned_phases_are_those_of_their_frequency() {
        let (n, d, count) = (70, 20, 1300);
        let x = Matrix::from_fn(n, d, |i, j| ((i * 41 + j * 7) % 23) as f64 / 7.0 - 1.5);
        let ask = |form| Ask {
            form,
            draw: FrequencyDraw::Turned,
            features: if form == FourierForm::Pairs { 2 * count } else { count },
            seed: 5,
        };
        let map = |form| {
            Fourier::build(
                &Engine::default(),
                &Kernel::gaussian(0.5).spectrum().unwrap(),
                ask(form),
                d,
                &|_| Ok(()),
            )
            .unwrap()
        };
        let pairs = map(FourierForm::Pairs);
        let Frequencies::Structured { drawn, .. } = &pairs.frequencies else { panic!("not turned") };
        assert_eq!((drawn.rotations.len(), drawn.padded), (3, 32));
        let turns = pairs.turns(&Engine::default(), &Rows::from(&x));
        for i in 0..n {
            for j in 0..count {
                let exact = pairs.phase(&Engine::default(), &Rows::from(&x), i, j, &Rotated::default());
                assert!((turns.row(i)[j] - exact).abs() < 1e-12, "{i} {j}");
            }
        }
        assert!(
            drawn.rotations[0] != drawn.rotations[1] && drawn.rotations[1] != drawn.rotations[2],
            "one rotation for all"
        );
        // Far away, where phases are too large for single precision.
        let far = Matrix::from_fn(n, d, |i, j| (1e3 * x.row(i)[j]) as f32);
        let wide = Matrix::from_fn(n, d, |i, j| f64::from(far.row(i)[j]));
        for form in [FourierForm::Pairs, FourierForm::Offset] {
            let map = map(form);
            let width = map.output_dim();
            let (mut single, mut double) = (Matrix::<f32>::zeros(n, width), Matrix::<f64>::zeros(n, width));
            map.apply(&Engine::default(), &Rows::from(&far), single.as_mut_slice(), width, false);
            map.apply(&Engine::default(), &Rows::from(&wide), double.as_mut_slice(), width, false);
            let worst = single.as_slice().iter().zip(double.as_slice());
            let worst = worst.map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max);
            // Typical phases are some 2,000 turns, and are sums of such: those below 1,024 are good to 1e-3 of a turn or so.
            assert!(worst < 2e-2 * (2.0 / count as f64).sqrt(), "{form:?}: {worst}");
        }
    }

    /// Where nothing is padded, frequencies of a block over their lengths are an orthogonal matrix, and have no preferred direction with those of another block.
    #[test]
    fn turned_blocks_are_orthogonal_matrices() {
        let d = 32;
        let ask = Ask { form: FourierForm::Offset, draw: FrequencyDraw::Turned, features: 3 * d, seed: 2 };
        let map =
            Fourier::build(&Engine::default(), &Kernel::gaussian(1.0).spectrum().unwrap(), ask, d, &|_| {
                Ok(())
            })
            .unwrap();
        let unit = Matrix::from_fn(d, d, |i, j| if i == j { 1.0 } else { 0.0 });
        let turns = map.turns(&Engine::default(), &Rows::from(&unit)); // entry (k, j) is entry k of frequency j
        let inner = |a: usize, b: usize| (0..d).map(|k| turns.row(k)[a] * turns.row(k)[b]).sum::<f64>();
        let cosine = |a: usize, b: usize| inner(a, b) / (inner(a, a) * inner(b, b)).sqrt();
        for a in 0..d {
            for b in 0..3 * d {
                let same_block = b < d;
                assert!(a == b || !same_block || cosine(a, b).abs() < 1e-12, "{a} {b}");
            }
        }
        // Means of 32 signs: steps of 1/16.
        assert!((d..3 * d).all(|b| (16.0 * cosine(0, b) - (16.0 * cosine(0, b)).round()).abs() < 1e-9));
        assert!((d..3 * d).any(|b| cosine(0, b).abs() > 0.05), "blocks are all the same");
    }

    /// Turned where products are saved, orthogonal where not, independent where there are directions to tell apart or drawing would take minutes; whatever the sizes.
    #[test]
    fn the_auto_draw_is_the_faster_one() {
        use FrequencyDraw::{Independent, Orthogonal, Turned};
        let usual = |text: &str, columns, frequencies| {
            FrequencyDraw::auto(&text.parse::<Kernel>().unwrap(), columns, frequencies)
        };
        assert_eq!(usual("gaussian(sigma=1)", 64, 2048), Turned);
        assert_eq!(usual("matern(nu=1.5,scale=1)", 784, 2048), Turned);
        assert_eq!(usual("exponential(scale=1)", 784, 2048), Orthogonal);
        assert_eq!(usual("gaussian(sigma=1)", 784, 1024), Orthogonal);
        assert_eq!(usual("gaussian(sigma=1)", 64, 64), Orthogonal);
        assert_eq!(usual("gaussian(sigma=1)", 8, 1 << 20), Orthogonal);
        assert_eq!(usual("gaussian(sigma=1)[1,5]", 64, 2048), Orthogonal);
        assert_eq!(usual("gaussian(sigma=1)[0..63]", 1 << 40, 2048), Turned);
        assert_eq!(usual("laplace(scale=1)", 64, 2048), Independent);
        assert_eq!(usual("gaussian(sigma=1)", 10_000, 5000), Independent);
        assert_eq!(usual("gaussian(sigma=1)", usize::MAX, usize::MAX), Independent);
        assert_eq!(usual("gaussian(sigma=1)", 64, usize::MAX), Independent);
        assert_eq!(usual("gaussian(sigma=1)", 64, 1 << 20), Turned);
        for draw in [Independent, Orthogonal, FrequencyDraw::Quasi, Turned, FrequencyDraw::Structured] {
            assert_eq!(serde_json::to_string(&draw).unwrap(), format!("\"{}\"", draw.name()));
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
            FrequencyDraw::Turned,
            FrequencyDraw::Structured,
        ] {
            for form in [FourierForm::Pairs, FourierForm::Offset] {
                let kernel = if draw == FrequencyDraw::Independent { &kernel } else { &single };
                let build = |features| {
                    let ask = Ask { form, draw, features, seed: 11 };
                    Fourier::build(&Engine::default(), &kernel.spectrum().unwrap(), ask, 50, &|_| Ok(()))
                        .unwrap()
                };
                let (small, large) = (build(128), build(256));
                for (small, large) in small.regenerated().into_iter().zip(large.regenerated()) {
                    assert_same_bits(small, &large[..small.len()]);
                }
            }
        }
    }
}

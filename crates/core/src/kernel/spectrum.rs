//! The law whose characteristic function a shift-invariant kernel is.
//!
//! ```text
//! k(x − y) = k(0)·E exp(i ω·(x − y))                                       (Bochner)
//!
//! c·k          the same law, c times the mass           k restricted     ω is zero in the other columns
//! k₁ + k₂      one law or the other, by their masses     exp k            ω₁ + … + ω_N,  N ~ Poisson(k(0))
//! k₁·k₂        ω₁ + ω₂, independent                      normalised       mass 1
//! ```
//! The algebra of kernels is one of laws, so that every expression of shift-invariant kernels has Fourier features that are unbiased. exp k is Σ kⁿ/n!, a mixture over n of
//! laws of sums, with the weights k(0)ⁿ/n! of a Poisson law.

use super::{Kernel, Width, columns};
use crate::random::Numbers;

/// A law of frequencies and the mass k(0).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spectrum {
    pub(crate) mass: f64,
    pub(crate) law: Law,
}

/// A law of frequencies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Law {
    /// ω = 0.
    Still,
    /// Independent entries.
    Columns { one: OneColumn, place: Place },
    /// A normal vector times a random length, divided by the widths: without preferred direction but for the widths.
    Isotropic { mixing: Mixing, place: Place },
    /// The first coordinates of a uniform point on the sphere in three dimensions.
    Sphere { place: Place },
    /// The sum of independent frequencies.
    Independent(Vec<Law>),
    /// One of them, with these probabilities.
    Mixture(Vec<(f64, Law)>),
    /// The sum of a Poisson number of independent frequencies.
    Compound { rate: f64, law: Box<Law> },
}

/// Which columns, and their widths.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    /// None for all.
    pub(crate) columns: Option<Vec<usize>>,
    pub(crate) width: Width,
}

/// The law of one entry of ω, for width 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum OneColumn {
    Cauchy,
    Laplace,
    /// On [−1, 1].
    Uniform,
    /// The law of the hat.
    Hat,
}

/// What the square of the length of a normal vector is multiplied with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mixing {
    /// One: the Gaussian.
    None,
    /// 2ν/χ² with 2ν degrees of freedom: Matérn.
    Student { nu: f64 },
    /// Gamma with this shape and mean 1: rational quadratic.
    Gamma { alpha: f64 },
}

impl Kernel {
    /// The law and mass of an expression of shift-invariant kernels; none for others.
    pub(crate) fn spectrum(&self) -> Option<Spectrum> {
        match self {
            Kernel::Scaled { factor, kernel } => {
                kernel.spectrum().map(|inner| Spectrum { mass: factor * inner.mass, ..inner })
            }
            Kernel::Sum { terms } => {
                let parts = terms.iter().map(Kernel::spectrum).collect::<Option<Vec<_>>>()?;
                let mass = parts.iter().map(|part| part.mass).sum();
                Some(Spectrum {
                    mass,
                    law: Law::Mixture(parts.into_iter().map(|p| (p.mass / mass, p.law)).collect()),
                })
            }
            Kernel::Product { factors } => {
                let parts = factors.iter().map(Kernel::spectrum).collect::<Option<Vec<_>>>()?;
                let mass = parts.iter().map(|part| part.mass).product();
                Some(Spectrum {
                    mass,
                    law: Law::Independent(parts.into_iter().map(|part| part.law).collect()),
                })
            }
            Kernel::Exp { kernel } => kernel.spectrum().map(|inner| Spectrum {
                mass: libm::exp(inner.mass),
                law: Law::Compound { rate: inner.mass, law: Box::new(inner.law) },
            }),
            Kernel::Normalised { kernel } => kernel.spectrum().map(|inner| Spectrum { mass: 1.0, ..inner }),
            Kernel::Restricted { columns, kernel } => kernel.law(Some(columns::numbers(columns).collect())),
            leaf => leaf.law(None),
        }
    }

    /// The law of a leaf on some columns.
    fn law(&self, columns: Option<Vec<usize>>) -> Option<Spectrum> {
        if *self == Kernel::Constant {
            return Some(Spectrum { mass: 1.0, law: Law::Still });
        }
        let place = Place { columns, width: self.width()?.clone() };
        let law = match self {
            Kernel::Gaussian { .. } => Law::Isotropic { mixing: Mixing::None, place },
            Kernel::Laplace { .. } => Law::Columns { one: OneColumn::Cauchy, place },
            Kernel::Exponential { .. } => Law::Isotropic { mixing: Mixing::Student { nu: 0.5 }, place },
            Kernel::Matern { nu, .. } => Law::Isotropic { mixing: Mixing::Student { nu: *nu }, place },
            Kernel::RationalQuadratic { alpha, .. } => {
                Law::Isotropic { mixing: Mixing::Gamma { alpha: *alpha }, place }
            }
            Kernel::Cauchy { .. } => Law::Columns { one: OneColumn::Laplace, place },
            Kernel::Sinc { .. } => Law::Columns { one: OneColumn::Uniform, place },
            Kernel::RadialSinc { .. } => Law::Sphere { place },
            Kernel::Hat { .. } => Law::Columns { one: OneColumn::Hat, place },
            _ => return None,
        };
        Some(Spectrum { mass: 1.0, law })
    }
}

impl Place {
    /// The columns among `count`, with 1/width.
    fn columns(&self, count: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let number = |at: usize| self.columns.as_ref().map_or(at, |columns| columns[at]);
        (0..self.len(count)).map(move |at| (number(at), 1.0 / self.width.at(at)))
    }

    /// How many.
    pub(crate) fn len(&self, count: usize) -> usize {
        self.columns.as_ref().map_or(count, Vec::len)
    }

    /// Σ 1/width².
    fn inverse_squares(&self, count: usize) -> f64 {
        self.columns(count).map(|(_, inverse)| inverse * inverse).sum()
    }
}

impl OneColumn {
    fn draw(self, numbers: &mut Numbers<'_>) -> f64 {
        match self {
            OneColumn::Cauchy => numbers.cauchy(),
            OneColumn::Laplace => numbers.laplace(),
            OneColumn::Uniform => 2.0 * numbers.uniform() - 1.0,
            OneColumn::Hat => numbers.hat(),
        }
    }

    /// E ω², where it is finite.
    fn second_moment(self) -> Option<f64> {
        match self {
            OneColumn::Cauchy | OneColumn::Hat => None,
            OneColumn::Laplace => Some(2.0),
            OneColumn::Uniform => Some(1.0 / 3.0),
        }
    }
}

impl Mixing {
    /// What a normal vector is multiplied with.
    pub(crate) fn draw(self, numbers: &mut Numbers<'_>) -> f64 {
        match self {
            Mixing::None => 1.0,
            // χ² with 2ν degrees of freedom is twice a Gamma of shape ν.
            Mixing::Student { nu } => (nu / numbers.gamma(nu)).sqrt(),
            Mixing::Gamma { alpha } => (numbers.gamma(alpha) / alpha).sqrt(),
        }
    }

    /// The mean of its square, where it is finite.
    fn second_moment(self) -> Option<f64> {
        match self {
            Mixing::None | Mixing::Gamma { .. } => Some(1.0),
            Mixing::Student { nu } => (nu > 1.0).then(|| nu / (nu - 1.0)),
        }
    }
}

impl Law {
    /// Adds a frequency to `to`, one entry for each column of the rows.
    pub(crate) fn draw(&self, numbers: &mut Numbers<'_>, to: &mut [f64]) {
        let count = to.len();
        match self {
            Law::Still => {}
            Law::Columns { one, place } => {
                place.columns(count).for_each(|(column, inverse)| to[column] += inverse * one.draw(numbers));
            }
            Law::Isotropic { mixing, place } => {
                // The length first where there is one: quasi-random numbers are the most even in their first coordinates.
                let length = mixing.draw(numbers);
                place
                    .columns(count)
                    .for_each(|(column, inverse)| to[column] += inverse * length * numbers.normal());
            }
            Law::Sphere { place } => {
                let (height, angle) =
                    (2.0 * numbers.uniform() - 1.0, std::f64::consts::TAU * numbers.uniform());
                let radius = (1.0 - height * height).sqrt();
                let point = [height, radius * libm::cos(angle), radius * libm::sin(angle)];
                place.columns(count).zip(point).for_each(|((column, inverse), x)| to[column] += inverse * x);
            }
            Law::Independent(laws) => laws.iter().for_each(|law| law.draw(numbers, to)),
            Law::Mixture(laws) => {
                let mut left = numbers.uniform();
                let chosen = laws.iter().find(|(share, _)| {
                    left -= share;
                    left < 0.0
                });
                // Rounding may leave a little beyond the last.
                if let Some((_, law)) = chosen.or(laws.last()) {
                    law.draw(numbers, to);
                }
            }
            Law::Compound { rate, law } => (0..numbers.poisson(*rate)).for_each(|_| law.draw(numbers, to)),
        }
    }

    /// The coordinates that a quasi-random point needs for one frequency; those of a Poisson number of frequencies for a usual number.
    pub(crate) fn coordinates(&self, count: usize) -> usize {
        match self {
            Law::Still => 0,
            Law::Columns { place, .. } => place.len(count),
            Law::Isotropic { mixing: Mixing::None, place } => place.len(count),
            Law::Isotropic { place, .. } => 1 + place.len(count),
            Law::Sphere { .. } => 2,
            Law::Independent(laws) => {
                laws.iter().fold(0, |sum: usize, law| sum.saturating_add(law.coordinates(count)))
            }
            Law::Mixture(laws) => 1 + laws.iter().map(|(_, law)| law.coordinates(count)).max().unwrap_or(0),
            Law::Compound { rate, law } => {
                let inner = law.coordinates(count).saturating_mul((rate.ceil() as usize).clamp(1, 8));
                inner.saturating_add(1)
            }
        }
    }

    /// Whether ω is always zero.
    pub(crate) fn is_still(&self) -> bool {
        match self {
            Law::Still => true,
            Law::Independent(laws) => laws.iter().all(Law::is_still),
            Law::Mixture(laws) => laws.iter().all(|(_, law)| law.is_still()),
            Law::Compound { law, .. } => law.is_still(),
            _ => false,
        }
    }

    /// The draws of leaves that one frequency takes on average.
    pub(crate) fn work(&self) -> f64 {
        match self {
            Law::Independent(laws) => laws.iter().map(Law::work).sum(),
            Law::Mixture(laws) => laws.iter().map(|(share, law)| share * law.work()).sum(),
            Law::Compound { rate, law } => rate * law.work(),
            _ => 1.0,
        }
    }

    /// Marks the columns where a frequency may differ from zero.
    pub(crate) fn mark(&self, used: &mut [bool]) {
        let count = used.len();
        match self {
            Law::Still => {}
            Law::Columns { place, .. } | Law::Isotropic { place, .. } | Law::Sphere { place } => {
                place.columns(count).for_each(|(column, _)| used[column] = true);
            }
            Law::Independent(laws) => laws.iter().for_each(|law| law.mark(used)),
            Law::Mixture(laws) => laws.iter().for_each(|(_, law)| law.mark(used)),
            Law::Compound { law, .. } => law.mark(used),
        }
    }

    /// E‖ω‖² for rows with so many columns, where it is finite: what bounds over a domain need.
    pub(crate) fn second_moment(&self, count: usize) -> Option<f64> {
        match self {
            Law::Still => Some(0.0),
            Law::Columns { one, place } => {
                one.second_moment().map(|moment| moment * place.inverse_squares(count))
            }
            Law::Isotropic { mixing, place } => {
                mixing.second_moment().map(|moment| moment * place.inverse_squares(count))
            }
            Law::Sphere { place } => Some(place.inverse_squares(count) / 3.0),
            Law::Independent(laws) => laws.iter().map(|law| law.second_moment(count)).sum(),
            Law::Mixture(laws) => {
                laws.iter().map(|(share, law)| law.second_moment(count).map(|m| share * m)).sum()
            }
            Law::Compound { rate, law } => law.second_moment(count).map(|moment| rate * moment),
        }
    }

    /// 2·Var(t²)/(E t²)² for t = ω·Δ of a law without preferred directions: what the relative variance of a small squared distance tends to, times D; none where it is infinite.
    pub(crate) fn small_distances(&self) -> Option<f64> {
        match self {
            Law::Isotropic { mixing: Mixing::None, .. } => Some(4.0),
            Law::Isotropic { mixing: Mixing::Student { nu }, .. } => {
                (*nu > 2.0).then(|| 2.0 * (3.0 * (nu - 1.0) / (nu - 2.0) - 1.0))
            }
            Law::Isotropic { mixing: Mixing::Gamma { alpha }, .. } => Some(4.0 + 6.0 / alpha),
            // E t² = r²/3 and E t⁴ = r⁴/5.
            Law::Sphere { .. } => Some(1.6),
            _ => None,
        }
    }

    /// Whether E(ω·Δ)⁴ is finite: what relative errors of small distances need.
    pub(crate) fn has_fourth_moment(&self) -> bool {
        match self {
            Law::Still | Law::Sphere { .. } => true,
            Law::Columns { one, .. } => one.second_moment().is_some(),
            Law::Isotropic { mixing: Mixing::Student { nu }, .. } => *nu > 2.0,
            Law::Isotropic { .. } => true,
            Law::Independent(laws) => laws.iter().all(Law::has_fourth_moment),
            Law::Mixture(laws) => laws.iter().all(|(_, law)| law.has_fourth_moment()),
            Law::Compound { law, .. } => law.has_fourth_moment(),
        }
    }

    /// The mixing and the place of a law without preferred directions.
    pub(crate) fn isotropic(&self) -> Option<(Mixing, &Place)> {
        match self {
            Law::Isotropic { mixing, place } => Some((*mixing, place)),
            _ => None,
        }
    }
}

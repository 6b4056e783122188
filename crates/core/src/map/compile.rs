//! From an expression to a map of the size asked.
//!
//! ```text
//! c·K                 √c times the features of K
//! K₁ + K₂             side by side.  Parts with few features of their own keep them all; the rest share what is left in proportion to c·k(0), which
//!                     makes the sum of the variances (c·k(0))²/D smallest
//! K₁·K₂               shift-invariant factors are one law; laplace and hat factors are one grid, where bins are asked for, with a frequency from the other
//!                     factors; what remains is multiplied out where the product of the sizes is at most D, else draw by draw
//! f·K·f, normalised   features times f(x), or over √K(x, x)
//! exp K               a law, if K is shift-invariant; else positive features of the features of K
//! (γ·x·y + c)ᵖ        all monomials where they fit, else a sketch: signs and Hadamard transforms where D is at least the padded columns, count sketches for wider rows
//! Σ aₙ·(x·y)ⁿ         the powers side by side: those with few monomials exactly, the others sketched with shares in proportion to aₙ
//! products of columns each a feature where they fit, else hashed
//! ```
//! A [`Recipe`] is what was decided, as plain data and a function of kernel, columns and size alone: a model file holds the kernel, and the same recipe is made again.

use super::combination::Combinations;
use super::sketch::{self, Sketch};
use super::{FourierForm, FrequencyDraw, Projection, exact, homogeneous};
use crate::kernel::{Function, columns_of};
use crate::{Error, Kernel, Result};

/// What an expression becomes.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The part of the expression.
    pub kernel: Kernel,
    /// What is made of it.
    pub how: How,
    /// Features, D.
    pub features: usize,
}

/// How features of a part are made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum How {
    /// Its own features, all of them.
    Exact,
    /// One feature, √k(0): the kernel looks at no column.
    Constant,
    /// The Gaussian's series up to a degree.
    Taylor {
        /// The degree.
        degree: u32,
    },
    /// Random Fourier features.
    Fourier {
        /// Pairs or offsets.
        form: FourierForm,
        /// How frequencies are drawn.
        draw: FrequencyDraw,
    },
    /// The sampled spectrum of an additive kernel.
    Homogeneous {
        /// Samples on either side of zero.
        steps: usize,
    },
    /// Random rectified units.
    Hinges,
    /// Random signs for each column.
    Subsets,
    /// Hashed cells of random grids.
    Grids {
        /// Slots of each grid.
        width: usize,
    },
    /// A sketch of the polynomial kernel.
    Sketch {
        /// Which one.
        sketch: Sketch,
    },
    /// Products of columns, hashed with signs.
    Hashed,
    /// A projection on random signs, of the features of the part.
    Projected(Box<Recipe>),
    /// A projection of the rows.
    Projection {
        /// Which.
        how: Projection,
    },
    /// Fourier features of a Gaussian of the features of an additive kernel.
    OfDistance {
        /// Pairs or offsets.
        form: FourierForm,
        /// The additive kernel's.
        part: Box<Recipe>,
    },
    /// Positive features of the features of K in exp K.
    Positive(Box<Recipe>),
    /// Side by side.
    Join(Vec<Recipe>),
    /// All products.
    Tensor(Vec<Recipe>),
    /// Products draw by draw.
    Multiply(Vec<Recipe>),
    /// √c times.
    Scale {
        /// c.
        factor: f64,
        /// Of what.
        part: Box<Recipe>,
    },
    /// f(x) times.
    Weight {
        /// f.
        function: Function,
        /// Of what.
        part: Box<Recipe>,
    },
    /// Over √K(x, x).
    Normalise(Box<Recipe>),
}

/// The fewest draws worth multiplying out with exact features.
const FEWEST_DRAWS: usize = 32;

/// How an expression is compiled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compiler {
    /// Columns of the rows.
    pub(super) columns: usize,
    /// Slots of each grid for laplace and hat; none for Fourier features.
    pub(super) bins: Option<usize>,
}

impl Compiler {
    /// A map with at most so many features, where anything is allowed.
    pub(super) fn compile(&self, kernel: &Kernel, budget: usize) -> Result<Recipe> {
        if budget == 0 {
            return Err(too_few(kernel));
        }
        let made = |how, features| Ok(Recipe { kernel: kernel.clone(), how, features });
        match kernel {
            Kernel::Scaled { .. } => return around(kernel, |inner| self.compile(inner, budget)),
            Kernel::Sum { terms } => return self.sum(kernel, terms, budget),
            _ => {}
        }
        if let Some(width) = self.bins
            && let Some(law) = kernel.grid_law(self.columns)
        {
            let each = width.saturating_mul(law.outputs());
            if each <= budget {
                return made(How::Grids { width }, budget / each * each);
            }
        }
        if let Some(recipe) = self.fourier(kernel, budget)? {
            return Ok(recipe);
        }
        match kernel {
            Kernel::Product { factors } => match simpler(factors) {
                Some(simpler) => self.compile(&simpler, budget),
                None => self.product(kernel, factors, budget),
            },
            Kernel::Weighted { .. } | Kernel::Normalised { .. } => {
                around(kernel, |inner| self.compile(inner, budget))
            }
            Kernel::Exp { kernel: inner } => {
                made(How::Positive(Box::new(self.compile(inner, budget)?)), budget)
            }
            leaf => self.leaf(leaf, budget),
        }
    }

    /// Fourier features of the one law of a shift-invariant kernel, sums in it included; none for others. A law without columns is a constant: one feature.
    fn fourier(&self, kernel: &Kernel, budget: usize) -> Result<Option<Recipe>> {
        let Some(spectrum) = kernel.spectrum() else { return Ok(None) };
        if !spectrum.mass.is_finite() {
            return Err(Error::Overflow { what: "the kernel of a row with itself" });
        }
        if spectrum.law.is_still() {
            return Ok(Some(Recipe { kernel: kernel.clone(), how: How::Constant, features: 1 }));
        }
        let is_isotropic = spectrum.law.isotropic().is_some();
        let draw = if is_isotropic { FrequencyDraw::Orthogonal } else { FrequencyDraw::Independent };
        let how = How::Fourier { form: FourierForm::of(budget), draw };
        Ok(Some(Recipe { kernel: kernel.clone(), how, features: budget }))
    }

    /// A map without approximation.
    pub(super) fn exact(&self, kernel: &Kernel) -> Result<Recipe> {
        let made = |how, features| Ok(Recipe { kernel: kernel.clone(), how, features });
        let all =
            |kernels: &[Kernel]| kernels.iter().map(|inner| self.exact(inner)).collect::<Result<Vec<_>>>();
        match kernel {
            Kernel::Scaled { .. } | Kernel::Weighted { .. } | Kernel::Normalised { .. } => {
                around(kernel, |inner| self.exact(inner))
            }
            Kernel::Sum { terms } => {
                let parts = all(terms)?;
                let features = parts.iter().fold(0, |sum: usize, part| sum.saturating_add(part.features));
                made(How::Join(parts), features)
            }
            Kernel::Product { factors } => {
                let parts = all(factors)?;
                let features =
                    parts.iter().fold(1, |product: usize, part| product.saturating_mul(part.features));
                made(How::Tensor(parts), features)
            }
            still if still.spectrum().is_some_and(|spectrum| spectrum.law.is_still()) => {
                made(How::Constant, 1)
            }
            leaf => match self.size(leaf) {
                Some(features) => made(How::Exact, features),
                None => Err(Error::Unsupported {
                    what: format!("an exact map of {leaf}"),
                    reason: "its feature space has infinitely many dimensions",
                    instead: "use a compiled map, Fourier features or landmarks",
                }),
            },
        }
    }

    /// The number of features of a leaf, with its columns; none for others and for infinitely many.
    fn size(&self, leaf: &Kernel) -> Option<usize> {
        match leaf {
            Kernel::Restricted { columns, kernel } => exact::size(kernel, columns_of(columns).count()),
            leaf => exact::size(leaf, self.columns),
        }
    }

    /// The features of an expression that has finitely many.
    fn finite(&self, kernel: &Kernel) -> Option<usize> {
        self.exact(kernel).ok().map(|recipe| recipe.features)
    }

    fn leaf(&self, kernel: &Kernel, budget: usize) -> Result<Recipe> {
        let made = |how, features| Ok(Recipe { kernel: kernel.clone(), how, features });
        let (columns, inner) = match kernel {
            Kernel::Restricted { columns, kernel } => (columns_of(columns).count(), &**kernel),
            leaf => (self.columns, leaf),
        };
        match (inner, self.size(kernel)) {
            (_, Some(features)) if features <= budget => made(How::Exact, features),
            (Kernel::Polynomial { .. }, _) => {
                let sketch = sketch::usual(inner, columns, budget);
                made(How::Sketch { sketch }, sketch.features(budget))
            }
            (Kernel::Series { coefficients }, _) => {
                let powers = powers(coefficients);
                let powers = match kernel {
                    Kernel::Restricted { columns, .. } => powers.on(columns.clone())?,
                    _ => powers,
                };
                self.compile(&powers, budget)
            }
            (products, _) if Combinations::of(products).is_some() => made(How::Hashed, budget),
            (Kernel::AllSubsets, _) => made(How::Subsets, budget),
            (Kernel::ArcCosine { .. }, _) => made(How::Hinges, budget),
            (Kernel::ExponentialChi2 { .. }, _) => {
                let inner = Recipe {
                    kernel: kernel.clone(),
                    how: How::Homogeneous { steps: 3 },
                    features: 7 * columns,
                };
                made(How::OfDistance { form: FourierForm::of(budget), part: Box::new(inner) }, budget)
            }
            (additive, _) if homogeneous::has(additive) => {
                match (1..=3).rev().find(|r| (2 * r + 1) * columns <= budget) {
                    Some(steps) => made(How::Homogeneous { steps }, (2 * steps + 1) * columns),
                    None => {
                        let inner = Recipe {
                            kernel: kernel.clone(),
                            how: How::Homogeneous { steps: 2 },
                            features: 5 * columns,
                        };
                        made(How::Projected(Box::new(inner)), budget)
                    }
                }
            }
            (_, Some(_)) => self.projected(kernel, budget),
            (_, None) => Err(Error::Unsupported {
                what: format!("a map of {kernel}"),
                reason: "no features are known for it",
                instead: "use landmarks, which work for every kernel",
            }),
        }
    }

    /// A projection of exact features.
    fn projected(&self, kernel: &Kernel, budget: usize) -> Result<Recipe> {
        let inner = Box::new(self.exact(kernel)?);
        Ok(Recipe { kernel: kernel.clone(), how: How::Projected(inner), features: budget })
    }

    fn sum(&self, kernel: &Kernel, terms: &[Kernel], budget: usize) -> Result<Recipe> {
        // All features of all parts, where there are so few.
        if self.finite(kernel).is_some_and(|size| size <= budget) {
            return self.exact(kernel);
        }
        // Few features of its own, and no chance in them: no more than an equal share.
        let own: Vec<Option<usize>> = terms
            .iter()
            .map(|term| {
                let recipe = self.compile(term, budget / terms.len()).ok()?;
                recipe.variance().is_some_and(|variance| variance <= 0.0).then_some(recipe.features)
            })
            .collect();
        let left = budget - own.iter().flatten().sum::<usize>();
        if left < 2 * own.iter().filter(|own| own.is_none()).count() {
            return Err(too_few(kernel));
        }
        let weight = |term: &Kernel| term.constant_diagonal().unwrap_or_else(|| leading_factor(term));
        let weights: Vec<f64> =
            terms.iter().zip(&own).filter(|(_, own)| own.is_none()).map(|(term, _)| weight(term)).collect();
        let mut shared = even_shares(left, &weights).into_iter();
        let mut parts = Vec::with_capacity(terms.len());
        for (term, own) in terms.iter().zip(&own) {
            parts.push(self.compile(term, own.or_else(|| shared.next()).unwrap_or(0))?);
        }
        let features = parts.iter().map(|part| part.features).sum();
        Ok(Recipe { kernel: kernel.clone(), how: How::Join(parts), features })
    }

    fn product(&self, kernel: &Kernel, factors: &[Kernel], budget: usize) -> Result<Recipe> {
        let made = |how, features| Ok(Recipe { kernel: kernel.clone(), how, features });
        // Shift-invariant factors are one, and so are those with a grid.
        let is_drawn = |factor: &&Kernel| factor.spectrum().is_some_and(|spectrum| !spectrum.law.is_still());
        let (drawn, others): (Vec<&Kernel>, Vec<&Kernel>) = factors.iter().partition(is_drawn);
        let drawn = (!drawn.is_empty()).then(|| Kernel::product(drawn.into_iter().cloned()));
        let sizes: Vec<Option<usize>> = others.iter().map(|factor| self.finite(factor)).collect();
        let exact =
            sizes.iter().try_fold(1usize, |product, size| size.map(|size| product.saturating_mul(size)));
        let draws = exact.map(|exact| budget / exact.max(1) / 2 * 2);
        match (exact, &drawn, draws) {
            (Some(exact), None, _) if exact <= budget => {
                let parts = others.iter().map(|factor| self.exact(factor)).collect::<Result<_>>()?;
                return made(How::Tensor(parts), exact);
            }
            (Some(exact), Some(drawn), Some(draws)) if draws >= FEWEST_DRAWS => {
                let mut parts = others.iter().map(|factor| self.exact(factor)).collect::<Result<Vec<_>>>()?;
                parts.push(self.one_law(drawn, draws)?);
                let features = exact * parts.last().map_or(0, |part| part.features);
                return made(How::Tensor(parts), features);
            }
            _ => {}
        }
        // Draw by draw: a pair of Fourier features is one draw, a complex number, and so is one of a sketch; the others have half as many.
        let without_bins = Compiler { bins: None, ..*self };
        let sketched = |factor: &&Kernel| self.sketched(factor, budget / 2).is_some();
        let paired = budget > 1 && (drawn.is_some() || others.iter().any(sketched));
        let budget = if paired { budget / 2 * 2 } else { budget };
        let draws = if paired { budget / 2 } else { budget };
        let mut parts = others
            .iter()
            .map(|factor| without_bins.draws(factor, draws, paired))
            .collect::<Result<Vec<_>>>()?;
        if let Some(drawn) = &drawn {
            parts.push(without_bins.one_law(drawn, budget)?);
        }
        made(How::Multiply(flattened(parts)), budget)
    }

    /// Features of a shift-invariant factor whose draws are all alike: a sum in it is a mixture, not parts side by side.
    fn one_law(&self, drawn: &Kernel, budget: usize) -> Result<Recipe> {
        let binned = self.bins.is_some() && drawn.grid_law(self.columns).is_some();
        match self.fourier(drawn, budget)? {
            Some(recipe) if !binned => Ok(recipe),
            _ => self.compile(drawn, budget),
        }
    }

    /// A polynomial as a sketch of so many complex draws, where it has more monomials than that.
    fn sketched(&self, factor: &Kernel, draws: usize) -> Option<Recipe> {
        let many = self.size(factor).is_some_and(|size| size > draws);
        (matches!(factor.bare(), Kernel::Polynomial { .. }) && many && draws > 0).then(|| Recipe {
            kernel: factor.clone(),
            how: How::Sketch { sketch: Sketch::Product },
            features: 2 * draws,
        })
    }

    /// Features each of which, or each pair of which, is an unbiased draw.
    fn draws(&self, factor: &Kernel, draws: usize, paired: bool) -> Result<Recipe> {
        let project = |inner: Recipe| Recipe {
            kernel: inner.kernel.clone(),
            features: draws,
            how: How::Projected(Box::new(inner)),
        };
        if paired && let Some(recipe) = self.sketched(factor, draws) {
            return Ok(recipe);
        }
        let recipe = self.compile(factor, draws)?;
        Ok(match &recipe.how {
            How::Hinges | How::Subsets | How::Multiply(_) | How::Projected(_) | How::Positive(_)
                if recipe.features == draws =>
            {
                recipe
            }
            _ => project(recipe),
        })
    }
}

/// The same product with products in it made one, and a series of one power written as that power; none where there is nothing of the kind.
fn simpler(factors: &[Kernel]) -> Option<Kernel> {
    let one = |factor: &Kernel| match (factor, factor.bare()) {
        (Kernel::Product { .. }, _) => Some(factor.clone()),
        (_, Kernel::Series { coefficients }) if exact::powers(coefficients).count() == 1 => {
            let power = powers(coefficients);
            match factor {
                Kernel::Restricted { columns, .. } => power.on(columns.clone()).ok(),
                _ => Some(power),
            }
        }
        _ => None,
    };
    let made: Vec<Option<Kernel>> = factors.iter().map(one).collect();
    made.iter().any(Option::is_some).then(|| {
        Kernel::product(
            made.into_iter().zip(factors).map(|(made, factor)| made.unwrap_or_else(|| factor.clone())),
        )
    })
}

/// Σ aₙ·(x·y)ⁿ as an expression.
fn powers(coefficients: &[f64]) -> Kernel {
    Kernel::sum(exact::powers(coefficients).map(|(n, a)| match n {
        0 => a * Kernel::Constant,
        1 => a * Kernel::Linear,
        n => a * Kernel::polynomial(n, 0.0),
    }))
}

/// c·K, f·K·f or a normalised K, given how K is made.
fn around(kernel: &Kernel, make: impl Fn(&Kernel) -> Result<Recipe>) -> Result<Recipe> {
    let [inner] = kernel.parts() else { return make(kernel) };
    let part = Box::new(make(inner)?);
    let features = part.features;
    let how = match kernel {
        Kernel::Scaled { factor, .. } => How::Scale { factor: *factor, part },
        Kernel::Weighted { function, .. } => How::Weight { function: function.clone(), part },
        _ => How::Normalise(part),
    };
    Ok(Recipe { kernel: kernel.clone(), how, features })
}

/// Even numbers, at least two each and at most `whole` together, in proportion to weights: what rounding leaves goes to those that lost most of it.
fn even_shares(whole: usize, weights: &[f64]) -> Vec<usize> {
    let total: f64 = weights.iter().sum();
    let units = (whole / 2).saturating_sub(weights.len());
    let fair = |weight: &f64| units as f64 * (weight / total).clamp(0.0, 1.0);
    let mut shares: Vec<usize> = weights.iter().map(|weight| fair(weight) as usize).collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    let lost = |i: &usize| fair(&weights[*i]).fract();
    order.sort_by(|a, b| lost(b).total_cmp(&lost(a)));
    let left = units.saturating_sub(shares.iter().sum());
    order.into_iter().take(left).for_each(|i| shares[i] += 1);
    shares.into_iter().map(|share| 2 + 2 * share).collect()
}

fn too_few(kernel: &Kernel) -> Error {
    Error::Unsupported {
        what: format!("a map of {kernel} with so few features"),
        reason: "each part of an expression needs some",
        instead: "ask for more features",
    }
}

/// Products of products are one.
fn flattened(parts: Vec<Recipe>) -> Vec<Recipe> {
    parts
        .into_iter()
        .flat_map(|part| match part.how {
            How::Multiply(inner) => inner,
            _ => vec![part],
        })
        .collect()
}

/// The factor in front of a kernel whose k(x, x) is not known beforehand.
fn leading_factor(kernel: &Kernel) -> f64 {
    match kernel {
        Kernel::Scaled { factor, .. } => *factor,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_even_and_add_up() {
        assert_eq!(even_shares(400, &[3.0, 1.0]), [300, 100]);
        assert_eq!(even_shares(401, &[3.0, 1.0]), [300, 100]);
        assert_eq!(even_shares(14, &[7.0, 7.0, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9]), [2; 7]);
        for whole in [10, 11, 64, 1000] {
            for weights in [&[1.0, 2.0, 4.0][..], &[1e-300, 1.0, 1e300], &[1.0], &[0.1, 0.1, 0.1, 0.1]] {
                let shares = even_shares(whole, weights);
                assert!(shares.iter().all(|share| *share >= 2 && share % 2 == 0), "{shares:?}");
                assert_eq!(shares.iter().sum::<usize>(), whole / 2 * 2, "{shares:?}");
            }
        }
    }
}

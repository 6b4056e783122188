//! What similarity means: kernels, their algebra, their exact values, and their text.
//!
//! ```text
//! 0.7*gaussian(sigma=2)[age,income] + laplace(scale=1)*poly(degree=2,c=1)
//! ```
//! A [`Kernel`] is an expression. Its leaves are kernels with a formula, each stated once in the file of its name together with the law of its spectrum and the meaning of its
//! parameters; its nodes are what keeps kernels kernels: c·K, K₁ + K₂, K₁·K₂, f(x)·K(x, y)·f(y), exp K, K/√(K(x,x)·K(y,y)), and K on some columns. `value` computes
//! pairs, `gradient` their derivatives, `against` blocks of Gram matrices, `spectrum` and `grid` say how features are drawn, `text` reads and prints. A kernel of
//! one's own, on objects of any kind, is a [`Similarity`].

mod against;
mod arc_cosine;
mod cauchy;
mod chi2;
mod columns;
mod definite;
mod domain;
mod exponential;
mod function;
mod gaussian;
mod gradient;
mod grid;
mod hat;
mod intersection;
mod laplace;
mod linear;
mod matern;
mod own;
mod parabolic;
mod polynomial;
mod quadratic;
mod rational_quadratic;
mod sequence;
mod series;
mod sinc;
mod spectrum;
mod subsets;
mod symmetric;
mod text;
mod value;
mod width;

use serde::{Deserialize, Serialize};

pub use columns::Column;
pub use definite::{Definiteness, definiteness};
pub use function::{Function, FunctionName};
pub use own::{Own, Similarity};
pub use quadratic::Quadratic;
pub use text::{Entry, catalogue};
pub use width::Width;

pub(crate) use against::{Against, OfAgainst, Simple, apply};
pub(crate) use columns::numbers as columns_of;
pub(crate) use domain::check_batches;
pub(crate) use grid::{GridLaw, Pitch};
pub(crate) use sequence::Places;
pub(crate) use spectrum::{Law, Mixing, Place, Spectrum};
pub(crate) use value::{Form, Inner, RowFactor};

use crate::encode::{Grams, Sequence};
use crate::error::number;
use crate::{Error, Result};

/// A kernel. Reads and prints as text: `"gaussian(sigma=2)".parse()`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Kernel {
    /// 1 everywhere: the kernel of an intercept.
    Constant,
    /// x·y
    Linear,
    /// xᵀAy
    Bilinear {
        /// A.
        form: Quadratic,
    },
    /// (gamma·x·y + c)^degree
    #[serde(rename = "poly")]
    Polynomial {
        /// At least 1.
        degree: u32,
        /// The factor of x·y.
        gamma: f64,
        /// What is added; not negative.
        c: f64,
    },
    /// a₀ + a₁·(x·y) + a₂·(x·y)² + …
    Series {
        /// a₀, a₁, …, none negative.
        coefficients: Vec<f64>,
    },
    /// x·y + ‖x‖²·‖y‖²
    Parabolic,
    /// ∏ (1 + xⱼyⱼ)
    AllSubsets,
    /// The products of 1 to degree columns, each with itself too
    Monomials {
        /// At least 1.
        degree: u32,
    },
    /// The products of 1 to degree different columns
    Interactions {
        /// At least 1.
        degree: u32,
    },
    /// exp(−‖x − y‖² / (2·sigma²))
    Gaussian {
        /// The width, in the units of the rows; γ = 1/(2·sigma²).
        sigma: Width,
    },
    /// exp(−‖x − y‖₁ / scale), the product over columns of exp(−|xⱼ − yⱼ| / scale)
    Laplace {
        /// The width, in the units of the rows; γ = 1/scale.
        scale: Width,
    },
    /// exp(−‖x − y‖₂ / scale)
    Exponential {
        /// The width, in the units of the rows.
        scale: Width,
    },
    /// Matérn's, of smoothness nu
    Matern {
        /// ν: ½ is the exponential kernel, ∞ would be the Gaussian.
        nu: f64,
        /// The width, in the units of the rows.
        scale: Width,
    },
    /// (1 + ‖x − y‖² / (2·alpha·scale²))^(−alpha)
    RationalQuadratic {
        /// α: how alike the widths of the Gaussians in the mixture are.
        alpha: f64,
        /// The width, in the units of the rows.
        scale: Width,
    },
    /// ∏ 1 / (1 + (xⱼ − yⱼ)² / scale²)
    Cauchy {
        /// The width, in the units of the rows.
        scale: Width,
    },
    /// ∏ sin(uⱼ)/uⱼ, u = (x − y)/scale
    Sinc {
        /// The width, in the units of the rows.
        scale: Width,
    },
    /// sin(r)/r, r = ‖x − y‖/scale, for at most three columns
    RadialSinc {
        /// The width, in the units of the rows.
        scale: Width,
    },
    /// ∏ max(0, 1 − |xⱼ − yⱼ| / width)
    Hat {
        /// Where each factor ends, in the units of the rows.
        width: Width,
    },
    /// Σ 2xⱼyⱼ/(xⱼ + yⱼ), for entries that are not negative
    Chi2,
    /// exp(−gamma·Σ (xⱼ − yⱼ)²/(xⱼ + yⱼ)), for entries that are not negative
    ExponentialChi2 {
        /// The rate.
        gamma: f64,
    },
    /// Σ min(xⱼ, yⱼ), for entries that are not negative
    Intersection,
    /// Infinitely many rectified units
    ArcCosine {
        /// The power of a unit: 0, 1 or 2.
        order: u32,
    },
    /// Σ count_u(a)·count_u(b) over the grams u of two texts: on one column of text, by its name, until an encoder makes a linear kernel of it
    Sequence {
        /// What is counted.
        grams: Grams,
        /// Whether grams that many texts have count less.
        tf_idf: bool,
        /// Columns that grams are hashed to.
        width: usize,
        /// Columns that each gram is added to.
        nonzeros: usize,
    },
    /// factor·K
    Scaled {
        /// Above zero.
        factor: f64,
        /// K.
        kernel: Box<Kernel>,
    },
    /// K₁ + K₂ + …
    Sum {
        /// At least two.
        terms: Vec<Kernel>,
    },
    /// K₁·K₂·…
    Product {
        /// At least two.
        factors: Vec<Kernel>,
    },
    /// f(x)·K(x, y)·f(y)
    Weighted {
        /// f.
        function: Function,
        /// K.
        kernel: Box<Kernel>,
    },
    /// exp K(x, y)
    Exp {
        /// K.
        kernel: Box<Kernel>,
    },
    /// K(x, y)/√(K(x, x)·K(y, y))
    Normalised {
        /// K.
        kernel: Box<Kernel>,
    },
    /// K on some columns of the rows
    Restricted {
        /// Which ones, in the order in which K has its widths.
        columns: Vec<Column>,
        /// K: a kernel with a formula of its own.
        kernel: Box<Kernel>,
    },
}

/// The deepest expression that is read: each level costs a call.
const MOST_LEVELS: usize = 64;

impl Kernel {
    /// exp(−‖x − y‖² / (2·sigma²))
    pub fn gaussian(sigma: impl Into<Width>) -> Kernel {
        Kernel::Gaussian { sigma: sigma.into() }
    }

    /// exp(−‖x − y‖₁ / scale)
    pub fn laplace(scale: impl Into<Width>) -> Kernel {
        Kernel::Laplace { scale: scale.into() }
    }

    /// exp(−‖x − y‖₂ / scale)
    pub fn exponential(scale: impl Into<Width>) -> Kernel {
        Kernel::Exponential { scale: scale.into() }
    }

    /// Matérn's, of smoothness nu
    pub fn matern(nu: f64, scale: impl Into<Width>) -> Kernel {
        Kernel::Matern { nu, scale: scale.into() }
    }

    /// ∏ max(0, 1 − |xⱼ − yⱼ| / width)
    pub fn hat(width: impl Into<Width>) -> Kernel {
        Kernel::Hat { width: width.into() }
    }

    /// (x·y + c)^degree
    pub fn polynomial(degree: u32, c: f64) -> Kernel {
        Kernel::Polynomial { degree, gamma: 1.0, c }
    }

    /// factor·K; factors of factors are multiplied, and a factor of 1 is none.
    pub fn scaled(self, factor: f64) -> Kernel {
        match self {
            Kernel::Scaled { factor: inner, kernel } => kernel.scaled(factor * inner),
            #[expect(clippy::float_cmp, reason = "one is one")]
            kernel if factor == 1.0 => kernel,
            kernel => Kernel::Scaled { factor, kernel: Box::new(kernel) },
        }
    }

    /// K₁ + K₂ + …; sums in sums are one sum.
    pub fn sum(kernels: impl IntoIterator<Item = Kernel>) -> Kernel {
        Kernel::sum_of(kernels.into_iter().collect())
    }

    fn sum_of(kernels: Vec<Kernel>) -> Kernel {
        let flat = |kernel| match kernel {
            Kernel::Sum { terms } => terms,
            kernel => vec![kernel],
        };
        let mut terms: Vec<Kernel> = kernels.into_iter().flat_map(flat).collect();
        if terms.len() == 1 { terms.remove(0) } else { Kernel::Sum { terms } }
    }

    /// K₁·K₂·…; products in products are one product, and their factors stand in front.
    pub fn product(kernels: impl IntoIterator<Item = Kernel>) -> Kernel {
        Kernel::product_of(kernels.into_iter().collect())
    }

    fn product_of(kernels: Vec<Kernel>) -> Kernel {
        let mut scale = 1.0;
        let mut factors = Vec::new();
        for kernel in kernels {
            let (factor, kernel) = match kernel {
                Kernel::Scaled { factor, kernel } => (factor, *kernel),
                kernel => (1.0, kernel),
            };
            scale *= factor;
            match kernel {
                Kernel::Product { factors: inner } => factors.extend(inner),
                kernel => factors.push(kernel),
            }
        }
        let product = if factors.len() == 1 { factors.remove(0) } else { Kernel::Product { factors } };
        product.scaled(scale)
    }

    /// exp K
    pub fn exp(self) -> Kernel {
        Kernel::Exp { kernel: Box::new(self) }
    }

    /// K(x, y)/√(K(x, x)·K(y, y))
    pub fn normalised(self) -> Kernel {
        Kernel::Normalised { kernel: Box::new(self) }
    }

    /// f(x)·K(x, y)·f(y)
    pub fn weighted(self, function: impl Into<Function>) -> Kernel {
        Kernel::Weighted { function: function.into(), kernel: Box::new(self) }
    }

    /// K on some columns: each kernel in the expression, and each f, looks at these only.
    pub fn on(self, columns: impl IntoIterator<Item = impl Into<Column>>) -> Result<Kernel> {
        self.on_columns(columns.into_iter().map(Into::into).collect())
    }

    fn on_columns(self, columns: Vec<Column>) -> Result<Kernel> {
        let columns = &columns[..];
        columns::validate(columns)?;
        let leaf = |leaf: &Kernel| match leaf {
            Kernel::Constant => Ok(Kernel::Constant),
            Kernel::Restricted { .. } => Err(Error::Unsupported {
                what: format!("choosing columns of {leaf}"),
                reason: "its columns are chosen already",
                instead: "choose them once",
            }),
            leaf => Ok(Kernel::Restricted { columns: columns.to_vec(), kernel: Box::new(leaf.clone()) }),
        };
        self.rebuilt(&leaf, &|function| function.on(columns))
    }

    /// A leaf without its columns; any other kernel as it is.
    pub(crate) fn bare(&self) -> &Kernel {
        if let Kernel::Restricted { kernel, .. } = self { kernel } else { self }
    }

    /// The kernels that this one is made of directly.
    pub fn parts(&self) -> &[Kernel] {
        match self {
            Kernel::Sum { terms } => terms,
            Kernel::Product { factors } => factors,
            Kernel::Scaled { kernel, .. }
            | Kernel::Weighted { kernel, .. }
            | Kernel::Exp { kernel }
            | Kernel::Normalised { kernel }
            | Kernel::Restricted { kernel, .. } => std::slice::from_ref(kernel),
            _ => &[],
        }
    }

    /// Whether a part tells columns apart: looks at some only, or has a number for each.
    pub(crate) fn has_columns(&self) -> bool {
        let has_own = match self {
            Kernel::Restricted { .. } => true,
            Kernel::Weighted { function, .. } => function.columns.is_some(),
            _ => self.columns_named().is_some(),
        };
        has_own || self.parts().iter().any(Kernel::has_columns)
    }

    /// The same with each leaf (with its columns) and each f replaced.
    fn rebuilt(
        &self,
        leaf: &dyn Fn(&Kernel) -> Result<Kernel>,
        function: &dyn Fn(&Function) -> Result<Function>,
    ) -> Result<Kernel> {
        let one = |kernel: &Kernel| kernel.rebuilt(leaf, function);
        let all = |kernels: &[Kernel]| kernels.iter().map(one).collect::<Result<Vec<_>>>();
        Ok(match self {
            Kernel::Scaled { factor, kernel } => {
                Kernel::Scaled { factor: *factor, kernel: Box::new(one(kernel)?) }
            }
            Kernel::Sum { terms } => Kernel::Sum { terms: all(terms)? },
            Kernel::Product { factors } => Kernel::Product { factors: all(factors)? },
            Kernel::Weighted { function: f, kernel } => one(kernel)?.weighted(function(f)?),
            Kernel::Exp { kernel } => one(kernel)?.exp(),
            Kernel::Normalised { kernel } => one(kernel)?.normalised(),
            other => leaf(other)?,
        })
    }

    /// The same with columns by number, given the names of the source's columns.
    pub fn bind(&self, names: &[String]) -> Result<Kernel> {
        let leaf = |leaf: &Kernel| match leaf {
            Kernel::Restricted { kernel, .. } if matches!(**kernel, Kernel::Sequence { .. }) => {
                Err(leaf.without_text())
            }
            Kernel::Restricted { columns, kernel } => {
                Ok(Kernel::Restricted { columns: columns::bind(columns, names)?, kernel: kernel.clone() })
            }
            leaf => Ok(leaf.clone()),
        };
        let function = |function: &Function| {
            let columns =
                function.columns.as_ref().map(|columns| columns::bind(columns, names)).transpose()?;
            Ok(Function { columns, ..function.clone() })
        };
        self.rebuilt(&leaf, &function)
    }

    /// All parameters lie in their domains.
    pub fn validate(&self) -> Result<()> {
        self.validate_at(0)
    }

    fn validate_at(&self, level: usize) -> Result<()> {
        let within = |name, expected, value: f64, inside: bool| {
            if inside { Ok(()) } else { Err(Error::Parameter { name, expected, found: number(value) }) }
        };
        if level > MOST_LEVELS {
            let found = format!("more than {MOST_LEVELS}");
            return Err(Error::Parameter { name: "the levels of a kernel", expected: "at most 64", found });
        }
        match self {
            Kernel::Constant
            | Kernel::Linear
            | Kernel::Parabolic
            | Kernel::AllSubsets
            | Kernel::Chi2
            | Kernel::Intersection => Ok(()),
            Kernel::Series { coefficients } => {
                let count = coefficients.len();
                let counted = (1..=symmetric::MOST + 1).contains(&count);
                within("the coefficients of series", "1 to 65 numbers", count as f64, counted)?;
                let mut wrong = coefficients.iter().filter(|a| !(0.0..=1e300).contains(*a));
                if let Some(a) = wrong.next() {
                    return within("coefficients", "between 0 and 1e300", *a, false);
                }
                let sum = coefficients.iter().sum();
                within("the sum of the coefficients of series", "above 0", sum, sum > 0.0)
            }
            Kernel::Monomials { degree } | Kernel::Interactions { degree } => {
                within("degree", "between 1 and 64", f64::from(*degree), (1..=64).contains(degree))
            }
            Kernel::Bilinear { form } => form.validate(),
            Kernel::Polynomial { degree, gamma, c } => {
                within("degree", "between 1 and 64", f64::from(*degree), (1..=64).contains(degree))?;
                within("gamma", "between 1e-18 and 1e18", *gamma, width::WIDTHS.contains(gamma))?;
                within("c", "between 0 and 1e18", *c, (0.0..=1e18).contains(c))
            }
            Kernel::Gaussian { sigma } => sigma.validate("sigma"),
            Kernel::Hat { width } => width.validate("width"),
            Kernel::Laplace { scale }
            | Kernel::Exponential { scale }
            | Kernel::Cauchy { scale }
            | Kernel::Sinc { scale }
            | Kernel::RadialSinc { scale } => scale.validate("scale"),
            Kernel::Matern { nu, scale } => {
                within("nu", "between 0.05 and 100", *nu, (0.05..=100.0).contains(nu))?;
                scale.validate("scale")
            }
            Kernel::RationalQuadratic { alpha, scale } => {
                within("alpha", "between 0.01 and 1e4", *alpha, (0.01..=1e4).contains(alpha))?;
                scale.validate("scale")
            }
            Kernel::ExponentialChi2 { gamma } => {
                within("gamma", "between 1e-18 and 1e18", *gamma, width::WIDTHS.contains(gamma))
            }
            Kernel::Sequence { .. } => self.sequence().as_ref().map_or(Ok(()), Sequence::validate),
            Kernel::ArcCosine { order } => within("order", "0, 1 or 2", f64::from(*order), *order <= 2),
            Kernel::Scaled { factor, kernel } => {
                within(
                    "a kernel's factor",
                    "above 0 (kernels are not subtracted) and at most 1e18",
                    *factor,
                    *factor > 0.0 && *factor <= 1e18,
                )?;
                kernel.validate_at(level + 1)
            }
            Kernel::Sum { terms: kernels } | Kernel::Product { factors: kernels } => {
                within(
                    "a sum or product of kernels",
                    "of at least two",
                    kernels.len() as f64,
                    kernels.len() >= 2,
                )?;
                kernels.iter().try_for_each(|kernel| kernel.validate_at(level + 1))
            }
            Kernel::Weighted { function, kernel } => {
                function.validate()?;
                kernel.validate_at(level + 1)
            }
            Kernel::Exp { kernel } => {
                kernel.validate_at(level + 1)?;
                // A Poisson number of frequencies, in each of which there may be another.
                let (mean, work) =
                    self.spectrum().map_or((0.0, 0.0), |spectrum| (spectrum.mass, spectrum.law.work()));
                within("exp(K)", "of K(x, x) up to 700", libm::log(mean), libm::log(mean) <= 700.0)?;
                within(
                    "the frequencies of nested exponentials",
                    "at most 10,000 on average",
                    work,
                    work <= 1e4,
                )
            }
            Kernel::Normalised { kernel } => kernel.validate_at(level + 1),
            Kernel::Restricted { columns, kernel } => {
                if !kernel.parts().is_empty() {
                    return Err(Error::Unsupported {
                        what: format!("choosing columns of {kernel} as a whole"),
                        reason: "columns belong to kernels with a formula of their own",
                        instead: "choose them with Kernel::on",
                    });
                }
                columns::validate(columns)?;
                if let Kernel::Sequence { .. } = **kernel {
                    Kernel::validate_text(columns, kernel)?;
                }
                kernel.validate_at(level + 1)
            }
        }
    }

    /// [`Kernel::validate`], and the kernel is one for rows with so many columns.
    pub fn check(&self, columns: usize) -> Result<()> {
        self.validate()?;
        self.check_columns(columns)
    }

    fn check_columns(&self, columns: usize) -> Result<()> {
        match self {
            Kernel::Sequence { .. } => Err(self.without_text()),
            Kernel::Restricted { kernel, .. } if matches!(**kernel, Kernel::Sequence { .. }) => {
                Err(self.without_text())
            }
            Kernel::Restricted { columns: chosen, kernel } => {
                columns::check(chosen, columns)?;
                kernel.check_columns(columns::count(chosen))
            }
            Kernel::Weighted { function, kernel } => {
                function.columns.as_ref().map_or(Ok(()), |chosen| columns::check(chosen, columns))?;
                kernel.check_columns(columns)
            }
            Kernel::RadialSinc { .. } if columns > sinc::MOST_COLUMNS => Err(Error::Unsupported {
                what: format!("{self} of {columns} columns"),
                reason: "sin(r)/r is positive semidefinite in at most three dimensions",
                instead: "use sinc, the product over columns, or restrict it to three columns",
            }),
            Kernel::Bilinear { form } if form.columns() != columns => Err(Error::Length {
                what: "columns of the matrix of bilinear",
                expected: columns,
                found: form.columns(),
            }),
            _ => match self.width() {
                Some(width) => width.check(columns),
                None => self.parts().iter().try_for_each(|kernel| kernel.check_columns(columns)),
            },
        }
    }

    /// The number of columns that its lists and numbers speak of: those of lists of widths and of matrices, or one more than the largest number; none where any number will do.
    pub fn columns_named(&self) -> Option<usize> {
        match self {
            Kernel::Restricted { columns, .. } => columns::most(columns),
            Kernel::Bilinear { form } => Some(form.columns()),
            Kernel::Weighted { function, kernel } => {
                function.columns.as_deref().and_then(columns::most).max(kernel.columns_named())
            }
            _ => match self.width() {
                Some(Width::Each(widths)) => Some(widths.len()),
                _ => self.parts().iter().filter_map(Kernel::columns_named).max(),
            },
        }
    }

    /// The width of a kernel that has one.
    pub(crate) fn width(&self) -> Option<&Width> {
        width_of!(self)
    }

    /// The same kernel with all its widths times `factor`.
    pub(crate) fn widened(&self, factor: f64) -> Kernel {
        let widen = |leaf: &Kernel| {
            let mut leaf = leaf.clone();
            let inner =
                if let Kernel::Restricted { kernel, .. } = &mut leaf { kernel.as_mut() } else { &mut leaf };
            if let Some(width) = inner.width_mut() {
                *width = width.times(factor);
            }
            Ok(leaf)
        };
        self.rebuilt(&widen, &|function| Ok(function.clone())).unwrap_or_else(|_| self.clone())
    }

    fn width_mut(&mut self) -> Option<&mut Width> {
        width_of!(self)
    }
}

/// The width of a kernel that has one, as it is borrowed.
macro_rules! width_of {
    ($kernel:expr) => {
        match $kernel {
            Kernel::Gaussian { sigma: width }
            | Kernel::Hat { width }
            | Kernel::Laplace { scale: width }
            | Kernel::Exponential { scale: width }
            | Kernel::Matern { scale: width, .. }
            | Kernel::RationalQuadratic { scale: width, .. }
            | Kernel::Cauchy { scale: width }
            | Kernel::Sinc { scale: width }
            | Kernel::RadialSinc { scale: width } => Some(width),
            _ => None,
        }
    };
}
use width_of;

impl std::ops::Add for Kernel {
    type Output = Kernel;

    fn add(self, other: Kernel) -> Kernel {
        Kernel::sum([self, other])
    }
}

impl std::ops::Mul for Kernel {
    type Output = Kernel;

    fn mul(self, other: Kernel) -> Kernel {
        Kernel::product([self, other])
    }
}

impl std::ops::Mul<Kernel> for f64 {
    type Output = Kernel;

    fn mul(self, kernel: Kernel) -> Kernel {
        kernel.scaled(self)
    }
}

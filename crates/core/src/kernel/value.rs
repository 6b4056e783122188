//! The exact value of a kernel for two rows: the reference for everything that approximates it.
//!
//! ```text
//! inner      p(x·y, ‖x‖², ‖y‖²)                  linear, poly, series, parabolic, arc-cosine
//! radial     p(Σ ((xⱼ − yⱼ)/sⱼ)²)                gaussian, exponential, matern, rational quadratic, radial sinc
//! absolute   exp(−Σ |xⱼ − yⱼ|/sⱼ)                laplace
//! factors    ∏ p(xⱼ, yⱼ; sⱼ)                     cauchy, sinc, hat, all subsets
//! terms      p(Σ t(xⱼ, yⱼ))                      χ², intersection
//! symmetric  of all products xⱼyⱼ                monomials, interactions
//! ```
//! Each is one pass over the columns where either row is not zero: a column of two zeros adds 0 to a sum and multiplies a product by 1.

use super::{Function, Quadratic};
use super::{
    Kernel, Width, arc_cosine, cauchy, chi2, columns, exponential, gaussian, hat, intersection, laplace,
    linear, matern, parabolic, polynomial, rational_quadratic, series, sinc, subsets, symmetric,
};
use crate::{Rows, Scalar};

/// How a kernel with a formula is computed from a pass over columns.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form<'a> {
    Constant,
    Inner(Inner<'a>),
    Bilinear(&'a Quadratic),
    Radial { width: &'a Width, profile: Profile },
    Absolute { width: &'a Width },
    Factors { width: &'a Width, factor: Factor },
    Terms { term: Term, profile: Option<Profile> },
    Symmetric { degree: u32, repeated: bool },
}

/// A function of a sum, with a parameter, and its derivative.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profile {
    of: fn(f64, f64) -> f64,
    slope: fn(f64, f64) -> f64,
    parameter: f64,
}

impl Profile {
    pub(crate) fn value(self, sum: f64) -> f64 {
        (self.of)(sum, self.parameter)
    }

    /// The derivative in the sum; 0 at 0, where each term has the derivative 0 or a corner.
    pub(super) fn slope(self, sum: f64) -> f64 {
        if sum > 0.0 { (self.slope)(sum, self.parameter) } else { 0.0 }
    }
}

/// A function of one column of each row and its width, and its derivative in the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor {
    pub(super) of: fn(f64, f64, f64) -> f64,
    pub(super) slope: fn(f64, f64, f64) -> f64,
}

/// A function t of one column of each row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    pub(super) of: fn(f64, f64) -> f64,
    /// Its derivative in the first.
    pub(super) slope: fn(f64, f64) -> f64,
    /// The derivative of t(x, x), also where that of t(x, y) has a corner.
    pub(super) own_slope: f64,
}

/// A function of x·y.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Inner<'a> {
    Linear,
    Polynomial { degree: u32, gamma: f64, c: f64 },
    Series(&'a [f64]),
    Parabolic,
    ArcCosine { order: u32 },
}

impl Inner<'_> {
    pub(crate) fn value(self, inner: f64, xx: f64, yy: f64) -> f64 {
        match self {
            Inner::Linear => linear::value(inner),
            Inner::Polynomial { degree, gamma, c } => polynomial::value(inner, degree, gamma, c),
            Inner::Series(coefficients) => series::value(inner, coefficients),
            Inner::Parabolic => parabolic::value(inner, xx, yy),
            Inner::ArcCosine { order } => arc_cosine::value(inner, xx, yy, order),
        }
    }

    /// The derivatives in x·y and in ‖x‖².
    pub(super) fn slopes(self, inner: f64, xx: f64, yy: f64) -> (f64, f64) {
        match self {
            Inner::Linear => (linear::slope(), 0.0),
            Inner::Polynomial { degree, gamma, c } => (polynomial::slope(inner, degree, gamma, c), 0.0),
            Inner::Series(coefficients) => (series::slope(inner, coefficients), 0.0),
            Inner::Parabolic => parabolic::slopes(yy),
            Inner::ArcCosine { order } => arc_cosine::slopes(inner, xx, yy, order),
        }
    }

    /// Whether it depends on the lengths too.
    pub(crate) fn needs_lengths(self) -> bool {
        matches!(self, Inner::ArcCosine { .. } | Inner::Parabolic)
    }
}

/// No width.
const ONE: &Width = &Width::One(1.0);

impl Kernel {
    /// How a leaf is computed; none for nodes.
    pub(crate) fn form(&self) -> Option<Form<'_>> {
        let radial = |width, of, slope, parameter| {
            let profile = Profile { of, slope, parameter };
            Form::Radial { width, profile }
        };
        let factors = |width, of, slope| Form::Factors { width, factor: Factor { of, slope } };
        Some(match self {
            Kernel::Constant => Form::Constant,
            Kernel::Linear => Form::Inner(Inner::Linear),
            Kernel::Bilinear { form } => Form::Bilinear(form),
            &Kernel::Polynomial { degree, gamma, c } => Form::Inner(Inner::Polynomial { degree, gamma, c }),
            Kernel::Series { coefficients } => Form::Inner(Inner::Series(coefficients)),
            Kernel::Parabolic => Form::Inner(Inner::Parabolic),
            Kernel::AllSubsets => factors(ONE, subsets::factor, subsets::slope),
            &Kernel::Monomials { degree } => Form::Symmetric { degree, repeated: true },
            &Kernel::Interactions { degree } => Form::Symmetric { degree, repeated: false },
            Kernel::Gaussian { sigma } => radial(sigma, gaussian::profile, gaussian::slope, 0.0),
            Kernel::Laplace { scale } => Form::Absolute { width: scale },
            Kernel::Exponential { scale } => radial(scale, exponential::profile, exponential::slope, 0.0),
            Kernel::Matern { nu, scale } => radial(scale, matern::profile, matern::slope, *nu),
            Kernel::RationalQuadratic { alpha, scale } => {
                radial(scale, rational_quadratic::profile, rational_quadratic::slope, *alpha)
            }
            Kernel::Cauchy { scale } => factors(scale, cauchy::factor, cauchy::slope),
            Kernel::Sinc { scale } => factors(scale, sinc::factor, sinc::slope),
            Kernel::RadialSinc { scale } => radial(scale, sinc::profile, sinc::profile_slope, 0.0),
            Kernel::Hat { width } => factors(width, hat::factor, hat::slope),
            Kernel::Chi2 => {
                let term = Term { of: chi2::term, slope: chi2::term_slope, own_slope: 1.0 };
                Form::Terms { term, profile: None }
            }
            Kernel::ExponentialChi2 { gamma } => {
                let term = Term { of: chi2::square, slope: chi2::square_slope, own_slope: 0.0 };
                let profile = Profile { of: chi2::profile, slope: chi2::slope, parameter: *gamma };
                Form::Terms { term, profile: Some(profile) }
            }
            Kernel::Intersection => {
                let term = Term { of: intersection::term, slope: intersection::slope, own_slope: 1.0 };
                Form::Terms { term, profile: None }
            }
            Kernel::ArcCosine { order } => Form::Inner(Inner::ArcCosine { order: *order }),
            _ => return None,
        })
    }

    /// k(x, y) for row i of `x` and row j of `y`, in f64.
    ///
    /// Rows have the kernel's columns ([`Kernel::check`]), by number; outside its domain (a negative entry for χ², f without a value) the result
    /// means nothing, and may not be a number.
    #[inline(never)]
    pub fn eval<T: Scalar>(&self, x: &Rows<'_, T>, i: usize, y: &Rows<'_, T>, j: usize) -> f64 {
        let of = |kernel: &Kernel| kernel.eval(x, i, y, j);
        match self {
            Kernel::Scaled { factor, kernel } => factor * of(kernel),
            Kernel::Sum { terms } => terms.iter().map(of).sum(),
            Kernel::Product { factors } => factors.iter().map(of).product(),
            Kernel::Weighted { function, kernel } => of(kernel) * (function.eval(x, i) * function.eval(y, j)),
            Kernel::Exp { kernel } => libm::exp(of(kernel)),
            Kernel::Normalised { kernel } => {
                let own = |kernel: &Kernel| (kernel.eval(x, i, x, i), kernel.eval(y, j, y, j));
                match &**kernel {
                    // By exponents, which stay numbers where their exponentials do not.
                    Kernel::Exp { kernel } => {
                        let (xx, yy) = own(kernel);
                        libm::exp(of(kernel) - 0.5 * (xx + yy))
                    }
                    kernel => {
                        let (xx, yy) = own(kernel);
                        of(kernel) / (xx.sqrt() * yy.sqrt())
                    }
                }
            }
            Kernel::Restricted { columns, kernel } => {
                // Columns where both rows are zero are not looked at.
                if let (Some(range), Rows::Sparse(x), Rows::Sparse(y)) = (columns::wide(columns), x, y) {
                    let (x, y) = (x.row_within(i, range.clone()), y.row_within(j, range.clone()));
                    if **kernel == Kernel::Linear {
                        return shared(x, y);
                    }
                    let first = range.start as u32;
                    return kernel.of_pairs(merge(from_column(x, first), from_column(y, first)));
                }
                let pair = |(at, column)| (at, x.entry(i, column), y.entry(j, column));
                kernel.of_pairs(columns::numbers(columns).enumerate().map(pair))
            }
            leaf => match (x, y) {
                // The same sums in the same order: terms of two zeros change nothing.
                (Rows::Dense(x), Rows::Dense(y)) => {
                    let pairs = x.row(i).iter().zip(y.row(j)).enumerate();
                    leaf.of_pairs(pairs.map(|(at, (a, b))| (at, a.to_f64(), b.to_f64())))
                }
                (Rows::Sparse(x), Rows::Sparse(y)) if *leaf == Kernel::Linear => shared(x.row(i), y.row(j)),
                _ => leaf.of_pairs(merge(x.entries(i), y.entries(j))),
            },
        }
    }

    /// A leaf's value, given the entries of two rows with their columns.
    fn of_pairs(&self, pairs: impl Iterator<Item = (usize, f64, f64)>) -> f64 {
        let Some(form) = self.form() else { return f64::NAN };
        match form {
            Form::Constant => 1.0,
            Form::Inner(inner) if !inner.needs_lengths() => {
                inner.value(pairs.map(|(_, a, b)| a * b).sum(), 0.0, 0.0)
            }
            Form::Inner(inner) => {
                let (s, xx, yy) = products(pairs);
                inner.value(s, xx, yy)
            }
            Form::Bilinear(form) => form.value(pairs),
            Form::Radial { width, profile } => profile.value(square(width, pairs)),
            Form::Absolute { width } => laplace::profile(absolute(width, pairs)),
            Form::Factors { width, factor } => {
                pairs.map(|(at, a, b)| (factor.of)(a, b, width.at(at))).product()
            }
            Form::Symmetric { degree, repeated } => {
                symmetric::value(pairs.map(|(_, a, b)| a * b), degree, repeated)
            }
            Form::Terms { term, profile } => {
                let sum = pairs.map(|(_, a, b)| (term.of)(a, b)).sum();
                profile.map_or(sum, |profile| profile.value(sum))
            }
        }
    }

    /// ‖φ(x) − φ(y)‖ = √(k(x, x) + k(y, y) − 2k(x, y)): the distance in the kernel's own space.
    #[inline(never)]
    pub fn distance<T: Scalar>(&self, x: &Rows<'_, T>, i: usize, y: &Rows<'_, T>, j: usize) -> f64 {
        let square = self.eval(x, i, x, i) + self.eval(y, j, y, j) - 2.0 * self.eval(x, i, y, j);
        // A rounding below zero is zero; what is no number stays none.
        if square < 0.0 { 0.0 } else { square.sqrt() }
    }

    /// k(xᵢ, xᵢ) for all rows.
    #[inline(never)]
    pub fn diagonal<T: Scalar>(&self, x: &Rows<'_, T>) -> Vec<f64> {
        match self.constant_diagonal() {
            Some(value) => vec![value; x.count()],
            None => (0..x.count()).map(|i| self.eval(x, i, x, i)).collect(),
        }
    }

    /// k(x, x), where it is the same for all rows: for shift-invariant kernels and normalised ones.
    pub(crate) fn constant_diagonal(&self) -> Option<f64> {
        match self {
            Kernel::Scaled { factor, kernel } => kernel.constant_diagonal().map(|value| factor * value),
            Kernel::Sum { terms } => terms.iter().map(Kernel::constant_diagonal).sum(),
            Kernel::Product { factors } => factors.iter().map(Kernel::constant_diagonal).product(),
            Kernel::Exp { kernel } => kernel.constant_diagonal().map(libm::exp),
            Kernel::Normalised { .. } => Some(1.0),
            Kernel::Restricted { kernel, .. } => kernel.constant_diagonal(),
            Kernel::Weighted { .. } => None,
            Kernel::Constant | Kernel::ExponentialChi2 { .. } => Some(1.0),
            leaf => leaf.width().map(|_| 1.0),
        }
    }

    /// The distance between rows i and j that a kernel of differences is a function of, in units of its width.
    pub(crate) fn spread<T: Scalar>(&self, x: &Rows<'_, T>, i: usize, j: usize) -> Option<f64> {
        let pairs = merge(x.entries(i), x.entries(j));
        match self.form()? {
            Form::Radial { width, .. } => Some(square(width, pairs).sqrt()),
            Form::Absolute { width } => Some(absolute(width, pairs)),
            _ => None,
        }
    }
}

/// A number of one row that values and features are multiplied with: those of f(x)·K(x, y)·f(y) and of a normalised kernel.
#[derive(Clone, Debug)]
pub(crate) enum RowFactor {
    /// f(x)
    Function(Function),
    /// 1/√K(x, x)
    Length(Kernel),
}

impl RowFactor {
    pub(crate) fn of<T: Scalar>(&self, rows: &Rows<'_, T>, i: usize) -> f64 {
        match self {
            RowFactor::Function(function) => function.eval(rows, i),
            // By the exponent, which stays a number where its exponential does not.
            RowFactor::Length(Kernel::Exp { kernel }) => libm::exp(-0.5 * kernel.eval(rows, i, rows, i)),
            RowFactor::Length(kernel) => 1.0 / kernel.eval(rows, i, rows, i).sqrt(),
        }
    }
}

impl Function {
    /// f of row i.
    pub(crate) fn eval<T: Scalar>(&self, x: &Rows<'_, T>, i: usize) -> f64 {
        match &self.columns {
            None => self.name.value(x.entries(i).map(|(_, value)| value.to_f64())),
            Some(columns) => match (columns::wide(columns), x) {
                (Some(range), Rows::Sparse(x)) => {
                    self.name.value(x.row_within(i, range).1.iter().map(|value| value.to_f64()))
                }
                _ => self.name.value(columns::numbers(columns).map(|column| x.entry(i, column))),
            },
        }
    }
}

/// x·y, ‖x‖² and ‖y‖².
pub(super) fn products(pairs: impl Iterator<Item = (usize, f64, f64)>) -> (f64, f64, f64) {
    pairs.fold((0.0, 0.0, 0.0), |(s, xx, yy), (_, a, b)| (s + a * b, xx + a * a, yy + b * b))
}

/// Σ ((xⱼ − yⱼ)/sⱼ)².
pub(super) fn square(width: &Width, pairs: impl Iterator<Item = (usize, f64, f64)>) -> f64 {
    match width {
        Width::One(width) => pairs.map(|(_, a, b)| (a - b) * (a - b)).sum::<f64>() / (width * width),
        Width::Each(widths) => pairs.map(|(at, a, b)| ((a - b) / widths[at]).powi(2)).sum(),
    }
}

/// Σ |xⱼ − yⱼ|/sⱼ.
pub(super) fn absolute(width: &Width, pairs: impl Iterator<Item = (usize, f64, f64)>) -> f64 {
    match width {
        Width::One(width) => pairs.map(|(_, a, b)| (a - b).abs()).sum::<f64>() / width,
        Width::Each(widths) => pairs.map(|(at, a, b)| ((a - b) / widths[at]).abs()).sum(),
    }
}

/// Σ xⱼyⱼ over the columns that two sparse rows share.
fn shared<T: Scalar>(x: (&[u32], &[T]), y: (&[u32], &[T])) -> f64 {
    let (mut a, mut b, mut sum) = (0, 0, 0.0);
    while a < x.0.len() && b < y.0.len() {
        let (i, j) = (x.0[a], y.0[b]);
        if i == j {
            sum += x.1[a].to_f64() * y.1[b].to_f64();
        }
        // Both where they are equal: which one is hard to foresee, so no branch.
        a += usize::from(i <= j);
        b += usize::from(j <= i);
    }
    sum
}

/// The entries of a part of a sparse row, its columns counted from the first one of the part.
fn from_column<'a, T: Scalar>(row: (&'a [u32], &'a [T]), first: u32) -> impl Iterator<Item = (u32, T)> + 'a {
    row.0.iter().zip(row.1).map(move |(&j, &x)| (j - first, x))
}

/// The entries of two rows at every column where either is not zero.
fn merge<T: Scalar>(
    a: impl Iterator<Item = (u32, T)>,
    b: impl Iterator<Item = (u32, T)>,
) -> impl Iterator<Item = (usize, f64, f64)> {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    std::iter::from_fn(move || {
        let (i, j) = (a.peek().map(|e| e.0), b.peek().map(|e| e.0));
        let column = match (i, j) {
            (None, None) => return None,
            (Some(i), Some(j)) => i.min(j),
            (Some(only), None) | (None, Some(only)) => only,
        };
        let x = a.next_if(|e| e.0 == column).map_or(0.0, |e| e.1.to_f64());
        let y = b.next_if(|e| e.0 == column).map_or(0.0, |e| e.1.to_f64());
        Some((column as usize, x, y))
    })
}

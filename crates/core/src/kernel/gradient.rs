//! The gradient of a kernel in its first argument.
//!
//! ```text
//! inner       p(x·y, ‖x‖², ‖y‖²)           p₁·yⱼ + 2p₂·xⱼ
//! bilinear    xᵀAy                         (Ay)ⱼ
//! radial      p(Σ ((xⱼ − yⱼ)/sⱼ)²)         2p′·(xⱼ − yⱼ)/sⱼ²
//! absolute    p(Σ |xⱼ − yⱼ|/sⱼ)            p′·sign(xⱼ − yⱼ)/sⱼ
//! factors     ∏ pⱼ(xⱼ, yⱼ)                 pⱼ′·∏_{i≠j} pᵢ
//! terms       p(Σ t(xⱼ, yⱼ))               p′·t′(xⱼ, yⱼ)
//! symmetric   of all uⱼ = xⱼyⱼ             yⱼ·∂k/∂uⱼ
//!
//! c·K                         c·∇K
//! K₁ + K₂                     ∇K₁ + ∇K₂
//! K₁·K₂                       K₂·∇K₁ + K₁·∇K₂
//! f(x)·K·f(y)                 f(y)·(f(x)·∇K + K·∇f)
//! exp K                       exp(K)·∇K
//! N = K/√(K(x,x)·K(y,y))      ∇K/√(K(x,x)·K(y,y)) − N·∇K(x,x)/(2K(x,x))
//! ```
//! Other columns than a kernel's own have the derivative 0. So has a column at a corner: of Laplace, hat and intersection where xⱼ = yⱼ, of hat where it ends, of the exponential
//! kernel and Matérn's up to ν = ½ at x = y, of χ² where both are zero, of 1/‖x‖₁ where xⱼ = 0, of arc-cosine at the row of zeros and, for order 0, at parallel rows.

use super::value::{absolute, products, square};
use super::{Form, Function, Kernel, Similarity, Width, columns, laplace, symmetric};
use crate::{Error, MatrixView, Result, Rows};

impl Kernel {
    /// ∇ₓ k(x, y): the derivative in each column of x, 0 at a corner.
    ///
    /// Rows have the kernel's columns ([`Kernel::check`]), by number, and lie in its domain; errors call x row 0 and y row 1.
    pub fn gradient(&self, x: &[f64], y: &[f64]) -> Result<Vec<f64>> {
        self.check(x.len())?;
        if x.len() != y.len() {
            return Err(Error::ColumnCount { expected: x.len(), found: y.len() });
        }
        for (row, number) in [(x, 0), (y, 1)] {
            let rows = Rows::from(MatrixView::new(row, 1, row.len())?);
            rows.check_finite(number)?;
            self.check_rows(&rows, number)?;
        }
        let mut gradient = vec![0.0; x.len()];
        self.add_gradient(x, y, 1.0, &mut gradient);
        match gradient.iter().position(|value| !value.is_finite()) {
            None => Ok(gradient),
            Some(column) => {
                let value = gradient[column];
                Err(Error::NotFinite { what: "the gradient", row: 0, column, value })
            }
        }
    }

    /// Adds factor·∇ₓ k(x, y) to `out`, for rows that have the kernel's columns and lie in its domain.
    pub(crate) fn add_gradient(&self, x: &[f64], y: &[f64], factor: f64, out: &mut [f64]) {
        debug_assert!(self.has_gradient(), "{self} has no value on rows of numbers");
        self.add_moving(Moving::First, x, y, factor, out);
    }

    /// Whether it has a gradient: a kernel of texts has not.
    pub(crate) fn has_gradient(&self) -> bool {
        !matches!(self, Kernel::Sequence { .. }) && self.parts().iter().all(Kernel::has_gradient)
    }

    fn add_moving(&self, moving: Moving, x: &[f64], y: &[f64], factor: f64, out: &mut [f64]) {
        match self {
            Kernel::Scaled { factor: c, kernel } => kernel.add_moving(moving, x, y, factor * c, out),
            Kernel::Sum { terms } => {
                terms.iter().for_each(|kernel| kernel.add_moving(moving, x, y, factor, out))
            }
            Kernel::Product { factors } => {
                let values: Vec<f64> = factors.iter().map(|kernel| kernel.value(x, y)).collect();
                for (i, kernel) in factors.iter().enumerate() {
                    // Not by division: a factor may be zero.
                    let others: f64 = values[..i].iter().chain(&values[i + 1..]).product();
                    kernel.add_moving(moving, x, y, factor * others, out);
                }
            }
            Kernel::Weighted { function, kernel } => {
                let (own, other) = (function.of(x), function.of(y));
                kernel.add_moving(moving, x, y, factor * (own * other), out);
                function.add_gradient(x, own, moving.times() * factor * other * kernel.value(x, y), out);
            }
            Kernel::Exp { kernel } => kernel.add_moving(moving, x, y, factor * self.value(x, y), out),
            Kernel::Normalised { kernel } => {
                if let Moving::First = moving {
                    self.add_normalised(kernel, x, y, factor, out);
                }
            }
            Kernel::Restricted { columns, kernel } => {
                kernel.add_leaf(columns::numbers(columns), moving, x, y, factor, out);
            }
            leaf => leaf.add_leaf(0..x.len(), moving, x, y, factor, out),
        }
    }

    fn add_normalised(&self, kernel: &Kernel, x: &[f64], y: &[f64], factor: f64, out: &mut [f64]) {
        let value = factor * self.value(x, y);
        let (kernel, of_pair, of_own) = match kernel {
            // By exponents: exp(K(x, y) − ½(K(x, x) + K(y, y))).
            Kernel::Exp { kernel } => (&**kernel, value, -0.5 * value),
            kernel => {
                let (xx, yy) = (kernel.value(x, x), kernel.value(y, y));
                (kernel, factor / (xx.sqrt() * yy.sqrt()), -0.5 * value / xx)
            }
        };
        kernel.add_moving(Moving::First, x, y, of_pair, out);
        if kernel.constant_diagonal().is_none() {
            kernel.add_moving(Moving::Both, x, x, of_own, out);
        }
    }

    /// A leaf on some columns.
    fn add_leaf(
        &self,
        columns: impl Iterator<Item = usize> + Clone,
        moving: Moving,
        x: &[f64],
        y: &[f64],
        factor: f64,
        out: &mut [f64],
    ) {
        let Some(form) = self.form() else { return out.fill(f64::NAN) };
        let pairs = columns.clone().enumerate().map(|(at, column)| (at, x[column], y[column]));
        let each = moving.times() * factor;
        match form {
            Form::Constant => {}
            Form::Inner(inner) => {
                let (s, xx, yy) = if inner.needs_lengths() {
                    products(pairs)
                } else {
                    (pairs.map(|(_, a, b)| a * b).sum(), 0.0, 0.0)
                };
                let (of_inner, of_square) = inner.slopes(s, xx, yy);
                let (of_y, of_x) = (each * of_inner, 2.0 * each * of_square);
                columns.for_each(|j| out[j] += of_y * y[j] + of_x * x[j]);
            }
            Form::Bilinear(form) => {
                let image = form.image(columns.clone().map(|j| y[j]));
                columns.zip(image).for_each(|(j, image)| out[j] += each * image);
            }
            Form::Radial { width, profile } => {
                let each = 2.0 * each * profile.slope(square(width, pairs));
                with_inverses(columns, width, |j, inverse| {
                    out[j] += each * inverse * inverse * (x[j] - y[j]);
                });
            }
            Form::Absolute { width } => {
                let each = each * laplace::slope(absolute(width, pairs));
                with_inverses(columns, width, |j, inverse| out[j] += each * inverse * sign(x[j] - y[j]));
            }
            Form::Factors { width, factor } => {
                let of = |f: fn(f64, f64, f64) -> f64| {
                    pairs.clone().map(|(at, a, b)| f(a, b, width.at(at))).collect::<Vec<f64>>()
                };
                let slopes = of_product(&of(factor.of), of(factor.slope));
                columns.zip(slopes).for_each(|(j, slope)| out[j] += each * slope);
            }
            Form::Symmetric { degree, repeated } => {
                let slopes = symmetric::slopes(pairs.map(|(_, a, b)| a * b), degree, repeated);
                columns.zip(slopes).for_each(|(j, slope)| out[j] += each * slope * y[j]);
            }
            Form::Terms { term, profile } => {
                let sum = || pairs.map(|(_, a, b)| (term.of)(a, b)).sum();
                let outer = factor * profile.map_or(1.0, |profile| profile.slope(sum()));
                let slope = |j: usize| match moving {
                    Moving::First => (term.slope)(x[j], y[j]),
                    Moving::Both => term.own_slope,
                };
                columns.for_each(|j| out[j] += outer * slope(j));
            }
        }
    }
}

impl Function {
    /// f(x).
    fn of(&self, x: &[f64]) -> f64 {
        match &self.columns {
            None => self.name.value(x.iter().copied()),
            Some(columns) => self.name.value(columns::numbers(columns).map(|j| x[j])),
        }
    }

    /// Adds factor·∇f(x), given f(x).
    fn add_gradient(&self, x: &[f64], value: f64, factor: f64, out: &mut [f64]) {
        let add = |j: usize| out[j] += factor * self.name.slope(value, x[j]);
        match &self.columns {
            None => (0..x.len()).for_each(add),
            Some(columns) => columns::numbers(columns).for_each(add),
        }
    }
}

/// Which arguments are x.
#[derive(Clone, Copy, Debug)]
enum Moving {
    /// Of k(x, y) the first.
    First,
    /// Of k(x, x) both: by symmetry twice the derivative, but not where the first one's is at a corner.
    Both,
}

impl Moving {
    fn times(self) -> f64 {
        match self {
            Moving::First => 1.0,
            Moving::Both => 2.0,
        }
    }
}

/// pⱼ′·∏_{i≠j} pᵢ, given all p and all p′; not by division, as a factor may be zero.
fn of_product(factors: &[f64], mut slopes: Vec<f64>) -> Vec<f64> {
    let (mut before, mut after) = (1.0, 1.0);
    for (slope, factor) in slopes.iter_mut().zip(factors) {
        *slope *= before;
        before *= factor;
    }
    for (slope, factor) in slopes.iter_mut().zip(factors).rev() {
        *slope *= after;
        after *= factor;
    }
    slopes
}

/// Each column with one over its width.
fn with_inverses(columns: impl Iterator<Item = usize>, width: &Width, mut each: impl FnMut(usize, f64)) {
    match width {
        Width::One(width) => {
            let inverse = 1.0 / width;
            columns.for_each(|j| each(j, inverse));
        }
        Width::Each(widths) => columns.zip(widths).for_each(|(j, width)| each(j, 1.0 / width)),
    }
}

/// 1, −1, and 0 of 0.
pub(super) fn sign(x: f64) -> f64 {
    f64::from(i8::from(x > 0.0) - i8::from(x < 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner_testkit::{Relative, assert_close};

    #[test]
    fn a_gradient_is_added_times_its_factor() {
        let (x, y) = ([0.3, 1.2, 0.7], [1.1, 0.2, 0.9]);
        for text in
            ["gaussian(sigma=2)", "laplace(scale=[1,2])[2,0]", "normalised(poly(degree=2,c=1) + chi2)"]
        {
            let kernel: Kernel = text.parse().unwrap();
            let mut out = [1.0, -2.0, 3.0];
            kernel.add_gradient(&x, &y, -2.5, &mut out);
            let gradient = kernel.gradient(&x, &y).unwrap();
            let expected: Vec<f64> =
                [1.0, -2.0, 3.0].iter().zip(&gradient).map(|(out, g)| out - 2.5 * g).collect();
            assert_close(&out, &expected, Relative(1e-14));
        }
    }

    #[test]
    fn only_kernels_of_texts_have_no_gradient() {
        for entry in crate::kernel::catalogue() {
            let kernel: Kernel = entry.example.parse().unwrap();
            let of_text = matches!(kernel.bare(), Kernel::Sequence { .. });
            assert_eq!(kernel.has_gradient(), !of_text, "{kernel}");
            assert_eq!((kernel.clone() * Kernel::Linear + Kernel::Constant).has_gradient(), !of_text);
            assert_eq!(kernel.exp().normalised().has_gradient(), !of_text);
        }
    }
}

//! Kernels of one's own, on objects of any kind.
//!
//! ```text
//! k : X × X → ℝ,    Σᵢⱼ aᵢaⱼk(xᵢ, xⱼ) ≥ 0
//! ```
//! Anything that gives a value for two objects is a [`Similarity`]: a closure, or a type with a method. The algebra keeps kernels kernels here too; a closure f(x) is the weight of
//! f(x)·k(x, y)·f(y). What needs only kernel values takes them: Gram matrices, [distances](Similarity::distance), the
//! [check](super::definiteness), and [landmark features](crate::map::ObjectMap), on which every learner works. Nothing of it can be saved: a file holds no code.

use crate::{Matrix, Result};

/// A kernel on objects of type X.
pub trait Similarity<X: ?Sized>: Sync {
    /// k(x, y).
    fn value(&self, x: &X, y: &X) -> f64;

    /// ‖φ(x) − φ(y)‖.
    fn distance(&self, x: &X, y: &X) -> f64 {
        let square = self.value(x, x) + self.value(y, y) - 2.0 * self.value(x, y);
        // A rounding below zero is zero; what is no number stays none.
        if square < 0.0 { 0.0 } else { square.sqrt() }
    }

    /// k(xᵢ, yⱼ) for all pairs.
    fn gram(&self, x: &[&X], y: &[&X]) -> Result<Matrix<f64>> {
        let gram = Matrix::from_fn(x.len(), y.len(), |i, j| self.value(x[i], y[j]));
        match gram.as_slice().iter().position(|value| !value.is_finite()) {
            None => Ok(gram),
            Some(at) => {
                let (row, column) = ((at / y.len()) as u64, at % y.len());
                Err(crate::Error::NotFinite {
                    what: "the kernel values",
                    row,
                    column,
                    value: gram.as_slice()[at],
                })
            }
        }
    }
}

impl<X: ?Sized, F: Fn(&X, &X) -> f64 + Sync> Similarity<X> for F {
    fn value(&self, x: &X, y: &X) -> f64 {
        self(x, y)
    }
}

/// Rows of numbers, without columns of names.
impl Similarity<[f64]> for super::Kernel {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        let view = |row| crate::MatrixView::new(row, 1, row.len()).map(crate::Rows::from);
        match (view(x), view(y)) {
            (Ok(x), Ok(y)) => self.eval(&x, 0, &y, 0),
            _ => f64::NAN,
        }
    }
}

/// A kernel of one's own with the algebra: c·K, sums, products, weights, exp, normalised.
pub struct Own<'a, X: ?Sized>(Value<'a, X>);

/// Whatever gives a value.
type Value<'a, X> = Box<dyn Fn(&X, &X) -> f64 + Sync + 'a>;

impl<'a, X: ?Sized + 'a> Own<'a, X> {
    /// Of anything that gives values.
    pub fn new(kernel: impl Similarity<X> + 'a) -> Self {
        Own(Box::new(move |x, y| kernel.value(x, y)))
    }

    /// c·K for c ≥ 0.
    pub fn scaled(self, c: f64) -> Self {
        Own(Box::new(move |x, y| c * self.value(x, y)))
    }

    /// K₁ + K₂
    pub fn plus(self, other: impl Similarity<X> + 'a) -> Self {
        Own(Box::new(move |x, y| self.value(x, y) + other.value(x, y)))
    }

    /// K₁·K₂
    pub fn times(self, other: impl Similarity<X> + 'a) -> Self {
        Own(Box::new(move |x, y| self.value(x, y) * other.value(x, y)))
    }

    /// f(x)·K(x, y)·f(y)
    pub fn weighted(self, f: impl Fn(&X) -> f64 + Sync + 'a) -> Self {
        Own(Box::new(move |x, y| self.value(x, y) * (f(x) * f(y))))
    }

    /// exp K
    pub fn exp(self) -> Self {
        Own(Box::new(move |x, y| libm::exp(self.value(x, y))))
    }

    /// K(x, y)/√(K(x, x)·K(y, y))
    pub fn normalised(self) -> Self {
        Own(Box::new(move |x, y| self.value(x, y) / (self.value(x, x).sqrt() * self.value(y, y).sqrt())))
    }
}

impl<X: ?Sized> Similarity<X> for Own<'_, X> {
    fn value(&self, x: &X, y: &X) -> f64 {
        (self.0)(x, y)
    }
}

//! Kernels from their formulas, one pair of points at a time.
//!
//! ```text
//! gaussian  exp(−‖x − y‖² / 2σ²)        laplace  exp(−‖x − y‖₁ / scale)        linear  x·y
//! ```

/// exp(−‖x − y‖² / 2σ²).
pub fn gaussian(x: &[f64], y: &[f64], sigma: f64) -> f64 {
    let squared: f64 = pairs(x, y).map(|(x, y)| (x - y).powi(2)).sum();
    (-squared / (2.0 * sigma * sigma)).exp()
}

/// exp(−‖x − y‖₁ / scale): the product over the columns of one-dimensional Laplace kernels.
pub fn laplace(x: &[f64], y: &[f64], scale: f64) -> f64 {
    let distance: f64 = pairs(x, y).map(|(x, y)| (x - y).abs()).sum();
    (-distance / scale).exp()
}

/// x·y.
pub fn linear(x: &[f64], y: &[f64]) -> f64 {
    pairs(x, y).map(|(x, y)| x * y).sum()
}

/// The n×m matrix of `kernel(xᵢ, yⱼ)` for x of n×d and y of m×d.
pub fn gram(
    x: &[f64],
    n: usize,
    y: &[f64],
    m: usize,
    d: usize,
    kernel: impl Fn(&[f64], &[f64]) -> f64,
) -> Vec<f64> {
    assert_eq!(x.len(), n * d, "x is {n}×{d}");
    assert_eq!(y.len(), m * d, "y is {m}×{d}");
    let mut out = Vec::with_capacity(n * m);
    for i in 0..n {
        for j in 0..m {
            out.push(kernel(&x[i * d..(i + 1) * d], &y[j * d..(j + 1) * d]));
        }
    }
    out
}

fn pairs<'a>(x: &'a [f64], y: &'a [f64]) -> impl Iterator<Item = (f64, f64)> + 'a {
    assert_eq!(x.len(), y.len(), "two points of one space");
    x.iter().copied().zip(y.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Relative, assert_close};

    const X: [f64; 2] = [1.0, 2.0];
    const Y: [f64; 2] = [4.0, -2.0];

    #[test]
    fn values_by_hand() {
        // x − y = (−3, 4): squared length 25, sum of lengths 7; x·y = 4 − 4 = 0, x·x = 5.
        let found = [gaussian(&X, &Y, 2.5), laplace(&X, &Y, 3.5), linear(&X, &Y), linear(&X, &X)];
        assert_close(&found, &[(-2.0_f64).exp(), (-2.0_f64).exp(), 0.0, 5.0], Relative(1e-15));
    }

    #[test]
    fn gram_is_row_major_in_x() {
        let k = gram(&[1.0, 10.0], 2, &[1.0, 2.0, 3.0], 3, 1, linear);
        assert_close(&k, &[1.0, 2.0, 3.0, 10.0, 20.0, 30.0], Relative(0.0));
    }
}

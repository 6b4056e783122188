//! The χ² kernels of histograms.
//!
//! ```text
//! chi2               k(x, y) = Σⱼ 2xⱼyⱼ/(xⱼ + yⱼ)                     0/0 = 0
//! exponential_chi2   k(x, y) = exp(−γ·Σⱼ (xⱼ − yⱼ)²/(xⱼ + yⱼ))
//! ```
//! For entries that are not negative. (x − y)²/(x + y) = x + y − 2·2xy/(x + y) is the squared distance that belongs to the first one, so that the second is a
//! Gaussian of that distance.

/// The term of one column of the first.
pub(super) fn term(x: f64, y: f64) -> f64 {
    let sum = x + y;
    // Symmetric in x and y to the last bit.
    if sum > 0.0 { 2.0 * (x * y / sum) } else { 0.0 }
}

/// The term of one column of the second.
pub(super) fn square(x: f64, y: f64) -> f64 {
    let (sum, difference) = (x + y, x - y);
    if sum > 0.0 { difference * (difference / sum) } else { 0.0 }
}

/// Of the sum of squares.
pub(super) fn profile(sum: f64, gamma: f64) -> f64 {
    libm::exp(-gamma * sum)
}

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

/// Its derivative in x; 0 for two zeros, where it is the one to the right.
pub(super) fn term_slope(x: f64, y: f64) -> f64 {
    let sum = x + y;
    if sum > 0.0 { 2.0 * (y / sum) * (y / sum) } else { 0.0 }
}

/// The term of one column of the second.
pub(super) fn square(x: f64, y: f64) -> f64 {
    let (sum, difference) = (x + y, x - y);
    if sum > 0.0 { difference * (difference / sum) } else { 0.0 }
}

/// Its derivative in x; 0 for two zeros.
pub(super) fn square_slope(x: f64, y: f64) -> f64 {
    let sum = x + y;
    if sum > 0.0 { ((x - y) / sum) * ((x + 3.0 * y) / sum) } else { 0.0 }
}

/// Of the sum of squares.
pub(super) fn profile(sum: f64, gamma: f64) -> f64 {
    libm::exp(-gamma * sum)
}

/// Its derivative in the sum.
pub(super) fn slope(sum: f64, gamma: f64) -> f64 {
    -gamma * libm::exp(-gamma * sum)
}

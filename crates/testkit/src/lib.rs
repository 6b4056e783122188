//! What the tests of `bochner` lean on: rated bounds, plain oracles, seeded tables.
//!
//! ```text
//! a statistical test   |estimate − truth| ≤ radius(α)       fails by chance at most once in 1/α runs
//! a numerical test     |fast(x) − oracle(x)| ≤ tolerance    the oracle being the textbook's formula
//! ```
//! The crate depends on nothing, not even on the crates that it judges: an oracle that shared code with the
//! library would share its mistakes. Everything works on row-major slices of `f64`, and a function that finds
//! what it was given inconsistent panics, since here a panic is a failed test.
//!
//! ```
//! use bochner_testkit::{self as testkit, Absolute};
//!
//! let x = testkit::normals(40, 3, 1);
//! let k = testkit::gram(&x, 40, &x, 40, 3, |x, y| testkit::gaussian(x, y, 2.0));
//! let (values, vectors) = testkit::symmetric_eigen(&k, 40);
//! assert!(values[0] > 0.0); // the Gaussian kernel is positive definite
//! testkit::assert_close(&[k[0]], &[1.0], Absolute(0.0));
//! # let _ = vectors;
//! ```
#![forbid(unsafe_code)]

mod bound;
mod close;
mod double_double;
mod oracle;
mod table;

pub use bound::{
    ALPHA, bernstein_radius, binomial_interval, binomial_lower, binomial_upper, hoeffding_radius,
    variance_interval,
};
pub use close::Tolerance::{self, Absolute, Relative, Ulps};
pub use close::{
    assert_close, assert_close_f32, assert_same_bits, assert_same_bits_f32, max_difference, relative_error,
};
pub use double_double::DoubleDouble;
pub use oracle::{
    cos_turns, cross_validated_mse, degrees_of_freedom, exp_reference, gaussian, gram, kernel_ridge,
    kernel_ridge_with_intercept, laplace, linear, predict, ridge, sin_turns, sincos_turns, solve,
    symmetric_eigen, weighted_kernel_ridge,
};
pub use table::{Chance, classification, densify, normals, regression, sparse, uniforms};

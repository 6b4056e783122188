//! Kernel machines at the cost of linear models.
//!
//! A kernel (a notion of similarity) becomes a randomized feature map; rows are streamed through it once; a linear problem is
//! solved; and the model says how far it is from the exact kernel.
//!
//! ```text
//! Table ─encode─▶ Rows ─map─▶ Features ─stat─▶ Statistic ─solve─▶ coefficients ─▶ Model ─▶ predict
//! ```
//!
//! ```
//! use bochner::{Engine, Kernel, Lambda, MapSpec, Matrix, Ridge, Rows};
//!
//! // y = sin x on 500 points
//! let x = Matrix::from_fn(500, 1, |i, _| i as f64 / 50.0);
//! let y: Vec<f64> = (0..500).map(|i| (i as f64 / 50.0).sin()).collect();
//!
//! let kernel: Kernel = "gaussian(sigma=1)".parse()?;
//! let map = MapSpec { features: 256, seed: 7, ..MapSpec::auto(kernel) };
//! let engine = Engine::default(); // threads, memory, progress: here, nowhere else
//! let ridge = Ridge { lambda: Lambda::CrossValidated { folds: 5 }, ..Ridge::new(map) };
//! let model = ridge.fit(&engine, &(&x, &y))?;
//!
//! println!("{}", model.certificate()); // the kernel error: a bound, and what was measured
//! let new = Matrix::new(1, 1, vec![0.5])?;
//! let prediction = model.decide(&engine, Rows::from(&new))?;
//! assert!((prediction.row(0)[0] - 0.5f64.sin()).abs() < 1e-3);
//! # Ok::<(), bochner::Error>(())
//! ```
//!
//! The rooms, in the order of the data: [`table`] and [`matrix`] hold values, [`encode`] turns columns into rows, [`kernel`]
//! says what similarity means, [`map`] makes features of it, [`stat`] sums them, [`learn`] has the recipes, [`model`]
//! predicts and is saved; [`engine`], [`random`] and [`sweep`] are what they all run on.

#![forbid(unsafe_code)]

pub mod certify;
mod compiled;
pub mod content;
pub mod encode;
pub mod engine;
mod error;
pub mod json;
pub mod kernel;
pub mod learn;
mod linalg;
pub mod loss;
pub mod map;
pub mod matrix;
pub mod model;
pub mod plan;
pub mod random;
pub mod solve;
pub mod source;
mod special;
pub mod stat;
pub mod sweep;
pub mod table;
pub mod whole;

pub use bochner_simd::Isa;
pub use certify::Certificate;
#[doc(hidden)]
pub use compiled::compiled;
pub use encode::{Encoder, LabelKind, Labels};
pub use engine::{Backend, Engine, EngineSpec, Event, Observer};
pub use error::{Error, Result};
pub use kernel::Kernel;
pub use learn::{
    Auto, ExactRidge, ExactSvm, Family, KernelChoice, Lambda, Linear, MetricChoice, Pca, Principal, Rate,
    Ridge, Sgd, Solver, Uncertainty,
};
pub use loss::Loss;
pub use map::{Bins, Choice, FourierForm, FrequencyDraw, Map, MapSpec, Method, Nonzeros, Projection, Recipe};
pub use matrix::{AnyRows, Csr, CsrView, Matrix, MatrixView, OwnedRows, Rows, Scalar};
pub use model::{Head, Model};
pub use plan::{Strategy, Workload};
pub use source::{Arrays, Batch, Batches, Shape, Source, Target};

/// Runs the README's Rust example with the doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

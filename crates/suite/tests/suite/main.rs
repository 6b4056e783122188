//! The tests of the library's claims, in one binary.
//!
//! - `laws`: what holds exactly, over the table of all kernels and maps
//! - `statistical`: what holds in expectation, each at a stated false-alarm rate, with mutants that must be rejected
//! - `binning`: the same for cells of random grids
//! - `liftings`: explicit features, and the way back from a separator to a ball
//! - `sketches`: polynomials in few features: means, variances, what the compiler makes of them
//! - `projections`: the same for random projections, and their theorems
//! - `gradients`: derivatives of kernels against differences of their values, and at corners
//! - `oracle`: against naive code
//! - `losses`: linear models under every loss
//! - `exact_ridge`: ridge with the exact kernel: against elimination, refitting, features and scikit-learn
//! - `solvers`: ridge by conjugate gradients: against sums, in little memory
//! - `passes`: every loss but the hinge on features that are never kept: against held ones, in memory that does not grow
//! - `svm`: support vector machines on features
//! - `strategies`: stochastic gradient descent in six ways: one model, and its costs
//! - `examples`: those of the library run
//! - `golden`: against stored values and stored files
//! - `hostile`: model files that are damaged or made to harm
//! - `categories`: levels encoded by the target, rows in groups
//! - `columns`: columns of every kind, their scaling, in training, prediction and files
//! - `sequences`: texts, their grams and their kernels
//! - `uncertainty`: deviations, intervals and sets with their coverage, calibrated probabilities
//! - `input`: bad input and its messages

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod binning;
mod categories;
mod certificates;
mod columns;
mod compile;
mod exact_ridge;
mod examples;
mod golden;
mod gradients;
mod hostile;
mod input;
mod kernels;
mod laws;
mod liftings;
mod losses;
mod maps;
mod metric;
mod metric_search;
mod metric_wide;
mod oracle;
mod passes;
mod projections;
mod sequences;
mod sketches;
mod solvers;
mod statistical;
mod strategies;
mod svm;
mod table;
mod tuning;
mod uncertainty;

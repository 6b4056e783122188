//! The native part of the Python package `bochner`.
//!
//! A binding converts, releases the interpreter, calls once, converts back. [`rows`] turns NumPy and SciPy arrays into
//! rows without a copy where it can, [`stream`] and [`frame`] data frames into tables, [`kernel`] computes values of kernels that come as texts, [`job`] is the only place that releases the interpreter, listens for Ctrl-C and
//! hands on warnings, [`error`] says which exception an error becomes. What users see are the estimators of the package;
//! this module is for them alone.

mod error;
mod frame;
mod job;
mod kernel;
mod map;
mod model;
mod remark;
mod rows;
mod sequence;
mod settings;
mod stream;

use pyo3::prelude::*;

/// Kernels, maps and models of bochner; the estimators of the package are built on these.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::frame::Frame;
    #[pymodule_export]
    use super::kernel::{
        auto_draw, canonical_kernel, check_gram, diagonal, dimension_for, distances, epsilon_for, explain,
        features_for, features_for_distance, gram, grids_for, johnson_lindenstrauss, landmarks_for_margin,
        margin_dimension, region_of, texts_of,
    };
    #[pymodule_export]
    use super::main;
    #[pymodule_export]
    use super::map::Map;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::sequence::Texts;

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python gives to a version")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}

/// The command line: takes the arguments, the program's name first, and returns the exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> i32 {
    py.detach(|| bochner_cli::main(arguments))
}

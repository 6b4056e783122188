//! Which Python exception an error of the library becomes.

use bochner::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError};

/// The exception that users expect, with the message of the library.
pub(crate) fn to_python(error: Error) -> PyErr {
    let message = error.to_string();
    to_python_as(error, message)
}

/// The same with another message, which says more.
pub(crate) fn to_python_as(error: Error, message: String) -> PyErr {
    match error {
        Error::ColumnCount { .. }
        | Error::Length { .. }
        | Error::NotFinite { .. }
        | Error::NegativeWeight { .. }
        | Error::WeightCell { .. }
        | Error::NoTargets { .. }
        | Error::ColumnKind { .. }
        | Error::Overflow { .. }
        | Error::NoRows
        | Error::NoLandmark { .. }
        | Error::NoColumns
        | Error::OneClass { .. }
        | Error::Parameter { .. }
        | Error::Unsupported { .. }
        | Error::KernelText { .. }
        | Error::NoSuchColumn { .. }
        | Error::OutsideDomain { .. }
        | Error::NotPositiveSemidefinite { .. }
        | Error::Accuracy { .. }
        | Error::MissingColumn { .. }
        | Error::UnknownClass { .. }
        | Error::TargetText { .. }
        | Error::TooManyClasses { .. }
        | Error::NotPositiveDefinite { .. }
        | Error::ModelFile(_) => PyValueError::new_err(message),
        Error::NotConverged { .. } => PyRuntimeError::new_err(message),
        Error::Memory { .. } => PyMemoryError::new_err(message),
        Error::Interrupted => PyKeyboardInterrupt::new_err(message),
        // OSError chooses FileNotFoundError, PermissionError, … by the number.
        Error::Io { path, source } => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((number, strip_number(&source), path.display().to_string())),
            None => PyOSError::new_err(message),
        },
        Error::Source(source) => match source.downcast::<bochner_io::Error>() {
            Ok(error) => of_files(*error, message),
            Err(_) => PyRuntimeError::new_err(message),
        },
        // Errors of sources that do not come from here, and those of later versions of the library.
        _ => PyRuntimeError::new_err(message),
    }
}

/// Of an error about a file.
fn of_files(error: bochner_io::Error, message: String) -> PyErr {
    match error {
        bochner_io::Error::Io { file, source } => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((number, strip_number(&source), file.display().to_string())),
            None => PyValueError::new_err(message),
        },
        bochner_io::Error::NoSpace { .. } => PyOSError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// The system's reason without the "(os error 2)" that OSError adds in its own way.
fn strip_number(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

//! Arrow's C stream interface: whatever has `__arrow_c_stream__` hands over record batches without a copy.

use std::ffi::CStr;

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use bochner_io::Options;
use bochner_io::arrow::Kept;
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::error::to_python;

/// What the protocol calls the capsule of a stream.
const NAME: &CStr = c"arrow_array_stream";

/// What a frame is called in messages.
const FRAME: &str = "the data frame";

/// The stream of a frame.
pub(crate) fn open(frame: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let given = frame.call_method0("__arrow_c_stream__")?;
    let wrong = |_| PyTypeError::new_err("expected __arrow_c_stream__ to give a capsule of an Arrow stream");
    let capsule = given.cast::<PyCapsule>().map_err(|error| wrong(error.into()))?;
    let pointer = capsule.pointer_checked(Some(NAME)).map_err(wrong)?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: by the protocol a capsule of this name holds a valid stream. It is moved out, and marked as released where it was, so
    // that the capsule's destructor leaves it alone.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    let unreadable =
        |error| PyValueError::new_err(format!("expected a table, found another stream: {error}"));
    RecordBatchStreamReader::try_new(stream).map_err(unreadable)
}

/// All batches of a stream, which is read on this thread, as whoever makes it may want; in an unnamed file where they take more than `most` bytes.
pub(crate) fn kept(
    py: Python<'_>,
    stream: RecordBatchStreamReader,
    most: u64,
    options: Options,
) -> PyResult<Kept> {
    let schema = stream.schema();
    let mut batches = Listening { stream, raised: None };
    let kept = py.detach(|| Kept::of(FRAME, &schema, &mut batches, most, options));
    match (batches.raised, kept) {
        (Some(raised), _) => Err(raised),
        (None, kept) => kept.map_err(to_python),
    }
}

/// A stream that ends at Ctrl-C, and remembers why it ended.
struct Listening {
    stream: RecordBatchStreamReader,
    raised: Option<PyErr>,
}

impl Iterator for Listening {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Err(raised) = Python::attach(|py| py.check_signals()) {
            self.raised = Some(raised);
            return None;
        }
        let batch = self.stream.next()?;
        if let Err(error) = &batch {
            self.raised = Some(failed(&error.to_string()));
        }
        Some(batch)
    }
}

/// Why a stream ended. What a producer in Python raises arrives as text: its first lines, and a traceback.
fn failed(error: &str) -> PyErr {
    if error.lines().any(|line| line == "KeyboardInterrupt") {
        return PyKeyboardInterrupt::new_err(());
    }
    let reason = error.split_once("Producer error: ").map_or(error, |(_, reason)| reason);
    let reason = reason.split_once(". Detail: Python exception").map_or(reason, |(reason, _)| reason);
    PyValueError::new_err(format!("{FRAME} cannot be read to its end: {reason}"))
}

/// The columns of a stream.
pub(crate) fn schema_of(stream: &RecordBatchStreamReader) -> SchemaRef {
    stream.schema()
}

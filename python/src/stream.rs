//! Arrow's C stream interface: whatever has `__arrow_c_stream__` hands over record batches without a copy.

use std::ffi::CStr;

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::SchemaRef;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// What the protocol calls the capsule of a stream.
const NAME: &CStr = c"arrow_array_stream";

/// The columns and all batches of a frame.
pub(crate) fn batches(frame: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let given = frame.call_method0("__arrow_c_stream__")?;
    let wrong = |_| PyTypeError::new_err("expected __arrow_c_stream__ to give a capsule of an Arrow stream");
    let capsule = given.cast::<PyCapsule>().map_err(|error| wrong(error.into()))?;
    let pointer = capsule.pointer_checked(Some(NAME)).map_err(wrong)?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: by the protocol a capsule of this name holds a valid stream. It is moved out, and marked as released where it was, so
    // that the capsule's destructor leaves it alone.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    let unreadable =
        |error| PyValueError::new_err(format!("expected a table, found another stream: {error}"));
    let reader = RecordBatchStreamReader::try_new(stream).map_err(unreadable)?;
    let schema = reader.schema();
    let failed = |error| PyValueError::new_err(format!("the frame cannot be read: {error}"));
    let batches = reader.collect::<Result<_, _>>().map_err(failed)?;
    Ok((schema, batches))
}

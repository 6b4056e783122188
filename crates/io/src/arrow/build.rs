//! Arrays of bytes that nobody has vouched for: every length and every offset is looked at before an array is made.

use std::sync::Arc;

use arrow_array::types::{self as t, ArrowPrimitiveType};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, GenericStringArray, OffsetSizeTrait, PrimitiveArray,
    StringViewArray, downcast_primitive,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;

use crate::fault::{Fault, Outcome, at_most};
use crate::input::LONGEST_RECORD;

fn too_short(found: usize, expected: usize) -> Fault {
    Fault::damaged(format!("a buffer of {found} bytes, at least {expected} were expected"))
}

/// The first `count` values of a buffer, moved where it lies where such values cannot.
fn values<T: arrow_buffer::ArrowNativeType>(buffer: Buffer, count: usize) -> Outcome<ScalarBuffer<T>> {
    let size = count.checked_mul(size_of::<T>()).ok_or_else(|| too_short(buffer.len(), usize::MAX))?;
    if buffer.len() < size {
        return Err(too_short(buffer.len(), size));
    }
    let is_placed = buffer.as_ptr().align_offset(align_of::<T>()) == 0;
    let buffer = if is_placed { buffer } else { Buffer::from_slice_ref(buffer.as_slice()) };
    Ok(ScalarBuffer::new(buffer, 0, count))
}

/// The first `count` bits.
fn bits(buffer: Buffer, count: usize) -> Outcome<BooleanBuffer> {
    if buffer.len() < count.div_ceil(8) {
        return Err(too_short(buffer.len(), count.div_ceil(8)));
    }
    Ok(BooleanBuffer::new(buffer, 0, count))
}

/// Which cells are there, where the buffer says it.
pub(crate) fn nulls(buffer: Buffer, rows: usize) -> Outcome<NullBuffer> {
    bits(buffer, rows).map(NullBuffer::new)
}

/// Numbers, moments and decimals.
pub(crate) fn primitive(
    buffer: Buffer,
    rows: usize,
    nulls: Option<NullBuffer>,
    found: &DataType,
) -> Outcome<ArrayRef> {
    fn of<T: ArrowPrimitiveType>(
        buffer: Buffer,
        rows: usize,
        nulls: Option<NullBuffer>,
        found: &DataType,
    ) -> Outcome<ArrayRef> {
        let array = PrimitiveArray::<T>::try_new(values(buffer, rows)?, nulls).map_err(Fault::damaged)?;
        // Of one kind, whatever its unit, its zone or its digits: that is how T was chosen.
        Ok(Arc::new(array.with_data_type(found.clone())))
    }
    macro_rules! of_type {
        ($type:ty) => {
            of::<$type>(buffer, rows, nulls, found)
        };
    }
    downcast_primitive! {
        found => (of_type),
        other => Err(Fault::damaged(format!("numbers in a column of {other}"))),
    }
}

pub(crate) fn booleans(buffer: Buffer, rows: usize, nulls: Option<NullBuffer>) -> Outcome<ArrayRef> {
    Ok(Arc::new(BooleanArray::new(bits(buffer, rows)?, nulls)))
}

/// Where texts end that lie one after another.
pub(crate) fn offsets<O: OffsetSizeTrait>(buffer: Buffer, rows: usize) -> Outcome<OffsetBuffer<O>> {
    // Without rows there may be no offsets.
    if buffer.is_empty() && rows == 0 {
        return Ok(OffsetBuffer::new_empty());
    }
    let offsets: ScalarBuffer<O> = values(buffer, rows.saturating_add(1))?;
    if !offsets.is_sorted() || offsets.first().is_some_and(|first| *first < O::zero()) {
        return Err(Fault::damaged("texts that end before they begin"));
    }
    offsets.windows(2).try_for_each(|ends| check_text((ends[1] - ends[0]).as_usize()))?;
    Ok(OffsetBuffer::new(offsets))
}

/// Texts one after another.
pub(crate) fn strings<O: OffsetSizeTrait>(
    offsets: OffsetBuffer<O>,
    bytes: Buffer,
    nulls: Option<NullBuffer>,
) -> Outcome<ArrayRef> {
    let array = GenericStringArray::<O>::try_new(offsets, bytes, nulls);
    Ok(Arc::new(array.map_err(|_| Fault::damaged("a text that is not in UTF-8, or not in its buffer"))?))
}

/// A text is no longer than a record of a CSV file may be.
pub(crate) fn check_text(length: usize) -> Outcome<()> {
    at_most("bytes in a text", length as u64, LONGEST_RECORD as u64).map(|_| ())
}

/// Texts that lie anywhere.
pub(crate) fn views(
    views: Buffer,
    bytes: Vec<Buffer>,
    rows: usize,
    nulls: Option<NullBuffer>,
) -> Outcome<ArrayRef> {
    let array = StringViewArray::try_new(values(views, rows)?, bytes, nulls);
    let array = array.map_err(|_| Fault::damaged("a text that is not in UTF-8, or not in its buffer"))?;
    array.lengths().try_for_each(|length| check_text(length as usize))?;
    Ok(Arc::new(array))
}

/// Positions in a dictionary.
pub(crate) fn dictionary(keys: ArrayRef, values: ArrayRef) -> Outcome<ArrayRef> {
    fn of<K: t::ArrowDictionaryKeyType>(keys: &ArrayRef, values: ArrayRef) -> Outcome<ArrayRef> {
        let keys = keys.as_any().downcast_ref::<PrimitiveArray<K>>();
        let keys = keys.ok_or_else(|| Fault::damaged("a dictionary of other keys"))?.clone();
        Ok(Arc::new(DictionaryArray::<K>::try_new(keys, values).map_err(Fault::damaged)?))
    }
    match keys.data_type() {
        DataType::Int8 => of::<t::Int8Type>(&keys, values),
        DataType::Int16 => of::<t::Int16Type>(&keys, values),
        DataType::Int32 => of::<t::Int32Type>(&keys, values),
        DataType::Int64 => of::<t::Int64Type>(&keys, values),
        DataType::UInt8 => of::<t::UInt8Type>(&keys, values),
        DataType::UInt16 => of::<t::UInt16Type>(&keys, values),
        DataType::UInt32 => of::<t::UInt32Type>(&keys, values),
        DataType::UInt64 => of::<t::UInt64Type>(&keys, values),
        other => Err(Fault::damaged(format!("a dictionary with keys of {other}"))),
    }
}

//! The cells of an array as numbers, as dates, and as positions in a dictionary.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{self as t, ArrowPrimitiveType};
use arrow_array::{Array, ArrayRef, UInt64Array, new_empty_array};
use arrow_schema::{DataType as D, TimeUnit};
use arrow_select::take::take;
use bochner::table::MISSING_DATE;

/// The first whole number that has a neighbour which no f64 holds.
const EXACT: u64 = 1 << 53;

/// Appends the cells of an array of numbers, NaN where one is missing; a type that is none has no cells.
pub(super) fn append_numbers(array: &dyn Array, to: &mut Vec<f64>) {
    match array.data_type() {
        D::Null => to.resize(to.len() + array.len(), f64::NAN),
        D::Boolean => {
            let number = |value: bool| f64::from(u8::from(value));
            to.extend(array.as_boolean().iter().map(|value| value.map_or(f64::NAN, number)));
        }
        D::Int8 => append::<t::Int8Type>(array, to, f64::from),
        D::Int16 => append::<t::Int16Type>(array, to, f64::from),
        D::Int32 => append::<t::Int32Type>(array, to, f64::from),
        D::Int64 => append::<t::Int64Type>(array, to, |x| x as f64),
        D::UInt8 => append::<t::UInt8Type>(array, to, f64::from),
        D::UInt16 => append::<t::UInt16Type>(array, to, f64::from),
        D::UInt32 => append::<t::UInt32Type>(array, to, f64::from),
        D::UInt64 => append::<t::UInt64Type>(array, to, |x| x as f64),
        D::Float16 => append::<t::Float16Type>(array, to, f64::from),
        D::Float32 => append::<t::Float32Type>(array, to, f64::from),
        D::Float64 => append::<t::Float64Type>(array, to, |x| x),
        D::Decimal32(_, scale) => append::<t::Decimal32Type>(array, to, |x| decimal(x.into(), *scale)),
        D::Decimal64(_, scale) => append::<t::Decimal64Type>(array, to, |x| decimal(x.into(), *scale)),
        D::Decimal128(_, scale) => append::<t::Decimal128Type>(array, to, |x| decimal(x, *scale)),
        D::Decimal256(_, scale) => append::<t::Decimal256Type>(array, to, |x| match x.to_i128() {
            Some(x) => decimal(x, *scale),
            None => spelled(&x.to_string(), *scale),
        }),
        D::Time32(unit) => match unit {
            TimeUnit::Second => append::<t::Time32SecondType>(array, to, f64::from),
            _ => append::<t::Time32MillisecondType>(array, to, |x| f64::from(x) / 1e3),
        },
        D::Time64(unit) => match unit {
            TimeUnit::Microsecond => append::<t::Time64MicrosecondType>(array, to, |x| x as f64 / 1e6),
            _ => append::<t::Time64NanosecondType>(array, to, |x| x as f64 / 1e9),
        },
        D::Duration(unit) => match unit {
            TimeUnit::Second => append::<t::DurationSecondType>(array, to, |x| x as f64),
            TimeUnit::Millisecond => append::<t::DurationMillisecondType>(array, to, |x| x as f64 / 1e3),
            TimeUnit::Microsecond => append::<t::DurationMicrosecondType>(array, to, |x| x as f64 / 1e6),
            TimeUnit::Nanosecond => append::<t::DurationNanosecondType>(array, to, |x| x as f64 / 1e9),
        },
        D::Date32 | D::Date64 | D::Timestamp(..) => {
            let mut moments = Vec::with_capacity(array.len());
            append_dates(array, &mut moments);
            let seconds = |moment| match moment {
                MISSING_DATE => f64::NAN,
                moment => bochner::table::date::seconds(moment),
            };
            to.extend(moments.into_iter().map(seconds));
        }
        D::Dictionary(..) => {
            let keys = Keys::of(array);
            let mut values = Vec::with_capacity(keys.values.len());
            append_numbers(&keys.values, &mut values);
            if values.len() == keys.values.len() {
                to.extend(keys.iter().map(|key| key.map_or(f64::NAN, |key| values[key])));
            }
        }
        _ => {}
    }
}

/// Whether cells of a type are numbers, or stand for one.
pub(super) fn are_numbers(found: &D) -> bool {
    match found {
        D::Utf8 | D::LargeUtf8 | D::Utf8View => false,
        D::Dictionary(_, values) => are_numbers(values),
        _ => true,
    }
}

/// Appends the cells of an array of dates as nanoseconds since 1970 in UTC; missing ones, and those that have none, are [`MISSING_DATE`].
pub(super) fn append_dates(array: &dyn Array, to: &mut Vec<i64>) {
    const SECOND: i64 = 1_000_000_000;
    match array.data_type() {
        D::Date32 => moments::<t::Date32Type>(array, to, 86_400 * SECOND),
        D::Date64 => moments::<t::Date64Type>(array, to, SECOND / 1000),
        D::Timestamp(TimeUnit::Second, _) => moments::<t::TimestampSecondType>(array, to, SECOND),
        D::Timestamp(TimeUnit::Millisecond, _) => {
            moments::<t::TimestampMillisecondType>(array, to, SECOND / 1000);
        }
        D::Timestamp(TimeUnit::Microsecond, _) => moments::<t::TimestampMicrosecondType>(array, to, 1000),
        D::Timestamp(TimeUnit::Nanosecond, _) => moments::<t::TimestampNanosecondType>(array, to, 1),
        _ => {}
    }
}

fn moments<T: ArrowPrimitiveType<Native: Into<i64>>>(array: &dyn Array, to: &mut Vec<i64>, unit: i64) {
    let array = array.as_primitive::<T>();
    let moment = |value: T::Native| value.into().checked_mul(unit).unwrap_or(MISSING_DATE);
    to.extend(array.iter().map(|value| value.map_or(MISSING_DATE, moment)));
}

fn append<T: ArrowPrimitiveType>(array: &dyn Array, to: &mut Vec<f64>, number: impl Fn(T::Native) -> f64) {
    let array = array.as_primitive::<T>();
    match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => to.extend(array.values().iter().map(|x| number(*x))),
        Some(nulls) => {
            let cells = array.values().iter().zip(nulls.iter());
            to.extend(cells.map(|(x, is_there)| if is_there { number(*x) } else { f64::NAN }));
        }
    }
}

/// digits·10^(−scale), rounded once.
fn decimal(digits: i128, scale: i8) -> f64 {
    /// The largest power of ten that f64 holds.
    const LARGEST: u32 = 22;
    let power = u32::from(scale.unsigned_abs());
    if digits.unsigned_abs() > u128::from(EXACT) || power > LARGEST {
        return spelled(&digits.to_string(), scale);
    }
    let power = (0..power).fold(1.0, |product, _| product * 10.0);
    if scale < 0 { digits as f64 * power } else { digits as f64 / power }
}

fn spelled(digits: &str, scale: i8) -> f64 {
    format!("{digits}e{}", -i32::from(scale)).parse().unwrap_or(f64::NAN)
}

/// Integers beyond 2⁵³ in an array.
pub(super) fn beyond_exact(array: &dyn Array) -> u64 {
    fn count<T: ArrowPrimitiveType>(array: &dyn Array, is_beyond: impl Fn(T::Native) -> bool) -> u64 {
        array.as_primitive::<T>().iter().flatten().filter(|x| is_beyond(*x)).count() as u64
    }
    match array.data_type() {
        D::Int64 => count::<t::Int64Type>(array, |x| x.unsigned_abs() > EXACT),
        D::UInt64 => count::<t::UInt64Type>(array, |x| x > EXACT),
        _ => 0,
    }
}

/// From the first offset to the last.
fn span<T: Copy + TryInto<u64>>(offsets: &[T]) -> u64 {
    let end = |offset: Option<&T>| offset.and_then(|offset| (*offset).try_into().ok()).unwrap_or(0);
    end(offsets.last()) - end(offsets.first())
}

/// Bytes of all texts in an array, each as often as it is there.
pub(super) fn text_bytes(array: &dyn Array) -> u64 {
    match array.data_type() {
        D::Utf8 => span(array.as_string::<i32>().value_offsets()),
        D::LargeUtf8 => span(array.as_string::<i64>().value_offsets()),
        D::Utf8View => array.as_string_view().lengths().map(u64::from).sum(),
        D::Dictionary(_, values) if !are_numbers(values) => {
            let keys = Keys::of(array);
            let length = |key: usize| text_bytes(keys.values.slice(key, 1).as_ref());
            let lengths: Vec<u64> = (0..keys.values.len()).map(length).collect();
            keys.iter().flatten().map(|key| lengths[key]).sum()
        }
        _ => 0,
    }
}

/// Which value of a dictionary each cell of an array is, and these values: of a dictionary that is larger than the array only those that are used.
pub(super) struct Keys {
    keys: Vec<Option<usize>>,
    pub(super) values: ArrayRef,
}

impl Keys {
    /// Of an array with a dictionary.
    pub(super) fn of(array: &dyn Array) -> Self {
        let dictionary = array.as_any_dictionary();
        let (cells, all) = (dictionary.keys(), dictionary.values());
        let places = if all.is_empty() { Vec::new() } else { dictionary.normalized_keys() };
        let key = |i: usize| places.get(i).copied().filter(|_| cells.is_valid(i));
        let mut keys: Vec<Option<usize>> = (0..cells.len()).map(key).collect();
        if all.len() <= keys.len() {
            return Keys { keys, values: Arc::clone(all) };
        }
        let (mut known, mut used) = (HashMap::new(), Vec::new());
        for key in keys.iter_mut().flatten() {
            *key = *known.entry(*key).or_insert_with(|| {
                used.push(*key as u64);
                used.len() - 1
            });
        }
        // Keys are in their dictionary: nothing can go wrong.
        match take(all, &UInt64Array::from(used), None) {
            Ok(values) => Keys { keys, values },
            Err(_) => Keys { keys: vec![None; cells.len()], values: new_empty_array(all.data_type()) },
        }
    }

    /// The position of each cell among the values; none where the cell is missing.
    pub(super) fn iter(&self) -> impl Iterator<Item = Option<usize>> {
        self.keys.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::Int64Type;
    use arrow_array::{DictionaryArray, Int64Array, NullArray, StringArray};

    /// A dictionary may be as long as it says where that takes no bytes.
    #[test]
    fn of_a_large_dictionary_only_what_is_used_is_looked_at() {
        let keys = || Int64Array::from(vec![Some(1 << 61), None, Some(7), Some(1 << 61)]);
        let array = DictionaryArray::<Int64Type>::try_new(keys(), Arc::new(NullArray::new(1 << 62))).unwrap();
        let found = Keys::of(&array);
        assert_eq!(found.iter().collect::<Vec<_>>(), [Some(0), None, Some(1), Some(0)]);
        assert_eq!(found.values.len(), 2);
        let mut numbers = Vec::new();
        append_numbers(&array, &mut numbers);
        assert!(numbers.len() == 4 && numbers.iter().all(|x| x.is_nan()));
        let texts: StringArray = (0..10).map(|i| Some("x".repeat(i))).collect();
        let keys = Int64Array::from(vec![Some(9), None, Some(2)]);
        let array = DictionaryArray::<Int64Type>::try_new(keys, Arc::new(texts)).unwrap();
        assert_eq!((text_bytes(&array), Keys::of(&array).values.len()), (11, 2));
    }
}

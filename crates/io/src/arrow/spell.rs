//! The cells of an array as texts, as a person would write them.

use std::fmt::{Display, Write};

use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions::{as_datetime, as_time};
use arrow_array::types::{self as t, ArrowPrimitiveType, ArrowTemporalType, DecimalType};
use arrow_array::{Array, PrimitiveArray};
use arrow_schema::{DataType as D, TimeUnit};
use bochner::table::{MISSING_DATE, date, number};

use super::values::{Keys, append_dates, append_numbers};

/// Takes cells one by one; none is a missing one.
type See<'a> = &'a mut dyn FnMut(Option<&str>);

/// Shows every cell in turn.
pub(super) fn each(array: &dyn Array, see: See<'_>) {
    match array.data_type() {
        D::Utf8 => array.as_string::<i32>().iter().for_each(see),
        D::LargeUtf8 => array.as_string::<i64>().iter().for_each(see),
        D::Utf8View => array.as_string_view().iter().for_each(see),
        D::Boolean => {
            let text = |value: bool| if value { "True" } else { "False" };
            array.as_boolean().iter().for_each(|value| see(value.map(text)));
        }
        D::Int8 => printed::<t::Int8Type>(array, see),
        D::Int16 => printed::<t::Int16Type>(array, see),
        D::Int32 => printed::<t::Int32Type>(array, see),
        D::Int64 => printed::<t::Int64Type>(array, see),
        D::UInt8 => printed::<t::UInt8Type>(array, see),
        D::UInt16 => printed::<t::UInt16Type>(array, see),
        D::UInt32 => printed::<t::UInt32Type>(array, see),
        D::UInt64 => printed::<t::UInt64Type>(array, see),
        D::Float32 => {
            let text = |x: f32| (!x.is_nan()).then(|| format!("{x:?}"));
            array.as_primitive::<t::Float32Type>().iter().for_each(|x| see(x.and_then(text).as_deref()));
        }
        D::Decimal32(..) => decimals::<t::Decimal32Type>(array, see),
        D::Decimal64(..) => decimals::<t::Decimal64Type>(array, see),
        D::Decimal128(..) => decimals::<t::Decimal128Type>(array, see),
        D::Decimal256(..) => decimals::<t::Decimal256Type>(array, see),
        D::Date32 => moments::<t::Date32Type>(array, see),
        D::Date64 => moments::<t::Date64Type>(array, see),
        D::Timestamp(TimeUnit::Second, _) => moments::<t::TimestampSecondType>(array, see),
        D::Timestamp(TimeUnit::Millisecond, _) => moments::<t::TimestampMillisecondType>(array, see),
        D::Timestamp(TimeUnit::Microsecond, _) => moments::<t::TimestampMicrosecondType>(array, see),
        D::Timestamp(TimeUnit::Nanosecond, _) => moments::<t::TimestampNanosecondType>(array, see),
        D::Time32(TimeUnit::Second) => times::<t::Time32SecondType>(array, see),
        D::Time32(_) => times::<t::Time32MillisecondType>(array, see),
        D::Time64(TimeUnit::Microsecond) => times::<t::Time64MicrosecondType>(array, see),
        D::Time64(_) => times::<t::Time64NanosecondType>(array, see),
        D::Dictionary(..) => {
            let keys = Keys::of(array);
            let mut values: Vec<Option<String>> = Vec::with_capacity(keys.values.len());
            each(&keys.values, &mut |text| values.push(text.map(str::to_owned)));
            keys.iter().for_each(|key| see(key.and_then(|key| values.get(key)?.as_deref())));
        }
        _ => {
            let mut numbers = Vec::new();
            append_numbers(array, &mut numbers);
            numbers.resize(array.len(), f64::NAN); // a type that has no cells
            numbers.iter().for_each(|&x| see((!x.is_nan()).then(|| number::label(x)).as_deref()));
        }
    }
}

/// Shows what `write` writes of each cell.
fn written<T: ArrowPrimitiveType>(
    array: &dyn Array,
    see: See<'_>,
    write: impl Fn(&PrimitiveArray<T>, usize, &mut String),
) {
    let array = array.as_primitive::<T>();
    let mut text = String::new();
    for i in 0..array.len() {
        text.clear();
        if array.is_valid(i) {
            write(array, i, &mut text);
        }
        see(array.is_valid(i).then_some(&text));
    }
}

/// Appends what is printed, to a string that takes everything.
fn print(to: &mut String, what: impl Display) {
    let _ = write!(to, "{what}");
}

fn printed<T: ArrowPrimitiveType<Native: Display>>(array: &dyn Array, see: See<'_>) {
    written::<T>(array, see, |array, i, to| print(to, array.value(i)));
}

fn decimals<T: DecimalType + ArrowPrimitiveType>(array: &dyn Array, see: See<'_>) {
    written::<T>(array, see, |array, i, to| to.push_str(&array.value_as_string(i)));
}

fn moments<T: ArrowTemporalType<Native: Into<i64>>>(array: &dyn Array, see: See<'_>) {
    let mut found = Vec::with_capacity(array.len());
    append_dates(array, &mut found);
    written::<T>(array, see, |array, i, to| match found.get(i).copied().unwrap_or(MISSING_DATE) {
        // What moments of 96 bits become that no 64 bits hold.
        MISSING_DATE if array.value(i).into() == MISSING_DATE => to.push_str("a date out of range"),
        MISSING_DATE => match as_datetime::<T>(array.value(i).into()) {
            Some(far) => print(to, far),
            None => print(to, array.value(i).into()),
        },
        moment => to.push_str(&date::print(moment)),
    });
}

fn times<T: ArrowTemporalType<Native: Into<i64>>>(array: &dyn Array, see: See<'_>) {
    written::<T>(array, see, |array, i, to| match as_time::<T>(array.value(i).into()) {
        Some(time) => print(to, time),
        None => print(to, array.value(i).into()),
    });
}

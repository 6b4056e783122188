//! A column of a row group, some rows at a time.

use std::sync::Arc;

use arrow_array::types::{self as t, ArrowPrimitiveType};
use arrow_array::{ArrayRef, BooleanArray, NullArray};
use arrow_buffer::{BooleanBuffer, Buffer, MutableBuffer, NullBuffer, NullBufferBuilder, i256};
use arrow_schema::DataType;

use crate::arrow::build::primitive;
use crate::budget::Share;
use crate::fault::{Fault, Outcome};

use super::hybrid::Hybrid;
use super::page::{DataPage, Page, Pages};
use super::schema::{Column, Physical};
use super::text::{Dictionary, Texts};
use super::values::Values;

/// Where a column is read.
pub(super) struct Reader {
    column: Column,
    pages: Pages,
    page: Option<Open>,
    dictionary: Option<(Known, Share)>,
    /// What the texts in hand take of the budget.
    texts: Option<Share>,
    /// Cells that it should still have.
    left: u64,
    levels: Vec<u32>,
    keys: Vec<u32>,
}

/// The page that is read.
struct Open {
    page: DataPage,
    levels: Option<Hybrid>,
    values: Values,
    /// Cells to come.
    left: usize,
    _share: Share,
}

/// A dictionary page.
enum Known {
    /// Values of one size, one after another.
    Fixed(Vec<u8>),
    Texts(Dictionary),
}

impl Known {
    fn fixed(&self) -> Option<&[u8]> {
        match self {
            Known::Fixed(values) => Some(values),
            Known::Texts(_) => None,
        }
    }

    fn texts(&self) -> Option<&Dictionary> {
        match self {
            Known::Fixed(_) => None,
            Known::Texts(texts) => Some(texts),
        }
    }
}

impl Reader {
    /// Of a chunk with so many rows.
    pub(super) fn new(column: Column, pages: Pages, rows: u64) -> Reader {
        let (levels, keys) = (Vec::new(), Vec::new());
        Reader { column, pages, page: None, dictionary: None, texts: None, left: rows, levels, keys }
    }

    /// The next rows; there have to be so many. Fewer where they are long texts, one at least.
    pub(super) fn read(&mut self, rows: usize) -> Outcome<ArrayRef> {
        let mut nulls = NullBufferBuilder::new(rows);
        match self.column.physical {
            _ if self.column.data_type == DataType::Null => Ok(Arc::new(NullArray::new(rows))),
            Physical::Boolean => {
                let mut truths = Vec::new();
                self.each(rows, rows, &mut nulls, |open, count, _, _| {
                    open.values.truths(&open.page, count, &mut truths).map(|()| true)
                })?;
                let nulls = nulls.finish();
                let mut next = 0;
                let truths = BooleanBuffer::collect_bool(rows, |i| {
                    let is_there = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(i));
                    next += usize::from(is_there);
                    is_there && truths.get(next - 1) == Some(&1)
                });
                Ok(Arc::new(BooleanArray::new(truths, nulls)))
            }
            Physical::Bytes | Physical::Fixed(_) => {
                /// Rows that are read before it is looked at how long they are.
                const SOME: usize = 64;
                self.texts = None;
                let mut share = self.pages.budget().take(0)?;
                let mut texts = Texts::new(&mut share);
                let rows = self.each(rows, SOME, &mut nulls, |open, count, dictionary, _| {
                    let dictionary = dictionary.and_then(Known::texts);
                    open.values.texts(&open.page, count, dictionary, &mut texts)?;
                    Ok(!texts.are_many())
                })?;
                let dictionary = self.dictionary.as_ref().and_then(|(known, _)| known.texts());
                let nulls = nulls.finish();
                let array = if self.are_texts() {
                    texts.finish(rows, nulls, dictionary)
                } else {
                    let (offsets, bytes) = texts.spelled(nulls.as_ref(), dictionary)?;
                    let values = offsets.windows(2).map(|ends| &bytes[ends[0] as usize..ends[1] as usize]);
                    of_bytes(values, rows, nulls, &self.column.data_type)
                };
                self.texts = Some(share);
                array
            }
            Physical::Int32 | Physical::Float => self.fixed::<4>(rows, nulls),
            Physical::Int64 | Physical::Double => self.fixed::<8>(rows, nulls),
            Physical::Int96 => self.fixed::<12>(rows, nulls),
        }
    }

    fn are_texts(&self) -> bool {
        matches!(self.column.data_type, DataType::Utf8 | DataType::Dictionary(..))
    }

    /// Values of one size.
    fn fixed<const W: usize>(&mut self, rows: usize, mut nulls: NullBufferBuilder) -> Outcome<ArrayRef> {
        let mut bytes = MutableBuffer::new(rows * W);
        self.each(rows, rows, &mut nulls, |open, count, dictionary, keys| {
            let dictionary = dictionary.and_then(Known::fixed);
            open.values.fixed::<W>(&open.page, count, dictionary, &mut bytes, keys).map(|()| true)
        })?;
        let nulls = nulls.finish();
        if let Some(nulls) = &nulls {
            let (values, _) = bytes.as_slice().as_chunks::<W>();
            let mut all = MutableBuffer::from_len_zeroed(rows * W);
            let (places, _) = all.as_slice_mut().as_chunks_mut::<W>();
            nulls.valid_indices().zip(values).for_each(|(i, value)| places[i] = *value);
            bytes = all;
        }
        array::<W>(bytes, nulls, &self.column)
    }

    /// Goes through rows, page by page and `step` at most at a time: notes which are missing, and has the values of the others read as long as `read` says
    /// that there may be more. Gives their number.
    fn each(
        &mut self,
        rows: usize,
        step: usize,
        nulls: &mut NullBufferBuilder,
        mut read: impl FnMut(&mut Open, usize, Option<&Known>, &mut Vec<u32>) -> Outcome<bool>,
    ) -> Outcome<usize> {
        let mut done = 0;
        while done < rows {
            if self.page.as_ref().is_none_or(|open| open.left == 0) {
                self.page = Some(self.next_page()?);
            }
            let Some(open) = &mut self.page else { continue };
            let count = step.min(rows - done).min(open.left);
            let valid = match &mut open.levels {
                None => {
                    nulls.append_n_non_nulls(count);
                    count
                }
                Some(levels) => level(levels, &open.page.bytes, count, nulls, &mut self.levels)?,
            };
            open.left -= count;
            done += count;
            let dictionary = self.dictionary.as_ref().map(|(known, _)| known);
            if valid > 0 && !read(open, valid, dictionary, &mut self.keys)? {
                break;
            }
        }
        Ok(done)
    }

    /// The next page of values, with at least one.
    fn next_page(&mut self) -> Outcome<Open> {
        loop {
            let next = self.pages.next()?;
            let next = next.ok_or_else(|| Fault::damaged("fewer values in a column than it announces"))?;
            let (page, share) = next;
            match page {
                Page::Dictionary { bytes, values } => {
                    if self.dictionary.is_some() || self.page.is_some() {
                        return Err(Fault::damaged("a dictionary that is not the first page of its column"));
                    }
                    self.dictionary = Some((self.known(bytes, values)?, share));
                }
                Page::Data(page) => {
                    let left = page.rows;
                    self.left = self
                        .left
                        .checked_sub(left as u64)
                        .ok_or_else(|| Fault::damaged("more values in a column than it announces"))?;
                    if left > 0 {
                        let levels = page.levels.map(|(at, end)| Hybrid::new(1, at, end)).transpose()?;
                        let values = Values::new(&page, self.column.physical)?;
                        return Ok(Open { page, levels, values, left, _share: share });
                    }
                }
            }
        }
    }

    fn known(&self, bytes: Vec<u8>, values: usize) -> Outcome<Known> {
        let width = match self.column.physical {
            Physical::Boolean => return Err(Fault::damaged("a dictionary of truth values")),
            Physical::Int32 | Physical::Float => 4,
            Physical::Int64 | Physical::Double => 8,
            Physical::Int96 => 12,
            physical @ (Physical::Bytes | Physical::Fixed(_)) => {
                let texts = Dictionary::new(&bytes, values, physical, self.are_texts())?;
                return Ok(Known::Texts(texts));
            }
        };
        let size = values.checked_mul(width).filter(|size| *size <= bytes.len());
        let size = size.ok_or_else(|| {
            Fault::damaged(format!("a dictionary of {values} values in {} bytes", bytes.len()))
        })?;
        let mut bytes = bytes;
        bytes.truncate(size);
        Ok(Known::Fixed(bytes))
    }
}

/// Notes which of the next cells are missing, and counts the others.
fn level(
    levels: &mut Hybrid,
    page: &[u8],
    count: usize,
    nulls: &mut NullBufferBuilder,
    found: &mut Vec<u32>,
) -> Outcome<usize> {
    match levels.repeated(page, count)? {
        Some(0) => {
            nulls.append_n_nulls(count);
            Ok(0)
        }
        Some(_) => {
            nulls.append_n_non_nulls(count);
            Ok(count)
        }
        None => {
            found.clear();
            levels.append(page, count, found)?;
            found.iter().for_each(|level| nulls.append(*level == 1));
            Ok(found.iter().filter(|level| **level == 1).count())
        }
    }
}

/// Values of `W` bytes as what they stand for.
fn array<const W: usize>(
    bytes: MutableBuffer,
    nulls: Option<NullBuffer>,
    column: &Column,
) -> Outcome<ArrayRef> {
    let (rows, found) = (bytes.len() / W, &column.data_type);
    if column.physical == Physical::Int96 {
        let (values, _) = bytes.as_slice().as_chunks::<12>();
        let moments: Vec<i64> = values.iter().map(moment).collect();
        return primitive(Buffer::from_vec(moments), rows, nulls, found);
    }
    if found.primitive_width() != Some(W) {
        return Err(Fault::damaged(format!("values of {W} bytes in a column of {found}")));
    }
    primitive(bytes.into(), rows, nulls, found)
}

/// Nanoseconds since 1970 of those of a day and a Julian day; the smallest number where there are too many.
fn moment(value: &[u8; 12]) -> i64 {
    const FIRST_DAY: i64 = 2_440_588;
    const DAY: i64 = 86_400_000_000_000;
    let [mut of_day, mut day] = [[0; 8]; 2];
    of_day.copy_from_slice(&value[..8]);
    day[..4].copy_from_slice(&value[8..]);
    let days = i64::from_le_bytes(day) - FIRST_DAY;
    let found = days.checked_mul(DAY).and_then(|start| start.checked_add(i64::from_le_bytes(of_day)));
    found.unwrap_or(i64::MIN)
}

/// Values that are stored as bytes: halves, and decimals with the most significant byte first.
fn of_bytes<'a>(
    values: impl Iterator<Item = &'a [u8]>,
    rows: usize,
    nulls: Option<NullBuffer>,
    found: &DataType,
) -> Outcome<ArrayRef> {
    type Half = <t::Float16Type as ArrowPrimitiveType>::Native;
    let half = |bytes: &[u8]| match bytes {
        [] => Ok(Half::default()), // a missing one
        [low, high] => Ok(Half::from_le_bytes([*low, *high])),
        _ => Err(Fault::damaged(format!("a half of {} bytes", bytes.len()))),
    };
    match found {
        DataType::Float16 => {
            let values = values.map(half).collect::<Outcome<Vec<Half>>>()?;
            primitive(Buffer::from_vec(values), rows, nulls, found)
        }
        DataType::Decimal128(..) => {
            let values = values.map(|bytes| extended(bytes).map(i128::from_be_bytes));
            let values = values.collect::<Outcome<Vec<i128>>>()?;
            primitive(Buffer::from_vec(values), rows, nulls, found)
        }
        DataType::Decimal256(..) => {
            let values = values.map(|bytes| extended(bytes).map(i256::from_be_bytes));
            let values = values.collect::<Outcome<Vec<i256>>>()?;
            primitive(Buffer::from_vec(values), rows, nulls, found)
        }
        other => Err(Fault::damaged(format!("bytes in a column of {other}"))),
    }
}

/// The same number in `W` bytes.
fn extended<const W: usize>(bytes: &[u8]) -> Outcome<[u8; W]> {
    let Some(start) = W.checked_sub(bytes.len()) else {
        return Err(Fault::damaged(format!("a decimal of {} bytes", bytes.len())));
    };
    let is_negative = bytes.first().is_some_and(|byte| *byte >= 0x80);
    let mut all = [if is_negative { 0xff } else { 0 }; W];
    all[start..].copy_from_slice(bytes);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_moments_are_nanoseconds_if_these_reach() {
        let value = |day: u32, nanoseconds: i64| {
            let mut value = [0; 12];
            value[..8].copy_from_slice(&nanoseconds.to_le_bytes());
            value[8..].copy_from_slice(&day.to_le_bytes());
            moment(&value)
        };
        assert_eq!(value(2_440_588, 5), 5);
        assert_eq!(value(2_440_589, -1), 86_399_999_999_999);
        assert_eq!(value(u32::MAX, 0), i64::MIN);
        assert_eq!(value(0, i64::MIN), i64::MIN);
    }

    #[test]
    fn decimals_of_few_bytes_keep_their_sign() {
        assert_eq!(extended(&[0xff]).map(i128::from_be_bytes).unwrap(), -1);
        assert_eq!(extended(&[0x7f, 0]).map(i128::from_be_bytes).unwrap(), 0x7f00);
        assert_eq!(extended(&[]).map(i128::from_be_bytes).unwrap(), 0);
        assert!(extended::<16>(&[0; 17]).is_err());
    }
}

//! What the columns of a Parquet file are: the tree of its elements, its leaves as Arrow types.
//!
//! What is written beside the tree, the schema of the Arrow table that the file was made of, only says what Parquet has no word for: categories, and the units of
//! some integers.

use arrow_schema::{DataType, Field as ArrowField, Schema, TimeUnit};

use crate::arrow::ipc;
use crate::fault::{Fault, Outcome, at_most};

use super::footer::structure;
use super::thrift::{Kind, Thrift};

/// Groups of columns inside one another.
const MOST_NESTING: usize = 64;

/// A node of the tree, in the order in which the file lists them.
pub(super) struct Element<'a> {
    name: &'a [u8],
    physical: Option<i64>,
    width: i64,
    /// Required, optional or repeated: 0, 1, 2.
    repetition: i64,
    children: u64,
    converted: Option<i64>,
    scale: i64,
    precision: i64,
    logical: Option<Logical>,
}

/// What values stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Logical {
    Text,
    Map,
    List,
    Decimal { scale: i64, precision: i64 },
    Date,
    Time(TimeUnit),
    Timestamp(TimeUnit),
    Integer { bits: i64, is_signed: bool },
    Nothing,
    Half,
    Other,
}

/// How values are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Physical {
    Boolean,
    Int32,
    Int64,
    Int96,
    Float,
    Double,
    Bytes,
    /// So many bytes each.
    Fixed(usize),
}

/// A column of single values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    pub(super) physical: Physical,
    pub(super) is_optional: bool,
    /// A text may also be read as a dictionary.
    pub(super) data_type: DataType,
}

/// A column of the table.
pub(super) struct Field {
    pub(super) name: String,
    pub(super) data_type: DataType,
    /// Chunks that it has in each row group.
    pub(super) leaves: usize,
    column: Option<Column>,
}

impl Field {
    /// How to read it, if its cells are single values of a known kind.
    pub(super) fn flat(&self) -> Option<&Column> {
        self.column.as_ref()
    }
}

impl<'a> Element<'a> {
    pub(super) fn read(thrift: &mut Thrift<'a>, kind: Kind) -> Outcome<Element<'a>> {
        let mut element = Element {
            name: b"",
            physical: None,
            width: 0,
            repetition: 0,
            children: 0,
            converted: None,
            scale: 0,
            precision: 0,
            logical: None,
        };
        structure(thrift, kind, |thrift, id, kind| {
            match id {
                1 => element.physical = Some(thrift.integer(kind)?),
                2 => element.width = thrift.integer(kind)?,
                3 => element.repetition = thrift.integer(kind)?,
                4 => element.name = thrift.binary(kind)?,
                5 => {
                    let children = u64::try_from(thrift.integer(kind)?);
                    element.children =
                        children.map_err(|_| Fault::damaged("a group of fewer than no columns"))?;
                }
                6 => element.converted = Some(thrift.integer(kind)?),
                7 => element.scale = thrift.integer(kind)?,
                8 => element.precision = thrift.integer(kind)?,
                10 => element.logical = Logical::read(thrift, kind)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(element)
    }

    fn name(&self) -> String {
        String::from_utf8_lossy(self.name).into_owned()
    }

    /// What its values stand for, however old its writer.
    fn logical(&self) -> Option<Logical> {
        let integer = |bits, is_signed| Logical::Integer { bits, is_signed };
        self.logical.or_else(|| {
            Some(match self.converted? {
                0 | 4 | 19 => Logical::Text,
                1 | 2 => Logical::Map,
                3 => Logical::List,
                5 => Logical::Decimal { scale: self.scale, precision: self.precision },
                6 => Logical::Date,
                7 => Logical::Time(TimeUnit::Millisecond),
                8 => Logical::Time(TimeUnit::Microsecond),
                9 => Logical::Timestamp(TimeUnit::Millisecond),
                10 => Logical::Timestamp(TimeUnit::Microsecond),
                code @ 11..=14 => integer(8 << (code - 11), false),
                code @ 15..=18 => integer(8 << (code - 15), true),
                _ => Logical::Other,
            })
        })
    }

    /// How a leaf is read; none where its cells are none that are read.
    fn column(&self, hint: Option<&DataType>) -> Outcome<(DataType, Option<Column>)> {
        let physical = match self.physical {
            Some(0) => Physical::Boolean,
            Some(1) => Physical::Int32,
            Some(2) => Physical::Int64,
            Some(3) => Physical::Int96,
            Some(4) => Physical::Float,
            Some(5) => Physical::Double,
            Some(6) => Physical::Bytes,
            Some(7) => match usize::try_from(self.width) {
                Ok(width) if i32::try_from(self.width).is_ok() => Physical::Fixed(width),
                _ => return Err(Fault::damaged(format!("values of {} bytes", self.width))),
            },
            _ => return Err(Fault::damaged(format!("column \"{}\" of an unknown type", self.name()))),
        };
        let found = hinted(self.data_type(physical)?, self.logical(), hint);
        let is_read = !matches!(found, DataType::Binary | DataType::FixedSizeBinary(_));
        let column = Column { physical, is_optional: self.repetition == 1, data_type: found.clone() };
        Ok((found, is_read.then_some(column)))
    }

    fn data_type(&self, physical: Physical) -> Outcome<DataType> {
        use DataType as D;
        use Logical as L;
        use Physical as P;
        let logical = self.logical();
        if logical == Some(L::Nothing) {
            return Ok(D::Null);
        }
        Ok(match (physical, logical) {
            (P::Boolean, _) => D::Boolean,
            (P::Float, _) => D::Float32,
            (P::Double, _) => D::Float64,
            (P::Int96, _) => D::Timestamp(TimeUnit::Nanosecond, None),
            (P::Int32, Some(L::Date)) => D::Date32,
            (P::Int32, Some(L::Time(TimeUnit::Millisecond))) => D::Time32(TimeUnit::Millisecond),
            (P::Int32, Some(L::Integer { bits: 8 | 16 | 32, is_signed: false })) => D::UInt32,
            (P::Int64, Some(L::Integer { is_signed: false, .. })) => D::UInt64,
            (P::Int64, Some(L::Timestamp(unit))) => D::Timestamp(unit, None),
            (P::Int64, Some(L::Time(unit @ (TimeUnit::Microsecond | TimeUnit::Nanosecond)))) => {
                D::Time64(unit)
            }
            (_, Some(L::Decimal { scale, precision })) => self.decimal(physical, scale, precision)?,
            (P::Int32, _) => D::Int32,
            (P::Int64, _) => D::Int64,
            (P::Bytes, Some(L::Text)) => D::Utf8,
            (P::Bytes, _) => D::Binary,
            (P::Fixed(2), Some(L::Half)) => D::Float16,
            (P::Fixed(_), _) => D::FixedSizeBinary(i32::try_from(self.width).unwrap_or(i32::MAX)),
        })
    }

    fn decimal(&self, physical: Physical, scale: i64, precision: i64) -> Outcome<DataType> {
        let most = match physical {
            Physical::Int32 => 9,
            Physical::Int64 => 18,
            Physical::Fixed(1..=16) => 38,
            Physical::Bytes if precision <= 38 => 38,
            Physical::Fixed(17..=32) | Physical::Bytes => 76,
            _ => 0,
        };
        let scale = i8::try_from(scale).ok().filter(|scale| (0..=precision).contains(&i64::from(*scale)));
        let (Some(scale), Ok(precision @ 1..)) = (scale, u8::try_from(precision)) else {
            let reason = format!("decimals of {precision} digits in column \"{}\"", self.name());
            return Err(Fault::damaged(reason));
        };
        if most > 0 && scale > most {
            let reason = format!("decimals with {scale} of {most} digits in column \"{}\"", self.name());
            return Err(Fault::damaged(reason));
        }
        // More digits than there is room for are what other writers say, and mean as many as there are.
        Ok(match most {
            9 => DataType::Decimal32(precision.min(9), scale),
            18 => DataType::Decimal64(precision.min(18), scale),
            38 => DataType::Decimal128(precision.min(38), scale),
            76 => DataType::Decimal256(precision.min(76), scale),
            _ => DataType::Binary,
        })
    }
}

impl Logical {
    fn read(thrift: &mut Thrift<'_>, kind: Kind) -> Outcome<Option<Logical>> {
        let mut found = None;
        structure(thrift, kind, |thrift, id, kind| {
            found = Some(match id {
                1 | 4 | 12 => Logical::Text,
                2 => Logical::Map,
                3 => Logical::List,
                5 => {
                    let (mut scale, mut precision) = (0, 0);
                    structure(thrift, kind, |thrift, id, kind| {
                        match id {
                            1 => scale = thrift.integer(kind)?,
                            2 => precision = thrift.integer(kind)?,
                            _ => {}
                        }
                        Ok(())
                    })?;
                    Logical::Decimal { scale, precision }
                }
                6 => Logical::Date,
                7 => Logical::Time(unit(thrift, kind)?),
                8 => Logical::Timestamp(unit(thrift, kind)?),
                10 => {
                    let (mut bits, mut is_signed) = (64, true);
                    structure(thrift, kind, |thrift, id, kind| {
                        match (id, kind) {
                            (1, _) => bits = thrift.integer(kind)?,
                            (2, Kind::Truth(truth)) => is_signed = truth,
                            _ => {}
                        }
                        Ok(())
                    })?;
                    Logical::Integer { bits, is_signed }
                }
                11 => Logical::Nothing,
                15 => Logical::Half,
                _ => Logical::Other,
            });
            Ok(())
        })?;
        Ok(found)
    }
}

/// The unit of a time.
fn unit(thrift: &mut Thrift<'_>, kind: Kind) -> Outcome<TimeUnit> {
    let mut unit = TimeUnit::Millisecond;
    structure(thrift, kind, |thrift, id, kind| {
        if id != 2 {
            return Ok(());
        }
        structure(thrift, kind, |_, id, _| {
            match id {
                1 => unit = TimeUnit::Millisecond,
                2 => unit = TimeUnit::Microsecond,
                3 => unit = TimeUnit::Nanosecond,
                _ => return Err(Fault::damaged("a time of an unknown unit")),
            }
            Ok(())
        })
    })?;
    Ok(unit)
}

/// What the Arrow schema knows better.
fn hinted(found: DataType, logical: Option<Logical>, hint: Option<&DataType>) -> DataType {
    use DataType as D;
    match (&found, hint) {
        (D::Utf8, Some(D::Dictionary(_, values)))
            if matches!(**values, D::Utf8 | D::LargeUtf8 | D::Utf8View) =>
        {
            D::Dictionary(Box::new(D::Int32), Box::new(D::Utf8))
        }
        (_, Some(D::Dictionary(_, values))) => hinted(found, logical, Some(values)),
        (D::Int32, Some(D::Time32(unit))) if logical.is_none() => D::Time32(*unit),
        (D::Int64, Some(D::Date64)) if logical.is_none() => D::Date64,
        (D::Int64, Some(D::Duration(unit))) if logical.is_none() => D::Duration(*unit),
        (D::Int64, Some(D::Timestamp(unit, _))) if logical.is_none() => D::Timestamp(*unit, None),
        _ => found,
    }
}

/// What a data frame calls a category is one, whatever its cells.
fn as_category(found: DataType, hint: Option<&DataType>) -> DataType {
    use DataType as D;
    match (&found, hint) {
        (D::Dictionary(..) | D::Binary | D::FixedSizeBinary(_), _) => found,
        (_, Some(D::Dictionary(keys, _))) => D::Dictionary(keys.clone(), Box::new(found)),
        _ => found,
    }
}

/// The columns of the table: the children of the first element. `hint` is what is said of Arrow.
pub(super) fn fields(elements: &[Element<'_>], hint: Option<&[u8]>) -> Outcome<Vec<Field>> {
    let Some((root, elements)) = elements.split_first() else {
        return Err(Fault::damaged("no columns in its description"));
    };
    let hint = hint.and_then(|hint| ipc::schema_of(&base64(hint)?).ok());
    let hint = hint.filter(|hint: &Schema| hint.fields().len() as u64 == root.children);
    let mut tree = Tree { elements, leaves: 0 };
    let mut fields = Vec::new();
    for j in 0..root.children {
        let hint = hint.as_ref().map(|hint| hint.field(j as usize).data_type());
        let before = tree.leaves;
        let element = tree.next()?;
        let (data_type, column) = if element.is_leaf() && element.repetition != 2 {
            tree.leaves += 1;
            let (found, column) = element.column(hint)?;
            (as_category(found, hint), column)
        } else {
            let found = tree.nested(element, 0)?;
            let found = if found.is_nested() { found } else { DataType::new_list(found, true) };
            (hint.cloned().filter(DataType::is_nested).unwrap_or(found), None)
        };
        fields.push(Field { name: element.name(), data_type, leaves: tree.leaves - before, column });
    }
    match tree.elements {
        [] => Ok(fields),
        _ => Err(Fault::damaged("more columns than its description counts")),
    }
}

impl Element<'_> {
    fn is_leaf(&self) -> bool {
        self.physical.is_some()
    }
}

/// Elements that have not been looked at.
struct Tree<'e, 'a> {
    elements: &'e [Element<'a>],
    /// Leaves before them.
    leaves: usize,
}

impl<'e, 'a> Tree<'e, 'a> {
    fn next(&mut self) -> Outcome<&'e Element<'a>> {
        let cut = || Fault::damaged("fewer columns than its description counts");
        let (first, rest) = self.elements.split_first().ok_or_else(cut)?;
        self.elements = rest;
        Ok(first)
    }

    /// What a column is whose cells are no single values, with its parts, which are counted.
    fn nested(&mut self, element: &Element<'_>, depth: usize) -> Outcome<DataType> {
        at_most("groups of columns inside one another", depth as u64, MOST_NESTING as u64)?;
        let inner = if element.is_leaf() {
            self.leaves += 1;
            element.column(None)?.0
        } else {
            let mut parts = Vec::new();
            for _ in 0..element.children {
                let child = self.next()?;
                parts.push(ArrowField::new(child.name(), self.nested(child, depth + 1)?, true));
            }
            match (element.logical(), parts.as_mut_slice()) {
                (Some(Logical::List), [only]) => return Ok(only.data_type().clone()),
                (Some(Logical::Map), [only]) => {
                    let entries = match only.data_type() {
                        DataType::List(entries) => entries.as_ref().clone(),
                        _ => only.clone(),
                    };
                    return Ok(DataType::Map(entries.into(), false));
                }
                _ => DataType::Struct(parts.into()),
            }
        };
        Ok(if element.repetition == 2 { DataType::new_list(inner, true) } else { inner })
    }
}

/// Bytes that are written as base64.
fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut word) = (0, 0u32);
    for c in text.iter().take_while(|c| **c != b'=') {
        let six = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        word = word << 6 | u32::from(six);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_have_no_more_digits_than_there_is_room_for() {
        let element = Element::read(&mut Thrift::new(&[0]), Kind::Struct).unwrap();
        let decimal = |physical, scale, precision| element.decimal(physical, scale, precision).ok();
        assert_eq!(decimal(Physical::Int32, 9, 12), Some(DataType::Decimal32(9, 9)));
        assert_eq!(decimal(Physical::Int32, 10, 12), None, "each number would be ten times as large");
        assert_eq!(decimal(Physical::Int64, 19, 20), None);
        assert_eq!(decimal(Physical::Bytes, 39, 40), Some(DataType::Decimal256(40, 39)));
    }

    #[test]
    fn base64_is_read() {
        for (text, expected) in [
            ("", Some(&b""[..])),
            ("TWFu", Some(b"Man")),
            ("TWE=", Some(b"Ma")),
            ("TQ==", Some(b"M")),
            ("T-", None),
        ] {
            assert_eq!(base64(text.as_bytes()).as_deref(), expected, "{text}");
        }
    }
}

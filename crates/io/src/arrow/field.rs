//! What a column of an Arrow schema is here.

use arrow_schema::DataType;
use bochner::table::ColumnKind;

use crate::error::BINARY;

/// What is to be done with a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Its type says what it is.
    Kind(ColumnKind),
    /// Whole numbers of up to 64 bits: numbers, which may be beyond 2⁵³ or count the rows.
    Integer,
    /// Texts that may be anything.
    Text,
    /// Cells that are no single values, in words.
    Nested(&'static str),
}

/// What a type is.
pub(super) fn of(found: &DataType) -> Found {
    use DataType as D;
    match found {
        D::Int8 | D::Int16 | D::Int32 | D::Int64 | D::UInt8 | D::UInt16 | D::UInt32 | D::UInt64 => {
            Found::Integer
        }
        D::Null | D::Float16 | D::Float32 | D::Float64 => Found::Kind(ColumnKind::Number),
        D::Decimal32(..) | D::Decimal64(..) | D::Decimal128(..) | D::Decimal256(..) => {
            Found::Kind(ColumnKind::Number)
        }
        D::Time32(_) | D::Time64(_) | D::Duration(_) => Found::Kind(ColumnKind::Number),
        D::Boolean => Found::Kind(ColumnKind::Boolean),
        D::Date32 | D::Date64 | D::Timestamp(..) => Found::Kind(ColumnKind::Date),
        D::Utf8 | D::LargeUtf8 | D::Utf8View => Found::Text,
        D::Dictionary(_, values) => match of(values) {
            // Nobody makes dictionaries of dictionaries.
            _ if matches!(**values, D::Dictionary(..)) => Found::Nested("a dictionary of dictionaries"),
            Found::Nested(what) => Found::Nested(what),
            // Whatever they are: a dictionary is how data frames say so.
            _ => Found::Kind(ColumnKind::Category),
        },
        D::Binary | D::LargeBinary | D::BinaryView | D::FixedSizeBinary(_) => Found::Nested(BINARY),
        D::List(_) | D::LargeList(_) | D::FixedSizeList(..) | D::ListView(_) | D::LargeListView(_) => {
            Found::Nested("a list")
        }
        D::Struct(_) => Found::Nested("a struct"),
        D::Map(..) => Found::Nested("a map"),
        D::Union(..) => Found::Nested("a union"),
        D::Interval(_) => Found::Nested("an interval of months and days"),
        D::RunEndEncoded(..) => Found::Nested("run-end encoded"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::{Field, TimeUnit};

    #[test]
    fn types_have_their_kinds() {
        let dictionary = |values| DataType::Dictionary(Box::new(DataType::Int8), Box::new(values));
        let list = DataType::new_list(DataType::Int64, true);
        for (found, expected) in [
            (DataType::UInt64, Found::Integer),
            (DataType::Float16, Found::Kind(ColumnKind::Number)),
            (DataType::Decimal256(50, 3), Found::Kind(ColumnKind::Number)),
            (DataType::Time64(TimeUnit::Nanosecond), Found::Kind(ColumnKind::Number)),
            (DataType::Boolean, Found::Kind(ColumnKind::Boolean)),
            (DataType::Timestamp(TimeUnit::Second, Some("Asia/Tokyo".into())), Found::Kind(ColumnKind::Date)),
            (DataType::Utf8View, Found::Text),
            (dictionary(DataType::LargeUtf8), Found::Kind(ColumnKind::Category)),
            (dictionary(DataType::Int64), Found::Kind(ColumnKind::Category)),
            (dictionary(DataType::Null), Found::Kind(ColumnKind::Category)),
            (dictionary(list.clone()), Found::Nested("a list")),
            (dictionary(dictionary(DataType::Utf8)), Found::Nested("a dictionary of dictionaries")),
            (list, Found::Nested("a list")),
            (DataType::Struct(vec![Field::new("a", DataType::Int8, true)].into()), Found::Nested("a struct")),
            (DataType::Binary, Found::Nested("binary data")),
        ] {
            assert_eq!(of(&found), expected, "{found}");
        }
    }
}

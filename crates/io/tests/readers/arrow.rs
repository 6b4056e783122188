//! Record batches of Arrow: what their columns become.
#![allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::*;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use bochner::table::{Column, ColumnKind, MISSING_DATE, Table, TableSource, TextColumn};
use bochner_io::{Options, arrow, from_bytes};

use crate::ENGINE;
use crate::hostile::sample;

fn batch<const N: usize>(columns: [(&str, ArrayRef); N]) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true))).unwrap()
}

fn try_source(batches: Vec<RecordBatch>, options: &Options) -> bochner::Result<Box<dyn TableSource>> {
    arrow::from_batches("frame", batches[0].schema(), batches, options)
}

fn source(batches: Vec<RecordBatch>, options: &Options) -> Box<dyn TableSource> {
    try_source(batches, options).unwrap()
}

fn tables(source: &dyn TableSource, most: usize) -> Vec<Table> {
    let mut reader = source.open(&ENGINE).unwrap();
    std::iter::from_fn(|| reader.next(most).unwrap()).collect()
}

/// The only column of an array.
fn column(array: impl Array + 'static, options: &Options) -> Column {
    let rows = array.len().max(1);
    let source = source(vec![batch([("a", Arc::new(array))])], options);
    tables(&*source, rows).remove(0).columns.remove(0)
}

fn fixed(kind: ColumnKind) -> Options {
    Options { kinds: vec![("a".to_owned(), kind.into())], ..Options::default() }
}

/// Numbers, NaN as none.
fn numbers(array: impl Array + 'static) -> Vec<Option<f64>> {
    match column(array, &Options::default()) {
        Column::Number(values) => values.into_iter().map(|x| (!x.is_nan()).then_some(x)).collect(),
        other => panic!("expected numbers, found {other:?}"),
    }
}

fn texts(array: impl Array + 'static) -> Vec<Option<String>> {
    match column(array, &fixed(ColumnKind::Text)) {
        Column::Text(texts) => texts.cells().map(|cell| cell.map(str::to_owned)).collect(),
        other => panic!("expected texts, found {other:?}"),
    }
}

fn said(cells: &[&str]) -> Vec<Option<String>> {
    cells.iter().map(|cell| Some((*cell).to_owned())).collect()
}

#[test]
fn numbers_of_every_type() {
    let expected = [Some(1.0), None, Some(3.0)];
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int8Array::from(vec![Some(1), None, Some(3)])),
        Arc::new(Int16Array::from(vec![Some(1), None, Some(3)])),
        Arc::new(Int32Array::from(vec![Some(1), None, Some(3)])),
        Arc::new(Int64Array::from(vec![Some(1), None, Some(3)])),
        Arc::new(UInt8Array::from(vec![Some(1), None, Some(3)])),
        Arc::new(UInt16Array::from(vec![Some(1), None, Some(3)])),
        Arc::new(UInt32Array::from(vec![Some(1), None, Some(3)])),
        Arc::new(UInt64Array::from(vec![Some(1), None, Some(3)])),
        Arc::new(Float32Array::from(vec![Some(1.0), None, Some(3.0)])),
        Arc::new(Float64Array::from(vec![Some(1.0), Some(f64::NAN), Some(3.0)])),
        Arc::new(Time32SecondArray::from(vec![Some(1), None, Some(3)])),
        Arc::new(Time64NanosecondArray::from(vec![Some(1_000_000_000), None, Some(3_000_000_000)])),
        Arc::new(DurationMillisecondArray::from(vec![Some(1000), None, Some(3000)])),
        Arc::new(
            Decimal64Array::from(vec![Some(100), None, Some(300)]).with_precision_and_scale(10, 2).unwrap(),
        ),
        Arc::new(StringArray::from(vec![Some("1"), Some("n/a"), Some(" 3.0 ")])),
    ];
    for array in arrays {
        let found = array.data_type().clone();
        assert_eq!(numbers(array), expected, "{found}");
    }
    let half = arrow_array::array::Float16Array::from_iter_values([
        <arrow_array::types::Float16Type as ArrowPrimitiveType>::Native::from_f32(0.5),
    ]);
    assert_eq!(numbers(half), [Some(0.5)]);
    assert_eq!(numbers(NullArray::new(2)), [None, None]);
    assert_eq!(numbers(Float64Array::from(vec![f64::INFINITY])), [Some(f64::INFINITY)]);
}

#[test]
fn decimals_are_rounded_once() {
    let digits = |text: &str| text.parse::<i128>().unwrap();
    for (text, scale, expected) in [
        ("12345", 2, 123.45),
        ("-1", 28, -1e-28),
        ("9007199254740993", 1, 900_719_925_474_099.3),
        ("12345678901234567890123456789", 10, 1_234_567_890_123_456_789.012_345_678_9),
        ("7", -3, 7000.0),
    ] {
        let array = Decimal128Array::from(vec![digits(text)]).with_precision_and_scale(38, scale).unwrap();
        assert_eq!(numbers(array), [Some(expected)], "{text} {scale}");
    }
    let array =
        Decimal128Array::from(vec![digits("-1234567890123456789")]).with_precision_and_scale(38, 4).unwrap();
    assert_eq!(texts(array), said(&["-123456789012345.6789"]), "texts have all digits");
    type Wide = <arrow_array::types::Decimal256Type as ArrowPrimitiveType>::Native;
    let product = Wide::from_i128(i128::MAX).wrapping_mul(Wide::from_i128(10));
    let array = Decimal256Array::from(vec![product]).with_precision_and_scale(76, 3).unwrap();
    assert_eq!(numbers(array), [Some(1.701_411_834_604_692_3e36)]);
}

#[test]
fn integers_beyond_2_to_the_53_are_rounded_with_a_count_and_have_all_digits_as_texts() {
    let large = (1i64 << 53) + 1;
    let of = |options: Options| {
        source(vec![batch([("a", Arc::new(Int64Array::from(vec![large, 5, -large])))])], &options)
    };
    let numbers = of(Options::default());
    assert_eq!(
        numbers.warnings(),
        [
            "column \"a\": 2 integers are beyond 2^53 and rounded to the nearest number (a category keeps all digits)"
        ]
    );
    let nearest = (1u64 << 53) as f64;
    assert_eq!(tables(&*numbers, 9)[0].columns[0], Column::Number(vec![nearest, 5.0, -nearest]));
    assert_eq!(texts(Int64Array::from(vec![large])), said(&["9007199254740993"]));
    assert_eq!(texts(UInt64Array::from(vec![u64::MAX])), said(&["18446744073709551615"]));
    let category = of(fixed(ColumnKind::Category));
    assert!(category.warnings().is_empty());
    let Column::Category(levels) = &tables(&*category, 9)[0].columns[0] else { panic!("no category") };
    assert_eq!(levels.get(0), Some("9007199254740993"));
}

#[test]
fn dates_of_every_unit_and_zone_are_nanoseconds_in_utc() {
    let second = 1_000_000_000;
    let (day, moment) = (19_783i64, 1_709_312_709);
    let arrays: Vec<(ArrayRef, i64)> = vec![
        (Arc::new(Date32Array::from(vec![Some(day as i32), None])), day * 86_400 * second),
        (Arc::new(Date64Array::from(vec![Some(day * 86_400_000), None])), day * 86_400 * second),
        (Arc::new(TimestampSecondArray::from(vec![Some(moment), None])), moment * second),
        (
            Arc::new(TimestampMillisecondArray::from(vec![Some(moment * 1000 + 1), None])),
            moment * second + 1_000_000,
        ),
        (
            Arc::new(TimestampMicrosecondArray::from(vec![Some(moment * 1_000_000 - 1), None])),
            moment * second - 1000,
        ),
        (
            Arc::new(
                TimestampNanosecondArray::from(vec![Some(moment * second), None]).with_timezone("Asia/Tokyo"),
            ),
            moment * second,
        ),
    ];
    for (array, expected) in arrays {
        let found = array.data_type().clone();
        assert_eq!(column(array, &Options::default()), Column::Date(vec![expected, MISSING_DATE]), "{found}");
    }
    assert_eq!(texts(Date32Array::from(vec![day as i32])), said(&["2024-03-01"]));
    assert_eq!(texts(TimestampSecondArray::from(vec![moment])), said(&["2024-03-01 17:05:09"]));
    assert_eq!(texts(Time32SecondArray::from(vec![61_509])), said(&["17:05:09"]));
    assert_eq!(texts(TimestampNanosecondArray::from(vec![i64::MIN])), said(&["a date out of range"]));
    assert_eq!(
        texts(Float32Array::from(vec![Some(0.1), None, Some(f32::NAN), Some(1e10)])),
        [Some("0.10000000149011612".into()), None, None, Some("10000000000.0".into())]
    );
}

#[test]
fn dates_that_no_nanoseconds_reach_are_missing_and_counted_or_refused() {
    let far = || {
        vec![batch([(
            "a",
            Arc::new(Date32Array::from(vec![Some(0), None, Some(2_932_896), Some(i32::MAX)])),
        )])]
    };
    let lenient = source(far(), &Options::default());
    let mut reader = lenient.open(&ENGINE).unwrap();
    let table = reader.next(9).unwrap().unwrap();
    assert_eq!(table.columns[0], Column::Date(vec![0, MISSING_DATE, MISSING_DATE, MISSING_DATE]));
    let found = &reader.unreadable()[0];
    assert_eq!(
        (found.column, found.count, found.line, found.example.as_str()),
        (0, 2, 3, "9999-12-31 00:00:00")
    );
    let strict = source(far(), &Options { strict: true, ..Options::default() });
    let error = strict.open(&ENGINE).unwrap().next(9).unwrap_err().to_string();
    assert_eq!(error, r#"frame:3:1: expected a date, found "9999-12-31 00:00:00" (column "a")"#);
}

#[test]
fn booleans_and_dictionaries() {
    let cells = vec![Some(true), None, Some(false)];
    assert_eq!(
        column(BooleanArray::from(cells.clone()), &Options::default()),
        Column::Boolean(cells.clone())
    );
    assert_eq!(texts(BooleanArray::from(cells)), [Some("True".into()), None, Some("False".into())]);
    // Levels as a CSV file would have them: trimmed, once each, in the order in which rows use them; an unused one is not there.
    let levels = StringArray::from(vec![Some("unused"), Some(" a "), Some("b"), None, Some("a"), Some("NA")]);
    let keys = Int8Array::from(vec![Some(2), Some(1), None, Some(4), Some(3), Some(5)]);
    let array = DictionaryArray::<Int8Type>::try_new(keys, Arc::new(levels)).unwrap();
    let Column::Category(found) = column(array, &Options::default()) else { panic!("no category") };
    let missing = u32::MAX;
    assert_eq!(found.codes, [0, 1, missing, 1, missing, missing]);
    assert!(found.levels.iter().eq(["b", "a"]));
    // Whatever they hold: that is how data frames write categories.
    let keys = || Int8Array::from(vec![Some(1), None, Some(0), Some(1)]);
    for (values, expected) in [
        (Arc::new(Int64Array::from(vec![20, 10])) as ArrayRef, ["10", "20"]),
        (Arc::new(Float32Array::from(vec![0.5, 0.1])), ["0.1", "0.5"]),
        (Arc::new(BooleanArray::from(vec![true, false])), ["False", "True"]),
    ] {
        let array = DictionaryArray::<Int8Type>::try_new(keys(), values).unwrap();
        let rows = batch([("a", Arc::new(array))]);
        let parquet = sample::parquet(std::slice::from_ref(&rows), Default::default()).unwrap();
        let frame = source(vec![rows], &Options::default());
        let parquet = from_bytes("a.parquet", parquet, &Options::default()).unwrap();
        for found in [frame, parquet] {
            let Column::Category(found) = &tables(&*found, 9)[0].columns[0] else { panic!("no category") };
            assert_eq!(found.codes, [0, missing, 1, 0]);
            assert!(found.levels.iter().eq(expected));
        }
    }
    let empty = DictionaryArray::<Int8Type>::try_new(keys(), Arc::new(NullArray::new(2))).unwrap();
    let Column::Category(found) = column(empty, &Options::default()) else { panic!("no category") };
    assert_eq!(found.codes, [missing; 4]);
    // A dictionary says that numbers are categories.
    let array = DictionaryArray::<Int8Type>::from_iter(["01", "2", "01"]);
    let Column::Category(found) = column(array, &Options::default()) else { panic!("no category") };
    assert_eq!(found.codes, [0, 1, 0]);
}

/// The cells of CSV files, as arrays of strings: found to be what a CSV file's cells are, equal in every block and with equal hashes.
#[test]
fn texts_are_what_a_csv_file_says_they_are() {
    type Cell = fn(usize) -> String;
    let columns: [(&str, Cell); 8] = [
        ("number", |i| format!("{}.5", i)),
        ("code", |i| format!("0{}", i % 7)),
        ("boolean", |i| if i % 3 == 0 { "yes" } else { "no" }.to_owned()),
        ("level", |i| ["red", " blue", "?", "green"][i % 4].to_owned()),
        ("date", |i| format!("{}/3/2024", 1 + i % 28)),
        ("text", |i| format!("these are the words of row {i}")),
        ("percent", |i| if i % 5 == 0 { String::new() } else { format!("{i} %") }),
        ("empty", |_| String::new()),
    ];
    let cells = |i: usize| columns.iter().map(|(_, cell)| cell(i)).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = (0..100).map(cells).collect();
    let names = columns.map(|(name, _)| name).join(",");
    let text = rows.iter().fold(names, |text, row| text + "\n" + &row.join(","));
    let csv = from_bytes("a.csv", text, &Options::default()).unwrap();

    let part = |rows: &[Vec<String>], k: usize| -> RecordBatch {
        let array = |j: usize| -> ArrayRef {
            let cells = rows.iter().map(|row| Some(row[j].as_str()).filter(|cell| !cell.is_empty()));
            match k % 3 {
                0 => Arc::new(cells.collect::<StringArray>()),
                1 => Arc::new(cells.collect::<LargeStringArray>()),
                _ => Arc::new(cells.collect::<StringViewArray>()),
            }
        };
        let fields = columns.iter().enumerate().map(|(j, (name, _))| (*name, array(j), true));
        RecordBatch::try_from_iter_with_nullable(fields).unwrap()
    };
    for k in 0..3 {
        let batches = rows.chunks(17).map(|rows| part(rows, k)).collect();
        let arrow = source(batches, &Options::default());
        assert_eq!(arrow.columns(), csv.columns());
        for j in 0..columns.len() {
            assert_eq!(arrow.format(j), csv.format(j));
            let (found, expected) = (arrow.inferred(j).unwrap(), csv.inferred(j).unwrap());
            assert_eq!((found.missing, found.distinct), (expected.missing, expected.distinct));
        }
        for most in [1, 13, 17, 100, 1000] {
            let (found, expected) = (tables(&*arrow, most), tables(&*csv, most));
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                assert_same(found, expected);
            }
        }
    }
}

/// Equal cell by cell, NaN to NaN, and with equal hashes.
pub(crate) fn assert_same(found: &Table, expected: &Table) {
    assert_eq!((found.rows, found.first_row), (expected.rows, expected.first_row));
    for (found, expected) in found.columns.iter().zip(&expected.columns) {
        match (found, expected) {
            (Column::Number(found), Column::Number(expected)) => {
                let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(found), bits(expected));
            }
            (found, expected) => assert_eq!(found, expected),
        }
    }
    for i in 0..found.rows {
        assert_eq!(found.hash(i), expected.hash(i), "row {i}");
    }
}

#[test]
fn integers_that_count_the_rows_are_found_as_in_csv() {
    let counts: Vec<i64> = (0..3000).map(|i| 7 + i * 1009 % 3000).collect();
    let repeats: Vec<i64> = counts.iter().map(|i| i % 100).collect();
    let batches = counts.chunks(700).zip(repeats.chunks(700)).map(|(counts, repeats)| {
        let arrays = [counts, repeats].map(|values| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef);
        let [counts, repeats] = arrays;
        batch([("Unnamed: 0", counts), ("b", repeats)])
    });
    let found = source(batches.collect(), &Options::default());
    assert!(found.inferred(0).unwrap().counts_rows);
    assert!(found.inferred(1).is_none_or(|found| !found.counts_rows));
}

#[test]
fn nested_columns_are_refused_by_name_unless_they_are_ignored() {
    let list = ListArray::from_iter_primitive::<arrow_array::types::Int64Type, _, _>([Some([Some(1), None])]);
    let rows = || {
        vec![batch([("x", Arc::new(list.clone()) as ArrayRef), ("y", Arc::new(Int8Array::from(vec![5])))])]
    };
    let expected = "frame: column \"x\" is a list (List(Int64)), expected one number, truth value, date or text a row; \
                    flatten it or leave it out";
    let error = try_source(rows(), &Options::default()).err().unwrap();
    assert_eq!(error.to_string(), expected);
    // By its header alone a file tells its columns; it cannot be read.
    let header = source(rows(), &Options { infer: false, ..Options::default() });
    assert_eq!(header.columns().len(), 2);
    assert_eq!(header.open(&ENGINE).err().unwrap().to_string(), expected);
    let bytes = BinaryArray::from(vec![&b"x"[..]]);
    let error = try_source(vec![batch([("x", Arc::new(bytes))])], &Options::default()).err().unwrap();
    assert!(error.to_string().ends_with("; cast it to text or leave it out"), "{error}");
    let ignored = source(rows(), &Options { ignored: vec!["x".to_owned()], ..Options::default() });
    let table = &tables(&*ignored, 9)[0];
    assert_eq!(
        table.columns,
        [Column::Text([None].into_iter().collect::<TextColumn>()), Column::Number(vec![5.0])]
    );
    let all = Options { ignored: vec!["x".to_owned(), "y".to_owned()], ..Options::default() };
    assert_eq!(tables(&*source(rows(), &all), 9)[0].rows, 1);
}

#[test]
fn kinds_that_are_fixed_are_taken() {
    let cells = StringArray::from(vec![Some("1"), Some("0"), None, Some("x")]);
    let number = column(cells.clone(), &fixed(ColumnKind::Number));
    assert_eq!((number.kind(), number.is_missing(2), number.is_missing(3)), (ColumnKind::Number, true, true));
    assert_eq!(
        column(cells, &fixed(ColumnKind::Boolean)),
        Column::Boolean(vec![Some(true), Some(false), None, None])
    );
    let ints = column(Int32Array::from(vec![1, 0]), &fixed(ColumnKind::Boolean));
    assert_eq!(ints, Column::Boolean(vec![Some(true), Some(false)]));
    let seconds = column(TimestampMillisecondArray::from(vec![1500]), &fixed(ColumnKind::Number));
    assert_eq!(seconds, Column::Number(vec![1.5]));
    let floats = column(Float64Array::from(vec![Some(3.0), None]), &fixed(ColumnKind::Category));
    assert_eq!(floats, Column::Category([Some("3.0"), None].into_iter().collect()));
    let error = try_source(vec![batch([("b", Arc::new(NullArray::new(1)))])], &fixed(ColumnKind::Number));
    assert!(error.err().unwrap().to_string().contains("\"a\""));
}

#[test]
fn names_are_there_once_each_and_batches_have_one_schema() {
    let schema = Arc::new(Schema::new(vec![
        Field::new("a", DataType::Int8, true),
        Field::new("a", DataType::Int8, true),
        Field::new("", DataType::Int8, true),
    ]));
    let array = || Arc::new(Int8Array::from(vec![1])) as ArrayRef;
    let rows = RecordBatch::try_new(schema, vec![array(), array(), array()]).unwrap();
    let found = source(vec![rows.clone()], &Options::default());
    let names: Vec<&str> = found.columns().iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["a", "a.1", "Unnamed: 2"]);
    assert_eq!(found.warnings().len(), 1);
    let other = batch([("a", array())]);
    let error = try_source(vec![rows, other], &Options::default()).err().unwrap().to_string();
    assert_eq!(error, "frame: expected the columns to stay as they were, found others");
}

#[test]
fn slices_and_empty_batches_are_read_as_whole_ones() {
    let whole = batch([("a", Arc::new(Int32Array::from_iter_values(0..100)) as ArrayRef)]);
    let parts = [(0, 0), (0, 30), (30, 0), (30, 1), (31, 69)];
    let batches: Vec<RecordBatch> = parts.iter().map(|&(start, rows)| whole.slice(start, rows)).collect();
    let found = source(batches, &Options::default());
    for most in [1, 7, 30, 99, 100, 1000] {
        let blocks = tables(&*found, most);
        assert!(blocks[..blocks.len() - 1].iter().all(|block| block.rows == most));
        let mut next = 0;
        for block in blocks {
            let expected: Vec<f64> = (next..next + block.rows).map(|i| i as f64).collect();
            assert_eq!((block.first_row, &block.columns[0]), (next as u64, &Column::Number(expected)));
            next += block.rows;
        }
        assert_eq!(next, 100);
    }
    let none = source(vec![whole.slice(0, 0)], &Options::default());
    assert!(tables(&*none, 5).is_empty());
}

/// Rows come back from a file as from memory, whatever the batches were, and columns that nobody looks at are not written.
#[test]
fn streams_are_kept_in_memory_or_in_a_file() {
    let rows = |from: i64, words: [&str; 3]| {
        let codes: DictionaryArray<Int8Type> = words.into_iter().collect();
        let numbers = Int64Array::from(vec![Some(from), None, Some(from + 2)]);
        let texts = StringArray::from(words.to_vec());
        batch([("code", Arc::new(codes)), ("x", Arc::new(numbers)), ("text", Arc::new(texts))])
    };
    let batches = [rows(0, ["a", "b", "a"]), rows(3, ["c", "c", "b"]).slice(1, 2), rows(6, ["b", "a", "d"])];
    let options = Options { ignored: vec!["text".to_owned()], ..Options::default() };
    let kept = |most, options: &Options| {
        let stream = batches.iter().cloned().map(Ok);
        arrow::Kept::of("stream", &batches[0].schema(), stream, most, options.clone()).unwrap()
    };
    for options in [Options::default(), options] {
        let (held, spooled) = (kept(u64::MAX, &options), kept(100, &options));
        assert_eq!((held.is_spooled(), spooled.is_spooled()), (false, true));
        assert_eq!((held.rows(), spooled.rows()), (8, 8));
        let (held, spooled) = (held.open().unwrap(), spooled.open().unwrap());
        assert_eq!(held.columns().len(), 3 - options.ignored.len());
        for most in [1, 3, 100] {
            let (a, b) = (tables(held.as_ref(), most), tables(spooled.as_ref(), most));
            assert_eq!(format!("{a:?}"), format!("{b:?}"));
        }
    }
    // All is ignored: rows are counted nevertheless.
    let all = ["code", "x", "text"].map(str::to_owned).to_vec();
    let source = kept(0, &Options { ignored: all, ..Options::default() }).open().unwrap();
    assert_eq!(tables(source.as_ref(), 100)[0].rows, 8);
}

#[test]
fn streams_that_break_or_change_are_refused() {
    let numbers = |name: &str| {
        RecordBatch::try_from_iter([(name, Arc::new(Int64Array::from(vec![1, 2])) as ArrayRef)]).unwrap()
    };
    let of = |next: Result<RecordBatch, ArrowError>, most: u64, options: Options| {
        let schema = numbers("x").schema();
        let stream = [Ok(numbers("x")), next].into_iter();
        arrow::Kept::of("stream", &schema, stream, most, options).map(|kept| kept.rows())
    };
    for most in [0, 1000] {
        let said = |next, options| of(next, most, options).unwrap_err().to_string();
        let broken = said(Err(ArrowError::ComputeError("gone".to_owned())), Options::default());
        assert!(broken.contains("stream: ") && broken.contains("gone"), "{broken}");
        let texts = StringArray::from(vec!["a"]);
        let other = RecordBatch::try_from_iter([("x", Arc::new(texts) as ArrayRef)]).unwrap();
        assert!(said(Ok(other), Options::default()).contains("columns"));
        let ignored = vec!["z".to_owned()];
        let missing = said(Ok(numbers("x")), Options { ignored, ..Options::default() });
        assert!(missing.contains("\"z\""), "{missing}");
    }
    let nowhere = Some("/nowhere/at/all".into());
    let error = of(Ok(numbers("x")), 0, Options { temporary: nowhere, ..Options::default() }).unwrap_err();
    assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
    assert_eq!(of(Ok(numbers("x")), 0, Options::default()).unwrap(), 4);
}

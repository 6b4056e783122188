//! Columns of every kind: encoded, scaled, saved and read, alike in training and prediction.

use bochner::encode::{ColumnScaling, Columns, Inputs, Precision, TableProfile, TableRows, inputs};
use bochner::table::{Column, ColumnInfo, ColumnKind, MISSING_DATE, MemoryTables, Table, TableSource};
use bochner::{Auto, Engine, Lambda, Matrix, MetricChoice, Model};
use bochner_testkit::Chance;

use crate::table::engine;

const ROWS: usize = 700;
const DAY: i64 = 86_400_000_000_000;

/// A column of each kind with missing cells, and a target that follows them.
fn tables(seed: u64, outlier: Option<f64>) -> MemoryTables {
    let mut chance = Chance::new(seed);
    let missing = |chance: &mut Chance| chance.below(10) == 0;
    let (mut number, mut flag, mut colour, mut day, mut text, mut y) =
        (vec![], vec![], vec![], vec![], vec![], vec![]);
    let places: Vec<String> = (0..ROWS).map(|_| format!("place {}", chance.below(100))).collect();
    for _ in 0..ROWS {
        let (x, level, date) = (chance.normal(), chance.below(3), chance.below(1000) as i64 * DAY);
        number.push(if missing(&mut chance) { f64::NAN } else { x.exp() });
        flag.push(if missing(&mut chance) { None } else { Some(level == 0) });
        colour.push(if missing(&mut chance) { None } else { Some(["red", "green", "blue"][level]) });
        day.push(if missing(&mut chance) { MISSING_DATE } else { date });
        text.push(if level == 1 { "a long walk home" } else { "a short ride there" });
        y.push(x + level as f64 + 0.1 * chance.normal());
    }
    number[3] = outlier.unwrap_or(number[3]);
    let info = |name: &str, kind| ColumnInfo { name: name.to_owned(), kind };
    let columns = vec![
        (info("number", ColumnKind::Number), Column::Number(number)),
        (info("flag", ColumnKind::Boolean), Column::Boolean(flag)),
        (info("colour", ColumnKind::Category), Column::Category(colour.into_iter().collect())),
        (info("day", ColumnKind::Date), Column::Date(day)),
        (info("text", ColumnKind::Text), Column::Text(text.into_iter().collect())),
        (info("y", ColumnKind::Number), Column::Number(y)),
        (
            info("place", ColumnKind::Category),
            Column::Category(places.iter().map(|at| Some(at.as_str())).collect()),
        ),
        (info("w", ColumnKind::Number), Column::Number((0..ROWS).map(|i| (i % 3) as f64).collect())),
    ];
    let (infos, columns) = columns.into_iter().unzip();
    MemoryTables::new(infos, vec![Table { rows: ROWS, columns, first_row: 0 }]).unwrap()
}

fn fit(engine: &Engine, tables: &MemoryTables, scaling: ColumnScaling, left_out: &[&str]) -> Model {
    fit_weighted(engine, tables, scaling, left_out, false)
}

fn fit_weighted(
    engine: &Engine,
    tables: &MemoryTables,
    scaling: ColumnScaling,
    left_out: &[&str],
    is_weighted: bool,
) -> Model {
    let left_out: Vec<&str> = left_out.iter().copied().chain(["y", "w"]).collect();
    let mut profile = TableProfile::of(tables).with_target(5).with_scaling(scaling).leaving_out(&left_out);
    for table in tables.blocks() {
        let Column::Number(weights) = &table.columns[7] else { panic!("weights are numbers") };
        profile.absorb(table, &|i| if is_weighted { weights[i] } else { 1.0 });
    }
    let Inputs { columns, .. } = inputs(None, &profile, &left_out, &[], 0).unwrap();
    let rows = TableRows::new(engine, tables, columns, "y", None, Some(tables.rows() as u64)).unwrap();
    let rows = if is_weighted { rows.weighted("w").unwrap() } else { rows };
    let lambda = Lambda::Given { value: 1e-3 };
    let precision = Some(Precision::Single);
    let auto = Auto { features: Some(64), metric: MetricChoice::None, lambda, precision, ..Auto::default() };
    auto.fit_table(engine, &rows).unwrap()
}

fn decide(model: &Model, tables: &MemoryTables) -> Vec<f64> {
    let (engine, block) = (engine(1), &tables.blocks()[0]);
    model.decide_table(&engine, block, tables.columns()).unwrap().as_slice().to_vec()
}

const SCALINGS: [ColumnScaling; 3] =
    [ColumnScaling::Standard, ColumnScaling::Quantile, ColumnScaling::Robust];

#[test]
fn models_of_every_kind_of_column_are_saved() {
    let (tables, other) = (tables(1, None), tables(2, None));
    for scaling in SCALINGS {
        let model = fit(&engine(2), &tables, scaling, &[]);
        let bytes = model.to_bytes().unwrap();
        let read = Model::from_bytes(&bytes).unwrap();
        assert_eq!(read.encoder(), model.encoder(), "{scaling:?}");
        assert_eq!(decide(&read, &other), decide(&model, &other), "{scaling:?}");
        assert_eq!(read.to_bytes().unwrap(), bytes, "{scaling:?}");
        assert_eq!(fit(&engine(1), &tables, scaling, &[]).to_bytes().unwrap(), bytes, "{scaling:?}");
    }
}

/// A model of arrays knows the mean of each column, and nothing of missing cells.
#[test]
fn a_number_that_is_missing_for_the_first_time_is_the_mean() {
    let mut chance = Chance::new(4);
    let x = Matrix::from_fn(200, 2, |_, j| 3.0 * j as f64 + chance.normal());
    let y: Vec<f64> = (0..200).map(|i| x.row(i)[0].sin() + x.row(i)[1]).collect();
    let auto = Auto { features: Some(64), metric: MetricChoice::None, ..Auto::default() };
    let engine = engine(1);
    let named = auto.fit(&engine, &(&x, &y)).unwrap().with_names(Columns::numbers(["a", "b"]), "y").unwrap();
    let unnamed = auto.fit(&engine, &(&x, &y)).unwrap();
    let info = |name: &str| ColumnInfo { name: name.to_owned(), kind: ColumnKind::Number };
    let (infos, mean) = ([info("a"), info("b")], named.encoder().scaling().unwrap().shift()[1]);
    let block = |b: Vec<f64>| Table {
        rows: 2,
        columns: vec![Column::Number(vec![0.5, -1.0]), Column::Number(b)],
        first_row: 70,
    };
    for model in [named, unnamed] {
        let decide = |b: Vec<f64>| model.decide_table(&engine, &block(b), &infos).unwrap();
        assert_eq!(decide(vec![f64::NAN, 2.0]), decide(vec![mean, 2.0]));
        assert_ne!(decide(vec![f64::NAN, 2.0]), decide(vec![0.0, 2.0]));
        let infinite = model.decide_table(&engine, &block(vec![1.0, f64::INFINITY]), &infos).unwrap_err();
        assert!(matches!(infinite, bochner::Error::NotFinite { row: 71, column: 1, .. }), "{infinite}");
    }
}

/// In single precision one cell of 10¹² takes the digits of a column that is standardised, and none of those of one that is ranked or squashed.
#[test]
fn an_outlier_spoils_the_standard_scaling_only() {
    let (spoilt, clean) = (tables(1, Some(1e12)), tables(2, None));
    let left_out = ["flag", "colour", "day", "text", "place"];
    let variance = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64
    };
    let spread = |scaling| variance(&decide(&fit(&engine(1), &spoilt, scaling, &left_out), &clean));
    assert!(spread(ColumnScaling::Standard) < 0.05, "{}", spread(ColumnScaling::Standard));
    assert!(spread(ColumnScaling::Quantile) > 0.5, "{}", spread(ColumnScaling::Quantile));
    assert!(spread(ColumnScaling::Robust) > 0.5, "{}", spread(ColumnScaling::Robust));
}

/// The order of rows changes no choice: the same columns, and the same predictions but for the last bits of sums.
#[test]
fn the_order_of_rows_does_not_matter() {
    let forward = tables(1, None);
    let block = &forward.blocks()[0];
    let backward = block.chosen(&(0..ROWS).rev().collect::<Vec<_>>());
    let backward = MemoryTables::new(forward.columns().to_vec(), vec![backward]).unwrap();
    for scaling in SCALINGS {
        let [a, b] = [&forward, &backward].map(|tables| fit(&engine(1), tables, scaling, &[]));
        assert_eq!(a.encoder().columns(), b.encoder().columns(), "{scaling:?}");
        let fresh = tables(2, None);
        let difference = bochner_testkit::max_difference(&decide(&a, &fresh), &decide(&b, &fresh));
        assert!(difference < 1e-4, "{scaling:?}: {difference}");
    }
}

/// A weight of k is the row k times, and 0 a row that is not there: for what columns of every kind become, and all that follows.
#[test]
fn weight_equals_repetition() {
    let all = tables(1, None);
    let block = &all.blocks()[0];
    // Some of what is in rows of weight 0 is nowhere else.
    let mut columns = block.columns.clone();
    let (nowhere, empty) = ([Some("purple"), None], [None; 2]);
    let mut at = |j: usize, column: Column| {
        let chosen: Vec<usize> = (0..ROWS).collect();
        let mut with = Column::empty(column.kind());
        assert!(with.append(&column.chosen(&[0])) && with.append(&columns[j].chosen(&chosen[1..3])));
        assert!(with.append(&column.chosen(&[1])) && with.append(&columns[j].chosen(&chosen[4..])));
        columns[j] = with;
    };
    at(0, Column::Number(vec![1e9, f64::NEG_INFINITY]));
    at(2, Column::Category(nowhere.into_iter().collect()));
    at(3, Column::Date(vec![-900 * DAY, 9000 * DAY + 1]));
    at(4, Column::Text(empty.into_iter().collect()));
    at(6, Column::Category([Some("place of its own"), None].into_iter().collect()));
    let weighted = Table { columns, ..block.clone() };
    let repeated: Vec<usize> = (0..ROWS).flat_map(|i| std::iter::repeat_n(i, i % 3)).collect();
    let repeated = weighted.chosen(&repeated);
    let [weighted, repeated] =
        [weighted, repeated].map(|table| MemoryTables::new(all.columns().to_vec(), vec![table]).unwrap());
    let fresh = tables(2, None);
    for scaling in SCALINGS {
        let (a, b) = (
            fit_weighted(&engine(1), &weighted, scaling, &[], true),
            fit(&engine(1), &repeated, scaling, &[]),
        );
        assert_eq!(a.encoder().columns(), b.encoder().columns(), "{scaling:?}");
        let difference = bochner_testkit::max_difference(&decide(&a, &fresh), &decide(&b, &fresh));
        assert!(difference < 1e-4, "{scaling:?}: {difference}");
    }
}

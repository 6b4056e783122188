//! Columns of every kind: encoded, scaled, saved and read, alike in training and prediction.

use bochner::encode::{ColumnScaling, Columns, Inputs, Precision, TableProfile, TableRows, inputs, rows_of};
use bochner::table::{Column, ColumnInfo, ColumnKind, MISSING_DATE, MemoryTables, Table, TableSource};
use bochner::{AnyRows, Auto, Engine, Lambda, Matrix, MetricChoice, Model, Rows, Source};
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
    ];
    let (infos, columns) = columns.into_iter().unzip();
    MemoryTables::new(infos, vec![Table { rows: ROWS, columns, first_row: 0 }]).unwrap()
}

fn fit(engine: &Engine, tables: &MemoryTables, scaling: ColumnScaling, left_out: &[&str]) -> Model {
    let profile = TableProfile::read(engine, tables).unwrap().with_target(5).with_scaling(scaling);
    let Inputs { columns, .. } = inputs(None, &profile, left_out, &[], 0).unwrap();
    let rows = TableRows::new(engine, tables, columns, "y", None, Some(ROWS as u64)).unwrap();
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
        let model = fit(&engine(2), &tables, scaling, &["y"]);
        let bytes = model.to_bytes().unwrap();
        let read = Model::from_bytes(&bytes).unwrap();
        assert_eq!(read.encoder(), model.encoder(), "{scaling:?}");
        assert_eq!(decide(&read, &other), decide(&model, &other), "{scaling:?}");
        assert_eq!(read.to_bytes().unwrap(), bytes, "{scaling:?}");
        assert_eq!(fit(&engine(1), &tables, scaling, &["y"]).to_bytes().unwrap(), bytes, "{scaling:?}");
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

/// What is learnt from is what is predicted from, bit for bit.
#[test]
fn rows_are_the_same_in_training_and_prediction() {
    let (engine, tables) = (engine(2), tables(1, None));
    for scaling in SCALINGS {
        let model = fit(&engine, &tables, scaling, &["y"]);
        let read = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        let columns = model.encoder().columns().clone();
        let source = TableRows::new(&engine, &tables, columns, "y", None, None).unwrap();
        let mut batches = source.open().unwrap();
        let batch = batches.next(ROWS).unwrap().unwrap();
        let AnyRows::F64(trained) = batch.rows else { panic!("rows of tables are double") };
        let positions = read.encoder().columns().positions(tables.columns()).unwrap();
        let rows = rows_of(&engine, &tables.blocks()[0], read.encoder().columns(), &positions).unwrap();
        assert_eq!(dense(&trained), dense(&rows.view()), "{scaling:?}");
    }
}

fn dense(rows: &Rows<'_, f64>) -> Vec<u64> {
    let mut row = vec![0.0; rows.columns()];
    (0..rows.count())
        .flat_map(|i| {
            rows.densify(i, &mut row);
            row.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
        })
        .collect()
}

/// In single precision one cell of 10¹² takes the digits of a column that is standardised, and none of those of one that is ranked or squashed.
#[test]
fn an_outlier_spoils_the_standard_scaling_only() {
    let (spoilt, clean) = (tables(1, Some(1e12)), tables(2, None));
    let left_out = ["flag", "colour", "day", "text", "y"];
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
        let [a, b] = [&forward, &backward].map(|tables| fit(&engine(1), tables, scaling, &["y"]));
        assert_eq!(a.encoder().columns(), b.encoder().columns(), "{scaling:?}");
        let fresh = tables(2, None);
        let difference = bochner_testkit::max_difference(&decide(&a, &fresh), &decide(&b, &fresh));
        assert!(difference < 1e-4, "{scaling:?}: {difference}");
    }
}

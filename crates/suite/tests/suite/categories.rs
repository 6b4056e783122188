//! Categories of many levels, encoded by the target, and rows in groups.

use bochner::encode::{Encoding, TableProfile, TableRows, inputs};
use bochner::table::{CategoryColumn, Column, ColumnInfo, ColumnKind, MemoryTables, Table};
use bochner::{Auto, Engine, Lambda, MetricChoice, Model, Uncertainty};
use bochner_testkit::Chance;

use crate::table::engine;

/// A level, a number and a target; the group of each row.
struct Data {
    levels: Vec<String>,
    x: Vec<f64>,
    y: Vec<f64>,
    groups: Vec<String>,
}

impl Data {
    fn tables(&self) -> MemoryTables {
        let info = |name: &str, kind| ColumnInfo { name: name.to_owned(), kind };
        let cells =
            |cells: &[String]| -> CategoryColumn { cells.iter().map(|cell| Some(cell.as_str())).collect() };
        let columns = vec![
            Column::Category(cells(&self.levels)),
            Column::Number(self.x.clone()),
            Column::Number(self.y.clone()),
            Column::Category(cells(&self.groups)),
        ];
        let infos = vec![
            info("level", ColumnKind::Category),
            info("x", ColumnKind::Number),
            info("y", ColumnKind::Number),
            info("group", ColumnKind::Category),
        ];
        MemoryTables::new(infos, vec![Table { rows: self.y.len(), columns, first_row: 0 }]).unwrap()
    }

    /// The variance of the targets.
    fn variance(&self) -> f64 {
        let n = self.y.len() as f64;
        let mean = self.y.iter().sum::<f64>() / n;
        self.y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / n
    }
}

/// Levels say nothing, `x` neither: y is noise.
fn noise(rows: usize, levels: usize, seed: u64) -> Data {
    let mut chance = Chance::new(seed);
    let mut data = Data { levels: vec![], x: vec![], y: vec![], groups: vec![] };
    for i in 0..rows {
        data.levels.push(format!("level {}", chance.below(levels)));
        data.x.push(chance.normal());
        data.y.push(chance.normal());
        data.groups.push(format!("{}", i % 50));
    }
    data
}

/// Each level has a mean of its own, of variance 1; noise of variance 1/4.
fn signal(rows: usize, levels: usize, seed: u64) -> Data {
    let mut of_level = Chance::new(99);
    let means: Vec<f64> = (0..levels).map(|_| of_level.normal()).collect();
    let mut chance = Chance::new(seed);
    let mut data = noise(rows, levels, seed);
    for i in 0..rows {
        let level = chance.below(levels);
        data.levels[i] = format!("level {level}");
        data.y[i] = means[level] + 0.5 * chance.normal();
    }
    data
}

fn auto() -> Auto {
    Auto { features: Some(128), metric: MetricChoice::None, seed: 3, ..Auto::default() }
}

fn fit_with(auto: &Auto, engine: &Engine, data: &Data, is_grouped: bool, by_target: bool) -> Model {
    let tables = data.tables();
    let profile = TableProfile::read(engine, &tables).unwrap();
    let profile = if by_target { profile.with_target(2) } else { profile };
    let columns = inputs(None, &profile, &["y", "group"], &[], 3).unwrap().columns;
    let rows = TableRows::new(engine, &tables, columns, "y", None, Some(data.y.len() as u64)).unwrap();
    let rows = if is_grouped { rows.grouped("group").unwrap() } else { rows };
    auto.fit_table(engine, &rows).unwrap()
}

fn fit(data: &Data) -> Model {
    fit_with(&auto(), &engine(2), data, false, true)
}

/// The error that the model reports, as a part of the variance.
fn validated(model: &Model, data: &Data) -> f64 {
    let errors = &model.training().unwrap().fold_errors;
    errors.iter().sum::<f64>() / errors.len() as f64 / data.variance()
}

/// The mean squared error on other rows, as a part of their variance.
fn error(model: &Model, data: &Data) -> f64 {
    let (engine, tables) = (engine(1), data.tables());
    let mut sum = 0.0;
    for block in tables.blocks() {
        let outputs =
            model.decide_table(&engine, block, bochner::table::TableSource::columns(&tables)).unwrap();
        let first = block.first_row as usize;
        sum += outputs.as_slice().iter().zip(&data.y[first..]).map(|(f, y)| (f - y).powi(2)).sum::<f64>();
    }
    sum / data.y.len() as f64 / data.variance()
}

/// The same with the level replaced by the mean of its targets over all rows: the mistake that folds are there to avoid.
fn with_means_of_all_rows(data: &Data) -> Data {
    let mut x = Vec::new();
    for level in &data.levels {
        let of_level = data.levels.iter().zip(&data.y).filter(|(other, _)| *other == level).map(|(_, y)| *y);
        let (count, sum) = of_level.fold((0.0, 0.0), |(count, sum), y| (count + 1.0, sum + y));
        x.push(sum / count);
    }
    let levels = vec!["same".to_owned(); x.len()];
    Data { levels, x, y: data.y.clone(), groups: data.groups.clone() }
}

/// Of noise nothing is explained: the error that is reported is the variance, within five of its standard errors, √(2/1,500) each
/// (1,500 rows are validated). One false alarm in 10⁶. Means over all rows explain a tenth of it: the test has power.
#[test]
fn levels_say_nothing_of_noise() {
    let data = noise(3000, 300, 1);
    let model = fit(&data);
    let radius = 5.0 * (2.0 / 1500.0f64).sqrt();
    let honest = validated(&model, &data);
    assert!(honest > 1.0 - radius / 3.0 && honest < 1.0 + radius, "{honest}");
    assert!(error(&model, &noise(3000, 300, 2)) < 1.0 + radius);
    let mutant = with_means_of_all_rows(&data);
    let leaking = validated(&fit_with(&auto(), &engine(2), &mutant, false, false), &data);
    assert!(leaking < 1.0 - radius / 3.0, "the test has no power: {leaking}");
    // With sixty levels, as with three hundred.
    let data = noise(3000, 60, 4);
    let honest = validated(&fit(&data), &data);
    assert!(honest > 1.0 - radius / 3.0 && honest < 1.0 + radius, "{honest}");
}

/// Ten rows a level: the noise leaves 0.2 of the variance, the unknown means 0.2·0.25/(0.25 + 10⁻¹·…) more; rare levels in one column leave most of it.
#[test]
fn levels_that_say_something_are_learnt() {
    let data = signal(4000, 200, 1);
    let model = fit(&data);
    let Encoding::Target(encoding) = &model.encoder().columns().inputs()[0].encoding else {
        panic!("not by target")
    };
    assert_eq!(encoding.levels(), 200);
    let fresh = signal(4000, 200, 2);
    let found = error(&model, &fresh);
    assert!(found < 0.25, "{found}");
    assert!((validated(&model, &data) - found).abs() < 0.05, "{} {found}", validated(&model, &data));
    let pooled = error(&fit_with(&auto(), &engine(2), &data, false, false), &fresh);
    assert!(pooled > 0.5, "{pooled}");
}

/// Levels that training has not seen are what all rows are on average.
#[test]
fn new_levels_have_the_mean_of_all() {
    let data = signal(4000, 200, 1);
    let model = fit(&data);
    let mut other = signal(500, 200, 5);
    other.levels.iter_mut().for_each(|level| *level = format!("new {level}"));
    let (engine, tables) = (engine(1), other.tables());
    let columns = bochner::table::TableSource::columns(&tables);
    let outputs = model.decide_table(&engine, &tables.blocks()[0], columns).unwrap();
    let furthest = outputs.as_slice().iter().fold(0.0, |most: f64, f| most.max(f.abs()));
    assert!(furthest < 1.0, "{furthest}");
}

#[test]
fn the_model_is_the_same_on_any_threads_and_after_saving() {
    let data = signal(3000, 150, 1);
    let bytes = |threads| fit_with(&auto(), &engine(threads), &data, false, true).to_bytes().unwrap();
    let one = bytes(1);
    assert_eq!(one, bytes(3));
    let (before, after) = (fit(&data), Model::from_bytes(&one).unwrap());
    let (engine, tables) = (engine(1), signal(300, 150, 6).tables());
    let columns = bochner::table::TableSource::columns(&tables);
    let decide = |model: &Model| model.decide_table(&engine, &tables.blocks()[0], columns).unwrap();
    assert_eq!(decide(&before), decide(&after));
    assert_eq!(after.to_bytes().unwrap(), one);
}

/// The rows of a group have one target, and nothing else says it: with rows of a group on both sides of a fold the level looks as if it
/// did; with groups in one fold it does not.
#[test]
fn groups_stay_together() {
    let mut chance = Chance::new(7);
    let (groups, each) = (300, 10);
    let mut data = Data { levels: vec![], x: vec![], y: vec![], groups: vec![] };
    for group in 0..groups {
        let (y, x) = (chance.normal(), chance.normal());
        for _ in 0..each {
            data.levels.push(format!("doctor of {group}"));
            data.x.push(x + 1e-3 * chance.normal());
            data.y.push(y);
            data.groups.push(format!("patient {group}"));
        }
    }
    let apart = fit_with(&auto(), &engine(2), &data, false, true);
    let together = fit_with(&auto(), &engine(2), &data, true, true);
    assert!(validated(&apart, &data) < 0.2, "{}", validated(&apart, &data));
    // 150 groups are validated: five standard errors of their mean square.
    let honest = validated(&together, &data);
    assert!((0.7..1.0 + 5.0 * (2.0 / 150.0f64).sqrt()).contains(&honest), "{honest}");
}

/// Rows that are held out for intervals have no part in what the levels mean: intervals cover new rows as promised.
#[test]
fn intervals_cover_rows_of_many_levels() {
    let data = signal(3000, 200, 1);
    let uncertainty = Uncertainty { held_out: Some(0.3), ..Uncertainty::default() };
    let auto = Auto { uncertainty, lambda: Lambda::Given { value: 1e-4 }, ..auto() };
    let model = fit_with(&auto, &engine(2), &data, false, true);
    let fresh = signal(3000, 200, 8);
    let (engine, tables) = (engine(1), fresh.tables());
    let columns = bochner::table::TableSource::columns(&tables);
    let found = model.intervals_table(&engine, &tables.blocks()[0], columns, 0.9).unwrap();
    let ends = found.lower.as_slice().iter().zip(found.upper.as_slice());
    let covered = ends.zip(&fresh.y).filter(|((a, b), y)| (*a..=*b).contains(y)).count() as f64 / 3000.0;
    // 900 rows held out: the coverage is Beta-distributed with a standard deviation of 0.01, and counted on 3,000 rows.
    assert!((0.84..0.96).contains(&covered), "{covered}");
}

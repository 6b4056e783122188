//! Categories of many levels, encoded by the target, and rows in groups.

use bochner::encode::{Encoding, TableProfile, TableRows, inputs};
use bochner::table::{CategoryColumn, Column, ColumnInfo, ColumnKind, MemoryTables, Table};
use bochner::{Auto, Engine, EngineSpec, Lambda, MetricChoice, Model, Uncertainty};
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
    try_fit(auto, engine, data, is_grouped, by_target).unwrap()
}

fn try_fit(
    auto: &Auto,
    engine: &Engine,
    data: &Data,
    is_grouped: bool,
    by_target: bool,
) -> bochner::Result<Model> {
    let tables = data.tables();
    let profile = TableProfile::read(engine, &tables).unwrap();
    let profile = if by_target { profile.with_target(2) } else { profile };
    let columns = inputs(None, &profile, &["y", "group"], &[], 3).unwrap().columns;
    let rows = TableRows::new(engine, &tables, columns, "y", None, Some(data.y.len() as u64)).unwrap();
    let rows = if is_grouped { rows.grouped("group").unwrap() } else { rows };
    auto.fit_table(engine, &rows)
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

/// Of noise nothing is explained: the error that is reported is the variance, within five of its standard errors, √(2/1,500) each
/// (1,500 rows are validated). One false alarm in 10⁶. `learn/auto/table.rs` has the mutant.
#[test]
fn levels_say_nothing_of_noise() {
    let radius = 5.0 * (2.0 / 1500.0f64).sqrt();
    for (levels, seed) in [(300, 1), (60, 4)] {
        let data = noise(3000, levels, seed);
        let model = fit(&data);
        let honest = validated(&model, &data);
        assert!(honest > 1.0 - radius / 3.0 && honest < 1.0 + radius, "{honest}");
        assert!(error(&model, &noise(3000, levels, seed + 1)) < 1.0 + radius);
    }
}

/// Levels that say nothing do not spoil what another column says: the final fit has no dimension that the search has not seen.
#[test]
fn noise_levels_leave_the_signal() {
    let data = |seed| {
        let mut chance = Chance::new(100 + seed);
        let mut data = noise(3000, 60, seed);
        for (x, y) in data.x.iter_mut().zip(&mut data.y) {
            *x = chance.uniform();
            *y = (10.0 * *x).sin() + 0.1 * chance.normal();
        }
        data
    };
    let (train, fresh) = (data(1), data(2));
    let auto = Auto { metric: MetricChoice::Diagonal, ..auto() };
    let model = fit_with(&auto, &engine(2), &train, false, true);
    let mut constant = data(1);
    constant.levels.iter_mut().for_each(|level| *level = "same".to_owned());
    let without = error(&fit_with(&auto, &engine(2), &constant, false, true), &fresh);
    let (found, told) = (error(&model, &fresh), validated(&model, &train));
    assert!(found < 1.5 * without && found < 1.2 * told && told < 1.5 * without, "{found} {told} {without}");
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

/// Rows that are held out for intervals have no part in what the levels mean: intervals cover new rows as promised. With three rows a
/// level, a row that had a part would be a third of what its level means.
#[test]
fn intervals_cover_rows_of_many_levels() {
    let data = signal(3000, 1000, 1);
    let uncertainty = Uncertainty { held_out: Some(0.3), ..Uncertainty::default() };
    let auto = Auto { uncertainty, lambda: Lambda::Given { value: 1e-4 }, ..auto() };
    let model = fit_with(&auto, &engine(2), &data, false, true);
    let fresh = signal(3000, 1000, 8);
    let (engine, tables) = (engine(1), fresh.tables());
    let columns = bochner::table::TableSource::columns(&tables);
    let found = model.intervals_table(&engine, &tables.blocks()[0], columns, 0.9).unwrap();
    let ends = found.lower.as_slice().iter().zip(found.upper.as_slice());
    let covered = ends.zip(&fresh.y).filter(|((a, b), y)| (*a..=*b).contains(y)).count() as f64 / 3000.0;
    // 900 rows held out: the coverage is Beta-distributed with a standard deviation of 0.01, and counted on 3,000 rows.
    assert!((0.85..0.95).contains(&covered), "{covered}");
}

/// Groups that are few are dealt to both halves of the search; too few are refused, by the name of their column.
#[test]
fn few_groups_are_on_both_sides() {
    for groups in [8, 9, 12] {
        let mut data = signal(1000, 100, 1);
        data.groups = (0..1000).map(|i| format!("site {}", i % groups)).collect();
        let model = fit_with(&auto(), &engine(2), &data, true, true);
        let found = validated(&model, &data);
        assert!(found < 0.6, "{found} with {groups} groups");
    }
    let mut data = signal(1000, 100, 1);
    data.groups = (0..1000).map(|i| format!("site {}", i % 3)).collect();
    let error = try_fit(&auto(), &engine(2), &data, true, true).unwrap_err().to_string();
    assert!(error.contains("3 groups in column \"group\"") && error.contains("8 groups"), "{error}");
}

/// A group is what its cell says, without spaces around it; a cell that says that it is missing names none.
#[test]
fn groups_are_told_by_what_is_written() {
    let mut data = signal(1000, 100, 1);
    let bytes = |data: &Data| fit_with(&auto(), &engine(2), data, true, true).to_bytes().unwrap();
    data.groups = (0..1000).map(|i| if i % 5 == 0 { String::new() } else { format!("{}", i % 70) }).collect();
    let plain = bytes(&data);
    for (i, group) in data.groups.iter_mut().enumerate() {
        *group = if group.is_empty() { ["NA", " ", "null"][i % 3].to_owned() } else { format!(" {group} ") };
    }
    assert!(bytes(&data) == plain);
}

/// What a column of few levels takes is charged, not what one of 100,000 would.
#[test]
fn known_levels_are_charged() {
    let data = signal(1000, 50, 1);
    let tables = data.tables();
    let block = &tables.blocks()[0];
    let info = |name: String, kind| ColumnInfo { name, kind };
    let mut infos: Vec<ColumnInfo> =
        (0..30).map(|j| info(format!("level {j}"), ColumnKind::Category)).collect();
    let mut columns = vec![block.columns[0].clone(); 30];
    infos.push(info("y".to_owned(), ColumnKind::Number));
    columns.push(block.columns[2].clone());
    let tables = MemoryTables::new(infos, vec![Table { rows: 1000, columns, first_row: 0 }]).unwrap();
    let engine = EngineSpec { threads: 2, memory_limit: Some(256 << 20), ..EngineSpec::default() }.build();
    let profile = TableProfile::read(&engine, &tables).unwrap().with_target(30);
    let columns = inputs(None, &profile, &["y"], &[], 3).unwrap().columns;
    assert!(columns.inputs().iter().all(|input| matches!(input.encoding, Encoding::Target(_))));
    let rows = TableRows::new(&engine, &tables, columns, "y", None, Some(1000)).unwrap();
    let (kernel, lambda) = ("gaussian(sigma=5)".parse().unwrap(), Lambda::Given { value: 1e-3 });
    Auto { kernel, lambda, ..auto() }.fit_table(&engine, &rows).unwrap();
}

/// A category that is encoded by three classes has a column for each and one for its frequency: what stands behind it is column 4.
#[test]
fn kernels_find_the_columns_behind_such_a_category() {
    let (engine, data) = (engine(1), noise(1000, 60, 1));
    let profile = TableProfile::read(&engine, &data.tables()).unwrap().with_target(2);
    let kernel = "gaussian(sigma=1)[x] + gaussian(sigma=2)[level]".parse().unwrap();
    for (outputs, place) in [(1, "[2]"), (3, "[4]")] {
        let profile = profile.clone().with_outputs(outputs);
        let found = inputs(Some(&kernel), &profile, &["y", "group"], &[], 3).unwrap();
        let kernel = found.kernel.unwrap().to_string();
        assert!(kernel.contains(&format!("gaussian(sigma=1){place}")), "{kernel}");
    }
}

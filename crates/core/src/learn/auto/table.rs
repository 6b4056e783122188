//! A fit to a table, whose categories of many levels are encoded by the target (`encode/target.rs`).
//!
//! ```text
//! pass     sums of the targets for each level and fold
//! search   on half of the rows, with what the other half says of the levels: kernel, metric, D, λ, and the error that is reported
//! fit      with what was found, on all rows, each encoded by the folds that it is not in
//! ```
//! Without such a column it is [`Auto::fit`].

use super::Auto;
use crate::encode::{Learning, TableRows};
use crate::learn::tune::Enough;
use crate::model::Training;
use crate::source::Source;
use crate::{Engine, Lambda, Model, Result, Uncertainty};

impl Auto {
    /// Fits to the rows of a table. The model knows its columns by name, and how they are encoded.
    pub fn fit_table(&self, engine: &Engine, rows: &TableRows<'_>) -> Result<Model> {
        self.fit_table_from(engine, rows, None)
    }

    /// The same, from the coefficients of another model on, as [`Auto::fit_from`].
    pub fn fit_table_from(
        &self,
        engine: &Engine,
        rows: &TableRows<'_>,
        start: Option<&Model>,
    ) -> Result<Model> {
        self.uncertainty.check(self.loss, rows.target())?;
        let split = rows.split(self.seed, self.uncertainty.held_out_hash(self.seed))?;
        let Some(means) = rows.target_means(&split)? else {
            return self
                .fit_from(engine, rows, start)?
                .with_names(rows.columns().clone(), rows.target_name());
        };
        let learning = |is_search| rows.learnt_from(Learning { means: &means, split: &split, is_search });
        // Folds of the fit encode rows by each other's targets: probabilities, too, are those of the search.
        let calibrated = self.uncertainty.calibrates(self.loss, rows.target());
        let search =
            Auto { uncertainty: Uncertainty { calibrated, ..Uncertainty::default() }, ..self.clone() };
        let search = search.fit(engine, &learning(true))?;
        let calibration = search.calibration().filter(|_| calibrated);
        let model = self.as_found_by(&search).fit_calibrated(engine, &learning(false), start, calibration)?;
        let columns = rows.columns().clone().with_target_means(&means);
        model.validated_as(&search).with_names(columns, rows.target_name())
    }

    /// The same with everything as it was chosen in a search.
    fn as_found_by(&self, search: &Model) -> Auto {
        let Some(Training { lambda, plan, .. }) = search.training() else { return self.clone() };
        let found = match plan {
            // All rows are more than those that were searched: the kernel itself has another size.
            Some(plan) if plan.enough == Enough::Exact => {
                Auto { method: self.method, features: self.features, ..plan.fit.clone() }
            }
            Some(plan) => plan.fit.clone(),
            None => self.clone(),
        };
        Auto { lambda: Lambda::Given { value: *lambda }, uncertainty: self.uncertainty, ..found }
    }
}

impl Model {
    /// The same with the errors, and what was tried, of the model that was searched with: rows that are encoded by each other's targets
    /// cannot judge themselves.
    fn validated_as(self, search: &Model) -> Model {
        let Some(Training { curve, folds, fold_errors, plan, .. }) = search.training() else { return self };
        self.with_training(|training| {
            training.curve.clone_from(curve);
            training.fold_errors.clone_from(fold_errors);
            training.folds = *folds;
            if let (Some(own), Some(found)) = (&mut training.plan, plan) {
                own.trials.clone_from(&found.trials);
                if found.enough != Enough::Exact {
                    own.enough = found.enough;
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use bochner_testkit::Chance;

    use super::*;
    use crate::encode::{AnyOwned, Encoding, Precision, TableProfile, inputs, rows_of};
    use crate::source::Target;
    use crate::table::{Column, ColumnInfo, ColumnKind, MISSING_DATE, MemoryTables, Table, TableSource};
    use crate::{
        AnyRows, Kernel, KernelChoice, LabelKind, Labels, MatrixView, MetricChoice, OwnedRows, Rows, Source,
    };

    /// Levels of so many rows each, and a number; the target is beside them.
    fn levels(count: usize, each: usize, seed: u64) -> MemoryTables {
        let mut chance = Chance::new(seed);
        let levels: Vec<String> =
            (0..count * each).map(|_| format!("level {}", chance.below(count))).collect();
        // A number that hardly varies makes the rows distinct: folds are of what is in them.
        let columns = vec![
            Column::Category(levels.iter().map(|level| Some(level.as_str())).collect()),
            Column::Number((0..levels.len()).map(|i| if i == 0 { 1e9 } else { i as f64 }).collect()),
        ];
        let infos = [("level", ColumnKind::Category), ("row", ColumnKind::Number)];
        let infos = infos.map(|(name, kind)| ColumnInfo { name: name.to_owned(), kind });
        let table = Table { rows: levels.len(), columns, first_row: 0 };
        MemoryTables::new(infos.to_vec(), vec![table]).unwrap()
    }

    fn rows<'a>(engine: &'a Engine, tables: &'a MemoryTables, y: &'a [f64], target: Target) -> TableRows<'a> {
        let profile = TableProfile::read(engine, tables).unwrap().with_target_beside();
        let columns = inputs(None, &profile, &[], &[], 0).unwrap().columns;
        let view = MatrixView::new(y, y.len(), 1).unwrap();
        TableRows::without_target(engine, tables, columns).unwrap().beside("y", view, None, target).unwrap()
    }

    fn auto() -> Auto {
        Auto { features: Some(64), metric: MetricChoice::None, seed: 3, ..Auto::default() }
    }

    fn validated(model: &Model) -> f64 {
        let errors = &model.training().unwrap().fold_errors;
        errors.iter().sum::<f64>() / errors.len() as f64
    }

    /// What is explained of the targets of rows that are validated, on noise in so many levels; by a search, and by one on the folds of
    /// the fit. Of seeds for which levels look as if they said something: otherwise all have one value.
    fn explained(count: usize, each: usize, seeds: usize) -> Vec<[f64; 2]> {
        let (engine, tables) = (Engine::default(), levels(count, each, 1));
        let of_seed = |seed| {
            let mut chance = Chance::new(seed);
            let y: Vec<f64> = (0..count * each).map(|_| chance.normal()).collect();
            let rows = rows(&engine, &tables, &y, Target::Numbers { outputs: 1 });
            let split = rows.split(3, None).unwrap();
            let means = rows.target_means(&split).unwrap().unwrap();
            let says_nothing = means[0].as_ref().unwrap().encoding().values.row(0)[0].to_bits() == 0;
            (!says_nothing).then(|| {
                [true, false].map(|is_search| {
                    let learning = Learning { means: &means, split: &split, is_search };
                    let model = auto().fit(&engine, &rows.learnt_from(learning)).unwrap();
                    let curve = &model.training().unwrap().curve;
                    let constant = curve.iter().max_by(|a, b| a.lambda.total_cmp(&b.lambda)).unwrap();
                    1.0 - validated(&model) / constant.error
                })
            })
        };
        (1..).filter_map(of_seed).take(seeds).collect()
    }

    /// Of noise a search explains nothing. One on the folds of the fit, where a row that is validated has a part in the encoding of the
    /// others, does.
    #[test]
    fn nothing_is_found_in_noise() {
        let found = explained(60, 25, 4);
        let [honest, leaking] = [0, 1].map(|at| found.iter().map(|of| of[at]).sum::<f64>() / 4.0);
        assert!(honest < 0.01, "{honest}");
        assert!(leaking > honest + 0.01, "the test has no power: {leaking}");
    }

    /// What is reported, and the probabilities, are those of the search.
    #[test]
    fn what_is_said_of_a_model_is_found_in_the_search() {
        let (engine, tables, mut chance) = (Engine::default(), levels(60, 25, 1), Chance::new(2));
        let Column::Category(places) = &tables.blocks()[0].columns[0] else { panic!("levels") };
        let says = |i: usize| places.codes[i] % 2 == 0;
        let y = (0..1500).map(|i| f64::from(u8::from(says(i) == (chance.below(4) > 0))));
        let y: Vec<f64> = y.collect();
        let labels = Labels::new(LabelKind::Text, vec!["a".to_owned(), "b".to_owned()]);
        let rows = rows(&engine, &tables, &y, Target::Classes { labels });
        let uncertainty = Uncertainty { calibrated: true, ..Uncertainty::default() };
        let auto = Auto { uncertainty, ..auto() };
        let split = rows.split(3, None).unwrap();
        let means = rows.target_means(&split).unwrap().unwrap();
        let [search, fit] = [true, false].map(|is_search| {
            let learning = Learning { means: &means, split: &split, is_search };
            auto.fit(&engine, &rows.learnt_from(learning)).unwrap()
        });
        for held_out in [None, Some(0.2)] {
            let uncertainty = Uncertainty { held_out, ..uncertainty };
            let model = Auto { uncertainty, ..auto.clone() }.fit_table(&engine, &rows).unwrap();
            assert!(model.calibration().is_some() && model.calibration() != fit.calibration());
            if held_out.is_none() {
                assert_eq!(model.calibration(), search.calibration());
                assert_eq!(model.training().unwrap().fold_errors, search.training().unwrap().fold_errors);
            }
        }
    }

    /// A column of each kind with missing cells; levels of five rows each.
    fn mixed() -> MemoryTables {
        const ROWS: usize = 300;
        let mut chance = Chance::new(4);
        let mut missing = || chance.below(10) == 0;
        let number = (0..ROWS).map(|i| if missing() { f64::NAN } else { (i as f64 / 40.0).exp() }).collect();
        let flag = (0..ROWS).map(|i| (!missing()).then_some(i % 7 < 3)).collect();
        let colours = (0..ROWS).map(|i| (!missing()).then_some(["red", "green", "blue"][i % 3]));
        let colours = Column::Category(colours.collect());
        let day = |i: usize| i as i64 * 86_400_000_000_000;
        let days = (0..ROWS).map(|i| if missing() { MISSING_DATE } else { day(i) }).collect();
        let places: Vec<String> = (0..ROWS).map(|i| format!("place {}", i * 7 % 60)).collect();
        let places = Column::Category(places.iter().map(|place| Some(place.as_str())).collect());
        let columns = vec![
            ("number", Column::Number(number)),
            ("flag", Column::Boolean(flag)),
            ("colour", colours),
            ("day", Column::Date(days)),
            ("place", places),
        ];
        let info =
            |(name, column): &(&str, Column)| ColumnInfo { name: (*name).to_owned(), kind: column.kind() };
        let infos = columns.iter().map(info).collect();
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        MemoryTables::new(infos, vec![Table { rows: ROWS, columns, first_row: 0 }]).unwrap()
    }

    fn bits(rows: &AnyOwned) -> Vec<Vec<u64>> {
        let bits = |x: f64| (x + 0.0).to_bits();
        match rows {
            AnyOwned::F32(OwnedRows::Dense(rows)) => {
                (0..rows.rows()).map(|i| rows.row(i).iter().map(|&x| bits(f64::from(x))).collect()).collect()
            }
            _ => panic!("rows are dense, and single"),
        }
    }

    /// The kernel itself has every row that was learnt from as a landmark: these are the rows that are predicted from, scaled, in the
    /// model's precision, bit for bit, but for the means of the target, of which a row that is learnt from leaves out its own fold.
    #[test]
    fn rows_are_the_same_in_training_and_prediction() {
        let (engine, tables, mut chance) = (Engine::default(), mixed(), Chance::new(5));
        let y: Vec<f64> = (0..300).map(|i| (i * 7 % 60 % 4) as f64 + chance.normal()).collect();
        let rows = rows(&engine, &tables, &y, Target::Numbers { outputs: 1 });
        let (kernel, lambda) = (KernelChoice::Given(Kernel::gaussian(1.0)), Lambda::Given { value: 1e-3 });
        let precision = Some(Precision::Single);
        let auto = Auto { kernel, lambda, precision, features: None, ..auto() };
        let model = auto.fit_table(&engine, &rows).unwrap();
        let plan = model.training().unwrap().plan.as_ref().unwrap();

        let (encoder, block) = (model.encoder(), &tables.blocks()[0]);
        let rounded = |rows: &Rows<'_, f64>| bits(&encoder.rounded(rows).unwrap());
        let positions = encoder.columns().positions(tables.columns()).unwrap();
        let new = rounded(&rows_of(&engine, block, encoder.columns(), &positions).unwrap().view());
        let split = rows.split(auto.seed, None).unwrap();
        let means = rows.target_means(&split).unwrap().unwrap();
        let learnt = rows.learnt_from(Learning { means: &means, split: &split, is_search: false });
        let mut batches = learnt.open().unwrap();
        let AnyRows::F64(trained) = batches.next(300).unwrap().unwrap().rows else {
            panic!("rows are double")
        };
        let trained = rounded(&trained);

        let seen: HashSet<&[u64]> = trained.iter().map(Vec::as_slice).collect();
        let landmarks = model.map().landmarks().unwrap();
        // Of all rows, not of the half that is searched.
        assert_eq!((plan.enough, plan.fit.features), (Enough::Exact, Some(seen.len())));
        assert!(seen.len() > 290 && landmarks.rows() > 290);
        for i in 0..landmarks.rows() {
            // Landmarks are sampled before rows are rounded.
            let row: Vec<u64> =
                landmarks.row(i).iter().map(|&x| (f64::from(x as f32) + 0.0).to_bits()).collect();
            assert!(seen.contains(row.as_slice()), "the learner saw another row {i}");
        }
        let layout = encoder.columns().layout();
        let by_target = |input: &crate::encode::Input| matches!(input.encoding, Encoding::Target(_));
        let at = encoder.columns().inputs().iter().position(by_target).unwrap();
        let mean = layout.places[at].scaled.start;
        let mut differ = 0;
        for (a, b) in trained.iter().zip(&new) {
            for j in 0..layout.total {
                assert!(a[j] == b[j] || j == mean, "column {j}");
            }
            differ += usize::from(a[mean] != b[mean]);
        }
        assert!(differ > 250, "{differ} rows leave out their fold");
    }
}

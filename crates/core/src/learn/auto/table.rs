//! A fit to a table, whose categories of many levels are encoded by the target (`encode/target.rs`).
//!
//! ```text
//! pass     sums of the targets for each level and fold
//! search   on half of the rows, with what the other half says of the levels: kernel, metric, D, λ, and the error that is reported
//! fit      with what was found, on all rows, each encoded by the folds that it is not in
//! ```
//! Without such a column it is [`Auto::fit`].

use super::Auto;
use crate::encode::{Learning, LearningSplit, TableRows};
use crate::model::Training;
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
        let split = LearningSplit::new(self.seed, self.uncertainty.held_out_hash(self.seed));
        let Some(means) = rows.target_means(&split)? else {
            return self
                .fit_from(engine, rows, start)?
                .with_names(rows.columns().clone(), rows.target_name());
        };
        let learning = |is_search| rows.learnt_from(Learning { means: &means, split: &split, is_search });
        let search = Auto { uncertainty: Uncertainty::default(), ..self.clone() };
        let search = search.fit(engine, &learning(true))?;
        let model = self.as_found_by(&search).fit_from(engine, &learning(false), start)?;
        let columns = rows.columns().clone().with_target_means(&means);
        model.validated_as(&search).with_names(columns, rows.target_name())
    }

    /// The same with everything as it was chosen in a search.
    fn as_found_by(&self, search: &Model) -> Auto {
        let Some(Training { lambda, plan, .. }) = search.training() else { return self.clone() };
        let found = plan.as_ref().map_or_else(|| self.clone(), |plan| plan.fit.clone());
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
                own.enough = found.enough;
            }
        })
    }
}

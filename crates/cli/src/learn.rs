//! What is learnt from a file, and how: what `fit` and `plan` share.
//!
//! ```text
//! before   what the columns are, where nothing was said of it
//! pass 0   what the target is, and how columns are encoded; blocks are kept while they fit a quarter of the memory
//! then     bochner::Auto on those blocks, or on the file again
//! ```

use std::path::{Path, PathBuf};
use std::time::Instant;

use bochner::encode::{
    ColumnScaling, Columns, Decided, Declared, Inputs, Remark, TableProfile, TableRows, Task,
};
use bochner::json::Json;
use bochner::plan::RidgeShape;
use bochner::sweep::BLOCK;
use bochner::table::{Column, ColumnInfo, ColumnKind, TableSource, position};
use bochner::{Auto, Engine, Error, Event, Kernel, KernelChoice, Lambda, Method, Model, Uncertainty};
use bochner_io::{Known, Options};

use crate::args::{LearnArgs, RunArgs};
use crate::cached::Cached;
use crate::data::{Digits, Wanted};
use crate::exit::Failure;
use crate::schema::Roles;
use crate::target::TargetPass;
use crate::{data, map, text};

/// What is to be done, checked as far as it can be without the file.
pub(crate) struct Job {
    pub(crate) data: PathBuf,
    pub(crate) options: Options,
    /// What was said of the columns.
    pub(crate) roles: Roles,
    pub(crate) recipe: Recipe,
    pub(crate) max_memory: Option<u64>,
    pub(crate) run: RunArgs,
    /// The words for what was noticed.
    pub(crate) say: fn(&Remark) -> String,
}

/// How a model is learnt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recipe {
    pub(crate) auto: Auto,
    pub(crate) task: Task,
    /// How texts become numbers.
    pub(crate) declared: Vec<Declared>,
}

/// A model, and what was found of the file that it was learnt from.
pub(crate) struct Learnt {
    pub(crate) model: Model,
    pub(crate) pass: TargetPass,
    pub(crate) decided: Decided,
    /// Columns that were not learnt from, though nobody said so.
    pub(crate) left_out: Vec<String>,
}

/// A file of whose target a pass has been made.
pub(crate) struct Opened {
    tables: Cached,
    options: Options,
    target: String,
    weight: Option<String>,
    group: Option<String>,
    /// For the rows of this file.
    pub(crate) recipe: Recipe,
    pub(crate) columns: Columns,
    /// Columns that are not learnt from, though nobody said so.
    left_out: Vec<String>,
    pub(crate) pass: TargetPass,
    pub(crate) decided: Decided,
    /// Seconds that the pass took.
    seconds: f64,
}

impl Job {
    pub(crate) fn check(args: LearnArgs) -> Result<Job, Failure> {
        let auto = match &args.plan {
            Some(path) => replayed(path)?,
            None => Auto {
                kernel: args.kernel,
                method: map::method(&args.made)?,
                features: args.features,
                loss: args.loss,
                tolerance: None,
                budget: args.budget,
                solver: args.solver,
                metric: args.metric,
                seed: args.seed,
                lambda: match (args.lambda, args.folds) {
                    (Some(value), _) => Lambda::Given { value },
                    (None, folds) => Lambda::CrossValidated { folds: folds.map_or(5, usize::from) },
                },
                precision: Some(args.precision.into()),
                standardise: !args.no_standardise,
                scaling: args.scaling.into(),
                uncertainty: Uncertainty {
                    deviation: args.doubt.deviation,
                    held_out: args.doubt.held_out,
                    calibrated: args.doubt.calibrate,
                },
            },
        };
        let recipe = Recipe { auto, task: args.task.into(), declared: args.sequence };
        recipe.check()?;
        let roles = Roles {
            target: args.target,
            weight: args.weight,
            group: args.group,
            ids: args.id,
            ignored: args.ignore,
            kinds: args.kind.into_iter().map(|(name, kind)| (name, Known::Kind(kind))).collect(),
        };
        let mut roles = roles.with_schema(args.schema.as_deref())?;
        let (data, options) = data::find(&args.data, &args.read)?;
        let mut options = Options { width: args.width, ..options };
        roles.target = data::target_column(roles.target.take(), &mut options);
        let job = Job {
            options,
            data,
            roles,
            recipe,
            max_memory: args.max_memory,
            run: args.run,
            say: data::advised,
        };
        job.checked()
    }

    /// The same job, if it makes sense.
    pub(crate) fn checked(self) -> Result<Job, Failure> {
        self.recipe.check()?;
        if self.roles.ignored.iter().any(|name| Some(name) == self.roles.target.as_ref()) {
            return Err(Failure::Usage("the target cannot be ignored".to_owned()));
        }
        Ok(self)
    }

    /// Opens the file and makes a pass over its target. `ready` is asked before the pass; a fit that cannot fit the memory is refused then, if it is to be made.
    pub(crate) fn open(
        &self,
        engine: &Engine,
        is_made: bool,
        ready: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<Opened, Failure> {
        let mut options = self.options.clone();
        let texts = self.recipe.texts();
        let (weight, group) = (self.roles.weight.as_deref(), self.roles.group.as_deref());
        let wanted = Wanted { roles: &self.roles, texts: &texts, kernel: self.recipe.kernel() };
        let opened = data::open_to_learn(engine, &self.data, &mut options, wanted);
        let (data::Opened { mut tables, remarks, identifiers }, target) = opened.map_err(data::hinted)?;
        if data::is_sparse(tables.columns()) && self.recipe.auto.scaling != ColumnScaling::Standard {
            let text =
                "only columns of numbers can be scaled by ranks or squashed, and these rows are sparse";
            return Err(Failure::Usage(text.to_owned()).hint("leave --scaling out"));
        }
        let left_out: Vec<&str> = std::iter::once(target.as_str()).chain(weight).chain(group).collect();
        let at = position(tables.columns(), &target)?;
        let mut profile = TableProfile::of(&tables)
            .with_target(at)
            .with_scaling(self.recipe.auto.scaling)
            .leaving_out(&left_out);
        // What is wrong with the kernel is said before the pass.
        let inputs = match self.recipe.bound(&self.data, &profile, &left_out) {
            Ok((_, inputs)) => inputs.columns.count(),
            Err(Failure::Library { error: Error::NoColumns, .. }) if has_texts(&tables, &left_out) => 0,
            Err(failure) => return Err(failure),
        };
        ready()?;
        let peak = self.peak(engine, &self.recipe.auto, inputs, is_made)?;
        let limit = engine.memory_limit();
        let budget = (limit / 4).min(limit.saturating_sub(peak));

        let weight_at = weight.map(|name| position(tables.columns(), name)).transpose()?;
        let mut pass = TargetPass::default();
        let mut digits = Digits::new(tables.columns(), &texts);
        let started = Instant::now();
        self.tell(engine, &remarks)?;
        engine.tell(&Event::Started { phase: "read" })?;
        let read = tables.read(engine, budget, |table, fraction| {
            digits.absorb(table);
            let with_targets = pass.absorb(&table.columns[at]).map(|rows| table.chosen(&rows));
            let table = with_targets.as_ref().unwrap_or(table);
            let weight = |i: usize| match weight_at.map(|at| &table.columns[at]) {
                Some(Column::Number(weights)) => weights[i],
                _ => 1.0,
            };
            profile.absorb(table, &weight);
            engine.tell(&Event::Progress { phase: "read", rows: pass.rows(), fraction })
        });
        read.map_err(|error| data::hinted(Failure::about(&self.data)(error)))?;
        engine.tell(&Event::Finished { phase: "read" })?;
        if pass.rows() == 0 {
            return Err(Failure::about(&self.data)(Error::NoRows));
        }
        let about_target = |error| data::about_target(error, &self.data, &options, &target);
        let decided = pass.decide(self.recipe.task).map_err(about_target)?;
        let profile = profile.with_outputs(decided.outputs());
        let (recipe, inputs) = self.recipe.bound(&self.data, &profile, &left_out)?;
        digits.warnings().try_for_each(|text| engine.tell(&Event::Warning { text: &text }))?;
        self.tell(engine, &Remark::of_cells(tables.unreadable(), tables.columns(), data::PLACE))?;
        self.tell(engine, &Remark::of_fit(&inputs, &profile, &target, &decided, pass.missing()))?;
        let (seconds, Inputs { columns, constant, .. }) = (started.elapsed().as_secs_f64(), inputs);
        let Roles { weight, group, .. } = self.roles.clone();
        let left_out = [identifiers, constant].concat();
        Ok(Opened {
            tables,
            options,
            target,
            weight,
            group,
            recipe,
            columns,
            left_out,
            pass,
            decided,
            seconds,
        })
    }

    /// Says what was noticed.
    fn tell(&self, engine: &Engine, remarks: &[Remark]) -> Result<(), Failure> {
        let tell = |remark: &Remark| engine.tell(&Event::Warning { text: &(self.say)(remark) });
        Ok(remarks.iter().try_for_each(tell)?)
    }

    /// The model; the pass over the target is part of the time that was given. `ready` is asked before the first pass.
    pub(crate) fn fit(
        &self,
        engine: &Engine,
        started: Instant,
        ready: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<Learnt, Failure> {
        let opened = self.open(engine, true, ready)?;
        let (auto, engine) = (&opened.recipe.auto, opened.engine(engine));
        let model = self.with_rows(&engine, &opened, |rows| {
            let budget = auto.budget.map(|budget| (budget - started.elapsed().as_secs_f64()).max(1e-3));
            let model = Auto { budget, ..auto.clone() }.fit_table(&engine, rows)?;
            Ok(model.planned_as(&self.recipe.auto.kernel).with_ids(self.roles.ids.clone()))
        })?;
        let Opened { pass, decided, left_out, .. } = opened;
        Ok(Learnt { model, pass, decided, left_out })
    }

    /// Gives the rows to `job`; what goes wrong is about the file.
    pub(crate) fn with_rows<R>(
        &self,
        engine: &Engine,
        opened: &Opened,
        job: impl FnOnce(&TableRows<'_>) -> bochner::Result<R>,
    ) -> Result<R, Failure> {
        let Opened { tables, options, target, weight, group, columns, pass, decided, .. } = opened;
        let Decided { labels, decimal_comma, .. } = decided.clone();
        let rows = Some(pass.rows());
        let fitted = || {
            let columns = columns.clone().fit(engine, tables)?;
            let rows = TableRows::new(engine, tables, columns, target, labels, rows)?;
            let rows = rows.with_decimal_comma(decimal_comma);
            let rows = match weight {
                Some(weight) => rows.weighted(weight)?,
                None => rows,
            };
            let rows = match group {
                Some(group) => rows.grouped(group)?,
                None => rows,
            };
            job(&rows).map_err(|error| rows.columns().in_words(error))
        };
        fitted().map_err(|error| data::about_target(error, &self.data, options, target))
    }

    /// The files that are read.
    pub(crate) fn inputs(&self) -> Vec<&Path> {
        data::inputs(&self.options)
    }

    /// Bytes that the fit will take beside the data, as far as the columns tell; refused if the fit is to be made, D was given, and it does not fit.
    fn peak(&self, engine: &Engine, auto: &Auto, inputs: usize, is_made: bool) -> Result<u64, Failure> {
        let map = auto.spec();
        let (is_exact, features) = (map.method == Method::Exact, map.output_dim(inputs));
        let shape = RidgeShape {
            map,
            features,
            inputs,
            entries: inputs as u64,
            outputs: 1,
            folds: if let Lambda::CrossValidated { folds } = auto.lambda { folds } else { 1 },
            scalar_bytes: auto.precision.unwrap_or_default().bytes(),
            rows: Some(BLOCK as u64), // of the few that are known of: one block at least
        };
        // A block of the table, its numbers side by side, and scaled.
        let block = (BLOCK as u64).saturating_mul((inputs * 24) as u64);
        let peak = shape.cost_within(auto.solver, engine.memory_limit()).peak_bytes.saturating_add(block);
        if is_made && (is_exact || auto.features.is_some()) {
            engine.check_memory(|| format!("a fit with {} features", text::count(features as u64)), peak)?;
        }
        Ok(peak)
    }
}

impl Opened {
    /// The name of the target.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// The engine for what is done with the rows, beside those that are held.
    pub(crate) fn engine(&self, engine: &Engine) -> Engine {
        engine.beside(self.tables.bytes())
    }

    /// Seconds that a pass over the rows takes by itself: none if they are held.
    pub(crate) fn reading(&self) -> f64 {
        if self.tables.is_held() { 0.0 } else { self.seconds }
    }
}

/// What a plan says, or the plan of a model.
fn replayed(path: &Path) -> Result<Auto, Failure> {
    let wrong = |what: &str| {
        Failure::Usage(format!(
            "{}: {what}; expected a plan as bochner plan --json has it, or a model that bochner fit wrote",
            path.display()
        ))
    };
    let bytes = std::fs::read(path).map_err(|error| wrong(&error.to_string()))?;
    if let Ok(text) = std::str::from_utf8(&bytes) {
        // Of a plan, and of what `plan --json` prints.
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
        let fit = value.get("fit").ok_or_else(|| wrong("there is no \"fit\" in it"))?;
        return Auto::from_json(&fit.to_string()).map_err(|error| wrong(&error.to_string()));
    }
    let model = Model::load(path).map_err(|error| wrong(&error.to_string()))?;
    let plan = model.training().and_then(|training| training.plan.clone());
    plan.map(|plan| plan.fit).ok_or_else(|| wrong("the model has no plan"))
}

impl Recipe {
    /// The columns that are texts.
    pub(crate) fn texts(&self) -> Vec<String> {
        let mut names: Vec<String> = self.declared.iter().map(|text| text.column.clone()).collect();
        names.extend(self.kernel().into_iter().flat_map(Kernel::texts));
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
    }

    /// The kernel, where one was given.
    pub(crate) fn kernel(&self) -> Option<&Kernel> {
        if let KernelChoice::Given(kernel) = &self.auto.kernel { Some(kernel) } else { None }
    }

    /// What can be told before the columns are known: a column is declared once, and there is such a map. Sequence kernels have one when they have columns.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let column = |at: usize| &self.declared[at].column;
        let first = |at: usize| (0..at).find(|&first| column(first) == column(at));
        if let Some((first, at)) = (0..self.declared.len()).find_map(|at| Some((first(at)?, at))) {
            let part = |at: usize| Kernel::from(&self.declared[at].sequence).on([column(at).as_str()]);
            let sum = Kernel::sum(vec![part(first)?, part(at)?]);
            return Err(Failure::Usage(format!(
                "--sequence was given twice for column \"{}\"; say it once, or use a sum of two sequence kernels, as in --kernel '{sum}'",
                column(at)
            )));
        }
        match self.kernel() {
            Some(kernel) if !kernel.texts().is_empty() => Ok(()),
            _ => self.auto.spec().validate().map_err(|error| Failure::Usage(error.to_string())),
        }
    }

    /// The same with its kernel for rows, and what the columns become: all but some.
    pub(crate) fn bound(
        &self,
        path: &Path,
        table: &TableProfile,
        left_out: &[&str],
    ) -> Result<(Recipe, Inputs), Failure> {
        let bound = self.auto.inputs(table, left_out, &self.declared);
        let (auto, inputs) = bound.map_err(Failure::about(path))?;
        if let Err(error) = auto.spec().validate() {
            // Of the kernel as it was typed, where it can be said of that.
            let typed = self.auto.spec().validate().err();
            return Err(Failure::Usage(typed.unwrap_or(error).to_string()));
        }
        Ok((Recipe { auto, ..self.clone() }, inputs))
    }
}

/// Whether there are texts, whose encoding is found in a pass.
fn has_texts(tables: &dyn TableSource, left_out: &[&str]) -> bool {
    let is_text =
        |info: &ColumnInfo| info.kind == ColumnKind::Text && !left_out.contains(&info.name.as_str());
    tables.columns().iter().any(is_text)
}

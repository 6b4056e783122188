//! Tables as a source of rows.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::labels::LabelIndex;
use super::target::{self, FOLDS, Seen, TargetEncoding, TargetMeans, TargetSums};
use super::{Columns, Encoding, Input, Labels, Layout, cells};
use crate::content::ContentHash;
use crate::random::Stream;
use crate::source::{Batch, Batches, Source, Target};
use crate::sweep::BLOCK;
use crate::table::infer::{is_missing, is_missing_label};
use crate::table::{CategoryColumn, Column, Table, TableReader, TableSource, number, position};
use crate::{AnyRows, Csr, Engine, Error, Event, Matrix, MatrixView, OwnedRows, Result, Rows};

/// Where targets are.
#[derive(Clone, Copy)]
enum Targets<'a> {
    /// Nothing is to be predicted.
    None,
    /// In a column of the table.
    Column(usize),
    /// Beside the table, a row for each of its rows, and what they are called.
    Beside { values: MatrixView<'a, f64>, name: &'a str },
}

/// Where weights are.
#[derive(Clone, Copy)]
enum Weights<'a> {
    /// All rows count alike.
    None,
    /// In a column of the table.
    Column(usize),
    /// Beside the table, one for each of its rows.
    Beside(&'a [f64]),
}

/// Some columns of a table as rows, one as target, or targets that stand beside the table. In double precision, as files are read.
///
/// Rows without a target have weight 0, which is as if they were not there.
#[derive(Clone)]
pub struct TableRows<'a> {
    engine: &'a Engine,
    tables: &'a dyn TableSource,
    columns: Columns,
    positions: Vec<usize>,
    targets: Targets<'a>,
    /// Whether texts among the targets have a decimal comma.
    decimal_comma: bool,
    weights: Weights<'a>,
    /// None where rows have no groups.
    group_position: Option<usize>,
    /// The columns whose cells identify a row, in their order; none where its numbers do.
    identity: Option<Vec<usize>>,
    /// How rows that are learnt from are encoded by their targets; none where there is nothing of the kind, or rows are new ones.
    learning: Option<Learning<'a>>,
    target: Target,
    index: Option<LabelIndex>,
    rows: Option<u64>,
}

impl<'a> TableRows<'a> {
    /// Rows of `columns` with the target column `target`: classes if there are labels, numbers otherwise.
    ///
    /// `rows` is their number, if it is known. Texts are encoded on the engine's threads.
    pub fn new(
        engine: &'a Engine,
        tables: &'a dyn TableSource,
        columns: Columns,
        target: &str,
        labels: Option<Labels>,
        rows: Option<u64>,
    ) -> Result<Self> {
        let targets = Targets::Column(position(tables.columns(), target)?);
        let index = labels.as_ref().map(Labels::index);
        let target = labels.map_or(Target::Numbers { outputs: 1 }, |labels| Target::Classes { labels });
        let columns = columns.for_outputs(target.outputs());
        Ok(TableRows { targets, target, index, rows, ..Self::without_target(engine, tables, columns)? })
    }

    /// Rows of `columns` alone: for maps, which look at no target.
    pub fn without_target(engine: &'a Engine, tables: &'a dyn TableSource, columns: Columns) -> Result<Self> {
        let positions = columns.positions(tables.columns())?;
        let target = Target::Numbers { outputs: 0 };
        let identity = columns.inputs().iter().any(Input::is_identified_by_cells).then(|| {
            let mut identity = positions.clone();
            identity.sort_unstable();
            identity.dedup();
            identity
        });
        Ok(TableRows {
            engine,
            tables,
            columns,
            positions,
            targets: Targets::None,
            decimal_comma: false,
            weights: Weights::None,
            group_position: None,
            identity,
            learning: None,
            target,
            index: None,
            rows: None,
        })
    }

    /// The same, its targets read with a decimal comma.
    pub fn with_decimal_comma(self, decimal_comma: bool) -> Self {
        TableRows { decimal_comma, ..self }
    }

    /// The same, each row weighted by what this column says.
    pub fn weighted(self, column: &str) -> Result<Self> {
        let weights = Weights::Column(position(self.tables.columns(), column)?);
        Ok(TableRows { weights, ..self })
    }

    /// The same with targets called `name`, one row for each row of the table, and weights that stand beside it. For classes, `targets`
    /// is one column of positions in the labels. A row with NaN has no target.
    pub fn beside(
        self,
        name: &'a str,
        targets: MatrixView<'a, f64>,
        weights: Option<&'a [f64]>,
        target: Target,
    ) -> Result<Self> {
        let outputs = if let Target::Numbers { outputs } = target { outputs } else { 1 };
        let rows = targets.rows();
        let lengths = [
            ("columns of targets", outputs, targets.columns()),
            ("weights", rows, weights.map_or(rows, <[f64]>::len)),
        ];
        if let Some(&(what, expected, found)) = lengths.iter().find(|(_, expected, found)| expected != found)
        {
            return Err(Error::Length { what, expected, found });
        }
        let weights = weights.map_or(Weights::None, Weights::Beside);
        let columns = self.columns.for_outputs(target.outputs());
        let (targets, rows) = (Targets::Beside { values: targets, name }, Some(rows as u64));
        Ok(TableRows { columns, targets, weights, target, rows, ..self })
    }

    /// The same, rows with the same cell in this column in one fold.
    pub fn grouped(self, column: &str) -> Result<Self> {
        let group_position = Some(position(self.tables.columns(), column)?);
        Ok(TableRows { group_position, ..self })
    }

    /// The columns, and how they are encoded.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The name of the target; empty where there is none.
    pub(crate) fn target_name(&self) -> &str {
        match self.targets {
            Targets::Column(at) => &self.tables.columns()[at].name,
            Targets::Beside { name, .. } => name,
            Targets::None => "",
        }
    }

    /// The same rows as they are learnt from.
    pub(crate) fn learnt_from(&self, learning: Learning<'a>) -> TableRows<'a> {
        TableRows { learning: Some(learning), ..self.clone() }
    }

    /// Whether some levels are encoded by the target.
    fn is_by_target(&self) -> bool {
        self.columns.inputs().iter().any(|input| matches!(input.encoding, Encoding::Target(_)))
    }

    /// Into which parts rows are divided where levels are encoded by the target. Where rows have groups they are counted: up to one
    /// pass.
    pub(crate) fn split(&self, seed: u64, held_out: Option<(ContentHash, f64)>) -> Result<LearningSplit> {
        let mut split = LearningSplit::new(seed, held_out);
        let Some(at) = self.group_position.filter(|_| self.is_by_target()) else { return Ok(split) };
        let (mut reader, mut found) = (self.tables.open(self.engine)?, BTreeSet::new());
        while found.len() <= FEW_GROUPS
            && let Some(table) = reader.next(BLOCK)?
        {
            let Block { weights, groups, .. } = self.block(&table)?;
            let has_weight = |i: usize| weights.as_ref().is_none_or(|weights| weights[i] > 0.0);
            let groups = groups.unwrap_or_default().into_iter().enumerate();
            let counted = groups.filter(|(i, group)| has_weight(*i) && !split.is_held(*group));
            found.extend(counted.map(|(_, group)| split.folds.of_key(group)));
        }
        match found.len() {
            0 => {}
            count if count < FEWEST_GROUPS => {
                let name = &self.tables.columns()[at].name;
                return Err(Error::Unsupported {
                    what: format!(
                        "encoding columns of many categories with {count} groups in column \"{name}\""
                    ),
                    reason: "half of the groups say what the categories mean, and the others judge it",
                    instead: "give at least 8 groups, leave these columns out, or fit without groups",
                });
            }
            count if count <= FEW_GROUPS => split.groups = found.into_iter().collect(),
            _ => {}
        }
        Ok(split)
    }

    /// What the levels of each column that is encoded by the target mean for it: one pass, over the rows that are not held out. None
    /// where there is no such column.
    pub(crate) fn target_means(&self, split: &LearningSplit) -> Result<Option<Vec<Option<TargetMeans>>>> {
        let is_by_target = |input: &Input| matches!(input.encoding, Encoding::Target(_));
        let inputs = self.columns.inputs();
        if !self.is_by_target() {
            return Ok(None);
        }
        let outputs = self.target.outputs();
        let bytes = inputs.iter().filter_map(|input| match &input.encoding {
            // One more than were counted, for missing cells.
            Encoding::Target(target) => {
                Some(TargetSums::bytes(outputs, target.counted.max(target.levels() as u64) + 1))
            }
            _ => None,
        });
        let (count, bytes) =
            bytes.fold((0, 0u64), |(count, sum), bytes| (count + 1, sum.saturating_add(bytes)));
        self.engine.check_memory(|| format!("the levels of {count} columns of categories"), bytes)?;
        let new = |input: &Input| is_by_target(input).then(|| TargetSums::new(outputs));
        let mut sums: Vec<Option<TargetSums>> = inputs.iter().map(new).collect();
        let phase = "categories";
        self.engine.tell(&Event::Started { phase })?;
        let (mut reader, mut rows) = (self.tables.open(self.engine)?, 0);
        while let Some(table) = reader.next(BLOCK)? {
            let Block { targets, weights, keys, groups, .. } = self.block(&table)?;
            let keys = groups.or(keys).unwrap_or_default();
            let nothing = Matrix::<f64>::zeros(table.rows, 0);
            let batch = Batch::new(AnyRows::F64(Rows::from(&nothing)), targets.view(), 0);
            let coded = self.target.coded(&batch);
            for ((sums, Input { name, .. }), &at) in sums.iter_mut().zip(inputs).zip(&self.positions) {
                let Some(sums) = sums else { continue };
                let levels = target::of_cells(&*cells::levels(name, &table.columns[at])?, |hash| hash);
                for i in 0..table.rows {
                    let weight = weights.as_ref().map_or(1.0, |weights| weights[i]);
                    if weight > 0.0 && !split.is_held(keys[i]) {
                        sums.absorb(levels[i], split.fold(keys[i]), weight, coded.row(i));
                    }
                }
            }
            rows += table.rows as u64;
            self.engine.tell(&Event::Progress { phase, rows, fraction: reader.fraction() })?;
        }
        self.engine.tell(&Event::Finished { phase })?;
        Ok(Some(sums.into_iter().map(|sums| sums.map(TargetSums::means)).collect()))
    }

    /// What is beside the rows of a block.
    fn block(&self, table: &Table) -> Result<Block> {
        let mut weights = self.weights(table)?.map(Cow::into_owned);
        let targets = match self.targets {
            Targets::None => Matrix::zeros(table.rows, 0),
            Targets::Beside { values, .. } => {
                let place = place(table, "rows of targets", values.rows())?;
                let is_missing = |i: usize| values.row(place.start + i).iter().any(|y| y.is_nan());
                let missing: Vec<bool> = (0..table.rows).map(is_missing).collect();
                without(&missing, &mut weights);
                let target =
                    |i: usize, o: usize| if missing[i] { 0.0 } else { values.row(place.start + i)[o] };
                Matrix::from_fn(table.rows, values.columns(), target)
            }
            Targets::Column(at) => {
                let targets = self.targets_in(at, table)?;
                without(&targets.iter().map(Option::is_none).collect::<Vec<_>>(), &mut weights);
                Matrix::new(table.rows, 1, targets.into_iter().map(|y| y.unwrap_or(0.0)).collect())?
            }
        };
        let keys =
            self.identity.as_deref().or_else(|| self.group_position.map(|_| self.positions.as_slice()));
        let mut keys = keys.map(|columns| self.keys(table, columns));
        let groups = match (self.group_position, &mut keys) {
            (Some(at), Some(keys)) => {
                let group = |(key, group): (&mut u64, Option<u64>)| {
                    // A row without a group is one of its own. Rows that are alike in two groups are two rows.
                    let group = group.unwrap_or(*key);
                    *key = xxh3_64_with_seed(&key.to_le_bytes(), group);
                    group
                };
                Some(keys.iter_mut().zip(groups_in(table, at)).map(group).collect())
            }
            _ => None,
        };
        self.check_weights(table, weights.as_deref())?;
        Ok(Block { targets, weights, keys, groups })
    }

    /// Weights in a column are there, finite and not negative.
    fn check_weights(&self, table: &Table, weights: Option<&[f64]>) -> Result<()> {
        let (Weights::Column(at), Some(weights)) = (self.weights, weights) else { return Ok(()) };
        let Some(i) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) else { return Ok(()) };
        let column = self.tables.columns()[at].name.clone();
        let value = (!weights[i].is_nan()).then_some(weights[i]);
        Err(Error::WeightCell { column, row: table.first_row + i as u64, value })
    }

    /// The hash of the cells of each row in some columns.
    fn keys(&self, table: &Table, columns: &[usize]) -> Vec<u64> {
        /// Rows that a thread takes at a time.
        const PIECE: usize = 256;
        let mut keys = vec![0; table.rows];
        self.engine.for_each_chunk(&mut keys, PIECE, &|p, out| {
            out.iter_mut().enumerate().for_each(|(i, key)| *key = table.hash_of(columns, p * PIECE + i));
        });
        keys
    }

    /// Targets of a block that are in column `at`: numbers, or positions in the labels; none where one is missing.
    fn targets_in(&self, at: usize, table: &Table) -> Result<Vec<Option<f64>>> {
        let of_text = |i: usize, text: &str| {
            if is_missing_label(text) {
                return Ok(None);
            }
            let row = table.first_row + i as u64;
            match &self.index {
                Some(index) => Ok(Some(index.class(text, row)? as f64)),
                None => self.number(text, row).map(Some),
            }
        };
        let each = |cell: &dyn Fn(usize) -> Result<Option<f64>>| (0..table.rows).map(cell).collect();
        match &table.columns[at] {
            Column::Number(values) if self.index.is_none() => {
                Ok(values.iter().map(|value| (!value.is_nan()).then_some(*value)).collect())
            }
            Column::Number(values) => each(&|i| of_text(i, &values[i].to_string())),
            Column::Text(texts) => each(&|i| texts.cell(i).map_or(Ok(None), |text| of_text(i, text))),
            Column::Category(levels) => each(&|i| levels.get(i).map_or(Ok(None), |text| of_text(i, text))),
            Column::Boolean(values) if self.index.is_none() => {
                Ok(values.iter().map(|value| value.map(|value| f64::from(u8::from(value)))).collect())
            }
            Column::Boolean(values) => each(&|i| {
                values[i].map_or(Ok(None), |value| of_text(i, if value { "True" } else { "False" }))
            }),
            Column::Date(_) | Column::Sparse(_) => Err(Error::Parameter {
                name: "target",
                expected: "a column of numbers or classes",
                found: "dates, or a sparse column".to_owned(),
            }),
        }
    }

    fn number(&self, text: &str, row: u64) -> Result<f64> {
        match number::parse(text, self.decimal_comma) {
            Some((value, _)) if value.is_finite() => Ok(value),
            _ => Err(Error::TargetText { expected: "a number", found: text.to_owned(), row }),
        }
    }

    /// The weights of a block.
    fn weights<'t>(&self, table: &'t Table) -> Result<Option<Cow<'t, [f64]>>> {
        match self.weights {
            Weights::None => Ok(None),
            Weights::Column(at) => {
                cells::numbers(&self.tables.columns()[at].name, &table.columns[at], false).map(Some)
            }
            Weights::Beside(weights) => {
                let place = place(table, "weights", weights.len())?;
                Ok(Some(Cow::Owned(weights[place].to_vec())))
            }
        }
    }
}

/// What is beside the rows of a block.
struct Block {
    targets: Matrix<f64>,
    weights: Option<Vec<f64>>,
    keys: Option<Vec<u64>>,
    groups: Option<Vec<u64>>,
}

/// The group that each cell of a column names, by its text without spaces around it; none where it is missing.
fn groups_in(table: &Table, at: usize) -> Vec<Option<u64>> {
    let of_text = |text: &str| (!is_missing(text)).then(|| xxh3_64(text.trim().as_bytes()));
    match &table.columns[at] {
        Column::Text(texts) => texts.cells().map(|cell| cell.and_then(of_text)).collect(),
        Column::Category(CategoryColumn { codes, levels }) => {
            let levels: Vec<Option<u64>> = levels.iter().map(of_text).collect();
            codes.iter().map(|&code| levels.get(code as usize).copied().flatten()).collect()
        }
        column => {
            let of_row = |i: usize| (!column.is_missing(i)).then(|| table.hash_of(&[at], i));
            (0..table.rows).map(of_row).collect()
        }
    }
}

/// Rows that are missing have no weight.
fn without(missing: &[bool], weights: &mut Option<Vec<f64>>) {
    if missing.contains(&true) {
        let weights = weights.get_or_insert_with(|| vec![1.0; missing.len()]);
        weights.iter_mut().zip(missing).filter(|(_, missing)| **missing).for_each(|(w, _)| *w = 0.0);
    }
}

/// Into which parts rows are divided where categories are encoded by the target.
#[derive(Clone, Debug)]
pub(crate) struct LearningSplit {
    folds: ContentHash,
    held_out: Option<(ContentHash, f64)>,
    /// The hashes of the groups, in order, where these are few.
    groups: Vec<u64>,
}

/// Groups that are dealt to the folds one by one: hashes could leave a half without any. Those of more are spread well enough.
const FEW_GROUPS: usize = 64;

/// Groups without which the half that something is searched on has too few to leave some of them out.
const FEWEST_GROUPS: usize = 8;

impl LearningSplit {
    /// Rows that are held out have no part in what levels mean.
    pub(crate) fn new(seed: u64, held_out: Option<(ContentHash, f64)>) -> LearningSplit {
        let folds = ContentHash::new(seed, Stream::TargetFolds);
        LearningSplit { folds, held_out, groups: Vec::new() }
    }

    fn is_held(&self, key: u64) -> bool {
        self.held_out.as_ref().is_some_and(|(hash, share)| hash.is_below(key, *share))
    }

    fn fold(&self, key: u64) -> usize {
        match self.groups.binary_search(&self.folds.of_key(key)) {
            Ok(rank) => rank * FOLDS / self.groups.len(),
            Err(_) => self.folds.fold_of_key(key, FOLDS),
        }
    }
}

/// How rows that are learnt from are encoded by their targets.
#[derive(Clone, Copy)]
pub(crate) struct Learning<'a> {
    /// For each input.
    pub(crate) means: &'a [Option<TargetMeans>],
    pub(crate) split: &'a LearningSplit,
    /// Whether something is still to be chosen.
    pub(crate) is_search: bool,
}

impl Learning<'_> {
    /// What the encoding of a row may look at; none if the row is not learnt from.
    fn seen(&self, key: u64) -> Option<Seen> {
        match (self.split.is_held(key), self.is_search) {
            (true, true) => None,
            (true, false) => Some(Seen::All),
            (false, true) => Seen::in_search(self.split.fold(key)),
            (false, false) => Some(Seen::Without(self.split.fold(key))),
        }
    }
}

/// The means of the levels of each input, and what each row may see of them.
type ByTarget<'a> = (&'a [Option<TargetMeans>], &'a [Option<Seen>]);

/// Where the rows of a block are in what stands beside the table.
fn place(table: &Table, what: &'static str, found: usize) -> Result<Range<usize>> {
    let start = table.first_row as usize;
    let expected = start + table.rows;
    if expected > found { Err(Error::Length { what, expected, found }) } else { Ok(start..expected) }
}

/// The chosen columns of a block as rows; texts are encoded on the engine's threads.
pub fn rows_of(
    engine: &Engine,
    table: &Table,
    columns: &Columns,
    positions: &[usize],
) -> Result<OwnedRows<f64>> {
    encoded(engine, table, columns, positions, None)
}

fn encoded(
    engine: &Engine,
    table: &Table,
    columns: &Columns,
    positions: &[usize],
    by_target: Option<ByTarget<'_>>,
) -> Result<OwnedRows<f64>> {
    match columns {
        Columns::Named { inputs } => named(engine, table, inputs, positions, by_target),
        Columns::Unnamed { count } | Columns::Sparse { width: count, .. } => {
            unnamed(table, *count, positions)
        }
    }
}

/// Each input where its layout says.
fn named(
    engine: &Engine,
    table: &Table,
    inputs: &[Input],
    positions: &[usize],
    by_target: Option<ByTarget<'_>>,
) -> Result<OwnedRows<f64>> {
    let Layout { places, dense, .. } = Layout::of(inputs);
    let mut rows = Matrix::zeros(table.rows, dense);
    let mut hashed = Vec::new();
    for (input, ((Input { name, encoding }, place), &at)) in
        inputs.iter().zip(places).zip(positions).enumerate()
    {
        let column = &table.columns[at];
        let (scaled, plain) = (place.scaled.start, place.plain);
        match encoding {
            Encoding::Number(number) => {
                for (i, &x) in cells::numbers(name, column, number.decimal_comma)?.iter().enumerate() {
                    let row = rows.row_mut(i);
                    row[scaled] = number.value(x);
                    if number.indicator && x.is_nan() {
                        row[plain.start] = 1.0;
                    }
                }
            }
            Encoding::Boolean(boolean) => {
                for (i, &value) in cells::booleans(name, column)?.iter().enumerate() {
                    boolean.write(value, &mut rows.row_mut(i)[plain.clone()]);
                }
            }
            Encoding::Category(category) => {
                let levels = cells::levels(name, column)?;
                let known: Vec<_> = levels.levels.iter().map(|level| category.place(Some(level))).collect();
                let missing = category.place(None);
                for (i, &code) in levels.codes.iter().enumerate() {
                    if let Some(place) = known.get(code as usize).copied().unwrap_or(missing) {
                        rows.row_mut(i)[plain.start + place] = 1.0;
                    }
                }
            }
            Encoding::Target(target) => {
                let levels = cells::levels(name, column)?;
                match by_target.and_then(|(means, seen)| Some((means.get(input)?.as_ref()?, seen))) {
                    Some((means, seen)) => {
                        let places = target::of_cells(&levels, |hash| means.place(hash));
                        for (i, (&at, seen)) in places.iter().zip(seen).enumerate() {
                            let to = &mut rows.row_mut(i)[place.scaled.clone()];
                            means.write(at, seen.unwrap_or(Seen::All), to);
                        }
                    }
                    None => write_means(name, target, &levels, &mut rows, scaled)?,
                }
            }
            Encoding::Date(date) => {
                for (i, &day) in cells::dates(name, column, date.day_first)?.iter().enumerate() {
                    let row = rows.row_mut(i);
                    row[scaled] = date.value(day);
                    date.write(day, &mut row[plain.clone()]);
                }
            }
            Encoding::Text(text) => {
                let texts = cells::texts(name, column)?;
                let encoder = text.encoder.as_ref().ok_or_else(|| Error::Unsupported {
                    what: format!("encoding column \"{name}\" by {}", text.sequence),
                    reason: "tf–idf is not fitted yet",
                    instead: "fit the columns to the table first",
                })?;
                hashed.push(encoder.encode(engine, &texts)?);
            }
        }
    }
    Ok(if hashed.is_empty() {
        OwnedRows::Dense(rows)
    } else {
        OwnedRows::Sparse(side_by_side(&rows, hashed))
    })
}

/// The columns of levels as new rows have them.
fn write_means(
    name: &str,
    target: &TargetEncoding,
    levels: &CategoryColumn,
    rows: &mut Matrix<f64>,
    from: usize,
) -> Result<()> {
    if !target.is_fitted() {
        return Err(Error::Unsupported {
            what: format!("encoding column \"{name}\" by the target"),
            reason: "the means of its levels are not fitted yet",
            instead: "fit with Auto::fit_table",
        });
    }
    for (i, place) in target::of_cells(levels, |hash| target.place(hash)).into_iter().enumerate() {
        rows.row_mut(i)[from..from + target.width()].copy_from_slice(target.value(place));
    }
    Ok(())
}

/// The sparse column, or the first columns, as they are.
fn unnamed(table: &Table, count: usize, positions: &[usize]) -> Result<OwnedRows<f64>> {
    if let [at] = positions
        && let Column::Sparse(values) = &table.columns[*at]
    {
        let view = values.view();
        if view.columns() > count {
            return Err(Error::ColumnCount { expected: count, found: view.columns() });
        }
        return Csr::new(count, view.starts().to_vec(), view.indices().to_vec(), view.values().to_vec())
            .map(OwnedRows::Sparse);
    }
    let mut rows = Matrix::zeros(table.rows, positions.len());
    for (j, &at) in positions.iter().enumerate() {
        let values = cells::numbers(&format!("x{j}"), &table.columns[at], false)?;
        let entries = rows.as_mut_slice()[j..].iter_mut().step_by(positions.len());
        entries.zip(values.iter()).for_each(|(to, &x)| *to = x);
    }
    Ok(OwnedRows::Dense(rows))
}

/// Numbers, then what texts became.
fn side_by_side(numbers: &Matrix<f64>, mut encoded: Vec<Csr<f64>>) -> Csr<f64> {
    if let (0, [_]) = (numbers.columns(), encoded.as_slice()) {
        return encoded.remove(0);
    }
    let columns = numbers.columns() + encoded.iter().map(Csr::columns).sum::<usize>();
    let mut rows = Csr::empty(columns);
    for i in 0..numbers.rows() {
        let mut start = numbers.columns();
        let own = numbers.row(i).iter().enumerate().filter(|(_, x)| **x != 0.0).map(|(j, &x)| (j as u32, x));
        let texts = encoded.iter().flat_map(|text| {
            let (before, (indices, values)) = (start as u32, text.view().row(i));
            start += text.columns();
            indices.iter().zip(values).map(move |(j, &z)| (before + j, z))
        });
        rows.push_row(own.chain(texts));
    }
    rows
}

impl Source for TableRows<'_> {
    fn input_dim(&self) -> usize {
        self.columns.count()
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn row_count(&self) -> Option<u64> {
        self.rows
    }

    fn scaled_columns(&self) -> usize {
        self.columns.scaled()
    }

    fn scalar_bytes(&self) -> usize {
        size_of::<f64>()
    }

    fn is_sparse(&self) -> bool {
        self.columns.is_sparse()
    }

    fn open(&self) -> Result<Box<dyn Batches + '_>> {
        let reader = self.tables.open(self.engine)?;
        let targets = Matrix::zeros(0, 1);
        let block = Block { targets, weights: None, keys: None, groups: None };
        Ok(Box::new(TableBatches { source: self, reader, rows: None, block }))
    }
}

struct TableBatches<'a> {
    source: &'a TableRows<'a>,
    reader: Box<dyn TableReader + 'a>,
    /// Of the batch handed out last.
    rows: Option<OwnedRows<f64>>,
    block: Block,
}

impl Batches for TableBatches<'_> {
    fn next(&mut self, most: usize) -> Result<Option<Batch<'_>>> {
        let Some(table) = self.reader.next(most)? else { return Ok(None) };
        let TableRows { engine, columns, positions, learning, .. } = self.source;
        self.block = self.source.block(&table)?;
        let Block { targets, weights, keys, groups } = &mut self.block;
        let rows = match learning {
            Some(learning) => {
                let own = groups.as_deref().or(keys.as_deref()).unwrap_or_default();
                let seen: Vec<Option<Seen>> = own.iter().map(|&key| learning.seen(key)).collect();
                without(&seen.iter().map(Option::is_none).collect::<Vec<_>>(), weights);
                encoded(engine, &table, columns, positions, Some((learning.means, &seen)))?
            }
            None => rows_of(engine, &table, columns, positions)?,
        };
        let rows = AnyRows::F64(self.rows.insert(rows).view());
        let batch = Batch::new(rows, targets.view(), table.first_row);
        let (weights, keys, groups) = (weights.as_deref(), keys.as_deref(), groups.as_deref());
        Ok(Some(Batch { weights, keys, groups, ..batch }))
    }

    fn fraction(&self) -> Option<f64> {
        self.reader.fraction()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Labels;
    use crate::source;
    use crate::sweep::BLOCK;
    use crate::table::{ColumnInfo, ColumnKind, MemoryTables};
    use crate::{LabelKind, MatrixView};

    const ROWS: usize = BLOCK + 9;

    fn class(i: usize) -> usize {
        i * i % 3
    }

    fn weight(i: usize) -> f64 {
        (i % 4) as f64
    }

    fn tables() -> MemoryTables {
        let info = |name: &str, kind| ColumnInfo { name: name.to_owned(), kind };
        let numbers = |value: &dyn Fn(usize) -> f64| Column::Number((0..ROWS).map(value).collect());
        let names = ["a", "b", "c"];
        let columns = vec![
            numbers(&|i| i as f64),
            Column::Category((0..ROWS).map(|i| Some(names[class(i)])).collect()),
            numbers(&weight),
        ];
        let infos = vec![
            info("x", ColumnKind::Number),
            info("y", ColumnKind::Category),
            info("w", ColumnKind::Number),
        ];
        MemoryTables::new(infos, vec![Table { rows: ROWS, columns, first_row: 0 }]).unwrap()
    }

    fn labels() -> Labels {
        Labels::new(LabelKind::Text, ["a", "b", "c"].map(str::to_owned).to_vec())
    }

    /// Targets and weights are the same in columns of the table and beside it.
    #[test]
    fn targets_may_stand_beside_the_table() {
        let (engine, tables) = (Engine::default(), tables());
        let columns = Columns::numbers(["x"]);
        let inside = TableRows::new(&engine, &tables, columns.clone(), "y", Some(labels()), None).unwrap();
        let inside = inside.weighted("w").unwrap();
        let classes: Vec<f64> = (0..ROWS).map(|i| class(i) as f64).collect();
        let weights: Vec<f64> = (0..ROWS).map(weight).collect();
        let view = MatrixView::new(&classes, ROWS, 1).unwrap();
        let target = Target::Classes { labels: labels() };
        let rows = || TableRows::without_target(&engine, &tables, columns.clone()).unwrap();
        let beside = rows().beside("y", view, Some(&weights), target.clone()).unwrap();
        assert_eq!((beside.row_count(), beside.target()), (Some(ROWS as u64), inside.target()));
        let (mut a, mut b) = (inside.open().unwrap(), beside.open().unwrap());
        for _ in 0..2 {
            let (a, b) = (a.next(BLOCK).unwrap().unwrap(), b.next(BLOCK).unwrap().unwrap());
            source::check(&engine, &b, &beside).unwrap();
            assert_eq!(format!("{a:?}"), format!("{b:?}"));
        }
        assert!(a.next(BLOCK).unwrap().is_none() && b.next(BLOCK).unwrap().is_none());
        let too_few = MatrixView::new(&classes[1..], ROWS - 1, 1).unwrap();
        let short = rows().beside("y", too_few, None, target.clone()).unwrap();
        let mut batches = short.open().unwrap();
        batches.next(BLOCK).unwrap();
        assert!(matches!(batches.next(BLOCK), Err(Error::Length { what: "rows of targets", .. })));
        assert!(rows().beside("y", view, Some(&weights[1..]), target).is_err());
        assert!(rows().beside("y", view, None, Target::Numbers { outputs: 2 }).is_err());
    }
}

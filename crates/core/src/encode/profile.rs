//! What is known of the columns of a table after a pass: enough to encode them, and to say what is wrong with them.
//!
//! Every column has a statistic of its own (in the file of its encoding) that merges in any order, but for the last bits of means.

use std::collections::HashSet;

use super::boolean::BooleanProfile;
use super::category::CategoryProfile;
use super::date::DateProfile;
use super::number::NumberProfile;
use super::text::TextProfile;
use super::{ColumnScaling, DateEncoding, Encoding, NumberEncoding, TargetEncoding, TextEncoding};
use crate::sweep::BLOCK;
use crate::table::CellFormat;
use crate::table::{Column, ColumnInfo, ColumnKind, Table, TableSample, TableSource};
use crate::{Engine, Event, Result};

/// What is known of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnProfile {
    /// Of numbers.
    Number(NumberProfile),
    /// Of true and false.
    Boolean(BooleanProfile),
    /// Of levels.
    Category(CategoryProfile),
    /// Of dates.
    Date(DateProfile),
    /// Of texts.
    Text(TextProfile),
    /// Sparse rows, which are taken as they are.
    Sparse,
}

impl ColumnProfile {
    /// Of a column, among so many of categories.
    fn new(kind: ColumnKind, categories: usize) -> ColumnProfile {
        match kind {
            ColumnKind::Number => ColumnProfile::Number(NumberProfile::default()),
            ColumnKind::Boolean => ColumnProfile::Boolean(BooleanProfile::default()),
            ColumnKind::Category => ColumnProfile::Category(CategoryProfile::among(categories)),
            ColumnKind::Date => ColumnProfile::Date(DateProfile::default()),
            ColumnKind::Text => ColumnProfile::Text(TextProfile::default()),
            ColumnKind::Sparse { .. } => ColumnProfile::Sparse,
        }
    }

    /// Reads cells whose rows have these weights, all above 0.
    fn absorb(&mut self, column: &Column, weights: &[f64]) {
        match (self, column) {
            (ColumnProfile::Number(profile), Column::Number(values)) => profile.absorb(values, weights),
            (ColumnProfile::Boolean(profile), Column::Boolean(values)) => profile.absorb(values),
            (ColumnProfile::Category(profile), Column::Category(values)) => profile.absorb(values, weights),
            (ColumnProfile::Date(profile), Column::Date(values)) => profile.absorb(values, weights),
            (ColumnProfile::Text(profile), Column::Text(texts)) => profile.absorb(texts, weights),
            // Every block has the kinds that its source names.
            _ => {}
        }
    }

    fn merge(&mut self, other: &ColumnProfile) {
        match (self, other) {
            (ColumnProfile::Number(own), ColumnProfile::Number(other)) => own.merge(other),
            (ColumnProfile::Boolean(own), ColumnProfile::Boolean(other)) => own.merge(other),
            (ColumnProfile::Category(own), ColumnProfile::Category(other)) => own.merge(other),
            (ColumnProfile::Date(own), ColumnProfile::Date(other)) => own.merge(other),
            (ColumnProfile::Text(own), ColumnProfile::Text(other)) => own.merge(other),
            _ => {}
        }
    }

    /// Cells that are missing.
    pub fn missing(&self) -> u64 {
        match self {
            ColumnProfile::Number(profile) => profile.missing,
            ColumnProfile::Boolean(profile) => profile.missing,
            ColumnProfile::Category(profile) => profile.missing,
            ColumnProfile::Date(profile) => profile.missing,
            ColumnProfile::Text(profile) => profile.missing,
            ColumnProfile::Sparse => 0,
        }
    }

    /// Whether nothing can be learnt from it.
    pub fn is_constant(&self) -> bool {
        match self {
            ColumnProfile::Number(profile) => profile.is_constant(),
            ColumnProfile::Boolean(profile) => profile.is_constant(),
            ColumnProfile::Category(profile) => profile.is_constant(),
            ColumnProfile::Date(profile) => profile.is_constant(),
            ColumnProfile::Text(profile) => profile.rows == 0,
            ColumnProfile::Sparse => false,
        }
    }
}

/// What is known of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableProfile {
    columns: Vec<ColumnInfo>,
    formats: Vec<CellFormat>,
    profiles: Vec<ColumnProfile>,
    rows: u64,
    /// The outputs of the target, if categories of many levels are encoded by it.
    by_target: Option<usize>,
    scaling: ColumnScaling,
    sample: TableSample,
    /// Whether columns that do not vary are encoded like others.
    keeps_constants: bool,
}

impl TableProfile {
    /// Of a table that nothing has been read of: numbers must be there, and texts must be declared.
    pub fn new(columns: &[ColumnInfo]) -> TableProfile {
        let categories = columns.iter().filter(|column| column.kind == ColumnKind::Category).count();
        let profiles = columns.iter().map(|column| ColumnProfile::new(column.kind, categories)).collect();
        let formats = columns.iter().map(|column| CellFormat::from(column.kind)).collect();
        let sample = TableSample::new(columns, None);
        let (columns, rows, scaling) = (columns.to_vec(), 0, ColumnScaling::default());
        let (by_target, keeps_constants) = (None, false);
        TableProfile { columns, formats, profiles, rows, by_target, scaling, sample, keeps_constants }
    }

    /// Of a source that nothing has been read of.
    pub fn of(tables: &dyn TableSource) -> TableProfile {
        let formats = (0..tables.columns().len()).map(|column| tables.format(column)).collect();
        TableProfile { formats, ..TableProfile::new(tables.columns()) }
    }

    /// The same for a fit that encodes categories of many levels by the target in this column (`target.rs`), as
    /// [`Auto::fit_table`](crate::Auto::fit_table) does; otherwise the rare levels share a column.
    pub fn with_target(self, column: usize) -> TableProfile {
        TableProfile { by_target: Some(1), sample: self.sample.with_target(column), ..self }
    }

    /// The same where nothing is learnt from these columns: weights, groups and the like do not enter the choice of the sample.
    pub fn leaving_out(self, names: &[&str]) -> TableProfile {
        let names: HashSet<&str> = names.iter().copied().collect();
        let is_left_out = |j: &usize| names.contains(self.columns[*j].name.as_str());
        let sample =
            (0..self.columns.len()).filter(is_left_out).fold(self.sample.clone(), TableSample::leaving_out);
        TableProfile { sample, ..self }
    }

    /// The same for a target that stands beside the table.
    pub fn with_target_beside(self) -> TableProfile {
        TableProfile { by_target: Some(1), ..self }
    }

    /// The same for a target with so many outputs: a category that is encoded by it has a column for each. One, where nothing is said.
    pub fn with_outputs(self, outputs: usize) -> TableProfile {
        TableProfile { by_target: self.by_target.map(|_| outputs), ..self }
    }

    /// The same with numbers scaled so.
    pub fn with_scaling(self, scaling: ColumnScaling) -> TableProfile {
        TableProfile { scaling, ..self }
    }

    /// How numbers are scaled.
    pub(super) fn scaling(&self) -> ColumnScaling {
        self.scaling
    }

    /// A sample of the rows.
    pub fn sample(&self) -> &TableSample {
        &self.sample
    }

    /// Of all rows: one pass.
    pub fn read(engine: &Engine, tables: &dyn TableSource) -> Result<TableProfile> {
        let mut profile = TableProfile::of(tables);
        let phase = "columns";
        engine.tell(&Event::Started { phase })?;
        let mut reader = tables.open(engine)?;
        while let Some(table) = reader.next(BLOCK)? {
            profile.absorb(&table, &|_| 1.0);
            engine.tell(&Event::Progress { phase, rows: profile.rows, fraction: reader.fraction() })?;
        }
        engine.tell(&Event::Finished { phase })?;
        Ok(profile)
    }

    /// Reads a block; row i of it counts as often as its weight says, and is not there where that is 0.
    pub fn absorb(&mut self, table: &Table, weight: &dyn Fn(usize) -> f64) {
        self.rows += table.rows as u64;
        let weights: Vec<f64> = (0..table.rows).map(weight).collect();
        let there: Vec<usize> = (0..table.rows).filter(|&i| weights[i] > 0.0).collect();
        if there.len() == table.rows {
            self.absorb_weighted(table, &weights);
        } else {
            let weights: Vec<f64> = there.iter().map(|&i| weights[i]).collect();
            self.absorb_weighted(&table.chosen(&there), &weights);
        }
    }

    fn absorb_weighted(&mut self, table: &Table, weights: &[f64]) {
        let columns = self.profiles.iter_mut().zip(&table.columns);
        columns.for_each(|(profile, column)| profile.absorb(column, weights));
        self.sample.absorb(table, weights);
    }

    /// Adds what another has read of other rows.
    pub fn merge(&mut self, other: &TableProfile) {
        self.rows += other.rows;
        self.profiles.iter_mut().zip(&other.profiles).for_each(|(own, other)| own.merge(other));
        self.sample.merge(&other.sample);
    }

    /// The same, none of whose columns is left out because it does not vary: columns of arrays are counted.
    pub fn keeping_constants(self) -> TableProfile {
        TableProfile { keeps_constants: true, ..self }
    }

    /// Rows read.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The columns.
    pub fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    /// What is known of each.
    pub fn profiles(&self) -> &[ColumnProfile] {
        &self.profiles
    }

    /// Whether nothing can be learnt from column j; of a table that nothing was read of, none is known to be so.
    pub(super) fn is_constant(&self, j: usize) -> bool {
        self.rows > 0 && !self.keeps_constants && self.profiles[j].is_constant()
    }

    /// How column j is encoded where nothing is said of it; texts that were not read, and sparse rows, are not.
    pub(super) fn encoding(&self, j: usize) -> Result<Option<Encoding>> {
        let CellFormat { decimal_comma, day_first, .. } = self.formats[j];
        Ok(Some(match &self.profiles[j] {
            ColumnProfile::Number(profile) => {
                let fitted = match self.rows {
                    0 => NumberEncoding::default(),
                    _ => profile.encoding().with_curve(self.scaling, &self.sample.numbers(j)),
                };
                Encoding::Number(NumberEncoding { decimal_comma, ..fitted })
            }
            ColumnProfile::Boolean(profile) => Encoding::Boolean(profile.encoding()),
            ColumnProfile::Category(profile) => match self.by_target {
                Some(outputs) if profile.has_many_levels() => {
                    Encoding::Target(TargetEncoding::of_levels(profile.distinct()).with_outputs(outputs))
                }
                _ => Encoding::Category(profile.encoding()),
            },
            ColumnProfile::Date(profile) => Encoding::Date(DateEncoding { day_first, ..profile.encoding() }),
            ColumnProfile::Text(profile) if profile.rows > 0 => {
                Encoding::Text(TextEncoding::new(profile.sequence())?)
            }
            ColumnProfile::Text(_) | ColumnProfile::Sparse => return Ok(None),
        }))
    }
}

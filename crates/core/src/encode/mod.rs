//! Columns → rows: which columns, in which order, how scaled, and how texts become numbers; fitted to data and kept in the model.

mod boolean;
mod category;
mod cells;
mod curve;
mod date;
mod inputs;
mod labels;
mod layout;
mod metric;
mod number;
mod profile;
mod remark;
mod scaled;
mod scaling;
mod sequence;
mod tables;
mod target;
mod text;

pub use self::inputs::{Declared, Inputs, inputs};
pub use boolean::{BooleanEncoding, BooleanProfile};
pub use category::{CategoryEncoding, CategoryProfile};
pub use curve::{ColumnScaling, Curve};
pub use date::{DateEncoding, DateProfile};
pub use labels::{Decided, LabelIndex, LabelKind, Labels, TargetScan, Task};
pub use metric::{Form, Metric, Stretch};
pub use number::{NumberEncoding, NumberProfile};
pub use profile::{ColumnProfile, TableProfile};
pub use remark::{Remark, identifiers};
pub use scaled::Scaled;
pub use scaling::Scaling;
pub use sequence::{Documents, Grams, Sequence, SequenceEncoder};
pub use tables::{TableRows, rows_of};
pub use target::TargetEncoding;
pub use text::{TextEncoding, TextProfile};

pub(crate) use curve::KNOTS;
pub(crate) use layout::{Layout, Place};
pub(crate) use metric::{ADDED, Root};
pub(crate) use scaled::AnyOwned;
pub(crate) use tables::Learning;
pub(crate) use target::TargetMeans;

use std::collections::HashMap;
use std::ops::Range;

use crate::sweep::BLOCK;
use crate::table::CellFormat;
use crate::table::{ColumnInfo, ColumnKind, TableSource, position};
use serde::{Deserialize, Serialize};

use crate::{Engine, Error, Event, Kernel, OwnedRows, Result, Rows, Scalar};

/// The precision of rows and features. Sums and coefficients are double in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// f32: half the memory, twice the speed; features good to seven digits.
    #[default]
    Single,
    /// f64.
    Double,
}

impl Precision {
    /// Bytes of a number.
    pub fn bytes(self) -> usize {
        match self {
            Precision::Single => 4,
            Precision::Double => 8,
        }
    }
}

/// Which columns of a table are the inputs.
#[derive(Clone, Debug, PartialEq)]
pub enum Columns {
    /// Arrays: columns have no names.
    Unnamed {
        /// How many.
        count: usize,
    },
    /// Columns by name, each encoded in its own way.
    Named {
        /// Them.
        inputs: Vec<Input>,
    },
    /// One sparse column.
    Sparse {
        /// Its name.
        name: String,
        /// The number of columns inside.
        width: usize,
    },
}

/// A column of a table, and what becomes of it. A text may be there more than once, in different ways.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The name of the column.
    pub name: String,
    /// How its cells become numbers.
    pub encoding: Encoding,
}

/// How the cells of a column become numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Encoding {
    /// Numbers.
    Number(NumberEncoding),
    /// True and false.
    Boolean(BooleanEncoding),
    /// Levels, of which there are few.
    Category(CategoryEncoding),
    /// Levels, of which there are many.
    Target(TargetEncoding),
    /// Days and moments.
    Date(DateEncoding),
    /// Texts, hashed.
    Text(TextEncoding),
}

impl Encoding {
    /// Columns that are brought to a common scale.
    fn scaled(&self) -> usize {
        match self {
            Encoding::Number(_) | Encoding::Date(_) => 1,
            Encoding::Target(target) => target.width(),
            Encoding::Boolean(_) | Encoding::Category(_) | Encoding::Text(_) => 0,
        }
    }

    /// Columns of 0 and 1, or on a circle.
    fn plain(&self) -> usize {
        match self {
            Encoding::Number(number) => usize::from(number.indicator),
            Encoding::Boolean(boolean) => 1 + usize::from(boolean.indicator),
            Encoding::Category(category) => category.width(),
            Encoding::Date(date) => date.width(),
            Encoding::Target(_) | Encoding::Text(_) => 0,
        }
    }

    /// Columns that a text is hashed to.
    fn hashed(&self) -> usize {
        if let Encoding::Text(text) = self { text.sequence.width } else { 0 }
    }

    /// Whether its values, as a file has them, can be.
    pub(crate) fn is_sound(&self) -> bool {
        match self {
            Encoding::Number(number) => number.is_sound(),
            Encoding::Category(category) => category.is_sound(),
            Encoding::Date(date) => date.is_sound(),
            Encoding::Target(target) => target.is_sound(),
            Encoding::Boolean(_) | Encoding::Text(_) => true,
        }
    }

    /// What the cells are.
    pub fn kind(&self) -> ColumnKind {
        match self {
            Encoding::Number(_) => ColumnKind::Number,
            Encoding::Boolean(_) => ColumnKind::Boolean,
            Encoding::Category(_) | Encoding::Target(_) => ColumnKind::Category,
            Encoding::Date(_) => ColumnKind::Date,
            Encoding::Text(_) => ColumnKind::Text,
        }
    }

    /// How texts are read as such cells.
    pub fn format(&self) -> CellFormat {
        let format = CellFormat::from(self.kind());
        match self {
            Encoding::Number(number) => CellFormat { decimal_comma: number.decimal_comma, ..format },
            Encoding::Date(date) => CellFormat { day_first: date.day_first, ..format },
            _ => format,
        }
    }
}

impl Input {
    /// A column of numbers as they are, of which none may be missing.
    pub fn number(name: &str) -> Input {
        Input { name: name.to_owned(), encoding: Encoding::Number(NumberEncoding::default()) }
    }

    /// A column of texts.
    pub fn text(name: &str, sequence: Sequence) -> Result<Input> {
        Ok(Input { name: name.to_owned(), encoding: Encoding::Text(TextEncoding::new(sequence)?) })
    }

    /// How its texts become numbers, if it has texts.
    pub fn as_text(&self) -> Option<&TextEncoding> {
        if let Encoding::Text(text) = &self.encoding { Some(text) } else { None }
    }

    /// Whether rows are told apart by the cells of this column, not by what they are encoded to, which may depend on other rows.
    fn is_identified_by_cells(&self) -> bool {
        match &self.encoding {
            Encoding::Number(number) => number.indicator || number.curve != Curve::None,
            Encoding::Text(_) => false,
            Encoding::Boolean(_) | Encoding::Category(_) | Encoding::Target(_) | Encoding::Date(_) => true,
        }
    }

    /// A name for each of its columns in the order of [`Place`](layout::Place): scaled, plain, hashed.
    fn column_name(&self, place: &Place, j: usize) -> String {
        let (name, at) = (&self.name, j.saturating_sub(place.plain.start));
        match &self.encoding {
            Encoding::Target(target) if j + 1 == place.scaled.start + target.width() => {
                format!("{name} (frequency)")
            }
            Encoding::Target(_) if place.scaled.len() == 2 => format!("{name} (mean of the target)"),
            Encoding::Target(_) => format!("{name} (mean of output {})", j - place.scaled.start),
            _ if place.scaled.contains(&j) => name.clone(),
            Encoding::Number(_) => format!("{name} is missing"),
            Encoding::Boolean(_) if at > 0 => format!("{name} is missing"),
            Encoding::Boolean(_) => name.clone(),
            Encoding::Category(category) => match category.levels.get(at) {
                Some(level) => format!("{name}={level}"),
                None if category.pooled && at == category.levels.len() => format!("{name}=(other)"),
                None => format!("{name} is missing"),
            },
            Encoding::Date(date) => date.names(name).swap_remove(at),
            Encoding::Text(_) => format!("{name}[{}]", j - place.hashed.start),
        }
    }
}

impl Columns {
    /// Columns of numbers as they are.
    pub fn numbers<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Columns {
        Columns::Named { inputs: names.into_iter().map(|name| Input::number(name.as_ref())).collect() }
    }

    /// The columns by name; none of those that have no names.
    pub fn inputs(&self) -> &[Input] {
        if let Columns::Named { inputs } = self { inputs } else { &[] }
    }

    /// The same where the target has so many outputs: categories may have a column for each.
    pub(crate) fn for_outputs(mut self, outputs: usize) -> Columns {
        if let Columns::Named { inputs } = &mut self {
            for input in inputs {
                if let Encoding::Target(target) = &mut input.encoding
                    && !target.is_fitted()
                {
                    *target = std::mem::take(target).with_outputs(outputs);
                }
            }
        }
        self
    }

    /// The same for new rows, with what the levels of each input mean for the target.
    pub(crate) fn with_target_means(mut self, means: &[Option<TargetMeans>]) -> Columns {
        if let Columns::Named { inputs } = &mut self {
            for (input, means) in inputs.iter_mut().zip(means) {
                if let Some(means) = means {
                    input.encoding = Encoding::Target(means.encoding());
                }
            }
        }
        self
    }

    /// Where the columns of each input stand in the rows.
    pub(crate) fn layout(&self) -> Layout {
        Layout::of(self.inputs())
    }

    /// Columns of the rows, d.
    pub fn count(&self) -> usize {
        match self {
            Columns::Unnamed { count } => *count,
            Columns::Sparse { width, .. } => *width,
            Columns::Named { .. } => self.layout().total,
        }
    }

    /// Whether rows are sparse.
    pub(crate) fn is_sparse(&self) -> bool {
        match self {
            Columns::Unnamed { .. } => false,
            Columns::Sparse { .. } => true,
            Columns::Named { inputs } => inputs.iter().any(|input| input.as_text().is_some()),
        }
    }

    /// What the columns of the rows are called, in their order.
    pub fn column_names(&self) -> Vec<String> {
        let Columns::Named { inputs } = self else {
            return (0..self.count()).map(|j| format!("x{j}")).collect();
        };
        let Layout { places, total, .. } = self.layout();
        let mut names = vec![String::new(); total];
        for (input, place) in inputs.iter().zip(&places) {
            for j in place.parts().into_iter().flatten() {
                names[j] = input.column_name(place, j);
            }
        }
        names
    }

    /// What column j of the rows is called; of many, [`column_names`](Columns::column_names) tells them at once.
    pub fn column_name(&self, j: usize) -> String {
        let layout = self.layout();
        let found = layout.input_of(j).map(|at| self.inputs()[at].column_name(&layout.places[at], j));
        found.unwrap_or_else(|| format!("x{j}"))
    }

    /// Where they stand in a table, by name; without names, its sparse column or the first ones.
    pub fn positions(&self, columns: &[ColumnInfo]) -> Result<Vec<usize>> {
        let sparse = || columns.iter().position(|column| matches!(column.kind, ColumnKind::Sparse { .. }));
        match self {
            Columns::Unnamed { .. } if sparse().is_some() => Ok(sparse().into_iter().collect()),
            Columns::Unnamed { count } if *count <= columns.len() => Ok((0..*count).collect()),
            Columns::Unnamed { count } => Err(Error::ColumnCount { expected: *count, found: columns.len() }),
            Columns::Named { inputs } => {
                let known: HashMap<&str, usize> =
                    columns.iter().enumerate().rev().map(|(at, column)| (column.name.as_str(), at)).collect();
                let at = |input: &Input| known.get(input.name.as_str()).copied();
                inputs
                    .iter()
                    .map(|input| at(input).map_or_else(|| position(columns, &input.name), Ok))
                    .collect()
            }
            Columns::Sparse { name, .. } => Ok(vec![position(columns, name)?]),
        }
    }

    /// The same error in the words of the table, where it names a kernel of rows.
    pub fn in_words(&self, error: Error) -> Error {
        let Error::OutsideDomain { kernel, expected, row, value } = error else { return error };
        let same = |kernel, expected| Error::OutsideDomain { kernel, expected, row, value };
        let Ok(of_rows) = kernel.parse::<Kernel>() else { return same(kernel, expected) };
        let of_table = of_rows.written(self);
        // What is expected may name the part that is normalised.
        let parts = of_rows.parts().iter().zip(of_table.parts());
        let expected = parts.fold(expected, |expected, (from, to)| {
            expected.replace(&format!(" {from} "), &format!(" {to} "))
        });
        same(of_table.to_string(), expected)
    }

    /// Columns that are brought to a common scale, from the first on.
    pub fn scaled(&self) -> usize {
        match self {
            Columns::Named { .. } => self.layout().scaled,
            columns => columns.count(),
        }
    }

    /// The same with tf–idf fitted to the texts of a table: one pass, where there is something to fit.
    pub fn fit(mut self, engine: &Engine, tables: &dyn TableSource) -> Result<Columns> {
        let positions = self.positions(tables.columns())?;
        let Columns::Named { inputs } = &mut self else { return Ok(self) };
        let open =
            inputs.iter_mut().zip(positions).filter_map(|(Input { name, encoding }, at)| match encoding {
                Encoding::Text(text) if text.encoder.is_none() => Some((&*name, text, at)),
                _ => None,
            });
        let mut open: Vec<_> = open.map(|(name, text, at)| (name, text, at, Documents::default())).collect();
        if open.is_empty() {
            return Ok(self);
        }
        let phase = "texts";
        engine.tell(&Event::Started { phase })?;
        let (mut reader, mut rows) = (tables.open(engine)?, 0);
        while let Some(table) = reader.next(BLOCK)? {
            for (name, text, at, counts) in &mut open {
                let texts = cells::texts(name, &table.columns[*at])?;
                counts.absorb(engine, &text.sequence.grams, &texts, None)?;
            }
            rows += table.rows as u64;
            engine.tell(&Event::Progress { phase, rows, fraction: reader.fraction() })?;
        }
        for (_, text, _, counts) in open {
            text.encoder = Some(SequenceEncoder::new(text.sequence.clone(), Some(counts))?);
        }
        engine.tell(&Event::Finished { phase })?;
        Ok(self)
    }
}

/// From the columns of a source to the rows that a map takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoder {
    columns: Columns,
    scaling: Option<Scaling>,
    metric: Option<Metric>,
    /// Of the rows that the map takes; none: that of the rows that come.
    precision: Option<Precision>,
}

impl Encoder {
    /// Unnamed columns, as they are.
    pub fn identity(count: usize) -> Self {
        Encoder { columns: Columns::Unnamed { count }, scaling: None, metric: None, precision: None }
    }

    /// The same with other columns.
    pub fn with_columns(self, columns: Columns) -> Self {
        Encoder { columns, ..self }
    }

    /// The same with a scaling.
    pub fn with_scaling(self, scaling: Scaling) -> Self {
        Encoder { scaling: Some(scaling), ..self }
    }

    /// The same with a metric, of as many columns.
    pub fn with_metric(self, metric: Metric) -> Self {
        Encoder { metric: Some(metric), ..self }
    }

    /// The same for rows that the map takes in one precision, whatever they come in.
    pub fn with_precision(self, precision: Precision) -> Self {
        Encoder { precision: Some(precision), ..self }
    }

    /// The precision of the rows that the map takes; none where it is that of the rows that come.
    pub fn precision(&self) -> Option<Precision> {
        self.precision
    }

    /// The input columns.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The scaling, if there is one.
    pub fn scaling(&self) -> Option<&Scaling> {
        self.scaling.as_ref()
    }

    /// The learned metric, if there is one.
    pub fn metric(&self) -> Option<&Metric> {
        self.metric.as_ref()
    }

    /// Columns of the rows that a map takes: those of the source, and those that a metric adds.
    pub fn width(&self) -> usize {
        self.metric.as_ref().map_or_else(|| self.columns.count(), Metric::width)
    }

    /// How much each source column matters, by its name, the most first: its part of the mean square of the gradient that the metric was learnt from. What a column was encoded to is summed. None without a metric.
    pub fn importances(&self) -> Option<Vec<(String, f64)>> {
        let shares = self.metric.as_ref()?.importances();
        let layout = self.columns.layout();
        let sum = |part: Range<usize>| shares[part].iter().sum::<f64>();
        let mut named: Vec<(String, f64)> = match &self.columns {
            Columns::Named { inputs } => inputs
                .iter()
                .zip(layout.places)
                .map(|(input, place)| (input.name.clone(), place.parts().into_iter().map(sum).sum()))
                .collect(),
            _ => shares.iter().enumerate().map(|(j, share)| (format!("x{j}"), *share)).collect(),
        };
        // A text may be there in several ways.
        named.sort_by(|a, b| a.0.cmp(&b.0));
        named.dedup_by(|next, one| {
            let is_same = next.0 == one.0;
            if is_same {
                one.1 += next.1;
            }
            is_same
        });
        named.sort_by(|a, b| b.1.total_cmp(&a.1));
        Some(named)
    }

    /// Rows that come in another precision than the map takes, scaled and rounded to that; none if they come in it.
    pub(crate) fn rounded<T: Scalar>(&self, rows: &Rows<'_, T>) -> Option<AnyOwned> {
        let precision = self.precision.filter(|precision| precision.bytes() != size_of::<T>())?;
        let scaled = match &self.scaling {
            Some(scaling) => AnyOwned::scaled(scaling, rows, precision),
            None => AnyOwned::scaled(&Scaling::identity(rows.columns()), rows, precision),
        };
        Some(scaled)
    }

    /// Rows as the map takes them: scaled, unless they are, then stretched; none if they are so already.
    pub(crate) fn rows<T: Scalar>(
        &self,
        engine: &Engine,
        rows: &Rows<'_, T>,
        is_scaled: bool,
    ) -> Option<OwnedRows<T>> {
        let scaling = self.scaling.as_ref().filter(|_| !is_scaled);
        let scaled = scaling.map(|scaling| scaling.rows::<T, T>(rows));
        match &self.metric {
            Some(metric) => Some(metric.rows(engine, &scaled.as_ref().map_or(*rows, OwnedRows::view))),
            None => scaled,
        }
    }

    /// Dense rows with the mean of its column, as the scaling knows it, for each number that is missing.
    pub(crate) fn filled(&self, mut rows: OwnedRows<f64>) -> OwnedRows<f64> {
        let means = self.scaling.as_ref().map_or(&[][..], Scaling::shift);
        if let (OwnedRows::Dense(rows), false) = (&mut rows, means.is_empty()) {
            for row in rows.as_mut_slice().chunks_exact_mut(self.columns.count()) {
                for (x, mean) in row.iter_mut().zip(means).filter(|(x, _)| x.is_nan()) {
                    *x = *mean;
                }
            }
        }
        rows
    }

    /// Whether sparse rows lose their zeros.
    pub(crate) fn fills(&self) -> bool {
        let is_shifted = self.scaling.as_ref().is_some_and(Scaling::fills);
        is_shifted || self.metric.as_ref().is_some_and(|metric| metric.form() == Form::Full)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text that is there in two ways is one column for people.
    #[test]
    fn importances_are_summed_by_name() {
        let text = |sequence: &str| Input::text("dna", sequence.parse().unwrap()).unwrap();
        let inputs = vec![text("spectrum(k=1,width=4)"), Input::number("age"), text("spectrum(k=2,width=8)")];
        let columns = Columns::Named { inputs };
        let metric = Metric::of_chosen(columns.count(), &[0, 1, 2, 7]);
        let encoder = Encoder::identity(13).with_columns(columns).with_metric(metric);
        let found = encoder.importances().unwrap();
        assert_eq!(found, [("dna".to_owned(), 0.75), ("age".to_owned(), 0.25)]);
    }
}

//! Columns → rows: which columns, in which order, how scaled, and how texts become numbers; fitted to data and kept in the model.

mod inputs;
mod labels;
mod metric;
mod scaled;
mod scaling;
mod sequence;
mod tables;

pub use self::inputs::{Declared, inputs};
pub use labels::{LabelIndex, LabelKind, Labels, TargetScan, Task};
pub use metric::{Form, Metric, Stretch};
pub use scaled::Scaled;
pub use scaling::Scaling;
pub use sequence::{Documents, Grams, Sequence, SequenceEncoder};
pub use tables::{TableRows, rows_of};

pub(crate) use metric::{ADDED, Root};

use crate::sweep::BLOCK;
use crate::table::{Column, ColumnInfo, ColumnKind, TableSource, position};
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
    /// These columns of numbers, in this order.
    Named {
        /// Their names.
        names: Vec<String>,
    },
    /// One sparse column.
    Sparse {
        /// Its name.
        name: String,
        /// The number of columns inside.
        width: usize,
    },
    /// Columns of numbers, then texts as the columns that they are hashed to: sparse rows.
    Texts {
        /// The names of the columns of numbers, in order.
        numbers: Vec<String>,
        /// The columns of text, in order; one may be there more than once, in different ways.
        texts: Vec<Text>,
    },
}

/// A column of text, and what becomes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// The name of the column.
    pub name: String,
    /// How a text becomes numbers.
    pub sequence: Sequence,
    /// None before tf–idf was fitted.
    pub encoder: Option<SequenceEncoder>,
}

impl Text {
    /// Fitted if there is nothing to fit.
    pub fn new(name: &str, sequence: Sequence) -> Result<Text> {
        sequence.validate()?;
        let encoder = if sequence.tf_idf { None } else { Some(sequence.build()?) };
        Ok(Text { name: name.to_owned(), sequence, encoder })
    }
}

impl Columns {
    /// All columns of a table but some.
    pub fn all_but(columns: &[ColumnInfo], left_out: &[&str]) -> Result<Columns> {
        let inputs = || columns.iter().filter(|column| !left_out.contains(&column.name.as_str()));
        if let Some(ColumnInfo { name, kind: ColumnKind::Sparse { width } }) =
            inputs().find(|column| matches!(column.kind, ColumnKind::Sparse { .. }))
        {
            return Ok(Columns::Sparse { name: name.clone(), width: *width });
        }
        let names: Vec<String> = inputs().map(|column| column.name.clone()).collect();
        if names.is_empty() { Err(Error::NoColumns) } else { Ok(Columns::Named { names }) }
    }

    /// Columns of the rows, d.
    pub fn count(&self) -> usize {
        match self {
            Columns::Unnamed { count } => *count,
            Columns::Named { names } => names.len(),
            Columns::Sparse { width, .. } => *width,
            Columns::Texts { numbers, texts } => {
                texts.iter().fold(numbers.len(), |sum, text| sum.saturating_add(text.sequence.width))
            }
        }
    }

    /// Where they stand in a table, by name; without names, its sparse column or the first ones.
    pub fn positions(&self, columns: &[ColumnInfo]) -> Result<Vec<usize>> {
        let sparse = || columns.iter().position(|column| matches!(column.kind, ColumnKind::Sparse { .. }));
        match self {
            Columns::Unnamed { .. } if sparse().is_some() => Ok(sparse().into_iter().collect()),
            Columns::Unnamed { count } if *count <= columns.len() => Ok((0..*count).collect()),
            Columns::Unnamed { count } => Err(Error::ColumnCount { expected: *count, found: columns.len() }),
            Columns::Named { names } => names.iter().map(|name| position(columns, name)).collect(),
            Columns::Sparse { name, .. } => Ok(vec![position(columns, name)?]),
            Columns::Texts { numbers, texts } => {
                let names = numbers.iter().chain(texts.iter().map(|text| &text.name));
                names.map(|name| position(columns, name)).collect()
            }
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

    /// Columns that are brought to a common scale: all but the hashed ones, which stand last.
    pub fn scaled(&self) -> usize {
        match self {
            Columns::Texts { numbers, .. } => numbers.len(),
            columns => columns.count(),
        }
    }

    /// The same with tf–idf fitted to the texts of a table: one pass, where there is something to fit.
    pub fn fit(mut self, engine: &Engine, tables: &dyn TableSource) -> Result<Columns> {
        let positions = self.positions(tables.columns())?;
        let Columns::Texts { numbers, texts } = &mut self else { return Ok(self) };
        if texts.iter().all(|text| text.encoder.is_some()) {
            return Ok(self);
        }
        let phase = "texts";
        engine.tell(&Event::Started { phase })?;
        let mut counts: Vec<Documents> = texts.iter().map(|_| Documents::default()).collect();
        let (mut reader, mut rows) = (tables.open()?, 0);
        while let Some(table) = reader.next(BLOCK)? {
            for ((text, counts), &at) in texts.iter().zip(&mut counts).zip(&positions[numbers.len()..]) {
                match &table.columns[at] {
                    Column::Text(values) if text.encoder.is_none() => {
                        counts.absorb(engine, &text.sequence.grams, values, None)?;
                    }
                    Column::Text(_) => {}
                    other => return Err(not_text(&text.name, other)),
                }
            }
            rows += table.rows as u64;
            engine.tell(&Event::Progress { phase, rows, fraction: reader.fraction() })?;
        }
        for (text, counts) in texts.iter_mut().zip(counts).filter(|(text, _)| text.encoder.is_none()) {
            text.encoder = Some(SequenceEncoder::new(text.sequence.clone(), Some(counts))?);
        }
        engine.tell(&Event::Finished { phase })?;
        Ok(self)
    }
}

/// A column that should hold texts.
fn not_text(name: &str, found: &Column) -> Error {
    let found = match found {
        Column::Number(_) => "numbers",
        Column::Text(_) => "texts",
        Column::Sparse(_) => "sparse rows",
    };
    Error::ColumnKind { name: name.to_owned(), expected: "texts", found, instead: inputs::AS_TEXT }
}

/// From the columns of a source to the rows that a map takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoder {
    columns: Columns,
    scaling: Option<Scaling>,
    metric: Option<Metric>,
}

impl Encoder {
    /// Unnamed columns, as they are.
    pub fn identity(count: usize) -> Self {
        Encoder { columns: Columns::Unnamed { count }, scaling: None, metric: None }
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

    /// How much each source column matters, by its name, the most first: its part of the mean square of the gradient that the metric was learnt from. What a text was hashed to is summed. None without a metric.
    pub fn importances(&self) -> Option<Vec<(String, f64)>> {
        let shares = self.metric.as_ref()?.importances();
        let mut named: Vec<(String, f64)> = match &self.columns {
            Columns::Named { names } => names.iter().cloned().zip(shares.iter().copied()).collect(),
            Columns::Texts { numbers, texts } => {
                let mut at = numbers.len();
                let summed = texts.iter().map(|text| {
                    let start = at;
                    at += text.sequence.width;
                    (text.name.clone(), shares[start..at].iter().sum())
                });
                let numbers = numbers.iter().cloned().zip(shares.iter().copied());
                numbers.chain(summed).collect()
            }
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

    /// Rows as the map takes them: scaled, then stretched; none if they are so already.
    pub(crate) fn rows<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>) -> Option<OwnedRows<T>> {
        let scaled = self.scaling.as_ref().map(|scaling| scaling.rows::<T, T>(rows));
        match &self.metric {
            Some(metric) => Some(metric.rows(engine, &scaled.as_ref().map_or(*rows, OwnedRows::view))),
            None => scaled,
        }
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
        let text = |sequence: &str| Text::new("dna", sequence.parse().unwrap()).unwrap();
        let texts = vec![text("spectrum(k=1,width=4)"), text("spectrum(k=2,width=8)")];
        let columns = Columns::Texts { numbers: vec!["age".to_owned()], texts };
        let metric = Metric::of_chosen(columns.count(), &[0, 1, 2, 7]);
        let encoder = Encoder::identity(13).with_columns(columns).with_metric(metric);
        let found = encoder.importances().unwrap();
        assert_eq!(found, [("dna".to_owned(), 0.75), ("age".to_owned(), 0.25)]);
    }
}

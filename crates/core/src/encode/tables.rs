//! Tables as a source of rows.

use super::labels::LabelIndex;
use super::{Columns, Labels, Text, not_text};
use crate::source::{Batch, Batches, Source, Target};
use crate::table::{Column, Table, TableReader, TableSource, position};
use crate::{AnyRows, Csr, Engine, Error, Matrix, OwnedRows, Result};

/// Some columns of a table as rows, one as target. In double precision, as files are read.
pub struct TableRows<'a> {
    engine: &'a Engine,
    tables: &'a dyn TableSource,
    columns: Columns,
    positions: Vec<usize>,
    /// None where nothing is to be predicted.
    target_position: Option<usize>,
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
        let positions = columns.positions(tables.columns())?;
        let target_position = Some(position(tables.columns(), target)?);
        let index = labels.as_ref().map(Labels::index);
        let target = labels.map_or(Target::Numbers { outputs: 1 }, |labels| Target::Classes { labels });
        Ok(TableRows { engine, tables, columns, positions, target_position, target, index, rows })
    }

    /// Rows of `columns` alone: for maps, which look at no target.
    pub fn without_target(engine: &'a Engine, tables: &'a dyn TableSource, columns: Columns) -> Result<Self> {
        let positions = columns.positions(tables.columns())?;
        let target = Target::Numbers { outputs: 0 };
        Ok(TableRows {
            engine,
            tables,
            columns,
            positions,
            target_position: None,
            target,
            index: None,
            rows: None,
        })
    }

    /// Targets of a block: numbers, or positions in the labels.
    fn targets(&self, table: &Table) -> Result<Vec<f64>> {
        let Some(at) = self.target_position else { return Ok(Vec::new()) };
        let row = |i: usize| table.first_row + i as u64;
        match (&table.columns[at], &self.index) {
            (Column::Number(values), None) => Ok(values.clone()),
            (Column::Text(texts), None) => {
                texts.iter().enumerate().map(|(i, text)| number(text, row(i))).collect()
            }
            (Column::Text(texts), Some(index)) => {
                texts.iter().enumerate().map(|(i, text)| Ok(index.class(text, row(i))? as f64)).collect()
            }
            (Column::Number(values), Some(index)) => values
                .iter()
                .enumerate()
                .map(|(i, value)| Ok(index.class(&value.to_string(), row(i))? as f64))
                .collect(),
            (Column::Sparse(_), _) => Err(Error::Parameter {
                name: "target",
                expected: "a column of one value a row",
                found: "a sparse column".to_owned(),
            }),
        }
    }
}

fn number(text: &str, row: u64) -> Result<f64> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(Error::TargetText { expected: "a number", found: text.to_owned(), row }),
    }
}

/// The chosen columns of a block as rows; texts are encoded on the engine's threads.
pub fn rows_of(
    engine: &Engine,
    table: &Table,
    columns: &Columns,
    positions: &[usize],
) -> Result<OwnedRows<f64>> {
    if let Columns::Texts { numbers, texts } = columns {
        let (numbers, places) = positions.split_at(numbers.len());
        let numbers = dense(table, numbers)?;
        let encoded = texts
            .iter()
            .zip(places)
            .map(|(text, &at)| encoded(engine, text, &table.columns[at]))
            .collect::<Result<Vec<_>>>()?;
        return Ok(OwnedRows::Sparse(side_by_side(&numbers, encoded)));
    }
    if let [at] = positions
        && let Column::Sparse(values) = &table.columns[*at]
    {
        let (view, width) = (values.view(), columns.count());
        if view.columns() > width {
            return Err(Error::ColumnCount { expected: width, found: view.columns() });
        }
        return Csr::new(width, view.starts().to_vec(), view.indices().to_vec(), view.values().to_vec())
            .map(OwnedRows::Sparse);
    }
    dense(table, positions).map(OwnedRows::Dense)
}

fn dense(table: &Table, positions: &[usize]) -> Result<Matrix<f64>> {
    let mut rows = Matrix::zeros(table.rows, positions.len());
    for (j, &at) in positions.iter().enumerate() {
        let Column::Number(values) = &table.columns[at] else {
            return Err(Error::Parameter {
                name: "input columns",
                expected: "numbers",
                found: format!("text or sparse values in column {at}"),
            });
        };
        let entries = rows.as_mut_slice()[j..].iter_mut().step_by(positions.len());
        entries.zip(values).for_each(|(to, &x)| *to = x);
    }
    Ok(rows)
}

fn encoded(engine: &Engine, text: &Text, column: &Column) -> Result<Csr<f64>> {
    match (column, &text.encoder) {
        (Column::Text(texts), Some(encoder)) => encoder.encode(engine, texts),
        (Column::Text(_), None) => Err(Error::Unsupported {
            what: format!("encoding column \"{}\" by {}", text.name, text.sequence),
            reason: "tf–idf is not fitted yet",
            instead: "fit the columns to the table first",
        }),
        (other, _) => Err(not_text(&text.name, other)),
    }
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
        matches!(self.columns, Columns::Sparse { .. } | Columns::Texts { .. })
    }

    fn open(&self) -> Result<Box<dyn Batches + '_>> {
        let reader = self.tables.open()?;
        Ok(Box::new(TableBatches { source: self, reader, rows: None, targets: Matrix::zeros(0, 1) }))
    }
}

struct TableBatches<'a> {
    source: &'a TableRows<'a>,
    reader: Box<dyn TableReader + 'a>,
    /// The batch handed out last.
    rows: Option<OwnedRows<f64>>,
    targets: Matrix<f64>,
}

impl Batches for TableBatches<'_> {
    fn next(&mut self, most: usize) -> Result<Option<Batch<'_>>> {
        let Some(table) = self.reader.next(most)? else { return Ok(None) };
        let outputs = usize::from(self.source.target_position.is_some());
        self.targets = Matrix::new(table.rows, outputs, self.source.targets(&table)?)?;
        let TableRows { engine, columns, positions, .. } = self.source;
        let rows = self.rows.insert(rows_of(engine, &table, columns, positions)?);
        let rows = AnyRows::F64(rows.view());
        let targets = self.targets.view();
        Ok(Some(Batch { rows, content: rows, targets, weights: None, first_row: table.first_row }))
    }

    fn fraction(&self) -> Option<f64> {
        self.reader.fraction()
    }
}

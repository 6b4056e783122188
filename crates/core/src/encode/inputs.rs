//! A kernel and the columns of a table → the encoder's columns and the kernel of their rows.
//!
//! ```text
//! table     age   income   colour         sequence        spectrum(k=4)[sequence] + gaussian(sigma=2)[age,colour]
//! rows      0     1        2, 3, 4        5 … 4100        linear[5..4101] + gaussian(sigma=2)[0,2..5]
//! ```
//! Columns stand where `layout.rs` says; texts of the sequence kernels come last, each with columns of its own, at which nothing
//! else looks. A kernel without columns looks at all others. Where the kernel names all columns that it looks at, others are left
//! out. Numbers of columns in a kernel count the columns of numbers and dates.
//!
//! Left out, too, are columns that do not vary, where no kernel was given.

use std::collections::{HashMap, HashSet};

use super::{Columns, Encoding, Input, Layout, Sequence, TableProfile};
use crate::kernel::Places;
use crate::random::{Draws, Stream};
use crate::table::{ColumnInfo, ColumnKind, position};
use crate::{Error, Kernel, Result};

/// What to do about a column that is no text.
pub(super) const AS_TEXT: &str =
    "sequence kernels compare texts: read the column as text, or use a kernel of numbers";

/// What to do about a column that is no number.
const AS_NUMBERS: &str = "say how it becomes numbers, or use a sequence kernel on it";

/// The encoding of a column of text that every kernel may look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The name of the column.
    pub column: String,
    /// How its texts become numbers.
    pub sequence: Sequence,
}

/// What a table becomes for a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Inputs {
    /// The columns that are encoded, and how.
    pub columns: Columns,
    /// The kernel of their rows, where one was given.
    pub kernel: Option<Kernel>,
    /// Columns that were left out because they do not vary.
    pub constant: Vec<String>,
}

/// The columns of a table, but for some, as a kernel needs them, and the kernel for their rows. No kernel stands for one of all columns. Hashing is seeded with `seed`, each text in its own way.
pub fn inputs(
    kernel: Option<&Kernel>,
    table: &TableProfile,
    left_out: &[&str],
    declared: &[Declared],
    seed: u64,
) -> Result<Inputs> {
    let infos = table.columns();
    let left_out: HashSet<&str> = left_out.iter().copied().collect();
    let is_left_out = |info: &ColumnInfo| left_out.contains(info.name.as_str());
    let sparse = infos.iter().filter(|info| !is_left_out(info)).find_map(|info| match info.kind {
        ColumnKind::Sparse { width } => Some(Columns::Sparse { name: info.name.clone(), width }),
        _ => None,
    });
    if let Some(columns) = sparse {
        let kernel = kernel.map(|kernel| kernel.bind(&[])).transpose()?;
        return Ok(Inputs { columns, kernel, constant: Vec::new() });
    }
    let own = kernel.map(Kernel::sequences).transpose()?.unwrap_or_default();
    let named = kernel.and_then(Kernel::names_only);
    let named: Option<HashSet<String>> = named.map(|names| names.into_iter().collect());
    let is_looked_at = |name: &String| named.as_ref().is_none_or(|names| names.contains(name));
    check_declared(declared, &is_looked_at)?;
    let of_declared = declared.iter().map(|text| text.column.as_str());
    let texts_of_their_own: HashSet<&str> =
        own.iter().map(|(column, _)| column.as_str()).chain(of_declared).collect();
    let is_text_of_its_own = |name: &String| texts_of_their_own.contains(name.as_str());

    let (mut inputs, mut texts, mut constant) = (Vec::new(), Vec::new(), Vec::new());
    for (j, info) in infos.iter().enumerate() {
        if is_left_out(info) || is_text_of_its_own(&info.name) || !is_looked_at(&info.name) {
            continue;
        }
        if kernel.is_none() && table.is_constant(j) {
            constant.push(info.name.clone());
            continue;
        }
        match table.encoding(j)? {
            Some(Encoding::Text(text)) => texts.push((info.name.clone(), text.sequence)),
            Some(encoding) => inputs.push(Input { name: info.name.clone(), encoding }),
            None => {}
        }
    }
    let declared = declared.iter().map(|text| (text.column.clone(), text.sequence.clone()));
    let all: Vec<(String, Sequence)> = declared.chain(texts).chain(own.iter().cloned()).collect();
    let known: HashMap<&str, ColumnKind> = infos.iter().map(|info| (info.name.as_str(), info.kind)).collect();
    for (at, (column, sequence)) in all.into_iter().enumerate() {
        let kind = known.get(column.as_str()).copied();
        // One that is not there is an error.
        let kind = kind.map_or_else(|| position(infos, &column).map(|at| infos[at].kind), Ok)?;
        expect_text(kind, left_out.contains(column.as_str()), &column)?;
        let seed = seed_of(seed, at);
        inputs.push(Input::text(&column, Sequence { seed, ..sequence })?);
    }
    if inputs.is_empty() {
        return Err(Error::NoColumns);
    }
    let layout = Layout::of(&inputs);
    if layout.total > u32::MAX as usize {
        return Err(Error::Overflow { what: "the columns of all texts" });
    }
    let kernel =
        kernel.map(|kernel| placed(kernel, infos, &inputs, &layout, inputs.len() - own.len())).transpose()?;
    Ok(Inputs { columns: Columns::Named { inputs }, kernel, constant })
}

/// Every text that is declared is looked at, and declared once.
fn check_declared(declared: &[Declared], is_looked_at: &dyn Fn(&String) -> bool) -> Result<()> {
    if let Some(unused) = declared.iter().find(|declared| !is_looked_at(&declared.column)) {
        return Err(Error::Unsupported {
            what: format!("encoding column \"{}\"", unused.column),
            reason: "no part of the kernel looks at it",
            instead: "name it in the kernel, as in gaussian(sigma=1)[column], or leave its encoding out",
        });
    }
    let mut seen = HashSet::new();
    match declared.iter().find(|text| !seen.insert(text.column.as_str())) {
        Some(twice) => Err(Error::Parameter {
            name: "the encodings of columns",
            expected: "one for each column",
            found: format!("two for \"{}\"", twice.column),
        }),
        None => Ok(()),
    }
}

/// The kernel of rows; the last inputs, from `own` on, are the texts of its sequence kernels.
fn placed(
    kernel: &Kernel,
    table: &[ColumnInfo],
    inputs: &[Input],
    layout: &Layout,
    own: usize,
) -> Result<Kernel> {
    let mut places = Places { total: layout.total, shared: layout.dense, ..Places::default() };
    for (at, (input, place)) in inputs.iter().zip(&layout.places).enumerate() {
        if at < own {
            places.named.push((input.name.clone(), place.parts()));
            places.shared = places.shared.max(place.hashed.end);
        } else if let Some(text) = input.as_text() {
            places.own.push((input.name.clone(), Kernel::from(&text.sequence), place.hashed.clone()));
        }
        places.numbers += place.scaled.len();
    }
    let known: Vec<String> = table.iter().map(|column| column.name.clone()).collect();
    kernel.placed(&places, &known, AS_NUMBERS)
}

fn expect_text(kind: ColumnKind, is_left_out: bool, name: &str) -> Result<()> {
    let found = match kind {
        ColumnKind::Text if is_left_out => {
            return Err(Error::Unsupported {
                what: format!("learning from column \"{name}\""),
                reason: "it is the target, or left out",
                instead: "look at another column",
            });
        }
        ColumnKind::Text => return Ok(()),
        ColumnKind::Number => "numbers",
        ColumnKind::Boolean => "true and false",
        ColumnKind::Category => "categories",
        ColumnKind::Date => "dates",
        ColumnKind::Sparse { .. } => "sparse rows",
    };
    Err(Error::ColumnKind { name: name.to_owned(), expected: "texts", found, instead: AS_TEXT })
}

/// Each text is hashed in its own way, so that products of their kernels are as unbiased as the kernels.
fn seed_of(seed: u64, at: usize) -> u64 {
    if at == 0 {
        return seed;
    }
    // Beyond the parts of any map.
    let mut draws = Draws::new(seed, Stream::Parts, 1 << 63 | at as u64);
    u64::from(draws.word()) << 32 | u64::from(draws.word())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{CategoryColumn, Column, Table};

    /// Half of the columns are left out, a quarter are texts, each declared: nothing looks through all columns for each of them.
    #[test]
    fn wide_tables_take_time_in_proportion() {
        let kind = |j: usize| if j % 4 == 1 { ColumnKind::Text } else { ColumnKind::Number };
        let infos: Vec<ColumnInfo> =
            (0..20_000).map(|j| ColumnInfo { name: format!("column number {j}"), kind: kind(j) }).collect();
        let left_out: Vec<&str> = infos.iter().step_by(2).map(|info| info.name.as_str()).collect();
        let texts = infos.iter().filter(|info| info.kind == ColumnKind::Text);
        let sequence: Sequence = "spectrum(k=1,width=4)".parse().unwrap();
        let declared: Vec<Declared> =
            texts.map(|info| Declared { column: info.name.clone(), sequence: sequence.clone() }).collect();
        let profile = TableProfile::new(&infos);
        let started = std::time::Instant::now();
        let found = inputs(None, &profile.leaving_out(&left_out), &left_out, &declared, 0).unwrap();
        let names = found.columns.column_names();
        // It was a minute when each column was looked for among all others.
        assert!(started.elapsed().as_secs_f64() < 2.0, "{:?}", started.elapsed());
        assert_eq!(found.columns.inputs().len(), 10_000);
        assert_eq!((names[0].as_str(), names.len()), ("column number 3", 25_000));
        for j in [0, 4999, 5000, 24_999] {
            assert_eq!(names[j], found.columns.column_name(j));
        }
    }

    /// A code beyond the levels is a missing cell, wherever it comes from.
    #[test]
    fn codes_beyond_the_levels_are_missing() {
        let infos = [ColumnInfo { name: "level".to_owned(), kind: ColumnKind::Category }];
        let cells: CategoryColumn = ["a", "b", "a"].map(Some).into_iter().collect();
        let column = |codes: Vec<u32>| vec![Column::Category(CategoryColumn { codes, ..cells.clone() })];
        let mut profile = TableProfile::new(&infos);
        profile.absorb(&Table { rows: 4, columns: column(vec![0, 1, 0, 7]), first_row: 0 }, &|_| 1.0);
        let found = inputs(None, &profile, &[], &[], 0).unwrap().columns;
        let table = Table { rows: 2, columns: column(vec![9, u32::MAX]), first_row: 0 };
        assert!(table.columns[0].is_missing(0) && table.hash(0) == table.hash(1));
        let rows = crate::encode::rows_of(&crate::Engine::default(), &table, &found, &[0]).unwrap();
        let crate::OwnedRows::Dense(rows) = rows else { panic!("levels are dense") };
        assert_eq!(rows.as_slice(), [0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    }
}

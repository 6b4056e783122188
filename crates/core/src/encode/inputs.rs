//! A kernel and the columns of a table → the encoder's columns and the kernel of their rows.
//!
//! ```text
//! table     age   income   sequence                      spectrum(k=4)[sequence] + gaussian(sigma=2)[age,income]
//! rows      0     1        2 … 4097                      linear[2..4098] + gaussian(sigma=2)[0,1]
//! ```
//! Columns of numbers come first. Then come texts whose encoding was declared, which any kernel may look at by the name of their column; then those of the sequence kernels, each with columns of its own, at
//! which nothing else looks. A kernel without columns looks at all numbers and all declared texts. Numbers that no part of the kernel looks at are left out where there are texts. Numbers of columns in a
//! kernel count the columns of numbers.

use super::{Columns, Sequence, Text};
use crate::kernel::Places;
use crate::random::{Draws, Stream};
use crate::table::{ColumnInfo, ColumnKind, position};
use crate::{Error, Kernel, Result};

/// What to do about a column that is no text.
pub(super) const AS_TEXT: &str =
    "sequence kernels compare texts: read the column as text, or use a kernel of numbers";

/// What to do about a column that is no number.
const AS_NUMBERS: &str =
    "say how it becomes numbers, as in --sequence 'COLUMN=spectrum(k=5)', or use a sequence kernel on it";

/// The encoding of a column of text that every kernel may look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The name of the column.
    pub column: String,
    /// How its texts become numbers.
    pub sequence: Sequence,
}

/// The columns of a table, but for some, as a kernel needs them, and the kernel for their rows. No kernel stands for one of all columns. Hashing is seeded with `seed`, each text in its own way.
pub fn inputs(
    kernel: Option<&Kernel>,
    table: &[ColumnInfo],
    left_out: &[&str],
    declared: &[Declared],
    seed: u64,
) -> Result<(Columns, Option<Kernel>)> {
    let own = kernel.map(Kernel::sequences).transpose()?.unwrap_or_default();
    if declared.is_empty() && own.is_empty() {
        return plain(kernel, table, left_out);
    }
    let named = kernel.and_then(Kernel::names_only);
    let is_unused =
        |declared: &&Declared| named.as_ref().is_some_and(|names| !names.contains(&declared.column));
    if let Some(unused) = declared.iter().find(is_unused) {
        return Err(Error::Unsupported {
            what: format!("encoding column \"{}\"", unused.column),
            reason: "no part of the kernel looks at it",
            instead: "name it in the kernel, as in gaussian(sigma=1)[column], or leave its encoding out",
        });
    }
    let mut texts = Vec::new();
    let all = declared
        .iter()
        .map(|text| (&text.column, &text.sequence))
        .chain(own.iter().map(|(column, sequence)| (column, sequence)));
    for (at, (column, sequence)) in all.enumerate() {
        expect_text(table, left_out, column)?;
        texts.push(Text::new(column, Sequence { seed: seed_of(seed, at), ..sequence.clone() })?);
    }
    if let Some(at) =
        (1..declared.len()).find(|&at| texts[..at].iter().any(|text: &Text| text.name == texts[at].name))
    {
        return Err(Error::Parameter {
            name: "the encodings of columns",
            expected: "one for each column",
            found: format!("two for \"{}\"", texts[at].name),
        });
    }
    let is_number =
        |column: &&ColumnInfo| column.kind == ColumnKind::Number && !left_out.contains(&column.name.as_str());
    let is_needed = |column: &&ColumnInfo| named.as_ref().is_none_or(|names| names.contains(&column.name));
    let numbers: Vec<String> =
        table.iter().filter(is_number).filter(is_needed).map(|column| column.name.clone()).collect();
    let mut places = Places { numbers: numbers.clone(), ..Places::default() };
    let mut start = numbers.len();
    for (at, text) in texts.iter().enumerate() {
        let end = start.saturating_add(text.sequence.width);
        let range = start..end;
        if at < declared.len() {
            places.declared.push((text.name.clone(), range));
            places.shared = end;
        } else {
            places.own.push((text.name.clone(), Kernel::from(&text.sequence), range));
        }
        start = end;
    }
    places.shared = places.shared.max(numbers.len());
    places.total = start;
    if start > u32::MAX as usize {
        return Err(Error::Overflow { what: "the columns of all texts" });
    }
    let known: Vec<String> = table.iter().map(|column| column.name.clone()).collect();
    let kernel = kernel.map(|kernel| kernel.placed(&places, &known, AS_NUMBERS)).transpose()?;
    Ok((Columns::Texts { numbers, texts }, kernel))
}

/// A table of numbers, or a sparse one.
fn plain(
    kernel: Option<&Kernel>,
    table: &[ColumnInfo],
    left_out: &[&str],
) -> Result<(Columns, Option<Kernel>)> {
    let columns = Columns::all_but(table, left_out)?;
    let names: &[String] = if let Columns::Named { names } = &columns { names } else { &[] };
    let kernel = kernel.map(|kernel| kernel.bind(names)).transpose()?;
    Ok((columns, kernel))
}

fn expect_text(table: &[ColumnInfo], left_out: &[&str], name: &str) -> Result<()> {
    let found = match table[position(table, name)?].kind {
        ColumnKind::Text if left_out.contains(&name) => {
            return Err(Error::Unsupported {
                what: format!("learning from column \"{name}\""),
                reason: "it is the target, or left out",
                instead: "look at another column",
            });
        }
        ColumnKind::Text => return Ok(()),
        ColumnKind::Number => "numbers",
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

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
    let is_left_out = |info: &ColumnInfo| left_out.contains(&info.name.as_str());
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
    let is_looked_at = |name: &String| named.as_ref().is_none_or(|names| names.contains(name));
    check_declared(declared, &is_looked_at)?;
    let is_text_of_its_own = |name: &String| {
        own.iter().any(|(column, _)| column == name) || declared.iter().any(|text| text.column == *name)
    };

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
    for (at, (column, sequence)) in all.into_iter().enumerate() {
        expect_text(infos, left_out, &column)?;
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
    let is_twice = |at: &usize| declared[..*at].iter().any(|text| text.column == declared[*at].column);
    match (1..declared.len()).find(is_twice) {
        Some(at) => Err(Error::Parameter {
            name: "the encodings of columns",
            expected: "one for each column",
            found: format!("two for \"{}\"", declared[at].column),
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

//! Kernels of texts.
//!
//! ```text
//! k(a, b) = Σ_u count_u(a)·count_u(b)        u: the grams of the texts; with tf–idf, times idf_u²
//! ```
//! A leaf of an expression until the columns are known: it stands on one column of text, whose grams the encoder counts and hashes, and becomes the linear kernel of the encoder's columns
//! (`encode/inputs.rs`). What is counted is said in `encode/sequence.rs`.

use std::fmt;
use std::ops::Range;

use super::{Column, Function, Kernel, columns};
use crate::encode::{Columns, Grams, Input, Place, Sequence};
use crate::{Error, Result};

/// Where the columns of a table stand in the rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// The first columns, at which a kernel may look by number.
    pub(crate) numbers: usize,
    /// The columns of what any kernel may look at by name.
    pub(crate) named: Vec<(String, Vec<Range<usize>>)>,
    /// Texts of sequence kernels.
    pub(crate) own: Vec<(String, Kernel, Range<usize>)>,
    /// Columns that a kernel without columns looks at: the first ones.
    pub(crate) shared: usize,
    /// All of them.
    pub(crate) total: usize,
}

impl From<Grams> for Kernel {
    fn from(grams: Grams) -> Kernel {
        Kernel::from(&Sequence::new(grams))
    }
}

/// Without its seed and its length.
impl From<&Sequence> for Kernel {
    fn from(sequence: &Sequence) -> Kernel {
        let Sequence { grams, tf_idf, width, nonzeros, .. } = sequence.clone();
        Kernel::Sequence { grams, tf_idf, width, nonzeros }
    }
}

impl Kernel {
    /// How its texts become numbers, of a sequence kernel without a column.
    pub(crate) fn sequence(&self) -> Option<Sequence> {
        match self {
            Kernel::Sequence { grams, tf_idf, width, nonzeros } => Some(Sequence {
                tf_idf: *tf_idf,
                width: *width,
                nonzeros: *nonzeros,
                ..Sequence::new(grams.clone())
            }),
            _ => None,
        }
    }

    /// The text columns that its sequence kernels look at, each once.
    pub fn texts(&self) -> Vec<String> {
        let mut names = Vec::new();
        for (name, _) in self.sequences().unwrap_or_default() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The sequence kernels of the expression with their columns, each pair once, in order.
    pub(crate) fn sequences(&self) -> Result<Vec<(String, Sequence)>> {
        let mut found = Vec::new();
        self.collect_sequences(&mut found)?;
        Ok(found)
    }

    fn collect_sequences(&self, found: &mut Vec<(String, Sequence)>) -> Result<()> {
        match self {
            Kernel::Sequence { .. } => Err(self.without_text()),
            Kernel::Restricted { columns, kernel } => {
                if let (Some(sequence), [Column::Name(name)]) = (kernel.sequence(), columns.as_slice()) {
                    let one = (name.clone(), sequence);
                    if !found.contains(&one) {
                        found.push(one);
                    }
                }
                Ok(())
            }
            _ => self.parts().iter().try_for_each(|part| part.collect_sequences(found)),
        }
    }

    /// The names of all columns that it looks at; none if some part looks at all columns, or at columns by number, or no part at any.
    pub fn names_only(&self) -> Option<Vec<String>> {
        let mut names = Vec::new();
        (self.collect_names(&mut names) && !names.is_empty()).then_some(names)
    }

    fn collect_names(&self, names: &mut Vec<String>) -> bool {
        let mut add = |columns: &[Column]| {
            columns.iter().all(|column| match column {
                Column::Name(name) => {
                    names.push(name.clone());
                    true
                }
                _ => false,
            })
        };
        match self {
            Kernel::Constant => true,
            Kernel::Restricted { columns, .. } => add(columns),
            Kernel::Weighted { function, kernel } => {
                function.columns.as_deref().is_some_and(add) && kernel.collect_names(names)
            }
            node => !node.parts().is_empty() && node.parts().iter().all(|part| part.collect_names(names)),
        }
    }

    /// The same for rows: sequence kernels are linear on their columns, all others look at theirs. `known` are the names of all columns.
    pub(crate) fn placed(&self, places: &Places, known: &[String], instead: &'static str) -> Result<Kernel> {
        let all = |columns: &[Column]| {
            let each = columns.iter().map(|column| places.columns(column, known, instead));
            each.collect::<Result<Vec<_>>>().map(|columns| columns.concat())
        };
        let leaf = |leaf: &Kernel| match leaf {
            Kernel::Constant => Ok(Kernel::Constant),
            Kernel::Sequence { .. } => Err(leaf.without_text()),
            Kernel::Restricted { columns, kernel } if kernel.sequence().is_some() => {
                let is_own = |(name, own, _): &&(String, Kernel, Range<usize>)| {
                    matches!(columns.as_slice(), [Column::Name(column)] if column == name) && **kernel == *own
                };
                let (_, _, range) = places.own.iter().find(is_own).ok_or_else(|| leaf.without_text())?;
                Ok(places.restricted(Kernel::Linear, vec![as_column(range)]))
            }
            Kernel::Restricted { columns, kernel } => {
                Ok(places.restricted((**kernel).clone(), all(columns)?))
            }
            leaf => Ok(places.restricted(leaf.clone(), places.shared(leaf)?)),
        };
        let function = |function: &Function| {
            let columns = match &function.columns {
                Some(columns) => all(columns)?,
                None => places.shared(self)?,
            };
            let columns = (!places.is_all(&columns)).then_some(columns);
            Ok(Function { columns, ..function.clone() })
        };
        self.rebuilt(&leaf, &function)
    }

    /// The kernel of a table that this one of its rows stands for: columns by their names, and sequence kernels in place of linear ones of hashed columns.
    pub fn written(&self, columns: &Columns) -> Kernel {
        let names = Names::of(columns);
        let leaf = |leaf: &Kernel| {
            Ok(match leaf {
                Kernel::Restricted { columns, kernel } => names.leaf(kernel, columns),
                leaf => names.leaf(leaf, &[Column::Range(0, names.total)]),
            })
        };
        let function = |function: &Function| {
            let columns = function.columns.as_deref().map(|columns| names.named(columns));
            Ok(Function { columns, ..function.clone() })
        };
        self.rebuilt(&leaf, &function).unwrap_or_else(|_| self.clone())
    }

    /// A sequence kernel where there are no texts.
    pub(super) fn without_text(&self) -> Error {
        Error::Unsupported {
            what: format!("{self} of rows of numbers"),
            reason: "it compares the texts of one column, which an encoder turns into numbers first",
            instead: "name the column, as in spectrum(k=5)[sequence], and fit to a table that has it as text (bochner fit, or encode::inputs in Rust)",
        }
    }

    /// A sequence kernel stands on one column by name.
    pub(super) fn validate_text(columns: &[Column], kernel: &Kernel) -> Result<()> {
        match columns {
            [Column::Name(_)] => Ok(()),
            _ => Err(Error::Parameter {
                name: "the column of a sequence kernel",
                expected: "one, by its name",
                found: Kernel::Restricted { columns: columns.to_vec(), kernel: Box::new(kernel.clone()) }
                    .to_string(),
            }),
        }
    }
}

impl Places {
    fn is_all(&self, columns: &[Column]) -> bool {
        matches!(columns, [Column::Range(0, end)] if *end == self.total)
    }

    /// A leaf on some columns; on all, by itself.
    fn restricted(&self, kernel: Kernel, columns: Vec<Column>) -> Kernel {
        if self.is_all(&columns) { kernel } else { Kernel::Restricted { columns, kernel: Box::new(kernel) } }
    }

    /// The columns of what has none of its own.
    fn shared(&self, kernel: &Kernel) -> Result<Vec<Column>> {
        if self.shared == 0 {
            return Err(Error::Unsupported {
                what: format!("{kernel} without columns"),
                reason: "there are texts only, and each belongs to its sequence kernel",
                instead: "say how a text becomes numbers for all kernels, such as by spectrum(k=5)",
            });
        }
        Ok(vec![Column::Range(0, self.shared)])
    }

    fn columns(&self, column: &Column, known: &[String], instead: &'static str) -> Result<Vec<Column>> {
        let Column::Name(name) = column else {
            columns::check(std::slice::from_ref(column), self.numbers)?;
            return Ok(vec![column.clone()]);
        };
        if let Some((_, parts)) = self.named.iter().find(|(known, _)| known == name) {
            return Ok(parts.iter().map(as_column).collect());
        }
        if known.contains(name) {
            let (expected, found) = ("numbers", "texts");
            return Err(Error::ColumnKind { name: name.clone(), expected, found, instead });
        }
        Err(Error::MissingColumn { name: name.clone(), found: known.to_vec() })
    }
}

fn as_column(part: &Range<usize>) -> Column {
    if part.len() == 1 { Column::At(part.start) } else { Column::from(part.clone()) }
}

/// What the columns of rows were in the table.
struct Names<'a> {
    /// The columns of each input.
    inputs: Vec<(Vec<Column>, &'a Input)>,
    total: usize,
}

impl<'a> Names<'a> {
    fn of(columns: &'a Columns) -> Names<'a> {
        let parts = |place: Place| place.parts().iter().map(as_column).collect();
        let places = columns.layout().places.into_iter().map(parts);
        Names { inputs: places.zip(columns.inputs()).collect(), total: columns.count() }
    }

    fn text(&self, columns: &[Column]) -> Option<(&'a str, &'a Sequence)> {
        let (_, input) = self.inputs.iter().find(|(own, _)| own == columns)?;
        input.as_text().map(|text| (input.name.as_str(), &text.sequence))
    }

    /// Counts that are not brought to length 1 belong to a sequence kernel.
    fn leaf(&self, kernel: &Kernel, columns: &[Column]) -> Kernel {
        let restricted = |columns, kernel| Kernel::Restricted { columns, kernel: Box::new(kernel) };
        match self.text(columns) {
            Some((name, sequence)) if *kernel == Kernel::Linear && !sequence.normalise => {
                restricted(vec![Column::from(name)], Kernel::from(sequence))
            }
            _ if *kernel == Kernel::Constant || *columns == [Column::Range(0, self.total)] => kernel.clone(),
            _ => restricted(self.named(columns), kernel.clone()),
        }
    }

    /// Names in place of the columns that one input has, wherever these follow each other.
    fn named(&self, columns: &[Column]) -> Vec<Column> {
        let (mut rest, mut named) = (columns, Vec::new());
        while let Some((first, others)) = rest.split_first() {
            let found = self.inputs.iter().find(|(own, _)| !own.is_empty() && rest.starts_with(own));
            (named, rest) = match found {
                Some((own, input)) => {
                    ([named, vec![Column::from(input.name.as_str())]].concat(), &rest[own.len()..])
                }
                None => ([named, vec![first.clone()]].concat(), others),
            };
        }
        named
    }
}

/// `spectrum(k=5,width=1024)`: what is usual is not said.
pub(super) fn print(
    f: &mut fmt::Formatter<'_>,
    grams: &Grams,
    tf_idf: bool,
    width: usize,
    nonzeros: usize,
) -> fmt::Result {
    match grams {
        Grams::Spectrum { k } => write!(f, "spectrum(k={k}"),
        Grams::Gapped { length, k } => write!(f, "gapped(length={length},k={k}"),
        Grams::Mismatch { k, mismatches, alphabet } => {
            write!(f, "mismatch(k={k},m={mismatches}")?;
            if alphabet == Grams::DNA { Ok(()) } else { write!(f, ",alphabet={}", columns::quoted(alphabet)) }
        }
        Grams::Characters { from, to } => write!(f, "characters(from={from},to={to}"),
        Grams::Positional { from, to } => write!(f, "positional(from={from},to={to}"),
        Grams::Words { from, to } => write!(f, "words(from={from},to={to}"),
    }?;
    if tf_idf {
        f.write_str(",tf_idf=1")?;
    }
    if width != Sequence::WIDTH {
        write!(f, ",width={width}")?;
    }
    if nonzeros != Sequence::NONZEROS {
        write!(f, ",nonzeros={nonzeros}")?;
    }
    f.write_str(")")
}

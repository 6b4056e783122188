//! What can go wrong, as data: each variant holds what was expected, what came, and where.

use std::path::PathBuf;

/// The result of everything that can fail here.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of the library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A row has the wrong number of columns.
    #[error("expected {expected} columns, found {found}")]
    ColumnCount {
        /// Columns that the map or model was made for.
        expected: usize,
        /// Columns that came.
        found: usize,
    },

    /// Two things that go together differ in length.
    #[error("expected {expected} {what}, found {found}")]
    Length {
        /// What is counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },

    /// A number is NaN or infinite.
    #[error("expected a finite number, found {value} at row {row}, column {column} of {what}")]
    NotFinite {
        /// Which array.
        what: &'static str,
        /// Row, from 0.
        row: u64,
        /// Column, from 0.
        column: usize,
        /// The value.
        value: f64,
    },

    /// A sample weight is negative.
    #[error("expected weights that are not negative, found {value} at row {row}")]
    NegativeWeight {
        /// Row, from 0.
        row: u64,
        /// The weight.
        value: f64,
    },

    /// A cell of a column of weights is missing, infinite or negative.
    #[error("expected a weight that is not negative in column \"{column}\", found {} at row {row}", .value.map_or("none".to_owned(), |value| value.to_string()))]
    WeightCell {
        /// The column.
        column: String,
        /// Row, from 0.
        row: u64,
        /// The weight; none where it is missing.
        value: Option<f64>,
    },

    /// Numbers grew beyond what can be represented.
    #[error(
        "expected {what} to be finite, but the numbers overflowed; bring columns and targets to a smaller scale"
    )]
    Overflow {
        /// What came out infinite or undefined.
        what: &'static str,
    },

    /// An iteration did not end.
    #[error(
        "{what} did not converge in {iterations} iterations: a defect of bochner; please report it with the data"
    )]
    NotConverged {
        /// What was computed.
        what: &'static str,
        /// Iterations that were made.
        iterations: usize,
    },

    /// There is nothing to learn from.
    #[error("expected at least one row with a positive weight, found none")]
    NoRows,

    /// No row can be a landmark.
    #[error(
        "expected a landmark with k(x, x) positive and finite among {rows} rows, found none; are all rows zero?"
    )]
    NoLandmark {
        /// Rows looked at.
        rows: usize,
    },

    /// Rows without columns.
    #[error("expected at least one column, found none")]
    NoColumns,

    /// A classifier needs two classes.
    #[error("expected at least two classes, found one: {label}")]
    OneClass {
        /// The class that is there.
        label: String,
    },

    /// A parameter lies outside its domain.
    #[error("expected {name} to be {expected}, found {found}")]
    Parameter {
        /// Name of the parameter.
        name: &'static str,
        /// Its domain.
        expected: &'static str,
        /// What was given.
        found: String,
    },

    /// Something that cannot be done, with the reason and the way out.
    #[error("{what} is not possible: {reason}; {instead}")]
    Unsupported {
        /// What was asked.
        what: String,
        /// Why it cannot be.
        reason: &'static str,
        /// What to do instead.
        instead: &'static str,
    },

    /// The text of a kernel could not be read.
    #[error("kernel \"{text}\", character {at}: expected {expected}, found {found}")]
    KernelText {
        /// The whole text.
        text: String,
        /// Character, from 1.
        at: usize,
        /// What could have stood there.
        expected: String,
        /// What stands there.
        found: String,
    },

    /// The job needs more memory than it may take.
    #[error(
        "{what} needs {} of memory and {} may be used; lower the number of features or raise the limit",
        crate::plan::bytes(*.needed), crate::plan::bytes(*.limit)
    )]
    Memory {
        /// What needs it.
        what: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },

    /// No number of features that was allowed is enough.
    #[error(
        "expected a mean kernel error of at most {target}, reached {reached:.3e} with {features} features; allow more, or ask for less"
    )]
    Accuracy {
        /// What was asked for.
        target: f64,
        /// What can be said of the last map.
        reached: f64,
        /// Its features.
        features: usize,
    },

    /// A column that should be there is not.
    #[error("expected a column \"{name}\", found {}{}", list(.found), nearest(.name, .found))]
    MissingColumn {
        /// The column asked for.
        name: String,
        /// The columns that are there.
        found: Vec<String>,
    },

    /// No row has a target.
    #[error("expected a row with a target, found none in {rows}")]
    NoTargets {
        /// Rows that were read.
        rows: u64,
    },

    /// A column holds something else than what is asked of it.
    #[error("expected {expected} in column \"{name}\", found {found}; {instead}")]
    ColumnKind {
        /// The column.
        name: String,
        /// What it should hold.
        expected: &'static str,
        /// What it holds.
        found: &'static str,
        /// What to do about it.
        instead: &'static str,
    },

    /// A kernel looks at a column that is not there.
    #[error("expected a column below {count}, found {column} in the kernel (columns are counted from 0)")]
    NoSuchColumn {
        /// The number asked for.
        column: usize,
        /// How many there are.
        count: usize,
    },

    /// A row for which a kernel has no value.
    #[error("{kernel} expects {expected}, found {value} at row {row}")]
    OutsideDomain {
        /// The kernel.
        kernel: String,
        /// What it needs.
        expected: String,
        /// Row, from 0.
        row: u64,
        /// What came.
        value: f64,
    },

    /// A matrix with a negative eigenvalue where there may be none.
    #[error("expected {what} to be positive semidefinite, found the eigenvalue {:e}", six_digits(*.eigenvalue))]
    NotPositiveSemidefinite {
        /// Whose matrix.
        what: String,
        /// The smallest one.
        eigenvalue: f64,
    },

    /// A class that the model does not know.
    #[error("expected one of the model's classes ({}), found \"{label}\" at row {row}", list(.known))]
    UnknownClass {
        /// The label that came.
        label: String,
        /// Row, from 0.
        row: u64,
        /// The labels of the model.
        known: Vec<String>,
    },

    /// A target that cannot be used.
    #[error("expected {expected} as target, found \"{found}\" at row {row}")]
    TargetText {
        /// A number or a class.
        expected: &'static str,
        /// What stands there.
        found: String,
        /// Row, from 0.
        row: u64,
    },

    /// A target with so many different values that it is hardly one of classes.
    #[error(
        "expected at most {most} classes, found more, such as \"{example}\"; is the target a number or an identifier?"
    )]
    TooManyClasses {
        /// The limit.
        most: usize,
        /// One of them.
        example: String,
    },

    /// A class that is not the position of a label.
    #[error("expected classes numbered from 0 to {}, found {found} at row {row}", .classes - 1)]
    ClassCode {
        /// What came.
        found: f64,
        /// Row, from 0.
        row: u64,
        /// The number of labels.
        classes: usize,
    },

    /// A source that does not keep its word.
    #[error("expected blocks of {expected} rows until the end, found one of {found} before row {row}")]
    BlockSize {
        /// Rows asked for.
        expected: usize,
        /// Rows handed over.
        found: usize,
        /// The row that came after it.
        row: u64,
    },

    /// A matrix that should be positive definite is not.
    #[error("expected a positive definite matrix, lost it at pivot {index} of {size}; raise lambda")]
    NotPositiveDefinite {
        /// The pivot that is not positive.
        index: usize,
        /// Rows of the matrix.
        size: usize,
    },

    /// A model file that cannot be used.
    #[error("not a usable model file: {0}")]
    ModelFile(#[from] crate::model::file::FileError),

    /// A file could not be read or written.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },

    /// A source of rows failed.
    #[error(transparent)]
    Source(Box<dyn std::error::Error + Send + Sync>),

    /// The observer asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// The same about a row of a block, counted from the start of the source: `first` is the number of the block's first row.
    pub fn counted_from(self, first: u64) -> Error {
        match self {
            Error::OutsideDomain { kernel, expected, row, value } => {
                Error::OutsideDomain { kernel, expected, row: first + row, value }
            }
            Error::NotFinite { what, row, column, value } => {
                Error::NotFinite { what, row: first + row, column, value }
            }
            other => other,
        }
    }
}

/// The first few of many names.
fn list(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let mut text = names.iter().take(SHOWN).map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text += &format!(" and {} more", names.len() - SHOWN);
    }
    if text.is_empty() { "no columns with names".to_owned() } else { text }
}

/// "; did you mean …?" where one of the names is close.
fn nearest(name: &str, names: &[String]) -> String {
    let best = names.iter().min_by_key(|other| edits(name, other));
    match best {
        Some(other) if edits(name, other) <= 1 + name.chars().count() / 3 => {
            format!("; did you mean \"{other}\"?")
        }
        _ => String::new(),
    }
}

/// A number for a message: with an exponent where it would have a tail of zeros.
pub(crate) fn number(value: f64) -> String {
    let plain = value.to_string();
    // Either form reads back exactly.
    if plain.len() > 20 { format!("{value:e}") } else { plain }
}

/// The number of single-character edits between two names.
pub(crate) fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for j in 0..b.len() {
            let change = diagonal + usize::from(!x.eq_ignore_ascii_case(&b[j]));
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// What lies behind six digits of an eigenvalue is rounding.
fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_column_offers_the_nearest_name() {
        let found = vec!["age".to_owned(), "income".to_owned()];
        let text = Error::MissingColumn { name: "incom".to_owned(), found }.to_string();
        assert!(text.ends_with("did you mean \"income\"?"), "{text}");
    }

    #[test]
    fn edits_are_counted() {
        assert_eq!([edits("", "abc"), edits("kitten", "sitting"), edits("a", "a")], [3, 3, 0]);
    }
}

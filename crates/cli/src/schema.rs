//! What columns hold and what they are for, as far as somebody said it: in a file, or on the command line.
//!
//! ```toml
//! [[columns]]
//! name = "zip"
//! kind = "category"     # number, boolean, category, date, text
//! role = "input"        # input, target, weight, group, id, ignored
//! ```
//! `bochner summary -o` writes such a file, a person edits it, and `bochner fit --schema` reads it. A column
//! that is not listed, and a kind that is not said, are found by reading the data.

use std::fmt;
use std::path::Path;

use bochner::table::{CellFormat, ColumnKind};
use bochner_io::Known;
use serde::{Deserialize, Serialize};

use crate::exit::Failure;
use crate::value;

/// What a column is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    /// To learn from.
    #[default]
    Input,
    /// To be predicted.
    Target,
    /// How much a row counts.
    Weight,
    /// Which rows belong together.
    Group,
    /// Which row it is.
    Id,
    /// Nothing.
    Ignored,
}

impl Role {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Role::Input => "input",
            Role::Target => "target",
            Role::Weight => "weight",
            Role::Group => "group",
            Role::Id => "id",
            Role::Ignored => "ignored",
        }
    }
}

/// A schema file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Schema {
    #[serde(default)]
    columns: Vec<SchemaColumn>,
}

/// A column of a schema file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SchemaColumn {
    pub(crate) name: String,
    /// None: what is found by reading the data.
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    role: Role,
    /// Numbers are written as 1.234,5. None: as most of them are.
    #[serde(default)]
    decimal_comma: Option<bool>,
    /// Dates are written as 31/12/2024. None: as most of them are.
    #[serde(default)]
    day_first: Option<bool>,
}

/// What was said of the columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roles {
    /// The column to predict.
    pub(crate) target: Option<String>,
    /// The column of weights.
    pub(crate) weight: Option<String>,
    /// The column of groups.
    pub(crate) group: Option<String>,
    /// Columns that identify rows: not learned from, and copied to predictions.
    pub(crate) ids: Vec<String>,
    /// Columns not to learn from: names, patterns, or several of either with commas between them.
    pub(crate) ignored: Vec<String>,
    /// What columns hold.
    pub(crate) kinds: Vec<(String, Known)>,
}

impl Roles {
    /// Adds what a file says. What is typed counts more: a role that is typed of a column, and a column that is typed for a role. Two
    /// columns of the file cannot have one role.
    pub(crate) fn with_schema(mut self, path: Option<&Path>) -> Result<Roles, Failure> {
        let Some(path) = path else { return Ok(self) };
        let wrong = |reason: String| Failure::Usage(format!("{}: {reason}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let schema: Schema = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        let typed = self.clone();
        for (at, column) in schema.columns.iter().enumerate() {
            let name = &column.name;
            if schema.columns[..at].iter().any(|other| other.name == *name) {
                return Err(wrong(format!("column \"{name}\" is listed twice")));
            }
            let is_other = |other: &&SchemaColumn| other.role == column.role && other.role.is_single();
            if let Some(other) = schema.columns[..at].iter().find(is_other) {
                let (role, other) = (column.role.name(), &other.name);
                return Err(wrong(format!("two columns have the role {role}: \"{other}\" and \"{name}\"")));
            }
            let has_typed_role = typed.has_role(name);
            match column.role {
                _ if has_typed_role => {}
                Role::Input => {}
                Role::Target => _ = self.target.get_or_insert_with(|| name.clone()),
                Role::Weight => _ = self.weight.get_or_insert_with(|| name.clone()),
                Role::Group => _ = self.group.get_or_insert_with(|| name.clone()),
                Role::Id => self.ids.push(name.clone()),
                Role::Ignored => self.ignored.push(name.clone()),
            }
            let is_typed = self.kinds.iter().any(|(typed, _)| typed == name);
            if let (Some(kind), false) = (&column.kind, is_typed || has_typed_role || !column.role.is_read())
            {
                let kind = value::column_kind(kind)
                    .map_err(|reason| wrong(format!("column \"{name}\": {reason}")))?;
                let known = match (column.decimal_comma, column.day_first) {
                    (None, None) => Known::Kind(kind),
                    (comma, day) => Known::Format(CellFormat {
                        kind,
                        decimal_comma: comma.unwrap_or(false),
                        day_first: day.unwrap_or(false),
                    }),
                };
                self.kinds.push((name.clone(), known));
            }
        }
        Ok(self)
    }
}

impl Roles {
    /// Whether it was said what a column is for.
    fn has_role(&self, name: &str) -> bool {
        let one = [&self.target, &self.weight, &self.group];
        one.into_iter().flatten().chain(&self.ids).any(|other| other == name)
            || self.ignored.iter().any(|typed| stands_for(typed, name))
    }
}

/// Whether a column is among those that are typed: its name, or one of several with commas between them, or a pattern.
fn stands_for(typed: &str, name: &str) -> bool {
    typed == name || typed.split(',').any(|part| bochner_io::matches(part.trim(), name))
}

impl Role {
    /// Whether one column at most can have it.
    fn is_single(self) -> bool {
        matches!(self, Role::Target | Role::Weight | Role::Group)
    }

    /// Whether the cells of such a column are looked at as what they are; a target has rules of its own.
    fn is_read(self) -> bool {
        self == Role::Input
    }
}

/// A line for each column, as [`Roles::with_schema`] reads them.
pub(crate) struct Written<'a> {
    pub(crate) file: &'a str,
    pub(crate) columns: Vec<WrittenColumn<'a>>,
}

/// A column of these.
pub(crate) struct WrittenColumn<'a> {
    pub(crate) name: &'a str,
    pub(crate) format: CellFormat,
    pub(crate) role: Role,
    /// What is known of it, in words.
    pub(crate) note: String,
}

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# What the columns of {} hold, and what they are for.", one_line(self.file))?;
        writeln!(f, "# kind: number, boolean, category, date, text; left out: found by reading the data")?;
        writeln!(f, "# role: input, target, weight, group, id, ignored")?;
        for WrittenColumn { name, format, role, note } in &self.columns {
            let name = toml::Value::String((*name).to_owned());
            writeln!(f, "\n[[columns]]\nname = {name}")?;
            if !matches!(format.kind, ColumnKind::Sparse { .. }) {
                writeln!(f, "kind = \"{}\"", format.kind.name())?;
            }
            if format.decimal_comma {
                writeln!(f, "decimal_comma = true")?;
            }
            if format.day_first {
                writeln!(f, "day_first = true")?;
            }
            let note = if note.is_empty() { String::new() } else { format!("  # {}", one_line(note)) };
            writeln!(f, "role = \"{}\"{note}", role.name())?;
        }
        Ok(())
    }
}

/// Without characters that would end a comment.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, roles: Roles) -> Result<Roles, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("schema.toml");
        std::fs::write(&path, text).unwrap();
        roles.with_schema(Some(&path))
    }

    fn reason(text: &str) -> String {
        match read(text, Roles::default()) {
            Err(Failure::Usage(reason)) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let number = CellFormat { decimal_comma: true, ..CellFormat::from(ColumnKind::Number) };
        let date = CellFormat { day_first: true, ..CellFormat::from(ColumnKind::Date) };
        let text = CellFormat::from(ColumnKind::Text);
        let column = |name, format, role| WrittenColumn { name, format, role, note: "a\nb".to_owned() };
        let columns = vec![
            column("price, in \"€\"", number, Role::Input),
            column("day", date, Role::Input),
            column("y", text, Role::Target),
            column("w", number, Role::Weight),
            column("who", text, Role::Group),
            column("key", text, Role::Id),
            column("*", text, Role::Ignored),
        ];
        let written = Written { file: "a\n.csv", columns }.to_string();
        let roles = read(&written, Roles::default()).unwrap();
        assert_eq!(roles.target.as_deref(), Some("y"));
        assert_eq!((roles.weight.as_deref(), roles.group.as_deref()), (Some("w"), Some("who")));
        assert_eq!((roles.ids, roles.ignored), (vec!["key".to_owned()], vec!["*".to_owned()]));
        let kinds = [("price, in \"€\"", number), ("day", date)];
        let kinds = kinds.map(|(name, format)| (name.to_owned(), Known::Format(format)));
        assert_eq!(roles.kinds, kinds);
    }

    #[test]
    fn what_is_typed_counts_more() {
        let category = Known::Kind(ColumnKind::Category);
        let typed = Roles { kinds: vec![("a".to_owned(), category)], ..Roles::default() };
        let roles = read("[[columns]]\nname = 'a'\nkind = 'number'\n", typed).unwrap();
        assert_eq!(roles.kinds, [("a".to_owned(), category)]);
        let typed = Roles { target: Some("y".to_owned()), ..Roles::default() };
        let file = "[[columns]]\nname = 'z'\nrole = 'target'\n[[columns]]\nname = 'y'\nrole = 'weight'\n";
        let roles = read(file, typed).unwrap();
        assert_eq!((roles.target.as_deref(), roles.weight), (Some("y"), None));
        let typed = Roles { ignored: vec!["z*, w".to_owned()], ..Roles::default() };
        let roles = read(file, typed).unwrap();
        assert_eq!((roles.target, roles.weight.as_deref()), (None, Some("y")));
        let twice = "[[columns]]\nname = 'z'\nrole = 'target'\n[[columns]]\nname = 'y'\nrole = 'target'\n";
        assert!(reason(twice).contains("two columns have the role target: \"z\" and \"y\""));
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(reason("[[columns]]\nname = 'a'\nkind = 'float'\n").contains("column \"a\": expected"));
        assert!(reason("[[columns]]\nname = 'a'\nrole = 'label'\n").contains("label"));
        assert!(reason("[[columns]]\nname = 'a'\n[[columns]]\nname = 'a'\n").contains("twice"));
        assert!(reason("[[column]]\nname = 'a'\n").contains("column"));
        assert!(reason("nonsense").contains("schema.toml"));
    }
}

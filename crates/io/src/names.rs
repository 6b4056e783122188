//! Names of columns: each is there once, and found by its hash.

use std::collections::{HashMap, HashSet};

use crate::error::shortened;

/// Positions of columns by their names.
pub(crate) struct Positions(HashMap<Box<str>, usize>);

impl Positions {
    /// Of names that are there once each.
    pub(crate) fn of(names: &[String]) -> Positions {
        Positions(names.iter().enumerate().map(|(at, name)| (name.as_str().into(), at)).collect())
    }

    /// Where a column stands.
    pub(crate) fn get(&self, name: &str) -> Option<usize> {
        self.0.get(name).copied()
    }

    /// The same; a column that is not there is an error.
    pub(crate) fn find(&self, name: &str, names: &[String]) -> bochner::Result<usize> {
        self.get(name)
            .ok_or_else(|| bochner::Error::MissingColumn { name: name.to_owned(), found: names.to_vec() })
    }
}

/// Names that are there once each: others are numbered as pandas numbers them.
pub(crate) fn unique(fields: Vec<String>, warnings: &mut Vec<String>) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let taken: HashSet<String> = fields.iter().cloned().collect();
    let mut names = Vec::with_capacity(fields.len());
    let (mut renamed, mut example) = (0, String::new());
    for (column, field) in fields.into_iter().enumerate() {
        let field = if field.is_empty() { format!("Unnamed: {column}") } else { field };
        let count = seen.entry(field.clone()).or_insert(0);
        let mut name = field.clone();
        while *count > 0 && (name == field || taken.contains(&name)) {
            name = format!("{field}.{count}");
            if taken.contains(&name) {
                *count += 1;
            }
        }
        *count += 1;
        if name != field {
            renamed += 1;
            if example.is_empty() {
                example = format!("the second \"{}\" is \"{}\"", shortened(&field), shortened(&name));
            }
        }
        names.push(name);
    }
    if renamed > 0 {
        warnings
            .push(format!("columns share their names: {example}{}", if renamed > 1 { ", …" } else { "" }));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(line: &str) -> Vec<String> {
        line.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn names_are_there_once_each() {
        let mut warnings = Vec::new();
        assert_eq!(unique(fields("a,b,a,,a"), &mut warnings), ["a", "b", "a.1", "Unnamed: 3", "a.2"]);
        assert_eq!(warnings, ["columns share their names: the second \"a\" is \"a.1\", …"]);
        assert_eq!(unique(fields("a,a.1,a"), &mut Vec::new()), ["a", "a.1", "a.2"]);
        let mut none = Vec::new();
        unique(fields("a,b"), &mut none);
        assert!(none.is_empty());
    }
}

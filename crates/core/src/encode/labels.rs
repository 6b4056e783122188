//! Classes and their names, and finding out what a column of targets is.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// What labels were before they became text, so that they can be handed back as such.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelKind {
    /// Whole numbers.
    Integer,
    /// Numbers.
    Number,
    /// `true` and `false`.
    Boolean,
    /// Anything else.
    Text,
}

/// The names of classes; a class is a position among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    kind: LabelKind,
    texts: Vec<String>,
}

impl Labels {
    /// Names of one kind, in the order of classes.
    pub fn new(kind: LabelKind, texts: Vec<String>) -> Self {
        Labels { kind, texts }
    }

    /// What they were.
    pub fn kind(&self) -> LabelKind {
        self.kind
    }

    /// The number of classes.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The name of a class; empty if there is no such class.
    pub fn text(&self, class: usize) -> &str {
        self.texts.get(class).map_or("", String::as_str)
    }

    /// All names.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// From name to class. Numbers are the same class however they are written (`1`, `1.0`, `+1`), and so are `true` and `True`.
    pub fn index(&self) -> LabelIndex {
        let named = self.texts.iter().enumerate();
        let classes = named.map(|(class, text)| (canonical(self.kind, text).into_owned(), class)).collect();
        LabelIndex { classes, labels: self.clone() }
    }
}

/// Finds the class of a name.
#[derive(Clone, Debug)]
pub struct LabelIndex {
    classes: HashMap<String, usize>,
    labels: Labels,
}

impl LabelIndex {
    /// The class named `text` in row `row`.
    pub fn class(&self, text: &str, row: u64) -> Result<usize> {
        let text = text.trim();
        let found = self.classes.get(canonical(self.labels.kind, text).as_ref());
        found.copied().ok_or_else(|| Error::UnknownClass {
            label: text.to_owned(),
            row,
            known: self.labels.texts.clone(),
        })
    }
}

/// One spelling for each name.
fn canonical(kind: LabelKind, text: &str) -> Cow<'_, str> {
    match kind {
        // Whole numbers of any length: beyond 2⁵³ not all of them are f64.
        LabelKind::Integer if text.parse::<i128>().is_ok() => {
            text.parse::<i128>().map_or(Cow::Borrowed(text), |value| value.to_string().into())
        }
        LabelKind::Integer | LabelKind::Number => {
            text.parse::<f64>().map_or(Cow::Borrowed(text), |value| (value + 0.0).to_string().into())
        }
        LabelKind::Boolean => text.to_ascii_lowercase().into(),
        LabelKind::Text => text.into(),
    }
}

/// What to make of the targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Task {
    /// Classes if they are not numbers, or at most 20 different whole numbers.
    #[default]
    Auto,
    /// Numbers.
    Regression,
    /// Classes.
    Classification,
}

/// Different values kept while it is not known yet whether they are classes.
const MOST_CLASSES: usize = 1000;

/// Different whole numbers that still look like classes.
const MOST_NUMBERED_CLASSES: usize = 20;

/// Reads a column of targets to find out what it is.
#[derive(Clone, Debug, Default)]
pub struct TargetScan {
    values: BTreeSet<String>,
    too_many: bool,
    /// The first that is not a finite number, and its row.
    not_a_number: Option<(String, u64)>,
    /// Rows with finite numbers.
    numbers: u64,
    /// The first row without a target.
    empty: Option<u64>,
    not_whole: bool,
    rows: u64,
}

impl TargetScan {
    /// Reads one value.
    pub fn absorb(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() && self.empty.is_none() {
            self.empty = Some(self.rows);
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => {
                self.numbers += 1;
                self.not_whole |= value.fract() != 0.0;
            }
            _ if self.not_a_number.is_none() => self.not_a_number = Some((text.to_owned(), self.rows)),
            _ => {}
        }
        if !self.too_many && !self.values.contains(text) {
            self.too_many = self.values.len() == MOST_CLASSES;
            if !self.too_many {
                self.values.insert(text.to_owned());
            }
        }
        self.rows += 1;
    }

    /// Rows read.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The labels of a classification, or none for a regression.
    pub fn decide(&self, task: Task) -> Result<Option<Labels>> {
        let labels = self.labels();
        let few = !self.too_many && labels.len() <= MOST_NUMBERED_CLASSES;
        let looks_like_classes = self.not_a_number.is_some() || (!self.not_whole && few);
        // Measurements with a few wrong cells, not classes with strange names.
        let is_spoilt = (self.not_whole || !few) && self.numbers * 10 >= self.rows * 9;
        match (task, &self.not_a_number, self.empty) {
            (Task::Auto, Some((text, row)), _) if is_spoilt => {
                Err(Error::TargetText { expected: "a number", found: text.clone(), row: *row })
            }
            (Task::Regression, Some((text, row)), _) => {
                Err(Error::TargetText { expected: "a number", found: text.clone(), row: *row })
            }
            (Task::Regression, None, _) => Ok(None),
            (_, _, Some(row)) => Err(Error::TargetText { expected: "a class", found: String::new(), row }),
            (Task::Auto, ..) if !looks_like_classes => Ok(None),
            _ if self.too_many => Err(Error::TooManyClasses {
                most: MOST_CLASSES,
                example: self.values.first().cloned().unwrap_or_default(),
            }),
            _ => Ok(Some(labels)),
        }
    }

    /// In numerical order if all are numbers, in the order of text otherwise.
    fn labels(&self) -> Labels {
        if self.values.iter().all(|text| matches!(text.to_ascii_lowercase().as_str(), "true" | "false")) {
            let texts: BTreeSet<String> = self.values.iter().map(|text| text.to_ascii_lowercase()).collect();
            return Labels::new(LabelKind::Boolean, texts.into_iter().collect());
        }
        if self.not_a_number.is_some() {
            return Labels::new(LabelKind::Text, self.values.iter().cloned().collect());
        }
        let whole: Option<BTreeSet<i128>> = self.values.iter().map(|text| text.parse().ok()).collect();
        if let Some(whole) = whole {
            return Labels::new(LabelKind::Integer, whole.iter().map(i128::to_string).collect());
        }
        let mut values: Vec<f64> =
            self.values.iter().filter_map(|text| text.parse().ok()).map(|v: f64| v + 0.0).collect();
        values.sort_by(f64::total_cmp);
        values.dedup_by(|a, b| a.total_cmp(b).is_eq());
        let kind = if self.not_whole { LabelKind::Number } else { LabelKind::Integer };
        Labels::new(kind, values.iter().map(f64::to_string).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(values: &[&str]) -> TargetScan {
        let mut scan = TargetScan::default();
        values.iter().for_each(|value| scan.absorb(value));
        scan
    }

    #[test]
    fn whole_numbers_are_classes_in_numerical_order_and_spelled_in_any_way() {
        let labels = scan(&["10", "9.0", "+1", "-1", "1", "-0", "0"]).decide(Task::Auto).unwrap().unwrap();
        assert_eq!(labels.texts(), ["-1", "0", "1", "9", "10"]);
        assert_eq!(labels.kind(), LabelKind::Integer);
        assert_eq!(labels.index().class("+10.0", 0).unwrap(), 4);
        assert!(matches!(labels.index().class("2", 7), Err(Error::UnknownClass { row: 7, .. })));
    }

    #[test]
    fn what_a_target_is() {
        let many: Vec<String> = (0..40).map(|i| i.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(scan(&["1.5", "2"]).decide(Task::Auto).unwrap(), None);
        assert_eq!(scan(&many).decide(Task::Auto).unwrap(), None);
        assert_eq!(scan(&many).decide(Task::Classification).unwrap().unwrap().len(), 40);
        assert_eq!(scan(&["1", "0"]).decide(Task::Regression).unwrap(), None);
        assert_eq!(scan(&["b", "a", "b"]).decide(Task::Auto).unwrap().unwrap().texts(), ["a", "b"]);
        let error = scan(&["1", "x"]).decide(Task::Regression).unwrap_err().to_string();
        assert_eq!(error, "expected a number as target, found \"x\" at row 1");
        let cells: Vec<String> = (0..30).map(|i| format!("{i}.5")).collect();
        let mut cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        cells[7] = "n/a";
        let error = scan(&cells).decide(Task::Auto).unwrap_err().to_string();
        assert_eq!(error, "expected a number as target, found \"n/a\" at row 7");
        assert_eq!(scan(&cells).decide(Task::Classification).unwrap().unwrap().len(), 30);
        let bools = scan(&["True", "false", "TRUE"]).decide(Task::Auto).unwrap().unwrap();
        assert_eq!(
            (bools.kind(), bools.texts()),
            (LabelKind::Boolean, &["false".to_owned(), "true".to_owned()][..])
        );
        assert_eq!(bools.index().class("tRue", 0).unwrap(), 1);
        let long = scan(&["9007199254740993", "9007199254740992", "+9007199254740992"]);
        let long = long.decide(Task::Auto).unwrap().unwrap();
        assert_eq!(long.texts(), ["9007199254740992", "9007199254740993"]);
        assert_eq!(long.index().class("9007199254740993", 0).unwrap(), 1);
        assert_eq!(long.index().class("9007199254740992.0", 0).unwrap(), 0);
        assert!(scan(&["a", ""]).decide(Task::Auto).unwrap_err().to_string().contains("expected a class"));
    }
}

//! Classes and their names, and finding out what a column of targets is.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::table::infer::is_missing_label;
use crate::table::number;
use crate::{Error, Result, Target};

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
        let classes =
            named.map(|(class, text)| (canonical(self.kind, text.trim()).into_owned(), class)).collect();
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
    /// Classes if they are not numbers, or few different whole numbers: [`TargetScan::decide`].
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

/// Rows without which there are too few to say how many values are many.
const FEWEST_ROWS: u64 = 100;

/// What a column of targets is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The labels of a classification, or none for a regression.
    pub labels: Option<Labels>,
    /// Whether numbers have a decimal comma.
    pub decimal_comma: bool,
    /// Why, where it was ours to choose: `40 different whole numbers`.
    pub reason: String,
    /// Classes that were written in more than one way, and the spelling that they have now.
    pub respelled: Vec<String>,
}

impl Decided {
    /// Columns of numbers that the target is coded as.
    pub fn outputs(&self) -> usize {
        match &self.labels {
            Some(labels) => Target::Classes { labels: labels.clone() }.outputs(),
            None => 1,
        }
    }
}

/// Reads a column of targets to find out what it is.
#[derive(Clone, Debug, Default)]
pub struct TargetScan {
    /// Rows of each spelling.
    values: BTreeMap<String, u64>,
    too_many: bool,
    /// By the way in which they are written: with a decimal point, with a comma.
    written: [Written; 2],
    /// Rows without a target.
    missing: u64,
    rows: u64,
}

/// Targets that are numbers in one way of writing.
#[derive(Clone, Debug, Default)]
struct Written {
    /// Rows with finite numbers.
    numbers: u64,
    /// The first that is none, and its row.
    other: Option<(String, u64)>,
    not_whole: bool,
}

impl TargetScan {
    /// Reads one value.
    pub fn absorb(&mut self, text: &str) {
        let text = text.trim();
        self.rows += 1;
        if is_missing_label(text) {
            self.missing += 1;
            return;
        }
        for (written, decimal_comma) in self.written.iter_mut().zip([false, true]) {
            match number::parse(text, decimal_comma) {
                Some((value, _)) if value.is_finite() => {
                    written.numbers += 1;
                    written.not_whole |= value.fract() != 0.0;
                }
                _ if written.other.is_none() => written.other = Some((text.to_owned(), self.rows - 1)),
                _ => {}
            }
        }
        if let Some(count) = self.values.get_mut(text) {
            *count += 1;
        } else if !self.too_many {
            self.too_many = self.values.len() == MOST_CLASSES;
            if !self.too_many {
                self.values.insert(text.to_owned(), 1);
            }
        }
    }

    /// Rows read.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Rows without a target.
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// Whether numbers have a decimal comma: more of them can be read so.
    pub fn has_decimal_comma(&self) -> bool {
        self.written[1].numbers > self.written[0].numbers
    }

    /// What the targets are, by these rules:
    ///
    /// ```text
    /// classes   they are not numbers; or two different whole numbers; or at most 20, and at most 5 % of the rows (10 % of up to 1,000;
    ///           below 100 rows any 20)
    /// numbers   everything else
    /// ```
    pub fn decide(&self, task: Task) -> Result<Decided> {
        let rows = self.rows - self.missing;
        if rows == 0 {
            return Err(Error::NoTargets { rows: self.rows });
        }
        let decimal_comma = self.has_decimal_comma();
        let written = &self.written[usize::from(decimal_comma)];
        let (labels, respelled) = self.labels(written);
        let (values, are_few) = (labels.len(), self.are_few(labels.len(), rows));
        let looks_like_classes = written.other.is_some() || (!written.not_whole && are_few);
        // Measurements with a few wrong cells, not classes with strange names.
        let is_spoilt = (written.not_whole || !are_few) && written.numbers * 10 >= rows * 9;
        let reason = match (&written.other, written.not_whole) {
            _ if task != Task::Auto => String::new(),
            (Some(_), _) => "not all are numbers".to_owned(),
            (None, true) => "numbers with fractions".to_owned(),
            (None, false) if self.too_many => format!("more than {MOST_CLASSES} different whole numbers"),
            (None, false) => format!("{values} different whole numbers in {rows} rows"),
        };
        let numbers = Decided { labels: None, decimal_comma, reason: reason.clone(), respelled: Vec::new() };
        match (task, &written.other) {
            (Task::Auto, Some((text, row))) if is_spoilt => {
                Err(Error::TargetText { expected: "a number", found: text.clone(), row: *row })
            }
            (Task::Regression, Some((text, row))) => {
                Err(Error::TargetText { expected: "a number", found: text.clone(), row: *row })
            }
            (Task::Regression, None) => Ok(numbers),
            (Task::Auto, _) if !looks_like_classes => Ok(numbers),
            _ if self.too_many => Err(Error::TooManyClasses {
                most: MOST_CLASSES,
                example: self.values.keys().next().cloned().unwrap_or_default(),
            }),
            _ => Ok(Decided { labels: Some(labels), decimal_comma: false, reason, respelled }),
        }
    }

    fn are_few(&self, values: usize, rows: u64) -> bool {
        let share = if rows > 1000 { 0.05 } else { 0.1 };
        let is_small_part = rows < FEWEST_ROWS || values as f64 <= share * rows as f64;
        !self.too_many && values <= MOST_NUMBERED_CLASSES && (values <= 2 || is_small_part)
    }

    /// As they are written, the most frequent spelling of each; in numerical order if all are numbers, in the order of text
    /// otherwise. With those that were written in several ways.
    fn labels(&self, written: &Written) -> (Labels, Vec<String>) {
        let kind = self.kind(written);
        let mut classes: BTreeMap<String, Vec<(&str, u64)>> = BTreeMap::new();
        for (text, &count) in &self.values {
            classes.entry(canonical(kind, text).into_owned()).or_default().push((text, count));
        }
        let mut classes: Vec<(String, Vec<(&str, u64)>)> = classes.into_iter().collect();
        match kind {
            LabelKind::Integer if classes.iter().all(|(value, _)| value.parse::<i128>().is_ok()) => {
                classes.sort_by_key(|(value, _)| value.parse::<i128>().unwrap_or(0));
            }
            LabelKind::Integer | LabelKind::Number => {
                classes.sort_by(|(a, _), (b, _)| value_of(a).total_cmp(&value_of(b)));
            }
            LabelKind::Boolean | LabelKind::Text => {}
        }
        let mut respelled = Vec::new();
        let texts = classes.into_iter().map(|(_, spellings)| {
            // Of equally frequent ones the first in the order of text.
            let most = spellings.iter().map(|(_, count)| *count).max().unwrap_or(0);
            let chosen = spellings.iter().find(|(_, count)| *count == most).map_or("", |(text, _)| text);
            if spellings.len() > 1 {
                respelled.push(chosen.to_owned());
            }
            chosen.to_owned()
        });
        let texts = texts.collect();
        (Labels::new(kind, texts), respelled)
    }

    fn kind(&self, written: &Written) -> LabelKind {
        let is_boolean = |text: &String| matches!(text.to_ascii_lowercase().as_str(), "true" | "false");
        let is_plain = |text: &String| text.parse::<f64>().is_ok_and(f64::is_finite);
        // 01234 is a code.
        let is_code = |text: &String| {
            text.len() > 1 && text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit())
        };
        let mut texts = self.values.keys();
        if texts.clone().all(is_boolean) {
            LabelKind::Boolean
        } else if !texts.clone().all(is_plain) || texts.any(is_code) {
            LabelKind::Text
        } else if written.not_whole {
            LabelKind::Number
        } else {
            LabelKind::Integer
        }
    }
}

/// Of a plain spelling.
fn value_of(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(values: &[&str]) -> TargetScan {
        let mut scan = TargetScan::default();
        values.iter().for_each(|value| scan.absorb(value));
        scan
    }

    fn labels(values: &[&str]) -> Labels {
        scan(values).decide(Task::Auto).unwrap().labels.unwrap()
    }

    #[test]
    fn whole_numbers_are_classes_in_numerical_order_and_spelled_as_written() {
        let found = scan(&["10", "9.0", "+1", "-1", "1", "1", "-0", "0", "0"]).decide(Task::Auto).unwrap();
        let labels = found.labels.unwrap();
        assert_eq!(labels.texts(), ["-1", "0", "1", "9.0", "10"]);
        assert_eq!(found.respelled, ["0", "1"]);
        assert_eq!(labels.kind(), LabelKind::Integer);
        assert_eq!(labels.index().class("+10.0", 0).unwrap(), 4);
        assert!(matches!(labels.index().class("2", 7), Err(Error::UnknownClass { row: 7, .. })));
    }

    #[test]
    fn labels_are_written_as_they_were() {
        assert_eq!(labels(&["01234", "99999", "01234"]).texts(), ["01234", "99999"]);
        assert_eq!(labels(&["01234", "99999"]).kind(), LabelKind::Text);
        assert_eq!(labels(&["1.0", "0.0"]).texts(), ["0.0", "1.0"]);
        assert_eq!(labels(&["True", "False"]).texts(), ["False", "True"]);
        assert_eq!(labels(&["none", "-", "+"]).texts(), ["+", "-", "none"]);
        let stored = Labels::new(LabelKind::Text, vec![" a".to_owned(), "b".to_owned()]);
        assert_eq!(stored.index().class("a ", 0).unwrap(), 0);
    }

    #[test]
    fn rows_without_a_target_are_counted() {
        let scan = scan(&["a", "", "b", "NA", "nan"]);
        assert_eq!((scan.rows(), scan.missing()), (5, 3));
        assert_eq!(scan.decide(Task::Auto).unwrap().labels.unwrap().texts(), ["a", "b"]);
        let empty = super::TargetScan::default();
        assert!(matches!(empty.decide(Task::Auto), Err(Error::NoTargets { rows: 0 })));
    }

    #[test]
    fn what_a_target_is() {
        let many: Vec<String> = (0..40).map(|i| i.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let of = |values: &[&str], task| scan(values).decide(task).unwrap();
        assert_eq!(of(&["1.5", "2"], Task::Auto).labels, None);
        assert_eq!(of(&many, Task::Auto).labels, None);
        assert_eq!(of(&many, Task::Auto).reason, "40 different whole numbers in 40 rows");
        assert_eq!(of(&many, Task::Classification).labels.unwrap().len(), 40);
        assert_eq!(of(&["1", "0"], Task::Regression).labels, None);
        assert_eq!(labels(&["b", "a", "b"]).texts(), ["a", "b"]);
        // A few values of many rows are classes; of few rows they are counts, but for the fewest.
        let values = |different: usize, rows: usize| -> Vec<String> {
            (0..rows).map(|i| (i % different).to_string()).collect()
        };
        for (different, rows, are_classes) in [
            (2, 100, true),
            (2, 7, true),
            (10, 100, true),
            (11, 100, false),
            (20, 50, true),
            (20, 2000, true),
            (21, 2000, false),
        ] {
            let values = values(different, rows);
            let found =
                scan(&values.iter().map(String::as_str).collect::<Vec<_>>()).decide(Task::Auto).unwrap();
            assert_eq!(found.labels.is_some(), are_classes, "{different} of {rows}");
        }
        let error = scan(&["1", "x"]).decide(Task::Regression).unwrap_err().to_string();
        assert_eq!(error, "expected a number as target, found \"x\" at row 1");
        let cells: Vec<String> = (0..30).map(|i| format!("{i}.5")).collect();
        let mut cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        cells[7] = "unknown";
        let error = scan(&cells).decide(Task::Auto).unwrap_err().to_string();
        assert_eq!(error, "expected a number as target, found \"unknown\" at row 7");
        assert_eq!(of(&cells, Task::Classification).labels.unwrap().len(), 30);
        let bools = labels(&["True", "false", "True"]);
        assert_eq!(
            (bools.kind(), bools.texts()),
            (LabelKind::Boolean, &["false".to_owned(), "True".to_owned()][..])
        );
        assert_eq!(bools.index().class("tRue", 0).unwrap(), 1);
        let long = labels(&["9007199254740993", "9007199254740992", "+9007199254740992"]);
        assert_eq!(long.texts().len(), 2);
        assert_eq!(long.index().class("9007199254740993", 0).unwrap(), 1);
        assert_eq!(long.index().class("9007199254740992.0", 0).unwrap(), 0);
        assert!(of(&["1,5", "2", "3.000,25"], Task::Auto).decimal_comma);
    }
}

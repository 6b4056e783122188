//! A table that scrolls inside its own box.

use crate::markup::Markup;
use crate::text::Text;

/// The head of a column, and how its cells stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// What the column holds.
    pub name: String,
    /// Numbers stand to the right, so that digits line up.
    pub numeric: bool,
}

impl Column {
    /// A column of words.
    pub fn text(name: impl Into<String>) -> Self {
        Column { name: name.into(), numeric: false }
    }

    /// A column of numbers.
    pub fn number(name: impl Into<String>) -> Self {
        Column { name: name.into(), numeric: true }
    }
}

/// Rows and columns of text. Rows may be short: missing cells are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What the table says. It is numbered.
    pub caption: Text,
    /// The columns, left to right.
    pub columns: Vec<Column>,
    /// The cells, row by row.
    pub rows: Vec<Vec<String>>,
    /// The rows to bring out, counted from 0.
    pub highlighted: Vec<usize>,
}

impl Table {
    pub(crate) fn write(&self, markup: &mut Markup, number: usize) {
        let id = format!("table-{number}");
        // The box can be focused, so that a keyboard scrolls it.
        let scroll = [("class", "scroll"), ("tabindex", "0"), ("role", "group"), ("aria-labelledby", &id)];
        markup.open("div", &[("class", "table")]);
        markup.open("p", &[("class", "caption"), ("id", &id)]);
        markup.element("b", &[], &format!("Table {number}."));
        markup.text(" ");
        self.caption.write(markup);
        markup.close();
        markup.open("div", &scroll);
        markup.open("table", &[]);
        markup.open("thead", &[]);
        markup.open("tr", &[]);
        for column in &self.columns {
            cell(markup, "th", &[("scope", "col")], column, &column.name);
        }
        markup.close();
        markup.close();
        markup.open("tbody", &[]);
        for (i, row) in self.rows.iter().enumerate() {
            markup.line();
            markup.open("tr", if self.highlighted.contains(&i) { &[("class", "best")] } else { &[] });
            for (j, column) in self.columns.iter().enumerate() {
                cell(markup, "td", &[], column, row.get(j).map_or("", String::as_str));
            }
            markup.close();
        }
        for _ in ["tbody", "table", "scroll", "block"] {
            markup.close();
        }
    }
}

fn cell(
    markup: &mut Markup,
    tag: &'static str,
    attributes: &[(&'static str, &'static str)],
    column: &Column,
    text: &str,
) {
    let mut attributes = attributes.to_vec();
    if column.numeric {
        attributes.push(("class", "number"));
    }
    markup.element(tag, &attributes, text);
}

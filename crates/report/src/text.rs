//! Text with simple emphasis.

use crate::markup::Markup;

/// A piece of text in one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// As it is.
    Plain(String),
    /// Important.
    Strong(String),
    /// Stressed, or a title.
    Emphasis(String),
    /// Typed: a command, a name in code.
    Code(String),
}

/// A paragraph, a caption: pieces in a row. A string is a text too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// The pieces, in reading order.
    pub spans: Vec<Span>,
}

impl Text {
    /// Adds text as it is.
    #[must_use]
    pub fn plain(self, text: impl Into<String>) -> Self {
        self.with(Span::Plain(text.into()))
    }

    /// Adds important text.
    #[must_use]
    pub fn strong(self, text: impl Into<String>) -> Self {
        self.with(Span::Strong(text.into()))
    }

    /// Adds stressed text.
    #[must_use]
    pub fn emphasis(self, text: impl Into<String>) -> Self {
        self.with(Span::Emphasis(text.into()))
    }

    /// Adds typed text.
    #[must_use]
    pub fn code(self, text: impl Into<String>) -> Self {
        self.with(Span::Code(text.into()))
    }

    fn with(mut self, span: Span) -> Self {
        self.spans.push(span);
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    pub(crate) fn write(&self, markup: &mut Markup) {
        for span in &self.spans {
            match span {
                Span::Plain(text) => markup.text(text),
                Span::Strong(text) => markup.element("strong", &[], text),
                Span::Emphasis(text) => markup.element("em", &[], text),
                Span::Code(text) => markup.element("code", &[], text),
            }
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text::from(text.to_owned())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        if text.is_empty() { Text::default() } else { Text { spans: vec![Span::Plain(text)] } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emphasis_is_marked_and_escaped() {
        let mut markup = Markup::default();
        Text::from("a<b ").strong("c&d").plain(" ").emphasis("e").code("f").write(&mut markup);
        assert_eq!(markup.finish(), "a&lt;b <strong>c&amp;d</strong> <em>e</em><code>f</code>");
    }
}

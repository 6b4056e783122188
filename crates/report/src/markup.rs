//! A writer whose tags always balance and whose text is always escaped.

/// Markup under construction.
#[derive(Debug, Default)]
pub(crate) struct Markup {
    out: String,
    open: Vec<&'static str>,
}

/// A name and its value.
pub(crate) type Attribute<'a> = (&'a str, &'a str);

impl Markup {
    /// `<tag name="value">`, to be closed later.
    pub(crate) fn open(&mut self, tag: &'static str, attributes: &[Attribute]) {
        self.start(tag, attributes);
        self.out.push('>');
        self.open.push(tag);
    }

    /// Closes what was opened last.
    pub(crate) fn close(&mut self) {
        if let Some(tag) = self.open.pop() {
            self.out.push_str("</");
            self.out.push_str(tag);
            self.out.push('>');
        }
    }

    /// `<tag name="value"/>`: for SVG shapes, and for HTML elements that never have content.
    pub(crate) fn empty(&mut self, tag: &'static str, attributes: &[Attribute]) {
        self.start(tag, attributes);
        self.out.push_str("/>");
    }

    /// `<tag name="value">text</tag>`
    pub(crate) fn element(&mut self, tag: &'static str, attributes: &[Attribute], text: &str) {
        self.open(tag, attributes);
        self.text(text);
        self.close();
    }

    /// Text between tags.
    pub(crate) fn text(&mut self, text: &str) {
        escape(&mut self.out, text);
    }

    /// What is already markup, or a style sheet of our own.
    pub(crate) fn raw(&mut self, markup: &str) {
        self.out.push_str(markup);
    }

    /// A new line, so that a person can read the file.
    pub(crate) fn line(&mut self) {
        self.out.push('\n');
    }

    /// All of it; what is still open is closed.
    pub(crate) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.out
    }

    fn start(&mut self, tag: &str, attributes: &[Attribute]) {
        self.out.push('<');
        self.out.push_str(tag);
        for (name, value) in attributes {
            self.out.push(' ');
            self.out.push_str(name);
            self.out.push_str("=\"");
            escape(&mut self.out, value);
            self.out.push('"');
        }
    }
}

/// Characters that mean something to a parser become entities; those that XML does not allow become `�`.
fn escape(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(character),
            '\0'..' ' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_are_escaped() {
        let mut markup = Markup::default();
        markup.element("p", &[("title", "a\"b'<c>")], "x < y & y > \u{0}z\r");
        assert_eq!(
            markup.finish(),
            "<p title=\"a&quot;b&#39;&lt;c&gt;\">x &lt; y &amp; y &gt; \u{fffd}z\u{fffd}</p>"
        );
    }

    #[test]
    fn tags_balance_whatever_is_forgotten() {
        let mut markup = Markup::default();
        markup.close();
        markup.open("g", &[]);
        markup.open("text", &[]);
        markup.empty("path", &[("d", "M0 0")]);
        assert_eq!(markup.finish(), "<g><text><path d=\"M0 0\"/></text></g>");
    }
}

//! A page: text, tables and figures, and how they become one file.

use crate::figure::Figure;
use crate::markup::Markup;
use crate::table::Table;
use crate::text::Text;

/// Colours, type and layout for light and dark, phone and paper.
const STYLE: &str = include_str!("style.css");

/// One piece of a page.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Opens a section.
    Heading(String),
    /// Opens a part of a section.
    Subheading(String),
    /// A paragraph.
    Paragraph(Text),
    /// A list with bullets.
    List(Vec<Text>),
    /// A numbered table.
    Table(Table),
    /// A numbered figure.
    Figure(Figure),
    /// Text with its spaces and line breaks kept.
    Preformatted(String),
}

/// One HTML page. Fill the fields, or add blocks one by one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The heading of the page, and the name of its window.
    pub title: String,
    /// A line under the title.
    pub subtitle: String,
    /// Paragraphs that say what the page is about.
    pub intro: Vec<Text>,
    /// The body, in reading order.
    pub blocks: Vec<Block>,
    /// How this was made: data, settings, machine, command. Shown at the foot.
    pub made: Vec<Block>,
}

impl Page {
    /// An empty page.
    pub fn new(title: impl Into<String>) -> Self {
        Page { title: title.into(), ..Page::default() }
    }

    /// Opens a section.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Heading(text.into()));
    }

    /// Opens a part of a section.
    pub fn subheading(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Subheading(text.into()));
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, text: impl Into<Text>) {
        self.blocks.push(Block::Paragraph(text.into()));
    }

    /// Adds a list with bullets.
    pub fn list(&mut self, items: impl Into<Vec<Text>>) {
        self.blocks.push(Block::List(items.into()));
    }

    /// Adds a numbered table.
    pub fn table(&mut self, table: Table) {
        self.blocks.push(Block::Table(table));
    }

    /// Adds a numbered figure.
    pub fn figure(&mut self, figure: Figure) {
        self.blocks.push(Block::Figure(figure));
    }

    /// Adds text with its spaces and line breaks kept.
    pub fn preformatted(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Preformatted(text.into()));
    }

    /// The whole page as one file: no network, no script. The same page gives the same bytes.
    pub fn html(&self) -> String {
        let mut markup = Markup::default();
        markup.raw("<!DOCTYPE html>\n");
        markup.open("html", &[("lang", "en")]);
        self.head(&mut markup);
        markup.open("body", &[]);
        markup.open("main", &[]);
        self.header(&mut markup);
        let mut numbers = Numbers::default();
        for block in &self.blocks {
            block.write(&mut markup, &mut numbers);
        }
        if !self.made.is_empty() {
            markup.line();
            markup.open("footer", &[]);
            markup.element("h2", &[], "How this was made");
            for block in &self.made {
                block.write(&mut markup, &mut numbers);
            }
            markup.close();
        }
        let mut html = markup.finish();
        html.push('\n');
        html
    }

    fn head(&self, markup: &mut Markup) {
        markup.open("head", &[]);
        markup.empty("meta", &[("charset", "utf-8")]);
        for (name, content) in
            [("viewport", "width=device-width, initial-scale=1"), ("color-scheme", "light dark")]
        {
            markup.empty("meta", &[("name", name), ("content", content)]);
        }
        markup.element("title", &[], &self.title);
        markup.open("style", &[]);
        markup.line();
        markup.raw(STYLE);
        markup.close();
        markup.close();
        markup.line();
    }

    fn header(&self, markup: &mut Markup) {
        markup.open("header", &[]);
        markup.element("h1", &[], &self.title);
        if !self.subtitle.is_empty() {
            markup.element("p", &[("class", "subtitle")], &self.subtitle);
        }
        for text in &self.intro {
            markup.open("p", &[("class", "intro")]);
            text.write(markup);
            markup.close();
        }
        markup.close();
    }
}

/// How many figures and tables there are so far.
#[derive(Default)]
struct Numbers {
    figures: usize,
    tables: usize,
}

impl Block {
    fn write(&self, markup: &mut Markup, numbers: &mut Numbers) {
        markup.line();
        match self {
            Block::Heading(text) => markup.element("h2", &[], text),
            Block::Subheading(text) => markup.element("h3", &[], text),
            Block::Paragraph(text) => {
                markup.open("p", &[]);
                text.write(markup);
                markup.close();
            }
            Block::List(items) => {
                markup.open("ul", &[("class", "list")]);
                for item in items {
                    markup.open("li", &[]);
                    item.write(markup);
                    markup.close();
                }
                markup.close();
            }
            Block::Table(table) => {
                numbers.tables += 1;
                table.write(markup, numbers.tables);
            }
            Block::Figure(figure) => {
                numbers.figures += 1;
                figure.write(markup, numbers.figures);
            }
            Block::Preformatted(text) => markup.element("pre", &[("tabindex", "0")], text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_one_file_with_its_text_escaped() {
        let mut page = Page::new("a < b");
        page.paragraph("x & y");
        page.preformatted("<script>");
        let html = page.html();
        assert!(html.starts_with("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"));
        assert!(html.contains("<h1>a &lt; b</h1>") && html.contains("<p>x &amp; y</p>"));
        assert!(!html.contains("<script") && !html.contains("http"));
        assert_eq!(html, page.html());
    }

    #[test]
    fn the_style_sheet_needs_no_escape() {
        assert!(!STYLE.contains(['<', '&']));
    }
}

//! One piece of markdown, parsed and laid out: paragraphs, headings, lists, quotes, rules, tables, indented code.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui_core::style::{Modifier, Style};
use ratatui_core::text::{Line, Span};

use super::table::Table;
use super::{Shape, highlight};
use crate::text::escape;
use crate::text::row::{Look, Row, piece, row};
use crate::text::wrap;

/// Deeper nesting is shown as if it were this deep.
const DEEPEST: usize = 8;

/// The rows of one finished piece.
pub(crate) fn render(text: &str, shape: Shape) -> Vec<Row> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let text = escape::text(text);
    let mut layout = Layout::new(shape);
    for event in Parser::new_ext(&text, options) {
        layout.take(event);
    }
    layout.finish()
}

/// A list that is open: its next number, or none for bullets.
#[derive(Debug, Clone, Copy)]
struct List {
    number: Option<u64>,
}

/// What stands before the rows of an open block.
#[derive(Debug, Clone)]
struct Indent {
    /// Before the first row only.
    first: Option<String>,
    /// Before the others.
    others: String,
}

struct Layout {
    shape: Shape,
    rows: Vec<Row>,
    /// The text of the block that is open.
    spans: Vec<Span<'static>>,
    styles: Vec<Style>,
    indents: Vec<Indent>,
    lists: Vec<List>,
    /// Addresses of the links that are open, and where their labels begin.
    links: Vec<(String, usize)>,
    table: Option<Table>,
    code: Option<(String, String)>,
    wants_blank: bool,
}

impl Layout {
    fn new(shape: Shape) -> Self {
        Self {
            shape,
            rows: Vec::new(),
            spans: Vec::new(),
            styles: vec![Style::new()],
            indents: Vec::new(),
            lists: Vec::new(),
            links: Vec::new(),
            table: None,
            code: None,
            wants_blank: false,
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => {
                if let Some((_, code)) = &mut self.code {
                    code.push_str(&text);
                } else {
                    self.say(&text);
                }
            }
            Event::Code(code) => {
                let style = self.style().patch(Look::Code.style());
                self.spans.push(Span::styled(code.to_string(), style));
            }
            Event::Html(html) | Event::InlineHtml(html) => self.say(html.trim_end_matches('\n')),
            Event::SoftBreak => self.say(" "),
            Event::HardBreak => self.say("\n"),
            Event::Rule => {
                self.begin_block();
                let columns = self.shape.columns.min(40);
                self.rows.push(row("─".repeat(columns), Look::Dim));
                self.wants_blank = true;
            }
            Event::TaskListMarker(done) => self.say(if done { "[x] " } else { "[ ] " }),
            Event::FootnoteReference(name) => self.say(&format!("[^{name}]")),
            Event::InlineMath(math) | Event::DisplayMath(math) => self.say(&math),
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn say(&mut self, text: &str) {
        let style = self.style();
        self.spans.push(Span::styled(text.to_owned(), style));
    }

    fn push_modifier(&mut self, modifier: Modifier) {
        let style = self.style().add_modifier(modifier);
        self.styles.push(style);
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.begin_block(),
            Tag::Heading { level, .. } => {
                self.begin_block();
                self.push_modifier(Modifier::BOLD);
                if level == HeadingLevel::H1 {
                    self.push_modifier(Modifier::UNDERLINED);
                } else {
                    let style = self.style();
                    self.styles.push(style);
                }
            }
            Tag::BlockQuote(_) => {
                self.end_text();
                self.begin_block();
                self.indent("> ".to_owned(), "> ".to_owned());
            }
            Tag::CodeBlock(_) => {
                self.end_text();
                self.begin_block();
                self.code = Some((String::new(), String::new()));
            }
            Tag::List(number) => {
                self.end_text();
                if self.lists.is_empty() {
                    self.begin_block();
                }
                self.lists.push(List { number });
            }
            Tag::Item => {
                self.end_text();
                self.wants_blank = false;
                let mark = match self.lists.last_mut() {
                    Some(List {
                        number: Some(number),
                    }) => {
                        let mark = format!("{number}. ");
                        *number += 1;
                        mark
                    }
                    _ => "- ".to_owned(),
                };
                let others = " ".repeat(mark.len());
                self.indent(mark, others);
            }
            Tag::Emphasis => self.push_modifier(Modifier::ITALIC),
            Tag::Strong => self.push_modifier(Modifier::BOLD),
            Tag::Strikethrough => self.push_modifier(Modifier::CROSSED_OUT),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.links.push((dest_url.to_string(), self.spans.len()));
                self.push_modifier(Modifier::UNDERLINED);
            }
            Tag::Table(alignments) => {
                self.end_text();
                self.begin_block();
                self.table = Some(Table::new(alignments));
            }
            Tag::TableRow | Tag::TableHead => {
                if let Some(table) = &mut self.table {
                    table.begin_row();
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => {
                self.end_text();
                self.wants_blank = true;
            }
            TagEnd::Heading(_) => {
                self.end_text();
                self.styles
                    .truncate(self.styles.len().saturating_sub(2).max(1));
                self.wants_blank = true;
            }
            TagEnd::BlockQuote(_) => {
                self.end_text();
                self.indents.pop();
                self.wants_blank = true;
            }
            TagEnd::Item => {
                self.end_text();
                // An item without any text still has its mark.
                if self
                    .indents
                    .last()
                    .is_some_and(|indent| indent.first.is_some())
                {
                    self.put(&Row::default());
                }
                self.indents.pop();
                self.wants_blank = false;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.wants_blank = self.lists.is_empty();
            }
            TagEnd::CodeBlock => {
                if let Some((language, code)) = self.code.take() {
                    let mut coloring = highlight::Coloring::of(&language);
                    for line in code.lines() {
                        let colored = coloring.row(line);
                        self.put_unbroken(colored);
                    }
                }
                self.wants_blank = true;
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => {
                self.styles.pop();
                self.end_link();
            }
            TagEnd::TableCell => {
                let spans = std::mem::take(&mut self.spans);
                if let Some(table) = &mut self.table {
                    table.add_cell(Line::from(spans));
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    let columns = self.shape.columns;
                    self.rows.extend(table.rows(columns));
                }
                self.wants_blank = true;
            }
            _ => {}
        }
    }

    /// Shows the address of a link, unless the label is the address.
    fn end_link(&mut self) {
        let Some((address, from)) = self.links.pop() else {
            return;
        };
        let label: String = self
            .spans
            .iter()
            .skip(from)
            .map(|span| &*span.content)
            .collect();
        let bare = address.strip_prefix("mailto:").unwrap_or(&address);
        if label != bare {
            let shown = escape::line(&address).into_owned();
            self.say(" (");
            self.spans.push(Span::styled(shown, Look::Accent.style()));
            self.say(")");
        }
    }

    fn indent(&mut self, first: String, others: String) {
        if self.indents.len() >= DEEPEST {
            self.indents.push(Indent {
                first: Some(String::new()),
                others: String::new(),
            });
            return;
        }
        self.indents.push(Indent {
            first: Some(first),
            others,
        });
    }

    fn begin_block(&mut self) {
        if self.wants_blank && !self.rows.is_empty() {
            let hanging = self.hanging();
            self.rows
                .push(row(hanging.trim_end().to_owned(), Look::Dim));
        }
        self.wants_blank = false;
    }

    fn end_text(&mut self) {
        if self.spans.is_empty() {
            return;
        }
        let text = Line::from(std::mem::take(&mut self.spans));
        self.put(&text);
    }

    /// What stands before every row but the first.
    fn hanging(&self) -> String {
        self.indents
            .iter()
            .map(|indent| indent.others.as_str())
            .collect()
    }

    /// What stands before the next row. The marks of items are used up.
    fn leading(&mut self) -> String {
        let parts = self.indents.iter_mut();
        parts
            .map(|indent| indent.first.take().unwrap_or_else(|| indent.others.clone()))
            .collect()
    }

    fn put(&mut self, text: &Row) {
        let first = row(self.leading(), Look::Dim);
        let hanging = row(self.hanging(), Look::Dim);
        if self.shape.unwrapped {
            let mut whole = first;
            for (at, line) in split_lines(text).into_iter().enumerate() {
                if at > 0 {
                    let next = hanging.clone();
                    self.rows.push(std::mem::replace(&mut whole, next));
                }
                whole.spans.extend(line.spans);
            }
            self.rows.push(whole);
            return;
        }
        self.rows
            .extend(wrap::wrap(text, self.shape.columns, &first, &hanging));
    }

    fn put_unbroken(&mut self, text: Row) {
        let mut whole = row(self.leading(), Look::Dim);
        whole.spans.extend(text.spans);
        whole.spans.retain(|span| !span.content.is_empty());
        self.rows.push(whole);
    }

    fn finish(mut self) -> Vec<Row> {
        self.end_text();
        self.rows
    }
}

/// A row at its line feeds.
fn split_lines(text: &Row) -> Vec<Row> {
    let mut lines = vec![Row::default()];
    for span in &text.spans {
        for (at, part) in span.content.split('\n').enumerate() {
            if at > 0 {
                lines.push(Row::default());
            }
            if let Some(last) = lines.last_mut() {
                last.spans.push(Span::styled(part.to_owned(), span.style));
            }
        }
    }
    lines
}

/// A row that names the language of the code below it.
pub(crate) fn language_row(language: &str) -> Row {
    Row::from(piece(escape::line(language).into_owned(), Look::Dim))
}

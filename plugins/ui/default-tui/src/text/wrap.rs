//! Rows that fit a width: wrapped at blanks, and inside a word that is longer than a row.

use ratatui_core::style::Style;
use ratatui_core::text::Span;

use super::row::Row;
use super::width;

/// Wraps styled text to `columns`. The first row begins with `first`, every other with `hanging`.
pub(crate) fn wrap(row: &Row, columns: usize, first: &Row, hanging: &Row) -> Vec<Row> {
    let mut wrapping = Wrapping::new(columns, first.clone(), hanging.clone());
    for span in &row.spans {
        for cluster in width::clusters(&span.content) {
            wrapping.add(cluster, span.style);
        }
    }
    wrapping.finish()
}

/// Wraps without any indent.
pub(crate) fn plain(row: &Row, columns: usize) -> Vec<Row> {
    wrap(row, columns, &Row::default(), &Row::default())
}

/// Cuts a row into rows of at most `columns`, without regard to words: nothing is left out, blanks neither.
pub(crate) fn fold(row: &Row, columns: usize) -> Vec<Row> {
    let columns = columns.max(1);
    let mut rows = vec![Builder::default()];
    let mut used = 0;
    for span in &row.spans {
        for cluster in width::clusters(&span.content) {
            let width = width::of_cluster(cluster);
            if used + width > columns {
                rows.push(Builder::default());
                used = 0;
            }
            if let Some(last) = rows.last_mut() {
                last.push(cluster, span.style);
            }
            used += width;
        }
    }
    rows.into_iter().map(Builder::finish).collect()
}

/// A row that grows by one cluster after another.
#[derive(Debug, Default, Clone)]
struct Builder {
    spans: Vec<(String, Style)>,
}

impl Builder {
    fn push(&mut self, cluster: &str, style: Style) {
        match self.spans.last_mut() {
            Some((text, last)) if *last == style => text.push_str(cluster),
            _ => self.spans.push((cluster.to_owned(), style)),
        }
    }

    fn append(&mut self, other: Self) {
        for (text, style) in other.spans {
            self.push(&text, style);
        }
    }

    fn finish(self) -> Row {
        let spans = self.spans.into_iter();
        spans
            .map(|(text, style)| Span::styled(text, style))
            .collect()
    }
}

impl From<&Row> for Builder {
    fn from(row: &Row) -> Self {
        let mut builder = Self::default();
        for span in &row.spans {
            builder.push(&span.content, span.style);
        }
        builder
    }
}

struct Wrapping {
    columns: usize,
    hanging: Row,
    rows: Vec<Builder>,
    /// The row that is being filled, and its width.
    row: Builder,
    used: usize,
    /// How wide the row is without any text of its own.
    indent: usize,
    /// Blanks that stand only if a word follows on the same row.
    blanks: Builder,
    blanks_width: usize,
    word: Builder,
    word_width: usize,
    /// Whether the word has begun on the row already, because it is longer than a row.
    is_rest: bool,
}

impl Wrapping {
    fn new(columns: usize, first: Row, hanging: Row) -> Self {
        let indent = super::row::width_of(&first);
        Self {
            columns: columns.max(indent + 2),
            hanging,
            rows: Vec::new(),
            row: Builder::from(&first),
            used: indent,
            indent,
            blanks: Builder::default(),
            blanks_width: 0,
            word: Builder::default(),
            word_width: 0,
            is_rest: false,
        }
    }

    fn add(&mut self, cluster: &str, style: Style) {
        if cluster == "\n" {
            self.end_word();
            self.is_rest = false;
            self.break_row();
            return;
        }
        let width = width::of_cluster(cluster);
        if cluster == " " {
            self.end_word();
            self.is_rest = false;
            self.blanks.push(cluster, style);
            self.blanks_width += 1;
            return;
        }
        self.word.push(cluster, style);
        self.word_width += width;
        // Wide letters may be parted anywhere, and a word longer than a row has to be.
        if width == 2 {
            self.end_word();
        } else if self.indent + self.word_width > self.columns {
            self.end_word();
            self.is_rest = true;
        }
    }

    fn end_word(&mut self) {
        if self.word.spans.is_empty() {
            return;
        }
        let is_fresh = self.used == self.indent;
        if self.used + self.blanks_width + self.word_width > self.columns
            && !is_fresh
            && !self.is_rest
        {
            self.blanks = Builder::default();
            self.blanks_width = 0;
            self.break_row();
        }
        let blanks = std::mem::take(&mut self.blanks);
        self.used += std::mem::take(&mut self.blanks_width);
        self.row.append(blanks);
        let word = std::mem::take(&mut self.word);
        let width = std::mem::take(&mut self.word_width);
        if self.used + width <= self.columns {
            self.row.append(word);
            self.used += width;
            return;
        }
        for (text, style) in word.spans {
            for cluster in width::clusters(&text) {
                let width = width::of_cluster(cluster);
                if self.used + width > self.columns {
                    self.break_row();
                }
                self.row.push(cluster, style);
                self.used += width;
            }
        }
    }

    fn break_row(&mut self) {
        let next = Builder::from(&self.hanging);
        self.rows.push(std::mem::replace(&mut self.row, next));
        self.indent = super::row::width_of(&self.hanging);
        self.used = self.indent;
        self.blanks = Builder::default();
        self.blanks_width = 0;
    }

    fn finish(mut self) -> Vec<Row> {
        self.end_word();
        self.rows.push(self.row);
        self.rows.into_iter().map(Builder::finish).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::{Look, plain as said, row};
    use super::*;

    fn wrapped(text: &str, columns: usize) -> Vec<String> {
        let rows = plain(&row(text, Look::Plain), columns);
        rows.iter().map(said).collect()
    }

    #[test]
    fn words_stay_whole() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("", 7), [""]);
        assert_eq!(wrapped("a\n\nb", 7), ["a", "", "b"]);
    }

    #[test]
    fn a_word_longer_than_a_row_is_parted() {
        assert_eq!(wrapped("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrapped("x abcdefgh", 3), ["x", "abc", "def", "gh"]);
    }

    #[test]
    fn tui_22_wide_letters_are_never_cut() {
        assert_eq!(wrapped("工具工具", 5), ["工具", "工具"]);
        assert_eq!(wrapped("a工具", 4), ["a工", "具"]);
    }

    #[test]
    fn rows_after_the_first_hang() {
        let text = row("one two three", Look::Plain);
        let rows = wrap(&text, 9, &row("- ", Look::Plain), &row("  ", Look::Plain));
        let rows: Vec<String> = rows.iter().map(said).collect();
        assert_eq!(rows, ["- one two", "  three"]);
    }

    #[test]
    fn folding_leaves_nothing_out() {
        let rows = fold(&row("ab  cd", Look::Plain), 3);
        let rows: Vec<String> = rows.iter().map(said).collect();
        assert_eq!(rows, ["ab ", " cd"]);
    }
}

//! An answer that is still coming: what is finished becomes rows for good, and the rest is a tail.

use super::{Shape, blocks, highlight};
use crate::text::escape;
use crate::text::row::{Look, Row, plain, row};

/// At most so many rows of the tail are shown.
pub(crate) const TAIL: usize = 8;

/// A paragraph without a break is cut once it has so many bytes, so that the work for a piece does not grow with it.
const LONGEST_PARAGRAPH: usize = 4096;

/// Text that comes in pieces.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// What came and is not in any finished piece.
    rest: String,
    state: State,
    /// Whether a blank row stands before the next piece.
    wants_blank: bool,
    /// Rows that are finished and not taken yet.
    finished: Vec<Row>,
    /// What the next paragraph continues after, where one was cut.
    carried: bool,
}

/// What the beginning of the rest is inside of.
#[derive(Debug, Default)]
enum State {
    #[default]
    Between,
    /// A fenced block of code, and what ends it.
    Code {
        fence: String,
        indent: usize,
        coloring: highlight::Coloring,
    },
    /// A list: the next item may follow without a blank row.
    List { numbered: bool },
}

impl Stream {
    /// Takes a piece.
    pub(crate) fn push(&mut self, text: &str) {
        self.rest.push_str(text);
    }

    /// The rows that are finished now.
    pub(crate) fn take(&mut self, shape: Shape) -> Vec<Row> {
        while self.advance(shape, false) {}
        self.shorten(shape);
        std::mem::take(&mut self.finished)
    }

    /// The rows that may still change, the last ones only.
    pub(crate) fn tail(&self, shape: Shape) -> Vec<Row> {
        let mut rows = match &self.state {
            State::Code { coloring, .. } => {
                let line = escape::text(self.rest.trim_end_matches('\n')).into_owned();
                let mut coloring = coloring.clone();
                if line.is_empty() {
                    Vec::new()
                } else {
                    vec![coloring.row(&line)]
                }
            }
            _ if self.rest.trim().is_empty() => Vec::new(),
            _ => {
                let mut rows = blocks::render(&self.rest, shape);
                if self.wants_blank && !self.carried {
                    rows.insert(0, Row::default());
                }
                rows
            }
        };
        // A row that the terminal would wrap has no place in the live area.
        rows = rows
            .iter()
            .flat_map(|row| crate::text::wrap::fold(row, shape.columns))
            .collect();
        let hidden = rows.len().saturating_sub(TAIL);
        rows.split_off(hidden)
    }

    /// The text is at its end: all rows that were not taken yet.
    pub(crate) fn end(&mut self, shape: Shape) -> Vec<Row> {
        if !self.rest.is_empty() && !self.rest.ends_with('\n') {
            self.rest.push('\n');
        }
        while self.advance(shape, true) {}
        let rest = std::mem::take(&mut self.rest);
        self.finish_piece(&rest, shape);
        self.state = State::Between;
        self.wants_blank = false;
        std::mem::take(&mut self.finished)
    }

    /// Finishes one piece, if one is complete.
    fn advance(&mut self, shape: Shape, is_end: bool) -> bool {
        if let State::Code {
            fence,
            indent,
            coloring,
        } = &mut self.state
        {
            let Some(end) = self.rest.find('\n') else {
                return false;
            };
            let line: String = self.rest.drain(..=end).collect();
            let line = line.trim_end_matches(['\n', '\r']);
            if is_closing(line, fence) {
                self.state = State::Between;
                self.wants_blank = true;
            } else {
                let line = strip_indent(line, *indent);
                let colored = coloring.row(&escape::text(line));
                self.finished.push(colored);
            }
            return true;
        }
        let Some(first_end) = self.rest.find('\n') else {
            return false;
        };
        let first = &self.rest[..first_end];
        if first.trim().is_empty() {
            // Between the items of a list a blank row means nothing yet.
            self.rest.drain(..=first_end);
            self.wants_blank = self.wants_blank || matches!(self.state, State::List { .. });
            self.carried = false;
            return true;
        }
        if let Some((fence, language)) = opening(first) {
            let indent = first.len() - first.trim_start().len();
            let (fence, language) = (fence.to_owned(), language.to_owned());
            self.rest.drain(..=first_end);
            self.blank_before();
            if !language.is_empty() {
                self.finished.push(blocks::language_row(&language));
            }
            let coloring = highlight::Coloring::of(&language);
            self.state = State::Code {
                fence,
                indent,
                coloring,
            };
            return true;
        }
        match self.piece_end(is_end) {
            Some(end) => {
                let piece: String = self.rest.drain(..end).collect();
                self.finish_piece(&piece, shape);
                true
            }
            None => false,
        }
    }

    /// Where the piece at the beginning ends; nothing while it may continue.
    fn piece_end(&self, is_end: bool) -> Option<usize> {
        let is_list = is_item(self.rest.lines().next()?);
        let mut at = 0;
        let mut last_text = 0;
        for line in self.rest.split_inclusive('\n') {
            if !line.ends_with('\n') {
                // A line that is still coming may be anything, but once it has its mark it is the next item.
                return (at > 0 && is_list && is_item(line)).then_some(at);
            }
            let is_blank = line.trim().is_empty();
            if at > 0 {
                if is_list {
                    // An item continues below a blank row if what follows is indented.
                    if !is_blank && is_item(line) {
                        return Some(at);
                    }
                    if !is_blank && last_text < at && !line.starts_with([' ', '\t']) {
                        return Some(last_text);
                    }
                    if !is_blank && opening(line).is_some() && !line.starts_with([' ', '\t']) {
                        return Some(at);
                    }
                } else if is_blank
                    || opening(line).is_some()
                    || is_item(line) && !is_table(&self.rest)
                {
                    return Some(at);
                }
            }
            at += line.len();
            if !is_blank {
                last_text = at;
            }
        }
        if is_end { Some(at) } else { None }
    }

    fn blank_before(&mut self) {
        if std::mem::take(&mut self.wants_blank) && !self.carried {
            self.finished.push(Row::default());
        }
        self.carried = false;
    }

    fn finish_piece(&mut self, piece: &str, shape: Shape) {
        if piece.trim().is_empty() {
            return;
        }
        let first = piece.lines().next().unwrap_or_default();
        let is_list = is_item(first);
        let numbered = first.trim_start().starts_with(|c: char| c.is_ascii_digit());
        let was_list = matches!(self.state, State::List { numbered: before } if before == numbered);
        let is_loose = piece.trim_end_matches('\n').contains("\n\n");
        if was_list && is_list && !is_loose {
            // Items of one list stand together, however they were written.
            self.wants_blank = false;
        }
        self.blank_before();
        self.finished.extend(blocks::render(piece, shape));
        self.wants_blank = true;
        self.state = if is_list {
            State::List { numbered }
        } else {
            State::Between
        };
    }

    /// Finishes all rows but the last of a paragraph that has become too long.
    fn shorten(&mut self, shape: Shape) {
        while matches!(self.state, State::Between | State::List { .. })
            && self.rest.len() > LONGEST_PARAGRAPH
            && !is_table(&self.rest)
        {
            let mut end = LONGEST_PARAGRAPH;
            while !self.rest.is_char_boundary(end) {
                end -= 1;
            }
            let piece: String = self.rest.drain(..end).collect();
            self.blank_before();
            let mut rows = blocks::render(&piece, shape);
            let last = rows.pop();
            self.finished.append(&mut rows);
            let mut carried = last.map(|row| plain(&row)).unwrap_or_default();
            if piece.ends_with(char::is_whitespace) {
                carried.push(' ');
            }
            self.rest.insert_str(0, &carried);
            self.carried = true;
            if self.rest.len() <= LONGEST_PARAGRAPH {
                return;
            }
        }
        if let State::Code { coloring, .. } = &mut self.state
            && self.rest.len() > LONGEST_PARAGRAPH
            && !self.rest.contains('\n')
        {
            // A line of code has no break either, and its rows are the terminal's.
            let line = std::mem::take(&mut self.rest);
            self.finished
                .push(row(escape::text(&line).into_owned(), Look::Plain));
            let _ = coloring;
        }
    }
}

/// The mark and the language of a line that opens a block of code.
fn opening(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_end();
    let text = line.trim_start();
    if line.len() - text.len() > 3 {
        return None;
    }
    let mark = text
        .chars()
        .next()
        .filter(|mark| matches!(mark, '`' | '~'))?;
    let length = text.len() - text.trim_start_matches(mark).len();
    let (fence, language) = text.split_at(length);
    if length < 3 || (mark == '`' && language.contains('`')) {
        return None;
    }
    Some((
        fence,
        language.split_whitespace().next().unwrap_or_default(),
    ))
}

fn is_closing(line: &str, fence: &str) -> bool {
    let text = line.trim();
    text.len() >= fence.len()
        && text.starts_with(fence)
        && text.chars().all(|c| fence.starts_with(c))
}

fn strip_indent(line: &str, indent: usize) -> &str {
    let blanks = line.len() - line.trim_start_matches(' ').len();
    &line[blanks.min(indent)..]
}

/// Whether a line begins an item of the outermost list.
fn is_item(line: &str) -> bool {
    let text = line.trim_start_matches(' ');
    if line.len() - text.len() > 1 {
        return false;
    }
    if let Some(rest) = text.strip_prefix(['-', '*', '+']) {
        // Three of them are a rule.
        let is_rule = text.trim_end().len() >= 3
            && text
                .trim_end()
                .chars()
                .all(|c| matches!(c, '-' | '*' | ' '));
        return rest.starts_with([' ', '\t']) && !is_rule;
    }
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    (1..=9).contains(&digits)
        && text[digits..].starts_with(['.', ')'])
        && text[digits + 1..].starts_with([' ', '\t'])
}

/// Whether the second line is what stands below the header of a table.
fn is_table(text: &str) -> bool {
    let mut lines = text.lines();
    let (Some(first), Some(second)) = (lines.next(), lines.next()) else {
        return false;
    };
    first.contains('|')
        && second.contains('-')
        && second.contains('|')
        && second.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

#[cfg(test)]
mod tests;

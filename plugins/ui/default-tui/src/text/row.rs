//! One row of the screen: spans of text, each in one style.

use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::text::{Line, Span};

use super::width;

/// A row that owns its text.
pub(crate) type Row = Line<'static>;

/// A span that owns its text.
pub(crate) type Piece = Span<'static>;

/// The styles that the screen uses. Each is a color of the terminal's palette or a modifier, and never a color alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Plain,
    Dim,
    Bold,
    Accent,
    Good,
    Warn,
    Bad,
    Code,
    Selected,
}

impl Look {
    pub(crate) fn style(self) -> Style {
        let style = Style::new();
        match self {
            Self::Plain => style,
            Self::Dim => style.add_modifier(Modifier::DIM),
            Self::Bold => style.add_modifier(Modifier::BOLD),
            Self::Accent | Self::Code => style.fg(Color::Cyan),
            Self::Good => style.fg(Color::Green),
            Self::Warn => style.fg(Color::Yellow),
            Self::Bad => style.fg(Color::Red).add_modifier(Modifier::BOLD),
            Self::Selected => style.add_modifier(Modifier::REVERSED),
        }
    }
}

/// Text in one look.
pub(crate) fn piece(text: impl Into<String>, look: Look) -> Piece {
    Span::styled(text.into(), look.style())
}

/// A row in one look.
pub(crate) fn row(text: impl Into<String>, look: Look) -> Row {
    Line::from(piece(text, look))
}

/// A row of several pieces.
pub(crate) fn joined(pieces: impl IntoIterator<Item = Piece>) -> Row {
    Line::from_iter(pieces)
}

/// How many columns a row takes.
pub(crate) fn width_of(row: &Row) -> usize {
    row.spans.iter().map(|span| width::of(&span.content)).sum()
}

/// What a row says.
pub(crate) fn plain(row: &Row) -> String {
    row.spans.iter().map(|span| &*span.content).collect()
}

/// The row cut to so many columns, with `…` at its end where something was left out.
pub(crate) fn cut(row: &Row, columns: usize) -> Row {
    if width_of(row) <= columns {
        return row.clone();
    }
    let mut left = columns;
    let mut spans = Vec::new();
    for span in &row.spans {
        let taken = width::of(&span.content);
        if taken < left {
            left -= taken;
            spans.push(span.clone());
            continue;
        }
        // Something follows or this span is too long: either way the sign needs a column of its own.
        let shown = width::cut(&format!("{}\u{20}\u{20}", span.content), left);
        spans.push(Span::styled(shown, span.style));
        break;
    }
    Line::from(spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_cut_with_a_sign() {
        let long = joined([piece("ab", Look::Bold), piece("cdef", Look::Plain)]);
        assert_eq!(plain(&cut(&long, 6)), "abcdef");
        assert_eq!(plain(&cut(&long, 4)), "abc…");
        assert_eq!(plain(&cut(&long, 2)), "a…");
    }
}

//! From markdown to rows.
//!
//! Code begins in the first column and is never broken, so that what is copied is the source. Prose has no gutter. Raw
//! HTML and what does not parse is text.

mod blocks;
pub(crate) mod highlight;
pub(crate) mod stream;
mod table;

use crate::text::row::Row;

/// What decides over the shape of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// How many columns prose may take.
    pub(crate) columns: usize,
    /// Whether prose is left to the terminal to wrap.
    pub(crate) unwrapped: bool,
    /// Whether addresses are marked as links of the terminal.
    pub(crate) links: bool,
}

impl Shape {
    /// The shape for a terminal of so many columns: prose is no wider than a person reads with ease.
    pub(crate) fn of(columns: usize, unwrapped: bool, links: bool) -> Self {
        Self {
            columns: columns.saturating_sub(1).clamp(4, 100),
            unwrapped,
            links,
        }
    }
}

/// A whole text as rows.
pub(crate) fn render(text: &str, shape: Shape) -> Vec<Row> {
    let mut stream = stream::Stream::default();
    stream.push(text);
    stream.end(shape)
}

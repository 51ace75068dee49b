//! What happens in the session, as rows of the transcript.

pub(crate) mod card;
pub(crate) mod clock;
pub(crate) mod records;

use crate::text::row::{Look, Row, joined, piece, row};
use crate::text::{escape, wrap};

/// The row above a message: who, and when.
pub(crate) fn message_heading(who: &str, when: &str, remark: Option<&str>) -> Vec<Row> {
    let mut pieces = vec![
        piece(who.to_owned(), Look::Bold),
        piece(format!("  {when}"), Look::Dim),
    ];
    if let Some(remark) = remark {
        pieces.push(piece(format!("  {remark}"), Look::Dim));
    }
    vec![Row::default(), joined(pieces)]
}

/// What a person said, as it was typed.
pub(crate) fn said_by_person(text: &str, columns: usize) -> Vec<Row> {
    let text = escape::text(text);
    let columns = columns.saturating_sub(1).min(100);
    text.trim_end_matches('\n')
        .split('\n')
        .flat_map(|line| wrap::plain(&row(line.to_owned(), Look::Plain), columns))
        .collect()
}

/// Something that went wrong.
pub(crate) fn error_rows(code: &str, message: &str, columns: usize) -> Vec<Row> {
    let text = joined([
        piece(format!("! {}", escape::line(code)), Look::Bad),
        piece(format!("  {}", escape::line(message)), Look::Plain),
    ]);
    wrap::wrap(
        &text,
        columns.saturating_sub(1),
        &Row::default(),
        &Row::from("  "),
    )
}

/// A remark that is no message.
pub(crate) fn note_rows(text: &str, look: Look, columns: usize) -> Vec<Row> {
    let text = escape::text(text);
    text.trim_end_matches('\n')
        .split('\n')
        .flat_map(|line| {
            let line = row(line.to_owned(), look);
            wrap::wrap(
                &line,
                columns.saturating_sub(1),
                &row("· ", Look::Dim),
                &Row::from("  "),
            )
        })
        .collect()
}

/// A model's thinking: its heading and its rows, faint.
pub(crate) fn thinking_rows(text: &str, columns: usize) -> Vec<Row> {
    let text = escape::text(text);
    text.trim_end_matches('\n')
        .split('\n')
        .flat_map(|line| {
            wrap::plain(
                &row(line.to_owned(), Look::Dim),
                columns.saturating_sub(1).min(100),
            )
        })
        .collect()
}

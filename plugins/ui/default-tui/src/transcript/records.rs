//! Stored records as rows: for a resumed session, and for the view of the whole transcript.

use std::time::Instant;

use stud_sdk::Value;
use stud_sdk::host::session::TranscriptRecord;

use super::card::{Card, State, output_of};
use super::clock::Clock;
use super::{message_heading, note_rows, said_by_person};
use crate::markdown::{self, Shape};
use crate::text::escape;
use crate::text::row::{Look, Row, row};

/// How records are laid out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout<'a> {
    pub(crate) columns: usize,
    pub(crate) shape: Shape,
    pub(crate) clock: &'a Clock,
    /// Whether outputs are shown in full.
    pub(crate) unfolded: bool,
}

/// The rows of one record. None for one that is no part of the conversation.
pub(crate) fn rows(record: &TranscriptRecord, layout: Layout<'_>) -> Vec<Row> {
    let text = |member: &str| record.payload[member].as_str().unwrap_or_default();
    let when = layout.clock.of_record(&record.timestamp);
    let columns = layout.columns;
    match record.kind.as_str() {
        "user_input" => {
            let mut rows = message_heading("you", &when, None);
            rows.extend(said_by_person(text("text"), columns));
            rows
        }
        "assistant_message" if text("text").trim().is_empty() => Vec::new(),
        "assistant_message" => {
            let mut rows = message_heading("stud", &when, None);
            rows.extend(markdown::render(text("text"), layout.shape));
            rows
        }
        "tool_result" => tool_result(
            text("toolCallId"),
            text("toolName"),
            text("content"),
            layout,
        ),
        "note" => note_rows(text("text"), Look::Dim, columns),
        "compaction" => note_rows(
            "earlier parts of the conversation were summarized",
            Look::Dim,
            columns,
        ),
        _ => Vec::new(),
    }
}

fn tool_result(id: &str, name: &str, content: &str, layout: Layout<'_>) -> Vec<Row> {
    let now = Instant::now();
    let mut card = Card::running(id, name, now);
    let content: Value = content.parse().unwrap_or_default();
    card.state = match (
        content["error"]["class"].as_str(),
        content["error"]["code"].as_str(),
    ) {
        (Some(class), Some(code)) => State::Failed(format!("{class}/{code}")),
        // How long it took is in no record.
        _ => State::Completed(None),
    };
    if layout.unfolded {
        let output = escape::tool_output(&output_of(&content));
        let output = output
            .lines()
            .map(|line| row(format!("  {line}"), Look::Dim));
        return std::iter::once(card.heading(layout.columns, now))
            .chain(output)
            .collect();
    }
    card.result = Some(content);
    card.rows(layout.columns, now)
}

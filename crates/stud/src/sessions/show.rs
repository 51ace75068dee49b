//! `stud sessions show`.

use serde_json::json;
use stud_core::session::archive::{messages, records, summarize};
use stud_core::stored_sessions::StoredSessions;
use stud_diagnostics::{Diagnostic, printable, printable_text};

use super::speech::conversation;
use crate::output::{Outcome, Output, Verdict, told};

pub(super) fn run(shelf: &StoredSessions, word: &str, output: &Output) -> Verdict {
    let id = shelf.find(word)?;
    if output.is_json() {
        documents(shelf, &id, output)?;
    } else {
        show(shelf, &id, output)?;
    }
    Ok(Outcome::Done)
}

/// Every record on a line of its own, or every message where there are no records.
fn documents(shelf: &StoredSessions, id: &str, output: &Output) -> Result<(), Diagnostic> {
    let store = &**shelf.store();
    let mut records = records(id, store).peekable();
    if records.peek().is_none() {
        for message in messages(id, store).map_err(told)? {
            output.document(&message)?;
        }
    }
    for record in records {
        output.document(&record.map_err(told)?)?;
    }
    Ok(())
}

fn show(shelf: &StoredSessions, id: &str, output: &Output) -> Result<(), Diagnostic> {
    let summary = summarize(id, &**shelf.store()).map_err(told)?;
    let running = if shelf.is_running(id) {
        ", running"
    } else {
        ""
    };
    let mode = json!(summary.mode);
    output.line(format!(
        "{}  {}, mode {}{running}",
        output.bold(&printable(id)),
        printable(&summary.created_at),
        mode.as_str().unwrap_or_default(),
    ));
    output.line(output.dim(&printable(&summary.project_root.to_string_lossy())));
    if let Some((origin, seq)) = &summary.forked_from {
        let origin = format!("continues from record {seq} of {}", printable(origin));
        output.line(output.dim(&origin));
    }
    for speech in conversation(shelf, id).map_err(told)? {
        let speech = speech.map_err(told)?;
        let seq = speech
            .seq
            .map_or_else(String::new, |seq| format!("#{seq} "));
        output.line(format!(
            "\n{}{}",
            output.dim(&seq),
            output.bold(&printable(&speech.who))
        ));
        for line in printable_text(&speech.text).lines() {
            output.line(format!("  {line}"));
        }
    }
    Ok(())
}

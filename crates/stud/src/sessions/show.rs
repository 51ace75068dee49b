//! `stud sessions show`.

use serde_json::json;
use stud_core::session::archive::{check, messages, records, summarize};
use stud_core::stored_sessions::{StoredChild, StoredSessions};
use stud_diagnostics::{Diagnostic, printable, printable_text};

use super::speech::{conversation, speech};
use crate::output::{Outcome, Output, Verdict, told};

/// Nothing is indented further than a subagent of this depth.
const DEEPEST: usize = 8;

pub(super) fn run(shelf: &StoredSessions, word: &str, tree: bool, output: &Output) -> Verdict {
    let id = shelf.find(word)?;
    for damage in check(&id, &**shelf.store()).map_err(told)? {
        output.warn(&damage);
    }
    if output.is_json() {
        documents(shelf, &id, output)?;
    } else {
        show(shelf, &id, output)?;
    }
    if tree {
        let children = shelf.children(&id)?;
        for child in &children {
            if output.is_json() {
                output.document(&json!({ "subagent": child }))?;
            }
        }
        if !output.is_json() {
            below(&id, &children, output);
        }
    }
    Ok(Outcome::Done)
}

/// The children of a session, each with its own below it.
fn below(parent: &str, children: &[StoredChild], output: &Output) {
    let own = children
        .iter()
        .filter(|child| child.parent_session_id == parent);
    for child in own {
        show_child(child, output);
        below(&child.subagent_id, children, output);
    }
}

fn show_child(child: &StoredChild, output: &Output) {
    let depth = usize::try_from(child.depth).unwrap_or(1);
    let indent = "    ".repeat(depth.min(DEEPEST));
    let label = child.label.as_deref().unwrap_or("subagent");
    let state = match &child.reason {
        Some(reason) => format!("{}: {reason}", child.state),
        None => child.state.to_owned(),
    };
    let tools = match &*child.envelope {
        [] => "no tools unasked".to_owned(),
        tools => tools.join(", "),
    };
    output.line(format!(
        "\n{indent}{}  {}, depth {}, {}",
        output.bold(&printable(label)),
        printable(&child.subagent_id),
        child.depth,
        printable(&state),
    ));
    let mut facts = format!("{} of {}; {tools}", child.model_id, child.provider_id);
    if let (Some(sent), Some(received)) = (child.input_tokens, child.output_tokens) {
        facts = format!("{facts}; {sent} tokens in, {received} out");
    }
    output.line(format!("{indent}{}", output.dim(&printable(&facts))));
    for speech in child.records.iter().cloned().filter_map(speech) {
        let who = match speech.who.as_str() {
            "you" => "task",
            who => who,
        };
        output.line(format!("{indent}  {}", output.bold(&printable(who))));
        for line in printable_text(&speech.text).lines() {
            output.line(format!("{indent}    {line}"));
        }
    }
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

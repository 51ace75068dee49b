//! `stud sessions list`.

use serde_json::{Value, json};
use stud_core::session::archive::{Summary, summarize};
use stud_core::stored_sessions::StoredSessions;
use stud_diagnostics::{Diagnostic, printable, printable_within};

use crate::output::{Outcome, Output, Verdict, told};

/// As much of what was said first as fits beside the rest; `--json` has all of it.
const SHOWN: usize = 60;

pub(super) fn run(shelf: &StoredSessions, output: &Output) -> Verdict {
    let mut sessions = Vec::new();
    // A session that cannot be read is named, and hides no other.
    let mut broken = Vec::new();
    for id in shelf.store().list().map_err(told)? {
        match summarize(&id, &**shelf.store()) {
            Ok(summary) => {
                broken.extend_from_slice(&summary.damage);
                sessions.push((shelf.is_running(&id), summary));
            }
            Err(error) => broken.push(told(error).downgraded().with("sessionId", id)),
        }
    }
    sessions.sort_by(|(_, one), (_, other)| {
        let key = |summary: &Summary| (summary.updated_at.clone(), summary.session_id.clone());
        key(other).cmp(&key(one))
    });
    if output.is_json() {
        let sessions: Vec<Value> = sessions
            .iter()
            .map(|(running, summary)| document(summary, *running))
            .collect();
        output.document(&json!({"sessions": sessions, "diagnostics": broken}))?;
    } else {
        show(&sessions, &broken, output);
    }
    Ok(Outcome::Done)
}

/// A session for programs.
pub(super) fn document(summary: &Summary, running: bool) -> Value {
    let mut document = json!({
        "sessionId": summary.session_id,
        "createdAt": summary.created_at,
        "updatedAt": summary.updated_at,
        "projectRoot": summary.project_root.to_string_lossy(),
        "mode": summary.mode,
        "messages": summary.messages,
        "firstWords": summary.first_words,
        "lastSeq": summary.last_seq,
        "running": running,
    });
    if let Some((session_id, seq)) = &summary.forked_from {
        document["forkedFrom"] = json!({"sessionId": session_id, "seq": seq});
    }
    document
}

fn show(sessions: &[(bool, Summary)], broken: &[Diagnostic], output: &Output) {
    if sessions.is_empty() && broken.is_empty() {
        output.line("no session is kept; `stud` begins one");
    }
    for (running, summary) in sessions {
        let state = if *running { "running" } else { "" };
        let words = summary.first_words.as_deref().unwrap_or_default();
        let project = summary.project_root.parent();
        let project = project.unwrap_or(&summary.project_root).to_string_lossy();
        output.line(format!(
            "{}  {}  {}  {:>4}  {}  {}",
            output.bold(&printable(&summary.session_id)),
            printable(&summary.updated_at),
            output.green(&format!("{state:<7}")),
            summary.messages,
            printable_within(words, SHOWN),
            output.dim(&printable(&project)),
        ));
    }
    for diagnostic in broken {
        output.line("");
        output.show(diagnostic);
    }
}

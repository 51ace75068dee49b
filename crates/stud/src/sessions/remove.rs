//! `stud sessions delete` and `stud sessions prune`.

use serde_json::json;
use stud_core::session::archive::summarize;
use stud_core::stored_sessions::StoredSessions;

use crate::output::{Outcome, Output, Verdict, told};

/// Removes these sessions. None is removed if one of them is not there.
pub(super) fn delete(shelf: &StoredSessions, words: &[String], output: &Output) -> Verdict {
    let found = words.iter().map(|word| shelf.find(word));
    let mut ids = found.collect::<Result<Vec<_>, _>>()?;
    ids.sort_unstable();
    ids.dedup();
    remove(shelf, ids, output)
}

/// Removes the sessions that were last used before a time, or only shows them.
pub(super) fn prune(shelf: &StoredSessions, before: &str, yes: bool, output: &Output) -> Verdict {
    let known = shelf.store().list().map_err(told)?;
    let old: Vec<String> = known
        .into_iter()
        .filter(|id| !shelf.is_running(id))
        .filter(|id| {
            let summary = summarize(id, &**shelf.store());
            summary.is_ok_and(|summary| summary.updated_at.as_str() < before)
        })
        .collect();
    if yes {
        return remove(shelf, old, output);
    }
    if output.is_json() {
        output.document(&json!({"removed": [], "wouldRemove": old}))?;
    } else if old.is_empty() {
        output.line("no session is that old");
    } else {
        for id in &old {
            output.line(id);
        }
        output.line(format!(
            "{} would be removed; `--yes` removes them",
            old.len()
        ));
    }
    Ok(Outcome::Done)
}

fn remove(shelf: &StoredSessions, ids: Vec<String>, output: &Output) -> Verdict {
    for id in &ids {
        shelf.remove(id).map_err(told)?;
        if !output.is_json() {
            output.line(format!("{id} is removed"));
        }
    }
    if output.is_json() {
        output.document(&json!({"removed": ids}))?;
    }
    Ok(Outcome::Done)
}

//! Where the trails of all sessions are, and which one is meant.

use std::io;
use std::path::{Path, PathBuf};

use stud_diagnostics::{Diagnostic, codes, printable_within};

use super::FILE;
use crate::nearest::nearest;

/// A session that has a trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The session.
    pub session_id: String,
    /// Its trail.
    pub path: PathBuf,
}

/// The audit folder of a session.
pub fn folder(global_root: &Path, session_id: &str) -> PathBuf {
    global_root.join("sessions").join(session_id).join("audit")
}

/// Every session that has a trail, in the order of their ids, which is the order they were started in.
pub fn kept(global_root: &Path) -> Result<Vec<Kept>, Diagnostic> {
    let sessions = global_root.join("sessions");
    let unreadable = |error: &io::Error| {
        let message = format!("the sessions cannot be listed: {error}");
        Diagnostic::error(&codes::AUDIT_TRAIL_UNAVAILABLE, message).file(&sessions)
    };
    let entries = match std::fs::read_dir(&sessions) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(&error)),
    };
    let mut kept = Vec::new();
    for entry in entries {
        let name = entry.map_err(|error| unreadable(&error))?.file_name();
        // No session has a name that is not text.
        let Some(session_id) = name.to_str() else {
            continue;
        };
        let path = folder(global_root, session_id).join(FILE);
        if path.symlink_metadata().is_ok() {
            kept.push(Kept {
                session_id: session_id.to_owned(),
                path,
            });
        }
    }
    kept.sort_by(|one, other| one.session_id.cmp(&other.session_id));
    Ok(kept)
}

/// The session meant by an id or by the beginning of one.
///
/// `Session/SessionNotFound` if that is none, `Session/SessionAmbiguous` if it is several.
pub fn find(global_root: &Path, word: &str) -> Result<Kept, Diagnostic> {
    let mut kept = kept(global_root)?;
    if let Some(exact) = kept.iter().position(|kept| kept.session_id == word) {
        return Ok(kept.swap_remove(exact));
    }
    let mut meant = kept
        .iter()
        .filter(|kept| !word.is_empty() && kept.session_id.starts_with(word));
    match (meant.next(), meant.next()) {
        (Some(one), None) => Ok(one.clone()),
        (Some(one), Some(other)) => Err(ambiguous(word, [one, other].into_iter().chain(meant))),
        (None, _) => Err(unknown(word, &kept)),
    }
}

/// As many candidates as a person wants to read.
const SHOWN: usize = 8;

fn ambiguous<'a>(word: &str, meant: impl Iterator<Item = &'a Kept>) -> Diagnostic {
    let ids: Vec<&str> = meant.map(|kept| kept.session_id.as_str()).collect();
    let shown = ids[..SHOWN.min(ids.len())].join("`, `");
    let more = match ids.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!("`{}` begins the id of {} sessions", short(word), ids.len());
    Diagnostic::error(&codes::SESSION_AMBIGUOUS, message)
        .with("asked", word)
        .with("candidates", ids)
        .note(format!("they are `{shown}`{more}"))
        .help("give more of the id")
}

fn unknown(word: &str, kept: &[Kept]) -> Diagnostic {
    let message = format!(
        "no session with an audit trail has an id that begins with `{}`",
        short(word)
    );
    let diagnostic = Diagnostic::error(&codes::SESSION_NOT_FOUND, message).with("asked", word);
    let ids = kept.iter().map(|kept| kept.session_id.as_str());
    match (nearest(word, ids), kept.last()) {
        (Some(near), _) => diagnostic.help(format!("did you mean `{near}`?")),
        (None, Some(newest)) => {
            let newest = &newest.session_id;
            diagnostic.help(format!(
                "the newest of {} is `{newest}`; `stud audit verify` lists them all",
                kept.len()
            ))
        }
        (None, None) => diagnostic.help("there is none yet"),
    }
}

fn short(word: &str) -> String {
    printable_within(word, 64).into_owned()
}

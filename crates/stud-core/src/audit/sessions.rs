//! Where the trails of all sessions are, and which one is meant.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use stud_diagnostics::{Diagnostic, codes};

use super::FILE;
use super::writer_lock::WriterLock;
use crate::ids::{self, Among};

/// A session that has a trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditedSession {
    /// The session.
    pub session_id: String,
    /// Its trail.
    pub path: PathBuf,
}

/// The audit folder of a session.
pub fn folder(global_root: &Path, session_id: &str) -> PathBuf {
    global_root.join("sessions").join(session_id).join("audit")
}

/// The trail in an audit folder.
pub fn trail(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// Every session that has a trail, in the order of their ids, which is the order they were started in.
pub fn kept(global_root: &Path) -> Result<Vec<AuditedSession>, Diagnostic> {
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
            kept.push(AuditedSession {
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
pub fn find(global_root: &Path, word: &str) -> Result<AuditedSession, Diagnostic> {
    let kept = kept(global_root)?;
    let known: Vec<String> = kept.iter().map(|kept| kept.session_id.clone()).collect();
    let among = Among {
        what: "session with an audit trail",
        listed_by: "stud audit verify",
    };
    let session_id = ids::meant(word, &known, among)?.to_owned();
    let path = folder(global_root, &session_id).join(FILE);
    Ok(AuditedSession { session_id, path })
}

/// When the trail of a session was last written to, of those below `sessions`.
pub(crate) fn last_touched(sessions: &Path, session_id: &str) -> Option<SystemTime> {
    let path = sessions.join(session_id).join("audit").join(FILE);
    path.symlink_metadata().ok()?.modified().ok()
}

/// Whether a process is writing the trail of a session; the process that has the session open does.
pub fn is_written(global_root: &Path, session_id: &str) -> bool {
    holder(global_root, session_id).is_some()
}

/// The process that writes the trail of a session, if one does; 0 if its number is not known.
pub fn holder(global_root: &Path, session_id: &str) -> Option<u32> {
    WriterLock::holder(&folder(global_root, session_id))
}

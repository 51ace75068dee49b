//! What of a stored session is not what was written, in words.

use stud_contract_meta::{Error, Result};
use stud_contract_session_store::{Damage, DamagedPart, Page};
use stud_diagnostics::{Diagnostic, codes};

use super::Facts;
use crate::ledger::transcript_record;
use crate::store::Store;

/// What a store found damaged.
pub(super) fn told(session_id: &str, damage: Damage) -> Diagnostic {
    let (part, help) = match damage.part {
        DamagedPart::Journal => (
            "journal",
            "the conversation comes from the snapshot; look for a copy of the journal if you need what was said before",
        ),
        DamagedPart::Manifest => (
            "manifest",
            "if you did not edit it, `stud sessions fork` makes a session from the journal alone",
        ),
        DamagedPart::State => (
            "state",
            "the session continues with what its journal says, and plugins without what they kept before it",
        ),
    };
    let message = format!(
        "what is stored of the session is damaged: {}",
        damage.message
    );
    let told = Diagnostic::warning(&codes::STORED_SESSION_DAMAGED, message)
        .with("sessionId", session_id)
        .with("part", part)
        .with("reason", damage.reason)
        .help(help);
    match damage.path {
        Some(path) => told.with("path", path),
        None => told,
    }
}

/// Records that are not in the journal although later ones, or the snapshot, show that they were.
pub(super) fn missing(session_id: &str, first: u64, last: u64) -> Diagnostic {
    let records = if first == last {
        format!("record {first} is")
    } else {
        format!("records {first} to {last} are")
    };
    let message = format!("what is stored of the session is damaged: {records} not in the journal");
    Diagnostic::warning(&codes::STORED_SESSION_DAMAGED, message)
        .with("sessionId", session_id)
        .with("part", "journal")
        .with("reason", "missing")
        .with("firstMissing", first)
        .with("lastMissing", last)
        .help("look for a copy of the journal if you need what was said in them")
}

/// Refuses a journal that says itself that it is another session's: nothing of it may be read or continued.
///
/// Journals of older versions do not name their session; when it began tells them apart too.
pub(super) fn check_owner(facts: &Facts, store: &dyn Store) -> Result<()> {
    let first = Page {
        after_seq: None,
        limit: Some(1),
    };
    let page = store.read_journal(&facts.session_id, first)?;
    let Some(start) = page.records.into_iter().next().map(transcript_record) else {
        return Ok(());
    };
    if start.kind != "session_start" {
        return Ok(());
    }
    let text = |member: &str| start.payload[member].as_str();
    let owner = match (text("sessionId"), text("createdAt")) {
        (Some(owner), _) if owner == facts.session_id => return Ok(()),
        (Some(owner), _) => format!("the session `{owner}`"),
        (None, Some(began)) if began != facts.created_at => {
            format!("a session that began at {began}")
        }
        (None, _) => return Ok(()),
    };
    let code = &codes::MANIFEST_DRIFT;
    let message = format!(
        "the journal of the session is that of {owner}; put the right one in its place, or delete the session"
    );
    Err(Error::new(code.class, code.name, message)
        .with("sessionId", facts.session_id.as_str())
        .with("part", "journal")
        .with("reason", "foreign"))
}

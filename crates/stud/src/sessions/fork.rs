//! `stud sessions fork`.

use serde_json::json;
use stud_core::platform::Places;
use stud_core::session::archive;
use stud_core::stored_sessions::StoredSessions;

use crate::output::{Outcome, Output, Verdict, told};

pub(super) fn run(
    shelf: &StoredSessions,
    places: &Places,
    word: &str,
    at: Option<u64>,
    output: &Output,
) -> Verdict {
    let origin = shelf.find(word)?;
    let trails = places.global_root.join("sessions");
    let forked = archive::fork(&origin, at, shelf.store(), &trails).map_err(|error| {
        told(error).help(format!("`stud sessions show {origin}` shows the numbers"))
    })?;
    let id = &forked.session_id;
    if output.is_json() {
        output.document(&json!({
            "sessionId": id,
            "forkedFrom": {"sessionId": origin, "seq": forked.at_seq},
            "messages": forked.messages,
        }))?;
    } else {
        output.line(format!(
            "{id} continues from record {} of {origin}",
            forked.at_seq
        ));
        output.line(format!("stud --resume {id}"));
    }
    Ok(Outcome::Done)
}

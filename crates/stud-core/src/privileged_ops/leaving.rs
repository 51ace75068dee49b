//! The end of the session, asked for by a person.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use stud_contract_meta::Result;
use stud_host_api::events::SessionExitRequested;

use super::Site;

/// Lets the session end once the command that asked for it is done.
pub(super) fn leave(site: &Site) -> Value {
    request(site, false);
    json!({})
}

/// Waits for what runs, makes everything safe, and lets the session end.
pub(super) async fn save_and_close(site: &Site, drain_timeout_ms: u64) -> Result<Value> {
    let patience = Duration::from_millis(drain_timeout_ms);
    let Some(drained) = site.session.drain(patience).await else {
        let event = "save-and-close-timeout";
        let payload = json!({
            "event": event,
            "sessionId": site.session.id(),
            "drainTimeoutMs": drain_timeout_ms,
        });
        site.audit("SessionLifecycle", Some(event), payload);
        request(site, true);
        return Ok(json!({"persisted": false, "sessionPath": "", "drainedTurns": 0}));
    };
    site.session.save_and_say(drained).await?;
    request(site, false);
    let path = folder(site).display().to_string();
    Ok(json!({"persisted": true, "sessionPath": path, "drainedTurns": drained}))
}

/// An event announces the end, and no more inputs are accepted. Queued inputs are answered, unless the end is forced.
fn request(site: &Site, forced: bool) {
    let session = site.session.clone();
    let correlation_id = session.correlation_id();
    let end = move || {
        let books = session.books();
        books.publish(&correlation_id, &SessionExitRequested { forced });
        session.end_of_input();
        if forced {
            session.cancel_turn();
        }
    };
    site.session.commands().afterward(Box::new(end));
}

/// Where what stud writes about the session is.
fn folder(site: &Site) -> PathBuf {
    let sessions = site.ground.places.global_root.join("sessions");
    sessions.join(site.session.id())
}

//! The sessions that the store has.

use serde_json::{Value, json};
use stud_contract_meta::Result;

use super::Site;
use crate::executor::spawn_future;
use crate::session::SessionSummary;

/// All sessions, newest first. Unreadable ones are reported and skipped.
pub(super) async fn list(site: &Site) -> Result<Value> {
    let store = site.session.store().clone();
    let current = site.session.id().to_owned();
    // A store's calls block, and there may be many sessions.
    let listed = spawn_future(async move {
        let mut readable = Vec::new();
        let mut unreadable = Vec::new();
        for id in store.list()? {
            match SessionSummary::of(&id, &*store) {
                Ok(glimpse) => readable.push(glimpse),
                Err(_) => unreadable.push(id),
            }
        }
        readable.sort_by(|one, other| {
            let key = |glimpse: &SessionSummary| (glimpse.updated_at.clone(), glimpse.id.clone());
            key(other).cmp(&key(one))
        });
        let shown = readable.iter().map(|glimpse| {
            let mut shown = json!(glimpse);
            shown["current"] = (glimpse.id == current).into();
            shown
        });
        let sessions: Vec<Value> = shown.collect();
        Ok(json!({"sessions": sessions, "unreadable": unreadable}))
    });
    listed.await.unwrap_or_else(|| {
        let why = "it broke off while its sessions were listed";
        Err(crate::store::unavailable(why))
    })
}

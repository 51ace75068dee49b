//! Children that were running when their process ended early: each gets its one end when the session is resumed.

use std::collections::BTreeSet;

use serde_json::json;
use stud_host_api::audit::{ActiveSubagent, AuditQuery};
use stud_host_api::events::SubagentAborted;
use stud_host_api::session::AbortReason;

use super::Session;
use super::audit_recovery;
use super::child::{CLASS, word};
use crate::ids;
use crate::recorder::{Parentage, Recorder};
use crate::sync::lock;

/// Puts on record that the process of these children ended: what each had begun, and then the child itself, the
/// deepest first. Gives what is to be told of it.
pub(super) fn abort(books: &Recorder) -> Vec<SubagentAborted> {
    let Some(trail) = &books.trail else {
        return Vec::new();
    };
    let running = match trail.active_subagents() {
        Ok(running) => running,
        Err(error) => {
            let reason = "subagents of the last process have no end in the audit trail";
            books.suppress(reason, &ids::fresh(), &error);
            return Vec::new();
        }
    };
    let aborted = running.iter().rev().map(|child| {
        let books = books.of_child(books.ledger.clone(), parentage(child));
        let correlation_id = finish(&books, child).unwrap_or_else(ids::fresh);
        let aborted = SubagentAborted {
            depth: child.depth,
            input_tokens: None,
            output_tokens: None,
            parent_session_id: child.parent_session_id.clone(),
            reason: word(AbortReason::Crash),
            subagent_id: Some(child.subagent_id.clone()),
        };
        let kind = Some("SubagentAborted");
        books.audit(CLASS, kind, &correlation_id, json!(aborted));
        aborted
    });
    aborted.collect()
}

fn parentage(child: &ActiveSubagent) -> Parentage {
    Parentage {
        parent_session_id: child.parent_session_id.clone(),
        subagent_id: child.subagent_id.clone(),
        depth: child.depth,
    }
}

/// Ends what the turns of a child had begun. Gives the turn in which the child was opened.
fn finish(books: &Recorder, child: &ActiveSubagent) -> Option<String> {
    let query = AuditQuery {
        subagent_id: Some(child.subagent_id.clone()),
        ..AuditQuery::default()
    };
    let records = books.trail.as_ref()?.query(&query).ok()?;
    let of_kind = |kind: &'static str| {
        let records = records.iter();
        let records = records.filter(move |record| record.kind.as_deref() == Some(kind));
        records.map(|record| record.correlation_id.as_str())
    };
    for turn in of_kind("TurnStarted").collect::<BTreeSet<_>>() {
        audit_recovery::finish(books, turn, None);
    }
    of_kind("SubagentSpawned").next().map(str::to_owned)
}

impl Session {
    /// Keeps what is to be told of children whose process ended.
    pub(super) fn remember_crashed(&self, aborted: Vec<SubagentAborted>) {
        lock(&self.crashed).extend(aborted);
    }

    /// Tells of them; subscribers join after the session is opened.
    pub(super) fn tell_crashed(&self) {
        let aborted = std::mem::take(&mut *lock(&self.crashed));
        for aborted in &aborted {
            self.publish_state(aborted);
        }
    }
}

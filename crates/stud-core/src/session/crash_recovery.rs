//! What a process that ended early left open, and how it is closed when the session is resumed.

use std::collections::BTreeMap;

use serde_json::json;
use stud_contract_interaction::Request;
use stud_contract_meta::Result;
use stud_contract_session_store::Durability;

use super::Session;
use super::audit_recovery::{self, RESTARTED};
use super::child_recovery;
use crate::ledger::{Draft, OpenPrompt};
use crate::platform;
use crate::recorder::Recorder;
use crate::sync::lock;

impl Session {
    /// Ends everything that was unfinished: prompts as cancelled, tool calls as unknown, turns as failed. Prompts
    /// that stayed open though their tools were gone are taken up again.
    ///
    /// The audit trail is written beside the journal, so it may lack an end that the journal has: that of
    /// `unsaved_turn`. It is only read if a process ended early.
    pub(super) fn tie_up(&self, unsaved_turn: Option<String>) {
        let left = self.books.ledger.loose_ends();
        for detached in left.detached.values() {
            // One that cannot be read was written by a later version, which can.
            if let Ok(request) = Request::read(detached["request"].clone()) {
                let asker = detached["askedBy"].as_str().map(str::to_owned);
                let inbox = self.this.clone();
                self.prompts.reopen(&self.books, asker, request, inbox);
            }
        }
        let mut drafts: Vec<Draft> = left.prompts.iter().map(abandoned).collect();
        for (id, name) in &left.tool_calls {
            // It may have run or not. It is never run again without a prompt.
            let content = json!({"ok": false, "unknown": true, "reason": RESTARTED});
            let mut payload = json!({
                "toolCallId": id,
                "toolName": name,
                "content": content.to_string(),
                "unknown": true,
            });
            if let Some(stage) = left.stage_calls.get(id) {
                // The conversation has no such call.
                payload["stage"] = stage.clone();
            } else {
                let last = self.books.ledger.last_seq();
                lock(&self.conversation).say("tool", payload.clone(), last, None);
            }
            drafts.push(Draft {
                kind: "tool_result",
                payload,
                ..Draft::default()
            });
        }
        drafts.extend(left.turns.iter().map(|id| abandoned_turn(id)));
        if drafts.is_empty() && unsaved_turn.is_none() {
            return;
        }
        let (books, session) = (self.books.clone(), self.this.clone());
        let then = move |written: Result<u64>| {
            if written.is_ok() {
                audit_abandoned(&books, &left.prompts);
                let aborted = child_recovery::abort(&books);
                if let Some(session) = session.upgrade() {
                    session.remember_crashed(aborted);
                }
                for turn_id in &left.turns {
                    audit_recovery::finish(&books, turn_id, Some(&left.tool_calls));
                }
                if let Some(turn_id) = &unsaved_turn {
                    audit_recovery::finish(&books, turn_id, None);
                }
            }
        };
        self.books.ledger.commit(drafts, Durability::Written, then);
    }
}

/// The end of a prompt that went with the process in which it was asked. No answer can reach the asker.
fn abandoned((id, prompt): (&String, &OpenPrompt)) -> Draft {
    Draft {
        kind: "interaction_response",
        correlation_id: Some(prompt.correlation_id.clone()),
        ext_id: prompt.asked_by.clone(),
        payload: json!({
            "interactionId": id,
            "requestKind": prompt.request_kind,
            "outcome": "cancelled",
            "action": "cancel",
            "reason": RESTARTED,
        }),
    }
}

/// The end of a turn that went with its process. What it had said by then stays said.
fn abandoned_turn(id: &str) -> Draft {
    Draft {
        kind: "turn_end",
        correlation_id: Some(id.to_owned()),
        payload: json!({"turnId": id, "status": "failed", "reason": RESTARTED}),
        ..Draft::default()
    }
}

/// Every prompt has its end in the audit trail, also one interrupted by a crash.
fn audit_abandoned(books: &Recorder, prompts: &BTreeMap<String, OpenPrompt>) {
    for (id, prompt) in prompts {
        let mut payload = json!({
            "interactionId": id,
            "requestKind": prompt.request_kind,
            "outcome": "cancelled",
            "reason": RESTARTED,
            "raisedAt": prompt.raised_at,
            "settledAt": platform::rfc3339(platform::now()),
        });
        if let Some(asker) = &prompt.asked_by {
            payload["askedBy"] = asker.as_str().into();
        }
        if let Some(call) = &prompt.tool_call_id {
            payload["toolCallId"] = call.as_str().into();
        }
        let kind = Some("InteractionCancelled");
        books.audit("Interaction", kind, &prompt.correlation_id, payload);
    }
}

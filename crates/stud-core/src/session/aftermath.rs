//! What a process that ended early left open, and how it is closed when the session is resumed.

use std::collections::BTreeMap;

use serde_json::json;
use stud_contract_interaction::Request;
use stud_contract_meta::Result;
use stud_contract_session_store::Durability;

use super::Session;
use crate::books::Books;
use crate::ledger::{Draft, OpenPrompt};
use crate::platform;
use crate::sync::lock;

/// Why something that was begun has no end of its own.
const RESTARTED: &str = "server_restarted";

impl Session {
    /// Gives everything that was begun its end: prompts as called off, tool calls as unknown. Prompts that stayed open
    /// though their tools were gone are taken up again.
    pub(super) fn tie_up(&self) {
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
            // It may have run or not. Nobody runs it again without asking.
            let content = json!({"ok": false, "unknown": true, "reason": RESTARTED});
            let payload = json!({
                "toolCallId": id,
                "toolName": name,
                "content": content.to_string(),
                "unknown": true,
            });
            let last = self.books.ledger.last_seq();
            lock(&self.conversation).say("tool", payload.clone(), last, None);
            drafts.push(Draft {
                kind: "tool_result",
                payload,
                ..Draft::default()
            });
        }
        if !drafts.is_empty() {
            let books = self.books.clone();
            let then = move |written: Result<u64>| {
                if written.is_ok() {
                    audit_abandoned(&books, &left.prompts);
                }
            };
            self.books.ledger.commit(drafts, Durability::Written, then);
        }
    }
}

/// The end of a prompt that went with the process in which it was asked. No answer can reach whoever asked.
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

/// Every prompt has its end in the audit trail, also one that nobody lived to see.
fn audit_abandoned(books: &Books, prompts: &BTreeMap<String, OpenPrompt>) {
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

//! The events of prompts.

use serde_json::{Value, json};

use super::{Made, Prompt, REMEMBERED, copy, text};

/// What a tool's prompt carries beside its ids.
const SHOWN: [&str; 8] = [
    "prompt",
    "approvalScopes",
    "inputSchema",
    "presentation",
    "completedView",
    "error",
    "errorSummary",
    "fieldErrors",
];

impl Made<'_> {
    pub(super) fn interaction_request(&mut self, payload: &Value) {
        let kind = text(payload, "kind");
        let interaction_id = text(payload, "interactionId");
        let asked = &payload["payload"];
        let call_id = asked["toolCallId"].as_str();
        let prompt = Prompt {
            tool_call_id: call_id.map(str::to_owned),
            is_queued: false,
        };
        self.projection
            .prompts
            .insert(interaction_id.clone(), prompt);
        let mut told = json!({"interactionId": interaction_id, "kind": kind});
        copy(payload, &mut told, &["subagentId", "parentSessionId"]);
        let interaction_type = match kind.as_str() {
            "ToolInput" => "input",
            "ToolApproval" => "approval",
            // What core asks about goes only to clients that may answer, and outside of the transcript.
            _ => {
                copy(asked, &mut told, &["toolCallId"]);
                if let Some(tool) = asked.get("toolId").or_else(|| asked.get("tool")) {
                    told["toolName"] = tool.clone();
                }
                return self.tell("interaction_request", told);
            }
        };
        let call_id = call_id.unwrap_or_default().to_owned();
        self.begin_prompt(&call_id, asked);
        told["toolCallId"] = call_id.into();
        told["toolName"] = asked["toolName"].clone();
        told["interactionType"] = interaction_type.into();
        told["presentation"] = "tool".into();
        if interaction_type == "approval" {
            told["approvalScopes"] = json!(["once", "session"]);
        }
        copy(asked, &mut told, &SHOWN);
        if asked.get("timeoutMs").is_some_and(Value::is_number) {
            told["timeoutMs"] = asked["timeoutMs"].clone();
        }
        self.tell("interaction_request", told);
    }

    /// A call asks: what it asked before is over, and it waits for a person from now on.
    fn begin_prompt(&mut self, call_id: &str, asked: &Value) {
        let call = self.projection.calls.entry(call_id.to_owned()).or_default();
        if call.tool_name.is_empty() {
            call.tool_name = text(asked, "toolName");
        }
        let overdue = call.overdue.take();
        let began = !std::mem::replace(&mut call.is_pending, true);
        call.presentation = asked.get("presentation").cloned().unwrap_or_default();
        let mut told = json!({
            "toolCallId": call_id,
            "toolName": call.tool_name,
            "pending": true,
        });
        if !call.presentation.is_null() {
            told["presentation"] = call.presentation.clone();
        }
        if let Some(overdue) = overdue {
            self.close_prompt(&overdue, Some(call_id), "timeout");
        }
        if began {
            self.tell("interaction_pending", told);
        }
    }

    pub(super) fn interaction_response(&mut self, payload: &Value) {
        let interaction_id = text(payload, "interactionId");
        let kind = text(payload, "requestKind");
        let call_id = self
            .projection
            .prompts
            .get(&interaction_id)
            .and_then(|prompt| prompt.tool_call_id.clone());
        let outcome = text(payload, "outcome");
        if self.projection.is_settled(&interaction_id) {
            // It was closed with its call.
            return;
        }
        if kind != "ToolInput" && kind != "ToolApproval" {
            self.settle(&interaction_id);
            let mut told = json!({
                "interactionId": interaction_id,
                "kind": kind,
                "outcome": outcome,
            });
            copy(
                payload,
                &mut told,
                &["status", "value", "reason", "answeredBy", "redacted"],
            );
            if let Some(call_id) = call_id {
                told["toolCallId"] = call_id.into();
            }
            return self.tell("interaction_response", told);
        }
        let mut told = json!({"interactionId": interaction_id});
        if let Some(call_id) = &call_id {
            told["toolCallId"] = call_id.as_str().into();
        }
        match outcome.as_str() {
            "accepted" => {
                let value = &payload["value"];
                copy(
                    value,
                    &mut told,
                    &["action", "approvalScope", "input", "reason"],
                );
            }
            "rejected" => {
                told["action"] = "cancel".into();
                copy(payload, &mut told, &["reason"]);
            }
            "timeout" => {
                // Whether it stays open is up to the tool.
                let call = call_id.and_then(|id| self.projection.calls.get_mut(&id));
                if let Some(call) = call {
                    call.overdue = Some(interaction_id);
                }
                return;
            }
            outcome => {
                let reason = match (payload["reason"].as_str(), outcome) {
                    (Some(reason), _) => reason,
                    (None, "closed") => "session_closed",
                    (None, _) => "interrupted",
                };
                return self.close_prompt(&interaction_id, call_id.as_deref(), reason);
            }
        }
        self.settle(&interaction_id);
        copy(payload, &mut told, &["answeredBy", "late"]);
        self.tell("interaction_response", told);
    }

    /// It was not answered, and cannot be any more.
    pub(super) fn close_prompt(&mut self, interaction_id: &str, call: Option<&str>, reason: &str) {
        self.settle(interaction_id);
        let mut told = json!({
            "interactionId": interaction_id,
            "action": "cancel",
            "reason": reason,
        });
        if let Some(call) = call {
            told["toolCallId"] = call.into();
        }
        self.tell("interaction_response", told);
    }

    /// The tool is gone, and its prompt can still be answered.
    pub(super) fn interaction_detached(&mut self, payload: &Value) {
        let interaction_id = text(payload, "interactionId");
        let prompt = self.projection.prompts.get_mut(&interaction_id);
        let call_id = prompt.and_then(|prompt| {
            prompt.is_queued = true;
            prompt.tool_call_id.clone()
        });
        let mut told = json!({"interactionId": interaction_id});
        if let Some(call_id) = call_id {
            if let Some(call) = self.projection.calls.get_mut(&call_id) {
                call.overdue = None;
            }
            told["toolCallId"] = call_id.into();
        }
        self.tell("interaction_queued", told);
    }

    fn settle(&mut self, interaction_id: &str) {
        self.projection.prompts.remove(interaction_id);
        let settled = &mut self.projection.settled;
        settled.push_back(interaction_id.to_owned());
        if settled.len() > REMEMBERED {
            settled.pop_front();
        }
    }
}

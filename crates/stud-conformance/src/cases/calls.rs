//! Calls of every category.

use std::sync::Arc;

use serde_json::{Value, json};
use stud_contract_meta::Kind;

use crate::case::{Context, Running, Verdict, untyped};
use crate::sample;
use crate::subject::{Call, Subject};

/// One call for each thing that the plugin offers, with values its schemas accept.
pub(super) fn samples(context: &Context) -> Vec<Call> {
    let named = |member: &str, schema: &str| -> Vec<(String, Value)> {
        let entries = context.list(member).iter();
        entries
            .filter_map(|entry| {
                Some((
                    entry["name"].as_str()?.to_owned(),
                    sample::of(&entry[schema]),
                ))
            })
            .collect()
    };
    match context.kind() {
        Some(Kind::Tool) => named("tools", "inputSchema")
            .into_iter()
            .map(|(name, args)| Call::Tool { name, args })
            .collect(),
        Some(Kind::Command) => named("commands", "argsSchema")
            .into_iter()
            .map(|(name, args)| Call::Command { name, args })
            .collect(),
        Some(Kind::Hook) => vec![Call::Hook(payload(context))],
        Some(Kind::Ui) => interfaces(context),
        Some(Kind::Provider) => vec![Call::Request(request())],
        Some(Kind::Logger) => vec![Call::Record(record("event"))],
        Some(Kind::StateMachine) => {
            let entry = context.manifest["entryStage"].as_str().unwrap_or_default();
            vec![Call::Next(entry.to_owned())]
        }
        Some(Kind::SessionStore) => vec![Call::ListSessions],
        Some(Kind::ContextProvider) => vec![Call::Provide],
        None => Vec::new(),
    }
}

/// The calls of a UI's roles.
fn interfaces(context: &Context) -> Vec<Call> {
    let has = |role: &str| context.list("roles").iter().any(|other| other == role);
    let mut calls = Vec::new();
    if has("subscriber") {
        calls.push(Call::Event("SessionTurnStart".to_owned(), json!({})));
    }
    if has("interactor") {
        calls.push(prompt());
    }
    calls
}

pub(super) fn prompt() -> Call {
    Call::Prompt(json!({"kind": "Confirm", "payload": {"prompt": "Does it conform?"}}))
}

pub(super) fn request() -> Value {
    json!({"messages": [{"role": "user", "content": sample::TEXT}], "tools": [], "modelId": sample::TEXT})
}

pub(super) fn record(kind: &str) -> Value {
    json!({
        "type": "SessionTurnStart", "kind": kind, "severity": "info", "correlationId": "t1",
        "timestamp": "2026-01-01T00:00:00.000Z", "payload": {},
    })
}

/// What a hook of this slot is given.
pub(super) fn payload(context: &Context) -> Value {
    match context.manifest["registration"]["slot"]
        .as_str()
        .unwrap_or_default()
    {
        "RECEIVE_INPUT/pre" | "RECEIVE_INPUT/post" => json!({"text": sample::TEXT}),
        "TOOL_CALL/pre" => json!({"toolCallId": "c1", "toolName": sample::TEXT, "args": {}}),
        "TOOL_CALL/post" => json!({
            "toolCallId": "c1", "toolName": sample::TEXT, "args": {}, "ok": true, "result": sample::TEXT,
        }),
        "RENDER/pre" | "RENDER/post" | "STREAM_RESPONSE/pre" | "STREAM_RESPONSE/post" => {
            json!({"text": sample::TEXT})
        }
        _ => request(),
    }
}

pub(super) fn cancelled(context: &Context) -> Verdict {
    let calls = samples(context);
    if calls.is_empty() {
        return Verdict::not_applicable("there is nothing to call");
    }
    for call in calls {
        let subject = context.instance();
        let what = format!("{call:?}");
        let running = Running::start(&subject, call);
        subject.cancel();
        if running.result().is_none() {
            return Verdict::fail(format!("{what} did not return"));
        }
    }
    Verdict::Pass
}

pub(super) fn typed_errors(context: &Context) -> Verdict {
    let calls = samples(context);
    if calls.is_empty() {
        return Verdict::not_applicable("there is nothing to call");
    }
    for call in calls {
        let subject = context.instance();
        if let Some(Err(error)) = ended(&subject, call)
            && let Some(why) = untyped(&error)
        {
            return Verdict::fail(why);
        }
    }
    Verdict::Pass
}

pub(super) fn within_rights(context: &Context) -> Verdict {
    let declared = context.list("interactionKinds");
    for call in samples(context) {
        let subject = context.instance();
        // What it gives is looked at by other cases.
        let _ = ended(&subject, call);
        let raised = subject.raised();
        if let Some(foreign) = raised
            .iter()
            .find(|kind| !declared.iter().any(|known| known == *kind))
        {
            return Verdict::fail(format!(
                "it raised `{foreign}`, which its manifest does not declare"
            ));
        }
    }
    Verdict::Pass
}

/// The result of a call that is cancelled if it does not return by itself.
fn ended(subject: &Arc<dyn Subject>, call: Call) -> Option<stud_contract_meta::Result<Value>> {
    let result = Running::start(subject, call).result();
    subject.cancel();
    result
}

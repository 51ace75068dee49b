//! What the audit trail says was begun in a turn, and the ends it is given after a process that could not.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::audit::{AuditQuery, AuditRecord, millis_between};
use crate::recorder::Recorder;

/// Why something that was begun has no end of its own.
pub(super) const RESTARTED: &str = "server_restarted";

/// Gives everything its end that `turn_id` has begun on record: requests, tool calls and then the turn itself.
///
/// What has its end keeps it, so this can be done again. The transcript says which calls were let run before any of them
/// runs; `begun_calls` are those without a result, and every other one never started. Without it that is not known.
pub(super) fn finish(
    books: &Recorder,
    turn_id: &str,
    begun_calls: Option<&BTreeMap<String, String>>,
) {
    let Some(trail) = &books.trail else { return };
    let query = AuditQuery {
        correlation_id: Some(turn_id.to_owned()),
        ..AuditQuery::default()
    };
    let records = match trail.query(&query) {
        Ok(records) => records,
        Err(error) => {
            let reason = "what the last process left open in the audit trail stays open";
            return books.suppress(reason, turn_id, &error);
        }
    };
    // The end of the process is unknown; this is its last recorded time.
    let by_now = |record: &&AuditRecord| record.payload.get("reason") == Some(&RESTARTED.into());
    let mut last = records.iter().rev().skip_while(by_now);
    let Some(until) = last.next().map(|last| last.timestamp.clone()) else {
        return;
    };
    let begun = OpenAuditRecords::of(&records);
    if let Some(request) = begun.request {
        let mut end = ended(request, &["providerId", "modelId", "purpose"], &until);
        end["finishReason"] = "error".into();
        books.audit("ProviderExchange", Some("ProviderResponse"), turn_id, end);
    }
    for call in begun.tool_calls.into_values() {
        let mut end = ended(call, &["toolCallId", "toolName"], &until);
        let id = call.payload.get("toolCallId").and_then(Value::as_str);
        let has_begun = begun_calls.is_none_or(|begun| id.is_some_and(|id| begun.contains_key(id)));
        if has_begun {
            // It may have done its work or not.
            end["unknown"] = true.into();
        } else {
            end["message"] = json!("the process ended before the call was started");
        }
        books.audit("ToolInvocation", Some("ToolCallFailed"), turn_id, end);
    }
    if let Some(turn) = begun.turn {
        let end = ended(turn, &["turnId"], &until);
        books.audit("Turn", Some("TurnError"), turn_id, end);
    }
}

/// What is begun and not ended.
#[derive(Default)]
struct OpenAuditRecords<'a> {
    turn: Option<&'a AuditRecord>,
    request: Option<&'a AuditRecord>,
    tool_calls: BTreeMap<&'a str, &'a AuditRecord>,
}

impl<'a> OpenAuditRecords<'a> {
    fn of(records: &'a [AuditRecord]) -> Self {
        let mut begun = Self::default();
        for record in records {
            let call = || record.payload.get("toolCallId").and_then(Value::as_str);
            match record.kind.as_deref() {
                Some("TurnStarted") => begun.turn = Some(record),
                Some("TurnEnded" | "TurnError") => begun.turn = None,
                Some("ProviderRequest") => begun.request = Some(record),
                Some("ProviderResponse") => begun.request = None,
                Some("ToolCallStarted") => {
                    begun.tool_calls.extend(call().map(|id| (id, record)));
                }
                Some("ToolCallSucceeded" | "ToolCallFailed") => {
                    if let Some(id) = call() {
                        begun.tool_calls.remove(id);
                    }
                }
                _ => {}
            }
        }
        begun
    }
}

/// The end of what `begun` tells of, named by these members of it.
fn ended(begun: &AuditRecord, names: &[&str], until: &str) -> Value {
    let mut end: Map<String, Value> = names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), begun.payload.get(*name)?.clone())))
        .collect();
    let duration = millis_between(&begun.timestamp, until);
    end.insert("durationMs".to_owned(), duration.into());
    end.insert("reason".to_owned(), RESTARTED.into());
    end.insert(
        "message".to_owned(),
        json!("the process ended before this did"),
    );
    Value::Object(end)
}

//! Chat events: the transcript of a session as its clients see it.
//!
//! Events are made of the records of the transcript and of nothing else, so the same records always give the same events
//! with the same numbers: while a session runs, when a client reconnects, and after stud was started again.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use axum::extract::ws::Utf8Bytes;
use serde_json::{Map, Value, json};
use stud_contract_session_store::JournalRecord;

use crate::refusal::wire_code;

mod prompts;

/// How many prompts that were settled are remembered by their ids.
const REMEMBERED: usize = 4096;

/// One event, as the frame that carries it.
#[derive(Debug, Clone)]
pub(crate) struct ChatEvent {
    /// Its number in the session, from 1 and without gaps.
    pub(crate) seq: u64,
    pub(crate) frame: Utf8Bytes,
}

/// Makes events of records, one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Projection {
    session_id: String,
    last_record: u64,
    last_seq: u64,
    /// How many answers of the model the turn has had, and whether the last one is complete.
    responses: (u64, bool),
    /// The tool calls that have no result yet.
    calls: BTreeMap<String, Call>,
    /// The prompts that can still be answered.
    prompts: BTreeMap<String, Prompt>,
    /// The prompts that cannot be answered any more, the latest last.
    settled: VecDeque<String>,
}

/// A tool call that runs or waits to run.
#[derive(Debug, Clone, Default)]
struct Call {
    tool_name: String,
    /// Whether it waits for a person.
    is_pending: bool,
    /// Its prompt that ran out of time, until it is known whether it stays open.
    overdue: Option<String>,
    presentation: Value,
}

/// A prompt that can still be answered.
#[derive(Debug, Clone)]
struct Prompt {
    tool_call_id: Option<String>,
    /// Whether it stays open when its call is over.
    is_queued: bool,
}

/// What a record says besides its payload.
struct Origin<'a> {
    timestamp: &'a str,
    turn_id: Option<&'a str>,
    ext_id: Option<&'a str>,
    seq: u64,
}

/// Events on their way out of one record.
struct Made<'a> {
    projection: &'a mut Projection,
    origin: Origin<'a>,
    events: Vec<ChatEvent>,
}

impl Projection {
    pub(crate) fn new(session_id: &str) -> Self {
        Self {
            session_id: session_id.to_owned(),
            last_record: 0,
            last_seq: 0,
            responses: (0, false),
            calls: BTreeMap::new(),
            prompts: BTreeMap::new(),
            settled: VecDeque::new(),
        }
    }

    /// The number of the last event.
    pub(crate) fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Whether a prompt was settled a while ago.
    pub(crate) fn is_settled(&self, interaction_id: &str) -> bool {
        self.settled.iter().any(|id| id == interaction_id)
    }

    /// The events of a record. One that was taken before gives none.
    pub(crate) fn take(&mut self, stored: &JournalRecord) -> Vec<ChatEvent> {
        if stored.seq <= self.last_record {
            return Vec::new();
        }
        self.last_record = stored.seq;
        let record = &stored.record;
        let origin = Origin {
            timestamp: record["timestamp"].as_str().unwrap_or_default(),
            turn_id: record["correlationId"].as_str(),
            ext_id: record["extId"].as_str(),
            seq: stored.seq,
        };
        let mut made = Made {
            projection: self,
            origin,
            events: Vec::new(),
        };
        made.project(
            record["kind"].as_str().unwrap_or_default(),
            &record["payload"],
        );
        made.events
    }
}

impl Made<'_> {
    fn project(&mut self, kind: &str, payload: &Value) {
        match kind {
            "user_input" => self.user_message(payload),
            "user_message" => self.tell("user_message_revised", payload.clone()),
            "turn_start" => self.turn_start(payload),
            "assistant_delta" => {
                self.begin_response();
                self.tell("assistant_chunk", json!({"text": payload["text"]}));
            }
            "assistant_thinking" => {
                self.begin_response();
                self.tell("thinking_chunk", json!({"text": payload["text"]}));
            }
            "assistant_message" => self.assistant_message(payload),
            "tool_call" => self.tool_started(payload),
            "tool_result" => self.tool_result(payload),
            "interaction_request" => self.interaction_request(payload),
            "interaction_response" => self.interaction_response(payload),
            "interaction_detached" => self.interaction_detached(payload),
            "turn_end" => self.turn_end(payload),
            "note" => self.tell(
                "note",
                json!({"text": payload["text"], "source": self.origin.ext_id}),
            ),
            "compaction" => self.tell("context_compacted", json!({})),
            _ => {}
        }
    }

    fn user_message(&mut self, payload: &Value) {
        let mut told = json!({"text": payload["text"], "inputSeq": self.origin.seq});
        if let Some(source) = self.origin.ext_id {
            told["source"] = source.into();
        }
        copy(payload, &mut told, &["origin"]);
        self.tell("user_message", told);
    }

    fn turn_start(&mut self, payload: &Value) {
        self.projection.responses = (0, false);
        let late = payload.get("causedBy").is_some();
        let mut told = json!({"trigger": if late { "late_answer" } else { "user" }});
        copy(payload, &mut told, &["inputSeq", "causedBy"]);
        self.tell("turn_start", told);
    }

    /// What comes after a complete answer belongs to the next one.
    fn begin_response(&mut self) {
        let (count, complete) = &mut self.projection.responses;
        if std::mem::take(complete) {
            *count += 1;
        }
    }

    fn assistant_message(&mut self, payload: &Value) {
        self.begin_response();
        let calls = payload["toolCalls"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        if calls.is_empty() || payload["text"] != "" {
            self.tell("assistant_done", json!({"text": payload["text"]}));
        }
        for call in calls {
            let id = text(call, "toolCallId");
            let tool_name = text(call, "toolName");
            let known = Call {
                tool_name,
                ..Call::default()
            };
            self.projection.calls.insert(id, known);
            self.tell("tool_call", call.clone());
        }
        self.projection.responses.1 = true;
    }

    fn tool_started(&mut self, payload: &Value) {
        let id = text(payload, "toolCallId");
        if let Entry::Vacant(unknown) = self.projection.calls.entry(id) {
            unknown.insert(Call {
                tool_name: text(payload, "toolName"),
                ..Call::default()
            });
            self.tell("tool_call", payload.clone());
        }
        self.tell("tool_started", payload.clone());
    }

    fn tool_result(&mut self, payload: &Value) {
        let id = text(payload, "toolCallId");
        let prompted = self.end_of_call(&id);
        let mut told = json!({"toolCallId": id, "toolName": payload["toolName"]});
        let content = payload["content"].as_str().unwrap_or_default();
        match serde_json::from_str::<Value>(content) {
            Ok(Value::Object(content)) => {
                for (member, value) in content {
                    told[member] = value;
                }
            }
            _ => told["result"] = content.into(),
        }
        if let Some(error) = told.get_mut("error").filter(|error| error.is_object()) {
            to_wire(error, prompted);
        }
        if told["unknown"] == true {
            // It is unknown whether it ran.
            let message = "stud ended while the call ran, so whether it took effect is unknown";
            told["error"] = json!({"code": "tool_interrupted", "message": message});
        }
        self.tell("tool_result", told);
    }

    /// The call is over, and with it the prompts that it waited for. Gives whether one ran out of time.
    fn end_of_call(&mut self, id: &str) -> bool {
        let Some(call) = self.projection.calls.remove(id) else {
            return false;
        };
        let prompted = call.overdue.is_some();
        if let Some(interaction_id) = call.overdue {
            self.close_prompt(&interaction_id, Some(id), "timeout");
        }
        // A cancelled call does not wait for the record that says so of its prompt.
        let prompts = self.projection.prompts.iter();
        let left: Vec<String> = prompts
            .filter(|(_, prompt)| prompt.tool_call_id.as_deref() == Some(id) && !prompt.is_queued)
            .map(|(interaction_id, _)| interaction_id.clone())
            .collect();
        for interaction_id in left {
            self.close_prompt(&interaction_id, Some(id), "interrupted");
        }
        if call.is_pending {
            let mut told = json!({
                "toolCallId": id,
                "toolName": call.tool_name,
                "pending": false,
            });
            if !call.presentation.is_null() {
                told["presentation"] = call.presentation;
            }
            self.tell("interaction_pending", told);
        }
        prompted
    }

    fn turn_end(&mut self, payload: &Value) {
        let open: Vec<String> = self.projection.calls.keys().cloned().collect();
        for id in open {
            self.end_of_call(&id);
        }
        let status = payload["status"].as_str().unwrap_or("completed");
        if status == "cancelled" {
            self.tell("interrupt", json!({"reason": "user_cancel"}));
        }
        let mut told = json!({"status": status});
        copy(payload, &mut told, &["reason"]);
        if let Some(error) = payload.get("error") {
            let mut error = error.clone();
            to_wire(&mut error, false);
            self.tell("error", error.clone());
            told["error"] = error;
        }
        self.tell("turn_end", told);
        self.projection.responses = (0, false);
    }

    /// Adds an event.
    fn tell(&mut self, kind: &str, payload: Value) {
        let projection = &mut *self.projection;
        projection.last_seq += 1;
        let seq = projection.last_seq;
        let mut event = Map::new();
        let mut put = |name: &str, value: Value| event.insert(name.to_owned(), value);
        put("id", format!("{}:{seq}", projection.session_id).into());
        put("type", kind.into());
        put("timestamp", self.origin.timestamp.into());
        put("sessionId", projection.session_id.as_str().into());
        if let Some(turn_id) = self.origin.turn_id {
            put("turnId", turn_id.into());
            put(
                "responseId",
                format!("{turn_id}.{}", projection.responses.0).into(),
            );
        }
        put("payload", payload);
        let frame = json!({
            "type": "chat_event",
            "sessionId": projection.session_id,
            "seq": seq,
            "event": event,
        });
        self.events.push(ChatEvent {
            seq,
            frame: frame.to_string().into(),
        });
    }
}

/// Puts the word of this wire beside the class and code that an error has everywhere else.
fn to_wire(error: &mut Value, prompted: bool) {
    let class = text(error, "class");
    let code = text(error, "code");
    let word = match (class.as_str(), code.as_str()) {
        ("ToolTransient", "ExecutionTimeout") if prompted => "interaction_timeout".into(),
        (class, code) => wire_code(class, code),
    };
    error["typed"] = format!("{class}/{code}").into();
    error["code"] = word.into();
}

fn text(value: &Value, member: &str) -> String {
    value[member].as_str().unwrap_or_default().to_owned()
}

/// Copies the members that are there.
fn copy(from: &Value, to: &mut Value, members: &[&str]) {
    for member in members {
        if let Some(value) = from.get(member) {
            to[*member] = value.clone();
        }
    }
}

#[cfg(test)]
mod tests;

//! What is put on record of each request and its answer.
//!
//! The record goes into the session's audit trail; without a session that the sender may know of, into that of the
//! global root. It never has the text, unless `control.logText` is set. That it cannot be written stops nothing.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use stud_core::audit::bootstrap::{self, Deed};
use stud_core::platform::Durability;
use stud_core::session::Session;

use crate::ack::{Ack, Decision};
use crate::message::{Action, Content, Heading, Message};
use crate::policy::Policy;

/// The family of all these records.
pub(crate) const CLASS: &str = "Control";

/// The most bytes of text that are put on record.
const LONGEST_TEXT: usize = 4096;

/// What was found out about a request on the way to its answer.
pub(crate) struct Judged {
    pub(crate) message: Option<Arc<Message>>,
    /// The session whose trail the request belongs into.
    pub(crate) session: Option<Arc<Session>>,
    pub(crate) decision: Decision,
}

impl Judged {
    pub(crate) fn without_session(message: Option<Message>, decision: Decision) -> Self {
        Self {
            message: message.map(Arc::new),
            session: None,
            decision,
        }
    }

    /// How long an inline text is.
    pub(crate) fn inline_bytes(&self) -> Option<usize> {
        match &self.message.as_ref()?.action {
            Action::Stdin {
                content: Content::Inline(text),
                ..
            } => Some(text.len()),
            _ => None,
        }
    }
}

/// Puts a request and its answer on record.
pub(crate) fn note(
    global_root: &Path,
    session: Option<&Session>,
    heading: &Heading,
    judged: &Judged,
    policy: &Policy,
    ack: &Ack,
) {
    let mut records = vec![(
        "ControlRequest",
        request(heading, judged.message.as_deref(), policy, ack),
    )];
    if let Some(bytes) = judged
        .inline_bytes()
        .filter(|bytes| *bytes > policy.soft_limit)
    {
        let mut warning = common(heading, ack);
        warning.insert("bytes".to_owned(), bytes.into());
        warning.insert("soft_limit_bytes".to_owned(), policy.soft_limit.into());
        records.push(("ControlSoftLimitExceeded", warning));
    }
    let mut answer = common(heading, ack);
    answer.insert("acked_at".to_owned(), ack.acked_at.as_str().into());
    answer.insert("detail".to_owned(), ack.decision.detail.as_str().into());
    if let Some(error) = &ack.decision.error {
        answer.insert("error".to_owned(), error.clone());
    }
    records.push(("ControlAck", answer));
    if let Some(session) = session {
        let correlation_id = session.correlation_id();
        for (kind, payload) in records {
            session
                .books()
                .audit(CLASS, Some(kind), &correlation_id, payload.into());
        }
    } else {
        let deed = |(kind, payload): (&'static str, Map<String, Value>)| Deed {
            kind,
            class: Some(CLASS),
            payload: payload.into(),
        };
        let deeds: Vec<Deed> = records.into_iter().map(deed).collect();
        let _ = bootstrap::note(global_root, &deeds, Durability::Written);
    }
}

/// What every record has, so that those of one request are found together.
fn common(heading: &Heading, ack: &Ack) -> Map<String, Value> {
    let address = &heading.address;
    let mut facts = Map::new();
    let mut put = |member: &str, value: Value| facts.insert(member.to_owned(), value);
    put("request_id", address.request_id.as_str().into());
    put("team", address.team.as_str().into());
    put("session_id", address.session_id.as_str().into());
    put("agent_id", address.agent_id.as_str().into());
    if let Some(sender) = &heading.sender {
        put("sender", sender.as_str().into());
    }
    put("result", ack.decision.result.as_str().into());
    put("duplicate", ack.decision.duplicate.into());
    facts
}

fn request(
    heading: &Heading,
    message: Option<&Message>,
    policy: &Policy,
    ack: &Ack,
) -> Map<String, Value> {
    let mut facts = common(heading, ack);
    let mut put = |member: &str, value: Value| facts.insert(member.to_owned(), value);
    put("form", heading.form.into());
    put("action", heading.kind.as_str().into());
    let Some(message) = message else {
        return facts;
    };
    put("sent_at", message.sent_at.as_str().into());
    if let Some(count) = message.retry_count {
        put("retry_count", count.into());
    }
    if let Action::Stdin { content, interrupt } = &message.action {
        put("interrupt", (*interrupt).into());
        match content {
            Content::Inline(text) => {
                put("bytes", text.len().into());
                if policy.log_text {
                    put("text", beginning(text).into());
                }
            }
            Content::Reference(reference) => {
                put("bytes", reference.size_bytes.into());
                put("content_ref", json!({"path": reference.path}));
            }
        }
    }
    facts
}

fn beginning(text: &str) -> &str {
    let mut end = text.len().min(LONGEST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

//! The books of one session: its transcript, its audit trail and its event stream, and what is kept out of all three.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use serde::Serialize;
use serde_json::{Map, Value, json};
use stud_contract_meta::Error;
use stud_host_api::Severity;
use stud_host_api::audit::AuditRecord;
use stud_host_api::events::{CoreEvent, LogEntry, SuppressedError};
use stud_host_api::metrics::DiagnosticItem;

use crate::audit::{Entry, Trail};
use crate::events::{Bus, PendingDelivery, cause};
use crate::ledger::Ledger;
use crate::platform;
use crate::redact::Redactor;
use crate::sync::{Mutex, lock};

/// Who a child session belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parentage {
    /// The orchestrator's session.
    pub parent_session_id: String,
    /// The child.
    pub subagent_id: String,
    /// How deep it is; a child of the orchestrator is at 1.
    pub depth: u32,
}

/// Hears of what is put on record and of what is wrong.
pub(crate) trait Listener: Send + Sync {
    /// The plugin behind it.
    fn ext_id(&self) -> &str;

    /// Takes an audit record, and does not wait.
    fn hear_audit(&self, record: &AuditRecord);

    /// Takes a diagnostic, and does not wait.
    fn hear_diagnostic(&self, item: &DiagnosticItem);

    /// Takes what a plugin says to the log, and does not wait.
    fn hear_log(&self, said: &PluginLog);
}

/// What a plugin says to the log.
#[derive(Debug, Clone)]
pub(crate) struct PluginLog {
    pub(crate) ext_id: String,
    pub(crate) correlation_id: String,
    pub(crate) severity: Severity,
    pub(crate) at: SystemTime,
    /// The entry as JSON, without secrets.
    pub(crate) payload: Map<String, Value>,
}

/// Where one session writes down what happens.
pub struct Recorder {
    /// The session these records belong to.
    pub session_id: String,
    /// Set for a child session.
    pub parentage: Option<Parentage>,
    /// The transcript.
    pub ledger: Arc<Ledger>,
    /// The event stream.
    pub bus: Arc<Bus>,
    /// The audit trail; none where there is no place to keep one.
    pub trail: Option<Arc<Trail>>,
    /// What must not be written down.
    pub redactor: Arc<Redactor>,
    /// A child session has those of its orchestrator.
    listeners: Arc<Mutex<Vec<Box<dyn Listener>>>>,
}

impl Recorder {
    /// The books of a session.
    pub fn new(
        session_id: String,
        ledger: Arc<Ledger>,
        bus: Arc<Bus>,
        trail: Option<Trail>,
        redactor: Arc<Redactor>,
    ) -> Self {
        bus.redact_with(&redactor);
        Self {
            session_id,
            parentage: None,
            ledger,
            bus,
            trail: trail.map(Arc::new),
            redactor,
            listeners: Arc::default(),
        }
    }

    /// The books of a child session: a transcript of its own, and the audit trail and the event stream of this one, in
    /// which everything of the child says whose it is.
    pub(crate) fn of_child(&self, ledger: Arc<Ledger>, parentage: Parentage) -> Self {
        Self {
            session_id: parentage.subagent_id.clone(),
            parentage: Some(parentage),
            ledger,
            bus: self.bus.clone(),
            trail: self.trail.clone(),
            redactor: self.redactor.clone(),
            listeners: self.listeners.clone(),
        }
    }

    pub(crate) fn listen(&self, listener: impl Listener + 'static) {
        lock(&self.listeners).push(Box::new(listener));
    }

    pub(crate) fn ignore(&self, ext_id: &str) {
        lock(&self.listeners).retain(|listener| listener.ext_id() != ext_id);
    }

    /// Tells loggers of something that is wrong.
    pub(crate) fn diagnose(&self, item: &DiagnosticItem) {
        for listener in lock(&self.listeners).iter() {
            listener.hear_diagnostic(item);
        }
    }

    /// Hands what a plugin says to the loggers.
    pub(crate) fn log(&self, ext_id: &str, correlation_id: &str, entry: LogEntry) {
        let severity = entry.severity;
        let mut payload = json!(entry);
        self.redactor.redact(&mut payload);
        payload["extId"] = ext_id.into();
        let Value::Object(payload) = payload else {
            return;
        };
        let said = PluginLog {
            ext_id: ext_id.to_owned(),
            correlation_id: correlation_id.to_owned(),
            severity,
            at: platform::now(),
            payload,
        };
        for listener in lock(&self.listeners).iter() {
            listener.hear_log(&said);
        }
    }

    /// Publishes an event of core's.
    pub fn publish<E: CoreEvent>(&self, correlation_id: &str, event: &E) {
        drop(self.place(correlation_id, event));
    }

    /// Publishes an event that a plugin declares.
    pub fn publish_custom(&self, name: &str, correlation_id: &str, payload: &Value) {
        drop(self.place_payload(name, correlation_id, payload));
    }

    /// Puts an event of core's into the stream. It is delivered when the returned value is dropped.
    pub(crate) fn place<E: CoreEvent>(&self, correlation_id: &str, event: &E) -> PendingDelivery {
        self.place_payload(E::NAME, correlation_id, event)
    }

    fn place_payload(
        &self,
        name: &str,
        correlation_id: &str,
        payload: &impl Serialize,
    ) -> PendingDelivery {
        if !self.bus.is_heard(name) {
            return PendingDelivery::default();
        }
        // Maps with text keys cannot fail to become JSON.
        let Ok(text) = serde_json::to_string(payload) else {
            return PendingDelivery::default();
        };
        let text = match self.redactor.json(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(redacted) => redacted,
        };
        let text = match &self.parentage {
            None => text,
            Some(parentage) => attributed(&text, parentage),
        };
        self.bus.place_text(name, correlation_id, text)
    }

    /// Puts something core did on record.
    pub fn audit(&self, class: &str, kind: Option<&str>, correlation_id: &str, payload: Value) {
        self.audit_as("core", class, kind, correlation_id, payload);
    }

    /// Puts something on record in the name of `actor`. A failure to do so is told, and stops nothing.
    pub fn audit_as(
        &self,
        actor: &str,
        class: &str,
        kind: Option<&str>,
        correlation_id: &str,
        payload: Value,
    ) {
        let Some(trail) = &self.trail else { return };
        let Value::Object(payload) = payload else {
            return;
        };
        let entry = self.entry(actor, class, kind, correlation_id, payload);
        match trail.append(entry) {
            Ok(record) => {
                for listener in lock(&self.listeners).iter() {
                    listener.hear_audit(&record);
                }
            }
            Err(error) => {
                self.tell_suppressed(
                    "the audit trail could not be written",
                    correlation_id,
                    &error,
                    None,
                );
            }
        }
    }

    /// Puts on record that what a record announced could not be done. Both say the same, and this one why.
    pub(crate) fn audit_failed(
        &self,
        class: &str,
        kind: Option<&str>,
        correlation_id: &str,
        mut payload: Value,
        error: &Error,
    ) {
        payload["error"] = told(error);
        self.audit(class, kind, correlation_id, payload);
    }

    fn entry(
        &self,
        actor: &str,
        class: &str,
        kind: Option<&str>,
        correlation_id: &str,
        payload: Map<String, Value>,
    ) -> Entry {
        let child = self.parentage.as_ref();
        Entry {
            class: class.to_owned(),
            kind: kind.map(str::to_owned),
            correlation_id: correlation_id.to_owned(),
            actor: actor.to_owned(),
            parent_session_id: child.map(|child| child.parent_session_id.clone()),
            subagent_id: child.map(|child| child.subagent_id.clone()),
            depth: child.map(|child| child.depth),
            payload,
        }
    }

    /// Tells of an error that stops nothing, and puts it on record.
    pub fn suppress(&self, reason: &str, correlation_id: &str, error: &Error) {
        let payload = json!({"reason": reason, "cause": cause(error)});
        self.audit("SuppressedError", None, correlation_id, payload);
        self.tell_suppressed(reason, correlation_id, error, None);
    }

    /// The same of a plugin that failed to take what it was told.
    pub(crate) fn suppress_hearing(
        &self,
        ext_id: &str,
        told: &str,
        correlation_id: &str,
        error: &Error,
    ) {
        let reason = format!("`{ext_id}` failed to take `{told}`");
        let payload = json!({"reason": reason, "cause": cause(error), "extId": ext_id});
        self.audit("SuppressedError", None, correlation_id, payload);
        self.tell_suppressed(&reason, correlation_id, error, Some(told));
    }

    fn tell_suppressed(
        &self,
        reason: &str,
        correlation_id: &str,
        error: &Error,
        told: Option<&str>,
    ) {
        let ext_id = error.context().get("extId").and_then(Value::as_str);
        let suppressed = SuppressedError {
            at: platform::rfc3339(platform::now()),
            cause: cause(error),
            event: told.map(str::to_owned),
            ext_id: ext_id.map(str::to_owned),
            reason: reason.to_owned(),
            kind: SuppressedError::NAME.to_owned(),
        };
        self.publish(correlation_id, &suppressed);
    }
}

/// What is told of an error beside other facts.
pub(crate) fn told(error: &Error) -> Value {
    json!({
        "class": error.class(),
        "code": error.code(),
        "message": error.message(),
    })
}

/// A child's events say whose they are; a payload that is no object is wrapped in one.
fn attributed(text: &str, parentage: &Parentage) -> String {
    let payload = serde_json::from_str(text).unwrap_or(Value::Null);
    let mut members = match payload {
        Value::Object(members) => members,
        value => Map::from_iter([("value".to_owned(), value)]),
    };
    members.insert(
        "parentSessionId".to_owned(),
        parentage.parent_session_id.clone().into(),
    );
    members.insert(
        "subagentId".to_owned(),
        parentage.subagent_id.clone().into(),
    );
    members.insert("depth".to_owned(), parentage.depth.into());
    Value::Object(members).to_string()
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder")
            .field("session_id", &self.session_id)
            .finish_non_exhaustive()
    }
}

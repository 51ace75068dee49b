//! One message of a conversation, and what was found out about it.

use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::redact::Origin;
use crate::sync::{AtomicU64, Mutex, lock};

/// A message of the conversation. It never changes, so what was found out about it once need not be again.
#[derive(Debug)]
pub(crate) struct Kept {
    message: Map<String, Value>,
    size: OnceLock<Size>,
    tokens: OnceLock<u64>,
    /// As a provider takes it.
    told: OnceLock<Box<RawValue>>,
    /// How many secrets there were when it was last found to hold none, and one.
    cleared: AtomicU64,
    /// The secrets in it that are on record.
    told_of: Mutex<Vec<Origin>>,
}

/// How long what a model is sent of a message is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// In bytes: no text has more tokens.
    pub(crate) bytes: u64,
    /// In characters.
    pub(crate) chars: u64,
}

impl Kept {
    pub(crate) fn new(message: Map<String, Value>) -> Self {
        Self {
            message,
            size: OnceLock::new(),
            tokens: OnceLock::new(),
            told: OnceLock::new(),
            cleared: AtomicU64::new(0),
            told_of: Mutex::default(),
        }
    }

    /// Notes that it holds this secret. Gives whether that is new.
    pub(crate) fn told_of(&self, secret: &Origin) -> bool {
        let mut told_of = lock(&self.told_of);
        let is_new = !told_of.contains(secret);
        if is_new {
            told_of.push(secret.clone());
        }
        is_new
    }

    pub(crate) fn message(&self) -> &Map<String, Value> {
        &self.message
    }

    fn text(&self, member: &str) -> &str {
        let text = self.message.get(member).and_then(Value::as_str);
        text.unwrap_or_default()
    }

    pub(crate) fn id(&self) -> &str {
        self.text("id")
    }

    pub(crate) fn role(&self) -> &str {
        self.text("role")
    }

    pub(crate) fn turn_id(&self) -> Option<&str> {
        self.message.get("turnId").and_then(Value::as_str)
    }

    pub(crate) fn content(&self) -> &Value {
        self.message.get("content").unwrap_or(&Value::Null)
    }

    /// What a person typed.
    pub(crate) fn typed(&self) -> Option<&str> {
        let is_typed = self.role() == "user";
        is_typed.then(|| self.content().as_str()).flatten()
    }

    /// The summary of what stood here before.
    pub(crate) fn summary(&self) -> Option<&str> {
        let is_summary = self.role() == "user";
        let summary = self.content().get("summary").and_then(Value::as_str);
        summary.filter(|_| is_summary)
    }

    pub(crate) fn size(&self, measure: impl FnOnce() -> Size) -> Size {
        *self.size.get_or_init(measure)
    }

    pub(crate) fn tokens(&self, count: impl FnOnce() -> u64) -> u64 {
        *self.tokens.get_or_init(count)
    }

    /// The message as a provider takes it, word for word.
    pub(crate) fn told(&self, write: impl FnOnce() -> Box<RawValue>) -> &RawValue {
        self.told.get_or_init(write)
    }

    /// Whether it was found to hold none of the secrets, of which there are this many.
    pub(crate) fn is_clear_of(&self, secrets: usize) -> bool {
        self.cleared.load(Ordering::Relaxed) == secrets as u64 + 1
    }

    pub(crate) fn clear_of(&self, secrets: usize) {
        self.cleared.store(secrets as u64 + 1, Ordering::Relaxed);
    }
}

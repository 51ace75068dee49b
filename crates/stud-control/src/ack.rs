//! The answer to a control message.

use serde_json::{Map, Value};

use crate::message::{ActionKind, Address, SCHEMA_VERSION};
use crate::timestamp;

/// What came of a control message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultCode {
    /// Accepted, or a repetition of what was accepted; not "done".
    Ok,
    /// The target exists and takes no live input now.
    NotLive,
    /// There is no such session or agent.
    NotFound,
    /// So much waits already that no more is taken.
    Busy,
    /// It could not be decided in time; whether it was accepted is told by sending it again.
    Timeout,
    /// The message is invalid, or its sender may not send it.
    Rejected,
    /// It could not be kept; nothing happened.
    InternalError,
}

impl ResultCode {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Ok,
        Self::NotLive,
        Self::NotFound,
        Self::Busy,
        Self::Timeout,
        Self::Rejected,
        Self::InternalError,
    ];

    /// The word on the wire and in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::NotLive => "not_live",
            Self::NotFound => "not_found",
            Self::Busy => "busy",
            Self::Timeout => "timeout",
            Self::Rejected => "rejected",
            Self::InternalError => "internal_error",
        }
    }

    /// The result with this word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == word)
    }
}

/// What came of a control message, before it is addressed.
#[derive(Debug, Clone)]
pub(crate) struct Decision {
    pub(crate) result: ResultCode,
    pub(crate) duplicate: bool,
    pub(crate) detail: String,
    /// Only with `internal_error`.
    pub(crate) error: Option<Value>,
}

impl Decision {
    pub(crate) fn new(result: ResultCode, detail: impl Into<String>) -> Self {
        Self {
            result,
            duplicate: false,
            detail: detail.into(),
            error: None,
        }
    }

    pub(crate) fn rejected(detail: impl Into<String>) -> Self {
        Self::new(ResultCode::Rejected, detail)
    }
}

/// The answer to a control message, as it goes over the wire.
#[derive(Debug, Clone)]
pub struct Ack {
    pub(crate) kind: ActionKind,
    pub(crate) address: Address,
    pub(crate) acked_at: String,
    pub(crate) decision: Decision,
}

impl Ack {
    pub(crate) fn now(kind: ActionKind, address: Address, decision: Decision) -> Self {
        Self {
            kind,
            address,
            acked_at: timestamp::now_text(),
            decision,
        }
    }

    /// What came of it.
    pub fn result(&self) -> ResultCode {
        self.decision.result
    }

    /// The message on the wire. What the request did not say is empty.
    pub fn to_json(&self) -> Value {
        let mut ack = Map::new();
        let mut put = |member: &str, value: Value| ack.insert(member.to_owned(), value);
        put("type", self.kind.ack_type().into());
        put("v", SCHEMA_VERSION.into());
        put("request_id", self.address.request_id.as_str().into());
        put("team", self.address.team.as_str().into());
        put("session_id", self.address.session_id.as_str().into());
        put("agent_id", self.address.agent_id.as_str().into());
        put("acked_at", self.acked_at.as_str().into());
        put("result", self.decision.result.as_str().into());
        put("detail", self.decision.detail.as_str().into());
        put("duplicate", self.decision.duplicate.into());
        if let Some(error) = &self.decision.error {
            put("error", error.clone());
        }
        ack.into()
    }
}

//! The frame of every line: which version, which exchange, which command.
//!
//! One JSON object on one line in each direction. The envelope's `request_id` belongs to the exchange and is new on each
//! attempt; the one in a control message names the logical send. Only the second tells duplicates apart.

use serde_json::{Map, Value, json};

/// The version of the frame. The version of control messages is another number.
pub const ENVELOPE_VERSION: u64 = 1;

/// A line as it was received.
#[derive(Debug)]
pub(crate) struct Envelope {
    pub(crate) request_id: String,
    pub(crate) command: String,
    pub(crate) payload: Option<Value>,
}

/// Why a line is answered with an error instead of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvelopeError {
    /// The line is no request.
    InvalidRequest,
    /// The frame has another version.
    VersionMismatch,
    /// The command needs an object as its payload.
    InvalidPayload,
    /// There is no such command.
    UnknownCommand,
    /// The command failed.
    InternalError,
}

impl EnvelopeError {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "INVALID_REQUEST",
            Self::VersionMismatch => "VERSION_MISMATCH",
            Self::InvalidPayload => "INVALID_PAYLOAD",
            Self::UnknownCommand => "UNKNOWN_COMMAND",
            Self::InternalError => "INTERNAL_ERROR",
        }
    }
}

/// A line that is answered with an error.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) request_id: String,
    pub(crate) code: EnvelopeError,
    pub(crate) message: String,
}

/// Stands for the exchange's id where the line does not say one.
pub(crate) const UNKNOWN_ID: &str = "unknown";

impl Envelope {
    /// Reads a line.
    pub(crate) fn read(line: &[u8]) -> Result<Self, Refused> {
        let members = match serde_json::from_slice(line) {
            Ok(Value::Object(members)) => members,
            Ok(_) => return Err(refused(None, "the line is JSON and no object")),
            Err(error) => {
                let place = format!("line {}, column {}", error.line(), error.column());
                return Err(refused(None, &format!("the line is not JSON ({place})")));
            }
        };
        let request_id = members.get("request_id").and_then(Value::as_str);
        let refuse = |what: &str| Err(refused(request_id, what));
        let Some(known_id) = request_id else {
            return refuse("`request_id` is not a text");
        };
        let Some(version) = members.get("version").and_then(Value::as_u64) else {
            return refuse("`version` is not a whole number");
        };
        if version != ENVELOPE_VERSION {
            return Err(Refused {
                request_id: known_id.to_owned(),
                code: EnvelopeError::VersionMismatch,
                message: format!(
                    "the frame has version {version}, and {ENVELOPE_VERSION} is spoken here"
                ),
            });
        }
        let Some(command) = members.get("command").and_then(Value::as_str) else {
            return refuse("`command` is not a text");
        };
        Ok(Self {
            request_id: known_id.to_owned(),
            command: command.to_owned(),
            payload: members.get("payload").cloned(),
        })
    }

    /// The payload, for a command that needs an object.
    pub(crate) fn object(&mut self) -> Result<Map<String, Value>, Refused> {
        match self.payload.take() {
            Some(Value::Object(members)) => Ok(members),
            _ => Err(self.refuse(EnvelopeError::InvalidPayload, "`payload` is not an object")),
        }
    }

    pub(crate) fn refuse(&self, code: EnvelopeError, message: &str) -> Refused {
        Refused {
            request_id: self.request_id.clone(),
            code,
            message: message.to_owned(),
        }
    }

    /// The line that answers with a payload.
    pub(crate) fn reply(&self, payload: &Value) -> String {
        line(&json!({
            "version": ENVELOPE_VERSION,
            "request_id": self.request_id,
            "status": "ok",
            "payload": payload,
        }))
    }
}

impl Refused {
    /// A line that could not be read to its end.
    pub(crate) fn unread(message: &str) -> Self {
        refused(None, message)
    }

    /// The line that answers with an error.
    pub(crate) fn reply(&self) -> String {
        line(&json!({
            "version": ENVELOPE_VERSION,
            "request_id": self.request_id,
            "status": "error",
            "error": {"code": self.code.as_str(), "message": self.message},
        }))
    }
}

fn refused(request_id: Option<&str>, message: &str) -> Refused {
    Refused {
        request_id: request_id.unwrap_or(UNKNOWN_ID).to_owned(),
        code: EnvelopeError::InvalidRequest,
        message: message.to_owned(),
    }
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}

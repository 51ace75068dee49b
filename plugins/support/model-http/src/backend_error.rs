//! What a backend says went wrong, and which error that is.

use serde_json::Value;

use crate::code::{
    CONTEXT_WINDOW_TOO_SMALL, Code, ENDPOINT_NOT_FOUND, MISSING_STREAMING, MISSING_TOOL_CALLING,
    NETWORK_TIMEOUT, PROVIDER_5XX, RATE_LIMITED, REQUEST_REJECTED, STREAM_ERROR, UNAUTHORIZED,
};
use crate::failure::Failure;
use crate::retry_after;

/// A complaint in the words of a backend.
#[derive(Debug, Default)]
struct Complaint {
    message: String,
    /// Types and codes, the most exact one first.
    words: Vec<String>,
    /// A status that stands in the text.
    status: Option<u16>,
    retry_after_ms: Option<u64>,
}

/// Words of backends, without regard to case.
const WORDS: &[(Code, &[&str])] = &[
    (
        UNAUTHORIZED,
        &[
            "authentication_error",
            "invalid_api_key",
            "api_key_invalid",
            "permission_denied",
            "permission_error",
            "unauthenticated",
        ],
    ),
    (
        ENDPOINT_NOT_FOUND,
        &["model_not_found", "not_found", "not_found_error"],
    ),
    (
        RATE_LIMITED,
        &[
            "insufficient_quota",
            "rate_limit_error",
            "rate_limit_exceeded",
            "resource_exhausted",
            "too_many_requests",
        ],
    ),
    (
        PROVIDER_5XX,
        &[
            "aborted",
            "api_error",
            "deadline_exceeded",
            "internal",
            "internal_error",
            "internal_server_error",
            "overloaded_error",
            "server_error",
            "service_unavailable",
            "timeout_error",
            "unavailable",
        ],
    ),
    (
        CONTEXT_WINDOW_TOO_SMALL,
        &[
            "context_length_exceeded",
            "exceed_context_size_error",
            "request_too_large",
        ],
    ),
];

/// Words that say only that the request is at fault; the text may say more.
const AT_FAULT: &[&str] = &[
    "bad_request",
    "failed_precondition",
    "invalid_argument",
    "invalid_request",
    "invalid_request_error",
    "invalid_prompt",
    "unprocessable_entity",
];

impl Failure {
    /// The failure that a response with this status and body is.
    pub(crate) fn of_response(status: u16, body: &[u8]) -> Self {
        let complaint = Complaint::read_body(body);
        let code = match status {
            400 | 402 | 406..=407 | 409..=412 | 414..=428 | 430..=499 => {
                complaint.by_words().unwrap_or_else(|| complaint.by_text())
            }
            status => by_status(status).unwrap_or(STREAM_ERROR),
        };
        // A backend that refuses a key may repeat parts of it.
        let said = if status == 401 {
            ""
        } else {
            &complaint.message
        };
        Self::new(code, reason(code, status))
            .said(said)
            .status(Some(status))
            .word(complaint.words.first().cloned())
            .retry_after(complaint.retry_after_ms)
    }

    /// The failure that a backend tells of within a stream: an object with the error's members, or just its text.
    pub fn of_value(value: &Value) -> Self {
        let complaint = Complaint::read(value);
        let by_status = complaint.status.and_then(by_status);
        let code = by_status
            .or_else(|| complaint.by_words())
            .or_else(|| complaint.is_at_fault().then(|| complaint.by_text()))
            .unwrap_or(STREAM_ERROR);
        Self::new(code, "the backend broke its answer off")
            .said(complaint.message)
            .status(complaint.status)
            .word(complaint.words.into_iter().next())
            .retry_after(complaint.retry_after_ms)
    }
}

/// What to tell the reader besides what the backend said.
fn reason(code: Code, status: u16) -> String {
    match code {
        UNAUTHORIZED => format!(
            "the backend did not accept the key (status {status}); check what `apiKeyRef` names"
        ),
        ENDPOINT_NOT_FOUND => format!(
            "nothing serves this model at this address (status {status}); check `baseURL` and the model"
        ),
        RATE_LIMITED => format!("the backend wants to be asked less often (status {status})"),
        PROVIDER_5XX => format!("the backend failed (status {status})"),
        _ => format!("the backend refused the request (status {status})"),
    }
}

/// The error of a status that leaves no doubt.
fn by_status(status: u16) -> Option<Code> {
    Some(match status {
        401 | 403 => UNAUTHORIZED,
        // A redirect means a wrong address; the key is not sent along.
        300..=399 | 404 | 405 => ENDPOINT_NOT_FOUND,
        408 => NETWORK_TIMEOUT,
        413 => CONTEXT_WINDOW_TOO_SMALL,
        429 => RATE_LIMITED,
        500..=599 => PROVIDER_5XX,
        _ => return None,
    })
}

impl Complaint {
    fn read_body(body: &[u8]) -> Self {
        if let Ok(value) = serde_json::from_slice::<Value>(body) {
            return Self::read(&value);
        }
        let text = String::from_utf8_lossy(body);
        // A page for a browser says nothing here.
        let is_page = text.trim_start().starts_with('<');
        let message = if is_page { "" } else { &*text }.to_owned();
        Self {
            message,
            ..Self::default()
        }
    }

    /// Reads `{"error": {…}}`, `{"error": "…"}`, the inner object alone, a list of any of these, or a text.
    fn read(value: &Value) -> Self {
        match value {
            Value::String(text) => Self {
                message: text.clone(),
                ..Self::default()
            },
            Value::Array(list) => list.first().map(Self::read).unwrap_or_default(),
            Value::Object(members) => {
                if let Some(inner) = members.get("error").filter(|inner| !inner.is_null()) {
                    let outer = Self::read_object(value);
                    let mut complaint = Self::read(inner);
                    if complaint.message.is_empty() {
                        complaint.message = outer.message;
                    }
                    return complaint;
                }
                Self::read_object(value)
            }
            _ => Self::default(),
        }
    }

    fn read_object(value: &Value) -> Self {
        let text = |name: &str| value[name].as_str().filter(|text| !text.is_empty());
        let message = ["message", "detail"].into_iter().find_map(text);
        let number = |name: &str| match &value[name] {
            Value::String(digits) => digits.parse().ok(),
            other => u16::try_from(other.as_u64()?).ok(),
        };
        let status = ["code", "status"].into_iter().find_map(number);
        let details = value["details"].as_array();
        let details = details.map_or(&[][..], Vec::as_slice);
        let reasons = details
            .iter()
            .filter_map(|detail| detail["reason"].as_str());
        let words = ["code", "status", "type"].into_iter().filter_map(text);
        let mut delays = details
            .iter()
            .filter_map(|detail| detail["retryDelay"].as_str());
        Self {
            message: message.unwrap_or_default().to_owned(),
            words: reasons.chain(words).map(str::to_owned).collect(),
            status: status.filter(|status| (300..600).contains(status)),
            retry_after_ms: delays.find_map(retry_after::of_duration),
        }
    }

    fn has_word(&self, known: &[&str]) -> bool {
        let known = |word: &String| known.iter().any(|known| known.eq_ignore_ascii_case(word));
        self.words.iter().any(known)
    }

    fn by_words(&self) -> Option<Code> {
        let found = WORDS.iter().find(|(_, words)| self.has_word(words));
        found.map(|(code, _)| *code)
    }

    fn is_at_fault(&self) -> bool {
        self.has_word(AT_FAULT)
    }

    /// The error of a request that is at fault, as far as the text tells.
    fn by_text(&self) -> Code {
        let text = self.message.to_lowercase();
        let says = |any: &[&str]| any.iter().any(|part| text.contains(part));
        let cannot = says(&["not support", "unsupported", "n't support", "not allowed"]);
        if says(&["api key not valid", "invalid api key"]) {
            UNAUTHORIZED
        } else if says(&[
            "context window",
            "context-window",
            "context length",
            "context size",
            "maximum context",
            "prompt is too long",
            "input is too long",
            "exceeds the maximum number of tokens",
        ]) {
            CONTEXT_WINDOW_TOO_SMALL
        } else if cannot && says(&["tool", "function call"]) {
            MISSING_TOOL_CALLING
        } else if cannot && says(&["streaming", "`stream`", "'stream'"]) {
            MISSING_STREAMING
        } else {
            REQUEST_REJECTED
        }
    }
}

#[cfg(test)]
mod tests;

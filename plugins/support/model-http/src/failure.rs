//! A failure on the way to an error.
//!
//! Only [`Failure::into_error`] makes an error of a backend's message, and it removes the key first.

use stud_sdk::Error;

use crate::code::{Code, NETWORK_TIMEOUT, PROVIDER_OUTPUT_MALFORMED};
use crate::external_text::fit;
use crate::key::Key;

/// Why an answer did not come, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    code: Code,
    /// Ours.
    message: String,
    /// The backend's own words.
    said: Box<str>,
    status: Option<u16>,
    /// What the backend calls the failure.
    word: Option<Box<str>>,
    retry_after_ms: Option<u64>,
    /// The tool call it is about.
    call_id: Option<Box<str>>,
}

impl Failure {
    /// A failure with nothing known but this.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            said: Box::default(),
            status: None,
            word: None,
            retry_after_ms: None,
            call_id: None,
        }
    }

    /// The answer is not in the form the backend promised.
    pub fn malformed(why: impl Into<String>) -> Self {
        Self::new(PROVIDER_OUTPUT_MALFORMED, why)
    }

    /// The network did not do its part.
    pub(crate) fn network(why: impl Into<String>) -> Self {
        Self::new(NETWORK_TIMEOUT, why)
    }

    pub(crate) fn said(mut self, words: impl Into<Box<str>>) -> Self {
        self.said = words.into();
        self
    }

    pub(crate) fn status(mut self, status: Option<u16>) -> Self {
        self.status = status;
        self
    }

    pub(crate) fn word(mut self, word: Option<String>) -> Self {
        self.word = word.map(String::into_boxed_str);
        self
    }

    /// It is about this tool call.
    #[must_use]
    pub fn of_call(mut self, id: &str) -> Self {
        self.call_id = Some(id.into());
        self
    }

    pub(crate) fn retry_after(mut self, millis: Option<u64>) -> Self {
        self.retry_after_ms = millis.or(self.retry_after_ms);
        self
    }

    /// The error, without the key and without anything that acts on a terminal.
    pub(crate) fn into_error(self, key: Option<&Key>) -> Error {
        let clean = |text: &str| match key {
            Some(key) => fit(&key.scrub(text)),
            None => fit(text),
        };
        let mut message = clean(&self.message);
        let said = clean(&self.said);
        if !said.is_empty() {
            message.push_str(": ");
            message.push_str(&said);
        }
        let mut error = self.code.error(message);
        if let Some(status) = self.status {
            error = error.with("status", status);
        }
        if let Some(word) = self.word {
            error = error.with("backendCode", clean(&word));
        }
        if let Some(millis) = self.retry_after_ms {
            error = error.with("retryAfterMs", millis);
        }
        if let Some(call_id) = self.call_id {
            error = error.with("callId", clean(&call_id));
        }
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::RATE_LIMITED;

    #[test]
    fn the_key_is_in_no_part_of_an_error() {
        let key = Key::of("sk-canary-4711");
        let failure = Failure::new(RATE_LIMITED, "refused sk-canary-4711")
            .said("your key sk-canary-4711\u{1b}[2J is used too often")
            .word(Some("sk-canary-4711".to_owned()));
        let error = failure.into_error(Some(&key));
        assert!(!format!("{error:?}").contains("canary"), "{error:?}");
        assert_eq!(
            error.message(),
            "refused [REDACTED]: your key [REDACTED][2J is used too often"
        );
        assert!(!format!("{key:?}").contains("canary"));
    }

    #[test]
    fn facts_stand_in_the_context() {
        let failure = Failure::new(RATE_LIMITED, "slow down")
            .status(Some(429))
            .retry_after(Some(20));
        let error = failure.into_error(None);
        assert_eq!(error.context()["status"], 429);
        assert_eq!(error.context()["retryAfterMs"], 20);
        assert_eq!(error.message(), "slow down");
        assert_eq!(error.context().len(), 2);
    }
}

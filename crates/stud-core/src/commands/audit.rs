//! What is told and written down of a command: that it was dispatched, and what came of it. Never its arguments.

use std::time::Instant;

use serde_json::{Value, json};
use stud_contract_meta::{Error, Result};
use stud_host_api::commands::CommandResult;

use crate::recorder::Recorder;

/// An account of one command. It ends as `cancelled` if nobody is left to say how it ended.
pub(super) struct Account<'a> {
    books: &'a Recorder,
    correlation_id: &'a str,
    facts: Value,
    began: Instant,
    is_closed: bool,
}

impl<'a> Account<'a> {
    /// Says that a command was dispatched. This comes before anything it does.
    pub(super) fn open(
        books: &'a Recorder,
        correlation_id: &'a str,
        name: &str,
        ext_id: &str,
        caller: &str,
    ) -> Self {
        let facts = json!({"name": name, "extId": ext_id, "dispatchedBy": caller});
        let account = Self {
            books,
            correlation_id,
            facts,
            began: Instant::now(),
            is_closed: false,
        };
        account.tell("CommandDispatched", account.facts.clone());
        account
    }

    /// Says what came of it.
    pub(super) fn close(mut self, result: &Result<CommandResult>) {
        match result {
            Ok(CommandResult::Done { .. }) => self.end("done", None),
            Ok(CommandResult::Blocked { .. }) => self.end("blocked", None),
            Err(error) if error.class() == "Cancellation" => self.end("cancelled", Some(error)),
            Err(error) => self.end("failed", Some(error)),
        }
    }

    fn end(&mut self, status: &str, error: Option<&Error>) {
        self.is_closed = true;
        let mut payload = self.facts.clone();
        payload["status"] = status.into();
        let duration = self.began.elapsed().as_millis();
        payload["durationMs"] = u64::try_from(duration).unwrap_or(u64::MAX).into();
        if let Some(error) = error {
            payload["errorClass"] = error.class().into();
            payload["errorCode"] = error.code().into();
        }
        self.tell("CommandResulted", payload);
    }

    fn tell(&self, what: &str, payload: Value) {
        self.books.publish(what, self.correlation_id, &payload);
        self.books
            .audit("Command", Some(what), self.correlation_id, payload);
    }
}

impl Drop for Account<'_> {
    fn drop(&mut self) {
        if !self.is_closed {
            self.end("cancelled", None);
        }
    }
}

//! What is told and written down of a command: that it was dispatched, and what came of it. Never its arguments.

use serde_json::json;
use stud_contract_meta::{Error, Result};
use stud_diagnostics::Class;
use stud_host_api::commands::CommandResult;
use stud_host_api::events::{CommandDispatched, CommandResulted, CommandStatus, CoreEvent};
use stud_runtime::clock::Stopwatch;

use crate::recorder::Recorder;

/// An account of one command. It ends as `cancelled` if it is dropped before an outcome is reported.
pub(super) struct Account<'a> {
    books: &'a Recorder,
    correlation_id: &'a str,
    facts: CommandDispatched,
    began: Stopwatch,
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
        let facts = CommandDispatched {
            dispatched_by: caller.to_owned(),
            ext_id: ext_id.to_owned(),
            name: name.to_owned(),
        };
        let account = Self {
            books,
            correlation_id,
            facts,
            began: Stopwatch::start(),
            is_closed: false,
        };
        account.tell(&account.facts);
        account
    }

    /// Says what came of it.
    pub(super) fn close(mut self, result: &Result<CommandResult>) {
        match result {
            Ok(CommandResult::Done { .. }) => self.end(CommandStatus::Done, None),
            Ok(CommandResult::Blocked { .. }) => self.end(CommandStatus::Blocked, None),
            Err(error) if error.class() == Class::Cancellation.as_str() => {
                self.end(CommandStatus::Cancelled, Some(error));
            }
            Err(error) => self.end(CommandStatus::Failed, Some(error)),
        }
    }

    fn end(&mut self, status: CommandStatus, error: Option<&Error>) {
        self.is_closed = true;
        let facts = self.facts.clone();
        self.tell(&CommandResulted {
            dispatched_by: facts.dispatched_by,
            duration_ms: self.began.millis(),
            error_class: error.map(|error| error.class().to_owned()),
            error_code: error.map(|error| error.code().to_owned()),
            ext_id: facts.ext_id,
            name: facts.name,
            status,
        });
    }

    fn tell<E: CoreEvent>(&self, event: &E) {
        self.books.publish(self.correlation_id, event);
        self.books
            .audit("Command", Some(E::NAME), self.correlation_id, json!(event));
    }
}

impl Drop for Account<'_> {
    fn drop(&mut self) {
        if !self.is_closed {
            self.end(CommandStatus::Cancelled, None);
        }
    }
}

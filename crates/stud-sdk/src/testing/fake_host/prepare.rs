//! What a test says before it starts.

use std::path::PathBuf;

use serde_json::{Map, Value};
use stud_contract_interaction::{Answer, ApprovalScope};
use stud_contract_meta::{Error, Result};
use stud_host_api::Severity;
use stud_host_api::commands::{CommandRef, CommandResult};
use stud_host_api::context::Compacted;
use stud_host_api::interaction::Availability;
use stud_host_api::prompt::Prompt;
use stud_host_api::resource::{Resource, ResourceRef};
use stud_host_api::session::{ChildOutcome, SecurityMode, SlotValue, TranscriptRecord};

use super::FakeHost;
use crate::testing::record::Record;
use crate::testing::script::Reaction;

/// Writes the methods that prepare a host: each changes the record and gives the host back.
macro_rules! prepare {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $ty:ty),*) $change:expr;)+) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(self, $($argument: $ty),*) -> Self {
            let change: fn(&mut Record, $($ty),*) = $change;
            change(&mut self.0.record(), $($argument),*);
            self
        }
    )+};
}

impl FakeHost {
    /// Sets an environment name.
    ///
    /// ```
    /// # use stud_sdk::testing::FakeHost;
    /// let host = FakeHost::new().env("EDITOR", "vi");
    /// assert_eq!(host.cx().host().env().require("EDITOR")?, "vi");
    /// # Ok::<(), stud_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn env(self, name: &str, value: &str) -> Self {
        self.0
            .record()
            .env
            .insert(name.to_owned(), value.to_owned());
        self
    }

    /// Takes log entries of this severity and above; without it, none.
    ///
    /// ```
    /// # use stud_sdk::{logger::Severity, testing::FakeHost};
    /// let host = FakeHost::new().log_level(Severity::Info);
    /// assert_eq!(host.cx().host().events().log_level()?, Some(Severity::Info));
    /// # Ok::<(), stud_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn log_level(self, least: Severity) -> Self {
        self.0.record().log_level = Some(least);
        self
    }

    /// Sets the plugin's config block; anything but an object is an empty one.
    ///
    /// ```
    /// # use stud_sdk::testing::FakeHost;
    /// let host = FakeHost::new().config(serde_json::json!({"lines": 3}));
    /// assert_eq!(host.cx().host().config().read_own()?["lines"], 3);
    /// # Ok::<(), stud_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn config(self, config: Value) -> Self {
        let block = match config {
            Value::Object(block) => block,
            _ => Map::new(),
        };
        self.0.record().config = block;
        self
    }

    /// Sets one of the global keys a plugin may read.
    ///
    /// ```
    /// # use stud_sdk::testing::FakeHost;
    /// let host = FakeHost::new().global("headless", true);
    /// assert_eq!(host.cx().host().config().read_global("headless")?, true);
    /// # Ok::<(), stud_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn global(self, key: &str, value: impl Into<Value>) -> Self {
        self.0.record().globals.insert(key.to_owned(), value.into());
        self
    }

    /// Answers the next question that is still without an answer.
    ///
    /// ```
    /// # use stud_sdk::{interaction::{Confirm, ConfirmAnswer}, testing::{FakeHost, block_on}};
    /// let host = FakeHost::new().answers(ConfirmAnswer { confirmed: true });
    /// let question = Confirm { prompt: "Sure?".into(), default: None };
    /// let response = block_on(host.cx().host().interaction().request(question.into()))?;
    /// assert_eq!(response.value.unwrap()["confirmed"], true);
    /// # Ok::<(), stud_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn answers(self, answer: impl Into<Answer>) -> Self {
        self.reacts(Reaction::Answer(Box::new(answer.into())))
    }

    prepare! {
        /// Says no to the next question.
        ///
        /// ```
        /// # use stud_sdk::testing::FakeHost;
        /// let host = FakeHost::new().rejects("not today".into());
        /// # drop(host);
        /// ```
        rejects(reason: String) |record, reason| record.script.add(Reaction::Reject(reason));
        /// Closes the next question without an answer.
        ///
        /// ```
        /// # use stud_sdk::testing::FakeHost;
        /// let host = FakeHost::new().dismisses();
        /// # drop(host);
        /// ```
        dismisses() |record| record.script.add(Reaction::Dismiss);
        /// Fails the next question, for instance because its time ran out.
        ///
        /// ```
        /// # use stud_sdk::{prelude::*, testing::FakeHost};
        /// let host = FakeHost::new().fails(Error::transient("ExecutionTimeout", "too slow"));
        /// # drop(host);
        /// ```
        fails(error: Error) |record, error| record.script.add(Reaction::Fail(error));
        /// Leaves the next question open for good.
        ///
        /// ```
        /// # use stud_sdk::testing::FakeHost;
        /// let host = FakeHost::new().never_answers();
        /// # drop(host);
        /// ```
        never_answers() |record| record.script.add(Reaction::Silence);
        /// Has another interactor answer the next prompt first: the plugin's answer comes too late.
        ///
        /// ```
        /// # use stud_sdk::{interaction::{Ask, Request, Response}, testing::{FakeHost, block_on}};
        /// let host = FakeHost::new().answered_elsewhere();
        /// let request = Request::new("i1", "t1", host.now(), Ask { prompt: "Name?".into(), ..Ask::default() });
        /// let late = block_on(host.cx().host().interaction().respond(Response::rejected(&request, "no")));
        /// assert_eq!(late.unwrap_err().code(), "InteractionAlreadyAnswered");
        /// ```
        answered_elsewhere() |record| record.late += 1;
        /// Says which screens could answer a prompt. One can, unless this says otherwise.
        ///
        /// ```
        /// # use stud_sdk::{prelude::*, testing::FakeHost, tool_prompt::Availability};
        /// let host = FakeHost::new().screens(Availability::default());
        /// assert!(!host.cx().interaction()?.available);
        /// # Ok::<(), stud_sdk::Error>(())
        /// ```
        screens(availability: Availability) |record, availability| record.availability = availability;
        /// Adds an approval that the tool has kept.
        ///
        /// ```
        /// # use stud_sdk::{interaction::ApprovalScope, prelude::*, testing::{FakeHost, block_on}};
        /// let host = FakeHost::new().approved("deploy", ApprovalScope::Always);
        /// assert!(block_on(host.cx().approvals().is_always("deploy"))?);
        /// # Ok::<(), stud_sdk::Error>(())
        /// ```
        approved(key: &str, scope: ApprovalScope) |record, key, scope| {
            record.approvals.push((key.to_owned(), scope));
        };
        /// Puts a prompt into the registry.
        ///
        /// ```
        /// # use stud_sdk::{host::prompt::Prompt, testing::FakeHost};
        /// let host = FakeHost::new().prompt(Prompt { id: "bundled:hi".into(), ..Prompt::default() });
        /// # drop(host);
        /// ```
        prompt(prompt: Prompt) |record, prompt| record.prompts.push(prompt);
        /// Puts a resource into the registry.
        ///
        /// ```
        /// # use stud_sdk::{host::resource::{Resource, ResourceRef, ResourceSource}, testing::FakeHost};
        /// let reference = ResourceRef {
        ///     id: "project:readme".into(),
        ///     source: ResourceSource::Project,
        ///     uri: "README.md".into(),
        ///     byte_cap: 1024,
        ///     token_cap: 256,
        /// };
        /// let host = FakeHost::new().resource(reference, Resource { bytes: b"hi".to_vec(), ..Resource::default() });
        /// # drop(host);
        /// ```
        resource(reference: ResourceRef, content: Resource) |record, reference, content| {
            record.resources.push((reference, content));
        };
        /// Adds a command and what running it gives.
        ///
        /// ```
        /// # use stud_sdk::{host::commands::{CommandRef, CommandResult}, testing::FakeHost};
        /// let help = CommandRef { name: "help".into(), ..CommandRef::default() };
        /// let shown = CommandResult::Done { rendered: "no help".into(), payload: None };
        /// let host = FakeHost::new().command(help, shown);
        /// # drop(host);
        /// ```
        command(command: CommandRef, result: CommandResult) |record, command, result| {
            record.commands.push((command, result));
        };
        /// Says what comes of compacting the conversation.
        ///
        /// ```
        /// # use stud_sdk::{host::context::{Compacted, Compacting}, testing::{FakeHost, block_on}};
        /// let host = FakeHost::new().compacts(Ok(Compacted { compacted_segments: 1, ..Compacted::default() }));
        /// let compacted = block_on(host.cx().host().context().compact(Compacting::default()))?;
        /// assert_eq!(compacted.compacted_segments, 1);
        /// # Ok::<(), stud_sdk::Error>(())
        /// ```
        compacts(result: Result<Compacted>) |record, result| record.compacted = result;
        /// Says what comes of the next deed that is still without an outcome.
        ///
        /// ```
        /// # use stud_sdk::{host::commands::Deed, json, testing::{FakeHost, block_on}};
        /// let host = FakeHost::new().performs(Ok(json!({"allow": [], "deny": ["example.com"]})));
        /// let shown = block_on(host.cx().host().commands().perform(Deed::ShowNetworkPolicy {}))?;
        /// assert_eq!(shown["deny"][0], "example.com");
        /// # Ok::<(), stud_sdk::Error>(())
        /// ```
        performs(outcome: Result<Value>) |record, outcome| record.outcomes.push_back(outcome);
        /// Says how the next child session ends that the plugin opens. Only the bundled `delegate` tool may open any.
        ///
        /// ```
        /// # use stud_sdk::host::session::{AbortReason, ChildOutcome};
        /// # use stud_sdk::testing::FakeHost;
        /// let (subagent_id, detail) = (None, None);
        /// let reason = AbortReason::DepthExceeded;
        /// let host = FakeHost::new().opens_child(Ok(ChildOutcome::Aborted { subagent_id, reason, detail }));
        /// ```
        opens_child(outcome: Result<ChildOutcome>) |record, outcome| record.child_outcomes.push_back(outcome);
        /// Fills the plugin's state slot.
        ///
        /// ```
        /// # use stud_sdk::{host::session::SlotValue, testing::FakeHost};
        /// let host = FakeHost::new().stored(SlotValue { slot_version: "1.0.0".into(), data: 7.into() });
        /// assert_eq!(host.slot().unwrap().data, 7);
        /// ```
        stored(value: SlotValue) |record, value| record.slot = Some(value);
        /// Adds a record to the session.
        ///
        /// ```
        /// # use stud_sdk::{host::session::TranscriptRecord, testing::FakeHost};
        /// let host = FakeHost::new().transcript(TranscriptRecord { seq: 1, ..TranscriptRecord::default() });
        /// # drop(host);
        /// ```
        transcript(entry: TranscriptRecord) |record, entry| record.transcript.push(entry);
        /// Sets how tool calls are gated.
        ///
        /// ```
        /// # use stud_sdk::{host::session::SecurityMode, testing::FakeHost};
        /// let host = FakeHost::new().mode(SecurityMode::Yolo);
        /// # drop(host);
        /// ```
        mode(mode: SecurityMode) |record, mode| record.mode = mode;
        /// Has the network policy deny a host, one of its ports (`host:port`), or an address that a name stands for.
        ///
        /// ```
        /// # use stud_sdk::{host::config::Destination, testing::FakeHost};
        /// let host = FakeHost::new().denies_host("example.com".into());
        /// let to = Destination { host: "example.com".into(), ..Destination::default() };
        /// let denied = host.cx().host().config().may_reach(&to).unwrap_err();
        /// assert_eq!(denied.code(), "NetworkDenied");
        /// ```
        denies_host(host: String) |record, host| record.out_of_reach.push(host);
        /// Sets where the project is.
        ///
        /// ```
        /// # use stud_sdk::testing::FakeHost;
        /// let host = FakeHost::new().project_root("/projects/site/.stud".into());
        /// # drop(host);
        /// ```
        project_root(path: PathBuf) |record, path| record.project_root = path;
        /// Sets where global settings are.
        ///
        /// ```
        /// # use stud_sdk::testing::FakeHost;
        /// let host = FakeHost::new().global_root("/users/ada/.stud".into());
        /// # drop(host);
        /// ```
        global_root(path: PathBuf) |record, path| record.global_root = path;
    }

    fn reacts(self, reaction: Reaction) -> Self {
        self.0.record().script.add(reaction);
        self
    }
}

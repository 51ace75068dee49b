//! A plugin held against the conformance cases, in the author's own tests.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use stud_abi::EmbeddedPlugin;
use stud_conformance::configs::Configs;
use stud_conformance::run::run;
use stud_conformance::subject::{Call, Plugin, Subject};
use stud_contract_interaction::Payload;
use stud_contract_meta::{Error, Phase, Result};
use stud_contract_state_machine::StageContext;
use stud_diagnostics::codes;
use stud_host_api::cancellation::Scope;

use super::fake_host::FakeHost;
use super::harness::{Harness, read_manifest};
use crate::private::fault::coded;

/// A plugin as the conformance cases see it: every instance is a [`Harness`] with a [`FakeHost`] of its own.
#[derive(Debug, Clone, Copy)]
pub struct Conforming(EmbeddedPlugin);

impl Conforming {
    /// The cases will make instances of this plugin.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::Conforming};
    /// # /// Says hi.
    /// # #[tool]
    /// # fn conforming_example() -> &'static str { "hi" }
    /// let plugin = Conforming::new(stud_plugin());
    /// # let _ = plugin;
    /// ```
    pub const fn new(plugin: EmbeddedPlugin) -> Self {
        Self(plugin)
    }
}

/// What [`conformance!`](crate::conformance) calls.
///
/// `folder` holds the config fixtures; those that are missing are made from the config schema.
///
/// ```
/// # use stud_sdk::{prelude::*, testing::assert_conforms};
/// # /// Says hi.
/// # #[tool]
/// # fn assert_example() -> &'static str { "hi" }
/// assert_conforms(stud_plugin(), "conformance");
/// ```
///
/// # Panics
///
/// When a case fails; the message is the report.
#[expect(clippy::panic, reason = "an assertion for tests")]
pub fn assert_conforms(plugin: EmbeddedPlugin, folder: impl AsRef<Path>) {
    let configs = Configs::read(folder.as_ref()).unwrap_or_else(|why| panic!("{why}"));
    let report = run(Arc::new(Conforming(plugin)), configs, None);
    assert!(report.ok, "\n{}", report.text());
}

impl Plugin for Conforming {
    fn manifest(&self) -> Result<Value> {
        read_manifest(&self.0)
    }

    fn instance(&self, config: &Value) -> Arc<dyn Subject> {
        let host = FakeHost::new().config(config.clone());
        Arc::new(Harness::new(self.0, host))
    }
}

impl Subject for Harness {
    fn lifecycle(&self, phase: Phase) -> Result<()> {
        Self::lifecycle(self, phase)
    }

    fn call(&self, call: &Call) -> Result<Value> {
        match call {
            Call::Tool { name, args } => Ok(self.tool(name, args.clone())?.into_parts().0),
            Call::ApprovalKey { name, args } => written(&self.approval_key(name, args)?),
            Call::Command { name, args } => written(&self.command_with(name, args)?),
            Call::Hook(payload) => self.hook(payload),
            Call::Event(name, payload) => written(&self.event(name, payload)?),
            Call::Prompt(prompt) => written(&self.interact(read::<Payload>(prompt)?)?),
            Call::Request(request) => written(&self.request(&read(request)?)?),
            Call::Record(record) => written(&self.sink(&read(record)?)?),
            Call::Provide => {
                let returned = self.provide()?;
                // A provider may contribute through its host as well.
                let contributed = self.host().contributed();
                written(&[returned, contributed].concat())
            }
            Call::Next(stage) => written(&self.next(stage, StageContext::default())?),
            Call::ReadSession(id) => written(&self.read_session(id)?),
            Call::WriteSession(stored) => written(&self.write_session(&read(stored)?)?),
            Call::ListSessions => written(&self.list_sessions()?),
        }
    }

    fn cancel(&self) {
        self.host().cancel(Scope::Session);
    }

    fn raised(&self) -> Vec<String> {
        let record = self.host().services().record();
        record
            .attempted
            .iter()
            .map(|kind| (*kind).to_owned())
            .collect()
    }

    fn answer_too_late(&self) {
        // Clones are the same host.
        let _ = self.host().clone().answered_elsewhere();
    }
}

fn written(value: &impl Serialize) -> Result<Value> {
    serde_json::to_value(value).map_err(unreadable)
}

fn read<T: serde::de::DeserializeOwned>(value: &Value) -> Result<T> {
    serde_json::from_value(value.clone()).map_err(unreadable)
}

fn unreadable(error: serde_json::Error) -> Error {
    coded(&codes::SHAPE_INVALID, error.to_string())
}

//! A case, its verdict, and what it is given.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use stud_contract_meta::{Error, Kind, Phase, Result};
use stud_diagnostics::Class;

use crate::configs::Configs;
use crate::subject::{Call, Plugin, Subject};

/// How long a plugin may take for one call of a case.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

/// One thing that a plugin has to do.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// Its name, such as `tool.refuses-invalid-input`.
    pub id: &'static str,
    /// The date since which it is one.
    pub since: &'static str,
    /// The category it is for; every category if there is none.
    pub kind: Option<Kind>,
    /// What the plugin has to do, in a sentence.
    pub rule: &'static str,
    /// Looks whether it does.
    pub check: fn(&Context) -> Verdict,
}

/// How a plugin fares in one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It does what it has to do.
    Pass,
    /// It does not, and this is what was seen.
    Fail(String),
    /// The case does not apply, for this reason.
    NotApplicable(String),
}

/// What a case looks at.
pub struct Context {
    /// The plugin.
    pub plugin: Arc<dyn Plugin>,
    /// What it says about itself.
    pub manifest: Value,
    /// Its configs.
    pub configs: Configs,
    /// Where the plugin's output goes, if this process runs nothing else.
    pub alone: Option<PathBuf>,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("extId", &self.manifest["extId"])
            .field("configs", &self.configs)
            .field("alone", &self.alone)
            .finish_non_exhaustive()
    }
}

impl Verdict {
    /// Fails with `why` unless `holds`.
    pub(crate) fn of(holds: bool, why: impl Into<String>) -> Self {
        if holds {
            Self::Pass
        } else {
            Self::Fail(why.into())
        }
    }

    pub(crate) fn fail(why: impl Into<String>) -> Self {
        Self::Fail(why.into())
    }

    pub(crate) fn not_applicable(why: impl Into<String>) -> Self {
        Self::NotApplicable(why.into())
    }
}

impl Context {
    /// The plugin's category.
    pub fn kind(&self) -> Option<Kind> {
        self.manifest["kind"].as_str().and_then(Kind::parse)
    }

    pub(crate) fn config_schema(&self) -> &Value {
        &self.manifest["configSchema"]
    }

    /// An instance with a valid config.
    pub(crate) fn instance(&self) -> Arc<dyn Subject> {
        self.plugin
            .instance(&self.configs.valid_for(self.config_schema()))
    }

    /// The entries of a list in the manifest.
    pub(crate) fn list(&self, member: &str) -> &[Value] {
        self.manifest[member].as_array().map_or(&[], Vec::as_slice)
    }
}

/// Runs every phase of an instance, each after the one before has succeeded.
pub(crate) fn whole_life(subject: &dyn Subject) -> std::result::Result<(), String> {
    for phase in [
        Phase::Init,
        Phase::Activate,
        Phase::Deactivate,
        Phase::Dispose,
    ] {
        let done = subject.lifecycle(phase);
        done.map_err(|error| format!("`{}` failed: {error}", phase.as_str()))?;
    }
    Ok(())
}

/// A call on a thread of its own.
pub(crate) struct Running(std::sync::mpsc::Receiver<Result<Value>>);

impl Running {
    pub(crate) fn start(subject: &Arc<dyn Subject>, call: Call) -> Self {
        let (sender, receiver) = channel();
        let subject = subject.clone();
        thread::spawn(move || {
            // The case may have given up.
            let _ = sender.send(subject.call(&call));
        });
        Self(receiver)
    }

    /// The result; nothing if the call does not return.
    pub(crate) fn result(self) -> Option<Result<Value>> {
        self.0.recv_timeout(PATIENCE).ok()
    }
}

/// Why an error is not one that a program can act on.
pub(crate) fn untyped(error: &Error) -> Option<String> {
    let known = Class::ALL
        .iter()
        .any(|class| class.as_str() == error.class());
    if error.code() == "CallPanicked" {
        return Some(format!("it panicked: {}", error.message()));
    }
    if !known {
        return Some(format!(
            "the class `{}` is none of the eight",
            error.class()
        ));
    }
    let is_name = error
        .code()
        .starts_with(|first: char| first.is_ascii_uppercase())
        && error
            .code()
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric());
    (!is_name || error.message().trim().is_empty())
        .then(|| format!("`{error}` lacks a code in CamelCase or a message"))
}

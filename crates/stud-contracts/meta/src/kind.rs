//! The nine categories of extension.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cardinality::{ActiveCardinality, LoadedCardinality};

/// What an extension is. Each is exactly one of these, fixed when it is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Talks to a model.
    Provider,
    /// Does something for the model.
    Tool,
    /// Guards, transforms or observes a stage of the message loop.
    Hook,
    /// Shows events, answers prompts, draws regions.
    #[serde(rename = "UI")]
    Ui,
    /// Keeps records.
    Logger,
    /// Drives a session through stages.
    StateMachine,
    /// Does something for the person at the keyboard.
    Command,
    /// Keeps sessions.
    SessionStore,
    /// Adds to what the model is told.
    ContextProvider,
}

impl Kind {
    /// All nine, in the order the product lists them.
    pub const ALL: [Self; 9] = [
        Self::Provider,
        Self::Tool,
        Self::Hook,
        Self::Ui,
        Self::Logger,
        Self::StateMachine,
        Self::Command,
        Self::SessionStore,
        Self::ContextProvider,
    ];

    /// The word in a manifest.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Provider => "Provider",
            Self::Tool => "Tool",
            Self::Hook => "Hook",
            Self::Ui => "UI",
            Self::Logger => "Logger",
            Self::StateMachine => "StateMachine",
            Self::Command => "Command",
            Self::SessionStore => "SessionStore",
            Self::ContextProvider => "ContextProvider",
        }
    }

    /// The kind whose word this is.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// The folder under a scope root that holds this category.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Provider => "providers",
            Self::Tool => "tools",
            Self::Hook => "hooks",
            Self::Ui => "ui",
            Self::Logger => "loggers",
            Self::StateMachine => "state-machines",
            Self::Command => "commands",
            Self::SessionStore => "session-stores",
            Self::ContextProvider => "context-providers",
        }
    }

    /// The key under which `settings.json` configures this category.
    pub const fn settings_key(self) -> &'static str {
        match self {
            Self::StateMachine => "stateMachines",
            Self::SessionStore => "sessionStores",
            Self::ContextProvider => "contextProviders",
            other => other.folder(),
        }
    }

    /// How many of this category may be loaded and how many active: the same for all its extensions.
    pub const fn cardinality(self) -> (LoadedCardinality, ActiveCardinality) {
        let active = match self {
            Self::StateMachine => ActiveCardinality::OneAttached,
            Self::SessionStore => ActiveCardinality::One,
            _ => ActiveCardinality::Unlimited,
        };
        (LoadedCardinality::Unlimited, active)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

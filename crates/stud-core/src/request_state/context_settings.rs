//! What the operator set for putting requests together.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::confidential;
use crate::environment::{EmbeddedPlugin, Environment};
use crate::redact::Confidential;
use crate::settings::ContextSettings;

/// What the operator set for putting requests together.
#[derive(Debug, Clone)]
pub struct Terms {
    /// The part of the window from which on it is told that the window fills up; `context.warnAt`.
    pub warn_at: f64,
    /// The part of the window from which on the conversation is summarized; `context.compactAt`.
    pub compact_at: f64,
    /// Context providers to do without when they fail, by their ids; `context.graceful`.
    pub graceful: BTreeSet<String>,
    /// What the model is told first, if there is such a file.
    pub system_prompt: Option<PathBuf>,
    /// What stands in the settings and must not reach a model.
    pub(crate) confidential: Vec<Confidential>,
    /// The other values there, which must not appear in a request.
    pub(crate) private: Vec<Confidential>,
    /// The plugins that the program carries.
    pub(crate) carried: Vec<EmbeddedPlugin>,
}

impl Default for Terms {
    fn default() -> Self {
        Self::set(&ContextSettings::default())
    }
}

impl Terms {
    /// As the settings have them, which were checked when they were read.
    pub fn of(ground: &Environment) -> Self {
        let found = confidential::in_settings(&ground.settings);
        Self {
            system_prompt: Some(ground.places.global_root.join("system.md")),
            confidential: found.secret,
            private: found.private,
            carried: ground.bundled.clone(),
            ..Self::set(&ContextSettings::of(&ground.settings))
        }
    }

    fn set(set: &ContextSettings<'_>) -> Self {
        let graceful = set.graceful.value.iter();
        Self {
            warn_at: set.warn_at.value,
            compact_at: set.compact_at.value,
            graceful: graceful.map(|id| (*id).to_owned()).collect(),
            system_prompt: None,
            confidential: Vec::new(),
            private: Vec::new(),
            carried: Vec::new(),
        }
    }
}

//! What the operator set for putting requests together.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

use super::confidential;
use crate::environment::Environment;
use crate::redact::Confidential;
use crate::settings::{Settings, part};

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
    /// What else stands there: nobody may write it into a request.
    pub(crate) private: Vec<Confidential>,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            warn_at: 0.80,
            compact_at: 0.95,
            graceful: BTreeSet::new(),
            system_prompt: None,
            confidential: Vec::new(),
            private: Vec::new(),
        }
    }
}

impl Terms {
    /// As the settings have them, which were checked when they were read.
    pub fn of(ground: &Environment) -> Self {
        let settings = &ground.settings;
        let otherwise = Self::default();
        let found = confidential::in_settings(settings);
        let share = |member| part(settings.get("context", member)?.value);
        Self {
            warn_at: share("warnAt").unwrap_or(otherwise.warn_at),
            compact_at: share("compactAt").unwrap_or(otherwise.compact_at),
            graceful: ids(settings, "graceful"),
            system_prompt: Some(ground.places.global_root.join("system.md")),
            confidential: found.secret,
            private: found.private,
        }
    }
}

fn ids(settings: &Settings, member: &str) -> BTreeSet<String> {
    let set = settings.get("context", member);
    let ids = set.and_then(|set| set.value.as_array());
    let ids = ids.into_iter().flatten().filter_map(Value::as_str);
    ids.map(str::to_owned).collect()
}

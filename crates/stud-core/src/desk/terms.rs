//! What the operator set for putting requests together.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

use super::confidential;
use crate::ground::Ground;
use crate::redact::Confidential;
use crate::settings::{Settings, Sourced};

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
    /// As the settings have them; `Validation/SettingsShapeInvalid` for what they cannot mean.
    pub fn of(ground: &Ground) -> Result<Self> {
        let settings = &ground.settings;
        let otherwise = Self::default();
        let found = confidential::in_settings(settings);
        Ok(Self {
            warn_at: part(settings, "warnAt")?.unwrap_or(otherwise.warn_at),
            compact_at: part(settings, "compactAt")?.unwrap_or(otherwise.compact_at),
            graceful: ids(settings, "graceful")?,
            system_prompt: Some(ground.places.global_root.join("system.md")),
            confidential: found.secret,
            private: found.private,
        })
    }
}

/// A part of the window: `0.8`, or `80` for 80 percent.
fn part(settings: &Settings, member: &str) -> Result<Option<f64>> {
    let Some(set) = settings.get("context", member) else {
        return Ok(None);
    };
    let part = set.value.as_f64().map(|number| match number {
        percent if percent > 1.0 => percent / 100.0,
        part => part,
    });
    let part = part.filter(|part| *part > 0.0 && *part <= 1.0);
    part.map(Some).ok_or_else(|| {
        let what = "is a part of the window: more than 0 and at most 1, or a percentage up to 100";
        wrong(&set, member, what)
    })
}

fn ids(settings: &Settings, member: &str) -> Result<BTreeSet<String>> {
    let Some(set) = settings.get("context", member) else {
        return Ok(BTreeSet::new());
    };
    let ids = set.value.as_array().and_then(|ids| {
        let ids = ids.iter().map(|id| Some(Value::as_str(id)?.to_owned()));
        ids.collect::<Option<_>>()
    });
    ids.ok_or_else(|| wrong(&set, member, "is a list of the ids of context providers"))
}

fn wrong(set: &Sourced<'_>, member: &str, what: &str) -> Error {
    let code = &codes::SETTINGS_SHAPE_INVALID;
    let (field, path) = (format!("/context/{member}"), set.path.display().to_string());
    Error::new(code.class, code.name, format!("`{field}` {what}"))
        .with("fieldPath", field)
        .with("path", path)
}

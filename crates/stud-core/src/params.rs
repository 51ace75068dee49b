//! Parameters of a provider: three layers of them, one bag in effect.
//!
//! ```text
//! defaultParams of the entry  <  --param of the launch  <  /params of the session
//! ```
//!
//! Layers are laid over one another leaf by leaf. Writing a node replaces everything below it, in the layers below too.
//! What the launch and the session set lives as long as the process.

mod secret;
mod bag;
mod check;

pub use bag::{Bag, Layer, Leaf};
pub use check::{Problem, Vocabulary};
pub use secret::redacted;

use serde_json::{Map, Value};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

/// One parameter: its path, its layer and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The names on the way to it.
    pub path: Vec<String>,
    /// What it is set to.
    pub value: Value,
}

impl Setting {
    /// A parameter at a path whose names are joined by dots; `Validation/InvalidParam` if one of them is missing.
    pub fn new(path: &str, value: Value) -> Result<Self> {
        let names: Vec<String> = path.split('.').map(str::to_owned).collect();
        if names.iter().any(String::is_empty) {
            let code = &codes::INVALID_PARAM;
            let message =
                format!("`{path}` is not a parameter path: write names joined by single dots");
            return Err(Error::new(code.class, code.name, message).with("path", path));
        }
        Ok(Self { path: names, value })
    }

    /// `path=value`. A value is JSON if it reads as JSON, and a text otherwise.
    pub fn parse(word: &str) -> Result<Self> {
        let Some((path, value)) = word.split_once('=') else {
            let code = &codes::INVALID_PARAM;
            let message = "a parameter is written as `path=value`";
            return Err(Error::new(code.class, code.name, message).with("word", word));
        };
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        Self::new(path, value)
    }
}

/// The three layers.
#[derive(Debug, Clone, Default)]
pub struct Params {
    defaults: Map<String, Value>,
    launch: Vec<Setting>,
    session: Vec<Setting>,
}

impl Params {
    /// What the launch sets, over nothing yet.
    pub fn launched(launch: Vec<Setting>) -> Self {
        Self {
            launch: last_of_each(launch),
            ..Self::default()
        }
    }

    /// The same over other defaults.
    #[must_use]
    pub fn over(&self, defaults: Map<String, Value>) -> Self {
        Self {
            defaults,
            ..self.clone()
        }
    }

    /// The same with what the session sets now.
    #[must_use]
    pub fn with(&self, more: Vec<Setting>) -> Self {
        let mut params = self.clone();
        params.session.extend(more);
        params.session = last_of_each(params.session);
        params
    }

    /// What the launch sets.
    pub fn of_launch(&self) -> &[Setting] {
        &self.launch
    }

    /// What is in effect.
    pub fn bag(&self) -> Bag {
        let mut bag = Bag::default();
        for (name, value) in &self.defaults {
            bag.write(std::slice::from_ref(name), value, Layer::Defaults);
        }
        for (layer, settings) in [
            (Layer::Launch, &self.launch),
            (Layer::Session, &self.session),
        ] {
            for setting in settings {
                bag.write(&setting.path, &setting.value, layer);
            }
        }
        bag
    }
}

/// Of several settings of one path only the last has a say.
pub(crate) fn last_of_each(settings: Vec<Setting>) -> Vec<Setting> {
    let mut kept: Vec<Setting> = Vec::new();
    for setting in settings {
        kept.retain(|other| other.path != setting.path);
        kept.push(setting);
    }
    kept
}

#[cfg(test)]
mod tests;

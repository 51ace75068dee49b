//! Every value that holds, and where it stands.

use std::path::PathBuf;

use serde_json::{Value, json};
use stud_core::environment::Environment;
use stud_core::plugin_scope::Scope;
use stud_core::redact::{REDACTED, shape_of};
use stud_core::report::PluginReport;
use stud_core::settings;
use stud_diagnostics::codes;

/// A value that holds.
#[derive(Debug, Clone)]
pub(super) struct Setting {
    pub(super) key: String,
    pub(super) value: Value,
    pub(super) scope: Scope,
    /// The file it stands in; none for a default.
    pub(super) file: Option<PathBuf>,
}

impl Setting {
    pub(super) fn document(&self) -> Value {
        json!({
            "key": self.key,
            "value": self.value,
            "scope": self.scope.as_str(),
            "file": self.file.as_ref().map(|file| file.to_string_lossy()),
        })
    }
}

/// What settings files say, then what plugins' own config files say, then what holds anyway; by key.
pub(super) fn of(ground: &Environment, plugins: &[PluginReport]) -> Vec<Setting> {
    let set = ground.settings.effective();
    let mut settings: Vec<Setting> = set
        .into_iter()
        .map(|set| Setting {
            value: shown(&set.key, set.value),
            key: set.key,
            scope: set.scope,
            file: Some(set.path.to_owned()),
        })
        .collect();
    for plugin in plugins.iter().filter(|plugin| fell_back(plugin)) {
        let Some(kind) = plugin.kind else { continue };
        let key = format!("{}.{}", kind.settings_key(), plugin.ext_id);
        settings.retain(|set| set.key != key);
        let lower = ground.settings.each(kind.settings_key(), &plugin.ext_id);
        settings.extend(lower.skip(1).take(1).map(|set| Setting {
            value: shown(&key, set.value.clone()),
            key: key.clone(),
            scope: set.scope,
            file: Some(set.path.to_owned()),
        }));
    }
    let more = plugins.iter().filter_map(own_config).chain(defaults());
    for other in more {
        if settings.iter().all(|set| set.key != other.key) {
            settings.push(other);
        }
    }
    settings.sort_by(|one, other| one.key.cmp(&other.key));
    settings
}

/// Whether the project's config of a plugin was dropped for one of a lower scope.
fn fell_back(plugin: &PluginReport) -> bool {
    let mut said = plugin.diagnostics.iter();
    said.any(|said| {
        let about_config = [&codes::CONFIG_SCHEMA_VIOLATION, &codes::UNKNOWN_CONFIG_KEY];
        about_config.contains(&said.code) && said.fallback().is_some()
    })
}

/// The config that lies beside a plugin's library.
fn own_config(plugin: &PluginReport) -> Option<Setting> {
    let folder = plugin.path.as_ref()?.parent()?;
    let is_its_own = folder.file_name()? == plugin.ext_id.as_str();
    let file = folder.join("config.json");
    if !is_its_own || !file.is_file() {
        return None;
    }
    let key = format!("{}.{}", plugin.kind?.settings_key(), plugin.ext_id);
    Some(Setting {
        value: shown(&key, plugin.details.as_ref()?.config.clone()),
        key,
        scope: plugin.scope,
        file: Some(file),
    })
}

/// What holds where no file says anything.
fn defaults() -> impl Iterator<Item = Setting> {
    let defaults = settings::defaults();
    defaults.into_iter().map(|(key, value)| Setting {
        key,
        value,
        scope: Scope::Bundled,
        file: None,
    })
}

/// A value without secrets. References stay, and so do names of variables; what a variable is set to does not.
fn shown(key: &str, mut value: Value) -> Value {
    if let (Some(_), Some(text)) = (key.strip_prefix("env."), value.as_str()) {
        let is_reference = text.starts_with("${") && text.ends_with('}');
        return if is_reference { value } else { REDACTED.into() };
    }
    hide(&mut value);
    value
}

/// Takes out what looks like a secret.
fn hide(value: &mut Value) {
    match value {
        Value::String(text) if shape_of(text).is_some() => *value = REDACTED.into(),
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::Object(members) => members.values_mut().for_each(hide),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_shown_and_secrets_are_not() {
        let reference = json!({"kind": "env", "name": "MY_KEY"});
        let config = json!({"apiKeyRef": reference, "note": ["key sk-canary-1"]});
        assert_eq!(
            shown("providers.x", config),
            json!({"apiKeyRef": reference, "note": [REDACTED]})
        );
        assert_eq!(shown("env.A", json!("canary")), json!(REDACTED));
        assert_eq!(shown("env.A", json!("${B}")), json!("${B}"));
    }
}

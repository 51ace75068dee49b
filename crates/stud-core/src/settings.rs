//! `settings.json` of each scope, checked and laid over one another; each value knows where it came from.

mod active;
mod change;
mod env;
mod sinks;

pub use active::choose;
pub use change::{change, section};
pub(crate) use env::pointed_at;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use stud_contract_meta::{Kind, strict_json};
use stud_diagnostics::{Diagnostic, codes};

use crate::nearest::nearest;
use crate::network;
use crate::platform::{self, ReadError};
use crate::scope::Scope;

/// The one member of `providers` that is no provider.
pub(crate) const RETRY: &str = "retry";

const LARGEST_SETTINGS: u64 = 16 * 1024 * 1024;

/// The keys a settings file may have besides those of the nine categories.
const OTHER_KEYS: [&str; 13] = [
    "env",
    "securityMode",
    "logging",
    "active",
    "interaction",
    "control",
    "loop",
    "validation",
    "headless",
    "context",
    "network",
    "integrity",
    "mcp",
];

/// The settings of all scopes that may be read.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    layers: Vec<Layer>,
}

#[derive(Debug, Clone)]
struct Layer {
    scope: Scope,
    path: PathBuf,
    document: Map<String, Value>,
}

/// A value and the file it came from.
#[derive(Debug, Clone, Copy)]
pub struct Sourced<'a> {
    /// The value.
    pub value: &'a Value,
    /// The scope it was set in.
    pub scope: Scope,
    /// The file it stands in.
    pub path: &'a Path,
}

/// What holds for a key once all scopes are laid over one another.
#[derive(Debug, Clone, PartialEq)]
pub struct Effective<'a> {
    /// The key with its member, such as `active.provider` or `tools.grep`.
    pub key: String,
    /// What holds.
    pub value: Value,
    /// The highest scope that has a say in it.
    pub scope: Scope,
    /// The file it stands in.
    pub path: &'a Path,
}

impl Settings {
    /// Reads the settings of one scope and lays them over what is there; a missing file adds nothing.
    pub fn layer(&mut self, scope: Scope, root: &Path) -> Result<(), Diagnostic> {
        let path = root.join("settings.json");
        if let Some(document) = read(&path, scope)? {
            self.layers.push(Layer {
                scope,
                path,
                document,
            });
        }
        Ok(())
    }

    /// Everything that is set, by key: what holds, and where it stands.
    pub fn effective(&self) -> Vec<Effective<'_>> {
        let mut names = BTreeSet::new();
        for layer in &self.layers {
            for (key, members) in &layer.document {
                let members = members.as_object().into_iter().flatten();
                names.extend(members.map(|(member, _)| (key.as_str(), member.as_str())));
            }
        }
        let effective = names.into_iter().filter_map(|(key, member)| {
            let set = self.get(key, member)?;
            let value = match (key, member) {
                ("securityMode", "allowlist") => self.allowlist().into(),
                _ => set.value.clone(),
            };
            Some(Effective {
                key: format!("{key}.{member}"),
                value,
                scope: set.scope,
                path: set.path,
            })
        });
        effective.collect()
    }

    /// The patterns of all scopes together, each once.
    fn allowlist(&self) -> Vec<String> {
        let listed = self.each("securityMode", "allowlist");
        let listed = listed.flat_map(|set| set.value.as_array().into_iter().flatten());
        let patterns: BTreeSet<&str> = listed.filter_map(Value::as_str).collect();
        patterns.into_iter().map(str::to_owned).collect()
    }

    /// Everything that is configured for a category, by id: the highest scope that has any of one replaces the others.
    pub fn entries(&self, kind: Kind) -> BTreeMap<&str, Sourced<'_>> {
        let mut entries = BTreeMap::new();
        for layer in &self.layers {
            let configured = layer.document.get(kind.settings_key());
            let configured = configured.and_then(Value::as_object);
            for (id, value) in configured.into_iter().flatten() {
                let (scope, path) = (layer.scope, layer.path.as_path());
                entries.insert(id.as_str(), Sourced { value, scope, path });
            }
        }
        if kind == Kind::Provider {
            entries.remove(RETRY);
        }
        entries
    }

    /// Every file that was read, lowest scope first.
    pub(crate) fn documents(&self) -> impl Iterator<Item = &Map<String, Value>> {
        self.layers.iter().map(|layer| &layer.document)
    }

    /// A member of an object at the top level, such as `active.provider`.
    pub fn get(&self, key: &str, member: &str) -> Option<Sourced<'_>> {
        self.each(key, member).next()
    }

    /// The same in every scope that sets it, highest scope first.
    pub fn each(&self, key: &str, member: &str) -> impl Iterator<Item = Sourced<'_>> {
        self.layers.iter().rev().filter_map(move |layer| {
            let value = layer.document.get(key)?.get(member)?;
            Some(Sourced {
                value,
                scope: layer.scope,
                path: &layer.path,
            })
        })
    }
}

/// What a settings file says; nothing if there is none.
fn read(path: &Path, scope: Scope) -> Result<Option<Map<String, Value>>, Diagnostic> {
    match platform::read_file(path, LARGEST_SETTINGS) {
        Ok(bytes) => check(path, scope, &bytes).map(Some),
        Err(ReadError::Missing) => Ok(None),
        Err(error) => Err(misshapen(path, "", &format!("cannot be read: {error}"))),
    }
}

fn check(path: &Path, scope: Scope, bytes: &[u8]) -> Result<Map<String, Value>, Diagnostic> {
    let text = str::from_utf8(bytes)
        .map_err(|error| misshapen(path, "", &format!("is not UTF-8: {error}")))?;
    let document = strict_json::parse(text).map_err(|error| {
        let place = format!("line {}, column {}", error.line, error.column);
        misshapen(
            path,
            "",
            &format!("is not JSON: {} at {place}", error.problem),
        )
    })?;
    let Value::Object(document) = document else {
        return Err(misshapen(path, "", "is not an object"));
    };
    let known = || {
        Kind::ALL
            .map(Kind::settings_key)
            .into_iter()
            .chain(OTHER_KEYS)
    };
    for (key, value) in &document {
        if !known().any(|name| name == key) {
            let mut unknown = Diagnostic::error(
                &codes::UNKNOWN_TOP_LEVEL_KEY,
                format!("`{key}` is not a setting"),
            )
            .file(path)
            .field(format!("/{key}"))
            .with("path", path.display().to_string())
            .with("key", key.as_str());
            if let Some(near) = nearest(key, known()) {
                unknown = unknown.help(format!("did you mean `{near}`?"));
            }
            return Err(unknown);
        }
        let Value::Object(members) = value else {
            return Err(misshapen(path, &format!("/{key}"), "is not an object"));
        };
        if key == "env" {
            env::check(path, scope, members)?;
        }
        if key == "logging" {
            sinks::check(path, members)?;
        }
        if key == "securityMode" {
            check_security_mode(path, members)?;
        }
        if key == "active" {
            check_active(path, members)?;
        }
        if key == "network"
            && let Some((place, flaw)) = network::flaw(members)
        {
            let pointer = format!("/network{place}");
            return Err(match flaw {
                Ok(flaw) => network::invalid(&flaw)
                    .file(path)
                    .field(pointer)
                    .with("path", path.display().to_string()),
                Err(what) => misshapen(path, &pointer, what),
            });
        }
        if Kind::ALL.iter().any(|kind| kind.settings_key() == key) {
            for (id, config) in members {
                if !config.is_object() {
                    return Err(misshapen(path, &format!("/{key}/{id}"), "is not an object"));
                }
            }
        }
    }
    Ok(document)
}

/// What is chosen is named.
fn check_active(path: &Path, members: &Map<String, Value>) -> Result<(), Diagnostic> {
    const KNOWN: [&str; 4] = ["provider", "model", "sessionStore", "attachedSM"];
    for (member, value) in members {
        let pointer = format!("/active/{member}");
        if !KNOWN.contains(&member.as_str()) {
            let unknown = misshapen(path, &pointer, "is not known");
            return Err(match nearest(member, KNOWN) {
                Some(near) => unknown.help(format!("did you mean `{near}`?")),
                None => unknown,
            });
        }
        if value.as_str().is_none_or(str::is_empty) {
            return Err(misshapen(path, &pointer, "is not a name"));
        }
    }
    Ok(())
}

/// How tool calls are gated has to be understood, or nobody could rely on it.
fn check_security_mode(path: &Path, members: &Map<String, Value>) -> Result<(), Diagnostic> {
    const MODES: [&str; 3] = ["ask", "yolo", "allowlist"];
    for (member, value) in members {
        let pointer = format!("/securityMode/{member}");
        match member.as_str() {
            "mode" if MODES.iter().any(|mode| value == mode) => {}
            "mode" => {
                let word = value.as_str();
                let message = match word {
                    Some(word) => format!("`{word}` is not a security mode"),
                    None => "the security mode is not a text".to_owned(),
                };
                let wrong = Diagnostic::error(&codes::INVALID_SECURITY_MODE, message)
                    .file(path)
                    .field(pointer)
                    .with("path", path.display().to_string())
                    .with("mode", word);
                let near = word.and_then(|word| nearest(word, MODES));
                return Err(match near {
                    Some(near) => wrong.help(format!("did you mean `{near}`?")),
                    None => wrong.help("write `ask`, `yolo` or `allowlist`"),
                });
            }
            "allowlist" => {
                let patterns = value.as_array();
                if !patterns.is_some_and(|patterns| patterns.iter().all(Value::is_string)) {
                    return Err(misshapen(path, &pointer, "is not a list of texts"));
                }
            }
            _ => {
                let what = "is not known; there are `mode` and `allowlist`";
                return Err(misshapen(path, &pointer, what));
            }
        }
    }
    Ok(())
}

fn misshapen(path: &Path, pointer: &str, what: &str) -> Diagnostic {
    let subject = if pointer.is_empty() {
        "the settings file".to_owned()
    } else {
        format!("`{pointer}`")
    };
    let diagnostic =
        Diagnostic::error(&codes::SETTINGS_SHAPE_INVALID, format!("{subject} {what}")).file(path);
    let diagnostic = if pointer.is_empty() {
        diagnostic
    } else {
        diagnostic.field(pointer)
    };
    diagnostic
        .with("path", path.display().to_string())
        .help("mend the file; stud does not start with settings it cannot read")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layered(texts: &[(Scope, &str)]) -> Result<Settings, Diagnostic> {
        let mut settings = Settings::default();
        for (scope, text) in texts {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("settings.json"), text).unwrap();
            settings.layer(*scope, folder.path())?;
        }
        Ok(settings)
    }

    #[test]
    fn a_later_scope_replaces_the_whole_entry() {
        let settings = layered(&[
            (Scope::Global, r#"{"tools":{"grep":{"a":1,"b":2}}}"#),
            (Scope::Project, r#"{"tools":{"grep":{"a":3}}}"#),
        ])
        .unwrap();
        let found = settings.get("tools", "grep").unwrap();
        assert_eq!(
            (found.value.to_string().as_str(), found.scope),
            (r#"{"a":3}"#, Scope::Project)
        );
    }

    #[test]
    fn what_holds_knows_its_scope_and_allowlists_add_up() {
        let settings = layered(&[
            (
                Scope::Global,
                r#"{"securityMode":{"mode":"allowlist","allowlist":["b","a"]},"tools":{"grep":{"a":1}}}"#,
            ),
            (
                Scope::Project,
                r#"{"securityMode":{"allowlist":["c","a"]},"active":{"provider":"echo"}}"#,
            ),
        ])
        .unwrap();
        let effective = settings.effective();
        let shown: Vec<_> = effective
            .iter()
            .map(|set| (set.key.as_str(), set.value.to_string(), set.scope))
            .collect();
        let of = |key, value: &str, scope| (key, value.to_owned(), scope);
        assert_eq!(
            shown,
            [
                of("active.provider", r#""echo""#, Scope::Project),
                of("securityMode.allowlist", r#"["a","b","c"]"#, Scope::Project),
                of("securityMode.mode", r#""allowlist""#, Scope::Global),
                of("tools.grep", r#"{"a":1}"#, Scope::Global),
            ]
        );
    }

    #[test]
    fn an_unknown_key_names_the_nearest() {
        let error = layered(&[(Scope::Global, r#"{"tool":{}}"#)]).unwrap_err();
        assert_eq!(error.code, &codes::UNKNOWN_TOP_LEVEL_KEY);
        assert_eq!(error.help, ["did you mean `tools`?"]);
    }

    #[test]
    fn a_security_mode_that_there_is_not_is_refused() {
        for (mode, help) in [
            (r#""yollo""#, "did you mean `yolo`?"),
            ("true", "write `ask`, `yolo` or `allowlist`"),
        ] {
            let text = format!(r#"{{"securityMode":{{"mode":{mode}}}}}"#);
            let error = layered(&[(Scope::Global, &text)]).unwrap_err();
            assert_eq!(error.code, &codes::INVALID_SECURITY_MODE);
            assert_eq!(error.field_path.as_deref(), Some("/securityMode/mode"));
            assert_eq!(error.help, [help]);
        }
        layered(&[(Scope::Global, r#"{"securityMode":{"mode":"ask"}}"#)]).unwrap();
    }

    #[test]
    fn a_policy_that_nobody_could_be_held_to_is_refused() {
        let text = r#"{"network":{"deny":["a.org",{"host":"b.org","ports":[0]}]}}"#;
        let error = layered(&[(Scope::Global, text)]).unwrap_err();
        assert_eq!(error.code, &codes::POLICY_INVALID);
        assert_eq!(error.field_path.as_deref(), Some("/network/deny/1"));
        assert_eq!(error.context["reason"], "ports");
    }

    #[test]
    fn every_value_of_env_that_is_no_text_is_named() {
        let text = r#"{"env":{"A":"1","B":2,"C":null}}"#;
        let error = layered(&[(Scope::Project, text)]).unwrap_err();
        assert_eq!(error.code, &codes::SCOPE_SHAPE_INVALID);
        assert_eq!(error.field_path.as_deref(), Some("/env/B"));
        let places = serde_json::json!(["project.B", "project.C"]);
        assert_eq!(error.context["invalidPaths"], places);
    }

    #[test]
    fn a_value_that_a_project_holds_itself_is_a_warning() {
        let text = r#"{"env":{"A":"plain","B":"${B}","C":""}}"#;
        let of = |scope| layered(&[(scope, text)]).unwrap().literals();
        assert!(of(Scope::Global).is_empty(), "a person's own file");
        let [warning] = &of(Scope::Project)[..] else {
            panic!("one value stands there");
        };
        assert_eq!(warning.code, &codes::SETTINGS_LITERAL_ENV_VALUE);
        assert!(!warning.is_error());
        assert_eq!(warning.field_path.as_deref(), Some("/env/A"));
        assert!(!format!("{warning:?}").contains("plain"));
    }

    #[test]
    fn other_shapes_are_refused_in_place() {
        for (text, field) in [
            ("[]", None),
            ("{", None),
            (r#"{"tools":[]}"#, Some("/tools")),
            (r#"{"active":{"provider":""}}"#, Some("/active/provider")),
            (r#"{"active":{"model":1}}"#, Some("/active/model")),
            (
                r#"{"active":{"interactor":"x"}}"#,
                Some("/active/interactor"),
            ),
            (r#"{"ui":{"x":1}}"#, Some("/ui/x")),
            (
                r#"{"securityMode":{"allowlist":"git *"}}"#,
                Some("/securityMode/allowlist"),
            ),
            (
                r#"{"securityMode":{"modus":"ask"}}"#,
                Some("/securityMode/modus"),
            ),
            (r#"{"network":{"alow":[]}}"#, Some("/network/alow")),
            (r#"{"network":{"deny":"a.org"}}"#, Some("/network/deny")),
        ] {
            let error = layered(&[(Scope::Global, text)]).unwrap_err();
            assert_eq!(error.code, &codes::SETTINGS_SHAPE_INVALID, "{text}");
            assert_eq!(error.field_path.as_deref(), field, "{text}");
        }
    }
}

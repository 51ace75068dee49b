//! `settings.json` of each scope, checked and laid over one another; each value knows where it came from.

mod change;
mod active;
pub mod entry;
mod env;
mod value;
mod table;
mod reference;
mod sections;
mod sinks;

pub use active::choose;
pub use change::{change, section};
pub use entry::{EntryFlaw, entry_flaw};
pub use env::pointed_at;
pub use reference::{index, reference};
pub use table::{
    ActiveSettings, AuditSettings, ContextSettings, ControlSettings, HeadlessSettings,
    InteractionSettings, LoggingSettings, LoopSettings, McpSettings, NetworkSettings, OWNER,
    RetrySettings, STAND_IN, SecuritySettings, ServeSettings, ValidationSettings, defaults,
};
pub use value::{HeadlessGrant, Set};

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sections::Flaw;
use serde_json::{Map, Value, json};
use stud_contract_meta::{Kind, strict_json};
use stud_diagnostics::{Diagnostic, codes};
use value::SECURITY_MODES;

use crate::did_you_mean::nearest;
use crate::network_policy;
use crate::platform::{self, ReadError};
use crate::plugin_scope::Scope;

/// The one member of `providers` that is no provider.
pub(crate) const RETRY: &str = "retry";

const LARGEST_SETTINGS: u64 = 16 * 1024 * 1024;

/// The settings of all scopes that may be read.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    layers: Vec<Layer>,
    dropped: Vec<Diagnostic>,
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
    ///
    /// What a project gets wrong must not take away what its user has set up: such a value of a project is dropped, and
    /// the one below it holds.
    pub fn layer(&mut self, scope: Scope, root: &Path) -> Result<(), Diagnostic> {
        let path = root.join("settings.json");
        if let Some(mut document) = read(&path, scope)? {
            match scope {
                Scope::Project => self.drop_flaws(&path, &mut document),
                Scope::Bundled | Scope::Global => refuse_flaws(&path, &document)?,
            }
            self.layers.push(Layer {
                scope,
                path,
                document,
            });
        }
        Ok(())
    }

    /// What was dropped, and why.
    pub fn dropped(&self) -> &[Diagnostic] {
        &self.dropped
    }

    fn drop_flaws(&mut self, path: &Path, document: &mut Map<String, Value>) {
        for flaw in sections::flaws(document) {
            if let Some(Value::Object(members)) = document.get_mut(flaw.section) {
                members.remove(&flaw.member);
            }
            let below = self.get(flaw.section, &flaw.member);
            let below = below.map_or(Scope::Bundled, |set| set.scope);
            let mut why = flawed(path, &flaw).downgraded();
            if flaw.known {
                why = why
                    .falling_back_to(below.as_str(), None)
                    .note(format!("the value of the {below} scope is used instead"));
            }
            self.dropped.push(why);
        }
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

    /// The same without what a project says.
    #[must_use]
    pub fn without_project(&self) -> Self {
        let mut settings = self.clone();
        settings
            .layers
            .retain(|layer| layer.scope != Scope::Project);
        settings
    }

    /// Every file that was read, lowest scope first.
    pub fn documents(&self) -> impl Iterator<Item = &Map<String, Value>> {
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
        let plugins = Kind::ALL.map(Kind::settings_key).into_iter();
        plugins.chain(table::sections().map(|section| section.key))
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
        if key == "network"
            && let Some((place, flaw)) = network_policy::flaw(members)
        {
            let pointer = format!("/network{place}");
            return Err(match flaw {
                Ok(flaw) => network_policy::invalid(&flaw)
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

/// Refuses a document that has settings of core's own which cannot be used, and names all of them.
fn refuse_flaws(path: &Path, document: &Map<String, Value>) -> Result<(), Diagnostic> {
    let flaws = sections::flaws(document);
    let Some((first, others)) = flaws.split_first() else {
        return Ok(());
    };
    let errors = flaws.iter().map(|flaw| wrong_at(&flaw.pointer, &flaw.what));
    let mut refused = flawed(path, first).with("errors", errors.collect::<Vec<_>>());
    for other in others {
        refused = refused.note(format!("`{}` {}", other.pointer, other.what));
    }
    Err(refused.help(CORRECT))
}

fn flawed(path: &Path, flaw: &Flaw) -> Diagnostic {
    let wrong = wrong(path, &flaw.pointer, &flaw.what);
    match flaw.near {
        Some(near) => wrong.help(format!("did you mean `{near}`?")),
        None => wrong,
    }
}

/// An unknown security mode is an error, because a fallback would be unsafe.
fn check_security_mode(path: &Path, members: &Map<String, Value>) -> Result<(), Diagnostic> {
    for (member, value) in members {
        let pointer = format!("/securityMode/{member}");
        match member.as_str() {
            "mode" if SECURITY_MODES.iter().any(|mode| value == mode) => {}
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
                let near = word.and_then(|word| nearest(word, SECURITY_MODES));
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
                entry::check(path, &pointer, patterns.into_iter().flatten())?;
            }
            "askForReads" if value.is_boolean() => {}
            "askForReads" => {
                return Err(misshapen(path, &pointer, "is not `true` or `false`"));
            }
            _ => {
                let what = "is not known; there are `mode`, `allowlist` and `askForReads`";
                return Err(misshapen(path, &pointer, what));
            }
        }
    }
    Ok(())
}

const CORRECT: &str = "correct the file; stud does not start with invalid settings";

fn misshapen(path: &Path, pointer: &str, what: &str) -> Diagnostic {
    wrong(path, pointer, what).help(CORRECT)
}

fn wrong(path: &Path, pointer: &str, what: &str) -> Diagnostic {
    let subject = if pointer.is_empty() {
        "the settings file".to_owned()
    } else {
        format!("`{pointer}`")
    };
    let message = format!("{subject} {what}");
    let diagnostic = Diagnostic::error(&codes::SETTINGS_SHAPE_INVALID, message).file(path);
    let diagnostic = if pointer.is_empty() {
        diagnostic
    } else {
        diagnostic.field(pointer)
    };
    diagnostic
        .with("path", path.display().to_string())
        .with("errors", [wrong_at(pointer, what)].to_vec())
}

/// One of the `errors` in the context.
fn wrong_at(pointer: &str, what: &str) -> Value {
    json!({"path": pointer, "message": what})
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn layered(texts: &[(Scope, &str)]) -> Result<Settings, Diagnostic> {
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
                r#"{"securityMode":{"mode":"allowlist","allowlist":["x(b)","x(a)"]},"tools":{"grep":{"a":1}}}"#,
            ),
            (
                Scope::Project,
                r#"{"securityMode":{"allowlist":["x(c)","x(a)"]},"active":{"provider":"echo"}}"#,
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
                of(
                    "securityMode.allowlist",
                    r#"["x(a)","x(b)","x(c)"]"#,
                    Scope::Project
                ),
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
            (
                r#"{"loop":{"maxContinuations":0}}"#,
                Some("/loop/maxContinuations"),
            ),
            (
                r#"{"loop":{"maxContinuations":"x"}}"#,
                Some("/loop/maxContinuations"),
            ),
            (
                r#"{"loop":{"toolTimeoutMs":1.5}}"#,
                Some("/loop/toolTimeoutMs"),
            ),
            (
                r#"{"loop":{"hookTimeoutMs":-1}}"#,
                Some("/loop/hookTimeoutMs"),
            ),
            (
                r#"{"providers":{"retry":{"attempts":0,"firstMs":"soon"}}}"#,
                Some("/providers/retry/firstMs"),
            ),
        ] {
            let error = layered(&[(Scope::Global, text)]).unwrap_err();
            assert_eq!(error.code, &codes::SETTINGS_SHAPE_INVALID, "{text}");
            assert_eq!(error.field_path.as_deref(), field, "{text}");
            let errors = error.context["errors"].as_array().unwrap();
            assert_eq!(errors[0]["path"], field.unwrap_or_default(), "{text}");
        }
    }

    #[test]
    fn everything_wrong_is_named_at_once() {
        let text = r#"{"loop":{"maxContinuation":5},"validation":{"strict":"yes"}}"#;
        let error = layered(&[(Scope::Global, text)]).unwrap_err();
        assert_eq!(error.field_path.as_deref(), Some("/loop/maxContinuation"));
        assert_eq!(error.help[0], "did you mean `maxContinuations`?");
        assert_eq!(
            error.context["errors"],
            json!([
                {"path": "/loop/maxContinuation", "message": "is not known"},
                {"path": "/validation/strict", "message": "is not `true` or `false`"},
            ])
        );
    }

    #[test]
    fn what_a_project_gets_wrong_gives_way_to_what_is_below() {
        let project = r#"{"loop":{"maxContinuations":0,"toolTimeoutMs":7,"hookTimeoutMs":"x"},"context":{"warn":1}}"#;
        let settings = layered(&[
            (Scope::Global, r#"{"loop":{"maxContinuations":7}}"#),
            (Scope::Project, project),
        ])
        .unwrap();
        let holds = |member| {
            let set = settings.get("loop", member)?;
            Some((set.value.as_u64()?, set.scope))
        };
        assert_eq!(holds("maxContinuations"), Some((7, Scope::Global)));
        assert_eq!(holds("toolTimeoutMs"), Some((7, Scope::Project)));
        assert_eq!(holds("hookTimeoutMs"), None);
        let dropped = settings.dropped().iter();
        let dropped = dropped.map(|why| {
            assert_eq!(why.code, &codes::SETTINGS_SHAPE_INVALID);
            assert!(!why.is_error());
            let to = why
                .context
                .get("fallback")
                .map(|fallback| &fallback["toScope"]);
            (why.field_path.as_deref().unwrap_or_default(), to.cloned())
        });
        assert_eq!(
            dropped.collect::<Vec<_>>(),
            [
                ("/loop/hookTimeoutMs", Some(json!("bundled"))),
                ("/loop/maxContinuations", Some(json!("global"))),
                ("/context/warn", None),
            ]
        );
    }
}

//! Stage `configSchema`: the schema is one a config can be checked with, and the config fits it.

use std::path::Path;

use serde_json::{Map, Value, json};
use stud_contract_meta::{ExtId, Kind, Manifest, strict_json};
use stud_diagnostics::{Diagnostic, Stage, codes};

use super::document::escape;
use super::{core_config, schema};
use crate::provenance::Provenance;
use stud_config::did_you_mean::nearest;
use stud_config::platform;
use stud_config::plugin_scope::Scope;
use stud_config::settings::Settings;
use stud_runtime::executor::CodeOrigin;

const LARGEST_CONFIG: u64 = 16 * 1024 * 1024;

/// What the plugin will be given, and whether it is wanted at all.
pub(crate) struct Effective {
    pub(crate) value: Value,
    /// What core reads itself and the plugin has no place for.
    pub(crate) core_config: Map<String, Value>,
    pub(crate) enabled: bool,
    /// Why a higher scope's config is not the one.
    pub(crate) dropped: Option<Diagnostic>,
}

/// Where a config stands, for the diagnostic.
enum Source<'a> {
    Settings {
        path: &'a Path,
        pointer: String,
        scope: Scope,
    },
    File(&'a Path),
    Nothing,
}

/// Checks the schema, finds the config, and checks the one with the other.
///
/// The config in the settings stands under `id`, which is the plugin's own or that of one more entry of a provider.
pub(crate) fn check(
    provenance: &Provenance,
    manifest: &Manifest,
    id: &ExtId,
    config_file: Option<&Path>,
    settings: &Settings,
) -> Result<Effective, Diagnostic> {
    check_schema(provenance, manifest)?;
    let declared = &manifest.config_schema;
    schema::check(provenance, Stage::ConfigSchema, "/configSchema", declared)?;
    let mut dropped = None;
    for (found, pointer) in settings.configs(manifest.kind, id.as_str()) {
        let Value::Object(config) = found.value else {
            continue;
        };
        let source = Source::Settings {
            path: found.path,
            pointer,
            scope: found.scope,
        };
        match fit(provenance, manifest, config.clone(), &source) {
            Ok(effective) => return Ok(effective.instead_of(dropped, found.scope, id)),
            // What a project gets wrong must not take away what its user has set up.
            Err(why) if found.scope == Scope::Project => dropped = Some(why),
            Err(why) => return Err(dropped.unwrap_or(why)),
        }
    }
    let (config, source) = beside(provenance, config_file)?;
    if matches!(source, Source::Nothing) && rests(manifest) {
        return Ok(Effective::resting().instead_of(dropped, provenance.scope(), id));
    }
    match fit(provenance, manifest, config, &source) {
        Ok(effective) => Ok(effective.instead_of(dropped, provenance.scope(), id)),
        Err(why) => Err(dropped.unwrap_or(why)),
    }
}

impl Effective {
    /// Of an unconfigured plugin that is enabled only by a config.
    fn resting() -> Self {
        Self {
            value: json!({"enabled": false}),
            core_config: Map::new(),
            enabled: false,
            dropped: None,
        }
    }

    /// Says that this holds in place of a config of a higher scope, if there was one.
    fn instead_of(self, dropped: Option<Diagnostic>, scope: Scope, id: &ExtId) -> Self {
        let dropped = dropped.map(|why| {
            why.downgraded()
                .falling_back_to(scope.as_str(), Some(id.as_str()))
                .note(format!("the config of the {scope} scope is used instead"))
        });
        Self { dropped, ..self }
    }
}

/// Checks one config.
fn fit(
    provenance: &Provenance,
    manifest: &Manifest,
    mut config: Map<String, Value>,
    source: &Source<'_>,
) -> Result<Effective, Diagnostic> {
    // `disable` belongs to the settings, not to the plugin: it takes an inherited entry away.
    let removed = config.remove("disable") == Some(Value::Bool(true));
    if accepts(manifest, "enabled") && !config.contains_key("enabled") {
        config.insert("enabled".to_owned(), Value::Bool(true));
    }
    let core_config = match manifest.kind {
        Kind::Provider => core_config::split_off(&mut config, |member| accepts(manifest, member)),
        _ => Map::new(),
    };
    let enabled = !removed && config.get("enabled") != Some(&Value::Bool(false));
    let effective = Effective {
        value: Value::Object(config),
        core_config,
        enabled,
        dropped: None,
    };
    if removed {
        return Ok(effective);
    }
    if let Some((place, problem)) = core_config::fault(&effective.core_config) {
        return Err(violation(provenance, source, &place, problem));
    }
    let (declared, value) = (&manifest.config_schema, &effective.value);
    if !schema::plainly_fits(declared, value) {
        let validator =
            schema::compile(provenance, Stage::ConfigSchema, "/configSchema", declared)?;
        if let Some(error) = validator.iter_errors(value).next() {
            let (place, problem) = (schema::place(&error), schema::problem(&error));
            return Err(match schema::undeclared(&error) {
                Some(key) if matches!(source, Source::Settings { .. }) => {
                    undeclared(provenance, manifest, source, key)
                }
                _ => violation(provenance, source, &place, &problem),
            });
        }
    }
    check_pairing(provenance, manifest, value, source)?;
    Ok(effective)
}

fn check_schema(provenance: &Provenance, manifest: &Manifest) -> Result<(), Diagnostic> {
    let declared = &manifest.config_schema;
    let must =
        |pointer: &str, message: &str| {
            provenance
            .error(Stage::ConfigSchema, &codes::CONFIG_SCHEMA_VIOLATION, message)
            .field(pointer)
            .help("author: derive the config with `#[derive(Config)]`, which writes such a schema")
        };
    if declared.get("type") != Some(&json!("object")) {
        return Err(must(
            "/configSchema/type",
            "the config schema must have `\"type\": \"object\"`",
        ));
    }
    if declared.get("additionalProperties") != Some(&Value::Bool(false)) {
        return Err(must(
            "/configSchema/additionalProperties",
            "the config schema must have `\"additionalProperties\": false`",
        ));
    }
    if manifest.kind == Kind::Ui && provenance.code_origin() == CodeOrigin::ThirdParty {
        let acceptable = [("enabled", json!(true)), ("targetUI", json!("default-tui"))];
        let needed = if is_region(manifest) { 2 } else { 1 };
        for (name, sample) in &acceptable[..needed] {
            if !property_takes(declared, name, sample) {
                return Err(must(
                    &format!("/configSchema/properties/{name}"),
                    &format!("the config schema of such a UI must accept `{name}`"),
                ));
            }
        }
    }
    Ok(())
}

/// Whether a plugin is disabled by default.
fn rests(manifest: &Manifest) -> bool {
    let default = "/properties/enabled/default";
    manifest.config_schema.pointer(default) == Some(&Value::Bool(false))
}

fn accepts(manifest: &Manifest, property: &str) -> bool {
    manifest
        .config_schema
        .pointer(&format!("/properties/{property}"))
        .is_some()
}

fn property_takes(declared: &Value, name: &str, sample: &Value) -> bool {
    declared
        .pointer(&format!("/properties/{name}"))
        .and_then(|property| schema::build(property).ok())
        .is_some_and(|property| property.is_valid(sample))
}

/// The roles are checked in the next stage, so this one reads them as they come.
fn is_region(manifest: &Manifest) -> bool {
    manifest
        .document
        .get("roles")
        .and_then(Value::as_array)
        .is_some_and(|roles| roles.iter().any(|role| role == "region"))
}

/// The config beside the library.
fn beside<'a>(
    provenance: &Provenance,
    config_file: Option<&'a Path>,
) -> Result<(Map<String, Value>, Source<'a>), Diagnostic> {
    let Some(path) = config_file else {
        return Ok((Map::new(), Source::Nothing));
    };
    let source = Source::File(path);
    let bytes = platform::read_file(path, LARGEST_CONFIG).map_err(|error| {
        violation(
            provenance,
            &source,
            "",
            &format!("the file cannot be read: {error}"),
        )
    })?;
    let text = str::from_utf8(&bytes)
        .map_err(|_| violation(provenance, &source, "", "the file is not UTF-8"))?;
    match strict_json::parse(text) {
        Ok(Value::Object(config)) => Ok((config, source)),
        Ok(_) => Err(violation(
            provenance,
            &source,
            "",
            "the file does not hold an object",
        )),
        Err(error) => Err(violation(
            provenance,
            &source,
            "",
            &format!(
                "the file is not JSON: {} at line {}, column {}",
                error.problem, error.line, error.column
            ),
        )),
    }
}

/// Two rules no schema of one plugin can state.
fn check_pairing(
    provenance: &Provenance,
    manifest: &Manifest,
    config: &Value,
    source: &Source<'_>,
) -> Result<(), Diagnostic> {
    if manifest.kind == Kind::Logger {
        let level = config.get("level").and_then(Value::as_str);
        let redacts = config.get("redactSecrets") != Some(&Value::Bool(false));
        if matches!(level, Some("debug" | "trace")) && !redacts {
            let why = "it must stay true while `level` is `debug` or `trace`";
            return Err(violation(provenance, source, "/redactSecrets", why));
        }
    }
    if manifest.kind == Kind::Ui && is_region(manifest) && config.get("targetUI").is_none() {
        let declared_everywhere = manifest
            .document
            .get("regions")
            .and_then(Value::as_array)
            .is_some_and(|regions| {
                !regions.is_empty() && regions.iter().all(|region| region["targetUI"].is_string())
            });
        // Without any region the role itself is the fault, and the next stage says so.
        let has_regions = manifest
            .document
            .get("regions")
            .and_then(Value::as_array)
            .is_some_and(|regions| !regions.is_empty());
        if has_regions && !declared_everywhere {
            return Err(violation(
                provenance,
                source,
                "/targetUI",
                "a region needs the id of the UI it is drawn in",
            ));
        }
    }
    Ok(())
}

/// The settings have a key for the plugin that it did not declare.
fn undeclared(
    provenance: &Provenance,
    manifest: &Manifest,
    source: &Source<'_>,
    key: &str,
) -> Diagnostic {
    let message = format!("`{}` has no setting `{key}`", provenance.name());
    let diagnostic = provenance
        .error(Stage::ConfigSchema, &codes::UNKNOWN_CONFIG_KEY, message)
        .with("extId", provenance.name())
        .with("key", key);
    let declared = manifest.config_schema.get("properties");
    let declared = declared.and_then(Value::as_object);
    let known = declared.into_iter().flat_map(Map::keys).map(String::as_str);
    let diagnostic = match nearest(key, known) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic,
    };
    let place = format!("/{}", escape(key));
    located(diagnostic.field(&place), provenance, source, &place)
}

fn violation(
    provenance: &Provenance,
    source: &Source<'_>,
    place: &str,
    problem: &str,
) -> Diagnostic {
    let at = |message: String| {
        provenance.error(
            Stage::ConfigSchema,
            &codes::CONFIG_SCHEMA_VIOLATION,
            message,
        )
    };
    let diagnostic = if place.is_empty() {
        at(format!("the config: {problem}"))
    } else {
        at(format!("`{place}` of the config: {problem}")).field(place)
    };
    located(diagnostic, provenance, source, place)
}

/// Says where the config stands that is wrong, and what to do.
fn located(
    diagnostic: Diagnostic,
    provenance: &Provenance,
    source: &Source<'_>,
    place: &str,
) -> Diagnostic {
    let advice = format!(
        "operator: correct it; `stud plugin info {}` shows the schema",
        provenance.name()
    );
    match source {
        Source::Settings { path, pointer, scope } => diagnostic
            .file(path)
            .with("file", path.display().to_string())
            .with("settingsPointer", format!("{pointer}{place}"))
            .note(format!("set at `{pointer}` in the {scope} settings"))
            .help(advice),
        Source::File(path) => diagnostic.file(path).with("file", path.display().to_string()).help(advice),
        Source::Nothing => diagnostic
            .note("the plugin has no config yet")
            .help(format!(
                "operator: add `{}` under its id in settings.json, or in a `config.json` beside the library",
                place.trim_start_matches('/')
            )),
    }
}

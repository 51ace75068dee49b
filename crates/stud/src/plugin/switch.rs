//! `stud plugin enable` and `disable`.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use stud_contract_meta::{Kind, strict_json};
use stud_core::platform::{self, Durability};
use stud_core::report::PluginReport;
use stud_core::settings;
use stud_core::startup;
use stud_core::unknown_ids::unknown_extension;
use stud_diagnostics::{Diagnostic, codes};

use crate::output::{Outcome, Output, Verdict};
use crate::setup;

pub(crate) fn run(id: &str, on: bool, output: &Output) -> Verdict {
    let (ground, means) = setup::ground()?;
    let plugins = startup::start(&ground, &means);
    let found = plugins
        .reports
        .iter()
        .filter(|report| report.ext_id == id)
        .find_map(|report| Some((report.kind?, own_config(report))));
    let known: Vec<String> = plugins
        .reports
        .iter()
        .map(|report| report.ext_id.clone())
        .collect();
    plugins.stop(&means.limits);
    let Some((kind, config)) = found else {
        return Err(unknown_extension(id, known.iter().map(String::as_str)));
    };
    let root = &ground.places.global_root;
    let is_set = ground.settings.get(kind.settings_key(), id).is_some();
    // An entry in the settings would replace the whole config that lies beside the library.
    let (path, changed) = match config.filter(|_| !is_set) {
        Some(path) => {
            let changed = in_config(&path, on)?;
            (path, changed)
        }
        None => (root.join("settings.json"), in_settings(root, kind, id, on)?),
    };
    if output.is_json() {
        output.document(&json!({
            "extId": id, "kind": kind, "enabled": on, "changed": changed, "path": path.to_string_lossy(),
        }))?;
    } else {
        let word = if on { "on" } else { "off" };
        let place = path.display();
        output.line(format!("{} is switched {word} in {place}", output.bold(id)));
        output.line("sessions that run keep what they have; the next one goes by this");
    }
    Ok(Outcome::Done)
}

/// The config beside a library in a folder of its own.
fn own_config(report: &PluginReport) -> Option<PathBuf> {
    let folder = report.path.as_deref()?.parent()?;
    let is_category = report
        .kind
        .is_some_and(|kind| folder.ends_with(kind.folder()));
    let config = folder.join("config.json");
    (!is_category && config.is_file()).then_some(config)
}

fn in_settings(root: &Path, kind: Kind, id: &str, on: bool) -> Result<bool, Diagnostic> {
    let path = root.join("settings.json");
    settings::change(root, |document| {
        let section = settings::section(document, kind.settings_key(), &path)?;
        let entry = section
            .entry(id)
            .or_insert_with(|| Value::Object(Map::new()));
        let pointer = format!("/{}/{id}", kind.settings_key());
        switched(entry, on).ok_or_else(|| no_object(&path).field(pointer))
    })
}

fn in_config(path: &Path, on: bool) -> Result<bool, Diagnostic> {
    let text = platform::read_file(path, 16 * 1024 * 1024).map_err(|_| no_object(path))?;
    let text = String::from_utf8(text).map_err(|_| no_object(path))?;
    let mut config = strict_json::parse(&text).map_err(|_| no_object(path))?;
    let changed = switched(&mut config, on).ok_or_else(|| no_object(path))?;
    if changed {
        let text = format!("{config:#}\n");
        platform::replace_file(path, text.as_bytes(), 0o600, Durability::Synced).map_err(
            |error| {
                Diagnostic::error(
                    &codes::SETTINGS_UNWRITABLE,
                    format!("the config could not be changed: {error}"),
                )
                .file(path)
                .help("check who owns the folder and whether the disk is full")
            },
        )?;
    }
    Ok(changed)
}

/// Sets `enabled`, and says whether that changed anything; nothing if the config is no object.
fn switched(config: &mut Value, on: bool) -> Option<bool> {
    let before = config
        .as_object_mut()?
        .insert("enabled".to_owned(), Value::Bool(on));
    Some(before != Some(Value::Bool(on)))
}

fn no_object(path: &Path) -> Diagnostic {
    let message = "the config of the plugin is not a JSON object";
    Diagnostic::error(&codes::SETTINGS_SHAPE_INVALID, message)
        .file(path)
        .help("make it an object, such as {\"enabled\": true}")
}

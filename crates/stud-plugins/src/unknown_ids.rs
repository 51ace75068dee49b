//! Ids that no plugin has, in the settings or in a command, and the id that was probably meant.

use stud_contract_meta::Kind;
use stud_diagnostics::{Diagnostic, codes};

use crate::provenance::{Provenance, Refused};
use crate::registry::Registry;
use crate::validate::Validated;
use stud_config::environment::Environment;
use stud_config::settings::Settings;

/// `Validation/ExtensionNotFound` for an id that is not among `known`.
pub fn unknown_extension<'a>(id: &str, known: impl IntoIterator<Item = &'a str>) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        &codes::EXTENSION_NOT_FOUND,
        format!("there is no plugin `{id}`"),
    )
    .with("extId", id);
    match stud_config::did_you_mean::nearest(id, known) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.help("`stud plugin list` shows the installed plugins"),
    }
}

/// The same, for an id that is not in the registry.
pub fn not_in_registry(registry: &Registry, id: &str) -> Diagnostic {
    let known = registry.iter().map(|plugin| plugin.identity());
    let known: Vec<&str> = known.map(|identity| identity.ext_id.as_str()).collect();
    unknown_extension(id, known)
}

/// Warnings about ids in the settings that no discovered plugin has.
pub(crate) fn in_settings(
    environment: &Environment,
    validated: &[Validated],
    refused: &[Refused],
) -> Vec<Diagnostic> {
    let mut unknown = unknown_entries(environment, validated, refused);
    unknown.extend(unknown_sinks(&environment.settings, validated, refused));
    unknown
}

/// Plugins that the settings configure and that do not exist.
///
/// Entries of providers need not be plugins; they are checked against the protocols.
fn unknown_entries(
    environment: &Environment,
    validated: &[Validated],
    refused: &[Refused],
) -> Vec<Diagnostic> {
    let mut unknown = Vec::new();
    if !environment.reaches_everything() {
        return unknown;
    }
    for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Provider) {
        let of_kind = validated
            .iter()
            .map(Validated::manifest)
            .filter(|manifest| manifest.kind == kind)
            .map(|manifest| manifest.ext_id.as_str());
        let refused = refused.iter().map(|refused| refused.provenance().name());
        let known: Vec<&str> = of_kind.chain(refused).collect();
        for (id, entry) in environment.settings.entries(kind) {
            let is_removed = entry.value.get("disable") == Some(&true.into());
            if known.contains(&id) || environment.leaves_out_name(id) || is_removed {
                continue;
            }
            let warning = unknown_extension(id, known.iter().copied())
                .downgraded()
                .file(entry.path)
                .field(format!("/{}/{id}", kind.settings_key()))
                .note("the settings configure it");
            unknown.push(warning);
        }
    }
    unknown
}

/// Sinks in the settings that are not loggers. A logger that was refused counts as one.
fn unknown_sinks(
    settings: &Settings,
    validated: &[Validated],
    refused: &[Refused],
) -> Vec<Diagnostic> {
    let loggers: Vec<&str> = validated
        .iter()
        .map(Validated::provenance)
        .chain(refused.iter().map(Refused::provenance))
        .filter(|provenance| provenance.kind() == Some(Kind::Logger))
        .map(Provenance::name)
        .collect();
    settings.strange_sinks(&loggers)
}

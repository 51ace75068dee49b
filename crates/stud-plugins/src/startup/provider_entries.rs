//! Settings entries that are not plugins: each gets an instance of the provider that speaks its protocol.

use serde_json::{Value, json};
use stud_contract_meta::{ExtId, Kind};
use stud_diagnostics::{Diagnostic, codes};

use super::Plugins;
use super::opened::Opened;
use crate::provider_entry::{speaker, taken};
use crate::report::{PluginReport, Status};
use stud_config::settings::{Settings, Sourced};

impl Plugins {
    /// Adds the entries that the settings have under `providers` beside the providers themselves.
    pub(super) fn open_entries(&mut self, settings: &Settings) {
        for (id, entry) in settings.entries(Kind::Provider) {
            let Some(protocol) = entry.value.get("protocol").and_then(Value::as_str) else {
                continue;
            };
            if self.is_provider(id) {
                continue;
            }
            if let Err(why) = self.open_entry(id, protocol, entry, settings) {
                self.diagnostics.push(why);
            }
        }
    }

    /// Whether a provider with this id was found, running or not.
    fn is_provider(&self, id: &str) -> bool {
        let mut opened = self.opened.iter().map(|opened| opened.plugin().manifest());
        let mut refused = self.refused.iter();
        let mut idle = self.idle.iter();
        opened.any(|manifest| manifest.ext_id.as_str() == id && manifest.kind == Kind::Provider)
            || refused.any(|refused| refused.provenance().name() == id)
            || idle.any(|report| report.ext_id == id)
    }

    fn open_entry(
        &mut self,
        id: &str,
        protocol: &str,
        entry: Sourced<'_>,
        settings: &Settings,
    ) -> Result<(), Diagnostic> {
        let at = |diagnostic: Diagnostic| {
            diagnostic
                .file(entry.path)
                .field(format!("/providers/{id}"))
                .with("entry", id)
        };
        let Ok(ext_id) = ExtId::parse(id) else {
            let message = format!("`{id}` cannot be the name of an entry");
            let errors = json!([{"path": format!("/providers/{id}"), "message": message}]);
            return Err(
                at(Diagnostic::error(&codes::SETTINGS_SHAPE_INVALID, message))
                    .with("errors", errors)
                    .help("use lower-case letters, digits and `-`, at most 64 of them"),
            );
        };
        let mut opened = self.opened.iter().map(|opened| opened.plugin().manifest());
        if let Some(holder) = opened.find(|manifest| manifest.ext_id == ext_id) {
            let message = taken(id, holder.kind);
            return Err(at(Diagnostic::error(
                &codes::REGISTRATION_CONFLICT,
                message,
            )));
        }
        let Some(provider) = speaker(self.opened.iter().map(|opened| &opened.bound), protocol)
        else {
            let message = format!("no provider that is on speaks `{protocol}`");
            return Err(at(Diagnostic::error(&codes::UNKNOWN_PROTOCOL, message))
                .with("protocol", protocol)
                .help("name the id of a provider, as `stud plugin list` shows it")
                .downgraded());
        };
        match provider.for_entry(&ext_id, settings) {
            Ok(bound) if bound.plugin().is_enabled() => self.opened.push(Opened {
                bound,
                shadowed: Vec::new(),
            }),
            Ok(bound) => {
                let plugin = bound.plugin().clone();
                self.idle.push(PluginReport::idle(plugin, Status::Disabled));
            }
            Err(refusal) => self.refused.push(refusal),
        }
        Ok(())
    }
}

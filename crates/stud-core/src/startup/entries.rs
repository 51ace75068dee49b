//! Entries of the settings that are no plugin's own: each gets an instance of the provider that speaks its protocol.

use serde_json::{Value, json};
use stud_contract_meta::{ExtId, Kind};
use stud_diagnostics::{Diagnostic, codes};

use super::{Contender, Plugins};
use crate::bind::Bound;
use crate::report::Status;
use crate::settings::{Settings, Sourced};
use crate::validate::Members;

impl Plugins {
    /// Adds what the settings have under `providers` beside the providers themselves.
    pub(super) fn open_entries(&mut self, settings: &Settings) {
        for (id, entry) in settings.entries(Kind::Provider) {
            let Some(protocol) = entry.value.get("protocol").and_then(Value::as_str) else {
                continue;
            };
            if self.is_plugin(id) {
                continue;
            }
            match self.entry(id, protocol, entry, settings) {
                Ok(()) => {}
                Err(why) => self.diagnostics.push(why),
            }
        }
    }

    /// Whether the id is that of a provider that was found, whatever came of it.
    fn is_plugin(&self, id: &str) -> bool {
        let mut opened = self.contenders.iter().map(Contender::plugin);
        let mut refused = self.refused.iter();
        let mut resting = self.resting.iter();
        opened.any(|plugin| {
            plugin.manifest.ext_id.as_str() == id && plugin.manifest.kind == Kind::Provider
        }) || refused.any(|refused| refused.track.name() == id)
            || resting.any(|report| report.ext_id == id)
    }

    fn entry(
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
        let taken = |plugin: &Contender| plugin.plugin().manifest.ext_id == ext_id;
        if let Some(holder) = self.contenders.iter().find(|plugin| taken(plugin)) {
            let kind = holder.plugin().manifest.kind;
            let message = format!("`{id}` is the id of a {kind}, so no entry can have it");
            return Err(at(Diagnostic::error(
                &codes::REGISTRATION_CONFLICT,
                message,
            )));
        }
        let Some(place) = self.speaker(protocol) else {
            let message = format!("no provider that is on speaks `{protocol}`");
            return Err(at(Diagnostic::error(&codes::UNKNOWN_PROTOCOL, message))
                .with("protocol", protocol)
                .help("name the id of a provider, as `stud plugin list` shows it")
                .downgraded());
        };
        let bound = &self.contenders[place].bound;
        let table = bound.table;
        match bound.plugin.as_entry(&ext_id, settings) {
            Ok(plugin) if plugin.enabled => self.contenders.push(Contender {
                bound: Bound { plugin, table },
                hidden: Vec::new(),
            }),
            Ok(plugin) => self.rest(plugin, Status::Disabled),
            Err(refusal) => self.refused.push(refusal),
        }
        Ok(())
    }

    /// The provider of this id, else the first that names the protocol.
    fn speaker(&self, protocol: &str) -> Option<usize> {
        let named = |contender: &Contender| match &*contender.plugin().members {
            Members::Provider(members) => members.protocol == protocol,
            _ => false,
        };
        let of_id = |contender: &Contender| {
            let manifest = &contender.plugin().manifest;
            manifest.kind == Kind::Provider && manifest.ext_id.as_str() == protocol
        };
        let mut contenders = self.contenders.iter();
        contenders
            .position(of_id)
            .or_else(|| self.contenders.iter().position(named))
    }
}
